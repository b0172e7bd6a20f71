"""Multi-class networks: three arms seen by a coarse camera, the simplex, layers of digits, bits."""

from collections.abc import Callable
from functools import cache
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from scipy.special import softmax

from descent import data
from descent.pictures.classification.generalised_linear_models import (
    COLORS,
    CORNERS,
    MARKERS,
    draw_triangle,
    to_plane,
)
from descent.plots import BLACK, BLUE, GREEN, ORANGE, SKY, VERMILION, fixed_axes, light
from descent.words import say

INK = (
    "#00507F",
    "#8A5A00",
    "#006B4E",
)  # the classes' colours, dark enough for points on their tints
PIXEL = 0.2

# ---------------------------------------------------------------- data and training


@cache
def spiral(n: int = 100, noise: float = 0.4, seed: int = 0):
    """Three arms of n points each -> X (3n, 2), labels (3n,). noise: standard deviation of the angle."""
    rng = np.random.default_rng(seed)
    labels, radius = np.repeat(np.arange(3), n), np.tile(np.linspace(0.08, 1, n), 3)
    angle = 2 * np.pi * labels / 3 + 4 * radius + noise * rng.normal(size=3 * n)
    return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1), labels


def camera() -> tuple[np.ndarray, np.ndarray]:
    """The arms as a camera sees them: the centre of the pixel of each point (300, 2), and its arm (300,)."""
    points, labels = spiral()
    return np.round(points / PIXEL) * PIXEL, labels


def start_layers(*sizes: int, seed: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
    """He's start for the hidden layers, a small head (variance 0.01 / d), biases 0."""
    rng, layers = np.random.default_rng(seed), []
    for number, (d, k) in enumerate(pairwise(sizes), 1):
        variance = (0.01 if number == len(sizes) - 1 else 2) / d
        layers.append((np.sqrt(variance) * rng.normal(size=(k, d)), np.zeros(k)))
    return layers


def forward(X, layers) -> tuple[list[np.ndarray], np.ndarray]:
    """Outputs of every layer, the last being the scores, and probabilities."""
    outputs = [X]
    for W, b in layers[:-1]:
        outputs.append(np.maximum(outputs[-1] @ W.T + b, 0))
    W, b = layers[-1]
    outputs.append(outputs[-1] @ W.T + b)
    return outputs[1:], softmax(outputs[-1], axis=1)


def loss(P, y) -> float:
    """Mean cross-entropy in natural logarithms. P (n, C), labels y (n,)."""
    return float(-np.mean(np.log(P[np.arange(len(y)), y])))


def descend(X, y, layers, rate: float, steps: int, keep=()) -> dict[int, list]:
    """Gradient descent on the mean cross-entropy -> {step: layers} for the steps to keep, and the last."""
    kept, Q = {}, np.eye(len(layers[-1][1]))[y]
    for step in range(steps + 1):
        if step in keep or step == steps:
            kept[step] = layers
        outputs, P = forward(X, layers)
        inputs, delta, moved = [X, *outputs[:-1]], (P - Q) / len(X), []
        for (W, b), h in zip(layers[::-1], inputs[::-1], strict=True):
            moved.append((W - rate * delta.T @ h, b - rate * delta.sum(0)))
            delta = (delta @ W) * (h > 0)
        layers = moved[::-1]
    return kept


@cache
def two_readers():
    """Softmax regression on the pixels, and a network: the layers of both after training."""
    X, y = camera()
    starts = (start_layers(2, 3), start_layers(2, 32, 32, 3, seed=1))
    return [descend(X, y, start, 0.5, 400)[400] for start in starts]


@cache
def digits() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Pixels in [0, 1] and labels of 1200 digits for training and of the other 597."""
    table, order = data.digits(), np.random.default_rng(7).permutation(1797)
    X, y = table.X[order] / 16, table.y[order]
    return {"training": (X[:1200], y[:1200]), "test": (X[1200:], y[1200:])}


STAGES = (0, 1, 2, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 400)


@cache
def digit_nets() -> dict[int, list]:
    """Digit networks with three hidden layers of 64, after each of STAGES steps."""
    return descend(*digits()["training"], start_layers(64, 64, 64, 64, 10), 0.3, 400, STAGES)


def digit_layers(rows: str, step: int, first: int | None = None) -> list[np.ndarray]:
    """Pixels and hidden layers of the training or the test digits (all or the first), after so many steps."""
    X = digits()[rows][0][:first]
    return [X, *forward(X, digit_nets()[step])[0][:-1]]


def probe_accuracy(H, labels, new_H, new_labels, ridge=1e-3) -> float:
    """Accuracy on new rows of a linear reader: least squares on one-hot labels, features standardised."""
    mean, sd = H.mean(0), H.std(0) + 1e-8
    A, B = (np.column_stack([np.ones(len(Z)), (Z - mean) / sd]) for Z in (H, new_H))
    gram = A.T @ A / len(A) + ridge * np.eye(A.shape[1])
    W = np.linalg.solve(gram, A.T @ np.eye(labels.max() + 1)[labels] / len(A))
    return float(np.mean((B @ W).argmax(1) == new_labels))


def ratio(H, y) -> float:
    """Scatter within over scatter between the classes."""
    means = np.array([H[y == c].mean(0) for c in range(y.max() + 1)])[y]
    return float(((H - means) ** 2).sum() / ((means - H.mean(0)) ** 2).sum())


def plane_of(H) -> Callable:
    """The two leading principal directions of H (n, d), each with its largest entry positive."""
    mean = H.mean(0)
    V = np.linalg.eigh((H - mean).T @ (H - mean))[1][:, :-3:-1]  # faster than the SVD of H
    V = V * np.sign(V[np.abs(V).argmax(0), [0, 1]])
    return lambda new: (new - mean) @ V


# ---------------------------------------------------------------- the arms


def _mix(P):
    """Probabilities (…, 3) as a colour: the mean of the class colours, light."""
    return 1 - 0.55 * (1 - np.clip(P @ np.array([to_rgb(c) for c in COLORS]), 0, 1))


def _points(ax, size=3.5):
    X, y = spiral()
    for k in range(3):
        ax.plot(*X[y == k].T, MARKERS[k], color=INK[k], markersize=size, mec="white", mew=0.4,
                label=f"arm {k}")  # fmt: skip


def _square(points=60, edge=1.3):
    line = np.linspace(-edge, edge, points)
    return np.stack(np.meshgrid(line, line), -1).reshape(-1, 2)


def _map(ax, values, edge=1.3, **options):
    side = int(np.sqrt(len(values)))
    ax.imshow(values.reshape(side, side, *values.shape[1:]), origin="lower", aspect="equal",
              extent=(-edge, edge, -edge, edge), **options)  # fmt: skip
    ax.grid(False)
    ax.set(xlabel="x₁", ylabel="x₂", xlim=(-edge, edge), ylim=(-edge, edge))


def draw_why():
    """Who wins where, for a straight reader and for a network that see pixels -> (fig, words)."""
    X, y = camera()
    centres, shares = _square(13, 1.2), []  # of the 13 × 13 pixels
    fig, axes = plt.subplots(1, 2, figsize=(8.6, 4.2))
    names = ("Straight lines on the pixels", "After two hidden layers")
    for ax, name, net in zip(axes, names, two_readers(), strict=True):
        shares.append(float(np.mean(forward(X, net)[1].argmax(1) == y)))
        _map(ax, _mix(np.eye(3)[forward(centres, net)[1].argmax(1)]))
        _points(ax)
        ax.set_title(f"{name}: {shares[-1]:.0%} right", fontsize=11)
    axes[0].legend(loc="lower left", fontsize=8, frameon=True)
    return fig, say(
        "Three arms of 100 points. A reader that draws straight lines through the pixels gets {line:.0%} "
        "right, the same kind of reader behind two hidden layers {net:.0%}.",
        line=shares[0],
        net=shares[1],
    )


SHOWN = ("all arms", "who wins", "arm 0", "arm 1", "arm 2")


def map_explorer(nets: list, losses, forward: Callable) -> Callable:
    """-> draw(stage, shown, x, y): probabilities over the plane, and the way of one point in the simplex."""
    X, labels = camera()
    grid, every = _square(), (len(losses) - 1) // (len(nets) - 1)

    def draw(stage: int, shown: str, x: float, y: float):
        P = np.asarray(forward(grid, nets[stage])[1])
        way = np.array([np.asarray(forward(np.array([[x, y]]), net)[1])[0] for net in nets])
        right = np.mean(np.asarray(forward(X, nets[stage])[1]).argmax(1) == labels)
        fig, (ax, tri) = fixed_axes(2, (8.6, 4.2), (0.1, 0.99, 0.12, 0.9), wspace=0.1)
        if shown.startswith("arm"):
            _map(ax, P[:, int(shown[-1])], vmin=0, vmax=1, cmap="Greys")
        else:
            _map(ax, _mix(P if shown == "all arms" else np.eye(3)[P.argmax(1)]))
        _points(ax)
        ax.plot(x, y, "o", color=VERMILION, markersize=10, mec="white")
        ax.set_gid("plane")
        light(ax, f"Stage {stage}, step {stage * every}: {right:.0%} right", (-1, 0, 1), (-1, 0, 1))
        draw_triangle(tri)
        tri.plot(*to_plane(way).T, "-", color=BLACK, linewidth=0.8, alpha=0.6)
        tri.plot(*CORNERS.mean(0), "+", color=BLACK, markersize=11)
        tri.plot(*to_plane(way[stage]), "o", color=VERMILION, markersize=10, mec="white")
        light(tri, "The big dot's three probabilities")
        return fig, say(
            "Stage {stage}, step {step}: {right:.0%} of the points right, loss {loss:.2f}. At ({x:.2f}, {y:.2f}) the "
            "probabilities are {p[0]:.2f}, {p[1]:.2f} and {p[2]:.2f}.",
            stage=stage,
            step=stage * every,
            right=float(right),
            loss=float(losses[stage * every]),
            x=x,
            y=y,
            p=way[stage],
        )

    return draw


def to_corners(nets, forward: Callable):
    """All points on their way through the simplex -> (fig, ax, positions, words, colours)."""
    X, y = camera()
    P = np.array([np.asarray(forward(X, net)[1]) for net in nets])
    fig, ax = plt.subplots(figsize=(5.6, 4.9))
    draw_triangle(ax)
    ax.plot(*CORNERS.mean(0), "+", color=BLACK, markersize=11)
    ax.set_title("Training carries the points to their corners")
    near = [float(np.mean(p[np.arange(len(y)), y] > 0.9)) for p in (P[0], P[-1])]
    words = say(
        "{n} points of the simplex. Closer than 0.1 to their own corner: {first:.0%} at the start, {last:.0%} "
        "at the end; farther than 0.9: {lost:.0%}.",
        n=len(y),
        first=near[0],
        last=near[1],
        lost=float(np.mean(P[-1][np.arange(len(y)), y] < 0.1)),
    )
    return fig, ax, to_plane(P), words, [INK[k] for k in y]


def squared_pull(S, k: int) -> np.ndarray:
    """Size of the slope of |p − e_k|²/2 by score k, for each row of S: back through diag(p) − p pᵀ."""
    P = softmax(S, axis=1)
    G = P - np.eye(S.shape[1])[k]
    return np.abs(P * (G - (P * G).sum(1, keepdims=True)))[:, k]


def draw_signals():
    """Pull of cross-entropy and of squared error on the true score, against the lead of the wrong one."""
    gap = np.linspace(-6, 12, 73)
    S = np.column_stack([0 * gap, gap])  # class 0 is true, class 1 leads by gap
    cross, squared = 1 - softmax(S, axis=1)[:, 0], squared_pull(S, 0)
    fig, ax = plt.subplots()
    ax.plot(gap, cross, "-", color=BLUE, label="cross-entropy")
    ax.plot(gap, squared, "--", color=VERMILION, label="squared error, through softmax")
    ax.set(xlabel="lead of the wrong class of two, s₁ − s₀", ylabel="pull on the true score")
    ax.set(
        xticks=(-5, 0, 5, 10),
        yscale="log",
        ylim=(1e-5, 3),
        title="Squared error gives up on what is badly wrong",
    )
    ax.legend(loc="lower center")
    return fig, say(
        "Two classes. Pull on the true score when the wrong one leads by 10: cross-entropy {cross:.3f}, "
        "squared error {squared:.1e}.",
        cross=float(cross[64]),
        squared=float(squared[64]),
    )


# ---------------------------------------------------------------- tasks and the pipeline

TASKS = {
    # name: (what a row holds, numbers in it, C)
    "objects, ImageNet": ("a picture,\n224 × 224 × 3", 224 * 224 * 3, 1000),
    "objects, CIFAR-10": ("a picture,\n32 × 32 × 3", 32 * 32 * 3, 10),
    "faces, worldwide": ("a picture,\n112 × 112 × 3", 112 * 112 * 3, 10**6),
    "faces, a school": ("a picture,\n112 × 112 × 3", 112 * 112 * 3, 100),
    "next word": ("the words\nso far", None, 50_000),
    "next subword": ("the subwords\nso far", None, 30_000),
    "next letter": ("the letters\nso far", None, 26),
    "next ASCII character": ("the characters\nso far", None, 128),
    "the three arms": ("two coordinates", 2, 3),
}


def draw_pipeline(task: str, width: int, batch: int = 32):
    """Shapes from the input to the loss, for one task and a width of the last hidden layer -> (fig, words)."""
    what, size, C = TASKS[task]
    head = C * (width + 1)
    boxes = (
        ("input x", what, f"{batch} × {size:,}" if size else f"{batch} × length"),
        ("hidden layers", "as many\nas you like", f"{batch} × {width:,}"),
        ("scores s", "a linear map", f"{batch} × {C:,}"),
        ("probabilities p", "softmax,\nrow by row", f"{batch} × {C:,}"),
        ("loss", "mean of\n−log p(true)", "one number"),
    )
    fig, ax = fixed_axes(1, (7.4, 2.3), (0.01, 0.99, 0.02, 0.85))
    for k, ((name, how, shape), color) in enumerate(
        zip(boxes, (SKY, BLUE, ORANGE, GREEN, VERMILION), strict=True)
    ):
        look = dict(facecolor=color, alpha=0.16, edgecolor=color, linewidth=1.5)
        ax.add_patch(plt.Rectangle((2 * k, 0), 1.74, 1, **look))
        lines = ((0.78, name, "bold"), (0.48, how, "normal"), (0.18, shape, "normal"))
        for height, text, weight in lines:
            ax.text(2 * k + 0.87, height, text, ha="center", va="center", weight=weight,
                    fontsize=9)  # fmt: skip
        if k:
            ax.annotate("", (2 * k, 0.5), (2 * k - 0.26, 0.5), arrowprops=dict(arrowstyle="->"))
    ax.set(xlim=(-0.05, 9.79), ylim=(-0.05, 1.05), title=f"{task}: a head of {head:,} parameters")
    ax.axis("off")
    return fig, say(
        "{task}: a batch of {batch} gives {batch} × {C:,} scores. The head has {C:,} × ({width:,} + 1) = "
        "{head:,} parameters. Guessing evenly costs ln {C:,} = {chance:.2f}.",
        task=task,
        batch=batch,
        width=width,
        C=C,
        head=head,
        chance=float(np.log(C)),
    )


# ---------------------------------------------------------------- layer by layer


def draw_layers(names, ratios: dict, probes: dict):
    """Scatter ratio and probe accuracy of each layer -> (fig, words). Values: {curve: (layers,)}."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.7))
    looks = (("s:", BLACK), ("o-", BLUE), ("^--", VERMILION))
    for ax, curves in ((left, ratios), (right, probes)):
        for (name, values), (style, color) in zip(curves.items(), looks, strict=False):
            ax.plot(names, values, style, color=color, label=name)
    left.set(ylabel="within / between", xlabel="layer", ylim=(0, None))
    right.set(ylabel="share right, test rows", xlabel="layer", ylim=(0.8, 1.005))
    left.set_title("Trained, the scatter falls with depth")
    right.set_title("Trained, a linear reader reads more")
    left.legend()
    right.legend(loc="lower left")
    told, read = (
        [f"{n} " + ", ".join(f"{v:.2f}" for v in values) for n, values in curves.items()]
        for curves in (ratios, probes)
    )
    return fig, say(
        "Layers {names:, }. Scatter within over between: {told:; }. Share that a linear reader gets right: "
        "{read:; }.",
        names=list(names),
        told=told,
        read=read,
    )


def draw_digit_layers(stage: int, rows: str):
    """Each layer of a digit network in its own two leading directions, those of the training rows."""
    step, y = STAGES[stage], digits()[rows][1][:250]
    layers, seen = (digit_layers(which, step, 250) for which in (rows, "training"))
    names, ratios = ("x", "h¹", "h²", "h³"), [ratio(H, y) for H in layers]
    fig, axes = fixed_axes(4, (9.9, 2.9), (0.035, 0.995, 0.1, 0.82), wspace=0.06)
    for ax, H, own, name, value in zip(axes, layers, seen, names, ratios, strict=True):
        Z = plane_of(own)(H)
        ax.scatter(*Z.T, c=y, cmap="tab10", s=9, alpha=0.8, linewidths=0)
        for k in range(10):
            ax.text(
                *Z[y == k].mean(0), str(k), color=BLACK, weight="bold", ha="center", va="center"
            )
        light(ax, f"{name}: ratio {value:.2f}", (), (), fontsize=10)
        ax.set(xlabel="direction 1")
    axes[0].set_ylabel("direction 2")
    return fig, say(
        "Stage {stage}, step {step}, {rows} rows. Scatter within the classes over scatter between them, from the "
        "pixels to the last hidden layer: {told:, }.",
        stage=stage,
        step=step,
        rows=rows,
        told=[f"{value:.2f}" for value in ratios],
    )


def free_features(steps: int) -> tuple[np.ndarray, np.ndarray]:
    """A last hidden layer that may do what it likes: 30 rows of 4 numbers, moved directly, and their labels.

    Descent on the cross-entropy of a linear head, with weight decay 0.02 on head and rows.
    """
    rng, y = np.random.default_rng(0), np.arange(30) % 3
    H, W = rng.normal(size=(30, 4)), 0.5 * rng.normal(size=(3, 4))
    for _ in range(steps):
        delta = softmax(H @ W.T, axis=1) - np.eye(3)[y]
        H, W = H - (delta @ W + 0.02 * H), W - (delta.T @ H / 30 + 0.02 * W)
    return H, y


def draw_cosines(names, cosines, ratios):
    """Cosines between three class means, layer by layer -> (fig, words). cosines (layers, 3 pairs)."""
    cosines = np.asarray(cosines)
    fig, ax = plt.subplots()
    looks = zip(
        ("0, 1", "0, 2", "1, 2"), ("o-", "s--", "^:"), (BLUE, VERMILION, GREEN), strict=True
    )
    for column, (pair, style, color) in enumerate(looks):
        ax.plot(names, cosines[:, column], style, color=color, label=f"cultivars {pair}")
    ax.axhline(-0.5, color=BLACK, linewidth=5, alpha=0.15, label="−1/(C − 1)")
    ax.set(xlabel="layer", ylabel="cosine between class means", ylim=(-1, 0.15))
    ax.set_title("Wine: the class means spread to equal angles")
    ax.legend(fontsize=9, ncols=2, loc="upper right")
    return fig, say(
        "Cosines between the three class means differ by {first:.2f} at the input and by {last:.2f} in the last "
        "hidden layer; scatter within over between falls from {wide:.2f} to {narrow:.2f}.",
        first=float(np.ptp(cosines[0])),
        last=float(np.ptp(cosines[-1])),
        wide=float(ratios[0]),
        narrow=float(ratios[-1]),
    )


# ---------------------------------------------------------------- bits

XOR_LAYERS = (  # x = 00, 01, 10, 11 -> h1 = (relu(x1 + x2), relu(x1 + x2 - 1)) -> h2 = h1[0] - 2 h1[1]
    np.array([[1.0, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]),
    np.array([[1.0, 0], [0, 1], [1, 0]]),
)
XOR_POINTS = (
    np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]),
    np.array([[0.0, 0], [1, 0], [2, 1]]),
    np.array([[0.0], [1]]),
)
SECOND = {  # name: (the layer's table, where its values stand)
    "XOR: h₁ − 2h₂": (XOR_LAYERS[1], XOR_POINTS[2]),
    "careless: was any bit on?": (np.array([[1.0, 0], [0, 1], [0, 1]]), XOR_POINTS[2]),
    "rename only": (np.eye(3)[[2, 0, 1]], np.array([[1.0], [2], [0]])),
    "noisy: 20 % flipped": (np.array([[0.8, 0.2], [0.2, 0.8], [0.8, 0.2]]), XOR_POINTS[2]),
}


def xor_table(flip: float) -> np.ndarray:
    """P(y, x) for two fair bits and y their XOR, flipped with probability `flip`. (2, 4)"""
    right = np.array([[1, 0, 0, 1], [0, 1, 1, 0]])
    return (right * (1 - flip) + (1 - right) * flip) / 4


def information(T) -> float:
    """Mutual information of a joint table, in bits."""
    product, seen = np.outer(T.sum(1), T.sum(0)), T > 0
    return float(np.sum(T[seen] * np.log2(T[seen] / product[seen])))


def xor_bits(flip: float = 0.1) -> list[float]:
    """I(h; y) for h = x and the two layers of the XOR network."""
    joint = xor_table(flip)
    return [
        information(joint @ M) for M in (np.eye(4), XOR_LAYERS[0], XOR_LAYERS[0] @ XOR_LAYERS[1])
    ]


def best_linear(points, joint) -> float:
    """Share right of the best line (or threshold) on a handful of values. points (m, d <= 2), joint (2, m).

    All cuts along a fan of 360 directions: finer than the directions in which a few small integer points tie.
    """
    angle = np.pi * (np.arange(360) + 0.37) / 360
    fan = np.stack([np.cos(angle), np.sin(angle)], 1) if points.shape[1] == 2 else np.eye(1)
    best, total = joint.sum(1).max(), joint.sum(1)
    for direction in fan:
        zero, one = joint[:, np.argsort(points @ direction)].cumsum(1)
        best = max(best, (zero + total[1] - one).max(), (one + total[0] - zero).max())
    return float(best)


def information_explorer(information: Callable) -> Callable:
    """-> draw(flip, second): bits and lines in the XOR chain, with another noise or another second layer."""

    def draw(flip: float, second: str):
        table, points = SECOND[second]
        joint, layers = xor_table(flip), [XOR_LAYERS[0], table]
        about_x, about_y = np.asarray(information(joint, layers)).T
        joints = [joint, joint @ layers[0], joint @ layers[0] @ layers[1]]
        linear = [best_linear(p, t) for p, t in zip((*XOR_POINTS[:2], points), joints, strict=True)]
        fig, (left, right) = fixed_axes(2, (8.6, 3.6), (0.08, 0.985, 0.15, 0.9), wspace=0.25)
        names = ("x", "h¹", "h²")
        left.plot(names, about_x, "s--", color=VERMILION, label="about x")
        left.plot(names, about_y, "o-", color=BLUE, label="about y")
        left.set(
            xlabel="layer", ylabel="bits", ylim=(-0.05, 2.2), title="No layer adds information"
        )
        left.legend()
        right.plot(names, linear, "D-", color=GREEN)
        right.set(xlabel="layer", ylabel="best line, share right", ylim=(0.45, 1.03))
        right.set_title("What a line can use of them")
        return fig, say(
            "Bits about x: {told_x:, }; about y: {told_y:, }. The best line is right on {told:, }.",
            told_x=[f"{v:.2f}" for v in about_x],
            told_y=[f"{v:.3f}" for v in about_y],
            told=[f"{v:.2f}" for v in linear],
        )

    return draw


def as_tables(y, layers) -> tuple[np.ndarray, list[np.ndarray]]:
    """Count a chain of layers: the joint table P(y, x), and for each layer which value goes to which.

    y (n,) labels, layers: arrays (n, …), the first x itself. Equal rows, to nine digits, are one value.
    """
    codes = [
        np.unique(np.round(np.reshape(h, (len(y), -1)), 9), axis=0, return_inverse=True)[1].ravel()
        for h in layers
    ]
    joint = np.zeros((y.max() + 1, codes[0].max() + 1))
    np.add.at(joint, (y, codes[0]), 1 / len(y))
    tables = []
    for now, then in pairwise(codes):
        tables.append(np.zeros((now.max() + 1, then.max() + 1)))
        tables[-1][now, then] = 1.0
    return joint, tables


def draw_answer(names, about_x, about_y, read):
    """Bits about x, bits about y and what a line reads of them, layer by layer -> (fig, words)."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(8.8, 3.7))
    left.plot(names, about_x, "s--", color=VERMILION)
    left.set(xlabel="layer", ylabel="bits about the pixel x", ylim=(0, None))
    left.set_title("About the pixel: never more")
    right.plot(names, about_y, "o-", color=BLUE, label="there are")
    right.plot(names, read, "D--", color=GREEN, label="a line reads")
    right.set(xlabel="layer", ylabel="bits about the arm y", ylim=(0, 1.65))
    right.set_title("About the arm: only easier to read")
    right.legend(loc="lower right")
    return fig, say(
        "Bits about the arm that there are, from x to the verdict: {there:, }. That a straight reader gets out: "
        "{read:, }. Bits about the pixel: {pixel:, }.",
        there=[f"{v:.2f}" for v in about_y],
        read=[f"{v:.2f}" for v in read],
        pixel=[f"{v:.1f}" for v in about_x],
    )

"""Multi-class networks: a spiral with three arms, the simplex, collapse layer by layer, information."""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from scipy.special import softmax

from descent.pictures.classification.generalised_linear_models import (
    CORNERS,
    draw_triangle,
    to_plane,
)
from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, fixed_axes

COLORS, MARKERS = (BLUE, ORANGE, GREEN), "os^"
INK = ("#00507F", "#8A5A00", "#006B4E")  # the same three, dark enough for points on their tints

# ---------------------------------------------------------------- data and training


def spiral(n: int = 100, noise: float = 0.12, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three arms of n points each -> X (3n, 2), labels (3n,). noise: standard deviation of the angle."""
    rng = np.random.default_rng(seed)
    labels, radius = np.repeat(np.arange(3), n), np.tile(np.linspace(0.08, 1, n), 3)
    angle = 2 * np.pi * labels / 3 + 4 * radius + noise * rng.normal(size=3 * n)
    return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1), labels


def start_layers(*sizes: int, seed: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
    """He's start for the hidden layers, a small head (variance 0.01 / d), biases 0."""
    rng, layers = np.random.default_rng(seed), []
    for number, (d, k) in enumerate(zip(sizes, sizes[1:], strict=False), 1):
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


def signal(S, Q) -> tuple[float, np.ndarray]:
    """Mean cross-entropy and its gradient by the scores."""
    shifted = S - S.max(1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    return -np.mean((Q * log_p).sum(1)), (np.exp(log_p) - Q) / len(S)


def squared_signal(S, Q) -> tuple[float, np.ndarray]:
    """Mean of |p - q|² / 2 and its gradient by the scores, back through softmax."""
    P = softmax(S, axis=1)
    G = (P - Q) / len(S)
    return 0.5 * np.mean(((P - Q) ** 2).sum(1)), P * (G - (P * G).sum(1, keepdims=True))


def backward(X, layers, outputs, dS) -> list[tuple[np.ndarray, np.ndarray]]:
    """Gradients of all layers from the gradient by the scores: the equations of `02_backpropagation`."""
    grads, signal_here = [], dS
    for number in range(len(layers) - 1, -1, -1):
        below = outputs[number - 1] if number else X
        grads.append((signal_here.T @ below, signal_here.sum(0)))
        if number:
            signal_here = (signal_here @ layers[number][0]) * (below > 0)
    return grads[::-1]


def train(forward, signal, X, Q, layers, steps=1500, rate=0.1, decay=0.0, batch=None, keep=()):
    """Gradient descent with momentum 0.9, rate falling to 0 along a cosine -> {step: layers}, losses.

    forward(X, layers) -> outputs, P; signal(S, Q) -> loss, dS. decay: weight of half the squared length
    of all parameters in the loss. batch: rows a step (None: all). keep: steps to keep beside 0 and the last.
    """
    rng, n = np.random.default_rng(0), len(X)
    moving = [[np.zeros_like(p) for p in layer] for layer in layers]
    kept, losses = {0: layers}, []
    for step in range(steps):
        rows = slice(None) if batch is None else rng.permutation(n)[:batch]
        x, q = X[rows], Q[rows]
        outputs, _ = forward(x, layers)
        outputs = [np.asarray(o) for o in outputs]
        loss, dS = signal(outputs[-1], q)
        losses.append(float(loss))
        grads = backward(x, layers, outputs, np.asarray(dS))
        now = rate * 0.5 * (1 + np.cos(np.pi * step / steps))
        moving = [
            [0.9 * v + g + decay * p for v, g, p in zip(*three, strict=True)]
            for three in zip(moving, grads, layers, strict=True)
        ]
        layers = [
            tuple(p - now * v for p, v in zip(*two, strict=True))
            for two in zip(layers, moving, strict=True)
        ]
        if step + 1 in keep or step + 1 == steps:
            kept[step + 1] = layers
    return kept, losses


def linear_fit(X, labels, C, ridge=1e-3) -> Callable:
    """A linear probe: least squares on one-hot labels, features standardised. -> function (m, d) -> (m, C)"""
    mean, sd = X.mean(0), X.std(0) + 1e-8
    A = np.column_stack([np.ones(len(X)), (X - mean) / sd])
    gram = A.T @ A / len(A) + ridge * np.eye(A.shape[1])
    W = np.linalg.solve(gram, A.T @ np.eye(C)[labels] / len(A))
    return lambda new: np.column_stack([np.ones(len(new)), (new - mean) / sd]) @ W


def probe_accuracy(H, labels, new_H, new_labels, C) -> float:
    """Accuracy on new rows of the linear probe fitted to H (n, d)."""
    return float(np.mean(linear_fit(H, labels, C)(new_H).argmax(1) == new_labels))


def ratio(H, y) -> float:
    """Scatter within over scatter between the classes."""
    means = np.array([H[y == c].mean(0) for c in range(y.max() + 1)])[y]
    return float(((H - means) ** 2).sum() / ((means - H.mean(0)) ** 2).sum())


def plane_of(H) -> Callable:
    """The two leading principal directions of H (n, d), each with its largest entry positive."""
    mean = H.mean(0)
    _, _, Vt = np.linalg.svd(H - mean, full_matrices=False)
    V = Vt[:2] * np.sign(Vt[[0, 1], np.abs(Vt[:2]).argmax(1)])[:, None]
    return lambda new: (new - mean) @ V.T


# ---------------------------------------------------------------- why


def _mix(P):
    """Probabilities (…, 3) as a colour: the mean of the class colours."""
    return 1 - 0.55 * (1 - np.clip(P @ np.array([to_rgb(c) for c in COLORS]), 0, 1))


def _points(ax, X, y, size=3.5):
    for k in range(3):
        ax.plot(*X[y == k].T, MARKERS[k], color=INK[k], markersize=size, mec="white", mew=0.4,
                label=f"class {k}")  # fmt: skip


def _plane(points=80, edge=1.25):
    line = np.linspace(-edge, edge, points)
    return np.stack(np.meshgrid(line, line), -1).reshape(-1, 2)


def _map(ax, values, edge=1.25, **options):
    side = int(np.sqrt(len(values)))
    ax.imshow(values.reshape(side, side, *values.shape[1:]), origin="lower", aspect="equal",
              extent=(-edge, edge, -edge, edge), **options)  # fmt: skip
    ax.grid(False)
    ax.set(xlabel="feature $x_1$", ylabel="feature $x_2$", xlim=(-edge, edge), ylim=(-edge, edge))


def draw_why():
    """Softmax regression and a network on the spiral -> (fig, words)."""
    X, y = spiral()
    Q, grid, shares = np.eye(3)[y], _plane(100), []
    fig, axes = plt.subplots(1, 2, figsize=(8.6, 4.1))
    nets = (("no hidden layer", (2, 3)), ("two hidden layers", (2, 32, 32, 3)))
    for ax, (name, sizes) in zip(axes, nets, strict=True):
        kept, _ = train(forward, signal, X, Q, start_layers(*sizes, seed=1), steps=500, rate=0.3)
        net = kept[500]
        shares.append(np.mean(forward(X, net)[1].argmax(1) == y))
        _map(ax, _mix(np.eye(3)[forward(grid, net)[1].argmax(1)]))
        _points(ax, X, y)
        ax.set_title(f"{name}: {shares[-1]:.0%} right")
    axes[0].legend(loc="lower left", fontsize=8, frameon=True)
    return fig, (
        f"Three spiral arms of 100 points. Softmax regression cuts the plane into three convex pieces and gets "
        f"{shares[0]:.0%} right; with two hidden layers the regions follow the arms: {shares[1]:.0%}."
    )


# ---------------------------------------------------------------- tasks and the pipeline

TASKS = {
    # name: (what a row holds, numbers in it, C)
    "objects, ImageNet": ("a 224 × 224 × 3 picture", 224 * 224 * 3, 1000),
    "objects, CIFAR-10": ("a 32 × 32 × 3 picture", 32 * 32 * 3, 10),
    "faces, worldwide": ("a 112 × 112 × 3 picture", 112 * 112 * 3, 10**6),
    "faces, a school": ("a 112 × 112 × 3 picture", 112 * 112 * 3, 100),
    "next word": ("the words so far", None, 50_000),
    "next subword": ("the subwords so far", None, 30_000),
    "next letter": ("the letters so far", None, 26),
    "next character, ASCII": ("the characters so far", None, 128),
    "digits (this notebook)": ("an 8 × 8 picture", 64, 10),
}


def draw_pipeline(task: str, width: int, batch: int = 32):
    """Shapes from the input to the loss, for one task and a width of the last hidden layer -> (fig, words)."""
    what, size, C = TASKS[task]
    head, chance = C * (width + 1), np.log(C)
    boxes = (
        ("input x", what, f"({batch}, {size:,})" if size else f"({batch}, length)"),
        ("hidden layers", "$h^{(1)}, …, h^{(L-1)}$", f"({batch}, {width:,})"),
        ("scores s", "$W^{(L)}h^{(L-1)}+b^{(L)}$", f"({batch}, {C:,})"),
        ("probabilities p", "softmax, row by row", f"({batch}, {C:,})"),
        ("loss", r"mean of $-\log p_{\mathrm{true}}$", "one number"),
    )
    fig, ax = fixed_axes(1, (9, 2.1), (0.01, 0.99, 0.02, 0.86))
    colors = (SKY, BLUE, ORANGE, GREEN, VERMILION)
    for k, ((name, how, shape), color) in enumerate(zip(boxes, colors, strict=True)):
        look = dict(facecolor=color, alpha=0.16, edgecolor=color, linewidth=1.5)
        ax.add_patch(plt.Rectangle((2 * k, 0), 1.62, 1, **look))
        lines = ((0.78, name, "bold"), (0.48, how, "normal"), (0.18, shape, "normal"))
        for height, text, weight in lines:
            ax.text(2 * k + 0.81, height, text, ha="center", va="center", weight=weight,
                    fontsize=7.5 if text == how else 8.5)  # fmt: skip
        if k:
            ax.annotate("", (2 * k, 0.5), (2 * k - 0.38, 0.5), arrowprops=dict(arrowstyle="->"))
    ax.set(xlim=(-0.05, 9.67), ylim=(-0.05, 1.05), title=f"{task}: the head alone has {head:,} parameters")  # fmt: skip
    ax.axis("off")
    return fig, (
        f"{task}: a batch of {batch} gives scores of shape ({batch}, {C}). The head has {C} × ({width} + 1) = "
        f"{head:,} parameters. Guessing evenly costs ln {C} = {chance:.2f}."
    )


# ---------------------------------------------------------------- the spiral, learnt


def map_explorer(kept: dict, forward: Callable, X, y) -> Callable:
    """-> draw(step, shown, log_T): a network's probabilities over the plane at one step and temperature."""
    grid = _plane()

    def draw(step: int, shown: str, log_T: float):
        T = 10.0**log_T
        P = softmax(np.asarray(forward(grid, kept[step])[0][-1]) / T, axis=1)
        S = np.asarray(forward(X, kept[step])[0][-1]) / T
        right, loss = np.mean(S.argmax(1) == y), signal(S, np.eye(3)[y])[0]
        fig, (ax, bar) = fixed_axes(
            2, (7.4, 4.2), (0.09, 0.98, 0.12, 0.9), wspace=0.28, width_ratios=(1, 0.6)
        )
        if shown == "all three":
            _map(ax, _mix(P))
        elif shown == "who wins":
            _map(ax, _mix(np.eye(3)[P.argmax(1)]))
        else:
            _map(ax, P[:, int(shown[-1])], vmin=0, vmax=1, cmap="Greys")
        _points(ax, X, y)
        ax.set_title(f"Step {step}, T = {T:.2g}: {shown}")
        top = softmax(S, axis=1).max(1)
        bar.hist(top, bins=np.linspace(1 / 3, 1, 15), color=BLUE, alpha=0.8, edgecolor="white")
        bar.set(xlabel="largest probability", ylabel="training points", xlim=(0.3, 1.02), ylim=(0, len(X)))  # fmt: skip
        bar.set_title("How sure?")
        return fig, (
            f"Step {step}, temperature {T:.2g}: {right:.0%} of the training points right, "
            f"cross-entropy {loss:.3f}, mean largest probability {top.mean():.2f}."
        )

    return draw


def draw_trajectories(kept: dict, forward: Callable, X, y, followed):
    """Paths of some training points through the simplex, from the first step to the last -> (fig, words)."""
    steps = sorted(kept)
    P = np.array([np.asarray(forward(X[followed], kept[s])[1]) for s in steps])
    fig, ax = plt.subplots(figsize=(6.2, 4.9))
    draw_triangle(ax)
    for i, row in enumerate(followed):
        path, k = to_plane(P[:, i]), y[row]
        ax.plot(*path.T, "-", color=INK[k], linewidth=1.1, alpha=0.8)
        ax.plot(*path[-1], MARKERS[k], color=INK[k], markersize=8, mec="white")
    ax.plot(*CORNERS.mean(0), "+", color=BLACK, markersize=11)
    for k in range(3):
        ax.plot([], [], MARKERS[k] + "-", color=INK[k], label=f"true class {k}")
    ax.legend(loc="upper left", fontsize=9, bbox_to_anchor=(-0.1, 1.0))
    ax.set_title("Training carries each point to its corner, by detours")
    crossed = sum(
        any(P[t, i].argmax() != y[row] for t in range(len(steps) // 4, len(steps)))
        for i, row in enumerate(followed)
    )
    last = P[-1, np.arange(len(followed)), y[followed]].min()
    return fig, (
        f"{len(followed)} training points start near the centre of the simplex and end near the corner of their "
        f"class (smallest final probability of the true class {last:.2f}). {crossed} of them lie in a wrong region "
        "for part of the way."
    )


def draw_signals(vjp: Callable):
    """Size of the signal of cross-entropy and of squared error, against how far the true class lies behind."""
    gap = np.linspace(-6, 12, 73)
    S = np.column_stack([0 * gap, gap])  # class 0 is true, class 1 leads by gap
    P = softmax(S, axis=1)
    E = P - np.array([1.0, 0])
    cross, squared = -E[:, 0], -np.asarray(vjp(P, E))[:, 0]
    fig, ax = plt.subplots()
    ax.plot(gap, cross, "-", color=BLUE, label="cross-entropy: $1 - p_0$")
    ax.plot(gap, squared, "--", color=VERMILION, label="squared error, through softmax")
    ax.set(xlabel="lead of the wrong class of two, $s_1 - s_0$", ylabel="pull on the true score")
    ax.set(yscale="log", ylim=(1e-5, 3), title="Squared error gives up on what is badly wrong")
    ax.legend(loc="lower center")
    k = int(np.argmin(np.abs(gap - 10)))
    return fig, (
        f"Two classes. Pull on the true score when the wrong one leads by 10: cross-entropy {cross[k]:.3f}, "
        f"squared error {squared[k]:.1e}. With a lead of 0 they are {cross[24]:.2f} and {squared[24]:.2f}."
    )


def draw_temperature(temperatures, losses, right, train_loss):
    """Held-out cross-entropy of a trained network against the temperature -> (fig, words)."""
    best = int(np.argmin(losses))
    at_one = losses[np.argmin(np.abs(np.log(temperatures)))]
    fig, ax = plt.subplots()
    ax.plot(temperatures, losses, "-", color=BLUE, label="new points")
    ax.plot(temperatures, train_loss, "--", color=BLACK, label="training points")
    ax.axhline(np.log(3), color=GREEN, linestyle=":", label="even guessing, ln 3")
    ax.plot(temperatures[best], losses[best], "*", color=VERMILION, markersize=14)
    ax.set(xscale="log", xlabel="temperature T", ylabel="cross-entropy", ylim=(0, 1.8))
    ax.set_title(f"On new points T ≈ {temperatures[best]:.0f} is better than 1")
    ax.legend(loc="upper right")
    return fig, (
        f"On new points the cross-entropy is {at_one:.2f} at T = 1 and lowest, {losses[best]:.2f}, near "
        f"T = {temperatures[best]:.0f}. The share of right answers is {right:.2f} at every T."
    )


# ---------------------------------------------------------------- layer by layer


def draw_layers(names, ratios: dict, probes: dict, chance: float):
    """Scatter ratio and probe accuracy of each layer -> (fig, words). Values: {curve: (layers,)}."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.7))
    looks = (("s:", BLACK), ("o-", BLUE), ("^--", VERMILION))
    for ax, curves in ((left, ratios), (right, probes)):
        for (name, values), (style, color) in zip(curves.items(), looks, strict=False):
            ax.plot(names, values, style, color=color, label=name)
    left.set(ylabel="within / between", xlabel="layer", ylim=(0, None))
    right.set(ylabel="share right, test rows", xlabel="layer", ylim=(None, 1.005))
    left.set_title("Training makes scatter fall with depth")
    right.set_title("… and a linear probe reads more")
    left.legend()
    right.legend(loc="lower left")
    told = "; ".join(f"{n}: {', '.join(f'{v:.2f}' for v in r)}" for n, r in ratios.items())
    read = "; ".join(f"{n}: {', '.join(f'{v:.3f}' for v in r)}" for n, r in probes.items())
    return fig, f"Layers {', '.join(names)}. Scatter ratio: {told}. Probe accuracy: {read}."


def layer_explorer(kept: dict, forward: Callable, sets: dict) -> Callable:
    """-> draw(step, rows): each layer of a digit network in its own two leading directions.

    sets: {"training": (X, y), "test": (X, y)}; the directions are those of the training rows.
    """

    def draw(step: int, rows: str):
        train_X, (X, y) = sets["training"][0], sets[rows]
        seen = [train_X, *map(np.asarray, forward(train_X, kept[step])[0][:-1])]
        layers = [X, *map(np.asarray, forward(X, kept[step])[0][:-1])]
        names = ["x"] + [f"$h^{{({number})}}$" for number in range(1, len(layers))]
        ratios, shades = [ratio(H, y) for H in layers], plt.get_cmap("tab10")
        fig, axes = fixed_axes(
            len(layers), (2.6 * len(layers), 3), (0.03, 0.995, 0.1, 0.82), wspace=0.06
        )
        for ax, H, own, name, value in zip(axes, layers, seen, names, ratios, strict=True):
            Z = plane_of(own)(H)
            for k in range(10):
                ax.plot(*Z[y == k].T, marker=f"${k}$", linestyle="none", color=shades(k),
                        markersize=4.5, mew=0.2, alpha=0.8)  # fmt: skip
            ax.set_title(f"{name}: ratio {value:.2f}", fontsize=10)
            ax.set(xticks=[], yticks=[], xlabel="direction 1")
        axes[0].set_ylabel("direction 2")
        fig.suptitle(f"Step {step}, {rows} rows", x=0.03, ha="left", weight="bold", fontsize=12)
        return fig, (
            f"Step {step}, {rows} rows. Scatter within the classes over scatter between them, from the input "
            f"to the last hidden layer: {', '.join(f'{value:.2f}' for value in ratios)}."
        )

    return draw


def draw_cosines(names, cosines, ratios, pairs):
    """Cosines between class means, layer by layer -> (fig, words). cosines (layers, pairs)."""
    cosines, C = np.asarray(cosines), 3
    fig, ax = plt.subplots()
    looks = zip(pairs, ("o-", "s--", "^:"), (BLUE, VERMILION, GREEN), strict=True)
    for column, (pair, style, color) in enumerate(looks):
        ax.plot(names, cosines[:, column], style, color=color, label=f"cultivars {pair}")
    ax.axhline(-1 / (C - 1), color=BLACK, linewidth=5, alpha=0.15, label="−1/(C − 1)")
    ax.set(xlabel="layer", ylabel="cosine between class means", ylim=(-1, 0.1))
    ax.set_title("Wine: the class means spread to equal angles")
    ax.legend(fontsize=9, ncols=2, loc="upper right")
    spread = np.ptp(cosines, axis=1)
    return fig, (
        f"Cosines between the three class means run from {cosines[0].min():.2f} to {cosines[0].max():.2f} at the "
        f"input (spread {spread[0]:.2f}) and from {cosines[-1].min():.2f} to {cosines[-1].max():.2f} at the last "
        f"hidden layer; scatter within over between falls from {ratios[0]:.2f} to {ratios[-1]:.2f}."
    )


# ---------------------------------------------------------------- information

XOR_LAYERS = (  # x = 00, 01, 10, 11 -> h1 = (relu(x1 + x2), relu(x1 + x2 - 1)) -> h2 = h1[0] - 2 h1[1]
    np.array([[1.0, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]),
    np.array([[1.0, 0], [0, 1], [1, 0]]),
)
XOR_POINTS = (
    np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]),
    np.array([[0.0, 0], [1, 0], [2, 1]]),
    np.array([[0.0], [1]]),
)


def xor_table(flip: float) -> np.ndarray:
    """P(y, x) for two fair bits and y their XOR, flipped with probability `flip`. (2, 4)"""
    right = np.array([[1, 0, 0, 1], [0, 1, 1, 0]])
    return (right * (1 - flip) + (1 - right) * flip) / 4


def best_linear(points, joint) -> float:
    """Share right of the best line (or threshold) on a handful of values. points (m, d <= 2), joint (2, m).

    All cuts along a fan of 360 directions: finer than the directions in which a few small integer points tie.
    """
    if points.shape[1] == 1:
        directions = np.array([[1.0]])
    else:
        angle = np.pi * (np.arange(360) + 0.37) / 360
        directions = np.stack([np.cos(angle), np.sin(angle)], 1)
    best = joint.sum(1).max()
    for direction in directions:
        order = np.argsort(points @ direction)
        zero, one = joint[:, order].cumsum(1)
        total = joint.sum(1)
        best = max(best, (zero + total[1] - one).max(), (one + total[0] - zero).max())
    return float(best)


def draw_information(names, bits_x, bits_y, linear):
    """I(h; x), I(h; y) and the best linear accuracy, layer by layer -> (fig, words)."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.5))
    left.plot(names, bits_x, "s--", color=VERMILION, label="$I(h; x)$")
    left.plot(names, bits_y, "o-", color=BLUE, label="$I(h; y)$")
    left.set(xlabel="layer", ylabel="bits", ylim=(0, 2.2), title="No layer adds information")
    left.legend()
    right.plot(names, linear, "D-", color=GREEN)
    right.set(xlabel="layer", ylabel="best line, share right", ylim=(0.5, 1))
    right.set_title("What rises is what a line can use")
    return fig, (
        f"Layers {', '.join(names)}: I(h; x) = {', '.join(f'{b:.2f}' for b in bits_x)} bits; "
        f"I(h; y) = {', '.join(f'{b:.3f}' for b in bits_y)} bits; best linear classifier right on "
        f"{', '.join(f'{a:.2f}' for a in linear)}."
    )


def information_explorer(information: Callable) -> Callable:
    """-> draw(flip, second): the XOR chain with another noise or another second layer."""
    choices = {
        "XOR: h₁ − 2h₂": (XOR_LAYERS[1], XOR_POINTS[2]),
        "careless: was any bit on?": (np.array([[1.0, 0], [0, 1], [0, 1]]), XOR_POINTS[2]),
        "rename only": (np.eye(3)[[2, 0, 1]], np.array([[1.0], [2], [0]])),
        "noisy: 20 % flipped": (np.array([[0.8, 0.2], [0.2, 0.8], [0.8, 0.2]]), XOR_POINTS[2]),
    }

    def draw(flip: float, second: str):
        matrix, points = choices[second]
        joint, layers = xor_table(flip), [XOR_LAYERS[0], matrix]
        bits_x, bits_y = (np.asarray(b) for b in information(joint, layers))
        tables = [joint, joint @ layers[0], joint @ layers[0] @ layers[1]]
        linear = [best_linear(p, t) for p, t in zip((*XOR_POINTS[:2], points), tables, strict=True)]
        return draw_information(["x", "h¹", "h²"], bits_x, bits_y, linear)

    return draw


SECOND_LAYERS = (
    "XOR: h₁ − 2h₂",
    "careless: was any bit on?",
    "rename only",
    "noisy: 20 % flipped",
)


def binned_bits(h, low, high, widths) -> np.ndarray:
    """Entropy in bits of the bin that h falls into, for bins of each width. h: many evenly spread values."""
    told = []
    for width in widths:
        counts = np.bincount(
            np.floor((h - low) / width).astype(int), minlength=int((high - low) / width) + 1
        )
        p = counts[counts > 0] / counts.sum()
        told.append(-(p * np.log2(p)).sum())
    return np.array(told)


def draw_bins(widths, curves: dict):
    """Binned information of continuous layers against the bin width -> (fig, words)."""
    fig, ax = plt.subplots()
    bits = -np.log2(widths)
    looks = (("o-", BLUE), ("s--", VERMILION), ("^:", PINK))
    for (name, values), (style, color) in zip(curves.items(), looks, strict=False):
        ax.plot(bits, values, style, color=color, label=name)
    ax.set(xlabel="log₂ (1 / bin width)", ylabel="bits about x", xticks=bits)
    ax.set_title("The number of bits is chosen by the bins")
    ax.legend()
    steps = [v[-1] - v[-2] for v in curves.values()]
    return fig, (
        f"Each halving of the bins adds {min(steps):.2f} to {max(steps):.2f} bits, in every layer: "
        "the limit is infinite. "
        + "; ".join(f"{n}: {v[0]:.1f} to {v[-1]:.1f} bits" for n, v in curves.items())
        + "."
    )

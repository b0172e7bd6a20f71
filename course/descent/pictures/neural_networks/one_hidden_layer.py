"""One hidden layer: neurons, kinks, folds, regions, XOR, and what training does with them.

A network is a list [W1, b1, w2, b2] of arrays (*batch, d, m), (*batch, d), (*batch, d), (*batch):
m inputs, d hidden units, score s = b2 + Σ_k w2_k max(0, <W1_k, x> + b1_k). X is (n, m), y (n,).
"""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from descent.pictures.classification.logistic_regression import best_fit, separable, with_one
from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, fixed_axes

LOOKS = ((BLUE, "o", "-"), (ORANGE, "s", "--"), (PINK, "^", ":"))
CORNERS = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
XOR = np.array([0.0, 1, 1, 0])


# ---------------------------------------------------------------- the network and its training


def forward(net, X) -> tuple[np.ndarray, np.ndarray]:
    """Hidden values (*batch, n, d) and scores (*batch, n) of a network."""
    W1, b1, w2, b2 = map(np.asarray, net)
    h = np.maximum(0, X @ np.swapaxes(W1, -1, -2) + b1[..., None, :])
    return h, (h @ w2[..., None])[..., 0] + b2[..., None]


def mean_loss(net, X, y, kind: str) -> np.ndarray:
    """Mean over the rows of ½(y - s)² ("gaussian") or of log(1 + e^s) - y s ("bernoulli") -> (*batch)."""
    s = forward(net, X)[1]
    each = (s - y) ** 2 / 2 if kind == "gaussian" else np.logaddexp(0, s) - y * s
    return each.mean(-1)


def gradient(net, X, y, kind: str) -> list[np.ndarray]:
    """Gradient of `mean_loss`, one array for each of W1, b1, w2, b2. A unit at its kink counts as off."""
    W1, b1, w2, b2 = map(np.asarray, net)
    h, s = forward(net, X)
    e = ((s if kind == "gaussian" else expit(s)) - y) / len(y)
    dz = e[..., None] * w2[..., None, :] * (h > 0)
    return [
        np.swapaxes(dz, -1, -2) @ X,
        dz.sum(-2),
        (e[..., None, :] @ h)[..., 0, :],
        e.sum(-1),
    ]


def descend(net, X, y, kind: str, eta: float, steps: int) -> list[np.ndarray]:
    """The network after so many full-batch steps of size eta; the given one is left alone."""
    for _ in range(steps):
        net = [np.asarray(w) - eta * g for w, g in zip(net, gradient(net, X, y, kind), strict=True)]
    return list(net)


def random_net(d: int, m: int, seed: int, batch=(), scale: float = 1.0) -> list[np.ndarray]:
    """Normal first weights and output weights of standard deviation `scale`; biases 0."""
    rng = np.random.default_rng(seed)
    first, last = rng.normal(size=(*batch, d, m)), rng.normal(size=(*batch, d))
    return [scale * first, np.zeros((*batch, d)), scale * last, np.zeros(batch)]


def patterns(W, b, points) -> np.ndarray:
    """Which on/off pattern of the units holds at each point -> numbers (n,) from 0."""
    on = points @ np.asarray(W).T + b > 0
    code = on @ 2 ** np.arange(len(b))  # one whole number a pattern: sorted far faster than rows
    return np.unique(code, return_inverse=True)[1]


# ---------------------------------------------------------------- data


def clouds(n: int = 200, spread: float = 0.16, seed: int = 0):
    """Four round clouds at the corners of the unit square, labels XOR -> points (n, 2), labels (n,)."""
    which = np.arange(n) % 4
    noise = spread * np.random.default_rng(seed).normal(size=(n, 2))
    return CORNERS[which] + noise, XOR[which]


def rings(n: int = 80, seed: int = 1):
    """A disc of radius 0.8 (label 1) inside a ring from 1.4 to 2.2 (label 0) -> points (n, 2), labels (n,)."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    radius = np.where(y == 1, 0.8 * np.sqrt(rng.random(n)), rng.uniform(1.4, 2.2, n))
    angle = rng.uniform(0, 2 * np.pi, n)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), y.astype(float)


def wave(n: int = 20):
    """sin 3x at n equally spaced points of [-1, 1] -> (n,), (n,)."""
    x = np.linspace(-1, 1, n)
    return x, np.sin(3 * x)


def _labelled(ax, X, y, size=5):
    ax.plot(*X[y == 0].T, "o", color=BLUE, mec="white", markersize=size, label="label 0")
    ax.plot(*X[y == 1].T, "s", color=VERMILION, mec="white", markersize=size, label="label 1")


def _half_planes(ax, score, xlim, ylim, points=120):
    """Light colours where the score is negative and positive, a line where it is 0."""
    gx, gy = np.meshgrid(np.linspace(*xlim, points), np.linspace(*ylim, points))
    s = score(np.column_stack([gx.ravel(), gy.ravel()])).reshape(gx.shape)
    if np.ptp(np.sign(s)):
        ax.contourf(gx, gy, s, levels=[-1e9, 0, 1e9], colors=[SKY, ORANGE], alpha=0.25)
        ax.contour(gx, gy, s, levels=[0], colors=BLACK, linewidths=1.6)
    ax.set(xlim=xlim, ylim=ylim)
    ax.grid(False)


def draw_why(seed: int = 8):
    """XOR clouds judged by logistic regression and by a trained hidden layer -> (fig, words)."""
    X, y = clouds()
    w = best_fit(with_one(X), y)
    net = descend(random_net(8, 2, seed), X, y, "bernoulli", 0.5, 2000)
    judges = (
        ("Logistic regression", lambda P: with_one(P) @ w),
        ("8 hidden units, trained", lambda P: forward(net, P)[1]),
    )
    fig, axes = plt.subplots(1, 2, figsize=(9, 4))
    told = []
    for ax, (name, score) in zip(axes, judges, strict=True):
        _half_planes(ax, score, (-0.6, 1.6), (-0.6, 1.6))
        _labelled(ax, X, y)
        right = np.mean((score(X) > 0) == (y == 1))
        ax.set(xlabel="x₁", ylabel="x₂", title=f"{name}: {right:.0%} right", aspect="equal")
        told.append(f"{name} has {right:.0%} of the points right")
    axes[0].legend(loc="upper right", frameon=True, fontsize=9)
    return fig, (
        f"Four clouds at the corners of a square; opposite corners share a label. {'; '.join(told)}. "
        "A straight line cannot do it, a bent boundary can."
    )


# ---------------------------------------------------------------- the parts of a network

PARTS = ("the whole", "input x", "W1: first weights", "b1: first biases", "hidden units h",
         "w2: output weights", "b2: output bias")  # fmt: skip


def draw_parts(part: str, m: int, d: int):
    """A network with m inputs and d hidden units, one part of it in bold -> (fig, words)."""
    fig, ax = plt.subplots(figsize=(7.5, 3.8))
    ys = [np.linspace(1, -1, k + 2)[1:-1] for k in (m, d, 1)]
    for layer, (weights, bias) in enumerate((PARTS[2:4], PARTS[5:7])):
        for a in ys[layer]:
            for c in ys[layer + 1]:
                strong = part == weights
                ax.plot(
                    [layer, layer + 1], [a, c], color=VERMILION if strong else BLACK,
                    linewidth=2 if strong else 0.7, alpha=1 if strong else 0.4, zorder=1,
                )  # fmt: skip
        for c in ys[layer + 1]:
            strong = part == bias
            ax.annotate(
                "", (layer + 1, c - 0.07), (layer + 1, c - 0.2),
                arrowprops=dict(arrowstyle="->", color=VERMILION if strong else BLACK, lw=2.6 if strong else 1),
            )  # fmt: skip
    strong = [part == PARTS[1], part == PARTS[4], False]
    for layer, (name, marker) in enumerate(zip(("x", "h", "s"), "so^", strict=True)):
        for k, c in enumerate(ys[layer]):
            ax.plot(
                layer, c, marker, markersize=19, zorder=2, color="white",
                mec=VERMILION if strong[layer] else BLACK, mew=3 if strong[layer] else 1.4,
            )  # fmt: skip
            ax.text(layer, c, f"{name}{k + 1 if layer < 2 else ''}", ha="center", va="center", size=9)  # fmt: skip
    ax.set(xlim=(-0.3, 2.3), ylim=(-1.05, 1.05), xlabel="layer", ylabel="")
    ax.set_xticks([0, 1, 2], ["input", "hidden: max(0, ·)", "output: the score"])
    ax.set_yticks([])
    ax.grid(False)
    counts = {PARTS[2]: (f"({d}, {m})", d * m), PARTS[3]: (f"({d},)", d),
              PARTS[5]: (f"({d},)", d), PARTS[6]: ("(), a number", 1)}  # fmt: skip
    total = sum(count for _, count in counts.values())
    ax.set_title(f"m = {m} inputs, d = {d} hidden units: {total} parameters")
    if part in counts:
        shape, count = counts[part]
        told = f"{part}: shape {shape}, {count} parameter{'s' * (count > 1)} (bold)."
    elif part == PARTS[1]:
        told = (
            f"{part}: shape ({m},) for one row, (n, {m}) for n rows; no parameters (bold squares)."
        )
    elif part == PARTS[4]:
        told = f"{part}: shape ({d},) for one row, (n, {d}) for n rows; computed, no parameters (bold circles)."
    else:
        told = "Lines are weights, short arrows are biases."
    return fig, (
        f"A network with {m} inputs, {d} hidden units and one output has (m + 2)d + 1 = {total} parameters. {told}"
    )


def neuron_explorer(marked=(1.0, 0.5)) -> Callable:
    """-> draw(w1, w2, b, x1, x2): one sigmoid unit as a diagram with values, and its line."""

    def draw(w1: float, w2: float, b: float, x1: float, x2: float):
        s = w1 * x1 + w2 * x2 + b
        p = expit(s)
        fig, (left, right) = fixed_axes(2, (9.4, 3.9), (0.02, 0.97, 0.14, 0.9), wspace=0.12)
        boxes = ((0, 0.8, f"x₁ = {x1:g}"), (0, 0.0, f"x₂ = {x2:g}"), (0, -0.8, "1"))
        weights = (f"w₁ = {w1:g}", f"w₂ = {w2:g}", f"b = {b:g}")
        for (x, y, text), weight in zip(boxes, weights, strict=True):
            left.plot([x, 1.3], [y, 0], color=BLACK, linewidth=1)
            left.text(
                0.62, y * 0.52, weight, ha="center", va="center", color=VERMILION, weight="bold",
                bbox=dict(boxstyle="square,pad=0.15", fc="white", ec="none"),
            )  # fmt: skip
            left.text(x, y, text, ha="center", va="center", bbox=dict(boxstyle="square", fc="white"))  # fmt: skip
        left.plot([1.3, 2.3], [0, 0], color=BLACK, linewidth=1)
        for x, text in ((1.3, f"s = {s:.2f}"), (2.3, f"p = {p:.3f}")):
            left.text(x, 0, text, ha="center", va="center", bbox=dict(boxstyle="round", fc="white"))
        left.text(1.83, 0.07, "σ", ha="center")
        left.set(xlim=(-0.35, 2.75), ylim=(-1.1, 1.1), title="One neuron: weigh, add, squash")
        left.axis("off")
        _half_planes(right, lambda P: P @ [w1, w2] + b, (-3, 3), (-3, 3), 60)
        right.plot(x1, x2, "*", color=BLACK, mec="white", markersize=16, label="the input")
        right.set(xlabel="x₁", ylabel="x₂", aspect="equal")
        right.set_title(f"It says {int(s > 0)}")
        right.legend(loc="lower right", frameon=True, fontsize=9)
        length = np.hypot(w1, w2)
        where = f"is {abs(b) / length:.2f} from the origin" if length else "does not exist"
        return fig, (
            f"Score {w1:g}·{x1:g} + {w2:g}·{x2:g} + {b:g} = {s:.2f}, probability {p:.3f}. "
            f"The line where p is one half {where}. A step unit would say {int(s > 0)}."
        )

    return draw


# ---------------------------------------------------------------- kinks


def kink_net(positions, changes, opens: str, b2: float = 0.0) -> list[np.ndarray]:
    """Units with |w1| = 1 that bend at `positions` by `changes`; opens: a letter R or L for each."""
    side = np.array([1.0 if letter == "R" else -1.0 for letter in opens])
    return [side[:, None], -side * np.asarray(positions), np.asarray(changes, float), np.array(b2)]


def kinks_explorer(x, y, eta: float = 0.1) -> Callable:
    """-> draw(k1, k2, k3, a1, a2, a3, opens, steps): three units by hand, then so many steps of training."""
    X, at = x[:, None], np.linspace(-1.6, 1.6, 321)

    def draw(k1, k2, k3, a1, a2, a3, opens, steps):
        by_hand = kink_net((k1, k2, k3), (a1, a2, a3), opens)
        by_hand[3] = np.array(np.mean(y - forward(by_hand, X)[1]))
        net = descend(by_hand, X, y, "gaussian", eta, steps)
        W1, b1, w2, _ = net
        now, before = -b1 / W1[:, 0], np.array([k1, k2, k3])
        h, s = forward(net, at[:, None])
        seen = (forward(net, X)[0] > 0).any(0)
        fig, (top, low) = plt.subplots(
            2, 1, figsize=(7.4, 5.2), sharex=True, height_ratios=(2.2, 1), layout="none"
        )
        fig.subplots_adjust(left=0.1, right=0.98, bottom=0.11, top=0.93, hspace=0.1)
        top.plot(x, y, "o", color=BLACK, label="data")
        top.plot(at, s, color=GREEN, linewidth=2.4, label="network")
        for k, (color, marker, style) in enumerate(LOOKS):
            height = forward(net, now[k : k + 1, None])[1]
            top.plot(now[k], height, marker, color=color, markersize=9, mec="white", zorder=5)
            low.plot(at, w2[k] * h[:, k], style, color=color, label=f"unit {k + 1}")
            low.plot(now[k], 0, marker, color=color, markersize=7, mec="white")
        mse = np.mean((forward(net, X)[1] - y) ** 2)
        top.set(ylabel="score s", ylim=(-1.8, 1.8), xlim=(-1.6, 1.6))
        top.set_title(f"Three kinks, {steps} steps: mean squared error {mse:.3f}")
        top.legend(loc="lower right", fontsize=9)
        low.set(xlabel="input x", ylabel="w⁽²⁾ₖ hₖ", ylim=(-3, 3))
        low.legend(loc="upper left", fontsize=8, ncols=3)
        moved = ", ".join(f"{a:.2f} → {c:.2f}" for a, c in zip(before, now, strict=True))
        dead = [str(k + 1) for k in range(3) if not seen[k]]
        return fig, (
            f"Mean squared error {mse:.4f} after {steps} steps. Kinks: {moved}. "
            f"Changes of slope: {', '.join(f'{v:.2f}' for v in w2 * abs(W1[:, 0]))}. "
            + (
                f"Off at every data point, so training cannot reach it: unit {', '.join(dead)}."
                if dead
                else "Each unit is on at some data point."
            )  # fmt: skip
        )

    return draw


# ---------------------------------------------------------------- folds


def fold_net(angles, offsets, X, y) -> list[np.ndarray]:
    """Units that rise beyond lines <n, x> = offset, n at `angles` (degrees); output weights by least squares.

    The output aims at scores of ±2 for the labels.
    """
    turn = np.radians(angles)
    W1, b1 = np.column_stack([np.cos(turn), np.sin(turn)]), -np.asarray(offsets, float)
    h = np.maximum(0, X @ W1.T + b1)
    best = np.linalg.lstsq(with_one(h), 4 * y - 2, rcond=None)[0]
    return [W1, b1, best[1:], best[0]]


def _fold_lines(ax, W1, b1, extent, looks):
    for (w, b), (color, _, style) in zip(zip(W1, b1, strict=True), looks, strict=False):
        foot = -b * w / (w @ w)
        ends = foot + np.outer([-9 * extent, 9 * extent], [-w[1], w[0]]) / np.linalg.norm(w)
        ax.plot(*ends.T, style, color=color, linewidth=1.8)


def folds_explorer(X, y, eta: float = 0.3, extent: float = 2.6) -> Callable:
    """-> draw(angle1, angle2, angle3, offset1, offset2, offset3, steps): a folded surface, then training."""
    axis = np.linspace(-extent, extent, 41)
    gx, gy = np.meshgrid(axis, axis)
    grid = np.column_stack([gx.ravel(), gy.ravel()])

    def draw(angle1, angle2, angle3, offset1, offset2, offset3, steps):
        net = fold_net((angle1, angle2, angle3), (offset1, offset2, offset3), X, y)
        net = descend(net, X, y, "bernoulli", eta, steps)
        s, loss = forward(net, X)[1], float(mean_loss(net, X, y, "bernoulli"))
        right = np.mean((s > 0) == (y == 1))
        fine = extent * np.stack(np.meshgrid(*[np.linspace(-1, 1, 261)] * 2), -1).reshape(-1, 2)
        regions = patterns(net[0], net[1], fine).max() + 1
        fig = plt.figure(figsize=(9.4, 4.3), layout="none")
        fig.subplots_adjust(left=0.0, right=0.98, bottom=0.12, top=0.92, wspace=0.1)
        space = fig.add_subplot(1, 2, 1, projection="3d")
        surface = forward(net, grid)[1].reshape(gx.shape)
        look = dict(cmap="cividis", rstride=2, cstride=2, linewidth=0.2, edgecolor="#55555555")
        space.plot_surface(gx, gy, surface, **look)
        space.view_init(32, -60)
        space.set(xlabel="x₁", ylabel="x₂", title="The score: a folded sheet")
        space.set_zlabel("score s")
        top = fig.add_subplot(1, 2, 2)
        _half_planes(top, lambda P: forward(net, P)[1], (-extent, extent), (-extent, extent), 90)
        _fold_lines(top, net[0], net[1], extent, LOOKS)
        _labelled(top, X, y)
        top.set(xlabel="x₁", ylabel="x₂", aspect="equal")
        top.set_title(f"From above: {right:.0%} right")
        top.legend(loc="upper right", frameon=True, fontsize=8)
        return fig, (
            f"After {steps} steps: {right:.0%} of {len(y)} points right, mean loss {loss:.3f}. "
            f"Three fold lines cut the square into {regions} regions; on each the score is a plane. "
            f"Output weights {', '.join(f'{v:.2f}' for v in net[2])}."
        )

    return draw


def draw_regions(W, b, count: int, extent: float = 3.0):
    """The plane coloured by on/off pattern, with the fold lines -> (fig, words). count: all regions."""
    W, b = np.asarray(W, float), np.asarray(b, float)
    axis = np.linspace(-extent, extent, 401)
    gx, gy = np.meshgrid(axis, axis)
    seen = patterns(W, b, np.column_stack([gx.ravel(), gy.ravel()]))
    shades = np.random.default_rng(3).permutation(seen.max() + 1)  # neighbours differ
    fig, ax = plt.subplots(figsize=(5.4, 4.6))
    ax.imshow(
        shades[seen].reshape(gx.shape), extent=(-extent, extent) * 2, origin="lower",
        cmap="Pastel1" if len(shades) < 10 else "tab20b", alpha=0.55, interpolation="nearest",
    )  # fmt: skip
    _fold_lines(ax, W, b, extent, [(BLACK, "", "-")] * len(W))
    ax.set(xlim=(-extent, extent), ylim=(-extent, extent), xlabel="x₁", ylabel="x₂")
    ax.set_title(f"{len(W)} lines, {count} regions")
    ax.grid(False)
    return fig, (
        f"{len(W)} fold lines cut the plane into {count} regions; {seen.max() + 1} of them "
        "show up on the grid of this picture, each in its own colour."
    )


# ---------------------------------------------------------------- XOR


def draw_hidden_space(X, y, panels: dict):
    """The inputs, and the rows in the space of two hidden units with the output's line -> (fig, words).

    panels: {title: (network, its inputs)}; X (n, 2) are the inputs of the first picture.
    """
    fig, axes = plt.subplots(1, len(panels) + 1, figsize=(3.1 * (len(panels) + 1), 3.6))
    _labelled(axes[0], X, y, 7)
    axes[0].set(xlabel="x₁", ylabel="x₂", title="The inputs")
    axes[0].margins(0.15)
    raw = "" if separable(with_one(X), y) else "not "
    told = [f"the inputs: {raw}separable"]
    for ax, (title, (net, inputs)) in zip(axes[1:], panels.items(), strict=True):
        h, s = forward(net, inputs)
        top = np.maximum(h.max(0) * 1.15, 0.2)
        low = -0.12 * top
        _half_planes(ax, lambda P, net=net: P @ net[2] + net[3], (low[0], top[0]), (low[1], top[1]))
        _labelled(ax, h, y, 7)
        right = np.mean((s > 0) == (y == 1))
        ax.set(xlabel="h₁", ylabel="h₂", title=f"{title}: {right:.0%} right")
        word = "" if separable(with_one(h), y) else "not "
        told.append(f"{title}: {right:.0%} right, {word}separable in hidden space")
    handles, labels = axes[0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=2)
    return fig, "; ".join(told) + "."


def training_explorer(X, y, fit: Callable) -> Callable:
    """-> draw(d, seed, steps): the boundary and the risk after so many steps.

    fit(net, steps) -> (risks (steps + 1,), trained net): the student's loop around a network.
    """
    low, high = X.min(0) - 0.2, X.max(0) + 0.2

    def draw(d: int, seed: int, steps: int):
        risks, net = fit(random_net(d, 2, seed), steps)
        right = np.mean((forward(net, X)[1] > 0) == (y == 1))
        fig, (left, right_ax) = fixed_axes(2, (9.2, 4), (0.1, 0.98, 0.14, 0.91), wspace=0.22)
        limits = (low[0], high[0]), (low[1], high[1] + 0.25)  # room for the legend
        _half_planes(left, lambda P: forward(net, P)[1], *limits, 90)
        _fold_lines(left, net[0], net[1], 3, [(BLACK, "", ":")] * d)
        _labelled(left, X, y)
        left.set(xlabel="x₁", ylabel="x₂", title=f"Boundary and folds: {right:.0%} right")
        left.legend(loc="upper center", ncols=2, frameon=True, fontsize=8)
        right_ax.plot(risks, color=BLUE)
        right_ax.plot(steps, risks[-1], "o", color=VERMILION)
        right_ax.axhline(np.log(2), color=BLACK, linestyle="--", linewidth=1, label="a coin: log 2")
        right_ax.set(xlabel="step", ylabel="empirical risk (nats)", ylim=(0, None))
        right_ax.set_title(f"Risk {risks[-1]:.3f} after {steps} steps")
        right_ax.legend()
        return fig, (
            f"{d} units, start {seed}: risk {risks[0]:.3f} at the start, {risks[-1]:.3f} after {steps} steps, "
            f"{right:.0%} of {len(y)} points right."
        )

    return draw


PLATEAUS = {
    "all four alike: log 2": np.log(2),
    "three alike: ¾ H(⅓)": 0.75 * (np.log(3) - 2 / 3 * np.log(2)),
    "two alike: ½ log 2": np.log(2) / 2,
}


def xor_runs(d: int, seeds: int = 100, steps: int = 2000, eta: float = 0.5):
    """2-d-1 networks trained on XOR -> losses (seeds,), all four right (seeds,), units on at corners (seeds, 4, d)."""
    net = descend(random_net(d, 2, 0, (seeds,)), CORNERS, XOR, "bernoulli", eta, steps)
    h, s = forward(net, CORNERS)
    return mean_loss(net, CORNERS, XOR, "bernoulli"), ((s > 0) == (XOR == 1)).all(-1), h > 0


def draw_xor_runs(widths=(2, 3, 4, 8, 16)):
    """Where 100 runs on XOR end, by width -> (fig, words)."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.9), width_ratios=(1, 1.25))
    failed, ends = [], {}
    for d in widths:
        ends[d], fine, _ = xor_runs(d)
        failed.append(int(np.sum(~fine)))
    left.bar(range(len(widths)), failed, color=BLUE)
    for k, f in enumerate(failed):
        left.text(k, f + 1.5, str(f), ha="center")
    left.set_xticks(range(len(widths)), widths)
    left.set(xlabel="hidden units d", ylabel="runs of 100 that fail", ylim=(0, 100))
    left.set_title("Wider layers fail less")
    jitter = np.random.default_rng(0).uniform(-0.3, 0.3, 100)
    for k, d in enumerate(widths):
        right.plot(k + jitter, ends[d], "o", color=VERMILION, alpha=0.5, markersize=4)
    for (name, value), style in zip(PLATEAUS.items(), ("-", "--", ":"), strict=True):
        right.axhline(value, color=BLACK, linestyle=style, linewidth=1.1, label=name)
    right.set_xticks(range(len(widths)), widths)
    right.set(xlabel="hidden units d", ylabel="mean loss after training (nats)", ylim=(-0.03, 0.98))
    right.set_title("Failures end on three exact values")
    right.legend(fontsize=8.5, loc="upper right")
    pairs = ", ".join(f"{f} with {d} units" for d, f in zip(widths, failed, strict=True))
    return fig, (
        f"Of 100 starts these fail to learn XOR: {pairs}. Failed runs end at one of three losses: "
        + ", ".join(f"{name} = {value:.3f}" for name, value in PLATEAUS.items()) + "."
    )  # fmt: skip


# ---------------------------------------------------------------- width and scale


def width_runs(x, y, widths, steps: int = 5000):
    """Final mean squared error by width, from a random start -> (len(widths),). Step: 0.6 over the curvature's size.

    Weights: first normal, output normal over √d, so that the score starts at the same size for every width.
    """
    X, errors = x[:, None], []
    for d in widths:
        net = random_net(d, 1, 5)
        rng = np.random.default_rng(6)
        net[1] = rng.uniform(-1, 1, d) * abs(net[0][:, 0])
        net[2] = net[2] / np.sqrt(d)
        features = with_one(forward(net, X)[0])
        eta = 0.6 / (np.linalg.norm(features, 2) ** 2 / len(x))
        errors.append(2 * float(mean_loss(descend(net, X, y, "gaussian", eta, steps), X, y, "gaussian")))  # fmt: skip
    return np.array(errors)


def draw_widths(widths, errors, constant: float, n: int):
    """Training error by width, random against zero start -> (fig, words)."""
    fig, ax = plt.subplots(figsize=(7.2, 4))
    ax.plot(widths, errors, "o-", color=BLUE, label="random start")
    ax.axhline(constant, color=VERMILION, linestyle="--", label="all weights zero: the mean of y")
    first = int(np.ceil(n / 3))
    ax.axvline(first, color=BLACK, linestyle=":", label=f"d = {first}: more parameters than rows")
    ax.set(
        xscale="log",
        yscale="log",
        xlabel="hidden units d",
        ylabel="mean squared error on the 20 rows",
    )
    ax.set_title("From zero only the mean; random starts fit")
    ax.legend(fontsize=9)
    told = ", ".join(f"{e:.1g} with {d}" for d, e in zip(widths, errors, strict=True))
    return fig, (
        f"Training error from a random start: {told} units. From zero it stays {constant:.2f}, the "
        f"variance of y, for every width. {first} units have more parameters than the {n} rows."
    )


def scaled_run(x, y, alpha: float, d: int = 100, steps: int = 10_000, seed: int = 1):
    """Training from a start of size alpha -> (start, end), networks."""
    rng = np.random.default_rng(seed)
    start = [alpha * rng.normal(size=(d, 1)), alpha * rng.normal(size=d),
             0.3 * alpha * rng.normal(size=d), np.zeros(())]  # fmt: skip
    eta = 0.05 / max(1.0, alpha**2 * d / 30)
    return start, descend(start, x[:, None], y, "gaussian", eta, steps)


def norm(net) -> float:
    """Euclidean norm of all parameters."""
    return float(np.sqrt(sum(np.sum(np.square(w)) for w in net)))


def moved(start, end) -> float:
    """Distance between two networks over the norm of the first."""
    return norm([a - b for a, b in zip(start, end, strict=True)]) / norm(start)


def kink_table(net, least: float = 0.01):
    """Positions (k,) and changes of slope (k,) of the kinks inside (-1, 1) that bend by more than `least`."""
    W1, b1, w2, _ = net
    place, change = -b1 / W1[:, 0], w2 * abs(W1[:, 0])
    keep = (abs(place) < 1) & (abs(change) > least)
    order = np.argsort(place[keep])
    return place[keep][order], change[keep][order]


def clusters(place, gap: float = 0.02) -> int:
    """Groups of sorted positions that lie within `gap` of their neighbour."""
    return int(len(place) > 0) + int(np.sum(np.diff(place) > gap))


def draw_scales(x, y, runs: dict):
    """Fits from starts of different size, with their kinks -> (fig, words). runs: {alpha: (start, end)}."""
    fig, axes = plt.subplots(2, len(runs), figsize=(3.3 * len(runs), 4.6), height_ratios=(2, 1),
                             sharex=True, sharey="row")  # fmt: skip
    at, told = np.linspace(-1, 1, 201), []
    for (top, low), (alpha, (start, end)) in zip(axes.T, runs.items(), strict=True):
        place, change = kink_table(end)
        groups, far = clusters(place), moved(start, end)
        top.plot(at, forward(start, at[:, None])[1], "--", color=SKY, label="start")
        top.plot(at, forward(end, at[:, None])[1], color=GREEN, label="end")
        top.plot(x, y, "o", color=BLACK, markersize=4, label="data")
        if abs(forward(start, x[:, None])[1]).min() > 2.2:
            top.text(
                0.03, 0.94, "the start is far outside", transform=top.transAxes, size=9, va="top"
            )
        top.set_title(f"size {alpha:g}: bends at {groups} places")
        low.vlines(place, 0, abs(change), color=VERMILION, linewidth=1.2)
        low.plot(place, abs(change), "o", color=VERMILION, markersize=3)
        low.set(xlabel="input x", yscale="log", ylim=(0.008, 30))
        told.append(
            f"start of size {alpha:g}: {len(place)} kinks at {groups} places, parameters moved {far:.2g} times "
            f"the size of the start, mean squared error {np.mean((forward(end, x[:, None])[1] - y) ** 2):.1g}"
        )
    axes[0, 0].set(ylabel="score s", ylim=(-2.2, 2.2))
    axes[1, 0].set_ylabel("|change of slope|")
    axes[0, 0].legend(fontsize=8, loc="upper left")
    return fig, "; ".join(told) + "."


# ---------------------------------------------------------------- real data


def draw_parity(widths, learned, frozen, logistic: float):
    """Test accuracy by width, hidden layer trained and left at random -> (fig, words)."""
    fig, ax = plt.subplots(figsize=(7, 4))
    ax.plot(widths, learned, "o-", color=BLUE, label="hidden layer trained")
    ax.plot(widths, frozen, "s--", color=ORANGE, label="hidden layer left at random")
    ax.axhline(logistic, color=BLACK, linestyle=":", label="no hidden layer")
    ax.set_xscale("log", base=2)
    ax.set_xticks(widths, widths)
    ax.set(xlabel="hidden units d", ylabel="share of test images right", ylim=(0.45, 1.01))
    ax.set_title("Learned features need fewer units")
    ax.legend(loc="lower right")
    pairs = ", ".join(
        f"{d} units {a:.2f} trained and {b:.2f} at random"
        for d, a, b in zip(widths, learned, frozen, strict=True)
    )
    return fig, f"Test accuracy on odd or even: no hidden layer {logistic:.2f}; {pairs}."


# ---------------------------------------------------------------- to torch and back


def to_torch(net):
    """The network as torch.nn.Sequential(Linear(m, d), ReLU(), Linear(d, 1)), double precision."""
    import torch

    W1, b1, w2, b2 = (torch.as_tensor(np.array(w, float)) for w in net)
    d, m = W1.shape
    module = torch.nn.Sequential(
        torch.nn.Linear(m, d), torch.nn.ReLU(), torch.nn.Linear(d, 1)
    ).double()
    with torch.no_grad():
        for weight, value in zip(module.parameters(), (W1, b1, w2[None], b2[None]), strict=True):
            weight.copy_(value)
    return module


def to_numpy(module) -> list[np.ndarray]:
    """The arrays [W1, b1, w2, b2] of such a module, copied."""
    W1, b1, w2, b2 = (p.detach().numpy().copy() for p in module.parameters())
    return [W1, b1, w2[0], b2[0]]

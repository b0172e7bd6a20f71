"""One hidden layer: kinks, folds, regions, XOR, and what training does with them.

A network is a list [W1, b1, w2, b2] of arrays (*batch, d, m), (*batch, d), (*batch, d), (*batch):
m inputs, d hidden units, score s = b2 + Σ_k w2_k max(0, <W1_k, x> + b1_k). X is (n, m), y (n,).
"""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from descent.pictures.classification.logistic_regression import separable, with_one
from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION
from descent.words import say

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


# ---------------------------------------------------------------- one unit


def draw_neuron(w1: float, w2: float, b: float, at=(1.0, 0.5)):
    """One sigmoid unit: the line where p is one half, its weights as an arrow, and the unit's word at a point."""
    s = w1 * at[0] + w2 * at[1] + b
    fig, ax = plt.subplots(figsize=(5.4, 4.4))
    _half_planes(ax, lambda P: P @ [w1, w2] + b, (-3, 3), (-3, 3), 60)
    ax.annotate("", (w1, w2), (0, 0), arrowprops={"arrowstyle": "-|>", "color": BLUE, "lw": 2})
    ax.plot(*at, "*", color=VERMILION, mec="white", markersize=16, label="the input")
    ax.plot([], [], color=BLUE, label="w")
    ax.plot([], [], color=BLACK, label="p = ½")
    ax.set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
    ax.set_title(f"At the star p = {expit(s):.3f}")
    ax.set_gid("weights")
    ax.legend(loc="lower left", frameon=True, fontsize=9)
    length = np.hypot(w1, w2)
    words = say("Score {s:.2f}, probability {p:.3f} at the star. ", s=s, p=expit(s))
    if not length:
        return fig, words + "Without weights there is no line."
    return fig, words + say(
        "The line is {far:.2f} from the origin, at a right angle to w.", far=abs(b) / length
    )


# ---------------------------------------------------------------- kinks

SWITCHES = np.array([0.0, 1, 1, 2])  # how many of the two switches are up, row by row of CORNERS
WANTED = 2 * XOR - 1  # scores


def kink_net(positions, changes, opens: str, b2: float = 0.0) -> list[np.ndarray]:
    """Units with |w1| = 1 that bend at `positions` by `changes`; opens: a letter R or L for each."""
    side = np.array([1.0 if letter == "R" else -1.0 for letter in opens])
    return [side[:, None], -side * np.asarray(positions), np.asarray(changes, float), np.array(b2)]


def released(k1, a1, k2, a2, steps) -> list[np.ndarray]:
    """Two units that open to the right, best output bias, after so many steps on SWITCHES and WANTED."""
    net = kink_net((k1, k2), (a1, a2), "RR")
    net[3] = np.mean(WANTED - forward(net, SWITCHES[:, None])[1])
    return descend(net, SWITCHES[:, None], WANTED, "gaussian", 0.1, steps)


def places(net) -> np.ndarray:
    """Where the units of a network with one input bend, within ±9: a unit that lost its weight bends nowhere."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(np.nan_to_num(-net[1] / net[0][:, 0]), -9, 9)


def draw_kinks(k1: float, a1: float, k2: float, a2: float, steps: int):
    """The score against the number of switches, above the two kinks, set by hand and then trained."""
    net = released(k1, a1, k2, a2, steps)
    at = np.linspace(-1, 3, 161)
    place, change = places(net), net[2] * abs(net[0][:, 0])
    mse = np.mean((forward(net, SWITCHES[:, None])[1] - WANTED) ** 2)
    fig, (top, low) = plt.subplots(
        2, 1, figsize=(6.8, 5), sharex=True, height_ratios=(1.4, 1), layout="none"
    )
    fig.subplots_adjust(left=0.11, right=0.98, bottom=0.11, top=0.93, hspace=0.12)
    top.plot(at, forward(net, at[:, None])[1], color=GREEN, linewidth=2.2, label="score")
    top.plot([0, 2], [-1, -1], "o", color=BLUE, markersize=9, label="wanted: label 0")
    top.plot([1], [1], "s", color=VERMILION, markersize=9, label="wanted: label 1")
    for k, (color, marker, style) in enumerate(LOOKS[:2]):
        top.axvline(place[k], color=color, linestyle=style, linewidth=1)
        low.vlines(place[k], 0, change[k], color=color, linestyle=style, linewidth=2)
        low.plot(place[k], change[k], marker, color=color, markersize=9)
        low.text(
            place[k] + 0.12, change[k], f"unit {k + 1}", color=color, va="center", clip_on=True
        )
    low.axhline(0, color=BLACK, linewidth=0.8)
    # a tick label is the dear part of a picture that is dragged: few of them
    top.set(ylabel="score s", xlim=(-1, 3), ylim=(-2.6, 2.6), yticks=(-2, 0, 2))
    top.set_title(f"Two kinks, {steps} steps: mean squared error {mse:.3f}")
    top.legend(loc="upper left", fontsize=8, ncols=3, frameon=True)
    low.set(xlabel="x: switches that are up", ylabel="change of slope", ylim=(-5, 5))
    low.set(xticks=range(-1, 4), yticks=(-4, 0, 4))
    low.set_gid("kinks")
    words = say(
        "After {steps} steps the mean squared error is {mse:.3f}. Kinks at {place[0]:.2f} and {place[1]:.2f}, "
        "changes of slope {change[0]:.2f} and {change[1]:.2f}.",
        steps=steps,
        mse=mse,
        place=place,
        change=change,
    )
    seen = (forward(net, SWITCHES[:, None])[0] > 0).any(0)
    if seen.all():
        return fig, words
    return fig, words + say(
        " Off on all rows, so no slope reaches it: unit {dead:, }.",
        dead=[str(k + 1) for k in np.flatnonzero(~seen)],
    )


# ---------------------------------------------------------------- folds


def fold_net(feet, X, y) -> list[np.ndarray]:
    """Units that rise beyond the lines through `feet` (d, 2), at a right angle to the way there from the origin.

    A foot at the origin rises to the right. Output weights by least squares; scores of ±2 are wanted.
    """
    feet = np.asarray(feet, float)
    far = np.linalg.norm(feet, axis=1)
    W1 = np.where(far[:, None] > 0, feet, [1.0, 0.0]) / np.where(far > 0, far, 1)[:, None]
    h = np.maximum(0, X @ W1.T - far)
    best = np.linalg.lstsq(with_one(h), 4 * y - 2, rcond=None)[0]
    return [W1, -far, best[1:], best[0]]


def _fold_lines(ax, W1, b1, extent, looks):
    for (w, b), (color, _, style) in zip(zip(W1, b1, strict=True), looks, strict=False):
        foot = -b * w / (w @ w)
        ends = foot + np.outer([-9 * extent, 9 * extent], [-w[1], w[0]]) / np.linalg.norm(w)
        ax.plot(*ends.T, style, color=color, linewidth=1.8)


def draw_folds(x1, y1, x2, y2, x3, y3, steps, extent: float = 2.6):
    """Three fold lines over a disc in a ring, set by hand and then trained, beside the folded sheet."""
    X, y = rings()
    net = descend(fold_net([(x1, y1), (x2, y2), (x3, y3)], X, y), X, y, "bernoulli", 0.3, steps)
    right = np.mean((forward(net, X)[1] > 0) == (y == 1))
    fine = extent * np.stack(np.meshgrid(*[np.linspace(-1, 1, 161)] * 2), -1).reshape(-1, 2)
    regions = int(patterns(net[0], net[1], fine).max()) + 1
    fig = plt.figure(figsize=(9.4, 4.3), layout="none")
    fig.subplots_adjust(left=0.07, right=0.95, bottom=0.12, top=0.92, wspace=0.05)
    top = fig.add_subplot(1, 2, 1)
    _half_planes(top, lambda P: forward(net, P)[1], (-extent, extent), (-extent, extent), 60)
    _fold_lines(top, net[0], net[1], extent, LOOKS)
    _labelled(top, X, y)
    few = (-2, 0, 2)  # tick labels are the dear part of a picture that is dragged
    top.set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal", title=f"{right:.0%} right")
    top.set(xticks=few, yticks=few)
    top.legend(loc="upper right", frameon=True, fontsize=8)
    top.set_gid("folds")
    gx, gy = np.meshgrid(*[np.linspace(-extent, extent, 17)] * 2)
    surface = forward(net, np.column_stack([gx.ravel(), gy.ravel()]))[1].reshape(gx.shape)
    space = fig.add_subplot(1, 2, 2, projection="3d")
    space.plot_surface(gx, gy, surface, cmap="cividis", linewidth=0.2, edgecolor="#55555555")
    space.view_init(32, -60)
    space.set(xlabel="$x_1$", ylabel="$x_2$", zlabel="score s", title="The score: a folded sheet")
    space.set(xticks=few, yticks=few)
    space.zaxis.set_major_locator(plt.MaxNLocator(3))
    return fig, say(
        "After {steps} steps {right:.0%} of {n} points are right, mean loss {loss:.3f}. Three lines cut the square "
        "into {regions} regions; on each the score is a plane.",
        steps=steps,
        right=right,
        n=len(y),
        loss=float(mean_loss(net, X, y, "bernoulli")),
        regions=regions,
    )


def patterns_of_three() -> int:
    """How many on/off patterns three lines in general position have."""
    points = np.random.default_rng(0).normal(size=(9999, 2))
    return int(patterns([[1, 0], [0, 1], [1, 1]], [0, 0, -1], points).max()) + 1


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
    ax.set(xlim=(-extent, extent), ylim=(-extent, extent), xlabel="$x_1$", ylabel="$x_2$")
    ax.set_title(f"{len(W)} lines, {count} regions")
    ax.grid(False)
    return fig, say(
        "{lines} fold lines cut the plane into {count} regions; {seen} of them show up on the grid of this picture, "
        "each in its own colour.",
        lines=len(W),
        count=count,
        seen=int(seen.max()) + 1,
    )


# ---------------------------------------------------------------- XOR


@cache
def first_runs(d: int = 2, seeds: int = 100, steps: int = 1000):
    """Risks of 100 networks with d units on the corners, and where they end -> (steps + 1, seeds), networks."""
    net, risks = random_net(d, 2, 0, (seeds,)), []
    for _ in range(steps):
        risks.append(mean_loss(net, CORNERS, XOR, "bernoulli"))
        net = descend(net, CORNERS, XOR, "bernoulli", 1.0, 1)
    risks.append(mean_loss(net, CORNERS, XOR, "bernoulli"))
    return np.array(risks), net


def arrivals(net) -> int:
    """How many networks of a batch have a risk below 0.01 on XOR."""
    return int(np.sum(mean_loss(net, CORNERS, XOR, "bernoulli") < 0.01))


def late_arrivals(steps: int) -> int:
    """How many more of the first runs arrive if they get so many steps again."""
    net = first_runs()[1]
    return arrivals(descend(net, CORNERS, XOR, "bernoulli", 1.0, steps)) - arrivals(net)


def draw_first_runs():
    """Risk against step for 100 starts of two units: most stop at one of three heights. -> (fig, words)"""
    risks, _ = first_runs()
    stuck = risks[-1] > 0.01
    fig, ax = plt.subplots(figsize=(8, 3.9))
    ax.plot(risks[:, stuck], color=VERMILION, alpha=0.35, linewidth=1)
    ax.plot(risks[:, ~stuck], "--", color=BLUE, alpha=0.8, linewidth=1)
    ax.plot([], [], color=VERMILION, label=f"{stuck.sum()} that stop on the way")
    ax.plot([], [], "--", color=BLUE, label=f"{(~stuck).sum()} that arrive")
    ax.set(xlim=(0, len(risks) - 1), ylim=(-0.02, 1.1), xlabel="step", ylabel="risk (nats)")
    ax.set_title("Most of 100 runs stop at one of three heights")
    ax.legend(loc="upper right")
    heights, count = np.unique(np.round(risks[-1, stuck], 2), return_counts=True)
    return fig, say(
        "Risk of 100 networks with two units, over {steps} steps. {arrived} arrive near 0. The others stop: {ends:, }.",
        steps=len(risks) - 1,
        arrived=int((~stuck).sum()),
        ends=[f"{c} near {h:.2f}" for h, c in zip(heights, count, strict=True)],
    )


def draw_hidden_space(X, y, panels: dict):
    """The inputs, and the rows in the space of two hidden units with the output's line -> (fig, words).

    panels: {title: (network, its inputs)}; X (n, 2) are the inputs of the first picture.
    """
    fig, axes = plt.subplots(1, len(panels) + 1, figsize=(2.35 * (len(panels) + 1), 3.1))
    _labelled(axes[0], X, y, 7)
    axes[0].set(xlabel="$x_1$", ylabel="$x_2$")
    axes[0].set_title("The inputs", fontsize=10.5)
    axes[0].margins(0.15)
    told = []
    for ax, (title, (net, inputs)) in zip(axes[1:], panels.items(), strict=True):
        h, s = forward(net, inputs)
        top = np.maximum(h.max(0) * 1.15, 0.2)
        low = -0.12 * top
        _half_planes(ax, lambda P, net=net: P @ net[2] + net[3], (low[0], top[0]), (low[1], top[1]))
        _labelled(ax, h, y, 7)
        right = np.mean((s > 0) == (y == 1))
        ax.set(xlabel="$h_1$", ylabel="$h_2$")
        ax.set_title(f"{title}: {right:.0%} right", fontsize=10.5)
        word = "" if separable(with_one(h), y) else "not "
        told.append(f"{title}: {right:.0%} right, {word}separable in hidden space")
    handles, labels = axes[0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=2)
    return fig, say(
        "The inputs: {raw}separable; {told:; }.",
        raw="" if separable(with_one(X), y) else "not ",
        told=told,
    )


def sorting(nets, X, y):
    """What the two units say of each row, while they are trained -> (fig, ax, positions, words, colours).

    nets: [W1, b1, w2, b2] at each stage. A row stands at its two terms of the score, each with half of the
    output bias: it is judged 1 above the line x + y = 0, which never moves. positions (stages, n, 2).
    """
    at = np.array([forward(net, X)[0] * net[2] + net[3] / 2 for net in nets])
    low, high = 1.5 * at.min(), 3 * at.max()
    fig, ax = plt.subplots(figsize=(5.8, 4.8))
    edge = np.linspace(low, high, 400)
    ax.fill_between(edge, -edge, high, color=ORANGE, alpha=0.25, linewidth=0)
    ax.fill_between(edge, low, -edge, color=SKY, alpha=0.25, linewidth=0)
    ax.plot(edge, -edge, color=BLACK, linewidth=1.6)
    for label, color in ((0, BLUE), (1, VERMILION)):
        ax.plot([], [], "o", color=color, label=f"label {label}")
    ax.text(0.97, 0.94, "judged 1", transform=ax.transAxes, ha="right")
    ax.text(0.03, 0.03, "judged 0", transform=ax.transAxes)
    for scale in (ax.set_xscale, ax.set_yscale):
        scale("symlog", linthresh=1)
    ax.set(xlabel="term of unit 1, with $b^{(2)}/2$", ylabel="term of unit 2, with $b^{(2)}/2$")
    ax.set(xlim=(low, high), ylim=(low, high), title="Training moves the rows, not the line")
    ax.legend(loc="lower center", frameon=True, fontsize=9)
    right = [np.mean((stage.sum(1) > 0) == (y == 1)) for stage in at]
    words = say(
        "{n} rows while two units learn: {first:.0%} on their side of the line at the start, {last:.0%} at the end.",
        n=len(y),
        first=right[0],
        last=right[-1],
    )
    return fig, ax, at, words, [VERMILION if label else BLUE for label in y]


HEIGHTS = {
    "log 2": np.log(2),
    "¾ H(⅓)": 0.75 * np.log(3) - 0.5 * np.log(2),
    "½ log 2": np.log(2) / 2,
}


def draw_ends(ends: dict):
    """Where runs on XOR end, by width -> (fig, words). ends: {d: risks (runs,)}; a run below 0.01 has arrived."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.9), width_ratios=(1, 1.25))
    arrived = [int(np.sum(risks < 0.01)) for risks in ends.values()]
    places, runs = range(len(ends)), len(next(iter(ends.values())))
    left.bar(places, arrived, color=BLUE)
    for k, count in enumerate(arrived):
        left.text(k, count + 1.5, str(count), ha="center")
    left.set(xlabel="hidden units d", ylabel=f"runs of {runs} that arrive", ylim=(0, 1.1 * runs))
    left.set_title("Wide layers arrive")
    jitter = np.random.default_rng(0).uniform(-0.3, 0.3, runs)
    for k, risks in enumerate(ends.values()):
        right.plot(k + jitter, risks, "o", color=VERMILION, alpha=0.5, markersize=4)
    for (name, value), style in zip(HEIGHTS.items(), ("-", "--", ":"), strict=True):
        right.axhline(value, color=BLACK, linestyle=style, linewidth=1.1, label=name)
    for ax in (left, right):
        ax.set_xticks(places, list(ends))
    right.set(xlabel="hidden units d", ylabel="risk at the end (nats)", ylim=(-0.03, 0.98))
    right.set_title("The rest stop at three heights")
    right.legend(fontsize=8.5, loc="upper right", ncols=3)
    return fig, say(
        "Of {runs} starts these arrive: {pairs:, }. The others end at {heights:, }.",
        runs=runs,
        pairs=[f"{count} with {d} units" for d, count in zip(ends, arrived, strict=True)],
        heights=[f"{name} = {value:.3f}" for name, value in HEIGHTS.items()],
    )


# ---------------------------------------------------------------- width and scale


def width_runs(x, y, widths, steps: int = 3000):
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
        xscale="log", yscale="log", xlabel="hidden units d", ylabel=f"mean squared error, {n} rows"
    )
    ax.set_title("From zero only the mean; random starts fit")
    ax.legend(fontsize=9)
    return fig, say(
        "Training error from a random start: {told:, } units. From zero it stays {constant:.2f}, the variance of y, "
        "for every width. {first} units have more parameters than the {n} rows.",
        told=[f"{e:.1g} with {d}" for d, e in zip(widths, errors, strict=True)],
        constant=constant,
        first=first,
        n=n,
    )


def zero_net(d: int) -> list[np.ndarray]:
    """A network with one input whose parameters are all 0."""
    return [np.zeros((d, 1)), np.zeros(d), np.zeros(d), np.zeros(())]


def moved_from_zero() -> int:
    """What differs from 0 after 1000 steps from 0 on the wave: 8 for W1, 4 for b1, 2 for w2, 1 for b2, added."""
    x, y = wave()
    end = descend(zero_net(50), x[:, None], y + 1, "gaussian", 0.1, 1000)
    return sum(2**k for k, part in enumerate(end[::-1]) if np.any(part))


def scaled_run(x, y, alpha: float, d: int = 100, steps: int = 6000, seed: int = 1):
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
    fig, axes = plt.subplots(2, len(runs), figsize=(2.4 * len(runs), 4.2), height_ratios=(2, 1),
                             sharex=True, sharey="row")  # fmt: skip
    at, told = np.linspace(-1, 1, 201), []
    for (top, low), (alpha, (start, end)) in zip(axes.T, runs.items(), strict=True):
        place, change = kink_table(end)
        top.plot(at, forward(start, at[:, None])[1], "--", color=SKY, label="start")
        top.plot(at, forward(end, at[:, None])[1], color=GREEN, label="end")
        top.plot(x, y, "o", color=BLACK, markersize=4, label="data")
        if abs(forward(start, x[:, None])[1]).min() > 2.2:
            top.text(-0.95, 1.9, "the start is far outside", size=9)
        top.set_title(f"size {alpha:g}: {clusters(place)} bends", fontsize=10.5)
        low.vlines(place, 0, abs(change), color=VERMILION, linewidth=1.2)
        low.plot(place, abs(change), "o", color=VERMILION, markersize=3)
        low.set(xlabel="input x", yscale="log", ylim=(0.008, 30))
        told.append(
            f"start of size {alpha:g}: {len(place)} kinks at {clusters(place)} places, parameters moved "
            f"{moved(start, end):.2g} times the size of the start"
        )
    axes[0, 0].set(ylabel="score s", ylim=(-2.2, 2.2))
    axes[1, 0].set_ylabel("|change of slope|")
    axes[0, 0].legend(fontsize=8, loc="upper left")
    return fig, say("{told:; }.", told=told)


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
    return fig, say(
        "Test accuracy on odd or even: no hidden layer {logistic:.2f}; {pairs:, }.",
        logistic=logistic,
        pairs=[
            f"{d} units {a:.2f} trained and {b:.2f} at random"
            for d, a, b in zip(widths, learned, frozen, strict=True)
        ],
    )


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


def crowd(net):
    """A batch of r networks as one module, (n, m) -> (r n, 1): the scores of the first, then of the second, …"""
    import torch

    class Crowd(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = torch.nn.ParameterList(torch.as_tensor(np.array(w, float)) for w in net)

        def forward(self, X):
            W1, b1, w2, b2 = self.parts
            h = torch.relu(X @ W1.mT + b1.unsqueeze(-2))
            return ((h @ w2.unsqueeze(-1)).squeeze(-1) + b2.unsqueeze(-1)).reshape(-1, 1)

    return Crowd()

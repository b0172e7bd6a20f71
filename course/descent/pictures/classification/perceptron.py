"""The perceptron: a line dragged by hand, a run between its two envelopes, rules for many classes."""

from collections.abc import Callable
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import nnls

from descent import plots
from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION

# ---------------------------------------------------------------- data of the notes

WORDS = ["and", "viagra", "the", "of", "nigeria"]
MAIL = np.array(  # six e-mails, a row each: does the word occur?
    [
        [1, 1, 0, 1, 1],
        [0, 0, 1, 1, 0],
        [0, 1, 1, 0, 0],
        [1, 0, 0, 1, 0],
        [1, 0, 1, 0, 1],
        [1, 0, 1, 1, 0],
    ],
    float,
)
SPAM = np.array([1.0, -1, 1, -1, 1, -1])
NEW_MAIL = np.array([1.0, 1, 0, 0, 0])
CORNERS = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
LABELS = {
    "OR": np.array([-1.0, 1, 1, 1]),
    "AND": np.array([-1.0, -1, -1, 1]),
    "XOR": np.array([-1.0, 1, 1, -1]),
}


def steps_of(values: np.ndarray) -> np.ndarray:
    """Values rounded to 1/64: sums and products of them are exact, so every machine counts alike."""
    return np.round(np.asarray(values, float) * 64) / 64


def clouds(gap: float, n: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """n points around a slanted line, and their side of it; a strip of width `gap` is empty -> (n, 2), (n,)."""
    rng, u = np.random.default_rng(seed), np.array([0.8, 0.6])
    X = rng.uniform(-1, 1, (n, 2))
    y = np.where(X @ u > 0.2, 1.0, -1.0)
    return steps_of(X + gap / 2 * y[:, None] * u), y


# ---------------------------------------------------------------- runs and margins


def lift(X: np.ndarray) -> np.ndarray:
    """Rows (x, 1). X (n, d) -> (n, d + 1)."""
    return np.column_stack([X, np.ones(len(X))])


def signed(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Rows y_i (x_i, 1): v = (w, b) separates when its product with every row is positive. -> (n, d + 1)."""
    return lift(X) * np.asarray(y, float)[:, None]


def run(G: np.ndarray, passes: int, v=None) -> tuple[np.ndarray, list[int]]:
    """Perceptron on signed rows G (n, D), in order, until a pass without mistakes -> v (D,), mistakes a pass."""
    v, counts, n = np.zeros(G.shape[1]) if v is None else np.array(v, float), [], len(G)
    for _ in range(passes):
        at, mistakes = 0, 0
        while at < n:  # look ahead in blocks: most rows are right
            wrong = np.flatnonzero(G[at : at + 64] @ v <= 0)
            if len(wrong):
                at += wrong[0]
                v, mistakes = v + G[at], mistakes + 1
            at += 1 if len(wrong) else 64
        counts.append(mistakes)
        if not mistakes:
            break
    return v, counts


def path_of(G: np.ndarray, order) -> np.ndarray:
    """The vector v before the first and after every mistake, from 0. G (n, D) signed rows -> (M + 1, D)."""
    path = [np.zeros(G.shape[1])]
    for i in order:
        if G[i] @ path[-1] <= 0:
            path.append(path[-1] + G[i])
    return np.array(path)


def widest(G: np.ndarray) -> tuple[np.ndarray, float] | None:
    """The unit vector v with the largest min G v, and that margin; None where no v has min G v > 0.

    G (n, D). The shortest v with G v >= 1, as a problem of non-negative least squares
    (Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23).
    """
    size = np.linalg.norm(G, axis=1).max()
    A = np.vstack([G.T / size, np.ones(len(G))])
    u, _ = nnls(A, np.eye(len(A))[-1], maxiter=50 * len(G))
    residual = A @ u - np.eye(len(A))[-1]
    if np.linalg.norm(residual) < 1e-7:
        return None
    v = -residual[:-1] / residual[-1]
    return v / np.linalg.norm(v), size / np.linalg.norm(v)


# ---------------------------------------------------------------- e-mails


def draw_mail():
    """The table of six e-mails, and the weights after each mistake of the perceptron -> (fig, words)."""
    path = path_of(signed(MAIL, SPAM), np.tile(np.arange(6), 2))
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.7), width_ratios=(1, 1.1))
    rows = [f"e-mail {i + 1}: {'spam' if s > 0 else 'no spam'}" for i, s in enumerate(SPAM)]
    _cells(left, np.vstack([MAIL, NEW_MAIL]), [*rows, "new: ?"], WORDS, "Blues", (-0.3, 1.6))
    left.set_title("Which words occur")
    names = ["start"] + [f"after mistake {k}" for k in range(1, len(path))]
    _cells(right, path, names, [*WORDS, "b"], "PuOr_r", (-3.5, 3.5))
    right.set_title(f"{len(path) - 1} mistakes, then at rest")
    told = ", ".join(f"{word} {w:g}" for word, w in zip([*WORDS, "b"], path[-1], strict=True))
    return fig, (
        f"Six e-mails, three of them spam, and five words. A perceptron that starts at 0 makes "
        f"{len(path) - 1} mistakes. Weights at the end: {told}."
    )


def _cells(ax, values, rows, columns, cmap, limits):
    """A table of numbers with coloured cells."""
    ax.imshow(values, cmap=cmap, vmin=limits[0], vmax=limits[1], aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        ax.text(j, i, f"{value:g}", ha="center", va="center")
    ax.set_yticks(range(len(rows)), rows)
    ax.set_xticks(range(len(columns)), columns)
    ax.set(xlabel="word" if columns[-1] != "b" else "weight of the word, and the bias b")
    ax.grid(False)


# ---------------------------------------------------------------- a line by hand


def _points(ax, X, y, size=9):
    for sign, marker, color, name in ((1, "o", VERMILION, "label +1"), (-1, "s", BLUE, "label −1")):
        at = y == sign
        ax.plot(X[at, 0], X[at, 1], marker, color=color, markersize=size, mec="white", label=name)


def _halfplane(ax, w, b, limits, shade=True):
    """The line <x, w> + b = 0 inside square limits, and its positive side shaded."""
    grid = np.linspace(*limits, 3)
    x, y = np.meshgrid(grid, grid)
    score = w[0] * x + w[1] * y + b
    if np.ptp(score) == 0:
        return
    if shade:
        ax.contourf(x, y, score, levels=[0, np.abs(score).max() + 1], colors=[ORANGE], alpha=0.25)
    ax.contour(x, y, score, levels=[0], colors=BLACK, linewidths=1.8)


def draw_line(labels: str, angle: float, distance: float, log_scale: float):
    """A line through the four corners: its half-plane, and the four conditions on it -> (fig, words).

    angle: direction of w in degrees. distance: of the line from the origin along w. log_scale: log10 of the norm of w.
    """
    direction = np.array([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))])
    scale = 10.0**log_scale
    w, b, y = scale * direction, -scale * distance, LABELS[labels]
    conditions = y * (CORNERS @ w + b)
    held, margin = int(np.sum(conditions > 1e-12)), conditions.min() / scale
    fig, (left, right) = plots.fixed_axes(
        2, (9, 3.7), (0.08, 0.98, 0.15, 0.9), wspace=0.26, width_ratios=(1, 1.3)
    )
    _halfplane(left, w, b, (-0.6, 1.6))
    left.annotate(
        "", distance * direction + 0.45 * direction, distance * direction,
        arrowprops=dict(arrowstyle="-|>", linewidth=2),
    )  # fmt: skip
    left.annotate("w", distance * direction + 0.52 * direction, ha="center", va="center")
    _points(left, CORNERS, y)
    left.set(xlim=(-0.6, 1.6), ylim=(-0.6, 1.6), xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
    left.set_title(f"{labels}: {held} of 4 points on their side")
    left.legend(
        fontsize=8, loc="lower left", handletextpad=0.1, markerscale=0.7,
        frameon=True, facecolor="white", edgecolor="none", framealpha=0.85,
    )  # fmt: skip
    colors = [GREEN if value > 1e-12 else VERMILION for value in conditions]
    bars = right.bar(range(4), conditions, color=colors, width=0.6)
    for bar, value in zip(bars, conditions, strict=True):
        bar.set_hatch("" if value > 1e-12 else "//")
    right.axhline(0, color=BLACK)
    right.set_xticks(range(4), ["(0,0)", "(1,0)", "(0,1)", "(1,1)"])
    right.set(xlabel="point", ylabel=r"$y_i(\langle x_i, w\rangle + b)$")
    right.set_title(f"Smallest signed distance {margin:.3f}")
    return fig, (
        f"{labels}: w = ({w[0]:.2f}, {w[1]:.2f}), b = {b:.2f}. {held} of 4 conditions hold. "
        f"The smallest signed distance of a point from the line is {margin:.3f}."
    )


def draw_lifted(w, b):
    """The four corners at height 1, and the plane through the origin that separates them -> (fig, words)."""
    y = LABELS["OR"]
    fig = plt.figure(figsize=(6.4, 4.6))
    ax = fig.add_subplot(projection="3d", computed_zorder=False)
    grid = np.array([[-0.5, 1.5], [-0.5, 1.5]])
    ax.plot_surface(grid, grid.T, np.ones((2, 2)), color=SKY, alpha=0.25)
    x1, height = np.meshgrid(np.linspace(-0.5, 1.5, 2), np.linspace(0, 1.25, 2))
    x2 = -(w[0] * x1 + b * height) / w[1]
    ax.plot_surface(x1, x2, height, color=ORANGE, alpha=0.35)
    line = np.linspace(-0.5, 1.5, 2)
    ax.plot(line, -(w[0] * line + b) / w[1], [1, 1], color=BLACK, label="decision boundary")
    for sign, marker, color, name in ((1, "o", VERMILION, "label +1"), (-1, "s", BLUE, "label −1")):
        at = CORNERS[y == sign]
        ax.plot(at[:, 0], at[:, 1], np.ones(len(at)), marker, color=color, markersize=9, label=name)
    ax.plot([0], [0], [0], "*", color=BLACK, markersize=12, label="origin")
    ax.set(xlabel="$x_1$", ylabel="$x_2$", zlabel="$x_3$", zlim=(0, 1.3))
    ax.set(xticks=[0, 1], yticks=[-1, 0, 1], zticks=[0, 1])
    ax.set_title("A line in the plane is a plane through the origin")
    ax.view_init(18, -62)
    ax.legend(loc="upper left", fontsize=8, bbox_to_anchor=(0.0, 0.95))
    return fig, (
        "The four points lie at height x₃ = 1. The plane through the origin with normal "
        f"({w[0]:g}, {w[1]:g}, {b:g}) cuts that height in the line {w[0]:g} x₁ + {w[1]:g} x₂ + ({b:g}) = 0."
    )


# ---------------------------------------------------------------- a run and its bound


def draw_score_gain(before, after, chosen):
    """Bars: the value y (<x, w> + b) of every point before and after one update -> (fig, words)."""
    at = np.arange(len(before))
    fig, ax = plt.subplots(figsize=(6.4, 3.4))
    first = ax.bar(at - 0.2, before, 0.38, color=SKY, label="before")
    then = ax.bar(at + 0.2, after, 0.38, color=BLUE, hatch="//", edgecolor="white", label="after")
    for bars in (first, then):
        ax.bar_label(bars, fmt="%g", padding=2, fontsize=9)
    ax.margins(y=0.12)
    ax.axhline(0, color=BLACK)
    fell = int(np.sum(after < before))
    ax.set_xticks(at, [f"{i + 1}{' (mistake)' if i == chosen else ''}" for i in at])
    ax.set(xlabel="e-mail", ylabel=r"$y_i(\langle x_i, w\rangle + b)$")
    ax.set_title(
        f"The mistaken one rises by {after[chosen] - before[chosen]:g}, {fell} others fall"
    )
    ax.legend()
    return fig, (
        f"An update on e-mail {chosen + 1} raises its value from {before[chosen]:g} to "
        f"{after[chosen]:g}; those of {fell} others fall."
    )


def stepper(perceptron: Callable) -> Callable:
    """-> draw(data, order, gap, mistakes): a run of `perceptron(X, y, order, w0, b0)` and Novikoff's two envelopes."""

    def draw(data: str, order: str, gap: float, mistakes: int):
        X, y = _data_set(data, gap)
        passes, rng = 60 if data != "XOR" else 5, np.random.default_rng(0)
        order = [np.arange(len(y)) if order == "cyclic" else rng.permutation(len(y))
                 for _ in range(passes)]  # fmt: skip
        W, b, times = perceptron(X, y, np.concatenate(order), np.zeros(X.shape[1]), 0.0)
        path, total = np.column_stack([W, b]), len(times)
        shown = min(mistakes, total)
        fig, (left, right) = plots.fixed_axes(2, (9, 3.8), (0.1, 0.98, 0.15, 0.9), wspace=0.28)
        wrong = int(np.sum(signed(X, y) @ path[shown] <= 0))
        _draw_state(left, X, y, path, shown, np.concatenate(order)[times])
        left.set_title(f"After {shown} mistakes: {wrong} of {len(y)} wrong", fontsize=11)
        told = _draw_envelopes(right, signed(X, y), path, shown)
        return fig, f"{data}: after {shown} of {total} mistakes, {wrong} of {len(y)} wrong. {told}"

    return draw


def _data_set(name, gap):
    if name == "e-mails":
        return MAIL, SPAM
    return clouds(gap) if name == "two clouds" else (CORNERS, LABELS[name])


def _draw_state(ax, X, y, path, shown, examples):
    if X.shape[1] > 2:
        ax.bar(range(path.shape[1]), path[shown], color=BLUE, width=0.6)
        ax.axhline(0, color=BLACK)
        ax.set_xticks(range(path.shape[1]), [*WORDS, "b"])
        ax.set(xlabel="word, and the bias b", ylabel="weight", ylim=(-2.5, 2.5))
        return
    low, high = X.min() - 0.6, X.max() + 0.6
    for v in path[max(1, shown - 3) : shown]:
        _faint_line(ax, v, (low, high))
    _halfplane(ax, path[shown][:2], path[shown][2], (low, high))
    _points(ax, X, y, size=7)
    if shown:
        x = X[examples[shown - 1]]
        ax.plot(*x, "o", mfc="none", mec=BLACK, mew=2, markersize=15, label="last mistake")
    ax.set(xlim=(low, high), ylim=(low, high), xlabel="$x_1$", ylabel="$x_2$")
    ax.legend(
        fontsize=8, loc="upper center", ncols=3, columnspacing=0.8, handletextpad=0.2,
        frameon=True, facecolor="white", edgecolor="none", framealpha=0.85, markerscale=0.7,
    )  # fmt: skip


def _faint_line(ax, v, limits):
    grid = np.linspace(*limits, 2)
    x, y = np.meshgrid(grid, grid)
    score = v[0] * x + v[1] * y + v[2]
    if score.min() < 0 < score.max():
        ax.contour(x, y, score, levels=[0], colors="#999999", linewidths=0.8, linestyles="--")


def _draw_envelopes(ax, G, path, shown):
    """Mγ <= <v, v*> <= ‖v‖ <= √M C on log axes: straight envelopes that cross at the bound."""
    best, C = widest(G), np.linalg.norm(G, axis=1).max()
    bound = None if best is None else (C / best[1]) ** 2
    end = 1.6 * max(bound or 0, len(path) - 1, 4)
    M, ticks = np.arange(1, shown + 1), np.geomspace(1, end, 50)
    ax.plot(
        ticks, C * np.sqrt(ticks), "--", color=BLUE, label=r"$\sqrt{M}\,C$: above $\Vert v\Vert$"
    )
    ax.plot(M, np.linalg.norm(path[1 : shown + 1], axis=1), "s-", color=BLUE, markersize=4,
            label=r"$\Vert v\Vert$")  # fmt: skip
    ax.set(xlabel="mistakes M", ylabel="length")
    if best is None:  # v comes back to 0, which a log axis cannot show
        ax.set_title("No v*: only the upper envelope", fontsize=11)
        ax.legend(fontsize=9, loc="upper left")
        length = np.linalg.norm(path[shown])
        return f"No v separates, so there is no bound. The length of v is {length:.2f}."
    ax.set(xscale="log", yscale="log", xlim=(0.9, end))
    along = path[1 : shown + 1] @ best[0]
    ax.plot(M, along, "^-", color=VERMILION, markersize=4, label=r"$\langle v, v^*\rangle$")
    ax.plot(ticks, best[1] * ticks, ":", color=VERMILION, label=r"$M\gamma$: below it")
    ax.minorticks_off()
    ax.plot(bound, C * np.sqrt(bound), "*", color=BLACK, markersize=13, zorder=4)
    ax.set_title(f"{shown} mistakes, bound {bound:.0f}", fontsize=11)
    ax.legend(fontsize=9, loc="upper left")
    told = f"The margin is {best[1]:.3f}, C² is {C**2:.2f}, the bound {bound:.0f}."
    if not shown:
        return told
    return (
        f"{told} {shown * best[1]:.2f} <= {along[-1]:.2f} <= {np.linalg.norm(path[shown]):.2f} "
        f"<= {np.sqrt(shown) * C:.2f}."
    )


def draw_bounds(mistakes, bounds):
    """Mistakes against the bound of each data set -> (fig, words)."""
    mistakes, bounds = np.asarray(mistakes), np.asarray(bounds)
    share = np.median(mistakes / bounds)
    fig, ax = plt.subplots()
    ax.plot(bounds, mistakes, "o", color=BLUE, markersize=4, alpha=0.6, label="a data set")
    line = np.array([bounds.min(), bounds.max()])
    ax.plot(line, line, "--", color=VERMILION, label="mistakes = bound")
    ax.set(xscale="log", yscale="log", xlabel=r"bound $C^2/\gamma^2$", ylabel="mistakes M")
    ax.set_title("The bound holds, and is generous")
    ax.legend()
    return fig, (
        f"{len(bounds)} data sets. Bounds from {bounds.min():.0f} to {bounds.max():.2g}, mistakes from "
        f"{mistakes.min()} to {mistakes.max()}, all below the bound. The median share is {share:.2g}."
    )


# ---------------------------------------------------------------- losses, orders, cycles


def draw_losses():
    """0–1, perceptron, hinge and logistic loss against the value y (<x, w> + b) -> (fig, words)."""
    s = np.linspace(-2.5, 2.5, 501)
    fig, ax = plt.subplots()
    ax.plot(s, s <= 0, "-", color=BLACK, linewidth=3, alpha=0.4, label="0–1: a mistake")
    ax.plot(s, np.maximum(-s, 0), "-", color=VERMILION, label="perceptron")
    ax.plot(s, np.maximum(1 - s, 0), "--", color=BLUE, label="hinge")
    ax.plot(s, np.logaddexp(0, -s) / np.log(2), ":", color=GREEN, label="logistic (base 2)")
    ax.set(xlabel=r"value $s = y(\langle x, w\rangle + b)$", ylabel="loss")
    ax.set_title("The perceptron is content with any s > 0")
    ax.legend()
    return fig, (
        "At s = 0 the 0–1 loss is 1, the perceptron loss 0, the hinge loss 1 and the logistic loss 1. "
        "For s > 0 the perceptron loss is 0; the hinge loss is 0 only from s = 1 on, the logistic never."
    )


def draw_orders(X, y, lines, best):
    """Lines found in many orders, coloured by margin, with the widest -> (fig, words).

    lines (m, 3): w and b of each. best (3,): the line of maximum margin.
    """
    margins = np.array([np.min(signed(X, y) @ v) / np.linalg.norm(v[:2]) for v in lines])
    top = np.min(signed(X, y) @ best) / np.linalg.norm(best[:2])
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
    low, high = X.min() - 0.3, X.max() + 0.3
    colors = plt.get_cmap("cividis")
    x1 = np.array([low, high])
    for v, margin in zip(lines, margins, strict=True):
        left.plot(
            x1, -(v[0] * x1 + v[2]) / v[1], color=colors(margin / margins.max()), linewidth=0.7
        )
    left.plot(x1, -(best[0] * x1 + best[2]) / best[1], color=BLACK, linewidth=3, label="widest")
    _points(left, X, y, size=6)
    left.set(xlim=(low, high), ylim=(low, high), xlabel="$x_1$", ylabel="$x_2$")
    left.set_title(f"{len(lines)} orders (light: wide margin)")
    left.legend(fontsize=8, loc="lower left")
    right.hist(margins, bins=np.linspace(0, 1.05 * top, 22), color=SKY, edgecolor="white")
    right.axvline(top, color=BLACK, linewidth=3, label="widest")
    right.set(xlabel="margin: smallest distance to the line", ylabel="orders")
    right.set_title(f"Half stay below {np.median(margins):.2f} of {top:.2f}")
    right.legend()
    return fig, (
        f"{len(lines)} orders end in lines with margins from {margins.min():.3f} to {margins.max():.3f}, "
        f"median {np.median(margins):.2f}. The widest line has {top:.2f}."
    )


def draw_cycles(xor_path, long_path, C):
    """Length of v along a run on XOR, and on rows that no line separates -> (fig, words).

    xor_path (M + 1, 3), long_path (K + 1, D): v after each mistake. C: largest length of a lifted row.
    """
    short, long = (np.linalg.norm(path, axis=1) for path in (xor_path, long_path))
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    left.plot(np.arange(len(short)), short, "o-", color=BLUE)
    home = np.flatnonzero(short == 0)
    left.plot(home, short[home], "*", color=VERMILION, markersize=14, label="back at v = 0")
    left.set(xlabel="mistakes", ylabel=r"$\Vert v\Vert$", ylim=(-0.15, 2.6))
    left.set_title(f"XOR: home every {home[1] - home[0]} mistakes")
    left.legend(loc="upper right")
    mistakes = np.arange(1, len(long))
    right.plot(mistakes, long[1:], color=BLUE, linewidth=1, label=r"$\Vert v\Vert$")
    right.plot(mistakes, C * np.sqrt(mistakes), "--", color=VERMILION, label=r"$\sqrt{M}\,C$")
    right.set(xscale="log", yscale="log", xlabel="mistakes M", ylabel=r"$\Vert v\Vert$")
    right.set_title("Iris: bounded, no end")
    right.legend()
    return fig, (
        f"XOR comes back to v = 0 after every {home[1] - home[0]} mistakes. On two species of iris, "
        f"{len(long) - 1} mistakes leave v within {long.max():.2g}, where the envelope of the theorem "
        f"has grown to {C * np.sqrt(len(long) - 1):.2g}."
    )


def draw_stops(train, valid, stops):
    """Errors after each pass, and where each rule stops -> (fig, words). stops: {rule: pass}, passes from 1."""
    passes = np.arange(1, len(train) + 1)
    fig, ax = plt.subplots(figsize=(7.2, 3.8))
    ax.plot(passes, train, "o-", color=BLUE, markersize=3, label="training error")
    ax.plot(passes, valid, "s--", color=VERMILION, markersize=3, label="validation error")
    looks = zip((BLACK, GREEN, PINK, ORANGE), ("-", "--", ":", "-."), strict=True)
    for (rule, at), (color, style) in zip(stops.items(), looks, strict=True):
        ax.axvline(at, color=color, linestyle=style, linewidth=2, label=f"{rule}: pass {at}")
    ax.set(xlabel="pass over the training rows", ylabel="share of mistakes", ylim=(0, None))
    ax.set_title("Four rules, four places to stop")
    ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    told = "; ".join(
        f"{rule}: pass {at}, validation error {valid[at - 1]:.3f}" for rule, at in stops.items()
    )
    return fig, f"{told}. The lowest validation error of all passes is {np.min(valid):.3f}."


# ---------------------------------------------------------------- many classes


def four_clouds(n: int = 20, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Four round clouds, classes 0 to 3, the last one between the others -> X (4 n, 2), y (4 n,)."""
    rng = np.random.default_rng(seed)
    centres = np.array([[-2.0, -1.0], [2.0, -1.0], [0.0, 2.5], [0.0, 0.3]])
    y = np.repeat(np.arange(4), n)
    return steps_of(centres[y] + 0.35 * rng.normal(size=(4 * n, 2))), y


def one_vs_all(X, y, passes: int = 100) -> np.ndarray:
    """A row v_k = (w_k, b_k) for each class, trained against all others. -> (c, d + 1)."""
    return np.array(
        [run(signed(X, np.where(y == k, 1, -1)), passes)[0] for k in range(y.max() + 1)]
    )


def one_vs_one(X, y, passes: int = 100) -> dict[tuple[int, int], np.ndarray]:
    """{(k, l): v_kl} for each pair k < l, class k positive, trained on the rows of the two classes alone."""
    models = {}
    for k, other in combinations(range(y.max() + 1), 2):
        rows = (y == k) | (y == other)
        models[k, other] = run(signed(X[rows], np.where(y[rows] == k, 1, -1)), passes)[0]
    return models


def tallies(models: dict, X, c: int, raw: bool = False) -> np.ndarray:
    """Votes of each class, or sums of raw scores: what one-vs-one compares. X (m, d) -> (m, c)."""
    sums = np.zeros((len(X), c))
    for (k, other), v in models.items():
        score = lift(X) @ v
        sums[:, k] += score if raw else score > 0
        sums[:, other] += -score if raw else score <= 0
    return sums


def class_maps(X, y) -> Callable:
    """-> draw(rule, passes, log_scale): regions of a rule for many classes, undecided zones hatched.

    log_scale: log10 of a factor on one of the trained vectors, that of class 0 or of classes 0 and 1.
    """
    c = y.max() + 1

    def draw(rule: str, passes: int, log_scale: float):
        alone, pairs = one_vs_all(X, y, passes), one_vs_one(X, y, passes)
        factor = 10.0**log_scale
        scaled = alone * np.where(np.arange(c) == 0, factor, 1)[:, None]
        models = {pair: v * (factor if pair == (0, 1) else 1) for pair, v in pairs.items()}

        def compare(points):
            if rule == "one-vs-all":
                return lift(points) @ scaled.T
            return tallies(models, points, c, raw=rule == "one-vs-one, sums")

        def undecided(points):
            values = compare(points)
            if rule == "one-vs-all":
                return np.sum(values > 0, axis=1) != 1
            return np.sum(values == values.max(axis=1, keepdims=True), axis=1) > 1

        fig, ax = plt.subplots(figsize=(6.4, 4.2))
        plots.decision_regions(lambda p: compare(p).argmax(axis=1), X, y, ax, points=100)
        (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
        gx, gy = np.meshgrid(np.linspace(x0, x1, 100), np.linspace(y0, y1, 100))
        points = np.column_stack([gx.ravel(), gy.ravel()])
        zone = undecided(points).reshape(gx.shape).astype(float)
        if zone.any():
            ax.contourf(gx, gy, zone, levels=[0.5, 1.5], colors="none", hatches=["///"])
        wrong = int(np.sum(compare(X).argmax(axis=1) != y))
        area = np.bincount(compare(points).argmax(axis=1), minlength=c) / len(points)
        name = "ambiguous" if rule == "one-vs-all" else "tied"
        ax.set(xlabel="$x_1$", ylabel="$x_2$", xlim=(x0, x1), ylim=(y0, y1))
        ax.set_title(f"{rule}: {wrong} of {len(y)} wrong, {zone.mean():.0%} {name}", fontsize=11)
        ax.legend(fontsize=9, loc="center left", bbox_to_anchor=(1, 0.5))
        return fig, (
            f"{rule}: {wrong} of {len(y)} training points wrong. {zone.mean():.1%} of the picture is "
            f"{name} (hatched). Class 0 holds {area[0]:.1%} of it."
        )

    return draw


def draw_digits(settled, errors):
    """Which digit can be split from all others, and test errors of the rules -> (fig, words).

    settled (10, 2): separable (0 or 1) and mistakes of each one-vs-all problem. errors: {rule: share}.
    """
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.7), width_ratios=(1.3, 1))
    split = settled[:, 0] > 0
    bars = left.bar(range(10), settled[:, 1], color=np.where(split, GREEN, VERMILION))
    for bar, good in zip(bars, split, strict=True):
        bar.set_hatch("" if good else "//")
    left.bar([0], [0], color=GREEN, label="separable")
    left.bar([0], [0], color=VERMILION, hatch="//", label="not separable")
    left.set(xlabel="digit against all others", ylabel="mistakes")
    left.set_xticks(range(10))
    left.set_title(f"The LP: {split.sum()} of 10 are separable", fontsize=11)
    left.legend(fontsize=8)
    places = np.arange(len(errors))
    right.barh(places, list(errors.values()), color=[BLUE, GREEN, ORANGE][: len(errors)])
    for place, value in zip(places, errors.values(), strict=True):
        right.text(value + 0.004, place, f"{value:.3f}", va="center")
    right.set_yticks(places, list(errors))
    right.invert_yaxis()
    right.set(xlabel="test error", xlim=(0, 1.3 * max(errors.values())))
    right.set_title(f"Fewest errors: {min(errors, key=errors.get)}", fontsize=11)
    told = "; ".join(f"{rule} {value:.3f}" for rule, value in errors.items())
    no = ", ".join(str(k) for k in np.flatnonzero(~split)) or "none"
    return fig, f"Not separable from all others: {no}. Test errors: {told}."


def settle(perceptron: Callable, X, y, max_passes: int = 500) -> tuple[np.ndarray, int]:
    """v = (w, b) before the first and after every mistake of `perceptron`, pass after pass from 0 until it is silent.

    -> (M + 1, d + 1), passes. The last pass is without mistakes, unless max_passes came first.
    """
    w, b, path, passes = np.zeros(X.shape[1]), 0.0, [np.zeros((1, X.shape[1] + 1))], 0
    while passes < max_passes:
        passes += 1
        W, B, times = perceptron(X, y, np.arange(len(y)), w, b)
        w, b = W[-1], B[-1]
        path.append(np.column_stack([W, B])[1:])
        if len(times) == 0:
            break
    return np.concatenate(path), passes

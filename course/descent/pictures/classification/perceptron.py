"""The perceptron: a line grabbed by hand, a run between its two envelopes, rules for many classes.

Compute (pure): the notes' data, `tumours`, `clouds`, `run`, `path_of`, `widest`, `stops`, rules for many classes.
Draw: `draw_…` functions return (fig, words); `stepper` and `class_maps` return one.
"""

from collections.abc import Callable
from functools import lru_cache
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import nnls

from descent import data, plots
from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION
from descent.words import say

# ---------------------------------------------------------------- data

WORDS = ["and", "viagra", "the", "of", "nigeria"]
MAILS = [
    "Viagra and gold of Nigeria!",
    "Minutes of the meeting",
    "Try the viagra.",
    "Salt and a pinch of pepper",
    "The prince and his bank in Nigeria",
    "The rise, and fall, of Rome",
]
MAIL = np.array(  # a row for each of them: does the word occur?
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
CORNERS = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
LABELS = {
    "OR": np.array([-1.0, 1, 1, 1]),
    "AND": np.array([-1.0, -1, -1, 1]),
    "XOR": np.array([-1.0, 1, 1, -1]),
}
CANDIDATES = {
    "3 x1 - x2": lambda x: 3 * x[0] - x[1],
    "3 x1 - x2 + 1": lambda x: 3 * x[0] - x[1] + 1,
    "|x1|": lambda x: abs(x[0]),
    "x1²": lambda x: x[0] ** 2,
    "cube root of x1³ + x2³": lambda x: np.cbrt(x[0] ** 3 + x[1] ** 3),
}


def demands(f: Callable, trials: int = 50) -> tuple[bool, bool]:
    """Whether no random trial refutes that f, a function of two numbers, is additive, and homogeneous."""
    rng = np.random.default_rng(0)
    x, z, a = *rng.normal(size=(2, trials, 2)), rng.normal(size=trials)
    sums = [np.isclose(f(p + q), f(p) + f(q)) for p, q in zip(x, z, strict=True)]
    multiples = [np.isclose(f(c * p), c * f(p)) for c, p in zip(a, x, strict=True)]
    return all(sums), all(multiples)


@lru_cache
def tumours() -> tuple[np.ndarray, np.ndarray]:
    """30 standardised measurements of 569 tumours, rounded to 1/64 -> (569, 30), (569,): +1 benign, -1 malignant."""
    table = data.breast_cancer()
    X = steps_of((table.X - table.X.mean(axis=0)) / table.X.std(axis=0))
    return X, 2.0 * table.y - 1


def steps_of(values: np.ndarray) -> np.ndarray:
    """Values rounded to 1/64: sums and products of them are exact, so every machine counts alike."""
    return np.round(np.asarray(values, float) * 64) / 64


def clouds(gap: float, n: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """n points around a slanted line, and their side of it; a strip of width `gap` is empty -> (n, 2), (n,)."""
    rng, u = np.random.default_rng(seed), np.array([0.8, 0.6])
    X = rng.uniform(-1, 1, (n, 2))
    y = np.where(X @ u > 0.2, 1.0, -1.0)
    return steps_of(X + gap / 2 * y[:, None] * u), y


def examples() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Rows and labels that a line separates, by name."""
    return {"e-mails": (MAIL, SPAM), "OR": (CORNERS, LABELS["OR"]), "two clouds": clouds(0.3)}


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


def best_bound(X: np.ndarray, y: np.ndarray) -> float:
    """Novikoff's C²/γ² for the widest margin of the lifted rows; infinite where nothing separates them."""
    G = signed(X, y)
    best = widest(G)
    return np.inf if best is None else float((G**2).sum(1).max() / best[1] ** 2)


def gains(X: np.ndarray, y: np.ndarray, row: int) -> np.ndarray:
    """By how much an update on one row raises y_i (<x_i, w> + b) of the other rows. -> (n - 1,)"""
    G = signed(X, y)
    return np.delete(G @ G[row], row)


def relu_slope() -> np.ndarray:
    """torch's gradient of relu(-<z, v>) in v, at v = 0."""
    import torch

    z, v = torch.tensor([1.0, 2.0, 1.0]), torch.zeros(3, requires_grad=True)
    torch.relu(-(z @ v)).backward()
    return v.grad.numpy()


# ---------------------------------------------------------------- two hospitals


def draw_nights(A: np.ndarray, B: np.ndarray, y: np.ndarray, passes: int):
    """Mistakes in each pass of two perceptrons on the same rows, B with fewer columns. -> (fig, words)"""
    fig, ax = plt.subplots(figsize=(8, 3.4))
    counts = {name: run(signed(X, y), passes)[1] for name, X in (("A", A), ("B", B))}
    looks = {"A": dict(color=BLUE), "B": dict(color=VERMILION, linestyle="--")}
    for (name, made), X in zip(counts.items(), (A, B), strict=True):
        ax.plot(
            np.arange(1, len(made) + 1), made, linewidth=1.1, alpha=0.85, **looks[name],
            label=f"{name}: {X.shape[1]} measurements, {sum(made)} mistakes",
        )  # fmt: skip
    ax.set(xlabel="pass through the patients", ylabel="mistakes in the pass", ylim=(0, None))
    ax.set_title("One of these runs will end, the other never")
    ax.legend()
    return fig, say(
        "{passes} passes through {n} patients. A makes {a} mistakes, {a_last:.0f} a pass in the last fifty; "
        "B makes {b}, and {b_last:.0f}.",
        passes=passes,
        n=len(y),
        a=sum(counts["A"]),
        b=sum(counts["B"]),
        a_last=np.mean(counts["A"][-50:]),
        b_last=np.mean(counts["B"][-50:]),
    )


def draw_verdicts(distances: np.ndarray, lam: np.ndarray, y: np.ndarray):
    """Signed distances from the plane that separates A, and the weights that refute any for B. -> (fig, words)"""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    bins = np.linspace(distances.min(), distances.max(), 40)
    bins = np.sort(np.append(bins, 0.0))
    names = {1: "benign", -1: "malignant"}
    for sign, color, hatch in ((1, BLUE, ""), (-1, ORANGE, "///")):
        left.hist(
            distances[y == sign], bins, color=color, hatch=hatch, alpha=0.8, edgecolor="white",
            label=names[sign],
        )  # fmt: skip
    left.axvline(0, color=BLACK)
    left.set(xlabel="signed distance from the plane", ylabel="tumours")
    left.set_title("A: a plane, and nobody on the wrong side", fontsize=11)
    left.legend()
    at = np.arange(len(lam))
    used = lam > 1e-9
    for sign, color, marker in ((1, BLUE, "o"), (-1, ORANGE, "s")):
        chosen = used & (y == sign)
        right.vlines(at[chosen], 0, lam[chosen], color=color)
        right.plot(
            at[chosen], lam[chosen], marker, color=color, markersize=5,
            label=f"{chosen.sum()} {names[sign]}",
        )  # fmt: skip
    right.set(xlabel="number of the tumour", ylabel=r"weight $\lambda_i$", ylim=(0, None))
    right.set_title("B: two mixtures that are one point", fontsize=11)
    right.legend()
    return fig, say(
        "A: the nearest of {n} tumours is {near:.1e} from the plane, on its own side. B: {benign} benign and "
        "{malignant} malignant tumours carry the weights; those of either kind sum to {half:.2f}.",
        n=len(y),
        near=np.min(y * distances),
        benign=np.sum(used & (y > 0)),
        malignant=np.sum(used & (y < 0)),
        half=lam[y > 0].sum(),
    )


# ---------------------------------------------------------------- e-mails


def draw_weights(path: np.ndarray):
    """The table of six e-mails, and w and b after each mistake of a run, path (M + 1, 6). -> (fig, words)"""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), width_ratios=(1, 1.1))
    rows = [f"e-mail {i + 1}: {'spam' if s > 0 else 'no spam'}" for i, s in enumerate(SPAM)]
    _cells(left, MAIL, rows, WORDS, "Blues", (-0.3, 1.6))
    left.set_title("Which words occur")
    names = ["start"] + [f"after mistake {k}" for k in range(1, len(path))]
    _cells(right, path, names, [*WORDS, "b"], "PuOr_r", (-3.5, 3.5))
    right.set_title(f"{len(path) - 1} mistakes, then at rest")
    return fig, say(
        "Six e-mails and five words. The machine starts at 0 and makes {mistakes} mistakes. At the end: {weights:, }.",
        mistakes=len(path) - 1,
        weights=[
            say("{word} {weight:g}", word=word, weight=weight)
            for word, weight in zip([*WORDS, "b"], path[-1], strict=True)
        ],
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


def _legend(ax):
    """One row above everything that can be dragged."""
    ax.legend(
        fontsize=8, loc="upper center", ncols=3, markerscale=0.7, columnspacing=0.8,
        handletextpad=0.2, frameon=True, facecolor="white", edgecolor="none", framealpha=0.85,
    )  # fmt: skip


def _halfplane(ax, w, b, limits):
    """The line <x, w> + b = 0 inside square limits, and its positive side shaded."""
    grid = np.linspace(*limits, 3)
    x, y = np.meshgrid(grid, grid)
    score = w[0] * x + w[1] * y + b
    if np.ptp(score) == 0:
        return
    if score.max() > 0:
        ax.contourf(x, y, score, levels=[0, score.max() + 1], colors=[ORANGE], alpha=0.25)
    if score.min() < 0 < score.max():
        ax.contour(x, y, score, levels=[0], colors=BLACK, linewidths=1.8)


def draw_line(labels: str, w1: float, w2: float, b: float):
    """The four corners, the arrow w from the origin, its half-plane, and the four conditions. -> (fig, words)"""
    w, y = np.array([w1, w2]), LABELS[labels]
    conditions = y * (CORNERS @ w + b)
    held, length = int(np.sum(conditions > 1e-12)), np.linalg.norm(w)
    fig, (left, right) = plots.fixed_axes(
        2, (9, 3.9), (0.08, 0.98, 0.14, 0.9), wspace=0.26, width_ratios=(1, 1.2)
    )
    _halfplane(left, w, b, (-2.2, 2.8))
    left.annotate(
        "", w, (0, 0), arrowprops=dict(arrowstyle="-|>", linewidth=2, shrinkA=0, shrinkB=0)
    )
    left.annotate("w", w + 0.12, ha="left", va="bottom")
    _points(left, CORNERS, y)
    left.set(xlim=(-2.2, 2.2), ylim=(-2.2, 2.8), xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
    left.set_title(f"{labels}: {held} of 4 on their side")
    _legend(left)
    left.set_gid("tip")
    right.bar(
        range(4), conditions, width=0.6,
        color=[GREEN if value > 1e-12 else VERMILION for value in conditions],
        hatch=["" if value > 1e-12 else "//" for value in conditions],
    )  # fmt: skip
    right.axhline(0, color=BLACK)
    right.set_xticks(range(4), ["(0,0)", "(1,0)", "(0,1)", "(1,1)"])
    right.set(xlabel="point", ylabel=r"$y_i(\langle x_i, w\rangle + b)$", ylim=(-4.2, 4.2))
    words = say(
        "{labels}: w = ({w1:.2f}, {w2:.2f}), b = {b:.2f}. {held} of 4 conditions hold.",
        labels=labels, w1=w1, w2=w2, b=b, held=held,
    )  # fmt: skip
    if length == 0:
        right.set_title("w = 0: no line")
        return fig, words + say(" w = 0 draws no line.")
    margin = conditions.min() / length
    right.set_title(f"Margin {margin:.3f}")
    return fig, words + say(
        " The margin, the smallest y times distance, is {margin:.3f}.", margin=margin
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
    return fig, say(
        "The four points lie at height x₃ = 1. The plane through the origin with normal ({w1:g}, {w2:g}, {b:g}) "
        "cuts that height in the decision boundary.",
        w1=w[0], w2=w[1], b=b,
    )  # fmt: skip


# ---------------------------------------------------------------- a run and its bound


def draw_score_gain(before, after, chosen):
    """Bars: the value y (<x, w> + b) of every e-mail before and after one update. -> (fig, words)"""
    at = np.arange(len(before))
    fig, ax = plt.subplots(figsize=(6.4, 3.4))
    first = ax.bar(at - 0.2, before, 0.38, color=SKY, label="before")
    then = ax.bar(at + 0.2, after, 0.38, color=BLUE, hatch="//", edgecolor="white", label="after")
    for bars in (first, then):
        ax.bar_label(bars, fmt="%g", padding=2, fontsize=9)
    ax.margins(y=0.12)
    ax.axhline(0, color=BLACK)
    fell, rise = int(np.sum(after < before)), after[chosen] - before[chosen]
    ax.set_xticks(at, [f"{i + 1}{' (mistake)' if i == chosen else ''}" for i in at])
    ax.set(xlabel="e-mail", ylabel=r"$y_i(\langle x_i, w\rangle + b)$")
    ax.set_title(f"The mistaken one rises by {rise:g}, {fell} others fall")
    ax.legend()
    return fig, say(
        "An update on e-mail {number} raises its value from {low:g} to {high:g}; those of {fell} others fall.",
        number=chosen + 1, low=before[chosen], high=after[chosen], fell=fell,
    )  # fmt: skip


FIXED = np.array([[0.0, -0.5], [1, -1], [-1, -1.5], [-1.5, 0], [1, 1.5], [-0.5, 1.5], [1.75, 0.5]])
FIXED_LABELS = np.array([-1.0, -1, -1, -1, 1, 1, 1])
ENDS = {"settled": "settles", "loops": "loops", "open": "is still open after 100 passes"}


def stepper(train: Callable) -> Callable:
    """-> draw(x, y, shown): a run of `train(X, y, order, max_passes)` on seven fixed points and a stray one (x, y).

    shown: after how many mistakes; fewer where the run ends before.
    """

    def draw(x: float, y: float, shown: int):
        X, labels = np.vstack([FIXED, [x, y]]), np.append(FIXED_LABELS, 1.0)
        path, mistakes, end = train(X, labels, np.arange(len(X)), 100)
        path, G = np.asarray(path), signed(X, labels)
        at = min(shown, len(path) - 1)
        fig, (left, right) = plots.fixed_axes(2, (9, 3.9), (0.08, 0.98, 0.14, 0.9), wspace=0.24)
        wrong = int(np.sum(G @ path[at] <= 0))
        _draw_state(left, X, labels, path, at)
        left.set_title(f"After {at} of {len(path) - 1} mistakes: {wrong} wrong", fontsize=11)
        left.set_gid("stray")
        told = _draw_envelopes(right, G, path, at)
        return fig, say(
            "After {at} of {total} mistakes {wrong} of {n} points are wrong. The run {ends}. ",
            at=at, total=len(path) - 1, wrong=wrong, n=len(X), ends=ENDS[end],
        ) + told  # fmt: skip

    return draw


def _draw_state(ax, X, y, path, at):
    limits, square = (-2.2, 2.2), (-2.2, 2.8)
    for v in path[max(1, at - 3) : at]:
        _faint_line(ax, v, square)
    _halfplane(ax, path[at][:2], path[at][2], square)
    _points(ax, X, y, size=8)
    if at:
        z = path[at] - path[at - 1]  # y (x, 1) of the last mistake
        ax.plot(*z[:2] * z[2], "o", mfc="none", mec=BLACK, mew=2, markersize=15, label="mistake")
    ax.set(xlim=limits, ylim=(-2.2, 2.8), xlabel="$x_1$", ylabel="$x_2$")
    _legend(ax)


def _faint_line(ax, v, limits):
    grid = np.linspace(*limits, 2)
    x, y = np.meshgrid(grid, grid)
    score = v[0] * x + v[1] * y + v[2]
    if score.min() < 0 < score.max():
        ax.contour(x, y, score, levels=[0], colors="#999999", linewidths=0.8, linestyles="--")


def _draw_envelopes(ax, G, path, at):
    """Mγ <= <v, v*> <= ‖v‖ <= √M C on log axes: straight envelopes that cross at the bound. -> words"""
    best, C = widest(G), np.linalg.norm(G, axis=1).max()
    bound = None if best is None else (C / best[1]) ** 2
    end = 1.6 * max(bound or 0, len(path) - 1, 4)
    M, ticks = np.arange(1, at + 1), np.geomspace(1, end, 50)
    length = np.linalg.norm(path[: at + 1], axis=1)
    ax.plot(
        ticks, C * np.sqrt(ticks), "--", color=BLUE, label=r"$\sqrt{M}\,C$: above $\Vert v\Vert$"
    )
    ax.plot(M, length[1:], "s-", color=BLUE, markersize=4, label=r"$\Vert v\Vert$")
    ax.set(xlabel="mistakes M", ylabel="length")
    if best is None:  # v may come back to 0, which a log axis cannot show
        ax.set_title("No v*: one envelope is left", fontsize=11)
        ax.legend(fontsize=9, loc="upper left")
        return say("No v separates: there is no bound. The length of v is {v:.2f}.", v=length[-1])
    ax.set(xscale="log", yscale="log", xlim=(0.9, end))
    along = path[: at + 1] @ best[0]
    ax.plot(M, along[1:], "^-", color=VERMILION, markersize=4, label=r"$\langle v, v^*\rangle$")
    ax.plot(ticks, best[1] * ticks, ":", color=VERMILION, label=r"$M\gamma$: below it")
    ax.minorticks_off()
    ax.plot(bound, C * np.sqrt(bound), "*", color=BLACK, markersize=13, zorder=4)
    ax.set_title(f"{len(path) - 1} mistakes in all, bound {bound:.0f}", fontsize=11)
    ax.legend(fontsize=9, loc="upper left")
    return say(
        "The margin is {gamma:.3f}, C² is {C2:.2f}, the bound {bound:.0f}. "
        "Mγ, ⟨v, v*⟩, ‖v‖ and √M C are {sandwich:, }.",
        gamma=best[1],
        C2=C**2,
        bound=bound,
        sandwich=[
            say("{value:.2f}", value=value)
            for value in (at * best[1], along[-1], length[-1], np.sqrt(at) * C)
        ],
    )


def draw_bounds(mistakes, bounds):
    """Mistakes against the bound of each data set. -> (fig, words)"""
    mistakes, bounds = np.asarray(mistakes), np.asarray(bounds)
    fig, ax = plt.subplots()
    ax.plot(bounds, mistakes, "o", color=BLUE, markersize=4, alpha=0.6, label="a data set")
    line = np.array([bounds.min(), bounds.max()])
    ax.plot(line, line, "--", color=VERMILION, label="mistakes = bound")
    ax.set(xscale="log", yscale="log", xlabel=r"bound $C^2/\gamma^2$", ylabel="mistakes M")
    ax.set_title("The bound holds, and is generous")
    ax.legend()
    return fig, say(
        "{n} data sets. Bounds from {low:.0f} to {high:.2g}, mistakes from {least} to {most}. "
        "In the median a run makes {share:.2g} of its bound.",
        n=len(bounds),
        low=bounds.min(),
        high=bounds.max(),
        least=mistakes.min(),
        most=mistakes.max(),
        share=np.median(mistakes / bounds),
    )


# ---------------------------------------------------------------- losses, orders, loops


def draw_losses():
    """0–1, perceptron, hinge and logistic loss against s = y <z, v>. -> (fig, words)"""
    s = np.linspace(-2.5, 2.5, 501)
    fig, ax = plt.subplots()
    ax.plot(s, s <= 0, "-", color=BLACK, linewidth=3, alpha=0.4, label="0–1: a mistake")
    ax.plot(s, np.maximum(-s, 0), "-", color=VERMILION, label="perceptron")
    ax.plot(s, np.maximum(1 - s, 0), "--", color=BLUE, label="hinge")
    ax.plot(s, np.logaddexp(0, -s), ":", color=GREEN, label="logistic")
    ax.set(xlabel=r"value $s = y\,\langle z, v\rangle$", ylabel="loss")
    ax.set_title("The perceptron is content with any s > 0")
    ax.legend()
    return fig, say(
        "At s = 0 the 0–1 loss is 1, the perceptron loss 0, the hinge loss 1 and the logistic loss log 2. "
        "For s > 0 the perceptron loss is 0; the hinge loss is 0 only from s = 1 on, the logistic never."
    )


def draw_orders(X, y, lines, margins, best, top):
    """Lines found in many orders, those of wide margin in another colour, with the widest. -> (fig, words)

    lines (m, 3): w and b of each, margins (m,) theirs. best (3,): the widest line, of margin top.
    """
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
    low, high = X.min() - 0.3, X.max() + 0.3
    x1, half = np.array([[low], [high]]), np.median(margins)
    for rows, color, name in (
        (margins < half, PINK, "narrow half"),
        (margins >= half, GREEN, "wide half"),
    ):
        w1, w2, b = lines[rows].T
        left.plot(x1, -(w1 * x1 + b) / w2, color=color, linewidth=0.7)
        left.plot([], [], color=color, label=name)
    left.plot(x1, -(best[0] * x1 + best[2]) / best[1], color=BLACK, linewidth=3, label="widest")
    _points(left, X, y, size=6)
    left.set(xlim=(low, high), ylim=(low - 0.3, high), xlabel="$x_1$", ylabel="$x_2$")
    left.set_title(f"{len(lines)} orders, a line from each")
    left.legend(fontsize=8, loc="lower left", handlelength=1.2, labelspacing=0.2, borderaxespad=0.2)
    right.hist(margins, bins=np.linspace(0, 1.05 * top, 22), color=SKY, edgecolor="white")
    right.axvline(top, color=BLACK, linewidth=3, label="widest")
    right.set(xlabel="margin: smallest distance to the line", ylabel="orders")
    right.set_title(f"Half stay below {half:.2f} of {top:.2f}")
    right.legend()
    return fig, say(
        "{orders} orders end in lines with margins from {low:.3f} to {high:.3f}, median {median:.2f}. "
        "The widest line has {top:.2f}.",
        orders=len(lines), low=margins.min(), high=margins.max(), median=half, top=top,
    )  # fmt: skip


def draw_bounded(path, C):
    """Length of v along a run that no line can end, path (M + 1, D), C its longest row. -> (fig, words)"""
    length, M = np.linalg.norm(path, axis=1), np.arange(1, len(path))
    fig, ax = plt.subplots()
    ax.plot(M, length[1:], color=BLUE, linewidth=1, label=r"$\Vert v\Vert$")
    ax.plot(M, C * np.sqrt(M), "--", color=VERMILION, label=r"$\sqrt{M}\,C$")
    ax.set(xscale="log", yscale="log", xlabel="mistakes M", ylabel=r"$\Vert v\Vert$ (mm)")
    ax.set_title("Two species of iris: bounded, without an end")
    ax.legend()
    return fig, say(
        "{made} mistakes leave v within {far:.2g} of 0, where the envelope of the theorem has grown to {top:.2g}.",
        made=len(path) - 1, far=length.max(), top=C * np.sqrt(len(path) - 1),
    )  # fmt: skip


def stops(
    history: dict, passes: int, rows: int, n: int, patience: int, tol: float
) -> dict[str, int]:
    """The first pass at which each of four rules ends a run. history: {"training", "validation"}, an error a pass.

    After so many passes; so many rows looked at, n a pass; a training error that moved by tol at most in `patience`
    passes; no new lowest validation error in as many. Raises StopIteration where a rule never ends it.
    """
    train, valid = np.array(history["training"]), np.array(history["validation"])
    late = range(patience + 1, len(train) + 1)
    static = next(k for k in late if np.ptp(train[k - patience - 1 : k]) <= tol)
    stuck = next(k for k in late if valid[k - patience : k].min() >= valid[: k - patience].min())
    return {
        f"{passes} passes": passes,
        f"{rows} rows seen": -(-rows // n),
        "training error static": static,
        "validation error": stuck,
    }


def draw_stops(history, stops):
    """Errors after each pass, and where each rule stops. -> (fig, words). stops: {rule: pass}, from 1."""
    train, valid = history["training"], history["validation"]
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
    return fig, say(
        "{rules:; }. The lowest validation error of all passes is {lowest:.3f}.",
        rules=[
            say(
                "{rule}: pass {at}, validation error {error:.3f}",
                rule=rule,
                at=at,
                error=valid[at - 1],
            )
            for rule, at in stops.items()
        ],
        lowest=min(valid),
    )


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


def one_vs_all_errors(scores: list, seen: list, labels: np.ndarray) -> tuple[float, float]:
    """Share of its own class that one-vs-all calls -1, and of the others that it calls +1.

    scores: of all machines on the new rows, in the order in which they were fitted; seen: the rows that each saw,
    of which those of one-vs-all are the most. labels (m,) of the new rows.
    """
    machines = [score for score, rows in zip(scores, seen, strict=True) if rows == max(seen)]
    positive, own = np.array(machines).T > 0, labels[:, None] == np.arange(len(machines))
    return np.mean(~positive[own]), np.mean(positive[~own])


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
        return fig, say(
            "{rule}: {wrong} of {n} training points wrong. {zone:.1%} of the picture is {name} (hatched). "
            "Class 0 holds {area:.1%} of it.",
            rule=rule, wrong=wrong, n=len(y), zone=zone.mean(), name=name, area=area[0],
        )  # fmt: skip

    return draw


def draw_rules(errors: dict[str, float]):
    """Test errors of rules for many classes. -> (fig, words)"""
    fig, ax = plt.subplots(figsize=(6.4, 2.4))
    places = np.arange(len(errors))
    ax.barh(places, list(errors.values()), color=[BLUE, GREEN, ORANGE])
    for place, value in zip(places, errors.values(), strict=True):
        ax.text(value + 0.003, place, f"{value:.3f}", va="center")
    ax.set_yticks(places, list(errors))
    ax.invert_yaxis()
    ax.set(xlabel="test error", xlim=(0, 1.2 * max(errors.values())))
    ax.set_title(f"Fewest errors: {min(errors, key=errors.get)}")
    told = [say("{rule} {error:.3f}", rule=rule, error=error) for rule, error in errors.items()]
    return fig, say("Test errors: {told:; }.", told=told)

"""Multiple regression: Longley's table, planes and shadows to drag, lost digits, weights and outliers.

What a student writes is handed in as a function.
"""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator
from scipy.optimize import linprog

from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, fixed_axes, light
from descent.words import say

# ---------------------------------------------------------------- Longley's table

FEATURES = ("prices", "GNP", "unemployed", "army", "population", "year")
HALF_DIGIT = np.array([0, 0.05, 0.5, 0.5, 0.5, 0.5, 0.5])  # half of the last digit printed

# J. W. Longley, Journal of the American Statistical Association 62 (1967), 819–841. The columns: people at
# work (thousands), prices (index, 1954 = 100), gross national product (million dollars), unemployed, army and
# population from 14 years on (thousands), year.
_LONGLEY = """
60323  83.0 234289 2356 1590 107608 1947   61122  88.5 259426 2325 1456 108632 1948
60171  88.2 258054 3682 1616 109773 1949   61187  89.5 284599 3351 1650 110929 1950
63221  96.2 328975 2099 3099 112075 1951   63639  98.1 346999 1932 3594 113270 1952
64989  99.0 365385 1870 3547 115094 1953   63761 100.0 363112 3578 3350 116219 1954
66019 101.2 397469 2904 3048 117388 1955   67857 104.6 419180 2822 2857 118734 1956
68169 108.4 442769 2936 2798 120445 1957   66513 110.8 444546 4681 2637 121950 1958
68655 112.6 482704 3813 2552 123366 1959   69564 114.2 502601 3931 2514 125368 1960
69331 115.7 518173 4806 2572 127852 1961   70551 116.9 554894 4007 2827 130081 1962
"""
# The weights to 15 digits: National Institute of Standards and Technology, Statistical Reference Datasets.
CERTIFIED = np.array(
    "-3482258.63459582 15.0618722713733 -0.0358191792925910 -2.02022980381683 "
    "-1.03322686717359 -0.0511041056535807 1829.15146461355".split(),
    float,
)


def longley():
    """The table of 1967 -> X (16, 7), a column of ones first, then `FEATURES`; y (16,): thousands at work."""
    table = np.array(_LONGLEY.split(), float).reshape(16, 7)
    return np.column_stack([np.ones(16), table[:, 1:]]), table[:, 0]


def elimination(X, y, order=None, dtype=np.float32):
    """The normal equations by elimination, each operation rounded to `dtype` -> weights (d,).

    order: in which order the unknowns are eliminated. No library sums here, so that every processor rounds alike.
    """
    d = X.shape[1]
    order = list(range(d)) if order is None else list(order)
    A = np.zeros((d, d + 1), dtype)
    for row in np.column_stack([X, y]).astype(dtype):
        A += np.multiply.outer(row[:-1], row)
    A = A[order][:, [*order, d]]
    for k in range(d):
        A[k] = A[k] / A[k, k]
        for i in range(d):
            if i != k:
                A[i] = A[i] - A[i, k] * A[k]
    weights = np.zeros(d)
    weights[order] = A[:, d]
    return weights


def programs() -> dict[str, np.ndarray]:
    """Longley's table through four programs of seven digits, right in exact arithmetic -> weights by name."""
    X, y = longley()
    since = X - [0, 0, 0, 0, 0, 0, 1900]
    found = {
        "A: as it stands": elimination(X, y),
        "B: last column first": elimination(X, y, range(6, -1, -1)),
        "C: last year first": elimination(X[::-1], y[::-1]),
        "D: years since 1900": elimination(since, y),
    }
    found["D: years since 1900"][0] -= 1900 * found["D: years since 1900"][6]
    return found


def longley_kappas() -> tuple[float, float, float]:
    """Condition numbers of X and of XᵀX, features in standard deviations from their means; and of X as printed."""
    X = longley()[0]
    Z = np.column_stack([X[:, 0], (X[:, 1:] - X[:, 1:].mean(0)) / X[:, 1:].std(0)])
    return np.linalg.cond(Z), np.linalg.cond(Z.T @ Z), np.linalg.cond(X)


PROGRAM_LOOKS = ((VERMILION, "s"), (ORANGE, "^"), (PINK, "D"), (BLUE, "o"))


def draw_programs():
    """People at work as four programs fit them, and the weight that they give to prices -> (fig, words)."""
    X, y = longley()
    answers = programs()
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.7), width_ratios=(1.3, 1))
    left.plot(X[:, 6], y / 1000, "k-", linewidth=1, label="the table")
    shares = []
    for place, (name, beta) in enumerate(answers.items()):
        color, marker = PROGRAM_LOOKS[place]
        left.plot(X[:, 6], X @ beta / 1000, marker, color=color, mfc="none", label=name)
        shares.append(1 - np.sum((y - X @ beta) ** 2) / np.sum((y - y.mean()) ** 2))
        right.plot(beta[1], place, marker, color=color, markersize=9)
        right.hlines(place, 0, beta[1], color=color)
    left.set(xlabel="year", ylabel="at work (millions)", title="Four programs, one fit …")
    left.legend(fontsize=8)
    right.axvline(0, color=BLACK, linewidth=0.8)
    right.set_yticks(range(4), "ABCD")
    right.invert_yaxis()
    right.set(xlabel="weight of prices (thousand people a point)", ylabel="program")
    right.set_title("… and four weights")
    weights = [float(beta[1]) for beta in answers.values()]
    return fig, say(
        "Four programs fit the sixteen years, each with an R² of {least:.3f} or more. To prices they give the "
        "weights {a:.1f}, {b:.1f}, {c:.1f} and {d:.1f}.",
        least=min(shares),
        **dict(zip("abcd", weights, strict=True)),
    )


# ---------------------------------------------------------------- families

HEIGHTS = np.array([23.0, 0.40, 0.43, 13.0])  # cm: intercept, a cm of father, of mother, a son


def families(n: int, seed: int = 0):
    """Simulated heights in cm of n families -> father, mother (n,), gender (list of n), child (n,).

    child = 23 + 0.40 father + 0.43 mother + 13 for sons + normal noise of 5 cm.
    """
    rng = np.random.default_rng(seed)
    father, mother = rng.normal(176, 7, n).round(1), rng.normal(163, 6.5, n).round(1)
    son = rng.random(n) < 0.5
    child = HEIGHTS @ np.array([np.ones(n), father, mother, son]) + rng.normal(0, 5, n)
    return father, mother, ["male" if s else "female" for s in son], child.round(1)


def r_squared(X, y) -> float:
    """Share of the variance of y that least squares on X explains; X holds a constant."""
    residual = y - X @ np.linalg.lstsq(X, y, rcond=None)[0]
    return 1 - residual @ residual / np.sum((y - y.mean()) ** 2)


def moved_weights(shift) -> list[int]:
    """Numbers of the weights of 40 families that change when `shift` (4,) is added to the columns."""
    father, mother, sex, child = families(40)
    X = np.column_stack([np.ones(40), father, mother, [word == "male" for word in sex]])
    one, other = (np.linalg.lstsq(A, child, rcond=None)[0] for A in (X, X + shift))
    return np.flatnonzero(~np.isclose(one, other)).tolist()


SEXES = (("daughters", 0, "o", VERMILION), ("sons", 1, "^", BLUE))


def draw_heights(X, child):
    """Child against father, and child against a fit of all of X -> (fig, words). X (n, 4): 1, father, mother, son."""
    line = np.linalg.lstsq(X[:, :2], child, rcond=None)[0]
    fitted = X @ np.linalg.lstsq(X, child, rcond=None)[0]
    one, all_ = r_squared(X[:, :2], child), r_squared(X, child)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.7), sharey=True)
    ends = np.array([X[:, 1].min(), X[:, 1].max()])
    for ax, x in ((left, X[:, 1]), (right, fitted)):
        for name, code, marker, color in SEXES:
            chosen = X[:, 3] == code
            ax.plot(
                x[chosen], child[chosen], marker, color=color, mfc="none", markersize=4, label=name
            )
    left.plot(ends, line[0] + line[1] * ends, color=BLACK)
    right.plot([fitted.min(), fitted.max()], [fitted.min(), fitted.max()], color=BLACK)
    left.set(xlabel="height of the father (cm)", ylabel="height of the child (cm)")
    right.set(xlabel="score from father, mother and sex (cm)")
    left.set_title(f"One feature: R² = {one:.2f}")
    right.set_title(f"Three features: R² = {all_:.2f}")
    left.legend(loc="upper left")
    return fig, say(
        "The father's height alone explains {one:.0%} of the variance of the children's heights; "
        "father, mother and sex together explain {all:.0%}.",
        one=one,
        all=all_,
    )


def planes_explorer(father, mother, gender, child):
    """-> draw(base, b_father, b_mother, b_son): two parallel planes through the families.

    base is the score of a daughter whose parents are 176 and 163 cm tall.
    """
    son = np.array([word == "male" for word in gender], float)
    centred = np.column_stack([np.ones(len(son)), father - 176, mother - 163, son])
    best = np.linalg.lstsq(centred, child, rcond=None)[0]
    lowest = np.sqrt(np.mean((child - centred @ best) ** 2))
    f, m = np.meshgrid([155.0, 197.0], [145.0, 181.0])
    around = [0, 1, 3, 2, 0]  # the corners in turn

    def draw(base: float, b_father: float, b_mother: float, b_son: float):
        fit = centred @ [base, b_father, b_mother, b_son]
        rmse = np.sqrt(np.mean((child - fit) ** 2))
        fig, ax = space((6.4, 4.6))
        lifts = np.full(len(child), np.nan)  # nan lifts the pen: all sticks are one line to draw
        for (name, code, marker, color), gap in zip(SEXES, (0.0, b_son), strict=True):
            z = base + b_father * (f - 176) + b_mother * (m - 163) + gap
            corners = np.stack([f, m, z], -1).reshape(-1, 3)
            sheet(ax, corners[around[:4]], color)
            ax.plot(*corners[around].T, color=color, linewidth=1.2)
            c = son == code
            ends = ((a, b, lifts) for a, b in ((father, father), (mother, mother), (child, fit)))
            sticks = (np.stack(part, -1)[c].ravel() for part in ends)
            ax.plot(*sticks, color=color, linewidth=0.8)
            ax.plot(father[c], mother[c], child[c], marker, color=color, markersize=4, label=name)
        ax.set(xlabel="father (cm)", ylabel="mother (cm)", zlabel="child (cm)", zlim=(135, 205))
        few_ticks(ax)
        ax.view_init(12, -58)
        ax.legend(loc="upper left", fontsize=9)
        ax.set_title(f"Two planes, {abs(b_son):.1f} cm apart: error {rmse:.1f} cm")
        return fig, say(
            "Root mean squared error {rmse:.2f} cm; the lowest possible is {lowest:.2f} cm. The plane of the sons "
            "lies {gap:.1f} cm above that of the daughters. Mean residual {mean:.2f} cm.",
            rmse=rmse, lowest=lowest, gap=b_son, mean=np.mean(child - fit),
        )  # fmt: skip

    return draw


# ---------------------------------------------------------------- in three dimensions


def space(size):
    """A figure and its axes in three dimensions, as large as fits."""
    fig = plt.figure(figsize=size, layout="none")
    return fig, fig.add_axes((0, 0.05, 0.94, 0.85), projection="3d", computed_zorder=False)


def sheet(ax, corners, color):
    """A see-through quadrilateral, its corners (4, 3) in turn."""
    look = dict(color=color, alpha=0.2, shade=False)
    ax.plot_trisurf(*np.asarray(corners).T, triangles=[[0, 1, 2], [0, 2, 3]], **look)


def few_ticks(ax, true_angles=False):
    """Few numbers an axis, since more overlap in three dimensions. true_angles: one unit is as long on every axis."""
    limits = np.array([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()])
    ax.set_box_aspect(np.ptp(limits, axis=1) if true_angles else None, zoom=1.1)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_major_locator(MaxNLocator(3))


def projection_explorer(X, y):
    """-> draw(b1, b2): the point X b in the plane of two columns, and the length of what is left. X (3, 2), y (3,)."""
    best = np.linalg.lstsq(X, y, rcond=None)[0]
    lowest = np.linalg.norm(y - X @ best)
    corners = np.array([[-0.4, -0.7], [-0.4, 1.2], [1.6, 1.2], [1.6, -0.7]]) @ X.T
    grid = np.stack(np.meshgrid(np.linspace(-0.5, 2, 41), np.linspace(-0.5, 2, 41)), -1)
    lengths = np.linalg.norm(y - grid @ X.T, axis=-1)
    scale = np.linalg.norm(X, axis=0) * np.linalg.norm(y)

    def draw(b1: float, b2: float):
        point = X @ [b1, b2]
        residual = y - point
        inner = X.T @ residual
        right = np.all(np.abs(inner) < 0.02 * scale)
        fig = plt.figure(figsize=(9, 4.2), layout="none")
        fig.subplots_adjust(left=0.08, right=0.935, bottom=0.13, top=0.9, wspace=0.3)
        grid_spec = fig.add_gridspec(1, 2, width_ratios=(1.2, 1))
        ax = fig.add_subplot(grid_spec[0], projection="3d", computed_zorder=False)
        flat = fig.add_subplot(grid_spec[1])
        sheet(ax, corners, GREEN)
        for j, style in ((0, "-"), (1, "--")):
            ax.plot(*np.array([0 * y, X[:, j]]).T, style, color=GREEN, label=f"column {j + 1}")
        ax.plot(*np.array([0 * y, y]).T, "-.", color=BLACK, label="targets y")
        ax.plot(*np.array([point, y]).T, ":", color=VERMILION, linewidth=2.6, label="residual e")
        if right:  # the mark of a right angle
            along, up = -point / np.linalg.norm(point), residual / np.linalg.norm(residual)
            ax.plot(*(point + 0.18 * np.array([along, along + up, up])).T, color=VERMILION, lw=1)
        ax.plot(*point[:, None], "o", color=BLUE, markersize=7, label="fit Xβ")
        ax.set(xlabel="row 1", ylabel="row 2", zlabel="row 3")
        few_ticks(ax, true_angles=True)
        ax.view_init(20, -50)
        ax.legend(loc="upper left", fontsize=8)
        ax.set_title(f"‖e‖ = {np.linalg.norm(residual):.2f}")
        levels = np.arange(lowest + 0.1, 6, 0.5)
        flat.contour(grid[..., 0], grid[..., 1], lengths, levels, colors=GREEN)
        flat.plot(b1, b2, "o", color=BLUE, markersize=7)
        flat.set(xlabel="weight β₁", ylabel="weight β₂")
        word = "perpendicular" if right else "slanted"
        light(flat, f"The residual is {word}", [0, 1, 2], [0, 1, 2])
        flat.set_gid("weights")
        return fig, say(
            "Length of the residual {length:.3f}, the shortest is {lowest:.3f}. Inner products with the columns "
            "{first:.2f} and {second:.2f}: it is {word} to the plane.",
            length=np.linalg.norm(residual), lowest=lowest, first=inner[0] + 0,
            second=inner[1] + 0, word=word,
        )  # fmt: skip

    return draw


ONE_ROW = np.array([[1.0, 1.5, 2.0]]), np.array([3.0])  # X and y: one row, three weights


def ends_at_the_shortest(start) -> bool:
    """Whether gradient descent on `ONE_ROW` ends at the shortest solution."""
    (X, y), beta = ONE_ROW, np.asarray(start)
    for _ in range(500):
        beta = beta + 0.1 * X.T @ (y - X @ beta)
    return np.allclose(beta, np.linalg.pinv(X) @ y)


def draw_solution_set(min_norm: Callable, descend: Callable):
    """One row, three weights: the plane of exact fits, the shortest, two descents -> (fig, words)."""
    X, y = ONE_ROW
    best = np.asarray(min_norm(X, y))
    starts = np.zeros(3), np.array([1.4, -0.9, 0.1])
    eta = 0.35 / np.linalg.norm(X, 2) ** 2
    paths = [np.asarray(descend(X, y, begin, eta, 20)) for begin in starts]
    flat = np.linalg.svd(X)[2][1:]
    fig, ax = space((6.6, 4.6))
    sheet(ax, best + np.array([[-1, -1], [-1, 1], [1, 1], [1, -1]]) * 1.7 @ flat, GREEN)
    looks = (("o-", BLUE, "from zero"), ("^--", ORANGE, "from elsewhere"))
    for path, (style, color, name) in zip(paths, looks, strict=True):
        ax.plot(*path.T, style, color=color, markersize=3.5, label=f"descent {name}")
    ax.plot(*best[:, None], "*", color=VERMILION, markersize=15, label="shortest solution")
    ax.plot(0, 0, 0, "s", color=BLACK, markersize=6, label="origin")
    ax.set(xlabel="β₁", ylabel="β₂", zlabel="β₃")
    few_ticks(ax, true_angles=True)
    ax.view_init(14, -128)
    ax.legend(loc="upper left", fontsize=9)
    ax.set_title("Every point of the plane fits exactly")
    return fig, say(
        "Solutions of β₁ + 1.5 β₂ + 2 β₃ = 3 form a plane. The shortest has length {best:.3f}; descent from zero "
        "walks straight to it and ends at length {zero:.3f}; descent from another start ends at length {other:.3f}.",
        best=np.linalg.norm(best), zero=np.linalg.norm(paths[0][-1]),
        other=np.linalg.norm(paths[1][-1]),
    )  # fmt: skip


# ---------------------------------------------------------------- leverage


def leverage_explorer(hat_matrix: Callable):
    """-> draw(gnp, population): the year 1954 moved through the plane of two of Longley's features.

    hat_matrix(X) -> (n, n), the student's. GNP in billion dollars, population in millions.
    """
    table, y = longley()
    X = np.column_stack([np.ones(16), table[:, [2, 5]] / 1000])
    moved = 7
    others = np.delete(X, moved, 0)
    M = np.linalg.inv(others.T @ others)
    grid = np.stack(np.meshgrid(np.linspace(200, 600, 41), np.linspace(105, 133, 41)), -1)
    rows = np.concatenate([np.ones((41, 41, 1)), grid], -1)
    u = np.sum(
        rows @ M * rows, -1
    )  # a row with xᵀ(XᵀX)⁻¹x = u of the others has leverage u / (1 + u)
    spreads = [0.25, 0.5, 0.75, 0.9]
    label_places = [(285, 108.1), (450, 118.3), (450, 115.7), (450, 111.1)]

    def draw(gnp: float, population: float):
        A = X.copy()
        A[moved, 1:] = gnp, population
        H = np.asarray(hat_matrix(A))
        pull = H[:, moved]  # million people: how far each fit moves when this target rises by one
        weights = (np.linalg.pinv(A) @ y)[1:], (M @ others.T @ np.delete(y, moved))[1:]
        fig, (left, right) = fixed_axes(
            2, (9, 3.8), (0.08, 0.97, 0.15, 0.9), wspace=0.25, width_ratios=(1.3, 1)
        )
        drawn = left.contour(grid[..., 0], grid[..., 1], u / (1 + u), spreads, colors=GREEN)
        left.clabel(drawn, fontsize=9, manual=label_places)
        left.plot(others[:, 1], others[:, 2], "o", color=BLUE, mfc="none", label="the other years")
        left.plot(gnp, population, "D", color=VERMILION, label="1954, moved")
        left.set(xlabel="GNP (billion dollars)", ylabel="population (millions)")
        title = f"Leverage of 1954: {H[moved, moved]:.2f}"
        light(left, title, [200, 400, 600], [110, 120, 130])
        left.legend(fontsize=9, loc="upper left")
        left.set_gid("plane")
        years = table[:, 6]
        right.vlines(years, 0, pull, color=BLUE)
        right.plot(years, pull, "o", color=BLUE, mfc="none")
        right.plot(years[moved], pull[moved], "D", color=VERMILION)
        right.axhline(0, color=BLACK, linewidth=0.8)
        right.set(xlabel="year", ylabel="its fit moves by (millions)", ylim=(-0.6, 1.05))
        light(right, "Raise 1954's target by 1 million", [1950, 1955, 1960], [-0.5, 0, 0.5, 1])
        return fig, say(
            "1954 at a GNP of {gnp:.0f} billion and {population:.1f} million people has leverage {leverage:.3f}: raise "
            "its target by one million, and its own fit rises by {leverage:.3f} million. The weights, in thousands at "
            "work a billion and a million people: {first:.1f} and {second:.0f}; without that year {free:.1f} and "
            "{freed:.0f}.",
            gnp=gnp, population=population, leverage=H[moved, moved], first=weights[0][0],
            second=weights[0][1], free=weights[1][0], freed=weights[1][1],
        )  # fmt: skip

    return draw


# ---------------------------------------------------------------- digits


def two_rows(eps: float, noise=0.0):
    """Weights for rows (0, 1), (eps, 1) and targets 1, -1 + noise -> (*noise shape, 2)."""
    X = np.array([[0.0, 1.0], [eps, 1.0]])
    first, second = np.broadcast_arrays(1.0, -1.0 + np.asarray(noise, float))
    y = np.stack([first, second], -1)[..., None]
    return np.linalg.solve(X, y)[..., 0]


def draw_two_rows(eps: float):
    """The weight of the two-row example against eps, and refits with a noisy target -> (fig, words)."""
    w = two_rows(eps)
    refits = two_rows(eps, 0.05 * np.random.default_rng(0).standard_normal(60))
    kappa = np.linalg.cond([[0, 1], [eps, 1]])
    grid = np.geomspace(1e-3, 1, 30)
    t = np.array([-0.2, 1.1, np.nan])  # nan lifts the pen: all refits are one line to draw
    fig, (left, right) = fixed_axes(2, (9, 3.6), (0.09, 0.99, 0.15, 0.9), wspace=0.25)
    left.loglog(grid, 2 / grid, color=BLUE, label="|w₁|")
    kappas = [np.linalg.cond([[0, 1], [e, 1]]) for e in grid]
    left.loglog(grid, kappas, "--", color=BLACK, label="κ(X)")
    left.plot(eps, abs(w[0]), "o", color=VERMILION, markersize=9)
    left.set(xlabel="distance ε of the two inputs", ylabel="size", ylim=(1, 4e3))
    title = f"At ε = {eps:.2g}: w = ({w[0]:.3g}, {w[1]:.3g})"
    light(left, title, [0.001, 0.01, 0.1, 1], [1, 10, 100, 1000])
    left.legend(loc="upper right")
    left.set_gid("near")
    lines = refits[:, :1] * t + refits[:, 1:]
    right.plot(np.tile(t, len(refits)), lines.ravel(), color=BLUE, alpha=0.5, linewidth=0.6)
    right.plot([0, eps], [1, -1], "s", color=BLACK)
    right.set(ylim=(-12, 12), xlim=t[:2], xlabel="input x", ylabel="w₁ x + w₂")
    light(right, "60 refits, second target ± 0.05", [0, 0.5, 1], [-10, 0, 10])
    return fig, say(
        "ε = {eps:.3g}: w = ({w[0]:.3g}, {w[1]:.3g}). Condition number of X: {kappa:.3g}. "
        "A noise of 0.05 in one target moves w₁ by {spread:.2g}.",
        eps=eps, w=w, kappa=kappa, spread=refits[:, 0].std(),
    )  # fmt: skip


def hard_problem(kappa: float, tangent: float, rng, n=20, d=4):
    """X (n, d) of condition number kappa, y (n,), and the exact least squares weights (d,).

    tangent: length of the residual over that of the fit.
    """
    U = np.linalg.qr(rng.standard_normal((n, d + 1)))[0]
    V = np.linalg.qr(rng.standard_normal((d, d)))[0]
    X = U[:, :d] * np.geomspace(1, 1 / kappa, d) @ V.T
    beta = rng.standard_normal(d)
    fit = X @ beta
    return X, fit + tangent * np.linalg.norm(fit) * U[:, d], beta


def digit_errors(solver: Callable, kappas, tangent: float, draws=9):
    """Median relative error of the weights of solver(X, y), for each condition number -> (len(kappas),)."""
    rng, errors = np.random.default_rng(0), []
    for kappa in kappas:
        problems = [hard_problem(kappa, tangent, rng) for _ in range(draws)]
        off = [np.linalg.norm(solver(X, y) - b) / np.linalg.norm(b) for X, y, b in problems]
        errors.append(np.median(off))
    return np.array(errors)


def normal_equations(X, y):
    """Least squares weights the short way."""
    return np.linalg.solve(X.T @ X, X.T @ y)


def right_digits(kappa: float) -> float:
    """How many digits the normal equations get right where the fit is exact."""
    return -np.log10(digit_errors(normal_equations, [kappa], 0.0)[0])


def power(kappas, errors) -> float:
    """With which power of κ the errors grow, from κ = 10 until they reach 1 %."""
    used = (kappas >= 10) & (errors < 0.01)
    return np.polyfit(np.log(kappas[used]), np.log(errors[used]), 1)[0]


def draw_digits(ours: Callable):
    """Errors of the normal equations and of ours(X, y), exact fit and long residual -> (fig, words).

    What is rounded differs between machines: show it with digits=0.
    """
    kappas, told = np.geomspace(1, 1e7, 8), {}
    roads = {"normal equations": (normal_equations, VERMILION, "s--"), "yours": (ours, BLUE, "o-")}
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.7), sharey=True)
    for ax, tangent, case in zip(axes, (0.0, 1.0), ("exact", "long"), strict=True):
        for name, (solver, color, style) in roads.items():
            errors = digit_errors(solver, kappas, tangent)
            ax.loglog(kappas, errors, style, color=color, mfc="none", label=name)
            told[f"{name.split()[0]}_{case}"] = power(kappas, errors)
        ax.set(xlabel="condition number κ(X)", ylim=(1e-17, 1))
    axes[0].set(ylabel="relative error of the weights", title="Exact fit: κ against κ²")
    axes[1].set(title="Residual as long as the fit: both κ²")
    axes[0].legend(loc="upper left")
    return fig, say(
        "Relative error of the weights: with an exact fit it grows with the power {normal_exact:.0f} of κ for the "
        "normal equations and {yours_exact:.0f} for yours; with a long residual with {normal_long:.0f} and "
        "{yours_long:.0f}.",
        **told,
    )


def draw_rounded(weights, best: float):
    """The weight of prices for tables that round to Longley's, and the four programs -> (fig, words). weights (m,)."""
    fig, ax = plt.subplots(figsize=(8, 3.6))
    ax.hist(weights, 40, color=SKY, label=f"{len(weights)} tables that round to this one")
    top = ax.get_ylim()[1]
    for place, (name, beta) in enumerate(programs().items()):
        color, marker = PROGRAM_LOOKS[place]
        height = (0.27 - 0.07 * place) * top  # three weights are nearly equal: one above the other
        edge = dict(markeredgecolor="white", markersize=9)
        ax.plot(beta[1], height, marker, color=color, label=name, **edge)
    ax.axvline(best, color=BLACK, linestyle="--", label="to 15 digits")
    ax.set(xlabel="weight of prices (thousand people a point)", ylabel="tables")
    low, high = np.min(weights), np.max(weights)
    ax.set_title("The rounding of the table outweighs that of the programs")
    ax.legend()
    return fig, say(
        "{count} tables that differ by half of their last digit at most give prices weights from {low:.0f} to "
        "{high:.0f}; of the table as printed it is {best:.1f}. {wrong:.0%} of them are farther from this than "
        "program A.",
        count=len(weights), low=low, high=high, best=best,
        wrong=np.mean(np.abs(weights - best) > abs(programs()["A: as it stands"][1] - best)),
    )  # fmt: skip


# ---------------------------------------------------------------- cost


def counted_ols(X, y):
    """Least squares by the textbook formula, with multiplications counted -> (weights, {part: count}).

    The inverse is Gauss and Jordan's elimination; a multiplication with a known 0 or 1 is not counted.
    """
    n, d = X.shape
    counts = {"XᵀX": n * d * d, "Xᵀy": n * d, "inverse": 0, "product": d * d}
    A, inverse = X.T @ X, np.eye(d)
    for k in range(d):
        used = A[k, k]
        A[k, k:], inverse[k, : k + 1] = A[k, k:] / used, inverse[k, : k + 1] / used
        counts["inverse"] += d  # d - k right of the pivot and k left of it
        for i in range(d):
            if i != k:
                factor = A[i, k]
                A[i, k:] -= factor * A[k, k:]
                inverse[i, : k + 1] -= factor * inverse[k, : k + 1]
                counts["inverse"] += d
    return inverse @ (X.T @ y), counts


# ---------------------------------------------------------------- two sensors


def sensor_explorer(wls: Callable, n=12, repeats=400):
    """-> draw(ratio): plain and weighted lines through two sensors of unequal noise. wls(X, y, R)."""
    x = np.linspace(0, 10, 2 * n)
    X = np.column_stack([np.ones(2 * n), x])
    good = np.arange(2 * n) % 2 == 0
    noise = np.random.default_rng(4).standard_normal((repeats, 2 * n))
    truth = X @ [1.0, 0.5]
    alone = 0.5 / np.sqrt(np.sum((x[good] - x[good].mean()) ** 2))

    def draw(ratio: float):
        sd = np.where(good, 0.5, 0.5 * ratio)
        Y = truth + sd * noise
        plain_map = np.linalg.solve(X.T @ X, X.T)
        best_map = np.linalg.solve((X.T / sd**2) @ X, X.T / sd**2)
        ours = np.asarray(wls(X, Y[0], np.diag(sd**2)))
        plain, weighted = Y @ plain_map[1], Y @ best_map[1]
        theory = [np.sqrt(np.sum((m[1] * sd) ** 2)) for m in (plain_map, best_map)]
        fig, (left, right) = fixed_axes(2, (9, 3.6), (0.07, 0.99, 0.15, 0.9), wspace=0.2)
        left.plot(x[good], Y[0, good], "o", color=BLUE, label="good sensor")
        left.plot(x[~good], Y[0, ~good], "^", color=ORANGE, mfc="none", label="noisy sensor")
        left.plot(x, truth, ":", color=BLACK, label="truth")
        left.plot(x, X @ (plain_map @ Y[0]), "--", color=VERMILION, label="plain fit")
        left.plot(x, X @ ours, "-", color=GREEN, label="weighted fit")
        left.set(xlabel="time (s)", ylabel="position (m)", ylim=(-4, 12))
        light(left, f"Noise ratio {ratio:g}", [0, 5, 10], [0, 5, 10])
        left.legend(fontsize=8, ncols=2, loc="upper left")
        bins = np.linspace(0.5 - 4 * theory[0], 0.5 + 4 * theory[0], 41)
        for values, color, style in ((plain, VERMILION, "--"), (weighted, GREEN, "-")):
            look = dict(color=color, linestyle=style, linewidth=1.8)
            right.hist(values, bins, histtype="step", **look)
        right.axvline(0.5, color=BLACK, linestyle=":")
        right.set(xlabel="fitted slope (m/s)", ylabel=f"data sets (of {repeats})")
        top = 20 * int(right.get_ylim()[1] // 20)
        ends = bins[[10, 20, 30]].round(2)
        light(
            right, f"Plain scatters {theory[0] / theory[1]:.1f} × as much", ends, [0, top / 2, top]
        )
        return fig, say(
            "Noise ratio {ratio:g}. Standard deviation of the slope: plain {plain:.4f} (theory {plain_theory:.4f}), "
            "weighted {weighted:.4f} (theory {weighted_theory:.4f}). The good sensor alone: {alone:.4f}.",
            ratio=ratio, plain=plain.std(), plain_theory=theory[0], weighted=weighted.std(),
            weighted_theory=theory[1], alone=alone,
        )  # fmt: skip

    return draw


# ---------------------------------------------------------------- outliers


def absolute_fit(X, y):
    """Minimises Σ |y - X beta| as a linear programme: beta free, residual = p - q with p, q >= 0."""
    n, d = X.shape
    cost = np.concatenate([np.zeros(d), np.ones(2 * n)])
    equal = np.hstack([X, np.eye(n), -np.eye(n)])
    bounds = [(None, None)] * d + [(0, None)] * (2 * n)
    return linprog(cost, A_eq=equal, b_eq=y, bounds=bounds, method="highs").x[:d]


def influence(r, delta=1.0, nu=3.0):
    """Derivatives of four losses at residual r: squared, absolute, Huber, Student's t (scale delta)."""
    return {
        "squared": r,
        "absolute": delta * np.sign(r),
        "Huber": np.clip(r, -delta, delta),
        "Student t": nu * r / (nu + (r / delta) ** 2),
    }


def line_with_outlier(x_out: float, y_out: float):
    """20 rows of y = 1 + x/2 + noise and one row of the reader's -> X (21, 2), y (21,)."""
    rng = np.random.default_rng(6)
    x = np.linspace(0, 5, 20)
    y = 1 + 0.5 * x + 0.3 * rng.standard_normal(20)
    return np.column_stack([np.ones(21), [*x, x_out]]), np.array([*y, y_out])


def far_row_wins(delta: float, x_out=1e4, y_out=-1e6) -> bool:
    """Whether a steep line through one far row has less of Huber's loss than the true line of the 20 others."""
    X, y = line_with_outlier(x_out, y_out)
    size = np.abs(y - np.array([[1.0, y_out / x_out], [1.0, 0.5]]) @ X.T)
    losses = np.where(size <= delta, size**2 / 2, delta * size - delta**2 / 2).sum(axis=1)
    return bool(losses[0] < losses[1])


LOSS_LOOKS = {
    "squared": (VERMILION, "--"),
    "absolute": (PINK, ":"),
    "Huber": (BLUE, "-"),
    "Student t": (GREEN, "-."),
}


def outlier_explorer(huber: Callable, steps=60):
    """-> draw(x_out, y_out, delta): three fits with one row anywhere. huber(X, y, delta, steps) -> path."""

    def draw(x_out: float, y_out: float, delta: float):
        X, y = line_with_outlier(x_out, y_out)
        fits = {
            "squared": np.linalg.lstsq(X, y, rcond=None)[0],
            "absolute": absolute_fit(X, y),
            "Huber": np.asarray(huber(X, y, delta, steps))[-1],
        }
        t, r = np.array([-1.0, 31.0]), np.linspace(-4, 4, 81)
        fig, (left, right) = fixed_axes(
            2, (9, 3.6), (0.08, 0.99, 0.15, 0.9), wspace=0.22, width_ratios=(1.4, 1)
        )
        left.plot(X[:-1, 1], y[:-1], "o", color=BLACK, markersize=4)
        left.plot(x_out, y_out, "X", color=VERMILION, markersize=10)
        notes = {"absolute": "absolute (pull times δ)", "Student t": "Student t (pull only)"}
        for name, psi in influence(r, delta).items():
            color, style = LOSS_LOOKS[name]
            a, b = fits.get(name, (np.nan, np.nan))
            left.plot(t, a + b * t, style, color=color, label=notes.get(name, name))
            right.plot(r, psi, style, color=color)
        left.set(xlim=(-0.5, 30.5), ylim=(-11, 16), xlabel="input x", ylabel="target y")
        squares, robust = fits["squared"][1], fits["Huber"][1]
        title = f"Slopes: squares {squares:.2f}, Huber {robust:.2f}; true 0.50"
        light(left, title, [0, 10, 20, 30], [-10, 0, 10])
        left.legend(fontsize=8, ncols=2, loc="lower right")
        left.set_gid("rows")
        right.set(ylim=(-4, 4), xlabel="residual r", ylabel="pull of a row")
        light(right, "Pull (Student t: ν = 3, s = δ)", [-4, -2, 0, 2, 4], [-4, -2, 0, 2, 4])
        return fig, say(
            "Your row at x = {x:g}, y = {y:g}; δ = {delta:g}. Slopes (true 0.5): squared {squared:.2f}, absolute "
            "{absolute:.2f}, Huber {huber:.2f}.",
            x=x_out, y=y_out, delta=delta, squared=fits["squared"][1] + 0,
            absolute=fits["absolute"][1] + 0, huber=fits["Huber"][1] + 0,
        )  # fmt: skip

    return draw

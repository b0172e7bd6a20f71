"""Bias, variance and validation: smoothers and their exact terms, folds, searches, the luck of many models."""

from collections.abc import Callable
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
from numpy.polynomial.legendre import legvander

from descent.plots import BLACK, BLUE, GREEN, ORANGE, SKY, VERMILION, fixed_axes
from descent.words import say

MAX_DEGREE, SETS = 12, 40

# ---------------------------------------------------------------- reports against what came


def nearest_error(X, y, known, new) -> float:
    """Mean squared error on the rows `new` of a model that repeats the target of the nearest known row."""
    distances = ((X[new][:, None] - X[known]) ** 2).sum(axis=-1)
    return np.mean((y[known][distances.argmin(axis=1)] - y[new]) ** 2)


def winner_errors(X, y, train, compare, new, rng, models: int = 300) -> tuple[float, float]:
    """The best of many ridge fits, chosen on the rows `compare`: its error there, and on the rows `new`.

    Each fits a random half of the columns with a random penalty on the rows `train`.
    """
    d, centre = X.shape[1], y[train].mean()
    used, lam = rng.random((models, d)) < 0.5, 10 ** rng.uniform(-2, 3, models)
    gram = X[train].T @ X[train] * used[:, :, None] * used[:, None, :]
    gram[:, range(d), range(d)] += np.where(used, lam[:, None], 1)
    moments = X[train].T @ (y[train] - centre) * used
    w = np.linalg.solve(gram, moments[..., None])[..., 0]
    errors = (X @ w.T + centre - y[:, None]) ** 2
    reported = errors[compare].mean(axis=0)
    best = reported.argmin()
    return reported[best], errors[new, best].mean()


def draw_reports(reports: dict, title: str):
    """What each team reported, and what came: {name: (reported, came)} -> (fig, words)."""
    fig, ax = plt.subplots(figsize=(7, 0.9 + 0.7 * len(reports)))
    places = np.arange(len(reports))
    told, came = np.array(list(reports.values())).T
    ax.hlines(places, told, came, color=ORANGE, linewidth=5, alpha=0.6)
    ax.plot(told, places, "o", color=BLUE, markersize=12, label="reported")
    ax.plot(came, places, "s", color=VERMILION, markersize=7, label="on 292 new patients")
    ax.axvline(1, color=BLACK, linestyle="--", linewidth=1.2, label="the mean for everybody")
    ax.set(xlim=(-0.05, 1.35), ylim=(-0.6, len(reports) - 0.4), title=title)
    ax.set(xlabel="mean squared error / variance", ylabel="team")
    ax.set_yticks(places, list(reports))
    ax.invert_yaxis()
    ax.legend(fontsize=9, loc="center left", bbox_to_anchor=(1, 0.5))
    return fig, say(
        "{told:; }.",
        told=[
            say(
                "Team {name}: reported {told:.2f}, on new patients {came:.2f}",
                name=name,
                told=a,
                came=b,
            )
            for name, (a, b) in reports.items()
        ],
    )


# ---------------------------------------------------------------- fits that are linear in the targets


def grid(m: int = 200) -> np.ndarray:
    """Midpoints of m equal slots of [-1, 1]: means over them are means over uniform inputs. (m,)"""
    return (2 * np.arange(m) + 1) / m - 1


def smoother(x, new_x, degree: int, ridge: float = 0.0) -> np.ndarray:
    """The matrix S (m, n) that turns targets at x (n,) into the fit at new_x (m,): fit = S y.

    The fit is a polynomial, in the Legendre basis; minimised is mean (y - fit)² + ridge Σ w_j² over j >= 1.
    """
    features = legvander(x, degree)
    gram = features.T @ features / len(x) + ridge * np.diag(np.arange(degree + 1) > 0)
    return legvander(new_x, degree) @ np.linalg.solve(gram, features.T / len(x))


def exact_terms(truth: Callable, n: int, noise: float, degree: int, ridge: float = 0.0):
    """Squared bias, variance and mean training error of the fit to n even inputs, without simulation.

    fit = S (truth + noise): its mean is S truth, its variance at a point noise² times the squares of that row of S.
    """
    x, points = grid(n), grid()
    S, H = smoother(x, points, degree, ridge), smoother(x, x, degree, ridge)
    bias2 = np.mean((S @ truth(x) - truth(points)) ** 2)
    variance = noise**2 * np.mean(np.sum(S**2, axis=1))
    left = np.eye(n) - H
    training = np.mean((left @ truth(x)) ** 2) + noise**2 * np.sum(left**2) / n
    return bias2, variance, training


def fan_explorer(truth: Callable) -> Callable:
    """-> draw(degree, sets, n, noise, log_ridge): fits to many data sets, and the terms of every degree."""
    points, every = grid(80), range(MAX_DEGREE + 1)

    @cache  # neither a drag of the degree nor the play of data sets changes them
    def terms(n: int, noise: float, ridge: float):
        return np.transpose([exact_terms(truth, n, noise, k, ridge) for k in every])

    def draw(degree: int, sets: int, n: int, noise: float, log_ridge: float):
        ridge, x = 10.0**log_ridge, grid(n)
        drawn = noise * np.random.default_rng(4).standard_normal((SETS, n))
        S = smoother(x, points, degree, ridge)
        fits = (truth(x) + drawn[:sets]) @ S.T
        bias2, variance, training = terms(n, noise, ridge)
        risk = bias2 + variance + noise**2
        best = int(risk.argmin())
        fig, (left, right) = fixed_axes(2, (9, 3.9), (0.07, 0.88, 0.14, 0.92), wspace=0.24)
        one_path = np.c_[fits, np.full(sets, np.nan)]  # forty lines cost ten times as much
        left.plot(np.tile(np.r_[points, np.nan], sets), one_path.ravel(), color=SKY, linewidth=0.8)
        left.plot(points, fits.mean(axis=0), color=ORANGE, linewidth=2.4, label="mean of these")
        left.plot(points, S @ truth(x), color=VERMILION, linewidth=2.4, label="mean of all")
        left.plot(points, truth(points), "--", color=BLACK, label="truth")
        left.plot(x, truth(x) + drawn[sets - 1], "o", color=BLUE, markersize=3)
        left.set(xlim=(-1, 1), ylim=(-2.8, 2.8), xlabel="input x", ylabel="target y")
        left.set(xticks=[-1, 0, 1], yticks=[-2, 0, 2])  # a draft pays for each label
        left.set_title(f"Degree {degree}: fits to {sets} data sets")
        left.legend(loc="lower center", ncols=3, fontsize=8, handlelength=1.2, columnspacing=1)
        right.set(yscale="log", ylim=(1e-4, 100), xlim=(0, MAX_DEGREE))
        for name, values, style, color in (
            ("risk", risk, "-", BLACK),
            ("bias²", bias2, "s--", BLUE),
            ("variance", variance, "^:", VERMILION),
            ("training", training, "-.", GREEN),
        ):
            right.plot(every, values, style, color=color, markersize=4, label=name)
        right.axvline(degree, color=BLACK, linewidth=6, alpha=0.12)
        right.set(xlabel="degree", ylabel="squared error", xticks=range(0, 13, 3))
        right.set_yticks([1e-4, 1e-2, 1, 100], ["10⁻⁴", "10⁻²", "1", "100"])
        right.minorticks_off()
        right.set_title(f"Lowest risk: degree {best}")
        right.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.02, 1), borderaxespad=0)
        right.set_gid("terms")
        return fig, say(
            "Degree {degree}: squared bias {bias2:.2g} + variance {variance:.3f} + noise {noise2:.3f} = risk "
            "{risk:.3f}; training error {training:.3f}. The mean of the {sets} fits shown misses the truth by "
            "{shown:.4f}. The lowest risk is {lowest:.3f}, at degree {best}.",
            degree=degree, sets=sets, bias2=bias2[degree], variance=variance[degree], noise2=noise**2,
            risk=risk[degree], training=training[degree], lowest=risk[best], best=best,
            shown=np.mean((fits.mean(axis=0) - truth(points)) ** 2),
        )  # fmt: skip

    return draw


def box(g: int, low=-4.0, high=0.0) -> np.ndarray:
    """g × g settings of two hyperparameters, the midpoints of equal cells of their logarithms. (g², 2)"""
    levels = low + (high - low) * (np.arange(g) + 0.5) / g
    return np.stack(np.meshgrid(levels, levels), axis=-1).reshape(-1, 2)


def cubic_spline_basis(x, knots) -> np.ndarray:
    """Columns 1, x, x², x³ and max(x - knot, 0)³ for each knot: all cubic splines with these knots."""
    bends = [np.maximum(x - knot, 0) ** 3 for knot in knots]
    return np.column_stack([x**0, x, x**2, x**3, *bends])


# ---------------------------------------------------------------- figures of the notebook


def six_fits(truth: Callable, degrees=(1, 5, 12), worlds=((100, 0.1), (15, 0.4)), seed=3):
    """Training and validation error (RMSE) of each degree in each world (rows, noise) -> dicts."""
    cells, points = [], grid(400)
    for n, noise in worlds:
        rng, x = np.random.default_rng(seed), grid(n)
        y = truth(x) + noise * rng.standard_normal(n)
        new_y = truth(points) + noise * rng.standard_normal(len(points))
        for degree in degrees:
            fit = smoother(x, points, degree) @ y
            train = np.sqrt(np.mean((smoother(x, x, degree) @ y - y) ** 2))
            validation = np.sqrt(np.mean((fit - new_y) ** 2))
            cells.append(dict(n=n, noise=noise, degree=degree, x=x, y=y, points=points,
                              fit=fit, train=train, validation=validation))  # fmt: skip
    return cells


def draw_six_fits(truth: Callable):
    """Three degrees on much clean data and on little noisy data -> (fig, words)."""
    cells = six_fits(truth)
    fig, axes = plt.subplots(2, 3, figsize=(9, 5), sharex=True, sharey=True)
    for ax, cell in zip(axes.flat, cells, strict=True):
        ax.plot(cell["x"], cell["y"], "o", color=BLUE, markersize=3, alpha=0.6)
        ax.plot(cell["points"], truth(cell["points"]), "--", color=BLACK, linewidth=1.3)
        ax.plot(cell["points"], cell["fit"], color=VERMILION)
        ax.set_title(f"train {cell['train']:.2f}, validation {cell['validation']:.2f}", fontsize=11)
        ax.set(ylim=(-2.2, 2.2))
        ax.annotate(f"degree {cell['degree']}", (0.5, 0.03), xycoords="axes fraction", ha="center")
    for ax, cell in zip(axes[:, 0], cells[::3], strict=True):
        ax.set_ylabel(f"{cell['n']} rows, noise σ = {cell['noise']}\ntarget y")
    for ax in axes[1]:
        ax.set_xlabel("input x")
    return fig, say(
        "Fits (solid) and truth (dashed). Root mean squared errors: {told:; }.",
        told=[
            say(
                "{n} rows, degree {degree}: training {train:.2f}, new rows {validation:.2f}",
                **{key: cell[key] for key in ("n", "degree", "train", "validation")},
            )
            for cell in cells
        ],
    )


def draw_learning_curves(sizes, curves: dict, noise2: float):
    """Training and new error against the rows, {degree: (train, new)}, simple first -> (fig, words)."""
    fig, ax = plt.subplots()
    for (degree, (train, new)), color, marker in zip(
        curves.items(), (BLUE, VERMILION), "s^", strict=True
    ):
        ax.plot(sizes, new, f"{marker}-", color=color, label=f"degree {degree}: new rows")
        ax.plot(
            sizes, train, f"{marker}:", color=color, mfc="white", label=f"degree {degree}: training"
        )
    (simple, (_, a)), (rich, (train, b)) = curves.items()
    pays = sizes[int(np.argmax(b < a))]
    ax.axhline(noise2, color=GREEN, linestyle="-.", label="noise σ²")
    ax.set(xscale="log", yscale="log", xlabel="rows n to learn from", ylabel="mean squared error")
    ax.set_title(f"Degree {rich} pays from {pays} rows on")
    ax.set_xticks(sizes, [str(n) for n in sizes])
    ax.minorticks_off()
    ax.legend(fontsize=8, ncols=2)
    return fig, say(
        "With {few} rows degree {simple} has error {a[0]:.2f} on new rows and degree {rich} {b[0]:.2f}; from {pays} "
        "rows on degree {rich} is better. With {many} rows they have {a[1]:.2f} and {b[1]:.3f}; the training error "
        "of degree {rich} rises from {train[0]:.3f} to {train[1]:.3f}.",
        few=sizes[0], many=sizes[-1], simple=simple, rich=rich, pays=pays,
        a=[a[0], a[-1]], b=[b[0], b[-1]], train=[train[0], train[-1]],
    )  # fmt: skip


def draw_stack(degrees, exact, measured, noise2: float):
    """Noise, squared bias and variance stacked, (degrees, 2); the measured risk -> (fig, words)."""
    bias2, variance = np.transpose(exact)
    risk = bias2 + variance + noise2
    best = int(np.argmin(risk))
    fig, ax = plt.subplots()
    areas = ax.stackplot(
        degrees, np.full(len(degrees), noise2), bias2, variance,
        labels=["noise σ²", "bias²", "variance"], colors=[GREEN, SKY, ORANGE], alpha=0.75,
    )  # fmt: skip
    for area, hatch in zip(areas, ("", "//", ".."), strict=True):
        area.set(hatch=hatch, edgecolor="white")
    ax.plot(degrees, measured, "o", color=BLACK, label="risk, measured by you")
    ax.plot(degrees[best], risk[best], "*", color=VERMILION, markersize=15, label="lowest sum")
    ax.set(xlabel="degree", ylabel="mean squared error", xlim=(degrees[0], degrees[-1]))
    ax.set(ylim=(0, 1.15 * risk[0]), title=f"The sum is lowest at degree {degrees[best]}")
    ax.legend(loc="upper center", ncols=2, fontsize=9)
    return fig, say(
        "From degree {first} to {last} squared bias falls from {bias2[0]:.2f} to {bias2[1]:.2g}, variance grows from "
        "{variance[0]:.2g} to {variance[1]:.2f}. The sum is lowest, {lowest:.3f}, at degree {best}; noise alone is "
        "{noise2:.2f}. The risk measured is off by at most {off:.3f}.",
        first=degrees[0], last=degrees[-1], bias2=bias2[[0, -1]], variance=variance[[0, -1]],
        lowest=risk[best], best=degrees[best], noise2=noise2, off=np.abs(measured - risk).max(),
    )  # fmt: skip


def least_squares_errors(n: int, d: int, repeats: int, rng) -> tuple[float, float, float]:
    """Mean squared errors of minimum-norm least squares: training, same inputs, fresh inputs.

    n rows of d standard normal features, y = first feature + standard normal noise; the new
    targets carry new noise.
    """
    X = rng.standard_normal((repeats, n, d))
    noise = rng.standard_normal((repeats, n, 1))
    w_error = np.linalg.pinv(X) @ (X[..., :1] + noise)
    w_error[:, 0] -= 1
    moved = X @ w_error
    return np.mean((noise - moved) ** 2), 1 + np.mean(moved**2), 1 + np.sum(w_error**2) / repeats


def least_squares_theory(n: int, d: int) -> tuple[float, float, float]:
    """What `least_squares_errors` is on average; no finite mean for |d - n| <= 1 (fresh inputs)."""
    if d > n:
        return 0.0, 2.0, 1 + n / (d - n - 1) + 1 - n / d if d > n + 1 else np.inf
    return 1 - d / n, 1 + d / n, 1 + d / (n - d - 1) if d < n - 1 else np.inf


def draw_least_squares(n=20, d=5, repeats=400, seed=0):
    """Errors against the number of weights (n rows) and of rows (d weights) -> (fig, words)."""
    rng = np.random.default_rng(seed)
    weights = [1, 3, 5, 7, 9, 11, 13, 15, 27, 32, 38, 45, 52, 60]
    rows = [10, 12, 15, 20, 30, 50, 80, 120]
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
    _error_curves(left, weights, range(1, 61), lambda k: (n, k), repeats, rng)
    _error_curves(right, rows, range(8, 121), lambda k: (k, d), repeats, rng)
    left.axvline(n, color=BLACK, linewidth=6, alpha=0.12)
    left.set(xlabel="weights d", ylabel="mean squared error / σ²", yscale="log", ylim=(0.1, 40))
    left.set_title(f"{n} rows: a peak at d = {n}")
    right.set(xlabel="rows n", ylabel="mean squared error / σ²", ylim=(0, 4))
    right.set(title=f"{d} weights: the gap closes like d/n")
    left.legend(fontsize=8, loc="upper right")
    train, same, fresh = least_squares_theory(n, 15)
    return fig, say(
        "Lines are formulas, marks are simulations. With {n} rows and 15 weights: training {train:.2f}, same inputs "
        "{same:.2f}, fresh inputs {fresh:.2f}. At d = {n} training error reaches 0 and fresh error has no finite "
        "mean; with {d} weights both gaps shrink as rows are added.",
        n=n, d=d, train=train, same=same, fresh=fresh,
    )  # fmt: skip


def _error_curves(ax, marks, line, sizes, repeats, rng):
    theory = np.array([least_squares_theory(*sizes(k)) for k in line])
    seen = np.array([least_squares_errors(*sizes(k), repeats, rng) for k in marks])
    looks = (("training", "-", "o", BLUE), ("same inputs", ":", "s", GREEN),
             ("fresh inputs", "--", "^", VERMILION))  # fmt: skip
    for column, (name, style, marker, color) in enumerate(looks):
        ax.plot(line, theory[:, column], style, color=color)
        ax.plot(marks, seen[:, column], marker, color=color, mfc="white", label=name)


def draw_folds(k: int, n: int, estimates: dict, true_risk: float):
    """Which rows each fold validates, and estimates of the risk over many data sets -> (fig, words)."""
    owner = np.repeat(np.arange(k), [len(f) for f in np.array_split(np.arange(n), k)])
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), width_ratios=(1, 1.3))
    left.imshow(owner == np.arange(k)[:, None], aspect="auto", cmap="Blues", vmin=-0.25, vmax=1.2)
    for fold in range(k):
        left.text(
            np.mean(np.flatnonzero(owner == fold)),
            fold,
            "valid",
            ha="center",
            va="center",
            color="white",
        )
    left.set(
        xlabel="row",
        ylabel="fold",
        yticks=range(k),
        title=f"Each row is validated once ({k} folds)",
    )
    left.text(0.7 * n, 0, "train", ha="center", va="center")
    left.grid(False)
    spread = {name: np.std(values) for name, values in estimates.items()}
    right.boxplot(
        estimates.values(), orientation="horizontal", medianprops=dict(color=VERMILION, linewidth=2)
    )
    right.set_yticks(range(1, len(estimates) + 1), list(estimates))
    right.axvline(true_risk, color=BLACK, linestyle="--", label="true mean risk")
    right.set(xlabel="estimated risk (squared error)")
    first, last = list(spread)[0], list(spread)[-1]
    right.set_title(
        f"Spread {spread[first]:.3f} ({first}), {spread[last]:.3f} ({last})", fontsize=11
    )
    right.legend()
    return fig, say(
        "True mean risk {true:.3f}. {told:; }.",
        true=true_risk,
        told=[
            say(
                "{name}: mean {mean:.3f}, spread {spread:.3f}",
                name=name,
                mean=np.mean(v),
                spread=np.std(v),
            )
            for name, v in estimates.items()
        ],
    )


def draw_rates(rates, train, validation, edge: float):
    """Errors after gradient descent against the learning rate -> (fig, words). Not finite: diverged."""
    fine = np.isfinite(validation) & (validation < 1e3)
    best = int(np.argmin(np.where(fine, validation, np.inf)))
    fig, ax = plt.subplots()
    ax.plot(rates[fine], train[fine], "s:", color=BLUE, label="training")
    ax.plot(rates[fine], validation[fine], "o-", color=VERMILION, label="validation")
    ax.plot(
        rates[~fine],
        np.full((~fine).sum(), 1.35),
        "x",
        color=BLACK,
        label="diverged",
        clip_on=False,
    )
    ax.axvline(edge, color=BLACK, linestyle="--", linewidth=1.2, label="2 / largest curvature")
    ax.set(xscale="log", ylim=(0, 1.4), xlabel="learning rate η", ylabel="mean squared error")
    ax.set_title(f"Best learning rate by validation: {rates[best]:.2g}")
    ax.legend(fontsize=9, loc="lower left")
    last = np.flatnonzero(fine)[-1]
    return fig, say(
        "Validation error is {slow:.2f} at η = {first:.0e} (underfits), lowest, {lowest:.2f}, at η = {best:.2g}, "
        "{fast:.2f} at η = {last:.2g} (overfits, training error {train:.2f}); above {edge:.2f} every run diverges.",
        slow=validation[0], first=rates[0], lowest=validation[best], best=rates[best],
        fast=validation[last], last=rates[last], train=train[last], edge=edge,
    )  # fmt: skip


def draw_search(grid_points, random_points, optimum, budgets, regret_grid, regret_random):
    """A grid and random draws over two hyperparameters, and their mean lowest loss -> (fig, words)."""
    fig, axes = plt.subplots(1, 3, figsize=(9, 3.4))
    random_points = np.array(random_points)
    tried = [len(np.unique(np.round(points[:, 0], 9))) for points in (grid_points, random_points)]
    names = [f"grid: {tried[0]} values tried", f"random: {tried[1]} values tried"]
    for ax, points, name in zip(axes, (grid_points, random_points), names, strict=False):
        ax.plot(*points.T, "o", color=BLUE, markersize=4)
        ax.plot(points[:, 0], np.full(len(points), -4.9), "|", color=VERMILION, markersize=14)
        ax.axvline(optimum[0], color=BLACK, linestyle="--", linewidth=1.2)
        ax.set(xlim=(-4.1, 0.1), ylim=(-5.2, 0.1), xlabel="log₁₀ of what matters")
        ax.set_title(name, fontsize=11)
        ax.set_yticks(range(-4, 1))
    axes[0].set_ylabel("log₁₀ of what hardly matters")
    axes[2].plot(budgets, regret_grid, "s--", color=BLUE, label="grid")
    axes[2].plot(budgets, regret_random, "o-", color=VERMILION, label="random")
    axes[2].set(yscale="log", xlabel="trials", ylabel="mean lowest loss")
    axes[2].set_yticks([0.03, 0.1, 0.3], ["0.03", "0.1", "0.3"])
    axes[2].minorticks_off()
    leads = np.array(regret_random) < regret_grid
    ahead = f"random leads from {budgets[leads.argmax()]} trials" if leads.any() else "grid leads"
    axes[2].set_title(ahead, fontsize=11)
    axes[2].legend()
    return fig, say(
        "{trials} trials on a grid try {tried[0]} values of the hyperparameter that matters, random draws {tried[1]}. "
        "Mean lowest loss after {budget} trials: grid {grid:.3f}, random {random:.3f}.",
        trials=len(grid_points), tried=tried, budget=budgets[-1], grid=regret_grid[-1], random=regret_random[-1],
    )  # fmt: skip


def draw_choice(values, scores, chosen: int):
    """Mean error of each value of C with its standard error -> (fig, words). scores (values, folds)."""
    mean, error = scores.mean(1), scores.std(1, ddof=1) / np.sqrt(scores.shape[1])
    best = int(mean.argmin())
    fig, ax = plt.subplots()
    ax.errorbar(values, mean, error, fmt="o-", color=BLUE, capsize=3, label="mean ± standard error")
    ax.axhline(
        mean[best] + error[best], color=BLACK, linestyle="--", label="best + 1 standard error"
    )
    ax.plot(values[chosen], mean[chosen], "*", color=VERMILION, markersize=16, label="chosen")
    ax.set(
        xlabel="C of the support vector machine",
        ylabel="validation error (share wrong)",
        ylim=(0, None),
    )
    ax.set_xscale("log", base=2)
    ax.set_xticks(values)
    ax.set_title(f"Smallest C within one standard error: {values[chosen]:g}")
    ax.legend()
    return fig, say(
        "The lowest mean error is {lowest:.3f} (standard error {error:.3f}) at C = {best:g}; the smallest C within "
        "one standard error is {chosen:g}. C = {first:g} has {a:.3f}, C = {last:g} has {b:.3f}.",
        lowest=mean[best], error=error[best], best=values[best], chosen=values[chosen],
        first=values[0], a=mean[0], last=values[-1], b=mean[-1],
    )  # fmt: skip


# ---------------------------------------------------------------- the luck of many models


def observed_errors(
    p: float, n: int, models: int, agreement: float, repeats: int, rng
) -> np.ndarray:
    """Test error rates of models whose true error is p, on one test set of n cases -> (repeats, models).

    Each model copies a common pattern of mistakes on a share `agreement` of the cases and errs on its
    own elsewhere, so that its error rate is p whatever the agreement.
    """
    common = rng.binomial(n, p, (repeats, 1))  # cases that the common pattern gets wrong
    copied_wrong = rng.binomial(common, agreement, (repeats, models))
    copied_right = rng.binomial(n - common, agreement, (repeats, models))
    own = rng.binomial(n - copied_wrong - copied_right, p)
    return (copied_wrong + own) / n


def draw_benchmark(models: int, n: int, agreement: float, fresh: bool, p=0.1, repeats=250):
    """Lowest of many observed error rates against the number of models -> (fig, words)."""
    rng = np.random.default_rng(0)
    errors = observed_errors(p, n, models, agreement, repeats, rng)
    count = np.unique(np.geomspace(1, models, 50).round().astype(int))
    lowest = np.minimum.accumulate(errors, axis=1)[:, count - 1]
    mean = lowest.mean(0)
    fig, ax = fixed_axes(1, (6.4, 3.6), (0.13, 0.98, 0.15, 0.91))
    ax.fill_between(
        count,
        *np.percentile(lowest, [10, 90], axis=0),
        color=SKY,
        alpha=0.3,
        label="8 of 10 benchmarks",
    )
    ax.plot(count, mean, "-", color=BLUE, label="best reported error, mean")
    ax.axhline(p, color=BLACK, linestyle="--", label="true error of every model")
    told = "{models} models, {n} test cases: the best report is {best:.1%} on average, the truth {p:.1%}"
    facts = dict(models=models, n=n, best=mean[-1], p=p)
    if fresh:
        winners = errors.argmin(axis=1)
        again = observed_errors(p, n, models, agreement, repeats, rng)[range(repeats), winners]
        again = again.mean()
        ax.plot(
            [models], [again], "*", color=VERMILION, markersize=14, label="winner, fresh test set"
        )
        told += "; on a fresh test set the winners have {again:.1%}"
        facts["again"] = again
    ax.set(
        xlim=(0.9, max(models, 2) * 1.1),
        ylim=(0, 1.5 * p),
        xlabel="models tried",
        ylabel="test error",
    )
    ax.set_xscale("log")
    gain = max(0.0, 100 * (p - mean[-1]))
    ax.set_title(f"The best of {models} looks {gain:.1f} points better than it is")
    ax.legend(fontsize=8, loc="lower left")
    return fig, say(told + ".", **facts)

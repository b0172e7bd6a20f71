"""Bias, variance and validation: polynomial fits to many data sets, and the luck of many models."""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
from numpy.polynomial.legendre import legvander

from descent.plots import BLACK, BLUE, GREEN, ORANGE, SKY, VERMILION, fixed_axes

MAX_DEGREE, DATA_SETS, SHOWN = 12, 200, 40

# ---------------------------------------------------------------- many data sets, many fits


def grid(m: int = 200) -> np.ndarray:
    """Midpoints of m equal slots of [-1, 1]: means over them are means over uniform inputs. (m,)"""
    return (2 * np.arange(m) + 1) / m - 1


def data_sets(truth: Callable, n: int, noise: float, repeats: int, rng) -> tuple[np.ndarray, ...]:
    """Inputs and targets of `repeats` data sets of n rows -> x, y (repeats, n).

    One input falls at random into each of n equal slots of [-1, 1], so that no set leaves a hole;
    y = truth(x) + normal noise of standard deviation `noise`.
    """
    x = 2 * (np.arange(n) + rng.random((repeats, n))) / n - 1
    return x, truth(x) + noise * rng.standard_normal((repeats, n))


def polynomial_fits(x, y, degree: int, ridge: float, new_x) -> np.ndarray:
    """Predictions at new_x (m,) of the polynomial fitted to each data set -> (repeats, m).

    x, y (repeats, n) or (n,). Features are the Legendre polynomials up to `degree`; minimised is
    mean (y - fit)² + ridge Σ w_j² over j >= 1: the constant goes unpenalised.
    """
    return polynomial_weights(x, y, degree, ridge) @ legvander(new_x, degree).T


def polynomial_weights(x, y, degree: int, ridge: float) -> np.ndarray:
    """Weights of the Legendre polynomials in `polynomial_fits` -> (repeats, degree + 1)."""
    features = legvander(x, degree)
    gram = features.swapaxes(-1, -2) @ features / x.shape[-1]
    gram = gram + ridge * np.diag(np.arange(degree + 1) > 0)
    moments = features.swapaxes(-1, -2) @ y[..., None] / x.shape[-1]
    return np.linalg.solve(gram, moments)[..., 0]


def training_error(x, y, degree: int, ridge: float) -> float:
    """Mean squared error of the fits on their own rows, over all data sets. x, y (repeats, n)."""
    weights = polynomial_weights(x, y, degree, ridge)
    fits = (legvander(x, degree) @ weights[..., None])[..., 0]
    return np.mean((y - fits) ** 2)


def terms_by_degree(truth: Callable, n: int, noise: float, ridge: float, repeats=DATA_SETS, seed=0):
    """Squared bias and variance of every degree from 0 to MAX_DEGREE -> two arrays (MAX_DEGREE + 1,)."""
    x, y = data_sets(truth, n, noise, repeats, np.random.default_rng(seed))
    points, terms = grid(), []
    for degree in range(MAX_DEGREE + 1):
        fits = polynomial_fits(x, y, degree, ridge, points)
        terms.append((np.mean((fits.mean(0) - truth(points)) ** 2), fits.var(0).mean()))
    return tuple(np.array(terms).T)


def fan_explorer(truth: Callable) -> Callable:
    """-> draw(degree, n, noise, log_ridge): fits to many data sets, and the terms of every degree."""

    def draw(degree: int, n: int, noise: float, log_ridge: float):
        ridge, points = 10.0**log_ridge, grid(100)
        x, y = data_sets(truth, n, noise, DATA_SETS, np.random.default_rng(0))
        fits = polynomial_fits(x, y, degree, ridge, points)
        bias2, variance = terms_by_degree(truth, n, noise, ridge)
        total = bias2 + variance + noise**2
        best = int(total.argmin())
        fig, (left, right) = fixed_axes(2, (9, 3.6), (0.07, 0.99, 0.14, 0.92), wspace=0.22)
        left.plot(points, fits[:SHOWN].T, color=BLUE, alpha=0.2, linewidth=0.8)
        left.plot([], [], color=BLUE, linewidth=0.8, label=f"{SHOWN} of {DATA_SETS} fits")
        left.plot(points, fits.mean(0), color=VERMILION, linewidth=2.4, label="mean of all fits")
        left.plot(points, truth(points), "--", color=BLACK, label="truth")
        left.plot(x[0], y[0], "o", color=BLACK, markersize=3, alpha=0.6, label="one data set")
        left.set(ylim=(-2.6, 2.6), xlabel="input x", ylabel="target y")
        left.set_xticks([-1, -0.5, 0, 0.5, 1])
        left.set_title(f"Degree {degree}, {n} rows a data set")
        left.legend(loc="lower center", ncols=2, fontsize=8)
        _draw_terms(right, bias2, variance, noise, total)
        right.axvline(degree, color=BLACK, linewidth=6, alpha=0.12)
        right.set_title(f"Lowest risk: degree {best}")
        return fig, (
            f"Degree {degree}: squared bias {bias2[degree]:.3f} + variance {variance[degree]:.3f} "
            f"+ noise {noise**2:.3f} = risk {total[degree]:.3f}. "
            f"The lowest risk is {total[best]:.3f}, at degree {best}. "
            f"Training error: {training_error(x, y, degree, ridge):.3f}."
        )

    return draw


def _draw_terms(ax, bias2, variance, noise, total):
    degrees = np.arange(len(bias2))
    ax.plot(degrees, total, "-", color=BLACK, label="risk")
    ax.plot(degrees, bias2, "s--", color=BLUE, markersize=4, label="bias²")
    ax.plot(degrees, variance, "^:", color=VERMILION, markersize=4, label="variance")
    if noise:
        ax.axhline(noise**2, color=GREEN, linestyle="-.", label="noise σ²")
    ax.set(yscale="log", ylim=(1e-4, 100), xlabel="degree", ylabel="squared error")
    ax.set_yticks([1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100])
    ax.minorticks_off()
    ax.legend(fontsize=8, ncols=2, loc="upper left")


def simulate_terms(terms: Callable, truth: Callable, sd: Callable, A, inputs, points, blocks=20):
    """Squared bias, variance, noise and risk of the linear learner fit = A y, measured -> (4,).

    terms(fits, true values) -> squared bias, variance. Each block draws 5000 data sets at `inputs`
    and for each of them a fresh target at every point; sd(x) is the noise at x.
    """
    rng, measured = np.random.default_rng(1), []
    for _ in range(blocks):
        fits = (truth(inputs) + sd(inputs) * rng.standard_normal((5000, len(inputs)))) @ A.T
        noise = sd(points) * rng.standard_normal(fits.shape)
        risk = np.mean((truth(points) + noise - fits) ** 2)
        measured.append([*terms(fits, truth(points)), np.mean(noise**2), risk])
    return np.mean(measured, axis=0)


def cubic_spline_basis(x, knots) -> np.ndarray:
    """Columns 1, x, x², x³ and max(x - knot, 0)³ for each knot: all cubic splines with these knots."""
    bends = [np.maximum(x - knot, 0) ** 3 for knot in knots]
    return np.column_stack([x**0, x, x**2, x**3, *bends])


def box(g: int, low=-4.0, high=0.0) -> np.ndarray:
    """g × g settings of two hyperparameters, the midpoints of equal cells of their logarithms. (g², 2)"""
    levels = low + (high - low) * (np.arange(g) + 0.5) / g
    return np.stack(np.meshgrid(levels, levels), axis=-1).reshape(-1, 2)


# ---------------------------------------------------------------- figures of the notebook


def six_fits(truth: Callable, degrees=(1, 5, 12), worlds=((100, 0.1), (15, 0.4)), seed=3):
    """Training and validation error (RMSE) of each degree in each world (rows, noise) -> dicts."""
    cells, points = [], grid(400)
    for n, noise in worlds:
        rng = np.random.default_rng(seed)
        x, y = (a[0] for a in data_sets(truth, n, noise, 1, rng))
        new_y = truth(points) + noise * rng.standard_normal(len(points))
        for degree in degrees:
            at = np.concatenate([x, points])
            fit = polynomial_fits(x, y, degree, 0.0, at)
            train, validation = (
                np.sqrt(np.mean((fit[part] - t) ** 2))
                for part, t in ((slice(n), y), (slice(n, None), new_y))
            )
            cells.append(dict(n=n, noise=noise, degree=degree, x=x, y=y, points=points,
                              fit=fit[n:], train=train, validation=validation))  # fmt: skip
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
    for ax, cell in zip(axes[0], cells, strict=False):
        ax.annotate(f"degree {cell['degree']}", (0.5, 0.03), xycoords="axes fraction", ha="center")
    for ax, cell in zip(axes[:, 0], cells[::3], strict=True):
        ax.set_ylabel(f"{cell['n']} rows, noise σ = {cell['noise']}\ntarget y")
    for ax in axes[1]:
        ax.set_xlabel("input x")
    told = "; ".join(
        f"{c['n']} rows, degree {c['degree']}: training {c['train']:.2f}, validation {c['validation']:.2f}"
        for c in cells
    )
    return fig, f"Fits (solid) and truth (dashed). Root mean squared errors: {told}."


def draw_stack(degrees, bias2, variance, noise2):
    """Squared bias, variance and noise stacked over the degree -> (fig, words)."""
    risk = bias2 + variance + noise2
    best = int(np.argmin(risk))
    fig, ax = plt.subplots()
    areas = ax.stackplot(
        degrees, np.full(len(degrees), noise2), bias2, variance,
        labels=["noise σ²", "bias²", "variance"], colors=[GREEN, SKY, ORANGE], alpha=0.75,
    )  # fmt: skip
    for area, hatch in zip(areas, ("", "//", ".."), strict=True):
        area.set(hatch=hatch, edgecolor="white")
    ax.plot(degrees, risk, "o-", color=BLACK, label="risk")
    ax.plot(degrees[best], risk[best], "*", color=VERMILION, markersize=15, label="lowest risk")
    ax.set(
        xlabel="degree of the polynomial", ylabel="squared error", xlim=(degrees[0], degrees[-1])
    )
    ax.set(ylim=(0, 1.15 * risk[0]), title=f"The sum is lowest at degree {degrees[best]}")
    ax.legend(loc="upper center", ncols=2)
    return fig, (
        f"From degree {degrees[0]} to {degrees[-1]} squared bias falls from {bias2[0]:.2f} to "
        f"{bias2[-1]:.2g}, variance grows from {variance[0]:.2g} to {variance[-1]:.2f}. "
        f"The risk is lowest, {risk[best]:.3f}, at degree {degrees[best]}; noise alone is {noise2:.2f}."
    )


def draw_sizes(sizes, terms):
    """Squared bias and variance against the sample size -> (fig, words).

    terms: {degree: (len(sizes), 2)}, a simple and a rich degree.
    """
    fig, ax = plt.subplots()
    for (degree, values), color, marker in zip(terms.items(), (BLUE, VERMILION), "s^", strict=True):
        name = f"degree {degree}"
        ax.plot(
            sizes, values.sum(1), "-", color=color, label=f"{name}: sum", alpha=0.4, linewidth=5
        )
        ax.plot(sizes, values[:, 0], f"{marker}--", color=color, label=f"{name}: bias²")
        ax.plot(
            sizes, values[:, 1], f"{marker}:", color=color, mfc="white", label=f"{name}: variance"
        )
    (simple, a), (rich, b) = terms.items()
    crossing = sizes[int(np.argmax(b.sum(1) < a.sum(1)))]
    ax.set(xscale="log", yscale="log", xlabel="rows n in a data set", ylabel="squared error")
    ax.set_title(f"Degree {rich} pays from {crossing} rows on")
    ax.set_xticks(sizes, [str(n) for n in sizes])
    ax.minorticks_off()
    ax.legend(fontsize=8, ncols=2)
    return fig, (
        f"With {sizes[0]} rows degree {simple} has error {a[0].sum():.2f} and degree {rich} "
        f"{b[0].sum():.0f}; from {crossing} rows on degree {rich} is better. With {sizes[-1]} rows "
        f"its error is {b[-1].sum():.3f}, and degree {simple} keeps a squared bias of {a[-1, 0]:.2f}."
    )


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
    train, same, fresh = (round(v, 2) for v in least_squares_theory(n, 15))
    return fig, (
        f"Lines are formulas, marks are simulations. With {n} rows and 15 weights: training {train}, "
        f"same inputs {same}, fresh inputs {fresh}. At d = {n} training error reaches 0 and fresh error "
        f"has no finite mean; with {d} weights both gaps shrink as rows are added."
    )


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
    told = "; ".join(
        f"{name}: mean {np.mean(v):.3f}, spread {spread[name]:.3f}" for name, v in estimates.items()
    )
    return fig, f"True mean risk {true_risk:.3f}. {told}."


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
    return fig, (
        f"Validation error is {validation[0]:.2f} at η = {rates[0]:.0e} (underfits), lowest, "
        f"{validation[best]:.2f}, at η = {rates[best]:.2g}, {validation[last]:.2f} at η = {rates[last]:.2g} "
        f"(overfits, training error {train[last]:.2f}); above {edge:.2f} every run diverges."
    )


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
    return fig, (
        f"{len(grid_points)} trials on a grid try {tried[0]} values of the hyperparameter that matters, "
        f"random draws {tried[1]}. Mean lowest loss after {budgets[-1]} trials: grid {regret_grid[-1]:.3f}, "
        f"random {regret_random[-1]:.3f}."
    )


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
    return fig, (
        f"The lowest mean error is {mean[best]:.3f} (standard error {error[best]:.3f}) at C = {values[best]:g}; "
        f"the smallest C within one standard error is {values[chosen]:g}. "
        f"C = {values[0]:g} has {mean[0]:.3f}, C = {values[-1]:g} has {mean[-1]:.3f}."
    )


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
    words = f"{models} models, {n} test cases: the best report is {mean[-1]:.1%} on average, the truth {p:.1%}"
    if fresh:
        winners = errors.argmin(axis=1)
        again = observed_errors(p, n, models, agreement, repeats, rng)[range(repeats), winners]
        again = again.mean()
        ax.plot(
            [models], [again], "*", color=VERMILION, markersize=14, label="winner, fresh test set"
        )
        words += f"; on a fresh test set the winners have {again:.1%}"
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
    return fig, words + "."


def draw_luck(counts, reported, fresh):
    """Error that a test set reports of the model chosen on it, and its true error -> (fig, words)."""
    fig, ax = plt.subplots()
    ax.plot(counts, fresh, "o-", color=BLACK, label="winner on 292 fresh patients")
    ax.plot(counts, reported, "s--", color=VERMILION, label="winner as reported")
    ax.fill_between(
        counts, reported, fresh, color=ORANGE, alpha=0.25, label="bought by tuning on the test set"
    )
    ax.set(
        xscale="log",
        xlabel="candidates compared on the test set",
        ylabel="squared error / variance of y",
    )
    ax.set_title(f"{counts[-1]} candidates: reported {reported[-1]:.2f}, true {fresh[-1]:.2f}")
    ax.legend()
    return fig, (
        f"With one candidate the test set reports {reported[0]:.2f} and the truth is {fresh[0]:.2f}. "
        f"With {counts[-1]} it reports {reported[-1]:.2f} while the truth is {fresh[-1]:.2f}."
    )

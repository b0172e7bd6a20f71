"""Bias, variance and validation: polynomial fits to many data sets, and the luck of many models."""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
from numpy.polynomial.legendre import legvander

from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, fan

MAX_DEGREE = 12

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
    features = legvander(x, degree)
    gram = features.swapaxes(-1, -2) @ features / x.shape[-1]
    gram = gram + ridge * np.diag(np.arange(degree + 1) > 0)
    moments = features.swapaxes(-1, -2) @ y[..., None] / x.shape[-1]
    return np.linalg.solve(gram, moments)[..., 0] @ legvander(new_x, degree).T


def terms_by_degree(truth: Callable, n: int, noise: float, ridge: float, repeats=60, seed=0):
    """Squared bias and variance of every degree from 0 to MAX_DEGREE -> two arrays (MAX_DEGREE + 1,)."""
    x, y = data_sets(truth, n, noise, repeats, np.random.default_rng(seed))
    points, terms = grid(), []
    for degree in range(MAX_DEGREE + 1):
        fits = polynomial_fits(x, y, degree, ridge, points)
        terms.append((np.mean((fits.mean(0) - truth(points)) ** 2), fits.var(0).mean()))
    return tuple(np.array(terms).T)


def fan_explorer(truth: Callable) -> Callable:
    """-> draw(degree, n, noise, log_ridge): fits to 60 data sets, and the terms of every degree."""

    def draw(degree: int, n: int, noise: float, log_ridge: float):
        ridge, points = 10.0**log_ridge, grid()
        x, y = data_sets(truth, n, noise, 60, np.random.default_rng(0))
        fits = polynomial_fits(x, y, degree, ridge, points)
        bias2, variance = terms_by_degree(truth, n, noise, ridge)
        total = bias2 + variance + noise**2
        best = int(total.argmin())
        fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), width_ratios=(1.25, 1))
        fan(points, fits, left, truth=truth(points), label="fits, 60 data sets")
        left.plot(x[0], y[0], "o", color=BLACK, markersize=3, alpha=0.6, label="one data set")
        left.set(ylim=(-2.6, 2.6), xlabel="input x", ylabel="target y")
        left.set_title(f"Degree {degree}, {n} rows a data set")
        left.legend(loc="lower center", ncols=2, fontsize=8)
        _draw_terms(right, bias2, variance, noise, total)
        right.axvline(degree, color=BLACK, linewidth=6, alpha=0.12)
        right.set_title(f"Lowest risk: degree {best}")
        return fig, (
            f"Degree {degree}: squared bias {bias2[degree]:.3f} + variance {variance[degree]:.3f} "
            f"+ noise {noise**2:.3f} = risk {total[degree]:.3f}. "
            f"The lowest risk is {total[best]:.3f}, at degree {best}."
        )

    return draw


def _draw_terms(ax, bias2, variance, noise, total):
    degrees = np.arange(len(bias2))
    ax.plot(degrees, total, "-", color=BLACK, label="risk")
    ax.plot(degrees, bias2, "s--", color=BLUE, markersize=4, label="bias²")
    ax.plot(degrees, variance, "^:", color=VERMILION, markersize=4, label="variance")
    if noise:
        ax.axhline(noise**2, color=GREEN, linestyle="-.", label="noise σ²")
    ax.set(yscale="log", ylim=(1e-4, 10), xlabel="degree", ylabel="squared error")
    ax.legend(fontsize=8, ncols=2, loc="upper right")


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
    ax.set(xlabel="degree of the polynomial", ylabel="squared error", xlim=(degrees[0], degrees[-1]))
    ax.set(ylim=(0, 1.15 * risk[0]), title=f"The sum is lowest at degree {degrees[best]}")
    ax.legend(loc="upper center", ncols=2)
    return fig, (
        f"From degree {degrees[0]} to {degrees[-1]} squared bias falls from {bias2[0]:.2f} to "
        f"{bias2[-1]:.2g}, variance grows from {variance[0]:.2g} to {variance[-1]:.2f}. "
        f"The risk is lowest, {risk[best]:.3f}, at degree {degrees[best]}; noise alone is {noise2:.2f}."
    )


def draw_sizes(sizes, terms):
    """Squared bias and variance against the sample size. terms: {degree: (sizes, 2)} -> (fig, words)."""
    fig, ax = plt.subplots()
    looks = {0: (BLUE, "s"), 1: (VERMILION, "^")}
    for number, (degree, values) in enumerate(terms.items()):
        color, marker = looks[number]
        ax.plot(sizes, values[:, 0], "--", marker=marker, color=color, label=f"degree {degree}: bias²")
        ax.plot(sizes, values[:, 1], ":", marker=marker, color=color, mfc="white", label=f"degree {degree}: variance")
        ax.plot(sizes, values.sum(1), "-", color=color, label=f"degree {degree}: sum", alpha=0.5, linewidth=4)
    (simple, a), (rich, b) = terms.items()
    crossing = sizes[int(np.argmax(b.sum(1) < a.sum(1)))]
    ax.set(xscale="log", yscale="log", xlabel="rows n in a data set", ylabel="squared error")
    ax.set_title(f"Degree {rich} pays from {crossing} rows on")
    ax.set_xticks(sizes, [str(n) for n in sizes])
    ax.minorticks_off()
    ax.legend(fontsize=8, ncols=2)
    return fig, (
        f"With {sizes[0]} rows degree {simple} has error {a[0].sum():.2f} and degree {rich} {b[0].sum():.2f}; "
        f"from {crossing} rows on degree {rich} is better. With {sizes[-1]} rows its error is "
        f"{b[-1].sum():.3f} while degree {simple} keeps a squared bias of {a[-1, 0]:.2f}."
    )

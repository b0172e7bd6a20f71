"""Splines, interpolation and double descent: hinge features, their fits, epicycles, and the figures."""

from collections.abc import Callable
from functools import lru_cache

import matplotlib.pyplot as plt
import numpy as np
from numpy.polynomial.legendre import legvander

from descent.plots import BLACK, BLUE, GREEN, ORANGE, SKY, VERMILION, fixed_axes

N, CUT = 20, 1e-12
COUNTS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 17, 18, 19, 20, 21, 22, 24, 27, 30, 35, 40, 50)
COUNTS += (60, 80, 100, 150, 200, 300, 500, 1000)

# ---------------------------------------------------------------- data and hinge features


def sine(x):
    """The truth of most experiments: one period of a sine on [0, 1]."""
    return np.sin(2 * np.pi * x)


def grid(n: int = N) -> np.ndarray:
    """n equally spaced inputs from 0 to 1, both ends included. (n,)"""
    return np.linspace(0, 1, n)


def noise(seeds: int = 100, n: int = N) -> np.ndarray:
    """Standard normal noise of data sets 0, 1, …: row s comes from generator number s. (seeds, n)"""
    return np.array([np.random.default_rng(seed).normal(size=n) for seed in range(seeds)])


def hinges(x, p: int) -> np.ndarray:
    """max(0, x - b_j) for the knots b_j = j / (p + 1), j = 1 … p, equally spaced in [0, 1] -> (n, p)."""
    return np.maximum(0.0, np.subtract.outer(np.asarray(x, float), np.arange(1, p + 1) / (p + 1)))


def svd_gains(features, steps: int | None = None):
    """U, gains, Vt of centred features (n, p): weights = Vtᵀ gains Uᵀ y, intercept left free.

    steps None: the pseudo-inverse, singular values below CUT times the largest count as 0. Else
    `steps` steps of gradient descent from 0 with rate 1 / (largest singular value)².
    """
    U, s, Vt = np.linalg.svd(features - features.mean(0), full_matrices=False)
    keep = s > CUT * s[0]
    U, s, Vt = U[:, keep], s[keep], Vt[keep]
    if steps is None:
        return U, 1 / s, Vt
    shrunk = -np.expm1(steps * np.log1p(-np.minimum((s / s[0]) ** 2, 1 - 1e-16)))
    return U, shrunk / s, Vt


def fit_operator(x, t, p: int, steps: int | None = None) -> np.ndarray:
    """The matrix A with fit(t) = A y for splines with p knots fitted to data at x -> (len(t), len(x)).

    The intercept is free: gradient descent moves the slope changes, with y and the features centred.
    """
    if p == 0:
        return np.full((len(t), len(x)), 1 / len(x))
    features = hinges(x, p)
    U, gains, Vt = svd_gains(features, steps)
    return 1 / len(x) + (hinges(t, p) - features.mean(0)) @ Vt.T @ (gains[:, None] * U.T)


def excess_errors(counts, sigma: float, seeds: int = 100, n: int = N, steps=None, m: int = 1001):
    """Median over data sets of the mean squared distance to the sine, for each number of knots.

    Data set s: the sine on the grid of n inputs plus sigma times noise number s. m test points.
    """
    x, t = grid(n), np.linspace(0, 1, m)
    y = sine(x) + sigma * noise(seeds, n)
    fits = (y @ fit_operator(x, t, p, steps).T for p in counts)
    return np.array([np.median(np.mean((fit - sine(t)) ** 2, axis=1)) for fit in fits])


def training_errors(x, y, counts) -> np.ndarray:
    """Training error of the least-squares spline for each number of knots. x, y (n,)"""
    return np.array([np.mean((fit_operator(x, x, p) @ y - y) ** 2) for p in counts])


def norms(x, y, p: int) -> float:
    """Squared norm of the slope changes of the minimum-norm fit with p knots."""
    U, gains, _ = svd_gains(hinges(x, p))
    return float(np.sum((gains * (U.T @ y)) ** 2))


def steps_to(X, y, tolerance: float, most: int = 200_000) -> int | None:
    """Gradient steps from 0 at rate 1 / λmax until the mean squared error is at most `tolerance`.

    Nothing is iterated: along singular direction i the residual shrinks by 1 - s_i²/s_1² a step.
    None where `most` steps do not suffice. X (n, d), y (n,).
    """
    U, s, _ = np.linalg.svd(X)
    rates = np.zeros(len(y))
    rates[: len(s)] = (s / s[0]) ** 2
    start = (U.T @ y) ** 2 / len(y)

    def error(t):
        return np.sum(start * (1 - rates) ** (2 * t))

    if error(most) > tolerance:
        return None
    low, high = -1, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if error(middle) <= tolerance else (middle, high)
    return high


def _told(error: float) -> str:
    """An error to two digits; what is only rounding is 0."""
    return "0" if error < 1e-12 else f"{error:.2g}"


def _side_by_side():
    return fixed_axes(2, (9, 3.6), (0.075, 0.985, 0.15, 0.9), wspace=0.25)


def _single():
    return fixed_axes(1, (6.4, 3.8), (0.11, 0.98, 0.14, 0.91))


# ---------------------------------------------------------------- entry


def draw_three_fits(counts=(6, 19, 1000)):
    """One data set, splines with few, about n, and very many knots -> (fig, words)."""
    x, t = grid(), np.linspace(0, 1, 1001)
    y = sine(x) + 0.1 * noise(1)[0]
    fig, axes = plt.subplots(1, len(counts), figsize=(9, 3.2), sharey=True)
    told = []
    for ax, p in zip(axes, counts, strict=True):
        fit = fit_operator(x, t, p) @ y
        train = np.mean((fit_operator(x, x, p) @ y - y) ** 2)
        ax.plot(t, sine(t), "--", color=BLACK, linewidth=1.2, label="truth")
        ax.plot(t, fit, color=VERMILION, label="fit")
        ax.plot(x, y, "o", color=BLUE, markersize=4, label="data")
        ax.set(ylim=(-2.2, 2.2), xlabel="input x", title=f"{p} knots", xticks=[0, 0.5, 1])
        error = np.mean((fit - sine(t)) ** 2)
        told.append(f"{p} knots: training {_told(train)}, distance to the truth {error:.2g}")
    axes[0].set_ylabel("target y")
    axes[0].legend(fontsize=8, loc="lower left")
    return (
        fig,
        f"{len(x)} noisy points and least-squares splines. Mean squared errors: {'; '.join(told)}.",
    )


def wiggly(n: int = 40, seed: int = 3):
    """A data set that no straight line fits -> x, y (n,)."""
    rng = np.random.default_rng(seed)
    x = grid(n)
    return x, np.sin(7 * x) + 0.5 * np.cos(17 * x) + 0.1 * rng.normal(size=n)


def draw_knot_count(p: int):
    """The least-squares spline with p knots on a wiggly data set -> (fig, words)."""
    (x, y), t = wiggly(), np.linspace(0, 1, 401)
    line = np.polyval(np.polyfit(x, y, 1), t)
    fit, at_data = fit_operator(x, t, p) @ y, fit_operator(x, x, p) @ y
    error = np.mean((at_data - y) ** 2)
    fig, ax = _single()
    ax.plot(x, y, "o", color=BLUE, markersize=4, label="data")
    ax.plot(t, line, ":", color=BLACK, label="straight line")
    ax.plot(t, fit, color=VERMILION, label="hinges")
    b = np.arange(1, p + 1) / (p + 1)
    ax.plot(b, np.full(p, -1.95), "|", color=BLACK, markersize=9, label="knots")
    ax.set(xlabel="input x", ylabel="target y", ylim=(-2.1, 1.7))
    ax.set_title(f"{p} knots: mean squared error {error:.3f}")
    ax.legend(fontsize=8, ncols=2, loc="upper right")
    straight = np.mean((np.polyval(np.polyfit(x, y, 1), x) - y) ** 2)
    return fig, (
        f"{p} knots, {p + 1} weights, {len(x)} rows: mean squared training error {error:.3f}. "
        f"A straight line has {straight:.3f}."
    )


# ---------------------------------------------------------------- infinitely many interpolants


POINTS = np.array([0.0, 0.15, 0.4, 0.55, 0.8, 1.0])
VALUES = np.array([0.2, 0.9, 0.3, -0.5, -0.2, 0.6])


def interpolant(xs, ys, c: float, kind: str = "polynomial") -> Callable:
    """A function through all points (xs, ys): an interpolant plus c times the product of (x - x_i).

    kind: "polynomial" (Lagrange), "radial" (Gaussian bumps of width 0.2) or "broken line".
    Raises ValueError where two inputs are equal: one input cannot have two values.
    """
    xs, ys = np.asarray(xs, float), np.asarray(ys, float)
    if len(np.unique(xs)) < len(xs):
        raise ValueError("interpolant: two inputs are equal. One input cannot have two values.")

    def lagrange(x):
        total = np.zeros_like(x)
        for i, y in enumerate(ys):
            others = np.delete(xs, i)
            total += y * np.prod((x[:, None] - others) / (xs[i] - others), axis=1)
        return total

    def bumps(x):
        return np.exp(-((x[:, None] - xs) ** 2) / (2 * 0.2**2))

    base = {
        "polynomial": lagrange,
        "radial": lambda x: bumps(x) @ np.linalg.solve(bumps(xs), ys),
        "broken line": lambda x: np.interp(x, xs, ys),
    }[kind]

    def f(x):
        x = np.atleast_1d(np.asarray(x, float))
        return base(x) + c * np.prod(x[:, None] - xs, axis=1)

    return f


def draw_interpolants(kind: str, c: float):
    """All three interpolants faintly, one of them plus c ∏(x - x_i) -> (fig, words)."""
    t = np.linspace(-0.05, 1.05, 401)
    fig, ax = _single()
    looks = {"polynomial": ":", "radial": "--", "broken line": "-."}
    for name, style in looks.items():
        ax.plot(t, interpolant(POINTS, VALUES, 0, name)(t), style, color=SKY, label=name)
    f = interpolant(POINTS, VALUES, c, kind)
    ax.plot(t, f(t), color=VERMILION, label="yours")
    ax.plot(POINTS, VALUES, "o", color=BLACK, markersize=6, label="data")
    between, error = f(0.9)[0], np.max(np.abs(f(POINTS) - VALUES))
    ax.set(xlabel="input x", ylabel="value", ylim=(-2, 2))
    ax.set_title(f"Through every point; at x = 0.9 it says {between:.2f}")
    ax.legend(fontsize=8, ncols=3, loc="upper center")
    return fig, (
        f"{kind} with c = {c:.0f}: largest error at the {len(POINTS)} data points {error:.1f}, "
        f"value at x = 0.9: {between:.2f}."
    )


# ---------------------------------------------------------------- hinge by hinge


def draw_hinges(beta1: float, beta2: float, beta3: float, fitted: bool):
    """A curve of three hinges, its pieces and their slopes -> (fig, words)."""
    t, b = np.linspace(0, 4, 401), np.array([1.0, 2.0, 3.0])
    x = np.array([0.2, 0.7, 1.2, 1.6, 2.1, 2.5, 2.9, 3.3, 3.8])
    y = np.array([0.5, 0.4, 0.9, 1.2, 1.4, 1.0, 0.6, 0.7, 0.9])
    X = np.column_stack([np.ones(9), np.maximum(0, x[:, None] - b)])
    beta = np.array([y[:2].mean(), beta1, beta2, beta3])
    if fitted:
        beta = np.linalg.lstsq(X, y, rcond=None)[0]
    parts = beta[1:] * np.maximum(0, t[:, None] - b)
    slopes = np.concatenate([[0.0], np.cumsum(beta[1:])])
    fig, (left, right) = _side_by_side()
    looks = zip((BLUE, GREEN, ORANGE), ("--", ":", "-."), strict=True)
    for j, (color, style) in enumerate(looks, 1):
        name = f"β{j} = {beta[j]:.2f} from {b[j - 1]:.0f}"
        left.plot(t, parts[:, j - 1], style, color=color, label=name)
    left.set(xlabel="input x", ylabel="contribution", ylim=(-4, 4), title="Three hinges …")
    left.legend(fontsize=8, loc="upper left")
    right.plot(x, y, "o", color=BLACK, label="data")
    right.plot(t, beta[0] + parts.sum(1), color=VERMILION, label="sum")
    for knot in b:
        right.axvline(knot, color=BLACK, linewidth=0.6, linestyle=":")
    right.set(xlabel="input x", ylabel="target y", ylim=(-1, 3))
    error = np.mean((X @ beta - y) ** 2)
    right.set_title(f"… and their sum: error {error:.3f}")
    right.legend(fontsize=8, loc="upper left")
    return fig, (
        f"Slope changes {beta[1]:.2f}, {beta[2]:.2f}, {beta[3]:.2f}. Slopes of the four pieces: "
        f"{', '.join(f'{s:.2f}' for s in slopes)}. Mean squared error {error:.3f}."
    )


# ---------------------------------------------------------------- memory with and without wiggles


def null_direction(x, p: int) -> np.ndarray:
    """A unit vector that adds nothing at the inputs x: intercept and p slope changes -> (p + 1,).

    Of all such vectors the one that moves the curve between the inputs most, upward where it moves it furthest.
    """
    t = np.linspace(0, 1, 401)
    X, T = (np.column_stack([np.ones(len(at)), hinges(at, p)]) for at in (x, t))
    free = np.linalg.svd(X)[2][len(x) :]
    direction = np.linalg.svd(T @ free.T, full_matrices=False)[2][0] @ free
    moved = T @ direction
    return direction * np.sign(moved[np.argmax(np.abs(moved))])


@lru_cache
def _memory(p: int):
    x = grid(8)
    X = np.column_stack([np.ones(len(x)), hinges(x, p)])
    return x, np.linalg.pinv(X) @ sine(x), null_direction(x, p)


def draw_memory(p: int, scale: float):
    """The minimum-norm interpolant and the one with `scale` of a null-space vector -> (fig, words)."""
    x, beta, direction = _memory(p)
    other, t = beta + scale * direction, np.linspace(0, 1, 601)
    T = np.column_stack([np.ones(len(t)), hinges(t, p)])
    at_data = np.column_stack([np.ones(len(x)), hinges(x, p)]) @ other
    fig, ax = _single()
    ax.plot(t, T @ beta, color=BLUE, label="minimum norm")
    ax.plot(t, T @ other, "--", color=VERMILION, label="plus a null-space vector")
    ax.plot(x, sine(x), "o", color=BLACK, label="data")
    ax.set(xlabel="input x", ylabel="value", ylim=(-3, 3))
    ax.set_title(f"Same memory; norms {np.linalg.norm(beta):.1f} and {np.linalg.norm(other):.1f}")
    ax.legend(fontsize=8)
    return fig, (
        f"{p} knots, {len(x)} points. Largest error at the data: {np.abs(at_data - sine(x)).max():.1f}. "
        f"Norm of the weights {np.linalg.norm(beta):.2f} and {np.linalg.norm(other):.2f}; largest "
        f"distance between the curves {np.abs(T @ (other - beta)).max():.2f}."
    )


def clamped_spline(x, y) -> Callable:
    """The cubic spline through (x, y) with slope 0 at the left end, no curvature at the right."""
    from scipy.interpolate import CubicSpline

    nothing = np.zeros(np.shape(y)[1:])
    return CubicSpline(x, y, bc_type=((1, nothing), (2, nothing)))


def bending(x, curvature) -> float:
    """∫ f''² of a cubic spline with second derivatives `curvature` at the knots x."""
    a, b = curvature[:-1], curvature[1:]
    return float(np.sum(np.diff(x) * (a**2 + a * b + b**2) / 3))


def draw_limit(counts=(50, 100, 200, 500, 1000, 2000, 4000)):
    """The minimum-norm fit tends to a cubic spline, its norm to the bending -> (fig, words)."""
    x, t = grid(), np.linspace(0, 1, 1001)
    spline = clamped_spline(x, sine(x))
    gaps = [np.abs(fit_operator(x, t, p) @ sine(x) - spline(t)).max() for p in counts]
    energy = [(p + 1) * norms(x, sine(x), p) for p in counts]
    limit = bending(x, spline(x, 2))
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    left.plot(counts, gaps, "o-", color=BLUE, label="distance")
    left.plot(counts, gaps[-1] * counts[-1] / np.array(counts), ":", color=BLACK, label="slope -1")
    left.set(xscale="log", yscale="log", xlabel="knots p", ylabel="largest distance to the spline")
    left.set_title("Toward a cubic spline, like 1/p")
    left.legend()
    right.plot(counts, energy, "s-", color=VERMILION, label="(p + 1) ‖β‖²")
    right.axhline(limit, color=BLACK, linestyle="--", label="∫ f″² of the spline")
    right.set(xscale="log", xlabel="knots p", ylabel="bending", ylim=(0, None))
    right.set_title("The norm becomes bending")
    right.legend()
    return fig, (
        f"Largest distance between the minimum-norm fit and the cubic spline: {gaps[0]:.2g} at "
        f"{counts[0]} knots, {gaps[-1]:.2g} at {counts[-1]}. (p + 1) times the squared norm falls from "
        f"{energy[0]:.0f} to {energy[-1]:.0f}; the spline's bending is {limit:.0f}."
    )


def conditioning(counts):
    """Condition number of XᵀX (nonzero part) and steps to error 0.01 on the sine, X = [1, hinges] -> lists."""
    x, numbers, steps = grid(), [], []
    for p in counts:
        X = np.column_stack([np.ones(N), hinges(x, p)])
        s = np.linalg.svd(X, compute_uv=False)
        numbers.append((s[0] / s[-1]) ** 2)
        steps.append(steps_to(X, sine(x), 0.01))
    return numbers, steps


def draw_conditioning(counts=(10, 12, 14, 16, 17, 18, 19, 20, 21, 22, 25, 30, 40, 60, 100, 200)):
    """Condition number and number of gradient steps against the number of knots -> (fig, words)."""
    numbers, steps = conditioning(counts)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    left.plot(counts, numbers, "o-", color=BLUE)
    left.set(xscale="log", yscale="log", xlabel="knots p", ylabel="condition number of XᵀX")
    worst = int(np.argmax(numbers))
    left.set_title(f"{numbers[worst]:.0e} at p = {counts[worst]}")
    right.plot(counts, steps, "s-", color=VERMILION)
    right.set(xscale="log", yscale="log", xlabel="knots p", ylabel="gradient steps to error 0.01")
    right.set_title("More knots, fewer steps; no peak")
    for ax in (left, right):
        ax.axvline(N - 1, color=BLACK, linewidth=6, alpha=0.12)
        ax.set_xticks([10, 20, 40, 100, 200], ["10", "20", "40", "100", "200"])
        ax.minorticks_off()
    right.set_yticks([1000, 2000, 5000], ["1000", "2000", "5000"])
    return fig, (
        f"The condition number peaks at {numbers[worst]:.0e}, with {counts[worst]} knots, and is "
        f"{numbers[-1]:.0e} with {counts[-1]}. Steps to training error 0.01: {steps[0]} with {counts[0]} "
        f"knots, {steps[worst]} with {counts[worst]}, {steps[-1]} with {counts[-1]}."
    )


# ---------------------------------------------------------------- double descent


def draw_curves(sigmas=(0.0, 0.1, 0.3), counts=COUNTS[1:], seeds=100):
    """Median training and excess error against the number of knots, three noise levels -> (fig, words)."""
    x, told, met = grid(), [], []
    fig, axes = plt.subplots(1, len(sigmas), figsize=(9.6, 3.7), sharey=True)
    for ax, sigma in zip(axes, sigmas, strict=True):
        excess = excess_errors(counts, sigma, seeds)
        y = sine(x) + sigma * noise(seeds)
        train = [np.median(np.mean((y @ fit_operator(x, x, p).T - y) ** 2, axis=1)) for p in counts]
        met.append(counts[int(np.argmax(np.array(train) < 1e-9))])
        shown = np.maximum(train, 1e-7)
        ax.plot(counts, shown, "s:", color=BLUE, markersize=3, label="training (0 at the edge)")
        ax.plot(counts, excess, "o-", color=VERMILION, markersize=3, label="excess test error")
        classical = int(np.argmin(excess[: counts.index(N - 1)]))
        ax.axhline(excess[classical], color=BLACK, linestyle="--", linewidth=1)
        ax.axvline(N - 1, color=BLACK, linewidth=6, alpha=0.12)
        ax.set(xscale="log", yscale="log", xlabel="knots p", ylim=(5e-8, 1e11))
        ax.set_title(f"σ = {sigma:g}: {excess[classical]:#.2g}, then {excess[-1]:#.2g}")
        told.append(
            f"noise {sigma}: lowest left of the peak {excess[classical]:.2g} at p = {counts[classical]}, "
            f"highest at p = {counts[int(excess.argmax())]}, {excess[-1]:.2g} at p = {counts[-1]}"
        )
    axes[0].set_ylabel("mean squared error (median)")
    axes[-1].legend(fontsize=8, loc="upper right")
    return (
        fig,
        f"Medians over {seeds} data sets. {'; '.join(told)}. Training error 0 from p = {max(met)} on.",
    )


@lru_cache(maxsize=64)
def _operators(inputs: str, steps: int | None):
    """Inputs ("grid" or "random"), test points, and the operators of all COUNTS at both."""
    x = grid() if inputs == "grid" else np.sort(np.random.default_rng(0).random(N))
    t = np.linspace(0, 1, 301)
    return x, t, [fit_operator(x, np.concatenate([x, t]), p, steps) for p in COUNTS]


def double_descent_at(p: int, sigma: float, inputs: str, steps: int | None):
    """One data set: the curve with p knots, and the errors for every number of knots in COUNTS -> dict."""
    x, t, operators = _operators(inputs, steps)
    y = sine(x) + sigma * noise(1)[0]
    fits = np.array([A @ y for A in operators])
    train = np.mean((fits[:, :N] - y) ** 2, axis=1)
    excess = np.mean((fits[:, N:] - sine(t)) ** 2, axis=1)
    at = COUNTS.index(p)
    return dict(x=x, y=y, t=t, fit=fits[at, N:], train=train, excess=excess, at=at)


def draw_explorer(p: int, sigma: float, inputs: str, steps: int):
    """The fitted curve with p knots, and where it stands on the double descent curve -> (fig, words).

    steps: of gradient descent; 0 stands for the pseudo-inverse.
    """
    steps = steps or None
    r = double_descent_at(p, sigma, inputs, steps)
    at, train, excess = r["at"], r["train"], r["excess"]
    fig, (left, right) = _side_by_side()
    left.plot(r["t"], sine(r["t"]), "--", color=BLACK, linewidth=1.2, label="truth")
    left.plot(r["t"], r["fit"], color=VERMILION, label="fit")
    left.plot(r["x"], r["y"], "o", color=BLUE, markersize=4, label="data")
    if p <= 100:
        left.plot(np.arange(1, p + 1) / (p + 1), np.full(p, -2.4), "|", color=BLACK, markersize=7)
    left.set(xlabel="input x", ylabel="target y", ylim=(-2.6, 2.6), title=f"{p} knots")
    left.legend(fontsize=8, loc="upper right", frameon=True)
    shown = np.array(COUNTS) + 1
    floor = np.maximum(train, 1e-6)
    right.plot(shown, floor, "s:", color=BLUE, markersize=3, label="training (0 at the edge)")
    right.plot(shown, excess, "o-", color=VERMILION, markersize=3, label="excess test error")
    right.axvline(N, color=BLACK, linewidth=6, alpha=0.12)
    right.plot(p + 1, excess[at], "*", color=BLACK, markersize=13)
    right.set(xscale="log", yscale="log", ylim=(5e-7, 1e8), xlabel="weights p + 1")
    right.set_ylabel("mean squared error")
    right.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
    right.set_yticks([1e-6, 1e-3, 1, 1e3, 1e6])
    right.minorticks_off()
    peak, best = COUNTS[int(excess.argmax())], COUNTS[int(excess.argmin())]
    right.set_title(f"Highest at p = {peak}, lowest at p = {best}")
    right.legend(fontsize=8, loc="upper right")
    method = "minimum norm" if steps is None else f"{steps} gradient steps"
    return fig, (
        f"{p} knots, {inputs} inputs, noise {sigma:.2f}, {method}: training error {_told(train[at])}, "
        f"excess test error {excess[at]:.2g}. Over all p the excess error is highest, "
        f"{excess.max():.2g}, at p = {peak} and lowest, {excess.min():.2g}, at p = {best}."
    )


def draw_stopped(steps=(100, 10_000, 1_000_000)):
    """The peak of the minimum norm, and what few gradient steps leave of it -> (fig, words)."""
    counts, told = [p for p in COUNTS if p >= 4], []
    fig, ax = plt.subplots(figsize=(7, 4))
    looks = zip(
        (None, *steps[::-1]), ("-", "--", "-.", ":"), (VERMILION, ORANGE, GREEN, BLUE), strict=True
    )
    for stop, style, color in looks:
        excess = excess_errors(counts, 0.1, 40, steps=stop, m=401)
        name = "minimum norm" if stop is None else f"{stop:,} steps".replace(",", " ")
        ax.plot(counts, excess, style, color=color, label=name)
        told.append(f"{name} {excess[counts.index(N - 1)]:.2g}")
    ax.axvline(N - 1, color=BLACK, linewidth=6, alpha=0.12)
    ax.set(xscale="log", yscale="log", xlabel="knots p", ylabel="excess test error (median)")
    ax.set(title="Stopped early: no peak", ylim=(3e-3, 1e8))
    ax.legend(fontsize=8)
    return fig, f"Excess error at p = {N - 1}, noise 0.1: {', '.join(told)}."


def draw_threshold(possible, counts):
    """How often random inputs can be interpolated, by the number of knots -> (fig, words).

    possible: share of samples for each of `counts`.
    """
    fig, ax = plt.subplots(figsize=(7, 4))
    ax.plot(counts, possible, "o-", color=BLUE, label="random inputs")
    ax.plot([counts[0], N - 2, N - 1, counts[-1]], [0, 0, 1, 1], "--", color=BLACK, label="grid")
    ax.axhline(0.5, color=BLACK, linewidth=0.6, linestyle=":")
    half = counts[int(np.argmax(np.array(possible) >= 0.5))]
    ax.set(xlabel="knots p", ylabel="share that can be interpolated", ylim=(-0.03, 1.05))
    ax.set_title(f"Random inputs: half can from p = {half}")
    ax.legend(loc="lower right")
    return (
        fig,
        f"Half of the random samples can be interpolated from p = {half} on, grids from {N - 1}.",
    )


# ---------------------------------------------------------------- orthogonal polynomials


def legendre_curve(counts, truth, sets=40, scaled=False, ridge=0.0):
    """Median excess error and median norm of minimum-norm fits in `p` Legendre polynomials -> two arrays.

    20 uniform inputs on [-1, 1], noise 0.3. scaled: P_k is multiplied by sqrt(2k + 1), so that all have the same size.
    """
    t, errors, sizes = np.linspace(-1, 1, 201), [], []
    most = max(counts)
    weights = np.sqrt(2 * np.arange(most) + 1) if scaled else np.ones(most)
    new = legvander(t, most - 1) * weights
    for seed in range(sets):
        rng = np.random.default_rng(seed)
        x = rng.uniform(-1, 1, N)
        y = truth(x) + 0.3 * rng.normal(size=N)
        features, row = legvander(x, most - 1) * weights, []
        for p in counts:
            U, s, Vt = np.linalg.svd(features[:, :p], full_matrices=False)
            keep = s > 1e-15 * s[0]
            w = Vt.T @ (np.where(keep, s / (s**2 + ridge), 0) * (U.T @ y))
            row.append((np.mean((new[:, :p] @ w - truth(t)) ** 2), np.linalg.norm(w)))
        errors.append([e for e, _ in row])
        sizes.append([size for _, size in row])
    return np.median(errors, axis=0), np.median(sizes, axis=0)


DEGREES = (2, 4, 5, 8, 12, 16, 18, 19, 20, 21, 22, 25, 30, 40, 60, 100, 200, 500, 1000)


def draw_legendre(truth, counts=DEGREES):
    """Minimum norm in two scalings of one basis, and ridge -> (fig, words)."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.7))
    looks = {
        "Legendre": (dict(), VERMILION, "o-"),
        "Legendre, all scaled alike": (dict(scaled=True), BLUE, "s--"),
        "Legendre, ridge 0.3": (dict(ridge=0.3), GREEN, "^:"),
    }
    told = []
    for name, (options, color, style) in looks.items():
        errors, sizes = legendre_curve(counts, truth, **options)
        left.plot(counts, errors, style, color=color, markersize=3, label=name)
        right.plot(counts, sizes, style, color=color, markersize=3, label=name)
        at = {p: errors[counts.index(p)] for p in (5, 20, 60, 1000)}
        told.append(f"{name}: " + ", ".join(f"{v:.1g} at {p}" for p, v in at.items()))
    zero = np.mean(truth(np.linspace(-1, 1, 201)) ** 2)
    left.axhline(zero, color=BLACK, linewidth=1, linestyle="--", label="the function 0")
    for ax in (left, right):
        ax.axvline(N, color=BLACK, linewidth=6, alpha=0.12)
        ax.set(xscale="log", yscale="log", xlabel="parameters p")
    left.set(ylabel="excess test error (median)", title="One space, three biases")
    left.legend(fontsize=8)
    right.set(ylabel="norm of the weights (median)", title="The norm peaks with the error")
    return fig, (
        f"Median excess test error by number of parameters. {'; '.join(told)}. "
        f"The function 0 has {zero:.2g}."
    )


# ---------------------------------------------------------------- benign, tempered, catastrophic


def spline_excess(n: int) -> float:
    """Mean excess error of the limiting cubic spline through pure noise of variance 1 on the grid of n."""
    weights = clamped_spline(grid(n), np.eye(n))(np.linspace(0, 1, 4001))
    return float(np.mean(np.sum(weights**2, axis=1)))


def gaussian_excess(eigenvalues, n: int, sets: int) -> float:
    """Median excess error of minimum-norm least squares on n rows of Gaussian features, noise variance 1.

    Features are independent with variances `eigenvalues` (d,); the true weight vector is the first axis.
    Averaged over the noise exactly: bias² + tr(K⁻¹ X Σ Xᵀ K⁻¹) with K = X Xᵀ.
    """
    rng, values = np.random.default_rng(0), []
    for _ in range(sets):
        X = rng.normal(size=(n, len(eigenvalues))) * np.sqrt(eigenvalues)
        inverse = np.linalg.inv(X @ X.T)
        bias = X.T @ (inverse @ X[:, 0])
        bias[0] -= 1
        variance = np.sum(inverse * (inverse @ (X * eigenvalues) @ X.T).T)
        values.append(np.sum(eigenvalues * bias**2) + variance)
    return float(np.median(values))


def spiked(n: int) -> np.ndarray:
    """Five directions of variance 1 and a flat tail of n²/4 directions with total variance 1."""
    tail = n * n // 4
    return np.concatenate([np.ones(5), np.full(tail, 1 / tail)])


SPECTRA = {
    "flat tail": spiked,
    "λ = 1/i²": lambda n: np.arange(1.0, 10 * n + 1) ** -2,
    "λ = exp(-i/20)": lambda n: np.exp(-np.arange(1.0, 4 * n + 1) / 20),
}


def draw_benign(sizes=(20, 40, 80, 160), sets=5):
    """Excess error of interpolators against the number of rows -> (fig, words)."""
    curves = {"1-D spline": [spline_excess(n) for n in sizes]}
    for name, spectrum in SPECTRA.items():
        # The fast spectrum is numerically singular beyond 80 rows.
        used = [n for n in sizes if "exp" not in name or n <= 80]
        curves[name] = [gaussian_excess(spectrum(n), n, sets) for n in used]
    fig, ax = plt.subplots(figsize=(7, 4))
    looks = zip(("o-", "s--", "^-.", "v:"), (BLUE, GREEN, ORANGE, VERMILION), strict=True)
    for (name, values), (style, color) in zip(curves.items(), looks, strict=True):
        ax.plot(sizes[: len(values)], values, style, color=color, label=name)
    rate = curves["1-D spline"][0] * np.sqrt(np.log(sizes) / sizes * sizes[0] / np.log(sizes[0]))
    ax.plot(sizes, rate**2 / rate[0], color=BLACK, linewidth=1, label="σ² log n / n (printed)")
    ax.set(xscale="log", yscale="log", xlabel="rows n", ylabel="excess test error / σ²")
    ax.set_title("All interpolate noise; one is benign")
    ax.set_xticks(sizes, [str(n) for n in sizes])
    ax.set_yticks([0.05, 0.1, 0.2, 0.5, 1, 2, 5], ["0.05", "0.1", "0.2", "0.5", "1", "2", "5"])
    ax.minorticks_off()
    ax.legend(fontsize=8, loc="lower left")
    told = "; ".join(
        f"{name}: {values[0]:.2g} at {sizes[0]} rows, {values[-1]:.2g} at {sizes[len(values) - 1]}"
        for name, values in curves.items()
    )
    return fig, f"Excess error of interpolators over the noise variance. {told}."


# ---------------------------------------------------------------- is a relation linear?


def linearity_gap(x, y, k: int = 5) -> tuple[float, float]:
    """How much more variance a cubic smoothing spline explains than a line -> (training rows, held out).

    The spline's smoothness is chosen by generalised cross-validation on the rows it is fitted to.
    Held out: k folds of every k-th row. x (n,) distinct, y (n,).
    """
    order = np.argsort(x)
    x, y = np.asarray(x)[order], np.asarray(y)[order]
    own, held = _line_and_spline(x, y, x, y), np.zeros(2)
    for fold in range(k):
        out = np.arange(len(x)) % k == fold
        held += _line_and_spline(x[~out], y[~out], x[out], y[out])
    total = np.sum((y - y.mean()) ** 2)
    return (own[0] - own[1]) / total, (held[0] - held[1]) / total


def _line_and_spline(x, y, new_x, new_y):
    line = np.polyval(np.polyfit(x, y, 1), new_x)
    return np.array([np.sum((new_y - fit) ** 2) for fit in (line, smoothing_spline(x, y)(new_x))])


def smoothing_spline(x, y, penalty: float | None = None) -> Callable:
    """The natural cubic spline that minimises Σ (y - f)² + penalty ∫ f''². x (n,) increasing, y (n,).

    penalty None: the one of 40 values that generalised cross-validation, RSS / (n - trace)², finds best.
    Beyond the data the spline goes straight on.
    """
    from scipy.interpolate import CubicSpline

    h, n = np.diff(x), len(x)
    Q = np.zeros((n, n - 2))  # second differences: Qᵀ f
    inner = np.arange(n - 2)
    Q[inner, inner], Q[inner + 2, inner] = 1 / h[:-1], 1 / h[1:]
    Q[inner + 1, inner] = -1 / h[:-1] - 1 / h[1:]
    R = np.diag((h[:-1] + h[1:]) / 3) + np.diag(h[1:-1] / 6, 1) + np.diag(h[1:-1] / 6, -1)
    # Reinsch: f = y - penalty Q (R + penalty QᵀQ)⁻¹ Qᵀ y, here for all penalties at once.
    tried = np.array([penalty]) if penalty else np.geomspace(1e-7, 1e2, 40) * np.ptp(x) ** 3
    squares = Q.T @ Q
    right = np.column_stack([squares, Q.T @ y])
    solved = tried[:, None, None] * np.linalg.solve(R + tried[:, None, None] * squares, right)
    residuals = solved[:, :, -1] @ Q.T
    lost = np.trace(solved[:, :, :-1], axis1=1, axis2=2)  # n minus the effective number of weights
    fit = y - residuals[int(np.argmin(np.sum(residuals**2, axis=1) / lost**2))]
    spline = CubicSpline(x, fit, bc_type="natural")
    ends = [(x[0], fit[0], spline(x[0], 1)), (x[-1], fit[-1], spline(x[-1], 1))]

    def f(new):
        new = np.asarray(new, float)
        (a, fa, da), (b, fb, db) = ends
        inside = spline(np.clip(new, a, b))
        return inside + da * np.minimum(new - a, 0) + db * np.maximum(new - b, 0)

    return f


def draw_linearity(bends=(0.0, 0.25, 0.5, 1.0), sets=15, n=60):
    """The gap between spline and line for more and more curved truths -> (fig, words)."""
    gaps = np.zeros((len(bends), sets, 2))
    for i, bend in enumerate(bends):
        for s in range(sets):
            rng = np.random.default_rng(s)
            x = np.sort(rng.uniform(-1, 1, n))
            y = x + bend * np.sin(3 * np.pi * x) + 0.4 * rng.normal(size=n)
            gaps[i, s] = linearity_gap(x, y)
    fig, ax = plt.subplots()
    places = np.arange(len(bends))
    looks = (("training rows", "s", BLUE), ("held-out rows", "o", VERMILION))
    for column, (name, marker, color) in enumerate(looks):
        at, values = places + 0.16 * (2 * column - 1), gaps[:, :, column]
        dots = at[:, None] + np.linspace(-0.06, 0.06, sets)
        ax.plot(dots.ravel(), values.ravel(), marker, color=color, markersize=3, alpha=0.4)
        large = dict(color=color, markersize=9, mfc="white", label=f"{name} (large: median)")
        ax.plot(at, np.median(values, axis=1), marker, **large)
    ax.axhline(0, color=BLACK, linewidth=1)
    ax.set_xticks(places, [f"{b:g}" for b in bends])
    ax.set(xlabel="amplitude of the curved part", ylabel="R² of the spline - R² of the line")
    ax.set_title("On its training rows the spline never loses")
    ax.legend(fontsize=9)
    middle = np.median(gaps, axis=1)
    return fig, (
        f"Median gap for a true line: {middle[0, 0]:.2f} on training rows, {middle[0, 1]:.2f} held out. "
        f"For the most curved truth {middle[-1, 0]:.2f} and {middle[-1, 1]:.2f}."
    )


# ---------------------------------------------------------------- learned knots, deep pieces


def train_knots(x, y, steps=2000, learn=True):
    """Train s(x) = c + Σ v_j max(0, w_j x + u_j), 12 units, by Adam on the mean squared error -> (losses, knots).

    Starts from the least-squares fit with equally spaced knots -u_j / w_j and w_j = 1. learn=False holds w and u.
    losses (steps + 1,), knots (steps + 1, 12).
    """
    width, rate = 12, 0.005
    A = np.column_stack([hinges(x, width), np.ones(len(x))])
    output = np.linalg.lstsq(A, y, rcond=None)[0]
    theta = np.concatenate([np.ones(width), -np.arange(1, width + 1) / (width + 1), output])
    free = np.concatenate([np.full(2 * width, float(learn)), np.ones(width + 1)])
    m = v = np.zeros_like(theta)
    losses, knots = [], []
    for step in range(1, steps + 2):
        w, u, out, c = theta[:width], theta[width : 2 * width], theta[2 * width : -1], theta[-1]
        z = np.outer(x, w) + u
        h = np.maximum(z, 0)
        e = h @ out + c - y
        losses.append(np.mean(e**2))
        knots.append(-u / w)
        back = 2 / len(x) * e[:, None] * out * (z > 0)
        g = np.concatenate([x @ back, back.sum(0), 2 / len(x) * e @ h, [2 * e.mean()]])
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        move = m / (1 - 0.9**step) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
        theta = theta - rate * free * move
    return np.array(losses), np.array(knots)


TOOTH = (0.5, 0.6, 0.7)


def tooth(x):
    """Flat, but for a tooth that rises from 0.5 to 0.6 and falls to 0.7: most spread knots are wasted on it."""
    return np.interp(x, [0, *TOOTH, 1], [0, 0, 1, 0, 0])


def draw_learned_knots(losses, knots):
    """Knots that stay, and those that learned by `train_knots` -> (fig, words)."""
    x, t = np.linspace(0, 1, 101), np.linspace(0, 1, 401)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    fit, ticks = fit_operator(x, t, knots.shape[1]) @ tooth(x), np.full(knots.shape[1], -0.25)
    left.plot(t, tooth(t), color=SKY, linewidth=5, label="truth")
    left.plot(t, fit, color=VERMILION, label="fixed knots")
    left.plot(knots[0], ticks, "|", color=BLACK, markersize=9, label="knots")
    left.set(xlabel="input x", ylabel="value", ylim=(-0.35, 1.1))
    left.set_title("Spread knots miss the corners")
    left.legend(fontsize=8, loc="upper left")
    for corner in TOOTH:
        right.axhline(corner, color=SKY, linewidth=5)
    right.plot(knots, color=BLACK, linewidth=1)
    right.set(xlabel="training step", ylabel="knots -u/w", ylim=(-0.1, 1.1))
    right.set_title("Learned knots find them")
    near = [np.abs(knots[-1] - corner).min() < 0.02 for corner in TOOTH]
    return fig, (
        f"Training the knots too brings the error {'far ' if losses[-1] < losses[0] / 10 else ''}below that of "
        f"fixed knots; {'all' if all(near) else 'not all'} three corners of the truth end with a knot on them."
    )


def count_pieces(f: Callable) -> int:
    """Number of linear pieces of f on [0, 1], for kinks at multiples of 1/4096."""
    slopes = np.diff(f(np.linspace(0, 1, 4097))) * 4096
    return 1 + int(np.sum(np.abs(np.diff(slopes)) > 1e-6))


# ---------------------------------------------------------------- extrapolation and epicycles


def draw_extrapolation():
    """A swinging weight seen for a while: the spline and the law beyond the data -> (fig, words)."""
    x, t = grid(), np.linspace(-0.4, 2, 481)

    def truth(time): return np.cos(5 * time - 0.6)  # fmt: skip

    y = truth(x) + 0.05 * noise(1)[0]
    spline = fit_operator(x, t, 1000) @ y

    def law(omega):
        """x'' = -ω² x: a cosine and a sine."""
        X = np.column_stack([np.cos(omega * x), np.sin(omega * x)])
        return np.linalg.lstsq(X, y, rcond=None)[0]

    def misfit(omega):
        a, b = law(omega)
        return np.sum((a * np.cos(omega * x) + b * np.sin(omega * x) - y) ** 2)

    omegas = np.linspace(1, 12, 1101)
    omega = omegas[int(np.argmin([misfit(w) for w in omegas]))]
    a, b = law(omega)
    lawful = a * np.cos(omega * t) + b * np.sin(omega * t)
    fig, ax = plt.subplots(figsize=(7.4, 3.8))
    ax.axvspan(0, 1, color=BLACK, alpha=0.07)
    ax.plot(t, truth(t), "--", color=BLACK, linewidth=1.2, label="truth")
    ax.plot(t, lawful, ":", color=GREEN, linewidth=3, label="law, 3 numbers")
    ax.plot(t, spline, color=VERMILION, label="spline, 1001 numbers")
    ax.plot(x, y, "o", color=BLUE, markersize=4, label="data")
    ax.set(xlabel="time (s)", ylabel="position (m)", ylim=(-3, 3))
    ax.set_title("Inside both are right; outside only the law")
    ax.legend(fontsize=8, ncols=2, loc="lower left")
    inside, beyond = (t >= 0) & (t <= 1), t > 1
    told = [
        f"{name}: {np.sqrt(np.mean((fit[inside] - truth(t[inside])) ** 2)):.2f} inside, "
        f"{np.sqrt(np.mean((fit[beyond] - truth(t[beyond])) ** 2)):.1f} in the second after"
        for name, fit in (("spline", spline), ("law", lawful))
    ]
    return (
        fig,
        f"Root mean squared errors, {'; '.join(told)}. Fitted frequency {omega:.1f} (true 5.0).",
    )


def elephant(m: int = 100) -> np.ndarray:
    """Outline of an elephant, a closed curve of m points (m, 2): frequencies up to 5, few parameters.

    Source: Mayer, Khairy and Howard, Drawing an elephant with four complex parameters,
    American Journal of Physics 78, 648 (2010).
    """
    t = 2 * np.pi * np.arange(m) / m
    x = 50 * np.sin(t) + 18 * np.sin(2 * t) + 12 * np.cos(3 * t) - 14 * np.cos(5 * t)
    y = -60 * np.cos(t) - 30 * np.sin(t) + 8 * np.sin(2 * t) - 10 * np.sin(3 * t)
    return np.column_stack([y, -x])


def epicycle_explorer(epicycle_fit: Callable) -> Callable:
    """-> draw(N, moment): the curve that `epicycle_fit` draws with N circles, and the arms at a moment in turns."""

    def draw(N: int, moment: float):
        points = elephant()
        curve = np.asarray(epicycle_fit(points, N))
        error = np.sqrt(np.mean(np.sum((curve - points) ** 2, axis=1)))
        centres = circles(points, N, moment)
        fig, ax = fixed_axes(1, (5.4, 4.6), (0.13, 0.97, 0.12, 0.92))
        ax.plot(*np.vstack([points, points[:1]]).T, ":", color=BLACK, label="outline")
        ax.plot(*np.vstack([curve, curve[:1]]).T, color=VERMILION, label=f"{N} circles")
        ax.plot(
            centres.real, centres.imag, "o-", color=BLUE, markersize=3, linewidth=1, label="arm"
        )
        for centre, step in zip(centres[:-1], np.abs(np.diff(centres)), strict=True):
            ax.add_patch(plt.Circle((centre.real, centre.imag), step, fill=False, color=SKY))
        ax.set(xlabel="x", ylabel="y", xlim=(-110, 110), ylim=(-100, 100), aspect="equal")
        ax.set_title(f"{N} circles: distance {error:.1f}")
        ax.legend(fontsize=8, loc="lower right")
        return fig, f"{N} circles: root mean squared distance to the outline {error:.2f}."

    return draw


def circles(points, N: int, moment: float) -> np.ndarray:
    """Centres of the N circles at time `moment` (in turns), the drawing pen last -> (N + 1,) complex."""
    z = points[:, 0] + 1j * points[:, 1]
    k = np.array([0, *(sign * f for f in range(1, len(z)) for sign in (1, -1))])[:N]
    c = np.exp(-2j * np.pi * np.outer(k, np.arange(len(z))) / len(z)) @ z / len(z)
    return np.concatenate([[0], np.cumsum(c * np.exp(2j * np.pi * k * moment))])


# ---------------------------------------------------------------- real data


def digits_curve(pixels, labels, counts, n=200, seed=0):
    """Random ReLU features on images: share of mistakes on training and test rows -> dict of arrays.

    Least squares on one-hot labels, minimum norm and ridge with penalty 1. A tenth of the n training
    labels is replaced at random.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(labels))
    train, test = order[:n], order[n:]
    W = rng.normal(size=(pixels.shape[1], max(counts))) / np.sqrt(pixels.shape[1])
    H = np.maximum(0, (pixels - pixels[train].mean(0)) @ W)
    given = labels[train].copy()
    changed = rng.random(n) < 0.1
    given[changed] = rng.integers(0, 10, changed.sum())
    target, result = np.eye(10)[given], {name: [] for name in ("train", "minimum norm", "ridge")}
    for p in counts:
        U, s, Vt = np.linalg.svd(H[train, :p], full_matrices=False)
        keep = s > 1e-10 * s[0]
        for name, penalty in (("minimum norm", 0.0), ("ridge", 1.0)):
            gains = np.where(keep, s / (s**2 + penalty), 0)
            scores = H[:, :p] @ (Vt.T @ (gains[:, None] * (U.T @ target)))
            wrong = scores.argmax(1)
            result[name].append(np.mean(wrong[test] != labels[test]))
            if name == "minimum norm":
                result["train"].append(np.mean(wrong[train] != given))
    return {name: np.array(values) for name, values in result.items()}


WIDTHS = (10, 20, 40, 80, 120, 160, 190, 200, 210, 250, 300, 500, 1000, 2000, 3000)


def draw_digits(pixels, labels, counts=WIDTHS, seeds=2):
    """Double descent in random features on the digits -> (fig, words)."""
    runs = [digits_curve(pixels, labels, counts, seed=seed) for seed in range(seeds)]
    mean = {name: np.mean([run[name] for run in runs], axis=0) for name in runs[0]}
    fig, ax = plt.subplots(figsize=(7, 4))
    for (name, values), style, color in zip(
        mean.items(), ("s:", "o-", "^--"), (BLUE, VERMILION, GREEN), strict=True
    ):
        label = "training, minimum norm" if name == "train" else f"test, {name}"
        ax.plot(counts, values, style, color=color, label=label)
    ax.axvline(200, color=BLACK, linewidth=6, alpha=0.12)
    ax.set(xscale="log", xlabel="random features p", ylabel="share of mistakes", ylim=(-0.02, 1))
    free, held = mean["minimum norm"], mean["ridge"]
    left = int(np.argmin(free[: counts.index(200)]))
    ax.set_title(f"200 digits: the peak is at p = {counts[int(free.argmax())]}")
    ax.legend(fontsize=9)
    return fig, (
        f"Share of mistakes on test digits, minimum norm: {free[left]:.2f} with {counts[left]} features, "
        f"{free.max():.2f} with {counts[int(free.argmax())]}, {free[-1]:.2f} with {counts[-1]}. "
        f"With ridge it is at best {held.min():.2f} and has no peak."
    )

"""Splines, interpolation and double descent: hinge features, their fits, epicycles, and the figures."""

from collections.abc import Callable
from functools import lru_cache

import matplotlib.pyplot as plt
import numpy as np
from numpy.polynomial.legendre import legvander

from descent.plots import BLACK, BLUE, GREEN, SKY, VERMILION, fixed_axes
from descent.words import say

N, CUT = 20, 1e-12
COUNTS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 17, 18, 19, 20, 21, 22, 24, 27, 30, 35, 40, 50)
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


def rows(sigma: float):
    """The twenty measurements of the first screen, with noise of that standard deviation -> x, y (20,)."""
    return grid(), sine(grid()) + sigma * noise(8)[7]


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


@lru_cache
def _bias_and_variance(counts, steps, m):
    x, t, found = grid(), np.linspace(0, 1, m), []
    for p in counts:
        A = fit_operator(x, np.concatenate([x, t]), p, steps)
        there, here = A[N:], A[:N] - np.eye(N)
        found.append(
            [
                [np.mean((here @ sine(x)) ** 2), np.mean(np.sum(here**2, axis=1))],
                [np.mean((there @ sine(x) - sine(t)) ** 2), np.mean(np.sum(there**2, axis=1))],
            ]
        )
    return np.array(found).transpose(1, 2, 0)


def expected_errors(counts, sigma: float, steps: int | None = None, m: int = 401):
    """Training error and excess test error on the grid, averaged over all noise -> two arrays (len(counts),).

    Exact: the fit is A y, so the mean squared distance to the truth is that of A f plus sigma² Σ A².
    """
    (b0, v0), (b1, v1) = _bias_and_variance(tuple(counts), steps, m)
    return b0 + sigma**2 * v0, b1 + sigma**2 * v1


def bending_of(x, y, p: int) -> float:
    """(p + 1) Σ β² of the minimum-norm fit with p knots."""
    U, gains, _ = svd_gains(hinges(x, p))
    return float((p + 1) * np.sum((gains * (U.T @ y)) ** 2))


def _counted(number: int, thing: str) -> str:
    """1 knot, 1,000 knots."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _mark_threshold(ax):
    ax.axvline(N - 1, color=BLACK, linewidth=6, alpha=0.12)


# ---------------------------------------------------------------- the opening and the explorer


def _draw_fit(ax, x, y, t, fit):
    ax.plot(t, sine(t), "--", color=BLACK, linewidth=1.2, label="truth")
    ax.plot(t, fit, color=VERMILION, label="fit")
    ax.plot(x, y, "o", color=BLUE, markersize=4, label="measured")
    ax.set(xlabel="input x", ylim=(-2.4, 2.4), xticks=[0, 0.5, 1])


def draw_opening(counts=(6, 19, 1000)):
    """One data set, splines with few, about n, and very many knots -> (fig, words)."""
    (x, y), t = rows(0.3), np.linspace(0, 1, 1001)
    fig, axes = plt.subplots(1, len(counts), figsize=(9, 3.2), sharey=True)
    far = []
    for ax, p in zip(axes, counts, strict=True):
        fit = fit_operator(x, t, p) @ y
        far.append(np.mean((fit - sine(t)) ** 2))
        _draw_fit(ax, x, y, t, fit)
        ax.set_title(f"{_counted(p, 'knot')}: {far[-1]:.2g} off", fontsize=11)
    axes[0].set_ylabel("target y")
    axes[0].legend(fontsize=8, loc="lower left")
    return fig, say(
        "{n} measurements of a sine, three least-squares curves. Mean squared distance from the truth: "
        "{told:; }.",
        n=len(x),
        told=[f"{_counted(p, 'knot')} {e:.2g}" for p, e in zip(counts, far, strict=True)],
    )


def knots_explorer(sweep: Callable) -> Callable:
    """-> draw(p, sigma): one fit with p knots, and where it stands among all numbers of knots.

    sweep(x, y, x_new, y_new, ps) -> training error, distance from the truth and bending, the student's.
    """
    t = np.linspace(0, 1, 401)
    ticks, levels = (1, 3, 10, 19, 100, 1000), (1e-4, 1e-3, 0.01, 0.1, 1)

    def draw(p: float, sigma: float):
        p, (x, y) = round(p), rows(sigma)
        train, off, bend = (float(values[0]) for values in sweep(x, y, t, sine(t), [p]))
        fig, (left, right) = fixed_axes(2, (9, 3.6), (0.08, 0.97, 0.15, 0.9), wspace=0.27)
        _draw_fit(left, x, y, t, fit_operator(x, t, p) @ y)
        if p <= 100:
            left.plot(np.arange(1, p + 1) / (p + 1), np.full(p, -2.25), "|", color=BLACK)
        left.set(ylabel="target y")
        left.set_title(f"{_counted(p, 'knot')}: {off:.2g} off, bending {bend:.1g}", fontsize=11)
        left.legend(fontsize=8, loc="upper right", frameon=True, edgecolor="none")
        fitted, excess = expected_errors(COUNTS, sigma)
        right.plot(COUNTS, fitted, ":", color=BLUE)
        right.plot(COUNTS, excess, "o-", color=VERMILION, markersize=3)
        _mark_threshold(right)
        low, high = 0.3 * excess.min(), 5.0
        right.plot(p, np.clip(off, 1.2 * low, 0.8 * high), "*", color=BLACK, markersize=13)
        right.set(xscale="log", yscale="log")
        right.set(xlabel="knots p", ylabel="mean squared error")
        right.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        right.set_yticks(levels, [f"{level:g}" for level in levels])
        right.set(ylim=(low, high), xlim=(0.9, 1100))  # ticks beyond would widen them
        right.minorticks_off()
        peak = excess[COUNTS.index(N - 1)]
        right.set_title(f"On average {peak:.0e} off at {N - 1} knots", fontsize=11)
        right.text(1.1, fitted[0], "training", color=BLUE, va="bottom")  # quicker than a legend
        above = 1.15 * excess[COUNTS.index(60)]  # of all that stands below the words
        right.text(1000, above, "off the truth", color=VERMILION, ha="right", va="bottom")
        right.set_gid("curve")
        best = int(np.argmin(excess[: COUNTS.index(18)]))
        return fig, say(
            "{knots}, noise {sigma:.2f}: your function says training error {train:.2g}, {off:.2g} off the "
            "truth, bending {bend:.2g}. On average over the noise the best of up to 17 knots is {best}, "
            "{low:.2g} off; 1,000 knots are {last:.2g} off.",
            knots=_counted(p, "knot"), sigma=sigma, train=train if train > 1e-12 else 0.0, off=off, bend=bend,
            best=COUNTS[best], low=excess[best], last=excess[-1],
        )  # fmt: skip

    return draw


# ---------------------------------------------------------------- the walk, and pulling a perfect fit


def draw_walk(b, slopes, heights):
    """Slopes from knot to knot of the only curve through noiseless points, and the curve -> (fig, words)."""
    slopes, heights = np.asarray(slopes), np.asarray(heights)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
    j, up = np.arange(1, len(b) + 1), slopes > 0
    left.plot(j, np.abs(slopes), ":", color=BLACK)
    left.plot(j[up], np.abs(slopes)[up], "^", color=VERMILION, label="up")
    left.plot(j[~up], np.abs(slopes)[~up], "v", color=BLUE, label="down")
    left.set(yscale="log", xlabel="knot", ylabel="steepness right of it", xticks=j[::3])
    left.set_title("Up, down, and ever steeper")
    left.legend()
    x = grid(len(b) + 1)
    right.plot([0, *b], [heights[0], *heights], color=VERMILION, label="the curve")
    right.plot(x, sine(x), "o", color=BLUE, label="data, no noise")
    right.set(xlabel="input x", ylabel="value", title="It meets every point")
    right.legend(fontsize=9)
    worst = int(np.argmax(np.abs(slopes)))
    return fig, say(
        "Right of knot {worst} the slope is {slope:.2g}, at the first {first:.2g}. Its sign changes at {turns} of "
        "{of} knots. The curve goes {high:.2g} away from 0.",
        worst=worst + 1,
        slope=slopes[worst],
        first=slopes[0],
        turns=int(np.sum(np.diff(np.sign(slopes)) != 0)),
        of=len(b) - 1,
        high=np.abs(heights).max(),
    )


PULLED, PULLED_KNOTS = np.linspace(0, 1, 6), 100


def draw_pull(where: float, height: float):
    """The calmest spline through six points, and the calmest that also passes (where, height) -> (fig, words)."""
    y, t = sine(PULLED), np.linspace(0, 1, 401)

    def through(x, y):
        return np.linalg.pinv(hinges(x[1:], PULLED_KNOTS)) @ (
            y[1:] - y[0]
        )  # at x = 0 all hinges are 0

    free = through(PULLED, y)
    pulled = through(np.append(PULLED, where), np.append(y, height))
    missed = np.abs(y[0] + hinges(PULLED, PULLED_KNOTS) @ pulled - y).max()
    bends = [(PULLED_KNOTS + 1) * np.sum(beta**2) for beta in (free, pulled)]
    fig, ax = fixed_axes(1, (6.6, 3.8), (0.11, 0.98, 0.14, 0.91))
    ax.plot(t, y[0] + hinges(t, PULLED_KNOTS) @ free, "--", color=BLUE, label="bends least")
    ax.plot(t, y[0] + hinges(t, PULLED_KNOTS) @ pulled, color=VERMILION, label="pulled")
    ax.plot(PULLED, y, "o", color=BLACK, label="data")
    ax.plot(where, height, "s", color=VERMILION, markersize=8)
    ax.set(xlabel="input x", ylabel="value", ylim=(-3.2, 3.2))
    ax.set_title(f"Both meet all points; bending {bends[0]:,.0f} and {bends[1]:,.0f}")
    ax.legend(fontsize=9, loc="lower left")
    ax.set_gid("pull")
    return fig, say(
        "{p} knots, {n} points, pulled to {height:.1f} at {where:.1f}: largest error at the points {missed:.1f}, "
        "bending {pulled:,.0f}; at rest {free:,.0f}.",
        p=PULLED_KNOTS, n=len(PULLED), height=height, where=where, missed=missed,
        pulled=bends[1], free=bends[0],
    )  # fmt: skip


# ---------------------------------------------------------------- what many knots tend to


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
    energy = [bending_of(x, sine(x), p) for p in counts]
    limit = bending(x, spline(x, 2))
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
    left.plot(counts, gaps, "o-", color=BLUE, label="distance")
    left.plot(counts, gaps[-1] * counts[-1] / np.array(counts), ":", color=BLACK, label="slope −1")
    left.set(xscale="log", yscale="log", xlabel="knots p", ylabel="largest distance")
    left.set_title("Toward a cubic spline, like 1/p")
    left.legend()
    right.plot(counts, energy, "s-", color=VERMILION, label="(p + 1) Σ β²")
    right.axhline(limit, color=BLACK, linestyle="--", label="∫ f″² of the spline")
    right.set(xscale="log", xlabel="knots p", ylabel="bending", ylim=(0, None))
    right.set_title("The norm becomes bending")
    right.legend()
    return fig, say(
        "Largest distance between the minimum-norm fit and the cubic spline: {first:.2g} at {few} knots, "
        "{last:.2g} at {many}. The bending falls from {high:.0f} to {low:.0f}; the spline's is {limit:.0f}.",
        first=gaps[0], few=counts[0], last=gaps[-1], many=counts[-1],
        high=energy[0], low=energy[-1], limit=limit,
    )  # fmt: skip


# ---------------------------------------------------------------- the verdict


def draw_verdict(ps, off, sigmas=(0.0, 0.1, 0.3)):
    """Averages over all noise for three levels, and the student's means at the highest -> (fig, words).

    ps, off: numbers of knots and measured mean distances from the truth at the last of sigmas.
    """
    fig, ax = plt.subplots(figsize=(7, 4))
    looks = zip(sigmas, (BLUE, GREEN, VERMILION), (":", "--", "-"), strict=True)
    best, last = [], []
    for sigma, color, style in looks:
        excess = expected_errors(COUNTS, sigma)[1]
        ax.plot(COUNTS, excess, style, color=color, label=f"σ = {sigma:g}, all noise")
        best.append(excess[: COUNTS.index(18)].min())
        last.append(excess[-1])
    top = 3.0
    shown = np.array(off) < top
    ax.plot(np.array(ps)[shown], np.array(off)[shown], "o", color=BLACK, label="yours, σ = 0.3")
    _mark_threshold(ax)
    ax.set(xscale="log", yscale="log", ylim=(5e-5, top), xlabel="knots p")
    ax.set(ylabel="off the truth", title="Down, up, out of the picture, down")
    ax.set_xticks([1, 3, 10, 19, 100, 1000], ["1", "3", "10", "19", "100", "1,000"])
    ax.minorticks_off()
    ax.legend(fontsize=9)
    return fig, say(
        "Best of up to 17 knots, then 1,000 knots: {told:; }.",
        told=[
            f"noise {s:g}: {b:.2g}, then {e:.2g}"
            for s, b, e in zip(sigmas, best, last, strict=True)
        ],
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
    fig, ax = fixed_axes(1, (6.6, 3.8), (0.11, 0.98, 0.14, 0.91))
    for name, style in {"polynomial": ":", "radial": "--", "broken line": "-."}.items():
        ax.plot(t, interpolant(POINTS, VALUES, 0, name)(t), style, color=SKY, label=name)
    f = interpolant(POINTS, VALUES, c, kind)
    ax.plot(t, f(t), color=VERMILION, label="yours")
    ax.plot(POINTS, VALUES, "o", color=BLACK, markersize=6, label="data")
    between, error = f(0.9)[0], np.max(np.abs(f(POINTS) - VALUES))
    ax.set(xlabel="input x", ylabel="value", ylim=(-2, 2))
    ax.set_title(f"Through every point; at x = 0.9 it says {between:.2f}")
    ax.legend(fontsize=8, ncols=3, loc="lower center")
    return fig, say(
        "{kind} with c = {c:.0f}: largest error at the data points {error:.1f}, value at x = 0.9: {between:.2f}.",
        kind=kind.capitalize(), c=c, error=error, between=between,
    )  # fmt: skip


# ---------------------------------------------------------------- where the peak hides


def shares_possible(counts, samples: int = 100) -> list[float]:
    """Share of random samples of 20 inputs that p knots can interpolate whatever the values, for each p."""
    inputs = [np.random.default_rng(seed).random(N) for seed in range(samples)]
    return [np.mean([independent(x, p) for x in inputs]) for p in counts]


def independent(x, p: int) -> bool:
    """Whether the rows [1, hinges] at x are independent, by the rule of Schoenberg and Whitney.

    From left to right, each input takes the first hat beyond those taken that is not 0 there; hat j lives between
    its neighbouring knots, the first from -∞ on, the last two without end.
    """
    b = np.arange(1, p + 1) / (p + 1)
    low, high, hat = [-np.inf, *b], [*b[1:], np.inf, np.inf], 0
    for value in np.sort(x):
        while hat < len(low) and not low[hat] < value < high[hat]:
            hat += 1
        if hat == len(low):
            return False
        hat += 1
    return True


def draw_hidden(counts=(10, 19, 25, 30, 40, 50, 60, 80, 100, 150, 200), steps=(10**4, 10**6)):
    """Random inputs have no sharp threshold, and few steps of descent no peak -> (fig, words)."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    shares = shares_possible(counts)
    left.plot(counts, shares, "o-", color=BLUE, label="random inputs")
    left.plot([counts[0], N - 2, N - 1, counts[-1]], [0, 0, 1, 1], "--", color=BLACK, label="grid")
    half = counts[int(np.argmax(np.array(shares) >= 0.5))]
    left.set(xlabel="knots p", ylabel="share that can be interpolated", ylim=(-0.03, 1.05))
    left.set_title(f"Random inputs: half from {half} knots on")
    left.legend(loc="lower right")
    shown, at = [p for p in COUNTS if p >= 4], {}
    looks = zip((None, *steps[::-1]), (VERMILION, GREEN, BLUE), ("-", "--", ":"), strict=True)
    for stop, color, style in looks:
        name = "least norm" if stop is None else f"{stop:,} steps"
        excess = expected_errors(shown, 0.3, stop)[1]
        right.plot(shown, excess, style, color=color, label=name)
        at[stop] = excess[shown.index(N - 1)]
    _mark_threshold(right)
    right.set(xscale="log", yscale="log", xlabel="knots p", ylabel="off the truth", ylim=(0.02, 5))
    right.set_title("Stopped in time, nothing explodes")
    right.legend(fontsize=9)
    return fig, say(
        "Half of the random samples can be interpolated from {half} knots on, grids from 19. Off the truth with 19 "
        "knots, noise 0.3: least norm {peak:.2g}, {some:,} steps {stopped:.2g}.",
        half=half, peak=at[None], some=steps[0], stopped=at[steps[0]],
    )  # fmt: skip


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
    "λ = exp(−i/20)": lambda n: np.exp(-np.arange(1.0, 4 * n + 1) / 20),
}


def draw_benign(sizes=(20, 40, 80, 160), sets=5):
    """Excess error of interpolators against the number of rows -> (fig, words)."""
    curves = {"1-D spline": [spline_excess(n) for n in sizes]}
    for name, spectrum in SPECTRA.items():
        # The fast spectrum is numerically singular beyond 80 rows.
        used = [n for n in sizes if "exp" not in name or n <= 80]
        curves[name] = [gaussian_excess(spectrum(n), n, sets) for n in used]
    fig, ax = plt.subplots(figsize=(7, 4))
    looks = zip(("o-", "s--", "^-.", "v:"), (BLUE, GREEN, BLACK, VERMILION), strict=True)
    for (name, values), (style, color) in zip(curves.items(), looks, strict=True):
        ax.plot(sizes[: len(values)], values, style, color=color, label=name)
    ax.set(xscale="log", yscale="log", xlabel="rows n", ylabel="off the truth / σ²")
    ax.set_title("All interpolate noise; one is benign")
    ax.set_xticks(sizes, [str(n) for n in sizes])
    ax.set_yticks([0.05, 0.1, 0.2, 0.5, 1, 2, 5], ["0.05", "0.1", "0.2", "0.5", "1", "2", "5"])
    ax.minorticks_off()
    ax.legend(fontsize=9, loc="lower left")
    return fig, say(
        "Distance from the truth over the noise variance, at {least} and at the most rows: {told:; }.",
        least=sizes[0],
        told=[f"{name} {v[0]:.2g}, {v[-1]:.2g}" for name, v in curves.items()],
    )


# ---------------------------------------------------------------- is a relation linear?


def linearity_gap(x, y, k: int = 5) -> tuple[float, float]:
    """How much more variance a cubic smoothing spline explains than a line -> (training rows, held out).

    Held out: k folds of every k-th row. x (n,) increasing, y (n,).
    """
    own, held = _line_and_spline(x, y, x, y), np.zeros(2)
    for fold in range(k):
        out = np.arange(len(x)) % k == fold
        held += _line_and_spline(x[~out], y[~out], x[out], y[out])
    total = np.sum((y - y.mean()) ** 2)
    return (own[0] - own[1]) / total, (held[0] - held[1]) / total


def _line_and_spline(x, y, new_x, new_y):
    line = np.polyval(np.polyfit(x, y, 1), new_x)
    spline = smoothing_spline(x, y)(np.clip(new_x, x[0], x[-1]))
    return np.array([np.sum((new_y - fit) ** 2) for fit in (line, spline)])


def smoothing_spline(x, y) -> Callable:
    """SciPy's cubic smoothing spline; of 12 multiples of ∫ f''² the one that misses every third row least.

    SciPy's own search for the multiple ends in a straight line for some of our curved data.
    """
    from scipy.interpolate import make_smoothing_spline

    out = np.arange(len(x)) % 3 == 1

    def missed(lam):
        return np.sum((y[out] - make_smoothing_spline(x[~out], y[~out], lam=lam)(x[out])) ** 2)

    return make_smoothing_spline(x, y, lam=min(np.geomspace(1e-6, 1e2, 12), key=missed))


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
    """Where the knots of `train_knots` go, and the corners of the tooth -> (fig, words)."""
    fig, ax = plt.subplots()
    for corner in TOOTH:
        ax.axhline(corner, color=SKY, linewidth=5, label="corner" if corner == TOOTH[0] else "")
    ax.plot(knots[:, 0], color=BLACK, linewidth=1, label="knot −u/w")
    ax.plot(knots[:, 1:], color=BLACK, linewidth=1)
    ax.set(xlabel="training step", ylabel="input x", ylim=(-0.1, 1.1))
    ax.set_title("Learned knots find the corners")
    ax.legend(fontsize=9)
    near = sum(np.abs(knots[-1] - corner).min() < 0.02 for corner in TOOTH)
    return fig, say(
        "Learning the knots leaves {share:.1%} of the error of fixed ones; a knot ends on {near} of 3 corners.",
        share=losses[-1] / losses[0],
        near=near,
    )


def count_pieces(values) -> int:
    """Number of linear pieces of a function with kinks at multiples of 1/4096, from its values there on [0, 1]."""
    return 1 + int(np.sum(np.abs(np.diff(values, 2)) * 4096 > 1e-6))


# ---------------------------------------------------------------- extrapolation and epicycles


def draw_extrapolation():
    """A swinging weight seen for a while: the spline and the law beyond the data -> (fig, words)."""
    x, t = grid(), np.linspace(-0.4, 2, 481)

    def truth(time): return np.cos(5 * time - 0.6)  # fmt: skip

    def law(omega):
        """x'' = -ω² x: a cosine and a sine, fitted; at t."""
        X, T = (np.column_stack([np.cos(omega * u), np.sin(omega * u)]) for u in (x, t))
        w = np.linalg.lstsq(X, y, rcond=None)[0]
        return np.sum((X @ w - y) ** 2), T @ w

    y = truth(x) + 0.05 * noise(1)[0]
    spline = fit_operator(x, t, 1000) @ y
    omega = min(np.linspace(1, 12, 1101), key=lambda w: law(w)[0])
    lawful = law(omega)[1]
    fig, ax = plt.subplots(figsize=(7.4, 3.8))
    ax.axvspan(0, 1, color=BLACK, alpha=0.07)
    ax.plot(t, truth(t), "--", color=BLACK, linewidth=1.2, label="truth")
    ax.plot(t, lawful, ":", color=GREEN, linewidth=3, label="law, 3 numbers")
    ax.plot(t, spline, color=VERMILION, label="spline, 1,001 numbers")
    ax.plot(x, y, "o", color=BLUE, markersize=4, label="data")
    ax.set(xlabel="time (s)", ylabel="position (m)", ylim=(-3, 3))
    ax.set_title("Inside both are right; outside only the law")
    ax.legend(fontsize=8, ncols=2, loc="lower left")
    parts = ((t >= 0) & (t <= 1), t > 1)
    miss = [
        [np.sqrt(np.mean((fit[part] - truth(t[part])) ** 2)) for part in parts]
        for fit in (spline, lawful)
    ]
    return fig, say(
        "Root mean squared errors, inside and in the second after: spline {spline[0]:.2f} and {spline[1]:.1f}, "
        "law {law[0]:.2f} and {law[1]:.1f}. Fitted frequency {omega:.1f}, true 5.0.",
        spline=miss[0], law=miss[1], omega=omega,
    )  # fmt: skip


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

    def draw(N: int, moment: int):
        points = elephant()
        curve = np.asarray(epicycle_fit(points, N))
        error = np.sqrt(np.mean(np.sum((curve - points) ** 2, axis=1)))
        centres = circles(points, N, moment / 100)
        fig, ax = fixed_axes(1, (5.4, 4.6), (0.13, 0.97, 0.12, 0.92))
        ax.plot(*np.vstack([points, points[:1]]).T, ":", color=BLACK, label="outline")
        ax.plot(*np.vstack([curve, curve[:1]]).T, color=VERMILION, label=_counted(N, "circle"))
        ax.plot(centres.real, centres.imag, "o-", color=BLUE, markersize=3, label="arms")
        for centre, step in zip(centres[:-1], np.abs(np.diff(centres)), strict=True):
            ax.add_patch(plt.Circle((centre.real, centre.imag), step, fill=False, color=SKY))
        ax.set(xlabel="x", ylabel="y", xlim=(-110, 110), ylim=(-100, 100), aspect="equal")
        ax.set_title(f"{_counted(N, 'circle')}: distance {error:.1f}")
        ax.legend(fontsize=8, loc="lower right")
        words = "{circles}: root mean squared distance to the outline {error:.2f}."
        return fig, say(words, circles=_counted(N, "circle"), error=error)

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
    target, result = np.eye(10)[given], {name: [] for name in ("train", "least norm", "ridge")}
    for p in counts:
        U, s, Vt = np.linalg.svd(H[train, :p], full_matrices=False)
        keep = s > 1e-10 * s[0]
        for name, penalty in (("least norm", 0.0), ("ridge", 1.0)):
            gains = np.where(keep, s / (s**2 + penalty), 0)
            scores = H[:, :p] @ (Vt.T @ (gains[:, None] * (U.T @ target)))
            wrong = scores.argmax(1)
            result[name].append(np.mean(wrong[test] != labels[test]))
            if name == "least norm":
                result["train"].append(np.mean(wrong[train] != given))
    return {name: np.array(values) for name, values in result.items()}


WIDTHS = (10, 20, 40, 80, 120, 160, 190, 200, 210, 250, 300, 500, 1000, 2000, 3000)


def draw_digits(pixels, labels, counts=WIDTHS, seeds=2):
    """Double descent in random features on the digits -> (fig, words)."""
    runs = [digits_curve(pixels, labels, counts, seed=seed) for seed in range(seeds)]
    mean = {name: np.mean([run[name] for run in runs], axis=0) for name in runs[0]}
    fig, ax = plt.subplots(figsize=(7, 4))
    looks = zip(mean.items(), ("s:", "o-", "^--"), (BLUE, VERMILION, GREEN), strict=True)
    for (name, values), style, color in looks:
        label = "training, least norm" if name == "train" else f"test, {name}"
        ax.plot(counts, values, style, color=color, label=label)
    ax.axvline(200, color=BLACK, linewidth=6, alpha=0.12)
    ax.set(xscale="log", xlabel="random features p", ylabel="share of mistakes", ylim=(-0.02, 1))
    free, held = mean["least norm"], mean["ridge"]
    left = int(np.argmin(free[: counts.index(200)]))
    ax.set_title(f"200 digits: the peak is at p = {counts[int(free.argmax())]}")
    ax.legend(fontsize=9)
    return fig, say(
        "Share of mistakes on test digits, least norm: {first:.2f} with {at} features, {peak:.2f} with {where}, "
        "{last:.2f} with {most}. With ridge it is at most {worst:.2f}, at best {best:.2f}.",
        first=free[left], at=counts[left], peak=free.max(), where=counts[int(free.argmax())],
        last=free[-1], most=counts[-1], worst=held[counts.index(80):].max(), best=held.min(),
    )  # fmt: skip

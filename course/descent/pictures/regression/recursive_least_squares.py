"""Recursive least squares: streams, gains, rounding and forgetting, drawn from the student's own functions."""

from collections.abc import Callable
from functools import cache

import matplotlib.pyplot as plt
import numpy as np

from descent.plots import BLACK, BLUE, GREEN, ORANGE, SKY, VERMILION, fixed_axes, light
from descent.words import say

TRUTH, NOISE = np.array([1.0, -0.8]), 0.5

# ---------------------------------------------------------------- Mauna Loa


def mauna_loa() -> tuple[np.ndarray, np.ndarray]:
    """Years 1959 to 2001 (43,) and the mean carbon dioxide in the air of Mauna Loa, in ppm (43,).

    Entered by hand. Source: C. D. Keeling and T. P. Whorf, Atmospheric CO2 concentrations derived from flask air
    samples (CDIAC, 2004), weekly and in the public domain: here means of a year's twelve monthly means, where a
    month without samples lies on the straight line between its neighbours.
    """
    ppm = """316.0 316.9 317.6 318.4 318.9 319.5 320.0 321.4 322.2 323.0 324.6 325.7 326.3 327.4 329.6
        330.2 331.1 332.1 333.9 335.5 336.8 338.6 339.9 341.1 342.7 344.4 345.8 347.1 348.9 351.4 352.9 354.1
        355.6 356.3 357.0 358.9 360.8 362.6 363.7 366.6 368.2 369.4 370.9"""
    return np.arange(1959, 2002), np.array(ppm.split(), float)


def rms(errors) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))


def joseph(P, K, X, R):
    """Covariance after a step with any gain K -> (d, d), in the number format of P."""
    A = np.eye(len(P), dtype=P.dtype) - K @ X
    return A @ P @ A.T + K @ R @ K.T


def best_gain(P, X, R):
    return np.linalg.solve(X @ P @ X.T + R, X @ P).T


def chip(rows, y, R: float = 0.25) -> dict:
    """What the chip of the first screen forecasts of each y from those before, and how sure it says it is."""
    theta, P, told = np.array([315.0, 0.0]), 1e4 * np.eye(2), []
    for x, value in zip(rows, y, strict=True):
        X, noise = x[None], np.array([[R]])
        told.append((x @ theta, np.sqrt(x @ P @ x + R)))
        K = best_gain(P, X, noise)
        theta, P = theta + K[:, 0] * (value - x @ theta), joseph(P, K, X, noise)
    return dict(zip(("forecast", "sd"), np.transpose(told), strict=True))


def draw_forecasts(years, y, runs: dict, alarm=None):
    """Forecasts of each year from those before, and what they missed -> (fig, words).

    runs: {name: dict(forecast (n,), perhaps sd (n,))}. The first two years have no line to forecast from.
    """
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
    left.plot(years, y, "o", color=BLACK, markersize=3.5, label="measured")
    told = []
    for (name, run), color, style in zip(
        runs.items(), (VERMILION, BLUE), ("--", "-"), strict=False
    ):
        missed = y - run["forecast"]
        left.plot(years[2:], run["forecast"][2:], style, color=color, label=f"forecast, {name}")
        right.plot(years[2:], missed[2:], f"o{style}", color=color, markersize=3, label=name)
        if "sd" in run:
            right.fill_between(
                years[2:], -2 * run["sd"][2:], 2 * run["sd"][2:], color=SKY, alpha=0.4,
                label=f"{name}: ±2 claimed σ",
            )  # fmt: skip
        over = np.flatnonzero(missed <= 0)[-1]
        told.append(
            say(
                "{name}: the last {n} years missed by {rms:.2f} ppm (root mean square); the last {run} forecasts are "
                "too low",
                name=name, n=21, rms=rms(missed[-21:]), run=len(y) - 1 - int(over),
            )
        )  # fmt: skip
    if alarm is not None:
        right.axvline(alarm, ymax=0.7, color=BLACK, linestyle=":", label=f"alarm, {alarm}")
    left.set(xlabel="year", ylabel="carbon dioxide (ppm)")
    left.set_title("A year ahead: the chip falls behind", fontsize=11)
    right.set(xlabel="year", ylabel="measured − forecast (ppm)", ylim=(-1.6, 7))
    title = "Its surprises grow, its claim does not"
    right.set_title(title if alarm is None else f"The alarm rings in {alarm}", fontsize=11)
    left.legend(fontsize=9, loc="upper left")
    right.legend(fontsize=9, loc="upper left", ncols=2)
    return fig, say("{told:; }.", told=told)


def draw_histories(years, estimator):
    """Slope, gains, variances and innovations of a line that learned from the years -> (fig, words)."""
    theta, P = np.array(estimator.estimates, float), np.array(estimator.covariances, float)
    K, e = np.array(estimator.gains, float)[:, :, 0], np.ravel(estimator.innovations)
    sd, late = np.sqrt(np.ravel(estimator.spreads)), slice(2, None)
    slope, error = theta[3:, 1], 2 * np.sqrt(P[3:, 1, 1])
    fig, axes = plt.subplots(2, 2, figsize=(9, 5.6), sharex=True)
    a, b, c, d = axes.flat
    a.fill_between(years[late], slope - error, slope + error, color=SKY, alpha=0.4)
    a.plot(years[late], slope, color=BLUE)
    a.set(ylabel="slope ± 2σ (ppm / 10 years)", title="The slope creeps; its band shrinks")
    share = 1 - np.ravel(estimator.R) / sd**2  # X K, for one number at a time
    b.plot(years[late], share[late], color=BLUE, label="on the line, in that year")
    b.plot(years[late], K[late, 1], "--", color=VERMILION, label="on the slope")
    b.set(ylabel="gain", title="Each year counts for less")
    c.plot(years[late], P[1:, 0, 0][late], color=BLUE, label="offset")
    c.plot(years[late], P[1:, 1, 1][late], "--", color=VERMILION, label="slope")
    c.set(yscale="log", ylabel="variance (diagonal of P)", xlabel="year", title="Ever surer")
    d.plot(years[late], e[late], "o", color=BLACK, markersize=3, label="innovation")
    d.plot(years[late], 2 * sd[late], color=GREEN, label="±2 √S")
    d.plot(years[late], -2 * sd[late], color=GREEN)
    inside = np.mean(np.abs(e) < 2 * sd)
    d.set(ylabel="innovation (ppm)", xlabel="year", ylim=(-2, 5))
    d.set_title(f"{inside:.0%} of the innovations inside ±2 √S")
    for ax in (a, b, c, d):
        ax.title.set_fontsize(11)
    for ax in (b, c, d):
        ax.legend(fontsize=9, loc="upper left" if ax is d else "upper right")
    return fig, say(
        "From 1961 to 2001 the slope rises from {slope[0]:.1f} to {slope[1]:.1f} ppm in ten years, the share of a "
        "surprise that moves the line falls from {share[0]:.2f} to {share[1]:.2f}, the variance of the slope from "
        "{var[0]:.1f} to {var[1]:.3f}. "
        "{inside:.0%} of the innovations lie inside two of their standard deviations.",
        slope=theta[[3, -1], 1], share=share[[2, -1]], var=P[[3, -1], 1, 1], inside=inside,
    )  # fmt: skip


# ---------------------------------------------------------------- errors, and one reading of a line


def draw_errors(errors, P):
    """Errors (n, 2) of a line, and two standard deviations of their covariance P -> (fig, words).

    Before all readings the covariance was I.
    """
    fig, ax = plt.subplots(figsize=(5.4, 4))
    ax.plot(*np.transpose(errors), ".", color=VERMILION, alpha=0.3, markersize=4, label="errors")
    ax.plot(*ellipse([0, 0], np.eye(2)), "--", color=BLACK, label="2σ before")
    ax.plot(*ellipse([0, 0], P), color=BLUE, linewidth=2.5, label="2σ by your P")
    ax.set(
        xlabel="error of the offset",
        ylabel="error of the slope",
        xlim=(-3.4, 3.4),
        ylim=(-2.6, 3.6),
        title="The errors spread as your P says",
    )
    ax.legend(fontsize=9, ncols=3, loc="upper center")
    inside = np.mean(np.sum(errors * np.linalg.solve(P, errors.T).T, axis=1) < 4)
    return fig, say(
        "{inside:.0%} of {n} errors lie inside the ellipse of two standard deviations that your P draws. The normal "
        "law says {law:.0%}.",
        inside=inside, n=len(errors), law=1 - np.exp(-2),
    )  # fmt: skip


def line_stream(n: int = 60, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Times t (n,) spread over [-1, 1] at random and y = 1 - 0.8 t + noise of standard deviation 0.5."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(-1, 1, n)
    return t, TRUTH[0] + TRUTH[1] * t + NOISE * rng.standard_normal(n)


def ellipse(centre, P, radius: float = 2.0) -> np.ndarray:
    """Points at Mahalanobis distance `radius` from centre -> (2, 61). P (2, 2), PSD."""
    values, vectors = np.linalg.eigh((P + P.T) / 2)
    angle = np.linspace(0, 2 * np.pi, 61)
    circle = np.array([np.cos(angle), np.sin(angle)])
    scaled = radius * np.sqrt(np.maximum(values, 0))[:, None] * circle
    return np.asarray(centre)[:, None] + vectors @ scaled


def correct(theta, P, t, y, gain: Callable, joseph: Callable):
    """A line after one more point -> estimate (2,), covariance (2, 2), gain (2,)."""
    X, R = np.array([[1.0, t]]), np.array([[NOISE**2]])
    K = np.asarray(gain(P, X, R))
    return theta + K[:, 0] * (y - X[0] @ theta), np.asarray(joseph(P, K, X, R)), K[:, 0]


def reading(before: int, t: float, y: float, gain: Callable = best_gain, joseph: Callable = joseph):
    """A line that has seen `before` points of the stream takes in (t, y). The prior is 0, with covariance 10 I."""
    theta, P = np.zeros(2), 10 * np.eye(2)
    for now, value in zip(*line_stream(before), strict=True):
        theta, P, _ = correct(theta, P, now, value, gain, joseph)
    new, new_P, K = correct(theta, P, t, y, gain, joseph)
    area = 4 * np.pi * np.sqrt(np.linalg.det(new_P))
    return dict(theta=theta, P=P, new=new, new_P=new_P, gain=K, area=area)


def reading_explorer(gain: Callable, joseph: Callable) -> Callable:
    """-> draw(before, t, y): what one reading does to a line and to its ellipse of uncertainty."""
    ends = np.array([-1.05, 1.05])
    grid = np.column_stack([np.ones(30), np.linspace(*ends, 30)])
    times, values = line_stream()

    def draw(before: int, t: float, y: float):
        at = reading(before, t, y, gain, joseph)
        theta, new, P = at["theta"], at["new"], at["new_P"]
        fig, (left, right) = fixed_axes(2, (9, 3.7), (0.07, 0.99, 0.14, 0.9), wspace=0.2)
        left.plot(*ellipse(theta, at["P"]), "--", color=ORANGE, label="before")
        left.plot(*ellipse(new, P), color=BLUE, label="after")
        left.plot(*TRUTH, "*", color=BLACK, markersize=12, label="truth")
        left.set(xlim=(-2, 4), ylim=(-4, 3.6), xlabel="offset θ₁", ylabel="slope θ₂")
        left.legend(fontsize=9, loc="upper center", ncols=3)  # above the ellipses
        sd = 2 * np.sqrt(np.einsum("ij,jk,ik->i", grid, P, grid))
        right.fill_between(grid[:, 1], grid @ new - sd, grid @ new + sd, color=SKY, alpha=0.35)
        right.plot(ends, theta[0] + theta[1] * ends, "--", color=ORANGE)
        right.plot(ends, new[0] + new[1] * ends, color=BLUE)
        right.plot(times[:before], values[:before], "o", color=VERMILION, markersize=4)
        right.plot(t, y, "s", color=BLACK, markersize=9, mfc="none")
        right.set(xlim=ends, ylim=(-2.2, 4.2), xlabel="time t", ylabel="reading y")
        light(left, f"Area of the ellipse: {at['area']:.2f}", range(-2, 5, 2), range(-4, 4, 2))
        moved = float((new - theta) @ [1, t])
        title = f"The line moves by {moved:+.2f} at t".replace("-", "−")
        light(right, title, (-1, 0, 1), range(-2, 5, 2))
        right.set_gid("reading")
        return fig, say(
            "After {before} comes {y:.2f} at t = {t:.2f}. The surprise is {surprise:.2f}, and the line moves by "
            "{moved:.3f} there. The ellipse has the area {area:.3f}; the gain is ({gain[0]:.2f}, {gain[1]:.2f}).",
            before=f"{before} reading" + "s" * (before > 1), t=t, y=y, moved=moved, surprise=y - theta @ [1, t],
            area=at["area"], gain=at["gain"],
        )  # fmt: skip

    return draw


# ---------------------------------------------------------------- forgetting


def tracking_terms(lam, speed: float, noise: float):
    """Squared lag and variance, in the long run, of w ← (1 - λ) w + λ y for a level that moves `speed` a step.

    Against the level at the newest reading: lag speed (1 - λ) / λ, variance noise² λ / (2 - λ).
    """
    lam = np.asarray(lam, float)
    return (speed * (1 - lam) / lam) ** 2, noise**2 * lam / (2 - lam)


def drift_explorer(rls_forget: Callable, n: int = 300, noise: float = 0.3) -> Callable:
    """-> draw(lam, speed): a level that moves, followed with forgetting; lag and noise against λ."""
    k, ones = np.arange(n), np.ones((n, 1))
    drawn = noise * np.random.default_rng(8).standard_normal((5, n))
    fine = np.geomspace(10**-1.5, 10**-0.1, 60)

    def draw(lam: float, speed: float):
        level = speed * (k - n / 2)
        w = np.array([np.ravel(rls_forget(ones, level + one, lam, 1e-3)) for one in drawn])
        seen = np.mean((w - level)[:, n // 2 :] ** 2)
        lag, variance = tracking_terms(fine, speed, noise)
        best = fine[np.argmin(lag + variance)]
        fig, (left, right) = fixed_axes(2, (9, 3.7), (0.08, 0.99, 0.14, 0.9), wspace=0.24)
        left.plot(k, level + drawn[0], ".", color=VERMILION, alpha=0.4, markersize=3)
        left.plot(k, level, "--", color=BLACK, label="level")
        left.plot(k, w[0], color=BLUE, label="estimate")
        left.set(xlim=(150, 300), xlabel="step", ylabel="level", ylim=(-1.2, level[-1] + 1.2))
        left.legend(fontsize=9, loc="upper left")
        if speed:
            right.plot(fine, lag, "--", color=VERMILION, label="lag²")
        right.plot(fine, variance, ":", color=GREEN, label="variance")
        right.plot(fine, lag + variance, color=BLACK, label="their sum")
        right.plot(lam, seen, "s", color=BLUE, markersize=9, label="you, five streams")
        right.set(xscale="log", yscale="log", xlim=(fine[0], fine[-1]), ylim=(1e-4, 10))
        right.set(xlabel="weight λ of the newest row", ylabel="mean squared error")
        light(left, f"Memory of about {1 / lam:.1f} steps", (150, 200, 250, 300))
        least = f"Their sum is least near λ = {best:.2f}"
        light(
            right, least if speed else "Without drift: the less, the better", (0.05, 0.1, 0.2, 0.5)
        )
        right.set_yticks([1e-4, 1e-2, 1], ["10⁻⁴", "10⁻²", "1"])
        right.legend(fontsize=9, loc="upper right")
        right.set_gid("errors")
        here = tracking_terms(lam, speed, noise)
        return fig, say(
            "λ = {lam:.2f} under a drift of {speed:.3f} a step: lag² {lag:.4f} + variance {variance:.4f}; measured "
            "{seen:.4f}. Of those drawn λ = {best:.2f} has the least sum.",
            lam=lam, speed=speed, lag=here[0], variance=here[1], seen=seen, best=best,
        )  # fmt: skip

    return draw


def draw_windup(quiet: tuple[int, int] = (60, 120), n: int = 180):
    """Claimed variance of a slope while the input stands still, and the gain right after -> (fig, words)."""
    t = np.random.default_rng(9).uniform(-1, 1, n)
    t[slice(*quiet)] = 0
    fig, ax = plt.subplots()
    ax.axvspan(*quiet, color=BLACK, alpha=0.08, label="input stands still")
    told, nudge = [], np.array([1, 0.01])
    for lam, color, style in ((0, BLACK, ":"), (0.05, BLUE, "--"), (0.2, VERMILION, "-")):
        M, curve = 0.1 * np.eye(2), []
        for now in t:  # in units of the newest row: M / λ of the text
            M = (1 - lam) * M + np.outer([1, now], [1, now])
            curve.append(np.linalg.inv(M)[1, 1])
            if len(curve) == quiet[1]:
                g = np.linalg.inv(M) @ nudge
        name = f"λ = {lam}" if lam else "never forgets"
        ax.plot(np.arange(1, n + 1), curve, style, color=color, label=name)
        told.append(
            say(
                "{name}: from {start:.2g} to {end:.2g}, and then an input of 0.01 moves the slope by {gain:.2g} times "
                "the surprise",
                name=name, start=curve[quiet[0] - 1], end=curve[quiet[1] - 1], gain=g[1] / (1 - lam + nudge @ g),
            )
        )  # fmt: skip
    ax.set(
        yscale="log", xlabel="step", ylabel="claimed variance of the slope / R", ylim=(1e-3, 1e8)
    )
    ax.set_title("What is not seen and is forgotten becomes unknown")
    ax.legend(fontsize=9, loc="upper left", ncols=2)
    return fig, say("Claimed variance of the slope over the quiet stretch. {told:; }.", told=told)


# ---------------------------------------------------------------- a constant, a curve


def scalar_explorer(scalar_rls: Callable, n: int = 40, seed: int = 6) -> Callable:
    """-> draw(log_ratio): gain and estimate of a constant (3, noise variance 1, first guess 0)."""
    y, k = 3 + np.random.default_rng(seed).standard_normal(n), np.arange(1, n + 1)

    def draw(log_ratio: float):
        P0 = 10.0**log_ratio
        estimates, gains = (np.asarray(a) for a in scalar_rls(y, 0.0, P0, 1.0))
        mean, guess = np.cumsum(y) / k, np.prod(1 - gains)
        ratio = f"{P0:.3g}" if P0 < 1000 else f"{P0:.0f}"
        fig, (left, right) = fixed_axes(2, (9, 3.6), (0.07, 0.99, 0.15, 0.9), wspace=0.2)
        left.plot(k, 1 / k, ":", color=BLACK, label="1/k")
        left.plot(k, gains, "o-", color=BLUE, markersize=3, label="gain")
        left.set(xlabel="reading k", ylabel="gain", ylim=(-0.02, 1.05))
        light(left, f"P₀/R = {ratio}: first gain {gains[0]:.3g}")
        right.plot(k, y, "x", color=BLACK, alpha=0.4, label="readings")
        right.plot(k, mean, ":", color=BLACK, label="running mean")
        right.plot(k, estimates, "-", color=BLUE, label="estimate")
        right.axhline(0, color=GREEN, linestyle="--", linewidth=1.2, label="first guess")
        right.set(xlabel="reading k", ylabel="value", ylim=(-0.8, 6.4))
        light(right, f"The guess still weighs {100 * guess:.3g}%")
        for ax in (left, right):
            ax.legend(fontsize=9, ncols=2, loc="upper right")
        return fig, say(
            "P₀/R = {ratio:.3g}: the gain starts at {first:.3g} and ends at {last:.2g}. After {n} readings the "
            "estimate is {estimate:.2f}, the running mean {mean:.2f}; the first guess, 0, has the weight {guess:.3g}.",
            ratio=P0, first=gains[0], last=gains[-1], n=n, estimate=estimates[-1], mean=mean[-1], guess=guess,
        )  # fmt: skip

    return draw


def wave_stream(n: int = 40, seed: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Times (n,) from -1 to 1 in order, and a cubic with noise of standard deviation 0.2."""
    t = np.linspace(-1, 1, n)
    return t, _cubic(t) + 0.2 * np.random.default_rng(seed).standard_normal(n)


def _cubic(t):
    return 0.5 + 2 * t - 3 * t**3


def polynomial_explorer(rls_polyfit: Callable) -> Callable:
    """-> draw(points, order): a polynomial fitted to the points so far, with its band (prior variance 10)."""
    (t, y), grid = wave_stream(), np.linspace(-1, 1, 101)

    def draw(points: int, order: int):
        theta, P = map(np.asarray, rls_polyfit(t[:points], y[:points], order, 0.04, 10.0))
        x = grid[:, None] ** np.arange(order + 1)
        centre, sd = x @ theta, np.sqrt(np.einsum("ij,jk,ik->i", x, P, x))
        fig, ax = fixed_axes(1, (7, 3.8), (0.09, 0.98, 0.14, 0.91))
        band = centre - 2 * sd, centre + 2 * sd
        ax.fill_between(grid, *band, color=SKY, alpha=0.35, label="±2σ of the curve")
        ax.plot(grid, centre, color=BLUE, label="estimate")
        ax.plot(grid, _cubic(grid), "--", color=BLACK, label="truth")
        ax.plot(t[:points], y[:points], "o", color=VERMILION, markersize=4, label="seen")
        ax.plot(t[points:], y[points:], "x", color=BLACK, alpha=0.3, label="still to come")
        ax.set(xlim=(-1.03, 1.03), ylim=(-2.5, 3.6), xlabel="time t", ylabel="reading y")
        ax.legend(fontsize=9, ncols=3, loc="upper center")
        seen = f"{points} point" + "s" * (points > 1)
        facts = dict(order=order, seen=seen, end=2 * sd[-1])
        words = "Order {order} after {seen}: at t = 1 the band has a half-width of {end:.2f}"
        title, ahead = f"Order {order} after {seen}", slice(points, points + 5)
        if points < len(t):
            facts["missed"] = rms(t[ahead, None] ** np.arange(order + 1) @ theta - y[ahead])
            facts["ahead"] = f"the next {len(t[ahead])} are" if len(t[ahead]) > 1 else "the last is"
            title += f": {facts['ahead']} missed by {facts['missed']:.2f}"
            words += "; {ahead} missed by {missed:.2f} (root mean square; the noise is 0.20)"
        light(ax, title, (-1, 0, 1), range(-2, 4))
        return fig, say(words + ".", **facts)

    return draw


# ---------------------------------------------------------------- rounding


def precise_sensor(use_joseph: bool, dtype, n: int = 40, P0: float = 1e8, seed: int = 0):
    """θ₁ read directly n times with noise variance 1, prior variance P0, prior correlation 0.6 with θ₂.

    True values 3 and 0 -> estimates of θ₁ (n,), covariances (n, 2, 2), readings (n,). All arithmetic in `dtype`.
    """
    y = 3 + np.random.default_rng(seed).standard_normal(n)
    P = np.array([[P0, 0.6 * P0], [0.6 * P0, P0]], dtype)
    X, R, theta = np.array([[1, 0]], dtype), np.ones((1, 1), dtype), np.zeros(2, dtype)
    estimates, covariances = [], []
    for value in y.astype(dtype):
        K = P @ X.T / (X @ P @ X.T + R)
        theta = theta + K @ (value - X @ theta)
        P = joseph(P, K, X, R) if use_joseph else (np.eye(2, dtype=dtype) - K @ X) @ P
        estimates.append(theta[0]), covariances.append(P)
    return np.array(estimates, float), np.array(covariances, float), y


@cache
def rounded_gain(use_joseph: bool, n: int = 3000, seed: int = 3):
    """A line stream in float32 whose gain is stored in 16 bits -> asymmetry of P after each step, relative (n,)."""
    t, single = np.random.default_rng(seed).uniform(-1, 1, n), np.float32
    P, R, asymmetry = (10 * np.eye(2)).astype(single), np.ones((1, 1), single), []
    for now in t:
        X = np.array([[1, now]], single)
        K = (P @ X.T / (X @ P @ X.T + R)).astype(np.float16).astype(single)
        P = joseph(P, K, X, R) if use_joseph else (np.eye(2, dtype=single) - K @ X) @ P
        asymmetry.append(abs(P[0, 1] - P[1, 0]) / np.max(np.abs(P)))
    return np.array(asymmetry, float)


def draw_rounding():
    """Estimates of a precise sensor, and asymmetry with a rounded gain -> (fig, words). Show with digits=0."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
    exact, y = precise_sensor(True, np.float64)[::2]
    k = np.arange(1, len(y) + 1)
    left.plot(k, y, "x", color=BLACK, alpha=0.4, markersize=5, label="readings")
    left.plot(k, exact, "-", color=GREEN, linewidth=5, alpha=0.4, label="float64")
    looks = ((True, "Joseph form", BLUE, "-"), (False, "short form", VERMILION, "--"))
    off, uneven = [], []
    for form, name, color, style in looks:
        single, asymmetry = precise_sensor(form, np.float32)[0], rounded_gain(form)
        off.append(np.abs(single - exact).max())
        uneven.append(asymmetry.max())
        left.plot(k, single, style, color=color, label=f"float32, {name}")
        steps, shown = np.arange(1, len(asymmetry) + 1), np.maximum(asymmetry, 1e-9)
        right.plot(steps, shown, style, color=color, linewidth=1, label=name, alpha=0.8)
    left.set(xlabel="reading k", ylabel="estimate of θ₁", ylim=(-1.4, 5))
    left.set_title("The short form stops learning", fontsize=11)
    left.legend(fontsize=9, ncols=2, loc="lower right")
    right.set(xscale="log", yscale="log", ylim=(5e-10, 1), xlabel="step k")
    right.set(ylabel="|P₁₂ − P₂₁| / largest entry")
    right.set_title("16-bit gain: Joseph stays symmetric", fontsize=11)
    right.legend(fontsize=9, loc="upper left")
    return fig, say(
        "In float32 Joseph's estimates are off by at most {joseph:.0e}, the short form's by {short:.1f}: it never "
        "moves again after the first reading. With a gain of 16 bits P is asymmetric by at most {even:.0e} in "
        "Joseph's form, and by {uneven:.0e} in the short one.",
        joseph=off[0], short=off[1], even=uneven[0], uneven=uneven[1],
    )  # fmt: skip

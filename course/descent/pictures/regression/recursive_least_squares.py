"""Recursive least squares: streams, gains, rounding and forgetting, drawn from the student's own functions."""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np

from descent.plots import BLACK, BLUE, GREEN, ORANGE, SKY, VERMILION, fixed_axes

TRUTH, NOISE, STREAM = np.array([1.0, -0.8]), 0.5, 60


# ---------------------------------------------------------------- why it matters


def multiplications(d: int, n: int) -> dict[str, np.ndarray]:
    """Multiplications so far after each of n scalar measurements of d parameters -> three arrays (n,).

    Solving by Cholesky counts d³/6 + d². A fit to k rows forms XᵀX (half of it) and Xᵀy; kept sums add one
    row to both; the recursion counts Px, x·Px, K, the half of P that changes, and the estimate.
    """
    k = np.arange(1, n + 1)
    solve, row = d**3 / 6 + d**2, d * (d + 1) / 2 + d
    return {
        "fit all rows again": np.cumsum(k * row + solve),
        "keep the sums, solve again": k * (row + solve),
        "recursion": k * (d**2 + d * (d + 1) / 2 + 4 * d),
    }


def draw_costs(d=10, n=10_000):
    """Work over a stream, and the work of one update against the number of parameters -> (fig, words)."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.7))
    looks = ((BLACK, ":"), (ORANGE, "--"), (BLUE, "-"))
    curves = multiplications(d, n)
    ds = np.arange(1, 201)
    one = [multiplications(int(width), 1) for width in ds]
    for (name, total), (color, style) in zip(curves.items(), looks, strict=True):
        left.plot(np.arange(1, n + 1), total, style, color=color, label=name)
        if name != "fit all rows again":
            right.plot(ds, [o[name][0] for o in one], style, color=color, label=name)
    for ax in (left, right):
        ax.set(xscale="log", yscale="log")
        ax.legend(fontsize=9, loc="upper left")
    left.set(xlabel="measurements so far", ylabel="multiplications so far", ylim=(1e2, 1e12))
    right.set(xlabel="parameters d", ylabel="multiplications for one update")
    ratio = curves["fit all rows again"][-1] / curves["recursion"][-1]
    times = [o["keep the sums, solve again"][0] / o["recursion"][0] for o in one]
    wide = times[-1]
    left.set_title(f"{d} parameters: fitting again grows like n²", fontsize=11)
    right.set_title(f"d = {ds[-1]}: a solve costs {wide:.0f} corrections", fontsize=11)
    return fig, (
        f"After {n} measurements of {d} parameters, fitting all rows again each time has cost {ratio:.0f} times "
        f"the recursion. Keeping the sums and solving again costs {wide:.0f} times the recursion at d = {ds[-1]}, "
        f"and {times[d - 1]:.1f} times at d = {d}."
    )


# ---------------------------------------------------------------- streams and covariances


def line_stream(n: int = STREAM, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Times t (n,) spread over [-1, 1] at random and y = 1 - 0.8 t + noise of standard deviation 0.5."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(-1, 1, n)
    return t, TRUTH[0] + TRUTH[1] * t + NOISE * rng.standard_normal(n)


def ellipse(centre, P, radius: float = 2.0) -> np.ndarray:
    """Points at Mahalanobis distance `radius` from centre -> (2, 121). P (2, 2), PSD."""
    values, vectors = np.linalg.eigh((P + P.T) / 2)
    angle = np.linspace(0, 2 * np.pi, 121)
    circle = np.array([np.cos(angle), np.sin(angle)])
    scaled = radius * np.sqrt(np.maximum(values, 0))[:, None] * circle
    return np.asarray(centre)[:, None] + vectors @ scaled


def run_stream(gain: Callable, joseph: Callable, t, y, P0: float, R: float):
    """Estimates (n + 1, 2), covariances (n + 1, 2, 2), gains (n, 2) of a line, from the prior mean 0."""
    theta, P = np.zeros(2), P0 * np.eye(2)
    estimates, covariances, gains = [theta], [P], []
    for now, value in zip(t, y, strict=True):
        X = np.array([[1.0, now]])
        K = np.asarray(gain(P, X, np.array([[R]])))
        theta = theta + K @ (value - X @ theta)
        P = np.asarray(joseph(P, K, X, np.array([[R]])))
        estimates.append(theta), covariances.append(P), gains.append(K[:, 0])
    return np.array(estimates), np.array(covariances), np.array(gains)


def stream_explorer(gain: Callable, joseph: Callable) -> Callable:
    """-> draw(step, log_P0): a line learned point by point, in the plane of its two parameters and as data."""
    t, y = line_stream()
    grid = np.array([-1.05, 1.05])

    def draw(step: int, log_P0: float):
        theta, P, K = run_stream(gain, joseph, t[:step], y[:step], 10.0**log_P0, NOISE**2)
        plural = "" if step == 1 else "s"
        fig, (left, right) = fixed_axes(2, (9, 3.6), (0.07, 0.99, 0.14, 0.91), wspace=0.2)
        left.plot(*ellipse(theta[-1], P[-1]), color=BLUE, label="2σ ellipse")
        left.plot(*theta.T, ".-", color=SKY, linewidth=1, label="estimates so far")
        left.plot(*theta[-1], "o", color=BLUE, markersize=3)
        left.plot(*TRUTH, "*", color=BLACK, markersize=12, label="truth")
        left.set(xlim=(-4, 4.5), ylim=(-4.6, 4), xlabel="offset θ₁", ylabel="slope θ₂")
        left.set_title(f"After {step} measurement{plural}")
        left.legend(fontsize=8, loc="upper left")
        x = np.stack([np.ones(50), np.linspace(*grid, 50)], 1)
        centre, sd = x @ theta[-1], np.sqrt(np.einsum("ij,jk,ik->i", x, P[-1], x))
        right.fill_between(
            x[:, 1],
            centre - 2 * sd,
            centre + 2 * sd,
            color=SKY,
            alpha=0.35,
            label="±2σ of the line",
        )
        right.plot(x[:, 1], centre, color=BLUE, label="estimate")
        right.plot(grid, TRUTH[0] + TRUTH[1] * grid, "--", color=BLACK, label="truth")
        right.plot(t[:step], y[:step], "o", color=VERMILION, markersize=4)
        right.set(xlim=(-1.05, 1.05), ylim=(-2, 4), xlabel="time t", ylabel="measurement y")
        right.legend(fontsize=8, loc="lower left")
        words = (
            f"After {step} measurement{plural} the estimate is ({theta[-1, 0]:.2f}, {theta[-1, 1]:.2f}), "
            f"the trace of P {np.trace(P[-1]):.3f}"
        )
        if step:
            right.set_title(f"Newest gain ({K[-1, 0]:.2f}, {K[-1, 1]:.2f})")
            right.plot(t[step - 1], y[step - 1], "o", color=BLACK, markersize=9, fillstyle="none")
            words += (
                f", and the newest gain ({K[-1, 0]:.2f}, {K[-1, 1]:.2f}) at t = {t[step - 1]:.2f}"
            )
        else:
            right.set_title("Nothing measured yet")
        return fig, words + "."

    return draw


def draw_trace(P, X, R, gain: Callable, joseph: Callable, seed=0):
    """Trace of the new covariance along six random lines through the optimal gain -> (fig, words)."""
    rng = np.random.default_rng(seed)
    K, steps = np.asarray(gain(P, X, R)), np.linspace(-1, 1, 41)
    best = np.trace(joseph(P, K, X, R))
    fig, ax = plt.subplots()
    lowest = np.inf
    for number in range(6):
        D = rng.standard_normal(K.shape)
        D /= np.linalg.norm(D)
        traces = np.array([np.trace(joseph(P, K + s * D, X, R)) for s in steps])
        lowest = min(lowest, np.min(traces[np.abs(steps) > 0.01]))
        label = "random directions" if number == 0 else None
        ax.plot(steps, traces, color=BLUE, alpha=0.5, linewidth=1.2, label=label)
    ax.plot(0, best, "*", color=VERMILION, markersize=15, label="optimal gain", zorder=3)
    ax.axhline(np.trace(P), color=BLACK, linestyle="--", label="trace before the measurement")
    ax.set(
        xlabel="distance of the gain from the optimal one, with sign", ylabel="trace of the new P"
    )
    ax.set_title("Every other gain leaves more error")
    ax.legend(fontsize=9)
    return fig, (
        f"The trace is a parabola along every line through the optimal gain, where it is {best:.3f}; before the "
        f"measurement it was {np.trace(P):.3f}. The lowest other value drawn is {lowest:.3f}. A bad gain makes the "
        "error larger than it was."
    )


# ---------------------------------------------------------------- rounding


def covariance_step(P, K, X, R, joseph: bool):
    """One covariance update in the number format of its arguments -> (d, d)."""
    A = np.eye(len(P), dtype=P.dtype) - K @ X
    return A @ P @ A.T + K @ R @ K.T if joseph else A @ P


def precise_sensor(joseph: bool, dtype, n: int = 40, P0: float = 1e8, seed: int = 0):
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
        P = covariance_step(P, K, X, R, joseph)
        estimates.append(theta[0]), covariances.append(P)
    return np.array(estimates, float), np.array(covariances, float), y


def rounded_gain(joseph: bool, n: int = 3000, seed: int = 3, P0: float = 10.0):
    """A line stream in float32 whose gain is stored in 16 bits -> asymmetry of P after each step, relative (n,)."""
    t, single = np.random.default_rng(seed).uniform(-1, 1, n), np.float32
    P, R, asymmetry = (P0 * np.eye(2)).astype(single), np.ones((1, 1), single), []
    for now in t:
        X = np.array([[1, now]], single)
        K = (P @ X.T / (X @ P @ X.T + R)).astype(np.float16).astype(single)
        P = covariance_step(P, K, X, R, joseph)
        asymmetry.append(abs(P[0, 1] - P[1, 0]) / np.max(np.abs(P)))
    return np.array(asymmetry, float)


def form_errors(n: int = 3000, P0: float = 10.0, seed: int = 3) -> dict[str, float]:
    """Largest relative error of P after n steps of a line stream in float32, full-precision gain, by form.

    Compared with P0⁻¹ I + Σ xxᵀ, inverted in float64; noise variance 1.
    """
    t, single = np.random.default_rng(seed).uniform(-1, 1, n), np.float32
    rows = np.column_stack([np.ones(n), t]).astype(single)
    start, one = (P0 * np.eye(2)).astype(single), np.ones((1, 1), single)
    now = {"Joseph": start, "short": start, "expanded": start, "information": start / single(P0**2)}
    for row in rows:
        X = row[None]
        for form, P in now.items():
            if form == "information":
                now[form] = P + X.T @ X
                continue
            S = X @ P @ X.T + one
            if form == "expanded":
                now[form] = P - P @ X.T @ X @ P / S
            else:
                now[form] = covariance_step(P, P @ X.T / S, X, one, form == "Joseph")
    now["information"] = np.linalg.inv(now["information"])
    wide = rows.astype(float)
    exact = np.linalg.inv(np.eye(2) / P0 + wide.T @ wide)
    return {form: float(np.abs(P - exact).max() / np.abs(exact).max()) for form, P in now.items()}


def lost_definiteness(joseph: bool, P0: float, streams: int = 20, n: int = 40) -> int:
    """On how many streams of a line in float32 (noise variance 1) P gets a negative eigenvalue within n steps."""
    single, lost = np.float32, 0
    for seed in range(streams):
        P, R = (P0 * np.eye(2)).astype(single), np.ones((1, 1), single)
        seen = []
        for now in np.random.default_rng(seed).uniform(-1, 1, n):
            X = np.array([[1, now]], single)
            P = covariance_step(P, P @ X.T / (X @ P @ X.T + R), X, R, joseph)
            seen.append(P.astype(float))
        seen = np.array(seen)
        lost += np.linalg.eigvalsh((seen + seen.swapaxes(1, 2)) / 2).min() < 0
    return int(lost)


def draw_rounding(short, joseph, exact, asymmetries):
    """Estimates of a precise sensor, and asymmetry with a rounded gain -> (fig, words). Show with digits=0.

    short, joseph, exact: results of `precise_sensor`. asymmetries: (short, joseph) of `rounded_gain`.
    """
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.7))
    k = np.arange(1, len(exact[0]) + 1)
    left.plot(k, exact[2], "x", color=BLACK, alpha=0.4, markersize=5, label="readings")
    left.plot(k, exact[0], "-", color=GREEN, linewidth=5, alpha=0.4, label="float64")
    left.plot(k, joseph[0], "-", color=BLUE, label="float32, Joseph form")
    left.plot(k, short[0], "--", color=VERMILION, label="float32, short form")
    left.set(xlabel="reading k", ylabel="estimate of θ₁", ylim=(-0.9, 5))
    left.set_title("The short form stops learning", fontsize=11)
    left.legend(fontsize=8, ncols=2, loc="lower right")
    for values, name, color, style in zip(
        asymmetries, ("short form", "Joseph form"), (VERMILION, BLUE), ("--", "-"), strict=True
    ):
        steps = np.arange(1, len(values) + 1)
        right.plot(
            steps, np.maximum(values, 1e-9), style, color=color, linewidth=1, label=name, alpha=0.8
        )
    right.set(xscale="log", yscale="log", ylim=(5e-10, 1e-1), xlabel="step k")
    right.set_ylabel("|P₁₂ − P₂₁| / largest entry")
    right.set_title("16-bit gain: Joseph stays symmetric", fontsize=11)
    right.legend(fontsize=9)
    return fig, (
        "Left: a sensor whose noise is far below the prior. In float32 the short form's variance becomes "
        "exactly 0 at the first reading and its estimate never moves again; the Joseph form follows the exact mean. "
        "Right: with a gain rounded to 16 bits the short form's matrix is no longer symmetric, by far more than "
        "float32 rounding; the Joseph form stays symmetric to the last digits."
    )


# ---------------------------------------------------------------- a constant


def scalar_explorer(scalar_rls: Callable, n: int = 40, seed: int = 6) -> Callable:
    """-> draw(log_ratio): gain and estimate of a constant (3, noise variance 1, prior guess 0)."""
    y = 3 + np.random.default_rng(seed).standard_normal(n)
    k = np.arange(1, n + 1)

    def draw(log_ratio: float):
        P0 = 10.0**log_ratio
        estimates, gains = (np.asarray(a) for a in scalar_rls(y, 0.0, P0, 1.0))
        mean = np.cumsum(y) / k
        ratio = f"{P0:.3g}" if P0 < 1000 else f"{P0:.0f}"
        fig, (left, right) = fixed_axes(2, (9, 3.5), (0.07, 0.99, 0.15, 0.91), wspace=0.2)
        left.plot(k, 1 / k, ":", color=BLACK, label="1/k")
        left.plot(k, gains, "o-", color=BLUE, markersize=3, label="gain P₀/(kP₀ + R)")
        left.set(xlabel="measurement k", ylabel="gain", ylim=(-0.02, 1.05))
        left.set_title(f"P₀/R = {ratio}: first gain {gains[0]:.3f}")
        right.plot(k, y, "x", color=BLACK, alpha=0.4, label="measurements")
        right.plot(k, mean, ":", color=BLACK, label="running mean")
        right.plot(k, estimates, "-", color=BLUE, label="estimate")
        right.axhline(0, color=GREEN, linestyle="--", linewidth=1.2, label="prior guess")
        right.set(xlabel="measurement k", ylabel="value", ylim=(-0.8, 6))
        weight = 1 - np.prod(1 - gains)
        right.set_title(f"After {n}: {weight:.0%} data, {1 - weight:.0%} prior")
        for ax in (left, right):
            ax.legend(fontsize=8, ncols=2, loc="upper right")
        return fig, (
            f"P₀/R = {ratio}: the gain starts at {gains[0]:.3f} and ends at {gains[-1]:.3f}. After {n} "
            f"measurements the estimate is {estimates[-1]:.2f}, the running mean {mean[-1]:.2f}; "
            f"the prior guess 0 still weighs {1 - weight:.1%}."
        )

    return draw


# ---------------------------------------------------------------- curves


def wave_stream(n: int = 40, seed: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Times (n,) from -1 to 1 in order, and a cubic with noise of standard deviation 0.2."""
    t = np.linspace(-1, 1, n)
    return t, _cubic(t) + 0.2 * np.random.default_rng(seed).standard_normal(n)


def _cubic(t):
    return 0.5 + 2 * t - 3 * t**3


def polynomial_explorer(rls_polyfit: Callable) -> Callable:
    """-> draw(points, order, log_P0): a polynomial fitted to the points so far, with its band."""
    t, y = wave_stream()
    grid = np.linspace(-1, 1, 101)

    def draw(points: int, order: int, log_P0: float):
        theta, P = map(np.asarray, rls_polyfit(t[:points], y[:points], order, 0.04, 10.0**log_P0))
        x = grid[:, None] ** np.arange(order + 1)
        centre, sd = x @ theta, np.sqrt(np.einsum("ij,jk,ik->i", x, P, x))
        ahead = t[points : points + 5]
        miss = np.nan
        if len(ahead):
            guess = ahead[:, None] ** np.arange(order + 1) @ theta
            miss = np.sqrt(np.mean((guess - y[points : points + 5]) ** 2))
        fig, ax = fixed_axes(1, (7, 3.7), (0.09, 0.98, 0.14, 0.91))
        ax.fill_between(
            grid, centre - 2 * sd, centre + 2 * sd, color=SKY, alpha=0.35, label="±2σ of the curve"
        )
        ax.plot(grid, centre, color=BLUE, label="estimate")
        ax.plot(grid, _cubic(grid), "--", color=BLACK, label="truth")
        ax.plot(t[:points], y[:points], "o", color=VERMILION, markersize=4, label="seen")
        ax.plot(t[points:], y[points:], "x", color=BLACK, alpha=0.3, label="still to come")
        ax.set(xlim=(-1.03, 1.03), ylim=(-2.5, 3.5), xlabel="time t", ylabel="measurement y")
        ax.set_title(f"Order {order} after {points} points")
        ax.legend(fontsize=8, ncols=3, loc="upper center")
        newest = 2 * sd[np.abs(grid - t[points - 1]).argmin()]
        words = (
            f"Order {order} after {points} points: the band at the newest point has a half-width of "
            f"{newest:.2f}, at t = 1 of {2 * sd[-1]:.2f}."
        )
        if len(ahead):
            words += f" The next {len(ahead)} points are missed by {miss:.2f} (root mean square; the noise is 0.20)."
        return fig, words

    return draw


def draw_histories(estimator, truth, innovation_sd):
    """Four histories of an estimator that ran: estimates, gains, variances, innovations -> (fig, words)."""
    theta, P = np.array(estimator.estimates, float), np.array(estimator.covariances, float)
    K, e = np.array(estimator.gains, float)[:, :, 0], np.array(estimator.innovations, float)[:, 0]
    k, sd = np.arange(len(theta)), np.sqrt(P[:, [0, 1], [0, 1]])
    fig, axes = plt.subplots(2, 2, figsize=(9, 5.6), sharex=True)
    names, colors, styles = ("offset θ₁", "slope θ₂"), (BLUE, VERMILION), ("-", "--")
    for j in range(2):
        look = dict(color=colors[j], linestyle=styles[j], label=names[j])
        axes[0, 0].fill_between(
            k, theta[:, j] - 2 * sd[:, j], theta[:, j] + 2 * sd[:, j], color=colors[j], alpha=0.15
        )
        axes[0, 0].plot(k, theta[:, j], **look)
        axes[0, 0].axhline(truth[j], color=BLACK, linewidth=1, linestyle=":")
        axes[0, 1].plot(k[1:], K[:, j], **look)
        axes[1, 0].plot(k, P[:, j, j], **look)
    axes[0, 0].set(ylim=(-2.5, 3), ylabel="estimate ± 2σ", title="Estimates close in on the truth")
    axes[0, 1].set(ylabel="gain", title="Each measurement counts for less")
    axes[1, 0].set(yscale="log", ylabel="variance (diagonal of P)", xlabel="measurement k")
    axes[1, 0].set_title("The variance falls like 1/k")
    inside = np.mean(np.abs(e) < 2 * innovation_sd)
    axes[1, 1].plot(k[1:], e, "o", color=BLACK, markersize=3, label="innovation")
    axes[1, 1].plot(k[1:], 2 * innovation_sd, color=GREEN, label="±2 predicted σ")
    axes[1, 1].plot(k[1:], -2 * innovation_sd, color=GREEN)
    axes[1, 1].set(ylabel="innovation", xlabel="measurement k", ylim=(-3, 3))
    axes[1, 1].set_title(f"{inside:.0%} of the innovations inside ±2σ")
    for ax in axes.flat:
        ax.legend(fontsize=8, loc="upper right")
    return fig, (
        f"After {len(K)} measurements the estimate is ({theta[-1, 0]:.2f}, {theta[-1, 1]:.2f}), the truth ({truth[0]}, "
        f"{truth[1]}). The variance of the offset fell from {P[0, 0, 0]:.3g} to {P[-1, 0, 0]:.2g}; the gain on it from "
        f"{K[0, 0]:.2f} to {K[-1, 0]:.3f}. {inside:.0%} of the innovations lie inside ±2 predicted standard deviations."
    )


# ---------------------------------------------------------------- forgetting


def tracking_terms(lam, speed: float, noise: float):
    """Squared lag and variance, in the long run, of w ← (1 - λ) w + λ y for a level that moves `speed` a step.

    Against the level at the newest measurement: lag speed (1 - λ) / λ, variance noise² λ / (2 - λ).
    """
    lam = np.asarray(lam, float)
    return (speed * (1 - lam) / lam) ** 2, noise**2 * lam / (2 - lam)


def drifting_line(speed: float, n: int = 200, noise: float = 0.3, seed: int = 8):
    """A line whose slope rises by `speed` a step from -1 -> rows [1, t] (n, 2), y (n,), true slopes (n,)."""
    rng = np.random.default_rng(seed)
    t, slopes = rng.uniform(-1, 1, n), -1 + speed * np.arange(1, n + 1)
    rows = np.column_stack([np.ones(n), t])
    return rows, 0.5 + slopes * t + noise * rng.standard_normal(n), slopes


def drift_explorer(rls_forget: Callable) -> Callable:
    """-> draw(step, lam, speed): a drifting slope tracked with forgetting and without."""

    def draw(step: int, lam: float, speed: float):
        rows, y, slopes = drifting_line(speed)
        w = np.asarray(rls_forget(rows, y, lam, 0.1))[:, 1]
        J = 0.1 * np.eye(2) + np.cumsum(rows[:, :, None] * rows[:, None], 0)
        q = np.cumsum(rows * y[:, None], 0)
        plain = np.linalg.solve(J, q[..., None])[:, 1, 0]
        k = np.arange(1, len(y) + 1)
        error, error_plain = (np.sqrt(np.mean((a - slopes)[100:] ** 2)) for a in (w, plain))
        fig, (left, right) = fixed_axes(2, (9, 3.6), (0.07, 0.99, 0.14, 0.91), wspace=0.2)
        left.plot(k, slopes, "--", color=BLACK, label="true slope")
        left.plot(k[:step], plain[:step], ":", color=ORANGE, linewidth=2.2, label="never forgets")
        left.plot(k[:step], w[:step], color=BLUE, label=f"λ = {lam:.2f}")
        left.set(xlabel="step k", ylabel="slope", ylim=(-2.6, 4), xlim=(0, 205))
        left.set_title(f"Error after step 100: {error:.2f} (never: {error_plain:.2f})")
        left.title.set_fontsize(11)
        left.legend(fontsize=8, loc="upper left")
        grid = np.array([-1.0, 1.0])
        weight = (1 - lam) ** np.arange(step - 1, -1, -1)
        right.scatter(
            rows[:step, 1], y[:step], s=18, color=VERMILION, alpha=np.clip(weight, 0.06, 1)
        )
        right.plot([], [], "o", color=VERMILION, markersize=4, label="data, paler = forgotten")
        right.plot(grid, 0.5 + slopes[step - 1] * grid, "--", color=BLACK, label="true line now")
        right.plot(grid, _at(rls_forget, rows, y, lam, step, grid), color=BLUE, label="estimate")
        right.set(xlabel="input t", ylabel="measurement y", ylim=(-4, 5))
        right.set_title(f"Step {step}: memory of about {1 / lam:.0f} rows", fontsize=11)
        right.legend(fontsize=8, loc="upper left")
        return fig, (
            f"λ = {lam:.2f}, a memory of about {1 / lam:.0f} rows; the slope moves {speed:.3f} a step. "
            f"From step 101 on the slope is missed by {error:.2f} (root mean square) with forgetting "
            f"and by {error_plain:.2f} without. "
            f"At step {step} it is {slopes[step - 1]:.2f}, the estimate {w[step - 1]:.2f}."
        )

    return draw


def _at(rls_forget, rows, y, lam, step, grid):
    w = np.asarray(rls_forget(rows[:step], y[:step], lam, 0.1))[-1]
    return w[0] + w[1] * grid


def draw_lag_and_noise(lams, measured, speed: float, noise: float):
    """Tracking error of a moving level against λ, formula and simulation -> (fig, words)."""
    fine = np.geomspace(lams[0], lams[-1], 200)
    lag, variance = tracking_terms(fine, speed, noise)
    best = fine[np.argmin(lag + variance)]
    fig, ax = plt.subplots()
    ax.plot(fine, lag, "--", color=VERMILION, label="squared lag")
    ax.plot(fine, variance, ":", color=GREEN, label="variance")
    ax.plot(fine, lag + variance, color=BLACK, label="their sum")
    ax.plot(lams, measured, "o", color=BLUE, label="simulated")
    ax.set(xscale="log", yscale="log", ylim=(1e-3, 30))
    ax.set(xlabel="weight λ of the newest row", ylabel="mean squared error")
    ax.set_title(f"Lag against noise: best near λ = {best:.2f}")
    ax.legend(fontsize=9)
    return fig, (
        f"A level that moves {speed} a step, noise {noise}. Small λ lags (squared lag {lag[0]:.1f} at "
        f"λ = {lams[0]:g}), large λ follows the noise (variance {variance[-1]:.2f} at λ = {lams[-1]:g}). "
        f"The sum is lowest near λ = {best:.2f}; "
        "the simulated errors lie on it."
    )


def draw_windup(variances, quiet: tuple[int, int]):
    """Claimed uncertainty of the slope while the input stands still -> (fig, words). variances: {λ: (n,)}."""
    fig, ax = plt.subplots()
    ax.axvspan(*quiet, color=BLACK, alpha=0.08, label="input stands still")
    looks = ((BLACK, ":"), (BLUE, "--"), (VERMILION, "-"))
    for (lam, values), (color, style) in zip(variances.items(), looks, strict=True):
        name = "never forgets" if lam == 0 else f"λ = {lam}"
        ax.plot(np.arange(1, len(values) + 1), values, style, color=color, label=name)
    ax.set(
        yscale="log", xlabel="step k", ylabel="claimed variance of the slope / R", ylim=(1e-3, 1e7)
    )
    ax.set_title("What is not seen and is forgotten becomes unknown")
    ax.legend(fontsize=9, loc="upper left", ncols=2)
    told = "; ".join(
        f"λ = {lam}: from {v[quiet[0] - 1]:.2g} to {v[quiet[1] - 1]:.2g}"
        for lam, v in variances.items()
    )
    return fig, (
        "What the recursion takes for the variance of the slope, over R, from the start to the end of the "
        f"quiet stretch. {told}."
    )


# ---------------------------------------------------------------- real data


def forecast_errors(table, lam: float, vague: float = 1e-3) -> np.ndarray:
    """Each race forecast from the ones before: errors (n,) of a line in time that forgets. table (n, 2): year, seconds.

    Row i of k weighs (1 - lam)^(k - i), one forgetting a race; lam = 0 is the ordinary recursion. The prior is
    11 s and slope 0, with the weight of a thousandth of a race.
    """
    t, y = (table[:, 0] - 1950) / 50, table[:, 1]
    theta, P, errors = np.array([11.0, 0.0]), np.eye(2) / vague, []
    for x, value in zip(np.column_stack([np.ones_like(t), t]), y, strict=True):
        errors.append(value - x @ theta)
        P = P / (1 - lam)
        K = P @ x / (x @ P @ x + 1)
        theta, P = theta + K * errors[-1], P - np.outer(K, x @ P)
    return np.array(errors)


def rmse(errors) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))


def draw_sprint(tables, chosen):
    """Forecasts of the 100 m races, one race ahead, with the λ chosen before 2005 -> (fig, words).

    tables: {name: (all races (n, 2), number of races to 2004)}, chosen: {name: λ}.
    """
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.8))
    told = []
    for ax, (name, (races, before)) in zip(axes, tables.items(), strict=True):
        year, seconds = races.T
        guess, fixed = (seconds - forecast_errors(races, lam) for lam in (chosen[name], 0.0))
        ax.axvspan(2006, 2026, color=BLACK, alpha=0.07, label="not used to choose λ")
        ax.plot(year, seconds, "o", color=BLACK, markersize=4, label="winner")
        ax.plot(year[5:], fixed[5:], ":", color=ORANGE, linewidth=2.2, label="never forgets")
        ax.plot(year[5:], guess[5:], "-", color=BLUE, label=f"λ = {chosen[name]:g}")
        errors = [rmse((seconds - g)[before:]) for g in (guess, fixed)]
        last = rmse(np.diff(seconds)[before - 1 :])
        ax.set(xlabel="year", ylabel="time (s)", xlim=(year[0] - 4, 2028))
        ax.set_title(
            f"{name.capitalize()} since 2008: {errors[0]:.2f} s off, not {errors[1]:.2f} s",
            fontsize=11,
        )
        ax.legend(fontsize=9, loc="upper right")
        told.append(
            f"{name}: since 2008 off by {errors[0]:.3f} s with λ = {chosen[name]:g}, "
            f"{errors[1]:.3f} s without forgetting, {last:.3f} s by repeating the last winner"
        )
    return fig, "Each race forecast from those before it, root mean squares. " + "; ".join(
        told
    ) + "."


def draw_patients(innovations, sd, batch_rmse: float):
    """Errors of forecasting each patient from those before -> (fig, words). innovations, sd (n,)."""
    k, inside = np.arange(1, len(sd) + 1), np.abs(innovations) < 2 * sd
    window = 50
    moving = np.sqrt(np.convolve(innovations**2, np.ones(window) / window, "valid"))
    fig, ax = plt.subplots(figsize=(7, 3.8))
    ax.plot(k, innovations, "o", color=BLUE, markersize=2.5, alpha=0.6, label="surprise")
    ax.plot(k, 2 * sd, color=GREEN, linestyle="--", label="±2 predicted σ")
    ax.plot(k, -2 * sd, color=GREEN, linestyle="--")
    ax.plot(
        k[window - 1 :], moving, color=VERMILION, label=f"root mean square of the last {window}"
    )
    ax.axhline(batch_rmse, color=BLACK, linestyle=":", label="residual of the final fit")
    ax.set(xlabel="patient k", ylabel="true − forecast (score)", ylim=(-330, 430))
    ax.set_title(f"{inside.mean():.0%} of the surprises inside the predicted ±2σ")
    ax.legend(fontsize=8, ncols=2, loc="upper right")
    return fig, (
        f"{inside.mean():.1%} of {len(sd)} surprises lie inside ±2 predicted standard deviations, which fall from "
        f"{sd[0]:.0f} to {sd[-1]:.0f}. The root mean square of the surprises is "
        f"{moving[0]:.0f} over the first {window} patients and {moving[-1]:.0f} over the last; "
        f"the final fit's residuals have {batch_rmse:.0f}."
    )

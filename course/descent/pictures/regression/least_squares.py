"""Least squares with one feature: squares to drag, projections, heights, likelihoods and a sprint forecast."""

import timeit

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats
from scipy.optimize import curve_fit

from descent.plots import BLACK, BLUE, GREEN, ORANGE, SKY, VERMILION, fixed_axes, grouped_bars

# ---------------------------------------------------------------- lines


def fit_line(x, y) -> tuple[float, float]:
    """Intercept and slope of the least-squares line. x, y (n,); x not constant."""
    centred = x - np.mean(x)
    slope = centred @ y / (centred @ centred)
    return np.mean(y) - slope * np.mean(x), slope


def intervals(x, y, new_x, level: float = 0.95) -> tuple[np.ndarray, ...]:
    """The line at new_x (m,), and half-widths for its mean and for a new target -> three (m,)."""
    intercept, slope = fit_line(x, y)
    spread = np.sqrt(np.sum((y - intercept - slope * x) ** 2) / (len(x) - 2))
    v = 1 / len(x) + (new_x - np.mean(x)) ** 2 / np.sum((x - np.mean(x)) ** 2)
    q = stats.t.ppf((1 + level) / 2, len(x) - 2) * spread
    return intercept + slope * new_x, q * np.sqrt(v), q * np.sqrt(1 + v)


# ---------------------------------------------------------------- heights of fathers and sons

FATHERS, SONS, SPREAD = 172.0, 174.0, 7.0


def heights(n: int, rng, rho: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Simulated heights of n fathers and their sons in cm, normal with correlation rho -> two (n,).

    Means 172 and 174, both standard deviations 7: near what Pearson and Lee (1903) measured.
    """
    x = rng.standard_normal(n)
    y = rho * x + np.sqrt(1 - rho**2) * rng.standard_normal(n)
    return FATHERS + SPREAD * x, SONS + SPREAD * y


def draw_sample(n: int, noise: float, seed: int):
    """One data set from a known process, and the line fitted to it -> (fig, words)."""
    rng = np.random.default_rng(seed)
    x = FATHERS + SPREAD * rng.standard_normal(n)
    y = SONS + 0.5 * (x - FATHERS) + noise * rng.standard_normal(n)
    intercept, slope = fit_line(x, y)
    at = np.array([FATHERS - 20, FATHERS + 20])
    truth = SONS + 0.5 * (at - FATHERS)
    fig, ax = plt.subplots()
    ax.plot(x, y, "o", color=BLUE, markersize=3, alpha=0.6, label=f"data set D, N = {n}")
    ax.plot(at, truth, "--", color=BLACK, label="true mean of y given x")
    ax.fill_between(at, truth - noise, truth + noise, color=BLACK, alpha=0.1, label="± noise σ")
    ax.plot(at, intercept + slope * at, color=VERMILION, label="fitted line")
    ax.set(xlim=at, ylim=(145, 203), xlabel="father's height x (cm)", ylabel="son's height y (cm)")
    ax.set_title(f"Fitted slope {slope:.2f}, true slope 0.50")
    ax.legend(fontsize=8, loc="upper left")
    error = noise / (SPREAD * np.sqrt(n))
    return fig, (
        f"Slope fitted to {n} rows: {slope:.2f}; true slope 0.50. From data set to data set the "
        f"fitted slope scatters by about {error:.3f}."
    )


# ---------------------------------------------------------------- squares to drag

SQUARES_X = np.array([0.6, 1.3, 1.9, 2.8, 3.5, 4.4])
SQUARES_Y = np.array([1.9, 1.6, 3.1, 2.7, 4.2, 4.0])


def _two_panels(height: float):
    return fixed_axes(2, (9, height), (0.07, 0.985, 0.14, 0.91), wspace=0.22)


def half_squares(intercept, slope, x=SQUARES_X, y=SQUARES_Y):
    """L = ½ Σ (y - intercept - slope x)²; intercept and slope may be arrays of the same shape."""
    e = y - np.multiply.outer(slope, x) - np.expand_dims(intercept, -1)
    return np.sum(e**2, axis=-1) / 2


def draw_squares(slope: float, intercept: float):
    """Residuals as squares beside the loss parabola of the slope -> (fig, words)."""
    x, y = SQUARES_X, SQUARES_Y
    loss = half_squares(intercept, slope)
    best = x @ (y - intercept) / (x @ x)
    lowest, floor = half_squares(intercept, best), half_squares(*fit_line(x, y))
    fig, (left, right) = _two_panels(4)
    for a, b in zip(x, y, strict=True):
        score = intercept + slope * a
        side = abs(b - score)
        corner = (a - side if b > score else a, min(b, score))  # beside the line, not across it
        left.add_patch(plt.Rectangle(corner, side, side, facecolor=ORANGE, edgecolor=VERMILION,
                                     alpha=0.35))  # fmt: skip
    ends = np.array([-1.4, 5.8])
    left.plot(ends, intercept + slope * ends, color=BLUE)
    left.plot(x, y, "o", color=BLACK)
    left.plot(0, intercept, "s", color=BLUE, mfc="white")
    left.set(
        xlim=(-1.4, 5.8), ylim=(-0.9, 6.3), aspect="equal", xlabel="input x", ylabel="output y"
    )
    left.set_title(f"Half the area of all squares: L = {loss:.2f}")
    slopes = np.linspace(-0.5, 2.5, 121)
    right.plot(slopes, half_squares(np.full(121, intercept), slopes), color=BLUE)
    right.plot(slope, loss, "o", color=VERMILION, markersize=9, label="you are here")
    right.plot(best, lowest, "*", color=BLACK, markersize=12, label="best slope, this intercept")
    right.axhline(floor, color=GREEN, linestyle="--", label="lowest with both free")
    right.set(xlabel="slope β", ylabel="loss L", ylim=(0, 40), xlim=(-0.5, 2.5))
    right.set_title(f"The loss of every slope, intercept {intercept:.2f}")
    right.legend(fontsize=8, loc="upper center")
    return fig, (
        f"Slope {slope:.2f}, intercept {intercept:.2f}: L = {loss:.2f}. With this intercept the best "
        f"slope is {best:.2f}, with L = {lowest:.2f}; with both free L falls to {floor:.2f}."
    )


def draw_descents(paths, x, y, labels):
    """Iterates (T + 1,) of several rates on the loss parabola of a line through the origin -> (fig, words)."""
    best = x @ y / (x @ x)
    betas = np.linspace(best - 2.2, best + 2.2, 161)
    fig, axes = plt.subplots(1, len(paths), figsize=(9.6, 3.5), sharey=True)
    told = []
    for ax, path, label in zip(axes, paths, labels, strict=True):
        ax.plot(betas, half_squares(np.zeros(161), betas, x, y), color=BLUE)
        ax.plot(path, half_squares(np.zeros(len(path)), path, x, y), "o-", color=VERMILION)
        start = half_squares(0.0, path[0], x, y)
        ax.plot(path[0], start, "s", color=BLACK, markersize=8, label="start")
        factor = (path[2] - best) / (path[1] - best)
        ax.set(xlabel="slope β", xlim=(betas[0], betas[-1]))
        ax.set_title(f"{label}:\n{_behaviour(factor)}", fontsize=11)
        told.append(f"{label}: the error is multiplied by {factor:.2f} a step")
    axes[0].set(ylabel="loss L", ylim=(0, 1.05 * half_squares(0.0, betas[0], x, y)))
    axes[0].legend(loc="upper center")
    return fig, ". ".join(told) + ". The square marks the start."


def _behaviour(factor):
    """What iterates do whose error is multiplied by `factor` a step."""
    if abs(abs(factor) - 1) < 1e-6:
        return "for ever to and fro"
    if abs(factor) > 1:
        return "runs away"
    return "jumps across, arrives" if factor < 0 else "from one side"


def draw_times(dot, loop, repeats: int = 3):
    """Measured seconds of a Python loop and an inner product against the number of rows -> (fig, words)."""
    rng, sizes = np.random.default_rng(0), np.array([100, 1000, 10_000, 100_000, 1_000_000])
    fig, ax = plt.subplots()
    for name, call, last, style in (
        ("loop over rows", loop, 4, "s--"),
        ("inner products", dot, 5, "o-"),
    ):
        seconds = []
        for n in sizes[:last]:
            x, y = rng.normal(size=(2, n))
            seconds.append(
                min(timeit.repeat(lambda call=call, x=x, y=y: call(x, y), number=1, repeat=repeats))
            )
        ax.plot(sizes[:last], seconds, style, label=name)
    ax.set(xscale="log", yscale="log", xlabel="rows N", ylabel="seconds on your machine")
    ax.set_title("The same sums, one row at a time and all at once")
    ax.legend()
    return (
        fig,
        "Both curves rise with the number of rows; the loop lies far above the inner products.",
    )


# ---------------------------------------------------------------- projection for n = 3

VECTOR_X, VECTOR_Y = np.array([2.0, 1.0, 1.5]), np.array([0.8, 2.4, 1.9])


def draw_projection(beta: float, turn: float, tilt: float = 20.0):
    """X, Y, the prediction X β and the error in three dimensions, one axis a row -> (fig, words)."""
    X, Y = VECTOR_X, VECTOR_Y
    best = X @ Y / (X @ X)
    score, error = beta * X, Y - beta * X
    length = np.linalg.norm(error)
    angle = np.degrees(np.arccos(np.clip(error @ X / (length * np.linalg.norm(X)), -1, 1)))
    fig = plt.figure(figsize=(9, 4.2), layout="none")
    ax = fig.add_axes((0.0, 0.04, 0.56, 0.86), projection="3d", proj_type="ortho")
    ax.plot(*np.outer(X, [-0.3, 1.7]), color=SKY, linewidth=1, label="all multiples of X")
    for vector, color, name, style in ((X, BLUE, "X", "-"), (Y, BLACK, "Y", "-"),
                                       (score, GREEN, "Xβ", "--")):  # fmt: skip
        ax.plot(*np.stack([0 * vector, vector], 1), style, color=color, linewidth=2.4)
        ax.plot(*vector[:, None], "o", color=color)
        below = np.array([0, 0, 0.35 if name == "Xβ" else -0.08])
        ax.text(*(vector - below), name, color=color, fontsize=12)
    ax.plot(*np.stack([score, Y], 1), ":", color=VERMILION, linewidth=2.6, label="error e = Y - Xβ")
    ax.plot([0], [0], [0], "s", color=BLACK, markersize=4)
    ax.set(xlim=(0, 3), ylim=(0, 3), zlim=(0, 3), xlabel="row 1", ylabel="row 2", zlabel="row 3")
    ax.set(xticks=range(4), yticks=range(4), zticks=range(4))
    ax.set_box_aspect((1, 1, 1))
    ax.view_init(elev=tilt, azim=turn)
    ax.legend(fontsize=8, loc="upper left")
    ax.set_title(f"Angle between error and X: {angle:.0f}°")
    right = fig.add_axes((0.68, 0.15, 0.3, 0.72))
    betas = np.linspace(-0.3, 1.7, 81)
    right.plot(betas, np.linalg.norm(Y[:, None] - np.outer(X, betas), axis=0), color=BLUE)
    right.plot(beta, length, "o", color=VERMILION, markersize=9)
    right.axvline(best, color=BLACK, linestyle="--", label="shortest")
    right.set(xlabel="β", ylabel="length of the error |e|", ylim=(0, 4.4))
    right.legend(fontsize=8, loc="lower left")
    right.set_title(f"|e| = {length:.2f}")
    return fig, (
        f"β = {beta:.2f}: |e| = {length:.3f}, e·X = {error @ X:.2f}, the angle between e and X is "
        f"{angle:.0f} degrees. Lowest at β = {best:.3f}, where |e| = {np.linalg.norm(Y - best * X):.3f}."
    )


# ---------------------------------------------------------------- regression to the mean


def draw_regression(rho: float, share: float, reverse: bool):
    """Standardised pairs, both regression lines, and the chosen extreme share with its partners -> (fig, words).

    share: the part of fathers chosen for their height (of sons, where reverse is set).
    """
    rng = np.random.default_rng(4)
    x, y = heights(4000, rng, rho)
    x, y = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    r = np.mean(x * y)
    chooser, other = (y, x) if reverse else (x, y)
    chosen = chooser >= np.quantile(chooser, 1 - share)
    ends = np.array([-3.5, 3.5])
    fig, ax = plt.subplots(figsize=(7.2, 4.8))
    shown = np.arange(700)
    ax.plot(x[shown], y[shown], ".", color=SKY, markersize=4, alpha=0.6)
    picked = shown[chosen[:700]]
    ax.plot(x[picked], y[picked], "^", color=ORANGE, markersize=4, label="chosen")
    ax.plot(ends, ends, ":", color=BLACK, label="45°: partner as extreme")
    ax.plot(ends, r * ends, color=VERMILION, label="son from father: y = r x")
    ax.plot(r * ends, ends, "--", color=BLUE, label="father from son: x = r y")
    edges = np.arange(-2.25, 2.5, 0.5)
    inside = [(chooser >= low) & (chooser < low + 0.5) for low in edges[:-1]]
    means = [other[rows].mean() for rows in inside], [chooser[rows].mean() for rows in inside]
    ax.plot(
        *(means if reverse else means[::-1]),
        "o",
        color=BLACK,
        markersize=5,
        label="means of classes",
    )
    mark = (other[chosen].mean(), chooser[chosen].mean())
    share_left = mark[0] / mark[1]
    ax.plot(
        *(mark if reverse else mark[::-1]), "*", color=BLACK, markersize=16, label="chosen: means"
    )
    ax.set(xlim=ends, ylim=ends, aspect="equal", xlabel="father (standard deviations)")
    who, kin = ("sons", "fathers") if reverse else ("fathers", "sons")
    ax.set(ylabel="son (standard deviations)")
    ax.set_title(f"Correlation {r:.2f}: {kin} {share_left:.2f} times as far out")
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return fig, (
        f"Correlation {r:.2f}. The tallest {100 * share:.0f} % of {who} lie {chooser[chosen].mean():.2f} "
        f"standard deviations above the mean, their {kin} {other[chosen].mean():.2f}: "
        f"{share_left:.2f} times as much."
    )


def draw_r2(rows: dict):
    """Three definitions of R² for several predictions -> (fig, words). rows: {name: three numbers}."""
    names, values = list(rows), np.array(list(rows.values()), float)
    fig, ax = plt.subplots(figsize=(8, 3.8))
    looks = (
        ("explained share", BLUE, ""),
        ("1 - RSS/TSS", ORANGE, "//"),
        ("correlation²", GREEN, ".."),
    )
    for bars in grouped_bars(names, values.T, ax, looks=looks, step=0.26):
        ax.bar_label(bars, fmt="%.2f", fontsize=8)
    ax.axhline(0, color=BLACK, linewidth=1)
    ax.set(ylabel="R²", ylim=(values.min() - 0.25, max(1.35, values.max() + 0.45)))
    ax.set_title("Three definitions agree only for least squares on its own rows")
    ax.legend(ncols=3, fontsize=9, loc="upper center")
    told = "; ".join(
        f"{name.replace(chr(10), ' ')}: {', '.join(f'{v:.2f}' for v in row)}"
        for name, row in zip(names, values, strict=True)
    )
    return fig, f"Explained share, 1 - RSS/TSS, squared correlation. {told}."


# ---------------------------------------------------------------- likelihood


def loglik(slope, sigma, x, y):
    """Gaussian log-likelihood of y = slope x + noise; slope and sigma may be arrays of one shape."""
    rss = 2 * half_squares(np.zeros(np.shape(slope)), slope, x, y)
    return -len(x) / 2 * np.log(2 * np.pi * np.square(sigma)) - rss / (2 * np.square(sigma))


def likelihood_explorer(x, y):
    """-> draw(slope, sigma): bells around a line through the origin, and the log-likelihood of both numbers."""
    best = x @ y / (x @ x)
    width = np.sqrt(np.mean((y - best * x) ** 2))
    slopes, sigmas = np.linspace(best - 1, best + 1, 61), np.geomspace(0.3 * width, 5 * width, 61)
    surface = loglik(*np.meshgrid(slopes, sigmas), x, y)
    levels = surface.max() - np.array([200, 100, 50, 25, 12, 6, 3, 1, 0.3])

    def draw(slope: float, sigma: float):
        fig, (left, right) = _two_panels(4)
        ends = np.array([0, 1.15 * x.max()])
        left.plot(ends, slope * ends, color=BLUE, label="line s = xβ")
        z = np.linspace(-3, 3, 61)
        for a in np.linspace(x.min(), x.max(), 4):
            bell = np.exp(-(z**2) / 2) * 0.2 * x.max() * width / sigma
            left.plot(a + bell, slope * a + sigma * z, color=GREEN, linewidth=1)
            left.plot([a, a], slope * a + sigma * z[[0, -1]], color=GREEN, linewidth=0.6)
        left.plot(x, y, "o", color=BLACK, label="data")
        left.set(xlabel="input x", ylabel="output y", xlim=(0, 1.3 * x.max()))
        left.set_ylim(min(0, y.min()) - 2, y.max() + 3)
        left.legend(fontsize=8, loc="upper left")
        value = loglik(slope, sigma, x, y)
        left.set_title(f"Log-likelihood J = {value:.1f}")
        right.contour(
            slopes, sigmas, surface, levels=levels, colors="#666666", linewidths=0.8, linestyles="-"
        )
        right.axvline(best, color=BLACK, linestyle="--", label="least squares")
        right.plot(best, width, "*", color=BLACK, markersize=13, label="maximum")
        right.plot(slope, sigma, "o", color=VERMILION, markersize=9, label="you are here")
        right.set(xlabel="slope β", ylabel="noise σ", yscale="log")
        right.set_yticks([0.5, 1, 2, 4], ["0.5", "1", "2", "4"])
        right.minorticks_off()
        right.set_title("Best β is the same for every σ")
        right.legend(fontsize=8, loc="upper right", frameon=True, framealpha=1)
        rss = np.sum((y - slope * x) ** 2)
        return fig, (
            f"β = {slope:.2f}, σ = {sigma:.2f}: J = {value:.2f}. At this slope the best σ is "
            f"{np.sqrt(rss / len(x)):.2f}. The maximum is {loglik(best, width, x, y):.2f}, at β = {best:.2f} "
            f"and σ = {width:.2f}."
        )

    return draw


def draw_same_shape(x, y, sigmas=(0.7, 1.0, 2.0)):
    """Mean negative log-likelihood for several σ, and the loss, against the slope -> (fig, words)."""
    best = x @ y / (x @ x)
    betas = np.linspace(best - 0.8, best + 0.8, 81)
    mse = 2 * half_squares(np.zeros(81), betas, x, y) / len(x)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    for sigma, style in zip(sigmas, ("-", "--", ":"), strict=True):
        nll = -loglik(betas, np.full(81, sigma), x, y) / len(x)
        left.plot(betas, nll, style, label=f"σ = {sigma}")
        right.plot(mse, nll, style, label=f"σ = {sigma}")
    left.axvline(best, color=BLACK, linewidth=1, label="least squares")
    left.legend(fontsize=8, loc="upper center", frameon=True, framealpha=1)
    left.set(
        xlabel="slope β", ylabel="mean negative log-likelihood", title="The lowest β does not move"
    )
    right.legend(fontsize=8)
    right.set(xlabel="mean squared error", ylabel="mean negative log-likelihood")
    right.set_title("Affine in the squared error")
    return fig, (
        f"For σ = {', '.join(map(str, sigmas))} the curves differ, but all are lowest at β = {best:.2f}; "
        "drawn against the mean squared error each is a straight line."
    )


# ---------------------------------------------------------------- are residuals normal?


def sums(kind: str, k: int, n: int, rng) -> np.ndarray:
    """n errors, each the sum of k small independent effects of one kind -> (n,).

    kind: "uniform", "exponential", "Cauchy", or "one dominates": the first effect is a coin toss that
    stays as large as all others together.
    """
    if kind == "Cauchy":
        return rng.standard_cauchy((n, k)).sum(1)
    if kind == "exponential":
        return rng.exponential(size=(n, k)).sum(1)
    total = rng.uniform(-1, 1, (n, k)).sum(1)
    if kind == "one dominates":
        total = total + 2 * np.sqrt(k / 3) * rng.choice([-1.0, 1.0], n)
    return total


def skew_kurt(x) -> tuple[float, float]:
    """Skewness and excess kurtosis; both are 0 for a normal distribution. x (n,)."""
    z = (x - np.mean(x)) / np.std(x)
    return float(np.mean(z**3)), float(np.mean(z**4) - 3)


def draw_sums(kind: str, k: int):
    """Histogram and normal quantile plot of sums of k effects -> (fig, words)."""
    values = sums(kind, k, 2000, np.random.default_rng(0))
    middle = np.median(values)
    scale = np.subtract(*np.quantile(values, [0.75, 0.25])) / 1.349  # also where no variance exists
    z = np.sort((values - middle) / scale)
    normal = stats.norm.ppf((np.arange(2000) + 0.5) / 2000)
    skew, kurtosis = skew_kurt(values)
    fig, (left, right) = _two_panels(3.7)
    edges = np.linspace(-5, 5, 51)
    heights = np.histogram(z, edges)[0] / (len(z) * (edges[1] - edges[0]))
    left.stairs(heights, edges, fill=True, color=SKY)
    at = np.linspace(-5, 5, 101)
    left.plot(at, stats.norm.pdf(at), "--", color=BLACK, label="normal density")
    left.set(xlabel="error (robust standard units)", ylabel="density", ylim=(0, 0.8))
    left.set_title(f"{k} effect{'s' * (k > 1)}, {kind}")
    left.legend(fontsize=8)
    right.plot(normal, z, ".", color=BLUE)
    right.plot([-4, 4], [-4, 4], "--", color=BLACK)
    right.set(xlim=(-4, 4), ylim=(-8, 8), xlabel="normal quantile", ylabel="error quantile")
    far = np.max(np.abs(z - normal)[20:-20])
    right.set_title(f"Largest gap (tails cut): {far:.2f}")
    skew_told = "far from 0" if abs(skew) > 10 else f"{skew:.2f}"
    kurtosis_told = "more than 100" if kurtosis > 100 else f"{kurtosis:.2f}"
    return fig, (
        f"2000 sums of {k} effect{'s' * (k > 1)} ({kind}): skewness {skew_told}, "
        f"excess kurtosis {kurtosis_told}. Between the 1 % and 99 % quantiles the sums leave the normal "
        f"line by at most {far:.2f} standard units."
    )


# ---------------------------------------------------------------- the sprint

MODELS = ("line in time", "line in speed", "levelling off")


def sprint_curve(model: str, x, y):
    """A fitted curve: years (m,) -> seconds (m,). x (n,) years, y (n,) seconds.

    "line in time": seconds linear in the year; "line in speed": 100 m / seconds linear in the year;
    "levelling off": floor + drop exp(-(year - 1900) / span), by least squares.
    """
    if model == "line in time":
        intercept, slope = fit_line(x, y)
        return lambda t: intercept + slope * np.asarray(t, float)
    if model == "line in speed":
        intercept, slope = fit_line(x, 100 / y)
        return lambda t: 100 / (intercept + slope * np.asarray(t, float))

    def levelling(t, floor, drop, span):
        return floor + drop * np.exp(-(np.asarray(t, float) - 1900) / span)

    fitted, _ = curve_fit(levelling, x, y, p0=(9.5, 1.5, 60.0), maxfev=10_000)
    return lambda t: levelling(t, *fitted)


def draw_crossing(men, women, until: float = 2200.0):
    """Both lines carried on until they cross -> (fig, words). men, women (n, 2): year, seconds."""
    years = np.array([1890.0, until])
    fig, ax = plt.subplots()
    lines = []
    for table, name, color, marker, style in (
        (men, "men", BLUE, "o", "-"),
        (women, "women", VERMILION, "^", "--"),
    ):
        intercept, slope = fit_line(*table.T)
        lines.append((intercept, slope))
        ax.plot(*table.T, marker, color=color, label=f"{name}, winning times")
        ax.plot(years, intercept + slope * years, style, color=color, label=f"{name}, line")
    (a, b), (c, d) = lines
    cross = (a - c) / (d - b)
    games = int(4 * np.ceil(cross / 4))
    ax.axvspan(1896, 2004, color=BLACK, alpha=0.06)
    ax.plot(cross, a + b * cross, "*", color=BLACK, markersize=14, label=f"crossing in {cross:.0f}")
    ax.set(xlabel="year", ylabel="100 m (seconds)", title=f"Will women win in {games}?")
    ax.legend(fontsize=8)
    return fig, (
        f"The lines cross in {cross:.1f}. At the Games of {games}: men {a + b * games:.3f} s, women "
        f"{c + d * games:.3f} s. The shaded years hold the data."
    )


def sprint_explorer(men, women):
    """-> draw(year, model): both forecasts for a year to come, with 95 % intervals for the line in time."""
    curves = {m: [sprint_curve(m, *table.T) for table in (men, women)] for m in MODELS}

    def draw(year: int, model: str):
        years = np.arange(1890, max(year, 2030) + 1.0)
        fig, ax = fixed_axes(1, (8, 4), (0.1, 0.98, 0.13, 0.92))
        told = []
        looks = (("men", men, BLUE, "o", "-"), ("women", women, VERMILION, "^", "--"))
        for (name, table, color, marker, style), curve in zip(looks, curves[model], strict=True):
            ax.plot(years, curve(years), style, color=color)
            ax.plot(*table.T, marker, color=color, markersize=3.5, label=name)
            text = f"{name} {float(curve(year)):.2f} s"
            if model == "line in time":
                line, _, half = intervals(*table.T, years)
                ax.fill_between(years, line - half, line + half, color=color, alpha=0.15)
                text += f" ± {half[years == year][0]:.2f} s"
            told.append(text)
            ax.plot(year, curve(year), "s", color=color, markersize=9, mfc="white", zorder=4)
        ax.axhline(0, color=BLACK, linewidth=1)
        low = min(float(curve(years[-1])) for curve in curves[model])
        ax.set(
            xlabel="year", ylabel="100 m (seconds)", ylim=(min(low - 1, 7.5), 13), xlim=(1890, None)
        )
        ax.set_title(f"{model.capitalize()}: {'; '.join(told)} in {year}", fontsize=11)
        ax.legend(fontsize=9, loc="upper right")
        first = "women" if float(curves[model][1](year)) < float(curves[model][0](year)) else "men"
        return fig, f"{model.capitalize()}, {year}: {'; '.join(told)}. Ahead: {first}."

    return draw


def draw_tested(men, women, later_men, later_women):
    """Forecasts from data up to 2004, with both 95 % intervals, against what was run later -> (fig, words)."""
    fig, axes = plt.subplots(1, 2, figsize=(9.4, 4))
    years, told = np.arange(1960.0, 2030), []
    for ax, table, later, color, name in (
        (axes[0], men, later_men, BLUE, "Men"),
        (axes[1], women, later_women, VERMILION, "Women"),
    ):
        line, mean, new = intervals(*table.T, years)
        ax.fill_between(
            years, line - new, line + new, color=SKY, alpha=0.35, label="new race, 95 %"
        )
        ax.fill_between(
            years, line - mean, line + mean, color=BLACK, alpha=0.25, label="line, 95 %"
        )
        ax.plot(years, line, color=color)
        ax.plot(years, sprint_curve("levelling off", *table.T)(years), "--", color=GREEN,
                label="levelling off")  # fmt: skip
        shown = table[:, 0] >= 1960
        ax.plot(*table[shown].T, "o", color=color, markersize=4, label="fitted to")
        ax.plot(*later.T, "D", color=BLACK, markersize=6, label="run later")
        forecast, mean, new = intervals(*table.T, later[:, 0])
        slower = int(np.sum(later[:, 1] > forecast))
        ax.set(xlabel="year", ylabel="100 m (seconds)")
        ax.set_title(f"{name}: {slower} of {len(later)} above the line")
        off = np.abs(later[:, 1] - forecast)
        levelled = sprint_curve("levelling off", *table.T)(later[:, 0])
        misses = (np.mean(np.abs(later[:, 1] - guess)) for guess in (forecast, levelled))
        line_misses, curve_misses = misses
        told.append(
            f"{name}: of {len(later)} later races {np.sum(off <= new)} lie in the interval for a new "
            f"race, {np.sum(off <= mean)} in that of the line, {slower} above the line; mean miss of the "
            f"line {line_misses:.2f} s, of the curve that levels off {curve_misses:.2f} s"
        )
    axes[0].legend(fontsize=8)
    return fig, ". ".join(told) + "."


def crossing_year(men, women) -> float:
    """Year in which the two fitted lines meet. men, women (n, 2): year, seconds."""
    (a, b), (c, d) = fit_line(*men.T), fit_line(*women.T)
    return (a - c) / (d - b)


def draw_choices(choices: dict):
    """Crossing year under several choices of the data -> (fig, words). choices: {name: year}."""
    names, years = list(choices), np.array(list(choices.values()))
    fig, ax = plt.subplots(figsize=(8, 3.6))
    for row, year in enumerate(years):
        marker, color = ("*", VERMILION) if row == 0 else ("o", BLUE)
        ax.plot(year, row, marker, color=color, markersize=14 if row == 0 else 8)
        ax.annotate(
            f"{year:.0f}", (year, row), xytext=(10, 0), textcoords="offset points", va="center"
        )
    ax.axvspan(1896, 2024, color=BLACK, alpha=0.1)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set(
        xlabel="year in which the lines cross",
        xlim=(min(1700, years.min() - 60), years.max() + 300),
    )
    ax.set_title("A few races decide which century it is")
    told = "; ".join(f"{name}: {year:.0f}" for name, year in choices.items())
    return (
        fig,
        f"The crossing year by the choice of data: {told}. Races were run in the shaded years.",
    )


def draw_best(errors: dict, spreads: dict):
    """Which estimator errs least: by the noise, and among linear unbiased ones -> (fig, words).

    errors: {noise: root mean squared errors by squares and by absolute values}; spreads: {estimator: spread / σ}.
    """
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.2), width_ratios=(1.2, 1))
    values = np.array(list(errors.values()))
    looks = (("least squares", BLUE, ""), ("least absolute errors", ORANGE, "//"))
    groups = [f"{name} noise" for name in errors]
    for bars in grouped_bars(groups, values.T, left, looks=looks, step=0.38):
        left.bar_label(bars, fmt="%.4f", fontsize=8)
    left.set(ylabel="error of the slope (RMS)", ylim=(0, 1.5 * values.max()))
    left.set_title("Each loss wins with its own noise")
    left.legend(fontsize=8, loc="upper center", ncols=2)
    bars = right.barh(range(len(spreads)), list(spreads.values()), color=[BLUE, SKY, SKY])
    right.bar_label(bars, fmt="%.3f", fontsize=8, padding=2)
    right.set_yticks(range(len(spreads)), list(spreads))
    right.invert_yaxis()
    right.set(xlabel="spread of the slope / noise σ", xlim=(0, 1.2 * max(spreads.values())))
    right.set_title("Best of three unbiased slopes")
    rows = (f"{name} noise {a:.4f} and {b:.4f}" for name, (a, b) in errors.items())
    told = ", ".join(f"{name} {value:.3f}" for name, value in spreads.items())
    return fig, (
        f"Root mean squared error of the slope by least squares and by least absolute errors: {'; '.join(rows)}. "
        f"Spread of three unbiased linear slopes in units of the noise, uniform here: {told}."
    )


def unbiased_slopes(x) -> dict[str, np.ndarray]:
    """Weights c (n,) of three linear estimators Σ c_i y_i of the slope through the origin, all with c·x = 1."""
    return {
        "least squares": x / (x @ x),
        "ratio of means": np.full(len(x), 1 / x.sum()),
        "mean of ratios": 1 / (len(x) * x),
    }


def slope_errors(noise: str, n: int, repeats: int, rng) -> tuple[float, float]:
    """Root mean squared errors of the slope by least squares and by least absolute errors.

    Lines through the origin, x = 1 … n, noise "normal" or "Laplace" of variance 1. Least absolute errors
    is solved exactly: the weighted median of y / x with weights |x|.
    """
    x = np.arange(1.0, n + 1)
    if noise == "normal":
        e = rng.standard_normal((repeats, n))
    else:
        e = rng.laplace(scale=np.sqrt(0.5), size=(repeats, n))
    squares = e @ x / (x @ x)
    order = np.argsort(e / x, axis=1)
    half = np.argmax(np.cumsum(x[order], axis=1) >= x.sum() / 2, axis=1)
    absolute = np.take_along_axis(e / x, order, axis=1)[np.arange(repeats), half]
    return float(np.sqrt(np.mean(squares**2))), float(np.sqrt(np.mean(absolute**2)))

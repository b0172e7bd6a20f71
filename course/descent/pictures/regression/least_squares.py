"""Least squares with one feature: points to drag, descents, shadows, heights, likelihoods and a sprint forecast.

Compute (pure): `fit_line`, `intervals`, `half_squares`, `heights`, `r_squared`, `loglik`, `sums`, `skew_kurt`,
`slope_errors`, `sprint_curve`, `crossing_year`. Draw: `draw_…` functions, and what an `…_explorer` gives,
return (fig, words).
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats
from scipy.optimize import curve_fit

from descent.plots import BLACK, BLUE, GREEN, ORANGE, SKY, VERMILION, fixed_axes, grouped_bars
from descent.words import say

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


def half_squares(intercept, slope, x, y):
    """L = ½ Σ (y - intercept - slope x)²; intercept and slope may be arrays of the same shape."""
    e = y - np.multiply.outer(slope, x) - np.expand_dims(intercept, -1)
    return np.sum(e**2, axis=-1) / 2


def _two_panels(height: float):
    return fixed_axes(2, (9, height), (0.07, 0.985, 0.14, 0.91), wspace=0.22)


# ---------------------------------------------------------------- points to drag

STAY_X = np.array([0.6, 1.3, 1.9, 2.8, 3.5])
STAY_Y = np.array([1.9, 1.6, 3.1, 2.7, 3.6])
XLIM, YLIM = (-0.5, 7.7), (-0.4, 6.4)  # one unit is as long along x as along y: squares are square


def draw_pull(x1: float, y1: float, x2: float, y2: float):
    """Five points that stay and two that are dragged, their line and its squares, and the loss of every slope."""
    x, y = np.append(STAY_X, [x1, x2]), np.append(STAY_Y, [y1, y2])
    intercept, slope = fit_line(x, y)
    squares = (y - intercept - slope * x) ** 2
    fig, (left, right) = _two_panels(4)
    for a, b in zip(x, y, strict=True):
        score = intercept + slope * a
        side = abs(b - score)
        # beside the line, not across it: where it falls, the room is on the other side
        corner = (a - side if (b > score) == (slope > 0) else a, min(b, score))
        square = dict(facecolor=ORANGE, edgecolor=VERMILION, alpha=0.35)
        left.add_patch(plt.Rectangle(corner, side, side, **square))
    left.plot(XLIM, intercept + slope * np.array(XLIM), color=BLUE)
    left.plot(STAY_X, STAY_Y, "o", color=BLACK)
    left.plot([x1, x2], [y1, y2], "o", color=VERMILION, markersize=9)
    for name, at in (("A", (x1, y1)), ("B", (x2, y2))):  # the handles look alike
        left.annotate(name, at, (8, 6), textcoords="offset points", color=VERMILION, fontsize=13)
    left.set(xlim=XLIM, ylim=YLIM, xlabel="input x", ylabel="output y")
    left.set_title(f"Slope {slope:.2f}, area of the squares {squares.sum():.2f}")
    left.set_gid("points")
    slopes = np.linspace(-1, 2, 121)
    losses = half_squares(np.mean(y) - slopes * np.mean(x), slopes, x, y)
    right.plot(slopes, losses, color=BLUE)
    right.plot(slope, squares.sum() / 2, "*", color=BLACK, markersize=13)
    right.set(xlabel="slope, with its best intercept", ylabel="half the area, L", ylim=(0, 20))
    right.set_title("Half the area, for every slope")
    return fig, say(
        "Line: intercept {intercept:.2f}, slope {slope:.2f}. The squares cover {area:.2f}; that of A {A:.2f}, "
        "that of B {B:.2f}. The parabola's curvature is {curvature:.1f}.",
        intercept=intercept,
        slope=slope,
        area=squares.sum(),
        A=squares[-2],
        B=squares[-1],
        curvature=np.sum((x - x.mean()) ** 2),
    )


# ---------------------------------------------------------------- descent


def draw_descents(paths, x, y, labels):
    """Iterates (T + 1,) of several rates on the loss parabola of a line through the origin -> (fig, words)."""
    best = x @ y / (x @ x)
    reach = 1.5 * max(abs(path[0] - best) for path in paths)
    betas = np.linspace(best - reach, best + reach, 161)
    fig, axes = plt.subplots(1, len(paths), figsize=(9.6, 3.3), sharey=True)
    told = []
    for ax, path, label in zip(axes, paths, labels, strict=True):
        ax.plot(betas, half_squares(np.zeros(161), betas, x, y), color=BLUE)
        ax.plot(path, half_squares(np.zeros(len(path)), path, x, y), "o-", color=VERMILION)
        start = half_squares(0.0, path[0], x, y)
        ax.plot(path[0], start, "s", color=BLACK, markersize=8, label="start")
        factor = (path[1] - best) / (path[0] - best)
        ax.set(xlabel="slope β (s per decade)", xlim=(betas[0], betas[-1]))
        ax.set_title(f"{label}:\n{_behaviour(factor)}", fontsize=11)
        ax.xaxis.set_major_locator(plt.MaxNLocator(3))
        told.append(say("{label}: × {factor:.2f}", label=label, factor=factor))
    axes[0].set(ylabel="loss L (s²)", ylim=(0, 1.05 * half_squares(0.0, betas[0], x, y)))
    axes[0].legend(loc="upper center")
    return fig, say("What a step does to the distance from the minimum. {told:; }.", told=told)


def _behaviour(factor):
    """What iterates do whose error is multiplied by `factor` a step."""
    if abs(abs(factor) - 1) < 1e-6:
        return "for ever to and fro"
    if abs(factor) > 1:
        return "runs away"
    return "jumps across, arrives" if factor < 0 else "from one side"


# ---------------------------------------------------------------- projection for n = 3

VECTOR_X, VECTOR_Y = np.array([2.0, 1.0, 1.5]), np.array([0.8, 2.4, 1.9])


def draw_projection(beta: float, turn: float):
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
    ax.set(xlim=(0, 3), ylim=(0, 3), zlim=(0, 3), xlabel="row 1", ylabel="row 2", zlabel="row 3")
    ax.set(xticks=range(4), yticks=range(4), zticks=range(4))
    ax.set_box_aspect((1, 1, 1))
    ax.view_init(elev=20, azim=turn)
    ax.legend(loc="upper left")
    ax.set_title(f"Angle between error and X: {angle:.0f}°")
    right = fig.add_axes((0.68, 0.15, 0.3, 0.72))
    betas = np.linspace(-0.3, 1.7, 81)
    right.plot(betas, np.linalg.norm(Y[:, None] - np.outer(X, betas), axis=0), color=BLUE)
    right.plot(beta, length, "o", color=VERMILION, markersize=9)
    right.axvline(best, color=BLACK, linestyle="--", label="shortest")
    right.set(xlabel="β", ylabel="length of the error |e|", ylim=(0, 4.4))
    right.legend(loc="lower left")
    right.set_title(f"|e| = {length:.2f}")
    right.set_gid("shadow")
    return fig, say(
        "β = {beta:.2f}: |e| = {length:.3f}, and the angle between e and X is {angle:.0f} degrees. "
        "Shortest at β = {best:.3f}.",
        beta=beta,
        length=length,
        angle=angle,
        best=best,
    )


# ---------------------------------------------------------------- heights of fathers and sons

FATHERS, SONS, SPREAD = 172.0, 174.0, 7.0


def heights(n: int, rng, rho: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Simulated heights of n fathers and their sons in cm, normal with correlation rho -> two (n,).

    Means 172 and 174, both standard deviations 7: near what Pearson and Lee (1903) measured.
    """
    x = rng.standard_normal(n)
    y = rho * x + np.sqrt(1 - rho**2) * rng.standard_normal(n)
    return FATHERS + SPREAD * x, SONS + SPREAD * y


def draw_regression(rho: float, n: int, reverse: bool):
    """Standardised pairs, both regression lines, and the most extreme tenth with its partners -> (fig, words).

    Chosen are the tallest fathers, or where reverse is set the tallest sons.
    """
    x, y = heights(n, np.random.default_rng(4), rho)
    x, y = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    r = np.mean(x * y)
    chooser, other = (y, x) if reverse else (x, y)
    chosen = chooser >= np.quantile(chooser, 0.9)
    ends = np.array([-3.5, 3.5])
    fig, ax = plt.subplots(figsize=(7.2, 4.8))
    ax.plot(x[:700], y[:700], ".", color=SKY, markersize=4, alpha=0.6)
    picked = chosen[:700]
    ax.plot(x[:700][picked], y[:700][picked], "^", color=ORANGE, markersize=4, label="chosen")
    ax.plot(ends, ends, ":", color=BLACK, label="45°: partner as extreme")
    ax.plot(ends, r * ends, color=VERMILION, label="son from father: y = r x")
    ax.plot(r * ends, ends, "--", color=BLUE, label="father from son: x = r y")
    ax.plot(ends, rho * ends, "-.", color=GREEN, label="the process: y = ρ x")
    partner, own = other[chosen].mean(), chooser[chosen].mean()
    at = (partner, own) if reverse else (own, partner)
    ax.plot(*at, "*", color=BLACK, markersize=16, label="chosen: means")
    ax.set(xlim=ends, ylim=ends, aspect="equal", xlabel="father (standard deviations)")
    who, kin = ("sons", "fathers") if reverse else ("fathers", "sons")
    ax.set(ylabel="son (standard deviations)")
    ax.set_title(f"Correlation {r:.2f}: {kin} {partner / own:.2f} times as far out")
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return fig, say(
        "{n} pairs, correlation {r:.2f}. The tallest tenth of {who} lie {own:.2f} standard deviations above the "
        "mean, their {kin} {partner:.2f}: {share:.2f} times as much.",
        n=n,
        r=r,
        who=who,
        own=own,
        kin=kin,
        partner=partner,
        share=partner / own,
    )


def r_squared(y, f) -> tuple[float, float, float]:
    """Explained share, 1 − missed share and squared correlation of predictions f for targets y, both (n,)."""
    total = np.sum((y - np.mean(y)) ** 2)
    explained = np.sum((f - np.mean(y)) ** 2) / total
    return explained, 1 - np.sum((y - f) ** 2) / total, np.corrcoef(f, y)[0, 1] ** 2


def draw_r2(rows: dict):
    """Three definitions of R² for several predictions -> (fig, words). rows: {name: three numbers}."""
    names, values = list(rows), np.array(list(rows.values()), float)
    fig, ax = plt.subplots(figsize=(8, 3.8))
    looks = (
        ("explained share", BLUE, ""),
        ("1 − missed share", ORANGE, "//"),
        ("correlation²", GREEN, ".."),
    )
    for bars in grouped_bars(names, values.T, ax, looks=looks, step=0.26):
        ax.bar_label(bars, fmt="%.2f", fontsize=8)
    ax.axhline(0, color=BLACK, linewidth=1)
    ax.set(ylabel="R²", ylim=(values.min() - 0.25, max(1.35, values.max() + 0.45)))
    ax.set_title("Three definitions agree only for least squares on its own rows")
    ax.legend(ncols=3, fontsize=9, loc="upper center")
    told = [
        say("{name}: {three[0]:.2f}, {three[1]:.2f}, {three[2]:.2f}", name=" ".join(name.split()), three=row)
        for name, row in zip(names, values, strict=True)
    ]  # fmt: skip
    return fig, say("Explained share, 1 − missed share, squared correlation. {told:; }.", told=told)


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
        left.plot(x, y, "o", color=BLACK, markersize=4)
        left.set(xlim=ends, ylim=(min(0, y.min()) - 1, 1.3 * y.max()), xlabel="x", ylabel="y")
        left.legend(fontsize=8, loc="upper left")
        value = loglik(slope, sigma, x, y)
        left.set_title(f"Log-likelihood J = {value:.1f}")
        grey = dict(colors="#666666", linewidths=0.8, linestyles="-")
        right.contour(slopes, sigmas, surface, levels=levels, **grey)
        right.axvline(best, color=BLACK, linestyle="--", label="least squares")
        right.plot(best, width, "*", color=BLACK, markersize=13, label="maximum")
        right.plot(slope, sigma, "o", color=VERMILION, markersize=9, label="you are here")
        right.set(xlabel="slope β", ylabel="noise σ", yscale="log")
        right.set_yticks([0.5, 1, 2, 4], ["0.5", "1", "2", "4"])
        right.minorticks_off()
        right.set_title("Best β is the same for every σ")
        right.legend(fontsize=8, loc="upper right", frameon=True, framealpha=1)
        right.set_gid("bell")
        return fig, say(
            "β = {slope:.2f}, σ = {sigma:.2f}: J = {J:.2f}. At this slope the best σ is {best_sigma:.2f}. "
            "The maximum is {highest:.2f}, at β = {best:.2f} and σ = {width:.2f}.",
            slope=slope,
            sigma=sigma,
            J=value,
            best_sigma=np.sqrt(np.mean((y - slope * x) ** 2)),
            highest=loglik(best, width, x, y),
            best=best,
            width=width,
        )

    return draw


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


# ---------------------------------------------------------------- is the noise normal?


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
    height = np.histogram(z, edges)[0] / (len(z) * (edges[1] - edges[0]))
    left.stairs(height, edges, fill=True, color=SKY)
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
    return fig, say(
        "2000 sums of {k} ({kind}): skewness {skew}, excess kurtosis {kurtosis}. Between the 1 % and 99 % quantiles "
        "the sums leave the normal line by at most {far:.2f} standard units.",
        k=k,
        kind=kind,
        skew="far from 0" if abs(skew) > 10 else say("{skew:.2f}", skew=skew),
        kurtosis="more than 100" if kurtosis > 100 else say("{kurtosis:.2f}", kurtosis=kurtosis),
        far=far,
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


def crossing_year(men, women) -> float:
    """Year in which the two fitted lines meet. men, women (n, 2): year, seconds."""
    (a, b), (c, d) = fit_line(*men.T), fit_line(*women.T)
    return (a - c) / (d - b)


def draw_crossing(men, women, until: float = 2200.0):
    """Both lines carried on until they cross -> (fig, words). men, women (n, 2): year, seconds."""
    years = np.array([1890.0, until])
    fig, ax = plt.subplots()
    for table, name, color, marker, style in (
        (men, "men", BLUE, "o", "-"),
        (women, "women", VERMILION, "^", "--"),
    ):
        intercept, slope = fit_line(*table.T)
        ax.plot(*table.T, marker, color=color, label=f"{name}, winning times")
        ax.plot(years, intercept + slope * years, style, color=color, label=f"{name}, line")
    cross = crossing_year(men, women)
    a, b = fit_line(*men.T)
    ax.axvspan(1896, 2004, color=BLACK, alpha=0.06)
    ax.plot(cross, a + b * cross, "*", color=BLACK, markersize=14, label="crossing")
    ax.set(xlabel="year", ylabel="100 m (seconds)", title="Will women win?")
    ax.legend()
    return fig, say(
        "Winning times and two lines, which cross in {cross:.1f}, at {seconds:.2f} s. The shaded years hold the data.",
        cross=cross,
        seconds=a + b * cross,
    )


def sprint_explorer(men, women):
    """-> draw(year): the forecasts for a year to come, by the line with its 95 % interval and by two other curves."""
    curves = {m: [sprint_curve(m, *table.T) for table in (men, women)] for m in MODELS}
    dashes = {"line in time": "-", "line in speed": "--", "levelling off": ":"}
    looks = (("men", men, BLUE, "o"), ("women", women, VERMILION, "^"))

    def draw(year: int):
        years = np.arange(1890, max(year, 2030) + 1.0)
        fig, ax = fixed_axes(1, (8, 4), (0.09, 0.98, 0.13, 0.92))
        facts = {"year": year}
        for number, (name, table, color, marker) in enumerate(looks):
            for model, pair in curves.items():
                ax.plot(years, pair[number](years), dashes[model], color=color, linewidth=1.3)
                facts[f"{name}_{model.split()[-1]}"] = float(pair[number](year))
            line, _, half = intervals(*table.T, years)
            facts[f"{name}_half"] = half[years == year][0]
            ax.fill_between(years, line - half, line + half, color=color, alpha=0.15)
            ax.plot(*table.T, marker, color=color, markersize=3.5, label=name)
        for model, style in dashes.items():
            ax.plot([], [], style, color=BLACK, label=model)
        ax.axhline(0, color=BLACK, linewidth=1)
        ax.axvline(year, color=BLACK, linewidth=0.8, alpha=0.5)
        low = min(facts["men_time"] - facts["men_half"], facts["women_time"] - facts["women_half"])
        ax.set(xlabel="year", ylabel="100 m (seconds)", xlim=(1890, years[-1] + 5))
        ax.set(ylim=(min(low - 0.5, 7.5), 13))
        ax.set_title(
            f"{year}: the line says men {facts['men_time']:.2f} s, women {facts['women_time']:.2f} s",
            fontsize=11,
        )
        ax.legend(fontsize=9, loc="lower left", ncols=2)
        return fig, say(
            "{year}: by the lines men {men_time:.2f} s ± {men_half:.2f}, women {women_time:.2f} s ± {women_half:.2f}; "
            "by lines in speed {men_speed:.2f} s and {women_speed:.2f} s; by curves that level off {men_off:.2f} s "
            "and {women_off:.2f} s.",
            **facts,
        )

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
        band = dict(color=SKY, alpha=0.35, label="new race, 95 %")
        ax.fill_between(years, line - new, line + new, **band)
        band = dict(color=BLACK, alpha=0.25, label="line, 95 %")
        ax.fill_between(years, line - mean, line + mean, **band)
        ax.plot(years, line, color=color)
        level = sprint_curve("levelling off", *table.T)
        ax.plot(years, level(years), "--", color=GREEN, label="levelling off")
        shown = table[:, 0] >= 1960
        ax.plot(*table[shown].T, "o", color=color, markersize=4, label="fitted to")
        ax.plot(*later.T, "D", color=BLACK, markersize=6, label="run later")
        forecast, _, new = intervals(*table.T, later[:, 0])
        slower = int(np.sum(later[:, 1] > forecast))
        ax.set(xlabel="year", ylabel="100 m (seconds)")
        ax.set_title(f"{name}: {slower} of {len(later)} above the line")
        off, levelled = later[:, 1] - forecast, later[:, 1] - level(later[:, 0])
        told.append(
            say(
                "{name}: of {n} later races {inside} lie in the interval for a new race, {slower} above the line; "
                "mean miss of the line {line:.2f} s, of the curve that levels off {curve:.2f} s",
                name=name,
                n=len(later),
                inside=int(np.sum(np.abs(off) <= new)),
                slower=slower,
                line=np.mean(np.abs(off)),
                curve=np.mean(np.abs(levelled)),
            )
        )
    axes[0].legend()
    return fig, say("{told:. }.", told=told)


def draw_choices(choices: dict):
    """Crossing year under several choices of the data -> (fig, words). choices: {name: year}."""
    names, years = list(choices), np.array(list(choices.values()))
    fig, ax = plt.subplots(figsize=(8, 3.4))
    for row, year in enumerate(years):
        marker, color = ("*", VERMILION) if row == 0 else ("o", BLUE)
        ax.plot(year, row, marker, color=color, markersize=14 if row == 0 else 8)
        offset = dict(xytext=(10, 0), textcoords="offset points", va="center")
        ax.annotate(f"{year:.0f}", (year, row), **offset)
    ax.axvspan(1896, 2024, color=BLACK, alpha=0.1)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set(xlabel="year in which the lines cross")
    ax.set(xlim=(min(1700, years.min() - 60), years.max() + 300))
    ax.set_title("A few races decide which century it is")
    told = [
        say("{name}: {year:.0f}", name=name, year=year)
        for name, year in zip(names, years, strict=True)
    ]
    return fig, say("The crossing year by the choice of data. {told:; }.", told=told)

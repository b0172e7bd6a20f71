"""Pictures of 15_diffusion/02_diffusion_chains: pure computations first, then functions that return (fig, words)."""

import matplotlib.pyplot as plt
import numpy as np

from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, VERMILION, fixed_axes, light
from descent.words import say

LINE = np.linspace(-16, 16, 6401)  # a grid for integrals, step 0.005


def integral(values, x=LINE):
    """Of values (m,) on a grid with equal steps."""
    return float(np.sum(values) * (x[1] - x[0]))


def gauss(x, mean, var):
    return np.exp(-((x - mean) ** 2) / (2 * var)) / np.sqrt(2 * np.pi * var)


def entropy(mixture):
    """-E log p of a mixture on the line, by a grid."""
    log_p = mixture.log_density(LINE[:, None])
    return -integral(np.exp(log_p) * log_p)


def moments(density, x=LINE):
    """Mean, variance and skewness of a density on a grid."""
    mean = integral(density * x, x)
    var = integral(density * (x - mean) ** 2, x)
    return mean, var, integral(density * (x - mean) ** 3, x) / var**1.5


def gauss_gap(density, x=LINE):
    """KL of a density on a grid from the Gaussian of its own mean and variance: what no Gaussian can tell."""
    mean, var, _ = moments(density, x)
    seen = density > 1e-300
    ratio = np.log(density[seen]) - np.log(np.maximum(gauss(x[seen], mean, var), 1e-300))
    return float(np.sum(density[seen] * ratio) * (x[1] - x[0]))


def hills(density):
    """How many local maxima it has on its grid, of those that are not negligible."""
    peak = (density[1:-1] > density[:-2]) & (density[1:-1] >= density[2:])
    return int((peak & (density[1:-1] > 1e-4 * density.max())).sum())


def reverse_step(mixture, x1, sigma2):
    """The density on LINE of x_0, a draw of the mixture, given that x_0 + N(0, σ²) is x1: Bayes' rule on a grid."""
    weighed = mixture.log_density(LINE[:, None]) - (x1 - LINE) ** 2 / (2 * sigma2)
    weighed = np.exp(weighed - weighed.max())
    return weighed / integral(weighed)


def chain_loss(mixture, step, T, prior_var):
    """KL of a mixture on the line to what a chain draws: the density of x_T is passed down a grid, step by step.

    step: (x (m, 1), t) -> mean of x_{t-1} (m, 1) and its variance, as in `generate`.
    """
    x = np.linspace(-12, 12, 481)
    p = gauss(x, 0, prior_var)
    for t in range(T, 0, -1):
        mean, var = step(x[:, None], t)
        p = gauss(x[:, None], mean[:, 0], var) @ p * (x[1] - x[0])
    log_q = mixture.log_density(x[:, None])
    return integral(np.exp(log_q) * (log_q - np.log(np.maximum(p, 1e-300))), x)


def gradient_spread(mixture, t, sigma2, x0, x_prev, xt, mean):
    """Variance of one row's gradient in c, at c = 1, of the model x_t + σ² c·score(x_t), in units of curvature squared.

    Three targets: the drawn x_{t-1}, the bridge's mean, and x_0 for x_t + tσ² c·score. Columns (n, 1) -> (3,).
    """
    score = mixture.noised(1, (t * sigma2) ** 0.5).score(xt)
    found = []
    for target, size in ((x_prev, sigma2), (mean, sigma2), (x0, t * sigma2)):
        gradient = -(target - xt - size * score) * size * score
        found.append(gradient.var() / np.mean((size * score) ** 2) ** 2)
    return np.array(found)


def checkerboard(n, rng):
    """n points of the uniform law on the 8 dark squares of a board from -2 to 2, of log density -log 8 -> (n, 2)."""
    squares = np.array([(i, j) for i in range(4) for j in range(4) if (i + j) % 2 == 0])
    return squares[rng.integers(8, size=n)] - 2 + rng.uniform(size=(n, 2))


# Pictures.


def draw_problem(mixture, paths):
    """Two hills and the best Gaussian; walks from the hills into noise, paths (T + 1, n)."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(7, 3.2))
    p = mixture.density(LINE[:, None])
    mean, var, _ = moments(p)
    lost = gauss_gap(p)
    left.plot(LINE, p, color=BLACK, label="the data")
    left.plot(LINE, gauss(LINE, mean, var), "--", color=VERMILION, label="best Gaussian")
    left.set(
        xlim=(-4.5, 4.5), xlabel="x", ylabel="density", title=f"One Gaussian loses {lost:.3f} nats"
    )
    left.set_ylim(0, 0.72)
    left.legend(loc="upper left", fontsize=9)
    right.plot(paths, color=BLUE, linewidth=0.7, alpha=0.6)
    right.plot(np.zeros(paths.shape[1]), paths[0], "o", color=BLACK, markersize=3)
    right.set(xlabel="step t", ylabel="$x_t$", title="From the hills into noise", ylim=(-7, 7))
    return fig, say(
        "Left: a density with hills at {a:.1f} and {b:.1f}, and the best Gaussian, broad, with its top in "
        "the valley. It "
        "loses {lost:.3f} nats a point. Right: {n} walks of {T} steps; their standard deviation grows from {first:.1f} "
        "to {last:.1f}.",
        a=mixture.means[0, 0],
        b=mixture.means[1, 0],
        lost=lost,
        n=paths.shape[1],
        T=len(paths) - 1,
        first=paths[0].std(),
        last=paths[-1].std(),
    )


def draw_marginal(mixture, paths, sigma2, t):
    """Walks up to step t, and all of them there, beside the closed form. paths (T + 1, n)."""
    fig, (left, right) = fixed_axes(
        2, (8, 3.2), (0.08, 0.98, 0.17, 0.88), wspace=0.22, width_ratios=[1.3, 1]
    )
    left.plot(paths[: t + 1, :40], color=BLUE, linewidth=0.7, alpha=0.6)
    left.axvline(t, color=BLACK, linestyle=":")
    left.set(xlim=(0, len(paths) - 1), ylim=(-7, 7), xlabel="step t", ylabel="$x_t$")
    left.set_gid("time")
    light(left, "40 walks", x=range(0, len(paths), 20), y=(-6, -3, 0, 3, 6))
    here = mixture.noised(1, (t * sigma2) ** 0.5)
    p, var = here.density(LINE[:, None]), float(here.covariance()[0, 0])
    gap, count = gauss_gap(p), hills(p)
    right.hist(
        paths[t], np.linspace(-7, 7, 57), density=True, color=BLUE, alpha=0.35, label="all walks"
    )
    right.plot(LINE, p, color=BLACK, label="closed form")
    right.plot(LINE, gauss(LINE, mixture.mean()[0], var), "--", color=VERMILION, label="a Gaussian")
    right.set(xlim=(-7, 7), ylim=(0, 0.72), xlabel="$x_t$", ylabel="density")
    right.legend(loc="upper right", fontsize=9)
    light(
        right,
        f"t = {t}: {count} hill{'s' * (count > 1)}",
        x=(-6, -3, 0, 3, 6),
        y=(0, 0.2, 0.4, 0.6),
    )
    return fig, say(
        "Step {t}: {n} walks have variance {var:.2f}, by the closed form {want:.2f}. Hills of the density: {count}; it "
        "is {gap:.3f} nats from a Gaussian.",
        t=t,
        n=paths.shape[1],
        var=paths[t].var(),
        want=var,
        count=count,
        gap=gap,
    )


def draw_drawn(mixture, drawn, title):
    """Histograms of samples {name: (n,)} in front of the density that they should have."""
    fig, axes = plt.subplots(
        1, len(drawn), figsize=(7 if len(drawn) > 1 else 5, 3), sharey=True, squeeze=False
    )
    told, valley = [], []
    for ax, (name, x) in zip(axes[0], drawn.items(), strict=True):
        x = np.ravel(x)
        ax.hist(x, np.linspace(-4.5, 4.5, 61), density=True, color=ORANGE, alpha=0.7)
        ax.plot(LINE, mixture.density(LINE[:, None]), color=BLACK)
        ax.set(xlim=(-4.5, 4.5), xlabel="$x_0$")
        ax.set_title(name, fontweight="normal")
        valley.append(np.mean(np.abs(x + 0.6) < 0.2) / 0.4)
        told.append(say("{name}: {low:.2f}", name=name, low=valley[-1]))
    axes[0][0].set_ylabel("density")
    fig.suptitle(title, fontweight="bold")
    want = integral(mixture.density(LINE[:, None]) * (np.abs(LINE + 0.6) < 0.2)) / 0.4
    return fig, say(
        "Density of the samples in the valley, from -0.8 to -0.4: {told:, }. In the data it is {want:.2f}.",
        told=told,
        want=want,
    )


def draw_reverse(mixture, x1, T, S):
    """The last step back, x_1 -> x_0, of a chain of T steps and noise S: its mean, and its law at one x_1."""
    sigma2 = S / T
    fig, (left, right) = fixed_axes(2, (8, 3.4), (0.08, 0.98, 0.16, 0.88), wspace=0.22)
    x = np.linspace(-4, 4, 161)
    left.plot(x, mixture.denoised(x[:, None], 1, sigma2**0.5)[:, 0], color=BLACK, label="its mean")
    slope = mixture.covariance()[0, 0] / (mixture.covariance()[0, 0] + sigma2)
    centre = mixture.mean()[0]
    left.plot(x, centre + slope * (x - centre), "--", color=VERMILION, label="best line")
    density = reverse_step(mixture, x1, sigma2)
    mean, var, skew = moments(density)
    gap, count = gauss_gap(density), hills(density)
    left.plot([x1], [mean], "o", color=BLUE, markersize=7)
    left.set(xlim=(-4, 4), ylim=(-3, 3), xlabel="$x_1$, known", ylabel="$x_0$")
    left.set_gid("seen")
    left.legend(loc="upper left", fontsize=9)
    light(left, "Where was it a step ago?", x=(-4, -2, 0, 2, 4), y=(-2, 0, 2))
    right.plot(LINE, density, color=BLACK, label="the truth")
    right.plot(
        LINE, gauss(LINE, mean, var), "--", color=VERMILION, label="Gaussian, same mean and sd"
    )
    right.set(
        xlim=(-3.5, 3.5), ylim=(0, max(1.45 * density.max(), 0.9)), xlabel="$x_0$", ylabel="density"
    )
    right.legend(loc="upper left", fontsize=9)
    light(right, f"T = {T}: {gap:.3f} nats from a Gaussian", x=(-3, -1.5, 0, 1.5, 3))
    return fig, say(
        "T = {T}, so σ² = {sigma2:.3g}. Seen x₁ = {x1:.2f}: x₀ has mean {mean:.2f}, standard "
        "deviation {sd:.2f}, "
        "skewness {skew:.2f}; hills: {count}; it is {gap:.3f} nats from a Gaussian.",
        T=T,
        sigma2=sigma2,
        x1=x1,
        mean=mean,
        sd=var**0.5,
        skew=skew,
        count=count,
        gap=gap,
    )


def draw_bridges(paths, sigma2, most):
    """Walks pinned at both ends, paths (t + 1, n), with the band of their law; most: the end of the axis of steps."""
    t = len(paths) - 1
    x0, xt, s = paths[0, 0], paths[-1, 0], np.arange(t + 1)
    middle, sd = x0 + (xt - x0) * s / t, np.sqrt(sigma2 * s * (t - s) / t)
    fig, ax = fixed_axes(1, (6.8, 3.7), (0.1, 0.98, 0.15, 0.9))
    ax.fill_between(
        s, middle - 2 * sd, middle + 2 * sd, color=ORANGE, alpha=0.3, label="mean ± 2 sd"
    )
    ax.plot(s, paths, color=BLUE, linewidth=0.6, alpha=0.5)
    ax.plot(s, middle, color=BLACK, linestyle="--")
    ax.plot([0], [x0], "o", color=BLACK, markersize=7)
    ax.plot([t], [xt], "s", color=BLACK, markersize=7)
    ax.plot([t - 1], [middle[t - 1]], "D", color=VERMILION, markersize=7, label="mean of $x_{t-1}$")
    ax.set(xlim=(-1, most + 1), ylim=(-5, 5), xlabel="step", ylabel="x")
    ax.set_gid("end")
    ax.legend(loc="lower left", fontsize=9)
    light(
        ax,
        f"{paths.shape[1]} walks, both ends fixed",
        x=range(0, most + 1, 10),
        y=(-4, -2, 0, 2, 4),
    )
    before = paths[t - 1]
    return fig, say(
        "{n} walks from {x0:.2f} to {xt:.2f} in {t} steps. One step before the end they have mean {got:.2f} "
        "and variance "
        "{var:.4f}; by the formulas {want:.2f} and {law:.4f}. A free step has {sigma2}. The band is widest "
        "in the middle, "
        "{wide:.2f} on each side.",
        n=paths.shape[1],
        x0=x0,
        xt=xt,
        t=t,
        got=before.mean(),
        var=before.var(),
        want=middle[t - 1],
        law=sd[t - 1] ** 2,
        sigma2=sigma2,
        wide=2 * sd.max(),
    )


def draw_spread(times, spread):
    """Bars: variance of one gradient for three targets by step. times (m,), spread (m, 3)."""
    spread = np.asarray(spread)
    fig, ax = plt.subplots(figsize=(6.6, 3.4))
    looks = (
        ("drawn $x_{t-1}$", VERMILION, ""),
        ("mean of the bridge", BLUE, "//"),
        ("$x_0$", GREEN, ".."),
    )
    for k, (name, color, hatch) in enumerate(looks):
        places = np.arange(len(times)) + 0.27 * (k - 1)
        ax.bar(places, spread[:, k], 0.25, color=color, hatch=hatch, edgecolor="white", label=name)
    ax.set_xticks(np.arange(len(times)), map(str, times))
    ax.set(
        xlabel="step t",
        ylabel="variance of one gradient",
        yscale="log",
        title="A mean teaches more quietly than a draw",
    )
    ax.legend(title="target", fontsize=9)
    return fig, say(
        "Variance of one row's gradient, relative to the loss's curvature. At t = {first} all targets are "
        "equal, at t = {last} "
        "the drawn x_(t-1) has {times:.0f} times that of the bridge's mean, and x_0 has the same as the mean.",
        first=times[0],
        last=times[-1],
        times=spread[-1, 0] / spread[-1, 1],
    )


def draw_price(steps, gaps, lost, aim, single):
    """Nats above the entropy by number of steps, as the bound says and as is lost; the aim; a single Gaussian."""
    fig, ax = plt.subplots(figsize=(6.4, 3.7))
    ax.loglog(steps, gaps, "o-", color=BLUE, label="the bound")
    ax.loglog(steps, lost, "s--", color=GREEN, label="what is lost")
    ax.axhline(single, color=VERMILION, linestyle="--", label="one Gaussian")
    ax.axhline(aim, color=BLACK, linestyle=":", label=f"aim: {aim:g}")
    enough = min(T for T, gap in zip(steps, gaps, strict=True) if gap < aim)
    ax.set_title(f"In the end twice the steps, half the bound: {enough} are enough")
    ax.set(xlabel="steps T", ylabel="nats above the entropy", ylim=(0.0008, 0.75))
    for axis, ticks in ((ax.xaxis, steps), (ax.yaxis, (0.001, 0.005, 0.02, 0.05, 0.2, 0.5))):
        axis.set_ticks(ticks, map(str, ticks))
    ax.minorticks_off()
    ax.legend(fontsize=9)
    return fig, say(
        "The bound lies {first:.2f} nats above the entropy with {one} step, {last:.3f} with {many}. Of the "
        "chains tried, {enough} "
        "steps are the fewest whose bound is below {aim}. What they lose is {lost:.3f}.",
        first=gaps[0],
        one=steps[0],
        last=gaps[-1],
        many=steps[-1],
        enough=enough,
        aim=aim,
        lost=lost[steps.index(enough)],
    )


def draw_kernel(mixture, x, y, sigma2):
    """In the plane: the law of the state a step before (x, y), exact and as the Gaussian round x + σ² score."""
    side = np.linspace(-3.2, 3.2, 91)
    grid = np.stack(np.meshgrid(side, side), -1)
    at = np.array([x, y])
    exact = mixture.log_density(grid) - ((grid - at) ** 2).sum(-1) / (2 * sigma2)
    exact = np.exp(exact - exact.max())
    exact = exact / exact.sum()
    before = at + sigma2 * mixture.score(at)
    now = at + sigma2 * mixture.noised(1, sigma2**0.5).score(at)
    mean = mixture.denoised(at, 1, sigma2**0.5)
    fig, axes = fixed_axes(2, (7.6, 3.7), (0.08, 0.98, 0.14, 0.9), sharex=True, sharey=True)
    bell = np.exp(-((grid - now) ** 2).sum(-1) / (2 * sigma2))
    for ax, law, title in zip(
        axes, (exact, bell), ("exact", "Gaussian of variance σ²"), strict=True
    ):
        ax.contourf(
            side, side, law / law.max(), levels=np.linspace(0.05, 1, 8), cmap="Blues", extend="max"
        )
        ax.plot(*at, "s", color=BLACK, markersize=6)
        ax.plot(*now, "o", color=VERMILION, markersize=8, label="score of now")
        ax.plot(*before, "^", color=GREEN, markersize=7, label="score of before")
        ax.plot(*mean, "+", color=BLACK, markersize=14, label="exact mean")
        ax.set(xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), xlabel="first coordinate")
        ax.grid(False)
        light(ax, title, x=(-3, 0, 3), y=(-3, 0, 3))
    axes[0].set_ylabel("second coordinate")
    axes[0].set_gid("plane")
    axes[0].legend(loc="lower left", fontsize=8)
    off = [float(np.linalg.norm(guess - mean)) for guess in (now, before)]
    return fig, say(
        "σ² = {sigma2:.3g}, the point at ({x:.2f}, {y:.2f}). From the exact mean of the state before, the "
        "step by the score of "
        "now is {now:.3f} away, by the score of before {before:.3f}.",
        sigma2=sigma2,
        x=x,
        y=y,
        now=off[0],
        before=off[1],
    )


def draw_dae(x, exact, learned, shown, v):
    """The exact score and the one read off a denoiser, on a grid x (m,), in front of where data are, shown (m,)."""
    fig, ax = fixed_axes(1, (6.2, 3.5), (0.11, 0.98, 0.15, 0.9))
    ax.fill_between(x, -7, 14 * shown - 7, color="#999999", alpha=0.4, label="where $x_t$ is")
    ax.plot(x, exact, color=BLACK, label="exact score")
    ax.plot(x, learned, "--", color=VERMILION, label="(D(x) − x) / tσ²")
    ax.set(xlabel="$x_t$", ylabel="score", xlim=(x[0], x[-1]), ylim=(-7, 7))
    ax.legend(loc="upper right", fontsize=9)
    inside = shown > 0.02
    off = float(np.sqrt(np.average((exact - learned)[inside] ** 2, weights=shown[inside])))
    size = float(np.sqrt(np.average(exact[inside] ** 2, weights=shown[inside])))
    light(
        ax,
        f"The denoiser knows the score, to {np.ceil(100 * off / size):.0f} %",
        y=(-6, -3, 0, 3, 6),
    )
    return fig, say(
        "Noise of variance {v:.2g}: the score read off the denoiser differs from the exact one by "
        "{share:.0%} of its size, "
        "where the density is above 0.02.",
        v=v,
        share=off / size,
    )


def draw_weighting(times, errors, weights):
    """Error of a shared model by step, fitted with two weightings. errors {name: (m,)}, weights {name: (m,)}."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(7, 3.2))
    looks = (("o-", BLUE), ("s--", VERMILION))
    for (name, error), (look, color) in zip(errors.items(), looks, strict=True):
        left.loglog(times, weights[name], look, color=color, label=name)
        right.loglog(times, error, look, color=color, label=name)
    left.set(xlabel="step t", ylabel="weight of a squared error", title="What the loss listens to")
    right.set(
        xlabel="step t", ylabel="error, relative to the best", title="What a shared model learns"
    )
    left.legend(fontsize=9)
    bound, simple = errors.values()
    return fig, say(
        "At t = {first} the model fitted with the bound's weights has {early:.2f} of the other's error, at t = {last} "
        "{late:.1f} times as much.",
        first=times[0],
        last=times[-1],
        early=bound[0] / simple[0],
        late=bound[-1] / simple[-1],
    )


def draw_heldout(points, fits, best):
    """Test points (n, 2) on a board, and the mean log density that models give them. fits {name: number}."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(7, 3.2), width_ratios=[1, 1.25])
    left.plot(*points.T, ".", color=BLUE, markersize=3)
    left.set(xlabel="first coordinate", ylabel="second coordinate", title="Data with sharp edges")
    left.set_aspect("equal")
    right.barh(list(fits), [best - value for value in fits.values()], color=PINK)
    right.set(xlabel="nats lost on test points", title="Few hills see no edges")
    right.invert_yaxis()
    told = [say("{name} loses {lost:.2f}", name=k, lost=best - v) for k, v in fits.items()]
    return fig, say("On test points, compared with the true density: {told:, }.", told=told)

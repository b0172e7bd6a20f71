"""Pictures of 15_diffusion/03_ddpm: pure computations first, then functions that return (fig, words)."""

import matplotlib.pyplot as plt
import numpy as np

from descent.plots import BLACK, BLUE, GREEN, VERMILION, fixed_axes


def signal_left(betas):
    """abar_t for t = 0 … T. betas (T,) -> (T + 1,)."""
    return np.concatenate([[1.0], np.cumprod(1 - np.asarray(betas, float))])


def half_step(betas):
    """The step t at which abar_t is nearest to one half."""
    return int(np.abs(signal_left(betas) - 0.5).argmin())


def noised(image, betas, t, seed=0):
    """sqrt(abar_t) image + sqrt(1 - abar_t) eps with the eps of one seed, the same at every t. Any shape -> same."""
    abar = signal_left(betas)[t]
    eps = np.random.default_rng(seed).normal(size=np.shape(image))
    return np.sqrt(abar) * np.asarray(image, float) + np.sqrt(1 - abar) * eps


def noising(x0, betas, seed=0):
    """The forward chain one step at a time. x0 (n, d) -> (T + 1, n, d), entry t after t steps."""
    rng = np.random.default_rng(seed)
    path = [np.asarray(x0, float)]
    for beta in np.asarray(betas, float):
        path.append(np.sqrt(1 - beta) * path[-1] + np.sqrt(beta) * rng.normal(size=path[-1].shape))
    return np.array(path)


def denoising(step, eps_model, betas, sigma2, n=400, d=2, seed=0):
    """The reverse chain from standard normal noise, with the reader's own step -> (T + 1, n, d), entry t at time t.

    step: (xt, t, eps_hat, z, betas, sigma2) -> x_{t-1}; eps_model: (x (n, d), t int) -> (n, d). Tensors, float64.
    """
    import torch

    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, d, generator=g, dtype=torch.float64)
    path = [x]
    for t in range(len(betas), 0, -1):
        z = torch.randn(n, d, generator=g, dtype=torch.float64)
        before = step(path[-1], t, eps_model(path[-1], t), z, betas, sigma2)
        path.append(torch.as_tensor(before, dtype=x.dtype))
    return torch.stack(path[::-1]).numpy()


def spread_round(points, means):
    """Root mean square distance, per coordinate, of points (n, d) from the nearest of the means (k, d)."""
    gaps = ((np.asarray(points)[:, None] - np.asarray(means)) ** 2).mean(-1)
    return float(np.sqrt(gaps.min(1).mean()))


def mode_shares(points, means):
    """Share of the points that lie nearest to each mean. points (n, d), means (k, d) -> (k,)."""
    gaps = ((np.asarray(points)[:, None] - np.asarray(means)) ** 2).sum(-1)
    return np.bincount(gaps.argmin(1), minlength=len(means)) / len(points)


# Pictures.


def _grey(ax, picture):
    """One 8 x 8 image with pixels from -1 (white) to 1 (black)."""
    ax.imshow(np.reshape(picture, (8, 8)), cmap="gray_r", vmin=-1, vmax=1)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    ax.grid(False)


def _mosaic(rows, names, titles, width):
    """One picture of rows of 8 x 8 images, names beside the rows, titles above the columns. rows (r, c, 64)."""
    rows = np.asarray(rows, float)
    r, c = rows.shape[:2]
    tiles = np.full((r, c, 9, 9), np.nan)
    tiles[..., :8, :8] = rows.reshape(r, c, 8, 8)
    left = 0.75 if any(names) else 0.05
    tile = (width - left - 0.05) / c
    fig, ax = plt.subplots(figsize=(width, r * tile + 0.4), layout="none")
    height = fig.get_figheight()
    fig.subplots_adjust(left / width, 0.05 / height, 1 - 0.05 / width, 1 - 0.35 / height)
    ax.imshow(
        tiles.swapaxes(1, 2).reshape(9 * r, 9 * c), cmap="gray_r", vmin=-1, vmax=1, aspect="auto"
    )
    ax.set_xticks(9 * np.arange(c) + 3.5, list(titles))
    ax.set_yticks(9 * np.arange(r) + 3.5, list(names))
    ax.tick_params(length=0, labelsize=10, top=False, labeltop=True, labelbottom=False)
    ax.spines[:].set_visible(False)
    ax.grid(False)
    return fig


def draw_strip(seen, guesses, steps, truth):
    """Noised images over best guesses of the clean one. seen, guesses (m, 64), steps (m,), truth (64,)."""
    fig = _mosaic([seen, guesses], ("seen", "guess"), [f"t = {t}" for t in steps], 7.6)
    off = np.sqrt(((np.asarray(guesses) - np.asarray(truth)) ** 2).mean(1))
    near = [t for t, error in zip(steps, off, strict=True) if error < 0.1]
    return fig, (
        f"Top: a digit after {', '.join(map(str, steps))} steps of noise. "
        f"Bottom: the best guess of the clean digit. Up to t = {max(near)} it is right to 0.1 "
        f"per pixel; at t = {steps[-1]} it is the mean of all digits, off by {off[-1]:.1f}."
    )


def draw_targets(times, variance):
    """Variance of a single-sample gradient for two targets. times (m,), variance (m, 2)."""
    variance = np.asarray(variance)
    fig, ax = plt.subplots()
    ax.loglog(times, variance[:, 0], "o-", label="target: the previous state")
    ax.loglog(times, variance[:, 1], "s--", label="target: the clean sample")
    ax.set(
        xlabel="step t",
        ylabel="variance of one gradient",
        title="The clean sample is the quieter teacher",
    )
    ax.legend()
    ratio = variance[:, 0] / variance[:, 1]
    over = max((bound for bound in (10, 100, 1000) if ratio[times.index(100)] > bound), default=1)
    return (
        fig,
        f"At t = {times[0]} both gradients have the same variance (ratio {ratio[0]:.1f}); "
        f"at t = 100 that of the previous state is more than {over} times larger.",
    )


def draw_repair(printed, repaired, density):
    """Histograms of two samples (n, 1) and the density of the data, a function (m,) -> (m,)."""
    printed, repaired = np.ravel(printed), np.ravel(repaired)
    bins, x = np.linspace(-15, 15, 101), np.linspace(-15, 15, 600)
    fig, ax = plt.subplots()
    ax.hist(
        printed,
        bins,
        density=True,
        histtype="step",
        linestyle="--",
        color=VERMILION,
        label=f"printed: sd {printed.std():.1f}",
    )
    ax.hist(
        repaired,
        bins,
        density=True,
        histtype="step",
        color=BLUE,
        label=f"repaired: sd {repaired.std():.2f}",
    )
    ax.plot(x, density(x), color=BLACK, linestyle=":", label="density of the data")
    ax.set(xlabel="x", ylabel="density", title="One factor decides whether the walk arrives")
    ax.legend()
    return (
        fig,
        f"Samples by the printed rule have sd {printed.std():.1f}, by the repaired rule {repaired.std():.2f}, "
        f"and then {(repaired > 0).mean():.0%} lie in the right-hand mode.",
    )


def draw_sizes(v, V0, share_late):
    """Loss of a predictor that says 0 and of the best one, for two targets. v (T,): variance of all noise."""
    t = np.arange(1, len(v) + 1)
    fig, ax = plt.subplots()
    ax.loglog(t, v, color=VERMILION, label="cumulative noise, predictor says 0")
    ax.loglog(
        t,
        V0 * v / (V0 + v),
        color=VERMILION,
        linestyle="--",
        label="cumulative noise, best predictor",
    )
    ax.loglog(t, np.ones(len(v)), color=BLUE, label="unit noise, predictor says 0")
    ax.loglog(t, V0 / (V0 + v), color=BLUE, linestyle="--", label="unit noise, best predictor")
    ax.set(
        xlabel="step t",
        ylabel="expected squared error",
        title=f"Untrained, {share_late:.0%} of the loss is in the late half",
        ylim=(0.03, 200),
    )
    ax.legend(loc="upper left")
    return fig, (
        f"The loss of a predictor that says 0 grows from {v[0]:.2f} to {v[-1]:.0f} for the cumulative noise, "
        f"with {share_late:.0%} of it in the late half of the steps, "
        f"and is 1 everywhere for unit noise. The best predictor's loss stays below {V0:.1f}."
    )


def draw_shortcut(chain, shot, t):
    """Quantiles of two samples (n,) against each other."""
    quantiles = np.linspace(0.005, 0.995, 100)
    one, other = np.quantile(chain, quantiles), np.quantile(shot, quantiles)
    fig, ax = plt.subplots(figsize=(4.6, 4.2))
    ax.plot(one, other, "o", markersize=4)
    ax.plot([-2.2, 2.2], [-2.2, 2.2], color=BLACK, linestyle="--")
    ax.set(
        xlabel=f"quantiles after {t} single steps",
        ylabel="quantiles in one shot",
        title="The same distribution",
    )
    return (
        fig,
        f"A hundred quantiles of {len(chain)} points after {t} single steps against the closed form: "
        f"less than {np.floor(10 * np.abs(one - other).max() + 1) / 10:.1f} apart.",
    )


def draw_weights(weight_beta, weight_tilde):
    """Weights of the squared noise error in the bound: (T,) for t = 1 … T and (T - 1,) for t = 2 … T."""
    steps = len(weight_beta)
    low = int(weight_beta.argmin()) + 1
    fig, ax = plt.subplots()
    ax.semilogy(
        np.arange(1, steps + 1),
        weight_beta,
        color=BLUE,
        label=r"$\lambda_t$ with $\sigma_t^2=\beta_t$",
    )
    ax.semilogy(
        np.arange(2, steps + 1),
        weight_tilde,
        color=VERMILION,
        linestyle="--",
        label=r"$\lambda_t$ with $\sigma_t^2=\tilde\beta_t$, infinite at $t=1$",
    )
    ax.axhline(
        np.mean(weight_beta), color=GREEN, linestyle=":", label="in training: the same for all"
    )
    ax.set(
        xlabel="step t",
        ylabel="weight of the squared error",
        title=f"The bound weighs the first step {weight_beta[0] / weight_beta[-1]:.0f} times the last",
    )
    ax.legend()
    return fig, (
        f"The weight of the bound falls from {weight_beta[0]:.2f} at t = 1 to {weight_beta.min():.4f} "
        f"near t = {round(low, -1)} and is {weight_beta[-1]:.3f} at t = {steps}. "
        f"With the posterior variance the first finite weight, at t = 2, is {weight_tilde[0]:.2f}. "
        "Training uses a constant."
    )


def draw_schedule(schedules, name, t, image):
    """What is left of `image` (64,) after t steps of one schedule, with the curves of signal and noise.

    schedules: {name: betas (T,)}, all of one length.
    """
    abar = signal_left(schedules[name])
    steps = np.arange(len(abar))
    fig, (left, right) = fixed_axes(
        2, (7.6, 2.9), (0.08, 0.99, 0.18, 0.88), wspace=0.1, width_ratios=[2.2, 1]
    )
    left.plot(steps, np.sqrt(abar), color=BLUE, label=r"signal $\sqrt{\bar\alpha_t}$")
    left.plot(
        steps,
        np.sqrt(1 - abar),
        color=VERMILION,
        linestyle="--",
        label=r"noise $\sqrt{1-\bar\alpha_t}$",
    )
    left.axvline(t, color=BLACK, linestyle=":")
    half = half_step(schedules[name])
    left.plot([half], [np.sqrt(abar[half])], "o", color=BLACK)
    left.set(
        xlabel="step t",
        ylabel="factor",
        title=f"{name}: the curves cross at t = {half}",
        ylim=(-0.03, 1.08),
    )
    left.legend(loc="center right")
    _grey(right, noised(image, schedules[name], t))
    right.set_title(f"after {t} steps")
    ratio = "infinite" if t == 0 else f"{abar[t] / (1 - abar[t]):.3g}"
    words = (
        f"Schedule {name}, step {t} of {len(abar) - 1}: signal factor {np.sqrt(abar[t]):.3f}, "
        f"noise factor {np.sqrt(1 - abar[t]):.3f}, "
        f"signal-to-noise ratio {ratio}. Signal and noise are equal at step {half}."
    )
    return fig, words


def draw_walk(path, t, betas, means, weights, direction):
    """The cloud of a walk at time t beside the signal curve.

    path (T + 1, n, 2), betas (T,), means (k, 2), weights (k,); direction: "noising" or "denoising".
    """
    abar = signal_left(betas)
    cloud, shares = path[t], mode_shares(path[t], means)
    fig, (left, right) = fixed_axes(
        2, (7.4, 3.3), (0.09, 0.98, 0.16, 0.89), wspace=0.27, width_ratios=[1.25, 1]
    )
    trail = path[:, :6] if direction == "noising" else path[t:, :6]
    if direction == "noising":
        trail = trail[: t + 1]
    left.plot(trail[..., 0], trail[..., 1], color=VERMILION, linewidth=0.6, alpha=0.7)
    left.plot(cloud[:, 0], cloud[:, 1], ".", color=BLUE, markersize=3)
    left.plot(*np.transpose(means), "+", color=BLACK, markersize=12, markeredgewidth=2)
    left.set(
        xlim=(-3.4, 3.4),
        ylim=(-3.2, 3.2),
        xlabel="first coordinate",
        ylabel="second coordinate",
        title=f"{direction}, t = {t}",
    )
    right.plot(abar, color=BLUE)
    right.plot([t], [abar[t]], "o", color=VERMILION, markersize=8)
    right.set(xlabel="step t", ylabel=r"$\bar\alpha_t$", title=f"signal left: {abar[t]:.2f}")
    told = ", ".join(
        f"{share:.0%} ({weight:.0%} in the data)"
        for share, weight in zip(shares, weights, strict=True)
    )
    gap = np.sqrt(((cloud[:, None] - np.asarray(means)) ** 2).sum(-1).min(1).mean())
    words = (
        f"{direction.capitalize()}, step {t} of {len(betas)}: abar = {abar[t]:.3f}. "
        f"Points nearest to each centre: {told}. Distance to the nearest centre (rms) {gap:.2f}."
    )
    return fig, words


def relative_error(learned, exact):
    """||learned - exact|| / ||exact|| over all entries."""
    learned, exact = np.asarray(learned, float), np.asarray(exact, float)
    return float(np.linalg.norm(learned - exact) / np.linalg.norm(exact))


def draw_scores(grid, exact, learned, cloud, t, steps):
    """Exact and learned scores as arrows on a grid (m, 2) behind a cloud (n, 2) of noised data at step t."""
    fig, ax = fixed_axes(1, (5.6, 4.6), (0.12, 0.98, 0.22, 0.92))
    ax.plot(*np.transpose(cloud), ".", color="#999999", markersize=2)
    size = np.sqrt((np.asarray(exact) ** 2).sum(1).mean())
    common = dict(angles="xy", scale_units="xy", scale=3.2 * size, zorder=3)
    ax.quiver(
        *np.transpose(grid),
        *np.transpose(exact),
        color=BLACK,
        width=0.013,
        label="exact score",
        **common,
    )
    ax.quiver(
        *np.transpose(grid),
        *np.transpose(learned),
        color=VERMILION,
        width=0.004,
        label="learned",
        **common,
    )
    # A bound in steps of 10 %: training differs a little between machines.
    error = 10 * int(10 * relative_error(learned, exact)) + 10
    ax.set(
        xlabel="first coordinate",
        ylabel="second coordinate",
        xlim=(-3.6, 3.6),
        ylim=(-3.4, 3.4),
        title=f"t = {t}: off by less than {error}%",
    )
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
    ax.set_aspect("equal")
    return (
        fig,
        f"Step {t} of {steps}: the learned score differs from the exact one "
        f"by less than {error}% of its length where the data are.",
    )


def draw_training(losses, times, network, new, known):
    """The loss under way, smoothed, and losses by step. losses (steps,), all per pixel.

    At the steps `times` (m,): network (m,) on new images; new, known (m,): the memoriser's on new and known images.
    """
    window = max(1, len(losses) // 40)
    first, last = losses[:5].mean(), losses[-window:].mean()
    smooth = np.convolve(losses, np.ones(window) / window, mode="valid")
    fig, (left, right) = plt.subplots(1, 2, figsize=(7.6, 3.3))
    left.plot(np.arange(len(smooth)) + window, smooth)
    left.set(
        xlabel="update",
        ylabel="squared error per pixel",
        title=f"The loss falls to {last:.1f}",
        ylim=(0, None),
    )
    right.plot(times, new, "s--", color=VERMILION, label="by heart, new images")
    right.plot(times, network, "o-", color=BLUE, label="network, new images")
    right.plot(times, known, "^:", color=BLACK, label="by heart, known images")
    right.set(
        xlabel="step t",
        title="By heart: no help at small t",
        yscale="log",
        ylim=(1e-3, 3e3),
    )
    right.legend(fontsize=9)
    ahead = max((t for t, a, b in zip(times, network, new, strict=True) if a < b / 2), default=0)
    return fig, (
        f"Left: the loss per pixel falls from {first:.1f} to {last:.1f}. "
        f"Right: on new images the network's loss is less than half of the memoriser's up to t = {ahead}; "
        f"on the images that it knows, the memoriser's is largest near t = {times[int(np.argmax(known))]}."
    )


def draw_digits(pictures, labels):
    """Images (n, 64) in rows of ten, the wanted digit above each column."""
    rows = np.reshape(pictures, (-1, 10, 64))
    fig = _mosaic(rows, [""] * len(rows), [str(int(label)) for label in labels], 6.4)
    return fig, (
        f"{len(pictures)} images drawn by the trained network, in {len(rows)} rows "
        f"of the digits {labels[0]} to {labels[9]} that were asked for."
    )


def draw_denoising(path, guesses, t):
    """Images under way, over the network's guess of their end, at time t. path, guesses (T + 1, n, 64)."""
    titles = [f"digit {number}" for number in range(len(path[t]))]
    fig = _mosaic([path[t], guesses[t]], (f"t = {t}", "guess"), titles, 7.6)
    ends = path[0]
    move, far = (float(np.sqrt(((now - ends) ** 2).mean())) for now in (path[t], guesses[t]))
    return fig, (
        f"Step {t} of {len(path) - 1}. Per pixel (from -1 to 1), the images are about {move:.1f} away "
        f"from what they become, the guesses about {far:.1f}."
    )

"""Pictures of 15_diffusion/03_ddpm: pure computations first, then functions that return (fig, words)."""

import matplotlib.pyplot as plt
import numpy as np

from descent.plots import BLACK, BLUE, VERMILION


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
        path.append(step(path[-1], t, eps_model(path[-1], t), z, betas, sigma2))
    return torch.stack(path[::-1]).numpy()


def mode_shares(points, means):
    """Share of the points that lie nearest to each mean. points (n, d), means (k, d) -> (k,)."""
    gaps = ((np.asarray(points)[:, None] - np.asarray(means)) ** 2).sum(-1)
    return np.bincount(gaps.argmin(1), minlength=len(means)) / len(points)


# Pictures.


def draw_strip(images, steps, guesses):
    """Two rows of 8 x 8 images in [-1, 1]: images and guesses (m, 64), steps (m,)."""
    fig, axes = plt.subplots(2, len(steps), figsize=(7.6, 2.6))
    for row, pictures in zip(axes, (images, guesses), strict=True):
        for ax, picture in zip(row, pictures, strict=True):
            ax.imshow(np.reshape(picture, (8, 8)), cmap="gray_r", vmin=-1.6, vmax=1.6)
            ax.set(xticks=[], yticks=[])
            ax.grid(False)
    for ax, t in zip(axes[0], steps, strict=True):
        ax.set_title(f"t = {t}", fontsize=10, loc="center", fontweight="normal")
    axes[0, 0].set_ylabel("seen")
    axes[1, 0].set_ylabel("best guess")
    return fig


def draw_schedule(schedules, name, t, image):
    """What is left of `image` (64,) after t steps of one schedule, with the curves of signal and noise.

    schedules: {name: betas (T,)}, all of one length.
    """
    abar = signal_left(schedules[name])
    steps = np.arange(len(abar))
    fig, (left, right) = plt.subplots(1, 2, figsize=(7.6, 2.9), width_ratios=[2.2, 1])
    left.plot(steps, np.sqrt(abar), color=BLUE, label=r"signal $\sqrt{\bar\alpha_t}$")
    left.plot(steps, np.sqrt(1 - abar), color=VERMILION, linestyle="--", label=r"noise $\sqrt{1-\bar\alpha_t}$")
    left.axvline(t, color=BLACK, linestyle=":")
    half = half_step(schedules[name])
    left.plot([half], [np.sqrt(abar[half])], "o", color=BLACK)
    left.set(xlabel="step t", ylabel="factor", title=f"{name}: the curves cross at t = {half}", ylim=(-0.03, 1.08))
    left.legend(loc="center right")
    right.imshow(noised(image, schedules[name], t).reshape(8, 8), cmap="gray_r", vmin=-1.6, vmax=1.6)
    right.set(title=f"after {t} steps", xticks=[], yticks=[])
    right.grid(False)
    ratio = "infinite" if t == 0 else f"{abar[t] / (1 - abar[t]):.3g}"
    words = (
        f"Schedule {name}, step {t} of {len(abar) - 1}: signal factor {np.sqrt(abar[t]):.3f}, noise factor {np.sqrt(1 - abar[t]):.3f}, "
        f"signal-to-noise ratio {ratio}. Signal and noise are equal at step {half}."
    )
    return fig, words


def draw_walk(path, t, betas, means, weights, direction):
    """The cloud of a walk at time t beside the signal curve. path (T + 1, n, 2), betas (T,), means (k, 2), weights (k,)."""
    abar = signal_left(betas)
    cloud, shares = path[t], mode_shares(path[t], means)
    fig, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.3), width_ratios=[1.25, 1])
    trail = path[:, :6] if direction == "noising" else path[t:, :6]
    if direction == "noising":
        trail = trail[: t + 1]
    left.plot(trail[..., 0], trail[..., 1], color=VERMILION, linewidth=0.6, alpha=0.7)
    left.plot(cloud[:, 0], cloud[:, 1], ".", color=BLUE, markersize=3)
    left.plot(*np.transpose(means), "+", color=BLACK, markersize=12, markeredgewidth=2)
    left.set(xlim=(-3.4, 3.4), ylim=(-3.2, 3.2), xlabel="first coordinate", ylabel="second coordinate", title=f"{direction}, t = {t}")
    right.plot(abar, color=BLUE)
    right.plot([t], [abar[t]], "o", color=VERMILION, markersize=8)
    right.set(xlabel="step t", ylabel=r"$\bar\alpha_t$", title=f"signal left: {abar[t]:.2f}")
    told = ", ".join(f"{share:.0%} ({weight:.0%} in the data)" for share, weight in zip(shares, weights, strict=True))
    gap = np.sqrt(((cloud[:, None] - np.asarray(means)) ** 2).sum(-1).min(1).mean())
    words = f"{direction.capitalize()}, step {t} of {len(betas)}: abar = {abar[t]:.3f}. Points nearest to each centre: {told}. Distance to the nearest centre (rms) {gap:.2f}."
    return fig, words


def relative_error(learned, exact):
    """||learned - exact|| / ||exact|| over all entries."""
    learned, exact = np.asarray(learned, float), np.asarray(exact, float)
    return float(np.linalg.norm(learned - exact) / np.linalg.norm(exact))


def draw_scores(grid, exact, learned, cloud, t, steps):
    """Exact and learned scores as arrows on a grid (m, 2) behind a cloud (n, 2) of noised data at step t."""
    fig, ax = plt.subplots(figsize=(5.6, 4.4))
    ax.plot(*np.transpose(cloud), ".", color="#999999", markersize=2)
    size = np.sqrt((np.asarray(exact) ** 2).sum(1).mean())
    common = dict(angles="xy", scale_units="xy", scale=3.2 * size, zorder=3)
    ax.quiver(*np.transpose(grid), *np.transpose(exact), color=BLACK, width=0.009, label="exact score", **common)
    ax.quiver(*np.transpose(grid), *np.transpose(learned), color=VERMILION, width=0.004, label="learned", **common)
    error = relative_error(learned, exact)
    ax.set(xlabel="first coordinate", ylabel="second coordinate", title=f"t = {t}: the learned score is off by {error:.0%}")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
    ax.set_aspect("equal")
    return fig, f"Step {t} of {steps}: the learned score differs from the exact one by {error:.0%} of its length where the data are."


def draw_denoising(path, guesses, t, labels):
    """Images under way (T + 1, n, 64) and the model's guess of their end, at time t."""
    n = len(labels)
    fig, axes = plt.subplots(2, n, figsize=(0.76 * n, 2.2))
    for row, pictures in zip(axes, (path[t], guesses[t]), strict=True):
        for ax, picture in zip(row, pictures, strict=True):
            ax.imshow(np.reshape(picture, (8, 8)), cmap="gray_r", vmin=-1.6, vmax=1.6)
            ax.set(xticks=[], yticks=[])
            ax.grid(False)
    for ax, label in zip(axes[0], labels, strict=True):
        ax.set_title(str(int(label)), fontsize=10, loc="center", fontweight="normal")
    axes[0, 0].set_ylabel(f"t = {t}")
    axes[1, 0].set_ylabel("guess")
    move = float(np.sqrt(((path[t] - path[0]) ** 2).mean()))
    far = float(np.sqrt(((guesses[t] - path[0]) ** 2).mean()))
    return fig, f"Step {t} of {len(path) - 1}: per pixel, the images are {move:.2f} away from what they become (pixels run from -1 to 1), the guesses {far:.2f}."

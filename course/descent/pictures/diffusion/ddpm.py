"""Pictures of 15_diffusion/03_ddpm: pure computations first, then functions that return (fig, words)."""

import matplotlib.pyplot as plt
import numpy as np
import torch

from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, fixed_axes
from descent.words import say


def spiral(n, turns=3):
    """n points, evenly spaced in area along a spiral of variance about 1 -> (n, 2)."""
    radius = np.sqrt(np.linspace(0.05, 1, n))
    angle = 2 * np.pi * turns * radius
    return 1.9 * radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)


def nearest(points, among):
    """Index of the nearest of `among` (m, d) for each of points (n, d), and its distance. (n,), (n,)"""
    gaps = np.linalg.norm(np.asarray(points)[:, None] - np.asarray(among), axis=-1)
    return gaps.argmin(1), gaps.min(1)


def reached(points, among):
    """How many of `among` (m, d) are nearest to one of points (n, d)."""
    return len(np.unique(nearest(points, among)[0]))


def spread_round(points, centres):
    """Root mean square distance, per coordinate, of points (n, d) from their nearest centres (k, d)."""
    return float(np.sqrt((nearest(points, centres)[1] ** 2).mean() / np.shape(points)[1]))


def mixture_score(x, means, sd, weights, a, v):
    """Score at x of a·x0 + N(0, v I), where x0 comes from the mixture of N(means[k], sd² I).

    Tensors x (n, d), means (k, d), weights (k,) with sum 1; sd, a, v numbers or (n, 1) -> (n, d).
    """
    variance = a**2 * sd**2 + v
    gaps = a * means - x[:, None]  # (n, k, d)
    share = torch.softmax(weights.log() - gaps.square().sum(-1) / (2 * variance), 1)
    return (share[..., None] * gaps).sum(1) / variance


def mixture_density(x, means, sd):
    """Density at x (m,) of the mixture of N(means[k], sd²) on a line, all equally frequent -> (m,)."""
    parts = np.exp(-((x[:, None] - np.asarray(means)) ** 2) / (2 * sd**2))
    return parts.mean(1) / (sd * np.sqrt(2 * np.pi))


def gradient_variance(exact_noise, x0, x_prev, xt, t, sigma2):
    """Variance of one sample's gradient, at c = 1, for a score model c·s fitted to the previous state or to x0.

    Both losses in units of the score: s is fitted to (x_{t-1} - x_t) / σ² or to (x_0 - x_t) / (t σ²). x… (n, 1) -> (2,)
    """
    s = -exact_noise(xt, t) / (t * sigma2)
    targets = torch.stack([(x_prev - xt) / sigma2, (x0 - xt) / (t * sigma2)])
    return (2 * s * (s - targets)).var(1).flatten()


# Pictures.


def _grey(ax, picture):
    """One 8 x 8 image with pixels from -1 (white) to 1 (black)."""
    ax.imshow(np.asarray(picture).reshape(8, 8), cmap="gray_r", vmin=-1, vmax=1)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    ax.grid(False)


def _mosaic(rows, names, titles, width, title):
    """One picture of rows of 8 x 8 images, names beside the rows, titles above the columns. rows (r, c, 64)."""
    rows = np.asarray(rows, float)
    r, c = rows.shape[:2]
    tiles = np.full((r, c, 9, 9), np.nan)
    tiles[..., :8, :8] = rows.reshape(r, c, 8, 8)
    left = 0.85 if any(names) else 0.05
    tile = (width - left - 0.05) / c
    fig, ax = plt.subplots(figsize=(width, r * tile + 0.7), layout="none")
    height = fig.get_figheight()
    fig.subplots_adjust(left / width, 0.05 / height, 1 - 0.05 / width, 1 - 0.65 / height)
    ax.imshow(
        tiles.swapaxes(1, 2).reshape(9 * r, 9 * c), cmap="gray_r", vmin=-1, vmax=1, aspect="auto"
    )
    ax.set_xticks(9 * np.arange(c) + 3.5, list(titles))
    ax.set_yticks(9 * np.arange(r) + 3.5, list(names))
    ax.set_title(title)
    ax.tick_params(length=0, labelsize=10, top=False, labeltop=True, labelbottom=False)
    ax.spines[:].set_visible(False)
    ax.grid(False)
    return fig


def draw_sinking(seen, powers, mean):
    """A digit with less and less signal, and the mean of all. seen (m, 64), powers (m,), mean (64,)."""
    titles = [f"{power:.0%}" for power in powers] + ["guess"]
    fig = _mosaic(
        [[*np.asarray(seen), np.asarray(mean)]],
        [""],
        titles,
        7.6,
        "How much of the digit is left, and the best guess at the end",
    )
    return fig, say(
        "A handwritten digit sinks in noise in {n} pictures: {first:.0%} of its power is left in the first, {last:.0%} "
        "in the last. Beside it the best guess of what was there: the mean of all digits, grey, nowhere "
        "darker than {dark:.1f} on the scale from -1 to 1.",
        n=len(powers),
        first=powers[0],
        last=powers[-1],
        dark=float(np.max(np.asarray(mean))),
    )


def draw_strip(seen, guesses, steps, truth):
    """Noised images over best guesses of the clean one. seen, guesses (m, 64), steps (m,), truth (64,)."""
    titles = [f"t = {t}" for t in steps]
    title = "One guess: sharp near the data, a smear far away"
    fig = _mosaic([seen, guesses], ("seen", "guess"), titles, 7.6, title)
    off = np.sqrt(((np.asarray(guesses) - np.asarray(truth)) ** 2).mean(1))
    near = [t for t, error in zip(steps, off, strict=True) if error < 0.1]
    return fig, say(
        "Top: a digit after {steps} steps of noise. Bottom: the best guess of the clean digit. Up to t = {near} it is "
        "right to 0.1 per pixel; at t = {last} it is a smear, off by {off:.1f}.",
        steps=", ".join(map(str, steps)),
        near=max(near),
        last=steps[-1],
        off=off[-1],
    )


def draw_shortcut(walked, jumped, t):
    """Quantiles of two samples (n,) against each other."""
    quantiles = np.linspace(0.005, 0.995, 100)
    one, other = np.quantile(walked, quantiles), np.quantile(jumped, quantiles)
    fig, ax = plt.subplots(figsize=(4.6, 4.2))
    ax.plot(one, other, "o", markersize=4)
    ax.plot([-2.2, 2.2], [-2.2, 2.2], color=BLACK, linestyle="--", label="equal")
    ax.set(
        xlabel=f"quantiles after {t} single steps",
        ylabel=f"quantiles after one jump to t = {t}",
        title="Walk or jump: the same distribution",
    )
    ax.legend()
    return fig, say(
        "A hundred quantiles of {n} points after {t} single steps against those of as many that jumped: less than "
        "{gap:.1f} apart.",
        n=len(walked),
        t=t,
        gap=np.floor(10 * np.abs(one - other).max() + 1) / 10,
    )


def draw_schedule(name, betas, t, seen):
    """Signal and noise of a schedule, betas (T,), with a line at step t, beside what is seen there (64,)."""
    power = np.concatenate([[1.0], np.cumprod(1 - np.asarray(betas))])
    half = int(np.abs(power - 0.5).argmin())
    fig, (left, right) = fixed_axes(
        2, (7.6, 2.9), (0.08, 0.99, 0.18, 0.88), wspace=0.1, width_ratios=[2.2, 1]
    )
    left.plot(np.sqrt(power), color=BLUE, label=r"signal $\sqrt{\bar\alpha_t}$")
    noise = np.sqrt(1 - power)
    left.plot(noise, "--", color=VERMILION, label=r"noise $\sqrt{1-\bar\alpha_t}$")
    left.plot([half], [np.sqrt(power[half])], "o", color=BLACK)
    left.axvline(t, color=BLACK, linestyle=":")
    left.set_gid("step")
    left.set(
        xlabel="step t",
        ylabel="factor",
        title=f"{name}: equally strong at t = {half}",
        ylim=(-0.03, 1.08),
    )
    left.legend(loc="center right")
    _grey(right, seen)
    right.set_title(f"after {t} steps")
    return fig, say(
        "Schedule {name}, step {t} of {T}: signal factor {signal:.3f}, noise factor {noise:.3f}. Both are equally "
        "strong at step {half}.",
        name=name,
        t=t,
        T=len(betas),
        signal=np.sqrt(power[t]),
        noise=noise[t],
        half=half,
    )


def there_and_back(film, points):
    """The ground on which walkers, film (2T + 2, n, 2), leave the points (m, 2) and return.

    -> figure, axes, words, a colour for each walker: that of the part of the spiral where it began.
    """
    film, m = np.asarray(film), len(points)
    colors = np.array([BLUE, ORANGE, GREEN, PINK, VERMILION, SKY])[np.arange(m) * 6 // m]
    fig, ax = plt.subplots(figsize=(5.4, 5.2))
    ax.plot(*np.asarray(points).T, "+", color="#999999", markersize=5, zorder=0)
    ax.set(
        xlim=(-3.6, 3.6),
        ylim=(-3.6, 3.6),
        xlabel="first coordinate",
        ylabel="second coordinate",
        title="To noise, and back to the spiral",
    )
    ax.set_aspect("equal")
    (start, _), (end, off) = nearest(film[0], points), nearest(film[-1], points)
    words = say(
        "{walkers} walkers sink from {points} points on a spiral into noise, in {T} steps, and walk back. They end on "
        "{reached} of the points, half of them within {off:.2f}. Walkers that end where they began: {home}.",
        walkers=film.shape[1],
        points=m,
        T=len(film) // 2 - 1,
        reached=len(np.unique(end)),
        off=np.ceil(100 * np.median(off)) / 100,
        home=int((start == end).sum()),
    )
    return fig, ax, words, list(np.resize(colors, film.shape[1]))


def draw_ends(ends, points):
    """Where walkers end, a panel for each kind of walk. ends {name: (n, 2)}, points (m, 2)."""
    fig, axes = plt.subplots(1, len(ends), figsize=(7, 3), sharex=True, sharey=True)
    told = []
    for ax, (name, end) in zip(axes, ends.items(), strict=True):
        count = reached(end, points)
        ax.plot(*np.asarray(points).T, "+", color="#999999", markersize=4)
        ax.plot(*np.asarray(end).T, "o", color=VERMILION, markersize=3.5)
        ax.set_xlabel("first coordinate")
        ax.set_title(f"{name}: {count}", fontsize=11)
        ax.set_aspect("equal")
        told.append(say("{name}: {count}", name=name, count=count))
    axes[0].set_ylabel("second coordinate")
    return fig, say("Of {m} points on a spiral are reached: {told:, }.", m=len(points), told=told)


def draw_losses(steps, curves):
    """Loss per pixel by step t of two predictors. curves {(who, "known" or "new"): (m,)}."""
    looks = {("artist", "known"): "o:", ("artist", "new"): "o-"}
    looks |= {("reciter", "known"): "s:", ("reciter", "new"): "s-"}
    fig, ax = plt.subplots(figsize=(6.6, 3.7))
    for (who, kind), look in looks.items():
        color = BLUE if who == "artist" else VERMILION
        ax.plot(steps, curves[who, kind], look, color=color, label=f"{who}, {kind} images")
    ax.set(
        xlabel="step t",
        ylabel="squared error per pixel",
        title="Least on what it knows, lost on what is new",
        yscale="log",
        ylim=(1e-3, 3e3),
    )
    ax.legend(fontsize=9, loc="upper right")
    below = [np.less(curves["artist", kind], curves["reciter", kind]) for kind in ("known", "new")]
    return fig, say(
        "On known images the artist's loss is below the reciter's at {known} of {n} steps, on new images at {new}.",
        known=int(below[0].sum()),
        new=int(below[1].sum()),
        n=len(steps),
    )


def draw_denoising(states, guesses, t):
    """Ten images under way at time t, over the guess of their end. states (T + 1, 10, 64), guesses (T, 10, 64)."""
    states, guesses = np.asarray(states), np.asarray(guesses)
    guess = guesses[t - 1] if t else states[0]
    wanted = [f"wanted {digit}" for digit in range(10)]
    title = f"{len(guesses) - t} steps walked, {t} to go"
    fig = _mosaic([states[t], guess], (f"t = {t}", "guess"), wanted, 8.4, title)
    move, far = (float(np.sqrt(((now - states[0]) ** 2).mean())) for now in (states[t], guess))
    return fig, say(
        "{t} of {T} steps to go. Per pixel (from -1 to 1), the images are about {move:.1f} away from what they become, "
        "the guesses about {far:.1f}.",
        t=t,
        T=len(guesses),
        move=move,
        far=far,
    )


def draw_repair(printed, mended, density):
    """Histograms of two samples (n, 1) and the density of the data, a function (m,) -> (m,)."""
    printed, mended = np.ravel(printed), np.ravel(mended)
    bins, x = np.linspace(-15, 15, 101), np.linspace(-15, 15, 600)
    fig, ax = plt.subplots()
    common = dict(density=True, histtype="step")
    label = f"printed: sd {printed.std():.1f}"
    ax.hist(printed, bins, linestyle="--", color=VERMILION, label=label, **common)
    ax.hist(mended, bins, color=BLUE, label=f"mended: sd {mended.std():.2f}", **common)
    ax.plot(x, density(x), color=BLACK, linestyle=":", label="density of the data")
    ax.set(xlabel="x", ylabel="density", title="One factor decides whether the walk arrives")
    ax.legend()
    return fig, say(
        "Samples by the printed rule have sd {printed:.1f}, by the mended one {mended:.2f}, and then {right:.0%} lie "
        "in the right-hand mode.",
        printed=printed.std(),
        mended=mended.std(),
        right=(mended > 0).mean(),
    )


def draw_targets(times, variance):
    """Variance of one sample's gradient for two targets. times (m,), variance: m pairs."""
    variance = np.array([np.asarray(pair) for pair in variance])
    fig, ax = plt.subplots()
    ax.loglog(times, variance[:, 0], "o-", label="target: the previous state")
    ax.loglog(times, variance[:, 1], "s--", label="target: the clean sample")
    ax.set(
        xlabel="step t",
        ylabel="variance of one gradient (score units)",
        title="The clean sample is the quieter teacher",
    )
    ax.legend()
    ratio = variance[:, 0] / variance[:, 1]
    return fig, say(
        "At t = {first} both gradients have the same variance, ratio {one:.1f}; at t = {last} that of the previous "
        "state is more than {over} times larger.",
        first=times[0],
        one=ratio[0],
        last=times[-1],
        over=max((bound for bound in (1, 10, 100, 1000) if ratio[-1] > bound), default=0),
    )


def draw_sizes(v, V0):
    """Loss of a predictor that says 0 and of the best one, for two targets. v (T,): variance of all noise."""
    t = np.arange(1, len(v) + 1)
    late = v[len(v) // 2 :].sum() / v.sum()
    fig, ax = plt.subplots()
    ax.loglog(t, v, color=VERMILION, label="cumulative noise, network says 0")
    ax.loglog(t, V0 * v / (V0 + v), "--", color=VERMILION, label="cumulative noise, best")
    ax.loglog(t, np.ones(len(v)), color=BLUE, label="unit noise, network says 0")
    ax.loglog(t, V0 / (V0 + v), "--", color=BLUE, label="unit noise, best")
    ax.set(
        xlabel="step t",
        ylabel="expected squared error",
        title=f"Untrained, {late:.0%} of the loss comes from the late half",
        ylim=(0.03, 200),
    )
    ax.legend(loc="upper left", fontsize=9)
    return fig, say(
        "The loss of a network that says 0 grows from {first:.2f} to {last:.0f} for the cumulative noise, with "
        "{late:.0%} of it in the late half of the steps, and is 1 everywhere for unit noise. The best loss stays "
        "below {V0:.1f}.",
        first=v[0],
        last=v[-1],
        late=late,
        V0=V0,
    )


def draw_spreads(counts, spreads, truth):
    """Spread of samples round their centres by number of steps. spreads {"β", "β̃": (m,)}, truth: of the data."""
    fig, ax = plt.subplots()
    looks = {"β": ("o-", BLUE, r"$\sigma_t^2=\beta_t$")}
    looks["β̃"] = ("s--", VERMILION, r"$\sigma_t^2=\tilde\beta_t$")
    for name, (look, color, label) in looks.items():
        ax.plot(counts, spreads[name], look, color=color, label=label)
    ax.axhline(truth, color=BLACK, linestyle=":", label="in the data")
    ax.set(
        xscale="log",
        xlabel="steps T",
        ylabel="spread round the nearest centre",
        title="With many steps the choice hardly matters",
        ylim=(0, None),
    )
    ax.set_xticks(counts, map(str, counts))
    ax.minorticks_off()
    ax.legend()
    return fig, say(
        "In the data the spread is {truth:.2f}. With {few} steps it is {wide:.2f} for β and {tight:.2f} for β̃, with "
        "{many} steps {late_wide:.2f} and {late_tight:.2f}.",
        truth=truth,
        few=counts[0],
        wide=spreads["β"][0],
        tight=spreads["β̃"][0],
        many=counts[-1],
        late_wide=spreads["β"][-1],
        late_tight=spreads["β̃"][-1],
    )


def draw_weights(weight_beta, weight_tilde):
    """Weights of the squared noise error in the bound: (T,) for t = 1 … T and (T - 1,) for t = 2 … T."""
    weight_beta, weight_tilde = np.asarray(weight_beta), np.asarray(weight_tilde)
    t = np.arange(1, len(weight_beta) + 1)
    fig, ax = plt.subplots()
    ax.semilogy(t, weight_beta, color=BLUE, label=r"$\lambda_t$ with $\sigma_t^2=\beta_t$")
    label = r"$\lambda_t$ with $\sigma_t^2=\tilde\beta_t$, infinite at $t=1$"
    ax.semilogy(t[1:], weight_tilde, "--", color=VERMILION, label=label)
    ax.axhline(weight_beta.mean(), color=GREEN, linestyle=":", label="ddpm_loss: all the same")
    ratio = weight_beta[0] / weight_beta[-1]
    ax.set(
        xlabel="step t",
        ylabel="weight of the squared error",
        title=f"The bound weighs the first step {ratio:.0f} times the last",
    )
    ax.legend()
    return fig, say(
        "The weight of the bound falls from {first:.2f} at t = 1 to {least:.4f} near t = {low} and is {last:.3f} at "
        "t = {T}. With σ² = β̃ the first finite weight, at t = 2, is {second:.2f}.",
        first=weight_beta[0],
        least=weight_beta.min(),
        low=round(int(weight_beta.argmin()) + 1, -1),
        last=weight_beta[-1],
        T=len(t),
        second=weight_tilde[0],
    )


def draw_scores(points, exact, learned, cloud, t, T):
    """Exact and learned scores as arrows at points (m, 2), in front of a cloud (n, 2) at step t of T."""
    points, exact, learned = (np.asarray(a, float) for a in (points, exact, learned))
    fig, ax = fixed_axes(1, (5.6, 4.6), (0.12, 0.98, 0.22, 0.92))
    ax.plot(*np.asarray(cloud).T, ".", color="#999999", markersize=2)
    scale = 3.2 * np.sqrt((exact**2).sum(1).mean())
    common = dict(angles="xy", scale_units="xy", scale=scale, zorder=3)
    ax.quiver(*points.T, *exact.T, color=BLACK, width=0.013, label="exact score", **common)
    ax.quiver(*points.T, *learned.T, color=VERMILION, width=0.004, label="learned", **common)
    # A bound in steps of 10 %: training differs a little between machines.
    error = np.linalg.norm(learned - exact) / np.linalg.norm(exact)
    bound = (np.floor(10 * error) + 1) / 10
    ax.set(
        xlabel="first coordinate",
        ylabel="second coordinate",
        xlim=(-3.6, 3.6),
        ylim=(-3.4, 3.4),
        title=f"t = {t}: off by less than {bound:.0%}",
    )
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
    ax.set_aspect("equal")
    return fig, say(
        "Step {t} of {T}: the learned score differs from the exact one by less than {bound:.0%} of its length where "
        "the data are.",
        t=t,
        T=T,
        bound=bound,
    )

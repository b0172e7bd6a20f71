"""Pictures of 15_diffusion/01_one_step_denoising: pure computations first, then functions that return (fig, words)."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ndtr

from descent.plots import BLACK, BLUE, GREEN, PINK, SKY, VERMILION, fixed_axes, light
from descent.words import say

GREY = "#999999"
FINE = np.linspace(-6, 6, 2401)  # where densities on a line are integrated


def swiss_roll(n):
    """n dots along a spiral of three turns, evenly spread over its area, about 1 in size (n, 2)."""
    radius = np.sqrt(np.linspace(0.05, 1, n))
    angle = 6 * np.pi * radius
    return 1.9 * radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)


def spread(points, centres, which):
    """Root mean square distance, per coordinate, of points (n, d) from their own centres[which]."""
    return float(np.sqrt(((points - centres[which]) ** 2).mean()))


def moments(x, density):
    """Mean and variance of a density on an evenly spaced grid, both (m,)."""
    share = density * (x[1] - x[0])
    mean = share @ x
    return float(mean), float(share @ (x - mean) ** 2)


def normal(x, mean, sd):
    """The density of N(mean, sd²)."""
    return np.exp(-(((x - mean) / sd) ** 2) / 2) / (np.sqrt(2 * np.pi) * sd)


def curvature(mixture, y, h=1e-4):
    """The slope of the score at y, a mixture on the line."""
    return float((mixture.score([y + h]) - mixture.score([y - h]))[0] / (2 * h))


def bend(mixture, x):
    """p″ at x (m,) of a mixture on the line."""
    pulls = (mixture.means[:, 0] - x[:, None]) / mixture.sds**2
    parts = mixture.shares(x[:, None]) * (pulls**2 - 1 / mixture.sds**2)
    return mixture.density(x[:, None]) * parts.sum(1)


def quantiles(mixture, n):
    """n evenly spread quantiles of a mixture on the line (n,)."""
    density = mixture.density(FINE[:, None])
    below = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2)])
    return np.interp((np.arange(n) + 0.5) / n, below / below[-1], FINE)


def kernel_kl(mixture, y, sigma):
    """KL of the exact backward kernel from the bell N(y + σ² s(y), σ²), s the score before the knock."""
    x = np.linspace(y - 8 * sigma, y + 8 * sigma, 4001)
    r = mixture.posterior([y], 1, sigma)
    log_bell = np.log(normal(x, y + sigma**2 * mixture.score([y])[0], sigma))
    log_r = r.log_density(x[:, None])
    return float(np.trapezoid(np.exp(log_r) * (log_r - log_bell), x))


def reached(mixture, x):
    """The distribution function at x (m,) of a mixture on the line."""
    return ndtr((x[:, None] - mixture.means[:, 0]) / mixture.sds) @ mixture.weights


def travel(mixture, sigma, way):
    """The distance W₁ between a mixture on the line and what comes back after a knock.

    way: "Bayes", "bell, score of p", "bell, score of p̃" (these three by chance), "half step", "best guess".
    """
    noised, y = mixture.noised(1, sigma), FINE[::4]
    if way in ("half step", "best guess"):
        # no dot overtakes another, so that as many are below y before the step as below its end after it
        step = sigma**2 * noised.score(FINE[:, None])[:, 0]
        ends = FINE + step * (0.5 if way == "half step" else 1)
        gaps, places = reached(noised, FINE) - reached(mixture, ends), ends
    elif way == "Bayes":
        share = noised.density(y[:, None]) * (y[1] - y[0])
        below = [reached(mixture.posterior([place], 1, sigma), FINE) for place in y]
        gaps, places = share @ np.array(below) - reached(mixture, FINE), FINE
    else:
        share = noised.density(y[:, None]) * (y[1] - y[0])
        whose = noised if way == "bell, score of p̃" else mixture
        means = y + sigma**2 * whose.score(y[:, None])[:, 0]
        below = ndtr((FINE[:, None] - means) / sigma)
        gaps, places = below @ share - reached(mixture, FINE), FINE
    return float(np.trapezoid(np.abs(gaps), places))


# Pictures.


def draw_heaps(crowds, centres, which):
    """Crowds side by side, {name: (n, 2)}; in the title how far their dots are from the centres[which]."""
    names = list(crowds)
    width = 6.9 if len(names) == 3 else 9.8  # a narrow window holds three side by side
    fig, axes = fixed_axes(
        len(names),
        (width, width / len(names) + 0.5),
        (0.58 / width, 0.99, 0.18, 0.9),
        wspace=0.06,
        sharey=True,
    )
    told = []
    for ax, name in zip(axes, names, strict=True):
        wide = spread(crowds[name], centres, which)
        ax.plot(*np.asarray(crowds[name]).T, ".", color=BLUE, markersize=2, alpha=0.6)
        ax.plot(*centres.T, "+", color=BLACK, markersize=9)
        ax.set(xlim=(-4.2, 4.2), ylim=(-4.2, 4.2), xlabel="first coordinate")
        ax.set_aspect("equal")
        ax.set_xticks([-4, -2, 0, 2, 4])
        ax.set_title(f"{name}: {wide:.2f}", fontsize=11)
        told.append(say("{name} {wide:.2f}", name=name, wide=wide))
    axes[0].set_ylabel("second coordinate")
    return fig, say(
        "{n} grains in {heaps} heaps. Their standard deviation, per coordinate and round the centre of their heap: "
        "{told:, }.",
        n=len(which),
        heaps=len(centres),
        told=told,
    )


def stand(states, count):
    """Places of dots in columns, one for each state, in the order of the dots (n, 2): twelve abreast."""
    places = np.empty((len(states), 2))
    for state in range(count):
        rank = np.arange((states == state).sum())
        places[states == state] = np.stack([state + (rank % 12 - 5.5) / 16, rank // 12 + 0.5], 1)
    return places


def glide(stages, walk=24, rest=8):
    """Positions (steps, n, 2) of dots that go straight from stage to stage and rest between."""
    stages = [np.asarray(stage, float) for stage in stages]
    film = [stages[0]] * rest
    for one, other in zip(stages, stages[1:], strict=False):
        share = (1 - np.cos(np.pi * np.arange(1, walk + 1) / walk)) / 2
        film += [one + part * (other - one) for part in share] + [other] * rest
    return np.array(film)


def columns(stages):
    """Dots in three states, at each of three stages (n,): figure, axes, film, words, and a colour for each dot."""
    film = glide([stand(states, 3) for states in stages])
    colors = np.array([BLUE, VERMILION, GREEN])[stages[0]]
    counts = [np.bincount(states, minlength=3) for states in stages]
    fig, ax = plt.subplots(figsize=(6, 3.8))
    ax.set(
        xlim=(-0.55, 2.55),
        ylim=(0, 24),
        xlabel="state",
        ylabel="row of twelve dots",
        title="Numbers return, up to chance; dots do not",
    )
    ax.set_xticks(range(3), ["1", "2", "3"])
    words = say(
        "{n} dots in three states: {first}. They move by the kernel: {away}. They are sent back by Bayes: {back}. "
        "In the state where it began is {home:.0%} of them.",
        n=len(stages[0]),
        first="/".join(map(str, counts[0])),
        away="/".join(map(str, counts[1])),
        back="/".join(map(str, counts[2])),
        home=(stages[0] == stages[2]).mean(),
    )
    return fig, ax, film, words, list(colors)


def draw_bins(dots, widths, x, density):
    """The dots (n,) counted in bins of several widths: their shares, and their shares per width."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.3))
    tops = []
    for width, color, line in zip(widths, (VERMILION, BLUE, GREEN), (":", "--", "-"), strict=True):
        edges = np.arange(-4, 4 + width / 2, width)
        share = np.histogram(dots, edges)[0] / len(dots)
        common = dict(color=color, linestyle=line, label=f"Δx = {width:g}")
        left.stairs(share, edges, **common)
        right.stairs(share / width, edges, **common)
        tops.append((share.max(), share.max() / width))
    right.plot(x, density, color=BLACK, linewidth=1, label="p(x)")
    left.set(xlabel="place x", ylabel="share of the dots in a bin", title="Finer bins hold fewer")
    right.set(xlabel="place x", ylabel="share per width", title="Shares per width settle")
    for ax in (left, right):
        ax.set_xlim(-4, 4)
        ax.legend(fontsize=9)
    return fig, say(
        "{n} dots on two hills. The fullest of the bins of width {widths} holds {shares} of the dots. Per width that "
        "is {densities}; the density has the top {top:.2f}.",
        n=len(dots),
        widths=", ".join(f"{width:g}" for width in widths),
        shares=", ".join(f"{share:.0%}" for share, _ in tops),
        densities=", ".join(f"{per:.2f}" for _, per in tops),
        top=density.max(),
    )


def draw_kernel(x, clean, y, sigma, r, centre):
    """Where a dot seen at y came from: r (m,) on the grid x, beside the bell N(centre, σ²); clean: the density."""
    bell = normal(x, centre, sigma)
    overlap = float(np.minimum(r, bell).sum() * (x[1] - x[0]))
    mean, _ = moments(x, r)
    fig, (top, low) = plt.subplots(2, 1, figsize=(7, 4.3), layout="none", sharex=True)
    fig.subplots_adjust(left=0.1, right=0.98, bottom=0.12, top=0.93, hspace=0.32)
    top.plot(x, clean, color=BLACK)
    top.axvline(y, color=BLACK, linestyle=":")
    top.set_gid("seen")
    top.set(ylabel="density p before", ylim=(0, 0.8))
    light(top, f"A dot is seen at {y:.2f}", [-4, -2, 0, 2, 4], [0, 0.3, 0.6])
    low.plot(x, r, color=BLUE, label="Bayes: r(x | y)")
    low.plot(x, bell, "--", color=VERMILION, label="bell of the straight line")
    low.axvline(y, color=BLACK, linestyle=":")
    low.set(xlabel="place x", ylabel="density", xlim=(-4, 4), ylim=(0, None))
    light(low, f"Where did it come from? They overlap by {overlap:.0%}")
    low.legend(fontsize=9, loc="upper left" if y > 0 else "upper right")
    return fig, say(
        "Seen at {y:.2f} after a knock of σ = {sigma:.2f}. Mean of the places it may have come from: {mean:.2f}; "
        "centre of the bell: {centre:.2f}. Kernel and bell overlap by {overlap:.0%}.",
        y=y,
        sigma=sigma,
        mean=mean,
        centre=centre,
        overlap=overlap,
    )


def draw_step(lam, sigma2, shares, curves, marks, hills):
    """Variance and error by the share of the step, with three marks; and what it makes of two hills.

    curves (m, 2) at shares (m,), marks (3, 2) at 0, ½ and 1: variance and error for N(0, 1).
    """
    fig, (left, right) = fixed_axes(2, (8, 3.3), (0.08, 0.985, 0.15, 0.9), wspace=0.25)
    now = np.array([np.interp(lam, shares, curve) for curve in curves.T])
    left.plot(shares, curves[:, 0], color=BLUE, label="variance")
    left.plot(shares, curves[:, 1], "--", color=VERMILION, label="squared error")
    left.plot([0, 0.5, 1], marks[:, 0], "o", color=BLUE, markersize=7)
    left.axhline(1, color=BLACK, linewidth=0.8)
    left.axvline(lam, color=BLACK, linestyle=":")
    left.set_gid("share")
    left.set(
        xlabel="share λ of the step",
        ylabel="variance, squared error",
        xlim=(-0.06, 1.06),
        ylim=(0, 2.9),
    )
    light(left, f"N(0, 1): variance 1 → {now[0]:.2f}", [0, 0.5, 1], [0, 1, 2])
    left.legend(fontsize=9, loc="upper left")
    x = np.linspace(-4, 4, 161)
    noised = hills.noised(1, np.sqrt(sigma2))
    dots = quantiles(noised, 2000)
    dots = dots + lam * sigma2 * noised.score(dots[:, None])[:, 0]
    share, edges = np.histogram(dots, np.linspace(-4, 4, 65), density=True)
    right.stairs(share, edges, fill=True, color=BLUE, alpha=0.4, label="after")
    right.plot(x, hills.density(x[:, None]), color=BLACK, label="before")
    right.set(xlabel="place x", ylabel="density", xlim=(-4, 4), ylim=(0, 1.2))
    before = float(hills.covariance()[0, 0])
    light(right, f"Two hills: variance {before:.2f} → {dots.var():.2f}", [-4, 0, 4], [0, 0.5, 1])
    right.legend(fontsize=9, loc="upper right")
    return fig, say(
        "Knock σ² = {sigma2:.2f}, share {lam:.2f} of the step. N(0, 1) comes back with variance {variance:.2f} and "
        "squared error {error:.2f}; marked variances, at λ = 0, ½ and 1: {none:.2f}, {half:.2f}, {full:.2f}. "
        "Two hills of variance {before:.2f} come back with {after:.2f}.",
        sigma2=sigma2,
        lam=lam,
        variance=now[0],
        error=now[1],
        none=marks[0, 0],
        half=marks[1, 0],
        full=marks[2, 0],
        before=before,
        after=dots.var(),
    )


def race(parts):
    """Heaps side by side, each with its own rule: {rule: film (steps, n, 2)} -> figure, axes, film, words, colours."""
    places = 3 * np.arange(len(parts)) - 1.5 * (len(parts) - 1)
    looks = (GREY, BLUE, VERMILION, GREEN)
    shifted = [film + [place, 0] for film, place in zip(parts.values(), places, strict=True)]
    film = glide(np.concatenate(shifted, axis=1), walk=10, rest=3)
    wide = {name: (film[0].std(), film[-1].std()) for name, film in parts.items()}
    fig, ax = plt.subplots(figsize=(8, 3.1))
    for place in places:
        angle = np.linspace(0, 2 * np.pi, 60)
        ax.plot(place + 0.8 * np.cos(angle), 0.8 * np.sin(angle), color=BLACK, linewidth=0.8)
    ax.set(
        xlim=(-6, 6),
        ylim=(-2.1, 2.1),
        ylabel="second coordinate",
        title="Knock and mend: who keeps the heap as it was?",
    )
    ax.set_xticks(places, [f"{name}\n{wide[name][1]:.2f}" for name in parts])
    ax.set_xlabel("rule, and standard deviation at the end")
    ax.set_aspect("equal")
    told = [say("{name} {end:.2f}", name=name, end=end) for name, (_, end) in wide.items()]
    colors = np.repeat(looks[: len(parts)], [film.shape[1] for film in parts.values()])
    words = say(
        "Four heaps of standard deviation about {first:.1f}, after {rounds} rounds of knock and mend: {told:, }. The "
        "circles have twice the radius of the first spread.",
        first=np.mean([first for first, _ in wide.values()]),
        rounds=(len(next(iter(parts.values()))) - 1) // 2,
        told=told,
    )
    return fig, ax, film, words, list(colors)


def draw_travel(levels, gaps):
    """W₁ between the crowd before and after the round trip, by σ² (m,). gaps {way: (m,)}."""
    fig, ax = plt.subplots(figsize=(6.4, 3.8))
    looks = {
        "best guess": ("s:", VERMILION),
        "bell, score of p": ("^--", PINK),
        "bell, score of p̃": ("v-.", GREEN),
        "half step": ("o-", BLUE),
    }
    for way, (look, color) in looks.items():
        ax.loglog(levels, gaps[way], look, color=color, label=way)
    ax.set(
        xlabel="variance σ² of the knock",
        ylabel="distance W₁ to the crowd before",
        title="All but the best guess miss in σ⁴ only",
    )
    ax.set_xticks(levels, [f"{level:g}" for level in levels])
    ax.minorticks_off()
    ax.legend(fontsize=9)
    told = [say("{way} {gap:.1g}", way=way, gap=gaps[way][-1]) for way in looks]
    return fig, say(
        "Distance between the crowd before and after, for σ² = {last}: {told:, }. A quarter of σ² makes it {guess:.0f} "
        "times smaller for the best guess, {half:.0f} times for the half step.",
        last=levels[-1],
        told=told,
        guess=gaps["best guess"][-1] / gaps["best guess"][-3],
        half=gaps["half step"][-1] / gaps["half step"][-3],
    )


def draw_flow(place, cells, density, change, chance):
    """The density (m,) with a place marked, and the change of all cells; beside it what flows in and out there.

    chance: that with which a dot hops to one side.
    """
    at = int(np.abs(cells - place).argmin())
    into = chance * density[[at - 1, at + 1]]
    out = 2 * chance * density[at]
    verb = "grows" if change[at] > 0 else "falls"
    fig, (left, right) = fixed_axes(
        2, (8.4, 3.4), (0.08, 0.99, 0.17, 0.9), wspace=0.3, width_ratios=[2.4, 1]
    )
    left.plot(cells, density, color=BLACK, label="density")
    for part, name, look in (
        (np.maximum(8 * change, 0), "gains × 8", BLUE),
        (np.minimum(8 * change, 0), "loses × 8", VERMILION),
    ):
        left.fill_between(cells, part, step="mid", label=name, color=look)
    left.axvline(cells[at], color=BLACK, linestyle=":")
    left.set_gid("place")
    left.set(xlabel="place x", ylabel="density, and its change")
    light(left, f"At {cells[at]:.2f} the density {verb}", [-4, 0, 4, 8], [0, 0.1, 0.2])
    left.legend(fontsize=9, loc="upper right")
    right.bar([0], into[:1], color=BLUE)
    right.bar([0], into[1:], bottom=into[:1], color=SKY)
    right.bar([1], [out], color=VERMILION)
    right.set_xticks([0, 1], ["in", "out"])
    right.set(
        xlabel="at this place", ylabel="density that flows", ylim=(0, 1.15 * max(into.sum(), out))
    )
    light(right, f"In minus out: {into.sum() - out:+.3f}")
    return fig, say(
        "At {place:.2f}, where the density is {density:.3f}, {into:.3f} flows in from the two neighbours and {out:.3f} "
        "out to them. Your change is {change:+.3f}: the density {verb}.",
        place=cells[at],
        density=density[at],
        into=into.sum(),
        out=out,
        change=change[at],
        verb=verb,
    )


def draw_cloud(does, step, film, arrows, heaps, which):
    """A crowd (n, 2) at a step of its film, with the score at its first dots, over the density of its heaps."""
    wide = [spread(film[at], heaps.means, which) for at in (0, step)]
    fig, ax = fixed_axes(1, (5.2, 4.9), (0.12, 0.98, 0.11, 0.93))
    side = np.linspace(-4, 4, 50)
    plane = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
    density = heaps.density(plane).reshape(50, 50)
    ax.contour(side, side, density, levels=6, colors=GREY, linewidths=0.5)
    ax.plot(*film[step].T, ".", color=BLUE, markersize=3)
    ax.quiver(
        *film[step][: len(arrows)].T,
        *arrows.T,
        angles="xy",
        scale_units="xy",
        scale=8,
        width=0.004,
        color=BLACK,
        zorder=3,
    )
    ax.set(xlabel="first coordinate", ylabel="second coordinate")
    ax.set_aspect("equal")
    light(ax, f"Spread of the heaps: {wide[0]:.2f} → {wide[1]:.2f}")
    return fig, say(
        "{does}, half-round {step} of {steps}: the spread round the heaps' centres went from {first:.2f} to {now:.2f}.",
        does=does[0].upper() + does[1:],
        step=step,
        steps=len(film) - 1,
        first=wide[0],
        now=wide[1],
    )


def roll_film(there, back, scales, roll):
    """Walkers that leave a spiral roll (m, 2), there (T + 2, n, 2), and new ones that form it, back (T + 1, n, 2).

    scales (T + 1,): the noise so far. -> figure, axes, film, words; all in units of the cloud's own size.
    """
    size = np.sqrt(1 + np.concatenate([[0], scales]) ** 2)
    film = np.concatenate([there / size[:, None, None], back / size[:0:-1, None, None]])
    off = np.linalg.norm(back[-1][:, None] - roll, axis=2).min(1)
    fig, ax = plt.subplots(figsize=(5, 4.8))
    ax.plot(*(roll / size[1]).T, "+", color=GREY, markersize=4, zorder=0)
    ax.set(
        xlim=(-3.2, 3.2),
        ylim=(-3.2, 3.2),
        xlabel="first coordinate / size of the cloud",
        ylabel="second coordinate / size",
        title="A roll sinks, and rises",
    )
    ax.set_aspect("equal")
    words = say(
        "{n} dots on a spiral are knocked {T} times, until the noise is {wide:g} in size, six times the spiral's. As "
        "many new ones start in a Gaussian of that size and take {T} half steps back: half of them end within "
        "{off:.2f} of an example.",
        n=film.shape[1],
        T=len(scales) - 1,
        wide=scales[-1],
        off=np.ceil(100 * np.median(off)) / 100,
    )
    return fig, ax, film, words


def draw_strips(sinking, rising, scales):
    """One digit with more and more noise (m, 64), over new ones on the way back (m, k, 64), in units of the noise."""
    rows = (
        np.concatenate([sinking[None], np.swapaxes(rising, 0, 1)]) / np.sqrt(1 + scales**2)[:, None]
    )
    fig, axes = plt.subplots(*rows.shape[:2], figsize=(6.4, 6.6))
    for row, name in enumerate(["sinks", *["rises"] * rising.shape[1]]):
        for column, scale in enumerate(scales):
            ax = axes[row, column]
            ax.imshow(rows[row, column].reshape(8, 8), cmap="gray_r", vmin=-1.5, vmax=1.5)
            ax.set(xticks=[], yticks=[])
            ax.grid(False)
            if row == 0:
                ax.set_title(f"noise {scale:.2g}", fontsize=10, loc="center")
        axes[row, 0].set_ylabel(name)
    gaps = np.linalg.norm(rising[0][:, None] - rising[0], axis=2)
    return fig, say(
        "A digit under noise of size {first:.2f} to {last:.0f} per pixel (pixels go from −1 to 1). Under it {n} others "
        "that rise from such noise. At their ends no two of them are alike: at least {apart:.1f} apart.",
        first=scales[0],
        last=scales[-1],
        n=rising.shape[1],
        apart=np.floor(10 * gaps[gaps > 0].min()) / 10,
    )

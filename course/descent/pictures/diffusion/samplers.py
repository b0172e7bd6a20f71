"""Pictures of 15_diffusion/04_samplers: pure computations first, then functions that return (fig, words).

Time t = 0 is data, t = 1 noise. Ho's schedule of 1,000 steps: β from 0.0001 evenly up to 0.02.
"""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ndtr
from scipy.stats import wasserstein_distance

from descent.pictures.diffusion.mixtures import Mixture, three_hills
from descent.pictures.diffusion.score_and_langevin import fit, nearest
from descent.plots import BLACK, BLUE, GREEN, ORANGE, SKY, VERMILION, fixed_axes
from descent.words import say

__all__ = ["fit", "nearest"]
GREY = "#777777"
BETAS = np.linspace(1e-4, 0.02, 1000)
LEFT = np.concatenate([[1], np.cumprod(1 - BETAS)])


def thin_hills():
    """In the plane: three hills of spread 0.1, with 60, 30 and 10 % of the mass."""
    return Mixture.of(three_hills().means, 0.1, [6, 3, 1])


def spaced(n, T=1000):
    """n steps from T down to 0, denser near 0, where data have detail -> (n + 1,) distinct integers."""
    rising = (np.linspace(0, T**0.5, n + 1) ** 2).round().astype(int)
    return np.maximum(rising, np.arange(n + 1))[::-1]


@cache
def puzzle():
    """Four walks with the exact noise of the thin hills: {name: ends (600, 2)}."""
    world, rng = thin_hills(), np.random.default_rng(0)
    start, crowds = rng.normal(size=(600, 2)), {}

    def noise(x, left):
        return world.noise(x, left**0.5, (1 - left) ** 0.5)

    for name, n in (("noise, 1,000 steps", 1000), ("noise, 20 steps", 20)):
        x, h = start, 1 / n
        for t in np.linspace(1, h, n):
            beta, left = 0.1 + 19.9 * t, np.exp(-0.1 * t - 9.95 * t**2)
            x = x + beta * h * (x / 2 - noise(x, left) / (1 - left) ** 0.5)
            x = x + (beta * h) ** 0.5 * rng.normal(size=x.shape)
        crowds[name] = x
    x = start
    for beta, left in zip(BETAS[::-1], LEFT[:0:-1], strict=True):
        x = (x - beta / (1 - left) ** 0.5 * noise(x, left)) / (1 - beta) ** 0.5
    crowds["no noise, 1,000 steps"] = x
    steps = LEFT[spaced(20)]
    y, u = start / steps[0] ** 0.5, (1 / steps - 1) ** 0.5
    for left, here, there in zip(steps[:-1], u[:-1], u[1:], strict=True):
        y = y + (there - here) * noise(left**0.5 * y, left)
    crowds["another rule, 20 steps"] = y
    return crowds


def cumulative(world, x):
    """The chance of a value up to x (m,), of a Mixture on the line -> (m,)."""
    return ndtr((np.asarray(x)[:, None] - world.means[:, 0]) / world.sds) @ world.weights


def off_by(points, world):
    """How far points (n,) have to be carried on the line to become the Mixture, in the mean."""
    grid = np.linspace(-8, 8, 16_001)
    level = (np.arange(len(points)) + 0.5) / len(points)
    return wasserstein_distance(points, np.interp(level, cumulative(world, grid), grid))


def divergence(v, nudge=1e-4):
    """The divergence of v: (x (n, d), t) -> (n, d), by central differences: (x, t) -> (n,)."""

    def div(x, t):
        total = 0
        for j in range(x.shape[1]):
            e = nudge * np.eye(x.shape[1])[j]
            total = total + (v(x + e, t) - v(x - e, t))[:, j] / (2 * nudge)
        return total

    return div


def window(x, a, b, width):
    """A smooth test function: nearly 1 on (a, b), nearly 0 elsewhere, with edges of that width."""
    return ndtr((x - a) / width) - ndtr((x - b) / width)


def linear_ode(rate, variance, n=4000):
    """The variance at t = 1 of dots that ride dx/dt = rate(t) x, by midpoint steps."""
    middle = (np.arange(n) + 0.5) / n
    return variance * float(np.prod(1 + rate(middle) / n + rate(middle) ** 2 / (2 * n**2))) ** 2


def ridden_variance(sign):
    """The variance at t = 1 of dots from N(0, 1) that ride dx/dt = sign ½ ∂log p, where p = N(0, 1 + t)."""
    return linear_ode(lambda t: -sign / (2 * (1 + t)), 1.0)


def turned(a, b, n):
    """n codes from a to b (d,): the direction turns evenly, the length grows evenly -> (n, d)."""
    lengths = np.linalg.norm([a, b], axis=1)
    a, b = a / lengths[0], b / lengths[1]
    angle, share = np.arccos(np.clip(a @ b, -1, 1)), np.linspace(0, 1, n)[:, None]
    ways = (np.sin((1 - share) * angle) * a + np.sin(share * angle) * b) / np.sin(angle)
    return ways * ((1 - share) * lengths[0] + share * lengths[1])


# Pictures.


def _percent(shares):
    return ", ".join(f"{100 * share:.0f}" for share in shares)


def _plane(ax, title, limit=3.3):
    ax.set(xlim=(-limit, limit), ylim=(-limit, limit), title=title)
    ax.set_aspect("equal")


def draw_crowds(crowds, world):
    """A panel for each of crowds {name: points (n, 2)}, with the spread of the hills."""
    fig, axes = plt.subplots(2, 2, figsize=(6.6, 6.8), sharex=True, sharey=True)
    told = []
    for ax, (name, points) in zip(axes.flat, crowds.items(), strict=True):
        shares, spread = fit(points, world)
        ax.plot(*world.means.T, "+", color=GREY, markersize=16)
        ax.plot(*points.T, ".", color=BLUE, markersize=4, alpha=0.7)
        _plane(ax, f"{name}\nspread of a hill: {spread:.2f}")
        text = "{name}: {shares} % of the points, spread {spread:.2f}"
        told.append(say(text, name=name, shares=_percent(shares), spread=spread))
    for ax in axes[1]:
        ax.set_xlabel("first coordinate")
    for ax in axes[:, 0]:
        ax.set_ylabel("second coordinate")
    return fig, say(
        "Ends of four walks. Asked for are hills at lower left, lower right and top, with 60, 30, 10 % and the spread "
        "0.1. {told:; }.",
        told=told,
    )


def draw_ends(ends, world):
    """Histograms of ends {name: (n, 1)} over the density of a Mixture on the line."""
    bins, x = np.linspace(-4, 4, 81), np.linspace(-4, 4, 400)
    fig, axes = plt.subplots(1, len(ends), figsize=(7, 2.8), sharey=True)
    told = []
    for ax, (name, end) in zip(axes, ends.items(), strict=True):
        ax.hist(end[:, 0], bins, density=True, color=SKY)
        ax.plot(x, world.density(x[:, None]), color=VERMILION)
        ax.set(xlabel="place at t = 0", ylim=(0, 1.3))
        ax.set_title(name, fontsize=11)
        text = "{name}: off by {off:.2f}"
        told.append(say(text, name=name, off=off_by(end[:, 0], world)))
    axes[0].set_ylabel("density")
    return fig, say(
        "Where {n:,} dots end, over the density of the data; how far a dot has to be carried, in the mean. {told:; }.",
        n=len(end),
        told=told,
    )


def draw_film(times, still, drifting, power):
    """Walks (K + 1, 6) from 2: dx = 2 dw on the left, DDPM's SDE on the right, with mean ± 2 spreads of the law."""
    line = np.linspace(0, 1, 200)
    laws = ((2 + 0 * line, 2 * line**0.5), (2 * power(line) ** 0.5, (1 - power(line)) ** 0.5))
    fig, axes = fixed_axes(2, (8.4, 3.5), (0.08, 0.98, 0.17, 0.88), wspace=0.22)
    names = ("dx = 2 dw", "dx = −½ β x dt + √β dw")
    for ax, walks, (mean, wide), name in zip(axes, (still, drifting), laws, names, strict=True):
        ax.fill_between(line, mean - 2 * wide, mean + 2 * wide, color=SKY, alpha=0.25, linewidth=0)
        ax.plot(line, mean, "--", color=BLACK, linewidth=1)
        ax.plot(times, walks[:, 1:], color=BLUE, linewidth=0.5, alpha=0.6)
        ax.plot(times, walks[:, 0], color=VERMILION, linewidth=1)
        ax.set(xlabel="time t, from data (0) to noise (1)", title=name)
    axes[0].set(ylabel="place", ylim=(-6, 10))
    axes[1].set(ylabel="place", ylim=(-4, 4.5))
    steps = np.diff(still, axis=0)
    return fig, say(
        "{frames} frames, on the left: the way of a walker is {length:.1f} long, the sum of its squared steps "
        "{squares:.1f} (mean of {n} walkers). The bands reach two spreads to either side of the mean; on the right it "
        "falls to 0.",
        frames=len(times) - 1,
        length=np.abs(steps).sum(0).mean(),
        squares=(steps**2).sum(0).mean(),
        n=still.shape[1],
    )


def draw_pair(end, noise, coefficient, world):
    """The pair (noise, coefficient) in its plane, and a histogram of where it leads. end (n,)."""
    fig, (left, right) = fixed_axes(
        2, (8.4, 3.6), (0.08, 0.98, 0.17, 0.88), wspace=0.22, width_ratios=[1, 1.5]
    )
    lam = np.linspace(0, 1.6, 100)
    left.plot(lam, (1 + lam**2) / 2, color=GREEN, label="(1 + λ²) / 2")
    left.plot(noise, coefficient, "o", color=VERMILION, markersize=9)
    left.set_gid("pair")
    left.set(
        xlim=(-0.05, 1.65),
        ylim=(0.25, 1.85),
        xlabel="noise λ",
        ylabel="coefficient of g² s",
        title="What you pay for noise",
    )
    left.legend(fontsize=9, loc="lower right")
    x = np.linspace(-4, 4, 300)
    inside = np.clip(end, -4, 4)
    right.hist(inside, np.linspace(-4, 4, 65), density=True, color=SKY)
    right.plot(x, world.density(x[:, None]), color=BLACK, label="the data")
    spread, data = float(end.std()), float(world.covariance()[0, 0] ** 0.5)
    how = (
        "too narrow" if spread < 0.95 * data else "too wide" if spread > 1.05 * data else "as wide"
    )
    right.set(
        xlabel="place at t = 0", ylabel="density", ylim=(0, 1.5), title=f"The crowd at home: {how}"
    )
    right.legend(fontsize=9, loc="upper left")
    return fig, say(
        "Noise {noise:.2f}, coefficient {coefficient:.2f}: the crowd at home has the standard deviation {spread:.2f}; "
        "the data have {data:.2f}. A dot has to be carried {off:.2f} in the mean.",
        noise=noise,
        coefficient=coefficient,
        spread=spread,
        data=data,
        off=off_by(end, world),
    )


def there_and_back(noisy, quiet, world):
    """The ground of two films, each [there, back] of (T, n, 2): noisy on the left, quiet on the right.

    -> figure, axes, film, words, a colour for each dot. A dot has the colour of the hill where it began.
    """
    off, films, told = 4.2, [], []
    own, _ = nearest(noisy[0][0], world)
    for name, (there, back), side in (("noisy", noisy, -off), ("quiet", quiet, off)):
        films.append(np.concatenate([there, back[1:]]) + [side, 0])
        same = float((nearest(back[-1], world)[0] == own).mean())
        told.append(say("{name}: {same:.0%}", name=name, same=same))
    fig, ax = plt.subplots(figsize=(8.4, 4.3))
    for side in (-off, off):
        ax.plot(*(world.means + [side, 0]).T, "+", color=GREY, markersize=16)
    ax.axvline(0, color=GREY, linestyle="--", linewidth=1)
    ax.set(
        xlim=(-2 * off, 2 * off),
        ylim=(-4, 4),
        xlabel="first coordinate, round the centre of each crowd",
        ylabel="second coordinate",
        title="There and home again: both crowds return, but only one dot by dot",
    )
    ax.set_xticks([-off, off], ["noisy: by the SDEs", "quiet: by the ODE"])
    words = say(
        "{n} dots sink into noise, in {T} frames, and come home in as many. On both sides there are three hills. "
        "Dots that are back in their own hill: {told:; }.",
        n=len(own),
        T=len(noisy[0]) - 1,
        told=told,
    )
    colors = list(np.array([BLUE, ORANGE, GREEN])[own])
    return fig, ax, np.concatenate(films, 1), words, 2 * colors


def draw_likelihood(world, x, told):
    """Log densities of points x (n, 2) as the ride tells them, against the exact ones."""
    exact = world.log_density(x)
    fig, ax = plt.subplots(figsize=(5.6, 3.8))
    ends = [exact.min(), exact.max()]
    ax.plot(ends, ends, color=BLACK, linewidth=1, label="equal")
    ax.plot(exact, told, "o", color=VERMILION, markersize=4, label="a point of data")
    ax.set(
        xlabel="exact log density (nats)",
        ylabel="by the ride (nats)",
        title="A walk without chance knows its density",
    )
    ax.legend()
    return fig, say(
        "{n} points: what the ride tells lies on the diagonal. Its mean is {told:.2f} nats, exact are {exact:.2f}.",
        n=len(x),
        told=told.mean(),
        exact=exact.mean(),
    )


def draw_answer(counts, curves, less, wide, ends, world):
    """Spread of a hill by steps, curves {name: one for each of counts}; by timidity, wide {η: one for each of less};

    ends {η: (n, 2)}: of walks that all begin at one point.
    """
    looks = [("o-", BLUE), ("s--", ORANGE), ("^:", GREEN), ("D-.", VERMILION)]
    fig, (steps, errors, one) = plt.subplots(1, 3, figsize=(10, 3.7))
    for (name, curve), (look, color) in zip(curves.items(), looks, strict=True):
        steps.plot(counts, curve, look, color=color, label=name)
    steps.set(
        xscale="log", xlabel="steps", ylabel="spread of a hill", title="Few steps", ylim=(0, 0.8)
    )
    steps.set_xticks(counts, [f"{count:,}" for count in counts])
    steps.minorticks_off()
    for (eta, values), (look, color) in zip(wide.items(), looks, strict=False):
        errors.plot([100 * a for a in less], values, look, color=color, label=f"η = {eta}")
    errors.set(
        xlabel="timid by (%)", ylabel="spread of a hill", title="A timid network", ylim=(0, 0.8)
    )
    for ax in (steps, errors):
        ax.axhline(0.1, color=BLACK, linewidth=1, linestyle="--")
        ax.legend(fontsize=8)
    one.plot(*world.means.T, "+", color=GREY, markersize=16)
    one.plot(*ends[1].T, ".", color=GREEN, markersize=5, label="η = 1")
    one.plot(*ends[0].T, "o", color=BLUE, markersize=8, label="η = 0")
    one.set_aspect("equal", adjustable="datalim")  # as high as its neighbours
    one.margins(0.3)
    one.set(xlabel="first coordinate", ylabel="second coordinate", title="300 dots from one start")
    one.legend(fontsize=8)
    text = "{name}: {spread:.2f}"
    told = [say(text, name=name, spread=curve[1]) for name, curve in curves.items()]
    return fig, say(
        "Hills should have the spread 0.1. With 20 steps they have {told:; }. If the network is timid by 20 %: "
        "{without:.1f} without noise, {healed:.1f} with it. Dots from one start end at one point without noise; with "
        "it {shares} % of them in the three hills.",
        told=told,
        without=wide[0][-1],
        healed=wide[1][-1],
        shares=_percent(fit(ends[1], world)[0].round(1)),
    )


def draw_equation(x, density, particles, t):
    """The solution of the Fokker–Planck equation (m,) over a histogram of particles (n,)."""
    fig, ax = fixed_axes(1, (6.8, 3.4), (0.12, 0.98, 0.16, 0.88))
    ax.hist(particles, np.linspace(-4, 4, 65), density=True, color=SKY, label="particles")
    ax.plot(x, density, color=VERMILION, label="Fokker–Planck")
    ax.set(
        xlim=(-4, 4),
        ylim=(0, 0.9),
        xlabel="place x",
        ylabel="density",
        title=f"One crowd, told twice: t = {t:.2f}",
    )
    ax.legend(loc="upper left")
    dx = x[1] - x[0]
    mean = (x * density).sum() * dx
    return fig, say(
        "t = {t:.2f}: variance of the particles {dots:.2f}, by the equation {pde:.2f}.",
        t=t,
        dots=particles.var(),
        pde=((x - mean) ** 2 * density).sum() * dx,
    )


def draw_codes(world, straight, codes, decoded):
    """Two points of data, mixed (left) and their codes, mixed and decoded (right). All (n, 2)."""
    fig, axes = plt.subplots(1, 3, figsize=(7, 3), sharey=True)
    titles = ("Points, mixed", "Their codes, mixed", "… and decoded")
    for ax, points, title in zip(axes, (straight, codes, decoded), titles, strict=True):
        if points is not codes:
            ax.plot(*world.means.T, "+", color=GREY, markersize=16)
        ax.plot(*points.T, ".", color=VERMILION, markersize=5)
        ax.plot(*points[[0, -1]].T, "o", color=BLUE, markersize=8)
        _plane(ax, title, 2.8)
        ax.set_xlabel("first coordinate")
    axes[0].set_ylabel("second coordinate")
    near = [
        float((nearest(p, world)[1] < (4 * world.sds[0]) ** 2).mean()) for p in (straight, decoded)
    ]
    return fig, say(
        "Of {n} mixtures of two points {straight:.0%} are within four spreads of a hill's centre. Of the decoded "
        "mixtures of their codes, {decoded:.0%} are.",
        n=len(straight),
        straight=near[0],
        decoded=near[1],
    )

"""Pictures of 15_diffusion/05_score_and_langevin: pure computations first, then functions that return (fig, words)."""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import torch

from descent.pictures.diffusion.mixtures import Mixture, three_hills, two_hills
from descent.plots import BLACK, BLUE, GREEN, VERMILION, fixed_axes, light
from descent.words import say

VALLEY = -0.7  # between the two hills on the line


def hills(share):
    """The two hills on the line with that share of the mass in the left one."""
    world = two_hills()
    return Mixture.of(world.means, world.sds, [share, 1 - share])


def score_by_share(shares, x):
    """The score at x for each share of the left hill. (m,) -> (m,)"""
    return np.array([hills(share).score([x])[0] for share in shares])


def nearest(points, world):
    """Index of the nearest centre of a mixture for each of points (n, d), and the squared distance. (n,), (n,)"""
    squared = ((np.asarray(points)[:, None] - world.means) ** 2).sum(-1)
    return squared.argmin(1), squared.min(1)


def fit(points, world):
    """Shares of the points (n, d) nearest to each centre, (k,), and their root mean square distance per coordinate."""
    which, squared = nearest(points, world)
    shares = np.bincount(which, minlength=len(world.means)) / len(points)
    return shares, float(np.sqrt(squared.mean() / world.means.shape[1]))


@cache
def puzzle():
    """1000 particles after 200 Langevin steps of 0.18 with the exact score of the three hills. (1000, 2)"""
    world, rng = three_hills(), np.random.default_rng(11)
    x = 4 * rng.normal(size=(1000, 2))
    for _ in range(200):
        x = x + 0.09 * world.score(x) + np.sqrt(0.18) * rng.normal(size=x.shape)
    return x


def ula_variance(eps):
    """Where the variance of a Langevin walk on N(0, 1) settles, 0 < eps < 4."""
    return 1 / (1 - np.asarray(eps) / 4)


def implicit_gaussian(slope):
    """The implicit loss of s(x) = slope (1 - x) on N(1, 4): ½ slope² · 4 - slope."""
    return 2 * slope**2 - slope


def torch_score(world, x):
    """The score of a mixture, of torch's functions. x (n, d) float64 -> (n, d)."""
    means, variances = torch.tensor(world.means), torch.tensor(world.sds**2)
    gaps = means - x[:, None]
    fit = torch.tensor(world.weights / world.sds ** world.means.shape[1]).log()
    shares = torch.softmax(fit - gaps.square().sum(-1) / (2 * variances), 1)
    return (shares[..., None] * gaps / variances[:, None]).sum(1)


def powers(x):
    """u, u², u³, u⁴ of u = x / 2. (n,) -> (n, 4)"""
    return (np.asarray(x)[:, None] / 2) ** np.arange(1, 5)


def power_slopes(x):
    """Their slopes in x. (n,) -> (n, 4)"""
    k = np.arange(1, 5)
    return k / 2 * (np.asarray(x)[:, None] / 2) ** (k - 1)


def makes_a_model(f, d=3):
    """Whether e^(-f(x)) is a number and -∇f(x) has the shape of x (d,)."""
    x = torch.linspace(0.5, 1, d)
    slopes = torch.autograd.functional.jacobian(f, x)
    return f(x).ndim == 0 and slopes.shape == x.shape


# Pictures.


def _percent(shares):
    return ", ".join(f"{100 * share:.0f}" for share in shares)


def _plane(ax, world, centre=0.0):
    """Grey rings of one and two spreads round the hills of a mixture in the plane."""
    turn = np.linspace(0, 2 * np.pi, 60)
    circle = np.stack([np.cos(turn), np.sin(turn)], 1)
    for mean, sd in zip(world.means, world.sds, strict=True):
        for wide in (1, 2):
            ring = mean + [centre, 0] + wide * sd * circle
            ax.plot(*ring.T, color="#777777", linewidth=0.9, zorder=3)
    ax.set_aspect("equal")


def draw_clouds(clouds, world):
    """A panel for each of clouds {name: points (n, 2)}, with shares and spread."""
    fig, axes = plt.subplots(
        1, len(clouds), figsize=(2.3 * len(clouds), 3), sharex=True, sharey=True
    )
    told, colors = [], (BLUE, VERMILION, GREEN)
    for ax, (name, points), color in zip(axes, clouds.items(), colors, strict=False):
        shares, spread = fit(points, world)
        ax.plot(*np.asarray(points).T, ".", markersize=3, color=color, alpha=0.6)
        _plane(ax, world)
        ax.set(xlim=(-3.6, 3.6), ylim=(-3, 3.9), xlabel="first coordinate")
        ax.set_title(f"{name}\n{_percent(shares)} %, spread {spread:.2f}", fontsize=9)
        text = "{name}: {shares} % of the points, spread {spread:.2f}"
        told.append(say(text, name=name, shares=_percent(shares), spread=spread))
    axes[0].set_ylabel("second coordinate")
    text = "Clouds round three hills (lower left, lower right, top), rings at one and two right spreads. {told:; }."
    return fig, say(text, told=told)


def draw_landscape(x, share, c):
    """Energy, density and score of two hills on the line, with a point at x; the energy is raised by c."""
    world, line = hills(share), np.linspace(-2.7, 2.9, 181)
    energy = c - world.log_density(line[:, None])
    at, density, score = c - world.log_density([x]), world.density([x]), world.score([x])[0]
    fig, (top, middle, right) = fixed_axes(3, (7.8, 2.8), (0.08, 0.99, 0.17, 0.86), wspace=0.4)
    top.plot(line, energy, color=BLUE)
    top.plot([x], [at], "o", color=VERMILION, markersize=8)
    top.set_gid("energy")
    top.set(xlabel="place x", ylabel="energy f(x)", ylim=(-5, 15))
    middle.fill_between(line, world.density(line[:, None]), color=BLUE, alpha=0.3, linewidth=0)
    middle.plot([x], [density], "o", color=VERMILION, markersize=8)
    middle.set(xlabel="place x", ylabel="density p(x)", ylim=(0, 1.6))
    right.plot(line, world.score(line[:, None])[:, 0], color=BLUE)
    right.axhline(0, color=BLACK, linewidth=0.8)
    right.plot([x], [score], "o", color=VERMILION, markersize=8)
    reach = np.sign(score) * min(abs(score) / 8, 0.9)
    for ax, y in ((top, at), (middle, density)):
        ax.annotate("", (x + reach, y), (x, y), arrowprops=dict(arrowstyle="->", color=VERMILION))
    right.set(xlabel="place x", ylabel="score s(x)", ylim=(-13, 13))
    for ax, name in ((top, "a low place …"), (middle, "… is visited often"), (right, "uphill")):
        light(ax, name, x=[-2, 0, 2])
    text = (
        "At x = {x:.2f} the energy is {energy:.2f}, the density {density:.3f}, the score {score:.2f}: uphill is to the "
        "{side}. The left hill has {share:.0%} of the mass."
    )
    facts = dict(energy=at, density=density, score=score, share=share)
    return fig, say(text, x=x, side="right" if score > 0 else "left", **facts)


def draw_variances(sizes, measured):
    """Variance on N(0, 1) by step size, measured (m,) and 1 / (1 - ε/4)."""
    fig, ax = plt.subplots()
    line = np.linspace(0.01, 3.2, 200)
    ax.plot(line, ula_variance(line), color=BLACK, label=r"$1/(1-\epsilon/4)$")
    ax.plot(sizes, measured, "o", color=VERMILION, label="your walk")
    ax.axhline(1, color=BLUE, linestyle="--", label="asked for")
    ax.set(
        xlabel="step size ε",
        ylabel="variance in the end",
        title="The longer the steps, the wider the cloud",
        ylim=(0, 5),
    )
    ax.legend(loc="upper left")
    text = "On N(0, 1) the variance rises from {first:.2f} at ε = {low} to {last:.1f} at ε = {high}; asked for is 1."
    return fig, say(text, first=measured[0], last=measured[-1], low=sizes[0], high=sizes[-1])


def draw_crossing(x, eps, steps):
    """Histogram of particles x (n,) that all began in the left one of two hills, over the density."""
    world, line = two_hills(), np.linspace(-3.2, 3.2, 300)
    crossed = float((x > VALLEY).mean())
    left = x[x <= VALLEY]
    wide = float(np.sqrt(((left + 1.5) ** 2).sum() / max(len(left), 1)))
    fig, ax = fixed_axes(1, (6.8, 3.4), (0.12, 0.98, 0.15, 0.88))
    bins = np.linspace(-3.2, 3.2, 65)
    ax.hist(x, bins, density=True, color=VERMILION, alpha=0.55, label="particles")
    ax.plot(line, world.density(line[:, None]), color=BLACK, label="asked for")
    ax.set(xlabel="place x", ylabel="density", ylim=(0, 1.8))
    ax.legend(loc="upper right")
    ax.set_title(f"{crossed:.0%} have crossed (67 % should)")
    text = (
        "Step size {eps:.3f}, {steps} steps: {crossed:.0%} of the particles have crossed, two thirds should. The "
        "others have a spread of {wide:.2f} round the left peak; 0.25 is asked for."
    )
    return fig, say(text, eps=eps, steps=steps, crossed=crossed, wide=wide)


def side_by_side(plain, annealed, world):
    """The ground of two walks (T, n, 2), plain on the left, annealed on the right.

    -> figure, axes, words, positions (T, 2n, 2), a colour for each particle.
    """
    off = np.array([4.5, 0.0])  # who is out of its own half is not shown
    halves = [np.where(abs(walk[..., :1]) < 4.4, walk, np.nan) for walk in (plain, annealed)]
    film = np.concatenate([halves[0] - off, halves[1] + off], 1)
    fig, ax = plt.subplots(figsize=(8.4, 4.3))
    for centre in (-4.5, 4.5):
        _plane(ax, world, centre)
    ax.axvline(0, color="#777777", linestyle="--", linewidth=1)
    ax.set(
        xlim=(-9, 9),
        ylim=(-4, 4.4),
        xlabel="first coordinate, round the centre of each walk",
        ylabel="second coordinate",
        title="The same starts: geography decides, or the shares do",
    )
    ax.set_xticks([-4.5, 4.5], ["plain", "annealed"])
    (a, _), (b, _) = fit(plain[-1], world), fit(annealed[-1], world)
    text = (
        "{n} particles on the same three hills, {T} steps. On the left, with short steps and one score, {plain} % end "
        "in the three hills; on the right, where the hills rise out of one, {annealed} %. Asked for are 60, 30, 10 %."
    )
    words = say(
        text, n=np.shape(plain)[1], T=len(film) - 1, plain=_percent(a), annealed=_percent(b)
    )
    colors = [VERMILION] * np.shape(plain)[1] + [GREEN] * np.shape(annealed)[1]
    return fig, ax, words, film, colors


def draw_three_losses(factors, curves):
    """Losses of c times the true score, by c. curves {"Fisher", "implicit", "denoising": (m,)}."""
    fig, ax = plt.subplots()
    looks = {"Fisher": ("o-", BLACK), "implicit": ("s--", BLUE), "denoising": ("^:", VERMILION)}
    for name, values in curves.items():
        ax.plot(factors, values, looks[name][0], color=looks[name][1], label=name)
    ax.set(
        xlabel="factor c of the true score",
        ylabel="loss",
        title="Three losses, one valley: they differ by constants",
    )
    ax.legend()
    best = {name: float(factors[int(np.argmin(values))]) for name, values in curves.items()}
    text = (
        "The losses of c times the true score are three parallel parabolas. Least at c = {fisher:g} (Fisher), "
        "{implicit:g} (implicit) and {denoising:g} (denoising), of {n} factors."
    )
    return fig, say(
        text,
        fisher=best["Fisher"],
        implicit=best["implicit"],
        denoising=best["denoising"],
        n=len(factors),
    )


def draw_energy(grid, energies, data):
    """Density of an energy on an evenly spaced grid (m,), over a histogram of its data."""
    density = np.exp(energies.min() - energies)
    density = density / (density.sum() * (grid[1] - grid[0]))
    fig, ax = plt.subplots()
    ax.hist(data, 60, density=True, color=BLUE, alpha=0.35, label="2,000 points")
    ax.plot(grid, density, color=VERMILION, label=r"$e^{-f}/Z$, four weights")
    truth = two_hills().density(grid[:, None])
    ax.plot(grid, truth, color=BLACK, linestyle=":", label="truth")
    ax.set(
        xlabel="place x",
        ylabel="density",
        title="The likeliest energy of degree four",
        xlim=(-3.5, 3.5),
        ylim=(0, 0.9),
    )
    ax.legend(loc="upper left")
    right = float(density[grid > VALLEY].sum() * (grid[1] - grid[0]))
    text = (
        "A density of two hills, from an energy of degree four: {right:.0%} of its mass lies right of the valley, as "
        "do {data:.0%} of the points. Its left hill is lower and wider than the true one."
    )
    return fig, say(text, right=right, data=float((data > VALLEY).mean()))


def draw_field(learned, world, sigma, level):
    """Arrows of the score at melted points: exact thick, learned(x, sigma) thin."""
    rng = np.random.default_rng(level)
    melted = world.noised(1, sigma)
    points = melted.sample(400, rng)[0]
    exact, guess = melted.score(points), learned(points, sigma)
    off = np.sqrt(((guess - exact) ** 2).sum() / (exact**2).sum())
    size = max(3.0, 3.6 * sigma)
    fig, ax = fixed_axes(1, (5.4, 4.6), (0.14, 0.97, 0.12, 0.92))
    ax.plot(*points.T, ".", color="#999999", markersize=3, zorder=0)
    some, common = points[:50].T, dict(angles="xy", scale_units="xy", zorder=3)
    common["scale"] = np.sqrt((exact**2).sum(1).mean()) / (0.1 * size)
    ax.quiver(*some, *exact[:50].T, color=BLACK, width=0.008, label="exact", **common)
    ax.quiver(*some, *guess[:50].T, color=VERMILION, width=0.003, label="learned", **common)
    ax.set(
        xlim=(-size, size),
        ylim=(-size, size),
        xlabel="first coordinate",
        ylabel="second coordinate",
        title=f"noise level σ = {sigma:.2f}",
    )
    ax.set_aspect("equal")
    ax.legend(loc="upper right")
    bound = (
        np.floor(5 * off) + 1
    ) / 5  # in steps of 20 %: training differs a little between machines
    text = "Noise level {sigma:.2f}: the learned score is off by less than {bound:.0%} of the exact one's size."
    return fig, say(text, sigma=sigma, bound=bound)

"""Pictures of 15_diffusion/07_unet_guidance_dit: pure computations first, then functions that return (fig, words)."""

import math

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.patches import Rectangle
from torch import nn

from descent.pictures.diffusion.mixtures import Mixture
from descent.plots import BLACK, BLUE, GREEN, ORANGE, VERMILION, fixed_axes, light
from descent.words import say


def cosine_schedule(T, offset=0.008):
    """β_t for t = 1 … T, (T,), and the power ᾱ_t that is left for t = 0 … T, (T + 1,), a squared cosine."""
    time = torch.linspace(0, 1, T + 1, dtype=torch.float64)
    power = torch.cos((time + offset) / (1 + offset) * math.pi / 2).square()
    betas = (1 - power[1:] / power[:-1]).clamp(max=0.999).float()
    return betas, torch.cat([torch.ones(1), torch.cumprod(1 - betas, 0)])


def walk(noise, x, betas, seed=4):
    """The walk of 15/03 back from noise x with a predictor (x, t (n,)) -> ε̂ like x.

    -> states (T + 1, …), from x on, and the guesses of the end that go with each ε̂, (T, …).
    """
    abar = torch.cat([torch.ones(1), torch.cumprod(1 - betas, 0)])
    g, states, guesses = torch.Generator().manual_seed(seed), [x], []
    for t in range(len(betas), 0, -1):
        with torch.no_grad():
            eps = noise(x, torch.full((len(x),), t))
        guesses.append((x - (1 - abar[t]).sqrt() * eps) / abar[t].sqrt())
        x = (x - betas[t - 1] / (1 - abar[t]).sqrt() * eps) / (1 - betas[t - 1]).sqrt()
        if t > 1:
            x = x + betas[t - 1].sqrt() * torch.randn(x.shape, generator=g)
        states.append(x)
    return torch.stack(states), torch.stack(guesses)


def error_at(net, x0, y, t, abar):
    """Squared error per pixel of a net that names the noise, on images x0 (n, 1, 8, 8) with labels y at step t."""
    eps = torch.randn(x0.shape, generator=torch.Generator().manual_seed(t))
    xt = abar[t].sqrt() * x0 + (1 - abar[t]).sqrt() * eps
    with torch.no_grad():
        guess = net(xt, torch.full((len(x0),), t), y)
    return (guess - eps).square().mean().item()


class Dense(nn.Module):
    """Dense layers, as in 15/03: (images (n, 1, 8, 8), emb (n, 32)) -> like the images."""

    def __init__(self, width):
        super().__init__()
        self.enter, self.time = nn.Linear(64, width), nn.Linear(32, width)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.leave = nn.Linear(width, 64)

    def forward(self, x, emb):
        h = self.enter(x.flatten(1)) + self.time(emb)
        for layer in self.layers:
            h = h + layer(nn.functional.silu(h))
        return self.leave(nn.functional.silu(h)).reshape(x.shape)


def crowds():
    """Blue, red, and both together: three hills each in the plane, the third blue one next to the red ones."""
    blue = [[-1.6, -0.8], [-1.2, 1.2], [-0.1, -0.1]]
    red = [[0.7, 0.3], [1.5, 1.3], [1.3, -1.2]]
    return [Mixture.of(hills, 0.3) for hills in (blue, red, blue + red)]


def crowd_noise(worlds, abar):
    """The exact noise predictor of worlds: (x (n, 2), t (n,) all the same, labels y (n,)) -> the best guess of ε."""

    def noise(x, t, y):
        a, b = abar[t[0]].sqrt().item(), (1 - abar[t[0]]).sqrt().item()
        eps = torch.empty_like(x)
        for label, world in enumerate(worlds):
            eps[y == label] = torch.tensor(world.noise(x[y == label].numpy(), a, b)).to(x)
        return eps

    return noise


def guided_log_density(worlds, label, w, a, b):
    """log of p(x)^(1-w) p(x | label)^w, not normalised, where x = a·x0 + b·ε: a function (..., d) -> (...)."""
    one, everybody = worlds[label].noised(a, b), worlds[-1].noised(a, b)
    return lambda x: (1 - w) * everybody.log_density(x) + w * one.log_density(x)


def slopes(f, x, h=1e-5):
    """The gradient of f at each row of x (n, d) by central differences -> (n, d)."""
    steps = h * np.eye(x.shape[1])
    return np.stack([(f(x + step) - f(x - step)) / (2 * h) for step in steps], -1)


def shares(points, worlds):
    """The share of points (n, 2) nearest to each of the six hills, the blue ones first. (6,)"""
    squared = ((np.asarray(points)[:, None] - worlds[-1].means) ** 2).sum(-1)
    return np.bincount(squared.argmin(1), minlength=6) / len(points)


def formula_share(worlds, w):
    """The share of the density p(x) p(blue | x)^w nearest to the third blue hill, by a fine grid."""
    line = np.linspace(-4, 4, 321)
    grid = np.stack(np.meshgrid(line, line), -1).reshape(-1, 2)
    log = guided_log_density(worlds, 0, w, 1, 0)(grid)
    weights = np.exp(log - log.max())
    nearest = ((grid[:, None] - worlds[-1].means) ** 2).sum(-1).argmin(1)
    return float(weights[nearest == 2].sum() / weights.sum())


def least_ratio(levels, one, other, among=(5, 25, 45)):
    """Which of the steps `among` has the least ratio of the curves one and other (m,), given at the steps levels."""
    at = [list(levels).index(t) for t in among]
    return int(np.argmin(np.asarray(one)[at] / np.asarray(other)[at]))


def price(drawn, wanted, judge, real):
    """For each set of drawn digits (100, 64), ten for each digit in order of wanted (100,):

    the share that the judge reads as wanted, the spread per pixel among ten alike, and the median distance to the
    nearest of the real ones (m, 64). Three lists.
    """
    read = [float(judge.score(x, wanted)) for x in drawn]
    spread = [float(x.reshape(10, 10, 64).std(1).mean()) for x in drawn]
    off = [float(torch.cdist(x, real).min(1).values.median()) for x in drawn]
    return read, spread, off


def trace(net, x, emb):
    """What leaves each part of a U-Net: [(name, channels, side)], in the order in which they compute.

    Kept for the skips is what leaves "down"; "up" and "look" are not listed.
    """
    seen, hooks = [], []

    def watch(part, name):
        hooks.append(
            part.register_forward_hook(lambda *call: seen.append((name, *call[2].shape[1:3])))
        )

    watch(net.enter, "enter"), watch(net.bottom, "bottom"), watch(net.leave, "leave")
    for level in range(len(net.down)):
        for name in ("down", "wider", "merge", "refine"):
            watch(getattr(net, name)[level], f"{name}[{level}]")
    with torch.no_grad():
        net(x, emb)
    for hook in hooks:
        hook.remove()
    return [(name, int(channels), int(side)) for name, channels, side in seen]


# Pictures.


def _mosaic(rows, names, title, width=8.4):
    """One picture of rows of 8 x 8 images, names beside the rows. rows (r, c, 64)."""
    rows = np.asarray(rows, float)
    r, c = rows.shape[:2]
    tiles = np.full((r, c, 9, 9), np.nan)
    tiles[..., :8, :8] = rows.reshape(r, c, 8, 8)
    tile = (width - 0.95) / c
    fig, ax = plt.subplots(figsize=(width, r * tile + 0.45), layout="none")
    height = fig.get_figheight()
    fig.subplots_adjust(0.9 / width, 0.05 / height, 1 - 0.05 / width, 1 - 0.4 / height)
    flat = tiles.swapaxes(1, 2).reshape(9 * r, 9 * c)
    ax.imshow(flat, cmap="gray_r", vmin=-1, vmax=1, aspect="auto")
    ax.set_xticks([])
    ax.set_yticks(9 * np.arange(r) + 3.5, list(names))
    ax.set_title(title)
    ax.tick_params(length=0, labelsize=10)
    ax.spines[:].set_visible(False)
    ax.grid(False)
    return fig


def draw_shuffled(images, mixed):
    """Digits over the same digits with shuffled pixels, (m, 1, 8, 8) each."""
    rows = [np.asarray(part).reshape(len(part), 64) for part in (images, mixed)]
    title = "Two rows with the same numbers in another order"
    fig = _mosaic(rows, ("digits", "shuffled"), title)
    same = np.allclose(np.sort(rows[0], 1), np.sort(rows[1], 1))
    moved = (rows[0] != rows[1]).mean()
    text = (
        "{n} handwritten digits, and beneath each the same digit with its pixels shuffled. Both hold the same "
        "numbers: {same}. At {moved:.0%} of the places the two rows differ; nobody could read the second."
    )
    return fig, say(text, n=len(images), same="yes" if same else "no", moved=float(moved))


def draw_clock(clock, t):
    """The hands of a clock (T + 1, d) at step t, and the likeness of its reading with every other step's."""
    clock = np.asarray(clock, float)
    d, T = clock.shape[1], len(clock) - 1
    alike = clock @ clock[t] / (d / 2)
    fig, (left, right) = fixed_axes(
        2, (8.4, 3.1), (0.07, 0.99, 0.17, 0.87), wspace=0.22, width_ratios=[1, 1.25]
    )
    left.imshow(clock.T, cmap="RdBu", vmin=-1, vmax=1, aspect="auto", origin="lower")
    left.axvline(t, color=BLACK)
    left.set_gid("clock")
    left.set(xlabel="step t", ylabel="number i of emb(t)")
    left.grid(False)
    light(left, "fast hands below, slow above", x=[0, 25, 50], y=[0, 10, 20, 30])
    right.plot(alike, color=BLUE)
    right.plot([t], [1], "o", color=BLACK)
    right.set(xlabel="another step", ylabel="likeness with step t", ylim=(0.3, 1.05))
    near, far = alike[min(t + 1, T) if t < T else T - 1], float(alike.min())
    light(right, f"step {t} and all others", x=[0, 10, 20, 30, 40, 50], y=[0.4, 0.6, 0.8, 1])
    text = (
        "Step {t} of {T}, told by {hands} hands. Its likeness with itself is 1, with the next step {near:.2f}, with "
        "the least alike {far:.2f}."
    )
    return fig, say(text, t=t, T=T, hands=d // 2, near=float(near), far=far)


def draw_u(shapes):
    """A U of boxes, as `trace` lists them: as high as the image, as wide as the channels are many."""
    fig, ax = plt.subplots(figsize=(7.8, 3.9))
    depth = sum(name.startswith("down") for name, *_ in shapes)
    size, most = shapes[0][2], max(channels for _, channels, _ in shapes)
    ends, level, right = {}, 0, 0.0
    colors = dict(down=BLUE, refine=BLUE, bottom=VERMILION)
    for name, channels, side in shapes:
        kind = name.split("[")[0]
        if kind == "wider":
            level += 1
        if kind == "merge":
            level -= 1
        width, height = 0.8 + 0.4 * channels / most, 0.15 + 0.6 * side / size
        box = Rectangle(
            (right, -level - height / 2), width, height,
            facecolor=colors.get(kind, "#bbbbbb"), edgecolor=BLACK, alpha=0.75,
        )  # fmt: skip
        ax.add_patch(box)
        at = dict(ha="center", fontsize=8)
        ax.text(right + width / 2, -level, f"{channels}×{side}²", va="center", **at)
        ax.text(right + width / 2, -level + height / 2 + 0.03, kind, va="bottom", **at)
        ends[name] = (right, right + width)
        right += width + 0.1
    for number in range(depth):
        start, end = ends[f"down[{number}]"][1], ends[f"merge[{number}]"][0]
        across = dict(arrowstyle="->", linestyle="--", color=GREEN, linewidth=1.6)
        ax.annotate("", (end, -number), (start, -number), arrowprops=across)
    ax.set(
        xlim=(-0.3, right + 0.1),
        ylim=(-depth - 0.6, 0.7),
        xlabel="order of computing →",
        ylabel="level",
        title="Down to see all, up to say where, across to remember",
    )
    ax.set_xticks([])
    ax.set_yticks([-number for number in range(depth + 1)], map(str, range(depth + 1)))
    ax.grid(False)
    bottom = next((c, s) for name, c, s in shapes if name == "bottom")
    first = next((c, s) for name, c, s in shapes if name == "down[0]")
    text = (
        "An image of {size}×{size} pixels becomes {c}×{s}×{s} at the bottom, {low} numbers where level 0 has {high}, "
        "and {size}×{size} again. What is kept on each of the {depth} levels goes across: {kept}."
    )
    kept = [f"{c}×{s}×{s}" for name, c, s in shapes if name.startswith("down")]
    facts = dict(size=size, c=bottom[0], s=bottom[1], low=bottom[0] * bottom[1] ** 2)
    return fig, say(text, **facts, high=first[0] * first[1] ** 2, depth=depth, kept=", ".join(kept))


def draw_bodies(levels, curves, title):
    """Squared error per pixel by step of several networks. curves {name: (m,)}."""
    looks = {
        "dense": ("s-.", ORANGE),
        "U without skips": ("v:", VERMILION),
        "U, shuffled pixels": ("^--", GREEN),
        "U": ("o-", BLUE),
        "DiT": ("d--", VERMILION),
    }
    fig, ax = plt.subplots(figsize=(6.6, 3.8))
    for name, curve in curves.items():
        ax.plot(levels, curve, looks[name][0], color=looks[name][1], label=name)
    ax.set(
        xlabel="step t",
        ylabel="squared error per pixel",
        title=title,
        yscale="log",
    )
    ax.legend(fontsize=9)
    told = [
        say("{name}: {mean:.2f}", name=name, mean=float(np.mean(curve)))
        for name, curve in curves.items()
    ]
    best = min(curves, key=lambda name: np.mean(curves[name]))
    text = "On new digits, mean over {n} steps: {told:; }. Least error: {best}."
    return fig, say(text, n=len(levels), told=told, best=best)


def draw_crowd(points, worlds, w):
    """Where walkers end, points (n, 2), that were asked to be blue, over the hills of both classes."""
    blue, red, everybody = worlds
    split, sure = shares(points, worlds), float(everybody.shares(points)[:, :3].sum(1).mean())
    spread = float(np.sqrt(np.asarray(points).var(0).sum()))
    fig, ax = fixed_axes(1, (5.8, 4.4), (0.12, 0.98, 0.13, 0.91))
    turn = np.linspace(0, 2 * np.pi, 50)
    for world, color, style in ((blue, BLUE, "-"), (red, VERMILION, "--")):
        for mean in world.means:
            for wide in (0.3, 0.6):
                ring = mean + wide * np.stack([np.cos(turn), np.sin(turn)], 1)
                ax.plot(*ring.T, style, color=color, linewidth=1)
    ax.plot(*np.asarray(points).T, ".", color=BLACK, markersize=3, alpha=0.6)
    paper = dict(facecolor="white", edgecolor="none", pad=1)
    for mean, share in zip(blue.means, split[:3], strict=True):
        ax.text(mean[0], mean[1] + 0.68, f"{share:.0%}", ha="center", color=BLUE, bbox=paper)
    ax.set(xlim=(-3, 3), ylim=(-2.4, 2.6), xlabel="first coordinate", ylabel="second coordinate")
    ax.set_aspect("equal")
    light(ax, f"w = {w:g}: {sure:.0%} sure to be blue", x=[-2, 0, 2], y=[-2, 0, 2])
    text = (
        "w = {w:g}: the three blue hills (solid) get {a:.0%}, {b:.0%} and, next to the red ones (dashed), {c:.0%} of "
        "the walkers, who are blue with {sure:.0%} certainty in the mean. Their spread is {spread:.2f}."
    )
    facts = dict(a=split[0], b=split[1], c=split[2], sure=sure, spread=spread)
    return fig, say(text, w=w, **facts)


def draw_request(states, guesses, walked, digit, w, read):
    """Ten images under way over the guesses of their ends. states (T + 1, 10, 64), guesses (T, 10, 64)."""
    states, guesses = np.asarray(states), np.asarray(guesses)
    T = len(guesses)
    guess = guesses[walked] if walked < T else states[-1]
    title = f"asked for {digit} with w = {w}: {walked} steps of {T}"
    fig = _mosaic([states[walked], guess], ("under way", "guess"), title)
    move = float(np.sqrt(((states[walked] - states[-1]) ** 2).mean()))
    text = (
        "Ten times the digit {digit} at w = {w}, {walked} of {T} steps walked: about {move:.1f} per pixel from what "
        "they become. At the end a judge reads {read} of the ten as a {digit}."
    )
    facts = dict(digit=digit, w=w, walked=walked, T=T, move=move, read=read)
    return fig, say(text, **facts)


def draw_price(dial, read, spread, off):
    """Share read as asked, and spread and distance against those at w = 1, by the dial (m,)."""
    places, base = np.arange(len(dial)), list(dial).index(1)
    fig, (left, right) = plt.subplots(1, 2, figsize=(7, 3.1))
    left.bar(places, 100 * np.asarray(read), color=BLUE)
    left.set(xlabel="guidance w", ylabel="read as asked (%)", title="It listens …")
    spread, off = np.asarray(spread) / spread[base], np.asarray(off) / off[base]
    right.plot(places, spread, "o-", color=VERMILION, label="spread of ten alike")
    right.plot(places, off, "s--", color=BLACK, label="distance to real digits")
    right.set(xlabel="guidance w", ylabel="against w = 1", title="… and pays")
    right.legend()
    for ax in (left, right):
        ax.set_xticks(places, map(str, dial))
    text = (
        "Read as asked: {reads}. The spread of ten alike requests falls to {least:.2f} of that at w = 1; at w = {last} "
        "the distance to real digits is {far:.1f} of it."
    )
    reads = ", ".join(f"{share:.0%} at w = {w}" for w, share in zip(dial, read, strict=True))
    return fig, say(text, reads=reads, least=float(spread[base:].min()), last=dial[-1], far=off[-1])

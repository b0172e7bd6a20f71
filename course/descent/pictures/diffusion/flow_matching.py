"""Pictures of 15_diffusion/06_flow_matching: pure computations first, then functions that return (fig, words).

Time t = 0 is data, t = 1 noise; a velocity points to the data.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from scipy.special import ndtr

from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, fixed_axes
from descent.words import say

GREY = "#999999"
COUNTS = (1, 2, 4, 8, 16, 32, 64)


def velocity(world, x, t):
    """E[x0 - x1 | x_t = x] of a Mixture, at one time 0 <= t <= 1: (..., d) -> (..., d)."""
    return world.denoised(x, 1 - t, t) - world.noise(x, 1 - t, t)


def exact(world):
    """`velocity` as a model: (x (n, d), t (n,), all the same) -> (n, d), tensors."""
    return lambda x, t: torch.as_tensor(velocity(world, x.double().numpy(), float(t[0]))).to(x)


def walk(world, x, n_steps):
    """Where Euler steps with the exact velocity end. x (n, d) -> (n, d)."""
    for k in range(n_steps):
        x = x + velocity(world, x, 1 - k / n_steps) / n_steps
    return x


def cumulative(world, x):
    """The chance of a value up to x (m,), of a Mixture on the line -> (m,)."""
    steps = (np.asarray(x)[:, None] - world.means[:, 0]) / world.sds
    return ndtr(steps) @ world.weights


def carried(world, x1):
    """Where the exact flow takes the points x1 (n,) of the line: it keeps their order, so their ranks."""
    grid = np.linspace(-12, 12, 24_001)
    return np.interp(ndtr(np.asarray(x1)), cumulative(world, grid), grid)


def diffuse(noise, x, n_steps, rng):
    """Ancestral sampling on a cosine schedule, a² + b² = 1, in n_steps steps. noise: (x, a, b) -> best guess of ε."""
    angle = np.linspace(np.pi / 2, 0, n_steps + 1)
    a, b = np.cos(angle), np.sin(angle)
    a[0], b[-1] = 1e-6, 0  # all but pure noise
    for k in range(n_steps):
        eps = noise(x, a[k], b[k])
        clean = (x - b[k] * eps) / a[k]
        fresh = (b[k + 1] / b[k]) ** 2 * (1 - (a[k] / a[k + 1]) ** 2)
        x = a[k + 1] * clean + np.sqrt(b[k + 1] ** 2 - fresh) * eps
        x = x + np.sqrt(fresh) * rng.normal(size=x.shape)
    return x


def apart(points, others):
    """How far each of points (n, d) is carried to one of others (n, d), in the cheapest pairing: the mean."""
    points, others = (np.asarray(p, float) for p in (points, others))
    gaps = np.linalg.norm(points[:, None] - others, axis=-1)
    return float(gaps[linear_sum_assignment(gaps)].mean())


def reroute(places, speeds, x, dt, rng, crowd=40):
    """Each walker takes the speed of a line near by, drawn at random among about `crowd`, for a time dt.

    places, speeds (m,) of the lines at one time; x (n,) -> (n,).
    """
    order = np.argsort(places)
    near = np.searchsorted(places[order], x) + rng.integers(-crowd // 2, crowd // 2, len(x))
    return x + dt * speeds[order[np.clip(near, 0, len(places) - 1)]]


# Pictures.


def _plane(ax, title, limit=3.2):
    ax.set(xlim=(-limit, limit), ylim=(-limit, limit), xlabel="first coordinate", title=title)
    ax.set_aspect("equal")


def draw_puzzle(world, x0, x1):
    """Lines between data x0 (m, 2) and some of the noise x1 (n, 2); where one step ends, and where 64 do."""
    x0, x1 = np.asarray(x0, float), np.asarray(x1, float)
    one, many = walk(world, x1, 1), walk(world, x1, 64)
    fig, axes = plt.subplots(1, 3, figsize=(7, 2.9), sharey=True)
    lines = np.stack([x1[: len(x0)], x0], 1)
    axes[0].plot(*lines.transpose(2, 1, 0), color=SKY, linewidth=0.8)
    axes[0].plot(*x0.T, "o", color=BLACK, markersize=3)
    for ax, ends in zip(axes[1:], (one, many), strict=True):
        ax.plot(*world.means.T, "+", color=GREY, markersize=14)
        ax.plot(*ends.T, "o", color=VERMILION, markersize=4)
    titles = ("Straight lines", "One step", "64 steps")
    for ax, title in zip(axes, titles, strict=True):
        _plane(ax, title)
    axes[0].set_ylabel("second coordinate")
    off = np.linalg.norm(many[:, None] - world.means, axis=-1).min(1)
    return fig, say(
        "Left: {m} straight lines from noise in the middle to data on {k} hills of a circle with radius "
        "{radius:.0f}. Middle: {n} points of noise after one step with the best velocity: all within {spread:.2f} of "
        "the middle. Right: after 64 steps, {near:.0%} are within {reach:.1f} of the centre of a hill.",
        m=len(x0),
        k=len(world.means),
        radius=np.linalg.norm(world.means[0]),
        n=len(x1),
        spread=np.ceil(100 * np.linalg.norm(one, axis=1).max() + 1) / 100,
        near=(off < 4 * world.sds[0]).mean(),
        reach=4 * world.sds[0],
    )


def road(x0, x1, rides):
    """The ground on which passengers ride, rides (T, n), from the noise x1 to the data x0 (n,).

    -> figure, axes, film (T, n, 2), words, a colour for each passenger: that of the third where it began.
    """
    rides, x0, x1 = (np.asarray(part, float) for part in (rides, x0, x1))
    t = np.linspace(1, 0, len(rides))
    film = np.stack([np.broadcast_to(t[:, None], rides.shape), rides], -1)
    third = 3 * rides[0].argsort().argsort() // len(x1)
    fig, ax = plt.subplots(figsize=(7, 4))
    ax.plot([1, 0], np.stack([x1, x0]), color=SKY, linewidth=0.7, zorder=0)
    ax.set(
        xlim=(1.03, -0.03),
        xlabel="time t, from noise (1) to data (0)",
        ylabel="place",
        title="Cars keep to their lines; passengers never overtake",
    )
    moved = np.abs(rides[-1] - x0) > 1e-9
    words = say(
        "{n} cars drive on straight lines from noise to data, {met} pairs of them meet. Passengers change at each "
        "meeting: {moved} get out elsewhere than their first car. They end in the order in which they began: {kept}.",
        n=len(x0),
        met=int(((x1[:, None] < x1) & (x0[:, None] > x0)).sum()),
        moved=int(moved.sum()),
        kept="yes" if (rides[0].argsort() == rides[-1].argsort()).all() else "no",
    )
    return fig, ax, film, words, list(np.array([BLUE, ORANGE, GREEN])[third])


def draw_here(x0, x1, at, speeds, t, x, best, reach=0.1):
    """The lines that pass near x at time t, and their velocities.

    x0, x1, at (places at t), speeds (n,); best: the exact mean velocity there.
    """
    x0, x1, at, speeds = (np.asarray(part, float) for part in (x0, x1, at, speeds))
    here = np.abs(at - x) < reach
    fig, (left, right) = fixed_axes(
        2, (8.4, 3.5), (0.08, 0.98, 0.17, 0.88), wspace=0.22, width_ratios=[1.7, 1]
    )
    shown = np.flatnonzero(here)[:60]
    left.plot([1, 0], np.stack([x1[:60], x0[:60]]), color=GREY, linewidth=0.4)
    left.plot([1, 0], np.stack([x1[shown], x0[shown]]), color=SKY, linewidth=0.9)
    left.plot(t, x, "o", color=BLACK)
    mean = speeds[here].mean() if here.any() else np.nan
    if here.any():
        step = min(0.25, t)
        left.plot([t, t - step], [x, x + step * mean], color=VERMILION, linewidth=3)
    left.set_gid("here")
    left.set(
        xlim=(1.03, -0.03),
        ylim=(-3.5, 3.5),
        xlabel="time t, from noise (1) to data (0)",
        ylabel="place x",
        title="Lines through here, and their mean",
    )
    right.hist(speeds[here], np.linspace(-6, 6, 41), color=SKY)
    right.axvline(best, ymax=0.8, color=VERMILION, linewidth=2, label="exact mean")
    right.set(xlabel="velocity x₀ − x₁", ylabel="lines", title=f"{here.sum()} lines")
    right.set_ylim(0, 1.3 * right.get_ylim()[1])
    right.legend(fontsize=9, loc="upper right")
    return fig, say(
        "At t = {t:.2f}, {n} of {total} lines pass within {reach} of x = {x:.2f}. Their mean velocity is {mean:.2f}, "
        "the exact one {exact:.2f}. Standard deviation of the velocities: {spread:.1f}.",
        t=t,
        n=int(here.sum()),
        total=len(x0),
        reach=reach,
        x=x,
        mean=mean,
        exact=best,
        spread=speeds[here].std() if here.any() else np.nan,
    )


def draw_evaluations(curves, floor):
    """Distance to data by the number of times that the model is asked. curves {name: one for each of COUNTS}."""
    looks = [("o-", BLUE), ("s--", ORANGE), ("^:", GREEN), ("D-.", PINK)]
    fig, ax = plt.subplots(figsize=(6.6, 3.8))
    for (name, curve), (look, color) in zip(curves.items(), looks, strict=False):
        ax.plot(COUNTS, curve, look, color=color, label=name)
    ax.axhline(
        floor, color=BLACK, linestyle="--", linewidth=1, label="real data to other real data"
    )
    ax.set(
        xscale="log",
        xlabel="times that the model is asked",
        ylabel="distance to real data",
        title="A few steps are not enough, lines or no lines",
        ylim=(0, 2.2),
    )
    ax.set_xticks(COUNTS, [str(count) for count in COUNTS])
    ax.minorticks_off()
    ax.legend(fontsize=9)
    told = [
        say(
            "{name}: {first:.1f}, {second:.1f} … {last:.1f}",
            name=name,
            first=c[0],
            second=c[1],
            last=c[-1],
        )
        for name, c in curves.items()
    ]
    return fig, say(
        "Mean distance by which samples have to be carried to become real data, after 1, 2, …, 64 questions to the "
        "model. {told:; }. Two sets of real data: {floor:.1f}.",
        told=told,
        floor=floor,
    )


def draw_straightened(paths, ones, world):
    """Walks of two networks; where a single step ends. paths {name: (K + 1, n, 2)}, ones {name: (n, 2)}."""
    fig, axes = plt.subplots(2, len(paths), figsize=(6.8, 6.8), sharex=True, sharey=True)
    for (name, path), (above, below) in zip(paths.items(), axes.T, strict=True):
        path, one = np.asarray(path), np.asarray(ones[name])
        above.plot(*path[:, :120].transpose(2, 0, 1), color=SKY, linewidth=0.8)
        above.plot(*path[-1, :120].T, "o", color=BLACK, markersize=3)
        below.plot(*world.means.T, "+", color=GREY, markersize=14)
        below.plot(*one.T, "o", color=VERMILION, markersize=3)
        _plane(above, f"{name}: walks of 64 steps")
        _plane(below, f"{name}: one step")
        above.set_xlabel("")
    for ax in axes[:, 0]:
        ax.set_ylabel("second coordinate")
    reach = 4 * world.sds[0]
    near = [
        (np.linalg.norm(np.asarray(one)[:, None] - world.means, axis=-1).min(1) < reach).mean()
        for one in ones.values()
    ]
    return fig, say(
        "Walks of the first network curve from the noise to the hills; those of the second are nearly straight. After "
        "one step, {first:.0%} of the first network's points are within {reach:.1f} of the centre of a hill, and over "
        "{second:.0%} of the second's.",
        first=near[0],
        reach=reach,
        second=np.floor(20 * near[1] - 0.1) / 20,
    )


def draw_powers(power, paths, coarse):
    """Walks whose noise has the size dt^power, beside the variance of their ends by the number of steps.

    paths (N + 1, n) of the finest walk; coarse {number of steps: ends (m,)}.
    """
    paths = np.asarray(paths)
    steps, spread = list(coarse), [float(np.var(np.asarray(ends))) for ends in coarse.values()]
    fig, (left, right) = fixed_axes(2, (8.4, 3.5), (0.08, 0.98, 0.17, 0.88), wspace=0.28)
    left.plot(np.linspace(0, 1, len(paths)), paths[:, :30], color=SKY, linewidth=0.8)
    left.set(
        xlabel="time",
        ylabel="place",
        title=f"{len(paths) - 1} steps, power {power:.2f}",
        ylim=(-3, 3),
    )
    law = np.asarray(steps, float) ** (1 - 2 * power)
    right.loglog(steps, spread, "o", color=VERMILION, label="measured")
    right.loglog(steps, law, "--", color=BLACK, label="(number of steps)^(1 − 2 power)")
    right.set(
        xlabel="number of steps",
        ylabel="variance at the end",
        title="What is left of the noise",
        ylim=(1e-3, 3),
    )
    right.legend(fontsize=9, loc="lower left")
    return fig, say(
        "Noise of size dt to the power {power:.2f}: the variance at the end is {first:.2f} with {few} steps and "
        "{last:.3f} with {many}.",
        power=power,
        first=spread[0],
        few=steps[0],
        last=spread[-1],
        many=steps[-1],
    )


def draw_ends(ends, world):
    """Histograms of where walkers end, and the density of the data on the line. ends {name: (n,)}."""
    bins, x = np.linspace(-4, 4, 61), np.linspace(-4, 4, 400)
    fig, axes = plt.subplots(1, len(ends), figsize=(7, 2.8), sharey=True)
    told = []
    for ax, (name, end) in zip(axes, ends.items(), strict=True):
        end = np.asarray(end)
        ax.hist(end, bins, density=True, color=SKY)
        ax.plot(x, world.density(x[:, None]), color=VERMILION)
        ax.set_xlabel("place at t = 0")
        ax.set_title(name, fontsize=10)
        worst = np.abs((np.sort(end)[:, None] <= x).mean(0) - cumulative(world, x)).max()
        told.append(say("{name}: off by {worst:.2f}", name=name, worst=worst))
    axes[0].set_ylabel("density")
    return fig, say(
        "Shares up to each place, at the end, against those of the data; the largest gap. {told:; }.",
        told=told,
    )

"""Dropout and capacity: masks, networks that learn wrong labels, bands, decay, and damage."""

import itertools
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.collections import LineCollection
from torch.nn import functional as F

from descent import data
from descent.plots import (
    BLACK,
    BLUE,
    GREEN,
    PINK,
    SKY,
    VERMILION,
    fixed_axes,
    grouped_bars,
    light,
)  # fmt: skip
from descent.words import say

SIGNS = dict(zip("os^", "●■▲", strict=True))
LOOKS = ((BLUE, "-", "o"), (VERMILION, "--", "s"), (GREEN, "-.", "^"), (PINK, ":", "D"))

# ---------------------------------------------------------------- a mask on a network

UNITS = 8


def small_net():
    """Hidden values h (8,), output weights w (8,) of the network in the picture."""
    rng = np.random.default_rng(3)
    return rng.uniform(0.5, 2.0, UNITS), rng.normal(0.3, 1.0, UNITS)


def all_masks(d: int) -> np.ndarray:
    """The 2^d masks, rows of zeros and ones. (2^d, d)"""
    return np.array(list(itertools.product((0.0, 1.0), repeat=d)))


def chances(masks: np.ndarray, p: float) -> np.ndarray:
    """The probability of each mask. (n, d) -> (n,)"""
    return np.prod(np.where(masks == 1, 1 - p, p), axis=1)


def draw_mask(p: float, throw: int, inverted: bool):
    """One mask of the small network, and how its output scatters over all masks."""
    h, w = small_net()
    mask = np.random.default_rng([7, throw]).random(UNITS) >= p
    scale = 1 / (1 - p) if inverted else 1.0
    masks = all_masks(UNITS)
    values, chance = scale * (masks * h) @ w, chances(masks, p)
    whole, now = h @ w, scale * (mask * h) @ w
    mean, sd = chance @ values, np.sqrt(chance @ (values - chance @ values) ** 2)
    fig, (left, right) = fixed_axes(
        2, (9, 3.7), (0.01, 0.985, 0.15, 0.9), wspace=0.2, width_ratios=(1, 1.25)
    )
    _draw_net(left, mask)
    left.set_title(f"Throw {throw}: {UNITS - mask.sum()} of {UNITS} are off", fontsize=11)
    share, edges = np.histogram(np.clip(values, -6, 16), np.linspace(-6, 16, 56), weights=chance)
    right.stairs(share, edges, fill=True, color=SKY)
    top = max(share.max(), 0.04) * 1.35
    for x, color, style, name, height in (
        (mean, BLACK, "-", "mean of all masks (line)", 0.97),
        (whole, VERMILION, "--", "whole network, no factor (dashed)", 0.89),
        (now, GREEN, ":", "this mask (dotted)", 0.81),
    ):
        right.axvline(np.clip(x, -6, 16), color=color, linestyle=style, linewidth=2)
        right.text(15.8, height * top, name, color=color, fontsize=9, ha="right",
                   va="top")  # fmt: skip
    right.set(xlabel="output s (beyond the ends: at the edge)", ylabel="probability")
    right.set(xlim=(-6.2, 16.2), ylim=(0, top))
    light(right, "The output over all 256 masks", x=(-5, 0, 5, 10, 15), fontsize=11)
    return fig, say(
        "p = {p:.2f}, {kind} masks. {off} of {units} units are off, the output is {now:.2f}. Over all masks it "
        "has mean {mean:.2f} and standard deviation {sd:.2f}. The whole network without a factor gives "
        "{whole:.2f}; times 1 − p, that is {scaled:.2f}.",
        p=p,
        kind="inverted" if inverted else "plain",
        off=int(UNITS - mask.sum()),
        units=UNITS,
        now=now,
        mean=mean,
        sd=sd,
        whole=whole,
        scaled=(1 - p) * whole,
    )


def _draw_net(ax, mask):
    inputs, hidden = np.linspace(-1, 1, 4), np.linspace(-1.4, 1.4, len(mask))
    for on, look in ((True, dict(colors=BLUE, linewidths=0.9)),
                     (False, dict(colors="#999999", linewidths=0.6, linestyles=":"))):  # fmt: skip
        units = hidden[mask == on]
        lines = [[(0, x), (1, y)] for y in units for x in inputs] + [
            [(1, y), (2, 0)] for y in units
        ]
        ax.add_collection(LineCollection(lines, **look))
        face = BLUE if on else "white"
        ax.plot(np.ones(len(units)), units, "o", ms=13, mfc=face, mec=BLUE if on else "#777777")
    off = hidden[~mask]
    ax.plot(np.ones(len(off)), off, "x", ms=8, color=BLACK)
    ax.plot(np.zeros(4), inputs, "o", ms=11, color=PINK)
    ax.plot(2, 0, "o", ms=13, color=VERMILION)
    for x, name in ((0, "inputs"), (1, "hidden units"), (2, "output s")):
        ax.text(x, -1.95, name, ha="center", fontsize=10)
    ax.set(xlim=(-0.3, 2.4), ylim=(-2.1, 1.7))
    ax.axis("off")


# ---------------------------------------------------------------- networks on wrong labels

RATES = (0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9)
STEPS, EVERY, ROWS = 1000, 50, 300
NEW = slice(500, None)


@cache
def noisy_digits():
    """Digits X (1797, 64), their labels y, what the first 300 are said to be, and which of these 300 are lies.

    Rows 300 to 499 are for validation, the others are new.
    """
    table, rng = data.digits(), np.random.default_rng(0)
    order = rng.permutation(len(table.y))
    X, y = table.X[order] / 16, table.y[order].astype(int)
    said, lie = y[:ROWS].copy(), rng.random(ROWS) < 0.2
    said[lie] = (said[lie] + rng.integers(1, 10, lie.sum())) % 10
    return X, y, said, lie


class Nets:
    """R networks 64 -> width (ReLU) -> 10 side by side; what they are made of leads with R.

    norm (R,): which of them have RMS norm behind the ReLU.
    """

    def __init__(self, norm, width, generator):
        count = len(norm)
        self.norm = torch.tensor(norm).view(-1, 1, 1)
        shapes = ((64, width), (1, width), (width, 10), (1, 10))
        self.parts = [
            sd * torch.randn(count, *shape, generator=generator)
            for shape, sd in zip(shapes, ((2 / 64) ** 0.5, 0, width**-0.5, 0), strict=True)
        ]

    def hidden(self, X):
        """X (n, 64) -> (R, n, width), in front of norm and mask."""
        X = torch.as_tensor(X, dtype=torch.float32)
        return torch.relu(X @ self.parts[0] + self.parts[1])

    def scores(self, h, factor=1.0):
        """h (R, n, width) -> (R, n, 10)."""
        if self.norm.any():
            h = torch.where(self.norm, h * torch.rsqrt(h.square().mean(-1, True) + 1e-6), h)
        return (h * factor) @ self.parts[2] + self.parts[3]

    @torch.no_grad()
    def says(self, X) -> np.ndarray:
        """Classes (R, n)."""
        return self.scores(self.hidden(X)).argmax(-1).numpy()


def train_nets(rates, norm=None, steps=STEPS, width=128, seed=0, watch=True):
    """Nets trained on the 300 labels, wrong ones included, with these dropout rates.

    Plain SGD of rate 0.5, batches of 50, inverted dropout behind the norm. Returns Nets and, if watched, a table
    (times, R, 3): share of the right labels and of the lies that a net agrees with, and of new digits read right.
    """
    X, y, said, lie = noisy_digits()
    generator = torch.Generator().manual_seed(seed)
    nets = Nets(norm or [False] * len(rates), width, generator)
    p, table = torch.tensor(rates).view(-1, 1, 1), []
    rows, labels = torch.tensor(X[:ROWS], dtype=torch.float32), torch.tensor(said)
    for step in range(steps + 1):
        if watch and step % EVERY == 0:
            says = nets.says(X)
            agrees = says[:, :ROWS] == said
            new = says[:, NEW] == y[NEW]
            table.append([a.mean(1) for a in (agrees[:, ~lie], agrees[:, lie], new)])
        batch = torch.randperm(ROWS, generator=generator)[:50]
        for value in nets.parts:
            value.requires_grad_()
        h = nets.hidden(rows[batch])
        factor = (torch.rand(h.shape, generator=generator) >= p) / (1 - p)
        s = nets.scores(h, factor)
        losses = F.cross_entropy(s.mT, labels[batch].expand(len(s), -1), reduction="none")
        slopes = torch.autograd.grad(losses.mean(1).sum(), nets.parts)
        nets.parts = [
            (value - 0.5 * slope).detach() for value, slope in zip(nets.parts, slopes, strict=True)
        ]
    return nets, np.array(table).swapaxes(1, 2) if watch else None


@cache
def sweep():
    """A net for every rate in RATES, and two more without dropout."""
    return train_nets((*RATES, 0.0, 0.0))


def draw_why(rates=(0.0, 0.75)):
    """What a net without and a net with dropout believe on the way."""
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.7), sharey=True)
    names, ends = ("right labels", "wrong labels", "new digits, read right"), []
    for ax, p in zip(axes, rates, strict=True):
        shares = 100 * sweep()[1][:, RATES.index(p)].T
        for values, name, (color, style, marker) in zip(shares, names, LOOKS, strict=False):
            ax.plot(EVERY * np.arange(len(values)), values, style, color=color, label=name,
                    marker=marker, ms=5, markevery=2)  # fmt: skip
        ax.set(xlabel="training steps", ylim=(0, 103))
        ends.append(shares[:, -1])
    axes[0].set(ylabel="the network agrees with, in %")
    axes[0].set_title("All units on: wrong labels are learnt")
    axes[1].set_title(f"Off with probability {rates[1]:g}: most are not")
    axes[0].legend(fontsize=9, loc="lower right", bbox_to_anchor=(1, 0.08))
    return fig, say(
        "In the end the network without coins agrees with {a[0]:.0f} % of the right and {a[1]:.0f} % of the wrong "
        "labels, and reads {a[2]:.0f} % of new digits right. With coins: {b[0]:.0f} %, {b[1]:.0f} % and {b[2]:.0f} %.",
        a=ends[0],
        b=ends[1],
    )


def suspects(says: np.ndarray) -> tuple[int, int]:
    """How many of the 300 labels are contradicted, and how many of these are lies. says (300 or more,)"""
    _, _, said, lie = noisy_digits()
    against = says[:ROWS] != said
    return int(against.sum()), int((against & lie).sum())


@cache
def votes():
    """Three nets without dropout: shares of lies believed by each and by their mean, and the same of new digits."""
    X, y, said, lie = noisy_digits()
    nets, _ = sweep()
    free = [0, len(RATES), len(RATES) + 1]
    with torch.no_grad():
        chance = nets.scores(nets.hidden(X)).softmax(-1)[free].numpy()
    says = np.concatenate([chance, chance.mean(0, keepdims=True)]).argmax(-1)
    return (says[:, :ROWS] == said)[:, lie].mean(1), (says[:, NEW] == y[NEW]).mean(1)


def same_twice() -> bool:
    """Whether a fresh torch network with dropout gives one image the same scores twice."""
    nn, image = torch.nn, torch.tensor(noisy_digits()[0][:1]).float()
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10))
    return torch.equal(net(image), net(image))


def draw_rates(p: float):
    """The way of one dropout rate, and where all of them end."""
    table = 100 * sweep()[1][:, : len(RATES)]
    here = int(np.abs(np.array(RATES) - p).argmin())
    fig, (left, right) = fixed_axes(2, (9, 3.7), (0.075, 0.985, 0.15, 0.9), wspace=0.25)
    names = ("right labels", "wrong labels", "new digits")
    for k, (name, (color, style, marker)) in enumerate(zip(names, LOOKS, strict=False)):
        left.plot(EVERY * np.arange(len(table)), table[:, here, k], style, color=color)
        right.plot(RATES, table[-1, :, k], style, marker=marker, ms=5, color=color)
        right.plot(RATES[here], table[-1, here, k], marker, ms=10, color=color)
        right.text(0, 55 - 9 * k, f"{SIGNS[marker]} {name}", color=color, fontsize=9)
    left.set(xlabel="training steps", ylabel="the network agrees with, in %", ylim=(0, 103))
    right.set(xlabel="dropout rate p", xlim=(-0.03, 0.93))
    right.set(ylabel="in the end, in %", ylim=(0, 103))
    light(
        left,
        f"Rate p = {RATES[here]:g}, step by step",
        x=(0, 500, 1000),
        y=(0, 50, 100),
        fontsize=11,
    )
    light(right, "All rates, after 1,000 steps", x=RATES, y=(0, 50, 100), fontsize=11)
    right.set_gid("rate")
    return fig, say(
        "p = {p:g}: in the end the network agrees with {ends[0]:.0f} % of the right and {ends[1]:.0f} % of the wrong "
        "labels and reads {ends[2]:.0f} % of new digits right. {best:g} is the rate with the most new digits.",
        p=RATES[here],
        ends=table[-1, here],
        best=RATES[int(table[-1, :, 2].argmax())],
    )


# ---------------------------------------------------------------- what the coins charge


def draw_copies(w1: float, w2: float, p: float):
    """Expected loss over two weights of one feature and its copy, both of mean square 1; the target is the feature."""
    rate = p / (1 - p)
    grid = np.linspace(-6, 6, 61)
    A, B = np.meshgrid(grid, grid)
    expected = (1 - A - B) ** 2 + rate * (A**2 + B**2)
    fig, (left, right) = fixed_axes(
        2, (9, 4.2), (0.07, 0.985, 0.14, 0.9), wspace=0.35, width_ratios=(1, 1)
    )
    left.contourf(A, B, np.log10(expected + 0.03), levels=14, cmap="cividis_r", alpha=0.6)
    best = 1 / (2 + rate)
    if p:  # without coins the loss is 0 all along the valley
        left.plot(best, best, "*", ms=15, color=VERMILION, mec="white")
        least, told = "least: ★", "The expected loss is lowest at {best:.2f} for both."
    else:
        least = "a valley"
        told = "The expected loss is lowest where w₁ + w₂ = 1, as at {best:.2f} for both."
    left.plot(w1, w2, "o", ms=9, color=BLUE, mec="white")
    left.set(xlabel="w₁", ylabel="w₂", xlim=(-6, 6), ylim=(-6, 6))
    title = f"Expected loss, p = {p:.2f}; {least}"
    light(left, title, x=(-5, 0, 5), y=(-5, 0, 5), fontsize=11)
    left.grid(False)
    left.set_gid("weights")
    fit, noise, alone = (1 - w1 - w2) ** 2, rate * (w1**2 + w2**2), (1 - w2) ** 2
    names = ("all on", "coins add", "copy 1 fails")
    right.barh([2, 1, 0], np.minimum([fit, noise, alone], 60), color=(BLUE, VERMILION, GREEN))
    for y, value in zip((2, 1, 0), (fit, noise, alone), strict=True):
        right.text(min(value, 60) + 1, y, f"{value:.2f}", va="center", fontsize=10)
    right.set(xlim=(0, 75), ylim=(-0.6, 2.6), xlabel="loss (60: or more)")
    light(right, "What these weights cost", x=(0, 20, 40, 60), fontsize=11)
    right.set_yticks((2, 1, 0), names)
    return fig, say(
        "Weights {w1:.1f} and {w2:.1f}, p = {p:.2f}: loss {fit:.2f} with all units on, the coins add {noise:.2f}; if "
        "copy 1 fails, {alone:.2f}. " + told,
        w1=w1,
        w2=w2,
        p=p,
        fit=fit,
        noise=noise,
        alone=alone,
        best=best,
    )


@cache
def fixed_features(width=400):
    """Values of `width` ReLU units with random weights that nobody trains, for all digits. (1797, about width)"""
    X, *_ = noisy_digits()
    rng = np.random.default_rng(0)
    H = np.maximum(X @ rng.normal(0, (2 / 64) ** 0.5, (64, width)) + rng.normal(0, 0.3, width), 0)
    return H[:, H[:ROWS].any(axis=0)]


def found_without_coins(p: float) -> int:
    """0: least squares with the coins' charge contradicts no label; 1: some; 2: some, nearly all of them lies."""
    H, (_, _, said, _) = fixed_features(), noisy_digits()
    charge = np.sqrt(p / (1 - p)) * np.diag(np.linalg.norm(H[:ROWS], axis=0))
    targets = np.r_[np.eye(10)[said], np.zeros((H.shape[1], 10))]
    weights = np.linalg.lstsq(np.r_[H[:ROWS], charge], targets, rcond=None)[0]
    against, wrong = suspects((H @ weights).argmax(axis=1))
    return 0 if against == 0 else 2 if wrong > 0.9 * against else 1


def draw_formula(rates, shares):
    """What the formula believes, for all rates. shares (rates, 3), as in `train_nets`."""
    fig, ax = plt.subplots(figsize=(7.5, 3.7))
    names = ("right labels", "wrong labels", "new digits, read right")
    for values, name, (color, style, marker) in zip(100 * shares.T, names, LOOKS, strict=False):
        ax.plot(rates, values, style, marker=marker, ms=5, color=color, label=name)
    ax.set(xlabel="p in the formula", ylabel="it agrees with, in %", ylim=(0, 103), xlim=(0, 1))
    ax.set_title("No coin is thrown, and the wrong labels go first")
    ax.legend(fontsize=9, loc="center right", bbox_to_anchor=(1, 0.55))
    first, last = 100 * shares[0], 100 * shares[-1]
    return fig, say(
        "From p = {p[0]:g} to {p[1]:g} the share of wrong labels falls from {a[1]:.0f} to {b[1]:.0f} %, of right "
        "labels from {a[0]:.0f} to {b[0]:.0f} %; new digits go from {a[2]:.0f} to {b[2]:.0f} %.",
        p=(rates[0], rates[-1]),
        a=first,
        b=last,
    )


def draw_answer(ways: dict[str, np.ndarray]):
    """Name -> what that network says of all digits: lies believed, new digits, and what it suspects."""
    _, y, said, lie = noisy_digits()
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
    at = np.arange(len(ways))[::-1]
    believed = [100 * np.mean((says[:ROWS] == said)[lie]) for says in ways.values()]
    new = [100 * np.mean(says[NEW] == y[NEW]) for says in ways.values()]
    left.plot(believed, at, "s", color=VERMILION, ms=8, label="wrong labels believed")
    left.plot(new, at, "^", color=GREEN, ms=9, label="new digits read right")
    left.set(xlabel="%", xlim=(-4, 104), title="Who believes, who reads")
    left.legend(fontsize=9, loc="lower left")
    called = np.array([suspects(says) for says in ways.values()])
    right.barh(at, called[:, 1], color=VERMILION, label="wrong indeed")
    false = called[:, 0] - called[:, 1]
    look = dict(color=BLUE, hatch="//", edgecolor="white", label="false alarm")
    right.barh(at, false, left=called[:, 1], **look)
    right.axvline(lie.sum(), color=BLACK, linestyle=":")
    right.text(lie.sum() + 2, -1.6, f"all {lie.sum()} wrong ones", fontsize=9)
    right.set(xlabel="labels contradicted", xlim=(0, 110), title="Who finds the wrong labels")
    right.legend(fontsize=9, loc="lower left")
    for ax in (left, right):
        ax.set_ylim(-2.3, len(ways) - 0.4)
        ax.set_yticks(at, list(ways))
    told = [
        f"{name}: {a:.0f} % of the wrong labels believed, {b:.0f} % of new digits right, "
        f"{c[1]} of {c[0]} suspects wrong"
        for name, a, b, c in zip(ways, believed, new, called, strict=True)
    ]
    return fig, say("{told:; }.", told=told)


# ---------------------------------------------------------------- deeper: bands


BANDS = (0.05, 0.1, 0.3)
GRID = np.linspace(-4.5, 4.5, 91)


@cache
def line_data():
    """24 noisy points of a sine with a hole in the middle -> x, y (24,)."""
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.uniform(-3, -0.9, 12), rng.uniform(0.9, 3, 12)])
    return x, np.sin(1.5 * x) + 0.1 * rng.normal(size=24)


@cache
def line_nets(steps=500, width=80):
    """Networks 1 -> width -> width -> 1 (ReLU), three without dropout and one for each rate of BANDS.

    Dropout acts on the second hidden layer. -> predictions of the three (3, 91), under 200 masks (3, 200, 91),
    and of these without masks (3, 91).
    """
    generator = torch.Generator().manual_seed(1)
    p = torch.tensor([0.0] * 3 + list(BANDS)).view(-1, 1, 1)
    W = [
        (sd * torch.randn(len(p), n, m, generator=generator)).requires_grad_()
        for n, m, sd in ((2, width, 1.0), (width, width, (2 / width) ** 0.5),
                         (width, 1, width**-0.5))
    ]  # fmt: skip

    def features(x):
        x = torch.tensor(np.column_stack([x, np.ones_like(x)]), dtype=torch.float32)
        return torch.relu(torch.relu(x @ W[0]) @ W[1])

    x, y = line_data()
    target = torch.tensor(y, dtype=torch.float32)
    adam = torch.optim.Adam(W, lr=0.005)
    for _ in range(steps):
        h = features(x)
        factor = (torch.rand(h.shape, generator=generator) >= p) / (1 - p)
        loss = ((h * factor) @ W[2]).squeeze(-1).sub(target).square().mean(1).sum()
        adam.zero_grad()
        loss.backward()
        adam.step()
    with torch.no_grad():
        h = features(GRID)
        whole = (h @ W[2]).squeeze(-1).numpy()
        keep = torch.rand(len(BANDS), 200, width, generator=generator) >= p[3:]
        readout = keep / (1 - p[3:]) * W[2][3:, :, 0].unsqueeze(1)  # one mask for a whole curve
        masked = (readout @ h[3:].mT).numpy()
    return whole[:3], masked, whole[3:]


def draw_bands(p: float):
    """Predictions under masks, and those of three networks trained alone."""
    three, masked, whole = line_nets()
    place = BANDS.index(p)
    x, y = line_data()
    spread = (masked[place].std(0), three.std(0))
    centre = (whole[place], three.mean(0))
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.7), sharey=True)
    titles = (f"One network, 200 masks, p = {p:g}", "Three networks trained alone")
    curves = (masked[place][:20], three)
    for ax, c, sd, lines, title, color in zip(
        axes, centre, spread, curves, titles, (BLUE, VERMILION), strict=True
    ):
        ax.fill_between(GRID, c - 2 * sd, c + 2 * sd, color=color, alpha=0.2, label="± 2 sd")
        ax.plot(GRID, lines.T, color=color, linewidth=0.6, alpha=0.6)
        ax.plot(GRID, c, color=color, linewidth=2.2, label="prediction")
        ax.plot(GRID, np.sin(1.5 * GRID), ":", color=BLACK, label="truth")
        ax.plot(x, y, "o", color=BLACK, ms=4)
        ax.set(title=title, xlabel="input x", ylim=(-4, 4))
    axes[0].set_ylabel("target y")
    axes[1].legend(loc="upper center", fontsize=9)
    near, gap = np.abs(GRID[:, None] - x).min(1) < 0.15, np.abs(GRID) < 0.6
    far, truth = np.abs(GRID) > 3.8, np.sin(1.5 * GRID)
    widths = [[float(sd[where].mean()) for where in (near, gap, far)] for sd in spread]
    inside = [
        100 * np.mean(np.abs(c - truth) < 2 * sd, where=far)
        for c, sd in zip(centre, spread, strict=True)
    ]
    return fig, say(
        "p = {p:g}. Standard deviation near the points, in the gap and beyond |x| = 3.8: under masks {m[0]:.2f}, "
        "{m[1]:.2f}, {m[2]:.2f}; of three networks {t[0]:.2f}, {t[1]:.2f}, {t[2]:.2f}. Beyond 3.8 the truth lies in "
        "the bands at {i[0]:.0f} % and {i[1]:.0f} % of the places.",
        p=p,
        m=widths[0],
        t=widths[1],
        i=inside,
    )


# ---------------------------------------------------------------- deeper: weight decay

LAMBDAS = (0.0, 3e-4, 1e-3, 3e-3, 1e-2)
DECAYS = ("in the gradient", "decoupled")
SIDE = 61
FIELD = np.stack(np.meshgrid(np.linspace(-2.2, 2.2, SIDE), np.linspace(-1.8, 1.8, SIDE)), -1)


@cache
def moons(n=60):
    """Two interleaved arcs with noise -> points (n, 2), labels (n,) 0 or 1."""
    rng = np.random.default_rng(6)
    t, label = np.pi * rng.random(n), np.arange(n) % 2
    x = np.where(label == 0, np.cos(t), 1 - np.cos(t)) - 0.5
    y = np.where(label == 0, np.sin(t), 0.5 - np.sin(t)) - 0.25
    return np.column_stack([x, y]) + 0.28 * rng.normal(size=(n, 2)), label


@cache
def decayed_nets(steps=500, width=100, eta=0.02):
    """Adam on the moons, for every λ of LAMBDAS with both kinds of decay.

    The penalty is λ Σ‖W‖²; decoupled decay multiplies W by 1 − 300 η λ in every step, a strength in another
    unit, which 300 makes comparable here. -> lengths of the weights (2, λ, steps), probabilities on FIELD
    (2, λ, SIDE, SIDE), share of training points on the wrong side (2, λ).
    """
    generator = torch.Generator().manual_seed(2)
    count, lams, none = len(LAMBDAS), list(LAMBDAS), [0.0] * len(LAMBDAS)
    coupled, apart = (torch.tensor(v).view(-1, 1, 1) for v in (lams + none, none + lams))
    shapes = ((2, width, 1.0), (1, width, 0.0), (width, 1, width**-0.5), (1, 1, 0.0))
    W = [
        (sd * torch.randn(1, n, m, generator=generator)).repeat(2 * count, 1, 1).requires_grad_()
        for n, m, sd in shapes
    ]
    points, labels = moons()
    X, y = torch.tensor(points, dtype=torch.float32), torch.tensor(labels).float()

    def scores(X):
        return (torch.relu(3 * X @ W[0] + W[1]) @ W[2] + W[3]).squeeze(-1)

    adam, lengths = torch.optim.Adam(W, lr=eta), []
    for _ in range(steps):
        squares = [W[i].square().sum((1, 2), True) for i in (0, 2)]
        lengths.append((squares[0] + squares[1]).detach().sqrt().ravel().numpy())
        s = scores(X)
        loss = F.binary_cross_entropy_with_logits(s, y.expand_as(s), reduction="none").mean(1)
        adam.zero_grad()
        (loss.sum() + (coupled * (squares[0] + squares[1])).sum()).backward()
        with torch.no_grad():
            for i in (0, 2):
                W[i] *= 1 - 300 * eta * apart
        adam.step()
    with torch.no_grad():
        field = torch.tensor(FIELD.reshape(-1, 2), dtype=torch.float32)
        p = torch.sigmoid(scores(field)).reshape(2, count, SIDE, SIDE).numpy()
        wrong = ((scores(X) > 0) != (y > 0.5)).double().mean(1).reshape(2, count).numpy()
    return np.array(lengths).T.reshape(2, count, steps), p, wrong


def draw_decay(lam: float, kind: str):
    """Decision boundary of a network with too many weights, and how long its weights get."""
    lengths, p, wrong = decayed_nets()
    k, place = DECAYS.index(kind), LAMBDAS.index(lam)
    (points, labels), field = moons(), p[k, place]
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
    x, y = FIELD[..., 0], FIELD[..., 1]
    left.contourf(x, y, field, levels=np.linspace(0, 1, 11), cmap="RdBu_r", alpha=0.6)
    left.contour(x, y, field, levels=[0.5], colors=BLACK)
    for value, marker, color in ((0, "o", BLUE), (1, "s", VERMILION)):
        left.plot(*points[labels == value].T, marker, color=color, mec="white")
    left.set(xlabel="$x_1$", ylabel="$x_2$", title=f"λ = {lam:g}, decay {kind}")
    for j, (color, style, _) in enumerate(LOOKS[:2]):
        right.plot(lengths[j, place], style, color=color, label=DECAYS[j],
                   linewidth=3 if j == k else 1.4)  # fmt: skip
    right.plot(lengths[0, 0], ":", color=BLACK, label="λ = 0")
    right.set(xlabel="training steps", ylabel="length of all weights", ylim=(0, None))
    right.set_title("How long the weights get")
    right.legend(fontsize=9)
    return fig, say(
        "Decay {kind}, λ = {lam:g}: {wrong:.0f} % of the training points are wrong, weights of length {length:.1f} "
        "(without decay {free:.1f}); on {sure:.0f} % of the square the network is surer than 95 %.",
        kind=kind,
        lam=lam,
        wrong=100 * wrong[k, place],
        length=float(lengths[k, place, -1]),
        free=float(lengths[0, 0, -1]),
        sure=100 * float(np.mean(np.abs(field - 0.5) > 0.45)),
    )


# ---------------------------------------------------------------- deeper: damage

KINDS = ("neither", "RMS norm", "dropout", "both")
DEAD = np.arange(0, 0.95, 0.1)


@cache
def norm_nets(p=0.5, copies=2):
    """Networks as KINDS says, the four kinds `copies` times over."""
    rates, norm = (0.0, 0.0, p, p) * copies, [False, True, False, True] * copies
    return train_nets(rates, norm, steps=400, seed=1, watch=False)[0]


@cache
def damage(throws=3):
    """What damage to the hidden layer does to the four kinds, on new digits; means over their copies.

    -> accuracy (4, len(DEAD)) by share of dead units, mean over `throws` choices of the dead; moved (4, 3): half the
    sum of changes of the probabilities: each row scaled by 1/4 or 4, noise across h as long as h, half of the units
    dead.
    """
    nets, (X, y, *_) = norm_nets(), noisy_digits()
    generator, y = torch.Generator().manual_seed(0), torch.tensor(y[NEW])
    with torch.no_grad():
        h = nets.hidden(X[NEW])
        n, width = h.shape[1:]
        order = [torch.randperm(width, generator=generator) for _ in range(throws)]
        accuracy = [
            np.mean(
                [
                    (nets.scores(h * (o >= share * width)).argmax(-1) == y).double().mean(1)
                    for o in order
                ],
                axis=0,
            )
            for share in DEAD
        ]
        length = h.norm(dim=-1, keepdim=True)
        noise = torch.randn(n, width, generator=generator).expand_as(h)
        noise = noise - (noise * h).sum(-1, keepdim=True) * h / length**2
        noise = noise / noise.norm(dim=-1, keepdim=True) * length
        factor = 4.0 ** (2.0 * (torch.rand(n, 1, generator=generator) < 0.5) - 1)
        before, moved = nets.scores(h).softmax(-1), []
        for damaged in (h * factor, h + noise, h * (order[0] >= 0.5 * width)):
            change = (nets.scores(damaged).softmax(-1) - before).abs().sum(-1) / 2
            moved.append(change.mean(1).numpy())
    return tuple(np.array(v).reshape(len(v), -1, 4).mean(1).T for v in (accuracy, moved))


def draw_damage():
    """Four kinds of network, three kinds of damage."""
    accuracy, moved = damage()
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.9))
    for row, name, (color, style, marker) in zip(accuracy, KINDS, LOOKS, strict=True):
        left.plot(100 * DEAD, 100 * row, style, marker=marker, color=color, label=name)
    left.set(xlabel="dead hidden units in %", ylabel="new digits read right, in %", ylim=(0, 100))
    left.set_title("Dropout prepares for dead units")
    left.legend(fontsize=9)
    looks = [(name, LOOKS[i][0], ("", "//", "..", "xx")[i]) for i, name in enumerate(KINDS)]
    grouped_bars(["scale × or ÷ 4", "noise across h", "half dead"], 100 * moved, right,
                 looks=looks, step=0.2)  # fmt: skip
    for j in np.flatnonzero(moved[:, 0] < 0.005):
        right.text(0.2 * (j - 1.5), 0.5, "0", ha="center", color=LOOKS[j][0])
    right.set(ylabel="probability moved in %", ylim=(0, 75))
    right.set_title("RMS norm removes errors of scale")
    right.legend(fontsize=9, ncols=2, loc="upper center")
    told = [
        f"{name}: scale {100 * m[0]:.0f}, across {100 * m[1]:.0f}, half dead {100 * m[2]:.0f}; "
        f"with half dead {100 * a[5]:.0f} % right"
        for name, m, a in zip(KINDS, moved, accuracy, strict=True)
    ]
    return fig, say("Probability moved in per cent. {told:. }.", told=told)

"""Dropout and capacity: masks, many small networks trained side by side, bands, decay, and damage."""

import itertools
from functools import lru_cache

import matplotlib.pyplot as plt
import numpy as np
import torch
from scipy.special import softmax
from torch.nn import functional as F

from descent import data
from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, grouped_bars

RATES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
LAMBDAS = (0.0, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
DECAYS = ("L2 in the gradient", "decoupled")
EVERY = 25  # steps between two measurements

# ---------------------------------------------------------------- a mask on a network

UNITS = 8


def small_net(seed=3):
    """Hidden values h (8,), output weights w (8,) of the network in the picture."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.5, 2.0, UNITS), rng.normal(0.3, 1.0, UNITS)


def all_masks(d: int) -> np.ndarray:
    """The 2^d masks, rows of zeros and ones. (2^d, d)"""
    return np.array(list(itertools.product((0.0, 1.0), repeat=d)))


def output_distribution(h, w, p: float, inverted: bool):
    """Output of every sub-network and its probability -> two arrays (2^d,)."""
    masks = all_masks(len(h))
    off = len(h) - masks.sum(1)
    scale = 1 / (1 - p) if inverted else 1.0
    return scale * (masks * h) @ w, p**off * (1 - p) ** (len(h) - off)


def draw_mask(p: float, batch: int, inverted: bool):
    """One mask of the small network, and how its output scatters over all masks -> (fig, words)."""
    h, w = small_net()
    mask = np.random.default_rng([7, batch]).random(UNITS) >= p
    scale = 1 / (1 - p) if inverted else 1.0
    s_now, s_full = scale * (mask * h) @ w, h @ w
    values, chance = output_distribution(h, w, p, inverted)
    mean, sd = chance @ values, np.sqrt(chance @ (values - chance @ values) ** 2)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.7), width_ratios=(1, 1.25))
    _draw_net(left, mask)
    left.set_title(f"Throw {batch}: {UNITS - mask.sum()} of {UNITS} are off")
    edges = np.linspace(min(values.min(), -2) - 0.3, max(values.max(), 5) + 0.3, 49)
    right.hist(values, bins=edges, weights=chance, color=SKY, label=f"all {2**UNITS} masks")
    right.axvline(mean, color=BLACK, label="mean over the masks")
    right.axvline(s_full, color=VERMILION, linestyle="--", label="whole network, unscaled")
    right.axvline(s_now, color=GREEN, linestyle=":", label="this mask")
    right.set(xlabel="output s", ylabel="probability")
    same = abs(mean - s_full) < 1e-9
    right.set_title(
        "The whole network is the mean" if same else "The whole network is not the mean"
    )
    right.legend(fontsize=8, loc="upper right")
    return fig, (
        f"p = {p:.2f}, {'inverted' if inverted else 'plain'} masks. Off: {UNITS - mask.sum()} of {UNITS} "
        f"units, output {s_now:.2f}. Over all masks the output has mean {mean:.2f} and standard deviation "
        f"{sd:.2f}; the whole network without scaling gives {s_full:.2f}, times 1 - p {(1 - p) * s_full:.2f}."
    )


def _draw_net(ax, mask):
    inputs, hidden = np.linspace(-1, 1, 4), np.linspace(-1.4, 1.4, len(mask))
    for y, on in zip(hidden, mask, strict=True):
        style = (
            dict(color=BLUE, linewidth=0.9)
            if on
            else dict(color="#BBBBBB", linewidth=0.6, linestyle=":")
        )
        for x in inputs:
            ax.plot([0, 1], [x, y], **style)
        ax.plot([1, 2], [y, 0], **style)
        ax.plot(1, y, "o", ms=13, mfc=BLUE if on else "white", mec=BLUE if on else "#777777")
        if not on:
            ax.plot(1, y, "x", ms=8, color=BLACK)
    ax.plot(np.zeros(4), inputs, "o", ms=11, color=BLACK)
    ax.plot(2, 0, "o", ms=13, color=VERMILION)
    for x, name in ((0, "inputs"), (1, "hidden units"), (2, "output s")):
        ax.text(x, -1.95, name, ha="center", fontsize=10)
    ax.set(xlim=(-0.3, 2.4), ylim=(-2.1, 1.7))
    ax.axis("off")


# ---------------------------------------------------------------- networks on noisy digits


@lru_cache
def noisy_digits(n=300, validation=200, noise=0.2):
    """Digits as tensors: n training rows, a share `noise` of whose labels is wrong; clean validation and test rows.

    -> dict of (X (rows, 64), y (rows,)) by "train", "validation", "test"; and "right": the training labels' truth.
    """
    table, rng = data.digits(), np.random.default_rng(0)
    order = rng.permutation(len(table.y))
    X, y = table.X[order] / 16, table.y[order]
    spoiled, wrong = y[:n].copy(), rng.random(n) < noise
    spoiled[wrong] = (spoiled[wrong] + rng.integers(1, 10, wrong.sum())) % 10
    X = torch.tensor(X, dtype=torch.float64)
    labels = torch.tensor(y).long()
    cut = n + validation
    return {
        "train": (X[:n], torch.tensor(spoiled).long()),
        "right": (X[:n], labels[:n]),
        "validation": (X[n:cut], labels[n:cut]),
        "test": (X[cut:], labels[cut:]),
    }


def rms(h):
    """Rows of h divided by their root mean square."""
    return h * torch.rsqrt(h.square().mean(-1, keepdim=True) + 1e-6)


class Nets:
    """R networks 64 -> width (ReLU) -> 10 side by side: `W1`, `b1`, `W2`, `b2` lead with R."""

    def __init__(self, count, width, generator, norm=None):
        def normal(n, m, sd):
            return (
                sd * torch.randn(count, n, m, generator=generator, dtype=torch.float64)
            ).requires_grad_()

        self.W1, self.W2 = normal(64, width, (2 / 64) ** 0.5), normal(width, 10, width**-0.5)
        self.b1 = torch.zeros(count, 1, width, dtype=torch.float64, requires_grad=True)
        self.b2 = torch.zeros(count, 1, 10, dtype=torch.float64, requires_grad=True)
        self.norm = torch.zeros(count, 1, 1, dtype=bool) if norm is None else norm

    def hidden(self, X):
        """Hidden values before norm and dropout. X (n, 64) -> (R, n, width)"""
        return torch.relu(X @ self.W1 + self.b1)

    def scores(self, h, factor=1.0):
        """h (R, n, width) -> (R, n, 10); the norm first, where a net has one."""
        if self.norm.any():
            h = torch.where(self.norm, rms(h), h)
        return (h * factor) @ self.W2 + self.b2

    @property
    def parameters(self):
        return self.W1, self.b1, self.W2, self.b2

    @torch.no_grad()
    def measure(self, X, y):
        """Cross-entropy and accuracy of every net without dropout -> (R, 2)."""
        s = self.scores(self.hidden(X))
        loss = F.cross_entropy(s.mT, y.expand(len(s), -1), reduction="none").mean(1)
        return torch.stack([loss, (s.argmax(-1) == y).double().mean(1)], 1)


def train_nets(rates, steps=600, width=128, eta=0.05, seed=0, norm=None, watch=True):
    """Nets trained on the noisy digits with dropout rates `rates`, and what they were like on the way.

    SGD with momentum 0.9, batches of 50, inverted dropout. watch: measure on the way.
    -> Nets, {"train": (times, R, 2), …}.
    """
    rows, generator = noisy_digits(), torch.Generator().manual_seed(seed)
    nets = Nets(len(rates), width, generator, norm)
    p = torch.tensor(rates).view(-1, 1, 1)
    X, y = rows["train"]
    speed = [torch.zeros_like(value) for value in nets.parameters]
    seen = {name: [] for name in ("train", "validation", "test")}
    for step in range(steps + 1):
        if watch and step % EVERY == 0:
            for name, found in seen.items():
                found.append(nets.measure(*rows[name]).numpy())
        batch = torch.randperm(len(X), generator=generator)[:50]
        h = nets.hidden(X[batch])
        factor = (torch.rand(h.shape, generator=generator) >= p) / (1 - p)
        s = nets.scores(h, factor)
        loss = F.cross_entropy(s.mT, y[batch].expand(len(s), -1), reduction="none").mean(1).sum()
        gradients = torch.autograd.grad(loss, nets.parameters)
        with torch.no_grad():
            for value, v, gradient in zip(nets.parameters, speed, gradients, strict=True):
                v.mul_(0.9).add_(gradient)
                value.sub_(eta * v)
    return nets, {name: np.array(found) for name, found in seen.items()}


@lru_cache
def rate_sweep():
    """Two nets for every rate in RATES -> Nets, curves as in `train_nets` (rates twice over)."""
    return train_nets(RATES * 2)


def mean_curves(name: str, p: float) -> np.ndarray:
    """Cross-entropy and accuracy on the way, mean of the two nets of rate p -> (times, 2)."""
    place = RATES.index(p)
    return rate_sweep()[1][name][:, [place, place + len(RATES)]].mean(1)


def learned_wrong(p: float) -> float:
    """Share of the wrong training labels that the two nets of rate p agree with in the end."""
    rows, place = noisy_digits(), RATES.index(p)
    (X, y), (_, right) = rows["train"], rows["right"]
    nets, _ = rate_sweep()
    with torch.no_grad():
        said = nets.scores(nets.hidden(X)).argmax(-1)[[place, place + len(RATES)]]
    return (said == y)[:, y != right].double().mean().item()


def draw_why(rates=(0.0, 0.7)):
    """Training and test accuracy on the way, without and with dropout -> (fig, words)."""
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    told = []
    for ax, p in zip(axes, rates, strict=True):
        train, test = mean_curves("train", p)[:, 1], mean_curves("test", p)[:, 1]
        steps = EVERY * np.arange(len(train))
        ax.plot(steps, 100 * train, "-", color=BLUE, label="training rows (20 % wrong labels)")
        ax.plot(steps, 100 * test, "--", color=VERMILION, label="new digits (right labels)")
        ax.axhline(80, color=BLACK, linestyle=":", linewidth=1, label="share of right labels")
        ax.set(xlabel="training steps", ylim=(40, 102))
        ax.set_title(f"p = {p:g}: ends at {100 * test[-1]:.0f} % on new digits")
        told.append(f"p = {p:g}: training {100 * train[-1]:.0f} %, new {100 * test[-1]:.0f} %")
    axes[0].set_ylabel("accuracy in %")
    axes[1].legend(loc="lower right", fontsize=9)
    return fig, f"Accuracy after the last step. {'; '.join(told)}."


def mean_of_hidden(q: float, inverted: bool, masks=200) -> tuple[np.ndarray, np.ndarray]:
    """Mean over the units of the hidden layer of one test digit under each of `masks` masks, and without.

    The net is the one trained with p = 0.5. -> (masks,), number
    """
    nets, _ = rate_sweep()
    with torch.no_grad():
        h = nets.hidden(noisy_digits()["test"][0][:1])[RATES.index(0.5), 0].numpy()
    keep = np.random.default_rng(0).random((masks, len(h))) < q
    return (keep * h).mean(1) / (q if inverted else 1.0), h.mean()


def draw_keep(keep: float, inverted: bool = True):
    """Training with keep-probability q: curves, and the mean activation under the masks -> (fig, words)."""
    p = round(1 - keep, 1)
    train, test = mean_curves("train", p), mean_curves("test", p)
    means, whole = mean_of_hidden(keep, inverted)
    steps = EVERY * np.arange(len(train))
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    left.plot(steps, 100 * train[:, 1], "-", color=BLUE, label="training")
    left.plot(steps, 100 * test[:, 1], "--", color=VERMILION, label="new digits")
    left.set(xlabel="training steps", ylabel="accuracy in %", ylim=(30, 102))
    left.set_title(
        f"q = {keep:.1f}: gap {100 * (train[-1, 1] - test[-1, 1]):+.0f} points at the end"
    )
    left.legend(loc="lower right")
    bins = np.linspace(0, max(3 * whole, means.max()), 61)
    counts, *_ = right.hist(means, bins=bins, color=SKY, label="under 200 masks")
    right.set_ylim(0, 1.3 * counts.max())
    right.axvline(means.mean(), color=BLACK, label="their mean")
    right.axvline(whole, color=VERMILION, linestyle="--", label="without a mask")
    right.set(xlabel="mean activation of the hidden layer", ylabel="masks")
    right.set_title(
        "Masks keep the mean" if abs(means.mean() / whole - 1) < 0.05 else "The mean has moved"
    )
    right.legend(fontsize=9)
    return fig, (
        f"Keep-probability {keep:.1f}: at the end {100 * train[-1, 1]:.0f} % of the training labels and "
        f"{100 * test[-1, 1]:.0f} % of new digits are right. The mean activation under masks is "
        f"{means.mean() / whole:.2f} of that without a mask."
    )


def draw_sweep():
    """Accuracy and confidence against the rate -> (fig, words)."""
    _, curves = rate_sweep()
    ends = {name: found[-1].reshape(2, len(RATES), 2) for name, found in curves.items()}
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    for name, style, color in (("train", "o-", BLUE), ("test", "s--", VERMILION)):
        label = "training rows" if name == "train" else "new digits"
        left.plot(RATES, 100 * ends[name][..., 1].mean(0), style, color=color, label=label)
        right.plot(RATES, ends[name][..., 0].mean(0), style, color=color, label=label)
    left.axhline(80, color=BLACK, linestyle=":", linewidth=1, label="share of right labels")
    test = ends["test"][..., 1].mean(0)
    best = int(test.argmax())
    left.set(xlabel="dropout rate p", ylabel="accuracy in %", ylim=(55, 102))
    left.set_title(f"Best on new digits: p = {RATES[best]:g}")
    right.set(xlabel="dropout rate p", ylabel="cross-entropy", ylim=(0, None))
    right.set_title("Too much of it underfits")
    left.legend(loc="lower left")
    return fig, (
        f"New digits: {100 * test[0]:.0f} % right at p = 0, {100 * test[best]:.0f} % at p = {RATES[best]:g}, "
        f"{100 * test[-1]:.0f} % at p = 0.9. Training rows: "
        f"{100 * ends['train'][0, 0, 1]:.0f} % at p = 0, {100 * ends['train'][0, -1, 1]:.0f} % at p = 0.9."
    )


def draw_early(p=0.0):
    """Where the validation loss is lowest, and what waiting costs -> (fig, words)."""
    curves = {name: mean_curves(name, p) for name in ("train", "validation", "test")}
    steps = EVERY * np.arange(len(curves["train"]))
    best = int(curves["validation"][:, 0].argmin())
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    for (name, found), (style, color) in zip(
        curves.items(), (("-", BLUE), ("-.", GREEN), ("--", VERMILION)), strict=True
    ):
        left.plot(steps, found[:, 0], style, color=color, label=name)
        right.plot(steps, 100 * found[:, 1], style, color=color, label=name)
    for ax in (left, right):
        ax.axvline(steps[best], color=BLACK, linewidth=5, alpha=0.15)
        ax.set_xlabel("training steps")
    left.set(ylabel="cross-entropy", title=f"Validation loss is lowest at step {steps[best]}")
    at_best, at_end = (100 * curves["test"][i, 1] for i in (best, -1))
    right.set(
        ylabel="accuracy in %", ylim=(40, 102), title=f"Waiting costs {at_best - at_end:.0f} points"
    )
    left.legend()
    return fig, (
        f"Validation loss is lowest after {steps[best]} of {steps[-1]} steps. Test accuracy is {at_best:.0f} % "
        f"there and {at_end:.0f} % at the end, while training accuracy goes on to rise to "
        f"{100 * curves['train'][-1, 1]:.0f} %."
    )


# ---------------------------------------------------------------- bands


@lru_cache
def line_data():
    """24 noisy points of a sine with a hole in the middle -> x, y (24,)."""
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.uniform(-3, -0.9, 12), rng.uniform(0.9, 3, 12)])
    return x, np.sin(1.5 * x) + 0.1 * rng.normal(size=24)


BAND_RATES = (0.02, 0.05, 0.1, 0.2, 0.4)
GRID = np.linspace(-4.5, 4.5, 91)


@lru_cache
def line_nets(steps=500, width=100):
    """Networks 1 -> width -> width -> 1 (ReLU), three without dropout and one for each rate of BAND_RATES.

    Dropout acts on the second hidden layer. -> predictions of the three (3, 91), under 200 masks (5, 200, 91),
    and of the five without masks (5, 91).
    """
    generator = torch.Generator().manual_seed(1)
    count = 3 + len(BAND_RATES)
    p = torch.tensor([0.0] * 3 + list(BAND_RATES)).view(-1, 1, 1)

    def normal(n, m, sd):
        return (
            sd * torch.randn(count, n, m, generator=generator, dtype=torch.float64)
        ).requires_grad_()

    W = [
        normal(2, width, 1.0),
        normal(width, width, (2 / width) ** 0.5),
        normal(width, 1, width**-0.5),
    ]

    def features(x):
        x = torch.tensor(np.column_stack([x, np.ones_like(x)]), dtype=torch.float64)
        return torch.relu(torch.relu(x @ W[0]) @ W[1])

    x, y = line_data()
    target, square = torch.tensor(y, dtype=torch.float64), [torch.zeros_like(w) for w in W]
    mean = [torch.zeros_like(w) for w in W]
    for step in range(1, steps + 1):
        h = features(x)
        factor = (torch.rand(h.shape, generator=generator) >= p) / (1 - p)
        loss = ((h * factor) @ W[2]).squeeze(-1).sub(target).square().mean(1).sum()
        with torch.no_grad():
            for w, m, v, g in zip(W, mean, square, torch.autograd.grad(loss, W), strict=True):
                m.lerp_(g, 0.1)
                v.lerp_(g * g, 0.01)
                root = (v / (1 - 0.99**step)).sqrt() + 1e-8
                w.sub_(0.005 * m / (1 - 0.9**step) / root)
    with torch.no_grad():
        h = features(GRID)
        whole = (h @ W[2]).squeeze(-1).numpy()
        keep = torch.rand(len(BAND_RATES), 200, width, generator=generator) >= p[3:]
        readout = keep / (1 - p[3:]) * W[2][3:, :, 0].unsqueeze(1)  # one mask for a whole curve
        masked = (readout @ h[3:].mT).numpy()
    return whole[:3], masked, whole[3:]


def draw_bands(p: float):
    """Predictions under masks against three networks trained alone -> (fig, words)."""
    three, masked, whole = line_nets()
    place = BAND_RATES.index(p)
    x, y = line_data()
    spread = (masked[place].std(0), three.std(0))
    centre = (whole[place], three.mean(0))
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    curves = (masked[place][:20], three)
    titles = (f"One network, 200 masks, p = {p:g}", "Three networks trained alone")
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
    near = np.abs(GRID[:, None] - x).min(1) < 0.15
    far = np.abs(GRID) > 3.8
    gap, truth = np.abs(GRID) < 0.6, np.sin(1.5 * GRID)
    inside = [
        100 * np.mean(np.abs(c - truth) < 2 * sd, where=far)
        for c, sd in zip(centre, spread, strict=True)
    ]
    return fig, (
        f"Standard deviation near the points, in the gap and beyond |x| = 3.8: masks (p = {p:g}) "
        f"{_three(spread[0], near, gap, far)}; three networks {_three(spread[1], near, gap, far)}. "
        f"Beyond 3.8 the truth is in the band at {inside[0]:.0f} % and {inside[1]:.0f} % of the places. "
        "Work: masks 1 training, networks 3."
    )


def _three(values, *where):
    return ", ".join(f"{values[w].mean():.2f}" for w in where)


def draw_averages(single, three, dropped):
    """Test accuracy of networks alone, of averages of three, and of one with dropout -> (fig, words)."""
    fig, ax = plt.subplots(figsize=(7, 2.7))
    rows = [("one network", single, BLACK, "o"), ("mean of three", three, GREEN, "s"),
            ("dropout 0.7", [dropped], BLUE, "^")]  # fmt: skip
    for place, (_, values, color, marker) in enumerate(rows):
        ax.plot(
            100 * np.asarray(values),
            np.full(len(values), -place),
            marker,
            color=color,
            ms=8,
            alpha=0.7,
        )
    ax.set_yticks([0, -1, -2], [name for name, *_ in rows])
    ax.set(xlabel="accuracy on new digits in %", ylim=(-2.5, 0.5))
    ax.set_title("Three votes help a little")
    told = ", ".join(f"{name} {100 * np.mean(values):.0f} %" for name, values, *_ in rows)
    return fig, f"Accuracy on new digits, means: {told}."


# ---------------------------------------------------------------- weight decay


@lru_cache
def moons(n=60):
    """Two interleaved arcs with noise -> points (n, 2), labels (n,) 0 or 1."""
    rng = np.random.default_rng(6)
    t, label = np.pi * rng.random(n), np.arange(n) % 2
    x = np.where(label == 0, np.cos(t), 1 - np.cos(t)) - 0.5
    y = np.where(label == 0, np.sin(t), 0.5 - np.sin(t)) - 0.25
    return np.column_stack([x, y]) + 0.28 * rng.normal(size=(n, 2)), label


SIDE = 61
FIELD = np.stack(np.meshgrid(np.linspace(-2.2, 2.2, SIDE), np.linspace(-1.8, 1.8, SIDE)), -1)


@lru_cache
def decayed_nets(steps=500, width=100, eta=0.02):
    """Adam on the moons, for every λ of LAMBDAS with both kinds of decay.

    The penalty is λ Σ‖W‖²; decoupled decay multiplies W by 1 - 300 η λ in every step (its strength has
    another unit, and 300 makes the two comparable here). -> norms (2, λ, times), probabilities on FIELD
    (2, λ, SIDE, SIDE), share of training points on the wrong side (2, λ).
    """
    generator = torch.Generator().manual_seed(2)
    count = len(LAMBDAS)
    coupled = torch.tensor([*LAMBDAS, *[0.0] * count]).view(-1, 1, 1)
    apart = torch.tensor([*[0.0] * count, *(300 * lam for lam in LAMBDAS)]).view(-1, 1, 1)
    W1 = torch.randn(1, 2, width, generator=generator, dtype=torch.float64).repeat(2 * count, 1, 1)
    W2 = width**-0.5 * torch.randn(1, width, 1, generator=generator, dtype=torch.float64).repeat(
        2 * count, 1, 1
    )
    W = [
        W1,
        torch.zeros(2 * count, 1, width, dtype=torch.float64),
        W2,
        torch.zeros(2 * count, 1, 1, dtype=torch.float64),
    ]
    W = [w.requires_grad_() for w in W]
    points, labels = moons()
    X, y = torch.tensor(points, dtype=torch.float64), torch.tensor(labels).double()

    def scores(X):
        return (torch.relu(3 * X @ W[0] + W[1]) @ W[2] + W[3]).squeeze(-1)

    mean, square = ([torch.zeros_like(w) for w in W] for _ in range(2))
    norms = []
    for step in range(1, steps + 1):
        s = scores(X)
        loss = F.binary_cross_entropy_with_logits(s, y.expand_as(s), reduction="none").mean(1)
        loss = loss.sum() + (coupled * (W[0] ** 2).sum((1, 2), keepdim=True)).sum()
        loss = loss + (coupled * (W[2] ** 2).sum((1, 2), keepdim=True)).sum()
        with torch.no_grad():
            norms.append((W[0].square().sum((1, 2)) + W[2].square().sum((1, 2))).sqrt().numpy())
            for i, (w, m, v, g) in enumerate(
                zip(W, mean, square, torch.autograd.grad(loss, W), strict=True)
            ):
                m.lerp_(g, 0.1)
                v.lerp_(g * g, 0.001)
                root = (v / (1 - 0.999**step)).sqrt() + 1e-8
                if i in (0, 2):
                    w.mul_(1 - eta * apart)
                w.sub_(eta * m / (1 - 0.9**step) / root)
    with torch.no_grad():
        field = torch.tensor(FIELD.reshape(-1, 2), dtype=torch.float64)
        p = torch.sigmoid(scores(field)).reshape(2, count, SIDE, SIDE).numpy()
        wrong = ((scores(X) > 0) != (y > 0.5)).double().mean(1).reshape(2, count).numpy()
    return np.array(norms).T.reshape(2, count, steps), p, wrong


def draw_decay(lam: float, kind: str):
    """Decision boundary of an overparameterised net and the length of its weights -> (fig, words)."""
    norms, p, wrong = decayed_nets()
    k, place = DECAYS.index(kind), LAMBDAS.index(lam)
    points, labels = moons()
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
    field = p[k, place]
    left.contourf(
        FIELD[..., 0], FIELD[..., 1], field, levels=np.linspace(0, 1, 11), cmap="RdBu_r", alpha=0.6
    )
    left.contour(FIELD[..., 0], FIELD[..., 1], field, levels=[0.5], colors=BLACK)
    for value, marker, color in ((0, "o", BLUE), (1, "s", VERMILION)):
        left.plot(
            *points[labels == value].T, marker, color=color, mec="white", label=f"label {value}"
        )
    left.set(
        xlabel="$x_1$",
        ylabel="$x_2$",
        title=f"λ = {lam:g}: {100 * wrong[k, place]:.0f} % of the points wrong",
    )
    left.legend(loc="upper right", fontsize=9, frameon=True)
    for j, (name, style, color) in enumerate(
        zip(DECAYS, ("-", "--"), (BLUE, VERMILION), strict=True)
    ):
        right.plot(norms[j, place], style, color=color, label=name, linewidth=3 if j == k else 1.4)
    right.plot(norms[0, 0], ":", color=BLACK, label="λ = 0")
    right.set(xlabel="training steps", ylabel="length of all weights", ylim=(0, None))
    right.set_title("How long the weights get")
    right.legend(fontsize=9)
    sure = np.mean(np.abs(field - 0.5) > 0.45)
    return fig, (
        f"{kind}, λ = {lam:g}: {100 * wrong[k, place]:.0f} % of the training points are wrong, weights of "
        f"length {norms[k, place, -1]:.1f} (without decay {norms[0, 0, -1]:.1f}); on {100 * sure:.0f} % of the "
        "square the network is surer than 95 %."
    )


# ---------------------------------------------------------------- damage

KINDS = ("neither", "RMS norm", "dropout", "both")


@lru_cache
def norm_nets(p=0.5, copies=3):
    """Networks on the noisy digits, as KINDS says (dropout after the norm), the four kinds three times over -> Nets."""
    norm = torch.tensor([False, True, False, True] * copies).view(-1, 1, 1)
    return train_nets((0.0, 0.0, p, p) * copies, steps=400, seed=1, norm=norm, watch=False)[0]


DEAD = np.arange(0, 0.95, 0.1)


@lru_cache
def damage(throws=4):
    """What damage to the hidden layer does to the four kinds of net, on the test digits; means of three nets each.

    -> accuracy (4, len(DEAD)) by share of dead units, mean over `throws` choices of the dead; moved (4, 3): mean
    total variation distance between the probabilities before and after: scale errors (a factor of 1/4 or 4 a
    row), noise across h as long as h, half of the units dead.
    """
    nets, (X, y) = norm_nets(), noisy_digits()["test"]
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        h = nets.hidden(X)
        width = h.shape[-1]
        order = torch.stack([torch.randperm(width, generator=generator) for _ in range(throws)])
        accuracy = [
            [
                (nets.scores(h * (o >= share * width)).argmax(-1) == y).double().mean(1)
                for o in order
            ]
            for share in DEAD
        ]
        accuracy = torch.stack([torch.stack(row).mean(0) for row in accuracy])
        unit = h / h.norm(dim=-1, keepdim=True)
        noise = torch.randn(h.shape[1:], generator=generator, dtype=h.dtype).expand_as(h)
        noise = noise - (noise * unit).sum(-1, keepdim=True) * unit
        noise = noise / noise.norm(dim=-1, keepdim=True) * h.norm(dim=-1, keepdim=True)
        factor = 4.0 ** (2.0 * (torch.rand(len(X), 1, generator=generator) < 0.5) - 1)
        before, moved = nets.scores(h).softmax(-1), []
        for damaged in ([h * factor], [h + noise], [h * (o >= 0.5 * width) for o in order]):
            changes = [(nets.scores(g).softmax(-1) - before).abs().sum(-1) / 2 for g in damaged]
            moved.append(torch.stack(changes).mean((0, 2)))
    return accuracy.view(len(DEAD), -1, 4).mean(1).T.numpy(), torch.stack(moved).view(
        3, -1, 4
    ).mean(1).T.numpy()


def draw_damage():
    """Four networks, three kinds of damage -> (fig, words)."""
    accuracy, moved = damage()
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.9))
    colors, styles = (BLACK, GREEN, BLUE, VERMILION), ("o-", "s--", "^-.", "D:")
    looks = list(zip(KINDS, colors, ("", "//", "..", "xx"), strict=True))
    for row, style, (name, color, _) in zip(accuracy, styles, looks, strict=True):
        left.plot(100 * DEAD, 100 * row, style, color=color, label=name)
    left.set(xlabel="dead hidden units in %", ylabel="accuracy on new digits in %", ylim=(0, 100))
    left.set_title("Dropout prepares for dead units")
    left.legend(fontsize=9)
    kinds = ["scale × or ÷ 4", "noise across h", "half dead"]
    grouped_bars(kinds, 100 * moved, right, looks=looks, step=0.2)
    for j in np.flatnonzero(moved[:, 0] < 0.005):
        right.text(0.2 * (j - 1.5), 0.5, "0", ha="center", color=colors[j])
    right.set(
        ylabel="probability moved in %", ylim=(0, 62), title="RMS norm removes errors of scale"
    )
    right.legend(fontsize=9, ncols=2, loc="upper center")
    told = "; ".join(
        f"{name}: scale {100 * a:.0f}, across {100 * b:.0f}, half dead {100 * c:.0f}"
        for name, (a, b, c) in zip(KINDS, moved, strict=True)
    )
    half = "; ".join(f"{n} {100 * row[5]:.0f}" for n, row in zip(KINDS, accuracy, strict=True))
    return (
        fig,
        f"Probability moved in per cent. {told}. Accuracy with half of the units dead: {half}.",
    )


# ---------------------------------------------------------------- smaller figures


def draw_three_means(h, W, p, means):
    """Three means over all sub-networks, class by class -> (fig, words). means: as `ensemble_mean` returns them."""
    _, geometric, arithmetic = (np.asarray(m) for m in means)
    full = softmax(h @ W)
    fig, ax = plt.subplots(figsize=(7, 3.6))
    looks = (
        ("unscaled network", PINK, ".."),
        ("geometric mean = scaled network", BLUE, ""),
        ("arithmetic mean", ORANGE, "//"),
    )
    classes = [f"class {c}" for c in range(len(geometric))]
    grouped_bars(classes, (full, geometric, arithmetic), ax, looks=looks, step=0.27)
    gap = np.abs(geometric - arithmetic).max()
    ax.set(
        ylabel="probability",
        ylim=(0, 1),
        title=f"{2 ** len(h)} sub-networks, p = {p:g}: near, not equal",
    )
    ax.legend()
    return fig, (
        f"Over {2 ** len(h)} sub-networks the geometric mean gives {_row(geometric)}, the arithmetic mean "
        f"{_row(arithmetic)}; they differ by up to {gap:.2f}. The unscaled network says {_row(full)}."
    )


def _row(values):
    return ", ".join(f"{v:.2f}" for v in values)


def draw_ridge_path(p_values, weights, names):
    """Weights of dropped least squares against p; weights (len(p), m) in standard units -> (fig, words)."""
    fig, ax = plt.subplots()
    colors = (BLUE, VERMILION, GREEN, PINK, ORANGE, SKY, BLACK)
    for j, name in enumerate(names):
        style = ("-", "--", "-.", ":")[j % 4]
        ax.plot(p_values, weights[:, j], style, color=colors[j % 7], label=name)
    ax.axhline(0, color=BLACK, linewidth=0.8)
    ax.set(xlabel="dropout rate p of the inputs", ylabel="weight for one standard deviation")
    ax.set_title("Dropped inputs shrink weights as ridge does")
    ax.legend(ncols=2, fontsize=9, loc="upper right")
    first, last = (np.linalg.norm(weights[i]) for i in (0, -1))
    return fig, (
        f"From p = {p_values[0]:g} to {p_values[-1]:g} the length of the weights falls from {first:.0f} to {last:.0f}."
    )


def draw_cosines(ps, cosines, d):
    """Cosine between RMSNorm(m ⊙ h) and h: measured and √(1-p) -> (fig, words)."""
    ps, cosines = np.asarray(ps), np.asarray(cosines)
    fig, ax = plt.subplots()
    line = np.linspace(0, 0.95, 96)
    ax.plot(line, np.sqrt(1 - line), "-", color=BLUE, label=r"$\sqrt{1-p}$")
    ax.plot(line, 1 - line, ":", color=BLACK, label="$1-p$, what the plain scaling expects")
    ax.plot(ps, cosines, "o", color=VERMILION, label=f"measured, d = {d}")
    ax.set(xlabel="dropout rate p", ylabel="cosine, and factor of the mean", ylim=(0, 1.05))
    ax.set_title("A mask before the norm turns the vector")
    ax.legend(loc="lower left")
    half = cosines[int(np.abs(ps - 0.5).argmin())]
    return fig, f"At p = 0.5 the cosine is {half:.3f}, and √½ is {np.sqrt(0.5):.3f}."


def draw_final(curves, chosen, scores):
    """Validation accuracy of the student's networks on the way, and the test -> (fig, words).

    curves: {name: (steps, accuracies)}, scores: {name: test accuracy}.
    """
    fig, ax = plt.subplots()
    for (name, (steps, values)), style, color in zip(
        curves.items(), ("-", "--", "-.", ":"), (BLACK, GREEN, BLUE, VERMILION), strict=False
    ):
        ax.plot(steps, 100 * np.asarray(values), style, color=color, label=name)
    ax.set(
        xlabel="training steps",
        ylabel="validation accuracy in %",
        title=f"Chosen on validation rows: {chosen}",
    )
    ax.legend(loc="lower right")
    told = ", ".join(f"{name} {100 * s:.0f} %" for name, s in scores.items())
    return fig, f"Chosen on the validation rows: {chosen}. Test accuracy: {told}."

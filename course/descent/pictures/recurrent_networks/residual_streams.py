"""Residual streams: names, first weights, sparse codes, a loop trained by torch, and what they draw.

Compute (pure): `network`, `arrives`, `ista`, `race`, `sum_stream`, … Draw: `draw_…` return (fig, words).
A network is [E, Ws, bs, U]: h_t = h_{t-1} + tanh(h_{t-1} W_t + b_t), scores h_T U, one word a row.
"""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import torch

from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, VERMILION, fixed_axes
from descent.words import say

GREY = "#808080"  # seen on white and on black
LOOKS = [
    ("-", BLUE, "o"),
    ("--", VERMILION, "s"),
    ("-.", GREEN, "^"),
    (":", PINK, "D"),
    ("-", ORANGE, "v"),
]

NAMES = [
    pair.split(" ", 1)
    for pair in (
        "Barack Obama,Abraham Lincoln,George Washington,Theodore Roosevelt,Ada Lovelace,Alan Turing,Marie Curie,"
        "Isaac Newton,Albert Einstein,Emmy Noether,Carl Gauss,Leonhard Euler,Blaise Pascal,Charles Darwin,"
        "Galileo Galilei,Nikola Tesla,Johann Bach,Wolfgang Mozart,Ludwig Beethoven,Frida Kahlo,Pablo Picasso,"
        "Vincent van Gogh,William Shakespeare,Jane Austen,Leo Tolstoy,Virginia Woolf,Franz Kafka,Nelson Mandela,"
        "Rosa Parks,Mahatma Gandhi,Neil Armstrong,Grace Hopper"
    ).split(",")
]
FIRST, LAST = ([pair[i] for pair in NAMES] for i in (0, 1))
LAMBDAS = (0.05, 0.1, 0.2, 0.3)


def network(T, gain=0.3, seed=0, rotations=False, d=16):
    """First weights for the 32 names; the blocks' are small and random, or rotations times gain. -> [E, Ws, bs, U]"""
    rng, K = np.random.default_rng(seed), len(NAMES)
    E, Ws = rng.normal(size=(K, d)), rng.normal(size=(T, d, d))
    Ws = gain * (np.linalg.qr(Ws)[0] if rotations else Ws / np.sqrt(d))
    return [E, Ws, np.zeros((T, d)), rng.normal(size=(d, K)) / np.sqrt(d)]


def arrives(skip, T=40, seed=0):
    """Of a message of size 1 behind the last block: how much reaches the first word's stream, on the mean of all."""
    E, Ws, _, _ = network(T, seed=seed)
    h, slopes = E, []
    for W in Ws:
        bend = np.tanh(h @ W)
        h = skip * h + bend
        slopes.append(1 - bend**2)
    message = np.ones_like(h) / np.sqrt(h.shape[1])
    for W, slope in zip(Ws[::-1], slopes[::-1], strict=True):
        message = skip * message + (message * slope) @ W.T
    return np.linalg.norm(message, axis=1).mean()


def dictionary(seed=0, m=20, n=40):
    """How n hidden numbers are mixed into m measured ones: columns of length 1. -> tensor (m, n)"""
    D = np.random.default_rng(seed).normal(size=(m, n))
    return torch.tensor(D / np.linalg.norm(D, axis=0))


def codes(rng, rows, share=0.1, n=40):
    """Hidden numbers, most of them 0. -> tensor (rows, n)"""
    return torch.tensor(rng.normal(size=(rows, n)) * (rng.random((rows, n)) < share))


def lessons(count=300, rows=48, seed=1):
    """Batches of codes to learn from."""
    rng = np.random.default_rng(seed)
    return [codes(rng, rows) for _ in range(count)]


def off(found, X):
    """Squared error after each round, over the squared size of the true codes. (T + 1, B, n) -> array (T + 1,)"""
    return (((found - X) ** 2).sum((1, 2)) / (X**2).sum()).detach().numpy()


def shrink(z, theta):
    """Towards 0 by theta, and not beyond."""
    return z - torch.maximum(torch.minimum(z, theta), -theta)


def ista(Y, D, lam, T):
    """All rounds of ISTA with the step 1/||D||². -> (T + 1, B, n)"""
    eta = 1 / torch.linalg.matrix_norm(D, 2) ** 2
    found = [torch.zeros(len(Y), D.shape[1], dtype=Y.dtype)]
    for _ in range(T):
        z = found[-1] + eta * (Y - found[-1] @ D.T) @ D
        found.append(shrink(z, eta * lam))
    return torch.stack(found)


@cache
def race(T=8):
    """Errors by round of ISTA, for each of LAMBDAS over 300 rounds, and of T trained rounds. -> {λ: array}, array"""
    D, eta = dictionary(), 1 / torch.linalg.matrix_norm(dictionary(), 2) ** 2
    X = codes(np.random.default_rng(99), 1000)
    slow = {lam: off(ista(X @ D.T, D, lam, 300), X) for lam in LAMBDAS}
    V = [(eta * D).requires_grad_(True) for _ in range(T)]
    theta = [(0.1 * eta).requires_grad_(True) for _ in range(T)]

    def rounds(Y):
        found = [torch.zeros(len(Y), D.shape[1], dtype=Y.dtype)]
        for v, th in zip(V, theta, strict=True):
            found.append(shrink(found[-1] + (Y - found[-1] @ D.T) @ v, th))
        return torch.stack(found)

    adam = torch.optim.Adam(V + theta, 0.01)
    for batch in lessons():
        loss = ((rounds(batch @ D.T)[1:] - batch) ** 2).sum(2).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
    return slow, off(rounds(X @ D.T), X)


def rounds_needed(slow, level):
    """The fewest rounds after which ISTA, with one of its λ, is at most that far off; None: never."""
    first = [int(np.argmax(curve <= level)) for curve in slow.values() if curve.min() <= level]
    return min(first, default=None)


def sum_stream(shared, T=10, rows=100, longer=20, seed=0):
    """Learn y = Σ sin(2 x_t) by h_t = h_{t-1} + tanh(h_{t-1} W + x_t e + b), y = h_T r, from few rows.

    -> weights of the steps, errors on new rows of T and of `longer` steps (later steps use the last one's weights),
    each over the variance of y.
    """
    generator = torch.Generator().manual_seed(seed)
    k, d = 1 if shared else T, 12
    e = torch.randn(k, d, generator=generator, dtype=torch.float64)
    b = torch.randn(k, d, generator=generator, dtype=torch.float64)
    W, r = torch.zeros(k, d, d).double(), torch.zeros(d).double()
    params = [p.requires_grad_(True) for p in (W, e, b, r)]
    adam = torch.optim.Adam(params, 0.02)

    def data(rows, steps):
        x = torch.randn(rows, steps, generator=generator, dtype=torch.float64)
        return x, torch.sin(2 * x).sum(1)

    def says(x):
        h = torch.zeros(len(x), d).double()
        for t in range(x.shape[1]):
            i = min(t, k - 1)
            h = h + torch.tanh(h @ W[i] + x[:, [t]] * e[i] + b[i])
        return h @ r

    x, y = data(rows, T)
    for _ in range(300):
        adam.zero_grad()
        ((says(x) - y) ** 2).mean().backward()
        adam.step()
    with torch.no_grad():
        errors = []
        for steps in (T, longer):
            x, y = data(1000, steps)
            errors.append((((says(x) - y) ** 2).mean() / y.var()).item())
    return k * (d * d + 2 * d), *errors


def stream_messages(shared, skip, T=40, d=16, seed=0):
    """Size of a message of 1 on its way back over T steps of a stream with one W, or with one each. -> (T + 1,)"""
    rng = np.random.default_rng(seed)
    Ws = 0.3 * rng.normal(size=(1 if shared else T, d, d)) / np.sqrt(d)
    h, steps = rng.normal(size=d), []
    for t in range(T):
        W = Ws[min(t, len(Ws) - 1)]
        bend = np.tanh(
            h @ W + (rng.normal(size=d) if shared else 0)
        )  # a memory reads something new at each step
        h = skip * h + bend
        steps.append(W * (1 - bend**2))
    message = np.ones(d) / np.sqrt(d)
    sizes = [1.0]
    for J in steps[::-1]:
        message = skip * message + message @ J.T
        sizes.append(np.linalg.norm(message))
    return np.array(sizes[::-1])


# Pictures.


def _race(ax, slow, fast):
    for (lam, curve), (line, color, _) in zip(slow.items(), LOOKS[1:], strict=True):
        ax.loglog(
            np.arange(1, len(curve)), 100 * curve[1:], line, color=color, label=f"ISTA, λ = {lam}"
        )
    ax.loglog(
        np.arange(1, len(fast)), 100 * fast[1:], "o-", color=BLUE, label="trained", markersize=4
    )
    ax.set(xlabel="rounds", ylabel="squared error (% of the codes' size)")
    ax.set_yticks([5, 10, 20, 50], ["5", "10", "20", "50"])
    ax.set_xticks([1, 3, 8, 30, 100, 300], ["1", "3", "8", "30", "100", "300"])
    ax.minorticks_off()
    ax.legend(fontsize=9, loc="lower left")


def draw_race(slow, fast, title="Eight trained rounds against a loop with a proof"):
    """Errors by round of ISTA (slow, {λ: errors}) and of the trained loop (fast)."""
    fig, ax = plt.subplots(figsize=(6.6, 3.8))
    _race(ax, slow, fast)
    T = len(fast) - 1
    best = min(curve[T] for curve in slow.values())
    ax.set_title(title)
    return fig, say(
        "Squared error left after {T} rounds: trained loop {fast:.0%}, ISTA with its best λ {best:.0%}.",
        T=T,
        fast=fast[-1],
        best=best,
    )


def draw_layers(signals, messages):
    """How much of h_0's size is left at each layer, and of the last message's; {name: (T + 1,)} each."""
    fig, axes = plt.subplots(1, 2, figsize=(9.2, 3.6))
    told = []
    for ax, curves, what in zip(axes, (signals, messages), ("signal", "message"), strict=True):
        for (name, sizes), (line, color, _) in zip(curves.items(), LOOKS, strict=False):
            ax.semilogy(np.arange(len(sizes)), sizes, line, color=color, label=name)
            told.append(
                say(
                    "{what}, {name}: {left:.1g} times",
                    what=what,
                    name=name,
                    left=sizes[-1] / sizes[0] if what == "signal" else sizes[0] / sizes[-1],
                )
            )
        ax.set(xlabel="layer t", ylabel=f"size of the {what}")
    axes[0].set_title("Forward: what is left of h₀")
    axes[1].set_title("Back: what is left at h₀")
    axes[1].legend(fontsize=9, loc="lower right")
    return fig, say("What is left at the far end. {told:; }.", told=told)


def draw_depths(depths, losses, guess):
    """Loss after the training by depth. losses {name: (len(depths),)}, guess: the loss without any idea."""
    fig, ax = plt.subplots(figsize=(6.6, 3.6))
    for (name, values), (line, color, marker) in zip(losses.items(), LOOKS, strict=False):
        ax.plot(range(len(depths)), values, line, color=color, marker=marker, label=name)
    ax.axhline(guess, color=GREY, linestyle=":", label="no idea")
    ax.set_xticks(range(len(depths)), [str(T) for T in depths])
    ax.set(xlabel="layers", ylabel="loss (nats)", ylim=(-0.15, guess + 0.5))
    ax.set_title("With the +, depth does not stop learning")
    ax.legend(fontsize=9, loc=(0.34, 0.28))
    return fig, say(
        "Loss with {T} layers. {told:; }. No idea: {guess:.2f}.",
        T=depths[-1],
        told=[say("{n}: {v:.1f}", n=name, v=values[-1]) for name, values in losses.items()],
        guess=guess,
    )


def draw_paths(sizes):
    """Size of what all paths through k blocks carry, by k. sizes {name: (T + 1,)}."""
    fig, ax = plt.subplots(figsize=(6.6, 3.6))
    means = []
    for (name, values), (_, color, marker) in zip(sizes.items(), LOOKS, strict=False):
        k = np.arange(len(values))
        mean = values @ k / values.sum()
        ax.plot(k, values / values.sum(), color=color, marker=marker, markersize=4, label=name)
        means.append(say("{name}: {mean:.1f}", name=name, mean=mean))
    ax.set(
        xlabel=f"blocks on the path, of {len(values) - 1}",
        ylabel="share of the slope",
        title="Slopes travel on short paths",
    )
    ax.legend(fontsize=9)
    return fig, say("Blocks on a path in the mean, weighted by size. {means:; }.", means=means)


A, B = np.array([[1.6, 0.5], [0.0, 0.7]]), np.array([1.1, 0.2])


def draw_descent(blocks, x, y, eta, T=12):
    """The stream of blocks(A, B, η/L, T) from (x, y), beside gradient descent; η in units of 1/L."""
    L = np.linalg.norm(A, 2) ** 2
    Ws, cs = blocks(A, B, eta / L, T)
    stream, path = [np.array([x, y])], [np.array([x, y])]
    for W, c in zip(Ws, cs, strict=True):
        stream.append(stream[-1] + stream[-1] @ W + c)
        path.append(path[-1] - eta / L * A.T @ (A @ path[-1] - B))
    stream, path = np.array(stream), np.array(path)
    fig, (left, right) = fixed_axes(2, (8, 3.7), (0.08, 0.98, 0.16, 0.88), wspace=0.3)
    xs, ys = np.meshgrid(np.linspace(-3, 3, 60), np.linspace(-3, 3, 60))
    f = 0.5 * (((A @ np.stack([xs, ys]).reshape(2, -1)).T - B) ** 2).sum(1).reshape(xs.shape)
    left.contour(xs, ys, f, levels=[0.05, 0.3, 1, 3, 7, 14], colors=GREY, linewidths=0.7)
    inside = np.abs(path).max(1) < 3
    shown = len(path) if inside.all() else max(inside.argmin(), 1)
    left.plot(*path[:shown].T, "x", color=BLACK, markersize=9, label="gradient descent")
    left.plot(*stream[:shown].T, "o-", color=BLUE, markersize=4, label="stream of your network")
    left.plot(x, y, "s", color=VERMILION, markersize=9)
    left.set(xlim=(-3, 3), ylim=(-3, 3), xlabel="x₁", ylabel="x₂", title="Drag the square")
    left.set_gid("start")
    left.legend(fontsize=8, loc="lower right", frameon=True, edgecolor="none", framealpha=0.9)
    values = np.array([0.5 * ((A @ h - B) ** 2).sum() for h in stream])
    right.semilogy(np.maximum(values, 1e-12), "o-", color=BLUE, markersize=4)
    right.set(
        xlabel="block t", ylabel="f after it", ylim=(1e-6, 1e4), title="What the blocks do to f"
    )
    right.set_xticks(range(0, T + 1, 3))
    gap = np.abs(stream - path).max()
    return fig, say(
        "Step {eta:.2f}/L: f goes from {first:.2g} to {last:.2g} in {T} blocks. Stream and descent are equal: {same}.",
        eta=eta,
        first=values[0],
        last=values[-1],
        T=T,
        same="yes" if gap <= 1e-9 * (1 + np.abs(path).max()) else "no",
    )


def draw_lens(scores, word, step):
    """The five likeliest last names for FIRST[word], read off the stream after `step` blocks. scores (T + 1, B, K)."""
    chance = np.exp(scores - scores.max(-1, keepdims=True))
    chance /= chance.sum(-1, keepdims=True)
    fig, (left, right) = fixed_axes(2, (8, 3.3), (0.15, 0.97, 0.17, 0.88), wspace=0.35)
    best = np.argsort(-chance[step, word])[:5][::-1]
    colors = [BLUE if i == word else "#BBBBBB" for i in best]
    left.barh([LAST[i] for i in best], chance[step, word, best], color=colors)
    left.set(xlim=(0, 1), xlabel="probability", title=f"{FIRST[word]}, after {step} blocks")
    right.plot(chance[:, word, word], "o-", color=BLUE)
    right.plot(step, chance[step, word, word], "s", color=VERMILION, markersize=10)
    right.set(xlabel="blocks", ylabel=f"probability of {LAST[word]}", ylim=(-0.03, 1.03))
    right.set_title("Read off early")
    return fig, say(
        "After {step} of {T} blocks the stream of {name} gives {last} {p:.0%}.",
        step=step,
        T=len(scores) - 1,
        name=FIRST[word],
        last=LAST[word],
        p=chance[step, word, word],
    )


def draw_line(parts, without, whole):
    """What h_0 and each block add to the right score of one word (T + 1,); the loss without each block (T,)."""
    T = len(without)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
    ends = np.cumsum(parts)
    left.bar(range(T + 1), parts, bottom=ends - parts, color=[ORANGE] + [BLUE] * T)
    left.plot(range(T + 1), ends, "_", color=BLACK, markersize=16)
    left.set_xticks(range(T + 1), ["h₀", *(str(t) for t in range(1, T + 1))])
    left.set(xlabel="block", ylabel="score of Obama", title="Each block adds its part")
    right.bar(range(1, T + 1), without, color=VERMILION, label="without that block")
    right.axhline(whole, color=BLACK, linestyle="--", label="with all")
    right.set(xlabel="block", ylabel="loss (nats)", title="One block skipped")
    right.legend(fontsize=9)
    return fig, say(
        "Obama's score goes from {start:.1f} to {end:.1f}. Loss {whole:.3f}; without one block up to {worst:.3f}.",
        start=parts[0],
        end=ends[-1],
        whole=whole,
        worst=max(without),
    )


def draw_rules(lengths, errors):
    """Left: length of a round's update over the way that is left. Right: error by round for each training."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.7))
    for ax, curves in ((left, lengths), (right, errors)):
        for (name, values), (line, color, marker) in zip(curves.items(), LOOKS, strict=False):
            rounds = np.arange(len(values)) + (ax is left)
            ax.plot(rounds, values, line, color=color, marker=marker, markersize=4, label=name)
        ax.legend(fontsize=9)
    left.set(xlabel="round", ylabel="length of the update\n(share of the way left)", ylim=(0, 0.75))
    left.set_title("Learned updates are longer")
    right.set(xlabel="round", ylabel="squared error (share)", ylim=(0, 1.05))
    right.set_title("What is asked decides who works")
    return fig, say(
        "Length of the last update, as a share. {told:; }. Error after the last round. {ends:; }.",
        told=[say("{n}: {c:.2f}", n=name, c=values[-1]) for name, values in lengths.items()],
        ends=[say("{n}: {e:.1f}", n=name, e=values[-1]) for name, values in errors.items()],
    )


def draw_tied(errors, trained_for):
    """Errors by round of LISTA loops with one pair of weights or one a round, run on beyond their training."""
    fig, ax = plt.subplots(figsize=(6.6, 3.5))
    for (name, values), (line, color, marker) in zip(errors.items(), LOOKS, strict=False):
        ax.semilogy(values, line, color=color, marker=marker, markersize=4, label=name)
    ax.axvline(trained_for, color=GREY, linestyle=":", label="trained up to here")
    ax.set(xlabel="rounds", ylabel="squared error (share)", title="One rule, or one a round")
    ax.set_yticks([0.05, 0.1, 0.2, 0.5, 1], ["0.05", "0.1", "0.2", "0.5", "1"])
    ax.minorticks_off()
    ax.legend(fontsize=9)
    return fig, say(
        "Error after round {T}. {told:; }.",
        T=trained_for,
        told=[
            say("{n}: {e:.2f}", n=name, e=values[trained_for]) for name, values in errors.items()
        ],
    )


def _box(ax, x, y, text):
    box = dict(boxstyle="round", facecolor="#F4F4F4", edgecolor=BLACK)
    ax.text(x, y, text, ha="center", va="center", bbox=box, color="black", fontsize=9)


def draw_times():
    """A memory stream to the right, a residual stream upwards, and messages on both."""
    fig, (left, middle, right) = plt.subplots(1, 3, figsize=(7.1, 3), width_ratios=(1.2, 0.7, 1.4))
    thick = dict(arrowstyle="-|>", color=BLUE, linewidth=2.5, shrinkA=12, shrinkB=12)
    thin = dict(arrowstyle="-|>", color=GREY, shrinkA=8, shrinkB=10)
    for t in range(3):
        _box(left, t, 1, f"h{'₁₂₃'[t]}")
        left.text(t, 0, f"x{'₁₂₃'[t]}", ha="center", va="center")
        left.annotate("", (t, 1), (t, 0), arrowprops=thin)
        _box(middle, 0, t, f"h{'₀₁₂'[t]}")
        if t:
            left.annotate("", (t, 1), (t - 1, 1), arrowprops=thick)
            left.text(t - 0.5, 1.18, "W", ha="center")
            middle.annotate("", (0, t), (0, t - 1), arrowprops=thick)
            middle.text(0.12, t - 0.5, f"W{'₁₂'[t - 1]}", va="center")
    left.set(xlim=(-0.5, 2.5), ylim=(-0.4, 1.6), title="Memory stream: time")
    middle.set(xlim=(-0.6, 0.6), ylim=(-0.4, 2.4), title="Residual stream")
    for ax in (left, middle):
        ax.axis("off")
    told = []
    curves = {
        "memory": (True, 1.0),
        "residual": (False, 1.0),
        "memory, no +": (True, 0.0),
        "residual, no +": (False, 0.0),
    }
    for (name, (shared, skip)), (line, color, _) in zip(curves.items(), LOOKS, strict=False):
        sizes = stream_messages(shared, skip)
        right.semilogy(np.arange(len(sizes))[::-1], sizes, line, color=color, label=name)
        told.append(say("{name}: 10 to the power {p:.0f}", name=name, p=np.log10(sizes[0])))
    right.set(xlabel="steps back", ylabel="size of the message", title="Both keep messages")
    right.legend(fontsize=8, loc="lower left")
    return fig, say("A message of size 1 after 40 steps back. {told:; }.", told=told)

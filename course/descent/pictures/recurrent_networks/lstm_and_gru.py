"""Gated networks: a digit kept for 200 steps, first weights, cells trained by torch, streams, what they draw.

Compute (pure): `network`, `called`, `adam`, `practise`, `reader`, … Draw: `draw_…` return (fig, words).
An LSTM is [W, U, b, R]: a_t = x_t W + h_{t-1} U + b in four blocks i, f, g, o; scores h_T R, one row a sequence.
"""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import torch
from scipy.special import softmax

from descent import data
from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, fixed_axes
from descent.words import say

GREY = "#808080"  # seen on white and on black
LOOKS = [("-", BLUE), ("--", ORANGE), ("-.", GREEN), (":", PINK), ("-", SKY)]
ALPHABET = '\n abcdefghijklmnopqrstuvwxyz.,"()'


def called(rng, rows=32, length=200):
    """One of four digits is called, then letters that mean nothing. -> X (length, rows, 8) one-hot, digits (rows,)"""
    ids = 4 + rng.integers(4, size=(rows, length))
    ids[:, 0] = rng.integers(4, size=rows)
    return np.eye(8)[ids.T], ids[:, 0]


def network(b, size=16, seed=0):
    """First weights of an LSTM, uniform as torch's; b is added to the forget gates' bias, taken from the inputs'."""
    rng, edge = np.random.default_rng(seed), 1 / np.sqrt(size)
    W, U = (rng.uniform(-edge, edge, (n, 4 * size)) for n in (8, size))
    bias = rng.uniform(-edge, edge, 4 * size)
    bias[:size] -= b
    bias[size : 2 * size] += b
    return [W, U, bias, rng.uniform(-edge, edge, (size, 4))]


class Adam:
    """Adam (03/02) with clipping at norm c; it remembers its means from step to step."""

    def __init__(self, lr=0.03, c=1.0):
        self.lr, self.c, self.t, self.means, self.squares = lr, c, 0, 0.0, 0.0

    def step(self, params, grads):
        """Params after one step, a list."""
        flat = np.concatenate([g.ravel() for g in grads])
        flat = flat * min(1, self.c / np.linalg.norm(flat))
        self.t += 1
        self.means = 0.9 * self.means + 0.1 * flat
        self.squares = 0.999 * self.squares + 0.001 * flat**2
        mean, square = self.means / (1 - 0.9**self.t), self.squares / (1 - 0.999**self.t)
        steps = self.lr * mean / (np.sqrt(square) + 1e-8)
        ends = np.cumsum([p.size for p in params])[:-1]
        parts = np.split(steps, ends)
        return [p - part.reshape(p.shape) for p, part in zip(params, parts, strict=True)]


class Stream(torch.nn.RNN):
    """The weights of a plain network, used as h_t = h_{t-1} + tanh(…), from 0."""

    def forward(self, X):
        into, on, *biases = self.parameters()
        pushes = X @ into.T + sum(biases)
        h = X.new_zeros(X.shape[1], self.hidden_size)
        states = []
        for v in pushes:
            h = h + torch.tanh(v + h @ on.T)
            states.append(h)
        return torch.stack(states), h[None]


class Cells(torch.nn.Module):
    """torch's network of RNN, LSTM or GRU cells, or a `Stream`, with a read-out of the last state."""

    def __init__(self, kind, size, b=0.0, seed=0, symbols=8, answers=4, dtype=torch.float32):
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            cells = Stream if kind == "stream" else getattr(torch.nn, kind)
            self.cells = cells(symbols, size, dtype=dtype)
            self.read = torch.nn.Linear(size, answers, bias=False, dtype=dtype)
        with torch.no_grad():
            if kind in ("LSTM", "GRU"):
                self.cells.bias_hh_l0[size : 2 * size] += b
            if kind == "LSTM":
                self.cells.bias_hh_l0[:size] -= b
        # torch has two biases; one is enough
        self.cells.bias_ih_l0.requires_grad_(False).zero_()

    def load(self, params):
        """Take the weights of an LSTM [W, U, b, R]."""
        W, U, b, R = (torch.as_tensor(p) for p in params)
        own = (*self.cells.parameters(), self.read.weight)
        with torch.no_grad():
            for mine, given in zip(own, (W.T, U.T, 0 * b, b, R.T), strict=True):
                mine.copy_(given)
        return self

    def forward(self, X):
        """Scores after the last step of X (T, B, symbols)."""
        return self.read(self.cells(torch.as_tensor(X).to(self.read.weight))[0][-1])

    def trained(self):
        """How many numbers training moves, the read-out's left out."""
        return sum(p.numel() for p in self.cells.parameters() if p.requires_grad)


def practise(net, length, n_steps, every=15, lr=0.03, seed=0):
    """Train on `called` by torch's Adam, clipped. -> updates, share of 200 new digits told right after so many"""
    rng, adam_ = np.random.default_rng(seed), torch.optim.Adam(net.parameters(), lr)
    X, y = called(np.random.default_rng(99), 200, length)
    steps, right = [], []
    for step in range(n_steps + 1):
        if step % every == 0:
            with torch.no_grad():
                right.append(np.mean(net(X).argmax(1).numpy() == y))
            steps.append(step)
        x, digits = called(rng, length=length)
        loss = torch.nn.functional.cross_entropy(net(x), torch.as_tensor(digits))
        adam_.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        adam_.step()
    return np.array(steps), np.array(right)


def torchs_slopes(X, y, params):
    """Slopes of the loss by W, U, b, R of an LSTM, by torch's autograd."""
    sizes = dict(symbols=len(params[0]), answers=params[3].shape[1])
    net = Cells("LSTM", len(params[1]), **sizes, dtype=torch.float64).load(params)
    torch.nn.functional.cross_entropy(net(X), torch.as_tensor(y)).backward()
    into, on, _, bias = (p.grad for p in net.cells.parameters())
    return [g.numpy() for g in (into.T, on.T, bias, net.read.weight.grad.T)]


def torchs_gru(x, h, W, U, b):
    """torch.nn.GRUCell with these weights; its blocks are r, u, candidate, as ours. -> new h (B, H)"""
    cell = torch.nn.GRUCell(len(W), len(U), dtype=torch.float64)
    with torch.no_grad():
        for own, given in zip(cell.parameters(), (W.T, U.T, b, 0 * b), strict=True):
            own.copy_(torch.as_tensor(given))
        return cell(torch.as_tensor(x), torch.as_tensor(h)).numpy()


def kept_text():
    """Python's manual in the alphabet, as numbers."""
    return np.array([ALPHABET.index(c) for c in data.manual().lower() if c in ALPHABET])


def _read_manual(cells, read, epochs, lr):
    """Train a network of cells and its read-out on 24,000 characters of the manual, by torch's Adam, clipped."""
    rows = torch.as_tensor(kept_text()[:24_000].reshape(16, 1500).T.copy())
    weights = [p for p in (*cells.parameters(), *read.parameters()) if p.requires_grad]
    adam_, onehot, state = torch.optim.Adam(weights, lr), torch.eye(len(ALPHABET)), None
    for t in [*range(0, 1449, 50)] * epochs:
        if t == 0:
            state = None
        else:
            state = state.detach() if torch.is_tensor(state) else tuple(s.detach() for s in state)
        states, state = cells(onehot[rows[t : t + 50]], state)
        scores, asked = read(states).flatten(0, 1), rows[t + 1 : t + 51].flatten()
        adam_.zero_grad()
        torch.nn.functional.cross_entropy(scores, asked).backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        adam_.step()


@cache
def reader(size=48, epochs=8, seed=0):
    """An LSTM that read 24,000 characters of the manual `epochs` times, by torch. -> (W, U, b, R), loss on the rest"""
    K = len(ALPHABET)
    net = Cells("LSTM", size, seed=seed, symbols=K, answers=K)
    with torch.no_grad():
        net.cells.bias_hh_l0[size : 2 * size] += 1
    _read_manual(net.cells, net.read, epochs, lr=0.02)
    rest = torch.as_tensor(kept_text()[24_000:])
    with torch.no_grad():
        scores = net.read(net.cells(torch.eye(K)[rest[:-1], None])[0][:, 0])
        loss = torch.nn.functional.cross_entropy(scores, rest[1:]).item()
        into, on, _, bias = net.cells.parameters()
        params = [into.T, on.T, bias, net.read.weight.T]
    return [p.detach().double().numpy() for p in params], loss


@cache
def writer(size=48, epochs=8, seed=0):
    """Two plain layers that read 24,000 characters of the manual `epochs` times, by torch. -> E, W1, A, W2, b2, R"""
    K = len(ALPHABET)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        cells = torch.nn.RNN(K, size, num_layers=2)
        read = torch.nn.Linear(size, K, bias=False)
    # E holds the bias of layer 1; of two biases of layer 2 one is enough
    for bias in (cells.bias_ih_l0, cells.bias_hh_l0, cells.bias_ih_l1):
        bias.requires_grad_(False).zero_()
    _read_manual(cells, read, epochs, lr=0.01)
    W1, W2 = cells.weight_hh_l0, cells.weight_hh_l1
    weights = (cells.weight_ih_l0.T, W1.T, cells.weight_ih_l1.T, W2.T, cells.bias_hh_l1)
    return [p.detach().double().numpy() for p in (*weights, read.weight.T)]


class Counted(np.ndarray):
    """A matrix that adds up, in `done`, the multiplications that `@` does with it."""

    done = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        inputs = [np.asarray(part) for part in inputs]
        if ufunc is np.matmul:
            Counted.done += inputs[0].size * (inputs[1].shape[-1] if inputs[1].ndim > 1 else 1)
        return getattr(ufunc, method)(*inputs, **kwargs)


def work(write, weights, lengths):
    """Multiplications of `write` for the symbol after n others, and for the whole text up to it. -> two arrays"""
    E, W1, A, W2, b2, R = weights
    W1, A, W2, R = (part.view(Counted) for part in (W1, A, W2, R))
    draws = np.random.default_rng(0).random(max(lengths) + 1)
    done = []
    for n in lengths:
        both = []
        for m in (n, n + 1):
            Counted.done = 0
            write(E, W1, A, W2, b2, R, 0, 1, draws[:m])
            both.append(Counted.done)
        done.append(both)
    shorter, whole = np.array(done).T
    return whole - shorter, whole


def bits(P):
    """Mean entropy of the rows of P, in bits."""
    return float(-(P * np.log2(np.maximum(P, 1e-300))).sum(-1).mean())


def gates_over(ids, step, params):
    """Gates of every step, (T, 4, H), and streams (T, H), of an LSTM with the answer `step` reading ids (T,)."""
    W, U, b, _ = params
    h = c = np.zeros((1, len(U)))
    gates, streams = [], []
    for k in ids:
        h, c, now = step(np.eye(len(W))[[k]], h, c, W, U, b)
        gates.append(now[:, 0])
        streams.append(c[0])
    return np.array(gates), np.array(streams)


def pushes(size=64, n=50, gain=0.5, seed=0):
    """What n random symbols push, (n, size), and recurrent weights, gain times a random rotation."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, size)), gain * np.linalg.qr(rng.normal(size=(size, size)))[0]


def slope_back(k):
    """Slope of the last state by the first of `pushes`, in a random direction, by torch's autograd."""
    V, W = (torch.tensor(a) for a in pushes())
    first = torch.zeros(len(W)).double().requires_grad_(True)
    h = first
    for v in V:
        h = k * h + torch.tanh(h @ W + v)
    m = torch.tensor(np.random.default_rng(1).normal(size=len(W)))
    return (torch.autograd.grad(h @ m, first)[0].norm() / m.norm()).item()


def torchs_stack(V, W1, A, W2, b2):
    """States of layer 2 by torch.nn.RNN(num_layers=2), fed with what the symbols push. -> (T, H)"""
    H = len(W1)
    stack = torch.nn.RNN(H, H, num_layers=2, dtype=torch.float64)
    given = (np.eye(H), W1.T, np.zeros(H), np.zeros(H), A.T, W2.T, b2, np.zeros(H))
    with torch.no_grad():
        for own, value in zip(stack.parameters(), given, strict=True):
            own.copy_(torch.as_tensor(value))
        return stack(torch.as_tensor(V))[0].numpy()


def cosines(d, n=2000, seed=0):
    """Cosines of n pairs of random directions in d dimensions."""
    a, b = np.random.default_rng(seed).normal(size=(2, n, d))
    return (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


def read_back(d, k, known=1000, trials=10, seed=0):
    """Of k random directions in one sum, the share that is among the k best matches of `known` ones."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(trials):
        V = rng.normal(size=(known, d)) / np.sqrt(d)
        found.append(np.mean(np.argsort(-V @ V[:k].sum(0))[:k] < k))
    return float(np.mean(found))


# Pictures.


def _shares(ax, curves, guess=25):
    for (name, (steps, right)), (line, color) in zip(curves.items(), LOOKS, strict=False):
        ax.plot(steps, 100 * np.asarray(right), line, color=color, label=name, marker="o")
    ax.axhline(guess, color=GREY, linestyle=":", linewidth=1, label="guessing")
    ax.set(xlabel="updates", ylabel="digits told right (%)", ylim=(0, 105))
    ax.legend(fontsize=9, loc="center right", bbox_to_anchor=(1, 0.62))


def draw_puzzle():
    """The same LSTM twice, with b = 0 and b = 5, learns to tell a digit after 200 steps."""
    curves = {
        f"b = {b}": practise(Cells("LSTM", 16).load(network(b)), 200, 210, every=30) for b in (5, 0)
    }
    fig, ax = plt.subplots(figsize=(6.6, 3.6))
    _shares(ax, curves)
    ax.set_title("An LSTM forgets, too, unless b is set")
    good, bad = (right[-1] for _, right in curves.values())
    return fig, say(
        "After {n} updates the LSTM with b = 5 tells {good:.0%} of the digits, the one with b = 0 {bad:.0%}; guessing "
        "gives 25 %.",
        n=curves["b = 0"][0][-1],
        good=good,
        bad=bad,
    )


def draw_keeps(sizes, lengths):
    """Slope of the last state by an earlier one, by lag, and the size of the state, by time. {name: (n,)} each."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.7))
    told = []
    for (name, curve), (line, color) in zip(sizes.items(), LOOKS, strict=False):
        left.semilogy(np.arange(len(curve)), curve, line, color=color, label=name)
        right.plot(np.arange(len(curve)), lengths[name], line, color=color, label=name)
        told.append(say("{name}: {s:.0e}", name=name, s=curve[-1]))
    left.axhline(1, color=GREY, linewidth=0.8)
    left.set(
        xlabel="lag, steps back",
        ylabel="size of the slope",
        ylim=(1e-16, 1e8),
        title="Errors fade at k = 0, grow at k = 1",
    )
    right.set(xlabel="steps", ylabel="length of the state", title="At k = 1 the state grows on")
    left.legend(fontsize=9, loc="lower left")
    return fig, say(
        "Slope of the last state by the one {T} steps before. {told:; }.",
        T=len(curve) - 1,
        told=told,
    )


def draw_carousel(f, i, o):
    """Constant gates, drawn as a point of the square, and what they do with a digit and a disturbance."""
    T = 200
    g = np.zeros(T + 1)
    g[1], g[100] = 1.0, -1.0
    c = np.zeros(T + 1)
    for t in range(1, T + 1):
        c[t] = f * c[t - 1] + i * g[t]
    digit = i * f ** (T - 1.0)
    fig, (left, right) = fixed_axes(2, (8.8, 3.7), (0.08, 0.98, 0.16, 0.88), wspace=0.28)
    left.plot(f, i, "s", color=VERMILION, markersize=9)
    left.set(xlim=(-0.05, 1.05), ylim=(-0.05, 1.05), xlabel="forget gate f", ylabel="input gate i")
    left.set_title("Drag the square")
    left.set_gid("gates")
    right.plot(c, color=BLUE, label="stream c")
    right.plot(o * np.tanh(c), "--", color=ORANGE, label="state h = o tanh c")
    right.axhline(0, color=GREY, linewidth=0.8)
    right.set(xlabel="step", ylabel="value", ylim=(-1.1, 1.1))
    right.set_title("A digit at 1, a disturbance at 100")
    right.legend(fontsize=9, loc="upper right")
    return fig, say(
        "f = {f:.2f}, i = {i:.2f}, o = {o:.2f}: at step {T} the stream holds {digit:.2g} of the digit and "
        "{noise:.2g} of the disturbance.",
        f=f,
        i=i,
        o=o,
        T=T,
        digit=digit,
        noise=0.0 - i * f ** (T - 100.0),
    )


def draw_messages(sizes):
    """Slope of the loss by each stream or state, over that by the last. sizes {name: (T,)}."""
    fig, ax = plt.subplots(figsize=(6.8, 3.8))
    told = []
    for (name, curve), (line, color) in zip(sizes.items(), LOOKS, strict=False):
        curve = np.asarray(curve) / curve[-1]
        ax.semilogy(np.arange(len(curve))[::-1], curve, line, color=color, label=name)
        told.append(say("{name}: {first:.0e}", name=name, first=curve[0]))
    ax.axhline(1, color=GREY, linewidth=0.8)
    ax.set(
        xlabel="lag, steps before the end",
        ylabel="slope by that state, over\nslope by the last",
        title="Before any training: who hears the first step?",
        ylim=(1e-50, 1e5),
    )
    ax.legend(fontsize=9, loc="lower left")
    return fig, say(
        "Slope {T} steps before the end, over the slope at the end. {told:; }.",
        T=len(curve) - 1,
        told=told,
    )


def draw_answer(curve, gates, streams, digit):
    """Training of the own LSTM, and its gates and stream over one row: gates (T, 4, H), streams (T, H)."""
    fig, axes = plt.subplots(2, 2, figsize=(7.6, 6.2))
    (learns, stream), (inputs, forgets) = axes
    _shares(learns, {"your LSTM, b = 5": curve})
    learns.legend(fontsize=9, loc="lower right")
    learns.set_title("200 steps: it tells the digit")
    T = len(gates)
    stream.plot(np.arange(1, T + 1), streams, linewidth=1)
    stream.set(
        xlabel="step",
        ylabel="value of the stream",
        title=f"After the digit {digit}: the stream runs",
    )
    for ax, k, name in ((inputs, 0, "input"), (forgets, 1, "forget")):
        image = ax.imshow(
            gates[:, k].T,
            aspect="auto",
            origin="lower",
            cmap="cividis",
            vmin=0,
            vmax=1,
            extent=(0.5, T + 0.5, 0.5, gates.shape[2] + 0.5),
        )
        ax.set(xlabel="step", ylabel="unit", title=f"Its {name} gates")
        ax.grid(False)
        ax.yaxis.get_major_locator().set_params(integer=True)
    fig.colorbar(image, ax=list(axes[1]), label="gate")
    return fig, say(
        "After {n} updates {right:.0%} of the digits are told right. Mean input gate: {first:.2f} at "
        "the digit, {later:.2f} later. Mean forget gate later: {keep:.2f}. "
        "The stream's largest number at the end: {far:.0f}.",
        n=curve[0][-1],
        right=curve[1][-1],
        first=gates[0, 0].mean(),
        later=gates[1:, 0].mean(),
        keep=gates[1:, 1].mean(),
        far=np.abs(streams[-1]).max(),
    )


def draw_cells(curves, weights, update):
    """Kinds of cell by updates, and a GRU's update gates over one row. weights {name: how many}."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.3))
    _shares(left, {f"{name}, {weights[name]} weights": curve for name, curve in curves.items()})
    left.legend(fontsize=9, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.2))
    left.set_title("100 steps: the GRU learns soon")
    image = right.imshow(
        update.T,
        aspect="auto",
        origin="lower",
        cmap="cividis",
        vmin=0,
        vmax=1,
        extent=(0.5, len(update) + 0.5, 0.5, update.shape[1] + 0.5),
    )
    right.set(xlabel="step", ylabel="unit", title="The GRU's update gates: most keep")
    right.grid(False)
    right.yaxis.get_major_locator().set_params(integer=True)
    fig.colorbar(image, cax=right.inset_axes((1.03, 0, 0.05, 1)), label="gate u")
    told = [say("{name}: {s:.0%}", name=name, s=right_[-1]) for name, (_, right_) in curves.items()]
    return fig, say(
        "Told right after {n} updates. {told:; }. The GRU's update gates: {first:.2f} in the mean at the digit, "
        "{later:.2f} later.",
        n=next(iter(curves.values()))[0][-1],
        told=told,
        first=update[0].mean(),
        later=update[1:].mean(),
    )


def draw_reading(text, step, params, order):
    """Forget and input gates of some units over a text that was typed. order: which units, from below."""
    known = [c for c in text.lower() if c in ALPHABET][:64] or [" "]
    gates, _ = gates_over([ALPHABET.index(c) for c in known], step, params)
    fig, axes = plt.subplots(2, 1, figsize=(8.4, 5), sharex=True)
    titles = "Forget gates: the lowest fall at spaces", "Input gates of the same units"
    for ax, k, title in zip(axes, (1, 0), titles, strict=True):
        image = ax.imshow(
            gates[:, k, order].T,
            aspect="auto",
            origin="lower",
            cmap="cividis",
            vmin=0,
            vmax=1,
            extent=(-0.5, len(known) - 0.5, 0.5, len(order) + 0.5),
        )
        ax.set(ylabel="unit", title=title)
        ax.grid(False)
        ax.yaxis.get_major_locator().set_params(integer=True)
        fig.colorbar(image, ax=ax, label="gate")
    shown = [{" ": "␣", "\n": "¶"}.get(c, c) for c in known]
    axes[1].set_xticks(range(len(known)), shown, fontsize=11)
    axes[1].set_xlabel("character that is read")
    spaces = np.array([c == " " for c in known])
    first = gates[:, 1, order[0]]
    told = [
        say("{f:.2f} at {name}", f=first[at].mean(), name=name)
        for at, name in ((spaces, "spaces"), (~spaces, "other characters"))
        if at.any()
    ]
    return fig, say(
        "{n} character{s}. Forget gate of the lowest unit: {told:, }.",
        n=len(known),
        s="s" * (len(known) > 1),
        told=told,
    )


def draw_paths(sizes):
    """How large the slope along each of the paths is. sizes {path: number}."""
    fig, ax = plt.subplots(figsize=(6.6, 3))
    names = list(sizes)
    ax.barh(names, list(sizes.values()), color=[BLACK if n == "sum" else BLUE for n in names])
    ax.invert_yaxis()
    ax.set(xlabel="length of the slope", title="From h₃ to h₁: four paths that partly cancel")
    told = [say("{name}: {s:.2f}", name=name, s=s) for name, s in sizes.items()]
    return fig, say("Length of the slope by path. {told:; }.", told=told)


def draw_sentence(words, steps, scores, targets):
    """What each word added to the stream, and to the scores. steps (T, d), scores (T, K)."""
    fig, axes = plt.subplots(1, 2, figsize=(9.4, 3.6))
    colors = (BLUE, ORANGE, GREEN)
    for ax, parts in zip(axes, (steps, scores), strict=True):
        low, high = np.zeros(parts.shape[1]), np.zeros(parts.shape[1])
        for part, word, color in zip(parts, words, colors, strict=True):
            below = np.where(part < 0, low, high)
            ax.bar(np.arange(len(part)), part, bottom=below, color=color, label=f"by “{word}”")
            low, high = low + np.minimum(part, 0), high + np.maximum(part, 0)
        ax.plot(np.arange(len(low)), parts.sum(0), "D", color=BLACK, markersize=5, label="sum")
        ax.axhline(0, color=GREY, linewidth=0.8)
    axes[0].set(xlabel="unit of the stream", ylabel="value", title="A unit holds all three words")
    axes[1].set(xlabel="next word", ylabel="score", title="Each score is a sum of three votes")
    axes[1].set_xticks(range(len(targets)), [f"“{t}”" for t in targets], fontsize=9)
    axes[0].legend(fontsize=8)
    best = int(scores.sum(0).argmax())
    return fig, say(
        "“{word}” has the highest score, {score:.2f}; “{last}” gave {share:.2f} of it.",
        word=targets[best],
        score=scores.sum(0)[best],
        last=words[-1],
        share=scores[-1, best],
    )


def draw_superposition(d, right, ratios):
    """Cosines of random directions in d dimensions; how much of a sum is read back. right {d: shares by ratio}."""
    fig, (left, more) = plt.subplots(1, 2, figsize=(9.4, 3.6))
    found = cosines(d)
    left.hist(found, bins=np.linspace(-1, 1, 61), color=BLUE)
    for sign in (-1, 1):
        left.axvline(sign / np.sqrt(d), color=VERMILION, linestyle="--")
    left.set(xlabel="cosine of two random directions (dashed: ±1/√d)", ylabel="pairs of 2,000")
    left.set_title(f"{d} dimensions: cosines spread by 1/√d")
    for (dims, shares), (line, color) in zip(right.items(), LOOKS, strict=False):
        more.plot(
            ratios, 100 * np.array(shares), line, color=color, marker="o", label=f"d = {dims}"
        )
    more.set(xlabel="items in the sum, over d", ylabel="read back (%)", ylim=(0, 105))
    more.set_title("One sum holds a fraction of d items")
    more.legend(fontsize=9)
    return fig, say(
        "In {d} dimensions the cosines' standard deviation is {s:.3f}; 1/√d is {r:.3f}.",
        d=d,
        s=found.std(),
        r=d**-0.5,
    )


def draw_work(lengths, last, whole, size):
    """Work for the symbol after n others, and numbers kept. last, whole: as `work` counts. size: of all states."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.6))
    left.loglog(lengths, last, "-o", color=BLUE, label="from the newest states")
    left.loglog(lengths, whole, "--", color=ORANGE, label="by reading all again")
    left.set(xlabel="symbols written before", ylabel="multiplications")
    left.set_title("The next symbol: the same work")
    right.loglog(lengths, [size] * len(lengths), "-o", color=BLUE, label="to write: newest states")
    right.loglog(
        lengths, np.multiply(size, lengths), "--", color=ORANGE, label="to train: all states"
    )
    right.set(xlabel="symbols", ylabel="numbers kept", title="And the same memory")
    for ax in (left, right):
        ax.set_ylim(top=3 * ax.get_ylim()[1])
        ax.legend(fontsize=9, loc="upper left")
    return fig, say(
        "After {n} symbols the next one takes {last:,} multiplications, as the second; reading all again would "
        "take {whole:,}. Kept are {size} numbers; training would keep {all:,}.",
        n=int(lengths[-1]),
        last=int(last[-1]),
        whole=int(whole[-1]),
        size=size,
        all=int(size * lengths[-1]),
    )


@cache
def manual_counts():
    """The words of the manual, and how often each symbol follows “the ” in it -> (set of str, shares (K,))."""
    manual = "".join(ALPHABET[k] for k in kept_text())
    after = np.array([manual[i + 4] for i in range(len(manual) - 4) if manual[i : i + 4] == "the "])
    return set(manual.split()), np.array([np.mean(after == c) for c in ALPHABET])


def draw_writing(T, texts, entropies, surprise, scores):
    """The next letter after “the ” at temperature T, how unsure the letters of a text are, and the text.

    texts, entropies (bits a letter): {T: …}. surprise: bits a letter of the manual. scores (K,): after “the ”.
    """
    known_words, counted = manual_counts()
    p, order = softmax(scores / T), np.argsort(-counted - softmax(scores))[:16]
    fig, (left, right) = fixed_axes(2, (9.4, 3.7), (0.07, 0.98, 0.16, 0.88), wspace=0.25)
    left.bar(np.arange(16), 100 * p[order], color=SKY, label="your network")
    left.plot(100 * counted[order], "D", color=VERMILION, markersize=5, label="the manual, counted")
    left.set_xticks(range(16), [ALPHABET[k] for k in order])
    left.set(xlabel="next letter after “the ”", ylabel="probability (%)")
    left.set_ylim(0, max(30, 120 * p.max()))
    left.set_title("Cold bets on one letter, hot on all")
    left.legend(fontsize=9, loc="upper right")
    right.plot(list(entropies), list(entropies.values()), color=BLUE, label="your text")
    right.plot(T, entropies[round(T, 1)], "o", color=VERMILION, markersize=8)
    right.axhline(surprise, color=GREY, linestyle="--", label="the unread manual")
    right.set(xlabel="temperature T", ylabel="bits a letter", xlim=(0.1, 2.1), ylim=(0, 5.2))
    right.set_title("As unsure as the manual: where?")
    right.legend(fontsize=9, loc="upper left")
    right.set_gid("heat")
    text = texts[round(T, 1)]
    spelled = "".join(ALPHABET[k] for k in text)
    return fig, say(
        "T = {T:.1f}. After “the ” the next letter has {here:.1f} bits (in the manual {there:.1f}). The text has "
        "{mean:.1f} bits a letter; {known:.0%} of its words stand in the manual. It begins: {sample}",
        T=T,
        here=bits(p),
        there=bits(counted),
        mean=entropies[round(T, 1)],
        known=np.mean([word in known_words for word in spelled.split()[:-1]]),
        sample=spelled[:160].replace("\n", "¶"),
    )


def draw_grid(step, words, sizes):
    """A wave over two layers and three words: forward, then back. sizes (2, 3): lengths of the deltas."""
    T = len(words)
    fig, ax = plt.subplots(figsize=(7.6, 3.8), layout="none")
    fig.subplots_adjust(left=0.01, right=0.99, bottom=0.02, top=0.9)
    arrow = dict(arrowstyle="-|>", color="#777777", shrinkA=3, shrinkB=3)
    order = [(layer, t) for t in range(T) for layer in (0, 1)]
    ahead, back = order[: min(step, 2 * T)], order[::-1][: max(step - 2 * T, 0)]
    new = (back or ahead or [None])[-1]
    for layer, t in order:
        color = ORANGE if (layer, t) == new else SKY if (layer, t) in ahead else "#F4F4F4"
        color = "#FFD9A0" if (layer, t) in back and (layer, t) != new else color
        box = dict(boxstyle="round", facecolor=color, edgecolor=BLACK)
        name = f"h{'₁₂₃'[t]} of layer {layer + 1}"
        value = f"\nδ: {sizes[layer, t]:.3f}" if (layer, t) in back else ""
        ax.text(t, layer, name + value, ha="center", va="center", bbox=box, color="black")
        if t:
            ax.annotate("", (t - 0.34, layer), (t - 0.66, layer), arrowprops=arrow)
        ax.annotate("", (t, layer - 0.2), (t, layer - 0.62), arrowprops=arrow)
        if layer == 0:
            ax.text(t, -0.74, f"“{words[t]}”", ha="center")
    stage = "Ready" if new is None else "Back: δ" if back else "Forward: state"
    if new is not None:
        stage += f" of layer {new[0] + 1} at “{words[new[1]]}”"
    ax.set(xlim=(-0.5, T - 0.5), ylim=(-0.9, 1.4), title=stage)
    ax.axis("off")
    if not back:
        return fig, say("{stage}. Step {step} of {last}.", stage=stage, step=step, last=4 * T)
    return fig, say("{stage}, of length {size:.3f}.", stage=stage, size=sizes[new])


def toy_sentence(size=8, seed=1):
    """A memory-stream network after “I love machine”: embeddings (4, size), W, and a read-out R that was fitted.

    R is fitted by gradient descent on the cross-entropy of the next words, given the streams.
    """
    rng = np.random.default_rng(seed)
    E, W = rng.normal(size=(4, size)), rng.normal(size=(size, size)) * 0.3
    R, h, streams = np.zeros((size, 4)), np.zeros(size), []
    for k in range(3):
        h = h + np.tanh(h @ W + E[k])
        streams.append(h)
    H, Y = np.array(streams), np.eye(4)[1:]
    for _ in range(200):
        R -= 0.05 * H.T @ (softmax(H @ R, axis=1) - Y)
    return E, W, R

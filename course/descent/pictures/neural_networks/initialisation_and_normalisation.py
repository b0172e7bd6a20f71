"""Initialisation and normalisation: signals through depth, starts, what a normaliser sees, landscapes."""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.colors import LogNorm
from matplotlib.patheffects import withStroke
from torch.nn import functional as F

from descent import data
from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, VERMILION, fixed_axes
from descent.words import say

COLOURS, STYLES = (BLUE, VERMILION, GREEN, PINK, ORANGE), ("-", "--", "-.", ":", "-")
EPS = 1e-5
ACTS = {
    "ReLU": (lambda s: np.maximum(s, 0), lambda s: (s > 0) * 1.0),
    "tanh": (np.tanh, lambda s: 1 - np.tanh(s) ** 2),
    "linear": (lambda s: s, np.ones_like),
}
NORMS = ("none", "batch", "layer", "RMS")
KINDS = {"batch": (-2, True), "layer": (-1, True), "RMS": (-1, False)}  # axis, centred


def normalised(A: np.ndarray, kind: str, eps: float = EPS):
    """A (…, N, D) under a normaliser without gain and shift, and what it divides by (1 for "none")."""
    if kind == "none":
        return A, 1.0
    axis, centred = KINDS[kind]
    C = A - A.mean(axis, keepdims=True) if centred else A
    s = np.sqrt((C**2).mean(axis, keepdims=True) + eps)
    return C / s, s


def back(G: np.ndarray, Y: np.ndarray, s, kind: str) -> np.ndarray:
    """The gradient in front of a normaliser that made Y and divided by s, from the gradient G behind it."""
    if kind == "none":
        return G
    axis, centred = KINDS[kind]
    dA = G - Y * (G * Y).mean(axis, keepdims=True)
    return (dA - G.mean(axis, keepdims=True) if centred else dA) / s


# ---------------------------------------------------------------- signals through depth

DEPTH, WIDTH, ROWS = 50, 96, 48
FACTORS = np.linspace(1, 5, 17)


@cache
def drawn(seed: int = 0):
    """DEPTH square matrices of variance 1 / (3 width), as torch draws them, a table, and a gradient."""
    rng = np.random.default_rng(seed)
    Ws = rng.normal(0, (1 / (3 * WIDTH)) ** 0.5, (DEPTH, WIDTH, WIDTH))
    return Ws, rng.normal(size=(ROWS, WIDTH)), rng.normal(size=(ROWS, WIDTH))


def through(factor, act: str, norm: str = "none", seed: int = 0):
    """Layers h = φ(norm(h · factor · W)): mean squares (…, DEPTH + 1) and the values of all layers.

    factor: a number or an array of them (…). Returns the mean square of the signal after 0, 1, … layers, of
    the gradient after it has come back through 0, 1, … layers, and the list of layers.
    """
    phi, slope = ACTS[act]
    Ws, h, G = drawn(seed)
    factor = np.asarray(factor, float)[..., None, None]
    h, G = (np.broadcast_to(v, (*factor.shape[:-2], ROWS, WIDTH)) for v in (h, G))
    layers, kept, gradient = [h], [], [np.mean(G**2, (-2, -1))]
    for W in Ws:
        kept.append(normalised(layers[-1] @ W * factor, norm))
        layers.append(phi(kept[-1][0]))
    for W, (Y, s) in zip(Ws[::-1], kept[::-1], strict=True):
        G = back(G * slope(Y), Y, s, norm) @ W.T * factor
        gradient.append(np.mean(G**2, (-2, -1)))
    signal = [np.mean(h**2, (-2, -1)) for h in layers]
    return np.stack(signal, -1), np.stack(gradient, -1), layers


@cache
def sweep(act: str, norm: str):
    """Mean squares of signal and gradient for all FACTORS -> two arrays (17, DEPTH + 1)."""
    return through(FACTORS, act, norm)[:2]


def draw_signals(factor: float, layers: int, act: str, norm: str = "none"):
    """What so many layers make of signal and gradient, for all factors, and the units' values for one."""
    signals, gradients = sweep(act, norm)
    signal, gradient, values = through(factor, act, norm)
    fig, (left, right) = fixed_axes(2, (9, 3.7), (0.09, 0.985, 0.145, 0.9), wspace=0.2)
    for many, one, color, style, look in (  # often in one place: a circle in a hollow square
        (signals, signal, BLUE, "o-", dict(markersize=7)),
        (gradients, gradient, VERMILION, "s--", dict(markersize=12, mfc="none", mew=2)),
    ):
        left.plot(FACTORS, many[:, layers], style[1:], color=color)
        left.plot(factor, one[layers], style[0], color=color, **look)
    left.set(yscale="log", ylim=(1e-42, 1e42), yticks=(1e-30, 1, 1e30), xlim=(0.9, 5.1))
    left.minorticks_off()
    left.set(xlabel="weights: times torch's default", ylabel="mean square", xticks=range(1, 6))
    left.set_title(f"Through {layers} layers: signal {signal[layers]:.1e}", fontsize=11)
    # a legend and tick labels are the dear parts of a picture that is dragged
    left.text(1, 1e34, "● —  signal, forward", color=BLUE, fontsize=9)
    left.text(1, 1e27, "□ - -  gradient, back", color=VERMILION, fontsize=9)
    left.set_gid("factor")
    share, edges = np.histogram(np.clip(values[layers], -3, 3), np.linspace(-3, 3, 42))
    right.stairs(share / share.sum(), edges, fill=True, color=BLUE)
    right.set(xlabel="value of a unit (beyond ±3: at the edge)", ylabel="share", ylim=(0, 1))
    right.set(xticks=(-3, 0, 3), yticks=(0, 0.5, 1))
    right.set_title(f"Layer {layers}, weights times {factor:.2f}", fontsize=11)
    return fig, say(
        "Weights times {factor:.2f}, through {layers} layers: mean square of the signal {signal:.1e}, of the "
        "gradient that comes back {gradient:.1e}. {flat:.0%} of the values lie within 0.01 of 0, {far:.0%} "
        "beyond ±0.99.",
        factor=factor,
        layers=layers,
        signal=float(signal[layers]),
        gradient=float(gradient[layers]),
        flat=float(np.mean(abs(values[layers]) < 0.01)),
        far=float(np.mean(abs(values[layers]) > 0.99)),
    )


def gradient_rates(seeds=range(3)) -> dict[str, float]:
    """Norm -> by what He's start (ReLU) multiplies the gradient's mean square per layer, going back."""
    rates = {}
    for norm in NORMS:
        logs = np.mean([np.log(through(6**0.5, "ReLU", norm, s)[1]) for s in seeds], axis=0)
        rates[norm] = float(np.exp((logs[45] - logs[5]) / 40))
    return rates


def expected(c: float, depth: int = DEPTH) -> float:
    """Share of the mean square that `depth` ReLU layers with weights of variance c / n leave."""
    return (c / 2) ** depth


def xavier_factors(n_in: int, n_out: int) -> tuple[float, float]:
    """By what Xavier's variance multiplies the mean squares of signal and gradient, to two digits."""
    v = 2 / (n_in + n_out)
    return round(n_in * v, 2), round(n_out * v, 2)


# ---------------------------------------------------------------- deep networks that read digits


def raw_digits() -> tuple[np.ndarray, np.ndarray]:
    """The digits as they come: pixels (1797, 64) and labels."""
    table = data.digits()
    return table.X, table.y


@cache
def digits() -> tuple[np.ndarray, np.ndarray]:
    """All 1797 digits, shuffled: pixels (n, 64), centred, overall mean square 1, and labels (n,)."""
    table = data.digits()
    order = np.random.default_rng(14).permutation(len(table.y))
    X = table.X - table.X.mean(0)
    return (X / np.sqrt(np.mean(X**2)))[order], table.y[order]


class Shift:
    """No normaliser, only the bias beta, behind the face of one."""

    def __init__(self, d: int):
        self.gamma, self.beta, self.dgamma = np.ones(d), np.zeros(d), 0.0

    def forward(self, A, train):
        return A + self.beta

    def backward(self, dY):
        self.dbeta = dY.sum(axis=0)
        return dY


def train_deep(Ws, norms, *, rate: float = 0.01, steps: int = 400, seed: int = 0):
    """Layers relu(norm(h W)), the last without both, trained on batches of 64 of 1297 digits.

    norms: an object for each layer but the last, with forward(A, train), backward(dY), gamma, beta, dgamma and
    dbeta. Returns the losses (steps,), inf from where they are no numbers any more, and the share of the 500
    digits kept apart that is read right, in evaluation.
    """
    X, y = digits()
    Ws, bias, losses = list(Ws), np.zeros(10), np.full(steps, np.inf)
    rng = np.random.default_rng(seed)

    def run(h, train):
        H = [h]
        for W, norm in zip(Ws, norms, strict=False):
            H.append(np.maximum(norm.forward(H[-1] @ W, train), 0))
        return H, H[-1] @ Ws[-1] + bias

    with np.errstate(over="ignore", invalid="ignore"):
        for step in range(steps):
            rows = rng.choice(1297, 64, replace=False)
            H, z = run(X[rows], True)
            z = z - z.max(axis=1, keepdims=True)
            log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
            loss = -np.mean(log_p[np.arange(64), y[rows]])
            if not np.isfinite(loss):
                break
            losses[step] = loss
            delta = (np.exp(log_p) - np.eye(10)[y[rows]]) / 64
            G, bias = delta @ Ws[-1].T, bias - rate * delta.sum(axis=0)
            Ws[-1] = Ws[-1] - rate * H[-1].T @ delta
            for i, norm in reversed(list(enumerate(norms))):
                dA = norm.backward(G * (H[i + 1] > 0))
                G = dA @ Ws[i].T
                Ws[i] = Ws[i] - rate * H[i].T @ dA
                norm.gamma = norm.gamma - rate * norm.dgamma
                norm.beta = norm.beta - rate * norm.dbeta
        right = np.mean(run(X[1297:], False)[1].argmax(axis=1) == y[1297:])
    return losses, float(right)


def default_weights(factor: float, depth: int = 20, width: int = 64, seed: int = 1):
    """torch's default for `depth` hidden layers, times factor, and an output layer of variance 1 / width."""
    rng = np.random.default_rng(seed)
    hidden = [
        factor * rng.uniform(-1, 1, (n, width)) / n**0.5 for n in [64] + [width] * (depth - 1)
    ]
    return [*hidden, rng.normal(0, width**-0.5, (width, 10))]


@cache
def first_runs():
    """Twenty plain layers with torch's default weights times 1, √6 and 5 -> name -> (losses, share right)."""
    return {
        name: train_deep(default_weights(factor), [Shift(64) for _ in range(20)])
        for name, factor in (("default", 1.0), ("times 2.45", 6**0.5), ("times 5", 5.0))
    }


def draw_runs(runs: dict[str, tuple[np.ndarray, float]], title: str, every: int = 10):
    """Training losses (means of `every` steps) and the digits read right -> (fig, words)."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), width_ratios=(1.6, 1))
    told, steps = [], max(len(losses) for losses, _ in runs.values())
    for i, (name, (losses, share)) in enumerate(runs.items()):
        means = losses.reshape(-1, every).mean(1)
        shown, at = np.minimum(means, 3.2), every * (np.arange(len(means)) + 0.5)
        look = dict(color=COLOURS[i], linestyle=STYLES[i], marker="osD^v"[i], ms=5)
        left.plot(at, shown, label=name, markevery=(i, 5), **look)
        right.barh(i, share, color=COLOURS[i])
        right.text(share + 0.02, i, f"{share:.2f}", va="center", fontsize=10)
        end = means[-3:].mean()
        state = "blows up" if end > 3 else "learns" if end < 1 else "stays near guessing"
        told.append(say("{name}: {state}", name=name, state=state))
    left.axhline(np.log(10), color=BLACK, linewidth=0.8, zorder=1)
    left.text(steps, np.log(10) + 0.05, "guessing: log 10", ha="right", fontsize=9)
    left.set(xlabel="step", ylabel="training loss (3.2: or more)", ylim=(0, 3.4))
    left.legend(fontsize=9, loc="upper right", bbox_to_anchor=(1, 0.66))  # where no curve runs
    left.set_title(title)
    right.set(yticks=range(len(runs)), yticklabels=list(runs), xlim=(0, 1.2))
    right.set(xlabel="share", xticks=(0, 0.5, 1), title="New digits read right")
    right.invert_yaxis()
    right.grid(axis="y", visible=False)
    return fig, say(
        "{told:; }. The line marks the loss of guessing.", told=[str(one) for one in told]
    )


# ---------------------------------------------------------------- many networks side by side


def start_weights(depth: int = 6, width: int = 32, seed: int = 0) -> list[torch.Tensor]:
    """He weights of `depth` hidden layers on 64 inputs, and an output layer of variance 1 / width."""
    g = torch.Generator().manual_seed(seed)
    sizes = [64, *[width] * depth, 10]
    gains = [2.0] * depth + [1.0]
    return [
        (c / a) ** 0.5 * torch.randn(a, b, generator=g)
        for a, b, c in zip(sizes[:-1], sizes[1:], gains, strict=True)
    ]


def mean_loss(X, y, Ws, bs, norm: str):
    """Mean cross-entropy (…) of stacked networks h = relu(norm(h W) + b), the last layer plain.

    Ws[l] (…, in, out), bs[l] (…, 1, out).
    """
    h = X
    for W, b in zip(Ws[:-1], bs, strict=False):
        s = h @ W
        if norm != "none":
            axis, centred = KINDS[norm]
            s = s - s.mean(axis, keepdim=True) if centred else s
            s = s * torch.rsqrt(s.square().mean(axis, keepdim=True) + EPS)
        h = torch.relu(s + b)
    return -F.log_softmax(h @ Ws[-1] + bs[-1], -1)[..., torch.arange(len(y)), y].mean(-1)


def first_digits(n: int = 300):
    """The first n shuffled digits as tensors: X (n, 64) float32, y (n,)."""
    X, y = digits()
    return torch.tensor(X[:n], dtype=torch.float32), torch.tensor(y[:n])


def train_stack(X, y, scales, rates, norm="none", *, depth=6, width=32, steps=40, seed=0):
    """Networks of every (scale, rate), trained side by side by full-batch gradient descent.

    scale: multiplies the He weights of the hidden layers. -> losses (steps + 1, S, R), and weights (S, R, in, out)
    and biases (S, R, 1, out) of each layer at the end. A network that has blown up stays nan.
    """
    scales, rates = (torch.tensor(v, dtype=torch.float32) for v in (scales, rates))
    S, R = len(scales), len(rates)
    Ws = [
        (W * (scales[:, None, None, None] if i < depth else 1)).expand(S, R, *W.shape).clone()
        for i, W in enumerate(start_weights(depth, width, seed))
    ]
    parameters = Ws + [torch.zeros(S, R, 1, W.shape[-1]) for W in Ws]
    losses = []
    for _ in range(steps + 1):
        for p in parameters:
            p.requires_grad_()
        loss = mean_loss(X, y, parameters[: depth + 1], parameters[depth + 1 :], norm)
        losses.append(loss.detach().double().numpy())
        gradients = torch.autograd.grad(loss.nan_to_num(0, 0, 0).sum(), parameters)
        last = [p.detach().double().numpy() for p in parameters]
        step = rates[None, :, None, None]
        parameters = [(p - step * g).detach() for p, g in zip(parameters, gradients, strict=True)]
    return np.stack(losses), last[: depth + 1], last[depth + 1 :]


def draw_starts(losses: np.ndarray, dead: np.ndarray, names):
    """Loss curves (steps + 1, S) of several starts and the share of dead units (S, depth) early on."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    for i, name in enumerate(names):
        look = dict(color=COLOURS[i], linestyle=STYLES[i], marker="osD^"[i])
        left.plot(np.clip(losses[:, i], 1e-2, 100), label=name, markevery=(4 * i, 12), **look)
        right.plot(np.arange(1, dead.shape[1] + 1), dead[i], **look)
    left.axhline(np.log(10), color=BLACK, linewidth=0.8, zorder=1)
    left.text(len(losses) - 1, np.log(10) * 1.15, "guessing: log 10", ha="right", fontsize=9)
    left.set(xlabel="step", ylabel="mean cross-entropy (100: or more)", yscale="log")
    left.legend(fontsize=9, loc="lower left")
    left.set_title("Only one of three starts learns")
    right.set(xlabel="layer", ylabel="share of dead units", ylim=(-0.03, 1.03))
    right.set_title("Dead units after three steps")
    learns = [bool(end < np.log(10) / 2) for end in losses[-10:].min(0)]
    return fig, say(
        "Starts that learn: {learn:, }. Starts that kill most of their last layer: {kill:, }.",
        learn=[name for name, ok in zip(names, learns, strict=True) if ok] or ["none"],
        kill=[name for name, d in zip(names, dead[:, -1], strict=True) if d > 0.5] or ["none"],
    )


def largest_rate(rates, final) -> np.ndarray:
    """The largest of the rates with a final loss below 1, for every scale (0: none). final (S, R) -> (S,)."""
    return np.array(
        [max([r for r, f in zip(rates, row, strict=True) if f < 1], default=0) for row in final]
    )


def draw_rates(scales, rates, results: dict[str, np.ndarray]):
    """Final losses (S, R) over start scale and learning rate, one panel a normaliser -> (fig, words).

    Crosses: loss above 95 % of guessing, or no number; circles: the largest rate that learns.
    """
    fig, axes = plt.subplots(1, len(results), figsize=(7.4, 3.5), sharey=True)
    told = []
    for ax, (name, final) in zip(np.atleast_1d(axes), results.items(), strict=True):
        shown = np.where(np.isfinite(final), np.minimum(final, 3), np.nan)
        ax.set_facecolor("#BBBBBB")
        picture = ax.imshow(
            shown.T, origin="lower", aspect="auto", vmin=0, vmax=2.6, cmap="cividis_r"
        )
        scale, rate = np.indices(final.shape).astype(float).reshape(2, -1)
        bad = ~(final.ravel() < 0.95 * np.log(10))
        halo = [withStroke(linewidth=3, foreground="white")]  # dark on dark otherwise
        look = dict(color=BLACK, ms=6, linestyle="none", path_effects=halo)
        ax.plot(scale[bad], rate[bad], "x", **look, label="no better than guessing")
        largest = largest_rate(rates, final)
        row = [list(rates).index(r) if r else np.nan for r in largest]
        ax.plot(row, "o:", color=BLACK, mfc="white", ms=8, label="largest rate that learns")
        ax.set_xticks(range(len(scales)), [f"{s:g}" for s in scales], fontsize=9)
        ax.set_yticks(range(len(rates)), [f"{r:g}" for r in rates], fontsize=9)
        ax.set(xlabel="start scale (1: He)")
        ax.set_title(f"{name}: {np.sum(final < 1)} of {final.size} learn", fontsize=10)
        ax.grid(False)
        told.append(f"{name}: {np.sum(final < 1)} of {final.size} pairs of scale and rate learn")
    axes = np.atleast_1d(axes)
    axes[0].set_ylabel("learning rate η")
    handles, labels = axes[0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=9)
    fig.colorbar(picture, ax=axes, label="loss after training", shrink=0.9)
    return fig, say("{told:; }. A cross marks runs that end no better than guessing.", told=told)


# ---------------------------------------------------------------- where a start leads

COPIES = ("all equal", "three pairs", "equal in, random out")


@cache
def copies(name: str, steps: int = 100) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """W (3, 6), b (6,), V (6, 2) of a tanh network before and after training, to nine digits."""
    rng = np.random.default_rng(16)
    X, target = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    W, V, b = rng.normal(size=(3, 6)), rng.normal(size=(6, 2)), np.zeros(6)
    if name == "three pairs":
        W, V = np.tile(W[:, :3], 2), np.tile(V[:3], (2, 1))
    else:
        W = np.full((3, 6), 0.3)
        V = np.full((6, 2), 0.3) if name == "all equal" else V
    found = [(W, b, V)]
    for _ in range(steps):
        H = np.tanh(X @ W + b)
        dY = (H @ V - target) / len(X)
        dS = dY @ V.T * (1 - H**2)
        W, b, V = W - X.T @ dS / 5, b - dS.sum(axis=0) / 5, V - H.T @ dY / 5
    found.append((W, b, V))
    # the last digits of a sum are not the network's
    return [tuple(part.round(9) for part in net) for net in found]


def parted() -> int:
    """Different columns of W after training from equal weights in, random weights out."""
    return len(np.unique(copies("equal in, random out")[1][0], axis=1).T)


def moved_by_zero(act) -> list[bool]:
    """Whether W₁ W₂ W₃ b₁ b₂ b₃ of a 3-4-4-2 network get any gradient where all weights are 0."""
    g = torch.Generator().manual_seed(5)
    sizes = [(3, 4), (4, 4), (4, 2)]
    Ws = [torch.zeros(size, requires_grad=True) for size in sizes]
    bs = [torch.zeros(size[1], requires_grad=True) for size in sizes]
    h, y = torch.randn(20, 3, generator=g), torch.randn(20, 2, generator=g)
    for W, b in zip(Ws[:2], bs[:2], strict=True):
        h = act(h @ W + b)
    ((h @ Ws[2] + bs[2] - y) ** 2).mean().backward()
    return [bool(p.grad.abs().max() > 0) for p in Ws + bs]


def two_weights(w, v) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Loss ½ mean (v tanh(w x) - tanh(1.5 x))² of the smallest network, and its gradient -> (loss, dw, dv)."""
    x = np.linspace(-2, 2, 21)
    t = np.tanh(np.multiply.outer(w, x))
    v = np.asarray(v)[..., None]
    r = v * t - np.tanh(1.5 * x)
    return (r**2).mean(-1) / 2, (r * v * (1 - t**2) * x).mean(-1), (r * t).mean(-1)


@cache
def basins(size: int = 60, extent: float = 2.5, rate: float = 0.2, steps: int = 600):
    """Gradient descent from a grid of starts -> axis (size,), basin (size, size), steps to a loss of 0.001.

    Basin +1: ends near (1.5, 1); -1: near (-1.5, -1); 0: neither within `steps`.
    """
    axis = np.linspace(-extent, extent, size)
    w, v = np.meshgrid(axis, axis)
    needed = np.full(w.shape, steps)
    for step in range(steps):
        loss, dw, dv = two_weights(w, v)
        needed = np.where((loss < 1e-3) & (needed == steps), step, needed)
        w, v = w - rate * dw, v - rate * dv
    return axis, np.where(needed < steps, np.sign(w), 0), needed


def draw_basins():
    """Which minimum a start leads to, and how fast -> (fig, words)."""
    axis, basin, needed = basins()
    fig, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.4))
    box = dict(extent=(axis[0], axis[-1]) * 2, origin="lower", aspect="equal")
    left.imshow(basin, cmap="PuOr", vmin=-1.6, vmax=1.6, **box)
    steps = np.where(basin == 0, np.nan, np.maximum(needed, 5))
    picture = right.imshow(steps, norm=LogNorm(5, 600), **box)
    fig.colorbar(picture, ax=right, label="steps to a loss of 0.001", shrink=0.85)
    for ax in (left, right):
        ax.plot([1.5, -1.5], [1, -1], "*", color="white", mec=BLACK, ms=13)
        ax.plot(0, 0, "X", color="white", mec=BLACK, ms=9)
        ax.set(xlabel="initial w", ylabel="initial v")
        ax.grid(False)
    left.set_title("Two mirror minima (stars)")
    right.set_title("Far out it crawls")
    return fig, say(
        "Starts that reach (1.5, 1): {plus:.0%}; (-1.5, -1): {minus:.0%}; neither in 600 steps: {stuck:.0%}. "
        "The cross marks the saddle at 0.",
        plus=float(np.mean(basin == 1)),
        minus=float(np.mean(basin == -1)),
        stuck=float(np.mean(basin == 0)),
    )


# ---------------------------------------------------------------- what a normaliser sees


def draw_axes():
    """One table of activations under the three normalisers, one group framed -> (fig, words)."""
    rng = np.random.default_rng(6)
    A = rng.normal(size=(8, 6)) * [1, 1, 0.3, 1, 2, 1] + [0, 4, -3, 0, 0, 2]
    A[2] *= 3
    panels = {"as it is (±8)": A / 3.2}
    panels |= {f"{kind} norm (±2.5)": normalised(A, kind)[0] for kind in KINDS}
    fig, axes = plt.subplots(1, 4, figsize=(9.6, 3.4))
    for ax, (name, values) in zip(axes, panels.items(), strict=True):
        ax.imshow(values, cmap="PuOr", vmin=-2.5, vmax=2.5, aspect="auto")
        frame = (1.5, -0.5, 1, 8) if name.startswith("batch") else (-0.5, 1.5, 6, 1)
        if ax is not axes[0]:
            ax.add_patch(plt.Rectangle(frame[:2], *frame[2:], fill=False, ec=BLACK, lw=3))
        ax.set(xlabel="feature", xticks=range(6), yticks=range(8))
        ax.set_title(name, fontsize=11)
        ax.grid(False)
    axes[0].set_ylabel("row of the batch")
    fig.suptitle(
        "Batch norm works down a column, the others along a row",
        x=0.02, ha="left", fontweight="bold",
    )  # fmt: skip
    columns = [float(abs(normalised(A, kind)[0].mean(0)).max()) for kind in NORMS]
    rows = [float(abs(normalised(A, kind)[0].mean(1)).max()) for kind in NORMS]
    return fig, say(
        "Largest mean of a column: {columns[0]:.1f} as it is, then batch {columns[1]:.1f}, layer {columns[2]:.1f}, "
        "RMS {columns[3]:.1f}. Of a row: {rows[0]:.1f}, then {rows[1]:.1f}, {rows[2]:.1f}, {rows[3]:.1f}.",
        columns=columns,
        rows=rows,
    )


def rms(h: np.ndarray) -> np.ndarray:
    """h / √(mean h²) along the last axis."""
    return h / np.sqrt(np.mean(h**2, axis=-1, keepdims=True))


def degrees(u, v) -> float:
    """Angle between two vectors of the plane."""
    return float(np.degrees(np.arctan2(abs(u[0] * v[1] - u[1] * v[0]), u @ v)))


def draw_sphere(x: float, y: float, u: float, v: float):
    """Vectors h = (x, y) and h + noise = (u, v), and where RMS norm (ε = 0) sends both -> (fig, words)."""
    h, noisy = np.array([x, y]), np.array([u, v])
    h, noisy = (p if p.any() else np.array([1e-3, 0.0]) for p in (h, noisy))  # 0 has no image
    others = np.random.default_rng(1).normal(0, 1.2, (14, 2))
    fig, ax = fixed_axes(1, (5.2, 4.8), (0.13, 0.97, 0.11, 0.92))
    turn = np.linspace(0, 2 * np.pi, 100)
    ax.plot(2**0.5 * np.cos(turn), 2**0.5 * np.sin(turn), color=BLACK, linewidth=1)
    grey = dict(color="#8A8A8A", linewidth=0.8, zorder=1)
    ax.plot(*np.stack([others, rms(others)]).T.transpose(0, 2, 1), **grey)  # each along its ray
    ax.plot(*others.T, ".", **grey)
    for p, colour, marker, name in ((h, BLUE, "o", "h"), (noisy, VERMILION, "s", "h + noise")):
        ax.plot([0, p[0]], [0, p[1]], "-" if marker == "o" else "--", color=colour)
        ax.plot(*p, marker, color=colour, ms=20, label=name)  # seen under the handle
        ax.plot(*rms(p), marker, mfc="none", mec=colour, mew=2, ms=12)
    ax.set(xlim=(-3, 3), ylim=(-3, 3), xlabel="h₁", ylabel="h₂", aspect="equal")
    ax.set_title(f"Hollow: after RMS norm, {degrees(h, noisy):.0f}° apart", fontsize=12)
    ax.legend(loc="lower left", fontsize=9, markerscale=0.4)
    ax.set_gid("plane")
    return fig, say(
        "Length of h {length:.2f}, of its image {image:.3f}. Angle between h and h + noise {before:.1f}°, between "
        "their images {after:.1f}°. Distance {far:.2f}, of the images {moved:.2f}. √d/‖h‖ = {gain:.2f}.",
        length=float(np.linalg.norm(h)),
        image=float(np.linalg.norm(rms(h))),
        before=degrees(h, noisy),
        after=degrees(rms(h), rms(noisy)),
        far=float(np.linalg.norm(noisy - h)),
        moved=float(np.linalg.norm(rms(noisy) - rms(h))),
        gain=float(2**0.5 / np.linalg.norm(h)),
    )


# ---------------------------------------------------------------- loss landscapes


def landscape(X, y, log_scales, angles, norm: str, *, depth: int = 6) -> np.ndarray:
    """Loss of networks with hidden weights 10^scale (W₀ cos t + W₁ sin t) -> (S, T). Output layer fixed."""
    W0, W1 = (start_weights(depth, seed=seed) for seed in (0, 1))
    scale = 10 ** torch.tensor(log_scales, dtype=torch.float32)[:, None, None]
    columns = []
    for t in np.radians(angles):
        turned = [
            scale * (a * float(np.cos(t)) + b * float(np.sin(t)))
            for a, b in zip(W0, W1, strict=True)
        ]
        none = [torch.zeros(1, W.shape[1]) for W in W0]
        columns.append(mean_loss(X, y, [*turned[:-1], W0[-1]], none, norm))
    return torch.stack(columns, -1).double().numpy()


@cache
def scale_and_slope() -> dict[float, tuple[float, float]]:
    """W times 1 and ½ -> cosine of the first layer's W and ∇L, and length of ∇L, under RMS norm."""
    X, y = first_digits()
    found = {}
    for scale in (1.0, 0.5):
        Ws = [W.double() * (scale if i < 6 else 1) for i, W in enumerate(start_weights())]
        Ws[0].requires_grad_()
        none = [torch.zeros(1, W.shape[1], dtype=torch.float64) for W in Ws]
        (g,) = torch.autograd.grad(mean_loss(X.double(), y, Ws, none, "RMS"), Ws[0])
        W = Ws[0].detach()
        found[scale] = (W * g).sum().item() / (W.norm() * g.norm()).item(), g.norm().item()
    return found


def draw_landscapes():
    """The loss of a deep network over the scale and the direction of its weights -> (fig, words)."""
    X, y = first_digits()
    log_scales, angles = np.linspace(-0.5, 0.5, 21), np.linspace(0, 360, 37)
    fig, axes = plt.subplots(1, 2, figsize=(7.6, 3.4), sharey=True)
    along = {}
    for ax, norm in zip(axes, ("none", "RMS"), strict=True):
        loss = landscape(X, y, log_scales, angles, norm)
        scale = LogNorm(loss.min(), loss.max()) if norm == "none" else None
        picture = ax.pcolormesh(
            angles, log_scales, loss, norm=scale, shading="nearest", rasterized=True
        )
        fig.colorbar(picture, ax=ax, label="loss")
        along[norm] = float(np.max(loss.max(0) / loss.min(0)))
        ax.set(xlabel="direction of the weights, °", xticks=range(0, 361, 90))
        title = "No norm: a cliff" if norm == "none" else "RMS norm: flat along the scale"
        ax.set_title(title, fontsize=11)
        ax.grid(False)
    axes[0].set_ylabel("log₁₀ scale of the weights")
    return fig, say(
        "Along the scale the loss changes by up to a factor {plain:.0f} without a norm, {rms:.2f} with RMS norm.",
        plain=along["none"],
        rms=along["RMS"],
    )

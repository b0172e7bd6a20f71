"""Initialisation and normalisation: signals through depth, basins, what a normaliser sees, landscapes."""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.colors import LogNorm
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator
from torch.nn import functional as F

from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, fixed_axes

COLOURS = (BLUE, VERMILION, GREEN, PINK, ORANGE, SKY, BLACK)
STYLES = ("-", "--", "-.", ":")
GREY = "#8A8A8A"  # company, not the subject
FLOOR = 1e-40  # what a logarithmic axis shows for 0

# ---------------------------------------------------------------- signals through depth

ACTIVATIONS = {
    "linear": lambda s: s,
    "ReLU": torch.relu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
}
SCHEMES = ("zeros", "all equal", "sd 0.01", "Xavier", "He", "sd 0.5")
NORMS = ("none", "batch", "layer", "RMS")


def weights(scheme: str, n: int, generator: torch.Generator) -> torch.Tensor:
    """A square layer's weights (n, n) for h @ W, float64."""
    if scheme == "all equal":
        return torch.full((n, n), 1 / n, dtype=torch.float64)
    sd = {
        "zeros": 0.0,
        "sd 0.01": 0.01,
        "Xavier": (1 / n) ** 0.5,
        "He": (2 / n) ** 0.5,
        "sd 0.5": 0.5,
    }[scheme]
    return sd * torch.randn(n, n, dtype=torch.float64, generator=generator)


def normalised(S: torch.Tensor, norm: str, eps: float = 1e-5) -> torch.Tensor:
    """S (…, N, D) normalised over rows ("batch") or features ("layer", "RMS"), or as it is ("none")."""
    if norm == "none":
        return S
    dim = -2 if norm == "batch" else -1
    centred = S if norm == "RMS" else S - S.mean(dim, keepdim=True)
    return centred * torch.rsqrt(centred.square().mean(dim, keepdim=True) + eps)


def signals(
    scheme: str,
    activation: str,
    depth: int,
    norm: str = "none",
    *,
    width: int = 96,
    rows: int = 96,
    seed: int = 0,
    factor: float | None = None,
) -> dict:
    """Forward and backward through `depth` layers h = φ(norm(h W)), at the start of training.

    Inputs are standard normal; the gradient by the last layer is drawn standard normal too. factor: weight
    variance factor / width instead of a scheme. -> dict with, per layer 0 … depth, second (E[h²]), variance
    (over everything), gradient (mean square of the gradient by h) and, per layer 1 … depth, values (flattened h),
    flat (share of units whose φ' is below 0.05 on every row: saturated or dead), distinct (units differ).
    """
    generator = torch.Generator().manual_seed(seed)
    h = torch.randn(rows, width, dtype=torch.float64, generator=generator)
    target = torch.randn(rows, width, dtype=torch.float64, generator=generator)
    layers, slopes = [h.requires_grad_()], []
    for _ in range(depth):
        if factor is None:
            W = weights(scheme, width, generator)
        else:
            W = (factor / 2) ** 0.5 * weights("He", width, generator)
        s = normalised(layers[-1] @ W, norm)
        h = ACTIVATIONS[activation](s)
        slopes.append(_slope(s, h, activation).detach())
        layers.append(h)
    gradients = torch.autograd.grad((layers[-1] * target).sum(), layers)
    values = [layer.detach().numpy() for layer in layers]
    return dict(
        second=np.array([np.mean(v**2) for v in values]),
        variance=np.array([np.var(v) for v in values]),
        gradient=np.array([g.square().mean().item() for g in gradients]),
        values=[v.ravel() for v in values[1:]],
        flat=np.array([((d < 0.05).all(0)).double().mean().item() for d in slopes]),
        saturated=np.array([(d < 0.05).double().mean().item() for d in slopes]),
        distinct=bool(
            depth == 0 or np.ptp(values[-1], axis=1).max() > 1e-9 * np.abs(values[-1]).max() > 0
        ),
    )


def _slope(s, h, activation):
    if activation == "ReLU":
        return (s > 0).double()
    if activation == "tanh":
        return 1 - h**2
    if activation == "sigmoid":
        return 4 * h * (1 - h)  # relative to its largest value ¼
    return torch.ones_like(s)


def goals(found: dict, activation: str) -> dict[str, bool]:
    """Which of the four goals of an initialisation a network at its start meets."""
    second, gradient = found["second"], found["gradient"]
    limit = 0.9 if activation == "ReLU" else 0.5  # half of a ReLU's slopes are 0 by design
    share = found["saturated"].max(initial=0)
    return {
        "signal kept": bool(0.01 < second[-1] / second[0] < 100),
        "gradient kept": bool(0.01 < gradient[0] / gradient[-1] < 100),
        "units differ": found["distinct"],
        "not saturated": bool(share < limit),
    }


def draw_signals(scheme: str, activation: str, depth: int, norm: str = "none"):
    """Mean squares of signals and gradients through depth, and the histogram of each layer -> (fig, words)."""
    found = signals(scheme, activation, depth, norm)
    met = goals(found, activation)
    layers = np.arange(depth + 1)
    fig, (left, right) = fixed_axes(2, (9, 3.9), (0.085, 0.98, 0.13, 0.8), wspace=0.24)
    left.plot(
        layers, np.maximum(found["second"], FLOOR), "o-", color=BLUE, ms=3, label="signal, E[h²]"
    )
    left.plot(
        layers,
        np.maximum(found["gradient"], FLOOR),
        "s--",
        color=VERMILION,
        ms=3,
        label="gradient by h",
    )
    left.set(yscale="log", xlabel="layer (0: input)", ylabel="mean square", ylim=_limits(found))
    left.legend(loc="best", fontsize=9)
    left.set_title("Mean squares through depth", fontsize=11)
    edges = np.linspace(-2, 2, 42)
    counts = np.array([np.histogram(np.clip(v, -2, 2), edges)[0] for v in found["values"]])
    shares = counts / counts.sum(1, keepdims=True)
    right.imshow(
        np.sqrt(shares), aspect="auto", extent=(-2, 2, depth + 0.5, 0.5), vmin=0, vmax=1,
        interpolation="nearest",
    )  # fmt: skip
    right.set(xlabel="value of a unit (beyond ±2: at the edge)", ylabel="layer")
    right.set_title("Histogram of each layer (bright: many)", fontsize=11)
    left.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    right.yaxis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))
    right.grid(False)
    line = "    ".join(f"{'✓' if ok else '✗'} {name}" for name, ok in met.items())
    fig.suptitle(line, x=0.085, ha="left", fontsize=12, fontweight="bold", color=BLACK)
    missed = [name for name, ok in met.items() if not ok]
    return fig, (
        f"Mean square of the signal: {found['second'][0]:.2g} at the input, {found['second'][-1]:.1e} after "
        f"{depth} layers. Mean square of the gradient: {found['gradient'][-1]:.2g} at the last layer, "
        f"{found['gradient'][0]:.1e} at the input. Slopes near 0: at most {found['saturated'].max():.0%} of a "
        f"layer. Goals missed: {', '.join(missed) or 'none'}."
    )


def _limits(found):
    everything = np.concatenate([found["second"], found["gradient"]])
    seen = everything[everything > FLOOR]
    low, high = min(seen.min(), 1e-3), max(seen.max(), 1e3)
    return low / 3 if (everything > FLOOR).all() else min(low, 1e-10) / 3, high * 3


def deep_relu(depth: int = 50, width: int = 512, rows: int = 16, seed: int = 5) -> np.ndarray:
    """Mean square signal after 0 … depth ReLU layers with weights of variance 2 / width -> (depth + 1,).

    Variance c / width in place of 2 / width multiplies layer l by exactly (c / 2)^l: a ReLU passes on
    a positive factor unchanged.
    """
    rng = np.random.default_rng(seed)
    h = rng.standard_normal((rows, width))
    second = [np.mean(h**2)]
    for _ in range(depth):
        h = np.maximum(h @ (np.sqrt(2 / width) * rng.standard_normal((width, width))), 0)
        second.append(np.mean(h**2))
    return np.array(second)


def draw_fifty(he: np.ndarray, factors=(1.0, 1.9, 2.0, 1 / 0.341)):
    """The same fifty layers under several weight variances -> (fig, words)."""
    layers = np.arange(len(he))
    fig, ax = plt.subplots(figsize=(7.2, 4))
    ends = []
    for c, colour, style in zip(factors, (VERMILION, PINK, BLUE, GREEN), STYLES, strict=False):
        curve = he * (c / 2) ** layers
        ends.append(curve[-1])
        ax.plot(layers, curve, style, color=colour, label=f"variance {c:.3g}/n")
        place = (6, 2 if c == 2 else -9 if 1 < c < 2 else -4)  # neighbours must not overlap
        text = f"{curve[-1]:.1e}"
        ax.annotate(text, (layers[-1], curve[-1]), place, textcoords="offset points", fontsize=9)
    ax.set(yscale="log", xlabel="layer", ylabel="mean square of a unit", xlim=(0, 57))
    ax.set_title(f"{len(he) - 1} ReLU layers of {512} units forgive no factor")
    ax.legend(loc="lower left", fontsize=9)
    told = "; ".join(
        f"variance {c:.3g}/n ends at {e:.1e}" for c, e in zip(factors, ends, strict=True)
    )
    return (
        fig,
        f"Mean square signal after {len(he) - 1} ReLU layers, starting at {he[0]:.2f}: {told}.",
    )


def draw_ledger(theory: np.ndarray, depth: int):
    """E[h²] and Var[h] through depth, measured and by formula. theory (depth, 2) -> (fig, words)."""
    runs = [signals("He", "ReLU", depth, width=256, rows=32, seed=s) for s in range(6)]
    layers = np.arange(1, depth + 1)
    fig, ax = plt.subplots(figsize=(7.2, 3.8))
    for column, (key, name, colour, marker) in enumerate(
        (
            ("second", "second moment E[h²]", BLUE, "o"),
            ("variance", "variance of h", VERMILION, "s"),
        )
    ):
        ax.plot(
            layers,
            theory[:, column],
            "-" if column == 0 else "--",
            color=colour,
            label=f"{name}, formula",
        )
        measured = np.mean([run[key][1:] for run in runs], 0)
        ax.plot(
            layers, measured, marker, color=colour, mfc="white", ms=5, label=f"{name}, measured"
        )
    measured = np.mean([run["second"] for run in runs], 0)
    ratio = np.mean([run["variance"][1] / run["second"][1] for run in runs])
    ax.set(xlabel="layer", ylabel="per unit", ylim=(0, 2.2))
    ax.set_title("He keeps the second moment; the variance is smaller at once")
    ax.legend(fontsize=9, ncol=2, loc="upper left")
    return fig, (
        f"Second moment by the formula {theory[-1, 0]:.2f} at layer {depth}, measured {measured[-1]:.1f}; "
        f"variance by the formula {theory[-1, 1]:.2f}. Measured ratio of variance to second moment after "
        f"the first layer: {ratio:.2f}."
    )


# ---------------------------------------------------------------- where a start leads


def two_weights(w, v) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Loss ½ mean (v tanh(w x) - tanh(1.5 x))² of the smallest network, and its gradient -> (loss, dw, dv)."""
    x = np.linspace(-2, 2, 21)
    t = np.tanh(np.multiply.outer(w, x))
    r = np.asarray(v)[..., None] * t - np.tanh(1.5 * x)
    return (
        (r**2).mean(-1) / 2,
        (r * np.asarray(v)[..., None] * (1 - t**2) * x).mean(-1),
        (r * t).mean(-1),
    )


def basins(size: int = 60, extent: float = 2.5, rate: float = 0.2, steps: int = 600):
    """Gradient descent from a grid of starts -> axis (size,), basin (size, size) ±1 or 0, steps to a loss of 0.001.

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
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.9))
    box = dict(extent=(axis[0], axis[-1]) * 2, origin="lower", aspect="equal")
    left.imshow(basin, cmap="PuOr", vmin=-1.6, vmax=1.6, **box)
    picture = right.imshow(
        np.where(basin == 0, np.nan, np.maximum(needed, 5)), norm=LogNorm(5, 600), **box
    )
    fig.colorbar(picture, ax=right, label="steps to a loss of 0.001", shrink=0.85)
    for ax in (left, right):
        ax.plot([1.5, -1.5], [1, -1], "*", color="white", mec=BLACK, ms=13)
        ax.plot(0, 0, "X", color="white", mec=BLACK, ms=9)
        ax.set(xlabel="initial w", ylabel="initial v")
        ax.grid(False)
    left.set_title("Two mirror minima (stars)")
    right.set_title("Far out it crawls")
    stuck = np.mean(basin == 0)
    return fig, (
        f"Starts that reach (1.5, 1): {np.mean(basin == 1):.0%}; (-1.5, -1): {np.mean(basin == -1):.0%}; neither "
        f"in 600 steps: {stuck:.0%}. The cross marks the saddle at 0."
    )


# ---------------------------------------------------------------- many networks side by side


def digit_batches(table, n: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The first n digits, each pixel centred, overall mean square 1 -> X (n, 64) float32, y (n,)."""
    X = table.X[:n] - table.X.mean(0)
    X = X / np.sqrt(np.mean(X**2))
    return torch.tensor(X, dtype=torch.float32), torch.tensor(table.y[:n])


def start_weights(depth: int, width: int, seed: int = 0, classes: int = 10) -> list[torch.Tensor]:
    """He weights of `depth` hidden layers on 64 inputs, and an output layer of variance 1 / width."""
    g = torch.Generator().manual_seed(seed)
    sizes = [64, *[width] * depth, classes]
    gains = [2.0] * depth + [1.0]
    return [
        (c / a) ** 0.5 * torch.randn(a, b, generator=g)
        for a, b, c in zip(sizes[:-1], sizes[1:], gains, strict=True)
    ]


def network(X, Ws, biases=None, norm: str = "none", hidden: bool = False):
    """Logits of stacked networks: Ws[l] (…, in, out), biases[l] (…, 1, out). h = relu(norm(h W) + b).

    hidden: the list of hidden layers as well.
    """
    h, seen = X, []
    for layer, W in enumerate(Ws):
        s = h @ W
        last = layer == len(Ws) - 1
        s = s if last else normalised(s, norm)
        s = s if biases is None else s + biases[layer]
        h = s if last else torch.relu(s)
        seen.append(h)
    return (h, seen[:-1]) if hidden else h


def mean_loss(logits, y):
    """Mean cross-entropy of stacked logits (…, n, k) -> (…)."""
    return -F.log_softmax(logits, -1)[..., torch.arange(len(y)), y].mean(-1)


def train_stack(X, y, scales, rates, norm="none", *, depth=6, width=32, steps=40, seed=0):
    """Networks of every (scale, rate), trained side by side by full-batch gradient descent.

    scale: multiplies the He weights of the hidden layers. -> losses (steps + 1, S, R), the hidden layers at
    the end (each (S, R, n, width)). A network that has blown up stays nan.
    """
    scales, rates = (
        torch.tensor(scales, dtype=torch.float32),
        torch.tensor(rates, dtype=torch.float32),
    )
    S, R = len(scales), len(rates)
    factor = scales[:, None, None, None]
    Ws = [
        (W * (factor if layer < depth else 1)).expand(S, R, *W.shape).clone()
        for layer, W in enumerate(start_weights(depth, width, seed))
    ]
    bs = [torch.zeros(S, R, 1, W.shape[-1]) for W in Ws]
    step = rates[None, :, None, None]
    losses = []
    for _ in range(steps):
        parameters = [p.requires_grad_() for p in Ws + bs]
        loss = mean_loss(network(X, Ws, bs, norm), y)
        losses.append(loss.detach())
        gradients = torch.autograd.grad(loss.nan_to_num(0, 0, 0).sum(), parameters)
        moved = [(p - step * g).detach() for p, g in zip(parameters, gradients, strict=True)]
        Ws, bs = moved[: len(Ws)], moved[len(Ws) :]
    with torch.no_grad():
        logits, hidden = network(X, Ws, bs, norm, hidden=True)
        losses.append(mean_loss(logits, y))
    return torch.stack(losses).double().numpy(), [h.double().numpy() for h in hidden]


def draw_starts(losses: np.ndarray, dead: np.ndarray, names):
    """Loss curves of several starts and the share of dead units in each layer at the end -> (fig, words).

    losses (steps + 1, S), dead (S, depth).
    """
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.7))
    for i, name in enumerate(names):
        style = dict(color=COLOURS[i], linestyle=STYLES[i % 4])
        left.plot(
            np.clip(losses[:, i], 1e-3, 100),
            label=name,
            marker="osD^"[i % 4],
            markevery=(4 * i, 12),
            **style,
        )
        right.plot(np.arange(1, dead.shape[1] + 1), dead[i], marker="osD^"[i % 4], **style)
    left.axhline(np.log(10), color=BLACK, linewidth=0.8, zorder=1)
    left.text(len(losses) - 1, np.log(10) * 1.15, "guessing: log 10", ha="right", fontsize=9)
    left.set(xlabel="step", ylabel="mean cross-entropy (100 or more: 100)", yscale="log")
    left.legend(fontsize=9, loc="lower left")
    left.set_title("Only one of three starts learns")
    right.set(xlabel="layer", ylabel="share of dead units", ylim=(-0.03, 1.03))
    right.set_title("Dead units at the end")
    told = "; ".join(
        f"{name}: {'learns' if end < np.log(10) / 2 else 'stays at guessing'}, "
        f"{'nearly all' if d > 0.9 else 'many' if d > 0.3 else 'few'} units of the last layer dead"
        for name, end, d in zip(names, losses[-10:].min(0), dead[:, -1], strict=True)
    )
    return fig, told + "."


def draw_rates(scales, rates, results: dict[str, np.ndarray]):
    """Final losses over start scale and learning rate, one panel a normaliser -> (fig, words).

    results: name -> (S, R), nan where the run blew up. Crosses: loss above 95 % of guessing; circles: the
    largest rate that learns.
    """
    fig, axes = plt.subplots(1, len(results), figsize=(9.4, 3.7), sharey=True)
    told = []
    for ax, (name, final) in zip(np.atleast_1d(axes), results.items(), strict=True):
        shown = np.where(np.isfinite(final), np.minimum(final, 3), np.nan)
        ax.set_facecolor("#BBBBBB")
        picture = ax.imshow(
            shown.T, origin="lower", aspect="auto", vmin=0, vmax=2.6, cmap="cividis_r"
        )
        scale, rate = np.indices(final.shape).astype(float).reshape(2, -1)
        ax.plot(
            scale,
            np.where(final.ravel() < 0.95 * np.log(10), np.nan, rate),
            "x",
            color=BLACK,
            ms=6,
            linestyle="none",
            path_effects=[withStroke(linewidth=3, foreground="white")],  # dark on dark otherwise
            label="no better than guessing",
        )
        largest = largest_rate(rates, final)
        row = [list(rates).index(r) if r else np.nan for r in largest]
        ax.plot(row, "o:", color=BLACK, mfc="white", ms=8, label="largest rate that learns")
        ax.set_xticks(range(len(scales)), [f"{s:g}" for s in scales], fontsize=9)
        ax.set_yticks(range(len(rates)), [f"{r:g}" for r in rates], fontsize=9)
        good = np.sum(final < 1)
        ax.set(xlabel="start scale (1: He)")
        ax.set_title(f"{name}: {good} of {final.size} learn", fontsize=11)
        ax.grid(False)
        told.append(
            f"{name}: {_how_many(good / final.size)} pairs of scale and rate learn, and "
            f"{np.count_nonzero(largest)} of the {len(final)} scales learn at some rate"
        )
    np.atleast_1d(axes)[0].set_ylabel("learning rate η")
    handles, labels = np.atleast_1d(axes)[0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=9)
    fig.colorbar(picture, ax=axes, label="loss after training", shrink=0.9)
    return fig, "; ".join(told) + ". A cross marks runs that end no better than guessing."


def _how_many(share: float) -> str:
    return "most" if share > 0.65 else "about half of the" if share > 0.35 else "few"


def largest_rate(rates, final) -> np.ndarray:
    """The largest of the rates with a final loss below 1, for every scale (0: none). final (S, R) -> (S,)."""
    return np.array(
        [max([r for r, f in zip(rates, row, strict=True) if f < 1], default=0) for row in final]
    )


# ---------------------------------------------------------------- what a normaliser sees


def draw_axes(A: np.ndarray):
    """One table of activations (N, D) under the three normalisers, one group framed -> (fig, words)."""
    N, D = A.shape
    t = torch.from_numpy(A)
    panels = [("as it is (±8)", A, None)]
    panels += [
        (f"{name} (±2.5)", normalised(t, key).numpy(), key)
        for name, key in (("batch norm", "batch"), ("layer norm", "layer"), ("RMS norm", "RMS"))
    ]
    fig, axes = plt.subplots(1, 4, figsize=(9.6, 3.5))
    for ax, (name, values, key) in zip(axes, panels, strict=True):
        shown = np.clip(values, -2.5, 2.5) if key else values
        ax.imshow(
            shown, cmap="PuOr", vmin=-2.5 if key else -8, vmax=2.5 if key else 8, aspect="auto"
        )
        if key == "batch":
            ax.add_patch(plt.Rectangle((1.5, -0.5), 1, N, fill=False, ec=BLACK, lw=3))
        elif key:
            ax.add_patch(plt.Rectangle((-0.5, 1.5), D, 1, fill=False, ec=BLACK, lw=3))
        ax.set(xlabel="feature", xticks=range(D), yticks=range(N))
        ax.set_title(name, fontsize=11)
        ax.grid(False)
    axes[0].set_ylabel("row of the batch")
    fig.suptitle(
        "Batch norm works down a column, the others along a row",
        x=0.02,
        ha="left",
        fontweight="bold",
    )
    means = [np.abs(values.mean(0)).max() for _, values, _ in panels]
    rows = [np.abs(values.mean(1)).max() for _, values, _ in panels]
    return fig, (
        f"Largest mean of a column: {means[0]:.1f} as it is, {means[1]:.1f} after batch norm, {means[2]:.1f} "
        f"after layer norm, {means[3]:.1f} after RMS norm. Largest mean of a row: {rows[0]:.1f}, {rows[1]:.1f}, "
        f"{rows[2]:.1f}, {rows[3]:.1f}."
    )


def rms(h: np.ndarray) -> np.ndarray:
    """h / √(mean h²) along the last axis."""
    return h / np.sqrt(np.mean(h**2, axis=-1, keepdims=True))


def angle_between(u, v) -> float:
    """Angle in degrees."""
    cross = u[0] * v[1] - u[1] * v[0]
    return float(np.degrees(np.arctan2(abs(cross), u @ v)))


def draw_sphere(angle: float, log_length: float, along: float, across: float, flip: bool = False):
    """A vector h in the plane with noise, and what RMS norm makes of both -> (fig, words).

    along, across: noise parallel and perpendicular to h, in units of its own (not of h).
    """
    length = 10.0**log_length
    u = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))]) * (-1 if flip else 1)
    perpendicular = np.array([-u[1], u[0]])
    h = length * u
    noisy = h + along * u + across * perpendicular
    clean, moved = rms(h), rms(noisy)
    turns = np.radians(np.linspace(-105, 190, 14))  # the corner of the legend stays free
    others = np.random.default_rng(1).uniform(0.3, 2.9, 14) * [np.cos(turns), np.sin(turns)]
    others = others.T
    fig, ax = fixed_axes(1, (5.4, 5.0), (0.13, 0.97, 0.11, 0.92))
    turn = np.linspace(0, 2 * np.pi, 200)
    ax.plot(np.sqrt(2) * np.cos(turn), np.sqrt(2) * np.sin(turn), color=BLACK, linewidth=1)
    for v, image in zip(others, rms(others), strict=True):  # many vectors: each goes along its ray
        ax.plot(*np.transpose([v, image]), "-", color=GREY, linewidth=0.8, zorder=1)
    ax.plot(*others.T, ".", color=GREY, ms=5, zorder=1, label="others, and their images")
    ax.plot(*rms(others).T, "+", color=GREY, ms=7, zorder=1)
    for v, colour, style in ((h, BLUE, "-"), (noisy, VERMILION, "--")):
        ax.plot([0, v[0]], [0, v[1]], style, color=colour)
    ax.plot(*h, "o", color=BLUE, ms=8, label="h")
    ax.plot(*noisy, "s", color=VERMILION, ms=7, label="h + noise")
    ax.plot(*clean, "o", mfc="white", mec=BLUE, mew=2, ms=10, label="RMSNorm(h)")
    ax.plot(*moved, "s", mfc="white", mec=VERMILION, mew=2, ms=8, label="RMSNorm(h + noise)")
    ax.set(xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), xlabel="h₁", ylabel="h₂", aspect="equal")
    before, after = angle_between(h, noisy), angle_between(clean, moved)
    ax.set_title(f"Angle error {after:.1f}°, gain {np.sqrt(2) / length:.3g}")
    ax.legend(loc="lower left", fontsize=8, frameon=True)
    return fig, (
        f"Length of h {length:.3g}, of RMSNorm(h) {np.linalg.norm(clean):.3f}. Angle between h and h + noise "
        f"{before:.1f}°, after RMS norm {after:.1f}°. Distance {np.linalg.norm(noisy - h):.3f} before and "
        f"{np.linalg.norm(moved - clean):.3f} after. Jacobian norm √d/‖h‖ = {np.sqrt(2) / length:.3g}."
    )


def draw_jacobian(jacobian: Callable, d: int = 16):
    """Spectral norm of the RMS norm Jacobian along a ray, without and with eps -> (fig, words)."""
    u = np.random.default_rng(0).normal(size=d)
    u /= np.linalg.norm(u)
    lengths = 10.0 ** np.arange(-5, 2.01, 0.5)
    fig, ax = plt.subplots(figsize=(6.6, 3.6))
    told = []
    for eps, colour, style in ((0.0, BLUE, "-"), (1e-5, VERMILION, "--")):
        norms = np.array([np.linalg.norm(jacobian(r * u, eps), 2) for r in lengths])
        ax.loglog(lengths, norms, style, color=colour, marker="o", ms=4, label=f"ε = {eps:g}")
        told.append(f"ε = {eps:g}: {norms[0]:.3g} at length 1e-5, {norms[-1]:.3g} at length 100")
    ax.set(xlabel="length of h", ylabel="largest singular value")
    ax.set_title("Without ε the derivative grows without bound at 0")
    ax.legend()
    return fig, "Norm of the Jacobian. " + "; ".join(told) + "."


# ---------------------------------------------------------------- loss landscapes


def landscape(
    X, y, log_scales, angles, norm: str, *, depth: int = 6, width: int = 32
) -> np.ndarray:
    """Loss of networks with hidden weights 10^scale (W₀ cos t + W₁ sin t) -> (S, T). Output layer fixed."""
    W0, W1 = (start_weights(depth, width, seed) for seed in (0, 1))
    scale = 10 ** torch.tensor(log_scales, dtype=torch.float32)[:, None, None]
    rows = []
    for t in np.radians(angles):
        Ws = [
            scale * (a * float(np.cos(t)) + b * float(np.sin(t)))
            for a, b in zip(W0, W1, strict=True)
        ]
        Ws[-1] = W0[-1]
        with torch.no_grad():
            rows.append(mean_loss(network(X, Ws, None, norm), y))
    return torch.stack(rows, -1).double().numpy()


def draw_landscapes(X, y, norms=("none", "RMS")):
    """The loss of a deep network over the scale and the direction of its weights -> (fig, words)."""
    log_scales, angles = np.linspace(-0.5, 0.5, 21), np.linspace(0, 360, 37)
    fig, axes = plt.subplots(1, len(norms), figsize=(9.4, 3.8), sharey=True)
    told = []
    for ax, norm in zip(axes, norms, strict=True):
        loss = landscape(X, y, log_scales, angles, norm)
        low, high = loss.min(), loss.max()
        picture = ax.pcolormesh(
            angles,
            log_scales,
            loss,
            norm=LogNorm(low, high) if high > 10 * low else None,
            shading="nearest",
            rasterized=True,
        )
        fig.colorbar(picture, ax=ax, label="loss")
        along = np.max(loss.max(0) / loss.min(0))
        ax.set(xlabel="direction of the weights, °", xticks=range(0, 361, 90))
        ax.set_title("No norm: a cliff" if norm == "none" else f"{norm} norm: flat along the scale")
        ax.grid(False)
        told.append(
            f"{'No norm' if norm == 'none' else norm + ' norm'}: loss from {low:.2g} to {high:.2g}; "
            f"along the scale it changes by up to a factor {along:.2g}"
        )
    axes[0].set_ylabel("log₁₀ scale of the weights")
    return fig, ". ".join(told) + "."


# ---------------------------------------------------------------- the closing experiment


def draw_runs(curves: dict[str, np.ndarray], scores: dict[str, float], every: int):
    """Training losses and test accuracies of several normalisers -> (fig, words)."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.7), width_ratios=(1.5, 1))
    for i, (name, curve) in enumerate(curves.items()):
        left.plot(
            every * np.arange(len(curve)),
            curve,
            color=COLOURS[i % 7],
            linestyle=STYLES[i % 4],
            label=name,
        )
    left.axhline(np.log(10), color=BLACK, linewidth=1)
    left.text(every * len(curve), np.log(10) + 0.06, "guessing: log 10", ha="right", fontsize=9)
    left.set(xlabel="step", ylabel="training loss", ylim=(0, 3))
    left.legend(fontsize=9)
    left.set_title("Training on mini-batches")
    names = list(scores)
    right.barh(
        range(len(names)),
        [scores[n] for n in names],
        color=[COLOURS[i % 7] for i in range(len(names))],
    )
    for i, name in enumerate(names):
        right.text(scores[name] + 0.01, i, f"{scores[name]:.2f}", va="center", fontsize=9)
    right.set_yticks(range(len(names)), names)
    right.invert_yaxis()
    right.set(xlabel="accuracy on the test digits", xlim=(0, 1.12))
    right.set_title("Test")
    right.grid(axis="y", visible=False)
    told = "; ".join(
        f"{name}: {'right on most test digits' if value > 0.8 else 'hardly better than guessing'}"
        for name, value in scores.items()
    )
    return fig, f"{told}. The line marks the loss of guessing."

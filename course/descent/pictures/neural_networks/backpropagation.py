"""Backpropagation: graphs with values and slopes, what a gradient costs, finite differences, gradients in depth.

Compute (pure): `gradient_costs`, `two_two_one`, `forward`, `layer_gradients`, … Draw: `draw_…` return (fig, words).
"""

from collections.abc import Callable, Sequence
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import torch
from scipy.special import expit

from descent import data
from descent.plots import BLACK, BLUE, GREEN, ORANGE, VERMILION, fixed_axes
from descent.words import say

GREY = "#808080"  # seen on white and on black
NOTES_W = np.array([0.5, -0.5, 0.3, 0.1, 0.2, -0.1])

ACTIVATIONS: dict[str, tuple[Callable, Callable]] = {
    "identity": (lambda z: z, lambda z: np.ones_like(z)),
    "sigmoid": (expit, lambda z: expit(z) * expit(-z)),
    "tanh": (np.tanh, lambda z: 1 - np.tanh(z) ** 2),
    "relu": (lambda z: np.maximum(z, 0), lambda z: (z > 0) * 1.0),
}


def slope(f: Callable, x, eps=1e-5) -> np.ndarray:
    """Central difference of f at x, entry by entry."""
    return np.asarray((f(x + eps) - f(x - eps)) / (2 * eps))


# ---------------------------------------------------------------- what a gradient costs


def gradient_costs(sizes: Sequence[int]) -> dict[str, int]:
    """Multiplications for one row and the parameter count of a network of these layer sizes.

    forward: matrix times vector in every layer. backprop: forward, an outer product for every layer, δ times W
    for all but the first, and the slopes of the hidden units. nudging: one forward run for each parameter and one more.
    """
    pairs = list(zip(sizes, sizes[1:], strict=False))
    weights = [a * b for a, b in pairs]
    forward, parameters = sum(weights), sum(weights) + sum(sizes[1:])
    return dict(
        parameters=parameters,
        forward=forward,
        backprop=2 * forward + sum(weights[1:]) + sum(sizes[1:-1]),
        nudging=(parameters + 1) * forward,
    )


def mode_ratio(sizes: Sequence[int]) -> float:
    """Multiplications of forward mode over those of reverse mode, for the Jacobian of layers of these sizes."""
    forward = sizes[0] * sum(a * b for a, b in zip(sizes[1:], sizes[2:], strict=False))
    reverse = sizes[-1] * sum(a * b for a, b in zip(sizes, sizes[1:-1], strict=False))
    return forward / reverse


def nearest(options: Sequence[float], value: float) -> int:
    """Index of the option whose ratio to value is nearest to 1."""
    return int(np.argmin(np.abs(np.log(np.array(options) / value))))


def draw_costs(hidden=(4, 8, 16, 32, 64, 128, 256), shown=32):
    """Multiplications for one gradient of the networks 64-h-10, by nudging and by backpropagation."""
    costs = {h: gradient_costs([64, h, 10]) for h in hidden}
    parameters = [c["parameters"] for c in costs.values()]
    fig, ax = plt.subplots()
    for key, label, style, color in (
        ("nudging", "you: nudge every weight", "s--", VERMILION),
        ("backprop", "your friend", "o-", BLUE),
        ("forward", "one forward run", ":", BLACK),
    ):
        ax.plot(parameters, [c[key] for c in costs.values()], style, color=color, label=label)
    one = costs[shown]
    times, runs = one["nudging"] / one["backprop"], one["backprop"] / one["forward"]
    ends = [(one["parameters"], one[key]) for key in ("nudging", "backprop")]
    ax.annotate("", *ends, arrowprops=dict(arrowstyle="<->", color=BLACK))
    middle = np.sqrt(one["nudging"] * one["backprop"])
    ax.text(one["parameters"] * 1.08, middle, f"{times:,.0f} times", va="center")
    ax.set(xscale="log", yscale="log", xlabel="parameters of the network 64-h-10")
    ax.set(ylabel="multiplications for one gradient", title="All slopes for the price of two runs")
    ax.legend()
    return fig, say(
        "A network 64-{shown}-10 has {parameters:,} parameters. Your friend pays as much as {runs:.1f} forward runs "
        "for its gradient; nudging every weight takes {times:,.0f} times that. The gap grows with the parameters.",
        shown=shown,
        parameters=one["parameters"],
        runs=runs,
        times=times,
    )


# ---------------------------------------------------------------- the 2-2-1 network

NODES = {
    "x1": (0, 1), "x2": (0, 0), "z1": (1.15, 1), "z2": (1.15, 0), "h1": (2.05, 1), "h2": (2.05, 0),
    "z3": (3.1, 0.5), "p": (3.85, 0.5), "L": (4.6, 0.5),
}  # fmt: skip
WIRES = {
    "w1": ("x1", "z1", 0.5), "w2": ("x2", "z1", 0.3), "w3": ("x1", "z2", 0.3), "w4": ("x2", "z2", 0.5),
    "w5": ("h1", "z3", 0.56), "w6": ("h2", "z3", 0.42),
}  # fmt: skip
PLAIN = [("z1", "h1"), ("z2", "h2"), ("z3", "p"), ("p", "L")]
# What becomes known at each step: values on the way forward, then slopes on the way back.
STAGES = [
    ["z1", "z2"], ["h1", "h2"], ["z3"], ["p"], ["L"],
    ["dL"], ["dp"], ["dz3"], ["dw5", "dw6", "dh1", "dh2"], ["dz1", "dz2"], ["dw1", "dw2", "dw3", "dw4"],
]  # fmt: skip
_PAPER = dict(facecolor="white", edgecolor="none", pad=0.5, alpha=0.85)
_GRID = np.linspace(-3, 3, 61)


def two_two_one(w, x, y: float, act: str) -> dict[str, float]:
    """Values and slopes ("d" before the name) of every node of the 2-2-1 network."""
    (phi, slope), x = ACTIVATIONS[act], np.asarray(x, float)
    z = np.array([w[0] * x[0] + w[1] * x[1], w[2] * x[0] + w[3] * x[1]])
    h = phi(z)
    z3 = float(w[4] * h[0] + w[5] * h[1])
    p = float(expit(z3))
    dz3 = (p - y) * p * (1 - p)
    dh = dz3 * np.array([w[4], w[5]])
    dz = dh * slope(z)
    names = ["x1", "x2", "z1", "z2", "h1", "h2", "z3", "p", "L"]
    known = dict(zip(names, [*x, *z, *h, z3, p, (p - y) ** 2 / 2], strict=True))
    known |= {f"w{i + 1}": w[i] for i in range(6)}
    backward = [1.0, p - y, dz3, *dh, *dz, *(dz[0] * x), *(dz[1] * x), *(dz3 * h)]
    keys = "dL dp dz3 dh1 dh2 dz1 dz2 dw1 dw2 dw3 dw4 dw5 dw6".split()
    known |= dict(zip(keys, backward, strict=True))
    return {name: float(value) for name, value in known.items()}


def draw_graph(step: int, w1: float, w5: float, act: str):
    """The 2-2-1 network at x = (1, 0), y = 1, filled in step by step, beside L over (w1, w5). -> (fig, words)"""
    w = NOTES_W.copy()
    w[0], w[4] = w1, w5
    known = two_two_one(w, (1.0, 0.0), 1.0, act)
    seen = {"x1", "x2", *(name for stage in STAGES[:step] for name in stage)}
    newest = set(STAGES[step - 1]) if step else set()
    dead = {n for n in ("1", "2") if act == "relu" and f"h{n}" in seen and known[f"z{n}"] <= 0}
    fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4), width_ratios=(2.3, 1), layout="none")
    fig.subplots_adjust(left=0.01, right=0.985, bottom=0.14, top=0.91, wspace=0.13)
    _draw_nodes(left, known, seen, newest, dead)
    left.set_title(_stage_title(step))
    _draw_plane(right, known, act, "dw1" in seen)
    return fig, _graph_words(step, seen, newest, known, dead)


def _draw_nodes(ax, known, seen, newest, dead):
    for name, (one, other, along) in WIRES.items():
        off = one[1] in dead and one[0] == "h" or other[1] in dead and other[0] == "z"
        _wire(ax, NODES[one], NODES[other], off)
        (xa, ya), (xb, yb) = NODES[one], NODES[other]
        x, y = xa + along * (xb - xa), ya + along * (yb - ya)
        text = f"{name} = {known[name]:.2f}".replace("-", "−")
        ax.text(x, y + 0.035, text, ha="center", va="bottom", fontsize=9, bbox=_PAPER)
        if f"d{name}" in seen:
            _slope(ax, x, y - 0.035, known[f"d{name}"], f"d{name}" in newest)
    for one, other in PLAIN:
        _wire(ax, NODES[one], NODES[other], one[1:] in dead)
    for name, (x, y) in NODES.items():
        off = name[1:] in dead and name[0] in "zh"
        color = "#BBBBBB" if off else ORANGE if name in newest else "#F4F4F4"
        ax.plot(x, y, "o", markersize=35, color=color, markeredgecolor=BLACK)
        value = f"{known[name]:.3f}".replace("-", "−") if name in seen else "?"
        ax.text(x, y, value, ha="center", va="center", fontsize=9)
        label = name + (" off" if off else "")
        ax.text(x, y + 0.15, label, ha="center", va="bottom", fontsize=10)
        if f"d{name}" in seen:
            _slope(ax, x, y - 0.15, known[f"d{name}"], f"d{name}" in newest)
    if "dL" in seen:
        note = "blue: the slope of L by the number above it"
        ax.text(4.9, -0.38, note, ha="right", fontsize=9, color=BLUE)
    ax.set(xlim=(-0.35, 4.95), ylim=(-0.42, 1.36))
    ax.axis("off")


def _draw_plane(ax, known, act, told):
    a, b = np.meshgrid(_GRID, _GRID)
    z3 = b * ACTIVATIONS[act][0](a) + NOTES_W[5] * known["h2"]
    levels = ax.contour(a, b, (expit(z3) - 1) ** 2 / 2, 9, colors=GREY, linewidths=1)
    ax.clabel(levels, fontsize=8, fmt="%.2f", colors=BLACK)
    here, down = np.array([known["w1"], known["w5"]]), -np.array([known["dw1"], known["dw5"]])
    if told and down.any():
        tip = here + down / np.linalg.norm(down) * min(1.0, 8 * np.linalg.norm(down))
        ax.annotate("", tip, here, arrowprops=dict(arrowstyle="-|>", color=BLUE, linewidth=2))
    ax.plot(*here, "o", color=VERMILION, markersize=9, markeredgecolor="white")
    ax.set(xlabel="$w_1$", ylabel="$w_5$", xlim=(-3, 3), ylim=(-3, 3))
    ax.set_title("L; arrow: against the slopes" if told else "The loss L", fontsize=11)
    ax.set_gid("plane")


def _wire(ax, start, end, off):
    look = dict(arrowstyle="-|>", color="#CCCCCC" if off else "#777777", shrinkA=18, shrinkB=18)
    ax.annotate("", end, start, arrowprops=look | dict(linestyle=":" if off else "-"))


def _slope(ax, x, y, value, new):
    weight = "bold" if new else "normal"
    look = dict(ha="center", va="top", fontsize=9, color=BLUE, bbox=_PAPER, weight=weight)
    ax.text(x, y, _five(value).replace("-", "−"), **look)


def _five(value):
    """Five digits, and no sign on a zero."""
    return f"{round(value, 5) + 0.0:.5f}"


def _stage_title(step):
    if step == 0:
        return "Only the inputs and the weights are known"
    names = ", ".join(STAGES[step - 1]).replace("d", "∂L/∂")
    return f"{'Forward' if step <= 5 else 'Backward'}: {names}"


def _graph_words(step, seen, newest, known, dead):
    def told(name):
        label = f"∂L/∂{name[1:]}" if name.startswith("d") else name
        return f"{label} = {_five(known[name])}"

    words = say("Step {step} of {steps}.", step=step, steps=len(STAGES))
    if 0 < step < len(STAGES):  # the last step tells all six slopes below
        fresh = [told(name) for name in STAGES[step - 1]]
        words += say(" New: {fresh:, }.", fresh=fresh)
    if "L" in seen:
        words += say(" Loss {L:.5f}.", L=known["L"])
    if step == len(STAGES):
        words += say(
            " Slopes by the weights: {shown:, }.", shown=[told(f"dw{i}") for i in range(1, 7)]
        )
    if dead:
        words += say(
            " Off, so nothing flows back through it: hidden unit {dead:, }.", dead=sorted(dead)
        )
    return words


# ---------------------------------------------------------------- graphs of values


def draw_dag(nodes: dict):
    """The graph of L = θ2 + x3 + θ1 x1 x2. nodes: objects with `data` and `grad` by name. -> (fig, words)"""
    places = {
        "x1": (0, 2), "θ1": (0, 1), "x2": (0, 0), "v3": (1.3, 1), "x3": (1.3, 2), "θ2": (1.3, 0), "v5": (2.6, 1),
    }  # fmt: skip
    edges = [("x1", "v3"), ("x2", "v3"), ("θ1", "v3"), ("v3", "v5"), ("x3", "v5"), ("θ2", "v5")]
    formulas = {"v3": "v3 = θ1 x1 x2", "v5": "v5 = θ2 + v3 + x3"}
    fig, ax = plt.subplots(figsize=(8, 3.9))
    for one, other in edges:
        look = dict(arrowstyle="-|>", color="#777777", shrinkA=20, shrinkB=20)
        ax.annotate("", places[other], places[one], arrowprops=look)
    for name, (x, y) in places.items():
        shape, color = ("s", ORANGE) if name.startswith("θ") else ("o", "#E8E8E8")
        ax.plot(x, y, shape, markersize=34, color=color, markeredgecolor=BLACK)
        value, grad = (f"{v:g}".replace("-", "−") for v in (nodes[name].data, nodes[name].grad))
        ax.text(x, y, value, ha="center", va="center")
        ax.text(x, y + 0.27, formulas.get(name, name), ha="center", va="bottom", fontsize=10)
        ax.text(x, y - 0.27, f"grad {grad}", ha="center", va="top", fontsize=10, color=BLUE)
    ax.set(xlim=(-0.5, 3.1), ylim=(-0.6, 2.55), title="Values go right, grads come back")
    ax.axis("off")
    told = [
        say(
            "{name} = {data:g} with grad {grad:g}",
            name=name,
            data=nodes[name].data,
            grad=nodes[name].grad,
        )
        for name in places
    ]
    return fig, say("Squares are parameters. {told:, }.", told=told)


def behind(result) -> list:
    """All values behind `result`, each after its inputs. Values have a tuple `inputs`."""
    order, seen, stack = [], set(), [(result, False)]
    while stack:
        value, done = stack.pop()
        if done:
            order.append(value)
        elif id(value) not in seen:
            seen.add(id(value))
            stack.append((value, True))
            stack += [(one, False) for one in value.inputs]
    return order


def forward_mode(order: list, leaf) -> tuple[float, int]:
    """Derivative of the last value by one leaf, from the leaf on, and the multiplications by slopes.

    order: values with `inputs` and `slopes`, each after its inputs.
    """
    dot, count = {id(v): 0.0 for v in order} | {id(leaf): 1.0}, 0
    for v in order:
        for one, slope in zip(v.inputs, v.slopes, strict=True):
            dot[id(v)] += slope * dot[id(one)]
            count += 1
    return dot[id(order[-1])], count


# ---------------------------------------------------------------- finite differences

CURVES: dict[str, tuple[Callable, Callable]] = {
    "sin x": (np.sin, np.cos),
    "x³": (lambda x: x**3, lambda x: 3 * x**2),
    "relu x": (lambda x: np.maximum(x, 0), lambda x: (x > 0) * 1.0),
}


def difference_errors(name: str, x: float, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Absolute errors of the one-sided and the central difference at x for each nudge."""
    f, slope = CURVES[name]
    ahead = (f(x + steps) - f(x)) / steps
    central = (f(x + steps) - f(x - steps)) / (2 * steps)
    return abs(ahead - slope(x)), abs(central - slope(x))


def draw_differences(curve: str, x: float, eps: float):
    """Secants and the tangent, and the error of either slope for every nudge. -> (fig, words)"""
    f, slope = CURVES[curve]
    fig, (left, right) = fixed_axes(2, (9, 3.6), (0.07, 0.99, 0.15, 0.91), wspace=0.25)
    at = np.linspace(-2.5, 2.5, 101)
    left.plot(at, f(at), color=BLACK, label=f"f(x) = {curve}")
    for ends, style, color, label in (
        (np.array([x, x + eps]), "s--", VERMILION, "one-sided"),
        (np.array([x - eps, x + eps]), "o-.", BLUE, "central"),
    ):
        low, high = f(ends)
        rise = (high - low) / (ends[1] - ends[0])
        left.plot(at, low + rise * (at - ends[0]), style[1:], color=color, linewidth=1.3)
        left.plot(ends, f(ends), style[0], color=color, label=label)
    kink = curve == "relu x" and abs(x) < 1e-9
    touching = "no tangent: slope taken as 0" if kink else "tangent"
    left.plot(
        at,
        f(x) + slope(x) * (at - x),
        color=GREEN,
        alpha=0.5,
        linewidth=4,
        zorder=0,
        label=touching,
    )
    left.set(
        ylim=(-3, 3),
        xlim=(-2.5, 2.5),
        xlabel="x",
        ylabel="f(x)",
        title=f"Nudge ε = {eps:.0e}",
    )
    left.set_gid("curve")
    left.legend(fontsize=8, loc="upper left")
    steps, floor = 10.0 ** np.linspace(-12, 0, 61), 1e-17
    errors = difference_errors(curve, x, steps)
    here = [float(e[0]) for e in difference_errors(curve, x, np.array([eps]))]
    looks = (("one-sided", "s--", VERMILION), ("central", "o-", BLUE))
    for error, now, (label, style, color) in zip(errors, here, looks, strict=True):
        right.plot(steps, np.maximum(error, floor), style[1:], color=color, label=label)
        right.plot(eps, max(now, floor), style[0], color=color, markersize=8)
    message = "No nudge helps at a kink" if kink else "Not too long, not too short"
    right.set(xscale="log", yscale="log", ylim=(floor, 10), xlabel="nudge ε")
    right.set(ylabel="error of the slope", title=message)
    right.set_gid("nudge")
    right.minorticks_off()
    right.legend(fontsize=9, loc="lower left")
    words = say(
        "f(x) = {curve} at x = {x:g}, nudge {eps:.0e}: the one-sided slope is off by {ahead:.0e}, the central one by "
        "{central:.0e}.",
        curve=curve,
        x=x,
        eps=eps,
        ahead=here[0],
        central=here[1],
    )
    return fig, words + (" ReLU has no derivative here, and no nudge helps." if kink else "")


def doubling_shares(times: int) -> int:
    """Edges behind the last of `times` doublings v + v in a row: a share each."""
    value = SimpleNamespace(inputs=())
    for _ in range(times):
        value = SimpleNamespace(inputs=(value, value))
    return sum(len(v.inputs) for v in behind(value))


def which_formula() -> int:
    """Which of a bᵀ, b aᵀ, (aᵀb) I is the slope of aᵀ X b by X, by nudging each entry."""
    rng = np.random.default_rng(1)
    a, b, X = rng.normal(size=3), rng.normal(size=3), rng.normal(size=(3, 3))
    units = np.eye(9).reshape(9, 3, 3)
    true = [slope(lambda t, E=E: a @ (X + t * E) @ b, 0.0) for E in units]
    formulas = [np.outer(a, b), np.outer(b, a), (a @ b) * np.eye(3)]
    (found,) = (i for i, formula in enumerate(formulas) if np.allclose(true, formula.ravel()))
    return found


# ---------------------------------------------------------------- layers


def forward(Ws, bs, acts: Sequence[str], x) -> tuple[list, list]:
    """z and a of every layer act(W a + b), rows of W a unit each; a[0] is x. acts: names of ACTIVATIONS."""
    zs, layers = [], [x]
    for W, b, act in zip(Ws, bs, acts, strict=True):
        zs.append(W @ layers[-1] + b)
        layers.append(ACTIVATIONS[act][0](zs[-1]))
    return zs, layers


def mixed_network() -> tuple:
    """Weights (units, inputs) and biases of a network 3-4-5-2, an input and a target."""
    rng, sizes = np.random.default_rng(4), [3, 4, 5, 2]
    pairs = list(zip(sizes, sizes[1:], strict=False))
    Ws = [rng.normal(size=(n, d)) / np.sqrt(d) for d, n in pairs]
    bs = [0.1 * rng.normal(size=n) for _, n in pairs]
    return Ws, bs, rng.normal(size=3), rng.normal(size=2)


def torch_layers(sizes: Sequence[int], acts: Sequence[str], seed: int) -> SimpleNamespace:
    """A random network on one example, loss ½ ‖a - y‖², by torch: dicts W, z, deltas, db by layer, from 1."""
    rng = np.random.default_rng(seed)
    h, found = (
        torch.tensor(rng.normal(size=sizes[0])),
        SimpleNamespace(W={}, z={}, deltas={}, db={}),
    )
    functions = dict(tanh=torch.tanh, sigmoid=torch.sigmoid, identity=lambda z: z)
    zs, biases = [], []
    for layer, act in enumerate(acts, 1):
        W = torch.tensor(rng.normal(size=(sizes[layer], sizes[layer - 1])))
        biases.append(torch.tensor(rng.normal(size=sizes[layer]), requires_grad=True))
        zs.append(W @ h + biases[-1])
        h = functions[act](zs[-1])
        found.W[layer], found.z[layer] = W.numpy(), zs[-1].detach().numpy()
    loss = ((h - torch.tensor(rng.normal(size=sizes[-1]))) ** 2).sum() / 2
    grads = [g.numpy() for g in torch.autograd.grad(loss, [*zs, *biases])]
    found.deltas = dict(enumerate(grads[: len(acts)], 1))
    found.db = dict(enumerate(grads[len(acts) :], 1))
    return found


def batch(sizes: Sequence[int], rows: int, seed: int) -> tuple:
    """Weights (inputs, units), biases, rows X and one-hot labels Y of a random network."""
    rng = np.random.default_rng(seed)
    Ws = [rng.normal(size=pair) for pair in zip(sizes, sizes[1:], strict=False)]
    bs = [rng.normal(size=n) for n in sizes[1:]]
    Y = np.eye(sizes[-1])[rng.integers(0, sizes[-1], rows)]
    return Ws, bs, rng.normal(size=(rows, sizes[0])), Y


def torchs(X, Y, Ws, bs) -> list[np.ndarray]:
    """Slopes of the mean cross-entropy of a tanh network by Ws, then by bs, by torch."""
    T = [torch.tensor(v, requires_grad=True) for v in [*Ws, *bs]]
    Ws, bs = T[: len(Ws)], T[len(Ws) :]
    H = torch.tensor(X)
    for W, b in zip(Ws[:-1], bs[:-1], strict=True):
        H = torch.tanh(H @ W + b)
    loss = torch.nn.functional.cross_entropy(H @ Ws[-1] + bs[-1], torch.tensor(Y))
    return [g.numpy() for g in torch.autograd.grad(loss, T)]


def primitives(vjp: Callable) -> dict[str, tuple[Callable, Callable]]:
    """name -> (function of a torch vector (4,), its vector–Jacobian product: numpy v (4,), g -> (4,)).

    vjp(kind, v, g, where): the products of softmax, norm and index.
    """
    A = np.random.default_rng(5).normal(size=(3, 4))
    mask, x = np.array([2.0, 0, 2, 2]), np.array([0.5, -1.5])
    tA, tmask, tx = (torch.tensor(value) for value in (A, mask, x))

    def norm(v):
        return (v - v.mean()) / v.std(correction=0)

    return {
        "linear": (lambda v: tA @ v, lambda v, g: A.T @ g),
        "its weights": (lambda v: v.reshape(2, 2) @ tx, lambda v, g: np.outer(g, x).ravel()),
        "ReLU": (torch.relu, lambda v, g: g * (v > 0)),
        "sigmoid": (torch.sigmoid, lambda v, g: g * expit(v) * expit(-v)),
        "softmax": (lambda v: v.softmax(0), lambda v, g: vjp("softmax", v, g)),
        "norm": (norm, lambda v, g: vjp("norm", v, g)),
        "mean": (torch.mean, lambda v, g: np.full(4, g[0] / 4)),
        "index": (lambda v: v[[2, 0, 2]], lambda v, g: vjp("index", v, g, [2, 0, 2])),
        "transpose": (
            lambda v: v.reshape(2, 2).T.ravel(),
            lambda v, g: g.reshape(2, 2).T.ravel(),
        ),
        "dropout": (lambda v: tmask * v, lambda v, g: mask * g),
        "½ squared loss": (lambda v: 0.5 * v @ v, lambda v, g: g[0] * v),
    }  # fmt: skip


# ---------------------------------------------------------------- depth


def layer_gradients(
    act: str, scale: float, width: int, depth: int, seed=0
) -> tuple[np.ndarray, np.ndarray]:
    """Norms of the gradient of Σ h_L by the z of each layer, and mean slopes of the layers.

    h_l = act(W h_{l-1}); entries of W have standard deviation scale / √width; width 1: W = scale.
    -> two arrays (depth,).
    """
    rng, (phi, slope) = np.random.default_rng(seed), ACTIVATIONS[act]
    h = np.full(width, 0.5) if width == 1 else rng.normal(size=width)
    Ws, slopes = [], []
    for _ in range(depth):
        W = np.ones((1, 1)) if width == 1 else rng.normal(size=(width, width)) / np.sqrt(width)
        Ws.append(scale * W)
        z = Ws[-1] @ h
        slopes.append(slope(z))
        h = phi(z)
    delta, norms = slopes[-1], []
    for layer in range(depth - 1, -1, -1):
        norms.append(np.linalg.norm(delta))
        if layer:
            delta = (Ws[layer].T @ delta) * slopes[layer - 1]
    return np.array(norms[::-1]), np.array([s.mean() for s in slopes])


def draw_depth(act: str, scale: float, width: int, depth=20):
    """Local slopes layer by layer, and the gradient that arrives in each layer. -> (fig, words)"""
    norms, slopes = layer_gradients(act, scale, width, depth)
    layers = np.arange(1, depth + 1)
    fig, (left, right) = fixed_axes(2, (9, 3.5), (0.07, 0.99, 0.15, 0.91), wspace=0.25)
    looks = {"sigmoid": ("s:", ORANGE), "tanh": ("^--", GREEN), "relu": ("o-", BLUE)}
    left.bar(layers, slopes, color=looks[act][1])
    if act == "sigmoid":
        left.axhline(0.25, color=VERMILION, linestyle="--", label="largest slope, 1/4")
        left.legend(fontsize=9)
    left.set(xlabel="layer", ylabel="mean slope of the activation", ylim=(0, 1.05))
    for ax in (left, right):
        ax.set_xlim(0, depth + 1)
    left.set_title(f"Local slopes, {act}")
    for name, (style, color) in looks.items():
        other = layer_gradients(name, scale, width, depth)[0]
        thin, thick = (
            dict(linewidth=1, markersize=3, alpha=0.7),
            dict(linewidth=2.4, markersize=6),
        )
        look = thick if name == act else thin
        right.plot(layers, np.maximum(other, 1e-30), style, color=color, label=name, **look)
    right.set(yscale="log", xlabel="layer", ylabel="norm of the gradient", ylim=(1e-30, 1e16))
    right.legend(fontsize=9)
    ratio = norms[0] / norms[-1] if norms[-1] else 0.0
    lost = "is lost" if ratio == 0 else "vanishes" if ratio < 1e-3 else "survives"
    fate = "explodes" if ratio > 1e3 else lost
    right.set_title(f"Scale {scale:g}: the gradient {fate}".replace("-", "−"))
    return fig, say(
        "{act}, weight scale {scale:g}, width {width}, {depth} layers: the mean slope is {mean:.2f}. The gradient in "
        "layer 1 is {ratio:.0e} times the one in layer {depth}: it {fate}.",
        act=act,
        scale=scale,
        width=width,
        depth=depth,
        mean=slopes.mean(),
        ratio=ratio,
        fate=fate,
    )


def dead_units(biases, rows=200, width=200, d=10, seed=0) -> np.ndarray:
    """Share of ReLU units that are off on every row, for each initial bias. Inputs standard normal."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(rows, d)) @ (rng.normal(size=(d, width)) / np.sqrt(d))
    return np.array([np.mean(np.all(z + b <= 0, axis=0)) for b in biases])


def draw_dead(biases, shares):
    """Share of dead units against the initial bias. -> (fig, words)"""
    fig, ax = plt.subplots(figsize=(6.4, 3.2))
    ax.plot(biases, 100 * shares, "o-", color=BLUE)
    ax.set(
        xlabel="initial bias of every unit", ylabel="units that are never on (%)", ylim=(-3, 103)
    )
    bound = np.max(biases[shares > 0.5])
    ax.set_title(f"From {bound:g} down most units are born dead".replace("-", "−"))
    return fig, say(
        "Share of ReLU units that are off on all rows: more than half from bias {bound:g} down, "
        "{zero:.0%} at bias 0.",
        bound=bound,
        zero=shares[np.argmin(np.abs(biases))],
    )


# ---------------------------------------------------------------- digits


def shuffled_digits(seed=0) -> tuple[np.ndarray, np.ndarray]:
    """Pixels from 0 to 1 (1797, 64) and labels, in random order."""
    digits = data.digits()
    order = np.random.default_rng(seed).permutation(len(digits.y))
    return digits.X[order] / 16, digits.y[order].astype(int)


def he_network(sizes: Sequence[int], seed: int) -> tuple[list, list]:
    """Weights (inputs, units) of standard deviation √(2/inputs), biases 0."""
    rng = np.random.default_rng(seed)
    pairs = list(zip(sizes, sizes[1:], strict=False))
    Ws = [rng.normal(size=(d, n)) * np.sqrt(2 / d) for d, n in pairs]
    return Ws, [np.zeros(n) for n in sizes[1:]]


def draw_training(steps: Sequence[int], right: Sequence[float], sizes=(64, 32, 10)):
    """Digits kept apart that are right, against the multiplications for one image of a batch. -> (fig, words)"""
    cost = gradient_costs(sizes)
    work = np.array(steps) * cost["backprop"]
    fig, ax = plt.subplots()
    ax.plot(work, 100 * np.array(right), "o-", color=BLUE, label="your batches, 1 to 820 steps")
    ax.axvline(
        cost["nudging"], color=VERMILION, linestyle="--", label="nudging: its first step is done"
    )
    ax.set(xscale="log", xlabel="multiplications spent, for each image of a batch")
    ax.set(ylabel="digits kept apart that are right (%)", ylim=(0, 102))
    ax.set_title("Trained before the nudger takes a step")
    ax.legend(loc="upper left", fontsize=9)
    return fig, say(
        "After {steps} steps at least {least} % of the digits kept apart are right, for {share:.2f} of the "
        "multiplications of one nudged step.",
        steps=steps[-1],
        least=5 * int(20 * right[-1]),
        share=work[-1] / cost["nudging"],
    )

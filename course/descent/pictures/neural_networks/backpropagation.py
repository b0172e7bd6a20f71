"""Backpropagation: graphs with values and adjoints, finite differences, gradients through depth."""

from collections.abc import Callable, Sequence

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from descent import data
from descent.plots import BLACK, BLUE, GREEN, ORANGE, VERMILION, fixed_axes

NOTES_W = np.array([0.5, -0.5, 0.3, 0.1, 0.2, -0.1])

ACTIVATIONS: dict[str, tuple[Callable, Callable]] = {
    "identity": (lambda z: z, lambda z: np.ones_like(z)),
    "sigmoid": (expit, lambda z: expit(z) * expit(-z)),
    "tanh": (np.tanh, lambda z: 1 - np.tanh(z) ** 2),
    "relu": (lambda z: np.maximum(z, 0), lambda z: (z > 0) * 1.0),
}

# ---------------------------------------------------------------- what a gradient costs


def gradient_costs(sizes: Sequence[int]) -> dict[str, int]:
    """Multiplications for one row and the parameter count of a network of these layer sizes.

    forward: matrix times vector in every layer. backward: an outer product for every layer, Wᵀ δ for
    all but the first, and the slopes of the hidden units. nudging: one forward pass for each
    parameter and one more.
    """
    pairs = list(zip(sizes, sizes[1:], strict=False))
    weights = [a * b for a, b in pairs]
    forward, parameters = sum(weights), sum(weights) + sum(sizes[1:])
    backward = forward + sum(weights[1:]) + sum(sizes[1:-1])
    return dict(
        parameters=parameters,
        forward=forward,
        backprop=forward + backward,
        nudging=(parameters + 1) * forward,
    )


def draw_costs(hidden=(4, 8, 16, 32, 64, 128, 256), shown=32):
    """Multiplications for one gradient of the networks 64-h-10, by nudging and by backpropagation."""
    costs = {h: gradient_costs([64, h, 10]) for h in hidden}
    parameters = [c["parameters"] for c in costs.values()]
    fig, ax = plt.subplots()
    for name, style, color in (("nudging", "s--", VERMILION), ("backprop", "o-", BLUE)):
        label = "nudge every weight" if name == "nudging" else "backpropagation"
        ax.plot(parameters, [c[name] for c in costs.values()], style, color=color, label=label)
    ax.plot(
        parameters, [c["forward"] for c in costs.values()], ":", color=BLACK, label="forward pass"
    )
    one = costs[shown]
    times, passes = one["nudging"] / one["backprop"], one["backprop"] / one["forward"]
    ax.annotate("", (one["parameters"], one["nudging"]), (one["parameters"], one["backprop"]),
                arrowprops=dict(arrowstyle="<->", color=BLACK))  # fmt: skip
    middle = np.sqrt(one["nudging"] * one["backprop"])
    ax.text(one["parameters"] * 1.08, middle, f"{times:.0f} times", va="center")
    ax.set(xscale="log", yscale="log", xlabel="parameters of the network")
    ax.set(
        ylabel="multiplications for one gradient", title="A gradient for the price of two passes"
    )
    ax.legend()
    return fig, (
        f"A network 64-{shown}-10 has {one['parameters']} parameters. Backpropagation takes as much as "
        f"{passes:.1f} forward passes for its gradient, nudging every weight {times:.0f} times as much "
        "as backpropagation. The gap grows with the number of parameters."
    )


# ---------------------------------------------------------------- finite differences

CURVES: dict[str, tuple[Callable, Callable]] = {
    "sin x": (np.sin, np.cos),
    "x³": (lambda x: x**3, lambda x: 3 * x**2),
    "relu x": (lambda x: np.maximum(x, 0), lambda x: (x > 0) * 1.0),
}


def difference_errors(name: str, x: float, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Absolute errors of the forward and the central difference at x for each step."""
    f, slope = CURVES[name]
    ahead = (f(x + steps) - f(x)) / steps
    central = (f(x + steps) - f(x - steps)) / (2 * steps)
    return abs(ahead - slope(x)), abs(central - slope(x))


def differences_explorer() -> Callable:
    """-> draw(curve, x, log_h): secants and the tangent, and the error of either slope for every step."""

    def draw(curve: str, x: float, log_h: float):
        h, (f, slope) = 10.0**log_h, CURVES[curve]
        fig, (left, right) = fixed_axes(2, (9, 3.6), (0.07, 0.99, 0.15, 0.91), wspace=0.25)
        at = np.linspace(-2.5, 2.5, 201)
        left.plot(at, f(at), color=BLACK, label=f"f(x) = {curve}")
        for ends, style, color, label in (
            ((x, x + h), "s--", VERMILION, "forward"),
            ((x - h, x + h), "o-.", BLUE, "central"),
        ):
            rise = (f(ends[1]) - f(ends[0])) / (ends[1] - ends[0])
            left.plot(at, f(ends[0]) + rise * (at - ends[0]), style[1:], color=color, linewidth=1.3)
            left.plot(ends, f(np.array(ends)), style[0], color=color, label=label)
        kink = curve == "relu x" and abs(x) < 1e-9
        touching = "no tangent: slope taken as 0" if kink else "tangent"
        left.plot(at, f(x) + slope(x) * (at - x), color=GREEN, alpha=0.5, linewidth=4, zorder=0,
                  label=touching)  # fmt: skip
        left.set(ylim=(-3, 3), xlim=(-2.5, 2.5), xlabel="x", ylabel="f(x)")
        left.set_title(f"Step h = {h:.2g}")
        left.legend(fontsize=8, loc="upper left")
        steps = 10.0 ** np.linspace(-12, 0, 61)
        errors = difference_errors(curve, x, steps)
        here = [float(e[0]) for e in difference_errors(curve, x, np.array([h]))]
        floor = 1e-17
        for error, now, style, color, label in zip(
            errors, here, ("--", "-"), (VERMILION, BLUE), ("forward", "central"), strict=True
        ):
            right.plot(steps, np.maximum(error, floor), style, color=color, label=label,
                       zorder=3 if style == "--" else 2)  # fmt: skip
            right.plot(h, max(now, floor), "s" if style == "--" else "o", color=color, markersize=8)
        message = (
            "No step helps at a kink" if errors[1].min() > 0.1 else "Not too long, not too short"
        )
        right.set(xscale="log", yscale="log", ylim=(floor, 10), xlabel="step h")
        right.set(ylabel="error of the slope", title=message)
        right.legend(fontsize=9, loc="lower left")
        return fig, (
            f"f(x) = {curve} at x = {x:g}, step {h:.1e}: the forward difference is off by "
            f"{here[0]:.0e}, the central one by {here[1]:.0e}. "
            + (
                "relu has no derivative here, and no step helps."
                if kink
                else "Theory asks for a central step near 6e-06, the cube root of the rounding error."
            )
        )

    return draw


# ---------------------------------------------------------------- graphs


def draw_dag(values: dict[str, float], adjoints: dict[str, float]):
    """The graph of L = θ2 + x3 + θ1 x1 x2 with a value and an adjoint at each node."""
    places = {
        "x1": (0, 2), "θ1": (0, 1), "x2": (0, 0), "v3": (1.3, 1), "x3": (1.3, 2), "θ2": (1.3, 0), "v5": (2.6, 1),
    }  # fmt: skip
    edges = [("x1", "v3"), ("x2", "v3"), ("θ1", "v3"), ("v3", "v5"), ("x3", "v5"), ("θ2", "v5")]
    formulas = {"v3": "v3 = θ1 v1 v2", "v5": "v5 = θ2 + v3 + v4", "x1": "v1 = x1", "x2": "v2 = x2",
                "x3": "v4 = x3"}  # fmt: skip
    fig, ax = plt.subplots(figsize=(8, 3.9))
    for one, other in edges:
        ax.annotate("", places[other], places[one],
                    arrowprops=dict(arrowstyle="-|>", color="#777777", shrinkA=20, shrinkB=20))  # fmt: skip
    for node, (x, y) in places.items():
        parameter = node.startswith("θ")
        ax.plot(x, y, "s" if parameter else "o", markersize=34, color=ORANGE if parameter else "#E8E8E8",
                markeredgecolor=BLACK)  # fmt: skip
        ax.text(x, y, f"{values[node]:g}".replace("-", "−"), ha="center", va="center")
        ax.text(x, y + 0.27, formulas.get(node, node), ha="center", va="bottom", fontsize=10)
        ax.text(
            x,
            y - 0.27,
            f"adjoint {adjoints[node]:g}".replace("-", "−"),
            ha="center",
            va="top",
            fontsize=10,
            color=BLUE,
        )
    ax.set(xlim=(-0.5, 3.1), ylim=(-0.6, 2.55))
    ax.set_title("Values go right, adjoints come back")
    ax.axis("off")
    told = ", ".join(
        f"{node} = {values[node]:g} with adjoint {adjoints[node]:g}" for node in places
    )
    return fig, f"Squares are parameters. {told}."


NODES = {
    "x1": (0, 1), "x2": (0, 0), "z1": (1.15, 1), "z2": (1.15, 0), "h1": (2.05, 1), "h2": (2.05, 0),
    "z3": (3.1, 0.5), "y": (3.85, 0.5), "L": (4.6, 0.5),
}  # fmt: skip
WIRES = {
    "w1": ("x1", "z1", 0.5), "w2": ("x2", "z1", 0.27), "w3": ("x1", "z2", 0.27), "w4": ("x2", "z2", 0.5),
    "w5": ("h1", "z3", 0.5), "w6": ("h2", "z3", 0.5),
}  # fmt: skip
PLAIN = [("z1", "h1"), ("z2", "h2"), ("z3", "y"), ("y", "L")]
# What becomes known at each step: values on the way forward, then adjoints on the way back.
STAGES = [
    ["z1", "z2"], ["h1", "h2"], ["z3"], ["y"], ["L"],
    ["dL"], ["dy"], ["dz3"], ["dw5", "dw6", "dh1", "dh2"], ["dz1", "dz2"], ["dw1", "dw2", "dw3", "dw4"],
]  # fmt: skip


_PAPER = dict(facecolor="white", edgecolor="none", pad=0.5, alpha=0.85)


def two_two_one(w, x, t: float, act: str) -> dict[str, float]:
    """Values and adjoints ("d" before the name) of every node of the 2-2-1 network."""
    (phi, slope), x = ACTIVATIONS[act], np.asarray(x, float)
    z = np.array([w[0] * x[0] + w[1] * x[1], w[2] * x[0] + w[3] * x[1]])
    h = phi(z)
    z3 = float(w[4] * h[0] + w[5] * h[1])
    y = float(expit(z3))
    dz3 = (y - t) * y * (1 - y)
    dh = dz3 * np.array([w[4], w[5]])
    dz = dh * slope(z)
    names = ["x1", "x2", "z1", "z2", "h1", "h2", "z3", "y", "L"]
    known = dict(zip(names, [*x, *z, *h, z3, y, (y - t) ** 2 / 2], strict=True))
    known |= {f"w{i + 1}": w[i] for i in range(6)}
    backward = [1.0, y - t, dz3, *dh, *dz, *(dz[0] * x), *(dz[1] * x), *(dz3 * h)]
    keys = "dL dy dz3 dh1 dh2 dz1 dz2 dw1 dw2 dw3 dw4 dw5 dw6".split()
    known |= dict(zip(keys, backward, strict=True))
    return {name: float(value) for name, value in known.items()}


def graph_explorer() -> Callable:
    """-> draw(step, w1, …, w6, x1, x2, t, act): the 2-2-1 network, filled in step by step."""

    def draw(step: int, w1, w2, w3, w4, w5, w6, x1, x2, t, act: str):
        known = two_two_one(np.array([w1, w2, w3, w4, w5, w6]), np.array([x1, x2]), t, act)
        seen = {"x1", "x2", *(name for stage in STAGES[:step] for name in stage)}
        newest = set(STAGES[step - 1]) if step else set()
        fig, ax = fixed_axes(1, (9, 3.9), (0.01, 0.99, 0.01, 0.91))
        dead = {n for n in ("1", "2") if act == "relu" and f"h{n}" in seen and known[f"z{n}"] <= 0}
        for name, (one, other, along) in WIRES.items():
            off = one[1] in dead and one[0] == "h" or other[1] in dead and other[0] == "z"
            _wire(ax, NODES[one], NODES[other], off)
            (xa, ya), (xb, yb) = NODES[one], NODES[other]
            x, y = xa + along * (xb - xa), ya + along * (yb - ya)
            text = f"{name} = {known[name]:.2f}".replace("-", "−")
            ax.text(x, y + 0.035, text, ha="center", va="bottom", fontsize=9, bbox=_PAPER)
            if f"d{name}" in seen:
                _adjoint(ax, x, y - 0.035, known[f"d{name}"], f"d{name}" in newest)
        for one, other in PLAIN:
            _wire(ax, NODES[one], NODES[other], one[1:] in dead)
        for name, (x, y) in NODES.items():
            off = name[1:] in dead and name[0] in "zh"
            new = name in newest
            ax.plot(x, y, "o", markersize=38, color="#BBBBBB" if off else "#F4F4F4" if not new else ORANGE,
                    markeredgecolor=BLACK)  # fmt: skip
            value = f"{known[name]:.3f}".replace("-", "−") if name in seen else "?"
            ax.text(x, y, value, ha="center", va="center", fontsize=9)
            ax.text(
                x, y + 0.15, name + (" off" if off else ""), ha="center", va="bottom", fontsize=10
            )
            if f"d{name}" in seen:
                _adjoint(ax, x, y - 0.15, known[f"d{name}"], f"d{name}" in newest)
        if step > 5:
            note = "blue: the slope of L by the number above it"
            ax.text(4.9, -0.38, note, ha="right", fontsize=9, color=BLUE)
        ax.set(xlim=(-0.35, 4.95), ylim=(-0.42, 1.36))
        ax.axis("off")
        ax.set_title(_stage_title(step))
        return fig, _graph_words(step, seen, newest, known, dead)

    return draw


def _wire(ax, start, end, off):
    look = dict(arrowstyle="-|>", color="#CCCCCC" if off else "#777777", shrinkA=19, shrinkB=19)
    ax.annotate("", end, start, arrowprops=look | dict(linestyle=":" if off else "-"))


def _adjoint(ax, x, y, value, new):
    text = f"{value + 0.0:.5f}".replace("-0.00000", "0.00000").replace("-", "−")
    ax.text(x, y, text, ha="center", va="top", fontsize=9, color=BLUE, bbox=_PAPER,
            weight="bold" if new else "normal")  # fmt: skip


def _stage_title(step):
    if step == 0:
        return "Only the inputs and the weights are known"
    names = ", ".join(STAGES[step - 1]).replace("d", "∂L/∂")
    return f"{'Forward' if step <= 5 else 'Backward'}: {names}"


def _graph_words(step, seen, newest, known, dead):
    def told(name):
        label = f"∂L/∂{name[1:]}" if name.startswith("d") else name
        return f"{label} = {known[name]:.5f}".replace("-0.00000", "0.00000")

    order = [name for stage in STAGES for name in stage]
    fresh = ", ".join(told(name) for name in order if name in newest)
    words = f"Step {step} of {len(STAGES)}. " + (f"New: {fresh}. " if fresh else "")
    if "L" in seen:
        words += f"Loss {known['L']:.5f}. "
    if step == len(STAGES):
        words += "Gradient: " + ", ".join(told(f"dw{i}") for i in range(1, 7)) + ". "
    return words + "".join(
        f"Hidden unit {n} is off: nothing flows back through it. " for n in sorted(dead)
    )


def train_221(
    w, x, t: float, eta: float, steps: int, act="sigmoid"
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient descent on the 2-2-1 network -> weights (steps + 1, 6), losses (steps + 1,)."""
    path, losses = [np.asarray(w, float)], []
    for step in range(steps + 1):
        known = two_two_one(path[-1], np.asarray(x, float), t, act)
        losses.append(known["L"])
        if step < steps:
            path.append(path[-1] - eta * np.array([known[f"dw{i}"] for i in range(1, 7)]))
    return np.array(path), np.array(losses)


def descent_explorer(steps=40) -> Callable:
    """-> draw(eta, t, step): loss and weights of the 2-2-1 network from the notes' start, x = (1, 0)."""

    def draw(eta: float, t: float, step: int):
        path, losses = train_221(NOTES_W, (1.0, 0.0), t, eta, steps)
        rises = int(np.sum(np.diff(losses) > 1e-15))
        fig, (left, right) = fixed_axes(2, (9, 3.5), (0.095, 0.91, 0.15, 0.91), wspace=0.3)
        left.plot(losses, color=BLUE)
        left.plot(step, losses[step], "o", color=VERMILION, markersize=9)
        left.set(xlabel="step", ylabel="loss L", ylim=(0, 1.1 * losses.max()))
        left.set_title(
            "The loss falls at every step" if not rises else f"The loss rises {rises} times"
        )
        styles = ["-", "--", "-.", ":", (0, (5, 1)), (0, (1, 2))]
        for i, style in enumerate(styles):
            right.plot(path[:, i], linestyle=style, label=f"w{i + 1}")
        right.axvline(step, color=BLACK, alpha=0.12, linewidth=5)
        right.set(xlabel="step", ylabel="weight", title="w2 and w4 stay: their input is 0")
        right.legend(fontsize=9, loc="center left", bbox_to_anchor=(1, 0.5))
        weights = ", ".join(f"{v:.6f}" for v in path[step])
        return fig, (
            f"η = {eta:g}, target {t:g}. At step {step} the loss is {losses[step]:.6f} "
            f"and the weights are {weights}. The loss rises {rises} times in {steps} steps."
        )

    return draw


def topological(result) -> list:
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


# ---------------------------------------------------------------- layers


def random_network(sizes: Sequence[int], rng, scale=1.0) -> tuple[list, list]:
    """Weights (n_out, n_in) of standard deviation scale / √n_in, and small biases."""
    pairs = list(zip(sizes, sizes[1:], strict=False))
    Ws = [scale * rng.normal(size=(n, d)) / np.sqrt(d) for d, n in pairs]
    return Ws, [0.1 * rng.normal(size=n) for _, n in pairs]


def network_explorer() -> Callable:
    """-> draw(inputs, first, second, outputs, act): activations, shapes and parameters of a network."""

    def draw(inputs: int, first: int, second: int, outputs: int, act: str):
        sizes = [n for n in (inputs, first, second, outputs) if n]
        rng = np.random.default_rng(0)
        Ws, bs = random_network(sizes, rng, 1.5)
        h = [np.resize([1.0, -0.5, 0.8, -1.2], inputs)]
        for W, b in zip(Ws[:-1], bs[:-1], strict=True):
            h.append(ACTIVATIONS[act][0](W @ h[-1] + b))
        h.append(Ws[-1] @ h[-1] + bs[-1])
        counts = [W.size + b.size for W, b in zip(Ws, bs, strict=True)]
        fig, ax = fixed_axes(1, (8.4, 3.8), (0.01, 0.99, 0.01, 0.9))
        spots = [[(2 * layer, (n - 1) / 2 - k) for k in range(n)] for layer, n in enumerate(sizes)]
        for one, other in zip(spots, spots[1:], strict=False):
            segments = np.array([[a, b] for a in one for b in other])
            ax.plot(*segments.transpose(2, 1, 0), color="#BBBBBB", linewidth=0.6, zorder=1)
        for layer, places in enumerate(spots):
            shade = np.clip(np.abs(h[layer]) / 1.5, 0.08, 1)
            for (x, y), value, dark in zip(places, h[layer], shade, strict=True):
                color = plt.cm.Oranges(0.7 * dark) if value > 0 else plt.cm.Blues(0.7 * dark)
                if value == 0:
                    color = "white"
                ax.plot(x, y, "o", markersize=26, color=color, markeredgecolor=BLACK, zorder=2)
                ax.text(
                    x, y, f"{value:.2f}".replace("-", "−"), ha="center", va="center", fontsize=8
                )
        for layer, (W, b) in enumerate(zip(Ws, bs, strict=True)):
            text = f"W {W.shape[0]}×{W.shape[1]}, b {len(b)}\n{W.size} + {b.size} = {counts[layer]}"
            ax.text(2 * layer + 1, 2.5, text, ha="center", va="bottom", fontsize=9)
        ax.set(xlim=(-0.6, 2 * len(sizes) - 1.4), ylim=(-2.9, 3.7))
        ax.axis("off")
        name = "-".join(map(str, sizes))
        ax.set_title(f"{name}: {sum(counts)} parameters")
        zeros = sum(int(np.sum(v == 0)) for v in h[1:-1])
        return fig, (
            f"Network {name} has {' + '.join(map(str, counts))} = {sum(counts)} parameters. "
            f"Output: {', '.join(f'{v:.2f}' for v in h[-1])}. {zeros} hidden units are exactly 0."
        )

    return draw


def backward_pass(Ws, bs, acts: Sequence[str], x, y) -> tuple[list, list]:
    """z and δ of every layer for the loss ½ ‖h - y‖². acts: a name of ACTIVATIONS for each layer."""
    zs, h = [], np.asarray(x, float)
    for W, b, act in zip(Ws, bs, acts, strict=True):
        zs.append(W @ h + b)
        h = ACTIVATIONS[act][0](zs[-1])
    deltas, upstream = [], h - y
    for W, z, act in reversed(list(zip(Ws, zs, acts, strict=True))):
        deltas.insert(0, upstream * ACTIVATIONS[act][1](z))
        upstream = W.T @ deltas[0]
    return zs, deltas


def shapes_explorer() -> Callable:
    """-> draw(convention, units, inputs): the two products of the backward pass, factor by factor."""

    def draw(convention: str, units: int, inputs: int):
        rng = np.random.default_rng(1)
        W = rng.integers(-3, 4, (4, 4))[:units, :inputs]
        delta, h = np.array([2, -1, 3, 1])[:units, None], np.array([1, 2, -2, 3])[:inputs, None]
        if convention == "columns":
            lines = [
                [("Wᵀ", W.T), ("δ", delta), ("∂L/∂h", W.T @ delta)],
                [("δ", delta), ("hᵀ", h.T), ("∂L/∂W", delta @ h.T)],
            ]
        else:
            lines = [
                [("δᵀ", delta.T), ("W", W), ("(∂L/∂h)ᵀ", delta.T @ W)],
                [("h", h), ("δᵀ", delta.T), ("(∂L/∂W)ᵀ", h @ delta.T)],
            ]
        fig, axes = fixed_axes(2, (9, 3.1), (0.01, 0.99, 0.02, 0.88), wspace=0.03)
        titles = "For the layer below", "For the weights"
        for ax, line, title in zip(axes, lines, titles, strict=True):
            x = 0.0
            for (name, matrix), sign in zip(line, ("", "·", "="), strict=True):
                ax.text(x - 0.75, 0, sign, ha="center", va="center", fontsize=15)
                x = _matrix(ax, x, matrix, name, result=sign == "=") + 1.5
            ax.set(xlim=(-0.6, max(x, 12) - 1), ylim=(-2.7, 3.0))
            ax.set_title(title)
            ax.axis("off")
        told = [
            " · ".join(f"{name} ({m.shape[0]}×{m.shape[1]})" for name, m in line[:2])
            + f" = {line[2][0]} ({line[2][1].shape[0]}×{line[2][1].shape[1]})"
            for line in lines
        ]
        slopes = ", ".join(str(v) for v in lines[0][2][1].ravel())
        by_weight = (lines[1][2][1] if convention == "columns" else lines[1][2][1].T).tolist()
        return fig, (
            f"Convention {convention}: {told[0]}; {told[1]}. Slopes by the inputs: {slopes}. "
            f"Slopes by the weights, unit by unit: {by_weight}."
        )

    return draw


def _matrix(ax, x: float, matrix, name: str, result: bool) -> float:
    """Draws a matrix of numbers centred on y = 0 with its left edge at x -> its right edge."""
    rows, columns = matrix.shape
    for i in range(rows):
        for j in range(columns):
            corner = (x + j, rows / 2 - i - 1)
            look = dict(facecolor=ORANGE if result else "#EFEFEF", edgecolor=BLACK, linewidth=0.7)
            ax.add_patch(plt.Rectangle(corner, 1, 1, **look))
            text = str(matrix[i, j]).replace("-", "−")
            ax.text(corner[0] + 0.5, corner[1] + 0.5, text, ha="center", va="center", fontsize=9)
    ax.text(
        x + columns / 2,
        rows / 2 + 0.15,
        f"{name}\n{rows}×{columns}",
        ha="center",
        va="bottom",
        fontsize=9,
    )
    return x + columns


def draw_deltas(deltas: Sequence[np.ndarray], name: str):
    """Heat map of |δ| of each unit (columns) in each layer (rows), a mean over a batch."""
    width = max(len(d) for d in deltas)
    table = np.full((len(deltas), width), np.nan)
    for row, d in enumerate(deltas):
        table[row, : len(d)] = d
    fig, ax = plt.subplots(figsize=(7.4, 2.9))
    picture = ax.imshow(np.log10(np.maximum(table, 1e-12)), aspect="auto", cmap="cividis")
    fig.colorbar(picture, label="log10 of the mean |δ|")
    ax.set(xlabel="unit", ylabel="layer", yticks=range(len(deltas)), xticks=range(0, width, 5))
    ax.set_yticklabels([str(k + 1) for k in range(len(deltas))])
    ax.grid(False)
    means = [float(d.mean()) for d in deltas]
    ratio = means[-1] / means[0]
    ax.set_title(f"{name}: the signal is {ratio:.0f} times weaker in layer 1")
    return fig, (
        f"Mean size of δ by layer, from the first: {', '.join(f'{m:.1e}' for m in means)}. "
        f"The last is {ratio:.0f} times the first."
    )


# ---------------------------------------------------------------- depth


def layer_gradients(
    act: str, scale: float, width: int, depth: int, seed=0
) -> tuple[np.ndarray, ...]:
    """Norms of the gradient of Σ h_L by the z of each layer, and mean slopes of the layers.

    h_l = act(W h_{l-1}); entries of W have standard deviation scale / √width; width 1: W = scale.
    -> two arrays (depth,).
    """
    rng, (phi, slope) = np.random.default_rng(seed), ACTIVATIONS[act]
    h = np.full(width, 0.5) if width == 1 else rng.normal(size=width)
    Ws, slopes = [], []
    for _ in range(depth):
        W = (
            np.full((1, 1), scale)
            if width == 1
            else rng.normal(size=(width, width)) / np.sqrt(width) * scale
        )
        z = W @ h
        Ws.append(W)
        slopes.append(slope(z))
        h = phi(z)
    delta, norms = slopes[-1], []
    for layer in range(depth - 1, -1, -1):
        norms.append(np.linalg.norm(delta))
        if layer:
            delta = (Ws[layer].T @ delta) * slopes[layer - 1]
    return np.array(norms[::-1]), np.array([s.mean() for s in slopes])


def depth_explorer(depth=20) -> Callable:
    """-> draw(act, scale, width): local slopes layer by layer, and the gradient that arrives in each layer."""

    def draw(act: str, scale: float, width: int):
        norms, slopes = layer_gradients(act, scale, width, depth)
        layers = np.arange(1, depth + 1)
        fig, (left, right) = fixed_axes(2, (9, 3.5), (0.07, 0.99, 0.15, 0.91), wspace=0.25)
        left.bar(layers, slopes, color=BLUE)
        if act == "sigmoid":
            left.axhline(0.25, color=VERMILION, linestyle="--", label="largest slope, 1/4")
            left.legend(fontsize=9)
        left.set(xlabel="layer", ylabel="mean slope of the activation", ylim=(0, 1.05))
        left.set_title(f"Local slopes, {act}")
        for name, style, color in (
            ("sigmoid", "s:", ORANGE),
            ("tanh", "^--", GREEN),
            ("relu", "o-", BLUE),
        ):
            other = layer_gradients(name, scale, width, depth)[0]
            look = (
                dict(linewidth=2.4, markersize=6)
                if name == act
                else dict(linewidth=1, markersize=3, alpha=0.7)
            )
            right.plot(layers, np.maximum(other, 1e-30), style, color=color, label=name, **look)
        right.set(yscale="log", xlabel="layer", ylabel="norm of the gradient", ylim=(1e-30, 1e16))
        right.legend(fontsize=9)
        ratio = norms[0] / norms[-1] if norms[-1] else 0.0
        what = (
            "is lost"
            if ratio == 0
            else "vanishes"
            if ratio < 1e-3
            else "explodes"
            if ratio > 1e3
            else "survives"
        )
        right.set_title(f"Scale {scale:g}: the gradient {what}".replace("-", "−"))
        return fig, (
            f"{act}, weight scale {scale:g}, width {width}, {depth} layers: the mean slope is "
            f"{slopes.mean():.2f}. The gradient in layer 1 is {ratio:.0e} times the one in layer {depth}: it {what}."
        )

    return draw


def dead_units(biases, rows=200, width=200, d=10, seed=0) -> np.ndarray:
    """Share of relu units that are off on every row, for each initial bias. Inputs standard normal."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(rows, d)) @ (rng.normal(size=(d, width)) / np.sqrt(d))
    return np.array([np.mean(np.all(z + b <= 0, axis=0)) for b in biases])


def draw_dead(biases, shares):
    """Share of dead units against the initial bias."""
    fig, ax = plt.subplots(figsize=(6.4, 3.2))
    ax.plot(biases, 100 * shares, "o-", color=BLUE)
    ax.set(
        xlabel="initial bias of every unit", ylabel="units that are never on (%)", ylim=(-3, 103)
    )
    bound = f"{np.max(biases[shares > 0.5]):g}".replace("-", "−")
    ax.set_title(f"From {bound} down most units are born dead")
    told = ", ".join(f"bias {b:g}: {s:.0%}" for b, s in zip(biases, shares, strict=True))
    return fig, f"Share of relu units that are off on all 200 rows. {told}."


# ---------------------------------------------------------------- digits


def pooled(images: np.ndarray) -> np.ndarray:
    """8×8 images (n, 64) -> means of 2×2 pixels (n, 16), from 0 to 1."""
    return images.reshape(-1, 4, 2, 4, 2).mean((2, 4)).reshape(-1, 16) / 16


def shuffled_digits(seed=0, train=1297) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pixels from 0 to 1 (1797, 64), pooled pixels standardised by the first `train` rows (1797, 16), labels."""
    digits = data.digits()
    order = np.random.default_rng(seed).permutation(len(digits.y))
    small = pooled(digits.X[order])
    small = (small - small[:train].mean(0)) / small[:train].std(0)
    return digits.X[order] / 16, small, digits.y[order].astype(int)


def with_one(rows: np.ndarray) -> np.ndarray:
    """A last column of ones, for the biases. (n, d) -> (n, d + 1)"""
    return np.column_stack([rows, np.ones(len(rows))])


def draw_learning(curves: dict[str, tuple], title: str):
    """Held-out accuracy of each network against the images it has seen. curves: name -> (seen, accuracy)."""
    fig, ax = plt.subplots()
    looks = zip(("o-", "s--"), (BLUE, VERMILION), strict=True)
    for (name, (seen, accuracy)), (style, color) in zip(curves.items(), looks, strict=False):
        ax.plot(seen, 100 * np.array(accuracy), style, color=color, label=name, markersize=4)
    ax.set(
        xscale="log", xlabel="1 + images seen (with repetition)", ylabel="held-out digits right (%)"
    )
    ax.set(ylim=(0, 102), title=title)
    ax.legend(loc="lower right")
    told = "; ".join(
        f"{name} gets at least {5 * int(20 * accuracy[-1])} % of the held-out digits right"
        for name, (_, accuracy) in curves.items()
    )
    return fig, f"At the end: {told}."

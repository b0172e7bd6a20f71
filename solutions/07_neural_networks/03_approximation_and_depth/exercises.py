"""Exercises of 07_neural_networks/03_approximation_and_depth."""

import math

import numpy as np
import torch

from descent.compare import close, exact
from solutions.spec import Exercise

from . import reference

# ---------------------------------------------------------------- affine upon affine

collapse = Exercise(
    "collapse",
    reference=reference.collapse,
    compare=close(rtol=1e-6, atol=1e-9),
    hints=[
        "Write out two layers: W2 (W1 x + b1) + b2. What multiplies x, and what does not?",
        "Keep a running pair (W, b). What happens to both of them when one more layer comes on top?",
        "Start with the first layer. For each further layer (V, c): W becomes V @ W, b becomes V @ b + c.",
    ],
)


@collapse.cases
def _(rng):
    yield "two layers", _stack(rng, 2, 3, 2)
    yield "five layers", _stack(rng, 2, 4, 3, 4, 2, 1)
    yield "a single layer", _stack(rng, 3, 2)
    narrow = _stack(rng, 3, 1, 3)
    yield "a layer of one unit", narrow
    dead = _stack(rng, 2, 3, 2)
    dead["Ws"][1] = np.zeros((2, 3))
    yield "a layer of zeros", dead


def _stack(rng, *sizes):
    pairs = list(zip(sizes, sizes[1:], strict=False))
    signs = [np.where(rng.random(n) < 0.5, -1, 1) for _, n in pairs]
    return dict(
        Ws=[rng.uniform(0.5, 2, (n, m)) for m, n in pairs],
        bs=[s * rng.uniform(1, 3, n) for s, (_, n) in zip(signs, pairs, strict=True)],
    )


def _product(Ws):
    W = Ws[0]
    for V in Ws[1:]:
        W = V @ W
    return W


@collapse.wrong(
    "only the last bias is kept",
    advice="Send x = 0 through the layers by hand. Is what comes out the last bias alone?",
)
def _(Ws, bs):
    return _product(Ws), bs[-1]


@collapse.wrong(
    "the biases are forgotten",
    advice="Send x = 0 through the layers by hand. Does 0 come out?",
)
def _(Ws, bs):
    return _product(Ws), np.zeros(len(bs[-1]))


@collapse.wrong(
    "each bias passes the next layer only",
    advice="With five layers the first bias meets four matrices. How many does it meet in your formula?",
)
def _(Ws, bs):
    return _product(Ws), bs[-1] + (Ws[-1] @ bs[-2] if len(bs) > 1 else 0)


@collapse.wrong(
    "only the first bias is carried along",
    advice="Each layer adds a bias of its own. Did you add that of the later layers?",
)
def _(Ws, bs):
    W, b = Ws[0], bs[0]
    for V in Ws[1:]:
        W, b = V @ W, V @ b
    return W, b


@collapse.wrong(
    "only the first two layers",
    advice="A stack may have any number of layers, one included. What becomes of the third?",
)
def _(Ws, bs):
    return (Ws[0], bs[0]) if len(Ws) == 1 else (Ws[1] @ Ws[0], Ws[1] @ bs[0] + bs[1])


@collapse.right("from the last layer down")
def _(Ws, bs):
    W, b = Ws[-1], bs[-1]
    for V, c in zip(Ws[-2::-1], bs[-2::-1], strict=True):
        W, b = W @ V, W @ c + b
    return W, b


@collapse.right("homogeneous coordinates, as lists")
def _(Ws, bs):
    M = np.eye(Ws[0].shape[1] + 1)
    for W, b in zip(Ws, bs, strict=True):
        n, m = W.shape
        top = np.hstack([W, b[:, None]])
        M = np.vstack([top, np.eye(1, m + 1, m)]) @ M
    return M[:-1, :-1].tolist(), M[:-1, -1].tolist()


@collapse.right("single precision")
def _(Ws, bs):
    W, b = Ws[0].astype(np.float32), bs[0].astype(np.float32)
    for V, c in zip(Ws[1:], bs[1:], strict=True):
        W, b = V.astype(np.float32) @ W, V.astype(np.float32) @ b + c.astype(np.float32)
    return W, b


# ---------------------------------------------------------------- activations

activation = Exercise(
    "activation",
    reference=reference.activation,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("z",),
    hints=[
        "Each slope can be written with the value: of the sigmoid, p (1 - p); of tanh, 1 - t². What is that of ELU for z < 0?",
        "np.where computes both branches, so exp of a large positive z overflows in the branch that you throw away. "
        "Give exp only min(z, 0).",
        "elu: low = np.minimum(z, 0); value np.where(z > 0, z, np.expm1(low)), slope np.exp(low). sigmoid: e = np.exp(-abs(z)).",
    ],
)


@activation.cases
def _(rng):
    for name in ("relu", "leaky", "elu", "sigmoid", "tanh"):
        z = rng.uniform(0.3, 3, 6) * np.array([1, -1, 1, -1, 1, -1])
        yield f"{name}, both signs", dict(name=name, z=z)
    for name in ("relu", "leaky", "elu", "sigmoid", "tanh"):
        yield "at zero", dict(name=name, z=np.zeros((1, 2)))
    for name in ("relu", "leaky", "elu", "sigmoid", "tanh"):
        yield (
            "far out",
            dict(name=name, z=np.array([-1000.0, 1000.0]) * rng.uniform(0.9, 1.1)),
        )


def _activation(name, z, **other):
    """The right answer, with some of its parts replaced."""
    z = np.asarray(z, float)
    low, p = np.minimum(z, 0), 0.5 * (1 + np.tanh(z / 2))
    parts = {
        "relu": lambda: (np.maximum(z, 0), 1.0 * (z > 0)),
        "leaky": lambda: (np.maximum(0.01 * z, z), np.where(z > 0, 1, 0.01)),
        "elu": lambda: (np.where(z > 0, z, np.expm1(low)), np.exp(low)),
        "sigmoid": lambda: (p, p * (1 - p)),
        "tanh": lambda: (np.tanh(z), 1 - np.tanh(z) ** 2),
    }
    return {**parts, **other}[name]()


@activation.wrong(
    "ELU as the notes print it",
    advice="Try z = -3. Should ELU be positive there? A factor of min(z, 0) is one too many.",
)
def _(name, z):
    low = np.minimum(z, 0)
    return _activation(
        name,
        z,
        elu=lambda: (
            np.maximum(z, 0) + low * np.expm1(low),
            np.where(z > 0, 1, np.exp(low)),
        ),
    )


@activation.wrong(
    "tanh as the notes print it",
    advice="At z = 1 tanh is 0.762. Is yours? How steep is tanh at 0?",
)
def _(name, z):
    p = 0.5 * (1 + np.tanh(z / 2))
    return _activation(name, z, tanh=lambda: (2 * p - 1, 2 * p * (1 - p)))


@activation.wrong(
    "the slope of the sigmoid without 1 - p",
    advice="The sigmoid saturates on both sides. What is your slope far to the right?",
)
def _(name, z):
    p = 0.5 * (1 + np.tanh(z / 2))
    return _activation(name, z, sigmoid=lambda: (p, p))


@activation.wrong(
    "leaky ReLU without a leak",
    advice="What lets a leaky unit learn where z < 0? Look at value and slope there.",
)
def _(name, z):
    return _activation(name, z, leaky=lambda: (np.maximum(z, 0), 1.0 * (z > 0)))


@activation.wrong(
    "the slope of ReLU at zero is one",
    advice="At its kink ReLU has no derivative; the text says which number to take.",
)
def _(name, z):
    return _activation(
        name,
        z,
        relu=lambda: (np.maximum(z, 0), 1.0 * (z >= 0)),
        leaky=lambda: (np.maximum(0.01 * z, z), np.where(z >= 0, 1, 0.01)),
    )


@activation.wrong(
    "the slope of ELU is its value",
    advice="Does the slope of e^z - 1 still have the - 1? ELU never falls; is your slope ever negative?",
)
def _(name, z):
    low = np.expm1(np.minimum(z, 0))
    return _activation(
        name, z, elu=lambda: (np.where(z > 0, z, low), np.where(z > 0, 1, low))
    )


@activation.wrong(
    "the slope of tanh without the square",
    advice="tanh saturates on both sides. What is your slope far to the left?",
)
def _(name, z):
    return _activation(name, z, tanh=lambda: (np.tanh(z), 1 - np.tanh(z)))


@activation.wrong(
    "tanh from its formula",
    advice="For z = 1000, e^z is infinite, and infinity over infinity is not a number. Which function of NumPy knows tanh?",
)
def _(name, z):
    with np.errstate(over="ignore", invalid="ignore"):
        t = (np.exp(z) - np.exp(-z)) / (np.exp(z) + np.exp(-z))
    return _activation(name, z, tanh=lambda: (t, 1 - t**2))


@activation.wrong(
    "exp overflows",
    advice="For z = 1000, exp(z) is infinite, and infinity over infinity is not a number. Which exponent is never positive?",
)
def _(name, z):
    with np.errstate(over="ignore", invalid="ignore"):
        e = np.exp(z)
        p = e / (1 + e)
    return _activation(name, z, sigmoid=lambda: (p, p * (1 - p)))


@activation.right("entry by entry, from the definitions")
def _(name, z):
    def one(t):
        t = float(t)
        p = 1 / (1 + math.exp(-t)) if t >= 0 else math.exp(t) / (1 + math.exp(t))
        return {
            "relu": (max(t, 0.0), float(t > 0)),
            "leaky": (t, 1.0) if t > 0 else (0.01 * t, 0.01),
            "elu": (t, 1.0) if t > 0 else (math.exp(t) - 1, math.exp(t)),
            "sigmoid": (p, p - p * p),
            "tanh": (math.tanh(t), 1 / math.cosh(t) ** 2 if abs(t) < 300 else 0.0),
        }[name]

    pairs = np.array([one(t) for t in z.ravel()])
    return pairs[:, 0].reshape(z.shape), pairs[:, 1].reshape(z.shape)


@activation.right("in torch, single precision")
def _(name, z):
    value, slope = reference.activation(name, torch.from_numpy(z).float())
    return value.numpy(), slope.numpy()


# ---------------------------------------------------------------- finitely many points

step_net = Exercise(
    "step_net",
    reference=reference.step_outputs,
    compare=close(rtol=0, atol=1e-6),
    batched=("values",),
    hints=[
        "A steep sigmoid is a step. Where must the step of point s stand, so that the sigmoid is 0 at s - 1 and 1 at s, and neither nearly ½?",
        "Half-way: sigmoid(40 (x - s + ½)). Such a neuron stays on for all later points. So by how much must the output change at point s?",
        "W1 = 40 everywhere, b1 = -40 (s - ½) for s = 1, …, n, and W2 holds the jumps: value s minus value s - 1, with 0 before the first.",
    ],
)


@step_net.probe
def _(answer, values):
    W1, b1, W2 = (np.asarray(part, float).ravel() for part in answer(values))
    x = np.arange(1, len(values) + 1.0)
    hidden = 0.5 * (1 + np.tanh((np.outer(x, W1) + b1) / 2))
    return {
        "outputs": hidden @ W2,
        "neurons above the limit": max(0, len(W2) - 2 * len(values)),
    }


@step_net.cases
def _(rng):
    yield "five points", dict(values=_rough(rng, 5))
    yield "twelve points", dict(values=_rough(rng, 12))
    yield "twenty points", dict(values=_rough(rng, 20))
    yield "a single point", dict(values=np.array([rng.uniform(2, 3)]))
    level = rng.uniform(1, 2)
    yield "all values equal", dict(values=np.full(4, level))


def _rough(rng, n):
    """Values that jump by more than 1 from point to point and never vanish."""
    return rng.uniform(1.0, 1.4, n) + 2.0 * (np.arange(n) % 2)


@step_net.wrong(
    "the construction as printed",
    advice="Your step s stands a billionth before the point s. What is the sigmoid's argument at x = s, for few points?",
)
def _(values):
    n, j = len(values), np.arange(1, 2 * len(values) + 1)
    W1, b1 = np.full(2 * n, 10.0**n), -(10.0**n) * (np.ceil((j + 1) / 2) - 1e-9)
    return W1, b1, (-1.0) ** (j + 1) * values[(j + 1) // 2 - 1]


@step_net.wrong(
    "the steps stand on the points",
    advice="What is the sigmoid of 0? Where between two points should the step stand?",
)
def _(values):
    s = np.arange(1, len(values) + 1)
    return np.full(len(s), 40.0), -40.0 * s, np.diff(values, prepend=0)


@step_net.wrong(
    "values for jumps",
    advice="A neuron that is on stays on for all later points. What have the earlier ones already added at point s?",
)
def _(values):
    s = np.arange(1, len(values) + 1)
    # with one point value and jump are the same
    return np.full(len(s), 40.0), -40.0 * (s - 0.5), values


@step_net.wrong(
    "too gentle",
    advice="Half a unit from the step the sigmoid must be within about 1e-7 of 0 or 1. How steep is that?",
)
def _(values):
    s = np.arange(1, len(values) + 1)
    return np.full(len(s), 8.0), -8.0 * (s - 0.5), np.diff(values, prepend=0)


@step_net.wrong(
    "the steps come half a point late",
    advice="At point s the step of s must have happened. Which sign has the half?",
)
def _(values):
    s = np.arange(1, len(values) + 1)
    return np.full(len(s), 40.0), -40.0 * (s + 0.5), np.diff(values, prepend=0)


@step_net.wrong(
    "the first value is forgotten",
    advice="There is no output bias. Which neuron brings the value of the first point?",
)
def _(values):
    s = np.arange(2, len(values) + 1)
    return np.full(len(s), 40.0), -40.0 * (s - 0.5), np.diff(values)


@step_net.wrong(
    "points counted from zero",
    advice="The points are 1, 2, …, n. Where does your first step stand?",
)
def _(values):
    s = np.arange(len(values))
    return np.full(len(s), 40.0), -40.0 * (s - 0.5), np.diff(values, prepend=0)


@step_net.right("an exact solution with gentle sigmoids")
def _(values):
    x = np.arange(1, len(values) + 1.0)
    W, b = np.full(len(x), 5.0), -5.0 * (x - 0.5)
    hidden = 1 / (1 + np.exp(-(np.outer(x, W) + b)))
    return W, b, np.linalg.solve(hidden, values)


@step_net.right("two neurons a point, on and off")
def _(values):
    s = np.arange(1, len(values) + 1)
    edges = np.column_stack([s - 0.5, s + 0.5]).ravel()
    return (
        np.full(2 * len(s), 60.0),
        -60.0 * edges,
        np.column_stack([values, -values]).ravel(),
    )


@step_net.right("neurons that open to the left, as lists")
def _(values):
    n = len(values)
    drops = [values[i] - (values[i + 1] if i + 1 < n else 0) for i in range(n)]
    return [[-50.0]] * n, [50.0 * (i + 1.5) for i in range(n)], drops


@step_net.right("single precision")
def _(values):
    s = np.arange(1, len(values) + 1)
    jumps = np.diff(values, prepend=0)
    return tuple(
        part.astype(np.float32)
        for part in (np.full(len(s), 64.0), -64.0 * (s - 0.5), jumps)
    )


# ---------------------------------------------------------------- an interval

staircase_net = Exercise(
    "staircase_net",
    reference=reference.staircase_outputs,
    compare=close(rtol=0, atol=1e-4),
    hints=[
        "First the cells: how wide may one be, if f may vary by at most eps on it? How many of that width fill [a, b]?",
        "With N cells of width w, the middles are a + (i + ½) w. The output is f at the first middle, and jumps at the N - 1 inner edges.",
        "W1 = 1000 / w, b1 = -W1 * edges, W2 = np.diff(f(middles)), b2 = f(middles)[0], with N = max(1, ceil(L (b - a) / eps)).",
    ],
)


@staircase_net.probe
def _(answer, amp, freq, phase, a, b, eps):
    parts = answer(lambda x: amp * np.sin(freq * x + phase), a, b, abs(amp * freq), eps)
    W1, b1, W2 = (np.asarray(part, float).ravel() for part in parts[:3])
    n = max(1, int(np.ceil(abs(amp * freq) * (b - a) / eps)))
    places = a + (b - a) / n * np.add.outer(np.arange(n), [0.05, 0.5, 0.95]).ravel()
    hidden = 0.5 * (1 + np.tanh((np.outer(places, W1) + b1) / 2))
    return {
        "heights": hidden @ W2 + float(np.asarray(parts[3]).ravel()[0]),
        "neurons above the limit": max(0, len(W2) - 2 * n),
    }


@staircase_net.cases
def _(rng):
    wave = dict(amp=1.0, freq=1.0, a=0.0, b=2 * np.pi)
    yield "a sine", dict(wave, phase=rng.uniform(0.2, 1.3), eps=0.5)
    yield "a steep function on a short interval", dict(amp=2.0, freq=30.0, phase=rng.uniform(-1, 1), a=-0.1, b=0.075, eps=1.0)  # fmt: skip
    yield "cells that fit exactly", dict(amp=1.0, freq=2.0, phase=rng.uniform(1, 2), a=-1.0, b=1.0, eps=0.5)  # fmt: skip
    yield "one cell is enough", dict(amp=0.5, freq=1.0, phase=rng.uniform(0.2, 0.8), a=0.0, b=0.5, eps=0.5)  # fmt: skip
    yield (
        "a constant",
        dict(amp=rng.uniform(1, 2), freq=0.0, phase=1.0, a=1.0, b=3.0, eps=0.1),
    )


def _stairs(f, a, b, n, place=0.5, steep=1000.0):
    width = (b - a) / n
    heights = f(a + width * (np.arange(n) + place)) + np.zeros(n)
    W1 = np.full(n - 1, steep / width)
    return W1, -W1 * (a + width * np.arange(1, n)), np.diff(heights), heights[0]


def _cells(L, a, b, eps):
    return max(1, math.ceil(L * (b - a) / eps))


@staircase_net.wrong(
    "takes f at the left edge of the cell",
    advice="From which point of a cell is the farthest other point as near as possible?",
)
def _(f, a, b, L, eps):
    return _stairs(f, a, b, _cells(L, a, b, eps), place=0.0)


@staircase_net.wrong(
    "forgets the Lipschitz constant",
    advice="A steep function needs narrower cells. How much does f vary at most on a width w?",
)
def _(f, a, b, L, eps):
    return _stairs(f, a, b, _cells(1.0, a, b, eps))


@staircase_net.wrong(
    "one cell too few",
    advice="Is L w at most eps with your number of cells? Which way must you round?",
)
def _(f, a, b, L, eps):
    return _stairs(f, a, b, max(1, math.ceil(L * (b - a) / eps) - 1))


@staircase_net.wrong(
    "too gentle",
    advice="A jump must be over within a twentieth of a cell. How does the steepness depend on the width?",
)
def _(f, a, b, L, eps):
    return _stairs(f, a, b, _cells(L, a, b, eps), steep=10.0)


@staircase_net.wrong(
    "the same steepness for every width",
    advice="Your jumps are sharp on wide cells. Are they over within a twentieth of a cell that is 0.01 wide?",
)
def _(f, a, b, L, eps):
    n = _cells(L, a, b, eps)
    return _stairs(f, a, b, n, steep=1000.0 * (b - a) / n)


@staircase_net.wrong(
    "edges counted from zero",
    advice="Where do the cells begin? Try an interval that does not start at 0.",
)
def _(f, a, b, L, eps):
    n = _cells(L, a, b, eps)
    W1, b1, W2, b2 = _stairs(f, a, b, n)
    return W1, b1 + W1 * a, W2, b2


@staircase_net.wrong(
    "half as many cells",
    advice="The middle would allow cells twice as wide; the exercise asks for L w at most eps. What is w in yours?",
)
def _(f, a, b, L, eps):
    return _stairs(f, a, b, max(1, math.ceil(L * (b - a) / (2 * eps))))


@staircase_net.wrong(
    "heights for jumps",
    advice="Neurons that are on stay on to the right. By how much must the output change at an edge?",
)
def _(f, a, b, L, eps):
    n = _cells(L, a, b, eps)
    W1, b1, W2, b2 = _stairs(f, a, b, n)
    return W1, b1, b2 + np.cumsum(W2), b2


@staircase_net.right("two neurons a cell, on and off")
def _(f, a, b, L, eps):
    n = _cells(L, a, b, eps)
    edges = np.linspace(a, b, n + 1)
    heights = f((edges[:-1] + edges[1:]) / 2) * np.ones(n)
    steep = 2000 * n / (b - a)
    doors = np.column_stack([edges[:-1], edges[1:]]).ravel()
    W2 = np.column_stack([heights, -heights]).ravel()
    return np.full(2 * n, steep), -steep * doors, W2, 0.0


@staircase_net.right("one cell at a time, with lists")
def _(f, a, b, L, eps):
    n, W1, b1, W2 = _cells(L, a, b, eps), [], [], []
    width = (b - a) / n
    last = float(f(a + width / 2))
    first = last
    for i in range(1, n):
        now = float(f(a + (i + 0.5) * width))
        W1.append([800 / width])
        b1.append(-800 / width * (a + i * width))
        W2.append(now - last)
        last = now
    return W1, b1, W2, first


# ---------------------------------------------------------------- a broken line

relu_interpolant = Exercise(
    "relu_interpolant",
    reference=reference.interpolant_outputs,
    compare=close(rtol=1e-5, atol=1e-4),  # weights in single precision, knots near -9
    batched=("xs", "ys"),
    hints=[
        "Walk from left to right. At the first knot you need the right height and the right slope; at each later knot only the slope changes.",
        "A unit relu(x - knot) is silent before its knot and adds slope 1 after it. So its output weight is a change of slope. "
        "And relu(0 x + 1) is the constant 1.",
        "slopes = np.diff(ys) / np.diff(xs). W = [0, 1, …, 1], b = [1, -xs[0], …, -xs[-2]], U = [ys[0], slopes[0], then np.diff(slopes)].",
    ],
)


@relu_interpolant.probe
def _(answer, xs, ys):
    W, b, U = (np.asarray(part, float).ravel() for part in answer(xs, ys))
    x = (xs[:-1, None] + np.diff(xs)[:, None] * np.array([0.0, 0.25, 0.5, 1.0])).ravel()
    return {
        "outputs": np.maximum(0, np.outer(x, W) + b) @ U,
        "units above the limit": max(0, len(U) - len(xs) - 1),
    }


@relu_interpolant.cases
def _(rng):
    yield "uneven knots", _knots(rng, 6, -1.0)
    yield "knots far to the left", _knots(rng, 5, -9.0)
    yield "knots right of zero", _knots(rng, 4, 2.0)
    yield "two knots", _knots(rng, 2, 0.5)
    flat = _knots(rng, 4, -1.0)
    flat["ys"][:] = rng.uniform(1, 2)
    yield "a constant", flat


def _knots(rng, n, start):
    gaps = rng.uniform(0.3, 0.7, n - 1)
    ys = rng.uniform(1, 2, n) * np.where(np.arange(n) % 2, -1, 1)
    return dict(xs=start + np.concatenate([[0.0], gaps.cumsum()]), ys=ys)


@relu_interpolant.wrong(
    "slopes for changes of slope",
    advice="The unit of the first knot is still on after the second. What is the slope there, with your weights?",
)
def _(xs, ys):
    U = np.concatenate([[ys[0]], np.diff(ys) / np.diff(xs)])
    return np.append(0.0, np.ones(len(xs) - 1)), np.append(1.0, -xs[:-1]), U


@relu_interpolant.wrong(
    "the first height is missing",
    advice="What does your network give at the first knot? There is no output bias; which unit is constant?",
)
def _(xs, ys):
    slopes = np.diff(ys) / np.diff(xs)
    return np.ones(len(xs) - 1), -xs[:-1], np.diff(slopes, prepend=0)


@relu_interpolant.wrong(
    "knots taken as one apart",
    advice="A slope is a rise over a run. How far apart are your knots?",
)
def _(xs, ys):
    U = np.concatenate([[ys[0]], np.diff(np.diff(ys), prepend=0)])
    return np.append(0.0, np.ones(len(xs) - 1)), np.append(1.0, -xs[:-1]), U


@relu_interpolant.wrong(
    "the first unit opens at zero",
    advice="From where on should the first slope hold: from 0, or from the first knot?",
)
def _(xs, ys):
    slopes = np.diff(ys) / np.diff(xs)
    U = np.concatenate([[ys[0], slopes[0]], np.diff(slopes)])
    return (
        np.append(0.0, np.ones(len(xs) - 1)),
        np.concatenate([[1.0, 0.0], -xs[1:-1]]),
        U,
    )


@relu_interpolant.wrong(
    "the first line as relu(x)",
    advice="relu(x) is x only to the right of 0. Where are your knots?",
)
def _(xs, ys):
    slopes = np.diff(ys) / np.diff(xs)
    U = np.concatenate([[ys[0] - slopes[0] * xs[0], slopes[0]], np.diff(slopes)])
    return (
        np.append(0.0, np.ones(len(xs) - 1)),
        np.concatenate([[1.0, 0.0], -xs[1:-1]]),
        U,
    )


@relu_interpolant.right("x as relu(x) - relu(-x)")
def _(xs, ys):
    slopes = np.diff(ys) / np.diff(xs)
    U = np.concatenate(
        [[ys[0] - slopes[0] * xs[0], slopes[0], -slopes[0]], np.diff(slopes)]
    )
    W = np.concatenate([[0.0, 1.0, -1.0], np.ones(len(xs) - 2)])
    return W, np.concatenate([[1.0, 0.0, 0.0], -xs[1:-1]]), U


@relu_interpolant.wrong(
    "the bias is the knot itself",
    advice="At which x is W x + b zero? There the unit opens.",
)
def _(xs, ys):
    slopes = np.diff(ys) / np.diff(xs)
    U = np.concatenate([[ys[0], slopes[0]], np.diff(slopes)])
    return np.append(0.0, np.ones(len(xs) - 1)), np.append(1.0, xs[:-1]), U


@relu_interpolant.right("from right to left")
def _(xs, ys):
    slopes = np.diff(ys) / np.diff(xs)
    U = np.concatenate([[ys[-1], -slopes[-1]], np.diff(slopes)[::-1]])
    W = np.append(0.0, -np.ones(len(xs) - 1))
    return W, np.append(1.0, xs[:0:-1]), U


@relu_interpolant.right("by solving for the output weights")
def _(xs, ys):
    W, b = np.append(0.0, np.ones(len(xs) - 1)), np.append(1.0, -xs[:-1])
    return (
        W.tolist(),
        b.tolist(),
        np.linalg.solve(np.maximum(0, np.outer(xs, W) + b), ys),
    )


@relu_interpolant.right("single precision")
def _(xs, ys):
    xs, ys = xs.astype(np.float32), ys.astype(np.float32)
    slopes = np.diff(ys) / np.diff(xs)
    U = np.concatenate([[ys[0], slopes[0]], np.diff(slopes)])
    W = np.append(np.float32(0), np.ones(len(slopes), np.float32))
    return W, np.append(np.float32(1), -xs[:-1]), U


@relu_interpolant.right("units of other sizes, W as a column")
def _(xs, ys):
    slopes = np.diff(ys) / np.diff(xs)
    U = np.concatenate([[ys[0], slopes[0]], np.diff(slopes)])
    W, b = np.append(0.0, 4 * np.ones(len(xs) - 1)), np.append(4.0, -4 * xs[:-1])
    return W[:, None], b, (U / 4)


# ---------------------------------------------------------------- sawtooth

tent_net = Exercise(
    "tent_net",
    reference=reference.tent_outputs,
    compare=close(rtol=1e-6, atol=1e-9),
    hints=[
        "On [0, 1] one tent is a broken line with one kink, at ½. Which two ReLU units give it?",
        "tent(x) = 2 relu(x) - 4 relu(x - ½). To feed it into the next pair of units, let the next layer's matrix do the weighing.",
        "Hidden layer 1: W = [[1], [1]], b = [0, -½]. Each further one: W = [[2, -4], [2, -4]], b = [0, -½]. Last: W = [[2, -4]], b = [0].",
    ],
)


@tent_net.probe
def _(answer, n):
    layers = answer(n)
    h = np.arange(65)[None] / 64
    for W, b in layers[:-1]:
        h = np.maximum(
            0, np.asarray(W, float) @ h + np.asarray(b, float).reshape(-1, 1)
        )
    W, b = (np.asarray(part, float) for part in layers[-1])
    units = sum(len(b) for _, b in layers[:-1])
    return {
        "outputs": (W @ h + b.reshape(-1, 1))[0],
        "units above the limit": max(0, units - 2 * n),
    }


@tent_net.cases
def _(rng):
    yield "one tent", dict(n=1)
    yield "two tents on top of each other", dict(n=2)
    yield "deep", dict(n=int(rng.integers(4, 6)))
    yield "deep", dict(n=6)
    yield "no tent at all", dict(n=0)


def _tents(n, peak=4.0, slope=2.0):
    out = np.array([[slope, -peak]])
    layers, W = [], np.array([[1.0]])
    for _ in range(n):
        layers.append((np.vstack([W, W]), np.array([0.0, -0.5])))
        W = out
    return [*layers, (W, np.zeros(1))]


@tent_net.wrong(
    "wide, not deep",
    advice="Count your hidden units against 2 n. Can one layer's output be folded again by the next?",
)
def _(n):
    if n == 0:
        return _tents(0)
    knots = np.arange(2**n) / 2**n
    U = np.where(np.arange(2**n) % 2, -2.0, 2.0) * 2**n
    U[0] /= 2
    return [(np.ones((2**n, 1)), -knots), (U[None], np.zeros(1))]


@tent_net.wrong(
    "the roof is flat",
    advice="After its kink the tent must fall. By how much must the slope change at ½?",
)
def _(n):
    return _tents(n, peak=2.0)


@tent_net.wrong(
    "the tent is half as high",
    advice="A tent must reach 1, or the next one does not see all of [0, 1]. How steep is its left side?",
)
def _(n):
    return _tents(n, peak=2.0, slope=1.0)


@tent_net.wrong(
    "one fold too many",
    advice="Count the hidden layers: n of them, and a last layer without ReLU.",
)
def _(n):
    return _tents(n + 1)


@tent_net.wrong(
    "the second unit opens left of zero",
    advice="At which x is W x + b zero for your second unit? There the tent should turn.",
)
def _(n):
    return [(W, np.abs(b)) for W, b in _tents(n)]


@tent_net.wrong(
    "a layer of its own for each output",
    advice="You use 3 n units. An output of one unit that feeds the next pair is a matrix product: can it be multiplied out?",
)
def _(n):
    if n == 0:
        return _tents(0)
    pair = [
        (np.ones((2, 1)), np.array([0.0, -0.5])),
        (np.array([[2.0, -4.0]]), np.zeros(1)),
    ]
    return pair * n


@tent_net.wrong(
    "stacked side by side",
    advice="Adding n tents only makes one tall tent. Where must the second one take its input from?",
)
def _(n):
    if n == 0:
        return _tents(0)
    W, b = np.ones((2 * n, 1)), np.tile([0.0, -0.5], n)
    return [(W, b), (np.tile([2.0, -4.0], n)[None], np.zeros(1))]


@tent_net.right("the difference of two slopes, as lists")
def _(n):
    layers, W = [], [[2.0]]
    for _ in range(n):
        layers.append((W * 2, [0.0, -1.0]))
        W = [[2.0, -4.0]]
    return [*layers, ([[1.0, -2.0]] if n else [[1.0]], [0.0])]


@tent_net.right("the second unit opens to the left")
def _(n):
    """tent(x) = 2 x - 4 (x - ½) - 4 relu(½ - x) = 2 - 2 x - 4 relu(½ - x), and x = relu(x)."""
    layers, W, c = [], np.array([[1.0]]), 0.0
    for _ in range(n):
        layers.append((np.vstack([W, -W]), np.array([c, 0.5 - c])))
        W, c = np.array([[-2.0, -4.0]]), 2.0
    return [*layers, (W, np.array([c]))]


@tent_net.right("one minus an absolute value")
def _(n):
    """tent(x) = 1 - |2 x - 1| = 1 - relu(2 x - 1) - relu(1 - 2 x)."""
    if n == 0:
        return [(np.eye(1), np.zeros(1))]
    A, c, u, one = (
        np.array([[2.0], [-2.0]]),
        np.array([-1.0, 1.0]),
        -np.ones((1, 2)),
        np.ones(1),
    )
    return [(A, c)] + [(A @ u, A @ one + c)] * (n - 1) + [(u, one)]


@tent_net.right("single precision")
def _(n):
    return [(W.astype(np.float32), b.astype(np.float32)) for W, b in _tents(n)]


# ---------------------------------------------------------------- price and ceiling

budget = Exercise(
    "budget",
    reference=reference.budget,
    compare=exact(),
    hints=[
        "Price: a matrix of shape (n_j, n_(j-1)) times a vector. How many multiplications? Add up, the output layer included.",
        "Ceiling: one factor for each hidden layer, Σ C(n, j) for j = 0, …, d. What is d for layer l, if an earlier layer was narrower than the input?",
        "d = min(sizes[:l]) for hidden layer l = 1, …, K. Multiply sum(math.comb(sizes[l], j) for j in range(d + 1)) over l.",
    ],
)


@budget.cases
def _(rng):
    n, k, m, j = map(int, rng.integers(4, 16, 4))
    yield "two inputs, one hidden layer", dict(sizes=[2, n, 1])
    yield "two inputs, several layers", dict(sizes=[2, k, k, 2])
    yield "three inputs", dict(sizes=[3, m, m + 1, 1])
    yield "a bottleneck", dict(sizes=[3, j, 1, j, 2])
    yield "more inputs than units", dict(sizes=[9, 3, 3, 1])
    yield "no hidden layer", dict(sizes=[int(rng.integers(3, 16)), 2])


def _price(sizes):
    return sum(a * b for a, b in zip(sizes, sizes[1:], strict=False))


def _choose(n, d):
    return sum(math.comb(n, j) for j in range(d + 1))


@budget.wrong(
    "the formula for two inputs, always",
    advice="Three planes in space make 8 regions. What does your formula give for 3 inputs and 3 units?",
)
def _(sizes):
    return _price(sizes), math.prod(_choose(n, 2) for n in sizes[1:-1])


@budget.wrong(
    "the bottleneck is not seen",
    advice="Behind a layer of one unit everything lies on a line. Into how many parts can n points cut a line?",
)
def _(sizes):
    return _price(sizes), math.prod(_choose(n, sizes[0]) for n in sizes[1:-1])


@budget.wrong(
    "only the layer just before is looked at",
    advice="A plane sent into a space of six dimensions stays a plane. Which widths before a layer limit what it can see?",
)
def _(sizes):
    return _price(sizes), math.prod(
        _choose(n, d) for d, n in zip(sizes, sizes[1:-1], strict=False)
    )


@budget.wrong(
    "the last matrix is not counted",
    advice="The output layer has a matrix too. How many have you multiplied by?",
)
def _(sizes):
    dims = [min(sizes[:i]) for i in range(1, len(sizes) - 1)]
    regions = math.prod(_choose(n, d) for n, d in zip(sizes[1:-1], dims, strict=True))
    return _price(sizes[:-1]), regions


@budget.wrong(
    "the sum stops before d",
    advice="Four lines make 11 regions of the plane. Does your sum of binomials include j = d?",
)
def _(sizes):
    dims = [min(sizes[:i]) for i in range(1, len(sizes) - 1)]
    return _price(sizes), math.prod(
        _choose(n, d - 1) for n, d in zip(sizes[1:-1], dims, strict=True)
    )


@budget.wrong(
    "every pattern counts",
    advice="Three lines in the plane leave one of the 8 patterns out. How many inputs are there?",
)
def _(sizes):
    return _price(sizes), math.prod(2**n for n in sizes[1:-1])


@budget.wrong(
    "the layers are added",
    advice="A second layer cuts each region of the first. Do the counts add or multiply?",
)
def _(sizes):
    dims = [min(sizes[:i]) for i in range(1, len(sizes) - 1)]
    return _price(sizes), sum(
        _choose(n, d) for n, d in zip(sizes[1:-1], dims, strict=True)
    ) or 1


@budget.wrong(
    "biases counted as multiplications",
    advice="Adding a bias is no multiplication. Which numbers multiply an input?",
)
def _(sizes):
    dims = [min(sizes[:i]) for i in range(1, len(sizes) - 1)]
    regions = math.prod(_choose(n, d) for n, d in zip(sizes[1:-1], dims, strict=True))
    return _price(sizes) + sum(sizes[1:]), regions


@budget.wrong(
    "the output layer is cut too",
    advice="Does the last layer have a ReLU? Only a kink cuts.",
)
def _(sizes):
    dims = [min(sizes[:i]) for i in range(1, len(sizes))]
    return _price(sizes), math.prod(
        _choose(n, d) for n, d in zip(sizes[1:], dims, strict=True)
    )


@budget.right("one layer at a time, by Pascal's rule")
def _(sizes):
    def parts(n, d):
        """n hyperplanes in dimension d: the n-th is cut by the others like a space of dimension d - 1."""
        return 1 if n == 0 or d == 0 else parts(n - 1, d) + parts(n - 1, d - 1)

    price, regions, d = 0, 1, sizes[0]
    for i in range(1, len(sizes)):
        price += sizes[i - 1] * sizes[i]
        if i < len(sizes) - 1:
            regions *= parts(sizes[i], d)
            d = min(d, sizes[i])
    return price, regions


@budget.right("with NumPy, as a list")
def _(sizes):
    dims = np.minimum.accumulate(sizes)
    regions = [_choose(int(n), int(d)) for n, d in zip(sizes[1:-1], dims, strict=False)]
    return [int(np.dot(sizes[:-1], sizes[1:])), int(np.prod(regions))]

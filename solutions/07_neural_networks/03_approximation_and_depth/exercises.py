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
        "Start with the first layer. For each further layer (V, c), in this order: multiply W by V from the left; "
        "multiply b by V too, and add c.",
    ],
)


@collapse.cases
def _(rng):
    def stack(*sizes):
        pairs = list(zip(sizes, sizes[1:], strict=False))
        return dict(
            Ws=[rng.uniform(0.5, 2, (n, m)) for m, n in pairs],
            bs=[rng.choice([-1, 1], n) * rng.uniform(1, 3, n) for _, n in pairs],
        )

    yield "two layers", stack(2, 3, 2)
    yield "five layers", stack(2, 4, 3, 4, 2, 1)
    yield "a single layer", stack(3, 2)
    yield "a layer of one unit", stack(3, 1, 3)
    dead = stack(2, 3, 2)
    dead["Ws"][1] = np.zeros((2, 3))
    yield "a layer of zeros", dead


collapse.mistakes(
    {
        "only the last bias is kept": (
            "b = V @ b + c",
            "b = c",
            "Send x = 0 through the layers by hand. Is what comes out the last bias alone?",
        ),
        "only the first bias is carried along": (
            "V @ b + c",
            "V @ b",
            "Each layer adds a bias of its own. Did you add that of the later layers?",
        ),
        "the biases are forgotten": (
            "return W, b",
            "return W, 0 * b",
            "Send x = 0 through the layers by hand. Does 0 come out?",
        ),
        "only the first two layers": (
            "zip(Ws[1:], bs[1:])",
            "zip(Ws[1:2], bs[1:2])",
            "A stack may have any number of layers. What becomes of the third?",
        ),
    }
)

collapse.worked(
    why="""Each new layer is put around the affine map that stands so far: V (W x + b) + c. What multiplies x is V W, and what is
    left is V b + c, so the pair (W, b) is all that has to be remembered. A hundred layers cost a hundred matrix products
    once, and are one layer ever after."""
)


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


# ---------------------------------------------------------------- a staircase

staircase_net = Exercise(
    "staircase_net",
    reference=reference.staircase_outputs,
    compare=close(rtol=0, atol=1e-4),  # as the text says
    hints=[
        "First the cells: how wide may one be, if f may vary by at most eps on it? How many of that width fill [a, b]?",
        "With N cells of width w, the middles are a + (i + ½) w. The output is f at the first middle, and jumps at the N - 1 "
        "inner edges.",
        "N is the rounded-up L (b - a) / eps, at least 1. A unit opens where W1 x + b1 = 0: take W1 = 1000 / w, so that it is "
        "done within a twentieth of a cell. W2 holds the differences of neighbouring heights.",
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
    def wave(amp, freq, phase, a, b, eps):
        return dict(amp=amp, freq=freq, phase=phase, a=a, b=b, eps=eps)

    yield "a sine", wave(1.0, 1.0, rng.uniform(0.2, 1.3), 0.0, 2 * np.pi, 0.5)
    yield "a steep function on a short interval", wave(2.0, 30.0, rng.uniform(-1, 1), -0.1, 0.075, 1.0)  # fmt: skip
    yield "cells that fit exactly", wave(1.0, 2.0, rng.uniform(1, 2), -1.0, 1.0, 0.5)
    yield "one cell is enough", wave(0.5, 1.0, rng.uniform(0.2, 0.8), 0.0, 0.5, 0.5)
    yield "a constant", wave(rng.uniform(1, 2), 0.0, 1.0, 1.0, 3.0, 0.1)


staircase_net.mistakes(
    {
        "takes f at the left edge of the cell": (
            "(np.arange(N) + 0.5)",
            "np.arange(N)",
            "From which point of a cell is the farthest other point as near as possible?",
        ),
        "forgets the Lipschitz constant": (
            "L * (b - a) / eps",
            "(b - a) / eps",
            "A steep function needs narrower cells. How much does f vary at most on a width w?",
        ),
        "one cell too few": (
            "math.ceil(L * (b - a) / eps)",
            "math.ceil(L * (b - a) / eps) - 1",
            "Is L w at most eps with your number of cells? Which way must you round?",
        ),
        "one cell too many": (
            "math.ceil(L * (b - a) / eps)",
            "math.floor(L * (b - a) / eps) + 1",
            "Where L (b - a) / eps is a whole number, so many cells are just enough.",
        ),
        "too gentle": (
            "1000 / w",
            "10 / w",
            "A jump must be over within a twentieth of a cell. How steep is that?",
        ),
        "the same steepness for every width": (
            "1000 / w",
            "1000.0",
            "Your jumps are sharp on wide cells. Are they over within a twentieth of a cell that is 0.01 wide?",
        ),
        "edges counted from zero": (
            "edges = a + w",
            "edges = w",
            "Where do the cells begin? Try an interval that does not start at 0.",
        ),
        "half as many cells": (
            "L * (b - a) / eps",
            "L * (b - a) / (2 * eps)",
            "The middle would allow cells twice as wide; the exercise asks for L w at most eps. What is w in yours?",
        ),
        "heights for jumps": (
            "np.diff(heights)",
            "heights[1:]",
            "Neurons that are on stay on to the right. By how much must the output change at an edge?",
        ),
    }
)

staircase_net.equivalent(
    {
        f"W1 = np.full(N - 1, 1000 / w) → W1 = np.full(N - 1, {steep} / w)": (
            "1e-4, on each cell except within 0.05 w of its edges."
        )
        for steep in (999, 1001)
    }
)

staircase_net.worked(
    why="""Uniform continuity turns ε into one cell width for the whole interval: on a cell of width ε/L the function moves by ε at
    most. A unit that has opened stays open, so the output weights are not the heights but the jumps between them, and the
    bias holds the first height. The steepness is measured in cells: 1000/w makes each jump as sharp as the next, however
    narrow the cells are."""
)


@staircase_net.right("two neurons a cell, on and off")
def _(f, a, b, L, eps):
    n = max(1, math.ceil(L * (b - a) / eps))
    edges = np.linspace(a, b, n + 1)
    heights = f((edges[:-1] + edges[1:]) / 2) * np.ones(n)
    steep = 2000 * n / (b - a)
    doors = np.column_stack([edges[:-1], edges[1:]]).ravel()
    W2 = np.column_stack([heights, -heights]).ravel()
    return np.full(2 * n, steep), -steep * doors, W2, 0.0


@staircase_net.right("one cell at a time, with lists")
def _(f, a, b, L, eps):
    n, W1, b1, W2 = max(1, math.ceil(L * (b - a) / eps)), [], [], []
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
        "Walk from left to right. At the first knot you need the right height and the right slope; at each later knot only "
        "the slope changes.",
        "A unit relu(x - knot) is silent before its knot and adds slope 1 after it. So its output weight is a change of slope. "
        "And relu(0 x + 1) is the constant 1.",
        "slopes = np.diff(ys) / np.diff(xs). U begins with the first height and the first slope, and goes on with the changes "
        "of slope. Which W and b make a unit open at xs[i]?",
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
    def knots(n, start, sign=1):
        gaps = rng.uniform(0.3, 0.7, n - 1)
        ys = sign * rng.uniform(1, 2, n) * np.where(np.arange(n) % 2, -1, 1)
        return dict(xs=start + np.concatenate([[0.0], gaps.cumsum()]), ys=ys)

    yield "uneven knots", knots(6, -1.0)
    yield "the first height below zero", knots(6, -1.0, sign=-1)
    yield "knots far to the left", knots(5, -9.0)
    yield "knots right of zero", knots(4, 2.0)
    yield "two knots", knots(2, 0.5)
    flat = knots(4, -1.0)
    flat["ys"][:] = rng.uniform(1, 2)
    yield "a constant", flat


relu_interpolant.mistakes(
    {
        "slopes for changes of slope": (
            "np.diff(slopes)",
            "slopes[1:]",
            "The unit of the first knot is still on after the second. What is the slope there, with your weights?",
        ),
        "the first height is missing": (
            "[ys[0], slopes[0]]",
            "[0.0, slopes[0]]",
            "What does your network give at the first knot? There is no output bias; which unit is constant?",
        ),
        "the first height is a bias": (
            "b = np.append(1.0, -xs[:-1])\n    U = np.concatenate([[ys[0],",
            "b = np.append(ys[0], -xs[:-1])\n    U = np.concatenate([[1.0,",
            "A ReLU never gives less than 0. Where must the sign of the first height stand?",
        ),
        "knots taken as one apart": (
            "np.diff(ys) / np.diff(xs)",
            "np.diff(ys)",
            "A slope is a rise over a run. How far apart are your knots?",
        ),
        "all units open at zero": (
            "-xs[:-1]",
            "0 * xs[:-1]",
            "From where on should a unit's slope count: from 0, or from its knot?",
        ),
        "the bias is the knot itself": (
            "-xs[:-1]",
            "xs[:-1]",
            "At which x is W x + b zero? There the unit opens.",
        ),
        "units open one knot late": (
            "-xs[:-1]",
            "-xs[1:]",
            "Which unit gives the slope of the first piece, between the first knot and the second?",
        ),
    }
)

relu_interpolant.worked(
    why="""A ReLU that opens at a knot changes nothing on its left, so the weights can be read off from left to right: the constant
    unit sets the height at the first knot, the unit of the first knot sets the first slope, and each later one only turns the
    line by the difference of two slopes. The last knot needs no unit, since nothing is asked beyond it."""
)


@relu_interpolant.right("x as relu(x) - relu(-x)")
def _(xs, ys):
    slopes = np.diff(ys) / np.diff(xs)
    U = np.concatenate(
        [[ys[0] - slopes[0] * xs[0], slopes[0], -slopes[0]], np.diff(slopes)]
    )
    W = np.concatenate([[0.0, 1.0, -1.0], np.ones(len(xs) - 2)])
    return W, np.concatenate([[1.0, 0.0, 0.0], -xs[1:-1]]), U


@relu_interpolant.right("from right to left, units of other sizes, W as a column")
def _(xs, ys):
    slopes = np.diff(ys) / np.diff(xs)
    U = np.concatenate([[ys[-1], -slopes[-1]], np.diff(slopes)[::-1]])
    W = np.append(0.0, -4 * np.ones(len(xs) - 1))
    return W[:, None], np.append(4.0, 4 * xs[:0:-1]), U / 4


@relu_interpolant.right(
    "by solving for the output weights", library="numpy.linalg.solve"
)
def _(xs, ys):
    W, b = np.append(0.0, np.ones(len(xs) - 1)), np.append(1.0, -xs[:-1])
    return W, b, np.linalg.solve(np.maximum(0, np.outer(xs, W) + b), ys)


@relu_interpolant.right("single precision")
def _(xs, ys):
    xs, ys = xs.astype(np.float32), ys.astype(np.float32)
    slopes = np.diff(ys) / np.diff(xs)
    U = np.concatenate([[ys[0], slopes[0]], np.diff(slopes)])
    W = np.append(np.float32(0), np.ones(len(slopes), np.float32))
    return W, np.append(np.float32(1), -xs[:-1]), U


# ---------------------------------------------------------------- folds

square_net = Exercise(
    "square_net",
    reference=reference.square_outputs,
    compare=close(rtol=1e-6, atol=1e-9),
    shuffled=True,
    hints=[
        "Write down n = 1 first: three units relu(x), relu(x - ½), relu(x), and x - T(x)/4 as a row of three weights.",
        "A hidden layer after the first has three rows. Two of them are the tent of the layer before, 2 times its first unit "
        "minus 4 times its second; their biases differ. Which row keeps the sum?",
        "After layer k the next matrix has the rows [2, -4, 0], [2, -4, 0] and [-2/4**k, 4/4**k, 1]. The biases are 0, -½, 0 "
        "everywhere. What is left of that matrix for the output?",
    ],
)


@square_net.probe
def _(answer, n):
    layers = answer(n)
    h = np.arange(101)[None] / 100
    for W, b in layers[:-1]:
        b = np.asarray(b, float).reshape(-1, 1)
        h = np.maximum(0, np.asarray(W, float) @ h + b)
    W, b = (np.asarray(part, float) for part in layers[-1])
    widths = [np.asarray(W).shape[0] for W, _ in layers[:-1]]
    return {
        "outputs": (W @ h + b.reshape(-1, 1)).ravel(),
        "layers above the limit": max(0, len(widths) - n),
        "units of a layer above 3": max(0, max(widths) - 3),
    }


@square_net.cases
def _(rng):
    first, second = rng.permutation([4, 5, 6])[:2]
    yield "one layer", dict(n=1)
    yield "two layers", dict(n=2)
    yield "three layers", dict(n=3)
    yield "deep", dict(n=int(first))
    yield "another depth", dict(n=int(second))


square_net.mistakes(
    {
        "the roof is flat": (
            "[2.0, -4.0, 0.0]",
            "[2.0, -2.0, 0.0]",
            "After its kink the tent must fall. By how much must the slope change at ½?",
        ),
        "the tent is half as high": (
            "[2.0, -4.0, 0.0]",
            "[1.0, -2.0, 0.0]",
            "A tent must reach 1, or the next one does not see all of [0, 1]. How steep is its left side?",
        ),
        "every tent with the same weight": (
            "tent / 4**k",
            "tent / 4",
            "By how much does the k-th halving lower the line? Look at the formula's denominator.",
        ),
        "the tents are added": (
            "- tent / 4**k",
            "+ tent / 4**k",
            "The line through points of x² lies above the curve. Which way must a tent move it?",
        ),
        "the sum so far is lost": (
            "np.array([0.0, 0.0, 1.0]) - tent / 4**k",
            "-tent / 4**k",
            "Which unit of the next layer must remember x and the earlier tents?",
        ),
        "the second unit opens left of zero": (
            "np.array([0.0, -0.5, 0.0])",
            "np.array([0.0, 0.5, 0.0])",
            "At which t is t + b zero for your second unit? There the tent should turn.",
        ),
        "counted from zero": (
            "range(1, n + 1)",
            "range(n)",
            "The first tent is divided by 4, not by 1.",
        ),
        "one layer too few": (
            "range(1, n + 1)",
            "range(1, n)",
            "Count the hidden layers: n of them, and a last one without ReLU.",
        ),
    }
)

square_net.worked(
    why="""The tent folds [0, 1], so each further layer doubles the number of pieces that all earlier layers made, at the price of
    three units, two for the tent and one for the sum. A layer's output, a weighted sum of its units, is never computed by itself: its weights stand in the rows of the
    next matrix, twice for the next tent and once in the running sum. The third unit only hands the sum on, and may, because
    the sum stays between 0 and 1."""
)


@square_net.wrong(
    "wide, not deep",
    advice="Count the units of your layer. Can one layer's output be folded again by the next?",
)
def _(n):
    x = np.arange(2**n + 1) / 2**n
    slopes = np.diff(x**2) * 2**n
    U = np.append(slopes[0], np.diff(slopes))
    return [(np.ones((2**n, 1)), -x[:-1]), (U[None], np.zeros(1))]


@square_net.wrong(
    "a layer of its own for each tent",
    advice="You use 2 n hidden layers. The output of a layer that feeds the next pair is a matrix product: can it be multiplied out?",
)
def _(n):
    layers = []
    for k in range(1, n + 1):
        W = np.ones((3, 1)) if k == 1 else np.array([[1.0, 0], [1, 0], [0, 1]])
        layers.append((W, np.array([0, -0.5, 0])))
        sums = [-2 / 4**k, 4 / 4**k, 1]
        layers.append(
            (np.array([[2.0, -4, 0], sums])[k == n :], np.zeros(2 - (k == n)))
        )
    return layers


@square_net.right("one minus an absolute value, as lists")
def _(n):
    """T(t) = 1 - relu(2 t - 1) - relu(1 - 2 t)."""
    layers, rows, at = [], [[2.0], [-2.0], [1.0]], [-1.0, 1.0, 0.0]
    for k in range(1, n + 1):
        layers.append((rows, at))
        q = 0.25**k
        rows = [[-2.0, -2.0, 0.0], [2.0, 2.0, 0.0], [q, q, 1.0]]
        at = [1.0, -1.0, -q]
    return [*layers, (rows[2:], at[2:])]


@square_net.right("the second unit opens to the left")
def _(n):
    """T(t) = 2 - 2 t - 4 relu(½ - t), and t = relu(t)."""
    layers, W, c = [], np.array([[1.0], [-1.0], [1.0]]), np.array([0.0, 0.5, 0.0])
    for k in range(1, n + 1):
        layers.append((W, c))
        T, q = np.array([-2.0, -4.0, 0.0]), 0.25**k
        W = np.array([T, -T, [2 * q, 4 * q, 1.0]])
        c = np.array([2.0, -1.5, -2 * q])
    return [*layers, (W[2:], c[2:])]


# ---------------------------------------------------------------- a training loop

train_net = Exercise(
    "train_net",
    reference=lambda layers, X, Y, rate, steps, bend: reference.trained(
        layers, X, Y, rate, steps, getattr(torch, bend)
    ),
    compare=close(rtol=1e-7, atol=1e-10),  # single precision is off by more
    limit=5.0,
    hints=[
        "Three parts: make tensors that remember, out of every W and b; repeat a forward pass, a loss and a step; make arrays "
        "again. What must happen to the old slopes before each step?",
        "Forward: h starts as X; each layer makes h @ W.T + b of it, and phi comes between two layers, not after the last. "
        "Loss: .mean() of the squared differences. A loss is kept as a number with .item().",
        "adam = torch.optim.Adam(params, lr=rate) with all W and b in one list. In the loop: forward, loss, adam.zero_grad(), "
        "loss.backward(), adam.step(). At the end p.detach().numpy() of each, paired again.",
    ],
)


@train_net.probe
def _(answer, layers, X, Y, rate, steps, bend):
    phi = getattr(torch, bend)
    if bend == "relu":
        return answer(layers, X, Y, rate, steps)
    return answer(layers, X, Y, rate, steps, phi)


@train_net.cases
def _(rng):
    def task(*sizes, n=12, steps=8, rate=0.05, bend="relu"):
        def away(*shape):
            return rng.choice([-1.0, 1.0], shape) * rng.uniform(0.3, 1, shape)

        pairs = zip(sizes, sizes[1:], strict=False)
        layers = [
            (away(n_out, n_in), rng.uniform(0.5, 1.5, n_out)) for n_in, n_out in pairs
        ]
        layers[-1][1][:] -= 6  # negative outputs
        X, Y = away(n, sizes[0]), rng.normal(3, 1, (n, sizes[-1]))
        X[0, 0] = -abs(X[0, 0])
        return dict(layers=layers, X=X, Y=Y, rate=rate, steps=steps, bend=bend)

    yield "one hidden layer", task(2, 4, 1)
    yield "several layers and outputs", task(3, 4, 5, 2)
    yield "no hidden layer, steps too long", task(3, 2, rate=2.0, steps=20)
    yield "another activation", task(2, 3, 2, bend="tanh")
    yield "another rate, many steps", task(1, 3, 1, rate=0.003, steps=60)
    yield "a single row", task(2, 3, 1, n=1)
    yield "no step at all", task(2, 3, 1, steps=0)


train_net.mistakes(
    {
        "the slopes pile up": (
            "        adam.zero_grad()\n",
            "",
            "backward adds to the slopes that are there. What should they be before it?",
        ),
        "an activation after the last layer": (
            "loss = ((h - Y) ** 2).mean()",
            "loss = ((phi(h) - Y) ** 2).mean()",
            "Can your network give a negative number? phi stands between layers only.",
        ),
        "an activation on the inputs": (
            "h = X @ params[0].T",
            "h = phi(X) @ params[0].T",
            "What does phi do to a negative input? The first layer sees X itself.",
        ),
        "always ReLU": (
            "h = phi(h)",
            "h = torch.relu(h)",
            "The last argument says which activation to use.",
        ),
        "the sum for the mean": (
            "((h - Y) ** 2).mean()",
            "((h - Y) ** 2).sum()",
            "Is your first loss many times too large?",
        ),
        "the mean over rows only": (
            "((h - Y) ** 2).mean()",
            "((h - Y) ** 2).sum(1).mean()",
            "The mean of all squared errors: over rows and over outputs.",
        ),
        "absolute errors": (
            "((h - Y) ** 2)",
            "(h - Y).abs()",
            "Compare your first loss with the mean of the squared differences.",
        ),
        "plain gradient descent": (
            "torch.optim.Adam(",
            "torch.optim.SGD(",
            "How long is the first step of Adam, whatever the slope? And yours?",
        ),
        "Adam's own rate": (
            "lr=rate",
            "lr=0.001",
            "Does your result depend on rate?",
        ),
        "in single precision": (
            "torch.tensor(part, requires_grad=True) for pair in layers for part in pair\n    ]\n"
            "    adam = torch.optim.Adam(params, lr=rate)\n    X, Y = torch.tensor(X), torch.tensor(Y)",
            "torch.tensor(part).float().requires_grad_() for pair in layers for part in pair\n    ]\n"
            "    adam = torch.optim.Adam(params, lr=rate)\n    X, Y = torch.tensor(X).float(), torch.tensor(Y).float()",
            "Your numbers agree to six digits or so. Which dtype have your tensors?",
        ),
        "the first loss is missing": (
            "trained[1::2])), losses",
            "trained[1::2])), losses[1:]",
            "The first loss is that of the network as it was handed in. Is there one for each step?",
        ),
    }
)

train_net.worked(
    why="""A network is a list of arrays, and training needs to know nothing else about it: torch writes down what the forward pass
    does with the tensors that require a gradient, and goes back through it. The activation stands before every layer but the
    first, which is the same as after every one but the last. The slopes are cleared in each round since backward adds to
    them, and the loss is taken before the step, so its list begins with the network that was handed in."""
)


@train_net.right("torch's own layers", library="torch.nn.Linear")
def _(layers, X, Y, rate, steps, phi=torch.relu):
    nets = []
    for W, b in layers:
        net = torch.nn.Linear(W.shape[1], W.shape[0], dtype=torch.float64)
        with torch.no_grad():
            net.weight.copy_(torch.tensor(W))
            net.bias.copy_(torch.tensor(b))
        nets.append(net)
    params = [p for net in nets for p in net.parameters()]
    adam, losses = torch.optim.Adam(params, lr=rate), []
    for _ in range(steps):
        h = torch.tensor(X)
        for net in nets[:-1]:
            h = phi(net(h))
        loss = torch.nn.functional.mse_loss(nets[-1](h), torch.tensor(Y))
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return [(net.weight.detach(), net.bias.detach()) for net in nets], losses


@train_net.right("Adam by hand")
def _(layers, X, Y, rate, steps, phi=torch.relu):
    P = [torch.tensor(p, requires_grad=True) for pair in layers for p in pair]
    m, v, losses = [0.0] * len(P), [0.0] * len(P), []
    for step in range(1, steps + 1):
        h = torch.tensor(X)
        for i in range(0, len(P) - 2, 2):
            h = phi(h @ P[i].T + P[i + 1])
        loss = ((h @ P[-2].T + P[-1] - torch.tensor(Y)) ** 2).mean()
        losses.append(float(loss))
        with torch.no_grad():
            for i, g in enumerate(torch.autograd.grad(loss, P)):
                m[i] = 0.9 * m[i] + 0.1 * g
                v[i] = 0.999 * v[i] + 0.001 * g * g
                root = (v[i] / (1 - 0.999**step)).sqrt() + 1e-8
                P[i] -= rate * m[i] / (1 - 0.9**step) / root
    P = [p.detach().numpy() for p in P]
    return [[W, b] for W, b in zip(P[::2], P[1::2], strict=True)], losses


# ---------------------------------------------------------------- finitely many points

step_net = Exercise(
    "step_net",
    reference=reference.step_outputs,
    compare=close(rtol=0, atol=1e-6),  # as the text says
    batched=("values",),
    hints=[
        "A steep sigmoid is a step. Where must the step of point s stand, so that the sigmoid is 0 at s - 1 and 1 at s, and "
        "neither nearly ½?",
        "Half-way: sigmoid(40 (x - s + ½)). Such a neuron stays on for all later points. So by how much must the output change "
        "at point s?",
        "W1 is 40 everywhere, and b1 puts each step at s - ½. np.diff with prepend=0 makes jumps of values.",
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
    def rough(n):
        """Values of both signs that jump by more than 1 from point to point and never vanish."""
        return rng.uniform(1.0, 1.4, n) * np.where(np.arange(n) % 2, -2, 1)

    yield "five points", dict(values=rough(5))
    yield "twenty points", dict(values=rough(20))
    yield (
        "as large as promised",
        dict(values=10 * np.sign(rough(12)) - rng.uniform(0, 0.1)),
    )
    yield "a single point", dict(values=rng.uniform(2, 3, 1))
    yield "all values equal", dict(values=np.full(4, rng.uniform(1, 2)))


step_net.mistakes(
    {
        "the steps stand on the points": (
            "np.arange(1, n + 1) - 0.5",
            "np.arange(1, n + 1)",
            "What is the sigmoid of 0? Where between two points should the step stand?",
        ),
        "values for jumps": (
            "np.diff(values, prepend=0)",
            "np.append(values[:1], values[1:])",
            "A neuron that is on stays on for all later points. What have the earlier ones already added at point s?",
        ),
        "too gentle": (
            "np.full(n, 40.0), -40.0 * steps",
            "np.full(n, 8.0), -8.0 * steps",
            "Half a unit from the step the sigmoid must be within about 1e-8 of 0 or 1. How steep is that?",
        ),
        "the steps come half a point late": (
            "np.arange(1, n + 1) - 0.5",
            "np.arange(1, n + 1) + 0.5",
            "At point s the step of s must have happened. Which sign has the half?",
        ),
        "the first value is forgotten": (
            "np.diff(values, prepend=0)",
            "np.diff(values, prepend=values[0])",
            "There is no output bias. Which neuron brings the value of the first point?",
        ),
        "points counted from zero": (
            "np.arange(1, n + 1) - 0.5",
            "np.arange(n) - 0.5",
            "The points are 1, 2, …, n. Where does your first step stand?",
        ),
    }
)

step_net.worked(
    why="""Between two neighbouring points nobody looks, so that is where a step may take place, and half-way it is as far from both
    as it can be: 40 · ½ = 20, and the sigmoid of −20 is 2e-9. All units up to s are on at s, so their weights must add up
    to f(s): each is the difference to the point before."""
)


@step_net.wrong(
    "the construction as printed",
    advice="Your step s stands a billionth before the point s. What is the sigmoid's argument at x = s, for few points?",
)
def _(values):
    n, j = len(values), np.arange(1, 2 * len(values) + 1)
    W1, b1 = np.full(2 * n, 10.0**n), -(10.0**n) * (np.ceil((j + 1) / 2) - 1e-9)
    return W1, b1, (-1.0) ** (j + 1) * values[(j + 1) // 2 - 1]


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
    W2 = np.column_stack([values, -values]).ravel()
    return np.full(2 * len(s), 60.0), -60.0 * edges, W2


@step_net.right("neurons that open to the left, as lists")
def _(values):
    n = len(values)
    drops = [values[i] - (values[i + 1] if i + 1 < n else 0) for i in range(n)]
    return [[-50.0]] * n, [50.0 * (i + 1.5) for i in range(n)], drops


# ---------------------------------------------------------------- activations

activation = Exercise(
    "activation",
    reference=reference.activation,
    compare=close(rtol=1e-6, atol=1e-9, float32=True),
    batched=("z",),
    hints=[
        "Each slope can be written with the value: of the sigmoid, p (1 - p); of tanh, 1 - t². What is that of ELU for z < 0?",
        "np.where computes both branches, so exp of a large positive z overflows in the branch that you throw away. "
        "Give exp only min(z, 0).",
        "elu: low = np.minimum(z, 0); value np.maximum(z, 0) + np.expm1(low), slope np.exp(low). The sigmoid is "
        "½ + ½ tanh(z/2), and np.tanh never overflows.",
    ],
)


@activation.cases
def _(rng):
    for name in ("relu", "leaky", "elu", "sigmoid", "tanh"):
        z = rng.uniform(0.9, 1.1, 6) * np.array([0.4, -0.4, 1.5, -1.5, 2.7, -2.7])
        yield f"{name}, both signs", dict(name=name, z=z)
    for name in ("relu", "leaky", "elu", "sigmoid", "tanh"):
        yield "at zero", dict(name=name, z=np.zeros((1, 2)))
    for name in ("relu", "leaky", "elu", "sigmoid", "tanh"):
        far = np.array([-1000.0, 1000.0]) * rng.uniform(0.9, 1.1)
        yield "far out", dict(name=name, z=far)


activation.mistakes(
    {
        "ELU as the notes print it": (
            "np.maximum(z, 0) + np.expm1(low)",
            "np.maximum(z, 0) + low * np.expm1(low)",
            "Try z = -3. Should ELU be positive there? A factor of min(z, 0) is one too many.",
        ),
        "tanh as the notes print it": (
            "return np.tanh(z), 1",
            "return np.tanh(z / 2), 1",
            "At z = 1 tanh is 0.762. Is yours? How steep is tanh at 0?",
        ),
        "the slope of the sigmoid without 1 - p": (
            "p * (1 - p)",
            "p",
            "The sigmoid saturates on both sides. What is your slope far to the right?",
        ),
        "the slope of the sigmoid from z": (
            "p * (1 - p)",
            "z * (1 - z)",
            "s (1 - s) is the slope where s is the value of the sigmoid, not what goes in.",
        ),
        "the leak is a tenth": (
            "np.maximum(z, 0.01 * z), np.where(z > 0, 1, 0.01)",
            "np.maximum(z, 0.1 * z), np.where(z > 0, 1, 0.1)",
            "How much does a leaky unit let through for z < 0?",
        ),
        "the slope of ReLU at zero is one": (
            "np.where(z > 0, 1.0, 0.0)",
            "np.where(z >= 0, 1.0, 0.0)",
            "At its kink ReLU has no derivative; the text says which number to take.",
        ),
        "the slope of leaky ReLU at zero is one": (
            "np.where(z > 0, 1, 0.01)",
            "np.where(z >= 0, 1, 0.01)",
            "At its kink leaky ReLU has no derivative; the text says which number to take.",
        ),
        "the slope of ELU is its value": (
            "np.exp(low)",
            "np.where(z > 0, 1, np.expm1(low))",
            "Does the slope of e^z - 1 still have the - 1? ELU never falls; is your slope ever negative?",
        ),
        "the slope of tanh without the square": (
            "1 - np.tanh(z) ** 2",
            "1 - np.tanh(z)",
            "tanh saturates on both sides. What is your slope far to the left?",
        ),
        "exp overflows": (
            "p = 0.5 + 0.5 * np.tanh(z / 2)",
            "p = np.exp(z) / (1 + np.exp(z))",
            "For z = 1000, exp(z) is infinite, and infinity over infinity is not a number. Which function is never large?",
        ),
        "tanh from its formula": (
            "return np.tanh(z), 1",
            "return (np.exp(z) - np.exp(-z)) / (np.exp(z) + np.exp(-z)), 1",
            "For z = 1000, e^z is infinite, and infinity over infinity is not a number. Which function of NumPy knows tanh?",
        ),
    }
)

activation.worked(
    why="""Slopes follow from values: p(1 − p) for the sigmoid, 1 − t² for tanh, e^z for the left half of ELU. np.where computes both
    of its branches, so what it throws away must stay finite too: exp gets min(z, 0) only, and the sigmoid is written with
    tanh, which never overflows. At a kink there is no slope, only a convention; torch takes the left one."""
)


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


@activation.right("by autograd", library="torch.nn.functional.leaky_relu")
def _(name, z):
    from torch.nn import functional as F

    t = torch.tensor(z, requires_grad=True)
    value = getattr(F, "leaky_relu" if name == "leaky" else name)(t)
    value.sum().backward()
    return value.detach(), t.grad


# ---------------------------------------------------------------- price and ceiling

budget = Exercise(
    "budget",
    reference=reference.budget,
    compare=exact(),
    hints=[
        "Price: a matrix of shape (n_j, n_(j-1)) times a vector. How many multiplications? Add up, the output layer included.",
        "Ceiling: one factor for each hidden layer, Σ C(n, j) for j = 0, …, d. What is d for layer l, if an earlier layer was "
        "narrower than the input?",
        "For hidden layer l = 1, …, K, d is the smallest of sizes[:l]. math.comb(n, j) is exact, and 0 for j > n; a product "
        "over the layers.",
    ],
)


@budget.cases
def _(rng):
    n, k, m, j = map(int, rng.integers(4, 16, 4))
    yield "two inputs, one hidden layer", dict(sizes=[2, n, 1])
    yield "two inputs, several layers", dict(sizes=[2, k, k + 2, k + 1, 2])
    yield "three inputs", dict(sizes=[3, m, m + 1, 1])
    yield "a bottleneck", dict(sizes=[3, j, 1, j, 2])
    yield "more inputs than units", dict(sizes=[9, 3, 3, 1])
    yield "no hidden layer", dict(sizes=[int(rng.integers(3, 16)), 2])


budget.mistakes(
    {
        "the formula for two inputs, always": (
            "range(d + 1)",
            "range(3)",
            "Three planes in space make 8 regions. What does your formula give for 3 inputs and 3 units?",
        ),
        "the bottleneck is not seen": (
            "d = min(d, n)",
            "d = sizes[0]",
            "Behind a layer of one unit everything lies on a line. Into how many parts can n points cut a line?",
        ),
        "only the layer just before is looked at": (
            "d = min(d, n)",
            "d = n",
            "A plane sent into a space of six dimensions stays a plane. Which widths before a layer limit what it can see?",
        ),
        "the last matrix is not counted": (
            "zip(sizes, sizes[1:])",
            "zip(sizes, sizes[1:-1])",
            "The output layer has a matrix too. How many have you multiplied by?",
        ),
        "the sum stops before d": (
            "range(d + 1)",
            "range(d)",
            "Four lines make 11 regions of the plane. Does your sum of binomials include j = d?",
        ),
        "every pattern counts": (
            "sum(math.comb(n, j) for j in range(d + 1))",
            "2**n",
            "Three lines in the plane leave one of the 8 patterns out. How many inputs are there?",
        ),
        "the layers are added": (
            "regions *= ",
            "regions += ",
            "A second layer cuts each region of the first. Do the counts add or multiply?",
        ),
        "biases counted as multiplications": (
            "sum(m * n for",
            "sum((m + 1) * n for",
            "Adding a bias is no multiplication. Which numbers multiply an input?",
        ),
        "the output layer is cut too": (
            "in sizes[1:-1]",
            "in sizes[1:]",
            "Does the last layer have a ReLU? Only a kink cuts.",
        ),
    }
)

budget.worked(
    why="""The price is local: each matrix entry multiplies once. The ceiling is a product because a layer sees each region of the
    layers before it through one affine map, and hyperplanes cut that image no more often than they cut a space of its
    dimension. That dimension can only shrink on the way, so the smallest width so far decides."""
)


@budget.right("one layer at a time, by Pascal's rule")
def _(sizes):
    def parts(n, d):
        row = [1] * (d + 1)  # no hyperplane: one part, in every dimension
        for _ in range(
            n
        ):  # the next one is cut by the others like a space of dimension d - 1
            row = [row[i] + (row[i - 1] if i else 0) for i in range(d + 1)]
        return row[d]

    price, regions, d = 0, 1, sizes[0]
    for i in range(1, len(sizes)):
        price += sizes[i - 1] * sizes[i]
        if i < len(sizes) - 1:
            regions *= parts(sizes[i], d)
            d = min(d, sizes[i])
    return price, regions


@budget.right("exact binomials", library="scipy.special.comb")
def _(sizes):
    from scipy.special import comb

    regions = 1
    for i, n in enumerate(sizes[1:-1], 1):
        regions *= sum(comb(n, j, exact=True) for j in range(min(sizes[:i]) + 1))
    return [int(np.dot(sizes[:-1], sizes[1:])), regions]

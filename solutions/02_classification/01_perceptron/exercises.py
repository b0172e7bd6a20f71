"""Exercises of 02_classification/01_perceptron."""

from itertools import combinations

import numpy as np
import torch
from scipy.optimize import linprog, nnls

from descent.compare import close, exact
from solutions.spec import Exercise

from . import reference

CORNERS = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
OR, XOR = np.array([-1.0, 1, 1, 1]), np.array([-1.0, 1, 1, -1])


# ---------------------------------------------------------------- linear duality

recover = Exercise(
    "recover",
    reference=reference.affine_parts,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("w",),
    hints=[
        "Which single call tells you b? What does f give at a unit vector, and what is in it besides w_j?",
        "f(0) = b. f(e_j) = w_j + b, where e_j is row j of np.eye(d). Two unknowns, two probes.",
        "b = f(np.zeros(d)), and w_j = f(row j of np.eye(d)) - b for each j. Collect the w_j in an array.",
    ],
)


@recover.probe
def _(answer, w, b):
    def f(x):
        return float(np.dot(np.asarray(x, float), w)) + b

    return answer(f, len(w))


@recover.cases
def _(rng):
    yield "any affine function", dict(w=_clear(rng, 4), b=rng.uniform(1.0, 2.0))
    yield "any affine function", dict(w=_clear(rng, 3), b=-rng.uniform(1.0, 2.0))
    yield "a linear function has b = 0", dict(w=_clear(rng, 5), b=0.0)
    yield "one feature", dict(w=_clear(rng, 1), b=rng.uniform(1.0, 2.0))
    yield "a constant", dict(w=np.zeros(3), b=rng.uniform(1.0, 2.0))


def _clear(rng, d):
    """Numbers of both signs, all different, none near 0."""
    return rng.permutation(
        np.arange(1, d + 1) * rng.choice([-1.0, 1.0], d)
    ) + rng.uniform(-0.2, 0.2, d)


@recover.wrong(
    "the bias is left in the weights",
    advice="What does f give at a unit vector if all weights are 0? That is in your w too.",
)
def _(f, d):
    return np.array([f(e) for e in np.eye(d)]), f(np.zeros(d))


@recover.wrong(
    "no bias at all", advice="Call f at the zero vector. Is the result always 0?"
)
def _(f, d):
    return np.array([f(e) for e in np.eye(d)]), 0.0


@recover.wrong(
    "the bias is read at the vector of ones",
    advice="At the vector of ones every weight joins in. At which x do all weights drop out?",
)
def _(f, d):
    b = f(np.ones(d))
    return np.array([f(e) - b for e in np.eye(d)]), b


@recover.wrong(
    "one probe for all weights",
    advice="A difference of two values is one number. How can it hold d different weights?",
)
def _(f, d):
    b = f(np.zeros(d))
    return np.full(d, f(np.ones(d)) - b), b


@recover.right("by least squares on random probes")
def _(f, d):
    X = np.random.default_rng(0).normal(size=(2 * d + 2, d))
    A = np.column_stack([X, np.ones(len(X))])
    v = np.linalg.lstsq(A, np.array([f(x) for x in X]), rcond=None)[0]
    return v[:-1], v[-1]


@recover.right("lists, with central differences")
def _(f, d):
    units = [[float(i == j) for i in range(d)] for j in range(d)]
    return [(f(e) - f([-x for x in e])) / 2 for e in units], f([0.0] * d)


# ---------------------------------------------------------------- geometry

signed_distance = Exercise(
    "signed_distance",
    reference=reference.signed_distances,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("X", "w"),
    hints=[
        "The score grows if (w, b) is doubled, the distance must not. What do you divide by?",
        "Distance: the score over the length of w alone. Label: +1 where the score is above 0, else -1.",
        "score = X @ w + b; distance = score / np.linalg.norm(w); labels = np.where(score > 0, …, …).",
    ],
)


@signed_distance.cases
def _(rng):
    w, b = rng.uniform(1.5, 3.0, 2) * [1, -1], rng.uniform(0.5, 1.0)
    X = rng.normal(size=(6, 2))
    X[0], X[1] = [3.0, -3.0], [-3.0, 3.0]  # one surely on each side
    yield "points on both sides", dict(X=X, w=w, b=b)
    X = rng.normal(size=(5, 3)) + 2
    yield (
        "three features",
        dict(X=X, w=rng.uniform(2.0, 3.0, 3), b=-rng.uniform(4.0, 6.0)),
    )
    # The length of w is a power of 2, so the score is exactly 0 whether w is divided first or last.
    u, at = rng.choice([-1.0, 1.0], 4), rng.integers(-3, 4, 4)
    aside = np.array(
        [[0.0, 0, 0, 0], [2, -2, 0, 0], [0, 1, 3, -4], [1, 1, 1, 1], [-1, -1, -1, -1]]
    )
    w2 = u * rng.choice([1.0, 2.0, 4.0])
    yield "points on the boundary", dict(X=aside * u + at, w=w2, b=-float(w2 @ at))
    yield (
        "one feature",
        dict(X=rng.normal(size=(4, 1)), w=np.array([-2.0]), b=rng.uniform(0.5, 1)),
    )
    yield "no points", dict(X=np.zeros((0, 2)), w=w, b=b)


@signed_distance.wrong(
    "the score is called distance",
    advice="Multiply w and b by 10. Does the boundary move? Does your distance?",
)
def _(X, w, b):
    score = X @ w + b
    return score, np.where(score > 0, 1.0, -1.0)


@signed_distance.wrong(
    "divides by the squared length",
    advice="What happens to your distance if w and b are doubled? It should stay.",
)
def _(X, w, b):
    score = X @ w + b
    return score / (w @ w), np.where(score > 0, 1.0, -1.0)


@signed_distance.wrong(
    "the bias counts in the length",
    advice="The distance is measured in the space of x. Is b one of its coordinates?",
)
def _(X, w, b):
    score = X @ w + b
    return score / np.sqrt(w @ w + b * b), np.where(score > 0, 1.0, -1.0)


@signed_distance.wrong(
    "only the weights are divided",
    advice="Which point of your formula has distance 0? It must lie on the boundary.",
)
def _(X, w, b):
    return X @ w / np.linalg.norm(w) + b, np.where(X @ w + b > 0, 1.0, -1.0)


@signed_distance.wrong(
    "np.sign on the boundary",
    advice="Which label does a point exactly on the boundary get in the text? There are two labels only.",
)
def _(X, w, b):
    score = X @ w + b
    return score / np.linalg.norm(w), np.sign(score)


@signed_distance.wrong(
    "the boundary is called positive",
    advice="The text has sgn(0) = -1. Do you test > or >=?",
)
def _(X, w, b):
    score = X @ w + b
    return score / np.linalg.norm(w), np.where(score >= 0, 1.0, -1.0)


@signed_distance.wrong(
    "a distance without a sign",
    advice="The distance is negative on the far side of w. Where did the sign go?",
)
def _(X, w, b):
    score = X @ w + b
    return np.abs(score) / np.linalg.norm(w), np.where(score > 0, 1.0, -1.0)


@signed_distance.right("point by point, in lists")
def _(X, w, b):
    length = sum(float(c) ** 2 for c in w) ** 0.5
    scores = [
        sum(float(a) * float(c) for a, c in zip(x, w, strict=True)) + b for x in X
    ]
    return [s / length for s in scores], [1 if s > 0 else -1 for s in scores]


@signed_distance.right("from the foot of the perpendicular, in torch")
def _(X, w, b):
    X, w = torch.as_tensor(X), torch.as_tensor(w)
    foot = -b * w / (w @ w)
    distance = (X - foot) @ (w / w.norm())
    return distance, torch.where(X @ w + b > 0, 1.0, -1.0)


@signed_distance.right("the unit vector first")
def _(X, w, b):
    length = np.linalg.norm(w)
    distance = X @ (w / length) + b / length
    return distance, np.where(distance > 0, 1, -1)


# ---------------------------------------------------------------- the algorithm


def _run(X, y, order, w0, b0):
    """The reference's trace, of which the answer keeps the states after mistakes."""
    start = torch.cat(
        [w0, torch.as_tensor(b0, dtype=w0.dtype, device=w0.device).reshape(1)]
    )
    path, mistakes = reference.perceptron_trace(X, y, order, start)
    kept = torch.cat([start.unsqueeze(0), path[1:][mistakes]])
    return kept[:, :-1], kept[:, -1], torch.nonzero(mistakes).reshape(-1)


perceptron = Exercise(
    "perceptron",
    reference=_run,
    compare=close(rtol=1e-6, atol=1e-9),
    data_dependent="the result lists the steps that were mistakes",
    hints=[
        "For each step: which row, is it a mistake, and if so what are the next w and b? Keep lists that start with w0 and b0.",
        "for t, i in enumerate(order): the mistake test is y[i] * (X[i] @ w + b) <= 0 with the latest w and b. Only then append.",
        "In a mistake: w = w + y[i] * X[i] makes a new array (+= would change the ones in your list); b = b + y[i]; append w, b and t.",
    ],
)


@perceptron.cases
def _(rng):
    zero = np.zeros(2)
    yield (
        "OR, in order",
        dict(X=CORNERS, y=OR, order=np.tile(np.arange(4), 3), w0=zero, b0=0.0),
    )
    X, y = _split(rng)
    yield (
        "any order",
        dict(X=X, y=y, order=np.r_[1, 0, rng.integers(0, 6, 10)], w0=zero, b0=0.0),
    )
    late = np.r_[
        [3] * 6, 0, rng.integers(0, 4, 5)
    ]  # five right answers, then a mistake on (0, 0)
    yield (
        "any order",
        dict(X=CORNERS * rng.integers(1, 4), y=OR, order=late, w0=zero, b0=0.0),
    )
    X, y = _split(rng)
    yield (
        "a start away from zero",
        dict(X=X, y=y, order=rng.permutation(6), w0=-X[0] * y[0] * 2, b0=-2.0 * y[0]),
    )
    X, y = _split(rng)
    yield (
        "no mistake, no change",
        dict(X=X, y=y, order=rng.integers(0, 6, 5), w0=np.array([3.0, 4.0]), b0=0.0),
    )
    yield (
        "a score of 0 is a mistake",
        dict(
            X=np.array([[1.0, 2], [2, -1]]),
            y=np.array([1.0, -1]),
            order=np.array([1, 0]),
            w0=np.array([1.0, 2]) * rng.integers(1, 20),
            b0=0.0,
        ),
    )
    X, y = _split(rng)
    yield (
        "no step",
        dict(
            X=X,
            y=y,
            order=np.zeros(0, int),
            w0=rng.integers(-30, 31, 2) / 10,
            b0=1.0,
        ),
    )


def _split(rng):
    """Six points on both sides of 3 x1 + 4 x2 = 0, the first with label +1, the second with -1; whole numbers."""
    X = rng.integers(-2, 3, (6, 2)).astype(float)
    y = np.array([1.0, -1, 1, -1, 1, -1])
    return X + y[:, None] * [2.0, 2.0] + y[:, None] * 2, y


def _perceptron(
    X, y, order, w0, b0, wrong=lambda s: s <= 0, step=lambda y, x: (y * x, y), at=0
):
    W, B, times = [w0], [b0], []
    for t, i in enumerate(order):
        if wrong(y[i] * (X[i] @ W[-1] + B[-1])):
            dw, db = step(y[i], X[i])
            W.append(W[-1] + dw)
            B.append(B[-1] + db)
            times.append(t + at)
    return np.array(W), np.array(B), np.array(times, int)


@perceptron.wrong(
    "a score of 0 passes",
    advice="Start at w = 0, b = 0: every score is 0. Does your run ever leave the start?",
)
def _(X, y, order, w0, b0):
    return _perceptron(X, y, order, w0, b0, wrong=lambda s: s < 0)


@perceptron.wrong(
    "the label is forgotten in the update",
    advice="On a mistake with label -1 the score must fall. Does yours?",
)
def _(X, y, order, w0, b0):
    return _perceptron(X, y, order, w0, b0, step=lambda y, x: (x, 1.0))


@perceptron.wrong(
    "the bias stays",
    advice="Follow b on the first mistake of OR, at (0, 0). What can w learn from that point?",
)
def _(X, y, order, w0, b0):
    return _perceptron(X, y, order, w0, b0, step=lambda y, x: (y * x, 0.0))


@perceptron.wrong(
    "predicts with the initial weights",
    advice="Which w and b judge the next point: the first ones or the latest?",
)
def _(X, y, order, w0, b0):
    W, B, times = [w0], [b0], []
    for t, i in enumerate(order):
        if y[i] * (X[i] @ w0 + b0) <= 0:
            W.append(W[-1] + y[i] * X[i])
            B.append(B[-1] + y[i])
            times.append(t)
    return np.array(W), np.array(B), np.array(times, int)


@perceptron.wrong(
    "every step is an update",
    advice="What should happen at a point that is already on its side?",
)
def _(X, y, order, w0, b0):
    return _perceptron(X, y, order, w0, b0, wrong=lambda s: True)


@perceptron.wrong(
    "a score of 0 counts as label -1",
    advice="The text calls y (<x, w> + b) <= 0 a mistake for both labels. What does your rule do at a score of 0 with y = -1?",
)
def _(X, y, order, w0, b0):
    W, B, times = [w0], [b0], []
    for t, i in enumerate(order):
        if (1 if X[i] @ W[-1] + B[-1] > 0 else -1) != y[i]:
            W.append(W[-1] + y[i] * X[i])
            B.append(B[-1] + y[i])
            times.append(t)
    return np.array(W), np.array(B), np.array(times, int)


@perceptron.wrong(
    "every row is the last one",
    advice="`w += …` changes the array that is already in your list. Is W[0] still the start?",
)
def _(X, y, order, w0, b0):
    W, B, times = _perceptron(X, y, order, w0, b0)
    return np.repeat(W[-1:], len(W), axis=0), B, times


@perceptron.wrong("times counted from 1", advice="The text counts the steps from 0.")
def _(X, y, order, w0, b0):
    return _perceptron(X, y, order, w0, b0, at=1)


@perceptron.wrong(
    "goes through the rows instead of the order",
    advice="order[t] is the row to look at in step t, and it may name a row many times.",
)
def _(X, y, order, w0, b0):
    return _perceptron(X, y, np.arange(len(y)), w0, b0)


@perceptron.wrong(
    "stops after n right answers in a row",
    advice="An order may ask one row many times. Do n right answers in a row mean that all n rows are right?",
)
def _(X, y, order, w0, b0):
    right = 0
    for t in range(len(order)):
        _, _, times = _perceptron(X, y, order[: t + 1], w0, b0)
        right = 0 if t in times else right + 1
        if right == len(y):
            return _perceptron(X, y, order[: t + 1], w0, b0)
    return _perceptron(X, y, order, w0, b0)


@perceptron.wrong(
    "the bias is missing from the mistake test",
    advice="Which score decides about a mistake: <x, w>, or <x, w> + b?",
)
def _(X, y, order, w0, b0):
    W, B, times = [w0], [b0], []
    for t, i in enumerate(order):
        if y[i] * (X[i] @ W[-1]) <= 0:
            W.append(W[-1] + y[i] * X[i])
            B.append(B[-1] + y[i])
            times.append(t)
    return np.array(W), np.array(B), np.array(times, int)


@perceptron.right("with the bias absorbed")
def _(X, y, order, w0, b0):
    rows = np.column_stack([X, np.ones(len(X))]) * y[:, None]
    path, times = [np.append(w0, b0)], []
    for t, row in enumerate(rows[order]):
        if not row @ path[-1] > 0:
            path.append(path[-1] + row)
            times.append(t)
    path = np.array(path)
    return path[:, :-1], path[:, -1], times


@perceptron.right("from counts of mistakes: the dual form")
def _(X, y, order, w0, b0):
    counts, W, B, times = np.zeros(len(y)), [w0], [b0], []
    inner = X @ X.T + 1
    start = X @ w0 + b0
    for t, i in enumerate(order):
        if y[i] * (start[i] + inner[i] @ (counts * y)) <= 0:
            counts[i] += 1
            W.append(w0 + (counts * y) @ X)
            B.append(b0 + counts @ y)
            times.append(t)
    return np.array(W), np.array(B), np.array(times)


@perceptron.right("single precision, in lists")
def _(X, y, order, w0, b0):
    X, w, b = X.astype(np.float32), w0.astype(np.float32), np.float32(b0)
    W, B, times = [w.tolist()], [float(b)], []
    for t in range(len(order)):
        label = np.float32(y[order[t]])
        if label * (X[order[t]] @ w + b) <= 0:
            w, b = w + label * X[order[t]], b + label
            W.append(w.tolist())
            B.append(float(b))
            times.append(t)
    return W, B, times


# ---------------------------------------------------------------- the bound

novikoff = Exercise(
    "novikoff",
    reference=reference.mistake_bound,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("X", "b", "w", "y"),
    hints=[
        "The theorem speaks of lifted rows (x, 1) and of a v = (w, b) of length 1. Which lengths does that change?",
        "gamma = min of y * (X @ w + b), over the length of (w, b). C is the largest length of a row (x, 1).",
        "length = np.sqrt(w @ w + b**2). C is the root of (X**2).sum(axis=1).max() + 1. Square C / gamma only if gamma > 0.",
    ],
)


@novikoff.cases
def _(rng):
    yield "OR has bound 27", dict(X=CORNERS, y=OR, w=np.array([2.0, 2.0]), b=-1.0)
    for d in (2, 4):
        yield "any separator", _separated(rng, d)
    case = _separated(rng, 3)
    case.update(w=case["w"] * 100, b=case["b"] * 100)
    yield "the scale of the separator does not count", case
    case = _separated(rng, 2)
    case["y"] = case["y"] * np.array([1, 1, -1, 1, 1, -1])
    yield "two points on the wrong side", case
    yield (
        "a point on the boundary",
        dict(X=CORNERS * rng.integers(1, 4), y=OR, w=np.array([1.0, 0.0]), b=0.0),
    )


def _separated(rng, d):
    """Six rows on both sides of a random plane, no two equally far from it."""
    w = rng.choice([-1.0, 1.0], d) * rng.uniform(0.6, 1.4, d)
    b = rng.choice([-1.0, 1.0]) * rng.uniform(0.5, 1.0)
    y = np.array([1.0, -1, 1, -1, 1, -1])
    X = rng.normal(size=(6, d))
    goal = y * np.array([0.4, 0.9, 1.5, 2.0, 2.6, 3.1]) * rng.uniform(0.9, 1.1)
    X = X + ((goal - X @ w - b) / (w @ w))[:, None] * w
    return dict(X=X, y=y, w=w, b=b)


def _novikoff(X, y, w, b, length=None, C=None, least=np.min, bound=None):
    length = np.sqrt(w @ w + b * b) if length is None else length
    C = np.sqrt((X**2).sum(1).max() + 1) if C is None else C
    gamma = least(y * (X @ w + b)) / length
    if gamma <= 0:
        return gamma, C, np.inf
    return gamma, C, (C / gamma) ** 2 if bound is None else bound(C, gamma)


@novikoff.wrong(
    "v is not normalised",
    advice="Multiply w and b by 100. The classifier stays the same; does your bound?",
)
def _(X, y, w, b):
    return _novikoff(X, y, w, b, length=1.0)


@novikoff.wrong(
    "the length of w alone",
    advice="The theorem runs on lifted rows. Which entry of v = (w, b) is missing from your length?",
)
def _(X, y, w, b):
    return _novikoff(X, y, w, b, length=np.linalg.norm(w))


@novikoff.wrong(
    "C without the 1",
    advice="How long is the lifted row of the point (0, 0)?",
)
def _(X, y, w, b):
    return _novikoff(X, y, w, b, C=np.sqrt((X**2).sum(1).max()))


@novikoff.wrong(
    "the mean instead of the smallest",
    advice="The bound must survive the worst point. Which of the n values is that?",
)
def _(X, y, w, b):
    return _novikoff(X, y, w, b, least=np.mean)


@novikoff.wrong(
    "C / gamma without the square",
    advice="For OR, C² = 3 and gamma = 1/3. Is your bound 27?",
)
def _(X, y, w, b):
    return _novikoff(X, y, w, b, bound=lambda C, gamma: C / gamma)


@novikoff.wrong(
    "absolute values hide the wrong side",
    advice="If v does not separate, the theorem says nothing. Do you keep the label in the margin?",
)
def _(X, y, w, b):
    gamma = np.abs(X @ w + b).min() / np.sqrt(w @ w + b * b)
    C = np.sqrt((X**2).sum(1).max() + 1)
    return gamma, C, (C / gamma) ** 2 if gamma > 0 else np.inf


@novikoff.wrong(
    "a finite bound without a separator",
    advice="What does the theorem promise when gamma is negative? The square hides the sign.",
)
def _(X, y, w, b):
    gamma, C, _ = _novikoff(X, y, w, b)
    return gamma, C, (C / gamma) ** 2 if gamma else np.inf


@novikoff.right("on lifted rows")
def _(X, y, w, b):
    rows, v = np.column_stack([X, np.ones(len(X))]), np.append(w, b)
    gamma = np.min(rows @ v * y) / np.linalg.norm(v)
    C = np.linalg.norm(rows, axis=1).max()
    return gamma, C, C**2 / gamma**2 if gamma > 0 else np.inf


@novikoff.right("row by row, in lists")
def _(X, y, w, b):
    length = (sum(c * c for c in w) + b * b) ** 0.5
    values = [(sum(a * c for a, c in zip(x, w)) + b) * s / length for x, s in zip(X, y)]
    C = max(sum(a * a for a in x) + 1 for x in X) ** 0.5
    return [min(values), C, (C / min(values)) ** 2 if min(values) > 0 else float("inf")]


# ---------------------------------------------------------------- logistic regression, hardened

logistic_step = Exercise(
    "logistic_step",
    reference=reference.logistic_step,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("w", "x"),
    hints=[
        "Both kinds of step have one form, w + (y - p) x. Only p differs.",
        "Soft: p = 1 / (1 + exp(-score)). Hard: p = 1 if the score is above 0, else 0.",
        "score = x @ w; p = float(score > 0) if hard else 1 / (1 + np.exp(-score)); return w plus (y - p) times x.",
    ],
)


@logistic_step.cases
def _(rng):
    for y in (0, 1):
        yield (
            "a soft step",
            dict(w=_clear(rng, 3), x=rng.uniform(0.5, 1.5, 3), y=y, hard=False),
        )
    w = rng.uniform(1.0, 2.0, 2)
    yield "hard, and wrong", dict(w=w, x=rng.uniform(0.5, 1.0, 2), y=0, hard=True)
    yield "hard, and wrong", dict(w=-w, x=rng.uniform(0.5, 1.0, 2), y=1, hard=True)
    # a score of 0.3: above 0, below one half
    yield (
        "hard, and right",
        dict(w=np.array([0.3, 0.0]), x=np.array([1.0, 2.0]), y=1, hard=True),
    )
    yield "hard, and right", dict(w=-w, x=rng.uniform(0.5, 1.0, 2), y=0, hard=True)
    for y in (0, 1):
        x = rng.uniform(0.5, 1.0, 2)
        yield "hard, with score 0", dict(w=np.zeros(2), x=x, y=y, hard=True)


def _logistic(score):
    return 1 / (1 + np.exp(-score))


@logistic_step.wrong(
    "labels turned into ±1",
    advice="The labels are 0 and 1 here. What is y - p when the prediction is right?",
)
def _(w, x, y, hard):
    p = float(x @ w > 0) if hard else _logistic(x @ w)
    return w + (2 * y - 1 - p) * x


@logistic_step.wrong(
    "the step goes the wrong way",
    advice="If y = 1 and p is too small, should the score rise or fall?",
)
def _(w, x, y, hard):
    p = float(x @ w > 0) if hard else _logistic(x @ w)
    return w - (y - p) * x


@logistic_step.wrong(
    "the threshold one half is put on the score",
    advice="p = 1/2 belongs to which score?",
)
def _(w, x, y, hard):
    p = float(x @ w > 0.5) if hard else _logistic(x @ w)
    return w + (y - p) * x


@logistic_step.wrong(
    "a score of 0 counts as 1",
    advice="The text has 1[score > 0]. What is that at a score of 0?",
)
def _(w, x, y, hard):
    p = float(x @ w >= 0) if hard else _logistic(x @ w)
    return w + (y - p) * x


@logistic_step.wrong(
    "the derivative of the logistic comes along",
    advice="This step follows the likelihood, not the squared error: is there a factor p (1 - p) in the text?",
)
def _(w, x, y, hard):
    p = float(x @ w > 0) if hard else _logistic(x @ w)
    return w + (y - p) * x * (1 if hard else p * (1 - p))


@logistic_step.right("with tanh, in lists")
def _(w, x, y, hard):
    score = sum(float(a) * float(c) for a, c in zip(x, w))
    p = (1.0 if score > 0 else 0.0) if hard else 0.5 + 0.5 * np.tanh(score / 2)
    return [float(c) + (y - p) * float(a) for a, c in zip(x, w)]


@logistic_step.right("in torch, single precision")
def _(w, x, y, hard):
    w, x = torch.as_tensor(w).float(), torch.as_tensor(x).float()
    score = torch.dot(w, x)
    p = torch.heaviside(score, torch.zeros(())) if hard else score.sigmoid()
    return (w + (y - p) * x).numpy()


# ---------------------------------------------------------------- separability

separable = Exercise(
    "separable",
    # The probe has verified the proof, so the verdict is all that is left to compare.
    reference=lambda X, y: {
        "separable": reference.separable(X, y),
        "the proof is all zeros": False,
        "a multiplier is negative": False,
        "the proof holds": True,
    },
    compare=exact(),
    limit=5.0,  # SciPy's solvers are imported in the first case
    batched=("X", "y"),
    hints=[
        "Two linear programmes, one for each kind of proof. Exactly one of them has a solution. Which bounds does linprog "
        "put on its variables if you say nothing?",
        "G = rows y_i (x_i, 1). Certificate: lam >= 0 with G.T @ lam = 0 and sum(lam) = 1. Separator: G @ v >= 1, v free.",
        "linprog(np.zeros(n), A_eq=np.vstack([G.T, np.ones(n)]), b_eq=…): status 0 means found, and .x is lam. "
        "Else a second linprog for v: G @ v >= 1 is written A_ub=-G, b_ub=-np.ones(n), and v needs bounds=….",
    ],
)


@separable.probe
def _(answer, X, y):
    verdict, proof = answer(X, y)
    G = np.column_stack([X, np.ones(len(X))]) * np.reshape(y, (-1, 1))
    size, proof = np.abs(G).max(), np.asarray(proof, float)
    if verdict:
        holds = proof.shape == (G.shape[1],) and np.min(
            G @ proof
        ) > 1e-9 * size * np.max(np.abs(proof))
    else:
        holds = (
            proof.shape == (len(G),)
            and proof.min() > -1e-9
            and abs(proof.sum() - 1) < 1e-6
        )
        holds = holds and np.abs(proof @ G).max() < 1e-6 * size
    return {
        "separable": bool(verdict),
        "the proof is all zeros": bool(np.all(np.abs(proof) < 1e-12)),
        "a multiplier is negative": not verdict and bool(np.any(proof < -1e-9)),
        "the proof holds": bool(holds),
    }


@separable.cases
def _(rng):
    case = _separated(rng, 2)
    yield "a line with a gap", dict(X=case["X"], y=case["y"])
    case = _separated(rng, 3)
    yield "a plane in three dimensions", dict(X=case["X"], y=case["y"])
    shift = rng.integers(1, 4, 2).astype(float)
    yield "the line misses the origin", dict(X=CORNERS + shift, y=OR)
    yield "the line misses the origin", dict(X=CORNERS + shift, y=-OR)
    stretch = rng.integers(1, 4, 2).astype(float)
    yield "XOR", dict(X=CORNERS * stretch - shift, y=XOR * rng.choice([-1.0, 1.0]))
    X = np.r_[_ring(rng, 5), 0.2 * rng.normal(size=(3, 2))]
    yield "one class inside the other", dict(X=X, y=np.array([1.0] * 5 + [-1] * 3))
    # The shortest lam that balances has negative entries: -0.02 at the last point.
    X = np.array([[0.0], [1], [2], [8], [9], [10]]) * rng.choice(
        [-2, -1, 1, 2]
    ) + rng.integers(0, 4)
    yield "one class inside the other", dict(X=X, y=np.array([1.0, -1, 1, 1, 1, 1]))
    X = rng.normal(size=(4, 2))
    yield (
        "one point with both labels",
        dict(X=np.r_[X, X[:1]], y=np.array([1.0, 1, 1, 1, -1])),
    )
    yield "only one label", dict(X=_ring(rng, 4), y=-np.ones(4))
    X = np.array([[9.0], [10], [10.2], [12]]) + rng.integers(0, 4)
    yield "a narrow gap", dict(X=X, y=np.array([-1.0, -1, 1, 1]))


def _ring(rng, n):
    angle = 2 * np.pi * (np.arange(n) + rng.uniform(0, 0.3, n)) / n
    return 3 * np.column_stack([np.cos(angle), np.sin(angle)])


def _signed(X, y):
    return np.column_stack([X, np.ones(len(X))]) * y[:, None]


def _by_linprog(G, bounds=(None, None), floor=1.0):
    n, D = G.shape
    found = linprog(np.zeros(D), A_ub=-G, b_ub=np.full(n, -floor), bounds=bounds)
    if found.status == 0:
        return True, found.x
    b_eq = np.append(np.zeros(D), 1.0)
    lam = linprog(np.zeros(n), A_eq=np.vstack([G.T, np.ones(n)]), b_eq=b_eq)
    return False, lam.x if lam.status == 0 else np.full(n, 1 / n)


@separable.wrong(
    "v = 0 passes",
    advice="Your programme has a solution for every data set, v = 0. How do you say 'above 0' to a solver that knows only '>='?",
)
def _(X, y):
    return _by_linprog(_signed(X, y), floor=0.0)


@separable.wrong(
    "linprog keeps the weights at or above 0",
    advice="Without bounds=…, linprog takes every variable to be at least 0. May w and b be negative?",
)
def _(X, y):
    return _by_linprog(_signed(X, y), bounds=(0, None))


@separable.wrong(
    "a hundred passes of the perceptron",
    advice="A run that has not stopped proves nothing: it may stop later. What certificate do you return?",
)
def _(X, y):
    G, v = _signed(X, y), np.zeros(X.shape[1] + 1)
    for _ in range(100):
        for row in G:
            v = v + row * (row @ v <= 0)
    return bool(np.all(G @ v > 0)), v if np.all(G @ v > 0) else np.full(
        len(y), 1 / len(y)
    )


@separable.wrong(
    "no bias",
    advice="Must your line go through the origin? Lift the rows first.",
)
def _(X, y):
    verdict, proof = _by_linprog(X * y[:, None])
    return verdict, np.append(proof, 0.0) if verdict else proof


@separable.wrong(
    "the labels are left out",
    advice="Both classes ask for a positive value in your programme. Where does y enter?",
)
def _(X, y):
    return _by_linprog(_signed(X, np.ones(len(y))))


@separable.wrong(
    "multipliers below 0",
    advice="Look at the smallest of your multipliers. Which values are allowed?",
)
def _(X, y):
    G = _signed(X, y)
    verdict, proof = _by_linprog(G)
    if verdict:
        return True, proof
    balance = np.vstack([G.T, np.ones(len(y))])
    return False, np.linalg.lstsq(balance, np.eye(len(balance))[-1], rcond=None)[0]


@separable.wrong(
    "all multipliers 0",
    advice="lam = 0 balances every data set. Which condition forbids it?",
)
def _(X, y):
    G = _signed(X, y)
    lam = linprog(np.zeros(len(y)), A_eq=G.T, b_eq=np.zeros(G.shape[1]))
    return lam.status != 0, np.zeros(len(y))


@separable.right("the separator first")
def _(X, y):
    return _by_linprog(_signed(X, y))


@separable.right("the widest band in a box")
def _(X, y):
    G = _signed(X, y)
    n, D = G.shape
    cost = np.append(np.zeros(D), -1.0)
    bounds = [(-1, 1)] * D + [(None, 1)]
    best = linprog(
        cost, A_ub=np.column_stack([-G, np.ones(n)]), b_ub=np.zeros(n), bounds=bounds
    )
    if best.x[-1] > 1e-7:
        return True, best.x[:-1].tolist()
    lam = -best.ineqlin.marginals
    return False, (lam / lam.sum()).tolist()


@separable.right("the shortest mean of signed rows")
def _(X, y):
    G = _signed(X, y)
    A, goal = np.vstack([G.T, np.ones(len(G))]), np.append(np.zeros(G.shape[1]), 1.0)
    lam, rest = nnls(A, goal)
    if rest < 1e-7:
        return False, lam / lam.sum()
    return True, G.T @ lam


# ---------------------------------------------------------------- many classes

ovo_predict = Exercise(
    "ovo_predict",
    reference=lambda X, labels, new, passes: reference.one_vs_one_votes(
        X, labels, new, int(labels.max()) + 1, passes
    ),
    compare=close(rtol=1e-6, atol=1e-9),
    limit=4.0,
    data_dependent="the largest label says how many classes there are",
    hints=[
        "For one pair k < l you need: the rows of these two classes, labels +1 for k and -1 for l, a fit, and the sign of the new scores.",
        "votes is an (m, c) array of zeros. Where the score is above 0, column k gets one more, elsewhere column l.",
        "for k in range(c): for l in range(k + 1, c): rows = (labels == k) | (labels == l); fit on X[rows] and "
        "np.where(labels[rows] == k, 1, -1); then count. np.argmax takes the first of equals.",
    ],
)


@ovo_predict.probe
def _(answer, X, labels, new, passes):
    def fit(A, s):
        w, b = np.zeros(A.shape[1]), 0.0
        for _ in range(passes):
            for x, sign in zip(A, np.asarray(s, float)):
                if sign * (x @ w + b) <= 0:
                    w, b = w + sign * x, b + sign
        return w, b

    return answer(fit, X, labels, new)


@ovo_predict.cases
def _(rng):
    for c in (3, 4):
        X, labels = _classes(rng, c)
        new = rng.integers(-4, 5, (6, 2)) + 0.25
        yield "one vote for each pair", dict(X=X, labels=labels, new=new, passes=4)
    X, labels = _classes(rng, 2)
    yield (
        "two classes",
        dict(X=X, labels=labels, new=rng.integers(-4, 5, (5, 2)) + 0.25, passes=4),
    )
    X = np.array([[-1.0, 3], [2, 1], [0, -3], [-2, -2], [3, -2], [0, 1]])
    # All three win once; the sum of the scores is largest for class 0 in two rows, for 2 in two.
    low, high = np.array([[-3, 0.25], [3.5, -1.5]]), np.array([[-2, 2], [4.5, 0]])
    new = np.round(rng.uniform(low, high, (2, 2, 2)) * 8).reshape(4, 2) / 8
    yield (
        "a three-way tie",
        dict(X=X, labels=np.repeat([0, 1, 2], 2), new=new, passes=3),
    )
    X, height = np.array([[-2.0, 0], [2, 0]]), rng.integers(1, 5, 3).astype(float)
    two = dict(X=X, labels=np.array([1, 0]), passes=2)  # the fit is 2 x1 - 1
    yield "a score of 0", dict(new=np.column_stack([[0.5, 0.5, 0.25], height]), **two)
    new = np.column_stack([[-0.25, 0.25, 0.25], height])
    yield "two rows, class 1 first", dict(new=new, **two)


def _classes(rng, c):
    """Three rows of each of c classes at whole numbers around far corners, in mixed order."""
    centres = np.array([[5, 4], [-5, 3], [0, -5], [6, -4]])[:c]
    labels = rng.permutation(np.repeat(np.arange(c), 3))
    return (centres[labels] + rng.integers(-1, 2, (3 * c, 2))).astype(float), labels


def _votes(
    fit, X, labels, new, raw=False, rest=False, at_zero=False, flip=False, minus=False
):
    c = int(labels.max()) + 1
    votes = np.zeros((len(new), c))
    for k, l in combinations(range(c), 2):
        rows = np.ones(len(labels), bool) if rest else (labels == k) | (labels == l)
        w, b = fit(X[rows], np.where(labels[rows] == k, 1, -1) * (-1 if flip else 1))
        score = new @ w + b
        for_k = score >= 0 if at_zero else score > 0
        votes[:, k] += score if raw else for_k
        votes[:, l] += -score if raw else (~for_k if not minus else -1.0 * for_k)
    return votes, votes.argmax(1)


@ovo_predict.wrong(
    "adds up the scores",
    advice="How much should one long weight vector count? Multiply one pair's w and b by 1000: votes do not change.",
)
def _(fit, X, labels, new):
    return _votes(fit, X, labels, new, raw=True)


@ovo_predict.wrong(
    "a tie goes to the larger sum of scores",
    advice="Class 0 and class 2 have equally many votes, 2 has the larger scores. Which one does the text take?",
)
def _(fit, X, labels, new):
    votes, sums = (
        _votes(fit, X, labels, new)[0],
        _votes(fit, X, labels, new, raw=True)[0],
    )
    return votes, (votes + 1e-6 * sums).argmax(1)


@ovo_predict.wrong(
    "the bias is left out of the score",
    advice="fit returns two things, w and b. Do both enter your score?",
)
def _(fit, X, labels, new):
    return _votes(lambda A, s: (fit(A, s)[0], 0.0), X, labels, new)


@ovo_predict.wrong(
    "the rows are stacked class by class",
    advice="A perceptron depends on the order of its rows. Do you hand them over in the order of X?",
)
def _(fit, X, labels, new):
    order = np.argsort(labels, kind="stable")
    return _votes(fit, X[order], labels[order], new)


@ovo_predict.wrong(
    "the other classes stay in as negatives",
    advice="Which rows may the model of the pair (k, l) see?",
)
def _(fit, X, labels, new):
    return _votes(fit, X, labels, new, rest=True)


@ovo_predict.wrong(
    "a tie goes to the last class",
    advice="If several classes have equally many votes, which one does the text take?",
)
def _(fit, X, labels, new):
    votes, _ = _votes(fit, X, labels, new)
    return votes, votes.shape[1] - 1 - votes[:, ::-1].argmax(1)


@ovo_predict.wrong(
    "a score of 0 votes for k",
    advice="sgn(0) = -1 in this course. For which class of the pair does -1 stand?",
)
def _(fit, X, labels, new):
    return _votes(fit, X, labels, new, at_zero=True)


@ovo_predict.wrong(
    "k is the negative class",
    advice="Which class of the pair has label +1 when you fit, and which gets the vote when the score is positive?",
)
def _(fit, X, labels, new):
    return _votes(fit, X, labels, new, flip=True)


@ovo_predict.wrong(
    "the loser pays a vote",
    advice="Each pair casts exactly one vote. What do your votes of one point add up to?",
)
def _(fit, X, labels, new):
    return _votes(fit, X, labels, new, minus=True)


@ovo_predict.right("counting winners")
def _(fit, X, labels, new):
    c, winners = int(labels.max()) + 1, []
    for k, l in combinations(range(c), 2):
        rows = np.isin(labels, (k, l))
        w, b = fit(X[rows], np.where(labels[rows] == k, 1.0, -1.0))
        winners.append(np.where(new @ w + b > 0, k, l))
    votes = (np.array(winners)[:, :, None] == np.arange(c)).sum(0)
    return votes, np.argmax(votes, axis=1)


@ovo_predict.right("one new point at a time, in lists")
def _(fit, X, labels, new):
    c = len(set(labels.tolist()))
    votes = [[0] * c for _ in new]
    for k in range(c):
        for l in range(k + 1, c):
            rows = [i for i in range(len(labels)) if labels[i] in (k, l)]
            w, b = fit(X[rows], np.array([1 if labels[i] == k else -1 for i in rows]))
            for mine, x in zip(votes, new):
                mine[k if sum(a * v for a, v in zip(x, w)) + b > 0 else l] += 1
    return votes, [mine.index(max(mine)) for mine in votes]

"""Exercises of 07_neural_networks/04_initialisation_and_normalisation."""

import numpy as np
import torch

from descent.compare import close, exact, parts, within
from solutions.spec import Exercise

from . import reference

# ---------------------------------------------------------------- moments through depth

propagate = Exercise(
    "propagate",
    reference=reference.relu_moments,
    compare=close(rtol=1e-9, atol=0.0),
    batched=("fan_in",),
    hints=[
        "Go layer by layer. Which moment of the inputs decides E[s²], and what does the ReLU make of E[s²]?",
        "E[s²] = fan_in · var_w · E[h²]. After the ReLU, E[h²] = E[s²] / 2 and Var h = (1/2 - 1/(2π)) E[s²].",
        "In the loop: s2 = n * var_w * m2; m2 = s2 / 2; append [m2, s2 * (0.5 - 0.5 / np.pi)].",
    ],
)


@propagate.cases
def _(rng):
    yield (
        "equal widths",
        dict(
            var_w=rng.uniform(0.01, 0.03),
            fan_in=np.array([64, 64, 64, 64]),
            m2=rng.uniform(0.5, 2.0),
        ),
    )
    yield (
        "widths that change",
        dict(
            var_w=rng.uniform(0.01, 0.03),
            fan_in=np.array([784, 30, 200]),
            m2=rng.uniform(0.5, 2.0),
        ),
    )
    yield (
        "fifty layers",
        dict(
            var_w=rng.uniform(1.5, 1.9) / 512,
            fan_in=np.full(50, 512),
            m2=rng.uniform(0.5, 2.0),
        ),
    )
    yield (
        "a single layer",
        dict(var_w=0.25, fan_in=np.array([8]), m2=rng.uniform(1.5, 3.0)),
    )
    yield "zero weights", dict(var_w=0.0, fan_in=np.array([10, 20]), m2=1.0)


def _moments(var_w, fan_in, m2, keep, carry):
    """keep: variance factor reported; carry: what part of E[s²] goes on to the next layer."""
    rows = []
    for n in fan_in:
        s2 = n * var_w * m2
        m2 = carry * s2
        rows.append([s2 / 2, keep * s2])
    return np.array(rows)


@propagate.wrong(
    "the variance is carried on",
    advice="What goes into the next sum of squares: the mean of h², or the mean of (h - E h)²?",
)
def _(var_w, fan_in, m2):
    keep = 0.5 - 0.5 / np.pi
    return _moments(var_w, fan_in, m2, keep, keep)


@propagate.wrong(
    "the variance of a ReLU is one half",
    advice="The output of a ReLU does not have mean 0. What must be taken off E[h²]?",
)
def _(var_w, fan_in, m2):
    return _moments(var_w, fan_in, m2, 0.5, 0.5)


@propagate.wrong(
    "moments before the ReLU",
    advice="Your moments belong to s. What does the ReLU do to half of the values?",
)
def _(var_w, fan_in, m2):
    return 2 * _moments(var_w, fan_in, m2, 0.5 - 0.5 / np.pi, 0.5)


@propagate.wrong(
    "no ReLU between the layers",
    advice="The ReLU acts in every layer. Do you halve once, or in each?",
)
def _(var_w, fan_in, m2):
    return _moments(var_w, fan_in, m2, 0.5 - 0.5 / np.pi, 1.0)


@propagate.wrong(
    "the width is forgotten",
    advice="s is a sum. Of how many terms?",
)
def _(var_w, fan_in, m2):
    return _moments(var_w, np.ones(len(fan_in)), m2, 0.5 - 0.5 / np.pi, 0.5)


@propagate.wrong(
    "0.341 is rounded",
    advice="Your variance has three right digits. Compute 1/2 - 1/(2π) instead of typing 0.341.",
)
def _(var_w, fan_in, m2):
    return _moments(var_w, fan_in, m2, 0.341, 0.5)


@propagate.wrong(
    "the two columns exchanged",
    advice="Which of the two comes first: E[h²] or the variance?",
)
def _(var_w, fan_in, m2):
    return _moments(var_w, fan_in, m2, 0.5 - 0.5 / np.pi, 0.5)[:, ::-1]


@propagate.right("a cumulative product")
def _(var_w, fan_in, m2):
    second = m2 * np.cumprod(fan_in * var_w / 2)
    return np.column_stack([second, second * (1 - 1 / np.pi)])


@propagate.right("a list of pairs, the variance from the mean")
def _(var_w, fan_in, m2):
    rows = []
    for n in fan_in.tolist():
        s2 = n * var_w * m2
        m2 = s2 / 2
        mean = (s2 / (2 * np.pi)) ** 0.5
        rows.append([m2, m2 - mean**2])
    return rows


# ---------------------------------------------------------------- initial weights

init = Exercise(
    "init",
    reference=lambda scheme, n_in, n_out, seed: reference.weight_statistics(
        scheme, n_in, n_out
    ),
    # Sampling errors of the 20 000 and more weights drawn: √n_in · mean 0.01, power 1.5 % of 2 or less,
    # fourth moment 0.04; the tolerances are five of them or more. Two neighbours are equal by chance once in
    # 10⁵ in single precision.
    compare=parts(
        shape=exact(),
        mean=within(0.08),
        power=within(0.12),
        shape_of_distribution=within(0.3),
        equal_neighbours=within(0.01),
        repeats=exact(),
        same_for_the_same_generator=exact(),
    ),
    hints=[
        "Three branches. For each: which distribution, and what is its variance? Both names of the size argument: (n_in, n_out).",
        "A uniform distribution on (-a, a) has variance a²/3, so a = √(6 / (n_in + n_out)) gives 2 / (n_in + n_out). "
        "rng.normal wants a standard deviation, not a variance.",
        'For "he": np.sqrt(2 / n_in) * rng.standard_normal((n_in, n_out)). For "xavier": rng.uniform(-a, a, (n_in, n_out)).',
    ],
)


@init.probe
def _(answer, scheme, n_in, n_out, seed):
    rng = np.random.default_rng(seed)
    W, other = (np.asarray(answer(scheme, n_in, n_out, rng)) for _ in range(2))
    again = np.asarray(answer(scheme, n_in, n_out, np.random.default_rng(seed)))
    power = np.mean(W.astype(float) ** 2)
    return dict(
        shape=list(W.shape),
        mean=float(n_in**0.5 * np.mean(W)),
        power=float(n_in * power),
        shape_of_distribution=float(np.mean(W.astype(float) ** 4) / power**2)
        if power
        else 0.0,
        equal_neighbours=float(
            max(np.mean(W[1:] == W[:-1]), np.mean(W[:, 1:] == W[:, :-1]))
            if W.ndim == 2
            else 1
        ),
        repeats=float(np.array_equal(W, other)),
        same_for_the_same_generator=float(np.array_equal(W, again)),
    )


@init.cases
def _(rng):
    def seed():
        return int(rng.integers(1 << 30))

    yield "He", dict(scheme="he", n_in=784, n_out=64, seed=seed())
    yield "He", dict(scheme="he", n_in=64, n_out=784, seed=seed())
    yield "Xavier", dict(scheme="xavier", n_in=784, n_out=256, seed=seed())
    yield "Xavier", dict(scheme="xavier", n_in=256, n_out=100, seed=seed())
    yield "a square layer", dict(scheme="he", n_in=200, n_out=200, seed=seed())
    yield "a square layer", dict(scheme="xavier", n_in=200, n_out=200, seed=seed())
    yield "zeros", dict(scheme="zeros", n_in=5, n_out=3, seed=seed())


def _draw(scheme, n_in, n_out, rng, he=None, bound=None):
    if scheme == "zeros":
        return np.zeros((n_in, n_out))
    if scheme == "he":
        return (np.sqrt(2 / n_in) if he is None else he) * rng.standard_normal(
            (n_in, n_out)
        )
    a = np.sqrt(6 / (n_in + n_out)) if bound is None else bound
    return rng.uniform(-a, a, (n_in, n_out))


@init.wrong(
    "the variance as standard deviation",
    advice="What does NumPy's normal take as its second number: the variance or its root?",
)
def _(scheme, n_in, n_out, rng):
    return _draw(scheme, n_in, n_out, rng, he=2 / n_in)


@init.wrong(
    "He with the outputs",
    advice="A pre-activation sums over the inputs of the layer. Which of the two numbers counts its terms?",
)
def _(scheme, n_in, n_out, rng):
    return _draw(scheme, n_in, n_out, rng, he=np.sqrt(2 / n_out))


@init.wrong(
    "the standard deviation as bound",
    advice="What is the variance of a uniform distribution on (-a, a)? Not a².",
)
def _(scheme, n_in, n_out, rng):
    return _draw(scheme, n_in, n_out, rng, bound=np.sqrt(2 / (n_in + n_out)))


@init.wrong(
    "only half of the uniform distribution",
    advice="What is the mean of your weights? rng.random() is never negative.",
)
def _(scheme, n_in, n_out, rng):
    return (
        _draw(scheme, n_in, n_out, rng)
        if scheme != "xavier"
        else (np.sqrt(6 / (n_in + n_out)) * rng.random((n_in, n_out)))
    )


@init.wrong(
    "a generator of its own",
    advice="Two calls give the same weights: two layers would start equal. Which generator should be used?",
)
def _(scheme, n_in, n_out, rng):
    return _draw(scheme, n_in, n_out, np.random.default_rng(0))


@init.wrong(
    "NumPy's own generator",
    advice="np.random draws from a hidden state: nobody can repeat your run. Use the rng that is handed in.",
)
def _(scheme, n_in, n_out, rng):
    return _draw(scheme, n_in, n_out, np.random)


@init.wrong(
    "one unit, copied",
    advice="Are your columns different? Units with equal weights compute the same and stay equal.",
)
def _(scheme, n_in, n_out, rng):
    return np.repeat(_draw(scheme, n_in, 1, rng), n_out, axis=1)


@init.wrong(
    "He without its 2",
    advice="A ReLU halves the second moment. What must the variance of the weights make up for?",
)
def _(scheme, n_in, n_out, rng):
    return _draw(scheme, n_in, n_out, rng, he=np.sqrt(1 / n_in))


@init.wrong(
    "He from a uniform distribution",
    advice="The variance is right. Which distribution does the docstring ask for?",
)
def _(scheme, n_in, n_out, rng):
    if scheme == "he":
        return rng.uniform(-1, 1, (n_in, n_out)) * np.sqrt(6 / n_in)
    return _draw(scheme, n_in, n_out, rng)


@init.wrong(
    "transposed",
    advice="h @ W must work for h of shape (N, n_in). Which shape does W have?",
)
def _(scheme, n_in, n_out, rng):
    return _draw(scheme, n_in, n_out, rng).T


@init.wrong(
    "Xavier from a normal distribution",
    advice="The variance is right. Which distribution does the docstring ask for?",
)
def _(scheme, n_in, n_out, rng):
    if scheme == "xavier":
        return np.sqrt(2 / (n_in + n_out)) * rng.standard_normal((n_in, n_out))
    return _draw(scheme, n_in, n_out, rng)


@init.right("shifted uniform numbers, normal with a scale")
def _(scheme, n_in, n_out, rng):
    if scheme == "zeros":
        return np.zeros((n_in, n_out))
    if scheme == "xavier":
        return (2 * rng.random((n_in, n_out)) - 1) * np.sqrt(6 / (n_in + n_out))
    return rng.normal(0, np.sqrt(2 / n_in), (n_in, n_out))


@init.right("single precision")
def _(scheme, n_in, n_out, rng):
    return _draw(scheme, n_in, n_out, rng).astype(np.float32)


# ---------------------------------------------------------------- copies

distinct_units = Exercise(
    "distinct_units",
    reference=reference.distinct_units,
    compare=exact(),
    batched=("V", "W", "b"),
    hints=[
        "All numbers that belong to unit j: column j of W, entry j of b, row j of V. Put them into one vector a unit.",
        "np.vstack([W, b, V.T]) has one column a unit. How many different columns are there?",
        "len({tuple(unit) for unit in np.vstack([W, b, V.T]).T}), or np.unique(…, axis=1).",
    ],
)


@distinct_units.cases
def _(rng):
    def network(order, H=5, n_in=3, n_out=2):
        units = rng.normal(size=(n_in + 1 + n_out, H)).round(2)[:, order]
        return dict(W=units[:n_in], b=units[n_in], V=units[n_in + 1 :].T)

    yield "every unit differs", network([0, 1, 2, 3, 4])
    yield "copies that are not neighbours", network([0, 1, 0, 2, 0])
    yield "copies that are not neighbours", network([3, 1, 2, 3, 1])
    fill = rng.uniform(0.1, 0.5)
    yield (
        "all equal",
        dict(W=np.full((3, 4), fill), b=np.zeros(4), V=np.full((4, 2), fill)),
    )
    yield (
        "equal on the way in, not out",
        network([0, 1, 2, 3, 4]) | dict(W=np.full((3, 5), fill), b=np.zeros(5)),
    )
    yield (
        "equal on the way out, not in",
        network([0, 1, 2, 3, 4]) | dict(V=np.full((5, 2), fill), b=np.zeros(5)),
    )
    biases = network([0, 0, 0, 1])
    biases["b"] = np.array([0.0, 1.0, 0.0, 2.0])
    yield "equal weights, other biases", biases
    yield "every unit differs", network([0])


def _different(columns):
    return len({tuple(column) for column in np.asarray(columns).T})


@distinct_units.wrong(
    "the way in alone",
    advice="Two units that pass on through different weights get different gradients. Compare V as well.",
)
def _(W, b, V):
    return _different(np.vstack([W, b]))


@distinct_units.wrong(
    "the biases are forgotten", advice="Which third number belongs to a unit?"
)
def _(W, b, V):
    return _different(np.vstack([W, V.T]))


@distinct_units.wrong(
    "the way out alone",
    advice="Which weights decide what a unit computes? Compare W and b as well.",
)
def _(W, b, V):
    return _different(V.T)


@distinct_units.wrong(
    "rows for columns", advice="h = act(x @ W + b): is a unit a row or a column of W?"
)
def _(W, b, V):
    return _different(W.T)


@distinct_units.wrong(
    "neighbours alone", advice="Copies need not stand side by side. Compare every pair."
)
def _(W, b, V):
    units = np.vstack([W, b, V.T])
    return 1 + int((units[:, 1:] != units[:, :-1]).any(axis=0).sum())


@distinct_units.wrong(
    "the copies are left out",
    advice="Three equal units are worth one unit. Do you count it?",
)
def _(W, b, V):
    units = np.vstack([W, b, V.T])
    return int((np.unique(units, axis=1, return_counts=True)[1] == 1).sum())


@distinct_units.wrong(
    "counts the copies", advice="How many units are left if copies are removed?"
)
def _(W, b, V):
    return len(b) - _different(np.vstack([W, b, V.T]))


@distinct_units.right("numpy.unique")
def _(W, b, V):
    return np.unique(np.c_[W.T, b, V], axis=0).shape[0]


@distinct_units.right("every pair in a loop")
def _(W, b, V):
    found = []
    for j in range(len(b)):
        unit = [*W[:, j], b[j], *V[j]]
        if unit not in found:
            found.append(unit)
    return float(len(found))


# ---------------------------------------------------------------- dead units

dead_fraction = Exercise(
    "dead_fraction",
    reference=reference.dead_fraction,
    compare=close(rtol=1e-9, atol=1e-12),
    batched=("H",),
    hints=[
        "One unit is one column. When is it dead?",
        "A column is dead if all of its entries are 0: (H == 0).all(axis=0). Then count.",
        "np.mean of the truth values (H == 0).all(axis=0).",
    ],
)


@dead_fraction.cases
def _(rng):
    H = np.maximum(rng.normal(0.3, 1.0, (6, 5)), 0)
    H[0] = rng.uniform(0.5, 2.0, 5)  # each unit lives somewhere …
    H[1:3, 0] = 0
    one = H.copy()
    one[:, [1, 3]] = 0
    yield "two units of five", dict(H=one)
    rare = np.zeros((24, 4))
    rare[[0, 23, rng.integers(1, 23)], [0, 1, 2]] = rng.uniform(1, 2, 3)
    yield "awake on one row of 24 is not dead", dict(H=rare)
    faint = np.zeros((3, 4))
    faint[0, rng.permutation(4)[:3]] = rng.uniform(1e-12, 9e-12, 3)
    yield "faint is not dead", dict(H=faint)
    yield "every unit dead", dict(H=np.zeros((4, 3)))
    yield (
        "a single row",
        dict(H=np.array([[0.0, rng.uniform(1, 2), 0.0, rng.uniform(1, 2)]])),
    )


@dead_fraction.wrong(
    "counts zeros",
    advice="A unit that is 0 on half of the rows works as it should. Which units are 0 on every row?",
)
def _(H):
    return np.mean(H == 0)


@dead_fraction.wrong(
    "rows for columns",
    advice="Which axis runs over the units, and which over the examples?",
)
def _(H):
    return np.mean((H == 0).all(axis=1))


@dead_fraction.wrong(
    "nearly always zero",
    advice="A unit that answers to one row in a hundred gets a gradient from that row: it is not dead.",
)
def _(H):
    return np.mean((H == 0).mean(axis=0) > 0.9)


@dead_fraction.wrong(
    "the first row alone",
    advice="One row does not tell: which units are 0 on all of them?",
)
def _(H):
    return np.mean(H[0] == 0)


@dead_fraction.wrong(
    "small counts as zero",
    advice="np.isclose and thresholds take a tiny value for 0. A ReLU gives exact zeros, and a tiny value has a gradient.",
)
def _(H):
    return np.mean((H < 1e-8).all(axis=0))


@dead_fraction.wrong(
    "divided by the rows",
    advice="You were asked for a share of the units. How many are there?",
)
def _(H):
    return (H == 0).all(axis=0).sum() / len(H)


@dead_fraction.wrong(
    "counts the living", advice="You were asked for the share of dead units."
)
def _(H):
    return np.mean((H > 0).any(axis=0))


@dead_fraction.wrong("a number, not a share", advice="Divide by the number of units.")
def _(H):
    return float((H == 0).all(axis=0).sum())


@dead_fraction.wrong(
    "ever zero", advice="Dead means 0 on every row. Do you ask for all rows or for any?"
)
def _(H):
    return np.mean((H == 0).any(axis=0))


@dead_fraction.right("the largest value of each column")
def _(H):
    return 1 - np.count_nonzero(H.max(axis=0)) / H.shape[1]


@dead_fraction.right("a loop")
def _(H):
    return sum(all(v == 0 for v in column) for column in H.T.tolist()) / len(H.T)


# ---------------------------------------------------------------- one function for three norms

norm = Exercise(
    "norm",
    reference=reference.norm,
    compare=close(rtol=1e-6, atol=1e-8, float32=True),
    batched=("A",),
    hints=[
        "Which numbers share a mean? axis=0: those of a column. axis=1: those of a row. keepdims=True keeps the shapes fit for subtraction.",
        "Without centring, the mean is not subtracted anywhere: neither above the line nor inside the mean of squares.",
        "C = A - A.mean(axis=axis, keepdims=True) if center else A; divide C by np.sqrt((C**2).mean(axis=axis, keepdims=True) + eps); then gamma and beta.",
    ],
)


@norm.cases
def _(rng):
    yield "batch norm", _table(rng, 0, True)
    yield "layer norm", _table(rng, 1, True)
    yield "RMS norm", _table(rng, 1, False)
    yield "an ε that matters", _table(rng, 0, True) | dict(eps=0.5)
    yield "an ε that matters", _table(rng, 1, False) | dict(eps=0.5)
    yield "a batch of one row", _table(rng, 0, True, n=1)
    flat = _table(rng, 1, True)
    flat["A"] = np.tile(rng.normal(size=(4, 1)), 3)  # every row constant
    yield "nothing varies", flat


def _table(rng, axis, center, n=4, d=3):
    return dict(
        A=rng.normal(2.0, 3.0, (n, d)),
        axis=axis,
        center=center,
        gamma=rng.uniform(0.5, 2.0, d),
        beta=rng.uniform(0.5, 1.5, d),
        eps=1e-5,
    )


def _norm(A, axis, center, gamma, beta, eps):
    C = A - A.mean(axis=axis, keepdims=True) if center else A
    return gamma * C / np.sqrt((C**2).mean(axis=axis, keepdims=True) + eps) + beta


@norm.wrong(
    "the other axis",
    advice="axis=0 runs down a column. Does batch norm compare rows or features?",
)
def _(A, axis, center, gamma, beta, eps):
    return _norm(A, 1 - axis, center, gamma, beta, eps)


@norm.wrong(
    "always centred",
    advice="RMS norm leaves the mean where it is. What do you do when center is False?",
)
def _(A, axis, center, gamma, beta, eps):
    return _norm(A, axis, True, gamma, beta, eps)


@norm.wrong(
    "divides by the standard deviation without centring",
    advice="RMS means root mean square: of the values themselves. np.var subtracts the mean.",
)
def _(A, axis, center, gamma, beta, eps):
    C = A - A.mean(axis=axis, keepdims=True) if center else A
    return gamma * C / np.sqrt(A.var(axis=axis, keepdims=True) + eps) + beta


@norm.wrong(
    "ε outside the root",
    advice="Where does ε stand in the formula: inside or outside the root?",
)
def _(A, axis, center, gamma, beta, eps):
    C = A - A.mean(axis=axis, keepdims=True) if center else A
    return gamma * C / (np.sqrt((C**2).mean(axis=axis, keepdims=True)) + eps) + beta


@norm.wrong(
    "one value fewer in the mean of squares",
    advice="The formula divides by the number of values, not by one fewer.",
)
def _(A, axis, center, gamma, beta, eps):
    C = A - A.mean(axis=axis, keepdims=True) if center else A
    count = A.shape[axis]
    spread = (C**2).sum(axis=axis, keepdims=True) / max(count - 1, 1)
    return gamma * C / np.sqrt(spread + eps) + beta


@norm.wrong(
    "one mean for the whole table",
    advice="How many means does batch norm take: one, or one for each feature?",
)
def _(A, axis, center, gamma, beta, eps):
    C = A - A.mean() if center else A
    return gamma * C / np.sqrt((C**2).mean() + eps) + beta


@norm.wrong(
    "a sum for the mean of squares",
    advice="Your groups come out with length 1. What should the mean of their squares be?",
)
def _(A, axis, center, gamma, beta, eps):
    C = A - A.mean(axis=axis, keepdims=True) if center else A
    return gamma * C / np.sqrt((C**2).sum(axis=axis, keepdims=True) + eps) + beta


@norm.wrong(
    "divides by the mean square",
    advice="Which power of a is left after your division? The root is missing.",
)
def _(A, axis, center, gamma, beta, eps):
    C = A - A.mean(axis=axis, keepdims=True) if center else A
    return gamma * C / ((C**2).mean(axis=axis, keepdims=True) + eps) + beta


@norm.wrong(
    "shifted before it is scaled",
    advice="In which order come gain and shift: γ·y + β or γ·(y + β)?",
)
def _(A, axis, center, gamma, beta, eps):
    return gamma * _norm(A, axis, center, np.ones(len(gamma)), beta, eps)


@norm.wrong(
    "ε where the spread is 0 only",
    advice="ε is added always, not only where it is needed. Does it change your result?",
)
def _(A, axis, center, gamma, beta, eps):
    C = A - A.mean(axis=axis, keepdims=True) if center else A
    square = (C**2).mean(axis=axis, keepdims=True)
    return gamma * C / np.sqrt(np.where(square < 1e-20, eps, square)) + beta


@norm.wrong("no shift", advice="What is the last thing that happens to every feature?")
def _(A, axis, center, gamma, beta, eps):
    return _norm(A, axis, center, gamma, 0 * beta, eps)


@norm.right("a loop over rows or columns")
def _(A, axis, center, gamma, beta, eps):
    out = np.empty(A.shape)
    for i in range(A.shape[1 - axis]):
        here = (slice(None), i) if axis == 0 else i
        a = A[here]
        c = a - sum(a) / len(a) if center else a
        out[here] = c / (c @ c / len(c) + eps) ** 0.5
    return out * gamma + beta


@norm.right("torch's own, in single precision")
def _(A, axis, center, gamma, beta, eps):
    t = torch.from_numpy(A).float()
    t = t.T if axis == 0 else t
    c = t - t.mean(1, keepdim=True) if center else t
    y = torch.nn.functional.rms_norm(c, (c.shape[1],), eps=eps)
    return ((y.T if axis == 0 else y).numpy() * gamma + beta).astype(np.float32)


# ---------------------------------------------------------------- backward

norm_backward = Exercise(
    "norm_backward",
    reference=reference.norm_backward,
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("A", "dY"),
    hints=[
        "Three results. beta is added in every row, gamma multiplies Y = C / s in every row: sum over the rows. For A, start with G = gamma * dY.",
        "The Jacobian (C - y yᵀ/d)/s applied to g takes two means along the axis: that of g (only with centring) and that of g·y. No matrix is needed.",
        "dA = (G - G.mean(axis, keepdims=True) - Y * (G * Y).mean(axis, keepdims=True)) / s, without the first mean when center is False.",
    ],
)


@norm_backward.cases
def _(rng):
    yield "batch norm", _with_gradient(rng, _table(rng, 0, True, n=5))
    yield "layer norm", _with_gradient(rng, _table(rng, 1, True, d=4))
    yield "RMS norm", _with_gradient(rng, _table(rng, 1, False, d=4))
    yield (
        "an ε that matters",
        _with_gradient(rng, _table(rng, 1, True, d=4) | dict(eps=0.7)),
    )
    yield "a batch of one row", _with_gradient(rng, _table(rng, 0, True, n=1))
    zeros = _table(rng, 1, False) | dict(A=np.zeros((4, 3)))
    yield "RMS norm at 0", _with_gradient(rng, zeros)


def _with_gradient(rng, table):
    dY = rng.normal(size=table["A"].shape) + rng.uniform(0.5, 1.5)  # not of mean 0
    return dict(
        dY=dY,
        A=table["A"],
        axis=table["axis"],
        center=table["center"],
        gamma=table["gamma"],
        eps=table["eps"],
    )


def _forward(A, axis, center, eps):
    C = A - A.mean(axis=axis, keepdims=True) if center else A
    s = np.sqrt((C**2).mean(axis=axis, keepdims=True) + eps)
    return C / s, s


def _backward(dY, A, axis, center, gamma, eps, mean=True, square=True):
    Y, s = _forward(A, axis, center, eps)
    G = gamma * dY
    dA = G.copy()
    if center and mean:
        dA -= G.mean(axis=axis, keepdims=True)
    if square:
        dA -= Y * (G * Y).mean(axis=axis, keepdims=True)
    return dA / s, (dY * Y).sum(0), dY.sum(0)


@norm_backward.wrong(
    "mean and spread as constants",
    advice="Moving one entry also moves the mean and the spread that all entries are divided by.",
)
def _(dY, A, axis, center, gamma, eps):
    return _backward(dY, A, axis, center, gamma, eps, mean=False, square=False)


@norm_backward.wrong(
    "the spread as a constant",
    advice="Does s depend on A? Scale a whole group by 1.01: what should the output do?",
)
def _(dY, A, axis, center, gamma, eps):
    return _backward(dY, A, axis, center, gamma, eps, square=False)


@norm_backward.wrong(
    "the mean as a constant",
    advice="Add the same number to a whole group: what should happen to the output, and so to the loss?",
)
def _(dY, A, axis, center, gamma, eps):
    return _backward(dY, A, axis, center, gamma, eps, mean=False)


@norm_backward.wrong(
    "centred although RMS norm is not",
    advice="RMS norm subtracts no mean. Then no mean of the gradient is subtracted either.",
)
def _(dY, A, axis, center, gamma, eps):
    Y, s = _forward(A, axis, center, eps)
    G = gamma * dY
    G = (
        G
        - G.mean(axis=axis, keepdims=True)
        - Y * (G * Y).mean(axis=axis, keepdims=True)
    )
    return G / s, (dY * Y).sum(0), dY.sum(0)


@norm_backward.wrong(
    "gamma after the means",
    advice="For layer norm gamma differs along the row. The gradient that reaches Y is gamma * dY, before any mean is taken.",
)
def _(dY, A, axis, center, gamma, eps):
    dA, dgamma, dbeta = _backward(dY, A, axis, center, np.ones(len(gamma)), eps)
    return gamma * dA, dgamma, dbeta


@norm_backward.wrong(
    "means for sums in gamma and beta",
    advice="gamma acts in every row. Its effects on the loss add up.",
)
def _(dY, A, axis, center, gamma, eps):
    dA, dgamma, dbeta = _backward(dY, A, axis, center, gamma, eps)
    return dA, dgamma / len(A), dbeta / len(A)


@norm_backward.wrong(
    "gamma's gradient holds gamma",
    advice="The derivative of gamma·Y by gamma is Y itself: without gamma, beta or the input A.",
)
def _(dY, A, axis, center, gamma, eps):
    dA, dgamma, dbeta = _backward(dY, A, axis, center, gamma, eps)
    return dA, dgamma * gamma, dbeta


@norm_backward.wrong(
    "gamma forgotten on the way to A",
    advice="Y is multiplied by gamma after it is made. What is then the gradient by Y?",
)
def _(dY, A, axis, center, gamma, eps):
    _, dgamma, dbeta = _backward(dY, A, axis, center, gamma, eps)
    return _backward(dY, A, axis, center, np.ones(len(gamma)), eps)[0], dgamma, dbeta


@norm_backward.wrong(
    "not divided by s",
    advice="Ten times larger values change the output ten times less. What stands before the bracket?",
)
def _(dY, A, axis, center, gamma, eps):
    dA, dgamma, dbeta = _backward(dY, A, axis, center, gamma, eps)
    return dA * _forward(A, axis, center, eps)[1], dgamma, dbeta


@norm_backward.wrong(
    "a sum for the mean of g·y",
    advice="The bars are means over the group. Is one of yours a sum?",
)
def _(dY, A, axis, center, gamma, eps):
    Y, s = _forward(A, axis, center, eps)
    G = gamma * dY
    dA = G - Y * (G * Y).sum(axis=axis, keepdims=True)
    if center:
        dA = dA - G.mean(axis=axis, keepdims=True)
    return dA / s, (dY * Y).sum(0), dY.sum(0)


@norm_backward.wrong(
    "gamma's gradient with A itself",
    advice="gamma multiplies the normalised values. Which of A and Y stands beside it?",
)
def _(dY, A, axis, center, gamma, eps):
    dA, _, dbeta = _backward(dY, A, axis, center, gamma, eps)
    return dA, (dY * A).sum(0), dbeta


@norm_backward.right("through torch's autograd")
def _(dY, A, axis, center, gamma, eps):
    t = torch.tensor(A, requires_grad=True)
    g = torch.tensor(gamma, requires_grad=True)
    b = torch.zeros(len(gamma), dtype=torch.float64, requires_grad=True)
    c = t - t.mean(axis, keepdim=True) if center else t
    y = c / (c.square().mean(axis, keepdim=True) + eps).sqrt() * g + b
    y.backward(torch.from_numpy(dY))
    return t.grad.numpy(), g.grad.numpy(), b.grad.numpy()


@norm_backward.right("step by step through the graph")
def _(dY, A, axis, center, gamma, eps):
    count = A.shape[axis]
    Y, s = _forward(A, axis, center, eps)
    C, dYhat = Y * s, dY * gamma
    dC = dYhat / s
    dspread = np.sum(dYhat * C, axis=axis, keepdims=True) * (-1 / (2 * s**3))
    dC = dC + 2 * C * dspread / count
    dA = dC - dC.sum(axis=axis, keepdims=True) / count if center else dC
    return dA, np.einsum("nd,nd->d", dY, Y), np.einsum("nd->d", dY)


# ---------------------------------------------------------------- batch norm in two modes

batch_norm = Exercise(
    "batch_norm",
    reference=reference.batch_norm,
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("A", "mean", "var"),
    hints=[
        "Two branches. In training, normalise by the batch (your norm with axis 0), then move the running values. In evaluation, only read them.",
        "New running value = (1 - momentum) · old + momentum · that of the batch. For the running variance the batch's variance has N - 1 below the line.",
        "A.var(axis=0, ddof=1) is the variance to keep, if len(A) > 1. Evaluation: gamma * (A - mean) / np.sqrt(var + eps) + beta, and mean, var as they came.",
    ],
)


@batch_norm.cases
def _(rng):
    yield "training normalises by the batch", _two_modes(rng, 5, True)
    yield (
        "running values move towards the batch",
        _two_modes(rng, 3, True) | dict(momentum=0.5),
    )
    yield "evaluation uses the running values", _two_modes(rng, 4, False)
    yield "evaluation of a single row", _two_modes(rng, 1, False)
    yield "an ε that matters", _two_modes(rng, 4, True) | dict(eps=0.5)
    yield "an ε that matters", _two_modes(rng, 4, False) | dict(eps=0.5)
    yield "training on a single row", _two_modes(rng, 1, True)


def _two_modes(rng, n, train, d=3):
    return dict(
        A=rng.normal(2.0, 3.0, (n, d)),
        gamma=rng.uniform(0.5, 2.0, d),
        beta=rng.uniform(0.5, 1.5, d),
        mean=rng.normal(-1.0, 0.5, d),
        var=rng.uniform(0.5, 2.0, d),
        train=train,
        momentum=0.1,
        eps=1e-5,
    )


def _batch(A, gamma, beta, mean, var, train, momentum, eps, ddof=1):
    if not train:
        return gamma * (A - mean) / np.sqrt(var + eps) + beta, mean, var
    m, v = A.mean(0), A.var(0)
    out = gamma * (A - m) / np.sqrt(v + eps) + beta
    if len(A) > 1:
        var = (1 - momentum) * var + momentum * A.var(0, ddof=ddof)
    return out, (1 - momentum) * mean + momentum * m, var


@batch_norm.wrong(
    "the batch in both modes",
    advice="In evaluation, may a row's output depend on the rows beside it?",
)
def _(A, gamma, beta, mean, var, train, momentum, eps):
    out, new_mean, new_var = _batch(A, gamma, beta, mean, var, True, momentum, eps)
    return (out, new_mean, new_var) if train else (out, mean, var)


@batch_norm.wrong(
    "running values in both modes",
    advice="In training the batch itself is normalised: what are the means of your output's columns?",
)
def _(A, gamma, beta, mean, var, train, momentum, eps):
    _, new_mean, new_var = _batch(A, gamma, beta, mean, var, train, momentum, eps)
    return gamma * (A - mean) / np.sqrt(var + eps) + beta, new_mean, new_var


@batch_norm.wrong(
    "the momentum the other way round",
    advice="With momentum 0.1 the running value moves by a tenth. Does yours move by nine tenths?",
)
def _(A, gamma, beta, mean, var, train, momentum, eps):
    return _batch(A, gamma, beta, mean, var, train, 1 - momentum, eps)


@batch_norm.wrong(
    "the same variance twice",
    advice="The running variance estimates that of unseen rows. What stands below its line?",
)
def _(A, gamma, beta, mean, var, train, momentum, eps):
    return _batch(A, gamma, beta, mean, var, train, momentum, eps, ddof=0)


@batch_norm.wrong(
    "evaluation moves the running values",
    advice="Two evaluations of the same rows must agree, in any order. Do the running values stay?",
)
def _(A, gamma, beta, mean, var, train, momentum, eps):
    out, _, _ = _batch(A, gamma, beta, mean, var, train, momentum, eps)
    return out, *_batch(A, gamma, beta, mean, var, True, momentum, eps)[1:]


@batch_norm.wrong(
    "one row divided by zero",
    advice="What is the variance of one row with N - 1 below the line, and what did the text say about it?",
)
def _(A, gamma, beta, mean, var, train, momentum, eps):
    out, new_mean, new_var = _batch(A, gamma, beta, mean, var, train, momentum, eps)
    if train and len(A) == 1:
        return out, new_mean, np.full(len(var), np.nan)
    return out, new_mean, new_var


@batch_norm.wrong(
    "ε is fixed", advice="eps is an argument. Which ε does your result hold?"
)
def _(A, gamma, beta, mean, var, train, momentum, eps):
    return _batch(A, gamma, beta, mean, var, train, momentum, 1e-5)


@batch_norm.wrong(
    "no ε in evaluation", advice="In which of the two modes is ε added? In both."
)
def _(A, gamma, beta, mean, var, train, momentum, eps):
    return _batch(A, gamma, beta, mean, var, train, momentum, eps if train else 0.0)


@batch_norm.wrong(
    "one row fewer in the output too",
    advice="The batch is divided by the root of its own variance, with N below the line. N - 1 is for the running value.",
)
def _(A, gamma, beta, mean, var, train, momentum, eps):
    out, new_mean, new_var = _batch(A, gamma, beta, mean, var, train, momentum, eps)
    if train and len(A) > 1:
        out = gamma * (A - A.mean(0)) / np.sqrt(A.var(0, ddof=1) + eps) + beta
    return out, new_mean, new_var


@batch_norm.wrong(
    "normalised by the moved running values",
    advice="In training the batch's own mean and variance normalise it. What are the means of your output's columns?",
)
def _(A, gamma, beta, mean, var, train, momentum, eps):
    _, new_mean, new_var = _batch(A, gamma, beta, mean, var, train, momentum, eps)
    return gamma * (A - new_mean) / np.sqrt(new_var + eps) + beta, new_mean, new_var


@batch_norm.wrong(
    "one row pulls the running variance to 0",
    advice="One row says nothing about a variance. What does the docstring ask of the running variance then?",
)
def _(A, gamma, beta, mean, var, train, momentum, eps):
    out, new_mean, new_var = _batch(A, gamma, beta, mean, var, train, momentum, eps)
    if train and len(A) == 1:
        new_var = (1 - momentum) * var
    return out, new_mean, new_var


@batch_norm.wrong(
    "one row in training as in evaluation",
    advice="A single training row is normalised by itself: what is left of it before gamma and beta?",
)
def _(A, gamma, beta, mean, var, train, momentum, eps):
    return _batch(A, gamma, beta, mean, var, train and len(A) > 1, momentum, eps)


@batch_norm.right("as a scale and a shift")
def _(A, gamma, beta, mean, var, train, momentum, eps):
    m, v = (A.mean(0), A.var(0)) if train else (mean, var)
    scale = gamma / np.sqrt(v + eps)
    out = A * scale + (beta - m * scale)
    if train:
        mean = mean + momentum * (m - mean)
        if len(A) > 1:
            var = var + momentum * (v * len(A) / (len(A) - 1) - var)
    return out, mean, var


@batch_norm.right("torch's own layer")
def _(A, gamma, beta, mean, var, train, momentum, eps):
    if train and len(A) == 1:  # torch refuses
        return beta[None] + 0 * A, (1 - momentum) * mean + momentum * A[0], var
    m, v = torch.tensor(mean), torch.tensor(var)
    out = torch.nn.functional.batch_norm(
        torch.from_numpy(A),
        m,
        v,
        torch.from_numpy(gamma),
        torch.from_numpy(beta),
        train,
        momentum,
        eps,
    )
    return out.numpy(), m.numpy(), v.numpy()


# ---------------------------------------------------------------- the Jacobian of RMS norm

rmsnorm_jacobian = Exercise(
    "rmsnorm_jacobian",
    reference=reference.rms_norm_jacobian,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("h",),
    hints=[
        "y_i = h_i / r with r = √(mean(h²) + ε). Both h_i and r depend on h_j.",
        "dr/dh_j = h_j / (d r). So dy_i/dh_j = δ_ij / r - h_i h_j / (d r³).",
        "(np.eye(d) - np.outer(y, y) / d) / r with y = h / r.",
    ],
)


@rmsnorm_jacobian.cases
def _(rng):
    yield "any vector", dict(h=rng.normal(0, 2, 4) + 1, eps=0.0)
    yield "an ε that matters", dict(h=rng.normal(0, 1, 3) + 1, eps=0.5)
    yield "a short vector", dict(h=1e-3 * (rng.normal(size=5) + 2), eps=0.0)
    yield "the vector 0", dict(h=np.zeros(3), eps=rng.uniform(0.01, 0.1))
    yield "a single number", dict(h=rng.uniform(1, 2, 1), eps=rng.uniform(0.1, 0.5))


def _rms_jacobian(h, eps, share=1.0, power=1.0):
    d, r = len(h), np.sqrt(np.mean(h**2) + eps)
    return (np.eye(d) - share * np.outer(h, h) / (d * r**2)) / r**power


@rmsnorm_jacobian.wrong(
    "r as a constant",
    advice="Moving h_j also moves the root mean square that every entry is divided by.",
)
def _(h, eps):
    return _rms_jacobian(h, eps, share=0.0)


@rmsnorm_jacobian.wrong(
    "the projection without the mean's 1/d",
    advice="At ε = 0 the matrix must send h itself to 0. Does yours?",
)
def _(h, eps):
    y = h / np.sqrt(np.mean(h**2) + eps)
    return (np.eye(len(h)) - np.outer(y, y)) / np.sqrt(np.mean(h**2) + eps)


@rmsnorm_jacobian.wrong(
    "divides by the length",
    advice="RMS norm has length √d, not 1. By what is h divided?",
)
def _(h, eps):
    d = len(h)
    length = np.sqrt(h @ h + eps)
    return (np.eye(d) - np.outer(h, h) / length**2) / length


@rmsnorm_jacobian.wrong(
    "ε only in the first factor",
    advice="With ε > 0 the matrix no longer sends h to 0 exactly. Which length stands in the projection?",
)
def _(h, eps):
    d = len(h)
    square = h @ h
    P = np.eye(d) - (np.outer(h, h) / square if square else 0)
    return P / np.sqrt(np.mean(h**2) + eps)


@rmsnorm_jacobian.wrong(
    "centred as in layer norm",
    advice="RMS norm subtracts no mean: where does your 1/d come from?",
)
def _(h, eps):
    d = len(h)
    return _rms_jacobian(h, eps) - np.ones((d, d)) / d / np.sqrt(np.mean(h**2) + eps)


@rmsnorm_jacobian.wrong(
    "not divided by r",
    advice="Ten times longer vectors move ten times less on the sphere. What stands before the bracket?",
)
def _(h, eps):
    return _rms_jacobian(h, eps, power=0.0)


@rmsnorm_jacobian.wrong(
    "ε outside the root",
    advice="Where does ε stand in the docstring: inside or outside the root?",
)
def _(h, eps):
    r = np.sqrt(np.mean(h**2)) + eps
    return (np.eye(len(h)) - np.outer(h, h) / (len(h) * r**2)) / r


@rmsnorm_jacobian.right("entry by entry")
def _(h, eps):
    d = len(h)
    r = (sum(v * v for v in h) / d + eps) ** 0.5
    return [
        [(i == j) / r - h[i] * h[j] / (d * r**3) for j in range(d)] for i in range(d)
    ]


@rmsnorm_jacobian.right("through torch's autograd")
def _(h, eps):
    t = torch.from_numpy(h)
    return torch.autograd.functional.jacobian(
        lambda x: x / (x.square().mean() + eps).sqrt(), t
    ).numpy()

"""Exercises of 07_neural_networks/01_one_hidden_layer."""

import math

import numpy as np
import torch

from descent.compare import close, exact, within
from solutions.spec import Exercise

from . import reference


def signs(rng, *shape, low=0.5, high=2.0):
    """Numbers of both signs, none of them near zero."""
    return rng.choice([-1.0, 1.0], shape) * rng.uniform(low, high, shape)


def network(rng, d, m, **other):
    """A random network by name: W1, b1, w2, b2, some of them given."""
    return (
        dict(
            W1=rng.normal(size=(d, m)),
            b1=rng.normal(size=d),
            w2=rng.normal(size=d),
            b2=float(rng.uniform(0.5, 2)),
        )
        | other
    )


# ---------------------------------------------------------------- the forward pass

mlp1_forward = Exercise(
    "mlp1_forward",
    reference=reference.forward,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("W1", "X", "b1", "w2"),
    hints=[
        "Two layers, two lines: first the hidden values h, one row for each row of X and one column for each unit.",
        "Which product of X (n, m) and W1 (d, m) has the shape (n, d)? Add b1, then clip at 0, entry by entry.",
        "The score weighs the columns of h with w2, a product of shape (n,), and adds b2 once. Nothing is clipped any more.",
    ],
)


@mlp1_forward.cases
def _(rng):
    def case(n, d, m, **other):
        """Units of both signs in every case, none beyond 6; all output weights and the bias positive."""
        W1 = signs(rng, d, m, high=1.2)
        W1[1:2] = -W1[:1]  # of the first two units one is off, whatever the row
        X = signs(rng, n, m, high=1.2)
        X[0] = np.sign(W1[0]) * np.abs(X[0])
        X[1:2] = -X[:1]  # a single unit is on for one row and off for another
        b1 = signs(rng, d, low=0.05, high=0.2)
        w2 = rng.uniform(0.5, 2, d)
        return network(rng, d, m, W1=W1, b1=b1, w2=w2, X=X) | other

    yield "two inputs, three units", case(6, 3, 2)
    large = np.linspace(-15, 15, 7)[:, None]  # some unit is far on
    yield "one input, five units, large values", case(7, 5, 1, X=large)
    yield "as many units as inputs", case(4, 3, 3)
    yield "as many units as inputs", case(3, 3, 3)
    down = -rng.uniform(0.5, 2, 2)
    yield "negative scores stay negative", case(6, 2, 2, w2=down, b2=-1.5)
    yield "all units off leave the output bias", case(3, 3, 2, b1=np.full(3, -50.0))
    yield "a single row", case(1, 2, 4)
    yield "a single unit", case(4, 1, 2)


mlp1_forward.mistakes(
    {
        "no activation": (
            "np.maximum(0, X @ W1.T + b1)",
            "X @ W1.T + b1",
            "What does a hidden unit give where its pre-activation is negative?",
        ),
        "the score is clipped too": (
            "h @ w2 + b2",
            "np.maximum(0, h @ w2 + b2)",
            "Only hidden units are clipped at 0. May a score be negative?",
        ),
        "the hidden bias comes after the activation": (
            "np.maximum(0, X @ W1.T + b1)",
            "np.maximum(0, X @ W1.T) + b1",
            "The bias b1 decides where a unit switches on. Before or after the clipping?",
        ),
        "the weights are transposed": (
            "W1.T",
            "W1",
            "Row k of W1 belongs to unit k. Which axis of W1 must meet the columns of X?",
        ),
        "no output bias": (
            "h @ w2 + b2",
            "h @ w2",
            "What is the score where every hidden unit is off?",
        ),
        "a column for a vector": (
            "h @ w2 + b2",
            "h @ w2[:, None] + b2",
            "One number a row: which shape has your result, and which was asked?",
        ),
        "a bare number for one row": (
            "h @ w2 + b2",
            "np.squeeze(h @ w2 + b2)",
            "A single row in: is the result an array of length 1?",
        ),
        "the probability for the score": (
            "h @ w2 + b2",
            "1 / (1 + np.exp(-h @ w2 - b2))",
            "A score may have any size. Has a probability been asked for here?",
        ),
        "units that stop growing": (
            "np.maximum(0, X @ W1.T + b1)",
            "np.clip(X @ W1.T + b1, 0, 6)",
            "max(0, z) has a floor. Has it a ceiling too?",
        ),
        "a leaky unit": (
            "np.maximum(0, X @ W1.T + b1)",
            "np.maximum(0.01 * (X @ W1.T + b1), X @ W1.T + b1)",
            "What is max(0, z) at z = -1, exactly?",
        ),
        "the size of z": (
            "np.maximum(0, X @ W1.T + b1)",
            "np.abs(X @ W1.T + b1)",
            "A unit is off where z is negative. Is yours?",
        ),
    }
)

mlp1_forward.worked(
    why=r"""Rows are examples, columns are units: `X @ W1.T` has one row per example and one column per unit, and `+ b1`
    adds each unit's own bias to its column. The clipping acts entry by entry. After it comes a plain linear model of $h$,
    so its scores may have any sign."""
)


@mlp1_forward.right("unit by unit")
def _(X, W1, b1, w2, b2):
    s = np.full(len(X), b2)
    for w, b, v in zip(W1, b1, w2):
        for i, x in enumerate(X):
            s[i] += v * max(0.0, float(w @ x) + b)
    return s


@mlp1_forward.right("single precision")
def _(X, W1, b1, w2, b2):
    X, W1, b1, w2 = (a.astype(np.float32) for a in (X, W1, b1, w2))
    return np.maximum(X @ W1.T + b1, 0) @ w2 + np.float32(b2)


@mlp1_forward.right("by its layers", library="torch.nn.functional")
def _(X, W1, b1, w2, b2):
    from torch.nn.functional import linear, relu

    X, W1, b1, w2 = map(torch.from_numpy, (X, W1, b1, w2))
    return linear(relu(linear(X, W1, b1)), w2[None])[:, 0] + b2


# ---------------------------------------------------------------- the pieces of a line

pieces = Exercise(
    "pieces",
    reference=reference.pieces,
    compare=close(rtol=1e-6, atol=1e-8),
    data_dependent="how many places there are depends on the weights",
    hints=[
        "Far to the left, which units are on? Their slopes add up to the first slope. Then walk to the right: what happens at each kink?",
        "Unit k bends where w1 x + b1 = 0. Its slope is 0 on one side and w1 w2 on the other: from left to right it changes by w2 times the size of w1.",
        "Go through the kinks by np.argsort of their places. At a new place append the place, and the last slope plus the change; at the place of before only add the change to the last slope.",
    ],
)


@pieces.cases
def _(rng):
    def units(*w1, places=None, **other):
        """Units with these w1, at random or given places."""
        w1 = np.array(w1, float)
        place = signs(rng, len(w1)) if places is None else np.array(places)
        down = np.array([-1, -1, 1, -1, 1])[: len(w1)]  # one that bends, at least
        w2 = down * rng.uniform(0.5, 2, len(w1))
        return dict(w1=w1, b1=-w1 * place, w2=w2) | other

    size = rng.uniform(0.5, 2, 4)
    yield "units that open to one side", units(*size, places=-np.sort(signs(rng, 4)))
    yield "units that open to one side", units(*-size[:3])
    yield "units that open to one side", units(-1.5)
    yield "both kinds, in any order", units(0.7, -1.5, 0.8, -2.0, 0.6)
    yield "both kinds, in any order", units(-0.7, 1.5, -0.4, places=[3.0, 1.0, 2.0])
    yield "both kinds, in any order", units(0.7, -1.5, 2.0, places=[-1.0, -3.0, -2.0])
    some = dict(b1=np.array([0.7, -1.5, -0.4, -0.8]))  # kinks at 1 and -1
    yield "a unit with w1 = 0 has no kink", units(0.0, 1.5, 0.0, -0.8, **some)
    yield "a unit with w1 = 0 has no kink", units(0.0, 0.0, b1=signs(rng, 2))
    one = dict(places=[1.5, 1.5, 1.5, 0.5])
    yield "units at one place make one kink", units(1.0, -2.0, 0.5, 4.0, **one)
    # 0.3 / 3 is not 0.1 to the last digit
    tenth = dict(b1=np.array([-0.1, -0.3, 0.7, 1.0]))
    yield "near is not the same place", units(1.0, 3.0, -7.0, 1.0, **tenth)
    near = dict(places=[0.5, 0.5 + 2e-6, 0.51])
    yield "near is not the same place", units(1.0, 2.0, -1.5, **near)
    for gap in (3e-10, 1e-9, 1.5e-9):  # of 0 and 1e-9 the difference is exact
        close = dict(places=[0.0, gap, 2e-8])
        yield "near is not the same place", units(1.0, 2.0, -1.5, **close)
    far = dict(places=[4000.0, 4000.01, -4000.0])
    yield "near is not the same place", units(1.0, 2.0, -1.5, **far)
    yield "all others have one", units(0.004, 1.0, -0.003, places=[2.0, -1.0, 1.0])
    unused = signs(rng, 3)
    unused[1] = 0.0
    line = dict(places=[-1.0, 0.5, 2.0], w2=unused)
    yield "all others have one", units(1.0, -1.5, 2.0, **line)
    cancel = dict(places=[1.0, 1.0, 2.0], w2=np.array([3.0, -3.0, 1.0]))
    yield "all others have one", units(1.0, 1.0, -0.5, **cancel)
    yield "all others have one", units(1.0, -2.0, places=[0.0, 0.75])
    whole = dict(w1=np.array([2, -1, 3]), b1=np.array([1, 3, -2]), w2=np.array([4, 1, -2]))  # fmt: skip
    yield "whole numbers", whole


pieces.mistakes(
    {
        "the sign of the place": (
            "-b1[bends] / w1",
            "b1[bends] / w1",
            "Put your place into w1 x + b1. Does it give 0?",
        ),
        "the place is the bias": (
            "-b1[bends] / w1[bends]",
            "-b1[bends]",
            "That would do if every w1 were 1. Solve w1 x + b1 = 0 for x.",
        ),
        "a unit that opens to the left bends the other way": (
            "np.abs(w1[bends])",
            "w1[bends]",
            "Draw max(0, -x). Is its slope larger on the left or on the right of 0? By how much does it change?",
        ),
        "the slope of the unit is forgotten": (
            "w2[bends] * np.abs(w1[bends])",
            "w2[bends]",
            "A unit with w1 = 2 climbs twice as steeply as one with w1 = 1. Where does that enter the change?",
        ),
        "only the size of the change": (
            "w2[bends] * np.abs(w1[bends])",
            "np.abs(w2[bends] * w1[bends])",
            "A kink can bend down as well as up. Does yours?",
        ),
        "the first piece is flat": (
            "[np.sum((w1 * w2)[w1 < 0])]",
            "[0.0]",
            "Far to the left some units are on: those that open there. What slope do they give the first piece?",
        ),
        "the first slope is that of the last piece": (
            "[w1 < 0]",
            "[w1 > 0]",
            "Which units are on far to the left: those with positive or with negative w1?",
        ),
        "the first slope leaves out the output weights": (
            "(w1 * w2)[w1 < 0]",
            "w1[w1 < 0]",
            "How much does each unit count in the score?",
        ),
        "the order of the units": (
            "np.argsort(place)",
            "range(len(place))",
            "The pieces go from left to right. In which order do you take the kinks?",
        ),
        "from right to left": (
            "np.argsort(place)",
            "np.argsort(-place)",
            "The first slope is that of the far left. At which end do you begin?",
        ),
        "a piece for each unit": (
            "place[k] - places[-1] <= 1e-9",
            "False",
            "Two units bend at one place: how many kinks does the score have there?",
        ),
        "places that agree to the last digit only": (
            "place[k] - places[-1] <= 1e-9",
            "place[k] == places[-1]",
            "0.3 / 3 and 0.1 are not equal to the last digit. Are they one place?",
        ),
        "a gap of exactly 1e-9 is two": (
            "<= 1e-9",
            "< 1e-9",
            "The docstring says at most. Do you compare with < or with <=?",
        ),
        "near places are taken for one": (
            "<= 1e-9",
            "<= 1e-4",
            "Two kinks 0.000002 apart are two. How near is the same for you?",
        ),
        "near places are taken for one, by share": (
            "place[k] - places[-1] <= 1e-9",
            "np.isclose(place[k], places[-1])",
            "np.isclose forgives more where numbers are large. What does the docstring allow?",
        ),
        "the second unit at a place replaces the first": (
            "slopes[-1] += change[k]",
            "slopes[-1] = slopes[-2] + change[k]",
            "Two units bend at one place: do both changes count?",
        ),
        "the second unit at a place is dropped": (
            "slopes[-1] += change[k]",
            "continue",
            "Two units bend at one place: do both changes count?",
        ),
        "units that the output does not use are dropped": (
            "bends = w1 != 0",
            "bends = (w1 != 0) & (w2 != 0)",
            "Which units have a kink? Read the condition in the docstring again.",
        ),
        "a kink at 0 is dropped": (
            "bends = w1 != 0",
            "bends = (w1 != 0) & (b1 != 0)",
            "b1 = 0 and w1 = 1: where is the kink?",
        ),
        "gentle units are dropped": (
            "bends = w1 != 0",
            "bends = np.abs(w1) > 0.01",
            "A unit with w1 = 0.001 bends a little. Does it bend?",
        ),
        "changes in place of slopes": (
            "slopes.append(slopes[-1] + change[k])",
            "slopes.append(change[k])",
            "A slope is what the piece has after all the changes so far.",
        ),
        "one slope is missing": (
            "np.array(slopes)",
            "np.array(slopes[1:])",
            "Two kinks make three pieces. How many slopes do you return for two places?",
        ),
    }
)

pieces.equivalent(
    {
        "places, slopes = ([], [np.sum((w1 * w2)[w1 < 0])]) → places, slopes = ([], [np.sum((w1 * w2)[w1 <= 0])])": "unit k adds w2[k] * max(0, w1[k] x + b1[k]) to the score."
    }
)

pieces.worked(
    why=r"""Far to the left exactly the units with negative $w^{(1)}$ are on, so their slopes make the first piece. From
    there each kink changes the slope by $w^{(2)}|w^{(1)}|$, whichever way its unit opens: a unit that opens to the left
    switches off, and losing a negative slope is a gain. Sorting turns the walk into one pass."""
)


@pieces.right("which units are on between the places")
def _(w1, b1, w2):
    places = []
    for x in sorted(-b / w for w, b in zip(w1, b1) if w != 0):
        if not places or x - places[-1] > 1e-9:
            places.append(x)
    if not places:
        return [], [0.0]
    ends = [places[0] - 2, *places, places[-1] + 2]
    middle = [(low + high) / 2 for low, high in zip(ends, ends[1:])]
    return places, [sum(v * w for w, b, v in zip(w1, b1, w2) if w * x + b > 0) for x in middle]  # fmt: skip


@pieces.right("unique places and a running sum")
def _(w1, b1, w2):
    kept = np.flatnonzero(w1)
    place = -b1[kept] / w1[kept]
    order = np.argsort(place)
    place, change = place[order], (w2[kept] * np.abs(w1[kept]))[order]
    new = np.diff(place, prepend=-np.inf) > 1e-9
    total = np.bincount(np.cumsum(new) - 1, change, minlength=new.sum())
    first = np.minimum(w1, 0) @ w2
    return place[new], np.append(first, first + np.cumsum(total))


# ---------------------------------------------------------------- XOR by hand


def _xor_result(lo, hi):
    scores = torch.tensor([-1.0, 1.0, 1.0, -1.0], dtype=torch.float64)
    return dict(units=2, scores=scores)


xor_net = Exercise(
    "xor_net",
    reference=_xor_result,
    # float32 weights lose 6e-8 of b1, which is up to 80 in the tiny square; w2 = -4 makes it 2e-5
    compare=close(rtol=0, atol=1e-4),
    hints=[
        "Along the diagonal the labels read 0, 1, 0. Which number t, made from x1 + x2, is 0, 1, 1, 2 at the four corners?",
        "t = (x1 + x2 - 2 lo) / (hi - lo). A first unit max(0, t) climbs from 0; a second one, max(0, t - 1), from 1. You have found output weights for these two already, with the pointer.",
        "Both rows of W1 are [1, 1] / (hi - lo). The first bias is -2 lo / (hi - lo), the second one 1 less. The changes of slope at the two kinks are the output weights.",
    ],
)


@xor_net.probe
def _(answer, lo, hi):
    W1, b1, w2, b2 = (np.asarray(part, dtype=float) for part in answer(lo, hi))
    X = np.array([[lo, lo], [hi, lo], [lo, hi], [hi, hi]])
    if W1.shape != (len(w2), 2) or b1.shape != w2.shape:
        raise ValueError(
            f"W1 {W1.shape}, b1 {b1.shape} and w2 {w2.shape} do not fit: (d, 2), (d,), (d,)"
        )
    return dict(
        units=len(w2), scores=np.maximum(0, X @ W1.T + b1) @ w2 + float(np.squeeze(b2))
    )


@xor_net.cases
def _(rng):
    yield "the corners 0 and 1", dict(lo=0.0, hi=1.0)
    yield "the corners -1 and 1", dict(lo=-1.0, hi=1.0)
    lo = float(rng.uniform(2, 5))
    yield "any square", dict(lo=lo, hi=lo + float(rng.uniform(1.5, 4)))
    yield "any square", dict(lo=-3, hi=2)
    yield "both corners negative", dict(lo=-lo - 2, hi=-lo)
    yield "a tiny square", dict(lo=lo, hi=lo + 0.125)


xor_net.mistakes(
    {
        "the notes' weights whatever the corners": (
            "g = 1 / (hi - lo)",
            "g, lo = 1.0, 0.0",
            "These solve the corners 0 and 1. What are the pre-activations at your lo and hi?",
        ),
        "scaled but not shifted": (
            "np.array([-2 * lo * g, -2 * lo * g - 1])",
            "np.array([0.0, -1.0])",
            "At (lo, lo) the first unit should be at its kink. Is w · x + b = 0 there?",
        ),
        "shifted by one corner's worth": (
            "np.array([-2 * lo * g, -2 * lo * g - 1])",
            "np.array([-lo * g, -lo * g - 1])",
            "Both units look at x1 + x2. What is that sum at (lo, lo)?",
        ),
        "shifted but not scaled": (
            "g = 1 / (hi - lo)",
            "g = 1.0",
            "The second unit should be at its kink where one coordinate is hi. How far is that from (lo, lo)?",
        ),
        "more units than asked": (
            "return W1, b1, np.array([2.0, -4.0]), -1.0",
            "return np.vstack([W1, 0 * W1[:1]]), np.append(b1, 0), np.array([2.0, -4.0, 0]), -1.0",
            "Two units are allowed. How many rows has your W1?",
        ),
        "OR instead of XOR": (
            "[2.0, -4.0]",
            "[2.0, -2.0]",
            "What is the score at (hi, hi)? Something has to pull it down again.",
        ),
        "the labels are swapped": (
            "np.array([2.0, -4.0]), -1.0",
            "np.array([-2.0, 4.0]), 1.0",
            "Equal coordinates belong to label 0, a negative score. Do yours?",
        ),
        "scores of 0 and 1": (
            "np.array([2.0, -4.0]), -1.0",
            "np.array([1.0, -2.0]), 0.0",
            "Which four scores are asked for? Yours are the labels.",
        ),
        "one unit a coordinate": (
            "np.full((2, 2), g)",
            "np.eye(2) * g",
            "A unit that looks at one coordinate only cannot know whether the other one agrees.",
        ),
    }
)

xor_net.worked(
    why=r"""Both units look at one number only, how many coordinates are high: $t = (x_1 + x_2 - 2\,lo) / (hi - lo)$ is 0, 1,
    1, 2 at the corners. That turns XOR into a line with two kinks, up by 2 from 0 and down by 2 from 1, and these are the
    output weights: +2, and −4 to turn a climb of 2 into a fall of 2."""
)


@xor_net.right("two units that look at the difference")
def _(lo, hi):
    g = 1 / (hi - lo)
    return [[g, -g], [-g, g]], [0.0, 0.0], [2.0, 2.0], -1.0


@xor_net.right("in single precision")
def _(lo, hi):
    g = np.float32(1 / (hi - lo))
    b1 = np.array([-2 * lo * g, -2 * lo * g - 1], np.float32)
    return np.full((2, 2), g), b1, np.array([2, -4], np.float32), np.float32(-1)


@xor_net.right("sum and its mirror image")
def _(lo, hi):
    g = 2 / (hi - lo)
    b = np.array([-g * (lo + hi), g * (lo + hi)])
    return np.array([[g, g], [-g, -g]]), b, np.array([-1.0, -1.0]), np.array([1.0])


# ---------------------------------------------------------------- the training loop


def _trained(X, y, W1, b1, w2, b2, eta, max_steps, tol, kind, old_grad):
    b2 = X.new_tensor(b2)
    risks, weights = reference.trained(X, y, W1, b1, w2, b2, eta, max_steps, tol, kind)
    return dict(risks=risks, weights=torch.cat([w.reshape(-1) for w in weights]))


train = Exercise(
    "train",
    reference=_trained,
    compare=close(rtol=1e-6, atol=1e-9),
    data_dependent="training ends where the gradient is small",
    hints=[
        "One round: the risk, its gradient, the question whether to go on, the step. In which order, so that the last risk is told without a step after it?",
        "risk.backward() ADDS to the .grad of every parameter: clear with net.zero_grad() first. Steps are taken inside `with torch.no_grad():`, in place, and the norm is the root of the sum of the squares of all entries of all gradients.",
        "In a loop: risk = mean of loss(net(X)[:, 0], y); append risk.item(); zero_grad; backward; leave if there were max_steps steps or the norm is at most tol; without gradient, p -= eta * p.grad for each of net.parameters().",
    ],
)


@train.probe
def _(answer, X, y, W1, b1, w2, b2, eta, max_steps, tol, kind, old_grad):
    X, y, W1, b1, w2 = (torch.as_tensor(np.asarray(a)) for a in (X, y, W1, b1, w2))
    net = torch.nn.Sequential(
        torch.nn.Linear(W1.shape[1], len(b1)),
        torch.nn.ReLU(),
        torch.nn.Linear(len(b1), 1),
    ).double()
    with torch.no_grad():
        net[0].weight.copy_(W1)
        net[0].bias.copy_(b1)
        net[2].weight.copy_(w2[None])
        net[2].bias.fill_(b2)
    if old_grad is not None:
        for p in net.parameters():
            p.grad = torch.full_like(p, old_grad)

    def squared(s, y):
        return (s - y) ** 2 / 2

    def logistic(s, y):
        return torch.logaddexp(s, torch.zeros_like(s)) - y * s

    loss = squared if kind == "gaussian" else logistic
    risks = answer(net, loss, X, y, eta, max_steps, tol)
    weights = torch.cat([p.detach().reshape(-1) for p in net.parameters()])
    return dict(risks=np.array([float(v) for v in risks]), weights=weights.numpy())


def _slope_sizes(X, y, W1, b1, w2, b2, kind, **_):
    """Largest entry of the gradient, largest norm of one parameter's, norm of all: one step of size 1 tells."""
    X, y, *net = (torch.as_tensor(part) for part in (X, y, W1, b1, w2, b2))
    _, moved = reference.trained(X, y, *net, 1.0, 1, 0.0, kind)
    steps = [(new - old).reshape(-1) for new, old in zip(moved, net, strict=True)]
    whole = torch.cat(steps)
    return float(whole.abs().max()), float(max(g.norm() for g in steps)), float(whole.norm())  # fmt: skip


@train.cases
def _(rng):
    def start(n, d, m, **other):
        net = network(rng, d, m, b1=rng.uniform(0.5, 1.0, d))
        rest = dict(X=rng.uniform(-1, 1, (n, m)), y=rng.normal(size=n), eta=0.1)
        stop = dict(max_steps=3, tol=0.0, kind="gaussian", old_grad=None)
        return net | rest | stop | other

    def still(n, d, m, **other):
        """All weights zero: only the output bias can move."""
        zero = dict(W1=np.zeros((d, m)), b1=np.zeros(d), w2=np.zeros(d), b2=0.0)
        return start(n, d, m) | zero | other

    labels = dict(y=np.arange(8) % 2.0, kind="bernoulli", eta=0.5)
    yield "three steps on squared error", start(6, 3, 2)
    yield "three steps on the logistic loss", start(8, 4, 2, **labels)
    yield "one step", start(5, 2, 1, max_steps=1)
    yield "no step only tells the risk", start(5, 2, 2, max_steps=0)
    yield "a single row", start(1, 3, 2)
    yield "a single unit and a single input", start(4, 1, 1)
    yield "gradients of before do not count", start(5, 2, 2, max_steps=2, old_grad=1.0)
    far = dict(y=rng.normal(8, 1, 5), eta=3.0)
    yield "a step too large is taken all the same", start(5, 2, 2, **far)
    yield "all weights zero", still(5, 3, 2, y=rng.normal(2, 1, 5))
    # steps so small that the norm stays above tol for all three
    slope = start(6, 2, 2, b1=np.array([3.0, 2.0]), y=rng.normal(20, 1, 6), eta=1e-5)
    entry, part, norm = _slope_sizes(**slope)
    for tol in ((entry + part) / 2, (part + norm) / 2):
        yield "the norm of all of the gradient counts", slope | dict(tol=tol)
    enough = dict(tol=1.02 * norm, max_steps=30)
    yield "the norm of all of the gradient counts", slope | enough
    fading = still(4, 2, 2, y=np.full(4, 2.0), tol=0.5, max_steps=40)
    yield "stops when the gradient is small", fading
    labels = dict(kind="bernoulli", y=np.array([1.0, 1, 1, 0]))
    yield "stops when the gradient is small", fading | labels | dict(tol=0.1, eta=1.0)
    # the gradient by the output bias is -1, all others are 0
    yield "a gradient of exactly tol is small", still(4, 2, 1, y=np.ones(4), tol=1.0)
    yield "a gradient of exactly tol is small", still(2, 2, 1, y=np.array([1.0, -1.0]))
    yield "no more than max_steps", start(6, 2, 2, tol=1e-6, max_steps=2)


train.mistakes(
    {
        "the sum for the mean": (
            "y).mean()",
            "y).sum()",
            "The risk is a mean over the rows. What happens to your step if every row appears twice?",
        ),
        "gradients accumulate": (
            "        net.zero_grad()\n",
            "",
            "backward() adds to .grad. What stands there when the second step begins?",
        ),
        "clears the gradients after the first step only": (
            "net.zero_grad()",
            "if len(risks) > 1:\n            net.zero_grad()",
            "The network comes to you with whatever is in .grad. What does the first backward() add to?",
        ),
        "uphill": (
            "p -= eta",
            "p += eta",
            "Does the risk fall from step to step? The gradient points uphill.",
        ),
        "a column minus a row": (
            "net(X)[:, 0]",
            "net(X)",
            "net(X) has shape (n, 1) and y has shape (n,). What shape has their difference?",
        ),
        "the first risk is after the first step": (
            "return risks",
            "return risks[1:] + risks[-1:]",
            "risks[0] is the risk of the network as it was given to you.",
        ),
        "the last risk is missing": (
            "return risks",
            "return risks[:-1]",
            "After the last step the risk has changed once more. How many values are asked for?",
        ),
        "only the output layer learns": (
            "for p in net.parameters():",
            "for p in list(net.parameters())[2:]:",
            "Which parameters move? net.parameters() gives those of both layers.",
        ),
        "the biases stay": (
            "for p in net.parameters():",
            "for p in list(net.parameters())[::2]:",
            "Which parameters move? Weights alone are not all of net.parameters().",
        ),
        "one step too many": (
            "len(risks) > max_steps",
            "len(risks) > max_steps + 1",
            "How many steps have you taken when max_steps + 1 risks are told?",
        ),
        "one step too few": (
            "len(risks) > max_steps",
            "len(risks) >= max_steps",
            "max_steps counts steps, not risks: k steps make k + 1 risks.",
        ),
        "stops when the risk no longer falls": (
            "if len(risks) > max_steps or",
            "if len(risks) > max_steps or risks[-1] > min(risks) or",
            "How many steps are asked for? The docstring allows one early end only.",
        ),
        "a copy is trained": (
            "risks = []",
            "import copy\n    risks, net = [], copy.deepcopy(net)",
            "Whose parameters move: those of net, or those of a copy?",
        ),
        "tol is never looked at": (
            "size <= tol",
            "False",
            "When the gradient is small enough, training ends early. Where is tol in your loop?",
        ),
        "a gradient that is exactly tol does not stop": (
            "size <= tol",
            "size < tol",
            "With tol = 0 a stationary start must stop at once: at most tol, or less than tol?",
        ),
        "the risk is compared with tol": (
            "size <= tol",
            "risk <= tol",
            "A run can stand still at a high risk. What does the docstring compare with tol?",
        ),
        "the squared norm is compared with tol": (
            " ** 0.5",
            "",
            "Is it the norm, or its square, that has to reach tol?",
        ),
        "the largest entry is compared with tol": (
            "sum((p.grad**2).sum() for p in net.parameters()) ** 0.5",
            "max(p.grad.abs().max() for p in net.parameters())",
            "tol is for the length of the whole gradient, not for its largest entry.",
        ),
        "the sum of the entries is compared with tol": (
            "sum((p.grad**2).sum() for p in net.parameters()) ** 0.5",
            "sum(p.grad.abs().sum() for p in net.parameters())",
            "Which norm adds up absolute values, and which is a length?",
        ),
        "the largest norm of one parameter": (
            "sum((p.grad**2).sum() for p in net.parameters()) ** 0.5",
            "max((p.grad**2).sum() for p in net.parameters()) ** 0.5",
            "One norm for all parameters together: take the root after everything is added.",
        ),
        "the step is compared with tol": (
            "size <= tol",
            "eta * size <= tol",
            "Small is asked of the gradient, not of the step: eta should play no part in the test.",
        ),
        "one step after the gradient is small": (
            "return risks",
            "[p.data.sub_(eta * p.grad) for p in net.parameters() if len(risks) <= max_steps]\n            return risks",
            "Test before you step: a network whose gradient is small enough stays as it is.",
        ),
    }
)

train.equivalent(
    {
        "risk = loss(net(X)[:, 0], y).mean() → risk = loss(net(X)[:, -1], y).mean()": "net: torch module, (n, m) -> (n, 1)."
    }
)

train.worked(
    why=r"""The order of a round decides: risk, gradient, question, step. So the last risk belongs to the network that you
    hand back, and k steps make k + 1 risks. `zero_grad` stands before `backward`, because torch adds; it then does not
    matter what was there. The steps are taken where torch does not record them, else every step would become part of the next
    gradient. The one early end asks for a small gradient, not for a small risk: so a
    run on a plateau stops, too."""
)


@train.right("by its optimiser", library="torch.optim.SGD")
def _(net, loss, X, y, eta, max_steps, tol=0.0):
    from torch.nn.utils import clip_grad_norm_
    from torch.optim import SGD

    optimiser, risks = SGD(net.parameters(), lr=eta), []
    for step in range(max_steps + 1):
        optimiser.zero_grad()
        risk = loss(net(X).squeeze(-1), y).mean()
        risk.backward()
        risks.append(risk.detach())
        size = clip_grad_norm_(net.parameters(), float("inf"))  # tells the norm
        if step == max_steps or size <= tol:
            break
        optimiser.step()
    return risks


@train.right("gradients as values")
def _(net, loss, X, y, eta, max_steps, tol=0.0):
    risks = []
    for k in range(max_steps + 1):
        risk = torch.mean(loss(net(X).flatten(), y))
        risks.append(risk.item())
        slopes = torch.autograd.grad(risk, list(net.parameters()))
        if math.hypot(*torch.cat([g.flatten() for g in slopes]).tolist()) <= tol:
            return np.array(risks)
        for p, slope in zip(net.parameters(), slopes):
            p.data = p.data - (eta if k < max_steps else 0) * slope
    return np.array(risks)


# ---------------------------------------------------------------- plateaus

plateau = Exercise(
    "plateau",
    reference=reference.plateau,
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("s", "y"),
    shuffled=True,
    hints=[
        "Two steps: who shares a score, and what is the best score for each such group? Begin with a list of lists.",
        "Go through np.argsort(s). A gap larger than tol to the neighbour of before begins a new group. In a group with share q of ones the best probability is q; its rows lose -q log q - (1 - q) log(1 - q) each.",
        "For each group: q is the mean of its labels; for p in (q, 1 - q), where p is not 0, subtract p · log p as many times as the group has rows. At the end divide by all rows.",
    ],
)


@plateau.cases
def _(rng):
    def case(sizes, ones, tol=0.1, gap=1.0, jitter=0.2):
        """Groups of these sizes, with so many ones, every other row first; within a group gaps of jitter · tol."""
        s, y, at = [], [], float(rng.uniform(-4, -2))
        for size, k in zip(sizes, ones, strict=True):
            s += [at + jitter * tol * i for i in range(size)]
            y += [1.0] * k + [0.0] * (size - k)
            at = s[-1] + gap
        order = np.argsort(np.arange(len(s)) % 2, kind="stable")
        return dict(s=np.array(s)[order], y=np.array(y)[order], tol=tol)

    tie = np.array(
        [0.5, 0.0, 0.25, 1.0, 1.0]
    )  # gaps of exactly tol, none, and twice tol
    yield "a gap of exactly tol is near", dict(s=tie, y=np.array([1.0, 0, 0, 1, 0]), tol=0.25)  # fmt: skip
    yield "four rows, as in XOR", dict(s=np.zeros(4), y=np.array([0.0, 1, 1, 0]), tol=0.1)  # fmt: skip
    yield "four rows, as in XOR", case([3, 1], [2, 0])
    yield "four rows, as in XOR", case([2, 1, 1], [1, 1, 0])
    yield "groups of unequal size", case([5, 2, 3], [1, 1, 2])
    yield "groups of unequal size", case([6, 1, 2, 3], [4, 1, 1, 0], tol=0.03)
    yield "labels that agree cost nothing", case([3, 4], [3, 0])
    yield "a row alone costs nothing", case([1, 1, 1], [0, 1, 0])
    yield "a single row", case([1], [1])
    yield "all rows in one group", case([7], [2])
    # neighbours are near, the first and the last are not
    yield "a chain of neighbours is one group", case([6], [2], jitter=0.9)
    yield "a chain of neighbours is one group", case([4, 5], [1, 3], jitter=0.9, gap=0.3)  # fmt: skip
    yield "with tol 0 only equals share", dict(s=np.array([2.0, -1, 2, -1, 2.001]), y=np.array([1.0, 0, 0, 0, 1]), tol=0.0)  # fmt: skip
    yield "huge scores", case([3, 2], [1, 1], gap=1e4)


plateau.mistakes(
    {
        "all rows in one group": (
            "if s[j] - s[i] > tol:",
            "if False:",
            "Rows whose scores differ may have different probabilities. Who shares with whom?",
        ),
        "each row for itself": (
            "if s[j] - s[i] > tol:",
            "if True:",
            "Rows that share a score share a probability: what does that cost where their labels differ?",
        ),
        "far from the first of the group": (
            "s[j] - s[i] > tol",
            "s[j] - s[groups[-1][0]] > tol",
            "Neighbours are compared: near to the one before is enough.",
        ),
        "a gap of exactly tol is far": (
            "> tol:",
            ">= tol:",
            "At most tol apart, or less than tol?",
        ),
        "the scores are not sorted": (
            "np.argsort(s)",
            "list(range(len(s)))",
            "Rows that share a score may stand far apart in s. In which order do you go?",
        ),
        "sorted by label": (
            "np.argsort(s)",
            "np.lexsort((s, y))",
            "Groups are rows of like score, whatever their labels.",
        ),
        "the mean over groups": (
            "return risk / len(y)",
            "return risk / len(groups)",
            "The risk is a mean over rows: how often does each group count?",
        ),
        "groups count alike": (
            "risk -= len(rows) * p * np.log(p)",
            "risk -= p * np.log(p)",
            "A group of three rows costs three times what one of its rows costs.",
        ),
        "the sum for the mean": (
            "return risk / len(y)",
            "return risk",
            "The risk is a mean over all rows.",
        ),
        "only the ones cost": (
            "for p in (q, 1 - q):",
            "for p in (q,):",
            "The rows with label 0 lose something, too.",
        ),
        "bits for nats": (
            "np.log(p)",
            "np.log2(p)",
            "The logistic loss has the natural logarithm.",
        ),
        "0 log 0": (
            "if p > 0:",
            "if True:",
            "In a group whose labels agree p is 0. What do such rows lose?",
        ),
        "the wrong sign": (
            "risk -=",
            "risk +=",
            "A loss is never negative. What sign has log p?",
        ),
        "the majority's mistakes": (
            "p * np.log(p)",
            "-min(q, 1 - q) / 2",
            "You count rows on the wrong side. What does the logistic loss say of a probability?",
        ),
        "the scores as they are": (
            "q = np.mean(y[rows])",
            "q = 1 / (1 + np.exp(-np.clip(np.mean(s[rows]), -700, 700)))",
            "The group's score is free: which common probability is best for its labels?",
        ),
        "one half for each group": (
            "q = np.mean(y[rows])",
            "q = 0.5",
            "Is one half the best probability where two of three labels are 1?",
        ),
    }
)

plateau.worked(
    why=r"""Rows with one score have one probability $p$, and a group with share $q$ of ones loses $-q\log p - (1-q)\log(1-p)$
    a row. That is smallest at $p = q$, so the share of ones is all that a group can learn. Sorting brings those that share
    together, and 0 log 0 counts as 0: a group whose labels agree can come as near to 0 as it likes, with a score far out."""
)


@plateau.right("by cumulative group numbers")
def _(s, y, tol):
    order = np.argsort(s)
    number = np.concatenate([[0], np.cumsum(np.diff(s[order]) > tol)])
    n, ones = np.bincount(number), np.bincount(number, y[order])
    total = 0.0
    for size, k in zip(n, ones):
        if 0 < k < size:
            total += size * math.log(size) - k * math.log(k) - (size - k) * math.log(size - k)  # fmt: skip
    return total / len(y)


@plateau.right("by its entropy", library="scipy.stats.entropy")
def _(s, y, tol):
    from scipy.stats import entropy

    order = np.argsort(s)
    cuts = np.flatnonzero(np.diff(s[order]) > tol) + 1
    shares = np.split(y[order], cuts)
    return sum(len(g) * entropy([g.mean(), 1 - g.mean()]) for g in shares) / len(y)


@plateau.right("lists, by trying no group twice")
def _(s, y, tol):
    pairs, total = sorted(zip(s.tolist(), y.tolist())), 0.0
    while pairs:
        size = 1
        while size < len(pairs) and pairs[size][0] - pairs[size - 1][0] <= tol:
            size += 1
        labels, pairs = [label for _, label in pairs[:size]], pairs[size:]
        for label in (0.0, 1.0):
            k = labels.count(label)
            total += k * math.log(size / k) if k else 0.0
    return total / len(y)


# ---------------------------------------------------------------- regions

count_regions = Exercise(
    "count_regions",
    reference=reference.region_count,
    compare=within(0.0),
    limit=4.0,
    batched=("W", "b"),
    shuffled=True,
    hints=[
        "Keep the lines drawn so far. For a new one: which of them cross it, and in how many different points?",
        "Start with 1 and add 1 + j for every new line with j crossings. A row of zeros is no line, and a line that is there already adds nothing. Parallel lines have no crossing; a crossing that is there already is no new one.",
        "Two lines cross where the 2x2 system with rows W[i], W[j] has the solution -(b[i], b[j]); they are parallel where its determinant is 0, and the same where also W[i] b[j] = W[j] b[i]. Compare each crossing with those found, but for rounding.",
    ],
)


@count_regions.cases
def _(rng):
    def case(W, b):
        return dict(W=np.array(W, float), b=np.array(b, float))

    for angle in ([0, 0.6, 1.5, 2.6], [0, 0.5, 1.1, 1.8, 2.6, 3.7]):
        # tangents of a circle, turned: no two crossings are near each other
        turn, size = np.array(angle) + rng.uniform(0, 6), signs(rng, len(angle))
        normals = np.column_stack([np.cos(turn), np.sin(turn)])
        yield "lines in general position", case(normals * size[:, None], -size)
    nearly = [[1, 0], [1, 1e-4], [0, rng.uniform(0.5, 2)]]
    yield "nearly parallel lines meet far away", case(nearly, [0, 1, rng.normal()])
    # of two sizes, else lines turned by 45 degrees would be upright
    W = rng.permutation([[1, rng.integers(2, 4)]], axis=1) * signs(rng, 2, low=1, high=1)  # fmt: skip
    W, b = np.array([[1.0], [-2.0], [3.0]]) * W, np.array([0.0, 2.0, 6.0])
    yield "parallel lines never meet", case(W, b)
    slanted = np.outer([1.0, -0.3, 0.7], signs(rng, 2))  # parallel up to rounding
    yield "parallel lines never meet", case(slanted, [9, 0.5, rng.normal()])
    (p, q) = W[0]
    both = np.vstack([W, [[-q, p], [p - q, p + q]]])
    yield "parallel lines, crossed by others", case(both, [*b, 1.0, 7.0])
    pencil = np.array([[1.0, 0], [0, 1], [1, 1], [1, -2]])
    whole = rng.integers(1, 4, 2) * rng.choice([-1.0, 1.0], 2)
    yield "all lines through one point", case(pencil, -pencil @ whole)
    point = signs(rng, 2)  # no whole numbers: crossings agree up to rounding only
    angle = np.array([0.3, 1.0, 1.8, 2.4, 2.8])
    turned = np.column_stack([np.cos(angle), np.sin(angle)]) * signs(rng, 5, 1)
    yield "all lines through one point", case(turned, -turned @ point)
    extra = np.array([[2.0, 0.0], [-1.0, 3.0]])  # the first is parallel to one of them
    other = point + [3.3, 2.1]  # all crossings far from each other
    two = np.vstack([pencil, turned]), np.append(-pencil @ other, -turned @ point)
    yield "some lines through one point", case(*two)
    some = np.vstack([pencil, extra]), np.append(-pencil @ point, -extra @ point + [3, 5])  # fmt: skip
    yield "some lines through one point", case(*some)
    tiny = np.array([[1.0, 0], [0, 1], [1, 1]])
    yield "a tiny triangle", case(tiny, -tiny @ point + [0, 0, 1e-3])
    yield "a tiny triangle", case(tiny, -tiny @ point + [0, 0, 5e-5])
    c = float(rng.integers(1, 5))
    yield "the same line twice", case([[1, 2], [-2, -4], [3, 1], [1, 2]], [c + 1, -2 * c - 2, 1, c + 2])  # fmt: skip
    yield "a unit without weights has no fold", case([[1, 1], [0, 0], [2, -1]], [c, 1, -1])  # fmt: skip
    yield "a unit without weights has no fold", case([[0, 0]], [0])
    yield "one unit", case(signs(rng, 1, 2), signs(rng, 1, low=6, high=9))
    yield "upright and level lines", case([[2, 0], [0, -3], [1, 0]], [c, 1, -1])


count_regions.mistakes(
    {
        "a crossing counts once for each pair": (
            "if all(np.abs(x - p).max() > 1e-6 for p in points):",
            "if True:",
            "Three lines through one point: how many pieces does the third one have?",
        ),
        "nearly parallel lines never meet": (
            "v[0]) > 1e-9",
            "v[0]) > 1e-3",
            "Two lines at an angle of 0.0001 meet. How far away?",
        ),
        "crossings compared to the last digit": (
            "np.abs(x - p).max() > 1e-6",
            "np.abs(x - p).max() > 0",
            "Two ways to compute one point differ in the last digit. Is that another point?",
        ),
        "near crossings are taken for one": (
            "> 1e-6",
            "> 0.01",
            "Three lines may leave a tiny triangle. How near is the same point?",
        ),
        "the same height is the same point": (
            "np.abs(x - p).max()",
            "np.abs(x - p).min()",
            "Two points that share one coordinate are two points.",
        ),
        "a line drawn twice cuts twice": (
            "copy = True",
            "pass",
            "Does a line that is already there cut anything?",
        ),
        "parallel lines are taken for one": (
            "elif np.allclose(w * e, v * c):",
            "else:",
            "Parallel lines need not be the same line. What else must agree?",
        ),
        "a unit without weights cuts": (
            "not w.any()",
            "False",
            "Where is w · x + b = 0 if w = 0 and b is not 0?",
        ),
        "adds the crossings, not the pieces": (
            "regions += 1 + len(points)",
            "regions += len(points)",
            "A line that crosses nothing still adds one region. How many pieces do j points make of a line?",
        ),
        "begins with nothing": (
            "regions, lines = 1, []",
            "regions, lines = 0, []",
            "How many regions has the plane before the first line is drawn?",
        ),
    }
)


@count_regions.wrong(
    "the formula for general position, always",
    advice="The formula assumes that each two lines meet, and no three in one point. Do these?",
)
def _(W, b):
    d = len(W)
    return (d * d + d + 2) // 2


@count_regions.wrong(
    "2 to the power of d",
    advice="Not every on/off pattern occurs. With three lines in the plane, which one of the 8 is missing?",
)
def _(W, b):
    return 2 ** len(W)


@count_regions.wrong(
    "counts the patterns on random points of a box",
    advice="Some regions are thin, tiny or far away. Does a sample see them all?",
)
def _(W, b):
    points = np.random.default_rng(0).uniform(-1, 1, (5000, 2))
    return len(np.unique(points @ W.T + b > 0, axis=0))


@count_regions.wrong(
    "upright lines are left out",
    advice="A line with W[k] = [1, 0] has no slope. Does your way of writing lines allow it?",
)
def _(W, b):
    regions, lines = 1, []
    for (p, q), c in zip(W, b):
        line = (-p / q, -c / q) if q else None
        if line is None or any(np.allclose(line, other) for other in lines):
            continue
        at = {round((m[1] - line[1]) / (line[0] - m[0]), 6) for m in lines if abs(m[0] - line[0]) > 1e-9}  # fmt: skip
        regions += 1 + len(at)
        lines.append(line)
    return regions


ROUNDING = "What differs by rounding only is the same."
count_regions.equivalent(
    {
        "if abs(w[0] * v[1] - w[1] * v[0]) > 1e-09: → if abs(w[0] * v[1] - w[1] * v[0]) >= 1e-09:": ROUNDING,
        "if abs(w[0] * v[1] - w[1] * v[0]) > 1e-09: → if abs(w[0] * v[1] - w[1] * v[0]) > 2e-09:": ROUNDING,
        "if all((np.abs(x - p).max() > 1e-06 for p in points)): → if all((np.abs(x - p).max() >= 1e-06 for p in points)):": ROUNDING,
        "if all((np.abs(x - p).max() > 1e-06 for p in points)): → if all((np.abs(x - p).max() > 2e-06 for p in points)):": ROUNDING,
        # mirrored at the origin, different points stay different
        "x = np.linalg.solve([w, v], [-c, -e]) → x = -np.linalg.solve([w, v], [-c, -e])": "A new line meets those before it in $j$ *different* points.",
    }
)

count_regions.worked(
    why=r"""Each line is asked once, against those before it: $j$ different crossings cut it into $j + 1$ pieces, and each
    piece splits the region that it runs through. What does not cut is told apart first: no line at all, and a line that is
    there already. Crossings are compared with a tolerance, because two ways to compute one point differ by rounding."""
)


@count_regions.right("Euler's formula for the plane")
def _(W, b):
    lines = []
    for w, c in zip(W, b):
        if w.any():
            row = np.array([*w, c]) / np.linalg.norm(w)
            row = row * np.sign(row[np.flatnonzero(np.abs(row[:2]) > 1e-9)[0]])
            if not any(np.allclose(row, other) for other in lines):
                lines.append(row)
    points = []
    for i, a in enumerate(lines):
        for e in lines[:i]:
            if abs(a[0] * e[1] - a[1] * e[0]) > 1e-9:
                x = np.linalg.solve([a[:2], e[:2]], [-a[2], -e[2]])
                if not any(np.allclose(x, other, atol=1e-6) for other in points):
                    points.append(x)
    through = [sum(abs(a[:2] @ x + a[2]) < 1e-6 for a in lines) for x in points]
    return float(1 + len(lines) + sum(k - 1 for k in through))


# ---------------------------------------------------------------- error signal

error_signal = Exercise(
    "error_signal",
    reference=reference.error_signal,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("s", "y"),
    hints=[
        "Write log p(y | s) for each kind and differentiate by s. Terms without s vanish.",
        "Gaussian: the inner derivative brings a factor 2, which cancels the one below. Bernoulli: what is the derivative of log(1 + e^s)?",
        "Target minus prediction, both times: divide y - s by the variance; for labels the prediction is the sigmoid of s, and scipy.special.expit does not overflow.",
    ],
)


@error_signal.cases
def _(rng):
    def case(kind, n=5, variance=1.0, **other):
        y = rng.normal(size=n) if kind == "gaussian" else np.arange(n) % 2.0
        return dict(y=y, s=signs(rng, n), kind=kind, variance=variance) | other

    wide, narrow = float(rng.uniform(2, 5)), float(rng.uniform(0.1, 0.5))
    yield "gaussian, variance 1", case("gaussian")
    yield "gaussian, other variances", case("gaussian", variance=wide)
    yield "gaussian, other variances", case("gaussian", variance=narrow)
    yield "a single row", case("gaussian", n=1)
    yield "bernoulli", case("bernoulli")
    yield "bernoulli", case("bernoulli", n=2)
    yield "bernoulli ignores the variance", case("bernoulli", variance=4.0)
    huge = dict(y=np.array([0.0, 1, 0, 1]), s=np.array([900.0, -900, -800, 800]))
    yield "bernoulli, huge scores", case("bernoulli", **huge)


error_signal.mistakes(
    {
        "the sign of the loss": (
            "(y - s) / variance",
            "(s - y) / variance",
            "J is a log-likelihood, which we climb. If y is above s, which way should s go?",
        ),
        "the sign of the loss, for labels": (
            "return y - p",
            "return p - y",
            "J is a log-likelihood, which we climb. At y = 1, which way should s go?",
        ),
        "the variance is forgotten": (
            "(y - s) / variance",
            "y - s",
            "A noisy target should pull less. Where does the variance stand in log p?",
        ),
        "divides by the standard deviation": (
            "/ variance",
            "/ variance**0.5",
            "Is it the variance or its root that stands in the exponent?",
        ),
        "multiplies by the variance": (
            "/ variance",
            "* variance",
            "Should a noisy target pull more, or less?",
        ),
        "the score for the probability": (
            "(1 + np.tanh(s / 2)) / 2",
            "s",
            "For 0/1 targets the prediction is p. What turns the score into it?",
        ),
        "the slope of the sigmoid stays": (
            "return y - p",
            "return (y - p) * p * (1 - p)",
            "d log p / dp has p(1 - p) in its denominator. What happens to the slope of the sigmoid?",
        ),
        "divided by the number of rows": (
            "(y - s) / variance",
            "(y - s) / variance / len(y)",
            "J belongs to one row. Has a mean over the rows been asked for?",
        ),
        "twice the error": (
            "(y - s) / variance",
            "2 * (y - s) / variance",
            "The square has derivative 2(y - s). What stands below it in J?",
        ),
        "labels divided by the variance": (
            "return y - p",
            "return (y - p) / variance",
            "Has a 0/1 label a variance of its own to be told?",
        ),
        "overflows for huge scores": (
            "(1 + np.tanh(s / 2)) / 2",
            "np.exp(s) / (1 + np.exp(s))",
            "What is exp(900) in floating point, and that divided by itself?",
        ),
    }
)

error_signal.worked(
    why=r"""For the normal target the 2 of the square cancels that of $2v$. For the label the derivative of
    $\log(1 + e^s)$ is $e^s / (1 + e^s) = \sigma(s) = p$. So both send back target minus prediction; only the noise of a normal
    target makes it smaller. The hyperbolic
    tangent is the sigmoid stretched, $\tanh(s/2) = 2\sigma(s) - 1$; so $\sigma(s) = (1 + \tanh(s/2))/2$, which never overflows."""
)


@error_signal.right("with torch's autograd")
def _(y, s, kind, variance=1.0):
    y, s = torch.from_numpy(y), torch.tensor(s, requires_grad=True)
    if kind == "gaussian":
        J = -((y - s) ** 2).sum() / (2 * variance)
    else:
        J = -torch.nn.functional.binary_cross_entropy_with_logits(s, y, reduction="sum")
    return torch.autograd.grad(J, s)[0]


@error_signal.right("by its sigmoid", library="scipy.special.expit")
def _(y, s, kind, variance=1.0):
    from scipy.special import expit

    return y - expit(s) if kind == "bernoulli" else (y - s) / variance


@error_signal.right("by the exponential that is small")
def _(y, s, kind, variance=1.0):
    if kind == "gaussian":
        return (y - s) / variance
    small = np.exp(-np.abs(s))
    return y - np.where(s > 0, 1, small) / (1 + small)


# ---------------------------------------------------------------- what moves at all

which_move = Exercise(
    "which_move",
    reference=reference.moves,
    compare=exact(),
    batched=("W1", "X", "b1", "w2", "y"),
    shuffled=True,
    hints=[
        "You need four gradients. The text above has three of them as formulas, and b1 is a weight whose input is always 1. Or let torch find them.",
        "With e = (s - y) / n, one a row: the slope by W1 and b1 has the factors e, w2 and (z > 0); that by w2 has e and h; that by b2 is the sum of e.",
        "e[:, None] * w2 * (z > 0) has shape (n, d): its product with X is the slope by W1, its column sums that by b1. Compare the largest size of each of the four with 1e-5.",
    ],
)


@which_move.cases
def _(rng):
    def case(n=5, d=3, m=2, **other):
        """All units on, and all targets above the scores: no slope is near zero."""
        W1, w2 = signs(rng, d, m, low=0.2, high=0.7), signs(rng, d)
        X, y = rng.uniform(0.2, 1, (n, m)), rng.uniform(30, 40, n)
        b1 = rng.uniform(1.5, 2, d)
        return network(rng, d, m, W1=W1, b1=b1, w2=w2, X=X, y=y, **other)

    nothing = dict(W1=np.zeros((3, 2)), b1=np.zeros(3), w2=np.zeros(3), b2=0.0)

    def fitted(by):
        """A network that misses every target by so much."""
        net = case(n=4)
        h = np.maximum(0, net["X"] @ net["W1"].T + net["b1"])
        return net | dict(y=h @ net["w2"] + net["b2"] + by)

    yield "a random network moves", case()
    yield "all zero", case() | nothing
    # the first unit is on in every row, so that its opposite is always off
    first = rng.uniform(0.5, 2, (3, 2)) * [[1, 1], [1, -1], [1, -1]]
    awake = dict(W1=np.vstack([first, -first])[:4], b1=np.zeros(4), w2=np.zeros(4))
    yield "all zero but W1", case(d=4) | nothing | awake
    yield "all zero but w2", case() | nothing | dict(w2=rng.uniform(0.5, 2, 3))
    yield "units that are on, W1 = 0", case() | dict(W1=np.zeros((3, 2)))
    yield "units that are off on all rows", case() | dict(b1=np.full(3, -50.0))
    off = np.array([2.0, -50.0, 2.0])
    yield "one unit is off, the others move", case() | dict(b1=off)
    yield "inputs that are all 0", case() | dict(X=np.zeros((5, 2)))
    # each row has its own opposite: errors of +1 and -1
    odd = dict(X=np.array([[1.0, 0.0], [-1.0, 0.0]]), y=np.array([1.0, -1.0]))
    yield "errors that cancel in their sum", case(n=2) | nothing | odd | dict(W1=first)
    yield "a perfect fit", fitted(0.0)
    for miss in (0.01, -0.01, 1e-8):
        yield "small errors move, tiny ones do not", fitted(miss)
    limit = nothing | dict(y=np.full(4, 1e-5))  # the slope by b2, exactly
    yield "small errors move, tiny ones do not", case(n=4) | limit
    for slope in (0.8e-5, 1.3e-5):  # by b2, and then by b1 of every unit
        tiny = nothing | dict(y=np.full(4, slope))
        yield "small errors move, tiny ones do not", case(n=4) | tiny
        first = nothing | dict(b1=np.ones(3), w2=np.full(3, 5 * slope))
        flat = first | dict(X=np.zeros((4, 2)), y=np.full(4, 0.2 + 15 * slope))
        yield "small errors move, tiny ones do not", case(n=4) | flat
    mean = case() | nothing
    yield "all zero but b2, at the mean of y", mean | dict(b2=float(mean["y"].mean()))
    # two twins with opposite output weights: the slopes by b1 and W1 cancel in their sum
    w, b = np.tile(signs(rng, 1, 2), (2, 1)), np.full(2, 5.0)
    twins = dict(W1=w, b1=b, w2=np.array([1.0, -1.0]), b2=0.0)
    yield "slopes that cancel in their sum", case(d=2) | twins


which_move.mistakes(
    {
        "a unit at its kink counts as on": (
            "(z > 0)",
            "(z >= 0)",
            "Which slope has ReLU at 0 here? Do you compare z with > or with >=?",
        ),
        "units are never off": (
            " * (z > 0)",
            "",
            "What comes back through a unit that is off on a row?",
        ),
        "the way back leaves out the output weights": (
            "e[:, None] * w2 * (z > 0)",
            "e[:, None] * (z > 0)",
            "The error reaches unit k through its output weight. What if that is 0?",
        ),
        "the error is left out": (
            "e = (h @ w2 + b2 - y) / len(y)",
            "e = np.ones(len(y)) / len(y)",
            "What should move if the fit is perfect?",
        ),
        "only slopes above zero count": (
            "np.abs(slope)",
            "slope",
            "A slope of -3 moves a parameter, too. Which way?",
        ),
        "the sum of the entries": (
            "np.max(np.abs(slope))",
            "np.abs(np.sum(slope))",
            "A slope of 3 and one of -3: does the array stay?",
        ),
        "all entries must move": (
            "np.max(np.abs(slope))",
            "np.min(np.abs(slope))",
            "One unit may be off while the others learn. Does the array stay then?",
        ),
        "W1 and b1 go together": (
            "slopes = back.T @ X, back.sum(0)",
            "slopes = back.sum(0), back.sum(0)",
            "A slope by W1 has a factor more than that by b1. Which one?",
        ),
        "w2 learns from the pre-activations": (
            "e @ h, e.sum()",
            "e @ z, e.sum()",
            "Which values does the output layer weigh: z or h?",
        ),
        "the norm of an array": (
            "np.max(np.abs(slope))",
            "np.linalg.norm(slope)",
            "Three small entries have a larger norm. What may not exceed 1e-5?",
        ),
        "exactly 1e-5 moves": (
            "> 1e-5",
            ">= 1e-5",
            "Does a slope of exactly 1e-5 exceed 1e-5?",
        ),
        "small slopes do not count": (
            "> 1e-5",
            "> 0.1",
            "A small slope moves a parameter a little. How small is staying?",
        ),
        "always only b2": (
            "[bool(np.max(np.abs(slope)) > 1e-5) for slope in slopes]",
            "[False, False, False, True]",
            "That is so from zero. What if h or w2 is not 0?",
        ),
        "what is not zero moves": (
            "[bool(np.max(np.abs(slope)) > 1e-5) for slope in slopes]",
            "[bool(np.any(w)) for w in (W1, b1, w2, b2)]",
            "w2 = 0 can have a slope: which factors has its gradient?",
        ),
    }
)

SIZES = "An array stays if no entry of its gradient exceeds 1e-5 in size."
which_move.equivalent(
    {
        "e = (h @ w2 + b2 - y) / len(y) → e = -((h @ w2 + b2 - y) / len(y))": SIZES,
        "back = e[:, None] * w2 * (z > 0) → back = -(e[:, None] * w2 * (z > 0))": SIZES,
    }
)

which_move.worked(
    why=r"""Each slope is a product of what came in and what comes back. $w^{(2)}$ needs a hidden value that is not 0 on some
    row; $W^{(1)}$ and $b^{(1)}$ need an output weight that is not 0 and a unit that is on; $W^{(1)}$ needs an input as well. Only
    $b^{(2)}$ has no partner, and that is why it alone leaves zero."""
)


@which_move.right("torch finds the gradients", library="torch.autograd")
def _(X, y, W1, b1, w2, b2):
    weights = [torch.tensor(w, dtype=torch.float64, requires_grad=True) for w in (W1, b1, w2, b2)]  # fmt: skip
    W1, b1, w2, b2 = weights
    s = torch.relu(torch.from_numpy(X) @ W1.T + b1) @ w2 + b2
    ((s - torch.from_numpy(y)) ** 2 / 2).mean().backward()
    return np.array([w.grad.abs().max().item() > 1e-5 for w in weights])


@which_move.right("row by row")
def _(X, y, W1, b1, w2, b2):
    slopes = [0 * W1, 0 * b1, 0 * w2, 0.0]
    for x, t in zip(X, y):
        z = W1 @ x + b1
        h = np.maximum(z, 0)
        e = (h @ w2 + b2 - t) / len(y)
        back = e * w2 * (z > 0)
        for k, part in enumerate((np.outer(back, x), back, e * h, e)):
            slopes[k] = slopes[k] + part
    return tuple(np.abs(g).max() > 1e-5 for g in slopes)

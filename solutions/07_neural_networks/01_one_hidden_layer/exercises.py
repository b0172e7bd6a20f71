"""Exercises of 07_neural_networks/01_one_hidden_layer."""

import numpy as np
import torch

from descent.compare import close, exact, unordered, within
from solutions.spec import Exercise

from . import reference

# ---------------------------------------------------------------- the forward pass

mlp1_forward = Exercise(
    "mlp1_forward",
    reference=reference.forward,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("W1", "X", "b1", "w2"),
    hints=[
        "Two layers, two lines: first the hidden values h, one row for each row of X and one column for each unit. What shape must h have?",
        "The pre-activations of all rows and units are X @ W1.T + b1, shape (n, d). Clip them at 0, entry by entry.",
        "The score weighs the columns of h with w2 and adds b2 once a row: h @ w2 + b2. Nothing is clipped any more.",
    ],
)


def _net(rng, d, m):
    return dict(
        W1=rng.normal(size=(d, m)),
        b1=rng.normal(size=d),
        w2=rng.normal(size=d),
        b2=float(rng.uniform(0.5, 2)),
    )


@mlp1_forward.cases
def _(rng):
    yield "two inputs, three units", dict(X=rng.normal(size=(6, 2)), **_net(rng, 3, 2))
    large = 10 * rng.choice([-1.0, 1.0], (7, 1)) * rng.uniform(1, 2, (7, 1))
    large[:2] = [[15.0], [-15.0]]  # some unit is far on
    yield "one input, five units, large values", dict(X=large, **_net(rng, 5, 1))
    yield "as many units as inputs", dict(X=rng.normal(size=(4, 3)), **_net(rng, 3, 3))
    negative = _net(rng, 2, 2)
    negative |= dict(w2=-np.abs(negative["w2"]) - 0.5, b2=-1.5)
    yield "negative scores stay negative", dict(X=rng.normal(size=(6, 2)), **negative)
    off = _net(rng, 3, 2)
    off["b1"] = np.full(3, -50.0)
    yield "all units off leave the output bias", dict(X=rng.normal(size=(3, 2)), **off)
    yield "a single row", dict(X=rng.normal(size=(1, 4)), **_net(rng, 2, 4))


@mlp1_forward.wrong(
    "no activation",
    advice="What does a hidden unit give where its pre-activation is negative?",
)
def _(X, W1, b1, w2, b2):
    return (X @ W1.T + b1) @ w2 + b2


@mlp1_forward.wrong(
    "the score is clipped too",
    advice="Only hidden units are clipped at 0. May a score be negative?",
)
def _(X, W1, b1, w2, b2):
    return np.maximum(0, np.maximum(0, X @ W1.T + b1) @ w2 + b2)


@mlp1_forward.wrong(
    "the hidden bias comes after the activation",
    advice="The bias b1 decides where a unit switches on. Must it be added before or after the clipping?",
)
def _(X, W1, b1, w2, b2):
    return (np.maximum(0, X @ W1.T) + b1) @ w2 + b2


@mlp1_forward.wrong(
    "the weights are transposed",
    advice="Row k of W1 holds the weights of unit k. Which axis of W1 must meet the columns of X?",
)
def _(X, W1, b1, w2, b2):
    if W1.shape[0] != W1.shape[1]:
        raise ValueError("matmul: shapes do not fit")
    return np.maximum(0, X @ W1 + b1) @ w2 + b2


@mlp1_forward.wrong(
    "no output bias", advice="What is the score where every hidden unit is off?"
)
def _(X, W1, b1, w2, b2):
    return np.maximum(0, X @ W1.T + b1) @ w2


@mlp1_forward.wrong(
    "a column for a vector",
    advice="One number a row: which shape has your result, and which was asked?",
)
def _(X, W1, b1, w2, b2):
    return np.maximum(0, X @ W1.T + b1) @ w2[:, None] + b2


@mlp1_forward.wrong(
    "a bare number for one row",
    advice="A single row in: is the result an array of length 1?",
)
def _(X, W1, b1, w2, b2):
    return np.squeeze(np.maximum(0, X @ W1.T + b1) @ w2 + b2)


@mlp1_forward.wrong(
    "the probability for the score",
    advice="A score may have any size. Has a link been asked for here?",
)
def _(X, W1, b1, w2, b2):
    return 1 / (1 + np.exp(-np.clip(np.maximum(0, X @ W1.T + b1) @ w2 + b2, -700, 700)))


@mlp1_forward.wrong(
    "units that stop growing", advice="max(0, z) has a floor. Has it a ceiling too?"
)
def _(X, W1, b1, w2, b2):
    return np.clip(X @ W1.T + b1, 0, 6) @ w2 + b2


@mlp1_forward.wrong("a leaky unit", advice="What is max(0, z) at z = -1, exactly?")
def _(X, W1, b1, w2, b2):
    z = X @ W1.T + b1
    return np.where(z > 0, z, 0.01 * z) @ w2 + b2


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


@mlp1_forward.right("with torch")
def _(X, W1, b1, w2, b2):
    X, W1, b1, w2 = map(torch.from_numpy, (X, W1, b1, w2))
    return torch.relu(torch.addmm(b1, X, W1.T)) @ w2 + b2


# ---------------------------------------------------------------- without activation

collapse = Exercise(
    "collapse",
    reference=reference.collapsed,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("W1", "b1", "w2"),
    hints=[
        "Write the score of one row x as w2 · (W1 x + b1) + b2 and multiply out. Which part depends on x?",
        "w2 · (W1 x) = (W1ᵀ w2) · x: that is the vector. What is left is the bias: two terms.",
        "Return W1.T @ w2 and w2 @ b1 + b2.",
    ],
)


@collapse.cases
def _(rng):
    yield "three units, two inputs", _net(rng, 3, 2)
    yield "as many units as inputs", _net(rng, 3, 3)
    yield "one unit", _net(rng, 1, 4)
    yield "more inputs than units", _net(rng, 2, 5)
    twins = _net(rng, 2, 3)
    yield "two units that cancel", twins | dict(W1=np.tile(twins["W1"][:1], (2, 1)), w2=twins["w2"][0] * np.array([1.0, -1.0]))  # fmt: skip


@collapse.wrong(
    "the hidden biases are lost",
    advice="Set x = 0: the hidden units are then b1, not 0. What is the score there?",
)
def _(W1, b1, w2, b2):
    return W1.T @ w2, b2


@collapse.wrong(
    "the output bias is lost", advice="Set x = 0 and b1 = 0. What is the score there?"
)
def _(W1, b1, w2, b2):
    return W1.T @ w2, w2 @ b1


@collapse.wrong(
    "the hidden biases are not weighed",
    advice="Each hidden bias travels through its unit's output weight. Does yours?",
)
def _(W1, b1, w2, b2):
    return W1.T @ w2, b1.sum() + b2


@collapse.wrong(
    "the weights are transposed",
    advice="The result has one weight an input. Which axis of W1 runs over the inputs?",
)
def _(W1, b1, w2, b2):
    if W1.shape[0] != W1.shape[1]:
        raise ValueError("matmul: shapes do not fit")
    return W1 @ w2, w2 @ b1 + b2


@collapse.wrong(
    "the units are added without their weights",
    advice="How much does unit k count in the score?",
)
def _(W1, b1, w2, b2):
    return W1.sum(0), b1.sum() + b2


@collapse.right("by looking at the score of 0 and of the unit vectors")
def _(W1, b1, w2, b2):
    m = W1.shape[1]
    X = np.vstack([np.zeros(m), np.eye(m)])
    s = (X @ W1.T + b1) @ w2 + b2
    return s[1:] - s[0], s[0]


@collapse.right("loops and lists")
def _(W1, b1, w2, b2):
    d, m = W1.shape
    return [sum(w2[k] * W1[k, j] for k in range(d)) for j in range(m)], b2 + sum(
        v * c for v, c in zip(w2, b1)
    )


# ---------------------------------------------------------------- kinks

kinks = Exercise(
    "kinks",
    reference=reference.kink_rows,
    compare=unordered(rtol=1e-6, atol=1e-9),
    data_dependent="units with weight 0 have no kink",
    hints=[
        "Where does max(0, z) bend? And what is the slope of w2 · max(0, w1 x + b1) left and right of that place, for w1 > 0 and for w1 < 0?",
        "The place solves w1 x + b1 = 0. The slope is 0 on one side and w2 w1 on the other. Right minus left: be careful with the sign when w1 is negative.",
        "Keep the units with w1 != 0, then np.column_stack([-b1 / w1, w2 * abs(w1)]) of what you kept.",
    ],
)


@kinks.cases
def _(rng):
    def units(d):
        size = rng.uniform(0.5, 2, d)
        return dict(
            w1=size * rng.choice([-1.0, 1.0], d), b1=rng.normal(size=d) + 0.1, w2=rng.choice([-1.0, 1.0], d) * rng.uniform(0.5, 2, d)
        )  # fmt: skip

    right = units(4)
    yield "units that open to the right", right | dict(w1=np.abs(right["w1"]) + 0.1)
    left = units(3)
    yield "units that open to the left", left | dict(w1=-np.abs(left["w1"]) - 0.1)
    yield (
        "both kinds",
        units(5)
        | dict(w1=np.array([1.5, -0.7, 0.8, -2.0, 0.6]) * rng.uniform(0.8, 1.2)),
    )
    dead = units(4)
    dead["w1"][[0, 2]] = 0.0
    yield "a unit with w1 = 0 has no kink", dead
    yield (
        "no kink at all",
        dict(w1=np.zeros(2), b1=rng.normal(size=2), w2=rng.normal(size=2)),
    )
    yield (
        "gentle and unused units and a kink at 0 count too",
        dict(
            w1=np.array([0.004, 1.0, -1.5]),
            b1=np.array([0.002, 0.0, rng.uniform(1, 2)]),
            w2=np.array([rng.uniform(1, 2), rng.uniform(1, 2), 0.0]),
        ),
    )
    place = rng.normal() + 3
    w1 = np.array([1.0, -2.0, 0.5])
    yield (
        "three units at one place are three rows",
        dict(w1=w1, b1=-place * w1, w2=rng.uniform(0.5, 2, 3)),
    )


def _kinks(w1, b1, w2):
    keep = w1 != 0
    return w1[keep], b1[keep], w2[keep]


@kinks.wrong(
    "the sign of the place", advice="Put your place into w1 x + b1. Does it give 0?"
)
def _(w1, b1, w2):
    w1, b1, w2 = _kinks(w1, b1, w2)
    return np.column_stack([b1 / w1, w2 * np.abs(w1)])


@kinks.wrong(
    "a unit that opens to the left bends the other way",
    advice="Draw max(0, -x). Is its slope larger on the left or on the right of 0? By how much does it change?",
)
def _(w1, b1, w2):
    w1, b1, w2 = _kinks(w1, b1, w2)
    return np.column_stack([-b1 / w1, w2 * w1])


@kinks.wrong(
    "the slope of the unit is forgotten",
    advice="A unit with w1 = 2 climbs twice as steeply as one with w1 = 1. Where does that enter the change of slope?",
)
def _(w1, b1, w2):
    w1, b1, w2 = _kinks(w1, b1, w2)
    return np.column_stack([-b1 / w1, w2])


@kinks.wrong(
    "the place is the bias",
    advice="That was so when every unit had slope 1. Solve w1 x + b1 = 0 for x.",
)
def _(w1, b1, w2):
    w1, b1, w2 = _kinks(w1, b1, w2)
    return np.column_stack([-b1, w2 * np.abs(w1)])


@kinks.wrong(
    "divides by zero",
    advice="What does a unit with w1 = 0 do as x moves? Has it a kink?",
)
def _(w1, b1, w2):
    with np.errstate(divide="ignore"):
        return np.column_stack([-b1 / w1, w2 * np.abs(w1)])


@kinks.wrong(
    "only the size of the change",
    advice="A kink can bend up or down. Does your result tell which?",
)
def _(w1, b1, w2):
    w1, b1, w2 = _kinks(w1, b1, w2)
    return np.column_stack([-b1 / w1, np.abs(w2 * w1)])


@kinks.wrong(
    "units that the output does not use are dropped",
    advice="Which units have a row? Read the condition in the docstring again.",
)
def _(w1, b1, w2):
    keep = (w1 != 0) & (w2 != 0)
    return np.column_stack([-b1[keep] / w1[keep], w2[keep] * np.abs(w1[keep])])


@kinks.wrong("a kink at 0 is dropped", advice="b1 = 0 and w1 = 1: where is the kink?")
def _(w1, b1, w2):
    keep = (w1 != 0) & (b1 != 0)
    return np.column_stack([-b1[keep] / w1[keep], w2[keep] * np.abs(w1[keep])])


@kinks.wrong(
    "gentle units are dropped",
    advice="A unit with w1 = 0.001 bends a little. Does it bend?",
)
def _(w1, b1, w2):
    keep = np.abs(w1) > 0.01
    return np.column_stack([-b1[keep] / w1[keep], w2[keep] * np.abs(w1[keep])])


@kinks.wrong(
    "kinks at one place are added up",
    advice="Three units bend at the same place: how many rows does the docstring ask for?",
)
def _(w1, b1, w2):
    w1, b1, w2 = _kinks(w1, b1, w2)
    place, change = -b1 / w1, w2 * np.abs(w1)
    rows = [(q, change[np.isclose(place, q)].sum()) for q in np.unique(place.round(9))]
    return np.array(rows).reshape(-1, 2)


@kinks.right("one unit after another, sorted")
def _(w1, b1, w2):
    rows = []
    for w, b, v in zip(w1, b1, w2):
        if w > 0:
            rows.append((-b / w, v * w))
        elif w < 0:
            rows.append((-b / w, -v * w))
    return np.array(sorted(rows)).reshape(-1, 2)


@kinks.right("by measuring the slopes")
def _(w1, b1, w2):
    rows = np.zeros((0, 2))
    for w, b, v in zip(w1, b1, w2):
        if w != 0:
            x = -b / w + np.array([-1.0, 0.0, 1.0])
            s = v * np.maximum(0, w * x + b)
            rows = np.vstack([rows, [-b / w, s[2] - 2 * s[1] + s[0]]])
    return rows


# ---------------------------------------------------------------- regions

count_regions = Exercise(
    "count_regions",
    reference=reference.region_count,
    compare=within(0.0),
    limit=4.0,
    batched=("W", "b"),
    hints=[
        "Draw the lines one after another and keep count. When the new line crosses the earlier ones in q different points, into how many pieces do they cut it? What does each piece do to the region it runs through?",
        "So start with 1 and add 1 + q for every new line. A row of zeros is no line, and a line you have already drawn adds nothing. Parallel lines have no crossing; three lines through one point share a crossing.",
        "Two lines cross where the 2x2 system with rows W[i], W[j] has the solution -(b[i], b[j]); they are parallel where its determinant is 0, and the same line where also W[i][r] b[j] = W[j][r] b[i] for r = 0, 1. "
        "Put the crossings, rounded to 6 digits, into a set and take its length.",
    ],
)


@count_regions.cases
def _(rng):
    yield (
        "four lines in general position",
        dict(W=rng.normal(size=(4, 2)), b=rng.normal(size=4)),
    )
    yield (
        "six lines in general position",
        dict(W=rng.normal(size=(6, 2)), b=rng.normal(size=6)),
    )
    W = rng.integers(1, 4, (1, 2)) * rng.choice([-1.0, 1.0], (1, 2))
    factor, b = np.array([1.0, -2.0, 3.0]), np.array([0.0, 2.0, 6.0])
    yield "parallel lines never meet", dict(W=factor[:, None] * W, b=b)
    across = np.array([[-W[0, 1], W[0, 0]], [W[0, 0] - W[0, 1], W[0, 0] + W[0, 1]]])
    yield "parallel lines, crossed by others", dict(W=np.vstack([factor[:, None] * W, across]), b=np.append(b, [1.0, 7.0]))  # fmt: skip
    point = rng.integers(1, 4, 2) * rng.choice([-1.0, 1.0], 2)
    pencil = np.array([[1.0, 0], [0, 1], [1, 1], [1, -2]])
    yield "all lines through one point", dict(W=pencil, b=-pencil @ point)
    extra = np.array([[2.0, 0.0], [-1.0, 3.0]])  # the first is parallel to one of them
    yield "some lines through one point", dict(W=np.vstack([pencil, extra]), b=np.append(-pencil @ point, -extra @ point + [3, 5]))  # fmt: skip
    copies = np.array([[1.0, 2], [-2, -4], [3, 1], [1, 2]])
    c = float(rng.integers(1, 5))
    yield "the same line twice", dict(W=copies, b=np.array([c, -2 * c, 1.0, c + 1]))
    yield "a unit without weights has no fold", dict(W=np.array([[1.0, 1], [0, 0], [2, -1]]), b=np.array([c, 1.0, -1.0]))  # fmt: skip
    yield "one unit", dict(W=rng.normal(size=(1, 2)), b=rng.normal(size=1))


def _arrangement(W, b, *, same=True, zero=True, distinct=True, first=1, piece=1):
    regions, lines = first, []
    for w, c in zip(W, b):
        if zero and not w.any():
            continue
        copy, points = False, []
        for v, e in lines:
            det = w[0] * v[1] - w[1] * v[0]
            if abs(det) > 1e-9:
                x = (-c * v[1] + e * w[1]) / det, (-w[0] * e + v[0] * c) / det
                points.append((round(x[0], 6) + 0.0, round(x[1], 6) + 0.0))
            elif np.abs(w * e - v * c).max() < 1e-9:
                copy = True
        if same and copy:
            continue
        regions += piece + len(set(points) if distinct else points)
        lines.append((w, c))
    return regions


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
    "a crossing counts once for each pair",
    advice="Three lines through one point: how many pieces does the third one have?",
)
def _(W, b):
    return _arrangement(W, b, distinct=False)


@count_regions.wrong(
    "a line drawn twice cuts twice",
    advice="Does a line that is already there cut anything?",
)
def _(W, b):
    return _arrangement(W, b, same=False)


@count_regions.wrong(
    "a unit without weights cuts",
    advice="Where is w · x + b = 0 if w = 0 and b is not 0?",
)
def _(W, b):
    return _arrangement(W, b) + int(np.sum(~W.any(1)))


@count_regions.wrong(
    "adds the crossings, not the pieces",
    advice="A line that crosses nothing still adds one region. How many pieces have q points on a line?",
)
def _(W, b):
    return _arrangement(W, b, piece=0)


@count_regions.wrong(
    "begins with nothing",
    advice="How many regions has the plane before the first line is drawn?",
)
def _(W, b):
    return _arrangement(W, b, first=0)


@count_regions.wrong(
    "upright lines are left out",
    advice="A line with W[k] = [1, 0] has no slope. Does your way of writing lines allow it?",
)
def _(W, b):
    keep = W[:, 1] != 0
    return _arrangement(W[keep], b[keep])


@count_regions.wrong(
    "counts the patterns on random points of a box",
    advice="Some regions are thin, tiny or far away. Does a sample see them all?",
)
def _(W, b):
    points = np.random.default_rng(0).uniform(-1, 1, (5000, 2))
    return len(np.unique(points @ W.T + b > 0, axis=0))


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
                if not any(np.allclose(x, other) for other in points):
                    points.append(x)
    through = [sum(abs(a[:2] @ x + a[2]) < 1e-6 for a in lines) for x in points]
    return 1 + len(lines) + sum(k - 1 for k in through)


@count_regions.right("line by line")
def _(W, b):
    return float(_arrangement(W, b))


# ---------------------------------------------------------------- XOR by hand


def _xor_result(lo, hi):
    return dict(
        units=2, scores=torch.tensor([-1.0, 1.0, 1.0, -1.0], dtype=torch.float64)
    )


xor_net = Exercise(
    "xor_net",
    reference=_xor_result,
    # float32 weights lose 6e-8 of b1, which is up to 80 in the tiny square; w2 = -4 makes it 2e-5
    compare=close(rtol=0, atol=1e-4),
    hints=[
        "Along the diagonal the labels read 0, 1, 0: down, up, down. So look at t = (x1 + x2 - 2 lo) / (hi - lo). Which values has it at the four points, and which function of t alone has the scores -1, 1, -1?",
        "t is 0, 1, 1, 2. A first unit max(0, t) climbs; a second one, max(0, t - 1), switches on after the middle. Choose output weights so that the score climbs by 2, then falls by 2.",
        "Both rows of W1 are [1, 1] / (hi - lo). The first bias is -2 lo / (hi - lo), the second one 1 less. The notes' output weights and bias for 0 and 1 then do it.",
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
    yield "both corners negative", dict(lo=-lo - 2, hi=-lo)
    yield "a tiny square", dict(lo=lo, hi=lo + 0.125)


@xor_net.wrong(
    "the notes' weights whatever the corners",
    advice="These solve the corners 0 and 1. What are the pre-activations at your lo and hi?",
)
def _(lo, hi):
    return np.ones((2, 2)), np.array([0.0, -1.0]), np.array([2.0, -4.0]), -1.0


@xor_net.wrong(
    "scaled but not shifted",
    advice="At (lo, lo) the first unit should be at its kink. Is w · x + b = 0 there?",
)
def _(lo, hi):
    return (
        np.ones((2, 2)) / (hi - lo),
        np.array([0.0, -1.0]),
        np.array([2.0, -4.0]),
        -1.0,
    )


@xor_net.wrong(
    "shifted by one corner's worth",
    advice="Both units look at x1 + x2. What is that sum at (lo, lo)?",
)
def _(lo, hi):
    g = 1 / (hi - lo)
    return (
        np.full((2, 2), g),
        -lo * g - np.array([0.0, 1.0]),
        np.array([2.0, -4.0]),
        -1.0,
    )


@xor_net.wrong(
    "shifted but not scaled",
    advice="The second unit should be at its kink where one coordinate is hi. How far is that from (lo, lo)?",
)
def _(lo, hi):
    return np.ones((2, 2)), -2 * lo - np.array([0.0, 1.0]), np.array([2.0, -4.0]), -1.0


@xor_net.wrong(
    "more units than asked", advice="Two units are allowed. How many rows has your W1?"
)
def _(lo, hi):
    g = 1 / (hi - lo)
    W1 = g * np.array([[1.0, -1.0], [-1.0, 1.0], [0.0, 0.0]])
    return W1, np.zeros(3), np.array([2.0, 2.0, 0.0]), -1.0


@xor_net.wrong(
    "OR instead of XOR",
    advice="What is the score at (hi, hi)? Something has to pull it down again.",
)
def _(lo, hi):
    g = 1 / (hi - lo)
    return (
        np.full((2, 2), g),
        -2 * lo * g - np.array([0.0, 1.0]),
        np.array([2.0, -2.0]),
        -1.0,
    )


@xor_net.wrong(
    "the labels are swapped",
    advice="Equal coordinates belong to label 0, a negative score. Do yours?",
)
def _(lo, hi):
    g = 1 / (hi - lo)
    return (
        np.full((2, 2), g),
        -2 * lo * g - np.array([0.0, 1.0]),
        np.array([-2.0, 4.0]),
        1.0,
    )


@xor_net.wrong(
    "one unit a coordinate",
    advice="A unit that looks at one coordinate only cannot know whether the other one agrees. What do the four scores satisfy if each unit sees one coordinate?",
)
def _(lo, hi):
    g = 1 / (hi - lo)
    return np.eye(2) * g, np.full(2, -lo * g), np.array([2.0, 2.0]), -1.0


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
    middle = g * (lo + hi)
    return (
        np.array([[g, g], [-g, -g]]),
        np.array([-middle, middle]),
        np.array([-1.0, -1.0]),
        np.array([1.0]),
    )


# ---------------------------------------------------------------- error signal

error_signal = Exercise(
    "error_signal",
    reference=reference.error_signal,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("s", "y"),
    hints=[
        "Write log p(y | s) for each kind and differentiate by s. Terms without s vanish.",
        "Gaussian: log p = -(y - s)² / (2 · variance) + constant. Bernoulli: log p = y s - log(1 + e^s), and the derivative of the last term is the sigmoid.",
        "(y - s) / variance for the first, y - sigmoid(s) for the second; expit of SciPy does not overflow.",
    ],
)


@error_signal.cases
def _(rng):
    yield "gaussian, variance 1", dict(y=rng.normal(size=5), s=rng.normal(size=5), kind="gaussian", variance=1.0)  # fmt: skip
    yield "gaussian, other variances", dict(y=rng.normal(size=5), s=rng.normal(size=5), kind="gaussian", variance=float(rng.uniform(2, 5)))  # fmt: skip
    yield "bernoulli", dict(y=np.array([0.0, 1, 1, 0, 1]), s=rng.normal(0, 2, 5) + 0.1, kind="bernoulli", variance=1.0)  # fmt: skip
    yield "bernoulli ignores the variance", dict(y=np.array([0.0, 1, 0]), s=rng.normal(size=3), kind="bernoulli", variance=4.0)  # fmt: skip
    yield "bernoulli, huge scores", dict(y=np.array([0.0, 1, 0, 1]), s=np.array([900.0, -900, -800, 800]), kind="bernoulli", variance=1.0)  # fmt: skip


def _sigmoid(s):
    return 1 / (1 + np.exp(-np.clip(s, -700, 700)))


def _signal(y, s, kind, variance):
    return (y - s) / variance if kind == "gaussian" else y - _sigmoid(s)


@error_signal.wrong(
    "the sign of the loss",
    advice="J is a log-likelihood, which we climb. If y is above s, which way should s go?",
)
def _(y, s, kind, variance):
    return -_signal(y, s, kind, variance)


@error_signal.wrong(
    "the variance is forgotten",
    advice="A noisy target should pull less. Where does σ² stand in log p?",
)
def _(y, s, kind, variance):
    return _signal(y, s, kind, 1.0)


@error_signal.wrong(
    "the score for the probability",
    advice="For 0/1 targets the prediction is p. What turns the score into it?",
)
def _(y, s, kind, variance):
    return (y - s) / (variance if kind == "gaussian" else 1)


@error_signal.wrong(
    "divides by the standard deviation",
    advice="Which power of σ stands in the exponent of the normal density?",
)
def _(y, s, kind, variance):
    return _signal(y, s, kind, variance**0.5)


@error_signal.wrong(
    "the slope of the sigmoid stays",
    advice="d log p / dp has p(1 - p) in its denominator. What happens to the slope of the sigmoid?",
)
def _(y, s, kind, variance):
    p = _sigmoid(s)
    return _signal(y, s, kind, variance) * (1 if kind == "gaussian" else p * (1 - p))


@error_signal.wrong(
    "divided by the number of rows",
    advice="J belongs to one row. Has a mean over the rows been asked for?",
)
def _(y, s, kind, variance):
    return _signal(y, s, kind, variance) / len(y)


@error_signal.wrong(
    "twice the error",
    advice="The square has derivative 2(y - s). What stands below it in J?",
)
def _(y, s, kind, variance):
    return (y - s) * 2 / variance if kind == "gaussian" else y - _sigmoid(s)


@error_signal.wrong(
    "the score taken for the probability in log p",
    advice="s is the log-odds. Where does p = σ(s) enter before you differentiate?",
)
def _(y, s, kind, variance):
    return (y - s) / variance if kind == "gaussian" else y / s - (1 - y) / (1 - s)


@error_signal.wrong(
    "overflows for huge scores",
    advice="What is exp(900) in floating point, and that divided by itself?",
)
def _(y, s, kind, variance):
    if kind == "gaussian":
        return (y - s) / variance
    with np.errstate(over="ignore", invalid="ignore"):
        return y - np.exp(s) / (1 + np.exp(s))


@error_signal.right("with torch's autograd")
def _(y, s, kind, variance):
    y, s = torch.from_numpy(y), torch.tensor(s, requires_grad=True)
    if kind == "gaussian":
        J = -((y - s) ** 2).sum() / (2 * variance)
    else:
        J = -torch.nn.functional.binary_cross_entropy_with_logits(s, y, reduction="sum")
    return torch.autograd.grad(J, s)[0]


@error_signal.right("by tanh, in single precision")
def _(y, s, kind, variance):
    y, s = y.astype(np.float32), s.astype(np.float32)
    return (
        (y - s) / np.float32(variance)
        if kind == "gaussian"
        else y - (1 + np.tanh(s / 2)) / 2
    )


# ---------------------------------------------------------------- training


def _trained(X, y, W1, b1, w2, b2, eta, steps, kind, old_grad):
    b2 = X.new_tensor(b2)
    losses, weights = reference.trained(X, y, W1, b1, w2, b2, eta, steps, kind)
    return dict(losses=losses, weights=torch.cat([w.reshape(-1) for w in weights]))


train = Exercise(
    "train",
    reference=_trained,
    compare=close(rtol=1e-6, atol=1e-9),
    limit=6.0,
    hints=[
        "Each round: risk = mean of loss(net(X)[:, 0], y); keep its value; compute the gradient; move every parameter. How often is the risk evaluated, if steps + 1 values are asked?",
        "risk.backward() ADDS to p.grad of every p in net.parameters(): clear it first (net.zero_grad()). Move with torch.no_grad(): p -= eta * p.grad.",
        "Inside the loop: risk = loss(net(X)[:, 0], y).mean(); append risk.item(); net.zero_grad(); risk.backward(); with torch.no_grad(): for p in net.parameters(): p -= eta * p.grad. After the loop append the risk once more.",
    ],
)


@train.probe
def _(answer, X, y, W1, b1, w2, b2, eta, steps, kind, old_grad):
    X, y, W1, b1, w2 = (torch.as_tensor(np.asarray(a)) for a in (X, y, W1, b1, w2))
    net = torch.nn.Sequential(
        torch.nn.Linear(W1.shape[1], len(b1)),
        torch.nn.ReLU(),
        torch.nn.Linear(len(b1), 1),
    )
    net = net.double()
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

    losses = answer(net, squared if kind == "gaussian" else logistic, X, y, eta, steps)
    weights = torch.cat([p.detach().reshape(-1) for p in net.parameters()])
    return dict(losses=np.array([float(v) for v in losses]), weights=weights.numpy())


@train.cases
def _(rng):
    def start(n, d, m):
        net = _net(rng, d, m)
        net["b1"] = rng.uniform(0.5, 1.0, d)
        return dict(
            X=rng.uniform(-1, 1, (n, m)),
            y=rng.normal(size=n),
            **net,
            eta=0.1,
            steps=3,
            kind="gaussian",
            old_grad=None,
        )

    yield "three steps on squared error", start(6, 3, 2)
    labels = start(8, 4, 2)
    labels |= dict(y=(np.arange(8) % 2).astype(float), kind="bernoulli", eta=0.5)
    yield "three steps on the logistic loss", labels
    yield "one step", start(5, 2, 1) | dict(steps=1)
    yield "no step only tells the risk", start(5, 2, 2) | dict(steps=0)
    yield "a single row", start(1, 3, 2)
    yield (
        "gradients of before do not count",
        start(5, 2, 2) | dict(steps=2, old_grad=1.0),
    )
    far = start(5, 2, 2) | dict(y=rng.normal(8, 1, 5), eta=3.0)
    yield "a step too large is taken all the same", far
    zero = start(5, 3, 2)
    zero |= dict(
        W1=np.zeros((3, 2)),
        b1=np.zeros(3),
        w2=np.zeros(3),
        b2=0.0,
        y=rng.normal(2, 1, 5),
    )
    yield "all weights zero", zero


def _loop(
    net,
    loss,
    X,
    y,
    eta,
    steps,
    *,
    sign=1.0,
    clear=True,
    after=False,
    total=False,
    column=False,
    shift=False,
    only=None,
):
    losses = []
    for k in range(steps + 1):
        s = net(X) if column else net(X)[:, 0]
        each = loss(s, y)
        risk = each.sum() if total else each.mean()
        losses.append(risk.item())
        if k == steps:
            break
        if clear:
            net.zero_grad()
        risk.backward()
        with torch.no_grad():
            for index, p in enumerate(net.parameters()):
                if only is None or index in only:
                    p -= sign * eta * p.grad
        if after:
            net.zero_grad()
    return losses[1:] + losses[-1:] if shift else losses


@train.wrong(
    "the sum for the mean",
    advice="The risk is a mean over the rows. What happens to your step if every row appears twice?",
)
def _(net, loss, X, y, eta, steps):
    return _loop(net, loss, X, y, eta, steps, total=True)


@train.wrong(
    "gradients accumulate",
    advice="backward() adds to .grad. What stands there when the second step begins?",
)
def _(net, loss, X, y, eta, steps):
    return _loop(net, loss, X, y, eta, steps, clear=False)


@train.wrong(
    "uphill", advice="Does the risk fall from step to step? The gradient points uphill."
)
def _(net, loss, X, y, eta, steps):
    return _loop(net, loss, X, y, eta, steps, sign=-1.0)


@train.wrong(
    "a column minus a row",
    advice="net(X) has shape (n, 1) and y has shape (n,). What shape has their difference? Take the column out first.",
)
def _(net, loss, X, y, eta, steps):
    return _loop(net, loss, X, y, eta, steps, column=True)


@train.wrong(
    "the first risk is after the first step",
    advice="losses[0] is the risk of the network as it was given to you.",
)
def _(net, loss, X, y, eta, steps):
    return _loop(net, loss, X, y, eta, steps, shift=True)


@train.wrong(
    "only the output layer learns",
    advice="Which parameters move? net.parameters() gives those of both layers.",
)
def _(net, loss, X, y, eta, steps):
    return _loop(net, loss, X, y, eta, steps, only=(2, 3))


@train.wrong(
    "one step too many",
    advice="After how many steps is the last risk to be told, and how many have you taken?",
)
def _(net, loss, X, y, eta, steps):
    losses = _loop(net, loss, X, y, eta, steps)
    _loop(net, loss, X, y, eta, 1)
    return losses


@train.wrong(
    "clears the gradients after the step only",
    advice="The network comes to you with whatever is in .grad. What does the first backward() add to?",
)
def _(net, loss, X, y, eta, steps):
    return _loop(net, loss, X, y, eta, steps, clear=False, after=True)


@train.wrong(
    "stops when the risk no longer falls",
    advice="How many steps are asked for? Does the docstring allow an early end?",
)
def _(net, loss, X, y, eta, steps):
    losses = _loop(net, loss, X, y, eta, 0)
    for k in range(steps):
        losses += _loop(net, loss, X, y, eta, 1)[1:]
        if losses[-1] >= losses[-2]:
            return losses + losses[-1:] * (steps - 1 - k)
    return losses


@train.wrong(
    "the last risk is missing",
    advice="After the last step the risk has changed once more. How many values are asked for?",
)
def _(net, loss, X, y, eta, steps):
    return _loop(net, loss, X, y, eta, steps)[:-1]


@train.wrong(
    "a copy is trained",
    advice="Whose parameters move: those of net, or those of a copy?",
)
def _(net, loss, X, y, eta, steps):
    import copy

    return _loop(copy.deepcopy(net), loss, X, y, eta, steps)


@train.wrong(
    "the biases stay",
    advice="Which parameters move? Weights alone are not all of net.parameters().",
)
def _(net, loss, X, y, eta, steps):
    return _loop(net, loss, X, y, eta, steps, only=(0, 2))


@train.wrong(
    "one row a step", advice="Each step looks at all rows. Over how many is your mean?"
)
def _(net, loss, X, y, eta, steps):
    losses = []
    for k in range(steps + 1):
        losses.append(loss(net(X)[:, 0], y).mean().item())
        if k < steps:
            row = slice(k % len(y), k % len(y) + 1)
            _loop(net, loss, X[row], y[row], eta, 1)
    return losses


@train.right("with torch's optimiser")
def _(net, loss, X, y, eta, steps):
    from torch.optim import SGD

    optimiser, losses = SGD(net.parameters(), lr=eta), []
    for _ in range(steps):
        optimiser.zero_grad()
        risk = loss(net(X).squeeze(-1), y).mean()
        risk.backward()
        optimiser.step()
        losses.append(risk.detach())
    with torch.no_grad():
        losses.append(loss(net(X).squeeze(-1), y).mean())
    return losses


@train.right("gradients as values")
def _(net, loss, X, y, eta, steps):
    losses = []
    for k in range(steps + 1):
        risk = torch.mean(loss(net(X).flatten(), y))
        losses.append(risk.item())
        if k < steps:
            slopes = torch.autograd.grad(risk, list(net.parameters()))
            for p, slope in zip(net.parameters(), slopes):
                p.data = p.data - eta * slope
    return np.array(losses)


# ---------------------------------------------------------------- what moves at all

which_move = Exercise(
    "which_move",
    reference=reference.moves,
    compare=exact(),
    batched=("W1", "X", "b1", "w2", "y"),
    hints=[
        "You need four gradients. The text above has three of them as formulas, and b1 is a weight whose input is always 1. Or let torch find them.",
        "e = (s - y) / n, one a row. The slope by W1 and b1 has the factors e, w2 and (z > 0); that by w2 has e and h; that by b2 is the sum of e.",
        "back = e[:, None] * w2 * (z > 0) has shape (n, d). Then back.T @ X, back.sum(0), e @ h and e.sum(): compare the largest size of each with 1e-5.",
    ],
)


@which_move.cases
def _(rng):
    def random(n=5, d=3, m=2):
        net = _net(rng, d, m) | dict(b1=rng.uniform(1.5, 2, d))
        return dict(X=rng.uniform(-1, 1, (n, m)), y=rng.normal(4, 1, n), **net)

    def zero(**other):
        return (
            random()
            | dict(W1=np.zeros((3, 2)), b1=np.zeros(3), w2=np.zeros(3), b2=0.0)
            | other
        )

    yield "a random network moves", random()
    yield "all zero", zero()
    first = rng.choice([-1.0, 1.0], (3, 2)) * rng.uniform(0.5, 2, (3, 2))
    yield "all zero but W1", zero(X=rng.normal(size=(5, 2)), W1=np.vstack([first, -first])[:4], b1=np.zeros(4), w2=np.zeros(4))  # fmt: skip
    yield "all zero but w2", zero(w2=rng.uniform(0.5, 2, 3))
    yield "units that are on, W1 = 0", random() | dict(W1=np.zeros((3, 2)))
    yield "units that are off on all rows", random() | dict(b1=np.full(3, -50.0))
    yield "inputs that are all 0", random() | dict(X=np.zeros((5, 2)))
    fit = random(n=4)
    fit["y"] = np.maximum(0, fit["X"] @ fit["W1"].T + fit["b1"]) @ fit["w2"] + fit["b2"]
    yield "a perfect fit", fit
    mean = zero()
    yield "all zero but b2, at the mean of y", mean | dict(b2=float(mean["y"].mean()))


def _moved(
    X, y, W1, b1, w2, b2, *, at_zero=False, weigh=True, error=True, signed=False
):
    z = X @ W1.T + b1
    h = np.maximum(0, z)
    e = (h @ w2 + b2 - y) / len(y) if error else np.ones(len(y))
    back = e[:, None] * (w2 if weigh else 1) * ((z >= 0) if at_zero else (z > 0))
    slopes = back.T @ X, back.sum(0), e @ h, e.sum()
    return [bool(np.max(g if signed else np.abs(g)) > 1e-5) for g in slopes]


@which_move.wrong(
    "a unit at its kink counts as on",
    advice="Which slope has ReLU at 0 here? Do you compare z with > or with >=?",
)
def _(X, y, W1, b1, w2, b2):
    return _moved(X, y, W1, b1, w2, b2, at_zero=True)


@which_move.wrong(
    "the way back leaves out the output weights",
    advice="The error reaches unit k through its output weight. What if that is 0?",
)
def _(X, y, W1, b1, w2, b2):
    return _moved(X, y, W1, b1, w2, b2, weigh=False)


@which_move.wrong(
    "the error is left out", advice="What should move if the fit is perfect?"
)
def _(X, y, W1, b1, w2, b2):
    return _moved(X, y, W1, b1, w2, b2, error=False)


@which_move.wrong(
    "only slopes above zero count",
    advice="A slope of -3 moves a parameter too. Which way?",
)
def _(X, y, W1, b1, w2, b2):
    return _moved(X, y, W1, b1, w2, b2, signed=True)


@which_move.wrong(
    "W1 and b1 go together",
    advice="A slope by W1 has a factor more than that by b1. Which one?",
)
def _(X, y, W1, b1, w2, b2):
    moves = _moved(X, y, W1, b1, w2, b2)
    return [moves[1], *moves[1:]]


@which_move.wrong(
    "always only b2", advice="That is so from zero. What if h or w2 is not 0?"
)
def _(X, y, W1, b1, w2, b2):
    return [False, False, False, True]


@which_move.wrong(
    "what is not zero moves",
    advice="w2 = 0 can have a slope: which factors has its gradient?",
)
def _(X, y, W1, b1, w2, b2):
    return [bool(np.any(w)) for w in (W1, b1, w2, b2)]


@which_move.right("torch finds the gradients")
def _(X, y, W1, b1, w2, b2):
    weights = [
        torch.tensor(w, dtype=torch.float64, requires_grad=True)
        for w in (W1, b1, w2, b2)
    ]
    W1, b1, w2, b2 = weights
    s = torch.relu(torch.from_numpy(X) @ W1.T + b1) @ w2 + b2
    ((s - torch.from_numpy(y)) ** 2 / 2).mean().backward()
    return np.array([w.grad.abs().max().item() > 1e-5 for w in weights])


@which_move.right("row by row, in single precision")
def _(X, y, W1, b1, w2, b2):
    X, y, W1, b1, w2 = (a.astype(np.float32) for a in (X, y, W1, b1, w2))
    slopes = [0 * W1, 0 * b1, 0 * w2, np.float32(0)]
    for x, t in zip(X, y):
        z = W1 @ x + b1
        h = np.maximum(z, 0)
        e = (h @ w2 + np.float32(b2) - t) / len(y)
        back = e * w2 * (z > 0)
        for k, part in enumerate((np.outer(back, x), back, e * h, e)):
            slopes[k] = slopes[k] + part
    return tuple(np.abs(g).max() > 1e-5 for g in slopes)

"""Exercises of 07_neural_networks/09_project. The student chooses the training and the message; the cases ask what they are worth."""

from itertools import pairwise

import numpy as np
import torch

from descent.compare import agrees, close, exact, parts
from solutions.spec import Exercise

from . import reference

# ---------------------------------------------------------------- to_codes

to_codes = Exercise(
    "to_codes",
    reference=reference.to_codes,
    compare=exact(),
    hints=[
        "How many steps is a number away from 0? And which whole number is nearest to that?",
        "Divide by the step, round to the nearest whole number, and cut what lies beyond -t and t.",
        "np.rint rounds to the nearest, np.clip(…, -t, t) cuts, .astype(int) makes integers.",
    ],
)


@to_codes.cases
def _(rng):
    def case(shape, bits, step, last, *far):
        """Numbers a little above and below each code up to `last`, and far ones: none is halfway."""
        off = rng.uniform(0.1, 0.4, (2 * last + 1, 2)) * [-1, 1]
        near = (np.arange(-last, last + 1)[:, None] + off).ravel()
        T = step * rng.permutation(np.concatenate([near, far])).reshape(shape)
        return dict(T=T, bits=bits, step=step)

    yield "a table of weights", case((5, 6), 4, float(rng.uniform(0.05, 0.3)), 7)
    yield "a table of weights", case((31, 2), 5, float(rng.uniform(2.0, 9.0)), 15)
    # codes that eight bits do not hold, and numbers that neither eight nor sixteen do
    many = rng.uniform(300, 2000, 2).round() + 0.2
    yield "a table of weights", case((4, 4), 12, 0.01, 3, many[0], -many[1])
    far = np.append(-rng.uniform(5, 90), [200.2, 40_000.2])
    yield "beyond the last level", case((17,), 3, 0.5, 3, *far)
    yield "two bits are three levels", case((1, 7, 2), 2, 0.25, 3)


to_codes.mistakes(
    {
        "cut off towards 0": (
            "np.rint(T / step)",
            "np.trunc(T / step)",
            "0.9 of a step: is 0 or 1 nearer? And 0.9 of a step below 0?",
        ),
        "always rounded down": (
            "np.rint(T / step)",
            "np.floor(T / step)",
            "0.9 of a step: is 0 or 1 nearer?",
        ),
        "a level too many": (
            "- 1) - 1",
            "- 1)",
            "Count the codes from -t to t. How many numbers have so many bits?",
        ),
        "nothing is cut": (
            "np.clip(nearest, -top, top)",
            "nearest",
            "Does every code fit into its bits, however large the number is?",
        ),
        "only large numbers are cut, not very negative ones": (
            "np.clip(nearest, -top, top)",
            "np.minimum(nearest, top)",
            "Which code does a number far below 0 get?",
        ),
        "the levels, not their codes": (
            ".astype(int)",
            " * step",
            "The message carries whole numbers: how many steps, not how much.",
        ),
        "multiplied by the step": (
            "np.rint(T / step)",
            "np.rint(T * step)",
            "Which code does a number of two steps have?",
        ),
    }
)


@to_codes.right("the nearest of all levels, as lists")
def _(T, bits, step):
    top = 2 ** (bits - 1) - 1
    levels = step * np.arange(-top, top + 1)
    return (np.abs(T[..., None] - levels).argmin(-1) - top).tolist()


to_codes.worked(
    why="Measured in steps, the levels are the whole numbers, and rounding finds the nearest. The cut comes last: whoever is beyond all levels is nearest to the last one."
)

# ---------------------------------------------------------------- widest

widest = Exercise(
    "widest",
    reference=reference.widest,
    compare=exact(),
    shuffled=True,
    hints=[
        "How many numbers does a layer hold that takes a values to b values? Do not forget its biases.",
        "Write the count for layers of sizes d, h, …, h, k. Then let h grow while the count stays within the budget.",
        "sizes = [d] + [h] * depth + [k]; count = sum(a * b + b for a, b in zip(sizes, sizes[1:])). Start at h = 0 and look one step ahead.",
    ],
)


@widest.cases
def _(rng):
    def case(depth, low, high, k):
        """A budget that is met exactly; so many outputs that they cost a unit."""
        d, h = int(rng.integers(3, 8)), int(rng.integers(low, high))
        k += int(rng.integers(9))
        budget = reference.count([d, *[h] * depth, k])
        return dict(d=d, k=k, depth=depth, budget=budget)

    def full(case):
        """The same with the largest budget that buys no other width."""
        d, k, depth = case["d"], case["k"], case["depth"]
        h = reference.widest(**case)
        return case | dict(budget=reference.count([d, *[h + 1] * depth, k]) - 1)

    yield "one hidden layer", full(case(1, 10, 60, 2))
    yield "one hidden layer", dict(d=64, k=10, depth=1, budget=2260)
    yield (
        "one hidden layer",
        dict(d=3, k=2, depth=1, budget=20_011),
    )  # wider than a loop to 1000
    yield "two hidden layers", case(2, 8, 40, 20)
    yield "two hidden layers", full(case(2, 8, 40, 20))
    yield "three hidden layers", case(3, 8, 30, 20)
    yield "three hidden layers", full(case(3, 8, 30, 20))
    yield "a budget that allows no unit", dict(d=30, k=5, depth=1, budget=34)


widest.equivalent(
    {"h = 0 → h = -1": "budget: numbers (weights and biases) allowed, at least k."}
)

widest.mistakes(
    {
        "the biases are forgotten": (
            "a * b + b",
            "a * b",
            "Each unit has a bias too, the outputs as well.",
        ),
        "one too many": (
            "return h",
            "return h + 1",
            "Is the network you return still within the budget?",
        ),
        "only one hidden layer is counted": (
            "[h] * depth",
            "[h]",
            "Between two hidden layers of h units stand h × h weights.",
        ),
        "the output layer is not counted": (
            "zip(sizes, sizes[1:])",
            "zip(sizes, sizes[1:-1])",
            "The last layer has weights and biases, too.",
        ),
        "a full budget is refused": (
            "<= budget",
            "< budget",
            "Exactly as many parameters as the budget are allowed.",
        ),
        "a square too many": (
            "[h] * depth",
            "[h] * (depth + 1)",
            "How many gaps are there between `depth` hidden layers? One hidden layer has none.",
        ),
    }
)


@widest.right("the root of a quadratic, then a look around")
def _(d, k, depth, budget):
    a, b, c = depth - 1, d + k + depth, k - budget
    h = (-c / b) if a == 0 else (-b + np.sqrt(b * b - 4 * a * c)) / (2 * a)
    h = max(0, int(np.floor(h)))
    while reference.count([d, *[h + 1] * depth, k]) <= budget:
        h += 1
    while h > 0 and reference.count([d, *[h] * depth, k]) > budget:
        h -= 1
    return h


@widest.right("bisection")
def _(d, k, depth, budget):
    low, high = 0, budget + 1
    while high - low > 1:
        middle = (low + high) // 2
        fits = reference.count([d, *[middle] * depth, k]) <= budget
        low, high = (middle, high) if fits else (low, middle)
    return low


widest.worked(
    why="A layer from a to b values holds a·b weights and b biases. The count grows with h, so the first width that is too large ends the search."
)

# ---------------------------------------------------------------- loss_and_grads

loss_and_grads = Exercise(
    "loss_and_grads",
    reference=lambda params, X, y: _flat(*reference.loss_and_grads(params, X, y)),
    compare=close(rtol=1e-5, atol=1e-8),
    hints=[
        "Forward first, and keep the values of every layer. Then walk back. What is the gradient of the loss with respect to the scores?",
        "(p - one-hot) / n at the scores. In each layer: dW = deltaᵀ · values before it, db = column sums of delta, "
        "and delta moves on through W and through the ReLU's 0 or 1.",
        "delta = p.copy(); delta[np.arange(n), y] -= 1; delta /= n; then for each layer from the last: "
        "grads.append((delta.T @ values[i], delta.sum(0))); delta = (delta @ W) * (values[i] > 0).",
    ],
)


def _flat(loss, grads):
    return {
        "loss": loss,
        **{
            f"{name}{i + 1}": g
            for i, layer in enumerate(grads)
            for name, g in zip(("dW", "db"), layer, strict=True)
        },
    }


@loss_and_grads.probe
def _(answer, params, X, y):
    loss, grads = answer(params, X, y)
    flat = {"loss": loss}
    for i, layer in enumerate(grads):
        flat[f"dW{i + 1}"], flat[f"db{i + 1}"] = layer
    return flat


@loss_and_grads.cases
def _(rng):
    def case(sizes, n):
        params = [
            (rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(sizes)
        ]
        if len(params) > 1:  # behind ReLUs, one score is below 0 on every draw
            W, b = params[-1]
            W[0], b[0] = -np.abs(W[0]), -1 - np.abs(b[0])
        return dict(
            params=params,
            X=rng.normal(size=(n, sizes[0])),
            y=rng.integers(sizes[-1], size=n),
        )

    def asleep(case, unit=0):
        """A unit of the first layer that is 0 in the first row, whose other units are awake."""
        W, b = case["params"][0]
        W[:], b[:], case["X"][0] = np.abs(W), np.abs(b), np.abs(case["X"][0])
        W[unit], b[unit] = -W[unit], -b[unit]
        return case

    yield "one hidden layer", case([3, 4, 3], 5)
    yield "two hidden layers", case([3, 5, 4, 2], 4)
    yield "no hidden layer", case([4, 3], 6)
    yield "one row", asleep(case([2, 3, 4], 1))
    still = case([3, 4, 3], 5)
    W, b = still["params"][0]
    W[0], b[0] = 0, 0
    yield "a unit at exactly 0", still
    large = asleep(case([2, 3, 3], 6))
    V, c = large["params"][1]
    # two large scores 0.7 apart, which single precision cannot tell closely
    V[1:] = np.abs(V[1])
    V *= 3000
    c[2] = c[1] + 0.7
    tensors = [tuple(map(torch.from_numpy, layer)) for layer in large["params"]]
    scores = reference.scores(tensors, torch.from_numpy(large["X"]))
    # the first row is quite wrong, so a clipped p shows
    large["y"][0] = int(scores[0].argmin())
    yield "scores in the thousands", large


loss_and_grads.mistakes(
    {
        "the ReLU lets everything back": (
            " * (values[number] > 0)",
            "",
            "Where a unit was 0, a small change of its sum changes nothing. What does that make of the gradient?",
        ),
        "only the loss is a mean": (
            "delta /= n",
            "pass",
            "The loss is divided by n. And its gradient?",
        ),
        "only the gradient is a mean": (
            "y].mean()",
            "y].sum()",
            "Twice as many rows: should the loss double?",
        ),
        "a ReLU after the last layer": (
            "z if number == len(params) - 1 else np.maximum(z, 0)",
            "np.maximum(z, 0)",
            "Scores may be negative: there is no ReLU behind the last layer.",
        ),
        "exp of large scores": (
            " - values[-1].max(1, keepdims=True)",
            "",
            "exp(1000) is infinite. Subtract each row's largest score first.",
        ),
        "gradients from the last layer to the first": (
            "grads[::-1]",
            "grads",
            "Give them in the order of the layers: the first layer first.",
        ),
        "the bias's gradient is divided twice": (
            "delta.sum(0)",
            "delta.mean(0)",
            "1/n stands in the gradient of the scores already. Is db a mean or a sum over rows?",
        ),
        "the probability is clipped": (
            "delta = np.exp(logs)",
            "logs = np.maximum(logs, np.log(1e-300))\n    delta = np.exp(logs)",
            "A clipped p bounds the loss. Take the logarithm before anything can underflow.",
        ),
        "it takes a step, too": (
            "grads.append(",
            "params[number][1][:] -= 0.1 * delta.sum(0)\n        grads.append(",
            "Only the loss and the gradients are asked for: params stay as they are.",
        ),
    }
)


@loss_and_grads.right("autograd", library="torch.autograd")
def _(params, X, y):
    leaves = [
        tuple(torch.tensor(p, requires_grad=True) for p in layer) for layer in params
    ]
    z = torch.tensor(X)
    for i, (W, b) in enumerate(leaves):
        z = (z if i == 0 else z.relu()) @ W.T + b
    loss = torch.nn.functional.cross_entropy(z, torch.tensor(y))
    loss.backward()
    return loss.item(), [(W.grad.numpy(), b.grad.numpy()) for W, b in leaves]


loss_and_grads.worked(
    why="Softmax and cross-entropy together send back p minus the one-hot label: finite however large the scores are, because logs are taken before anything is exponentiated. Each layer turns what it is sent into its own gradient, and passes it on through its weights and through the ReLUs that were awake."
)

# ---------------------------------------------------------------- train

train = Exercise(
    "train",
    reference=lambda X, y, X_new, sizes, step, error, seed: {
        f"labels of {_what(sizes)}{' with errors' * (error > 0)}": reference.labels(
            X_new
        ),
        "shapes": [shape for a, b in pairwise(sizes) for shape in ((b, a), (b,))],
        "another rng gives the same": False,
        "rounded is used while training": True,
        "what comes back is rounded": False,
    },
    compare=parts(
        **{
            # 25 draws each of SGD (rates 0.1 to 0.5), momentum, Nesterov, RMSProp, Adam, decay, schedules:
            # house numbers 0.95 to 0.98 (a straight line 0.91), wines 0.90 to 1, pattern 0.94 to 1,
            # with errors 0.82 to 1, or as luck will have it where the training knows nothing of them
            "labels of even or odd": agrees(0.93),
            "labels of wines": agrees(0.85),
            "labels of the pattern": agrees(0.9),
            "labels of wines with errors": agrees(0.75),
            "shapes": exact(),
            "another rng gives the same": exact(),
            "rounded is used while training": exact(),
            "what comes back is rounded": exact(),
        }
    ),
    limit=5.0,
    data_dependent="rows are looked up in the tables of digits and wines",
    hints=[
        "A gradient of 50 rows points roughly the right way, and costs little. How many such steps can you take in a second?",
        "Mini-batches drawn anew for each step, and a rate that suits them: Adam with 0.01, or momentum 0.9 with 0.05 to 0.1, slower at the end. The gradient is taken at rounded(layers).",
        "for step in range(steps): rows = rng.integers(len(y), size=50); _, grads = loss_and_grads(rounded(layers), X[rows], y[rows]); "
        "layers = [(W - rate * dW, b - rate * db) for (W, b), (dW, db) in zip(layers, grads)]",
    ],
)


def _what(sizes):
    return {64: "even or odd", 13: "wines", 2: "the pattern"}[sizes[0]]


@train.probe
def _(answer, X, y, X_new, sizes, step, error, seed):
    rng = np.random.default_rng(seed)
    wrong = [
        (error * rng.normal(size=(b, a)), error * rng.normal(size=b))
        for a, b in zip(sizes, sizes[1:])
    ]
    given = []  # the first weights of all that was rounded

    def rounded(layers):
        used = []
        for (W, b), (V, c) in zip(layers, wrong):
            W, b = np.asarray(W, float) + V, np.asarray(b, float) + c
            if step:
                W, b = step * np.rint(W / step), step * np.rint(b / step)
            used.append((W, b))
        given.append(used[0][0].tobytes())
        return used

    def trained(number):
        # who draws elsewhere draws the same for any rng
        np.random.seed(seed)
        torch.manual_seed(seed)
        rng = np.random.default_rng(seed + number)
        layers = answer(X, y, list(sizes), rng, rounded)
        return [(np.array(W, float), np.array(b, float)) for W, b in layers]

    def scores(layers):
        z = X_new
        for i, (W, b) in enumerate(rounded(layers)):
            z = (z if i == 0 else np.maximum(z, 0)) @ W.T + b
        return z

    layers = trained(1)
    asked, back = len(given), layers[0][0].tobytes() in given
    z = scores(layers)
    what = {64: "even or odd", 13: "wines", 2: "the pattern"}[sizes[0]]
    return {
        f"labels of {what}{' with errors' * (error > 0)}": z.argmax(1),
        "shapes": [p.shape for layer in layers for p in layer],
        "another rng gives the same": error > 0 and np.allclose(z, scores(trained(2))),
        "rounded is used while training": asked > 40,
        "what comes back is rounded": error > 0 and back,
    }


def _drawn(rng, X, y, n, m):
    """n rows with labels and m without, from tables or from the square."""
    X, y = np.asarray(X), np.asarray(y)
    rows = rng.permutation(len(y))[: n + m]
    return dict(X=X[rows[:n]], y=y[rows[:n]], X_new=X[rows[n:]])


def _pattern(rng, n):
    X = torch.from_numpy(rng.uniform(-1, 1, (n, 2)).round(3))
    return X, reference.labels(X)


@train.cases
def _(rng):
    def case(rows, sizes, step=0.0, error=0.0):
        seed = int(rng.integers(1000))
        return dict(**rows, sizes=sizes, step=step, error=error, seed=seed)

    houses = _drawn(rng, *reference.house_numbers(), 1000, 500)
    yield "even or odd", case(houses, [64, 16, 2])
    yield (
        "wines, a small table",
        case(_drawn(rng, *reference.wines(), 110, 68), [13, 8, 3]),
    )
    pattern = _drawn(rng, *_pattern(rng, 800), 500, 300)
    yield "a pattern that no line separates", case(pattern, [2, 16, 8, 2], step=0.25)
    wines = _drawn(rng, *reference.wines(), 110, 68)
    yield "trained for how it is used", case(wines, [13, 8, 3], error=1.0)


train.mistakes(
    {
        "rounding comes after the training": (
            "loss_and_grads(rounded(layers), ",
            "loss_and_grads(layers, ",
            "Which network will be used? Take the gradient there.",
        ),
        "all units start alike": (
            "rng.normal(0, np.sqrt(2 / a), (b, a))",
            "np.zeros((b, a))",
            "If all units start alike, do they ever become different?",
        ),
        "a rate far too small": (
            "rate = 0.15",
            "rate = 1e-5",
            "Print the loss at the start and at the end. Did it move?",
        ),
        "a rate far too large": (
            "rate = 0.15",
            "rate = 100.0",
            "Print the loss as it goes. Does it jump?",
        ),
        "up the gradient": (
            "W - rate * moving[i][0], b - rate * moving[i][1]",
            "W + rate * moving[i][0], b + rate * moving[i][1]",
            "Which way does the gradient point?",
        ),
        "always the same row": (
            "rng.integers(len(y), size=50)",
            "np.zeros(50, int)",
            "Which rows does the network never see?",
        ),
        "what comes back is rounded": (
            "return layers",
            "return rounded(layers)",
            "The cart rounds what you return. Return the unrounded layers.",
        ),
        "its own generator": (
            "pairs = list(",
            "rng = np.random.default_rng(0)\n    pairs = list(",
            "Draw from the generator that you are given: another rng, another network.",
        ),
    }
)


def _descend(X, y, sizes, rng, rounded, *, rate=0.02, steps=1200):
    """Adam on autograd's gradients."""
    flat = []
    for a, b in pairwise(sizes):
        flat += [rng.uniform(-1, 1, (b, a)) * np.sqrt(6 / a), np.zeros(b)]
    first, second = [0 * p for p in flat], [0 * p for p in flat]
    X, y = torch.from_numpy(X), torch.from_numpy(y)
    for t in range(1, steps + 1):
        rows = rng.choice(len(y), 32, replace=False)
        used = rounded(list(zip(flat[::2], flat[1::2], strict=True)))
        tensors = [tuple(map(torch.as_tensor, layer)) for layer in used]
        _, grads = reference.loss_and_grads(tensors, X[rows], y[rows])
        for i, g in enumerate(g.numpy() for layer in grads for g in layer):
            first[i] = 0.9 * first[i] + 0.1 * g
            second[i] = 0.99 * second[i] + 0.01 * g * g
            step = first[i] / (1 - 0.9**t) / (np.sqrt(second[i] / (1 - 0.99**t)) + 1e-8)
            flat[i] = flat[i] - rate * min(1, 2 - 2 * t / steps) * step
    return list(zip(flat[::2], flat[1::2], strict=True))


@train.right("Adam, lists of lists for the arrays")
def _(X, y, sizes, rng, rounded):
    layers = _descend(X, y, sizes, rng, rounded, steps=400)
    return [[W.tolist(), b.tolist()] for W, b in layers]


train.worked(
    why="The gradient is that of the network which will be used. The unrounded numbers collect the small moves until one of them crosses to the next level. Small batches take many steps at the price of one exact step, momentum averages their noise, and a rate that falls lets the last steps settle."
)

# ---------------------------------------------------------------- Reader

BYTES, ALIKE = "bytes too many", "rows that sender and receiver read differently"

Reader = Exercise(
    "Reader",
    reference=lambda X, y, X_new, n_bytes, other, seed: {
        f"labels of {_what([X.shape[1]])}": reference.labels(X_new),
        BYTES: 0,
        ALIKE: 0,
    },
    compare=parts(
        **{
            # 25 draws: three bits with three starts 0.92 to 0.98, 0.91 to 1 and 0.93 to 0.99;
            # a random first layer from a seed 0.93 to 0.96, 0.90 to 1 and 0.94 to 0.98
            "labels of even or odd": agrees(0.9),
            "labels of wines": agrees(0.85),
            "labels of the pattern": agrees(0.85),
            BYTES: exact(),
            ALIKE: exact(),
        }
    ),
    limit=5.0,
    data_dependent="rows are looked up in the tables of digits and wines",
    hints=[
        "Write down what the cart must know to read a digit: which sizes, which steps, which codes? How many bytes does each take, and what is left for the codes?",
        "fit: the width from the bytes that are left, a few starts with `train`, of which the lowest loss is kept as codes and steps. predict: from codes and steps only. to_bytes: sizes and bits as uint8, steps as float32, then pack(codes + t, bits). from_bytes: the same in the other order.",
        "A method rounded(layers) that makes codes and gives step * codes back can be handed to train and used by predict. Use the step as float32 on both sides, so that sender and receiver compute alike. unpack needs the count: h * (d + 1) + k * (h + 1).",
    ],
)


@Reader.probe
def _(answer, X, y, X_new, n_bytes, other, seed):
    def fitted(X, y, n_bytes, seed):
        return answer().fit(X, y, n_bytes, np.random.default_rng(seed))

    sender = fitted(X, y, n_bytes, seed)
    # anywhere in space: rows near the border between two classes tell readers apart; sorted, so that halves differ
    rows = np.random.default_rng(seed).normal(size=(2000, X.shape[1]))
    rows *= np.repeat([0.2, 2], 1000)[:, None]  # near 0, biases count
    rows = rows[np.argsort(rows[:, 0])]
    one = np.asarray(sender.predict(rows))
    readers, limits = [sender], [n_bytes]
    if other:
        # fitted in between: fewer columns and bytes, and the classes have other numbers
        readers.append(fitted(X[:, :-4], (y + 1) % 3, n_bytes - 20, seed + 1))
        limits.append(n_bytes - 20)
    messages = [bytes(reader.to_bytes()) for reader in readers]
    receivers = [answer() for _ in messages]
    back = [r.from_bytes(message) for r, message in zip(receivers, messages)]
    labels = np.asarray(back[0].predict(X_new))
    halves = [receivers[0].predict(half) for half in np.array_split(rows, 2)]
    two = np.concatenate(halves)
    what = {64: "even or odd", 13: "wines", 2: "the pattern"}[X.shape[1]]
    return {
        f"labels of {what}": labels,
        "bytes too many": max(0, *(len(m) - most for m, most in zip(messages, limits))),
        "rows that sender and receiver read differently": int(np.sum(one != two)),
    }


@Reader.cases
def _(rng):
    def case(rows, n_bytes, other=False):
        return dict(**rows, n_bytes=n_bytes, other=other, seed=int(rng.integers(1000)))

    houses = _drawn(rng, *reference.house_numbers(), 1000, 500)
    yield "a house number from one message", case(houses, 140)
    wines = _drawn(rng, *reference.wines(), 110, 68)
    yield "two readers for wines do not mix", case(wines, 100, True)
    pattern = _drawn(rng, *_pattern(rng, 800), 500, 300)
    yield "a pattern that no line separates", case(pattern, 60)


Reader.mistakes(
    {
        "the sender uses the unrounded layers": (
            "self.keep(best)",
            "self.keep(best)\n        self.layers = lambda: best",
            "What you try on the rows must be what the cart will have. Predict from the codes.",
        ),
        "the header is not counted": (
            "8 * (n_bytes - 12)",
            "8 * n_bytes",
            "Sizes, bits and steps take bytes, too. What is left for the codes?",
        ),
        "kept for all readers in one place": (
            "self.steps, self.codes = [], []",
            "Reader.steps, Reader.codes = [], []",
            "Two readers are two objects. Where does each keep what it has learnt?",
        ),
        "the receiver's codes begin at 0": (
            "codes - 2 ** (self.bits - 1) + 1",
            "codes",
            "pack takes numbers from 0 on. Where do negative codes come back?",
        ),
        "rows and columns are swapped on arrival": (
            "codes[:first].reshape(h, d + 1)",
            "codes[:first].reshape(d + 1, h).T",
            "In which order did ravel write the table?",
        ),
    }
)


@Reader.right("a first layer drawn from a seed, which is all that is sent of it")
class _:
    def inner(self, X):
        rng = np.random.default_rng(0)
        W, b = rng.normal(size=(self.units, X.shape[1])), rng.normal(size=self.units)
        hidden = np.maximum(2 * X @ W.T / np.sqrt(X.shape[1]) + b, 0)
        return np.c_[hidden, np.ones(len(X))]

    def fit(self, X, y, n_bytes, rng):
        k = int(y.max()) + 1
        self.k, self.units = k, (n_bytes - 1) // k - 1
        H, targets = self.inner(X), np.eye(k)[y]
        gram = H.T @ H + 0.1 * np.eye(H.shape[1])
        weights = np.linalg.solve(gram, H.T @ (targets - targets.mean(0)))
        self.codes = np.rint(weights / np.abs(weights).max() * 127).astype(np.int8)
        return self

    def predict(self, X_new):
        return (self.inner(X_new) @ self.codes.astype(float)).argmax(1)

    def to_bytes(self):
        return bytes([self.k]) + self.codes.tobytes()

    def from_bytes(self, message):
        self.k, codes = message[0], np.frombuffer(message[1:], np.int8)
        self.codes, self.units = codes.reshape(-1, self.k), len(codes) // self.k - 1
        return self


Reader.worked(
    why="A budget of bytes is spent on few bits for many units. The layers that are judged, kept and sent are the same rounded ones, so what was tried is what arrives; and the best of three starts is taken, because a network of five units can start badly. Nothing but the message reaches the receiver: sizes and bits first, since they say how the rest is to be read."
)

# ---------------------------------------------------------------- versus

versus = Exercise(
    "versus",
    reference=reference.versus,
    compare=close(rtol=1e-6, atol=1e-9),
    shuffled=True,
    hints=[
        "Strike out the rows that both read right and those that both read wrong. What is left of each?",
        "n rows are left, the smaller side has `few` of them. How likely do n fair coins show `few` heads or fewer? Both directions count, and no probability is above 1.",
        "tail = sum(math.comb(n, i) for i in range(few + 1)) / 2**n; p = min(1, 2 * tail). scipy.stats.binomtest(few, n).pvalue gives the same for n > 0.",
    ],
)


@versus.cases
def _(rng):
    def case(both, only_a, only_b, none):
        kinds = (
            [(1, 1)] * both + [(1, 0)] * only_a + [(0, 1)] * only_b + [(0, 0)] * none
        )
        kinds = rng.permutation(np.array(kinds, bool))
        return dict(right_a=kinds[:, 0], right_b=kinds[:, 1])

    few, many = (int(rng.integers(*ends)) for ends in ((2, 5), (7, 14)))
    yield "a is better", case(int(rng.integers(20, 40)), many, few, 3)
    yield "b is better", case(int(rng.integers(20, 40)), few, many + 1, 5)
    yield "one is never worse", case(9, int(rng.integers(3, 9)), 0, 1)
    yield "evenly", case(7, few, few, 2)
    yield "evenly", case(int(rng.integers(3, 9)), 0, 0, 4)
    # 170! is the last factorial that a float holds
    more = int(rng.integers(85, 95)), int(rng.integers(110, 125))
    yield "many rows", case(40, *more, 5)


versus.mistakes(
    {
        "one direction only": (
            "2 * tail",
            "tail",
            "You did not know before which one would be ahead. Both directions are as uneven.",
        ),
        "the same count itself is left out": (
            "range(few + 1)",
            "range(few)",
            "As unevenly as here, or more: the count that came out belongs to it.",
        ),
        "above 1": (
            "min(1.0, 2 * tail)",
            "2 * tail",
            "Five against five: what does your p say? No probability is above 1.",
        ),
        "all rows are coins": (
            "n, few = only_a + only_b, min(only_a, only_b)",
            "n, few = len(right_a), min(only_a, only_b)",
            "A row that both read right says nothing about which is better.",
        ),
        "all that each reads right": (
            "np.sum(right_a & ~right_b)",
            "np.sum(right_a)",
            "Which rows does just a read right?",
        ),
        "the two are swapped": (
            "return only_a, only_b, ",
            "return only_b, only_a, ",
            "The first number is a's.",
        ),
        "the chance of exactly this": (
            "sum(math.comb(n, i) for i in range(few + 1))",
            "math.comb(n, few)",
            "How likely is it to come out as unevenly as here *or more*?",
        ),
    }
)


@versus.right("scipy's binomial test", library="scipy.stats.binomtest")
def _(right_a, right_b):
    from scipy.stats import binomtest

    only_a = np.count_nonzero(right_a > right_b)
    only_b = np.count_nonzero(right_b > right_a)
    if only_a + only_b == 0:
        return only_a, only_b, 1.0
    return only_a, only_b, binomtest(only_a, only_a + only_b).pvalue


versus.worked(
    why="What both readers find easy or hard cancels. On the rows that are left one is right and the other wrong, and if they were equally good, each such row would be a fair coin. What is left is to count the outcomes that are as uneven as this one, or more."
)

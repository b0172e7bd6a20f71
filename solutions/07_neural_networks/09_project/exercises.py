"""Exercises of 07_neural_networks/09_project. The student chooses the training; the cases ask what it is worth."""

from itertools import pairwise

import numpy as np
import torch

from descent.compare import agrees, close, exact, parts, within
from solutions.spec import Exercise

from . import reference

# ---------------------------------------------------------------- widest

widest = Exercise(
    "widest",
    reference=reference.widest,
    compare=exact(),
    hints=[
        "How many numbers does a layer hold that takes a values to b values? Do not forget its biases.",
        "Write the count for layers of sizes d, h, …, h, k. Then let h grow while the count stays within the budget.",
        "sizes = [d] + [h] * depth + [k]; count = sum(a * b + b for a, b in zip(sizes, sizes[1:])). Start at h = 0 and look one step ahead.",
    ],
)


@widest.cases
def _(rng):
    def case(depth, low, high):
        d, k = int(rng.integers(3, 8)), int(rng.integers(2, 11))
        h = int(rng.integers(low, high))
        budget = reference.count([d, *[h] * depth, k]) + int(rng.integers(0, 3))
        return dict(d=d, k=k, depth=depth, budget=budget)

    yield "one hidden layer", case(1, 10, 60)
    yield "one hidden layer", dict(d=64, k=10, depth=1, budget=2260)
    yield (
        "one hidden layer",
        dict(d=3, k=2, depth=1, budget=20_011),
    )  # wider than a loop to 1000
    yield "two hidden layers", case(2, 8, 40)
    yield "three hidden layers", case(3, 8, 30)
    yield "a budget that allows no unit", dict(d=30, k=5, depth=1, budget=34)


def _grow(d, k, depth, budget, count):
    h = 0
    while count([d] + [h + 1] * depth + [k]) <= budget:
        h += 1
    return h


@widest.wrong(
    "the biases are forgotten", advice="Each unit has a bias too, the outputs as well."
)
def _(d, k, depth, budget):
    return _grow(d, k, depth, budget, lambda s: sum(a * b for a, b in pairwise(s)))


@widest.wrong(
    "one too many", advice="Is the network you return still within the budget?"
)
def _(d, k, depth, budget):
    return reference.widest(d, k, depth, budget) + 1


@widest.wrong(
    "only one hidden layer is counted",
    advice="Between two hidden layers of h units stand h × h weights.",
)
def _(d, k, depth, budget):
    return _grow(d, k, 1, budget, reference.count)


@widest.wrong(
    "the output layer is not counted",
    advice="The last layer has weights and biases, too.",
)
def _(d, k, depth, budget):
    return _grow(d, k, depth, budget, lambda s: reference.count(s[:-1]))


@widest.wrong(
    "a full budget is refused",
    advice="Exactly as many parameters as the budget are allowed.",
)
def _(d, k, depth, budget):
    return _grow(d, k, depth, budget - 3, reference.count)


@widest.wrong(
    "a square too many",
    advice="How many gaps are there between `depth` hidden layers? One hidden layer has none.",
)
def _(d, k, depth, budget):
    return _grow(d, k, depth + 1, budget, reference.count)


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


# ---------------------------------------------------------------- start

start_weights = Exercise(
    "start_weights",
    reference=lambda sizes, seed: {
        "shapes": [[[b, a], [b]] for a, b in pairwise(sizes)],
        "sd times root of n_in": torch.full((len(sizes) - 1,), 2.0).sqrt(),
        "mean times root of n_in": torch.zeros(len(sizes) - 1),
        "largest bias": 0.0,
        "the same for the same generator": True,
        "another for another generator": True,
        "layers alike": False,
        "units alike": False,
    },
    compare=parts(
        **{
            "shapes": exact(),
            # 4,000 weights a layer or more: the sd of a layer has a relative error of 1 % or less
            "sd times root of n_in": within(0.08),
            "mean times root of n_in": within(0.12),
            "largest bias": exact(),
            "the same for the same generator": exact(),
            "another for another generator": exact(),
            "layers alike": exact(),
            "units alike": exact(),
        }
    ),
    hints=[
        "What must the spread of a layer's weights be, so that the mean square of the values survives a ReLU?",
        "He: variance 2 / n_in, with n_in the number of inputs of the layer. Biases 0. W has a row for each unit.",
        "One layer from a to b values: rng.normal(size=…) times the root of 2 / a, and np.zeros(b). zip(sizes, sizes[1:]) gives the pairs.",
    ],
)


@start_weights.probe
def _(answer, sizes, seed):
    def drawn(seed):
        return [
            (np.asarray(W, float), np.asarray(b, float))
            for W, b in answer(list(sizes), np.random.default_rng(seed))
        ]

    layers, again, other = drawn(seed), drawn(seed), drawn(seed + 1)
    roots = [np.sqrt(W.shape[1]) for W, _ in layers]
    first = [W.ravel()[:9] for W, _ in layers]
    return {
        "shapes": [[list(W.shape), list(b.shape)] for W, b in layers],
        "sd times root of n_in": np.array(
            [W.std() * root for (W, _), root in zip(layers, roots)]
        ),
        "mean times root of n_in": np.array(
            [W.mean() * root for (W, _), root in zip(layers, roots)]
        ),
        "largest bias": float(max(np.abs(b).max() for _, b in layers)),
        "the same for the same generator": all(
            np.array_equal(W, V) for (W, _), (V, _) in zip(layers, again)
        ),
        "another for another generator": not any(
            np.array_equal(W, V) for (W, _), (V, _) in zip(layers, other)
        ),
        "layers alike": any(
            np.allclose(v / np.abs(v).max(), w / np.abs(w).max())
            for i, v in enumerate(first)
            for w in first[:i]
        ),
        "units alike": any(np.allclose(W[0], row) for W, _ in layers for row in W[1:]),
    }


@start_weights.cases
def _(rng):
    yield "one hidden layer", dict(sizes=[100, 80, 50], seed=int(rng.integers(1000)))
    yield "layers that shrink", dict(sizes=[400, 100, 40], seed=int(rng.integers(1000)))
    yield "layers that grow", dict(sizes=[40, 100, 400], seed=int(rng.integers(1000)))
    yield "no hidden layer", dict(sizes=[200, 30], seed=int(rng.integers(1000)))


def _layers(sizes, draw):
    return [(draw(b, a), np.zeros(b)) for a, b in pairwise(sizes)]


@start_weights.wrong(
    "variance 1 / n_in",
    advice="A ReLU lets half of the mean square through. What must the weights make up for?",
)
def _(sizes, rng):
    return _layers(sizes, lambda b, a: rng.normal(size=(b, a)) / np.sqrt(a))


@start_weights.wrong(
    "variance 2 / n_out",
    advice="A unit adds up n_in products. Is it the inputs or the outputs that make the sum long?",
)
def _(sizes, rng):
    return _layers(sizes, lambda b, a: rng.normal(size=(b, a)) * np.sqrt(2 / b))


@start_weights.wrong(
    "sd 2 / n_in instead of variance",
    advice="The variance is 2 / n_in. What is the standard deviation?",
)
def _(sizes, rng):
    return _layers(sizes, lambda b, a: rng.normal(size=(b, a)) * 2 / a)


@start_weights.wrong(
    "a row for each input",
    advice="W has shape (out, in): a row for each unit, so that a unit's sum is its row times the values.",
)
def _(sizes, rng):
    return [
        (rng.normal(size=(a, b)) * np.sqrt(2 / a), np.zeros(b))
        for a, b in pairwise(sizes)
    ]


@start_weights.wrong(
    "all zeros", advice="If all units start alike, do they ever become different?"
)
def _(sizes, rng):
    return _layers(sizes, lambda b, a: np.zeros((b, a)))


@start_weights.wrong(
    "positive weights",
    advice="Draw around 0: with positive weights only, all units rise together.",
)
def _(sizes, rng):
    return _layers(sizes, lambda b, a: rng.uniform(0, np.sqrt(6 / a), (b, a)))


@start_weights.wrong(
    "its own generator",
    advice="Use the generator that you are given: another one, another network.",
)
def _(sizes, rng):
    rng = np.random.default_rng(0)
    return _layers(sizes, lambda b, a: rng.normal(size=(b, a)) * np.sqrt(2 / a))


@start_weights.wrong(
    "variance 2 / (n_in + n_out)",
    advice="That is Glorot's rule, made for tanh. What does the rule of He ask for?",
)
def _(sizes, rng):
    return _layers(sizes, lambda b, a: rng.normal(size=(b, a)) * np.sqrt(2 / (a + b)))


@start_weights.wrong(
    "variance 1 / n_in in the last layer",
    advice="The rule holds for the last layer, too.",
)
def _(sizes, rng):
    layers = _layers(sizes, lambda b, a: rng.normal(size=(b, a)) * np.sqrt(2 / a))
    return [*layers[:-1], (layers[-1][0] / np.sqrt(2), layers[-1][1])]


@start_weights.wrong(
    "all units of a layer start alike",
    advice="If all units start alike, do they ever differ?",
)
def _(sizes, rng):
    return _layers(
        sizes, lambda b, a: np.tile(rng.normal(size=(1, a)) * np.sqrt(2 / a), (b, 1))
    )


@start_weights.wrong("random biases", advice="What does the text ask of the biases?")
def _(sizes, rng):
    return [
        (W, 0.1 * rng.normal(size=len(W)))
        for W, _ in _layers(
            sizes, lambda b, a: rng.normal(size=(b, a)) * np.sqrt(2 / a)
        )
    ]


@start_weights.right("uniform with the same variance")
def _(sizes, rng):
    return _layers(
        sizes, lambda b, a: rng.uniform(-np.sqrt(6 / a), np.sqrt(6 / a), (b, a))
    )


@start_weights.right("a loop of lists")
def _(sizes, rng):
    layers = []
    for i in range(1, len(sizes)):
        W = [
            [rng.normal(0, (2 / sizes[i - 1]) ** 0.5) for _ in range(sizes[i - 1])]
            for _ in range(sizes[i])
        ]
        layers.append([W, [0.0] * sizes[i]])
    return layers


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
    def case(sizes, n, spread=1.0):
        params = [
            (spread * rng.normal(size=(b, a)), rng.normal(size=b))
            for a, b in pairwise(sizes)
        ]
        return dict(
            params=params,
            X=rng.normal(size=(n, sizes[0])),
            y=rng.integers(sizes[-1], size=n),
        )

    yield "one hidden layer", case([3, 4, 3], 5)
    yield "two hidden layers", case([3, 5, 4, 2], 4)
    yield "no hidden layer", case([4, 3], 6)
    yield "one row", case([2, 3, 4], 1)
    still = case([3, 4, 3], 5)
    W, b = still["params"][0]
    W[0], b[0] = 0, 0
    yield "a unit at exactly 0", still
    large = case([2, 3, 3], 3, spread=3000.0)
    # No unit is 0 at the first row, so its scores are large on every draw.
    large["params"][0] = tuple(map(np.abs, large["params"][0]))
    large["X"][0] = np.abs(large["X"][0])
    tensors = [tuple(map(torch.from_numpy, layer)) for layer in large["params"]]
    scores = reference.scores(tensors, torch.from_numpy(large["X"]))
    large["y"][0] = int(
        scores[0].argmin()
    )  # one row is quite wrong, so a clipped p shows
    yield "scores in the thousands", large


def _backward(
    params, X, y, *, mean=True, stable=True, relu_last=False, mask=True, slope=0
):
    n = len(X)
    values, sums = [np.asarray(X, float)], [None]
    for i, (W, b) in enumerate(params):
        z = values[-1] @ W.T + b
        values.append(z if i == len(params) - 1 and not relu_last else np.maximum(z, 0))
        sums.append(z)
    z = values[-1]
    z = z - z.max(1, keepdims=True) if stable else z
    with np.errstate(all="ignore"):
        p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
        logs = z - np.log(np.exp(z).sum(1, keepdims=True)) if stable else np.log(p)
    loss = -logs[np.arange(n), y].mean()
    delta = p.copy()
    delta[np.arange(n), y] -= 1
    delta = delta / n if mean else delta
    grads = []
    for i in range(len(params) - 1, -1, -1):
        grads.append((delta.T @ values[i], delta.sum(0)))
        delta = delta @ params[i][0]
        if mask and i > 0:
            delta = delta * ((sums[i] > 0) + slope * (sums[i] == 0))
    return loss, grads[::-1]


@loss_and_grads.wrong(
    "the ReLU lets everything back",
    advice="Where a unit was 0, a small change of its sum changes nothing. What does that make of the gradient?",
)
def _(params, X, y):
    return _backward(params, X, y, mask=False)


@loss_and_grads.wrong(
    "the sum over rows, not the mean",
    advice="The loss is a mean over rows. Where does 1/n go in the gradient?",
)
def _(params, X, y):
    loss, grads = _backward(params, X, y, mean=False)
    return loss * len(X), grads


@loss_and_grads.wrong(
    "only the loss is a mean", advice="The loss is divided by n. And its gradient?"
)
def _(params, X, y):
    return _backward(params, X, y, mean=False)


@loss_and_grads.wrong(
    "a ReLU after the last layer",
    advice="Scores may be negative: there is no ReLU behind the last layer.",
)
def _(params, X, y):
    return _backward(params, X, y, relu_last=True)


@loss_and_grads.wrong(
    "exp of large scores",
    advice="exp(1000) is infinite. Subtract each row's largest score first.",
)
def _(params, X, y):
    return _backward(params, X, y, stable=False)


@loss_and_grads.wrong(
    "gradients from the last layer to the first",
    advice="Give them in the order of the layers: the first layer first.",
)
def _(params, X, y):
    loss, grads = _backward(params, X, y)
    return loss, grads[::-1] if len(grads) > 1 else [(g[0] * 0, g[1]) for g in grads]


@loss_and_grads.wrong(
    "slope 1 at 0", advice="What counts as the ReLU's slope where a sum is exactly 0?"
)
def _(params, X, y):
    return _backward(params, X, y, slope=1)


@loss_and_grads.wrong(
    "the bias's gradient is divided twice",
    advice="1/n stands in the gradient of the scores already. Is db a mean or a sum over rows?",
)
def _(params, X, y):
    loss, grads = _backward(params, X, y)
    return loss, [(dW, db / len(X)) for dW, db in grads]


@loss_and_grads.wrong(
    "the probability is clipped",
    advice="A clipped p bounds the loss. Take the logarithm before anything can underflow.",
)
def _(params, X, y):
    logs = torch.log_softmax(
        reference.scores(
            [tuple(map(torch.tensor, layer)) for layer in params], torch.tensor(X)
        ),
        1,
    )
    p = logs.exp().numpy()[np.arange(len(y)), y]
    return -np.log(np.clip(p, 1e-12, 1)).mean(), _backward(params, X, y)[1]


@loss_and_grads.wrong(
    "it takes a step, too",
    advice="Only the loss and the gradients are asked for: params stay as they are.",
)
def _(params, X, y):
    loss, grads = _backward(params, X, y)
    for (W, b), (dW, db) in zip(params, grads, strict=True):
        W -= 0.1 * dW
        b -= 0.1 * db
    return loss, grads


@loss_and_grads.right("by hand")
def _(params, X, y):
    return _backward(params, X, y)


@loss_and_grads.right("autograd")
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


# ---------------------------------------------------------------- train

train = Exercise(
    "train",
    reference=lambda X, y, X_new, sizes, budget, seed: {
        f"labels of {_what(sizes)}": reference.labels(X_new),
        "rows beyond the budget": 0,
    },
    compare=parts(
        **{
            # 20 draws each of SGD (rates 0.1 to 1), momentum, Nesterov, RMSProp, Adam, decay, averages, schedules:
            # digits 0.92 to 0.98, wines 0.90 to 1, pattern 0.92 to 1. Careless ones on the digits: all rows at
            # once at most 0.91 (with momentum they do reach 0.9 to 0.95), 100 rows only 0.91, rate 0.003 0.66
            "labels of digits": agrees(0.915),
            "labels of wines": agrees(0.85),
            "labels of the pattern": agrees(0.9),
            "rows beyond the budget": exact(),
        }
    ),
    limit=8.0,
    data_dependent="rows are looked up in the tables of digits and wines",
    hints=[
        "A gradient of 25 rows costs 25, one of all rows costs them all. Which buys more progress? How many steps does the budget allow?",
        "Mini-batches drawn anew for each step, and a rate that suits them: Adam with 0.01, or momentum 0.9 with 0.05. Stop before the next batch would exceed the budget.",
        "for step in range(budget // batch): rows = rng.integers(n, size=batch); loss, grads = gradient(params, rows); "
        "params = [(W - rate * dW, b - rate * db) for (W, b), (dW, db) in zip(params, grads)]",
    ],
)


def _what(sizes):
    return {64: "digits", 13: "wines", 2: "the pattern"}[sizes[0]]


@train.probe
def _(answer, X, y, X_new, sizes, budget, seed):
    rng = np.random.default_rng(seed)
    params = [
        (rng.normal(size=(b, a)) * np.sqrt(2 / a), np.zeros(b))
        for a, b in zip(sizes, sizes[1:])
    ]
    spent = [0]

    def gradient(params, rows):
        rows = np.asarray(rows)
        spent[0] += len(rows)
        values = [X[rows]]
        for i, (W, b) in enumerate(params):
            z = values[-1] @ np.asarray(W).T + np.asarray(b)
            values.append(z if i == len(params) - 1 else np.maximum(z, 0))
        z = values[-1] - values[-1].max(1, keepdims=True)
        p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
        loss = float(
            np.mean(np.log(np.exp(z).sum(1)) - z[np.arange(len(rows)), y[rows]])
        )
        p[np.arange(len(rows)), y[rows]] -= 1
        delta, grads = p / len(rows), []
        for i in range(len(params) - 1, -1, -1):
            grads.append((delta.T @ values[i], delta.sum(0)))
            delta = (delta @ np.asarray(params[i][0])) * (values[i] > 0)
        return loss, grads[::-1]

    trained = answer(gradient, params, len(X), budget, np.random.default_rng(seed + 1))
    z = X_new
    for i, (W, b) in enumerate(trained):
        z = (z if i == 0 else np.maximum(z, 0)) @ np.asarray(W).T + np.asarray(b)
    what = {64: "digits", 13: "wines", 2: "the pattern"}[sizes[0]]
    return {
        f"labels of {what}": z.argmax(1),
        "rows beyond the budget": max(0, spent[0] - budget),
    }


@train.cases
def _(rng):
    def case(X, y, n, sizes, budget):
        X, y = X.numpy(), y.numpy()
        rows = rng.permutation(len(y))[: n[0] + n[1]]
        old, new = rows[: n[0]], rows[n[0] :]
        return dict(
            X=X[old],
            y=y[old],
            X_new=X[new],
            sizes=sizes,
            budget=budget,
            seed=int(rng.integers(1000)),
        )

    yield (
        "digits, twenty passes",
        case(*reference.digits(), (1000, 500), [64, 30, 10], 20_000),
    )
    yield "wines, a small table", case(*reference.wines(), (110, 68), [13, 8, 3], 6_000)
    X = torch.from_numpy(rng.uniform(-1, 1, (800, 2)).round(3))
    X = torch.where(X == 0, 0.001, X)
    yield (
        "a pattern that no line separates",
        case(X, reference.labels(X), (500, 300), [2, 16, 2], 30_000),
    )


def _descend(
    gradient, params, n, budget, rng, *, batch=25, rate=0.3, momentum=0.0, sign=-1
):
    moving = [(0 * W, 0 * b) for W, b in params]
    for _ in range(budget // min(batch, n)):
        rows = rng.integers(n, size=batch) if batch < n else np.arange(n)
        _, grads = gradient(params, rows)
        moving = [
            tuple(momentum * m + g for m, g in zip(ms, gs, strict=True))
            for ms, gs in zip(moving, grads, strict=True)
        ]
        params = [
            tuple(p + sign * rate * m for p, m in zip(ps, ms, strict=True))
            for ps, ms in zip(params, moving, strict=True)
        ]
    return params


@train.wrong(
    "all rows in every step",
    advice="Twenty passes are twenty steps then. How far do twenty steps carry?",
)
def _(gradient, params, n, budget, rng):
    return _descend(gradient, params, n, budget, rng, batch=n, rate=0.1)


@train.wrong(
    "a rate far too small",
    advice="Print the loss at the start and at the end. Did it move?",
)
def _(gradient, params, n, budget, rng):
    return _descend(gradient, params, n, budget, rng, rate=1e-4)


@train.wrong("a rate far too large", advice="Print the loss as it goes. Does it jump?")
def _(gradient, params, n, budget, rng):
    return _descend(gradient, params, n, budget, rng, rate=30.0, momentum=0.9)


@train.wrong("up the gradient", advice="Which way does the gradient point?")
def _(gradient, params, n, budget, rng):
    return _descend(gradient, params, n, budget, rng, rate=0.1, sign=1)


@train.wrong(
    "the trained weights are not returned",
    advice="You trained a copy. Which weights do you return?",
)
def _(gradient, params, n, budget, rng):
    _descend(gradient, params, n, budget, rng)
    return params


@train.wrong(
    "the budget is overspent",
    advice="A batch costs its rows. How many batches may you draw?",
)
def _(gradient, params, n, budget, rng):
    return _descend(gradient, params, n, 2 * budget, rng)


@train.wrong("always the first rows", advice="Which rows does the network never see?")
def _(gradient, params, n, budget, rng):
    for _ in range(budget // 10):
        _, grads = gradient(params, np.arange(10))
        params = [
            (W - 0.1 * dW, b - 0.1 * db)
            for (W, b), (dW, db) in zip(params, grads, strict=True)
        ]
    return params


@train.right("mini-batches")
def _(gradient, params, n, budget, rng):
    return _descend(gradient, params, n, budget, rng, rate=0.2)


@train.right("momentum, passes over shuffled rows")
def _(gradient, params, n, budget, rng):
    moving = [(0 * W, 0 * b) for W, b in params]
    spent = 0
    while True:
        for rows in np.array_split(rng.permutation(n), max(1, n // 20)):
            spent += len(rows)
            if spent > budget:
                return params
            _, grads = gradient(params, rows)
            moving = [
                (0.9 * m + g, 0.9 * v + h) for (m, v), (g, h) in zip(moving, grads)
            ]
            params = [
                (W - 0.05 * m, b - 0.05 * v) for (W, b), (m, v) in zip(params, moving)
            ]


@train.right("Adam, lists of lists for the arrays")
def _(gradient, params, n, budget, rng):
    flat = [p for layer in params for p in layer]
    first, second = [0 * p for p in flat], [0 * p for p in flat]
    for t in range(1, budget // 25 + 1):
        pairs = list(zip(flat[::2], flat[1::2]))
        _, grads = gradient(pairs, list(rng.integers(n, size=25)))
        for i, g in enumerate(g for layer in grads for g in layer):
            first[i] = 0.9 * first[i] + 0.1 * g
            second[i] = 0.99 * second[i] + 0.01 * g * g
            step = first[i] / (1 - 0.9**t) / (np.sqrt(second[i] / (1 - 0.99**t)) + 1e-8)
            flat[i] = flat[i] - 0.01 * step
    return [[W.tolist(), b.tolist()] for W, b in zip(flat[::2], flat[1::2])]

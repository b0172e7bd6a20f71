"""Exercises of 03_optimisation/03_stochastic_training."""

import itertools

import numpy as np
import torch

from descent.compare import close, exact, parts
from solutions.spec import Exercise

from . import reference

# ── perceptron_grad ──────────────────────────────────────────────────────────────────────────────

perceptron_grad = Exercise(
    "perceptron_grad",
    reference=reference.perceptron_grad,
    compare=close(rtol=1e-8),
    batched=("w",),
    hints=[
        "Take the rows in `idx` first: `X[idx]` and `y[idx]`. On which of them is $y_i \\langle w, x_i \\rangle \\le 0$?",
        "Each mistake contributes $-y_i x_i$, each right answer contributes a zero vector. Then take the mean over all "
        "rows of `idx`.",
        "With `wrong = y[idx] * (X[idx] @ w) <= 0`, the vector `wrong * y[idx]` holds one coefficient a row. "
        "Multiply `X[idx].T` by it, then mind the sign and the number of rows.",
    ],
)


def _labelled(rng, mistakes, d=3):
    """w, X, y where row i is a mistake exactly if mistakes[i]."""
    w, X = rng.normal(size=d), rng.normal(size=(len(mistakes), d))
    right_label = np.where(X @ w > 0, 1.0, -1.0)
    return w, X, np.where(mistakes, -right_label, right_label)


@perceptron_grad.cases
def _(rng):
    mistakes = [True, False, True, True, False, False]
    w, X, y = _labelled(rng, mistakes)
    order = rng.permutation(6)
    yield "the mean over all rows", dict(w=w, X=X, y=y, idx=order)
    yield "the mean over a batch", dict(w=w, X=X, y=y, idx=np.array([1, 2, 3]))
    yield "the mean over a batch", dict(w=w, X=X, y=y, idx=np.array([0, 5, 0, 2]))
    yield "one row on the wrong side", dict(w=w, X=X, y=y, idx=np.array([2]))
    yield "no mistakes, no gradient", dict(w=w, X=X, y=y, idx=np.array([1, 4, 5]))
    yield (
        "at w = 0 every row is a mistake",
        dict(w=np.zeros(3), X=X, y=y, idx=np.arange(6)),
    )


@perceptron_grad.wrong(
    "the step instead of the gradient",
    advice="Your vector points where w should move. The gradient points where the loss grows: check the sign.",
)
def _(w, X, y, idx):
    wrong = y[idx] * (X[idx] @ w) <= 0
    return X[idx].T @ (wrong * y[idx]) / len(idx)


@perceptron_grad.wrong(
    "divided by the number of mistakes",
    advice="The mean runs over every row of the batch. A row without a mistake adds nothing to the sum, but it still counts.",
)
def _(w, X, y, idx):
    wrong = y[idx] * (X[idx] @ w) <= 0
    return -X[idx].T @ (wrong * y[idx]) / max(1, wrong.sum())


@perceptron_grad.wrong(
    "a score of exactly zero counts as right",
    advice="Start at w = 0: every score is 0. If none of the rows is a mistake there, can w ever leave 0?",
)
def _(w, X, y, idx):
    wrong = y[idx] * (X[idx] @ w) < 0
    return -X[idx].T @ (wrong * y[idx]) / len(idx)


@perceptron_grad.wrong(
    "rows without a mistake contribute too",
    advice="A row on its right side has loss 0 in a whole neighbourhood of w. What is its gradient?",
)
def _(w, X, y, idx):
    return -X[idx].T @ y[idx] / len(idx)


@perceptron_grad.wrong(
    "the sum instead of the mean",
    advice="Compare your result for a batch of one row (right) and for several rows: by which factor is it off?",
)
def _(w, X, y, idx):
    wrong = y[idx] * (X[idx] @ w) <= 0
    return -X[idx].T @ (wrong * y[idx])


@perceptron_grad.wrong(
    "divided by the number of all rows",
    advice="With all rows in `idx` you are right. A batch of three rows has a mean over three rows.",
)
def _(w, X, y, idx):
    wrong = y[idx] * (X[idx] @ w) <= 0
    return -X[idx].T @ (wrong * y[idx]) / len(X)


@perceptron_grad.wrong(
    "a row named twice counts once",
    advice="`idx` may name a row twice, as draws with replacement do. How often should it then enter the mean?",
)
def _(w, X, y, idx):
    idx = np.unique(idx)
    wrong = y[idx] * (X[idx] @ w) <= 0
    return -X[idx].T @ (wrong * y[idx]) / len(idx)


@perceptron_grad.right("a loop over the rows")
def _(w, X, y, idx):
    total = np.zeros(len(w))
    for i in idx:
        if y[i] * np.dot(X[i], w) <= 0:
            total = total - y[i] * X[i]
    return total / len(idx)


# ── minibatches ──────────────────────────────────────────────────────────────────────────────────

minibatches = Exercise(
    "minibatches",
    reference=reference.batch_report,
    compare=exact(),
    hints=[
        "Think of a deck of n cards: shuffle once, then deal B at a time. Which of the two steps needs the generator?",
        "`rng.permutation(n)` is the shuffled deck. The batches start at the places 0, B, 2B, …",
        "`order[start:start + B]` for `start in range(0, n, B)` gives every batch, the short one included. "
        "With `drop_last=True`, keep only those of length B.",
    ],
)


@minibatches.probe
def _(answer, n, B, seed, drop_last):
    rng = np.random.default_rng(seed)
    epochs = [
        [[int(i) for i in b] for b in answer(n, B, rng, drop_last)] for _ in range(8)
    ]
    again = [
        [int(i) for i in b]
        for b in answer(n, B, np.random.default_rng(seed), drop_last)
    ]
    first, everything = epochs[0], [i for b in epochs[0] for i in b]
    same = {frozenset(b) for b in first} & {frozenset(b) for b in epochs[1]}
    dealt = {i for batches in epochs for b in batches for i in b}
    # With batches of 5 or more out of at least 35 rows, chance does these things less than once in 10 000 times.
    mixed = n >= 35
    return dict(
        sizes=[len(b) for b in first],
        no_row_twice=not mixed or len(set(everything)) == len(everything),
        rows_outside=sum(not 0 <= i < n for i in everything),
        rows_in_order=mixed and everything == sorted(everything),
        batches_of_neighbours=sum(max(b) - min(b) == len(b) - 1 for b in first)
        if mixed
        else 0,
        batches_met_again_next_epoch=len(same) if mixed else 0,
        row_0_always_in_the_first_batch=mixed and all(b and 0 in b[0] for b in epochs),
        rows_left_out_of_all_of_8_epochs=len(set(range(n)) - dealt) if mixed else 0,
        same_seed_same_batches=not mixed or first == again,
    )


@minibatches.cases
def _(rng):
    B, seed = int(rng.integers(7, 10)), int(rng.integers(10_000))
    yield "every row once an epoch", dict(n=5 * B, B=B, seed=seed, drop_last=False)
    yield (
        "new batches every epoch, from rng",
        dict(n=6 * B, B=B, seed=seed + 1, drop_last=True),
    )
    yield (
        "the short last batch is kept",
        dict(n=5 * B + 5, B=B, seed=seed + 2, drop_last=False),
    )
    yield (
        "the short last batch is dropped on demand",
        dict(n=5 * B + 5, B=B, seed=seed + 3, drop_last=True),
    )
    yield "a batch larger than the data", dict(n=3, B=5, seed=seed, drop_last=False)
    yield "a batch larger than the data", dict(n=3, B=5, seed=seed, drop_last=True)


@minibatches.wrong(
    "rows drawn with replacement",
    advice="Count the different rows of one epoch. Drawing each batch afresh meets some rows twice and others never.",
)
def _(n, B, rng, drop_last=False):
    sizes = [B] * (n // B) + [n % B] * (n % B > 0 and not drop_last)
    return [rng.integers(0, n, size) for size in sizes]


@minibatches.wrong(
    "never shuffled",
    advice="Call your function twice with the same rng: are the batches of the second epoch other ones?",
)
def _(n, B, rng, drop_last=False):
    batches = [np.arange(n)[s : s + B] for s in range(0, n, B)]
    return [b for b in batches if len(b) == B or not drop_last]


@minibatches.wrong(
    "its own generator with a fixed seed",
    advice="A generator made inside the function starts anew at each call, so every epoch is the same. Use the rng you are given.",
)
def _(n, B, rng, drop_last=False):
    order = np.random.default_rng(0).permutation(n)
    batches = [order[s : s + B] for s in range(0, n, B)]
    return [b for b in batches if len(b) == B or not drop_last]


@minibatches.wrong(
    "only the order of the batches is shuffled",
    advice="Row 0 and row 1 always land in the same batch. Shuffle the rows before you cut, not the batches after.",
)
def _(n, B, rng, drop_last=False):
    batches = [np.arange(n)[s : s + B] for s in range(0, n, B)]
    batches = [batches[i] for i in rng.permutation(len(batches))]
    return [b for b in batches if len(b) == B or not drop_last]


@minibatches.wrong(
    "the short batch is always dropped",
    advice="With n = 7 and B = 3, the last batch has one row. It goes only when drop_last is True.",
)
def _(n, B, rng, drop_last=False):
    order = rng.permutation(n)
    return [order[k * B : (k + 1) * B] for k in range(n // B)]


@minibatches.wrong(
    "batches of nearly equal size",
    advice="All batches but the last have exactly B rows; the remainder is not spread over them.",
)
def _(n, B, rng, drop_last=False):
    return np.array_split(
        rng.permutation(n), max(1, n // B if drop_last else -(-n // B))
    )


@minibatches.wrong(
    "the rows left out are always the same",
    advice="In which epoch does the last row of the data set get its turn? Shuffle all n rows, then cut.",
)
def _(n, B, rng, drop_last=False):
    order = rng.permutation(n - n % B if drop_last else n)
    return [order[s : s + B] for s in range(0, len(order), B)]


@minibatches.wrong(
    "a full last batch is dropped too",
    advice="Where B divides n no batch is short. Look at the length of the last one before you drop it.",
)
def _(n, B, rng, drop_last=False):
    order = rng.permutation(n)
    batches = [order[s : s + B] for s in range(0, n, B)]
    return batches[:-1] if drop_last else batches


@minibatches.wrong(
    "rows are shuffled only within their batch",
    advice="Rows 0 and 1 always land in the same batch. Shuffle before you cut, not after.",
)
def _(n, B, rng, drop_last=False):
    batches = [rng.permutation(np.arange(n)[s : s + B]) for s in range(0, n, B)]
    return [b for b in batches if len(b) == B or not drop_last]


@minibatches.wrong(
    "shuffled by another generator than rng",
    advice="The same seed must give the same batches. `np.random` does not know the rng you were handed.",
)
def _(n, B, rng, drop_last=False):
    order = np.random.default_rng().permutation(n)
    batches = [order[s : s + B] for s in range(0, n, B)]
    return [b for b in batches if len(b) == B or not drop_last]


@minibatches.right("a generator of lists, shuffled in place")
def _(n, B, rng, drop_last=False):
    order = list(range(n))
    rng.shuffle(order)
    while len(order) >= B or (order and not drop_last):
        yield order[:B]
        order = order[B:]


@minibatches.right("by sorting random numbers")
def _(n, B, rng, drop_last=False):
    order = np.argsort(rng.random(n))
    stop = n - n % B if drop_last else n
    return [order[s : min(s + B, stop)] for s in range(0, stop, B)]


# ── sgd ──────────────────────────────────────────────────────────────────────────────────────────

sgd = Exercise(
    "sgd",
    reference=lambda X, y, w0, lr0, c, batches: reference.sgd_least_squares(
        X, y, w0, lr0, c, batches
    ),
    compare=close(rtol=1e-8),
    hints=[
        "One step a batch. What does a step need: where you are now, the batch, and the number of the step?",
        "Go through the batches with `enumerate`, so that t = 0, 1, 2, … Each new point is the last one minus `lr(t)` "
        "times the gradient there.",
        "Keep a list `path = [w0]`; in the loop append `path[-1] - lr(t) * …` as a new array, and stack the list at the end.",
    ],
)


@sgd.probe
def _(answer, X, y, w0, lr0, c, batches):
    def grad(w, idx):
        return X[idx].T @ (X[idx] @ w - y[idx]) / len(idx)

    return answer(grad, w0, lambda t: lr0 / (1 + c * t), batches)


@sgd.cases
def _(rng):
    X = rng.normal(size=(6, 2))
    y, w0 = X @ np.array([1.0, -1.0]) + rng.normal(size=6), rng.normal(size=2) + 2
    order = rng.permutation(6)
    pairs = [order[0:2], order[2:4], order[4:6]]
    yield "one step a batch", dict(X=X, y=y, w0=w0, lr0=0.2, c=0.0, batches=pairs)
    yield (
        "a falling rate: lr(t) from t = 0",
        dict(X=X, y=y, w0=w0, lr0=0.3, c=1.0, batches=pairs),
    )
    yield (
        "batches of different size",
        dict(
            X=X, y=y, w0=w0, lr0=0.2, c=0.0, batches=[order[:3], order[3:5], order[5:]]
        ),
    )
    yield (
        "one batch of everything is gradient descent",
        dict(X=X, y=y, w0=w0, lr0=0.2, c=0.0, batches=[order, order]),
    )
    yield "no batch: only the start", dict(X=X, y=y, w0=w0, lr0=0.2, c=0.0, batches=[])


@sgd.wrong(
    "the gradient is always taken at the start",
    advice="After the first step you stand elsewhere. At which point must the next gradient be taken?",
)
def _(grad, w0, lr, batches):
    path = [w0]
    for t, b in enumerate(batches):
        path.append(path[-1] - lr(t) * grad(w0, b))
    return np.array(path)


@sgd.wrong(
    "steps uphill",
    advice="The gradient points to where the loss grows. Which sign takes you down?",
)
def _(grad, w0, lr, batches):
    path = [w0]
    for t, b in enumerate(batches):
        path.append(path[-1] + lr(t) * grad(path[-1], b))
    return np.array(path)


@sgd.wrong(
    "the first step is number 1",
    advice="With a constant rate you are right, with a falling one not. The first rate used is lr(0).",
)
def _(grad, w0, lr, batches):
    path = [w0]
    for t, b in enumerate(batches, start=1):
        path.append(path[-1] - lr(t) * grad(path[-1], b))
    return np.array(path)


@sgd.wrong(
    "one array changed in place",
    advice="All rows of your path are equal: they are the same array. `w -= …` changes what you stored before; make a new array each step.",
)
def _(grad, w0, lr, batches):
    w = w0.copy()
    path = [w]
    for t, b in enumerate(batches):
        w -= lr(t) * grad(w, b)
        path.append(w)
    return np.array(path)


@sgd.wrong(
    "the start is not in the path",
    advice="With T batches the path has T + 1 points. Which one is missing?",
)
def _(grad, w0, lr, batches):
    w, path = w0, np.zeros((0, len(w0)))
    for t, b in enumerate(batches):
        w = w - lr(t) * grad(w, b)
        path = np.vstack([path, w])
    return path


@sgd.wrong(
    "divided by the batch size once more",
    advice="`grad` already returns the mean over the batch. What happens to your step when the batch is large?",
)
def _(grad, w0, lr, batches):
    path = [w0]
    for t, b in enumerate(batches):
        path.append(path[-1] - lr(t) * grad(path[-1], b) / len(b))
    return np.array(path)


@sgd.wrong(
    "the first rate for all steps",
    advice="With a constant rate you are right. `lr` is a function: what does it return at the next step?",
)
def _(grad, w0, lr, batches):
    path, rate = [w0], lr(0)
    for b in batches:
        path.append(path[-1] - rate * grad(path[-1], b))
    return np.array(path)


@sgd.right("into an array made beforehand")
def _(grad, w0, lr, batches):
    path = np.empty((len(batches) + 1, len(w0)))
    path[0] = w0
    for t in range(len(batches)):
        path[t + 1] = path[t] - lr(t) * grad(path[t], batches[t])
    return path


@sgd.right("by accumulate, as a list of arrays")
def _(grad, w0, lr, batches):
    return list(
        itertools.accumulate(
            enumerate(batches), lambda w, tb: w - lr(tb[0]) * grad(w, tb[1]), initial=w0
        )
    )


# ── grad_variance ────────────────────────────────────────────────────────────────────────────────

grad_variance = Exercise(
    "grad_variance",
    reference=reference.grad_variance,
    compare=close(rtol=1e-8),
    batched=("G",),
    hints=[
        "Start with B = 1: one row of G, each equally likely. What is the variance of that? Then think of B independent draws.",
        "A single draw has variance $\\sigma^2$, the mean squared distance of the rows from their mean (divide by n). "
        "The mean of B independent draws has $\\sigma^2 / B$.",
        "Without replacement multiply by the factor derived above, $(n - B)/(n - 1)$. `G.var(axis=0)` divides by n.",
    ],
)


@grad_variance.cases
def _(rng):
    G = rng.normal(size=(5, 2)) * [1.0, 3.0] + [2.0, -1.0]
    yield "a batch of one", dict(G=G, B=1, replace=True)
    yield "a batch of one", dict(G=G, B=1, replace=False)
    yield "with replacement", dict(G=G, B=2, replace=True)
    yield "with replacement", dict(G=G, B=3, replace=True)
    yield "without replacement", dict(G=G, B=2, replace=False)
    yield "without replacement", dict(G=G, B=4, replace=False)
    yield "the whole data set without replacement", dict(G=G, B=5, replace=False)
    yield (
        "equal gradients have no noise",
        dict(G=np.tile(rng.normal(size=2), (4, 1)), B=2, replace=True),
    )


@grad_variance.wrong(
    "the same formula with and without replacement",
    advice="Take B = n without replacement: the batch is the whole data set. How much can its mean vary?",
)
def _(G, B, replace):
    return G.var(axis=0) / B


@grad_variance.wrong(
    "the sample variance, divided by n − 1",
    advice="Nothing is estimated here: the n rows are all there is. For B = 1, list the n outcomes and average their squared distances.",
)
def _(G, B, replace):
    n = len(G)
    return G.var(axis=0, ddof=1) / B * (1 if replace else (n - B) / (n - 1))


@grad_variance.wrong(
    "the standard deviation",
    advice="A variance has the unit of the gradient squared: doubling G must make it four times as large.",
)
def _(G, B, replace):
    n = len(G)
    return np.sqrt(G.var(axis=0) / B * (1 if replace else (n - B) / (n - 1)))


@grad_variance.wrong(
    "the variance of one row, whatever B",
    advice="Compare B = 1 with B = 4. Does averaging not help?",
)
def _(G, B, replace):
    n = len(G)
    return G.var(axis=0) * (1 if replace else (n - B) / (n - 1))


@grad_variance.wrong(
    "the correction is (n − B)/n",
    advice="Test B = 1: with one row it cannot matter whether it is put back. What must the factor be then?",
)
def _(G, B, replace):
    n = len(G)
    return G.var(axis=0) / B * (1 if replace else (n - B) / n)


@grad_variance.wrong(
    "1/B²: each row is scaled by 1/B",
    advice="Scaling by 1/B gives 1/B² for each row, but B rows are added. What is the variance of their sum?",
)
def _(G, B, replace):
    n = len(G)
    return G.var(axis=0) / B**2 * (1 if replace else (n - B) / (n - 1))


@grad_variance.wrong(
    "squares without the mean taken off",
    advice="Equal gradients have no noise at all, however long they are. What does yours say about them?",
)
def _(G, B, replace):
    n = len(G)
    return (G**2).mean(axis=0) / B * (1 if replace else (n - B) / (n - 1))


@grad_variance.wrong(
    "one variance for all coordinates",
    advice="Each column of G has its own mean and its own variance: d numbers come out.",
)
def _(G, B, replace):
    n = len(G)
    return G.var() / B * (1 if replace else (n - B) / (n - 1))


@grad_variance.right("by listing every batch")
def _(G, B, replace):
    n = len(G)
    batches = (
        itertools.product(range(n), repeat=B)
        if replace
        else itertools.combinations(range(n), B)
    )
    return np.array([G[list(b)].mean(axis=0) for b in batches]).var(axis=0)


@grad_variance.right("in torch")
def _(G, B, replace):
    G = torch.tensor(np.asarray(G), dtype=torch.float64)
    n = len(G)
    spread = ((G - G.mean(0)) ** 2).sum(0)
    return spread / (n * B) if replace else spread * (n - B) / (n * B * (n - 1))


# ── lr_schedule ──────────────────────────────────────────────────────────────────────────────────

lr_schedule = Exercise(
    "lr_schedule",
    reference=reference.lr_schedule,
    compare=close(
        rtol=1e-5
    ),  # the probe returns Python floats: a float32 answer must pass by this tolerance alone
    batched=("ts",),
    hints=[
        "Two phases. Treat the warm-up first and return; what is left is the decay.",
        "For the cosine, compute the share of the decay that is done: 0 at `warmup`, 1 at `total`, and never more than 1.",
        "Cosine: floor plus (base - floor) times (1 + cos(π times the share of the way)) over 2. Inverse root: "
        "`base` times the root of a quotient that is 1 at t = `warmup`.",
    ],
)


@lr_schedule.probe
def _(answer, ts, **settings):
    return [float(answer(int(t), **settings)) for t in ts]


@lr_schedule.cases
def _(rng):
    base, warmup = float(rng.uniform(0.2, 0.9)), int(rng.integers(4, 9))
    total = warmup + 2 * int(rng.integers(6, 12))
    middle = (warmup + total) // 2
    cosine = dict(base=base, warmup=warmup, total=total, kind="cosine", floor=base / 10)
    rsqrt = dict(base=base, warmup=warmup, total=total, kind="rsqrt", floor=base / 2)
    yield "linear warm-up", dict(ts=np.array([0, 1, 2, warmup - 1]), **cosine)
    yield "linear warm-up", dict(ts=np.array([0, 1, 2, warmup - 1]), **rsqrt)
    yield (
        "cosine after the warm-up",
        dict(ts=np.array([warmup, warmup + 1, middle, total - 1]), **cosine),
    )
    yield (
        "cosine stays at the floor",
        dict(ts=np.array([total, total + 1, total + warmup, 2 * total]), **cosine),
    )
    yield (
        "inverse square root",
        dict(ts=np.array([warmup, warmup + 1, 4 * warmup, 9 * warmup]), **rsqrt),
    )
    yield (
        "no warm-up starts at base",
        dict(ts=np.array([0, 1, 2, 3]), **(cosine | dict(warmup=0))),
    )


@lr_schedule.wrong(
    "the warm-up is stretched over the whole run",
    advice="The rate must have reached base at t = warmup. What is yours there?",
)
def _(t, base, warmup, total, kind, floor=0.0):
    if t < warmup:
        return base * t / total
    share = min(1, (t - warmup) / (total - warmup))
    return (
        floor + (base - floor) * (1 + np.cos(np.pi * share)) / 2
        if kind == "cosine"
        else base * (warmup / t) ** 0.5
    )


@lr_schedule.wrong(
    "the decay counts from step 0",
    advice="At the end of the warm-up the rate jumps down. From which step on should the decay be counted?",
)
def _(t, base, warmup, total, kind, floor=0.0):
    if t < warmup:
        return base * t / warmup
    share = min(1, t / total)
    return (
        floor + (base - floor) * (1 + np.cos(np.pi * share)) / 2
        if kind == "cosine"
        else base / max(t, 1) ** 0.5
    )


@lr_schedule.wrong(
    "the cosine climbs again after the end",
    advice="Look at steps beyond total: a cosine is periodic. What should stop it?",
)
def _(t, base, warmup, total, kind, floor=0.0):
    if t < warmup:
        return base * t / warmup
    share = (t - warmup) / (total - warmup)
    return (
        floor + (base - floor) * (1 + np.cos(np.pi * share)) / 2
        if kind == "cosine"
        else base * (warmup / t) ** 0.5
    )


@lr_schedule.wrong(
    "the floor is added on top",
    advice="At the end of the warm-up your rate is base + floor. By how much should the cosine fall in all?",
)
def _(t, base, warmup, total, kind, floor=0.0):
    if t < warmup:
        return base * t / warmup
    share = min(1, (t - warmup) / (total - warmup))
    return (
        floor + base * (1 + np.cos(np.pi * share)) / 2
        if kind == "cosine"
        else base * (warmup / t) ** 0.5
    )


@lr_schedule.wrong(
    "the warm-up starts at step 1",
    advice="Step 0 has rate 0 here, and step `warmup` is the first with the full rate.",
)
def _(t, base, warmup, total, kind, floor=0.0):
    if t < warmup:
        return base * (t + 1) / warmup
    share = min(1, (t - warmup) / (total - warmup))
    return (
        floor + (base - floor) * (1 + np.cos(np.pi * share)) / 2
        if kind == "cosine"
        else base * (warmup / t) ** 0.5
    )


def _with_decay(cosine, rsqrt=None, climb=None):
    """A schedule with another decay; cosine(share, base, floor), rsqrt(t, base, warmup, floor)."""

    def schedule(t, base, warmup, total, kind, floor=0.0):
        if t < warmup:
            return (climb or (lambda s, base, floor: s * base))(t / warmup, base, floor)
        if kind == "rsqrt":
            return (
                rsqrt(t, base, warmup, floor) if rsqrt else base * (warmup / t) ** 0.5
            )
        return cosine((t - warmup) / (total - warmup), base, floor)

    return schedule


def _half_cosine(share, base, floor):
    return floor + (base - floor) * (1 + np.cos(np.pi * min(1, share))) / 2


lr_schedule.wrong(
    "zero after the end",
    advice="The last rate is `floor`, and it stays there. What is yours one step after `total`?",
)(_with_decay(lambda s, base, floor: 0.0 if s > 1 else _half_cosine(s, base, floor)))

lr_schedule.wrong(
    "a cosine to zero, cut off at the floor",
    advice="Half-way through the decay the rate is the mean of base and floor. Does yours get there?",
)(_with_decay(lambda s, base, floor: max(floor, _half_cosine(s, base, 0.0))))

lr_schedule.wrong(
    "the floor holds the inverse root too",
    advice='`floor` is part of the cosine only. With "rsqrt" the rate goes on falling.',
)(
    _with_decay(
        _half_cosine, rsqrt=lambda t, b, w, floor: max(floor, b * (w / t) ** 0.5)
    )
)

lr_schedule.wrong(
    "the inverse root counts from the end of the warm-up",
    advice="At four times the warm-up the rate should have halved. Which t stands under the root?",
)(_with_decay(_half_cosine, rsqrt=lambda t, b, w, floor: b / (t - w + 1) ** 0.5))

lr_schedule.wrong(
    "the warm-up climbs from the floor",
    advice="The climb starts at 0; `floor` is where the cosine ends. What is your rate at t = 0?",
)(_with_decay(_half_cosine, climb=lambda s, base, floor: floor + s * (base - floor)))


@lr_schedule.right(
    "one minimum for warm-up and inverse root, half angles for the cosine"
)
def _(t, base, warmup, total, kind, floor=0.0):
    if kind == "rsqrt":
        return base * min(t / warmup, np.sqrt(warmup / max(t, 1)))
    angle = np.pi / 2 * np.clip((t - warmup) / (total - warmup), 0, 1)
    return (
        base * t / warmup
        if t < warmup
        else base * np.cos(angle) ** 2 + floor * np.sin(angle) ** 2
    )


@lr_schedule.right("in torch, single precision")
def _(t, base, warmup, total, kind, floor=0.0):
    if t < warmup:
        return torch.tensor(base * t / warmup)
    if kind == "rsqrt":
        return base * torch.tensor(warmup / t).sqrt()
    share = torch.tensor((t - warmup) / (total - warmup)).clamp(max=1.0)
    return torch.lerp(
        torch.tensor(floor), torch.tensor(base), (1 + torch.cos(torch.pi * share)) / 2
    )


# ── accumulate ───────────────────────────────────────────────────────────────────────────────────

accumulate = Exercise(
    "accumulate",
    reference=lambda X, y, w, batches: dict(
        gradient=reference.accumulate(X, y, w, batches),
        most_rows_at_once=max(len(b) for b in batches),
    ),
    compare=parts(gradient=close(rtol=1e-8), most_rows_at_once=exact()),
    hints=[
        "Each `grad(w, b)` is already a mean over `len(b)` rows. Which sum does it come from?",
        "Undo each mean (multiply by `len(b)`), add the sums up, and divide once by the number of all rows.",
        "Keep two running totals in the loop: one of `len(b) * grad(w, b)`, one of `len(b)`.",
    ],
)


@accumulate.probe
def _(answer, X, y, w, batches):
    most = 0

    def grad(w, idx):
        nonlocal most
        most = max(most, len(idx))
        return X[idx].T @ (X[idx] @ w - y[idx]) / len(idx)

    gradient = answer(grad, w, batches)
    return dict(gradient=gradient, most_rows_at_once=most)


@accumulate.cases
def _(rng):
    X, w = rng.normal(size=(8, 2)), rng.normal(size=2)
    y = rng.normal(size=8) + 3
    order = rng.permutation(8)
    yield (
        "micro-batches of equal size",
        dict(X=X, y=y, w=w, batches=[order[:2], order[2:4], order[4:6]]),
    )
    yield (
        "micro-batches of unequal size",
        dict(X=X, y=y, w=w, batches=[order[:4], order[4:7], order[7:]]),
    )
    yield (
        "micro-batches of unequal size",
        dict(X=X, y=y, w=w, batches=[order[:1], order[1:6]]),
    )
    yield "a single micro-batch", dict(X=X, y=y, w=w, batches=[order[:3]])


@accumulate.wrong(
    "every micro-batch weighs the same",
    advice="With equal sizes you are right. A micro-batch of one row now speaks as loudly as one of four.",
)
def _(grad, w, batches):
    return np.mean([grad(w, b) for b in batches], axis=0)


@accumulate.wrong(
    "gradients added up, never divided",
    advice="A framework adds gradients up by itself. Compare the length of yours with that of the large batch: what is the factor?",
)
def _(grad, w, batches):
    return np.sum([grad(w, b) for b in batches], axis=0)


@accumulate.wrong(
    "only the last micro-batch",
    advice="Each pass through the loop replaces what you had. Which line should add to it?",
)
def _(grad, w, batches):
    for b in batches:
        g = grad(w, b)
    return g


@accumulate.wrong(
    "w moves between the micro-batches",
    advice="All micro-batches must see the same w: the step comes once, after the last of them.",
)
def _(grad, w, batches):
    total, v = np.zeros(len(w)), w.copy()
    for b in batches:
        g = grad(v, b)
        total, v = total + len(b) * g, v - 0.1 * g
    return total / sum(len(b) for b in batches)


@accumulate.wrong(
    "divided by the number of micro-batches",
    advice="You have the sum over all rows. How many rows went into it?",
)
def _(grad, w, batches):
    return sum(len(b) * grad(w, b) for b in batches) / len(batches)


@accumulate.wrong(
    "all rows in one call",
    advice="The gradient is right, but the large batch does not fit into memory: no call may see more rows than one micro-batch.",
)
def _(grad, w, batches):
    return grad(w, np.concatenate(batches))


@accumulate.wrong(
    "means added up, divided by the number of rows",
    advice="A single micro-batch should give back its own gradient. What does yours give, and what is the factor?",
)
def _(grad, w, batches):
    return sum(grad(w, b) for b in batches) / sum(len(b) for b in batches)


@accumulate.right("a loop over the entries, as a list")
def _(grad, w, batches):
    parts, n = [(len(b), grad(w, b)) for b in batches], sum(map(len, batches))
    return [sum(m * g[j] for m, g in parts) / n for j in range(len(w))]


@accumulate.right("a weighted average by numpy")
def _(grad, w, batches):
    return np.average(
        [grad(w, b) for b in batches], axis=0, weights=[len(b) for b in batches]
    )


@accumulate.right("a running mean")
def _(grad, w, batches):
    g, rows = np.zeros(len(w)), 0
    for b in batches:
        rows += len(b)
        g = g + (grad(w, b) - g) * len(b) / rows
    return g


# ── clip_by_norm ─────────────────────────────────────────────────────────────────────────────────

clip_by_norm = Exercise(
    "clip_by_norm",
    reference=reference.clip_by_norm,
    compare=close(rtol=2e-5),  # torch adds 1e-6 to the norm, here at least 0.1
    hints=[
        "All arrays together form one long vector. What is its length, and when must it change?",
        "The squared norm is the sum of all squared entries of all arrays. The factor is the same for every array, and at most 1.",
        "`factor = min(1, c / norm)`, but a norm of 0 must not be divided by: return copies when `norm <= c`.",
    ],
)


@clip_by_norm.cases
def _(rng):
    grads = [rng.normal(size=(2, 3)) * 4, rng.normal(size=3) + 2, np.array([7.0])]
    norm = float(np.sqrt(sum((g**2).sum() for g in grads)))
    yield "too long: shortened to c", dict(grads=grads, c=norm / 3)
    yield (
        "too long: shortened to c",
        dict(grads=[g * 0.01 for g in grads], c=norm / 1000),
    )
    yield "short enough: unchanged", dict(grads=grads, c=2 * norm)
    yield "short enough: unchanged", dict(grads=[g * 0.01 for g in grads], c=1.0 + norm)
    yield (
        "all long or all short is not the question",
        dict(grads=[np.array([3.0, 0.0]), np.array([0.0, 4.0])], c=4.5),
    )
    yield (
        "a zero gradient stays zero",
        dict(grads=[np.zeros(2), np.zeros((1, 2))], c=1.0),
    )


@clip_by_norm.wrong(
    "each array by its own norm",
    advice="The arrays are parts of one gradient. Scaling them by different factors turns its direction.",
)
def _(grads, c):
    return [g * min(1, c / max(np.linalg.norm(g), 1e-300)) for g in grads]


@clip_by_norm.wrong(
    "entries clipped, not the norm",
    advice="Clipping each entry to [−c, c] bends the direction and leaves a vector that may still be longer than c.",
)
def _(grads, c):
    return [np.clip(g, -c, c) for g in grads]


@clip_by_norm.wrong(
    "always scaled to length c",
    advice="A gradient shorter than c must come back unchanged. Yours is stretched.",
)
def _(grads, c):
    norm = np.sqrt(sum((g**2).sum() for g in grads))
    return [g * c / norm if norm > 0 else g.copy() for g in grads]


@clip_by_norm.wrong(
    "the root is missing",
    advice="Compute the norm of what you return: is it c? The norm is the root of the sum of squares.",
)
def _(grads, c):
    norm = sum((g**2).sum() for g in grads)
    return [g * min(1, c / max(norm, 1e-300)) for g in grads]


@clip_by_norm.wrong(
    "the norms are added",
    advice="Lengths of perpendicular parts do not add: 3 and 4 make 5. Add the squares first.",
)
def _(grads, c):
    norm = sum(np.linalg.norm(g) for g in grads)
    return [g * min(1, c / max(norm, 1e-300)) for g in grads]


@clip_by_norm.wrong(
    "the longest array decides",
    advice="The norm of the whole is more than the norm of its longest part. What is it for parts of length 3 and 4?",
)
def _(grads, c):
    norm = max(np.linalg.norm(g) for g in grads)
    return [g * min(1, c / max(norm, 1e-300)) for g in grads]


@clip_by_norm.right("as one long vector")
def _(grads, c):
    long = np.concatenate([g.ravel() for g in grads])
    norm = np.linalg.norm(long)
    long = long if norm <= c else long * (c / norm)
    ends = np.cumsum([g.size for g in grads])[:-1]
    return [
        part.reshape(g.shape)
        for part, g in zip(np.split(long, ends), grads, strict=True)
    ]


@clip_by_norm.right("by torch's clip_grad_norm_, single precision")
def _(grads, c):
    parameters = [torch.zeros(g.shape, requires_grad=True) for g in grads]
    for p, g in zip(parameters, grads, strict=True):
        p.grad = torch.tensor(g, dtype=torch.float32)
    torch.nn.utils.clip_grad_norm_(parameters, c)
    return [p.grad for p in parameters]


@clip_by_norm.right("by torch's clip_grad_norm_, double precision")
def _(grads, c):
    parameters = [
        torch.zeros(g.shape, dtype=torch.float64, requires_grad=True) for g in grads
    ]
    for p, g in zip(parameters, grads, strict=True):
        p.grad = torch.tensor(g)
    torch.nn.utils.clip_grad_norm_(parameters, c)
    return [p.grad.numpy() for p in parameters]

"""Exercises of 03_optimisation/03_stochastic_training."""

import itertools
import math

import numpy as np
import torch

from descent.compare import close, exact, parts
from solutions.spec import Exercise

from . import reference

# --------------------------------------------------------------------------------- perceptron_grad

perceptron_grad = Exercise(
    "perceptron_grad",
    reference=reference.perceptron_grad,
    compare=close(rtol=1e-8),
    batched=("w",),
    hints=[
        "Go through the rows of idx one by one. When does a row say anything at all?",
        "Where y times the score is at most 0, the row adds minus y times x to a sum that began as d zeros.",
        "Divide the sum by the number of rows in idx, silent ones included. Look a row up as X[i], y[i].",
    ],
)


def _labelled(rng, scores):
    """w (3,), X, y where y_i <w, x_i> is scores[i]: mistakes are those up to 0."""
    scores = np.array(scores)
    w = rng.choice([-1.0, 1.0], 3) * rng.uniform(0.5, 1.5, 3)
    y = rng.permutation([1.0, -1.0] * len(scores))[: len(scores)]
    X = rng.normal(size=(len(scores), 3))
    return w, X + np.outer(y * scores - X @ w, w) / (w @ w), y


@perceptron_grad.cases
def _(rng):
    # right rows stand close to the line too: a score of 0.3 is no mistake
    w, X, y = _labelled(rng, [-0.4, 0.3, -2.0, -0.1, 0.6, 3.0])

    def over(*idx, w=w):
        return dict(w=w, X=X, y=y, idx=np.array(idx))

    yield "the mean over all rows", over(*rng.permutation(6))
    yield "the mean over a batch", over(1, 2, 3)
    yield "the mean over a batch", over(5, 4, 0)
    yield "a row named twice counts twice", over(0, 5, 0, 2)
    yield "one row on the wrong side", over(2)
    yield "no mistakes, no gradient", over(1, 4, 5)
    yield "a score of exactly 0 is a mistake", over(0, 1, 2, 3, 4, 5, w=np.zeros(3))
    whole = np.array([2, -1, 3])
    yield "whole numbers", dict(w=whole, X=rng.integers(1, 5, (4, 3)) * whole, y=np.array([1, -1, -1, 1]), idx=np.arange(4))  # fmt: skip


perceptron_grad.mistakes(
    {
        "the step in place of the gradient": (
            "total - y[i] * X[i]",
            "total + y[i] * X[i]",
            "Your vector points where w should move. The gradient points to where the loss grows.",
        ),
        "divided by the number of mistakes": (
            "len(idx)",
            "max(1, sum(y[i] * (X[i] @ w) <= 0 for i in idx))",
            "A row without a mistake adds nothing to the sum. Does it count in the mean?",
        ),
        "a score of exactly 0 counts as right": (
            "<= 0",
            "< 0",
            "Start at w = 0: every score is 0. Can w ever leave it?",
        ),
        "right rows that are close count too": (
            "<= 0",
            "< 1",
            "That is the hinge loss. Here a row on its right side is silent, however close.",
        ),
        "every row counts as a mistake": (
            "y[i] * (X[i] @ w) <= 0",
            "True",
            "A row on its right side has loss 0, and so has every w near yours. Which gradient is that?",
        ),
        "the sum in place of the mean": (
            "total / len(idx)",
            "total",
            "For a single row you are right. By which factor are you off for three?",
        ),
        "a row named twice counts once": (
            "for i in idx",
            "for i in set(idx)",
            "idx may name a row twice, as draws do that put rows back. How often is it then in the mean?",
        ),
    }
)
perceptron_grad.worked(
    why=r"""A mean of gradients is the gradient of the mean, so the rows can be asked one by one, and any choice of rows gives an
    estimate of the full gradient. Silent rows add nothing but count: their share is how far training has come."""
)


@perceptron_grad.right("without a loop")
def _(w, X, y, idx):
    mistakes = y[idx] * (X[idx] @ w) <= 0
    return -X[idx].T @ (mistakes * y[idx]) / len(idx)


# ------------------------------------------------------------------------------------- minibatches

minibatches = Exercise(
    "minibatches",
    reference=reference.batch_report,
    compare=exact(),
    hints=[
        "Think of a deck of n cards: shuffle once, then deal B at a time. Which of the two needs the generator?",
        "rng.permutation(n) is the shuffled deck. The batches begin at its places 0, B, 2B, …",
        "A slice order[first : first + B] ends with the array, so the last one may be short. With drop_last the batches "
        "end n % B places earlier.",
    ],
)


@minibatches.probe
def _(answer, n, B, seed, drop_last):
    rng = np.random.default_rng(seed)

    def deal(rng):
        return [[int(i) for i in b] for b in answer(n, B, rng, drop_last)]

    epochs = [deal(rng) for _ in range(8)]
    again = deal(np.random.default_rng(seed))
    first, everything = epochs[0], [i for b in epochs[0] for i in b]
    same = {frozenset(b) for b in first if len(b) > 4} & set(map(frozenset, epochs[1]))
    dealt = {i for batches in epochs for b in batches for i in b}
    # With batches of 5 or more out of at least 35 rows, chance does these things less than once in 10 000 times.
    mixed = n >= 35
    return dict(
        sizes=[len(b) for b in first],
        no_row_twice=not mixed or len(set(everything)) == len(everything),
        rows_outside=sum(not 0 <= i < n for i in everything),
        rows_in_order=mixed and everything == sorted(everything),
        batches_of_neighbours=sum(
            len(b) > 4 and max(b) - min(b) == len(b) - 1 for b in first
        )
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

    def pack(n, B, drop_last, number):
        return dict(n=n, B=B, seed=seed + number, drop_last=drop_last)

    yield "every row once an epoch", pack(5 * B, B, False, 0)
    yield "new batches every epoch, from rng", pack(6 * B, B, True, 1)
    yield "the short last batch is kept", pack(5 * B + 5, B, False, 2)
    yield "the short last batch is kept", pack(5 * B + 1, B, False, 3)
    yield "the short last batch is dropped on demand", pack(5 * B + 5, B, True, 4)
    yield "a batch larger than the data", pack(3, 5, False, 5)
    yield "a batch larger than the data", pack(3, 5, True, 6)
    yield "batches of one", pack(5, 1, True, 7)
    yield (
        "one batch of all rows",
        pack(4, 4, True, 8),
    )


minibatches.mistakes(
    {
        "rows drawn with replacement": (
            "rng.permutation(n)",
            "rng.integers(0, n, n)",
            "Count the different rows of one epoch. Who is missing, and who was met twice?",
        ),
        "never shuffled": (
            "rng.permutation(n)",
            "np.arange(n)",
            "Call your function twice with the same rng: are the batches of the second epoch other ones?",
        ),
        "its own generator with a fixed seed": (
            "rng.permutation",
            "np.random.default_rng(0).permutation",
            "A generator made inside the function starts anew at each call: every epoch is the same.",
        ),
        "another generator than rng": (
            "rng.permutation",
            "np.random.default_rng().permutation",
            "The same seed has to give the same batches. Which generator were you handed?",
        ),
        "rows are shuffled within their batch only": (
            "order[first : first + B]",
            "rng.permutation(np.arange(n)[first : first + B])",
            "Rows 0 and 1 always meet. Shuffle before you deal, not after.",
        ),
        "the short batch is always dropped": (
            " if drop_last else n",
            "",
            "With n = 7 and B = 3 the last batch has one row. When does it go?",
        ),
        "the short batch is always kept": (
            "n - n % B if drop_last else n",
            "n",
            "With drop_last=True: is every batch of size B?",
        ),
        "the rows left out are always the same": (
            "order = rng.permutation(n)",
            "order = rng.permutation(n - n % B if drop_last else n)",
            "In which epoch is it the last row's turn? Shuffle all n rows, then deal.",
        ),
        "an empty batch at the end": (
            "n - n % B if drop_last else n",
            "n - n % B + (not drop_last)",
            "Where B divides n: how many rows are left for the last batch?",
        ),
        "rows counted from 1": (
            "rng.permutation(n)",
            "rng.permutation(n) + 1",
            "Python counts from 0. Is there a row n?",
        ),
        "a full last batch is dropped too": (
            "n - n % B if",
            "n - (n % B or B) if",
            "Where B divides n no batch is short. Look at its length before you drop it.",
        ),
    }
)
minibatches.worked(
    why=r"""One shuffle of all rows makes every batch a draw without putting back, so at a fixed w each batch gradient is unbiased (within an
    epoch w knows the rows already dealt: a small bias), and an epoch looks at each row once. The generator comes from outside: a fresh epoch goes on where the last one stopped, and a run
    can be repeated. With `drop_last` another few rows sit out each time, because the shuffle comes first."""
)


@minibatches.right("a generator of lists, shuffled in place")
def _(n, B, rng, drop_last=False):
    order = list(range(n))
    rng.shuffle(order)
    while len(order) >= B or (order and not drop_last):
        yield order[:B]
        order = order[B:]


@minibatches.right("by PyTorch's loader", library="torch.utils.data.DataLoader")
def _(n, B, rng, drop_last=False):
    seed = int(rng.integers(2**31))
    return torch.utils.data.DataLoader(
        range(n),
        batch_size=B,
        shuffle=True,
        drop_last=drop_last,
        generator=torch.Generator().manual_seed(seed),
    )


# ------------------------------------------------------------------------------------------- train

train = Exercise(
    "train",
    reference=reference.train,
    compare=parts(
        best=close(rtol=1e-8, atol=1e-10),
        scores=close(rtol=1e-8, atol=1e-10),
        updates=exact(),
        epochs_dealt=exact(),
        scores_asked=exact(),
    ),
    data_dependent="where a run ends hangs on its scores",
    hints=[
        "Two loops: epochs outside, the batches of one epoch inside. What has to survive from epoch to epoch?",
        "Keep apart where you are (w, and the number of updates) and the record (the best w, its score, and how many "
        "epochs have gone by since). Only the second is looked at when an epoch is over.",
        "After an epoch: append the score, wait one longer; if it is below the record, the record is new and the waiting "
        "starts at 0. Go on while there are epochs left and you have waited less than patience.",
    ],
)


@train.probe
def _(answer, X, goal, w0, deals, lr0, slowing, max_epochs, patience):
    dealt, asked = [], []

    def grad(w, idx):
        return np.asarray(w) - X[idx].mean(axis=0)

    def score(w):
        asked.append(0)
        return float(np.sum((np.asarray(w) - goal) ** 2))

    def deal():
        dealt.append(0)
        return deals[(len(dealt) - 1) % len(deals)]

    def lr(t):
        return lr0 / (1 + slowing * t)

    best, scores, updates = answer(grad, score, w0, deal, lr, max_epochs, patience)
    return dict(
        best=best,
        scores=scores,
        updates=updates,
        epochs_dealt=len(dealt),
        scores_asked=len(asked),
    )


@train.cases
def _(rng):
    def run(
        X, deals, w0=None, goal=None, lr0=1.0, slowing=0.0, max_epochs=None, patience=9
    ):
        w0 = rng.uniform(3, 4, 2) if w0 is None else w0
        deals = [[np.array(b) for b in batches] for batches in deals]
        return dict(
            X=np.array(X, float),
            goal=np.zeros(len(X[0])) if goal is None else goal,
            w0=np.asarray(w0),
            deals=deals,
            lr0=lr0,
            slowing=slowing,
            max_epochs=len(deals) if max_epochs is None else max_epochs,
            patience=patience,
        )

    # With rate 1 a batch of one row leads straight to it, and its score is its squared length: the scores are planted.
    def planted(*lengths, start=5.0, patience=9, **more):
        turn, far = rng.uniform(0, 2 * math.pi, len(lengths)), np.array(lengths)
        X = np.stack([far * np.cos(turn), far * np.sin(turn)], axis=1)
        deals = [[[i, i]] for i in range(len(far))]
        return run(X, deals, w0=[start, 0.0], patience=patience, **more)

    X = rng.normal(size=(6, 2)) * [1.0, 2.0] + [1.0, -1.0]
    order = rng.permutation(6)
    pairs = [order[:2], order[2:4], order[4:]]
    uneven = [[order[:3], order[3:5], order[5:]], [order[::2], order[1::2]], [order]]
    goal = X.mean(axis=0)
    yield "step after step", run(X, [pairs], goal=goal, lr0=0.3)
    yield "step after step", run(X, uneven, goal=goal, lr0=0.2)
    yield "updates are counted through all epochs", run(X, uneven, goal=goal, lr0=0.4, slowing=0.5)  # fmt: skip
    yield "updates are counted through all epochs", run(X, [pairs, pairs], goal=goal, lr0=0.9, slowing=1.0)  # fmt: skip
    yield "the best w, not the last", planted(3.0, 1.0, 2.0)
    yield "the best w, not the last", planted(2.0, 4.0, 1.5, 3.0)
    yield "patience is counted from the last record", planted(3.0, 4.0, 2.0, 2.5, 2.2, 1.0, patience=2)  # fmt: skip
    yield (
        "patience is counted from the last record",
        planted(3.0, 3.5, 2.0, 1.0, patience=1),
    )
    yield (
        "a rise is forgiven within the patience",
        planted(3.0, 4.0, 3.5, 1.0, 2.0, patience=3),
    )
    # better than the epoch before is no record
    yield "the record counts, not the epoch before", planted(1.0, 3.0, 2.0, 1.5, 0.5, patience=2)  # fmt: skip
    # three rows of length 3, exactly
    ties = run([[3.0, 0.0], [0.0, 3.0], [0.0, -3.0], [1.0, 0.0]], [[[0]], [[1]], [[2]], [[3]]], patience=2, w0=rng.uniform(4, 5, 2))  # fmt: skip
    yield "equal, or nan, is no record", ties
    yield "equal, or nan, is no record", ties | dict(patience=5, max_epochs=3)
    yield "the best w, not the last", planted(6.0, 7.0, 5.5, patience=2, start=rng.uniform(1, 2))  # fmt: skip
    nan = planted(2.0, 3.0, 4.0, patience=2)
    nan["X"][1] = math.nan
    yield "equal, or nan, is no record", nan
    lost = planted(2.0, 3.0, 4.0)
    lost["X"][0] = math.nan
    yield "equal, or nan, is no record", lost
    yield "no more than max_epochs", planted(4.0, 3.0, 2.0, 1.0, max_epochs=2)
    yield "no more than max_epochs", planted(4.0, 3.0, max_epochs=0)
    yield "step after step", run(X, [pairs, pairs], goal=goal, lr0=0.25, w0=[7, -6])  # fmt: skip
    yield "step after step", run(X, [[], pairs], goal=goal, lr0=0.3)


RECORD = "best, lowest, waited = w, scores[-1], 0"
train.mistakes(
    {
        "steps uphill": (
            "w - lr(t)",
            "w + lr(t)",
            "Which way does the gradient point: to where the loss grows, or to where it falls?",
        ),
        "the gradient is always taken at the start": (
            "grad(w, idx)",
            "grad(w0, idx)",
            "After the first step you stand elsewhere. At which point is the next gradient taken?",
        ),
        "the first update is number 1": (
            "lr(t)",
            "lr(t + 1)",
            "With a constant rate you are right, with a falling one not. Which rate is the first?",
        ),
        "updates counted anew in each epoch": (
            "        for idx in deal():",
            "        t = 0\n        for idx in deal():",
            "Your rate is back at its first value in every epoch.",
        ),
        "the rate changes with the epochs": (
            "lr(t)",
            "lr(len(scores) - 1)",
            "lr counts updates: how many are there in one epoch?",
        ),
        "one deal for all epochs": (
            "    while len(scores)",
            "    dealt = deal()\n    deal = lambda: dealt\n    while len(scores)",
            "Each epoch wants a fresh shuffle. How often do you call deal?",
        ),
        "divided by the batch size once more": (
            "grad(w, idx)",
            "grad(w, idx) / len(idx)",
            "grad is the mean already. What happens to your step when the batch is large?",
        ),
        "the last w": (
            "return best,",
            "return w,",
            "Where the scores rise again at the end: which w did you keep?",
        ),
        "patience is never refilled": (
            RECORD,
            "best, lowest = w, scores[-1]",
            "The waiting begins anew with each record. Where do you set it back?",
        ),
        "better than the epoch before is enough": (
            "scores[-1] < lowest",
            "scores[-1] < scores[-2]",
            "A score may fall and still be above the lowest so far. Is that a record?",
        ),
        "an equal score is a record": (
            "scores[-1] < lowest",
            "scores[-1] <= lowest",
            "Of equal scores the first w counts, and the waiting goes on.",
        ),
        "the start cannot win": (
            "lowest = score(w0)\n    scores = [lowest]",
            "lowest = math.inf\n    scores = [score(w0)]",
            "Every epoch may be worse than the start. What do you return then?",
        ),
        "nan is a record": (
            "scores[-1] < lowest",
            "not scores[-1] >= lowest",
            "Compare nan with any number: nothing holds. Can it be better?",
        ),
        "one epoch of patience too many": (
            "waited < patience",
            "waited <= patience",
            "After how many epochs without a record is it over?",
        ),
    }
)
train.worked(
    why=r"""The loop keeps two things apart: the walk (w, t), which goes on whatever happens, and the record (best, lowest,
    waited), which is looked at once an epoch. `w = w - …` makes a new array each time, so `best` and `w0` stay what they were.
    Gradient, deal, rate and score come in as functions: full-batch descent, a schedule, clipping or accumulation
    are other arguments, not other loops. Comparing with `<` settles ties (the first stays) and nan (never better)."""
)


@train.right("a for loop, in place on a copy, the record by its number")
def _(grad, score, w0, deal, lr, max_epochs, patience):
    visited, scores, t, record = [w0], [score(w0)], 0, 0
    for k in range(1, max_epochs + 1):
        w = np.array(visited[-1], float)
        for idx in deal():
            w -= lr(t) * grad(w, idx)
            t += 1
        visited.append(w)
        scores.append(score(w))
        if scores[k] < scores[record]:
            record = k
        if k - record == patience:
            break
    return visited[record], scores, t


@train.right("by torch's optimiser and scheduler", library="torch.optim.SGD")
def _(grad, score, w0, deal, lr, max_epochs, patience):
    w = torch.tensor(w0, dtype=torch.float64)
    optimiser = torch.optim.SGD([w], lr=1.0)
    rates = torch.optim.lr_scheduler.LambdaLR(optimiser, lr)
    best, scores, t, since = w.clone(), [score(w.numpy())], 0, 0
    lowest = scores[0]
    for _ in range(max_epochs):
        for idx in deal():
            w.grad = torch.as_tensor(grad(w.numpy(), idx))
            optimiser.step()
            rates.step()
            t += 1
        scores.append(score(w.numpy()))
        since += 1
        if scores[-1] < lowest:
            best, lowest, since = w.clone(), scores[-1], 0
        if since == patience:
            break
    return best.numpy(), scores, t


# ----------------------------------------------------------------------------------- grad_variance

grad_variance = Exercise(
    "grad_variance",
    reference=reference.grad_variance,
    compare=close(rtol=1e-8, atol=1e-12),  # with equal rows only rounding is left
    batched=("G",),
    hints=[
        "Begin with B = 1: one row of G, each equally likely. What is the variance of that?",
        "Put c = 0 into the formula for rows that are put back, and c = −σ²/(n − 1) for the others. What is left of B²?",
        "σ²/B, and without putting back a factor more that is 1 at B = 1 and 0 at B = n. G.var(axis=0) divides by n.",
    ],
)


@grad_variance.cases
def _(rng):
    G = rng.normal(size=(5, 2)) * [1.0, 3.0] + [2.0, -1.0]
    yield "a batch of one", dict(G=G, B=1, replace=True)
    yield "a batch of one", dict(G=G, B=1, replace=False)
    yield "put back", dict(G=G, B=2, replace=True)
    yield "put back, more draws than rows", dict(G=G, B=7, replace=True)
    yield "not put back", dict(G=G, B=2, replace=False)
    yield "not put back", dict(G=G, B=4, replace=False)
    yield "two rows, three columns", dict(G=rng.normal(size=(2, 3)), B=1, replace=False)
    yield "the whole data set, not put back", dict(G=G, B=5, replace=False)
    equal = np.tile(rng.normal(size=2) + 3, (4, 1))
    yield "equal gradients have no noise", dict(G=equal, B=2, replace=True)
    whole = rng.integers(-9, 9, (4, 2)) + np.array([[0, 30], [9, 0], [0, 0], [40, 7]])
    yield "whole numbers", dict(G=whole, B=3, replace=False)


CORRECTION = "(n - B) / (n - 1)"
grad_variance.mistakes(
    {
        "the same, put back or not": (
            "if not replace:",
            "if False:",
            "Take B = n, nothing put back: the batch is the whole set. How much can its mean vary?",
        ),
        "the two are exchanged": (
            "if not replace:",
            "if replace:",
            "When can the second draw not be the first: when rows are put back, or when they are not?",
        ),
        "divided by n − 1": (
            "var(axis=0)",
            "var(axis=0, ddof=1)",
            "Nothing is estimated here: the n rows are all there is. List the n outcomes for B = 1.",
        ),
        "the variance of one row, whatever B": (
            " / B",
            "",
            "Compare B = 1 with B = 4. Does averaging not help?",
        ),
        "the correction is (n − B)/n": (
            CORRECTION,
            "(n - B) / n",
            "Try B = 1: with one row it cannot matter whether it is put back.",
        ),
        "the mean is not taken off": (
            "G.var(axis=0)",
            "(G**2).mean(axis=0)",
            "Equal gradients have no noise, however long they are. What does yours say of them?",
        ),
        "one variance for all coordinates": (
            "G.var(axis=0)",
            "G.var()",
            "Each column has its own mean and its own variance: d numbers come out.",
        ),
    }
)
grad_variance.worked(
    why=r"""With $c = 0$ the formula is $\sigma^2/B$. With $c = -\sigma^2/(n-1)$ it is $\frac{\sigma^2}{B}\big(1 - \frac{B-1}{n-1}\big)$,
    and the bracket is $\frac{n-B}{n-1}$: 1 for one row, 0 for all. The covariance is negative because deviations add up to
    0: who has drawn a large one has fewer large ones left."""
)


@grad_variance.right("by listing every batch")
def _(G, B, replace):
    n = len(G)
    every = (
        itertools.product(range(n), repeat=min(B, 4))
        if replace
        else itertools.combinations(range(n), B)
    )
    variance = np.array([G[list(b)].mean(axis=0) for b in every]).var(axis=0)
    return variance * (min(B, 4) / B if replace else 1)


# ------------------------------------------------------------------------------------- lr_schedule

lr_schedule = Exercise(
    "lr_schedule",
    reference=reference.lr_schedule,
    # the probe returns Python floats: a float32 answer must pass by this tolerance alone
    compare=close(rtol=1e-5, atol=1e-9),
    batched=("ts",),
    hints=[
        "Two phases. Deal with the climb first and return; what is left counts from the end of the climb.",
        "Compute the share s / length once. Three kinds are one line each with it; for the cosine it must not grow beyond 1.",
        'Cosine: (base + floor) / 2 + (base − floor) / 2 · cos(π · share). "steps": compare the share with a half and with 1; '
        "exactly at each of them the higher rate still holds.",
    ],
)


@lr_schedule.probe
def _(answer, ts, **settings):
    return [float(answer(int(t), **settings)) for t in ts]


@lr_schedule.cases
def _(rng):
    base, warmup = float(rng.uniform(0.2, 0.9)), int(rng.integers(4, 9))
    length = 2 * int(rng.integers(6, 12))
    end = warmup + length

    def rates(kind, *ts, **more):
        given = dict(base=base, warmup=warmup, kind=kind, length=length, floor=base / 8)
        return dict(ts=np.array(ts)) | given | more

    for kind in ("cosine", "steps", "inverse", "root"):
        yield "the climb", rates(kind, 0, 1, 2, warmup - 1)
        yield "at the top", rates(kind, warmup)
        yield "no warm-up starts at base", rates(kind, 0, 1, 2, 3, warmup=0)
    half = warmup + length // 2
    yield "cosine on its way", rates("cosine", warmup + 1, half, end - 1)
    yield "cosine on its way", rates("cosine", warmup + 2, half + 1, floor=0.0)
    yield (
        "cosine stays at its floor",
        rates("cosine", end, end + 1, end + length, 3 * end),
    )
    yield "in steps", rates("steps", warmup + 1, half, half + 1, end, end + 1, 3 * end)
    yield "inverse", rates("inverse", warmup + 1, half, end, warmup + 9 * length)
    yield "root", rates("root", warmup + 1, half, end, warmup + 99 * length)


COSINE = "floor + (base - floor) * (1 + math.cos(math.pi * min(s, 1))) / 2"
lr_schedule.mistakes(
    {
        "the cosine is cut off at the floor": (
            COSINE,
            "max(floor, base * (1 + math.cos(math.pi * min(s, 1))) / 2)",
            "Half-way the rate is the mean of base and floor. Is yours?",
        ),
        "the floor is a share of base": (
            COSINE,
            COSINE.replace("floor", "floor * base"),
            "floor is a rate, like base. Where does your cosine end?",
        ),
        "the climb is stretched over the decay": (
            "base * t / warmup",
            "base * t / (warmup + length)",
            "Which rate must be reached at t = warmup?",
        ),
        "the climb starts at step 1": (
            "base * t / warmup",
            "base * (t + 1) / warmup",
            "Which rate has step 0, and which is the first step with the full one?",
        ),
        "the decay counts from step 0": (
            "(t - warmup) / length",
            "t / length",
            "At the end of the climb your rate jumps. From which step on does the decay count?",
        ),
        "the cosine climbs again": (
            "min(s, 1)",
            "s",
            "A cosine goes up and down for ever. What stops yours at the floor?",
        ),
        "the floor is added on top": (
            "(base - floor)",
            "base",
            "At the end of the climb your rate is above base. By how much does the cosine fall in all?",
        ),
        "the floor holds the inverse, too": (
            "return base / (1 + s)",
            "return max(floor, base / (1 + s))",
            "The floor belongs to the cosine. The others go on falling.",
        ),
        "the first step down comes too early": (
            "s <= 0.5",
            "s < 0.5",
            "At s = length / 2, exactly: which of the two rates holds?",
        ),
    }
)
lr_schedule.worked(
    why=r"""After the climb everything depends on the share $s/S$ only, so it is computed once. `min(s, 1)` stops the clock of the
    cosine: without it the rate would climb again. For a fixed number of looks the cosine fits: it is at 0 exactly
    when the looks are spent. The root with $S = W$ is the rule of the first Transformer."""
)


@lr_schedule.right("a table of functions, half angles for the cosine")
def _(t, base, warmup, kind, length, floor=0.0):
    s = max(t - warmup, 0) / length
    angle = math.pi / 2 * min(s, 1)
    decays = dict(
        steps=lambda: base * 10.0 ** -((2 * s > 1) + (s > 1)),
        inverse=lambda: base * length / (length + s * length),
        root=lambda: base * (1 + s) ** -0.5,
        cosine=lambda: base * math.cos(angle) ** 2 + floor * math.sin(angle) ** 2,
    )
    return base * t / warmup if t < warmup else decays[kind]()


@lr_schedule.right("by torch's schedulers", library="torch.optim.lr_scheduler")
def _(t, base, warmup, kind, length, floor=0.0):
    from torch.optim import lr_scheduler

    optimiser = torch.optim.SGD([torch.zeros(1)], lr=base)
    if kind == "cosine":
        later = lr_scheduler.CosineAnnealingLR(optimiser, length, eta_min=floor)
    else:
        quotient = dict(
            steps=lambda s: 1 if s <= length / 2 else 0.1 if s <= length else 0.01,
            inverse=lambda s: 1 / (1 + s / length),
            root=lambda s: (1 + s / length) ** -0.5,
        )[kind]
        later = lr_scheduler.LambdaLR(optimiser, quotient)
    if t < warmup:
        return base * t / warmup
    for _ in range(t - warmup if kind != "cosine" else min(t - warmup, length)):
        optimiser.step()
        later.step()
    return optimiser.param_groups[0]["lr"]


# ------------------------------------------------------------------------------------ clip_by_norm

clip_by_norm = Exercise(
    "clip_by_norm",
    reference=reference.clip_by_norm,
    compare=close(rtol=2e-5),  # torch adds 1e-6 to the norm, here at least 0.1
    hints=[
        "All arrays together are one long vector. What is its length, and when must it change?",
        "Its squared length is the sum of all squared entries of all arrays. There is one factor for all of them.",
        "The factor is c / norm where the norm is above c, else 1. Divide c by the larger of the two: that is both at once.",
    ],
)


@clip_by_norm.cases
def _(rng):
    # the norms of the three parts: about 8, 4 and 7
    grads = [rng.normal(size=(2, 3)), rng.normal(size=3), rng.choice([-1.0, 1.0], 1)]
    lengths = rng.uniform([7.5, 3.5, 6.5], [8.5, 4.5, 7.5])
    grads = [g * r / np.linalg.norm(g) for g, r in zip(grads, lengths, strict=True)]
    norm = float(np.linalg.norm(lengths))
    small = [g * 0.01 for g in grads]
    yield "too long: shortened to c", dict(grads=grads, c=norm / 3)
    yield "too long: shortened to c", dict(grads=small, c=norm / 1000)
    yield "too long: shortened to c", dict(grads=[100 * g for g in small], c=0.9 * norm)
    yield "short enough: unchanged", dict(grads=grads, c=1.1 * norm)
    yield "short enough: unchanged", dict(grads=small, c=1.0 + norm)
    # 3 and 4 make 5, not 7
    sides = [np.array([3.0, 0.0]), np.array([0.0, 4.0])]
    signs = rng.choice([-1.0, 1.0], 2)
    sides = [g * s for g, s in zip(sides, signs, strict=True)]
    yield "parts shorter than c, together longer", dict(grads=sides, c=4.5)
    yield "together shorter than the sum of the parts", dict(grads=sides, c=6.0)
    yield "a norm of exactly c", dict(grads=sides, c=5.0)
    yield "one array", dict(grads=grads[1:2], c=1.0)
    yield "whole numbers", dict(grads=[rng.integers(3, 9, 4), rng.integers(-9, -3, (2, 2))], c=2.0)  # fmt: skip
    yield "a zero gradient stays zero", dict(grads=[np.zeros(2), np.zeros((1, 2))], c=1.0)  # fmt: skip


FACTOR = "c / max(norm, c)"
clip_by_norm.mistakes(
    {
        "each array by its own norm": (
            "[factor * g for g in grads]",
            "[g * min(1.0, c / (np.linalg.norm(g) or 1.0)) for g in grads]",
            "The arrays are parts of one gradient. What do different factors do to its direction?",
        ),
        "entries are cut, not the norm": (
            "[factor * g for g in grads]",
            "[np.clip(g, -c, c) for g in grads]",
            "Cutting each entry bends the direction, and the whole may still be longer than c.",
        ),
        "always scaled to length c": (
            FACTOR,
            "c / (norm or 1.0)",
            "A gradient shorter than c stays what it is. Yours is stretched.",
        ),
        "the root is missing": (
            "math.sqrt(squares)",
            "squares",
            "Compute the norm of what you return: is it c?",
        ),
        "the norms are added": (
            "sum((g**2).sum() for g in grads)",
            "sum(math.sqrt((g**2).sum()) for g in grads) ** 2",
            "How long is a vector with parts of length 3 and 4 that stand at a right angle?",
        ),
        "the longest array decides": (
            "sum((g**2).sum() for g in grads)",
            "max((g**2).sum() for g in grads)",
            "How long is the whole if its parts have the lengths 3 and 4?",
        ),
    }
)
clip_by_norm.worked(
    why=r"""One factor for all arrays keeps the direction of the batch's gradient; only its length is limited. `max(norm, c)` is never 0, and where the norm is at most c the factor is exactly 1. The price is a
    bias: the mean of clipped gradients does not point along the mean gradient."""
)


@clip_by_norm.right("as one long vector")
def _(grads, c):
    long = np.concatenate([g.ravel() for g in grads])
    long = long * min(1.0, c / (np.linalg.norm(long) or c))
    ends = np.cumsum([g.size for g in grads])[:-1]
    return [
        part.reshape(g.shape)
        for part, g in zip(np.split(long, ends), grads, strict=True)
    ]


@clip_by_norm.right("by PyTorch, in place", library="torch.nn.utils.clip_grad_norm_")
def _(grads, c):
    parameters = [torch.zeros(g.shape, dtype=torch.float64) for g in grads]
    for p, g in zip(parameters, grads, strict=True):
        p.grad = torch.tensor(g, dtype=torch.float64)
    torch.nn.utils.clip_grad_norm_(parameters, c)
    return [p.grad.numpy() for p in parameters]


# -------------------------------------------------------------------------------------- accumulate

accumulate = Exercise(
    "accumulate",
    reference=lambda X, y, w, batches: dict(
        gradient=reference.accumulate(X, y, w, batches),
        most_rows_at_once=max(len(b) for b in batches),
        calls=len(batches),
    ),
    compare=parts(gradient=close(rtol=1e-8), most_rows_at_once=exact(), calls=exact()),
    hints=[
        "Each grad(w, idx) is a mean over len(idx) rows. Which sum does it come from?",
        "Undo each mean, add up the sums, and divide once by the number of all rows.",
        "Two running totals: one adds len(idx) times the gradient, the other adds len(idx). Their quotient is the answer.",
    ],
)


@accumulate.probe
def _(answer, X, y, w, batches):
    sizes = []

    def grad(w, idx):
        sizes.append(len(idx))
        return X[idx].T @ (X[idx] @ w - y[idx]) / len(idx)

    gradient = answer(grad, w, batches)
    return dict(gradient=gradient, most_rows_at_once=max(sizes), calls=len(sizes))


@accumulate.cases
def _(rng):
    X, w = rng.normal(size=(8, 2)), rng.normal(size=2)
    y, order = rng.normal(size=8) + 3, rng.permutation(8)

    def cut(*ends):
        batches = [order[a:b] for a, b in itertools.pairwise((0, *ends))]
        return dict(X=X, y=y, w=w, batches=batches)

    yield "micro-batches of equal size", cut(2, 4, 6)
    yield "micro-batches of unequal size", cut(4, 7, 8)
    yield "micro-batches of unequal size", cut(1, 6)
    yield "a short one at the end", cut(3, 6, 8)
    yield "a single micro-batch", cut(3)
    yield "a single row", cut(1)
    yield "whole numbers", cut(3, 8) | dict(w=rng.integers(1, 5, 2))


accumulate.mistakes(
    {
        "every micro-batch weighs the same": (
            "len(idx) * grad(w, idx)\n        rows = rows + len(idx)",
            "grad(w, idx)\n        rows = rows + 1",
            "With equal sizes you are right. One row now speaks as loudly as four.",
        ),
        "added up, never divided": (
            "total / rows",
            "total",
            "That is the sum over all rows. What was asked for?",
        ),
        "means added up": (
            "len(idx) * grad(w, idx)",
            "grad(w, idx)",
            "A single micro-batch has to give back its own gradient. What does yours give?",
        ),
        "only the last micro-batch": (
            "total = total + len(idx)",
            "total = len(idx)",
            "Each pass through the loop replaces what you had. Which line should add to it?",
        ),
        "divided by the number of micro-batches": (
            "total / rows",
            "total / len(batches)",
            "You have the sum over all rows. How many went into it?",
        ),
        "w moves between the micro-batches": (
            "        rows = rows + len(idx)\n",
            "        rows = rows + len(idx)\n        w = w - 0.1 * total / rows\n",
            "All micro-batches see the same w: the step comes once, after the last of them.",
        ),
        "one call more, for the shape": (
            "total = 0.0",
            "total = 0 * grad(w, batches[0])",
            "Each micro-batch is asked once: a call may take minutes. A plain 0.0 will do to begin with.",
        ),
    }
)
accumulate.worked(
    why=r"""A mean over $|\mathcal B_k|$ rows times $|\mathcal B_k|$ is the sum over its rows, and sums may be split as one likes:
    $g = \sum_k \frac{|\mathcal B_k|}{|\mathcal B|}\, g_k$. Weighted by rows, not by micro-batches: else a short last one counts too
    much. PyTorch's `.grad` adds up by itself; dividing is left to you."""
)


@accumulate.wrong(
    "all rows in one call",
    advice="The gradient is right, but the large batch does not fit: no call may see more rows than one micro-batch.",
)
def _(grad, w, batches):
    return grad(w, np.concatenate(batches))


@accumulate.right("a weighted average", library="numpy.average")
def _(grad, w, batches):
    gradients = [grad(w, b) for b in batches]
    return np.average(gradients, axis=0, weights=[len(b) for b in batches])


# --------------------------------------------------------------------------------- average_weights

average_weights = Exercise(
    "average_weights",
    reference=reference.average_weights,
    compare=close(rtol=1e-8),
    hints=[
        "Each name has its own array in every state. Which names are there, and for which is there a mean?",
        "Build a new dict, name by name: the mean of the arrays of that name, or the last one where they hold whole numbers.",
        "np.issubdtype(array.dtype, np.integer) tells whole numbers. The mean: sum(state[name] for state in states), "
        "divided by their number.",
    ],
)


@average_weights.cases
def _(rng):
    def state():
        return {
            "weight": rng.normal(size=(2, 3)) + 2,
            "bias": rng.normal(size=2),
            "batches seen": rng.integers(10, 1000, 1),
        }

    states = [state() for _ in range(4)]
    yield "the mean of each array", dict(states=[{k: s[k] for k in ("weight", "bias")} for s in states[:3]])  # fmt: skip
    yield "the mean of each array", dict(states=[{"bias": s["bias"]} for s in states])
    yield "two states", dict(states=[{"weight": s["weight"]} for s in states[:2]])
    yield "whole numbers are those of the last state", dict(states=states)
    yield "whole numbers are those of the last state", dict(states=states[:2])
    counts = [{"seen": rng.integers(5, 99, 3), "w": rng.integers(5, 99, 3) / 1.0} for _ in range(3)]  # fmt: skip
    yield "a float that holds a whole number has a mean", dict(states=counts)
    # a network's own kind of number; eighths, whose mean it holds exactly
    small = [
        {"weight": np.float32(rng.integers(-40, 40, (2, 3)) / 8)} for _ in range(4)
    ]
    yield "float32 has a mean, too", dict(states=small)
    yield "one state is its own mean", dict(states=states[:1])


average_weights.mistakes(
    {
        "counters are averaged, too": (
            "np.issubdtype(last.dtype, np.integer)",
            "False",
            "How many batches has a network seen that saw 3 and then 8?",
        ),
        "only float64 is averaged": (
            "np.issubdtype(last.dtype, np.integer)",
            "last.dtype != np.float64",
            "Networks mostly hold float32. Which kinds of number are whole, which are not?",
        ),
        "counters of the first state": (
            "mean[name] = last\n",
            "mean[name] = states[0][name]\n",
            "Whose whole numbers are asked for: the first state's or the last one's?",
        ),
        "counters are left out": (
            "mean[name] = last\n",
            "pass\n",
            "Which names has your dict?",
        ),
        "added up": (
            " / len(states)",
            "",
            "Of one state you are right. By which factor are you off for three?",
        ),
        "a fading mean": (
            "sum(state[name] for state in states) / len(states)",
            "sum(2.0**k * state[name] for k, state in enumerate(states)) / (2.0 ** len(states) - 1)",
            "Each state counts as much as every other. Whose weight is largest in yours?",
        ),
    }
)
average_weights.worked(
    why=r"""The mean is taken entry by entry, so shapes stay and no name is special. Counters are no weights: their mean has no
    meaning, and the network that you return has seen as much as the last one. What batch normalisation has stored belongs to
    the old weights: let it see the data once more (`torch.optim.swa_utils.update_bn`)."""
)


@average_weights.right("a mean of stacks, by kind of number")
def _(states):
    def one(arrays):
        return arrays[-1] if arrays[-1].dtype.kind in "iu" else np.mean(arrays, axis=0)

    return {name: one([s[name] for s in states]) for name in states[0]}

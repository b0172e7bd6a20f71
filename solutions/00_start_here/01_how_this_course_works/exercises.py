"""Exercises of 00_start_here/01_how_this_course_works."""

import graphlib

import numpy as np

from descent.compare import close, exact, parts
from solutions.spec import Exercise

from . import reference

# --- average: the warm-up ---------------------------------------------------------------------

average = Exercise(
    "average",
    reference=reference.average,
    batched=("x",),
    hints=[
        "You share out the sum of all the numbers equally. How many of them are there?",
        "The total is already computed. Divide it by the number of entries of x, which Python knows as len(x).",
        "One line, it starts with return: the total, a division sign, the length of x.",
    ],
)


@average.cases
def _(rng):
    yield "a few numbers", dict(x=[float(v) for v in rng.integers(1, 30, 3)] + [35.5])
    yield (
        "numbers below zero",
        dict(x=[float(v) for v in -rng.integers(1, 30, 4)] + [-80.5]),
    )
    yield "one number is its own average", dict(x=[float(rng.integers(2, 30))])
    yield "a numpy array", dict(x=np.round(rng.normal(5, 2, 6), 1))


@average.wrong(
    "the sum",
    advice="The total grows with every number you add. An average does not: what must it be shared out by?",
)
def _(x):
    return sum(x)


@average.wrong(
    "divided by one less than the number of entries",
    advice="n − 1 belongs to another quantity, the variance of a sample. Try your function on a single number.",
)
def _(x):
    return sum(x) / (len(x) - 1)


@average.wrong(
    "the median",
    advice="The middle of the sorted numbers ignores how far away the others are. Use all of them.",
)
def _(x):
    return float(np.median(x))


@average.wrong(
    "halfway between the smallest and the largest",
    advice="Only two of the numbers decide your result. Change one of the others: should the average move?",
)
def _(x):
    return (min(x) + max(x)) / 2


@average.wrong(
    "rounded down to a whole number",
    advice="// throws away what is behind the decimal point. Which division keeps it?",
)
def _(x):
    return sum(x) // len(x)


@average.wrong(
    "divided by three",
    advice="The example has three numbers. Other lists are longer or shorter: who knows how many entries x has?",
)
def _(x):
    return sum(x) / 3


@average.right("numpy")
def _(x):
    return np.mean(x)


@average.right("in single precision")
def _(x):
    return np.asarray(x, np.float32).mean()


@average.right("updated with each number")
def _(x):
    mean = 0.0
    for i, value in enumerate(x, 1):
        mean += (value - mean) / i
    return mean


# --- counterexample: is a printed formula right? ----------------------------------------------

counterexample = Exercise(
    "counterexample",
    reference=reference.counterexample,
    shuffled=True,
    hints=[
        "Walk through the points. At each, compute both sides once. When do you stop, and when have you seen enough to say None?",
        "The two sides agree where abs(left(p) - right(p)) <= rtol * the larger of the two absolute values. Write down the case where they "
        "agree and put `not` before it: then nan, for which every comparison is false, counts as a difference.",
        "Loop over the points; compute a and b there; if not (abs(a - b) <= …), return the point. After the loop, and not inside it: return None.",
    ],
)


@counterexample.probe
def _(answer, points, left_values, right_values, rtol):
    left = dict(zip(points, left_values)).__getitem__
    right = dict(zip(points, right_values)).__getitem__
    return answer(left, right, list(points), rtol)


def _claim(points, left, right, rtol=1e-9):
    return dict(
        points=[float(p) for p in points],
        left_values=[float(v) for v in left],
        right_values=[float(v) for v in right],
        rtol=rtol,
    )


@counterexample.cases
def _(rng):
    p = (10.0 + np.arange(5) + np.round(rng.uniform(0, 0.9, 5), 1))[[0, 4, 2, 1, 3]]
    v = np.round(rng.uniform(1, 9, 5), 2)
    yield (
        "the first of several counterexamples",
        _claim(p, v, v + [0, 0, 0.5, 0.75, 0.25]),
    )
    yield "a true formula has none", _claim(p, v, v)
    yield "rounding is no counterexample", _claim(p, v, v * (1 + 4e-16))
    yield "numbers below zero", _claim(p, -v, -v * (1 + 4e-16))
    yield (
        "the tolerance that was handed in",
        _claim(p, v, v * [1, 0.95, 1, 0.8, 1], rtol=0.1),
    )
    yield (
        "large numbers: rounding grows with them",
        _claim(p, 1e12 * v, 1e12 * v + 2e-3),
    )
    yield (
        "small numbers: a small difference counts",
        _claim(p, 1e-13 * v, 1e-13 * v * [1, 2, 1, 1, 1]),
    )
    yield (
        "nan agrees with nothing",
        _claim(p, v, np.where(np.arange(5) == 3, np.nan, v)),
    )
    yield "the last point is looked at", _claim(p, v, v + [0, 0, 0, 0, 1])
    yield "zero agrees with zero", _claim(p, 0 * v, 0 * v)
    yield "no points, no counterexample", _claim([], [], [])


def _agree(a, b, rtol):
    return abs(a - b) <= rtol * max(abs(a), abs(b))


@counterexample.wrong(
    "the larger value, not the larger size",
    advice="Of -2 and -3 the larger value is -2, and a negative tolerance is never met. Where do the absolute values go?",
)
def _(left, right, points, rtol):
    return next(
        (
            p
            for p in points
            if not abs(left(p) - right(p)) <= rtol * max(left(p), right(p))
        ),
        None,
    )


@counterexample.wrong(
    "always the same tolerance",
    advice="rtol is an argument; 1e-9 is only its default. Is it used in your comparison?",
)
def _(left, right, points, rtol):
    return next((p for p in points if not _agree(left(p), right(p), 1e-9)), None)


@counterexample.wrong(
    "exactly equal or not",
    advice="0.1 + 0.2 == 0.3 is False on every computer: floats carry about 16 digits. Where does rtol come in?",
)
def _(left, right, points, rtol):
    return next((p for p in points if left(p) != right(p)), None)


@counterexample.wrong(
    "isclose with tolerances of its own",
    advice="np.isclose brings a relative tolerance of 1e-5 and an absolute one of 1e-8. Yours is rtol, and nothing else: set both.",
)
def _(left, right, points, rtol):
    return next((p for p in points if not np.isclose(left(p), right(p))), None)


@counterexample.wrong(
    "an absolute tolerance",
    advice="A difference of 0.001 is nothing beside a million million and everything beside 1e-13. What must rtol be multiplied by?",
)
def _(left, right, points, rtol):
    return next((p for p in points if not abs(left(p) - right(p)) <= rtol), None)


@counterexample.wrong(
    "nan slips through",
    advice="Every comparison with nan is False, so `difference > tolerance` never fires. Ask instead whether the sides agree.",
)
def _(left, right, points, rtol):
    for p in points:
        if abs(left(p) - right(p)) > rtol * max(abs(left(p)), abs(right(p))):
            return p
    return None


@counterexample.wrong(
    "strictly smaller than the tolerance",
    advice="Where both sides are 0 the tolerance is 0 as well. Do 0 and 0 agree in your version?",
)
def _(left, right, points, rtol):
    return next(
        (
            p
            for p in points
            if not abs(left(p) - right(p)) < rtol * max(abs(left(p)), abs(right(p)))
        ),
        None,
    )


@counterexample.wrong(
    "None after the first point",
    advice="One point that agrees proves nothing. Where does your `return None` stand: inside the loop or after it?",
)
def _(left, right, points, rtol):
    for p in points:
        return None if _agree(left(p), right(p), rtol) else p


@counterexample.wrong(
    "the last counterexample",
    advice="Stop at the first one: return as soon as you meet it.",
)
def _(left, right, points, rtol):
    return next(
        (p for p in reversed(points) if not _agree(left(p), right(p), rtol)), None
    )


@counterexample.wrong(
    "all of them",
    advice="Only the first point is asked for. What stops a loop as soon as it has been found?",
)
def _(left, right, points, rtol):
    return [p for p in points if not _agree(left(p), right(p), rtol)]


@counterexample.wrong(
    "the smallest of the counterexamples",
    advice="The first in the list is asked for; the list need not be sorted.",
)
def _(left, right, points, rtol):
    return min((p for p in points if not _agree(left(p), right(p), rtol)), default=None)


@counterexample.wrong(
    "its position instead of the point",
    advice="Your result counts 0, 1, 2, …. The point itself is asked for: what is points[i]?",
)
def _(left, right, points, rtol):
    return next(
        (i for i, p in enumerate(points) if not _agree(left(p), right(p), rtol)), None
    )


@counterexample.right("numpy's isclose with a relative tolerance only")
def _(left, right, points, rtol):
    for p in points:
        a, b = left(p), right(p)
        if not np.isclose(a, b, rtol=0, atol=rtol * max(abs(a), abs(b))):
            return p
    return None


@counterexample.right("math.isclose, all sides first")
def _(left, right, points, rtol):
    import math

    agree = [math.isclose(left(p), right(p), rel_tol=rtol) for p in points]
    return points[agree.index(False)] if False in agree else None


# --- to_columns: two layouts of one data set --------------------------------------------------

to_columns = Exercise(
    "to_columns",
    reference=reference.to_columns,
    hints=[
        "Three separate things happen: shuffle, split, transpose. In which order is it easiest? And which of them concern the labels too?",
        "An array of integers picks rows: rows[order] is the shuffled table, labels[order] the labels in the same order. "
        "Then cut both at n_train.",
        "With R = rows[order], the training columns are R[:n_train].T; the test columns begin at n_train. Labels are cut in the same places, but not turned.",
    ],
)


def _table(rng, n, d, n_train, shift):
    rows = np.round(rng.normal(size=(n, d)), 2)
    labels = np.arange(1.0, n + 1) * 10
    return dict(
        rows=rows, labels=labels, order=np.roll(np.arange(n), shift), n_train=n_train
    )


@to_columns.cases
def _(rng):
    yield "each column is one sample", _table(rng, 5, 3, 3, 0)
    yield "as many samples as features", _table(rng, 4, 4, 3, 0)
    yield "labels follow their samples", _table(rng, 6, 2, 4, int(rng.integers(1, 6)))
    yield (
        "training and test share no sample",
        _table(rng, 7, 3, 4, int(rng.integers(1, 7))),
    )
    yield "one feature", _table(rng, 5, 1, 3, int(rng.integers(1, 5)))
    yield "everything for training", _table(rng, 4, 2, 4, int(rng.integers(1, 4)))


@to_columns.wrong(
    "reshaped, not transposed",
    advice="reshape keeps the reading order of the numbers and tears samples apart. Print the first column: is it the first sample?",
)
def _(rows, labels, order, n_train):
    R, t = rows[order], labels[order]
    d = rows.shape[1]
    X, X_test = (
        R[:n_train].reshape(d, n_train),
        R[n_train:].reshape(d, len(R) - n_train),
    )
    return X, t[:n_train], X_test, t[n_train:]


@to_columns.wrong(
    "the labels stay behind",
    advice="You shuffled the samples. Whose label stands in first place now?",
)
def _(rows, labels, order, n_train):
    R = rows[order]
    return R[:n_train].T, labels[:n_train], R[n_train:].T, labels[n_train:]


@to_columns.wrong(
    "nothing is shuffled",
    advice="The order in which samples come is the argument order, not 0, 1, 2, ….",
)
def _(rows, labels, order, n_train):
    return rows[:n_train].T, labels[:n_train], rows[n_train:].T, labels[n_train:]


@to_columns.wrong(
    "tested on training samples",
    advice="Your test columns are the first samples once more, the ones for training. Where do the unseen samples begin?",
)
def _(rows, labels, order, n_train):
    R, t = rows[order], labels[order]
    m = len(R) - n_train
    return R[:n_train].T, t[:n_train], R[:m].T, t[:m]


@to_columns.wrong(
    "samples are still rows",
    advice="The shape should be (d, n_train): features down, samples across.",
)
def _(rows, labels, order, n_train):
    R, t = rows[order], labels[order]
    return R[:n_train], t[:n_train], R[n_train:], t[n_train:]


@to_columns.wrong(
    "the shuffle is applied the wrong way round",
    advice="order[0] says which row comes first. It does not say where row 0 goes. Compare rows[order] on three rows by hand.",
)
def _(rows, labels, order, n_train):
    inverse = np.argsort(order)
    R, t = rows[inverse], labels[inverse]
    return R[:n_train].T, t[:n_train], R[n_train:].T, t[n_train:]


@to_columns.wrong(
    "the four results in another order",
    advice="Each table is followed by its labels: X, y, X_test, y_test. (scikit-learn's train_test_split returns both tables first.)",
)
def _(rows, labels, order, n_train):
    R, t = rows[order], labels[order]
    return R[:n_train].T, R[n_train:].T, t[:n_train], t[n_train:]


@to_columns.wrong(
    "the last samples for training",
    advice="The first n_train samples in the new order are for training. Which end did you take?",
)
def _(rows, labels, order, n_train):
    R, t, m = rows[order], labels[order], len(rows) - n_train
    return R[m:].T, t[m:], R[:m].T, t[:m]


@to_columns.right("column by column")
def _(rows, labels, order, n_train):
    d = rows.shape[1]
    columns = [rows[i] for i in order]
    train = np.array(columns[:n_train]).reshape(-1, d).T
    test = np.array(columns[n_train:]).reshape(-1, d).T
    return (
        train,
        [labels[i] for i in order[:n_train]],
        test,
        [labels[i] for i in order[n_train:]],
    )


@to_columns.right("transposed first, in single precision")
def _(rows, labels, order, n_train):
    X = rows.astype(np.float32).T[:, order]
    return (
        X[:, :n_train],
        labels[order][:n_train],
        X[:, n_train:],
        labels[order][n_train:],
    )


# --- empirical_risk ---------------------------------------------------------------------------

empirical_risk = Exercise(
    "empirical_risk",
    reference=lambda w, b, pairs, loss: [
        reference.empirical_risk(
            w, b, [p[0] for p in order], [p[1] for p in order], loss
        )
        for order in (pairs, pairs[::-1])
    ],
    hints=[
        "One example gives one number: its loss. How do many numbers become one?",
        "For each pair (x, y) of data the loss is loss(y, f(x)), the label first. Collect them in a list.",
        "A list comprehension [… for x, y in data] holds all the losses; np.mean of it is the risk.",
    ],
)


@empirical_risk.probe
def _(answer, w, b, pairs, loss):
    losses = {
        "squared": lambda y, p: (y - p) ** 2,
        "absolute": lambda y, p: abs(y - p),
        "pinball": lambda y, p: np.maximum(0.9 * (y - p), 0.1 * (p - y)),
    }
    data = [tuple(pair) for pair in pairs]
    return [
        answer(lambda x: w * x + b, losses[loss], one) for one in (data, data[::-1])
    ]


@empirical_risk.cases
def _(rng):
    def data(n, loss):
        x = np.round(rng.uniform(-3, 3, n), 1)
        y = np.round(2 * x + np.resize([1.7, -0.9], n) + rng.uniform(-0.3, 0.3, n), 1)
        pairs = [(float(a), float(c)) for a, c in zip(x, y, strict=True)]
        return dict(w=2.0, b=0.0, pairs=pairs, loss=loss)

    yield "the mean of the squared errors, in any order", data(5, "squared")
    yield "the loss that was handed in is used", data(4, "absolute")
    yield "a loss that tells too low from too high", data(6, "pinball")
    yield "one example", data(1, "squared")
    yield (
        "a perfect model has risk 0",
        dict(w=3.0, b=1.0, pairs=[(0.0, 1.0), (2.0, 7.0)], loss="squared"),
    )


@empirical_risk.wrong(
    "summed, not averaged",
    advice="A risk must not double when the data set is copied behind itself.",
)
def _(f, loss, data):
    return sum(loss(y, f(x)) for x, y in data)


@empirical_risk.wrong(
    "prediction and label in each other's place",
    advice="loss(y, prediction): the label comes first. With the squared loss nobody notices, with the pinball loss everybody does.",
)
def _(f, loss, data):
    return np.mean([loss(f(x), y) for x, y in data])


@empirical_risk.wrong(
    "the loss of the averages",
    advice="Errors of +1 and −1 are two mistakes, yet they average to none. Take the loss of each example first.",
)
def _(f, loss, data):
    return loss(np.mean([y for _, y in data]), np.mean([f(x) for x, _ in data]))


@empirical_risk.wrong(
    "always the squared error",
    advice="The loss is an argument. What happens in your function when somebody hands in another one?",
)
def _(f, loss, data):
    return np.mean([(y - f(x)) ** 2 for x, y in data])


@empirical_risk.wrong(
    "the largest loss",
    advice="One bad example decides alone in your version. The risk is an average.",
)
def _(f, loss, data):
    return max(loss(y, f(x)) for x, y in data)


@empirical_risk.wrong(
    "x and y in each other's place",
    advice="A pair is (x, y): the input first, its label second. Which of them does f get?",
)
def _(f, loss, data):
    return np.mean([loss(x, f(y)) for x, y in data])


@empirical_risk.wrong(
    "the model is not asked",
    advice="The loss compares the label with a prediction. Where in your line does f make one?",
)
def _(f, loss, data):
    return np.mean([loss(y, x) for x, y in data])


@empirical_risk.wrong(
    "only the first example",
    advice="A return inside the loop ends it at once. How many examples have been counted by then?",
)
def _(f, loss, data):
    x, y = data[0]
    return loss(y, f(x)) / len(data)


@empirical_risk.wrong(
    "always the absolute error",
    advice="The loss is an argument. What happens in your function when somebody hands in another one?",
)
def _(f, loss, data):
    return np.mean([abs(y - f(x)) for x, y in data])


@empirical_risk.right("all examples at once")
def _(f, loss, data):
    x, y = np.array(data).T
    return loss(y, f(x)).mean()


@empirical_risk.right("numpy's mean")
def _(f, loss, data):
    return np.mean([loss(y, f(x)) for x, y in data])


@empirical_risk.right("a running total in single precision")
def _(f, loss, data):
    total = np.float32(0)
    for x, y in data:
        total += np.float32(loss(y, f(x)))
    return total / np.float32(len(data))


# --- train_predict_evaluate -------------------------------------------------------------------

train_predict_evaluate = Exercise(
    "train_predict_evaluate",
    reference=lambda X, y, X_test, y_test: {
        "score": reference.train_predict_evaluate(X, y, X_test, y_test),
        "calls": [f"fit on {len(y)} rows", f"predict {len(y_test)} rows"],
    },
    compare=parts(score=close(), calls=exact()),
    data_dependent="the classes are the labels that occur",
    hints=[
        "Three phases, three lines. Which of the four arrays may each phase see?",
        "model.fit gets the training samples with their labels, model.predict the test samples alone. "
        "Compare what it returns with the labels it never saw.",
        "After fit and y_hat = model.predict(X_test), the score is the mean of the array y_hat == y_test.",
    ],
)


@train_predict_evaluate.probe
def _(answer, X, y, X_test, y_test):
    calls = []

    class NearestMean:
        """Predicts the class whose mean is nearest; writes down what it is asked to do."""

        def fit(self, X, y):
            calls.append(f"fit on {len(y)} rows")
            self.labels = np.unique(y)
            self.means = np.array(
                [np.mean(np.asarray(X)[np.asarray(y) == k], 0) for k in self.labels]
            )
            return self

        def predict(self, X):
            calls.append(f"predict {len(X)} rows")
            if not hasattr(self, "labels"):
                return np.zeros(len(X))
            distances = ((np.asarray(X)[:, None, :] - self.means) ** 2).sum(-1)
            return self.labels[distances.argmin(1)]

    score = answer(NearestMean(), X, y, X_test, y_test)
    return {"score": score, "calls": calls}


def _clusters(rng, labels, n_test, flipped):
    """Two well separated clusters; `flipped` of the test labels are wrong on purpose."""
    low, high = labels
    y = np.array([low, high] * 4)
    y_test = np.array(([low, high] * n_test)[:n_test])
    X, X_test = (
        np.round(
            np.where(t == low, -3, 3)[:, None] + rng.uniform(-1, 1, (len(t), 2)), 2
        )
        for t in (y, y_test)
    )
    y_test[:flipped] = np.where(y_test[:flipped] == low, high, low)
    return dict(X=X, y=y, X_test=X_test, y_test=y_test)


@train_predict_evaluate.cases
def _(rng):
    yield "train, then predict, then score", _clusters(rng, (0, 1), 4, 1)
    yield "the test labels stay unseen", _clusters(rng, (0, 1), 5, 2)
    yield "labels need not be 0 and 1", _clusters(rng, (3, 7), 6, 1)
    yield "a single test row", _clusters(rng, (0, 1), 1, 0)
    yield "everything wrong scores 0", _clusters(rng, (0, 1), 3, 3)


@train_predict_evaluate.wrong(
    "scored on the training data",
    advice="You asked the model about samples that it has seen. What would a model that learns by heart score?",
)
def _(model, X, y, X_test, y_test):
    model.fit(X, y)
    return np.mean(model.predict(X) == y)


@train_predict_evaluate.wrong(
    "trained on the test set too",
    advice="Count the rows that fit received. Every test label it sees makes the score say less about new data.",
)
def _(model, X, y, X_test, y_test):
    model.fit(np.concatenate([X, X_test]), np.concatenate([y, y_test]))
    return np.mean(model.predict(X_test) == y_test)


@train_predict_evaluate.wrong(
    "trained on the test set",
    advice="fit received the test rows. Which pair of arrays is for training?",
)
def _(model, X, y, X_test, y_test):
    model.fit(X_test, y_test)
    return np.mean(model.predict(X_test) == y_test)


@train_predict_evaluate.wrong(
    "predicts before it is trained",
    advice="Look at the order of the two calls: an untrained model was asked.",
)
def _(model, X, y, X_test, y_test):
    guess = model.predict(X_test)
    model.fit(X, y)
    return np.mean(guess == y_test)


@train_predict_evaluate.wrong(
    "the share of mistakes",
    advice="A perfect model should score 1 and a hopeless one 0. Which does yours give?",
)
def _(model, X, y, X_test, y_test):
    return np.mean(model.fit(X, y).predict(X_test) != y_test)


@train_predict_evaluate.wrong(
    "the number of hits",
    advice="A count depends on how many test rows there are. A share of them does not.",
)
def _(model, X, y, X_test, y_test):
    return float(np.sum(model.fit(X, y).predict(X_test) == y_test))


@train_predict_evaluate.wrong(
    "the difference of the labels",
    advice="A 7 is no worse a guess for 3 than a 4 would be. Ask whether they are equal.",
)
def _(model, X, y, X_test, y_test):
    return 1 - np.mean(np.abs(model.fit(X, y).predict(X_test) - y_test))


@train_predict_evaluate.wrong(
    "in per cent",
    advice="The share is a number from 0 to 1. What is yours for a perfect model?",
)
def _(model, X, y, X_test, y_test):
    return 100 * np.mean(model.fit(X, y).predict(X_test) == y_test)


@train_predict_evaluate.wrong(
    "divided by the number of training rows",
    advice="A share of the test labels: how many test labels are there?",
)
def _(model, X, y, X_test, y_test):
    return np.sum(model.fit(X, y).predict(X_test) == y_test) / len(y)


@train_predict_evaluate.wrong(
    "never trained",
    advice="The model was asked before it had seen a single example. Which method trains it?",
)
def _(model, X, y, X_test, y_test):
    return np.mean(model.predict(X_test) == y_test)


@train_predict_evaluate.right("counting in a loop")
def _(model, X, y, X_test, y_test):
    model.fit(X, y)
    hits = 0
    for guess, truth in zip(model.predict(X_test), y_test, strict=True):
        hits += int(guess == truth)
    return hits / len(y_test)


@train_predict_evaluate.right("one minus the share of mistakes, in single precision")
def _(model, X, y, X_test, y_test):
    y_hat = model.fit(X, y).predict(X_test)
    return np.float32(1) - np.float32(np.count_nonzero(y_hat != y_test) / y_test.size)


# --- layer ------------------------------------------------------------------------------------

layer = Exercise(
    "layer",
    reference=reference.layer,
    batched=("W", "b", "h"),
    hints=[
        "Read h' = act(W h + b) from the inside out: which operation comes first, which last?",
        "W @ h is the matrix times the vector, shape (m,). The bias has that shape too, so + works entry by entry. act is a function: call it.",
        "return act( … ), and between the brackets the product W @ h plus the bias.",
    ],
)


@layer.probe
def _(answer, W, b, act, h):
    acts = {
        "identity": lambda z: z,
        "relu": lambda z: np.maximum(z, 0),
        "tanh": np.tanh,
    }
    return answer(W, b, acts[act], h)


@layer.cases
def _(rng):
    def draw(m, d, act):
        W, b, h = (
            rng.normal(size=(m, d)),
            rng.uniform(0.5, 1.5, m),
            rng.uniform(0.5, 2, d),
        )
        return dict(W=np.round(W, 2), b=np.round(b, 2), act=act, h=np.round(h, 2))

    yield "three numbers in, two out", draw(2, 3, "identity")
    yield "as many out as in", draw(3, 3, "tanh")
    yield (
        "the bias comes before the activation",
        dict(
            W=np.eye(3),
            b=np.array([-2.0, 1.0, -1.5]),
            act="relu",
            h=np.round(rng.uniform(0.2, 0.9, 3), 2),
        ),
    )
    yield "a vector of zeros leaves act(b)", draw(3, 4, "tanh") | dict(h=np.zeros(4))
    yield "one number in, one out", draw(1, 1, "tanh")


@layer.wrong(
    "the activation before the bias",
    advice="A bias moves the point where the unit switches on. It must be added before act sees the sum.",
)
def _(W, b, act, h):
    return act(W @ h) + b


@layer.wrong(
    "the matrix is transposed",
    advice="Row i of W makes output i. With h @ W it would be column i: check the shapes on a W that is not square.",
)
def _(W, b, act, h):
    return act(h @ W + b)


@layer.wrong(
    "no activation",
    advice="act was handed in but never called. With act = identity nobody sees it.",
)
def _(W, b, act, h):
    return W @ h + b


@layer.wrong("no bias", advice="Feed in a vector of zeros: what should come out?")
def _(W, b, act, h):
    return act(W @ h)


@layer.wrong(
    "multiplied entry by entry",
    advice="W * h scales the columns of W and gives a table. Each output is a sum over all inputs: which operator sums?",
)
def _(W, b, act, h):
    return act(W * h + b)


@layer.wrong(
    "the activation inside the product",
    advice="You bent the inputs. The formula bends the sums: act goes around everything.",
)
def _(W, b, act, h):
    return W @ act(h) + b


@layer.wrong(
    "another activation than the one handed in",
    advice="act is an argument: today relu, tomorrow tanh. Call it by its name.",
)
def _(W, b, act, h):
    return np.maximum(W @ h + b, 0)


@layer.wrong(
    "the bias is added to the input",
    advice="b has as many entries as the output. Add it after the product.",
)
def _(W, b, act, h):
    return act(W @ (h + b))


@layer.right("unit by unit")
def _(W, b, act, h):
    return act(
        np.array(
            [
                sum(w * x for w, x in zip(row, h, strict=True)) + bias
                for row, bias in zip(W, b, strict=True)
            ]
        )
    )


@layer.right("einsum")
def _(W, b, act, h):
    W, b, h = (np.asarray(a, np.float64) for a in (W, b, h))
    return act(np.einsum("md,d->m", W, h) + b)


# --- outer_times ------------------------------------------------------------------------------

outer_times = Exercise(
    "outer_times",
    reference=reference.outer_times,
    batched=("h1", "h2", "x"),
    hints=[
        "Write (h1 h2ᵀ) x with the brackets elsewhere: h1 (h2ᵀ x). What kind of thing is h2ᵀ x?",
        "h2 @ x is a number: how far h2 and x agree. What is left to do with h1?",
        "One line: h1, multiplied by the inner product of h2 and x.",
    ],
)


@outer_times.cases
def _(rng):
    def draw(m, d):
        return {
            name: np.round(rng.uniform(0.5, 2, n), 2)
            for name, n in (("h1", m), ("h2", d), ("x", d))
        }

    yield "all three equally long", draw(3, 3)
    yield "the result is as long as h1", draw(2, 4)
    yield (
        "h2 and x point apart: against h1",
        draw(3, 2) | dict(x=-np.round(rng.uniform(0.5, 2, 2), 2)),
    )
    yield (
        "h2 and x at right angles give zeros",
        draw(3, 2) | dict(h2=np.array([2.0, 1.0]), x=np.array([-1.0, 2.0])),
    )
    yield "single numbers", draw(1, 1)


@outer_times.wrong(
    "h1 and h2 in each other's place",
    advice="x meets h2 first: they stand next to each other. Which of the two decides the direction of the result?",
)
def _(h1, h2, x):
    return h2 * (h1 @ x)


@outer_times.wrong(
    "entry by entry",
    advice="Between h2ᵀ and x stands an inner product. It multiplies, and then it sums.",
)
def _(h1, h2, x):
    return h1 * h2 * x


@outer_times.wrong(
    "no brackets",
    advice="Python works off * and @ from left to right, so h1 * h2 @ x begins with h1 * h2. Which product should come first?",
)
def _(h1, h2, x):
    return h1 * h2 @ x


@outer_times.wrong(
    "h1 meets h2 first",
    advice="Between h1 and h2ᵀ stands an outer product, no inner one. Which two vectors make a number?",
)
def _(h1, h2, x):
    return (h1 @ h2) * x


@outer_times.wrong(
    "only the number",
    advice="You found how far h2 and x agree. In which direction does the result point?",
)
def _(h1, h2, x):
    return h2 @ x


@outer_times.wrong(
    "without x",
    advice="That is the matrix h1 h2ᵀ itself. It still has to be applied to x.",
)
def _(h1, h2, x):
    return np.outer(h1, h2)


@outer_times.right("through the matrix, in single precision")
def _(h1, h2, x):
    return np.outer(h1, h2).astype(np.float32) @ x.astype(np.float32)


@outer_times.right("number by number")
def _(h1, h2, x):
    agreement = sum(a * b for a, b in zip(h2, x, strict=True))
    return [a * agreement for a in h1]


# --- topological_order ------------------------------------------------------------------------

topological_order = Exercise(
    "topological_order",
    reference=reference.path_counts,
    compare=exact(),
    hints=[
        "Which nodes can be computed at the very start? Once they are, which others become possible?",
        "Keep a list of finished nodes. Again and again, append a node that is not in it and whose inputs all are. "
        "What does it mean when no such node is left, but some are missing?",
        "While the list is shorter than the graph, collect every node that is not in it yet but all of whose inputs are (`all(… for u in …)`). "
        "Is there none? Return None. Else append the first.",
    ],
)


@topological_order.probe
def _(answer, inputs_of):
    # Runs the program in your order: each node is 1 plus its inputs, and an input that is not there yet counts as 0.
    reads = {node: list(inputs) for node, inputs in inputs_of.items()}
    order = answer(inputs_of)
    if order is None:
        return None
    values = {}
    for node in order:
        values[node] = 1 + sum(values.get(one, 0) for one in reads[node])
    return {"values": values, "listed": len(order)}


def _graph(rng, edges):
    """node -> inputs from "a>b" edges; every second node is written first and comes first in the alphabet."""
    letters = sorted({one for edge in edges for one in edge.split(">")})
    written = letters[1::2] + letters[::2]
    fresh = sorted(
        rng.permutation(list("pqrstuvwxyz"))[: len(letters)]
    )  # as the check data sorts its keys
    names = dict(zip(written, fresh, strict=True))
    pairs = [edge.split(">") for edge in edges]
    graph = {v: [u for u, w in pairs if w == v] for v in written}
    return dict(
        inputs_of={
            str(names[v]): [str(names[u]) for u in us] for v, us in graph.items()
        }
    )


@topological_order.cases
def _(rng):
    yield "a chain", _graph(rng, ["a>b", "b>c", "c>d"])
    yield "two branches that meet", _graph(rng, ["a>b", "a>c", "b>d", "c>d", "d>e"])
    yield "a skip connection", _graph(rng, ["a>b", "b>c", "c>d", "a>d", "d>e", "a>e"])
    yield "two separate programs", _graph(rng, ["a>b", "b>c", "d>e"])
    yield "a loop has no order", _graph(rng, ["a>b", "b>c", "c>b", "c>d"])
    yield "nothing to order", dict(inputs_of={})


@topological_order.wrong(
    "the order in which they are written",
    advice="A dict keeps the order of writing. Here steps are written in no useful order: look at what each one reads from.",
)
def _(inputs_of):
    return list(inputs_of)


@topological_order.wrong(
    "sorted by the number of inputs",
    advice="A node with one input can still come late: that input may be late itself. Look at the chain.",
)
def _(inputs_of):
    return sorted(inputs_of, key=lambda v: len(inputs_of[v]))


@topological_order.wrong(
    "nearest to the input first",
    advice="A skip connection makes a late node look near. It must wait for its slowest input, not its fastest.",
)
def _(inputs_of):
    order = [v for v in inputs_of if not inputs_of[v]]
    for v in order:
        order += [w for w in inputs_of if v in inputs_of[w] and w not in order]
    return order if len(order) == len(inputs_of) else None


@topological_order.wrong(
    "outputs first",
    advice="That is the order of the backward pass. Forward, a node comes after the nodes it reads from.",
)
def _(inputs_of):
    good = _by_scanning(inputs_of)
    return None if good is None else good[::-1]


@topological_order.wrong(
    "a loop is not noticed",
    advice="Your list misses the nodes on the loop and what depends on them. Compare its length with the graph's.",
)
def _(inputs_of):
    order = []
    while ready := [
        v for v in inputs_of if v not in order and all(u in order for u in inputs_of[v])
    ]:
        order.append(ready[0])
    return order


@topological_order.wrong(
    "a loop is walked into and left again",
    advice="A node that is met again while its own inputs are still being visited stands on a loop. What must be returned then?",
)
def _(inputs_of):
    order = []

    def visit(v, on_the_way):
        if v in on_the_way:
            return
        for u in inputs_of[v]:
            visit(u, [*on_the_way, v])
        if v not in order:
            order.append(v)

    for v in inputs_of:
        visit(v, [])
    return order


@topological_order.wrong(
    "a node more than once",
    advice="Your list is longer than the graph: a node that two others read from stands in it twice.",
)
def _(inputs_of):
    order = []

    def visit(v):
        for u in inputs_of[v]:
            visit(u)
        order.append(v)

    try:
        for v in inputs_of:
            visit(v)
    except RecursionError:
        return None
    return order


def _by_scanning(inputs_of):
    order = []
    while len(order) < len(inputs_of):
        ready = [
            v for v in inputs_of if v not in order and set(inputs_of[v]) <= set(order)
        ]
        if not ready:
            return None
        order += ready
    return order


@topological_order.right("layer by layer")
def _(inputs_of):
    return _by_scanning(inputs_of)


@topological_order.right("depth first")
def _(inputs_of):
    order, open_nodes = [], set()

    def visit(v):
        if v in order:
            return True
        if v in open_nodes:
            return False
        open_nodes.add(v)
        good = all([visit(u) for u in inputs_of[v]])
        order.append(v)
        return good

    return order if all([visit(v) for v in inputs_of]) else None


@topological_order.right("Python's own graphlib")
def _(inputs_of):
    try:
        return list(graphlib.TopologicalSorter(inputs_of).static_order())
    except graphlib.CycleError:
        return None

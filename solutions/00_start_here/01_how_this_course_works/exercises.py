"""Exercises of 00_start_here/01_how_this_course_works."""

import math

import numpy as np
import torch

from descent.compare import close, exact
from solutions.spec import Exercise

from . import reference

# ----------------------------------------------------------------------------------------- average

average = Exercise(
    "average",
    reference=reference.average,
    hints=[
        "You share out the sum of all the numbers equally. How many of them are there?",
        "The total is already computed. Divide it by the number of entries of x, which Python knows as len(x).",
        "One line, it starts with return: the total, a division sign, the length of x.",
    ],
)


@average.cases
def _(rng):
    # no two alike, and no average is a whole number
    few = [float(v) for v in rng.permutation(np.arange(1, 30))[:3]]
    yield "a few numbers", dict(x=[*few, 35.5])
    yield "numbers below zero", dict(x=[-v for v in few] + [-80.5, -99.0])
    yield "a number that comes twice counts twice", dict(x=[*few, 44.25, 44.25])
    yield "one number is its own average", dict(x=[float(rng.integers(2, 30) + 0.5)])
    spread = np.r_[rng.permutation(np.arange(20, 90))[:5] / 10 + 0.03, 30.03]
    yield "a numpy array", dict(x=rng.permutation(spread))
    yield "rows, column by column", dict(x=np.round(rng.normal(5, 2, (4, 3)), 1))
    yield "as many rows as columns", dict(x=np.round(rng.normal(5, 2, (3, 3)), 1))
    yield "one row", dict(x=np.round(rng.normal(5, 2, (1, 3)), 1))


average.mistakes(
    {
        "the sum": (
            "total / len(x)",
            "total",
            "The total grows with every number you add. An average does not: what must it be shared out by?",
        ),
        "divided by one less than the number of entries": (
            "/ len(x)",
            "/ max(len(x) - 1, 1e-9)",
            "n − 1 belongs to another quantity, the variance of a sample. Try your function on a single number.",
        ),
        "the median": (
            "total / len(x)",
            "np.median(x, axis=0)",
            "The middle of the sorted numbers ignores how far away the others are. Use all of them.",
        ),
        "halfway between the smallest and the largest": (
            "total / len(x)",
            "(np.min(x, axis=0) + np.max(x, axis=0)) / 2",
            "Only two of the numbers decide your result. Change one of the others: should the average move?",
        ),
        "rounded down to a whole number": (
            "total / len(x)",
            "total // len(x)",
            "// throws away what is behind the decimal point. Which division keeps it?",
        ),
        "divided by three": (
            "/ len(x)",
            "/ 3",
            "The example has three numbers. Other lists are longer or shorter: who knows how many entries x has?",
        ),
        "one number for a whole table": (
            "total / len(x)",
            "np.mean(x)",
            "Rows are averaged column by column: a table of d columns gives d numbers. np.mean has an `axis`.",
        ),
        "the average of each row": (
            "total / len(x)",
            "np.mean(x, axis=-1)",
            "The first column gives the first number. Along which axis do you add?",
        ),
        "every value counted once": (
            "total / len(x)",
            "np.mean(np.unique(np.asarray(x), axis=0), axis=0)",
            "A number that comes twice counts twice.",
        ),
    }
)

average.worked(
    why="""The total holds all numbers, and each of the n gets an equal share of it. For a table `sum` adds the rows,
    column by column, and `len` counts them: so the same line averages pictures. That one line works for both is no
    accident. NumPy's `+` and `/` act on each entry."""
)


@average.right("by numpy", library="numpy.mean")
def _(x):
    return np.mean(x, axis=0)


@average.right("in single precision")
def _(x):
    return np.asarray(x, np.float32).mean(0)


@average.right("updated with each number")
def _(x):
    mean = 0.0
    for i, value in enumerate(x, 1):
        mean = mean + (value - mean) / i
    return mean


# ----------------------------------------------------------------------------------------- nearest

nearest = Exercise(
    "nearest",
    reference=reference.nearest,
    compare=exact(),
    shuffled=True,
    hints=[
        "Which two things must you remember while you go through the rows?",
        "For each number of a row: the sum of (rows[number] - x)**2. If it is smaller than the smallest so far, keep both the sum and the number.",
        "Before the loop best = 0 and smallest = math.inf. In a loop over range(len(rows)) compute the distance; where it is below smallest, set both names. Return best after the loop.",
    ],
)


def _among(rng, n, d, place, *, scale=1.0):
    """n rows around x, each off by one length in all places; that of number `place` is nearest."""
    x = rng.integers(-9, 10, d) / 2
    far = rng.choice([-1.0, 1.0], n) * (3 + rng.permutation(n))
    far[place] = rng.choice([-0.5, 0.5])
    return dict(rows=scale * (x + far[:, None]), x=scale * x)


def _inside(rng, near, *others):
    """Rows off by these and by far ones, the near one neither first nor last."""
    x = rng.integers(-9, 10, len(near)) / 2
    others = np.array(
        [*others, *(sign * (20.0 + np.arange(len(near))) for sign in (1, -1, 2))]
    )
    rows, place = (
        others[rng.permutation(len(others))],
        int(rng.integers(1, len(others))),
    )
    return dict(rows=x + np.insert(rows, place, near, axis=0), x=x)


@nearest.cases
def _(rng):
    for n, place in zip((6, 7), rng.permutation(np.arange(1, 5))):
        yield "the nearest of some rows", _among(rng, n, 3, int(place))
        big = _among(rng, 13 - n, 2, int(place), scale=2.0**30)
        yield "very large numbers", big
    for sign in (1.0, -1.0):
        s = sign * float(rng.choice([1.0, 2.0]))
        # 27 against 36, plain differences 9 against 6
        squares = _inside(rng, [3 * s, 3 * s, 3 * s], [0, 0, 6 * s], [0, 9 * s, 0])
        yield "squares: one large difference counts more", squares
        # 26 against 27, largest differences 5 against 3; the third cancels to 5
        places = _inside(rng, [5 * s, s, 0], [3 * s, 3 * s, 3 * s], [-7 * s, 0, 2 * s])
        yield "the sum over all places", places
        opposite = _inside(rng, [s, 2 * s], [9 * s, -9 * s], [-7 * s, 7 * s])
        yield "too low is as far as too high", opposite
    for first in rng.permutation([1, 2, 3])[:2]:
        twin = _among(rng, 6, 2, int(first))
        twin["rows"][int(rng.integers(4, 6))] = twin["rows"][first]
        yield "of equals the first", twin
    n = int(rng.integers(3, 11))
    for place in rng.permutation([0, n - 1]):
        yield "the first and the last row count", _among(rng, n, 2, int(place))
    same = _among(rng, 6, 3, int(rng.integers(1, 5)))
    same["x"] = same["rows"][int(rng.integers(1, 5))].copy()
    yield "a row like x itself", same
    yield "one row", _among(rng, 1, 3, 0)


KEEP = "best, smallest = number, distance"
nearest.mistakes(
    {
        "the farthest row": (
            "distance = np.sum(difference**2)",
            "distance = -np.sum(difference**2)",
            "Which row do you keep, the nearest or the farthest?",
        ),
        "the last of equals": (
            "< smallest",
            "<= smallest",
            "Of two equals, which do you keep?",
        ),
        "the distance in place of the number": (
            "return best",
            "return smallest",
            "Asked is which row it is, counted from 0, not how far away.",
        ),
        "the row in place of its number": (
            "return best",
            "return rows[best]",
            "Asked is the number of the row, counted from 0.",
        ),
        "counted from 1": (
            "return best",
            "return best + 1",
            "The first row has the number 0.",
        ),
        "absolute differences": (
            "difference**2",
            "abs(difference)",
            "Is one difference of 6 as much as two of 3? Squares say more.",
        ),
        "differences that cancel": (
            "np.sum(difference**2)",
            "np.sum(difference) ** 2",
            "Too low in one place and too high in another is no likeness. Square first, then add.",
        ),
        "only the largest difference": (
            "np.sum(difference**2)",
            "np.max(difference**2)",
            "All places count, not only the worst.",
        ),
        "a start that nothing beats": (
            "math.inf",
            "0.0",
            "Your smallest distance starts at 0: which row can be nearer? Start with math.inf.",
        ),
        "the smallest is not kept": (
            KEEP,
            "best = number",
            "You keep the number, but compare with the old distance. Two names change together.",
        ),
    }
)

nearest.equivalent(
    {
        "distance = np.sum(difference ** 2) → distance = np.mean(difference ** 2)": "The mean in place of the sum picks the same row."
    }
)

nearest.worked(
    why="""Two names carry all that the search has learnt: the smallest distance so far, and whose it is. They change
    together or not at all. A start at infinity lets the first row win, and a strict `<` keeps the first of equals.
    The root of the sum would be the distance of school geometry; it is smallest at the same row, so nobody takes it."""
)


@nearest.right("all at once", library="numpy.argmin")
def _(rows, x):
    return np.argmin(((rows - x) ** 2).sum(axis=1))


@nearest.right("by min over numbers, with roots")
def _(rows, x):
    return min(range(len(rows)), key=lambda i: math.dist(rows[i], x))


# -------------------------------------------------------------------------------------- MeanReader

MeanReader = Exercise(
    "MeanReader",
    reference=lambda X, y, new, before: reference.nearest_means(X, y, new),
    compare=exact(),
    data_dependent="the labels are those that occur",
    hints=[
        "What must `fit` remember so that `predict` needs no row of X? Two lists of equal length.",
        "fit: for each label of np.unique(y) append the label to one list and the average of the rows X[y == label] to the other. predict: for each row the distances to all averages; where is the smallest?",
        "In predict, for each x: a list with np.sum((mean - x)**2) for each mean, np.argmin of it is the place, and the label at that place goes into the list of guesses. Return np.array of that list.",
    ],
)


@MeanReader.probe
def _(answer, X, y, new, before):
    reader = answer()
    if before is not None:
        reader.fit(X, before)
    reader.fit(X, y)
    told = reader.predict(new)
    if not isinstance(told, np.ndarray):
        raise TypeError(f"predict returned a {type(told).__name__}, not an array.")
    return told


# three classes whose averages name the new rows otherwise than sums, medians, middles of ranges or single rows
ROWS = [
    [-4, -13],
    [-3, -6],
    [-6, 3],
    [-6, -6],
    [-3, 2],
    [6, -10],
    [-5, -14],
    [-27, -23],
    [-4, -3.0],
]
CLASS = np.array([0, 1, 2, 0, 2, 0, 1, 2, 0])
NEW = np.array([[-3, -5], [-5, -5], [-5, -11], [-2, -13], [-9, -4], [-9, -9.0]])


def _classes(rng, low, *, kept=(0, 1, 2)):
    """Other labels, from low on, another unit and the order of the new rows are drawn: that decides nothing."""
    drawn = low + np.sort(rng.permutation(30)[:3])
    rows = np.isin(CLASS, kept)
    unit = rng.choice([-4.0, -2, -1, -0.5, 0.5, 1, 2, 4])
    new = NEW[rng.permutation(6)]
    return dict(
        X=unit * np.array(ROWS)[rows], y=drawn[CLASS[rows]], new=unit * new, before=None
    )


@MeanReader.cases
def _(rng):
    yield "the nearest average wins", _classes(rng, 0)
    deep = _classes(rng, 1)
    sides = dict(X=np.c_[deep["X"], np.ones(9)], new=np.c_[deep["new"], np.ones(6)])
    yield "the nearest average wins", deep | sides
    yield "labels below zero", _classes(rng, -40)
    yield "two labels", _classes(rng, 10, kept=(0, 2))
    # the first time one row has a label of its own; its average is nearest to a new row
    again = _classes(rng, 3)
    earlier = np.where(np.arange(9) == 6, again["y"].max() + 7, again["y"])
    forgotten = "what an earlier fit learnt is forgotten"
    yield forgotten, again | dict(before=earlier)
    # and here the labels of two classes are swapped in between
    once = _classes(rng, 3)
    low, *_, high = np.unique(once["y"])
    swapped = np.where(
        once["y"] == low, high, np.where(once["y"] == high, low, once["y"])
    )
    yield forgotten, once | dict(before=swapped)
    # by squares (3, 3, 3) is nearer than (0, 0, 6), by plain differences farther
    s = float(rng.integers(1, 9))
    far = np.array([[0.0, 0, 6], [3, 3, 3]]) * rng.choice([-s, s])
    for one in rng.permutation(2):
        labels = np.array([5, 8])[[one, 1 - one]]
        yield (
            "squares: one large difference counts more",
            dict(X=far, y=labels, new=np.zeros((1, 3)), before=None),
        )
    # 0 and 2 s are equally near to s, and the first row has the larger label
    tie = np.array([[2 * s], [0.0], [9 * s]])
    names = np.array([7, 4, 9]) + int(rng.integers(0, 20))
    new = np.array([[s], [8 * s]])
    yield "equally near: the smaller label", dict(X=tie, y=names, new=new, before=None)
    yield "one label only", _classes(rng, 5, kept=(1,))
    some = _classes(rng, 2)
    yield "one new row", some | dict(new=some["X"][3:4])
    yield "no new row", some | dict(new=np.zeros((0, 2)))


MeanReader.mistakes(
    {
        "the place in place of the label": (
            "self.labels[np.argmin(distances)]",
            "np.argmin(distances)",
            "Which label belongs to the average in that place? Labels need not be 0, 1, 2.",
        ),
        "sums, not averages": (
            "np.mean(X[y == label], axis=0)",
            "np.sum(X[y == label], axis=0)",
            "A label with many rows has a sum far away. What is shared out?",
        ),
        "the average of everything": (
            "np.mean(X[y == label], axis=0)",
            "np.mean(X, axis=0)",
            "Each label has its own rows: X[y == label].",
        ),
        "one number for each label": (
            "np.mean(X[y == label], axis=0)",
            "np.mean(X[y == label])",
            "An average of rows is a row: average column by column.",
        ),
        "the first row of each label": (
            "np.mean(X[y == label], axis=0)",
            "X[y == label][0]",
            "One row is kept, the others are not used. Which picture stands for all?",
        ),
        "the farthest average": (
            "np.argmin(",
            "np.argmax(",
            "Which average is most like the row, that with the largest sum of squares?",
        ),
        "absolute differences": (
            "(mean - x) ** 2",
            "abs(mean - x)",
            "Nearest is told by squares here.",
        ),
        "the median": (
            "np.mean(X[y == label], axis=0)",
            "np.median(X[y == label], axis=0)",
            "The middle row ignores how far away the others are.",
        ),
        "the last row is not named": (
            "for x in X:",
            "for x in X[:-1]:",
            "How many labels do you return for how many rows?",
        ),
    }
)


@MeanReader.wrong(
    "an earlier fit is still there",
    advice="Fitted twice, your reader still knows the averages of the first time. Where do the lists begin anew?",
)
class _:
    def __init__(self):
        self.labels, self.means = [], []

    def fit(self, X, y):
        for label in np.unique(y):
            self.labels.append(label)
            self.means.append(np.mean(X[y == label], axis=0))

    def predict(self, X):
        distances = [[((mean - x) ** 2).sum() for mean in self.means] for x in X]
        return np.array([self.labels[np.argmin(row)] for row in distances])


@MeanReader.wrong(
    "it learns by heart",
    advice="Your reader compares with single rows. It should keep one average for each label.",
)
class _:
    def fit(self, X, y):
        self.X, self.y = X, y

    def predict(self, X):
        return np.array([self.y[((self.X - x) ** 2).sum(1).argmin()] for x in X])


MeanReader.equivalent(
    {
        "distances = [np.sum((mean - x) ** 2) for mean in self.means] → distances = [np.mean((mean - x) ** 2) for mean in self.means]": "Here, too, the mean in place of the sum will do."
    }
)

MeanReader.worked(
    why="""`fit` boils all rows of a label down to one, so `predict` need not know how many there were: 300 pictures
    become ten. Two lists of equal length tie each average to its label, and `np.argmin` gives the place in both. It
    takes the first of equals, and since `np.unique` sorts, that is the smaller label. Both lists begin anew in
    `fit`, so that a second training forgets the first."""
)


@MeanReader.right("with a dict and all distances at once")
class _:
    def fit(self, X, y):
        self.means = {int(k): X[y == k].sum(0) / np.sum(y == k) for k in sorted(set(y))}

    def predict(self, X):
        M = np.array(list(self.means.values()))
        told = ((np.asarray(X)[:, None] - M) ** 2).sum(-1).argmin(1)
        return np.array(list(self.means))[told]


@MeanReader.right("by its classifier", library="sklearn.neighbors.NearestCentroid")
def _():
    from sklearn.neighbors import NearestCentroid

    class Reader(NearestCentroid):
        def fit(self, X, y):
            self.only = (
                y[:1] if len(np.unique(y)) == 1 else None
            )  # it asks for two labels
            return self if self.only is not None else super().fit(X, y)

        def predict(self, X):
            if self.only is not None or len(X) == 0:  # and for a row
                return np.repeat(self.only if len(X) else 0, len(X))
            return super().predict(X)

    return Reader()


# -------------------------------------------------------------------------- train_predict_evaluate

train_predict_evaluate = Exercise(
    "train_predict_evaluate",
    reference=lambda X, y, order, n_train: {
        "shares": reference.train_predict_evaluate(X, y, order, n_train),
        "fitted": (X[order[:n_train].long()], y[order[:n_train].long()]),
        "fits": 1,
    },
    data_dependent="the labels are those that occur",
    hints=[
        "Which rows may `fit` see, and which may it not? Make two arrays of row numbers first.",
        "seen = order[:n_train] and new are the others. model.fit gets X[seen] and the labels of the same rows; model.predict gets rows alone.",
        "After fit: np.mean(model.predict(X[seen]) == y[seen]), and the same with new. Return both.",
    ],
)


@train_predict_evaluate.probe
def _(answer, X, y, order, n_train):
    fitted = []

    class NearestMean:
        """Gives the label whose mean is nearest; writes down what it is fitted to."""

        def fit(self, X, y):
            fitted.append((np.array(X), np.array(y)))
            self.labels = np.unique(y)
            self.means = np.array([np.mean(X[y == k], axis=0) for k in self.labels])
            return self

        def predict(self, X):
            if not fitted:
                return np.zeros(len(X))
            far = ((np.asarray(X)[:, None, :] - self.means) ** 2).sum(-1)
            return self.labels[far.argmin(1)]

    shares = answer(NearestMean(), X, y, order, n_train)
    return {"shares": tuple(shares), "fitted": fitted[0], "fits": len(fitted)}


def _clusters(rng, labels, n, n_train, *wrong, left_out=0):
    """Drawn until the order matters: to the rows and to the labels of the training rows."""
    while True:
        told = _drawn(rng, labels, n, n_train, *wrong, left_out)
        order, y = told["order"], told["y"]
        if order[0] and (y[:n_train] != y[order[:n_train]]).any():
            return told


def _drawn(rng, labels, n, n_train, wrong_seen, wrong_new, left_out):
    """Two clusters far apart in drawn order; so many labels at the end of each part are wrong on purpose."""
    low, high = labels
    order = rng.permutation(n)
    y = np.empty(n, int)
    truth = np.array([low, high] * n)[:n]
    X = np.round(np.where(truth == low, -3, 3)[:, None] + rng.uniform(-1, 1, (n, 2)), 2)
    given = np.where(truth == low, high, low)
    kept = np.arange(n)
    right = (kept < n_train - wrong_seen) | ((kept >= n_train) & (kept < n - wrong_new))
    y[order], rows = np.where(right, truth, given), np.empty_like(X)
    rows[order] = X
    return dict(X=rows, y=y, order=order[: n - left_out], n_train=n_train)


@train_predict_evaluate.cases
def _(rng):
    a, b = (int(v) for v in rng.integers(0, 2, 2))
    yield "train, then predict, then compare", _clusters(rng, (0, 1), 13, 8, 1, 1 + a)
    yield "labels move with their rows", _clusters(rng, (0, 1), 12, 7, 1, b)
    yield "labels need not be 0 and 1", _clusters(rng, (3, 7 + a), 15, 9, 2, 2)
    yield "rows that order leaves out", _clusters(rng, (0, 1), 14, 6, 1, 3, left_out=3)
    yield "a single new row", _clusters(rng, (0, 1), 9, 8, 1, a)
    yield "more new rows than training rows", _clusters(rng, (0, 1), 13, 4, 0, 3 + b)
    yield "everything new is wrong: 0", _clusters(rng, (0, 1), 9 + a, 6, 0, 3 + a)
    yield "a single training row", _clusters(rng, (0, 1), 5 + a, 1, 0, 1)


train_predict_evaluate.mistakes(
    {
        "evaluated on the training rows only": (
            "np.mean(right_new)",
            "np.mean(right_seen)",
            "Two shares are asked for. On which rows is your second?",
        ),
        "trained on everything": (
            "model.fit(X[seen], y[seen])",
            "model.fit(X[order], y[order])",
            "fit saw the new rows, too. Every label of theirs makes the second share say less.",
        ),
        "trained on the new rows": (
            "model.fit(X[seen], y[seen])",
            "model.fit(X[new], y[new])",
            "Which part is for training, the first n_train rows or the others?",
        ),
        "the order is not used": (
            "order[:n_train], order[n_train:]",
            "np.arange(n_train), np.arange(n_train, len(y))",
            "Row order[0] comes first, not row 0.",
        ),
        "the labels stay behind": (
            "model.fit(X[seen], y[seen])",
            "model.fit(X[seen], y[:n_train])",
            "You moved the rows. Whose label stands first now?",
        ),
        "the two shares in each other's place": (
            "np.mean(right_seen), np.mean(right_new)",
            "np.mean(right_new), np.mean(right_seen)",
            "First the share on the training rows, then that on the new ones.",
        ),
        "the share of mistakes": (
            "model.predict(X[new]) == y[new]",
            "model.predict(X[new]) != y[new]",
            "A perfect model should score 1 and a hopeless one 0. Which does yours give?",
        ),
        "the number of hits": (
            "np.mean(right_seen), np.mean(right_new)",
            "np.sum(right_seen), np.sum(right_new)",
            "A count depends on how many rows there are. A share of them does not.",
        ),
        "in per cent": (
            "np.mean(right_seen), np.mean(right_new)",
            "100 * np.mean(right_seen), 100 * np.mean(right_new)",
            "A share is a number from 0 to 1. What is yours for a perfect model?",
        ),
        "trained a second time": (
            "right_new = ",
            "model.fit(X[new], y[new]); right_new = ",
            "fit is called once. What does the model know at the second prediction?",
        ),
        "the new rows are those that order leaves out": (
            "order[n_train:]",
            "np.setdiff1d(np.arange(len(y)), order[:n_train])",
            "Only rows that stand in order take part.",
        ),
        "the last rows for training": (
            "order[:n_train], order[n_train:]",
            "order[len(order) - n_train:], order[:len(order) - n_train]",
            "The first n_train numbers of order are for training. Which end did you take?",
        ),
    }
)

train_predict_evaluate.worked(
    why="""One array of row numbers for each part, and every table is asked by the same numbers: so no row can lose its
    label. `fit` gets one part alone, and nothing of the other reaches the model before it predicts. The mean of an
    array of true and false counts the true ones and divides by how many there are."""
)


@train_predict_evaluate.right("counting in a loop")
def _(model, X, y, order, n_train):
    train, rest = list(order[:n_train]), list(order[n_train:])
    model.fit(np.array([X[i] for i in train]), np.array([y[i] for i in train]))
    shares = []
    for part in (train, rest):
        guesses = model.predict(np.array([X[i] for i in part]))
        hits = [int(g == y[i]) for g, i in zip(guesses, part, strict=True)]
        shares.append(sum(hits) / len(hits))
    return shares


@train_predict_evaluate.right("by its score", library="sklearn.metrics.accuracy_score")
def _(model, X, y, order, n_train):
    from sklearn.metrics import accuracy_score

    seen, new = np.split(order, [n_train])
    model.fit(X[seen], y[seen])
    return [accuracy_score(y[part], model.predict(X[part])) for part in (seen, new)]


# ------------------------------------------------------------------------------------------- learn

learn = Exercise(
    "learn",
    reference=reference.learn,
    compare=close(
        rtol=1e-6, atol=1e-8
    ),  # sums are rounded, decisions are far from ties
    data_dependent="whether a try is kept depends on the loss",
    hints=[
        "Three loops, one in the other: rounds, knobs, and the two turns +step and -step. What do you know after a round that kept nothing?",
        "Before the loops: a copy of theta, the mean loss there as best, a list with it. For each turn: a copy of theta with one entry changed, its mean loss; if that is below best, the copy becomes theta, its loss best, and break leaves the turns.",
        "Remember best at the beginning of a round. After both inner loops compare: if best has not changed, halve step. Then append best to the list. After all rounds return theta and the list.",
    ],
)


@learn.probe
def _(answer, X, y, theta, step, n_rounds, model, loss):
    models = {
        "linear": lambda t, X: X @ t,
        "square": lambda t, X: (X @ t) ** 2,
        "relu": lambda t, X: np.maximum(X @ t, 0),
    }
    losses = {
        "squared": lambda y, guess: (y - guess) ** 2,
        "pinball": lambda y, guess: np.maximum(0.9 * (y - guess), 0.1 * (guess - y)),
    }
    theta, risks = answer(models[model], losses[loss], X, y, theta, step, n_rounds)
    return theta, risks


# columns that lean on each other: one knob's best place depends on the others
TABLE = np.array([[1, 2, 1], [1, -1, 0.5], [1, 0.5, -2], [1, 1, 2.5], [1, -2, 1]])
OFF = np.array([0.03, -0.04, 0.01, 0.05, -0.02])


def _setup(
    rng, theta, step, n_rounds, *, to, model="linear", loss="squared", X=TABLE, r=None
):
    """Starts at theta, wants the knobs near `to`. Other units are drawn for knobs and for y: no decision changes."""
    c = float(rng.uniform(0.5, 2))
    r = float(rng.uniform(0.5, 2)) if r is None else r
    X = X[:, : len(to)]
    z = X @ np.array(to) + OFF[: len(X)]
    y = {"linear": c * z, "square": (c * z) ** 2, "relu": c * np.maximum(z, 0)}[model]
    theta = np.array(theta) if r == 1 else r * np.array(theta, float)
    told = dict(X=c / r * X, y=y, theta=theta, step=r * step, n_rounds=n_rounds)
    return told | dict(model=model, loss=loss)


@learn.cases
def _(rng):
    yield (
        "knobs turn towards a smaller risk",
        _setup(rng, [0, 0], 0.5, 3, to=[2.3, -1.4]),
    )
    yield (
        "knobs turn towards a smaller risk",
        _setup(rng, [0.5, 0], 0.5, 3, to=[-2.2, 1.3]),
    )
    leaning = _setup(rng, [1, -1, 0.5], 1.0, 3, to=[-2.2, 1.3, 3.2])
    yield "a try is kept at once", leaning
    wide = _setup(rng, [0, 0], 4.0, 9, to=[0.9, 1.2])
    yield "a round that kept nothing halves the step", wide
    yield "only such a round halves it", _setup(rng, [0, 0], 1.0, 7, to=[5.3, -0.2])
    pinball = _setup(rng, [0, 0], 0.5, 6, to=[1.4, -0.8], loss="pinball")
    yield "the loss that was handed in, the y first", pinball
    square = _setup(rng, [0, 0], 0.25, 6, to=[0.8, -0.6], model="square")
    yield "the model that was handed in; first larger", square
    for step in (
        2.0,
        4.0,
        8.0,
    ):  # too long for either turn, until halved, then good for both
        far = _setup(rng, [0, 0], step, 5, to=[0.8, -0.6], model="square")
        yield "the model that was handed in; first larger", far
    # larger helps, and from the same place smaller would have helped more
    other = _setup(rng, [-0.1, 0.05], 0.5, 4, to=[0.8, -0.6], model="square")
    yield "the model that was handed in; first larger", other
    flat = _setup(rng, [0.0], 0.5, 4, to=[-1.3], model="relu", X=-abs(TABLE[:, :1]))
    yield "what changes nothing is not kept", flat
    whole = _setup(rng, [1, 2], 0.25, 3, to=[1.3, 2.6], r=1)
    yield "whole numbers to start from", whole
    one = _setup(rng, [0.0], 1.0, 5, to=[-2.6], X=TABLE[:1])
    yield "one knob, one example", one
    yield "no round at all", _setup(rng, [0.5, 0], 1.0, 0, to=[1, 1])


TRY = "theta, best = trial, risk"
learn.mistakes(
    {
        "the sum of the losses": (
            "np.array(risks)",
            "len(y) * np.array(risks)",
            "A risk must not grow when the data are copied behind themselves. Average the losses.",
        ),
        "label and prediction in each other's place": (
            "theta = np.array(theta, float)",
            "theta, own = np.array(theta, float), loss\n    loss = lambda y, guess: own(guess, y)",
            "loss(y, predictions): the y comes first. Squares do not notice; a loss that tells too low from too high does.",
        ),
        "the largest loss": (
            "theta = np.array(theta, float)",
            "theta, own = np.array(theta, float), loss\n    loss = lambda y, guess: np.max(own(y, guess))",
            "One bad example decides alone in your version. The risk is an average.",
        ),
        "halved after every round": (
            "if best == before:",
            "if True:",
            "As long as something helps, the steps stay long. When is step halved?",
        ),
        "never halved": (
            "step = step / 2",
            "pass",
            "Near the best place every try is too long. What should change then?",
        ),
        "every turn is kept": (
            "if risk < best:",
            "if True:",
            "A turn that makes it worse has to be taken back. Do you compare with the lowest risk so far?",
        ),
        "equals are kept": (
            "if risk < best:",
            "if risk <= best:",
            "A knob that changes nothing wanders off. Kept is what is lower.",
        ),
        "only larger is tried": (
            "(step, -step)",
            "(step,)",
            "Some knobs have to be turned down. What is tried after larger?",
        ),
        "smaller first": (
            "(step, -step)",
            "(-step, step)",
            "In which order are the two turns tried? First larger.",
        ),
        "a turn that did not help is not taken back": (
            "for turn in (step, -step):\n                trial = theta.copy()",
            "for turn in (step, -2 * step):\n                trial = theta",
            "Where does a knob stand when neither turn has helped? `trial = theta` is the same array by another name: take a copy.",
        ),
        "the start's risk is missing": (
            "np.array(risks)",
            "np.array(risks[1:])",
            "n_rounds + 1 numbers: the first belongs to the start.",
        ),
        "the risk after each try": (
            "risk = np.mean(loss(y, model(trial, X)))",
            "risk = np.mean(loss(y, model(trial, X))); risks.append(min(best, risk))",
            "One number a round, after all knobs. Where does your append stand?",
        ),
        "the last risk tried": (
            "risks.append(best)",
            "risks.append(risk)",
            "Told is the lowest mean so far, not that of the last try.",
        ),
        "all knobs at once": (
            "trial[knob] = trial[knob] + turn",
            "trial = trial + turn",
            "One knob at a time: the others stay where they are.",
        ),
        "turned to step, not by it": (
            "trial[knob] = trial[knob] + turn",
            "trial[knob] = turn",
            "A knob is turned by a step from where it stands.",
        ),
        "whole numbers stay whole": (
            "np.array(theta, float)",
            "np.array(theta)",
            "theta may hold whole numbers, and what you write into such an array is cut off. Which kind does yours keep?",
        ),
        "one round too few": (
            "range(n_rounds)",
            "range(n_rounds - 1)",
            "How many numbers do you return for n_rounds rounds?",
        ),
    }
)

# after a step that was kept, its opposite leads back to the old place, which is no lower
learn.equivalent(
    {
        "break → pass": "kept at once where the mean of the losses is lower than the lowest so far"
    }
)

learn.worked(
    why="""The loop never needs to know what the knobs mean: it asks for one number, the average loss, and keeps what
    lowers it. A trial is a copy, so a turn that does not help costs nothing to take back. Steps stay long while
    they help and are halved when none does, so the walk is first fast, then exact. Its price: up to two looks at all data
    for each knob and round. Gradient descent will need one look for all knobs."""
)


@learn.right("a knob is turned back where that did not help")
def _(model, loss, X, y, theta, step, n_rounds):
    knobs = [float(k) for k in theta]

    def risk():
        return float(np.mean(loss(y, model(np.array(knobs), X))))

    told = [risk()]
    for _ in range(n_rounds):
        lowest, helped = told[-1], False
        for j in range(len(knobs)):
            for sign in (1, -1):
                old = knobs[j]
                knobs[j] = old + sign * step
                if risk() < lowest:
                    lowest, helped = risk(), True
                    break
                knobs[j] = old
        if not helped:
            step *= 0.5
        told.append(lowest)
    return knobs, told


@learn.right("with rows of the identity")
def _(model, loss, X, y, theta, step, n_rounds):
    def risk(t):
        return loss(y, model(t, X)).sum() / len(X)

    theta = theta.astype(float)
    risks = np.full(n_rounds + 1, risk(theta))
    for k in range(1, n_rounds + 1):
        tried = 0
        for turn in np.kron(np.eye(len(theta)), [[step], [-step]]):
            if risk(theta + turn) < risks[k - 1 + min(tried, 1)]:
                theta, tried = theta + turn, 1
                risks[k] = risk(theta)
        if not tried:
            step, risks[k] = step / 2, risks[k - 1]
    return theta, risks


# --------------------------------------------------------------------------------------------- run

run = Exercise(
    "run",
    reference=reference.run,
    hints=[
        "What does the second layer read: x, or what the first one made?",
        "Keep a list that starts with x. Each layer reads its last entry, trace[-1], and appends a new vector.",
        "for W, b, act in program: append act(W @ trace[-1] + b). Return the list after the loop.",
    ],
)


@run.probe
def _(answer, program, x):
    acts = {
        "identity": lambda z: z,
        "relu": lambda z: np.maximum(z, 0),
        "tanh": np.tanh,
    }
    told = answer([(W, b, acts[act]) for W, b, act in program], x)
    return [np.asarray(vector) for vector in told]


def _layer(rng, m, d, act):
    return (
        np.round(rng.normal(0, 0.6, (m, d)), 2),
        np.round(rng.uniform(0.5, 1.5, m), 2),
        act,
    )


@run.cases
def _(rng):
    x = np.round(rng.uniform(0.5, 1.5, 4) * rng.choice([-1.0, 1.0], 4), 2)
    yield "one layer", dict(program=[_layer(rng, 2, 3, "identity")], x=x[:3])
    two = [_layer(rng, 2, 3, "tanh"), _layer(rng, 4, 2, "identity")]
    yield "the second layer reads the first", dict(program=two, x=x[:3])
    bend = np.eye(3), np.array([-2.0, 1.0, -1.5]), "relu"
    low = np.round(rng.uniform(0.2, 0.9, 3), 2)
    yield "the bias comes before the activation", dict(program=[bend], x=low)
    square = [_layer(rng, 3, 3, "tanh") for _ in range(3)]
    yield "three layers, as many out as in", dict(program=square, x=x[:3])
    yield "zeros leave act(b)", dict(program=[_layer(rng, 3, 4, "tanh")], x=np.zeros(4))
    yield "one number in, one out", dict(program=[_layer(rng, 1, 1, "tanh")], x=x[:1])
    yield "an empty program", dict(program=[], x=x)


MAKES = "act(W @ trace[-1] + b)"
run.mistakes(
    {
        "the activation before the bias": (
            MAKES,
            "act(W @ trace[-1]) + b",
            "A bias moves the point where a unit switches on. It must be added before act sees the sum.",
        ),
        "every layer reads x": (
            MAKES,
            "act(W @ x + b)",
            "The second layer reads what the first one made, not x.",
        ),
        "the matrix is transposed": (
            MAKES,
            "act(trace[-1] @ W + b)",
            "Row i of W makes output i. With h @ W it would be column i: look at a W that is not square.",
        ),
        "no activation": (
            MAKES,
            "W @ trace[-1] + b",
            "act was handed in but never called.",
        ),
        "no bias": (
            MAKES,
            "act(W @ trace[-1])",
            "Feed in a vector of zeros: what should come out?",
        ),
        "multiplied entry by entry": (
            MAKES,
            "act(W * trace[-1] + b[:, None])",
            "W * h scales the columns of W and gives a table. Which operator sums?",
        ),
        "the activation inside the product": (
            MAKES,
            "W @ act(trace[-1]) + b",
            "You bent the inputs. The formula bends the sums: act goes around everything.",
        ),
        "the start is missing": (
            "return trace",
            "return trace[1:]",
            "The list begins with x: k layers make k + 1 vectors.",
        ),
        "only the last vector": (
            "return trace",
            "return trace[-1:]",
            "All vectors are asked for, from x on.",
        ),
        "only the first layer": (
            "in program:",
            "in program[:1]:",
            "A return inside the loop ends it at once. How many layers have run by then?",
        ),
    }
)

run.worked(
    why="""The list is the memory and the loop at once: each layer reads the newest vector and appends one more. The
    interpreter knows nothing of digits or of XOR; what a program does stands in its matrices alone. Inside the
    brackets first comes the product, then the bias, and the activation goes around both."""
)


@run.right("unit by unit, by recursion")
def _(program, x):
    if not program:
        return [x]
    *earlier, (W, b, act) = program
    trace = [x]
    for V, c, bend in earlier:
        trace.append(bend(np.array([row @ trace[-1] for row in V]) + c))
    h = [sum(w * v for w, v in zip(row, trace[-1])) for row in W]
    return [*trace, act(np.array(h) + b)]


@run.right("by torch's layer", library="torch.nn.functional.linear")
def _(program, x):
    trace = [x]
    for W, b, act in program:
        h, W, b = (torch.as_tensor(a) for a in (trace[-1], W, b))
        trace.append(act(torch.nn.functional.linear(h, W, b).numpy()))
    return trace


# ---------------------------------------------------------------------------------- counterexample

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


def _sides(points, left, right, rtol=1e-9):
    values = (points, left, right)
    points, left, right = ([float(v) for v in side] for side in values)
    return dict(points=points, left_values=left, right_values=right, rtol=rtol)


@counterexample.cases
def _(rng):
    p = (10.0 + np.arange(5) + np.round(rng.uniform(0, 0.9, 5), 1))[[0, 4, 2, 1, 3]]
    v = np.round(rng.uniform(2.5, 9, 5), 2)
    several = _sides(p, v, v + [0, 0, 0.5, 0.75, 0.25])
    yield "the first of several counterexamples", several
    yield "a true formula has none", _sides(p, v, v)
    yield "rounding is no counterexample", _sides(p, v, v * (1 + 4e-16))
    yield "numbers below zero", _sides(p, -v, -v * (1 + 4e-16))
    yield "another sign is another number", _sides(p, v, v * [1, 1, 1, -1, 1])
    some = _sides(p, v, v * [1, 0.95, 1, 0.8, 1], rtol=0.1)
    yield "the tolerance that was handed in", some
    # 0.104 is less than a tenth of the larger, and more than a tenth of the smaller
    larger = _sides(p, [1, -1.104, -1, 1, 1], [1.104, -1, -1.104, 1.2, 1], rtol=0.1)
    yield "times the larger of the two", larger
    large = _sides(p, 1e12 * v, 1e12 * v + 2e-3)
    yield "large numbers: rounding grows with them", large
    small = _sides(p, 1e-13 * v, 1e-13 * v * [1, 2, 1, 1, 1])
    yield "small numbers: a small difference counts", small
    nan = np.where(np.arange(5) == 3, np.nan, v)
    yield "nan agrees with nothing", _sides(p, v, nan)
    yield "nan agrees with nothing", _sides(p, nan, nan)
    yield "the last point is looked at", _sides(p, v, v + [0, 0, 0, 0, 1])
    yield "zero agrees with zero", _sides(p, 0 * v, 0 * v)
    yield "no points, no counterexample", _sides([], [], [])


ASKS = "not abs(a - b) <= rtol * max(abs(a), abs(b))"
counterexample.mistakes(
    {
        "the larger value, not the larger size": (
            "max(abs(a), abs(b))",
            "max(a, b)",
            "Of -2 and -3 the larger value is -2, and a negative tolerance is never met. Where do the absolute values go?",
        ),
        "the smaller of the two": (
            "max(abs(a), abs(b))",
            "min(abs(a), abs(b))",
            "Times the larger of the two absolute values. Which one do you take?",
        ),
        "always the same tolerance": (
            "rtol * max",
            "1e-9 * max",
            "rtol is an argument; 1e-9 is only its default. Is it used in your comparison?",
        ),
        "exactly equal or not": (
            ASKS,
            "a != b",
            "0.1 + 0.2 == 0.3 is False on every computer: floats carry about 16 digits. Where does rtol come in?",
        ),
        "isclose with tolerances of its own": (
            ASKS,
            "not np.isclose(a, b)",
            "np.isclose brings a relative tolerance of 1e-5 and an absolute one of 1e-8. Yours is rtol, and nothing else: set both.",
        ),
        "an absolute tolerance": (
            " * max(abs(a), abs(b))",
            "",
            "A difference of 0.001 is nothing beside a million million and everything beside 1e-13. What must rtol be multiplied by?",
        ),
        "nan slips through": (
            ASKS,
            "abs(a - b) > rtol * max(abs(a), abs(b))",
            "Every comparison with nan is False, so `difference > tolerance` never fires. Ask instead whether the sides agree.",
        ),
        "strictly smaller than the tolerance": (
            "<= rtol",
            "< rtol",
            "Where both sides are 0 the tolerance is 0 as well. Do 0 and 0 agree in your version?",
        ),
        "signs are not looked at": (
            "abs(a - b)",
            "abs(abs(a) - abs(b))",
            "Do 2 and -2 agree in your version?",
        ),
        "None after the first point": (
            "            return p",
            "            return p\n        return None",
            "One point that agrees proves nothing. Where does your `return None` stand: inside the loop or after it?",
        ),
        "the last counterexample": (
            "for p in points:",
            "for p in points[::-1]:",
            "Stop at the first one: return as soon as you meet it.",
        ),
        "the smallest of the counterexamples": (
            "for p in points:",
            "for p in sorted(points):",
            "The first in the list is asked for; the list need not be sorted.",
        ),
        "its position instead of the point": (
            "return p",
            "return points.index(p)",
            "Your result counts 0, 1, 2, …. The point itself is asked for: what is points[i]?",
        ),
    }
)

counterexample.worked(
    why="""One disagreement decides, so the loop returns at the first; only when all points agreed, after the loop, is
    there nothing to return. The test asks whether the sides agree and turns the answer round. Written the other way,
    with `>`, a nan would pass: every comparison with it is false. A tolerance relative to the larger size treats
    1e-13 and 1e12 alike."""
)


@counterexample.right("isclose with one tolerance only", library="math.isclose")
def _(left, right, points, rtol=1e-9):
    agree = [math.isclose(left(p), right(p), rel_tol=rtol) for p in points]
    return points[agree.index(False)] if False in agree else None


@counterexample.right("numpy's isclose with a tolerance set at each point")
def _(left, right, points, rtol=1e-9):
    for p in points:
        a, b = left(p), right(p)
        if not np.isclose(a, b, rtol=0, atol=rtol * max(abs(a), abs(b))):
            return p
    return None


# ------------------------------------------------------------------------------- topological_order

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
    # as the check data sorts its keys
    fresh = sorted(rng.permutation(list("pqrstuvwxyz"))[: len(letters)])
    names = dict(zip(written, map(str, fresh), strict=True))
    pairs = [edge.split(">") for edge in edges]
    return dict(
        inputs_of={names[v]: [names[u] for u, w in pairs if w == v] for v in written}
    )


@topological_order.cases
def _(rng):
    yield "a chain", _graph(rng, ["a>b", "b>c", "c>d"])
    yield "two branches that meet", _graph(rng, ["a>b", "a>c", "b>d", "c>d", "d>e"])
    yield "a skip connection", _graph(rng, ["a>b", "b>c", "c>d", "a>d", "d>e", "a>e"])
    yield "two separate programs", _graph(rng, ["a>b", "b>c", "d>e"])
    yield "a loop has no order", _graph(rng, ["a>b", "b>c", "c>b", "c>d"])
    long = _graph(rng, ["a>b", "b>c", "c>d", "d>e", "e>b"])
    yield "a loop has no order", long
    yield "a node that reads itself is a loop", _graph(rng, ["a>b", "b>b", "b>c"])
    yield "nothing to order", dict(inputs_of={})


topological_order.mistakes(
    {
        "the order in which they are written": (
            "order = []",
            "order = list(inputs_of)",
            "A dict keeps the order of writing. Here steps are written in no useful order: look at what each one reads from.",
        ),
        "outputs first": (
            "    return order",
            "    return order[::-1]",
            "That is the order of the backward pass. Forward, a node comes after the nodes it reads from.",
        ),
        "a loop is not noticed": (
            "return None",
            "return order",
            "Your list misses the nodes on the loop and what depends on them. Compare its length with the graph's.",
        ),
        "one input is enough": (
            "all(one in order for one in inputs_of[node])",
            "(not inputs_of[node] or any(one in order for one in inputs_of[node]))",
            "A node must wait for its slowest input, not for its fastest.",
        ),
        "a node that reads itself is taken for harmless": (
            "all(one in order for one in inputs_of[node])",
            "all(one in order for one in inputs_of[node] if one != node)",
            "A node that reads from itself would need its own value before it has one.",
        ),
        "the first round only": (
            "order.append(ready[0])",
            "return ready",
            "Those can be computed at the start. Which become possible then?",
        ),
    }
)


@topological_order.wrong(
    "sorted by the number of inputs",
    advice="A node with one input can still come late: that input may be late itself. Look at the chain.",
)
def _(inputs_of):
    return sorted(inputs_of, key=lambda v: len(inputs_of[v]))


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


topological_order.equivalent(
    {
        "order.append(ready[0]) → order.append(ready[-1])": "Several orders may be right, and any of them counts."
    }
)

topological_order.worked(
    why="""A node is ready once all that it reads from is done. Whichever ready node comes first, the others stay ready,
    so no choice can be wrong. If nodes are missing and none is ready, each of them waits for another one of them: following
    these waits backwards must come round, and that is a loop."""
)


@topological_order.right("layer by layer")
def _(inputs_of):
    order = []
    while len(order) < len(inputs_of):
        ready = [
            v for v in inputs_of if v not in order and set(inputs_of[v]) <= set(order)
        ]
        if not ready:
            return None
        order += ready
    return order


@topological_order.right("by Python's own", library="graphlib.TopologicalSorter")
def _(inputs_of):
    import graphlib

    try:
        return list(graphlib.TopologicalSorter(inputs_of).static_order())
    except graphlib.CycleError:
        return None

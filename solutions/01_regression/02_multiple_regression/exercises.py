"""Exercises of 01_regression/02_multiple_regression."""

import numpy as np
import scipy.linalg
import torch

from descent.compare import close
from solutions.spec import Exercise

from . import reference


def signs(rng, *shape):
    return rng.choice([-1.0, 1.0], shape)


def rows(rng, n, d, level=3.0):
    """X (n, d), no column centred, and y with weights of both signs and noise."""
    X = rng.normal(size=(n, d)) + np.linspace(1, 2, d)
    truth = rng.uniform(1, 2, d) * np.resize([1.0, -1.0], d)
    return dict(X=X, y=X @ truth + rng.normal(size=n) + level)


def square(rng, n):
    """Square, far from singular, with no symmetry."""
    return 3 * np.eye(n) + rng.uniform(-0.8, 0.8, (n, n))


def almost_equal(rng, d=3):
    """Läuchli's matrix, signs and rows mixed: the entries 1 + 2^-54 of XᵀX round to 1, so XᵀX is singular.

    The targets fit exactly.
    """
    X = np.vstack([np.ones(d), 2.0**-27 * np.eye(d)]) * signs(rng, d + 1, 1)
    X = X[rng.permutation(d + 1)] * signs(rng, d)
    return dict(X=X, y=X @ (rng.permutation([1.0, 2.0, 5.0]) * signs(rng, d)))


def axes(rng, scales, n=5):
    """Columns on axes of their own: the singular values are `scales`, to the last digit."""
    X = np.zeros((n, len(scales)))
    chosen = rng.permutation(n)[: len(scales)]
    X[chosen, np.arange(len(scales))] = np.array(scales) * signs(rng, len(scales))
    return dict(X=X, y=signs(rng, n) * rng.uniform(0.5, 1.5, n))


def dependent(rng, n=6):
    """Three columns, the second one twice the first, the third of its own."""
    problem = rows(rng, n, 2)
    u, v = problem["X"].T
    return dict(X=np.column_stack([u, 2 * u, v]), y=problem["y"])


def rounded(rng):
    """A column twice, but for one part in 10^12."""
    problem = rows(rng, 6, 2)
    u, v = problem["X"].T
    again = u * (1 + 1e-12 * signs(rng, 6) * rng.uniform(0.5, 1, 6))
    return dict(X=np.column_stack([u, again, v]), y=problem["y"])


def whole(rng):
    """Whole numbers X (6, 3), y; what is drawn is the order of rows and the unit of y."""
    X = np.array(
        [[3, 1, -2], [-2, 4, 0], [5, 5, 1], [0, 2, 6], [-1, -3, 2], [7, -4, -1]]
    )
    y = np.array([4, -9, 6, -3, 5, 13]) * rng.integers(1, 4)
    order = rng.permutation(6)
    return dict(X=X[order], y=y[order])


BIG = 2.0**30  # a power of two scales without rounding


# ---------------------------------------------------------------------------------- design_matrix

design_matrix = Exercise(
    "design_matrix",
    reference=reference.design_matrix,
    compare=close(rtol=1e-9, atol=1e-12),
    limit=10.0,  # a first import of scikit-learn takes seconds on a busy machine
    hints=[
        "Write the matrix for two children on paper. How many columns does a feature of numbers make, how many one of "
        "three words?",
        "Keep a list of columns that starts with the ones. Of each feature ask whether it is a list; set "
        "gives its different words, sorted their order.",
        "For each of these words but the first append 1.0 where the feature has it, else 0.0: np.array(feature) == word "
        "compares all at once. Append numbers as they are. np.column_stack at the end.",
    ],
)


def heights(rng, n):
    return rng.normal(170, 8, n).round(1)


@design_matrix.cases
def _(rng):
    # of the words the first in the alphabet stands neither first nor last
    two = "male female female male male".split()
    both = dict(features=[heights(rng, 5), heights(rng, 5), two])
    yield "numbers and two words", both
    three = "red blue green green red blue red".split()
    yield "three words, two columns", dict(features=[three, heights(rng, 7)])
    four = "spring winter autumn summer winter autumn spring".split()
    both = dict(features=[four, heights(rng, 7), three])
    yield "each feature in its place", both
    yield "numbers only", dict(features=[heights(rng, 3), rng.normal(size=3)])
    one = dict(features=[heights(rng, 3), ["female"] * 3])
    yield "one word for all has no column", one
    yield "a single feature", dict(features=[list("bcab")])
    yield "a single feature", dict(features=[heights(rng, 3)])
    yield "a single row", dict(features=[heights(rng, 1), ["male"]])
    years = rng.integers(1900, 2000, 4)
    yield "whole numbers", dict(features=[years, list("baab")])


WORDS = "words[1:]"
design_matrix.mistakes(
    {
        "no column of ones": (
            "[np.ones(len(features[0]))]",
            "[]",
            "The intercept has no feature: which column does its weight belong to?",
        ),
        "the column of ones stands last": (
            "np.column_stack(columns)",
            "np.column_stack(columns[1:] + columns[:1])",
            "The first weight is the intercept. Which column holds the ones, then?",
        ),
        "a column for every word": (
            WORDS,
            "words",
            "Add up the columns of all the words: which column is that? One of them says nothing new.",
        ),
        "the last word is left out": (
            WORDS,
            "words[:-1]",
            "Of male and female, which one does the example give 0?",
        ),
        "words in the order of the rows": (
            "sorted(set(feature))",
            "list(dict.fromkeys(feature))",
            "Shuffle the rows: may the columns change their places? In which order do they stand?",
        ),
        "one column of codes 0, 1, 2": (
            f"for word in {WORDS}:\n                has = np.array(feature) == word\n                columns.append(has.astype(float))",
            "columns.append(np.array([words.index(w) for w in feature]))",
            "0, 1, 2 says that the third word is twice as far from the first as the second. How many columns do three words need?",
        ),
        "numbers first, words behind": (
            "columns.append(feature)",
            "columns.insert(1, feature)",
            "Which weight belongs to which feature? The columns keep the order of the features.",
        ),
        "one row a feature": (
            "np.column_stack(columns)",
            "np.array(columns)",
            "A child is a row. What does np.array make of a list of columns?",
        ),
    }
)

design_matrix.equivalent(
    {
        "columns = [np.ones(len(features[0]))] → columns = [np.ones(len(features[-1]))]": "Each is an array of n numbers, or a list of n\n    words (str)."
    }
)

design_matrix.worked(
    why=r"""Everything becomes a column of $n$ numbers, so one list carries the whole table. A feature of $k$ words has $k - 1$ columns:
    the one for the first word would be the column of ones minus all the others, and say nothing new. Its rows have the intercept
    alone, and each weight is a gap to them. Sorting makes the columns the same whatever the order of the rows."""
)


@design_matrix.right("row by row, as lists")
def _(features):
    words = [sorted(set(f)) if isinstance(f[0], str) else None for f in features]
    table = []
    for i in range(len(features[0])):
        row = [1.0]
        for f, known in zip(features, words):
            row += [float(f[i])] if known is None else [f[i] == w for w in known[1:]]
        table.append([float(value) for value in row])
    return table


@design_matrix.right("by its encoder", library="sklearn.preprocessing.OneHotEncoder")
def _(features):
    from sklearn.preprocessing import OneHotEncoder

    encoder = OneHotEncoder(drop="first", sparse_output=False)
    blocks = [np.ones((len(features[0]), 1))]
    for feature in features:
        column = np.array(feature).reshape(-1, 1)
        named = isinstance(feature, list)
        blocks.append(encoder.fit_transform(column) if named else column)
    return np.hstack(blocks)


# ----------------------------------------------------------------------------------------- gd_mlr

gd_mlr = Exercise(
    "gd_mlr",
    reference=reference.descent,
    # the reference forms XᵀX once, the loop multiplies by X twice
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("X", "y", "beta"),
    hints=[
        "One step first: which errors do the present weights make, and what does each column of X have to do with them?",
        "All d inner products of the errors with the columns are X transposed times e. The gradient is minus that, and "
        "you walk against it.",
        "A list that starts with beta; in each of `steps` rounds e = y - X @ path[-1], and append a new array, "
        "path[-1] plus eta times those inner products. np.array at the end.",
    ],
)


def walk(problem, beta, eta=0.05, steps=4):
    return {**problem, "beta": beta, "eta": eta, "steps": steps}


@gd_mlr.cases
def _(rng):
    yield "from any start", walk(rows(rng, 6, 3), rng.normal(size=3), 0.02)
    yield "from any start", walk(rows(rng, 7, 2), rng.normal(size=2), 0.02)
    yield "from zero", walk(rows(rng, 5, 2), np.zeros(2), 0.03)
    yield "more columns than rows", walk(rows(rng, 2, 4), rng.normal(size=4), 0.02)
    yield "a single row, a single column", walk(rows(rng, 1, 1), rng.normal(size=1))
    yield "whole numbers", walk(whole(rng), np.array([2, -1, 3]), 0.004)
    yield "no step at all", walk(rows(rng, 4, 2), rng.normal(size=2), steps=0)
    fitted = rows(rng, 7, 3)
    best = np.linalg.lstsq(fitted["X"], fitted["y"])[0]
    yield "at the best weights it stays", walk(fitted, best)
    yield "too long a step runs away", walk(rows(rng, 6, 2), rng.normal(size=2), 0.5)


STEP = "eta * X.T @ e"
gd_mlr.mistakes(
    {
        "uphill": ("+ eta", "- eta", "Do the errors grow or shrink from step to step?"),
        "a mean instead of a sum": (
            STEP,
            "eta * X.T @ e / len(y)",
            "This L sums over the rows. What do you divide by, and why?",
        ),
        "the one half is forgotten": (
            STEP,
            "2 * eta * X.T @ e",
            "L has a factor ½. What becomes of it when you differentiate a square?",
        ),
        "the errors are summed without their features": (
            STEP,
            "eta * e.sum() * np.ones(len(beta))",
            "All your weights move alike. By how much does the score of row i move with weight k?",
        ),
        "the gradient of the start, again and again": (
            "y - X @ path[-1]",
            "y - X @ path[0]",
            "The errors change with every step. Whose errors do you take?",
        ),
        "the start is missing": (
            "np.array(path)",
            "np.array(path[1:]).reshape(-1, len(beta))",
            "k steps make k + 1 rows: path[0] is the start.",
        ),
        "whole numbers cut off": (
            "np.array(path)",
            "np.array(path, np.asarray(beta).dtype)",
            "The start may hold whole numbers; the path does not.",
        ),
    }
)

gd_mlr.worked(
    why=r"""The errors are one vector, and column $k$ of $X$ says how much each of them changes with weight $k$. So all partial
    derivatives come out of one product, $X^\top e$, and descent adds it: a weight rises where its column and the errors agree.
    At the best weights $X^\top e = 0$, and the path stays. A new array in each step keeps the old ones as they were."""
)


@gd_mlr.right("by its optimiser", library="torch.optim.SGD")
def _(X, y, beta, eta, steps):
    X, y, b = (torch.tensor(v, dtype=torch.float64) for v in (X, y, beta))
    b.requires_grad_()
    optimiser, path = torch.optim.SGD([b], lr=eta), [b.detach().clone()]
    for _ in range(steps):
        optimiser.zero_grad()
        ((y - X @ b) ** 2 / 2).sum().backward()
        optimiser.step()
        path.append(b.detach().clone())
    return torch.stack(path)


# ------------------------------------------------------------------------------------- hat_matrix

hat_matrix = Exercise(
    "hat_matrix",
    reference=reference.hat_matrix,
    # Entries lie between -1 and 1. Through the pseudo-inverse, almost equal columns cost eight digits.
    compare=close(rtol=1e-6, atol=1e-6),
    batched=("X",),
    hints=[
        "If the columns of a matrix U are orthonormal and span the same space as the columns of X, what is the projection onto them?",
        "It is U times its own transpose. The singular value decomposition gives such columns: those whose singular value counts.",
        "U, s, Vt from np.linalg.svd(X, full_matrices=False); keep the columns of U where s is above 1e-10 times its "
        "largest, and multiply what is left with its transpose.",
    ],
)

NEAR = "almost equal columns still span a plane"


@hat_matrix.cases
def _(rng):
    def X(problem):
        return dict(X=problem["X"])

    yield "independent columns", X(rows(rng, 5, 2))
    ones = np.column_stack([np.ones(6), rng.normal(size=(6, 2))])
    yield "independent columns", dict(X=ones)
    yield "as many columns as rows, or more", dict(X=square(rng, 3))
    yield "as many columns as rows, or more", X(rows(rng, 2, 4))
    yield "a dependent column, anywhere", X(dependent(rng))
    u = rng.permutation([1.0, 2.0, 3.0, 5.0]) * signs(rng, 4)
    yield "a dependent column, anywhere", dict(X=np.column_stack([u, u]))
    yield "a dependent column, anywhere", dict(X=np.column_stack([np.zeros(4), u]))
    yield NEAR, X(almost_equal(rng))
    yield "a column twice, but for rounding", X(rounded(rng))
    for share in (0.3, 1.0):
        small = axes(rng, [0.2 * BIG, share * 1e-10 * BIG, BIG])
        yield "up to 1e-10 of the largest is nothing", X(small)
    yield "a little more than that counts", X(axes(rng, [0.2, 1.1e-10, 1.0]))
    yield "numbers of any size", dict(X=1e-12 * rows(rng, 5, 2)["X"])
    yield "numbers of any size", dict(X=1e12 * dependent(rng)["X"])
    yield "a single column, a single row", dict(X=u[:, None])
    yield "a single column, a single row", dict(X=u[None, :])
    yield "whole numbers", X(whole(rng))


COARSE = (
    "Almost equal columns are not equal ones. XᵀX squares the singular values, a ridge or a coarse cut-off hides the "
    "small ones. Which of X's own values are at most 1e-10 times the largest?"
)
UNIT = "In another unit all entries of X are smaller or larger, and so are its singular values. What do you compare them with?"
FINE = "What counts as 0 is not left to rounding. Which cut-off does the text name, and which does yours take?"
hat_matrix.mistakes(
    {
        "the cut-off does not grow with X": ("1e-10 * s[0]", "1e-10", UNIT),
        "a coarse cut-off": ("1e-10", "1e-6", COARSE),
        "keeps directions of singular value zero": (
            "s > 1e-10 * s[0]",
            "s >= 0",
            "Its trace is the number of columns, even where two are equal. Which columns of U really belong to the span?",
        ),
        "takes the residual": (
            "return U @ U.T",
            "return np.eye(len(X)) - U @ U.T",
            "Your matrix sends the columns of X to 0. Which one leaves them as they are?",
        ),
    }
)


@hat_matrix.wrong(
    "an explicit inverse of XᵀX",
    advice="With a column twice XᵀX has no inverse, and with almost equal ones rounding makes it so. The span is still there.",
)
def _(X):
    return X @ np.linalg.inv(X.T @ X) @ X.T


@hat_matrix.wrong("the pseudo-inverse with its own cut-off", advice=FINE)
def _(X):
    return X @ np.linalg.pinv(X)


@hat_matrix.wrong(
    "the first columns of X, as many as its rank",
    advice="The rank says how many columns are independent, not which. What if the second one is twice the first?",
)
def _(X):
    rank = np.linalg.matrix_rank(X, rtol=1e-10)
    Q = np.linalg.qr(X[:, :rank])[0]
    return Q @ Q.T


hat_matrix.equivalent(
    {
        "U = U[:, s > 1e-10 * s[0]] → U = -U[:, s > 1e-10 * s[0]]": "The columns of $U$ whose $s_j$ is not 0 are orthonormal and span the column space."
    }
)

hat_matrix.worked(
    why=r"""Onto orthonormal columns one projects without an inverse: the shares are $U^\top y$, and $U(U^\top y)$ puts them together. The
    singular value decomposition gives such columns for every $X$, and its $s_j$ tell which of them $X$ can reach. Rounding turns a
    zero into something like $10^{-16}$ of the largest, never into a clean 0, so there must be a cut-off, and it must grow with $X$."""
)


@hat_matrix.right("through the pseudo-inverse", library="numpy.linalg.pinv")
def _(X):
    return X @ np.linalg.pinv(X, rcond=1e-10)


@hat_matrix.right("QR with pivoting")
def _(X):
    Q, R, _ = scipy.linalg.qr(X, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    Q = Q[:, size > 1e-10 * size[0]]
    return Q @ Q.T


# -------------------------------------------------------------------------------------------- ols

ols = Exercise(
    "ols",
    reference=reference.ols,
    # Columns of condition number 2e8 cost QR eight of sixteen digits, and the normal equations all.
    compare=close(rtol=1e-6, atol=1e-9),
    data_dependent="which columns are used is decided by what is left of them",
    hints=[
        "Two passes. The first makes the directions q, one a column, and takes y along. The second has a triangular R: "
        "which weight is known first?",
        "First pass, column j: start from X[:, j]; for each q so far the share is its product with what is left, and goes into "
        "R[i, j]; then length, cut-off, direction. What is left of Y gives z_j in the same way. np.multiply.outer(q, z) works "
        "for one target and for several.",
        "Second pass, over the used columns from the last to the first, with weights that start at 0: weight j is z_j minus "
        "R[j] @ weights, divided by R[j, j]. The later weights are there already, the others are still 0.",
    ],
)

ALMOST = "almost equal columns are not equal"


def named(problem):
    return dict(X=problem["X"], Y=problem["y"])


def leaning(rng, share):
    """The last of three columns is the second, turned by that share; no rounding. The first one is long."""
    unit = signs(rng, 3) * [1e6, 4, 4]
    X = np.array([[0, 1, 1], [0, 0, share], [1, 0, 0], [0, 0, 0]]) * unit
    y = np.array([2.0, 3.0, 1.0, 5.0]) * rng.uniform(0.5, 1.5, 4)
    return dict(X=X, Y=y)


@ols.cases
def _(rng):
    ones = rows(rng, 8, 3)
    ones["X"][:, 0] = 1
    yield "one target", named(ones)
    yield "one target", named(rows(rng, 5, 1))
    two = dict(X=ones["X"], Y=rng.normal(2, 2, (8, 2)))
    yield "several targets, each on its own", two
    yield "several targets, each on its own", dict(X=ones["X"], Y=ones["y"][:, None])
    yield "no column is added", named(rows(rng, 7, 2, level=20.0))
    yield "one target", dict(X=square(rng, 3), Y=rng.normal(size=3))
    for _ in range(2):
        yield ALMOST, named(almost_equal(rng))
    X = almost_equal(rng)["X"]
    several = dict(X=X, Y=X @ (signs(rng, 3, 2) * [[1, 4], [2, 5], [3, 6]]))
    yield "almost equal columns, several targets", several
    yield "a dependent column is left out", named(dependent(rng))
    many = rows(rng, 7, 3)
    u, v, w = many["X"].T
    X = np.column_stack([u, v, u - 2 * v, w, w + u])
    yield "a dependent column is left out", dict(X=X, Y=rng.normal(2, 2, (7, 2)))
    yield "a dependent column is left out", named(rows(rng, 2, 4))
    # two columns that agree but for rounding: the rest of a large one is a large rest
    yield "a dependent column is left out", dict(X=1e9 * X[:, :4], Y=many["y"])
    first, second = (np.column_stack(c) for c in ([0 * u, u, v], [u, 0 * u, v]))
    yield "a column of zeros", dict(X=first, Y=many["y"])
    yield "a column of zeros", dict(X=second, Y=many["y"])
    yield "up to 1e-10 of its length is nothing", leaning(rng, 0.5e-10)
    yield "a little more than that counts", leaning(rng, 2e-10)
    for unit in ([1e-12, 1.0, 1e9], [1e9, 1.0, 1e-12]):
        units = named(rows(rng, 6, 3))
        yield "each column in its own unit", {**units, "X": units["X"] * unit}
    yield "whole numbers", named(whole(rng))


ols.mistakes(
    {
        "the shares are taken from the whole column": (
            "q[i] @ left",
            "q[i] @ X[:, j]",
            "On paper it is the same. In floats, the q's of almost equal columns end up far from perpendicular: take each share from what is left.",
        ),
        "the shares of y are taken from the whole y": (
            "q[j] @ rest",
            "q[j] @ Y",
            "Treat y as one more column: what was taken off already must not count again.",
        ),
        "the cut-off does not grow with the column": (
            "1e-10 * np.linalg.norm(X[:, j])",
            "1e-10",
            "In another unit the rest of a column is larger or smaller. What do you compare its length with?",
        ),
        "a coarse cut-off": (
            "1e-10",
            "1e-6",
            "A column of which 1e-8 is left is nearly dependent, and counts.",
        ),
        "only an exact zero is left out": (
            "1e-10 *",
            "0 *",
            "Rounding leaves 1e-16 where paper leaves 0. What do you divide by then?",
        ),
        "it ends at the first dependent column": (
            "continue",
            "break",
            "A column that says nothing new may stand before others that do.",
        ),
        "the weights are counted without the columns left out": (
            "return weights, used",
            "return weights, list(range(len(used)))",
            "The numbers are those of X's columns. Which column is the second that you use?",
        ),
        "the shares are taken for the weights": (
            "(z[j] - R[j] @ weights)",
            "z[j]",
            "R is triangular: what do the later weights contribute to row j? And which weight can be solved for first?",
        ),
        "the targets are centred first": (
            "rest = Y\n",
            "rest = Y - Y.mean(axis=0)\n",
            "X says already whether there is an intercept. What does centring do to a fit without one?",
        ),
    }
)


@ols.wrong(
    "inverts the normal equations",
    advice="XᵀX holds numbers like 1 + 1e-16. Does a float keep them? And with a dependent column there is no inverse at all.",
)
def _(X, Y):
    return np.linalg.inv(X.T @ X) @ X.T @ Y, list(range(X.shape[1]))


@ols.wrong(
    "the normal equations on the right columns",
    advice="You found which columns count. But XᵀX squares their condition number: solve without forming it.",
)
def _(X, Y):
    used = reference.used_columns(torch.tensor(X, dtype=torch.float64))
    weights = np.zeros((X.shape[1], *Y.shape[1:]))
    A = X[:, used]
    weights[used] = np.linalg.lstsq(A.T @ A, A.T @ Y)[0]
    return weights, used


@ols.wrong(
    "the shortest weights",
    advice="A dependent column shares the weight with the columns that it depends on. Here it gets 0.",
)
def _(X, Y):
    used = reference.used_columns(torch.tensor(X, dtype=torch.float64))
    return np.linalg.pinv(X, rcond=1e-12) @ Y, used


ols.worked(
    why=r"""Each column is split into what the earlier directions hold and what is new; the new part is the next direction. So
    $X = QR$ without a product of two columns of $X$ that rounding could flatten. $y$ goes the same way, and
    takes its shares off what is left: then the errors of $q_1, q_2, \dots$, which are not quite perpendicular, cancel. What is left
    of $y$ at the end is the residual. The triangle is solved from below, and a column that brought nothing new keeps weight 0."""
)


@ols.right("by its least squares", library="numpy.linalg.lstsq")
def _(X, Y):
    lengths = np.linalg.norm(X, axis=0)
    unit, used = X / np.where(lengths > 0, lengths, 1), []
    for j in range(X.shape[1]):
        left = unit[:, j]
        if used:
            left = left - unit[:, used] @ np.linalg.lstsq(unit[:, used], left)[0]
        if np.linalg.norm(left) > 1e-10:
            used.append(j)
    weights = np.zeros((X.shape[1], *Y.shape[1:]))
    found = np.linalg.lstsq(unit[:, used], Y)[0]
    weights[used] = (found.T / lengths[used]).T
    return weights, used


@ols.right("Gram and Schmidt twice, then scipy's triangle")
def _(X, Y):
    Q, used = np.zeros((len(X), 0)), []
    for j in range(X.shape[1]):
        left = X[:, j] - Q @ (Q.T @ X[:, j])
        left = left - Q @ (Q.T @ left)  # once more: what rounding left
        if np.linalg.norm(left) > 1e-10 * np.linalg.norm(X[:, j]):
            used.append(j)
            Q = np.column_stack([Q, left / np.linalg.norm(left)])
    weights = np.zeros((X.shape[1], *Y.shape[1:]))
    weights[used] = scipy.linalg.solve_triangular(Q.T @ X[:, used], Q.T @ Y)
    return weights.tolist(), used


# --------------------------------------------------------------------------------------- min_norm

min_norm = Exercise(
    "min_norm",
    reference=reference.minimum_norm,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("X", "y"),
    hints=[
        "Take X apart by its singular values. In which directions of beta does X beta not change at all? What should beta do there, to be short?",
        "Along v_j the fit needs the amount (u_j . y) / s_j. Leave out the j whose s_j counts as 0; their directions get none.",
        "From U, s, Vt = np.linalg.svd(X, full_matrices=False) keep the columns of U, entries of s and rows of Vt with s above "
        "1e-10 times the largest; the amounts, put back by the transposed rows, are beta.",
    ],
)

CLOSE = "almost equal columns"


@min_norm.cases
def _(rng):
    yield "more weights than rows", rows(rng, 2, 5)
    yield "as many rows as weights, or more", rows(rng, 6, 2)
    equal = dict(X=square(rng, 3), y=rng.normal(2, 1, 3))
    yield "as many rows as weights, or more", equal
    u = rng.permutation([1.0, 2.0, 3.0, 5.0]) * signs(rng, 4)
    twice = dict(X=np.array([u, u]), y=rng.normal(2, 1, 2))
    yield "the same row twice, targets that disagree", twice
    yield "a dependent column, anywhere", dependent(rng)
    equal = dict(X=np.column_stack([u, u]), y=rng.normal(2, 1, 4))
    yield "a dependent column, anywhere", equal
    one = dict(X=np.array([[0.0, 2.0, 0.0]]), y=rng.uniform(1, 2, 1))
    yield "one row, one weight that matters", one
    yield "all features are zero", dict(X=np.zeros((3, 2)), y=rng.normal(2, 1, 3))
    yield CLOSE, almost_equal(rng)
    yield "a column twice, but for rounding", rounded(rng)
    for share in (0.3, 1.0):
        small = axes(rng, [0.2 * BIG, share * 1e-10 * BIG, BIG])
        yield "up to 1e-10 of the largest is nothing", small
    yield "a little more than that counts", axes(rng, [0.2, 1.1e-10, 1.0])
    for size in (1e-12, 1e12):
        fat = dependent(rng)
        yield "numbers of any size", dict(X=size * fat["X"].T[:, :4], y=fat["y"][:3])
    yield "whole numbers", whole(rng)


min_norm.mistakes(
    {
        "the cut-off does not grow with X": ("1e-10 * s[0]", "1e-10", UNIT),
        "a coarse cut-off": ("1e-10", "1e-6", COARSE),
        "multiplies by the singular values": (
            "/ s[kept]",
            "* s[kept]",
            "If the features double, must the weights double or halve? Look at what you do with s.",
        ),
        "divides by zeros": (
            "s > 1e-10 * s[0]",
            "s >= 0",
            "In a direction that X does not see, how much of v_j does the shortest beta have?",
        ),
        "Lagrange's factor −½ is lost": (
            "return Vt[kept].T",
            "return -2 * Vt[kept].T",
            "With multipliers μ, 2β + Xᵀμ = 0: what is β? Follow the factor and the sign through, then test Xβ = y.",
        ),
    }
)


@min_norm.wrong(
    "takes the rows (or the columns) to be independent",
    advice="With the same row twice, XXᵀ has no inverse; with a column twice, XᵀX has none. X⁺ needs neither.",
)
def _(X, y):
    if X.shape[0] < X.shape[1]:
        return X.T @ np.linalg.inv(X @ X.T) @ y
    return np.linalg.inv(X.T @ X) @ X.T @ y


@min_norm.wrong(
    "the weights that are not needed are set to zero",
    advice="That fits, but is it the shortest? With the same column twice, compare (s, 0) with (s/2, s/2).",
)
def _(X, y):
    beta, chosen = np.zeros(X.shape[1]), []
    for j in range(X.shape[1]):
        if np.linalg.matrix_rank(X[:, [*chosen, j]], rtol=1e-10) > len(chosen):
            chosen.append(j)
    if chosen:
        beta[chosen] = np.linalg.lstsq(X[:, chosen], y)[0]
    return beta


@min_norm.wrong("NumPy's lstsq with its own cut-off", advice=FINE)
def _(X, y):
    return np.linalg.lstsq(X, y, rcond=None)[0]


@min_norm.wrong(
    "a ridge remains",
    advice="A ridge gives an answer for every X, but not this one: it shortens beta even where the fit suffers.",
)
def _(X, y):
    return np.linalg.solve(X.T @ X + 0.01 * np.eye(X.shape[1]), X.T @ y)


min_norm.worked(
    why=r"""In the bases $u_j$ and $v_j$ the problem falls apart into single numbers: $s_j$ times the amount along $v_j$ should be
    $u_j^\top y$. Where $s_j > 0$, one division settles it. Where $s_j = 0$ the amount changes no fit, only the length, so the best is 0.
    One recipe for tall, fat and dependent tables. The cut-off decides what 0 means: a value that is rounding, divided by, would
    fill $\beta$ with noise."""
)


@min_norm.right("by its pseudo-inverse", library="numpy.linalg.pinv")
def _(X, y):
    return np.linalg.pinv(X, rcond=1e-10) @ y


@min_norm.right("two QR factorisations")
def _(X, y):
    Q, R, order = scipy.linalg.qr(X, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    rank = np.sum(size > 1e-10 * size[0])
    P, S = np.linalg.qr(R[:rank].T)
    beta = np.zeros(X.shape[1])
    beta[order] = P @ np.linalg.solve(S.T, Q[:, :rank].T @ y)
    return beta


# -------------------------------------------------------------------------------------------- wls

wls = Exercise(
    "wls",
    reference=reference.weighted_least_squares,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("R", "X", "y"),
    limit=10.0,  # a first import of statsmodels takes seconds on a busy machine
    hints=[
        "Which rows should count more: those with a large or a small noise variance? In J(β) R stands in one place only, as an inverse.",
        "Two roads: the formula as it stands, with R⁻¹ in two places; or whiten: find L with R = L Lᵀ, multiply X and y by L⁻¹, and fit as ever.",
        "np.linalg.cholesky(R) is L; np.linalg.solve(L, X) and np.linalg.solve(L, y) are white; then plain least squares of the one on the other.",
    ],
)


@wls.cases
def _(rng):
    n = 6
    X = np.column_stack([np.ones(n), rng.permutation(n) + rng.uniform(0, 0.5, n)])
    y = rng.normal(2, 2, n)
    uneven = rng.permutation([0.1, 0.2, 0.5, 1.0, 3.0, 6.0])
    yield "quiet and noisy rows", dict(X=X, y=y, R=np.diag(uneven))
    A = rng.uniform(0.2, 0.8, (n, 2))
    yield "noise that rows share", dict(X=X, y=y, R=np.diag(uneven) + A @ A.T)
    sure = rng.permutation([0.01, 1.0, 1.0, 1.0, 1.0, 1.0])
    yield "one row almost without noise", dict(X=X, y=y, R=np.diag(sure))
    yield "all rows alike: plain least squares", dict(X=X, y=y, R=2.5 * np.eye(n))
    exact = dict(X=square(rng, 2), y=rng.normal(size=2), R=np.diag([0.5, 4.0]))
    yield "as many rows as weights", exact


FACTOR = "np.linalg.cholesky(R)"
wls.mistakes(
    {
        "the noisiest rows count most": (
            FACTOR,
            "np.linalg.cholesky(np.linalg.inv(R))",
            "Should a row with a large variance pull harder or less hard? Compare R with its inverse.",
        ),
        "each residual is divided by its variance": (
            FACTOR,
            "R",
            "The squared residual is divided by the variance. By what, then, the residual itself?",
        ),
        "the noise that rows share is ignored": (
            FACTOR,
            "np.sqrt(np.diag(np.diag(R)))",
            "R need not be diagonal. What do its other entries tell, and do you use them?",
        ),
        "the features are whitened, the targets are not": (
            "lstsq(white_X, white_y)",
            "lstsq(white_X, y)",
            "The model is y = Xβ + noise. If you multiply X by a matrix, what must happen to y?",
        ),
        "the factor for its inverse": (
            f"np.linalg.solve({FACTOR}, v)",
            f"{FACTOR} @ v",
            "Multiplied by L, noise grows. Which matrix makes it white?",
        ),
    }
)


wls.worked(
    why=r"""$e^\top R^{-1}e$ is the plain length of $L^{-1}e$, and $L^{-1}(y - X\beta) = L^{-1}y - (L^{-1}X)\beta$. So whitening the rows turns
    the weighted problem into one that is solved already. `solve` with $L$ does it without an inverse. For a diagonal $R$ it divides
    each row by its own standard deviation; where rows share noise, it also takes off what a row's noise is foretold to be by the
    rows before it."""
)


@wls.right("the formula as it stands")
def _(X, y, R):
    W = np.linalg.inv(R)
    return np.linalg.solve(X.T @ W @ X, X.T @ W @ y)


@wls.right("by generalised least squares", library="statsmodels.api.GLS")
def _(X, y, R):
    import statsmodels.api as sm

    return sm.GLS(y, X, sigma=R).fit().params


# ------------------------------------------------------------------------------------- huber_irls

huber_irls = Exercise(
    "huber_irls",
    reference=reference.huber_path,
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("X", "y"),
    hints=[
        "One step only: from the errors of the last weights make a weight for each row, then do a weighted fit. Row 0 of the path is the plain fit.",
        "A weighted fit is a plain fit of rows multiplied by the roots of the weights. The weight is 1 where |error| <= delta and delta / |error| beyond.",
        "Without a case for 0: delta / np.maximum(delta, size), with size the absolute errors. In the loop append the plain fit of the rows of X and y times its root.",
    ],
)


def bad_rows(rng, *shifts, delta=0.7, steps=4):
    n = 9
    x = np.linspace(-2, 2, n)
    y = rng.uniform(0.5, 1.5) * x + rng.uniform(1, 2) + rng.uniform(-0.4, 0.4, n)
    y[rng.choice([0, 1, 2, 6, 7, 8], len(shifts), replace=False)] += shifts
    X = np.column_stack([np.ones(n), x])
    return dict(X=X, y=y, delta=delta, steps=steps)


@huber_irls.cases
def _(rng):
    yield "one wild target", bad_rows(rng, 30.0)
    yield "three wild targets on one side", bad_rows(rng, 12.0, 15.0, 20.0)
    yield "wild on both sides", bad_rows(rng, -25.0, 15.0, delta=1.6)
    yield "no error beyond delta: nothing moves", bad_rows(rng, delta=50.0)
    none = bad_rows(rng, delta=0.5)  # errors of exactly 0
    yield "no error beyond delta: nothing moves", {**none, "y": np.zeros(9)}
    yield "zero steps: the plain fit", bad_rows(rng, 20.0, steps=0)


ROOT = "np.sqrt(delta / np.maximum(delta, size))"
huber_irls.mistakes(
    {
        "rows are multiplied by the weights, not by their roots": (
            ROOT,
            "delta / np.maximum(delta, size)",
            "A row multiplied by w has its squared error multiplied by w squared. What must you multiply it by?",
        ),
        "rows beyond delta are thrown away": (
            ROOT,
            "np.where(size <= delta, 1.0, 1e-9)",
            "Huber's loss still grows beyond delta, in a straight line. Is the weight of such a row 0?",
        ),
        "far rows count more": (
            ROOT,
            "np.sqrt(np.maximum(delta, size) / delta)",
            "Print the weights beside the errors: which rows get the largest weight?",
        ),
        "absolute loss everywhere": (
            ROOT,
            "np.sqrt(delta / np.maximum(size, 1e-6))",
            "Within delta the loss is a square and all weights are 1. Do yours exceed 1 for small errors?",
        ),
        "the errors keep their sign": (
            "np.abs(y - X @ path[-1])",
            "y - X @ path[-1]",
            "A row far below the line is as far away as one far above. Which weight does it get?",
        ),
        "the weights are never renewed": (
            "y - X @ path[-1]",
            "y - X @ path[0]",
            "After the first step the errors have changed. Which errors do your weights come from?",
        ),
        "only the features are weighted": (
            "root * y)",
            "y)",
            "The whole row is multiplied, its target too.",
        ),
        "only the last weights come back": (
            "np.array(path)",
            "np.array(path[-1])",
            "The path has steps + 1 rows: the plain fit first, then the weights after each step.",
        ),
    }
)

huber_irls.equivalent(
    {
        "root = np.sqrt(delta / np.maximum(delta, size)) → root = -np.sqrt(delta / np.maximum(delta, size))": "A weight $w_i$ multiplies $e_i^2$."
    }
)

huber_irls.worked(
    why=r"""The pull $\psi(e)$ is the error times a weight, so what is asked for is a weighted fit whose weights depend on its own result.
    Hold them for a moment, fit, renew them: each step minimises parabolas that touch Huber's loss from above, so that the loss can
    only fall. Roots, because a row multiplied by $\sqrt w$ has its squared error multiplied by $w$. And $\delta/\max(\delta, \lvert e\rvert)$
    is 1 up to $\delta$ without a case, and never divides by 0."""
)


@huber_irls.right("with the weighted normal equations")
def _(X, y, delta, steps):
    path = [np.linalg.solve(X.T @ X, X.T @ y)]
    for _ in range(steps):
        size = np.abs(y - X @ path[-1])
        w = np.ones(len(y))
        w[size > delta] = delta / size[size > delta]
        path.append(np.linalg.solve((X.T * w) @ X, (X.T * w) @ y))
    return path


@huber_irls.right(
    "by its weighted fit", library="sklearn.linear_model.LinearRegression"
)
def _(X, y, delta, steps):
    from sklearn.linear_model import LinearRegression

    model, w, path = LinearRegression(fit_intercept=False), np.ones(len(y)), []
    for _ in range(steps + 1):
        path.append(model.fit(X, y, sample_weight=w).coef_)
        size = np.abs(y - model.predict(X))
        w = delta / np.maximum(delta, size)
    return path

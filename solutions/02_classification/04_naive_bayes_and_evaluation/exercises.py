"""Exercises of 02_classification/04_naive_bayes_and_evaluation."""

import numpy as np
from scipy.special import logsumexp

from descent.compare import close, exact
from solutions.spec import Exercise

from . import reference

# ---------------------------------------------------------------- counting

fit_bernoulli_nb = Exercise(
    "fit_bernoulli_nb",
    reference=reference.bernoulli_counts,
    compare=close(rtol=1e-6, atol=1e-12),
    batched=("X", "y"),
    hints=[
        "Take one class. Which rows of X belong to it, and which two counts do you need from them?",
        "N_c is the number of rows with y == c, N_cj the column sums of these rows. pi is N_c over the number of all rows. "
        "theta needs alpha above, and twice alpha below.",
        "Start with pi and theta full of 0. For each c in range(C): rows = X[y == c]; fill pi[c] from len(rows), and theta[c] from "
        "rows.sum(axis=0).",
    ],
)


@fit_bernoulli_nb.cases
def _(rng):
    yield "plain counts", _features(rng, [5, 3, 2], alpha=0)
    yield "plain counts", _features(rng, [3, 6], alpha=0)
    yield "pseudo-counts", _features(rng, [5, 2, 3], alpha=1)
    yield "pseudo-counts", _features(rng, [2, 6], alpha=0.5)
    yield "a class without rows", _features(rng, [4, 0, 3], alpha=2)
    yield "a class without rows", _features(rng, [4, 3, 0], alpha=1)
    never = _features(rng, [4, 3, 1], alpha=1)
    never["X"][:, 1] = 0
    yield "a feature that is never on", never


def _features(rng, sizes, alpha):
    """Rows in random order; in every class one feature is always on."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = (rng.random((len(y), 4)) < 0.4).astype(int)
    X[:, 0] = 1
    order = rng.permutation(len(y))
    return dict(X=X[order], y=y[order], C=len(sizes), alpha=alpha)


fit_bernoulli_nb.mistakes(
    {
        "divides by all rows": (
            "len(rows) + 2 * alpha",
            "len(y) + 2 * alpha",
            "theta[c] is a share of the cases of class c. How many cases is that?",
        ),
        "one alpha below": (
            "2 * alpha",
            "alpha",
            "You imagine alpha cases with the feature and alpha without. By how many does the class grow?",
        ),
        "alpha times the number of classes below": (
            "2 * alpha",
            "C * alpha",
            "A feature has two values, however many classes there are. By how many imagined cases does a class grow?",
        ),
        "the class shares are smoothed too": (
            "len(rows) / len(y)",
            "(len(rows) + alpha) / (len(y) + C * alpha)",
            "Smoothing is for theta alone. What share of the rows has class c?",
        ),
        "no alpha above": (
            "rows.sum(axis=0) + alpha",
            "rows.sum(axis=0)",
            "Try alpha = 1 and a feature that is never on. Is your theta still 0?",
        ),
        "one row a feature": (
            "return pi, theta",
            "return pi, theta.T",
            "theta has one row for each class and one column for each feature. What shape is yours?",
        ),
    }
)


@fit_bernoulli_nb.wrong(
    "only the classes that occur",
    advice="C says how many classes there are. Does your result have C rows when one of them has no cases?",
)
def _(X, y, C, alpha):
    groups = [X[y == c] for c in np.unique(y)]
    theta = [(g.sum(0) + alpha) / (len(g) + 2 * alpha) for g in groups]
    return [len(g) / len(y) for g in groups], theta


fit_bernoulli_nb.worked(
    why="""The rows of a class are all that its parameters see: one mask picks them. Their number over the number of all rows is the share of
    the class, and each column of them sums to the cases that have the tick. The imagined cases join after the counting, alpha with and
    alpha without, so the class has grown by twice alpha. A class without rows then knows nothing, and says one half."""
)


@fit_bernoulli_nb.right("case by case, feature by feature")
def _(X, y, C, alpha):
    N_c, N_cj = [0] * C, [[0] * X.shape[1] for _ in range(C)]
    for row, c in zip(X, y):
        N_c[c] += 1
        for j, value in enumerate(row):
            if value == 1:
                N_cj[c][j] += 1
    theta = [[(k + alpha) / (N_c[c] + 2 * alpha) for k in N_cj[c]] for c in range(C)]
    return [size / len(y) for size in N_c], theta


@fit_bernoulli_nb.right("by scikit-learn", library="sklearn.naive_bayes.BernoulliNB")
def _(X, y, C, alpha):
    from sklearn.naive_bayes import BernoulliNB

    with np.errstate(divide="ignore"):
        model = BernoulliNB(alpha=alpha).partial_fit(X, y, classes=range(C))
    return model.class_count_ / len(y), np.exp(model.feature_log_prob_)


fit_bernoulli_nb.limit = 10.0  # scikit-learn's first import on a busy machine

# ---------------------------------------------------------------- log posterior

nb_log_posterior = Exercise(
    "nb_log_posterior",
    reference=reference.bernoulli_log_posterior,
    # sums of 10,000 logarithms, of which large parts cancel
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("X", "theta"),
    hints=[
        "Write the log joint for one row and one class first. A feature that is off says something too.",
        "All rows and classes at once: X @ log(theta).T adds the features that are on, (1 - X) @ log(1 - theta).T the others. Add log(pi).",
        "With joint (n, C): top = joint.max(axis=1, keepdims=True). Subtract top, then subtract the logarithm of the row sums of exp. "
        "scipy.special.logsumexp does both.",
    ],
)


@nb_log_posterior.probe
def _(answer, X, pi, theta, repeats):
    if repeats > 1:
        X, theta = np.tile(X, (1, repeats)), np.tile(theta, (1, repeats))
    return answer(X, pi, theta)


@nb_log_posterior.cases
def _(rng):
    yield "a few features", _model(rng, n=4, D=3, C=3)
    yield "two classes, one row", _model(rng, n=1, D=4, C=2)
    yield "ten thousand features", _model(rng, n=1, D=4, C=3, repeats=2500)
    same = _model(rng, n=3, D=3, C=3)
    same["theta"][:] = same["theta"][0]
    yield "features that say nothing leave the class shares", same
    yield "a single class", _model(rng, n=2, D=3, C=1)
    tiny = _model(rng, n=3, D=3, C=3)
    least = 10.0 ** -rng.permutation([12, 9, 6])
    tiny["theta"][:, 0] = least
    tiny["theta"][:, 1] = 1 - [1e-18, 3e-18, 9e-18] / least  # no class is ruled out
    yield "chances close to 0 and to 1", tiny
    rare = _model(rng, n=2, D=4, C=3, repeats=2500)
    # every class expects zeros, one of them most: a row of ones is e^5000 times less likely
    rare["theta"] = 0.4 * np.sort(rare["theta"], axis=0)[rng.permutation(3)]
    rare["X"] = np.array([[0, 0, 0, 0], [1, 1, 1, 1]])[rng.permutation(2)]
    yield "a likely row beside an unlikely one", rare


def _model(rng, n, D, C, repeats=1):
    """Classes whose parameters differ by at least 0.1 in every feature, and unequal shares."""
    levels = np.linspace(0.15, 0.85, C) if C > 1 else np.array([0.3])
    theta = np.array([rng.permutation(levels) for _ in range(D)]).T
    theta = theta + rng.uniform(-0.05, 0.05, (C, D))
    pi = np.arange(1.0, C + 1) + rng.uniform(0, 0.5, C)
    X = (rng.random((n, D)) < 0.5).astype(int)
    X[:, 0], X[:, 1] = 1, 0  # at least one on and one off in each row
    return dict(X=X, pi=rng.permutation(pi / pi.sum()), theta=theta, repeats=repeats)


nb_log_posterior.mistakes(
    {
        "features that are off are forgotten": (
            " + (1 - X) @ np.log(1 - theta).T",
            "",
            "A tick that is missing is evidence too. Which factor belongs to x_j = 0?",
        ),
        "not normalised": (
            "return joint - top - total",
            "return joint",
            "Do the exponentials of a row of your result sum to 1? The denominator of Bayes' rule is missing.",
        ),
        "the sum of exponentials underflows": (
            "np.log(np.exp(joint - top).sum(axis=1, keepdims=True))",
            "np.log(np.exp(joint).sum(axis=1, keepdims=True)) - top",
            "What is np.exp(-5000)? Subtract the largest value of the row before you exponentiate.",
        ),
        "one maximum for all rows": (
            "joint.max(axis=1, keepdims=True)",
            "joint.max()",
            "In an unlikely row every value may lie thousands below the largest of the table. Whose maximum must be taken out of a row?",
        ),
        "the logarithm of a posterior that is rounded to 0": (
            "return joint - top - total",
            "return np.log(np.exp(joint - top - total))",
            "A posterior of e^-6000 is 0 in a double, and its logarithm is lost. Can you reach the logarithm without forming the posterior?",
        ),
        "the maximum is taken out and never put back": (
            "joint - top - total",
            "joint - total",
            "Do the exponentials of a row sum to 1? What was taken out of the sum must be taken out of the row as well.",
        ),
        "chances held away from 0 and 1": (
            "    joint =",
            "    theta = np.clip(theta, 1e-9, 1 - 1e-9)\n    joint =",
            "A chance of 1e-12 is strong evidence, and its logarithm only −27.6. What does your clipping or added trifle make of it?",
        ),
        "the class shares are forgotten": (
            "np.log(pi) + X",
            "X",
            "If the features say nothing, what should the posterior be?",
        ),
        "the largest value is taken for the sum": (
            "joint - top - total",
            "joint - top",
            "Taking the maximum out is the first step. The rest of the sum, at least 1, needs its logarithm too.",
        ),
    }
)


@nb_log_posterior.wrong(
    "normalised over the rows of X",
    advice="For one case the probabilities of the classes sum to 1. Along which axis do you sum?",
)
def _(X, pi, theta):
    joint = np.log(pi) + X @ np.log(theta).T + (1 - X) @ np.log(1 - theta).T
    return joint - logsumexp(joint, axis=0, keepdims=True)


@nb_log_posterior.wrong(
    "the product underflows",
    advice="Multiply 10,000 numbers near 0.5 and print the result. Where must the logarithm come in?",
)
def _(X, pi, theta):
    each = np.where(X[:, None] == 1, theta, 1 - theta).prod(2) * pi
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(each / each.sum(1, keepdims=True))


nb_log_posterior.worked(
    why="""Two matrix products add the logarithms of all factors for all rows and classes at once: one for the ticks that are there, one for
    those that are not. Only differences within a row matter, so its largest entry may be taken out of the sum of exponentials: the largest
    term is then 1, and what underflows beside it would not have counted. No posterior is ever formed, so none is rounded to 0."""
)


@nb_log_posterior.right("row by row, from pairwise log-odds")
def _(X, pi, theta):
    rows = []
    for x in X:
        each = np.log(pi) + np.log(np.where(x == 1, theta, 1 - theta)).sum(1)
        rows.append([-np.logaddexp.reduce(each - one) for one in each])
    return rows


@nb_log_posterior.right("by SciPy", library="scipy.special.log_softmax")
def _(X, pi, theta):
    from scipy.special import log_softmax, xlog1py, xlogy

    likelihood = xlogy(X[:, None], theta) + xlog1py(1 - X[:, None], -theta)
    return log_softmax(np.log(pi) + likelihood.sum(axis=2), axis=1)


nb_log_posterior.limit = 10.0  # SciPy's first import on a busy machine

# ---------------------------------------------------------------- columns of two kinds

mixed_nb = Exercise(
    "mixed_nb",
    reference=reference.mixed_log_posterior,
    compare=close(
        rtol=1e-6, atol=1e-8
    ),  # sums over 1000 columns, of which large parts cancel
    hints=[
        "Begin with one class: its rows, its share, and a column of the joint that grows by one logarithm for each feature.",
        "Two loops, over classes and over columns. In the inner one K[j] decides: the logarithm of a normal density at the new values, or "
        "the logarithm of a smoothed share, looked up for each of them.",
        "A number adds norm.logpdf(x, mean, sd) with mean and sd of the rows of the class. np.bincount(column.astype(int), minlength=K[j]) counts the "
        "categories, and an array of K[j] shares can be indexed by the new column, as integers.",
    ],
)


@mixed_nb.probe
def _(answer, X, y, C, K, new_X, alpha, repeats):
    if repeats > 1:
        X, new_X, K = (
            np.tile(X, (1, repeats)),
            np.tile(new_X, (1, repeats)),
            K * repeats,
        )
    return answer(X, y, C, K, new_X, alpha)


@mixed_nb.cases
def _(rng):
    yield "numbers", _columns(rng, [4, 6], [0, 0], alpha=2.0)
    yield "numbers", _columns(rng, [5, 3, 4], [0, 0, 0], alpha=1.0)
    yield "categories", _columns(rng, [4, 7], [3, 4], alpha=0.5)
    yield "categories", _columns(rng, [5, 3, 6], [2, 3, 5], alpha=2.0)
    yield "both kinds", _columns(rng, [6, 3], [0, 3, 0, 4], alpha=0.7)
    yield "both kinds", _columns(rng, [2, 5, 3], [4, 0, 3], alpha=1.5)
    yield "a column with a single category", _columns(rng, [4, 3], [1, 3], alpha=1.0)
    unseen = _columns(rng, [5, 3], [5, 4], alpha=1.0)
    unseen["X"] = np.minimum(unseen["X"], 1)  # 2, 3 and 4 occur in new rows only
    unseen["X"][:, 0], unseen["new_X"][1, 0] = unseen["y"], 0
    yield "categories that did not occur", unseen
    yield (
        "a thousand columns",
        _columns(rng, [4, 3], [0, 3, 0, 4], alpha=1.0, repeats=250),
    )
    units = _columns(rng, [4, 5], [0, 0], alpha=1.0)
    scale = rng.permutation([1e-5, 1e3])
    units["X"], units["new_X"] = scale * units["X"], scale * units["new_X"]
    yield "numbers in units of their own", units
    far = _columns(rng, [4, 5], [0, 0], alpha=1.0)
    far["new_X"] = far["new_X"] * np.array([[200], [-200], [1]])
    yield "numbers far from all rows", far
    one = _columns(rng, [3, 4], [0, 3], alpha=1.0)
    yield "one new row", one | dict(new_X=one["new_X"][:1])
    yield "a single class", _columns(rng, [5], [0, 3], alpha=1.0)


def _columns(rng, sizes, K, alpha, repeats=1):
    """Rows in random order; numbers about means of their class, of either sign; three new rows."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    y = y[rng.permutation(len(y))]

    def column(k, classes):
        if k == 0:
            middle = shift[classes] + rng.normal(size=len(classes))
            return np.round(3 * middle, 2)
        p = (
            np.array([np.roll(np.arange(1, k + 1), c) for c in range(len(sizes))])
            ** 2.0
        )
        return np.array([rng.choice(k, p=p[c] / p[c].sum()) for c in classes], float)

    columns, new = [], []
    for k in K:
        shift = rng.permutation(np.linspace(-0.8, 0.9, len(sizes)))
        columns.append(column(k, y))
        new.append(column(k, rng.integers(0, len(sizes), 3)))
    for k, values in zip(K, new):
        if k > 0:
            values[0] = k - 1  # the last category is asked for
    return dict(
        X=np.column_stack(columns), y=y, C=len(sizes), K=list(K), new_X=np.column_stack(new),
        alpha=alpha, repeats=repeats,
    )  # fmt: skip


mixed_nb.mistakes(
    {
        "variance over one row less": (
            "given.std()",
            "given.std(ddof=1)",
            "Over how many does the text divide the squared distances from the mean?",
        ),
        "variance for standard deviation": (
            "given.std()",
            "given.var()",
            "Measure in millimetres for metres: does the distance from the mean over yours stay as it was?",
        ),
        "a trifle added to each variance": (
            "given.std()",
            "np.sqrt(given.var() + 1e-9)",
            "The text adds nothing: where a column has a small unit, the trifle is larger than its variance. (GaussianNB adds one too.)",
        ),
        "the height of the normal curve is forgotten": (
            "norm.logpdf(x, given.mean(), given.std())",
            "-(((x - given.mean()) / given.std()) ** 2) / 2",
            "A wide normal curve is a low one. Where does your density depend on the width, beside the square?",
        ),
        "the class shares are forgotten": (
            "joint[:, c] = np.log(np.mean(y == c))",
            "joint[:, c] = 0",
            "What does your table say of a row without any column?",
        ),
        "one alpha below": (
            "K[j] * alpha",
            "alpha",
            "You imagine alpha cases of each category. By how many does the class grow?",
        ),
        "two alphas below": (
            "K[j] * alpha",
            "2 * alpha",
            "Two alphas are right for a tick. How many categories has this column?",
        ),
        "alpha smooths the numbers as well": (
            "given.std()",
            "given.std() + alpha",
            "alpha is for categories only.",
        ),
        "fitted to all rows": (
            "rows[:, j]",
            "X[:, j]",
            "Whose mean, whose histogram? Does any factor of yours differ between the classes?",
        ),
        "not normalised": (
            "return log_softmax(joint, axis=1)",
            "return joint",
            "Do the exponentials of a row of your result sum to 1?",
        ),
    }
)


mixed_nb.equivalent(
    {
        "joint[:, c] = np.log(np.mean(y == c)) → joint[:, c] = np.log(np.sum(y == c))": (
            "A factor that all classes share cancels."
        )
    }
)


mixed_nb.worked(
    why="""Given the class, the columns are independent, so the logarithm of the joint is a sum that starts with the class share and takes one
    term a column. What a term is, only its column decides; the loop around it never changes. minlength gives a category that did not occur
    its place, and alpha its small chance. The last line is the same for every naive Bayes: numbers a row become logarithms of a posterior."""
)


@mixed_nb.right("one density at a time, no arrays")
def _(X, y, C, K, new_X, alpha):
    from math import log, pi

    result = []
    for new in new_X:
        joint = []
        for c in range(C):
            rows = [row for row, label in zip(X, y) if label == c]
            total = log(len(rows)) - log(len(y))
            for j, k in enumerate(K):
                values = [row[j] for row in rows]
                if k:
                    same = sum(v == new[j] for v in values)
                    total += log(same + alpha) - log(len(rows) + k * alpha)
                else:
                    mean = sum(values) / len(values)
                    var = sum((v - mean) ** 2 for v in values) / len(values)
                    total -= log(2 * pi * var) / 2 + (new[j] - mean) ** 2 / (2 * var)
            joint.append(total)
        result.append(joint - logsumexp(joint))
    return result


@mixed_nb.right(
    "by scikit-learn, a model for each kind",
    library="sklearn.naive_bayes.GaussianNB, CategoricalNB",
)
def _(X, y, C, K, new_X, alpha):
    from scipy.special import log_softmax
    from sklearn.naive_bayes import CategoricalNB, GaussianNB

    K = np.array(K)
    joint = np.log(np.bincount(y) / len(y))  # each model brings the shares once more
    for mine, model in (
        (K == 0, GaussianNB(var_smoothing=0)),
        (K > 0, CategoricalNB(alpha=alpha, min_categories=K[K > 0])),
    ):
        if mine.any():
            model.fit(X[:, mine], y)
            shares = np.log(np.bincount(y) / len(y))
            joint = joint + model.predict_joint_log_proba(new_X[:, mine]) - shares
    return log_softmax(joint, axis=1)


mixed_nb.limit = 10.0  # scikit-learn's first import on a busy machine

# ---------------------------------------------------------------- the confusion matrix

confusion = Exercise(
    "confusion",
    reference=reference.confusion_counts,
    compare=exact(),
    shuffled=True,
    hints=[
        "Each case adds 1 to one cell of a K × K table. Which row, which column?",
        "Start with zeros of shape (K, K). A loop over zip(y, yhat) is fine: the actual class picks the row.",
        "C[a, b] += 1 for each pair (a, b). Without a loop: np.add.at, or np.bincount of y * K + yhat.",
    ],
)


@confusion.cases
def _(rng):
    rows = [(0, 0, 3), (0, 1, 4), (1, 1, 2), (1, 2, 1), (2, 2, 3)]
    yield "three classes", _calls(rng, rows, 3)
    yield "two classes", _calls(rng, [(0, 0, 4), (0, 1, 3), (1, 0, 1), (1, 1, 2)], 2)
    yield (
        "a class that is never called",
        _calls(rng, [(0, 0, 2), (1, 0, 2), (2, 1, 3)], 3),
    )
    yield (
        "a class that does not occur",
        _calls(rng, [(0, 1, 3), (1, 1, 2), (1, 0, 1)], 4),
    )
    called = [(0, 0, 3), (0, 2, 2), (1, 1, 2), (1, 0, 1)]
    yield "a class that is called and does not occur", _calls(rng, called, 3)
    yield "hundreds of cases", _calls(rng, [(0, 0, 300), (0, 1, 4), (1, 1, 2)], 2)
    yield "nothing right", _calls(rng, [(0, 1, 3), (1, 2, 2), (2, 0, 1)], 3)


def _calls(rng, counts, K):
    """Cases in random order: (actual, called, how many, plus at most 2 where it is right)."""
    pairs = [
        (a, b) for a, b, k in counts for _ in range(k + (a == b) * int(rng.integers(3)))
    ]
    y, yhat = np.array(pairs)[rng.permutation(len(pairs))].T
    return dict(y=y.copy(), yhat=yhat.copy(), K=K)


confusion.mistakes(
    {
        "rows are called, columns actual": (
            "C[a, b]",
            "C[b, a]",
            "Rows are actual. Which class does the sum of a row count: those that are, or those that were called?",
        ),
        "each pair counts once": (
            "C[a, b] += 1",
            "C[a, b] = 1",
            "Do the entries sum to the number of cases?",
        ),
        "shares instead of counts": (
            "return C",
            "return C / len(y)",
            "Counts are asked for: whole numbers that sum to n.",
        ),
        "as many classes as occur": (
            "(K, K)",
            "(max(*y, *yhat) + 1, max(*y, *yhat) + 1)",
            "K says how many classes there are. What shape has your result when one of them does not occur?",
        ),
        "only the mistakes": (
            "C[a, b] += 1",
            "C[a, b] += a != b",
            "Where do the cases go that were called rightly? The diagonal is theirs.",
        ),
    }
)


confusion.worked(
    why="""Every case knows its cell, the row by what it is, the column by what it was called, and adds one to it. So row sums count what is
    there and column sums what was called. In a loop a cell may be met again and again; C[y, yhat] += 1 with whole arrays would add only once
    to it."""
)


@confusion.right("one bincount")
def _(y, yhat, K):
    return np.bincount(y * K + yhat, minlength=K * K).reshape(K, K)


@confusion.right("by scikit-learn", library="sklearn.metrics.confusion_matrix")
def _(y, yhat, K):
    from sklearn.metrics import confusion_matrix

    return confusion_matrix(y, yhat, labels=range(K))


confusion.limit = 10.0  # scikit-learn's first import on a busy machine

# ---------------------------------------------------------------- one threshold

pr_at = Exercise(
    "pr_at",
    reference=reference.precision_recall_f1,
    compare=close(rtol=1e-6, atol=1e-12),
    batched=("scores", "y"),
    shuffled=True,
    hints=[
        "Turn the scores into calls first. Then count three things: calls, cases that are 1, and cases that are both.",
        "called = scores > delta. Hits are called and 1. Precision divides the hits by the calls, recall by the ones.",
        "Where there is no hit, all three are 0: return that first. Then neither divisor is 0, and F1 is 2PR / (P + R).",
    ],
)


@pr_at.cases
def _(rng):
    for delta in (0.7, 0.3):
        yield "an ordinary threshold", _scored(rng, delta)
    tie = _scored(rng, 0.5)  # both false alarms and one hit lie on it
    alarms, hits = (
        np.flatnonzero((tie["scores"] > 0.5) & (tie["y"] == k)) for k in (0, 1)
    )
    tie["scores"][[*alarms, hits[0]]] = 0.5
    yield "scores on the threshold", tie
    near = _scored(rng, 0.375)  # the last digit of a double decides
    alarms = np.flatnonzero((near["scores"] > 0.375) & (near["y"] == 0))
    missed = np.flatnonzero((near["scores"] < 0.375) & (near["y"] == 1))
    near["scores"][alarms[0]] = np.nextafter(0.375, 0)
    near["scores"][missed] = np.nextafter(0.375, 1)
    yield "scores a trifle above and below", near
    yield "nothing is called 1", dict(_scored(rng, 0.5), delta=0.99)
    single = dict(delta=0.5, scores=rng.uniform(0.6, 1, 1), y=np.array([1]))
    yield "a single case", single
    yield "a single case", dict(single, y=np.array([0]))
    yield "everything is called 1", dict(_scored(rng, 0.5), delta=0.0)
    none = _scored(rng, 0.5)
    none["y"] = np.zeros_like(none["y"])
    yield "no case is 1", none
    yield "no case is 1", dict(none, delta=0.99)
    for scale in (1e-9, -40.0):  # sure models; log-odds
        tiny = _scored(rng, 0.5)
        if scale < 0:
            tiny["scores"], tiny["delta"] = scale * (1 - tiny["scores"]), scale * 0.5
        else:
            tiny["scores"], tiny["delta"] = scale * tiny["scores"], scale * 0.5
        yield "scores that are tiny or negative", tiny


def _scored(rng, delta):
    """3 to 6 hits, 2 false alarms, 1 missed, 4 to 7 rightly passed; none on the threshold, some of both sides near it."""
    hits, passed = rng.integers(3, 7), rng.integers(4, 8)
    y = np.repeat([1, 0, 1, 0], [hits, 2, 1, passed])
    above = delta + (0.95 - delta) * rng.uniform(0.1, 1, hits + 2)
    below = delta * rng.uniform(0.1, 0.9, 1 + passed)
    above[0], below[0] = delta + 0.02, 0.9 * delta
    order = rng.permutation(len(y))
    scores = np.round(np.concatenate([above, below]), 3)
    return dict(delta=delta, scores=scores[order], y=y[order])


pr_at.mistakes(
    {
        "a score on the threshold counts as 1": (
            "scores > delta",
            "scores >= delta",
            "The text calls 1 what lies above δ. What about a score equal to δ?",
        ),
        "nearly equal is taken for equal": (
            "scores > delta",
            "(scores > delta) & ~np.isclose(scores, delta)",
            "Sure models give scores that differ in the ninth digit. Is 0.000000002 above 0.000000001? Compare the numbers as they are.",
        ),
        "a trifle above the threshold is not called": (
            "scores > delta",
            "scores.astype(np.float32) > np.float32(delta)",
            "A score may lie above δ by less than single precision, or a tolerance, can tell. Compare the numbers as they are.",
        ),
        "the threshold is always one half": (
            "scores > delta",
            "scores > 0.5",
            "The threshold is handed in. Where does your code use it?",
        ),
        "precision and recall swapped": (
            "return precision, recall, 2",
            "return recall, precision, 2",
            "Precision divides by what was called, recall by what is there. Which is which?",
        ),
        "zero over zero": (
            "hits == 0",
            "False",
            "Nothing is called 1: what is precision then, by the text?",
        ),
        "precision 1 when nothing is called": (
            "return 0.0, 0.0, 0.0",
            "return float(not called.any()), 0.0, 0.0",
            "Some libraries end their curve with precision 1. Here every 0/0 is 0.",
        ),
        "accuracy for precision": (
            "hits / np.sum(called)",
            "np.mean(called == (y == 1))",
            "Precision looks only at the cases that were called 1. How many cases do you divide by?",
        ),
        "arithmetic mean for F1": (
            "2 * precision * recall / (precision + recall)",
            "(precision + recall) / 2",
            "F1 is the harmonic mean: 1 and 0 give 0. What does your formula give?",
        ),
    }
)


pr_at.worked(
    why="""Three counts are enough: the called, those that are 1, and those that are both. Precision and recall share the numerator and differ in
    what they divide by. Without a hit every numerator is 0, and 0/0 counts as 0 as well: one question answers all edges. The comparison is with
    the numbers as they are: ties and trifles are decided by >, and by nothing else."""
)


@pr_at.right("counting case by case")
def _(delta, scores, y):
    TP = FP = FN = 0
    for s, is_one in zip(scores, y):
        TP += s > delta and is_one == 1
        FP += s > delta and is_one == 0
        FN += s <= delta and is_one == 1
    if not TP:
        return [0.0, 0.0, 0.0]
    P, R = TP / (TP + FP), TP / (TP + FN)
    return [P, R, 2 / (1 / P + 1 / R)]


@pr_at.right(
    "by scikit-learn", library="sklearn.metrics.precision_recall_fscore_support"
)
def _(delta, scores, y):
    from sklearn.metrics import precision_recall_fscore_support

    called = (scores > delta).astype(int)
    told = precision_recall_fscore_support(
        y, called, labels=[1], average=None, zero_division=0
    )
    return [rate[0] for rate in told[:3]]


pr_at.limit = 10.0  # scikit-learn's first import on a busy machine

# ---------------------------------------------------------------- all thresholds

roc = Exercise(
    "roc",
    reference=reference.roc_points,
    compare=close(rtol=1e-6, atol=1e-12),
    data_dependent="the curve has a point for each distinct score",
    shuffled=True,
    hints=[
        "Draw the example by hand: one point for 0.9, one for both 0.6 together, one for 0.2. Where does the curve start?",
        "np.unique(scores)[::-1] lists the distinct scores from above. For each, tpr is the share of the ones with score >= t, fpr the share of the zeros.",
        "Begin both lists with 0 and append. The area sums width times mean height: np.diff(fpr) times the mean of neighbouring tpr (np.trapezoid).",
    ],
)


@roc.cases
def _(rng):
    yield (
        "distinct scores",
        _ranked(rng, np.arange(1, 10) / 10, [0, 0, 1, 0, 1, 0, 1, 1, 0]),
    )
    signed = _ranked(rng, np.arange(-3, 4), [0, 1, 0, 0, 1, 1, 1])
    yield (
        "scores of both signs",
        dict(signed, scores=signed["scores"] - np.median(signed["scores"])),
    )
    tied = [0.2, 0.2, 0.4, 0.4, 0.4, 0.7, 0.7, 0.9]
    yield "tied scores", _ranked(rng, tied, [0, 0, 1, 0, 0, 1, 0, 1])
    yield "all scores equal", _ranked(rng, [0.5] * 5, [0, 1, 1, 0, 1])
    yield "a perfect ranking", _ranked(rng, [0.1, 0.2, 0.4, 0.8, 0.9], [0, 0, 0, 1, 1])
    yield "the ranking upside down", _ranked(rng, [0.1, 0.3, 0.6, 0.7], [1, 1, 0, 0])
    yield "one case of each class", _ranked(rng, [-2.0, 1.5], [0, 1])
    near = _ranked(rng, np.arange(1, 7), [0, 1, 0, 1, 0, 1])
    rank = np.argsort(np.argsort(near["scores"]))
    near["scores"] = 1e-10 * rank + 1e-10
    yield "scores that hardly differ", near
    last = dict(
        near, scores=1 + rank * np.finfo(float).eps
    )  # the last digit of a double
    yield "scores that hardly differ", last


def _ranked(rng, scores, y):
    """Another increasing scale, and rows in random order."""
    order = rng.permutation(len(y))
    scores = rng.uniform(0.5, 3) * np.array(scores) + rng.uniform(-1, 1)
    scores = np.round(scores * 256) / 256  # the same in single precision
    return dict(scores=scores[order], y=np.array(y)[order])


roc.mistakes(
    {
        "one step a case": (
            "np.unique(scores)",
            "np.sort(scores)",
            "Cases with the same score enter together. How many points has your curve when all scores are equal?",
        ),
        "the start is missing": (
            "[0.0], [0.0]",
            "[], []",
            "Before the first case enters, both rates are 0. Is that point there?",
        ),
        "from the smallest score to the largest": (
            "np.unique(scores)[::-1]",
            "np.unique(scores)",
            "The first point is (0, 0), where nothing is called 1. From which end do you let the threshold move?",
        ),
        "nearly equal scores are merged": (
            "np.unique(scores)",
            "np.unique(np.round(scores, 8))",
            "Sure models give scores that differ in the ninth digit, and still rank the cases. How many distinct scores are there?",
        ),
        "scores in single precision": (
            "np.unique(scores)",
            "np.unique(scores.astype(np.float32))",
            "Scores that differ by less than single precision can tell are distinct. How many are there?",
        ),
        "the score on the threshold stays out": (
            "scores >= t",
            "scores > t",
            'A point counts the cases with "score >= t". Does your curve end in (1, 1)?',
        ),
        "the two rates swapped": (
            "np.array(fpr), np.array(tpr), area",
            "np.array(tpr), np.array(fpr), area",
            "First comes the false positive rate. Which class does it look at?",
        ),
        "rates of all cases": (
            "np.mean(called[y == 1])",
            "np.mean(called & (y == 1))",
            "The curve must end in (1, 1). By which number do you divide the true positives?",
        ),
        "area of steps": (
            "np.trapezoid(tpr, fpr)",
            "np.sum(np.diff(fpr) * tpr[1:])",
            "The points are joined by straight lines. With tied scores a slanted piece has the mean height of its ends.",
        ),
        "ties count as lost": (
            "np.trapezoid(tpr, fpr)",
            "np.mean(scores[y == 1][:, None] > scores[y == 0])",
            "The area is the chance that a 1 beats a 0. How much does a tie count under straight lines?",
        ),
    }
)


@roc.wrong(
    "points on straight pieces are left out",
    advice="One point a distinct score, and the start: count yours. (scikit-learn leaves points out unless it is told not to.)",
)
def _(scores, y):
    from sklearn.metrics import auc, roc_curve

    fpr, tpr, _ = roc_curve(y, scores)
    return fpr, tpr, auc(fpr, tpr)


roc.worked(
    why="""The curve can change only where the threshold meets a score, so the distinct scores, from above, give all its points. Each rate looks
    at one class alone and divides by that class: this is why the share of the ill never enters. Cases that tie enter together, and the straight
    piece that they make gives each of their pairs one half."""
)


@roc.right("sorted once, the area from pairs")
def _(scores, y):
    order = np.argsort(-scores)
    sorted_scores, sorted_y = scores[order], y[order]
    last = np.flatnonzero(np.append(np.diff(sorted_scores) != 0, True))
    hits = np.cumsum(sorted_y)[last]
    alarms = last + 1 - hits
    ones, zeros = scores[y == 1][:, None], scores[y == 0]
    area = np.mean((ones > zeros) + 0.5 * (ones == zeros))
    return [0, *alarms / np.sum(y == 0)], [0, *hits / np.sum(y == 1)], area


@roc.right("by scikit-learn", library="sklearn.metrics.roc_curve")
def _(scores, y):
    from sklearn.metrics import auc, roc_curve

    fpr, tpr, _ = roc_curve(y, scores, drop_intermediate=False)
    return fpr, tpr, auc(fpr, tpr)


roc.limit = 10.0  # scikit-learn's first import on a busy machine

# ---------------------------------------------------------------- mse, rmse, accuracy

score = Exercise(
    "score",
    reference=reference.prediction_score,
    compare=close(rtol=1e-6, atol=1e-12),
    batched=("prediction", "y"),
    hints=[
        "Three kinds, three lines. What is the prediction for one row: a number, or a row of probabilities?",
        "mse is a mean of squared differences, rmse its root. For the accuracy, find the most probable class of each row first.",
        "prediction.argmax(axis=1) gives the called classes. The mean of a comparison of two arrays is the share of equal entries.",
    ],
)


@score.cases
def _(rng):
    y = rng.normal(50, 10, 6)
    error = rng.uniform(1, 3, 6) * np.array([1, -1, 1, 1, -1, 1]) * np.arange(1, 7)
    yield "mean squared error", dict(y=y, prediction=y + error, kind="mse")
    yield "root mean squared error", dict(y=y, prediction=y + error, kind="rmse")
    unit = dict(y=-100 * y, prediction=-100 * (y + error), kind="rmse")
    yield "the same in another unit", unit
    yield "accuracy", _probabilities(rng, 8, 2)
    yield "accuracy with many classes", _probabilities(rng, 9, 4)
    one = rng.normal(5, 1, 1)
    yield "a single row", dict(y=one, prediction=one + 2.5, kind="rmse")
    sure = np.array([[0.3, 0.3, 0.4]])
    yield "a single row", dict(y=np.array([2]), prediction=sure, kind="accuracy")
    yield "two classes share the first place", _shared_first_place(rng)
    ahead = _shared_first_place(rng)
    second = 2 - ahead["prediction"][:, ::-1].argmax(axis=1)
    ahead["prediction"][np.arange(8), second] += 1e-9
    yield "a class ahead by a trifle", ahead


def _shared_first_place(rng):
    """Eight rows with two equal winners: in four the first is true, in one the second, in three neither."""
    p = np.array([rng.permutation([0.375, 0.375, 0.25]) for _ in range(8)])
    first, other, last = p.argmax(1), 2 - p[:, ::-1].argmax(1), p.argmin(1)
    y = np.concatenate([first[:4], other[4:5], last[5:]])
    order = rng.permutation(8)
    return dict(y=y[order], prediction=p[order], kind="accuracy")


def _probabilities(rng, n, K):
    """All classes called; all rows but two right; with K > 2 the winner has less than a half."""
    called = rng.permutation(np.arange(n) % K)
    p = rng.uniform(0.9, 1.0, (n, K))
    p[np.arange(n), called] += 0.3
    wrong = rng.permutation(n)[:2]
    y = called.copy()
    y[wrong] = (y[wrong] + [1, max(1, K - 2)]) % K  # one neighbour, one further away
    return dict(y=y, prediction=p / p.sum(1, keepdims=True), kind="accuracy")


score.mistakes(
    {
        "the share of mistakes": (
            "argmax(axis=1) == y",
            "argmax(axis=1) != y",
            "A perfect prediction has accuracy 1. What does yours give it?",
        ),
        "right only with more than one half": (
            "prediction.argmax(axis=1) == y",
            "prediction[np.arange(len(y)), y] > 0.5",
            "With four classes the most probable one may have 0.3. Which class is called then?",
        ),
        "each class in the first place counts as called": (
            "prediction.argmax(axis=1) == y",
            "prediction[np.arange(len(y)), y] == prediction.max(axis=1)",
            "Two classes may share the first place. The docstring says which of them is called: one, not both.",
        ),
        "the last class in the first place is called": (
            "prediction.argmax(axis=1) == y",
            "prediction.shape[1] - 1 - prediction[:, ::-1].argmax(axis=1) == y",
            "Two classes may share the first place. Which of them does the docstring call?",
        ),
        "compared in single precision": (
            "prediction.argmax(axis=1) == y",
            "prediction.astype(np.float32).argmax(axis=1) == y",
            "A class may lead by less than single precision can tell. Compare the probabilities as they are.",
        ),
        "the mean probability of the true class": (
            "prediction.argmax(axis=1) == y",
            "prediction[np.arange(len(y)), y]",
            "Accuracy counts cases: right or wrong. How sure the model was does not enter.",
        ),
        "root of each square": (
            "np.sqrt(mse)",
            "np.mean(np.abs(prediction - y))",
            "The root comes after the mean. What is the root of a square, taken row by row?",
        ),
        "a sum instead of a mean": (
            "np.mean((prediction",
            "np.sum((prediction",
            "Should twice as many test rows double the error? Divide by M.",
        ),
        "the root is forgotten": (
            'return mse if kind == "mse" else np.sqrt(mse)',
            "return mse",
            "rmse has the unit of y. Which unit has yours?",
        ),
    }
)


score.worked(
    why="""A mean of squares is in the square of y's unit; its root, taken once at the end, is back in the unit. Accuracy throws the size of the
    probabilities away and keeps which is largest: argmax gives the first of equal ones, and the mean of a comparison is a share."""
)


@score.right("row by row")
def _(y, prediction, kind):
    if kind == "accuracy":
        return sum(list(p).index(max(p)) == c for c, p in zip(y, prediction)) / len(y)
    mse = sum((a - b) ** 2 for a, b in zip(y, prediction)) / len(y)
    return mse if kind == "mse" else mse**0.5


@score.right("by scikit-learn", library="sklearn.metrics")
def _(y, prediction, kind):
    from sklearn import metrics

    if kind == "accuracy":
        return metrics.accuracy_score(y, prediction.argmax(axis=1))
    if kind == "mse":
        return metrics.mean_squared_error(y, prediction)
    return metrics.root_mean_squared_error(y, prediction)


score.limit = 10.0  # scikit-learn's first import on a busy machine

# ---------------------------------------------------------------- macro averages

macro_f1 = Exercise(
    "macro_f1",
    reference=reference.averaged_scores,
    compare=close(rtol=1e-6, atol=1e-12),
    batched=("C",),
    shuffled=True,
    hints=[
        "Begin with one array of K precisions and one of K recalls. Which of them divides by row sums, which by column sums?",
        "Precision divides the diagonal by C.sum(axis=0), recall by C.sum(axis=1). Make 0/0 a 0 before you average. "
        "The two kinds differ in the order: F1 first and then the mean, or the mean first.",
        "Where a sum is 0, its numerator is 0 too: np.maximum(sum, 1) makes 0/0 a 0. The F1 of class k is twice C[k, k] over the sum of its "
        "row and its column; that of two means is 2PR / (P + R). If nothing is right, all three are 0.",
    ],
)


@macro_f1.cases
def _(rng):
    def table(rows):
        """Classes in random order, the cases of each row multiplied."""
        order = rng.permutation(len(rows))
        return (np.array(rows) * int(rng.integers(1, 4)))[np.ix_(order, order)]

    for kind, name in (
        ("mean_of_f1", "mean of the F1"),
        ("f1_of_means", "F1 of the means"),
    ):
        yield name, dict(C=table([[30, 6, 0], [5, 4, 1], [3, 2, 5]]), kind=kind)
        yield name, dict(C=table([[9, 3], [1, 2]]), kind=kind)
    for kind in ("mean_of_f1", "f1_of_means"):
        for name, rows in (
            ("a class that is never called", [[7, 2, 0], [1, 5, 0], [2, 3, 0]]),
            ("a class that does not occur", [[6, 1, 2], [3, 5, 1], [0, 0, 0]]),
            ("a class that is nowhere", [[6, 1, 0], [2, 5, 0], [0, 0, 0]]),
            ("nothing right", [[0, 3, 1], [2, 0, 0], [4, 1, 0]]),
        ):
            yield name, dict(C=table(rows), kind=kind)
        for rows in ([[1, 2], [0, 0]], [[1, 0], [2, 0]]):
            yield "one right case", dict(C=np.array(rows), kind=kind)


def _per_class(C):
    right = np.diag(C)
    zero = np.zeros(len(C))
    return [
        np.divide(right, n, out=zero.copy(), where=n > 0) for n in (C.sum(0), C.sum(1))
    ]


macro_f1.mistakes(
    {
        "precision and recall swapped": (
            "return P, R, f1",
            "return R, P, f1",
            "Rows are actual. The sum of a row counts the cases that are k: does precision or recall divide by it?",
        ),
        "always the mean of the F1": (
            'kind == "mean_of_f1"',
            "True",
            'For "f1_of_means" average precision and recall first, and take F1 of these two numbers.',
        ),
        "always F1 of the means": (
            'kind == "mean_of_f1"',
            "False",
            'For "mean_of_f1" each class gets its own F1, and these are averaged.',
        ),
        "the two kinds exchanged": (
            'kind == "mean_of_f1"',
            'kind != "mean_of_f1"',
            'Read the names backwards: "mean_of_f1" takes F1 first and the mean last. Which does your code take first?',
        ),
        "arithmetic mean of precision and recall": (
            "2 * P * R / (P + R)",
            "(P + R) / 2",
            "F1 is the harmonic mean. For P = 1 and R = 0 it is 0: what is yours?",
        ),
        "zero over zero": (
            "np.maximum(C.sum(axis=0), 1), np.maximum(C.sum(axis=1), 1)",
            "C.sum(axis=0), C.sum(axis=1)",
            "What does your division give for a class that is never called? The text says what 0/0 counts as.",
        ),
    }
)


@macro_f1.wrong(
    "classes weighted by their size",
    advice="Macro averages give every class the same weight, however many cases it has.",
)
def _(C, kind):
    (P, R), weight = _per_class(C), C.sum(1) / C.sum()
    f1 = 2 * P * R / np.maximum(P + R, 1e-300)
    p, r = weight @ P, weight @ R
    return p, r, weight @ f1 if kind == "mean_of_f1" else 2 * p * r / max(p + r, 1e-300)


@macro_f1.wrong(
    "micro averages",
    advice="Are your three numbers all equal to the accuracy? Average over the classes, do not add their counts.",
)
def _(C, kind):
    return (np.trace(C) / C.sum(),) * 3


@macro_f1.wrong(
    "classes with 0/0 are left out",
    advice="A class that is never called has precision 0 here, and stays in the mean. Over how many classes do you average?",
)
def _(C, kind):
    with np.errstate(invalid="ignore"):
        P, R = np.diag(C) / C.sum(0), np.diag(C) / C.sum(1)
        p, r = np.nanmean(P), np.nanmean(R)
        if not np.trace(C):
            return p, r, 0.0
        f1 = (
            np.nanmean(2 * P * R / (P + R))
            if kind == "mean_of_f1"
            else 2 * p * r / (p + r)
        )
    return p, r, f1


macro_f1.worked(
    why="""The diagonal holds what is right; divided by its column it is precision, by its row recall, an array of K each. The two conventions
    differ only in when the mean is taken, after F1 or before. Where a row or column is empty, the diagonal holds 0 there: a divisor of 1 makes
    the quotient 0, and the class keeps its vote."""
)


@macro_f1.right("class by class, from TP, FP and FN")
def _(C, kind):
    K, P, R, f1 = len(C), 0.0, 0.0, 0.0
    for k in range(K):
        TP = C[k][k]
        FP, FN = sum(C[j][k] for j in range(K)) - TP, sum(C[k]) - TP
        P += TP / (TP + FP) / K if TP else 0.0
        R += TP / (TP + FN) / K if TP else 0.0
        f1 += 2 * TP / (2 * TP + FP + FN) / K if TP else 0.0
    if kind == "f1_of_means":
        f1 = 2 / (1 / P + 1 / R) if P and R else 0.0
    return [P, R, f1]


@macro_f1.right(
    "by scikit-learn, from single cases",
    library="sklearn.metrics.precision_recall_fscore_support",
)
def _(C, kind):
    from sklearn.metrics import precision_recall_fscore_support

    K = len(C)
    y, yhat = np.repeat(np.indices((K, K)).reshape(2, -1), C.ravel(), axis=1)
    P, R, f1, _ = precision_recall_fscore_support(
        y, yhat, labels=range(K), average="macro", zero_division=0
    )
    if kind == "f1_of_means":
        f1 = 2 * P * R / (P + R) if P + R else 0.0
    return P, R, f1


macro_f1.limit = 10.0  # scikit-learn's first import on a busy machine

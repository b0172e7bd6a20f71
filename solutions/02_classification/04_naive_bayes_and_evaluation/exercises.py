"""Exercises of 02_classification/04_naive_bayes_and_evaluation."""

import numpy as np
import torch
from scipy.special import logsumexp
from sklearn import metrics

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
        "Start with theta full of 0.5 and pi full of 0. For each c in range(C): rows = X[y == c]; fill pi[c] from len(rows), "
        "and theta[c] from rows.sum(axis=0), unless len(rows) + alpha is 0.",
    ],
)


@fit_bernoulli_nb.cases
def _(rng):
    yield "plain counts", _features(rng, [5, 3, 2], alpha=0)
    yield "pseudo-counts", _features(rng, [5, 2, 3], alpha=1)
    yield "pseudo-counts", _features(rng, [2, 6], alpha=0.5)
    yield "a class without rows", _features(rng, [4, 0, 3], alpha=2)
    yield "a class without rows", _features(rng, [4, 3, 0], alpha=0)
    never = _features(rng, [4, 3], alpha=1)
    never["X"][:, 1] = 0
    yield "a feature that is never on", never


def _features(rng, sizes, alpha):
    """Rows in random order; in every class one feature is always on and none is forgotten."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = (rng.random((len(y), 4)) < 0.4).astype(int)
    X[:, 0] = 1
    order = rng.permutation(len(y))
    return dict(X=X[order], y=y[order], C=len(sizes), alpha=alpha)


def _count(X, y, C):
    return np.bincount(y, minlength=C), np.array([X[y == c].sum(0) for c in range(C)])


def _share(part, whole):
    """part / whole, one half where that is 0/0."""
    part, whole = np.broadcast_arrays(np.asarray(part, float), whole)
    return np.divide(part, whole, out=np.full(part.shape, 0.5), where=whole > 0)


@fit_bernoulli_nb.wrong(
    "divides by all rows",
    advice="theta[c] is a share of the cases of class c. How many cases is that?",
)
def _(X, y, C, alpha):
    size, ones = _count(X, y, C)
    return size / len(y), (ones + alpha) / (len(y) + 2 * alpha)


@fit_bernoulli_nb.wrong(
    "one alpha below",
    advice="You imagine alpha cases with the feature and alpha without. By how many does the class grow?",
)
def _(X, y, C, alpha):
    size, ones = _count(X, y, C)
    return size / len(y), _share(ones + alpha, size[:, None] + alpha)


@fit_bernoulli_nb.wrong(
    "alpha times the number of features below",
    advice="Each feature is smoothed by itself, and has two values. That it has neighbours must not matter.",
)
def _(X, y, C, alpha):
    size, ones = _count(X, y, C)
    return size / len(y), _share(ones + alpha, size[:, None] + alpha * X.shape[1])


@fit_bernoulli_nb.wrong(
    "alpha times the number of classes below",
    advice="A feature has two values, however many classes there are. By how many imagined cases does a class grow?",
)
def _(X, y, C, alpha):
    size, ones = _count(X, y, C)
    return size / len(y), _share(ones + alpha, size[:, None] + alpha * C)


@fit_bernoulli_nb.wrong(
    "the class shares are smoothed too",
    advice="Smoothing is for theta alone. What share of the rows has class c?",
)
def _(X, y, C, alpha):
    size, ones = _count(X, y, C)
    theta = _share(ones + alpha, size[:, None] + 2 * alpha)
    return (size + alpha) / (len(y) + C * alpha), theta


@fit_bernoulli_nb.wrong(
    "alpha is forgotten",
    advice="Try alpha = 1 and a feature that is never on. Is your theta still 0?",
)
def _(X, y, C, alpha):
    size, ones = _count(X, y, C)
    return size / len(y), _share(ones, size[:, None])


@fit_bernoulli_nb.wrong(
    "one row a feature",
    advice="theta has one row for each class and one column for each feature. What shape is yours?",
)
def _(X, y, C, alpha):
    size, ones = _count(X, y, C)
    return size / len(y), _share(ones + alpha, size[:, None] + 2 * alpha).T


@fit_bernoulli_nb.wrong(
    "only the classes that occur",
    advice="C says how many classes there are. Does your result have C rows when one of them has no cases?",
)
def _(X, y, C, alpha):
    seen = np.unique(y)
    size, ones = _count(X, y, C)
    return (size / len(y))[seen], _share(ones + alpha, size[:, None] + 2 * alpha)[seen]


@fit_bernoulli_nb.wrong(
    "zero over zero",
    advice="alpha = 0 and a class without rows: what does your division give, and what does the text ask for?",
)
def _(X, y, C, alpha):
    size, ones = _count(X, y, C)
    with np.errstate(invalid="ignore"):
        return size / len(y), (ones + alpha) / np.float64(size + 2 * alpha)[:, None]


@fit_bernoulli_nb.right("case by case, feature by feature")
def _(X, y, C, alpha):
    N_c, N_cj = [0] * C, [[0] * X.shape[1] for _ in range(C)]
    for row, c in zip(X, y):
        N_c[c] += 1
        for j, value in enumerate(row):
            if value == 1:
                N_cj[c][j] += 1
    theta = [
        [(k + alpha) / (N_c[c] + 2 * alpha) if N_c[c] + alpha else 0.5 for k in N_cj[c]]
        for c in range(C)
    ]
    return [size / len(y) for size in N_c], theta


@fit_bernoulli_nb.right("one matrix product, single precision")
def _(X, y, C, alpha):
    member = (y[:, None] == np.arange(C)).astype(np.float32)
    size = member.sum(0)
    theta = _share(member.T @ X.astype(np.float32) + alpha, (size + 2 * alpha)[:, None])
    return member.mean(0), theta.astype(np.float32)


# ---------------------------------------------------------------- log posterior


def _tiled_posterior(X, pi, theta, repeats):
    """Repeated features repeat their terms: the log-likelihood is multiplied."""
    X = X.to(theta.dtype)
    likelihood = X @ theta.log().mT + (1 - X) @ (1 - theta).log().mT
    return torch.log_softmax(pi.log() + repeats * likelihood, -1)


nb_log_posterior = Exercise(
    "nb_log_posterior",
    reference=_tiled_posterior,
    compare=close(
        rtol=1e-6, atol=1e-8
    ),  # sums of 10 000 logarithms, of which large parts cancel
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
    return answer(np.tile(X, (1, repeats)), pi, np.tile(theta, (1, repeats)))


@nb_log_posterior.cases
def _(rng):
    yield "a few features", _model(rng, n=4, D=3, C=3)
    yield "two classes, one row", _model(rng, n=1, D=4, C=2)
    yield "ten thousand features", _model(rng, n=3, D=4, C=3, repeats=2500)
    same = _model(rng, n=3, D=3, C=3)
    same["theta"][:] = same["theta"][0]
    yield "features that say nothing leave the class shares", same
    yield "a single class", _model(rng, n=2, D=3, C=1)
    rare = _model(rng, n=2, D=4, C=3, repeats=2500)
    rare["theta"] *= (
        0.4  # every class expects zeros: a row of ones is e^5000 times less likely
    )
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


def _joint(X, pi, theta):
    return np.log(pi) + X @ np.log(theta).T + (1 - X) @ np.log(1 - theta).T


@nb_log_posterior.wrong(
    "features that are off are forgotten",
    advice="A word that is missing is evidence too. Which factor belongs to x_j = 0?",
)
def _(X, pi, theta):
    joint = np.log(pi) + X @ np.log(theta).T
    return joint - logsumexp(joint, axis=1, keepdims=True)


@nb_log_posterior.wrong(
    "not normalised",
    advice="Do the exponentials of a row of your result sum to 1? The denominator of Bayes' rule is missing.",
)
def _(X, pi, theta):
    return _joint(X, pi, theta)


@nb_log_posterior.wrong(
    "normalised over the rows of X",
    advice="For one case the probabilities of the classes sum to 1. Along which axis do you sum?",
)
def _(X, pi, theta):
    joint = _joint(X, pi, theta)
    return joint - logsumexp(joint, axis=0, keepdims=True)


@nb_log_posterior.wrong(
    "the product underflows",
    advice="Multiply 10 000 numbers near 0.5 and print the result. Where must the logarithm come in?",
)
def _(X, pi, theta):
    each = np.where(X[:, None] == 1, theta, 1 - theta).prod(2) * pi
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(each / each.sum(1, keepdims=True))


@nb_log_posterior.wrong(
    "the sum of exponentials underflows",
    advice="What is np.exp(-5000)? Subtract the largest value of the row before you exponentiate.",
)
def _(X, pi, theta):
    joint = _joint(X, pi, theta)
    with np.errstate(divide="ignore"):
        return joint - np.log(np.exp(joint).sum(1, keepdims=True))


@nb_log_posterior.wrong(
    "one maximum for all rows",
    advice="In an unlikely row every value may lie thousands below the largest of the table. Whose maximum must be taken out of a row?",
)
def _(X, pi, theta):
    shifted = _joint(X, pi, theta)
    shifted -= shifted.max()
    with np.errstate(divide="ignore"):
        return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))


@nb_log_posterior.wrong(
    "the logarithm of a posterior that is rounded to 0",
    advice="A posterior of e^-6000 is 0 in a double, and its logarithm is lost. Can you reach the logarithm without forming the posterior?",
)
def _(X, pi, theta):
    joint = _joint(X, pi, theta)
    posterior = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    with np.errstate(divide="ignore"):
        return np.log(posterior)


@nb_log_posterior.wrong(
    "the maximum is taken out and never put back",
    advice="Do the exponentials of a row sum to 1? What was taken out of the sum must be taken out of the row as well.",
)
def _(X, pi, theta):
    joint = _joint(X, pi, theta)
    return joint - np.log(
        np.exp(joint - joint.max(1, keepdims=True)).sum(1, keepdims=True)
    )


@nb_log_posterior.wrong(
    "the class shares are forgotten",
    advice="If the features say nothing, what should the posterior be?",
)
def _(X, pi, theta):
    joint = _joint(X, pi, theta) - np.log(pi)
    return joint - logsumexp(joint, axis=1, keepdims=True)


@nb_log_posterior.wrong(
    "probabilities, not logarithms",
    advice="Are your values between 0 and 1? The logarithm is asked for.",
)
def _(X, pi, theta):
    joint = _joint(X, pi, theta)
    return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))


@nb_log_posterior.wrong(
    "the largest value is taken for the sum",
    advice="Taking the maximum out is the first step. The rest of the sum, at least 1, needs its logarithm too.",
)
def _(X, pi, theta):
    joint = _joint(X, pi, theta)
    return joint - joint.max(1, keepdims=True)


@nb_log_posterior.right("with SciPy's logsumexp")
def _(X, pi, theta):
    joint = _joint(X, pi, theta)
    return joint - logsumexp(joint, axis=1, keepdims=True)


@nb_log_posterior.right("row by row, from pairwise log-odds")
def _(X, pi, theta):
    rows = []
    for x in X:
        each = np.log(pi) + np.log(np.where(x == 1, theta, 1 - theta)).sum(1)
        rows.append([-np.logaddexp.reduce(each - one) for one in each])
    return rows


@nb_log_posterior.right("in torch")
def _(X, pi, theta):
    X, pi, theta = (torch.from_numpy(np.asarray(a, float)) for a in (X, pi, theta))
    return reference.bernoulli_log_posterior(X, pi, theta).numpy()


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
    yield (
        "the same in another unit",
        dict(y=-100 * y, prediction=-100 * (y + error), kind="rmse"),
    )
    yield "accuracy", _probabilities(rng, 8, 2)
    yield "accuracy with many classes", _probabilities(rng, 9, 4)
    one = rng.normal(5, 1)
    yield (
        "a single row",
        dict(y=np.array([one]), prediction=np.array([one + 2.5]), kind="rmse"),
    )
    yield (
        "a single row",
        dict(y=np.array([2]), prediction=np.array([[0.3, 0.3, 0.4]]), kind="accuracy"),
    )
    yield "two classes share the first place", _shared_first_place(rng)


def _shared_first_place(rng):
    """Eight rows with two equal winners: in four the first is true, in one the second, in three neither."""
    p = np.array([rng.permutation([0.375, 0.375, 0.25]) for _ in range(8)])
    first, other, last = p.argmax(1), 2 - p[:, ::-1].argmax(1), p.argmin(1)
    y = np.concatenate([first[:4], other[4:5], last[5:]])
    order = rng.permutation(8)
    return dict(y=y[order], prediction=p[order], kind="accuracy")


def _probabilities(rng, n, K):
    """All classes called; five more rows right than wrong; with K > 2 the winner has less than a half."""
    called = rng.permutation(np.arange(n) % K)
    p = rng.uniform(0.9, 1.0, (n, K))
    p[np.arange(n), called] += 0.3
    wrong = rng.permutation(n)[:2]
    y = called.copy()
    y[wrong] = (y[wrong] + 1) % K
    return dict(y=y, prediction=p / p.sum(1, keepdims=True), kind="accuracy")


def _accuracy(y, prediction):
    return np.mean(np.argmax(prediction, 1) == y)


@score.wrong(
    "the share of mistakes",
    advice="What is y - yhat where the prediction is right? The indicator must be 1 there.",
)
def _(y, prediction, kind):
    if kind == "accuracy":
        return np.mean((y - prediction.argmax(1)) != 0)
    mse = np.mean((prediction - y) ** 2)
    return mse if kind == "mse" else np.sqrt(mse)


@score.wrong(
    "the number of right cases",
    advice="Should twice as many test rows double the accuracy? Divide by M.",
)
def _(y, prediction, kind):
    if kind == "accuracy":
        return np.sum(prediction.argmax(1) == y)
    mse = np.mean((prediction - y) ** 2)
    return mse if kind == "mse" else np.sqrt(mse)


@score.wrong(
    "right only with more than one half",
    advice="With four classes the most probable one may have 0.3. Which class is called then?",
)
def _(y, prediction, kind):
    if kind == "accuracy":
        return np.mean(prediction[np.arange(len(y)), y] > 0.5)
    mse = np.mean((prediction - y) ** 2)
    return mse if kind == "mse" else np.sqrt(mse)


@score.wrong(
    "each class in the first place counts as called",
    advice="Two classes may share the first place. The docstring says which of them is called: one, not both.",
)
def _(y, prediction, kind):
    if kind == "accuracy":
        return np.mean(prediction[np.arange(len(y)), y] == prediction.max(1))
    mse = np.mean((prediction - y) ** 2)
    return mse if kind == "mse" else np.sqrt(mse)


@score.wrong(
    "the last class in the first place is called",
    advice="Two classes may share the first place. Which of them does the docstring call?",
)
def _(y, prediction, kind):
    if kind == "accuracy":
        return np.mean(np.argsort(prediction, axis=1, kind="stable")[:, -1] == y)
    mse = np.mean((prediction - y) ** 2)
    return mse if kind == "mse" else np.sqrt(mse)


@score.wrong(
    "root of each square",
    advice="The root comes after the mean. What is the root of a square, taken row by row?",
)
def _(y, prediction, kind):
    if kind == "accuracy":
        return _accuracy(y, prediction)
    return (
        np.mean((prediction - y) ** 2)
        if kind == "mse"
        else np.mean(np.abs(prediction - y))
    )


@score.wrong(
    "a sum instead of a mean",
    advice="Should twice as many test rows double the error? Divide by M.",
)
def _(y, prediction, kind):
    if kind == "accuracy":
        return _accuracy(y, prediction)
    total = np.sum((prediction - y) ** 2)
    return total if kind == "mse" else np.sqrt(total)


@score.wrong(
    "the root is forgotten", advice="rmse has the unit of y. Which unit has yours?"
)
def _(y, prediction, kind):
    if kind == "accuracy":
        return _accuracy(y, prediction)
    return np.mean((prediction - y) ** 2)


@score.wrong(
    "the mean probability of the true class",
    advice="Accuracy counts cases: right or wrong. How sure the model was does not enter.",
)
def _(y, prediction, kind):
    if kind == "accuracy":
        return prediction[np.arange(len(y)), y].mean()
    mse = np.mean((prediction - y) ** 2)
    return mse if kind == "mse" else np.sqrt(mse)


@score.right("with scikit-learn")
def _(y, prediction, kind):
    if kind == "accuracy":
        return metrics.accuracy_score(y, np.argmax(prediction, axis=1))
    mse = metrics.mean_squared_error(y, prediction)
    return mse if kind == "mse" else mse**0.5


@score.right("row by row")
def _(y, prediction, kind):
    if kind == "accuracy":
        return sum(list(p).index(max(p)) == c for c, p in zip(y, prediction)) / len(y)
    mse = sum((a - b) ** 2 for a, b in zip(y, prediction)) / len(y)
    return mse if kind == "mse" else mse**0.5


@score.right("single precision")
def _(y, prediction, kind):
    if kind == "accuracy":
        return np.float32(_accuracy(y, prediction))
    mse = np.mean((prediction - y).astype(np.float32) ** 2)
    return mse if kind == "mse" else np.sqrt(mse)


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
    yield (
        "three classes",
        _calls(rng, [(0, 0, 3), (0, 1, 4), (1, 1, 2), (1, 2, 1), (2, 2, 3)], 3),
    )
    yield "two classes", _calls(rng, [(0, 0, 4), (0, 1, 3), (1, 0, 1), (1, 1, 2)], 2)
    yield (
        "a class that is never called",
        _calls(rng, [(0, 0, 2), (1, 0, 2), (2, 1, 3)], 3),
    )
    yield (
        "a class that does not occur",
        _calls(rng, [(0, 1, 3), (1, 1, 2), (1, 0, 1)], 4),
    )
    yield "nothing right", _calls(rng, [(0, 1, 3), (1, 2, 2), (2, 0, 1)], 3)


def _calls(rng, counts, K):
    """Cases in random order: (actual, called, how many, plus at most 2 where it is right)."""
    pairs = [
        (a, b) for a, b, k in counts for _ in range(k + (a == b) * int(rng.integers(3)))
    ]
    y, yhat = np.array(pairs)[rng.permutation(len(pairs))].T
    return dict(y=y.copy(), yhat=yhat.copy(), K=K)


@confusion.wrong(
    "rows predicted, columns actual",
    advice="Rows are actual. Which class does the sum of a row count: those that are, or those that were called?",
)
def _(y, yhat, K):
    return metrics.confusion_matrix(yhat, y, labels=range(K))


@confusion.wrong(
    "each pair counts once",
    advice="Do the entries sum to the number of cases? C[y, yhat] += 1 with arrays adds only once to a repeated cell.",
)
def _(y, yhat, K):
    C = np.zeros((K, K), int)
    C[y, yhat] += 1
    return C


@confusion.wrong(
    "shares instead of counts",
    advice="Counts are asked for: whole numbers that sum to n.",
)
def _(y, yhat, K):
    C = metrics.confusion_matrix(y, yhat, labels=range(K))
    return C / np.maximum(C.sum(1, keepdims=True), 1)


@confusion.wrong(
    "as many classes as occur",
    advice="K says how many classes there are. What shape has your result when one of them does not occur?",
)
def _(y, yhat, K):
    return metrics.confusion_matrix(y, yhat)


@confusion.wrong(
    "only the mistakes",
    advice="Where do the cases go that were called rightly? The diagonal is theirs.",
)
def _(y, yhat, K):
    C = metrics.confusion_matrix(y, yhat, labels=range(K))
    return C - np.diag(np.diag(C))


@confusion.right("one bincount")
def _(y, yhat, K):
    return np.bincount(y * K + yhat, minlength=K * K).reshape(K, K)


@confusion.right("a product of indicator matrices, as floats")
def _(y, yhat, K):
    return np.eye(K)[y].T @ np.eye(K)[yhat]


@confusion.right("lists, cell by cell")
def _(y, yhat, K):
    return [[int(np.sum((y == a) & (yhat == b))) for b in range(K)] for a in range(K)]


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
        "np.divide(part, whole, out=np.zeros(K), where=whole > 0) leaves 0 where whole is 0. "
        "F1 of two numbers (or arrays) P and R is 2PR / (P + R), again 0 for 0/0.",
    ],
)


@macro_f1.cases
def _(rng):
    def table(rows):
        """Classes in random order, the cases of each row multiplied."""
        order = rng.permutation(len(rows))
        return (np.array(rows) * int(rng.integers(1, 4)))[np.ix_(order, order)]

    for kind in ("mean_of_f1", "f1_of_means"):
        name = "mean of the F1" if kind == "mean_of_f1" else "F1 of the means"
        yield name, dict(C=table([[30, 6, 0], [5, 4, 1], [3, 2, 5]]), kind=kind)
        yield name, dict(C=table([[9, 3], [1, 2]]), kind=kind)
    for kind in ("mean_of_f1", "f1_of_means"):
        yield (
            "a class that is never called",
            dict(C=table([[7, 2, 0], [1, 5, 0], [2, 3, 0]]), kind=kind),
        )
        yield (
            "a class that does not occur",
            dict(C=table([[6, 1, 2], [3, 5, 1], [0, 0, 0]]), kind=kind),
        )
        yield (
            "nothing right",
            dict(C=table([[0, 3, 1], [2, 0, 0], [4, 1, 0]]), kind=kind),
        )


def _zero(part, whole):
    part, whole = np.asarray(part, float), np.asarray(whole, float)
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _per_class(C):
    return _zero(np.diag(C), C.sum(0)), _zero(np.diag(C), C.sum(1))


def _harmonic(P, R):
    return _zero(2 * P * R, P + R)


@macro_f1.wrong(
    "precision and recall swapped",
    advice="Rows are actual. The sum of a row counts the cases that are k: does precision or recall divide by it?",
)
def _(C, kind):
    P, R = _per_class(C.T)
    if kind == "mean_of_f1":
        return P.mean(), R.mean(), _harmonic(P, R).mean()
    return P.mean(), R.mean(), _harmonic(P.mean(), R.mean())


@macro_f1.wrong(
    "always the mean of the F1",
    advice='For "f1_of_means" average precision and recall first, and take F1 of these two numbers.',
)
def _(C, kind):
    P, R = _per_class(C)
    return P.mean(), R.mean(), _harmonic(P, R).mean()


@macro_f1.wrong(
    "always F1 of the means",
    advice='For "mean_of_f1" each class gets its own F1, and these are averaged.',
)
def _(C, kind):
    P, R = _per_class(C)
    return P.mean(), R.mean(), _harmonic(P.mean(), R.mean())


@macro_f1.wrong(
    "the two kinds exchanged",
    advice='Read the names backwards: "mean_of_f1" takes F1 first and the mean last. Which does your code take first?',
)
def _(C, kind):
    P, R = _per_class(C)
    if kind == "f1_of_means":
        return P.mean(), R.mean(), _harmonic(P, R).mean()
    return P.mean(), R.mean(), _harmonic(P.mean(), R.mean())


@macro_f1.wrong(
    "arithmetic mean of precision and recall",
    advice="F1 is the harmonic mean. For P = 1 and R = 0 it is 0: what is yours?",
)
def _(C, kind):
    P, R = _per_class(C)
    return P.mean(), R.mean(), (P.mean() + R.mean()) / 2


@macro_f1.wrong(
    "classes weighted by their size",
    advice="Macro averages give every class the same weight, however many cases it has.",
)
def _(C, kind):
    P, R = _per_class(C)
    weight = C.sum(1) / C.sum()
    if kind == "mean_of_f1":
        return weight @ P, weight @ R, weight @ _harmonic(P, R)
    return weight @ P, weight @ R, _harmonic(weight @ P, weight @ R)


@macro_f1.wrong(
    "micro averages",
    advice="Are your three numbers all equal to the accuracy? Average over the classes, do not add their counts.",
)
def _(C, kind):
    accuracy = np.trace(C) / C.sum()
    return accuracy, accuracy, accuracy


@macro_f1.wrong(
    "classes with 0/0 are left out",
    advice="A class that is never called has precision 0 here, and stays in the mean. Over how many classes do you average?",
)
def _(C, kind):
    with np.errstate(invalid="ignore"):
        P, R = np.diag(C) / C.sum(0), np.diag(C) / C.sum(1)
        if kind == "mean_of_f1":
            f1 = np.nanmean(2 * P * R / (P + R)) if np.trace(C) else 0.0
        else:
            f1 = float(_harmonic(np.nanmean(P), np.nanmean(R)))
    return np.nanmean(P), np.nanmean(R), f1


@macro_f1.wrong(
    "zero over zero",
    advice="What does your division give for a class that is never called? The text says what 0/0 counts as.",
)
def _(C, kind):
    with np.errstate(invalid="ignore"):
        P, R = np.diag(C) / C.sum(0), np.diag(C) / C.sum(1)
        if kind == "mean_of_f1":
            return P.mean(), R.mean(), (2 * P * R / (P + R)).mean()
        return P.mean(), R.mean(), 2 * P.mean() * R.mean() / (P.mean() + R.mean())


@macro_f1.right("by scikit-learn, from single cases")
def _(C, kind):
    K = len(C)
    y, yhat = np.repeat(np.indices((K, K)).reshape(2, -1), C.ravel(), axis=1)
    P, R, f1, _ = metrics.precision_recall_fscore_support(
        y, yhat, labels=range(K), average="macro", zero_division=0
    )
    return P, R, f1 if kind == "mean_of_f1" else (2 * P * R / (P + R) if P + R else 0.0)


@macro_f1.right("class by class, from TP, FP and FN")
def _(C, kind):
    K, P, R, f1 = len(C), 0.0, 0.0, 0.0
    for k in range(K):
        TP = C[k][k]
        FP, FN = sum(C[j][k] for j in range(K)) - TP, sum(C[k]) - TP
        P += TP / (TP + FP) / K if TP else 0.0
        R += TP / (TP + FN) / K if TP else 0.0
        f1 += 2 * TP / (2 * TP + FP + FN) / K if TP else 0.0
    return [
        P,
        R,
        f1 if kind == "mean_of_f1" else (2 / (1 / P + 1 / R) if P and R else 0.0),
    ]


@macro_f1.right("single precision")
def _(C, kind):
    P, R = (a.astype(np.float32) for a in _per_class(C))
    f1 = (
        _harmonic(P, R).mean()
        if kind == "mean_of_f1"
        else _harmonic(P.mean(), R.mean())
    )
    return P.mean(), R.mean(), np.float32(f1)


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
        "F1 is twice the hits over (calls + ones). Guard each of the three divisions: if the divisor is 0, the result is 0.",
    ],
)


@pr_at.cases
def _(rng):
    for delta in (0.5, 0.3):
        yield "an ordinary threshold", _scored(rng, delta)
    tie = _scored(rng, 0.5)
    tie["scores"][np.flatnonzero(tie["y"] == 0)[0]] = 0.5
    tie["scores"][np.flatnonzero(tie["y"] == 1)[0]] = 0.5
    yield "scores on the threshold", tie
    yield "nothing is called 1", dict(_scored(rng, 0.5), delta=0.99)
    yield "everything is called 1", dict(_scored(rng, 0.5), delta=0.0)
    none = _scored(rng, 0.5)
    none["y"] = np.zeros_like(none["y"])
    yield "no case is 1", none
    for scale in (
        1e-9,
        -4.0,
    ):  # claims of a sure model; minus the number is a score as well
        tiny = _scored(rng, 0.5)
        if scale < 0:
            tiny["scores"], tiny["delta"] = scale * (1 - tiny["scores"]), scale * 0.5
        else:
            tiny["scores"], tiny["delta"] = scale * tiny["scores"], scale * 0.5
        yield "scores that are tiny or negative", tiny


def _scored(rng, delta):
    """3 to 6 hits, 2 false alarms, 1 missed, 4 to 7 rightly passed; no score on the threshold."""
    hits, passed = rng.integers(3, 7), rng.integers(4, 8)
    y = np.repeat([1, 0, 1, 0], [hits, 2, 1, passed])
    above = delta + (0.95 - delta) * rng.uniform(0.1, 1, hits + 2)
    below = delta * rng.uniform(0.1, 0.9, 1 + passed)
    order = rng.permutation(len(y))
    scores = np.round(np.concatenate([above, below]), 3)
    return dict(delta=delta, scores=scores[order], y=y[order])


def _prf(called, y):
    hits, said, there = np.sum(called & (y == 1)), np.sum(called), np.sum(y == 1)
    return (
        hits / said if said else 0.0,
        hits / there if there else 0.0,
        2 * hits / (said + there) if said + there else 0.0,
    )


@pr_at.wrong(
    "a score on the threshold counts as 1",
    advice="The text calls 1 what lies above δ. What about a score equal to δ?",
)
def _(delta, scores, y):
    return _prf(scores >= delta, y)


@pr_at.wrong(
    "nearly equal is taken for equal",
    advice="Sure models give scores that differ in the ninth digit. Is 0.000000002 above 0.000000001? Compare the numbers as they are.",
)
def _(delta, scores, y):
    return _prf((scores > delta) & ~np.isclose(scores, delta), y)


@pr_at.wrong(
    "the threshold is always one half",
    advice="The threshold is handed in. Where does your code use it?",
)
def _(delta, scores, y):
    return _prf(scores > 0.5, y)


@pr_at.wrong(
    "precision and recall swapped",
    advice="Precision divides by what was called, recall by what is there. Which is which?",
)
def _(delta, scores, y):
    P, R, f1 = _prf(scores > delta, y)
    return R, P, f1


@pr_at.wrong(
    "zero over zero", advice="Nothing is called 1: what is precision then, by the text?"
)
def _(delta, scores, y):
    called = scores > delta
    hits = np.sum(called & (y == 1))
    with np.errstate(invalid="ignore"):
        P, R = hits / np.sum(called), hits / np.sum(y == 1)
        return P, R, 2 * P * R / (P + R)


@pr_at.wrong(
    "precision 1 when nothing is called",
    advice="Some libraries end their curve with precision 1. Here every 0/0 is 0.",
)
def _(delta, scores, y):
    P, R, f1 = _prf(scores > delta, y)
    return P if np.any(scores > delta) else 1.0, R, f1


@pr_at.wrong(
    "accuracy for precision",
    advice="Precision looks only at the cases that were called 1. How many cases do you divide by?",
)
def _(delta, scores, y):
    called = scores > delta
    _, R, _ = _prf(called, y)
    P = np.mean(called == (y == 1))
    return P, R, 2 * P * R / (P + R) if P + R else 0.0


@pr_at.wrong(
    "arithmetic mean for F1",
    advice="F1 is the harmonic mean: 1 and 0 give 0. What does your formula give?",
)
def _(delta, scores, y):
    P, R, _ = _prf(scores > delta, y)
    return P, R, (P + R) / 2


@pr_at.wrong(
    "the low scores are called 1",
    advice="A high score speaks for class 1. On which side of δ are the cases that you call 1?",
)
def _(delta, scores, y):
    return _prf(scores < delta, y)


@pr_at.right("with scikit-learn")
def _(delta, scores, y):
    P, R, f1, _ = metrics.precision_recall_fscore_support(
        y, (scores > delta).astype(int), labels=[1], average=None, zero_division=0
    )
    return P[0], R[0], f1[0]


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


@pr_at.right("single precision")
def _(delta, scores, y):
    return np.float32(_prf(scores > delta, y))


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
        "Put 0 in front of both arrays. The area sums width times mean height: np.diff(fpr) times the mean of neighbouring tpr (np.trapezoid).",
    ],
)


@roc.cases
def _(rng):
    yield (
        "distinct scores",
        _ranked(rng, np.arange(1, 10) / 10, [0, 0, 1, 0, 1, 0, 1, 1, 0]),
    )
    yield (
        "tied scores",
        _ranked(
            rng, [0.2, 0.2, 0.4, 0.4, 0.4, 0.7, 0.7, 0.9], [0, 0, 1, 0, 0, 1, 0, 1]
        ),
    )
    yield "all scores equal", _ranked(rng, [0.5] * 5, [0, 1, 1, 0, 1])
    yield "a perfect ranking", _ranked(rng, [0.1, 0.2, 0.4, 0.8, 0.9], [0, 0, 0, 1, 1])
    yield "the ranking upside down", _ranked(rng, [0.1, 0.3, 0.6, 0.7], [1, 1, 0, 0])
    yield "one case of each class", _ranked(rng, [-2.0, 1.5], [0, 1])
    close = _ranked(rng, np.arange(1, 7), [0, 1, 0, 1, 0, 1])
    close["scores"] = 1e-10 * np.argsort(np.argsort(close["scores"])) + 1e-10
    yield "scores that differ in the tenth digit", close


def _ranked(rng, scores, y):
    """Another increasing scale, and rows in random order."""
    order = rng.permutation(len(y))
    scores = np.round(rng.uniform(0.5, 3) * np.array(scores) + rng.uniform(-1, 1), 3)
    return dict(scores=scores[order], y=np.array(y)[order])


def _curve(scores, y):
    levels = np.unique(scores)[::-1]
    tpr = np.array([0.0, *(np.mean(scores[y == 1] >= t) for t in levels)])
    fpr = np.array([0.0, *(np.mean(scores[y == 0] >= t) for t in levels)])
    return fpr, tpr


def _area(fpr, tpr):
    return np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2)


@roc.wrong(
    "one step a case",
    advice="Cases with the same score enter together. How many points has your curve when all scores are equal?",
)
def _(scores, y):
    y = y[np.argsort(-scores, kind="stable")]
    tpr = np.append(0, np.cumsum(y == 1) / np.sum(y == 1))
    fpr = np.append(0, np.cumsum(y == 0) / np.sum(y == 0))
    return fpr, tpr, _area(fpr, tpr)


@roc.wrong(
    "the start is missing",
    advice="Before the first case enters, both rates are 0. Is that point there?",
)
def _(scores, y):
    fpr, tpr = _curve(scores, y)
    return fpr[1:], tpr[1:], _area(fpr[1:], tpr[1:])


@roc.wrong(
    "from the smallest score to the largest",
    advice="The first point is (0, 0), where nothing is called 1. From which end do you let the threshold move?",
)
def _(scores, y):
    fpr, tpr = _curve(scores, y)
    return fpr[::-1], tpr[::-1], _area(fpr, tpr)


@roc.wrong(
    "nearly equal scores are merged",
    advice="Sure models give scores that differ in the ninth digit, and still rank the cases. How many distinct scores are there?",
)
def _(scores, y):
    fpr, tpr = _curve(np.round(scores, 8), y)
    return fpr, tpr, _area(fpr, tpr)


@roc.wrong(
    "points on straight pieces are left out",
    advice="One point a distinct score, and the start: count yours. (scikit-learn leaves points out unless it is told not to.)",
)
def _(scores, y):
    fpr, tpr, _ = metrics.roc_curve(y, scores)
    return fpr, tpr, metrics.auc(fpr, tpr)


@roc.wrong(
    "the score on the threshold stays out",
    advice='A point counts the cases with "score >= t". Does your curve end in (1, 1)?',
)
def _(scores, y):
    levels = np.unique(scores)[::-1]
    tpr = np.array([0.0, *(np.mean(scores[y == 1] > t) for t in levels)])
    fpr = np.array([0.0, *(np.mean(scores[y == 0] > t) for t in levels)])
    return fpr, tpr, _area(fpr, tpr)


@roc.wrong(
    "the two rates swapped",
    advice="First comes the false positive rate. Which class does it look at?",
)
def _(scores, y):
    fpr, tpr = _curve(scores, y)
    return tpr, fpr, _area(tpr, fpr)


@roc.wrong(
    "rates of all cases",
    advice="The curve must end in (1, 1). By which number do you divide the true positives?",
)
def _(scores, y):
    fpr, tpr = _curve(scores, y)
    fpr, tpr = fpr * np.mean(y == 0), tpr * np.mean(y == 1)
    return fpr, tpr, _area(fpr, tpr)


@roc.wrong(
    "area of steps",
    advice="The points are joined by straight lines. With tied scores a slanted piece has the mean height of its ends.",
)
def _(scores, y):
    fpr, tpr = _curve(scores, y)
    return fpr, tpr, np.sum(np.diff(fpr) * tpr[1:])


@roc.wrong(
    "ties count as lost",
    advice="The area is the chance that a 1 beats a 0. How much does a tie count under straight lines?",
)
def _(scores, y):
    fpr, tpr = _curve(scores, y)
    return fpr, tpr, np.mean(scores[y == 1][:, None] > scores[y == 0])


@roc.right("with scikit-learn")
def _(scores, y):
    fpr, tpr, _ = metrics.roc_curve(y, scores, drop_intermediate=False)
    return fpr, tpr, metrics.auc(fpr, tpr)


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


@roc.right("single precision")
def _(scores, y):
    fpr, tpr = (a.astype(np.float32) for a in _curve(scores, y))
    return fpr, tpr, np.float32(_area(fpr, tpr))

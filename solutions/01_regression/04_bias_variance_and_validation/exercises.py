"""Exercises of 01_regression/04_bias_variance_and_validation."""

import numpy as np
import torch
from scipy.stats import binom
from sklearn.model_selection import KFold

from descent.compare import close
from solutions.spec import Exercise

from . import reference

# ---------------------------------------------------------------- the tower property

tower = Exercise(
    "tower",
    reference=reference.conditional_means,
    compare=close(rtol=1e-6, atol=1e-12),
    batched=("g", "joint"),
    hints=[
        "Row i of the table holds P(X = i, Y = j). What must you divide a row by, so that it becomes the distribution of Y given X = i?",
        "P(X = i) is the sum of row i. The inner mean of row i is the sum of joint[i] * g[i] over that sum. "
        "The outer mean weighs inner mean i with P(X = i).",
        "Make an array of zeros for the inner means, fill it only where P(X) > 0 (np.divide has out= and where=), "
        "then total = np.sum(P(X) * inner).",
    ],
)


@tower.cases
def _(rng):
    yield "any table", _table(rng, 3, 4)
    yield "more values of X than of Y", _table(rng, 5, 2)
    never = _table(rng, 4, 3)
    never["joint"][1] = 0
    never["joint"] /= never["joint"].sum()
    yield "a value of X that never occurs", never
    on_x = _table(rng, 3, 4)
    on_x["g"] = np.repeat(rng.normal(size=(3, 1)), 4, axis=1)
    yield "g depends on X alone", on_x


def _table(rng, a, b):
    joint = rng.uniform(0.1, 1.0, (a, b)) * np.arange(1, a + 1)[:, None]
    return dict(joint=joint / joint.sum(), g=rng.normal(2.0, 3.0, (a, b)))


def _inner(joint, g):
    marginal = joint.sum(1)
    return np.divide(
        (joint * g).sum(1), marginal, out=np.zeros(len(joint)), where=marginal > 0
    )


@tower.wrong(
    "every value of X counts the same",
    advice="Is each value of X equally likely? Look at the row sums of the table.",
)
def _(joint, g):
    inner = _inner(joint, g)
    return inner, inner.mean()


@tower.wrong(
    "the rows are not normalised",
    advice="Given X = i, the probabilities of Y must sum to 1. Do the entries of your row?",
)
def _(joint, g):
    weighted = (joint * g).sum(1)
    return weighted, weighted.sum()


@tower.wrong(
    "conditions on Y",
    advice="Which axis of the table runs over X? There must be one inner mean for each row.",
)
def _(joint, g):
    return _inner(joint.T, g.T), (joint * g).sum()


@tower.wrong(
    "divides by zero",
    advice="What is P(X = i) for a value that never occurs, and what happens when you divide by it?",
)
def _(joint, g):
    marginal = joint.sum(1)
    with np.errstate(invalid="ignore"):
        inner = (joint * g).sum(1) / marginal
    return inner, (marginal * inner).sum()


@tower.wrong(
    "ignores the probabilities inside a row",
    advice="The inner mean weighs g with the probability of each Y. Are all Y equally likely?",
)
def _(joint, g):
    inner = g.mean(1)
    return inner, (joint.sum(1) * inner).sum()


@tower.right("one row at a time")
def _(joint, g):
    inner, total = [], 0.0
    for row, values in zip(joint, g, strict=True):
        chance = sum(row)
        inner.append(
            sum(p / chance * v for p, v in zip(row, values, strict=True))
            if chance
            else 0.0
        )
        total += chance * inner[-1]
    return inner, total


@tower.right("single precision")
def _(joint, g):
    inner = _inner(joint, g).astype(np.float32)
    return inner, np.float32((joint * g).sum())


# ---------------------------------------------------------------- squared error

bias_variance = Exercise(
    "bias_variance",
    reference=reference.squared_error_terms,
    compare=close(rtol=1e-6, atol=1e-12),
    batched=("fits", "truth"),
    hints=[
        "Two averages are in play, over data sets (axis 0) and over points (axis 1). Which comes first in the formula?",
        "The mean fit is fits.mean(axis=0), one value a point. Bias compares it with the truth; variance compares each fit with it.",
        "bias2: square (mean fit - truth) at every point, then average over points. variance: fits.var(axis=0), then average over points.",
    ],
)


@bias_variance.cases
def _(rng):
    yield "any fits", dict(fits=rng.normal(1.0, 2.0, (5, 6)), truth=rng.normal(size=6))
    truth = np.array([-2.0, 1.0, 1.0, 0.0])
    shift = rng.uniform(0.5, 2.0)
    yield (
        "fits that agree and are wrong",
        dict(
            fits=np.tile(truth + shift * np.array([1, -1, 1, -1]), (4, 1)), truth=truth
        ),
    )
    spread = rng.uniform(0.5, 2.0, 4)
    yield (
        "fits that scatter round the truth",
        dict(fits=truth + np.outer([-1.0, 1.0], spread), truth=truth),
    )
    yield (
        "a single data set",
        dict(fits=rng.normal(size=(1, 5)), truth=rng.normal(size=5)),
    )
    yield "a single point", dict(fits=rng.normal(size=(6, 1)), truth=rng.normal(size=1))


@bias_variance.wrong(
    "the bias is averaged before it is squared",
    advice="Too high here and too low there is still wrong twice. In which order do you square and average over points?",
)
def _(fits, truth):
    return (fits.mean(0) - truth).mean() ** 2, fits.var(0).mean()


@bias_variance.wrong(
    "variance along the curve",
    advice="Variance asks how one point moves from data set to data set. Which axis runs over data sets?",
)
def _(fits, truth):
    return ((fits.mean(0) - truth) ** 2).mean(), fits.var(1).mean()


@bias_variance.wrong(
    "divides by one data set fewer",
    advice="Here the mean over data sets is a plain mean. Do your two terms add up to the mean of (fits - truth)²?",
)
def _(fits, truth):
    with np.errstate(
        divide="ignore", invalid="ignore"
    ):  # np.var(ddof=1) of one data set is nan
        scatter = ((fits - fits.mean(0)) ** 2).sum(0) / (len(fits) - np.float64(1))
    return ((fits.mean(0) - truth) ** 2).mean(), scatter.mean()


@bias_variance.wrong(
    "scatter around the truth",
    advice="Variance knows nothing of the truth. Around which curve do the fits scatter?",
)
def _(fits, truth):
    return ((fits.mean(0) - truth) ** 2).mean(), ((fits - truth) ** 2).mean()


@bias_variance.wrong(
    "one variance over all entries",
    advice="The mean fit may rise and fall from point to point: is that variance? Over which axis do you take it?",
)
def _(fits, truth):
    return ((fits.mean(0) - truth) ** 2).mean(), fits.var()


@bias_variance.wrong(
    "the whole error is called bias",
    advice="Bias belongs to the mean fit. Did you average the fits before comparing with the truth?",
)
def _(fits, truth):
    return ((fits - truth) ** 2).mean(), fits.var(0).mean()


@bias_variance.wrong(
    "the bias is not squared",
    advice="The two terms must have the same unit: that of y squared.",
)
def _(fits, truth):
    return np.abs(fits.mean(0) - truth).mean(), fits.var(0).mean()


@bias_variance.wrong(
    "standard deviation for variance",
    advice="The two terms must have the same unit: that of y squared.",
)
def _(fits, truth):
    return ((fits.mean(0) - truth) ** 2).mean(), fits.std(0).mean()


@bias_variance.right("variance as what is left of the error")
def _(fits, truth):
    bias2 = np.mean((np.mean(fits, axis=0) - truth) ** 2)
    return bias2, np.mean((fits - truth) ** 2) - bias2


@bias_variance.right("loops over the points")
def _(fits, truth):
    bias2 = variance = 0.0
    for column, target in zip(fits.T, truth, strict=True):
        centre = sum(column) / len(column)
        bias2 += (centre - target) ** 2 / len(truth)
        variance += sum((value - centre) ** 2 for value in column) / fits.size
    return [bias2, variance]


@bias_variance.right("single precision")
def _(fits, truth):
    fits, truth = fits.astype(np.float32), truth.astype(np.float32)
    return ((fits.mean(0) - truth) ** 2).mean(), fits.var(0).mean()


# ---------------------------------------------------------------- cross-entropy

ce_decompose = Exercise(
    "ce_decompose",
    reference=reference.cross_entropy_terms,
    compare=close(rtol=1e-6, atol=1e-10),
    batched=("probs", "truth"),
    hints=[
        "Start with the centre: take the mean of log p over the models, one number a class. What must hold for it to be a distribution?",
        "centre = exp(mean log p), divided by its sum. Then two divergences: from truth to centre, and from centre to each model (average those over models).",
        "KL(a, b) sums a * log(a / b) over the classes with a > 0. Noise: sum of -t * log(t) over classes with t > 0. Return noise, KL(truth, centre), mean of KL(centre, p).",
    ],
)


@ce_decompose.cases
def _(rng):
    yield (
        "three classes, four models",
        dict(probs=_simplex(rng, 4, 3), truth=_simplex(rng, 1, 3)[0]),
    )
    yield (
        "a class that never occurs",
        dict(probs=_simplex(rng, 5, 3), truth=np.array([0.7, 0.3, 0.0])),
    )
    yield (
        "a single model",
        dict(probs=_simplex(rng, 1, 4), truth=_simplex(rng, 1, 4)[0]),
    )
    truth = _simplex(rng, 1, 3)[0]
    yield "all models know the truth", dict(probs=np.tile(truth, (3, 1)), truth=truth)


def _simplex(rng, rows, k):
    """Distributions whose entries differ by a factor of about ten, in an order that changes from row to row."""
    weights = np.geomspace(1, 10, k) * rng.uniform(0.8, 1.25, (rows, k))
    rolled = np.array([np.roll(row, shift) for shift, row in enumerate(weights)])
    return rolled / rolled.sum(1, keepdims=True)


def _kl(a, b):
    safe = np.where(a > 0, a, 1.0)
    return np.sum(np.where(a > 0, a * (np.log(safe) - np.log(b)), 0.0), -1)


def _entropy(truth):
    return -np.sum(truth[truth > 0] * np.log(truth[truth > 0]))


def _centre(probs):
    centre = np.exp(np.log(probs).mean(0))
    return centre / centre.sum()


@ce_decompose.wrong(
    "averages the probabilities",
    advice="For squared error the centre is the plain mean. Here the loss holds log p: which mean of the models makes noise + bias + variance equal the loss?",
)
def _(probs, truth):
    centre = probs.mean(0)
    return _entropy(truth), _kl(truth, centre), _kl(centre, probs).mean()


@ce_decompose.wrong(
    "the centre does not sum to one",
    advice="Add up the entries of your centre. Is it a distribution?",
)
def _(probs, truth):
    centre = np.exp(np.log(probs).mean(0))
    return _entropy(truth), _kl(truth, centre), _kl(centre, probs).mean()


@ce_decompose.wrong(
    "variance the wrong way round",
    advice="KL is not symmetric. In the variance, which distribution does the weighing?",
)
def _(probs, truth):
    centre = _centre(probs)
    return _entropy(truth), _kl(truth, centre), _kl(probs, centre).mean()


@ce_decompose.wrong(
    "the variance is summed over the models",
    advice="Would twice as many equal models double your variance? The formula takes a mean over s.",
)
def _(probs, truth):
    centre = _centre(probs)
    return _entropy(truth), _kl(truth, centre), _kl(centre, probs).sum()


@ce_decompose.wrong(
    "bias as a cross-entropy",
    advice="Is your bias zero when all models know the truth? The noise must not be counted twice.",
)
def _(probs, truth):
    centre = _centre(probs)
    return _entropy(truth), -np.sum(truth * np.log(centre)), _kl(centre, probs).mean()


@ce_decompose.wrong(
    "bits instead of nats",
    advice="The text uses the natural logarithm. Which one did you take?",
)
def _(probs, truth):
    centre = _centre(probs)
    return tuple(
        term / np.log(2)
        for term in (_entropy(truth), _kl(truth, centre), _kl(centre, probs).mean())
    )


@ce_decompose.wrong(
    "0 log 0 is not a number",
    advice="A class of probability zero adds nothing to the entropy. What does 0 * log(0) give in NumPy?",
)
def _(probs, truth):
    centre = _centre(probs)
    with np.errstate(divide="ignore", invalid="ignore"):
        noise, bias = (
            -np.sum(truth * np.log(truth)),
            np.sum(truth * np.log(truth / centre)),
        )
    return noise, bias, _kl(centre, probs).mean()


@ce_decompose.right("bias and variance from the normaliser")
def _(probs, truth):
    geometric = np.exp(np.log(probs).mean(0))
    noise = _entropy(truth)
    return (
        noise,
        -truth @ np.log(geometric / geometric.sum()) - noise,
        -np.log(geometric.sum()),
    )


@ce_decompose.right("loops over models and classes")
def _(probs, truth):
    centre = [np.prod(column) ** (1 / len(column)) for column in probs.T]
    centre = [c / sum(centre) for c in centre]
    noise = -sum(t * np.log(t) for t in truth if t > 0)
    bias = sum(t * np.log(t / c) for t, c in zip(truth, centre, strict=True) if t > 0)
    spread = [
        sum(c * np.log(c / p) for c, p in zip(centre, row, strict=True))
        for row in probs
    ]
    return [noise, bias, sum(spread) / len(spread)]


@ce_decompose.right("in torch")
def _(probs, truth):
    terms = reference.cross_entropy_terms(
        torch.from_numpy(probs).double(), torch.from_numpy(truth).double()
    )
    return [term.numpy() for term in terms]


# ---------------------------------------------------------------- cross-validation

cv_scores = Exercise(
    "cv_scores",
    reference=reference.ridge_cv_scores,
    compare=close(rtol=1e-6),
    batched=("X", "y"),
    hints=[
        "For one fold you need three things: its rows, all other rows, and a model that has seen only the others.",
        "With n rows and k folds, the first n % k folds hold n // k + 1 rows, the others n // k. np.array_split(np.arange(n), k) cuts just so.",
        "For each fold: rest = np.delete(np.arange(n), fold); predict = fit(X[rest], y[rest]); score = mean of (predict(X[fold]) - y[fold])².",
    ],
)


@cv_scores.probe
def _(answer, X, y, k, ridge):
    def fit(X_train, y_train):
        w = np.linalg.solve(
            X_train.T @ X_train + ridge * np.eye(X_train.shape[1]), X_train.T @ y_train
        )
        return lambda X_new: X_new @ w

    return answer(fit, X, y, k)


@cv_scores.cases
def _(rng):
    yield "folds of equal size", _rows(rng, 12, k=4)
    yield "sizes that do not divide", _rows(rng, 11, k=4)
    yield (
        "sizes that do not divide",
        _rows(rng, 14, k=4),
    )  # two long folds: they come first
    yield "two folds", _rows(rng, 9, k=2)
    yield "as many folds as rows", _rows(rng, 6, k=6)


def _rows(rng, n, k):
    """Rows that drift, so that no two folds are alike."""
    X = np.column_stack([np.ones(n), rng.normal(size=n)])
    y = X @ rng.normal(2.0, 1.0, 2) + np.linspace(0, 2, n) ** 2 + rng.normal(size=n)
    return dict(X=X, y=y, k=k, ridge=0.1)


def _folds(n, k):
    return np.array_split(np.arange(n), k)


def _mse(predict, X, y):
    return np.mean((predict(X) - y) ** 2)


@cv_scores.wrong(
    "the rows left over are dropped",
    advice="When k does not divide n, is every row validated exactly once?",
)
def _(fit, X, y, k):
    n, size, scores = len(y), len(y) // k, []
    for start in range(0, size * k, size):
        fold = np.arange(start, start + size)
        rest = np.delete(np.arange(n), fold)
        scores.append(_mse(fit(X[rest], y[rest]), X[fold], y[fold]))
    return np.array(scores)


@cv_scores.wrong(
    "the rows left over all go to the last fold",
    advice="Fold sizes may differ by at most one. Where do the n % k extra rows go?",
)
def _(fit, X, y, k):
    n, size, scores = len(y), len(y) // k, []
    for i in range(k):
        fold = np.arange(i * size, n if i == k - 1 else (i + 1) * size)
        rest = np.delete(np.arange(n), fold)
        scores.append(_mse(fit(X[rest], y[rest]), X[fold], y[fold]))
    return np.array(scores)


@cv_scores.wrong(
    "trains on every row",
    advice="Has the model already seen the rows that it is validated on?",
)
def _(fit, X, y, k):
    predict = fit(X, y)
    return np.array([_mse(predict, X[fold], y[fold]) for fold in _folds(len(y), k)])


@cv_scores.wrong(
    "validates on the training rows",
    advice="Which rows does the model predict when you score it: those it was fitted to, or the others?",
)
def _(fit, X, y, k):
    scores = []
    for fold in _folds(len(y), k):
        rest = np.delete(np.arange(len(y)), fold)
        scores.append(_mse(fit(X[rest], y[rest]), X[rest], y[rest]))
    return np.array(scores)


@cv_scores.wrong(
    "trains on the fold, validates on the rest",
    advice="Which is the larger part: the rows to train on, or the rows to validate on?",
)
def _(fit, X, y, k):
    scores = []
    for fold in _folds(len(y), k):
        rest = np.delete(np.arange(len(y)), fold)
        scores.append(_mse(fit(X[fold], y[fold]), X[rest], y[rest]))
    return np.array(scores)


@cv_scores.wrong(
    "root of the mean squared error",
    advice="The score of a fold is a mean of squares. Did you take a root?",
)
def _(fit, X, y, k):
    return np.sqrt(_cv(fit, X, y, _folds(len(y), k)))


def _cv(fit, X, y, folds):
    scores = []
    for fold in folds:
        rest = np.delete(np.arange(len(y)), fold)
        scores.append(_mse(fit(X[rest], y[rest]), X[fold], y[fold]))
    return np.array(scores)


@cv_scores.wrong(
    "every k-th row makes a fold",
    advice="The folds are consecutive blocks of rows: the first one starts with row 0, then row 1.",
)
def _(fit, X, y, k):
    return _cv(fit, X, y, [np.arange(i, len(y), k) for i in range(k)])


@cv_scores.wrong(
    "the longer folds are not the first ones",
    advice="Print the sizes of your folds for n = 14 and k = 4. The first n % k folds hold the extra rows.",
)
def _(fit, X, y, k):
    owner = np.arange(len(y)) * k // len(y)
    return _cv(fit, X, y, [np.flatnonzero(owner == i) for i in range(k)])


@cv_scores.wrong(
    "the folds are cut at rounded fractions",
    advice="Print the sizes of your folds for n = 14 and k = 4. The first n % k folds hold the extra rows.",
)
def _(fit, X, y, k):
    cuts = np.linspace(0, len(y), k + 1).astype(int)
    return _cv(fit, X, y, [np.arange(a, b) for a, b in zip(cuts, cuts[1:])])


@cv_scores.wrong(
    "a sum of squares instead of a mean",
    advice="Folds of 3 and of 2 rows must be comparable. What do you divide the sum by?",
)
def _(fit, X, y, k):
    folds = _folds(len(y), k)
    return _cv(fit, X, y, folds) * [len(fold) for fold in folds]


@cv_scores.right("with scikit-learn's KFold")
def _(fit, X, y, k):
    return [
        _mse(fit(X[train], y[train]), X[fold], y[fold])
        for train, fold in KFold(k).split(X)
    ]


@cv_scores.right("with boolean masks and running starts")
def _(fit, X, y, k):
    scores, start = [], 0
    for i in range(k):
        stop = start + len(y) // k + (i < len(y) % k)
        held_out = (np.arange(len(y)) >= start) & (np.arange(len(y)) < stop)
        error = fit(X[~held_out], y[~held_out])(X[held_out]) - y[held_out]
        scores.append(error @ error / held_out.sum())
        start = stop
    return np.array(scores)


# ---------------------------------------------------------------- random search


def _search_by_tables(low, high, n, seed, optimum, edge):
    """All settings and losses at once, then the reference's choice."""
    u = low.new_tensor(np.random.default_rng(seed).random((n, len(low))))
    settings = reference.log_uniform(low, high, u)
    losses = (settings.log() - optimum.log()).square().sum(-1)
    losses = torch.where(settings[:, 0] > edge, torch.nan, losses)
    return reference.best_of_log_uniform(losses, settings)


random_search = Exercise(
    "random_search",
    reference=_search_by_tables,
    compare=close(rtol=1e-6, atol=1e-12),
    hints=[
        "Two things are asked: settings spread evenly in the logarithm, and the best of them. Do the first for one hyperparameter on paper: u = 0, 1/2, 1.",
        "u = 1/2 must give the geometric mean of low and high. Powers of the ratio high / low do that. Then call objective on each row, in order.",
        "A setting is low times (high / low) to the power u, with u = rng.random of shape (n, m). Put the losses in an array; np.nanargmin finds the lowest that is a number.",
    ],
)


@random_search.probe
def _(answer, low, high, n, seed, optimum, edge):
    def objective(setting):
        if setting[0] > edge:
            return float("nan")
        return float(np.sum((np.log(setting) - np.log(optimum)) ** 2))

    return answer(objective, low, high, n, np.random.default_rng(seed))


@random_search.cases
def _(rng):
    yield "two hyperparameters", _box(rng, [1e-4, 1e-2], [1.0, 1e2], n=8)
    yield "a single hyperparameter", _box(rng, [1e-3], [10.0], n=6)
    yield "a single draw", _box(rng, [1e-3, 1e-3], [1.0, 1.0], n=1)
    yield (
        "a run that diverges never wins",
        _box(rng, [1e-4, 1e-2], [1.0, 1e2], n=10, first="fine"),
    )
    yield (
        "the first run diverges",
        _box(rng, [1e-4, 1e-2], [1.0, 1e2], n=10, first="diverges"),
    )


def _box(rng, low, high, n, first=None):
    """A search where the last run is not the best. first: some runs diverge, and the first one is fine or diverges.

    Draws even on the plain scale do not all diverge, so that this mistake gives a result and gets its advice.
    """
    low, high = np.array(low), np.array(high)
    edge = float(low[0] ** 0.25 * high[0] ** 0.75) if first else np.inf
    while True:
        seed = int(rng.integers(2**31))
        optimum = low * (high / low) ** rng.uniform(0.2, 0.8, len(low))
        u = np.random.default_rng(seed).random((n, len(low)))
        settings = low * (high / low) ** u
        losses = ((np.log(settings) - np.log(optimum)) ** 2).sum(1)
        fine = settings[:, 0] <= edge
        if n == 1 or (first is None and np.argmin(losses) != n - 1):
            break
        if (
            fine[0] == (first == "fine")
            and 3 <= fine.sum() < n
            and fine[-1]
            and losses[-1] > losses[fine].min()
            and np.any(low[0] + (high - low)[0] * u[:, 0] < edge)
        ):
            break
    return dict(low=low, high=high, n=n, seed=seed, optimum=optimum, edge=edge)


def _losses(objective, settings):
    return np.array([objective(setting) for setting in settings])


@random_search.wrong(
    "even on the plain scale",
    advice="From 0.0001 to 1, what share of your draws falls below 0.01? Equal factors should be equally likely.",
)
def _(objective, low, high, n, rng):
    settings = low + (high - low) * rng.random((n, len(low)))
    losses = _losses(objective, settings)
    best = np.argmin(np.where(np.isnan(losses), np.inf, losses))
    return settings[best], losses[best]


@random_search.wrong(
    "the first run is never replaced",
    advice="What does `loss < best` say when best is nan? Think of a first run that diverges.",
)
def _(objective, low, high, n, rng):
    settings = low * (high / low) ** rng.random((n, len(low)))
    best, best_loss = settings[0], objective(settings[0])
    for setting in settings[1:]:
        loss = objective(setting)
        if loss < best_loss:
            best, best_loss = setting, loss
    return best, best_loss


@random_search.wrong(
    "a run that diverged wins",
    advice="How does NumPy order nan? Look at what argmin does with array([1, nan, 0]).",
)
def _(objective, low, high, n, rng):
    settings = low * (high / low) ** rng.random((n, len(low)))
    losses = _losses(objective, settings)
    return settings[np.argmin(losses)], losses[np.argmin(losses)]


@random_search.wrong(
    "a run that diverged counts as zero",
    advice="What loss does a diverged run have after np.nan_to_num? Could any other run be lower?",
)
def _(objective, low, high, n, rng):
    settings = low * (high / low) ** rng.random((n, len(low)))
    losses = np.nan_to_num(_losses(objective, settings))
    return settings[np.argmin(losses)], losses[np.argmin(losses)]


@random_search.wrong(
    "keeps the last setting",
    advice="Which of the settings should come back: the last one tried, or the best one?",
)
def _(objective, low, high, n, rng):
    settings = low * (high / low) ** rng.random((n, len(low)))
    return settings[-1], objective(settings[-1])


@random_search.wrong(
    "keeps the highest loss", advice="Is a good setting one with a high or a low loss?"
)
def _(objective, low, high, n, rng):
    settings = low * (high / low) ** rng.random((n, len(low)))
    losses = _losses(objective, settings)
    return settings[np.nanargmax(losses)], np.nanmax(losses)


@random_search.wrong(
    "one draw serves all hyperparameters",
    advice="Plot your settings: do they fill the box, or do they lie on its diagonal?",
)
def _(objective, low, high, n, rng):
    settings = low * (high / low) ** rng.random((n, 1))
    losses = _losses(objective, settings)
    best = np.argmin(np.where(np.isnan(losses), np.inf, losses))
    return settings[best] * np.ones(len(low)), losses[best]


@random_search.right("draw by draw, in logarithms")
def _(objective, low, high, n, rng):
    best, best_loss = None, np.inf
    for _ in range(n):
        setting = np.exp(
            np.log(low) + rng.random(len(low)) * (np.log(high) - np.log(low))
        )
        loss = objective(setting)
        if loss < best_loss:
            best, best_loss = setting, loss
    return best, best_loss


@random_search.right("sorts what is finite")
def _(objective, low, high, n, rng):
    settings = 10 ** (np.log10(low) + rng.random((n, len(low))) * np.log10(high / low))
    tried = [(objective(setting), list(setting)) for setting in settings]
    loss, setting = min((loss, setting) for loss, setting in tried if np.isfinite(loss))
    return setting, loss


# ---------------------------------------------------------------- the best of many on one test set

expected_best = Exercise(
    "expected_best",
    reference=reference.expected_best_error,
    compare=close(rtol=1e-6, atol=1e-9),
    hints=[
        "The lowest count is above j exactly when all M counts are above j. What is the chance of that for M independent models?",
        "P(B > j) is binom.sf(j, n, p). Raise it to the power M to get P(lowest > j), for j = 0, …, n - 1.",
        "A count's mean is the sum of P(count > j) over j = 0, …, n - 1. Divide the mean count by n to get a rate.",
    ],
)


@expected_best.cases
def _(rng):
    yield "a handful of models", dict(p=float(rng.uniform(0.2, 0.5)), n=20, M=5)
    yield (
        "a hundred models, a thousand cases",
        dict(p=float(rng.uniform(0.08, 0.12)), n=1000, M=100),
    )
    yield (
        "one model has nothing to choose from",
        dict(p=float(rng.uniform(0.1, 0.4)), n=15, M=1),
    )
    yield "one test case", dict(p=float(rng.uniform(0.3, 0.7)), n=1, M=4)
    yield "never wrong", dict(p=0.0, n=10, M=3)
    yield "always wrong", dict(p=1.0, n=10, M=3)


@expected_best.wrong(
    "the choice is forgotten",
    advice="One model's expected error is p. The winner was chosen because its count was low: what does that do to its expected count?",
)
def _(p, n, M):
    return p


@expected_best.wrong(
    "the unluckiest instead of the luckiest",
    advice="Is your result above p? The lowest of several counts cannot be higher on average than one of them.",
)
def _(p, n, M):
    return np.sum(1 - binom.cdf(np.arange(n), n, p) ** M) / n


@expected_best.wrong(
    "a count instead of a rate",
    advice="The answer is an error rate between 0 and 1. Is yours a number of mistakes?",
)
def _(p, n, M):
    return np.sum(binom.sf(np.arange(n), n, p) ** M)


@expected_best.wrong(
    "the sum stops one term early",
    advice="Try n = 1: j = 0 is the only term, and you need it. What is the last j for which all counts can be above j?",
)
def _(p, n, M):
    return np.sum(binom.sf(np.arange(n - 1), n, p) ** M) / n


@expected_best.wrong(
    "the chance that all err on one case",
    advice="p**M is right for a single test case. With n cases the lowest count belongs to one model: what is its mean?",
)
def _(p, n, M):
    return p**M


@expected_best.wrong(
    "the sum starts at one",
    advice="Try M = 1, where the answer must be p. Which term of the sum is missing?",
)
def _(p, n, M):
    return np.sum(binom.sf(np.arange(1, n + 1), n, p) ** M) / n


@expected_best.wrong(
    "at least j instead of more than j",
    advice="Try M = 1, where the answer must be p. Does binom.sf(j, n, p) include j?",
)
def _(p, n, M):
    return np.sum(binom.sf(np.arange(n + 1) - 1, n, p) ** M) / n


@expected_best.wrong(
    "a normal rule of thumb",
    advice="sqrt(2 log M) standard deviations is a limit for very large M. The exact value is asked: use the binomial distribution.",
)
def _(p, n, M):
    return p - np.sqrt(2 * np.log(M) * p * (1 - p) / n)


@expected_best.right("from the probabilities of the lowest count")
def _(p, n, M):
    at_least = [binom.sf(j - 1, n, p) ** M for j in range(n + 2)]
    return sum(j / n * (at_least[j] - at_least[j + 1]) for j in range(n + 1))


@expected_best.right("by hand, without SciPy")
def _(p, n, M):
    above, total, term = 1.0, 0.0, (1 - p) ** n
    if p in (0.0, 1.0):
        return p
    for j in range(n):
        above -= term
        total += max(above, 0.0) ** M
        term *= (n - j) / (j + 1) * p / (1 - p)
    return total / n

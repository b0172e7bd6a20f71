"""Exercises of 01_regression/04_bias_variance_and_validation."""

import numpy as np
import torch
from scipy.stats import binom

from descent.compare import close
from solutions.spec import Exercise

from . import reference

# ---------------------------------------------------------------- more and more rows

learning_curve = Exercise(
    "learning_curve",
    reference=reference.errors_by_size,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("x", "y", "new_x", "new_y"),
    hints=[
        "One size needs one model. Which rows does it learn from, and on which two sets of rows is it asked?",
        "For each n: call the learner with the first n rows; ask its model for these rows, and for all new ones; two means of squares.",
        "model = learner(x[:n], y[:n]); append np.mean((model(x[:n]) - y[:n]) ** 2) to one list, the same with new_x and new_y to the other.",
    ],
)


@learning_curve.probe
def _(answer, x, y, new_x, new_y, sizes):
    def learner(x, y):  # a straight line, held a little
        A = np.stack([np.ones(len(x)), np.asarray(x)], axis=1)
        w = np.linalg.solve(A.T @ A + 0.1 * np.eye(2), A.T @ np.asarray(y))
        return lambda new: w[0] + w[1] * np.asarray(new)

    return answer(learner, x, y, new_x, new_y, sizes)


@learning_curve.cases
def _(rng):
    def rows(n, m, sizes):
        x, new_x = rng.normal(size=n), rng.normal(size=m)
        slope, bend = rng.uniform(1, 2, 2) * rng.choice([-1, 1], 2)
        y = slope * x + bend * x**2 + 0.5 * rng.normal(size=n)
        new_y = slope * new_x + bend * new_x**2 + 0.5 * rng.normal(size=m)
        return dict(x=x, y=y, new_x=new_x, new_y=new_y, sizes=sizes)

    yield "more and more rows", rows(9, 6, [3, 5, 8])
    yield "more and more rows", rows(7, 3, [2, 4, 5, 6])
    yield "sizes in any order", rows(8, 5, [6, 2, 4, 6])
    yield "all the rows, and a single one", rows(6, 4, [6, 1])
    yield "fewer new rows than rows to learn from", rows(7, 2, [4, 6])
    yield "a single new row", rows(6, 1, [3])
    whole = dict(
        x=rng.permutation([3, -1, 4, 0, 2]), y=rng.permutation([5, -7, 2, 9, 0])
    )
    new = dict(new_x=rng.permutation([1, -2, 6]), new_y=rng.permutation([4, 0, -3]))
    yield "whole numbers", dict(**whole, **new, sizes=[2, 4])


learning_curve.mistakes(
    {
        "learns from every row": (
            "learner(x[:n], y[:n])",
            "learner(x, y)",
            "How many rows may the model of size n have seen?",
        ),
        "learns from the last rows": (
            "learner(x[:n], y[:n])\n        training.append(np.mean((model(x[:n]) - y[:n])",
            "learner(x[-n:], y[-n:])\n        training.append(np.mean((model(x[-n:]) - y[-n:])",
            "The first n rows are meant, also for the training error.",
        ),
        "training error on all rows": (
            "(model(x[:n]) - y[:n])",
            "(model(x) - y)",
            "Training error is told of the rows that the model learned from. Which are they?",
        ),
        "validates on the first n new rows": (
            "(model(new_x) - new_y)",
            "(model(new_x[:n]) - new_y[:n])",
            "All new rows judge every model, however many rows it learned from.",
        ),
        "validates on the rows left over": (
            "(model(new_x) - new_y)",
            "(model(x[n - 1:]) - y[n - 1:])",
            "Which rows are new here? They have a name.",
        ),
        "the sizes are sorted": (
            "for n in sizes",
            "for n in sorted(sizes)",
            "The errors come in the order of sizes, whatever it is.",
        ),
        "root mean squared error": (
            "np.array(training), np.array(validation)",
            "np.sqrt(training), np.sqrt(validation)",
            "Mean squared errors are asked. Did you take a root?",
        ),
        "a sum of squares": (
            "np.mean((model(x[:n]) - y[:n]) ** 2))\n        validation.append(np.mean(",
            "np.sum((model(x[:n]) - y[:n]) ** 2))\n        validation.append(np.sum(",
            "An error for 3 rows must be comparable with one for 8. What do you divide by?",
        ),
        "the two errors change places": (
            "np.array(training), np.array(validation)",
            "np.array(validation), np.array(training)",
            "Which of the two comes first?",
        ),
    }
)

learning_curve.worked(
    why=r"""Nothing but the rows changes from size to size: the learner is the same, and so are the new rows that judge. The training
    error is told of just the $n$ rows that were learned from. With few rows it is small, for the fit can follow their noise; it rises
    towards the noise as rows are added, while the other error falls. The gap between the two curves is what the fit's learning by heart
    costs: once as flattery inside, once as error outside."""
)


@learning_curve.right("boolean masks, in lists")
def _(learner, x, y, new_x, new_y, sizes):
    def error(model, inputs, targets):
        r = np.asarray(targets) - model(inputs)
        return float(r @ r) / len(r)

    curves = [], []
    for n in sizes:
        seen = np.arange(len(y)) < n
        model = learner(x[seen], y[seen])
        curves[0].append(error(model, x[seen], y[seen]))
        curves[1].append(error(model, new_x, new_y))
    return curves


# ---------------------------------------------------------------- squared error

bias_variance = Exercise(
    "bias_variance",
    reference=reference.squared_error_terms,
    compare=close(rtol=1e-6, atol=1e-12),
    batched=("fits", "truth"),
    hints=[
        "Two averages are in play, over data sets (axis 0) and over points (axis 1). Which comes first for the bias?",
        "The mean fit has one value a point. Bias compares it with the truth; variance compares each fit with it.",
        "bias2: square (mean fit - truth) at every point, then average over points. variance: fits.var(axis=0), then average over points.",
    ],
)


@bias_variance.cases
def _(rng):
    yield "any fits", dict(fits=rng.normal(1.0, 2.0, (5, 6)), truth=rng.normal(size=6))
    truth = np.array([-2.0, 1.0, 1.0, 0.0])
    shift = rng.uniform(0.5, 2.0)
    wrong = np.tile(truth + shift * np.array([1, -1, 1, -1]), (4, 1))
    yield "fits that agree and are wrong", dict(fits=wrong, truth=truth)
    spread = rng.uniform(0.5, 2.0, 4)
    around = truth + np.outer([-1.0, 1.0], spread)
    yield "fits that scatter round the truth", dict(fits=around, truth=truth)
    one = dict(fits=rng.normal(size=(1, 5)), truth=rng.normal(size=5))
    yield "a single data set", one
    yield "a single point", dict(fits=rng.normal(size=(6, 1)), truth=rng.normal(size=1))


bias_variance.mistakes(
    {
        "the bias is averaged before it is squared": (
            "np.mean((centre - truth) ** 2)",
            "np.mean(centre - truth) ** 2",
            "Too high here and too low there is still wrong twice. In which order do you square and average over points?",
        ),
        "variance along the curve": (
            "np.mean((fits - centre) ** 2)",
            "fits.var(axis=1).mean()",
            "Variance asks how one point moves from data set to data set. Which axis runs over data sets?",
        ),
        "divides by one data set fewer": (
            "np.mean((fits - centre) ** 2)",
            "np.sum((fits - centre) ** 2) / (fits.size - len(truth) or np.nan)",
            "Here the mean over data sets is a plain mean. Do your two terms add up to the mean of (fits - truth)²?",
        ),
        "scatter around the truth": (
            "(fits - centre)",
            "(fits - truth)",
            "Variance knows nothing of the truth. Around which curve do the fits scatter?",
        ),
        "one variance over all entries": (
            "np.mean((fits - centre) ** 2)",
            "fits.var()",
            "The mean fit may rise and fall from point to point: is that variance? Over which axis do you take it?",
        ),
        "the whole error is called bias": (
            "(centre - truth)",
            "(fits - truth)",
            "Bias belongs to the mean fit. Did you average the fits before comparing with the truth?",
        ),
        "the bias is not squared": (
            "np.mean((centre - truth) ** 2)",
            "np.mean(np.abs(centre - truth))",
            "The two terms must have the same unit: that of y squared.",
        ),
        "standard deviation for variance": (
            "np.mean((fits - centre) ** 2)",
            "fits.std(axis=0).mean()",
            "Is the variance in the unit of y, or of y squared?",
        ),
    }
)

bias_variance.worked(
    why=r"""First the mean over data sets, point by point: that is $\bar f$. What it misses of the truth is bias; how single fits lie
    round it is variance. Both are squared at each point *before* points are averaged, so that nothing cancels between a place where
    the fit is too high and one where it is too low. For any fits at all, the two add up to the mean of $(\hat f - f)^2$."""
)


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


@bias_variance.right("by numpy.var", library="numpy.var")
def _(fits, truth):
    return np.mean((fits.mean(axis=0) - truth) ** 2), np.var(fits, axis=0).mean()


# ---------------------------------------------------------------- the experiment

risk_terms = Exercise(
    "risk_terms",
    reference=reference.measured_terms,
    compare=close(rtol=1e-6, atol=1e-10),
    hints=[
        "One data set is one round: noise for the rows, a fit, noise for the new targets. What of it must be kept for the means at the end?",
        "Keep each fit at new_x, the mean of (target - fit)² and the mean of (target - f)². Bias and variance need all fits together, after the loop.",
        "In the loop: y = f(x) + sigma * rng.normal(size=len(x)), fit = learner(x, y)(new_x), then target = f(new_x) + sigma * rng.normal(size=len(new_x)). "
        "After it: the terms of bias_variance.",
    ],
)


@risk_terms.probe
def _(answer, coefficients, degree, x, new_x, sigma, R, seed):
    def learner(x, y):
        w = np.linalg.lstsq(np.vander(x, degree + 1), y, rcond=None)[0]
        return lambda new: np.vander(new, degree + 1) @ w

    def f(x):
        return np.polyval(coefficients, x)

    return answer(learner, f, x, new_x, sigma, R, np.random.default_rng(seed))


@risk_terms.cases
def _(rng):
    def world(n, m, degree, R, sigma=None):
        return dict(
            coefficients=rng.uniform(1, 2, 4) * rng.choice([-1.0, 1.0], 4),
            degree=degree,
            x=rng.permutation(np.linspace(-1, 1, n)) + 0.05 * rng.normal(size=n),
            new_x=rng.uniform(-1, 1, m),
            sigma=float(rng.uniform(0.5, 2)) if sigma is None else sigma,
            R=R,
            seed=int(rng.integers(10**6)),
        )

    yield "a line for a cubic truth", world(6, 4, 1, 5)
    yield "a line for a cubic truth", world(5, 7, 1, 3)
    yield "a family that holds the truth", world(8, 5, 3, 6)
    yield "as many new points as rows", world(6, 6, 2, 4)
    yield "a single new point", world(5, 1, 1, 4)
    yield "no noise at all", world(6, 4, 1, 3, sigma=0.0)
    yield "a single data set", world(6, 5, 2, 1)


risk_terms.mistakes(
    {
        "the risk is the sum of the terms": (
            "return np.mean(errors),",
            "return np.mean(noises) + bias2 + variance,",
            "That the terms add up is what you want to find out. Measure the risk by itself.",
        ),
        "the risk against the truth": (
            "np.mean((target - fit) ** 2)",
            "np.mean((true - fit) ** 2)",
            "The risk is the error on new targets. Do yours carry noise?",
        ),
        "the noise is the given one": (
            "return np.mean(errors), np.mean(noises)",
            "return np.mean(errors), sigma**2",
            "sigma² is what the noise has on average. Which noise came in your experiment?",
        ),
        "the bias against the noisy targets": (
            "bias2 = np.mean((centre - true) ** 2)",
            "bias2 = np.mean((centre - target) ** 2)",
            "Bias compares the mean fit with f, which has no noise.",
        ),
        "the bias of single fits": (
            "bias2 = np.mean((centre - true) ** 2)",
            "bias2 = np.mean((fits - true) ** 2)",
            "Average the fits over data sets first, then compare with f.",
        ),
        "new targets are drawn before the data": (
            "y = f(x) + sigma * rng.normal(size=len(x))",
            "late = true + sigma * rng.normal(size=len(new_x))\n        y = f(x) + sigma * rng.normal(size=len(x))\n"
            "        errors.append(np.mean((late - learner(x, y)(new_x)) ** 2))\n"
            "        noises.append(np.mean((late - true) ** 2))\n        fits.append(learner(x, y)(new_x))\n        continue",
            "In which order are the two noises of a data set drawn?",
        ),
        "all data sets are drawn before the first new targets": (
            "for _ in range(R):\n        y = f(x) + sigma * rng.normal(size=len(x))",
            "for drawn in rng.normal(size=(R, len(x))):\n        y = f(x) + sigma * drawn",
            "Each data set in turn: its rows, then its new targets. What does rng give between two of your data sets?",
        ),
        "one set of new targets for all": (
            "true + sigma * rng.normal(size=len(new_x))",
            "true + sigma * np.random.default_rng(0).normal(size=len(new_x))",
            "Each data set is judged on new targets of its own, drawn from rng.",
        ),
        "the rows carry no noise": (
            "y = f(x) + sigma * rng.normal(size=len(x))",
            "y = f(x) + 0 * rng.normal(size=len(x))",
            "Your fits are all alike: what does the learner see of the noise?",
        ),
        "divides by one data set fewer": (
            "variance = np.mean((fits - centre) ** 2)",
            "variance = np.sum((fits - centre) ** 2) / (fits.size - len(true) or np.nan)",
            "All four are plain means. Over how many data sets?",
        ),
        "scatter around the truth": (
            "variance = np.mean((fits - centre) ** 2)",
            "variance = np.mean((fits - true) ** 2)",
            "Round which curve do the fits scatter?",
        ),
        "the noise is not squared": (
            "noises.append(np.mean((target - true) ** 2))",
            "noises.append(np.mean(np.abs(target - true)))",
            "All four have the unit of y squared.",
        ),
        "sigma is taken for a variance": (
            "target = true + sigma *",
            "target = true + np.sqrt(sigma) *",
            "sigma * rng.normal has which standard deviation?",
        ),
    }
)

risk_terms.worked(
    why=r"""Everything random is drawn anew for each data set: the noise that the learner sees, and that of the targets by which it is
    judged. The two are independent, and that is what kills the mixed terms. Risk and noise can be averaged on the way; bias and
    variance need the mean of *all* fits and come after the loop. Nothing forces the four numbers to add up: with few data sets they
    do not, and the gap shrinks like $1/\sqrt R$."""
)


@risk_terms.right("all fits in one array, running sums")
def _(learner, f, x, new_x, sigma, R, rng):
    n, m = len(x), len(new_x)
    fits, risk, noise = np.empty((R, m)), 0.0, 0.0
    for r in range(R):
        both = rng.normal(size=n + m)
        fits[r] = learner(x, f(x) + sigma * both[:n])(new_x)
        risk += np.sum((f(new_x) + sigma * both[n:] - fits[r]) ** 2)
        noise += np.sum((sigma * both[n:]) ** 2)
    bias2 = np.mean((fits.mean(axis=0) - f(new_x)) ** 2)
    return risk / R / m, noise / R / m, bias2, fits.var(axis=0).mean()


@risk_terms.right("lists, with rng.normal(0, sigma)")
def _(learner, f, x, new_x, sigma, R, rng):
    rounds = []
    for _ in range(R):
        y = f(x) + rng.normal(0, sigma, len(x))
        model = learner(x, y)
        rounds.append((model(new_x), f(new_x) + rng.normal(0, sigma, len(new_x))))
    fits, targets = np.transpose(rounds, (1, 0, 2))
    errors = ((targets - fits) ** 2).mean(), ((targets - f(new_x)) ** 2).mean()
    bias2 = ((fits.mean(0) - f(new_x)) ** 2).mean()
    return [*errors, bias2, ((fits - f(new_x)) ** 2).mean() - bias2]


# ---------------------------------------------------------------- cross-validation

cv_scores = Exercise(
    "cv_scores",
    reference=reference.ridge_cv_scores,
    compare=close(rtol=1e-6),
    batched=("X", "y"),
    hints=[
        "For one fold you need three things: its rows, all other rows, and a model that has seen only the others.",
        "With n rows and k folds, the first n % k folds hold n // k + 1 rows, the others n // k. np.array_split(np.arange(n), k) cuts just so.",
        "For each fold: rest = np.delete(np.arange(n), fold); model = learner(X[rest], y[rest]); score = mean of (model(X[fold]) - y[fold])².",
    ],
)


@cv_scores.probe
def _(answer, X, y, k, ridge):
    def learner(X_train, y_train):
        w = np.linalg.solve(
            X_train.T @ X_train + ridge * np.eye(X_train.shape[1]), X_train.T @ y_train
        )
        return lambda X_new: X_new @ w

    return answer(learner, X, y, k)


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


CUT = "np.array_split(rows, k)"
ORDER = (
    "Print the sizes of your folds for n = 14 and k = 4. The longer ones come first."
)
cv_scores.mistakes(
    {
        "the rows left over are dropped": (
            CUT,
            "np.split(rows[: len(y) // k * k], k)",
            "When k does not divide n, is every row validated exactly once?",
        ),
        "the rows left over all go to the last fold": (
            CUT,
            "np.split(rows, np.arange(1, k) * (len(y) // k))",
            "Fold sizes may differ by at most one. Where do the n % k extra rows go?",
        ),
        "trains on every row": (
            "learner(X[rest], y[rest])",
            "learner(X, y)",
            "Has the model already seen the rows that it is validated on?",
        ),
        "validates on the training rows": (
            "(model(X[fold]) - y[fold])",
            "(model(X[rest]) - y[rest])",
            "Which rows does the model predict when you score it: those it was fitted to, or the others?",
        ),
        "trains on the fold, validates on the rest": (
            "rest = np.delete(rows, fold)",
            "fold, rest = np.delete(rows, fold), fold",
            "Which is the larger part: the rows to train on, or the rows to validate on?",
        ),
        "trains on the rows before the fold only": (
            "rest = np.delete(rows, fold)",
            "rest = rows[rows < fold[0]] if fold[0] else rows[rows > fold[-1]]",
            "All rows outside the fold train the model, those behind it, too.",
        ),
        "root of the mean squared error": (
            "np.mean((model(X[fold]) - y[fold]) ** 2)",
            "np.mean((model(X[fold]) - y[fold]) ** 2) ** 0.5",
            "The score of a fold is a mean of squares. Did you take a root?",
        ),
        "every k-th row makes a fold": (
            CUT,
            "[np.arange(i, len(y), k) for i in range(k)]",
            "The folds are consecutive blocks of rows: the first one starts with row 0, then row 1.",
        ),
        "the longer folds are not the first ones": (
            CUT,
            "[np.flatnonzero(rows * k // len(y) == i) for i in range(k)]",
            ORDER,
        ),
        "the folds are cut at rounded fractions": (
            CUT,
            "np.split(rows, np.linspace(0, len(y), k + 1).astype(int)[1:-1])",
            ORDER + " Yours end at rounded fractions of n.",
        ),
        "a sum of squares instead of a mean": (
            "np.mean((model(X[fold])",
            "np.sum((model(X[fold])",
            "Folds of 3 and of 2 rows must be comparable. What do you divide the sum by?",
        ),
    }
)

cv_scores.worked(
    why=r"""`np.array_split` cuts row numbers, not rows, so that one array of numbers serves `X` and `y` alike. What matters stands in the
    loop: a new model for each fold, trained on all other rows and on nothing else. Whatever is learned from data (a mean, a scale,
    a choice of columns) belongs into the learner, so that it is learned anew, too."""
)


@cv_scores.right("scikit-learn's folds", library="sklearn.model_selection.KFold")
def _(learner, X, y, k):
    from sklearn.model_selection import KFold

    return [
        np.mean((learner(X[train], y[train])(X[fold]) - y[fold]) ** 2)
        for train, fold in KFold(k).split(X)
    ]


@cv_scores.right("with boolean masks and running starts")
def _(learner, X, y, k):
    scores, start = [], 0
    for i in range(k):
        stop = start + len(y) // k + (i < len(y) % k)
        held_out = (np.arange(len(y)) >= start) & (np.arange(len(y)) < stop)
        error = learner(X[~held_out], y[~held_out])(X[held_out]) - y[held_out]
        scores.append(error @ error / held_out.sum())
        start = stop
    return np.array(scores)


# ---------------------------------------------------------------- the best of many on one test set

expected_best = Exercise(
    "expected_best",
    reference=reference.expected_best_error,
    compare=close(rtol=1e-6, atol=1e-9),
    hints=[
        "For M = 2 and j = 0, on paper: what must both models do so that the lowest count is above 0, and how likely is that?",
        "Now M models and any j: binom.sf takes an array of j, too. Let j run from 0 to n - 1, for no count is above n.",
        "Raise binom.sf(j, n, p) to the power M and add up over j = 0, …, n - 1: the mean lowest count. Asked is a rate.",
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


expected_best.mistakes(
    {
        "the choice is forgotten": (
            "** M)",
            ")",
            "One model's expected error is p. The winner was chosen because its count was low: what does that do to its expected count?",
        ),
        "the unluckiest instead of the luckiest": (
            "np.sum(binom.sf(np.arange(n), n, p) ** M)",
            "np.sum(1 - binom.cdf(np.arange(n), n, p) ** M)",
            "Is your result above p? The lowest of several counts cannot be higher on average than one of them.",
        ),
        "a count instead of a rate": (
            " / n",
            "",
            "The answer is an error rate between 0 and 1. Is yours a number of mistakes?",
        ),
        "the sum stops one term early": (
            "np.arange(n)",
            "np.arange(n - 1)",
            "Try n = 1: j = 0 is the only term, and you need it. What is the last j for which all counts can be above j?",
        ),
        "the chance that all err on one case": (
            "np.sum(binom.sf(np.arange(n), n, p) ** M) / n",
            "p**M",
            "p**M is right for a single test case. With n cases the lowest count belongs to one model: what is its mean?",
        ),
        "the sum starts at one": (
            "np.arange(n)",
            "np.arange(1, n + 1)",
            "Try M = 1, where the answer must be p. Which term of the sum is missing?",
        ),
        "at least j instead of more than j": (
            "binom.sf(np.arange(n), n, p)",
            "binom.sf(np.arange(n + 1) - 1, n, p)",
            "Try M = 1, where the answer must be p. Does binom.sf(j, n, p) include j?",
        ),
        "times M": (
            "** M)",
            "* M)",
            "All M counts have to be above j. Do chances of independent events add up, or multiply?",
        ),
    }
)

expected_best.worked(
    why=r"""The lowest count is above $j$ exactly when all $M$ are, and independent chances multiply: $P(B > j)^M$. Summed over
    $j = 0, \dots, n - 1$ that is the mean of the lowest count, without any formula for its distribution; divided by $n$, the rate."""
)


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


# ---------------------------------------------------------------- choose, then report once

honest_report = Exercise(
    "honest_report",
    reference=reference.report,
    compare=close(rtol=1e-6, atol=1e-10),
    hints=[
        "Three jobs, three sets of rows: which rows may the choice see, which trains the chosen one, which judges it?",
        "rest: all row numbers but the test's. A table of scores, a row a learner; its means; the lowest of them gives the limit. The first mean up to the limit is chosen.",
        "limit: lowest mean + scores.std(axis=1, ddof=1) of that row / sqrt(k); number: np.argmax(means <= limit); then learners[number](X[rest], y[rest]) is judged on X[test].",
    ],
)


@honest_report.probe
def _(answer, lams, X, y, test, k, table):
    asked = []

    def ridge(lam):
        def learner(A, b):
            w = np.linalg.solve(A.T @ A + lam * np.eye(A.shape[1]), A.T @ b)

            def model(new):
                asked.append(lam)  # where scores are listed, only test rows are asked
                if table is not None and asked[0] != lam:
                    raise RuntimeError("a second learner was asked about the test rows")
                return new @ w

            return model

        return learner

    learners = [ridge(lam) for lam in lams]

    def folds(learner, A, b):
        scores = []
        for fold in np.array_split(np.arange(len(b)), k):
            rest = np.delete(np.arange(len(b)), fold)
            scores.append(np.mean((learner(A[rest], b[rest])(A[fold]) - b[fold]) ** 2))
        return np.array(scores)

    def listed(learner, A, b):  # these scores, whatever the rows
        return table[learners.index(learner)]

    return answer(learners, folds if table is None else listed, X, y, test)


@honest_report.cases
def _(rng):
    def rows(n, test, lams, k=None, table=None):
        # the targets are far from 0 and nearly all explained: no luck in whom the folds prefer
        X = rng.choice([-1, 1], (n, 2)) * rng.uniform(0.8, 1.2, (n, 2))
        y = X @ [rng.uniform(4, 6), rng.uniform(0.5, 1)] + np.linspace(0, 1, n)
        y = y + 0.2 * rng.normal(size=n)
        return dict(X=X, y=y, test=test, lams=np.array(lams), k=k, table=table)

    def told(*table, test=(4, 1)):
        scale = float(rng.choice([0.25, 0.5, 2.0, 4.0]))  # exact in binary
        lams = 4.0 ** np.arange(len(table), 0, -1)
        return rows(6, list(test), lams, table=scale * np.array(table, float))

    # one penalty is far better than the others, so that every rule takes it
    yield "scores of the rest", rows(14, [9, 2, 12], [1e5, 1e4, 0.1], k=4)
    yield "the first row is a test row", rows(11, [0, 10, 5, 6], [1e5, 0.1], k=3)
    yield "up to one standard error", told([5, 5], [3, 3], [1, 3], [2.1, 2.5])
    yield "up to one standard error", told([3.01, 3.01], [3.01, 3.02], [1, 3], [2, 2.2])
    flat = [1, 1, 3, 3]  # standard error 0.577; divided by k instead of k - 1, 0.5
    yield "up to one standard error", told([2.54] * 4, flat, [1.9, 2.9, 1.9, 2.9])
    yield "up to one standard error", told([2.6] * 4, flat, [1.9, 2.9, 1.9, 2.9])
    dip = told([2.5, 2.5], [9, 9], [2.6, 2.6], [1, 3])
    yield "within reach behind one that is not", dip
    yield "whose standard error", told([0, 8], [3, 3.2], [9, 1])
    yield "ties, and no spread", told([3, 5], [2, 2], [2.5, 2.5])
    yield "ties, and no spread", told([2.5, 2.5], [1, 3], [2, 2])
    yield "ties, and no spread", told([2.5, 2.5], [2, 2], [1, 3])
    yield "the simplest is best", told([1, 1.5], [4, 6], [3, 3])
    yield "a single learner", told([1, 4], test=(5,))


PICK = "np.argmax(means <= limit)"
honest_report.mistakes(
    {
        "the test rows take part in the choice": (
            "score(learner, X[rest], y[rest]) for",
            "score(learner, X, y) for",
            "The test rows must not have spoken before. Who hears them here?",
        ),
        "the test rows train the chosen model": (
            "learners[number](X[rest], y[rest])",
            "learners[number](X, y)",
            "Which rows has your model seen when it is judged?",
        ),
        "reports on the rest": (
            "(model(X[test]) - y[test])",
            "(model(X[rest]) - y[rest])",
            "That is the training error of the chosen one. Which rows judge?",
        ),
        "the lowest mean wins": (
            PICK,
            "lowest",
            "A simpler learner within one standard error goes first.",
        ),
        "the last within reach": (
            PICK,
            "np.flatnonzero(means <= limit)[-1]",
            "At which end of the list do the simple learners stand?",
        ),
        "the walk from the lowest stops too early": (
            PICK,
            "lowest + 1 - np.argmax(np.append(means[lowest::-1] > limit, True))",
            "A learner may be within reach though the next one is not. Where do you begin to look, and where do you stop?",
        ),
        "every learner is asked about the test rows": (
            "error = np.mean((model(X[test]) - y[test]) ** 2)",
            "models = [one(X[rest], y[rest]) for one in learners]\n"
            "    error = [np.mean((one(X[test]) - y[test]) ** 2) for one in models][number]",
            "A test row is asked once. Whose predictions for the test rows does the report need?",
        ),
        "one standard deviation": (
            "spread[lowest] / np.sqrt(scores.shape[1])",
            "spread[lowest]",
            "A mean of k scores scatters less than one score. By which factor?",
        ),
        "divides the squares by k": (
            "ddof=1",
            "ddof=0",
            "In s² the sum of squares is divided by k - 1. What does np.std do by itself?",
        ),
        "everybody's own standard error": (
            "means <= limit",
            "means - spread / np.sqrt(scores.shape[1]) <= means[lowest]",
            "The limit is the same for all: that of the learner with the lowest mean.",
        ),
        "exactly one standard error is too much": (
            "means <= limit",
            "means < limit",
            "At most, says the rule. And what if the lowest has no spread?",
        ),
        "the lowest mean is reported": (
            "return number, means[number], error",
            "return number, means[lowest], error",
            "Whose mean score is asked?",
        ),
        "the rest in another order": (
            "np.delete(np.arange(len(y)), test)",
            "np.delete(np.arange(len(y)), test)[::-1]",
            "The rest keeps its order: folds are blocks of it.",
        ),
        "root mean squared error": (
            "np.mean((model(X[test]) - y[test]) ** 2)",
            "np.sqrt(np.mean((model(X[test]) - y[test]) ** 2))",
            "A mean of squares is asked. Did you take a root?",
        ),
    }
)

honest_report.worked(
    why=r"""The test rows leave first, and come back in the last line only: no choice, no fit and no scale has seen them. Scores are means
    of few numbers, so everything within one standard error of the lowest counts as equally good, and of those the simplest is taken.
    `np.argmax` of truth values gives the first that is true. The chosen learner is trained again on *all* of the rest:
    more rows, less variance."""
)


@honest_report.right("in loops, by boolean mask")
def _(learners, score, X, y, test):
    kept = np.ones(len(y), dtype=bool)
    kept[list(test)] = False
    told = [np.asarray(score(one, X[kept], y[kept]), float) for one in learners]
    best = min(told, key=lambda scores: sum(scores) / len(scores))
    centre, k = sum(best) / len(best), len(best)
    limit = centre + (sum((s - centre) ** 2 for s in best) / (k - 1) / k) ** 0.5
    for number, scores in enumerate(told):
        if sum(scores) / k <= limit:
            error = learners[number](X[kept], y[kept])(X[test]) - y[test]
            return number, sum(scores) / k, error @ error / len(test)


@honest_report.right("with scipy.stats.sem", library="scipy.stats.sem")
def _(learners, score, X, y, test):
    from scipy.stats import sem

    rest = np.setdiff1d(np.arange(len(y)), test)
    table = np.array([score(learner, X[rest], y[rest]) for learner in learners])
    means = table.mean(axis=1)
    lowest = means.argmin()
    number = int(np.flatnonzero(means <= means[lowest] + sem(table[lowest]))[0])
    missed = learners[number](X[rest], y[rest])(X[test]) - y[test]
    return number, means[number], np.mean(missed**2)


# ---------------------------------------------------------------- random search


def _search_by_tables(low, high, n, seed, optimum, edge, unit, level):
    """All settings and losses at once, then the reference's choice."""
    u = low.new_tensor(np.random.default_rng(seed).random((n, len(low))))
    settings = reference.log_uniform(low, high, u)
    losses = unit * (level + (settings.log() - optimum.log()).square().sum(-1))
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
def _(answer, low, high, n, seed, optimum, edge, unit, level):
    def objective(setting):
        if setting[0] > edge:
            return float("nan")
        return unit * (level + float(np.sum((np.log(setting) - np.log(optimum)) ** 2)))

    return answer(objective, low, high, n, np.random.default_rng(seed))


@random_search.cases
def _(rng):
    yield "two hyperparameters", _box(rng, [1e-4, 1e-2], [1.0, 1e2], n=8)
    yield "a single hyperparameter", _box(rng, [1e-3], [10.0], n=6)
    wide = [1e-4, 1e-2], [1.0, 1e2]
    yield "the best may come last", _box(rng, *wide, n=5, best="last")
    yield "losses below zero", _box(rng, *wide, n=8) | dict(level=-500.0)
    yield "huge losses", _box(rng, *wide, n=8) | dict(unit=1e12)
    yield "a single draw", _box(rng, [1e-3, 1e-3], [1.0, 1.0], n=1)
    yield (
        "a run that diverges never wins",
        _box(rng, *wide, n=10, first="fine"),
    )
    yield (
        "the first run diverges",
        _box(rng, *wide, n=10, first="diverges"),
    )


def _box(rng, low, high, n, first=None, best="earlier"):
    """A search whose best run is the last one or an earlier one.

    first: some runs diverge, not the last, and the first one is fine or diverges. The best comes after one that diverged.
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
        winner = np.argmin(np.where(fine, losses, np.inf))
        last = winner == n - 1
        if n == 1 or (first is None and last == (best == "last")):
            break
        if (
            fine[0] == (first == "fine")
            and 3 <= fine.sum() < n
            and fine[-1]
            and np.argmin(fine) < winner < n - 1
            and np.any(low[0] + (high - low)[0] * u[:, 0] < edge)
        ):
            break
    box = dict(low=low, high=high, n=n, seed=seed, optimum=optimum, edge=edge)
    return box | dict(unit=1.0, level=0.0)


random_search.mistakes(
    {
        "even on the plain scale": (
            "low * (high / low) ** rng.random((n, len(low)))",
            "low + (high - low) * rng.random((n, len(low)))",
            "From 0.0001 to 1, what share of your draws falls below 0.01? Equal factors should be equally likely.",
        ),
        "a run that diverged wins": (
            "np.nanargmin(losses)",
            "np.argmin(losses)",
            "How does NumPy order nan? Look at what argmin does with array([1, nan, 0]).",
        ),
        "keeps the last setting": (
            "np.nanargmin(losses)",
            "-1",
            "Which of the settings should come back: the last one tried, or the best one?",
        ),
        "keeps the highest loss": (
            "np.nanargmin(losses)",
            "np.nanargmax(losses)",
            "Is a good setting one with a high or a low loss?",
        ),
        "one draw serves all hyperparameters": (
            "rng.random((n, len(low)))",
            "np.repeat(rng.random((n, 1)), len(low), axis=1)",
            "Plot your settings: do they fill the box, or do they lie on its diagonal?",
        ),
        "a row of u a hyperparameter": (
            "rng.random((n, len(low)))",
            "rng.random((len(low), n)).T",
            "Row i of u makes setting i. Which shape has u, before anything is done to it?",
        ),
        "the search stops where a run diverges": (
            "np.nanargmin(losses)",
            "np.argmin(losses[: np.argmax(np.append(np.isnan(losses[1:]), True)) + 1])",
            "A run that diverged is only one bad setting. What happens to the draws after it?",
        ),
        "the loss nearest to zero": (
            "np.nanargmin(losses)",
            "np.nanargmin(np.abs(losses))",
            "May a loss be below zero? Which of -3 and 1 is lower?",
        ),
        "one draw too few": (
            "for setting in settings]",
            "for setting in settings[: max(n - 1, 1)]]",
            "How many settings have you tried, when n are asked for?",
        ),
    }
)


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


random_search.worked(
    why=r"""$\text{low} \cdot (\text{high}/\text{low})^u$ is a straight line in the logarithm: half of the draws fall below the
    geometric mean, for each hyperparameter by itself. `np.nanargmin` passes over runs that diverged. Nothing else is needed, and
    that is the charm: draws are independent, so a thousand machines can share them."""
)


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
    sure = 10.0 ** -rng.uniform(8, 9, 90)  # 45 of these multiplied are 0 for a computer
    sure = np.stack([sure, 1 - sure], axis=1)
    sure[::2] = sure[::2, ::-1]
    yield (
        "many models that are sure and disagree",
        dict(probs=sure, truth=_simplex(rng, 1, 2)[0]),
    )
    yield "all models know the truth", dict(probs=np.tile(truth, (3, 1)), truth=truth)


def _simplex(rng, rows, k):
    """Distributions whose entries differ by a factor of about ten, in an order that changes from row to row."""
    weights = np.geomspace(1, 10, k) * rng.uniform(0.8, 1.25, (rows, k))
    rolled = np.array([np.roll(row, shift) for shift, row in enumerate(weights)])
    return rolled / rolled.sum(1, keepdims=True)


ce_decompose.mistakes(
    {
        "averages the probabilities": (
            "np.exp(np.log(probs).mean(axis=0))",
            "probs.mean(axis=0)",
            "For squared error the centre is the plain mean. Here the loss holds log p: which mean of the models makes noise + bias + variance equal the loss?",
        ),
        "a product that vanishes": (
            "np.exp(np.log(probs).mean(axis=0))",
            "np.prod(probs, axis=0) ** (1 / len(probs))",
            "Multiply 500 probabilities of 0.1. What does a computer make of it, and what of the mean of 500 logarithms?",
        ),
        "bias the wrong way round": (
            "np.sum(t * np.log(t / centre[truth > 0]))",
            "np.sum(centre[truth > 0] * np.log(centre[truth > 0] / t))",
            "KL is not symmetric. In the bias, which distribution does the weighing?",
        ),
        "the centre does not sum to one": (
            "centre = centre / centre.sum()",
            "centre = +centre",
            "Add up the entries of your centre. Is it a distribution?",
        ),
        "variance the wrong way round": (
            "np.sum(centre * np.log(centre / probs), axis=1)",
            "np.sum(probs * np.log(probs / centre), axis=1)",
            "KL is not symmetric. In the variance, which distribution does the weighing?",
        ),
        "the variance is summed over the models": (
            "np.mean(np.sum(centre",
            "np.sum(np.sum(centre",
            "Would twice as many equal models double your variance? The formula takes a mean over s.",
        ),
        "bias as a cross-entropy": (
            "np.log(t / centre[truth > 0])",
            "np.log(1 / centre[truth > 0])",
            "Is your bias zero when all models know the truth? The noise must not be counted twice.",
        ),
        "bits instead of nats": (
            "return noise, bias, variance",
            "return noise / np.log(2), bias / np.log(2), variance / np.log(2)",
            "The text uses the natural logarithm. Which one did you take?",
        ),
        "0 log 0 is not a number": (
            "np.sum(t * np.log(t))",
            "np.sum(truth * np.log(truth))",
            "A class of probability zero adds nothing to the entropy. What does 0 * log(0) give in NumPy?",
        ),
    }
)

ce_decompose.equivalent(
    {
        "centre = np.exp(np.log(probs).mean(axis=0)) → centre = -np.exp(np.log(probs).mean(axis=0))": "and sums to 1."
    }
)

ce_decompose.worked(
    why=r"""The loss is linear in $\log p$, so it is $\log p$ that has to be averaged: then the models' scatter round the centre
    is the same constant for each class, whatever the truth weighs, and drops out as the variance. Classes that never occur are
    left out before the logarithm, since $0 \log 0$ counts as 0."""
)


@ce_decompose.right("bias and variance from the normaliser")
def _(probs, truth):
    geometric = np.exp(np.log(probs).mean(0))
    noise = -np.sum(truth[truth > 0] * np.log(truth[truth > 0]))
    bias = -truth @ np.log(geometric / geometric.sum()) - noise
    return noise, bias, -np.log(geometric.sum())


@ce_decompose.right("loops over models and classes")
def _(probs, truth):
    centre = [
        np.exp(sum(np.log(p) for p in column) / len(column)) for column in probs.T
    ]
    centre = [c / sum(centre) for c in centre]
    noise = -sum(t * np.log(t) for t in truth if t > 0)
    bias = sum(t * np.log(t / c) for t, c in zip(truth, centre, strict=True) if t > 0)
    spread = [
        sum(c * np.log(c / p) for c, p in zip(centre, row, strict=True))
        for row in probs
    ]
    return [noise, bias, sum(spread) / len(spread)]


@ce_decompose.right("by its relative entropy", library="scipy.stats.entropy")
def _(probs, truth):
    from scipy.stats import entropy

    centre = np.exp(np.log(probs).mean(0))
    centre /= centre.sum()
    spread = np.mean([entropy(centre, p) for p in probs])
    return entropy(truth), entropy(truth, centre), spread

"""Exercises of 02_classification/03_generalised_linear_models."""

import math

import numpy as np
import torch
from scipy.special import expit, log_softmax, logsumexp
from scipy.special import softmax as scipy_softmax

from descent.compare import close
from solutions.spec import Exercise

from . import reference

# ---------------------------------------------------------------- the gradient of three families

glm_grad = Exercise(
    "glm_grad",
    reference=reference.glm_grad,
    compare=close(
        rtol=1e-6, atol=1e-8
    ),  # central differences of the loss: right to 1e-9
    batched=("X", "w", "y"),
    hints=[
        "All three losses share one gradient. Only one thing in it depends on the family: which?",
        "Scores first, eta = X @ w. Then the means: eta itself, expit(eta) or np.exp(eta). Then the errors, mean minus y.",
        "Each row pulls with its error times its x; the average over rows is X.T @ (mu - y) / len(y).",
    ],
)


@glm_grad.cases
def _(rng):
    for family in ("gaussian", "bernoulli", "poisson"):
        yield f"the {family} family", _rows(rng, family)
    zeros = _rows(rng, "poisson")
    zeros["y"] = np.zeros(7)
    yield "counts that are all zero", zeros
    yield "a single row", _rows(rng, "bernoulli", n=1)
    perfect = _rows(rng, "gaussian")
    perfect["y"] = perfect["X"] @ perfect["w"]
    yield "a perfect fit has gradient 0", perfect


def _targets(rng, family, n):
    """Targets in the support, neither all alike nor in balance."""
    if family == "gaussian":
        return rng.normal(1.0, 2.0, n)
    if family == "bernoulli":
        return (np.arange(n) % 3 == 0) * 1.0
    return rng.integers(0, 6, n) * 1.0


def _rows(rng, family, n=7, d=3):
    X = np.column_stack(
        [
            np.ones(n),
            rng.uniform(0.3, 1.5, (n, d - 1)) * rng.choice([-1, 1], (n, d - 1)),
        ]
    )
    w = rng.uniform(0.3, 0.8, d) * np.array([1, -1, 1])[:d]
    return dict(X=X, y=_targets(rng, family, n), w=w, family=family)


MEANS = {"gaussian": lambda z: z, "bernoulli": expit, "poisson": np.exp}


def _errors(X, y, w, family):
    return MEANS[family](X @ w) - y


@glm_grad.wrong(
    "the sum over rows, not the mean",
    advice="Would your gradient double if every row were written twice? The loss is a mean over rows.",
)
def _(X, y, w, family):
    return X.T @ _errors(X, y, w, family)


@glm_grad.wrong(
    "the sign is turned",
    advice="This is the gradient of a loss. If every mean is too large, should the weight of a positive feature rise or fall along minus the gradient?",
)
def _(X, y, w, family):
    return -X.T @ _errors(X, y, w, family) / len(y)


@glm_grad.wrong(
    "the score is taken for the mean in every family",
    advice="For counts and for 0/1 targets the score Xw is not the mean. What turns a score into a mean?",
)
def _(X, y, w, family):
    return X.T @ (X @ w - y) / len(y)


@glm_grad.wrong(
    "the slope of the inverse link is multiplied in",
    advice="The slope of the inverse link and the variance of the family cancel under a canonical link. Did you leave one of them in?",
)
def _(X, y, w, family):
    mu = MEANS[family](X @ w)
    slope = {"gaussian": np.ones_like(mu), "bernoulli": mu * (1 - mu), "poisson": mu}[
        family
    ]
    return X.T @ ((mu - y) * slope) / len(y)


@glm_grad.wrong(
    "divided by the number of features",
    advice="The loss is a mean over rows. By which of the two sizes of X do you divide?",
)
def _(X, y, w, family):
    return X.T @ _errors(X, y, w, family) / X.shape[1]


@glm_grad.wrong(
    "the Gaussian gradient is that of the squared error",
    advice="The Gaussian loss here is half the squared error, as the text defines it. Where does your 2 come from?",
)
def _(X, y, w, family):
    grad = X.T @ _errors(X, y, w, family) / len(y)
    return 2 * grad if family == "gaussian" else grad


@glm_grad.right("one row at a time")
def _(X, y, w, family):
    total = [0.0] * len(w)
    for row, target in zip(X, y, strict=True):
        error = MEANS[family](sum(a * b for a, b in zip(row, w, strict=True))) - target
        total = [t + error * a / len(y) for t, a in zip(total, row, strict=True)]
    return total


@glm_grad.right("as a mean over rows")
def _(X, y, w, family):
    X, y, w = (np.asarray(a, np.float64) for a in (X, y, w))
    return np.mean(X * _errors(X, y, w, family)[:, None], axis=0)


# ---------------------------------------------------------------- one step of Fisher scoring

glm_step = Exercise(
    "glm_step",
    reference=reference.glm_step,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("X", "w", "y"),
    hints=[
        "Compute four things a row: the score, the mean, the slope at the score, the variance at the mean. Slope takes the score, variance takes the mean.",
        "Two sums over rows. The score vector adds error · slope / variance times x, the information slope² / variance times the matrix x xᵀ. The step solves information · step = score vector.",
        "info = X.T @ (X * (s**2 / v)[:, None]) and U = X.T @ ((y - mu) * s / v); the new weights are w + np.linalg.solve(info, U).",
    ],
)


@glm_step.probe
def _(answer, X, y, w, family, link):
    cdf = np.vectorize(lambda v: 0.5 * math.erfc(-v / math.sqrt(2)), otypes=[float])
    means = {
        "identity": lambda z: 1.0 * z, "log": np.exp, "sqrt": np.square,
        "logit": lambda z: 1 / (1 + np.exp(-z)), "probit": cdf,
        "cloglog": lambda z: 1 - np.exp(-np.exp(z)), "inverse": lambda z: 1 / z,
    }  # fmt: skip
    slopes = {
        "identity": np.ones_like, "log": np.exp, "sqrt": lambda z: 2 * z,
        "logit": lambda z: 1 / (2 + np.exp(z) + np.exp(-z)),
        "probit": lambda z: np.exp(-z * z / 2) / math.sqrt(2 * math.pi),
        "cloglog": lambda z: np.exp(z - np.exp(z)), "inverse": lambda z: -1 / z**2,
    }  # fmt: skip
    variances = {
        "gaussian": np.ones_like, "bernoulli": lambda m: m * (1 - m), "poisson": lambda m: 1.0 * m,
    }  # fmt: skip
    return answer(X, y, w, means[link], slopes[link], variances[family])


@glm_step.cases
def _(rng):
    yield "a canonical link", _step(rng, "bernoulli", "logit")
    yield "a canonical link", _step(rng, "poisson", "log")
    yield "another link", _step(rng, "poisson", "sqrt")
    yield "another link", _step(rng, "bernoulli", "probit")
    yield "another link", _step(rng, "gaussian", "log")
    yield "another link", _step(rng, "bernoulli", "cloglog")
    yield "a mean that falls as the score rises", _step(rng, "poisson", "inverse")
    both = _step(rng, "poisson", "sqrt")
    both["X"][::2] *= -1  # negative scores: η² falls there
    yield "a mean that falls as the score rises", both
    yield "least squares arrives in one step", _step(rng, "gaussian", "identity")
    y = rng.integers(1, 9, 6) * 1.0
    at_optimum = dict(X=np.ones((6, 1)), y=y, w=np.array([np.log(y.mean())]))
    yield (
        "at the optimum nothing moves",
        dict(**at_optimum, family="poisson", link="log"),
    )
    one = dict(
        X=np.array([[rng.uniform(0.5, 2.0)]]),
        y=np.array([1.0]),
        w=rng.normal(size=1) / 4,
    )
    yield "one row, one feature", dict(**one, family="bernoulli", link="probit")


def _step(rng, family, link):
    inputs = _rows(rng, family, n=8)
    inputs["w"] = np.array([1.5, 0.2, 0.3]) * rng.uniform(
        0.5, 1.0, 3
    )  # scores away from 0: sqrt
    inputs["X"][:, 1:] = rng.uniform(-1, 1, (8, 2))
    return dict(**inputs, link=link)


def _pieces(X, y, w, mean, slope, variance):
    eta = X @ w
    mu = mean(eta)
    return y - mu, slope(eta), variance(mu)


@glm_step.wrong(
    "the formula of the canonical link, whatever the link",
    advice="Slope and variance cancel for one link of each family only. For the square root of a count, do they?",
)
def _(X, y, w, mean, slope, variance):
    error, _, spread = _pieces(X, y, w, mean, slope, variance)
    return w + np.linalg.solve(X.T @ (X * spread[:, None]), X.T @ error)


@glm_step.wrong(
    "the variance is left out",
    advice="Rows with a large variance must count for less. Where does the variance enter your two sums?",
)
def _(X, y, w, mean, slope, variance):
    error, s, _ = _pieces(X, y, w, mean, slope, variance)
    return w + np.linalg.solve(X.T @ (X * (s**2)[:, None]), X.T @ (error * s))


@glm_step.wrong(
    "returns the step alone",
    advice="Is your result the new weights, or how far they move?",
)
def _(X, y, w, mean, slope, variance):
    error, s, v = _pieces(X, y, w, mean, slope, variance)
    return np.linalg.solve(X.T @ (X * (s**2 / v)[:, None]), X.T @ (error * s / v))


@glm_step.wrong(
    "steps away from the optimum",
    advice="Where all means are too small the intercept must grow. Does yours?",
)
def _(X, y, w, mean, slope, variance):
    error, s, v = _pieces(X, y, w, mean, slope, variance)
    return w - np.linalg.solve(X.T @ (X * (s**2 / v)[:, None]), X.T @ (error * s / v))


@glm_step.wrong(
    "the slope enters the information once",
    advice="The information is a square, like XᵀX. How often must the slope stand in it?",
)
def _(X, y, w, mean, slope, variance):
    error, s, v = _pieces(X, y, w, mean, slope, variance)
    return w + np.linalg.solve(X.T @ (X * (s / v)[:, None]), X.T @ (error * s / v))


@glm_step.wrong(
    "a gradient step without the information",
    advice="Your step goes uphill, but how far? The gradient has to be divided by the information, a matrix.",
)
def _(X, y, w, mean, slope, variance):
    error, s, v = _pieces(X, y, w, mean, slope, variance)
    return w + X.T @ (error * s / v)


@glm_step.wrong(
    "the variance is taken at the score",
    advice="Variance is a function of the mean. What do you pass to it?",
)
def _(X, y, w, mean, slope, variance):
    eta = X @ w
    v = variance(eta)
    error, s = y - mean(eta), slope(eta)
    return w + np.linalg.solve(X.T @ (X * (s**2 / v)[:, None]), X.T @ (error * s / v))


@glm_step.wrong(
    "the slope is taken at the mean",
    advice="Slope is a function of the score. What do you pass to it?",
)
def _(X, y, w, mean, slope, variance):
    mu = mean(X @ w)
    error, s, v = y - mu, slope(mu), variance(mu)
    return w + np.linalg.solve(X.T @ (X * (s**2 / v)[:, None]), X.T @ (error * s / v))


@glm_step.wrong(
    "the sign of the slope is lost",
    advice="Take an inverse link that falls, such as 1/η. When all means are too small, must the score rise or fall? Does a square root in your weights forget it?",
)
def _(X, y, w, mean, slope, variance):
    error, s, v = _pieces(X, y, w, mean, slope, variance)
    root = np.sqrt(s**2 / v)
    return w + np.linalg.lstsq(X * root[:, None], error / np.sqrt(v), rcond=None)[0]


@glm_step.wrong(
    "the information is averaged, the score vector is not",
    advice="Your step is as many times too long as there are rows. Which of the two is a mean?",
)
def _(X, y, w, mean, slope, variance):
    error, s, v = _pieces(X, y, w, mean, slope, variance)
    info = X.T @ (X * (s**2 / v)[:, None]) / len(y)
    return w + np.linalg.solve(info, X.T @ (error * s / v))


@glm_step.right("calls the functions with one number at a time")
def _(X, y, w, mean, slope, variance):
    eta = X @ w
    mu = np.array([mean(e) for e in eta])
    s, v = np.array([slope(e) for e in eta]), np.array([variance(m) for m in mu])
    return w + np.linalg.pinv((X.T * (s**2 / v)) @ X) @ (X.T @ ((y - mu) * s / v))


@glm_step.right("as a weighted least-squares fit")
def _(X, y, w, mean, slope, variance):
    eta = X @ w
    mu, s = mean(eta), slope(eta)
    root = s / np.sqrt(variance(mu))
    return np.linalg.lstsq(X * root[:, None], root * (eta + (y - mu) / s), rcond=None)[
        0
    ]


@glm_step.right("sums over the rows")
def _(X, y, w, mean, slope, variance):
    eta = X @ w
    mu, s = mean(eta), slope(eta)
    v, score, info = variance(mu), np.zeros(len(w)), np.zeros((len(w), len(w)))
    for i, row in enumerate(X):
        score += row * s[i] / v[i] * (y[i] - mu[i])
        info += np.outer(row, row) * s[i] ** 2 / v[i]
    return list(w + np.linalg.inv(info) @ score)


@glm_step.right("single precision")
def _(X, y, w, mean, slope, variance):
    error, s, v = _pieces(X, y, w, mean, slope, variance)
    info, score = X.T @ (X * (s**2 / v)[:, None]), X.T @ (error * s / v)
    return (w + np.linalg.solve(info, score)).astype(np.float32)


# ---------------------------------------------------------------- powers

poly_features = Exercise(
    "poly_features",
    reference=reference.poly_features,
    compare=close(rtol=1e-6, atol=1e-12),
    batched=("x",),
    hints=[
        "Which column must come first, and what does it hold for every x?",
        "Column k is x ** k, for k = 0, 1, …, K: that is K + 1 columns. In NumPy 0.0 ** 0 is 1.",
        "x[:, None] ** np.arange(K + 1) does it by broadcasting.",
    ],
)


@poly_features.cases
def _(rng):
    yield (
        "powers in rising order",
        dict(x=rng.uniform(0.3, 1.6, 5) * [1, -1, 1, 1, -1], K=3),
    )
    yield "degree 0 is a column of ones", dict(x=rng.normal(size=4), K=0)
    yield "x = 0 keeps its 1", dict(x=np.array([0.0, rng.uniform(1.2, 2.0), 0.0]), K=2)
    yield "a single row", dict(x=-rng.uniform(1.2, 2.0, 1), K=4)


@poly_features.wrong(
    "the highest power comes first", advice="Column k is x to the power k."
)
def _(x, K):
    return np.vander(x, K + 1)


@poly_features.wrong(
    "the column of ones is missing",
    advice="Which power is the bias? The count starts at 0.",
)
def _(x, K):
    return x[:, None] ** np.arange(1, K + 1)


@poly_features.wrong(
    "stops one power early", advice="How many powers are there from 0 to K?"
)
def _(x, K):
    return x[:, None] ** np.arange(max(K, 1))


@poly_features.wrong(
    "rows and columns are swapped", advice="One row of X is one observation."
)
def _(x, K):
    return np.array([x**k for k in range(K + 1)])


@poly_features.wrong(
    "multiples of x instead of powers",
    advice="Is your third column x squared, or twice x?",
)
def _(x, K):
    return np.column_stack([x**0] + [k * x for k in range(1, K + 1)])


@poly_features.right("np.vander, increasing")
def _(x, K):
    return np.vander(x, K + 1, increasing=True)


@poly_features.right("lists of lists")
def _(x, K):
    return [[float(v) ** k for k in range(K + 1)] for v in x]


@poly_features.right("running products in single precision")
def _(x, K):
    factors = np.column_stack([np.ones_like(x)] + [x] * K).astype(np.float32)
    return np.cumprod(factors, axis=1)


# ---------------------------------------------------------------- several outputs

fit_multi = Exercise(
    "fit_multi",
    reference=reference.fit_multi,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("X", "Y"),
    hints=[
        "The terms of output k hold column k of W only. Which fit of Y[:, k] do you know already?",
        "Least squares for each column, the results side by side. np.linalg.lstsq takes all columns at once.",
        "np.linalg.lstsq(X, Y, rcond=None) returns several things. The weights are the first.",
    ],
)


@fit_multi.cases
def _(rng):
    yield "three outputs", _outputs(rng, 8, 2, 3)
    yield "no noise: the true weights come back", _outputs(rng, 7, 3, 2, noise=0.0)
    related = _outputs(rng, 8, 3, 2)
    related["Y"][:, 1] += 3 * related["Y"][:, 0]
    yield "outputs that go together", related
    yield "a single output", _outputs(rng, 6, 3, 1)
    yield "more outputs than rows", _outputs(rng, 3, 2, 4)


def _outputs(rng, n, d, K, noise=1.0):
    """X has a column of ones and orthogonal others plus a little: far from dependent."""
    Q = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=(n, d - 1))]))[0]
    X = np.column_stack([np.ones(n), 2 * Q[:, 1:] + rng.uniform(0.3, 0.6, d - 1)])
    W = rng.uniform(0.5, 2.0, (d, K)) * rng.choice([-1, 1], (d, K))
    return dict(X=X, Y=X @ W + noise * rng.normal(size=(n, K)))


@fit_multi.wrong("one row an output", advice="Column k of W belongs to output k.")
def _(X, Y):
    return np.linalg.lstsq(X, Y, rcond=None)[0].T


@fit_multi.wrong(
    "one fit to the mean of the outputs",
    advice="Every output has weights of its own. How many columns of yours differ?",
)
def _(X, Y):
    w = np.linalg.lstsq(X, Y.mean(axis=1), rcond=None)[0]
    return np.tile(w[:, None], (1, Y.shape[1]))


@fit_multi.wrong(
    "each feature is fitted alone",
    advice="The columns of X are not orthogonal, the column of ones included. What must XᵀY be divided by: numbers or a matrix?",
)
def _(X, Y):
    return X.T @ Y / np.sum(X**2, axis=0)[:, None]


@fit_multi.wrong(
    "the features are centred first",
    advice="If X holds a column of ones, what is left of it once its mean is subtracted?",
)
def _(X, Y):
    return np.linalg.pinv(X - X.mean(axis=0)) @ (Y - Y.mean(axis=0))


@fit_multi.wrong(
    "all that lstsq returns",
    advice="np.linalg.lstsq returns four things: weights, sums of squares, a rank, singular values. Which one is asked for?",
)
def _(X, Y):
    return np.linalg.lstsq(X, Y, rcond=None)


@fit_multi.wrong(
    "a penalty on the weights",
    advice="Without noise the true weights must come back exactly. Do you add something to XᵀX?",
)
def _(X, Y):
    return np.linalg.solve(X.T @ X + 0.01 * np.eye(X.shape[1]), X.T @ Y)


@fit_multi.right("by the normal equations")
def _(X, Y):
    return np.linalg.solve(X.T @ X, X.T @ Y)


@fit_multi.right("output by output, as a list of rows")
def _(X, Y):
    columns = [np.linalg.pinv(X) @ y for y in Y.T]
    return [list(row) for row in zip(*columns, strict=True)]


@fit_multi.right("in torch")
def _(X, Y):
    return torch.linalg.lstsq(torch.from_numpy(X), torch.from_numpy(Y)).solution


@fit_multi.right("all equations at once, with correlated noise")
def _(X, Y):
    K = Y.shape[1]
    P = np.eye(K) + 0.5 * np.ones((K, K))
    joint = np.linalg.solve(np.kron(P, X.T @ X), (X.T @ Y @ P).ravel(order="F"))
    return joint.reshape(X.shape[1], K, order="F")


@fit_multi.right("single precision")
def _(X, Y):
    return np.linalg.lstsq(X.astype(np.float32), Y.astype(np.float32), rcond=None)[0]


# ---------------------------------------------------------------- one-hot labels

one_hot = Exercise(
    "one_hot",
    reference=reference.one_hot,
    compare=close(rtol=0, atol=1e-12),
    batched=("labels",),
    hints=[
        "How many columns does a row need when a class happens not to occur?",
        "Row n is row labels[n] of the K × K identity matrix.",
        "np.eye(K)[labels], or compare labels[:, None] with np.arange(K).",
    ],
)


@one_hot.cases
def _(rng):
    yield "every class occurs", dict(labels=rng.permutation([0, 1, 2, 3, 2]), K=4)
    yield "the last class is absent", dict(labels=rng.permutation([0, 1, 1, 2, 0]), K=4)
    yield (
        "a class in between is absent",
        dict(labels=rng.permutation([0, 3, 3, 0, 1]), K=4),
    )
    yield "a single row", dict(labels=rng.integers(1, 9, 1), K=9)
    yield "a single class", dict(labels=np.array([0, 0]), K=1)


@one_hot.wrong(
    "as many columns as classes seen",
    advice="The number of classes is K, whether all of them occur or not.",
)
def _(labels, K):
    return (labels[:, None] == np.unique(labels)) * 1.0


@one_hot.wrong("classes counted from 1", advice="Which column belongs to label 0?")
def _(labels, K):
    return np.eye(K)[labels - 1]


@one_hot.wrong(
    "the label itself in its column",
    advice="The entries are 0 or 1, whatever the label.",
)
def _(labels, K):
    return np.eye(K)[labels] * labels[:, None]


@one_hot.wrong("one row a class", advice="Row n belongs to observation n.")
def _(labels, K):
    return np.eye(K)[:, labels]


@one_hot.right("by comparison")
def _(labels, K):
    return (labels[:, None] == np.arange(K)).astype(np.int64)


@one_hot.right("entry by entry, as lists")
def _(labels, K):
    return [[1.0 if k == label else 0.0 for k in range(K)] for label in labels]


# ---------------------------------------------------------------- softmax

softmax = Exercise(
    "softmax",
    reference=reference.softmax,
    compare=close(rtol=1e-6, atol=1e-12),
    batched=("Z",),
    hints=[
        "np.exp(1000) is inf. Which number may you subtract from all scores of a row without changing its probabilities?",
        "Divide by T first. Then subtract each row's own maximum (keepdims=True keeps the shape), exponentiate, divide each row by its sum.",
        "S = Z / T; E = np.exp(S - S.max(axis=1, keepdims=True)); then E over its sums along axis 1.",
    ],
)


@softmax.cases
def _(rng):
    yield "rows that sum to 1", dict(Z=_scores(rng, 4, 3), T=1.0)
    yield "a temperature", dict(Z=_scores(rng, 3, 4), T=2.5)
    yield "a temperature", dict(Z=_scores(rng, 3, 3), T=0.5)
    eighths = (
        np.round(8 * _scores(rng, 3, 3)) / 8
    )  # exact in float32, ten thousand added too
    huge = eighths + np.array([[1e4], [0.0], [-1e4]])
    far = eighths[:2, [0, 1, 2, 1]] + np.array([[1e4, 1e4, 1e4, -1e4], [0, -1e4, 0, 0]])
    yield "scores of ten thousand and of minus ten thousand", dict(Z=huge, T=1.0)
    yield "scores of ten thousand and of minus ten thousand", dict(Z=far, T=1.0)
    large = 2000 * _scores(rng, 3, 3)
    near = np.column_stack(
        [large, large[:, 0] - 0.0005]
    )  # nearly a tie, once at the top
    yield "large scores at a high temperature", dict(Z=near, T=1600.0)
    yield "equal scores", dict(Z=np.full((2, 4), rng.normal()), T=1.0)
    yield "a single class", dict(Z=rng.normal(size=(3, 1)), T=1.0)
    yield "cold: nearly all on one class", dict(Z=_scores(rng, 2, 3), T=0.05)
    yield "hot: nearly even", dict(Z=_scores(rng, 2, 3), T=20.0)


def _scores(rng, n, K):
    """Scores whose gaps are about one, in another order from row to row."""
    steps = np.arange(K) + rng.uniform(-0.2, 0.2, (n, K))
    return np.array([np.roll(row, shift) for shift, row in enumerate(steps)])


@softmax.wrong(
    "overflows for large scores",
    advice="np.exp overflows above about 709. Probabilities depend on differences of scores only.",
)
def _(Z, T):
    with np.errstate(over="ignore", invalid="ignore"):
        E = np.exp(Z / T)
        return E / E.sum(axis=1, keepdims=True)


@softmax.wrong(
    "one maximum for the whole table",
    advice="Subtract the largest of all scores, and what is left of a row whose scores are far below it?",
)
def _(Z, T):
    with np.errstate(invalid="ignore"):
        E = np.exp(Z / T - (Z / T).max())
        return E / E.sum(axis=1, keepdims=True)


@softmax.wrong(
    "normalised over the whole table",
    advice="Which numbers must sum to 1: a row or the table?",
)
def _(Z, T):
    E = np.exp(Z / T - (Z / T).max(axis=1, keepdims=True))
    return E / E.sum()


@softmax.wrong(
    "normalised down the columns",
    advice="A row is one observation. Do your rows sum to 1?",
)
def _(Z, T):
    return scipy_softmax(Z / T, axis=0)


@softmax.wrong(
    "multiplies by the temperature",
    advice="A high temperature makes probabilities more alike. Does yours?",
)
def _(Z, T):
    return scipy_softmax(Z * T, axis=1)


@softmax.wrong(
    "ignores the temperature",
    advice="Two temperatures, one result: where does T enter?",
)
def _(Z, T):
    return scipy_softmax(Z, axis=1)


@softmax.wrong(
    "the hard maximum",
    advice="Every class gets a positive probability, not only the winner.",
)
def _(Z, T):
    return (Z == Z.max(axis=1, keepdims=True)) * 1.0


@softmax.wrong(
    "the mean of a row is subtracted, not its maximum",
    advice="After the subtraction, how large can the largest score of a row still be?",
)
def _(Z, T):
    with np.errstate(over="ignore", invalid="ignore"):
        E = np.exp((Z - Z.mean(axis=1, keepdims=True)) / T)
        return E / E.sum(axis=1, keepdims=True)


@softmax.wrong(
    "the temperature divides the scores but not their maximum",
    advice="Which of the two terms of the difference is divided by T in your code?",
)
def _(Z, T):
    with np.errstate(over="ignore", invalid="ignore"):
        E = np.exp(Z / T - Z.max(axis=1, keepdims=True))
        return E / E.sum(axis=1, keepdims=True)


@softmax.wrong(
    "the temperature comes after the probabilities",
    advice="A probability that underflowed to 0 stays 0 at every temperature. What must T divide, and when?",
)
def _(Z, T):
    P = scipy_softmax(Z, axis=1) ** (1 / T)
    return P / P.sum(axis=1, keepdims=True)


@softmax.right("through the log-sum-exp")
def _(Z, T):
    return np.exp(Z / T - logsumexp(Z / T, axis=1, keepdims=True))


@softmax.right("one row at a time, as lists")
def _(Z, T):
    table = []
    for row in Z:
        top = max(row)
        weights = [np.exp((z - top) / T) for z in row]
        table.append([w / sum(weights) for w in weights])
    return table


@softmax.right("in torch")
def _(Z, T):
    return torch.softmax(torch.from_numpy(Z) / T, -1)


@softmax.right("single precision")
def _(Z, T):
    return scipy_softmax(Z.astype(np.float32) / np.float32(T), axis=1)


# ---------------------------------------------------------------- the loss

cat_nll = Exercise(
    "cat_nll",
    reference=reference.cat_nll,
    compare=close(rtol=1e-6, atol=1e-10),
    batched=("W", "X", "Y"),
    hints=[
        "What is the log of a softmax? Take it on paper: the exponential of the numerator goes away.",
        "Row n costs logsumexp of its scores minus the score of its true class. np.sum(Y * Z, axis=1) picks that score.",
        "Z = X @ W; np.mean(logsumexp(Z, axis=1) - np.sum(Y * Z, axis=1)).",
    ],
)


@cat_nll.cases
def _(rng):
    yield "three classes", _problem(rng, 6, 2, 3)
    yield "two classes", _problem(rng, 5, 3, 2)
    at_zero = _problem(rng, 5, 2, 4)
    at_zero["W"] = np.zeros((2, 4))
    yield "all weights zero", at_zero
    sure = _problem(rng, 4, 2, 3)
    sure["X"] = 1000 * sure["X"]
    yield "sure and wrong by a thousand", sure
    yield "rows of very different scores", _unlike_rows(rng)
    yield "a single row", _problem(rng, 1, 2, 3)


def _unlike_rows(rng):
    """Scores above 1000 in the first row, about one in the others: no maximum serves both."""
    problem = _problem(rng, 4, 2, 3)
    problem["X"][0] *= 1e4
    return problem


def _problem(rng, n, d, K):
    """Softmax regression with clear weights; rows share no label pattern with the scores."""
    X = rng.uniform(0.5, 1.5, (n, d)) * rng.choice([-1.0, 1.0], (n, d))
    W = np.array(
        [np.roll(np.linspace(-1.5, 1.5, K), j) for j in range(d)]
    ) * rng.uniform(0.8, 1.2, (d, K))
    losers = (X @ W).argmin(
        axis=1
    )  # the first rows are wrong, so that no loss vanishes
    labels = np.where(np.arange(n) % 2 == 0, losers, (losers + 1) % K)
    return dict(W=W, X=X, Y=np.eye(K)[labels])


@cat_nll.wrong(
    "the sum over rows, not the mean",
    advice="If every row stood there twice, would your loss double?",
)
def _(W, X, Y):
    return -np.sum(Y * log_softmax(X @ W, axis=1))


@cat_nll.wrong(
    "the log of a probability that underflowed",
    advice="A probability of e^-1000 is 0 in floating point. Can you write its log without passing through the probability?",
)
def _(W, X, Y):
    with np.errstate(divide="ignore", invalid="ignore"):
        return -np.mean(np.sum(Y * np.log(scipy_softmax(X @ W, axis=1)), axis=1))


@cat_nll.wrong(
    "all classes are charged",
    advice="Only the true class's probability is in the likelihood. Which factor picks it?",
)
def _(W, X, Y):
    return -np.mean(np.sum(log_softmax(X @ W, axis=1), axis=1))


@cat_nll.wrong(
    "the mean over rows and classes",
    advice="At W = 0 the loss is log K. Yours is smaller: how many numbers did you average over?",
)
def _(W, X, Y):
    return -np.mean(Y * log_softmax(X @ W, axis=1))


@cat_nll.wrong(
    "the score of the true class alone",
    advice="Raising all scores together changes no probability. Does it change your loss?",
)
def _(W, X, Y):
    return -np.mean(np.sum(Y * (X @ W), axis=1))


@cat_nll.wrong(
    "bits instead of nats",
    advice="The text uses the natural logarithm. Which one did you take?",
)
def _(W, X, Y):
    return -np.mean(np.sum(Y * log_softmax(X @ W, axis=1), axis=1)) / np.log(2)


@cat_nll.wrong(
    "the log-likelihood, not its negative",
    advice="A loss of a classifier cannot be negative. Is yours?",
)
def _(W, X, Y):
    return np.mean(np.sum(Y * log_softmax(X @ W, axis=1), axis=1))


@cat_nll.wrong(
    "the log-sum-exp overflows",
    advice="np.exp overflows above about 709. Which function of SciPy takes the log of a sum of exponentials safely?",
)
def _(W, X, Y):
    Z = X @ W
    with np.errstate(over="ignore", divide="ignore"):
        return np.mean(np.log(np.exp(Z).sum(axis=1)) - np.sum(Y * Z, axis=1))


@cat_nll.wrong(
    "one maximum for the whole table",
    advice="Subtract the largest of all scores, and what is left of a row whose scores are far below it?",
)
def _(W, X, Y):
    Z = X @ W
    with np.errstate(divide="ignore"):
        sums = np.exp(Z - Z.max()).sum(axis=1)
        return np.mean(Z.max() + np.log(sums) - np.sum(Y * Z, axis=1))


@cat_nll.right("one row at a time, through differences of scores")
def _(W, X, Y):
    losses = []
    for x, y in zip(X, Y, strict=True):
        scores = x @ W
        gaps = scores - scores[int(np.argmax(y))]
        losses.append(gaps.max() + np.log(np.sum(np.exp(gaps - gaps.max()))))
    return sum(losses) / len(losses)


@cat_nll.right("in torch")
def _(W, X, Y):
    W, X, Y = (torch.from_numpy(a) for a in (W, X, Y))
    return torch.nn.functional.cross_entropy(X @ W, Y)


@cat_nll.right("single precision")
def _(W, X, Y):
    W, X, Y = (np.asarray(a, np.float32) for a in (W, X, Y))
    return -np.float32(np.mean(np.sum(Y * log_softmax(X @ W, axis=1), axis=1)))


# ---------------------------------------------------------------- its gradient

softmax_grad = Exercise(
    "softmax_grad",
    reference=reference.softmax_grad,
    compare=close(rtol=1e-6, atol=1e-10),
    batched=("W", "X", "Y"),
    hints=[
        "The pattern is that of every canonical link: features times errors. What is the error of a row with K probabilities?",
        "The errors form the table softmax(X @ W) - Y, one row an observation. The gradient has the shape of W.",
        "X.T @ (softmax(X @ W) - Y) / len(X).",
    ],
)


@softmax_grad.cases
def _(rng):
    yield "three classes", _problem(rng, 6, 2, 3)
    yield "more features than classes", _problem(rng, 6, 4, 2)
    at_zero = _problem(rng, 5, 2, 4)
    at_zero["W"] = np.zeros((2, 4))
    yield "at zero weights", at_zero
    sure = _problem(rng, 4, 2, 3)
    sure["X"] = 1000 * sure["X"]
    yield "scores in the thousands", sure
    yield "rows of very different scores", _unlike_rows(rng)
    yield "a single row", _problem(rng, 1, 3, 3)


@softmax_grad.wrong(
    "the sign is turned",
    advice="This is the gradient of the loss. Along minus the gradient, does the score of the true class rise?",
)
def _(W, X, Y):
    return X.T @ (Y - scipy_softmax(X @ W, axis=1)) / len(X)


@softmax_grad.wrong(
    "the sum over rows, not the mean",
    advice="The loss is a mean over rows. What must its gradient be divided by?",
)
def _(W, X, Y):
    return X.T @ (scipy_softmax(X @ W, axis=1) - Y)


@softmax_grad.wrong(
    "the mean over rows and classes",
    advice="The loss is a mean over rows and a sum over classes. What did you divide by?",
)
def _(W, X, Y):
    return X.T @ (scipy_softmax(X @ W, axis=1) - Y) / Y.size


@softmax_grad.wrong(
    "every class is treated as the true one",
    advice="There are two cases: k is the true class of row n, or it is not. Which number of the labels tells them apart?",
)
def _(W, X, Y):
    return X.T @ (scipy_softmax(X @ W, axis=1) - 1) / len(X)


@softmax_grad.wrong(
    "only the true class is moved",
    advice="Raising the score of a wrong class lowers the true class's probability. Is your gradient zero there?",
)
def _(W, X, Y):
    return X.T @ (Y * (scipy_softmax(X @ W, axis=1) - 1)) / len(X)


@softmax_grad.wrong(
    "the Jacobian of the softmax is multiplied in once more",
    advice="π - y is the derivative with respect to the scores already. Which step did you take twice?",
)
def _(W, X, Y):
    P = scipy_softmax(X @ W, axis=1)
    error = P - Y
    return X.T @ (P * (error - np.sum(P * error, axis=1, keepdims=True))) / len(X)


@softmax_grad.wrong(
    "overflows for large scores",
    advice="np.exp overflows above about 709. You wrote a softmax that does not.",
)
def _(W, X, Y):
    with np.errstate(over="ignore", invalid="ignore"):
        E = np.exp(X @ W)
        return X.T @ (E / E.sum(axis=1, keepdims=True) - Y) / len(X)


@softmax_grad.wrong(
    "transposed", advice="The gradient has the shape of W: one column a class."
)
def _(W, X, Y):
    return (scipy_softmax(X @ W, axis=1) - Y).T @ X / len(X)


@softmax_grad.right("the two cases, row by row")
def _(W, X, Y):
    grad = np.zeros_like(W)
    for x, y in zip(X, Y, strict=True):
        p = scipy_softmax(x @ W)
        for k in range(W.shape[1]):
            grad[:, k] += ((p[k] - 1) if y[k] == 1 else p[k]) * x / len(X)
    return grad


@softmax_grad.right("with einsum")
def _(W, X, Y):
    W, X, Y = (np.asarray(a, np.float64) for a in (W, X, Y))
    return np.einsum("nd,nk->dk", X, scipy_softmax(X @ W, axis=1) - Y) / np.float64(
        len(X)
    )


@softmax_grad.right("as a list of columns")
def _(W, X, Y):
    error = scipy_softmax(X @ W, axis=1) - Y
    columns = [(X * error[:, k : k + 1]).mean(axis=0) for k in range(W.shape[1])]
    return np.stack(columns, axis=1).tolist()

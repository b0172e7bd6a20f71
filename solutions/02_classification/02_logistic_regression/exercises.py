"""Exercises of 02_classification/02_logistic_regression."""

import math

import numpy as np
import torch
from scipy.special import expit, log_expit

from descent.compare import close, exact, parts
from solutions.spec import Exercise

from . import reference


def rows(rng, n, d, flips=2):
    """X (n, d) with a leading 1, y (n,) labels of a noisy linear rule, both present, never separable by X.

    The first four rows are two points, each with both labels: no weights separate them.
    """
    X = np.column_stack([np.ones(n), rng.normal(size=(n, d - 1))])
    w = rng.choice([-1.0, 1.0], d) * rng.uniform(0.6, 1.4, d)
    y = (X @ w + rng.logistic(size=n) > 0).astype(float)
    X[1], X[3] = X[0], X[2]
    y[:4] = 0, 1, 1, 0
    return X, y


def away(rng, d):
    """Weights with no small entry: nothing is hidden by a zero."""
    return rng.choice([-1.0, 1.0], d) * rng.uniform(0.6, 1.4, d)


def _sure(rng):
    """Five rows; weights (0, 600) score them beyond ±720, two of them on the wrong side."""
    x = rng.uniform(1.2, 2, 5) * np.array([1, -1, 1, -1, 1])
    return np.column_stack([np.ones(5), x]), np.array([1.0, 0.0, 0.0, 1.0, 1.0])


# ---------------------------------------------------------------- sigmoid

sigmoid = Exercise(
    "sigmoid",
    reference=lambda z: dict(
        value=reference.sigmoid(
            z if torch.is_tensor(z) else torch.tensor(z, dtype=torch.float64)
        ),
        overflow=False,
    ),
    # the left tail is asked to a relative error, as its logarithm is a loss; below 1e-300 anything goes
    compare=parts(value=close(rtol=1e-9, atol=1e-300), overflow=exact()),
    batched=("z",),
    hints=[
        "exp overflows above 709, and underflows harmlessly to 0 below -745. Which of exp(z) and exp(-z) is safe for z > 0, and which for z < 0?",
        "exp(-|z|) is always safe. Write σ(z) with it twice: once for z >= 0, once for z < 0 (multiply numerator and denominator by exp(z)).",
        "e = np.exp(-np.abs(z)). The denominator is 1 + e in both cases. The numerator is 1 where z >= 0 and e elsewhere: np.where.",
    ],
)


@sigmoid.probe
def _(answer, z):
    seen = []
    note = lambda kind, flag: seen.append(kind)
    with np.errstate(over="call", divide="call", invalid="call", call=note):
        value = answer(z)
    return {"value": value, "overflow": bool(seen)}


@sigmoid.cases
def _(rng):
    yield "ordinary scores", dict(z=np.sort(rng.normal(0, 3, 6)))
    yield "scores of ±1000", dict(z=np.array([-1000.0, 1000.0]))
    yield "scores of ±1000", dict(z=np.array([1000.0, rng.normal(), -1000.0]))
    yield (
        "deep in the left tail",
        dict(z=rng.uniform([-600, -90, -45], [-300, -60, -38])),
    )
    yield "a matrix of scores", dict(z=rng.normal(0, 2, (2, 3)))
    yield "zero gives one half", dict(z=np.zeros(2))


@sigmoid.wrong(
    "the sign of the exponent",
    advice="Is your curve rising? Try one large positive score: what probability should it get?",
)
def _(z):
    return 1 / (1 + np.exp(z))


@sigmoid.wrong(
    "exp of a large positive number",
    advice="Somewhere exp is called with a large positive number and overflows. (np.where computes both of its branches, also where it does not use them.) Which exponent is never positive?",
)
def _(z):
    return 1 / (1 + np.exp(-z))


@sigmoid.wrong(
    "infinity over infinity",
    advice="exp(1000) is inf in floating point. What is inf / inf?",
)
def _(z):
    return np.exp(z) / (1 + np.exp(z))


@sigmoid.wrong(
    "scores are clipped",
    advice="Clipping avoids the overflow but changes the answer: σ(-100) is about 4e-44, and its logarithm is a loss of 100.",
)
def _(z):
    return expit(np.clip(z, -30, 30))


@sigmoid.wrong(
    "the left tail is rounded away",
    advice="Does your formula add a number near -1 to 1? What is left of 4e-18 when it has been added to 1?",
)
def _(z):
    return 0.5 * (1 + np.tanh(z / 2))


@sigmoid.right("clipped just before the overflow")
def _(z):
    return 1 / (1 + np.exp(np.minimum(-z, 709)))


@sigmoid.right("masks, each side with its formula")
def _(z):
    out, right = np.empty_like(z), z >= 0
    out[right] = 1 / (1 + np.exp(-z[right]))
    out[~right] = np.exp(z[~right]) / (1 + np.exp(z[~right]))
    return out


@sigmoid.right("exponential of the softplus")
def _(z):
    return np.exp(-np.logaddexp(0, -z))


@sigmoid.right("one number at a time")
def _(z):
    def one(s):
        return 1 / (1 + math.exp(-s)) if s >= 0 else math.exp(s) / (1 + math.exp(s))

    return np.reshape([one(s) for s in np.ravel(z)], np.shape(z))


@sigmoid.right("in torch")
def _(z):
    return torch.sigmoid(torch.from_numpy(z))


# ---------------------------------------------------------------- log-likelihood

log_likelihood = Exercise(
    "log_likelihood",
    reference=reference.log_likelihood,
    compare=close(rtol=1e-9, atol=1e-12),
    batched=("X", "w", "y"),
    hints=[
        "Write the log-probability of one label with its score s: y s - log(1 + exp(s)). Which part overflows for a large s?",
        "log(1 + exp(s)) is the logarithm of a sum of two exponentials, exp(0) + exp(s). NumPy has a function for just that.",
        "s = X @ w. np.logaddexp(0, s) is log(1 + exp(s)). Sum y * s minus it over the rows.",
    ],
)


@log_likelihood.cases
def _(rng):
    X, y = rows(rng, 8, 3)
    yield "any weights", dict(w=away(rng, 3), X=X, y=y)
    X, y = rows(rng, 6, 2)
    yield "any weights", dict(w=away(rng, 2), X=X, y=y)
    X, y = _sure(rng)
    yield "sure and wrong costs the score", dict(w=np.array([0.0, 600.0]), X=X, y=y)
    X, y = rows(rng, 7, 3)
    yield "zero weights: n log(1/2)", dict(w=np.zeros(3), X=X, y=y)
    yield (
        "a single row",
        dict(w=away(rng, 2), X=np.array([[1.0, rng.normal()]]), y=np.array([0.0])),
    )


@log_likelihood.wrong(
    "the negative log-likelihood",
    advice="A log-probability is at most 0. What sign has your result?",
)
def _(w, X, y):
    s = X @ w
    return np.sum(np.logaddexp(0, s) - y * s)


@log_likelihood.wrong(
    "the mean over the rows", advice="The text asks for a sum over the rows."
)
def _(w, X, y):
    s = X @ w
    return np.mean(y * s - np.logaddexp(0, s))


@log_likelihood.wrong(
    "logarithm of a rounded probability",
    advice="For a score of 600 the probability rounds to 1, and log(1 - p) to -inf. Can you write the logarithm with the score itself?",
)
def _(w, X, y):
    p = expit(X @ w)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sum(y * np.log(p) + (1 - y) * np.log(1 - p))


@log_likelihood.wrong(
    "probabilities are clipped",
    advice="Clipping p keeps the logarithm finite, but a score of 600 on the wrong side costs 600, not 34.",
)
def _(w, X, y):
    p = np.clip(expit(X @ w), 1e-15, 1 - 1e-15)
    return np.sum(y * np.log(p) + (1 - y) * np.log(1 - p))


@log_likelihood.wrong(
    "the exponential overflows",
    advice="In floating point exp(1000) is inf and σ(-1000) is 0, so their logarithms are infinite. But log(1 + exp(1000)) is about 1000. Is there a function that adds in logarithms?",
)
def _(w, X, y):
    s = X @ w
    with np.errstate(over="ignore"):
        return np.sum(y * s - np.log(1 + np.exp(s)))


@log_likelihood.wrong(
    "scores are clipped",
    advice="Clipping the scores keeps exp finite but changes the answer: what does a score of 1000 on the wrong side cost?",
)
def _(w, X, y):
    s = np.clip(X @ w, -500, 500)
    return np.sum(y * s - np.log1p(np.exp(s)))


@log_likelihood.wrong(
    "formula for labels ±1",
    advice="log σ(y s) is right for labels -1 and 1. What does it give for y = 0, whatever the score?",
)
def _(w, X, y):
    return np.sum(log_expit(y * (X @ w)))


@log_likelihood.wrong(
    "labels 0 are left out",
    advice="Which part of your sum changes when a label is 0? Such a row has the probability 1 - p.",
)
def _(w, X, y):
    return np.sum(y * log_expit(X @ w))


@log_likelihood.right("labels ±1 and one softplus")
def _(w, X, y):
    return -np.logaddexp(0, -(2 * y - 1) * (X @ w)).sum()


@log_likelihood.right("one row at a time, by cases")
def _(w, X, y):
    total = 0.0
    for row, label in zip(X, y, strict=True):
        s = sum(a * b for a, b in zip(row, w, strict=True))
        s = s if label == 1 else -s
        total += -math.log1p(math.exp(-s)) if s > 0 else s - math.log1p(math.exp(s))
    return total


@log_likelihood.right("torch's loss")
def _(w, X, y):
    s, t = (torch.from_numpy(a).double() for a in (X @ w, y))
    return -torch.nn.functional.binary_cross_entropy_with_logits(s, t, reduction="sum")


# ---------------------------------------------------------------- gradient

nll_grad = Exercise(
    "nll_grad",
    reference=reference.nll_grad,
    compare=close(rtol=1e-7, atol=1e-10),
    batched=("X", "w", "y"),
    hints=[
        "Two factors meet by the chain rule: how the loss of one row changes with its score, and how the score changes with w.",
        "The loss of row i changes with its score by p_i - y_i, the score changes with w by x_i. Average the products over the rows.",
        "p = expit(X @ w) is (n,). X.T @ (p - y) sums (p_i - y_i) x_i over the rows; divide by len(y).",
    ],
)


def _optimum(X, y):
    return reference.newton_path(torch.from_numpy(X), torch.from_numpy(y), 0.0, 30)[
        -1
    ].numpy()


@nll_grad.cases
def _(rng):
    X, y = rows(rng, 8, 3)
    yield "any weights", dict(w=away(rng, 3), X=X, y=y)
    X, y = rows(rng, 7, 2)
    yield "zero weights: the mean of (1/2 - y) x", dict(w=np.zeros(2), X=X, y=y)
    X, y = rows(rng, 12, 2)
    yield "zero at the optimum", dict(w=_optimum(X, y), X=X, y=y)
    X, y = _sure(rng)
    yield "sure scores", dict(w=np.array([0.0, 600.0]), X=X, y=y)
    yield (
        "a single row",
        dict(w=away(rng, 2), X=np.array([[1.0, rng.uniform(1, 2)]]), y=np.array([1.0])),
    )


@nll_grad.wrong(
    "gradient of the log-likelihood",
    advice="That is the way up the likelihood. The loss is its negative: take a small step along your gradient; does the loss rise?",
)
def _(w, X, y):
    return X.T @ (y - expit(X @ w)) / len(y)


@nll_grad.wrong(
    "the sum over the rows",
    advice="The loss is a mean over the rows. What happens to your gradient when every row is there twice?",
)
def _(w, X, y):
    return X.T @ (expit(X @ w) - y)


@nll_grad.wrong(
    "residuals of least squares",
    advice="Your error is score minus label. What should a label 0 or 1 be compared with?",
)
def _(w, X, y):
    return X.T @ (X @ w - y) / len(y)


@nll_grad.wrong(
    "gradient of the squared error of p",
    advice="The factor p(1 - p) is the slope of the sigmoid. In the derivation something cancels it: what?",
)
def _(w, X, y):
    p = expit(X @ w)
    return X.T @ ((p - y) * p * (1 - p)) / len(y)


@nll_grad.wrong(
    "hard labels for probabilities",
    advice="A row on the right side still pulls, more weakly the surer it is. Do you round p to 0 or 1?",
)
def _(w, X, y):
    return X.T @ ((X @ w > 0) - y) / len(y)


@nll_grad.wrong(
    "divides by the number of weights",
    advice="The mean runs over the rows: how many are there?",
)
def _(w, X, y):
    return X.T @ (expit(X @ w) - y) / len(w)


@nll_grad.wrong(
    "infinity over infinity",
    advice="For a score of 1000 exp(s) / (1 + exp(s)) is inf / inf, not 1. Use your sigmoid.",
)
def _(w, X, y):
    with np.errstate(over="ignore", invalid="ignore"):
        e = np.exp(X @ w)
        return X.T @ (e / (1 + e) - y) / len(y)


@nll_grad.wrong(
    "a column instead of a vector",
    advice="The gradient has the shape of w, (d,). Did you turn it into a column?",
)
def _(w, X, y):
    return (X.T @ (expit(X @ w) - y) / len(y))[:, None]


@nll_grad.right("one row at a time, lists")
def _(w, X, y):
    total = [0.0] * len(w)
    for row, label in zip(X, y, strict=True):
        error = expit(sum(a * b for a, b in zip(row, w, strict=True))) - label
        total = [t + error * x / len(y) for t, x in zip(total, row, strict=True)]
    return total


@nll_grad.right("by autograd")
def _(w, X, y):
    v = torch.from_numpy(w).clone().requires_grad_()
    s = torch.from_numpy(X) @ v
    torch.nn.functional.binary_cross_entropy_with_logits(
        s, torch.from_numpy(y)
    ).backward()
    return v.grad


# ---------------------------------------------------------------- Newton

newton = Exercise(
    "newton",
    reference=reference.newton_path,
    # the reference takes another road (QR of weighted rows); six steps keep ten digits
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("X", "y"),
    hints=[
        "One step needs the gradient g and the Hessian H of the whole objective, penalty included, at the last point. Both are means over the rows.",
        "D is diagonal: 0 for the intercept, lam for the others. g = X.T @ (p - y) / n + D w and H = X.T @ (v * X) / n + D, where v = p (1 - p) weighs the rows.",
        "In a loop: p = expit(X @ w); build g and H ((X.T * v) @ X / n + np.diag(D)); w = w - np.linalg.solve(H, g); append w. Start from np.zeros(d).",
    ],
)


@newton.cases
def _(rng):
    X, y = rows(rng, 20, 3)
    yield "no penalty", dict(X=X, y=y, lam=0.0, steps=3)
    X, y = rows(rng, 20, 3)
    yield "ridge", dict(X=X, y=y, lam=0.5, steps=4)
    X, y = rows(rng, 10, 2)
    yield "settled long before the last step", dict(X=X, y=y, lam=1.0, steps=12)
    x = rng.uniform(0.5, 1.5, 8)
    X = np.column_stack([np.ones(8), np.where(np.arange(8) < 3, 2 + x, 1 - x)])
    yield (
        "separable data with ridge",
        dict(X=X, y=(np.arange(8) < 3) * 1.0, lam=0.1, steps=5),
    )
    y = np.array([1.0, 0, 0, 0, 1, 0, 0, 0])
    yield (
        "an intercept alone is not penalised",
        dict(X=np.ones((8, 1)), y=y, lam=2.0, steps=4),
    )
    X, y = rows(rng, 6, 2)
    yield "zero steps return the start", dict(X=X, y=y, lam=0.1, steps=0)


def _newton(
    X, y, lam, steps, D=None, weight=lambda p: p * (1 - p), scale=None, sign=-1, H_lam=1
):
    n, d = X.shape
    scale = n if scale is None else scale
    D = lam * (np.arange(d) > 0) if D is None else D
    path = [np.zeros(d)]
    for _ in range(steps):
        p = expit(X @ path[-1])
        g = X.T @ (p - y) / scale + D * path[-1]
        H = (X.T * weight(p)) @ X / scale + H_lam * np.diag(D)
        path.append(path[-1] + sign * np.linalg.solve(H, g))
    return np.array(path)


@newton.wrong(
    "the intercept is penalised too",
    advice="The first weight is the intercept. What is its entry in D, in the gradient and in the Hessian?",
)
def _(X, y, lam, steps):
    return _newton(X, y, lam, steps, D=np.full(X.shape[1], lam))


@newton.wrong(
    "sums for the rows, lam for the penalty",
    advice="The objective holds the mean loss. Without a penalty a factor n cancels in the step, with one it does not.",
)
def _(X, y, lam, steps):
    return _newton(X, y, lam, steps, scale=1)


@newton.wrong(
    "the penalty is missing in the Hessian",
    advice="The penalty has a second derivative as well. Which matrix is it?",
)
def _(X, y, lam, steps):
    return _newton(X, y, lam, steps, H_lam=0)


@newton.wrong(
    "the penalty counts twice",
    advice="The objective holds lam/2 times the squares. What is left of the factor after one derivative, and after two?",
)
def _(X, y, lam, steps):
    return _newton(X, y, 2 * lam, steps)


@newton.wrong(
    "uphill",
    advice="Does the objective fall from step to step? Look at the sign in front of the solve.",
)
def _(X, y, lam, steps):
    path = _newton(X, y, lam, min(steps, 2), sign=1)
    return path[np.minimum(np.arange(steps + 1), 2)]


@newton.wrong(
    "rows weighed with p",
    advice="The Hessian's weights are the slope of the sigmoid at each score. What is it at p = 1?",
)
def _(X, y, lam, steps):
    return _newton(X, y, lam, steps, weight=lambda p: p)


@newton.wrong(
    "the Hessian stays that of the start",
    advice="Newton's method measures the curvature anew at each point. Where do you compute the Hessian?",
)
def _(X, y, lam, steps):
    return _newton(X, y, lam, steps, weight=lambda p: np.full_like(p, 0.25))


@newton.wrong(
    "only the last weights",
    advice="The text asks for all steps + 1 iterates, the start included.",
)
def _(X, y, lam, steps):
    return _newton(X, y, lam, steps)[-1]


@newton.wrong(
    "one array, changed in place and appended again and again",
    advice="All rows of your path are equal. w -= … changes the very array that the list holds: what does w = w - … do?",
)
def _(X, y, lam, steps):
    return _newton(X, y, lam, steps)[[-1] * (steps + 1)]


@newton.wrong(
    "stops when it has converged",
    advice="The text asks for steps + 1 rows, also when the path has settled before.",
)
def _(X, y, lam, steps):
    path = _newton(X, y, lam, steps)
    moved = np.flatnonzero(np.linalg.norm(np.diff(path, axis=0), axis=1) > 1e-6)
    return path[: moved[-1] + 2] if len(moved) else path[:1]


@newton.wrong(
    "the start is left out",
    advice="path[0] is the start, zeros. How many rows has a path of so many steps?",
)
def _(X, y, lam, steps):
    return _newton(X, y, lam, steps)[1:]


@newton.right("weighted least squares")
def _(X, y, lam, steps):
    n, d = X.shape
    w, path = np.zeros(d), [np.zeros(d)]
    penalty = np.sqrt(n * lam) * np.diag(np.arange(d) > 0)
    for _ in range(steps):
        s = X @ w
        p = expit(s)
        v = p * (1 - p)
        z = s + (y - p) / v
        A = np.vstack([np.sqrt(v)[:, None] * X, penalty])
        w = np.linalg.lstsq(
            A, np.concatenate([np.sqrt(v) * z, np.zeros(d)]), rcond=None
        )[0]
        path.append(w)
    return path


@newton.right("sums everywhere, the penalty times n")
def _(X, y, lam, steps):
    return _newton(X, y, lam * len(y), steps, scale=1)


@newton.right("torch's Hessian")
def _(X, y, lam, steps):
    A, t = torch.from_numpy(X), torch.from_numpy(y)

    def loss(w):
        nll = torch.nn.functional.binary_cross_entropy_with_logits(A @ w, t)
        return nll + lam / 2 * w[1:].square().sum()

    path = [torch.zeros(X.shape[1], dtype=torch.float64)]
    for _ in range(steps):
        w = path[-1].clone().requires_grad_()
        (g,) = torch.autograd.grad(loss(w), w)
        H = torch.autograd.functional.hessian(loss, w.detach())
        path.append(path[-1] - torch.linalg.solve(H, g))
    return torch.stack(path)


newton.limit = 5.0  # torch's Hessian is slow when first called


# ---------------------------------------------------------------- decisions

decide = Exercise(
    "decide",
    reference=reference.decisions,
    compare=exact(),
    batched=("X", "w"),
    hints=[
        "The text gives the average cost of saying 1 and of saying 0. Both depend on p: which rises with p, which falls?",
        "Set the two costs equal, (1 - p) c_fp = p c_fn, and solve for p. On which side of that p is saying 1 cheaper?",
        "The threshold is c_fp / (c_fp + c_fn). Compare expit(X @ w) with it, strictly, and turn the truth values into integers.",
    ],
)


def _ladder(rng, n=12):
    """Rows whose scores climb evenly from -4 to 4, with a little jitter, in random order."""
    w = away(rng, 2)
    s = rng.permutation(np.linspace(-4, 4, n)) + rng.uniform(-0.1, 0.1, n)
    return dict(X=np.column_stack([np.ones(n), (s - w[0]) / w[1]]), w=w)


@decide.cases
def _(rng):
    yield "a miss costs more", dict(**_ladder(rng), c_fp=1.0, c_fn=rng.uniform(7, 9))
    yield (
        "a false alarm costs more",
        dict(**_ladder(rng), c_fp=rng.uniform(14, 20), c_fn=2.0),
    )
    yield (
        "equal costs: the side of the hyperplane",
        dict(**_ladder(rng), c_fp=3.0, c_fn=3.0),
    )
    a, b = (float(v) for v in rng.integers(1, 5, 2))
    X = np.array([[1.0, 0.0], [1.0, a], [1.0, -b]])
    yield (
        "on the hyperplane, equal costs: say 0",
        dict(X=X, w=np.array([0.0, 1.0]), c_fp=2.0, c_fn=2.0),
    )
    yield "a miss is a catastrophe", dict(**_ladder(rng, 6), c_fp=1.0, c_fn=1e6)


@decide.wrong(
    "always one half",
    advice="At p = 0.4, what does saying 0 cost on average when a miss costs nine times a false alarm?",
)
def _(X, w, c_fp, c_fn):
    return (X @ w > 0).astype(int)


@decide.wrong(
    "the costs are swapped",
    advice="When a miss is the costly mistake, do you say 1 more often or less often?",
)
def _(X, w, c_fp, c_fn):
    return (expit(X @ w) > c_fn / (c_fp + c_fn)).astype(int)


@decide.wrong(
    "a score compared with a probability",
    advice="The threshold lies between 0 and 1. On which scale do you compare with it?",
)
def _(X, w, c_fp, c_fn):
    return (X @ w > c_fp / (c_fp + c_fn)).astype(int)


@decide.wrong(
    "the ratio of the costs as threshold",
    advice="c_fp / c_fn is a threshold for the odds p / (1 - p). For equal costs it is 1: which p exceeds that?",
)
def _(X, w, c_fp, c_fn):
    return (expit(X @ w) > c_fp / c_fn).astype(int)


@decide.wrong(
    "says 1 on a tie",
    advice="Where both answers cost the same, the text asks for 0.",
)
def _(X, w, c_fp, c_fn):
    return (expit(X @ w) >= c_fp / (c_fp + c_fn)).astype(int)


@decide.wrong(
    "labels -1 and 1",
    advice="The labels of this notebook are 0 and 1.",
)
def _(X, w, c_fp, c_fn):
    return np.where(X @ w > np.log(c_fp / c_fn), 1, -1)


@decide.right("expected costs compared")
def _(X, w, c_fp, c_fn):
    p = expit(X @ w)
    return (p * c_fn > (1 - p) * c_fp).astype(float)


@decide.right("log-odds, truth values")
def _(X, w, c_fp, c_fn):
    return X @ w > np.log(c_fp) - np.log(c_fn)


@decide.right("a list")
def _(X, w, c_fp, c_fn):
    return [int(expit(row @ w) > c_fp / (c_fp + c_fn)) for row in X]


# ---------------------------------------------------------------- reliability

reliability = Exercise(
    "reliability",
    reference=reference.reliability,
    compare=close(rtol=1e-9, atol=1e-12),
    batched=("p", "y"),
    hints=[
        "First find the bin of each row: with B bins, p = 0.37 belongs to bin floor(0.37 B). Which p would land in a bin that does not exist?",
        "index = floor(p * bins) as integers, at most bins - 1. Then for each bin three numbers of its rows: mean of p, mean of y, how many.",
        "Start from np.zeros((bins, 3)). For b in range(bins): mine = index == b; if mine.any(), fill row b with p[mine].mean(), y[mine].mean(), mine.sum().",
    ],
)


def _in_bins(rng, bins, counts):
    """p in the inner part of its bin, labels mixed wherever a bin has two rows or more."""
    index = np.repeat(np.arange(bins), counts)
    p = (index + rng.uniform(0.1, 0.9, len(index))) / bins
    y = (rng.random(len(p)) < 0.5).astype(float)
    starts = np.flatnonzero(np.diff(index, prepend=-1))
    for start, count in zip(starts, [c for c in counts if c], strict=True):
        if count > 1:
            y[start : start + 2] = 0, 1
    order = rng.permutation(len(p))
    return dict(p=p[order], y=y[order], bins=bins)


@reliability.cases
def _(rng):
    yield "every bin is filled", _in_bins(rng, 4, [7, 3, 2, 4])
    yield "every bin is filled", _in_bins(rng, 3, [2, 5, 3])
    yield "empty bins are zero", _in_bins(rng, 5, [4, 0, 3, 0, 2])
    p = rng.permutation(
        np.append(rng.uniform(0.3, 0.38, 5), 0.7)
    )  # a range far from [0, 1]
    yield (
        "empty bins are zero",
        dict(p=p, y=rng.permutation([0.0, 1, 0, 1, 1, 0]), bins=4),
    )
    yield "a single bin", _in_bins(rng, 1, [6])
    p = rng.permutation(np.array([0.0, 0.25, 0.5, 0.75, 1.0, 0.1, 0.6]))
    yield (
        "probabilities on the edges",
        dict(p=p, y=(rng.random(7) < 0.5).astype(float), bins=4),
    )


def _table(p, y, index, bins, first=None):
    table = np.zeros((bins, 3))
    for b in range(bins):
        mine = index == b
        if mine.any():
            table[b] = p[mine].mean(), y[mine].mean(), mine.sum()
    return table


def _index(p, bins):
    return np.minimum((p * bins).astype(int), bins - 1)


@reliability.wrong(
    "bins of equal size",
    advice="The bins cut [0, 1] into equal intervals. Do yours hold equally many rows instead?",
)
def _(p, y, bins):
    rank = np.argsort(np.argsort(p))
    return _table(p, y, rank * bins // len(p), bins)


@reliability.wrong(
    "the middle of the bin for the mean probability",
    advice="Rows need not sit in the middle of their bin. What is the mean of their probabilities?",
)
def _(p, y, bins):
    table = _table(p, y, _index(p, bins), bins)
    table[:, 0] = np.where(table[:, 2] > 0, (np.arange(bins) + 0.5) / bins, 0)
    return table


@reliability.wrong(
    "share of right answers",
    advice="A probability of 0.1 promises a label 1 in one of ten rows. Do you average the labels, or whether the prediction was right?",
)
def _(p, y, bins):
    return _table(p, (p > 0.5) == (y > 0.5), _index(p, bins), bins)


@reliability.wrong(
    "the probability 1 is lost",
    advice="In which bin does p = 1 land? Add up your counts.",
)
def _(p, y, bins):
    return _table(p, y, (p * bins).astype(int), bins)


@reliability.wrong(
    "edges belong to the bin below",
    advice="Bin b starts at b / bins, that edge included. Where does p = 0.25 go with four bins?",
)
def _(p, y, bins):
    return _table(p, y, np.maximum(np.ceil(p * bins).astype(int) - 1, 0), bins)


@reliability.wrong(
    "empty bins are not a number",
    advice="The mean of no rows is 0 / 0. What does the text put there?",
)
def _(p, y, bins):
    table = _table(p, y, _index(p, bins), bins)
    table[table[:, 2] == 0, :2] = np.nan
    return table


@reliability.wrong(
    "edges belong to both bins",
    advice="A row with p on an edge is counted twice. Do your counts add up to the number of rows?",
)
def _(p, y, bins):
    table = np.zeros((bins, 3))
    for b in range(bins):
        mine = (p >= b / bins) & (p <= (b + 1) / bins)
        if mine.any():
            table[b] = p[mine].mean(), y[mine].mean(), mine.sum()
    return table


@reliability.wrong(
    "bins from the lowest to the highest probability",
    advice="The bins cut [0, 1], not the range of the probabilities that occur.",
)
def _(p, y, bins):
    edges = np.linspace(p.min(), p.max(), bins + 1)
    return _table(p, y, np.clip(np.digitize(p, edges) - 1, 0, bins - 1), bins)


@reliability.wrong(
    "empty bins are left out",
    advice="Your table has fewer rows than bins. What does the text put for an empty bin?",
)
def _(p, y, bins):
    table = _table(p, y, _index(p, bins), bins)
    return table[table[:, 2] > 0]


@reliability.right("histograms with weights")
def _(p, y, bins):
    count, a, b = (np.histogram(p, bins, (0, 1), weights=v)[0] for v in (None, p, y))
    return np.column_stack([a, b, count]) / np.column_stack(
        [np.maximum(count, 1)] * 2 + [count**0]
    )


@reliability.right("np.digitize")
def _(p, y, bins):
    index = np.minimum(np.digitize(p, np.linspace(0, 1, bins + 1)) - 1, bins - 1)
    return _table(p, y, index, bins).astype(np.float64)


@reliability.right("a list of tuples")
def _(p, y, bins):
    boxes = [[] for _ in range(bins)]
    for prob, label in zip(p, y, strict=True):
        boxes[min(int(prob * bins), bins - 1)].append((prob, label))
    out = []
    for box in boxes:
        k = max(len(box), 1)
        out.append((sum(a for a, _ in box) / k, sum(b for _, b in box) / k, len(box)))
    return out

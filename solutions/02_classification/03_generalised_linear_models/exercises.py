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
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("X", "w", "y"),
    hints=[
        "All three losses share one gradient. Only one thing in it depends on the family: which?",
        "Scores first, eta = X @ w. Then the means: one line of the table for each family. Then the errors, mean minus y.",
        "Each row pulls with its error times its x. X.T @ errors sums that over the rows; the loss is a mean.",
    ],
)


def targets(rng, family, n):
    """Targets in the support, neither all alike nor in balance."""
    if family == "gaussian":
        return rng.normal(1.0, 2.0, n)
    if family == "bernoulli":
        return rng.permutation(np.arange(n) % 3 == 0) * 1.0
    return rng.permutation(np.arange(n) % 5) * 1.0


def rows(rng, family, n=7, d=3):
    """X with a column of ones, features of both signs; targets; weights of both signs."""
    signs = rng.choice([-1, 1], (n, d - 1))
    X = np.column_stack([np.ones(n), rng.uniform(0.3, 1.2, (n, d - 1)) * signs])
    w = rng.uniform(0.2, 0.5, d) * np.array([1, -1, 1])[:d]
    return dict(X=X, y=targets(rng, family, n), w=w, family=family)


@glm_grad.cases
def _(rng):
    for family in ("gaussian", "bernoulli", "poisson"):
        yield f"the {family} family", rows(rng, family)
        yield (
            "whole numbers",
            rows(rng, family)
            | dict(
                X=np.array([[2, 1], [1, -1], [0, 2]]),  # no column of ones
                w=rng.permutation([2, -1]),
                y=np.array([0, 1, 1]),
            ),
        )
        yield "a single row", rows(rng, family, n=1)
    yield "counts that are all zero", rows(rng, "poisson") | dict(y=np.zeros(7))
    sure = rows(rng, "poisson")  # means far above e²
    sure["w"][0] = rng.uniform(4, 5)
    yield "large means", sure
    sides = np.array([1, -1, 1, -1, -1, 1, -1])
    certain = rows(rng, "bernoulli") | dict(w=np.array([0.5, 20, 0.2]))
    certain["X"][:, 1] = sides * rng.uniform(0.5, 1.2, 7)  # scores of ±10 and more
    yield "probabilities near 0 and near 1", certain
    perfect = rows(rng, "gaussian")
    perfect["y"] = perfect["X"] @ perfect["w"]
    yield "a perfect fit has gradient 0", perfect


MEANS = {"gaussian": lambda z: z, "bernoulli": expit, "poisson": np.exp}

glm_grad.mistakes(
    {
        "the sum over rows, not the mean": (
            " / len(y)",
            "",
            "Would your gradient double if every row were written twice? The loss is a mean over rows.",
        ),
        "the sign is turned": (
            "mu - y",
            "y - mu",
            "This is the gradient of a loss. If every mean is too large, should the weight of a positive feature rise or fall along minus the "
            "gradient?",
        ),
        "the score is taken for the mean of a count": (
            "np.exp(eta)",
            "eta",
            "A score may be negative. Can the mean of a count?",
        ),
        "divided by the number of features": (
            "len(y)",
            "X.shape[1]",
            "The loss is a mean over rows. By which of the two sizes of X do you divide?",
        ),
        "the sigmoid for counts": (
            "np.exp(eta)",
            "expit(eta)",
            "Counts have means above 1, too. Which line of the table is theirs?",
        ),
        "the mean of a count is held below e²": (
            "np.exp(eta)",
            "np.exp(np.minimum(eta, 2))",
            "A mean of 100 deaths is possible. What does your code make of its score?",
        ),
    }
)


@glm_grad.wrong(
    "the slope of the inverse link is multiplied in",
    advice="The derivative of A(η) − yη by η is μ − y, and then x. Where does one more slope come from?",
)
def _(X, y, w, family):
    mu = MEANS[family](X @ w)
    slopes = {"gaussian": mu**0, "bernoulli": mu * (1 - mu), "poisson": mu}
    return X.T @ ((mu - y) * slopes[family]) / len(y)


@glm_grad.wrong(
    "the Gaussian gradient is that of the squared error",
    advice="The Gaussian A is half a square, as the table has it. Where does your 2 come from?",
)
def _(X, y, w, family):
    grad = X.T @ (MEANS[family](X @ w) - y) / len(y)
    return 2 * grad if family == "gaussian" else grad


glm_grad.worked(
    why="""A row costs A(eta) - y eta, and A' is the mean: so its slope by the score is mean minus target, in every family. The score
    moves with w by x, hence the features times the errors. Only the line from score to mean knows the family."""
)


@glm_grad.right("one row at a time")
def _(X, y, w, family):
    total = [0.0] * len(w)
    for row, target in zip(X, y, strict=True):
        error = MEANS[family](sum(a * b for a, b in zip(row, w, strict=True))) - target
        total = [t + error * a / len(y) for t, a in zip(total, row, strict=True)]
    return total


@glm_grad.right("by torch's losses", library="torch.nn.functional")
def _(X, y, w, family):
    F = torch.nn.functional
    X, y = (torch.as_tensor(a, dtype=torch.float64) for a in (X, y))
    w = torch.tensor(np.asarray(w, float), requires_grad=True)
    if family == "gaussian":
        loss = F.mse_loss(X @ w, y) / 2
    elif family == "bernoulli":
        loss = F.binary_cross_entropy_with_logits(X @ w, y)
    else:
        loss = F.poisson_nll_loss(X @ w, y)
    loss.backward()
    return w.grad


glm_grad.limit = 5.0  # torch's first loss on a busy machine

# ---------------------------------------------------------------- softmax

softmax = Exercise(
    "softmax",
    reference=reference.softmax,
    compare=close(rtol=1e-6, atol=1e-12),
    batched=("Z",),
    hints=[
        "np.exp(1000) is inf. Which number may you subtract from all scores of a row without changing its probabilities?",
        "Divide by T first. Then subtract each row's own maximum (keepdims=True keeps the shape), exponentiate, divide each row by its sum.",
        "S.max(axis=1, keepdims=True) is a column of maxima, and fits for subtraction from S = Z / T. The sums want the same two keywords.",
    ],
)


def scores(rng, n, K):
    """Scores whose gaps are about one, in another order from row to row."""
    steps = np.arange(K) + rng.uniform(-0.2, 0.2, (n, K))
    return np.array([np.roll(row, shift) for shift, row in enumerate(steps)])


@softmax.cases
def _(rng):
    yield "rows that sum to 1", dict(Z=scores(rng, 4, 3), T=1.0)
    yield "a temperature", dict(Z=scores(rng, 3, 4), T=2.5)
    yield "a temperature", dict(Z=scores(rng, 3, 3), T=0.5)
    eighths = np.round(8 * scores(rng, 3, 3)) / 8  # exact in float32, +10,000 too
    huge = eighths + np.array([[1e4], [0.0], [-1e4]])
    far = eighths[:2, [0, 1, 2, 1]] + np.array([[1e4, 1e4, 1e4, -1e4], [-1e4, 0, 0, 0]])
    yield "scores of ten thousand and of minus ten thousand", dict(Z=huge, T=1.0)
    yield "scores of ten thousand and of minus ten thousand", dict(Z=far, T=1.0)
    large = 2000 * scores(rng, 3, 3)
    near = np.column_stack([large, large[:, 0] - 0.0005])  # nearly a tie, once on top
    yield "large scores at a high temperature", dict(Z=near, T=1600.0)
    yield "equal scores", dict(Z=np.full((2, 4), rng.normal()), T=1.0)
    yield "a single class", dict(Z=rng.normal(size=(3, 1)), T=1.0)
    yield "cold: nearly all on one class", dict(Z=scores(rng, 2, 3), T=0.05)
    yield "hot: nearly even", dict(Z=scores(rng, 2, 3), T=20.0)
    yield "whole numbers", dict(Z=rng.permutation([3, 0, -2, 2]).reshape(2, 2), T=2)


softmax.mistakes(
    {
        "overflows for large scores": (
            "S - S.max(axis=1, keepdims=True)",
            "S",
            "np.exp overflows above about 709. Probabilities depend on differences of scores only.",
        ),
        "one maximum for the whole table": (
            "S.max(axis=1, keepdims=True)",
            "S.max()",
            "Subtract the largest of all scores, and what is left of a row whose scores are far below it?",
        ),
        "normalised over the whole table": (
            "E.sum(axis=1, keepdims=True)",
            "E.sum()",
            "Which numbers must sum to 1: a row or the table?",
        ),
        "normalised down the columns": (
            "E.sum(axis=1, keepdims=True)",
            "E.sum(axis=0)",
            "A row is one observation. Do your rows sum to 1?",
        ),
        "multiplies by the temperature": (
            "Z / T",
            "Z * T",
            "A high temperature makes probabilities more alike. Does yours?",
        ),
        "ignores the temperature": (
            "Z / T",
            "Z",
            "Two temperatures, one result: where does T enter?",
        ),
        "another number of the row is subtracted, not its maximum": (
            "S.max(axis=1",
            "S.mean(axis=1",
            "After the subtraction, how large can the largest score of a row still be?",
        ),
        "the temperature divides the scores but not their maximum": (
            "S - S.max(",
            "S - Z.max(",
            "Which of the two terms of the difference is divided by T in your code?",
        ),
    }
)


@softmax.wrong(
    "the temperature comes after the probabilities",
    advice="A probability that underflowed to 0 stays 0 at every temperature. What must T divide, and when?",
)
def _(Z, T=1.0):
    P = scipy_softmax(Z, axis=1) ** (1 / T)
    return P / P.sum(axis=1, keepdims=True)


softmax.equivalent(
    {
        "E = np.exp(S - S.max(axis=1, keepdims=True)) → E = -np.exp(S - S.max(axis=1, keepdims=True))": "Returns (n, K): exp(Z / T) divided by its row sums, without overflow."
    }
)
softmax.worked(
    why="""A number that is subtracted from all scores of a row cancels in the quotient. With the row's own maximum the largest exponent is 0: one term of
    the sum is 1, nothing overflows, and what underflows is too small to matter. Divide by T before, so that the maximum is that of the
    divided scores."""
)


@softmax.right("through the log-sum-exp")
def _(Z, T=1.0):
    return np.exp(Z / T - logsumexp(Z / T, axis=1, keepdims=True))


@softmax.right("one row at a time, as lists")
def _(Z, T=1.0):
    table = []
    for row in Z:
        weights = [math.exp((z - max(row)) / T) for z in row]
        table.append([w / sum(weights) for w in weights])
    return table


@softmax.right("by SciPy", library="scipy.special.softmax")
def _(Z, T=1.0):
    from scipy.special import softmax

    return softmax(Z / T, axis=1)


# ---------------------------------------------------------------- softmax regression

softmax_grad = Exercise(
    "softmax_grad",
    reference=reference.softmax_grad,
    compare=close(rtol=1e-6, atol=1e-10),
    batched=("W", "X", "labels"),
    hints=[
        "Three tables of one shape (n, K): the scores, the probabilities, the one-hot labels. Loss and gradient need nothing else.",
        "Row labels[i] of the K × K identity matrix is the one-hot label of row i; K is the number of columns of W. The sum of Y * Z over a row is the score "
        "of its true class.",
        "A row costs logsumexp of its scores (axis=1) minus the score of its true class; take the mean. The gradient is features times errors, "
        "softmax(Z) - Y, also a mean over the rows.",
    ],
)


def problem(rng, n, d, K):
    """Clear weights; the first rows are wrong, so that no loss vanishes; labels in no balance."""
    X = rng.uniform(0.5, 1.5, (n, d)) * rng.choice([-1.0, 1.0], (n, d))
    spread = np.array([np.roll(np.linspace(-1.5, 1.5, K), j) for j in range(d)])
    W = spread * rng.uniform(0.8, 1.2, (d, K))
    losers = (X @ W).argmin(axis=1)
    labels = np.where(np.arange(n) % 2 == 0, losers, (losers + 1) % K)
    return dict(W=W, X=X, labels=labels)


@softmax_grad.cases
def _(rng):
    yield "three classes", problem(rng, 6, 2, 3)
    yield "more features than classes", problem(rng, 6, 4, 2)
    yield "all weights zero", problem(rng, 5, 2, 4) | dict(W=np.zeros((2, 4)))
    sure = problem(rng, 4, 2, 3)
    yield "sure and wrong by a thousand", sure | dict(X=1000 * sure["X"])
    unlike = problem(rng, 4, 2, 3)
    unlike["X"][0] *= 1e4  # no maximum serves this row and the others
    yield "rows of very different scores", unlike
    W = -rng.permutation([0.0, 1, 2])[None]  # no exponential overflows
    low = dict(W=W, X=np.full((2, 1), 1000.0), labels=W.argmin(1).repeat(2))
    yield "the true class is a thousand below", low
    yield "a single row", problem(rng, 1, 3, 3)
    for absent in (3, 0):  # the last class, the first class
        some = problem(rng, 5, 2, 4)
        labels = rng.permutation([1, 2, 1, 2, 3 - absent])
        yield "a class is absent", some | dict(labels=labels)
    X, W = np.array([[1, 2], [1, -1], [1, 0]]), rng.permutation([2, -1, 0, 1, -2, 3])
    yield "whole numbers", dict(X=X, W=W.reshape(2, 3), labels=np.array([1, 0, 1]))


softmax_grad.mistakes(
    {
        "the loss is a sum": (
            "np.mean(",
            "np.sum(",
            "If every row stood there twice, would your loss double?",
        ),
        "the gradient is a sum": (
            " / len(X)",
            "",
            "The loss is a mean over rows. What must its gradient be divided by?",
        ),
        "the gradient is a mean over rows and classes": (
            "/ len(X)",
            "/ Y.size",
            "The loss is a mean over rows and a sum over classes. What did you divide by?",
        ),
        "the sign of the gradient is turned": (
            "softmax(Z) - Y",
            "Y - softmax(Z)",
            "Along minus the gradient, does the score of the true class rise?",
        ),
        "classes are counted from 1": (
            "np.eye(W.shape[1])[labels]",
            "np.eye(W.shape[1])[labels - 1]",
            "Which column of W scores label 0?",
        ),
        "the score of the true class alone": (
            "logsumexp(Z, axis=1) - np.sum(Y * Z, axis=1)",
            "-np.sum(Y * Z, axis=1)",
            "Raising all scores together changes no probability. Does it change your loss?",
        ),
        "the log-sum-exp overflows": (
            "logsumexp(Z, axis=1)",
            "np.log(np.exp(Z).sum(axis=1))",
            "np.exp overflows above about 709. Which function of SciPy takes the log of a sum of exponentials safely?",
        ),
        "every class is treated as the true one": (
            "softmax(Z) - Y",
            "softmax(Z) - 1",
            "There are two cases: k is the true class of row n, or it is not. Which number of the labels tells them apart?",
        ),
        "only the true class is moved": (
            "(softmax(Z) - Y)",
            "(Y * (softmax(Z) - 1))",
            "Raising the score of a wrong class lowers the true class's probability. Is your gradient zero there?",
        ),
        "the log of a probability that underflowed": (
            "np.mean(logsumexp(Z, axis=1) - np.sum(Y * Z, axis=1))",
            "-np.mean(np.log(np.sum(Y * softmax(Z), axis=1)))",
            "A probability of e^-1000 is 0 in floating point. Can you write its log without passing through the probability?",
        ),
    }
)


@softmax_grad.wrong(
    "the gradient has one row a class",
    advice="The gradient has the shape of W: one column a class.",
)
def _(W, X, labels):
    loss, gradient = _two_cases(W, X, labels)
    return loss, gradient.T


softmax_grad.worked(
    why="""The one-hot table turns "the score of the true class" into a sum and "minus 1, but only there" into a subtraction: both cases in one line.
    The loss is written with scores, so no probability is rounded to 0 before its logarithm is taken. `np.eye(K)[labels]` picks one row of the
    identity for each label."""
)


@softmax_grad.right("the two cases, row by row")
def _two_cases(W, X, labels):
    loss, grad = 0.0, np.zeros(W.shape)
    for x, c in zip(X, labels, strict=True):
        log_p = log_softmax(x @ W)
        loss -= log_p[c] / len(X)
        for k in range(W.shape[1]):
            slope = np.exp(log_p[k]) - 1 if k == c else np.exp(log_p[k])
            grad[:, k] += slope * x / len(X)
    return loss, grad


@softmax_grad.right("by torch", library="torch.nn.functional.cross_entropy")
def _(W, X, labels):
    X = torch.as_tensor(X, dtype=torch.float64)
    W = torch.tensor(np.asarray(W, float), requires_grad=True)
    loss = torch.nn.functional.cross_entropy(X @ W, torch.as_tensor(labels))
    loss.backward()
    return loss.detach(), W.grad


softmax_grad.limit = 5.0  # torch's first loss on a busy machine

# ---------------------------------------------------------------- one machine

GLM = Exercise(
    "GLM",
    reference=reference.machine,
    compare=close(rtol=1e-6, atol=1e-9),
    data_dependent="steps are halved where the loss falls too little, and end where it is flat",
    hints=[
        "Begin with parts: four families, two results each; A is summed over the columns, but for the categorical. Then F(W) as a function inside fit. "
        "Then the loop.",
        "In the loop: the gradient of the newest W, the question of tol, a while loop that halves t, the step, its loss, and t doubled for the next round. "
        "losses[-1] is F(W) all the while.",
        "F is the mean of A minus np.sum(Y * Z, axis=1). G = X.T @ (means - Y) / len(X), and ‖G‖² is np.sum(G**2). There are max_steps + 1 losses at "
        "most: let the loop ask len(losses).",
    ],
)


@GLM.probe
def _(
    answer,
    family,
    X=None,
    Y=None,
    tol=None,
    max_steps=None,
    new_X=None,
    Z=None,
    times=1,
):
    model = answer(family)
    if Z is not None:
        A, means = model.parts(Z)
        return dict(A=A, means=means)
    for _ in range(times):
        losses = model.fit(X, Y, tol, max_steps)
    return dict(losses=losses, W=model.W, means=model.predict(new_X))


FAMILIES = ("gaussian", "bernoulli", "poisson", "categorical")


def table(rng, family, n=8, d=3, m=2, scale=1.0, **run):
    """A case of fit; several targets a row, none in balance, each class of a categorical one there.

    One table in another order of rows and targets, with other signs of the features: each draw takes as long steps.
    """
    same = np.random.default_rng(3)
    X, order = rows(same, "gaussian", n=n, d=d)["X"], rng.permutation(n)
    if family == "categorical":
        Y = np.eye(m)[same.permutation(np.arange(n) % m)]
    else:
        Y = np.column_stack([targets(same, family, n) for _ in range(m)])
    signs = np.append(1, rng.choice([-1, 1], d - 1)) * np.append(
        1, np.full(d - 1, scale)
    )
    new_X = rows(rng, "gaussian", n=3, d=d)["X"]
    new = dict(X=X[order] * signs, Y=Y[order][:, rng.permutation(m)], new_X=new_X)
    return dict(family=family) | new | run


ONES = np.ones((2, 1))


@GLM.cases
def _(rng):
    for family in FAMILIES:
        yield f"parts, {family}", dict(family=family, Z=scores(rng, 4, 3))
        yield "parts of a single row", dict(family=family, Z=scores(rng, 1, 3))
        if family in ("bernoulli", "categorical"):
            far = 1000 * rng.permutation([1.0, -1, 0]) + rng.normal(size=3)
            yield "parts of scores of a thousand", dict(family=family, Z=far[None])
            yield f"parts, {family}", dict(family=family, Z=800 * scores(rng, 2, 3))
        if family == "poisson":
            yield f"parts, {family}", dict(family=family, Z=30 * scores(rng, 2, 3))
    for family in FAMILIES:  # after all parts: they can be right before there is a fit
        many = table(rng, family, m=3, tol=0.0, max_steps=5)
        yield f"a few steps, {family}", many
        yield "stops where it is flat", table(rng, family, tol=0.02, max_steps=400)
        if family == "gaussian":  # its last steps gain less than a millionth each
            yield "stops where it is flat", table(rng, family, tol=1e-4, max_steps=400)
        yield "no step at all", table(rng, family, tol=0.0, max_steps=0)
        yield "fitted twice", table(rng, family, tol=0.0, max_steps=3, times=2)
        short = table(rng, family, tol=0.0, max_steps=6)
        short["X"] = 0.05 * short["X"]  # flat curvature: long steps
        yield "t grows where it may", short
        bold = table(rng, family, n=6, scale=150.0, tol=0.0, max_steps=3)
        yield "features in the hundreds", bold
    for tol in (5.0, rng.uniform(4.2, 4.9)):  # ‖G‖ = 5 at the start, its entries 3, 4
        Y = np.array([[3.0, 4.0], [3.0, 4.0]])[:, rng.permutation(2)]
        run = dict(tol=tol, max_steps=2, X=ONES, Y=Y, new_X=ONES)
        yield "the norm is exactly tol, or above", dict(family="gaussian") | run
    factor = 2.0 ** rng.integers(
        0, 4
    )  # curvature 3/2: at t = 1, F(W - G) is on the limit
    X, Y = np.array([[1.0], [1], [2], [0]]), factor * np.array([[1.0], [1], [1], [3]])
    yield (
        "a try exactly on the limit is taken",
        dict(family="gaussian", X=X, Y=Y, new_X=X, tol=0.0, max_steps=1),
    )
    one = table(rng, "poisson", n=1, m=1, tol=1e-3, max_steps=50)
    yield "a single row, a single target", one
    X = np.array([[1, 2], [1, -1], [1, 0], [1, 3]])
    whole = dict(X=X, Y=rng.permutation([0, 1, 1, 0])[:, None], new_X=X[:2])
    for family in ("gaussian", "bernoulli", "poisson"):
        run = dict(family=family, tol=0.01, max_steps=4)
        yield "whole numbers", whole | run
    absent = table(rng, "categorical", m=3, tol=0.0, max_steps=3)
    yield "a class is absent", absent | dict(Y=np.eye(4)[absent["Y"].argmax(1) + 1])


GLM.mistakes(
    {
        "A is averaged over the columns": (
            "A.sum(axis=1), means",
            "A.mean(axis=1), means",
            "With two targets a row has two costs. Are they added?",
        ),
        "the Bernoulli cost overflows": (
            "np.logaddexp(0, Z)",
            "np.log(1 + np.exp(Z))",
            "np.exp(1000) is inf, but log(1 + e^1000) is 1000.",
        ),
        "the log-sum-exp overflows": (
            "logsumexp(Z, axis=1)",
            "np.log(np.exp(Z).sum(axis=1))",
            "np.exp(1000) is inf. Which function of SciPy takes the log of a sum of exponentials safely?",
        ),
        "A of the Gaussian without its half": (
            "Z**2 / 2",
            "Z**2",
            "The derivative of A must be the mean. What is that of z²?",
        ),
        "the gradient is a sum": (
            "(means - Y) / len(X)",
            "(means - Y)",
            "F is a mean over the rows. Would your G double if every row stood there twice?",
        ),
        "uphill": (
            "(means - Y)",
            "(Y - means)",
            "Do your losses fall?",
        ),
        "halved once at most": (
            "while loss(self.W",
            "if loss(self.W",
            "After one halving the try may still be too bold. Do you ask again?",
        ),
        "the step never grows": (
            "t = 2 * t",
            "t = 1.0 * t",
            "A step that was short once stays short. What does the next step try first?",
        ),
        "each step tries t = 1 first": (
            "t = 2 * t",
            "t = 1.0",
            "The text begins with 1. Where do later steps begin?",
        ),
        "any fall is enough": (
            "losses[-1] - t / 4 * square",
            "losses[-1]",
            "By how much must the loss fall for a try to be taken?",
        ),
        "half of what was promised is asked": (
            "t / 4",
            "t / 2",
            "Look at the factor of the limit once more.",
        ),
        "the norm in place of its square": (
            "t / 4 * square",
            "t / 4 * np.sqrt(square)",
            "The limit has the square of the norm in it.",
        ),
        "flat only below tol": (
            "<= tol",
            "< tol",
            "A norm of exactly tol: is that at most tol?",
        ),
        "flat is asked of the largest entry": (
            "np.sqrt(square) <= tol",
            "np.abs(G).max() <= tol",
            "‖G‖ is the root of the sum of all squares.",
        ),
        "flat is asked of the square": (
            "np.sqrt(square) <= tol",
            "square <= tol",
            "‖G‖ is the root of the sum of all squares.",
        ),
        "one step too few": (
            "len(losses) <= max_steps",
            "len(losses) < max_steps",
            "After k steps there are k + 1 losses.",
        ),
        "a second fit goes on from the first": (
            "self.W, t = np.zeros((X.shape[1], Y.shape[1])), 1.0",
            'self.W, t = getattr(self, "W", np.zeros((X.shape[1], Y.shape[1]))), 1.0',
            "Each fit begins at W = 0. Does your second one?",
        ),
        "predicts scores": (
            "return self.parts(X @ self.W)[1]",
            "return X @ self.W",
            "A prediction is a mean. Which function makes one of a score?",
        ),
    }
)

GLM.worked(
    why="""Everything that knows the family stands in `parts`: a cost and a mean for each score. The rest is one descent for all four, since the gradient is
    always features times (mean minus target). The loss tells how long a step may be: a try that falls too little is halved, and after a
    success the next try is bolder. So no curvature need be known, and for counts none could be."""
)


@GLM.right("a mean for each family in a table, losses by log p")
class _:
    MEANS = MEANS | {"categorical": lambda Z: scipy_softmax(Z, axis=1)}

    def __init__(self, family):
        self.family = family

    def parts(self, Z):
        Z = np.asarray(Z, float)
        A = {
            "gaussian": lambda: (Z * Z).sum(1) * 0.5,
            "bernoulli": lambda: (
                -np.log(expit(-np.minimum(Z, 30))).sum(1) + np.maximum(Z - 30, 0).sum(1)
            ),
            "poisson": lambda: np.exp(Z).sum(1),
            "categorical": lambda: Z[:, 0] - log_softmax(Z, axis=1)[:, 0],
        }[self.family]()
        return A, self.MEANS[self.family](Z)

    def fit(self, X, Y, tol, max_steps):
        n, t, W = len(X), 1.0, np.zeros((X.shape[1], Y.shape[1]))
        F = lambda W: (self.parts(X @ W)[0].sum() - (Y * (X @ W)).sum()) / n
        found = [F(W)]
        for _ in range(max_steps):
            G = np.einsum("nd,nm->dm", X, self.MEANS[self.family](X @ W) - Y) / n
            if np.linalg.norm(G) <= tol:
                break
            while True:
                trial = W - t * G
                new = F(trial)
                if new <= found[-1] - t * (G * G).sum() / 4:
                    break
                t *= 0.5
            W, t = trial, 2 * t
            found.append(new)
        self.W = W
        return found

    def predict(self, X):
        return self.MEANS[self.family](X @ self.W)


# ---------------------------------------------------------------- one step of Fisher scoring

glm_step = Exercise(
    "glm_step",
    reference=reference.glm_step,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("X", "w", "y"),
    hints=[
        "Compute four things a row: the score, the mean, the slope at the score, the variance at the mean. Slope takes the score, variance takes the mean.",
        "Two sums over rows. The score vector adds error · slope / variance times x, the information slope² / variance times the matrix x xᵀ. The step "
        "solves information · step = score vector.",
        "X.T @ (X * a[:, None]) is the sum of a · x xᵀ over the rows, and X.T @ b that of b · x. np.linalg.solve(I, U) is the step; add it to w.",
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


def step_case(rng, family, link):
    inputs = rows(rng, family, n=8)
    inputs["w"] = np.array([1.5, 0.2, 0.3]) * rng.uniform(0.5, 1.0, 3)  # scores above 0
    inputs["X"][:, 1:] = rng.uniform(-1, 1, (8, 2))
    return dict(**inputs, link=link)


@glm_step.cases
def _(rng):
    yield "a canonical link", step_case(rng, "bernoulli", "logit")
    yield "a canonical link", step_case(rng, "poisson", "log")
    yield "another link", step_case(rng, "poisson", "sqrt")
    yield "another link", step_case(rng, "bernoulli", "probit")
    yield "another link", step_case(rng, "gaussian", "log")
    yield "another link", step_case(rng, "bernoulli", "cloglog")
    falling = step_case(rng, "poisson", "inverse")
    yield "a mean that falls as the score rises", falling
    both = step_case(rng, "poisson", "sqrt")
    both["X"][::2] *= -1  # negative scores: η² falls there
    yield "a mean that falls as the score rises", both
    yield (
        "least squares arrives in one step",
        step_case(rng, "gaussian", "identity"),
    )
    y = rng.integers(1, 9, 6) * 1.0
    rest = dict(X=np.ones((6, 1)), y=y, w=np.array([np.log(y.mean())]))
    yield "at the optimum nothing moves", rest | dict(family="poisson", link="log")
    one = dict(X=rng.uniform(0.5, 2.0, (1, 1)), y=np.ones(1), w=rng.normal(size=1) / 4)
    yield "one row, one feature", one | dict(family="bernoulli", link="probit")


glm_step.mistakes(
    {
        "the variance is left out of the score vector": (
            "(y - mu) * s / variance(mu)",
            "(y - mu) * s",
            "Rows with a large variance must count for less. Where does the variance enter your score vector?",
        ),
        "the variance is left out of the information": (
            "s**2 / variance(mu)",
            "s**2",
            "Rows with a large variance tell less. Where does the variance enter your information?",
        ),
        "returns the step alone": (
            "return w + np",
            "return np",
            "Is your result the new weights, or how far they move?",
        ),
        "steps away from the optimum": (
            "return w + np",
            "return w - np",
            "Where all means are too small the intercept must grow. Does yours?",
        ),
        "the slope enters the information once": (
            "s**2 / variance(mu)",
            "s / variance(mu)",
            "The information is a square, like XᵀX. How often must the slope stand in it?",
        ),
        "a gradient step without the information": (
            "np.linalg.solve(information, score)",
            "score",
            "Your step goes uphill, but how far? The gradient has to be divided by the information, a matrix.",
        ),
        "the slope is taken at the mean": (
            "slope(eta)",
            "slope(mean(eta))",
            "Slope is a function of the score. What do you pass to it?",
        ),
        "the sign of the slope is lost": (
            "(y - mu) * s / variance(mu)",
            "(y - mu) * np.abs(s) / variance(mu)",
            "Take an inverse link that falls, such as 1/η. When all means are too small, must the score rise or fall?",
        ),
        "the information is averaged, the score vector is not": (
            "X.T @ (X * (s**2 / variance(mu))[:, None])",
            "X.T @ (X * (s**2 / variance(mu))[:, None]) / len(y)",
            "Your step is as many times too long as there are rows. Which of the two is a mean?",
        ),
    }
)


@glm_step.wrong(
    "the formula of the canonical link, whatever the link",
    advice="Slope and variance cancel for one link of each family only. For the square root of a count, do they?",
)
def _(X, y, w, mean, slope, variance):
    mu = mean(X @ w)
    return w + np.linalg.solve(X.T @ (X * variance(mu)[:, None]), X.T @ (y - mu))


@glm_step.wrong(
    "the variance is taken at the score",
    advice="Variance is a function of the mean. What do you pass to it?",
)
def _(X, y, w, mean, slope, variance):
    eta = X @ w
    s, v = slope(eta), variance(eta)
    information = X.T @ (X * (s**2 / v)[:, None])
    return w + np.linalg.solve(information, X.T @ ((y - mean(eta)) * s / v))


glm_step.worked(
    why="""Three functions are all that the step knows of family and link. Each row has an error, weighted by slope over variance, and an information,
    slope squared over variance. Two sums over the rows, one system of equations. Nothing in it asks whether the link is canonical: where
    it is, slope and variance cancel by themselves."""
)


@glm_step.right("calls the functions with one number at a time")
def _(X, y, w, mean, slope, variance):
    eta = X @ w
    mu = np.array([mean(e) for e in eta])
    s, v = np.array([slope(e) for e in eta]), np.array([variance(m) for m in mu])
    return w + np.linalg.pinv((X.T * (s**2 / v)) @ X) @ (X.T @ ((y - mu) * s / v))


@glm_step.right("as a weighted least-squares fit", library="numpy.linalg.lstsq")
def _(X, y, w, mean, slope, variance):
    eta = X @ w
    mu, s = mean(eta), slope(eta)
    root = s / np.sqrt(variance(mu))
    found = np.linalg.lstsq(X * root[:, None], root * (eta + (y - mu) / s), rcond=None)
    return found[0]


# ---------------------------------------------------------------- powers

fit_poly = Exercise(
    "fit_poly",
    reference=reference.fit_poly,
    compare=close(rtol=1e-6, atol=1e-9),
    hints=[
        "The same map and the same powers serve two sets of numbers, x and new_x. What differs between the two, and what must not?",
        "Write a small function inside: scale with low and high of x, then take the powers 0 … K as columns. Call it for x and for new_x.",
        "u[:, None] ** np.arange(K + 1) has the powers side by side. np.linalg.lstsq(powers, y) returns the weights first.",
    ],
)


def curve(rng, n, K, noise=1.0, m=3):
    x = rng.permutation(np.arange(n) + rng.uniform(-0.3, 0.3, n)) * rng.uniform(1, 2)
    x += rng.uniform(2, 5) * rng.choice([-1, 1])
    c = rng.uniform(1, 2, K + 1) * rng.choice([-1, 1], K + 1)
    y = np.polyval(c, x / n) + noise * rng.normal(size=n)
    return dict(x=x, y=y, K=K, new_x=x.mean() + n * rng.uniform(-1, 1, m))


@fit_poly.cases
def _(rng):
    yield "a cubic with noise", curve(rng, 9, 3)
    yield "a parabola with noise", curve(rng, 6, 2)
    yield "without noise the curve comes back", curve(rng, 7, 3, noise=0.0)
    yield "degree 0 is the mean", curve(rng, 5, 0)
    yield "a high degree", curve(rng, 10, 7)
    beyond = curve(rng, 7, 2)
    yield (
        "new x beyond the table",
        beyond | dict(new_x=beyond["x"].max() + np.arange(1.0, 4)),
    )
    yield "a single new x", curve(rng, 6, 2, m=1)
    yield "one x more than the degree", curve(rng, 4, 3)
    twice = curve(rng, 4, 2)
    x = np.append(twice["x"], twice["x"][:2])
    yield "an x that stands there twice", twice | dict(x=x, y=rng.normal(size=6))
    whole = dict(
        x=rng.permutation([3, -1, 4, 0, 2]), y=rng.permutation([5, -7, 2, 9, 0])
    )
    yield "whole numbers", dict(**whole, K=2, new_x=rng.permutation([1, 6]))


fit_poly.mistakes(
    {
        "new x is scaled anew": (
            "u = (2 * v - low - high) / (high - low)",
            "u = (2 * v - v.min() - v.max()) / ((v.max() - v.min()) or 1)",
            "Whose smallest and largest value scale new_x?",
        ),
        "stops one power early": (
            "np.arange(K + 1)",
            "np.arange(max(K, 1))",
            "How many powers are there from 0 to K?",
        ),
        "the column of ones is missing": (
            "np.arange(K + 1)",
            "np.arange(1, K + 2)",
            "Which power is the bias? The count starts at 0.",
        ),
        "the highest power comes first": (
            "np.arange(K + 1)",
            "np.arange(K + 1)[::-1]",
            "Column k is u to the power k.",
        ),
        "multiples instead of powers": (
            "u[:, None] ** np.arange(K + 1)",
            "u[:, None] * np.arange(K + 1) + (np.arange(K + 1) == 0)",
            "Is your third column u squared, or twice u?",
        ),
        "scaled to 0 … 1": (
            "(2 * v - low - high)",
            "(v - low)",
            "Where does the smallest x land: at 0 or at −1?",
        ),
    }
)
fit_poly.worked(
    why="""One function makes the features of old and new x, so they cannot differ. It keeps low and high of the table in mind. The rest is least squares:
    the curve bends in x, but the heights are powers @ w, linear in w."""
)


@fit_poly.right("by NumPy's polynomials", library="numpy.polynomial.Polynomial.fit")
def _(x, y, K, new_x):
    fitted = np.polynomial.Polynomial.fit(x, y, K)  # it scales to −1 … 1 as well
    u = np.polynomial.polyutils.mapdomain(x, fitted.domain, [-1, 1])
    w = np.append(fitted.coef, np.zeros(K + 1 - len(fitted.coef)))
    return np.vander(u, K + 1, increasing=True), w, fitted(new_x)


@fit_poly.right("by running products and the normal equations")
def _(x, y, K, new_x):
    middle, half = (max(x) + min(x)) / 2, (max(x) - min(x)) / 2

    def features(v):
        columns = [np.ones(len(v))]
        for _ in range(K):
            columns.append(columns[-1] * (v - middle) / half)
        return np.transpose(columns)

    P = features(x)
    w = np.linalg.solve(P.T @ P, P.T @ y)
    return P, w, features(new_x) @ w

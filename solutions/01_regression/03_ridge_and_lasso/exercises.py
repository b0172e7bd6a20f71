"""Exercises of 01_regression/03_ridge_and_lasso."""

import numpy as np
import torch

from descent.compare import close, exact
from solutions.spec import Exercise

from . import reference


def problem(rng, n, d, shift=0.0, level=3.0, **more):
    """X (n, d) whose columns differ in size and correlate, y with weights of both signs and noise."""
    X = rng.normal(size=(n, d)) + 0.6 * rng.normal(size=(n, 1))
    X = X * np.linspace(0.6, 1.5, d) + shift
    truth = rng.uniform(1, 2, d) * np.resize([1.0, -1.0, 1.0], d)
    return dict(X=X, y=X @ truth + 0.5 * rng.normal(size=n) + level, **more)


def whole(rng, **more):
    """Whole numbers X (6, 3), y; what is drawn is the order of rows and the unit of y."""
    X = np.array(
        [[3, 1, -2], [-2, 4, 0], [5, 5, 1], [0, 2, 6], [-1, -3, 2], [7, -4, -1]]
    )
    y = np.array([4, -9, 6, -3, 5, 13]) * rng.integers(1, 4)
    order = rng.permutation(6)
    return dict(X=X[order], y=y[order], **more)


# ---------------------------------------------------------------- ridge with a free offset

ridge = Exercise(
    "ridge",
    reference=reference.ridge_with_offset,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("X", "y"),
    hints=[
        "Keep w fixed and minimise over b alone. Which b is best, and what becomes of the residuals when you put it in?",
        "Subtract the mean row from X and the mean from y, solve the equation of the text for w, then get b from the two means.",
        "With A and t so centred: np.linalg.solve of A.T @ A plus lam times the d × d identity, and of A.T @ t. "
        "b is what y.mean() exceeds the mean row times w by.",
    ],
)


@ridge.cases
def _(rng):
    yield "ordinary rows", problem(rng, 8, 3, lam=1.5)
    yield "ordinary rows", problem(rng, 9, 1, lam=0.3)
    yield "targets far from zero", problem(rng, 7, 2, level=100.0, lam=4.0)
    yield "features far from zero", problem(rng, 7, 2, shift=20.0, lam=2.0)
    yield "no penalty is least squares", problem(rng, 9, 3, lam=0.0)
    yield "more columns than rows", problem(rng, 4, 6, lam=0.5)
    twins = problem(rng, 6, 2, lam=1.0)
    twins["X"] = twins["X"][:, [0, 0, 1]]
    yield "twin columns", twins
    yield "whole numbers", whole(rng, lam=2)
    yield "a single row", problem(rng, 1, 2, shift=1.0, lam=1.0)


ridge.mistakes(
    {
        "the offset has a price, too": (
            "mean = X.mean(axis=0)\n    A = X - mean",
            "mean = X.mean(axis=0)\n    C = np.column_stack([np.ones(len(X)), X])\n"
            "    v = np.linalg.pinv(C.T @ C + lam * np.eye(C.shape[1])) @ C.T @ y\n"
            "    return v[1:], v[0]\n    A = X - mean",
            "If every target grows by 100, your w must not change. Which entry of the penalty belongs to the offset?",
        ),
        "features are not centred": (
            "A = X - mean",
            "A = X + 0.0",
            "Shift a column by 20. Does your w change? With a free offset it should not.",
        ),
        "one mean for all columns": (
            "X.mean(axis=0)",
            "np.full(X.shape[1], X.mean())",
            "How many means has a table of d columns?",
        ),
        "the penalty is added to every entry": (
            "lam * np.eye(X.shape[1])",
            "lam",
            "In code, a matrix plus a number adds it everywhere. Where in the matrix does λI stand?",
        ),
        "the penalty of the mean, not of the sum": (
            "lam * np.eye",
            "len(y) * lam * np.eye",
            "This objective sums the squares. In which one does n stand beside λ?",
        ),
        "twice the penalty": (
            "lam * np.eye",
            "2 * lam * np.eye",
            "Take the derivative of both terms. Does the factor 2 stand at one of them only?",
        ),
        "the penalty is squared": (
            "lam * np.eye",
            "lam**2 * np.eye",
            "Try λ = 4 and λ = ½: too small weights, then too large ones. What stands on the diagonal?",
        ),
        "the mean of y for the offset": (
            "y.mean() - mean @ w",
            "y.mean()",
            "For which input does your fit give the mean of y? It should be the mean row of X, which is not 0 here.",
        ),
        "the offset's sign is turned": (
            "y.mean() - mean",
            "y.mean() + mean",
            "Put the mean row of X into your fit. Is the result the mean of y?",
        ),
    }
)

ridge.worked(
    why=r"""For any $w$ the best offset is $\bar y - \bar x \cdot w$, so the fit goes through the point of means, and what is left
    to find is ridge on centred data. There the gradient is linear in $w$, and for $\lambda > 0$ its matrix is positive definite: one
    `solve`, no special case for twin columns or for fewer rows than columns."""
)


@ridge.right("padded, with a hole in the penalty")
def _(X, y, lam):
    A = np.column_stack([np.ones(len(X)), X])
    D = lam * np.eye(A.shape[1])
    D[0, 0] = 0
    w = np.linalg.solve(A.T @ A + D, A.T @ y)
    return w[1:], w[0]


@ridge.right("least squares with fake rows, in lists")
def _(X, y, lam):
    d = X.shape[1]
    A = np.column_stack([np.ones(len(X)), X])
    fake = np.column_stack([np.zeros(d), np.sqrt(lam) * np.eye(d)])
    w = np.linalg.lstsq(np.vstack([A, fake]), np.append(y, np.zeros(d)), rcond=None)[0]
    return w[1:].tolist(), float(w[0])


@ridge.right("scikit-learn's", library="sklearn.linear_model.Ridge")
def _(X, y, lam):
    from sklearn.linear_model import Ridge

    model = Ridge(alpha=lam, solver="svd").fit(X, y)
    return model.coef_, model.intercept_


# ---------------------------------------------------------------- the whole path from one SVD

ridge_svd = Exercise(
    "ridge_svd",
    reference=reference.ridge_path,
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("X", "y"),
    hints=[
        "Write y and w in the bases of the SVD. What does the penalty do to one direction, apart from all others?",
        "In direction j the weight is s_j / (s_j² + λ) times the component of y along u_j. Leave out the directions whose s_j is nothing beside the largest.",
        "np.linalg.svd(X, full_matrices=False), once; keep the columns of U, entries of s and rows of Vt with s above "
        "1e-10 * s[0]. For each λ: the factors times U.T @ y, and back to features with Vt.T.",
    ],
)


def axes(rng, scales, lams, n=5):
    """Columns on axes of their own: the singular values are `scales`, to the last digit."""
    X = np.zeros((n, len(scales)))
    rows = rng.permutation(n)[: len(scales)]
    X[rows, np.arange(len(scales))] = np.array(scales) * rng.choice(
        [-1.0, 1.0], len(scales)
    )
    y = rng.choice([-1.0, 1.0], n) * rng.uniform(0.5, 1.5, n)
    return dict(X=X, y=y, lams=np.array(lams))


@ridge_svd.cases
def _(rng):
    def case(n, d, *lams):
        return problem(rng, n, d, level=1.0, lams=np.array(lams))

    yield "penalties in any order", case(7, 3, 1.0, 10.0, 0.1)
    yield "more columns than rows", case(3, 5, 0.5, 2.0)
    yield "more columns than rows", case(3, 5, 0.0, 1.0)
    twins = case(6, 2, 0.0, 0.5)
    twins["X"] = twins["X"][:, [0, 1, 0]]
    yield "twin columns, no penalty", twins
    # its zero singular value comes out as about 1e-7; under 1e18 a rounded zero is harmless, under 0 it is not
    mixed = case(6, 2, 0.0, 1e18)
    X = np.column_stack([mixed["X"], mixed["X"] @ [0.3, 0.6]])
    yield "a mixed column in tiny units", {**mixed, "X": 1e9 * X, "y": 1e9 * mixed["y"]}
    # the rule itself: 1e-10 times the largest is 0, a little more is not, and no small penalty brings it back
    big = 2.0**30
    for share in (0.0, 0.3, 0.9, 1.0):
        yield (
            "up to 1e-10 of the largest is nothing",
            axes(rng, [0.2 * big, share * 1e-10 * big, big], [0.0, 1e-4]),
        )
    for share in (1.1, 4.0):
        yield (
            "a little more than that still counts",
            axes(rng, [0.2 * big, share * 1e-10 * big, big], [0.0, 1e-4]),
        )
    yield "a large and a small table", axes(rng, [3e-12, 1e-12, 1e-11], [0.0, 1e-22])
    yield "a single column", case(5, 1, 0.0, 3.0)
    yield "whole numbers", whole(rng, lams=np.array([1, 0, 4]))


ridge_svd.mistakes(
    {
        "s² / (s² + λ) without the 1 / s": (
            "s / (s**2",
            "s**2 / (s**2",
            "That factor shrinks the fit, not the weights. With λ = 0, is your answer the least-squares one?",
        ),
        "1 / (s + λ)": (
            "s / (s**2 + np.array(lams)[:, None])",
            "1 / (s + np.array(lams)[:, None])",
            "λ is added to the eigenvalues of XᵀX. How are they related to the singular values of X?",
        ),
        "λ squared": (
            "np.array(lams)[:, None]",
            "np.array(lams)[:, None] ** 2",
            "For which λ does a direction lose half? Solve s² = λ and compare with your factor.",
        ),
        "V for its transpose": (
            "@ Vt\n",
            "@ np.linalg.svd(X)[2].T[: len(s)]\n",
            "np.linalg.svd returns Vᵀ, whose rows are the directions. Do you go back from the basis with V?",
        ),
        "a finer cut than 1e-10": (
            "1e-10 * s[0]",
            "1e-13 * s[0]",
            "A direction with s = 1e-11 s₁ counts as unseen, too. Whose threshold is yours?",
        ),
        "the cut does not grow with X": (
            "1e-10 * s[0]",
            "1e-10",
            "In units a billion times smaller, the rounded zero is a billion times larger. Small compared with what?",
        ),
        "nothing is cut": (
            "s > 1e-10 * s[0]",
            "s > 0",
            "With λ = 0 and a singular value of 1e-17, what is s / (s² + λ)? Such directions must stay out.",
        ),
        "the squares are compared with the cut": (
            "s > 1e-10 * s[0]",
            "s**2 > 1e-10 * s[0] ** 2",
            "The cut is meant for s. By your test, which s is the smallest that counts?",
        ),
        "the penalties are sorted": (
            "np.array(lams)",
            "np.sort(lams)",
            "Row i belongs to lams[i], in the order given.",
        ),
        "the penalty times n": (
            "np.array(lams)",
            "len(y) * np.array(lams)",
            "This objective sums the squares. In which one does n stand beside λ?",
        ),
    }
)

ridge_svd.worked(
    why=r"""In the basis of the singular directions the normal equation falls apart into $d$ equations with one unknown each,
    $(s_j^2 + \lambda)\, c_j = s_j\, (u_j \cdot y)$. The SVD is dear and is made once; a penalty more costs next to nothing. A
    direction that was never seen is dropped before any division, so that $\lambda = 0$ gives the shortest solution and not a
    weight of $10^{16}$."""
)


@ridge_svd.right("direction by direction, in lists")
def _(X, y, lams):
    U, s, Vt = np.linalg.svd(X)
    rows = [np.zeros(X.shape[1]) for _ in lams]
    for row, lam in zip(rows, lams, strict=True):
        for j in range(len(s)):
            if s[j] / s[0] > 1e-10:
                row += U[:, j] @ y * s[j] / (s[j] ** 2 + lam) * Vt[j]
    return [row.tolist() for row in rows]


@ridge_svd.right(
    "scikit-learn's, on the directions that count", library="sklearn.linear_model.Ridge"
)
def _(X, y, lams):
    from sklearn.linear_model import Ridge

    _, s, Vt = np.linalg.svd(X, full_matrices=False)
    seen = Vt[s > 1e-10 * s[0]]
    models = [
        Ridge(lam, fit_intercept=False, solver="svd") if lam else None for lam in lams
    ]
    free = np.linalg.pinv(X, rcond=1e-10) @ y
    return [m.fit(X @ seen.T, y).coef_ @ seen if m else free for m in models]


# ---------------------------------------------------------------- the dual form

ridge_dual = Exercise(
    "ridge_dual",
    reference=reference.dual_weights,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("X", "y"),
    hints=[
        "How many numbers does the answer hold: one a row or one a feature? Which matrix of inner products has that size?",
        "Put w = Xᵀα into λα = y - Xw and collect the two terms with α.",
        "np.linalg.solve takes the matrix of inner products of the rows, plus lam times an identity as large as it, and y.",
    ],
)


@ridge_dual.cases
def _(rng):
    yield "fewer rows than features", problem(rng, 3, 6, lam=0.7)
    yield "more rows than features", problem(rng, 7, 2, lam=1.5)
    yield "as many rows as features", problem(rng, 4, 4, lam=3.0)
    yield "a single row", problem(rng, 1, 3, lam=2.0)
    zero = problem(rng, 4, 3, lam=0.5)
    yield "a row of zeros", {**zero, "X": zero["X"] * [[1], [0], [1], [1]]}
    twice = problem(rng, 3, 4, lam=1.3)
    yield "the same row twice", {**twice, "X": twice["X"][[0, 1, 0]]}


ridge_dual.mistakes(
    {
        "the penalty is added to every entry": (
            "lam * np.eye(len(y))",
            "lam",
            "G + λ in code adds λ to all n² entries. What stands in front of α in λα?",
        ),
        "one weight a feature": (
            "X @ X.T + lam * np.eye(len(y)), y",
            "X.T @ X + lam * np.eye(X.shape[1]), X.T @ y",
            "α has one entry for each row of X. You have solved for w: where is the n × n system?",
        ),
        "the residual is not divided by λ": (
            "return np",
            "return lam * np",
            "Your result times Xᵀ should be w. Compare with α = (y - Xw)/λ.",
        ),
        "the penalty is left out": (
            "lam * np",
            "1e-9 * np",
            "Without λ the rows are fitted exactly. Which term carries λ on the left of the equation for α?",
        ),
        "the predictions instead of the weights": (
            "return np",
            "return X @ X.T @ np",
            "Gα is the fit at the training rows. The weights α are asked.",
        ),
    }
)

ridge_dual.worked(
    why=r"""The gradient at the minimum says that $\lambda w = X^\top(y - Xw)$, so $w$ lies in the span of the rows: $n$ numbers fix it,
    however many features there are. What is left, $(XX^\top + \lambda I)\alpha = y$, is positive definite for every $\lambda > 0$,
    with equal rows and rows of zeros as well."""
)


@ridge_dual.right("from the primal weights")
def _(X, y, lam):
    w = np.linalg.solve(X.T @ X + lam * np.eye(X.shape[1]), X.T @ y)
    return (y - X @ w) / lam


@ridge_dual.right("inner product by inner product, in lists")
def _(X, y, lam):
    G = [[sum(a * b for a, b in zip(u, v, strict=True)) for v in X] for u in X]
    for i in range(len(G)):
        G[i][i] += lam
    return np.linalg.solve(np.array(G), y).tolist()


@ridge_dual.right("scikit-learn's", library="sklearn.kernel_ridge.KernelRidge")
def _(X, y, lam):
    from sklearn.kernel_ridge import KernelRidge

    return KernelRidge(alpha=lam, kernel="linear").fit(X, y).dual_coef_


# ---------------------------------------------------------------- the negative log posterior

map_objective = Exercise(
    "map_objective",
    reference=reference.negative_log_posterior,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("X", "w", "y"),
    hints=[
        "Two sums of minus logarithms: one over rows, one over weights. Which density belongs to each term?",
        "Take the logarithm on paper first. Gauss of sd s at z: ½ (z/s)² + log s + ½ log 2π. Laplace of rate κ: κ|z| − log(κ/2). "
        "Find κ from 2/κ² = prior_sd².",
        "Sum the Gaussian term over r = y - X @ w - b with noise_sd. Then over w: the same with prior_sd for "
        "'gaussian', the Laplace term with κ = √2 / prior_sd for 'laplace', nothing for 'flat'.",
    ],
)


@map_objective.cases
def _(rng):
    def case(n, d, prior, b=None, far=0.0, **more):
        X = rng.normal(size=(n, d))
        w = rng.uniform(0.4, 1.5, d) * np.resize([1.0, -1.0], d)
        b = float(rng.normal()) if b is None else b
        y = X @ w + b + rng.uniform(0.5, 1.5, n) * np.resize([1.0, -1.0], n)
        y[0] += far
        sds = dict(
            noise_sd=float(rng.uniform(0.4, 0.7)), prior_sd=float(rng.uniform(1.7, 2.5))
        )
        return {**dict(w=w, b=b, X=X, y=y, prior=prior), **sds, **more}

    yield "a Gaussian prior", case(5, 3, "gaussian")
    yield (
        "a Gaussian prior",
        case(4, 2, "gaussian", prior_sd=float(rng.uniform(0.3, 0.6))),
    )
    yield "a Laplace prior", case(5, 3, "laplace")
    yield (
        "a Laplace prior",
        case(4, 2, "laplace", prior_sd=float(rng.uniform(0.3, 0.6))),
    )
    yield "a flat prior is maximum likelihood", case(5, 3, "flat")
    yield "an offset far from 0", case(4, 2, "gaussian", b=30.0)
    yield "an offset far from 0", case(4, 2, "laplace", b=-30.0)
    yield "all weights are 0", case(4, 2, "laplace", w=np.zeros(2))
    yield "all weights are 0", case(4, 2, "gaussian", w=np.zeros(2))
    yield "a single row and weight", case(1, 1, "gaussian")
    # densities that round to 0: the row's, the weight's
    yield "what is all but impossible", case(3, 2, "flat", far=60.0)
    yield "what is all but impossible", case(3, 1, "gaussian", w=np.array([-90.0]))
    yield (
        "what is all but impossible",
        case(3, 1, "laplace", w=np.array([9.0]), prior_sd=0.01),
    )


map_objective.mistakes(
    {
        "the offset has a prior too": (
            "    return value",
            "    return value + (b**2 / prior_sd**2 / 2 if prior == 'gaussian' else np.sqrt(2) * abs(b) / prior_sd "
            "if prior == 'laplace' else 0)",
            "The offset's prior is flat. Over which parameters does the second sum run?",
        ),
        "the prior's sign is turned": (
            "value += np.sum(squares / 2 + np.log(prior_sd) + np.log(2 * np.pi) / 2)",
            "value -= np.sum(squares / 2 + np.log(prior_sd) + np.log(2 * np.pi) / 2)",
            "A likely weight should lower the objective. Is yours higher the more probable w is?",
        ),
        "the standard deviation taken for the Laplace scale": (
            "np.sqrt(2) / prior_sd",
            "1 / prior_sd",
            "The Laplace density with rate κ has variance 2/κ². Which κ gives the standard deviation prior_sd?",
        ),
        "the Laplace rate by the variance 2/κ": (
            "np.sqrt(2) / prior_sd",
            "2 / prior_sd**2",
            "Integrate w² times (κ/2) exp(-κ|w|) numerically for κ = 3. Is it 2/κ?",
        ),
        "a Laplace density without its ½": (
            "np.log(rate / 2)",
            "np.log(rate)",
            "Integrate κ exp(-κ|w|) over both signs of w. Is it 1?",
        ),
        "signed weights": (
            "np.abs(w)",
            "w",
            "Is a weight of −3 likelier than one of 3?",
        ),
        "the likelihood's constants are dropped": (
            "np.sum(squares / 2 + np.log(noise_sd) + np.log(2 * np.pi) / 2)",
            "np.sum(squares / 2)",
            "They do not move the minimum, but here they are asked: each density integrates to 1.",
        ),
        "a variance for a standard deviation": (
            "(y - X @ w - b) / noise_sd",
            "(y - X @ w - b) / np.sqrt(noise_sd)",
            "noise_sd is a standard deviation. What stands below the squared residual?",
        ),
        "the offset is left out of the fit": (
            "y - X @ w - b",
            "y - X @ w",
            "What does your model foretell for a row of zeros?",
        ),
        "a mean over the rows": (
            "value = np.sum(",
            "value = (1 + (len(y) == 1)) * np.mean(",
            "Independent rows multiply their densities. What does the logarithm make of a product?",
        ),
        "constants once, not once a weight": (
            "squares / 2 + np.log(prior_sd) + np.log(2 * np.pi) / 2)",
            "squares / 2) + np.log(prior_sd) + np.log(2 * np.pi) / 2",
            "Each weight has a density of its own. How often does its constant come?",
        ),
        "the logarithm of a density that rounds to 0": (
            "rate * np.abs(w) - np.log(rate / 2)",
            "-np.log(rate / 2 * np.exp(-rate * np.abs(w)))",
            "What is exp(-1000) in floating point, and its logarithm? Take the logarithm on paper. "
            "(scipy.stats.laplace.logpdf does not.)",
        ),
        "the logarithm of products": (
            "value = np.sum(squares / 2 + np.log(noise_sd) + np.log(2 * np.pi) / 2)",
            "value = -np.log(np.prod(np.exp(-squares / 2) / noise_sd / np.sqrt(2 * np.pi)))",
            "What is exp(-800) in floating point, and its logarithm? Which form never needs it?",
        ),
    }
)

map_objective.worked(
    why=r"""The logarithm turns the product over independent rows and weights into sums, and takes the exponential away on paper,
    so that nothing can round to 0. Everything is in units of its own standard deviation; the constants come once a row and once
    a weight. The offset has no term: a flat prior has no opinion."""
)


@map_objective.right("with torch's densities", library="torch.distributions")
def _(w, b, X, y, noise_sd, prior, prior_sd):
    from torch.distributions import Laplace, Normal

    laws = {
        "gaussian": Normal(0.0, torch.tensor(prior_sd, dtype=torch.float64)),
        "laplace": Laplace(0.0, torch.tensor(prior_sd / 2**0.5, dtype=torch.float64)),
    }
    noise = Normal(0.0, torch.tensor(noise_sd, dtype=torch.float64))
    value = -noise.log_prob(torch.as_tensor(y - X @ w - b)).sum()
    return float(
        value - laws[prior].log_prob(torch.as_tensor(w)).sum()
        if prior in laws
        else value
    )


@map_objective.right("row by row")
def _(w, b, X, y, noise_sd, prior, prior_sd):
    def normal(z, sd):
        return (z / sd) ** 2 / 2 + np.log(sd * np.sqrt(2 * np.pi))

    value = 0.0
    for row, target in zip(X, y, strict=True):
        value += normal(
            target - b - sum(a * c for a, c in zip(row, w, strict=True)), noise_sd
        )
    for weight in w:
        if prior == "gaussian":
            value += normal(weight, prior_sd)
        if prior == "laplace":
            value += np.sqrt(2) * abs(weight) / prior_sd + np.log(np.sqrt(2) * prior_sd)
    return float(value)


# ---------------------------------------------------------------- the soft threshold

soft_threshold = Exercise(
    "soft_threshold",
    reference=reference.soft_threshold,
    compare=close(rtol=1e-6, atol=1e-12),
    batched=("a",),
    hints=[
        "Treat w > 0, w < 0 and w = 0 apart. In the first case the slope is w - a + λ: where is it zero, and is that place positive?",
        "Beyond λ the answer is a moved towards 0 by λ; from -λ to λ it is 0.",
        "The sign of a times how far |a| exceeds λ, but no less than 0: np.maximum helps.",
    ],
)


@soft_threshold.cases
def _(rng):
    near = rng.uniform(0.3, 0.9, 2)
    far = rng.uniform(1.5, 4.0, 4)
    for lam in (1.0, 3.0):
        yield (
            "some shrink, some vanish",
            dict(a=lam * np.append(far * [1, -1, 1, -1], near * [1, -1]), lam=lam),
        )
    edge = float(rng.uniform(1, 3))
    yield (
        "exactly on the edge",
        dict(a=edge * np.array([-1.0, 1.0, 1.25, -2.0]), lam=edge),
    )
    yield "no penalty changes nothing", dict(a=rng.normal(size=5), lam=0.0)
    yield (
        "nothing survives",
        dict(a=np.append(near - 1, [1.0, -1.2]) * edge, lam=1.5 * edge),
    )
    table = rng.uniform(0.7, 3.0, (2, 3)) * rng.choice([-1.0, 1.0], (2, 3))
    yield "a table of weights", dict(a=table, lam=0.5)
    yield "a table of weights", dict(a=rng.permutation(np.arange(-4.0, 5.0)), lam=2)
    yield "a single number far out", dict(a=1e9 * rng.uniform(1, 2, 1), lam=3e8)
    yield "whole numbers", dict(a=rng.permutation(np.arange(-4, 5)), lam=0.5)


soft_threshold.mistakes(
    {
        "hard threshold": (
            "np.sign(a) * np.maximum(np.abs(a) - lam, 0)",
            "np.where(np.abs(a) > lam, a, 0.0)",
            "How far does the penalty pull a weight that survives? Its slope is λ everywhere but at 0.",
        ),
        "half the penalty": (
            "- lam",
            "- lam / 2",
            "With the ½ in front of the square, is the threshold λ or λ/2? Set the derivative to 0.",
        ),
        "ridge's factor": (
            "np.sign(a) * np.maximum(np.abs(a) - lam, 0)",
            "a / (1 + lam)",
            "a / (1 + λ) is never 0. Which penalty has it: the square or the absolute value?",
        ),
        "negative weights are cut off": (
            "np.sign(a) * np.maximum(np.abs(a) - lam, 0)",
            "np.maximum(a - lam, 0)",
            "Try a = -3. Is 0 really the best w?",
        ),
        "it pulls through zero": (
            "np.maximum(np.abs(a) - lam, 0)",
            "(np.abs(a) - lam)",
            "Try a = 0.4 with λ = 1. Did your weight change its sign? The kink at 0 stops it.",
        ),
        "whole numbers stay whole": (
            "return np.sign(a) * np.maximum(np.abs(a) - lam, 0)",
            "return (np.sign(a) * np.maximum(np.abs(a) - lam, 0)).astype(a.dtype)",
            "Take ½ from 3 in an array of whole numbers: what does it keep?",
        ),
        "the sign is lost": (
            "np.sign(a) * ",
            "",
            "Try a = -3: on which side of 0 does its w lie?",
        ),
        "it is pushed outwards": (
            "np.abs(a) - lam",
            "np.abs(a) + lam",
            "A penalty on |w| makes weights smaller. Compare |w| with |a|.",
        ),
    }
)

soft_threshold.worked(
    why=r"""Away from 0 the penalty has slope $\pm\lambda$, so the parabola's minimum moves towards 0 by $\lambda$. If that would carry it
    past 0, the kink holds it there: left of 0 the sum falls, right of it it rises. Sign times $\max(|a| - \lambda, 0)$ says all three
    cases at once."""
)


@soft_threshold.right("two one-sided parts")
def _(a, lam):
    return np.maximum(a - lam, 0) - np.maximum(-a - lam, 0)


@soft_threshold.right("what is clipped off", library="torch.nn.functional.softshrink")
def _(a, lam):
    from torch.nn.functional import softshrink

    return softshrink(torch.as_tensor(a, dtype=torch.float64), lam).numpy()


# ---------------------------------------------------------------- coordinate descent

lasso_cd = Exercise(
    "lasso_cd",
    reference=reference.lasso_until,
    compare=close(rtol=1e-6, atol=1e-8),
    data_dependent="it ends where a sweep moves no weight by more than tol",
    hints=[
        "Fix all weights but w_j. The rest of the problem has one unknown: bring it to the form ½ (w_j - a)² + (a penalty) |w_j|.",
        "Per update: r_j is y minus the fit of all other features; the new weight is the soft threshold of x_j·r_j at λ, divided by ‖x_j‖². "
        "Use it at once. Note the largest move of the sweep.",
        "Three nested thoughts: for each sweep, moved = 0; for each j with a column that is not zero, pull = x_j · (y - X w + x_j w_j), "
        "threshold, divide, note |new - old|, store; after the sweep return if moved <= tol.",
    ],
)


# Inner products of three columns, as R with RᵀR: two agree and one does not, and each has a size of its own.
AGREE = np.array([[1.0, 0.9, -0.5], [0.0, 0.7, 0.8], [0.0, 0.0, 1.1]]) * [0.8, 1.3, 1.7]
APART = np.diag([1.6, 0.8, 1.2])
ZERO = AGREE * [1.0, 0.0, 1.0]
# The first column is at a right angle to y = X truth, and agrees with the second: its weight is 0 after one sweep
# only.
LATER = np.array([[1.0, 0.8], [0.0, 0.6]])


def turned(rng, R, truth, lam, tol, max_sweeps):
    """y = X truth + noise, X = QR with a random Q of orthonormal columns; y, lam and tol in random units.

    All that coordinate descent sees is RᵀR: which answer fails on which case does not depend on the draw.
    """
    n, d = 7, R.shape[1]
    Q, _ = np.linalg.qr(rng.normal(size=(n, d + 1)))
    unit = float(rng.uniform(0.5, 2.0))
    y = Q[:, :d] @ (R @ truth) + Q[:, d]
    return dict(
        X=Q[:, :d] @ R,
        y=unit * y,
        lam=unit * lam,
        tol=unit * tol,
        max_sweeps=max_sweeps,
    )


@lasso_cd.cases
def _(rng):
    mixed = np.array([3.0, -2.5, 2.0])
    yield "the first sweeps", turned(rng, AGREE, mixed, 0.8, 0.0, 1)
    yield "the first sweeps", turned(rng, AGREE, mixed, 0.8, 0.0, 3)
    yield "the first sweeps", turned(rng, AGREE, -mixed, 0.3, 0.0, 2)
    yield (
        "a weight that was 0 comes back",
        turned(rng, LATER, [-4.0, 5.0], 0.2, 1e-5, 200),
    )
    yield "until it settles", turned(rng, AGREE, mixed, 0.5, 1e-3, 500)
    yield "until it settles", turned(rng, AGREE, -mixed, 2.0, 1e-2, 500)
    # right angles: the first sweep moves every weight to its place, the second none; tol lies between the moves
    for truth in ([2.0, 0.4, -0.3], [-0.3, 0.4, -2.0]):
        yield "it stops on time", turned(rng, APART, truth, 0.05, 0.8, 9)
    yield "it stops on time", turned(rng, APART, [0.6, -0.6, 0.6], 0.05, 0.8, 9)
    yield (
        "no penalty tends to least squares",
        turned(rng, AGREE[:2, :2], [1.0, -2.0], 0.0, 1e-7, 300),
    )
    tiny = AGREE[:2, :2] * [1.0, 1e-6]
    yield (
        "no penalty tends to least squares",
        turned(rng, tiny, [1.0, -2e6], 0.0, 1e-2, 300),
    )
    yield "a column of zeros", turned(rng, ZERO, mixed, 0.4, 1e-6, 50)
    # one that adds up to 0 is no column of zeros
    table = np.array(
        [[1.0, 0.0, 2.0], [-1.0, 0.0, 1.0], [3.0, 0.0, 0.0], [-3.0, 0.0, 1.0]]
    )
    zeros = dict(X=table[rng.permutation(4)] * rng.choice([-1.0, 1.0]), lam=0.5)
    zeros["y"] = zeros["X"] @ [2.0, 0.0, -1.5] + 0.1 * rng.normal(size=4)
    yield "a column of zeros", dict(**zeros, tol=1e-6, max_sweeps=50)
    yield "a penalty that leaves nothing", turned(rng, AGREE, mixed, 20.0, 0.0, 5)
    # one column, which pulls with exactly λ, to the last digit
    x = rng.choice([-1.0, 1.0], (2, 1))
    sign = rng.choice([-1.0, 1.0])
    yield (
        "a penalty that leaves nothing",
        dict(X=x, y=sign * x[:, 0], lam=2.0, tol=0.0, max_sweeps=3),
    )
    yield "no sweep allowed", turned(rng, AGREE, mixed, 0.5, 0.0, 0)
    made = whole(rng)
    unit = int(np.abs(made["y"]).max()) // 13
    yield (
        "whole numbers",
        {**made, **dict(lam=3 * unit, tol=0.01 * unit, max_sweeps=100)},
    )


lasso_cd.mistakes(
    {
        "all weights move at once": (
            "            r = r - X[:, j] * (new - w[j])\n            w[j] = new\n",
            "            w[j] = new\n        r = y - X @ w\n",
            "Within a sweep, does weight 2 already know the new weight 1? Each update uses the latest weights.",
        ),
        "the step is not divided by ‖x_j‖²": (
            "- lam, 0) / sizes[j]",
            "- lam, 0)",
            "The quadratic in w_j has curvature ‖x_j‖². What is it for your columns?",
        ),
        "divided before the threshold": (
            "np.sign(pull) * max(abs(pull) - lam, 0) / sizes[j]",
            "np.sign(pull) * max(abs(pull) / sizes[j] - lam, 0)",
            "Divide the whole one-dimensional problem by ‖x_j‖². What happens to the penalty?",
        ),
        "half the penalty": (
            "abs(pull) - lam",
            "abs(pull) - lam / 2",
            "This objective has ½ in front of the squares. What is the threshold then?",
        ),
        "the penalty of the mean": (
            "abs(pull) - lam",
            "abs(pull) - len(y) * lam",
            "scikit-learn's alpha belongs to the mean of the squares. Here they are summed.",
        ),
        "the feature's own part stays in the residual": (
            "X[:, j] @ r + sizes[j] * w[j]",
            "X[:, j] @ r",
            "After a thousand sweeps nothing should move. Is the residual of update j free of x_j w_j?",
        ),
        "hard threshold": (
            "np.sign(pull) * max(abs(pull) - lam, 0)",
            "(pull if abs(pull) > lam else 0.0)",
            "How far does the penalty pull a weight that survives?",
        ),
        "negative weights are cut off": (
            "np.sign(pull) * max(abs(pull) - lam, 0)",
            "max(pull - lam, 0)",
            "Your weights are never negative. What does the threshold make of a pull of −3?",
        ),
        "from the last column to the first": (
            "range(len(w))",
            "range(len(w))[::-1]",
            "After one sweep the order shows. It runs over j = 0, …, d - 1.",
        ),
        "a weight that is 0 once stays 0": (
            "if sizes[j] == 0:",
            "if sizes[j] == 0 or (sweep > 0 and w[j] == 0):",
            "A weight may be 0 after one sweep and be wanted later, when the others have moved. Do you still ask it?",
        ),
        "the last move in place of the largest": (
            "moved = max(moved, abs(new - w[j]))",
            "moved = abs(new - w[j])",
            "No weight moved by more than tol: which of a sweep's moves do you compare?",
        ),
        "moves are added up": (
            "moved = max(moved, abs(new - w[j]))",
            "moved = moved + abs(new - w[j])",
            "Three moves of half of tol: has any weight moved by more than tol?",
        ),
        "only moves upwards count": (
            "abs(new - w[j])",
            "new - w[j]",
            "A weight that falls by 3 has moved, too.",
        ),
        "the last sweep is not counted": (
            "return w, sweep + 1",
            "return w, sweep",
            "The sweep that moved nothing has been made, too: how many are that?",
        ),
        "one sweep more, to be sure": (
            "if moved <= tol:",
            "if moved <= tol and sweep > 0:",
            "A first sweep can be enough. With a large tol, when do you return?",
        ),
        "a column that adds up to 0 is left out": (
            "if sizes[j] == 0:",
            "if X[:, j].sum() == 0:",
            "Every centred column adds up to 0. Which sum is 0 for a column of zeros alone?",
        ),
        "a column in tiny units is left out": (
            "if sizes[j] == 0:",
            "if sizes[j] < 1e-8:",
            "In other units a column may be a millionth of its size: it wants a large weight, not none.",
        ),
        "divides by zero": (
            "if sizes[j] == 0:",
            "if sizes[j] < 0:",
            "What is ‖x_j‖² for a column of zeros? Its weight must stay 0.",
        ),
    }
)

lasso_cd.worked(
    why=r"""With all other weights held, the objective is a parabola in $w_j$ plus $\lambda|w_j|$: the soft threshold, in units of
    $\lVert x_j\rVert^2$. The residual is kept up to date, so an update costs one pass over a column, not over the table. Each update is a minimum along its axis,
    hence the objective never rises; and because the part that is not smooth is a sum over coordinates, a place where no axis leads down is the minimum."""
)


@lasso_cd.right("a fresh residual each time, in lists")
def _(X, y, lam, tol, max_sweeps):
    w = [0.0] * X.shape[1]
    for sweep in range(1, max_sweeps + 1):
        before = list(w)
        for j, x in enumerate(X.T):
            if any(x):
                left = y - X @ w + x * w[j]
                z = float(x @ left)
                w[j] = (max(z - lam, 0) - max(-z - lam, 0)) / float(x @ x)
        if all(abs(a - b) <= tol for a, b in zip(w, before, strict=True)):
            return w, sweep
    return w, max_sweeps


@lasso_cd.right("with the Gram matrix")
def _(X, y, lam, tol, max_sweeps):
    G, c, w = X.T @ X, X.T @ y, np.zeros(X.shape[1])
    sweeps = 0
    while sweeps < max_sweeps:
        old, sweeps = w.copy(), sweeps + 1
        for j in np.flatnonzero(np.diag(G)):
            z = c[j] - G[j] @ w + G[j, j] * w[j]
            w[j] = (z - np.clip(z, -lam, lam)) / G[j, j]
        if not np.any(np.abs(w - old) > tol):
            break
    return w, sweeps


# ---------------------------------------------------------------- the choice of a penalty

choose_penalty = Exercise(
    "choose_penalty",
    reference=reference.best_penalty,
    compare=close(rtol=1e-6, atol=1e-9),
    data_dependent="it takes the penalty of the least error",
    shuffled=True,
    hints=[
        "Which rows may know of the means and standard deviations, and to which rows are they applied?",
        "Scale all of X and y with the numbers of the rows `train`, fit on these once, then go through the pairs of penalty and weights "
        "with the best so far. Start with an error that everything beats.",
        "For each lam and w: the mean of (t[valid] - A[valid] @ w)². It wins if it is lower than the best, or equal "
        "with a larger lam. Return its lam, its w, its error.",
    ],
)


@choose_penalty.probe
def _(answer, X, y, train, valid, lams, kind):
    calls = []

    def fit(A, t, lams):
        if calls:
            raise ValueError("fit is called once, with all penalties.")
        calls.append(lams)
        if kind == "ridge":
            eye = np.eye(A.shape[1])
            return np.array([np.linalg.solve(A.T @ A + k * eye, A.T @ t) for k in lams])
        pull = (
            A.T @ t / len(t)
        )  # each column for itself, thresholded: zeros from some λ on
        return np.array([np.sign(pull) * np.maximum(abs(pull) - k, 0) for k in lams])

    return answer(fit, X, y, train, valid, lams)


@choose_penalty.cases
def _(rng):
    def case(seed, n, d, lams, kind="ridge", part=0.6, flip=1.0, **scales):
        """Fixed rows, which lie elsewhere for who is to choose; what is drawn is order, signs and the level of y."""
        fixed = np.random.default_rng(seed)
        made = problem(fixed, n, d, shift=2.0)
        X, y, cut = made["X"], made["y"], int(part * n)
        X[cut:] += 0.7
        y[cut:] = y[:cut].mean() + flip * (y[cut:] - y[:cut].mean())
        X = (X * scales.get("columns", 1.0))[:, rng.permutation(d)] * rng.choice(
            [-1.0, 1.0], d
        )
        y = scales.get("target", 1.0) * (
            y * rng.choice([-1.0, 1.0]) + rng.uniform(-3, 3)
        )
        order = rng.permutation(
            n
        )  # row order[i] of the table is row i of the fixed one
        X[order], y[order] = X.copy(), y.copy()
        return dict(
            X=X,
            y=y,
            train=order[:cut],
            valid=order[cut:],
            lams=np.array(lams),
            kind=kind,
        )

    yield (
        "ridge, penalties from small to large",
        case(0, 14, 3, [0.01, 0.3, 1.0, 3.0, 10.0, 30.0]),
    )
    yield "ridge, penalties in any order", case(1, 14, 2, [3.0, 100.0, 0.1, 0.5])
    yield (
        "few to learn from, many to choose by",
        case(2, 16, 2, [10.0, 0.1, 1.0], part=0.35),
    )
    yield "errors that differ little", case(0, 14, 3, [1.02, 0.93, 0.3, 0.98, 3.0])
    yield "thresholds", case(3, 14, 3, [0.1, 0.0, 0.5, 0.3], "threshold")
    # targets that run the other way: no weights at all are best, and all large thresholds give none
    for lams in ([0.1, 5.0, 9.0, 7.0], [9.0, 5.0, 0.1, 7.0], [5.0, 7.0, 9.0]):
        yield (
            "of equal errors the largest penalty",
            case(4, 14, 2, lams, "threshold", flip=-1.0),
        )
    yield "a single penalty", case(5, 9, 2, [2.0])
    scales = dict(columns=np.array([1e6, 1.0, 1e-6]), target=1e3)
    yield "units of all sizes", case(6, 14, 3, [1.0, 0.1, 10.0], **scales)
    order = rng.permutation(7)
    X, y = np.zeros((7, 2), int), np.zeros(7, int)
    X[order] = [[3, 1], [-2, 4], [5, 5], [0, 2], [-1, -3], [7, 1], [2, -2]]
    y[order] = np.array([4, -9, 6, -3, 5, 13, 7]) * rng.choice([-1, 1])
    yield (
        "whole numbers",
        dict(
            X=X,
            y=y,
            train=order[:4],
            valid=order[4:],
            lams=np.array([4, 1, 0]),
            kind="ridge",
        ),
    )


choose_penalty.mistakes(
    {
        "scaled by all rows": (
            "A = (X - X[train].mean(axis=0)) / X[train].std(axis=0)",
            "A = (X - X.mean(axis=0)) / X.std(axis=0)",
            "The rows to choose by have spoken in your means. Which rows may?",
        ),
        "the rows to choose by are scaled by themselves": (
            "error = np.mean((t[valid] - A[valid] @ w) ** 2)",
            "V = (X[valid] - X[valid].mean(axis=0)) / X[valid].std(axis=0)\n        error = np.mean((t[valid] - V @ w) ** 2)",
            "A new patient comes alone, without a mean. Whose mean and scale do you use for the rows `valid`?",
        ),
        "targets are not scaled": (
            "(y - y[train].mean()) / y[train].std()",
            "y - y[train].mean()",
            "In which units is your error? The targets are scaled, too.",
        ),
        "columns are centred only": (
            " / X[train].std(axis=0)",
            "",
            "A column in grams and one in kilograms: does the penalty hold both down alike?",
        ),
        "one scale for all columns": (
            "X[train].std(axis=0)",
            "X[train].std()",
            "Every column has a scale of its own.",
        ),
        "fitted on all rows": (
            "fit(A[train], t[train], lams)",
            "fit(A, t, lams)",
            "Which rows may the weights learn from, if others are to judge them?",
        ),
        "judged by the rows it learnt from": (
            "t[valid] - A[valid] @ w",
            "t[train] - A[train] @ w",
            "Which penalty looks best to the rows that were fitted? Always the smallest.",
        ),
        "one call a penalty": (
            "zip(lams, fit(A[train], t[train], lams))",
            "((lam, fit(A[train], t[train], [lam])[0]) for lam in lams)",
            "One SVD serves all penalties. How often do you call fit, and with what?",
        ),
        "nearly equal errors count as equal": (
            "if error < lowest or (error == lowest and lam > best[0])",
            "if error < 0.99 * lowest or (error < 1.01 * lowest and lam > best[0])",
            "The least error wins, by however little. When are two errors equal?",
        ),
        "the largest error wins": (
            "error < lowest or (",
            "best is None or error > lowest or (",
            "You keep the worst. Which comparison finds the least?",
        ),
        "of equal errors the first": (
            " or (error == lowest and lam > best[0])",
            "",
            "When no weight is left, a larger penalty changes nothing: which of the equal ones do you return?",
        ),
        "of equal errors the last": (
            "(error == lowest and lam > best[0])",
            "error == lowest",
            "Penalties come in any order. Is the last one the largest?",
        ),
        "a sum for the mean": (
            "np.mean((t[valid]",
            "np.sum((t[valid]",
            "Your error grows with the number of rows. A mean does not.",
        ),
        "the number of the penalty": (
            "return *best, lowest",
            "return list(lams).index(best[0]), best[1], lowest",
            "The penalty itself is asked, not its place in the list.",
        ),
    }
)

choose_penalty.equivalent(
    {
        "if error < lowest or (error == lowest and lam > best[0]): → "
        "if error < lowest or (error == lowest and lam >= best[0]):": "Of equal errors the largest penalty wins, wherever it stands in lams."
    }
)

choose_penalty.worked(
    why=r"""Rows that judge must not have spoken before: means, scales and weights come from the rows `train`, and the same numbers
    are applied to the rows `valid`, as they will be to any new patient. The search carries the best pair so far and its error; an error that is
    equal and a penalty that is larger wins, because of two fits that do equally well the simpler one is to be preferred."""
)


@choose_penalty.right("all errors at once, sorted")
def _(fit, X, y, train, valid, lams):
    scale, level = X[train].std(0), y[train].std()
    A, t = (X - X[train].mean(0)) / scale, (y - np.mean(y[train])) / level
    W = np.asarray(fit(A[train], t[train], lams))
    errors = ((t[valid][:, None] - A[valid] @ W.T) ** 2).mean(axis=0)
    k = np.lexsort((-np.asarray(lams), errors))[0]
    return float(lams[k]), W[k].tolist(), float(errors[k])


@choose_penalty.right(
    "scikit-learn's scaler", library="sklearn.preprocessing.StandardScaler"
)
def _(fit, X, y, train, valid, lams):
    from sklearn.metrics import mean_squared_error
    from sklearn.preprocessing import StandardScaler

    both = np.column_stack([X, y])
    both = StandardScaler().fit(both[train]).transform(both)
    A, t = both[:, :-1], both[:, -1]
    weights = fit(A[train], t[train], lams)
    errors = [mean_squared_error(t[valid], A[valid] @ w) for w in weights]
    k = min(range(len(lams)), key=lambda k: (errors[k], -lams[k]))
    return lams[k], weights[k], errors[k]


# ---------------------------------------------------------------- early stopping

early_stop = Exercise(
    "early_stop",
    reference=reference.early_stopping,
    compare=exact(),
    batched=("val_losses",),
    hints=[
        "Which two things must be remembered from epoch to epoch? One is the lowest loss that counted as an improvement.",
        "Begin with a best loss of infinity. An epoch improves if loss < best loss - min_delta; then note loss and epoch.",
        "After each epoch: if epoch - best_epoch >= patience, return (epoch, best_epoch). After the loop, the last epoch and best_epoch.",
    ],
)


@early_stop.cases
def _(rng):
    def case(losses, patience, min_delta=0.0):
        scale = 2.0 ** rng.integers(-3, 4)  # exact; the answer does not depend on it
        front = rng.integers(0, 3)  # epochs that improve: the answer moves with them
        losses = np.append(max(losses[0], 10.0) + 4.0 * np.arange(front, 0, -1), losses)
        return dict(
            val_losses=losses * scale,
            patience=patience,
            min_delta=min_delta * float(scale),
        )

    valley = [8.0, 5.0, 3.0, 4.0, 3.5, 6.0, 2.0, 7.0]
    yield "it waits so long, and no longer", case(valley, 2)
    yield "it waits so long, and no longer", case(valley, 4)
    yield "it waits so long, and no longer", case([5.0, 4.0, 4.5, 1.0], 1)
    yield "falls to the end", case([5.0, 4.0, 3.0, 2.0], 2)
    yield "below zero, too", case([1.0, -1.0, -3.0, -2.5, -3.5, -3.0, -2.0, -9.0], 2)
    yield "a plateau is no improvement", case([5.0, 3.0, 3.0, 3.0, 3.0, 3.0], 3)
    yield (
        "small gains",
        case([10.0, 9.75, 9.5, 8.0, 7.875, 7.75, 7.625, 7.5, 7.5], 3, 0.5),
    )
    # a gain of exactly min_delta is not more than it
    yield "small gains", case([9.0, 8.0, 7.5, 7.5, 7.5, 3.0], 2, 0.5)
    yield (
        "small gains",
        case([10.0, 9.75, 9.5, 9.25, 8.75, 8.5, 8.625], 3, 0.5),
    )
    yield "small gains", case([10.0, 9.75, 12.0, 9.375, 9.5, 9.75], 3, 0.5)
    for tail in (
        [np.nan, np.nan, 2.0, 2.5],
        [np.nan, np.nan, np.nan, 2.0],
        [np.nan, 4.0, 4.5, 6.0, 2.0],
    ):
        yield "a loss that is not a number", case([5.0, 3.0, *tail], 3)
    yield "a single epoch", case([2.0], 1)


early_stop.mistakes(
    {
        "brings back the lowest loss of the whole run": (
            "return epoch, best_epoch",
            "return epoch, int(np.nanargmin(val_losses))",
            "Training has stopped: can the rule know what comes later? And does a gain below min_delta count?",
        ),
        "stops at the first rise": (
            ">= patience",
            ">= 1",
            "What is patience for? Count the epochs since the best one.",
        ),
        "compares with the epoch before": (
            "best, best_epoch = loss, epoch\n",
            "best_epoch = epoch\n        best = loss if loss == loss else best\n",
            "A step down from a bad epoch is no improvement. With which loss do you compare?",
        ),
        "waits one epoch too long": (
            ">= patience",
            "> patience",
            "With patience 1, the first epoch without improvement is the last. Is your comparison > or >=?",
        ),
        "a tie counts as an improvement": (
            "loss < best - min_delta",
            "loss <= best - min_delta",
            "A loss equal to the best one has gained nothing. Is your comparison < or <=?",
        ),
        "min_delta is ignored": (
            "best - min_delta",
            "best",
            "When every gain is smaller than min_delta, does training still stop?",
        ),
        "min_delta is added": (
            "best - min_delta",
            "best + min_delta",
            "A loss a little worse than the best: is that an improvement?",
        ),
        "the best loss moves with every small gain": (
            "        if epoch - best_epoch",
            "        best = min(best, loss)\n        if epoch - best_epoch",
            "Gains below min_delta can add up. Is the best loss that of the last improving epoch, or the lowest so far?",
        ),
        "nan counts as an improvement": (
            "if loss < best - min_delta",
            "if not loss >= best - min_delta",
            "Every comparison with nan is False. What does `not loss >= …` make of it?",
        ),
        "an epoch with nan is not counted": (
            "for epoch, loss in enumerate(val_losses):",
            "for epoch, loss in enumerate(val_losses):\n        if np.isnan(loss):\n            best_epoch += 1\n            continue",
            "A loss that is nan is no improvement: the epoch uses up patience like any other.",
        ),
        "epochs counted from one": (
            "enumerate(val_losses)",
            "enumerate(val_losses, 1)",
            "The first loss belongs to epoch 0.",
        ),
        "never stopped: the number of epochs, not the last epoch": (
            "return len(val_losses) - 1,",
            "return len(val_losses),",
            "Epochs are numbered from 0. Which number has the last one?",
        ),
    }
)

early_stop.worked(
    why=r"""Two numbers are all the memory that the rule needs: the loss that counted last as an improvement, and its epoch. How long
    one has waited is a difference of epochs, no counter of its own. A comparison with nan is False, so nan improves nothing and uses
    up patience, which is what one wants of a run that has exploded."""
)


@early_stop.right("with a counter")
def _(val_losses, patience, min_delta):
    best, best_epoch, waited = float("inf"), 0, 0
    for epoch, loss in enumerate(val_losses.tolist()):
        if best - loss > min_delta:
            best, best_epoch, waited = loss, epoch, 0
        else:
            waited += 1
            if waited == patience:
                return [epoch, best_epoch]
    return [len(val_losses) - 1, best_epoch]


@early_stop.right("jumps from improvement to improvement")
def _(val_losses, patience, min_delta):
    best = 0
    while True:
        window = val_losses[best + 1 : best + 1 + patience]
        gains = np.flatnonzero(window < val_losses[best] - min_delta)
        if len(gains) == 0:
            return np.array([min(best + patience, len(val_losses) - 1), best])
        best = best + 1 + int(gains[0])

"""Exercises of 01_regression/03_ridge_and_lasso."""

import numpy as np
from scipy import stats

from descent.compare import close, exact
from solutions.spec import Exercise

from . import reference

# ---------------------------------------------------------------- ridge with a free offset

ridge = Exercise(
    "ridge",
    reference=reference.ridge_with_offset,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("X", "y"),
    hints=[
        "Keep w fixed and minimise over b alone. Which b is best, and what becomes of the residuals when you put it in?",
        "The best b is the mean of y minus the mean row of X times w. So subtract the means from y and from each column, "
        "solve ridge without an offset on what is left, then compute b.",
        "With A and t the centred X and y: w = np.linalg.solve(A.T @ A + lam * I, A.T @ t), where I is d × d. Then b from the two means.",
    ],
)


@ridge.cases
def _(rng):
    yield "ordinary rows", _rows(rng, 8, 3, lam=1.5)
    yield "targets far from zero", _rows(rng, 7, 2, lam=4.0, y_shift=100.0)
    yield "features far from zero", _rows(rng, 7, 2, lam=2.0, x_shift=20.0)
    yield "no penalty is least squares", _rows(rng, 9, 3, lam=0.0)
    yield "more columns than rows", _rows(rng, 4, 6, lam=0.5)
    twins = _rows(rng, 6, 2, lam=1.0)
    twins["X"] = np.column_stack([twins["X"], twins["X"][:, :1]])
    yield "twin columns", twins


def _rows(rng, n, d, lam, x_shift=0.0, y_shift=3.0):
    X = rng.normal(1.0, 1.0, (n, d)) + x_shift
    return dict(X=X, y=X @ rng.uniform(1, 2, d) + rng.normal(size=n) + y_shift, lam=lam)


def _padded(X):
    return np.column_stack([np.ones(len(X)), X])


def _ridge(X, y, lam):
    return np.linalg.solve(X.T @ X + lam * np.eye(X.shape[1]), X.T @ y)


def _min_norm(A, b):
    return np.linalg.lstsq(A, b, rcond=None)[0]


@ridge.wrong(
    "the offset is penalised too",
    advice="If every target grows by 100, your w must not change. Which entry of the penalty belongs to the offset?",
)
def _(X, y, lam):
    A = _padded(X)
    w = _min_norm(A.T @ A + lam * np.eye(A.shape[1]), A.T @ y)
    return w[1:], w[0]


@ridge.wrong(
    "no offset in the fit",
    advice="Does the mean of y move your w? The residuals that count are y - Xw - b, with the best b.",
)
def _(X, y, lam):
    w = _min_norm(X.T @ X + lam * np.eye(X.shape[1]), X.T @ y)
    return w, np.mean(y - X @ w)


@ridge.wrong(
    "the penalty is added to every entry",
    advice="In code, a matrix plus a number adds it everywhere. Where in the matrix does λI stand?",
)
def _(X, y, lam):
    A = X - X.mean(0)
    w = _min_norm(A.T @ A + lam, A.T @ (y - y.mean()))
    return w, y.mean() - X.mean(0) @ w


@ridge.wrong(
    "the penalty of the mean, not of the sum",
    advice="This objective sums the squares. In which one does n stand beside λ?",
)
def _(X, y, lam):
    A = X - X.mean(0)
    w = _min_norm(A.T @ A + len(y) * lam * np.eye(X.shape[1]), A.T @ (y - y.mean()))
    return w, y.mean() - X.mean(0) @ w


@ridge.wrong(
    "twice the penalty",
    advice="Take the derivative of both terms. Does the factor 2 stand at one of them only?",
)
def _(X, y, lam):
    A = X - X.mean(0)
    w = _min_norm(A.T @ A + 2 * lam * np.eye(X.shape[1]), A.T @ (y - y.mean()))
    return w, y.mean() - X.mean(0) @ w


@ridge.wrong(
    "the mean of y as the offset",
    advice="For which input does your fit give the mean of y? It should be the mean row of X, which is not 0 here.",
)
def _(X, y, lam):
    A = X - X.mean(0)
    return _min_norm(A.T @ A + lam * np.eye(X.shape[1]), A.T @ (y - y.mean())), y.mean()


@ridge.right("padded, with a hole in the penalty")
def _(X, y, lam):
    A, D = _padded(X), lam * np.eye(X.shape[1] + 1)
    D[0, 0] = 0
    w = np.linalg.solve(A.T @ A + D, A.T @ y)
    return w[1:], w[0]


@ridge.right("least squares with fake rows")
def _(X, y, lam):
    d = X.shape[1]
    fake = np.column_stack([np.zeros(d), np.sqrt(lam) * np.eye(d)])
    w = np.linalg.lstsq(
        np.vstack([_padded(X), fake]), np.append(y, np.zeros(d)), rcond=None
    )[0]
    return w[1:].tolist(), float(w[0])


@ridge.right("single precision at the end")
def _(X, y, lam):
    A = X - X.mean(0)
    w = np.linalg.pinv(A.T @ A + lam * np.eye(X.shape[1])) @ A.T @ (y - y.mean())
    return w.astype(np.float32), np.float32(y.mean() - X.mean(0) @ w)


# ---------------------------------------------------------------- the whole path from one SVD

ridge_svd = Exercise(
    "ridge_svd",
    reference=reference.ridge_path,
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("X", "y"),
    hints=[
        "Write y and w in the bases of the SVD. What does the penalty do to one direction, apart from all others?",
        "In direction j the weight is s_j / (s_j² + λ) times the component of y along u_j. For a direction with s_j = 0 it is 0, whatever λ.",
        "U, s, Vt = np.linalg.svd(X, full_matrices=False), once. Drop the directions with s tiny. "
        "For each λ: Vt.T @ (s / (s**2 + lam) * (U.T @ y)).",
    ],
)


@ridge_svd.cases
def _(rng):
    def case(n, d, lams):
        return dict(
            X=rng.normal(size=(n, d)), y=rng.normal(1, 1, n), lams=np.array(lams)
        )

    yield "three penalties in any order", case(7, 3, [1.0, 10.0, 0.1])
    yield "more columns than rows", case(3, 5, [0.5, 2.0])
    yield "no penalty, minimum norm", case(3, 5, [0.0, 1.0])
    twins = case(6, 2, [0.0, 0.5])
    twins["X"] = np.column_stack([twins["X"], twins["X"][:, 0]])
    yield "twin columns, no penalty", twins
    for _ in range(2):  # its zero singular value comes out as about 1e-7, rarely as 0
        mixed = case(6, 2, [0.0, 1e18])
        X = np.column_stack([mixed["X"], mixed["X"] @ [0.3, 0.6]])
        yield (
            "a mixed column in tiny units",
            {**mixed, "X": 1e9 * X, "y": 1e9 * mixed["y"]},
        )
    yield "a weak direction still counts", _weak(rng)
    yield "a single column", case(5, 1, [0.0, 3.0])


def _weak(rng):
    """A third singular value 3e-8 times the largest: far above the cut, lost when X is squared."""
    U, V = (np.linalg.qr(rng.normal(size=(rows, 3)))[0] for rows in (6, 3))
    X = U * [10.0, 3.0, 3e-7] @ V.T
    return dict(X=X, y=X @ V @ [1.0, -1.0, 2.0], lams=np.array([0.0, 1.0]))


def _svd(X):
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    kept = s > 1e-10 * s[0]
    return U[:, kept], s[kept], Vt[kept]


def _path(X, y, lams, factor):
    U, s, Vt = _svd(X)
    return np.array([Vt.T @ (factor(s, lam) * (U.T @ y)) for lam in lams])


@ridge_svd.wrong(
    "s² / (s² + λ) without the 1 / s",
    advice="That factor shrinks the fit, not the weights. With λ = 0, is your answer the least-squares one?",
)
def _(X, y, lams):
    return _path(X, y, lams, lambda s, lam: s**2 / (s**2 + lam))


@ridge_svd.wrong(
    "1 / (s + λ)",
    advice="λ is added to the eigenvalues of XᵀX. How are they related to the singular values of X?",
)
def _(X, y, lams):
    return _path(X, y, lams, lambda s, lam: 1 / (s + lam))


@ridge_svd.wrong(
    "λ squared",
    advice="For which λ does a direction lose half? Solve s² = λ and compare with your factor.",
)
def _(X, y, lams):
    return _path(X, y, lams, lambda s, lam: s / (s**2 + lam**2))


@ridge_svd.wrong(
    "V for its transpose",
    advice="np.linalg.svd returns Vᵀ, whose rows are the directions. Do you go back from the basis with V?",
)
def _(X, y, lams):
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    return np.array([Vt @ (s / (s**2 + lam) * (U.T @ y)) for lam in lams])


@ridge_svd.wrong(
    "the cut does not grow with X",
    advice="In units a billion times smaller, the rounded zero is a billion times larger. Small compared with what?",
)
def _(X, y, lams):
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    kept = s > 1e-10
    return np.array(
        [Vt[kept].T @ (s[kept] / (s[kept] ** 2 + k) * (U.T @ y)[kept]) for k in lams]
    )


@ridge_svd.wrong(
    "a zero direction blows up",
    advice="With λ = 0 and a singular value of 1e-17, what is s / (s² + λ)? Such directions must stay out.",
)
def _(X, y, lams):
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.array([Vt.T @ (s / (s**2 + lam) * (U.T @ y)) for lam in lams])


@ridge_svd.wrong(
    "the squares are compared with the cut",
    advice="The cut is meant for s, not for s²: a direction with s = 3e-8 s_1 still counts. "
    "XᵀX squares it below rounding, the SVD of X keeps it.",
)
def _(X, y, lams):
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    kept = s**2 > 1e-10 * s[0] ** 2
    return np.array(
        [Vt[kept].T @ (s[kept] / (s[kept] ** 2 + k) * (U.T @ y)[kept]) for k in lams]
    )


@ridge_svd.wrong(
    "the penalties are sorted",
    advice="Row i belongs to lams[i], in the order given.",
)
def _(X, y, lams):
    return _path(X, y, np.sort(lams), lambda s, lam: s / (s**2 + lam))


@ridge_svd.wrong(
    "the penalty times n",
    advice="This objective sums the squares. In which one does n stand beside λ?",
)
def _(X, y, lams):
    return _path(X, y, lams, lambda s, lam: s / (s**2 + len(y) * lam))


@ridge_svd.right("direction by direction, in lists")
def _(X, y, lams):
    U, s, Vt = np.linalg.svd(X)
    rows = [np.zeros(X.shape[1]) for _ in lams]
    for row, lam in zip(rows, lams):
        for j in range(len(s)):
            if s[j] / s[0] > 1e-10:
                row += U[:, j] @ y * s[j] / (s[j] ** 2 + lam) * Vt[j]
    return [row.tolist() for row in rows]


@ridge_svd.right("all penalties at once")
def _(X, y, lams):
    U, s, Vt = _svd(X)
    return (s / (s**2 + lams[:, None]) * (U.T @ y)) @ Vt


@ridge_svd.right("one solve a penalty")
def _(X, y, lams):
    return np.array(
        [
            _ridge(X, y, lam).astype(np.float32) if lam else np.linalg.pinv(X) @ y
            for lam in lams
        ]
    )


# ---------------------------------------------------------------- the dual form

ridge_dual = Exercise(
    "ridge_dual",
    reference=reference.dual_weights,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("X", "y"),
    hints=[
        "How many numbers does the answer hold: one a row or one a feature? Which matrix of inner products has that size?",
        "Put w = Xᵀα into λα = y - Xw and collect the two terms with α.",
        "np.linalg.solve(G + lam * I, y), with G the n × n matrix of inner products of the rows, and I as large as G.",
    ],
)


@ridge_dual.cases
def _(rng):
    def case(n, d, lam):
        return dict(X=rng.normal(size=(n, d)), y=rng.normal(1, 1, n), lam=lam)

    yield "fewer rows than features", case(3, 6, 0.7)
    yield "more rows than features", case(7, 2, 1.5)
    yield "as many rows as features", case(4, 4, 3.0)
    yield "a single row", case(1, 3, 2.0)
    yield (
        "a row of zeros",
        {**(zero := case(4, 3, 0.5)), "X": zero["X"] * [[1], [0], [1], [1]]},
    )
    yield (
        "the same row twice",
        {**(twice := case(3, 4, 1.0)), "X": twice["X"][[0, 1, 0]]},
    )


@ridge_dual.wrong(
    "the penalty is added to every entry",
    advice="G + λ in code adds λ to all n² entries. What stands in front of α in λα?",
)
def _(X, y, lam):
    return _min_norm(X @ X.T + lam, y)


@ridge_dual.wrong(
    "one weight a feature",
    advice="α has one entry for each row of X. You have solved for w: where is the n × n system?",
)
def _(X, y, lam):
    return _ridge(X, y, lam)


@ridge_dual.wrong(
    "the residual is not divided by λ",
    advice="Your result times Xᵀ should be w. Compare with α = (y - Xw)/λ.",
)
def _(X, y, lam):
    return y - X @ _ridge(X, y, lam)


@ridge_dual.wrong(
    "the penalty is left out",
    advice="Without λ the rows are fitted exactly. Which term carries λ on the left of the equation for α?",
)
def _(X, y, lam):
    return np.linalg.pinv(X @ X.T) @ y


@ridge_dual.wrong(
    "the predictions instead of the weights",
    advice="Gα is the fit at the training rows. The weights α are asked.",
)
def _(X, y, lam):
    G = X @ X.T
    return G @ np.linalg.solve(G + lam * np.eye(len(y)), y)


@ridge_dual.right("from the primal weights")
def _(X, y, lam):
    return (y - X @ _ridge(X, y, lam)) / lam


@ridge_dual.right("inner product by inner product, in lists")
def _(X, y, lam):
    G = [[sum(a * b for a, b in zip(u, v)) for v in X] for u in X]
    for i in range(len(G)):
        G[i][i] += lam
    return np.linalg.solve(np.array(G), y).tolist()


@ridge_dual.right("single precision")
def _(X, y, lam):
    G = (X @ X.T + lam * np.eye(len(y))).astype(np.float32)
    return np.linalg.solve(G, y.astype(np.float32))


# ---------------------------------------------------------------- the negative log posterior

map_objective = Exercise(
    "map_objective",
    reference=reference.negative_log_posterior,
    compare=close(rtol=1e-6, atol=1e-9),
    limit=5.0,  # scipy.stats may be imported by an answer
    batched=("X", "w", "y"),
    hints=[
        "Two sums of minus logarithms: one over rows, one over weights. Which density belongs to each term?",
        "Gaussian of sd s at z: -log density = ½ (z/s)² + log(s √(2π)). Laplace of rate κ: κ|z| - log(κ/2). "
        "Find κ from prior_sd by the variance 2/κ².",
        "loss = np.sum(0.5 * (r / noise_sd)**2 + np.log(noise_sd * np.sqrt(2 * np.pi))) with r = y - X @ w - b. "
        "Add the like over w for 'gaussian', the Laplace sum with κ = √2 / prior_sd for 'laplace', nothing for 'flat'.",
    ],
)


@map_objective.cases
def _(rng):
    def case(n, d, prior, b=None, **more):
        X = rng.normal(size=(n, d))
        b = float(rng.normal()) if b is None else b
        w = rng.normal(0.5, 1, d) * np.array([1, -1, 1, -1])[:d]
        y = X @ w + b + rng.normal(size=n)
        sds = dict(
            noise_sd=float(rng.uniform(0.4, 0.7)), prior_sd=float(rng.uniform(1.7, 2.5))
        )
        return {**dict(w=w, b=b, X=X, y=y, prior=prior), **sds, **more}

    yield "a Gaussian prior", case(5, 3, "gaussian")
    yield "a Laplace prior", case(5, 3, "laplace")
    yield "a flat prior is maximum likelihood", case(5, 3, "flat")
    yield "an offset far from 0", case(4, 2, "gaussian", b=30.0)
    yield "an offset far from 0", case(4, 2, "laplace", b=-30.0)
    yield "all weights are 0", case(4, 2, "laplace", w=np.zeros(2))
    yield "a single row and weight", case(1, 1, "gaussian")


def _normal(z, sd):
    return -np.sum(stats.norm.logpdf(z, scale=sd))


def _posterior(
    w, b, X, y, noise_sd, prior, prior_sd, prior_of=None, laplace_scale=None
):
    value = _normal(y - X @ w - b, noise_sd)
    weights = w if prior_of is None else prior_of
    if prior == "gaussian":
        value += _normal(weights, prior_sd)
    if prior == "laplace":
        scale = prior_sd / np.sqrt(2) if laplace_scale is None else laplace_scale
        value -= np.sum(stats.laplace.logpdf(weights, scale=scale))
    return value


@map_objective.wrong(
    "the offset has a prior too",
    advice="The offset's prior is flat. Over which parameters does the second sum run?",
)
def _(w, b, X, y, noise_sd, prior, prior_sd):
    return _posterior(w, b, X, y, noise_sd, prior, prior_sd, prior_of=np.append(w, b))


@map_objective.wrong(
    "the prior's sign is turned",
    advice="A likely weight should lower the objective. Is yours higher the more probable w is?",
)
def _(w, b, X, y, noise_sd, prior, prior_sd):
    flat = _posterior(w, b, X, y, noise_sd, "flat", prior_sd)
    return 2 * flat - _posterior(w, b, X, y, noise_sd, prior, prior_sd)


@map_objective.wrong(
    "the standard deviation taken for the Laplace scale",
    advice="The Laplace density with rate κ has variance 2/κ². Which κ gives the standard deviation prior_sd?",
)
def _(w, b, X, y, noise_sd, prior, prior_sd):
    return _posterior(w, b, X, y, noise_sd, prior, prior_sd, laplace_scale=prior_sd)


@map_objective.wrong(
    "the Laplace rate by the printed variance 2/κ",
    advice="Integrate w² times (κ/2) exp(-κ|w|) numerically for κ = 3. Is it 2/κ?",
)
def _(w, b, X, y, noise_sd, prior, prior_sd):
    return _posterior(
        w, b, X, y, noise_sd, prior, prior_sd, laplace_scale=prior_sd**2 / 2
    )


@map_objective.wrong(
    "the constants are dropped",
    advice="They do not move the minimum, but here they are asked: each density integrates to 1.",
)
def _(w, b, X, y, noise_sd, prior, prior_sd):
    value = np.sum((y - X @ w - b) ** 2) / (2 * noise_sd**2)
    if prior == "gaussian":
        value += np.sum(w**2) / (2 * prior_sd**2)
    if prior == "laplace":
        value += np.sqrt(2) / prior_sd * np.sum(np.abs(w))
    return value


@map_objective.wrong(
    "a standard deviation taken for a variance",
    advice="noise_sd is a standard deviation. What stands below the squared residual?",
)
def _(w, b, X, y, noise_sd, prior, prior_sd):
    return _posterior(w, b, X, y, np.sqrt(noise_sd), prior, np.sqrt(prior_sd))


@map_objective.wrong(
    "a mean over the rows",
    advice="Independent rows multiply their densities. What does the logarithm make of a product?",
)
def _(w, b, X, y, noise_sd, prior, prior_sd):
    flat = _posterior(w, b, X, y, noise_sd, "flat", prior_sd)
    rest = _posterior(w, b, X, y, noise_sd, prior, prior_sd) - flat
    return flat / (len(y) + (len(y) == 1)) + rest


@map_objective.right("with SciPy's densities")
def _(w, b, X, y, noise_sd, prior, prior_sd):
    return _posterior(w, b, X, y, noise_sd, prior, prior_sd)


@map_objective.right("row by row")
def _(w, b, X, y, noise_sd, prior, prior_sd):
    value = 0.0
    for row, target in zip(X, y):
        z = (target - b - sum(a * c for a, c in zip(row, w))) / noise_sd
        value += z * z / 2 + np.log(noise_sd) + np.log(2 * np.pi) / 2
    for weight in w if prior != "flat" else []:
        if prior == "gaussian":
            value += (
                (weight / prior_sd) ** 2 / 2 + np.log(prior_sd) + np.log(2 * np.pi) / 2
            )
        else:
            value += np.sqrt(2) * abs(weight) / prior_sd - np.log(
                1 / (np.sqrt(2) * prior_sd)
            )
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
    far = rng.uniform(1.5, 4.0, 4)
    yield (
        "some shrink, some vanish",
        dict(a=np.append(far * [1, -1, 1, -1], [0.4, -0.9]), lam=1.0),
    )
    yield "exactly on the edge", dict(a=np.array([-2.0, 2.0, 2.5]), lam=2.0)
    yield "no penalty changes nothing", dict(a=rng.normal(size=5), lam=0.0)
    yield "nothing survives", dict(a=rng.uniform(-1, 1, 4), lam=1.5)
    yield "a table of weights", dict(a=rng.normal(0, 2, (2, 3)), lam=0.5)


@soft_threshold.wrong(
    "hard threshold",
    advice="How far does the penalty pull a weight that survives? Its slope is λ everywhere but at 0.",
)
def _(a, lam):
    return np.where(np.abs(a) > lam, a, 0.0)


@soft_threshold.wrong(
    "half the penalty",
    advice="With the ½ in front of the square, is the threshold λ or λ/2? Set the derivative to 0.",
)
def _(a, lam):
    return np.sign(a) * np.maximum(np.abs(a) - lam / 2, 0)


@soft_threshold.wrong(
    "ridge's factor",
    advice="a / (1 + λ) is never 0. Which penalty has it: the square or the absolute value?",
)
def _(a, lam):
    return a / (1 + lam)


@soft_threshold.wrong(
    "negative weights are cut off",
    advice="Try a = -3. Is 0 really the best w, or -3 + λ?",
)
def _(a, lam):
    return np.maximum(a - lam, 0)


@soft_threshold.wrong(
    "it pulls through zero",
    advice="Try a = 0.4 with λ = 1. Did your weight change its sign? The kink at 0 stops it.",
)
def _(a, lam):
    return a - lam * np.sign(a)


@soft_threshold.right("two one-sided parts")
def _(a, lam):
    return np.maximum(a - lam, 0) - np.maximum(-a - lam, 0)


@soft_threshold.right("three cases, in single precision")
def _(a, lam):
    a = a.astype(np.float32)
    return np.where(
        a > lam, a - np.float32(lam), np.where(a < -lam, a + np.float32(lam), 0)
    )


# ---------------------------------------------------------------- coordinate descent

lasso_cd = Exercise(
    "lasso_cd",
    reference=reference.lasso_sweeps,
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("X", "y"),
    hints=[
        "Fix all weights but w_j. The rest of the problem has one unknown: bring it to the form ½ (w_j - a)² + (a penalty) |w_j|.",
        "Let r be the residual without feature j, y - Σ_{k≠j} x_k w_k. Then w_j = S(x_j·r, λ) / ‖x_j‖². Use each new weight at once.",
        "Inside two loops: r = y - X @ w + X[:, j] * w[j]; size = X[:, j] @ X[:, j]; if size > 0, "
        "w[j] is the soft threshold of X[:, j] @ r at lam, over size.",
    ],
)


@lasso_cd.cases
def _(rng):
    def case(n, d, lam, sweeps):
        X = rng.normal(size=(n, d)) + rng.normal(
            size=(n, 1)
        )  # a common part: columns correlate
        X = X * np.linspace(0.5, 1.5, d)  # and differ in size
        truth = np.array([2.0, -1.5, 1.0, 2.5])[:d]
        return dict(X=X, y=X @ truth + 0.5 * rng.normal(size=n), lam=lam, sweeps=sweeps)

    yield "a single sweep", case(7, 3, 0.8, 1)
    yield "three sweeps", case(7, 3, 0.8, 3)
    yield "until it settles", case(9, 3, 0.5, 300)
    yield "no penalty tends to least squares", case(9, 2, 0.0, 300)
    yield (
        "a column of zeros",
        {**(zero := case(6, 3, 0.4, 4)), "X": zero["X"] * [1, 0, 1]},
    )
    heavy = case(6, 3, 1.0, 5)
    yield (
        "a penalty that leaves nothing",
        {**heavy, "lam": 2 * np.abs(heavy["X"].T @ heavy["y"]).max()},
    )
    yield "no sweep yet", case(5, 2, 0.5, 0)


def _soft(a, lam):
    return np.sign(a) * np.maximum(np.abs(a) - lam, 0)


def _descend(X, y, lam, sweeps, update=None, order=None):
    w = np.zeros(X.shape[1])
    for _ in range(sweeps):
        for j in range(X.shape[1]) if order is None else order:
            x = X[:, j]
            if x @ x > 0:
                w[j] = (update or _update)(x, y - X @ w + x * w[j], lam)
    return w


def _update(x, r, lam):
    return _soft(x @ r, lam) / (x @ x)


@lasso_cd.wrong(
    "all weights move at once",
    advice="Within a sweep, does weight 2 already know the new weight 1? Each update uses the latest weights.",
)
def _(X, y, lam, sweeps):
    w, size = np.zeros(X.shape[1]), np.maximum((X**2).sum(0), 1e-300)
    for _ in range(min(sweeps, 30)):
        w = _soft(X.T @ (y - X @ w) + size * w, lam) / size
    return w


@lasso_cd.wrong(
    "the step is not divided by ‖x_j‖²",
    advice="The quadratic in w_j has curvature ‖x_j‖². What is it for your columns?",
)
def _(X, y, lam, sweeps):
    return _descend(X, y, lam, min(sweeps, 20), lambda x, r, lam: _soft(x @ r, lam))


@lasso_cd.wrong(
    "divided before the threshold",
    advice="Divide the whole one-dimensional problem by ‖x_j‖². What happens to the penalty?",
)
def _(X, y, lam, sweeps):
    return _descend(X, y, lam, sweeps, lambda x, r, lam: _soft(x @ r / (x @ x), lam))


@lasso_cd.wrong(
    "half the penalty",
    advice="This objective has ½ in front of the squares. What is the threshold then?",
)
def _(X, y, lam, sweeps):
    return _descend(X, y, lam / 2, sweeps)


@lasso_cd.wrong(
    "the penalty of the mean",
    advice="scikit-learn's alpha belongs to the mean of the squares. Here they are summed.",
)
def _(X, y, lam, sweeps):
    return _descend(X, y, len(y) * lam, sweeps)


@lasso_cd.wrong(
    "the feature's own part stays in the residual",
    advice="After a thousand sweeps nothing should move. Is the residual of update j free of x_j w_j?",
)
def _(X, y, lam, sweeps):
    w = np.zeros(X.shape[1])
    for _ in range(min(sweeps, 25)):
        for j in range(X.shape[1]):
            x = X[:, j]
            w[j] = _soft(x @ (y - X @ w), lam) / max(x @ x, 1e-300)
    return w


@lasso_cd.wrong(
    "hard threshold",
    advice="How far does the penalty pull a weight that survives?",
)
def _(X, y, lam, sweeps):
    return _descend(
        X,
        y,
        lam,
        sweeps,
        lambda x, r, lam: (x @ r if abs(x @ r) > lam else 0) / (x @ x),
    )


@lasso_cd.wrong(
    "from the last column to the first",
    advice="After one sweep the order shows. It runs over j = 0, …, d - 1.",
)
def _(X, y, lam, sweeps):
    return _descend(X, y, lam, sweeps, order=range(X.shape[1])[::-1])


@lasso_cd.wrong(
    "divides by zero",
    advice="What is ‖x_j‖² for a column of zeros? Its weight must stay 0.",
)
def _(X, y, lam, sweeps):
    w = np.zeros(X.shape[1])
    with np.errstate(invalid="ignore"):
        for _ in range(sweeps):
            for j in range(X.shape[1]):
                x = X[:, j]
                w[j] = _soft(x @ (y - X @ w + x * w[j]), lam) / (x @ x)
    return w


@lasso_cd.right("keeps the residual up to date")
def _(X, y, lam, sweeps):
    w, r = [0.0] * X.shape[1], y.copy()
    for _ in range(sweeps):
        for j, x in enumerate(X.T):
            size = sum(x * x)
            if size == 0:
                continue
            new = float(_soft(x @ r + size * w[j], lam) / size)
            r += x * (w[j] - new)
            w[j] = new
    return w


@lasso_cd.right("with the Gram matrix")
def _(X, y, lam, sweeps):
    G, c, w = X.T @ X, X.T @ y, np.zeros(X.shape[1])
    for _ in range(sweeps):
        for j in range(len(w)):
            z = c[j] - G[j] @ w + G[j, j] * w[j]
            w[j] = 0 if G[j, j] == 0 else (max(z - lam, 0) - max(-z - lam, 0)) / G[j, j]
    return w


@lasso_cd.right("single precision at the end")
def _(X, y, lam, sweeps):
    return _descend(X, y, lam, sweeps).astype(np.float32)


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
        scale = float(rng.uniform(0.5, 2.0))  # the answer does not depend on it
        return dict(
            val_losses=np.array(losses) * scale,
            patience=patience,
            min_delta=min_delta * scale,
        )

    valley = [8.0, 5.0, 3.0, 4.0, 3.5, 6.0, 2.0, 7.0]
    yield "stops after a valley", case(valley, 2)
    yield "patience finds the deeper valley", case(valley, 4)
    yield "patience of one", case([5.0, 4.0, 4.5, 1.0], 1)
    yield "falls to the end", case([5.0, 4.0, 3.0, 2.0], 2)
    yield "a plateau is no improvement", case([5.0, 3.0, 3.0, 3.0, 3.0, 3.0], 3)
    yield (
        "small gains do not count",
        case([10.0, 9.7, 9.4, 8.0, 7.8, 7.65, 7.55, 7.5, 7.45], 3, 0.5),
    )
    yield "small gains add up", case([10.0, 9.7, 9.4, 9.1, 8.8, 8.5, 8.6], 3, 0.5)
    yield "small gains add up", case([10.0, 9.8, 12.0, 9.4, 9.6, 9.7], 3, 0.5)
    yield "a loss that is not a number", case([5.0, 3.0, np.nan, np.nan, 2.0, 2.5], 3)
    yield (
        "a loss that is not a number",
        case([5.0, 3.0, np.nan, np.nan, np.nan, 2.0], 3),
    )
    yield "a loss that is not a number", case([5.0, 3.0, np.nan, 4.0, 4.5, 6.0, 2.0], 3)
    yield "a single epoch", case([2.0], 1)


def _stop(losses, patience, min_delta, better=None, ends=None):
    best, best_epoch = np.inf, 0
    for epoch, loss in enumerate(losses):
        if (better or (lambda a, b: a < b - min_delta))(loss, best):
            best, best_epoch = loss, epoch
        if epoch - best_epoch >= patience + (ends or 0):
            return epoch, best_epoch
    return len(losses) - 1, best_epoch


@early_stop.wrong(
    "brings back the lowest loss of the whole run",
    advice="Training has stopped: can the rule know what comes later? And does a gain below min_delta count?",
)
def _(val_losses, patience, min_delta):
    return _stop(val_losses, patience, min_delta)[0], int(np.nanargmin(val_losses))


@early_stop.wrong(
    "stops at the first rise",
    advice="What is patience for? Count the epochs since the best one.",
)
def _(val_losses, patience, min_delta):
    return _stop(val_losses, 1, min_delta)


@early_stop.wrong(
    "compares with the epoch before",
    advice="A step down from a bad epoch is no improvement. With which loss do you compare?",
)
def _(val_losses, patience, min_delta):
    before, best_epoch, waited = np.inf, 0, 0
    for epoch, loss in enumerate(val_losses):
        if loss < before - min_delta:
            best_epoch, waited = epoch, 0
        else:
            waited += 1
        before = loss
        if waited >= patience:
            return epoch, best_epoch
    return len(val_losses) - 1, best_epoch


@early_stop.wrong(
    "an epoch with nan is not counted",
    advice="A loss that is nan is no improvement: the epoch uses up patience like any other.",
)
def _(val_losses, patience, min_delta):
    best, best_epoch, waited = np.inf, 0, 0
    for epoch, loss in enumerate(val_losses):
        if loss < best - min_delta:
            best, best_epoch, waited = loss, epoch, 0
        elif not np.isnan(loss):
            waited += 1
        if waited >= patience:
            return epoch, best_epoch
    return len(val_losses) - 1, best_epoch


@early_stop.wrong(
    "waits one epoch too long",
    advice="With patience 1, the first epoch without improvement is the last. Is your comparison > or >=?",
)
def _(val_losses, patience, min_delta):
    return _stop(val_losses, patience, min_delta, ends=1)


@early_stop.wrong(
    "a tie counts as an improvement",
    advice="A loss equal to the best one has gained nothing. Is your comparison < or <=?",
)
def _(val_losses, patience, min_delta):
    return _stop(
        val_losses, patience, min_delta, better=lambda a, b: a <= b - min_delta
    )


@early_stop.wrong(
    "min_delta is ignored",
    advice="When every gain is smaller than min_delta, does training still stop?",
)
def _(val_losses, patience, min_delta):
    return _stop(val_losses, patience, 0.0)


@early_stop.wrong(
    "the best loss moves with every small gain",
    advice="Gains below min_delta can add up. Is the best loss that of the last improving epoch, or the lowest so far?",
)
def _(val_losses, patience, min_delta):
    best, best_epoch = np.inf, 0
    for epoch, loss in enumerate(val_losses):
        if loss < best - min_delta:
            best_epoch = epoch
        best = min(best, loss)
        if epoch - best_epoch >= patience:
            return epoch, best_epoch
    return len(val_losses) - 1, best_epoch


@early_stop.wrong(
    "nan counts as an improvement",
    advice="Every comparison with nan is False. What does `not loss >= …` make of it?",
)
def _(val_losses, patience, min_delta):
    return _stop(
        val_losses, patience, min_delta, better=lambda a, b: not a >= b - min_delta
    )


@early_stop.wrong(
    "epochs counted from one",
    advice="The first loss belongs to epoch 0.",
)
def _(val_losses, patience, min_delta):
    stop, best = _stop(val_losses, patience, min_delta)
    return stop + 1, best + 1


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

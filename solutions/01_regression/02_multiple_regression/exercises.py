"""Exercises of 01_regression/02_multiple_regression."""

import numpy as np
import scipy.linalg
import torch
from sklearn.linear_model import LinearRegression

from descent.compare import close
from solutions.spec import Exercise

from . import reference

# ---------------------------------------------------------------- the design matrix


def _design(father, mother, gender):
    boy = torch.tensor(
        [g == "boy" for g in gender], dtype=father.dtype, device=father.device
    )
    return reference.design_matrix(father, mother, boy)


design_matrix = Exercise(
    "design_matrix",
    reference=_design,
    compare=close(rtol=1e-9, atol=1e-12),
    hints=[
        "Write the matrix for two children on paper: how many rows, how many columns, and what stands in each column?",
        "The words must become numbers: 1.0 for a boy, 0.0 for a girl. A list comprehension over gender does it.",
        "np.column_stack puts four arrays of n numbers side by side: np.ones(n) first, then father, mother and the 0/1 array.",
    ],
)


@design_matrix.cases
def _(rng):
    yield "girls and boys", _family(rng, ["boy", "girl", "girl", "boy", "girl"])
    yield "girls only", _family(rng, ["girl", "girl", "girl"])
    yield "boys only", _family(rng, ["boy", "boy"])
    yield "a single child", _family(rng, ["boy"])


def _family(rng, gender):
    n = len(gender)
    father, mother = rng.normal(176, 7, n).round(1), rng.normal(163, 6, n).round(1)
    return dict(father=father, mother=mother, gender=gender)


def _boy(gender):
    return np.array([g == "boy" for g in gender], float)


@design_matrix.wrong(
    "girls are 1 and boys 0",
    advice="Which of the two words stands for 1 in the table? Codes given in alphabetical order put boy first.",
)
def _(father, mother, gender):
    return np.column_stack([np.ones(len(father)), father, mother, 1 - _boy(gender)])


@design_matrix.wrong(
    "the column of ones stands last",
    advice="The first weight is the intercept. Which column must hold the ones, then?",
)
def _(father, mother, gender):
    return np.column_stack([father, mother, _boy(gender), np.ones(len(father))])


@design_matrix.wrong(
    "no column of ones",
    advice="How many weights does the model have, and how many columns do you return?",
)
def _(father, mother, gender):
    return np.column_stack([father, mother, _boy(gender)])


@design_matrix.wrong(
    "one row a feature",
    advice="A child is a row. What does np.stack or np.array do with a list of columns?",
)
def _(father, mother, gender):
    return np.array([np.ones(len(father)), father, mother, _boy(gender)])


@design_matrix.wrong(
    "girls are 1 and boys 2",
    advice="Girls are the base of the comparison: their code is 0.",
)
def _(father, mother, gender):
    return np.column_stack([np.ones(len(father)), father, mother, 1 + _boy(gender)])


@design_matrix.right("row by row, as lists")
def _(father, mother, gender):
    rows = zip(father, mother, gender)
    return [[1, f, m, 1 if g == "boy" else 0] for f, m, g in rows]


@design_matrix.right("filled in")
def _(father, mother, gender):
    X = np.zeros((len(father), 4), np.float64)
    X[:, 0], X[:, 1], X[:, 2] = 1, father, mother
    X[np.array(gender) == "boy", 3] = 1
    return X


# ---------------------------------------------------------------- the gradient

grad_mlr = Exercise(
    "grad_mlr",
    reference=reference.gradient,
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("X", "beta", "y"),
    hints=[
        "First the n errors e = y - X beta, all at once. Then ask how L changes when one weight beta_k moves.",
        "The derivative by beta_k is minus the sum over i of e_i x_ik: minus the inner product of e with column k.",
        "All d inner products at once are the transposed matrix times e. Mind the sign, and do not divide by n.",
    ],
)


@grad_mlr.cases
def _(rng):
    yield "at any weights", _problem(rng, 6, 3)
    yield "at zero weights", _problem(rng, 5, 2) | dict(beta=np.zeros(2))
    yield "a single row", _problem(rng, 1, 3)
    yield "a single column", _problem(rng, 4, 1)
    fitted = _problem(rng, 7, 3)
    fitted["beta"] = np.linalg.lstsq(fitted["X"], fitted["y"], rcond=None)[0]
    yield "zero at the least squares fit", fitted


def _problem(rng, n, d):
    return dict(
        beta=rng.normal(size=d), X=rng.normal(size=(n, d)) + 1, y=rng.normal(3, 2, n)
    )


@grad_mlr.wrong(
    "points downhill", advice="Does L grow or fall when you walk along the gradient?"
)
def _(beta, X, y):
    return X.T @ (y - X @ beta)


@grad_mlr.wrong(
    "the one half is forgotten",
    advice="L has a factor 1/2 in front of the squares. What happens to it when you differentiate a square?",
)
def _(beta, X, y):
    return -2 * X.T @ (y - X @ beta)


@grad_mlr.wrong(
    "a mean instead of a sum",
    advice="L is a sum over the rows here. What do you divide by, and why?",
)
def _(beta, X, y):
    return -X.T @ (y - X @ beta) / len(y)


@grad_mlr.wrong(
    "the errors are summed without their features",
    advice="Your d entries are all alike. By how much does the score of row i move when beta_k moves by 1?",
)
def _(beta, X, y):
    return -np.sum(y - X @ beta) * np.ones(len(beta))


@grad_mlr.wrong(
    "the targets are left out",
    advice="What is the gradient when X beta = y exactly? Is yours 0 there?",
)
def _(beta, X, y):
    return X.T @ (X @ beta)


@grad_mlr.right("term by term")
def _(beta, X, y):
    gradient = [0.0] * len(beta)
    for row, target in zip(X, y):
        error = target - sum(x * b for x, b in zip(row, beta))
        gradient = [g - error * x for g, x in zip(gradient, row)]
    return gradient


@grad_mlr.right("from the quadratic form")
def _(beta, X, y):
    X, y, beta = X.astype(np.float64), y.astype(np.float64), beta.astype(np.float64)
    return X.T @ X @ beta - X.T @ y


@grad_mlr.right("by autograd")
def _(beta, X, y):
    b = torch.tensor(beta, requires_grad=True)
    error = torch.from_numpy(y) - torch.from_numpy(X) @ b
    (error @ error / 2).backward()
    return b.grad.numpy()


# ---------------------------------------------------------------- the hat matrix

hat_matrix = Exercise(
    "hat_matrix",
    reference=reference.hat_matrix,
    # Entries lie between -1 and 1. Through the pseudo-inverse, almost equal columns cost eight digits.
    compare=close(rtol=1e-6, atol=1e-6),
    batched=("X",),
    hints=[
        "If the columns of a matrix U are orthonormal and span the same space as the columns of X, what is the projection onto them?",
        "It is U times its own transpose. The singular value decomposition X = U diag(s) V^T gives such columns: those that belong to singular values which are not zero.",
        "U, s, Vt = np.linalg.svd(X, full_matrices=False); keep the columns of U where s > 1e-10 * s.max(), call them U again, and return U @ U.T.",
    ],
)


@hat_matrix.cases
def _(rng):
    yield "independent columns", dict(X=rng.normal(size=(5, 2)) + 1)
    yield (
        "independent columns",
        dict(X=np.column_stack([np.ones(6), rng.normal(size=(6, 2))])),
    )
    yield "a column of ones: everyone gets the mean", dict(X=np.ones((4, 1)))
    u = rng.permutation([1.0, 2.0, 3.0, 5.0])
    yield "a column twice", dict(X=np.column_stack([u, u]))
    yield "a column of zeros", dict(X=np.column_stack([u, np.zeros(4)]))
    yield "as many columns as rows", dict(X=_well_conditioned(rng, 3))
    yield "almost equal columns still span a plane", dict(X=_almost_equal(rng)["X"])
    yield "very small numbers", dict(X=1e-12 * (rng.normal(size=(5, 2)) + 1))


def _well_conditioned(rng, n):
    """Square, far from singular, with no symmetry."""
    return 3 * np.eye(n) + rng.uniform(-0.8, 0.8, (n, n))


@hat_matrix.wrong(
    "takes the columns to be independent",
    advice="Give it a column twice: X^T X has no inverse, but the span of the columns is still there.",
)
def _(X):
    return X @ np.linalg.inv(X.T @ X) @ X.T


@hat_matrix.wrong(
    "projects the weights, not the targets",
    advice="The hat matrix multiplies y, so it is n by n. Which side does X stand on in your product?",
)
def _(X):
    return np.linalg.pinv(X) @ X


@hat_matrix.wrong(
    "takes the residual",
    advice="Your matrix sends the columns of X to 0. Which matrix leaves them as they are?",
)
def _(X):
    return np.eye(len(X)) - X @ np.linalg.pinv(X)


@hat_matrix.wrong(
    "the cut-off does not grow with X",
    advice="In another unit all entries of X are smaller, and so are its singular values. What do you compare them with?",
)
def _(X):
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    return U[:, s > 1e-10] @ U[:, s > 1e-10].T


@hat_matrix.wrong(
    "takes the columns to be orthonormal",
    advice="X X^T is the projection only when X^T X is the identity. What must stand between the two factors?",
)
def _(X):
    return X @ X.T


@hat_matrix.wrong(
    "keeps directions of singular value zero",
    advice="Its trace is the number of columns, even where two columns are equal. Which columns of U really belong to the span?",
)
def _(X):
    U = np.linalg.svd(X, full_matrices=False)[0]
    return U @ U.T


@hat_matrix.wrong(
    "a small singular value is lost",
    advice="Almost equal columns are not equal ones. X^T X squares the singular values, a ridge or a coarse cut-off hides the small ones. Which of X's own values are at most 1e-10 times the largest?",
)
def _(X):
    return X @ np.linalg.pinv(X.T @ X) @ X.T


@hat_matrix.right("through the pseudo-inverse")
def _(X):
    return X @ np.linalg.pinv(X, rcond=1e-10)


@hat_matrix.right("column by column: Gram and Schmidt")
def _(X):
    H = np.zeros((len(X), len(X)))
    for column in X.T:
        left = column - H @ column
        left = left - H @ left  # once more: what rounding left
        if np.linalg.norm(left) > 1e-10 * np.linalg.norm(X):
            H = H + np.outer(left, left) / (left @ left)
    return H.tolist()


@hat_matrix.right("QR with pivoting")
def _(X):
    Q, R, _ = scipy.linalg.qr(X, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    Q = Q[:, size > 1e-10 * size[0]]
    return Q @ Q.T


# ---------------------------------------------------------------- least squares that stays accurate


def _solve(X, Y):
    return (
        reference.least_squares(X, Y)
        if Y.ndim == 2
        else reference.least_squares(X, Y[:, None])[:, 0]
    )


ols = Exercise(
    "ols",
    reference=_solve,
    # Columns of condition number 2e8 cost QR eight of sixteen digits, and the normal equations all.
    compare=close(rtol=1e-6, atol=1e-9),
    hints=[
        "Do not form X^T X: it squares the condition number. What does X = QR turn the normal equations into?",
        "With Q^T Q = I they become R B = Q^T Y, with a triangular R. np.linalg.qr gives Q (n, d) and R (d, d).",
        "Q, R = np.linalg.qr(X), then np.linalg.solve with R on the left and Q.T @ Y on the right. It works for Y (n,) and (n, t).",
    ],
)


@ols.cases
def _(rng):
    X = np.column_stack([np.ones(8), rng.normal(size=(8, 2))])
    yield "one target", dict(X=X, Y=rng.normal(2, 2, 8))
    yield "two targets", dict(X=X, Y=rng.normal(2, 2, (8, 2)))
    yield (
        "no intercept of its own",
        dict(X=rng.normal(1, 1, (6, 2)), Y=rng.normal(5, 1, 6)),
    )
    yield (
        "as many rows as columns",
        dict(X=_well_conditioned(rng, 3), Y=rng.normal(size=3)),
    )
    for _ in range(2):
        yield "almost equal columns", _almost_equal(rng)


def _almost_equal(rng, d=3):
    """Läuchli's matrix, signs and rows mixed: the entries 1 + 2^-54 of XᵀX round to 1, so XᵀX is singular."""
    X = np.vstack([np.ones(d), 2.0**-27 * np.eye(d)]) * rng.choice(
        [-1.0, 1.0], (d + 1, 1)
    )
    X = X[rng.permutation(d + 1)] * rng.choice([-1.0, 1.0], d)
    beta = rng.permutation([1.0, 2.0, 5.0]) * rng.choice([-1.0, 1.0], d)
    return dict(X=X, Y=X @ beta)


@ols.wrong(
    "inverts the normal equations",
    advice="X^T X holds numbers like 1 + 1e-16. Does a float keep them? Find a way that never forms X^T X.",
)
def _(X, Y):
    return np.linalg.inv(X.T @ X) @ X.T @ Y


@ols.wrong(
    "small singular values are cut off",
    advice="The columns are almost equal, not equal: the smallest singular value of X is 4e-9 of the largest, and not 0. X^T X loses it; so does a coarse cut-off such as scikit-learn's default tol. Decompose X itself.",
)
def _(X, Y):
    return np.linalg.pinv(X.T @ X) @ X.T @ Y


@ols.wrong(
    "a ridge on the diagonal",
    advice="Something small on the diagonal makes X^T X invertible, but it solves another problem. How large are the residuals' inner products with the columns?",
)
def _(X, Y):
    return np.linalg.solve(X.T @ X + 1e-3 * np.eye(X.shape[1]), X.T @ Y)


@ols.wrong(
    "the factors of QR are mixed up",
    advice="From X = QR follows R B = Q^T Y. Which triangular matrix do you solve with, R or its transpose?",
)
def _(X, Y):
    Q, R = np.linalg.qr(X)
    return np.linalg.solve(R.T, Q.T @ Y)


@ols.wrong(
    "the targets are centred first",
    advice="X already says whether there is an intercept. What does subtracting the mean of Y do to a fit without one?",
)
def _(X, Y):
    return np.linalg.lstsq(X, Y - Y.mean(axis=0), rcond=None)[0]


@ols.wrong(
    "uses as many rows as weights",
    advice="d rows give d equations that can be solved exactly. What about the other rows?",
)
def _(X, Y):
    d = X.shape[1]
    return np.linalg.lstsq(X[:d], Y[:d], rcond=None)[0]


@ols.right("NumPy's lstsq")
def _(X, Y):
    return np.linalg.lstsq(X, Y, rcond=None)[0]


@ols.right("the pseudo-inverse of X")
def _(X, Y):
    return np.linalg.pinv(X) @ Y


@ols.right("torch's lstsq, as lists")
def _(X, Y):
    Y2 = torch.from_numpy(Y.reshape(len(Y), -1))
    B = torch.linalg.lstsq(torch.from_numpy(X), Y2).solution
    return (B if Y.ndim == 2 else B[:, 0]).tolist()


@ols.right("scikit-learn")
def _(X, Y):
    return LinearRegression(fit_intercept=False, tol=1e-12).fit(X, Y).coef_.T


# ---------------------------------------------------------------- minimum norm

min_norm = Exercise(
    "min_norm",
    reference=reference.minimum_norm,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("X", "y"),
    hints=[
        "Take X = U diag(s) V^T apart. In which directions of beta does X beta not change at all? What should beta do there, to be short?",
        "Along direction v_j of V the fit needs the amount (u_j . y) / s_j. Where s_j is zero, take none of it.",
        "After U, s, Vt = np.linalg.svd(X, full_matrices=False), keep = s > 1e-10 * s.max(): sum (u_j . y) / s_j times v_j over the kept j.",
    ],
)


@min_norm.cases
def _(rng):
    fat = _well_conditioned(rng, 2)
    fat = np.hstack([fat, rng.normal(size=(2, 3))])
    yield "more weights than rows", dict(X=fat, y=rng.normal(2, 1, 2))
    yield (
        "more rows than weights",
        dict(X=rng.normal(size=(6, 2)) + 1, y=rng.normal(2, 1, 6)),
    )
    u = rng.permutation([1.0, 2.0, 3.0, 5.0])
    yield (
        "the same row twice, targets that disagree",
        dict(X=np.array([u, u]), y=rng.normal(2, 1, 2)),
    )
    yield (
        "the same column twice",
        dict(X=np.column_stack([u, u]), y=rng.normal(2, 1, 4)),
    )
    yield (
        "one row, one weight that matters",
        dict(X=np.array([[0.0, 2.0, 0.0]]), y=rng.uniform(1, 2, 1)),
    )
    yield "all features are zero", dict(X=np.zeros((3, 2)), y=rng.normal(2, 1, 3))
    near = _almost_equal(rng)
    yield "almost equal columns", dict(X=near["X"], y=near["Y"])
    yield "very small numbers", dict(X=1e-12 * fat, y=rng.normal(2, 1, 2))


@min_norm.wrong(
    "takes the rows (or the columns) to be independent",
    advice="With the same row twice, X X^T has no inverse. The pseudo-inverse of X has no such trouble.",
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
    beta, rank = np.zeros(X.shape[1]), 0
    chosen = []
    for j in range(X.shape[1]):
        if np.linalg.matrix_rank(X[:, chosen + [j]]) > rank:
            chosen, rank = chosen + [j], rank + 1
    if chosen:
        beta[chosen] = np.linalg.lstsq(X[:, chosen], y, rcond=None)[0]
    return beta


@min_norm.wrong(
    "a small singular value is lost",
    advice="Almost equal columns are not equal ones. X^T X squares the singular values, a tiny ridge or a coarse cut-off hides the small ones. Which of X's own values are at most 1e-10 times the largest?",
)
def _(X, y):
    return np.linalg.pinv(X.T @ X) @ X.T @ y


@min_norm.wrong(
    "the cut-off does not grow with X",
    advice="In another unit all entries of X are smaller, and so are its singular values. What do you compare them with?",
)
def _(X, y):
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    keep = s > 1e-10
    return Vt[keep].T @ ((U[:, keep].T @ y) / s[keep])


@min_norm.wrong(
    "a ridge remains",
    advice="A ridge of 0.01 gives an answer for every X, but not this one: it shortens beta even where the fit suffers.",
)
def _(X, y):
    return np.linalg.solve(X.T @ X + 0.01 * np.eye(X.shape[1]), X.T @ y)


@min_norm.wrong(
    "the multiplier's -2 is lost",
    advice="From 2 theta + X^T lambda = 0, what is theta? Follow the factor and the sign through, then test X theta = y.",
)
def _(X, y):
    return -2 * np.linalg.pinv(X, rcond=1e-10) @ y


@min_norm.wrong(
    "multiplies by the singular values",
    advice="If the features double, must the weights double or halve? Look at what you do with s.",
)
def _(X, y):
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    return Vt.T @ (s * (U.T @ y))


@min_norm.right("NumPy's pseudo-inverse")
def _(X, y):
    return np.linalg.pinv(X, rcond=1e-10) @ y


@min_norm.right("torch's lstsq, as lists")
def _(X, y):
    X, y = torch.from_numpy(X), torch.from_numpy(y)
    return (
        torch.linalg.lstsq(X, y[:, None], rcond=1e-10, driver="gelsd")
        .solution[:, 0]
        .tolist()
    )


@min_norm.right("two QR factorisations")
def _(X, y):
    Q, R, order = scipy.linalg.qr(X, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    rank = np.sum(size > 1e-10 * size[0])
    P, S = np.linalg.qr(R[:rank].T)
    beta = np.zeros(X.shape[1])
    beta[order] = P @ np.linalg.solve(S.T, Q[:, :rank].T @ y)
    return beta


@min_norm.wrong(
    "gradient descent that has not arrived",
    advice="From zero it walks towards the shortest solution, but with almost equal columns it needs about kappa squared steps. Is there a way in one step?",
)
def _(X, y):
    beta = np.zeros(X.shape[1])
    eta = 1 / max(np.linalg.norm(X, 2) ** 2, 1e-12)
    for _ in range(2000):
        beta = beta + eta * X.T @ (y - X @ beta)
    return beta


# ---------------------------------------------------------------- weights

wls = Exercise(
    "wls",
    reference=reference.weighted_least_squares,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("R", "X", "y"),
    hints=[
        "Which rows should count more: those with a large or a small noise variance? In the formula R stands in one place only, as an inverse.",
        "Two roads: the formula as it stands, with R^-1 in two places; or whiten: find L with R = L L^T, replace X by L^-1 X and y by L^-1 y, and fit as ever.",
        "L = np.linalg.cholesky(R); A = np.linalg.solve(L, X); b = np.linalg.solve(L, y); then least squares of b on A.",
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
    sure = np.append(0.01, np.ones(n - 1))
    yield "one row almost without noise", dict(X=X, y=y, R=np.diag(sure))
    yield "all rows alike: plain least squares", dict(X=X, y=y, R=2.5 * np.eye(n))
    square = dict(
        X=_well_conditioned(rng, 2), y=rng.normal(size=2), R=np.diag([0.5, 4.0])
    )
    yield "as many rows as weights", square


def _weighted(X, y, W):
    return np.linalg.solve(X.T @ W @ X, X.T @ W @ y)


@wls.wrong(
    "the noisiest rows count most",
    advice="Should a row with a large variance pull harder or less hard? Compare R with its inverse.",
)
def _(X, y, R):
    return _weighted(X, y, R)


@wls.wrong(
    "each residual is divided by its variance",
    advice="The squared residual is divided by the variance. By what, then, the residual itself?",
)
def _(X, y, R):
    W = np.linalg.inv(R)
    return _weighted(X, y, W @ W)


@wls.wrong(
    "each squared residual is divided by the standard deviation",
    advice="Units: a squared residual is in the unit of y squared. What must divide it to leave a pure number?",
)
def _(X, y, R):
    return _weighted(X, y, np.linalg.inv(np.real(scipy.linalg.sqrtm(R))))


@wls.wrong(
    "the noise that rows share is ignored",
    advice="R need not be diagonal. What do its other entries tell, and do you use them?",
)
def _(X, y, R):
    return _weighted(X, y, np.diag(1 / np.diag(R)))


@wls.wrong("all rows count the same", advice="Where does R enter your answer?")
def _(X, y, R):
    return np.linalg.lstsq(X, y, rcond=None)[0]


@wls.wrong(
    "the features are whitened, the targets are not",
    advice="The model is y = X beta + noise. If you multiply X by a matrix, what must happen to y?",
)
def _(X, y, R):
    return np.linalg.lstsq(np.linalg.solve(np.linalg.cholesky(R), X), y, rcond=None)[0]


@wls.right("the formula as it stands")
def _(X, y, R):
    return _weighted(X, y, np.linalg.inv(R))


@wls.right("whitening with the symmetric root")
def _(X, y, R):
    values, vectors = np.linalg.eigh(R)
    root = vectors / np.sqrt(values) @ vectors.T
    return np.linalg.lstsq(root @ X, root @ y, rcond=None)[0].tolist()


@wls.right("rows made alike by the Cholesky factor")
def _(X, y, R):
    A = np.linalg.solve(np.linalg.cholesky(R), np.column_stack([X, y]))
    return np.linalg.lstsq(A[:, :-1], A[:, -1], rcond=None)[0]


# ---------------------------------------------------------------- Huber by reweighting

huber_irls = Exercise(
    "huber_irls",
    reference=reference.huber_path,
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("X", "y"),
    hints=[
        "One step only: from the residuals of the last weights make a weight for each row, then do a weighted fit. Row 0 of the path is the plain fit.",
        "The weight of a row is 1 where |r| <= delta and delta / |r| beyond: in one go, delta / np.maximum(delta, abs(r)). A weighted fit is a plain fit of rows multiplied by the roots of the weights.",
        "In the loop: r = y - X @ path[-1]; w = sqrt of the weights; append np.linalg.lstsq(w[:, None] * X, w * y, rcond=None)[0].",
    ],
)


@huber_irls.cases
def _(rng):
    yield "one wild target", _with_outliers(rng, [30.0])
    yield "three wild targets on one side", _with_outliers(rng, [12.0, 15.0, 20.0])
    yield "wild on both sides", _with_outliers(rng, [-25.0, 15.0])
    yield (
        "no residual beyond delta: nothing moves",
        _with_outliers(rng, []) | dict(delta=50.0),
    )
    yield "zero steps: the plain fit", _with_outliers(rng, [20.0]) | dict(steps=0)
    no_noise = dict(y=np.zeros(9), delta=0.5)  # residuals of exactly 0
    yield "no residual beyond delta: nothing moves", _with_outliers(rng, []) | no_noise


def _with_outliers(rng, shifts):
    n = 9
    x = np.linspace(-2, 2, n)
    y = rng.uniform(0.5, 1.5) * x + rng.uniform(1, 2) + rng.uniform(-0.4, 0.4, n)
    y[rng.choice([0, 1, 2, 6, 7, 8], len(shifts), replace=False)] += shifts
    return dict(X=np.column_stack([np.ones(n), x]), y=y, delta=0.7, steps=4)


def _irls(X, y, delta, steps, weight):
    path = [np.linalg.lstsq(X, y, rcond=None)[0]]
    for _ in range(steps):
        w = np.sqrt(weight(y - X @ path[-1], delta))
        path.append(np.linalg.lstsq(w[:, None] * X, w * y, rcond=None)[0])
    return np.array(path)


def _huber_weight(r, delta):
    return delta / np.maximum(delta, np.abs(r))


@huber_irls.wrong(
    "rows are multiplied by the weights, not by their roots",
    advice="A row multiplied by w has its squared residual multiplied by w squared. What must you multiply it by?",
)
def _(X, y, delta, steps):
    return _irls(X, y, delta, steps, lambda r, d: _huber_weight(r, d) ** 2)


@huber_irls.wrong(
    "rows beyond delta are thrown away",
    advice="Huber's loss still grows beyond delta, in a straight line. Is the weight of such a row 0?",
)
def _(X, y, delta, steps):
    return _irls(X, y, delta, steps, lambda r, d: np.where(np.abs(r) <= d, 1.0, 1e-9))


@huber_irls.wrong(
    "far rows count more",
    advice="Print the weights beside the residuals: which rows get the largest weight?",
)
def _(X, y, delta, steps):
    return _irls(X, y, delta, steps, lambda r, d: np.maximum(d, np.abs(r)) / d)


@huber_irls.wrong(
    "absolute loss everywhere",
    advice="Within delta the loss is a square and all weights are 1. Do your weights exceed 1 for small residuals?",
)
def _(X, y, delta, steps):
    return _irls(X, y, delta, steps, lambda r, d: d / np.maximum(np.abs(r), 1e-6))


@huber_irls.wrong(
    "the weights are never renewed",
    advice="After the first step the residuals have changed. Which residuals do your weights come from?",
)
def _(X, y, delta, steps):
    first = np.linalg.lstsq(X, y, rcond=None)[0]
    w = _huber_weight(y - X @ first, delta)
    return _irls(X, y, delta, steps, lambda r, d: w)


@huber_irls.wrong(
    "delta counts standard deviations",
    advice="Here delta is in the unit of y. Do you divide the residuals by their spread?",
)
def _(X, y, delta, steps):
    return _irls(
        X, y, delta, steps, lambda r, d: _huber_weight(r / max(r.std(), 1e-12), d)
    )


@huber_irls.wrong(
    "only the last weights come back",
    advice="The path has steps + 1 rows: the plain fit first, then the weights after each step.",
)
def _(X, y, delta, steps):
    return _irls(X, y, delta, steps, _huber_weight)[-1]


@huber_irls.right("with the weighted normal equations")
def _(X, y, delta, steps):
    path = [np.linalg.solve(X.T @ X, X.T @ y)]
    for _ in range(steps):
        size = np.abs(y - X @ path[-1])
        w = np.ones(len(y))
        w[size > delta] = delta / size[size > delta]
        path.append(np.linalg.solve((X.T * w) @ X, (X.T * w) @ y))
    return path


@huber_irls.right("row by row in torch")
def _(X, y, delta, steps):
    X, y = torch.from_numpy(X), torch.from_numpy(y)
    path = [torch.linalg.lstsq(X, y[:, None]).solution[:, 0]]
    for _ in range(steps):
        A, b = torch.zeros(2, 2, dtype=X.dtype), torch.zeros(2, dtype=X.dtype)
        for row, target in zip(X, y):
            w = min(1.0, delta / max(abs(float(target - row @ path[-1])), 1e-300))
            A, b = A + w * torch.outer(row, row), b + w * target * row
        path.append(torch.linalg.solve(A, b))
    return torch.stack(path)

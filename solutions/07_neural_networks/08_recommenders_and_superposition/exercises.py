"""Exercises of 07_neural_networks/08_recommenders_and_superposition."""

import numpy as np
import torch

from descent.compare import close, exact
from solutions.spec import Exercise

from . import reference

# ---------------------------------------------------------------- a list to look at

rank_items = Exercise(
    "rank_items",
    reference=reference.rank_items,
    compare=exact(),
    batched=("B", "a", "seen"),
    shuffled=True,
    hints=[
        "Which single product gives the scores of all items at once? And what could you do to the scores of seen items so that they never win?",
        "Give seen items the score -inf. Sort the negative scores: then the best comes first. A stable sort keeps equal scores in their order.",
        "scores = np.where(seen, -np.inf, B @ a); then np.argsort(..., kind='stable') of the negative scores, cut to `top`.",
    ],
)


@rank_items.cases
def _(rng):
    yield "the best unseen items, best first", _shelf(rng, 8, 3, 3)
    yield "the best unseen items, best first", _shelf(rng, 9, 2, 4)
    tie = _shelf(rng, 6, 2, 4)
    tie["B"][[1, 2, 4]] = tie["B"][1]
    tie["seen"] = np.array([True, False, False, False, False, False])
    tie["top"] = 5
    yield "equal scores: the lower index first", tie
    every = _shelf(rng, 5, 2, 2)
    every["top"] = int((~every["seen"]).sum())
    a = every["a"]
    every["B"] = every["B"] - (np.max(every["B"] @ a) + 0.5) * a / (
        a @ a
    )  # no score is positive
    every["B"] *= 1e4  # scores far below 0
    yield "every unseen item", every
    yield "an empty list", dict(_shelf(rng, 4, 2, 0), top=0)


def _shelf(rng, t, d, top):
    a, B = rng.normal(size=d), rng.normal(size=(t, d))
    best = np.argmax(B @ a)
    B[[0, best]] = B[[best, 0]]
    seen = np.zeros(t, dtype=bool)
    seen[[0, 2]] = True  # the favourite and one more are known
    return dict(a=a, B=B, seen=seen, top=top)


@rank_items.wrong(
    "shows what was seen", advice="May an item of `seen` stand in the list?"
)
def _(a, B, seen, top):
    return np.argsort(-(B @ a), kind="stable")[:top]


@rank_items.wrong(
    "worst first", advice="Which end of a sorted array holds the largest score?"
)
def _(a, B, seen, top):
    return np.argsort(np.where(seen, np.inf, B @ a), kind="stable")[:top]


@rank_items.wrong(
    "numbers the unseen items afresh",
    advice="After seen rows are removed from B, does row 0 still mean item 0?",
)
def _(a, B, seen, top):
    return np.argsort(-(B[~seen] @ a), kind="stable")[:top]


@rank_items.wrong(
    "turns an ascending sort round",
    advice="What does reversing do to items of equal score?",
)
def _(a, B, seen, top):
    order = np.argsort(np.where(seen, -np.inf, B @ a), kind="stable")[::-1]
    return order[:top]


@rank_items.wrong(
    "a seen item gets the score 0",
    advice="Scores can be negative, as far down as they like. Is 0, or -1000, then out of the race?",
)
def _(a, B, seen, top):
    return np.argsort(-np.where(seen, 0.0, B @ a), kind="stable")[:top]


@rank_items.right("sorts pairs of score and index")
def _(a, B, seen, top):
    pairs = [(-float(b @ a), j) for j, b in enumerate(B) if not seen[j]]
    return [j for _, j in sorted(pairs)][:top]


@rank_items.right("only the unseen indices are sorted")
def _(a, B, seen, top):
    unseen = np.flatnonzero(~seen)
    return unseen[np.argsort(-(B[unseen] @ a), kind="stable")][:top]


# ---------------------------------------------------------------- loss and gradients

mf_grads = Exercise(
    "mf_grads",
    reference=reference.mf_grads,
    compare=close(rtol=1e-6, atol=1e-9, float32=True),
    batched=("A", "B", "R"),
    hints=[
        "Everything passes through the error matrix E. What must stand in E where the rating is unknown, so that it adds nothing?",
        "E = R - A Bᵀ, with 0 where R is NaN (0 * NaN is NaN: choose, do not multiply). Row i of the gradient by A is minus Σ_j e_ij b_j, plus lam a_i.",
        "E = np.where(np.isnan(R), 0, R - A @ B.T). By A: lam * A - E @ B. By B: the same with E.T and A. Do not forget the halves in the loss.",
    ],
)


@mf_grads.cases
def _(rng):
    yield "some ratings known", _ratings(rng, 4, 5, 2, 0.6, lam=0.3)
    yield "some ratings known", _ratings(rng, 6, 3, 3, 0.5, lam=0.7)
    yield "no penalty", _ratings(rng, 3, 4, 2, 0.7, lam=0.0)
    full = _ratings(rng, 3, 4, 1, 1.0, lam=0.5)
    yield "every rating known, one dimension", full
    none = _ratings(rng, 3, 4, 2, 0.5, lam=0.4)
    none["R"][:] = np.nan
    yield "no rating at all", none
    yield "a known rating of exactly 0", _average(_ratings(rng, 4, 4, 2, 0.7, lam=0.2))


def _ratings(rng, u, t, d, share, lam):
    R = rng.normal(size=(u, t)) + 2.0
    hidden = rng.permutation(u * t)[: int(round((1 - share) * u * t))]
    R.ravel()[hidden] = np.nan
    return dict(A=rng.normal(size=(u, d)), B=rng.normal(size=(t, d)), R=R, lam=lam)


def _average(case):
    """The case with its first and last known rating at 0: just average, but known."""
    known = np.argwhere(~np.isnan(case["R"]))
    case["R"][tuple(known[[0, -1]].T)] = 0.0
    return case


def _errors(A, B, R):
    return np.where(np.isnan(R), 0.0, R - A @ B.T)


def _penalised(A, B, E, lam):
    return (np.sum(E**2) + lam * (np.sum(A**2) + np.sum(B**2))) / 2


@mf_grads.wrong(
    "an unknown rating counts as 0",
    advice="A movie that nobody has rated is not a movie with rating 0. Which entries may enter the sum?",
)
def _(A, B, R, lam):
    E = np.nan_to_num(R) - A @ B.T
    return _penalised(A, B, E, lam), lam * A - E @ B, lam * B - E.T @ A


@mf_grads.wrong(
    "a rating of 0 counts as unknown",
    advice="0 stars above average is a rating like others. Which entries are NaN in R?",
)
def _(A, B, R, lam):
    R = np.nan_to_num(R)
    E = np.where(R != 0, R - A @ B.T, 0.0)
    return _penalised(A, B, E, lam), lam * A - E @ B, lam * B - E.T @ A


@mf_grads.wrong(
    "the gradient points downhill",
    advice="Compare with a finite difference: does the loss grow in the direction of your gradient?",
)
def _(A, B, R, lam):
    E = _errors(A, B, R)
    return _penalised(A, B, E, lam), E @ B - lam * A, E.T @ A - lam * B


@mf_grads.wrong(
    "the half is missing",
    advice="The loss has ½ in front of both sums; the gradient has lost it. Do the two fit together?",
)
def _(A, B, R, lam):
    E = _errors(A, B, R)
    return 2 * _penalised(A, B, E, lam), lam * A - E @ B, lam * B - E.T @ A


@mf_grads.wrong(
    "the mean in place of the sum",
    advice="The text sums over the known ratings. Divided by their number, the penalty would weigh more.",
)
def _(A, B, R, lam):
    E, n = _errors(A, B, R), max(1, np.sum(~np.isnan(R)))
    loss = np.sum(E**2) / (2 * n) + lam * (np.sum(A**2) + np.sum(B**2)) / 2
    return loss, lam * A - E @ B / n, lam * B - E.T @ A / n


@mf_grads.wrong(
    "the gradients forget the penalty",
    advice="The penalty stands in the loss. Does it have a slope?",
)
def _(A, B, R, lam):
    E = _errors(A, B, R)
    return _penalised(A, B, E, lam), -E @ B, -E.T @ A


@mf_grads.wrong(
    "NaN times 0",
    advice="What is np.nan * 0? Choose with np.where; do not multiply by a mask.",
)
def _(A, B, R, lam):
    E = (R - A @ B.T) * ~np.isnan(R)
    return _penalised(A, B, E, lam), lam * A - E @ B, lam * B - E.T @ A


@mf_grads.right("one rating at a time")
def _(A, B, R, lam):
    loss = lam * (np.sum(A**2) + np.sum(B**2)) / 2
    dA, dB = lam * A, lam * B
    for i, j in np.argwhere(~np.isnan(R)):
        e = R[i, j] - A[i] @ B[j]
        loss += e**2 / 2
        dA[i] -= e * B[j]
        dB[j] -= e * A[i]
    return loss, dA, dB


@mf_grads.right("torch differentiates, single precision")
def _(A, B, R, lam):
    A, B, R = (torch.tensor(M, dtype=torch.float32) for M in (A, B, R))
    A.requires_grad_()
    B.requires_grad_()
    E = torch.where(R.isnan(), torch.zeros(()), R.nan_to_num() - A @ B.T)
    loss = ((E**2).sum() + lam * ((A**2).sum() + (B**2).sum())) / 2
    loss.backward()
    return loss.item(), A.grad.numpy(), B.grad.numpy()


# ---------------------------------------------------------------- alternating least squares

als_step = Exercise(
    "als_step",
    reference=reference.als_step,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("B", "R"),
    hints=[
        "With B fixed the users do not know of each other. What is left for one user is a regression that you know: what are its features, and which rows does it have?",
        "For user i take the rows of B whose movies i has rated, as a feature matrix X, and the ratings as y. Ridge: (XᵀX + lam I) a = Xᵀy.",
        "known = ~np.isnan(R[i]); X, y = B[known], R[i, known]; row i is np.linalg.solve(X.T @ X + lam * np.eye(d), X.T @ y).",
    ],
)


@als_step.cases
def _(rng):
    yield "some ratings known", _for_users(rng, 4, 6, 2, 0.6, lam=0.5)
    yield "some ratings known", _for_users(rng, 3, 7, 3, 0.7, lam=0.2)
    cold = _for_users(rng, 4, 5, 2, 0.7, lam=0.3)
    cold["R"][1] = np.nan
    yield "a user without any rating", cold
    few = _for_users(rng, 3, 5, 3, 1.0, lam=0.4)
    few["R"][0, 1:] = np.nan
    yield "fewer ratings than dimensions", few
    yield "every rating known, one dimension", _for_users(rng, 3, 4, 1, 1.0, lam=0.1)
    yield (
        "a known rating of exactly 0",
        _average(_for_users(rng, 3, 5, 2, 0.8, lam=0.3)),
    )


def _for_users(rng, u, t, d, share, lam):
    case = _ratings(rng, u, t, d, share, lam)
    return dict(B=case["B"], R=case["R"], lam=lam)


def _rows_of(B, R, solve):
    return np.array([solve(B[~np.isnan(r)], r[~np.isnan(r)]) for r in R])


@als_step.wrong(
    "an unknown rating counts as 0",
    advice="Which rows of B may enter the regression of user i? Those of the movies that i rated.",
)
def _(B, R, lam):
    G = B.T @ B + lam * np.eye(B.shape[1])
    return np.linalg.solve(G, B.T @ np.nan_to_num(R).T).T


@als_step.wrong(
    "a rating of 0 counts as unknown",
    advice="0 stars above average is a rating like others. Which entries are NaN in R?",
)
def _(B, R, lam):
    eye, R = np.eye(B.shape[1]), np.where(R == 0, np.nan, R)
    return _rows_of(B, R, lambda X, y: np.linalg.solve(X.T @ X + lam * eye, X.T @ y))


@als_step.wrong(
    "no penalty",
    advice="A user with fewer ratings than dimensions has no unique fit without it.",
)
def _(B, R, lam):
    return _rows_of(B, R, lambda X, y: np.linalg.pinv(X) @ y)


@als_step.wrong(
    "the penalty grows with the number of ratings",
    advice="In J every user pays lam once, however many movies were rated.",
)
def _(B, R, lam):
    eye = np.eye(B.shape[1])
    return _rows_of(
        B,
        R,
        lambda X, y: np.linalg.solve(
            X.T @ X + len(y) * lam * eye + (len(y) == 0) * eye, X.T @ y
        ),
    )


@als_step.wrong(
    "twice the penalty",
    advice="Both sums in J carry the factor ½, so it cancels. Set the gradient to zero once more.",
)
def _(B, R, lam):
    eye = np.eye(B.shape[1])
    return _rows_of(
        B, R, lambda X, y: np.linalg.solve(X.T @ X + 2 * lam * eye, X.T @ y)
    )


@als_step.right("all users in one batch")
def _(B, R, lam):
    known = ~np.isnan(R)
    G = np.einsum("ut,td,te->ude", known, B, B) + lam * np.eye(B.shape[1])
    return np.linalg.solve(G, (np.where(known, R, 0) @ B)[..., None])[..., 0]


@als_step.right("scikit-learn's Ridge, user by user")
def _(B, R, lam):
    from sklearn.linear_model import Ridge

    ridge = Ridge(alpha=lam, fit_intercept=False)
    zero = np.zeros(B.shape[1])
    return _rows_of(B, R, lambda X, y: ridge.fit(X, y).coef_ if len(y) else zero)


@als_step.right("least squares with rows for the penalty")
def _(B, R, lam):
    d = B.shape[1]
    return _rows_of(
        B,
        R,
        lambda X, y: np.linalg.lstsq(
            np.vstack([X, np.sqrt(lam) * np.eye(d)]),
            np.concatenate([y, np.zeros(d)]),
            rcond=None,
        )[0],
    )


@als_step.right("single precision")
def _(B, R, lam):
    return reference.als_step(torch.tensor(B), torch.tensor(R), lam).float().numpy()


# ---------------------------------------------------------------- the gauge

canonical = Exercise(
    "canonical",
    reference=reference.canonical,
    # A needless dimension has s of the size of the rounding error, and its root stands in the factors:
    # up to 1e-3 in single precision.
    compare=close(rtol=1e-5, atol=3e-3),
    batched=("A", "B"),
    hints=[
        "The product P = A Bᵀ is all that counts. Which factorisation of P into orthonormal columns, a diagonal and orthonormal rows do you know?",
        "P = U diag(s) Vᵀ has rank at most d: keep d columns. Split each s evenly: its root goes to U and to V. Then turn signs, in both factors together.",
        "U, s, Vt = np.linalg.svd(A @ B.T, full_matrices=False); new A: U[:, :d] * np.sqrt(s[:d]), new B likewise from Vt.T; the sign of each column from new B's entry at np.abs(new_B).argmax(axis=0).",
    ],
)


@canonical.cases
def _(rng):
    yield "same product, aligned axes", _factors(rng, 5, 4, [3.0, 1.2])
    yield "same product, aligned axes", _factors(rng, 6, 5, [4.0, 2.0, 0.7])
    yield "one dimension", _factors(rng, 4, 3, [2.0])
    yield "a largest entry against the sum of its column", _against(rng)
    spare = _factors(rng, 5, 4, [3.0, 1.0])
    for name in "AB":
        spare[name] = np.column_stack([spare[name], np.zeros(len(spare[name]))])
    M = _mixing(rng, 3)
    spare["A"], spare["B"] = spare["A"] @ M.T, spare["B"] @ np.linalg.inv(M)
    yield "a dimension that is not needed", spare


def _mixing(rng, d):
    U, _ = np.linalg.qr(rng.normal(size=(d, d)))
    V, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return U @ np.diag(np.geomspace(0.5, 3.0, d) * rng.uniform(0.8, 1.2, d)) @ V


def _factors(rng, u, t, s):
    d = len(s)
    U, _ = np.linalg.qr(rng.normal(size=(u, d)))
    V, _ = np.linalg.qr(rng.normal(size=(t, d)))
    U, V = (Q * np.where(Q[np.abs(Q).argmax(0), range(d)] > 0, 1, -1) for Q in (U, V))
    V[:, 0] *= -1  # the largest entries of the first columns differ in sign
    s = np.array(s) * rng.uniform(0.9, 1.1, d)
    M = _mixing(rng, d)
    return dict(A=U * np.sqrt(s) @ M.T, B=V * np.sqrt(s) @ np.linalg.inv(M))


def _against(rng):
    """One dimension; the entry of largest absolute value has another sign than the sum, in A and B."""
    a, b = np.array([1.5, -1.0, -1.1, -0.9]), np.array([-2.0, 1.2, 1.3])
    scale = rng.uniform(0.8, 1.2)
    return dict(A=scale * a[:, None], B=b[:, None] / scale)


def _split(A, B):
    d = A.shape[1]
    U, s, Vt = np.linalg.svd(A @ B.T, full_matrices=False)
    return U[:, :d], s[:d], Vt[:d].T


def _signed(A, B):
    sign = np.where(B[np.abs(B).argmax(0), range(B.shape[1])] < 0, -1, 1)
    return A * sign, B * sign


@canonical.wrong(
    "all of s goes to one factor",
    advice="Compare the Gram matrices of your two factors. Are they equal?",
)
def _(A, B):
    U, s, V = _split(A, B)
    return _signed(U * s, V)


@canonical.wrong(
    "s in both factors",
    advice="Multiply your factors. Is the product still that of A and B?",
)
def _(A, B):
    U, s, V = _split(A, B)
    return _signed(U * s, V * s)


@canonical.wrong(
    "signs are turned in one factor only",
    advice="Turning a column of B alone changes the product. What must turn with it?",
)
def _(A, B):
    U, s, V = _split(A, B)
    V, U = _signed(V, U)  # signs as if U had to be positive
    return U * np.sqrt(s), _signed(U, V)[1] * np.sqrt(s)


@canonical.wrong(
    "signs by the sum of the column",
    advice="Which entry of each column of B' does the text want positive?",
)
def _(A, B):
    U, s, V = _split(A, B)
    sign = np.where(V.sum(0) < 0, -1, 1)
    return U * sign * np.sqrt(s), V * sign * np.sqrt(s)


@canonical.wrong(
    "each factor is aligned by itself",
    advice="Two separate decompositions do not know of each other. Is the product still that of A and B?",
)
def _(A, B):
    (U, s, _), (V, r, _) = (np.linalg.svd(M, full_matrices=False) for M in (A, B))
    return _signed(U * s, V * r)


@canonical.wrong(
    "smallest axis first",
    advice="In which order does the text want the diagonal of the Gram matrix?",
)
def _(A, B):
    U, s, V = _split(A, B)
    left, right = _signed(U * np.sqrt(s), V * np.sqrt(s))
    return left[:, ::-1] + (A.shape[1] == 1), right[:, ::-1]


@canonical.right("through two small QR decompositions")
def _(A, B):
    (QA, RA), (QB, RB) = np.linalg.qr(A), np.linalg.qr(B)
    U, s, Vt = np.linalg.svd(RA @ RB.T)
    return _signed(QA @ U * np.sqrt(s), QB @ Vt.T * np.sqrt(s))


@canonical.right("single precision")
def _(A, B):
    U, s, V = _split(A.astype(np.float32), B.astype(np.float32))
    return _signed(U * np.sqrt(s), V * np.sqrt(s))


@canonical.right("through the eigenvectors of PᵀP")
def _(A, B):
    P, d = A @ B.T, A.shape[1]
    values, V = np.linalg.eigh(P.T @ P)
    s, V = np.sqrt(np.clip(values[::-1][:d], 0, None)), V[:, ::-1][:, :d]
    U = P @ V / np.maximum(s, 1e-6 * s[0])
    return _signed(U * np.sqrt(s), V * np.sqrt(s))


@canonical.right("in torch")
def _(A, B):
    return [M.numpy() for M in reference.canonical(torch.tensor(A), torch.tensor(B))]


# ---------------------------------------------------------------- the feedback loop

feedback_step = Exercise(
    "feedback_step",
    reference=reference.feedback_step,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("B", "a"),
    hints=[
        "First the shares p: a softmax of beta times the scores, mixed with the uniform distribution. Then two uses of p.",
        "Subtract the largest score before exp. The mean item under p is Bᵀp. For the diversity, p log p counts as 0 where p = 0.",
        "p = (1 - explore) * softmax + explore / len(B); new = (1 - lr) * a + lr * B.T @ p; q = p[p > 0]; diversity = np.exp(-np.sum(q * np.log(q))).",
    ],
)


@feedback_step.cases
def _(rng):
    yield "taste drifts, diversity counts", _loop(rng, 6, 2, 1.5, 0.3, 0.2)
    yield "taste drifts, diversity counts", _loop(rng, 5, 3, 2.0, 0.1, 0.5)
    yield "exploration alone", _loop(rng, 5, 2, 2.0, 1.0, 0.3)
    sharp = _loop(rng, 4, 2, 5000.0, 0.0, 0.4)
    sharp["a"], sharp["B"] = (
        np.array([1.0, 0.0]),
        np.array([[1.0, 0.2], [-1.0, 0.3], [0.0, 1.0], [0.3, -1.0]]),
    )
    sharp["B"] = sharp["B"] * rng.uniform(0.9, 1.1)
    yield "so sharp that one item takes all", sharp
    yield "a taste that does not move", _loop(rng, 5, 2, 1.0, 0.2, 0.0)


def _loop(rng, t, d, beta, explore, lr):
    return dict(
        a=rng.normal(size=d),
        B=rng.normal(size=(t, d)),
        beta=beta,
        explore=explore,
        lr=lr,
    )


def _shares(a, B, beta, explore):
    s = beta * (B @ a)
    w = np.exp(s - s.max())
    return (1 - explore) * w / w.sum() + explore / len(B)


def _effective(p):
    q = p[p > 0]
    return np.exp(-np.sum(q * np.log(q)))


@feedback_step.wrong(
    "the entropy itself",
    advice="Ten items shown equally often have diversity 10. What does your formula give for them?",
)
def _(a, B, beta, explore, lr):
    p = _shares(a, B, beta, explore)
    return a + lr * (B.T @ p - a), np.log(_effective(p))


@feedback_step.wrong(
    "the taste only adds up",
    advice="With step lr the taste moves a part of the way towards what was seen. What happens to the old taste?",
)
def _(a, B, beta, explore, lr):
    p = _shares(a, B, beta, explore)
    return a + lr * B.T @ p, _effective(p)


@feedback_step.wrong(
    "exploration without renormalising",
    advice="Do your shares sum to 1? Exploration takes its part away from the recommendations.",
)
def _(a, B, beta, explore, lr):
    p = _shares(a, B, beta, 0.0) + explore / len(B)
    return a + lr * (B.T @ p - a), _effective(p)


@feedback_step.wrong(
    "overflow",
    advice="exp of 5000 is infinite. Which number may you subtract from all scores?",
)
def _(a, B, beta, explore, lr):
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        w = np.exp(beta * (B @ a))
        p = (1 - explore) * w / w.sum() + explore / len(B)
        return a + lr * (B.T @ p - a), np.exp(-np.sum(p * np.log(p)))


@feedback_step.wrong(
    "diversity after the step",
    advice="The diversity is that of the items shown in this round, before the taste has moved.",
)
def _(a, B, beta, explore, lr):
    new = a + lr * (B.T @ _shares(a, B, beta, explore) - a)
    return new, _effective(_shares(new, B, beta, explore))


@feedback_step.right("item by item")
def _(a, B, beta, explore, lr):
    scores = [beta * sum(x * y for x, y in zip(b, a, strict=True)) for b in B]
    weights = [np.exp(s - max(scores)) for s in scores]
    p = [(1 - explore) * w / sum(weights) + explore / len(B) for w in weights]
    new = [
        (1 - lr) * a[k] + lr * sum(q * b[k] for q, b in zip(p, B, strict=True))
        for k in range(len(a))
    ]
    return new, np.prod([q**-q for q in p if q > 0])


@feedback_step.right("torch, single precision")
def _(a, B, beta, explore, lr):
    a, B = torch.tensor(a, dtype=torch.float32), torch.tensor(B, dtype=torch.float32)
    p = (1 - explore) * torch.softmax(beta * (B @ a), 0) + explore / len(B)
    return ((1 - lr) * a + lr * (B.T @ p)).numpy(), torch.special.entr(
        p
    ).sum().exp().item()


# ---------------------------------------------------------------- editing one attribute

swap_attribute = Exercise(
    "swap_attribute",
    reference=reference.swap_attribute,
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("h", "new"),
    hints=[
        "You must read before you write: which coefficients does h hold now in subspace k? With overlapping subspaces, can you read one alone?",
        "Put all columns side by side and solve one least squares problem for all coefficients. Then change h only by B_k times (new - old).",
        "c = np.linalg.lstsq(np.hstack(Bs), h, rcond=None)[0]; the part of k starts after sum(B.shape[1] for B in Bs[:k]) entries; return h + Bs[k] @ (new - c_k).",
    ],
)


@swap_attribute.cases
def _(rng):
    Q = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    tidy = _edit(rng, [Q[:, :2], Q[:, 2:4]], 1)
    yield "orthonormal subspaces", tidy
    long = _edit(rng, [Q[:, :2] * np.array([2.0, 0.5]), Q[:, 2:3] * 3.0, Q[:, 3:4]], 0)
    yield "columns that are not of length 1", long
    Bs = [rng.normal(size=(7, k)) + 0.5 for k in (2, 1, 2)]
    yield "subspaces that overlap", _edit(rng, Bs, 1)
    yield "subspaces that overlap", _edit(rng, Bs, 2)
    whole = [rng.normal(size=(4, 1)) + 0.4 for _ in range(4)]
    yield "as many columns as dimensions", _edit(rng, whole, 3)
    same = _edit(rng, Bs, 0)
    c = np.linalg.lstsq(np.hstack(Bs), same["h"], rcond=None)[0]
    yield "the old value put back changes nothing", dict(same, new=c[:2])


def _edit(rng, Bs, k):
    d = len(Bs[0])
    h = sum(B @ (rng.normal(size=B.shape[1]) + 1.0) for B in Bs) + 0.3 * rng.normal(
        size=d
    )
    return dict(h=h, Bs=Bs, k=k, new=rng.normal(size=Bs[k].shape[1]) - 1.0)


@swap_attribute.wrong(
    "reads by projection",
    advice="B_kᵀh is the old value only for orthonormal columns that are orthogonal to all other subspaces.",
)
def _(h, Bs, k, new):
    return h + Bs[k] @ (new - Bs[k].T @ h)


@swap_attribute.wrong(
    "reads subspace k alone",
    advice="A pseudo-inverse of B_k mends long columns. Does it know what the other subspaces put into h?",
)
def _(h, Bs, k, new):
    return h + Bs[k] @ (new - np.linalg.pinv(Bs[k]) @ h)


@swap_attribute.wrong(
    "adds without removing", advice="Where does the old value of the attribute go?"
)
def _(h, Bs, k, new):
    return h + Bs[k] @ new


@swap_attribute.wrong(
    "rebuilds h from the subspaces",
    advice="What of the part of h that lies in none of the subspaces? It should stay.",
)
def _(h, Bs, k, new):
    c = np.linalg.lstsq(np.hstack(Bs), h, rcond=None)[0]
    start = sum(B.shape[1] for B in Bs[:k])
    c[start : start + len(new)] = new
    return np.hstack(Bs) @ c


@swap_attribute.right("through the pseudo-inverse of all columns")
def _(h, Bs, k, new):
    parts = np.split(
        np.linalg.pinv(np.hstack(Bs)) @ h, np.cumsum([B.shape[1] for B in Bs])[:-1]
    )
    return h - Bs[k] @ parts[k] + Bs[k] @ new


@swap_attribute.right("the other subspaces are projected out first")
def _(h, Bs, k, new):
    rest = np.hstack([B for i, B in enumerate(Bs) if i != k])
    free = np.eye(len(h)) - rest @ np.linalg.pinv(rest)
    return h + Bs[k] @ (new - np.linalg.pinv(free @ Bs[k]) @ h)


@swap_attribute.right("in torch")
def _(h, Bs, k, new):
    return reference.swap_attribute(
        torch.tensor(h), [torch.tensor(B) for B in Bs], k, torch.tensor(new)
    ).numpy()


# ---------------------------------------------------------------- interference

interference = Exercise(
    "interference",
    reference=reference.interference,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("W",),
    hints=[
        "All inner products stand in one matrix, W.T @ W. Where do you find the squared lengths in it?",
        "Row i of the squared Gram matrix, without its diagonal, sums the squared inner products of w_i with the others. One more division, by ‖w_i‖²: only w_i is made a unit vector.",
        "G = W.T @ W; own = np.diag(G); cross = (G**2).sum(1) - own**2; divide by own where own > 0 (np.divide with out= and where=).",
    ],
)


@interference.cases
def _(rng):
    yield "more features than dimensions", dict(W=rng.normal(size=(2, 5)) + 0.3)
    yield (
        "more features than dimensions",
        dict(W=rng.normal(size=(3, 4)) * np.array([2.0, 0.5, 1.0, 1.5])),
    )
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    yield "orthogonal features do not interfere", dict(W=Q * rng.uniform(0.5, 2.0, 3))
    gone = rng.normal(size=(2, 4)) + 0.3
    gone[:, 1] = 0
    yield "a feature that is not stored", dict(W=gone)
    yield "a single feature", dict(W=rng.normal(size=(3, 1)))


@interference.wrong(
    "both vectors are made unit vectors",
    advice="A short neighbour disturbs less than a long one. Which of the two vectors does the text normalise?",
)
def _(W):
    n = np.linalg.norm(W, axis=0)
    unit = W / np.where(n > 0, n, 1)
    return n, ((unit.T @ unit) ** 2).sum(1) - (n > 0)


@interference.wrong(
    "neither vector is made a unit vector",
    advice="Interference is measured along the direction of w_i: does the length of w_i itself matter?",
)
def _(W):
    G = W.T @ W
    return np.sqrt(np.diag(G)), (G**2).sum(1) - np.diag(G) ** 2


@interference.wrong(
    "counts the feature itself", advice="Is a feature its own interference?"
)
def _(W):
    n = np.linalg.norm(W, axis=0)
    unit = W / np.where(n > 0, n, 1)
    return n, ((unit.T @ W) ** 2).sum(1)


@interference.wrong(
    "rows for columns",
    advice="W is (d, n), a column a feature. How many values should come back?",
)
def _(W):
    G = W @ W.T
    own = np.diag(G)
    return np.sqrt(own), (G**2).sum(1) / own - own


@interference.wrong(
    "divides by zero",
    advice="A feature of length 0 has no direction. What does the text say for it?",
)
def _(W):
    G = W.T @ W
    own = np.diag(G)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt(own), ((G**2).sum(1) - own**2) / own


@interference.wrong(
    "overlaps are not squared",
    advice="Overlaps of both signs must not cancel. What is summed, the inner product or its square?",
)
def _(W):
    n = np.linalg.norm(W, axis=0)
    unit = W / np.where(n > 0, n, 1)
    return n, (unit.T @ W).sum(1) - n


@interference.right("pair by pair")
def _(W):
    columns = W.T.tolist()
    lengths = [sum(x * x for x in w) ** 0.5 for w in columns]
    cross = []
    for i, w in enumerate(columns):
        overlaps = [sum(x * y for x, y in zip(w, v, strict=True)) for v in columns]
        total = sum(o**2 for j, o in enumerate(overlaps) if j != i)
        cross.append(total / lengths[i] ** 2 if lengths[i] else 0.0)
    return lengths, cross


@interference.right("single precision")
def _(W):
    W = W.astype(np.float32)
    G = W.T @ W
    own = np.diag(G).copy()
    cross = ((G - np.diag(own)) ** 2).sum(1)
    return np.sqrt(own), np.divide(cross, own, out=np.zeros_like(own), where=own > 0)

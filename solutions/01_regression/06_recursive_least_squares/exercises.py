"""Exercises of 01_regression/06_recursive_least_squares."""

import numpy as np
import torch

from descent.compare import close
from solutions.spec import Exercise

from . import reference


def _covariance(rng, d, low=0.5, high=3.0):
    """A symmetric positive definite matrix whose features are plainly correlated."""
    A = rng.normal(size=(d, d))
    rotation, _ = np.linalg.qr(A)
    P = rotation * rng.uniform(low, high, d) @ rotation.T
    P = (P + P.T) / 2
    P[0, 1] += 0.3 * np.sqrt(P[0, 0] * P[1, 1]) * np.sign(P[0, 1])
    P[1, 0] = P[0, 1]
    return P + 0.3 * np.trace(P) / d * np.eye(d)


def _X(rng, m, d):
    """A measurement matrix without entries near 0 or 1."""
    return rng.uniform(0.6, 1.8, (m, d)) * rng.choice([-1.0, 1.0], (m, d)) + 0.1


# ---------------------------------------------------------------- the error covariance of any gain

joseph_update = Exercise(
    "joseph_update",
    reference=reference.joseph_update,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("K", "P", "R", "X"),
    hints=[
        "The new error is A ε - K η with A = I - KX. What is the covariance of A ε, and what of K η?",
        "Two independent pieces, so their covariances add: A stands on both sides of P, and K on both sides of R.",
        "Build A = np.eye(d) - K @ X. Each covariance is matrix @ covariance @ matrix.T; add the two.",
    ],
)


@joseph_update.cases
def _(rng):
    def draw(d, m, K=None, R=None):
        P, X = _covariance(rng, d), _X(rng, m, d)
        R = _covariance(rng, m) if R is None and m > 1 else R
        R = np.array([[rng.uniform(0.5, 2.0)]]) if R is None else R
        return dict(P=P, K=rng.normal(0.4, 0.5, (d, m)) if K is None else K, X=X, R=R)

    yield "any gain", draw(2, 1)
    yield "several measurements at once", draw(3, 2)
    good = draw(3, 1)
    S = good["X"] @ good["P"] @ good["X"].T + good["R"]
    good["K"] = good["P"] @ good["X"].T / S
    yield "the optimal gain", good
    yield "a gain of zero changes nothing", draw(2, 1, K=np.zeros((2, 1)))
    yield "a sensor without noise", draw(2, 1, R=np.zeros((1, 1)))


@joseph_update.wrong(
    "the short form",
    advice="(I - KX) P holds for one gain only. Does your update treat an arbitrary gain fairly? Is your result symmetric?",
)
def _(P, K, X, R):
    return (np.eye(len(P)) - K @ X) @ P


@joseph_update.wrong(
    "the noise is forgotten",
    advice="A larger gain lets in more noise. Where does R stand in your formula?",
)
def _(P, K, X, R):
    A = np.eye(len(P)) - K @ X
    return A @ P @ A.T


@joseph_update.wrong(
    "the noise is subtracted",
    advice="The error holds -Kη. What happens to the minus sign when you take the covariance?",
)
def _(P, K, X, R):
    A = np.eye(len(P)) - K @ X
    return A @ P @ A.T - K @ R @ K.T


@joseph_update.wrong(
    "the transpose on the wrong side",
    advice="The covariance of A ε is E[A ε (A ε)ᵀ]. On which side does the transposed matrix come out?",
)
def _(P, K, X, R):
    A = np.eye(len(P)) - K @ X
    return A.T @ P @ A + K @ R @ K.T


@joseph_update.wrong(
    "the size of the noise does not count",
    advice="K brings the noise into the space of the parameters. Which matrix stands between K and its transpose?",
)
def _(P, K, X, R):
    A = np.eye(len(P)) - K @ X
    return A @ P @ A.T + K @ K.T


@joseph_update.right("multiplied out")
def _(P, K, X, R):
    moved = K @ X @ P
    return P - moved - moved.T + K @ (X @ P @ X.T + R) @ K.T


@joseph_update.right("one matrix for both pieces, in torch")
def _(P, K, X, R):
    P, K, X, R = map(torch.from_numpy, (P, K, X, R))
    both = torch.cat([torch.eye(len(P), dtype=P.dtype) - K @ X, -K], 1)
    return (both @ torch.block_diag(P, R) @ both.T).numpy()


# ---------------------------------------------------------------- the best gain

optimal_gain = Exercise(
    "optimal_gain",
    reference=reference.optimal_gain,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("P", "R", "X"),
    hints=[
        "Set the derivative to zero and collect all terms with K on one side. What multiplies K?",
        "K (X P Xᵀ + R) = P Xᵀ. The bracket is the covariance of the innovation, m × m.",
        "With S = X @ P @ X.T + R: multiply P @ X.T by the inverse of S, from the right. Without an inverse: np.linalg.solve(S, X @ P) is the transpose of K.",
    ],
)


@optimal_gain.cases
def _(rng):
    one = dict(
        P=_covariance(rng, 2), X=_X(rng, 1, 2), R=np.array([[rng.uniform(0.5, 2.0)]])
    )
    yield "one number measured", one
    yield (
        "several measurements at once, with correlated noise",
        dict(P=_covariance(rng, 3), X=_X(rng, 2, 3), R=_covariance(rng, 2)),
    )
    yield (
        "a sensor without noise",
        dict(P=_covariance(rng, 2), X=_X(rng, 1, 2), R=np.zeros((1, 1))),
    )
    known = _covariance(rng, 3)
    known[0], known[:, 0] = 0, 0
    yield (
        "a parameter that is already known",
        dict(P=known, X=_X(rng, 1, 3), R=np.array([[rng.uniform(0.5, 2.0)]])),
    )


@optimal_gain.wrong(
    "the noise is forgotten",
    advice="Without R every sensor is believed completely. Which covariance does the innovation have?",
)
def _(P, X, R):
    return P @ X.T @ np.linalg.inv(X @ P @ X.T)


@optimal_gain.wrong(
    "the old covariance in the form that wants the new one",
    advice="K = P Xᵀ R⁻¹ is right for the P after the measurement. Which P do you have?",
)
def _(P, X, R):
    return P @ X.T @ np.linalg.pinv(R)


@optimal_gain.wrong(
    "divides entry by entry",
    advice="With two measurements S is a 2 × 2 matrix. Is dividing by its entries the same as multiplying by its inverse?",
)
def _(P, X, R):
    S = X @ P @ X.T + R
    return P @ X.T / np.diag(S)


@optimal_gain.wrong(
    "what is known already does not count",
    advice="P stands in the bracket and in front of it. A parameter whose variance is 0 must not move: does it?",
)
def _(P, X, R):
    return X.T @ np.linalg.inv(X @ P @ X.T + R)


@optimal_gain.wrong(
    "the variance is squared once more",
    advice="R is a covariance: its unit is that of y squared. Do all terms in your bracket have this unit?",
)
def _(P, X, R):
    return P @ X.T @ np.linalg.inv(X @ P @ X.T + R @ R)


@optimal_gain.right("by solving, without an inverse")
def _(P, X, R):
    return np.linalg.solve(X @ P @ X.T + R, X @ P).T


@optimal_gain.right("one measurement after the other")
def _(P, X, R):
    """Whitened noise, then scalar steps; the gains of single steps are chained."""
    if not np.any(R):
        return P @ X.T @ np.linalg.inv(X @ P @ X.T)
    L = np.linalg.cholesky(R)
    rows, d = np.linalg.solve(L, X), len(P)
    K, now = np.zeros((d, 0)), P
    for i, x in enumerate(rows):
        k = now @ x / (x @ now @ x + 1)
        K = np.column_stack([K - np.outer(k, x @ K), k]) if i else k[:, None]
        now = now - np.outer(k, x @ now)
    return K @ np.linalg.inv(L)


# ---------------------------------------------------------------- the inversion lemma

woodbury = Exercise(
    "woodbury",
    reference=reference.woodbury,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("A_inv", "B", "C", "D"),
    hints=[
        "Read the right side of the lemma with A_inv wherever A⁻¹ stands. Which matrix is left to invert, and of which size?",
        "The bracket is D - C A⁻¹ B, m × m. A⁻¹ B stands before its inverse, C A⁻¹ after it.",
        "A_inv + A_inv @ B @ Z, where Z is the bracket's inverse times C @ A_inv: np.linalg.solve gives it.",
    ],
)


@woodbury.cases
def _(rng):
    def draw(d, m):
        """B > 0 > C keep the bracket D - C A⁻¹ B far from singular."""
        return dict(
            A_inv=np.eye(d) + rng.uniform(-0.2, 0.2, (d, d)),
            B=rng.uniform(0.4, 1.2, (d, m)),
            C=rng.uniform(-1.2, -0.4, (m, d)),
            D=6 * np.eye(m) + rng.uniform(-0.5, 0.5, (m, m)),
        )

    yield "one row", draw(3, 1)
    yield "two rows at once", draw(3, 2)
    yield "more rows than parameters", draw(2, 3)
    yield "nothing to correct", draw(3, 1) | dict(B=np.zeros((3, 1)))
    rotation, _ = np.linalg.qr(rng.uniform(0.4, 1.2, (3, 3)) + np.eye(3))
    almost = draw(3, 1)
    almost["A_inv"] = rotation * np.array([1e-15, 1.0, 2.0]) @ rotation.T
    yield "A⁻¹ is close to singular", almost | dict(C=-almost["B"].T)


@woodbury.wrong(
    "a minus for the plus",
    advice="The term B D⁻¹ C is subtracted on the left. Is its correction added or subtracted on the right?",
)
def _(A_inv, B, C, D):
    return A_inv - A_inv @ B @ np.linalg.inv(D - C @ A_inv @ B) @ C @ A_inv


@woodbury.wrong(
    "a plus in the bracket",
    advice="Try numbers: A = 1, B = C = 1, D = 2. What is 1 / (1 - 1/2), and what does your formula say?",
)
def _(A_inv, B, C, D):
    return A_inv + A_inv @ B @ np.linalg.inv(D + C @ A_inv @ B) @ C @ A_inv


@woodbury.wrong(
    "D alone is inverted",
    advice="To first order D⁻¹ would do. Which matrix does the lemma invert in its place?",
)
def _(A_inv, B, C, D):
    return A_inv + A_inv @ B @ np.linalg.inv(D) @ C @ A_inv


@woodbury.wrong(
    "the bracket is not inverted",
    advice="A large D makes the correction small. Does it, in your formula?",
)
def _(A_inv, B, C, D):
    return A_inv + A_inv @ B @ (D - C @ A_inv @ B) @ C @ A_inv


@woodbury.wrong(
    "A is taken back from its inverse",
    advice="Inverting A_inv costs digits when it is close to singular, and work always. The lemma needs only A_inv itself.",
)
def _(A_inv, B, C, D):
    return np.linalg.inv(np.linalg.inv(A_inv) - B @ np.linalg.inv(D) @ C)


@woodbury.right("with an inverse")
def _(A_inv, B, C, D):
    return A_inv + A_inv @ B @ np.linalg.inv(D - C @ A_inv @ B) @ C @ A_inv


@woodbury.right("the unknowns of A first, in torch")
def _(A_inv, B, C, D):
    A_inv, B, C, D = map(torch.from_numpy, (A_inv, B, C, D))
    left, right = A_inv @ B, C @ A_inv
    return A_inv + torch.linalg.solve((D - right @ B).mT, left.mT).mT @ right


# ---------------------------------------------------------------- the information form

info_update = Exercise(
    "info_update",
    reference=reference.info_update,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("P", "R", "X"),
    hints=[
        "Call P⁻¹ the information that you have. What does a measurement do to it: multiply, subtract or add?",
        "The measurement brings the information Xᵀ R⁻¹ X. Add it to P⁻¹; the new covariance is the inverse of the sum.",
        "np.linalg.inv(np.linalg.inv(P) + X.T @ …), with np.linalg.solve(R, X) in the place of the dots.",
    ],
)


@info_update.cases
def _(rng):
    one = dict(
        P=_covariance(rng, 2), X=_X(rng, 1, 2), R=np.array([[rng.uniform(1.5, 3.0)]])
    )
    yield "one number measured", one
    yield (
        "several measurements at once, with correlated noise",
        dict(P=_covariance(rng, 3), X=_X(rng, 2, 3), R=_covariance(rng, 2) + np.eye(2)),
    )
    yield (
        "more measurements than parameters",
        dict(
            P=_covariance(rng, 2), X=_X(rng, 4, 2), R=np.diag(rng.uniform(1.5, 3.0, 4))
        ),
    )
    yield (
        "a measurement that sees nothing",
        dict(
            P=_covariance(rng, 3),
            X=np.zeros((1, 3)),
            R=np.array([[rng.uniform(1.5, 3.0)]]),
        ),
    )


@info_update.wrong(
    "the information is subtracted",
    advice="Does a measurement make you know less? Compare the trace of your result with that of P.",
)
def _(P, X, R):
    return np.linalg.inv(np.linalg.inv(P) - X.T @ np.linalg.solve(R, X))


@info_update.wrong(
    "the information is not turned back",
    advice="You have the new information matrix. The covariance is asked.",
)
def _(P, X, R):
    return np.linalg.inv(P) + X.T @ np.linalg.solve(R, X)


@info_update.wrong(
    "R instead of its inverse",
    advice="A noisier sensor should bring less information. Does it, in your formula?",
)
def _(P, X, R):
    return np.linalg.inv(np.linalg.inv(P) + X.T @ R @ X)


@info_update.wrong(
    "covariance and information are added",
    advice="P and Xᵀ R⁻¹ X have different units. Which form of P may be added to information?",
)
def _(P, X, R):
    return np.linalg.inv(P + X.T @ np.linalg.solve(R, X))


@info_update.wrong(
    "each measurement on its own",
    advice="Correlated noise: the off-diagonal entries of R count as well.",
)
def _(P, X, R):
    return np.linalg.inv(np.linalg.inv(P) + X.T / np.diag(R) @ X)


@info_update.right("the short form, with the optimal gain")
def _(P, X, R):
    K = P @ X.T @ np.linalg.inv(X @ P @ X.T + R)
    return (np.eye(len(P)) - K @ X) @ P


@info_update.right("solving instead of inverting")
def _(P, X, R):
    return np.linalg.solve(np.eye(len(P)) + P @ X.T @ np.linalg.solve(R, X), P)


@info_update.right("in torch")
def _(P, X, R):
    P, X, R = (torch.from_numpy(a).double() for a in (P, X, R))
    return torch.linalg.inv(
        torch.linalg.inv(P) + X.T @ torch.linalg.solve(R, X)
    ).numpy()


# ---------------------------------------------------------------- a constant

scalar_rls = Exercise(
    "scalar_rls",
    reference=lambda y, theta0, P0, R: reference.scalar_stream(
        y if y.is_floating_point() else y.double(), theta0, P0, R
    ),
    compare=close(rtol=1e-5, atol=1e-9),
    batched=("y",),
    hints=[
        "Go through y one by one with two numbers in hand: the estimate and its variance. In which order do gain, estimate and variance change?",
        "First the gain, P / (P + R), from the old variance. Then the estimate moves by gain times surprise, and P shrinks.",
        "Before the loop: theta, P = theta0, P0. In it: K = …; theta = theta + K * …; P = … * P, smaller. Append theta and K to two lists.",
    ],
)


@scalar_rls.cases
def _(rng):
    def draw(n, P0, R, spread=1.0):
        y = rng.normal(4.0, spread, n) + np.arange(n)
        return dict(y=y, theta0=float(rng.uniform(-2, -1)), P0=P0, R=R)

    yield (
        "a prior and some data",
        draw(5, float(rng.uniform(2, 5)), float(rng.uniform(0.5, 1.5))),
    )
    yield (
        "a noisy sensor",
        draw(4, float(rng.uniform(0.5, 1.5)), float(rng.uniform(8, 12))),
    )
    yield (
        "a single measurement",
        draw(1, float(rng.uniform(2, 5)), float(rng.uniform(0.5, 1.5))),
    )
    yield "a prior without doubt", draw(4, 0.0, float(rng.uniform(0.5, 1.5)))
    yield "a prior that knows nothing", draw(5, 1e8, float(rng.uniform(0.5, 1.5)))
    whole = draw(4, float(rng.uniform(2, 5)), float(rng.uniform(0.5, 1.5)))
    yield "measurements in whole numbers", whole | dict(y=rng.integers(3, 9, 4))


def _scalar_stream(y, theta0, P0, R, gain, after=None):
    theta, P, estimates, gains = theta0, P0, [], []
    for k, value in enumerate(y, 1):
        K = gain(P, R, k)
        theta = theta + K * (value - theta)
        P = (1 - K) * P if after is None else after(P, K)
        estimates.append(theta), gains.append(K)
    return np.array(estimates), np.array(gains)


@scalar_rls.wrong(
    "the variance is never updated",
    advice="Does the tenth measurement count as much as the first? What must shrink after each one?",
)
def _(y, theta0, P0, R):
    return _scalar_stream(y, theta0, P0, R, lambda P, R, k: P / (P + R), lambda P, K: P)


@scalar_rls.wrong(
    "the running mean",
    advice="A running mean forgets the prior. What should come out for P0 = 0?",
)
def _(y, theta0, P0, R):
    return _scalar_stream(y, theta0, P0, R, lambda P, R, k: 1 / k)


@scalar_rls.wrong(
    "the gain is turned over",
    advice="A very noisy sensor has a large R. Should its gain be near 1 or near 0?",
)
def _(y, theta0, P0, R):
    return _scalar_stream(y, theta0, P0, R, lambda P, R, k: R / (P + R))


@scalar_rls.wrong(
    "the counter is one too low",
    advice="Look at your first gain. With how many measurements in the denominator should it be made?",
)
def _(y, theta0, P0, R):
    gains = [P0 / ((k - 1) * P0 + R) for k in range(1, len(y) + 1)]
    theta, estimates = theta0, []
    for K, value in zip(gains, y):
        theta = theta + K * (value - theta)
        estimates.append(theta)
    return np.array(estimates), np.array(gains)


@scalar_rls.wrong(
    "the gain from the variance after the measurement",
    advice="The gain P / (P + R) wants the variance before the measurement. In which order do you update?",
)
def _(y, theta0, P0, R):
    theta, P, estimates, gains = theta0, P0, [], []
    for value in y:
        P = P * R / (P + R)
        K = P / (P + R)
        theta = theta + K * (value - theta)
        estimates.append(theta), gains.append(K)
    return np.array(estimates), np.array(gains)


@scalar_rls.wrong(
    "estimates in an array like y",
    advice="Where y holds whole numbers, so does np.zeros_like(y). What becomes of an estimate of 4.44 there?",
)
def _(y, theta0, P0, R):
    k = np.arange(1, len(y) + 1)
    estimates = np.zeros_like(y)
    estimates[:] = (R * theta0 + P0 * np.cumsum(y)) / (k * P0 + R)
    return estimates, P0 / (k * P0 + R)


@scalar_rls.right("in closed form")
def _(y, theta0, P0, R):
    k = np.arange(1, len(y) + 1)
    return (R * theta0 + P0 * np.cumsum(y)) / (k * P0 + R), P0 / (k * P0 + R)


@scalar_rls.right("a loop over lists")
def _(y, theta0, P0, R):
    theta, P, estimates, gains = theta0, P0, [], []
    for value in y.tolist():
        P_new = P * R / (P + R)
        gains.append(P_new / R)
        theta += gains[-1] * (value - theta)
        P = P_new
        estimates.append(theta)
    return estimates, gains


@scalar_rls.right("closed form, single precision")
def _(y, theta0, P0, R):
    k = np.arange(1, len(y) + 1, dtype=np.float32)
    gains = np.float32(P0) / (k * np.float32(P0) + np.float32(R))
    total = np.cumsum(y, dtype=np.float32)
    return gains * total + (1 - k * gains) * np.float32(theta0), gains


# ---------------------------------------------------------------- curves

rls_polyfit = Exercise(
    "rls_polyfit",
    reference=reference.polynomial_posterior,
    compare=close(rtol=1e-5, atol=1e-8),
    batched=("t", "y"),
    hints=[
        "Each point is one measurement with one row x = [1, t, t², …]. What are theta and P before the first point?",
        "Start from zeros and P0 times the identity. For each point: gain P x / (x P x + R), then the estimate, then P.",
        "x = t[i] ** np.arange(order + 1) and K = P @ x / …, a number below. The last line subtracts an outer product: P = P - np.outer(K, …).",
    ],
)


@rls_polyfit.cases
def _(rng):
    def draw(n, order, R, P0):
        t = (
            rng.permutation(np.linspace(-1.5, 1.5, n)) + 0.2
            if n > 1
            else np.array([0.7])
        )
        y = 2 - t + 1.5 * t**2 + 0.5 * rng.normal(size=n)
        return dict(t=t, y=y, order=order, R=R, P0=P0)

    yield (
        "a straight line",
        draw(6, 1, float(rng.uniform(0.3, 0.7)), float(rng.uniform(2, 4))),
    )
    yield (
        "a parabola",
        draw(7, 2, float(rng.uniform(0.3, 0.7)), float(rng.uniform(2, 4))),
    )
    yield (
        "a constant",
        draw(4, 0, float(rng.uniform(0.3, 0.7)), float(rng.uniform(2, 4))),
    )
    yield "fewer points than coefficients", draw(1, 2, 0.5, float(rng.uniform(2, 4)))
    yield "a prior that knows nothing", draw(8, 2, 0.5, 1e6)


def _rls(rows, y, R, P0, theta=0.0):
    d = rows.shape[1]
    theta, P = np.full(d, theta), P0 * np.eye(d)
    for x, value in zip(rows, y):
        K = P @ x / (x @ P @ x + R)
        theta, P = theta + K * (value - x @ theta), P - np.outer(K, x @ P)
    return theta, P


@rls_polyfit.wrong(
    "the highest power first",
    advice="np.polyfit starts with the highest power. Which coefficient is to stand first here?",
)
def _(t, y, order, R, P0):
    return _rls(np.vander(t, order + 1), y, R, P0)


@rls_polyfit.wrong(
    "one coefficient too few",
    advice="A line is of order 1 and has two coefficients. How many has order 2?",
)
def _(t, y, order, R, P0):
    return _rls(t[:, None] ** np.arange(max(order, 1)), y, R, P0)


@rls_polyfit.wrong(
    "the covariance is never updated",
    advice="Do later points count as much as early ones in your loop? P must shrink after every point.",
)
def _(t, y, order, R, P0):
    rows = t[:, None] ** np.arange(order + 1)
    theta, P = np.zeros(order + 1), P0 * np.eye(order + 1)
    for x, value in zip(rows, y):
        theta = theta + P @ x / (x @ P @ x + R) * (value - x @ theta)
    return theta, P


@rls_polyfit.wrong(
    "the estimate is updated with the next covariance's gain",
    advice="In one step the gain comes first, from the old P. Which P is in your gain?",
)
def _(t, y, order, R, P0):
    rows = t[:, None] ** np.arange(order + 1)
    theta, P = np.zeros(order + 1), P0 * np.eye(order + 1)
    for x, value in zip(rows, y):
        K = P @ x / (x @ P @ x + R)
        P = P - np.outer(K, x @ P)
        theta = theta + P @ x / (x @ P @ x + R) * (value - x @ theta)
    return theta, P


@rls_polyfit.wrong(
    "plain least squares, without the prior",
    advice="P0 says how far the coefficients are from 0 as a rule. Does your result depend on it?",
)
def _(t, y, order, R, P0):
    rows = t[:, None] ** np.arange(order + 1)
    P = R * np.linalg.pinv(rows.T @ rows)
    return P @ rows.T @ y / R, P


@rls_polyfit.wrong(
    "every point has noise variance 1",
    advice="A precise sensor should move the estimate more than a noisy one. Does your gain know R?",
)
def _(t, y, order, R, P0):
    return _rls(t[:, None] ** np.arange(order + 1), y, 1.0, P0)


@rls_polyfit.right("all points at once, as ridge regression")
def _(t, y, order, R, P0):
    rows = t[:, None] ** np.arange(order + 1)
    P = np.linalg.inv(rows.T @ rows / R + np.eye(order + 1) / P0)
    return P @ rows.T @ y / R, P


@rls_polyfit.right("adding information point by point")
def _(t, y, order, R, P0):
    J, q = np.eye(order + 1) / P0, np.zeros(order + 1)
    for now, value in zip(t, y):
        x = np.array([now**j for j in range(order + 1)])
        J, q = J + np.outer(x, x) / R, q + x * value / R
    return np.linalg.solve(J, q).tolist(), np.linalg.inv(J).tolist()


@rls_polyfit.right("Joseph form")
def _(t, y, order, R, P0):
    theta, P = np.zeros(order + 1), P0 * np.eye(order + 1)
    for now, value in zip(t, y):
        x = now ** np.arange(order + 1)
        K = P @ x / (x @ P @ x + R)
        A = np.eye(order + 1) - np.outer(K, x)
        theta, P = theta + K * (value - x @ theta), A @ P @ A.T + R * np.outer(K, K)
    return theta, P


# ---------------------------------------------------------------- the estimator as a class


def _history(theta0, P0, R, y, X, joseph, number_format):
    """All forms are one in exact arithmetic; the short form in single precision is what came true."""
    given = theta0, P0, R, y, X
    if number_format == "float32" and not joseph:
        return reference.short_history(*(a.float() for a in given))
    return reference.history(*given)


RecursiveLeastSquares = Exercise(
    "RecursiveLeastSquares",
    reference=_history,
    # 1e-5: with a single-precision prior the gain is a single-precision number.
    compare=close(rtol=1e-5, atol=1e-8),
    batched=("P0", "R", "X", "theta0", "y"),
    hints=[
        "update needs the newest estimate and covariance: they are the last entries of the lists. Which four new things does it append?",
        "Gain from the last P; innovation y - X θ from the last θ; new θ and new P. Make new arrays: θ += … would change the entry that the list already holds.",
        "Joseph: A = np.eye(d, dtype=P.dtype) - K @ X and A @ P @ A.T + K @ self.R @ K.T; otherwise A @ P. Append one entry to each of the four lists.",
    ],
)


@RecursiveLeastSquares.probe
def _(answer, theta0, P0, R, y, X, joseph, number_format):
    theta0, P0, R, y, X = (a.astype(number_format) for a in (theta0, P0, R, y, X))
    estimator = answer(theta0, P0, R) if joseph else answer(theta0, P0, R, joseph=False)
    for one, rows in zip(y, X):
        estimator.update(one, rows)
    return dict(
        estimates=list(estimator.estimates),
        covariances=list(estimator.covariances),
        gains=list(estimator.gains),
        innovations=list(estimator.innovations),
    )


@RecursiveLeastSquares.cases
def _(rng):
    def draw(d, m, n, joseph=True, P0=None):
        return dict(
            theta0=rng.normal(1.0, 0.5, d),
            P0=_covariance(rng, d) if P0 is None else P0,
            R=_covariance(rng, m) if m > 1 else np.array([[rng.uniform(0.4, 0.9)]]),
            y=rng.normal(2.0, 1.0, (n, m)),
            X=np.stack([_X(rng, m, d) for _ in range(n)]),
            joseph=joseph,
            number_format="float64",
        )

    yield "one number at a time", draw(2, 1, 5)
    yield "two numbers at a time", draw(3, 2, 2)
    yield "the short form agrees", draw(2, 1, 3, joseph=False)
    yield "a prior without doubt", draw(2, 1, 2, P0=np.zeros((2, 2)))
    single = draw(2, 1, 3)
    rho = rng.uniform(0.5, 0.7)
    single["P0"] = 1e8 * np.array([[1, rho], [rho, 1]])
    single["R"] = np.ones((1, 1))
    single["X"] = np.tile([[[1.0, 0.0]]], (3, 1, 1))
    # Apart from each other: an innovation near 0 would be a difference of two rounded numbers.
    single["y"] = np.cumsum(rng.uniform(0.5, 1.5, (3, 1)), 0)
    single["number_format"] = "float32"
    yield "a very precise sensor, in single precision", single
    # Powers of 2: in any order of the products the first gain is (1, 0.5), and nothing but it is rounded.
    deaf = single | dict(P0=2.0**27 * np.array([[1, 0.5], [0.5, 1]]), joseph=False)
    yield "the same in the short form, which goes deaf", deaf


class _Recursive:
    """A right estimator; wrong ones change one of its parts."""

    def __init__(self, theta0, P0, R, joseph=True):
        self.R, self.joseph = R, joseph
        self.estimates, self.covariances, self.gains, self.innovations = (
            [theta0],
            [P0],
            [],
            [],
        )

    def update(self, y, X):
        theta, P = self.estimates[-1], self.covariances[-1]
        K = self.gain(P, X)
        innovation = y - X @ theta
        self.gains.append(K)
        self.estimates.append(theta + K @ innovation)
        self.covariances.append(self.next(P, K, X))
        self.innovations.append(self.told(innovation, y, X))

    def gain(self, P, X):
        return P @ X.T @ np.linalg.inv(X @ P @ X.T + self.R)

    def next(self, P, K, X):
        A = np.eye(len(P), dtype=P.dtype) - K @ X
        return A @ P @ A.T + K @ self.R @ K.T if self.joseph else A @ P

    def told(self, innovation, y, X):
        return innovation


@RecursiveLeastSquares.wrong(
    "always the short form",
    advice="With joseph=True the covariance must survive a sensor that is too precise for single precision: look at the variance after the first reading.",
)
def _(theta0, P0, R, joseph=True):
    return _Recursive(theta0, P0, R, joseph=False)


@RecursiveLeastSquares.wrong(
    "always the Joseph form",
    advice="joseph=False asks for (I - KX) P, faults and all. Does your update look at the flag, and does it stay in the number format of P0?",
)
def _(theta0, P0, R, joseph=True):
    return _Recursive(theta0, P0, R, joseph=True)


@RecursiveLeastSquares.wrong(
    "the innovation is taken after the update",
    advice="The innovation is what the measurement says beyond the old estimate. Which estimate do you subtract?",
)
def _(theta0, P0, R, joseph=True):
    class After(_Recursive):
        def told(self, innovation, y, X):
            return y - X @ self.estimates[-1]

    return After(theta0, P0, R, joseph)


@RecursiveLeastSquares.wrong(
    "always starts from the prior",
    advice="Which entry of the list does your update start from, the first one or the newest?",
)
def _(theta0, P0, R, joseph=True):
    class Stuck(_Recursive):
        def gain(self, P, X):
            return super().gain(self.covariances[0], X)

        def next(self, P, K, X):
            return super().next(self.covariances[0], K, X)

    return Stuck(theta0, P0, R, joseph)


@RecursiveLeastSquares.wrong(
    "old estimates change afterwards",
    advice="Look at estimates[0] after two updates. Does `theta += …` make a new array, or change the one that the list holds?",
)
def _(theta0, P0, R, joseph=True):
    class InPlace(_Recursive):
        def __init__(self, theta0, P0, R, joseph=True):
            super().__init__(theta0.copy(), P0, R, joseph)

        def update(self, y, X):
            super().update(y, X)
            newest = self.estimates.pop()
            self.estimates[-1][:] = newest
            self.estimates.append(self.estimates[-1])

    return InPlace(theta0, P0, R, joseph)


@RecursiveLeastSquares.wrong(
    "the prior is not in the histories",
    advice="How long is `estimates` after n updates? The first entry is theta0 itself.",
)
def _(theta0, P0, R, joseph=True):
    class Late(_Recursive):
        def update(self, y, X):
            super().update(y, X)
            if len(self.gains) == 1:
                self.estimates, self.covariances = (
                    self.estimates[1:],
                    self.covariances[1:],
                )

    return Late(theta0, P0, R, joseph)


@RecursiveLeastSquares.right("by solving, without an inverse")
class _(_Recursive):
    def gain(self, P, X):
        return np.linalg.solve(X @ P @ X.T + self.R, X @ P).T


@RecursiveLeastSquares.right("symmetrised as well")
class _(_Recursive):
    def next(self, P, K, X):
        P = super().next(P, K, X)
        return (P + P.T) / 2


@RecursiveLeastSquares.right("Joseph in double precision inside")
class _(_Recursive):
    def next(self, P, K, X):
        A = np.eye(len(P)) - K @ X
        return A @ P @ A.T + K @ self.R @ K.T if self.joseph else A @ P


@RecursiveLeastSquares.right("the short form as a difference")
class _(_Recursive):
    def next(self, P, K, X):
        return super().next(P, K, X) if self.joseph else P - K @ (X @ P)


# ---------------------------------------------------------------- forgetting

rls_forget = Exercise(
    "rls_forget",
    reference=reference.forgetting_fits,
    compare=close(rtol=1e-5, atol=1e-8),
    batched=("P_rows", "y"),
    hints=[
        "Two things go from row to row: w and the inverse of M. What is M before the first row, and what is its inverse?",
        "With g = M⁻¹ p every denominator is c = λ pᵀ g + 1 - λ. The weights move by λ g / c times the surprise.",
        "Inv = np.eye(p) / b before the loop. For each row: g = Inv @ row, then c, then w = w + lam * g / c * …, then Inv = (Inv - …) / (1 - lam) with np.outer(g, g).",
    ],
)


@rls_forget.cases
def _(rng):
    def draw(n, p, lam, b):
        rows = np.column_stack([np.ones(n), rng.normal(0.5, 1.0, (n, p - 1))])
        y = (
            rows @ rng.normal(1.0, 1.0, p)
            + np.linspace(0, 3, n)
            + 0.3 * rng.normal(size=n)
        )
        return dict(P_rows=rows, y=y, lam=lam, b=b)

    yield (
        "a long memory",
        draw(8, 2, float(rng.uniform(0.08, 0.15)), float(rng.uniform(0.3, 0.7))),
    )
    yield (
        "a short memory",
        draw(7, 3, float(rng.uniform(0.6, 0.8)), float(rng.uniform(0.3, 0.7))),
    )
    yield "one half", draw(6, 2, 0.5, float(rng.uniform(0.3, 0.7)))
    yield (
        "a single row",
        draw(1, 3, float(rng.uniform(0.2, 0.3)), float(rng.uniform(0.3, 0.7))),
    )
    yield (
        "a moving level",
        draw(6, 1, float(rng.uniform(0.2, 0.3)), float(rng.uniform(0.3, 0.7))),
    )


def _forgetting(P_rows, y, b, old, new):
    """Direct solves of M ← old M + new p pᵀ, q ← old q + new p y."""
    p = P_rows.shape[1]
    M, q, fits = b * np.eye(p), np.zeros(p), []
    for row, value in zip(P_rows, y):
        M, q = old * M + new * np.outer(row, row), old * q + new * row * value
        fits.append(np.linalg.solve(M, q))
    return np.array(fits)


@rls_forget.wrong(
    "nothing is forgotten",
    advice="Add up the weights that your first and your newest row have in the end. Are they equal?",
)
def _(P_rows, y, lam, b):
    return _forgetting(P_rows, y, b, 1, 1)


@rls_forget.wrong(
    "λ weighs the past",
    advice="Here λ near 1 means that the newest row counts most. Which factor do you give to the old M?",
)
def _(P_rows, y, lam, b):
    return _forgetting(P_rows, y, b, lam, 1 - lam)


@rls_forget.wrong(
    "the new row counts fully",
    advice="The old M is multiplied by 1 - λ. By what is the new row multiplied?",
)
def _(P_rows, y, lam, b):
    return _forgetting(P_rows, y, b, 1 - lam, 1)


@rls_forget.wrong(
    "a plus in the lemma",
    advice="A row adds information. Should the inverse of M, up to the factor 1/(1 - λ), grow or shrink by its term?",
)
def _(P_rows, y, lam, b):
    p = P_rows.shape[1]
    Inv, w, fits = np.eye(p) / b, np.zeros(p), []
    for row, value in zip(P_rows, y):
        g = Inv @ row
        c = lam * row @ g + 1 - lam
        w = w + lam * g / c * (value - row @ w)
        Inv = (Inv + lam * np.outer(g, g) / c) / (1 - lam)
        fits.append(w)
    return np.array(fits)


@rls_forget.wrong(
    "the penalty is renewed at each step",
    advice="b stands in M once, at the start, and fades like everything else. Do you add it again?",
)
def _(P_rows, y, lam, b):
    p = P_rows.shape[1]
    M, q, fits = np.zeros((p, p)), np.zeros(p), []
    for row, value in zip(P_rows, y):
        M, q = (
            (1 - lam) * M + lam * np.outer(row, row),
            (1 - lam) * q + lam * row * value,
        )
        fits.append(np.linalg.solve(M + b * np.eye(p), q))
    return np.array(fits)


@rls_forget.wrong(
    "starts from b instead of its inverse",
    advice="M starts at b times the identity. What is then the inverse of M?",
)
def _(P_rows, y, lam, b):
    return _forgetting(P_rows, y, 1 / b, 1 - lam, lam)


@rls_forget.right("solving at every step")
def _(P_rows, y, lam, b):
    return _forgetting(P_rows, y, b, 1 - lam, lam)


@rls_forget.right("the recursion for the inverse")
def _(P_rows, y, lam, b):
    p = P_rows.shape[1]
    Inv, w, fits = np.eye(p) / b, np.zeros(p), []
    for row, value in zip(P_rows, y):
        g = Inv @ row
        c = lam * row @ g + 1 - lam
        w = w + lam * g / c * (value - row @ w)
        Inv = (Inv - lam * np.outer(g, g) / c) / (1 - lam)
        fits.append(w)
    return fits


@rls_forget.right("weighted rows, single precision")
def _(P_rows, y, lam, b):
    n, p = P_rows.shape
    fits = []
    for k in range(1, n + 1):
        weight = lam * (1 - lam) ** np.arange(k - 1, -1, -1)
        root = np.sqrt(weight)[:, None] * P_rows[:k]
        rows = np.vstack([root, np.sqrt(b * (1 - lam) ** k) * np.eye(p)]).astype(
            np.float32
        )
        target = np.concatenate([np.sqrt(weight) * y[:k], np.zeros(p)]).astype(
            np.float32
        )
        fits.append(np.linalg.lstsq(rows, target, rcond=None)[0])
    return np.array(fits)

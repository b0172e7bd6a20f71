"""Exercises of 01_regression/06_recursive_least_squares."""

import numpy as np
import torch

from descent.compare import close, exact
from solutions.spec import Exercise

from . import reference


def _covariance(rng, d, low=0.5, high=3.0):
    """A symmetric positive definite matrix whose features are plainly correlated."""
    rotation, _ = np.linalg.qr(rng.normal(size=(d, d)))
    P = rotation * rng.uniform(low, high, d) @ rotation.T
    P = (P + P.T) / 2
    P[0, 1] += 0.3 * np.sqrt(P[0, 0] * P[1, 1]) * np.sign(P[0, 1])
    P[1, 0] = P[0, 1]
    return P + 0.3 * np.trace(P) / d * np.eye(d)


def _noise(rng, m):
    """A noise covariance, none of whose entries is 1."""
    return _covariance(rng, m) if m > 1 else np.array([[rng.uniform(1.5, 2.5)]])


def _X(rng, m, d):
    """A measurement matrix without entries near 0 or 1."""
    return rng.uniform(0.6, 1.8, (m, d)) * rng.choice([-1.0, 1.0], (m, d)) + 0.1


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
    def draw(n, P0, R):
        y = rng.normal(4.0, 1.0, n) + np.arange(n)
        return dict(y=y, theta0=float(rng.uniform(-2, -1)), P0=P0, R=R)

    def between(low, high):
        return float(rng.uniform(low, high))

    yield "a prior and some data", draw(5, between(2, 5), between(0.5, 0.8))
    yield "a noisy sensor", draw(4, between(0.5, 1.5), between(8, 12))
    yield "a single reading", draw(1, between(2, 5), between(0.5, 0.8))
    yield "a prior without doubt", draw(4, 0.0, between(0.5, 0.8))
    yield "a prior that knows nothing", draw(5, 1e8, between(0.5, 0.8))
    whole = draw(4, between(2, 5), between(0.5, 0.8))
    yield "readings in whole numbers", whole | dict(y=rng.integers(3, 9, 4))


scalar_rls.mistakes(
    {
        "the variance is never updated": (
            "P = (1 - K) * P",
            "P = P + 0",
            "Does the tenth reading count as much as the first? What must shrink after each one?",
        ),
        "the running mean": (
            "K = P / (P + R)",
            "K = 1 / (len(gains) + 1)",
            "A running mean forgets the first guess. What should come out for P0 = 0?",
        ),
        "the gain is turned over": (
            "K = P / (P + R)",
            "K = R / (P + R)",
            "A very noisy sensor has a large R. Should its gain be near 1 or near 0?",
        ),
        "the counter is one too low": (
            "K = P / (P + R)",
            "K = P0 / (len(gains) * P0 + R)",
            "Look at your first gain. With how many readings in the denominator should it be made?",
        ),
        "the gain from the variance after the reading": (
            "K = P / (P + R)",
            "K = P * R / (P + R) / (P * R / (P + R) + R)",
            "The gain P / (P + R) wants the variance before the reading. In which order do you update?",
        ),
        "estimates in an array like y": (
            "np.array(estimates)",
            "np.array(estimates, y.dtype)",
            "Where y holds whole numbers, an array of its kind cuts 4.44 to 4.",
        ),
        "begins with the first guess": (
            "np.array(estimates)",
            "np.array([theta0, *estimates[:-1]])",
            "The first entry is the estimate after the first reading.",
        ),
    }
)

scalar_rls.worked(
    why=r"""Two numbers are all the memory there is: the estimate, and the variance of its error. The gain is the share of the doubt that
    is in the estimate and not in the reading, so it must be taken before the variance shrinks. $1/P$ grows by $1/R$ at each reading,
    which gives the closed form $K_k = P_0 / (kP_0 + R)$."""
)


@scalar_rls.right("in closed form")
def _(y, theta0, P0, R):
    k = np.arange(1, len(y) + 1)
    return (R * theta0 + P0 * np.cumsum(y)) / (k * P0 + R), P0 / (k * P0 + R)


@scalar_rls.right("a loop over lists, the variance first")
def _(y, theta0, P0, R):
    theta, P, estimates, gains = theta0, P0, [], []
    for value in y.tolist():
        P = P * R / (P + R)
        gains.append(P / R)
        theta += gains[-1] * (value - theta)
        estimates.append(theta)
    return estimates, gains


# ---------------------------------------------------------------- the error covariance of any gain

joseph_update = Exercise(
    "joseph_update",
    reference=reference.joseph_update,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("K", "P", "R", "X"),
    hints=[
        "The new error is A ε − K η with A = I − KX. What is the covariance of A ε, and what of K η?",
        "Two independent pieces, so their covariances add: A stands on both sides of P, and K on both sides of R.",
        "Build A = np.eye(d) - K @ X. Each covariance is matrix @ covariance @ matrix.T; add the two.",
    ],
)


@joseph_update.cases
def _(rng):
    def draw(d, m, **given):
        P, X, R = _covariance(rng, d), _X(rng, m, d), _noise(rng, m)
        return dict(P=P, K=rng.normal(0.4, 0.5, (d, m)), X=X, R=R) | given

    yield "any gain", draw(2, 1)
    yield "several numbers at once", draw(3, 2)
    yield "several numbers at once", draw(2, 4)
    yield "several numbers at once", draw(2, 2)
    good = draw(3, 1)
    S = good["X"] @ good["P"] @ good["X"].T + good["R"]
    yield "the optimal gain", good | dict(K=good["P"] @ good["X"].T / S)
    yield "a gain of zero changes nothing", draw(2, 1, K=np.zeros((2, 1)))
    yield "a sensor without noise", draw(2, 1, R=np.zeros((1, 1)))


joseph_update.mistakes(
    {
        "the short form": (
            "A @ P @ A.T + K @ R @ K.T",
            "A @ P",
            "(I − KX) P holds for one gain only. Is your result symmetric?",
        ),
        "the noise is forgotten": (
            " + K @ R @ K.T",
            "",
            "A larger gain lets in more noise. Where does R stand in your formula?",
        ),
        "the noise is subtracted": (
            "+ K @ R",
            "- K @ R",
            "The error holds −Kη. What happens to the minus when you take the covariance?",
        ),
        "the transpose on the wrong side": (
            "A @ P @ A.T",
            "A.T @ P @ A",
            "The covariance of A ε is E[A ε (A ε)ᵀ]. On which side does the transpose come out?",
        ),
        "the size of the noise does not count": (
            "K @ R @ K.T",
            "K @ K.T",
            "Which matrix stands between K and its transpose?",
        ),
    }
)

joseph_update.worked(
    why=r"""A covariance seen through a matrix $A$ is $A\,C\,A^\top$, and independent parts add. Both terms are symmetric and never negative, so
    the sum is, whatever the gain: that is why this form forgives a gain that was rounded."""
)


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
        "With S = X @ P @ X.T + R: multiply P @ X.T by the inverse of S, from the right. Without an inverse: np.linalg.solve(S, …).T, with a matrix that has m rows.",
    ],
)


@optimal_gain.cases
def _(rng):
    def draw(d, m, **given):
        return dict(P=_covariance(rng, d), X=_X(rng, m, d), R=_noise(rng, m)) | given

    yield "one number measured", draw(2, 1)
    yield "several numbers, with correlated noise", draw(3, 2)
    yield "more numbers than parameters", draw(2, 3)
    yield "as many numbers as parameters", draw(2, 2)
    yield "a sensor without noise", draw(3, 2, R=np.zeros((2, 2)))
    known = _covariance(rng, 3)
    known[0], known[:, 0] = 0, 0
    yield "a parameter that is already known", draw(3, 2, P=known)


optimal_gain.mistakes(
    {
        "the noise is forgotten": (
            " + R",
            "",
            "Without R every sensor is believed completely. Which covariance does the innovation have?",
        ),
        "the old covariance in the form that wants the new one": (
            "np.linalg.solve(S, X @ P).T",
            "P @ X.T @ np.linalg.pinv(R)",
            "K = P Xᵀ R⁻¹ is right for the P after the measurement. Which P do you have?",
        ),
        "divides by the diagonal": (
            "np.linalg.solve(S, X @ P).T",
            "P @ X.T / np.diag(S)",
            "With two numbers S is a 2 × 2 matrix. Is dividing by its entries the same as multiplying by its inverse?",
        ),
        "what is known already does not count": (
            "np.linalg.solve(S, X @ P)",
            "np.linalg.solve(S, X)",
            "A parameter whose variance is 0 must not move: does it?",
        ),
        "R is squared": (
            " + R",
            " + R @ R",
            "R is a covariance: its unit is that of y squared. Do all terms of S have this unit?",
        ),
    }
)

optimal_gain.worked(
    why=r"""Where the derivative is zero, $K(XPX^\top + R) = PX^\top$: a linear system of size $m$, however many parameters there are.
    $S$ and $P$ are symmetric, so solving $S K^\top = XP$ spares the inverse. $R$ itself is never inverted: a sensor without noise is
    allowed, and $P = 0$ gives the gain 0."""
)


@optimal_gain.right("with an inverse")
def _(P, X, R):
    return P @ X.T @ np.linalg.inv(X @ P @ X.T + R)


@optimal_gain.right("as a regression on the innovation", library="scipy.linalg.solve")
def _(P, X, R):
    from scipy.linalg import solve

    return solve(X @ P @ X.T + R, X @ P, assume_a="pos").T


# ---------------------------------------------------------------- the estimator as a class


def _history(theta0, P0, R, y, X, joseph, number_format):
    """All forms are one in exact arithmetic; the short form in single precision is what came true."""
    given = theta0, P0, R, y, X
    if number_format == "float32" and not joseph:
        return reference.short_history(*(a.float() for a in given))
    if number_format == "float32":
        return reference.history(*given)
    whole = reference.history(*(a.double() for a in given))
    return {name: entries.to(y.dtype) for name, entries in whole.items()}


RecursiveLeastSquares = Exercise(
    "RecursiveLeastSquares",
    reference=_history,
    # 1e-5: with a single-precision prior the gain is a single-precision number.
    compare=close(rtol=1e-5, atol=1e-8),
    batched=("P0", "R", "X", "theta0", "y"),
    hints=[
        "update needs the newest estimate and covariance: they are the last entries of the lists. Which five new things does it append?",
        "S and the gain from the last P; innovation y − X θ from the last θ; new θ and new P. Make new arrays: θ += … would change the entry that the list already holds.",
        "With A = np.eye(d, dtype=P.dtype) - K @ X, the short form is A @ P; Joseph's multiplies it by A.T and adds the noise seen through K. Append one entry to each list.",
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
        spreads=list(estimator.spreads),
    )


@RecursiveLeastSquares.cases
def _(rng):
    def draw(d, m, n, joseph=True, **given):
        return (
            dict(
                theta0=rng.normal(1.0, 0.5, d),
                P0=_covariance(rng, d),
                R=_noise(rng, m),
                y=rng.normal(2.0, 1.0, (n, m)),
                X=np.stack([_X(rng, m, d) for _ in range(n)]),
                joseph=joseph,
                number_format="float64",
            )
            | given
        )

    yield "one number at a time", draw(2, 1, 4)
    yield "two numbers at a time", draw(3, 2, 2)
    yield "the short form agrees", draw(2, 1, 3, joseph=False)
    yield "a prior without doubt", draw(2, 1, 2, P0=np.zeros((2, 2)))
    rho = rng.uniform(0.5, 0.7)
    single = draw(
        2,
        1,
        3,
        P0=1e8 * np.array([[1, rho], [rho, 1]]),
        R=np.ones((1, 1)),
        X=np.tile([[[1.0, 0.0]]], (3, 1, 1)),
        # apart from each other: an innovation near 0 is a difference of rounded numbers
        y=np.cumsum(rng.uniform(0.5, 1.5, (3, 1)), 0),
        number_format="float32",
    )
    yield "a very precise sensor, in single precision", single
    double = single | dict(joseph=False, number_format="float64")
    yield "the short form in double precision, which stays awake", double
    # Powers of 2 and eighths: nothing is rounded but S = 2²⁶ + 2, at the second reading. Where a step slips into
    # double precision, it is not, and the estimator stays awake. S becomes 4, then 2²⁶: a Cholesky factor is exact.
    deaf = single | dict(
        theta0=rng.integers(4, 12, 2) / 8,
        P0=2.0**27 * np.array([[1, 0.5], [0.5, 1]]),
        R=2 * np.ones((1, 1)),
        X=np.array([[[2.0**-13, 0]], [[1.0, 0]], [[1.0, 0]]]),
        y=np.cumsum(rng.integers(4, 12, (3, 1)) / 8, 0),
        joseph=False,
    )
    yield "the short form in single precision, which goes deaf", deaf


RecursiveLeastSquares.mistakes(
    {
        "always the short form": (
            "if self.joseph:",
            "if False:",
            "With joseph=True the covariance must survive a sensor that is too precise for single precision: look at the variance after the first reading. (Multiplied out, Joseph's form loses it, too.)",
        ),
        "always the Joseph form": (
            "if self.joseph:",
            "if True:",
            "joseph=False asks for (I − KX) P, faults and all. Does your update look at the flag?",
        ),
        "slips into double precision": (
            ", dtype=P.dtype",
            "",
            "np.eye makes double precision. Look at covariances[-1].dtype after a single-precision prior.",
        ),
        "the innovation is taken after the update": (
            "self.innovations.append(innovation)",
            "self.innovations.append(y - X @ self.estimates[-1])",
            "The innovation is what the measurement says beyond the old estimate. Which estimate do you subtract?",
        ),
        "always starts from the prior": (
            "self.estimates[-1], self.covariances[-1]",
            "self.estimates[0], self.covariances[0]",
            "Which entry of the list does your update start from, the first one or the newest?",
        ),
        "old estimates change afterwards": (
            "self.estimates.append(theta + K @ innovation)",
            "theta += K @ innovation\n        self.estimates.append(theta)",
            "Look at estimates[0] after two updates. Does `theta += …` make a new array, or change the one that the list holds?",
        ),
        "the prior is not in the histories": (
            "[theta0], [P0]",
            "[theta0], [P0]\n        self.estimates = self.covariances = []",
            "The first entry of `estimates` is theta0 itself.",
        ),
        "the spread without the noise": (
            "self.spreads.append(S)",
            "self.spreads.append(S - self.R)",
            "The innovation holds the noise of the reading, too.",
        ),
    }
)

RecursiveLeastSquares.worked(
    why=r"""Everything in `update` starts from the newest entry of two lists, and the order is fixed: gain from the old covariance, innovation
    from the old estimate, then both new. `theta + …` makes a new array, so history stays history. The two forms differ by one line:
    Joseph multiplies the short form by $A^\top$ and adds the noise that the gain lets in."""
)


@RecursiveLeastSquares.right("a closure, by Cholesky", library="scipy.linalg.cho_solve")
def _(theta0, P0, R, joseph=True):
    from types import SimpleNamespace

    from scipy.linalg import cho_factor, cho_solve

    def update(y, X):
        theta, P = told.estimates[-1], told.covariances[-1]
        S = X @ P @ X.T + R
        K = cho_solve(cho_factor(S), X @ P).T
        told.innovations.append(y - X @ theta)
        told.estimates.append(theta + K @ told.innovations[-1])
        rest = P - K @ (X @ P)
        if joseph:
            rest = rest - (rest @ X.T) @ K.T + K @ R @ K.T
        told.covariances.append(rest)
        told.gains.append(K)
        told.spreads.append(S)

    lists = dict(gains=[], innovations=[], spreads=[], update=update)
    told = SimpleNamespace(estimates=[theta0], covariances=[P0], **lists)
    return told


@RecursiveLeastSquares.right("in torch, with a dictionary of lists")
class _:
    NAMES = "estimates", "covariances", "gains", "innovations", "spreads"

    def __init__(self, theta0, P0, R, joseph=True):
        self.R, self.joseph = torch.from_numpy(R), joseph
        self.__dict__.update(dict(zip(self.NAMES, ([theta0], [P0], [], [], []))))

    def update(self, y, X):
        last = self.estimates[-1], self.covariances[-1], y, X
        theta, P, y, X = map(torch.from_numpy, last)
        S, e = X @ P @ X.mT + self.R, y - X @ theta
        K = torch.linalg.solve(S, P @ X.mT, left=False)
        A = torch.eye(len(P), dtype=P.dtype) - K @ X
        new = A @ P @ A.mT + K @ self.R @ K.mT if self.joseph else A @ P
        for name, value in zip(self.NAMES, (theta + K @ e, new, K, e, S)):
            getattr(self, name).append(value.numpy())


@RecursiveLeastSquares.right("by an inverse, symmetrised as well")
class _:
    def __init__(self, theta0, P0, R, joseph=True):
        self.R, self.joseph, self.estimates, self.covariances = (
            R,
            joseph,
            [theta0],
            [P0],
        )
        self.gains, self.innovations, self.spreads = [], [], []

    def update(self, y, X):
        P = self.covariances[-1]
        self.spreads.append(X @ P @ X.T + self.R)
        K = P @ X.T @ np.linalg.inv(self.spreads[-1])
        self.gains.append(K)
        self.innovations.append(y - X @ self.estimates[-1])
        self.estimates.append(self.estimates[-1] + K @ self.innovations[-1])
        P = P - K @ (X @ P)
        if self.joseph:
            A = np.eye(len(P), dtype=P.dtype) - K @ X
            P = A @ self.covariances[-1] @ A.T + K @ self.R @ K.T
            P = (P + P.T) / 2
        self.covariances.append(P)


# ---------------------------------------------------------------- the alarm

first_alarm = Exercise(
    "first_alarm",
    reference=reference.first_above,
    compare=exact(),
    batched=("innovations", "variances"),
    shuffled=True,
    hints=[
        "One quotient e²/S for each reading. After which k do you have the first full window?",
        "Go through k = window, …, n. The quotients of readings k − window + 1 to k are the slice [k - window : k].",
        "for k in range(window, n + 1): if the mean of that slice is above limit, return k. What comes after the loop?",
    ],
)


@first_alarm.cases
def _(rng):
    def near(*quotients):
        return np.array(quotients) * rng.uniform(0.95, 1.05, len(quotients))

    def draw(quotients, window, limit, variances=1.0):
        """Innovations of both signs with these quotients."""
        S = variances * np.ones(len(quotients))
        e = np.sqrt(quotients * S) * (-1.0) ** np.arange(len(quotients))[::-1]
        return dict(innovations=e, variances=S, window=window, limit=limit)

    def calm():
        """A number of calm readings before: drawn, so that nobody knows the result."""
        return [0.4] * int(rng.integers(3, 13))

    above = "rings where the window's mean is above"
    yield above, draw(near(*calm(), 1, 4, 5, 6, 0.1, 0.1), 3, 3.7)
    yield above, draw(near(*calm(), 9, 0, 0, 5), 1, 4.0)
    many = draw(near(*calm(), 7, 0.1, 0.1, 4, 4, 4), 3, 3.0)
    yield "one large surprise is not enough", many
    window = int(rng.integers(2, 9))
    yield "at the first full window", draw(near(*[5] * window, 0, 0), window, 3.0)
    early = near(9, *[0.5] * (window + 1), 60, 0.5)
    yield "not before the window is full", draw(early, window, 6.0)
    yield "at the very last reading", draw(near(*calm(), 0.5, 8), 2, 3.0)
    yield "never", draw(near(*calm(), 2, 2), 2, 3.0)
    large, small = rng.uniform(90, 110), rng.uniform(0.009, 0.011)
    yield "the units play no part", draw(near(*calm(), 0.5, 0.5), 2, 3.0, large)
    yield "the units play no part", draw(near(*calm(), 50, 50), 2, 3.0, small)
    # one small variance among large ones: the mean of the quotients is no quotient of sums
    apart = near(*calm(), 8, 0.4, 0.4)
    S = np.where(apart > 1, 0.1, 5.0)
    yield "each by its own variance", draw(apart, 3, 2.5, S)
    exactly = rng.permutation([0.25, 1.0, 1.0, 4.0])  # all quotients are 4, unrounded
    at_limit = draw(np.full(4, 4.0), 2, 4.0, exactly)
    yield "a mean of exactly the limit does not ring", at_limit
    yield "fewer readings than the window", draw(near(9, 9), 3, 1.0)


first_alarm.mistakes(
    {
        "not divided by the variance": (
            " / variances",
            "",
            "A surprise of 3 is large if S is 1, and small if S is 100.",
        ),
        "divided by the standard deviation": (
            "/ variances",
            "/ np.sqrt(variances)",
            "Squares belong over variances.",
        ),
        "not squared": (
            "innovations**2",
            "innovations",
            "Surprises of both signs cancel, unless you square them.",
        ),
        "one large surprise is enough": (
            "np.mean(",
            "np.max(",
            "It is the mean of the window that has to be above the limit.",
        ),
        "a quotient of sums": (
            "np.mean(quotients[k - window : k])",
            "np.sum(innovations[k - window : k] ** 2) / np.sum(variances[k - window : k])",
            "Each square is divided by its own variance, before the mean.",
        ),
        "all readings so far": (
            "quotients[k - window : k]",
            "quotients[:k]",
            "Old, calm readings hide the alarm. How many does the window hold?",
        ),
        "does not wait for a full window": (
            "for k in range(window, len(quotients) + 1):\n        if np.mean(quotients[k - window : k])",
            "for k in range(1, len(quotients) + 1):\n        if np.mean(quotients[max(k - window, 0) : k])",
            "After the first reading there is no window yet.",
        ),
        "rings at the limit": ("> limit", ">= limit", "Is equal above?"),
        "misses the last reading": (
            "len(quotients) + 1",
            "len(quotients)",
            "range ends before its end. Which k is the last one?",
        ),
        "counts from 0": (
            "return k\n",
            "return k - 1\n",
            "k readings are in when the alarm rings, and the first is number 1.",
        ),
    }
)

first_alarm.worked(
    why=r"""$e^2/S$ has mean 1 if the model is right, whatever the units, so one limit serves all readings. The mean over a window
    forgives a single outlier and notices what lasts. After reading $k$ the window holds the quotients from $k - $ window to $k - 1$,
    counted from 0, as Python slices do."""
)


@first_alarm.right(
    "all windows at once", library="numpy.lib.stride_tricks.sliding_window_view"
)
def _(innovations, variances, window, limit):
    from numpy.lib.stride_tricks import sliding_window_view

    if len(innovations) < window:
        return 0
    windows = sliding_window_view(innovations**2 / variances, window)
    above = windows.mean(axis=1) > limit
    return int(above.argmax()) + window if above.any() else 0


@first_alarm.right("a list that drops its oldest")
def _(innovations, variances, window, limit):
    recent = []
    for k, (e, S) in enumerate(zip(innovations, variances), 1):
        recent = (recent + [e * e / S])[-window:]
        if k >= window and sum(recent) / window > limit * (1 + 1e-12):
            return k
    return 0


# ---------------------------------------------------------------- forgetting

rls_forget = Exercise(
    "rls_forget",
    reference=lambda P_rows, y, lam, b: reference.forgetting_fits(
        *(a if a.is_floating_point() else a.double() for a in (P_rows, y)), lam, b
    ),
    compare=close(rtol=1e-5, atol=1e-8),
    batched=("P_rows", "y"),
    hints=[
        "Two things go from row to row: w and the inverse of M. What is M before the first row, and what is its inverse?",
        "With g = M⁻¹ p every denominator is c = λ pᵀ g + 1 − λ. The weights move by λ g / c times the surprise.",
        "inverse = np.eye(d) / b before the loop. For each row: g = inverse @ row, then c, then w, then the inverse: np.outer(g, g) is the matrix g gᵀ.",
    ],
)


@rls_forget.cases
def _(rng):
    def draw(n, p, lam):
        rows = np.column_stack([np.ones(n), rng.normal(0.5, 1.0, (n, p - 1))])
        y = rows @ rng.normal(1.0, 1.0, p) + np.linspace(0, 3, n)
        y = y + 0.3 * rng.normal(size=n)
        b = float(rng.uniform(0.3, 0.7))
        return dict(P_rows=rows, y=y, lam=float(lam), b=b)

    yield "a long memory", draw(8, 2, rng.uniform(0.08, 0.15))
    yield "a short memory", draw(7, 3, rng.uniform(0.6, 0.8))
    yield "one half", draw(6, 2, 0.5)
    yield "a single row", draw(1, 3, rng.uniform(0.2, 0.3))
    yield "a moving level", draw(6, 1, rng.uniform(0.2, 0.3))
    whole = draw(5, 2, rng.uniform(0.2, 0.3))
    whole["P_rows"] = np.column_stack([np.ones(5, int), rng.permutation(5) - 1])
    yield "whole numbers", whole | dict(y=rng.integers(2, 9, 5))


def _forgetting(P_rows, y, b, old, new, renewed=0.0):
    """Direct solves of M ← old M + new p pᵀ, q ← old q + new p y, with a penalty added at each row."""
    p = P_rows.shape[1]
    M, q, fits = b * np.eye(p), np.zeros(p), []
    for row, value in zip(P_rows, y):
        M = old * M + new * np.outer(row, row) + renewed * b * np.eye(p)
        q = old * q + new * row * value
        fits.append(np.linalg.solve(M, q))
    return np.array(fits)


rls_forget.mistakes(
    {
        "λ weighs the past": (
            "d = P_rows.shape[1]",
            "d, lam = P_rows.shape[1], 1 - lam",
            "λ near 1 means that the newest row counts most. Which factor do you give to the old M?",
        ),
        "a plus in the lemma": (
            "(inverse - lam",
            "(inverse + lam",
            "A row adds information. Should the inverse of M, up to the factor 1/(1 − λ), grow or shrink by its term?",
        ),
        "starts from b in place of its inverse": (
            "np.eye(d) / b",
            "np.eye(d) * b",
            "M starts at b times the identity. What is then the inverse of M?",
        ),
        "M does not fade": (
            " / (1 - lam)",
            "",
            "The old M is multiplied by 1 − λ. What does that do to its inverse?",
        ),
        "all rows are one array": (
            "w = w + lam / c * g * (value - row @ w)",
            "w += lam / c * g * (value - row @ w)",
            "`w += …` changes the array that the list already holds. Look at W[0] and W[1].",
        ),
        "weights in an array like P_rows": (
            "np.array(fits)",
            "np.array(fits, P_rows.dtype)",
            "Where P_rows holds whole numbers, an array of its kind cuts 2.5 to 2.",
        ),
    }
)


@rls_forget.wrong(
    "nothing is forgotten",
    advice="Add up the weights that your first and your newest row have in the end. Are they equal?",
)
def _(P_rows, y, lam, b):
    return _forgetting(P_rows, y, b, 1, 1)


@rls_forget.wrong(
    "the new row counts fully",
    advice="The old M is multiplied by 1 − λ. By what is the new row multiplied?",
)
def _(P_rows, y, lam, b):
    return _forgetting(P_rows, y, b, 1 - lam, 1)


@rls_forget.wrong(
    "the penalty is renewed at each row",
    advice="b stands in M once, at the start, and fades like everything else. Do you add it again?",
)
def _(P_rows, y, lam, b):
    return _forgetting(P_rows, y, b, 1 - lam, lam, renewed=lam)


rls_forget.worked(
    why=r"""Only $w$ and $M^{-1}$ go from row to row: $q = Mw$ is never needed. A row changes $M$ by one product $pp^\top$, so its inverse
    changes by one product $gg^\top$, and no system is solved. Dividing by $1 - \lambda$ is the forgetting: what no row refreshes grows
    uncertain, like compound interest."""
)


@rls_forget.right("solving at every row")
def _(P_rows, y, lam, b):
    return _forgetting(P_rows, y, b, 1 - lam, lam)


@rls_forget.right(
    "weighted ridge on all rows so far", library="sklearn.linear_model.Ridge"
)
def _(P_rows, y, lam, b):
    from sklearn.linear_model import Ridge

    fits = []
    for k in range(1, len(y) + 1):
        weight = lam * (1 - lam) ** np.arange(k - 1, -1, -1)
        model = Ridge(b * (1 - lam) ** k, fit_intercept=False, tol=1e-12)
        fits.append(model.fit(P_rows[:k], y[:k], sample_weight=weight).coef_)
    return np.array(fits)


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
    def draw(n, order, P0):
        """Times in any order, of both signs."""
        t = rng.permutation(np.linspace(-1.5, 1.5, n)) + 0.2 if n > 1 else [0.7]
        t = np.array(t)
        y = 2 - t + 1.5 * t**2 + 0.5 * rng.normal(size=n)
        return dict(t=t, y=y, order=order, R=float(rng.uniform(0.3, 0.7)), P0=float(P0))

    yield "a straight line", draw(6, 1, rng.uniform(2, 4))
    yield "a parabola", draw(7, 2, rng.uniform(2, 4))
    yield "a constant", draw(4, 0, rng.uniform(2, 4))
    yield "fewer points than coefficients", draw(1, 2, rng.uniform(2, 4))
    yield "a prior that knows next to nothing", draw(8, 2, 1e4)


rls_polyfit.mistakes(
    {
        "the highest power first": (
            "np.arange(order + 1)",
            "np.arange(order, -1, -1)",
            "np.polyfit starts with the highest power. Which coefficient is to stand first here?",
        ),
        "begins with t": (
            "np.arange(order + 1)",
            "np.arange(1, order + 2)",
            "A line has an offset. Which power of t is 1?",
        ),
        "the covariance is never updated": (
            "P = P - np.outer(K, x @ P)",
            "P = P - 0",
            "Do later points count as much as early ones? P must shrink after every point.",
        ),
        "the covariance goes first": (
            "theta = theta + K * (value - x @ theta)\n        P = P - np.outer(K, x @ P)",
            "P = P - np.outer(K, x @ P)\n        theta = theta + P @ x / (x @ P @ x + R) * (value - x @ theta)",
            "In one step the gain comes first, from the old P. Which P is in your gain?",
        ),
        "every point has noise variance 1": (
            "x @ P @ x + R",
            "x @ P @ x + 1",
            "A precise sensor should move the estimate more than a noisy one. Does your gain know R?",
        ),
    }
)


@rls_polyfit.wrong(
    "plain least squares, without the prior",
    advice="P0 says how far the coefficients are from 0 as a rule. Does your result depend on it?",
)
def _(t, y, order, R, P0):
    rows = t[:, None] ** np.arange(order + 1)
    P = R * np.linalg.pinv(rows.T @ rows)
    return P @ rows.T @ y / R, P


rls_polyfit.worked(
    why=r"""A polynomial is linear in its coefficients: only the row changes. With one number at a time $S$ is a number, the gain a vector, and
    the short form subtracts an outer product. The order of the points plays no part, and a large $P_0$ gives `np.polyfit`."""
)


@rls_polyfit.right("adding information point by point")
def _(t, y, order, R, P0):
    J, q = np.eye(order + 1) / P0, np.zeros(order + 1)
    for now, value in zip(t, y):
        x = np.array([now**j for j in range(order + 1)])
        J, q = J + np.outer(x, x) / R, q + x * value / R
    return np.linalg.solve(J, q).tolist(), np.linalg.inv(J).tolist()


@rls_polyfit.right("all points at once, as ridge", library="sklearn.linear_model.Ridge")
def _(t, y, order, R, P0):
    from sklearn.linear_model import Ridge

    rows = t[:, None] ** np.arange(order + 1)
    model = Ridge(R / P0, fit_intercept=False, solver="cholesky").fit(rows, y)
    return model.coef_, np.linalg.inv(rows.T @ rows / R + np.eye(order + 1) / P0)

# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="an estimator that learns from one number at a time, and notices when it is wrong"
# # Recursive least squares
#
# Mauna Loa, 1959. A chip fits a line to the carbon dioxide in the air: one number a year, in parts per million (ppm).
# It has room for five numbers: two are the line, three say how sure it is. Each year corrects the five, and is thrown
# away.
#
# On the bench it passes the hardest test: at the end its line is, to the third decimal, the one that least squares
# draws through *all* years.
#
# In 2001 its line stands at 368.4 ± 0.3 (two standard deviations). The air says 370.9. Its forecasts have been too low for 36 years running, and
# never was it so sure.
#
# *Why is the chip so sure? When could it have noticed? And what mends it?* Your own estimator
# will answer.

# %%
# What this notebook needs; Mauna Loa's years, as rows [1, t].
import numpy as np
from ipywidgets import FloatLogSlider, FloatSlider, IntSlider

from descent import (
    after,
    check,
    claim,
    erratum,
    explore,
    hint,
    predict,
    show,
    solution,
    start,
)
from descent.pictures.regression import recursive_least_squares as rs

years, co2 = rs.mauna_loa()
rows = np.column_stack([np.ones(len(years)), (years - 1959) / 10])
inv = np.linalg.inv
start("01_regression/06_recursive_least_squares")

# %% covers="moon:6.1 moon:6.1.3"
# What the chip forecast from one year to the next, and what came.
show(*rs.draw_forecasts(years, co2, {"chip": rs.chip(rows, co2)}))

# %% [markdown] covers="moon:6.1.2"
# ## 1. Correct, do not refit
#
# Fitting all rows again at each of $n$ readings costs like $n^2$. Gauss knew in the 1820s that the last estimate and its
# uncertainty are enough; Plackett found it anew in 1950.
#
# Take a number $\theta$ that stands still. Reading $k = 1, 2, \dots$ is $y_k = \theta + \eta_k$, with independent noise of
# mean 0 and variance $R$. Your first guess $\theta_0$ is off by an independent error of variance $P_0$. How far should a noisy
# reading pull? Part of the way: the farther, the less you know yourself:
#
# $$K_k = \frac{P_{k-1}}{P_{k-1} + R}, \qquad \theta_k = \theta_{k-1} + K_k\,(y_k - \theta_{k-1}), \qquad P_k = (1 - K_k)\,P_{k-1} .$$
#
# The bracket is the **innovation**, the surprise. $K_k$ is the **gain**. $P_k$ claims to be the variance of
# the error left: sections 2 to 4.


# %% exercise="scalar_rls" points=2 difficulty=1 covers="moon:6.1.2"
def scalar_rls(y, theta0, P0, R):
    """Estimates of a constant from direct readings, one after the other.

    y (n,), n >= 1: readings with noise variance R > 0, perhaps whole numbers.
    theta0: first guess, of variance P0 >= 0.
    Returns (estimates (n,), gains (n,)) after readings 1, …, n, without theta0.
    y = [5, 5], theta0 = 0, P0 = 4, R = 1 give ([4, 4.444], [0.8, 0.444]).
    """
    ### BEGIN SOLUTION
    theta, P, estimates, gains = theta0, P0, [], []
    for value in y:
        K = P / (P + R)
        theta = theta + K * (value - theta)
        P = (1 - K) * P
        estimates.append(theta)
        gains.append(K)
    return np.array(estimates), np.array(gains)
    ### END SOLUTION


# %% check="scalar_rls"
check(scalar_rls)

# %% [markdown] covers="moon:6.1 moon:6.1.3"
# ## 2. What does a gain do to the error?
#
# Now $d$ parameters $\theta$, and $m$ numbers at once: $y_k = X_k\theta + \eta_k$ with a known $m \times d$ matrix
# $X_k$ and noise of covariance $R = \mathbb E[\eta_k\eta_k^\top]$, independent from reading to reading. A line has $X_k = [1\;\; t_k]$. Take *any* $d \times m$ gain:
#
# $$\theta_k = \theta_{k-1} + K_k\,(y_k - X_k\theta_{k-1}), \qquad \epsilon_k = \theta - \theta_k = (I - K_kX_k)\,\epsilon_{k-1} - K_k\,\eta_k .$$
#
# If $\mathbb E[\epsilon_0] = 0$, so is $\mathbb E[\epsilon_k]$, whatever the gains: the estimator is **unbiased**. (The mean
# runs over truths around the guess, too.) So choose by the spread, $P_k = \mathbb E[\epsilon_k\epsilon_k^\top]$. The two
# parts of $\epsilon_k$ are independent, so their covariances add:
#
# $$P_k = (I - K_kX_k)\,P_{k-1}\,(I - K_kX_k)^\top + K_kRK_k^\top .$$
#
# This is the **Joseph form**.


# %% exercise="joseph_update" points=1 difficulty=1 covers="moon:6.1"
def joseph_update(P, K, X, R):
    """Error covariance after a step with gain K, whatever the gain.

    P (d, d): covariance before, symmetric. K (d, m). X (m, d). R (m, m): noise.
    Returns the new covariance (d, d).
    P = [[4]], K = [[0.5]], X = [[1]], R = [[1]] give [[1.25]].
    """
    ### BEGIN SOLUTION
    A = np.eye(len(P)) - K @ X
    return A @ P @ A.T + K @ R @ K.T
    ### END SOLUTION


# %% check="joseph_update"
check(joseph_update)

# %% covers="moon:6.1"
# Any gains, 50,000 streams of five readings: does your P hold?
with after(joseph_update):
    rng, runs, P = np.random.default_rng(0), 50_000, np.eye(2)
    gains, error = rng.uniform(0, 0.6, (5, 2, 1)), rng.normal(size=(runs, 2))
    for K, t in zip(gains, np.linspace(-1, 1, 5)):
        X, noise = np.array([[1.0, t]]), 0.5 * rng.normal(size=(runs, 1))
        error = error @ (np.eye(2) - K @ X).T - noise @ K.T
        P = np.asarray(joseph_update(P, K, X, np.array([[0.25]])))
    mean, once = error.mean(axis=0), error.std(axis=0) / np.sqrt(runs)
    claim(
        "random gains: the mean error is 0 within {z} standard errors",
        np.all(np.abs(mean) < 4 * once),
        z=4,
    )
    simulated = error.T @ error / runs
    off = np.abs(simulated - P).max()
    claim(
        "its covariance is your P, here with trace {t:.2f}, up to the noise of {n}",
        off < 0.02 * np.trace(P),
        t=np.trace(P),
        n="50,000 runs",
    )
    show(*rs.draw_errors(error[:1000], P))

# %% [markdown] covers="moon:6.1"
# ## 3. The best gain
#
# The mean squared error is $J = \mathbb E\lVert\epsilon_k\rVert^2 = \operatorname{tr} P_k$. Make it smallest. Write $P$ for
# $P_{k-1}$ and $X$ for $X_k$. If all are numbers, $J = (1 - KX)^2P + K^2R$ has the slope $-2\,(1 - KX)\,PX + 2KR$. With
# matrices only the order counts. Entry $(i, j)$ of $\partial J/\partial K$ is the slope in $K_{ij}$:
#
# $$\frac{\partial J}{\partial K} = -2\,(I - KX)\,PX^\top + 2KR .$$
#
# (Two rules prove it, under *Deeper*.)
#
# Set it to zero and solve for $K$. You will meet $S = XPX^\top + R$, the covariance of the innovation. **Before you
# write**: what must come out for a sensor without noise, a hopeless one ($R \to \infty$), and a parameter that is known already?


# %% exercise="optimal_gain" points=1 difficulty=1 covers="moon:6.1"
def optimal_gain(P, X, R):
    """The gain that minimises the trace of the new error covariance.

    P (d, d): covariance before, symmetric, perhaps singular. X (m, d). R (m, m).
    X P X^T + R is invertible; R alone may be 0. Returns K (d, m).
    P = [[4, 0], [0, 1]], X = [[1, 1]], R = [[3]] give [[0.5], [0.125]].
    """
    ### BEGIN SOLUTION
    S = X @ P @ X.T + R
    return np.linalg.solve(S, X @ P).T
    ### END SOLUTION


# %% check="optimal_gain"
check(optimal_gain)


# %% covers="moon:6.1"
# ∂J/∂K by finite differences; then your gain against others.
def slopes(f, A, h=1e-5):
    """The derivative of f with respect to each entry of A."""
    steps = h * np.eye(A.size).reshape(-1, *A.shape)
    return np.reshape([(f(A + e) - f(A - e)) / (2 * h) for e in steps], A.shape)


rng = np.random.default_rng(1)
K, X, R = (
    rng.normal(size=(3, 2)),
    rng.normal(size=(2, 3)),
    np.array([[0.6, 0.2], [0.2, 0.4]]),
)
P = np.array([[2.0, 0.6, 0], [0.6, 1, 0.3], [0, 0.3, 1.5]])
by_hand = -2 * (np.eye(3) - K @ X) @ P @ X.T + 2 * K @ R
found = slopes(lambda K: np.trace(rs.joseph(P, K, X, R)), K)
claim("∂J/∂K = −2(I − KX)PXᵀ + 2KR", np.allclose(found, by_hand))
with after(optimal_gain, joseph_update):
    K, S = optimal_gain(P, X, R), X @ P @ X.T + R
    best, D = joseph_update(P, K, X, R), 0.1 * rng.normal(size=(500, 3, 2))
    others = np.array([joseph_update(P, K + d, X, R) for d in D])
    worse = np.trace(others, axis1=1, axis2=2) > np.trace(best)
    claim("{n} other gains leave a larger trace", worse.all(), n=len(D))
    claim("a gain off by D costs D S Dᵀ", np.allclose(others - best, D @ S @ D.mT))

# %% [markdown] covers="moon:6.1 moon:6.1.1"
# ## 4. Information adds
#
# So the best gain is best for *every* combination of parameters. For it the Joseph form shrinks to a short form, and
# its inverse, where there is one, to a mere sum (the steps stand under *Deeper*):
#
# $$P_k = (I - K_kX_k)\,P_{k-1}, \qquad P_k^{-1} = P_{k-1}^{-1} + X_k^\top R^{-1}X_k, \qquad K_k = P_kX_k^\top R^{-1} .$$
#
# **Information adds**, as rows do in least squares. So the order plays no part, and the last estimate minimises
#
# $$(\theta - \theta_0)^\top P_0^{-1}(\theta - \theta_0) + \sum_k (y_k - X_k\theta)^\top R^{-1}(y_k - X_k\theta) .$$
#
# For $\theta_0 = 0$, $P_0 = \tau^2I$, $R = \sigma^2$ this is ridge with $\lambda = \sigma^2/\tau^2$ ([[01/03]]).

# %% predict="lifted" minutes=1
predict(
    "lifted",
    "Ten readings of a line are in, and all agree. The eleventh lies 3 higher than the "
    "line. What happens to the ellipse of uncertainty, compared with an eleventh "
    "reading on the line?",
    [
        "It grows: the reading contradicts the others",
        "It shrinks less",
        "Nothing: it is the same ellipse",
    ],
    truth=2 if np.ptp([rs.reading(10, 0.8, y)["area"] for y in (0.4, 3.4)]) == 0 else 1,
    because="P and K are made of X, R and P₀ alone. No y stands in them: the chip "
    "would claim the same certainty for any data.",
)

# %% [markdown] covers="moon:6.1"
# **Your laboratory.** The line $1 - 0.8\,t$ with noise 0.5; the square is the newest reading. Take it and drag it. The ellipse
# holds all $\theta$ within two standard deviations of the estimate.
#
# 1. Drag it up and down, then sideways. What moves the line, what turns and shrinks the ellipse? Which $t$ teaches most?
# 2. Play the number of readings before it. How far does the same drag move the line after 3, after 60?

# %% covers="moon:6.1 moon:6.1.3"
# Drag the newest reading. Play the readings before it.
with after(optimal_gain, joseph_update, "lifted"):
    explore(
        rs.reading_explorer(optimal_gain, joseph_update),
        drag={("t", "y"): "reading"},
        play="before",
        before=IntSlider(3, min=1, max=60, description="readings before"),
        t=FloatSlider(0.8, min=-1, max=1, step=0.05, description="time t"),
        y=FloatSlider(2, min=-2, max=4, step=0.05, description="reading y"),
    )

# %% [markdown] covers="moon:6.1.4 moon:6.1.2"
# ## 5. Build the estimator
#
# Now the chip. For each measurement: the gain from the last covariance; the estimate; the new covariance. Keep it
# all in lists, and the innovations with their covariance $S$: you will need them. Chips count in single precision
# (`float32`), so no step may slip into double precision, as `np.eye(d)` would.


# %% exercise="RecursiveLeastSquares" points=5 difficulty=1 covers="moon:6.1.4 moon:6.1.2"
class RecursiveLeastSquares:
    """An estimator that takes one measurement at a time.

    theta0 (d,), P0 (d, d), R (m, m): first guess, its covariance, noise covariance.
    joseph: whether P is updated in the Joseph form or in the short one, (I - KX) P.
    Five lists: estimates [theta0, theta1, …], covariances [P0, P1, …],
    gains [K1, …], each (d, m), innovations [y1 - X1 theta0, …], each (m,),
    and their covariances spreads [S1, …], each (m, m).
    Work in the number format of P0: np.eye(d, dtype=P0.dtype).
    """

    def __init__(self, theta0, P0, R, joseph=True):
        ### BEGIN SOLUTION
        self.R, self.joseph = R, joseph
        self.estimates, self.covariances = [theta0], [P0]
        self.gains, self.innovations, self.spreads = [], [], []
        ### END SOLUTION

    def update(self, y, X):
        """Take in y (m,), measured with X (m, d). Appends one entry to each list.

        With theta0 = [0], P0 = [[4]] and R = [[1]], update([5], [[1]]) (as arrays)
        appends estimate [4], covariance [[0.8]], gain [[0.8]], innovation [5] and
        spread [[5]].
        """
        ### BEGIN SOLUTION
        theta, P = self.estimates[-1], self.covariances[-1]
        S = X @ P @ X.T + self.R
        K = np.linalg.solve(S, X @ P).T
        innovation = y - X @ theta
        A = np.eye(len(P), dtype=P.dtype) - K @ X
        P = A @ P
        if self.joseph:
            P = P @ A.T + K @ self.R @ K.T
        self.estimates.append(theta + K @ innovation)
        self.covariances.append(P)
        self.gains.append(K)
        self.innovations.append(innovation)
        self.spreads.append(S)
        ### END SOLUTION


# %% check="RecursiveLeastSquares"
check(RecursiveLeastSquares)

# %% covers="moon:6.1.4 moon:6.1.2 moon:6.1.3"
# Your estimator is the chip: its five lists over 43 years.
with after(RecursiveLeastSquares):

    def learn(values):
        P0, R = 1e4 * np.eye(2), np.array([[0.25]])
        estimator = RecursiveLeastSquares(np.array([315.0, 0.0]), P0, R)
        for x, value in zip(rows, values):
            estimator.update(np.array([value]), x[None])
        return estimator

    mine = learn(co2)
    batch = np.linalg.lstsq(rows, co2)[0]
    level, sd = rows[-1] @ batch, np.sqrt(rows[-1] @ mine.covariances[-1] @ rows[-1])
    claim(
        "the bench test: least squares through all years, to the third decimal",
        np.abs(mine.estimates[-1] - batch).max() < 5e-4,
    )
    claim(
        "in 2001 it says {a:.1f} ± {b:.1f}; the air, {c:.1f}",
        co2[-1] - level > 15 * sd,
        a=level, b=2 * sd, c=co2[-1],
    )  # fmt: skip
    show(*rs.draw_histories(years, mine))

# %% [markdown] covers="moon:6.1.4"
# ## 6. Who could have told?
#
# It is sure because it counts readings, and deaf because its gain dies like $1/k$. Both are right *if the model is
# true*. But carbon dioxide rises ever faster.
#
# $P$ cannot see that. The innovations can. If model and $R$ are right, $e_k = y_k - X_k\theta_{k-1}$ has mean 0
# and variance $S_k$, so $e_k^2/S_k$ is 1 on average. Watch the mean of the last few: with normal noise, five have a
# mean above 3 once in a hundred.


# %% exercise="first_alarm" points=2 difficulty=1 covers="moon:6.1.4"
def first_alarm(innovations, variances, window, limit):
    """When the squares of the innovations, each over its variance, get too large.

    innovations (n,); variances (n,), all > 0; window >= 1, perhaps more than n.
    After reading k >= window: the mean of the last `window` of the n quotients
    e²/S up to k. The alarm rings when this mean is above limit.
    Returns k, counted from 1, at the first alarm, and 0 if there is none.
    innovations = [1, -3, 4], variances = [1, 1, 4], window = 2, limit = 4.5 give 2.
    """
    ### BEGIN SOLUTION
    quotients = innovations**2 / variances
    for k in range(window, len(quotients) + 1):
        if np.mean(quotients[k - window : k]) > limit:
            return k
    return 0
    ### END SOLUTION


# %% check="first_alarm"
check(first_alarm)

# %% [markdown] covers="moon:6.2"
# ## 7. Forgetting
#
# An alarm is no cure. Go back to the sums: rows $p_i \in \mathbb R^{d}$, targets $y_i$, ridge penalty $b > 0$ (section 4
# called it $\lambda$), and after $n$ rows
# $M_n = \sum p_ip_i^\top + bI$, $q_n = \sum p_iy_i$, $w_n = M_n^{-1}q_n$. To **forget**, average in place of adding. Let
# $\lambda \in (0, 1)$ now be the weight of the newest row:
#
# $$M_{n+1} = (1 - \lambda)M_n + \lambda\,pp^\top, \qquad q_{n+1} = (1 - \lambda)q_n + \lambda\,p\,y .$$
#
# Row $i$ weighs $\lambda(1 - \lambda)^{n-i}$ now; the penalty, $b(1 - \lambda)^n$, fades as well. With
# $g = M_n^{-1}p$ and $c = \lambda\,p^\top g + 1 - \lambda$, two corrections do it:
#
# $$w_{n+1} = w_n + \frac\lambda c\, g\,\big(y - p^\top w_n\big), \qquad
# M_{n+1}^{-1} = \frac1{1 - \lambda}\Big(M_n^{-1} - \frac\lambda c\,gg^\top\Big) .$$
#
# (The right one, times $M_{n+1}$, is $I$; it gives $M_{n+1}^{-1}p = g/c$, and that the left one.)


# %% exercise="rls_forget" points=3 difficulty=1 covers="moon:6.2"
def rls_forget(P_rows, y, lam, b):
    """Weights after each row of a ridge fit that forgets.

    P_rows (n, d): features, row by row; y (n,); both perhaps in whole numbers.
    lam in (0, 1): weight of a new row.
    Start: M = b times the identity, b > 0, and w = 0. The penalty is not renewed.
    Returns W (n, d); W[k] are the weights after k + 1 rows.
    P_rows = [[1], [1]], y = [2, 4], lam = 0.5, b = 1 give [[1], [2.5]].
    """
    ### BEGIN SOLUTION
    d = P_rows.shape[1]
    inverse, w, fits = np.eye(d) / b, np.zeros(d), []
    for row, value in zip(P_rows, y):
        g = inverse @ row
        c = lam * row @ g + 1 - lam
        w = w + lam / c * g * (value - row @ w)
        inverse = (inverse - lam / c * np.outer(g, g)) / (1 - lam)
        fits.append(w)
    return np.array(fits)
    ### END SOLUTION


# %% check="rls_forget"
check(rls_forget)

# %% covers="moon:6.2"
# The two corrections; direct solves; λ = ½; the limit λ → 0.
rng, p, lam, b = np.random.default_rng(7), np.array([1.0, -0.7, 2.0]), 0.3, 0.5
M = np.eye(3) + 0.4
q, g, y = rng.normal(size=3), inv(M) @ p, 1.7
c, w, M_new = lam * p @ g + 1 - lam, inv(M) @ q, (1 - lam) * M + lam * np.outer(p, p)
shrunk = (inv(M) - lam / c * np.outer(g, g)) / (1 - lam)
claim("M times its new inverse is I", np.allclose(M_new @ shrunk, np.eye(3)))
w_new = shrunk @ ((1 - lam) * q + lam * p * y)
claim(
    "M⁻¹q moves by λ/c g (y − pᵀw)", np.allclose(w_new - w, lam / c * g * (y - p @ w))
)
with after(rls_forget):
    P_rows = np.column_stack([np.ones(30), rng.normal(size=(30, 2))])
    y = P_rows @ np.array([1.0, -2.0, 0.5]) + 0.3 * rng.normal(size=30)
    for lam in (0.05, 0.5, 0.8):
        M, q, direct = b * np.eye(3), np.zeros(3), []
        for p, value in zip(P_rows, y):
            M = (1 - lam) * M + lam * np.outer(p, p)
            q = (1 - lam) * q + lam * p * value
            direct.append(np.linalg.solve(M, q))
        same = np.allclose(rls_forget(P_rows, y, lam, b), direct)
        claim("λ = {lam}: M⁻¹q at each of {n} rows", same, lam=lam, n=30)
    ridge = np.linalg.solve(P_rows.T @ P_rows + b * np.eye(3), P_rows.T @ y)
    half, tiny = (
        rls_forget(P_rows, y, *pair)[-1] for pair in ((0.5, b), (1e-7, 1e-7 * b))
    )
    claim("λ = ½ is not ridge: off by {o:.2f}", np.abs(half - ridge).max() > 0.05,
          o=np.abs(half - ridge).max())  # fmt: skip
    claim("λ → 0 with b/λ kept is ridge", np.allclose(tiny, ridge, atol=1e-4))

# %% predict="memory" minutes=1
predict(
    "memory",
    "A level rises by 0.02 a step; the noise is 0.3. You raise λ from 0.02 to 0.5. "
    "What happens to the estimate?",
    [
        "It lags less and jitters more",
        "It lags more and jitters less",
        "It lags less and jitters less",
    ],
    truth=0
    if (np.diff(rs.tracking_terms([0.02, 0.5], 0.02, 0.3)) * [[-1], [1]] > 0).all()
    else 1,
    because="A shorter memory is more up to date, and averages over fewer rows. So "
    "somewhere between the two there is a best λ.",
)

# %% [markdown] covers="moon:6.2"
# For a level ($d = 1$, every row is the number 1) the recursion settles to $w \leftarrow (1 - \lambda)w + \lambda y$. Rising by $v$ a step under noise of variance
# $\sigma^2$, it has
#
# $$\text{lag} = \frac{1 - \lambda}\lambda\,v, \qquad \text{variance} = \frac\lambda{2 - \lambda}\,\sigma^2 .$$
#
# Bias and variance again ([[01/04]]), with time in place of flexibility. In units of the newest, all weights add up to
# $1/\lambda$: the memory. Drag $\lambda$. Without drift, which is best? If the drift halves, does the best memory double?

# %% covers="moon:6.2"
# Drag λ along the curves.
with after(rls_forget, "memory"):
    explore(
        rs.drift_explorer(rls_forget),
        drag={"lam": "errors"},
        lam=FloatLogSlider(0.5, min=-1.5, max=-0.1, step=0.05, description="λ"),
        speed=FloatSlider(0.02, min=0, max=0.04, step=0.005, description="drift a step",
                          readout_format=".3f"),
    )  # fmt: skip

# %% [markdown] covers="moon:6.2 moon:6.1.4"
# ## 8. The chip, repaired
#
# Keep the line. Choose $\lambda$ by what its forecasts missed from 1969 to 1980, freeze it, and look at 1981 to 2001.

# %% covers="moon:6.2 moon:6.1.4 moon:6.1.3"
# The question of the first screen.
with after(RecursiveLeastSquares, first_alarm, rls_forget):

    def missed(lam):
        """What came, minus the forecasts from the year before."""
        W = rls_forget(rows, co2 - 315, lam, 1e-5)
        return co2 - 315 - np.r_[0, np.sum(rows[1:] * W[:-1], axis=1)]

    rng = np.random.default_rng(3)
    nonsense = learn(rng.uniform(0, 1000, len(co2))).covariances[-1]
    claim(
        "why: fed with nonsense, it claims the very same ± {b:.1f}",
        np.array_equal(nonsense, mine.covariances[-1]),
        b=2 * np.sqrt(rows[-1] @ nonsense @ rows[-1]),
    )
    calm = [first_alarm(rng.normal(size=5), np.ones(5), 5, 3.0) for _ in range(4000)]
    old, S = np.ravel(mine.innovations), np.ravel(mine.spreads)
    k, lams = first_alarm(old, S, 5, 3.0), np.arange(0.1, 0.95, 0.1)
    lam = lams[np.argmin([rs.rms(missed(one)[10:22]) for one in lams])]
    new = missed(lam)
    claim(
        "when: your alarm rings in {y}, {n} years before 2001 (where all is well it "
        "rings in {s:.1%} of windows)",
        0 < k < 20 and np.mean(calm) < 0.1,
        y=int(years[k - 1]), n=int(2001 - years[k - 1]), s=np.mean(np.array(calm) > 0),
    )  # fmt: skip
    ratio = rs.rms(old[22:]) / rs.rms(new[22:])
    claim(
        "what mends it: λ = {lam:.1f}, a memory of {m:.0f} years. From 1981 it is off "
        "by {b:.2f} ppm, the chip by {a:.2f}",
        ratio > 3,
        lam=lam, m=1 / lam, a=rs.rms(old[22:]), b=rs.rms(new[22:]),
    )  # fmt: skip
    naive = rs.rms(np.diff(co2)[21:])
    claim("(“as last year” is off by {c:.2f} ppm)", rs.rms(new[22:]) < naive, c=naive)
    chip = dict(forecast=co2 - old, sd=np.sqrt(S))
    repaired = dict(forecast=co2 - new)
    runs = {"chip": chip, f"λ = {lam:.1f}": repaired}
    show(*rs.draw_forecasts(years, co2, runs, alarm=years[k - 1]))

# %% [markdown] covers="moon:6.1 moon:6.1.1 moon:6.1.2 moon:6.2"
# ## Take-aways
#
# The chip was sure because $P$ counts readings and never sees one; deaf because the gain dies like $1/k$. Its innovations
# knew in 1973.
#
# - One update: gain, estimate, covariance. Least squares needs no other memory.
# - Any gain leaves the estimate unbiased; $K = PX^\top(XPX^\top + R)^{-1}$ has the least spread. A gain off by $D$ costs $DSD^\top$.
# - Information adds: the order is irrelevant, and the end is the batch fit, with the prior as penalty.
# - $P$ is true if the model is. Watch $e^2/S$.
# - Forgetting trades lag for noise; its memory is $1/\lambda$ rows. $\lambda = \frac12$ is *not* ordinary least squares. (Most books call
#   $1 - \lambda$ the forgetting factor.)
#
# [[next]]: a project of your own.

# %% [markdown] covers="moon:6.1.2"
# ## Deeper: from a guess to a mean
#
# For the constant, information gives all at once: $1/P_k = 1/P_0 + k/R$. So
#
# $$\begin{gathered}P_k = \frac{P_0R}{kP_0 + R}, \qquad K_k = \frac{P_k}R = \frac{P_0}{kP_0 + R},\\
# \theta_k = \frac{(k-1)P_0 + R}{kP_0 + R}\,\theta_{k-1} + \frac{P_0}{kP_0 + R}\,y_k .\end{gathered}$$
#
# The guess weighs $R/(kP_0 + R)$: as much as $R/P_0$ readings that all said $\theta_0$. For $P_0 \to \infty$ this is
# the running mean, $\frac1k[(k-1)\bar y_{k-1} + y_k]$. At which $P_0/R$ does the guess weigh like one reading? Where are forty still
# not enough?

# %% covers="moon:6.1.2"
# The closed form and both extremes; a constant, read forty times.
with after(scalar_rls):
    y, k = 3 + np.random.default_rng(5).normal(size=30), np.arange(1, 31)
    estimates, K = scalar_rls(y, 1.0, 4.0, 1.0)
    claim(
        "the gains are P₀/(kP₀ + R): {K[0]:.3f}, {K[1]:.3f}, {K[2]:.3f}, …",
        np.allclose(K, 4 / (4 * k + 1)),
        K=K[:3],
    )
    claim(
        "backwards, the last estimate is the same",
        np.isclose(scalar_rls(y[::-1], 1.0, 4.0, 1.0)[0][-1], estimates[-1]),
    )
    claim("P₀ = 0: no reading counts", np.all(scalar_rls(y, 1.0, 0.0, 1.0)[0] == 1))
    vague, mean = scalar_rls(y, 1.0, 1e9, 1.0)[0], np.cumsum(y) / k
    claim("P₀ = 10⁹: the running mean", np.allclose(vague, mean, atol=1e-6))
    explore(
        rs.scalar_explorer(scalar_rls),
        log_ratio=FloatSlider(0, min=-4, max=4, step=0.25, description="log₁₀ P₀/R"),
    )

# %% [markdown] covers="moon:6.1"
# ## Deeper: the slope of a trace
#
# Two rules give $\partial J/\partial K$:
#
# $$\frac{\partial \operatorname{tr}(CA^\top)}{\partial A} = C, \qquad \frac{\partial \operatorname{tr}(ACA^\top)}{\partial A} = AC + AC^\top .$$
#
# The first reads off a sum: $\operatorname{tr}(CA^\top) = \sum_{ij} C_{ij}A_{ij}$. The second is the product rule: hold one $A$ fixed, then the
# other. Now $A = I - KX$ and $C = P$, symmetric: the slope in $A$ is $2AP$. A change $\Delta$ of $K$ moves $A$ by $-\Delta X$, so the slope
# in $K$ is $2AP$ times $-X^\top$. The noise adds $2KR$.

# %% covers="moon:6.1"
# Both rules by finite differences.
rng = np.random.default_rng(1)
A, B, C = rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), rng.normal(size=(3, 3))
claim("∂ tr(CAᵀ)/∂A = C", np.allclose(slopes(lambda A: np.trace(B @ A.T), A), B))
claim(
    "∂ tr(ACAᵀ)/∂A = AC + ACᵀ, for a C that is not symmetric",
    np.allclose(slopes(lambda A: np.trace(A @ C @ A.T), A), A @ C + A @ C.T),
)

# %% [markdown] covers="moon:6.1.3"
# ## Deeper: curves, point by point
#
# A polynomial of order $p$ has the rows $X_k = [1\;\; t_k\;\; t_k^2\;\cdots\;t_k^p]$. The noise has mean 0 and $\mathbb E[\eta_k^2] = R$.
# The curve at $t$, with row $x(t)$, has variance $x(t)\,P_k\,x(t)^\top$: a band that only narrows, since
# $P_{k-1} - P_k = KSK^\top$.


# %% exercise="rls_polyfit" points=2 difficulty=1 covers="moon:6.1.3"
def rls_polyfit(t, y, order, R, P0):
    """A polynomial fitted point by point.

    t, y (n,), n >= 1. order >= 0. Noise variance R > 0.
    Prior: all coefficients 0, with covariance P0 times the identity, P0 > 0.
    Returns (theta, P) after all points: theta (order + 1,), lowest power first,
    and its covariance P (order + 1, order + 1).
    t = [0, 1], y = [1, 3], order = 0, R = 1, P0 = 1 give ([1.333], [[0.333]]).
    """
    ### BEGIN SOLUTION
    theta, P = np.zeros(order + 1), P0 * np.eye(order + 1)
    for time, value in zip(t, y):
        x = time ** np.arange(order + 1)
        K = P @ x / (x @ P @ x + R)
        theta = theta + K * (value - x @ theta)
        P = P - np.outer(K, x @ P)
    return theta, P
    ### END SOLUTION


# %% check="rls_polyfit"
check(rls_polyfit)

# %% [markdown] covers="moon:6.1.3"
# Forty points of a cubic, from left to right. After 10 points compare orders 1, 3 and 7 *ahead* of the data: which misses
# most, and does its band admit it? After 31, order 1 forecasts better than order 3. Knowledge, or luck? Go on to 36.

# %% covers="moon:6.1.3"
# Play the points.
with after(rls_polyfit):
    t, y = rs.wave_stream()
    X = t[:, None] ** np.arange(4)
    claim(
        "with P₀ = 10⁶ it is np.polyfit's cubic",
        np.allclose(
            rls_polyfit(t, y, 3, 0.04, 1e6)[0], np.polyfit(t, y, 3)[::-1], atol=1e-5
        ),
    )
    covariances = [rls_polyfit(t[:n], y[:n], 3, 0.04, 10.0)[1] for n in range(1, 41)]
    bands = np.einsum("ij,njk,ik->ni", X, covariances, X)
    claim("no point widens the band anywhere", np.all(np.diff(bands, axis=0) < 1e-10))
    explore(
        rs.polynomial_explorer(rls_polyfit),
        play="points",
        points=IntSlider(10, min=1, max=40, description="points seen"),
        order=IntSlider(1, min=0, max=7, description="order"),
    )

# %% [markdown] covers="moon:6.1.1"
# ## Deeper: four forms, and seven digits
#
# With $K = PX^\top S^{-1}$ the Joseph form, multiplied out, adds $-KXP - PX^\top K^\top + KSK^\top$ to $P$. Each of the
# three is $\pm PX^\top S^{-1}XP$, so $P_k = P - PX^\top S^{-1}XP = (I - KX)P$. Now the inversion lemma of Sherman, Morrison and Woodbury:
#
# $$(A - BD^{-1}C)^{-1} = A^{-1} + A^{-1}B\,(D - CA^{-1}B)^{-1}\,CA^{-1} .$$
#
# (Both sides are the top left block of the inverse of $\begin{pmatrix}A & B\\ C & D\end{pmatrix}$.) Take $A = P$, $B = PX^\top$, $C = XP$, $D = S$: then
# $D - CA^{-1}B = R$, and $P_k^{-1} = P^{-1} + X^\top R^{-1}X$. Last,
# $P_kX^\top R^{-1} = PX^\top S^{-1}(S - XPX^\top)R^{-1} = K$.


# %% covers="moon:6.1.1"
# Random matrices of five shapes: the lemma, four forms of a step.
def woodbury(A_inv, B, C, D):
    """Inverse of A - B D⁻¹ C; inverts nothing larger than D."""
    return A_inv + A_inv @ B @ np.linalg.solve(D - C @ A_inv @ B, C @ A_inv)


def info_update(P, X, R):
    """The covariance after a measurement, by adding information."""
    return inv(inv(P) + X.T @ np.linalg.solve(R, X))


rng, same, apart = np.random.default_rng(4), [], []
for d, m in ((1, 1), (3, 1), (3, 2), (5, 2), (2, 4)):
    G, H, X = rng.normal(size=(d, d)), rng.normal(size=(m, m)), rng.normal(size=(m, d))
    P, R = G @ G.T + np.eye(d), H @ H.T + np.eye(m)
    S = X @ P @ X.T + R
    K, new = P @ X.T @ inv(S), info_update(P, X, R)
    short = (np.eye(d) - K @ X) @ P
    forms = [rs.joseph(P, K, X, R), short, P - P @ X.T @ inv(S) @ X @ P]
    forms += [woodbury(P, X.T, -X, R), inv(woodbury(inv(P), P @ X.T, X @ P, S))]
    same += [np.allclose(form, new) for form in forms]
    same.append(np.allclose(K, new @ X.T @ inv(R)))
    timid = rs.joseph(P, K / 2, X, R)
    apart.append(np.allclose(timid, (np.eye(d) - K @ X / 2) @ P))
claim("all forms of P and of K agree, for the best gain", all(same))
claim("with half that gain the short form is wrong, in each shape", not any(apart))

# %% [markdown] covers="moon:6.1.1"
# Which form? The short one is cheap. Information can start from *no* knowledge, $P_0^{-1} = 0$. Joseph forgives: if rounding moves the
# gain by $D$, Joseph is off by $DSD^\top$, the short form by $-DXP$.

# %% predict="deaf" minutes=1
predict(
    "deaf",
    "In float32, numbers have about seven digits. P₀ = 10⁸, R = 1, one parameter read "
    "directly. What is the short form's variance after the first reading?",
    ["about 1, as it should be", "about 10⁸", "exactly 0", "slightly negative"],
    truth=2 if rs.precise_sensor(False, np.float32)[1][0, 0, 0] == 0 else 0,
    because="The gain 10⁸ / (10⁸ + 1) rounds to 1, so 1 − K is 0, and P with it. "
    "From now on the gain is 0: sure, and deaf.",
)

# %% covers="moon:6.1.1"
# That sensor, read forty times; a stream whose gain has 16 bits.
with after("deaf"):
    show(*rs.draw_rounding(), digits=0)

# %% [markdown] covers="moon:6.2"
# ## Deeper: what is not seen is forgotten
#
# What if the input stands still for a while? Forgetting goes on, and nothing new is learned about the slope: in that direction $M$
# is multiplied by $1 - \lambda$ at each step, and its inverse grows without bound. Then a small disturbance throws the estimate far off. This is
# **wind-up**. The cure: forget only when something is learned, or let $\theta$ move by a rule with noise of its own. That is the Kalman
# filter ([[10/02]]): predict, $P \leftarrow FPF^\top + Q$, then correct by the update that you built.

# %% covers="moon:6.2"
# The input is random except from step 60 to 120, where it is 0.
show(*rs.draw_windup(), digits=1)

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form
# fails, the right one holds, and a wrong one of the same shape fails too.

# %% demo=true covers="moon:6.1 moon:6.1.1"
# moon, 6.1 and 6.1.1: covariances and their forms, for d = m = 2.
P, X = np.array([[2.0, 0.6], [0.6, 1]]), np.array([[1.0, 0.4], [0.5, -1]])
R = np.diag([0.5, 0.8])
S, x = X @ P @ X.T + R, X[:1]
new = inv(inv(P) + X.T @ inv(R) @ X)
sharp = P - P @ x.T @ inv(x @ P @ x.T) @ x @ P  # after a sensor without noise
lowest = np.linalg.eigvalsh(sharp)[0]


def reduced(D, middle=X):
    return P - P @ X.T @ inv(D) @ middle @ P


erratum(
    "moon:6.1",
    quote=(
        "Note that $P_k$ should be positive definite since it is a covariance matrix."
    ),
    corrected=r"positive semidefinite; definite if $P_0$ and $R_k$ are",
    kind="broad",
    printed_holds=bool(lowest > 1e-9),
    corrected_holds=bool(lowest > -1e-9),
)
erratum(
    "moon:6.1",
    quote=r"then  $\boldsymbol{\theta}_k = \boldsymbol{\theta}_k, \forall k$",
    corrected=r"then $\mathbb E[\theta_k] = \mathbb E[\theta]$ for all $k$",
    kind="convention",
)
erratum(
    "moon:6.1",
    quote="regardless of the value of the gain vector $K_k$",
    corrected=r"gain matrix, $d \times m$",
    kind="convention",
)
erratum(
    "moon:6.1.1",
    quote=r"P_{k-1}\mathbf{X}_{k}^{T}S_{k}^{-1}\mathbf{X}_{k}^{T}P_{k-1}",
    corrected=r"$P_{k-1}X_k^\top S_k^{-1}X_kP_{k-1}$",
    kind="error",
    printed_holds=bool(np.allclose(reduced(S, X.T), new)),
    corrected_holds=bool(np.allclose(reduced(S), new)),
    decoy_holds=bool(np.allclose(reduced(S, -X), new)),
)
erratum(
    "moon:6.1.1",
    quote=r"P_{k-1}^{-1} = \left(\underbrace{P_{k-1}}_{A}",
    corrected=r"$P_k^{-1}$ stands on the left",
    kind="error",
    printed_holds=bool(np.allclose(inv(P), inv(reduced(S)))),
    corrected_holds=bool(np.allclose(inv(new), inv(reduced(S)))),
    decoy_holds=bool(np.allclose(new, inv(reduced(S)))),
)
erratum(
    "moon:6.1.1",
    quote=(
        r"\left(\underbrace{\mathbf{X}_{k}P_{k-1}\mathbf{X}_{k}^{T}}_{D}\right)^{-1}"
    ),
    corrected=r"$D = X_kP_{k-1}X_k^\top + R_k = S_k$",
    kind="error",
    printed_holds=bool(np.allclose(reduced(X @ P @ X.T), new)),
    corrected_holds=bool(np.allclose(reduced(S), new)),
    decoy_holds=bool(np.allclose(reduced(X @ P @ X.T - R), new)),
)
erratum(
    "moon:6.1.1",
    quote=r"(c.f.,  $P_k = \epsilon_k \epsilon_k^T$ )",
    corrected=r"$P_k = \mathbb E[\epsilon_k\epsilon_k^\top]$, as defined in 6.1",
    kind="convention",
)

# %% demo=true covers="moon:6.1.2 moon:6.1.3"
# moon, 6.1.2 and 6.1.3: the constant, and the noise of the line.
P0, R0 = 4.0, 1.0
gain, right = P0 / (P0 + R0), P0 * R0 / (P0 + R0)


def error_moment(mean, second):
    """E[ε εᵀ] of the best gains for a line, where the noise has these two moments."""
    first, both, P = np.zeros(2), 4 * np.eye(2), 4 * np.eye(2)
    for t in (-1.0, 0.5, 2.0):
        x = np.array([1.0, t])
        K = P @ x / (x @ P @ x + 0.25)
        A = np.eye(2) - np.outer(K, x)
        cross = np.outer(A @ first, K) * mean
        both = A @ both @ A.T - cross - cross.T + second * np.outer(K, K)
        first, P = A @ first - K * mean, A @ P
    return np.allclose(both, P)


erratum(
    "moon:6.1.2",
    quote=(
        r"P_{1} = \left(I - \frac{P_{0}}{P_{0} + R}\right) P_{0}I - "
        r"\frac{P_{0}}{P_{0} + R}"
    ),
    corrected=(
        r"the second bracket, $\left(I - \frac{P_0}{P_0 + R}\right)$, has lost its "
        "parentheses"
    ),
    kind="error",
    printed_holds=bool(np.isclose((1 - gain) * P0 - gain + gain**2 * R0, right)),
    corrected_holds=bool(
        np.isclose((1 - gain) * P0 * (1 - gain) + gain**2 * R0, right)
    ),
    decoy_holds=bool(np.isclose((1 - gain) * P0 * (1 + gain) + gain**2 * R0, right)),
)
erratum(
    "moon:6.1.2",
    quote="On the other hand, if x is completely unknown a priori",
    corrected=r"if $\theta$ is completely unknown",
    kind="convention",
)
erratum(
    "moon:6.1.3",
    quote=r"\mathbb{E}[\eta_k] = R_k",
    corrected=r"$\mathbb E[\eta_k] = 0$ and $\mathbb E[\eta_k^2] = R_k$",
    kind="error",
    printed_holds=bool(error_moment(0.25, 0.25 + 0.25**2)),
    corrected_holds=bool(error_moment(0, 0.25)),
    decoy_holds=bool(error_moment(0, 0.25**2)),
)

# %% demo=true covers="moon:6.1.4"
# moon, 6.1.4: what the class keeps under the name of errors.
theta, guess, X = np.array([1.0, 2.0]), np.array([0.5, 0.5]), np.eye(2)
y = X @ theta + np.array([0.1, -0.2])
K = P @ X.T @ inv(R + X @ P @ X.T)
kept = y - X @ guess  # the code: measurementValue − X estimates[curr_step]
after_it = guess + K @ kept
erratum(
    "moon:6.1.4",
    quote="# this list is used to store estimation error vectors … self.errors=[]",
    corrected=r"it stores innovations, $y_k - X_k\theta_{k-1}$",
    kind="error",
    printed_holds=bool(np.allclose(kept, theta - guess)),
    corrected_holds=bool(np.allclose(kept, X @ (theta - guess) + y - X @ theta)),
    decoy_holds=bool(np.allclose(kept, y - X @ after_it)),
)
erratum(
    "moon:6.1.4",
    quote="# P_k = (I-K_k X_k)P_{k-1}(I-K_k X_k)^T+K_kR_kK_k^T",
    corrected="the code computes $(I - KX)P$, equal for the gain that it computes",
    kind="convention",
)
erratum(
    "moon:6.1.4",
    quote=r"\# measurement Value (theta) - measurement obtained at the time instant k",
    corrected="the argument is $y$; the method, called predict, is the update",
    kind="convention",
)
erratum(
    "moon:6.1.4",
    quote="def __init__(self,theta0,P0,R)",
    corrected="with a colon at the end",
    kind="copy",
)

# %% demo=true covers="moon:6.2"
# moon, 6.2: the expansion of the new weights; λ = ½ at each row.
M, p, lam = np.array([[2.0, 0.3], [0.3, 1]]), np.array([1.0, -0.7]), 0.3
q, y = np.array([1.0, 2.0]), 1.5
g, w = inv(M) @ p, inv(M) @ q
M_new, q_new = (1 - lam) * M + lam * np.outer(p, p), (1 - lam) * q + lam * p * y
w_new, bracket = inv(M_new) @ q_new, 1 / (1 / lam + p @ g / (1 - lam))
second = g * (p @ w) * bracket / (1 - lam)
rest = lam / (1 - lam) * g * y - lam / (1 - lam) ** 2 * g * (p @ g) * bracket * y
erratum(
    "moon:6.2",
    quote=(
        r"=w_m} + \frac{1}{1-\lambda} \mathbf{R}_m^{-1} \mathbf{p} \mathbf{p}^T "
        r"\mathbf{R}_m^{-1}"
    ),
    corrected="a minus before this term, as in the lines that follow",
    kind="error",
    printed_holds=bool(np.allclose(w + second + rest, w_new)),
    corrected_holds=bool(np.allclose(w - second + rest, w_new)),
    decoy_holds=bool(np.allclose(w - second - rest, w_new)),
)
four, targets = rows[[0, 10, 20, 40]], np.array([1.0, 2.5, 0.3, -0.4])
M, q = 0.1 * np.eye(2), np.zeros(2)
for row, value in zip(four, targets):
    M, q = (M + np.outer(row, row)) / 2, (q + row * value) / 2
fading = 0.5 ** np.arange(4, 0, -1)
weighted = (four.T * fading) @ four + 0.1 * 0.5**4 * np.eye(2)
ordinary = np.linalg.solve(four.T @ four + 0.1 * np.eye(2), four.T @ targets)
halved = np.linalg.solve(weighted, (four.T * fading) @ targets)
erratum(
    "moon:6.2",
    quote="we have the following regularized recursive least squares solution",
    corrected=(
        r"for one step from unweighted sums; with $\lambda = \frac12$ at every step, "
        "old rows (and $b$) are halved each time"
    ),
    kind="broad",
    printed_holds=bool(np.allclose(inv(M) @ q, ordinary, atol=1e-3)),
    corrected_holds=bool(np.allclose(inv(M) @ q, halved)),
)
erratum(
    "moon:6.2",
    quote=(
        r"{\lambda \mathbf{p}^T \mathbf{R}_m^{-1} \mathbf{p} y_{m+1} + (1 - \lambda) "
        r"\mathbf{R}_m^{-1} \mathbf{p} y_{m+1} \right)"
    ),
    corrected=r"the denominator is the number $\lambda p^\top R_m^{-1}p + 1 - \lambda$",
    kind="copy",
)

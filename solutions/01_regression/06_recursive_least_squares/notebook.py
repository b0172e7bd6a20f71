# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] minutes=90 builds="an estimator that learns from one measurement at a time, and forgets when it must"
# # Recursive least squares
#
# Lectures: moon 6.1, 6.1.1–6.1.4 and 6.2.
#
# Data do not always come as a table. A sensor sends one number, then the next, and wants an answer after each.
# At the end you can
#
# - update a least-squares estimate and its uncertainty by one measurement, without looking at the old ones;
# - derive the best gain, and say what a wrong gain costs;
# - write the update in four forms, and choose one by cost and by rounding;
# - fit curves and track parameters that move, by forgetting at the right rate.

# %%
import numpy as np
import torch
from ipywidgets import FloatLogSlider, FloatSlider, IntSlider

from descent import after, check, data, erratum, explore, hint, predict, show, start
from descent.pictures.regression import recursive_least_squares as rs
from descent.widgets import Clock

start("01_regression/06_recursive_least_squares")

# %% [markdown] covers="moon:6.1"
# ## Why it matters
#
# A line is to be known after *every* measurement. Three ways to do it:
#
# 1. keep all rows, and fit them all again each time;
# 2. keep the sums $\sum x_i x_i^\top$ and $\sum x_i y_i$, and solve the normal equations each time;
# 3. keep the last estimate and its uncertainty, and *correct* them. This is recursive least squares (RLS).
#
# The figure counts multiplications. Where does way 1 lose, and where way 2? (No time is measured: the count is the same on every machine.)

# %% covers="moon:6.1" demo=true
show(*rs.draw_costs())

# %% [markdown] covers="moon:6.1"
# ## A correction, and what it does to the error
#
# The parameters $\theta \in \mathbb R^d$ do not move, and are unknown. Measurement $k = 1, 2, \dots$ brings $m$ numbers
#
# $$y_k = X_k\theta + \eta_k, \qquad \mathbb E[\eta_k] = 0, \quad \mathbb E[\eta_k\eta_k^\top] = R_k .$$
#
# $X_k$ is a known $m\times d$ matrix, and the noises $\eta_k$ are independent of each other, of $\theta$ and of the first guess. A **linear recursive estimator** corrects the last estimate:
#
# $$\theta_k = \theta_{k-1} + K_k\,(y_k - X_k\theta_{k-1}) .$$
#
# The bracket is the **innovation**: what the measurement says beyond what was expected. The $d\times m$ matrix $K_k$ is the **gain**: how much of it to believe. The error $\epsilon_k = \theta - \theta_k$ then obeys
#
# $$\epsilon_k = (I - K_kX_k)\,\epsilon_{k-1} - K_k\,\eta_k .$$
#
# Take means. If $\mathbb E[\epsilon_0] = 0$, then $\mathbb E[\epsilon_k] = 0$ for all $k$: the estimator is unbiased, *with any gains that are fixed beforehand*.
# Mind what this mean runs over. It includes the draw of the true $\theta$ around the guess $\theta_0 = \mathbb E[\theta]$ (or of an unbiased guess $\theta_0$ around a fixed $\theta$).
#
# **Guess** what happens for one fixed $\theta$ and a guess that misses it. The cell draws gains at random and keeps them for 50 000 streams.

# %% covers="moon:6.1" demo=true
rng, runs, d = np.random.default_rng(0), 50_000, 2
gains = rng.uniform(0, 0.6, (5, d))  # five steps, m = 1: nobody's optimal gains
rows = np.column_stack([np.ones(5), np.linspace(-1, 1, 5)])
centre = np.array([2.0, -1.0])
theta = centre + rng.normal(size=(runs, d))  # each run has its own truth
noise = 0.5 * rng.normal(size=(runs, 5))


def final_error(theta):
    guess = np.tile(centre, (runs, 1))
    for k in range(5):
        surprise = theta @ rows[k] + noise[:, k] - guess @ rows[k]
        guess = guess + surprise[:, None] * gains[k]
    return theta - guess


error = final_error(theta)
standard_error = error.std(axis=0) / np.sqrt(runs)
assert np.all(np.abs(error.mean(axis=0)) < 4 * standard_error)  # unbiased
fixed = final_error(np.tile(centre + np.array([1.0, 1.0]), (runs, 1)))
shrink = np.eye(d)
for k in range(5):
    shrink = (np.eye(d) - np.outer(gains[k], rows[k])) @ shrink
expected = shrink @ np.array([1.0, 1.0])  # what is left of the first error
assert np.all(np.abs(fixed.mean(axis=0) - expected) < 4 * fixed.std(0) / runs**0.5)
print("θ drawn around θ₀: mean error", np.round(error.mean(axis=0), 2) + 0.0)
print("θ = θ₀ + (1, 1):   mean error", np.round(expected, 2))

# %% [markdown] covers="moon:6.1"
# So every gain gives an unbiased estimator *before* $\theta$ is drawn, and a guess that misses is forgotten step by step: what is left of it is $\prod_k (I - K_kX_k)\,\epsilon_0$.
# The sense of "unbiased" is that of a prior.
#
# ## How large is the error?
#
# All gains are right on average, so choose by spread. The **error covariance** is $P_k = \mathbb E[\epsilon_k\epsilon_k^\top]$, and the mean squared error is its trace, since $\epsilon^\top\epsilon = \operatorname{tr}(\epsilon\epsilon^\top)$:
#
# $$J_k = \mathbb E\,\lVert\theta - \theta_k\rVert^2 = \operatorname{tr} P_k .$$
#
# $\epsilon_{k-1}$ and $\eta_k$ are independent, so in $\epsilon_k = (I - K_kX_k)\epsilon_{k-1} - K_k\eta_k$ the covariances add:
#
# $$P_k = (I - K_kX_k)\,P_{k-1}\,(I - K_kX_k)^\top + K_k R_k K_k^\top .$$
#
# This is the **Joseph form**. It holds for *every* gain. Both terms are of the form $ACA^\top$ with $C$ positive semidefinite (PSD), so $P_k$ is symmetric and PSD whatever $K_k$ is. (Not always positive definite: with a sensor without noise, the best gain leaves no variance in the direction that it reads.)
# Write it. (Stuck? `hint(joseph_update)`, up to three times; so for every exercise.)


# %% exercise="joseph_update" points=2 minutes=6 difficulty=1 covers="moon:6.1"
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

# %% [markdown] covers="moon:6.1"
# Does it tell the truth? The five random gains from above, run through your function, against the covariance of the 50 000 simulated errors.

# %% covers="moon:6.1"
with after(joseph_update):
    P = np.eye(2)  # the covariance of θ around θ₀ in the simulation
    for k in range(5):
        P = joseph_update(P, gains[k][:, None], rows[k][None], np.array([[0.25]]))
    P = np.asarray(P)
    simulated = error.T @ error / runs
    assert np.all(np.abs(simulated - P) < 5 * np.sqrt(2 / runs) * np.trace(P))
    print("your P:    ", np.round(P, 2).tolist())
    print("simulated: ", np.round(simulated, 2).tolist())

# %% [markdown] covers="moon:6.1"
# ## The best gain
#
# Minimise $\operatorname{tr} P_k$ over $K$. Two rules of matrix calculus do it. The entry $(i,j)$ of $\partial f/\partial A$ is the derivative with respect to $A_{ij}$:
#
# $$\frac{\partial \operatorname{tr}(CA^\top)}{\partial A} = C, \qquad \frac{\partial \operatorname{tr}(ACA^\top)}{\partial A} = AC + AC^\top .$$
#
# The cell checks both by finite differences, for a $C$ that is not symmetric. With $A = I - KX$ and the chain rule,
#
# $$\frac{\partial J}{\partial K} = -2\,(I - KX)\,P_{k-1}X^\top + 2KR ,$$
#
# which it checks with torch's automatic derivative.

# %% covers="moon:6.1" demo=true
rng = np.random.default_rng(1)
A, B, C = rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), rng.normal(size=(3, 3))


def slopes(f, A, step=1e-5):
    moves = [(i, j) for i in range(A.shape[0]) for j in range(A.shape[1])]
    unit = np.zeros((len(moves), *A.shape))
    for number, place in enumerate(moves):
        unit[number][place] = step
    found = [(f(A + e) - f(A - e)) / (2 * step) for e in unit]
    return np.reshape(found, A.shape)


assert np.allclose(slopes(lambda A: np.trace(B @ A.T), A), B)
assert np.allclose(slopes(lambda A: np.trace(A @ C @ A.T), A), A @ C + A @ C.T)

X, R = torch.tensor([[1.0, 0.5, -1.0]]), torch.tensor([[0.7]])
K, P = torch.randn(3, 1, generator=torch.Generator().manual_seed(0)), torch.eye(3) + 0.3
I, K = torch.eye(3), K.requires_grad_()
J = torch.trace((I - K @ X) @ P @ (I - K @ X).T + K @ R @ K.T)
by_hand = -2 * (I - K @ X) @ P @ X.T + 2 * K @ R
assert torch.allclose(torch.autograd.grad(J, K)[0], by_hand, atol=1e-4)

# %% [markdown] covers="moon:6.1"
# Set the derivative to zero and solve for $K$. You need $S_k = X_kP_{k-1}X_k^\top + R_k$, which is the covariance of the innovation, and assume that it is invertible.
#
# Before you write: *what must come out* for a sensor without noise, for a hopeless sensor ($R \to \infty$), and for a parameter that is already known?


# %% exercise="optimal_gain" points=2 minutes=6 difficulty=1 covers="moon:6.1"
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
with after(optimal_gain, joseph_update):
    rng = np.random.default_rng(2)
    P = np.array([[2.0, 0.6, 0], [0.6, 1, 0.3], [0, 0.3, 1.5]])
    X = rng.normal(size=(2, 3))
    R = np.array([[0.6, 0.2], [0.2, 0.4]])
    K = np.asarray(optimal_gain(P, X, R))

    def spread(K):
        return np.trace(joseph_update(P, K, X, R))

    assert np.allclose(slopes(spread, K), 0, atol=1e-8)
    others = [spread(K + 0.1 * rng.normal(size=K.shape)) for _ in range(500)]
    assert min(others) > spread(K)
    D, S = rng.normal(size=K.shape), X @ P @ X.T + R  # and exactly, for any change D:
    change = np.asarray(joseph_update(P, K + D, X, R)) - joseph_update(P, K, X, R)
    assert np.allclose(change, D @ S @ D.T)
    show(*rs.draw_trace(P, X, R, optimal_gain, joseph_update))

# %% [markdown] covers="moon:6.1"
# The last assertion is worth a look: a gain that is off by $D$ gives
#
# $$P(K + D) = P(K) + D\,S\,D^\top .$$
#
# The loss is *quadratic* in the mistake. And $DSD^\top$ is PSD: the best gain is best for every combination $v^\top\theta$, not for the trace alone. Nowhere did we need the noise to be normal. (If noise and prior are normal, $\theta_k$ is the mean of $\theta$ given the data, and no other estimator at all has a smaller mean squared error.)
#
# ## Watch it learn
#
# A stream of 60 points from the line $y = 1 - 0.8\,t$ with noise 0.5; the prior says 0 ± $\sqrt{P_0}$ for both parameters. Press play, or move the slider. The left panel is the plane of the parameters, with the set of all $\theta$ at most 2 standard deviations away (if prior and noise are normal, it holds the truth with probability 86 %).
#
# **Find out.** (1) After one measurement the ellipse is long and thin: in which direction, and why? (2) Which measurements turn or shrink it most: those near the last ones, or those far away? (3) Set $\log_{10}P_0 = -2$. What goes wrong, and does the ellipse know it?

# %% covers="moon:6.1"
with after(optimal_gain, joseph_update):
    explore(
        rs.stream_explorer(optimal_gain, joseph_update),
        step=Clock(1, min=0, max=60, description="step k", interval=300),
        log_P0=FloatSlider(
            0.5,
            min=-2,
            max=3,
            step=0.5,
            description="log₁₀ P₀",
            continuous_update=False,
        ),
    )

# %% [markdown] covers="moon:6.1.1"
# ## Four forms of one update
#
# **The short form.** Put $K = PX^\top S^{-1}$ into the Joseph form, with $P = P_{k-1}$ and $X, R, K$ without index. Multiplied out, $-KXP - PX^\top K^\top + KSK^\top$ is added to $P$. Each of the three products equals $\pm PX^\top S^{-1}XP$. So
#
# $$P_k = P - PX^\top S^{-1}XP = (I - KX)\,P . \qquad\text{(only for the optimal gain)}$$
#
# **The information form.** The matrix inversion lemma of Sherman, Morrison and Woodbury says: if $A$, $D$ and $D - CA^{-1}B$ are invertible, so is $A - BD^{-1}C$, and
#
# $$(A - BD^{-1}C)^{-1} = A^{-1} + A^{-1}B\,(D - CA^{-1}B)^{-1}\,CA^{-1} .$$
#
# Why? Both sides are the top left block of the inverse of $\begin{pmatrix}A & B\\ C & D\end{pmatrix}$: eliminate the lower unknowns first, or the upper ones. Now take $A = P$, $B = PX^\top$, $C = XP$ and $D = S$. Then $D - CA^{-1}B = S - XPX^\top = R$, and
#
# $$P_k^{-1} = P^{-1} + X^\top R^{-1}X . \qquad (P \text{ and } R \text{ invertible})$$
#
# *Information adds.* That is all that least squares does, and the order of the measurements cannot matter. Multiply $P_k$ into this: $I = P_kP^{-1} + P_kX^\top R^{-1}X = (I - KX) + P_kX^\top R^{-1}X$, hence $KX = P_kX^\top R^{-1}X$; and indeed the gain itself is
#
# $$K = P_k X^\top R^{-1} .$$
#
# (Cancelling $X$ would need independent rows. The cell shows a way that needs nothing: $P_kX^\top R^{-1} = PX^\top(I - S^{-1}XPX^\top)R^{-1} = PX^\top S^{-1}(S - XPX^\top)R^{-1} = PX^\top S^{-1}$.)

# %% covers="moon:6.1.1" demo=true
rng = np.random.default_rng(3)
A = 3 * np.eye(4) + rng.normal(size=(4, 4)) / 2
D = 2 * np.eye(2) + rng.normal(size=(2, 2)) / 2
B, C = rng.normal(size=(4, 2)), rng.normal(size=(2, 4))
inv = np.linalg.inv
corner = inv(np.block([[A, B], [C, D]]))[:4, :4]
assert np.allclose(corner, inv(A - B @ inv(D) @ C))  # the left side

P, X, R = np.eye(3) + 0.4, rng.normal(size=(2, 3)), np.array([[0.6, 0.2], [0.2, 0.4]])
S = X @ P @ X.T + R
K = P @ X.T @ inv(S)
three = [-K @ X @ P, -P @ X.T @ K.T, K @ S @ K.T]
for sign, piece in zip((-1, -1, 1), three):
    assert np.allclose(piece, sign * P @ X.T @ inv(S) @ X @ P)
new = (np.eye(3) - K @ X) @ P
assert np.allclose(inv(new), inv(P) + X.T @ inv(R) @ X)
steps = [new @ X.T @ inv(R), P @ X.T @ (np.eye(2) - inv(S) @ X @ P @ X.T) @ inv(R)]
steps += [P @ X.T @ inv(S) @ (S - X @ P @ X.T) @ inv(R), K]
assert all(np.allclose(step, K) for step in steps)

# %% [markdown] covers="moon:6.1.1"
# The right side of the lemma needs $A^{-1}$, and no other inverse than that of an $m\times m$ matrix. Write it so, with $A^{-1}$ given.


# %% exercise="woodbury" points=1 minutes=4 difficulty=1 covers="moon:6.1.1"
def woodbury(A_inv, B, C, D):
    """Inverse of A - B D⁻¹ C by the matrix inversion lemma.

    A_inv (d, d): inverse of A. B (d, m). C (m, d). D (m, m). Returns (d, d).
    D - C A⁻¹ B is invertible. Invert nothing of size d: A_inv may be near singular.
    A_inv = [[2]], B = [[1]], C = [[1]], D = [[4]] give [[4]].
    """
    ### BEGIN SOLUTION
    return A_inv + A_inv @ B @ np.linalg.solve(D - C @ A_inv @ B, C @ A_inv)
    ### END SOLUTION


# %% check="woodbury"
check(woodbury)

# %% covers="moon:6.1.1"
with after(woodbury):
    assert np.allclose(woodbury(inv(A), B, C, D), corner)
    forward = woodbury(inv(P), P @ X.T, X @ P, S)  # as in the text: information
    assert np.allclose(forward, inv(P) + X.T @ inv(R) @ X)
    back = woodbury(P, X.T, -X, R)  # A = P⁻¹: the covariance, without inverting P
    assert np.allclose(back, new)

# %% [markdown] covers="moon:6.1.1"
# So the lemma leads from the short form to information, and back without inverting $P$. Now the update in which information simply adds:


# %% exercise="info_update" points=2 minutes=6 difficulty=2 covers="moon:6.1.1"
def info_update(P, X, R):
    """Covariance after a measurement, by adding information.

    P (d, d): covariance before, invertible. X (m, d). R (m, m): noise, invertible.
    Returns the new covariance (d, d).
    P = [[4, 0], [0, 1]], X = [[1, 0]], R = [[4]] give [[2, 0], [0, 1]].
    """
    ### BEGIN SOLUTION
    return np.linalg.inv(np.linalg.inv(P) + X.T @ np.linalg.solve(R, X))
    ### END SOLUTION


# %% check="info_update"
check(info_update)

# %% [markdown] covers="moon:6.1.1"
# **All forms, and the batch.** Random matrices of several shapes: Joseph, short, expanded and information form agree for the optimal gain, and so do the two gains. With another gain only the Joseph form tells the truth. Then forty measurements of two numbers each, one after the other: the last estimate equals the minimiser of
#
# $$(\theta - \theta_0)^\top P_0^{-1}(\theta - \theta_0) + \sum_k (y_k - X_k\theta)^\top R_k^{-1}(y_k - X_k\theta),$$
#
# which is weighted least squares with a prior (for $\theta_0 = 0$, $P_0 = \tau^2I$, $R_k = \sigma^2I$: ridge with $\lambda = \sigma^2/\tau^2$).

# %% covers="moon:6.1.1 moon:6.1.2"
with after(optimal_gain, joseph_update, info_update):
    rng = np.random.default_rng(4)
    for d, m in ((1, 1), (3, 1), (3, 2), (5, 2), (2, 4)):
        G, X = rng.normal(size=(d, d)), rng.normal(size=(m, d))
        H = rng.normal(size=(m, m))
        P, R = G @ G.T + np.eye(d), H @ H.T + np.eye(m)
        K, S = np.asarray(optimal_gain(P, X, R)), X @ P @ X.T + R
        forms = [
            joseph_update(P, K, X, R),
            (np.eye(d) - K @ X) @ P,
            P - P @ X.T @ inv(S) @ X @ P,
            info_update(P, X, R),
        ]
        assert all(np.allclose(form, forms[0]) for form in forms)
        assert np.allclose(K, np.asarray(info_update(P, X, R)) @ X.T @ inv(R))
        timid = joseph_update(P, 0.5 * K, X, R)  # half the optimal gain
        assert not np.allclose(timid, (np.eye(d) - 0.5 * K @ X) @ P)
        assert not np.allclose(timid, info_update(P, X, R))

    theta0, P0 = np.array([1.0, 0, -1]), np.diag([4.0, 1, 9])
    R = np.array([[1, 0.3], [0.3, 0.5]])
    X, y = rng.normal(size=(40, 2, 3)), rng.normal(size=(40, 2))
    theta, P = theta0, P0
    for rows_k, y_k in zip(X, y):
        K = np.asarray(optimal_gain(P, rows_k, R))
        theta = theta + K @ (y_k - rows_k @ theta)
        P = np.asarray(info_update(P, rows_k, R))
    information = inv(P0) + sum(x.T @ inv(R) @ x for x in X)
    batch = np.linalg.solve(
        information, inv(P0) @ theta0 + sum(x.T @ inv(R) @ v for x, v in zip(X, y))
    )
    assert np.allclose(theta, batch) and np.allclose(P, inv(information))
    print("recursion", np.round(theta, 3), " batch", np.round(batch, 3))

# %% [markdown] covers="moon:6.1.1"
# ### Which form?
#
# | form of $P_k$ | a new inverse of size | holds for | mind |
# |---|---|---|---|
# | $(I - KX)P$ | $m$ | the optimal gain only | first order in an error of the gain |
# | Joseph | $m$ | any gain | some more products |
# | $(P^{-1} + X^\top R^{-1}X)^{-1}$ | $d$, or none if you keep $P^{-1}$ | the optimal gain | can start from *no* knowledge, $P_0^{-1} = 0$ |
#
# With one number at a time ($m = 1$) the first two divide by a number. Now to rounding. If the computed gain is off by $D$, the Joseph form is off by $DSD^\top$: second order, symmetric, PSD. The short form is off by $-DXP$: first order, and not symmetric.

# %% covers="moon:6.1.1"
predict(
    "In float32, numbers have about seven digits. P₀ = 10⁸, R = 1, one parameter "
    "read directly. What is the short form's variance after the first reading?",
    ["about 1, as it should be", "exactly 0", "about 10⁸", "slightly negative"],
    truth=lambda: 1 if rs.precise_sensor(False, np.float32)[1][0, 0, 0] == 0 else 0,
    because="The gain 10⁸ / (10⁸ + 1) rounds to 1, so 1 - K is 0, and with it P. "
    "From now on the gain is 0: the estimator is sure, and deaf.",
)

# %% [markdown] covers="moon:6.1.1"
# Left: that sensor, reading $\theta_1 = 3$ forty times, with a second parameter correlated with it. Right: an ordinary stream ($P_0 = 10$, $R = 1$, 3000 steps) in float32, on a chip that stores the gain in 16 bits.

# %% covers="moon:6.1.1" demo=true
short, joseph = (rs.precise_sensor(form, np.float32) for form in (False, True))
exact = rs.precise_sensor(True, np.float64)
assert np.all(short[1][:, 0, 0] == 0) and np.all(short[0] == short[0][0])  # deaf
assert np.allclose(joseph[0], exact[0], atol=1e-4)  # P₁₁ is about R / k
assert np.linalg.eigvalsh(joseph[1])[:, 0].min() > 0
uneven = rs.rounded_gain(False), rs.rounded_gain(True)
assert uneven[0].max() > 1e-5 and uneven[1].max() < 1e-6
calm = rs.form_errors()  # the same stream, with the gain in full float32
assert set(calm) == {"Joseph", "short", "expanded", "information"}
assert max(calm.values()) < 1e-4
lost = [[rs.lost_definiteness(form, P0) for form in (False, True)] for P0 in (1e8, 1e4)]
assert min(lost[0]) > 0 and max(lost[1]) == 0
show(*rs.draw_rounding(short, joseph, exact, uneven), digits=0)

# %% [markdown] covers="moon:6.1.1 moon:6.1.2"
# Do not make a charm of it. On that ordinary stream with the gain in full float32, all four forms are right to four digits and more after 3000 steps, and none needs to be exactly symmetric. With $P_0/R = 10^8$ both lose positive definiteness in float32 on some of 20 streams of a line, with $10^4$ on none (the last assertions): the numbers that you need are no longer in the matrix.
# Set a smaller $P_0$, symmetrise, keep $P^{-1}$, or keep a square root of $P$.
#
# ## The simplest stream: a constant
#
# $y_k = \theta + \eta_k$: $d = m = 1$, $X_k = 1$, noise of variance $R$, guess $\hat\theta_0$ with variance $P_0$. The information form gives everything at once: $1/P_k = 1/P_0 + k/R$, so
#
# $$P_k = \frac{P_0R}{kP_0 + R}, \qquad K_k = \frac{P_k}{R} = \frac{P_0}{kP_0 + R}, \qquad
# \hat\theta_k = \frac{(k-1)P_0 + R}{kP_0 + R}\,\hat\theta_{k-1} + \frac{P_0}{kP_0 + R}\,y_k .$$
#
# For $P_0 = 4$, $R = 1$ the gains are 0.8, 0.444, 0.308, …


# %% exercise="scalar_rls" points=2 minutes=6 difficulty=1 covers="moon:6.1.2"
def scalar_rls(y, theta0, P0, R):
    """Estimates of a constant from direct measurements, one after the other.

    y (n,), n >= 1: measurements with noise variance R > 0, perhaps whole numbers.
    theta0: first guess, of variance P0 >= 0.
    Returns (estimates (n,), gains (n,)) after measurements 1, …, n, without theta0.
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

# %% covers="moon:6.1.2"
with after(scalar_rls):
    rng, k = np.random.default_rng(5), np.arange(1, 31)
    y = 3 + rng.normal(size=30)
    estimates, K = scalar_rls(y, 1.0, 4.0, 1.0)
    assert np.allclose(K, 4 / (4 * k + 1))
    assert np.allclose(K[:3], [0.8, 0.444, 0.308], atol=5e-4)
    weight = (4 * (k - 1) + 1) / (4 * k + 1)
    before = np.r_[1.0, estimates[:-1]]
    assert np.allclose(estimates, weight * before + (1 - weight) * y)
    backwards = scalar_rls(y[::-1], 1.0, 4.0, 1.0)[0]
    assert np.isclose(backwards[-1], estimates[-1])  # the order does not matter
    assert np.all(np.asarray(scalar_rls(y, 1.0, 0.0, 1.0)[0]) == 1)  # sure beforehand
    vague = np.asarray(scalar_rls(y, 1.0, 1e9, 1.0)[0])
    assert np.allclose(vague, np.cumsum(y) / k, atol=1e-6)  # the running mean
    explore(
        rs.scalar_explorer(scalar_rls),
        log_ratio=FloatSlider(
            0,
            min=-4,
            max=4,
            step=0.25,
            continuous_update=False,
            description="log₁₀ P₀/R",
        ),
    )

# %% [markdown] covers="moon:6.1.2"
# **Find out with the slider.** At which $P_0/R$ does the prior weigh as much as one measurement? From which on is the estimate the running mean to the eye? At which are forty measurements still not enough?
#
# (The prior's weight after $k$ measurements is $R/(kP_0 + R)$: it counts like $R/P_0$ measurements that all read $\hat\theta_0$. For $P_0 \to \infty$ the gain tends to $1/k$ and the recursion to $\frac1k[(k-1)\bar y_{k-1} + y_k]$, the running average.)
#
# **The recipe, in sum.** For each measurement: the gain from the last covariance; the estimate; the covariance, in one of the forms.
#
# ## Curves, point by point
#
# A line $y_k = \theta_1 + \theta_2t_k + \eta_k$ is measured with $X_k = [1\;\; t_k]$, and a polynomial of order $p$ with $X_k = [1\;\; t_k\;\; t_k^2\;\cdots\;t_k^p]$. The noise has mean 0 and $\mathbb E[\eta_k^2] = R$. The curve at any $t$ has variance $x(t)^\top P_k\,x(t)$: a band that can only narrow, since $P_{k-1} - P_k = KSK^\top$ is PSD.


# %% exercise="rls_polyfit" points=3 minutes=10 difficulty=2 covers="moon:6.1.3"
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
# **Find out.** Forty points of a cubic, from left to right. (1) After 10 points, compare orders 1, 3 and 7 *ahead* of the data: which misses most, and does its band admit it? (2) After 31 points order 1 forecasts better than order 3. Does it know something, or is it luck? Go on to 36. (3) Order 1 with all 40 points has a narrow band far from the truth. Why does $P$ not see it?

# %% covers="moon:6.1.3"
with after(rls_polyfit):
    t, y = rs.wave_stream()
    theta, P = rls_polyfit(t, y, 3, 0.04, 1e6)
    assert np.allclose(theta, np.polyfit(t, y, 3)[::-1], atol=1e-5)  # the vague prior
    X = t[:, None] ** np.arange(4)
    assert np.allclose(P, 0.04 * inv(X.T @ X), rtol=1e-3)
    bands = []
    for n in range(1, 41):
        P = np.asarray(rls_polyfit(t[:n], y[:n], 3, 0.04, 10.0)[1])
        bands.append(np.sqrt(np.einsum("ij,jk,ik->i", X, P, X)))
    assert np.all(np.diff(bands, axis=0) <= 1e-10)  # narrower everywhere, at each point
    lazy = dict(continuous_update=False)
    prior = FloatSlider(1, min=-2, max=4, step=0.5, description="log₁₀ P₀", **lazy)
    explore(
        rs.polynomial_explorer(rls_polyfit),
        points=IntSlider(10, min=1, max=40, description="points seen", **lazy),
        order=IntSlider(1, min=0, max=7, description="order", **lazy),
        log_P0=prior,
    )

# %% [markdown] covers="moon:6.1.4"
# (3) has a plain answer: $P$ depends on the $X_k$ and on $R$, *not on the data*. It is the truth about the error only if the model is true.
#
# ## A class that remembers
#
# The notes wrap the recursion in a class. It keeps four lists: estimates, covariances, gains, and what they call errors, which are the innovations (the error $\theta - \theta_k$ is known to nobody). Their code has faults that are shown at the end: it does not run as printed, and computes the short form under a comment that announces Joseph's. Write it better:


# %% exercise="RecursiveLeastSquares" points=4 minutes=15 difficulty=3 covers="moon:6.1.4"
class RecursiveLeastSquares:
    """An estimator that takes one measurement at a time.

    theta0 (d,), P0 (d, d), R (m, m): first guess, its covariance, noise covariance.
    joseph: whether P is updated in the Joseph form (any gain) or the short one.
    Four lists: estimates [theta0, theta1, …], covariances [P0, P1, …],
    gains [K1, …], each (d, m), and innovations [y1 - X1 theta0, …], each (m,).
    Work in the number format of P0: np.eye(d, dtype=P0.dtype).
    """

    def __init__(self, theta0, P0, R, joseph=True):
        ### BEGIN SOLUTION
        self.R, self.joseph = R, joseph
        self.estimates, self.covariances = [theta0], [P0]
        self.gains, self.innovations = [], []
        ### END SOLUTION

    def update(self, y, X):
        """Take in y (m,), measured with X (m, d). Appends one entry to each list.

        With theta0 = [0], P0 = [[4]] and R = [[1]], update([5], [[1]]) (as arrays)
        appends gain [[0.8]], innovation [5], estimate [4] and covariance [[0.8]].
        """
        ### BEGIN SOLUTION
        theta, P = self.estimates[-1], self.covariances[-1]
        K = np.linalg.solve(X @ P @ X.T + self.R, X @ P).T
        innovation = y - X @ theta
        A = np.eye(len(P), dtype=P.dtype) - K @ X
        self.gains.append(K)
        self.innovations.append(innovation)
        self.estimates.append(theta + K @ innovation)
        joseph = A @ P @ A.T + K @ self.R @ K.T
        self.covariances.append(joseph if self.joseph else A @ P)
        ### END SOLUTION


# %% check="RecursiveLeastSquares"
check(RecursiveLeastSquares)

# %% [markdown] covers="moon:6.1.4 moon:6.1.3"
# Your class on the stream of the line. The last panel is a test that needs no truth: if model, $R$ and $P_0$ are right, innovation $k$ has mean 0 and covariance $S_k = X_kP_{k-1}X_k^\top + R$, and the innovations are uncorrelated. A filter whose innovations leave their band too often is too sure of itself.

# %% covers="moon:6.1.4 moon:6.1.3"
with after(RecursiveLeastSquares):
    from sklearn.linear_model import Ridge

    t, y = rs.line_stream()
    X = np.stack([np.ones(60), t], axis=1)
    line = RecursiveLeastSquares(np.zeros(2), 10 * np.eye(2), np.array([[0.25]]))
    for k in range(60):
        line.update(y[k : k + 1], X[k : k + 1])
    assert len(line.estimates) == len(line.covariances) == 61
    assert len(line.gains) == len(line.innovations) == 60
    ridge = Ridge(0.25 / 10, fit_intercept=False, tol=1e-12).fit(X, y)
    assert np.allclose(line.estimates[-1], ridge.coef_, atol=1e-8)  # the batch fit
    S = [X[k] @ np.asarray(line.covariances[k]) @ X[k] + 0.25 for k in range(60)]
    show(*rs.draw_histories(line, rs.TRUTH, np.sqrt(S)))

# %% [markdown] covers="moon:6.2"
# ## Forgetting
#
# Look at the gains: they die like $1/k$. That is right for a $\theta$ that stands still. One that moves is lost.
#
# Now another road to the same recursion, which shows where to intervene. Let $p_i \in \mathbb R^{d+1}$ be the features of row $i$ (with a 1 for the offset), and $b > 0$ a ridge penalty. After $m$ rows (here $m$ counts rows)
#
# $$M_m = \sum_{i\le m} p_ip_i^\top + bI, \qquad q_m = \sum_{i \le m} p_iy_i, \qquad w_m = M_m^{-1}q_m ,$$
#
# and a row adds: $M_{m+1} = M_m + pp^\top$, $q_{m+1} = q_m + p\,y$. (The notes write $\mathbf R$ and $\mathbf Q$ for our $M$ and $q$, and $\mathbf P$ for the matrix of features; those letters are taken.) To **forget**, average instead of adding, with a weight $\lambda \in (0, 1)$ for the newest row:
#
# $$M_{m+1} = (1-\lambda)M_m + \lambda\,pp^\top, \qquad q_{m+1} = (1-\lambda)q_m + \lambda\,p\,y .$$
#
# Row $i$ of $m$ now weighs $\lambda(1-\lambda)^{m-i}$, and the penalty $b(1-\lambda)^m$: it fades as well. With $c = \lambda\,p^\top M_m^{-1}p + 1 - \lambda$ the inversion lemma gives
#
# $$M_{m+1}^{-1} = \frac1{1-\lambda}\Big(M_m^{-1} - \frac{\lambda}{c}\,M_m^{-1}pp^\top M_m^{-1}\Big), \qquad
# w_{m+1} = w_m + \frac{\lambda\,M_m^{-1}p}{c}\,\big(y - p^\top w_m\big).$$
#
# The second follows from the first without the notes' page of algebra. $M_{m+1}w_m = (1-\lambda)q_m + \lambda p\,p^\top w_m = q_{m+1} - \lambda p\,(y - p^\top w_m)$; multiply by $M_{m+1}^{-1}$, and use $M_{m+1}^{-1}p = M_m^{-1}p/c$.

# %% covers="moon:6.2" demo=true
rng, lam = np.random.default_rng(6), 0.3
G, p, y = rng.normal(size=(3, 3)), rng.normal(size=3), 1.7
M, q = G @ G.T + np.eye(3), rng.normal(size=3)
w, M_new = inv(M) @ q, (1 - lam) * M + lam * np.outer(p, p)
q_new = (1 - lam) * q + lam * p * y
c = lam * p @ inv(M) @ p + 1 - lam
g = inv(M) @ p
assert np.allclose(inv(M_new), (inv(M) - lam / c * np.outer(g, g)) / (1 - lam))
in_notes = 1 / lam + p @ g / (1 - lam)  # the bracket of the notes, and their constant A
assert np.isclose(1 / in_notes, lam * (1 - lam) / c)
second = np.outer(g, g) / (1 - lam) ** 2 / in_notes
assert np.allclose(inv(M_new), inv(M) / (1 - lam) - second)
assert np.allclose(M_new @ w, q_new - lam * p * (y - p @ w))
assert np.allclose(inv(M_new) @ p, g / c)
assert np.allclose(inv(M_new) @ q_new, w + lam * g / c * (y - p @ w))


# %% exercise="rls_forget" points=3 minutes=12 difficulty=3 covers="moon:6.2"
def rls_forget(P_rows, y, lam, b):
    """Weights after each row of a ridge fit that forgets.

    P_rows (n, p): features, row by row. y (n,). lam in (0, 1): weight of a new row.
    Start: M = b times the identity, b > 0, and w = 0. The penalty is not renewed.
    Returns W (n, p); W[k] are the weights after k + 1 rows.
    P_rows = [[1], [1]], y = [2, 4], lam = 0.5, b = 1 give [[1], [2.5]].
    """
    ### BEGIN SOLUTION
    p = P_rows.shape[1]
    inverse, w, fits = np.eye(p) / b, np.zeros(p), []
    for row, value in zip(P_rows, y):
        g = inverse @ row
        c = lam * row @ g + 1 - lam
        w = w + lam * g / c * (value - row @ w)
        inverse = (inverse - lam / c * np.outer(g, g)) / (1 - lam)
        fits.append(w)
    return np.array(fits)
    ### END SOLUTION


# %% check="rls_forget"
check(rls_forget)

# %% [markdown] covers="moon:6.2"
# Is $\lambda = \frac12$ the ordinary recursion, as the notes say? In *one* step the formula looks the same, for the two halves cancel:
# $w_{m+1} = w_m + M_m^{-1}p\,(y - p^\top w_m)/(p^\top M_m^{-1}p + 1)$. But then $M_{m+1} = \frac12(M_m + pp^\top)$, and the past has lost half its weight.

# %% covers="moon:6.2"
with after(rls_forget):
    rng = np.random.default_rng(7)
    P_rows, n, b = np.column_stack([np.ones(30), rng.normal(size=(30, 2))]), 30, 0.5
    y = P_rows @ np.array([1.0, -2.0, 0.5]) + 0.3 * rng.normal(size=30)
    for lam in (0.05, 0.5, 0.8):
        M, q, W = b * np.eye(3), np.zeros(3), rls_forget(P_rows, y, lam, b)
        for k in range(n):
            M = (1 - lam) * M + lam * np.outer(P_rows[k], P_rows[k])
            q = (1 - lam) * q + lam * P_rows[k] * y[k]
            assert np.allclose(W[k], np.linalg.solve(M, q))  # at every step
    batch = np.linalg.solve(P_rows.T @ P_rows + b * np.eye(3), P_rows.T @ y)
    half = np.asarray(rls_forget(P_rows, y, 0.5, b))
    first = P_rows[0]
    assert np.allclose(half[0], first * y[0] / (first @ first + b))  # one step
    assert not np.allclose(half[-1], batch, atol=0.01)
    tiny = np.asarray(rls_forget(P_rows, y, 1e-7, 1e-7 * b))[-1]  # the true limit
    assert np.allclose(tiny, batch, atol=1e-4)
    print("λ = ½:     ", np.round(half[-1], 3))
    print("all rows:  ", np.round(batch, 3))

# %% [markdown] covers="moon:6.2"
# Divide $M$ and $q$ by $\lambda$: $w$ stays, and the recursion becomes $M \leftarrow \varphi M + pp^\top$ with $\varphi = 1 - \lambda$ and penalty $b/\lambda$. In most books $\varphi$ is the **forgetting factor**, near 1 for a long memory; the notes give this name to $\lambda$. The ordinary recursion is $\varphi = 1$. It is a limit of the other, $\lambda \to 0$ with $b/\lambda$ kept, as the cell has shown, and never one of its members.
# The weights of all rows add up to $1/\lambda$ in units of the newest: this is the length of the memory.

# %% covers="moon:6.2"
predict(
    "A level moves by 0.02 a step; the noise is 0.3. You raise λ from 0.02 to 0.5. "
    "What happens to the estimate?",
    [
        "it lags less and jitters more",
        "it lags more and jitters less",
        "it lags less and jitters less",
        "nothing that one could see",
    ],
    truth=lambda: (
        0
        if np.all(np.diff(rs.tracking_terms([0.02, 0.5], 0.02, 0.3)) * [[-1], [1]] > 0)
        else 1
    ),
    because="A shorter memory is more up to date and averages over fewer rows. "
    "Somewhere between the two must be a best λ.",
)

# %% [markdown] covers="moon:6.2"
# **Find out.** Press play. (1) Without drift (speed 0), is any $\lambda$ better than never forgetting? (2) At speed 0.02, which $\lambda$ gives the least error after step 100? (3) Halve the speed: does the best memory get twice as long?

# %% covers="moon:6.2"
with after(rls_forget):
    explore(
        rs.drift_explorer(rls_forget),
        step=Clock(80, min=1, max=200, description="step k", interval=300),
        lam=FloatLogSlider(
            0.1,
            base=10,
            min=-2,
            max=-0.1,
            step=0.1,
            description="λ",
            continuous_update=False,
        ),
        speed=FloatSlider(
            0.02,
            min=0,
            max=0.02,
            step=0.005,
            description="drift a step",
            readout_format=".3f",
            continuous_update=False,
        ),
    )

# %% [markdown] covers="moon:6.2"
# ### How much to forget
#
# For a level ($p = 1$) the recursion settles to $w \leftarrow (1-\lambda)w + \lambda y$, and the trade can be computed. Let the level rise by $v$ a step and the noise have variance $\sigma^2$. The error is a lag plus noise:
#
# $$\text{lag} = \frac{1-\lambda}{\lambda}\,v, \qquad \text{variance} = \sigma^2\sum_{j\ge0}\lambda^2(1-\lambda)^{2j} = \frac{\lambda}{2-\lambda}\,\sigma^2 .$$
#
# Bias and variance again (`04_bias_variance_and_validation`), with time in the place of flexibility. For small $\lambda$ the sum $v^2/\lambda^2 + \sigma^2\lambda/2$ is least at $\lambda^3 = 4v^2/\sigma^2$: a drift twice as fast wants a memory $2^{2/3} \approx 1.6$ times as short.

# %% covers="moon:6.2"
with after(rls_forget):
    lams, speed, noise = np.geomspace(0.02, 0.9, 9), 0.05, 1.0
    rng, steps = np.random.default_rng(8), 400
    level, ones, measured = speed * np.arange(steps), np.ones((steps, 1)), []
    for lam in lams:
        errors = []
        for _ in range(15):
            y = level + noise * rng.normal(size=steps)
            w = np.asarray(rls_forget(ones, y, lam, 1.0))
            errors.append((w[200:, 0] - level[200:]) ** 2)
        measured.append(np.mean(errors))
    lag, variance = rs.tracking_terms(lams, speed, noise)
    assert np.allclose(measured, lag + variance, rtol=0.35)  # few independent errors
    show(*rs.draw_lag_and_noise(lams, measured, speed, noise), digits=1)

# %% [markdown] covers="moon:6.2"
# ### Forgetting has a price
#
# What if the input stands still for a while? Forgetting goes on, but nothing new is learned about the slope: $M$ shrinks by the factor $1-\lambda$ a step in that direction, and its inverse grows without bound. Then a small disturbance throws the estimate far off: right after the pause, with $\lambda = 0.2$, an input of only 0.01 moves the slope by more than 90 times the surprise (the last assertion). This is called **wind-up**. The curves show $\lambda$ times the diagonal entry of $M^{-1}$ for the slope, which the recursion takes for its variance over $R$; the input $t$ is random except from step 60 to 120.

# %% covers="moon:6.2" demo=true
t = np.random.default_rng(9).uniform(-1, 1, 180)
t[60:120] = 0.0
curves, gains_then, nudge = {}, {}, np.array([1, 0.01])
for lam in (0, 0.05, 0.2):
    M, curve = 0.1 * np.eye(2), []
    for k, now in enumerate(t):
        if k == 120:  # λ M⁻¹p / c, in the units of this M
            g = inv(M) @ nudge
            gains_then[lam] = g[1] / (1 - lam + nudge @ g)
        M = (1 - lam) * M + np.outer([1, now], [1, now])
        curve.append(inv(M)[1, 1])
    curves[lam] = np.array(curve)
assert np.isclose(curves[0.2][119] / curves[0.2][59], 0.8**-60, rtol=0.3)
assert curves[0][119] <= curves[0][59]
assert gains_then[0.2] > 90 and abs(gains_then[0]) < 0.1
show(*rs.draw_windup(curves, (60, 120)), digits=1)

# %% [markdown] covers="moon:6.1.2 moon:6.2"
# **Where this leads.** In RLS the state $\theta$ stands still. Let it move by known rules with noise of its own: predict, $P \leftarrow FPF^\top + Q$, then correct by the very update that you wrote. This is the Kalman filter (`10_state_space_models/02_kalman_filter`). Forgetting is its crude cousin, $P \leftarrow P/(1-\lambda)$.
#
# ## On real data
#
# **Olympic winners, one race ahead.** The 100 m winning times come one by one, as they did. A line in time is updated after each race and forecasts the next. Choose $\lambda$ by the forecasts of races 6 and later up to 2004, freeze it, and look at 2008 to 2024. Forgetting counts by races: 0 means never.
#
# Before you run it: does forgetting help a sport whose progress slows down?

# %% covers="moon:6.2 moon:6.1.3" demo=true
sprint = data.sprint()
tables = {
    "men": (np.vstack([sprint.men, sprint.later_men]), len(sprint.men)),
    "women": (np.vstack([sprint.women, sprint.later_women]), len(sprint.women)),
}
candidates, chosen = np.round(np.arange(0, 0.65, 0.05), 2), {}
for name, (races, n) in tables.items():
    past = [rs.rmse(rs.forecast_errors(races[:n], lam)[5:]) for lam in candidates]
    chosen[name] = float(candidates[np.argmin(past)])
    later = [rs.rmse(rs.forecast_errors(races, lam)[n:]) for lam in (chosen[name], 0.0)]
    assert later[0] < later[1]
    last = rs.rmse(np.diff(races[:, 1])[n - 1 :])
    assert (last < later[0]) == (name == "men")
    assert (
        np.median(rs.forecast_errors(races, 0.0)[n:]) > 0
    )  # slower than the line says
    print(
        f"{name}: λ = {chosen[name]:g}, off by {later[0]:.3f} s since 2008; "
        f"without forgetting {later[1]:.3f} s, last winner {last:.3f} s"
    )
show(*rs.draw_sprint(tables, chosen))

# %% [markdown] covers="moon:6.2"
# The line through all of history falls too fast after 2008: most winners are slower than it says, and forgetting the steep early years mends much of that. Be fair, though. "As fast as the last winner" needs no model and does better still for the men over these five races; and five races decide little.
#
# **Diabetes, patient by patient.** 442 patients arrive in random order. Your class forecasts each from those before, and says how sure it is. $R$ is taken from a residual standard deviation of 55; the prior is 0 ± 50 for each coefficient. At the end it must equal ridge on all rows.

# %% covers="moon:6.1.4 moon:6.1.2"
with after(RecursiveLeastSquares):
    table, order = data.diabetes(), np.random.default_rng(0).permutation(442)
    X = np.column_stack([np.ones(442), table.X * np.sqrt(442)])[order]
    y, R, prior = table.y[order], np.array([[55.0**2]]), 50.0**2
    stream = RecursiveLeastSquares(np.zeros(11), prior * np.eye(11), R)
    S = []
    for k in range(442):
        S.append(X[k] @ np.asarray(stream.covariances[-1]) @ X[k] + R[0, 0])
        stream.update(y[k : k + 1], X[k : k + 1])
    ridge = np.linalg.solve(X.T @ X + R[0, 0] / prior * np.eye(11), X.T @ y)
    assert np.allclose(stream.estimates[-1], ridge)
    residual = rs.rmse(y - X @ ridge)
    show(*rs.draw_patients(np.array(stream.innovations)[:, 0], np.sqrt(S), residual))

# %% [markdown] covers="moon:6.1 moon:6.1.1 moon:6.2"
# ## Take-aways
#
# - Estimate and covariance are all the memory that least squares needs. One update: gain, estimate, covariance.
# - The best gain $K = PX^\top(XPX^\top + R)^{-1}$ minimises every variance at once; a gain off by $D$ costs $DSD^\top$.
# - Information adds: $P_k^{-1} = P_{k-1}^{-1} + X^\top R^{-1}X$. So the order is irrelevant, and the recursion equals the batch fit with the prior as a ridge penalty.
# - The Joseph form holds for every gain and forgives rounding of the gain; the short form holds for the optimal gain only. Neither is a charm in float32 when $P_0/R$ is beyond its digits.
# - For a constant the gain is $P_0/(kP_0 + R)$: from prior to running mean.
# - $P$ never looks at the data. Watch the innovations: they tell whether the model is right.
# - Forgetting trades lag for noise. The memory is $1/\lambda$ rows; without excitation it winds up.
#
# ## What the notes got wrong
#
# The first cell tests what is said of covariances and of their forms, the second the examples, the third the class, the fourth forgetting. Slips with nothing to compute come last.

# %% covers="moon:6.1 moon:6.1.1" demo=true
P, X = np.array([[2.0, 0.6], [0.6, 1]]), np.array([[1.0, 0.4], [0.5, -1]])
R = np.diag([0.5, 0.8])
S = X @ P @ X.T + R
new = inv(inv(P) + X.T @ inv(R) @ X)
x = X[:1]
sharp = P - P @ x.T @ inv(x @ P @ x.T) @ x @ P  # after a sensor without noise
lowest = np.linalg.eigvalsh(sharp)[0]
erratum(
    "moon:6.1",
    r"$P_k$ should be positive definite since it is a covariance matrix",
    r"$P_k$ is positive semidefinite: a sensor with $R = 0$ leaves no variance "
    "where it reads",
    printed_holds=lowest > 1e-9,
    corrected_holds=lowest > -1e-9,
)
erratum(
    "moon:6.1.1",
    r"$P_k = P_{k-1} - P_{k-1}X_k^\top S_k^{-1}X_k^\top P_{k-1}$",
    r"$P_k = P_{k-1} - P_{k-1}X_k^\top S_k^{-1}X_kP_{k-1}$; as printed the shapes do "
    r"not even match unless $m = d$, as here",
    printed_holds=np.allclose(P - P @ X.T @ inv(S) @ X.T @ P, new),
    corrected_holds=np.allclose(P - P @ X.T @ inv(S) @ X @ P, new),
)
erratum(
    "moon:6.1.1",
    r"$P_{k-1}^{-1} = (P_{k-1} - P_{k-1}X_k^\top S_k^{-1}X_kP_{k-1})^{-1}$",
    r"$P_k^{-1}$ stands on the left",
    printed_holds=np.allclose(inv(P), inv(P - P @ X.T @ inv(S) @ X @ P)),
    corrected_holds=np.allclose(inv(new), inv(P - P @ X.T @ inv(S) @ X @ P)),
)
inner = X @ P @ inv(P) @ P @ X.T  # the C A⁻¹ B of the lemma
erratum(
    "moon:6.1.1",
    r"$D = X_kP_{k-1}X_k^\top$ in the inversion lemma",
    r"$D = X_kP_{k-1}X_k^\top + R_k$; without $R_k$ the bracket $D - CA^{-1}B$ is 0 "
    "and has no inverse",
    printed_holds=not np.allclose(X @ P @ X.T - inner, 0),
    corrected_holds=np.allclose(S - inner, R),
)
draws = np.random.default_rng(0).multivariate_normal(np.zeros(2), P, 20_000)
erratum(
    "moon:6.1.1",
    r"$P_k = \epsilon_k\epsilon_k^\top$",
    r"$P_k = \mathbb E[\epsilon_k\epsilon_k^\top]$; one product has rank 1",
    printed_holds=np.linalg.matrix_rank(np.outer(draws[0], draws[0])) == 2,
    corrected_holds=np.allclose(draws.T @ draws / 20_000, P, atol=0.1),
)

# %% covers="moon:6.1.2 moon:6.1.3" demo=true
P0, R = 4.0, 1.0
K = P0 / (P0 + R)
erratum(
    "moon:6.1.2",
    r"$P_1 = \left(I - \frac{P_0}{P_0+R}\right)P_0I - \frac{P_0}{P_0+R} "
    r"+ \frac{P_0}{P_0+R}R\frac{P_0}{P_0+R}$",
    r"$P_1 = \left(1 - \frac{P_0}{P_0+R}\right)P_0\left(1 - \frac{P_0}{P_0+R}\right) "
    r"+ \dots$: a pair of brackets is lost; the result $\frac{P_0R}{P_0+R}$ is right",
    printed_holds=np.isclose((1 - K) * P0 - K + K * R * K, P0 * R / (P0 + R)),
    corrected_holds=np.isclose((1 - K) * P0 * (1 - K) + K * R * K, P0 * R / (P0 + R)),
)
noise = np.sqrt(0.25) * np.random.default_rng(1).normal(size=20_000)
erratum(
    "moon:6.1.3",
    r"$\mathbb E[\eta_k] = R_k$",
    r"$\mathbb E[\eta_k] = 0$ and $\mathbb E[\eta_k^2] = R_k$",
    printed_holds=np.isclose(noise.mean(), 0.25, atol=0.05),
    corrected_holds=abs(noise.mean()) < 0.02 and abs(np.mean(noise**2) - 0.25) < 0.02,
)


# %% covers="moon:6.1.4" demo=true
def compiles(text):
    try:
        compile(text, "the class", "exec")
    except SyntaxError:
        return False
    return True


erratum(
    "moon:6.1.4",
    "def __init__(self,theta0,P0,R)",
    "def __init__(self,theta0,P0,R): with a colon at the end",
    printed_holds=compiles("def __init__(self,theta0,P0,R)\n    self.R = R"),
    corrected_holds=compiles("def __init__(self,theta0,P0,R):\n    self.R = R"),
)
I, R = np.eye(2), np.diag([0.5, 0.8])
best = P @ X.T @ inv(S)
K = 0.5 * best  # the Joseph form is for all gains: new + D S Dᵀ
joseph_form = (I - K @ X) @ P @ (I - K @ X).T + K @ R @ K.T
erratum(
    "moon:6.1.4",
    "a comment announces the Joseph form, and the code computes ImKc P",
    "the Joseph form is ImKc P ImKcᵀ + K R Kᵀ; ImKc P is the short form, which is "
    "right for the optimal gain alone",
    printed_holds=np.allclose((I - K @ X) @ P, joseph_form),
    corrected_holds=np.allclose(new + (K - best) @ S @ (K - best).T, joseph_form),
)
theta, guess, eta = np.array([1.0, 2.0]), np.array([0.5, 0.5]), np.array([0.1, -0.2])
innovation = X @ theta + eta - X @ guess
erratum(
    "moon:6.1.4",
    r"the list `errors` holds estimation errors, $\theta - \theta_{k-1}$",
    r"it holds innovations, "
    r"$y_k - X_k\theta_{k-1} = X_k(\theta - \theta_{k-1}) + \eta_k$",
    printed_holds=np.allclose(innovation, theta - guess),
    corrected_holds=np.allclose(innovation, X @ (theta - guess) + eta),
)

# %% covers="moon:6.2" demo=true
M, p, lam = np.array([[2.0, 0.3], [0.3, 1]]), np.array([1.0, -0.7]), 0.3
q, y = np.array([1.0, 2.0]), 1.5
g = inv(M) @ p
M_new, q_new = (1 - lam) * M + lam * np.outer(p, p), (1 - lam) * q + lam * p * y
w, w_new = inv(M) @ q, inv(M_new) @ q_new
bracket = 1 / (1 / lam + p @ g / (1 - lam))
first, rest = g * (p @ inv(M) @ q) * bracket / (1 - lam), lam / (1 - lam) * g * y
rest = rest - lam / (1 - lam) ** 2 * g * (p @ g) * bracket * y
erratum(
    "moon:6.2",
    r"$w_{m+1} = w_m + \frac1{1-\lambda}R_m^{-1}pp^\top R_m^{-1}(\dots)^{-1}Q_m "
    r"+ \dots$",
    "the second term of the first expansion has a minus, as two displays later",
    printed_holds=np.allclose(w + first + rest, w_new),
    corrected_holds=np.allclose(w - first + rest, w_new),
)
rows_ = np.array([[1.0, 0.2], [1, -1], [1, 0.7], [1, 1.5]])
y_ = np.array([1.0, 2.5, 0.3, -0.4])
M, q = 0.1 * np.eye(2), np.zeros(2)
for row, value in zip(rows_, y_):
    M, q = (M + np.outer(row, row)) / 2, (q + row * value) / 2
ordinary = np.linalg.solve(rows_.T @ rows_ + 0.1 * np.eye(2), rows_.T @ y_)
fading = 0.5 ** np.arange(4, 0, -1)
weighted = rows_.T * fading @ rows_ + 0.1 * 0.5**4 * np.eye(2)
erratum(
    "moon:6.2",
    r"$\lambda = \frac12$ gives the regularised recursive least-squares solution "
    r"$(P^\top P + bI)^{-1}P^\top y$",
    r"$\lambda = \frac12$ halves the weight of all old rows, and of $b$, at every "
    "step; "
    r"only the formula of one step looks the same",
    printed_holds=np.allclose(np.linalg.solve(M, q), ordinary, atol=1e-3),
    corrected_holds=np.allclose(
        np.linalg.solve(M, q), np.linalg.solve(weighted, rows_.T * fading @ y_)
    ),
)

# %% covers="moon:6.1 moon:6.1.2 moon:6.1.4 moon:6.2"
erratum(
    "moon:6.1",
    r"then $\theta_k = \theta_k$ for all $k$",
    r"then $\mathbb E[\theta_k] = \mathbb E[\theta]$ for all $k$, "
    r"given $\mathbb E[\epsilon_0] = 0$",
)
erratum("moon:6.1", "gain vector", r"gain matrix: $K_k$ is $d \times m$")
erratum("moon:6.1.2", "$x$ is completely unknown", r"$\theta$ is completely unknown")
erratum(
    "moon:6.1.4",
    "the method is called predict, and a comment calls the measurement theta",
    "it performs the measurement update (here: update), and its argument is y",
)
erratum(
    "moon:6.2",
    r"in a display of the derivation, $y_{m+1}$ and $R_m^{-1}p$ stand in a denominator",
    r"the denominator is the number $c = \lambda p^\top R_m^{-1}p + 1 - \lambda$; the "
    r"line should read $w_m + \frac{\lambda}{c}\,R_m^{-1}p\,(y_{m+1} - p^\top w_m)$",
)

# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="ridge by one SVD, the lasso by coordinate descent, and the choice of a penalty"
# # Ridge, lasso and priors
#
# 150 patients, 64 numbers about each (ten measurements, their squares and products), and how far diabetes had come a
# year later. Least squares fits these patients well: it misses by 0.27 of the variance. Then 192 new patients come, and
# it misses by 2.76. Somebody who tells everybody the mean, without looking at anybody, misses by about 1.
#
# Now the odd part. The same patients, the same 64 columns, no further data: a function of fifteen lines, which you
# will write, misses the new patients by 0.52, and it looks at 18 of the 64 columns only. *It has seen nothing that
# least squares has not seen. So where does it know it from?*
#
# At the end you answer. First look at both.

# %%
# What this notebook needs; the patients: to learn from, to choose by, to be judged by.
import numpy as np
from ipywidgets import Dropdown, FloatLogSlider, FloatSlider, IntSlider
from scipy.optimize import minimize
from sklearn.linear_model import Lasso, LinearRegression, Ridge, lasso_path

from descent import (
    after,
    below,
    check,
    claim,
    data,
    erratum,
    explore,
    hint,
    predict,
    show,
    solution,
    start,
)
from descent.pictures.regression import ridge_and_lasso as rl

table = data.diabetes()
wide = rl.products(table.X)
train, valid, test = np.split(np.random.default_rng(0).permutation(442), [150, 250])
few = train[:60]
start("01_regression/03_ridge_and_lasso")

# %% covers="wu:1.4.2"
# 192 new patients: what least squares says of them, and what you will say.
show(*rl.draw_opening(wide, table.y, train, test))

# %% [markdown] covers="guo:II.5.a cs480:def3.4"
# ## 1. Two weights that shout
#
# Start smaller: sixty patients, the ten plain measurements, each column and the target in standard deviations. Two of
# the ten, `s1` and `s2`, are nearly one thing: total and "bad" cholesterol. What does least squares make of them?

# %% open=true covers="cs480:def3.4"
X, y = rl.standardised(table.X, table.y, few)
w = np.linalg.lstsq(X[few], y[few])[0]
tilt = 0.3 * np.eye(10)[4] - 0.3 * np.eye(10)[5]
errors = [np.mean((y[few] - X[few] @ v) ** 2) for v in (w, w + tilt)]
print(f"weights: s1 {w[4]:.2f}, s2 {w[5]:.2f}, bmi {w[2]:.2f}")
print(f"s1 up and s2 down by 0.3: error {errors[0]:.3f} -> {errors[1]:.3f}")

# %% [markdown] covers="cs480:def3.4 guo:II.5.a moon:5.4 wu:1.4.2"
# One cholesterol cures, the other harms? Nothing holds them. So put a price on weights. $X$ has $n$ rows of $d$
# features, $y$ the targets, $w$ the weights, $b$ is the *offset*, $\lambda \ge 0$ the **penalty**. **Ridge** minimises
#
# $$\sum_i (y_i - x_i \cdot w - b)^2 + \lambda \lVert w \rVert^2 .$$
#
# The offset is free, and for any $w$ the best is $b = \bar y - \bar x \cdot w$, with the means of $y$ and of the rows. Put
# it in: with the centred $A$ and $t$ (rows $x_i - \bar x$, entries $y_i - \bar y$), the gradient
# $-2A^\top(t - Aw) + 2\lambda w$ is 0 where
#
# $$(A^\top A + \lambda I)\, w = A^\top t .$$
#
# For $\lambda > 0$ and $v \ne 0$, $v^\top(A^\top A + \lambda I)v \ge \lambda\lVert v\rVert^2 > 0$: always one solution.
# (Stuck? `hint(ridge)`.)


# %% exercise="ridge" points=3 difficulty=1 covers="guo:II.5.a wu:1.4.2 cs480:def3.4 explainers:3.2.2"
def ridge(X, y, lam):
    """Weights and offset that minimise sum((y - X w - b)²) + lam * sum(w²).

    X (n, d), y (n,), lam >= 0; the offset b is not penalised. n may be less than d.
    If lam is 0, the centred columns are independent.
    Returns (w, b): w (d,) and b a number.
    X = [[0], [2]], y = [1, 5], lam = 2 give w = [1], b = 2.
    """
    ### BEGIN SOLUTION
    mean = X.mean(axis=0)
    A = X - mean
    gram = A.T @ A + lam * np.eye(X.shape[1])
    w = np.linalg.solve(gram, A.T @ y)  # A.T @ t: the columns of A add up to 0
    return w, y.mean() - mean @ w
    ### END SOLUTION


# %% check="ridge"
check(ridge)

# %% predict="kelvin" minutes=1
predict(
    "kelvin",
    "Some programs put a column of ones into X and penalise its weight, the offset, "
    "like all others. The targets, about 15 °C, are now given in kelvin: 273 is added. "
    "What happens to the slope of such a ridge fit (30 points, one input from 1 to 2, "
    "λ = 2)?",
    ["nothing", "it changes by less than 1", "it changes by more than 10"],
    truth=int(np.digitize(abs(rl.kelvin_changes()["penalised"]), [1e-9, 10])),
    because=f"It changes by {rl.kelvin_changes()['penalised']:.0f}: the slope has to "
    "lift what the held-down offset may not. A free offset takes it all.",
)

# %% covers="cs480:def3.4 guo:II.5.a moon:5.4"
# What must hold of your ridge, on the sixty patients.
with after(ridge, "kelvin"):
    calm = ridge(X[few], y[few], 1.0)[0]
    print(f"λ = 1: s1 {calm[4]:.2f}, s2 {calm[5]:.2f}, bmi {calm[2]:.2f}")
    A, t = table.X[few] * 20 + 1, table.y[few]
    w, b = ridge(A, t, 50.0)
    model = Ridge(50.0).fit(A, t)
    same = np.allclose(w, model.coef_) and np.isclose(b, model.intercept_)
    claim("it is scikit-learn's", same)
    slope = A.T @ (t - A @ w - b) - 50.0 * np.asarray(w)
    claim("its gradient is {size}", abs(slope).max() < 1e-6, size=below(1e-6))
    v, centred = np.zeros(10), A - A.mean(axis=0)
    for _ in range(4000):
        v -= 2e-3 * (centred.T @ (centred @ v - t) + 50.0 * v)
    claim("gradient descent ends there too", np.allclose(v, w, atol=1e-3))
    free = LinearRegression().fit(A, t).coef_
    claim("λ → 0 is least squares", np.allclose(ridge(A, t, 1e-8)[0], free, atol=1e-3))
    w, b = ridge(A, t, 1e12)
    claim("λ → ∞: w → 0, b → ȳ", abs(w).max() < 1e-6 and np.isclose(b, t.mean()))
    lams = np.logspace(-3, 6, 30)
    norms = [np.linalg.norm(ridge(A, t, lam)[0]) for lam in lams]
    claim("‖w‖ falls all the way ({n} penalties)", (np.diff(norms) < 0).all(), n=30)
    moved = np.subtract(ridge(A, t + 273, 50.0)[0], ridge(A, t, 50.0)[0])
    claim("273 more on every target moves no weight", abs(moved).max() < 1e-6)

# %% [markdown] covers="cs480:prop3.5 moon:5.4"
# ## 2. Whom does ridge distrust?
#
# At $\lambda = 1$ the cholesterols have calmed down, while body mass, `bmi`, stands. Who decides? Take
# $X = USV^\top$, with columns $u_j$, $v_j$ and singular values $s_1 \ge s_2 \ge \dots \ge 0$. Then
# $X^\top X + \lambda I = V(S^\top S + \lambda I)V^\top$: every eigenvalue moves up by $\lambda$, so *any* $\lambda > 0$ makes the
# matrix invertible. Without offset,
#
# $$w = \sum_{s_j > 0} \frac{s_j}{s_j^2 + \lambda}\,(u_j \cdot y)\,v_j .$$
#
# Along $v_j$ ridge keeps the share $s_j^2/(s_j^2+\lambda)$ of the least-squares weight: next to nothing where the data
# hardly vary.
#
# So one SVD serves every $\lambda$. Where $s_j = 0$ nothing was seen: weight 0, and $\lambda = 0$ gives the shortest
# least-squares solution. Rounding turns zeros into $10^{-17}$: count $s_j \le 10^{-10} s_1$ as 0.


# %% exercise="ridge_svd" points=3 difficulty=1 covers="cs480:prop3.5 moon:5.4 explainers:3.2.2"
def ridge_svd(X, y, lams):
    """Ridge weights, without offset, for several penalties, from one SVD.

    X (n, d), not all zero; y (n,); lams (k,), each >= 0, in any order. Returns (k, d).
    Row i minimises sum((y - X w)²) + lams[i] * sum(w²). Singular values up to
    1e-10 times the largest count as 0; their directions get weight 0, for any penalty.
    X = [[1, 1], [1, 1]], y = [2, 4], lams = [0, 4] give [[1.5, 1.5], [0.75, 0.75]].
    """
    ### BEGIN SOLUTION
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    kept = s > 1e-10 * s[0]
    U, s, Vt = U[:, kept], s[kept], Vt[kept]
    factors = s / (s**2 + np.array(lams)[:, None])
    return (factors * (U.T @ y)) @ Vt
    ### END SOLUTION


# %% check="ridge_svd"
check(ridge_svd)

# %% [markdown] covers="cs480:prop3.5 cs480:def3.4 guo:II.5.a moon:5.4"
# Your path on the sixty patients. Take the handle, and drag $\lambda$ along it.
#
# 1. At the left end `s1` and `s2` shout. Where has `s1` all but vanished, and who has not?
# 2. $\lambda = 10$ lifts every eigenvalue by 10: for which directions is that much? Where is the condition number
#    $(s_1^2 + \lambda)/(s_d^2 + \lambda)$ below 2, and what has that cost?
# 3. The error on the sixty only ever rises with $\lambda$. Why? And on the other 382?

# %% covers="cs480:prop3.5 cs480:def3.4 guo:II.5.a moon:5.4"
# Drag the handle along the path: weights, eigenvalues, errors.
with after(ridge_svd):
    X, y = rl.standardised(table.X, table.y, few)
    explore(
        rl.ridge_explorer(ridge_svd, X, y, table.names, few),
        drag={"lam": "path"},
        lam=FloatLogSlider(0.01, min=-2, max=5, step=0.1, description="penalty λ"),
    )

# %% [markdown] covers="explainers:3.2"
# ## 3. What you know before you look
#
# Twelve noisy points, and a curve of 30 *hinges* $\max(0, x - b_j)$, a broken line whose slope changes at each $b_j$.
# The first two miss no point. Which one would you trust? You have just used something that stands in no column of
# the data.

# %% covers="explainers:3.2 wu:1.4.2"
# Two fits without any error and a penalised one; titles say how far from the truth.
show(*rl.draw_zero_error())

# %% [markdown] covers="explainers:3.2 explainers:3.2.1 explainers:3.2.2"
# Write it down: some weights you hold for likelier than others, before any data. That is a **prior** density $p(w)$.
# Bayes' rule multiplies it by the likelihood: the **posterior**. For independent rows and weights, up to a constant,
#
# $$-\log p(w, b \mid \text{data}) = -\sum_i \log p(y_i \mid x_i, w, b) - \sum_j \log p(w_j) .$$
#
# It is smallest at the likeliest weights, the **MAP** estimate (maximum a posteriori): loss + penalty, and the
# penalty is minus the log prior. The offset's prior is flat: no term. Let
#
# - $y_i \sim \mathcal N(x_i \cdot w + b, \sigma^2)$, with $\sigma$ the `noise_sd`;
# - `"gaussian"`: $w_j \sim \mathcal N(0, \tau^2)$, with $\tau$ the `prior_sd`;
# - `"laplace"`: density $\frac\kappa2 e^{-\kappa|w_j|}$, variance $2/\kappa^2$. Which rate $\kappa$ gives the standard deviation
#   $\tau$?
# - `"flat"`: no term, which is maximum likelihood.


# %% exercise="map_objective" points=3 difficulty=1 covers="explainers:3.2 explainers:3.2.1 explainers:3.2.2"
def map_objective(w, b, X, y, noise_sd, prior, prior_sd):
    """Negative log likelihood of the rows minus the log prior of the weights.

    w (d,), b a number, X (n, d), y (n,); noise_sd and prior_sd > 0 are standard
    deviations; prior is "flat", "gaussian" or "laplace". The offset's prior is flat.
    Natural logarithms; every density with its normalising constant. Returns a number,
    finite also where the densities themselves round to 0.
    With w = [1], b = 0, X = [[2]], y = [3], noise_sd = 1 and prior_sd = 1:
    "flat" gives 1.4189, "gaussian" 2.8379, "laplace" 3.1797.
    """
    ### BEGIN SOLUTION
    squares = ((y - X @ w - b) / noise_sd) ** 2
    value = np.sum(squares / 2 + np.log(noise_sd) + np.log(2 * np.pi) / 2)
    if prior == "gaussian":
        squares = (w / prior_sd) ** 2
        value += np.sum(squares / 2 + np.log(prior_sd) + np.log(2 * np.pi) / 2)
    if prior == "laplace":
        rate = np.sqrt(2) / prior_sd
        value += np.sum(rate * np.abs(w) - np.log(rate / 2))
    return value
    ### END SOLUTION


# %% check="map_objective"
check(map_objective)

# %% [markdown] covers="explainers:3.2.2 explainers:3.2.1"
# Multiply by $\sigma^2$ and drop constants. With $r = y - Xw - b\mathbf 1$ that is
#
# $$\text{Gauss: } \tfrac12\lVert r\rVert^2 + \tfrac12\,\frac{\sigma^2}{\tau^2}\lVert w\rVert^2, \qquad
# \text{Laplace: } \tfrac12\lVert r\rVert^2 + \sqrt2\,\frac{\sigma^2}{\tau}\sum_j|w_j| .$$
#
# The first is ridge with $\lambda = \sigma^2/\tau^2$: noisy data, or a narrow prior, want a large penalty. The second
# is the **lasso**. (MAP keeps the peak of the posterior; [[06/02]] keeps all of it.)

# %% [markdown] covers="explainers:3.2.1 explainers:3.2.2.a wu:1.4.2"
# ## 4. A belief in zeros
#
# Of 64 columns, surely many say nothing. Which prior believes that? Look at one weight, $a$ without a penalty:
#
# $$\min_w\ \tfrac12 (w - a)^2 + \text{penalty}(w) .$$
#
# For $\frac\lambda2 w^2$ the minimum is $a/(1+\lambda)$: never 0. The pull $\lambda w$ dies out on the way to zero. But $\lambda|w|$ pulls with $\lambda$ all
# the way, and has a *kink* at 0. If the minimum is at $w > 0$, the slope $w - a + \lambda$ is 0 there. If it is at $w < 0$, so
# is $w - a - \lambda$. And the kink holds it where the slope is $\le 0$ on its left and $\ge 0$ on its right. Which $w$ is it, for each
# $a$?

# %% predict="one-and-five" minutes=1
predict(
    "one-and-five",
    "Without a penalty two weights would be 1.5 and 5. Let λ = 1. "
    "Which penalty leaves more of them, λw²/2 or λ|w|?",
    [
        "λw²/2, of both",
        "λ|w|, of both",
        "λw²/2 of the 1.5, λ|w| of the 5",
        "λ|w| of the 1.5, λw²/2 of the 5",
    ],
    truth=[(True, True), (False, False), (True, False), (False, True)].index(
        (rl.shrunk(1.5, 2) > rl.shrunk(1.5, 1), rl.shrunk(5, 2) > rl.shrunk(5, 1))
    ),
    because=f"The square leaves {rl.shrunk(1.5, 2):.2f} and {rl.shrunk(5, 2):.2f}: it "
    f"takes half of each. |w| leaves {rl.shrunk(1.5, 1):.2f} and "
    f"{rl.shrunk(5, 1):.2f}: it takes 1 from each. So |w| is hard on small weights and "
    "mild on large ones.",
)


# %% exercise="soft_threshold" points=2 difficulty=1 covers="explainers:3.2.1 explainers:3.2.2.a wu:1.4.2"
def soft_threshold(a, lam):
    """The w that minimises (w - a)² / 2 + lam * |w|, entry by entry.

    a: array of any shape, also of whole numbers; lam >= 0, a number. Returns an array
    of that shape.
    a = [3, -0.5, -2] and lam = 1 give [2, 0, -1].
    """
    ### BEGIN SOLUTION
    return np.sign(a) * np.maximum(np.abs(a) - lam, 0)
    ### END SOLUTION


# %% check="soft_threshold"
check(soft_threshold)

# %% [markdown] covers="wu:1.4.2 explainers:3.2.1"
# **All weights together.** The lasso minimises
#
# $$\tfrac12\lVert y - Xw\rVert^2 + \lambda\sum_j |w_j| ,$$
#
# with the offset centred away. No formula gives the minimum. But hold all weights except $w_j$, and you know this
# problem. Let $x_j$ be column $j$ and $r_j = y - \sum_{k \ne j} x_k w_k$ what the others leave:
#
# $$\tfrac12\lVert r_j - x_j w_j\rVert^2 + \lambda|w_j| = \tfrac12\lVert x_j\rVert^2\Big(w_j - \frac{x_j\cdot
# r_j}{\lVert x_j\rVert^2}\Big)^2 + \lambda|w_j| + \text{constant}.$$
#
# Divide by $\lVert x_j\rVert^2$: which $a$, which threshold? **Coordinate descent** sets one weight after the other
# to its minimum, sweep upon sweep. No update raises the objective, and sweeps tend to a minimum. Stop when a
# whole sweep has moved no weight by more than `tol`.


# %% exercise="lasso_cd" points=5 difficulty=1 covers="wu:1.4.2 explainers:3.2.1"
def lasso_cd(X, y, lam, tol, max_sweeps):
    """Cyclic coordinate descent on sum((y - X w)²) / 2 + lam * sum(|w|), from w = 0.

    X (n, d), y (n,), left unchanged; lam, tol >= 0; no offset. One sweep updates
    j = 0, 1, …, d - 1 in this order, each with the latest values of all others. The
    weight of a column of zeros stays 0. It ends after the first sweep in which no
    weight moved by more than tol, and after max_sweeps.
    Returns (w, sweeps): the weights (d,) and how many sweeps were made.
    X = [[1, 1], [0, 1]], y = [2, 1], lam = 0.5, tol = 0: one sweep gives [1.5, 0.5],
    two give [1, 0.75].
    """
    ### BEGIN SOLUTION
    w, r = np.zeros(X.shape[1]), y
    sizes = np.sum(X**2, axis=0)
    for sweep in range(max_sweeps):
        moved = 0.0
        for j in range(len(w)):
            if sizes[j] == 0:
                continue
            pull = X[:, j] @ r + sizes[j] * w[j]
            new = np.sign(pull) * max(abs(pull) - lam, 0) / sizes[j]
            moved = max(moved, abs(new - w[j]))
            r = r - X[:, j] * (new - w[j])
            w[j] = new
        if moved <= tol:
            return w, sweep + 1
    return w, max_sweeps
    ### END SOLUTION


# %% check="lasso_cd"
check(lasso_cd)

# %% [markdown] covers="wu:1.4.2 explainers:3.2.1"
# Is it done? At a minimum no weight wants to move. With $r = y - Xw$ that reads
# $x_j\cdot r = \lambda\,\mathrm{sign}(w_j)$ where $w_j \ne 0$, and $|x_j \cdot r| \le \lambda$ where $w_j = 0$. These are
# the **KKT conditions**; as the objective is convex, they are enough. So *everything* is 0 exactly if
# $\lambda \ge \max_j |x_j\cdot y|$.
#
# Then drag $\lambda$, now on both paths. (One $\lambda$, two scalings: ridge has no ½ in front of its squares, the lasso
# has.) Start at the right end and come down: who is let in first? Does anybody
# leave again? And how many weights of ridge are ever exactly 0?

# %% covers="wu:1.4.2 explainers:3.2.1 guo:II.5.a"
# Your lasso on all patients meets its conditions; both paths side by side, to drag.
with after(lasso_cd, ridge_svd):
    X, y = rl.standardised(table.X, table.y, slice(None))
    largest = np.max(np.abs(X.T @ y))
    ends = [np.any(lasso_cd(X, y, share * largest, 0, 3)[0]) for share in (1.001, 0.99)]
    claim(
        "λ = max |xⱼ·y| = {lam:.0f} is where the first one enters",
        ends == [False, True],
        lam=largest,
    )
    for lam in (100.0, 20.0, 5.0, 1.0):
        w, sweeps = lasso_cd(X, y, lam, 1e-9, 3000)
        theirs = Lasso(lam / 442, fit_intercept=False, tol=1e-12, max_iter=10**5).fit(
            X, y
        )
        pull, on = X.T @ (y - X @ w), w != 0
        met = (
            np.allclose(pull[on], lam * np.sign(w[on]), atol=1e-4)
            and (np.abs(pull[~on]) <= lam).all()
        )
        claim(
            "λ = {lam:g}: {k} of 10 weights, KKT holds, scikit-learn's to {gap}",
            met and np.allclose(w, theirs.coef_, atol=1e-5),
            lam=lam, k=on.sum(), gap=below(1e-5),
        )  # fmt: skip
    lams = np.logspace(3, -1, 41)
    lasso = np.array([lasso_cd(X, y, lam, 1e-5, 400)[0] for lam in lams])
    explore(
        rl.two_paths_explorer(lams, ridge_svd(X, y, lams), lasso, table.names),
        drag={"lam": "path"},
        lam=FloatLogSlider(100, min=-1, max=3, step=0.1, description="penalty λ"),
    )

# %% [markdown] covers="guo:II.5.a wu:1.4.2"
# ## 5. Choose λ, and be judged once
#
# Nobody tells you how narrow your prior should be, so ask the 100 patients that are there to choose by: fit each
# $\lambda$ on the 150, and take the one whose weights miss the 100 least. Means and standard deviations come from the 150 alone:
# rows that choose must not have spoken before. The 192 judge, once. (One split is one throw of the dice: *Deeper* throws twenty.)


# %% exercise="choose_penalty" points=4 difficulty=1 covers="guo:II.5.a wu:1.4.2"
def choose_penalty(fit, X, y, train, valid, lams):
    """The penalty whose weights have the least mean squared error on the rows `valid`.

    X (n, d) and y (n,) are raw; train and valid are arrays of row numbers. Every column
    and y are shifted and scaled to mean 0 and standard deviation 1 on the rows `train`
    (by .std(); none is constant there). fit(X, y, lams) gives weights (k, d), without
    offset, of the rows it gets: call it once, with the rows `train`, so scaled.
    Returns (lam, w, error): w (d,) and the error for the scaled columns and targets.
    Of equal errors the largest penalty wins, wherever it stands in lams.
    """
    ### BEGIN SOLUTION
    A = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
    t = (y - y[train].mean()) / y[train].std()
    best, lowest = None, np.inf
    for lam, w in zip(lams, fit(A[train], t[train], lams)):
        error = np.mean((t[valid] - A[valid] @ w) ** 2)
        if error < lowest or (error == lowest and lam > best[0]):
            best, lowest = (lam, w), error
    return *best, lowest
    ### END SOLUTION


# %% check="choose_penalty"
check(choose_penalty)

# %% covers="wu:1.4.2 guo:II.5.a explainers:3.2.1"
# The question of the first screen, with your own functions.
with after(ridge_svd, lasso_cd, choose_penalty):
    X, y = rl.standardised(wide, table.y, train)
    lams = np.logspace(3, 0, 25)

    def lasso(X, y, lams):
        return np.array([lasso_cd(X, y, lam, 1e-4, 500)[0] for lam in lams])

    free = ridge_svd(X[train], y[train], [0.0])[0]
    miss = {"least squares": np.mean((y[test] - X[test] @ free) ** 2)}
    print(f"least squares: 64 of 64 weights, misses by {miss['least squares']:.2f}")
    for name, fit in (("ridge", ridge_svd), ("lasso", lasso)):
        lam, w, _ = choose_penalty(fit, wide, table.y, train, valid, lams)
        miss[name] = np.mean((y[test] - X[test] @ w) ** 2)
        print(
            f"{name}, λ = {lam:.0f}: {np.count_nonzero(w)} of 64 weights, "
            f"misses by {miss[name]:.2f}"
        )
    names = np.array(rl.product_names(table.X, table.names))
    print("the lasso's largest:", ", ".join(names[np.argsort(-np.abs(w))[:5]]))
    claim(
        "the lasso misses by less than a fifth of that",
        miss["lasso"] < miss["least squares"] / 5,
    )
    claim(
        "ridge, which keeps all 64, misses by little more",
        miss["ridge"] < miss["lasso"] + 0.05,
    )
    show(*rl.draw_patients(X[test] @ free, X[test] @ w, y[test]))

# %% [markdown]
# ## Take-aways
#
# So where does it know it from? From you. "Most weights are small, or zero" stood in no column: you wrote it as a
# penalty, and 100 patients said how firmly. Least squares holds a million for as likely as a half: an
# opinion, too.
#
# - Ridge adds $\lambda$ to every eigenvalue of $X^\top X$: one solution; each direction keeps
#   $s^2/(s^2+\lambda)$. Leave the offset free, and scale columns first.
# - A penalty is minus the log of a prior: Gauss is ridge, $\lambda = \sigma^2/\tau^2$; Laplace is the lasso,
#   $\lambda = \sqrt2\,\sigma^2/\tau$.
# - $|w|$ has a kink at 0: ridge scales, the lasso subtracts and selects.
# - A penalty saves too wide a table; it does not beat ten plain columns (below).
# - Choose $\lambda$ on rows of their own. [[next]]: how far to trust them.

# %% [markdown] covers="cs480:def3.4 moon:5.4 wu:1.4.2 explainers:3.2.2 guo:II.5.a"
# ## Deeper: one λ, four scalings
#
# Whenever somebody tells you a $\lambda$, ask: of which objective? Call theirs $\lambda'$; its minimiser is ours for this
# $\lambda$:
#
# | who | minimises | our $\lambda$ |
# |---|---|---|
# | moon, scikit-learn's `Ridge` | $\lVert y - Xw \rVert^2 + \lambda' \lVert w \rVert^2$ | $\lambda'$ |
# | cs480, guo | $\frac1n\lVert y - Xw \rVert^2 + \lambda' \lVert w \rVert^2$ | $n\lambda'$ |
# | wu | $\frac12\lVert y - Xw \rVert^2 + \lambda' \lVert w \rVert^2$ | $2\lambda'$ |
# | explainers, noise $\sigma$ | $\frac1{2\sigma^2}\lVert y - Xw \rVert^2 + \lambda' \lVert w \rVert^2$ | $2\sigma^2\lambda'$ |
#
# (cs480 writes samples as *columns*, $W = YX^\top(XX^\top + n\lambda' I)^{-1}$: the same, transposed. explainers have
# $\lambda' = 1/(2\tau^2)$, so that ours is $\sigma^2/\tau^2$.)

# %% demo=true covers="cs480:def3.4 moon:5.4 wu:1.4.2 explainers:3.2.2"
# Four objectives, minimised numerically, end at one w; cs480's columns give it, too.
rng, n, lam, sigma = np.random.default_rng(0), 12, 3.0, 0.7
A, t = rng.normal(size=(n, 4)), rng.normal(size=n)
w = np.linalg.solve(A.T @ A + lam * np.eye(4), A.T @ t)
scales = {"moon": (1, 1), "cs480": (1 / n, n), "wu": (1 / 2, 2)}
scales["explainers"] = (1 / (2 * sigma**2), 2 * sigma**2)
for who, (weight, factor) in scales.items():

    def scaled(v, weight=weight, theirs=lam / factor):
        return weight * np.sum((t - A @ v) ** 2) + theirs * v @ v

    found = minimize(scaled, np.zeros(4), tol=1e-9).x
    claim(
        "{who}: λ' = {theirs:.3g} has its minimum at our w",
        np.allclose(found, w, atol=1e-4),
        who=who, theirs=lam / factor,
    )  # fmt: skip
W = (
    t @ A @ np.linalg.inv(A.T @ A + n * (lam / n) * np.eye(4))
)  # A.T: samples as columns
claim("samples as columns: the same weights", np.allclose(W, w))

# %% covers="explainers:3.2 explainers:3.2.1 explainers:3.2.2"
# Where is your objective lowest? At scikit-learn's fits, with λ from noise and prior.
with after(map_objective):

    def prior_to_lambda(noise_sd, prior, prior_sd):
        per_variance = 1 / prior_sd**2 if prior == "gaussian" else 2**0.5 / prior_sd
        return noise_sd**2 * per_variance

    rng, sigma, tau = np.random.default_rng(6), 1.5, 0.8
    A = rng.normal(size=(25, 4))
    t = A @ np.array([2.0, -1.0, 0, 0]) + 7 + sigma * rng.normal(size=25)
    alpha = prior_to_lambda(sigma, "laplace", tau) / 25  # for a sum divided by 2n
    models = {
        "flat": LinearRegression(),
        "gaussian": Ridge(prior_to_lambda(sigma, "gaussian", tau)),
        "laplace": Lasso(alpha, tol=1e-12, max_iter=10_000),
    }
    for prior, model in models.items():
        w, b = model.fit(A, t).coef_, model.intercept_
        lowest = map_objective(w, b, A, t, sigma, prior, tau)
        around = [
            map_objective(
                w + size * step[:4], b + size * step[4], A, t, sigma, prior, tau
            )
            for size in (1e-3, 0.1)
            for step in rng.normal(size=(100, 5))
        ]
        claim(
            "{prior}: none of {n} steps away from {name}'s fit is lower",
            min(around) > lowest,
            prior=prior, n=len(around), name=type(model).__name__,
        )  # fmt: skip

# %% [markdown] covers="cs480:rem3.6 explainers:3.2.2"
# ## Deeper: ridge as invented data
#
# A penalty can be smuggled in as data. Add one fake row a feature, $\sqrt\lambda\, e_j$ ($e_j$ has a 1 at place $j$ and 0
# elsewhere), with target 0. Its squared residual is $(0 - \sqrt\lambda\, w_j)^2 = \lambda w_j^2$: summed over $j$, the
# penalty. Any least-squares routine can now do ridge. In cs480's scaling the rows are $\sqrt{n\lambda'}\,e_j$, and the
# $\frac1n$ in front keeps the *old* $n$.


# %% demo=true covers="cs480:rem3.6 explainers:3.2.2"
# The losses agree for every w, so do their minima; then what one fake point does.
def augment(X, y, lam):
    d = X.shape[1]
    return np.vstack([X, np.sqrt(lam) * np.eye(d)]), np.append(y, np.zeros(d))


gen, lam = np.random.default_rng(3), 3.0
A, t = gen.normal(size=(12, 4)), gen.normal(size=12)
w = np.linalg.solve(A.T @ A + lam * np.eye(4), A.T @ t)
tall, targets = augment(A, t, lam)
pairs = [
    (np.sum((targets - tall @ v) ** 2), np.sum((t - A @ v) ** 2) + lam * v @ v)
    for v in gen.normal(size=(100, 4))
]
claim("both losses agree ({n} random w)", np.allclose(*np.transpose(pairs)), n=100)
claim(
    "least squares on {n} rows is ridge on 12",
    np.allclose(np.linalg.lstsq(tall, targets)[0], w),
    n=len(tall),
)
show(*rl.draw_fake_points())

# %% [markdown] covers="moon:5.4"
# ## Deeper: one weight a row
#
# A study measures 20,000 genes in 100 patients: must you solve for 20,000 weights? Let $\lambda > 0$, no offset. Solve the
# normal equation for the $w$ beside $\lambda$:
#
# $$\lambda w = X^\top (y - Xw) \quad\Longrightarrow\quad w = X^\top \alpha, \qquad \alpha = \tfrac1\lambda\,(y - Xw) .$$
#
# The weights are a combination of the *rows*, with one coefficient $\alpha_i$ a row: its scaled residual. Put
# $w = X^\top\alpha$ into $\lambda\alpha = y - Xw$. What system of equations is left for $\alpha$, and how large is it? A new row $x$
# gets $x \cdot w = \sum_i \alpha_i\, (x_i \cdot x)$: features enter *only through inner products*, which is where kernels begin ([[04/05]]).


# %% exercise="ridge_dual" points=2 difficulty=1 covers="moon:5.4"
def ridge_dual(X, y, lam):
    """The dual weights alpha of ridge without offset: its weights are w = X.T @ alpha.

    X (n, d), y (n,), lam > 0. Returns (n,), one weight a row of X.
    X = [[1, 0], [1, 1]], y = [3, 5], lam = 1 give [0.8, 1.4]; then w = [2.2, 1.4].
    """
    ### BEGIN SOLUTION
    return np.linalg.solve(X @ X.T + lam * np.eye(len(y)), y)
    ### END SOLUTION


# %% check="ridge_dual"
check(ridge_dual)

# %% predict="genes" minutes=1
predict(
    "genes",
    "To form a matrix and solve with it, the primal form (for w) takes nd² + d³/3 "
    "multiplications, the dual (for α) n²d + n³/3. With 20,000 genes and 100 patients, "
    "how many times as many does the primal take?",
    ["about 2", "about 200", "about 13,000", "about a million"],
    truth=int(np.argmin(abs(np.log([2, 200, 13_000, 1e6]) - np.log(rl.gene_ratio())))),
    because=f"{rl.gene_ratio():.0f} times: the cube of 20,000 is what hurts.",
)


# %% covers="moon:5.4 moon:5.4.1"
# Both forms predict the same; which one is cheaper; and the limit λ → 0.
def choose_form(n, d):
    return "primal" if d <= n else "dual"


with after(ridge_dual, "genes"):
    gen = np.random.default_rng(5)
    for n, d in ((5, 12), (12, 5), (8, 8)):
        A, t, new = gen.normal(size=(n, d)), gen.normal(size=n), gen.normal(size=(9, d))
        primal = np.linalg.solve(A.T @ A + 0.3 * np.eye(d), A.T @ t)
        alpha = np.asarray(ridge_dual(A, t, 0.3))
        same = np.allclose(new @ A.T @ alpha, new @ primal, rtol=0, atol=1e-8)
        claim("{n} rows, {d} features: both forms predict the same", same, n=n, d=d)
        claim("α is the residual over λ", np.allclose(alpha, (t - A @ primal) / 0.3))
    A, t = gen.normal(size=(5, 12)), gen.normal(size=5)
    shortest = np.linalg.pinv(A) @ t
    near = np.allclose(A.T @ ridge_dual(A, t, 1e-9), shortest, atol=1e-6)
    claim("λ → 0, fewer rows than features: the shortest exact fit", near)
    shapes = [(n, d) for n in (3, 30, 100, 300) for d in (2, 29, 30, 31, 400)]
    costs = [rl.training_cost(*shape) for shape in shapes]
    right = [
        cost[choose_form(*s)] == min(cost.values()) for s, cost in zip(shapes, costs)
    ]
    claim("solve the smaller system: cheapest in {n} of {n} shapes", all(right), n=20)
    show(*rl.draw_cost(30))

# %% [markdown] covers="explainers:3.2.1 explainers:3.2.2.a guo:II.5.a"
# ## Deeper: cusps, corners and a tilted valley
#
# Do the lasso's zeros come from thin tails? First Laplace densities, then Laplace and Gauss of one variance: its
# tails are *heavier*. What is special stands at 0: a cusp.
#
# The same in two dimensions: at the minimum a contour of the loss touches the ball of all weights of one penalty
# $\sum_j |w_j|^p$, $p \ge 1$. A disc may be touched anywhere. A diamond has corners on the axes, and a whole *range* of valleys
# touches it there. (A penalty *raises* the landscape, the more the farther out.)

# %% demo=true covers="explainers:3.2.1 explainers:3.2.2.a guo:II.5.a"
# Four Laplace densities, integrated; where a contour touches the balls of three p.
grid, step = np.linspace(-60, 60, 120_001, retstep=True)
for kappa in (0.5, 1, 2, 3):
    density = kappa / 2 * np.exp(-kappa * np.abs(grid))
    total, variance = density.sum() * step, (grid**2 * density).sum() * step
    right = np.isclose(total, 1) and np.isclose(variance, 2 / kappa**2, rtol=1e-5)
    claim("κ = {k}: total 1, variance {v:.3g} = 2/κ²", right, k=kappa, v=variance)
show(*rl.draw_priors())
show(*rl.draw_balls())

# %% covers="explainers:3.2.1 explainers:3.2.2.a"
# Your threshold against brute force, and beside ridge's factor.
with after(soft_threshold, "one-and-five"):
    tried = np.linspace(-3, 3, 25)
    soft = soft_threshold(tried, 1.0)
    gaps = [abs(soft[k] - rl.shrunk(a, 1)) for k, a in enumerate(tried)]
    claim("no w on a fine grid does better ({n} values of a)", max(gaps) < 1e-4, n=25)
    show(*rl.draw_thresholds(soft_threshold))

# %% [markdown] covers="explainers:3.2 explainers:3.2.2.a"
# Two weights whose likelihood is a tilted valley. Lines: the likelihood; dotted: the prior; shaded: their sum. Narrow
# the prior: on which way does each MAP walk to the origin? Where does the Laplace MAP lose $w_2$, and does
# the Gaussian ever? Double the noise: how much wider must each prior be to keep its MAP in place? (Not equally.)

# %% demo=true covers="explainers:3.2 explainers:3.2.2.a"
# Two priors over one likelihood, with sliders.
explore(
    rl.draw_posterior,
    sd=FloatLogSlider(3, min=-1.2, max=1.2, step=0.1, description="prior sd τ"),
    noise=FloatSlider(1.0, min=0.25, max=3, step=0.25, description="noise sd σ"),
)

# %% [markdown] covers="wu:1.4.2 explainers:3.2.1"
# ## Deeper: twins, break points, twenty splits
#
# **Twins.** Give both methods one column twice. Ridge must share: for a fixed sum $w_1^2 + w_2^2$ is least when both are
# equal. The lasso does not care how one sign is shared: its solution is *not unique*. **Break points.** Forty points on a line that breaks at
# 0.25, 0.5 and 0.8, and nineteen hinges on offer (wu's scaling). For which $\lambda$ does the lasso use the three true
# ones and no others? Is that the $\lambda$ that is best on new data? How many does ridge use? **Twenty splits** of the patients, each method at
# its best $\lambda$ on the rows outside, which flatters penalties: do they beat the ten plain columns?

# %% covers="wu:1.4.2 explainers:3.2.1"
# One column twice: who gets the weight.
with after(lasso_cd, ridge_svd):
    gen = np.random.default_rng(7)
    x = gen.normal(size=20)
    A, t = np.column_stack([x, x]), 3 * x + 0.1 * gen.normal(size=20)
    shared, taken = ridge_svd(A, t, [5.0])[0], lasso_cd(A, t, 5.0, 1e-12, 200)[0]
    costs = [
        np.sum((t - A @ v) ** 2) / 2 + 5 * np.sum(np.abs(v))
        for v in (taken.sum() * np.array([a, 1 - a]) for a in (1, 0.7, 0.3, 0, 1.5))
    ]
    claim("ridge shares: {w[0]:.2f} and {w[1]:.2f}", np.isclose(*shared), w=shared)
    claim("the lasso's first takes all, {w:.2f}", abs(taken[1]) < 1e-9, w=taken[0])
    claim(
        "any other split without a minus would cost the same; with 1.5 and −0.5 of it "
        "it is {more:.1f} more",
        np.allclose(costs[:4], costs[0]) and costs[4] > costs[0] + 1,
        more=costs[4] - costs[0],
    )

# %% demo=true covers="wu:1.4.2 guo:II.5.a"
# Knots: drag λ along the errors. Then twenty splits of the patients.
explore(
    rl.knots_explorer(),
    drag={"lam": "errors"},
    lam=FloatLogSlider(0.3, min=-3, max=0.5, step=0.125, description="penalty λ"),
    penalty=Dropdown(options=["lasso", "ridge"], value="lasso", description="penalty"),
)
lams = np.logspace(4, 0, 17)
races = rl.penalty_races(wide, table.y, lams, train=150, splits=20)
plain = rl.penalty_races(table.X, table.y, np.array([1e-6]), train=150, splits=20)
lowest = {name: run.mean(axis=0).min() for name, run in races.items()}
for name, error in lowest.items():
    print(f"{name}, 64 columns, 20 splits: {error:.2f}")
error = plain["ridge"].mean()
claim(
    "ten plain columns, no penalty: {e:.2f}; the penalised 64 do not beat them",
    error < min(lowest.values()),
    e=error,
)

# %% [markdown] covers="explainers:3.2.3"
# ## Deeper: stop early
#
# Another way to keep weights small: start at 0 and do not walk far. After each *epoch* (here one step of gradient descent on
# the training rows) compute the loss on validation rows. Once it no longer falls, what the
# model still learns is mostly noise.
#
# One rise is no proof. So wait: stop when `patience` epochs *in a row* brought no improvement, and bring
# back the weights of the best one. An **improvement** is a loss lower than the best so far by *more* than `min_delta`;
# "the best so far" is the loss of the last epoch that counted as an improvement.


# %% exercise="early_stop" points=3 difficulty=1 covers="explainers:3.2.3"
def early_stop(val_losses, patience, min_delta):
    """When to stop, and which epoch's weights to bring back.

    val_losses (epochs,): validation loss after epochs 0, 1, 2, …; the first is a number
    and counts as an improvement. A loss that is nan is no improvement.
    patience >= 1, min_delta >= 0.
    Returns (stop, best): the epoch after which training stops (the last one if the rule
    never stops it) and the epoch of the last improvement until then.
    val_losses = [5, 3, 4, 3.5, 1], patience = 2, min_delta = 0 give (3, 1).
    """
    ### BEGIN SOLUTION
    best, best_epoch = np.inf, None
    for epoch, loss in enumerate(val_losses):
        if loss < best - min_delta:
            best, best_epoch = loss, epoch
        if epoch - best_epoch >= patience:
            return epoch, best_epoch
    return len(val_losses) - 1, best_epoch
    ### END SOLUTION


# %% check="early_stop"
check(early_stop)

# %% [markdown] covers="explainers:3.2.3 cs480:prop3.5"
# A hundred patients and the 64 columns, 80 to train and 20 to validate; the other 342 know the truth. What does a
# patience of 1 do, and of 10? Is the best epoch of the 20 that of the 342?
#
# **How near is that to ridge?** Descent on $\frac12\lVert y - Xw\rVert^2$ from 0 with step $\eta$ walks along each
# singular direction by itself, and after $k$ steps has kept the share $1 - (1 - \eta s^2)^k$, for small
# steps $1 - e^{-ts^2}$ with $t = \eta k$. Ridge keeps $s^2/(s^2 + \lambda)$. With $\lambda = 1/t$ and $u = ts^2$,
#
# $$\frac{u}{1+u} \;\le\; 1 - e^{-u} \;<\; 1.30\,\frac{u}{1+u} .$$
#
# (Left, because $e^u \ge 1 + u$; the constant is computed.) So *stopping at $t$ is nearly ridge with $\lambda = 1/t$*.

# %% covers="explainers:3.2.3"
# Where your rule stops fifty epochs of descent.
parts = np.split(np.random.default_rng(2).permutation(442), [80, 100])
X80, y80 = rl.standardised(wide, table.y, parts[0])
with after(early_stop):
    errors = rl.descent_errors(X80, y80, parts, eta=0.0225, steps=50)
    claim("training error falls all the way", (np.diff(errors[:, 0]) < 0).all())
    stop, best = early_stop(errors[:, 1], 5, 0.0)
    claim(
        "patience 5: stop at {s}, bring back {b}",
        (stop, best) == (33, 28),
        s=stop,
        b=best,
    )
    explore(
        rl.patience_explorer(early_stop, errors),
        patience=IntSlider(5, min=1, max=25, description="patience"),
        min_delta=FloatSlider(
            0,
            min=0,
            max=0.02,
            step=0.001,
            readout_format=".3f",
            description="min_delta",
        ),
    )

# %% covers="explainers:3.2.3 cs480:prop3.5"
# The shares of both, direction by direction, and their errors along the whole path.
with after(ridge_svd):
    u = np.logspace(-4, 4, 4001)
    ratio = (1 - np.exp(-u)) / (u / (1 + u))
    claim(
        "1 ≤ ratio < 1.30 ({n} values of u)",
        1 - 1e-9 <= ratio.min() and 1.29 < ratio.max() < 1.30,
        n=len(u),
    )
    A, t, rest = X80[parts[0]], y80[parts[0]], parts[2]
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    eta, w = 0.5 / s[0] ** 2, np.zeros(64)
    for _ in range(300):
        w = w + eta * A.T @ (t - A @ w)
    share = 1 - (1 - eta * s**2) ** 300
    claim(
        "descent keeps these shares after {k} steps",
        np.allclose(Vt @ w, share * (U.T @ t) / s),
        k=300,
    )
    claim(
        "more than ridge with λ = 1/t, in each direction",
        (share >= s**2 / (s**2 + 1 / (eta * 300))).all(),
    )
    steps = np.unique(np.geomspace(1, 20_000, 60).round())
    stopped = (1 - (1 - eta * s**2) ** steps[:, None]) * (U.T @ t) / s @ Vt
    held = np.asarray(ridge_svd(A, t, 1 / (eta * steps)))
    errors = [
        np.mean((v @ X80[rest].T - y80[rest]) ** 2, axis=1) for v in (held, stopped)
    ]
    show(*rl.draw_filters(*errors, eta * steps))

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form
# fails, the right one holds, and a wrong one of the same shape fails too. *Too broad*: a condition is missing.

# %% demo=true covers="explainers:3.2.1 explainers:3.2.2.a"
# explainers, section 3.2: a variance and a density that do not belong to their penalty.
lam, theta = 3.0, np.linspace(-20, 20, 400_001)
step = theta[1] - theta[0]
densities = {c: c * np.exp(-2 * c * np.abs(theta)) for c in (lam, lam / 2, lam / 4)}
spread = np.sum(theta**2 * densities[lam / 2]) * step  # of the one with penalty λ|θ|
falls = {c: np.log(p[200_000] / p[-1]) / 20 for c, p in densities.items()}
erratum(
    "explainers:3.2.1",
    quote=(
        "A great choice for this is a Laplace prior with mean 0 and variance "
        r"$2/\lambda$ which yields L1 regularisation"
    ),
    corrected=r"the penalty $\lambda|\theta|$ belongs to the variance $2/\lambda^2$",
    kind="error",
    printed_holds=bool(np.isclose(spread, 2 / lam, rtol=1e-3)),
    corrected_holds=bool(np.isclose(spread, 2 / lam**2, rtol=1e-3)),
    decoy_holds=bool(np.isclose(spread, 1 / lam**2, rtol=1e-3)),
)
erratum(
    "explainers:3.2.1",
    quote=(
        "The corresponding density function is given by "
        r"$p(\theta_j) = \lambda \exp(-2\lambda|\theta_j|)$"
    ),
    corrected=r"$\frac\lambda2 e^{-\lambda|\theta_j|}$, of penalty $\lambda|\theta_j|$",
    kind="error",
    printed_holds=bool(np.isclose(falls[lam], lam)),  # the slope of −log p
    corrected_holds=bool(np.isclose(falls[lam / 2], lam)),
    decoy_holds=bool(np.isclose(falls[lam / 4], lam)),
)
erratum(
    "explainers:3.2.1",
    quote=(
        "a prior which has a lot of mass around 0 and tapers off rather harshly at the "
        "tails"
    ),
    corrected=(
        "its tails are heavier than a Gaussian's of the same variance; zeros come from "
        "the cusp"
    ),
    kind="convention",
)
erratum(
    "explainers:3.2.2.a",
    quote=(
        "It's as if each point in the landscape is sunk according to its distance from "
        "the origin"
    ),
    corrected="points are raised, the more the farther out; the origin stays",
    kind="convention",
)

# %% demo=true covers="moon:5.4 moon:5.4.1"
# moon, section 5.4: a missing I, a missing limit, and whose cost it is.
gen = np.random.default_rng(8)
A, t = gen.normal(size=(3, 5)), gen.normal(size=3)
G = A @ A.T
misses = [
    np.linalg.norm(t - G @ np.linalg.solve(G + k * np.eye(3), t)) for k in (1, 1e-10)
]
erratum(
    "moon:5.4",
    quote=r"$\alpha = (\mathbf{X}\mathbf{X}^T + \lambda)^{-1}\mathbf{y}",
    corrected=r"$(XX^\top + \lambda I)^{-1}y$; in code `G + lam` adds everywhere",
    kind="convention",
)
erratum(
    "moon:5.4",
    quote="This gives us the solution of the underdetermined problems.",
    corrected=r"in the limit $\lambda \to 0$ only; for $\lambda > 0$, $Xw \ne y$",
    kind="broad",
    printed_holds=bool(misses[0] < 1e-6),
    corrected_holds=bool(misses[1] < 1e-6),
)
erratum(
    "moon:5.4.1",
    quote=r"Training time:  $O(md^2 + m^3)$",
    corrected=(
        r"dual: $O(m^2d + m^3)$; primal: $O(md^2 + d^3)$. The printed bound holds of "
        "the dual but is not tight: its first term is the primal's"
    ),
    kind="convention",
)

# %% demo=true covers="cs480:prop3.5 cs480:rem3.6"
# cs480, section 3: a lost word, a square, and how many fake points.
A = gen.normal(size=(4, 2)) @ gen.normal(size=(2, 6))  # samples are columns; rank 2
values = np.linalg.svd(A @ A.T + 1e-3 * np.eye(4), compute_uv=False)
erratum(
    "cs480:prop3.5",
    quote=r"has full rank and thus no singular values",
    corrected="thus no ZERO singular values: every matrix has singular values",
    kind="error",
    printed_holds=len(values) == 0,
    corrected_holds=bool((values > 0.9e-3).all()),
    decoy_holds=bool((values < 0.9e-3).all()),
)
erratum(
    "cs480:prop3.5",
    quote=r"$U\Sigma V^\top V\Sigma^\top U^\top = U\Sigma^2 U^\top",
    corrected=r"$U\Sigma\Sigma^\top U^\top$: only a square $\Sigma$ has a square",
    kind="convention",
)
erratum(
    "cs480:rem3.6",
    quote=(
        r"$p$ data points $\mathbf{x}_j = \sqrt{n\lambda} \mathbf{e}_j$ and $y_j = 0$"
    ),
    corrected=r"one for each row of $X$: $d$ of them, or $d + 1$ if $X$ is padded",
    kind="convention",
)

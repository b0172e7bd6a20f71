# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="a classifier that says how sure it is: trained by descent and by Newton's method, held by ridge, decided by costs"
# # Logistic regression
#
# A clinic knows 427 tumours: 30 measurements of each, and whether it was cancer. On them it trains a machine that
# answers with a probability. Then a new patient comes, number 213. After 300 steps of training the machine says: *cancer
# with probability 10 %*. The clinic wants a better fit and trains on. Each further step fits the 427 better, and no step
# is computed wrongly. After 100,000 steps the machine says of the same patient: *0.0000000000000005*.
#
# It was cancer.
#
# *Where does such certainty come from, and what should she have been told?* At the end your own machine answers both.

# %%
# What this notebook needs.
import numpy as np
import sympy
import torch
from ipywidgets import FloatSlider, SelectionSlider
from scipy.special import expit, logit
from scipy.stats import bernoulli, logistic

from descent import (
    after,
    below,
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
from descent.pictures.classification import logistic_regression as lr

start("02_classification/02_logistic_regression")

# %%
# The clinic's training: the fit to its 427 tumours and to 142 new ones, and what the
# machine tells patient 213.
show(*lr.draw_clinic())

# %% [markdown] covers="explainers:2.2 cs480:4 wu:1.5"
# ## 1. How sure is a score?
#
# Table, features and **score** are as in regression: $s_i = \langle x_i, w\rangle$, where each row $x_i$
# begins with a 1, so that $w_0$ is the intercept. Only the label changes: 0 or 1. As in [[02/01|the perceptron]], the answer is 1 where $s > 0$,
# else 0; $s = 0$ is a hyperplane. The score is the signed distance from it, times the length of
# $w_+ = (w_1, \dots, w_{d-1})$. So its size $\lvert s\rvert$ tells how far. (Some call it *margin*.)
#
# In which unit? Multiply $w$ by 10: no answer changes, and each size is tenfold. A straight line
# through labels 0 and 1 soon predicts 1.91, or less than 0. What number can run from $-\infty$ to $\infty$ and still mean "how
# sure"?

# %% [markdown] covers="cs480:def4.2 explainers:2.2.b wu:1.5.2 moon:7.1"
# Bookmakers know one. The **odds** of an event with probability $p$ are $p/(1-p)$: 3 to 1 is $p = 0.75$. They run from 0 to
# $\infty$, and their logarithm over all numbers. Logistic regression assumes that this logarithm, the **logit**, *is* the
# score:
#
# $$\log\frac{p}{1-p} = s \quad\Longleftrightarrow\quad p = \frac{1}{1 + e^{-s}} = \frac{e^s}{1+e^s} =: \sigma(s).$$
#
# $\sigma$ is the **sigmoid**: Verhulst drew it in 1838, for growing populations. All rests on this one assumption: log-odds are linear in the features.
#
# Write it for a computer, where $e^{1000}$ is infinite. Here scores of ±1000 do occur. The check listens for NumPy's
# warnings. And $\sigma(-100)$ is $4\cdot10^{-44}$, not 0. (Stuck? `hint(sigmoid)`, up to three times; so for every
# exercise.)


# %% exercise="sigmoid" points=2 difficulty=1 covers="cs480:def4.2 wu:1.5.2 moon:7.1 guo:I.3.a"
def sigmoid(z):
    """1 / (1 + exp(-z)), elementwise, without overflow on the way.

    z: array of any shape -> array of the same shape, values in [0, 1].
    Relative accuracy 1e-9 wherever the result is above 1e-300.
    sigmoid(np.array([0.0, np.log(3), -1000.0])) gives [0.5, 0.75, 0.0].
    """
    ### BEGIN SOLUTION
    top = np.exp(np.minimum(z, 0))
    return top / (1 + np.exp(-np.abs(z)))
    ### END SOLUTION


# %% check="sigmoid"
check(sigmoid)

# %% covers="cs480:def4.2 explainers:2.2 explainers:2.2.b wu:1.5.2 moon:7.1 guo:I.3.a wu:1.5"
# The algebra of the sigmoid, yours on random planes, and why a line will not do.
z, q = sympy.symbols("z", real=True), sympy.symbols("q", positive=True)
sigma = 1 / (1 + sympy.exp(-z))
(solved,) = sympy.solve(sympy.log(q / (1 - q)) - z, q)
claim("log-odds z, solved for p, is σ(z)", sympy.simplify(solved - sigma) == 0)
slope, flip = sympy.diff(sigma, z), sigma.subs(z, -z)
claim("σ(−z) = 1 − σ(z)", sympy.simplify(flip - (1 - sigma)) == 0)
quarter, half = sympy.Rational(1, 4), sympy.Rational(1, 2)
square = sympy.simplify(quarter - slope - (sigma - half) ** 2) == 0
peak = square and sigma.subs(z, 0) == half
product = sympy.simplify(slope - sigma * (1 - sigma)) == 0
claim("the slope is σ(1 − σ), at most ¼, at z = 0", product and peak)
with after(sigmoid):
    grid = np.linspace(-12, 12, 97)
    gap = np.abs(logit(sigmoid(grid)) - grid).max()
    claim("yours inverts the logit, to {gap}", gap < 1e-9, gap=below(1e-9))
    same = np.allclose(sigmoid(grid), logistic.cdf(grid))
    claim("σ is a distribution function, the logistic one", same)
    rng = np.random.default_rng(0)
    w, x = rng.normal(size=3), rng.normal(size=(200, 2))
    s, length = lr.with_one(x) @ w, np.linalg.norm(w[1:])
    foot = x - np.outer(s / length**2, w[1:])  # the nearest points of the boundary
    far = np.sign(s) * np.linalg.norm(x - foot, axis=1)
    claim(
        "score = length × signed distance ({n} rows)",
        np.allclose(s, length * far),
        n=200,
    )
    half = np.array_equal(sigmoid(s) > 0.5, s > 0)
    tenfold = np.array_equal(sigmoid(10 * s) > 0.5, s > 0)
    claim("p > ½ is the side of the boundary, and so for 10w", half and tenfold)
    show(*lr.draw_line_and_curve(sigmoid))

# %% [markdown] covers="cs480:4-lik cs480:def4.1 guo:I.3.a"
# ## 2. Which weights? Ask the labels
#
# Which of two machines is better: one that gave the 14 heads of 20 tosses the probability 0.7 each, or one that said 0.5? The
# probability of all that happened decides. For independent tosses, $y_i = 1$ for heads, it is the **likelihood**
#
# $$\mathcal L(p) = \prod_i p^{\,y_i}(1-p)^{1-y_i}, \qquad -\tfrac1n \log \mathcal L = -\bar y\log p - (1-\bar y)\log(1-p).$$
#
# The exponents are switches. The best $p$ is the same on both sides, the share $\bar y$ of heads. The right side, the mean **negative
# log-likelihood**, is the **cross-entropy**, in *nats* as the logarithm is the natural one; a certain prediction that fails, $p = 0$ where $y = 1$, costs $\infty$. Why the
# logarithm, if the best place is the same?

# %% predict="product" minutes=1
predict(
    "product",
    "2000 tosses of a fair coin. What does NumPy give for the product of the 2000 "
    "probabilities 0.5?",
    ["a tiny positive number", "nan", "an error", "0.0"],
    truth=3 if np.prod(np.full(2000, 0.5)) == 0 else 0,
    because="The smallest positive float is $2^{-1074}$. The sum of 2000 logarithms is "
    f"{2000 * np.log(0.5):.1f}, no trouble at all.",
    then=lambda: lr.draw_coin(14, 20),
)

# %% [markdown] covers="explainers:2.2.1 wu:1.5.3 cs480:4-lik moon:7.1 guo:I.3.a"
# Now each row has its own $p_i = \sigma(s_i)$. Put $y = 1$ and $y = 0$ into $P(y \mid s) = e^{ys}/(1+e^s)$: right both times. So a row
# costs
#
# $$-\log P(y\mid s) = \log(1+e^s) - ys, \qquad\text{with slope}\qquad \frac{e^s}{1+e^s} - y = p - y :$$
#
# **probability minus label**. (For squared errors of $p$ the slope has a factor $p(1-p)$: a row that is sure and wrong
# would hardly pull. The logarithm cancels it.) As $\partial s_i/\partial w_j = x_{ij}$, the mean loss $J$ has
#
# $$\nabla J(w) = \frac1n\sum_i (p_i - y_i)\,x_i = \frac1n X^\top(p - y).$$
#
# Put $s_i$ for $p_i$, and it is least squares. A row with score 600 and label 0 costs 600: not $\infty$, nor the
# 34.5 that one gets by clipping $p$ at $10^{-15}$.


# %% exercise="nll_and_grad" points=3 difficulty=1 covers="explainers:2.2.1 wu:1.5.3 cs480:4-lik cs480:def4.1 moon:7.1 guo:I.3.a guo:II.1.a"
def nll_and_grad(w, X, y):
    """Mean over the rows of -log P(y_i | x_i), natural logarithm, and its gradient.

    w (d,). X (n, d), first column ones. y (n,), labels 0 or 1.
    Returns (loss, gradient (d,)), for scores of any size.
    w = [0, 0], X = [[1, 2], [1, 4]], y = [1, 0] give log 2 = 0.6931 and [0, 0.5].
    """
    ### BEGIN SOLUTION
    s = X @ w
    loss = np.mean(np.logaddexp(0, s) - y * s)
    gradient = X.T @ (expit(s) - y) / len(y)
    return loss, gradient
    ### END SOLUTION


# %% check="nll_and_grad"
check(nll_and_grad)

# %% [markdown] covers="cs480:4-lik wu:1.5.2 guo:I.3.a"
# **Climb by hand.** 24 students, their hours of study, and who passed. On the right the log-likelihood of every curve;
# drag the dot.
#
# 1. What moves the midpoint of the curve, what its steepness?
# 2. Bring the mean error $y - p$ to 0. Are you at the top?
# 3. From the top, double both numbers. The midpoint stays. Why does the likelihood fall?

# %% covers="cs480:4-lik wu:1.5.2 guo:I.3.a guo:II.1.a moon:7.1 explainers:2.2.1 wu:1.5.3 cs480:def4.1"
# Four witnesses for your function. Then drag the dot on the right: it is your curve.
with after(nll_and_grad):
    hours, passed = lr.exams()
    X, w, h = lr.with_one(hours - 4), np.array([0.3, -0.7]), 1e-5
    loss, gradient = nll_and_grad(w, X, passed)
    p = expit(X @ w)
    theirs = -bernoulli.logpmf(passed.astype(int), p)
    claim("the loss is SciPy's Bernoulli", np.isclose(loss, theirs.mean()))
    plain = np.prod(np.where(passed == 1, p, 1 - p))
    claim(
        "and that of the plain product, {p:.0e}",
        np.isclose(-24 * loss, np.log(plain)),
        p=plain,
    )

    def J(v):
        return nll_and_grad(v, X, passed)[0]

    steps = [(J(w + h * e) - J(w - h * e)) / (2 * h) for e in np.eye(2)]
    claim(
        "the gradient is that of small steps", np.allclose(gradient, steps, atol=1e-8)
    )
    t = torch.tensor(w, requires_grad=True)
    score, label = torch.from_numpy(X) @ t, torch.from_numpy(passed)
    torch.nn.functional.binary_cross_entropy_with_logits(score, label).backward()
    claim("and torch's", np.allclose(gradient, t.grad))
    costs = (
        nll_and_grad(np.array([600.0]), np.ones((1, 1)), np.zeros(1))[0],
        -np.log(1e-15),
    )
    claim("sure and wrong: {c[0]:g}, clipped {c[1]:.1f}", costs[0] == 600, c=costs)
    explore(
        lr.curve_explorer(nll_and_grad),
        drag={("intercept", "slope"): "surface"},
        intercept=FloatSlider(-2, min=-9, max=2, step=0.05, description="intercept w₀"),
        slope=FloatSlider(0.4, min=-0.5, max=3, step=0.01, description="slope w₁"),
    )

# %% [markdown] covers="guo:II.1.a moon:7.1 cs480:4 wu:1.5.3"
# ## 3. Downhill, until when?
#
# No formula gives the best $w$: $p$ depends on it through $\sigma$. So walk, $w \leftarrow w - \alpha\nabla J(w)$. Could one
# get stuck in a side valley? Differentiate once more: the **Hessian** is
#
# $$H = \frac1n\sum_i p_i(1-p_i)\,x_i x_i^\top, \qquad u^\top H u = \frac1n\sum_i p_i(1-p_i)\langle x_i, u\rangle^2 \ge 0.$$
#
# So $J$ is convex: where it is flat, it is lowest. As $p(1-p)\le\frac14$, no curvature exceeds
# $L = \lVert X\rVert^2/(4n)$ (spectral norm), and $J$ falls at every step with $\alpha < 2/L$ ([[03/01]] proves it).
#
# Nobody waits for a gradient of exactly 0. Your loop stops by the first of three rules: the slope is **flat**; the loss is **rising**,
# so the rate was too bold; or the budget is spent, and the question stays **open**. Use your `nll_and_grad`.


# %% exercise="descend" points=4 difficulty=1 covers="guo:II.1.a moon:7.1 cs480:4 wu:1.5.3 explainers:2.2.1"
def descend(X, y, rate, tol, max_steps):
    """Gradient descent on the mean negative log-likelihood, from w = 0.

    X (n, d), y (n,) of 0 and 1; rate > 0; tol >= 0; max_steps >= 0.
    Returns (path, losses, end) after k steps: path (k + 1, d), path[0] = 0; losses,
    a list, the loss at each of its points; and end, asked for at the start and after
    each step, in this order:
    "flat" if the (Euclidean) norm of the newest gradient is at most tol;
    "rising" if the newest loss is larger than the one before;
    "open" if max_steps steps are done. Else the run goes on.
    X = [[1], [1], [1], [1]], y = [1, 1, 1, 0], rate = 4, tol = 0.1, max_steps = 9
    give [[0], [1]], [0.6931, 0.5633], "flat".
    """
    ### BEGIN SOLUTION
    path, losses = [np.zeros(X.shape[1])], []
    for step in range(max_steps + 1):
        loss, gradient = nll_and_grad(path[-1], X, y)
        losses.append(loss)
        if np.linalg.norm(gradient) <= tol:
            return np.array(path), losses, "flat"
        if step > 0 and losses[-1] > losses[-2]:
            return np.array(path), losses, "rising"
        if step < max_steps:
            path.append(path[-1] - rate * gradient)
    return np.array(path), losses, "open"
    ### END SOLUTION


# %% check="descend"
check(descend)

# %% covers="guo:II.1.a moon:7.1 cs480:4 wu:1.5.3"
# Three rates on the 24 students, and what the Hessian promised.
with after(nll_and_grad, descend):
    hours, passed = lr.exams()
    X = lr.with_one(hours - 4)
    L, paths = np.linalg.norm(X, 2) ** 2 / (4 * 24), {}
    for factor in (1, 1.9, 8):
        path, losses, end = descend(X, passed, factor / L, 1e-4, 1000)
        paths[f"α = {factor}/L: {end}"] = np.asarray(path)
        falls = bool((np.diff(losses) < 0).all())
        words = "α = {f:g}/L: {end} at step {k}, falls at every step: {falls}"
        claim(
            words,
            falls == (factor < 2),
            f=factor,
            end=end,
            k=len(losses) - 1,
            falls=falls,
        )
    w, h = np.array([0.4, 0.6]), 1e-5

    def slope(v):
        return np.asarray(nll_and_grad(v, X, passed)[1])

    H = [(slope(w + h * e) - slope(w - h * e)) / (2 * h) for e in np.eye(2)]
    v = expit(X @ w) * (1 - expit(X @ w))
    claim("H is Xᵀ diag(p(1 − p)) X / n", np.allclose(H, (X.T * v) @ X / 24, atol=1e-8))
    low, high = np.linalg.eigvalsh((X.T * v) @ X / 24)
    claim("its curvatures lie between 0 and L", 0 < low and high < L)
    show(*lr.draw_descent(X, passed, paths, slope))

# %% [markdown] covers="explainers:2.2.1 moon:7.1 cs480:4"
# ## 4. Let the curvature choose the step
#
# On three measurements of the tumours, `descend` with $\alpha = 1/L$ needs hundreds of steps to get flat: one rate must do for
# a steep direction and for a flat one. The Hessian knows both. Near $w$ the loss is almost the parabola
# $J(w) + g^\top\Delta + \frac12\Delta^\top H\Delta$, with $g = \nabla J(w)$; its lowest point has $H\Delta = -g$.
# **Newton's method** steps just there, $w \leftarrow w - H^{-1}g$.
#
# Try it on two rows with $x = 1$, labels 1 and 0, no intercept. The loss is lowest at $w = 0$. From $w = 2$ it goes to
# −1.63, 0.82, −0.09, 0.0001. Near the end the right digits double at each step (here they even triple, by symmetry).

# %% predict="far" minutes=1
predict(
    "far",
    "The same two rows, but Newton's method starts at w = 2.3. What happens?",
    ["it converges, ever faster", "it explodes", "it converges, slowly"],
    truth=1 if abs(lr.two_rows(2.3, 4)[-1]) > 100 else 0,
    because="Out there the loss is nearly straight, so its parabola is too wide: "
    "the step lands further out on the other side, where it is straighter still.",
    then=lambda: lr.draw_overshoot((2.0, 2.3)),
)

# %% [markdown] covers="explainers:2.2.1 moon:7.1 cs480:4 wu:1.5.3"
# Wherever $H$ is positive definite, the direction of the step leads down; only its length can be wrong. So **damp** it: halve the step until the
# loss does not rise.
#
# One thing more, which section 5 will need. Add a **ridge**, $\frac\lambda2\sum_{j\ge1}w_j^2$, to $J$ and call the sum $F$. The intercept
# $w_0$ goes free: it only says how common label 1 is. With $D = \operatorname{diag}(0, \lambda, \dots, \lambda)$,
#
# $$\nabla F = \nabla J + Dw, \qquad \text{Hessian } \frac1n X^\top \operatorname{diag}\big(p_i(1-p_i)\big)\,X + D.$$
#
# Nothing else is new: a loop, its two ends, and a search inside. `np.linalg.solve(H, g)` gives $H^{-1}g$.


# %% exercise="newton" points=6 difficulty=1 covers="moon:7.1 explainers:2.2.1 cs480:4 wu:1.5.3 wu:9.5.8"
def newton(X, y, lam, start, tol, max_steps):
    """Damped Newton's method on F(w) = mean NLL + lam/2 * (w_1² + w_2² + …).

    X (n, d), first column ones; y (n,) of 0 and 1; lam >= 0; start (d,).
    A step moves w by t times the full Newton step; t is the first of 1, 1/2, 1/4, …
    for which F does not rise. Where F stays exactly as it is, you may stop or go on.
    F is finite for scores of any size.
    Returns (path, end) after k steps: path (k + 1, d), path[0] = start; end, asked
    for at the start and after each step:
    "flat" if the (Euclidean) norm of the gradient of F is at most tol,
    else "open" if max_steps steps are done.
    X = [[1], [1], [1], [1]], y = [1, 1, 1, 0], lam = 0, start = [0], tol = 0.02,
    max_steps = 9 give [[0], [1]], "flat".
    """
    ### BEGIN SOLUTION
    n, d = X.shape
    D = np.diag(lam * (np.arange(d) > 0))

    def F(w):
        s = X @ w
        return np.mean(np.logaddexp(0, s) - y * s) + w @ D @ w / 2

    path = [start]
    while True:
        w = path[-1]
        p = expit(X @ w)
        g = X.T @ (p - y) / n + D @ w
        if np.linalg.norm(g) <= tol:
            return np.array(path), "flat"
        if len(path) > max_steps:
            return np.array(path), "open"
        H = (X.T * (p * (1 - p))) @ X / n + D
        move, t = np.linalg.solve(H, g), 1.0
        while F(w - t * move) > F(w):
            t = t / 2
        path.append(w - t * move)
    ### END SOLUTION


# %% check="newton"
check(newton)

# %% covers="cs480:4 explainers:2.2.1 moon:7.1"
# Both of your methods on three measurements of 569 tumours; scikit-learn's fit.
with after(descend, newton):
    from sklearn.linear_model import LogisticRegression

    X, sick, measured = lr.three_measurements()
    n, L = len(sick), np.linalg.norm(X, 2) ** 2 / (4 * len(sick))
    path, end = newton(X, sick, 0.0, np.zeros(4), 1e-12, 30)
    away = np.linalg.norm(np.asarray(path) - path[-1], axis=1)
    print("Newton's distances:", *(f"{e:.0e}" for e in away[4:-1]))
    slow, _, how = descend(X, sick, 1 / L, 1e-8, 20_000)
    claim(
        "Newton {end} after {k} steps, descent {how} after {m}",
        end == how == "flat", end=end, k=len(path) - 1, how=how, m=len(slow) - 1,
    )  # fmt: skip
    for lam in (0.01, 1.0):  # scikit-learn: C times the sum of losses + ½‖w₊‖²
        model = LogisticRegression(C=1 / (n * lam), tol=1e-10, max_iter=1000)
        model.fit(X[:, 1:], sick)
        mine = newton(X, sick, lam, np.zeros(4), 1e-10, 30)[0][-1]
        same = np.allclose(mine, [*model.intercept_, *model.coef_[0]], atol=1e-5)
        claim("λ = {lam:g}: scikit-learn's weights", same, lam=lam)
    near = [
        newton(np.ones((2, 1)), np.array([1, 0]), 0.0, [2.0], 0, k)[0][-1, 0]
        for k in (1, 2, 3, 4)
    ]
    claim(
        "two rows, from 2: {w[0]:.2f}, {w[1]:.2f}, {w[2]:.2f}, {w[3]:.4f}",
        np.allclose(near, lr.two_rows(2.0, 4)[1:]),
        w=near,
    )
    distance = np.linalg.norm(np.asarray(slow)[:400] - path[-1], axis=1)
    show(*lr.draw_convergence({"Newton": away[:-1], "descent, α = 1/L": distance}))

# %% [markdown] covers="wu:1.5.3 explainers:2.2.1 cs480:4 moon:7.1"
# ## 5. When no best weights exist
#
# So the clinic takes Newton's method and all 30 measurements, no ridge. Machine A of [[02/01]] had a hyperplane that
# puts every tumour on its side. Take its $w$ and walk on along it: at $tw$ every score is $t$ times as large, on its right
# side, so for $t > 1$ every row's loss falls, to 0 as $t\to\infty$. Is that good news?

# %% predict="flat" minutes=1
predict(
    "flat",
    "Newton's method, no ridge, on the 427 tumours ends “flat”, with a gradient below "
    "10⁻⁸. Ask for 10⁻¹² instead. What do its weights do?",
    ["they stay, to eight digits", "they get longer", "they get shorter"],
    truth=1 if lr.clinic_norm(1e-12) > 1.2 * lr.clinic_norm(1e-8) else 0,
    because="The slope is small since the hill has no top: it only levels off. Each "
    "smaller tolerance buys longer weights, and they say more about tol than about "
    "tumours.",
)

# %% [markdown] covers="wu:1.5.3 explainers:2.2.1 cs480:4 moon:7.1"
# A loss above 0 that comes as near to 0 as you like has no minimum: if a hyperplane **separates** the classes, there is
# *no* best $w$. (For independent columns one exists unless some $u \ne 0$ has $\langle x_i, u\rangle \ge 0$ for all rows with label 1 and $\le 0$ for all
# others; Albert and Anderson 1984.) The fit is as sure as the budget allows: hence the 0.0000000000000005.
#
# Ridge mends it. Far out the penalty outgrows all possible gain: any $\lambda > 0$ gives one optimum, if both labels occur.
#
# **Drag the star**, a row of class 1, out of the round points. No ridge.
#
# 1. Where do the weights begin to run? Does the boundary turn, or only the shading?
# 2. Try $\lambda$ there. What holds?

# %% covers="cs480:4 moon:7.1 explainers:2.2.1 wu:1.5.3"
# Your Newton's method, anew wherever the star lies.
with after(newton, "flat"):
    explore(
        lr.star_explorer(newton),
        drag={("x1", "x2"): "plane"},
        x1=FloatSlider(-1.5, min=-3, max=3, step=0.05, description="star x₁"),
        x2=FloatSlider(-1.5, min=-3, max=3, step=0.05, description="star x₂"),
        lam=SelectionSlider(
            options=[0.0, 0.001, 0.01, 0.1, 1.0], description="ridge λ"
        ),
    )

# %% [markdown] covers="cs480:4-pred explainers:2.2"
# ## 6. What should she have been told?
#
# First the decision. The plain rule says 1 where $p > \frac12$, and $p$, or $1-p$ where it says 0, is its confidence. But a missed cancer costs more than a false
# alarm. Say that a miss (0 said, 1 true) costs $c_\text{fn}$, a false alarm (1 said, 0 true) $c_\text{fp}$. If $p$ is right, saying 1 costs
# $(1-p)\,c_\text{fp}$ on average, saying 0 costs $p\,c_\text{fn}$. Which is cheaper, and where does it change?


# %% exercise="decide" points=3 difficulty=1 covers="cs480:4-pred explainers:2.2"
def decide(p, y, c_fp, c_fn):
    """The cheaper label for each row, and what the labels cost once the truth is known.

    p (n,): probabilities of label 1; y (n,): the truth, 0 or 1; c_fp > 0; c_fn > 0.
    Returns (labels, alarms, misses, cost): labels (n,) of 0 and 1, the one of lower
    average cost by p, and 0 where both cost the same; alarms, how many 1 were said
    where 0 was true; misses, how many 0 where 1 was true; cost, the mean over all rows
    of what they cost.
    p = [0.3, 0.5, 0.7, 0.1], y = [0, 1, 1, 1], c_fp = 1, c_fn = 3 give
    [1, 1, 1, 0], 1, 1 and 1.0.
    """
    ### BEGIN SOLUTION
    labels = np.where(p > c_fp / (c_fp + c_fn), 1, 0)
    alarms = np.sum((labels == 1) & (y == 0))
    misses = np.sum((labels == 0) & (y == 1))
    cost = (c_fp * alarms + c_fn * misses) / len(y)
    return labels, alarms, misses, cost
    ### END SOLUTION


# %% check="decide"
check(decide)

# %% [markdown] covers="cs480:4 cs480:4-pred"
# And the number itself? Let the patients choose $\lambda$: cut the 427 into ten parts, and judge each part by a fit to the
# other nine. The $\lambda$ whose unseen rows cost least is tried on the 142, once. What does 213 hear, and is she
# called?

# %% covers="cs480:4 cs480:4-pred explainers:2.2.1 wu:1.5.3"
# The answer to the first screen: unseen rows choose λ, costs choose the threshold.
with after(sigmoid, newton, decide, "flat"):
    Z, sick, rest, test = lr.clinic()
    A, y, lams = Z[rest], sick[rest], 10.0 ** np.arange(-5, 1)
    folds = np.array_split(np.random.default_rng(0).permutation(427), 10)
    unseen, told, ends = np.zeros((6, 427)), [], []
    for row, lam in zip(unseen, lams):
        for fold in folds:
            others = np.delete(np.arange(427), fold)
            path, _ = newton(A[others], y[others], lam, np.zeros(31), 1e-8, 60)
            row[fold] = A[fold] @ path[-1]
        path, end = newton(A, y, lam, np.zeros(31), 1e-8, 60)
        told.append(sigmoid(Z @ path[-1]))
        ends.append(end)
    losses = np.mean(np.logaddexp(0, unseen) - y * unseen, axis=1)
    accuracy = np.mean((unseen > 0) == (y == 1), axis=1)
    pick = int(losses.argmin())
    flat = ends[pick] == "flat"
    claim("at the chosen λ = {lam:g} there is a minimum", flat, lam=lams[pick])
    for c_fn in (1.0, 10.0):
        labels, alarms, misses, _ = decide(told[pick][test], sick[test], 1.0, c_fn)
        she = np.asarray(labels)[test == 213][0]
        print(
            f"a miss costs {c_fn:g}: {misses} missed, {alarms} false alarms", end="; "
        )
        print("213 is called" if she else "213 is sent home")
    show(*lr.draw_answer(lams, losses, accuracy, pick, [p[213] for p in told]))

# %% [markdown] covers="guo:I.5.a wu:2.1.1 wu:2.1.2 cs480:13-logistic explainers:2.3"
# ## Take-aways
#
# - Logistic regression is linear in the **log-odds**. Its gradient is "probability minus label, times the features".
# - The loss is convex. Newton doubles the digits near the end; from afar it must be damped.
# - Classes that a hyperplane separates have no best weights. A fit without a penalty is as sure as its budget allows:
#   patient 213. Ridge, chosen on unseen rows, told her 21 %.
# - The threshold comes from costs, not from habit. With ten to one, 21 % is a call.
# - One [neuron](../07_neural_networks/01_one_hidden_layer.ipynb) with a sigmoid is this model; so is the last layer
#   of a network that tells real from made-up pictures. With hard answers for $p$ its step is the perceptron's; support
#   vector machines look for the widest gap between the classes directly.

# %% [markdown] covers="explainers:2.2.b"
# ## Deeper: what a weight means
#
# One unit more of feature $j$, all else equal, adds $w_j$ to the log-odds. So it multiplies the odds by $e^{w_j}$, the **odds ratio**,
# wherever you start. (Some texts give this name to the odds themselves.) The probability it multiplies by nothing fixed.

# %% predict="ratio" minutes=1
predict(
    "ratio",
    "A feature has the odds ratio 2. One unit more lifts p = 0.01 to 0.0198, nearly "
    "twice as much. To what does it lift p = 0.9?",
    ["about 0.91", "about 0.95", "about 0.99", "to 1"],
    truth=int(
        np.argmin(abs(np.array([0.91, 0.95, 0.99, 1]) - expit(logit(0.9) + np.log(2))))
    ),
    because="Odds of 9 to 1 become 18 to 1, and that is 18/19. Only rare events have "
    "probabilities that grow like their odds.",
)

# %% [markdown] covers="explainers:2.2.b explainers:2.2.1"
# How far can such a number be trusted? For many rows, the weights of the best fit scatter around the truth nearly like a normal distribution
# with covariance $(X^\top \operatorname{diag}(p_i(1-p_i))\,X)^{-1}$: steep curvature, little doubt. (A *sum* over the rows, not the mean
# of section 3.) The roots of its diagonal are the **standard errors**, and $w_j \pm 1.96$ of them is a 95 % interval. Give it on
# the scale of odds.


# %% exercise="odds_ratios" points=3 difficulty=1 covers="explainers:2.2.b"
def odds_ratios(X, w):
    """The odds ratio of each weight with the ends of its 95 % interval.

    X (n, d), first column ones, columns independent; w (d,): the best fit, no penalty.
    Returns (d, 3): ratio, lower end, upper end.
    X = four rows [1], w = [0] give [[1, 0.1409, 7.0993]]: the standard error is 1.
    """
    ### BEGIN SOLUTION
    p = expit(X @ w)
    curvature = (X.T * (p * (1 - p))) @ X
    error = np.sqrt(np.diag(np.linalg.inv(curvature)))
    return np.exp(np.column_stack([w, w - 1.96 * error, w + 1.96 * error]))
    ### END SOLUTION


# %% check="odds_ratios"
check(odds_ratios)

# %% [markdown] covers="cs480:def4.2 explainers:2.2.b"
# And the one assumption, that log-odds are linear? One can look. Cut the rows into groups along a feature; in each,
# the share of label 1 has its own log-odds. Left a measurement of the tumours. Right a made-up world in which both
# ends mean 1: there a straight fit keeps its mean right, and says nothing. Add $x^2$ as a feature, and log-odds are linear
# again, in the *weights*.

# %% covers="explainers:2.2.b cs480:def4.2"
# Odds ratios of three measurements, for one standard deviation more; groups' log-odds.
with after(newton, odds_ratios):
    X, sick, measured = lr.three_measurements()
    best = newton(X, sick, 0.0, np.zeros(4), 1e-10, 30)[0][-1]
    for name, (ratio, low, high) in zip(measured, np.asarray(odds_ratios(X, best))[1:]):
        print(f"{name}: odds × {ratio:.1f} (95 % from {low:.1f} to {high:.1f})")
    panels = []
    for title, label, x, y, powers in lr.two_worlds():
        z, fits = (x - x.mean()) / x.std(), {}
        for degree in powers:
            A = z[:, None] ** np.arange(degree + 1)
            fits[degree] = A @ newton(A, y, 0.0, np.zeros(degree + 1), 1e-8, 30)[0][-1]
        panels.append((title, label, x, y, fits))
    kept = np.mean(y - expit(panels[1][4][1]))
    claim(
        "even the failing line has mean p = share of 1, to {gap}",
        abs(kept) < 1e-6,
        gap=below(1e-6),
    )
    show(*lr.draw_log_odds(panels))

# %% [markdown] covers="cs480:eq4.a"
# ## Deeper: labels of ±1
#
# Margins and boosting like labels $y' = 2y - 1$. The cost of a row, step by step:
#
# $$\begin{aligned}-y\log\frac1{1+e^{-s}} - (1-y)\log\frac{e^{-s}}{1+e^{-s}} &= \log(1+e^{-s}) + (1-y)\,s\\
# &= \log\big(1+e^{-y's}\big).\end{aligned}$$
#
# First: both logarithms hold $\log(1+e^{-s})$, with weights that sum to 1. Then, for $y = 0$, $\log(1+e^{-s}) + s = \log(e^s+1)$. This is
# the **logistic loss** of the signed margin $m = y's$, drawn in [[02/01]]. It never stops pulling, and it is never much more than $-m$
# for who is wrong: an outlier has a bounded pull. A squared error $(1-m)^2$ would punish whoever is *very* right.

# %% covers="cs480:eq4.a"
# The chain on random rows, and by your function; its pull on wrong and right rows.
s, y = np.random.default_rng(3).normal(0, 9, 200), np.arange(200) % 2
p = expit(s)
with np.errstate(divide="ignore"):
    first = -np.log(np.where(y == 1, p, expit(-s)))
middle, last = np.logaddexp(0, -s) + (1 - y) * s, np.logaddexp(0, -(2 * y - 1) * s)
same = np.allclose(first, middle) and np.allclose(middle, last)
claim("the three forms agree ({n} rows)", same, n=200)
with after(nll_and_grad):
    ends = [
        nll_and_grad(np.ones(1), np.array([[v]]), np.array([y])) for v, y in zip(s, y)
    ]
    claim("they are your loss", np.allclose([loss for loss, _ in ends], last))
    pulls = np.array([abs(np.asarray(g)[0] / v) for v, (_, g) in zip(s, ends)])
    low = pulls[(1 - 2 * y) * s >= 5].min()
    claim("wrong by 5 or more: a pull of {low:.3f} at least", low > 0.99, low=low)

# %% [markdown] covers="explainers:2.2.1 moon:7.1"
# ## Deeper: least squares, again and again
#
# Newton's method has a second name. Put $g = -\frac1n X^\top(y - p)$ and $H = \frac1n X^\top S X$ with $S = \operatorname{diag}(p_i(1-p_i))$ into a
# full step:
#
# $$w - H^{-1}g = (X^\top S X)^{-1} X^\top S\,z, \qquad z_i = s_i + \frac{y_i - p_i}{p_i(1-p_i)}.$$
#
# That is [[01/02|weighted least squares]] on *working responses* $z$, repeated with new weights: **iteratively reweighted least squares**
# (IRLS). Small trees, added up, can stand in for the line: then it is a kind of boosting (LogitBoost).

# %% covers="explainers:2.2.1 moon:7.1"
# Each of your full steps on the tumours, by NumPy's least squares.
with after(newton):
    X, sick, _ = lr.three_measurements()
    path, gaps = newton(X, sick, 0.0, np.zeros(4), 1e-10, 30)[0], []
    for old, new in zip(path[:-1], path[1:]):
        p = expit(X @ old)
        root = np.sqrt(p * (1 - p))
        response = root * (X @ old) + (sick - p) / root
        found = np.linalg.lstsq(root[:, None] * X, response, rcond=None)[0]
        gaps.append(np.abs(found - new).max())
    worst = max(gaps)
    claim(
        "{n} steps are weighted least squares, to {gap}",
        worst < 1e-8,
        n=len(gaps),
        gap=below(1e-8),
    )

# %% [markdown] covers="wu:1.5.3 explainers:2.2.1 cs480:4"
# ## Deeper: the long way out
#
# What does plain gradient descent do where a hyperplane separates? Two clouds, no intercept, 30,000 steps. Only the rows nearest to the
# boundary still pull.

# %% predict="street" minutes=1
predict(
    "street",
    "Gradient descent runs on separable classes for a very long time. What does w do?",
    [
        "its length grows, its direction settles",
        "its length and its direction settle",
        "its length grows, its direction wanders",
    ],
    truth=0 if lr.long_way()[1][-1] < 0.6 * lr.long_way()[1][0] else 2,
    because="The direction tends to that of the widest street between the classes, "
    "and the length grows like log t (Soudry and others, 2018).",
    then=lr.draw_long_way,
)

# %% covers="wu:1.5.3 explainers:2.2.1 cs480:4"
# Length and direction; classes that only touch have no minimum either.
with after(nll_and_grad, "street"):
    norms, angles, widest = lr.long_way()
    gain = norms[-1] - norms[-3]  # over a factor 10 of steps
    claim(
        "ten times the steps add {g:.2f} to ‖w‖; log 10 / margin is {m:.2f}",
        abs(gain / widest - 1) < 0.15, g=gain, m=widest,
    )  # fmt: skip
    touch, side = np.array([[-1.0], [0], [0], [1]]), np.array([0, 0, 1, 1])
    losses = [nll_and_grad(np.array([t]), touch, side)[0] for t in (1.0, 3.0, 9.0)]
    falls = losses[0] > losses[1] > losses[2] > np.log(2) / 2
    claim(
        "touching at 0: {v[0]:.5f}, {v[1]:.5f}, {v[2]:.5f}, never {low:.5f}",
        falls,
        v=losses,
        low=np.log(2) / 2,
    )

# %% [markdown] covers="cs480:4-pred cs480:4"
# ## Deeper: do the probabilities keep their promise?
#
# The costs of section 6 began with "if $p$ is right". A machine is **calibrated** if among the rows that get $p$ the share $p$ has
# label 1. At the optimum part of it comes free: the gradient of $w_0$ is 0, so on the *training* rows the mean of $p$ is the share of label 1. The rest
# must be looked at, on rows that the fit has not seen.
#
# Cut $[0, 1]$ into $B$ equal bins. Bin $b = 0, \dots, B-1$ holds the rows with $b/B \le p < (b+1)/B$; $p = 1$ belongs to the last.


# %% exercise="reliability" points=3 difficulty=1 covers="cs480:4-pred cs480:4"
def reliability(p, y, bins):
    """Mean probability, share of label 1 and number of rows, bin by bin.

    p (n,) in [0, 1]. y (n,), 0 or 1. bins: number of equal bins, each closed on the
    left and open on the right, the last closed on both sides.
    Returns (bins, 3); an empty bin is a row of zeros.
    p = [0.1, 0.3, 0.9, 1.0], y = [0, 1, 1, 1], bins = 2
    gives [[0.2, 0.5, 2], [0.95, 1, 2]].
    """
    ### BEGIN SOLUTION
    index = np.minimum((p * bins).astype(int), bins - 1)
    table = np.zeros((bins, 3))
    for b in range(bins):
        mine = index == b
        if mine.any():
            table[b] = p[mine].mean(), y[mine].mean(), mine.sum()
    return table
    ### END SOLUTION


# %% check="reliability"
check(reliability)

# %% [markdown] covers="cs480:4-pred cs480:4 explainers:2.2 explainers:2.2.a"
# With next to no ridge the machine is nearly always right, and sure where it is wrong. With much ridge it is too
# modest. The table sees the second at once, the first hardly: a promise of 100 % that is kept in 97 % misses by three points.
# The logarithm in the loss sees both.
#
# Below the table: tumours judged by two weak measurements. Raise the threshold, and fewer cancers are found: **recall**, the share of cancers that
# are called, falls.
#
# 1. Which threshold finds 95 % of the cancers, and at how many false alarms?
# 2. Let a miss cost 10. Where is the valley, and how flat is it?
# 3. Which costs make ½ a good choice?

# %% covers="cs480:4-pred cs480:4 explainers:2.2"
# Three λ on the 427, by fits that have not seen the row. Then drag the threshold.
with after(newton, reliability):
    Z, sick, rest, _ = lr.clinic()

    def fit(A, y, lam):
        return newton(A, y, lam, np.zeros(A.shape[1]), 1e-8, 60)[0][-1]

    tables = {}
    for lam in (1e-5, 0.01, 1.0):
        p = expit(lr.unseen_scores(fit, Z[rest], sick[rest], lam))
        tables[f"λ = {lam:g}"] = reliability(p, sick[rest], 5)
        sure, wrong = np.abs(p - 0.5) > 0.499, np.abs(sick[rest] - p) > 0.999
        print(f"λ = {lam:g}: surer than 99.9 %: {sure.sum()}, wrong: {wrong.sum()}")
    show(*lr.draw_reliability(tables))
    X, sick, _ = lr.three_measurements()
    weak = expit(lr.unseen_scores(fit, X[:, [0, 2, 3]], sick, 0.0))
    explore(
        lr.threshold_explorer(weak, sick),
        drag={"threshold": "cost"},
        threshold=FloatSlider(
            0.5, min=0.01, max=0.99, step=0.01, description="threshold"
        ),
        ratio=SelectionSlider(
            options=[0.2, 0.5, 1, 2, 5, 10, 20], value=1, description="a miss costs"
        ),
    )

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails, the right
# one holds, and a wrong one of the same shape fails too.

# %% demo=true covers="cs480:4 cs480:eq4.a explainers:2.2 explainers:2.2.1"
# cs480, section 4, and explainers 2.2.
s, y = np.array([-2.0, -0.5, 0.3, 4.0]), np.array([0.0, 1.0, 0.0, 1.0])
p, cost = expit(s), np.logaddexp(0, s) - y * s
erratum(
    "cs480:eq4.a",
    quote=r"- (1 - y_i) \frac{\exp\{-\langle \mathbf{x}_i, \mathbf{w} \rangle\}}"
    r"{1 + \exp(-\langle \mathbf{x}_i, \mathbf{w} \rangle)}",
    corrected=r"$-(1-y_i)\log\frac{e^{-s_i}}{1 + e^{-s_i}}$: a logarithm is lost",
    printed_holds=np.allclose(-y * np.log(p) - (1 - y) * (1 - p), cost),
    corrected_holds=np.allclose(-y * np.log(p) - (1 - y) * np.log(1 - p), cost),
    decoy_holds=np.allclose(-y * np.log(p) - (1 - y) * np.log(p), cost),
)
erratum(
    "cs480:eq4.a",
    quote=r"If we redefine $y'_i = \frac{y_i + 1}{2}$, i.e., $y' \in \{\pm 1\}$",
    corrected=r"$y' = 2y - 1$; the printed map leads from $\pm1$ to 0 and 1",
    printed_holds=set((y + 1) / 2) == {-1.0, 1.0},
    corrected_holds=set(2 * y - 1) == {-1.0, 1.0},
    decoy_holds=set(2 * y + 1) == {-1.0, 1.0},
)
erratum(
    "cs480:4",
    quote=r"We can use the margin (or logit) $|\langle \mathbf{x}, \mathbf{w} "
    r"\rangle|$",
    corrected="the logit is the signed score; its size is the margin",
    kind="convention",
)
plane = np.array([[1.0, 0.0], [0.0, 0.5], [3.0, -1.0]])  # x₁ + 2 x₂ = 1, in R²
dimension = np.linalg.matrix_rank(plane - plane[0])
erratum(
    "explainers:2.2",
    quote=r"a hyperplane in $(m + 1)$-dimensional space is the set of points "
    r"$(x_1, \dots, x_m) \in \mathbb{R}^m$",
    corrected=r"a hyperplane in $\mathbb R^m$, of dimension $m - 1$: the leading 1 of "
    "$x$ is no coordinate",
    printed_holds=dimension == (2 + 1) - 1,
    corrected_holds=dimension == 2 - 1,
    decoy_holds=dimension == 2 - 2,
)
erratum(
    "explainers:2.2.1",
    quote=r"which we maximise numerically in $\theta$, e.g. via gradient descent",
    corrected=r"by ascent on $\ell$, that is descent on $-\ell$",
    kind="convention",
)

# %% demo=true covers="moon:7.1"
# moon, section 7.1.
z, v, b, x, y = 2.0, 0.4, -0.2, 1.5, 1.0
odds = {
    sign: np.log(q / (1 - q)) for sign in (1, -1) for q in [1 / (1 + np.exp(sign * z))]
}
erratum(
    "moon:7.1",
    quote=r"\sigma(z) = \frac{1}{1 + \exp^z}",
    corrected=r"$1/(1 + \exp(-z))$, as the same section writes later; log-odds $z$",
    printed_holds=np.isclose(odds[1], z),
    corrected_holds=np.isclose(odds[-1], z),
    decoy_holds=np.isclose(odds[-1], 2 * z),
)
p, h = expit(v * x + b), 1e-6
true = (np.logaddexp(0, -(v + h) * x - b) - np.logaddexp(0, -(v - h) * x - b)) / (2 * h)
outer = -(y - p)  # the factors before the last one
erratum(
    "moon:7.1",
    quote=r"\sigma(wx + b)[1 - \sigma(wx + b)] \frac{\partial\sigma(wx + b)}"
    r"{\partial w_j}",
    corrected=r"the last factor is $\frac{\partial(wx + b)}{\partial w_j} = x_j$",
    printed_holds=np.isclose(outer * p * (1 - p) * x, true),
    corrected_holds=np.isclose(outer * x, true),
    decoy_holds=np.isclose(outer * v, true),
)
p, y = np.array([0.8, 0.3, 0.6]), np.array([1.0, 0.0, 0.0])
true = -np.log(np.prod(np.where(y == 1, p, 1 - p)))
with np.errstate(divide="ignore"):
    printed = -np.sum(y * np.log(p) + np.log(1 - y) * (1 - p))
erratum(
    "moon:7.1",
    quote=r"y_i \ln \sigma(\mathbf{w}^T \mathbf{x}) + \ln(1 - y_i) (1 - "
    r"\sigma(\mathbf{w}^T \mathbf{x}))",
    corrected=r"$y_i\ln\sigma_i + (1 - y_i)\ln(1 - \sigma_i)$; $\ln(1 - y_i)$ is "
    r"$-\infty$ for $y_i = 1$",
    printed_holds=np.isclose(printed, true),
    corrected_holds=np.isclose(-np.sum(y * np.log(p) + (1 - y) * np.log(1 - p)), true),
    decoy_holds=np.isclose(-np.sum(y * np.log(p) + (1 - y) * np.log(p)), true),
)
erratum(
    "moon:7.1",
    quote="The derivative of f(x) is the derivative of f(x) with respect to f(x) times "
    "the derivative of f(x) with respect to f(x).",
    corrected=r"$\frac{du}{dv}\frac{dv}{dx}$, as displayed below it",
    kind="convention",
)

# %% demo=true covers="guo:I.3.a guo:II.1.a"
# guo, sections I.3 and II.1.
erratum(
    "guo:I.3.a",
    quote="(called binary entropy loss)",
    corrected="binary cross-entropy: the labels relative to the probabilities",
    kind="convention",
)
erratum(
    "guo:I.3.a",
    quote=r"-y_n \log(\text{logistic}(x_n, w))",
    corrected=r"$\text{logistic}(x_n \cdot w)$: one argument, the score",
    kind="convention",
)
erratum(
    "guo:II.1.a",
    quote=r"\mathbf{w}_{t+1} = \mathbf{w}_t - \alpha [\nabla_{\mathbf{w}_k} "
    r"\ell(\mathbf{w}_t; \mathcal{D})]^\top",
    corrected=r"the gradient is taken by $w$, at $w_t$; here it is a row",
    kind="convention",
)
erratum(
    "guo:II.1.a",
    quote=r"[s(w^\top x_n) - y_n] \cdot x + n^\top",
    corrected=r"$[s(w^\top x_n) - y_n]\, x_n^\top$",
    kind="convention",
)

# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] minutes=90 builds="cross-validation, random search, and a measure of how much a tuned score flatters"
# # Bias, variance and validation
#
# Lectures: explainers 2.5 and 3.4 · moon 3.1 and 5.3 · guo II.4 and II.5.
#
# A model fits its data well. Will it be right on data that it has not seen, and how would you know?
# At the end you can
#
# - split the expected error of a learner into noise, squared bias and variance, and measure each;
# - say what more data, more flexibility and more regularisation do to each;
# - estimate the error on new data by cross-validation written by you;
# - choose hyperparameters, and say by how much the chosen score flatters.

# %%
import numpy as np
from ipywidgets import Checkbox, FloatSlider, IntSlider, SelectionSlider
from numpy.polynomial.legendre import legvander
from scipy.stats import binom

from descent import after, check, data, erratum, explore, hint, predict, show, start
from descent.pictures.regression import bias_variance_and_validation as ms

start("01_regression/04_bias_variance_and_validation")

# %% [markdown] covers="explainers:2.5.1"
# ## Why it matters
#
# One truth (dashed), three polynomials, two worlds. Above, 100 rows with little noise. Below, 15 rows with much noise.
# Each title gives two root mean squared errors: on the **training** rows, and on fresh **validation** rows.
#
# | | training error | validation error | with other data the fit … |
# |---|---|---|---|
# | **underfits** | high | high | hardly changes |
# | **overfits** | low | high | changes wildly |
#
# Find one panel of each kind. Does the degree alone decide?


# %% covers="explainers:2.5.1" demo=true
def truth(x):
    return np.sin(4 * x + 0.7)


show(*ms.draw_six_fits(truth))

fits = ms.six_fits(truth, worlds=((15, 0.4), (150, 0.4)))
few, many = np.reshape([fit["validation"] for fit in fits], (2, 3))
predict(
    "You may replace the 15 noisy rows by 150 equally noisy ones. "
    "Which validation error falls most?",
    ["degree 1", "degree 5", "degree 12"],
    truth=int(np.argmax(few - many)),
    because="A fit that follows the noise is cured by data. "
    "The straight line is not: it is wrong on any amount of data.",
)

# %% [markdown] covers="guo:II.5 explainers:2.5"
# ## One learner, many data sets
#
# Call the **truth** $f$. A data set $D$ holds $n$ rows $(x_i, y_i)$ with $y_i = f(x_i) + \varepsilon_i$; the noise $\varepsilon_i$ has mean 0
# and variance $\sigma^2$. A learner turns $D$ into a fit $\hat f_D$. Another draw of $D$ gives another fit, so $\hat f_D$ is random. Two things can be wrong with it:
#
# - **bias**: the mean fit $\bar f(x) = \mathbb E_D[\hat f_D(x)]$ misses $f(x)$;
# - **variance**: the fits scatter around $\bar f(x)$ from data set to data set.
#
# Our learner fits a polynomial: it minimises $\frac1n\sum_i (y_i - \hat f(x_i))^2 + \lambda \sum_{j\ge1} w_j^2$, where the $w_j$ weigh
# the Legendre polynomials $P_0, \dots, P_\text{degree}$ and $\lambda \ge 0$ is the ridge penalty. Inputs are spread over $[-1, 1]$: one, at random, in each of $n$ equal slots,
# so that no data set leaves a hole. (What follows needs no such spreading: it holds however the rows are drawn.)
#
# **Find out with the sliders.** (1) Set the noise to 1. Which degree is best for 15 rows, and which for 200? What does degree 10 cost in each case? (2) At σ = 0.3, degree 10 and 15 rows, can ridge undo the damage? What does it cost?
# (3) The right panel splits the **risk** of each degree, its mean squared error on new pairs $(x, y)$, into three terms: noise, squared bias, variance. Which of them does no slider but the noise change?
# (4) The last number under the picture is the training error. At which degrees is it near the risk, and at which does it flatter?
#
# The next section shows why the three terms add up.

# %% covers="guo:II.5 explainers:2.5" demo=true
on_release = dict(continuous_update=False)
explore(
    ms.fan_explorer(truth),
    degree=IntSlider(10, min=0, max=12, description="degree", **on_release),
    n=IntSlider(15, min=15, max=200, step=5, description="rows n", **on_release),
    noise=FloatSlider(0.3, max=1, step=0.05, description="noise σ", **on_release),
    log_ridge=FloatSlider(
        -6, min=-6, max=1, step=0.5, description="log₁₀ ridge λ", **on_release
    ),
)

# %% [markdown] covers="moon:3.1.1 explainers:2.5.2"
# ## The decomposition
#
# A test pair is a new input with its own target $y = f + \varepsilon$. Write the fit's error as three pieces
# (the input $x$ is fixed and left out):
#
# $$y - \hat f \;=\; \underbrace{\varepsilon}_{\text{noise}} \;+\; \underbrace{(f - \bar f)}_{b} \;+\; \underbrace{(\bar f - \hat f)}_{u}$$
#
# and square: $\varepsilon^2 + b^2 + u^2 + 2\varepsilon b + 2\varepsilon u + 2bu$. Now take means over $D$ and $\varepsilon$.
# $b$ is a constant. $\mathbb E\,\varepsilon = 0$ removes the fourth piece. $\varepsilon$ is independent of $D$, so
# $\mathbb E[\varepsilon u] = \mathbb E[\varepsilon]\,\mathbb E[u] = 0$. And $\mathbb E\,u = 0$, since $\bar f$ is the mean. What is left:
#
# $$\mathbb E\,(y - \hat f)^2 \;=\; \sigma^2 + \mathrm{Bias}^2 + \mathrm{Var}[\hat f], \qquad \mathrm{Var}[\hat f] = \mathbb E\,u^2 .$$
#
# The cell measures all six at $x = 0.5$ for cubics on 20 000 data sets of 30 independent uniform inputs. Its $\bar f$ is the mean over 20 000 *other* data sets:
# with their own mean, the sixth piece would vanish by construction. It prints the three squares. Their sum misses the mean squared error in the third digit,
# because the means of the three mixed pieces are 0 up to sampling error only.

# %% covers="moon:3.1.1 explainers:2.5.2" demo=true
rng, sets, at = np.random.default_rng(0), 20_000, np.array([0.5])
x = rng.uniform(-1, 1, (2 * sets, 30))
y = truth(x) + 0.3 * rng.normal(size=x.shape)
fit, others = np.split(ms.polynomial_fits(x, y, 3, 0.0, at)[:, 0], 2)
eps = 0.3 * rng.normal(size=sets)  # the noise of the test targets
b, u = truth(0.5) - others.mean(), others.mean() - fit
squares, cross = [eps**2, b**2, u**2], [2 * eps * b, 2 * eps * u, 2 * b * u]
error = (truth(0.5) + eps - fit) ** 2
assert np.allclose(sum(squares) + sum(cross), error)
for piece in cross:  # 4 standard errors; 2 because the other mean is measured too
    assert abs(piece.mean()) < 4 * np.sqrt(2 / sets) * piece.std()
print("noise, bias², variance:", *(f"{np.mean(piece):.3f}" for piece in squares))
print(f"their sum {np.mean(sum(squares)):.3f}, mean squared error {error.mean():.3f}")

# %% [markdown] covers="explainers:2.5.2.a"
# ### From one input to all: the tower property
#
# A test input $X$ is random too. Averaging over the pair $(X, Y)$ can be done in two steps, first over $Y$ for each value of $X$, then over $X$:
#
# $$\mathbb E_{(X,Y)}[g(X,Y)] = \mathbb E_X\big[\,\mathbb E_{Y|X}[g(X,Y)]\,\big].$$
#
# This is what lets us kill the cross terms for each $x$ separately. Your turn, for tables: `joint[i, j]` is $P(X=i, Y=j)$.
# (Stuck? `hint(tower)`, up to three times; so for every exercise.)


# %% exercise="tower" points=2 minutes=8 difficulty=1 covers="explainers:2.5.2.a"
def tower(joint, g):
    """The mean of g(X, Y) in two steps.

    joint (a, b): probabilities P(X = i, Y = j), summing to 1.
    g (a, b): the values g(i, j).
    Returns (inner, total): inner (a,) with inner[i] = E[g(X, Y) | X = i],
    and total, the mean of inner over X. Where P(X = i) = 0, inner[i] is 0.
    joint = [[0.1, 0.3], [0, 0.6]] and g = [[4, 8], [5, 1]] give ([7, 1], 3.4).
    """
    ### BEGIN SOLUTION
    marginal = joint.sum(axis=1)
    inner = np.zeros(len(joint))
    seen = marginal > 0
    inner[seen] = (joint * g).sum(axis=1)[seen] / marginal[seen]
    return inner, marginal @ inner
    ### END SOLUTION


# %% check="tower"
check(tower)

# %% covers="explainers:2.5.2.a"
with after(tower):
    rng = np.random.default_rng(10)
    joint = rng.dirichlet(np.ones(12)).reshape(3, 4)
    y_values = np.array([-1.0, 0.0, 1.0, 2.0])
    f, mean_y = tower(joint, np.tile(y_values, (3, 1)))  # f(i) = E[Y | X = i]
    drawn = y_values[rng.choice(12, 200_000, p=joint.ravel()) % 4]
    assert abs(drawn.mean() - mean_y) < 4 * drawn.std() / np.sqrt(200_000)
    h = rng.normal(size=(3, 1))  # depends on X alone, as the error of a fit does
    inner, total = tower(joint, (y_values - np.reshape(f, (3, 1))) * h)
    assert np.allclose(inner, 0) and np.isclose(total, 0)  # no cross term at any x
    print(f"E[Y]: in two steps {mean_y:.2f}, sample mean {drawn.mean():.2f}")

# %% [markdown] covers="explainers:2.5.2 moon:3.1"
# With the mean over inputs the decomposition reads, for noise of variance $\sigma^2(x)$,
#
# $$\mathbb E_D[R(\hat f_D)] = \underbrace{\mathbb E_X[\sigma^2(X)]}_{\text{noise}} + \underbrace{\mathbb E_X\big[(f - \bar f)^2\big]}_{\text{squared bias}}
# + \underbrace{\mathbb E_X\,\mathbb E_D\big[(\hat f_D - \bar f)^2\big]}_{\text{variance}}, \qquad R(\hat f) = \mathbb E_{(X,Y)}\big[(Y - \hat f(X))^2\big].$$
#
# (Moon 3.1 writes $g^{(D)}$ for $\hat f_D$ and $\bar g$ for $\bar f$, and compares with $f$ itself: the same identity without the noise.)
#
# Write the two terms that depend on the learner. Row $s$ of `fits` is the fit to data set $s = 1, \dots, S$, evaluated at $m$ points. The mean over $D$ is the plain mean over the $S$ rows.


# %% exercise="bias_variance" points=3 minutes=10 difficulty=1 covers="explainers:2.5.2 moon:3.1 guo:II.5"
def bias_variance(fits, truth):
    """Squared bias and variance of a learner, each averaged over the points.

    fits (S, m): fits to S data sets at m points. truth (m,): the true values there.
    Returns (bias2, variance).
    fits = [[1, 2], [3, 2]] and truth = [0, 2] give (2.0, 0.5).
    """
    ### BEGIN SOLUTION
    mean_fit = fits.mean(axis=0)
    bias2 = np.mean((mean_fit - truth) ** 2)
    variance = np.mean((fits - mean_fit) ** 2)
    return bias2, variance
    ### END SOLUTION


# %% check="bias_variance"
check(bias_variance)

# %% [markdown] covers="explainers:2.5.2"
# **Does it hold to the third digit?** Keep the inputs fixed from data set to data set. Then the fit is linear in the targets, $\hat f = A y$, and all terms have exact values:
# $\bar f = A f$, and $\mathrm{Var}[\hat f(x)] = \sum_i A_{xi}^2\,\sigma^2(x_i)$. The cell compares them with your function on 100 000 simulated data sets, and with the risk measured on ten million fresh targets.
# The noise grows with $x$: $\sigma(x) = 0.3\,(1 + x)$.

# %% covers="explainers:2.5.2 moon:3.1 moon:3.1.1"
with after(bias_variance):
    inputs, points = ms.grid(30), ms.grid(100)

    def sd(x):
        return 0.3 * (1 + x)

    A = legvander(points, 3) @ np.linalg.pinv(legvander(inputs, 3))
    bias2 = np.mean((A @ truth(inputs) - truth(points)) ** 2)
    variance, noise = np.mean(A**2 @ sd(inputs) ** 2), np.mean(sd(points) ** 2)
    exact = np.array([bias2, variance, noise, bias2 + variance + noise])
    measured = ms.simulate_terms(bias_variance, truth, sd, A, inputs, points)
    assert np.all(np.abs(measured - exact) < 0.0005)  # half a unit of the third digit
    print("bias², variance, noise, risk")
    print("exact   ", np.round(exact, 3))
    print("measured", np.round(measured, 3))

# %%
predict(
    "20 rows, σ = 0.3. How do squared bias and variance move from degree 0 to 10?",
    [
        "both fall",
        "squared bias falls, variance rises",
        "squared bias rises, variance falls",
        "both are lowest in the middle",
    ],
    truth=1,
    because="A richer family comes nearer to the truth on average, "
    "and has more freedom to follow the noise of one data set.",
)

# %% covers="explainers:2.5 explainers:2.5.2"
with after(bias_variance):
    degrees, points = np.arange(11), ms.grid()
    x, y = ms.data_sets(truth, 20, 0.3, 400, np.random.default_rng(0))
    fits = [ms.polynomial_fits(x, y, degree, 0.0, points) for degree in degrees]
    bias2, variance = np.array([bias_variance(f, truth(points)) for f in fits]).T
    errors = [np.mean((f - truth(points)) ** 2) for f in fits]
    assert np.allclose(bias2 + variance, errors, rtol=0, atol=1e-10)  # for any fits
    show(*ms.draw_stack(degrees, bias2, variance, 0.3**2))

# %% [markdown] covers="guo:II.5 moon:3.1"
# ### What does more data mend?
#
# Variance falls about like $1/n$. Squared bias stays, *if the family does not contain the truth*: a line remains a line. So few rows favour a simple model, many rows a rich one.
# Here degree 1 meets degree 10. (The last squared biases of degree 10 are sampling error: a mean over 300 data sets is uncertain by about variance / 300.)

# %% covers="guo:II.5 moon:3.1"
with after(bias_variance):
    sizes, points, terms = [12, 15, 20, 30, 50, 100, 200, 400], ms.grid(), {}
    for degree in (1, 10):
        rng = np.random.default_rng(degree)
        sets = [ms.data_sets(truth, n, 0.3, 300, rng) for n in sizes]
        fits = [ms.polynomial_fits(x, y, degree, 0.0, points) for x, y in sets]
        terms[degree] = np.array([bias_variance(f, truth(points)) for f in fits])
    slope = np.polyfit(np.log(sizes[4:]), np.log(terms[10][4:, 1]), 1)[0]
    assert -1.25 < slope < -0.9, slope  # variance ~ 1/n once n is well above the degree
    assert terms[1][-1, 0] > 0.4 and terms[10][-1, 0] < 1e-4
    show(*ms.draw_sizes(sizes, terms))

# %% [markdown] covers="moon:5.3 moon:3.1 guo:II.4"
# ## Training error is too good: by how much?
#
# Fit $d$ weights to $n \ge d$ rows by least squares; the columns of $X$ are independent. The fit at the training inputs is $\hat y = Hy$ with the hat matrix
# $H = X(X^\top X)^{-1}X^\top$. It projects onto the $d$ columns, so $H^2 = H$ and $\operatorname{tr} H = d$. The noise has the same variance in every row, uncorrelated.
# If $\varepsilon$ is the noise of the *training* targets, the cross term does not vanish, for the fit has seen it: $\bar f - \hat f$ is now $u = -H\varepsilon$, and
#
# $$\mathbb E\,\tfrac1n\textstyle\sum_i \varepsilon_i u_i = -\mathbb E\,\tfrac1n\,\varepsilon^\top H \varepsilon = -\sigma^2 \operatorname{tr}H/n = -\sigma^2 d/n .$$
#
# The term $2\varepsilon u$ takes $2\sigma^2 d/n$ away from the mean training error, and this is the mean gap between training error and the error on new targets at the same inputs, whether or not the family holds the truth.
# If it does, the bias is 0, the variance adds $\sigma^2 d/n$ to both, and
#
# $$\mathbb E[\text{train}] = \sigma^2\Big(1 - \frac dn\Big), \qquad \mathbb E[\text{new targets, same inputs}] = \sigma^2\Big(1 + \frac dn\Big).$$
#
# The notes (moon 3.1) write $E_\text{out} \le E_\text{ml} + \Omega$: the error on new data is at most the error that the learning algorithm sees, plus a penalty $\Omega$ that they leave open.
# Here we know what to add on average: $2\sigma^2 d/n$.
#
# At *fresh* inputs the price is higher. For independent normal features, and a family that holds the truth, the mean error is $\sigma^2\big(1 + \frac{d}{n-d-1}\big)$ as long as $d < n - 1$, and infinite from there to $d = n$, where the fit goes through every row, noise and all.
# (What happens beyond the peak, where $d > n$, is a story of its own: the fit is no longer unique, and the error can fall again.)

# %% covers="moon:5.3 moon:3.1 guo:II.4" demo=true
rng, n, d = np.random.default_rng(2), 20, 5
X = rng.normal(size=(n, d))
H, signal = X @ np.linalg.pinv(X), X @ rng.normal(size=d)
noise, new = rng.normal(size=(2, 100_000, n))  # σ = 1
fits = (signal + noise) @ H.T
assert np.isclose(np.trace(H), d)
assert abs(np.mean(noise * (signal - fits)) + d / n) < 0.003
assert abs(np.mean((signal + noise - fits) ** 2) - (1 - d / n)) < 0.005
assert abs(np.mean((signal + new - fits) ** 2) - (1 + d / n)) < 0.005
by_d = [ms.least_squares_errors(n, k, 1000, rng) for k in (1, 5, 10, 15)]
assert np.all(np.diff(np.array(by_d)[:, 0]) < 0)  # training error falls with d
by_n = np.array([ms.least_squares_errors(k, d, 1000, rng) for k in (10, 20, 40, 80)])
assert np.all(np.diff(by_n[:, 2] - by_n[:, 0]) < 0)  # more rows, smaller gap
show(*ms.draw_least_squares())

# %% [markdown] covers="explainers:2.5.2.box-mse"
# ## Why squared error?
#
# Does every loss split into noise + bias + variance? Take the **0–1 loss** at one input where class 1 has probability 0.9. Over data sets, a classifier says 1 with chance $q$.
# The natural guesses: noise 0.1; bias 1 if the *majority vote* over data sets is wrong, else 0; variance the chance to differ from the majority vote.
# Which $q$ would you like to have, 0.1 or 0.4? Both vote wrong, and 0.4 varies more. (The columns of the output belong to $q = 0.9, 0.6, 0.4, 0.1$.)

# %% covers="explainers:2.5.2.box-mse" demo=true
q, noise = np.array([0.9, 0.6, 0.4, 0.1]), 0.1
risk = q * noise + (1 - q) * (1 - noise)  # says 1 and the label is 0, or 0 and it is 1
vote_is_right = q > 0.5
bias, variance = 1.0 - vote_is_right, np.where(vote_is_right, 1 - q, q)
assert not np.allclose(noise + bias + variance, risk)
# What holds: variance hurts where the vote is right and helps where it is wrong.
sign = np.where(vote_is_right, 1, -1)
assert np.allclose((2 * q - 1) * noise + bias + sign * variance, risk)
print("risk                   ", np.round(risk, 2))
print("noise + bias + variance", np.round(noise + bias + variance, 2))

# %% [markdown] covers="explainers:2.5.2.box-mse"
# **Cross-entropy does split**, with another kind of mean. Let $t$ be the true class probabilities at one input, and $p_1, \dots, p_S$ the predictions of $S$ trained models.
# With $\mathrm{KL}(a \Vert b) = \sum_c a_c \log(a_c / b_c)$ and natural logarithms,
#
# $$\frac1S\sum_s \Big(\!-\!\sum_c t_c \log p_{s,c}\Big) = \underbrace{-\sum_c t_c \log t_c}_{\text{noise}} + \underbrace{\mathrm{KL}(t \Vert \bar p)}_{\text{bias}} + \underbrace{\tfrac1S\sum_s \mathrm{KL}(\bar p \Vert p_s)}_{\text{variance}}.$$
#
# The centre $\bar p$ averages $\log p$, not $p$: $\log \bar p_c = \frac1S\sum_s \log p_{s,c} + \text{constant}$, the constant making $\bar p$ sum to 1 (a normalised *geometric* mean).
# That constant is the variance term: it is the mean of $\log \bar p_c - \log p_{s,c}$ over the models, the same for every class $c$.
# So squared error is not alone in splitting; its centre is just the simplest, the plain mean. (Both losses belong to one family, the *Bregman divergences*, of which each member splits around a mean of its own.)


# %% exercise="ce_decompose" points=3 minutes=15 difficulty=3 covers="explainers:2.5.2.box-mse"
def ce_decompose(probs, truth):
    """Noise, bias and variance of the mean cross-entropy, in natural logarithms.

    probs (S, k): predictions of S models for k classes, all > 0, rows sum to 1.
    truth (k,): true class probabilities; some may be 0, and 0 log 0 = 0.
    Returns (noise, bias, variance).
    probs = [[0.5, 0.5], [0.8, 0.2]] and truth = [1, 0] give (0, 0.4055, 0.0527):
    the centre is [2/3, 1/3].
    """
    ### BEGIN SOLUTION
    centre = np.exp(np.log(probs).mean(axis=0))
    centre = centre / centre.sum()
    t = truth[truth > 0]
    noise = -np.sum(t * np.log(t))
    bias = np.sum(t * np.log(t / centre[truth > 0]))
    variance = np.mean(np.sum(centre * np.log(centre / probs), axis=1))
    return noise, bias, variance
    ### END SOLUTION


# %% check="ce_decompose"
check(ce_decompose)

# %% covers="explainers:2.5.2.box-mse"
with after(ce_decompose):
    probs = np.random.default_rng(3).dirichlet([4, 3, 2], 500)
    t = np.array([0.7, 0.2, 0.1])
    loss = -np.mean(np.log(probs) @ t)
    terms = ce_decompose(probs, t)
    assert np.isclose(sum(terms), loss)
    plain = probs.mean(axis=0)  # the mean that squared error would take
    naive = terms[0] + t @ np.log(t / plain) + np.mean(np.log(plain / probs) @ plain)
    assert abs(naive - loss) > 0.01
    print(f"loss {loss:.3f}")
    print(f"three terms: geometric mean {sum(terms):.3f}, plain mean {naive:.3f}")

# %% [markdown] covers="guo:II.4"
# ## Three parts, three jobs
#
# In practice $f$ is unknown, and there is one data set. So put rows aside:
#
# | part | share | job | how often looked at |
# |---|---|---|---|
# | training | about 70 % | fit the weights | always |
# | validation | about 20 % | choose among fits | as seldom as you can |
# | test | about 10 % | report the error of the chosen one | once |
#
# Learn, validate, choose, test, and only then use.
# Why not choose and report on the same rows? Watch 100 "models" that answer by tossing a coin, on labels that are coin tosses. The true error of each is 0.5.
# The validation rows were used 100 times and the best kept: their number flatters. The test rows were used once.


# %% covers="guo:II.4" demo=true
def split(n, fractions, seed):
    """Row numbers 0 … n - 1 in random order, cut into parts of the given fractions."""
    order = np.random.default_rng(seed).permutation(n)
    return np.split(order, np.round(np.cumsum(fractions[:-1]) * n).astype(int))


train, valid, test = split(1000, (0.7, 0.2, 0.1), seed=0)
assert [len(train), len(valid), len(test)] == [700, 200, 100]
assert sorted([*train, *valid, *test]) == list(range(1000))
assert np.array_equal(test, split(1000, (0.7, 0.2, 0.1), seed=0)[2])  # the same again
rng, pairs = np.random.default_rng(4), []
for _ in range(100):  # repeated, so that the means below are good to a point
    wrong = rng.integers(0, 2, (100, 1000)) != rng.integers(0, 2, 1000)
    best = wrong[:, valid].mean(axis=1).argmin()
    pairs.append((wrong[best, valid].mean(), wrong[best, test].mean()))
seen, fresh = np.mean(pairs, axis=0)
print(f"best of 100: validation error {seen:.2f}, test error {fresh:.2f}")

# %% [markdown] covers="guo:II.4.a explainers:3.4.2"
# ## Cross-validation
#
# A fifth of the rows gives a noisy estimate, and the model has not learned from them. **k-fold cross-validation** uses every row for both jobs, never at once.
# Put the test rows aside. Cut the others, $D$, into $k$ folds $D_1, \dots, D_k$; for each $i$ train on $D \setminus D_i$ and validate on $D_i$; average the $k$ scores.
# Choose the setting with the lowest mean, then *train it again on all of $D$* and report on the test rows.
#
# Fold sizes differ by at most one. With $n = 11$ and $k = 4$ the folds hold 3, 3, 3 and 2 rows, in order: rows 0–2, 3–5, 6–8, 9–10. (Shuffle beforehand if the order of the rows means something.)


# %% exercise="cv_scores" points=4 minutes=15 difficulty=2 covers="guo:II.4.a explainers:3.4.2"
def cv_scores(fit, X, y, k):
    """Mean squared validation error of each of k folds.

    fit: a function; fit(X_train, y_train) returns a function: new rows -> predictions.
    X (n, d), y (n,), 2 <= k <= n. Returns (k,).
    Folds are consecutive blocks of rows; the first n % k of them hold one row more.
    If fit predicts the mean of y_train, y = [0, 0, 3] and k = 3 give [2.25, 2.25, 9].
    """
    ### BEGIN SOLUTION
    rows, scores = np.arange(len(y)), []
    for fold in np.array_split(rows, k):
        rest = np.delete(rows, fold)
        predict_new = fit(X[rest], y[rest])
        scores.append(np.mean((predict_new(X[fold]) - y[fold]) ** 2))
    return np.array(scores)
    ### END SOLUTION


# %% check="cv_scores"
check(cv_scores)

# %% covers="guo:II.4.a explainers:3.4.2"
with after(cv_scores):
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import KFold, cross_val_score

    X, y = data.diabetes().X, data.diabetes().y
    ours = cv_scores(lambda A, b: Ridge(0.1).fit(A, b).predict, X, y, 10)
    mse = "neg_mean_squared_error"  # scikit-learn maximises its scores
    theirs = -cross_val_score(Ridge(0.1), X, y, cv=KFold(10), scoring=mse)
    assert np.allclose(ours, theirs, rtol=1e-12)
    print(f"10 folds, ours = scikit-learn's: from {ours.min():.0f} to {ours.max():.0f}")

# %% [markdown] covers="guo:II.4.a"
# How good is the estimate? Here the truth is known, so we can compare, for degree 5 on 60 independent rows: one split (the first of five folds), 5 folds and 10 folds, each on 200 data sets.
# A box holds the middle half of the 200 estimates. The dashed line is the true mean risk of a fit to all 60 rows. On average the estimates lie a little above it, for they judge fits to 48 or 54 rows: the size of the training set is itself a source of variation of every score.

# %% covers="guo:II.4.a explainers:3.4.2"
with after(cv_scores):

    def fit(X, y):
        return lambda new: ms.polynomial_fits(X[:, 0], y, 5, 0.0, new[:, 0])

    rng, points = np.random.default_rng(5), ms.grid()
    x = rng.uniform(-1, 1, (200, 60))
    y = truth(x) + 0.3 * rng.normal(size=x.shape)
    sets = list(zip(x[:, :, None], y, strict=True))
    five, ten = (np.array([cv_scores(fit, *one, k) for one in sets]) for k in (5, 10))
    means = {"5 folds": five.mean(axis=1), "10 folds": ten.mean(axis=1)}
    estimates = {"one split": five[:, 0], **means}
    errors = ms.polynomial_fits(x, y, 5, 0.0, points) - truth(points)
    show(*ms.draw_folds(5, 60, estimates, 0.3**2 + np.mean(errors**2)))

# %% [markdown] covers="explainers:2.1.2.box-linearity"
# **A use at once: is a relation linear?** Compare the variance explained by a line and by a flexible cubic spline. On the training rows the spline always wins, for it contains the line. On held-out rows it wins, as a rule, only if the curve is real.
# (A narrow win proves nothing: for a true line, the spline wins by luck on about one data set in ten.)

# %% covers="explainers:2.1.2.box-linearity"
with after(cv_scores):

    def solve(A, b):
        return lambda new: new @ np.linalg.lstsq(A, b, rcond=None)[0]

    def sine(x):
        return np.sin(3 * x)

    for name, f in {"line": lambda x: 2 * x, "sine": sine}.items():
        rng = np.random.default_rng(7)
        x = rng.uniform(-1, 1, 100)
        y = f(x) + 0.5 * rng.normal(size=100)
        bases = np.column_stack([x**0, x]), ms.cubic_spline_basis(x, (-0.5, 0, 0.5))
        inside = [1 - np.mean((solve(B, y)(B) - y) ** 2) / y.var() for B in bases]
        held_out = [1 - cv_scores(solve, B, y, 10).mean() / y.var() for B in bases]
        assert inside[1] > inside[0]
        assert (held_out[1] > held_out[0]) == (name == "sine")
        print(f"{name}: R² of line and spline, training rows {np.round(inside, 2)}")
        print(f"      the same on held-out rows {np.round(held_out, 2)}")

# %% [markdown] covers="explainers:3.4"
# ## Hyperparameters
#
# What training does not set is a **hyperparameter**: the degree, $\lambda$, the number of layers, the learning rate. A bad one underfits, overfits or diverges.
# One knob can do all three. Take degree 15, 20 rows, σ = 0.5, and 300 steps of gradient descent $w \leftarrow w - \eta \nabla L(w)$ from $w = 0$ on the mean squared error $L$.
# At a small rate these steps end long before the descent arrives, so the number of steps is a hyperparameter too. Before you run it: what do you expect at a tiny $\eta$, and at a large one?

# %% covers="explainers:3.4" demo=true
rng, new_x = np.random.default_rng(28), ms.grid()
x, y = (a[0] for a in ms.data_sets(truth, 20, 0.5, 1, rng))
new_y = truth(new_x) + 0.5 * rng.normal(size=200)
features, new_features = legvander(x, 15), legvander(new_x, 15)
rates = np.geomspace(1e-4, 2, 27)
w = np.zeros((27, 16))
for _ in range(300):
    w = w - rates[:, None] * 2 / 20 * (w @ features.T - y) @ features
train = np.mean((w @ features.T - y) ** 2, axis=1)
valid = np.mean((w @ new_features.T - new_y) ** 2, axis=1)
edge = 2 / np.linalg.eigvalsh(2 / 20 * features.T @ features)[-1]
show(*ms.draw_rates(rates, train, valid, edge))

# %% [markdown] covers="explainers:3.4.1"
# ### Grid or random?
#
# $m$ hyperparameters with sets of values $\Omega_{h_1}, \dots, \Omega_{h_m}$ span the space $\Omega_{h_1} \times \dots \times \Omega_{h_m}$.
# A grid of $g$ values each costs $g^m$ trainings. Random search draws settings, trains each on the training part (say 80 %), and keeps the one with the lowest loss on the validation part (20 %).
#
# Rates and penalties live on a logarithmic scale: equal *factors* should be equally likely. For a box from `low` to `high`, a uniform $u \in [0, 1)$ gives `low` at $u = 0$,
# tends to `high` as $u \to 1$, and equal steps of $u$ multiply by equal factors. Some runs diverge: their loss is `nan`, and they must never win.


# %% covers="explainers:3.4.1" demo=true
def prob_top(share, n):
    return 1 - (1 - share) ** n


predict(
    "What is the least number of random draws that makes it 95 % sure that one is "
    "among the best 5 % of all settings?",
    ["about 20", "about 60", "about 400", "it depends on how many hyperparameters"],
    truth=lambda: int(np.argmax(prob_top(0.05, np.array([20, 60, 400])) >= 0.95)),
    because="Each draw misses the top 5 % with chance 0.95, "
    f"and 1 - 0.95^60 = {prob_top(0.05, 60):.3f}, for any number of hyperparameters. "
    "But with many of them even the best 5 % of the box may be far from the optimum.",
)


# %% exercise="random_search" points=3 minutes=12 difficulty=2 covers="explainers:3.4.1"
def random_search(objective, low, high, n, rng):
    """The best of n random settings, log-uniform between low and high.

    objective: function (m,) -> loss; nan where training diverged (never on all n).
    low, high (m,), positive. rng: NumPy generator.
    Draw u = rng.random((n, m)); its row i makes setting i.
    Returns (setting (m,), its loss) for the lowest loss.
    With low = [1] and high = [100], u = 0.5 makes the setting [10].
    """
    ### BEGIN SOLUTION
    settings = low * (high / low) ** rng.random((n, len(low)))
    losses = np.array([objective(setting) for setting in settings])
    best = np.nanargmin(losses)
    return settings[best], losses[best]
    ### END SOLUTION


# %% check="random_search"
check(random_search)

# %% [markdown] covers="explainers:3.4.1"
# Two hyperparameters, one of which hardly matters: loss $= (\log_{10} h_1 - c_1)^2 + 0.02\,(\log_{10} h_2 - c_2)^2$. The optimum $c$ lies elsewhere in each of 200 problems.
# The dashed line marks the best value of the important one. Look at the ticks below the points: how many of its values does each method try?

# %% covers="explainers:3.4.1"
with after(random_search):
    rng, low, high = np.random.default_rng(8), np.full(2, 1e-4), np.ones(2)
    optima, budgets = rng.uniform(-4, 0, (200, 2)), np.array([4, 9, 16, 25, 36])

    def loss(log_h, c):
        return (log_h - c) ** 2 @ np.array([1, 0.02])

    def search(c, n, seen):
        def objective(h):
            seen.append(np.log10(h))
            return loss(seen[-1], c)

        return random_search(objective, low, high, n, rng)[1]

    on_grid = [np.mean([loss(ms.box(g), c).min() for c in optima]) for g in range(2, 7)]
    at_random = [np.mean([search(c, n, []) for c in optima]) for n in budgets]
    search(optima[0], 25, seen := [])
    show(*ms.draw_search(ms.box(5), seen, optima[0], budgets, on_grid, at_random))

# %% [markdown] covers="explainers:3.4.3"
# ## The best of many looks too good
#
# Group A publishes a network with 99 hidden neurons, group B one with 100; all else is equal. A has the slightly lower test error and is adopted. One group that tries both and keeps the better
# would have done the same. The test set has *chosen*, so the winner's test error is too low on average. A whole field does this for years.
#
# How much does it buy? $M$ models, each with true error $p$, make $B_1, \dots, B_M$ mistakes on $n$ test cases, independent binomial counts. For a count, $\mathbb E[\min] = \sum_{j \ge 0} P(\min > j)$,
# and the lowest count is above $j$ exactly if all are. `binom.sf(j, n, p)` is $P(B > j)$.


# %% exercise="expected_best" points=3 minutes=12 difficulty=2 covers="explainers:3.4.3"
def expected_best(p, n, M):
    """Expected lowest test error rate of M models with true error p on n cases.

    p in [0, 1], n >= 1, M >= 1 -> a number between 0 and p.
    All mistakes are independent, within a model and between models.
    expected_best(0.5, 1, 2) is 0.25: both must be wrong.
    """
    ### BEGIN SOLUTION
    return np.sum(binom.sf(np.arange(n), n, p) ** M) / n
    ### END SOLUTION


# %% check="expected_best"
check(expected_best)

# %% [markdown] covers="explainers:3.4.3 moon:3.1"
# A hundred models of true error 0.10 on a thousand cases: the winner reports 0.077 on average. There is also a bound of the form true error $\le$ reported error $+\;\Omega$ for the best of $M$:
# with probability at least $1 - \delta$ it holds for all $M$ at once when $\Omega = \sqrt{\ln(M/\delta)/(2n)}$ (Hoeffding's inequality, summed over the models).
# The condition: the $M$ models were fixed before the test rows were drawn. Who looks at the scores and builds the next model accordingly has no such guarantee.
#
# **Find out below:** how many test cases make the best of 100 honest to one point (0.01)? Real models make many of the same mistakes: what does an agreement of 0.9 do
# (on 0.9 of the cases a model copies a common pattern of mistakes)? What does a refreshed benchmark say of the winners?

# %% covers="explainers:3.4.3 moon:3.1"
with after(expected_best):
    p, n, M = 0.1, 1000, 100
    lowest = np.random.default_rng(9).binomial(n, p, (5000, M)).min(axis=1) / n
    error = lowest.std() / np.sqrt(5000)
    assert abs(lowest.mean() - expected_best(p, n, M)) < 4 * error
    bound = np.sqrt(np.log(M / 0.05) / (2 * n))
    assert np.mean(p > lowest + bound) <= 0.05
    print(f"simulated {lowest.mean():.3f}, Ω at 95 % {bound:.3f}")
    for m in (1, 10, 100, 1000):
        print(f"best of {m}: {expected_best(p, n, m):.3f}")

# %% covers="explainers:3.4.3"
explore(
    ms.draw_benchmark,
    models=SelectionSlider(
        value=100, options=[1, 3, 10, 30, 100, 300, 1000], description="models M"
    ),
    n=SelectionSlider(
        value=1000, options=[100, 300, 1000, 3000, 10000], description="test cases n"
    ),
    agreement=FloatSlider(0.0, min=0, max=1, step=0.1, description="agreement"),
    fresh=Checkbox(False, description="refresh the benchmark"),
)

# %% [markdown] covers="explainers:3.4.2 wu:10.6.8"
# ## On real data
#
# **A protocol from end to end.** A support vector machine on the breast cancer data. Its penalty $C$ is chosen from the eleven values $2^{-5}, 2^{-3}, \dots, 2^{15}$ by your ten-fold cross-validation
# (the squared error of 0/1 labels is the share of mistakes). The one-standard-error rule takes the smallest $C$, the most regularised model, whose mean lies within one standard error of the best: a smaller difference may be luck. (The folds share training rows, so this standard error is a rough guide.) Even the scaling is learned from the training rows alone.

# %% covers="explainers:3.4.2 wu:10.6.8"
with after(cv_scores):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    X, y = data.breast_cancer().X, data.breast_cancer().y.astype(float)
    rest, test = split(len(y), (0.8, 0.2), seed=1)

    def learner(C):
        return lambda A, b: make_pipeline(StandardScaler(), SVC(C=C)).fit(A, b).predict

    values = 2.0 ** np.arange(-5, 16, 2)
    scores = np.array([cv_scores(learner(C), X[rest], y[rest], 10) for C in values])
    mean, error = scores.mean(axis=1), scores.std(axis=1, ddof=1) / np.sqrt(10)
    chosen = int(np.argmax(mean <= mean.min() + error[mean.argmin()]))
    final = learner(values[chosen])(X[rest], y[rest])  # again, on all that is not test
    print(f"chosen C = {values[chosen]:g}, validation error {mean[chosen]:.3f}")
    print(f"test error, looked at once: {np.mean(final(X[test]) != y[test]):.3f}")
    show(*ms.draw_choice(values, scores, chosen))

# %% [markdown] covers="explainers:3.4.3 guo:II.4"
# **And what tuning on the test set buys.** Diabetes: train on 100 patients, compare $M$ ridge regressions (random halves of the features, random $\lambda$) on a "test set" of 50, report the winner's error on those same 50.
# The other 292 patients know the truth. Errors are in units of the variance of $y$, means over 150 splits. Before you run it: does tuning on the test set make the winner worse?

# %% covers="explainers:3.4.3 guo:II.4" demo=true
X, y = data.diabetes().X * np.sqrt(442), data.diabetes().y
y, counts, results = (y - y.mean()) / y.std(), [1, 3, 10, 30, 100, 300], []
for seed in range(150):
    rng = np.random.default_rng(seed)
    train, test, fresh = np.split(rng.permutation(442), [100, 150])
    used, lam = rng.random((300, 10)) < 0.5, 10 ** rng.uniform(-2, 3, 300)
    gram = X[train].T @ X[train] * used[:, :, None] * used[:, None, :]
    gram[:, range(10), range(10)] += np.where(used, lam[:, None], 1)  # 300 problems
    moments = X[train].T @ (y[train] - y[train].mean()) * used
    w = np.linalg.solve(gram, moments[..., None])[..., 0]
    errors = (X @ w.T + y[train].mean() - y[:, None]) ** 2
    reported, true = errors[test].mean(axis=0), errors[fresh].mean(axis=0)
    results.append([(reported[:m].min(), true[reported[:m].argmin()]) for m in counts])
show(*ms.draw_luck(counts, *np.mean(results, axis=0).T))

# %% [markdown] covers="wu:10.10.7 guo:II.4"
# ## Take-aways
#
# - Expected squared error = noise + squared bias + variance. Noise is a floor that no learner gets below. More data cuts variance like $1/n$; a richer family cuts bias; ridge trades a little bias for much variance.
# - The identity needs test noise that is independent of the fit. Training noise is not: with $d$ weights fitted by least squares, training error is on average too low by $2\sigma^2 d/n$ against new targets at the same inputs.
# - Match complexity to the amount of data: few rows, simple model. An $L_2$ penalty suits smooth truths and $L_1$ sparse ones; stopping early keeps the noise unlearned. Watch the gap between training and validation as you go.
# - Fit on training rows (scaling and feature choice included), choose by cross-validation, train again on all of them, report once on test rows.
# - Random search beats a grid where few hyperparameters matter; 60 draws reach the top 5 % with probability 0.954.
# - The best of many is better than the average, *and* its score flatters it: the more, the more you compare and the fewer the cases. Keep validation and test apart, and refresh a benchmark that everybody has tuned on.
#
# ## What the notes got wrong
#
# Two of these are ideas, not slips: bias is not flexibility, and variance does not live inside one fit. The first cell below tests both. The second tests three wrong formulas;
# the third lists slips of notation, where there is nothing to test.

# %% covers="guo:II.5 moon:3.1" demo=true
x, y = ms.data_sets(truth, 30, 0.3, 300, np.random.default_rng(0))
simple, rich = (ms.polynomial_fits(x, y, degree, 0.0, ms.grid()) for degree in (1, 10))
bias = simple.mean(axis=0) - truth(ms.grid())
bias2 = np.mean(bias**2)
rich_bias2 = np.mean((rich.mean(axis=0) - truth(ms.grid())) ** 2)
risk, variance = np.mean((simple - truth(ms.grid())) ** 2, axis=0), simple.var(axis=0)
erratum(
    "guo:II.5",
    "bias is the flexibility of the model class, the ability to represent the true "
    "function, which degree 10 has more of than degree 1",
    r"bias is the systematic error $\mathbb E\hat f - f$; as a rule it falls as "
    "flexibility grows (the notes' next sentence says 'high bias model' in this sense)",
    printed_holds=rich_bias2 > bias2,
    corrected_holds=rich_bias2 < bias2,
)
erratum(
    "guo:II.5",
    "variance is how much the model fluctuates within itself, along one fitted curve",
    "variance is how much the fit at a point fluctuates between training sets",
    printed_holds=np.isclose(bias2 + simple.var(axis=1).mean(), risk.mean()),
    corrected_holds=np.isclose(bias2 + variance.mean(), risk.mean()),
)

# %% covers="moon:3.1 moon:3.1.1" demo=true
one = (simple[0] - truth(ms.grid())) ** 2  # the errors of one fit
erratum(
    "moon:3.1",
    r"$(\bar g(x) - f(x))^2$ is the bias; in 3.1.1 the error holds Bias$^2$",
    r"$\bar g(x) - f(x)$ is the bias; the error at $x$ is variance + bias$^2$",
    printed_holds=np.allclose(variance + (bias**2) ** 2, risk),
    corrected_holds=np.allclose(variance + bias**2, risk),
)
erratum(
    "moon:3.1",
    r"the error at a single instance $x$ is $\mathbb E_X[(g^{(D)}(x) - f(x))^2]$",
    r"the error at $x$ is $(g^{(D)}(x) - f(x))^2$, whose mean over $D$ is variance + "
    "bias$^2$ at that $x$; the mean over $X$ belongs to no single $x$",
    printed_holds=np.allclose(one, one.mean()),
    corrected_holds=np.allclose(variance + bias**2, risk),
)
sample = np.array([1.0, 2.0, 6.0])
gap = np.mean(sample**2) - sample.mean() ** 2
erratum(
    "moon:3.1.1",
    r"for any random variable $X$: "
    r"$\mathrm{Var}[\hat f(x)] = \mathbb E[X^2] - \mathbb E[X]^2$",
    r"for any random variable $X$: $\mathrm{Var}[X] = \mathbb E[X^2] - \mathbb E[X]^2$",
    printed_holds=np.isclose(rich[:, 0].var(), gap),
    corrected_holds=np.isclose(sample.var(), gap),
)

# %% covers="moon:3.1 explainers:3.4.1 guo:II.4"
erratum(
    "moon:3.1",
    "$q$: learning function",
    r"$g$: learning function; all that follows writes $g^{(D)}$ and $\bar g$",
)
erratum(
    "explainers:3.4.1",
    r"$\Omega_1 \times \dots \times \Omega_m$",
    r"$\Omega_{h_1} \times \dots \times \Omega_{h_m}$, as the factors were named",
)
erratum(
    "guo:II.4",
    r"$(x_n, y_n) \in P(x; y)$",
    r"$(x_n, y_n) \sim P(x, y)$: rows are drawn from a distribution, which is no set",
)

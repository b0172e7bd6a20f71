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

from descent import after, check, data, erratum, explore, predict, show, start
from descent.widgets import model_selection as ms

start("01_regression/04_bias_variance_and_validation")

# %% [markdown] covers="explainers:2.5.1"
# ## Why it matters
#
# One truth (dashed), three polynomials, two worlds. Above, 100 rows with little noise. Below, 15 rows with much.
# Each title gives two root mean squared errors: on the **training** rows, and on fresh **validation** rows.
#
# | | training error | validation error | with other data the fit … |
# |---|---|---|---|
# | **underfits** | high | high | hardly changes |
# | **overfits** | low | high | changes wildly |
#
# Find one panel of each kind. Does the degree alone decide?

# %% covers="explainers:2.5.1" demo=true
def truth(x): return np.sin(4 * x + 0.7)
show(*ms.draw_six_fits(truth))

few, many = np.reshape([c["validation"] for c in ms.six_fits(truth, worlds=((15, 0.4), (150, 0.4)))], (2, 3))
predict(
    "You may replace the 15 noisy rows by 150 equally noisy ones. Which validation error falls most?",
    ["degree 1", "degree 5", "degree 12"],
    truth=int(np.argmax(few - many)),
    because="A fit that follows the noise is cured by data. The straight line is not: it is wrong on any amount of data.",
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
# the Legendre polynomials $P_0, \dots, P_\text{degree}$ and $\lambda \ge 0$ is the ridge penalty. Inputs are spread over $[-1, 1]$: one, at random, in each of $n$ equal slots.
#
# **Find out with the sliders.** (1) Which degree is best for 15 rows, and which for 200? (2) At degree 10 and 15 rows, can ridge undo the damage? What does it cost?
# (3) Which of the three terms does no slider but the noise change?

# %% covers="guo:II.5 explainers:2.5"
explore(
    ms.fan_explorer(truth),
    degree=IntSlider(10, min=0, max=12, description="degree", continuous_update=False),
    n=IntSlider(15, min=15, max=200, step=5, description="rows n", continuous_update=False),
    noise=FloatSlider(0.3, min=0, max=1, step=0.05, description="noise σ", continuous_update=False),
    log_ridge=FloatSlider(-6, min=-6, max=1, step=0.5, description="log₁₀ ridge λ", continuous_update=False),
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
# The cell measures all six at $x = 0.5$ for cubics on 20 000 data sets of 30 independent uniform inputs.

# %% covers="moon:3.1.1 explainers:2.5.2" demo=true
rng, sets, at = np.random.default_rng(0), 20_000, np.array([0.5])
x = rng.uniform(-1, 1, (sets, 30))
fit = ms.polynomial_fits(x, truth(x) + 0.3 * rng.normal(size=x.shape), 3, 0.0, at)[:, 0]
eps = 0.3 * rng.normal(size=sets)  # the noise of the test target: not in any training row
b, u = truth(0.5) - fit.mean(), fit.mean() - fit
pieces = dict(noise=eps**2, bias2=b**2 + 0 * u, variance=u**2, eps_b=2 * eps * b, eps_u=2 * eps * u, b_u=2 * b * u)
assert np.allclose(sum(pieces.values()), (truth(0.5) + eps - fit) ** 2)
assert np.isclose(np.mean(fit**2), fit.var() + fit.mean() ** 2)  # E[X²] = Var[X] + (E X)²
for name in ("eps_b", "eps_u", "b_u"):
    error = pieces[name].std() / np.sqrt(sets)
    assert abs(pieces[name].mean()) < 4 * error + 1e-12, name  # b_u: zero up to rounding, by the choice of b
print(", ".join(f"{name} {round(piece.mean(), 3) + 0:.3f}" for name, piece in pieces.items()))

# %% [markdown] covers="explainers:2.5.2.a"
# ### From one input to all: the tower property
#
# A test input $X$ is random too. Averaging over the pair $(X, Y)$ can be done in two steps, first over $Y$ for each value of $X$, then over $X$:
#
# $$\mathbb E_{(X,Y)}[g(X,Y)] = \mathbb E_X\big[\,\mathbb E_{Y|X}[g(X,Y)]\,\big].$$
#
# This is what lets us kill the cross terms for each $x$ separately. Your turn, for tables: `joint[i, j]` is $P(X=i, Y=j)$.

# %% exercise="tower" points=2 minutes=8 difficulty=1 covers="explainers:2.5.2.a"
def tower(joint, g):
    """The mean of g(X, Y) in two steps.

    joint (a, b): probabilities P(X = i, Y = j), summing to 1. g (a, b): the values g(i, j).
    Returns (inner, total): inner (a,) with inner[i] = E[g(X, Y) | X = i], and total = E_X[inner].
    Where P(X = i) = 0, the inner mean is 0 by convention.
    joint = [[0.1, 0.3], [0, 0.6]] and g = [[4, 8], [5, 1]] give inner [7, 1], total 3.4.
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
    joint, y_values = rng.dirichlet(np.ones(12)).reshape(3, 4), np.array([-1.0, 0.0, 1.0, 2.0])
    f, mean_y = tower(joint, np.tile(y_values, (3, 1)))  # f(i) = E[Y | X = i]
    drawn = y_values[rng.choice(12, 200_000, p=joint.ravel()) % 4]
    assert abs(drawn.mean() - mean_y) < 4 * drawn.std() / np.sqrt(200_000)
    h = rng.normal(size=(3, 1))  # anything that depends on X alone, as the error of a fit does
    inner, total = tower(joint, (y_values - np.reshape(f, (3, 1))) * h)
    assert np.allclose(inner, 0) and np.isclose(total, 0)  # the cross term dies at each x
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

    fits (S, m): fits to S data sets at m points. truth (m,): the true values there. Returns (bias2, variance).
    fits = [[1, 2], [3, 2]] and truth = [0, 2] give bias2 = 2.0 and variance = 0.5.
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
# **Does it hold to the third digit?** Take the inputs fixed. Then the fit is linear in the targets, $\hat f = A y$, and all terms have exact values:
# $\bar f = A f$, and $\mathrm{Var}[\hat f(x)] = \sum_i A_{xi}^2\,\sigma^2(x_i)$. Against them: your function on 100 000 simulated data sets, and the risk measured on ten million fresh targets.
# The noise grows with $x$: $\sigma^2(x) = 0.09\,(1 + x)$.

# %% covers="explainers:2.5.2 moon:3.1 moon:3.1.1"
with after(bias_variance):
    inputs, points, rng = ms.grid(30), ms.grid(100), np.random.default_rng(1)
    def sd(x): return 0.3 * np.sqrt(1 + x)
    A = legvander(points, 3) @ np.linalg.pinv(legvander(inputs, 3))
    exact = [np.mean((A @ truth(inputs) - truth(points)) ** 2), np.mean(A**2 @ sd(inputs) ** 2), np.mean(sd(points) ** 2)]
    blocks = []
    for _ in range(20):
        fits = (truth(inputs) + sd(inputs) * rng.standard_normal((5000, 30))) @ A.T
        noise = sd(points) * rng.standard_normal(fits.shape)
        blocks.append([*bias_variance(fits, truth(points)), np.mean(noise**2), np.mean((truth(points) + noise - fits) ** 2)])
    measured = np.mean(blocks, axis=0)
    assert np.all(np.abs(measured - [*exact, sum(exact)]) < 0.0005)  # half a unit of the third digit
    print("bias², variance, noise, risk: exact", np.round([*exact, sum(exact)], 3), "measured", np.round(measured, 3))

# %%
predict(
    "From degree 0 to degree 10, 20 rows, σ = 0.3. How do squared bias and variance move?",
    ["both fall", "squared bias falls, variance rises", "squared bias rises, variance falls", "both are lowest in the middle"],
    truth=1,
    because="A richer family comes nearer to the truth on average, and has more freedom to follow the noise of one data set.",
)

# %% covers="explainers:2.5 explainers:2.5.2"
with after(bias_variance):
    degrees, points = np.arange(11), ms.grid()
    x, y = ms.data_sets(truth, 20, 0.3, 400, np.random.default_rng(0))
    fits = [ms.polynomial_fits(x, y, degree, 0.0, points) for degree in degrees]
    bias2, variance = np.array([bias_variance(f, truth(points)) for f in fits]).T
    assert np.allclose(bias2 + variance, [np.mean((f - truth(points)) ** 2) for f in fits], atol=1e-10)
    show(*ms.draw_stack(degrees, bias2, variance, 0.3**2))

# %% [markdown] covers="guo:II.5 moon:3.1"
# ### What does more data mend?
#
# Variance falls about like $1/n$. Squared bias stays, *if the family does not contain the truth*: a line remains a line. So few rows favour a simple model, many rows a rich one.
# Here degree 1 meets degree 10.

# %% covers="guo:II.5 moon:3.1"
with after(bias_variance):
    sizes, points, terms = [12, 15, 20, 30, 50, 100, 200, 400], ms.grid(), {}
    for degree in (1, 10):
        sets = [ms.data_sets(truth, n, 0.3, 300, np.random.default_rng(n)) for n in sizes]
        fits = [ms.polynomial_fits(x, y, degree, 0.0, points) for x, y in sets]
        terms[degree] = np.array([bias_variance(f, truth(points)) for f in fits])
    slope = np.polyfit(np.log(sizes[4:]), np.log(terms[10][4:, 1]), 1)[0]
    assert -1.25 < slope < -0.9, slope  # variance ~ 1/n once n is well above the degree
    assert terms[1][-1, 0] > 0.4 and terms[10][-1, 0] < 1e-4
    show(*ms.draw_sizes(sizes, terms))

# %% [markdown] covers="moon:5.3 moon:3.1"
# ## Training error is too good: by how much?
#
# Fit $d$ weights to $n$ rows by least squares. The fit at the training inputs is $\hat y = Hy$ with the hat matrix $H = X X^+$, whose trace is $d$.
# The cross term $\varepsilon u$ no longer vanishes *if $\varepsilon$ is the noise of the training targets themselves*: the fit has seen it.
# $\mathbb E\,\frac1n\sum_i \varepsilon_i (Hy)_i = \sigma^2 \operatorname{tr}H/n = \sigma^2 d/n$. So, when the truth lies in the family,
#
# $$\mathbb E[\text{train}] = \sigma^2\Big(1 - \frac dn\Big), \qquad \mathbb E[\text{new targets, same inputs}] = \sigma^2\Big(1 + \frac dn\Big).$$
#
# The notes (moon 3.1) write $E_\text{out} \le E_\text{ml} + \Omega$, error on new data against error of the learned fit, and leave $\Omega$ open. Here the mean gap is $2\sigma^2 d/n$.
#
# At *fresh* inputs the price is higher: $\sigma^2\big(1 + \frac{d}{n-d-1}\big)$ for normal features, without bound as $d \to n$, where the fit goes through every row, noise and all.
# (What happens beyond the peak is the subject of the next notebook.)

# %% covers="moon:5.3 moon:3.1" demo=true
rng, n, d = np.random.default_rng(2), 20, 5
X = rng.normal(size=(n, d))
H, signal = X @ np.linalg.pinv(X), X @ rng.normal(size=d)
noise, new = rng.normal(size=(2, 100_000, n))  # σ = 1
fits = (signal + noise) @ H.T
assert np.isclose(np.trace(H), d)
assert abs(np.mean(noise * (fits - signal)) - d / n) < 0.003
assert abs(np.mean((signal + noise - fits) ** 2) - (1 - d / n)) < 0.005
assert abs(np.mean((signal + new - fits) ** 2) - (1 + d / n)) < 0.005
show(*ms.draw_least_squares())

# %% [markdown] covers="explainers:2.5.2.box-mse"
# ## Why squared error?
#
# Does every loss split into noise + bias + variance? Take the **0–1 loss** at one input where class 1 has probability 0.9. Over data sets, a classifier says 1 with chance $q$.
# The natural guesses: noise 0.1; bias 1 if the *majority vote* over data sets is wrong, else 0; variance the chance to differ from the majority vote.
# Which $q$ would you like to have, 0.1 or 0.4? Both vote wrong, and 0.4 varies more.

# %% covers="explainers:2.5.2.box-mse" demo=true
q, noise = np.array([0.9, 0.6, 0.4, 0.1]), 0.1
risk = q * noise + (1 - q) * (1 - noise)  # says 1 and the label is 0, or the other way round
vote_is_right = q > 0.5
bias, variance = 1.0 - vote_is_right, np.where(vote_is_right, 1 - q, q)
assert not np.allclose(noise + bias + variance, risk)
# What holds: variance hurts where the vote is right and helps where it is wrong.
assert np.allclose((2 * q - 1) * noise + bias + np.where(vote_is_right, 1, -1) * variance, risk)
print("risk", np.round(risk, 2), "  noise + bias + variance", np.round(noise + bias + variance, 2))

# %% [markdown] covers="explainers:2.5.2.box-mse"
# **Cross-entropy does split**, with another kind of mean. Let $t$ be the true class probabilities at one input, and $p_1, \dots, p_S$ the predictions of $S$ trained models.
# With $\mathrm{KL}(a \Vert b) = \sum_c a_c \log(a_c / b_c)$ and natural logarithms,
#
# $$\frac1S\sum_s \Big(\!-\!\sum_c t_c \log p_{s,c}\Big) = \underbrace{-\sum_c t_c \log t_c}_{\text{noise}} + \underbrace{\mathrm{KL}(t \Vert \bar p)}_{\text{bias}} + \underbrace{\tfrac1S\sum_s \mathrm{KL}(\bar p \Vert p_s)}_{\text{variance}}.$$
#
# The centre $\bar p$ averages $\log p$, not $p$: $\log \bar p_c = \frac1S\sum_s \log p_{s,c} + \text{constant}$, the constant making $\bar p$ sum to 1 (a normalised *geometric* mean).
# So squared error is not alone in splitting; it is the loss whose centre is the plain mean. (Both are Bregman divergences: each of these splits so, around its own mean.)

# %% exercise="ce_decompose" points=3 minutes=15 difficulty=3 covers="explainers:2.5.2.box-mse"
def ce_decompose(probs, truth):
    """Noise, bias and variance of the expected cross-entropy, as in the formula above (natural logarithms).

    probs (S, k): predictions of S models for k classes, all > 0, rows sum to 1.
    truth (k,): true class probabilities; some may be 0, and 0 log 0 = 0. Returns (noise, bias, variance).
    probs = [[0.5, 0.5], [0.8, 0.2]] and truth = [1, 0] give (0, 0.4055, 0.0527); the centre is [2/3, 1/3].
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
    probs, t = np.random.default_rng(3).dirichlet([4, 3, 2], 500), np.array([0.7, 0.2, 0.1])
    loss = -np.mean(np.log(probs) @ t)
    terms = ce_decompose(probs, t)
    assert np.isclose(sum(terms), loss)
    plain = probs.mean(axis=0)  # the mean that squared error would take
    naive = terms[0] + t @ np.log(t / plain) + np.mean(np.log(plain / probs) @ plain)
    assert abs(naive - loss) > 0.01
    print(f"loss {loss:.3f}; three terms round the geometric mean {sum(terms):.3f}, round the plain mean {naive:.3f}")

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
rng, pairs = np.random.default_rng(4), []
for _ in range(100):  # repeated, so that the means below are good to a point
    wrong = rng.integers(0, 2, (100, 1000)) != rng.integers(0, 2, 1000)
    best = wrong[:, valid].mean(axis=1).argmin()
    pairs.append((wrong[best, valid].mean(), wrong[best, test].mean()))
print("best of 100: validation error {:.2f}, test error {:.2f}".format(*np.mean(pairs, axis=0)))

# %% [markdown] covers="guo:II.4.a explainers:3.4.2"
# ## Cross-validation
#
# A fifth of the rows gives a noisy estimate, and the model has not learned from them. **k-fold cross-validation** uses every row for both jobs, never at once.
# Put the test rows aside. Cut the others into $k$ folds $D_1, \dots, D_k$; for each $i$ train on $D \setminus D_i$ and validate on $D_i$; average the $k$ scores.
# Choose the setting with the lowest mean, then *train it again on all of $D$* and report on the test rows.
#
# Fold sizes differ by at most one. With $n = 11$ and $k = 4$ the folds hold 3, 3, 3 and 2 rows, in order: rows 0–2, 3–5, 6–8, 9–10. (Shuffle beforehand if the order of the rows means something.)

# %% exercise="cv_scores" points=4 minutes=15 difficulty=2 covers="guo:II.4.a explainers:3.4.2"
def cv_scores(fit, X, y, k):
    """Mean squared validation error of each of k folds.

    fit: a function; fit(X_train, y_train) returns a function that maps new rows X to predictions.
    X (n, d), y (n,), 2 <= k <= n. Folds are consecutive blocks of rows; the first n % k hold one row more. Returns (k,).
    With a fit that always predicts the mean of y_train, y = [0, 0, 3] and k = 3 the scores are [2.25, 2.25, 9].
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
    theirs = -cross_val_score(Ridge(0.1), X, y, cv=KFold(10), scoring="neg_mean_squared_error")
    assert np.allclose(ours, theirs, rtol=1e-12)
    print(f"10 folds, ours and scikit-learn's: mean {ours.mean():.0f}, from {ours.min():.0f} to {ours.max():.0f}")

# %% [markdown] covers="guo:II.4.a"
# How good is the estimate? Here the truth is known, so we can compare, for degree 5 on 60 rows: one split (the first of five folds), 5 folds and 10 folds, each on 200 data sets.
# The dashed line is the true mean risk of a fit to all 60 rows. The estimates lie a little above it, for they judge fits to fewer rows: the size of the training set is itself a source of variation of every score.

# %% covers="guo:II.4.a explainers:3.4.2"
with after(cv_scores):
    def fit(X, y): return lambda new: ms.polynomial_fits(X[:, 0], y, 5, 0.0, new[:, 0])
    x, y = ms.data_sets(truth, 60, 0.3, 200, np.random.default_rng(5))
    order, points = np.random.default_rng(6).permutation(60), ms.grid()
    x, y = x[:, order], y[:, order]  # the slots come sorted
    scores = {k: np.array([cv_scores(fit, a[:, None], b, k) for a, b in zip(x, y, strict=True)]) for k in (5, 10)}
    estimates = {"one split": scores[5][:, 0], "5 folds": scores[5].mean(1), "10 folds": scores[10].mean(1)}
    errors = ms.polynomial_fits(x, y, 5, 0.0, points) - truth(points)
    show(*ms.draw_folds(5, 60, estimates, 0.3**2 + np.mean(errors**2)))

# %% [markdown] covers="explainers:2.1.2.box-linearity"
# **A use at once: is a relation linear?** Compare the variance explained by a line and by a flexible cubic spline. On the training rows the spline always wins, for it contains the line. On held-out rows it wins only if the curve is real.

# %% covers="explainers:2.1.2.box-linearity"
with after(cv_scores):
    def line(x): return np.column_stack([x**0, x])
    def spline(x): return np.column_stack([x**j for j in range(4)] + [np.maximum(x - knot, 0) ** 3 for knot in (-0.5, 0, 0.5)])
    def solve(A, b): return lambda new: new @ np.linalg.lstsq(A, b, rcond=None)[0]
    for name, f in {"a line": lambda x: 2 * x, "a sine": lambda x: np.sin(3 * x)}.items():
        rng = np.random.default_rng(7)
        x = rng.uniform(-1, 1, 100)
        y = f(x) + 0.5 * rng.normal(size=100)
        inside = [1 - np.mean((solve(B(x), y)(B(x)) - y) ** 2) / y.var() for B in (line, spline)]
        held_out = [1 - cv_scores(solve, B(x), y, 10).mean() / y.var() for B in (line, spline)]
        assert inside[1] > inside[0] and (held_out[1] > held_out[0]) == (name == "a sine")
        print(f"{name}: R² of line and spline, training {np.round(inside, 2)}, held out {np.round(held_out, 2)}")

# %% [markdown] covers="explainers:3.4"
# ## Hyperparameters
#
# What training does not set is a **hyperparameter**: the degree, $\lambda$, the number of layers, the learning rate. A bad one underfits, overfits or diverges.
# One knob can do all three. Take degree 15, 20 rows, σ = 0.5, and 300 steps of gradient descent $w \leftarrow w - \eta \nabla L(w)$ from $w = 0$ on the mean squared error $L$.
# Before you run it: what do you expect at a tiny $\eta$, and at a large one?

# %% covers="explainers:3.4" demo=true
x, y = (a[0] for a in ms.data_sets(truth, 20, 0.5, 1, np.random.default_rng(1)))
new_x = ms.grid()
new_y = truth(new_x) + 0.5 * np.random.default_rng(2).normal(size=200)
features, new_features = legvander(x, 15), legvander(new_x, 15)
rates = np.geomspace(1e-4, 2, 27)
w = np.zeros((27, 16))
for _ in range(300):
    w = w - rates[:, None] * 2 / 20 * (w @ features.T - y) @ features
train, valid = np.mean((w @ features.T - y) ** 2, axis=1), np.mean((w @ new_features.T - new_y) ** 2, axis=1)
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
def prob_top(q, n): return 1 - (1 - q) ** n
predict(
    "How many random draws make it 95 % sure that one of them is among the best 5 % of all settings?",
    ["about 20", "about 60", "about 400", "it depends on the number of hyperparameters"],
    truth=lambda: int(np.argmax(prob_top(0.05, np.array([20, 60, 400])) >= 0.95)),
    because=f"Each draw misses the top 5 % with chance 0.95, and 1 - 0.95^60 = {prob_top(0.05, 60):.3f}, in any dimension.",
)

# %% exercise="random_search" points=3 minutes=12 difficulty=2 covers="explainers:3.4.1"
def random_search(objective, low, high, n, rng):
    """The best of n random settings, each hyperparameter log-uniform between low and high.

    objective: function (m,) -> loss; the loss is nan where training diverged. At least one is a number.
    low, high (m,), positive. rng: NumPy generator; draw u = rng.random((n, m)), row i for setting i.
    Returns (setting (m,), loss) of the lowest loss. With low = [1], high = [100], u = 0.5 gives the setting [10].
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
# Look at the ticks below the points: how many values of the important one does each method try?

# %% covers="explainers:3.4.1"
with after(random_search):
    low, high, rng = np.array([1e-4, 1e-4]), np.array([1.0, 1.0]), np.random.default_rng(8)
    centres, budgets = rng.uniform(-4, 0, (200, 2)), np.array([4, 9, 16, 25, 36])
    def loss(log_h, c): return (log_h - c) ** 2 @ np.array([1, 0.02])
    def box(g): return np.stack(np.meshgrid(*2 * [-4 + 4 * (np.arange(g) + 0.5) / g]), -1).reshape(-1, 2)
    on_grid = [np.mean([loss(box(g), c).min() for c in centres]) for g in (2, 3, 4, 5, 6)]
    def search(c, n): return random_search(lambda h: loss(np.log10(h), c), low, high, n, rng)[1]
    at_random = [np.mean([search(c, n) for c in centres]) for n in budgets]
    seen = []
    random_search(lambda h: seen.append(np.log10(h)) or loss(seen[-1], centres[0]), low, high, 25, rng)
    show(*ms.draw_search(box(5), np.array(seen), centres[0], budgets, on_grid, at_random))

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
    """Expected lowest test error rate of M models with true error p, each on n independent cases.

    p in [0, 1], n >= 1, M >= 1 -> a number between 0 and p. The mistakes of different models are independent.
    expected_best(0.5, 1, 2) is 0.25: both must be wrong.
    """
    ### BEGIN SOLUTION
    return np.sum(binom.sf(np.arange(n), n, p) ** M) / n
    ### END SOLUTION

# %% check="expected_best"
check(expected_best)

# %% [markdown] covers="explainers:3.4.3 moon:3.1"
# A hundred models of true error 0.10 on a thousand cases: the winner reports 0.077. And a bound in the form $E_\text{out} \le E_\text{in} + \Omega$ for the best of $M$:
# with probability $1 - \delta$ it holds for all $M$ at once when $\Omega = \sqrt{\ln(M/\delta)/(2n)}$ (Hoeffding's inequality, summed over the models).
#
# **Find out below:** how many test cases make the best of 100 honest to one point (0.01)? Real models make many of the same mistakes: what does an agreement of 0.9 do
# (on 0.9 of the cases a model copies a common pattern of mistakes)? What does a refreshed benchmark say of the winners?

# %% covers="explainers:3.4.3 moon:3.1"
with after(expected_best):
    p, n, M = 0.1, 1000, 100
    lowest = np.random.default_rng(9).binomial(n, p, (5000, M)).min(axis=1) / n
    assert abs(lowest.mean() - expected_best(p, n, M)) < 4 * lowest.std() / np.sqrt(5000)
    bound = np.sqrt(np.log(M / 0.05) / (2 * n))
    assert np.mean(p > lowest + bound) <= 0.05
    print(f"best of {M}: expected {expected_best(p, n, M):.3f}, simulated {lowest.mean():.3f}, Ω at 95 % {bound:.3f}")
    print("best of 1, 10, 100, 1000:", *(f"{expected_best(p, n, m):.3f}" for m in (1, 10, 100, 1000)))

# %% covers="explainers:3.4.3"
explore(
    ms.draw_benchmark,
    models=SelectionSlider(value=100, options=[1, 3, 10, 30, 100, 300, 1000], description="models M"),
    n=SelectionSlider(value=1000, options=[100, 300, 1000, 3000, 10000], description="test cases n"),
    agreement=FloatSlider(0.0, min=0, max=1, step=0.1, description="agreement"),
    fresh=Checkbox(False, description="refresh the benchmark"),
)

# %% [markdown] covers="explainers:3.4.2 wu:10.6.8"
# ## On real data
#
# **A protocol from end to end.** A support vector machine on the breast cancer data. Its penalty $C$ is chosen from the eleven values $2^{-5}, 2^{-3}, \dots, 2^{15}$ by your ten-fold cross-validation
# (the squared error of 0/1 labels is the share of mistakes). The one-standard-error rule takes the smallest $C$ whose mean lies within one standard error of the best. Even the scaling is learned from the training rows alone.

# %% covers="explainers:3.4.2 wu:10.6.8"
with after(cv_scores):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    X, y = data.breast_cancer().X, data.breast_cancer().y.astype(float)
    rest, test = split(len(y), (0.8, 0.2), seed=1)
    def learner(C): return lambda A, b: make_pipeline(StandardScaler(), SVC(C=C)).fit(A, b).predict
    values = 2.0 ** np.arange(-5, 16, 2)
    scores = np.array([cv_scores(learner(C), X[rest], y[rest], 10) for C in values])
    mean, error = scores.mean(axis=1), scores.std(axis=1, ddof=1) / np.sqrt(10)
    chosen = int(np.argmax(mean <= mean.min() + error[mean.argmin()]))
    report = np.mean(learner(values[chosen])(X[rest], y[rest])(X[test]) != y[test])
    print(f"chosen C = {values[chosen]:g}: validation error {mean[chosen]:.3f}, test error, looked at once, {report:.3f}")
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
    gram = X[train].T @ X[train] * used[:, :, None] * used[:, None] + np.eye(10) * np.where(used, lam[:, None], 1)[:, None]
    moments = X[train].T @ (y[train] - y[train].mean()) * used
    errors = (X @ np.linalg.solve(gram, moments[..., None])[..., 0].T + y[train].mean() - y[:, None]) ** 2
    reported, true = errors[test].mean(axis=0), errors[fresh].mean(axis=0)
    results.append([(reported[:m].min(), true[reported[:m].argmin()]) for m in counts])
show(*ms.draw_luck(counts, *np.mean(results, axis=0).T))

# %% [markdown] covers="wu:10.10.7 guo:II.4"
# ## Take-aways
#
# - Expected squared error = noise + squared bias + variance. Noise is a floor. More data cuts variance like $1/n$; a richer family cuts bias; ridge trades a little bias for much variance.
# - The identity needs test noise that is independent of the fit. Training noise is not: training error is too low by $2\sigma^2 d/n$ against new targets at the same inputs.
# - Match complexity to the amount of data: few rows, simple model. An $L_2$ penalty for smooth truths, $L_1$ for sparse ones, early stopping before the noise is learned; watch the gap between training and validation as you go.
# - Fit on training rows (scaling and feature choice included), choose by cross-validation, train again on all of them, report once on test rows.
# - Random search beats a grid where few hyperparameters matter; 60 draws reach the top 5 % with probability 0.954.
# - The best of many is better than the average, *and* its score flatters it: the more, the more you compare and the fewer the cases. Keep validation and test apart, and refresh a benchmark that everybody has tuned on.
#
# ## What the notes got wrong
#
# Two of these are ideas, not slips: bias is not flexibility, and variance does not live inside one fit. The cells below prove each.

# %% covers="guo:II.5 moon:3.1" demo=true
x, y = ms.data_sets(truth, 30, 0.3, 300, np.random.default_rng(0))
fits = {degree: ms.polynomial_fits(x, y, degree, 0.0, ms.grid()) for degree in (1, 5)}
bias = {degree: f.mean(axis=0) - truth(ms.grid()) for degree, f in fits.items()}
size = {degree: np.mean(b**2) for degree, b in bias.items()}
erratum("guo:II.5", "bias is the flexibility of the model class, so degree 5 has more of it than degree 1",
        r"bias is the systematic error $\mathbb E\hat f - f$, and falls as flexibility grows",
        printed_holds=size[5] > size[1], corrected_holds=size[5] < size[1])  # fmt: skip
risk, variance = np.mean((fits[1] - truth(ms.grid())) ** 2, axis=0), fits[1].var(axis=0)
erratum("guo:II.5", "variance is how much the model fluctuates within itself: along one fitted curve",
        "variance is how much the fit at a point fluctuates from training set to training set",
        printed_holds=np.isclose(size[1] + fits[1].var(axis=1).mean(), risk.mean()),
        corrected_holds=np.isclose(size[1] + variance.mean(), risk.mean()))  # fmt: skip
erratum("moon:3.1", r"$(\bar g(x) - f(x))^2$ is the bias", r"$\bar g(x) - f(x)$ is the bias; the decomposition holds its square",
        printed_holds=np.allclose((bias[1] ** 2) ** 2 + variance, risk), corrected_holds=np.allclose(bias[1] ** 2 + variance, risk))  # fmt: skip
erratum("moon:3.1", r"the error of a single instance $x$ is $\mathbb E_X[(g^{(D)}(x) - f(x))^2]$",
        r"the error at $x$ is $(g^{(D)}(x) - f(x))^2$; its mean over $X$ belongs to no single $x$",
        printed_holds=np.allclose(risk, risk.mean()), corrected_holds=np.allclose(bias[1] ** 2 + variance, risk))  # fmt: skip

# %% covers="moon:3.1.1 explainers:3.4.1 guo:II.4" demo=true
values, fit_values = np.array([1.0, 2.0, 6.0]), fits[5][:, 0]
erratum("moon:3.1.1", r"$\mathrm{Var}[\hat f(x)] = \mathbb E[X^2] - \mathbb E[X]^2$ for any random variable $X$",
        r"$\mathrm{Var}[X] = \mathbb E[X^2] - \mathbb E[X]^2$",
        printed_holds=np.isclose(fit_values.var(), np.mean(values**2) - values.mean() ** 2),
        corrected_holds=np.isclose(values.var(), np.mean(values**2) - values.mean() ** 2))  # fmt: skip
erratum("moon:3.1", "$q$: learning function", r"$g$: learning function; every later formula writes $g^{(D)}$ and $\bar g$")
erratum("explainers:3.4.1", r"$\Omega_1 \times \dots \times \Omega_m$", r"$\Omega_{h_1} \times \dots \times \Omega_{h_m}$, as the factors were named")
erratum("guo:II.4", r"$(x_n, y_n) \in P(x; y)$", r"$(x_n, y_n) \sim P(x, y)$: rows are drawn from a distribution, which is not a set")

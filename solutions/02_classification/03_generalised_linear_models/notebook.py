# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] minutes=90 builds="one fitting step for every kind of target: any number, yes or no, counts, classes"
# # Generalised linear models and softmax
#
# Lectures: guo I.3 and II.1–II.3 · wu 2.8 · cs480 4 (eq. 4.b).
#
# Least squares wants targets that may be any number. Yours are counts, or yes and no, or one of ten classes. Must you start again for each?
# At the end you can
#
# - go from the values that a target may take to a distribution, an inverse link and a loss;
# - fit Gaussian, Bernoulli, Poisson and categorical targets with any inverse link, by one step that you wrote;
# - bend a linear model with feature expansions, and say what stays linear;
# - write softmax, its loss and its gradient so that they survive scores of ten thousand.
#
# Known from `01_regression/02_multiple_regression`: least squares and its matrix form. From `02_classification/02_logistic_regression`: the sigmoid, odds and the Bernoulli likelihood.

# %%
import numpy as np
import sympy
import torch
from ipywidgets import Dropdown, FloatSlider, IntSlider
from scipy import stats
from scipy.special import expit, logsumexp

import descent.pictures.classification.generalised_linear_models as glm
from descent import after, check, data, erratum, explore, hint, predict, show, start

start("02_classification/03_generalised_linear_models")

# %% [markdown] covers="guo:I.3 guo:I"
# ## Why it matters
#
# Two data sets with a history. Left: the 23 space shuttle flights before *Challenger* whose boosters were recovered, the temperature of their joints at launch, and whether a rubber O-ring that seals them was damaged (Dalal and others, 1989).
# On the morning of 28 January 1986 it was 31 °F (−1 °C). Right: deaths from AIDS in Australia in each quarter from 1983 on (Whyte and others, 1987; an example of Dobson's textbook on these models).
#
# A straight line can be fitted to both. What does it claim at the left edge of each panel?

# %% covers="guo:I.3"
show(*glm.draw_why())

# %% [markdown] covers="guo:I.3 guo:I.3.a"
# ## A recipe in three steps
#
# 1. **Look at the support**: which values can the target $y$ take?
# 2. **Choose a distribution** $p(y; \theta)$ with that support: the *family*.
# 3. **Let a linear score set its mean**: $\mathbb E[y \mid x] = \mu = h(\eta)$ with the *score* $\eta = w^\top x$. The *inverse link* $h$ maps every real score to a possible mean. Its inverse $g = h^{-1}$ is the *link*.
#
# Then $w$ is found by maximum likelihood. That is all: a **generalised linear model** (GLM).
#
# | family | support of $y$ | possible $\mu$ | canonical $h(\eta)$ | $A(\eta)$ | variance $V(\mu)$ |
# |---|---|---|---|---|---|
# | Gaussian ($\sigma = 1$) | all numbers | all numbers | $\eta$ | $\eta^2/2$ | $1$ |
# | Bernoulli | 0, 1 | $(0, 1)$ | $\sigma(\eta) = \frac{1}{1+e^{-\eta}}$ | $\log(1 + e^\eta)$ | $\mu(1-\mu)$ |
# | Poisson | 0, 1, 2, … | $(0, \infty)$ | $e^\eta$ | $e^\eta$ | $\mu$ |
# | categorical | one of $K$ classes | positive, sum 1 | softmax | $\log\sum_k e^{\eta_k}$ | (a matrix, later) |
#
# What makes the fourth column *canonical*? With it, the negative log-likelihood of one row has the form
#
# $$-\log p(y; \eta) = A(\eta) - y\,\eta + \text{a term without } \eta, \qquad A'(\eta) = \mu, \quad A''(\eta) = V(\mu) .$$
#
# The cell checks both derivatives of $A$ against the mean and variance that SciPy knows. (A Gaussian with another standard deviation $\sigma$ has the same best $w$: $\sigma$ only rescales the loss. With an argument, $\sigma(\eta)$ is the sigmoid.)

# %% covers="guo:I.3" demo=true
A = {
    "gaussian": lambda e: e**2 / 2,
    "bernoulli": lambda e: np.log1p(np.exp(e)),
    "poisson": np.exp,
}
P = {
    "gaussian": lambda e: stats.norm(e, 1),
    "bernoulli": lambda e: stats.bernoulli(expit(e)),
    "poisson": lambda e: stats.poisson(np.exp(e)),
}
h = 1e-3
for family, a in A.items():
    first = (a(0.7 + h) - a(0.7 - h)) / (2 * h)
    second = (a(0.7 + h) - 2 * a(0.7) + a(0.7 - h)) / h**2
    assert np.allclose([first, second], P[family](0.7).stats("mv"), rtol=1e-5)
    log_p = "logpdf" if family == "gaussian" else "logpmf"
    rest = [getattr(P[family](e), log_p)(1) + a(e) - 1 * e for e in (0.7, -0.4)]
    assert np.isclose(*rest)  # for y = 1: what is left does not depend on η

# %% [markdown] covers="guo:I.3 guo:I.3.a"
# ## One gradient for three families
#
# Take $n$ rows $x_i$ (the rows of $X$) and the mean loss $\ell(w) = \frac1n \sum_i \big(A(\eta_i) - y_i \eta_i\big)$, $\eta_i = w^\top x_i$. The chain rule needs one line:
#
# $$\nabla \ell(w) = \frac1n \sum_i \big(A'(\eta_i) - y_i\big)\, x_i = \frac1n X^\top(\mu - y).$$
#
# Features times errors, whatever the family. For the Gaussian this is *half* the mean squared error, hence no factor 2. `expit` is the sigmoid, without overflow.


# %% exercise="glm_grad" points=3 minutes=10 difficulty=1 covers="guo:I.3 guo:I.3.a"
def glm_grad(X, y, w, family):
    """Gradient of the mean negative log-likelihood under the canonical link.

    X (n, d), y (n,), w (d,); family is "gaussian" (σ = 1), "bernoulli" or "poisson".
    Returns (d,).
    X = [[1, 0], [1, 2]], y = [1, 0] and w = [0, 0] give
    gaussian [-0.5, 0], bernoulli [0, 0.5], poisson [0.5, 1].
    """
    ### BEGIN SOLUTION
    eta = X @ w
    if family == "bernoulli":
        mu = expit(eta)
    elif family == "poisson":
        mu = np.exp(eta)
    else:
        mu = eta
    return X.T @ (mu - y) / len(y)
    ### END SOLUTION


# %% check="glm_grad"
check(glm_grad)

# %% covers="guo:I.3 guo:I.3.a"
with after(glm_grad):  # PyTorch has the three losses, and differentiates them by itself
    from torch.nn import functional as F

    losses = {
        "gaussian": lambda eta, y: F.mse_loss(eta, y) / 2,
        "bernoulli": F.binary_cross_entropy_with_logits,
        "poisson": F.poisson_nll_loss,
    }
    X, w = np.random.default_rng(0).normal(size=(2, 20, 3))[0], np.array([0.5, -1, 0.3])
    y = np.random.default_rng(1).integers(0, 2, 20) * 1.0  # in the support of all three
    for family, loss in losses.items():
        leaf = torch.tensor(w, requires_grad=True)
        loss(torch.tensor(X) @ leaf, torch.tensor(y)).backward()
        assert np.allclose(glm_grad(X, y, w, family), leaf.grad)
    print("your gradient = PyTorch's, for", *losses)

# %% [markdown] covers="guo:I.3"
# ## Any inverse link
#
# Canonical is convenient, not compulsory. Counts may have the mean $\eta^2$ (with $\eta > 0$); a probability may be the normal distribution function $\Phi(\eta)$ (*probit*) or $1 - e^{-e^\eta}$ (*cloglog*: the chance of at least one event when events are Poisson with mean $e^\eta$).
# Write $h'$ for the slope of the inverse link. For each of the three families $\frac{\partial}{\partial\mu} \log p = \frac{y - \mu}{V(\mu)}$, so the log-likelihood of all rows has the gradient (the **score vector**)
#
# $$U = \sum_i \frac{(y_i - \mu_i)\, h'(\eta_i)}{V(\mu_i)}\, x_i .$$
#
# Under the canonical link $h' = A'' = V$, and the fraction cancels. The expected square of one row's factor is the row's **information**:
# since $\mathbb E (y - \mu)^2 = V$, it is $h'^2/V$. Hence the Fisher information matrix
#
# $$I = \sum_i \frac{h'(\eta_i)^2}{V(\mu_i)}\, x_i x_i^\top .$$
#
# The cell checks $U$ by finite differences for ten pairs of family and link, and the expected square by summing over all values of $y$.

# %% covers="guo:I.3" demo=true
rng, e = np.random.default_rng(2), 1e-6
X, w = glm.with_ones(rng.uniform(-1, 1, 30)), np.array([0.5, 0.2])
y, eta = rng.integers(0, 2, 30) * 1.0, X @ w  # scores between 0.3 and 0.7
pairs = [(f, k) for f in glm.VARIANCES for k in ("identity", "sqrt")]
pairs += [("gaussian", "log"), ("poisson", "log"), ("bernoulli", "probit")]
for family, name in [*pairs, ("bernoulli", "cloglog")]:
    link, V = glm.LINKS[name], glm.VARIANCES[family]

    def loss(w, h=link.mean, f=family):
        return glm.nll(y, h(X @ w), f)

    mu = link.mean(eta)
    U = X.T @ ((y - mu) * link.slope(eta) / V(mu))
    numeric = [(loss(w + v) - loss(w - v)) / (2 * e) for v in e * np.eye(2)]
    assert np.allclose(-U, numeric, rtol=1e-5, atol=1e-6), (family, name)

counts = np.arange(60)  # beyond 59 nothing is left of a Poisson with mean below 1
mean, slope = 0.8**2, 2 * 0.8  # Poisson, square-root link, score 0.8
squares = ((counts - mean) * slope / mean) ** 2
assert np.isclose(stats.poisson(mean).pmf(counts) @ squares, slope**2 / mean)

# %% [markdown] covers="guo:I.3"
# Newton's method divides the gradient by the curvature. **Fisher scoring** divides by the *expected* curvature $I$, which has no negative eigenvalue whatever the link:
#
# $$w \leftarrow w + I^{-1} U .$$
#
# (Under the canonical link the curvature does not depend on $y$, so the two methods are one. The step also solves a weighted least-squares problem; its other name is *iteratively reweighted least squares*.)
#
# Write one step. The family enters through its variance function, the link through its mean and its slope. Nothing else is needed.


# %% exercise="glm_step" points=4 minutes=15 difficulty=3 covers="guo:I.3"
def glm_step(X, y, w, mean, slope, variance):
    """One step of Fisher scoring for any family and any inverse link.

    X (n, d) with independent columns, y (n,), w (d,).
    mean, slope: functions of the scores eta (n,) -> (n,): h and its derivative h'.
    variance: function of the means mu (n,) -> (n,). Slopes are not zero
    (the mean may fall as the score rises: slopes < 0), variances > 0.
    Returns the new weights (d,).
    X = [[1], [1]], y = [1, 3], w = [0], mean = slope = np.exp and variance(mu) = mu
    give [1.0]: the means are 1, the score vector is 2 and the information is 2.
    """
    ### BEGIN SOLUTION
    eta = X @ w
    mu, s = mean(eta), slope(eta)
    v = variance(mu)
    score = X.T @ ((y - mu) * s / v)
    information = X.T @ (X * (s**2 / v)[:, None])
    return w + np.linalg.solve(information, score)
    ### END SOLUTION


# %% check="glm_step"
check(glm_step)

# %% covers="guo:I.3"
with after(glm_step):
    X, y, poisson = glm.with_ones(glm.QUARTERS), glm.DEATHS, glm.VARIANCES["poisson"]
    w = np.array([np.log(y.mean()), 0.0])  # start: the same mean for all quarters
    for step in range(9):
        if step % 2 == 0:
            print(f"after {step} steps: w = {w.round(4)}")
        w = np.asarray(glm_step(X, y, w, np.exp, np.exp, poisson))
    assert np.allclose(w, [0.33963, 0.25652], atol=1e-5)  # what R's glm prints
    mu = np.exp(X @ w)
    assert np.isclose(mu.sum(), y.sum())  # the first entry of Xᵀ(μ - y) = 0
    lack = glm.deviance(y, mu, "poisson")
    print(f"sum of the means {mu.sum():.2f}, deviance {lack:.2f}")

# %% [markdown] covers="guo:I.3 guo:I.3.a"
# **Read the weights.** Under a log link effects multiply: one quarter more multiplies the mean by $e^{0.2565} = 1.29$, so the deaths double every $\log 2 / 0.2565 = 2.7$ quarters. Under the logit link they multiply the *odds*.
# The **deviance** is the measure of misfit that takes the place of the squared error: twice the log-likelihood that these means lack against means that equal the data. For the Gaussian it *is* the sum of squares.
#
# **And the sum.** At this optimum $X^\top(\mu - y) = 0$. Its first entry, from the ones column, says that the fitted means add up to the data: 219 deaths.
# Now the O-rings, with three links, and scikit-learn as referee. `glm.fit` repeats your step until it rests (and halves a step that would lower the likelihood).

# %%
predict(
    "7 of the 23 flights had damage. Do the 23 fitted probabilities add up to 7?",
    [
        "yes, under the logit and under the probit link",
        "under the logit link only",
        "under the probit link only",
        "under neither",
    ],
    truth=1,
    because="Under the canonical link the errors μ - y themselves sum to 0. Under the "
    "probit link they are weighted by slope / variance first.",
)

# %% covers="guo:I.3 guo:I.3.a"
with after(glm_step):
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.linear_model import PoissonRegressor

    X, y = glm.with_ones(glm.TEMPERATURES), glm.DAMAGE
    for link in ("logit", "probit", "cloglog"):
        w = glm.fit(glm_step, X, y, "bernoulli", link)
        at = glm.LINKS[link].mean(w[0] + w[1] * np.array([glm.LAUNCH, 55, 65, 75]))
        total = glm.LINKS[link].mean(X @ w).sum()
        assert np.isclose(total, 7) == (link == "logit")
        print(f"{link:8}sum {total:.2f}, P(damage) at 31, 55, 65, 75 °F: {at.round(2)}")
    w = glm.fit(glm_step, X, y, "bernoulli", "logit")
    assert np.allclose(w, [15.0429, -0.23216], atol=1e-4)
    plain = dict(fit_intercept=False, tol=1e-9, max_iter=10_000)  # X has its own ones
    theirs = LogisticRegression(C=np.inf, solver="newton-cholesky", **plain)
    assert np.allclose(theirs.fit(X, y).coef_[0], w, rtol=1e-4)
    X, y = glm.with_ones(glm.QUARTERS), glm.DEATHS
    theirs = PoissonRegressor(alpha=0, solver="newton-cholesky", **plain).fit(X, y)
    w = glm.fit(glm_step, X, y, "poisson", "log")
    assert np.allclose(theirs.coef_, w, rtol=1e-4)
    theirs = LinearRegression(fit_intercept=False).fit(X, y)
    assert np.allclose(theirs.coef_, glm.fit(glm_step, X, y, "gaussian", "identity"))

# %% [markdown] covers="guo:I.3"
# All three links put damage at 31 °F near certainty. But no flight was colder than 53 °F: that number is extrapolation, and the links agree there only because each flattens out at 1.
#
# **Find out: which of the two knobs does what?** The explorer fits with your `glm_step`.
#
# 1. *Deaths*, Gaussian, identity: where are the means impossible? Which *single* change mends it everywhere: another family or another link?
# 2. *Deaths*, log link: change from Gaussian to Poisson. The mean moves: which end of the data does it obey more closely now, and why? What happens to the band for new rows? (The Gaussian trusts all rows alike. Which rows does a Poisson trust most?)
# 3. *O-rings*: which links keep the probability between 0 and 1 at 31 °F? What goes wrong with the Poisson family and the log link, although 0 and 1 are counts?
# 4. *Diabetes* (the score minus its mean): which families refuse, and why? What is wrong with the log link there?
#
# So compare two ranges, that of the inverse link and that of the means the target can have. Too wide: impossible means. Too narrow: data out of reach. Equal: right.

# %% covers="guo:I.3"
with after(glm_step):
    explore(
        glm.family_link_explorer(glm_step),
        dataset=Dropdown(options=list(glm.cases()), description="data"),
        family=Dropdown(options=list(glm.VARIANCES), description="family"),
        link=Dropdown(options=list(glm.LINKS), description="link"),
    )

# %% [markdown] written="choose_the_recipe" points=3 minutes=6 covers="guo:I.3"
# ### In your own words
#
# Use the recipe for three targets: (a) the goals of a team in one match, from its home advantage and its strength; (b) the height of a child in cm, from its age; (c) which of four buses somebody takes, from the hour.
# For each name the support, a family and a canonical inverse link. For (a) say what a weight of 0.3 on "plays at home" (0 or 1) means, and for (b) one way in which the family's support is not quite right and why that does little harm.
#
# ### BEGIN SOLUTION
# (a) Whole numbers from 0: Poisson, exponential. Playing at home multiplies the expected goals by e^0.3 = 1.35. (b) Numbers: Gaussian, identity. Heights are positive and the Gaussian is not, but its mass below 0 is negligible when the
# mean is many standard deviations above 0. (c) One of four classes: categorical, softmax over four scores (three are free).
#
# **Rubric**
# - 1: support, family and inverse link are right for all three targets (half for two)
# - 1: the weight 0.3 multiplies the expected count by about 1.35
# - 1: negative heights are in the support, with next to no probability
# ### END SOLUTION

# %% [markdown] covers="guo:II.1 guo:II explainers:2.1.box-linear"
# ## Features: a bias, and powers
#
# The score takes any number of features: $\eta = w^\top x$ with $x, w \in \mathbb R^d$. Two expansions recur.
#
# - **A bias.** Put $\tilde x = [1; x]$ and $\tilde w = [w_0; w]$; then $\tilde w^\top \tilde x = w_0 + w^\top x$. The ones column in `glm.with_ones` did this all along.
# - **Powers.** A single $x$ becomes $\tilde x = [x^0, x^1, \dots, x^K]$, and $\mathbb E[y \mid x] = h\big(\sum_{k=0}^K w_k x^k\big)$.
#
# Is that model still linear? In $x$, no. In $w$, yes: the score of $w + v$ is the sum of their scores. Everything above used only this, so every fit above works unchanged. (With $h \ne$ identity the *mean* is not linear in $w$, the score is.)


# %% exercise="poly_features" points=2 minutes=5 difficulty=1 covers="guo:II.1"
def poly_features(x, K):
    """Powers of x as columns.

    x (n,), K >= 0 -> (n, K + 1): column k is x to the power k; column 0 is all ones.
    x = [2, 0] and K = 3 give [[1, 2, 4, 8], [1, 0, 0, 0]].
    """
    ### BEGIN SOLUTION
    return x[:, None] ** np.arange(K + 1)
    ### END SOLUTION


# %% check="poly_features"
check(poly_features)

# %% covers="guo:II.1 explainers:2.1.box-linear"
with after(poly_features):
    rng = np.random.default_rng(3)
    x, true = rng.uniform(-1, 1, 30), np.array([1.0, -2.0, 0.5, 3.0])
    y = poly_features(x, 3) @ true + 0.2 * rng.normal(size=30)

    def fit_poly(x, y, K):
        return np.linalg.lstsq(poly_features(x, K), y, rcond=None)[0]

    b, slope = fit_poly(x, y, 1)  # with a ones column
    centred = x - x.mean()
    assert np.isclose(slope, centred @ y / (centred @ centred))  # a line with a bias
    assert np.isclose(b, y.mean() - slope * x.mean())
    assert np.allclose(fit_poly(x, y, 5)[::-1], np.polyfit(x, y, 5))  # highest first
    assert np.allclose(fit_poly(x, poly_features(x, 3) @ true, 3), true)
    u, v, X = *rng.normal(size=(2, 4)), np.asarray(poly_features(x, 3))
    assert np.allclose(X @ (u + 2 * v), X @ u + 2 * X @ v)  # linear in w …
    assert not np.allclose(poly_features(2 * x, 3) @ u, 2 * X @ u)  # … and not in x

# %% [markdown] covers="guo:II.1"
# **Find out:** a polynomial score for the deaths (time is scaled to −1 … 1 first). (1) Gaussian: do more powers cure the negative means? Would you believe degree 8 between the quarters? (2) Poisson: how far does the deviance fall from degree 1 to 2, and from 2 to 3? Where would you stop?
# (3) Watch the columns of the design matrix and its condition number as the degree grows. What happens to neighbouring columns?

# %% covers="guo:II.1"
with after(poly_features, glm_step):
    explore(
        glm.degree_explorer(poly_features, glm_step),
        degree=IntSlider(1, max=8, description="degree", continuous_update=False),
        family=Dropdown(options=["gaussian", "poisson"], description="family"),
    )

# %% [markdown] covers="guo:II.1 guo:I.3"
# **The right feature beats a high degree.** Replace $t$ by $\log t$ and keep two weights: $\log \mu = a + b \log t$ says $\mu = e^a\, t^{\,b}$, growth like a *power* of time instead of a constant factor a quarter. The link did not change, the feature did.
# If a Poisson model is right, its deviance is near its degrees of freedom, rows minus weights (roughly, when the means are not small). Which of the two models is credible?

# %% covers="guo:II.1 guo:I.3"
with after(glm_step):
    fits = {}
    for name, f in {"t": lambda t: t, "log t": np.log}.items():
        X = glm.with_ones(f(glm.QUARTERS))
        w = glm.fit(glm_step, X, glm.DEATHS, "poisson", "log")
        curve = np.exp(glm.with_ones(f(np.linspace(1, 14, 131))) @ w)
        fits[name] = curve, glm.deviance(glm.DEATHS, np.exp(X @ w), "poisson")
        lack = fits[name][1]
        print(f"{name:6}w = {w.round(3)}, deviance {lack:.1f}, 12 degrees of freedom")
    assert np.allclose([fits["t"][1], fits["log t"][1]], [29.65, 17.09], atol=0.01)
    show(*glm.draw_two_features(fits))

# %% [markdown] covers="guo:II.2"
# ## Several outputs at once
#
# Let $y \in \mathbb R^K$ and $\mathbb E[y \mid x] = h(W^\top x)$ with $W = [w_1 \dots w_K]$, a $d \times K$ matrix: one column of weights for each output. For a Gaussian with covariance $\sigma^2 I$ and $h$ = identity the loss is
#
# $$\ell(W) = \frac1n \sum_i \sum_k (y_{i,k} - w_k^\top x_i)^2 .$$
#
# Column $k$ appears in the terms of output $k$ only: the joint fit is $K$ separate fits. And if the noise of the outputs is *correlated*, with covariance $\Sigma$? Then the loss mixes them, $\frac1n\sum_i (y_i - W^\top x_i)^\top \Sigma^{-1} (y_i - W^\top x_i)$.
# Setting its gradient to 0 gives $X^\top X W \Sigma^{-1} = X^\top Y \Sigma^{-1}$, and $\Sigma^{-1}$ cancels.


# %% exercise="fit_multi" points=2 minutes=5 difficulty=1 covers="guo:II.2"
def fit_multi(X, Y):
    """Least-squares weights of several outputs.

    X (n, d) with independent columns (a column of ones, if wanted, is one of them),
    Y (n, K): one column an output.
    Returns (d, K): column k holds the weights of output k.
    X = [[1], [1]] and Y = [[1, 10], [3, 30]] give [[2, 20]].
    """
    ### BEGIN SOLUTION
    return np.linalg.lstsq(X, Y, rcond=None)[0]
    ### END SOLUTION


# %% check="fit_multi"
check(fit_multi)

# %%
predict(
    "Petal length and width are fitted together from sepal length and width, and the "
    "errors of the two outputs are correlated. Does a joint fit that knows the "
    "correlation differ from two separate fits?",
    ["yes, it borrows strength", "no, the weights are the same", "only with few rows"],
    truth=1,
    because="All outputs share the same X, so Σ cancels. (With other features for each "
    "output it would not.)",
)

# %% covers="guo:II.2"
with after(fit_multi):
    flowers = data.iris().X
    X, Y = glm.with_ones(*flowers[:, :2].T), flowers[:, 2:]  # sepals -> petals, n = 150
    W = np.asarray(fit_multi(X, Y))
    apart = np.column_stack([np.linalg.lstsq(X, y, rcond=None)[0] for y in Y.T])
    assert np.allclose(W, apart)
    terms = [(Y[i, k] - W[:, k] @ X[i]) ** 2 for i in range(150) for k in range(2)]
    assert np.isclose(sum(terms) / 150, np.sum((Y - X @ W) ** 2) / 150)
    S = np.cov((Y - X @ W).T)
    P = np.linalg.inv(S)
    joint = np.linalg.solve(np.kron(P, X.T @ X), (X.T @ Y @ P).ravel(order="F"))
    assert np.allclose(joint.reshape(3, 2, order="F"), W)  # 6 equations at once, same W
    print(f"correlation of the two errors: {S[0, 1] / np.sqrt(S[0, 0] * S[1, 1]):.2f}")

# %% [markdown] covers="guo:II.3 wu:2.8 explainers:4.1.2"
# ## Classes: one-hot labels and the categorical family
#
# Now $y$ is one of $K$ classes. Step 1 of the recipe: what is the support? The numbers 0, 1, 2 will not do: class 2 is not twice class 1. So a label becomes a **one-hot** vector in $\{0, 1\}^K$, a 1 at its class, 0 elsewhere: the outcomes are the $K$ corners of a simplex.
# Step 2: the **categorical** distribution gives class $k$ the probability $\pi_k$,
#
# $$p(y; \pi) = \prod_k \pi_k^{y_k} = \pi_{\text{true class}}, \qquad \pi_k \ge 0, \quad \textstyle\sum_k \pi_k = 1 .$$
#
# All factors but one are $\pi_k^0 = 1$. The mean of a one-hot vector is $\mathbb E[y] = \pi$: classification is regression onto the probability simplex.


# %% exercise="one_hot" points=1 minutes=4 difficulty=1 covers="wu:2.8 guo:II.3"
def one_hot(labels, K):
    """Labels as indicator vectors.

    labels (n,): integers from 0 to K - 1; not every class need occur.
    Returns numbers, (n, K): a 1 in column labels[i] of row i, 0 elsewhere.
    labels = [2, 0] and K = 3 give [[0, 0, 1], [1, 0, 0]].
    """
    ### BEGIN SOLUTION
    return np.eye(K)[labels]
    ### END SOLUTION


# %% check="one_hot"
check(one_hot)

# %% [markdown] covers="guo:II.3 wu:2.8 wu:2.8.3 cs480:eq4.b"
# ## Softmax
#
# Step 3: which inverse link maps $K$ real scores $z \in \mathbb R^K$ (also called *logits*) to a point of the simplex? Make them positive, then divide by the sum:
#
# $$\pi_k = \operatorname{softmax}(z)_k = \frac{e^{z_k}}{\sum_j e^{z_j}}, \qquad z = W^\top x .$$
#
# Take logs: $z_k = \log \pi_k + \log\sum_j e^{z_j}$. A score is a log-probability up to a constant that all classes share. Adding 5 to all scores changes nothing, and there lies the remedy against overflow: before `exp`, subtract from each row its own maximum.
#
# A **temperature** $T > 0$ divides the scores first, $\operatorname{softmax}(z/T)$. A row of `Z` is one observation.


# %% exercise="softmax" points=2 minutes=10 difficulty=2 covers="guo:II.3 wu:2.8 cs480:eq4.b wu:2.8.3"
def softmax(Z, T=1.0):
    """Probabilities of each row's classes.

    Z (n, K): scores, of any size. T > 0: temperature.
    Returns (n, K): exp(Z / T) divided by its row sums, without overflow.
    Z = [[0, 0], [1000, 1000 + log 3]] gives [[0.5, 0.5], [0.25, 0.75]].
    """
    ### BEGIN SOLUTION
    S = Z / T
    E = np.exp(S - S.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True)
    ### END SOLUTION


# %% check="softmax"
check(softmax)

# %% [markdown] covers="wu:2.8.3 guo:II.3"
# **What is soft about it?** The **hardmax** gives 1 to the class whose score is above all others and 0 to the rest. Softmax is its smooth version. So it softens the *argmax*, the place of the maximum, not the maximum itself. Whoever must name one class names that place, $\hat y = \arg\max_k \pi_k$.
# The soft maximum is another function, $T \log \sum_k e^{z_k/T}$. The cell tests what happens at both ends of the temperature, and what a learner gets from each: a slope to follow, or none.

# %% covers="wu:2.8.3 guo:II.3 cs480:eq4.b wu:2.8.6"
with after(softmax):
    z = np.array([2.0, 1.0, -0.5])

    def soft(z, T=1.0):
        return np.asarray(softmax(np.array([z]), T)[0])

    assert np.allclose(soft(z, 1e-3), glm.hardmax(z))  # T -> 0: hardmax
    assert np.allclose(soft(z, 1e6), 1 / 3, atol=1e-5)  # T -> ∞: all alike
    assert np.allclose(soft(z + 1234), soft(z))  # a shift changes nothing
    assert np.allclose(soft([0.0, 1.3])[1], expit(1.3))  # two classes: the sigmoid
    assert np.array_equal(glm.hardmax([3.0, 3.0]), [0, 0])  # a tie has no winner
    for T in (0.01, 1, 5):  # the soft maximum lies at most T log K above the maximum
        assert 0 <= T * logsumexp(z / T) - z.max() <= T * np.log(3)
    e = np.array([0, 1e-5, 0])

    def slope(f):
        return (f(z + e) - f(z - e)) / 2e-5

    print("slope in the middle score, softmax:", slope(soft).round(3))
    print("slope in the middle score, hardmax:", slope(glm.hardmax))

# %% [markdown] covers="guo:II.3 wu:2.8.3"
# **Find out:** three scores and a temperature. The triangle is the simplex: each corner is certainty, the cross in the middle is ignorance, and the three kites show which class wins. The dotted curve is the path of the point over all temperatures.
#
# 1. Move $T$: can the point ever change its kite? 2. Make two scores equal and cool down. Where does the point go, and what does hardmax say? 3. Raise all three scores by one: what moves? 4. When is the soft maximum close to the maximum?

# %% covers="guo:II.3 wu:2.8.3 cs480:eq4.b"
with after(softmax):
    explore(
        glm.simplex_explorer(softmax),
        z0=FloatSlider(2.0, min=-4, max=4, step=0.5, description="score 0"),
        z1=FloatSlider(1.0, min=-4, max=4, step=0.5, description="score 1"),
        z2=FloatSlider(-0.5, min=-4, max=4, step=0.5, description="score 2"),
        log_T=FloatSlider(0, min=-1.5, max=1.5, step=0.1, description="log₁₀ T"),
    )

# %% [markdown] covers="guo:II.3 wu:2.8.4 cs480:eq4.b"
# ## The loss
#
# Maximum likelihood again: minimise $-\sum_i \log \Pr[Y = y_i \mid x_i]$, here as a mean over rows. Put $\pi = \operatorname{softmax}(z)$ into $-\log p = -\sum_k y_k \log \pi_k$:
#
# $$-\sum_k y_k \log \frac{e^{z_k}}{\sum_j e^{z_j}} = -\sum_k y_k \Big[z_k - \log \sum_j e^{z_j}\Big] = \log \sum_j e^{z_j} - z_{\text{true class}} ,$$
#
# since the $y_k$ sum to 1. With $z_i = W^\top x_i$ and one-hot rows $y_i$ this is the **categorical cross-entropy**
#
# $$\ell(W) = \frac1n \sum_i \sum_k -y_{i,k} \Big[ w_k^\top x_i - \log \sum_j e^{w_j^\top x_i} \Big] .$$
#
# The log-sum-exp form never takes the log of a probability, which may have underflowed to 0. `logsumexp(Z, axis=1)` of SciPy is safe for any scores.


# %% exercise="cat_nll" points=3 minutes=10 difficulty=2 covers="guo:II.3 cs480:eq4.b wu:2.8.4"
def cat_nll(W, X, Y):
    """Mean categorical cross-entropy of softmax regression, in natural logarithms.

    W (d, K): column k scores class k. X (n, d). Y (n, K): one-hot labels.
    Returns a number, finite for scores of any size.
    W = [[0, log 3]], X = [[1], [2]] and Y = [[0, 1], [1, 0]] give 1.2951:
    the true classes have the probabilities 3/4 and 1/10.
    """
    ### BEGIN SOLUTION
    Z = X @ W
    return np.mean(logsumexp(Z, axis=1) - np.sum(Y * Z, axis=1))
    ### END SOLUTION


# %% check="cat_nll"
check(cat_nll)

# %%
predict(
    "Ten classes, all weights 0, any data. What is the loss?",
    ["0", "0.1", "2.303", "10", "it depends on how many rows each class has"],
    truth=2,
    because="Every class gets 1/10, so every row costs log 10. A training run that "
    "does not start near log K has a bug, or scores that are too large.",
)

# %% [markdown] covers="guo:II.3.a wu:2.8.5"
# ## The gradient, case by case
#
# One row costs $\log \sum_j e^{z_j} - z_c$, with $c$ its true class. Differentiate by the score $z_k$. The log-sum-exp gives $e^{z_k} / \sum_j e^{z_j} = \pi_k$. The second term depends on $z_k$ only if $k = c$. So there are two cases:
#
# - $k = c$, that is $y_k = 1$: the derivative is $\pi_k - 1$. Gradient descent raises this score.
# - $k \ne c$, that is $y_k = 0$: the derivative is $\pi_k$. It lowers each other score, the more the likelier it was.
#
# One line covers both, $\pi_k - y_k$. With $z = W^\top x$, column $k$ of the gradient by $W$ is $\frac1n\sum_i (\pi_{i,k} - y_{i,k})\, x_i$. (wu differentiates the log-likelihood $J = -\ell$ and gets $y - p$, with $p$ for $\pi$.)
#
# The same by the chain rule: $\partial \pi_m / \partial z_k = \pi_m(\mathbb 1[m = k] - \pi_k)$, the Jacobian $J_\pi = \operatorname{diag}(\pi) - \pi\pi^\top$, times the derivative $-y_m/\pi_m$ of the loss by $\pi_m$.

# %% covers="guo:II.3.a wu:2.8.5" demo=true
symbols = sympy.symbols("z0:3", real=True)
log_sum = sympy.log(sum(map(sympy.exp, symbols)))
share = [sympy.exp(z_k) / sum(map(sympy.exp, symbols)) for z_k in symbols]
for c in range(3):  # each true class in turn, and the derivative by each score
    for k in range(3):
        slope = sympy.diff(log_sum - symbols[c], symbols[k])
        case = share[k] - 1 if k == c else share[k]
        assert sympy.simplify(slope - case) == 0
        assert case == share[k] - int(k == c)  # the line for both
z = np.array([0.5, -1.0, 2.0, 0.3])
pi = np.exp(z) / np.exp(z).sum()
J = np.diag(pi) - np.outer(pi, pi)


def by_torch(t):
    return torch.softmax(t, 0)


auto = torch.autograd.functional.jacobian(by_torch, torch.tensor(z))
assert np.allclose(J, auto)
y = np.eye(4)[2]
assert np.allclose(J.T @ (-y / pi), pi - y)  # chain rule: the 1/π cancels
assert np.allclose(J @ np.ones(4), 0)  # a common shift does nothing …
assert np.linalg.matrix_rank(J) == 3  # … and is the only such direction
rng = np.random.default_rng(4)
draws = rng.multinomial(1, pi, 100_000)  # and J is the covariance of the one-hot vector
assert np.allclose(np.cov(draws.T), J, atol=0.005)


# %% exercise="softmax_grad" points=3 minutes=10 difficulty=2 covers="guo:II.3.a wu:2.8.5 cs480:eq4.b"
def softmax_grad(W, X, Y):
    """Gradient of cat_nll with respect to W.

    W (d, K), X (n, d), Y (n, K) one-hot -> (d, K). Scores may be of any size.
    W = [[0, 0]], X = [[1], [3]] and Y = [[0, 1], [0, 1]] give [[1, -1]].
    """
    ### BEGIN SOLUTION
    Z = X @ W
    E = np.exp(Z - Z.max(axis=1, keepdims=True))
    return X.T @ (E / E.sum(axis=1, keepdims=True) - Y) / len(X)
    ### END SOLUTION


# %% check="softmax_grad"
check(softmax_grad)

# %% [markdown] covers="guo:II.3.a wu:2.8.5"
# The tests: PyTorch's loss and its automatic gradient; the form $X^\top(\Pi - Y)/n$; and a property to explain: the $K$ columns sum to zero. Why must they?

# %% covers="guo:II.3.a guo:II.3 cs480:eq4.b"
with after(one_hot, softmax, cat_nll, softmax_grad):
    rng = np.random.default_rng(5)
    X, W = rng.normal(size=(40, 3)), rng.normal(size=(3, 4))
    labels = rng.integers(0, 4, 40)
    Y, leaf = np.asarray(one_hot(labels, 4)), torch.tensor(W, requires_grad=True)
    scores = torch.tensor(X) @ leaf
    loss = torch.nn.functional.cross_entropy(scores, torch.tensor(labels))
    loss.backward()
    G = np.asarray(softmax_grad(W, X, Y))
    assert np.isclose(cat_nll(W, X, Y), loss.item()) and np.allclose(G, leaf.grad)
    assert np.allclose(G, X.T @ (softmax(X @ W) - Y) / 40)
    assert np.isclose(cat_nll(0 * W, X, Y), np.log(4))
    assert np.allclose(G.sum(axis=1), 0)
    print("the columns of the gradient sum to", np.abs(G.sum(axis=1)).max().round(8))

# %% [markdown] covers="wu:2.8.6 cs480:eq4.b"
# ## One weight vector too many
#
# Add any vector $v$ to *every* column of $W$: each row's scores shift by $v^\top x$, no probability changes. The loss is flat along these directions, so the gradient has no part in them: its columns sum to zero. $K$ columns describe only $K - 1$ differences.
# One may set the score of a class to 0. With $K = 2$ this gives the logistic model: $\operatorname{softmax}(0, s)_1 = \frac{e^s}{e^0 + e^s} = \sigma(s)$.
#
# | | binary | $K$ classes |
# |---|---|---|
# | score | one $s$, short for $(0, s)$ | $s \in \mathbb R^K$, of which a shift is free |
# | probabilities | $\sigma(s)$ | $\operatorname{softmax}(s)$ |
# | label | 0 or 1 | one-hot |
# | log-likelihood $J$ | $ys - \log(1 + e^s)$ | $s_c - \log\sum_j e^{s_j}$, $c$ the true class |
# | its gradient | $y - p$ | $y - p$ |
#
# Which form is better? The long one treats all classes alike; the short one has a unique optimum (if the classes overlap and the columns of $X$ are independent), and its information matrix can be inverted. Neither is safe from overflow by itself: the subtraction of the maximum does that, in both.

# %% covers="wu:2.8.6 cs480:eq4.b" demo=true
rng = np.random.default_rng(6)
X, W, y = rng.normal(size=(50, 3)), rng.normal(size=(3, 2)), rng.integers(0, 2, 50)


def log_p(Z):
    return Z - logsumexp(Z, axis=1, keepdims=True)


s = X @ (W[:, 1] - W[:, 0])  # the one free score
both = log_p(X @ W)[np.arange(50), y]
assert np.allclose(np.exp(log_p(X @ W))[:, 1], expit(s))
assert np.allclose(both, y * s - np.log1p(np.exp(s)))  # J, row by row
assert np.allclose(np.eye(2)[y][:, 1] - np.exp(log_p(X @ W))[:, 1], y - expit(s))
v = rng.normal(size=(3, 1))
assert np.allclose(log_p(X @ (W + v)), log_p(X @ W))  # the free shift

# %% [markdown] covers="cs480:eq4.b guo:II.3 guo:I.3"
# ## One implementation for all four
#
# Can your `glm_step` fit classes too? The means of a row are now a vector $\mu = h(\eta)$ with $m$ entries, the scores a vector $\eta = W^\top x$ with $k$ entries, and the slope a Jacobian $J$ ($m \times k$). The log-likelihood of a one-hot row, $\sum_c y_c \log \mu_c$, has the derivative $y_c/\mu_c$ by $\mu_c$. So
#
# $$\text{derivative by } \eta = J^\top \frac{y}{\mu} = J^\top \frac{y - \mu}{\mu}, \qquad \text{information} = J^\top \operatorname{diag}\!\big(\tfrac{1}{\mu}\big) J .$$
#
# (The second form of the derivative uses that the means always sum to 1, so each column of $J$ sums to 0.) That is the formula of a *Poisson* with $m$ independent counts: $V(\mu) = \mu$! So stack the $m$ entries of all $n$ rows, give entry $c$ of row $i$ the features $x_i \otimes J_{c\cdot}$ (all products), and your step does the rest. The Jacobian comes from central differences: **any inverse link, given as a mere function**.
#
# For classes we take $K - 1$ scores, or the information could not be inverted. Two inverse links: softmax of $(0, \eta)$, and *class by class*: class 0 is taken with the chance $\sigma(\eta_0)$; if not, class 1 with $\sigma(\eta_1)$; the last class takes the rest.

# %% covers="cs480:eq4.b guo:II.3 guo:I.3"
with after(glm_step):

    def fit_any(X, Y, mean, variance, W, steps=25):
        """Maximum likelihood for any family and inverse link mean: (n, k) -> (n, m)."""
        for _ in range(steps):
            eta, moves = X @ W, 1e-5 * np.eye(W.shape[1])
            J = np.stack([mean(eta + e) - mean(eta - e) for e in moves], axis=-1) / 2e-5
            mu = mean(eta).ravel()
            rows = np.einsum("nmk,nd->nmdk", J, X).reshape(mu.size, W.size)

            def known(_, mu=mu):
                return mu  # the mean; the slope is in the rows already

            w = glm_step(rows, np.ravel(Y), W.ravel(), known, np.ones_like, variance)
            W = np.reshape(w, W.shape)
        return W

    def baseline(eta):  # softmax with the score 0 for class 0
        E = np.exp(np.column_stack([np.zeros(len(eta)), eta]))
        return E / E.sum(axis=1, keepdims=True)

    def class_by_class(eta):  # three classes
        a, b = expit(eta).T
        return np.column_stack([a, (1 - a) * b, (1 - a) * (1 - b)])

# %% [markdown] covers="cs480:eq4.b wu:2.8"
# The referee again. 178 wines of three cultivars, described by alcohol and colour intensity. scikit-learn's logistic regression without penalty minimises the same softmax loss; its $W$ is another representative of the same model, so compare differences of columns.
# The class-by-class model must equal two Bernoulli fits: class 0 against the rest, and class 1 against 2 on the wines that are left.

# %% covers="cs480:eq4.b wu:2.8 guo:I.3"
with after(glm_step, one_hot):
    X, labels = glm.wine_rows()
    Y, same, start3 = one_hot(labels, 3), glm.VARIANCES["poisson"], np.zeros((3, 2))
    W = fit_any(X, Y, baseline, same, start3)
    plain = dict(fit_intercept=False, tol=1e-8, max_iter=10_000)
    theirs = LogisticRegression(C=np.inf, **plain).fit(X, labels).coef_.T
    assert np.allclose(W, theirs[:, 1:] - theirs[:, :1], atol=1e-3)
    p = baseline(X[:1] @ W)[0]  # information: the expected square over 3 classes
    J = (np.diag(p) - np.outer(p, p))[:, 1:]
    square = sum(p[c] * np.outer(J[c] / p[c], J[c] / p[c]) for c in range(3))
    assert np.allclose(square, J.T @ np.diag(1 / p) @ J)
    V, rest = fit_any(X, Y, class_by_class, same, start3), labels > 0
    first = glm.fit(glm_step, X, (labels == 0) * 1.0, "bernoulli", "logit")
    second = glm.fit(glm_step, X[rest], (labels == 1)[rest] * 1.0, "bernoulli", "logit")
    assert np.allclose(V, np.column_stack([first, second]), atol=1e-6)
    models = ("softmax", baseline, W), ("class by class", class_by_class, V)
    for name, mean, weights in models:
        loss = -np.mean(np.log(mean(X @ weights)[np.arange(178), labels]))
        print(f"{name:15}cross-entropy {loss:.3f}")
    # the three scalar families are the case k = m = 1
    X1, y1 = glm.with_ones(glm.QUARTERS), glm.DEATHS[:, None]
    begin = np.array([[np.log(y1.mean())], [0.0]])
    w = fit_any(X1, y1, np.exp, same, begin)
    assert np.allclose(w[:, 0], [0.33963, 0.25652], atol=1e-5)
    ones = glm.VARIANCES["gaussian"]
    line = fit_any(X1, y1, lambda eta: eta, ones, 0 * begin, steps=2)
    assert np.allclose(line, np.linalg.lstsq(X1, y1, rcond=None)[0])
    X1, probit = glm.with_ones(glm.TEMPERATURES), glm.LINKS["probit"].mean
    spread = glm.VARIANCES["bernoulli"]
    w = fit_any(X1, glm.DAMAGE[:, None], probit, spread, 0 * begin)[:, 0]
    assert np.allclose(w, glm.fit(glm_step, X1, glm.DAMAGE, "bernoulli", "probit"))

# %%
predict(
    "The softmax model of the wines was fitted by maximum likelihood. Now divide its "
    "scores by a temperature T. At which T is the cross-entropy on these wines lowest?",
    ["below 1: more certain", "at 1", "above 1: less certain", "the same at all T"],
    truth=1,
    because="Dividing by T is one of the things the fit could have done to W. "
    "On new rows the best T is often above 1: fits tend to be too sure.",
)

# %% [markdown] covers="cs480:eq4.b wu:2.8"
# **Find out:** the plane of the wines, coloured by the three probabilities, and each wine as a point of the simplex. Which of these depend on $T$: the borders between the regions, the share of right rows, the cross-entropy? Why are the borders straight? (On a border two scores are equal.)

# %% covers="cs480:eq4.b wu:2.8 guo:II.3"
with after(glm_step, one_hot, softmax):
    X, labels = glm.wine_rows()
    same, start3 = glm.VARIANCES["poisson"], np.zeros((3, 2))
    W = fit_any(X, one_hot(labels, 3), baseline, same, start3)
    explore(
        glm.temperature_explorer(softmax, np.column_stack([np.zeros(3), W]), X, labels),
        log_T=FloatSlider(
            0, min=-1, max=1, step=0.1, description="log₁₀ T", continuous_update=False
        ),
    )

# %% [markdown] covers="cs480:eq4.b guo:II.3 cs480:9-multi"
# ## On real data: ten digits
#
# 1797 handwritten digits of 8 × 8 pixels, 1200 for training. Softmax regression by plain gradient descent with your `softmax_grad`; a softmax layer on top of a neural network is this model with learned features.
# The rate: the loss has curvature at most $L = \frac12 \lambda_{\max}(X^\top X/n)$, and $1/L$ is safe (`03_optimisation/01_gradient_descent` explains why).
# As a rival, ten Bernoulli models, each "this digit or not", with your `glm_grad`, for the same number of steps. Guess before you run it: which errs less, and what do the ten Bernoulli probabilities of a digit sum to?

# %% covers="cs480:eq4.b guo:II.3 guo:II.3.a"
with after(glm_grad, one_hot, softmax, cat_nll, softmax_grad):
    table, order = data.digits(), np.random.default_rng(7).permutation(1797)
    X = glm.with_ones(*(table.X / 16).T)[order]
    Y = np.asarray(one_hot(table.y[order], 10))
    new, new_Y, X, Y = X[1200:], Y[1200:], X[:1200], Y[:1200]
    rate = 2 / np.linalg.eigvalsh(X.T @ X / 1200)[-1]
    W, B, losses = np.zeros((65, 10)), np.zeros((65, 10)), []
    for _ in range(500):
        losses.append((cat_nll(W, X, Y), cat_nll(W, new, new_Y)))
        W = W - rate * np.asarray(softmax_grad(W, X, Y))
        grads = [glm_grad(X, y, b, "bernoulli") for y, b in zip(Y.T, B.T)]
        B = B - 2 * rate * np.column_stack(grads)  # curvature at most half as large
    train, test = np.transpose(losses)
    assert np.isclose(train[0], np.log(10)) and np.all(np.diff(train) < 0)
    wrong = [np.mean((new @ M).argmax(1) != new_Y.argmax(1)) for M in (W, B)]
    total = expit(new @ B).sum(axis=1)
    print(f"test errors: softmax {wrong[0]:.3f}, ten Bernoulli models {wrong[1]:.3f}")
    print(f"ten Bernoulli probabilities sum to {total.min():.1f} … {total.max():.1f}")
    centred = W[1:] - W[1:].mean(axis=1, keepdims=True)  # the free shift taken out
    show(*glm.draw_digit_weights(centred, train, test))

# %% [markdown] covers="guo:I.3 guo:II.3 wu:2.8.6"
# ## Take-aways
#
# - Recipe: support → family → inverse link → maximum likelihood. The *link* decides which means are possible; the *family* decides how far rows scatter, and so which rows the fit trusts.
# - Canonical link: gradient $X^\top(\mu - y)/n$ for Gaussian, Bernoulli, Poisson and (with a matrix of errors) categorical targets. With an intercept, fitted means add up to the data.
# - Any other link: multiply by $h'/V$. Fisher scoring, $w + I^{-1}U$, fits them all.
# - Expansions make the score non-linear in $x$ and leave it linear in $w$. The right feature can do more than a high degree.
# - Outputs that share their features are fitted one by one, even when Gaussian noise ties them together.
# - On the digits, ten Bernoulli models err about as often as one softmax model, but their ten probabilities do not sum to 1: only the softmax model is a distribution over the digits.
# - Softmax is a soft *argmax*; log-sum-exp is the soft max. Subtract each row's maximum; never take the log of a computed probability.
# - $\pi - y$ is the whole gradient by the scores. Its columns sum to zero, since one shift of the scores is free; with $K = 2$ what is left is the sigmoid.
#
# ## What the notes got wrong
#
# Two cells of claims that fail a test, then gaps and slips of notation, where there is nothing to test.

# %% covers="guo:II.3 guo:II.3.a" demo=true
rng = np.random.default_rng(8)
x, z = rng.normal(size=3), rng.normal(size=4)
c, k = 1, 2  # the true class, and another by whose weights we differentiate
W = np.outer(x, z) / (x @ x)  # so that Wᵀx = z
pi = np.exp(z - logsumexp(z))


def column(bracket):  # gradient of -(z_bracket - logsumexp) by w_k, numerically
    def loss(w):
        scores = np.column_stack([W[:, :k], w, W[:, k + 1 :]]).T @ x
        return logsumexp(scores) - scores[bracket]

    moves, w = 1e-6 * np.eye(3), W[:, k]
    return np.array([(loss(w + e) - loss(w - e)) / 2e-6 for e in moves])


erratum(
    "guo:II.3.a",
    r"if $y_{n,k} = 0$: $\nabla_{w_k} \big({-}[w_k^\top x_n - "
    r"\log\sum_j e^{w_j^\top x_n}]\big) = \pi_{n,k}\, x_n$",
    r"with the true class $c \ne k$ in the bracket: "
    r"$\nabla_{w_k} \big({-}[w_c^\top x_n - \log\sum_j e^{w_j^\top x_n}]\big) "
    r"= \pi_{n,k}\, x_n$",
    printed_holds=np.allclose(column(k), pi[k] * x, atol=1e-6),
    corrected_holds=np.allclose(column(c), pi[k] * x, atol=1e-6),
)
X, labels = rng.normal(size=(20, 3)), rng.integers(0, 4, 20)
Y, P = np.eye(4)[labels], np.exp(X @ W - logsumexp(X @ W, axis=1, keepdims=True))
leaf = torch.tensor(W, requires_grad=True)
scores = torch.tensor(X) @ leaf
torch.nn.functional.cross_entropy(scores, torch.tensor(labels)).backward()
shared = [X.T @ (P - Y[:, [i]]) / 20 for i in range(4)]  # y with an index of its own
same_label = X.T @ np.where(Y[0] == 1, P - 1, P) / 20  # the case of row 1 for all rows
erratum(
    "guo:II.3.a",
    r"both cases at once: $\pi_{n,k} - y_{n,i}$, with an index $i$ of its own",
    r"both cases at once: $\pi_{n,k} - y_{n,k}$",
    printed_holds=any(np.allclose(G, leaf.grad) for G in shared),
    corrected_holds=np.allclose(X.T @ (P - Y) / 20, leaf.grad),
)
erratum(
    "guo:II.3.a",
    r"a case ($y_{n,k} = 1$, or $= 0$) is fixed first, and the sum over all $n$ kept",
    r"each row of the sum is in its own case, by its own $y_{n,k}$",
    printed_holds=np.allclose(same_label, leaf.grad),
    corrected_holds=np.allclose(X.T @ np.where(Y == 1, P - 1, P) / 20, leaf.grad),
)
loose = np.array([0.9, 0.9])


def total(pi):
    return sum(np.prod(pi**y) for y in np.eye(2))  # over both outcomes


erratum(
    "guo:II.3",
    r"the parameters of a categorical distribution are any $\pi \in [0, 1]^K$",
    r"$\pi \in [0, 1]^K$ with $\sum_k \pi_k = 1$",
    printed_holds=np.isclose(total(loose), 1),
    corrected_holds=np.isclose(total(loose / loose.sum()), 1),
)

# %% covers="cs480:eq4.b wu:2.8.3 wu:2.8.5 wu:2.8.6" demo=true
x, W = np.array([0.2, -1.0]), np.array([[1.0, 0, -1], [0.5, 0.5, 0]])  # d = 2, c = 3


def soft(z):
    return np.exp(z - z.max()) / np.exp(z - z.max()).sum()


erratum(
    "cs480:eq4.b",
    r"the softmax maps the vector $x$ to a probability vector",
    r"it maps the score vector $W^\top x \in \mathbb R^c$ to one; "
    r"$x \in \mathbb R^d$ has another length",
    printed_holds=soft(x).shape == (3,),
    corrected_holds=soft(W.T @ x).shape == (3,),
)
erratum(
    "wu:2.8.3",
    "hardmax returns a one-hot vector",
    "it does unless the largest score is shared: then no class is above all others, "
    "and the definition returns zeros",
    printed_holds=glm.hardmax([2.0, 2.0, 1.0]).sum() == 1,
    corrected_holds=glm.hardmax([2.0, 2.0, 1.0]).sum() == 0,
)
z, T = np.array([3.0, 1.0, 0.0]), 0.01
erratum(
    "wu:2.8.3",
    "softmax is a soft version of max",
    "softmax is a soft version of argmax (as one-hot vector); the soft version of max "
    r"is $T\log\sum_c e^{s_c/T}$",
    printed_holds=np.any(np.isclose(soft(z / T), z.max())),
    corrected_holds=np.isclose(T * logsumexp(z / T), 3)
    and np.allclose(soft(z / T), [1, 0, 0]),
)
with np.errstate(over="ignore", invalid="ignore"):
    big = np.array([1000.0, 0.0, -1000.0])
    naive = np.exp(big) / np.exp(big).sum()
erratum(
    "wu:2.8.6",
    "the full score vector gives better numerical stability",
    "its softmax overflows like any other; what is stable is subtracting the maximum, "
    "with all scores or with one fixed at 0",
    printed_holds=bool(np.isfinite(naive).all()),
    corrected_holds=bool(np.isfinite(soft(big)).all() and np.isfinite(expit(1000.0))),
)
scores, p, one = torch.tensor(z, requires_grad=True), soft(z), np.eye(3)


def log_p(s, c):
    return torch.log_softmax(s, 0)[c]


slopes = [torch.autograd.grad(log_p(scores, c), scores)[0].numpy() for c in range(3)]
erratum(
    "wu:2.8.5",
    r"(2.86): $\delta_{kc} - p_k$, with the index $c$ of a sum that is gone "
    "(read as one fixed class)",
    r"$\sum_c y_c\,\delta_{kc} - p_k = y_k - p_k$; "
    "only if $c$ is said to be the true class is "
    r"$\delta_{kc} = y_k$",
    printed_holds=any(np.allclose(one[c] - p, slopes) for c in range(3)),
    corrected_holds=np.allclose(one - p, slopes),  # row by row: each true class
)

# %% covers="cs480:eq4.b guo:II.1 guo:II.2 guo:II.3"
erratum(
    "cs480:eq4.b",
    "'to train, we use the MLE again', and no formula",
    r"$\min_W \sum_i -\log \Pr[Y = y_i \mid x_i]$; $W$ is over-parameterised: "
    "adding one vector to all its columns changes no probability",
)
erratum("guo:II.2", r"$\mathbb E = [y \mid x]$", r"$\mathbb E[y \mid x]$")
erratum(
    "guo:II.3",
    r"$\operatorname{softmax}(z) = e^{z_k} / \sum_j e^{z_j}$; "
    r"$\prod_k \pi_k^{y_k} = \pi_k$",
    r"$\operatorname{softmax}(z)_k$ on the left; the product is $\pi_{\text{true}}$",
)
erratum(
    "guo:II.1",
    r"$\frac1N \sum_n [s(w^\top x_n) - y_n] \cdot x + n^\top$",
    r"$\frac1N \sum_n [s(w^\top x_n) - y_n]\, x_n^\top$; "
    "the last feature is $x^K$, not $x^k$",
)

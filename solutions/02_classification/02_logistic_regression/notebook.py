# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] minutes=90 builds="a classifier that says how sure it is: fitted by Newton's method, decided by costs, checked for calibration"
# # Logistic regression
#
# Lectures: cs480 4 · wu 1.5, 1.5.2–1.5.3 · moon 7.1 · guo I.3 and II.1 (the logistic example) · explainers 2.2–2.2.1.
#
# The [perceptron](01_perceptron.ipynb) answers yes or no. A doctor wants to know: *how sure?* At the end you can
#
# - turn a score into a probability and back, and read weights as odds ratios;
# - derive the likelihood and its gradient, and compute both without overflow;
# - fit by gradient descent and by Newton's method, and say why Newton's digits double;
# - recognise data for which no best weights exist, and mend the fit;
# - choose a threshold by costs, and check whether the probabilities keep their promise.

# %%
import numpy as np
import sympy
import torch
from ipywidgets import Dropdown, FloatSlider, IntSlider, SelectionSlider
from scipy.special import expit, logit
from scipy.stats import bernoulli, logistic

from descent import after, check, data, erratum, explore, hint, predict, show, start
from descent.pictures.classification import logistic_regression as lr

start("02_classification/02_logistic_regression")

# %% [markdown] covers="wu:1.5"
# ## Why it matters
#
# 569 tumours, one measurement each: the radius of the largest cell nuclei. Label 1 is malignant, 0 is benign.
# The diamonds tell which share is malignant in twelve groups of equal size: that is what a prediction should say.
# Could the least squares line be read as a probability?

# %% covers="wu:1.5" demo=true
tumours = data.breast_cancer()
names, malignant = [str(name) for name in tumours.names], 1.0 - tumours.y
radius = tumours.X[:, names.index("worst radius")]
show(*lr.draw_line_and_curve(radius, malignant, "radius of the largest nuclei"))

# %% [markdown] covers="wu:1.5"
# ### The same table, the same score
#
# Nothing changes on the input side. Row $i$ of the table $X$ holds the features $x_i \in \mathbb R^d$, and the weights $w$ give it a **score**
#
# $$s_i = \langle x_i, w\rangle = \sum_{j} x_{ij} w_j .$$
#
# We let $x_i$ begin with a 1, so that $w_0$ is the intercept (wu writes $\beta$ and no intercept: a column of ones brings it back; explainers writes $\theta$, moon $w$, $\beta$ or $\theta$). Only the distribution of $y_i$ given the score changes:
#
# | | linear regression | logistic regression |
# |---|---|---|
# | $y_i$ | any number | 0 or 1 |
# | $y_i$ given $s_i$ | normal, mean $s_i$ | Bernoulli, mean $p_i = \sigma(s_i)$ |
# | error in the gradient | $y_i - s_i$ | $y_i - p_i$ |
#
# The rest of this notebook derives the second column.

# %% [markdown] covers="explainers:2.2 cs480:4"
# ## 1. From a score to a probability
#
# The points with score 0 form a **hyperplane**; with two features it is a line. Say 1 on its positive side, 0 on the other: $C_w(x) = 1$ exactly if $s > 0$.
# The score knows more than its sign: split off the length of $w_+ = (w_1, \dots, w_{d-1})$, the weights without the intercept, and
#
# $$s = \lVert w_+\rVert \cdot (\text{signed distance of } x \text{ from the hyperplane}).$$
#
# So $|s|$, the **margin**, says how far. But far in which unit? Multiply all weights by 10: no label changes, every margin grows tenfold. We have to squeeze the score
# into $(0, 1)$ and let the data say how steeply. The squeeze is $p = \sigma(s) = 1/(1 + e^{-s})$; the next section says why this one.
#
# The cell after the widget checks the equation on random points, and two slips of the notes with it.
#
# **Find out:** (1) Turn the line with the angle until few points are wrong. Which sliders change labels? (2) What does the length change: the labels, the signed distance, the probability at the star?
# (3) Fix a good line. Which length gives the highest log-likelihood (the higher, the better the probabilities suit the labels)? Why is longer not better, as long as some points lie on the wrong side?

# %% covers="explainers:2.2 cs480:4" demo=true
points, labels = lr.clouds(40, gap=2.4)
on_release = dict(continuous_update=False)
explore(
    lr.plane_explorer(points, labels, marked=(2.0, 0.5)),
    angle=IntSlider(0, min=-180, max=180, step=5, description="angle °", **on_release),
    offset=FloatSlider(0, min=-3, max=3, step=0.1, description="offset", **on_release),
    length=FloatSlider(1, min=0.1, max=6, step=0.1, description="length", **on_release),
)

# %% covers="explainers:2.2 cs480:4" demo=true
rng = np.random.default_rng(0)
w, x = rng.normal(size=3), rng.normal(size=(200, 2))
s = lr.with_one(x) @ w
foot = x - np.outer(s / (w[1:] @ w[1:]), w[1:])  # the nearest points on the hyperplane
assert np.allclose(lr.with_one(foot) @ w, 0)
distance = np.sign(s) * np.linalg.norm(x - foot, axis=1)
assert np.allclose(s, np.linalg.norm(w[1:]) * distance)
assert np.array_equal(expit(s) > 0.5, s > 0) and np.array_equal(10 * s > 0, s > 0)
erratum(
    "cs480:4",
    r"the margin (or logit) $|\langle x, w\rangle|$",
    r"the logit is the signed score $\langle x, w\rangle$; its absolute value is the "
    "margin, which has lost the side",
    printed_holds=np.allclose(logit(expit(s)), np.abs(s)),
    corrected_holds=np.allclose(logit(expit(s)), s),
)
m, on_plane = 2, np.linalg.matrix_rank(foot - foot[0])  # dimension of the hyperplane
erratum(
    "explainers:2.2",
    r"$\{x \in \mathbb R^m : \theta_0 + \theta_1 x_1 + \dots + \theta_m x_m = 0\}$ is "
    r"a hyperplane in $(m+1)$-dimensional space",
    r"it is a hyperplane in $\mathbb R^m$, of dimension $m - 1$: the leading 1 of $x$ "
    "is a device of notation and no coordinate",
    printed_holds=on_plane == (m + 1) - 1,
    corrected_holds=on_plane == m - 1,
)

# %% [markdown] covers="cs480:def4.2 explainers:2.2.b wu:1.5.2 moon:7.1"
# ### Log-odds
#
# The **odds** of an event of probability $p$ are $p/(1-p)$: 0.75 means 3 to 1. Their logarithm, the **logit**, runs over all real numbers as $p$ runs over $(0, 1)$.
# So it is a scale on which a linear score makes sense. That is the model's one assumption, its *link*:
#
# $$\operatorname{logit}(p) = \log\frac{p}{1-p} = s .$$
#
# The cell solves it for $p$ and finds the **sigmoid** $\sigma(s) = \frac{1}{1+e^{-s}} = \frac{e^s}{1+e^s}$. It also proves what we need later: $\sigma(-s) = 1 - \sigma(s)$, so $P(y=0) = \frac{1}{1+e^s}$, and the
# slope $\sigma' = \sigma(1-\sigma)$, at most $\frac14$, reached at $s = 0$.
#
# The line with `logistic.cdf`: $\sigma$ is also a distribution function, that of the *logistic* distribution. If $y = 1$ exactly when $s + \text{noise} > 0$ and the noise is logistic, then $P(y = 1) = \sigma(s)$.

# %% covers="cs480:def4.2 explainers:2.2.b wu:1.5.2 moon:7.1 guo:I.3.a" demo=true
z = sympy.symbols("z", real=True)
q = sympy.symbols("q", positive=True)
(solved,) = sympy.solve(sympy.log(q / (1 - q)) - z, q)
sigma = 1 / (1 + sympy.exp(-z))
assert sympy.simplify(solved - sigma) == 0
assert sympy.simplify(sigma.subs(z, -z) - (1 - sigma)) == 0
slope = sympy.diff(sigma, z)
assert sympy.simplify(slope - sigma * (1 - sigma)) == 0
quarter, half = sympy.Rational(1, 4), sympy.Rational(1, 2)
assert sympy.simplify(quarter - slope - (sigma - half) ** 2) == 0
assert np.allclose(logistic.cdf(np.linspace(-9, 9, 50)), expit(np.linspace(-9, 9, 50)))
print("p =", solved)

grid = np.linspace(-3, 3, 13)
printed = 1 / (1 + np.exp(grid))
erratum(
    "moon:7.1",
    r"$\sigma(z) = \frac{1}{1 + \exp^z}$, the inverse of the log-odds",
    r"$\sigma(z) = \frac{1}{1 + \exp(-z)}$, as the same section writes later",
    printed_holds=np.allclose(np.log(printed / (1 - printed)), grid),
    corrected_holds=np.allclose(np.log(expit(grid) / (1 - expit(grid))), grid),
)

# %% [markdown] covers="cs480:def4.2 wu:1.5.2 moon:7.1"
# **Now for the computer.** Scores of ±1000 occur: an unlucky step, a far outlier. In floating point $e^{1000}$ is infinite. Write a sigmoid that never overflows, not even on the way (the check counts NumPy's warnings),
# and that keeps its relative accuracy in the left tail: $\sigma(-100) \approx 4\cdot10^{-44}$, not 0. (Stuck? `hint(sigmoid)`, up to three times; so for every exercise.)


# %% exercise="sigmoid" points=2 minutes=8 difficulty=1 covers="cs480:def4.2 wu:1.5.2 moon:7.1"
def sigmoid(z):
    """1 / (1 + exp(-z)), elementwise, without overflow.

    z: array of any shape -> array of the same shape, values in [0, 1].
    Relative accuracy 1e-9 wherever the result is above 1e-300.
    sigmoid(np.array([0.0, np.log(3), -1000.0])) gives [0.5, 0.75, 0.0].
    """
    ### BEGIN SOLUTION
    e = np.exp(-np.abs(z))
    return np.where(z >= 0, 1, e) / (1 + e)
    ### END SOLUTION


# %% check="sigmoid"
check(sigmoid)

# %% covers="cs480:def4.2 explainers:2.2.b moon:7.1 wu:1.5.2"
with after(sigmoid):
    grid, h = np.linspace(-6, 6, 49), 1e-5
    p = sigmoid(grid)
    assert np.allclose(np.log(p) - np.log1p(-p), grid, rtol=0, atol=1e-12)  # the logit
    assert np.allclose(sigmoid(-grid), 1 - p)
    slope = (sigmoid(grid + h) - sigmoid(grid - h)) / (2 * h)
    assert np.allclose(slope, p * (1 - p), atol=1e-9)
    show(*lr.draw_sigmoid(sigmoid))

# %% [markdown] covers="explainers:2.2.b"
# From here on use your `sigmoid`, or `expit`, SciPy's.
#
# **What a weight means.** One unit more of feature $j$, all else equal, adds $w_j$ to the log-odds. So it multiplies the odds by $e^{w_j}$, the **odds ratio** (new odds over old), wherever you start. (cs480 and moon give this name to the odds $p/(1-p)$ themselves.) The probability it does not multiply by anything fixed:


# %% covers="explainers:2.2.b" demo=true
def raised(p, ratio):
    return ratio * p / (1 + (ratio - 1) * p)


start_p, w_j = np.array([0.01, 0.5, 0.9]), np.log(2)
assert np.allclose(raised(start_p, 2), expit(logit(start_p) + w_j))
predict(
    "A feature has the odds ratio 2. One unit more lifts p = 0.01 to 0.0198, "
    "nearly twice as much. To what does it lift p = 0.9?",
    ["about 0.91", "about 0.95", "about 0.99", "to 1"],
    truth=int(np.argmin(abs(np.array([0.91, 0.95, 0.99, 1]) - raised(0.9, 2)))),
    because="Odds of 9 to 1 become 18 to 1, that is 18/19. Only rare events have "
    "probabilities that grow like their odds.",
)

# %% [markdown] covers="cs480:4-lik cs480:def4.1"
# ## 2. Likelihood
#
# Which weights are best? Those under which the labels we saw were most probable. First without features: a coin shows heads ($y_i = 1$) in 14 of 20 tosses. For independent tosses with $P(\text{heads}) = p$
# the probability of just this sequence is
#
# $$L(p) = \prod_{i=1}^n p^{\,y_i} (1-p)^{1-y_i}, \qquad -\tfrac1n\log L = -\bar y \log p - (1-\bar y)\log(1-p) .$$
#
# The exponents are switches: $y_i = 1$ picks $p$, $y_i = 0$ picks $1 - p$. The right-hand side, the mean **negative log-likelihood** (NLL), is also called **cross-entropy**. A logarithm keeps the order, so both have their best $p$ at the same place.
# Which?

# %% covers="cs480:4-lik cs480:def4.1" demo=true
show(*lr.draw_coin(14, 20))
y_bar, p, s = sympy.symbols("ybar p s", real=True)
coin = -y_bar * sympy.log(p) - (1 - y_bar) * sympy.log(1 - p)
assert sympy.simplify(sympy.diff(coin, p) * p * (1 - p) - (p - y_bar)) == 0
in_score = coin.subs(p, 1 / (1 + sympy.exp(-s)))
assert sympy.simplify(-sympy.diff(in_score, s) - (y_bar - 1 / (1 + sympy.exp(-s)))) == 0

# %% [markdown] covers="cs480:def4.1 cs480:4-lik"
# At $\hat p = \bar y$, the share of heads: the derivative by $p$ is $(p - \bar y)/(p(1-p))$. By the score it is simpler still. The cell has proved it:
#
# $$\frac{d}{ds}\,\tfrac1n\log L\big(\sigma(s)\big) = \bar y - p ,$$
#
# **label mean minus probability.** (Other losses of 0/1 labels lack this: keep it in mind for section 3.) And a certain prediction that fails, $p = 0$ where a label is 1, costs $-\log 0 = \infty$.
#
# (guo arrives at the same loss as the Kullback–Leibler divergence from the data's distribution to the model's: up to a constant that is the mean NLL.)
#
# Why the logarithm, if the place is the same?

# %% covers="cs480:4-lik" demo=true
half = np.full(2000, 0.5)
predict(
    "2000 tosses of a fair coin. What does NumPy answer for the product of the 2000 "
    "probabilities 0.5?",
    ["a tiny positive number", "0.0", "nan", "an error"],
    truth=1 if np.prod(half) == 0 else 0,
    because="The smallest positive float is 2^-1074. The sum of logarithms is "
    f"{np.log(half).sum():.1f}, no trouble at all.",
)

# %% [markdown] covers="explainers:2.2.1 wu:1.5.3 cs480:4-lik"
# **With features** each row has its own $p_i = \sigma(s_i)$, $s_i = \langle x_i, w\rangle$, and we assume that the rows are independent given their features. One row has
#
# $$P(y \mid s) = \frac{e^{y s}}{1 + e^{s}}, \qquad \log P(y \mid s) = y\,s - \log(1 + e^{s}) .$$
#
# (Put in $y = 1$ and $y = 0$.) Explainers writes the same as $-\log(1 + e^{-s}) - (1-y)s$. The sum over the rows is the log-likelihood $\ell(w)$.
#
# Write it for scores of any size. A row with score 600 and label 0 must cost 600: neither $\infty$, nor the 34 that you get by clipping $p$.


# %% exercise="log_likelihood" points=2 minutes=8 difficulty=1 covers="explainers:2.2.1 wu:1.5.3 cs480:4-lik"
def log_likelihood(w, X, y):
    """Sum over the rows of log P(y_i | x_i), natural logarithm, for scores of any size.

    w (d,). X (n, d), first column ones. y (n,), labels 0.0 or 1.0 -> a number <= 0.
    w = [0, 1], X = [[1, 0], [1, 0]], y = [1, 0] gives 2 log(1/2) = -1.3863.
    """
    ### BEGIN SOLUTION
    s = X @ w
    return np.sum(y * s - np.logaddexp(0, s))
    ### END SOLUTION


# %% check="log_likelihood"
check(log_likelihood)

# %% [markdown] covers="explainers:2.2.1 cs480:4-lik"
# Tested on 24 students, their hours of study and whether they passed: does it agree with SciPy's Bernoulli, and with the logarithm of the plain product? And what happens to $\ell$ when one label is flipped? By $\log P = ys - \dots$ it changes by $-s_i$ where $y_i$ was 1 and by $+s_i$ where it was 0: it falls exactly if row $i$ was on its right side.

# %% covers="explainers:2.2.1 cs480:4-lik cs480:def4.1"
with after(log_likelihood):
    hours, passed = lr.exams()
    X, w = lr.with_one(hours), np.array([-3.0, 0.8])
    p, value = expit(X @ w), log_likelihood(w, X, passed)
    assert np.isclose(value, bernoulli.logpmf(passed.astype(int), p).sum())
    assert np.isclose(value, np.log(np.prod(np.where(passed == 1, p, 1 - p))))
    ways = -np.logaddexp(0, -X @ w) - (1 - passed) * (X @ w)  # explainers' form
    assert np.isclose(value, ways.sum())
    flipped = [np.where(np.arange(24) == i, 1 - passed, passed) for i in range(24)]
    change = np.array([log_likelihood(w, X, y) - value for y in flipped])
    right_side = (X @ w > 0) == (passed == 1)
    assert np.array_equal(change < 0, right_side)
    print(f"log-likelihood {value:.2f}; {right_side.sum()} of 24 on the right side")

# %% [markdown] covers="cs480:4-lik wu:1.5.2 guo:I.3.a"
# **Climb by hand.** Left the curve over the students, right the surface $\ell(w, b)$ for slope $w$ and intercept $b$; the crosshair is your curve.
#
# (1) Which slider moves the curve's midpoint, which its steepness? Does either do only one thing? (2) Bring the mean error $\bar y - \bar p$ to 0 with the intercept. Are you at the top?
# (3) From the top, double both numbers. The midpoint stays: why does $\ell$ fall? (4) How small is the product of probabilities at best, with only 24 students?

# %% covers="cs480:4-lik wu:1.5.2 guo:I.3.a" demo=true
explore(
    lr.curve_explorer(*lr.exams()),
    slope=FloatSlider(
        0.4, min=-0.5, max=3, step=0.1, description="slope w", **on_release
    ),
    intercept=FloatSlider(
        -2, min=-9, max=2, step=0.25, description="intercept b", **on_release
    ),
)

# %% [markdown] covers="cs480:eq4.a"
# ### The same loss for labels ±1
#
# Margins and boosting prefer labels $y' = 2y - 1 \in \{-1, 1\}$. The NLL of one row, step by step:
#
# $$-y\log\frac1{1+e^{-s}} - (1-y)\log\frac{e^{-s}}{1+e^{-s}} \;=\; \log(1+e^{-s}) + (1-y)\,s \;=\; \log\big(1 + e^{-y's}\big).$$
#
# First step: both logarithms hold $\log(1+e^{-s})$, with weights that sum to 1. Second: for $y = 0$, $\log(1+e^{-s}) + s = \log(e^s + 1)$. The product $m = y's$ is the **signed margin**, positive on the right side. There is no closed form for the best $w$.
#
# The figure compares this *logistic loss* with others (the hinge loss belongs to support vector machines, which maximise a distance instead of a likelihood). Which losses punish a row for being *very* right?

# %% covers="cs480:eq4.a" demo=true
show(*lr.draw_losses())
s, y = np.array([-2.0, -0.5, 0.3, 4.0]), np.array([0.0, 1.0, 0.0, 1.0])
p = expit(s)
nll = -y * np.log(p) - (1 - y) * np.log(1 - p)
assert np.allclose(nll, np.log1p(np.exp(-s)) + (1 - y) * s)
assert np.allclose(nll, np.logaddexp(0, -(2 * y - 1) * s))
erratum(
    "cs480:eq4.a",
    r"$-y\log\frac{1}{1+e^{-s}} - (1-y)\frac{e^{-s}}{1+e^{-s}}$ (second line)",
    r"$-y\log\frac{1}{1+e^{-s}} - (1-y)\log\frac{e^{-s}}{1+e^{-s}}$",
    printed_holds=np.allclose(-y * np.log(p) - (1 - y) * (1 - p), nll),
    corrected_holds=np.allclose(-y * np.log(p) - (1 - y) * np.log(1 - p), nll),
)
erratum(
    "cs480:eq4.a",
    r"$y' = \frac{y+1}{2}$, i.e. $y' \in \{\pm 1\}$",
    r"$y' = 2y - 1$; the printed map goes the other way, from $\pm1$ to $\{0, 1\}$",
    printed_holds=set((y + 1) / 2) == {-1.0, 1.0},
    corrected_holds=set(2 * y - 1) == {-1.0, 1.0},
)

# %% [markdown] covers="wu:1.5.3 moon:7.1 guo:I.3.a"
# ## 3. The gradient
#
# How does one row's log-probability change with its score?
#
# $$\frac{\partial}{\partial s}\big(ys - \log(1+e^s)\big) = y - \frac{e^s}{1+e^s} = y - p .$$
#
# The long way round, as in moon, shows where the slope of the sigmoid goes: by the chain rule the NLL has derivative $-\big(\frac yp - \frac{1-y}{1-p}\big)\,\sigma'(s) = -\frac{y-p}{p(1-p)}\,\sigma'(s)$, and $\sigma' = p(1-p)$ cancels the denominator.
# A sure row on the wrong side pulls with full force 1, however flat the sigmoid is there. (With squared error $(y-p)^2$ nothing cancels: such a row would hardly pull.)
#
# The score depends on $w$ by $\partial s/\partial w_j = x_j$. So for the loss $J = -\ell/n$, the **mean** NLL,
#
# $$\nabla J(w) = \frac1n\sum_i (p_i - y_i)\,x_i = \frac1n X^\top(p - y), \qquad \nabla \ell(w) = \sum_i x_i\,(y_i - p_i) .$$
#
# Rows that share their features share $p$ as well: $k$ of them together contribute $k\,(\bar y - p)\,x$ to $\nabla\ell$, label mean minus probability again.
# Put $s_i$ for $p_i$, and it is the gradient of least squares (with loss $\frac1{2n}\sum_i(y_i-s_i)^2$).

# %% covers="moon:7.1 guo:I.3.a wu:1.5.3" demo=true
x, y, v, b = sympy.symbols("x y v b", real=True)
p = 1 / (1 + sympy.exp(-(v * x + b)))
nll = -y * sympy.log(p) - (1 - y) * sympy.log(1 - p)
assert sympy.simplify(sympy.diff(nll, v) - (p - y) * x) == 0
assert sympy.simplify(sympy.diff(nll, b) - (p - y)) == 0
values = {x: 1.5, y: 1.0, v: 0.4, b: -0.2}
true = float(sympy.diff(nll, v).subs(values))
outer = -(y - p) / (p * (1 - p)) * p * (1 - p)  # the factors before the last one
erratum(
    "moon:7.1",
    r"… $\sigma(wx+b)[1-\sigma(wx+b)]\,\frac{\partial \sigma(wx+b)}{\partial w_j}$",
    r"… $\sigma(wx+b)[1-\sigma(wx+b)]\,\frac{\partial (wx+b)}{\partial w_j}$",
    printed_holds=np.isclose(float((outer * sympy.diff(p, v)).subs(values)), true),
    corrected_holds=np.isclose(float((outer * x).subs(values)), true),
)


# %% exercise="nll_grad" points=2 minutes=8 difficulty=1 covers="moon:7.1 wu:1.5.3 guo:I.3.a guo:II.1.a explainers:2.2.1"
def nll_grad(w, X, y):
    """Gradient of the mean negative log-likelihood, for scores of any size.

    w (d,). X (n, d), first column ones. y (n,), labels 0.0 or 1.0 -> (d,).
    w = [0, 0], X = [[1, 2], [1, 4]], y = [1, 0] gives [0, 0.5].
    """
    ### BEGIN SOLUTION
    return X.T @ (expit(X @ w) - y) / len(y)
    ### END SOLUTION


# %% check="nll_grad"
check(nll_grad)

# %% [markdown] covers="guo:I.3.a guo:II.1.a moon:7.1"
# Three independent witnesses: finite differences, torch's autograd, and the value at $w = 0$, where every $p_i = \frac12$. The last lines go a short way along $+\nabla\ell$ and along $-\nabla \ell$.

# %% covers="guo:I.3.a guo:II.1.a moon:7.1 explainers:2.2.1"
with after(nll_grad, log_likelihood):
    hours, passed = lr.exams()
    X, w, h = lr.with_one(hours - 4), np.array([0.3, -0.7]), 1e-5

    def J(w):
        return -log_likelihood(w, X, passed) / len(passed)

    differences = [(J(w + h * e) - J(w - h * e)) / (2 * h) for e in np.eye(2)]
    assert np.allclose(nll_grad(w, X, passed), differences, atol=1e-8)
    t = torch.tensor(w, requires_grad=True)
    scores = torch.from_numpy(X) @ t
    torch.nn.BCEWithLogitsLoss()(scores, torch.from_numpy(passed)).backward()
    assert np.allclose(nll_grad(w, X, passed), t.grad)
    at_zero = nll_grad(np.zeros(2), X, passed)
    assert np.allclose(at_zero, ((0.5 - passed) * X.T).mean(1))
    slope = -len(passed) * nll_grad(w, X, passed)  # the gradient of ℓ
    erratum(
        "explainers:2.2.1",
        r"$\ell(\theta)$ is maximised numerically, e.g. via gradient descent",
        r"by gradient ascent on $\ell$, which is descent on $-\ell$",
        printed_holds=J(w - 1e-3 * slope) < J(w),
        corrected_holds=J(w + 1e-3 * slope) < J(w),
    )

# %% [markdown] covers="moon:7.1 cs480:4 guo:II.1.a wu:1.5.3"
# ### One valley
#
# Differentiate once more: $\partial p_i/\partial w = p_i(1-p_i)\,x_i$, hence the **Hessian** of the mean loss is
#
# $$H = \frac1n \sum_i p_i(1-p_i)\, x_i x_i^\top = \frac1n X^\top S X, \qquad S = \operatorname{diag}\big(p_i(1-p_i)\big).$$
#
# For any $u$: $u^\top H u = \frac1n\sum_i p_i(1-p_i)\langle x_i, u\rangle^2 \ge 0$. So $J$ is **convex**: every stationary point is a global minimum. If the columns of $X$ are independent it is strictly convex, and there is *at most one* minimum. (At most: section 5.)
# And $p(1-p) \le \frac14$ bounds all curvatures by $L = \lambda_{\max}(X^\top X)/(4n) = \lVert X\rVert^2/(4n)$ with the spectral norm.
#
# **Gradient descent** $w \leftarrow w - \alpha\nabla J(w)$ therefore lowers the loss at every step, as long as $0 < \alpha < 2/L = 8n/\lVert X\rVert^2$ and $\nabla J \ne 0$; guo's range $\alpha < 4n/\lVert X\rVert^2 = 1/L$ is the safer half. ([Gradient descent](../03_optimisation/01_gradient_descent.ipynb) proves it, with its speed.)
# The arrows in the figure cross the contours at right angles; the cell asserts that too.

# %% covers="guo:II.1.a moon:7.1 cs480:4 wu:1.5.3"
with after(nll_grad, log_likelihood):

    def loss(W):
        return -lr.log_lik(X, passed, W) / len(passed)

    def grad(w):
        return nll_grad(w, X, passed)

    p = expit(X @ w)
    H = (X.T * (p * (1 - p))) @ X / len(passed)
    steps = [(grad(w + h * e) - grad(w - h * e)) / (2 * h) for e in np.eye(2)]
    assert np.allclose(H, steps, atol=1e-8) and np.linalg.eigvalsh(H)[0] > 0
    L = np.linalg.norm(X, 2) ** 2 / (4 * len(passed))
    along = np.array([-grad(w)[1], grad(w)[0]])  # a contour's direction
    assert abs(loss(w + 1e-5 * along) - loss(w - 1e-5 * along)) < 1e-12
    paths = {}
    for factor in (1, 1.9):
        path = [np.array([1.5, -0.5])]
        for _ in range(60):
            path.append(path[-1] - factor / L * grad(path[-1]))
        paths[f"α = {factor}/L"] = np.array(path)
        assert (np.diff(loss(np.array(path))) < 0).all()  # falls at every step
    show(*lr.draw_descent(X, passed, loss, paths, grad, ((-1.6, 2.2), (-0.8, 1.8))))

# %% [markdown] covers="guo:II.1.a guo:I.3.a"
# Slips of guo's formulas. Let the derivative be the row with $df = \frac{df}{dx}\,dx$. One transpose makes it a column, of the shape of $w$; a second one breaks the update, and NumPy does not even complain. (With the derivative as a column guo's two formulas agree; the notes do not say so.)

# %% covers="guo:II.1.a guo:I.3.a" demo=true
w, row = np.zeros((2, 1)), np.array([[0.3, -0.1]])
erratum(
    "guo:II.1.a",
    r"$\nabla_x f = [\frac{df}{dx}]^\top$, displayed as a row, and "
    r"$w_{t+1} = w_t - \alpha[\nabla_{w_k}\ell(w_t)]^\top$",
    r"$[\frac{df}{dx}]^\top$ is a column, and "
    r"$w_{t+1} = w_t - \alpha\nabla_{w}\ell(w_t)$: the derivative is transposed once, "
    r"not twice, and is taken by $w$, at $w_t$",
    printed_holds=row.T.shape == row.shape or (w - 0.1 * row.T.T).shape == w.shape,
    corrected_holds=row.T.shape == w.shape == (w - 0.1 * row.T).shape,
)
erratum(
    "guo:II.1.a",
    r"$\frac1N\sum_n [s(w^\top x_n) - y_n]\cdot x + n^\top$",
    r"$\frac1N\sum_n [s(w^\top x_n) - y_n]\, x_n^\top$ as a row, $x_n$ as a column",
)
pi, label = np.array([0.9, 0.2, 0.6]), np.array([1.0, 0.0, 0.0])
loss_of_rows = -np.log(np.where(label == 1, pi, 1 - pi))
entropy = -pi * np.log(pi) - (1 - pi) * np.log(1 - pi)
cross = -label * np.log(pi) - (1 - label) * np.log(1 - pi)
erratum(
    "guo:I.3.a",
    r"the loss is called binary entropy",
    r"binary cross-entropy: of the labels relative to $\pi$. The entropy of $\pi$ does "
    "not know the labels",
    printed_holds=np.allclose(entropy, loss_of_rows),
    corrected_holds=np.allclose(cross, loss_of_rows),
)
erratum(
    "guo:I.3.a",
    r"$\text{logistic}(x_n, w)$",
    r"$\text{logistic}(x_n \cdot w)$: the function has one argument, the score",
)

# %% [markdown] covers="explainers:2.2.1 moon:7.1 cs480:4"
# ## 4. Newton's method
#
# Gradient descent knows the slope. The Hessian knows the curvature: near $w$ the loss is the parabola $J(w) + g^\top\Delta + \frac12\Delta^\top H\Delta$, lowest where $H\Delta = -g$. **Newton's method** goes there: $w \leftarrow w - H^{-1}g$.
#
# It has a second name. Insert $g = -\frac1n X^\top(y-p)$ and $H = \frac1n X^\top S X$ (invertible, say):
#
# $$w - H^{-1}g = (X^\top S X)^{-1} X^\top S\, z, \qquad z_i = s_i + \frac{y_i - p_i}{p_i(1-p_i)} .$$
#
# That is [weighted least squares](../01_regression/02_multiple_regression.ipynb) on *working responses* $z$ with weights $p_i(1-p_i)$, repeated with new weights: **iteratively reweighted least squares** (IRLS). (Boosting uses the same step with trees for lines: Newton and surrogates.)
#
# Section 5 will need a ridge penalty, so write Newton's method at once for
#
# $$F(w) = J(w) + \frac\lambda2 \sum_{j\ge1} w_j^2 .$$
#
# The intercept $w_0$ goes **unpenalised**: otherwise the fit would depend on which base rate the data have. With $D = \operatorname{diag}(0, \lambda, \dots, \lambda)$ the gradient is $\nabla J + Dw$ and the Hessian $H + D$.


# %% exercise="newton" points=4 minutes=18 difficulty=3 covers="moon:7.1 explainers:2.2.1 cs480:4 wu:1.5.3 wu:9.5.8"
def newton(X, y, lam, steps):
    """Newton's iterates for mean NLL + lam/2 * (w_1² + w_2² + …), from w = 0.

    X (n, d), first column ones: its weight w_0 is not penalised. y (n,) 0.0 or 1.0.
    lam >= 0. Full steps, all of them. Returns the path (steps + 1, d), path[0] = 0.
    X = [[1], [1], [1], [1]], y = [1, 1, 1, 0], lam = 0, steps = 1
    gives [[0.0], [1.0]]; the limit is log(3) = 1.0986.
    """
    ### BEGIN SOLUTION
    n, d = X.shape
    D = np.diag(lam * (np.arange(d) > 0))
    path = [np.zeros(d)]
    for _ in range(steps):
        w = path[-1]
        p = expit(X @ w)
        g = X.T @ (p - y) / n + D @ w
        H = (X.T * (p * (1 - p))) @ X / n + D
        path.append(w - np.linalg.solve(H, g))
    return np.array(path)
    ### END SOLUTION


# %% check="newton"
check(newton)

# %% [markdown] covers="cs480:4 explainers:2.2.1 moon:7.1"
# **Digits that double.** Three measurements of the tumours, standardised, no penalty. If $H(w^*)$ is positive definite and $w$ is close enough to the optimum $w^*$, the parabola's error is cubic in the distance, so its minimum misses $w^*$ by a square: $\lVert w_{k+1} - w^*\rVert \le C \lVert w_k - w^*\rVert^2$.
# Gradient descent with $\alpha = 1/L$ multiplies the distance by a factor below 1 instead. Count the right digits in the printed line.

# %% covers="cs480:4 explainers:2.2.1 moon:7.1"
with after(newton, nll_grad):
    from sklearn.linear_model import LogisticRegression

    chosen = ["mean radius", "mean texture", "mean smoothness"]
    Z = tumours.X[:, [names.index(name) for name in chosen]]
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    X, n = lr.with_one(Z), len(malignant)
    path = newton(X, malignant, 0.0, 14)
    best = path[-1]
    assert np.allclose(nll_grad(best, X, malignant), 0, atol=1e-12)
    error = np.linalg.norm(path - best, axis=1)
    print("Newton's distances:", *(f"{e:.0e}" for e in error[4:9]))
    C = error[6:9] / error[5:8] ** 2  # settles: quadratic convergence
    assert (C < 2 * C[0]).all() and (error[6:9] < 0.2 * error[5:8]).all()
    p = expit(X @ path[3])  # the fourth step, as weighted least squares
    v = p * (1 - p)
    z = X @ path[3] + (malignant - p) / v
    root = np.sqrt(v)
    irls = np.linalg.lstsq(root[:, None] * X, root * z, rcond=None)[0]
    assert np.allclose(irls, path[4])
    L, w, descent = np.linalg.norm(X, 2) ** 2 / (4 * n), np.zeros(4), []
    for _ in range(200):
        descent.append(np.linalg.norm(w - best))
        w = w - nll_grad(w, X, malignant) / L
    show(*lr.draw_convergence({"Newton": error, "descent, α = 1/L": descent}, 4))
    for lam in (0.01, 1.0):  # scikit-learn: C times the SUM of losses + ½‖w‖²
        theirs = LogisticRegression(C=1 / (n * lam), tol=1e-10, max_iter=1000)
        theirs.fit(Z, malignant)
        mine = newton(X, malignant, lam, 12)[-1]
        assert np.allclose(mine, [*theirs.intercept_, *theirs.coef_[0]], atol=1e-5)

# %% [markdown] covers="explainers:2.2.1"
# The price: a Newton step costs about $nd^2 + d^3$ multiplications, a descent step $2nd$. With four weights Newton wins easily; with a million weights $H$ does not even fit into memory.
#
# **And from afar?** Take one row with $x = 1$ and label 1, one with $x = 1$ and label 0, no intercept. The loss is $\log(1+e^{w}) + \log(1+e^{-w})$, with its minimum at 0. Its slope is $\tanh\frac w2$ and its curvature $\frac{1}{2\cosh^2(w/2)}$, so the step is $w \leftarrow w - \sinh w$.

# %% covers="explainers:2.2.1 cs480:4" demo=true
u = sympy.symbols("u", real=True)
f = sympy.log(1 + sympy.exp(u)) + sympy.log(1 + sympy.exp(-u))
newton_move = sympy.diff(f, u) / sympy.diff(f, u, 2)
assert sympy.simplify((newton_move - sympy.sinh(u)).rewrite(sympy.exp)) == 0


def iterate(w, steps):
    path = [w]
    for _ in range(steps):
        path.append(path[-1] - np.sinh(path[-1]))
    return np.array(path)


near, far = iterate(2.0, 6), iterate(2.3, 4)
m = np.linspace(-30, 30, 601)  # a row's loss, and its parabola at margin 0
assert (np.logaddexp(0, -m) <= np.log(2) - m / 2 + m**2 / 8 + 1e-12).all()
predict(
    "The minimum is at w = 0. Newton's method starts at w = 2.3. What happens?",
    ["it converges, digits doubling", "it converges slowly", "it explodes"],
    truth=2 if abs(far[-1]) > 100 else 0,
    because="At 2.3 the loss is so straight that the parabola is too wide: the step "
    "lands further out on the other side. From |w| = 2.177, where sinh w = 2w, the "
    "steps jump to and fro; below they converge.",
    then=lambda near=near, far=far: lr.draw_overshoot((2.0, 2.3), (near, far)),
)

# %% [markdown] covers="cs480:4 explainers:2.2.1 moon:7.1"
# The cure is *damping*: halve the step until the loss falls. The Newton direction points downhill wherever $H$ is positive definite, so some fraction of it always works. From $w = 0$ full steps mostly do, and the first one always does: as $\sigma' \le \frac14$, its value at score 0, the parabola there lies above the loss (asserted above). The exercise keeps full steps, the widget below halves.
#
# **Train it yourself.** The star is a row of class 1 that you can move. (1) Start with gradient descent. What does the rate α change, and where does it get rough? (2) How many Newton steps reach the loss of 200 descent steps? (3) The star sits in the blue cloud. Pull it slowly towards the orange one. What happens to the shading: a new line, or a surer one?
# (4) Leave the star at (2, 2): the classes are separable. Follow $\lVert(w_1, w_2)\rVert$ as you add steps. Does it settle? With which method does it grow in proportion to the steps? Then add ridge.

# %% covers="cs480:4 moon:7.1 explainers:2.2.1" demo=true
cloud, cloud_labels = lr.clouds(24, gap=5.0, seed=1)
explore(
    lr.training_explorer(cloud, cloud_labels),
    method=Dropdown(options=["gradient descent", "Newton"], description="method"),
    steps=IntSlider(20, min=0, max=200, description="steps", **on_release),
    rate=FloatSlider(0.5, min=0.1, max=8, step=0.1, description="rate α", **on_release),
    x1=FloatSlider(-1.5, min=-3, max=3, step=0.25, description="star x₁", **on_release),
    x2=FloatSlider(-1.5, min=-3, max=3, step=0.25, description="star x₂", **on_release),
    ridge=SelectionSlider(
        options=[0.0, 0.001, 0.01, 0.1, 1.0], description="ridge λ", **on_release
    ),
)

# %% [markdown] covers="wu:1.5.3 explainers:2.2.1 cs480:4 moon:7.1"
# ## 5. When no best weights exist
#
# Suppose that some $u$ has $y'_i\langle x_i, u\rangle > 0$ for all rows: the classes are **separable**. Walk along $w = t\,u$: every margin grows with $t$, every loss falls, towards 0, and 0 is never reached. So there is *no* finite maximum of the likelihood.
#
# The exact condition, for independent columns: a maximum exists if and only if no $u \ne 0$ has $y'_i\langle x_i, u\rangle \ge 0$ for all rows (Albert and Anderson, 1984). Then it is unique. So classes that a hyperplane parts, but for rows of both *on* it, have none either: the second print. None of the notes mentions this.

# %% covers="wu:1.5.3 explainers:2.2.1 cs480:4 moon:7.1" demo=true
x, side = lr.clouds(20, gap=4.0, seed=0)
street = lr.widest_street(x, side)
margins = (2 * side - 1) * (x @ street)
assert margins.min() > 0
losses = [np.logaddexp(0, -t * margins).mean() for t in (1, 10, 100)]
print("loss along t·u, t = 1, 10, 100:", *(f"{value:.0e}" for value in losses))
touch, its_labels = np.array([-1.0, 0, 0, 1]), np.array([0.0, 0, 1, 1])
losses = [-lr.log_lik(touch[:, None], its_labels, [t]) / 4 for t in (1, 3, 9)]
assert losses[0] > losses[1] > losses[2] > np.log(2) / 2  # never reached
print("classes that touch at 0, t = 1, 3, 9:", *(f"{value:.4f}" for value in losses))
predict(
    "Gradient descent runs on separable data for a very long time. What does w do?",
    [
        "it converges",
        "its length grows for ever, its direction settles",
        "its length grows for ever, its direction wanders",
        "it oscillates",
    ],
    truth=1,
    because="In the long run only the rows nearest to the line still pull: w turns to "
    "the direction that keeps the nearest row as far away as possible (the widest "
    "street between the classes), and its length grows like log t (Soudry and others, "
    "2018).",
)

# %% covers="wu:1.5.3 explainers:2.2.1 cs480:4 moon:7.1"
with after(nll_grad, newton):
    L, w, marks = np.linalg.norm(x, 2) ** 2 / (4 * len(x)), np.zeros(2), {}
    for t in range(1, 30_001):
        w = w - nll_grad(w, x, side) / L
        if t in (3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000):
            marks[t] = w
    norms = np.array([np.linalg.norm(v) for v in marks.values()])
    cosines = np.array([v @ street for v in marks.values()]) / norms
    angles = np.degrees(np.arccos(np.clip(cosines, -1, 1)))
    growth = norms[-1] - norms[-3], norms[-3] - norms[-5]  # a factor 10 of steps each
    assert 0.8 < growth[0] / growth[1] < 1.25 and angles[-1] < 0.6 * angles[0]
    # a factor 10 of steps adds log 10 / margin to the length, in the long run
    assert abs(growth[0] * margins.min() / np.log(10) - 1) < 0.15
    X, lams = lr.with_one(x), 10.0 ** np.arange(-5, 2)
    held = {lam: np.linalg.norm(newton(X, side, lam, 25)[-1][1:]) for lam in lams}
    show(*lr.draw_divergence(list(marks), norms, angles, held))

# %% [markdown] covers="cs480:4 explainers:2.2.1"
# **What to do.** A symptom first: perfect training accuracy, weights that grow with every iteration allowed, warnings about convergence or a singular Hessian (all $p_i(1-p_i)$ vanish). Then
#
# - **ridge.** Any $\lambda > 0$ makes the optimum finite: far out the penalty outgrows the loss, and with both labels present the intercept stays bounded too. It is the [MAP estimate](../01_regression/03_ridge_and_lasso.ipynb) under a normal prior on the weights;
# - **stop early**, which acts much like ridge; statisticians often take Firth's penalty (1993);
# - **ask whether it should be separable**: a feature that repeats the label (a *leak*), more features than rows, or a category seen with one label only;
# - **collect more rows.** If the classes truly overlap, a finite optimum will exist sooner or later.
#
# What you cannot do is to report "the" maximum likelihood weights or their odds ratios.

# %% [markdown] written="perfect_fit" points=2 minutes=6
# **In your own words (2 to 4 sentences).** A colleague fits a logistic regression with 400 features to 300 patients, without a penalty. Training accuracy is 100 %, one odds ratio is $10^{9}$, and on new patients many predictions of "99.9 % sure" are wrong. What happened, and what would you do?
#
# ### BEGIN SOLUTION
# With more features than patients (and no exact dependence between the patients' rows) some hyperplane separates the training labels, whatever they are. Then the likelihood has no maximum: the weights grow until the optimiser stops, so the odds ratio $10^9$ measures the number of iterations
# and not an effect, and the probabilities rush to 0 and 1. I would add a ridge penalty (not on the intercept), choose it by cross-validated log-loss, use fewer features if possible, look for a leak, and check calibration on patients that were not used.
#
# **Rubric**
#
# - 1: says that the classes are separable, so that no finite optimum exists and the weights (and the confidence) grow without limit
# - 1: names a remedy that gives finite weights (ridge, early stopping, fewer features, more data) and how to choose or check it on held-out patients
# ### END SOLUTION

# %% [markdown] covers="cs480:4-pred explainers:2.2"
# ## 6. From a probability to a decision
#
# The default rule says 1 if $p > \frac12$, that is on the positive side of the hyperplane; $p$ is the confidence. But a missed cancer costs more than a false alarm. Let $c_\text{fp}$ be the cost of a false alarm (1 said, 0 true), $c_\text{fn}$ that of a miss; right answers cost nothing.
#
# If $p$ is right, saying 1 costs $(1-p)\,c_\text{fp}$ on average, and saying 0 costs $p\,c_\text{fn}$. Say 1 where it is cheaper. Which threshold $\delta$ on $p$ is that? Where both cost the same, say 0. (With measured features practically no row lies exactly on the boundary.)


# %% exercise="decide" points=2 minutes=8 difficulty=2 covers="cs480:4-pred explainers:2.2"
def decide(X, w, c_fp, c_fn):
    """The label with the lower expected cost, row by row; 0 where both cost the same.

    X (n, d), first column ones. w (d,). c_fp > 0: cost of saying 1 when the truth is 0.
    c_fn > 0: cost of saying 0 when the truth is 1. Returns (n,) integers 0 or 1.
    X = [[1, -1], [1, 0], [1, 1]], w = [0, 1], c_fp = 1, c_fn = 2 gives [0, 1, 1]:
    p = 0.27, 0.5, 0.73 against the threshold 1/3.
    """
    ### BEGIN SOLUTION
    return (expit(X @ w) > c_fp / (c_fp + c_fn)).astype(int)
    ### END SOLUTION


# %% check="decide"
check(decide)

# %% covers="cs480:4-pred explainers:2.2"
with after(decide):
    points, _ = lr.clouds(200, gap=2.0, seed=5)
    X, w = lr.with_one(points), np.array([0.2, np.sqrt(2), np.sqrt(2)])
    equal = decide(X, w, 1.0, 1.0)
    assert np.array_equal(equal, X @ w > 0)  # threshold ½ is the side
    assert np.array_equal(equal, decide(X, 10 * w, 1.0, 1.0))  # any scale of w
    assert not np.array_equal(decide(X, w, 1.0, 9.0), decide(X, 10 * w, 1.0, 9.0))
    calls = [np.sum(decide(X, w, 1.0, c)) for c in (0.1, 0.5, 1.0, 2.0, 10.0)]
    assert (np.diff(calls) > 0).all()
    print("rows called 1 as a miss costs 0.1, 0.5, 1, 2, 10:", *calls)

# %% [markdown] covers="cs480:4-pred explainers:2.2 explainers:2.2.a"
# **A threshold trades precision for recall.** Of the malignant tumours, **recall** is the share that we call malignant. Of those that we call malignant, **precision** is the share that are. Raise the threshold: recall can only fall, as fewer are called. Precision tends to rise, but it need not: if the next tumour to drop out was malignant, it falls.
#
# The widget shows 569 tumours judged by two weak measurements, texture and smoothness, each by a model that had not seen it (your `newton`, ten folds). (1) Which threshold finds 95 % of the malignant ones, and how many benign patients does it frighten? (2) Let a miss cost 10 false alarms. Compare the formula's threshold with the cheapest one on these tumours.
# Is the cost very sensitive to it? (3) Which costs make the default ½ a good choice? ([Evaluation](04_naive_bayes_and_evaluation.ipynb) has more on such curves.)

# %% covers="cs480:4-pred explainers:2.2 explainers:2.2.a"
with after(newton):

    def held_out(columns, lam, rows=None, folds=10, steps=12):
        """Each row's score by a model fitted to the other folds."""
        A, y = tumours.X[:, columns], malignant
        rows = np.arange(len(y)) if rows is None else rows
        s = np.zeros(len(rows))
        order = np.random.default_rng(0).permutation(len(rows))
        for fold in np.array_split(order, folds):
            rest = np.delete(np.arange(len(rows)), fold)
            mean, sd = A[rows[rest]].mean(axis=0), A[rows[rest]].std(axis=0)
            X = lr.with_one((A[rows] - mean) / sd)
            s[fold] = X[fold] @ newton(X[rest], y[rows[rest]], lam, steps)[-1]
        return s

    weak = [names.index("mean texture"), names.index("mean smoothness")]
    p_weak = expit(held_out(weak, 0.0))
    _, precision, recall = lr.precision_recall(p_weak, malignant)
    assert (np.diff(recall) >= 0).all()  # thresholds fall along the arrays
    falls = np.sum(np.diff(precision[::-1]) < 0)
    print(f"raised past one tumour after another, precision falls {falls} times,")
    print(f"recall rises {np.sum(np.diff(recall[::-1]) > 0)} times")
    explore(
        lr.threshold_explorer(p_weak, malignant),
        threshold=FloatSlider(
            0.5, min=0.01, max=0.99, step=0.01, description="threshold δ", **on_release
        ),
        ratio=SelectionSlider(
            options=[0.2, 0.5, 1, 2, 5, 10, 20],
            value=1,
            description="a miss costs",
            **on_release,
        ),
    )

# %% [markdown] covers="cs480:4-pred cs480:4"
# ## 7. Do the probabilities keep their promise?
#
# The cost argument began "if $p$ is right". A model is **calibrated** if among all rows that get probability $p$ the share $p$ has label 1. Part of it comes free: at the optimum the gradient is zero,
#
# $$\frac1n\sum_i (y_i - p_i) = 0 \quad\text{and}\quad \frac1n\sum_i (y_i - p_i)\,x_{ij} = \lambda w_j ,$$
#
# the first equation from the column of ones, as its weight is not penalised. So on the *training* rows the mean probability equals the share of ones. The rest must be checked on rows that the fit has not seen.
#
# Cut $[0, 1]$ into $B$ equal bins; $p$ belongs to bin $b = 0, \dots, B-1$ if $b/B \le p < (b+1)/B$, and $p = 1$ to the last. In each bin compare the mean probability with the share of ones. The **calibration error** is the mean over the rows of the gap of their bin.


# %% exercise="reliability" points=3 minutes=12 difficulty=2 covers="cs480:4-pred cs480:4"
def reliability(p, y, bins):
    """Mean probability, share of label 1 and number of rows, bin by bin.

    p (n,) in [0, 1]. y (n,), 0.0 or 1.0. bins: number of equal bins, each closed on the
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

# %% [markdown] covers="cs480:def4.2 explainers:2.2.b cs480:4"
# **When log-odds are not linear.** cs480 warns that all is meaningless then. Let us see what fails, and how you would notice. Left: smoothness of the tumours. Right: a made-up world in which both small and large $x$ mean label 1. Points are the log-odds of groups of rows, bars their standard errors.
# The straight fit on the right keeps the equations above (with $\lambda = 0$), yet its probabilities say nothing about $x$. Add $x^2$ as a feature, and the log-odds are linear again, in the *weights*.

# %% covers="cs480:def4.2 explainers:2.2.b cs480:4"
with after(newton, reliability):
    rng = np.random.default_rng(2)
    x = rng.uniform(-2, 2, 2000)
    bent = (rng.random(2000) < expit(1.5 * x**2 - 2)).astype(float)
    smooth = tumours.X[:, names.index("worst smoothness")]
    middle, sd = smooth.mean(), smooth.std()

    def fit(features, y):
        return newton(lr.with_one(features), y, 0.0, 12)[-1]

    a = fit((smooth - middle) / sd, malignant)
    line, parabola = fit(x, bent), fit(np.column_stack([x, x**2]), bent)
    for w, X in ((line, lr.with_one(x)), (parabola, lr.with_one(np.c_[x, x**2]))):
        assert np.allclose(X.T @ (bent - expit(X @ w)), 0, atol=1e-6)
    show(
        *lr.draw_log_odds(
            [
                (
                    "Smoothness: a line will do",
                    "worst smoothness",
                    smooth,
                    malignant,
                    {"fit": lambda t: a[0] + a[1] * (t - middle) / sd},
                ),
                (
                    "Made up: a line will not",
                    "x",
                    x,
                    bent,
                    {
                        "with x and x²": lambda t: (
                            parabola[0] + parabola[1] * t + parabola[2] * t**2
                        ),
                        "with x": lambda t: line[0] + line[1] * t,
                    },
                ),
            ]
        )
    )

# %% [markdown] covers="cs480:4 explainers:2.2.1 wu:1.5.3"
# ## On real data
#
# All 30 measurements of the 569 tumours. First: is there a maximum of the likelihood at all? A [linear programme](01_perceptron.ipynb) decides whether some hyperplane separates the classes.
#
# Then keep 142 tumours for the end. On the others choose λ by the ten-fold log-loss, the mean NLL of tumours that the model has not seen. How differently do log-loss and accuracy judge λ?

# %% covers="cs480:4 explainers:2.2.1 wu:1.5.3"
with after(newton):
    whole = lr.with_one((tumours.X - tumours.X.mean(axis=0)) / tumours.X.std(axis=0))
    assert lr.separable(whole, malignant)
    print("a hyperplane separates all 569 tumours: no finite maximum")
    rest, test = np.split(np.random.default_rng(1).permutation(569), [427])
    lams, everything = 10.0 ** np.arange(-5, 1), list(range(30))
    scores = [held_out(everything, lam, rest) for lam in lams]
    p_of, y = expit(scores), malignant[rest]
    log_loss = [np.mean(np.logaddexp(0, -(2 * y - 1) * s)) for s in scores]
    accuracy = [np.mean((p > 0.5) == y) for p in p_of]
    pick = int(np.argmin(log_loss))
    show(*lr.draw_choice(lams, log_loss, accuracy, pick))

# %% [markdown] covers="cs480:4-pred cs480:4"
# With next to no ridge the model is nearly always right, and *sure* when it is wrong: a few rows cost a fortune. With much ridge it is too modest. The log-loss grows several times over for either sin; accuracy moves by a few points. Your `reliability` shows the second at once.
# The first it hardly sees: a promise of 100 % that is kept in 97 % misses by three points only, and the calibration error takes no logarithm. So the cell also counts the rows called "surer than 99.9 %" and how many of them were wrong. The promise allows one in a thousand.

# %% covers="cs480:4-pred cs480:4"
with after(newton, reliability):
    tables = {f"λ = {lams[i]:g}": reliability(p_of[i], y, 5) for i in (0, pick, 5)}
    show(*lr.draw_reliability(tables))
    for i in (0, pick):
        wrong = np.abs(y - p_of[i]) > 0.999  # sure, and wrong
        sure = np.abs(p_of[i] - 0.5) > 0.499
        print(f"λ = {lams[i]:g}: surer than 99.9 %: {sure.sum()}, wrong: {wrong.sum()}")

# %% [markdown] covers="cs480:4-pred explainers:2.2"
# **The test, looked at once.** Fit with the chosen λ on the 427, let a miss cost ten false alarms, and judge the 142. The second print shows what odds ratios look like where the classes overlap and a finite optimum exists: three measurements, no penalty, a ratio for one standard deviation each. The 95 % intervals take $(n H)^{-1}$ as covariance of $\hat w$, an approximation for many rows. Such tests on weights are a reason to prefer this model to less readable ones.

# %% covers="cs480:4-pred explainers:2.2.b explainers:2.4.box-logreg"
with after(newton, decide):
    mean, sd = tumours.X[rest].mean(axis=0), tumours.X[rest].std(axis=0)
    Z, truth = lr.with_one((tumours.X - mean) / sd), malignant[test]
    w = newton(Z[rest], malignant[rest], lams[pick], 12)[-1]
    for c_fn in (1.0, 10.0):
        said = decide(Z[test], w, 1.0, c_fn)
        missed, alarms = np.sum(truth > said), np.sum(said > truth)
        print(f"of 142, a miss costs {c_fn:g}: missed {missed}, false alarms {alarms}")
    X = lr.with_one((tumours.X - tumours.X.mean(axis=0)) / tumours.X.std(axis=0))
    three = ["mean radius", "mean texture", "mean smoothness"]
    X = X[:, [0] + [1 + names.index(name) for name in three]]
    ratios = lr.odds_ratios(X, newton(X, malignant, 0.0, 12)[-1])
    for name, (ratio, low, high) in zip(three, ratios[1:]):
        print(f"{name}: odds × {ratio:.1f} (95 % from {low:.1f} to {high:.1f})")

# %% [markdown] covers="guo:I.5.a wu:2.1.1 wu:2.1.2 cs480:13-logistic explainers:2.3"
# ## Take-aways
#
# - Logistic regression is a linear model of the **log-odds**. $\sigma$ turns a score into a probability; $e^{w_j}$ is an odds ratio.
# - The likelihood of 0/1 labels gives the loss $\log(1 + e^{-y's})$. Compute it with `logaddexp`, never through a rounded $p$.
# - Gradient: label minus probability, times the features. The slope of the sigmoid cancels. Replace $p$ by the hard label and this is the [perceptron's](01_perceptron.ipynb) update; replace it by the score and it is least squares.
# - The loss is convex. Newton (IRLS) doubles the digits near the optimum, at $nd^2 + d^3$ a step; damp it, as from afar it may explode.
# - Separable data have no maximum: $\lVert w\rVert$ grows like $\log t$, and its direction tends to the widest street. Ridge holds it.
# - Threshold by costs: $c_\text{fp}/(c_\text{fp} + c_\text{fn})$. It is only as good as the calibration, which log-loss sees clearly and accuracy hardly.
# - Where you will meet it again: one [neuron](../07_neural_networks/01_one_hidden_layer.ipynb) with a sigmoid is this model; a GAN's discriminator is a logistic regression of "real" against "made"; support vector machines look for the widest street directly; with other link functions it becomes the [generalised linear model](03_generalised_linear_models.ipynb).
#
# ## What the notes got wrong, continued
#
# The formulas that fail were repaired on the way, each where it belongs. Here is one more, and a slip in words.

# %% covers="moon:7.1" demo=true
p, y = np.array([0.8, 0.3, 0.6]), np.array([1.0, 0.0, 0.0])
right = -np.sum(np.log(np.where(y == 1, p, 1 - p)))
with np.errstate(divide="ignore", invalid="ignore"):
    as_printed = -np.sum(y * np.log(p) + np.log(1 - y) * (1 - p))
erratum(
    "moon:7.1",
    r"$NLL = -\sum_i y_i \ln\sigma(w^\top x) + \ln(1 - y_i)(1 - \sigma(w^\top x))$",
    r"$NLL = -\sum_i \big[y_i \ln\sigma(w^\top x_i) + (1-y_i)\ln(1 - \sigma(w^\top "
    r"x_i))\big]$; $\ln(1 - y_i)$ is $-\infty$ for $y_i = 1$",
    printed_holds=np.isclose(as_printed, right),
    corrected_holds=np.isclose(-np.sum(y * np.log(p) + (1 - y) * np.log(1 - p)), right),
)
erratum(
    "moon:7.1",
    r"the derivative of $f(x) = u(v(x))$ is the derivative of $f$ with respect to $f$ "
    r"times that of $f$ with respect to $f$; $\frac{\partial\sigma(z)}{\partial x}$",
    r"$\frac{df}{dx} = \frac{du}{dv}\frac{dv}{dx}$, as the displayed formula says, and "
    r"$\frac{d\sigma(z)}{dz} = \sigma(z)(1-\sigma(z))$: one variable, not two",
)

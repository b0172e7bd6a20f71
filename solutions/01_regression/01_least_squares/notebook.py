# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] minutes=90 builds="a line with its R², its likelihood and its forecast, and the 2156 Olympics taken apart" covers="explainers:2.1.box-olympics"
# # Least squares with one feature
#
# Lectures: wu 1.1, 1.2 and 1.5.1 · explainers 2.1 · guo I.1 and I.2 · moon 5.1.1 · wu 6.9.4.
#
# One input, one output, one line: the smallest model there is, and almost every idea of this course is in it. At the end you can
#
# - fit a line in three ways (formula, descent, projection) and say why they agree;
# - tell the slope from the correlation, and see *regression to the mean* where others see a cause;
# - say what R² means, and when its three definitions part;
# - derive squared error from Gaussian noise, and check whether the noise is Gaussian;
# - give a forecast an honest interval, and know what no interval covers.

# %%
import numpy as np
import torch
from ipywidgets import Checkbox, Dropdown, FloatSlider, IntSlider, SelectionSlider
from scipy import stats
from scipy.optimize import minimize_scalar

from descent import after, check, data, device, erratum, explore, hint, predict, show
from descent import start
from descent.pictures.regression import least_squares as ls

start("01_regression/01_least_squares")

# %% [markdown] covers="explainers:2.1.box-olympics"
# ## Why it matters
#
# In 2004 a short article in *Nature* fitted a line to the winning times of the Olympic 100 m, for men and for women, and carried both lines on. The women's line falls faster.
# If the trends continue, it said, a woman will win the race of 2156 in 8.079 s, faster than the winner of the men's race with 8.098 s.
#
# These are the data (men from 1900, women from 1928) and the lines. The fit is correct. Would you bet on it? You will take the forecast apart at the end of this notebook.

# %% covers="explainers:2.1.box-olympics" demo=true
races = data.sprint()
men, women = races.men[races.men[:, 0] >= 1900], races.women
show(*ls.draw_crossing(men, women))

# %% [markdown] covers="guo:I.1 wu:1.1"
# ## Data, model, error
#
# A **training example** is a pair $(x_i, y_i)$ of an **input** (feature) and an **output** (label, target), $i = 1, \dots, n$. Together they are the data set $D$.
# Behind $D$ stands a process that we do not see: nature draws $x \sim P(x)$, then $y \sim P(y \mid x)$. Labels may be numbers (regression) or classes (classification).
# We want a function $f$ that maps an $x$ to a good guess of its $y$.
#
# Our example is as old as the word "regression": heights of fathers, $x$, and of their grown-up sons, $y$. The heights are simulated, with means and spread near what Pearson and Lee measured in 1903. So here the process is known:
# $x$ is normal with mean 172 cm and standard deviation 7 cm, and the mean of $y$ given $x$ is $174 + \frac12(x - 172)$.
#
# **Move the sliders.** How does the fitted line change with the seed at $N = 10$, and at $N = 640$? How much larger must $N$ be to halve the scatter of the slope?


# %% covers="guo:I.1" demo=true
def sample_dataset(px, py_given_x, n, seed):
    """n pairs from the process: px(rng, n) draws inputs, py_given_x(rng, x) outputs."""
    rng = np.random.default_rng(seed)
    x = px(rng, n)
    return x, py_given_x(rng, x)


def px(rng, n):
    return rng.normal(172, 7, n)


def py_given_x(rng, x):
    return rng.normal(174 + 0.5 * (x - 172), 6.0)


x, y = sample_dataset(px, py_given_x, 50_000, seed=1)
again = sample_dataset(px, py_given_x, 50_000, seed=1)
assert np.array_equal(x, again[0]) and np.array_equal(y, again[1])
near = np.abs(x - 180) < 0.5  # the empirical mean of y near x = 180, against the truth
assert abs(y[near].mean() - 178) < 4 * 6 / np.sqrt(near.sum())
explore(
    ls.draw_sample,
    n=SelectionSlider(
        value=40,
        options=[10, 40, 160, 640, 2500],
        description="rows N",
        continuous_update=False,
    ),
    noise=FloatSlider(
        6, min=0, max=12, step=1, description="noise σ (cm)", continuous_update=False
    ),
    seed=IntSlider(0, min=0, max=20, description="seed", continuous_update=False),
)

# %% [markdown] covers="wu:1.1 guo:I.1.a"
# ## A line through the origin
#
# The simplest model has one **parameter** $\beta$. Its prediction is the **score** $s_i = x_i\beta$, its error the **residual** $e_i = y_i - s_i$.
# (One of the notes writes $w$ for $\beta$.) Which $\beta$ is best? Add up the *squares* of the residuals:
#
# $$L(\beta) = \tfrac12 \sum_{i=1}^n e_i^2 = \tfrac12 \sum_{i=1}^n (y_i - x_i\beta)^2 .$$
#
# **Shrink the squares.** Below, six examples; every residual is drawn as a real square, and $L$ is half of their total area. The line may be shifted too, by an intercept.
# (1) Leave the intercept at 0 and find the slope with the least area. (2) Now free the intercept: change it, find the best slope again, and so on. How small does $L$ get? Why must you return to the slope each time?
# (3) Which square protests most when you move the slope: one at the left or one at the right?

# %% covers="wu:1.1 wu:1.2.1 guo:I.1.a" demo=true
explore(
    ls.draw_squares,
    slope=FloatSlider(
        0.4,
        min=-0.5,
        max=2.5,
        step=0.02,
        description="slope β",
        continuous_update=False,
    ),
    intercept=FloatSlider(
        0, min=-1, max=3, step=0.05, description="intercept", continuous_update=False
    ),
)

# %% [markdown] covers="wu:1.2.1 guo:I.1.a"
# ### The loss is a parabola
#
# $L$ is a quadratic function of $\beta$: the sum of $n$ parabolas. Its second derivative is $\sum_i x_i^2$, whatever the $y_i$. Completing the square,
#
# $$L(\beta) = L(\hat\beta) + \tfrac12 \Big(\sum_i x_i^2\Big) (\beta - \hat\beta)^2, \qquad \hat\beta = \frac{\sum_i x_i y_i}{\sum_i x_i^2} .$$
#
# So there is exactly one minimum, unless all $x_i = 0$; then $L$ does not depend on $\beta$ at all. The cell checks each statement.

# %% covers="wu:1.2.1 guo:I.1.a"
six_x, six_y = ls.SQUARES_X, ls.SQUARES_Y


def L(beta, x=six_x, y=six_y):
    return np.sum((y - x * beta) ** 2) / 2


beta_hat = six_x @ six_y / (six_x @ six_x)
for beta in (-1.0, 0.3, 2.0):
    for h in (1.0, 0.1):  # the second difference is exact for a parabola, for any h
        second = (L(beta + h) - 2 * L(beta) + L(beta - h)) / h**2
        assert np.isclose(second, six_x @ six_x)
    completed = L(beta_hat) + (six_x @ six_x) / 2 * (beta - beta_hat) ** 2
    assert np.isclose(L(beta), completed)
    assert L(beta, 0 * six_x) == L(0.0, 0 * six_x)  # all inputs 0: flat
assert all(L(beta_hat + step) > L(beta_hat) for step in (-0.1, -1e-3, 1e-3, 0.1))
assert np.isclose(six_x @ (six_y - six_x * beta_hat), 0)  # residuals ⟂ x
print(f"β̂ = {beta_hat:.3f}, L(β̂) = {L(beta_hat):.3f}")

# %% [markdown] covers="wu:1.2.2"
# ### The derivative, link by link
#
# A change of $\beta$ changes the score, the score changes the error, the error changes its half square. By the chain rule,
#
# $$\frac{dL}{d\beta} = \sum_i \underbrace{e_i}_{\partial (e_i^2/2) / \partial e_i} \cdot \underbrace{(-1)}_{\partial e_i / \partial s_i} \cdot \underbrace{x_i}_{\partial s_i / \partial \beta} = -\sum_i x_i e_i .$$
#
# Error times input, summed: you will meet this product in every model of the course. Write both. (Stuck? `hint(loss_and_grad)`, up to three times; so for every exercise.)


# %% exercise="loss_and_grad" points=2 minutes=6 difficulty=1 covers="wu:1.1 wu:1.2.1 wu:1.2.2"
def loss_and_grad(beta, x, y):
    """Half the sum of squared errors of the scores x * beta, and its derivative.

    beta: a number. x, y (n,), n >= 1.
    Returns (L, dL/dbeta), two numbers.
    beta = 1, x = [1, 2], y = [2, 4] give (2.5, -5.0): the errors are 1 and 2.
    """
    ### BEGIN SOLUTION
    e = y - x * beta
    return np.sum(e**2) / 2, -np.sum(x * e)
    ### END SOLUTION


# %% check="loss_and_grad"
check(loss_and_grad)

# %% [markdown] covers="wu:1.2.2"
# ### Two ways down
#
# **The direct way**: set the derivative to zero and solve. $-\sum_i x_i(y_i - x_i\hat\beta) = 0$ gives $\hat\beta = \sum_i x_iy_i / \sum_i x_i^2$ again.
#
# **The patient way**, which also works where no formula exists: *gradient descent*. Start somewhere and step against the derivative, again and again, with a small learning rate $\eta > 0$:
#
# $$\beta_{t+1} = \beta_t - \eta\, L'(\beta_t).$$
#
# How small is small? Here $L'(\beta) = (\sum_i x_i^2)(\beta - \hat\beta)$, so the error is multiplied by the same factor at each step:
# $\beta_{t+1} - \hat\beta = (1 - \eta\sum_i x_i^2)\,(\beta_t - \hat\beta)$. If $\sum_i x_i^2 > 0$ and the start is not $\hat\beta$ itself, it converges if and only if $0 < \eta < 2/\sum_i x_i^2$.

# %% demo=true
predict(
    "The rate is η = 1.5 / Σx². What do the iterates do?",
    [
        "they come nearer from one side",
        "they jump over the minimum each time, and come nearer",
        "they jump to and fro for ever",
        "they run away",
    ],
    truth=1,
    because="The factor is 1 - 1.5 = -0.5: the sign changes, the size halves.",
)


# %% exercise="gd_1d" points=2 minutes=6 difficulty=1 covers="wu:1.2.2"
def gd_1d(x, y, beta0, eta, T):
    """Gradient descent on L(beta) = half the sum of (y - x * beta)².

    x, y (n,). beta0: the start. eta > 0: the learning rate. T >= 0 steps.
    Returns the path (T + 1,), with path[0] = beta0.
    x = [1, 1], y = [2, 4], beta0 = 0, eta = 0.25, T = 2 give [0, 1.5, 2.25].
    """
    ### BEGIN SOLUTION
    path = [beta0]
    for _ in range(T):
        path.append(path[-1] + eta * np.sum(x * (y - x * path[-1])))
    return np.array(path, dtype=float)
    ### END SOLUTION


# %% check="gd_1d"
check(gd_1d)

# %% covers="wu:1.2.2 guo:I.1.a"
with after(loss_and_grad, gd_1d):
    h = 1e-4
    for beta in (-1.0, 0.5, 2.0):
        up, down = (loss_and_grad(beta + d, six_x, six_y)[0] for d in (h, -h))
        slope = loss_and_grad(beta, six_x, six_y)[1]
        assert np.isclose((up - down) / (2 * h), slope)  # central differences
    assert np.isclose(loss_and_grad(beta_hat, six_x, six_y)[1], 0)  # stationary
    xx, begin, scaled = six_x @ six_x, beta_hat - 1.2, (0.4, 1.6, 2, 2.05)
    paths = [gd_1d(six_x, six_y, begin, c / xx, 6) for c in scaled]
    for c, path in zip(scaled, paths):
        errors = np.asarray(path) - beta_hat
        assert np.allclose(errors[1:], (1 - c) * errors[:-1])  # exact contraction
    at_once = gd_1d(six_x, six_y, begin, 1 / xx, 1)[1]
    assert np.isclose(at_once, beta_hat)
    labels = [f"η = {c} / Σx²" for c in scaled]
    show(*ls.draw_descents(paths, six_x, six_y, labels))

# %% [markdown] covers="wu:1.2.3 guo:I.1.b"
# ### The same in vectors
#
# Put the inputs into a vector $\mathbf X = (x_1, \dots, x_n)^\top$ and the outputs into $\mathbf Y$. Four vectors tell the whole story: input $\mathbf X$, output $\mathbf Y$, prediction $\mathbf X\hat\beta$, error $\mathbf e = \mathbf Y - \mathbf X\hat\beta$. Every sum becomes an inner product:
#
# $$\hat\beta = \frac{\mathbf X^\top \mathbf Y}{\mathbf X^\top\mathbf X} = \frac{\langle \mathbf X, \mathbf Y\rangle}{\lVert \mathbf X\rVert^2} .$$
#
# This is not only shorter. A Python loop spends most of its time deciding what to do next, row after row; an inner product is one call, and the multiplications run in compiled code, or on a GPU, many at a time. Both need $2N$ multiplications: the *work* is the same, the overhead is not.
# The figure shows what your machine makes of it.


# %% covers="wu:1.2.3 guo:I.1.b" demo=true
def slope_loop(x, y):
    top = bottom = 0.0
    for a, b in zip(x, y):
        top += a * b
        bottom += a * a
    return top / bottom


def slope_vectors(x, y):
    return x @ y / (x @ x)


rng = np.random.default_rng(0)
a, b = rng.normal(size=(2, 3000))
assert abs(slope_loop(a, b) - slope_vectors(a, b)) < 1e-10
on_device = [torch.tensor(v, dtype=torch.float32, device=device()) for v in (a, b)]
assert abs(float(slope_vectors(*on_device)) - slope_vectors(a, b)) < 1e-4  # any device
show(*ls.draw_times(slope_vectors, slope_loop), digits=0)

# %% [markdown] covers="wu:1.2.4"
# ## Geometry: the shadow of Y
#
# So far we had $n$ points in a plane. Turn the table on its side: with $n = 3$ examples, $\mathbf X$ and $\mathbf Y$ are two arrows in *three* dimensions, one axis for each example.
# The predictions $\mathbf X\beta$, for all $\beta$, form a line through the origin. Least squares asks: which point of this line is nearest to $\mathbf Y$?
#
# **Drag β.** Where is the angle between the error and $\mathbf X$ a right angle? Compare with the place where $|\mathbf e|$ is smallest. Turn the picture to convince yourself.

# %% covers="wu:1.2.4" demo=true
explore(
    ls.draw_projection,
    beta=FloatSlider(
        0.5, min=-0.3, max=1.7, step=0.01, description="β", continuous_update=False
    ),
    turn=FloatSlider(
        -60,
        min=-180,
        max=180,
        step=5,
        description="turn (degrees)",
        continuous_update=False,
    ),
    tilt=FloatSlider(
        20, min=0, max=90, step=5, description="tilt (degrees)", continuous_update=False
    ),
)

# %% [markdown] covers="wu:1.2.4"
# The nearest point is the foot of the perpendicular: $\mathbf X^\top(\mathbf Y - \mathbf X\hat\beta) = 0$. That is $-L'(\hat\beta) = 0$, read as geometry.
# With $\theta$ the angle between $\mathbf X$ and $\mathbf Y$,
#
# $$\cos\theta = \frac{\mathbf X^\top\mathbf Y}{\lVert\mathbf X\rVert\,\lVert\mathbf Y\rVert} = \hat\beta\,\frac{\lVert\mathbf X\rVert}{\lVert\mathbf Y\rVert}, \qquad \lVert\mathbf Y - \mathbf X\hat\beta\rVert = \lVert\mathbf Y\rVert\,\sin\theta .$$
#
# Write the projection. Two conventions: the zero vector $\mathbf X$ has only itself as multiples, so the projection on it is 0; and if $\mathbf X$ or $\mathbf Y$ is zero, call the cosine 0.


# %% exercise="project" points=3 minutes=8 difficulty=2 covers="wu:1.2.4 wu:1.2.3"
def project(Y, X):
    """Projection of Y on the line of all multiples of X.

    Y, X (n,): two vectors. No mean is taken off.
    Returns (shadow (n,), error (n,), cosine): shadow + error = Y, and cosine is
    that of the angle between X and Y, in [-1, 1].
    X = 0 gives shadow 0; X = 0 or Y = 0 gives cosine 0.
    Y = [3, 4] and X = [2, 0] give ([3, 0], [0, 4], 0.6).
    """
    ### BEGIN SOLUTION
    xx, yy = X @ X, Y @ Y
    beta = X @ Y / xx if xx > 0 else 0.0
    cosine = X @ Y / np.sqrt(xx * yy) if xx * yy > 0 else 0.0
    return beta * X, Y - beta * X, cosine
    ### END SOLUTION


# %% check="project"
check(project)

# %% covers="wu:1.2.4 wu:1.2.5"
with after(project):
    rng = np.random.default_rng(2)
    X, Y = rng.normal(1, 1, (2, 8))
    shadow, error, cosine = project(Y, X)
    assert abs(error @ X) < 1e-10  # perpendicular
    assert np.allclose(project(shadow, X)[0], shadow)  # twice is once
    assert np.isclose(shadow @ shadow + error @ error, Y @ Y)  # Pythagoras
    sine = np.sqrt(1 - cosine**2)
    assert np.isclose(np.linalg.norm(error), np.linalg.norm(Y) * sine)
    P = np.outer(X, X) / (X @ X)  # the projection as a matrix
    assert np.allclose(P @ Y, shadow) and np.allclose(P @ P, P) and np.allclose(P, P.T)
    fathers, sons = ls.heights(2000, np.random.default_rng(0))
    raw = float(project(sons, fathers)[2])
    centred = float(project(sons - sons.mean(), fathers - fathers.mean())[2])
    assert np.isclose(centred, np.corrcoef(fathers, sons)[0, 1]) and raw > 0.99
    predict(
        "The correlation of fathers' and sons' heights is about 0.5. What is the "
        "cosine of the angle between the two vectors of raw heights?",
        ["about 0.25", "about 0.5", "about 0.87", "above 0.99"],
        truth=3,
        because=f"It is {raw:.4f}. Both arrows point almost along (1, 1, …, 1), since "
        "all heights are near 173 cm. The cosine of the centred vectors is "
        f"{centred:.2f}.",
    )

# %% [markdown] covers="wu:1.2.5 explainers:2.1.3"
# ## An intercept, and what correlation is
#
# A line through the origin says that a father of height 0 has a son of height 0. Give the line an intercept: $s_i = a + b x_i$. How to minimise over two numbers?
# For any slope, the best $a$ makes the mean residual zero: $a = \bar y - b\bar x$. Put this in, and what is left is a line *through the origin* for the **centred** data $x_i - \bar x$ and $y_i - \bar y$:
#
# $$b = \frac{\sum_i (x_i - \bar x)(y_i - \bar y)}{\sum_i (x_i - \bar x)^2}, \qquad a = \bar y - b\bar x .$$


# %% exercise="fit_line" points=2 minutes=7 difficulty=2 covers="explainers:2.1.box-olympics wu:1.2.5"
def fit_line(x, y):
    """The line y = a + b x with the least sum of squared vertical errors.

    x, y (n,), n >= 1. Returns (a, b): first the intercept, then the slope.
    Where all x are equal, b = 0 and a is the mean of y.
    x = [0, 2, 4] and y = [1, 2, 6] give (0.5, 1.25).
    """
    ### BEGIN SOLUTION
    xc = x - x.mean()
    xx = xc @ xc
    b = xc @ y / xx if xx > 0 else 0.0
    return y.mean() - b * x.mean(), b
    ### END SOLUTION


# %% check="fit_line"
check(fit_line)

# %% [markdown] covers="wu:1.2.5"
# Now take the units away as well. **Standardised** values have mean 0 and standard deviation 1 (with $\frac1n$, not $\frac1{n-1}$):
#
# $$\tilde x_i = \frac{x_i - \bar x}{\sigma_x}, \qquad \sigma_x^2 = \frac1n\sum_i (x_i - \bar x)^2, \qquad\text{and the same for } y .$$
#
# The least-squares slope of $\tilde y$ on $\tilde x$ is the **correlation** $r = \frac1n\sum_i \tilde x_i\tilde y_i$. It is the cosine of the angle between the *centred* vectors, so $-1 \le r \le 1$, with $|r| = 1$ exactly when all points lie on a line.
# Back in centimetres the slope is $b = r\,\sigma_y/\sigma_x$, and this may well exceed 1.

# %% covers="wu:1.2.5"
with after(fit_line):

    def standardize(x):
        return (x - x.mean()) / x.std()

    fathers, sons = ls.heights(2000, np.random.default_rng(0))
    xt, yt = standardize(fathers), standardize(sons)
    r = np.mean(xt * yt)
    assert np.isclose(r, stats.pearsonr(fathers, sons)[0])
    assert np.allclose(fit_line(xt, yt), [0, r])  # slope of standardised data
    a, b = fit_line(fathers, sons)
    assert np.isclose(b, r * sons.std() / fathers.std())
    left = sons - a - b * fathers  # both derivatives of the loss are zero
    assert abs(left.mean()) < 1e-9 and abs(left @ fathers) / len(left) < 1e-8
    rng = np.random.default_rng(3)
    for _ in range(200):  # at most 1 in size, for any data
        u, v = rng.standard_cauchy((2, 5))
        assert abs(fit_line(standardize(u), standardize(v))[1]) <= 1 + 1e-12
    print(f"son = {a:.1f} cm + {b:.2f} · father, r = {r:.2f}")

# %% [markdown] covers="explainers:2.1.3 wu:1.2.5"
# ### Why it is called regression
#
# In 1886 Francis Galton compared the heights of parents with those of their grown-up children, in a paper on *Regression Towards Mediocrity in Hereditary Stature*. Children of tall parents were taller than average, but only by about ⅔ of what their parents were (he took the mean of both parents). He called this regression; the word stayed for *every* prediction of a number.
#
# In standard units the line is $\tilde s = r\,\tilde x$, and $|r| < 1$ unless all points lie on a line. So the prediction is nearer to the mean than the father is. Does this mean that the human race grows more and more alike?
#
# **Find out.** (1) At correlation 0.5, how far above the mean are the sons of the tallest tenth of fathers, compared with these fathers? (2) Now choose the tallest *sons*. How tall are their fathers? (3) What must the correlation be for no regression at all? For complete regression?

# %% covers="wu:1.2.5 explainers:2.1.3" demo=true
explore(
    ls.draw_regression,
    rho=FloatSlider(
        0.5,
        min=-1,
        max=1,
        step=0.05,
        description="correlation",
        continuous_update=False,
    ),
    share=SelectionSlider(
        value=0.1,
        options=[0.01, 0.05, 0.1, 0.25, 0.5],
        description="chosen share",
        continuous_update=False,
    ),
    reverse=Checkbox(False, description="choose the sons instead"),
)

# %% demo=true
predict(
    "A school tests 4000 pupils, sends the worst tenth to extra lessons, and tests "
    "them again: they are better. The lessons do nothing at all. Ability and luck of "
    "the day have equal variances. By how much does the chosen group's distance to "
    "the mean shrink?",
    ["not at all", "by about a tenth", "by about a half", "it vanishes"],
    truth=2,
    because="Two tests correlate by 0.5, the share of ability in the variance. Those "
    "chosen for a bad result had bad luck, on average, and luck does not repeat.",
)

# %% covers="explainers:2.1.3"
with after(fit_line):
    fathers, sons = ls.heights(20_000, np.random.default_rng(5))
    forward, backward = fit_line(fathers, sons)[1], fit_line(sons, fathers)[1]
    r = np.corrcoef(fathers, sons)[0, 1]
    assert forward < 1 and backward < 1  # it goes both ways, so time is not the cause
    assert np.isclose(forward * backward, r**2)
    assert abs(sons.std() / fathers.std() - 1) < 0.03  # yet the spread does not shrink
    rng = np.random.default_rng(6)
    ability, luck, luck2 = rng.normal(size=(3, 20_000))
    first, second = ability + luck, ability + luck2
    worst = first < np.quantile(first, 0.1)
    ratio = second[worst].mean() / first[worst].mean()
    assert abs(ratio - 0.5) < 0.03
    X = rng.normal(0, 2, 100_000)  # centred, not standardised
    Y = 1.5 * X + rng.normal(size=X.size)
    slope, rho = fit_line(X, Y)[1], np.corrcoef(X, Y)[0, 1]
    assert abs(slope - 1.5) < 0.01 and abs(rho - 3 / np.sqrt(10)) < 0.002
    print(f"slopes: son from father {forward:.2f}, father from son {backward:.2f}")
    print(f"centred only: slope {slope:.2f}, correlation {rho:.2f}")

# %% [markdown] covers="explainers:2.1.3 wu:1.2.5"
# Both slopes are about ½ (in the picture the second line is steep, because there $x$ is predicted from $y$), and sons vary as much as fathers: each extreme son has, on average, a less extreme father, and somebody new becomes extreme. Regression to the mean is no force. It is what $|r| < 1$ looks like after *selection by an extreme value*:
# the "curse" on athletes who made the cover page, the "cure" after the worst day of a cold, the second album.
# (In standard units the mean of $Y$ given $X = x$ is $\rho x$ when that mean is a straight line in $x$, as it is for normal pairs. $\rho$ is the correlation of the process, $r$ that of a sample.)
#
# The rule needs *standard units*. Take $X$ normal with mean 0 and variance 4, and $Y = 1.5X + \varepsilon$ with noise variance 1. Both are centred. Yet the slope is 1.5, and the correlation $\rho = 3/\sqrt{10} \approx 0.949$: the last line above.

# %% [markdown] covers="explainers:2.1.2"
# ## How good is the fit? Three R²
#
# Let $f_i$ be predictions and $\bar y$ the mean of the targets. Three numbers go by the name $R^2$:
#
# $$R^2_\text{explained} = \frac{\sum_i (f_i - \bar y)^2}{\sum_i (y_i - \bar y)^2}, \qquad R^2_\text{residual} = 1 - \frac{\sum_i (y_i - f_i)^2}{\sum_i (y_i - \bar y)^2}, \qquad R^2_\text{corr} = \mathrm{corr}(f, y)^2 .$$
#
# The notes present them as equal. When are they? For a **least-squares line with intercept, on its own training rows**, the residuals are orthogonal to $(1, \dots, 1)$ and to $\mathbf X$ (both derivatives are zero), so to every $f - \bar y$. Pythagoras then gives
# $\sum(y_i-\bar y)^2 = \sum(f_i - \bar y)^2 + \sum(y_i - f_i)^2$, which is the first equality. For the third, orthogonality gives $\sum (f_i-\bar f)(y_i - \bar y) = \sum (f_i - \bar f)^2$, with $\bar f = \bar y$.
# None of this need hold for other predictions or on other rows.


# %% exercise="r2" points=3 minutes=8 difficulty=2 covers="explainers:2.1.2"
def r2(y, f):
    """The three R² of predictions f for targets y.

    y (n,): not all equal. f (n,).
    Returns (explained, residual, correlation): the three formulas above.
    If f is constant, the correlation, and so its square, counts as 0.
    y = [1, 2, 3] and f = [2, 2, 4] give (2.0, 0.0, 0.75).
    """
    ### BEGIN SOLUTION
    yc, fc = y - y.mean(), f - f.mean()
    total = yc @ yc
    explained = np.sum((f - y.mean()) ** 2) / total
    residual = 1 - np.sum((y - f) ** 2) / total
    correlation = (fc @ yc) ** 2 / (fc @ fc * total) if np.ptp(f) > 0 else 0.0
    return explained, residual, correlation
    ### END SOLUTION


# %% check="r2"
check(r2)

# %% covers="explainers:2.1.2"
with after(fit_line, r2):
    patients = data.diabetes()
    bmi, disease = patients.X[:, patients.names.index("bmi")], patients.y
    order = np.random.default_rng(1).permutation(len(bmi))
    train, test = order[:30], order[30:]
    a, b = fit_line(bmi[train], disease[train])
    own = a + b * bmi[train]
    three = r2(disease[train], own)
    assert np.ptp(three) < 1e-10  # equal, and for one feature also corr(x, y)²
    assert np.isclose(three[0], np.corrcoef(bmi[train], disease[train])[0, 1] ** 2)
    middle = disease[train].mean()
    cases = {
        "its own 30 rows": three,
        "412 new rows": r2(disease[test], a + b * bmi[test]),
        "own rows, slope\n× 1.7": r2(disease[train], middle + 1.7 * (own - middle)),
        "own rows, all\n80 too high": r2(disease[train], own + 80),
    }
    assert cases["own rows, all\n80 too high"][1] < 0  # worse than the mean
    show(*ls.draw_r2(cases))

# %% [markdown] covers="explainers:2.1.2 guo:I.2.b explainers:2.1.1 wu:1.5.1 moon:5.1.1"
# Read the bars. The squared correlation forgives any scale and any shift: it says how good the predictions *could be made* by a line. The explained share rewards predictions for being spread out, right or wrong, and can exceed 1.
# Only $1 - \mathrm{RSS}/\mathrm{TSS}$ counts every error, and it goes below 0 when the mean would be better. (RSS: residual sum of squares. TSS: total sum of squares.) On new data, report that one. It is what scikit-learn's `r2_score` returns.
#
# And a high $R^2$ does not say that the relation *is* a line. To find out whether another shape explains more, fit one, and compare on rows that neither has seen.
#
# ## Why squares? Because of Gauss
#
# Suppose that nature adds normal noise: $y_i \mid x_i \sim N(s_i, \sigma^2)$, independent from row to row, $s_i = a + bx_i$ (or $x_i\beta$). The density of one output is
#
# $$p(y_i \mid x_i) = \frac{1}{\sqrt{2\pi}\,\sigma} \exp\!\Big(\!-\frac{(y_i - s_i)^2}{2\sigma^2}\Big).$$
#
# The **likelihood** is the density of the data that we have, seen as a function of the parameters: a product over the rows. Its logarithm is a sum,
#
# $$J = -\frac n2 \log(2\pi\sigma^2) - \frac{1}{2\sigma^2}\sum_i (y_i - s_i)^2 .$$
#
# The first term does not contain the line, and in the second the line appears only in the sum of squares. So **for every σ the most likely line is the least-squares line**. Squared error is a statement about noise.


# %% exercise="gauss_loglik" points=2 minutes=6 difficulty=2 covers="wu:1.5.1 moon:5.1.1 explainers:2.1.1 guo:I.2.b"
def gauss_loglik(a, b, sigma, x, y):
    """Log-likelihood of y = a + b x + noise, independent noise from N(0, sigma²).

    a, b: numbers. sigma > 0: the standard deviation. x, y (n,), n >= 1.
    Returns the natural logarithm of the joint density: a sum over rows, with all
    its constants.
    a = 0, b = 1, sigma = 1, x = [1], y = [3] give -2.9189.
    """
    ### BEGIN SOLUTION
    rss = np.sum((y - a - b * x) ** 2)
    return -len(x) / 2 * np.log(2 * np.pi * sigma**2) - rss / (2 * sigma**2)
    ### END SOLUTION


# %% check="gauss_loglik"
check(gauss_loglik)

# %% covers="guo:I.2.b explainers:2.1.1 wu:1.5.1"
with after(fit_line, gauss_loglik):
    rng = np.random.default_rng(11)
    x = rng.uniform(1, 5, 20)
    y = 1.5 * x + rng.normal(size=20)
    a, b = fit_line(x, y)
    for sigma in (0.5, 1.0, 3.0):
        best = gauss_loglik(a, b, sigma, x, y)
        assert np.isclose(best, stats.norm.logpdf(y, a + b * x, sigma).sum())
        for da, db in rng.normal(0, 0.1, (50, 2)):  # every other line is less likely
            assert gauss_loglik(a + da, b + db, sigma, x, y) < best
        along = [gauss_loglik(0, s, sigma, x, y) for s in np.linspace(1, 2, 1001)]
        through_origin = np.linspace(1, 2, 1001)[np.argmax(along)]
        assert abs(through_origin - x @ y / (x @ x)) <= 0.0005 + 1e-9  # half a step
    width = np.sqrt(np.mean((y - a - b * x) ** 2))  # σ̂: the root of RSS/n
    widths = width * np.linspace(0.5, 2, 151)  # the 51st is σ̂ itself
    assert np.argmax([gauss_loglik(a, b, s, x, y) for s in widths]) == 50
    show(*ls.draw_same_shape(x, y))

# %% [markdown] covers="wu:1.5.1 moon:5.1.1"
# **And σ?** With RSS for the sum of squared residuals, $\partial J/\partial\sigma = -n/\sigma + \mathrm{RSS}/\sigma^3$. It is zero at $\hat\sigma^2 = \mathrm{RSS}/n$: the most likely variance is the mean squared residual.
#
# **Drag the bells.** (1) Take a bad slope. Which σ does the likelihood prefer there, and why is it larger? (2) Take the best slope and shrink σ: what punishes a bell that is too narrow, and what one that is too wide?

# %% covers="wu:1.5.1 moon:5.1.1" demo=true
rng = np.random.default_rng(11)
x = rng.uniform(1, 5, 20)
y = 1.5 * x + rng.normal(size=20)
explore(
    ls.likelihood_explorer(x, y),
    slope=FloatSlider(
        1.1, min=0.6, max=2.4, step=0.02, description="slope β", continuous_update=False
    ),
    sigma=FloatSlider(
        2.0, min=0.3, max=4, step=0.05, description="noise σ", continuous_update=False
    ),
)

# %% [markdown] covers="moon:5.1.1 wu:6.9.4"
# **A small flaw.** The line has bent towards the noise of its own rows, so $\hat\sigma^2$ is too small: with $k$ fitted parameters (a line has 2), $\mathbb E[\mathrm{RSS}/n] = \sigma^2 (n - k)/n$ if the model is true. Divide by $n - k$ instead and the bias is gone.
#
# **In any dimension.** If $y$ is a vector of $d$ numbers with independent normal noise of variance $\sigma^2$ in each, the log densities add up: $-\log p = \frac{1}{2\sigma^2}\lVert y - s\rVert^2 + \frac d2\log(2\pi\sigma^2)$.
# This is why diffusion models are trained with a squared error. Their denoising step is such a Gaussian, $x_{t-1} \sim N(x_t + \sigma^2 s_\theta(x_t, t),\ \sigma^2 I)$ with a network $s_\theta$, so its likelihood asks for a small $\lVert x_{t-1} - (x_t + \sigma^2 s_\theta)\rVert^2$ (chapter 15). The cell checks both statements.

# %% covers="moon:5.1.1 wu:6.9.4" demo=true
rng, n = np.random.default_rng(12), 8
X = np.column_stack([np.ones(n), np.arange(n)])
noise = 1.5 * rng.normal(size=(40_000, n))  # σ = 1.5; the truth is the line 0
residuals = noise - noise @ (X @ np.linalg.pinv(X)).T
mle = np.mean(residuals**2, axis=1)
expected = 1.5**2 * (n - 2) / n
assert abs(mle.mean() - expected) < 4 * mle.std() / 200
print(f"σ² = {1.5**2:.2f}; mean of RSS/n {mle.mean():.2f}, by theory {expected:.2f}")

generator = torch.Generator().manual_seed(0)
target, score = torch.randn(2, 50, 7, generator=generator, dtype=torch.float64)
for sigma in (0.3, 1.0, 2.0):
    nll = -torch.distributions.Normal(score, sigma).log_prob(target).sum(-1)  # (50,)
    squared = (target - score).square().sum(-1)
    constant = 7 / 2 * np.log(2 * np.pi * sigma**2)
    assert torch.allclose(nll, squared / (2 * sigma**2) + constant)

# %% [markdown] covers="explainers:2.1.1 wu:1"
# ### Other noise, other loss; and what needs no Gauss
#
# If the noise is **Laplace**, with density proportional to $e^{-|e|/c}$, the same argument gives the sum of *absolute* errors. Each loss is at its best with its own noise:
# the cell fits slopes to 8000 data sets of 25 rows in both ways, with both kinds of noise of equal variance.
#
# But least squares has a virtue that needs no normal noise. **Gauss–Markov**: let the errors have mean 0, equal variance σ², and be uncorrelated. Among all estimators $\sum_i c_i y_i$ that are linear in $y$ and unbiased, least squares has the smallest variance.
# *Proof for a line through the origin*: unbiased for every β means $\mathbf c^\top\mathbf X = 1$. The variance is $\sigma^2\lVert\mathbf c\rVert^2$. By Cauchy–Schwarz $1 = \mathbf c^\top\mathbf X \le \lVert\mathbf c\rVert\,\lVert\mathbf X\rVert$, so $\lVert\mathbf c\rVert \ge 1/\lVert\mathbf X\rVert$, and equality needs $\mathbf c = \mathbf X/\lVert\mathbf X\rVert^2$, which is least squares.
#
# Loss, noise and optimality fit together, and Gauss had a fourth argument: in 1801 his prediction let astronomers find the lost planetoid Ceres. Note the word *linear*: with Laplace noise the better estimator is not linear in $y$.

# %% covers="explainers:2.1.1 wu:1" demo=true
rng = np.random.default_rng(13)
error = {kind: ls.slope_errors(kind, 25, 8000, rng) for kind in ("normal", "Laplace")}
assert error["normal"][0] < 0.9 * error["normal"][1]  # squares win on normal noise
assert error["Laplace"][1] < 0.95 * error["Laplace"][0]  # absolute values on Laplace

weights = ls.unbiased_slopes(six_x)
y = 0.8 * six_x + rng.uniform(-1, 1, (100_000, 6)) * np.sqrt(3)  # variance 1
spread = {}
for name, c in weights.items():
    assert np.isclose(c @ six_x, 1)
    assert abs((y @ c).mean() - 0.8) < 4 * (y @ c).std() / np.sqrt(len(y))  # unbiased
    spread[name] = (y @ c).std()
    assert np.isclose(spread[name], np.linalg.norm(c), rtol=0.02)
assert min(spread, key=spread.get) == "least squares"
show(*ls.draw_best(error, spread))

# %% [markdown] covers="explainers:2.1.1.box-residuals"
# ## Are residuals Gaussian?
#
# The usual defence: an error is the sum of many small influences, and such sums are nearly normal by the **central limit theorem** (CLT). The small print: *many* influences, *independent*, each with *finite variance*, *none dominating*.
#
# Two numbers tell normal from other shapes: **skewness** $\mathbb E[z^3]$ (lopsided?) and **excess kurtosis** $\mathbb E[z^4] - 3$ (heavy tails?) of the standardised error $z$; both are 0 for a normal. For a sum of $k$ independent effects of one kind they shrink like $1/\sqrt k$ and $1/k$, if the fourth moment is finite. For uniform effects the excess kurtosis is exactly $-1.2/k$.
#
# **Try all four kinds.** The right panel compares quantiles: normal errors lie on the dashed line. Which kind is cured by $k = 10$, which needs more, and which two are never cured?
#
# Then write the two numbers yourself, with means over the rows for $\mathbb E$, and look at **real residuals**: diabetes (disease score from body mass index) and the sprint. The Shapiro–Wilk test gives a p-value: how often normal residuals would look at least as odd.

# %% covers="explainers:2.1.1.box-residuals" demo=true
explore(
    ls.draw_sums,
    kind=Dropdown(
        value="exponential",
        options=["uniform", "exponential", "one dominates", "Cauchy"],
        description="effects",
    ),
    k=SelectionSlider(
        value=1,
        options=[1, 2, 3, 5, 10, 30, 100],
        description="k",
        continuous_update=False,
    ),
)
rng = np.random.default_rng(14)
for k in (1, 3, 10):
    sums = ls.sums("uniform", k, 100_000, rng)
    assert abs(ls.skew_kurt(sums)[1] + 1.2 / k) < 0.06
    lopsided = ls.sums("exponential", k, 100_000, rng)
    assert abs(ls.skew_kurt(lopsided)[0] - 2 / k**0.5) < 0.2
quartile = [np.quantile(ls.sums("Cauchy", k, 20_000, rng) / k, 0.75) for k in (1, 30)]
assert np.allclose(quartile, 1, atol=0.06)  # a mean of Cauchys is a Cauchy: no progress


# %% exercise="skew_kurt" points=2 minutes=6 difficulty=1 covers="explainers:2.1.1.box-residuals"
def skew_kurt(x):
    """Skewness and excess kurtosis of a sample: mean of z³, and mean of z⁴ less 3.

    x (n,): not all equal. z: x standardised, with 1/n in the standard deviation.
    Returns two numbers. x = [0, 0, 0, 4] gives (1.1547, -0.6667).
    """
    ### BEGIN SOLUTION
    z = (x - x.mean()) / x.std()
    return np.mean(z**3), np.mean(z**4) - 3
    ### END SOLUTION


# %% check="skew_kurt"
check(skew_kurt)

# %% covers="explainers:2.1.1.box-residuals"
with after(fit_line, skew_kurt):
    patients = data.diabetes()
    bmi = patients.X[:, patients.names.index("bmi")]
    for name, (u, v) in {
        "diabetes": (bmi, patients.y),
        "men": men.T,
        "women": women.T,
    }.items():
        a, b = fit_line(u, v)
        skew, kurtosis = skew_kurt(v - a - b * u)
        p = stats.shapiro(v - a - b * u).pvalue
        print(
            f"{name:9} n = {len(u):3}  skew {skew:5.2f}  kurtosis {kurtosis:5.2f}"
            f"  p = {p:.2f}"
        )

# %% [markdown] covers="explainers:2.1.1.box-residuals explainers:2.1.box-olympics"
# With 442 patients the departure shows: the tails are too light for a normal (the score itself is bounded). With 18 to 24 races nothing can be seen, which does not prove that the noise *is* normal.
#
# How much does it matter? $\hat\beta$ stays unbiased, and the best of the *linear* unbiased estimators, for any uncorrelated noise of mean 0 and equal variance. For tests on coefficients the shape matters little once $n$ is large (the CLT works on $\hat\beta$ if no row dominates). For the interval around *one new* observation it matters fully: there a single error counts, and no averaging helps.
#
# ## The experiment: 2156
#
# Back to the sprint. An honest forecast has an interval. Two things are uncertain: the *line* (fitted to $n$ noisy rows), and the *noise* of the new race. With $s^2 = \mathrm{RSS}/(n-2)$ and
#
# $$v(x) = \frac1n + \frac{(x - \bar x)^2}{\sum_i (x_i - \bar x)^2},$$
#
# the line at $x$ has standard error $s\sqrt{v}$, and the difference between a new target and the line has $s\sqrt{1 + v}$. To cover with probability `level`, multiply by the quantile of Student's $t$ with $n - 2$ degrees of freedom that leaves $(1 - \text{level})/2$ above it (`stats.t.ppf`).
# This is exact if the truth *is* a line and the noise is normal, independent and of equal variance.


# %% exercise="forecast" points=4 minutes=12 difficulty=3 covers="explainers:2.1.box-olympics"
def forecast(x, y, new_x, level):
    """The fitted line at new inputs, with two half-widths.

    x, y (n,), n >= 3, x not constant. new_x (m,). level in (0, 1), such as 0.95.
    Returns (line (m,), mean (m,), new (m,)): a + b new_x, then the half-width of the
    interval for the line itself and of that for a new target.
    x = [0, 1, 2], y = [0, 2, 1], new_x = [1], level = 0.5 give
    ([1.0], [0.7071], [1.4142]): s² = 1.5, v = 1/3, and the quantile of t is 1.
    """
    ### BEGIN SOLUTION
    n, xc = len(x), x - x.mean()
    b = xc @ y / (xc @ xc)
    line = y.mean() + b * (new_x - x.mean())
    residual = y - y.mean() - b * xc
    s = np.sqrt(residual @ residual / (n - 2))
    v = 1 / n + (new_x - x.mean()) ** 2 / (xc @ xc)
    q = stats.t.ppf((1 + level) / 2, n - 2)
    return line, q * s * np.sqrt(v), q * s * np.sqrt(1 + v)
    ### END SOLUTION


# %% check="forecast"
check(forecast)

# %% [markdown] covers="explainers:2.1.box-olympics"
# First, reproduce the article. It used the men from 1900 on, and reported $R^2 = 0.882$ for men and $0.789$ for women, and the two times for 2156. For 2008 newspapers quoted from it 9.586 to 9.874 s for men and 10.34 to 10.80 s for women, and that the crossing might come as early as 2064 or as late as 2788.
#
# (When may the lines cross? Take the years in which their difference is smaller than its uncertainty. Half-widths of independent estimates add in squares.)

# %% covers="explainers:2.1.box-olympics"
with after(fit_line, r2, forecast):
    lines = [fit_line(*table.T) for table in (men, women)]
    (am, bm), (aw, bw) = lines
    explained = [
        r2(t[:, 1], a + b * t[:, 0])[1] for t, (a, b) in zip((men, women), lines)
    ]
    cross = (am - aw) / (bw - bm)
    games = 4 * int(np.ceil(cross / 4))
    in_2156 = [a + b * games for a, b in lines]
    assert np.allclose(np.round(explained, 3), [0.882, 0.789])
    assert games == 2156 and np.allclose(np.round(in_2156, 3), [8.098, 8.079])
    assert [round(-a / b) for a, b in lines] == [2892, 2636]  # no time at all
    print("R²", *(f"{value:.3f}" for value in explained), f"crossing in {cross:.1f}")
    print(f"{games}: men {in_2156[0]:.3f} s, women {in_2156[1]:.3f} s")
    quoted = {"men": (9.874 - 9.586) / 2, "women": (10.80 - 10.34) / 2}
    for name, table in (("men", men), ("women", women)):
        result = forecast(*table.T, np.array([2008.0]), 0.95)
        line, _, half = (float(values[0]) for values in result)
        one = half / stats.t.ppf(0.975, len(table) - 2)  # one standard error
        assert abs(one - quoted[name]) < 0.005 < half - quoted[name]
        print(f"2008 {name}: {line:.2f} s ± {half:.3f} (95 %), ± {one:.3f} (one s.e.)")
    years = np.arange(2008.0, 4000.0, 4)
    (lm, cm, _), (lw, cw, _) = (forecast(*t.T, years, 0.95) for t in (men, women))
    may = years[np.abs(np.asarray(lw) - lm) <= np.hypot(cm, cw)]
    print(f"the crossing may come from {may.min():.0f} to {may.max():.0f}")

# %% [markdown] covers="explainers:2.1.box-olympics"
# $R^2$ and times are there to every digit; our range for the crossing begins in the same decade and ends centuries later (its far end hangs on every detail). But the quoted intervals for 2008, ± 0.144 s and ± 0.23 s, are only half as wide as ours. They agree, within 0.005 s, with *one* standard error of a new race: about 67 %, not 95 %. (How the article computed them we do not know.)
#
# **Slide the year.** (1) From which Games on does the line give the women a negative time? And the men? (2) How wide is the interval in 2156, compared with the difference of 0.02 s? (3) Change the model. *Line in speed* fits a line to 100 m / time. *Levelling off* tends to a floor, $c + A\,e^{-(\text{year} - 1900)/\tau}$. Who is ahead in 2156 then?

# %% covers="explainers:2.1.box-olympics" demo=true
explore(
    ls.sprint_explorer(men, women),
    year=IntSlider(
        2156, min=2008, max=3000, step=4, description="year", continuous_update=False
    ),
    model=Dropdown(value="line in time", options=list(ls.MODELS), description="model"),
)
rss = {}
for model in ls.MODELS:
    curves = [ls.sprint_curve(model, *table.T) for table in (men, women)]
    rss[model] = [
        np.sum((t[:, 1] - c(t[:, 0])) ** 2) for t, c in zip((men, women), curves)
    ]
    ahead = "women" if curves[1](2156) < curves[0](2156) else "men"
    print(
        f"{model:14} RSS {rss[model][0]:.2f} and {rss[model][1]:.2f}; in 2156 men "
        f"{curves[0](2156):.2f} s, women {curves[1](2156):.2f} s: {ahead} ahead"
    )
assert np.all(np.array(rss["line in speed"]) < rss["line in time"])
assert np.all(np.array(rss["levelling off"]) < rss["line in speed"])

# %% [markdown] covers="explainers:2.1.box-olympics"
# Three curves that the data can hardly tell apart (RSS is their misfit; the last one has a parameter more) disagree about 2156 by more than two seconds for the women. Inside the data they are almost equal; the line wins no prize there.
#
# **Twenty years later** we may look. The races from 2008 to 2024 were not used in the fit.

# %% covers="explainers:2.1.box-olympics" demo=true
predict(
    "Ten races were run from 2008 to 2024. How many were slower than the lines say?",
    ["2", "5", "8", "10"],
    truth=lambda: [2, 5, 8, 10].index(
        sum(
            int(np.sum(later[:, 1] > ls.intervals(*t.T, later[:, 0])[0]))
            for t, later in ((men, races.later_men), (women, races.later_women))
        )
    ),
    because="Only Usain Bolt in 2008 and 2012 was faster than his line.",
    then=lambda m=men, w=women, r=races: ls.draw_tested(
        m, w, r.later_men, r.later_women
    ),
)


# %% covers="explainers:2.1.box-olympics" demo=true
def since(table, year):
    return table[table[:, 0] >= year]


all_men = np.concatenate([men, races.later_men])
all_women = np.concatenate([women, races.later_women])
choices = {
    "as published": (men, women),
    "men from 1896 (one race more)": (races.men, women),
    "both from 1948": (since(men, 1948), since(women, 1948)),
    "both from 1968 (electronic times)": (since(men, 1968), since(women, 1968)),
    "both from 1976": (since(men, 1976), since(women, 1976)),
    "as published, up to 2024": (all_men, all_women),
}
crossings = {name: ls.crossing_year(*pair) for name, pair in choices.items()}
assert crossings["both from 1976"] < 1896  # the women's line is the flatter one
show(*ls.draw_choices(crossings))

# %% [markdown] covers="explainers:2.1.box-olympics"
# One race more, Athens 1896, moves the crossing by a century. From 1976 on the men's line falls faster: it crossed the women's in the 18th century, long before anybody timed them.
# Now put it into words. (The interval for a new race in 2156 is about ± 0.5 s for men and ± 1 s for women.)

# %% [markdown] written="why_not_2156" points=3 minutes=8 covers="explainers:2.1.box-olympics"
# **Question.** All ten races of 2008 to 2024 lie inside the 95 % intervals of the straight lines. A friend concludes: "So the model is confirmed, and in 2156 the women will run 8.08 s, give or take a second." What is wrong with this? Say what the interval covers and what it leaves out, why the ten races are a weak test, and what would be a better way to speak about 2156.
#
# ### BEGIN SOLUTION
# The interval covers two things, noise around the line and the uncertainty of its two coefficients, *given that the truth is a line for ever*. It leaves out that the model may be wrong, and for 2156 that is what counts: models that fit the past as well differ there by two seconds, and the line itself leads to negative times.
#
# The ten races lie within 20 years of the data, where all models nearly agree, and intervals of ± 0.3 s and ± 0.5 s are wide: they would hold almost any race of our time. Nor do the ten scatter around the lines: eight are slower, and all of the women's, which is what a curve that levels off predicts.
#
# Better: say that nobody knows; give the forecasts of several plausible models; trust a line only near the data.
#
# **Rubric**
#
# - 1: the interval holds only if the line is the truth; it leaves out the error of the model
# - 1: near the data all models agree (or: the intervals are wide, or eight of ten lie on one side), so the test is weak
# - 1: names a better way: several models, no forecast far outside the data, or a physical limit
# ### END SOLUTION

# %% [markdown] covers="wu:1 guo:I"
# ## A map of what comes next
#
# Much of this course is the line you have just fitted, with one part replaced. A score $s_i$, an error $e_i$, and a gradient $-\sum_i x_i e_i$ stay:
#
# | notebook | score | error | what is new |
# |---|---|---|---|
# | this one | $x_i\beta$ | $y_i - s_i$ | |
# | `02_multiple_regression` | $x_i^\top\beta$ | $y_i - s_i$ | many features |
# | `05_double_descent` | $\sum_j \beta_j \max(0, x_i - k_j)$ | $y_i - s_i$ | kinks at $k_j$: a ReLU network; more parameters than rows |
# | `02_logistic_regression` | $x_i^\top\beta$ | $y_i - \mathrm{sigmoid}(s_i)$ | labels 0 and 1 |
# | `01_perceptron` | $x_i w + b$ | label, if misclassified, else 0 | no probability at all |
#
# The cell fits one weight to the same 200 pairs in five ways: least squares, maximum likelihood, gradient descent; and, knowing only the *signs* of $y$, a logistic model and a perceptron. What must agree? The first three, exactly. The last two must agree in the sign of the weight: they answer another question.


# %% covers="guo:I wu:1" demo=true
def fit(model, x, y):
    """One weight for scores x * w; the last two models see only the sign of y."""
    if model == "least squares":
        return x @ y / (x @ x)
    if model == "maximum likelihood":

        def nll(w):
            return -stats.norm.logpdf(y, w * x, 2.0).sum()

        return minimize_scalar(nll, bracket=(0, 1)).x
    w, label = 0.0, np.sign(y)
    if model == "perceptron":  # a row that is misclassified adds itself
        for _ in range(5):
            for u, v in zip(x, label):
                w += u * v if u * w * v <= 0 else 0.0
        return w
    for _ in range(400):  # gradient descent: input times error, summed
        s = x * w
        e = y - s
        if model == "logistic model":
            e = (label + 1) / 2 - 1 / (1 + np.exp(-s))
        w += 0.5 / (x @ x) * (x @ e)
    return w


rng = np.random.default_rng(15)
x = rng.normal(size=200)
y = 0.8 * x + 0.5 * rng.normal(size=200)
models = [
    "least squares",
    "maximum likelihood",
    "gradient descent",
    "logistic model",
    "perceptron",
]
w = {model: fit(model, x, y) for model in models}
assert np.allclose([w[m] for m in models[1:3]], w["least squares"], atol=1e-6)
assert all(value > 0 for value in w.values())  # all call y positive where x is
print(", ".join(f"{m} {w[m]:.2f}" for m in models[:4]))

# %% [markdown] covers="explainers:2.1.2 wu:1.2.5"
# ## Take-aways
#
# - $\hat\beta = \mathbf X^\top\mathbf Y/\mathbf X^\top\mathbf X$: the bottom of a parabola, the place where descent ends, the foot of a perpendicular. With an intercept: centre first.
# - Descent multiplies the error by $1 - \eta\sum x_i^2$ a step. Above $2/\sum x_i^2$ it runs away.
# - In standard units the slope is the correlation $r$; in real units $r\sigma_y/\sigma_x$. $|r| < 1$ makes extremes look as if they returned to the mean, in both directions of time.
# - The three $R^2$ agree for least squares with intercept on its own rows. On new rows use $1 - \mathrm{RSS}/\mathrm{TSS}$.
# - Normal noise makes least squares the most likely line for every σ, and $\hat\sigma^2 = \mathrm{RSS}/n$. Without normality it is still the best linear unbiased estimator, if errors are uncorrelated and of equal variance.
# - An interval covers noise and uncertain coefficients. It does not cover a wrong model, and far from the data the model is everything.
#
# ## What the notes got wrong
#
# First the errors that numbers can show, then slips of notation.

# %% covers="wu:1.2.1 wu:1.2.3 wu:1.2.4 wu:1.2.5" demo=true
x, y = six_x, six_y
e = y - x * beta_hat
loss, mse = np.sum(e**2) / 2, np.mean(e**2)
erratum(
    "wu:1.2.1",
    r"$L/n$ is the mean squared error",
    r"$2L/n$ is the mean squared error; $L/n$ is half of it",
    printed_holds=np.isclose(loss / len(x), mse),
    corrected_holds=np.isclose(2 * loss / len(x), mse),
)
erratum(
    "wu:1.2.3",
    r"$\mathbf e = \mathbf Y\,\mathbf X\hat\beta$ (and in 1.2.2 $\beta_\text{new} = "
    r"\beta_\text{old}\,\eta L'(\beta_\text{old})$)",
    r"$\mathbf e = \mathbf Y - \mathbf X\hat\beta$ (and $\beta_\text{old} - \eta "
    r"L'(\beta_\text{old})$): the minus signs are missing, perhaps only in our copy",
    printed_holds=np.isclose(x @ (y * x * beta_hat), 0),
    corrected_holds=np.isclose(x @ e, 0),
)
fathers, sons = ls.heights(500, np.random.default_rng(0))


def cosine(u, v):
    return u @ v / np.sqrt(u @ u * (v @ v))


r = np.corrcoef(fathers, sons)[0, 1]
erratum(
    "wu:1.2.4",
    r"$\theta$ is the angle between $\mathbf X$ and $\mathbf Y$, and in 1.2.5 "
    r"$\beta = \cos\theta$ with the same letter",
    r"two angles: $\theta$ between the raw vectors, and another between the centred "
    r"ones, whose cosine is the correlation",
    printed_holds=np.isclose(cosine(fathers, sons), r),
    corrected_holds=np.isclose(cosine(fathers - fathers.mean(), sons - sons.mean()), r),
)
on_a_line = np.corrcoef(x, 3 + 2 * x)[0, 1]
erratum(
    "wu:1.2.5",
    r"for positive correlation $\beta$ is always less than 1",
    r"$\beta \le 1$, with equality when all points lie on a rising line",
    printed_holds=bool(on_a_line < 1 - 1e-12),
    corrected_holds=bool(on_a_line <= 1 + 1e-12),
)


# %% covers="explainers:2.1.2 explainers:2.1.3" demo=true
def three(y, f):
    total = np.sum((y - y.mean()) ** 2)
    residual = 1 - np.sum((y - f) ** 2) / total
    return np.sum((f - y.mean()) ** 2) / total, residual, np.corrcoef(f, y)[0, 1] ** 2


rng = np.random.default_rng(16)
X = np.column_stack([np.ones(30), rng.normal(size=(30, 2))])  # two features
y = X @ [1, 2, -1] + rng.normal(size=30)
f = X @ np.linalg.lstsq(X, y, rcond=None)[0]
erratum(
    "explainers:2.1.2",
    r"the three forms of $R^2$ are equal",
    r"they are equal for a least-squares fit with intercept on its own rows, and "
    "differ for other predictions, such as the same ones with a steeper slope",
    printed_holds=np.ptp(three(y, y.mean() + 1.3 * (f - y.mean()))) < 1e-9,
    corrected_holds=np.ptp(three(y, f)) < 1e-9,
)
erratum(
    "explainers:2.1.2",
    r"for one predictor, $m = 1$, the correlation is given by the formula",
    r"the formula, and $R^2 = \mathrm{corr}(f, y)^2$, hold for any $m$ (here $m = 2$); "
    r"for $m = 1$ it is moreover $|\mathrm{corr}(x, y)|$",
    printed_holds=not np.isclose(three(y, f)[2], three(y, f)[1]),
    corrected_holds=np.isclose(three(y, f)[2], three(y, f)[1]),
)
X = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
Y = 1.5 * X + np.array([1.0, -1.0, 0.0, -1.0, 1.0])  # both centred
slope, rho = X @ Y / (X @ X), np.corrcoef(X, Y)[0, 1]
erratum(
    "explainers:2.1.3",
    r"if $X$ and $Y$ are centred then $\mathbb E[Y|X] = \rho X$",
    r"if they are centred, $\mathbb E[Y|X] = \rho\,(\sigma_Y/\sigma_X)\,X$; $\rho X$ "
    "needs equal variances",
    printed_holds=np.isclose(slope, rho),
    corrected_holds=np.isclose(slope, rho * Y.std() / X.std()),
)
falling = np.corrcoef(X, -X)[0, 1]
erratum(
    "explainers:2.1.3",
    r"the expected $Y$ is closer to the mean than $X$ unless $\rho = 1$",
    r"unless $|\rho| = 1$ (in standard units; and $X$ not at the mean itself)",
    printed_holds=bool(abs(falling) < 1 - 1e-12),  # ρ = -1: no closer
    corrected_holds=np.isclose(abs(falling), 1),
)

# %% covers="wu:1.5.1 moon:5.1.1 guo:I.1 guo:I.1.a guo:I.1.b wu:1.2.2" demo=true
rng = np.random.default_rng(17)
x = rng.normal(size=20)
y = 2 * x + rng.normal(size=20)


def J(beta, sigma):
    return stats.norm.logpdf(y, x * beta, sigma).sum()


def sse(beta):
    return np.sum((y - x * beta) ** 2)


sigma, other = 0.8, 2.0
gap = [-J(b, sigma) - sse(b) / (2 * sigma**2) for b in (0.0, 1.0, 2.0)]
erratum(
    "wu:1.5.1",
    r"$L = -J$ reduces to minimising $\sum(y_i - s_i)^2$, read as "
    r"$L = \sum(y_i - s_i)^2$",
    r"$-J = \sum(y_i - s_i)^2/(2\sigma^2) + \text{const}$: the same minimum for fixed "
    r"$\sigma$, not the same function",
    printed_holds=np.isclose(-J(1.0, sigma), sse(1.0)),
    corrected_holds=np.ptp(gap) < 1e-9,
)
free = [J(1.0, s) + sse(1.0) / (2 * s**2) for s in (sigma, other)]
exact = [-10 * np.log(2 * np.pi * s**2) for s in (sigma, other)]
erratum(
    "moon:5.1.1",
    r"$\log L = \text{const} - \frac{1}{2\sigma^2}\sum(y_t - \theta x_t)^2$",
    r"the constant is $-\frac n2\log(2\pi\sigma^2)$: it depends on $\sigma$. "
    r"For vectors, read $\theta^\top x_t$",
    printed_holds=np.isclose(*free),
    corrected_holds=np.allclose(free, exact),
)
erratum(
    "guo:I.1",
    "a function that maps $x$ to $y$ is called a deep neural network",
    "a deep neural network is one parametric family of such functions; a line is "
    "another",
)
erratum(
    "guo:I.1",
    r"these labels, drawn from $P(y \mid x)$, are unknown",
    "the labels are observed; what is unknown is the distribution that they come from",
)
erratum(
    "guo:I.1.a",
    r"a stray '=' after argmin, and $(w \cdot x - y)^2$ inside the sum over $n$",
    r"$\operatorname{argmin}_w \frac1N\sum_n (w\,x_n - y_n)^2$",
)
erratum(
    "guo:I.1.b",
    r"$x, y \in \mathbb R^n$",
    r"$x, y \in \mathbb R^N$: there are $N$ rows, and $n$ counts them",
)
erratum(
    "wu:1.2.2",
    r"$\partial L/\partial e_i$ under a sum over $i$, with $L$ the total loss",
    r"$\partial (e_i^2/2)/\partial e_i$, the derivative of the loss of row $i$ (the "
    "value $e_i$ is the same)",
)
erratum(
    "wu:1.5.1",
    r"$p(y_i|s_i) \sim N(s_i, \sigma^2) = $ density; the estimator is called "
    r"$\hat\theta$",
    r"$y_i \mid s_i \sim N(s_i, \sigma^2)$, *with density* $p(y_i|s_i) = \dots$; the "
    r"parameter is $\beta$, so its estimator is $\hat\beta$",
)

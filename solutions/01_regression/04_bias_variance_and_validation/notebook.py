# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="cross-validation, a simulator of bias and variance, and a report that new data confirm"
# # Bias, variance and validation
#
# Two teams get the same 150 patients. Who can tell how far diabetes will have come in a year? Team A looks up the
# patient most alike, and repeats what came: its mean squared error on the 150 is exactly 0. Team B fits 300 models to
# 100 patients and keeps the one that does best on the other 50, which no model has seen. Its error there is 0.44
# of the variance.
#
# Then 292 new patients come. A's error is 1.03; telling everybody the mean would have been better. B's is 0.56.
#
# Nobody lied, and nobody miscounted. *What went wrong with the two numbers, and which number would have told you
# before?*
#
# At the end you write the report of team C.

# %%
# What this notebook needs; the patients, in units of the standard deviation.
import numpy as np
from ipywidgets import Checkbox, FloatSlider, IntSlider, SelectionSlider
from numpy.polynomial.legendre import legvander
from scipy.stats import binom

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
from descent.pictures.regression import bias_variance_and_validation as ms

table = data.diabetes()
patients = (table.X - table.X.mean(axis=0)) / table.X.std(axis=0)
disease = (table.y - table.y.mean()) / table.y.std()


def truth(x):
    return np.sin(4 * x + 0.7)


def parts(seed):
    """100 patients to learn from, 50 to compare on, 292 new ones: row numbers."""
    return np.split(np.random.default_rng(seed).permutation(442), [100, 150])


start("01_regression/04_bias_variance_and_validation")

# %% demo=true covers="guo:II.4"
# What the two teams reported, and what came.
learn, compare, new = parts(57)
nearest = ms.nearest_error(patients, disease, np.r_[learn, compare], new)
rng = np.random.default_rng(57)
best = ms.winner_errors(patients, disease, learn, compare, new, rng)
show(*ms.draw_reports({"A": (0.0, nearest), "B": best}, "Both reports were too good"))

# %% [markdown] covers="explainers:2.5.1 guo:II.5"
# ## 1. Too stiff, too loose
#
# Begin where the truth is known (dashed). Above, 100 rows and little noise; below, 15 rows and much. The titles tell
# root mean squared errors on the *training* rows and on fresh *validation* rows.
#
# | | training error | validation error | other data? |
# |---|---|---|---|
# | **underfits** | high | high | the fit hardly changes |
# | **overfits** | low | high | it changes wildly |
#
# Find one panel of each kind. Which one is team A? Does the degree alone decide? To find out, feed a learner more
# and more rows. A *learner* gets rows and gives back a model, a function from new inputs to predictions.

# %% covers="explainers:2.5.1"
# One truth, two worlds, three degrees.
show(*ms.draw_six_fits(truth))

# %% predict="more-rows" minutes=1
predict(
    "more-rows",
    "You may replace the 15 noisy rows below by 150 equally noisy ones. Which "
    "validation error falls most?",
    ["degree 1", "degree 5", "degree 12"],
    truth=int(
        np.argmax(
            np.subtract(
                *np.reshape(
                    [
                        fit["validation"]
                        for fit in ms.six_fits(truth, worlds=((15, 0.4), (150, 0.4)))
                    ],
                    (2, 3),
                )
            )
        )
    ),
    because="A fit that follows the noise is cured by more rows. The straight line is "
    "not: it is wrong on any number of them.",
)


# %% open=true covers="guo:II.5"
def polynomial(degree):
    """A learner: rows x (n,), y (n,) -> the polynomial of least squares."""

    def learner(x, y):
        w = np.linalg.lstsq(legvander(x, degree), y, rcond=None)[0]
        return lambda new_x: legvander(new_x, degree) @ w

    return learner


# %% exercise="learning_curve" points=3 difficulty=1 covers="moon:5.3 explainers:2.5.1 guo:II.4"
def learning_curve(learner, x, y, new_x, new_y, sizes):
    """Training and validation error of a learner that gets more and more rows.

    learner(x, y) gives a model; model(new_x) gives predictions. x (N,), y (N,);
    new_x (m,), new_y (m,); sizes (s,): whole numbers from 1 to N, in any order.
    For each n in sizes a model learns from the first n rows.
    Returns two arrays (s,): its mean squared error on these n rows, and on the m new.
    If a learner tells everybody the mean, then y = [1, 3, 8], new_y = [2, 6] and
    sizes = [1, 2] give [0, 1] and [13, 8].
    """
    ### BEGIN SOLUTION
    training, validation = [], []
    for n in sizes:
        model = learner(x[:n], y[:n])
        training.append(np.mean((model(x[:n]) - y[:n]) ** 2))
        validation.append(np.mean((model(new_x) - new_y) ** 2))
    return np.array(training), np.array(validation)
    ### END SOLUTION


# %% check="learning_curve"
check(learning_curve)

# %% covers="moon:5.3 explainers:2.5.1 guo:II.5 guo:II.4"
# A line and a degree of 10, from 20 rows to 400: medians of 60 data sets.
with after(learning_curve, "more-rows"):
    sizes, rng, curves = [20, 30, 50, 80, 120, 200, 400], np.random.default_rng(0), {}
    x, new_x = rng.uniform(-1, 1, (60, 400)), ms.grid(200)
    y = truth(x) + 0.3 * rng.normal(size=x.shape)
    new_y = truth(new_x) + 0.3 * rng.normal(size=(60, 200))
    for degree in (1, 10):
        runs = [
            learning_curve(polynomial(degree), *rows, sizes)
            for rows in zip(x, y, [new_x] * 60, new_y, strict=True)
        ]
        curves[degree] = np.median(runs, axis=0)
    show(*ms.draw_learning_curves(sizes, curves, 0.3**2))

# %% [markdown] covers="guo:II.5 explainers:2.5 moon:3.1"
# ## 2. One learner, many data sets
#
# What have the wild fits in common? Nothing. Call the truth $f$. Rows are
# $y_i = f(x_i) + \varepsilon_i$, with noise $\varepsilon_i$ of mean 0 and variance $\sigma^2$. Each data set $D$ gives a
# fit of its own, $\hat f_D$. A learner can be wrong in two ways:
#
# - **bias**: its mean fit $\bar f = \mathbb E_D[\hat f_D]$ misses $f$;
# - **variance**: its fits scatter round $\bar f$.
#
# Play the data sets; drag the degree along the curves.
#
# 1. Which degree is best at 15 rows? At 200? What does degree 10 cost in each case?
# 2. Degree 10, 15 rows: can ridge ([[01/03]]) undo the damage? At what price?
# 3. Where is the training error near the risk, where does it flatter?

# %% covers="guo:II.5 explainers:2.5 moon:3.1"
# Play the data sets. Drag the degree along the curves.
explore(
    ms.fan_explorer(truth),
    drag={"degree": "terms"},
    play="sets",
    degree=IntSlider(10, min=0, max=12, description="degree"),
    sets=IntSlider(12, min=1, max=40, description="data sets"),
    n=IntSlider(15, min=15, max=200, step=5, description="rows n"),
    noise=FloatSlider(0.3, min=0, max=1, step=0.05, description="noise σ"),
    log_ridge=FloatSlider(-6, min=-6, max=1, step=0.5, description="log₁₀ ridge λ"),
)


# %% exercise="bias_variance" points=2 difficulty=1 covers="explainers:2.5 explainers:2.5.2 moon:3.1 guo:II.5"
def bias_variance(fits, truth):
    """Squared bias and variance of a learner, each averaged over the points.

    fits (R, m): fits to R data sets at m points, R >= 1. truth (m,): the true values.
    All means are plain means: the one over data sets, too. Returns (bias2, variance).
    fits = [[1, 2], [3, 2]] and truth = [0, 2] give (2.0, 0.5).
    """
    ### BEGIN SOLUTION
    centre = fits.mean(axis=0)
    bias2 = np.mean((centre - truth) ** 2)
    variance = np.mean((fits - centre) ** 2)
    return bias2, variance
    ### END SOLUTION


# %% check="bias_variance"
check(bias_variance)

# %% [markdown] covers="moon:3.1.1 explainers:2.5.2 moon:3.1"
# ## 3. Why do they add up?
#
# The **risk** is the mean squared error on new pairs. At a new $x$ with target $y = f + \varepsilon$ split the error:
#
# $$y - \hat f \;=\; \underbrace{\varepsilon}_{\text{noise}} + \underbrace{(f - \bar f)}_{b} + \underbrace{(\bar f - \hat f)}_{u} .$$
#
# Squared, that is $\varepsilon^2 + b^2 + u^2$ and three mixed terms. Take means: $b$ is a constant,
# $\mathbb E\,\varepsilon = 0$, $\mathbb E\,u = 0$, and $\varepsilon$ is independent of the fit, which never saw this
# target. So all mixed terms vanish:
#
# $$\mathbb E\,(y - \hat f)^2 = \sigma^2 + \mathrm{bias}^2 + \mathrm{variance} .$$
#
# Do not believe it. Build the experiment, and measure the left side and each term on the right by itself.


# %% exercise="risk_terms" points=5 difficulty=1 covers="explainers:2.5.2 moon:3.1.1 explainers:2.5"
def risk_terms(learner, f, x, new_x, sigma, R, rng):
    """Risk of a learner and its three terms, measured on R data sets.

    learner as above; f: the truth, a function of arrays. x (n,), new_x (m,).
    sigma >= 0; R >= 1; rng: NumPy generator. For each data set in turn draw
    sigma * rng.normal(size=n), the noise of the n targets that the learner sees, then
    sigma * rng.normal(size=m), that of m new targets at new_x.
    Returns four plain means over data sets and new points: risk, the squared error
    on the new targets; noise, their squared distance from f; bias2, the squared
    distance of the mean fit from f; variance, that of the fits from the mean fit.
    """
    ### BEGIN SOLUTION
    true = f(new_x)
    fits, errors, noises = [], [], []
    for _ in range(R):
        y = f(x) + sigma * rng.normal(size=len(x))
        fit = learner(x, y)(new_x)
        target = true + sigma * rng.normal(size=len(new_x))
        fits.append(fit)
        errors.append(np.mean((target - fit) ** 2))
        noises.append(np.mean((target - true) ** 2))
    fits = np.array(fits)
    centre = fits.mean(axis=0)
    bias2 = np.mean((centre - true) ** 2)
    variance = np.mean((fits - centre) ** 2)
    return np.mean(errors), np.mean(noises), bias2, variance
    ### END SOLUTION


# %% check="risk_terms"
check(risk_terms)

# %% predict="bias-of-200" minutes=1
predict(
    "bias-of-200",
    "Degree 12, 15 rows, σ = 0.3. The true squared bias is below a millionth, the "
    "variance 15. You measure the squared bias by the mean of 200 fits, and repeat the "
    "whole experiment many times. What do you get on average?",
    ["almost 0: chance averages out", "about 0.08", "about 15"],
    truth=int(
        np.digitize(ms.exact_terms(truth, 15, 0.3, 12)[1] / 200, [0.01, 1]),
    ),
    because="The mean of 200 fits still scatters, with a variance of 15/200 = 0.08. "
    "Squared, a miss in either direction counts, and nothing cancels.",
)

# %% open=true covers="explainers:2.5.2 moon:3.1.1"
with after(risk_terms, "bias-of-200"):
    x, new_x, exact = ms.grid(15), ms.grid(), ms.exact_terms(truth, 15, 0.3, 12)
    S = legvander(new_x, 12) @ np.linalg.pinv(legvander(x, 12))  # the fit is S y
    bias2 = np.mean((S @ truth(x) - truth(new_x)) ** 2)
    claim("S f, the exact mean fit: {b}", bias2 < 1e-6, b=below(1e-6))
    for R in (50, 200):
        rngs = [np.random.default_rng(seed) for seed in range(20)]
        terms = [risk_terms(polynomial(12), truth, x, new_x, 0.3, R, g) for g in rngs]
        seen = np.mean([bias2 for _, _, bias2, _ in terms])
        print(f"{R} fits: {seen:.2f} for bias²; variance / {R} is {exact[1] / R:.2f}")

# %% [markdown] covers="explainers:2.5.2 explainers:2.5"
# So a simulation shows a bias that is not there: on average $\mathrm{bias}^2 + \mathrm{variance}/R$, and
# the measured variance is too small by as much. More data
# sets cure it slowly. Better, do not simulate what you can know. With fixed inputs, least squares and ridge are linear
# in the targets, $\hat f = Sy$, with the **smoother matrix** $S$. So the mean fit is $\bar f = Sf$, exactly, and the
# variance at point $k$ is $\sigma^2 \sum_i S_{ki}^2$. The curves that you dragged were computed so, and so are
# the areas below. The dots are yours.

# %% covers="explainers:2.5 explainers:2.5.2 moon:3.1.1"
# Exact terms of 11 degrees, 20 rows; the risk as your experiment measures it.
with after(risk_terms):
    degrees, x, new_x = np.arange(11), ms.grid(20), ms.grid(100)
    runs = [
        risk_terms(polynomial(k), truth, x, new_x, 0.3, 400, np.random.default_rng(k))
        for k in degrees
    ]
    risk, *terms = np.transpose(runs)
    left = np.abs(risk - np.sum(terms, axis=0)).max()
    claim(
        "the mixed terms leave at most {left:.4f} of a risk of {low:.2f} or more",
        left < 0.006,  # four standard errors of 40,000 products
        left=left,
        low=risk.min(),
    )
    exact = [ms.exact_terms(truth, 20, 0.3, k)[:2] for k in degrees]
    few, many = (np.array(ms.exact_terms(truth, n, 0.3, 10)) for n in (50, 400))
    line = [ms.exact_terms(truth, n, 0.3, 1)[0] for n in (50, 400)]
    claim(
        "8 times the rows: the variance of degree 10 falls by {v:.1f}, about as 1/n",
        7 < few[1] / many[1] < 9,
        v=few[1] / many[1],
    )
    claim("the line keeps its squared bias, {b:.2f}", np.isclose(*line, rtol=0.01),
          b=line[1])  # fmt: skip
    show(*ms.draw_stack(degrees, exact, risk, 0.3**2))

# %% [markdown] covers="moon:5.3 moon:3.1 guo:II.4"
# ## 4. The fit has seen the noise
#
# Now team A. On *training* targets one step of the proof fails: the fit has seen their $\varepsilon$. Fit $d$
# weights to $n$ rows by least squares. At the training inputs the fit is $Hy$, where $H$ projects on $d$ columns:
# $H = H^2$, $\operatorname{tr} H = d$. So $u = -H\varepsilon$, and
#
# $$\mathbb E\,\tfrac2n \textstyle\sum_i \varepsilon_i u_i = -\tfrac2n\, \mathbb E\,[\varepsilon^\top H \varepsilon] = -2\sigma^2 d/n .$$
#
# By so much is the training error too low, on average, against new targets at the same inputs. (Bounds of the form
# "error outside $\le$ error inside $+\ \Omega$" ask for such an $\Omega$.) The nearest neighbour is the extreme:
# $\hat f = y$ on its own rows, so $H = I$ and $d = n$.

# %% covers="moon:5.3 moon:3.1 guo:II.4"
# Training error against new targets at the same inputs, for three numbers of weights.
with after(learning_curve):
    rng, x = np.random.default_rng(1), ms.grid(20)
    for degree in (1, 4, 9):
        runs = [
            learning_curve(polynomial(degree), x, y, x, new_y, [20])
            for y, new_y in truth(x) + 0.3 * rng.normal(size=(1500, 2, 20))
        ]
        flatters = np.subtract(*np.mean(runs, axis=0)[::-1, 0])
        wanted = 2 * 0.3**2 * (degree + 1) / 20
        claim(
            "{d} weights, 20 rows: too low by {gap:.3f}; 2σ²d/n is {wanted:.3f}",
            abs(flatters - wanted) < 0.005,
            d=degree + 1, gap=flatters, wanted=wanted,
        )  # fmt: skip

# %% [markdown] covers="guo:II.4 guo:II.4.a explainers:3.4.2"
# ## 5. Rows that have not spoken
#
# On real data $f$ is unknown. So put rows aside: about 70 % to *train*, 20 % to *validate*, that is to choose between
# models, 10 % to *test* the chosen one, once. But a fifth of 100 rows is a noisy judge, and the models have not
# learned from it.
#
# **$k$-fold cross-validation** lets each row do both, never at once. Test rows lie aside. Cut the others, $D$,
# into folds $D_1, \dots, D_k$; train on $D \setminus D_i$, validate on $D_i$, for each $i$; average. The setting of
# the lowest mean is trained again, on all of $D$.


# %% exercise="cv_scores" points=3 difficulty=1 covers="guo:II.4.a explainers:3.4.2"
def cv_scores(learner, X, y, k):
    """Mean squared validation error of each of k folds.

    learner(X_train, y_train) gives a model; model(X_new) gives predictions.
    X (n, d), y (n,), 2 <= k <= n. Returns (k,).
    Folds are consecutive blocks of rows; their sizes differ by at most one, the longer
    ones first: n = 11, k = 4 make folds of 3, 3, 3 and 2 rows.
    If a learner tells everybody the mean, y = [0, 0, 3], k = 3 give [2.25, 2.25, 9].
    """
    ### BEGIN SOLUTION
    rows, scores = np.arange(len(y)), []
    for fold in np.array_split(rows, k):
        rest = np.delete(rows, fold)
        model = learner(X[rest], y[rest])
        scores.append(np.mean((model(X[fold]) - y[fold]) ** 2))
    return np.array(scores)
    ### END SOLUTION


# %% check="cv_scores"
check(cv_scores)

# %% covers="guo:II.4.a explainers:3.4.2"
# One split, 5 folds, 10 folds, on 200 data sets of 60 rows: how near is the estimate?
with after(cv_scores):
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import KFold, cross_val_score

    theirs = cross_val_score(
        Ridge(1.0), patients, disease, cv=KFold(10), scoring="neg_mean_squared_error"
    )
    ours = cv_scores(lambda A, b: Ridge(1.0).fit(A, b).predict, patients, disease, 10)
    claim("your ten scores of ridge are scikit-learn's", np.allclose(ours, -theirs))
    rng, points = np.random.default_rng(5), ms.grid()
    x = rng.uniform(-1, 1, (200, 60))
    y = truth(x) + 0.3 * rng.normal(size=x.shape)
    five, ten = (
        np.array([cv_scores(polynomial(5), *rows, k) for rows in zip(x, y)])
        for k in (5, 10)
    )
    means = {"5 folds": five.mean(axis=1), "10 folds": ten.mean(axis=1)}
    fits = [polynomial(5)(*rows)(points) for rows in zip(x, y)]
    risk = 0.3**2 + np.mean((fits - truth(points)) ** 2)
    show(*ms.draw_folds(5, 60, {"one split": five[:, 0], **means}, risk))

# %% [markdown] covers="explainers:3.4.3 moon:3.1"
# ## 6. The best of many looks too good
#
# Now team B. Group one publishes a network with 99 hidden neurons, group two one with 100; all else is equal. The
# first has the slightly lower test error, and the world adopts it. Had one group tried both and kept the better,
# it would be the same: the test set has *chosen*. A whole field does so for years.
#
# How much does that flatter? $M$ models, each of true error $p$, make $B_1, \dots, B_M$ mistakes on $n$ test cases:
# independent binomial counts. For a count, $\mathbb E[\min] = \sum_{j \ge 0} P(\min > j)$, and the lowest is above
# $j$ if all are. `binom.sf(j, n, p)` is $P(B > j)$.


# %% exercise="expected_best" points=2 difficulty=1 covers="explainers:3.4.3"
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

# %% [markdown] covers="guo:II.4 explainers:3.4.2 explainers:3.4.3 wu:10.6.8"
# ## 7. The report of team C
#
# Choose by cross-validation, report once. One more caution: scores are noisy, so a slightly lower mean may be luck. The
# **one-standard-error rule** takes the *simplest* learner whose mean is at most the lowest mean plus one standard
# error of that lowest, $s/\sqrt k$ with $s^2 = \frac1{k-1}\sum_i (\text{score}_i - \text{mean})^2$. (Folds share
# training rows, so it is a rough guide.) Write the whole procedure, so that no test row can be asked twice.


# %% exercise="honest_report" points=4 difficulty=1 covers="guo:II.4 explainers:3.4.2"
def honest_report(learners, score, X, y, test):
    """Choose a learner without the test rows, then report its error on them, once.

    learners: a list, the simplest first; learner and model as above. X (n, d), y (n,).
    test: row numbers, in any order. All other rows, in their order, are the rest.
    score(learner, X, y) gives k >= 2 scores (k,), low is good: give it the rest. The
    first learner by the rule above is chosen and trained on the whole rest; it alone is
    asked about the test rows. (Of equal lowest means the first counts.)
    Returns (number, mean, error): the number of the chosen, from 0; its mean score;
    the mean squared error of its model on the test rows.
    """
    ### BEGIN SOLUTION
    rest = np.delete(np.arange(len(y)), test)
    scores = np.array([score(learner, X[rest], y[rest]) for learner in learners])
    means = scores.mean(axis=1)
    spread = scores.std(axis=1, ddof=1)
    lowest = np.argmin(means)
    limit = means[lowest] + spread[lowest] / np.sqrt(scores.shape[1])
    number = np.argmax(means <= limit)
    model = learners[number](X[rest], y[rest])
    error = np.mean((model(X[test]) - y[test]) ** 2)
    return number, means[number], error
    ### END SOLUTION


# %% check="honest_report"
check(honest_report)

# %% covers="explainers:3.4.3 guo:II.4 explainers:3.4.2 moon:3.1"
# The question of the first screen, once and a hundred times.
with after(cv_scores, expected_best, honest_report):
    p, n, M = 0.1, 1000, 100
    low = np.random.default_rng(9).binomial(n, p, (5000, M)).min(axis=1) / n
    claim(
        "best of {M} models of true error 0.10 on 1,000 cases: {e:.3f}, as simulated",
        abs(low.mean() - expected_best(p, n, M)) < 4 * low.std() / np.sqrt(5000),
        M=M, e=expected_best(p, n, M),
    )  # fmt: skip

    def ridge(lam):
        def learner(A, b):
            C, t = A - A.mean(axis=0), b - b.mean()
            w = np.linalg.solve(C.T @ C + lam * np.eye(A.shape[1]), C.T @ t)
            return lambda new: (new - A.mean(axis=0)) @ w + b.mean()

        return learner

    lams = 10.0 ** np.arange(4, -3, -1)
    learners, runs = [ridge(lam) for lam in lams], []
    for seed in (57, *range(100, 200)):
        learn, compare, new = parts(seed)
        known, rng = np.r_[learn, compare], np.random.default_rng(seed)
        mine = honest_report(
            learners, lambda f, A, b: cv_scores(f, A, b, 10),
            patients[known], disease[known], np.arange(100, 150),
        )  # fmt: skip
        model = learners[mine[0]](patients[learn], disease[learn])
        came = np.mean((model(patients[new]) - disease[new]) ** 2)
        a = ms.nearest_error(patients, disease, known, new)
        b = ms.winner_errors(patients, disease, learn, compare, new, rng)
        runs.append([(0.0, a), b, (mine[2], came)])
        if seed == 57:
            print(f"Team C takes λ = {lams[mine[0]]:g} and reports {mine[2]:.2f};")
            print(f"on the 292 new patients it misses by {came:.2f}.")
    told, came = np.mean(runs[1:], axis=0).T
    claim(
        "100 splits: B reports {b:.2f} and gets {c:.2f}", came[1] - told[1] > 0.06,
        b=told[1], c=came[1],
    )  # fmt: skip
    claim(
        "C reports {b:.2f} and gets {c:.2f} (one report of 50 scatters by {s:.2f})",
        abs(came[2] - told[2]) < 0.03,
        b=told[2], c=came[2], s=np.std(runs, axis=0)[2, 0],
    )  # fmt: skip
    reports = dict(zip("ABC", zip(told, came, strict=True), strict=True))
    show(*ms.draw_reports(reports, "Means of 100 splits: C can be believed"))

# %% [markdown] covers="wu:10.10.7 guo:II.4 guo:II.5"
# ## Take-aways
#
# A's number came from rows that its model had learned, B's from rows that had chosen it. C's rows did neither.
# B's *model* was not bad: its number was.
#
# - Risk = noise + squared bias + variance. Noise is a floor. Rows cut variance; richer families cut bias; ridge
#   trades a little bias for much variance. Few rows want simple models: $L_2$ suits many small weights, $L_1$ few large
#   ones.
# - A mean of $R$ fits keeps $1/R$ of the variance, which looks like bias. Where you can, use $Sf$.
# - Least squares with $d$ weights flatters itself by $2\sigma^2 d/n$.
# - Choose by cross-validation (scaling and stopping included), train again, test once. The best of many
#   flatters: the more models and the fewer cases, the more.
#
# [[next]]: what happens when $d$ passes $n$.

# %% [markdown] covers="explainers:2.5.2.a explainers:2.5.2"
# ## Deeper: one mean after another
#
# Why may the mixed terms be killed at each $x$ by itself, when $X$ is random, too? A mean over pairs can be taken in two steps, first over $Y$ for each value of $X$,
# then over $X$. That is the *tower property*,
#
# $$\mathbb E_{(X,Y)}[g(X,Y)] = \mathbb E_X\big[\,\mathbb E_{Y|X}[g(X,Y)]\,\big] .$$
#
# Given $X = x$ and the data set, the error $f(x) - \hat f(x)$ is a constant, and $\mathbb E[Y - f(x) \mid X = x] = 0$. So noise may even differ
# from place to place: with variance $\sigma^2(x)$ the first term is $\mathbb E_X[\sigma^2(X)]$.

# %% demo=true covers="explainers:2.5.2.a explainers:2.5.2"
# A table of probabilities, in one step and in two; then noise that grows with x.
rng = np.random.default_rng(10)
joint = rng.dirichlet(np.ones(12)).reshape(3, 4)  # P(X = i, Y = j)
g, at_x = rng.normal(size=(3, 4)), joint.sum(axis=1)
inner = (joint * g).sum(axis=1) / at_x  # E[g | X = i]
claim("E[g] = {one:.3f} in both ways", np.isclose(at_x @ inner, (joint * g).sum()),
      one=at_x @ inner)  # fmt: skip
y_values, h = np.array([-1.0, 0.0, 1.0, 2.0]), rng.normal(size=(3, 1))
f_x = (joint @ y_values / at_x)[:, None]  # E[Y | X = i]
mixed = (joint * (y_values - f_x) * h).sum(axis=1)
claim("(Y − f(X)) h(X) has mean 0 at each x, for any h", np.allclose(mixed, 0))
x, new_x, sd = ms.grid(30), ms.grid(100), lambda x: 0.3 * (1 + x)
S = ms.smoother(x, new_x, 3)
fits = (truth(x) + sd(x) * rng.normal(size=(20_000, 30))) @ S.T
targets = truth(new_x) + sd(new_x) * rng.normal(size=(20_000, 100))
exact = (
    np.mean(sd(new_x) ** 2),
    np.mean((S @ truth(x) - truth(new_x)) ** 2),
    np.mean(S**2 @ sd(x) ** 2),
)
risk = np.mean((targets - fits) ** 2)
claim(
    "σ = 0.3 (1 + x): {noise:.3f} + {bias2:.3f} + {variance:.3f} = {sum:.3f}, measured",
    abs(risk - sum(exact)) < 0.002,
    noise=exact[0], bias2=exact[1], variance=exact[2], sum=sum(exact),
)  # fmt: skip

# %% [markdown] covers="moon:5.3 moon:3.1"
# ## Deeper: what a weight costs
#
# If the family holds the truth, the bias is 0. Variance adds $\sigma^2 d/n$ to both errors, and having seen the noise
# takes $2\sigma^2 d/n$ off the training error (section 4):
#
# $$\mathbb E[\text{train}] = \sigma^2\Big(1 - \frac dn\Big), \qquad \mathbb E[\text{new targets, same inputs}] = \sigma^2\Big(1 + \frac dn\Big) .$$
#
# At *fresh* inputs the price is higher: for independent normal features $\sigma^2\big(1 + \frac d{n-d-1}\big)$ as long as
# $d < n - 1$, and infinite from there to $d = n$, where the fit goes through every row. (Beyond, fits are not unique, and
# the error can fall again.)

# %% demo=true covers="moon:5.3 moon:3.1"
# Three errors of least squares against the weights and against the rows.
show(*ms.draw_least_squares())

# %% [markdown] covers="explainers:3.4.3 moon:3.1"
# ## Deeper: who has seen the benchmark?
#
# A hundred models of true error 0.10 on a thousand cases: the winner reports 0.077. There is a guarantee, too. With
# probability $1 - \delta$ *all* $M$ reports are within $\Omega = \sqrt{\ln(M/\delta)/(2n)}$ below the truth (Hoeffding's
# inequality, summed over models), if the models were fixed before the cases. Who looks at scores
# and builds the next model has no such promise.
#
# How many cases make the best of 100 honest to one point? Real models make the same mistakes: what does it do when
# they copy a common pattern on 0.9 of the cases? What does a refreshed benchmark say of the winners?

# %% covers="explainers:3.4.3 moon:3.1"
# The luck of the best of many models on one benchmark.
with after(expected_best):
    omega = np.sqrt(np.log(100 / 0.05) / 2000)
    low = np.random.default_rng(8).binomial(1000, 0.1, (5000, 100)).min(axis=1) / 1000
    claim(
        "Ω = {omega:.3f} at 95 %: {broken} of 5,000 benchmarks break it",
        np.mean(0.1 > low + omega) <= 0.05,
        omega=omega, broken=np.sum(0.1 > low + omega),
    )  # fmt: skip
    best = [expected_best(0.1, 1000, m) for m in (1, 10, 100, 1000)]
    print("best of 1, 10, 100, 1000:", *(f"{rate:.3f}" for rate in best))
    explore(
        ms.draw_benchmark,
        models=SelectionSlider(
            value=100, options=[1, 3, 10, 30, 100, 300, 1000], description="models M"
        ),
        n=SelectionSlider(
            value=1000, options=[100, 300, 1000, 3000, 10000], description="test cases"
        ),
        agreement=FloatSlider(0.0, min=0, max=1, step=0.1, description="agreement"),
        fresh=Checkbox(False, description="refresh the benchmark"),
    )

# %% [markdown] covers="explainers:3.4 explainers:3.4.1"
# ## Deeper: how many draws?
#
# What training does not set is a **hyperparameter**: the degree, $\lambda$, the number of layers, the learning rate. A
# bad one underfits, overfits or diverges, and the learning rate $\eta$ of 300 steps of descent (degree 15, 20 rows, σ = 0.5)
# can do all three. At a tiny $\eta$ they end long before the descent arrives. At a large one?

# %% predict="best-5-percent" minutes=1
predict(
    "best-5-percent",
    "How many random draws make it 95 % sure that one of them is among the best 5 % of "
    "all settings?",
    ["about 60", "about 400", "about 20", "it depends on how many hyperparameters"],
    truth=int(np.argmin([abs(1 - 0.95**n - 0.95) for n in (60, 400, 20)])),
    because=f"Each draw misses the best 5 % with chance 0.95, and 1 − 0.95⁶⁰ is "
    f"{1 - 0.95**60:.3f}, for any number of hyperparameters. (With many of them even "
    "the best 5 % may be far from the optimum.)",
)

# %% [markdown] covers="explainers:3.4.1"
# A grid over $m$ hyperparameters, $\Omega_{h_1} \times \dots \times \Omega_{h_m}$ with $g$ values each, costs $g^m$
# trainings. *Random search* draws settings, and keeps the one of lowest validation loss. Rates and penalties live on a
# logarithmic scale: from `low` ($u = 0$) to `high` ($u \to 1$), equal steps of $u$ multiply by equal *factors*.


# %% exercise="random_search" points=3 difficulty=1 covers="explainers:3.4.1"
def random_search(objective, low, high, n, rng):
    """The best of n random settings, log-uniform between low and high.

    objective: function (m,) -> loss, any number; nan where training diverged (never
    on all n).
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

# %% covers="explainers:3.4 explainers:3.4.1"
# The learning rate swept, and searched by you.
with after(random_search, "best-5-percent"):
    rng, new_x, x = np.random.default_rng(28), ms.grid(), ms.grid(20)
    y, new_y = (truth(v) + 0.5 * rng.normal(size=len(v)) for v in (x, new_x))
    features, new_features = legvander(x, 15), legvander(new_x, 15)

    def errors(rates):
        w = np.zeros((len(rates), 16))
        for _ in range(300):
            w = w - rates[:, None] * 2 / 20 * (w @ features.T - y) @ features
        return [
            np.mean((w @ A.T - t) ** 2, axis=1)
            for A, t in ((features, y), (new_features, new_y))
        ]

    def validation(setting):
        error = errors(setting)[1][0]
        return error if error < 1e3 else np.nan

    rates = np.geomspace(1e-4, 2, 27)
    edge = 2 / np.linalg.eigvalsh(2 / 20 * features.T @ features)[-1]
    swept = errors(rates)[1].min()
    ends = np.array([1e-4]), np.array([2.0])
    rate, found = random_search(validation, *ends, 60, np.random.default_rng(0))
    claim(
        "60 draws find η = {rate:.2g} with {found:.3f}; the sweep has {swept:.3f}",
        found < swept + 0.005,
        rate=rate[0], found=found, swept=swept,
    )  # fmt: skip
    show(*ms.draw_rates(rates, *errors(rates), edge))

# %% [markdown] covers="explainers:3.4.1"
# Why not a grid? Two hyperparameters, of which one hardly matters: the loss is $(\log_{10} h_1 - c_1)^2 + 0.02\,(\log_{10} h_2 - c_2)^2$,
# with another optimum $c$ in each of 200 problems. The dashed line is the best value of the one that matters. Look at
# the ticks below: how many of its values does each method try?

# %% covers="explainers:3.4.1"
# A grid and random draws, as many trials each.
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

# %% [markdown] covers="explainers:2.5.2.box-mse"
# ## Deeper: why squared error?
#
# Does every loss split so? Take the *0–1 loss* at one input where class 1 has probability 0.9; over data sets, a
# classifier says 1 with chance $q$. Natural guesses: noise 0.1; bias 1 if the majority vote is wrong; variance, the
# chance to differ from that vote. Which would you like, $q = 0.1$ or 0.4? Both vote wrong, and 0.4 varies *more*.

# %% [markdown] covers="explainers:2.5.2.box-mse"
# *Cross-entropy* does split, round another mean. Let $t$ be the true probabilities of the classes, $p_1, \dots, p_S$ the
# predictions of $S$ trained models, $\mathrm{KL}(a \Vert b) = \sum_c a_c \log(a_c/b_c)$:
#
# $$\frac1S\sum_s \Big(\!-\!\sum_c t_c \log p_{s,c}\Big) = \underbrace{-\sum_c t_c \log t_c}_{\text{noise}} + \underbrace{\mathrm{KL}(t \Vert \bar p)}_{\text{bias}} + \underbrace{\tfrac1S\sum_s \mathrm{KL}(\bar p \Vert p_s)}_{\text{variance}} .$$
#
# The centre $\bar p$ averages $\log p$: $\log\bar p_c = \frac1S\sum_s \log p_{s,c} + \text{constant}$, and sums to 1. (Up to
# the noise, squared error and cross-entropy are *Bregman divergences*; each of these splits round a mean of its own.)


# %% exercise="ce_decompose" points=3 difficulty=2 covers="explainers:2.5.2.box-mse"
def ce_decompose(probs, truth):
    """Noise, bias and variance of the mean cross-entropy, in natural logarithms.

    probs (S, k): predictions of S models for k classes, all > 0, rows sum to 1. S may
    be in the hundreds.
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
# The 0–1 loss does not split; cross-entropy does, round the geometric mean only.
with after(ce_decompose):
    q, noise = np.array([0.9, 0.6, 0.4, 0.1]), 0.1
    risk = q * noise + (1 - q) * (1 - noise)  # says 1 and it is 0, or 0 and it is 1
    right = q > 0.5
    bias, variance = 1.0 - right, np.where(right, 1 - q, q)
    total = noise + bias + variance
    print("risk at q = 0.9, 0.6, 0.4, 0.1:", *(f"{r:.2f}" for r in risk))
    print("noise + bias + variance:       ", *(f"{r:.2f}" for r in total))
    signed = (2 * q - 1) * noise + bias + np.where(right, 1, -1) * variance
    claim("variance helps where the vote is wrong: with a minus there, and the noise "
          "times 2q − 1, it adds up",
          np.allclose(signed, risk) and not np.allclose(total, risk))  # fmt: skip
    probs = np.random.default_rng(3).dirichlet([4, 3, 2], 500)
    t = np.array([0.7, 0.2, 0.1])
    loss, terms, plain = (
        -np.mean(np.log(probs) @ t),
        ce_decompose(probs, t),
        probs.mean(0),
    )
    naive = terms[0] + t @ np.log(t / plain) + np.mean(np.log(plain / probs) @ plain)
    claim("cross-entropy {loss:.3f} is the sum of your terms",
          np.isclose(sum(terms), loss), loss=loss)  # fmt: skip
    claim("round the plain mean it would be {n:.3f}", abs(naive - loss) > 0.01, n=naive)

# %% [markdown] covers="explainers:2.1.2.box-linearity wu:10.6.8"
# ## Deeper: two uses of your folds
#
# **Is a relation linear?** Compare a line with a cubic spline. On training rows the spline always wins: it contains the line.
# Does it win on held-out rows only if the curve is real? A hundred data sets of each kind tell how far one narrow win can be trusted.
#
# **How hard a margin?** A support vector machine on the breast cancer data: its $C$ from $2^{-5}, 2^{-3}, \dots, 2^{15}$, by
# your folds and the one-standard-error rule (the smaller $C$, the simpler). The squared error of 0/1 labels is the share of mistakes; even the scaling is learned from
# training rows alone.

# %% covers="explainers:2.1.2.box-linearity"
# R² of a line and of a spline, training and held out: means of 100 data sets.
with after(cv_scores):

    def solve(A, b):
        return lambda new: new @ np.linalg.lstsq(A, b, rcond=None)[0]

    for name, f in {"line": lambda x: 2 * x, "sine": lambda x: np.sin(3 * x)}.items():
        r2, rng = [], np.random.default_rng(7)
        for _ in range(100):
            x = rng.uniform(-1, 1, 100)
            y = f(x) + 0.5 * rng.normal(size=100)
            bases = legvander(x, 1), ms.cubic_spline_basis(x, (-0.5, 0, 0.5))
            inside = [np.mean((solve(B, y)(B) - y) ** 2) for B in bases]
            held_out = [cv_scores(solve, B, y, 10).mean() for B in bases]
            r2.append(1 - np.array([inside, held_out]) / y.var())
        (a, b), wins = np.mean(r2, axis=0), np.sum(np.diff(r2)[..., 0] > 0, axis=0)
        claim(
            "{name}: R² {a[0]:.2f}, spline {a[1]:.2f}; held out {b[0]:.2f}, {b[1]:.2f}",
            wins[0] == 100 and (wins[1] > 95 if name == "sine" else 0 < wins[1] < 20),
            name=name, a=a, b=b,
        )  # fmt: skip
        print(f"  the spline wins {wins[0]} of 100, held out {wins[1]}")

# %% covers="wu:10.6.8 explainers:3.4.2"
# C of a support vector machine by your cross-validation and your report.
with after(cv_scores, honest_report):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    def machine(C):
        return lambda A, b: make_pipeline(StandardScaler(), SVC(C=C)).fit(A, b).predict

    X, y = data.breast_cancer().X, data.breast_cancer().y.astype(float)
    order = np.random.default_rng(1).permutation(569)
    X, y, values, scores = X[order], y[order], 2.0 ** np.arange(-5, 16, 2), []

    def score(learner, A, b):
        scores.append(cv_scores(learner, A, b, 10))
        return scores[-1]

    machines = [machine(C) for C in values]
    number, mean, error = honest_report(machines, score, X, y, np.arange(455, 569))
    print(
        f"C = {values[number]:g}: validation error {mean:.3f}, test error {error:.3f}"
    )
    show(*ms.draw_choice(values, np.array(scores), number))

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form
# fails, the right one holds, and a wrong one of the same shape fails too.

# %% demo=true covers="guo:II.5 guo:II.4"
# guo, part II: what bias is. Which B² makes noise + B² + variance the risk?
x, points, holds = ms.grid(30), ms.grid(), {"printed": [], "right": [], "decoy": []}
rng = np.random.default_rng(0)
for degree in (1, 10):
    S, (bias2, variance, training) = (
        ms.smoother(x, points, degree),
        ms.exact_terms(truth, 30, 0.3, degree),
    )
    fits = (truth(x) + 0.3 * rng.normal(size=(20_000, 30))) @ S.T
    risk = 0.3**2 + np.mean((fits - truth(points)) ** 2)
    represented = np.mean(truth(points) ** 2) - bias2  # what the class can represent
    squares = {"printed": represented, "right": bias2, "decoy": training}
    for name, square in squares.items():
        holds[name].append(abs(0.3**2 + square + variance - risk) < 0.002)
erratum(
    "guo:II.5",
    quote=(
        "**Bias**: The flexibility of the model class, the ability to represent true "
        "function (like degree 1 and 10)."
    ),
    corrected=(
        r"bias is the lack of it, $\mathbb E\hat f - f$: large for inflexible classes"
    ),
    kind="error",
    printed_holds=all(holds["printed"]),
    corrected_holds=all(holds["right"]),
    decoy_holds=all(holds["decoy"]),
)
erratum(
    "guo:II.5",
    quote=(
        "The variance is how much the model is fluctuating within the model itself."
    ),
    corrected="how much the fit changes from training set to training set",
    kind="convention",
)
erratum(
    "guo:II.4",
    quote=r"(x_n, y_n) \in \mathbb{P}(x; y)",
    corrected=r"$(x_n, y_n) \sim P(x, y)$",
    kind="convention",
)

# %% demo=true covers="moon:3.1 moon:3.1.1"
# moon, section 3.1: one x or all of them, whose variance, and a bias squared.
fits = (truth(x) + 0.3 * rng.normal(size=(500, 30))) @ ms.smoother(x, points, 1).T
errors = (fits - truth(points)) ** 2  # (data sets, points)
by_point = (fits.mean(axis=0) - truth(points)) ** 2 + fits.var(axis=0)
erratum(
    "moon:3.1",
    quote="Error of a single instance x from g learnt from D is given by",
    corrected=(
        r"$(g^{(D)}(x) - f(x))^2$ at a single $x$, whose mean over $D$ is bias² + "
        r"variance there; $\mathbb E_X$ of it belongs to no single $x$"
    ),
    kind="error",
    printed_holds=bool(np.allclose(errors.mean(), by_point)),
    corrected_holds=bool(np.allclose(errors.mean(axis=0), by_point)),
    decoy_holds=bool(np.allclose(np.median(errors, axis=0), by_point)),
)
erratum(
    "moon:3.1",
    quote=r"Bias:  $(\bar{g}(x) f(x))^2$",
    corrected=r"$(\bar g(x) - f(x))^2$ is the *squared* bias of 3.1.1",
    kind="convention",
)
erratum(
    "moon:3.1",
    quote="- q: learning function",
    corrected=r"$g$: all that follows writes $g^{(D)}$ and $\bar g$",
    kind="copy",
)
X, f_hat = np.array([-1.0, 1.0]), np.array([2.0, 2.0])
gap = np.mean(X**2) - np.mean(X) ** 2
erratum(
    "moon:3.1.1",
    quote=(
        r"\operatorname{Var}\left[\hat{f}(x)\right] = \operatorname{E}[X^2] - "
        r"\operatorname{E}[X]^2"
    ),
    corrected=r"$\mathrm{Var}[X] = \mathbb E[X^2] - \mathbb E[X]^2$",
    kind="error",
    printed_holds=bool(np.isclose(f_hat.var(), gap)),
    corrected_holds=bool(np.isclose(X.var(), gap)),
    decoy_holds=bool(np.isclose((X * f_hat).var(), gap)),
)
erratum(
    "explainers:3.4.1",
    quote=r"$\Omega_1 \times \dots \times \Omega_m$",
    corrected=r"$\Omega_{h_1} \times \dots \times \Omega_{h_m}$: the factors' names",
    kind="convention",
)

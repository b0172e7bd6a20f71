# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] minutes=120 builds="a forecast of your own choice on real patients, with intervals that keep their word"
# # Project: a forecast with honest error bars
#
# This project closes the chapter. It uses least squares, ridge, cross-validation and prediction intervals together, on one real question.
#
# A clinic measures ten numbers of a patient with diabetes. How far will the disease have progressed after a year?
# Nobody tells you which method to use. **You choose; the checks ask what your choice is worth:**
# does it predict patients it has not seen, do its intervals hold what they promise, does anything leak from the test rows into the training.
#
# At the end you can
#
# - lock a test set away, and open it once;
# - write a forecaster that keeps everything it learnt from the training rows, and nothing else;
# - choose a penalty without looking at the training error;
# - give an interval with each forecast, and test its promise;
# - say whether one model is really better than another.

# %%
import numpy as np
from ipywidgets import FloatSlider

from descent import after, check, data, explore, hint, predict, show, start
from descent.pictures.regression import project as pictures

start("01_regression/07_project")

# %% [markdown]
# ## The patients
#
# 442 patients, ten features each: age (years), sex (1, 2), body mass index (kg/m²), mean blood pressure (mm Hg) and six blood serum values, in the clinic's units.
# The outcome is a **score** of the progression after one year, from 25 to 346.
#
# Three of the features look promising. None is good enough alone.

# %% demo=true
table = data.patients()
show(*pictures.draw_patients(table.X, table.y, table.names))
predict(
    "A forecaster gives every patient the mean outcome. Then you build the best "
    "straight-line forecast from all ten features. By how much does the typical error "
    "(root mean square) shrink?",
    ["by about 10 %", "by about 30 %", "by about 70 %"],
    truth=1,
    because="It explains about half of the variance, so the error falls by the factor "
    "√½. "
    "Half of what happens to a patient is in none of the ten numbers.",
)

# %% demo=true
A = np.c_[np.ones(len(table.y)), table.X]
residual = table.y - A @ np.linalg.lstsq(A, table.y, rcond=None)[0]
shrinks = 1 - residual.std() / table.y.std()
assert 0.25 < shrinks < 0.35  # the answer to the question above
print(
    f"outcomes: sd {table.y.std():.0f}; "
    f"residuals of a fit on all rows: sd {residual.std():.0f}"
)

# %% [markdown]
# ## 1. Lock the test rows away
#
# Everything you decide from now on, by looking at errors, is a decision fitted to the rows you looked at. So the first step is to put rows where you cannot look.
# `split` gives the row numbers of both sets. Every row is in exactly one of them. The test set holds `round(share * n)` rows, but never none and never all.
# Tables are often sorted, so draw the rows at random, with the generator you are given and with no other.
# Within a set, the order does not matter. (`hint(split)`, up to three times; so for every exercise.)


# %% exercise="split" points=2 minutes=8 difficulty=1
def split(n, share, rng):
    """Row numbers of a random training set and a random test set.

    n >= 2 rows, 0 < share < 1 (of the test rows), rng: numpy Generator.
    -> (train, test): two arrays of integers, together each of 0 … n - 1 once.
    The test set holds round(share * n) rows, at least 1 and at most n - 1.
    split(5, 0.4, rng) might give (array([3, 0, 4]), array([1, 2])).
    """
    ### BEGIN SOLUTION
    order = rng.permutation(n)
    k = max(1, min(n - 1, round(share * n)))
    return order[k:], order[:k]
    ### END SOLUTION


# %% check="split"
check(split)

# %% [markdown]
# The cell below locks 30 % of the patients away as **test** rows, until the last section. The others are split once more: **train** to fit, **try** to look at while you work.

# %%
with after(split):
    work, test = split(len(table.y), 0.3, np.random.default_rng(2156))
    inner, outer = split(len(work), 0.25, np.random.default_rng(8))
    train, trial = work[inner], work[outer]
    print(f"train {len(train)}, try {len(trial)}, locked away {len(test)}")

# %% [markdown]
# ## 2. A forecaster
#
# `forecaster(X, y)` learns from the training rows and returns a **function** that forecasts new rows. Any method is welcome, from least squares to what you find in scikit-learn. Five promises are checked:
#
# - **fresh patients are predicted**: on 160 patients it has not seen, $R^2 = 1 - \sum_i (y_i - \hat y_i)^2 / \sum_i (y_i - \bar y)^2$ is at least 0.2 (the mean $\bar y$ is that of the 160);
# - **the units of a feature do not matter**: if a clinic counts in other units (each feature times a positive factor, plus a shift, in training and new rows alike), the forecasts change by less than 3 points on average;
# - **a new row is judged by itself**: the forecast of a row is the same, to 0.001 points, whether it comes alone or with others. Whoever standardises new rows by their own mean, or fills their gaps from each other, breaks this;
# - **missing values do no harm**: about one value in twenty is `nan`, in training and new rows; the forecasts are still finite, and $R^2$ at least 0.2;
# - **a column that never varies does no harm** either.
#
# If your method draws random numbers, seed it: two calls must give the same. A call may take 6 s. Outcomes that you look up in a table are no forecast.


# %% exercise="forecaster" points=5 minutes=30 difficulty=3
def forecaster(X, y):
    """Learn to forecast an outcome.

    X (n, d): training rows, some values may be nan. y (n,): their outcomes.
    -> a function: X_new (m, d) -> forecasts (m,), for any m >= 1.
    """
    ### BEGIN SOLUTION
    typical = np.nanmedian(X, axis=0)
    filled = np.where(np.isnan(X), typical, X)
    mean, sd = filled.mean(0), filled.std(0)
    sd = np.where(sd == 0, 1.0, sd)
    A = (filled - mean) / sd
    level = y.mean()
    w = np.linalg.solve(A.T @ A + 5.0 * np.eye(A.shape[1]), A.T @ (y - level))

    def predict_rows(X_new):
        filled = np.where(np.isnan(X_new), typical, X_new)
        return level + (filled - mean) / sd @ w

    return predict_rows
    ### END SOLUTION


# %% check="forecaster"
check(forecaster)

# %%
with after(split, forecaster):
    forecast = forecaster(table.X[train], table.y[train])
    show(*pictures.draw_forecasts(table.y[trial], forecast(table.X[trial])))

# %% [markdown]
# ## 3. Choose without fooling yourself
#
# Which penalty? Here is ridge with a free intercept, as in the chapter: it minimises $\|y - b - Xw\|^2 + \lambda\|w\|^2$.
# Your `choose` gets rows, outcomes and a list of penalties, and returns the **index** of one of them.
# It is judged by what the choice costs on new rows, where nobody can look: the expected squared error of a ridge fit on all given rows, with the chosen penalty,
# may be at most 30 % above that of the best one in the list. The features come standardised. Some cases have 60 rows for 50 features: there, one handful of held-back rows is mostly luck.


# %%
def ridge(X, y, lam):
    """Intercept b and weights w (d,) of ridge with a free intercept."""
    centre, mean = X.mean(0), y.mean()
    A = X - centre
    w = np.linalg.solve(A.T @ A + lam * np.eye(X.shape[1]), A.T @ (y - mean))
    return mean - centre @ w, w


# %% exercise="choose" points=3 minutes=15 difficulty=2
def choose(X, y, lams, rng):
    """The index of a good penalty.

    X (n, d), y (n,), n >= 20. lams (k,): positive penalties, k >= 1.
    rng: numpy Generator.
    -> an integer from 0 to k - 1. `ridge(X, y, lam)` above may be used.
    """
    ### BEGIN SOLUTION
    errors = np.zeros(len(lams))
    for fold in np.array_split(rng.permutation(len(y)), 10):
        rest = np.setdiff1d(np.arange(len(y)), fold)
        for i, lam in enumerate(lams):
            b, w = ridge(X[rest], y[rest], lam)
            errors[i] += np.sum((y[fold] - b - X[fold] @ w) ** 2)
    return int(np.argmin(errors))
    ### END SOLUTION


# %% check="choose"
check(choose)

# %%
with after(split, choose):
    X, y = table.X[train], table.y[train]
    X = (X - X.mean(0)) / X.std(0)
    lams = np.logspace(-1, 4, 11)
    folds = np.array_split(np.random.default_rng(1).permutation(len(y)), 10)
    errors = np.zeros(len(lams))
    for fold in folds:
        rest = np.setdiff1d(np.arange(len(y)), fold)
        for i, lam in enumerate(lams):
            b, w = ridge(X[rest], y[rest], lam)
            errors[i] += np.sum((y[fold] - b - X[fold] @ w) ** 2) / len(y)
    chosen = int(choose(X, y, lams, np.random.default_rng(0)))
    show(*pictures.draw_penalties(lams, errors, chosen))

# %% [markdown]
# With 232 rows for ten features, the valley is flat: from $\lambda = 0.1$ to 30 nothing much happens. That is worth knowing too. A search for the third digit of $\lambda$ would fit the folds, not the patients.
#
# ## 4. An interval with each forecast
#
# "150" is half an answer. "Between 65 and 235, and I am right nine times in ten" is a whole one.
# `interval` gives a low and a high end for each new row, such that a share `level` of the outcomes falls inside. Again the method is yours. It is checked
#
# - on 282 patients, with 160 others as new rows: for `level` 0.9, from 78 % to 99 % of the outcomes must be inside; for 0.5, from 30 % to 70 %;
# - on 200 simulated rows with 80 features that overlap, where a fit bends itself far towards its rows, with 200 new rows: for `level` 0.9, again from 78 % to 99 %;
# - for width: the mean width may be at most 3.2 standard deviations of the new patients' outcomes for 0.9, and 1.5 for 0.5; on the simulated rows 2.75. So an interval that ignores the features is too wide.
#
# There are no missing values here, and every column varies.
#
# Before you write it: **why are the residuals of the training rows too small a measure?**


# %% exercise="interval" points=4 minutes=25 difficulty=3
def interval(X, y, X_new, level):
    """Intervals that hold a share `level` of the new outcomes.

    X (n, d), y (n,): training rows. X_new (m, d). 0 < level < 1.
    -> (m, 2): low and high end for each new row.
    """
    ### BEGIN SOLUTION
    folds = np.array_split(np.random.default_rng(0).permutation(len(y)), 10)
    errors = np.empty(len(y))
    for fold in folds:
        rest = np.setdiff1d(np.arange(len(y)), fold)
        mean, sd = X[rest].mean(0), X[rest].std(0)
        b, w = ridge((X[rest] - mean) / sd, y[rest], 5.0)
        errors[fold] = np.abs(y[fold] - b - (X[fold] - mean) / sd @ w)
    half = np.quantile(errors, level)
    mean, sd = X.mean(0), X.std(0)
    b, w = ridge((X - mean) / sd, y, 5.0)
    centre = b + (X_new - mean) / sd @ w
    return np.stack([centre - half, centre + half], axis=1)
    ### END SOLUTION


# %% check="interval"
check(interval)

# %% [markdown]
# Move the level. Does the share inside follow? It need not hit the number: with 77 patients in the try set, the share has a standard error of 3 to 6 percentage points.

# %%
with after(split, interval):

    def draw_level(level, X=table.X, y=table.y, train=train, trial=trial, f=interval):
        held = f(X[train], y[train], X[trial], level)
        return pictures.draw_intervals(y[trial], np.asarray(held), level)

    explore(
        draw_level,
        level=FloatSlider(
            0.9,
            min=0.1,
            max=0.98,
            step=0.04,
            description="level",
            continuous_update=False,
        ),
    )

# %% [markdown]
# ## 5. Is it really better?
#
# Two models were tried on the same $n$ new rows. Their errors are $e^a_i$ and $e^b_i$. The mean of $d_i = e^a_i - e^b_i$ says which one errs more,
# and its **paired $t$ interval** says how sure that is:
#
# $$\bar d \;\pm\; t_{n-1}\!\left(\tfrac{1 + \text{level}}2\right) \frac{s_d}{\sqrt n}, \qquad s_d^2 = \frac1{n-1}\sum_i (d_i - \bar d)^2,$$
#
# where $t_{n-1}(q)$ is the quantile $q$ of Student's distribution with $n-1$ degrees of freedom (`scipy.stats.t.ppf`). If the interval holds 0, the rows cannot tell the models apart.


# %% exercise="gap" points=2 minutes=10 difficulty=2
def gap(errors_a, errors_b, level):
    """How much more model a errs than model b, on the same rows.

    errors_a, errors_b (n,): one error a row, n >= 2. 0 < level < 1.
    -> (mean, low, high) of a minus b, with the paired t interval.
    gap(np.array([1., 3.]), np.array([0., 1.]), 0.5) gives (1.5, 1.0, 2.0).
    """
    ### BEGIN SOLUTION
    from scipy import stats

    d = errors_a - errors_b
    n = len(d)
    half = stats.t.ppf((1 + level) / 2, n - 1) * d.std(ddof=1) / np.sqrt(n)
    return d.mean(), d.mean() - half, d.mean() + half
    ### END SOLUTION


# %% check="gap"
check(gap)

# %% [markdown]
# ## 6. Open the lock, once
#
# Go on only when you would sign your method as it stands. The next cell fits it on all rows that were not locked away, and judges it on those that were.
# It compares your forecaster with two simpler ones: the mean of the training outcomes, and a straight line in the body mass index alone.
#
# Look at the second interval. If it holds 0, then 133 patients cannot tell ten features from one, whatever the two $R^2$ say. That is an honest result too.
#
# If the result disappoints you and you now change the method, the test rows have become training rows. There is no second lock.

# %%
with after(split, forecaster, interval, gap):
    X, y, X_new, truth = table.X[work], table.y[work], table.X[test], table.y[test]
    forecasts = forecaster(X, y)(X_new)
    bmi = table.names.index("bmi")
    rivals = {
        "the mean": np.full(len(test), y.mean()),
        "bmi alone": np.polyval(np.polyfit(X[:, bmi], y, 1), X_new[:, bmi]),
    }
    mine = (truth - forecasts) ** 2
    print(f"R² on the test rows: {1 - mine.mean() / truth.var():.2f}")
    for name, other in rivals.items():
        mean, low, high = gap((truth - other) ** 2, mine, 0.95)
        print(f"{name} errs more by {mean:.0f} score² ({low:.0f} to {high:.0f})")
    held = np.asarray(interval(X, y, X_new, 0.9))
    show(*pictures.draw_intervals(truth, held, 0.9))

# %% [markdown] written="report" points=4 minutes=20
# ## Your report
#
# Write for the head of the clinic, who knows medicine and no statistics, in at most 150 words: which method you chose and why, what its forecasts are worth (with a number and its uncertainty),
# and for what they must not be used. Name one thing that could make the forecasts worse in another clinic.
#
# ### BEGIN SOLUTION
# I forecast the score by a weighted sum of the ten measurements, with small weights. I chose it because it is simple and richer methods did no
# better on patients held back. On 133 patients that took no part, it explained about half of the differences between patients. Nine of ten outcomes fell within about 90 points of the forecast, on a
# scale of 320. It errs far less than giving everybody the mean; against body mass alone these patients leave it just open. It can say which group of patients needs attention first; for a single patient the range is too wide to decide a treatment on.
# It says nothing on what would happen if a patient lost weight: it describes, it does not explain causes. In another clinic with other patients, or another laboratory, its errors may be larger: check it there before use.
#
# **Rubric**
# - 1: names a method and a reason that came from held-back rows
# - 1: gives the quality on the test rows with a number and its uncertainty or interval
# - 1: says what the forecast must not be used for (single patients, causes)
# - 1: names a change of the population or the measurement that would make it worse
# ### END SOLUTION

# %% [markdown]
# ## Take-aways
#
# - Rows that took part in any decision cannot judge it. Lock some away first.
# - A forecaster is everything it learnt from the training rows: weights, but also means, scales and fillings.
# - The training error chooses the weakest penalty, always. Held-back rows choose.
# - A forecast without an interval is half an answer; an interval is a promise that can be tested.
# - Compare two models row by row on the same rows. What both find hard cancels.
# - The notes are used as they stand here: there is nothing to correct.

# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] minutes=120 builds="a classifier of your own choice for tumours, with a threshold that knows its price and rates that know their error"
# # Project: a test that somebody can rely on
#
# This project closes the chapter. It uses logistic models, thresholds, confusion counts and their uncertainty together, on one real question.
#
# A needle takes cells from a tumour. A microscope picture gives thirty numbers: size, texture, shape of the nuclei. Is the tumour malignant?
# Nobody tells you which method to use. **You choose; the checks ask what your choice is worth:** are its probabilities sound on tumours it has not seen,
# does it stay modest where few rows are easy to separate, is its threshold the cheapest one, do its intervals hold the truth.
#
# At the end you can
#
# - split rows so that a rare class is on both sides;
# - write a classifier whose probabilities can be relied on, and that learns nothing from the rows it judges;
# - choose a threshold by what errors cost;
# - give a rate with an interval, also when it is 30 of 30;
# - say whether one classifier is really better than another.

# %%
import numpy as np
from ipywidgets import FloatSlider, SelectionSlider

from descent import after, check, data, explore, hint, predict, show, start
from descent.pictures.classification import project as pictures

start("02_classification/05_project")

# %% [markdown]
# ## The tumours
#
# 569 tumours, thirty measurements each. In this project **label 1 means malignant** (ill), 0 benign (healthy): the class that one looks for is called positive.
#
# 37 % of them are malignant. In a screening it would be far fewer; keep that in mind for your report.

# %% demo=true
table = data.breast_cancer()
ill = 1 - table.y  # the table itself says 1 for benign
show(*pictures.draw_tumours(table.X, ill, table.names))
predict(
    "A missed malignant tumour is 20 times as bad as a false alarm. "
    "A classifier gives sound probabilities. "
    "From which probability on should it raise the alarm?",
    ["from 0.05 or so", "from 0.5", "from 0.95 or so"],
    truth=0,
    because="At probability p, calling a tumour benign costs 20 p on average, "
    "calling it malignant costs 1 - p. "
    "The second is cheaper from p = 1/21 on.",
)

# %% [markdown]
# ## 1. Lock the test rows away, class by class
#
# Cut **each class** for itself: of the $n_c$ rows of class $c$, `round(share * n_c)` go into the test set, but never none and never all of them. Draw with the generator you are given, and with no other.
# The order of the row numbers does not matter. (`hint(stratified)`, up to three times; so for every exercise.)


# %% exercise="stratified" points=2 minutes=10 difficulty=2
def stratified(y, share, rng):
    """Row numbers of a random training set and a test set, each class with its share.

    y (n,): labels 0 and 1, each at least twice. 0 < share < 1. rng: numpy Generator.
    -> (train, test): two arrays of integers, together each of 0 … n - 1 once.
    Of n_c rows of class c, round(share * n_c) are test rows, at least 1 and at most
    n_c - 1.
    stratified(np.array([0, 0, 0, 0, 1, 1]), 0.5, rng) might give
    (array([3, 0, 5]), array([1, 2, 4])).
    """
    ### BEGIN SOLUTION
    train, test = [], []
    for c in (0, 1):
        rows = rng.permutation(np.flatnonzero(y == c))
        k = max(1, min(len(rows) - 1, round(share * len(rows))))
        test.append(rows[:k])
        train.append(rows[k:])
    return np.concatenate(train), np.concatenate(test)
    ### END SOLUTION


# %% check="stratified"
check(stratified)

# %% [markdown]
# The next cell locks 30 % of the tumours away as **test** rows, until the last section. The others are split once more: **train** to fit, **try** to look at while you work.

# %%
with after(stratified):
    work, test = stratified(ill, 0.3, np.random.default_rng(1995))
    inner, outer = stratified(ill[work], 0.3, np.random.default_rng(8))
    train, trial = work[inner], work[outer]
    for name, rows in (("train", train), ("try", trial), ("locked away", test)):
        print(f"{name}: {len(rows)} rows, {ill[rows].mean():.0%} malignant")

# %% [markdown]
# ## 2. A classifier with sound probabilities
#
# `classifier(X, y)` learns from the training rows and returns a **function** that gives the probability of label 1 for new rows. Any method is welcome. Five promises are checked:
#
# - **new tumours are told apart, with sound probabilities**: trained on 200 tumours, the mean **log loss** on 150 others, $-\frac1m\sum_i \log \hat p_i(y_i)$ with the probability $\hat p_i(y_i)$ you gave to what came true, is at most 0.3 nats. Whoever says 0 and is wrong once, has infinite log loss;
# - **few rows that a line separates do not make it sure**: 30 simulated rows, 15 features (two of them the same column), drawn from a world where no label is certain. A line separates the 30. On 200 new rows the log loss must be at most 1 nat;
# - **where the classes overlap, nothing is certain**: 200 rows of that world, 6 features, 300 new rows. The true probabilities have a log loss near 0.45 there; yours is at most 0.65;
# - **the units of a feature do not matter**: if each feature is multiplied by a positive factor and shifted, in training and new rows alike, the probabilities change by at most 0.01 on average;
# - **a new row is judged by itself**: its probability is the same, to $10^{-5}$, whether it comes alone or with others.
#
# If your method draws random numbers, seed it: two calls must give the same. A call may take 8 s. Labels that you look up in a table are no prediction.


# %% exercise="classifier" points=5 minutes=30 difficulty=3
def classifier(X, y):
    """Learn to give probabilities.

    X (n, d): training rows. y (n,): labels 0 and 1, both occur.
    -> a function: X_new (m, d) -> probabilities of label 1, (m,), for any m >= 1.
    """
    ### BEGIN SOLUTION
    mean, sd = X.mean(0), X.std(0)
    sd = np.where(sd == 0, 1.0, sd)

    def design(Z):
        return np.c_[np.ones(len(Z)), (Z - mean) / sd]

    def sigmoid(z):
        return 0.5 * (1 + np.tanh(z / 2))

    A, penalty = design(X), 2.0 * np.eye(X.shape[1] + 1)
    penalty[0, 0] = 0  # the intercept is free
    w = np.zeros(A.shape[1])
    for _ in range(12):  # Newton's method
        p = sigmoid(A @ w)
        hessian = (A * (p * (1 - p))[:, None]).T @ A + penalty
        w = w - np.linalg.solve(hessian, A.T @ (p - y) + penalty @ w)
    return lambda X_new: sigmoid(design(X_new) @ w)
    ### END SOLUTION


# %% check="classifier"
check(classifier)

# %% [markdown]
# Log loss is one number. This picture asks the same question bin by bin: of the tumours that got a score near 0.1, is one in ten malignant? Few tumours get a score in the middle, so the bars are long there.

# %%
with after(stratified, classifier):
    p_try = np.asarray(classifier(table.X[train], ill[train])(table.X[trial]), float)
    show(*pictures.draw_calibration(p_try, ill[trial]))

# %% [markdown]
# ## 3. A threshold that knows its price
#
# Somebody must decide. With a threshold $t$, a row is called ill where $p \ge t$. An ill row called healthy costs `miss`, a healthy row called ill costs `alarm`.
# If the scores were perfectly calibrated, the best threshold would be $\text{alarm} / (\text{alarm} + \text{miss})$. Scores seldom are. So look at rows with labels: return **any** threshold whose total cost on the given rows is the lowest that a threshold can have.
# It may lie above all scores: then nobody is called ill.


# %% exercise="threshold" points=3 minutes=12 difficulty=2
def threshold(p, y, miss, alarm):
    """A threshold with the lowest total cost on these rows.

    p (n,): scores from 0 to 1. y (n,): labels 0 and 1. miss, alarm: positive costs.
    -> a number t; rows with p >= t are called ill.
    threshold(np.array([0.1, 0.4, 0.6, 0.9]), np.array([0, 1, 0, 1]), 20, 1)
    may be any t with 0.1 < t <= 0.4: one false alarm, cost 1.
    """
    ### BEGIN SOLUTION
    candidates = np.append(np.unique(p), np.inf)
    costs = [
        miss * np.sum((p < t) & (y == 1)) + alarm * np.sum((p >= t) & (y == 0))
        for t in candidates
    ]
    return candidates[int(np.argmin(costs))]
    ### END SOLUTION


# %% check="threshold"
check(threshold)

# %% [markdown]
# Move the threshold. Where does the cost of your classifier on the try rows lie lowest when a miss costs 20? And when it costs 1? How broad is the valley, and what does that say about a threshold found on so few rows?

# %%
with after(stratified, classifier):

    def draw_costs(t, miss, p=p_try, y=ill[trial]):
        return pictures.draw_threshold(p, y, t, miss, 1.0)

    explore(
        draw_costs,
        t=FloatSlider(
            0.5,
            min=0.01,
            max=0.99,
            step=0.01,
            description="threshold",
            continuous_update=False,
        ),
        miss=SelectionSlider(
            value=20.0, options=[1.0, 5.0, 20.0, 100.0], description="cost of a miss"
        ),
    )

# %% [markdown]
# ## 4. A rate with its interval
#
# "It finds 62 of 64 malignant tumours." Is that 97 %? With 64 other tumours it would have been another number. `rate_interval(k, n, level)` gives the ends of an interval for the true share when $k$ of $n$ were found.
# The method is yours. It is judged by what it does for true shares of 0.5, 0.8, 0.9, 0.95 and 0.98, computed exactly over all possible $k$:
#
# - the probability of holding the true share, averaged over the five, is at least `level` − 0.04;
# - the mean width is at most that of Clopper and Pearson's exact interval, plus 0.01;
# - both ends lie from 0 to 1, low before high, for every $k$ from 0 to $n$.
#
# Before you write it: what does $\hat p \pm 1.96\sqrt{\hat p(1-\hat p)/n}$ say for 30 of 30?


# %% exercise="rate_interval" points=3 minutes=15 difficulty=2
def rate_interval(k, n, level):
    """An interval for a share.

    k of n, 0 <= k <= n, n >= 1. 0 < level < 1.
    -> (low, high), 0 <= low <= high <= 1.
    """
    ### BEGIN SOLUTION
    from scipy import stats

    z = stats.norm.ppf((1 + level) / 2)
    centre = (k + z**2 / 2) / (n + z**2)
    half = z * np.sqrt(k * (n - k) / n + z**2 / 4) / (n + z**2)
    return max(0.0, centre - half), min(1.0, centre + half)
    ### END SOLUTION


# %% check="rate_interval"
check(rate_interval)

# %% [markdown]
# ## 5. Is it really better?
#
# Two classifiers judged the same rows. Where both are right, or both wrong, the row says nothing on which one is better. Let $a$ be the number of rows that only the first gets right, $b$ that only the second gets right.
# If neither is better, each of these $a + b$ rows is the toss of a fair coin. **McNemar's exact test** asks how probable a split at least as uneven as $a : b$ is then, in either direction (two-sided): the probability
# of all counts that are no more probable than $a$, of $a + b$ tosses. With $a + b = 0$ it is 1.


# %% exercise="mcnemar" points=2 minutes=10 difficulty=2
def mcnemar(y, called_a, called_b):
    """Which of two classifiers is right more often, and is it chance?

    y, called_a, called_b (n,): true labels and the two classifiers' labels, 0 or 1.
    -> (a, b, p_value): rows that only a gets right, only b; exact two-sided p-value.
    With 5 rows that only a gets right and none the other way, (5, 0, 0.0625).
    """
    ### BEGIN SOLUTION
    from scipy import stats

    right_a, right_b = called_a == y, called_b == y
    a, b = int(np.sum(right_a & ~right_b)), int(np.sum(right_b & ~right_a))
    return a, b, 1.0 if a + b == 0 else float(stats.binomtest(a, a + b).pvalue)
    ### END SOLUTION


# %% check="mcnemar"
check(mcnemar)

# %% [markdown]
# ## 6. Open the lock, once
#
# Go on only when you would sign your method as it stands. The next cell fits on all rows that were not locked away, and judges on those that were. Three tests compete; a miss costs 20, a false alarm 1:
#
# - your classifier with the threshold that was cheapest on the try rows;
# - your classifier with the threshold 1/21, which is right if its probabilities are;
# - the mean radius alone, with the threshold that was cheapest for it on the try rows.
#
# Which will cost least? Guess before you run it.
#
# If the result disappoints you and you now change the method, the test rows have become training rows. There is no second lock.

# %%
with after(stratified, classifier, threshold, rate_interval, mcnemar):
    t = threshold(p_try, ill[trial], 20.0, 1.0)
    p_test = np.asarray(classifier(table.X[work], ill[work])(table.X[test]), float)
    radius = table.X[:, table.names.index("mean radius")]
    t_radius = threshold(radius[trial], ill[trial], 20.0, 1.0)
    tests = {
        "yours, cheapest on the try rows": (p_test >= t).astype(int),
        "yours, at 1/21": (p_test >= 1 / 21).astype(int),
        "radius alone": (radius[test] >= t_radius).astype(int),
    }
    for name, called in tests.items():
        hits, misses, alarms, alone = pictures.counts_at(called, ill[test], 0.5)
        low, high = rate_interval(hits, hits + misses, 0.95)
        print(
            f"{name}: {hits} of {hits + misses} malignant found",
            f"({low:.0%} to {high:.0%}),",
            end=" ",
        )
        print(
            f"{alarms} of {alarms + alone} benign called ill,",
            f"cost {20 * misses + alarms}",
        )
    a, b, p_value = mcnemar(ill[test], tests["yours, at 1/21"], tests["radius alone"])
    print(
        f"at 1/21 against radius: {a} rows that only the first gets right,",
        f"{b} the other way,",
        end=" ",
    )
    print("beyond chance" if p_value < 0.001 else f"p-value {p_value:.2g}")
    show(*pictures.draw_calibration(p_test, ill[test]))

# %% [markdown]
# The threshold that was cheapest on the try rows is fitted to them: to a handful of tumours near the border. With the classifier of the solutions it lies at 0.55, costs 2 on the try rows and 80 on the locked ones; 1/21 costs 29 there.
# A threshold is a parameter like any other. Where few rows decide on it and the probabilities are sound, the formula is the safer choice.

# %% [markdown] written="report" points=4 minutes=20
# ## Your report
#
# Write for a surgeon, who knows tumours and no statistics, in at most 150 words: what your classifier does and how you chose its threshold, what it found and missed on tumours that took no part, with the uncertainty,
# and what changes if one woman in a hundred is ill instead of one in three.
#
# ### BEGIN SOLUTION
# From thirty measurements of the cells I compute the chance that a tumour is malignant. I call a tumour suspicious from one chance in 21 on, because a missed tumour counts as much as twenty false alarms.
# On 171 tumours that took no part it found 63 of the 64 malignant ones, and called 9 of the 107 benign ones suspicious; with so few, the true share found may be anything from 92 to nearly 100 %.
# It decides far better than the size of the nuclei alone.
# All tumours come from one clinic, where one in three was malignant. Where one woman in a hundred is ill, most alarms would be false ones even with the same rates, and the probabilities would be far too high: they must be
# adjusted to that share, and tested there, before anybody uses them.
#
# **Rubric**
# - 1: says what was chosen and that the threshold follows from the costs
# - 1: gives found and missed on the locked rows with an interval or its meaning in words
# - 1: says that most alarms are false where few are ill
# - 1: names another limit: one clinic, probabilities to be adjusted, another microscope
# ### END SOLUTION

# %% [markdown]
# ## Take-aways
#
# - Split class by class: a rare class must be on both sides.
# - A probability can be checked: log loss and calibration, on rows that took no part.
# - Where few rows are separable, the likelihood wants infinite weights. A penalty keeps the classifier modest.
# - The threshold belongs to the costs, not to the classifier. Fitted to few rows, it is fitted to luck.
# - 30 of 30 is not 100 %. Every rate wants its interval.
# - Compare two classifiers on the rows where they differ.
# - The notes are used as they stand here: there is nothing to correct.

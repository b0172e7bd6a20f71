# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="a classifier made of counts, for ticks, categories and numbers, and the confusion matrix and ROC curve that judge it"
# # Naive Bayes and evaluating classifiers
#
# A clinic has no computer, only a pencil. Of each tumour it notes 30 measurements, one bit of each: a tick, if it is larger
# than usual. From 285 old patients somebody counts how often each tick occurs in malignant and in benign tumours. That table
# is the whole machine.
#
# On 284 new patients it is right in 267: 94 %. But of its 17 mistakes, 13 claim to be more than 99 % sure. Then a town,
# where one woman in a hundred is ill, sends all its women. Of eight whom the table calls ill, seven are healthy.
#
# *Right in 94 %, sure to 99 %, wrong in seven of eight calls. What of this may you believe?* At the end your own table
# answers.

# %%
# What this notebook needs; the patients, old and new.
import numpy as np
import torch
from ipywidgets import FloatSlider, IntSlider, SelectionSlider
from scipy.special import expit, log_softmax
from scipy.stats import binom, norm
from sklearn import metrics, naive_bayes
from sklearn.linear_model import Ridge

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
from descent.pictures.classification import naive_bayes_and_evaluation as nb

measured, ill, old, new = nb.clinic()
ticks = nb.cut(measured, old, 2)
start("02_classification/04_naive_bayes_and_evaluation")

# %% covers="guo:II.4.c"
# The 284 new patients: what is claimed, who is called ill.
show(*nb.draw_clinic())

# %% [markdown] covers="moon:1.1"
# ## 1. Turn the question round
#
# Let $x = (x_1, \dots, x_D)$ be the ticks of a case, $y$ its class, one of $C$. Logistic regression models $p(y \mid x)$ straight. A
# **generative** model tells how a case comes about: first a class, with share $\pi_c = p(y = c)$, then its ticks, from
# $p(x \mid y = c)$. Bayes' rule turns it round:
#
# $$p(y = c \mid x) = \frac{\pi_c\, p(x \mid y = c)}{\sum_b \pi_b\, p(x \mid y = b)}.$$
#
# For 30 ticks $p(x \mid y = c)$ has $2^{30}$ entries, a thousand million, and we have 285 patients. The **naive** way
# out: *given the class*, ticks are independent,
#
# $$p(x \mid y = c) = \prod_{j=1}^D \theta_{cj}^{\,x_j} (1 - \theta_{cj})^{1 - x_j},$$
#
# with $\theta_{cj}$ the chance of tick $j$ in class $c$: 60 numbers. Is it true, of radius, perimeter and area?

# %% [markdown] covers="moon:1.1"
# Hardly, and we shall pay for it. First fit it. Let $N_c$ count the cases of class $c$, of $N$ in all, and $N_{cj}$ those of
# them with tick $j$. In the log-likelihood each $\theta_{cj}$ has a sum of its own, $N_{cj} \log\theta_{cj} + (N_c - N_{cj})
# \log(1 - \theta_{cj})$, and it is largest at $N_{cj}/N_c$. So **fitting is counting**: no step size, no loop of descent.
#
# One danger. A tick that no malignant tumour had gets $\theta = 0$; the first one that has it is then benign for
# certain, whatever else is true of it. So imagine in each class $\alpha$ more cases with each tick, and $\alpha$ without
# (Laplace took 1):
#
# $$\theta_{cj} = \frac{N_{cj} + \alpha}{N_c + 2\alpha}, \qquad \pi_c = \frac{N_c}{N}.$$


# %% exercise="fit_bernoulli_nb" points=3 difficulty=1 covers="moon:1.1"
def fit_bernoulli_nb(X, y, C, alpha):
    """Class shares and smoothed chances of the ticks, by counting.

    X (n, D) of 0 and 1. y (n,): class numbers 0 … C - 1. Some classes may not occur
    if alpha > 0; with alpha = 0 all do.
    Returns (pi (C,), theta (C, D)). Smoothing is for theta alone.
    X = [[1, 0], [1, 1], [0, 1]], y = [0, 0, 1], C = 2 and alpha = 1 give
    pi = [2/3, 1/3], theta = [[3/4, 1/2], [1/3, 2/3]].
    """
    ### BEGIN SOLUTION
    pi, theta = np.zeros(C), np.zeros((C, X.shape[1]))
    for c in range(C):
        rows = X[y == c]
        pi[c] = len(rows) / len(y)
        theta[c] = (rows.sum(axis=0) + alpha) / (len(rows) + 2 * alpha)
    return pi, theta
    ### END SOLUTION


# %% check="fit_bernoulli_nb"
check(fit_bernoulli_nb)

# %% [markdown] covers="moon:1.1"
# ## 2. Multiply, and get nothing
#
# Each factor lies below 1, so a long product is tiny. With 10,000 features it may be $e^{-7000}$, and a computer rounds all
# below $e^{-745}$ to 0. In *every* class: Bayes' rule says 0/0. Logarithms keep it. With $\ell_c$ for the log of the **joint**
# $p(x, y = c)$,
#
# $$\begin{gathered}\ell_c = \log \pi_c + \sum_j \big[x_j \log\theta_{cj} + (1 - x_j) \log(1 - \theta_{cj})\big],\\
# \log p(y = c \mid x) = \ell_c - \log \sum_b e^{\ell_b}.\end{gathered}$$
#
# The last sum would underflow as well. So take the largest out first: with $m = \max_b \ell_b$,
#
# $$\log \sum_b e^{\ell_b} = m + \log \sum_b e^{\ell_b - m},$$
#
# and one term is $e^0 = 1$. (Stuck? `hint(nb_log_posterior)`, up to three times; so for every exercise.)


# %% exercise="nb_log_posterior" points=3 difficulty=1 covers="moon:1.1"
def nb_log_posterior(X, pi, theta):
    """Natural logarithm of p(y = c | x) for every row and class.

    X (n, D) of 0 and 1. pi (C,) > 0, sums to 1. theta (C, D), 0 < theta < 1,
    however close. Returns (n, C); the exponentials of a row sum to 1. D may be 10,000.
    X = [[1, 0]], pi = [0.5, 0.5] and theta = [[0.8, 0.5], [0.2, 0.5]] give
    [[log 0.8, log 0.2]] = [[-0.2231, -1.6094]].
    """
    ### BEGIN SOLUTION
    joint = np.log(pi) + X @ np.log(theta).T + (1 - X) @ np.log(1 - theta).T
    top = joint.max(axis=1, keepdims=True)
    total = np.log(np.exp(joint - top).sum(axis=1, keepdims=True))
    return joint - top - total
    ### END SOLUTION


# %% check="nb_log_posterior"
check(nb_log_posterior)

# %% covers="moon:1.1"
# Your table and scikit-learn's; a tick that never was.
with after(fit_bernoulli_nb, nb_log_posterior):
    pi, theta = (np.asarray(a) for a in fit_bernoulli_nb(ticks[old], ill[old], 2, 1))
    log_p = np.asarray(nb_log_posterior(ticks[new], pi, theta))
    for alpha in (1, 1e-9):
        model = naive_bayes.BernoulliNB(alpha=alpha).fit(ticks[old], ill[old])
        mine = fit_bernoulli_nb(ticks[old], ill[old], 2, alpha)
        same = np.allclose(
            nb_log_posterior(ticks[new], *mine), model.predict_log_proba(ticks[new])
        )
        claim("α = {alpha:g}: the answers of scikit-learn", same, alpha=alpha)
    never, told = ticks[old].copy(), []
    never[ill[old] == 1, 0] = 0  # suppose that no malignant tumour had tick 0
    for alpha in (1e-30, 1):
        mine = fit_bernoulli_nb(never, ill[old], 2, alpha)
        told.append(np.diff(nb_log_posterior(np.ones((1, 30)), *mine))[0, 0])
    claim(
        "30 ticks, one unseen in malignant ones: "
        "log-odds {s[0]:.0f}, smoothed {s[1]:.0f}",
        told[0] < -2 and told[1] > 2,
        s=told,
    )
    wrong = log_p.argmax(axis=1) != ill[new]
    sure = wrong & (log_p.max(axis=1) > np.log(0.99))
    claim(
        "{right} of 284 right; {sure} of {wrong} mistakes are surer than 99 %",
        (wrong.sum(), sure.sum()) == (17, 13),
        right=np.sum(~wrong), sure=sure.sum(), wrong=wrong.sum(),
    )  # fmt: skip

# %% predict="twice" minutes=1
predict(
    "twice",
    "A clerk copies the table and enters each of the 30 ticks twice: 60 columns, "
    "counted like the 30. What happens to the 284 answers?",
    [
        "nothing: a copy tells nothing new",
        "the calls stay, nearly all, and the claims get surer",
        "more calls are right, and the claims get surer",
        "fewer calls are right, and the claims get weaker",
    ],
    truth=1
    if np.sum((nb.claimed(1)[0] > 0) != (nb.claimed(2)[0] > 0)) < 5
    and abs(nb.claimed(2)[0]).mean() > 1.9 * abs(nb.claimed(1)[0]).mean()
    else 0,
    because="The table takes each copy for a new witness. So all evidence counts "
    "twice, and the log-odds double (but for the part of the shares π). Their signs "
    "stay, but for a case so near 0 that its π decided; and the signs are the calls.",
)

# %% open=true covers="moon:1.1"
with after(fit_bernoulli_nb, nb_log_posterior, "twice"):
    for copies in (1, 2, 4):
        T = np.tile(ticks, (1, copies))
        table = fit_bernoulli_nb(T[old], ill[old], 2, 1)
        log_p = np.asarray(nb_log_posterior(T[new], *table))
        right = np.mean(log_p.argmax(axis=1) == ill[new])
        said = np.exp(log_p.max(axis=1)).mean()
        print(f"each tick {copies} ×: {right:.1%} right, mean claim {said:.2%}")

# %% [markdown] covers="moon:1.1"
# ## 3. How many witnesses are thirty?
#
# The clerk's copies are the clinic's daily life: radius, perimeter and area of a tumour are nearly one measurement. Our
# world: two equally common classes, $D$ equally good normal features, and *within* each class every pair has
# correlation $\rho$. Naive Bayes takes $\rho = 0$. Then its log-odds are $1 + (D - 1)\rho$ times too large (*Deeper* shows
# why), but their **sign** is right. (Who is **calibrated** keeps
# word: of the cases called with probability $p$, a share $p$ are right. [[02/02]] asked it of label 1.)
#
# Drag the grey line.
#
# 1. At which $\rho$ do ten features claim five times the true log-odds?
# 2. At $\rho = 0.5$, what do more features do to the accuracy, what to the claims?
# 3. When is naive Bayes calibrated?

# %% covers="moon:1.1"
# Drag the grey line over the correlations.
explore(
    nb.draw_correlation,
    drag={"rho": "rho"},
    rho=FloatSlider(0.3, min=0, max=0.9, step=0.01, description="correlation ρ"),
    D=IntSlider(10, min=2, max=20, step=2, description="features D"),
)

# %% [markdown] covers="moon:1.1"
# ## 4. Is it the pencil's fault?
#
# A tick throws away *how* large. Are more careful columns less sure? Only the factors change:
#
# | column $j$ holds | its factor | fitted by |
# |---|---|---|
# | one of $K$ categories | $\mu_{cjk}$ for $x_j = k$, a histogram | $(N_{cjk} + \alpha)/(N_c + K\alpha)$ |
# | a number | normal, $\mathcal N(x_j \mid \mu_{cj}, \sigma_{cj}^2)$ | mean and variance (over $N_c$) |
#
# where $N_{cjk}$ counts the cases of class $c$ with $x_j = k$. A tick is the case $K = 2$.
#
# A sum of logarithms does not mind if its terms are of different kinds. So write a table for any mix, from rows to answers.
# SciPy has `norm.logpdf(x, mean, sd)`, sd the root of the variance, and `log_softmax(joint, axis=1)`, section 2's last step for
# rows of $\ell_c$. A factor that all classes share cancels.

# %% covers="moon:1.1"
# One measurement in three tables: a tick, five bins, a number.
show(*nb.draw_factors(20, "worst radius"))


# %% exercise="mixed_nb" points=5 difficulty=1 covers="moon:1.1"
def mixed_nb(X, y, C, K, new_X, alpha):
    """Fit naive Bayes to columns of two kinds; log p(y = c | x) of new rows.

    X (n, D) floats, y (n,): classes 0 … C - 1, each occurs. new_X (m, D), alpha > 0.
    K, a list of D: where K[j] is 0, column j holds numbers, in each class at least two
    different ones; else it holds categories, 0.0 … K[j] - 1, of which some may not
    occur. alpha smooths categories only.
    Returns (m, C); the exponentials of a row sum to 1. D may be 10,000.
    X = [[1], [3], [5], [7]], y = [0, 0, 1, 1], C = 2, K = [0], new_X = [[4.5]] give
    [[log 0.1192, log 0.8808]] = [[-2.1269, -0.1269]]: variances 1, log-odds 2.
    """
    ### BEGIN SOLUTION
    joint = np.zeros((len(new_X), C))
    for c in range(C):
        rows = X[y == c]
        joint[:, c] = np.log(np.mean(y == c))
        for j in range(len(K)):
            x, given = new_X[:, j], rows[:, j]
            if K[j] == 0:
                joint[:, c] += norm.logpdf(x, given.mean(), given.std())
            else:
                counts = np.bincount(given.astype(int), minlength=K[j])
                mu = (counts + alpha) / (len(rows) + K[j] * alpha)
                joint[:, c] += np.log(mu[x.astype(int)])
    return log_softmax(joint, axis=1)
    ### END SOLUTION


# %% check="mixed_nb"
check(mixed_nb)

# %% covers="moon:1.1"
# The tumours in four tables; then a plane and its regions.
with after(fit_bernoulli_nb, nb_log_posterior, mixed_nb):
    fives = nb.cut(measured, old, 5)
    half = np.c_[ticks[:, :15], measured[:, 15:]]
    for name, X, K in (
        ("ticks", ticks, [2] * 30),
        ("five bins", fives, [5] * 30),
        ("numbers", measured, [0] * 30),
        ("15 ticks, 15 numbers", half, [2] * 15 + [0] * 15),
    ):
        X = X.astype(float)
        log_p = np.asarray(mixed_nb(X[old], ill[old], 2, K, X[new], 1.0))
        wrong = log_p.argmax(axis=1) != ill[new]
        sure = wrong & (log_p.max(axis=1) > np.log(0.99))
        if name == "ticks":
            table = fit_bernoulli_nb(ticks[old], ill[old], 2, 1)
            same = np.allclose(nb_log_posterior(ticks[new], *table), log_p)
            claim("two categories are ticks", same)
        print(f"{name}: {wrong.sum()} mistakes, {sure.sum()} of them surer than 99 %")
    rng = np.random.default_rng(3)
    centre = np.array([[0, 0], [2.2, 0.4], [0.5, 2]])
    spread = np.array([[0.5, 0.6], [1.1, 0.4], [1.2, 0.5]])
    kind = rng.integers(0, 3, 3240)
    plane = centre[kind] + spread[kind] * rng.normal(size=(3240, 2))
    seen, fresh = np.arange(240), np.arange(240, 3240)

    def view(parts):
        """Rows of the plane -> log posterior, fitted to the first 240."""

        def answer(rows):
            both = np.vstack([plane[seen], rows])
            if parts:
                both = nb.cut(both, seen, parts).astype(float)
            return mixed_nb(both[seen], kind[seen], 3, [parts] * 2, both[240:], 1.0)

        return answer

    names = {"numbers": view(0), "six bins": view(6), "ticks": view(2)}
    show(*nb.draw_regions(names, plane[seen], kind[seen], plane[fresh], kind[fresh]))

# %% [markdown] covers="guo:II.4.c"
# ## 5. Which mistakes?
#
# Not the pencil's fault: all four tables decide well and claim too much. Leave that aside: the town complains of something else.
# "94 % right" does not say *which* mistakes. The **confusion matrix** does. For $K$ classes it is $K \times K$, and its entry
# $C_{ab}$ counts the cases of class $a$ that were called $b$: **rows are actual, columns are called**. (Some books have it the
# other way round. Always ask.)


# %% exercise="confusion" points=2 difficulty=1 covers="guo:II.4.c"
def confusion(y, yhat, K):
    """Counts by actual class (row) and called class (column).

    y (n,) actual and yhat (n,) called class numbers, 0 … K - 1; not all need occur.
    Returns (K, K).
    y = [0, 0, 1], yhat = [0, 1, 1] and K = 2 give [[1, 1], [0, 1]].
    """
    ### BEGIN SOLUTION
    C = np.zeros((K, K))
    for a, b in zip(y, yhat):
        C[a, b] += 1
    return C
    ### END SOLUTION


# %% check="confusion"
check(confusion)

# %% [markdown] covers="guo:II.4.c moon:23.1-prf explainers:2.2.a cs480:4-pred"
# The clinic has [[164, 12], [5, 103]]. Call the class that one looks for *positive*. $TP = C_{11} = 103$ are rightly called
# (true positives), $FP = 12$ are false alarms, $FN = 5$ are missed.
#
# $$\mathrm{Precision} = \frac{TP}{TP + FP}, \qquad \mathrm{Recall} = \frac{TP}{TP + FN}, \qquad
# F_1 = \frac{2}{\frac1P + \frac1R} = \frac{2\,TP}{2\,TP + FP + FN}.$$
#
# Precision asks: of those I *called*, how many are ill? Recall: of those who *are* ill, how many did I call? $F_1$, their
# harmonic mean, stays near the smaller one: $P = 1$, $R = 0.1$ give 0.18.
#
# Now for the *score*, here the claimed log-odds: call whoever lies above a threshold $\delta$. At log-odds 0, probability ½,
# mistakes are fewest, *if* the claims are right. When a miss costs more than an alarm, go lower.


# %% exercise="pr_at" points=3 difficulty=1 covers="explainers:2.2.a moon:23.1-prf guo:II.4.c"
def pr_at(delta, scores, y):
    """Precision, recall and F1 of class 1 when cases with score > delta are called 1.

    scores (n,) any numbers, y (n,) of 0 and 1.
    A score equal to delta is not called 1, one above it is, however little.
    Returns (precision, recall, F1). Every 0/0 is 0.
    delta = 0.5, scores = [0.9, 0.6, 0.5, 0.2], y = [1, 0, 1, 0] give
    (0.5, 0.5, 0.5).
    """
    ### BEGIN SOLUTION
    called = scores > delta
    hits = np.sum(called & (y == 1))
    if hits == 0:
        return 0.0, 0.0, 0.0
    precision = hits / np.sum(called)
    recall = hits / np.sum(y == 1)
    return precision, recall, 2 * precision * recall / (precision + recall)
    ### END SOLUTION


# %% check="pr_at"
check(pr_at)

# %% predict="never" minutes=1
predict(
    "never",
    "Raise the threshold δ step by step, so that one patient after the other is no "
    "longer called. What can never happen?",
    ["recall falls", "recall rises", "precision falls", "precision rises"],
    truth=[
        (sign * np.diff(rate) > 0).any()
        for rate in nb.rates_by_threshold()
        for sign in (-1, 1)
    ].index(False),
    because="TP can only fall, and TP + FN stays: recall never rises. Precision mostly "
    "rises, but it falls a little wherever a true positive is dropped and a false "
    f"alarm stays: here {np.sum(np.diff(nb.rates_by_threshold()[1]) < 0)} times.",
)

# %% [markdown] covers="explainers:2.2.a"
# ## 6. All thresholds at once
#
# Let $\delta$ fall from above all scores to below all, and draw what happens:
#
# - **ROC**: the true positive rate, which is recall, over the false positive rate $FP/(FP + TN)$, where $TN$ are the rightly
#   passed. It leads from (0, 0) to (1, 1).
# - **PR**: precision over recall.
#
# Cases with one score enter together, so ROC has a point for each *distinct* score $t$, with everybody at $t$ or above
# called, and straight lines between. The area below is the **AUC**: the chance that a random ill patient has a higher
# score than a random healthy one, a tie counting half. It judges the *ranking* alone.


# %% exercise="roc" points=3 difficulty=1 covers="explainers:2.2.a"
def roc(scores, y):
    """The ROC curve and the area under it.

    scores (n,), y (n,) of 0 and 1; both classes occur.
    m: number of distinct scores; two that differ, however little, are distinct.
    Returns (fpr (m + 1,), tpr (m + 1,), area): first the point (0, 0), then for each
    distinct score t, from the largest to the smallest, the rates of "score >= t".
    area: under the straight lines from point to point.
    scores = [0.9, 0.6, 0.6, 0.2], y = [1, 1, 0, 0] give
    ([0, 0, 0.5, 1], [0, 0.5, 1, 1], 0.875).
    """
    ### BEGIN SOLUTION
    fpr, tpr = [0.0], [0.0]
    for t in np.unique(scores)[::-1]:
        called = scores >= t
        fpr.append(np.mean(called[y == 0]))
        tpr.append(np.mean(called[y == 1]))
    area = np.trapezoid(tpr, fpr)
    return np.array(fpr), np.array(tpr), area
    ### END SOLUTION


# %% check="roc"
check(roc)

# %% [markdown] covers="explainers:2.2.a moon:23.1-prf guo:II.4.c"
# **Drag the threshold** over the scores of your table, counted as if there were 10,000 patients.
#
# 1. In the clinic, where are $F_1$ and accuracy highest? How far can you go before recall drops below 0.9?
# 2. Now 1 % are ill, in the town, and ill and healthy look as in the clinic. Which curve moves, which stays, and why?
# 3. In the town, how right is who calls nobody ill? And how precise can you get if six of ten ill ones must be found?
#
# Then run the cell below it. What would you tell the clinic, what the town?

# %% covers="explainers:2.2.a moon:23.1-prf guo:II.4.c"
# Drag the dashed line over the scores.
with after(fit_bernoulli_nb, nb_log_posterior, pr_at, roc):
    table = fit_bernoulli_nb(ticks[old], ill[old], 2, 1)
    s = np.diff(nb_log_posterior(ticks[new], *table), axis=1)[:, 0]
    fpr, tpr, area = (np.asarray(a) for a in roc(s, ill[new]))
    sick, well = s[ill[new] == 1][:, None], s[ill[new] == 0]
    chance = np.mean(sick > well) + 0.5 * np.mean(sick == well)
    claim(
        "AUC {a:.3f} is the chance to rank a pair rightly",
        np.isclose(area, chance),
        a=area,
    )
    same = np.isclose(roc(np.exp(s / 9), ill[new])[2], area)
    claim("and stays under an increasing function of the scores", same)
    theirs = metrics.precision_recall_fscore_support(ill[new], s > 0, average="binary")
    same = np.allclose(pr_at(0, s, ill[new]), theirs[:3])
    claim("at δ = 0 precision, recall and F₁ are scikit-learn's", same)
    explore(
        nb.threshold_explorer(s, ill[new], fpr, tpr),
        drag={"delta": "scores"},
        delta=FloatSlider(0, min=-39, max=24, step=0.5, description="threshold δ"),
        share=SelectionSlider(
            value=0.38,
            options=[("1 %", 0.01), ("10 %", 0.1), ("38 %", 0.38), ("50 %", 0.5)],
            description="malignant",
        ),
    )

# %% covers="moon:1.1 explainers:2.2.a guo:II.4.c"
# The answer to the first screen: what your table may be believed.
with after(fit_bernoulli_nb, nb_log_posterior, roc, confusion, "twice", "never"):
    table, actual = fit_bernoulli_nb(ticks[old], ill[old], 2, 1), ill[new]
    before, s = (
        np.diff(nb_log_posterior(ticks[rows], *table), axis=1)[:, 0]
        for rows in (old, new)
    )
    right = np.trace(confusion(actual, (s > 0).astype(int), 2)) / len(s)
    divisors = np.array([1, 2, 5, 10, 20])
    old_loss = [
        np.logaddexp(0, (1 - 2 * ill[old]) * before / d).mean() for d in divisors
    ]
    best = divisors[np.argmin(old_loss)]
    claims = [expit(abs(s) / d).mean() for d in divisors]
    told, wrong = expit(abs(s) / best), (s > 0) != (actual == 1)
    sure = np.sum(wrong & (told > 0.99))
    fpr, tpr, area = (np.asarray(a) for a in roc(s, actual))
    same = np.isclose(roc(s / best, actual)[2], area)
    claim("log-odds divided by {d}: the same calls, AUC {a:.3f}", same, d=best, a=area)
    print(f"{right:.1%} right, mean claim {claims[0]:.1%}")
    print(f"On the old patients the log loss is least with log-odds divided by {best}.")
    print(f"Then, on the new, mean claim {told.mean():.1%}, wrong above 99%: {sure}")
    curves, here = {}, np.sum(np.unique(s) > 0)  # the point of δ = 0,
    strict = np.argmax(tpr >= 0.6)  # and the first that finds 60 % of the ill
    for name, share in (("clinic, 38% ill", actual.mean()), ("town, 1% ill", 0.01)):
        hits, alarms = share * tpr[1:], (1 - share) * fpr[1:]
        P = hits / (hits + alarms)
        points = [(tpr[k + 1], P[k]) for k in (here - 1, strict - 1)]
        curves[name] = (tpr[1:], P, points)
        for (found, precise), delta in zip(points, (0, np.unique(s)[-strict])):
            print(
                f"{name}, δ = {delta:.0f}: {found:.0%} found, precision {precise:.0%}"
            )
    marks = "δ = 0", f"δ = {np.unique(s)[-strict]:.0f}"
    show(*nb.draw_answer(divisors, claims, right, curves, marks))

# %% [markdown] covers="moon:1.1 guo:II.4.c explainers:2.2.a"
# ## Take-aways
#
# - **Sure to 99 %: do not believe it.** The same evidence counts many times. Divided by 5, the log-odds claim about what happens.
# - **Right in 94 %: believe it**, of such patients: calls and ranking need only the sign and the order of the log-odds.
# - **Seven of eight: believe it too.** Recall and false positive rate belong to the table, precision also to the population: in
#   the town 99 are healthy for each one ill. A stricter threshold helps (52 % right in place of 12 %), at the price
#   of recall (60 % in place of 95 %).
# - Naive Bayes is fitted by counting. Smooth the counts, add logarithms.
# - Say what the rows of a confusion matrix are. A higher $\delta$ never raises recall. ROC ignores
#   how common a class is, PR does not.

# %% [markdown] covers="moon:1.1"
# ## Deeper: why fitting is counting
#
# With $\mathbb I(\cdot)$ equal to 1 where its condition holds, else 0, one case has
#
# $$p(x_i, y_i) = \prod_c \pi_c^{\mathbb I(y_i = c)} \prod_j \prod_c p(x_{ij} \mid \theta_{cj})^{\mathbb I(y_i = c)} :$$
#
# the exponents pick its class. Take logarithms and sum over independent cases:
#
# $$\log p(\mathcal D) = \sum_c N_c \log \pi_c + \sum_j \sum_c \sum_{i:\, y_i = c} \log p(x_{ij} \mid \theta_{cj}).$$
#
# Each $\theta_{cj}$ stands in one inner sum, so it is fitted alone: for ticks at $N_{cj}/N_c$, where the derivative is zero. The
# $\pi_c$ must sum to 1: a Lagrange multiplier asks $N_c/\pi_c = \lambda$ for every $c$, hence $\pi_c = N_c/N$ and $\lambda = N$. And
# smoothing? The posterior mean of $\theta$ under a Beta$(\alpha, \alpha)$ prior.

# %% covers="moon:1.1"
# 60 cases, three classes, four ticks, a thousand rivals.
with after(fit_bernoulli_nb):
    rng = np.random.default_rng(0)
    X, y = (rng.random((60, 4)) < 0.4).astype(int), np.repeat([0, 1, 2], [30, 20, 10])
    N_c = torch.tensor([30.0, 20, 10]).double()
    N_cj = torch.tensor(np.array([X[y == c].sum(axis=0) for c in range(3)]))

    def grouped(pi, theta):
        off = N_c[:, None] - N_cj
        on = (N_cj * theta.log() + off * (1 - theta).log()).sum()
        return (N_c * pi.log()).sum() + on

    counts = [
        torch.as_tensor(np.asarray(a), dtype=torch.float64).requires_grad_()
        for a in fit_bernoulli_nb(X, y, 3, 0)
    ]
    pi, theta = counts
    x = torch.tensor(X)[:, None]
    joint = pi * (theta**x * (1 - theta) ** (1 - x)).prod(dim=2)  # case, class
    value = grouped(pi, theta)
    same = torch.isclose(joint[range(60), y].log().sum(), value)
    claim("the product over cases, sorted by class, is the grouped sum", bool(same))
    value.backward()
    flat = theta.grad.abs().max() < 1e-9 and torch.allclose(pi.grad, 0 * pi + 60)
    claim("at your counts: slope 0 in θ, λ = N = 60 in each π", bool(flat))
    best, beaten = value.item(), 0
    for _ in range(1000):
        step = rng.choice([0.01, 0.1, 1.0])
        p = pi.detach() * torch.tensor(np.exp(step * rng.normal(size=3)))
        moved = theta.detach().logit() + torch.tensor(step * rng.normal(size=(3, 4)))
        beaten += float(grouped(p / p.sum(), moved.sigmoid())) < best
    claim("of {n} rivals none is as likely", beaten == 1000, n=1000)
    grid, k = np.linspace(0, 1, 10_001), int(N_cj[0, 0])
    weight = grid ** (k + 1) * (1 - grid) ** (30 - k + 1)  # prior: Beta(2, 2)
    mean = np.sum(grid * weight) / np.sum(weight)
    smooth = np.asarray(fit_bernoulli_nb(X, y, 3, 2)[1])[0, 0]
    claim("α = 2 is the mean under Beta(2, 2)", np.isclose(smooth, mean))

# %% [markdown] covers="moon:1.1"
# ## Deeper: too sure by which factor?
#
# Two equally common classes, $y = \pm1$, and normal features with means $y\,m_j$, variance 1, covariance matrix $\Sigma$ within
# a class. Naive Bayes takes $\Sigma = I$, its log-odds are $s(x) = 2\sum_j m_j x_j$. In class $\pm1$ this $s$ is itself
# normal, with mean $\pm2\lVert m\rVert^2$ and variance $4\,m^\top\Sigma m$. Two normals of one variance have the log-odds
# (distance of the means) × (distance from the middle) / variance:
#
# $$\log\frac{p(y = 1 \mid s)}{p(y = -1 \mid s)} = \kappa\,s, \qquad \kappa = \frac{\lVert m\rVert^2}{m^\top\Sigma m} =
# \frac{1}{1 + (D - 1)\rho} \;\text{ for equal } m_j.$$
#
# As $\kappa > 0$, the sign survives. For equal $m_j$ these are the true log-odds given $x$. For unequal ones not:
# the best rule may even *subtract* a feature that is weak enough and shares the noise of strong ones.

# %% demo=true covers="moon:1.1"
# 200,000 cases, five features: what is claimed, what is true.
rng, D, rho, m = np.random.default_rng(5), 5, 0.6, 0.5
y = rng.choice([-1, 1], 200_000)
shared, own = rng.normal(size=(200_000, 1)), rng.normal(size=(200_000, D))
s = (
    2
    * m
    * (m * y[:, None] + np.sqrt(rho) * shared + np.sqrt(1 - rho) * own).sum(axis=1)
)
kappa, close = 1 / (1 + (D - 1) * rho), []
for low in (-6, -3, 0, 3, 6):  # cases with a claim in a narrow range
    near = np.abs(s - low) < 0.25
    error = 4 * np.sqrt(0.25 / near.sum()) + 0.01  # of sampling, of the range's width
    close.append(abs(np.mean(y[near] == 1) - expit(kappa * low)) < error)
claim(
    "the true log-odds are s / {factor:.1f}, at {n} places",
    all(close),
    factor=1 / kappa,
    n=5,
)
uneven = nb.correlated_world(0.5, 10, np.tile([0.4, 0.04], 5))
claim(
    "every second feature weak: {mine:.2f} right, the best rule {best:.2f}",
    uneven["accuracy"] < uneven["best"] - 0.05,
    mine=uneven["accuracy"], best=uneven["best"],
)  # fmt: skip
near = np.abs(s - 3) < 0.25
print(f"claims near {expit(3):.2f}: {np.mean(y[near] == 1):.2f} of them are right")

# %% [markdown] covers="guo:II.4.b guo:II.4"
# ## Deeper: is 94 % really 94 %?
#
# On another 284 patients it would be another number. For test rows $i = 1, \dots, M$ that took no part in fitting
# ([[01/04]] says why), regression has the mean squared error and its root, in the unit of $y$; classification, with a
# row $\pi_i$ of $K$ claimed probabilities, the **accuracy**:
#
# $$\begin{gathered}\mathrm{MSE} = \frac1M \sum_i (\hat y_i - y_i)^2, \qquad \mathrm{RMSE} = \sqrt{\mathrm{MSE}},\\
# \mathrm{Acc} = \frac1M \sum_i \mathbb I\big[y_i = \arg\max\nolimits_k \pi_{ik}\big].\end{gathered}$$


# %% exercise="score" points=2 difficulty=1 covers="guo:II.4.b"
def score(y, prediction, kind):
    """One number for a test set of M rows.

    kind "mse" or "rmse": y (M,) and prediction (M,) are numbers.
    kind "accuracy": y (M,) class numbers, prediction (M, K) class probabilities; the
    most probable class counts, however little it leads, and of equal ones the first.
    y = [1, 2], prediction = [1, 5], "rmse" give the root of 4.5, 2.1213.
    y = [1, 0], prediction = [[0.2, 0.8], [0.4, 0.6]], "accuracy" give 0.5.
    """
    ### BEGIN SOLUTION
    if kind == "accuracy":
        return np.mean(prediction.argmax(axis=1) == y)
    mse = np.mean((prediction - y) ** 2)
    return mse if kind == "mse" else np.sqrt(mse)
    ### END SOLUTION


# %% check="score"
check(score)

# %% [markdown] covers="guo:II.4.b"
# Nobody has another test set, but one can pretend: draw $M$ of the $M$ rows *with replacement*, score, repeat. The middle 95 % of
# the results are a **bootstrap interval**. For a share there is also a formula. Each case is right with chance $p$, so the measured
# $\hat p$ has standard deviation $\sqrt{p(1-p)/M}$. Putting $\hat p$ for $p$ gives $\hat p \pm 1.96\sqrt{\hat p(1 - \hat p)/M}$, and
# with 50 right of 50 it is $[1, 1]$: sure of perfection. **Wilson** asks instead which $p$ would not be surprised,
# $\lvert\hat p - p\rvert \le z\sqrt{p(1-p)/M}$ with $z = 1.96$. Squared and solved for $p$:
#
# $$\Big(\hat p + \tfrac{z^2}{2M} \pm z\sqrt{\tfrac{\hat p(1 - \hat p)}{M} + \tfrac{z^2}{4M^2}}\Big) \Big/ \Big(1 + \tfrac{z^2}{M}\Big).$$


# %% demo=true covers="guo:II.4.b guo:II.4"
# Both formulas, how often they hold; then the bootstrap.
def textbook(right, M, z=1.96):
    share = right / M
    return [share + sign * z * np.sqrt(share * (1 - share) / M) for sign in (-1, 1)]


def wilson(right, M, z=1.96):
    share = right / M
    half = z * np.sqrt(share * (1 - share) / M + z**2 / (4 * M**2))
    return [(share + z**2 / (2 * M) + sign * half) / (1 + z**2 / M) for sign in (-1, 1)]


low, high = wilson(267, 284)
ends = [
    np.isclose(abs(267 / 284 - p), 1.96 * np.sqrt(p * (1 - p) / 284))
    for p in (low, high)
]
words = "267 of 284: from {low:.3f} to {high:.3f}, both just unsurprised"
claim(words, all(ends), low=low, high=high)
held = [nb.coverage(interval, 50, 0.98) for interval in (textbook, wilson)]
words = "p = 0.98, M = 50: the textbook's holds {a:.0f} times in 100, Wilson's {b:.0f}"
claim(words, held[0] < 0.7 and held[1] > 0.9, a=100 * held[0], b=100 * held[1])
with after(score):
    rng, table = np.random.default_rng(6), data.diabetes()
    mix = rng.permutation(442)
    line = Ridge(0.1).fit(table.X[mix[:122]], table.y[mix[:122]])
    guess, true = line.predict(table.X[mix[122:]]), table.y[mix[122:]]
    P = naive_bayes.BernoulliNB().fit(ticks[old], ill[old]).predict_proba(ticks[new])
    cents = np.isclose(
        score(-100 * true, -100 * guess, "rmse"), 100 * score(true, guess, "rmse")
    )
    claim("your RMSE, in another unit (× −100), is 100 times as large", cents)

    def bootstrap(y, prediction, kind, M):
        rows = rng.integers(0, M, (300, M))
        drawn = [score(y[i], prediction[i], kind) for i in rows]
        return score(y[:M], prediction[:M], kind), *np.quantile(drawn, [0.025, 0.975])

    sizes = [35, 70, 140, 280]
    rmse = [bootstrap(true, guess, "rmse", M) for M in sizes]
    accuracy = [bootstrap(ill[new], P, "accuracy", M) for M in sizes]
    show(*nb.draw_intervals(sizes, rmse, accuracy))

# %% predict="better" minutes=1
predict(
    "better",
    "Two machines make 100 and 80 mistakes on the same 1000 cases; their intervals "
    "overlap. Is the second better?",
    ["yes", "no, the intervals overlap", "it depends on which cases they get wrong"],
    truth=2
    if 2 * binom.cdf(0, 20, 0.5) < 0.001 and 2 * binom.cdf(80, 180, 0.5) > 0.1
    else 1,
    because="If the 80 are among the 100, all 20 cases that tell the two apart speak "
    "for the second: 20 heads in 20 tosses. If no mistake is shared, it is 100 to 80, "
    f"and coins are as uneven in {200 * binom.cdf(80, 180, 0.5):.0f} % of all trials.",
)

# %% [markdown] covers="guo:II.4.c moon:23.1-prf"
# ## Deeper: ten classes, one number
#
# With $K$ classes each class $k$ has its own precision $C_{kk}/\sum_j C_{jk}$, by its column, recall $C_{kk}/\sum_j C_{kj}$, by its row,
# and $F_1$. **Macro** averages give every class one vote: macro-precision and macro-recall are plain means. Macro-$F_1$ comes in two
# conventions:
#
# - `"mean_of_f1"`: the mean of the classes' $F_1$ (scikit-learn);
# - `"f1_of_means"`: the harmonic mean of macro-precision and macro-recall (many textbooks).
#
# A class that is never called has precision 0/0; one that never occurs, recall 0/0. Here every 0/0 counts as 0, and the class
# stays in the mean.


# %% exercise="macro_f1" points=3 difficulty=1 covers="guo:II.4.c moon:23.1-prf"
def macro_f1(C, kind):
    """Macro-averaged precision, recall and F1 of a confusion matrix.

    C (K, K) counts, rows actual, columns called.
    kind "mean_of_f1" or "f1_of_means", as in the text. Every 0/0 is 0.
    Returns (precision, recall, F1).
    C = [[3, 1], [2, 2]] has precisions 3/5, 2/3 and recalls 3/4, 1/2, so
    (0.6333, 0.625, 0.6190) for "mean_of_f1", 0.6291 in place of 0.6190 for the other.
    """
    ### BEGIN SOLUTION
    right = np.diag(C)
    if np.trace(C) == 0:
        return 0.0, 0.0, 0.0
    called, there = np.maximum(C.sum(axis=0), 1), np.maximum(C.sum(axis=1), 1)
    P, R = np.mean(right / called), np.mean(right / there)
    if kind == "mean_of_f1":
        f1 = np.mean(2 * right / (called + there))
    else:
        f1 = 2 * P * R / (P + R)
    return P, R, f1
    ### END SOLUTION


# %% check="macro_f1"
check(macro_f1)

# %% demo=true covers="guo:II.4.c moon:23.1-prf moon:1.1"
# Facts about F₁; then your table on handwritten digits.
TP, FP, FN = np.random.default_rng(8).integers(1, 100, (3, 1000))
P, R = TP / (TP + FP), TP / (TP + FN)
f1 = 2 * TP / (2 * TP + FP + FN)
least, mean = np.minimum(P, R), (P + R) / 2
between = (least - 1e-12 <= f1).all() and (
    f1 <= np.minimum(mean, 2 * least) + 1e-12
).all()
claim("smaller ≤ F₁ ≤ mean, and F₁ ≤ 2 × smaller ({n} tables)", between, n=1000)
with after(macro_f1, confusion, fit_bernoulli_nb, nb_log_posterior):
    small = np.array([[90, 10, 0], [5, 4, 1], [3, 2, 5]])
    P, R, f1 = macro_f1(small, "mean_of_f1")
    other = macro_f1(small, "f1_of_means")[2]
    micro = metrics.f1_score(
        *np.repeat(np.indices((3, 3)).reshape(2, -1), small.ravel(), axis=1),
        average="micro",
    )
    same = np.isclose(micro, np.trace(small) / small.sum())
    claim("adding the counts first (micro) gives the accuracy, {a:.4f}", same, a=micro)
    turned = np.allclose(macro_f1(small.T, "mean_of_f1"), [R, P, f1])
    claim("read the wrong way round, P and R swap, and F₁ does not notice", turned)
    print(f"one big class: macro-F₁ {f1:.4f} or {other:.4f}, by convention")
    pages = data.digits()
    bits, digit = (pages.X > 7).astype(int), pages.y
    mix = np.random.default_rng(0).permutation(len(digit))
    train, test = mix[:1200], mix[1200:]
    pi, theta = fit_bernoulli_nb(bits[train], digit[train], 10, 1)
    show(*nb.draw_templates(theta))
    called = np.asarray(nb_log_posterior(bits[test], pi, theta)).argmax(axis=1)
    C = np.asarray(confusion(digit[test], called, 10))
    rows = np.array_equal(C.sum(axis=1), np.bincount(digit[test], minlength=10))
    claim("rows add up to what is there", rows)
    show(*nb.draw_confusion(C, [str(k) for k in range(10)], "digit"))

# %% [markdown] covers="explainers:B.3"
# ## Deeper: principled or understandable?
#
# "Right in 94 of 100 cases": everybody understands accuracy. But it cannot tell a claim of 0.51 from one of 0.99. The **log loss**,
# $-\frac1M \sum_i \log \pi_{i, y_i}$, can, and it is **proper**: if the truth is $t$, no other claim has a lower expected loss
# than $t$. But who has a feeling for a log loss of 0.65?
#
# (Below, 0.46 against 0.47 on 284 patients is no difference; 0.94 against 0.78 in accuracy is one.)
#
# The tension returns all over the course: perplexity or solved tasks for language models, a distance of distributions (FID) or
# people's preference for images. And the two can disagree. Train on a proper measure, report an understandable one beside it, with
# its interval.


# %% demo=true covers="explainers:B.3"
# Which is better: thirty measurements in the table, or two?
claims = np.linspace(0.01, 0.99, 99)
expected = -0.7 * np.log(claims) - 0.3 * np.log(1 - claims)
claim(
    "truth 0.7: no claim is cheaper than {c:.1f}",
    np.isclose(claims[expected.argmin()], 0.7),
    c=0.7,
)
right, losses, told = [], [], []
for used in ([1, 4], list(range(30))):
    fitted = naive_bayes.GaussianNB().fit(measured[old][:, used], ill[old])
    p = fitted.predict_proba(measured[new][:, used])[:, 1].clip(1e-12, 1 - 1e-12)
    right.append(metrics.accuracy_score(ill[new], p > 0.5))
    losses.append(metrics.log_loss(ill[new], p))
    words = f"accuracy {right[-1]:.3f}, log loss {losses[-1]:.2f}"
    told.append(f"{len(used)} measurements: {words}")
claim(
    "accuracy prefers 30 measurements, by {d:.2f}; the log loss does not",
    right[1] - right[0] > 0.1 and losses[1] > losses[0] - 0.02,
    d=right[1] - right[0],
)
print(*told, sep="\n")

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails, the right
# one holds, and a wrong one of the same shape fails too. *Too broad*: a condition is missing. *Copy*: lost in conversion.

# %% demo=true covers="guo:II.4.c guo:II.4.b explainers:2.2.a"
# guo, sections II.4.b and II.4.c, and explainers 2.2.
spam, called = np.array([1, 1, 1, 0, 0, 0, 0]), np.array([1, 1, 0, 1, 1, 1, 0])
missed, precision = np.sum((spam == 1) & (called == 0)), np.mean(spam[called == 1])


def fits(row_is, column_is):
    """Row spam, column non-spam holds the misses; C_kk over its column is precision."""
    cell = np.sum((row_is == 1) & (column_is == 0))
    return cell == missed and np.isclose(np.mean(row_is[column_is == 1]), precision)


erratum(
    "guo:II.4.c",
    quote="Table II.1. Columns are actual and rows are predicted.",
    corrected="rows are actual, columns predicted; cells and formulas need it so",
    printed_holds=fits(called, spam),
    corrected_holds=fits(spam, called),
    decoy_holds=fits(spam, 1 - called),  # rows actual, columns what was *not* called
)
actual, guess = np.array([0, 1, 2, 2, 1]), np.array([0, 2, 2, 1, 1])  # 3 of 5 right
erratum(
    "guo:II.4.b",
    quote=r"\sum_{n=1}^M \mathbb{1}[y_n - \arg \max \pi_n]",
    corrected=r"$\mathbb 1[y_n = \arg\max \pi_n]$",
    printed_holds=np.isclose(np.mean((actual - guess) != 0), 3 / 5),
    corrected_holds=np.isclose(np.mean(actual == guess), 3 / 5),
    decoy_holds=np.isclose(np.mean(actual >= guess), 3 / 5),
)
sure, truth = np.array([0.9, 0.8, 0.7, 0.6, 0.4]), np.array([0, 1, 1, 1, 0])
deltas = (0.3, 0.5, 0.65, 0.75, 0.85)
share = np.array([np.mean(truth[sure > d]) for d in deltas])
found = np.array([np.sum(truth[sure > d]) for d in deltas])
erratum(
    "explainers:2.2.a",
    quote=r"for higher precision and lower recall,  $\delta > 0.5$",
    corrected=r"recall never rises with $\delta$; precision mostly rises, not always",
    kind="broad",
    printed_holds=share[-1] >= share[1],
    corrected_holds=(np.diff(found) <= 0).all() and share[-1] < share[1],
)

# %% demo=true covers="moon:1.1 moon:23.1-prf"
# moon, sections 1.1 and 23.1.
erratum(
    "moon:1.1",
    quote=r"\mathcal{N}(x_j|\mu_{jc}^2)$ , where  $\mu_{jc}$  is the mean",
    corrected=r"$\mathcal N(x_j \mid \mu_{jc}, \sigma_{jc}^2)$",
    kind="copy",
)
erratum(
    "moon:1.1",
    quote=r"\hat{\pi} = \frac{N_c}{N}, \hat{\theta}_{jc} = \frac{N_{jc}}{N_c}",
    corrected=r"$\hat\pi_c$, one number a class; and $\hat\theta_{jc}$ wants smoothing",
    kind="convention",
)
erratum(
    "moon:1.1",
    quote="we can model the multinomial distribution",
    corrected="the categorical one; multinomial are the counts of several draws",
    kind="convention",
)
erratum(
    "moon:23.1-prf",
    quote="taking both metrics into account in the following equation:",
    corrected=r"$F_1 = 2PR/(P + R)$",
    kind="copy",
)

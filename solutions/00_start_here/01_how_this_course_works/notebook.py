# %% [markdown] minutes=60 builds="your first passing check, and a small network run as a program"
# # How this course works
#
# Welcome! In this course you learn machine learning by computing it. Every idea comes as an equation, as a few lines that run, as a picture you can move, and as
# an exercise that is checked within a second.
#
# Click on the cell below and press **Shift+Enter**: it runs, and the next cell is selected. Go on like this from the top to the bottom. You cannot break anything, and every cell can be run again.
#
# The first cell loads the course (this takes some seconds), the second looks whether your machine has what it needs. If one of them complains, run `make start` in a terminal, in the folder of the project.

# %%
import numpy as np
import torch
from descent import after, check, data, explore, hint, predict, progress
from descent import show, solution, start, submit
from descent.pictures.start_here import how_this_course_works as pictures
from ipywidgets import FloatSlider, IntSlider

start("00_start_here/01_how_this_course_works")

# %%
import sys
from importlib.metadata import version

needed = {"numpy": 2, "torch": 2, "matplotlib": 3, "ipywidgets": 8, "scikit-learn": 1}
old = [
    name
    for name, at_least in needed.items()
    if int(version(name).split(".")[0]) < at_least
]
if sys.version_info < (3, 11):
    old.append("python")
print(f"Too old: {old}. Run `make start`." if old else "All is here. You are ready.")

# %% [markdown]
# ## Your first exercise
#
# An exercise is a function with a missing line. A text under its name, the *docstring*, says what goes in (`x`), what comes out (after the arrow `->`), and gives one small example. You write the line, run
# the cell, and then run the cell with `check`.
#
# Before you write one, look at a check that fails. Somebody in a hurry was asked for the average of a list and wrote this. Run it.


# %% demo=true
def average(x):
    return sum(x)


check(average)

# %% [markdown]
# That is a **failing card**. It is there to help you, so read it from the top:
#
# - each property of the answer, with ✓ or ✗, and the points so far;
# - *This may be*: if a known mistake gives the same results, its name and where to look;
# - then one case in detail: what your function was **tried with**, what was **expected**, and what it **got**.
#
# A failed check costs nothing. Check as often as you like.
#
# **Now you.** In the next cell, replace the two lines after `total = sum(x)` (the comment and the `raise`) by one line that returns the average. Run the cell, then run its check.


# %% exercise="average" points=1 minutes=2 difficulty=1
def average(x):
    """The mean of some numbers.

    x: list or array of n >= 1 numbers -> a number.
    average([1, 2, 6]) gives 3.0.
    """
    total = sum(x)
    ### BEGIN SOLUTION
    return total / len(x)
    ### END SOLUTION


# %% check="average"
check(average)

# %% [markdown]
# Only ✓ now? That is a **passing card**, and the exercise is solved. (If you are curious, write `return max(x)` for a moment: no card knows this mistake, so you see only what was tried, expected and got.)
#
# ## When you are stuck
#
# Every exercise has three **hints**: the first is a nudge, the second a step, the third is nearly the line. Each call shows one more. They are free. Once an exercise is solved, or its third hint was not enough, `solution(average)` shows a worked answer: the code, why it works, what usually goes wrong. Your instructor puts them out when it is time; if you learn alone, `make self-study` does. Remove a `#` and run:

# %%
# hint(average)
# solution(average)

# %% [markdown]
# ## Guess, then move
#
# Before many pictures you are asked to **predict** what they will show. A guess that went wrong is remembered longer than an answer that was read, so do guess.
#
# Below is one. It is about the **widget** that follows, a picture with a slider: move it with the mouse, or click on it and use the arrow keys.
#
# Five points are given, and a line $\hat y = wx$ through the origin. The *loss* of the line at a point $(x_i, y_i)$ is the squared error $(y_i - w x_i)^2$. Guess first; then find the slope with the smallest average loss.

# %%
predict(
    "You turn the line away from its best slope w, step by step. "
    "How does the average loss grow?",
    [
        "by the same amount for each step",
        "slowly at first, then faster and faster",
        "fast at first, then ever slower",
    ],
    1,
    because="Each error is a straight line in w, its square a parabola, and a sum "
    "of parabolas is a parabola: see the right panel below.",
)

# %%
with after(average):
    explore(
        lambda w: pictures.draw_line(average, w),
        w=FloatSlider(0.1, min=-0.2, max=1.6, step=0.02, description="slope w"),
    )

# %% [markdown]
# The average in this picture is computed by *your* function. A cell that begins with `with after(average):` waits until `average` is solved; until then it shows the picture to come.
#
# By the way, you have just trained a model by hand: you changed a parameter, looked at a loss, and kept what lowered it. In the rest of the course an algorithm replaces your hand.
#
# ## Handing in
#
# `progress()` shows what is solved so far. `submit` packs a chapter into one file for your instructor; save the notebook first (Ctrl+S). If nobody marks your work, you never need it.

# %%
# progress()
# submit("00_start_here", student="your-identifier")

# %% [markdown]
# That is all you need to know to use the course. The rest of this notebook says what the course is about. After this hour you can
#
# - keep training, prediction and evaluation apart;
# - decide by a numerical test whether a printed formula is right;
# - read a neural network as a program whose objects are vectors.
#
# Words and symbols are explained where they are used. Two conventions from here on: `x (n,)` is an array of $n$ numbers, and `X (n, d)` a table of $n$ rows and $d$ columns. If you forget one, look at
# [the lists near the end](01_how_this_course_works.ipynb#To-look-things-up).
#
# ## Why: one figure
#
# Nobody told the program below what a 3 looks like. It keeps the labelled images it was shown and gives a new one the label of the most similar. From point to point only the number of examples changes.

# %%
from sklearn.neighbors import KNeighborsClassifier

X_digits, y_digits, *_ = data.digits()  # 1797 handwritten digits, 64 grey values each
order = np.random.default_rng(0).permutation(len(y_digits))
seen, unseen = order[:1000], order[1000:]
sizes = [10, 30, 100, 300, 1000]
mistakes = [
    1
    - KNeighborsClassifier(1)
    .fit(X_digits[seen[:n]], y_digits[seen[:n]])
    .score(X_digits[unseen], y_digits[unseen])
    for n in sizes
]
show(*pictures.draw_experience(sizes, mistakes, len(unseen)))

# %% [markdown] covers="explainers:1 cs480:1"
# ## What is machine learning?
#
# Mistakes fall by experience, and that is the definition: machine learning is the part of artificial intelligence in which a program gets better through **experience**. Your widget did it in small, the digits above in earnest.
#
# As a field under this name it is about forty years old (before, one said *pattern recognition*; the words *machine learning* are Arthur Samuel's, of 1959). It has no clean border. Herbert Jaeger, in his Groningen notes of 2023/24, gives the reason:
# it takes its methods from statistics, information theory, signal processing, control and logic, and its questions from everywhere, so each textbook shows its author's part of it.
# The nearest neighbour is statistics: both fit models to data. Statistics asks first what can be concluded; machine learning asks first what can be predicted.
#
# Three times artificial intelligence was the talk of the town. When did it get its name?

# %% covers="explainers:B.2 cs480:1"
predict(
    "Which text coined the words 'artificial intelligence'?",
    [
        "Turing's paper on the imitation game, 1950",
        "McCarthy's proposal for a summer workshop, 1955",
        "Rosenblatt's report on the perceptron, 1957",
        "a textbook on expert systems, 1983",
    ],
    1,
    because="It asked for money for the workshop held at Dartmouth in 1956.",
    then=pictures.draw_timeline,
)

# %% [markdown] covers="explainers:B.2 explainers:B cs480:1"
# What belongs under that name? One proposal goes by **intent**. (It stands in the *explainers*, winter 2026. They are one of the five sets of lecture notes behind this course, called wu, moon, cs480, guo and explainers; a table further below introduces them.) It says: artificial intelligence is work that means to imitate the intelligence of living things.
# Then Turing's imitation game and the rules of Newell, Simon and Minsky belong to it as much as the networks of Hinton's school: the methods went from symbols written by hand to weights learned from data,
# the intent stayed. And linear programming is a border case: once a way to make machines decide, today plain operations research. The same algorithm, another intent.
#
# Test the definition: does a spam filter belong? A thermostat? The digit reader above? If two readers disagree, what would have to be known to settle it?
#
# ## Paradigms
#
# What does a program learn *from*?
#
# | paradigm | experience | tasks |
# | --- | --- | --- |
# | supervised | right answers, given by a teacher | classify, rank, regress |
# | unsupervised | examples without answers | cluster, represent, generate |
# | reinforcement | rewards for its own actions | play, control, set prices |
#
# Between them: *semi-supervised* learning (few labels, many examples) and *active* learning (the program asks for labels). Research works on representation, generalisation, interpretation,
# complexity in time and memory, efficiency with data, privacy, robustness and applications. One of each, on a screen:

# %% covers="cs480:1"
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

groups = KMeans(10, n_init=1, random_state=0).fit_predict(X_digits)  # no label is used
rng = np.random.default_rng(0)
pays = [0.3, 0.5, 0.8]  # three slot machines; the program does not know what they pay
pulls, wins = np.zeros(3), np.zeros(3)
for _ in range(500):  # mostly the machine that paid best so far, one time in ten any
    best = np.argmax(wins / np.maximum(pulls, 1))
    arm = rng.integers(3) if rng.random() < 0.1 else best
    pulls[arm] += 1
    wins[arm] += rng.random() < pays[arm]
print(f"supervised:    {1 - mistakes[-1]:.0%} of new digits named correctly")
agreement = adjusted_rand_score(y_digits, groups)
print(f"unsupervised:  groups match the digits to {agreement:.1f} (chance 0, best 1)")
print(f"reinforcement: best machine in {pulls[2] / 500:.0%} of 500 trials (chance 33%)")

# %% [markdown] covers="cs480:def1.1"
# ## Data: rows or columns?
#
# A data set: features $x_1,\dots,x_n\in\mathbb R^d$ with labels $y_1,\dots,y_n$ for training, and test samples $x'_1,\dots,x'_m$ that may have labels or not.
# Libraries store one sample a **row**, $(n, d)$. The cs480 notes store one a **column**, $X=[x_1,\dots,x_n]\in\mathbb R^{d\times n}$. So the same prediction reads `X @ w` or $w^\top X$.
#
# The exercise turns one layout into the other, after a shuffle and a split. The trap: whatever moves a sample must move its label.


# %% exercise="to_columns" points=2 minutes=5 difficulty=1 covers="cs480:def1.1"
def to_columns(rows, labels, order, n_train):
    """Shuffle, split and turn samples into columns.

    Arrays: rows (n, d), labels (n,), order (n,); row order[0] comes first, …
    The first n_train samples in that order are for training, the others for the test.
    -> X (d, n_train), y (n_train,), X_test (d, n - n_train), y_test (n - n_train,)
    rows [[1, 2], [3, 4], [5, 6]], labels [10, 20, 30], order [2, 0, 1], n_train 2
    give X [[5, 1], [6, 2]], y [30, 10], X_test [[3], [4]], y_test [20].
    """
    ### BEGIN SOLUTION
    shuffled, targets = rows[order], labels[order]
    X, X_test = shuffled[:n_train].T, shuffled[n_train:].T
    return X, targets[:n_train], X_test, targets[n_train:]
    ### END SOLUTION


# %% check="to_columns"
check(to_columns)

# %% covers="cs480:def1.1"
with after(to_columns):
    flowers = data.iris()
    shuffle = np.random.default_rng(1).permutation(150)
    X, y, X_test, y_test = to_columns(flowers.X, flowers.y, shuffle, 100)
    assert X.shape == (4, 100) and X_test.shape == (4, 50)
    w = np.array([0.1, -0.2, 0.3, 0.4])
    rows = flowers.X[shuffle[:100]]
    assert np.allclose(w @ X, rows @ w)  # both layouts predict the same
    assert np.array_equal(y, flowers.y[shuffle[:100]])  # each label with its flower
    print("first training flower:", X[:, 0], "cm, species", y[0])

# %% [markdown] covers="cs480:1"
# ## Three phases
#
# A supervised algorithm has three phases. **Training** sees samples with labels. **Prediction** sees samples. **Evaluation** compares predictions with labels that training never saw.
# Almost every embarrassing result in machine learning mixes two of them.
#
# Every model of scikit-learn has the same two methods: `model.fit(X, y)` trains it and `model.predict(X)` returns an array of predictions. Write the loop that is used on all of them.
# The score here is the *accuracy*: the share of right predictions. Call `fit` and `predict` once each.


# %% exercise="train_predict_evaluate" points=2 minutes=4 difficulty=1 covers="cs480:1"
def train_predict_evaluate(model, X, y, X_test, y_test):
    """Train on X, y; predict X_test; -> share of y_test predicted right (0 to 1).

    model has fit(X, y) and predict(X). X (n, d), y (n,), X_test (m, d), y_test (m,).
    A model that predicts [0, 1, 1, 0] for y_test [0, 1, 0, 0] scores 0.75.
    """
    ### BEGIN SOLUTION
    model.fit(X, y)
    predictions = model.predict(X_test)
    return np.mean(predictions == y_test)
    ### END SOLUTION


# %% check="train_predict_evaluate"
check(train_predict_evaluate)

# %%
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

MODELS = {
    "most frequent digit": DummyClassifier(),
    "naive Bayes": GaussianNB(),
    "decision tree": DecisionTreeClassifier(random_state=0),
    "1 nearest neighbour": KNeighborsClassifier(1),
}
with after(train_predict_evaluate):
    split = X_digits[seen], y_digits[seen], X_digits[unseen], y_digits[unseen]
    scores = {
        name: train_predict_evaluate(model, *split) for name, model in MODELS.items()
    }
    show(*pictures.draw_scores(scores))

# %% [markdown] covers="explainers:2"
# ## Supervised learning
#
# Choose a family of functions $f_\theta:\Omega_X\to\Omega_Y$, from the set of possible inputs to the set of possible outputs, and use examples to choose the parameters $\theta$. An input may have several parts, $X=(X_1,\dots,X_m)$, and so may an output, $Y=(Y_1,\dots,Y_r)$; mostly $r=1$.
# If the output is a quantity, the task is **regression**; if it is one of finitely many names, **classification**. For the program that calls the model nothing changes, as the two panels show: both models have `fit` and `predict`.

# %% covers="explainers:2"
from sklearn.linear_model import LinearRegression

show(
    *pictures.draw_two_tasks(
        LinearRegression(), data.diabetes(), KNeighborsClassifier(9), data.iris()
    )
)

# %% [markdown] covers="explainers:2 explainers:3 guo:I.1"
# How good is one $f$? A loss $\ell(y, \hat y)$ says how bad a single prediction is. The **empirical risk** is its average over the data:
#
# $$L(f) = \frac1n\sum_{i=1}^n \ell\big(y_i, f(x_i)\big).$$
#
# Behind the data stands a distribution that nobody knows: inputs come as $x\sim P(x)$, labels as $y\sim P(y\mid x)$. So for an $f$ fixed beforehand the average estimates the expected loss on a new example. *Training* means: choose $\theta$ so that $L(f_\theta)$ is small. *How* to find
# such a $\theta$ is the choice of an optimiser, and [gradient descent](../03_optimisation/01_gradient_descent.ipynb) is the first.
# Once $\theta$ has been chosen by these examples, their average is too optimistic: that is why evaluation needs other examples.
#
# In Python, functions are values: `f` and `loss` are handed in like numbers, and called inside. The function `np.mean` averages a list.


# %% exercise="empirical_risk" points=1 minutes=3 difficulty=1 covers="explainers:2"
def empirical_risk(f, loss, data):
    """The mean loss of f over data; the order of the examples does not matter.

    f: x -> prediction. loss: (y, prediction) -> number, the label first.
    data: list of n >= 1 pairs (x, y).
    f = lambda x: 2 * x, loss = lambda y, p: abs(y - p), data = [(1, 2), (2, 7)]
    give 1.5.
    """
    ### BEGIN SOLUTION
    return np.mean([loss(y, f(x)) for x, y in data])
    ### END SOLUTION


# %% check="empirical_risk"
check(empirical_risk)

# %%
with after(empirical_risk):
    pairs = list(zip(pictures.LINE_X, pictures.LINE_Y))
    slopes = np.linspace(0, 1.6, 161)
    losses = {"squared": lambda y, p: (y - p) ** 2, "absolute": lambda y, p: abs(y - p)}
    for name, loss in losses.items():
        risks = [empirical_risk(lambda x, w=w: w * x, loss, pairs) for w in slopes]
        best = slopes[np.argmin(risks)]
        print(f"{name} loss: best slope {best:.2f}, risk {min(risks):.2f}")

# %% [markdown] covers="explainers:1"
# Another loss, another best line: the loss is a choice, and it is yours.
#
# ## The common core: likelihood
#
# Most of this course has one loss in common. Let the model give a *density* $p_\theta(y\mid x)$ and take $\ell = -\log p_\theta(y\mid x)$. The smallest risk is then the largest likelihood, and
# $\hat\theta$ is the **maximum-likelihood estimate** (MLE). For a polynomial $f$ with normal noise, $y\sim\mathcal N(f(x),\sigma^2)$, it is least squares, and
# $\hat\sigma^2$ is the mean squared error. At $\hat\theta$ the *score*, the gradient of the log-likelihood, is zero. Let torch compute that gradient, for ten families of polynomials:


# %% covers="explainers:1"
def features(degree, x):  # polynomials of degree 0, 1, …
    return np.polynomial.legendre.legvander(x, degree)


def mle_fit(degree, x, y):
    c = np.linalg.lstsq(features(degree, x), y, rcond=None)[0]
    return c, np.mean((y - features(degree, x) @ c) ** 2)


x, y = pictures.wave(15, 6)
for degree in range(10):
    c, variance = (torch.tensor(v, requires_grad=True) for v in mle_fit(degree, x, y))
    error = torch.tensor(y) - torch.tensor(features(degree, x)) @ c
    torch.distributions.Normal(0, variance.sqrt()).log_prob(error).sum().backward()
    assert max(c.grad.abs().max(), variance.grad.abs()) < 1e-6  # the score is zero

# %%
predict(
    "Polynomials of degree 0, 1, …, 9 are fitted to 15 examples. "
    "Which has the largest likelihood on these 15?",
    ["the lowest degree", "one in the middle", "the highest degree"],
    2,
    because="Each family contains the one before, so its best member can only be "
    "as good or better. Now see what new examples say.",
)


# %%
def mean(model, x):
    return features(len(model[0]) - 1, x) @ model[0]


def log_p(model, x, y):
    variance = model[1]
    error = y - mean(model, x)
    return -0.5 * np.log(2 * np.pi * variance) - error**2 / (2 * variance)


explore(
    lambda degree, n: pictures.draw_capacity(mle_fit, log_p, mean, degree, n),
    degree=IntSlider(9, min=0, max=9, description="degree"),
    n=IntSlider(15, min=15, max=100, step=5, description="examples n"),
)

# %% [markdown] covers="explainers:1"
# Move both sliders. On new data, how much does degree 9 lose against degree 3 with 15 examples? With 30? With 100? More capacity never hurts what was seen. How much it hurts what was not seen depends on the amount of data.
#
# That is the puzzle at the heart of the field. Since 2012 networks with far more parameters than examples have been trained by little else than maximum likelihood,
# and they *do* predict well. Why? There are partial answers: [[01/05|double descent]], the preference of gradient descent for simple solutions, the structure of real data. The question is open.

# %% [markdown] written="what_accuracy_hides" points=2 minutes=5 covers="explainers:B"
# ### In your own words
#
# The explainers end with essays (B.1 on reasoning, B.2 on the word AI; B.3 and B.4 are empty yet) and a line in memory of Elaine Herzberg. On 18 March 2018 she was pushing a bicycle across a road in Tempe, Arizona, and was killed by a test car that drove itself. The investigators reported that the software saw her seconds before,
# classified her in turn as an unknown object, a vehicle and a bicycle, and that its design did not expect pedestrians away from a crossing.
#
# Suppose the classifier had scored 99 % in evaluation. In five sentences or so: which phase does that number speak about, and on which data? Name two things about the use of the system that it
# cannot tell. What would you have measured instead?
#
# ### BEGIN SOLUTION
# The number speaks about evaluation: the share of test samples named correctly, on data drawn like the test set. It says nothing about samples that the test set hardly holds, such as people walking a
# bicycle across a road away from a crossing, because accuracy averages over what is frequent. It weighs all mistakes alike, although one kind costs a life and another a needless stop. It looks at single
# frames, while the car needed a track that stays stable when the label changes, and at the classifier alone, not at the planner, the brakes and the person on watch. I would measure misses of
# persons in rare situations, at the distance at which braking still helps, weighted by their cost, and test the whole system in such scenes before it meets the public.
#
# **Rubric**
#
# - 0.5: names evaluation, and that its data are drawn like the test set
# - 1: two distinct limits, half a point each: rare cases, the cost of a mistake, the rest of the system, or another that holds
# - 0.5: a measurement that answers a limit it named
# ### END SOLUTION

# %% [markdown] covers="guo:0 explainers:0 moon:bib wu:2.0.4"
# ## Where the course comes from, and how far to trust it
#
# The course is made from five sets of lecture notes, called by these short names throughout. This notebook mirrors **wu** 2.0.4, 3.1 and 4.8, the bibliography of **moon**, chapter 1 and the back matter of **cs480**, the front matter of **guo**, and the front matter, 1, 2 and appendix B of the **explainers**.
#
# | name | what it is | how it speaks of itself |
# | --- | --- | --- |
# | **wu** | *Machine Learning Methods*, Ying Nian Wu, UCLA, December 2024 | derivations, diagrams, hints for implementation, links to applications; references still to be added |
# | **moon** | *Deep Statistical Learning*, Han Cheol Moon, Nanyang Technological University | rests on Murphy, Bishop, Pishro-Nik |
# | **cs480** | lecture notes of CS 480/680, Winter 2024 (Hongyang Zhang, Yaoliang Yu) | 17 lectures, 9 January to 19 March; lectures 3 and 4 second-hand; gaps marked TODO |
# | **guo** | notebook by James Guo on EN.601.482, Johns Hopkins, Spring 2025 (Eric Nalisnick) | six parts: linear models with one feature, with many, feedforward networks, optimisers and convolution, recurrence to transformers, deep generative models; says it may contain errors |
# | **explainers** | *Machine Learning Explainers*, last updated 2 February 2026 | summaries for the author's own use; a living document with empty sections |
#
# They are lecture notes and not refereed books. So this course takes formulas from them and believes none: **each derivation is verified by numbers**. Where a printed formula fails, the notebook shows an *erratum*: the printed form with a
# number against it, the corrected form with a number for it.
#
# Where a note is empty, the course fills the hole from standard references and says so. **Holes of the explainers and where they are filled:** 2.4 in [[05/01]] · 3.1.2 in [[07/04]] · 3.3.3 and 3.3.4 in [[03/03]] · 4.3 and 4.5.4 in [[09/01]] · 4.4.4 in [[12/01]] and [[12/03]] · 4.5.3 in [[08/02]] ·
# 5.2.6 in [[14/01]] · 5.3.1 in [[14/04]] · 5.4 in [[14/06]] · 5.6 in [[14/07]] · A.4 in [[06/01]] · B.3 in [[02/04]] · B.4 in [[13/01]] · byte-pair encoding, which ends in mid-sentence, in [[11/02]] · RoPE in [[12/02]]. **Of moon:** 37.2.3 in [[03/03]]. **Of cs480:** the TODOs of its sections 3, 11 and 12.
#
# **References.** Classical material: Murphy, *Machine Learning: A Probabilistic Perspective* (2012); Bishop, *Pattern Recognition and Machine Learning* (2006); Pishro-Nik, *Introduction to Probability, Statistics, and Random Processes* (2014).
# Original papers: Kalman 1960 (filter) · Vaswani et al. 2017 (transformer) · Chen et al. 2018 (neural ODE) · Su et al. 2021 (RoPE) · Gu et al. 2022 (S4) · Gu and Dao 2023 (Mamba) · Rafailov et al. 2023 (DPO) · DeepSeek-V2, V3 (2024), R1 (2025).
#
# ### Is a printed formula right?
#
# A formula claims that its left side equals its right side for every input of some kind. A thousand inputs that agree do not prove it. **One that disagrees disproves it**, and takes a second to find.
#
# Write the tool. Computers carry about 16 digits, so "equal" means: the difference is at most `rtol` times the larger of the two absolute values. And `nan`, the result of an impossible operation, agrees with nothing
# (every comparison with `nan` is `False`, so ask whether the sides *agree*).
#
# One warning. Where a side should be exactly 0, or is a small difference of large numbers, rounding alone exceeds any relative tolerance: `sin(pi)` is about $10^{-16}$ and not 0. Look at the size of the terms before you call that a counterexample.


# %% exercise="counterexample" points=2 minutes=6 difficulty=2 covers="guo:0"
def counterexample(left, right, points, rtol=1e-9):
    """The first point at which left and right disagree; None if there is none.

    left, right: functions of a point that return a number (maybe nan). points: list.
    They agree at p where |left(p) - right(p)| <= rtol * max(|left(p)|, |right(p)|).
    counterexample(lambda p: p**2, lambda p: 2 * p, [0, 2, 3, 4]) gives 3.
    """
    ### BEGIN SOLUTION
    for p in points:
        a, b = left(p), right(p)
        if not abs(a - b) <= rtol * max(abs(a), abs(b)):
            return p
    return None
    ### END SOLUTION


# %% check="counterexample"
check(counterexample)

# %% [markdown] covers="guo:0"
# Now five formulas as the notes print them. Read each and bet before you run: which hold?
#
# 1. **cs480**, section 4: labels $y\in\{0,1\}$ become $\pm1$ by $y'=\frac{y+1}2$.
# 2. **explainers** 4.2.1: a window of width $3$ that moves in steps of $2$ over $W$ cells stops at $\lceil\frac{W-3}2\rceil+1$ places.
# 3. **wu** 2.14.1: with $\operatorname{RMSNorm}(h)=h\big/\sqrt{\tfrac1d\sum_i h_i^2}$ we have $\operatorname{RMSNorm}(\alpha h)=\operatorname{RMSNorm}(h)$ for all $\alpha\neq0$.
# 4. **moon** 2.1: the constant term of a Fourier series is $\frac{a_0}2$ with $a_0=\frac1T\int_0^T f(x)\,dx$. (Test it on $f(x)=c$: the constant term of a constant is $c$.)
# 5. **guo** III.5: the sigmoid $\sigma(z)=1/(1+e^{-z})$ has $\sigma'(z)=\sigma(z)(1-\sigma(z))$.


# %% covers="guo:0"
def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def sigmoid_slope(z):  # by torch, which knows nothing of the formula below
    z = torch.tensor(z, dtype=torch.float64, requires_grad=True)
    return torch.autograd.grad(torch.sigmoid(z), z)[0].item()


def rms_norm(h):
    return h / np.sqrt(np.mean(h**2))


# %% covers="guo:0"
h0, widths = np.array([1.0, -2.0, 0.5]), [3, 5, 6, 7]
CLAIMS = {  # left side, right side as printed, points to try
    "cs480 4": (lambda y: {0: -1, 1: 1}[y], lambda y: (y + 1) / 2, [1, 0]),
    "explainers 4.2.1": (
        lambda W: len(range(0, W - 2, 2)),
        lambda W: np.ceil((W - 3) / 2) + 1,
        widths,
    ),
    "wu 2.14.1": (
        lambda a: rms_norm(a * h0)[0],
        lambda a: rms_norm(h0)[0],
        [0.1, 2.0, 7.0, -1.0],
    ),
    "moon 2.1": (lambda c: c, lambda c: np.mean(np.full(100, c)) / 2, [0.0, 1.0]),
    "guo III.5": (
        sigmoid_slope,
        lambda z: sigmoid(z) * (1 - sigmoid(z)),
        [-5.0, 0.0, 0.3, 4.0],
    ),
}

# %% covers="guo:0"
with after(counterexample):
    repaired = {
        "cs480 4": lambda y: 2 * y - 1,
        "explainers 4.2.1": lambda W: (W - 3) // 2 + 1,
        "wu 2.14.1": lambda a: np.sign(a) * rms_norm(h0)[0],
        "moon 2.1": lambda c: 2 * np.mean(np.full(100, c)) / 2,
    }
    for name, (left, right, points) in CLAIMS.items():
        p = counterexample(left, right, points)
        told = "holds at every point tried"
        if p is not None:
            told = f"FAILS at {p}: {left(p):.3g} is not {right(p):.3g}"
            assert counterexample(left, repaired[name], points) is None
        print(f"{name:<17}{told}")

# %% [markdown] covers="guo:0 wu:3.1.2 wu:3.1.1 wu:4.8.1"
# Four of five fail, and each of the four passes somewhere: the first at $y=1$, the second for every odd $W$, the third for every positive $\alpha$, the fourth for $c=0$. **A test is as good as its points.** Try the edges, the negative numbers, the odd and the even.
#
# Could you have repaired them? $y'=2y-1$; $\lfloor\cdot\rfloor$ for $\lceil\cdot\rceil$; a factor $\operatorname{sign}(\alpha)$; $\frac2T$ for $\frac1T$. The cell has tried the repaired forms at the same points. That is no proof: proofs belong to the notebooks of those chapters.
#
# ## A network is a program
#
# Programs have objects and operations. In a neural network every object is a **vector**, and there are few operations:
#
# | operation | shapes | in code |
# | --- | --- | --- |
# | linear map $Wh$ | $(m,d),(d)\to(m)$ | `W @ h` |
# | bias $+b$, sum $h_1+h_2$ | $(m),(m)\to(m)$ | `h + b` |
# | activation $\sigma(h)$, product $h_1\odot h_2$ | entry by entry, $(m)\to(m)$ | `act(h)`, `h1 * h2` |
# | inner product $h_1^\top h_2$ | $(m),(m)\to$ a number | `h1 @ h2` |
# | outer product $h_1h_2^\top$ | $(m),(d)\to(m,d)$ | `np.outer(h1, h2)` |
#
# One line of the program is a **layer**, one vector in and one vector out: $\;h^{(l)}=\sigma\big(W^{(l)}h^{(l-1)}+b^{(l)}\big)$, starting from $h^{(0)}=x$.
#
# **Ask before you go on:** an outer product times a vector, $(h_1h_2^\top)x$: in which direction does the result point? Move the brackets, and write it without ever building the matrix.


# %% exercise="outer_times" points=1 minutes=2 difficulty=1 covers="wu:3.1.2"
def outer_times(h1, h2, x):
    """The vector (h1 h2^T) x.

    h1 (m,), h2 (d,), x (d,): arrays -> (m,)
    h1 = [1, 2], h2 = [3, 0, 1], x = [1, 5, 1] give [4, 8].
    """
    ### BEGIN SOLUTION
    return h1 * (h2 @ x)
    ### END SOLUTION


# %% check="outer_times"
check(outer_times)

# %% covers="wu:3.1.2"
rng = np.random.default_rng(2)
h1, h2, x = rng.normal(size=(3, 4))
# Along h1 or against it, as far as h2 and x agree: a memory that answers h1 to h2.
assert np.allclose(np.outer(h1, h2) @ x, h1 * (h2 @ x))
# An entry-by-entry product is a diagonal matrix, the inner product a trace.
assert np.allclose(h1 * h2, np.diag(h1) @ h2)
assert np.allclose(h1 @ h2, np.trace(np.outer(h1, h2)))
# W x mixes the columns of W, and it asks each row of W how well it matches x.
W = rng.normal(size=(3, 4))
assert np.allclose(W @ x, sum(x[j] * W[:, j] for j in range(4)))
assert np.allclose(W @ x, [row @ x for row in W])


# %% exercise="layer" points=2 minutes=3 difficulty=1 covers="wu:3.1.1"
def layer(W, b, act, h):
    """One layer: act(W h + b).

    W (m, d), b (m,), h (d,): arrays. act: function of a vector, entry by entry. -> (m,)
    W = [[1, 2], [0, -1]], b = [1, 0], act = np.abs, h = [3, 4] give [12, 4].
    """
    ### BEGIN SOLUTION
    return act(W @ h + b)
    ### END SOLUTION


# %% check="layer"
check(layer)

# %% covers="wu:3.1.1 wu:4.8.1 wu:3.1.3"
relu = pictures.relu
PROGRAM = [  # the whole program: two instructions
    (np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([0.0, -1.0]), relu),
    (np.array([[1.0, -2.0]]), np.array([0.0]), pictures.identity),
]
with after(layer):
    for x in ([0, 0], [0, 1], [1, 0], [1, 1]):
        trace = [np.array(x, float)]
        for W, b, act in PROGRAM:
            trace.append(layer(W, b, act, trace[-1]))
        print(" -> ".join(str(h.astype(int)) for h in trace))

# %% [markdown] covers="wu:3.1.3 wu:3.1.4 wu:4.8.1"
# You have written an interpreter: it runs a list of instructions $(W, b, \sigma)$ and prints the trace $h^{(0)}\to h^{(1)}\to h^{(2)}$. Nothing else is in a feedforward network. Which Boolean function do its last numbers spell?
#
# The vectors pass **messages**: each reads those before it and sends one on. Where vectors branch and meet, the program is a graph rather than a list, and somebody has to decide which step comes next. There is no
# `if` and no `for` between the steps: the *wiring* is the control flow.
#
# ### Which step comes next?
#
# Write the graph as a dict: node → list of the nodes it reads from. A **topological order** lists every node once, after all nodes that it reads from. Several orders may be right; any of them counts. If the graph has a loop, there is none.
#
# The check runs the program in your order: every node adds 1 to the sum of its inputs, and an input that is not there yet counts as 0.


# %% exercise="topological_order" points=3 minutes=8 difficulty=2 covers="wu:3.1.4"
def topological_order(inputs_of):
    """An order in which each node comes after its inputs; None if there is a loop.

    inputs_of: dict, node -> list of the nodes it reads from. Every node is a key.
    Leave inputs_of as it is.
    -> list of all nodes
    {"y": ["h", "x"], "h": ["x"], "x": []} gives ["x", "h", "y"],
    {"a": ["b"], "b": ["a"]} gives None.
    """
    ### BEGIN SOLUTION
    order = []
    while len(order) < len(inputs_of):
        ready = [
            v
            for v in inputs_of
            if v not in order and all(u in order for u in inputs_of[v])
        ]
        if not ready:
            return None
        order.append(ready[0])
    return order
    ### END SOLUTION


# %% check="topological_order"
check(topological_order)

# %% [markdown] covers="wu:3.1.4"
# Forward, the program runs in that order and keeps every value: the **tape**. Backward, the tape is read from its end: each node hands its derivative $\partial y/\partial v$ to its inputs, times the weight and the slope
# of the activation. That is backpropagation, here in a dozen lines for graphs of sums and relus. They are tried on the XOR program, now with one number a node: $s=x_1+x_2$, $h_1=\operatorname{relu}(s)$, $h_2=\operatorname{relu}(s-1)$, $y=h_1-2h_2$, where $\operatorname{relu}(z)=\max(z,0)$. Where relu has its kink, at 0, there is no derivative; programs take 0.


# %% covers="wu:3.1.4"
def forward(steps, inputs_of, order, x):
    value = dict(x)
    for v in [v for v in order if v in steps]:
        weights, bias, act = steps[v]
        value[v] = act(sum(w * value[u] for w, u in zip(weights, inputs_of[v])) + bias)
    return value


def backward(steps, inputs_of, order, value):
    slope = dict.fromkeys(order, 0.0) | {"y": 1.0}
    for v in [v for v in reversed(order) if v in steps]:
        weights, _, act = steps[v]
        through = slope[v] * (1.0 if act is pictures.identity else float(value[v] > 0))
        for w, u in zip(weights, inputs_of[v]):
            slope[u] += through * w
    return slope


# %% covers="wu:3.1.4"
steps, inputs_of = pictures.XOR_STEPS, pictures.XOR_INPUTS
written_down = ["x1", "x2", "s", "h1", "h2", "y"]


def y_at(**x):
    return forward(steps, inputs_of, written_down, x)["y"]


for x1, x2 in [(0.2, 0.3), (0.9, 0.4), (0.0, 0.7)]:
    tape = forward(steps, inputs_of, written_down, {"x1": x1, "x2": x2})
    slope = backward(steps, inputs_of, written_down, tape)
    nudged_1 = (y_at(x1=x1 + 1e-6, x2=x2) - y_at(x1=x1 - 1e-6, x2=x2)) / 2e-6
    nudged_2 = (y_at(x1=x1, x2=x2 + 1e-6) - y_at(x1=x1, x2=x2 - 1e-6)) / 2e-6
    assert np.allclose([slope["x1"], slope["x2"]], [nudged_1, nudged_2], atol=1e-6)


# %% covers="wu:3.1.3 wu:3.1.4"
def run_and_draw(x1, x2):
    order = topological_order(inputs_of)
    tape = forward(steps, inputs_of, order, {"x1": x1, "x2": x2})
    return pictures.draw_program(tape, backward(steps, inputs_of, order, tape))


with after(topological_order):
    explore(
        run_and_draw,
        x1=FloatSlider(0.7, min=0, max=1, step=0.05, description="x1"),
        x2=FloatSlider(0.0, min=0, max=1, step=0.05, description="x2"),
    )

# %% [markdown] covers="wu:3.1.3 wu:3.1.4 wu:3.1.5 wu:4.8.2"
# The program in slow motion. Orange nodes are on. Move $x_1$ and $x_2$ to the four corners and read off $y$. Then set $x_2 = 0.5$ and move $x_1$ from 0 to 1: where does $y$ turn round, which node switches on there, and what happens to $dy/dx_1$?
#
# So a hidden unit is a *feature*: it reads the vector along one direction (here $x_1+x_2$) and answers where its threshold is passed.
#
# ## Data writes the program
#
# Nobody writes the weights of a real network. Data, a loss, backpropagation and gradient descent do. The next cell trains the **same** architecture (two inputs, four hidden units, one output) from the **same** start,
# once on the table of AND and once on XOR. The only difference is in the labels: three of the four.

# %% covers="wu:3.1.5 wu:4.8.2"
corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
TABLES = {"AND": np.array([0, 0, 0, 1]), "XOR": np.array([0, 1, 1, 0])}


def write_program(labels, steps=1000, eta=1.0):
    rng = np.random.default_rng(0)  # the same start for every table
    W1, b1 = rng.normal(size=(4, 2)), rng.normal(size=4)
    w2, b2 = rng.normal(size=4), 0.0
    for _ in range(steps):
        h = np.tanh(corners @ W1.T + b1)  # forward
        error = (sigmoid(h @ w2 + b2) - labels) / 4  # backward, to every weight
        back = np.outer(error, w2) * (1 - h**2)
        W1, b1 = W1 - eta * back.T @ corners, b1 - eta * back.sum(0)
        w2, b2 = w2 - eta * h.T @ error, b2 - eta * error.sum()
    return lambda x: np.tanh(x @ W1.T + b1) @ w2 + b2 > 0


# %% covers="wu:3.1.5 wu:4.8.2"
programs = {name: write_program(labels) for name, labels in TABLES.items()}
for name, program in programs.items():
    assert np.array_equal(program(corners), TABLES[name] == 1)  # computes its table
show(*pictures.draw_programs(programs, corners, TABLES))

# %% [markdown] covers="wu:4.8.4 wu:3.1.5 wu:4.8.1 wu:3.1.6"
# Same instructions, same start, other data: another program. This is what *data as the programmer* means. What a program learns to compute on the way (a direction, a threshold, a feature) can be reused by later layers and, later, by other tasks.
#
# The lectures go further and call three ingredients the foundation of digital intelligence. Each is a few lines that you can run, which is worth more than the claim:
#
# - a **simple language** of vectors and learnable maps: [your `layer`](01_how_this_course_works.ipynb#cell-id=layer);
# - **residual streams**, which let a program refine a vector over many steps: [[09/03]];
# - **backpropagation**, which says how each number should change: the tape above, and [[07/02]].
#
# That complex behaviour comes from composing simple steps is visible in XOR. That *intelligence* comes from it is a programme for research and no theorem: hold it as a hypothesis.
#
# ## On real data
#
# Take a network that scikit-learn has trained on 1000 digits, and read out its weights. Does your `layer` run it? And can you read what it does? Two instructions: $64\to16\to10$.

# %%
from sklearn.neural_network import MLPClassifier

network = MLPClassifier([16], learning_rate_init=0.01, batch_size=50, random_state=0)
for _ in range(30):  # thirty times through the data
    network.partial_fit(X_digits[seen] / 16, y_digits[seen], classes=np.arange(10))
INSTRUCTIONS = [(W.T, b) for W, b in zip(network.coefs_, network.intercepts_)]
print("instructions:", *[f"W {W.shape}, b {b.shape};" for W, b in INSTRUCTIONS])


# %%
def messages(image):
    hidden = layer(*INSTRUCTIONS[0], relu, image / 16)
    return hidden, layer(*INSTRUCTIONS[1], pictures.identity, hidden)


with after(layer):

    def draw(number):
        image, label = X_digits[unseen[number]], y_digits[unseen[number]]
        return pictures.draw_messages(image, label, *messages(image))

    guesses = [np.argmax(messages(image)[1]) for image in X_digits[unseen]]
    assert np.array_equal(guesses, network.predict(X_digits[unseen] / 16))
    print(f"scikit-learn's guesses, {np.mean(guesses == y_digits[unseen]):.0%} right")
    explore(draw, number=IntSlider(3, min=0, max=60, description="test image"))

# %% [markdown] covers="wu:3.1.6"
# To read a trained network, follow its vectors: which pattern does each hold, how does a step change it, what is combined into what?
#
# Move through the images. Is there a hidden unit that 6s switch on and 2s do not? Is there one that no image switches on? When you have bet on two units (they are numbered from 0), look at all new digits at once:

# %% covers="wu:3.1.6"
with after(layer):
    hidden = np.array([messages(image)[0] for image in X_digits[unseen]])
    show(*pictures.draw_units(hidden, y_digits[unseen]), digits=1)

# %% [markdown] covers="cs480:back"
# A row is a digit, a column a hidden unit. Units with dark and bright entries are features that nobody programmed. Columns that stay dark are units that no image reaches: [[07/04|initialisation]] asks why.
#
# ## To look things up
#
# ### Symbols
#
# The five notes write the same things in different letters. The course uses one set. It is meant for looking up, not for learning by heart.
#
# <details><summary><b>The symbols of the course</b></summary>
#
# | symbol | in code | meaning | elsewhere in the notes |
# | --- | --- | --- | --- |
# | $n,\ d,\ k$ | `n, d, k` | examples, features, classes | $N, D, K$ (guo), $m$ features (explainers), $p$ features (wu) |
# | $x_i,\ X$ | `X (n, d)` | one example; all of them, **one a row** | $X\in\mathbb R^{d\times n}$, one a column (cs480) |
# | $y,\ \hat y$ | `y (n,)`, `y_hat` | targets or labels; predictions | $\mathbf Y$ (wu) |
# | $w,\ b,\ \theta$ | `w (d,)`, `b`, `theta` | weights, bias, all parameters | $\beta$ (wu, moon) |
# | $f_\theta$, $\ell$, $L$ | `f`, `loss` | model; loss of one example; average loss | $R$, $\mathcal L$ (explainers), $J$ (wu) |
# | $\nabla L$, $\eta$ | `grad`, `eta` | gradient; step size (learning rate) | $\alpha$ (guo), $t$ (cs480 and our 03/01) |
# | $\lambda$ | `lam` | strength of a penalty | |
# | $\mathbb E$, $\operatorname{Var}$, $\mathcal N(\mu,\sigma^2)$ | `mu`, `sigma` | expectation, variance, normal distribution | |
# | $p,\ q,\ \log$ | `log_p` | distributions; natural logarithm | $\log_2$ where bits are counted |
# | $\mathrm{KL}(p\Vert q)$, $H(p)$ | `kl`, `entropy` | divergence; entropy | $\mathrm{KLD}[p\Vert q]$ (guo) |
# | $W^{(l)}, b^{(l)}, h^{(l)}$ | `W (m, d)`, `b (m,)`, `h` | weights, bias, output of layer $l$, $(m,)$, made from $h^{(l-1)}$, $(d,)$; $h^{(0)}=x$ | $W^\top h$ (guo) |
# | $\sigma(\cdot)$ | `act`, `sigmoid` | activation; for classifiers the sigmoid $1/(1+e^{-z})$ | $\varphi$, for the last layer $g^{-1}$ (guo) |
# | $\odot$, $ab^\top$, $a^\top b$ | `a * b`, `np.outer`, `a @ b` | entry by entry; outer; inner product | $\langle a,b\rangle$ (cs480) |
# | $Q,K,V$; $B,T,H,D$ | `(B, T, D)` | attention; batch, time, heads, width | |
# | $\beta_t, \alpha_t, \bar\alpha_t$ | `beta, alpha_bar` | noise schedule of diffusion, $\alpha_t = 1-\beta_t$, $\bar\alpha_t=\prod_{s\le t}\alpha_s$ | |
# | $s, a, r, \gamma, \pi$ | `s, a, r, gamma` | state, action, reward, discount, policy | |
#
# </details>
#
# One letter has several meanings over the whole course ($\sigma$, $\alpha$, $\beta$, $m$, $K$, $H$, $L$). Each notebook says which one it means. In this one, $x_1$ and $x_2$ are examples in the sections on data and single numbers in the program of six nodes. In code `X.T` is the transpose, `A @ B` the matrix product, `rows[order]` the rows in another order; `(*batch, n, d)` in a docstring says that any number of axes may stand in front.
#
# ### Glossary
#
# Every word that is computed in a notebook so far links to its cell. Open the lists when you need them. (JupyterLab opens a closed notebook at its top: click a second time, and it goes to the cell.)
#
# <details><summary><b>Words computed in this notebook</b></summary>
#
# | word | in a sentence |
# | --- | --- |
# | [average, mean](01_how_this_course_works.ipynb#cell-id=average) | the sum shared out equally |
# | [counterexample](01_how_this_course_works.ipynb#cell-id=counterexample) | one input at which a formula fails |
# | [sample, feature, label](01_how_this_course_works.ipynb#cell-id=to_columns) | a row; a measured property; what is to be predicted |
# | [training, prediction, evaluation](01_how_this_course_works.ipynb#cell-id=train_predict_evaluate) | the three phases of a learning algorithm |
# | [loss, empirical risk](01_how_this_course_works.ipynb#cell-id=empirical_risk) | how wrong one prediction is; its average over data |
# | [maximum likelihood, log-likelihood](01_how_this_course_works.ipynb#The-common-core:-likelihood) | the parameters under which the data are most probable |
# | [outer product as a memory](01_how_this_course_works.ipynb#cell-id=outer_times) | $h_1h_2^\top$ answers with $h_1$ when it is asked $h_2$ |
# | [layer, hidden layer, activation](01_how_this_course_works.ipynb#cell-id=layer) | a matrix, a bias and a bend, applied to a vector |
# | [topological order](01_how_this_course_works.ipynb#cell-id=topological_order) | an order in which every step finds its inputs ready |
#
# </details>
#
# <details><summary><b>Words computed in other notebooks</b></summary>
#
# [[glossary]]
#
# </details>
#
# <details><summary><b>Named results of cs480 and where they are proved or tested</b></summary>
#
# | result | says | notebook |
# | --- | --- | --- |
# | 2.2 linear duality | a linear function is an inner product with one vector | [[02/01]] |
# | 2.8 convergence | the perceptron makes finitely many mistakes on separable data | [[02/01]] |
# | 3.2 interpolation | distinct points can always be fitted exactly, in infinitely many ways | [[01/05]] |
# | 3.3 Fermat | at an inner minimum of a smooth function the gradient is 0 | [[03/01]] |
# | 6.3 characterisation | a convex loss is calibrated exactly if it has a derivative at 0 and slopes down there | [[04/03]] |
# | 7.6 Mercer | kernels are the symmetric positive semi-definite functions | [[04/04]] |
# | 8.5, 8.7, 8.8 rates | gradient descent: convex, strongly convex, non-convex | [[03/01]] |
# | 9.4 universal approximation | one wide hidden layer approximates continuous functions on a closed bounded set | [[07/03]] |
# | 13.1 push-forward | continuous noise can be mapped to any distribution | [[06/03]] |
# | 14.2 change of variable | how a density changes under a map | [[14/06]] |
# | 14.3 triangular maps | the increasing triangular map is unique | [[14/06]] |
# | 14.4 inverse sampling | the quantile function turns uniform numbers into samples | [[06/03]] |
#
# </details>

# %% [markdown]
# ## Take away
#
# - Solve, `check`, read the card, repair. Hints and failed checks are free.
# - Learning: choose parameters so that the average loss on examples is small. What counts is the loss on *new* examples.
# - Training, prediction, evaluation: three phases, three sets of eyes.
# - One counterexample beats a thousand agreeing inputs, and a test is as good as its points.
# - A network is a program of vector operations; its wiring is the control flow, its weights are written by data.
#
# ### What the notes got wrong
#
# The sections mirrored here are mostly words, so little can be refuted by a number. Four formulas of later sections failed your test above (cs480 4, explainers 4.2.1, wu 2.14.1, moon 2.1); [the table of sections](../COVERAGE.md) says where each is taught, and [the list of errata](../ERRATA.md) what was found there. What is missing
# is listed above, under *Where the course comes from*. One claim, that intelligence emerges from such programs (wu 4.8.4), was marked as a hypothesis.
#
# **Next:** [[next]]. The line you moved finds its slope by itself in [[01/01|chapter 1]], and an algorithm replaces your hand in [[03/01|gradient descent]].

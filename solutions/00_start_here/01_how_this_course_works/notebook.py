# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="two programs that read handwritten digits, a loop that trains any model, and a network run as a program"
# # How this course works
#
# Two programs, A and B, read handwritten digits. You show each of them 300 pictures with their names, then ask for the
# names again. Both know all 300. Now you show 300 pictures that are new to them. A names 98 of 100 right. B names 9,
# about as many as somebody who guesses with closed eyes.
#
# You open them up. A and B are the same program, letter for letter.
#
# *What is the difference? And could you have told A from B before you needed new pictures?*
#
# In an hour you answer both, with code that you wrote yourself. Each notebook of the course goes like this: a
# puzzle, exercises that are checked at once, and your own code that solves the puzzle.

# %% [markdown]
# ## 0. Press Shift+Enter
#
# Click on the grey line below, which ends in three dots, and press **Shift+Enter**: the cell runs, and the next one is
# selected. Go on like this to the end. You cannot break anything, and every cell can be run again.
#
# Such a line is *folded* code. Click on the dots to read it; you never have to. Code that matters is open.
#
# If the cell says `No module named 'descent'`, open a terminal in the folder that holds `index.ipynb`, run
# `pip install -e .` there, and choose *Restart Kernel* in the menu *Kernel*.

# %%
# What this notebook needs.
import math

import numpy as np
from ipywidgets import FloatSlider, IntSlider

from descent import (
    after,
    below,
    check,
    claim,
    data,
    explore,
    hint,
    predict,
    progress,
    show,
    solution,
    start,
    submit,
)
from descent.pictures.start_here import how_this_course_works as pictures

start("00_start_here/01_how_this_course_works")

# %%
# Programs A and B: how many of 100 names are right. 1797 pictures, 64 grey values each.
X, y, *_ = data.digits()
order = np.random.default_rng(2).permutation(1797)[:600]
seen, new = order[:300], order[300:]  # numbers of the pictures that are shown, and new
print(pictures.ready())
show(*pictures.draw_puzzle(X, y, order))

# %% [markdown]
# ## 1. A line of your own, and its check
#
# An exercise is a function with its end missing. Its *docstring* says what goes in (here `x`), what comes out (after
# `->`), and gives an example.
#
# First answer **wrong** on purpose: put `return total` in place of `raise NotImplementedError`. Run the cell, then the
# one with `check`, and read the card:
#
# - each property with ✓ or ✗, and your points;
# - *This may be*: a known mistake that gives the same;
# - one case: **tried**, **expected**, **got**.
#
# A failed check costs nothing. Now make it right. (Stuck? The + above the notebook makes a new cell: run
# `hint(average)` there, three times at most, then `solution(average)`.)
#
# A cell that begins with `with after(average):` waits for it. Until then it shows in pale what your code will draw.


# %% exercise="average" points=1 difficulty=1
def average(x):
    """The mean of some numbers, or of the rows of a table, column by column.

    x: list or array of n >= 1 numbers -> a number; array (n, d) -> array (d,).
    average([1, 2, 6]) gives 3.0; the rows [0, 4] and [2, 0] give [1, 2].
    """
    total = sum(x)
    ### BEGIN SOLUTION
    return total / len(x)
    ### END SOLUTION


# %% check="average"
check(average)

# %% open=true
# A picture is a row of 64 numbers. So the average of all pictures of a 3 is a picture.
with after(average):
    ghosts = [average(X[y == digit]) for digit in range(10)]
    show(*pictures.draw_ghosts(ghosts))

# %% predict="ten-averages" minutes=1
predict(
    "ten-averages",
    "A program keeps ten such pictures, the averages of 300 digits, and gives a new "
    "digit the name of the average it is most like. How many of 100 does it get right?",
    ["about 30", "about 60", "about 90"],
    truth=int(np.argmin([abs(pictures.ten_averages(X, y, order)[1] - share)
                         for share in (0.3, 0.6, 0.9)])),
    because="Ten pictures are a poor memory, but a hand that writes a 3 mostly stays "
    "closer to the average 3 than to any other.",
)  # fmt: skip

# %% [markdown]
# ## 2. Most alike
#
# That was a **prediction**. Always guess before you go on: a wrong guess is remembered longer than an answer that was
# read.
#
# What does *most like* mean? Of two rows of 64 numbers take the difference in each place, square it
# (too dark and too bright both count), and add up. The smaller this sum, the more alike they are. (The mean in
# place of the sum picks the same row.)
#
# The loop has the shape that you will meet all over machine learning: try one after the other, and keep the best so
# far. Start with a `smallest` that everything beats: `math.inf`. To NumPy, `a - b` is the difference of two rows,
# `a**2` has each number squared, and `np.sum(a)` is the sum of one row.


# %% exercise="nearest" points=2 difficulty=1
def nearest(rows, x):
    """The number of the row that is most like x; of equals the first.

    Most alike: the sum of the squared differences is smallest.
    rows (n, d) with n >= 1, x (d,): arrays -> a number from 0 to n - 1.
    rows [[0, 0], [3, 4], [1, 1]] and x [3, 3] give 1.
    """
    ### BEGIN SOLUTION
    best, smallest = None, math.inf
    for number in range(len(rows)):
        difference = rows[number] - x
        distance = np.sum(difference**2)
        if distance < smallest:
            best, smallest = number, distance
    return best
    ### END SOLUTION


# %% check="nearest"
check(nearest)

# %% open=true
with after(nearest):
    found = [nearest(X[seen], X[number]) for number in new[:8]]
    show(*pictures.draw_pairs(X[new[:8]], X[seen[found]], y[new[:8]], y[seen[found]]))

# %% [markdown] covers="explainers:2"
# ## 3. Two readers, one shape
#
# Both readers have the same two methods, `fit` and `predict`. Whoever calls them need not know what is inside. The
# first reader learns **by heart**: it keeps all it was shown, and asks your `nearest`. (`self` is the reader itself:
# what `fit` writes to `self.X`, `predict` finds there.)
#
# The second one keeps no row at all, only an average for each label. You write it. `X[y == 3]` are the rows of `X`
# whose label is 3, `np.unique(y)` the labels that occur in `y`, sorted; `np.mean(rows, axis=0)` averages rows.
# `np.argmin(a)` is the place of the smallest of `a`, and `np.array(a)` makes a list an array. Here, too, the mean in
# place of the sum will do.


# %% open=true
class ByHeart:
    """Keeps every row, and gives a new one the label of the row most like it."""

    def fit(self, X, y):
        self.X, self.y = X, y

    def predict(self, X):
        return np.array([self.y[nearest(self.X, x)] for x in X])


# %% exercise="MeanReader" points=3 difficulty=1 covers="explainers:2"
class MeanReader:
    """Keeps an average row for each label; a new row gets the label of the nearest.

    fit(X, y): X (n, d); y (n,) numbers, each a label; what an earlier fit learnt is
    forgotten. predict(X): (m, d) -> (m,) labels; of equally near averages the one of
    the smaller label. Nearest: the smallest sum of squared differences.
    X = [[0], [2], [9]], y = [7, 7, 3] have the averages [1] for 7 and [9] for 3:
    predict of [[4], [6]] gives [7, 3].
    """

    def fit(self, X, y):
        ### BEGIN SOLUTION
        self.labels, self.means = [], []
        for label in np.unique(y):
            self.labels.append(label)
            self.means.append(np.mean(X[y == label], axis=0))
        ### END SOLUTION

    def predict(self, X):
        ### BEGIN SOLUTION
        guesses = []
        for x in X:
            distances = [np.sum((mean - x) ** 2) for mean in self.means]
            guesses.append(self.labels[np.argmin(distances)])
        return np.array(guesses)
        ### END SOLUTION


# %% check="MeanReader"
check(MeanReader)

# %% [markdown] covers="cs480:1 cs480:def1.1"
# ## 4. Three phases
#
# A learning program has three phases. **Training** sees rows with labels. **Prediction** sees rows. **Evaluation** compares
# predictions with labels that training never saw. Many an embarrassing result in machine learning comes from
# mixing two of them up.
#
# Write the loop that is used on all readers: split, train once, predict, compare. One trap: whatever moves a row must move
# its label along. If `order` is an array of numbers, `X[order]` are those rows in that order. If `a` and `b` are arrays,
# `np.mean(a == b)` is the share of places where they agree.


# %% exercise="train_predict_evaluate" points=2 difficulty=1 covers="cs480:1 cs480:def1.1"
def train_predict_evaluate(model, X, y, order, n_train):
    """Train on some rows; the shares of right labels on these, and on new ones.

    X (n, d), y (n,). order: an array of row numbers. The first n_train of them are for
    training, the others are new; of both there is at least one.
    model has fit(X, y), called once, and predict(X) -> an array of labels.
    Returns (share on the training rows, share on the new ones), from 0 to 1.
    order = [4, 0, 2], n_train = 2: training sees row 4, then row 0; row 2 is new.
    """
    ### BEGIN SOLUTION
    seen, new = order[:n_train], order[n_train:]
    model.fit(X[seen], y[seen])
    right_seen = model.predict(X[seen]) == y[seen]
    right_new = model.predict(X[new]) == y[new]
    return np.mean(right_seen), np.mean(right_new)
    ### END SOLUTION


# %% check="train_predict_evaluate"
check(train_predict_evaluate)

# %% covers="cs480:1 explainers:1"
# Both readers, shown 10, 30 and 100 pictures: mistakes on the same 300 new ones.
with after(nearest, MeanReader, train_predict_evaluate, "ten-averages"):
    sizes, shares = [10, 30, 100], {"by heart": [], "ten averages": []}
    for n in sizes:
        some = np.concatenate([seen[:n], new])
        for name, reader in zip(shares, (ByHeart(), MeanReader())):
            shares[name].append(train_predict_evaluate(reader, X, y, some, n))
    show(*pictures.draw_experience(sizes, shares))

# %% [markdown] covers="explainers:2 explainers:1"
# ## 5. Turn the knobs
#
# Fewer mistakes by more experience: that is what *learning* means here. Most models learn by turning **knobs**. A model is a
# function $f_\theta$ from what is given to what is wanted, with knobs $\theta$, its *parameters*. If a quantity is wanted, the
# task is **regression**; if a name, **classification**.
#
# 150 iris flowers: $x$ is the length of a petal (minus 4 cm), $y$ its width, and $f_\theta(x) = wx + b$ has two knobs. A
# *loss* says how bad one prediction is, such as $\ell(y, \hat y) = (y - \hat y)^2$. Its average over the data is the
# **empirical risk**
#
# $$L(\theta) = \frac1n \sum_{i=1}^n \ell\big(y_i, f_\theta(x_i)\big),$$
#
# and training means: make it small. Drag the dot on the map and do it by hand.

# %% covers="explainers:2"
# Drag the dot on the map: it is (w, b).
explore(
    pictures.draw_knobs,
    drag={("w", "b"): "knobs"},
    w=FloatSlider(-0.2, min=-0.6, max=1.2, step=0.01, description="slope w"),
    b=FloatSlider(0.5, min=0, max=2.4, step=0.01, description="height b"),
)

# %% [markdown] covers="explainers:2"
# What did your hand do? Probably: turn one knob a little; if the risk falls, keep it, else turn back; when nothing helps
# any more, take smaller steps. That needs no eyes. Write it as a loop, for any model, any loss and any number of knobs.
#
# In Python functions are values: `model` and `loss` are handed in like numbers and called inside. Begin with
# `theta = np.array(theta, float)`: a copy, so what was handed in stays as it is, and one that holds fractions.
# To try a knob without losing the old setting, work on another copy: `trial = theta.copy()`.
#
# This is the longest answer of the notebook. Write it in pieces: first the risk at the start, then one round, then all
# of them.


# %% exercise="learn" points=4 difficulty=1 covers="explainers:2 explainers:1"
def learn(model, loss, X, y, theta, step, n_rounds):
    """Trial and error: turn one knob at a time, and keep what lowers the average loss.

    model(theta, X) -> n predictions. loss(y, predictions) -> n losses, the y first.
    theta (p,): the knobs at the start, maybe whole numbers; it is left unchanged.
    In each round each knob, from the first to the last, is tried larger by step and,
    where that was not kept, smaller by step. A try is kept at once where the mean of
    the losses is lower than the lowest so far. After a round that kept nothing, step
    is halved.
    Returns theta (p,) after n_rounds rounds, and n_rounds + 1 numbers: the lowest mean
    at the start and after each round.
    model θ₁x, squared loss, X = [1], y = [2], theta = [0], step = 3, two rounds:
    3 is kept (4, then 1), then nothing. Returns [3] and [4, 1, 1].
    """
    ### BEGIN SOLUTION
    theta = np.array(theta, float)
    best = np.mean(loss(y, model(theta, X)))
    risks = [best]
    for _ in range(n_rounds):
        before = best
        for knob in range(len(theta)):
            for turn in (step, -step):
                trial = theta.copy()
                trial[knob] = trial[knob] + turn
                risk = np.mean(loss(y, model(trial, X)))
                if risk < best:
                    theta, best = trial, risk
                    break
        if best == before:
            step = step / 2
        risks.append(best)
    return theta, np.array(risks)
    ### END SOLUTION


# %% check="learn"
check(learn)


# %% covers="explainers:2"
# Your loop walks over the map; then the same loop finds a line between two species.
def line(theta, x):
    return theta[0] * x + theta[1]


def squared(y, guess):
    return (y - guess) ** 2


def score(theta, X):  # above 0: says virginica
    return X @ theta[:2] + theta[2]


def logistic(y, z):
    return np.logaddexp(0, np.where(y == 1, -z, z))


with after(learn):
    length, width, species = pictures.flowers()
    walk = [np.array([-0.2, 0.5])]
    for n in range(1, 25):
        walk.append(learn(line, squared, length, width, walk[0], 0.5, n)[0])
    same = np.allclose(walk[-1], np.polyfit(length, width, 1), atol=0.01)
    told = "24 rounds end at w = {w:.2f}, b = {b:.2f}, as chapter 1's formula says"
    claim(told, same, w=walk[-1][0], b=walk[-1][1])
    show(*pictures.draw_walk(np.array(walk)))
    petals = np.column_stack([length, width])[species > 0]  # two of the three species
    virginica = (species[species > 0] == 2).astype(int)
    theta, risks = learn(score, logistic, petals, virginica, np.zeros(3), 1.0, 40)
    show(*pictures.draw_border(petals, virginica, theta))

# %% [markdown] covers="wu:3.1.1 wu:4.8.1 wu:3.1.3"
# ## 6. A network is a program
#
# One loop for a quantity and for a name. What else has knobs? A neural network, and it is a program of few instructions.
# Its objects are **vectors**. An instruction, a *layer*, takes a vector $h$ and makes a new one:
#
# $$h^{(l)} = \sigma\big(W^{(l)} h^{(l-1)} + b^{(l)}\big), \qquad h^{(0)} = x.$$
#
# $W$ is a matrix and $b$ a vector, the knobs of the layer; $\sigma$ is a function that is applied to each number. The
# vectors run from layer to layer, $h^{(0)} \to h^{(1)} \to \dots \to h^{(L)}$. Write the machine that runs such a program and keeps
# every vector. `W @ h` is the matrix times the vector.


# %% exercise="run" points=2 difficulty=1 covers="wu:3.1.1 wu:4.8.1 wu:3.1.3"
def run(program, x):
    """All vectors of a program of layers: x, then what each layer makes.

    program: a list of layers (W, b, act), which may be empty: W (m, d), b (m,), and
    act a function of a vector. The layer makes act(W h + b) of the vector h before it.
    x (d,), an array -> a list of len(program) + 1 arrays.
    One layer W = [[1, 2], [0, -1]], b = [1, 0], act = np.abs and x = [3, 4] give
    [[3, 4], [12, 4]].
    """
    ### BEGIN SOLUTION
    trace = [x]
    for W, b, act in program:
        trace.append(act(W @ trace[-1] + b))
    return trace
    ### END SOLUTION


# %% check="run"
check(run)

# %% open=true covers="wu:4.8.1 wu:3.1.1"
# ‖x − m‖² = ‖x‖² − 2 (mᵀx − ½‖m‖²), and ‖x‖² is the same for all ten averages m:
# the nearest one has the largest mᵀx − ½‖m‖². That is a program of one layer.
with after(MeanReader, run):
    W = np.array([X[seen][y[seen] == digit].mean(axis=0) for digit in range(10)])
    program = [(W, -np.sum(W**2, axis=1) / 2, lambda z: z)]
    says = [np.argmax(run(program, x)[-1]) for x in X[new]]
    (reader := MeanReader()).fit(X[seen], y[seen])
    same = np.array_equal(says, reader.predict(X[new]))
    claim("one layer and your reader give {n} digits the same names", same, n=len(new))

# %% predict="dealt" minutes=1
predict(
    "dealt",
    "Take the 300 names of the seen pictures and deal them out anew, at random. Train "
    "your MeanReader on that. How many of these 300 dealt names can it give back?",
    ["about 30, as a guess would", "about 75", "all 300"],
    truth=int(np.argmin([abs(pictures.ten_averages(X, pictures.dealt(y, seen), order)[0]
                             - share) for share in (0.1, 0.25, 1)])),
    because="Ten averages are 640 knobs, so a little nonsense can be kept in them, "
    "but not much. By heart all 300 are kept, sense or not.",
)  # fmt: skip

# %% [markdown] covers="cs480:1"
# ## 7. A and B
#
# So your `MeanReader` is a network of one layer, and its weights are ten blurred digits.
# And A and B? A learnt by heart the names of the 300 pictures. B is the same program and learnt by heart,
# too, but *its names had been dealt out at random*. Data write the program.
#
# And could you have known before there were new pictures? Yes: **hold some back**. Train each on 200 of its 300 pictures, and the
# other 100 are new to it. Your own code, on both (100 of the new pictures are enough):

# %% covers="cs480:1"
# Both readers, trained on true names and on names dealt at random; 100 new pictures.
with after(nearest, MeanReader, train_predict_evaluate, "dealt"):
    names, results = {"true names": y, "dealt names": pictures.dealt(y, seen)}, {}
    for kind, labels in names.items():
        for name, reader in (("by heart", ByHeart()), ("ten averages", MeanReader())):
            got = train_predict_evaluate(reader, X, labels, order[:400], 300)
            results[f"{name}, {kind}"] = got
    show(*pictures.draw_verdict(results))
    held = [train_predict_evaluate(ByHeart(), X, names[kind], seen, 200)[1]
            for kind in names]  # fmt: skip
    claim("of 100 held back A names {a:.0%} right, B {b:.0%}",
          held[0] > 0.9 and held[1] < 0.2, a=held[0], b=held[1])  # fmt: skip

# %% [markdown]
# ## Take-aways
#
# - A score on seen data proves nothing for a program that can learn *anything* by heart. **Hold some data back.**
# - Can it? Deal the names anew and train again. What still knows them can learn nonsense. The ten averages could not,
#   so their 91 of 100 on seen pictures had to mean something.
# - Training is turning knobs until the average loss is small. A network is a program of vectors, and data set its knobs.
#
# **Points.** `progress()` in a cell shows what is solved. When a chapter is done, save (Ctrl+S) and
# `submit("00_start_here", student="your-name")` packs it for your instructor.
#
# **Below**, sections named *Deeper* wait collapsed: click on the arrow beside a heading. Nobody has to.
#
# **Next:** [[next]].

# %% [markdown] covers="cs480:1 explainers:1"
# ## Deeper: what is machine learning?
#
# The part of artificial intelligence in which programs get better by **experience**, as your two readers did. Arthur
# Samuel's word of 1959 became a field's name some forty years ago; before, one mostly said *pattern recognition*. It has
# no clean border. Herbert Jaeger (Groningen, 2023/24) explains: it takes methods from statistics, information theory, signal processing, control, and questions from
# everywhere, so textbooks show their author's part.
#
# One view holds much of it together: **models are fitted to data**, as in statistics, which asks first what can be
# concluded, where machine learning asks what can be predicted. Research is on representation, generalisation, interpretation,
# complexity, efficiency, privacy, robustness and applications.
#
# Three times artificial intelligence was the talk of the town. When did it get its name?

# %% predict="coined" minutes=1 covers="explainers:B.2 cs480:1"
predict(
    "coined",
    "Which text coined the words 'artificial intelligence'?",
    [
        "Turing's paper on the imitation game, 1950",
        "McCarthy's proposal for a summer workshop, 1955",
        "Rosenblatt's report on the perceptron, 1957",
        "a textbook on expert systems, 1983",
    ],
    truth=[1950, 1955, 1957, 1983].index(pictures.EVENTS["McCarthy's proposal"]),
    because="It asked for money for the workshop that met at Dartmouth in 1956.",
    then=pictures.draw_timeline,
)

# %% [markdown] covers="explainers:B.2 explainers:B"
# What belongs under that name? The *explainers*, one of the lecture notes behind this course, propose (winter 2026) to go by **intent**:
# artificial intelligence is work that means to imitate the intelligence of living things. Then Turing's game and the rules of
# Newell, Simon and Minsky belong to it as much as the networks of Hinton's school: methods went from symbols written by
# hand to weights learned from data, the intent stayed. Linear programming is a border case: once a way to make machines decide, today plain
# operations research. The same algorithm, another intent.
#
# Test the definition on a spam filter, a thermostat, your reader. Where two readers disagree, what would have to be known?

# %% [markdown] covers="cs480:1"
# What does a program learn *from*?
#
# | paradigm | experience | tasks |
# | --- | --- | --- |
# | supervised | right answers, given by a teacher | classify, rank, regress |
# | unsupervised | examples without answers | cluster, represent, generate |
# | reinforcement | rewards for its own actions | play, control, set prices |
#
# Between them stand *semi-supervised* learning (few labels, many examples) and *active* learning (the program asks for
# labels). One of each, the second from your own two functions: sort pictures to the nearest of ten centres, move each
# centre to the average of its pictures, and again. No label is used. What will the ten centres look like?

# %% covers="cs480:1"
# Unsupervised: ten centres found without a label. Reinforcement: three slot machines.
with after(average, nearest):
    centres = X[seen[:10]]
    for _ in range(10):
        groups = np.array([nearest(centres, x) for x in X[seen]])
        centres = np.array([average(X[seen][groups == k]) for k in range(10)])
    show(*pictures.draw_centres(centres, groups, y[seen]))

rng, pays = np.random.default_rng(0), [0.3, 0.5, 0.8]  # which the program does not know
pulls, wins = np.zeros(3), np.zeros(3)
for _ in range(500):  # mostly the machine that paid best so far, one time in ten any
    best = np.argmax(wins / np.maximum(pulls, 1))
    arm = rng.integers(3) if rng.random() < 0.1 else best
    pulls[arm] += 1
    wins[arm] += rng.random() < pays[arm]
print(f"the best of three slot machines in {pulls[2] / 500:.0%} of 500 pulls")

# %% [markdown] covers="explainers:1"
# ## Deeper: more knobs, and the loss behind most losses
#
# Let a model give a *density* $p_\theta(y\mid x)$, the rows be independent, and take the loss $-\log p_\theta(y\mid x)$. Then the smallest risk is the largest likelihood,
# and its $\hat\theta$ the **maximum-likelihood estimate**. For $y \sim \mathcal N(f(x), \sigma^2)$ it is least squares,
# $\hat\sigma^2$ the mean squared error, and there the *score*, the slope of the log-likelihood by each
# knob, is zero. Most of this course has this loss.
#
# Below, polynomials of degree 0 to 9 are fitted so to few examples of a wave. Degree 9 contains all others: on what was *seen* its
# likelihood is never smaller. Move both sliders: on new examples, how much does degree 9 lose against degree 3 with 15
# examples? With 100?

# %% covers="explainers:1"
# The score is zero at the fit of each family, by nudging each knob.
scores = pictures.scores_at_the_fit(15, degrees=range(10))
claim("the score is zero for {n} families, up to {most}",
      max(scores) < 1e-4, n=len(scores), most=below(1e-4))  # fmt: skip
explore(
    pictures.draw_capacity,
    degree=IntSlider(9, min=0, max=9, description="degree"),
    n=IntSlider(15, min=15, max=100, step=5, description="examples"),
)

# %% [markdown] covers="explainers:1"
# Knobs added to those that are there never hurt what was seen. What they cost on the rest depends on the amount of data. That is A and B once more,
# and the open puzzle of the field: since 2012 networks with far more knobs than examples are trained by little else than
# maximum likelihood. They *can* learn dealt names by heart. Yet with true names they predict well. There are partial answers,
# such as [[01/05|double descent]], and no full one.

# %% [markdown] covers="guo:0 explainers:0 wu:2.0.4"
# ## Deeper: is a printed formula right?
#
# The course follows five sets of lecture notes.
#
# | name | what it is |
# | --- | --- |
# | **wu** | *Machine Learning Methods*, Ying Nian Wu, UCLA, 2024: derivations, diagrams, hints for implementation |
# | **moon** | *Deep Statistical Learning*, Han Cheol Moon, Nanyang |
# | **cs480** | CS 480/680, Winter 2024 (Hongyang Zhang, Yaoliang Yu): 17 lectures, two second-hand, gaps marked TODO |
# | **guo** | James Guo on EN.601.482, Johns Hopkins, Spring 2025 (Eric Nalisnick): six parts, from linear models to generative ones; says it may contain errors |
# | **explainers** | *Machine Learning Explainers*, February 2026: a living document with empty sections |
#
# They are no refereed books. So **each derivation is verified by numbers**, and a notebook ends with *Where the notes differ*.

# %% [markdown] covers="explainers:0 moon:bib"
# **Holes filled.** Where a note is empty the course fills it from standard references. Explainers: 2.4 in [[05/01]] · 3.1.2 in [[07/04]] · 3.3.3,
# 3.3.4 in [[03/03]] · 4.3, 4.5.4 in [[09/01]] · 4.4.4 in [[12/01]], [[12/03]] · 4.5.3 in [[08/02]] · 5.2.6 in [[14/01]] · 5.3.1 in
# [[14/04]] · 5.4 in [[14/06]] · 5.6 in [[14/07]] · A.4 in [[06/01]] · B.3 in [[02/04]] · B.4 in [[13/01]] · BPE, which ends
# in mid-sentence, in [[11/02]] · RoPE in [[12/02]].
#
# **References.** Murphy, *Machine Learning* (2012); Bishop, *Pattern Recognition and Machine Learning* (2006); Pishro-Nik, *Probability* (2014), as
# in moon. Papers: Kalman 1960 · Vaswani 2017 (transformer) · Chen 2018 (neural ODE) · Su 2021 (RoPE) · Gu 2022 (S4) · Gu, Dao
# 2023 (Mamba) · Rafailov 2023 (DPO) · DeepSeek V2, V3, R1.

# %% [markdown] covers="guo:0"
# A formula claims that its left side equals its right side for every input. A thousand inputs that agree do not prove
# it. **One that disagrees disproves it**, and takes a second to find. Write the tool.
#
# Computers carry about 16 digits, so *equal* means: the difference is at most `rtol` times the larger of the two
# absolute values. And `nan`, the result of an impossible operation, agrees with nothing. (Every comparison with `nan` is
# `False`: ask whether the sides *agree*.)


# %% exercise="counterexample" points=2 difficulty=1 covers="guo:0"
def counterexample(left, right, points, rtol=1e-9):
    """The first point at which left and right disagree; None if there is none.

    left, right: functions of a point that return a number (maybe nan). points: a list.
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
# Four formulas as the notes print them. Which hold? Bet, then run.
#
# 1. **cs480**, section 4: labels $y\in\{0,1\}$ become $\pm1$ by $y' = \frac{y+1}2$.
# 2. **explainers** 4.2.1: a window of width 3 that moves in steps of 2 over $W$ cells stops at
#    $\lceil\frac{W-3}2\rceil + 1$ places.
# 3. **wu** 2.14.1: $\operatorname{RMSNorm}(h) = h\big/\sqrt{\frac1d\sum_i h_i^2}$ has
#    $\operatorname{RMSNorm}(\alpha h) = \operatorname{RMSNorm}(h)$ for all $\alpha \ne 0$.
# 4. **guo** III.5: the sigmoid $s(z) = 1/(1+e^{-z})$ has $s(z) + s(-z) = 1$.


# %% covers="guo:0"
# Left side, printed right side, a mended one, and points to try.
def norm(h):
    return h / np.sqrt(np.mean(h**2))


def s(z):
    return 1 / (1 + np.exp(-z))


h0 = np.array([1.0, -2.0, 0.5])
FORMULAS = {
    "cs480 4": (lambda y: {0: -1, 1: 1}[y], lambda y: (y + 1) / 2,
                lambda y: 2 * y - 1, [1, 0]),
    "explainers 4.2.1": (lambda W: len(range(0, W - 2, 2)),
                         lambda W: np.ceil((W - 3) / 2) + 1,
                         lambda W: (W - 3) // 2 + 1, [3, 5, 6, 7]),
    "wu 2.14.1": (lambda a: norm(a * h0)[0], lambda a: norm(h0)[0],
                  lambda a: np.sign(a) * norm(h0)[0], [0.1, 2.0, 7.0, -1.0]),
    "guo III.5": (lambda z: s(z) + s(-z), lambda z: 1.0, None, [-5.0, 0.0, 0.3, 4.0]),
}  # fmt: skip
with after(counterexample):
    for name, (left, printed, mended, points) in FORMULAS.items():
        p = counterexample(left, printed, points)
        if p is None:
            print(f"{name}: holds at every point tried")
            continue
        told = (
            "{name}: at {p:g} the left side is {a:.3g}, the printed right one {b:.3g}"
        )
        good = counterexample(left, mended, points) is None
        claim(
            told + "; mended, it holds", good, name=name, p=p, a=left(p), b=printed(p)
        )

# %% [markdown] covers="guo:0 wu:2.0.4"
# Each of the three passes somewhere: at $y = 1$, for odd $W$, for positive $\alpha$. **A test is as good as its points.**
# Try the edges, the negative numbers, the odd and the even. Mended: $2y - 1$; $\lfloor\cdot\rfloor$ for
# $\lceil\cdot\rceil$; a factor $\operatorname{sign}(\alpha)$.
#
# One warning. Where a side should be 0, or is a small difference of large numbers, rounding alone exceeds any relative
# tolerance: `sin(pi)` is about $10^{-16}$.

# %% [markdown] covers="wu:3.1.2"
# ## Deeper: vectors that pass messages
#
# The language of networks has a small vocabulary.
#
# | operation | shapes | in code |
# | --- | --- | --- |
# | linear map $Wh$ | $(m,d),(d)\to(m)$ | `W @ h` |
# | bias, sum $h_1+h_2$ | $(m),(m)\to(m)$ | `h + b` |
# | activation $\sigma(h)$, product $h_1\odot h_2$ | entry by entry | `act(h)`, `h1 * h2` |
# | inner product $h_1^\top h_2$ | $(m),(m)\to$ a number | `h1 @ h2` |
# | outer product $h_1h_2^\top$ | $(m),(d)\to(m,d)$ | `np.outer(h1, h2)` |
#
# An outer product is a memory: in which direction does $(h_1h_2^\top)x$ point? Move the brackets: $h_1(h_2^\top x)$, along
# $h_1$, as far as $h_2$ and $x$ agree.

# %% covers="wu:3.1.2"
# Five identities of the vocabulary, on random vectors.
a, b, c = np.random.default_rng(2).normal(size=(3, 4))
M = np.random.default_rng(3).normal(size=(3, 4))
for words, one, other in (
    ("(a bᵀ) c = a (bᵀ c): asked b, it answers a", np.outer(a, b) @ c, a * (b @ c)),
    ("a ⊙ b is a diagonal matrix times b", a * b, np.diag(a) @ b),
    ("aᵀ b is the trace of a bᵀ", a @ b, np.trace(np.outer(a, b))),
    ("W c mixes the columns of W", M @ c, sum(c[j] * M[:, j] for j in range(4))),
    ("W c asks each row of W how well it matches c", M @ c, [row @ c for row in M]),
):
    claim(words, np.allclose(one, other))

# %% [markdown] covers="wu:3.1.3 wu:3.1.4"
# In `run` each vector reads the one before. Where they branch and meet, a program is a *graph*, and somebody must decide
# which step comes next. There is no `if` and no `for` between the steps: the *wiring* is the control flow.
#
# Write the graph as a dict, node → list of the nodes it reads from. A **topological order** lists every node once, after
# all nodes that it reads from. Several orders may be right, and any of them counts. On a loop there is none.
#
# The check runs the program in your order: every node is 1 plus the sum of its inputs, and an input that is not there
# yet counts as 0.


# %% exercise="topological_order" points=3 difficulty=1 covers="wu:3.1.4"
def topological_order(inputs_of):
    """An order in which each node comes after its inputs; None if there is a loop.

    inputs_of: dict, node -> list of the nodes it reads from. Every node is a key. A
    node that reads from itself is a loop, too. Leave inputs_of as it is.
    Returns a list of all nodes, each once.
    {"y": ["h", "x"], "h": ["x"], "x": []} gives ["x", "h", "y"],
    {"a": ["b"], "b": ["a"]} gives None.
    """
    ### BEGIN SOLUTION
    order = []
    while len(order) < len(inputs_of):
        ready = []
        for node in inputs_of:
            if node not in order and all(one in order for one in inputs_of[node]):
                ready.append(node)
        if not ready:
            return None
        order.append(ready[0])
    return order
    ### END SOLUTION


# %% check="topological_order"
check(topological_order)

# %% [markdown] covers="wu:3.1.3 wu:3.1.4"
# **Forward**, the program runs in that order and keeps every value: the *tape*. **Backward**, the tape is read from its
# end: each node hands its slope $\partial y/\partial v$ to its inputs, times the weight and the slope of the activation.
# That is backpropagation, here for $s = x_1 + x_2$, $h_1 = \max(s, 0)$, $h_2 = \max(s - 1, 0)$, $y = h_1 - 2h_2$. (Where
# max has its kink, programs take the slope 0.)
#
# Drag the point to the four corners and read off $y$. Which table is it? Then go along $x_2 = 0.5$: where does $y$ turn round, which
# node switches on there? So a hidden unit is a *feature*: it reads a vector along one direction and answers beyond a
# threshold.


# %% covers="wu:3.1.3 wu:3.1.4"
# Drag the point (x₁, x₂): values run forward, slopes of y backward.
def run_graph(order, x1, x2):
    value, slope = {"x1": x1, "x2": x2}, dict.fromkeys(order, 0.0) | {"y": 1.0}
    steps = [node for node in order if node in pictures.STEPS]
    for node in steps:
        weights, bias, bends = pictures.STEPS[node]
        reads = zip(weights, pictures.INPUTS[node])
        total = sum(w * value[one] for w, one in reads) + bias
        value[node] = max(total, 0.0) if bends else total
    for node in reversed(steps):
        weights, _, bends = pictures.STEPS[node]
        through = slope[node] * (not bends or value[node] > 0)
        for w, one in zip(weights, pictures.INPUTS[node]):
            slope[one] += through * w
    return value, slope


with after(topological_order):
    wired = topological_order(pictures.INPUTS)
    up, down = (run_graph(wired, 0.7 + h, 0.2)[0]["y"] for h in (1e-6, -1e-6))
    slope = run_graph(wired, 0.7, 0.2)[1]["x1"]
    nudged = (up - down) / 2e-6
    claim(
        "the backward pass and a nudge agree: {g:g}",
        abs(slope - nudged) < 1e-6,
        g=slope,
    )
    explore(
        lambda x1, x2, wired=wired: pictures.draw_graph(*run_graph(wired, x1, x2)),
        drag={("x1", "x2"): "inputs"},
        x1=FloatSlider(0.7, min=0, max=1, step=0.05, description="x₁"),
        x2=FloatSlider(0.2, min=0, max=1, step=0.05, description="x₂"),
    )

# %% [markdown] covers="wu:3.1.5 wu:4.8.4"
# ## Deeper: data write the program
#
# Nobody writes the weights of a real network. A lamp on the stairs has two switches: turn either, and the light changes.
# That is XOR. A door that opens only if both locks are open is AND. Below, your `learn` turns the nine knobs of a network
# with two hidden units, from **one and the same start**, once for each table. The programs differ in three of four
# labels, and in nothing else.

# %% covers="wu:3.1.5 wu:3.1.1"
# The same network, start and loop; other labels.
corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
TABLES = {"AND": np.array([0, 0, 0, 1]), "XOR": np.array([0, 1, 1, 0])}


def program_of(knobs):
    hidden = knobs[:4].reshape(2, 2), knobs[4:6], np.tanh
    return [hidden, (knobs[6:8].reshape(1, 2), knobs[8:], lambda z: z)]


def network(knobs, X):  # run it on every row
    return np.array([run(program_of(knobs), x)[-1][0] for x in X])


with after(learn, run):
    first, answers = np.round(np.random.default_rng(5).normal(size=9), 1), {}
    for name, table in TABLES.items():
        knobs, _ = learn(network, logistic, corners, table, first, 1.0, 12)
        answers[name] = lambda X, knobs=knobs: network(knobs, X) > 0
        says = answers[name](corners).astype(int)
        claim("{name}: after 12 rounds it says {says}", np.array_equal(says, table),
              name=name, says=" ".join(map(str, says)))  # fmt: skip
    show(*pictures.draw_programs(answers, corners, TABLES))

# %% [markdown] covers="wu:4.8.4 wu:3.1.5 wu:4.8.1"
# Each round looked up to 18 times at all data, at most twice for each knob. For a million knobs that is hopeless: **gradient descent** ([[03/01]]) learns
# from one look where all of them should turn.
#
# The lectures call three ingredients the foundation of digital intelligence. Each is a few lines that run, which is worth
# more than the claim: a **simple language** of vectors and learnable maps
# ([your `run`](01_how_this_course_works.ipynb#cell-id=run)); **residual streams**, which refine a vector over many steps ([[09/03]]); **backpropagation**, which
# says how each number should change (above, and [[07/02]]). That complex behaviour comes from composing
# simple steps is visible in XOR. That *intelligence* does is a programme for research and no theorem: hold it as a hypothesis.

# %% [markdown] written="what_accuracy_hides" points=2 minutes=5 covers="explainers:B"
# ## Deeper: what 99 % hides
#
# The explainers end with essays on reasoning and on the word AI, and a line in memory of Elaine Herzberg. On 18 March
# 2018 she pushed a bicycle across a road in Tempe, Arizona, and was killed by a test car that drove itself. The investigators reported
# that the software saw her seconds before, called her in turn an unknown object, a vehicle and a bicycle, and was not
# made to expect pedestrians away from a crossing.
#
# Suppose the classifier had scored 99 % in evaluation. In five sentences or so: which phase does that number speak about,
# and on which data? Name two things about the use of the system that it cannot tell. What would you have measured
# instead?
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

# %% [markdown] covers="cs480:def1.1"
# ## Deeper: to look things up
#
# **Rows or columns?** A data set has features $x_1,\dots,x_n \in \mathbb R^d$ with labels $y_1,\dots,y_n$ for training, and test
# samples $x'_1,\dots,x'_m$, which may have labels or not. Libraries and this course store a sample as a **row**, `X (n, d)`. The
# cs480 notes store it as a **column**, $X = [x_1,\dots,x_n] \in \mathbb R^{d\times n}$. So one prediction reads `X @ w` here and $w^\top X$ there.

# %% covers="cs480:def1.1"
# From rows to columns: the same predictions, each label with its sample.
rows, labels = X[seen], y[seen]
columns, weights = rows.T, np.random.default_rng(0).normal(size=64)
claim("rows {r} are columns {c}", columns.shape == (64, 300),
      r=rows.shape, c=columns.shape)  # fmt: skip
claim("X @ w and wᵀX predict the same", np.allclose(rows @ weights, weights @ columns))
moved = np.random.default_rng(1).permutation(300)
same = all(np.array_equal(columns[:, moved][:, j], rows[moved[j]]) for j in range(300))
same = same and np.array_equal(labels[moved], [labels[i] for i in moved])
claim("shuffled alike, column j is still the sample of label j", same)

# %% [markdown] covers="cs480:back"
# **Symbols.** The notes write the same things in different letters. The course uses one set.
#
# | symbol | in code | meaning | elsewhere |
# | --- | --- | --- | --- |
# | $n, d, k$ | `n, d, k` | examples, features, classes | $N, D, K$ (guo) |
# | $x_i, X$ | `X (n, d)` | one example; all, **one a row** | columns (cs480) |
# | $y, \hat y$ | `y (n,)` | targets; predictions | $\mathbf Y$ (wu) |
# | $w, b, \theta$ | `w, b, theta` | weights, bias, all parameters | $\beta$ (wu, moon) |
# | $f_\theta, \ell, L$ | `f, loss` | model; loss of one; average loss | $R$ (explainers), $J$ (wu); half the sum in chapter 1 |
# | $\nabla L, \eta$ | `grad, eta` | gradient; step size | $\alpha$ (guo), $t$ (cs480) |
# | $\lambda$ | `lam` | strength of a penalty | |

# %% [markdown] covers="cs480:back"
# | symbol | in code | meaning | elsewhere |
# | --- | --- | --- | --- |
# | $\mathbb E, \operatorname{Var}, \mathcal N$ | `mu, sigma` | expectation, variance, normal distribution | |
# | $p, q, \log$ | `log_p` | distributions; natural logarithm | $\log_2$ for bits |
# | $\mathrm{KL}(p\Vert q), H(p)$ | `kl, entropy` | divergence; entropy | $\mathrm{KLD}$ (guo) |
# | $W^{(l)}, h^{(l)}$ | `W (m, d), h` | weights and output of layer $l$ | $W^\top h$ (guo) |
# | $\sigma(\cdot)$ | `act, sigmoid` | activation; sigmoid $1/(1+e^{-z})$ | $\varphi$ |
# | $Q, K, V$ | `(B, T, D)` | attention; batch, time, width | |
# | $\beta_t, \bar\alpha_t$ | `beta, alpha_bar` | noise schedule of diffusion | |
# | $s, a, r, \gamma, \pi$ | `s, a, r` | state, action, reward, discount, policy | |
#
# One letter has several meanings over a whole course ($\sigma$, $\alpha$, $\beta$, $H$, $L$): each notebook says which.

# %% [markdown] covers="cs480:back"
# **Words**, each with a link to the cell that computes it. (JupyterLab opens a closed notebook at its top: click a second
# time.)
#
# <details><summary><b>The words of the course</b></summary>
#
# [[glossary]]
#
# </details>
#
# **Results that cs480 names**, and where they are proved or tested:
#
# | result | says | where |
# | --- | --- | --- |
# | 2.2 linear duality | a linear function is an inner product | [[02/01]] |
# | 2.8 convergence | the perceptron makes finitely many mistakes | [[02/01]] |
# | 3.2 interpolation | distinct points can be fitted exactly | [[01/05]] |
# | 3.3 Fermat | at an inner minimum the gradient is 0 | [[03/01]] |
# | 8.5, 8.7, 8.8 rates | how fast gradient descent is | [[03/01]] |
# | 9.4 approximation | a wide layer comes near any continuous function | [[07/03]] |

# %% [markdown] covers="cs480:back"
# | result | says | where |
# | --- | --- | --- |
# | 6.3 characterisation | which convex losses are calibrated | [[04/03]] |
# | 7.6 Mercer | kernels are symmetric and positive semi-definite | [[04/04]] |
# | 13.1 push-forward | noise can be mapped to any distribution | [[06/03]] |
# | 14.2 change of variable | how a density changes under a map | [[14/06]] |
# | 14.3 triangular maps | the increasing triangular map is unique | [[14/06]] |
# | 14.4 inverse sampling | the quantile function makes samples of uniform numbers | [[06/03]] |

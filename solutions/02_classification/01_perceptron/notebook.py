# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="a perceptron that knows how its run ended, its mistake bound, and a proof for or against a line"
# # The perceptron
#
# Two hospitals, the same 569 tumours, benign or malignant. Each trains a machine that looks at one patient after the
# other and changes only when it was wrong. Hospital A has 30 measurements of each tumour, hospital B all but one. After
# 300 passes through all patients, machine A has made 3,806 mistakes and B 3,840. Both still make about a dozen a pass.
#
# One of the two will come to rest some day. The other never will, however long you wait. *Which is which, and would
# another thousand passes tell?*
#
# At the end you know, with a proof for each, and it takes a second.

# %%
# What this notebook needs.
import math

import numpy as np
import torch
from ipywidgets import Dropdown, FloatSlider, IntSlider
from scipy.optimize import linprog

from descent import (
    after,
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
from descent.pictures.classification import perceptron as pw

start("02_classification/01_perceptron")

# %%
# Mistakes in each pass of the two machines. Measurements are rounded to 1/64 of a
# standard deviation: so sums are exact, and every computer makes the same mistakes.
tumours, benign = pw.tumours()  # (569, 30), and +1 for benign, -1 for malignant
fewer = np.delete(tumours, 8, axis=1)  # without the mean symmetry
show(*pw.draw_nights(tumours, fewer, benign, 300))

# %% [markdown] covers="cs480:ex1.2"
# ## 1. A line with a direction
#
# Start smaller: six e-mails, three of them spam. Of each the machine sees one thing only: which of $d$ words occur in
# it. That is the **bag of words**, a row of zeros and ones for each e-mail.
#
# Stuck? `hint(bag_of_words)` helps in three stages, and so it does for every exercise.


# %% exercise="bag_of_words" points=2 difficulty=1 covers="cs480:ex1.2"
def bag_of_words(mails, vocabulary):
    """Which words of a vocabulary occur in each e-mail: (n, d), 1 where, else 0.

    mails: n texts. A word is what stands between blanks or line breaks, without any
    of the marks . , ; : ! ? at its ends. Capital letters count as small ones.
    vocabulary: d words in small letters; column j belongs to word j.
    ["The man, the end!"], ["an", "end", "the"] give [[0, 1, 1]].
    """
    ### BEGIN SOLUTION
    X = np.zeros((len(mails), len(vocabulary)))
    for i, mail in enumerate(mails):
        words = [word.strip(".,;:!?") for word in mail.lower().split()]
        for j, word in enumerate(vocabulary):
            X[i, j] = word in words
    return X
    ### END SOLUTION


# %% check="bag_of_words"
check(bag_of_words)

# %% [markdown] covers="cs480:def2.4 cs480:def2.5 cs480:ex1.3 cs480:ex2.6 cs480:ex2.10"
# A **linear classifier** has a weight $w_j$ for each feature of a row $x$, and a constant $b$, the *bias*. Its **score**
# is $\langle x, w\rangle + b = \sum_j x_j w_j + b$, and it says $+1$ (spam) where the score is above 0, else $-1$. (So
# $\operatorname{sgn}(0) = -1$. That moves no boundary.)
#
# With two features you can look at it. Score 0 is a line, the **decision boundary** $H$, and $w$ is an arrow. The four
# points are the inputs of a logical OR: three have the label $y = +1$. Drag the arrow's tip.
#
# 1. Get all four points on their side. What does the line do when you turn $w$?
# 2. Double $w$ and $b$. What changes?
# 3. Choose XOR. How many of the four can you satisfy at once?

# %% covers="cs480:ex1.3 cs480:ex2.6 cs480:ex2.10"
# Drag the tip of w.
explore(
    pw.draw_line,
    drag={("w1", "w2"): "tip"},
    labels=Dropdown(options=["OR", "AND", "XOR"], description="labels"),
    w1=FloatSlider(1.5, min=-2, max=2, step=0.05, description="w₁"),
    w2=FloatSlider(0.4, min=-2, max=2, step=0.05, description="w₂"),
    b=FloatSlider(-0.5, min=-2, max=2, step=0.05, description="bias b"),
)

# %% [markdown] covers="cs480:prop2.7 cs480:def2.5 cs480:ex2.6"
# Why does $w$ stand at right angles to $H$? Between two points of $H$ the score does not change:
# $\langle w, x' - x\rangle = -b - (-b) = 0$. Now walk from $H$ a distance $r$ along $w/\lVert w\rVert$: the score grows
# from 0 to $r\lVert w\rVert$. So score$/\lVert w\rVert$ is the **signed distance** of a point from $H$, positive on the
# side to which $w$ points.
#
# A point with label $y$ is on its own side, off the boundary, where $y$ times its distance is positive. The smallest of
# these products, over all points, is the classifier's **margin**.


# %% exercise="judge" points=2 difficulty=1 covers="cs480:def2.4 cs480:def2.5 cs480:ex2.6 cs480:ex1.3"
def judge(X, y, w, b):
    """What the linear classifier (w, b) says of points, and how safely.

    X (n, d), n >= 1; y (n,) of +1 and -1; w (d,), not zero; b a number.
    Returns (labels (n,), distances (n,), margin): labels +1 and -1 with sgn(0) = -1;
    signed distances from the boundary; the smallest y_i times distance_i.
    X = [[1, 2], [0, 0]], y = [1, 1], w = [3, 4], b = -1 give
    [1, -1], [2, -0.2] and -0.2.
    """
    ### BEGIN SOLUTION
    score = X @ w + b
    labels = np.where(score > 0, 1, -1)
    distances = score / np.linalg.norm(w)
    margin = np.min(y * distances)
    return labels, distances, margin
    ### END SOLUTION


# %% check="judge"
check(judge)

# %% covers="cs480:prop2.7 cs480:def2.5 cs480:ex1.3"
# Your function on the boundary of a random plane, on multiples of (w, b), and on OR.
with after(judge):
    rng, w, b = np.random.default_rng(2), np.array([2.0, -1.0, 0.5]), 0.7
    aside = rng.normal(size=(30, 3))
    aside = aside - np.outer(aside @ w, w) / (w @ w)  # steps at a right angle to w
    H, ones = aside - b * w / (w @ w), np.ones(30)
    flat = np.abs(judge(H, ones, w, b)[1]).max() < 1e-12
    claim("steps at right angles to w stay on the boundary ({n} points)", flat, n=30)
    X = rng.normal(size=(30, 3))
    said, far, _ = judge(X, ones, w, b)
    same = [judge(X, ones, c * w, c * b) for c in (9, -9)]
    claim("(9w, 9b) is the same classifier", np.array_equal(said, same[0][0]))
    claim("(−9w, −9b) says the opposite", np.array_equal(said, -same[1][0]))
    claim("their distances differ in sign only", np.allclose(far, -same[1][1]))
    _, _, best = judge(pw.CORNERS, pw.LABELS["OR"], np.array([2.0, 2.0]), -1.0)
    claim(
        "w = (2, 2), b = −1: OR with margin {m:.3f}", np.isclose(best, 8**-0.5), m=best
    )

# %% [markdown] covers="cs480:alg1 cs480:2 cs480:2-lift guo:I.5 cs480:thm2.11"
# ## 2. Learn from mistakes
#
# Who finds $w$ and $b$? Any pair that is right about all rows will do. Rosenblatt's **perceptron** (1957) starts at
# $w = 0$, $b = 0$ and takes one row after the other. If $y(\langle x, w\rangle + b) \le 0$, that is a **mistake**:
#
# $$w \leftarrow w + y\,x, \qquad b \leftarrow b + y,$$
#
# else nothing changes. (Score 0 is a mistake, whatever $y$.) Lift each row to $z = (x, 1)$ and collect
# $v = (w, b)$: the score is $\langle z, v\rangle$, and the two updates are one, $v \leftarrow v + y\,z$.
#
# A run ends in one of three ways. **Settled**: a pass without mistakes. **Loops**: a pass leads back to where it or
# an earlier one began; $v$ is its memory, so everything repeats. **Open**: your patience ends.


# %% exercise="train" points=6 difficulty=1 covers="cs480:alg1 cs480:2 cs480:2-lift cs480:def2.3 guo:I.5 cs480:thm2.11"
def train(X, y, order, max_passes):
    """Run the perceptron from v = 0, pass after pass, until its run ends.

    X (n, d), y (n,) of +1 and -1. order, an array: the row numbers of a pass, the same
    in each; a row may stand in it twice, or not at all. max_passes >= 0.
    Returns (path, mistakes, end).
    path (M + 1, d + 1): v = (w, b) at the start and after each of the M mistakes.
    mistakes: a list, how many there were in each pass.
    end: "settled" after a pass without mistakes; else "loops" after a pass that ends
    exactly at a v with which it or an earlier pass began; else "open".
    X = [[2]], y = [-1], order = [0] give [[0, 0], [-2, -1]], [1, 0], "settled".
    """
    ### BEGIN SOLUTION
    Z = np.column_stack([X, np.ones(len(X))])
    v = np.zeros(Z.shape[1])
    path, mistakes, seen = [v], [], {tuple(v)}
    for _ in range(max_passes):
        mistakes.append(0)
        for i in order:
            if y[i] * (Z[i] @ v) <= 0:
                v = v + y[i] * Z[i]
                path.append(v)
                mistakes[-1] += 1
        if mistakes[-1] == 0:
            return np.array(path), mistakes, "settled"
        if tuple(v) in seen:
            return np.array(path), mistakes, "loops"
        seen.add(tuple(v))
    return np.array(path), mistakes, "open"
    ### END SOLUTION


# %% check="train"
check(train)

# %% open=true covers="cs480:ex1.2"
# Your machine reads its e-mails.
with after(bag_of_words, train):
    X = bag_of_words(pw.MAILS, pw.WORDS)
    path, mistakes, end = train(X, pw.SPAM, np.arange(6), 100)
    new = bag_of_words(["Viagra, and now!"], pw.WORDS)[0]
    score = np.append(new, 1) @ path[-1]
    print(f"mistakes in each pass {mistakes}, {end}; the new e-mail scores {score:g}")
    show(*pw.draw_weights(path))

# %% predict="others" minutes=1
predict(
    "others",
    "E-mail 2 is a mistake. The update raises its own y (⟨x, w⟩ + b) by ‖x‖² + 1. What "
    "happens to this value for the other five e-mails?",
    ["it rises for all", "it stays for all", "it falls for some"],
    truth=2 if (pw.gains(pw.MAIL, pw.SPAM, 1) < 0).any() else 0,
    because="They share words with e-mail 2, and the bias. Those with the other label "
    "fall, by 1 and 1 more for each shared word: one update can spoil what others had "
    "learnt.",
)

# %% covers="cs480:2-score"
# The values of all six before and after the second mistake.
with after(train, "others"):
    path, G = train(pw.MAIL, pw.SPAM, np.arange(6), 1)[0], pw.signed(pw.MAIL, pw.SPAM)
    before, later = G @ path[1], G @ path[2]
    gain, length = later[1] - before[1], pw.MAIL[1] @ pw.MAIL[1]
    claim("the gain is ‖x‖² + 1 = {gain:g}", gain == length + 1, gain=gain)
    show(*pw.draw_score_gain(before, later, 1))

# %% open=true covers="cs480:ex1.3 cs480:alg1 guo:I.5 cs480:thm2.11"
with after(train):
    for name, labels in pw.LABELS.items():
        path, mistakes, end = train(pw.CORNERS, labels, np.arange(4), 100)
        print(f"{name}: mistakes {mistakes}, {end} at (w, b) = {path[-1]}")
    draws = np.random.default_rng(0).integers(0, 4, 4000)  # one pass of random rows
    for name in ("OR", "XOR"):
        path, mistakes, _ = train(pw.CORNERS, pw.LABELS[name], draws, 1)
        print(f"{name}, 4000 random rows: {mistakes[0]} mistakes")

# %% [markdown] covers="cs480:thm2.8 cs480:2"
# ## 3. How many mistakes can there be?
#
# Why should it end? Write $g_i = y_i z_i$: wanted is a $v$ with
# $\langle g_i, v\rangle > 0$ for all $i$. Suppose that a *unit* vector $v^*$ is one, of margin
# $\gamma = \min_i \langle g_i, v^*\rangle$, and let $C = \max_i \lVert z_i\rVert$. From $v = 0$, in any order, there are
# $M \le C^2/\gamma^2$ mistakes (Novikoff 1962). For a mistake on $g$ has $\langle g, v\rangle \le 0$, so
#
# 1. $\langle v + g, v^*\rangle \ge \langle v, v^*\rangle + \gamma$: after $M$ mistakes $\langle v, v^*\rangle \ge M\gamma$;
# 2. $\lVert v + g\rVert^2 = \lVert v\rVert^2 + 2\langle g, v\rangle + \lVert g\rVert^2 \le \lVert v\rVert^2 + C^2$:
#    so $\lVert v\rVert \le \sqrt M\, C$;
# 3. $\langle v, v^*\rangle \le \lVert v\rVert$. Together: $M\gamma \le \sqrt M\, C$.


# %% exercise="mistake_bound" points=3 difficulty=1 covers="cs480:thm2.8"
def mistake_bound(X, y, v):
    """The margin of v, the size of the data, and the bound on mistakes that v proves.

    X (n, d), y (n,) of +1 and -1; v = (w, b), (d + 1,), of any length but 0.
    Returns (gamma, C, bound) of the lifted rows: gamma for the unit vector along v,
    also where it is not positive; bound is C² / gamma², math.inf where v does not
    separate.
    X = [[2], [-1]], y = [1, -1], v = [3, 0] give (1, sqrt(5), 5).
    """
    ### BEGIN SOLUTION
    Z = np.column_stack([X, np.ones(len(X))])
    gamma = np.min(y * (Z @ v)) / np.linalg.norm(v)
    C = np.max(np.linalg.norm(Z, axis=1))
    if gamma <= 0:
        return gamma, C, math.inf
    return gamma, C, (C / gamma) ** 2
    ### END SOLUTION


# %% check="mistake_bound"
check(mistake_bound)

# %% covers="cs480:thm2.8"
# The three lines of the proof, at each mistake of your own runs.
with after(train, mistake_bound):
    for name, (X, y) in pw.examples().items():
        best, _ = pw.widest(pw.signed(X, y))  # the unit vector of largest margin
        gamma, C, bound = mistake_bound(X, y, best)
        path, mistakes, end = train(X, y, np.arange(len(y)), 500)
        M, along = np.arange(len(path)), np.asarray(path) @ best
        length = np.linalg.norm(path, axis=1)
        line1 = (np.diff(along) >= gamma - 1e-9).all()
        line2 = (np.diff(length**2) <= C**2 + 1e-9).all()
        line3 = (along <= length + 1e-9).all()
        claim(
            "{name}: lines 1, 2, 3 hold; {M} mistakes, bound {bound:.0f}",
            line1 and line2 and line3 and M[-1] <= bound and end == "settled",
            name=name,
            M=M[-1],
            bound=bound,
        )

# %% [markdown] covers="cs480:thm2.8 cs480:2"
# **Your laboratory.** Drag the stray point with label $+1$ and play the mistakes of your machine. On the right,
# $\langle v, v^*\rangle$ and $\lVert v\rVert$ run between their envelopes, which cross at the bound (star).
#
# 1. Move the stray up, away from the squares, then back among them. What does the bound do, and what the run?
# 2. Where does one envelope vanish? How does the run end there?
# 3. Does the larger of two bounds always belong to the longer run?

# %% covers="cs480:thm2.8 cs480:2 cs480:alg1"
# Drag the stray point. Play the mistakes.
with after(train):
    explore(
        pw.stepper(train),
        drag={("x", "y"): "stray"},
        play="shown",
        x=FloatSlider(0.25, min=-2, max=2, step=0.125, description="stray x₁"),
        y=FloatSlider(-0.25, min=-2, max=2, step=0.125, description="stray x₂"),
        shown=IntSlider(7, min=0, max=60, description="mistakes M"),
    )

# %% covers="cs480:thm2.8"
# 200 pairs of clouds: mistakes of your machine against the bound.
with after(train, mistake_bound):
    made, bounds, rng = [], [], np.random.default_rng(5)
    for seed in range(200):
        X, y = pw.clouds(rng.uniform(0.05, 1.5), n=30, seed=seed)
        bounds.append(mistake_bound(X, y, pw.widest(pw.signed(X, y))[0])[2])
        made.append(sum(train(X, y, np.arange(30), 2000)[1]))
    claim("none of {n} runs exceeds its bound", (np.array(made) <= bounds).all(), n=200)
    show(*pw.draw_bounds(made, bounds))

# %% [markdown] covers="cs480:ex2.10 cs480:thm2.11"
# ## 4. How to prove that there is no line
#
# What if there is no $v^*$? The four conditions of XOR read
#
# $$-b > 0,\quad w_1 + b > 0,\quad w_2 + b > 0,\quad -w_1 - w_2 - b > 0 .$$
#
# Add them: $0 > 0$. The proof is a list of weights, $\lambda = (1, 1, 1, 1)$, with which the $g_i$ add up to nothing.
# Gordan (1873): always **either** some $v$ has $\langle g_i, v\rangle > 0$ for all $i$, **or** some $\lambda \ge 0$
# with sum 1 has $\sum_i \lambda_i g_i = 0$. Never both: $0 = \sum_i \lambda_i \langle g_i, v\rangle > 0$. (Never neither:
# the shortest of all such sums is 0, or it separates.)
#
# A loop is such a proof: its updates add up to 0. But a run that is open proves nothing.

# %% [markdown] covers="cs480:ex2.10"
# So ask for the proof itself. Both kinds are *linear programmes*. `linprog(c, A_ub=…, b_ub=…, A_eq=…, b_eq=…,
# bounds=…)` looks for a $u$ that makes $\langle c, u\rangle$ smallest among all with $A_{ub}u \le b_{ub}$ and
# $A_{eq}u = b_{eq}$. (With $c = 0$ any will do.) Its answer has `.status`, 0 if one was found, and `.x`. Without
# `bounds=(None, None)` it takes $u \ge 0$.
#
# One thing to think about: a solver knows $\ge$, not $>$. How do you ask for $\langle g_i, v\rangle > 0$? (If $v$
# separates, so does $1000\,v$.)


# %% exercise="separable" points=4 difficulty=1 covers="cs480:ex2.10"
def separable(X, y):
    """Whether some v separates the classes strictly, with a proof either way.

    X (n, d), y (n,) of +1 and -1. With g_i = y_i (x_i, 1), returns
    (True, v): v (d + 1,) with <g_i, v> > 0 for all i; or
    (False, lam): lam (n,) >= 0 with sum 1 and sum_i lam_i g_i = 0.
    Any valid proof will do. linprog is imported above.
    X = [[0], [1], [2]], y = [1, -1, 1] give (False, [0.25, 0.5, 0.25]).
    """
    ### BEGIN SOLUTION
    G = np.column_stack([X, np.ones(len(X))]) * y[:, None]
    n, D = G.shape
    balance = np.vstack([G.T, np.ones(n)])
    found = linprog(np.zeros(n), A_eq=balance, b_eq=np.append(np.zeros(D), 1))
    if found.status == 0:
        return False, found.x
    found = linprog(np.zeros(D), A_ub=-G, b_ub=-np.ones(n), bounds=(None, None))
    return True, found.x
    ### END SOLUTION


# %% check="separable"
check(separable)

# %% covers="cs480:ex2.10 cs480:thm2.11"
# Your verdicts on OR, AND and XOR. A loop of your machine counts out the same proof.
with after(train, separable):
    for name, y in pw.LABELS.items():
        verdict, proof = separable(pw.CORNERS, y)
        print(f"{name}: separable {verdict}, proof {np.round(proof, 2)}")
    claim("XOR's λ is ¼ for each point", np.allclose(proof, 1 / 4))
    path, mistakes, end = train(pw.CORNERS, pw.LABELS["XOR"], np.arange(4), 100)
    home = (path[-1] == 0).all() and end == "loops"
    claim("XOR's machine is back at 0 after {n} mistakes", home, n=mistakes[0])
    steps, G = np.diff(path, axis=0), pw.signed(pw.CORNERS, pw.LABELS["XOR"])
    counts = (steps[:, None] == G).all(2).sum(0)
    claim("in its loop it adds each g once", (counts == 1).all())

# %% predict="bet" minutes=1
predict(
    "bet",
    "Back to the hospitals. Whose machine will come to rest some day?",
    ["A's, with 30 measurements", "B's, with 29"],
    truth=[pw.widest(pw.signed(X, benign)) is None for X in (tumours, fewer)].index(
        False
    ),
    because="B's measurements are among A's: a line for B would be one for A, with "
    "weight 0 for the column that B lacks. So if only one of them has a line, it is A. "
    "Whether any has one, no open run tells: that takes a proof.",
)

# %% [markdown] covers="cs480:ex2.10"
# ## 5. Which machine comes to rest?
#
# First your own machine, 300 passes for each hospital: is either run settled, or a loop? Then another thousand passes.
# Then the proofs, by your own `separable`, and what the bound says to whoever wants to wait.

# %% covers="cs480:ex2.10 cs480:thm2.8"
# The answer to the question of the first screen.
with after(train, judge, mistake_bound, separable, "bet"):
    proofs = {}
    for name, X in (("A", tumours), ("B", fewer)):
        path, mistakes, end = train(X, benign, np.arange(569), 300)
        print(
            f"{name}: {sum(mistakes)} mistakes, {mistakes[-1]} in the last pass; {end}"
        )
        _, counts = pw.run(pw.signed(X, benign), 1300)
        print(
            f"{name}: a thousand passes later {sum(counts)}, {counts[-1]} in the last"
        )
        verdict, proofs[name] = separable(X, benign)
        print(f"{name}: separable {verdict}")
    v, lam, G = proofs["A"], proofs["B"], pw.signed(fewer, benign)
    _, distances, margin = judge(tumours, benign, v[:-1], v[-1])
    claim("A comes to rest: its v is right about all {n} tumours", margin > 0, n=569)
    mixed, used = np.abs(lam @ G).max(), np.sum(lam > 1e-9)
    zero = mixed < 1e-6 and lam.min() > -1e-9 and np.isclose(lam.sum(), 1)
    claim("B never does: its λ, on {n} tumours, adds up to 0", zero, n=used)
    _, _, bound = mistake_bound(
        tumours, benign, pw.widest(pw.signed(tumours, benign))[0]
    )
    print(f"A's bound, by the v of widest margin: {bound / 1e6:.0f} million mistakes")
    show(*pw.draw_verdicts(distances, lam, benign), digits=0)  # one proof of many

# %% [markdown] covers="cs480:2 cs480:thm2.8"
# ## Take-aways
#
# - A linear classifier is an arrow and an offset; a positive factor changes nothing. Score$/\lVert w\rVert$ is a
#   signed distance.
# - The perceptron changes on mistakes only. Where a line exists, it makes at most $C^2/\gamma^2$ of them, in any order:
#   few where the margin is wide.
# - A settled run through all rows proves that there is a line, a loop that there is none, an open run nothing. A linear programme decides,
#   with a proof either way.
# - In 1958 newspapers wrote that it would one day walk and talk. In 1969 Minsky and Papert proved
#   what one such unit cannot do. XOR is the smallest case; [[07/01]] takes several units.
#
# Below: which line it finds, the same run as gradient descent, when to stop, and many classes.

# %% [markdown] covers="cs480:def2.1 cs480:def2.3 cs480:thm2.2"
# ## Deeper: d + 1 questions
#
# Why scores of this kind? $f$ is **linear** if $f(\alpha x + \beta z) = \alpha f(x) + \beta f(z)$ for all vectors $x, z$
# and numbers $\alpha, \beta$. Two demands hide in it: $f(x + z) = f(x) + f(z)$ (*additive*) and
# $f(\alpha x) = \alpha f(x)$ (*homogeneous*).
#
# **Duality.** $f$ is linear if and only if $f(x) = \langle x, w\rangle$ for some $w$. One half is the rules of the inner
# product. For the other, write $x = \sum_j x_j e_j$ with the unit vectors $e_j$: then $f(x) = \sum_j x_j f(e_j)$, so
# $w_j = f(e_j)$, and $d$ questions tell all of $f$. An **affine** function is $\langle x, w\rangle + b$: linear in the
# lifted row $(x, 1)$.

# %% predict="homogeneous" minutes=1
predict(
    "homogeneous",
    "Which of these is homogeneous, and yet not linear?",
    list(pw.CANDIDATES),
    truth=[pw.demands(f) for f in pw.CANDIDATES.values()].index((False, True)),
    because="A factor passes through the cubes and the root. But f(1, 0) + f(0, 1) "
    "= 2, and f(1, 1) is the cube root of 2: additivity is a demand of its own.",
)

# %% [markdown] covers="cs480:thm2.2 cs480:def2.3"
# Now somebody hands you a function, and you can only call it. Which $d + 1$ questions tell $w$ and $b$, if it is affine?
# And is it?


# %% exercise="recover" points=2 difficulty=1 covers="cs480:def2.1 cs480:thm2.2 cs480:def2.3"
def recover(f, d, X):
    """The w and b of an affine function that you can only call, and what f is.

    f: a function (d,) -> number. X (m, d): points to test it at, m >= 1.
    Returns (w (d,), b, kind). w and b from f at 0 and at the unit vectors;
    kind: "neither" where f(x) and <x, w> + b are more than 1e-6 apart at a row x
    of X; else "linear" where b is at most 1e-6 from 0; else "affine".
    f(x) = 3 x1 - x2 + 1 gives ([3, -1], 1, "affine").
    """
    ### BEGIN SOLUTION
    b = f(np.zeros(d))
    w = np.array([f(e) - b for e in np.eye(d)])
    apart = max(abs(f(x) - (x @ w + b)) for x in X)
    if apart > 1e-6:
        return w, b, "neither"
    return w, b, "linear" if abs(b) <= 1e-6 else "affine"
    ### END SOLUTION


# %% check="recover"
check(recover)

# %% covers="cs480:def2.1 cs480:thm2.2 cs480:def2.3 cs480:2-lift"
# Your verdict on the five candidates, and on one function with and without the lift.
with after(recover):
    X = np.random.default_rng(1).normal(size=(20, 2))
    for name, f in pw.CANDIDATES.items():
        w, b, kind = recover(f, 2, X)
        agrees = (kind == "linear") == (pw.demands(f) == (True, True))
        claim("{name}: {kind}", agrees, name=name, kind=kind)
    f = pw.CANDIDATES["3 x1 - x2 + 1"]
    kind = recover(lambda z: z @ [3, -1, 1], 3, pw.lift(X))[2]
    claim("the second, of lifted rows: {kind}", kind == "linear", kind=kind)
    mixed = [
        f(a * X[0] + (1 - a) * X[1]) - a * f(X[0]) - (1 - a) * f(X[1]) for a in (3, -2)
    ]
    claim(
        "mixtures with coefficients that add up to 1 pass", np.abs(mixed).max() < 1e-9
    )
    show(*pw.draw_lifted(np.array([2.0, 2.0]), -1.0))

# %% [markdown] covers="cs480:thm2.8"
# ## Deeper: the same data in millimetres
#
# Does the bound care about units? Your run of OR made 9 mistakes, where 27 were allowed.

# %% predict="millimetres" minutes=1
predict(
    "millimetres",
    "OR has the bound 27. Now its features come in millimetres, not centimetres: each "
    "x is ten times as large. The bound of the best v …",
    ["falls to 0.27", "stays 27", "rises above 200"],
    truth=int(
        np.searchsorted([1, 100], pw.best_bound(10 * pw.CORNERS, pw.LABELS["OR"]))
    ),
    because="C grows along with γ. But the 1 in z = (x, 1) does not: b has to be large "
    "beside w, and v is measured as a whole. Without a bias the bound would stay.",
)

# %% covers="cs480:thm2.8"
# OR in both units, by your two functions.
with after(train, mistake_bound, "millimetres"):
    bounds, made, y = [], [], pw.LABELS["OR"]
    for X in (pw.CORNERS, 10 * pw.CORNERS):
        bounds.append(mistake_bound(X, y, pw.widest(pw.signed(X, y))[0])[2])
        made.append(sum(train(X, y, np.arange(4), 500)[1]))
    claim(
        "bound {b[0]:.0f} and {b[1]:.0f}, mistakes {m[0]} and {m[1]}: no forecast",
        bounds[0] < bounds[1] and made[0] > made[1],
        b=bounds,
        m=made,
    )

# %% [markdown] covers="cs480:rem2.9"
# ## Deeper: which line?
#
# The perceptron stops at the first $v$ that separates. Another order, another line. Which one would you trust with new
# points? Here are a hundred orders of the same forty points, and the widest line, which is unique;
# [[04/01]] looks for it. The margin of a *line* is a distance in the plane, as in `judge`; the $\gamma$ of the bound divides
# by the length of all of $v = (w, b)$.

# %% covers="cs480:rem2.9"
# A hundred runs of your machine, and the widest line by scikit-learn.
with after(train, judge):
    from sklearn.svm import SVC

    X, y = pw.clouds(0.5, seed=3)
    orders = [np.random.default_rng(seed).permutation(40) for seed in range(100)]
    lines = np.array([train(X, y, order, 500)[0][-1] for order in orders])
    svm = SVC(kernel="linear", C=1e6, tol=1e-6).fit(X, y)
    widest = np.append(svm.coef_, svm.intercept_)
    margins = np.array([judge(X, y, v[:2], v[2])[2] for v in lines])
    top = judge(X, y, widest[:2], widest[2])[2]
    claim(
        "all {n} separate, none wider than the widest",
        (margins > 0).all() and margins.max() <= top * 1.0001,
        n=100,
    )
    show(*pw.draw_orders(X, y, lines, margins, widest, top))

# %% [markdown] covers="cs480:2-opt cs480:8-perc guo:I.5.a"
# ## Deeper: the same run, downhill
#
# Was nothing minimised? Let $s = y\langle z, v\rangle$. The **perceptron loss** is $\max(-s, 0)$: nothing if right, $-s$ if
# wrong. Its gradient in $v$ is $-yz$ for $s < 0$ and 0 for $s > 0$. So a step of gradient descent of rate $\eta$ on one
# row is $v + \eta\, yz$ on a mistake: the perceptron, at $\eta = 1$. At the kink $s = 0$ a line of any slope from $-1$
# to 0 stays below the loss (a *subgradient*). The perceptron takes $-1$.
#
# Relatives: the *hinge* loss $\max(1 - s, 0)$, and the *logistic* loss $\log(1 + e^{-s})$. What are their steps? (With
# labels 0 and 1, which [[02/02]] uses, that of the last reads $v + \eta\,(y - p)\,z$, where
# $p = 1/(1 + e^{-\langle z, v\rangle})$.)


# %% exercise="sgd_step" points=2 difficulty=1 covers="cs480:2-opt guo:I.5.a"
def sgd_step(v, z, y, eta, loss):
    """One step of gradient descent of rate eta on the loss of one row; v stays.

    v, z (D,); y +1 or -1; loss "perceptron", "hinge" or "logistic", as above, with
    the slope -1 at a kink. Returns the new v (D,).
    v = [0, 0], z = [2, 1], y = -1, eta = 0.5 give [-1, -0.5], [-1, -0.5] and
    [-0.5, -0.25].
    """
    ### BEGIN SOLUTION
    s = y * (z @ v)
    if loss == "perceptron":
        pull = float(s <= 0)
    elif loss == "hinge":
        pull = float(s <= 1)
    else:
        pull = 1 / (1 + np.exp(s))
    return v + eta * pull * y * z
    ### END SOLUTION


# %% check="sgd_step"
check(sgd_step)

# %% predict="relu" minutes=1
predict(
    "relu",
    "In torch: loss = relu(−y ⟨z, v⟩), SGD with rate 1 from v = 0. What does v do?",
    ["the perceptron's run", "it never moves", "it runs away"],
    truth=int(not pw.relu_slope().any()),
    because="At v = 0 every s is 0, and torch takes the slope 0 at the kink. The loss "
    "is 0 already, its minimum, though no row is classified.",
    then=pw.draw_losses,
)

# %% covers="cs480:2-opt cs480:8-perc guo:I.5.a"
# The run of your steps against that of your machine; a random row's slope; a hard p.
with after(train, sgd_step, "relu"):
    X, y = pw.clouds(0.2)
    Z, order = pw.lift(X), np.tile(np.arange(40), 5)
    ends = {eta: np.zeros(3) for eta in (1.0, 0.25)}
    for i in order:
        ends = {
            eta: sgd_step(v, Z[i], y[i], eta, "perceptron") for eta, v in ends.items()
        }
    same = np.array_equal(ends[1.0], train(X, y, order, 1)[0][-1])
    claim("steps on the perceptron loss, rate 1: the perceptron's run", same)
    claim(
        "rate ¼: the same mistakes, and v a quarter as long",
        np.array_equal(ends[0.25] * 4, ends[1]),
    )

    def pulls(v):
        return [v - sgd_step(v, z, label, 1, "perceptron") for z, label in zip(Z, y)]

    G = pw.signed(X, y)
    slope = -G.mean(axis=0)  # at v = 0, where the mean loss is 0
    below_it = [
        np.maximum(-G @ u, 0).mean() >= slope @ u - 1e-12
        for u in np.random.default_rng(6).normal(size=(200, 3))
    ]
    claim(
        "at v = 0, all at the kink: a plane of slope −mean(y z) lies below the mean "
        "loss ({n} points)",
        all(below_it),
        n=200,
    )
    average = np.mean(pulls(np.zeros(3)), axis=0)
    claim("a random row's slope is this on average", np.allclose(average, slope))
    v = np.array([1.0, -1.0, 0.3])  # off every kink
    hard = [(z @ v > 0) for z in Z]  # p = 1 where the score is above 0, else 0
    jumps = [((label + 1) / 2 - p) * z for z, label, p in zip(Z, y, hard)]
    claim(
        "(y − p) z with a hard p: the perceptron's step",
        np.allclose(jumps, -np.array(pulls(v))),
    )

# %% [markdown] covers="cs480:thm2.11"
# ## Deeper: bounded, and never the same
#
# Where no line exists, some row is wrong at every moment: mistakes never end. But $v$ does not run away, its length
# *stays bounded* (Block and Levin 1970; the proof is long). With whole or rational numbers $v$ moves on a grid, a bounded
# part of a grid is finite, and a run in a fixed order must loop. With real numbers it need not. Take $x = 0, 1, \sqrt2$
# with labels $+, -, +$. If $v$ came back, the updates in between would add up to 0: counts with $m_3\sqrt2 = m_2$ and
# $m_1 + m_3 = m_2$. But $\sqrt2$ is irrational: all are 0.

# %% covers="cs480:thm2.11"
# 3000 steps on 0, 1, √2; and two species of iris, in whole millimetres.
with after(train):
    roots, signs = np.array([[0.0], [1.0], [np.sqrt(2)]]), np.array([1.0, -1.0, 1.0])
    endless, _, end = train(roots, signs, np.arange(3), 1000)
    places = len(np.unique(np.round(endless, 9), axis=0))
    claim(
        "0, 1, √2: {n} mistakes, no place twice, {end}",
        places == len(endless),
        n=len(endless) - 1,
        end=end,
    )
    claim("none farther than 2 from 0", np.linalg.norm(endless, axis=1).max() < 2)
    iris = data.iris()
    flowers = iris.X[iris.y > 0]
    X, y = (
        np.round(10 * (flowers - flowers.mean(axis=0))),
        np.where(iris.y[50:] == 1, 1, -1),
    )
    path, _, end = train(X, y, np.arange(100), 300)
    C = np.linalg.norm(pw.lift(X), axis=1).max()
    show(*pw.draw_bounded(path, C))

# %% [markdown] covers="cs480:2-soft"
# ## Deeper: when to stop
#
# Such a run we must end ourselves: after so many passes; after so much time (here: rows looked at); when the training error no longer changes; when the **validation error**, on rows put aside, no
# longer falls. On three measurements of the tumours, the errors jump: the last $v$ is as good as its last few mistakes.
# Safer is the mean of the $v$ after each pass; the second half of the cell tries it on all 30 measurements.
#
# The other way out: allow mistakes at a price. Minimise a mean loss $\frac1n\sum_i \ell(s_i)$ plus a penalty like
# $0.01\,\lVert w\rVert^2$. But not with the perceptron's loss: both are 0 at $v = 0$ and never
# below, and $v = 0$ knows nothing of the data.

# %% demo=true covers="cs480:2-soft"
# Four rules on one run; the mean of the v after each pass; hinge loss and penalty.
G = pw.signed(tumours[:, [0, 1, 4]], benign)
G = G[np.random.default_rng(10).permutation(569)]
v, passes, history = np.zeros(4), [], {"training": [], "validation": []}
for _ in range(40):
    v, _ = pw.run(G[:300], 1, v)
    passes.append(v)
    history["training"].append(np.mean(G[:300] @ v <= 0))
    history["validation"].append(np.mean(G[300:] @ v <= 0))
stops = pw.stops(history, passes=30, rows=6000, n=300, patience=5, tol=0.02)
show(*pw.draw_stops(history, stops))
last, mean = [], []
for seed in range(20):  # all 30 measurements
    rows = pw.signed(tumours, benign)[np.random.default_rng(seed).permutation(569)]
    run = [np.zeros(31)]
    for _ in range(30):
        run.append(pw.run(rows[:300], 1, run[-1])[0])
    last.append(np.mean(rows[300:] @ run[-1] <= 0))
    mean.append(np.mean(rows[300:] @ np.mean(run, axis=0) <= 0))
errors = np.mean(last), np.mean(mean)
claim(
    "validation error of the last v {e[0]:.3f}, of the mean of the v after each pass "
    "{e[1]:.3f} ({n} orders)",
    errors[1] < errors[0],
    e=errors,
    n=20,
)
tries = np.random.default_rng(16).normal(size=(2000, 4))
cost = 0.01 * np.sum(tries[:, :3] ** 2, axis=1)  # of w, not of b
hinge = (np.maximum(1 - tries @ G.T, 0).mean(axis=1) + cost).min()
claim("hinge loss: the best costs {h:.2f}, v = 0 costs 1", hinge < 1, h=hinge)

# %% [markdown] covers="cs480:2-ova cs480:2-ovo"
# ## Deeper: many classes
#
# Classes $0, \dots, c - 1$, and machines that know two. **One-vs-all**: for each class $k$ a machine with $k$ as $+1$ and
# all others as $-1$; predict the class of the largest score. **One-vs-one**: for each pair $k < l$ a machine on the rows
# of $k$ ($+1$) and $l$ ($-1$) alone; it casts a vote, for $k$ where its score is above 0, else for $l$; most votes win.
#
# 1. Hatched: one-vs-all claims a point for no class or for several; one-vs-one has a tie. Which clouds does a line split
#    from all others?
# 2. Play the passes. Which rule settles?
# 3. Make *one* machine's $v$ ten times as long. Which rule does not notice?

# %% demo=true covers="cs480:2-ova cs480:2-ovo"
# Four clouds, class 3 between the others. Play the passes.
explore(
    pw.class_maps(*pw.four_clouds()),
    play="passes",
    rule=Dropdown(
        options=["one-vs-all", "one-vs-one", "one-vs-one, sums"], description="rule"
    ),
    passes=IntSlider(42, min=1, max=60, description="passes"),
    log_scale=FloatSlider(0, min=-1.5, max=1.5, step=0.25, description="log₁₀ factor"),
)


# %% exercise="many_classes" points=4 difficulty=1 covers="cs480:2-ova cs480:2-ovo"
def many_classes(fit, X, labels, new):
    """Winners of one-vs-all, votes of one-vs-one, and their winners.

    fit(A, s) returns (w, b) for rows A (r, d) and labels s (r,) of +1 and -1; it gets
    the rows in their order in X. X (n, d); labels (n,): whole numbers 0 … c - 1, each
    occurring, c >= 2; new (m, d). A score is <x, w> + b; a pair's score of exactly 0
    is a vote for l, the larger class number.
    Returns (alone (m,), votes (m, c), winners (m,)). Ties, of scores and of votes, go
    to the lowest class number. A pair's machine never sees rows of other classes.
    """
    ### BEGIN SOLUTION
    c = labels.max() + 1
    scores = np.zeros((len(new), c))
    votes = np.zeros((len(new), c), dtype=int)
    for k in range(c):
        w, b = fit(X, np.where(labels == k, 1, -1))
        scores[:, k] = new @ w + b
        for l in range(k + 1, c):
            rows = (labels == k) | (labels == l)
            w, b = fit(X[rows], np.where(labels[rows] == k, 1, -1))
            for_k = new @ w + b > 0
            votes[:, k] += for_k
            votes[:, l] += ~for_k
    return scores.argmax(axis=1), votes, votes.argmax(axis=1)
    ### END SOLUTION


# %% check="many_classes"
check(many_classes)

# %% covers="cs480:2-ova cs480:2-ovo"
# 1797 handwritten digits, 1000 to train: your two rules, and sums of raw scores.
with after(many_classes):
    digits = data.digits()
    shuffled = np.random.default_rng(0).permutation(1797)
    X, y = digits.X[shuffled] / 16, digits.y[shuffled]
    seen, scores = [], []

    def fit(A, s, length=1.0):
        v = length * pw.run(pw.signed(A, s), 20)[0]
        seen.append(len(A))
        scores.append(pw.lift(X[1000:]) @ v)
        return v[:-1], v[-1]

    alone, votes, winners = many_classes(fit, X[:1000], y[:1000], X[1000:])
    whole = sum(n for n in seen if n == 1000)
    claim("{n} machines for {c} classes", len(seen) == 55, n=len(seen), c=10)
    claim(
        "one-vs-all looks at {a} rows a pass, one-vs-one at {b}",
        whole == 10_000 and sum(seen) == 19_000,
        a=whole,
        b=sum(seen) - whole,
    )
    claim("each point has {n} votes", (votes.sum(1) == 45).all(), n=45)
    again = many_classes(lambda A, s: fit(A, s, 1000.0), X[:1000], y[:1000], X[1000:])
    claim("votes ignore the length of v", np.array_equal(votes, again[1]))
    missed, taken = pw.one_vs_all_errors(scores[:55], seen[:55], y[1000:])
    print(f"one-vs-all: wrong on {missed:.1%} of the +1, {taken:.1%} of the −1 rows")
    sums = pw.tallies(pw.one_vs_one(X[:1000], y[:1000], 20), X[1000:], 10, raw=True)
    rules = {"one-vs-all": alone, "one-vs-one, votes": winners, "sums": sums.argmax(1)}
    show(
        *pw.draw_rules({name: np.mean(got != y[1000:]) for name, got in rules.items()})
    )

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails,
# the right one holds, and a wrong one of the same shape fails too. *Too broad*: a condition is missing.

# %% demo=true covers="cs480:alg1 cs480:2-score cs480:thm2.8 cs480:prop2.7"
# cs480, section 2: the update and the bound.
x, y, w, b = np.array([1.0, 2.0]), -1.0, np.array([-3.0, 2.0]), 0.0
new = w + y * x, b + y  # after a mistake on (x, y): the score was 1
gain = x @ x + 1
erratum(
    "cs480:2-score",
    quote=r"$\text{score}_{\mathbf{w}, b}(\mathbf{x}) := y\hat{y} < 0$",
    corrected=r"score $= y(\langle x, w\rangle + b)$, without the sign in $\hat y$: "
    r"this is what an update raises by $\lVert x\rVert^2 + 1$",
    printed_holds=y * np.sign(x @ new[0] + new[1]) - y * np.sign(x @ w + b) == gain,
    corrected_holds=y * (x @ new[0] + new[1]) - y * (x @ w + b) == gain,
    decoy_holds=(x @ new[0] + new[1]) - (x @ w + b) == gain,  # without the label
)
erratum(
    "cs480:alg1",
    quote=r":= y\hat{y} < 0 \iff$ the signs disagree",
    corrected=r"the algorithm's test is $y(\langle x, w\rangle + b) \le 0$: a score of "
    r"0 is a mistake for both labels",
    kind="convention",
)
w, x = np.array([-3.0, 1.0]), np.array([1.0, 2.0])
grown = (w + x) @ (w + x) - w @ w - 2 * w @ x
erratum(
    "cs480:thm2.8",
    quote=r"2y \langle \mathbf{w}, \mathbf{x} \rangle + y^2 \langle \mathbf{w}, "
    r"\mathbf{w} \rangle",
    corrected=r"the last term is $y^2\langle x, x\rangle$",
    printed_holds=grown == w @ w,
    corrected_holds=grown == x @ x,
    decoy_holds=grown == w @ x,
)
G = pw.signed(pw.CORNERS, pw.LABELS["OR"])
bound = pw.best_bound(pw.CORNERS, pw.LABELS["OR"])
far = pw.run(G, 500, v=-20 * pw.widest(G)[0])[1]
erratum(
    "cs480:thm2.8",
    quote=r"after $M$ updates, $\langle \mathbf{w}, \mathbf{w}^* \rangle \geq M\gamma$",
    corrected=r"if $w_0 = 0$ and $b_0 = 0$; Algorithm 1 takes any start",
    kind="broad",
    printed_holds=sum(far) <= bound,  # from −20 v*
    corrected_holds=sum(pw.run(G, 500)[1]) <= bound,
)
erratum(
    "cs480:thm2.8",
    quote=r"the perceptron algorithm converges after $C^2/\gamma^2$ mistakes",
    corrected=r"after at most $C^2/\gamma^2$, as its proof says",
    kind="convention",
)
erratum(
    "cs480:thm2.8",
    quote=r"^{\in [0, C^2] \text{ by construction}}",
    corrected=r"$y^2\lVert x\rVert^2 \in [0, C^2]$, and $2y\langle w, x\rangle \le 0$",
    kind="copy",
)
erratum(
    "cs480:prop2.7",
    quote=r"$\langle \mathbf{w}, \mathbf{x}' - \mathbf{x} \rangle = \langle "
    r"\mathbf{w}, \mathbf{x} \rangle - \langle \mathbf{w}, \mathbf{x}' \rangle$",
    corrected=r"$\langle w, x'\rangle - \langle w, x\rangle$; on $H$ both are 0",
    kind="convention",
)

# %% demo=true covers="cs480:ex2.10 cs480:thm2.11 cs480:2-ovo"
# cs480, section 2: XOR, loops, votes.
lines = {name: pw.widest(pw.signed(pw.CORNERS, y)) for name, y in pw.LABELS.items()}
erratum(
    "cs480:ex2.10",
    quote=r"$y$ − + + + There is no separating hyperplane",
    corrected=r"$y = -, +, +, -$: the printed row is OR, which a line separates",
    printed_holds=lines["OR"] is None,
    corrected_holds=lines["XOR"] is None,
    decoy_holds=lines["AND"] is None,
)
w, b = np.array([2.0, 3.0]), -1.0
third = np.array([0, 1]) @ w + b
erratum(
    "cs480:ex2.10",
    quote=r"x_3 = (0, 1), y_3 = + &\implies w_1 + b > 0",
    corrected=r"$w_2 + b > 0$, which the sum $w_1 + w_2 + 2b > 0$ needs",
    printed_holds=third == w[0] + b,
    corrected_holds=third == w[1] + b,
    decoy_holds=third == w.sum() + b,
)
rows = pw.signed(np.array([[0.0], [1.0], [np.sqrt(2)]]), np.array([1.0, -1.0, 1.0]))
endless = pw.path_of(rows, np.tile(np.arange(3), 500))
erratum(
    "cs480:thm2.11",
    quote="If there is no perfect separating hyperplane, then the perceptron algorithm "
    "cycles.",
    corrected="its weights stay bounded; it cycles if the data is rational and the "
    "order fixed",
    kind="broad",
    printed_holds=len(np.unique(np.round(endless, 9), axis=0)) < len(endless),
    corrected_holds=np.linalg.norm(endless, axis=1).max() < 2,
)
heights = np.array([[0, 1, 1], [-1, 0, 9], [-1, -9, 0]])  # score of k against l
erratum(
    "cs480:2-ovo",
    quote=r"We predict by majority vote … \sum_{l:l \neq k} \langle \mathbf{x}, "
    r"\mathbf{w}_{k,l} \rangle",
    corrected=r"$\arg\max_k \sum_{l \ne k} \mathbb 1[\langle x, w_{k,l}\rangle > 0]$, "
    r"with $w_{l,k} = -w_{k,l}$",
    # class 0 wins both of its duels
    printed_holds=heights.sum(1).argmax() == 0,
    corrected_holds=(heights > 0).sum(1).argmax() == 0,
    decoy_holds=(heights < 0).sum(1).argmax() == 0,
)

# %% demo=true covers="guo:I.5"
# guo, section I.5: the prediction inside the loop.
pair, signs = np.array([1.0, 2.0]), np.array([-1.0, 1.0])


def late(current_w, current_b):
    """The last of 2000 random steps that changes (w, b), started at 0."""
    w, b, step = 0.0, 0.0, 0
    for t, r in enumerate(np.random.default_rng(0).integers(0, 2, 2000)):
        score = w * current_w * pair[r] + b * current_b
        if (1 if score > 0 else -1) != signs[r]:
            w, b, step = w + signs[r] * pair[r], b + signs[r], t
    return step


erratum(
    "guo:I.5",
    quote=r"Compute the prediction $\hat{y}_r = \psi(w_0 \cdot x_r + b_0)$",
    corrected=r"$\psi(w_t \cdot x_r + b_t)$: with the first weights updates never end",
    printed_holds=late(0, 0) < 1000,
    corrected_holds=late(1, 1) < 1000,
    decoy_holds=late(1, 0) < 1000,  # the newest w, the first b
)
erratum(
    "guo:I.5",
    quote=r"$w_{t+1} \leftarrow w_t + y_r \cot x_r$",
    corrected=r"$w_t + y_r \cdot x_r$",
    kind="convention",
)

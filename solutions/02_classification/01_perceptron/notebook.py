# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] minutes=90 builds="a perceptron with its mistake bound, a test for separability, and votes for many classes"
# # The perceptron
#
# Lectures: cs480 1.2, 1.3 and 2 · guo I.5.
#
# A machine looks at one example, guesses, and changes only when it was wrong. When does it stop being wrong?
# At the end you can
#
# - read a linear classifier as a line with a direction, and measure distances from it;
# - write the perceptron, and bound its mistakes before it runs;
# - decide whether two classes can be separated at all, with a proof either way;
# - say what happens when they cannot, and when to stop;
# - build a classifier for many classes from classifiers for two, and say where the notes' rule goes wrong.

# %%
import numpy as np
import torch
from ipywidgets import Dropdown, FloatSlider, IntSlider, ToggleButtons
from scipy.optimize import linprog

from descent import after, check, data, erratum, explore, hint, predict, show, start
from descent.pictures.classification import perceptron as pw

start("02_classification/01_perceptron")

# %% [markdown] covers="cs480:ex1.2"
# ## Why it matters
#
# Six e-mails, three of them spam. From each we keep one thing only: which of $d = 5$ words occur in it. This is the **bag of words**.
# Row $x_i$ holds 1 where the word occurs, else 0, and $y_i = +1$ means spam, $-1$ no spam. (The notes put the e-mails in columns; here they are rows.)
#
# A new e-mail holds *and* and *viagra*. Spam or not? A machine gives each word a weight $w_j$, adds up the weights of the words that it sees and a constant $b$, and says spam if the sum is above 0.
# It starts with all weights 0, and corrects itself on each mistake.

# %% covers="cs480:ex1.2" demo=true
mails = [
    "viagra and gold of nigeria",
    "minutes of the meeting",
    "try the viagra",
    "salt and a pinch of pepper",
    "the prince and his bank in nigeria",
    "the rise and fall of rome",
]


def bag_of_words(text):
    return [float(word in text.split()) for word in pw.WORDS]


assert np.array_equal([bag_of_words(text) for text in mails], pw.MAIL)
assert np.array_equal(bag_of_words("viagra and more"), pw.NEW_MAIL)
# the run of the machine, which you write below
end = pw.path_of(pw.signed(pw.MAIL, pw.SPAM), np.tile(np.arange(6), 9))[-1]
predict(
    "Which word gets the largest weight?",
    pw.WORDS,
    truth=int(np.argmax(end[:5])),
    because="It occurs in two e-mails, both spam. "
    f"The new e-mail scores {end[:5] @ pw.NEW_MAIL + end[5]:g}: spam.",
    then=pw.draw_mail,
)

# %% [markdown] covers="cs480:def2.1 cs480:def2.3 cs480:thm2.2"
# ## Linear and affine functions
#
# The **inner product** of two vectors is $\langle a, b\rangle = \sum_j a_j b_j$. A function $f: \mathbb R^d \to \mathbb R$ is **linear** if for all vectors $x, z$ and numbers $\alpha, \beta$
#
# $$f(\alpha x + \beta z) = \alpha f(x) + \beta f(z).$$
#
# Two demands hide in it: $f(x + z) = f(x) + f(z)$ (additive) and $f(\alpha x) = \alpha f(x)$ (homogeneous). An **affine** function is $f(x) = \langle x, w\rangle + b$.
# A random test can refute linearity; it cannot prove it, but a wrong formula hardly survives.


# %% covers="cs480:def2.1 cs480:def2.3" demo=true
def is_linear(f, d, trials=50, seed=0):
    """Whether no trial refutes that f is additive, and homogeneous. -> two booleans."""
    rng = np.random.default_rng(seed)
    x, z, a = *rng.normal(size=(2, trials, d)), rng.normal(size=trials)
    sums = [np.isclose(f(p + q), f(p) + f(q)) for p, q in zip(x, z)]
    return all(sums), all(np.isclose(f(c * p), c * f(p)) for c, p in zip(a, x))


candidates = {
    "3 x1 - x2": lambda x: 3 * x[0] - x[1],
    "3 x1 - x2 + 1": lambda x: 3 * x[0] - x[1] + 1,
    "|x1|": lambda x: abs(x[0]),
    "x1²": lambda x: x[0] ** 2,
    "cube root of x1³ + x2³": lambda x: np.cbrt(x[0] ** 3 + x[1] ** 3),
}
predict(
    "Which is homogeneous, and yet not linear?",
    list(candidates),
    truth=[is_linear(f, 2) for f in candidates.values()].index((False, True)),
    because="A factor passes through the cubes and the root. "
    "But f(1, 0) + f(0, 1) = 2, while f(1, 1) is the cube root of 2. "
    "Additivity is a demand of its own.",
)

# %% [markdown] covers="cs480:thm2.2"
# **Linear duality.** $f$ is linear if and only if $f(x) = \langle x, w\rangle$ for some $w$; and there is only one such $w$.
# One half is the rules of the inner product. For the other, write $x = x_1 e_1 + \dots + x_d e_d$ with the unit vectors $e_j$ and use linearity: $f(x) = \sum_j x_j f(e_j)$. So $w_j = f(e_j)$:
# $d$ questions to $f$ tell everything about it, at every $x$.
#
# Now let $f$ be affine and unknown. How many questions do you need, and which?


# %% exercise="recover" points=2 minutes=5 difficulty=1 covers="cs480:thm2.2 cs480:def2.3"
def recover(f, d):
    """The w and b of an affine function that you can only call.

    f: a function (d,) -> number, with f(x) = <x, w> + b for unknown w and b.
    Returns (w (d,), b).
    f(x) = 3 x1 - x2 + 1 and d = 2 give (array([3, -1]), 1).
    """
    ### BEGIN SOLUTION
    b = f(np.zeros(d))
    return np.array([f(e) - b for e in np.eye(d)]), b
    ### END SOLUTION


# %% check="recover"
check(recover)

# %% covers="cs480:thm2.2 cs480:def2.3"
with after(recover):
    rng = np.random.default_rng(1)
    hidden, X = rng.normal(size=5), rng.normal(size=(20, 4))

    def machine(x):
        return x @ hidden[:4] + hidden[4]

    w, b = recover(machine, 4)
    assert np.allclose([machine(x) for x in X], X @ w + b)  # 5 questions told all
    # affine is linear in the lifted row (x, 1) …
    assert np.allclose(pw.lift(X) @ np.append(w, b), X @ w + b)
    assert is_linear(lambda u: u @ np.append(w, b), 5) == (True, True)
    # … and respects mixtures whose coefficients add up to 1, though not other sums
    for a in (0.3, -2.0):
        mixed = machine(a * X[0] + (1 - a) * X[1])
        assert np.isclose(mixed, a * machine(X[0]) + (1 - a) * machine(X[1]))
    assert not np.isclose(machine(X[0] + X[1]), machine(X[0]) + machine(X[1]))
    print("additive, homogeneous?", is_linear(machine, 4))
    print("the same, lifted:", is_linear(lambda u: u @ hidden, 5))

# %% [markdown] covers="cs480:def2.4 cs480:def2.5 cs480:ex2.6 cs480:prop2.7 cs480:ex1.3"
# ## A line with a direction
#
# A **linear classifier** says $\hat y = \operatorname{sgn}(\langle x, w\rangle + b)$ with $\operatorname{sgn}(t) = +1$ for $t > 0$ and $-1$ for $t \le 0$.
# We call $\langle x, w\rangle + b$ the **score**. For $w \ne 0$ the points with positive score fill a half-space. Its edge is the **decision boundary** $H$, where the score is 0.
#
# - $w$ stands at right angles to $H$: for $x, x' \in H$, $\langle w, x' - x\rangle = -b - (-b) = 0$.
# - Walk from a point of $H$ a distance $r$ along $w/\lVert w\rVert$: the score grows from 0 to $r\lVert w\rVert$. So the **signed distance** of $x$ from $H$ is $(\langle x, w\rangle + b)/\lVert w\rVert$, positive on the side to which $w$ points. The origin has $b/\lVert w\rVert$.
# - $(cw, cb)$ with $c > 0$ is the same classifier; with $c < 0$ it says the opposite everywhere off $H$.
# - What $\operatorname{sgn}(0)$ means is a convention. It moves no boundary, but it will matter when we train from $w = 0$, where every score is 0.
#
# **Find out with the sliders.** The four points are the inputs of a logical OR: three have label $+1$. Turn and move the line. A point is on its side if $y_i(\langle x_i, w\rangle + b) > 0$.
# (1) Satisfy all four conditions. (2) Which line gives the largest smallest distance? (Try 45°. The sliders reach 0.350, the best line has $\sqrt2/4 = 0.354$.) (3) What does $\lVert w\rVert$ change, and what not?
# (4) Choose XOR. How many of the four conditions can you satisfy at once?

# %% covers="cs480:ex2.6 cs480:ex1.3 cs480:ex2.10" demo=true
explore(
    pw.draw_line,
    labels=Dropdown(options=["OR", "AND", "XOR"], value="OR", description="labels"),
    angle=FloatSlider(15, min=-180, max=180, step=5, description="angle of w (°)"),
    distance=FloatSlider(0.5, min=-1.5, max=1.5, step=0.05, description="−b/‖w‖"),
    log_scale=FloatSlider(0, min=-1, max=1, step=0.25, description="log₁₀ ‖w‖"),
)


# %% exercise="signed_distance" points=2 minutes=5 difficulty=1 covers="cs480:def2.4 cs480:def2.5 cs480:ex2.6"
def signed_distance(X, w, b):
    """Signed distance of each point from <x, w> + b = 0, and its predicted label.

    X (n, d), n may be 0; w (d,), not zero; b a number.
    Returns (distance (n,), label (n,)); labels are +1 and -1, and sgn(0) = -1.
    X = [[1, 2], [0, 0]], w = [3, 4], b = 0 give ([2.2, 0], [1, -1]).
    """
    ### BEGIN SOLUTION
    score = X @ w + b
    return score / np.linalg.norm(w), np.where(score > 0, 1, -1)
    ### END SOLUTION


# %% check="signed_distance"
check(signed_distance)

# %% covers="cs480:prop2.7 cs480:def2.5 cs480:def2.4 cs480:ex1.3"
with after(signed_distance):
    rng, w, b = np.random.default_rng(2), np.array([2.0, -1.0, 0.5]), 0.7
    # Points of H: the foot of the origin, and any step at right angles to w.
    steps = rng.normal(size=(30, 3))
    steps = steps - np.outer(steps @ w, w) / (w @ w)
    H = -b * w / (w @ w) + steps
    assert np.allclose(signed_distance(H, w, b)[0], 0)
    assert np.allclose((H[1:] - H[0]) @ w, 0)  # w is orthogonal to the boundary
    X = rng.normal(size=(100, 3))
    distance, label = signed_distance(X, w, b)
    assert np.array_equal(label, signed_distance(X, 9 * w, 9 * b)[1])
    assert np.array_equal(label, -signed_distance(X, -w, -b)[1])
    assert np.allclose(np.sign(distance), label)
    d, y = signed_distance(pw.CORNERS, np.array([2.0, 2.0]), -1.0)
    assert np.array_equal(y, pw.LABELS["OR"])
    print("OR, w = (2, 2), b = -1: distances", np.round(d, 3))
    at_zero = signed_distance(np.zeros((1, 2)), np.ones(2), 0.0)[1]
    print(f"the label at score 0: ours {at_zero[0]:g}, NumPy's sign {np.sign(0.0):g}")

# %% [markdown] covers="cs480:2 cs480:alg1 guo:I.5 cs480:2-score"
# ## The algorithm
#
# Wanted: $w$ and $b$ with $y_i(\langle x_i, w\rangle + b) > 0$ for all $i$. Nothing is minimised: any solution will do. This is a *feasibility problem*, a linear programme with objective 0 (how to treat the strict $>$, you will see).
# The perceptron (Rosenblatt 1957) solves it one example at a time.
#
# > Start at $w_0$, $b_0$. In step $t = 0, 1, 2, \dots$ receive a row number $I_t$; let $x, y$ be that row and its label.
# > If $y(\langle x, w\rangle + b) \le 0$ (a **mistake**), set $w \leftarrow w + yx$ and $b \leftarrow b + y$. Else change nothing.
#
# The row numbers may come in order, pass after pass, or at random. A score of exactly 0 counts as a mistake, for both labels: with $< 0$ instead, a start at 0 would never move.
#
# Why this update? Call $y(\langle x, w\rangle + b)$ the **value** of an example: it must be positive. With the new weights, that of the same example is
#
# $$y\big(\langle x, w + yx\rangle + b + y\big) = y\big(\langle x, w\rangle + b\big) + y^2\lVert x\rVert^2 + y^2 = y\big(\langle x, w\rangle + b\big) + \lVert x\rVert^2 + 1 .$$
#
# It rises, always. Is the example right afterwards? Do the others gain too?

# %% covers="cs480:2-score" demo=true
G = pw.signed(pw.MAIL, pw.SPAM)  # rows y_i (x_i, 1): one product gives all six values
path = pw.path_of(G, np.arange(6))
before, later = G @ path[1], G @ path[2]  # the second mistake, on e-mail 2
assert later[1] - before[1] == pw.MAIL[1] @ pw.MAIL[1] + 1
rng = np.random.default_rng(3)
for _ in range(200):
    x, w, (b, y) = rng.normal(size=4), rng.normal(size=4), rng.choice([-1, 1], 2)
    gain = y * (x @ (w + y * x) + b + y) - y * (x @ w + b)
    assert np.isclose(gain, x @ x + 1)
show(*pw.draw_score_gain(before, later, 1))

# %% [markdown] covers="cs480:2"
# So one update can spoil other examples, and it may take several to repair one. That the whole comes to an end is not obvious: the theorem below says when it does.
#
# (A word of history. The press of 1958 was told that the perceptron would one day walk, talk and be conscious. In 1969 Minsky and Papert proved what a single perceptron cannot compute; XOR, below, is the smallest case.
# Their theorems concern *one* trained layer over fixed features. For networks with a hidden layer no good way of training was widely known.)
#
# Write the algorithm, and keep its whole history.


# %% exercise="perceptron" points=4 minutes=12 difficulty=2 covers="cs480:alg1 cs480:2 guo:I.5"
def perceptron(X, y, order, w0, b0):
    """Run the perceptron over the rows named in order.

    X (n, d), y (n,) of +1 and -1. order (T,): row numbers, may be empty.
    w0 (d,), b0 a number. A mistake is y (<x, w> + b) <= 0.
    Returns (W (M + 1, d), b (M + 1,), times (M,)) for M mistakes: the weights at the
    start and after every mistake, and the steps t = 0, 1, … in which they were made.
    X = [[0, 0], [1, 0]], y = [-1, 1], order = [0, 1, 0], w0 = [0, 0], b0 = 0 give
    W = [[0, 0], [0, 0], [1, 0], [1, 0]], b = [0, -1, 0, -1], times = [0, 1, 2].
    """
    ### BEGIN SOLUTION
    w, b = w0, b0
    W, bs, times = [w], [b], []
    for t, i in enumerate(order):
        if y[i] * (X[i] @ w + b) <= 0:
            w, b = w + y[i] * X[i], b + y[i]
            W.append(w)
            bs.append(b)
            times.append(t)
    return np.array(W), np.array(bs), np.array(times, dtype=int)
    ### END SOLUTION


# %% check="perceptron"
check(perceptron)

# %% [markdown] covers="cs480:ex1.2 cs480:ex1.3 cs480:alg1 guo:I.5"
# Now the notes' examples, from $w = 0$, $b = 0$, in order, pass after pass; then with a *random* row in each step, as in guo I.5.
# (There a mistake is $\hat y \ne y$ with $\operatorname{sgn}(0) = -1$. The two rules differ only at a score of 0, where that one lets a negative example pass.)

# %% covers="cs480:ex1.2 cs480:ex1.3 cs480:alg1 guo:I.5"
with after(perceptron):
    OR, XOR = pw.LABELS["OR"], pw.LABELS["XOR"]
    order = np.tile(np.arange(6), 9)
    W, b, times = perceptron(pw.MAIL, pw.SPAM, order, np.zeros(5), 0.0)
    assert len(times) == 4 and [*W[-1], b[-1]] == [0, 2, 0, -1, 1, 0]
    print(f"e-mails: {len(times)} mistakes, new e-mail {W[-1] @ pw.NEW_MAIL + b[-1]:g}")
    W, b, times = perceptron(pw.CORNERS, OR, np.tile(np.arange(4), 9), np.zeros(2), 0.0)
    assert len(times) == 9 and [*W[-1], b[-1]] == [2, 2, -1]
    assert times[-1] // 4 == 4  # the last is in pass 5: pass 6 is silent
    print(f"OR: {len(times)} mistakes, w = {W[-1]}, b = {b[-1]:g}, steps {times}")
    again = perceptron(pw.CORNERS, OR, np.tile(np.arange(4), 9), W[-1], b[-1])
    assert len(again[2]) == 0  # all right: nothing moves any more
    counts = []
    for seed in range(200):
        order = np.random.default_rng(seed).integers(0, 4, 400)
        counts.append(len(perceptron(pw.CORNERS, OR, order, np.zeros(2), 0.0)[2]))
    print(f"OR, random rows: {min(counts)} to {max(counts)} mistakes")
    order = np.random.default_rng(0).integers(0, 4, 4000)
    late = perceptron(pw.CORNERS, XOR, order, np.zeros(2), 0.0)[2]
    assert late[-1] > 3900
    print(f"XOR, random rows: {len(late)} mistakes in 4000 steps, and on it goes")

# %% [markdown] covers="cs480:2-lift"
# ## The bias absorbed
#
# Give every point one more coordinate, a constant 1, and write $z = (x, 1)$, $v = (w, b)$. Then $\langle x, w\rangle + b = \langle z, v\rangle$, and the two updates are one: $v \leftarrow v + yz$.
# Geometrically: the data is lifted to height 1, and a line that need not meet the origin becomes a plane through the origin.
# With $g_i = y_i z_i$ even the labels vanish: **find $v$ with $\langle g_i, v\rangle > 0$ for all $i$**, by adding the $g_i$ that fails.

# %% covers="cs480:2-lift"
with after(perceptron):
    X, y = pw.clouds(0.2)
    order = np.random.default_rng(4).integers(0, len(y), 300)
    W, b, times = perceptron(X, y, order, np.zeros(2), 0.0)
    assert np.array_equal(np.column_stack([W, b]), pw.path_of(pw.signed(X, y), order))
    lengths = np.linalg.norm(pw.lift(X), axis=1)
    assert np.allclose(lengths**2, np.sum(X**2, axis=1) + 1)
    show(*pw.draw_lifted(np.array([2.0, 2.0]), -1.0))

# %% [markdown] covers="cs480:thm2.8"
# ## How many mistakes? Novikoff's theorem
#
# Suppose some unit vector $v^*$ separates the lifted rows: $\langle g_i, v^*\rangle > 0$ for all $i$. Its **margin** is the smallest of these values, $\gamma = \min_i \langle g_i, v^*\rangle$. Let $C = \max_i \lVert z_i\rVert$. Start at $v = 0$.
# Then in any order, forever, the perceptron makes
#
# $$M \le \frac{C^2}{\gamma^2} \quad\text{mistakes.}$$
#
# The proof watches two numbers. A mistake on $g$ means $\langle g, v\rangle \le 0$, and changes $v$ to $v + g$.
#
# 1. $\langle v + g, v^*\rangle = \langle v, v^*\rangle + \langle g, v^*\rangle \ge \langle v, v^*\rangle + \gamma$. So after $M$ mistakes $\langle v, v^*\rangle \ge M\gamma$.
# 2. $\lVert v + g\rVert^2 = \lVert v\rVert^2 + 2\langle g, v\rangle + \lVert g\rVert^2 \le \lVert v\rVert^2 + 0 + C^2$. So $\lVert v\rVert^2 \le MC^2$.
# 3. $\langle v, v^*\rangle \le \lVert v\rVert$, as $\lVert v^*\rVert = 1$. Together: $M\gamma \le \sqrt M\,C$.
#
# A line that grows like $M$ stays below a curve that grows like $\sqrt M$: this cannot last. Each step of the proof, checked on each mistake of your own run:

# %% covers="cs480:thm2.8"
with after(perceptron):
    for X, y in ((pw.MAIL, pw.SPAM), (pw.CORNERS, OR), pw.clouds(0.3)):
        G = pw.signed(X, y)
        best, gamma = pw.widest(G)  # the unit vector of largest margin
        path, passes = pw.settle(perceptron, X, y)
        C, M = np.linalg.norm(G, axis=1).max(), np.arange(len(path))
        g, v, tiny = np.diff(path, axis=0), path[:-1], 1e-9
        assert np.all(g @ best >= gamma - tiny)
        assert np.all(np.sum(g * v, axis=1) <= 0)  # each was a mistake
        grown = np.sum(path[1:] ** 2, axis=1) - np.sum(v**2, axis=1)
        assert np.allclose(grown, 2 * np.sum(g * v, axis=1) + np.sum(g**2, axis=1))
        assert np.all(grown <= C**2 + tiny)
        assert np.all(M * gamma <= path @ best + tiny)
        assert np.all(path @ best <= np.linalg.norm(path, axis=1) + tiny)
        assert np.all(np.linalg.norm(path, axis=1) <= np.sqrt(M) * C + tiny)
        print(f"{M[-1]} mistakes, γ = {gamma:.3f}, C² = {C**2:.3g}", end=", ")
        print(f"bound {C**2 / gamma**2:.0f}")

# %% [markdown] covers="cs480:thm2.8"
# Now a function that gives the bound for a separator $(w, b)$ of any length. Mind what belongs to the lifted problem: $\gamma$ needs a *unit* $v = (w, b)$, and $C$ the lengths of $(x, 1)$.
# Any separator gives a valid bound; the one with the widest margin gives the best. If $(w, b)$ does not separate strictly, the theorem promises nothing: the bound is $\infty$.


# %% exercise="novikoff" points=3 minutes=8 difficulty=2 covers="cs480:thm2.8"
def novikoff(X, y, w, b):
    """Margin, size and mistake bound that the separator (w, b) proves.

    X (n, d), y (n,) of +1 and -1, w (d,), b a number, (w, b) not zero.
    Returns (gamma, C, bound): gamma the smallest y_i <z_i, v> for the unit vector v
    along (w, b), where z_i = (x_i, 1); C the largest length of a z_i;
    bound = C² / gamma² if gamma > 0, else infinity.
    X = [[2], [-1]], y = [1, -1], w = [3], b = 0 give (1, sqrt(5), 5).
    """
    ### BEGIN SOLUTION
    gamma = np.min(y * (X @ w + b)) / np.sqrt(w @ w + b**2)
    C = np.sqrt(np.max(np.sum(X**2, axis=1)) + 1)
    return gamma, C, (C / gamma) ** 2 if gamma > 0 else np.inf
    ### END SOLUTION


# %% check="novikoff"
check(novikoff)

# %% covers="cs480:thm2.8"
with after(perceptron, novikoff):
    gamma, C, bound = novikoff(pw.CORNERS, OR, np.array([2.0, 2.0]), -1.0)
    assert np.allclose([gamma, C**2, bound], [1 / 3, 3, 27])
    w = np.array([0, 1.0, 0, -1, 1])  # the widest separator of the e-mails, b = 0
    assert np.allclose(novikoff(pw.MAIL, pw.SPAM, w, 0.0), [3**-0.5, 5**0.5, 15])
    mistakes, bounds, rng = [], [], np.random.default_rng(5)
    for seed in range(200):
        X, y = pw.clouds(rng.uniform(0.05, 1.5), n=30, seed=seed)
        best, margin = pw.widest(pw.signed(X, y))
        path, passes = pw.settle(perceptron, X, y)
        mistakes.append(len(path) - 1)
        bounds.append(novikoff(X, y, best[:2], best[2])[2])
        assert mistakes[-1] <= bounds[-1]
        assert np.isclose(bounds[-1], novikoff(X, y, 7 * best[:2], 7 * best[2])[2])
    large = 10 * pw.CORNERS
    best, _ = pw.widest(pw.signed(large, OR))
    assert np.isclose(novikoff(large, OR, best[:2], best[2])[2], 217.08)
    show(*pw.draw_bounds(mistakes, bounds))

# %% covers="cs480:thm2.8" demo=true
G = np.diag(np.random.default_rng(14).choice([-1.0, 1.0], 64))
made = len(pw.path_of(G, np.random.default_rng(15).integers(0, 64, 2000))) - 1
assert made == 64 and np.isclose(1 / pw.widest(G)[1] ** 2, 64)
predict(
    "64 e-mails and 64 words: the i-th e-mail holds word i alone. Labels at random, "
    "no bias. How many mistakes from w = 0?",
    ["about 8", "exactly 64", "about 500", "it never ends"],
    truth=1,
    because="Each example touches its own weight, so each is wrong exactly once. "
    "The vector of labels over 8 has length 1 and margin 1/8: C²/γ² = 64. "
    "So the bound cannot be improved in general.",
)

# %% [markdown] covers="cs480:thm2.8 cs480:2"
# **Find out with the stepper.** Left: the classifier after so many mistakes (old lines dashed). Right, on logarithmic axes: $\langle v, v^*\rangle$ and $\lVert v\rVert$ run between the envelopes $M\gamma$ and $\sqrt M\,C$, which cross at the bound (star).
# (1) Step through OR and the e-mails: how far before the star does the run stop? (2) Two clouds: close the gap from 1 to 0.05. What does it do to the bound, and what to the mistakes?
# (3) Does a random order change the bound? The count? (4) XOR: which envelope is left?
#
# Three things that the theorem does *not* say. It bounds mistakes, not steps: a mean teacher may show right examples for a thousand years. It needs the start $v = 0$: a start far on the wrong side costs more.
# And $\gamma$ is known only to whoever knows a separator; watching a run, you cannot tell whether the bound is near.

# %% covers="cs480:thm2.8 cs480:2 guo:I.5"
with after(perceptron):
    explore(
        pw.stepper(perceptron),
        data=Dropdown(
            options=["OR", "e-mails", "two clouds", "XOR"], description="data"
        ),
        order=ToggleButtons(options=["cyclic", "random"], value="cyclic"),
        gap=FloatSlider(
            0.4,
            min=0.05,
            max=1,
            step=0.05,
            description="gap of the clouds",
            continuous_update=False,
        ),
        mistakes=IntSlider(
            9, min=0, max=60, description="mistakes M", continuous_update=False
        ),
    )

# %% [markdown] written="millimetres" points=2 minutes=5 covers="cs480:thm2.8"
# A colleague's features were in centimetres and are now in millimetres: every $x_i$ is multiplied by 10. He says: "All distances are ten times as large, so the margin is, and Novikoff's bound falls to a hundredth."
# Where is the mistake? Would the bound stay *exactly* the same? Argue with $C$, $\gamma$ and the lifted 1. (For OR the best bounds are 27 before and 217 after.)
#
# ### BEGIN SOLUTION
# $C$ grows as well. Without a bias, $C$ and $\gamma$ both become ten times as large, so $C^2/\gamma^2$ does not change at all: the bound depends on the ratio only.
# With the bias absorbed, the rows are $(10x, 1)$, not $10\,(x, 1)$: the constant coordinate does not scale, so the lifted data changes its shape and the bound changes too. It can rise: to place the boundary at the same spot, $b$ must be ten times as large compared
# with $w$, and $v = (w, b)$ is measured as a whole. For OR it rises from 27 to 217. (Scaling the constant as well, to 10, gives 27 again.)
#
# **Rubric**
# - 1: C grows by (about) the same factor, so the ratio does not fall to a hundredth.
# - 1: the lifted 1 is not scaled, so the bound is not exactly the same.
# ### END SOLUTION

# %% [markdown] covers="cs480:rem2.9"
# ## Which line?
#
# The perceptron stops at the first line that separates. Another order, another line. Which one would you trust with new data? Those with a small margin pass close to training points.
# The widest line asks for $\max\gamma$ instead of any $\gamma > 0$. It is unique, does not depend on the order, and is the subject of `04_margins_and_kernels/01_margins_and_hulls`. Here are a hundred orders of the same forty points.
# (The margin of a *line* is a distance in the plane: we divide by $\lVert w\rVert$. The theorem's $\gamma$ divides by the length of the whole $v = (w, b)$. For OR the best are 0.354 and 1/3.)

# %% covers="cs480:rem2.9"
with after(perceptron):
    from sklearn.svm import SVC

    X, y = pw.clouds(0.5, seed=3)
    lines = []
    for seed in range(100):
        shuffled = np.random.default_rng(seed).permutation(len(y))
        lines.append(pw.settle(perceptron, X[shuffled], y[shuffled])[0][-1])
    svm = SVC(kernel="linear", C=1e6, tol=1e-6).fit(X, y)
    widest_line = np.append(svm.coef_, svm.intercept_)

    def margin(v):
        return np.min(pw.signed(X, y) @ v) / np.linalg.norm(v[:2])

    assert all(0 < margin(v) <= margin(widest_line) * (1 + 1e-4) for v in lines)
    corner = SVC(kernel="linear", C=1e6).fit(pw.CORNERS, OR)
    assert np.allclose(corner.coef_, [2, 2], atol=0.01)  # b = -1: margin 0.354
    show(*pw.draw_orders(X, y, np.array(lines), widest_line))

# %% [markdown] covers="cs480:2-opt"
# ## The same run, seen as gradient descent
#
# Let $s = y\langle z, v\rangle$ be the value of an example. The **perceptron loss** is $\ell = \max(-s, 0)$: nothing if right, $-s$ if wrong. Its gradient in $v$ is $-yz$ for $s < 0$ and $0$ for $s > 0$.
# One step of stochastic gradient descent of rate $\eta$ on one example, $v \leftarrow v + \eta\,yz$ on a mistake, is the perceptron update for $\eta = 1$.
#
# At the kink $s = 0$ there is no gradient, and any $-c\,yz$ with $0 \le c \le 1$ is a *subgradient* (the slope of a line that stays below the function). The perceptron takes $c = 1$.

# %% covers="cs480:2-opt" demo=true
z, v = torch.tensor([1.0, 2.0, 1.0]), torch.zeros(3, requires_grad=True)
torch.relu(-(z @ v)).backward()
assert torch.all(v.grad == 0)
predict(
    "In torch: loss = relu(-y <z, v>), start v = 0, SGD with rate 1. What happens?",
    ["the perceptron's run", "v never moves", "v diverges"],
    truth=1,
    because="torch takes the subgradient 0 at the kink, and at v = 0 every value is 0. "
    "The loss is already 0, its minimum, though no example is classified. "
    "The mistake rule 's <= 0' is the choice c = 1.",
    then=pw.draw_losses,
)

# %% covers="cs480:2-opt"
with after(perceptron):
    X, y = pw.clouds(0.2)
    G, order = pw.signed(X, y), np.tile(np.arange(40), 5)

    def sgd(eta):
        v, path = np.zeros(3), [np.zeros(3)]
        for i in order:
            slope = -1.0 if G[i] @ v <= 0 else 0.0  # in s; -1 at the kink
            v = v - eta * slope * G[i]
            if slope:
                path.append(v)
        return np.array(path)

    W, b, _ = perceptron(X, y, order, np.zeros(2), 0.0)
    assert np.array_equal(sgd(1.0), np.column_stack([W, b]))
    assert np.array_equal(sgd(0.25), sgd(1.0) / 4)  # from 0 the rate is only a unit
    print("SGD with rate 1 and 1/4: the perceptron's run, in other units")

# %% covers="cs480:2-opt cs480:8-perc" demo=true
X, y = pw.clouds(0.2)
G, rng, v = pw.signed(X, y), np.random.default_rng(6), np.array([1.0, -1.0, 0.3])


def loss(v):
    return np.maximum(-G @ v, 0).mean()


slope = -(G * (G @ v <= 0)[:, None]).mean(axis=0)
for u in v + rng.normal(size=(200, 3)):  # a subgradient: a line below the loss
    assert loss(u) >= loss(v) + slope @ (u - v) - 1e-12
# One random row has this slope on average: SGD walks like gradient descent, with noise.
drawn = rng.integers(0, 40, 20_000)
rows = -G[drawn] * (G[drawn] @ v <= 0)[:, None]
error = rows.std(axis=0) / np.sqrt(20_000)
assert np.all(np.abs(rows.mean(axis=0) - slope) < 5 * error)
print("slope of the mean loss           ", np.round(slope, 2))
print("mean slope of 20 000 random rows", np.round(rows.mean(axis=0), 2))

# %% [markdown] covers="guo:I.5.a"
# Two lessons. The loss has a *trivial* minimum: $v = 0$ costs nothing. (So minimising it is not the same as classifying well; the hinge, $\max(1 - s, 0)$, asks for a value of at least 1. More in `04_margins_and_kernels/03_soft_margin_and_smo`.)
# And from $v = 0$ a constant rate does not matter: it scales $v$ and changes no prediction.
#
# ### A relative: logistic regression with a hard threshold
#
# Take labels $y \in \{0, 1\}$ and rows $x$ that hold the constant 1 already. Logistic regression (the next notebook) models the chance of label 1 by $p = \operatorname{logistic}(\langle x, w\rangle) = 1/(1 + e^{-\langle x, w\rangle})$, and climbs its log-likelihood by steps of rate 1 on one row:
#
# $$w \leftarrow w + (y - p)\,x .$$
#
# It is the diagram of one neuron: weigh, add, squash. Now squash *hard*: $p = \mathbb 1[\langle x, w\rangle > 0]$. What can $y - p$ be?


# %% exercise="logistic_step" points=2 minutes=5 difficulty=1 covers="guo:I.5.a"
def logistic_step(w, x, y, hard):
    """One step of rate 1 on one row, soft or hard.

    w, x (d,), y 0 or 1, hard a boolean. p = 1 / (1 + exp(-<x, w>)), or with
    hard=True p = 1[<x, w> > 0]. Returns w + (y - p) x (d,); w stays as it is.
    w = [0, 0], x = [1, 2], y = 1 give [0.5, 1] soft and [1, 2] hard.
    """
    ### BEGIN SOLUTION
    score = x @ w
    p = float(score > 0) if hard else 1 / (1 + np.exp(-score))
    return w + (y - p) * x
    ### END SOLUTION


# %% check="logistic_step"
check(logistic_step)

# %% covers="guo:I.5.a"
with after(logistic_step):
    rng = np.random.default_rng(7)
    seen = set()
    for _ in range(1000):
        w, x, y = rng.normal(size=3), rng.normal(size=3), rng.choice([-1, 1])
        guess = 1 if x @ w > 0 else -1
        step = logistic_step(w, x, (y + 1) / 2, True) - w
        assert np.allclose(step, y * x if guess != y else 0 * x)
        # with labels and outputs ±1 the same formula would move twice as far
        assert np.allclose((y - guess) * x, 2 * step)
        seen.add(round(float(step[0] / x[0])))
    assert seen == {-1, 0, 1}
    hard, ours = np.zeros(3), np.zeros(3)
    for i in np.random.default_rng(8).integers(0, 4, 60):  # one stream, two runs
        x, y = pw.lift(pw.CORNERS)[i], pw.LABELS["OR"][i]
        hard = logistic_step(hard, x, (y + 1) / 2, True)
        ours = ours + y * x * ((x @ ours > 0) != (y > 0))
        assert np.array_equal(hard, ours)
    assert hard[2] == 0  # the score of (0, 0): this rule lets it pass
    print("hard steps are multiples", sorted(seen), "of x; on OR both end at", hard)

# %% [markdown] covers="cs480:ex2.10"
# ## Can it be done at all?
#
# XOR has the labels $-, +, +, -$. You could never satisfy more than three conditions. Proof: the four conditions are
#
# $$-b > 0,\qquad w_1 + b > 0,\qquad w_2 + b > 0,\qquad -(w_1 + w_2 + b) > 0 .$$
#
# Add all four: the left sides cancel, and $0 > 0$ is false. *The proof is a list of weights, $\lambda = (1, 1, 1, 1)$, with which the conditions add up to nothing.* Such a list always exists when no line does (Gordan's theorem):
#
# > Exactly one is true. **Either** some $v$ has $\langle g_i, v\rangle > 0$ for all $i$, **or** some $\lambda$ with $\lambda_i \ge 0$ and $\sum_i \lambda_i = 1$ has $\sum_i \lambda_i g_i = 0$.
#
# Not both: then $0 = \langle\sum \lambda_i g_i, v\rangle = \sum\lambda_i\langle g_i, v\rangle > 0$. Not neither: the $\sum\lambda_i g_i$ with $\lambda \ge 0$, $\sum_i\lambda_i = 1$ fill a convex polytope; if 0 is not in it, its point $v$ nearest to 0 separates, as every point $p$ of it has $\langle p, v\rangle \ge \lVert v\rVert^2$.
# Read with $g_i = y_i(x_i, 1)$, the second case says that the convex hulls of the two classes meet.
#
# Both cases are **linear programmes**, and a solver decides them. A solver knows $\ge$ but not $>$. How do you ask for $> 0$? (If $v$ separates, so does $1000\,v$.)

# %% covers="cs480:ex2.10" demo=true
G = pw.signed(pw.CORNERS, pw.LABELS["XOR"])
assert np.array_equal(np.ones(4) @ G, np.zeros(3))  # the certificate
rng, held = np.random.default_rng(9), []
for v in rng.normal(size=(5000, 3)):
    held.append(int(np.sum(G @ v > 0)))
assert max(held) == 3
print("most conditions of XOR satisfied by 5000 random lines:", max(held))


# %% exercise="separable" points=4 minutes=13 difficulty=3 covers="cs480:ex2.10"
def separable(X, y):
    """Whether some line separates the classes strictly, with a proof either way.

    X (n, d), y (n,) of +1 and -1. Let g_i = y_i (x_i, 1).
    Returns (True, v) with v (d + 1,), the weights and last the bias: <g_i, v> > 0 for
    all i; or (False, lam) with lam (n,) >= 0, summing to 1: sum_i lam_i g_i = 0.
    Any valid proof will do. Use scipy.optimize.linprog, imported above.
    X = [[0], [1], [2]], y = [1, -1, 1] give (False, [0.25, 0.5, 0.25]).
    """
    ### BEGIN SOLUTION
    G = np.column_stack([X, np.ones(len(X))]) * y[:, None]
    n, D = G.shape
    balance = np.vstack([G.T, np.ones(n)])
    certificate = linprog(np.zeros(n), A_eq=balance, b_eq=np.append(np.zeros(D), 1))
    if certificate.status == 0:
        return False, certificate.x
    v = linprog(np.zeros(D), A_ub=-G, b_ub=-np.ones(n), bounds=(None, None))
    return True, v.x
    ### END SOLUTION


# %% check="separable"
check(separable)

# %% covers="cs480:ex2.10"
with after(separable):
    for name, y in pw.LABELS.items():
        verdict, proof = separable(pw.CORNERS, y)
        assert verdict == (name != "XOR")
        print(f"{name}: separable {verdict}")
    assert np.allclose(proof, 1 / 4)  # XOR's certificate
    iris = data.iris()
    for k, name in enumerate(["setosa", "versicolor", "virginica"]):
        verdict, _ = separable(iris.X, np.where(iris.y == k, 1.0, -1.0))
        print(f"{name} against the rest: separable {verdict}")

# %% [markdown] covers="cs480:thm2.11"
# ## Without a line: the run never ends
#
# If the classes are not separable, some example is wrong at every moment, so a run that keeps visiting all rows makes mistakes forever. What does $v$ do? It does not run away: **the lengths $\lVert v\rVert$ stay bounded** (Block and Levin 1970; the proof is long).
# For data of *whole or rational numbers* more follows: $v$ moves on a grid, a bounded part of a grid has finitely many points, so in a cyclic order some pair (point, place in the pass) must come back, and from then on the run **cycles**.
#
# With real numbers a bounded run need not ever repeat. Take $x = 0, 1, \sqrt2$ with labels $+, -, +$. If $v$ came back, the updates in between would add up to 0: counts $m_1, m_2, m_3$ of mistakes with $m_3\sqrt2 = m_2$ and $m_1 + m_3 = m_2$.
# $\sqrt2$ is irrational, so all counts are 0. The notes' "cycles" is true of whole numbers; for real ones, read "stays bounded".

# %% covers="cs480:thm2.11"
with after(perceptron):
    XOR = pw.LABELS["XOR"]
    W, b, _ = perceptron(pw.CORNERS, XOR, np.tile(np.arange(4), 4), np.zeros(2), 0.0)
    xor_path = np.column_stack([W, b])
    assert np.array_equal(xor_path[4], [0, 0, 0]) and len(xor_path) == 17
    assert np.array_equal(xor_path[4:8], xor_path[:4])  # home after one pass
    roots = np.array([[0.0], [1.0], [np.sqrt(2)]])
    signs, order = np.array([1.0, -1.0, 1.0]), np.tile(np.arange(3), 1000)
    W, b, _ = perceptron(roots, signs, order, np.zeros(1), 0.0)
    endless = np.column_stack([W, b])
    different = len(np.unique(np.round(endless, 9), axis=0))
    assert different == len(endless) and np.linalg.norm(endless, axis=1).max() < 2
    rows = data.iris().y > 0
    flowers = data.iris().X[rows]
    X = np.round(10 * (flowers - flowers.mean(axis=0)))  # whole millimetres
    y = np.where(data.iris().y[rows] == 1, 1.0, -1.0)
    assert pw.widest(pw.signed(X, y)) is None  # no line separates the two species
    W, b, _ = perceptron(X, y, np.tile(np.arange(100), 300), np.zeros(4), 0.0)
    C = np.linalg.norm(pw.lift(X), axis=1).max()
    print(f"0, 1, √2: {len(endless) - 1} mistakes, {different} different states")
    show(*pw.draw_cycles(xor_path, np.column_stack([W, b]), C))

# %% [markdown] covers="cs480:2-soft"
# ## When to stop
#
# On data that is not separable we must end the run ourselves. Four rules: stop after so many passes; after so much time; when the training error no longer changes; when the **validation error** (on rows put aside) no longer falls. In code they look at the history of the run. Time is an argument like any other. Here it counts rows looked at, so that every machine stops at the same place.
#
# The other way out is to allow mistakes, at a price: minimise $\frac1n\sum_i \ell(s_i) + \operatorname{reg}(w)$, a loss of the values $s_i = y_i(\langle x_i, w\rangle + b)$ plus a regulariser such as $\lambda\lVert w\rVert^2$ (`01_regression/03_ridge_and_lasso`).
# Which loss? Not the perceptron's: at $w = 0, b = 0$ it is 0, the regulariser too, and nothing can be lower. The minimiser knows nothing of the data. Hinge and logistic loss charge $v = 0$. The first cell tests this claim on three measurements of 569 tumours, the second writes the four rules, the third runs them.

# %% covers="cs480:2-soft" demo=true
tumours, pick = data.breast_cancer(), [0, 1, 4]  # mean radius, texture and smoothness
X = tumours.X[:, pick]
X = pw.steps_of((X - X.mean(axis=0)) / X.std(axis=0))
G = pw.signed(X, 2.0 * tumours.y - 1)[np.random.default_rng(10).permutation(569)]
tries = np.random.default_rng(16).normal(size=(2000, 4))
penalty = 0.01 * np.sum(tries[:, :3] ** 2, axis=1)  # on w, not on b
bare = np.maximum(-tries @ G.T, 0).mean(axis=1) + penalty
hinge = np.maximum(1 - tries @ G.T, 0).mean(axis=1) + penalty
assert bare.min() > 0  # v = 0 has 0
assert hinge.min() < 1  # v = 0 has 1
print(f"with penalty, lowest of 2000 random v: perceptron {bare.min():.2f}", end=", ")
print(f"hinge {hinge.min():.2f}; at v = 0: 0 and 1")


# %% covers="cs480:2-soft" demo=true
def should_stop(history, rule, limit=0, patience=5, tol=0.0):
    """Whether a rule ends the run. history: dict of lists, one entry a pass."""
    if rule in ("passes", "clock"):
        return history[rule][-1] >= limit
    errors = history[rule]
    if len(errors) <= patience:
        return False
    if rule == "training":  # as good as constant over the last passes
        return np.ptp(errors[-patience - 1 :]) <= tol
    return min(errors[-patience:]) >= min(errors[:-patience])  # no new best


falling = dict(passes=[1, 2, 3], training=[0.3, 0.2, 0.1], validation=[0.3, 0.2, 0.1])
flat = dict(passes=[1, 2, 3], training=[0.1, 0.1, 0.1], validation=[0.2, 0.3, 0.3])
assert should_stop(falling, "passes", limit=3)
assert not should_stop(falling, "passes", limit=4)
for rule in ("training", "validation"):
    assert should_stop(flat, rule, patience=2)
    assert not should_stop(falling, rule, patience=2)
    assert not should_stop(flat, rule, patience=3)  # too early to tell

# %% covers="cs480:2-soft" demo=true
rules = {
    "30 passes": dict(rule="passes", limit=30),
    "6000 rows seen": dict(rule="clock", limit=6000),
    "training static": dict(rule="training", patience=3, tol=0.02),
    "validation": dict(rule="validation", patience=5),
}
v, stops = np.zeros(4), {}
history = dict(passes=[], clock=[], training=[], validation=[])
for number in range(1, 41):
    v, _ = pw.run(G[:300], 1, v)
    errors = np.mean(G[:300] @ v <= 0), np.mean(G[300:] @ v <= 0)
    for key, value in zip(history, (number, 300 * number, *errors)):
        history[key].append(value)
    for name, settings in rules.items():
        if name not in stops and should_stop(history, **settings):
            stops[name] = number
show(*pw.draw_stops(history["training"], history["validation"], stops))

# %% [markdown] covers="cs480:2-soft cs480:2-ova cs480:2-ovo"
# The errors jump, by a third from one pass to the next: a perceptron's last $v$ is as good as its last few mistakes, and a good stop is partly luck. Safer: *keep the best $v$ seen* (the "pocket"), or *average all $v$ along the run*, which we do at the end.
#
# ## Many classes
#
# Classes $0, \dots, c - 1$. Two ways to make one classifier from classifiers for two:
#
# - **one-vs-all**: for each class $k$ train $v_k$ with $k$ positive and all others negative: $c$ unbalanced problems. Predict $\arg\max_k \langle z, v_k\rangle$.
# - **one-vs-one**: for each pair $k < l$ train $v_{k,l}$ on the rows of $k$ (positive) and $l$ (negative) alone: $c(c-1)/2$ smaller problems, balanced if the classes are. Each casts a **vote**: for $k$ if $\langle z, v_{k,l}\rangle > 0$, else for $l$. Predict the class with most votes.
#
# The notes print a sum of raw scores for the second, $\arg\max_k\sum_{l\ne k}\langle z, v_{k,l}\rangle$ with $v_{l,k} = -v_{k,l}$, and call it a majority vote. It is none: a long vector counts more. Which of the three rules survive a change of length?
#
# **Find out below.** Four clouds, class 3 between the others. Hatched: one-vs-all claims a point for no class or for several; one-vs-one has a tie.
# (1) Which clouds can a line split from all others? (2) Move the passes from 40 to 45 for one-vs-all and for one-vs-one. Which rule has settled? (3) Make *one* vector 10 times as long or short (that of class 0, or of the pair 0, 1). Which rule does not notice?

# %% covers="cs480:2-ova cs480:2-ovo" demo=true
explore(
    pw.class_maps(*pw.four_clouds()),
    rule=Dropdown(
        options=["one-vs-all", "one-vs-one", "one-vs-one, sums"],
        value="one-vs-all",
        description="rule",
    ),
    passes=IntSlider(42, min=1, max=60, description="passes", continuous_update=False),
    log_scale=FloatSlider(
        0,
        min=-1.5,
        max=1.5,
        step=0.25,
        description="log₁₀ factor",
        continuous_update=False,
    ),
)


# %% exercise="ovo_predict" points=3 minutes=12 difficulty=3 covers="cs480:2-ovo"
def ovo_predict(fit, X, labels, new):
    """Votes of one-vs-one, and the winning class.

    fit: a function; fit(A, s) returns (w, b) for rows A (r, d) and labels s (r,) of ±1.
    X (n, d), labels (n,) integers 0 … c - 1, each occurring. new (m, d).
    For each pair k < l fit the rows of k (+1) and l (-1), in their order in X. A new
    point votes for k where its score <x, w> + b is above 0, else for l.
    Returns (votes (m, c), winners (m,)); a tie goes to the lowest class number.
    X = [[1], [2], [9]], labels = [0, 1, 2], new = [[0]] and a fit that finds the point
    halfway give votes [[2, 1, 0]] and winners [0].
    """
    ### BEGIN SOLUTION
    c = labels.max() + 1
    votes = np.zeros((len(new), c), dtype=int)
    for k in range(c):
        for l in range(k + 1, c):
            rows = (labels == k) | (labels == l)
            w, b = fit(X[rows], np.where(labels[rows] == k, 1, -1))
            for_k = new @ w + b > 0
            votes[:, k] += for_k
            votes[:, l] += ~for_k
    return votes, votes.argmax(axis=1)
    ### END SOLUTION


# %% check="ovo_predict"
check(ovo_predict)

# %% covers="cs480:2-ovo cs480:2-ova"
with after(ovo_predict):
    X, labels = pw.four_clouds()
    new, factor, calls = np.random.default_rng(11).uniform(-3, 3, (300, 2)), [1.0], []

    def fit(A, s):
        calls.append(len(A))
        v = pw.run(pw.signed(A, s), 30)[0] * factor[0]
        return v[:-1], v[-1]

    votes, winners = ovo_predict(fit, X, labels, new)
    assert len(calls) == 6 and np.all(votes.sum(axis=1) == 6)  # c (c - 1) / 2 = 6
    assert np.all(votes.max(axis=1) <= 3)  # a class takes part in c - 1 votes
    factor[0] = 1000.0
    assert np.array_equal(votes, ovo_predict(fit, X, labels, new)[0])  # no length
    models = pw.one_vs_one(X, labels, 30)
    raw = pw.tallies(models, new, 4, raw=True).argmax(axis=1)
    assert np.any(raw != winners)
    # two classes: one-vs-all is the binary perceptron, twice, with opposite signs
    two = labels < 2
    alone = pw.one_vs_all(X[two], labels[two], 30)
    assert np.array_equal(alone[0], -alone[1])
    print(f"votes and sums disagree on {np.mean(raw != winners):.0%} of 300 points")

# %% [markdown] covers="cs480:ex2.10 cs480:2-ovo cs480:2-ova"
# ## On real data
#
# **Tumours.** 569 tumours, 30 measurements each, benign or malignant (`data.breast_cancer`). Standardised, and rounded to 1/64 so that every machine makes the same mistakes. Is it separable? Watch the perceptron for 300 passes; then ask your linear programme.
# In the second half, 300 tumours train and 269 test, and the *average* of $v$ over 30 passes (one term a pass) meets the last $v$, over 20 random orders.

# %% covers="cs480:ex2.10"
with after(separable):
    X = (tumours.X - tumours.X.mean(axis=0)) / tumours.X.std(axis=0)
    X, y = pw.steps_of(X), 2.0 * tumours.y - 1
    G = pw.signed(X, y)
    v, counts = pw.run(G, 300)
    verdict, proof = separable(X, y)
    best, gamma = pw.widest(G)
    bound = np.max(np.sum(G**2, axis=1)) / gamma**2
    print(f"perceptron: {sum(counts)} mistakes in 300 passes, {counts[-1]} in the last")
    print(f"linear programme: separable {verdict}, errors {np.sum(G @ proof <= 0)}")
    print(f"widest margin {gamma:.4f}, Novikoff's bound {bound:.1e}")
    last, mean = [], []
    for seed in range(20):
        rows = G[np.random.default_rng(seed).permutation(569)]
        path = [np.zeros(31)]
        for _ in range(30):
            path.append(pw.run(rows[:300], 1, path[-1])[0])
        last.append(np.mean(rows[300:] @ path[-1] <= 0))
        mean.append(np.mean(rows[300:] @ np.mean(path, axis=0) <= 0))
    assert 0 < np.mean(mean) < np.mean(last) and min(last + mean) > 0
    print(f"test error: last v {np.mean(last):.3f}, averaged v {np.mean(mean):.3f}")

# %% [markdown] covers="cs480:ex2.10"
# A run that has not stopped after 300 passes proves nothing; the $v$ of the linear programme is a proof. And separable is not the same as *learned*: on new rows every one of these lines makes mistakes, the averaged one fewer than the last.
#
# **Digits.** 1797 handwritten digits of 8 × 8 pixels, 1000 to train. One-vs-all needs ten perceptrons on all rows, one-vs-one 45 perceptrons on a fifth of the rows each: $c\,n$ against $(c - 1)\,n$ rows a pass. In a one-vs-all problem only one row in ten is positive: watch which label it gets wrong.
# Each gets 20 passes at most. Before you run it: which of the three rules wins, and how many of the ten one-vs-all problems can be settled at all?

# %% covers="cs480:2-ova cs480:2-ovo"
with after(separable, ovo_predict):
    digits = data.digits()
    X, y = digits.X / 16, digits.y
    order = np.random.default_rng(0).permutation(1797)
    new, truth = X[order[1000:]], y[order[1000:]]
    X, y = X[order[:1000]], y[order[:1000]]
    settled = []
    for k in range(10):
        one = np.where(y == k, 1.0, -1.0)
        settled.append([separable(X, one)[0], sum(pw.run(pw.signed(X, one), 20)[1])])
    looked, pairs = [], []

    def fit(A, s):
        v, counts = pw.run(pw.signed(A, s), 20)
        looked.append(len(A))
        pairs.append(counts)
        return v[:-1], v[-1]

    winners = ovo_predict(fit, X, y, new)[1]
    assert len(looked) == 45 and sum(looked) == 9 * 1000
    assert all(counts[-1] == 0 for counts in pairs)  # all pairs settle
    alone = pw.lift(new) @ pw.one_vs_all(X, y, 20).T
    own = truth[:, None] == np.arange(10)
    missed, taken = np.mean(alone[own] <= 0), np.mean(alone[~own] > 0)
    print(f"one-vs-all: wrong on {missed:.1%} of positives, {taken:.1%} of negatives")
    raw = pw.tallies(pw.one_vs_one(X, y, 20), new, 10, raw=True)
    errors = {
        "one-vs-all": np.mean(alone.argmax(axis=1) != truth),
        "one-vs-one, votes": np.mean(winners != truth),
        "one-vs-one, sums": np.mean(raw.argmax(axis=1) != truth),
    }
    print(f"mistakes: one-vs-all {sum(m for _, m in settled)}, one-vs-one", end=" ")
    print(sum(sum(counts) for counts in pairs))
    show(*pw.draw_digits(np.array(settled, float), errors))

# %% [markdown] covers="cs480:2 cs480:thm2.8 cs480:thm2.11 cs480:2-opt"
# ## Take-aways
#
# - A linear classifier is a direction $w$ and an offset $b$; a common positive factor changes nothing. The signed distance is score$/\lVert w\rVert$.
# - The perceptron changes only on mistakes. From $v = 0$, in any order, it makes at most $C^2/\gamma^2$ of them: e-mails 4 (bound 15), OR 9 (bound 27). All lengths are those of the lifted rows.
# - It finds *a* line. Which one depends on the order; the widest is another problem.
# - It is SGD on $\max(-s, 0)$ with the slope $-1$ at the kink, and logistic regression with a hard threshold.
# - Separable or not is decided by a linear programme, with a proof either way. A run that has not stopped decides nothing.
# - Without a separator the run never ends, stays bounded, and cycles on whole numbers (XOR: home after 4 mistakes). Stop by validation, or average.
# - Many classes: one-vs-one counts *votes*; adding raw scores lets the longest vector decide. One-vs-all is unbalanced, and misses the rare label more often.
#
# ## What the notes got wrong
#
# First the algorithm and its proof, then XOR, then the vote and the form of 1957, then slips of notation.

# %% covers="cs480:alg1 cs480:thm2.8 cs480:2-score" demo=true
G, order = pw.signed(pw.CORNERS, pw.LABELS["OR"]), np.tile(np.arange(4), 20)
strict = np.zeros(3)
for i in order:
    strict = strict + G[i] * (G[i] @ strict < 0)
run = pw.path_of(G, order)
erratum(
    "cs480:alg1",
    r"the weights change when the score is $< 0$ (the text beside the algorithm)",
    r"when $y(\langle x, w\rangle + b) \le 0$, as the algorithm has it: from "
    r"$w = 0$, $b = 0$ the strict rule never moves",
    printed_holds=np.all(G @ strict > 0),
    corrected_holds=np.all(G @ run[-1] > 0),
)
x, y, w, b = pw.CORNERS[3], 1.0, np.array([-3.0, 1.0]), 0.0


def label(w, b):
    return 1.0 if x @ w + b > 0 else -1.0


erratum(
    "cs480:2-score",
    r"score $:= y\hat y$ with $\hat y = \mathrm{sgn}(\langle x, w\rangle + b)$, "
    r"which an update raises by $\lVert x\rVert^2 + 1$",
    r"score $:= y(\langle x, w\rangle + b)$, without the sign",
    printed_holds=y * label(w + y * x, b + y) - y * label(w, b) == x @ x + 1,
    corrected_holds=y * (x @ (w + y * x) + b + y) - y * (x @ w + b) == x @ x + 1,
)
v, g = run[2], run[3] - run[2]
grown = (v + g) @ (v + g) - v @ v
erratum(
    "cs480:thm2.8",
    r"$\langle w + yx, w + yx\rangle = \langle w, w\rangle + 2y\langle w, x\rangle "
    r"+ y^2\langle w, w\rangle$",
    r"the last term is $y^2\langle x, x\rangle$",
    printed_holds=np.isclose(grown, 2 * v @ g + v @ v),
    corrected_holds=np.isclose(grown, 2 * v @ g + g @ g),
)
C2, steps = np.max(np.sum(G**2, axis=1)), np.diff(run, axis=0)
cross, square = 2 * np.sum(steps * run[:-1], axis=1), np.sum(steps**2, axis=1)
erratum(
    "cs480:thm2.8",
    r"$2y\langle w, x\rangle < 0$ and $2y\langle w, x\rangle + y^2\lVert x\rVert^2 "
    r"\in [0, C^2]$ (the two braces)",
    r"$2y\langle w, x\rangle \le 0$ (0 at the start) and $\lVert x\rVert^2 \in "
    r"[0, C^2]$; the sum is at most $C^2$ and may be negative",
    printed_holds=np.all((cross < 0) & (cross + square >= 0)),
    corrected_holds=np.all((cross <= 0) & (square <= C2) & (cross + square <= C2)),
)

# %% covers="cs480:thm2.8 cs480:thm2.11" demo=true
bound = C2 / pw.widest(G)[1] ** 2
erratum(
    "cs480:thm2.8",
    r"converges after $C^2/\gamma^2$ mistakes",
    r"after at most $C^2/\gamma^2$ mistakes (OR: 9, bound 27)",
    printed_holds=len(run) - 1 == round(bound),
    corrected_holds=len(run) - 1 <= bound,
)
tiny_x, tiny_y = np.array([[0.1], [-0.1]]), np.array([1.0, -1.0])
tiny_G = pw.signed(tiny_x, tiny_y)
made = len(pw.path_of(tiny_G, np.tile([0, 1], 50))) - 1
lifted = np.max(np.sum(tiny_G**2, axis=1)) / pw.widest(tiny_G)[1] ** 2
erratum(
    "cs480:thm2.8",
    r"$C$ and $\gamma$ of the rows $x_i$ without the 1, in a run with $b$",
    r"$C$ and $\gamma$ of the lifted rows $(x_i, 1)$ "
    r"($x = \pm 0.1$: 2 mistakes, where the unlifted bound is 1)",
    printed_holds=made <= 0.1**2 / 0.1**2,
    corrected_holds=made <= lifted,
)
far = pw.run(G, 500, v=-20 * pw.widest(G)[0])[1]
erratum(
    "cs480:thm2.8",
    r"no condition on $w_0$, $b_0$, which the algorithm takes as given",
    r"the bound needs $w_0 = 0$, $b_0 = 0$",
    printed_holds=sum(far) <= bound,
    corrected_holds=len(run) - 1 <= bound,
)
roots = pw.signed(np.array([[0.0], [1.0], [np.sqrt(2)]]), np.array([1.0, -1.0, 1.0]))
endless = pw.path_of(roots, np.tile(np.arange(3), 500))
erratum(
    "cs480:thm2.11",
    "without a separating hyperplane the algorithm cycles",
    "its weights stay bounded; it cycles if the data is rational and the order cyclic",
    printed_holds=len(np.unique(np.round(endless, 9), axis=0)) < len(endless),
    corrected_holds=np.linalg.norm(endless, axis=1).max() < 2,
)

# %% covers="cs480:ex2.10 cs480:prop2.7" demo=true
table = pw.signed(pw.CORNERS, np.array([-1.0, 1, 1, 1]))
erratum(
    "cs480:ex2.10",
    r"the table of XOR has $y = -, +, +, +$",
    r"$y = -, +, +, -$ (the printed row is OR, which a line separates)",
    printed_holds=pw.widest(table) is None,
    corrected_holds=pw.widest(pw.signed(pw.CORNERS, pw.LABELS["XOR"])) is None,
)
w, b = np.array([2.0, 3.0]), -1.0
third = pw.CORNERS[2] @ w + b  # the point (0, 1)
erratum(
    "cs480:ex2.10",
    r"$x_3 = (0, 1)$, $y_3 = +$ gives $w_1 + b > 0$",
    r"it gives $w_2 + b > 0$, which the sum $w_1 + w_2 + 2b > 0$ needs",
    printed_holds=third == w[0] + b,
    corrected_holds=third == w[1] + b,
)
x, other = np.array([1.0, 2.0]), np.array([4.0, -1.0])
erratum(
    "cs480:prop2.7",
    r"$\langle w, x' - x\rangle = \langle w, x\rangle - \langle w, x'\rangle$",
    r"$\langle w, x'\rangle - \langle w, x\rangle$ (on $H$ both are 0)",
    printed_holds=w @ (other - x) == w @ x - w @ other,
    corrected_holds=w @ (other - x) == w @ other - w @ x,
)

# %% covers="cs480:2-ovo guo:I.5 cs480:def2.5" demo=true
heights = {(0, 1): 1.0, (0, 2): 1.0, (1, 2): 9.0}  # the scores of three pairs
models = {pair: np.array([0.0, height]) for pair, height in heights.items()}
here = np.zeros((1, 1))  # class 0 wins both of its votes, narrowly
most = pw.tallies(models, here, 3).argmax()
erratum(
    "cs480:2-ovo",
    r"majority vote: $\arg\max_k \sum_{l \ne k} \langle x, w_{k,l}\rangle$",
    r"$\arg\max_k \sum_{l \ne k} \mathbb 1[\langle x, w_{k,l}\rangle > 0]$, "
    r"with $w_{l,k} = -w_{k,l}$",
    printed_holds=pw.tallies(models, here, 3, raw=True).argmax() == 0,
    corrected_holds=most == 0,
)
xs = np.array([0.5, 1.0, 2.5])
erratum(
    "guo:I.5",
    r"$w_{t+1} \leftarrow w_t + y_r \cot x_r$",
    r"$w_{t+1} \leftarrow w_t + y_r \cdot x_r$: with $b \leftarrow b + y_r$ it raises "
    r"$y_r(w x_r + b)$ by $x_r^2 + 1$",
    printed_holds=np.all(xs / np.tan(xs) + 1 > 0),
    corrected_holds=np.all(xs * xs + 1 > 0),
)
pair_x, pair_y = np.array([1.0, -1.0]), np.array([1.0, -1.0])


def mistakes(use_current):
    w, b, late = 0.0, 0.0, 0
    for t, r in enumerate(np.random.default_rng(0).integers(0, 2, 100)):
        at = (w, b) if use_current else (0.0, 0.0)
        if (1 if at[0] * pair_x[r] + at[1] > 0 else -1) != pair_y[r]:
            w, b, late = w + pair_y[r] * pair_x[r], b + pair_y[r], t
    return late


erratum(
    "guo:I.5",
    r"the prediction in step $t$ is $\psi(w_0 x_r + b_0)$",
    r"it is $\psi(w_t x_r + b_t)$: with the initial weights the updates never end",
    printed_holds=mistakes(use_current=False) < 50,
    corrected_holds=mistakes(use_current=True) < 50,
)
erratum(
    "cs480:def2.5",
    r"$w$ and $b$ uniquely determine the classifier (as if also the other way round)",
    r"$(cw, cb)$ with $c > 0$ is the same classifier",
)

# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] minutes=90 builds="a hidden layer: kinks, folds and regions, XOR by hand and by training, and a fair account of where training starts and ends"
# # One hidden layer
#
# Lectures: wu 2.0–2.2 · cs480 chapter 2, section 9 (example 9.1, equation 9.a) · guo III and III.1 · explainers 4.
#
# [Logistic regression](../02_classification/02_logistic_regression.ipynb) draws one line. A hidden layer lets a model *bend*, and learn where. At the end you can
#
# - write the network's forward pass, and say what is left of it without activation;
# - read off the kinks of a network with one input, and count the regions of one with two;
# - solve XOR by hand, train it, and say where failed runs end;
# - write the training loop once, and use it on every network;
# - say what happens from a start at zero, from a small and from a large one, and what the minimum-norm theorem has to do with it.

# %%
import numpy as np
import torch
from ipywidgets import Dropdown, FloatSlider, IntSlider

from descent import after, check, data, erratum, explore, hint, predict, show, start
from descent.pictures.neural_networks import one_hidden_layer as oh
from descent.widgets import Clock

start("07_neural_networks/01_one_hidden_layer")

# %% [markdown] covers="cs480:ch2"
# ## Why it matters
#
# Label 1 if exactly one of two switches is on: **XOR**. The [perceptron](../02_classification/01_perceptron.ipynb) showed that no line separates the four corners. With some noise on the switches, logistic regression is as good as a coin. Eight hidden units do it.

# %% covers="cs480:ch2" demo=true
show(*oh.draw_why())

# %% [markdown] covers="explainers:4 guo:III wu:2.0.1 wu:2.0.2 wu:2.0.3 wu:2.0.5"
# ## A map and some names
#
# A **neural network** alternates linear maps and a fixed non-linear function, the **activation**. The kind of this chapter is the **multilayer perceptron** (MLP, also *feedforward network*), and that is what people mostly mean by "neural network".
# A single-layer perceptron is one linear map with a threshold; it is the special case without hidden layer. Logistic regression is a network with one unit.
#
# The three stages of wu's chapter: one hidden layer (here), many layers, and [backpropagation](02_backpropagation.ipynb), the gradient of both. Then
#
# | question | notebook |
# |---|---|
# | What does depth buy, and which activation? (guo III.2, III.3) | [Approximation and depth](03_approximation_and_depth.ipynb) |
# | How are gradients computed, for whole batches? (guo III.4–III.6) | [Backpropagation](02_backpropagation.ipynb) |
# | What do skip connections do? (guo III.7) | Residual streams |
# | How to start, and how to normalise? (guo III.8, III.9, wu's RMS norm) | [Initialisation and normalisation](04_initialisation_and_normalisation.ipynb) |
# | How to hold capacity down? (guo III.10, wu's dropout) | [Dropout and capacity](05_dropout_and_capacity.ipynb) |
# | SGD and Adam | [Stochastic training](../03_optimisation/03_stochastic_training.ipynb), [Adam](../03_optimisation/02_momentum_and_adam.ipynb) |
#
# Four **applications** run later: classification with [many classes](06_softmax_networks.ipynb); [word embeddings and associative memory](07_embeddings_and_memory.ipynb), two of them; [recommender systems](08_recommenders_and_superposition.ipynb), where superposition belongs too.
#
# **Notation.** Rows $x_i \in \mathbb R^m$, $i = 1, \dots, n$. The hidden layer has $d$ **units**. Choose a part below: which shape has it, and how many parameters? Why has $W^{(1)}$ the shape $(d, m)$ and not $(m, d)$?
#
# | here | code | wu | cs480 | guo |
# |---|---|---|---|---|
# | $W^{(1)}$, row $k$ belongs to unit $k$ | `W1` | $w^{(1)}$ | $U$ | $u^\top$ |
# | $b^{(1)}$, $w^{(2)}$, $b^{(2)}$ | `b1`, `w2`, `b2` | the same | $c$, $w$, $b$ | –, $w$, – |
# | $h$, the hidden values | `h` | $h$ | $\mathbf h$ | $h = \psi(x; u)$ |

# %% covers="explainers:4 wu:2.0.1" demo=true
explore(
    oh.draw_parts,
    part=Dropdown(options=oh.PARTS, value=oh.PARTS[2], description="part"),
    m=IntSlider(2, min=1, max=4, description="inputs m"),
    d=IntSlider(3, min=1, max=6, description="units d"),
)
net = oh.random_net(d=3, m=2, seed=0)
assert [w.shape for w in net] == [(3, 2), (3,), (3,), ()]
assert [w.shape for w in oh.forward(net, np.zeros((7, 2)))] == [(7, 3), (7,)]

# %% [markdown] covers="wu:2.1.1 wu:2.1.2"
# ## 1. One neuron
#
# Logistic regression in the words of networks: the coefficients $\beta$ are **weights** $w$, the intercept $\beta_0$ is the **bias** $b$, and
#
# $$s_i = \langle x_i, w\rangle + b, \qquad p_i = \sigma(s_i) = \frac{1}{1+e^{-s_i}} .$$
#
# **Find out:** (1) Which sliders turn the line, which shifts it only? (2) Multiply $w_1, w_2, b$ by the same positive number. What changes? (3) Bring $p$ to one half at the star.
#
# Notes call this unit a perceptron. The classic [perceptron](../02_classification/01_perceptron.ipynb) has a step in place of $\sigma$, and learns from mistakes only: another algorithm, the same line.
#
# Nothing but names has changed. The cell after the widget fits tumours with logistic regression, splits the coefficients into $(w, b)$, and loads them into a torch layer: the probabilities agree.

# %% covers="wu:2.1.2 wu:2.1.1" demo=true
on_release = dict(continuous_update=False)
weight = dict(min=-3, max=3, step=0.25, **on_release)
explore(
    oh.neuron_explorer(),
    w1=FloatSlider(1, description="w₁", **weight),
    w2=FloatSlider(-2, description="w₂", **weight),
    b=FloatSlider(0.5, description="b", **weight),
    x1=FloatSlider(1, description="x₁", **weight),
    x2=FloatSlider(0.5, description="x₂", **weight),
)

# %% covers="wu:2.1.1" demo=true
tumours = data.breast_cancer()
X = oh.with_one(tumours.X[:, [0, 1]] / [10, 10])  # radius and texture
beta = oh.best_fit(X, 1 - tumours.y)
w, b = beta[1:], beta[0]
layer = torch.nn.Linear(2, 1).double()
with torch.no_grad():
    layer.weight.copy_(torch.from_numpy(w)[None])
    layer.bias.fill_(b)
    p = torch.sigmoid(layer(torch.from_numpy(X[:, 1:])))[:, 0].numpy()
assert np.allclose(p, 1 / (1 + np.exp(-X @ beta)))
print("Linear(2, 1) and a sigmoid: the same", len(p), "probabilities")

# %% [markdown] covers="guo:III.1 wu:2.2.1"
# ## 2. A layer of neurons
#
# Put $d$ neurons side by side, and a linear model on top. With the activation $\varphi$,
#
# $$z = W^{(1)}x + b^{(1)} \in \mathbb R^d, \qquad h = \varphi(z), \qquad s = \langle w^{(2)}, h\rangle + b^{(2)} .$$
#
# $z$ is the **pre-activation**, $h$ the **hidden layer**. The prediction is $\mathbb E[y \mid x] = g^{-1}(s)$, with a link $g$ as in [generalised linear models](../02_classification/03_generalised_linear_models.ipynb): the identity for numbers, the logit for 0/1 labels.
# So a network is a generalised linear model of $h$. What is new: the features $h = \psi(x; W^{(1)}, b^{(1)})$ have parameters and are *learned*. (guo writes no biases; a constant input brings them back.)
#
# We take $\varphi(z) = \max(0, z)$, **ReLU**, entry by entry. (Stuck? `hint(mlp1_forward)`, up to three times; so for every exercise.)
#
# After your check the same network in torch must agree, in its scores and in its gradients. (These come from `oh.gradient`, which you will derive in [backpropagation](02_backpropagation.ipynb).)


# %% exercise="mlp1_forward" points=2 minutes=7 difficulty=1 covers="wu:2.2.1 guo:III.1"
def mlp1_forward(X, W1, b1, w2, b2):
    """Scores of a network with one hidden layer of ReLU units.

    X (n, m), W1 (d, m): row k belongs to unit k, b1 (d,), w2 (d,), b2 a number -> (n,).
    X = [[1, 2], [0, 0]], W1 = [[1, 1], [1, -1]], b1 = [0, 0.5], w2 = [2, 10], b2 = -1
    gives [5, 4]: the first row has h = (3, 0), the second one h = (0, 0.5).
    """
    ### BEGIN SOLUTION
    h = np.maximum(0, X @ W1.T + b1)
    return h @ w2 + b2
    ### END SOLUTION


# %% check="mlp1_forward"
check(mlp1_forward)

# %% covers="guo:III guo:III.1 wu:2.2.1"
with after(mlp1_forward):
    X, y = oh.clouds(40)
    net = oh.random_net(5, 2, seed=3)
    module = oh.to_torch(net)
    scores = module(torch.from_numpy(X))[:, 0]
    assert np.allclose(mlp1_forward(X, *net), scores.detach(), atol=1e-6)
    risk = torch.logaddexp(scores, 0 * scores) - torch.from_numpy(y) * scores
    risk.mean().backward()
    mine = oh.gradient(net, X, y, "bernoulli")
    for slope, weight in zip(mine, module.parameters()):
        assert np.allclose(slope.ravel(), weight.grad.ravel(), atol=1e-6)
    print("scores and gradients agree:", sum(g.size for g in mine), "parameters")

# %% [markdown] covers="guo:III.1"
# ### What if there is no activation?
#
# Let $\varphi(z) = z$. Multiply out:
#
# $$s = \langle w^{(2)},\, W^{(1)}x + b^{(1)}\rangle + b^{(2)} = \langle w, x\rangle + b .$$
#
# A linear model, whatever $d$ is, because linear maps composed give a linear map. (Guo credits the Riesz representation theorem, which says something else. His collapsed model is $g^{-1}(w^\top u^\top x)$.) Which $w$ and $b$?
#
# Guo then asks of $\varphi$ that $w^\top\varphi(u^\top x)$ differ from $\varphi(w^\top u^\top x)$. Is that enough? Think of $\varphi(t) = t + 1$; the answer stands after your check.


# %% exercise="collapse" points=1 minutes=5 difficulty=1 covers="guo:III.1"
def collapse(W1, b1, w2, b2):
    """The linear model that a network with the identity as activation is.

    W1 (d, m), b1 (d,), w2 (d,), b2 a number -> w (m,), b a number.
    W1 = [[1, 2], [3, 4]], b1 = [1, -1], w2 = [10, 1], b2 = 0.5
    gives w = [13, 24] and b = 9.5.
    """
    ### BEGIN SOLUTION
    return W1.T @ w2, w2 @ b1 + b2
    ### END SOLUTION


# %% check="collapse"
check(collapse)

# %% covers="guo:III.1" demo=true
rng = np.random.default_rng(0)
u, w, x = rng.normal(size=(2, 3)), rng.normal(size=3), rng.normal(size=(50, 2))


def is_affine(s):
    A = oh.with_one(x)
    return np.allclose(A @ np.linalg.lstsq(A, s, rcond=None)[0], s)


shifted, outside = (x @ u + 1) @ w, x @ u @ w + 1
erratum(
    "guo:III.1",
    r"we want $g^{-1}(w^\top\varphi(u^\top x)) \neq g^{-1}(\varphi(w^\top u^\top x))$",
    r"that is not enough: $\varphi(t) = t + 1$ fulfils it and adds nothing. "
    r"$w^\top\varphi(u^\top x)$ must not be affine in $x$, so $\varphi$ not affine",
    printed_holds=not (not np.allclose(shifted, outside) and is_affine(shifted)),
    corrected_holds=is_affine(shifted) and not is_affine(np.maximum(0, x @ u) @ w),
)
erratum(
    "guo:III.1",
    "without non-linearity it degenerates by the Riesz representation theorem",
    "because linear maps composed are linear; Riesz represents linear functionals on a "
    "Hilbert space by its vectors and is not needed",
)

# %% [markdown] covers="wu:2.2.1 wu:1.4.3 wu:1.4.9"
# ## 3. One input: kinks
#
# With one input, unit $k$ is $\max(0, w^{(1)}_k x + b^{(1)}_k)$: flat on one side of its **kink**, straight on the other. So
#
# $$s(x) = b^{(2)} + \sum_{k=1}^d w^{(2)}_k \max(0,\; w^{(1)}_k x + b^{(1)}_k)$$
#
# is continuous and piecewise linear, with at most $d$ kinks and $d + 1$ pieces. Where is the kink of unit $k$? And by how much does the slope of $s$ change there, right minus left? Mind units with $w^{(1)}_k < 0$: they open to the *left*. The cell after the check tests 200 random networks: straight between neighbouring kinks, and slopes that change by what you say.


# %% exercise="kinks" points=2 minutes=9 difficulty=2 covers="wu:2.2.1"
def kinks(w1, b1, w2):
    """Place and change of slope (right minus left) of the kink of each unit.

    w1, b1, w2 (d,): unit k adds w2[k] * max(0, w1[k] x + b1[k]) to the score.
    Returns (r, 2), one row (place, change) for each unit with w1 != 0, rows in any
    order; units at the same place keep a row each. No kink: shape (0, 2).
    w1 = [2, -1, 0], b1 = [1, 3, 5], w2 = [4, 1, 1] gives [[-0.5, 8], [3, 1]].
    """
    ### BEGIN SOLUTION
    moves = w1 != 0
    place = -b1[moves] / w1[moves]
    return np.column_stack([place, w2[moves] * np.abs(w1[moves])])
    ### END SOLUTION


# %% check="kinks"
check(kinks)

# %% covers="wu:2.2.1"
with after(kinks, mlp1_forward):
    rng = np.random.default_rng(1)
    for _ in range(200):
        w1, b1, w2 = rng.normal(size=(3, rng.integers(1, 8)))
        place, change = kinks(w1, b1, w2)[np.argsort(kinks(w1, b1, w2)[:, 0])].T
        ends = np.concatenate([[place[0] - 1], place, [place[-1] + 1]])
        inner = ends[:-1] + np.diff(ends) * np.array([[0.0], [0.3], [1.0]])
        s = mlp1_forward(inner.reshape(-1, 1), w1[:, None], b1, w2, 0)
        left, mid, right = s.reshape(3, -1)
        assert np.allclose(mid, 0.7 * left + 0.3 * right)  # straight on each piece
        assert np.allclose(np.diff((right - left) / np.diff(ends)), change, atol=1e-6)
    print("200 networks: at most d kinks, d + 1 straight pieces")

# %% [markdown] covers="wu:2.2.1 wu:2.2"
# ### More than the spline of before
#
# [Double descent](../01_regression/05_double_descent.ipynb) used $\beta_0 + \sum_j \beta_j\max(0, x - b_j)$ with fixed knots $b_j$. The notes call the network equivalent to it. The spline is the special case $w^{(1)}_j = 1$, $b^{(1)}_j = -b_j$. But the network's knots move, and units that open to the left give the first piece a slope; the spline is constant there. The cell compares them with the *same* knots.

# %% covers="wu:2.2.1" demo=true
knots, at = np.array([-0.5, 0.5]), np.linspace(-1, 1, 81)
spline = oh.with_one(np.maximum(0, at[:, None] - knots))


def from_spline(s):
    return np.allclose(spline @ np.linalg.lstsq(spline, s, rcond=None)[0], s)


hat = oh.forward(oh.kink_net(knots, [1.0, 2.0], "LR"), at[:, None])[1]
same = oh.forward(oh.kink_net(knots, [1.0, 2.0], "RR"), at[:, None])[1]
erratum(
    "wu:2.2.1",
    r"$b^{(2)} + \sum_k w_k^{(2)}\max(0, w_k^{(1)}x + b_k^{(1)})$ is equivalent to "
    r"$\beta_0 + \sum_j \beta_j\max(0, x - b_j)$",
    r"it contains it ($w^{(1)}_j = 1$); units with $w^{(1)}_k < 0$ open to the left "
    "and give the first piece a slope, and the kinks are learned",
    printed_holds=from_spline(hat),
    corrected_holds=from_spline(same) and not from_spline(hat),
)

# %% [markdown] covers="wu:2.2.1"
# ### Move the kinks, then let go
#
# Three units, by hand: places, changes of slope, and which way each opens (R right, L left). The output bias is set to the best value. The last control trains *from your setting*: play it, and watch the kinks move.
#
# (1) With RRR, how good a fit can you get by hand? How good does it become in 2000 steps? What is wrong at the left end? (2) Now LRR, and play. (3) Set the third kink to 1.5 with RRR. Why does it never move? (4) Put all three at the same place with the same change. Can training tell them apart?

# %% covers="wu:2.2.1" demo=true
x, y = oh.wave()
place = dict(min=-1.5, max=1.5, step=0.05, **on_release)
slope = dict(min=-5, max=5, step=0.25, **on_release)
explore(
    oh.kinks_explorer(x, y),
    k1=FloatSlider(-0.5, description="kink 1", **place),
    k2=FloatSlider(0, description="kink 2", **place),
    k3=FloatSlider(0.5, description="kink 3", **place),
    a1=FloatSlider(1, description="change 1", **slope),
    a2=FloatSlider(1, description="change 2", **slope),
    a3=FloatSlider(-1, description="change 3", **slope),
    opens=Dropdown(options=["RRR", "LRR", "LLR", "LLL"], description="opens"),
    steps=Clock(0, min=0, max=2000, description="steps", step=50),
)
dead = oh.kink_net((-0.5, 0.0, 1.5), (1.0, 1.0, 2.0), "RRR")
slopes = oh.gradient(dead, x[:, None], y, "gaussian")
assert all(np.all(g[2] == 0) for g in slopes[:3]) and slopes[0][0] != 0
equal = oh.kink_net((0.0,) * 3, (1.0,) * 3, "RRR")
twins = oh.descend(equal, x[:, None], y, "gaussian", 0.1, 500)
assert all(np.allclose(w, w[0]) for w in twins[:3])

# %% [markdown] covers="wu:2.2.1"
# (3) At 1.5, opening to the right, the unit is 0 on all data: its values and its slopes are 0, so the gradient is 0. It is **dead**. (4) Twins have equal gradients and stay twins for ever: one kink for the price of three. Random starts are there to break the tie. The last lines of the cell proved both.

# %% [markdown] covers="wu:2.2.2"
# ## 4. Two inputs: folds
#
# With two inputs unit $k$ is 0 on one side of the line
#
# $$w^{(1)}_{k1}x_1 + w^{(1)}_{k2}x_2 + b^{(1)}_k = 0$$
#
# and a slope on the other: the sheet $s(x)$ has a **fold** along it. Between the folds the score is a plane.
#
# A disc of label 1 inside a ring of label 0. You choose three lines (angle of the normal, distance from the origin); the output weights are fitted to your folds by least squares. Then train everything from there.
#
# (1) Find folds with 95 % or more right by hand. (2) Set all offsets to 0 and the angles to 0, 30, 60. How many regions are there? Train: where do the lines go? (3) Could two units do it? Try with two equal units.

# %% covers="wu:2.2.2" demo=true
turn = dict(min=-180, max=180, step=5, **on_release)
shift = dict(min=-2, max=2, step=0.1, **on_release)
explore(
    oh.folds_explorer(*oh.rings()),
    angle1=IntSlider(90, description="angle 1 °", **turn),
    angle2=IntSlider(-150, description="angle 2 °", **turn),
    angle3=IntSlider(-30, description="angle 3 °", **turn),
    offset1=FloatSlider(1, description="offset 1", **shift),
    offset2=FloatSlider(1, description="offset 2", **shift),
    offset3=FloatSlider(1, description="offset 3", **shift),
    steps=Clock(0, min=0, max=1000, description="steps", step=50),
)

# %% covers="wu:2.2.2" demo=true
points = np.random.default_rng(0).normal(size=(9999, 2))
three = oh.patterns([[1, 0], [0, 1], [1, 1]], [0, 0, -1], points).max() + 1
predict(
    "Each region has its own pattern of units that are on and off. Three lines, no two "
    "parallel, not all through one point: how many of the 8 patterns occur?",
    ["6", "7", "8", "it depends on the lines"],
    truth=["6", "7", "8"].index(str(three)),
    because="The lines form a triangle: itself, three regions at its sides and three "
    "at its corners. The pattern opposite to that of the triangle is nowhere.",
)

# %% [markdown] covers="wu:2.2.2"
# (Two units cannot fence the disc in: the set where their score is positive is empty or reaches to infinity. If the lines are parallel, the score does not change along them. If they cross, and $b^{(2)} > 0$, the set holds the cone where both units are off. If $b^{(2)} \leq 0$, a point of the set needs some $w^{(2)}_k > 0$, and the score grows without end where only that unit is on.)
#
# ### How many pieces?
#
# Draw the lines one after another. The new line meets the earlier ones in $q$ *different* points. They cut it into $q + 1$ pieces, and each piece splits one region in two. So the count grows by $1 + q$, from 1 region without lines.
#
# In **general position** (no two lines parallel, no three through one point) line $k$ meets all $k - 1$ earlier ones:
#
# $$1 + \sum_{k=1}^{d} (1 + (k-1)) = 1 + d + \binom d2 = \tfrac12(d^2 + d + 2) .$$
#
# That is the largest number for $d$ units. Parallel lines, and three through one point, give less. Count exactly, for any lines.


# %% exercise="count_regions" points=3 minutes=12 difficulty=3 covers="wu:2.2.2"
def count_regions(W, b):
    """Number of regions into which the lines {x : W[k] @ x + b[k] = 0} cut the plane.

    W (d, 2), b (d,). Lines may be parallel, coincide, or meet in one point. A unit with
    W[k] = [0, 0] has no line. Lines and crossings that agree to within 1e-6 are the
    same; d is at most 10. Returns an integer.
    W = [[1, 0], [0, 1], [1, 1]], b = [0, 0, -1] gives 7; b = [0, 0, 0] gives 6.
    """
    ### BEGIN SOLUTION
    regions, lines = 1, []
    for w, c in zip(W, b):
        crossings, copy = set(), not w.any()
        for v, e in lines:
            if abs(w[0] * v[1] - w[1] * v[0]) > 1e-9:
                x = np.linalg.solve([w, v], [-c, -e])
                crossings.add(tuple(np.round(x, 6) + 0.0))
            elif np.allclose(w * e, v * c):
                copy = True
        if not copy:
            regions += 1 + len(crossings)
            lines.append((w, c))
    return regions
    ### END SOLUTION


# %% check="count_regions"
check(count_regions)

# %% [markdown] covers="wu:2.2.2"
# Check it against brute force: patterns on random points, many near the crossings. Four lines give 11 regions, eight give 37.
#
# These are *activation* regions. The score may happen to be the same plane on two of them, if a unit has $w^{(2)}_k = 0$ or folds cancel. So the number of linear pieces is at most that.

# %% covers="wu:2.2.2"
with after(count_regions):
    rng, found = np.random.default_rng(4), {}
    for d in range(1, 9):
        turn = np.pi * (np.arange(d) + 0.5 * rng.random(d)) / d  # no near parallels
        W, b = np.column_stack([np.cos(turn), np.sin(turn)]), rng.uniform(-1, 1, d)
        points = rng.normal(size=(50_000, 2)) * np.exp(rng.uniform(-5, 5, (50_000, 1)))
        pairs = [(i, k) for i in range(d) for k in range(i)]
        cross = [np.linalg.solve(W[list(p)], -b[list(p)]) for p in pairs]
        near = [c + s * rng.normal(size=(500, 2)) for c in cross for s in (1e-3, 0.03)]
        brute = oh.patterns(W, b, np.vstack([points, *near])).max() + 1
        found[d] = count_regions(W, b)
        assert found[d] == brute == (d * d + d + 2) // 2
    assert (found[4], found[8]) == (11, 37)
    print(found)
    turn = np.array([10, 60, 100, 150]) * np.pi / 180
    W = np.column_stack([np.cos(turn), np.sin(turn)])
    b = np.array([0.3, -0.6, 0.8, 0.5])
    show(*oh.draw_regions(W, b, count_regions(W, b)))

# %% [markdown] covers="cs480:ex9.1"
# ## 5. XOR by hand
#
# The corners $(0,0), (1,0), (0,1), (1,1)$ have labels 0, 1, 1, 0. cs480 gives this network with two units:
#
# $$W^{(1)} = \begin{bmatrix}1&1\\1&1\end{bmatrix},\quad b^{(1)} = \begin{bmatrix}0\\-1\end{bmatrix},\quad w^{(2)} = \begin{bmatrix}2\\-4\end{bmatrix},\quad b^{(2)} = -1 .$$
#
# Both units look at $x_1 + x_2$. The first one climbs from 0, the second from 1. Compute the four hidden points and scores on paper before you run the cell.

# %% covers="cs480:ex9.1" demo=true
notes = [np.ones((2, 2)), np.array([0.0, -1.0]), np.array([2.0, -4.0]), np.array(-1.0)]
h, s = oh.forward(notes, oh.CORNERS)
assert np.array_equal(h, [[0, 0], [1, 0], [1, 0], [2, 1]])
assert np.array_equal(s, [-1, 1, 1, -1])
assert sum(w.size for w in notes) == 9
assert not oh.separable(oh.with_one(oh.CORNERS), oh.XOR)
assert oh.separable(oh.with_one(h), oh.XOR)
print("hidden points", *h.astype(int).tolist(), "scores", s.astype(int))

# %% [markdown] covers="cs480:ex9.1"
# The two corners of label 1 fall on the same hidden point $(1, 0)$, and a line separates the three points that are left. Now the same for a square with other corners, in two units. Many solutions are right; the four scores must be $-1, 1, 1, -1$.


# %% exercise="xor_net" points=3 minutes=10 difficulty=2 covers="cs480:ex9.1"
def xor_net(lo, hi):
    """A network of two ReLU units for XOR on the corners of a square, lo < hi.

    Returns W1 (2, 2), b1 (2,), w2 (2,), b2 (a number) whose scores at (lo, lo),
    (hi, lo), (lo, hi), (hi, hi) are -1, 1, 1, -1.
    For lo = 0, hi = 1 one answer is the network of cs480 above.
    """
    ### BEGIN SOLUTION
    g = 1 / (hi - lo)
    W1 = np.full((2, 2), g)
    b1 = np.array([-2 * lo * g, -2 * lo * g - 1])
    return W1, b1, np.array([2.0, -4.0]), -1.0
    ### END SOLUTION


# %% check="xor_net"
check(xor_net)

# %% covers="cs480:ex9.1"
with after(xor_net):
    lo, hi = -1.0, 1.0
    yours = [np.array(part, float) for part in xor_net(lo, hi)]
    square = lo + (hi - lo) * oh.CORNERS
    assert not oh.separable(oh.with_one(square), oh.XOR)
    show(
        *oh.draw_hidden_space(
            square, oh.XOR, {"cs480": (notes, oh.CORNERS), "yours": (yours, square)}
        )
    )

# %% [markdown] covers="cs480:ch2 wu:10.9.1"
# ### Three ways to the same end
#
# 1. **Features by hand.** Add squares and products: $\phi(x) = (1, \sqrt2 x_1, \sqrt2 x_2, x_1^2, \sqrt2 x_1x_2, x_2^2)$. A linear model of $\phi(x)$ solves XOR: the column $x_1x_2$ is what it needs.
# 2. **A kernel.** $\langle\phi(x), \phi(z)\rangle = (1 + \langle x, z\rangle)^2$, so the same model can be fitted without ever computing $\phi$ (kernels). The cell finds the same scores both ways. That is the equivalence which cs480 means.
# 3. **A hidden layer**, whose features are learned together with the linear model on top.
#
# The first two choose $\phi$ before they see the data. That is the difference, and the price is a loss that is no longer convex.


# %% covers="cs480:ch2" demo=true
def phi(x):
    a, b = x.T
    r = np.sqrt(2)
    return np.column_stack([np.ones(len(x)), r * a, r * b, a * a, r * a * b, b * b])


signs = 2 * oh.XOR - 1
weights = np.linalg.pinv(phi(oh.CORNERS)) @ signs  # 1. by hand
gram = (1 + oh.CORNERS @ oh.CORNERS.T) ** 2
assert np.allclose(gram, phi(oh.CORNERS) @ phi(oh.CORNERS).T)
dual = np.linalg.solve(gram, signs)  # 2. by the kernel
new = np.random.default_rng(0).uniform(-1, 2, (50, 2))
assert np.allclose(phi(new) @ weights, (1 + new @ oh.CORNERS.T) ** 2 @ dual)
net = oh.descend(oh.random_net(16, 2, 0), oh.CORNERS, oh.XOR, "bernoulli", 0.5, 2000)
h, s = oh.forward(net, oh.CORNERS)  # 3. learned
for name, rows in [("raw", oh.CORNERS), ("quadratic", phi(oh.CORNERS)), ("hidden", h)]:
    print(f"{name:9}: separable", oh.separable(oh.with_one(rows), oh.XOR))
assert np.array_equal(s > 0, oh.XOR == 1)

# %% [markdown] covers="wu:2.2.3"
# ## 6. What goes back
#
# To train we need to know how the log-likelihood $J = \log p(y \mid s)$ of a row changes with its score. For a normal target with mean $s$ and variance $\sigma^2$, and for a 0/1 label with probability $p = \sigma(s)$,
#
# $$J = -\frac{(y-s)^2}{2\sigma^2} + \text{const}, \qquad J = y s - \log(1 + e^s) .$$
#
# Differentiate both by $s$. The result is the **error signal** that the network sends back through its layers. (Wu sets $\sigma^2 = 1$.)


# %% exercise="error_signal" points=1 minutes=6 difficulty=1 covers="wu:2.2.3"
def error_signal(y, s, kind, variance=1.0):
    """dJ/ds, J = log p(y | s), entry by entry.

    y (n,), s (n,). kind "gaussian": y normal with mean s and this variance.
    kind "bernoulli": y is 0.0 or 1.0, s its log-odds, of any size; no variance.
    y = [3], s = [1]: "gaussian" with variance 4 gives [0.5].
    y = [1], s = [0]: "bernoulli" gives [0.5].
    """
    ### BEGIN SOLUTION
    if kind == "gaussian":
        return (y - s) / variance
    return y - 1 / (1 + np.exp(-np.clip(s, -700, 700)))
    ### END SOLUTION


# %% check="error_signal"
check(error_signal)

# %% covers="wu:2.2.3"
with after(error_signal):
    rng = np.random.default_rng(2)
    y = torch.tensor([0.0, 1.0, 1.0])
    s = torch.tensor(rng.normal(size=3), requires_grad=True, dtype=torch.float32)
    normal = torch.distributions.Normal(s, 1.0).log_prob(y).sum()
    coin = torch.distributions.Bernoulli(logits=s).log_prob(y).sum()
    for kind, J in (("gaussian", normal), ("bernoulli", coin)):
        (witness,) = torch.autograd.grad(J, s)
        mine = error_signal(y.numpy(), s.detach().numpy(), kind)
        assert np.allclose(witness, mine, atol=1e-5)
    print("both: target minus prediction, the score s or the probability p")

# %% [markdown] covers="cs480:eq9.a"
# ## 7. The training loop
#
# With all parameters in one vector $w$ and a loss $\ell$ of one row, training minimises the **empirical risk**
#
# $$R(w) = \frac1n\sum_{i=1}^n \ell\big(f(x_i, w),\, y_i\big), \qquad w \leftarrow w - \eta\,\nabla R(w) .$$
#
# Each step is a full pass over the rows. ([Stochastic training](../03_optimisation/03_stochastic_training.ipynb) takes a few rows at a time.) Torch finds the gradient. Two traps: `backward()` *adds* to `.grad`, and a column minus a vector is a matrix.
#
# This loop will serve every network of the chapter.


# %% exercise="train" points=3 minutes=12 difficulty=2 covers="cs480:eq9.a"
def train(net, loss, X, y, eta, steps):
    """Full-batch gradient descent on the empirical risk; changes net in place.

    net: torch module, (n, m) -> (n, 1). loss(s, y): scores (n,) and targets (n,) ->
    the n losses (n,). X (n, m), y (n,) tensors. eta > 0, steps >= 0.
    Returns the risks before the first step and after each step: steps + 1 floats.
    What stands in .grad at the start is old and must not count.
    net = Linear(1, 1) with weight 1, bias 0, X = [[1]], y = [3], loss (s - y)²/2,
    eta = 0.5, steps = 1: risks [2, 0], then weight 2, bias 1.
    """
    ### BEGIN SOLUTION
    risks = []
    for step in range(steps + 1):
        risk = loss(net(X)[:, 0], y).mean()
        risks.append(risk.item())
        if step < steps:
            net.zero_grad()
            risk.backward()
            with torch.no_grad():
                for p in net.parameters():
                    p -= eta * p.grad
    return risks
    ### END SOLUTION


# %% check="train"
check(train)

# %% [markdown] covers="guo:III.1 cs480:ch2 cs480:eq9.a"
# **Watch the features being learned.** Two units, the XOR clouds, labels in the space of $(h_1, h_2)$. The output can only draw a line there. What does training do to the points so that a line is enough?
#
# Then the widget, with *your* loop: boundary and risk, from ten starts. (1) With 2 units, how many of the ten starts succeed? (2) What does the risk look like while the boundary does not move? (3) How many units do you need for all ten?


# %%
def logistic(s, y):
    """log(1 + e^s) - y s, row by row."""
    return torch.logaddexp(s, torch.zeros_like(s)) - y * s


def squared(s, y):
    """(s - y)²/2, row by row."""
    return (s - y) ** 2 / 2


def tensors(*arrays):
    return [torch.as_tensor(np.asarray(a, float)) for a in arrays]


# %% covers="guo:III.1 cs480:ch2 cs480:eq9.a"
with after(train):
    X, y = oh.clouds(200, spread=0.1)
    module, stages, risks = oh.to_torch(oh.random_net(2, 2, seed=17)), {}, []
    for done, more in ((0, 0), (60, 60), (1000, 940)):
        risks += train(module, logistic, *tensors(X, y), 0.5, more)
        stages[f"{done} steps"] = (oh.to_numpy(module), X)
    assert (np.diff(risks) < 1e-9).all()  # downhill at every step
    print(
        "risk at the start, after 60 and after 1000 steps:",
        *np.round([risks[0], risks[61], risks[-1]], 2),
    )
    show(*oh.draw_hidden_space(X, y, stages))

# %% covers="cs480:eq9.a cs480:ex9.1"
with after(train):
    clouds = tensors(X, y)

    def fit(net, steps, train=train, rows=clouds):
        module = oh.to_torch(net)
        risks = train(module, logistic, *rows, 0.5, steps)
        return risks, oh.to_numpy(module)

    explore(
        oh.training_explorer(X, y, fit),
        d=IntSlider(2, min=1, max=8, description="units d", **on_release),
        seed=IntSlider(0, min=0, max=9, description="start", **on_release),
        steps=Clock(200, min=0, max=600, description="steps", step=20),
    )

# %% [markdown] covers="cs480:ex9.1"
# ### Two units are enough. Can they be trained?
#
# A solution with two units exists; you wrote one. Take 100 random starts of the 2-2-1 network on the four corners (weights standard normal, biases 0, $\eta = 0.5$, 2000 steps).

# %% covers="cs480:ex9.1" demo=true
learned = int(oh.xor_runs(2)[1].sum())
choices = [100, 60, 14, 0]
predict(
    "How many of the 100 runs get all four corners right?",
    ["all", "about 60", "about 15", "none"],
    truth=int(np.argmin(np.abs(np.array(choices) - learned))),
    because=f"{learned} of them. That weights exist says nothing about finding them.",
    then=oh.draw_xor_runs,
    digits=0,
)

# %% [markdown] covers="cs480:ex9.1"
# The failures are no near misses: they stop at exact values. Corners where all units are off share one score. Or each unit is on at all four corners or at none: the model is linear there, and the best linear model of XOR says the same everywhere. The best common probability is the share of ones:
#
# - all four alike: $p = \frac12$, loss $\log 2 = 0.693$;
# - three alike, one of which has the other label: $\frac34 H(\frac13) = 0.477$, where $H(q) = -q\log q - (1-q)\log(1-q)$;
# - two alike with different labels: $\frac24\log2 = 0.347$.
#
# Wider layers fail less: among many random units the useful ones are seldom all missing. The cell checks both for every run that failed: its level, and why.

# %% covers="cs480:ex9.1" demo=true
levels = np.array(list(oh.PLATEAUS.values()))


def H(q):
    return -q * np.log(q) - (1 - q) * np.log(1 - q)


assert np.allclose(levels, [H(1 / 2), 3 / 4 * H(1 / 3), H(1 / 2) / 2])
for d in (2, 3, 4, 8):
    losses, right, on = oh.xor_runs(d)
    gap = np.abs(losses[~right, None] - levels)
    assert gap.min(1).max() < 0.01 and losses[right].max() < 0.01
    alike = np.array([4, 3, 2])[gap.argmin(1)]  # corners with one score
    all_off = (~on[~right].any(-1)).sum(-1)
    linear = (on[~right] == on[~right, :1]).all((1, 2))
    assert np.all((all_off == alike) | linear & (alike == 4))

# %% [markdown] covers="wu:2.2.5"
# ## 8. More parameters than rows
#
# A network with $m$ inputs has $(m+1)d + (d+1) = (m+2)d + 1$ parameters. The notes call it **overparameterised** when that exceeds $n$, and then claim a lot:
#
# > it can fit the data perfectly; started at zero, gradient descent finds the fit of minimum norm; it uses as few folds as possible; no other regularisation is needed.
#
# We take the claims one by one. First: from zero.


# %% covers="wu:2.2.5" demo=true
def n_params(d, m):
    return (m + 2) * d + 1


assert n_params(7, 1) > 20 >= n_params(6, 1) and n_params(5, 2) > 20 >= n_params(4, 2)
x, y = oh.wave()
zero = [np.zeros((50, 1)), np.zeros(50), np.zeros(50), np.zeros(())]
end = oh.descend(zero, x[:, None], y + 1, "gaussian", 0.1, 1000)
moved = [bool(np.any(w)) for w in end]
predict(
    "All parameters of a network with 50 units start at 0. After 1000 steps, which of "
    "W1, b1, w2, b2 differ from 0?",
    ["all four", "w2 and b2", "only b2", "none"],
    truth={(True,) * 4: 0, (False, False, True, True): 1, (False,) * 3 + (True,): 2}[
        tuple(moved)
    ],
    because="h = 0, so w2 gets no gradient; w2 = 0, so nothing goes back to W1 and b1. "
    "Only the output bias learns, and it learns the mean of y.",
)

# %% [markdown] covers="wu:2.2.5 wu:2.2.4"
# Why: with $e_i = s_i - y_i$, the error signal with the sign of a loss, the slopes are
#
# $$\frac{\partial R}{\partial w^{(2)}_k} = \frac1n\sum_i e_i\, h_{ik}, \qquad \frac{\partial R}{\partial W^{(1)}_k} = \frac1n\sum_i e_i\, w^{(2)}_k\, \varphi'(z_{ik})\, x_i, \qquad \frac{\partial R}{\partial b^{(2)}} = \frac1n\sum_i e_i .$$
#
# At zero $h_{ik} = 0$ and $w^{(2)}_k = 0$. The first two vanish, and so does that of $b^{(1)}$, whatever slope one gives to ReLU at 0 (we take 0, as torch does). And it stays so: $b^{(2)}$ runs to $\bar y$, by $b^{(2)}_t = \bar y\,(1 - (1-\eta)^t)$, and the network is a constant. Your `train` shows it. (Section 2.7.2 of the same notes says that zero is no start.)
#
# Each slope is a product. Say for *any* network and data which parameters one step moves.


# %% exercise="which_move" points=2 minutes=6 difficulty=2 covers="wu:2.2.5"
def which_move(X, y, W1, b1, w2, b2):
    """Which of W1, b1, w2, b2 one step of descent moves: four booleans.

    The risk is the mean of (s - y)²/2. X (n, m), y (n,), W1 (d, m), b1 (d,), w2 (d,),
    b2 a number. An array stays if no entry of its gradient exceeds 1e-5 in size.
    X = [[1]], y = [2], W1 = [[1]], b1 = [0], w2 = [0], b2 = 0
    gives [False, False, True, True].
    """
    ### BEGIN SOLUTION
    z = X @ W1.T + b1
    h = np.maximum(0, z)
    e = (h @ w2 + b2 - y) / len(y)
    back = e[:, None] * w2 * (z > 0)
    slopes = back.T @ X, back.sum(0), e @ h, e.sum()
    return [bool(np.max(np.abs(slope)) > 1e-5) for slope in slopes]
    ### END SOLUTION


# %% check="which_move"
check(which_move)

# %% covers="wu:2.2.5"
with after(train):
    x, y = oh.wave()
    X, t = tensors(x[:, None], y + 1)
    stuck = oh.to_torch(zero)
    train(stuck, squared, X, t, 0.1, 300)
    W1, b1, w2, b2 = oh.to_numpy(stuck)
    assert not W1.any() and not b1.any() and not w2.any()
    assert np.isclose(b2, (y + 1).mean() * (1 - 0.9**300))
    print(f"from zero it says {b2:.2f} everywhere; mean of y: {np.mean(y + 1):.2f}")
    last = {}
    for name, hidden, out in (("W1", 1, 0), ("w2", 0, 1), ("W1 and w2", 1, 1)):
        some = oh.random_net(50, 1, seed=2)
        begin = [hidden * some[0], some[1], out * some[2] / 7, some[3]]
        last[name] = 2 * train(oh.to_torch(begin), squared, X, t, 0.1, 1000)[-1]
        print(f"random {name}, the rest 0: mean squared error {last[name]:.2f}")
    erratum(
        "wu:2.2.5",
        "trained with gradient descent initialised at zero, the network interpolates "
        "the data, with implicit regularisation",
        r"started at zero, only $b^{(2)}$ ever moves and the network stays constant; a "
        r"random $W^{(1)}$ gets it going (here even with $w^{(2)} = 0$)",
        printed_holds=bool(W1.any() or w2.any()),
        corrected_holds=not (W1.any() or b1.any() or w2.any())
        and b2 != 0
        and last["W1"] < 0.5 * y.var(),
    )

# %% [markdown] covers="wu:2.2.5"
# ### Can it fit everything, once it has more parameters than rows?
#
# With one input, $n = 20$ rows and $d = 7$ units there are 22 parameters. Take a **zigzag**, targets $+1, -1, +1, \dots$ Between neighbours the score must rise, then fall, then rise: 19 intervals, each with a slope of the other sign somewhere. That takes 19 pieces. Seven units have 8. So enough parameters are necessary for fitting *all* targets, and not sufficient.
#
# With $d = n - 1$ units it works for any targets at different $x_i$: kinks at $x_1, \dots, x_{n-1}$, opening to the right. Then slopes can be set one after another.
#
# The figure then trains on the wave from a random start, 5000 steps, one run for each width. The wave is no zigzag: a few kinks get close. A perfect fit needs 10 pieces even here, since no three neighbours lie on a line, so at least 9 units. More width makes training easier.

# %% covers="wu:2.2.5" demo=true
x, zigzag = np.linspace(-1, 1, 20), (-1.0) ** np.arange(20)
needed = 1 + np.sum(np.diff(np.sign(np.diff(zigzag))) != 0)  # pieces
steepness = np.diff(zigzag) / np.diff(x)
wide = oh.kink_net(x[:-1], np.diff(steepness, prepend=0), "R" * 19, zigzag[0])
assert np.allclose(oh.forward(wide, x[:, None])[1], zigzag)
erratum(
    "wu:2.2.5",
    r"if $(1+1)d + (d+1) > n$ the network can perfectly fit the training data",
    r"that is necessary for fitting all targets, and not sufficient: $n$ rows in "
    r"zigzag need $n - 1$ pieces, so $d \geq n - 2$; $d = n - 1$ units always suffice",
    printed_holds=n_params(7, 1) > 20 and 7 + 1 >= needed,
    corrected_holds=needed == 19
    and np.allclose(oh.forward(wide, x[:, None])[1], zigzag),
)
scores, label = np.array([3.0, -2.0, 5.0]), np.array([1.0, 0.0, 1.0])
losses = [np.logaddexp(0, c * (1 - 2 * label) * scores).mean() for c in (1, 4, 16)]
erratum(
    "wu:2.2.5",
    "any parameters that interpolate the data are a global minimum",
    "for squared error. The logistic loss of right labels is positive for all finite "
    "parameters and falls as the score is scaled up: there is no minimum",
    printed_holds=losses[0] <= min(losses),
    corrected_holds=losses[0] > losses[1] > losses[2] > 0,
)
x, y = oh.wave()
assert np.abs(np.diff(y, 2)).min() > 0.001  # a piece holds two points, not three
widths = [3, 7, 20, 50, 200, 1000]
show(*oh.draw_widths(widths, oh.width_runs(x, y, widths), y.var(), 20), digits=1)

# %% [markdown] covers="wu:2.2.5 wu:2.2"
# ### What the minimum-norm theorem says, and what it does not
#
# [Double descent](../01_regression/05_double_descent.ipynb) proved: for a model that is **linear in its parameters**, gradient descent on squared error *from zero* tends to the perfect fit with the smallest norm (if there is a perfect fit, and with small enough steps).
#
# **It says:** freeze the hidden layer at random values. Then $s = \langle w^{(2)}, h(x)\rangle + b^{(2)}$ is linear in what is trained, and the theorem holds word for word. First half of the cell.
#
# **It does not say** anything once $W^{(1)}$ moves too. ReLU gives a clean counter-argument. Since $\max(0, cz) = c\max(0, z)$ for $c > 0$, we may replace $(W^{(1)}_k, b^{(1)}_k, w^{(2)}_k)$ by $(c W^{(1)}_k, c\,b^{(1)}_k, w^{(2)}_k/c)$: the same function. Its norm is smallest if $\lVert (W^{(1)}_k, b^{(1)}_k)\rVert = |w^{(2)}_k|$, the **balanced** unit. But
#
# $$\langle W^{(1)}_k, \partial_{W^{(1)}_k} R\rangle + b^{(1)}_k\,\partial_{b^{(1)}_k} R = \frac1n\sum_i e_i w^{(2)}_k h_{ik} = w^{(2)}_k\,\partial_{w^{(2)}_k} R ,$$
#
# so along the gradient flow (descent with ever smaller steps) $Q_k = \lVert W^{(1)}_k\rVert^2 + (b^{(1)}_k)^2 - (w^{(2)}_k)^2$ never changes. A unit that starts unbalanced stays unbalanced, and the end point is *not* of minimum norm: rescaling its units gives the same function with less. Second half.

# %% covers="wu:2.2.5" demo=true
x, y = oh.wave(4)
rng = np.random.default_rng(0)
hidden = [rng.normal(size=(200, 1)), rng.normal(size=200)]
A = oh.with_one(oh.forward([*hidden, np.zeros(200), 0.0], x[:, None])[0])
theta, eta = np.zeros(201), 1 / np.linalg.norm(A, 2) ** 2
for _ in range(10_000):
    theta = theta - eta * A.T @ (A @ theta - y)  # only the output layer
assert np.allclose(A @ theta, y) and np.allclose(theta, np.linalg.pinv(A) @ y)

begin = [*hidden, rng.normal(size=200) / 14, np.zeros(())]


def imbalance(net):
    return np.sum(net[0] ** 2, 1) + net[1] ** 2 - net[2] ** 2


g = oh.gradient(begin, x[:, None], y, "gaussian")
assert np.allclose(np.sum(begin[0] * g[0], 1) + begin[1] * g[1], begin[2] * g[2])
drift = []
for eta, steps in ((0.004, 5000), (0.001, 20_000)):  # as far, in smaller steps
    end = oh.descend(begin, x[:, None], y, "gaussian", eta, steps)
    drift.append(np.abs(imbalance(end) - imbalance(begin)).max())
assert drift[1] < 0.4 * drift[0] < 1e-4  # it goes to 0 with the step
assert np.allclose(oh.forward(end, x[:, None])[1], y, atol=0.01)  # a perfect fit
size = np.sqrt(np.sum(end[0] ** 2, 1) + end[1] ** 2)
c = np.sqrt(np.abs(end[2]) / size)
lean = [c[:, None] * end[0], c * end[1], end[2] / c, end[3]]
assert np.allclose(oh.forward(lean, x[:, None])[1], oh.forward(end, x[:, None])[1])
print(f"norm at the end {oh.norm(end):.0f}, balanced: {oh.norm(lean):.0f}")
erratum(
    "wu:2.2.5",
    "among all interpolating solutions, gradient descent finds minimum norm weights",
    "true if only the output layer is trained, from zero. With both layers trained, "
    r"$\Vert W^{(1)}_k\Vert^2 + (b^{(1)}_k)^2 - (w^{(2)}_k)^2$ is kept by the flow, "
    "and rescaled units give the same function with a smaller norm",
    printed_holds=oh.norm(end) <= oh.norm(lean) + 1e-6,
    corrected_holds=oh.norm(lean) < oh.norm(end) and drift[1] < 0.4 * drift[0],
)

# %% [markdown] covers="wu:2.2.5"
# And "small norm" would mean something else here. A balanced unit costs $\lVert (W_k^{(1)}, b_k^{(1)})\rVert^2 + (w_k^{(2)})^2 = 2\,|w^{(2)}_k|\,\lVert (W_k^{(1)}, b_k^{(1)})\rVert$. With one input that is $2\,|a_k|\sqrt{1 + q_k^2}$ for a kink at $q_k$ with change of slope $a_k$. So half the squared norm (the output bias apart) is a weighted *sum of absolute* changes, as in the [lasso](../01_regression/03_ridge_and_lasso.ipynb): it likes few kinks. With a frozen layer it is a sum of squares, and spreads over all of them.
#
# **So the start decides.** 100 units, the same wave, 10 000 steps; all first weights and biases normal with standard deviation `size`, output weights $0.3\cdot$ `size`. At how many *places* does the fit bend in each case?

# %% covers="wu:2.2.5" demo=true
x, y = oh.wave()
runs = {size: oh.scaled_run(x, y, size) for size in (0.03, 0.3, 3)}
show(*oh.draw_scales(x, y, runs), digits=1)
q, a = -lean[1] / lean[0][:, 0], lean[2] * np.abs(lean[0][:, 0])
half = (np.sum(lean[0] ** 2) + np.sum(lean[1] ** 2) + np.sum(lean[2] ** 2)) / 2
assert np.isclose(half, np.sum(np.abs(a) * np.sqrt(1 + q**2)))
places = {size: oh.clusters(oh.kink_table(end)[0]) for size, (_, end) in runs.items()}
far = {size: oh.moved(*run) for size, run in runs.items()}
error = {size: oh.mean_loss(runs[size][1], x[:, None], y, "gaussian") for size in runs}
erratum(
    "wu:2.2.5",
    "gradient descent activates the minimal amount of folds",
    "the start decides: from a small one kinks gather at few places, from a large one "
    "dozens stay near where they were, though fewer fit better (size 0.3)",
    printed_holds=places[3] <= places[0.3] or error[3] <= error[0.3],
    corrected_holds=places[0.03] < 8 < 20 < places[3] and far[3] < 0.1 < 1 < far[0.03],
)

# %% [markdown] covers="wu:2.2.5"
# From the small start the kinks gather at a few common places, and the parameters end many times as large as they began. People call it the **rich** regime, as features are learned. From the large start the parameters move by 4 % of their size; the sum of many tiny changes is enough. Next to nothing is learned in the hidden layer: the **lazy** regime, in which the network behaves almost like the linear model of its tangent. There a theorem of minimum *distance from the start* comes back, approximately. Neither is "the" implicit bias of gradient descent.
#
# What the clusters do not show: that the small start finds the *fewest* kinks or the least cost. None of the three fits is perfect yet (that takes 9 kinks), and no theorem says so in general.

# %% [markdown] written="what_min_norm_says" points=2 minutes=6 covers="wu:2.2.5"
# **In your own words** (4–6 sentences). A colleague trains a network with 1000 hidden units on 20 rows, both layers, from a random start, to zero training error. She writes: "By the minimum-norm theorem gradient descent has found the interpolant with the smallest weights, so we need no regularisation." What in this is proven, what is wrong, and what would you look at before you trust the fit?
#
# ### BEGIN SOLUTION
# The theorem is about models that are linear in the trained parameters, started at zero: it would hold if only the output layer were trained. Here the hidden layer moves as well and the start is random, so it says nothing; units that start unbalanced stay unbalanced, and rescaling them
# would give the same function with a smaller norm. Which interpolant comes out depends on the size of the start: small starts gather kinks at few places, large ones stay near their start. Zero training error and small weights
# also do not mean a small test error, above all with noisy targets. I would look at rows that were not used, compare starts of different size and seeds, and compare with weight decay or early stopping.
#
# **Rubric**
#
# - 1: says that the theorem needs a model linear in the trained parameters (and a start at zero), which a network with both layers trained is not
# - 1: says that the result depends on the start, or that a small norm does not guarantee test error, and names a check on data that were not used
# ### END SOLUTION

# %% [markdown] covers="guo:III.1 cs480:ch2"
# ## On real data: odd or even?
#
# 1797 handwritten digits, 8 × 8 pixels. Is the digit odd? Each class is a bunch of five unlike shapes, and no linear score of 64 pixels is natural for it. 1200 images for training, 597 to judge.
#
# Three competitors: logistic regression on the pixels; $d$ hidden units *left at random* with logistic regression on top; the same units *trained* with your loop. How many trained units beat 64 random ones?

# %% covers="guo:III.1 cs480:ch2 cs480:eq9.a"
with after(train):
    from sklearn.linear_model import LogisticRegression

    digits = data.digits()
    order = np.random.default_rng(0).permutation(len(digits.y))
    rows, test = order[:1200], order[1200:]
    X, odd = digits.X / 16, (digits.y % 2).astype(float)
    X = X - X[rows].mean(axis=0)

    def judged(features):
        fit = LogisticRegression(max_iter=5000).fit(features[rows], odd[rows])
        return fit.score(features[test], odd[test])

    learned, frozen, sizes = [], [], [2, 4, 8, 16, 32, 64]
    for d in sizes:
        net = oh.random_net(d, 64, seed=d)
        net = [net[0] * np.sqrt(2 / 64), net[1], net[2] / np.sqrt(d), net[3]]
        frozen.append(judged(oh.forward(net, X)[0]))
        module = oh.to_torch(net)
        train(module, logistic, *tensors(X[rows], odd[rows]), 1.0, 400)
        said = oh.forward(oh.to_numpy(module), X[test])[1] > 0
        learned.append(np.mean(said == (odd[test] == 1)))
    show(*oh.draw_parity(sizes, learned, frozen, judged(X)))
    assert learned[1] > max(frozen) and min(learned) > judged(X)

# %% [markdown] covers="guo:III.1 wu:2.2.5"
# A handful of *learned* features does more than 64 random ones. That is what adaptive features are for. It also tells which regime matters in practice: where the hidden layer stays at its start, width has to make up for it. (One split, one seed a width: differences of a percent mean nothing here. [Validation](../01_regression/04_bias_variance_and_validation.ipynb) tells how to compare properly.)
#
# ## Take-aways
#
# - A hidden layer is a set of **learned features**; on top sits a generalised linear model. Without a non-affine activation it collapses into one linear map.
# - With ReLU the score is piecewise linear: one input, kinks at $-b/w$ with change of slope $w^{(2)}|w^{(1)}|$; two inputs, folds along lines and at most $\frac12(d^2+d+2)$ regions: 11 for four units, 37 for eight.
# - Both usual losses send back *target minus prediction*. One training loop serves all.
# - **Existence is not trainability.** Two units solve XOR; most random starts of two units do not find it, and stop on exact plateaus. Width helps.
# - From zero only the output bias learns. Equal units stay equal. Random starts break the tie.
# - More parameters than rows is necessary to fit anything, not sufficient. The minimum-norm theorem is for models linear in their parameters; with two trained layers the start decides between rich and lazy.
#
# ## What the notes got wrong
#
# Shown above, each where it belongs: guo's condition on the activation and his appeal to Riesz; wu's "equivalent" spline; and five claims of wu 2.2.5: the start at zero, perfect fits by counting, minima of the logistic loss, minimum norm, and minimal folds. The advice that no explicit regularisation is needed has no proof behind it either: [dropout and capacity](05_dropout_and_capacity.ipynb) measures.

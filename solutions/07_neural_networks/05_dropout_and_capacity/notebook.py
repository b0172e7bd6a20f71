# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="a network that does not learn wrong labels by heart: dropout forward and backward, weight decay, early stopping, and the formula behind the coins" covers="cs480:9-dropout explainers:3.2.4"
# # Dropout and capacity control
#
# 300 handwritten digits, and somebody was careless: 67 of the labels are wrong. Nobody knows which. A network with 128
# hidden units learns all 300, the wrong ones included.
#
# A colleague trains it once more. In each step she switches three of four hidden units off, by throwing coins. Now the
# network contradicts some 40 of the labels, hardly ever a right one. And it reads new digits better.
#
# *The coins know nothing about digits. How do they find wrong labels?*
#
# She has a theory: every throw is another network, and so many networks outvote the mistakes. You will test it, and
# find a better one.

# %%
# What this notebook needs.
import itertools
import math

import numpy as np
import torch
from ipywidgets import Checkbox, Dropdown, FloatSlider, IntSlider, SelectionSlider
from scipy.special import log_softmax, softmax

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
from descent.pictures.neural_networks import dropout_and_capacity as dc

start("07_neural_networks/05_dropout_and_capacity")

# %% covers="cs480:9-dropout explainers:3.2.4"
# The same network and the same labels, without and with coins.
show(*dc.draw_why(), digits=0)

# %% [markdown] covers="guo:III.10.a guo:II.5.b wu:2.15.3"
# ## 1. Do three networks outvote a lie?
#
# An **ensemble** averages the predictions of several networks. That cancels what differs between them; the
# [[05/05|random forest]] lives on it. So train three networks without coins, from three random starts, and let them
# vote. (Averaging their probabilities is the usual way.)

# %% predict="vote" minutes=1 covers="guo:III.10.a guo:II.5.b"
predict(
    "vote",
    "How many of the 67 wrong labels does the vote of the three still believe?",
    ["None", "About 20", "About 45", "All, or nearly all"],
    truth=3 if dc.votes()[0][3] > 0.95 else 1,
    because="Each of them has learnt every label by heart, and averaging removes only "
    "what differs. On new digits, where they do differ, the vote helps a little.",
)

# %% [markdown] covers="wu:2.15.1 cs480:9-dropout explainers:3.2.4"
# So there are votes that do not help. What else do the coins do?
#
# ## 2. Coins
#
# Let $h \in \mathbb R^d$ be the values of a hidden layer. **Dropout** multiplies it by a random **mask**:
#
# $$h_\text{dropout} = m \odot h, \qquad m_i \in \{0, 1\}, \qquad P(m_i = 0) = p .$$
#
# $\odot$ multiplies entry by entry, and the $m_i$ are independent. $p$ is the **dropout rate**; some count with the
# probability $q = 1 - p$ of *keeping* a unit. Every row of every mini-batch gets new coins. In use no unit is dropped.
#
# Press play. The output $s = \sum_i m_iw_ih_i$ jumps.
#
# 1. Where is the mean of all masks, compared with the whole network?
# 2. Tick "inverted": divide what is kept by $1 - p$. What happens to the mean, and what to the scatter?

# %% covers="wu:2.15.1 explainers:3.2.4 cs480:9-dropout wu:2.15.2 guo:III.10.a"
# Play the throws; the histogram holds all 256 masks.
explore(
    dc.draw_mask,
    play="throw",
    p=FloatSlider(0.5, min=0, max=0.9, step=0.05, description="rate p"),
    throw=IntSlider(1, min=1, max=30, description="throw"),
    inverted=Checkbox(False, description="inverted: divide by 1 − p"),
)

# %% [markdown] covers="wu:2.15.4"
# One coin has the mean $1 - p$, and as $m_i^2 = m_i$, the variance $(1-p) - (1-p)^2 = p(1-p)$. So
#
# $$\mathbb E[m\odot h] = (1-p)\,h, \qquad \operatorname{Var}[m\odot h] = p(1-p)\; h\odot h .$$
#
# **Inverted** masks are divided by $1 - p$, so their variance by its square. And a readout $s_k = \sum_i
# W_{ik}\,m_i h_i$ adds independent terms: means add up, and so do variances.


# %% exercise="dropout_moments" points=2 difficulty=1 covers="wu:2.15.4"
def dropout_moments(h, W, p, inverted):
    """Mean and variance of the readout s = W.T @ (m * h), over the random mask m.

    h (d,). W (d, k). p: chance that m_i is 0, 0 <= p < 1; the m_i are independent.
    inverted: the mask is divided by 1 - p. Returns (mean (k,), variance (k,)).
    h = [1, 2], W = [[1], [1]], p = 0.5 gives ([1.5], [1.25]); inverted ([3], [5]).
    """
    ### BEGIN SOLUTION
    q = 1 - p
    mean = W.T @ h
    squares = (W**2).T @ h**2
    if inverted:
        return mean, p / q * squares
    return q * mean, p * q * squares
    ### END SOLUTION


# %% check="dropout_moments"
check(dropout_moments)

# %% [markdown] covers="wu:2.15.2 cs480:9-dropout explainers:3.2.4 guo:III.10.a"
# What follows was trained on inputs of mean $(1-p)h$. In use it would get all of $h$, too much by the factor $\frac1{1-p}$.
# There are two repairs:
#
# | | in training | in use |
# |---|---|---|
# | **plain** | $m\odot h$ | $(1-p)\,h$ |
# | **inverted** (every library) | $\frac{1}{1-p}\,m\odot h$ | $h$ |
#
# With the second, whoever uses the finished network need not know that there were coins. Write both. The coins are fixed by the
# text: `rng.random(h.shape)`, and a unit stays where its number is at least $p$.


# %% exercise="dropout_forward" points=3 difficulty=1 covers="wu:2.15.2 wu:2.15.1 cs480:9-dropout explainers:3.2.4 guo:III.10.a"
def dropout_forward(h, p, train, inverted, rng):
    """A layer's values after dropout, and the factor by which each was multiplied.

    h: array of any shape, one coin for each entry. p: chance to drop, 0 <= p < 1.
    train: True in training (coins are thrown), False in use (no random numbers).
    inverted: rescale in training; otherwise rescale in use (plain).
    Returns (out, factor), both arrays of h's shape, out = h * factor.
    If rng.random((1, 3)) gives [[0.6, 0.3, 0.8]], then h = [[1, 2, 3]], p = 0.5,
    train and inverted give ([[2, 0, 6]], [[2, 0, 2]]).
    """
    ### BEGIN SOLUTION
    if not train:
        factor = np.full(h.shape, 1.0 if inverted else 1 - p)
    else:
        keep = rng.random(h.shape) >= p
        factor = keep / (1 - p if inverted else 1)
    return h * factor, factor
    ### END SOLUTION


# %% check="dropout_forward"
check(dropout_forward)

# %% covers="wu:2.15.2 wu:2.15.4 cs480:9-dropout explainers:3.2.4"
# Your coins beside your moments and beside torch's.
with after(dropout_moments, dropout_forward):
    rng, p = np.random.default_rng(0), 0.4
    h, W = rng.uniform(0, 2, 30), rng.normal(size=(30, 3))
    for inverted in (False, True):
        out, factor = dropout_forward(np.tile(h, (50_000, 1)), p, True, inverted, rng)
        s, (mean, variance) = out @ W, dropout_moments(h, W, p, inverted)
        near = abs(s.mean(axis=0) - mean) < 5 * np.sqrt(variance / len(s))
        kind = "inverted" if inverted else "plain"
        claim(
            "{kind}: mean {m:.1f}, variance {v:.1f} of output 1; 50,000 masks agree",
            near.all() and np.allclose(s.var(axis=0), variance, rtol=0.05),
            kind=kind, m=mean[0], v=variance[0],
        )  # fmt: skip
        used = dropout_forward(h, p, False, inverted, rng)[0]
        claim("{kind}: training and use agree in the mean", kind=kind,
              holds=bool(abs(out.mean(axis=0) - used).max() < 0.03))  # fmt: skip
    torch.manual_seed(0)
    theirs = torch.nn.functional.dropout(torch.ones(50_000), p).numpy()
    same = np.allclose(np.unique(theirs), np.unique(factor))
    share = abs((theirs > 0).mean() - (factor > 0).mean()) < 0.02
    claim("torch's factors are 0 and 1/0.6 as well, and as often", same and share)

# %% predict="same-image" minutes=1 covers="wu:2.15.5"
predict(
    "same-image",
    "A torch network with nn.Dropout(0.5) has just been trained. You score one image "
    "twice and call nothing else before. What do you see?",
    ["The same scores twice", "Two different scores", "An error"],
    truth=0 if dc.same_twice() else 1,
    because="It is still in training mode: the coins fall. net.eval() switches them "
    "off. After validating call net.train(), or training goes on without dropout.",
)

# %% [markdown] covers="cs480:9-dropout guo:III.10"
# ## 3. The way back, and a loop
#
# Dropout is $h\odot f$ with a factor $f$ that does not depend on $h$. So the gradient goes back through the *same*
# $f$, and the $\frac1{1-p}$ is in it already.
#
# There is another way to hold a network: **weight decay** adds a penalty on all squared weights (biases go free),
#
# $$L = -\frac1n\sum_{i}\log\mathrm{softmax}(s_i)_{y_i} + \lambda\big(\lVert W_1\rVert_F^2 + \lVert W_2\rVert_F^2\big),
# \quad \lVert W\rVert_F^2 = \sum_{ij}W_{ij}^2 ,$$
#
# with $h = \mathrm{relu}(XW_1 + b_1)\odot f$ and $s = hW_2 + b_2$. The penalty's slope is $2\lambda W$: besides
# following the data, each step of gradient descent, of size $\eta$, multiplies the weights by $1 - 2\eta\lambda$. They decay.


# %% exercise="net_grads" points=4 difficulty=1 covers="cs480:9-dropout guo:III.10"
def net_grads(X, y, W1, b1, W2, b2, factor, lam):
    """The loss L above, natural logarithm, and its gradients.

    X (n, m). y (n,) integer labels 0 … k-1. W1 (m, d), b1 (d,), W2 (d, k), b2 (k,).
    factor (n, d): f above, held fixed. lam >= 0. The slope of the ReLU at 0 is 0.
    Scores of 900 and -900 must give finite results.
    Returns (loss, dW1, db1, dW2, db2), gradients in the shapes of the parameters.
    X = [[1]], y = [0], W1 = [[1]], b1 = [0], W2 = [[1, 0]], b2 = [0, 0],
    factor = [[2]], lam = 0 gives 0.1269, [[-0.2384]], [-0.2384],
    [[-0.2384, 0.2384]], [-0.1192, 0.1192]; lam = 0.1 adds 0.2 to the loss.
    """
    ### BEGIN SOLUTION
    a = X @ W1 + b1
    h = np.maximum(a, 0) * factor
    log_p = log_softmax(h @ W2 + b2, axis=1)
    rows = np.arange(len(y))
    penalty = lam * (np.sum(W1**2) + np.sum(W2**2))
    loss = penalty - log_p[rows, y].mean()
    delta = np.exp(log_p)
    delta[rows, y] -= 1
    delta = delta / len(y)
    dW2 = h.T @ delta + 2 * lam * W2
    back = (delta @ W2.T) * factor * (a > 0)
    dW1 = X.T @ back + 2 * lam * W1
    return loss, dW1, back.sum(axis=0), dW2, delta.sum(axis=0)
    ### END SOLUTION


# %% check="net_grads"
check(net_grads)

# %% covers="cs480:9-dropout guo:III.10"
# Your slopes against differences, one unit off in every row.
with after(dropout_forward, net_grads):
    rng, t = np.random.default_rng(3), 1e-6
    X, y = rng.normal(size=(5, 4)), rng.integers(0, 3, 5)
    net = [rng.normal(size=s) for s in ((4, 6), (6,), (6, 3), (3,))]
    factor = dropout_forward(np.ones((5, 6)), 0.5, True, True, rng)[1]
    factor[:, 2] = 0
    slopes = net_grads(X, y, *net, factor, 0.0)[1:]
    move = [rng.normal(size=v.shape) for v in net]
    up, down = (
        net_grads(X, y, *[v + e * m for v, m in zip(net, move)], factor, 0.0)[0]
        for e in (t, -t)
    )
    along = sum(np.sum(g * m) for g, m in zip(slopes, move))
    near = abs((up - down) / 2 / t - along) < 1e-5
    claim("a nudge in a random direction says the same", near)
    off = not slopes[0][:, 2].any() and not slopes[2][2].any()
    claim("a unit that is off in every row gets no slope", off)
    decayed = net_grads(X, y, *net, factor, 0.1)[1:]
    added = [b - a for a, b in zip(slopes, decayed)]
    shares = zip(added, (0.2, 0, 0.2, 0), net)
    right = all(np.allclose(more, share * v) for more, share, v in shares)
    claim("λ = 0.1 adds 0.2 W, and nothing to biases", right)

# %% [markdown] covers="cs480:9-dropout explainers:3.2.3 explainers:3.2.4"
# Look at the first picture again: the right labels are learnt *first*. So a third way is to stop in time. Watch the
# [[01/03|validation loss]], on rows kept apart that are never trained on, and keep the weights where it was lowest.
#
# Write the loop that has all three: coins, whatever slopes it is given (with decay or without), and the best weights on the
# way.


# %% exercise="train" points=6 difficulty=1 covers="cs480:9-dropout explainers:3.2.4 wu:2.15.1 explainers:3.2.3"
def train(slopes, held_out, net, p, eta, batches, every, patience, rng):
    """Gradient descent under inverted dropout that keeps its best weights.

    net: [W1, b1, W2, b2], arrays, left unchanged; b1 has an entry and W2 a row for
    each hidden unit.
    batches: list of arrays of row numbers, one a step. Before steps 0, every,
    2 every, … held_out(net) gives a loss of the net as it is now. One that is lower
    than all before is a record. The first is never nan, and is a record; a later nan
    is none.
    After patience losses in a row without a record training ends, before the step.
    A step: coins as above, from rng.random((rows of the batch, hidden units)); with
    the factor slopes(net, batch, factor) gives a list like net; net moves by -eta
    times it.
    Returns (net at the last record, net at the end, list of all losses).
    """
    ### BEGIN SOLUTION
    lowest, losses = math.inf, []
    last = net
    for step, batch in enumerate(batches):
        if step % every == 0:
            losses.append(held_out(last))
            if losses[-1] < lowest:
                best, lowest, waited = last, losses[-1], 0
            else:
                waited = waited + 1
            if waited == patience:
                break
        keep = rng.random((len(batch), len(net[1]))) >= p
        found = slopes(last, batch, keep / (1 - p))
        last = [value - eta * slope for value, slope in zip(last, found)]
    return best, last, losses
    ### END SOLUTION


# %% check="train"
check(train)

# %% [markdown] covers="wu:2.15.3"
# ## 4. What the coins charge
#
# Take a model where everything can be computed: linear, squared loss, a table $X$ whose *entries* are dropped (inverted).
# For row $x$ the prediction has the mean $x^\top w$ and, by your moments, the variance $\frac{p}{1-p}\sum_i
# w_i^2x_i^2$. The expected square of anything is its squared mean plus its variance. So
#
# $$\mathbb E\,\Big\lVert y - \tfrac{1}{1-p}(M\odot X)w\Big\rVert^2 = \lVert y - Xw\rVert^2 + \frac{p}{1-p}\sum_i
# c_i\,w_i^2, \qquad c_i = \sum_r X_{ri}^2 .$$
#
# Coins are a **charge on large weights**: [[01/03|ridge]], with a strength for each weight that comes from the data.

# %% [markdown] covers="wu:2.15.3"
# **Take two weights in hand.** A feature and a copy of it; the target is the feature. All pairs with $w_1 + w_2 = 1$ fit.
#
# 1. At $p = 0$ walk along the valley. Is (5, −4) worse than (½, ½)? What if copy 1 fails?
# 2. Raise $p$. What happens to the valley, and to the bill of (5, −4)?
#
# Two units of which each is useless without the other are **co-adapted**. The coins make them share the work instead, as
# many nerve cells share theirs: a rough parallel, no more.

# %% covers="wu:2.15.3"
# Drag the pair of weights.
explore(
    dc.draw_copies,
    drag={("w1", "w2"): "weights"},
    w1=FloatSlider(5, min=-6, max=6, step=0.1, description="w₁"),
    w2=FloatSlider(-4, min=-6, max=6, step=0.1, description="w₂"),
    p=FloatSlider(0, min=0, max=0.9, step=0.05, description="rate p"),
)

# %% [markdown] covers="wu:2.15.3"
# So nobody need throw a coin: set the gradient of the right side to 0 and solve. Write it.


# %% exercise="dropout_ridge" points=2 difficulty=1 covers="wu:2.15.3"
def dropout_ridge(X, y, p):
    """The w that minimises the expected loss E‖y - (M * X) w / (1 - p)‖².

    X (n, m), no column is all zero, no intercept. y (n,), or (n, k): k tasks, each
    with weights of its own. p: chance to drop an entry, 0 <= p < 1; for p = 0 the
    columns are independent. Returns w (m,), or (m, k).
    X = [[1], [2]], y = [1, 3], p = 0.5 gives [0.7].
    """
    ### BEGIN SOLUTION
    c = np.sum(X**2, axis=0)
    penalty = p / (1 - p) * np.diag(c)
    return np.linalg.solve(X.T @ X + penalty, X.T @ y)
    ### END SOLUTION


# %% check="dropout_ridge"
check(dropout_ridge)

# %% covers="wu:2.15.3"
# All masks of a small table; coins on 442 patients; other units.
with after(dropout_ridge):
    rng, p = np.random.default_rng(9), 0.3
    X, y, w = rng.normal(size=(3, 4)), rng.normal(size=3), rng.normal(size=4)
    flat = dc.all_masks(12)
    tables, chance, c = flat.reshape(-1, 3, 4), dc.chances(flat, p), np.sum(X**2, 0)
    mean = chance @ np.sum((y - (tables * X) @ w / (1 - p)) ** 2, axis=1)
    formula = np.sum((y - X @ w) ** 2) + p / (1 - p) * np.sum(c * w**2)
    claim("the formula: by all 4,096 masks of a table", np.isclose(mean, formula))
    table = data.diabetes()
    X = (table.X - table.X.mean(axis=0)) / table.X.std(axis=0)
    y, w, total = table.y - table.y.mean(), np.zeros(10), np.zeros(10)
    for step in range(3000):
        masked = X * (rng.random(X.shape) >= p) / (1 - p)
        w = w - 0.02 * masked.T @ (masked @ w - y) / len(y)
        total = total + w * (step >= 1000)
    exact = dropout_ridge(X, y, p)
    apart = np.linalg.norm(total / 2000 - exact) / np.linalg.norm(exact)
    claim(
        "3,000 steps with coins: the mean of the last 2,000 is where it says, to 5 %",
        apart < 0.05,
    )
    mm = X * np.r_[1000, np.ones(9)]
    same = np.allclose(mm @ dropout_ridge(mm, y, p), X @ exact)
    claim("metres or millimetres: no prediction changes", same)

# %% predict="no-coins" minutes=1 covers="wu:2.15.3"
predict(
    "no-coins",
    "Now the 300 digits, each through 400 ReLU units with random weights that nobody "
    "trains. The readout is your formula, p = 0.75, one task a class. No coins. How "
    "many labels does it contradict, and how many of these are wrong?",
    ["0", "About 60, of which 13 are wrong", "About 60, nearly all wrong"],
    truth=dc.found_without_coins(0.75),
    because="The wrong labels go first. To say 7 in the midst of 3s, units must cancel "
    "on all the neighbours: large weights of both signs, the (5, −4) of before.",
)  # fmt: skip

# %% covers="wu:2.15.3"
# Your formula on the digits, for nine rates.
with after(dropout_ridge, "no-coins"):
    H, (X, y, told, lie) = dc.fixed_features(), dc.noisy_digits()
    rates, shares = (1e-4, 1e-3, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9), []
    for p in rates:
        says = (H @ dropout_ridge(H[:300], np.eye(10)[told], p)).argmax(axis=1)
        agrees = says[:300] == told
        new = np.mean(says[500:] == y[500:])
        shares.append([agrees[~lie].mean(), agrees[lie].mean(), new])
        if p == 0.75:
            against, wrong = dc.suspects(says)
    claim(
        "p = 0.75: {against} of 300 labels contradicted, {wrong} of them wrong",
        wrong > 0.9 * against, against=against, wrong=wrong,
    )  # fmt: skip
    truth, lies = (
        np.linalg.norm(dropout_ridge(H[:300], np.eye(10)[labels], 1e-4))
        for labels in (y[:300], told)
    )
    claim("by heart: weights {r:.1f} times as long as for the true labels",
          lies > 1.5 * truth, r=lies / truth)  # fmt: skip
    show(*dc.draw_formula(rates, np.array(shares)))

# %% [markdown] covers="cs480:9-dropout guo:III.10 explainers:3.2.3"
# ## 5. The answer
#
# The coins need know nothing. They charge for weights. What many rows agree on is cheap; an exception must be held up
# against its neighbours, and is dear. So exceptions are the last thing that the network buys, and a wrong label is an
# exception.
#
# If that is right, then *anything* that makes weights dear should find wrong labels, and so should stopping early, before they are bought.
# Try it, with your own parts.

# %% covers="cs480:9-dropout guo:III.10 explainers:3.2.3 wu:2.15.5"
# Three networks from one start, each at its end and at its best.
with after(net_grads, train):
    X, y, told, lie = dc.noisy_digits()
    data_rng = np.random.default_rng(1)
    batches = [data_rng.choice(300, 50, replace=False) for _ in range(1000)]
    begin = [data_rng.normal(0, (2 / 64) ** 0.5, (64, 128)), np.zeros(128),
             data_rng.normal(0, 128**-0.5, (128, 10)), np.zeros(10)]  # fmt: skip

    def learn(p, lam):
        def slopes(net, rows, factor):
            return net_grads(X[rows], told[rows], *net, factor, lam)[1:]

        def held_out(net):
            return net_grads(X[300:500], y[300:500], *net, np.ones((200, 128)), 0.0)[0]

        coins = np.random.default_rng(2)
        return train(slopes, held_out, begin, p, 0.5, batches, 25, 99, coins)

    def says(net):
        hidden = np.maximum(X @ net[0] + net[1], 0)
        return (hidden @ net[2] + net[3]).argmax(axis=1)

    ways = {}
    for name, p, lam in (("nothing", 0, 0), ("coins", 0.75, 0), ("decay", 0, 0.005)):
        best, last, losses = learn(p, lam)
        ways[f"{name}, end"] = says(last)
        ways[f"{name}, best"] = says(best)
    found = [dc.suspects(said) for said in ways.values()]
    claim("without restraint: hardly a label contradicted", found[0][0] < 5)
    claim(
        "each of the others contradicts over 25, mostly wrong ones",
        all(against > 25 and wrong > 0.65 * against for against, wrong in found[1:]),
    )
    show(*dc.draw_answer(ways), digits=0)

# %% [markdown] covers="cs480:9-dropout wu:2.15.3 guo:III.10"
# ## Take-aways
#
# - Dropout multiplies by independent coins: mean $(1-p)h$, variance $p(1-p)h^2$; inverted: $h$ and $\frac p{1-p}h^2$.
# - Rescale once, in training (as libraries do) or in use. The way back uses the factor of the way forward. Coins fall in
#   training mode only: `train()` and `eval()`.
# - In the mean, coins add a charge on squared weights: for a linear model they *are* a ridge, in units in which all
#   columns are equally long.
# - Wrong labels are dear to learn. Dropout, weight decay and early stopping leave most out; a vote of networks that learnt them does not.
#
# Below: in which sense dropout averages $2^d$ networks after all, error bars, rates, two kinds of decay,
# and RMS norm. Next: [[next]].

# %% [markdown] covers="wu:2.15.3 guo:III.10.a"
# ## Deeper: all sub-networks in one
#
# Your colleague's theory is not empty. A mask picks one of $2^d$ **sub-networks**, which share their weights. Does the
# scaled network average them? Let sub-network $m$ have the scores $s_m = W^\top(m\odot h)$ and the probabilities $\pi_m =
# \mathrm{softmax}(s_m)$. There are three means, each mask weighted with its probability:
#
# 1. of the scores;
# 2. the **geometric mean** of the probabilities, $\exp(\mathbb E_m[\log\pi_m])$ divided by its sum over the classes;
# 3. the plain mean of the probabilities, a vote.
#
# Which will the scaled network, $(1-p)\,W^\top h$, give? Enumerate.


# %% exercise="ensemble_mean" points=3 difficulty=1 covers="wu:2.15.3 guo:III.10.a"
def ensemble_mean(h, W, p):
    """Three means over all 2^d sub-networks with plain masks (zeros and ones).

    h (d,), d <= 10. W (d, k). p: chance that a unit is off, 0 <= p < 1.
    Returns (scores (k,), geometric (k,), vote (k,)): means 1 to 3 of the text; the
    last two sum to 1. Scores of 2000 and -2000 must give finite results.
    h = [1], W = [[2, 0]], p = 0.5
    gives [1, 0], [0.7311, 0.2689], [0.6904, 0.3096].
    """
    ### BEGIN SOLUTION
    masks = np.array(list(itertools.product((0.0, 1.0), repeat=len(h))))
    chance = np.prod(np.where(masks == 1, 1 - p, p), axis=1)
    s = (masks * h) @ W
    log_p = log_softmax(s, axis=1)
    geometric = softmax(chance @ log_p)
    return chance @ s, geometric, chance @ np.exp(log_p)
    ### END SOLUTION


# %% check="ensemble_mean"
check(ensemble_mean)

# %% predict="jensen" minutes=1 covers="wu:2.15.2 wu:2.15.3"
predict(
    "jensen",
    "And behind a ReLU? Two units of value 1, inverted masks, p = ½, output "
    "relu(2m₁ − 2m₂). The whole network gives relu(1 − 1) = 0. The mean over the four "
    "masks?",
    ["0", "¼", "½", "1"],
    truth=[0, 0.25, 0.5, 1].index(np.maximum(0, dc.all_masks(2) @ [2, -2]).mean()),
    because="One mask of four gives a positive input, and it gives 2. A ReLU is "
    "convex: the mean of its values is at least its value at the mean (Jensen).",
)

# %% covers="wu:2.15.3 wu:2.15.2 guo:III.10.a"
# Ten units, 1,024 sub-networks: which means are the scaled one's?
with after(ensemble_mean):
    rng, p = np.random.default_rng(8), 0.5
    h, W = rng.uniform(0.5, 2, 10), rng.normal(0, 0.5, (10, 4))
    scores, geometric, vote = ensemble_mean(h, W, p)
    scaled = (1 - p) * h @ W
    claim("mean of the scores: the scaled network's", np.allclose(scores, scaled))
    claim("geometric mean: the scaled softmax", np.allclose(geometric, softmax(scaled)))
    off = abs(vote - geometric).max()
    claim("the vote: another, off by {off:.2f}", off > 0.01, off=off)
    whole = abs(softmax(h @ W) - geometric).max()
    claim("the network without a factor: off by {w:.2f}", whole > off, w=whole)

# %% [markdown] covers="wu:2.15.3 wu:2.15.2"
# **Why.** The scores are linear in $m$. And $\log\pi_m = s_m - \log\sum_c e^{s_{m,c}}$, where the last term is the same
# for every class: it disappears when we normalise. What is left is $\mathrm{softmax}(\mathbb E[s_m])$.
#
# The conditions: *one* dropped layer, and a softmax right on its readout. With masks in several layers, or a ReLU behind them, the
# scaled network is a cheap approximation of an average. And it is not the vote that found the wrong labels: each
# sub-network has to live with its charge *in training*.

# %% [markdown] covers="guo:III.10.a cs480:9-dropout"
# ## Deeper: is the scatter an error bar?
#
# Leave the coins on in use, and the predictions scatter: **Monte-Carlo dropout** reads this as uncertainty. It is
# cheap: one training. A true ensemble of three needs three. First picture: one network under 200 masks, one mask for a
# whole curve. Second: three networks that differ in their start only.
#
# 1. Where do the three agree, where not? Does the band of the masks open beyond the data as well? And in the gap?
# 2. Raise $p$ with the same data. What happens to the band?

# %% covers="guo:III.10.a cs480:9-dropout"
# Monte-Carlo dropout and an ensemble on 24 points of a sine.
explore(
    dc.draw_bands,
    digits=0,
    p=SelectionSlider(options=dc.BANDS, value=0.1, description="rate p"),
)

# %% [markdown] covers="guo:III.10.a cs480:9-dropout"
# The masks' band grows with $p$ although the data stay: its scale is a choice. It hardly notices the gap. And far out
# the truth lies outside *both* bands: a network under all its masks, and three networks alike, can be wrong together.
# Compare with held-out errors before you call a band an error bar.

# %% [markdown] covers="wu:2.15.5"
# ## Deeper: how much, and in which mode
#
# Usual rates are $p = 0.5$ for hidden units and 0.2 for inputs (no other unit replaces a lost input), more in wide layers,
# less in narrow ones. They are starting points. Drag the rate. Where do wrong labels win, and where do the right ones suffer?

# %% covers="cs480:9-dropout wu:2.15.5"
# Drag the rate along its axis.
explore(
    dc.draw_rates,
    digits=0,
    drag={"p": "rate"},
    p=FloatSlider(0.75, min=0, max=0.9, step=0.15, description="rate p"),
)

# %% [markdown] written="training_loss_above" points=2 minutes=5 covers="wu:2.15.5"
# **In your words.** A friend trains on right labels with $p = 0.5$ and logs the *mini-batch* loss of training beside the
# validation loss. The training loss is *higher*, during the whole run. "The validation rows must have leaked," says the
# friend. Give a harmless explanation, and a measurement that decides. (Four sentences.)
#
# ### BEGIN SOLUTION
# The logged training loss is that of the sub-networks under random masks, whereas validation uses the whole network, which predicts better. Coins add noise to the scores, and noise costs loss.
# To decide, compute the loss on the training rows in evaluation mode, with the same weights as for validation. If it is now below the validation loss, all is explained; if it stays clearly above, look for leaked or easier validation rows.
#
# **Rubric**
#
# - 1: says that the coins are on for the training loss and off for the validation loss, so that two different predictors are compared
# - 1: proposes to measure the training loss in evaluation mode (no coins, same weights), and says what each outcome would mean
# ### END SOLUTION

# %% [markdown] covers="guo:III.10"
# ## Deeper: two kinds of weight decay
#
# In plain gradient descent the penalty multiplies every weight by $1 - 2\eta\lambda$. [[03/02|Adam]] divides by the size
# of past gradients, the penalty's included: the charge is lost on weights with large gradients. **Decoupled** decay (AdamW) multiplies directly. The two strengths have different units; here the decoupled one
# multiplies by $1 - 300\,\eta\lambda$.
#
# 60 points, 100 hidden units, Adam. From $\lambda = 0$ on: what happens first, to the boundary, to the share of the
# square on which the network is sure, to the training errors? Which weights settle?

# %% covers="guo:III.10"
# The boundary, and the length of all weights on the way.
explore(
    dc.draw_decay,
    digits=0,
    lam=SelectionSlider(options=dc.LAMBDAS, value=0.0, description="λ"),
    kind=Dropdown(options=dc.DECAYS, value=dc.DECAYS[0], description="decay"),
)

# %% [markdown] covers="guo:III.10"
# Certainty goes first, and the tooth of the boundary that served a single point. More training errors come with strong decay only.
# Without decay the weights grow to the end. With decay in the gradient they settle, where it balances the pull of the data;
# under decoupled decay they still grow a little.

# %% [markdown] covers="wu:2.15.6"
# ## Deeper: a mask and a norm
#
# [[07/04|RMS norm]], $\mathrm{RMSNorm}(h) = \sqrt d\,h/\lVert h\rVert$, removes errors of *length*; dropout trains for the
# loss of *units*, each there with probability $1-p$. Used together, **the order matters**. Norm first:
# $\mathbb E[m\odot\mathrm{RMSNorm}(h)] = (1-p)\,\mathrm{RMSNorm}(h)$. Mask first: for many units of similar size
# $\lVert m\odot h\rVert^2 \approx (1-p)\lVert h\rVert^2$, so
#
# $$\begin{gathered}
# \cos\angle(m\odot h, h) = \frac{\lVert m\odot h\rVert}{\lVert h\rVert} \approx \sqrt{1-p}, \\
# \mathbb E[\mathrm{RMSNorm}(m\odot h)] \approx \sqrt{1-p}\;\mathrm{RMSNorm}(h) .
# \end{gathered}$$
#
# And no repair helps: the norm ignores the factor $1-p$ in front of it, as it ignores $\frac1{1-p}$. Noise across
# $h$ keeps its angle: a positive factor changes none.

# %% covers="wu:2.15.6"
# 1,024 units: cosines for nine rates, and what the norm ignores.
rng, d, rates = np.random.default_rng(13), 1024, np.arange(0.1, 0.95, 0.1)
h = rng.normal(size=d)


def rms_norm(h):
    return np.sqrt(d) * h / np.linalg.norm(h, axis=-1, keepdims=True)


cosines = [
    np.mean(rms_norm((rng.random((200, d)) >= p) * h) @ rms_norm(h)) / d for p in rates
]
claim(
    "the cosine is √(1 − p): {low:.2f}, {half:.2f}, {high:.2f} for p = 0.1, 0.5, 0.9",
    np.allclose(cosines, np.sqrt(1 - rates), atol=0.01),
    low=cosines[0], half=cosines[4], high=cosines[8],
)  # fmt: skip
claim("a factor in front is ignored", np.allclose(rms_norm(0.5 * h), rms_norm(h)))

# %% [markdown] covers="wu:2.15.6"
# With few units nothing need be approximate. Enumerate the masks once more.


# %% exercise="masked_norms" points=2 difficulty=1 covers="wu:2.15.6"
def masked_norms(h, p):
    """The two means over all 2^d plain masks m: norm first, and mask first.

    h (d,), no entry 0, d <= 8. p: chance that a unit is off, 0 <= p < 1.
    RMSNorm(v) = sqrt(d) v / |v|, where d counts all units, dropped ones too; the zero
    vector stays zero. Returns (E[m * RMSNorm(h)] (d,), E[RMSNorm(m * h)] (d,)).
    h = [3, 4], p = 0.5 gives [0.4243, 0.5657] and [0.5657, 0.6364].
    """
    ### BEGIN SOLUTION
    d, second = len(h), np.zeros(len(h))
    for m in itertools.product((0, 1), repeat=d):
        length = np.linalg.norm(m * h)
        if length > 0:
            chance = p ** (d - sum(m)) * (1 - p) ** sum(m)
            second = second + chance * np.sqrt(d) * (m * h) / length
    return (1 - p) * np.sqrt(d) * h / np.linalg.norm(h), second
    ### END SOLUTION


# %% check="masked_norms"
check(masked_norms)

# %% [markdown] covers="wu:2.15.6"
# So with few units even the mean turns. Now break some networks: on the 300 digits, with neither method, with RMS norm
# on the hidden layer, with dropout ($p = 0.5$), with both (norm first). Then damage the hidden layer of the finished
# networks, in front of the norm: each row times 4 or ¼; noise as long as $h$ across it; dead units. "Probability moved"
# is half the sum of all changes, 1 if all probability goes to other classes.
#
# Which method will help against which damage?

# %% covers="wu:2.15.6 wu:2.15.3"
# Four kinds of network, three kinds of damage.
accuracy, moved = dc.damage()
show(*dc.draw_damage(), digits=0)
only = moved[[1, 3], 0].max() < 0.01 < moved[[0, 2], 0].min()
claim("scale: removed by the norm, and only by it", only)
lost = accuracy[:, 0] - accuracy[:, 5]
claim("half of the units dead: dropout loses less", lost[2] < 0.7 * lost[0])
claim("noise across h: removed by neither", moved[:, 1].min() > 0.1)

# %% [markdown] covers="wu:2.15.6"
# Two methods, two kinds of faults. Only the statement about scale is a guarantee.

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails,
# the right one holds, and a wrong one of the same shape fails too. *Too broad*: a condition is missing.

# %% demo=true covers="cs480:9-dropout explainers:3.2.4 guo:III.10.a guo:III.10"
# cs480, explainers, guo: where the factor goes, when coins fall.
flat, q = dc.all_masks(6), 0.8
chance, h = dc.chances(flat, 1 - q), np.random.default_rng(2).uniform(0.5, 2, 6)
forward = {
    "backward only": chance @ (flat * h),  # the values going forward stay as they are
    "forward": chance @ (flat * h / q),
    "q in place of 1/q": chance @ (flat * h * q),
}
kept = {name: np.allclose(mean, h) for name, mean in forward.items()}
erratum(
    "cs480:9-dropout",
    quote=r"multiply each  $\mathbf{h}$  by  $1/q$  during the back-propagation",
    corrected=(
        r"multiply by $1/q$ in the forward pass of training; the way back inherits it"
    ),
    printed_holds=kept["backward only"],
    corrected_holds=kept["forward"],
    decoy_holds=kept["q in place of 1/q"],
)
torch.manual_seed(2)
layer, ones = torch.nn.Dropout(0.5), torch.ones(50, 64)  # six mini-batches of an epoch
masks = torch.stack([layer(ones) for _ in range(6)])
one_mask = bool((masks == masks[0, 0]).all())
every_row = len(masks.flatten(0, 1).unique(dim=0)) == 300
erratum(
    "explainers:3.2.4",
    quote=(
        "at the beginning of each epoch, independently set the activation of each "
        "neuron to 0 with some probability"
    ),
    corrected=(
        "in every forward pass, in most libraries for every row; once an epoch is "
        "right only if an epoch is one step"
    ),
    kind="broad",
    printed_holds=one_mask,
    corrected_holds=every_row,
)
erratum(
    "explainers:3.2.4",
    quote="Make sure to not apply dropout at inference time!",
    corrected=r"with a factor $1/(1-p)$ in training, or $1-p$ at inference",
    kind="convention",
)
erratum(
    "guo:III.10.a",
    quote=(
        "There were element-wise multiplication with binary vectors: … "
        r"\mathbf{h}_1 \odot \mathbf{b}"
    ),
    corrected=r"$h_1\odot b/(1-p)$ in training, or $(1-p)h_1$ in use",
    kind="convention",
)
erratum(
    "guo:III.10",
    quote=r"\lambda \sum_{\ell=0}^L \|W_\ell\|_2^2",
    corrected=(
        r"$\lambda\sum_l\lVert W_l\rVert_F^2$: for a matrix the index 2 often means "
        "the largest singular value"
    ),
    kind="convention",
)

# %% demo=true covers="wu:2.15.6"
# wu, 2.15.6: a missing √d, and the mask that drops everything.
h = np.array([1.0, -2.0, 0.5, 3.0])
lengths = {c: np.linalg.norm(c * h / np.linalg.norm(h)) for c in (1.0, 2.0, 4.0)}
erratum(
    "wu:2.15.6",
    quote="- RMS norm:  $h \\to h/||h||$  (magnitude correction)",
    corrected=r"$h \to \sqrt d\,h/\lVert h\rVert$, of length $\sqrt d$ as in (2.181)",
    printed_holds=np.isclose(lengths[1.0], 2.0),  # √d for d = 4
    corrected_holds=np.isclose(lengths[2.0], 2.0),
    decoy_holds=np.isclose(lengths[4.0], 2.0),  # d in place of √d
)
with np.errstate(invalid="ignore"):
    normed = [2 * v / np.linalg.norm(v) for v in dc.all_masks(4) * h]
stable = np.isclose(np.linalg.norm(normed, axis=1), 2.0)
erratum(
    "wu:2.15.6",
    quote=r"\|\text{RMSNorm}(m \odot h)\| = \sqrt{d} \quad \text{(stable magnitude)}",
    corrected=(
        r"if $m\odot h \ne 0$; the mask that drops everything has probability $p^d$"
    ),
    kind="broad",
    printed_holds=bool(stable.all()),
    corrected_holds=bool(stable[1:].all() and not stable[0]),
)

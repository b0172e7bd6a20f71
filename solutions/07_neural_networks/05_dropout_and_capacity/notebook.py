# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] minutes=90 builds="a network that does not learn its training labels by heart: dropout forward and backward, weight decay, early stopping"
# # Dropout and capacity control
#
# Lectures: cs480 9 (dropout) · explainers 3.2.4 · guo III.10 · wu 2.15. Early stopping (explainers 3.2.3) returns on a real run.
#
# How do we hold a network that has [more weights than rows](01_one_hidden_layer.ipynb)? At the end you can
#
# - write dropout, forward and backward, and repair its mean in two ways;
# - state the mean and the variance of a dropped layer, and where the repair is exact;
# - say in which sense one network with dropout is an average of $2^d$ networks, and in which it is not;
# - prove that dropped inputs of a linear model are a ridge penalty;
# - choose between dropout, weight decay, early stopping and a true ensemble, and tell what a normaliser does to all this.

# %%
import itertools

import numpy as np
import sympy
import torch
from ipywidgets import Checkbox, Dropdown, FloatSlider, IntSlider, SelectionSlider

from descent import after, check, data, erratum, explore, hint, predict, show, start
from descent.pictures.neural_networks import dropout_and_capacity as dc

start("07_neural_networks/05_dropout_and_capacity")

# %% [markdown] covers="cs480:9-dropout explainers:3.2.4"
# ## Why it matters
#
# 300 handwritten digits, and somebody mislabelled one in five. A network with 128 hidden units (9610 weights and biases) is trained on them for 600 steps. 1297 digits with right labels wait.
#
# On the left nothing restrains the network. On the right each hidden unit is switched off by a coin, again and again, during training. Nothing else differs.

# %% covers="cs480:9-dropout explainers:3.2.4" demo=true
end = {p: dc.mean_curves("train", p)[-1, 1] for p in (0.0, 0.7)}
predict(
    "80 % of the training labels are right. What share of the training labels, wrong "
    "ones included, does the unrestrained network agree with in the end?",
    ["about 60 %", "about 80 %", "nearly 100 %"],
    truth=2 if end[0.0] > 0.95 else 1,
    because="It learns the wrong labels by heart, and pays on new digits. It has more "
    "than enough weights to store 300 labels.",
    then=lambda dc=dc: dc.draw_why(),
    digits=0,
)

# %% [markdown] covers="wu:2.15.1 explainers:3.2.4 cs480:9-dropout"
# ## 1. Coins
#
# Let $h \in \mathbb R^d$ be the values of a hidden layer. **Dropout** multiplies it by a random **mask**:
#
# $$h_\text{dropout} = m \odot h, \qquad m_i \in \{0, 1\} \text{ independent}, \qquad P(m_i = 0) = p .$$
#
# $\odot$ is the elementwise product. $p$ is the **dropout rate**; cs480 counts the other way, with the probability $q = 1 - p$ of *keeping* a unit. A dropped unit sends nothing on, and no gradient comes back through it.
# New coins are thrown for every row of every mini-batch. (Once an epoch, as explainers says, would leave some units untrained for a whole epoch.) After training no unit is dropped.
#
# The mask makes the output $s = w^\top(m\odot h)$ random. The histogram shows it over all $2^8 = 256$ masks.
#
# **Find out.** (1) Each number of "throw" is a new throw of the coins. How far does the output jump? (2) With plain masks, what is the mean over the masks, divided by the output of the whole network (dashed)? Compare with $1 - p$. (3) Tick "inverted". What happens to the mean, and what to the scatter? (4) For which $p$ is the scatter of plain masks largest? (5) And of inverted ones?

# %% covers="wu:2.15.1 explainers:3.2.4 cs480:9-dropout wu:2.15.2" demo=true
explore(
    dc.draw_mask,
    p=FloatSlider(0.5, min=0, max=0.9, step=0.05, description="rate p"),
    batch=IntSlider(1, min=1, max=30, description="throw"),
    inverted=Checkbox(False, description="inverted: divide by 1 - p"),
)

# %% [markdown] covers="wu:2.15.4"
# ### Mean and variance
#
# One coin: $\mathbb E[m_i] = 1 - p$, and as $m_i^2 = m_i$, $\operatorname{Var}[m_i] = (1-p) - (1-p)^2 = p(1-p)$. So
#
# $$\mathbb E[m\odot h] = (1-p)\,h, \qquad \operatorname{Var}[m\odot h] = p(1-p)\; h\odot h .$$
#
# **Inverted** dropout divides by $1 - p$: mean $h$, variance $\frac{p}{1-p}\,h\odot h$.
#
# A readout $s_k = \sum_i W_{ik}\,m_i h_i$ adds independent terms, so means add and variances add. The cell proves the moments of one unit; you write those of the readout.

# %% covers="wu:2.15.4" demo=true
p, h1 = sympy.symbols("p h", positive=True)
outcomes = [(h1, 1 - p), (0, p)]  # value, probability
mean = sum(value * chance for value, chance in outcomes)
variance = sum((value - mean) ** 2 * chance for value, chance in outcomes)
assert sympy.simplify(mean - (1 - p) * h1) == 0
assert sympy.simplify(variance - p * (1 - p) * h1**2) == 0
assert sympy.simplify(variance / (1 - p) ** 2 - p / (1 - p) * h1**2) == 0
print("largest at p =", sympy.solve(sympy.diff(variance, p), p)[0], "(plain masks)")


# %% exercise="dropout_moments" points=2 minutes=8 difficulty=1 covers="wu:2.15.4"
def dropout_moments(h, W, p, inverted):
    """Mean and variance of the readout s = W.T @ (m * h), over the random mask m.

    h (d,). W (d, k). p: chance that m_i is 0, 0 <= p < 1; the m_i are independent.
    inverted: the mask is divided by 1 - p. Returns (mean (k,), variance (k,)).
    h = [1, 2], W = [[1], [1]], p = 0.5 gives ([1.5], [1.25]); inverted ([3], [5]).
    """
    ### BEGIN SOLUTION
    q = 1 - p
    mean, squares = W.T @ h, (W**2).T @ h**2
    if inverted:
        return mean, p / q * squares
    return q * mean, p * q * squares
    ### END SOLUTION


# %% check="dropout_moments"
check(dropout_moments)

# %% [markdown] covers="wu:2.15.4"
# Now let chance confirm it: 200 000 masks for a layer of 30 units with three outputs.

# %% covers="wu:2.15.4"
with after(dropout_moments):
    rng = np.random.default_rng(0)
    h, W = rng.uniform(0, 2, 30), rng.normal(size=(30, 3))
    for p, inverted in ((0.4, False), (0.4, True), (0.8, True)):
        keep = rng.random((200_000, 30)) >= p
        s = (keep * h) @ W / (1 - p if inverted else 1)
        mean, variance = dropout_moments(h, W, p, inverted)
        error = np.sqrt(variance / len(s))  # standard error of a mean
        assert np.all(abs(s.mean(axis=0) - mean) < 5 * error)
        assert np.allclose(s.var(axis=0), variance, rtol=0.03)
        kind = "inverted" if inverted else "plain"
        print(
            f"p = {p}, {kind:>8}: variance of output 1 {variance[0]:.1f}, "
            f"measured {s[:, 0].var():.1f}"
        )

# %% [markdown] covers="wu:2.15.2 wu:2.15.5 guo:III.10.a cs480:9-dropout"
# ## 2. Two ways to repair the mean
#
# The next layer was trained on inputs with mean $(1-p)h$. After training it gets all of $h$: too much by the factor $\frac{1}{1-p}$. (guo and explainers stop here, without a repair.)
#
# | | in training | after training |
# |---|---|---|
# | **plain**, test-time scaling (wu) | $m\odot h$ | $(1-p)\,h$ |
# | **inverted** (every library) | $\frac{1}{1-p}\,m\odot h$ | $h$ |
#
# Both agree in the mean. The second leaves the finished network untouched: whoever uses it need not know that there was dropout.
#
# Write both. To make the result testable the text fixes the coins: draw `rng.random(h.shape)` once per training call; a unit is **kept where its number is at least** $p$. Return the factor too; you will need it on the way back.


# %% exercise="dropout_forward" points=3 minutes=12 difficulty=2 covers="wu:2.15.2 wu:2.15.1 cs480:9-dropout explainers:3.2.4 guo:III.10.a"
def dropout_forward(h, p, train, inverted, rng):
    """A layer's values after dropout, and the factor by which each was multiplied.

    h: array of any shape, one coin for each entry. p: chance to drop, 0 <= p < 1.
    train: True in training (coins are thrown), False afterwards (no random numbers).
    inverted: rescale in training; otherwise rescale afterwards (plain).
    Returns (out, factor), both arrays of h's shape, out = h * factor; h stays as it is.
    If rng.random((1, 3)) gives [[0.6, 0.3, 0.8]], then h = [[1, 2, 3]], p = 0.5,
    train and inverted give ([[2, 0, 6]], [[2, 0, 2]]).
    """
    ### BEGIN SOLUTION
    if not train:
        factor = np.full(h.shape, 1.0 if inverted else 1 - p)
    else:
        keep = rng.random(h.shape) >= p
        factor = keep / (1 - p) if inverted else keep * 1.0
    return h * factor, factor
    ### END SOLUTION


# %% check="dropout_forward"
check(dropout_forward)

# %% [markdown] covers="wu:2.15.2 cs480:9-dropout"
# Yours beside `torch.nn.functional.dropout`: share of kept units, mean, standard deviation, and what evaluation returns. (Torch's `p` is the chance to drop, as here.)

# %% covers="wu:2.15.2 cs480:9-dropout guo:III.10.a"
with after(dropout_forward):
    rng, h, p = np.random.default_rng(1), np.full(400_000, 3.0), 0.4
    torch.manual_seed(0)
    theirs = torch.nn.functional.dropout(torch.tensor(h), p, training=True).numpy()
    mine, factor = dropout_forward(h, p, True, True, rng)
    plain, _ = dropout_forward(h, p, True, False, rng)
    again, _ = dropout_forward(h, p, True, True, rng)
    assert np.array_equal(dropout_forward(h, p, False, True, rng)[0], h)
    assert np.array_equal(dropout_forward(h, 0.0, True, True, rng)[0], h)
    assert np.mean((mine == 0) != (again == 0)) > 0.4  # new coins in every call
    for name, out in (("yours", mine), ("torch", theirs), ("plain", plain)):
        print(
            f"{name}: kept {np.mean(out > 0):.2f}, mean {out.mean():.1f}, "
            f"sd {out.std():.2f}"
        )
        assert abs(np.mean(out > 0) - (1 - p)) < 0.004  # five standard errors
    assert abs(mine.mean() - 3) < 0.02 and abs(plain.mean() - 1.8) < 0.012

# %% [markdown] covers="wu:2.15.5 wu:2.15.2 explainers:3.2.4 guo:III.10.a"
# wu lists "two implementations" for the time after training: scale the output, $(W^\top h)(1-p)$, or the weights, $(W^\top(1-p))\,h$. Are these two methods? And is the repair always exact? Before you read the errata:

# %% covers="wu:2.15.2 wu:2.15.4" demo=true
h, w, p = np.array([1.0, 1.0]), np.array([1.0, -1.0]), 0.5
masks = dc.all_masks(2)
relu_mean = np.mean([np.maximum(0, (m * h) @ w / (1 - p)) for m in masks])
predict(
    "Two units of value 1, inverted masks with p = ½, output relu(m₁·2 - m₂·2). The "
    "whole network gives relu(1 - 1) = 0. What is the mean over the four masks?",
    ["0", "¼", "½", "1"],
    truth=[0, 0.25, 0.5, 1].index(relu_mean),
    because="Only one mask of four gives a positive input, and it gives 2. A ReLU is "
    "convex: the mean of its values is at least its value at the mean (Jensen).",
)

# %% covers="wu:2.15.5 wu:2.15.2 explainers:3.2.4 guo:III.10.a" demo=true
rng, p = np.random.default_rng(2), 0.4
h, W = rng.uniform(0.5, 2, 6), rng.normal(size=(6, 4))
masks = dc.all_masks(6)
chance = np.prod(np.where(masks == 1, 1 - p, p), axis=1)
plain, inverted = chance @ (masks * h), chance @ (masks * h) / (1 - p)
erratum(
    "explainers:3.2.4",
    "set activations to 0 with probability $p$ in training, apply no dropout at "
    "inference (no scaling)",
    r"scale by $\frac{1}{1-p}$ in training or by $1-p$ at inference; otherwise the "
    r"next layer meets inputs $\frac{1}{1-p}$ times as large as those it learned from",
    printed_holds=np.allclose(plain, h),
    corrected_holds=np.allclose(inverted, h) and np.allclose(plain, (1 - p) * h),
)
erratum(
    "guo:III.10.a",
    r"$h_1 \odot b$ with binary $b$, without rescaling",
    r"$h_1\odot b/(1-p)$ in training, or $(1-p)h_1$ at test time: at $p = 0.4$ the "
    r"unscaled mean is $0.6\,h_1$",
    printed_holds=np.allclose(plain, h),
    corrected_holds=np.allclose(inverted, h) and np.allclose(plain, 0.6 * h),
)
one, other = W.T @ h * (1 - p), (W.T * (1 - p)) @ h
erratum(
    "wu:2.15.5",
    r"two implementations: $W^\top h\cdot(1-p)$, or scaled weights $W^\top\cdot(1-p)$",
    "these are one product, bracketed twice; the other implementation is inverted "
    r"dropout: divide by $1-p$ in training, leave the finished network alone",
    printed_holds=not np.allclose(one, other),
    corrected_holds=np.allclose(one, other)
    and np.allclose(chance @ ((masks * h) @ W / (1 - p)), W.T @ h),
)
through_relu = chance @ np.maximum(0, (masks * h) @ W)
erratum(
    "wu:2.15.2",
    r"scaling by $1-p$ makes the expected activation match training: $s = W^\top h"
    r"(1-p)$; no condition is named, nor the inverted form",
    r"exact for the readout $W^\top(m\odot h)$, which is linear in $m$; behind a later "
    r"ReLU $\mathbb E[\mathrm{relu}(s)] \ge \mathrm{relu}(\mathbb E[s])$, and the "
    "scaled network is an approximation",
    printed_holds=np.allclose(through_relu, np.maximum(0, one)),
    corrected_holds=np.allclose(chance @ ((masks * h) @ W), one)
    and bool(np.all(through_relu >= np.maximum(0, one) - 1e-12)),
)
erratum(
    "explainers:3.2.4",
    "at the beginning of each epoch set each neuron to 0 with probability $p$",
    "masks are drawn anew in every forward pass, in most libraries for every row of "
    "the mini-batch",
)

# %% [markdown] covers="cs480:9-dropout"
# ## 3. The way back
#
# Dropout is $\text{out} = h \odot f$ with a factor $f$ that does not depend on $h$. So a gradient passes back through the *same* factor: $\frac{\partial L}{\partial h} = f\odot\frac{\partial L}{\partial\,\text{out}}$. With inverted dropout the $\frac{1}{1-p}$ is in it, because it was in the forward pass. cs480 writes that each $h$ is multiplied by $1/q$ "during the back-propagation". What would that alone do?
#
# Write the gradients of a network with one hidden layer:
#
# $$a = XW_1 + b_1, \quad h = \mathrm{relu}(a)\odot f, \quad s = hW_2 + b_2, \quad L = -\frac1n\sum_{i}\log\mathrm{softmax}(s_i)_{y_i} .$$
#
# The gradient by the scores is $\frac1n(\mathrm{softmax}(s) - \text{one-hot}(y))$, as in [softmax regression](../02_classification/03_generalised_linear_models.ipynb).


# %% exercise="net_grads" points=3 minutes=15 difficulty=3 covers="cs480:9-dropout"
def net_grads(X, y, W1, b1, W2, b2, factor):
    """Loss and gradients of a ReLU network with dropout, natural logarithm.

    X (n, m). y (n,) integer labels 0 … k-1. W1 (m, d), b1 (d,), W2 (d, k), b2 (k,).
    factor (n, d): multiplies the hidden layer after the ReLU, and is held fixed.
    The slope of the ReLU at 0 is 0. Scores may be near 1000: exp must not overflow.
    Returns (loss, dW1, db1, dW2, db2), gradients in the shapes of the parameters.
    X = [[1]], y = [0], W1 = [[1]], b1 = [0], W2 = [[1, 0]], b2 = [0, 0], factor = [[2]]
    gives 0.1269, [[-0.2384]], [-0.2384], [[-0.2384, 0.2384]], [-0.1192, 0.1192].
    """
    ### BEGIN SOLUTION
    a = X @ W1 + b1
    h = np.maximum(a, 0) * factor
    s = h @ W2 + b2
    s = s - s.max(axis=1, keepdims=True)
    log_p = s - np.log(np.exp(s).sum(axis=1, keepdims=True))
    rows = np.arange(len(y))
    delta = np.exp(log_p)
    delta[rows, y] -= 1
    delta /= len(y)
    back = (delta @ W2.T) * factor * (a > 0)
    loss = -log_p[rows, y].mean()
    return loss, X.T @ back, back.sum(axis=0), h.T @ delta, delta.sum(axis=0)
    ### END SOLUTION


# %% check="net_grads"
check(net_grads)

# %% [markdown] covers="cs480:9-dropout"
# Against finite differences, with a fixed mask. A unit that was dropped for every row of a batch gets no gradient at all. And the erratum: scaling on the way back alone.

# %% covers="cs480:9-dropout"
with after(dropout_forward, net_grads):
    rng, p = np.random.default_rng(3), 0.5
    X, y = rng.normal(size=(5, 4)), rng.integers(0, 3, 5)
    net = [rng.normal(size=s) for s in ((4, 6), (6,), (6, 3), (3,))]
    _, factor = dropout_forward(np.ones((5, 6)), p, True, True, rng)
    factor[:, 2] = 0  # unit 2 is off in the whole batch
    grads = net_grads(X, y, *net, factor)[1:]
    for number, (value, grad) in enumerate(zip(net, grads)):
        move, t = rng.normal(size=value.shape), 1e-6
        ends = [
            net_grads(X, y, *net[:number], moved, *net[number + 1 :], factor)[0]
            for moved in (value + t * move, value - t * move)
        ]
        assert np.isclose((ends[0] - ends[1]) / (2 * t), np.sum(grad * move), rtol=1e-5)
    assert np.all(grads[0][:, 2] == 0) and np.all(grads[2][2] == 0)
    q, h = 1 - p, np.maximum(X @ net[0] + net[1], 0)
    coins = rng.random((40_000, 5, 6)) < q
    forward_plain, forward_scaled = (coins * h).mean(0), (coins * h / q).mean(0)
    near = dict(rtol=0, atol=0.03 * h.max())  # six standard errors
    erratum(
        "cs480:9-dropout",
        r"to keep the overall expectation, multiply each $h$ by $1/q$ during the "
        "back-propagation",
        r"multiply by $1/q$ in the forward pass of training; the backward pass inherits"
        " it. In the backward pass alone it changes gradients, not expectations",
        printed_holds=np.allclose(forward_plain, h, **near),
        corrected_holds=np.allclose(forward_scaled, h, **near),
    )

# %% [markdown] covers="cs480:9-dropout wu:2.15.5"
# ### What it does to an overfitting network
#
# The network of the beginning, trained with keep-probabilities $q$ from 0.1 to 1. Right: the hidden layer of the network trained with $q = \frac12$, its mean activation for one digit under 200 masks.
#
# **Find out.** (1) From $q = 1$ downward: how does the gap between the two curves change, and where does the new-digits curve end highest? (2) Below which $q$ does the network no longer learn even the right labels? (3) Untick "inverted": by which factor does the mean move? (4) Tick it again. The histogram's width grows as $q$ falls. Which formula of section 1 says so?

# %% covers="cs480:9-dropout wu:2.15.5" demo=true
explore(
    dc.draw_keep,
    digits=0,
    keep=FloatSlider(0.5, min=0.1, max=1, step=0.1, description="keep q"),
    inverted=Checkbox(True, description="inverted"),
)

# %% [markdown] covers="wu:2.15.3 guo:III.10.a"
# ## 4. $2^d$ networks in one
#
# A mask picks a **sub-network**. There are $2^d$ of them and they share their weights; each step trains a few. To average all of them after training sounds hopeless for $d = 128$. Yet for one layer followed by a softmax we can say exactly what the scaled network averages.
#
# Let sub-network $m$ have scores $s_m = W^\top(m\odot h)$ and probabilities $\pi_m = \mathrm{softmax}(s_m)$. Consider three means over the masks, each mask weighted with its probability:
#
# 1. the mean of the scores;
# 2. the **geometric mean** of the probabilities: $\exp(\mathbb E_m[\log\pi_m])$, divided by its sum over the classes;
# 3. the plain (arithmetic) mean of the probabilities, what "voting by probabilities" would give.
#
# Compute them by enumeration. Which two will the scaled network, $W^\top h\,(1-p)$, give?


# %% exercise="ensemble_mean" points=3 minutes=12 difficulty=2 covers="wu:2.15.3 guo:III.10.a"
def ensemble_mean(h, W, p):
    """Three means over all 2^d sub-networks with plain masks (zeros and ones).

    h (d,), d <= 10. W (d, k). p: chance that a unit is off, 0 <= p < 1.
    Returns (scores (k,), geometric (k,), arithmetic (k,)): means 1 to 3 of the text;
    the last two sum to 1.
    h = [1], W = [[2, 0]], p = 0.5
    gives [1, 0], [0.7311, 0.2689], [0.6904, 0.3096].
    """
    ### BEGIN SOLUTION
    masks = np.array(list(itertools.product((0.0, 1.0), repeat=len(h))))
    chance = np.prod(np.where(masks == 1, 1 - p, p), axis=1)
    s = (masks * h) @ W
    top = s.max(axis=1, keepdims=True)
    log_p = s - top - np.log(np.exp(s - top).sum(axis=1, keepdims=True))
    geometric = np.exp(chance @ log_p)
    return chance @ s, geometric / geometric.sum(), chance @ np.exp(log_p)
    ### END SOLUTION


# %% check="ensemble_mean"
check(ensemble_mean)

# %% covers="wu:2.15.3 guo:III.10.a"
with after(ensemble_mean):
    rng, p = np.random.default_rng(8), 0.5
    h, W = rng.uniform(0.5, 2, 10), rng.normal(0, 0.5, (10, 4))
    scores, geometric, arithmetic = ensemble_mean(h, W, p)
    scaled = (1 - p) * h @ W
    softmax = np.exp(scaled) / np.exp(scaled).sum()
    assert np.allclose(scores, scaled) and np.allclose(geometric, softmax)
    assert not np.allclose(arithmetic, softmax, atol=0.01)
    show(*dc.draw_three_means(h, W, p, (scores, geometric, arithmetic)))

# %% [markdown] covers="wu:2.15.3"
# **Why.** The scores are linear in $m$, so their mean is the scaled network's. And $\log\pi_m = s_m - \log\sum_c e^{s_{m,c}}$: the last term is the same for every class, so in the mean of the logarithms it disappears when we normalise. What is left is $\mathrm{softmax}(\mathbb E[s_m])$.
#
# Conditions: *one* dropped layer and a softmax directly on its readout. With dropout in several layers, or a ReLU between mask and output, neither mean is matched exactly (section 2). The scaled network is then a cheap approximation which works well in practice.

# %% [markdown] covers="guo:III.10.a cs480:9-dropout"
# ### A cheap ensemble, and its scatter
#
# guo's ensemble trains three networks and averages them: three times the work. Dropout trains one. Leave the coins on after training, and the predictions scatter: **Monte-Carlo dropout** reads this as uncertainty. Left: one network under 200 masks (one mask for a whole curve). Right: three networks that differ in their start only.
#
# **Find out.** (1) Where do the three networks agree, where not? (2) Does the band of the masks open beyond the data as well? And in the gap in the middle? (3) Raise $p$ with the same data. What happens to the band where data are plenty? (4) So: what does the width measure?

# %% covers="guo:III.10.a cs480:9-dropout" demo=true
explore(
    dc.draw_bands,
    digits=0,
    p=SelectionSlider(options=dc.BAND_RATES, value=0.1, description="rate p"),
)

# %% [markdown] covers="guo:III.10.a guo:II.5.b"
# The masks' band grows with $p$ although the data stay the same: its scale is a choice. It opens beyond the data, but hardly in the gap, where the three networks differ most. And beyond $|x| = 3.8$ the truth lies outside *both* bands, for every $p$ here: a network under all its masks, and three alike, can be wrong together. Compare with held-out errors before you call a band an error bar. (Gaussian processes derive theirs from the data.)
#
# And the averages? On the noisy digits: nine unrestrained networks, three averages of three, one network with dropout. Averaging reduces variance, most where the members' errors differ.

# %% covers="guo:III.10.a guo:II.5.b" demo=true
alone, _ = dc.train_nets((0.0,) * 9, seed=5, watch=False)
X, y = dc.noisy_digits()["test"]
with torch.no_grad():
    votes = alone.scores(alone.hidden(X)).softmax(-1)
single = (votes.argmax(-1) == y).double().mean(1)
three = torch.stack([votes[i : i + 3].mean(0) for i in (0, 3, 6)])
of_three = (three.argmax(-1) == y).double().mean(1)
dropped = dc.mean_curves("test", 0.7)[-1, 1]
assert single.mean() < of_three.mean() < dropped - 0.02
assert dc.learned_wrong(0.0) > 0.95 and 0.2 < dc.learned_wrong(0.7) < 0.45
show(*dc.draw_averages(single.numpy(), of_three.numpy(), dropped), digits=0)

# %% [markdown] covers="guo:III.10.a"
# Averaging three helps a little here: all members learned the same wrong labels, every one. The network with dropout learned about a third of them. "Dropout is a cheap ensemble" is a good picture of its *prediction*; as a description of training it is incomplete. The next section says what is added to the loss.

# %% [markdown] covers="wu:2.15.3"
# ## 5. The linear case is ridge
#
# Let $X$ be a table $(n, m)$ and drop its *entries* independently. For row $x$ the prediction under an inverted mask has mean $x^\top w$ and variance $\frac{p}{1-p}\sum_i w_i^2x_i^2$ (section 1). The expected square of anything is its squared mean plus its variance, so
#
# $$\mathbb E\,\Big\lVert y - \tfrac{1}{1-p}(M\odot X)w\Big\rVert^2 = \lVert y - Xw\rVert^2 + \frac{p}{1-p}\sum_i w_i^2 c_i, \qquad c_i = \sum_r X_{ri}^2 .$$
#
# With plain masks: $\lVert y - (1-p)Xw\rVert^2 + p(1-p)\sum_i w_i^2c_i$. The noise has turned into a [ridge penalty](../01_regression/03_ridge_and_lasso.ipynb), exactly; but the strength for each weight comes from the data. The cell checks both by enumerating all masks of one table.

# %% covers="wu:2.15.3" demo=true
rng, p = np.random.default_rng(9), 0.3
X, y, w = rng.normal(size=(3, 4)), rng.normal(size=3), rng.normal(size=4)
table = dc.all_masks(12).reshape(-1, 3, 4)  # all 4096 masks of the table
off = 12 - table.sum(axis=(1, 2))
chance = p**off * (1 - p) ** (12 - off)
c = np.sum(X**2, axis=0)
for scale, shrink, factor in ((1 / (1 - p), 1, p / (1 - p)), (1, 1 - p, p * (1 - p))):
    expected = chance @ np.sum((y - scale * (table * X) @ w) ** 2, axis=1)
    closed = np.sum((y - shrink * X @ w) ** 2) + factor * np.sum(w**2 * c)
    assert np.isclose(expected, closed)
print(f"{len(table)} masks, total probability {chance.sum():.0f}: both forms agree")

# %% covers="wu:2.15.3" demo=true
X, y = rng.normal(size=(20, 2)), rng.normal(size=20)


def fit(X, penalty):
    return np.linalg.solve(X.T @ X + np.diag(penalty), X.T @ y)


longer = X * np.array([1000, 1])  # feature 1 in millimetres instead of metres
changes = [
    not np.allclose(X @ fit(X, a), longer @ fit(longer, b))
    for a, b in ((np.sum(X**2, 0), np.sum(longer**2, 0)), (np.full(2, 5),) * 2)
]
predict(
    "Feature 1 is measured in millimetres instead of metres. Whose predictions change?",
    ["those of ridge only", "those of dropout only", "both", "neither"],
    truth=[[False, True], [True, False], [True, True], [False, False]].index(changes),
    because="A weight that shrinks by 1000 meets a penalty factor that grows by 1000². "
    "Dropout is ridge in units in which every column has the same length.",
)

# %% [markdown] covers="wu:2.15.3"
# So no coins are needed. Write the minimiser for inverted masks.


# %% exercise="dropout_ridge" points=2 minutes=8 difficulty=2 covers="wu:2.15.3"
def dropout_ridge(X, y, p):
    """The w that minimises the expected loss E‖y - (M * X) w / (1 - p)‖².

    X (n, m), no column is all zero, no intercept. y (n,). p: chance to drop an entry,
    0 <= p < 1; for p = 0 the columns are independent. Returns w (m,).
    X = [[1], [2]], y = [1, 3], p = 0.5 gives [0.7].
    """
    ### BEGIN SOLUTION
    penalty = p / (1 - p) * np.sum(X**2, axis=0)
    return np.linalg.solve(X.T @ X + np.diag(penalty), X.T @ y)
    ### END SOLUTION


# %% check="dropout_ridge"
check(dropout_ridge)

# %% [markdown] covers="wu:2.15.3"
# On 442 diabetes patients (features in standard units, target centred): gradient descent that throws coins in each of 6000 steps, against your formula. A single iterate trembles, so we average the last 5000.

# %% covers="wu:2.15.3"
with after(dropout_ridge):
    table, rng = data.diabetes(), np.random.default_rng(10)
    X = (table.X - table.X.mean(axis=0)) / table.X.std(axis=0)
    y, p, eta = table.y - table.y.mean(), 0.3, 0.02
    w, total = np.zeros(10), np.zeros(10)
    for step in range(6000):
        masked = X * (rng.random(X.shape) >= p) / (1 - p)
        w = w - eta * masked.T @ (masked @ w - y) / len(y)
        total += w * (step >= 1000)
    exact = dropout_ridge(X, y, p)
    gap = np.linalg.norm(total / 5000 - exact) / np.linalg.norm(exact)
    assert gap < 0.03
    print(f"coins against formula: {100 * gap:.1f} % apart")
    rates = 0.95 * np.linspace(0, 1, 60) ** 2
    path = np.array([dropout_ridge(X, y, r) for r in rates])
    show(*dc.draw_ridge_path(rates, path, table.names))

# %% [markdown] covers="wu:2.15.3"
# ### Co-adaptation and redundancy
#
# wu writes $s = \sum_i w_ih_i$ without and $s = \sum_i m_iw_ih_i$ with dropout, and says that units can no longer rely on each other. The linear case shows it. Let two features be copies of one another. Least squares only sees $w_1 + w_2$: $(5, -4)$, two weights that are useless alone, fits as well as $(\frac12, \frac12)$. The penalty $w_1^2 + w_2^2$ decides. What remains if one copy fails?
#
# (The code becomes *distributed*: a rough parallel to a brain that survives the loss of cells, and no more than a parallel.)

# %% covers="wu:2.15.3"
with after(dropout_ridge):
    rng = np.random.default_rng(11)
    x = rng.normal(size=200)
    X, y = np.column_stack([x, x]), x + 0.1 * rng.normal(size=200)
    w = dropout_ridge(X, y, 0.2)
    assert np.isclose(w[0], w[1])
    for name, weights in (("co-adapted (5, -4)", np.array([5, -4])), ("dropout", w)):
        errors = [np.mean((y - X @ (weights * keep)) ** 2) for keep in ([1, 1], [0, 1])]
        print(f"{name}: error {errors[0]:.2f}, with copy 1 dead {errors[1]:.2f}")

# %% [markdown] covers="guo:III.10"
# ## 6. Weight decay
#
# Dropout gave a penalty by the back door. The front door, for matrices $W_0, \dots, W_L$:
#
# $$\tilde\ell = \ell + \lambda\sum_{l=0}^{L}\lVert W_l\rVert_F^2, \qquad \lVert W\rVert_F^2 = \sum_{ij}W_{ij}^2 .$$
#
# guo writes $\lVert W\rVert_2$, which for a matrix usually means the *spectral* norm (the largest singular value). Meant is the **Frobenius** norm. Biases usually go free.


# %% exercise="decay_loss" points=1 minutes=5 difficulty=1 covers="guo:III.10"
def decay_loss(loss, Ws, lam):
    """The penalised loss, and the gradient of the penalty by each matrix.

    loss: a number. Ws: list of matrices of any shapes. lam >= 0.
    Returns (loss + lam * sum of squared Frobenius norms, list of arrays like Ws).
    loss = 1, Ws = [[[3, 4]]], lam = 0.1 gives 3.5 and [[[0.6, 0.8]]].
    """
    ### BEGIN SOLUTION
    penalty = sum(np.sum(W**2) for W in Ws)
    return loss + lam * penalty, [2 * lam * W for W in Ws]
    ### END SOLUTION


# %% check="decay_loss"
check(decay_loss)

# %% covers="guo:III.10" demo=true
rng = np.random.default_rng(12)
W = torch.tensor(rng.normal(size=(4, 3)), requires_grad=True)
gradient = torch.autograd.grad((W * W).sum(), W)[0].numpy()
spectral = torch.autograd.grad(torch.linalg.matrix_norm(W, 2) ** 2, W)[0].numpy()
rank = int(np.linalg.matrix_rank(spectral))
print("rank of the spectral penalty's gradient:", rank)
erratum(
    "guo:III.10",
    r"$\lambda\sum_l\lVert W_l\rVert_2^2$",
    r"$\lambda\sum_l\lVert W_l\rVert_F^2$, whose gradient $2\lambda W_l$ shrinks every "
    "weight; the spectral norm's gradient touches the largest singular value only",
    printed_holds=np.allclose(spectral, 2 * W.detach().numpy()),
    corrected_holds=np.allclose(gradient, 2 * W.detach().numpy()),
)

# %% [markdown] covers="guo:III.10"
# In plain gradient descent the penalty multiplies every weight by $1 - 2\eta\lambda$ in each step: the weights *decay*. In [Adam](../03_optimisation/02_momentum_and_adam.ipynb) the penalty's gradient is rescaled like all the rest, so that is no longer true. **Decoupled** decay (AdamW) multiplies directly. The two strengths have different units: here the decoupled decay multiplies by $1 - 300\,\eta\lambda$, which makes the two comparable.
#
# 60 points, 100 hidden units, 500 steps of Adam. **Find out.** (1) λ = 0: which points does the boundary bend for? (2) Raise λ. What happens first, to the boundary, to the share of the square on which the network is "sure", to the training errors? (3) From which λ on does it underfit? (4) Do weights settle with decay? And without?

# %% covers="guo:III.10" demo=true
explore(
    dc.draw_decay,
    digits=0,
    lam=SelectionSlider(options=dc.LAMBDAS, value=0.0, description="λ"),
    kind=Dropdown(options=dc.DECAYS, value=dc.DECAYS[0], description="decay"),
)

# %% [markdown] covers="wu:2.15.5"
# ## 7. How much, how long, which mode
#
# **How much?** wu's rates are $p = 0.5$ for hidden units and $0.2$ for inputs (a lost input cannot be replaced by another unit). wu adds: adjust with the width. They are starting points. Our digits, two networks for each of ten rates:

# %% covers="wu:2.15.5" demo=true
show(*dc.draw_sweep(), digits=0)
ends = [dc.mean_curves("test", p)[-1, 1] for p in dc.RATES]
assert max(ends[5:9]) > ends[0] + 0.08 and ends[9] < max(ends)

# %% [markdown] covers="explainers:3.2.3"
# With so many wrong labels and so wide a layer much dropout is right: below, the network can store wrong labels, above it starves.
#
# **How long?** [Early stopping](../01_regression/03_ridge_and_lasso.ipynb) again, on this run without dropout: measure the loss on 200 validation rows every 25 steps and bring back the weights of the best.

# %% covers="explainers:3.2.3" demo=true
show(*dc.draw_early(0.0), digits=0)
curve = dc.mean_curves("validation", 0.0)[:, 0]
assert 1 < curve.argmin() < len(curve) / 2
best = dc.mean_curves("test", 0.0)[curve.argmin(), 1]
assert best > dc.mean_curves("test", 0.0)[-1, 1] + 0.05

# %% [markdown] covers="explainers:3.2.3 wu:2.15.5"
# The network learns what is common first and the exceptions later. Stopping early keeps the first part, at no price but the validation rows. Here it does about as well as dropout, which does not need the right moment as much.
#
# **Which mode?** Libraries keep a switch: `net.train()` and `net.eval()`. Forgetting it is one of the commonest bugs, as nothing crashes.

# %% covers="wu:2.15.5" demo=true
torch.manual_seed(1)
nn = torch.nn
torch_net = nn.Sequential(
    nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10)
).double()
image = dc.noisy_digits()["test"][0][:1]
calls = torch.cat([torch_net(image) for _ in range(4000)]).detach()
torch_net.eval()
quiet = torch.cat([torch_net(image) for _ in range(2)]).detach()
same_mean = (calls.mean(0) - quiet[0]).abs() < 5 * calls.std(0) / 4000**0.5
facts = [len(calls.unique(dim=0)) > 1, torch.equal(quiet[0], quiet[1]), same_mean.all()]
predict(
    "A net with nn.Dropout(0.5) has just been built. You score the same image twice, "
    "without calling eval(). What do you see?",
    ["an error", "the same scores twice", "two different scores"],
    truth=2 if all(facts) else 1,
    because="A module starts in training mode. Only the mean of many calls equals the "
    "scores after eval(). After validating, call train() again, or the rest of the "
    "training goes without dropout.",
)

# %% [markdown] written="training_loss_above" points=2 minutes=6 covers="wu:2.15.5"
# **In your words.** A friend trains with dropout $p = 0.5$ and logs the *mini-batch* loss of training beside the validation loss. The training loss is *higher*, during the whole run. "The validation rows must have leaked," says the friend. Give a harmless explanation, and a measurement that decides between the two. (Four sentences.)
#
# ### BEGIN SOLUTION
# The logged training loss is that of the sub-networks under random masks, whereas validation uses the whole network, an average which predicts better. The training loss is also an average over an epoch during which the weights were still improving.
# To decide, compute the loss on the training rows in evaluation mode, with the same weights as for validation. If it is now below the validation loss, all is explained; if it stays clearly above, look for leaked or easier validation rows.
#
# **Rubric**
#
# - 1: says that dropout is on for the training loss and off for the validation loss, so that the two are losses of different predictors
# - 1: proposes to measure the training loss in evaluation mode (no dropout, same weights), and says what each outcome would mean
# ### END SOLUTION

# %% [markdown] covers="wu:2.15.6"
# ## 8. Dropout and RMS norm
#
# wu sets dropout beside [RMS norm](04_initialisation_and_normalisation.ipynb), $\mathrm{RMSNorm}(h) = \sqrt d\,h/\lVert h\rVert$, as two kinds of fault tolerance. The norm removes errors of length; dropout trains for the loss of units, each of which is available with probability $1 - p$. Formulas (2.176) to (2.188) collect their properties. Which of them hold? (2.177) says what becomes of noise $\epsilon_\perp$ across $h$: $\sqrt d\,(h + \epsilon_\perp)/\sqrt{\lVert h\rVert^2 + \lVert\epsilon_\perp\rVert^2}$.
#
# Combined, **the order matters**. The norm first, then the mask: $\mathbb E[m\odot\mathrm{RMSNorm}(h)] = (1-p)\,\mathrm{RMSNorm}(h)$, as printed. The mask first: $\lVert m\odot h\rVert^2 \approx (1-p)\lVert h\rVert^2$ for many units of similar size, so
#
# $$\cos\angle(m\odot h, h) = \frac{\lVert m\odot h\rVert}{\lVert h\rVert} \approx \sqrt{1-p}, \qquad \mathbb E[\mathrm{RMSNorm}(m\odot h)] \approx \frac{1-p}{\sqrt{1-p}}\,\mathrm{RMSNorm}(h) = \sqrt{1-p}\;\mathrm{RMSNorm}(h) .$$
#
# And the repair fails: a norm ignores the factor $1-p$ in front of it, as it ignores the $\frac{1}{1-p}$ of inverted dropout.

# %% covers="wu:2.15.6" demo=true
rng, d, rates = np.random.default_rng(13), 1024, np.arange(0.1, 0.95, 0.1)
h = rng.normal(size=d)


def rms_norm(h):
    return np.sqrt(d) * h / np.linalg.norm(h, axis=-1, keepdims=True)


cosines = []  # also the factor of RMSNorm(h) in the mean of the masked, normed vectors
for p in rates:
    masked = rms_norm((rng.random((200, d)) >= p) * h)
    cosines.append(np.mean(masked @ rms_norm(h)) / d)
assert np.allclose(cosines, np.sqrt(1 - rates), atol=0.01)
assert np.allclose(rms_norm(0.5 * h), rms_norm(h))  # the test scaling has no effect
noise = rng.normal(size=d)
across = noise - (noise @ h) / (h @ h) * h
longer = np.sqrt(h @ h + across @ across)
assert np.allclose(rms_norm(h + across), np.sqrt(d) * (h + across) / longer)  # (2.177)
assert np.allclose(rms_norm(1e4 * h + noise), rms_norm(h), atol=1e-2)  # (2.176)
show(*dc.draw_cosines(rates, cosines, d))

# %% [markdown] covers="wu:2.15.6"
# For few units nothing need be approximate. Enumerate the masks once more.


# %% exercise="masked_norms" points=2 minutes=8 difficulty=2 covers="wu:2.15.6"
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
# With few units even the mean turns: $(3, 4)$ goes to $(0.57, 0.64)$. Now the formulas of wu one by one. The first two errors we know from RMS norm itself; (2.176) to (2.181), (2.184) and (2.186) hold as they stand.


# %% covers="wu:2.15.6" demo=true
def jacobian(v):
    u = v / np.linalg.norm(v)
    return np.sqrt(len(v)) / np.linalg.norm(v) * (np.eye(len(v)) - np.outer(u, u))


small = h[:16]
sizes = [np.linalg.norm(jacobian(c * small), 2) for c in (1, 1e-2, 1e-4)]
erratum(
    "wu:2.15.6",
    r"$\lVert\partial\,\mathrm{RMSNorm}(h)/\partial h\rVert \le C$ (2.182)",
    r"$= \sqrt d/\lVert h\rVert$ for $d \ge 2$: no bound near 0, unless an "
    r"$\varepsilon$ stands in the root",
    printed_holds=sizes[2] < 10 * sizes[0],
    corrected_holds=np.allclose(np.array(sizes) / sizes[0], [1, 1e2, 1e4]),
)
erratum(
    "wu:2.15.6",
    r"$\mathrm{RMSNorm}(\alpha h) = \mathrm{RMSNorm}(h)$ for all $\alpha\ne0$ (2.183)",
    r"for $\alpha > 0$; a negative $\alpha$ turns the sign",
    printed_holds=np.allclose(rms_norm(-2 * h), rms_norm(h)),
    corrected_holds=np.allclose(rms_norm(2 * h), rms_norm(h))
    and np.allclose(rms_norm(-2 * h), -rms_norm(h)),
)
erratum(
    "wu:2.15.6",
    r"RMS norm: $h \to h/\lVert h\rVert$",
    r"$h \to \sqrt d\,h/\lVert h\rVert$, of length $\sqrt d$ as in (2.181)",
    printed_holds=np.isclose(np.linalg.norm(h / np.linalg.norm(h)), np.sqrt(d)),
    corrected_holds=np.isclose(np.linalg.norm(rms_norm(h)), np.sqrt(d)),
)
with np.errstate(invalid="ignore"):
    nothing = np.linalg.norm(rms_norm(np.zeros(d)))  # the mask that drops everything
mask = rng.random(d) >= 0.5
erratum(
    "wu:2.15.6",
    r"$\lVert\mathrm{RMSNorm}(m\odot h)\rVert = \sqrt d$ (2.187)",
    r"only if $m\odot h \ne 0$, and $m = 0$ has probability $p^d > 0$",
    printed_holds=np.isclose(nothing, np.sqrt(d)),
    corrected_holds=np.isclose(np.linalg.norm(rms_norm(mask * h)), np.sqrt(d)),
)
draws = rng.random((4000, d)) >= 0.5
before, behind = rms_norm(draws * h).mean(axis=0), (draws * rms_norm(h)).mean(axis=0)
along = rms_norm(h) / d  # v @ along is the factor of RMSNorm(h) in v
half = mask * h @ h / np.linalg.norm(mask * h) / np.linalg.norm(h)
erratum(
    "wu:2.15.6",
    "both methods together preserve length and direction (2.187, 2.188)",
    r"$\mathbb E[m\odot\mathrm{RMSNorm}(h)] = (1-p)\mathrm{RMSNorm}(h)$ holds for the "
    r"norm first, in the mean. With the mask first a vector turns, cosine about "
    r"$\sqrt{1-p}$, and the mean is about $\sqrt{1-p}\,\mathrm{RMSNorm}(h)$, which no "
    r"scaling by $1-p$ repairs",
    printed_holds=half > 0.99 or abs(before @ along - 0.5) < 0.02,
    corrected_holds=abs(behind @ along - 0.5) < 0.01
    and abs(before @ along - np.sqrt(0.5)) < 0.01
    and abs(half - np.sqrt(0.5)) < 0.05,
)
print(
    f"mask first: cosine {half:.2f}, mean × {before @ along:.3f}; "
    f"norm first: mean × {behind @ along:.3f}"
)

# %% [markdown] covers="wu:2.15.6"
# ### Break some networks
#
# On the noisy digits again: neither method, RMS norm on the hidden layer, dropout ($p = 0.5$), or both (norm first); three networks of each kind. Then we damage the hidden layer of the finished networks, in front of the norm if there is one, in three ways: each row is scaled by 4 or ¼; noise as long as $h$ is added across it; units die. "Probability moved" is $\frac12\sum_k|\pi_k - \pi'_k|$, averaged over the test digits: 0 if nothing changes, 1 if all probability goes to other classes.
#
# Which method will help against which damage?

# %% covers="wu:2.15.6 wu:2.15.3" demo=true
accuracy, moved = dc.damage()
show(*dc.draw_damage(), digits=0)
assert moved[[1, 3], 0].max() < 0.01 < moved[[0, 2], 0].min()  # scale: the norm
cost = accuracy[:, 0] - accuracy[:, 5]  # of losing half of the units
assert cost[2] < 0.13 < 0.18 < cost[0]  # dropout
assert accuracy[3, 2] > accuracy[1, 2]

# %% [markdown] covers="wu:2.15.6"
# Errors of scale vanish behind a norm. With half of the units dead the dropout network loses about 8 points of accuracy, the one with neither method about 23 (left): it was trained to lose some units. Its probabilities move as well (right), but the right class mostly stays on top. With both methods the gain over the norm alone is small here. Noise across $h$ is removed by neither: (2.177) only shrinks signal and noise alike. So the two methods are indeed about different faults. "Guarantees" they are not: only the statement about scale is one.

# %% [markdown] covers="cs480:9-dropout guo:III.10 wu:2.15.5"
# ## On real data, with your own parts
#
# Four ways to hold a network, all with your functions and plain NumPy: nothing, weight decay, dropout, both. Same 300 noisy digits, 600 steps of momentum, and early stopping for all: the step with the lowest validation loss counts. The validation rows also choose the method. The test rows are looked at once.

# %% covers="cs480:9-dropout guo:III.10 wu:2.15.5"
with after(dropout_forward, net_grads, decay_loss):
    parts = {k: [v.numpy() for v in rows] for k, rows in dc.noisy_digits().items()}
    X, y = parts["train"][0].astype(float), parts["train"][1]

    def loss_and_accuracy(net, name):
        A, labels = parts[name]
        s = np.maximum(A @ net[0] + net[1], 0) @ net[2] + net[3]
        return (
            net_grads(A, labels, *net, np.ones((len(A), 128)))[0],
            np.mean(s.argmax(axis=1) == labels),
        )

    def learn(p, lam, steps=600, eta=0.05):
        rng = np.random.default_rng(14)
        net = [
            rng.normal(0, 64**-0.5 * 2**0.5, (64, 128)),
            np.zeros(128),
            rng.normal(0, 128**-0.5, (128, 10)),
            np.zeros(10),
        ]
        speed, kept = [0.0] * 4, []
        for step in range(steps + 1):
            if step % 25 == 0:
                kept.append((*loss_and_accuracy(net, "validation"), net))
            batch = rng.choice(300, 50, replace=False)
            _, factor = dropout_forward(np.ones((50, 128)), p, True, True, rng)
            loss, *grads = net_grads(X[batch], y[batch], *net, factor)
            _, decay = decay_loss(loss, [net[0], net[2]], lam)
            grads[0], grads[2] = grads[0] + decay[0], grads[2] + decay[1]
            speed = [0.9 * v + g for v, g in zip(speed, grads)]
            net = [value - eta * v for value, v in zip(net, speed)]
        return kept

    ways = {
        "nothing": (0.0, 0.0),
        "weight decay": (0.0, 0.003),
        "dropout": (0.7, 0.0),
        "both": (0.7, 0.003),
    }
    runs = {name: learn(*how) for name, how in ways.items()}
    best = {name: min(kept, key=lambda k: k[0]) for name, kept in runs.items()}
    chosen = min(best, key=lambda name: best[name][0])
    at_end = loss_and_accuracy(runs["nothing"][-1][2], "test")[1]
    final = loss_and_accuracy(best[chosen][2], "test")[1]
    assert final > at_end + 0.08
    scores = {"nothing, to the end": at_end, f"{chosen}, stopped early": final}
    at = 25 * np.arange(25)
    curves = {name: (at, [a for _, a, _ in kept]) for name, kept in runs.items()}
    show(*dc.draw_final(curves, chosen, scores), digits=0)

# %% [markdown] covers="wu:2.15.3 guo:III.10"
# ## Take-aways
#
# - Dropout multiplies by independent coins. Mean $(1-p)h$, variance $p(1-p)h^2$; inverted: $h$ and $\frac{p}{1-p}h^2$.
# - Rescale once: in training (inverted, as libraries do) or afterwards. The backward pass uses the factor of the forward pass.
# - The scaled network is the normalised **geometric** mean of $2^d$ sub-networks, exactly for one dropped layer under a softmax; behind further bends it is an approximation.
# - For a linear model dropout *is* ridge, in units in which all columns have equal length.
# - Weight decay shrinks all weights; early stopping keeps what is learned first; ensembles average away what differs between the members. They can be combined, and validation rows decide.
# - `train()` and `eval()`: the same network, two different functions.
# - Mask behind the norm, not before it.
# - Where you will meet it again: a GPT drops after attention and after its MLP; random forests average; in the [chapter's project](09_project.ipynb) you choose among all of these on a budget.
#
# ## What the notes got wrong
#
# Each point stands where it belongs, with its proof: scaling in the backward pass only (cs480 9), the missing rescaling (explainers 3.2.4, guo III.10), masks once an epoch (explainers), where the scaling is exact and the two implementations that are one (wu 2.15.2, 2.15.5), the norm of guo's penalty, and five formulas about RMS norm and masks (wu 2.15.6).

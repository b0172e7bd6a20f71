# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="your own automatic differentiation, from one number to a network that reads digits"
# # Backpropagation and autodiff
#
# A network reads handwritten digits: 64 pixels, 32 hidden units, ten scores. It has 2,410 weights and biases, and to
# train it you need the slope of the loss by every one of them. So you nudge a weight, run the network again and look
# at the loss. That makes 2,411 runs, and you have taken one step.
#
# A friend gets the same 2,410 slopes, to the last digit, and goes 820 steps, until 95 of 100 new digits are read
# right. She has used *less arithmetic than you for your first step*.
#
# *Where have your other runs gone?* At the end you count them, with an engine of your own.

# %%
# What this notebook needs.
import math

import numpy as np
import sympy
import torch
from ipywidgets import Dropdown, FloatLogSlider, FloatSlider, IntSlider, SelectionSlider
from scipy.special import expit, log_softmax, softmax

from descent import (
    after,
    below,
    check,
    claim,
    erratum,
    explore,
    hint,
    predict,
    show,
    solution,
    start,
)
from descent.pictures.neural_networks import backpropagation as bp

start("07_neural_networks/02_backpropagation")

# %% covers="cs480:9-backprop"
# The price of one gradient, in multiplications, for networks 64-h-10.
show(*bp.draw_costs())

# %% [markdown] covers="moon:36.1 cs480:9"
# ## 1. Six slopes by hand
#
# Start where you can see everything: two inputs, two hidden units, one output, one example with target $y$.
#
# $$\begin{gathered}
# z_1 = w_1x_1 + w_2x_2,\quad z_2 = w_3x_1 + w_4x_2,\quad h_i = \varphi(z_i), \\
# z_3 = w_5h_1 + w_6h_2,\quad p = \sigma(z_3),\quad L = \tfrac12(p-y)^2 .
# \end{gathered}$$
#
# $\varphi$ is the sigmoid $\sigma$ or ReLU. In the picture $x = (1, 0)$, $y = 1$, and the weights start at $(0.5, -0.5,
# 0.3, 0.1, 0.2, -0.1)$. The *slope* by a weight is $\partial L/\partial w$: how fast $L$ changes as it moves alone.

# %% predict="no-slope" minutes=1
predict(
    "no-slope",
    "Sigmoid units, x = (1, 0), weights as above. By how many of the six weights is "
    "the slope of L exactly 0?",
    ["None", "One", "Two", "Four"],
    truth=[0, 1, 2, 4].index(
        sum(bp.two_two_one(bp.NOTES_W, (1, 0), 1, "sigmoid")[f"dw{i}"] == 0
            for i in range(1, 7))
    ),
    because="w₂ and w₄ multiply x₂ = 0: whatever they are, nothing changes. Each slope "
    "has the number that its weight multiplies as a factor.",
)  # fmt: skip

# %% [markdown] covers="moon:36.1 wu:2.2.4"
# Press play below. Up to step 5 values run forward. Then, from the right, each number receives its slope: that of the number
# it feeds, times one *local* slope.
#
# $$\frac{\partial L}{\partial z_3} = (p-y)\,p(1-p), \qquad
# \frac{\partial L}{\partial w_5} = \frac{\partial L}{\partial z_3}\,h_1, \qquad
# \frac{\partial L}{\partial w_1} = \frac{\partial L}{\partial z_3}\,w_5\,\varphi'(z_1)\,x_1 .$$
#
# Then drag the point on the landscape of $L$: it is $(w_1, w_5)$.
#
# 1. Which values of the forward run are used again on the way back?
# 2. Put $w_5$ to 0. Why does $w_1$ lose its slope, and $w_5$ not?
# 3. Take ReLU and drag $w_1$ below 0. What does the grey unit receive, what does it pass on?

# %% covers="moon:36.1 wu:2.2.4 cs480:9-backprop"
# Play the steps; drag the weights.
explore(
    bp.draw_graph,
    drag={("w1", "w5"): "plane"},
    play="step",
    step=IntSlider(0, min=0, max=11, description="step"),
    w1=FloatSlider(0.5, min=-3, max=3, step=0.05, description="w₁"),
    w5=FloatSlider(0.2, min=-3, max=3, step=0.05, description="w₅"),
    act=Dropdown(options=["sigmoid", "relu"], description="hidden units"),
)

# %% [markdown] covers="moon:36.1 wu:2.2.4"
# Now you: forward, then back, for any weights. The slope of $\sigma$ is $\sigma(1-\sigma)$. ReLU has slope 1 for $z >
# 0$ and 0 for $z < 0$; at $z = 0$ it has none, programs take **0**, and so do we.


# %% exercise="backprop_221" points=3 difficulty=1 covers="moon:36.1 wu:2.2.4"
def backprop_221(w, x, y, act):
    """Loss of the 2-2-1 network and its slopes by the six weights.

    w (6,), x (2,), y a number. act: activation of the hidden units, "sigmoid" or
    "relu"; the output unit is always a sigmoid. Returns L and the slopes (6,).
    w = [1, 0, 0, 1, 1, -1], x = [1, 1], y = 0, act = "relu" gives L = 0.125 and
    [0.125, 0.125, -0.125, -0.125, 0.125, 0.125]: z3 = 0, so p = 1/2.
    """
    ### BEGIN SOLUTION
    z1 = w[0] * x[0] + w[1] * x[1]
    z2 = w[2] * x[0] + w[3] * x[1]
    if act == "sigmoid":
        h1, h2 = expit(z1), expit(z2)
        slope1, slope2 = h1 * (1 - h1), h2 * (1 - h2)
    else:
        h1, h2 = max(z1, 0.0), max(z2, 0.0)
        slope1, slope2 = float(z1 > 0), float(z2 > 0)
    p = expit(w[4] * h1 + w[5] * h2)
    dz3 = (p - y) * p * (1 - p)
    dz1, dz2 = dz3 * w[4] * slope1, dz3 * w[5] * slope2
    slopes = [dz1 * x[0], dz1 * x[1], dz2 * x[0], dz2 * x[1], dz3 * h1, dz3 * h2]
    return (p - y) ** 2 / 2, np.array(slopes)
    ### END SOLUTION


# %% check="backprop_221"
check(backprop_221)

# %% open=true covers="moon:36.1 moon:36.1-step"
with after(backprop_221):
    w, example, eps = bp.NOTES_W, ((1.0, 0.0), 1.0, "sigmoid"), 1e-5
    L, slopes = backprop_221(w, *example)
    up = [backprop_221(w + nudge, *example)[0] for nudge in eps * np.eye(6)]
    down = [backprop_221(w - nudge, *example)[0] for nudge in eps * np.eye(6)]
    nudged = (np.array(up) - down) / (2 * eps)  # twelve runs for six slopes
    claim("nudging finds your slopes", np.allclose(slopes, nudged, atol=1e-10))
    lower, _ = backprop_221(w - 0.1 * slopes, *example)
    claim("a step of 0.1: from {L:.5f} to {lower:.5f}", lower < L, L=L, lower=lower)

# %% [markdown] covers="explainers:4.5.1 explainers:4.5"
# ## 2. An engine that draws its own graph
#
# Six slopes took a dozen lines, and every network wants its own. So let numbers remember how they were made. A
# `Value` holds its `data`, the `inputs` it was computed from, and the `slopes` by each of these. From $c = ab$ with
# $a = 2$, $b = 5$: data 10, inputs $(a, b)$, slopes $(5, 2)$.
#
# Values $v_1, \dots, v_M$ form a graph, an edge for each input. The *grad* (or adjoint) of a value, $dv_M/dv_k$, is how
# fast the last one changes with this one, through all computed from it. Write $\mathrm{Ch}(v_k)$ for the values computed
# directly from $v_k$, its children:
#
# $$\frac{dv_M}{dv_M} = 1, \qquad
# \frac{dv_M}{dv_k} = \sum_{c \,\in\, \mathrm{Ch}(v_k)} \frac{dv_M}{dv_c}\,\frac{\partial v_c}{\partial v_k} .$$
#
# Each edge carries a *share* back: the child's grad times its slope.

# %% predict="shares" minutes=1 covers="explainers:4.5.1"
predict(
    "shares",
    "v₁ = a + a, v₂ = v₁ + v₁, and so on up to v₄₀: 2⁴⁰ paths lead from v₄₀ back to a. "
    "How many shares are sent to find the grad of a?",
    ["2", "80", "1,600", "2⁴⁰, some 10¹²"],
    truth=[2, 80, 1600, 2**40].index(bp.doubling_shares(40)),
    because="Two edges for each doubling, and one share along each. What arrives at a "
    "value is added up first, then travels on as one number for all paths behind it.",
)

# %% [markdown] covers="explainers:4.5.1"
# And *when* may a value pass shares on? Only when its own grad is complete: all its children have reported. Who sends
# half a grad on must send the rest later, and again: after forty doublings $2^{40}$ messages arrive. So first find
# everything behind the result and count, for each value, how many shares it waits for. Then walk back.
#
# A loss is a sum over thousands of rows, so a chain of thousands of additions is daily work. Python gives up after
# about 1,000 calls inside each other: loop instead.


# %% exercise="Value" points=5 difficulty=1 covers="explainers:4.5.1 explainers:4.5 cs480:9-backprop"
class Value:
    """A number that remembers how it was made.

    data: the number. inputs: the Values it was made from. slopes: its partial
    derivative by each of them, in the same order. grad: 0.0, until backward is called.
    """

    def __init__(self, data, inputs=(), slopes=()):
        self.data, self.inputs, self.slopes = data, inputs, slopes
        self.grad = 0.0

    def sigmoid(self):
        p = 1 / (1 + math.exp(-self.data))
        return Value(p, (self,), (p * (1 - p),))

    def __add__(self, other):
        """self + other; other is a Value or a number. Value(2.0) + 3.0 has data 5.0."""
        other = other if isinstance(other, Value) else Value(other)
        ### BEGIN SOLUTION
        return Value(self.data + other.data, (self, other), (1.0, 1.0))
        ### END SOLUTION

    def __mul__(self, other):
        """self * other. Value(2.0) * Value(5.0) has data 10.0 and slopes (5.0, 2.0)."""
        other = other if isinstance(other, Value) else Value(other)
        ### BEGIN SOLUTION
        return Value(self.data * other.data, (self, other), (other.data, self.data))
        ### END SOLUTION

    def relu(self):
        """max(data, 0), with slope 0 at 0."""
        ### BEGIN SOLUTION
        return Value(max(self.data, 0.0), (self,), (float(self.data > 0),))
        ### END SOLUTION

    def backward(self):
        """Set grad of self and of all values behind it: the derivative of self by them.

        A second call gives the same grads. All other values keep theirs.
        Chains of thousands of values work.
        a = Value(3.0); v = a * a + a; v.backward() sets a.grad = 7.0, v.grad = 1.0.
        """
        ### BEGIN SOLUTION
        awaits, found = {}, [self]
        for v in found:  # it grows while we read it
            v.grad = 0.0
            for u in v.inputs:
                if u not in awaits:
                    awaits[u] = 0
                    found.append(u)
                awaits[u] += 1
        self.grad, ready = 1.0, [self]
        for v in ready:
            for u, slope in zip(v.inputs, v.slopes):
                u.grad += slope * v.grad
                awaits[u] -= 1
                if awaits[u] == 0:
                    ready.append(u)
        ### END SOLUTION

    # The rest is given.
    def exp(self):
        return Value(math.exp(self.data), (self,), (math.exp(self.data),))

    def log(self):
        return Value(math.log(self.data), (self,), (1 / self.data,))

    def __sub__(self, other):
        return self + other * -1.0

    __radd__, __rmul__ = __add__, __mul__


# %% check="Value"
check(Value)

# %% [markdown] covers="explainers:4.5"
# ### Partial or total?
#
# $L = \theta_2 + x_3 + \theta_1x_1x_2$, computed as $v_3 = \theta_1x_1x_2$, then $v_5 = \theta_2 + v_3 + x_3$. The
# formula of $v_5$ alone does not contain $\theta_1$: the *partial* derivative $\partial v_5/\partial\theta_1$ is 0. Yet
# move $\theta_1$, and $v_5$ moves by $x_1x_2$ times as much: the *total* derivative. The `slopes` of your `Value` are
# partial. Its `grad` is total, and that is what descent needs.

# %% covers="explainers:4.5 explainers:4.5.1"
# Your engine on the five nodes: values go right, grads come back.
with after(Value):
    x1, x2, x3, t1, t2 = (Value(v) for v in (2.0, 3.0, 4.0, -1.0, 0.5))
    v3 = t1 * x1 * x2
    v5 = t2 + v3 + x3
    v5.backward()
    nodes = {"x1": x1, "x2": x2, "x3": x3, "θ1": t1, "θ2": t2, "v3": v3, "v5": v5}
    claim(
        "dv₅/dθ₁ = x₁x₂ = {g:g}, dv₅/dθ₂ = 1", (t1.grad, t2.grad) == (6, 1), g=t1.grad
    )
    show(*bp.draw_dag(nodes))

# %% covers="explainers:4.5.1 moon:36.1 cs480:9-backprop"
# The network of section 1, and a long sum: your engine, your hand, torch.
with after(Value, backprop_221):
    x, y = (1.0, 0.0), 1.0

    def loss_221(w):  # runs on Values and on torch's tensors alike
        h1 = (w[0] * x[0] + w[1] * x[1]).sigmoid()
        h2 = (w[2] * x[0] + w[3] * x[1]).sigmoid()
        error = (w[4] * h1 + w[5] * h2).sigmoid() - y
        return 0.5 * error * error

    w = [Value(v) for v in bp.NOTES_W.tolist()]
    L = loss_221(w)
    L.backward()
    grads = [v.grad for v in w]
    hand = backprop_221(bp.NOTES_W, x, y, "sigmoid")[1]
    torchs = torch.func.grad(loss_221)(torch.tensor(bp.NOTES_W)).numpy()
    claim("your engine finds your six slopes", np.allclose(grads, hand, atol=1e-12))
    gap = np.abs(grads - torchs).max()
    claim("torch finds them, too (gap {gap})", gap < 1e-12, gap=below(1e-12))
    a = Value(2.0)
    total = sum((a * a for _ in range(5000)), Value(0.0))
    total.backward()
    claim("5,000 squares of 2: slope {g:g}", a.grad == 20000, g=a.grad)

# %% [markdown] covers="wu:2.4 wu:2.4.2 wu:2.4.3 wu:2.3 explainers:4.1"
# ## 3. Layers, and a whole batch at once
#
# One object for each number is slow. So do a layer in one go: $z_k = \sum_j h_jW_{jk} + b_k$, then $\varphi(z_k)$. Say
# the slopes by the outputs have arrived from above. Count paths, with $\delta_k = \partial L/\partial z_k$:
#
# - $z_k$ reaches the loss through $\varphi(z_k)$ only: multiply what arrives by $\varphi'(z_k)$, and you have $\delta_k$;
# - $W_{jk}$ reaches it through $z_k$ only: its slope is $h_j\delta_k$; that of $b_k$ is $\delta_k$;
# - $h_j$ reaches it through *every* $z_k$: its slope, which the layer below waits for, is $\sum_k \delta_kW_{jk}$.
#
# So a forward run keeps all its $z$ and $h$: they are needed on the way back.

# %% [markdown] covers="guo:III.6 wu:2.4.2 guo:III.2 cs480:9-backprop"
# Now $N$ examples, one a **row** of $X$. Layer $l = 0, 1, \dots$ has weights $W_l$ with a row for each input and a
# column for each unit; $H_0 = X$.
#
# $$\begin{gathered}
# Z_l = H_lW_l + b_l, \qquad H_{l+1} = \varphi(Z_l), \\
# P = \mathrm{softmax}(Z_\text{last}) \text{ row by row}, \qquad L = -\tfrac1N\textstyle\sum_{n,k} Y_{nk}\log P_{nk}.
# \end{gathered}$$
#
# Its slope by the scores $Z_\text{last}$ is $\frac1N(P - Y)$ ([[02/03|generalised linear models]]). One thought is new: all
# rows share a weight, so their slopes **add up**, and that sum is a matrix product. With $\Delta_l$ for the slopes by
# $Z_l$:
#
# $$\nabla_{W_l} = H_l^\top\Delta_l,\quad \nabla_{b_l} = \text{column sums of }\Delta_l,\quad
# \Delta_{l-1} = \big(\Delta_lW_l^\top\big)\odot\varphi'(Z_{l-1}),$$
#
# where $\odot$ multiplies entry by entry.


# %% exercise="mlp_backward" points=5 difficulty=1 covers="guo:III.6 wu:2.4.2 cs480:9-backprop explainers:4.1 wu:2.3 guo:III.2 cs480:9"
def mlp_backward(X, Y, Ws, bs, phi, slope):
    """Mean cross-entropy of a softmax network over a batch, and its slopes.

    X (N, d). Y (N, K), one-hot rows. Ws: list of arrays (inputs, units), bs: list of
    (units,); the last layer makes the scores and has no phi. One layer is allowed.
    phi, slope: activation and its derivative, entry by entry, both called with Z.
    Returns loss, dWs, dbs: a number and two lists, shaped like Ws and bs.
    Natural logarithm. Scores of 900 and -900 must give finite results.
    X = [[1]], Y = [[1, 0]], Ws = [[[0, 0]]], bs = [[0, 0]] gives loss log 2,
    dWs = [[[-0.5, 0.5]]], dbs = [[-0.5, 0.5]].
    """
    ### BEGIN SOLUTION
    Hs, Zs = [X], []
    for W, b in zip(Ws, bs):
        Zs.append(Hs[-1] @ W + b)
        Hs.append(phi(Zs[-1]))
    log_P = log_softmax(Zs[-1], axis=1)
    loss = -np.sum(Y * log_P) / len(X)
    Delta = (np.exp(log_P) - Y) / len(X)
    dWs, dbs = [], []
    for l in reversed(range(len(Ws))):
        dWs.append(Hs[l].T @ Delta)
        dbs.append(Delta.sum(axis=0))
        if l > 0:
            Delta = (Delta @ Ws[l].T) * slope(Zs[l - 1])
    return loss, dWs[::-1], dbs[::-1]
    ### END SOLUTION


# %% check="mlp_backward"
check(mlp_backward)

# %% open=true covers="guo:III.6 cs480:9-backprop"
with after(mlp_backward):
    Ws, bs, X, Y = bp.batch([5, 6, 4, 3], rows=8, seed=7)
    loss, dWs, dbs = mlp_backward(X, Y, Ws, bs, *bp.ACTIVATIONS["tanh"])
    same = all(np.allclose(a, b) for a, b in zip(dWs + dbs, bp.torchs(X, Y, Ws, bs)))
    claim("torch finds all {n} slopes", same, n=sum(np.size(d) for d in dWs + dbs))
    ones = [mlp_backward(X[[i]], Y[[i]], Ws, bs, *bp.ACTIVATIONS["tanh"])[1][0]
            for i in range(8)]  # fmt: skip
    claim("a batch: the mean of its rows", np.allclose(np.mean(ones, axis=0), dWs[0]))

# %% [markdown] covers="cs480:9-backprop explainers:4.5.1"
# ## 4. Where the other runs have gone
#
# Back to the digits. First one image, with your engine: 2,410 parameters as `Value`s. Nudging asks about one weight
# and computes everything anew. Your engine asks once, at the loss, and each edge of the graph carries one share,
# whatever the number of weights: all paths that meet in a value travel on as one sum.

# %% covers="cs480:9-backprop explainers:4.5.1 explainers:4.5.2"
# One digit through 64-32-10, number by number; count the edges.
with after(Value, mlp_backward):
    pixels, labels = bp.shuffled_digits()
    Ws, bs = bp.he_network([64, 32, 10], seed=0)
    first, second = ([[Value(v) for v in row] for row in W.tolist()] for W in Ws)
    bias, last = ([Value(v) for v in b.tolist()] for b in bs)

    def apply(W, b, h):
        return [sum((v * row[k] for v, row in zip(h, W)), b[k]) for k in range(len(b))]

    hidden = [z.relu() for z in apply(first, bias, pixels[0].tolist())]
    scores = apply(second, last, hidden)
    L = sum((s.exp() for s in scores), Value(0.0)).log() - scores[labels[0]]
    L.backward()
    one = pixels[:1], np.eye(10)[labels[:1]], Ws, bs
    _, dWs, dbs = mlp_backward(*one, *bp.ACTIVATIONS["relu"])
    grads = np.array([[v.grad for v in row] for row in first])
    same = np.allclose(grads, dWs[0])
    claim("engine and batch agree on {n:,} weights", same, n=grads.size)
    behind, run = bp.behind(L), bp.gradient_costs([64, 32, 10])
    edges = sum(len(v.inputs) for v in behind)
    print(f"{len(behind):,} values, {edges:,} edges: as many shares went back")
    print(
        f"nudging: {run['parameters'] + 1:,} runs of {run['forward']:,} products each"
    )
    few = edges < run["nudging"] / 500
    ratio = run["nudging"] / edges
    claim("nudging: {r:.0f} products for each of your shares", few, r=ratio)

# %% covers="guo:III.6 explainers:4.5.2 moon:36.1-step"
# Then the whole training, with your `mlp_backward`: 20 passes in batches of 32.
with after(mlp_backward):
    pixels, labels = bp.shuffled_digits()
    Y, (phi, slope) = np.eye(10)[labels], bp.ACTIVATIONS["relu"]
    (Ws, bs), order = bp.he_network([64, 32, 10], seed=0), np.random.default_rng(0)
    steps, right, losses = [], [], []
    batches = [
        p for _ in range(20) for p in np.array_split(order.permutation(1297), 41)
    ]
    for step, rows in enumerate(batches):
        loss, dWs, dbs = mlp_backward(pixels[rows], Y[rows], Ws, bs, phi, slope)
        Ws = [W - 0.2 * dW for W, dW in zip(Ws, dWs)]
        bs = [b - 0.2 * db for b, db in zip(bs, dbs)]
        losses.append(loss)
        if step + 1 in (1, 3, 10, 30, 100, 300, 820):
            scores = phi(pixels[1297:] @ Ws[0] + bs[0]) @ Ws[1] + bs[1]
            steps.append(step + 1)
            right.append(np.mean(scores.argmax(axis=1) == labels[1297:]))
    cost = bp.gradient_costs([64, 32, 10])
    share = 820 * cost["backprop"] / cost["nudging"]
    claim("the first loss is near log 10: no idea", abs(losses[0] - math.log(10)) < 0.5)
    claim("of the 500 digits kept apart, over 95 % are right", right[-1] > 0.95)
    claim("820 steps: {s:.2f} of the work of one nudged step", share < 1, s=share)
    deep = bp.gradient_costs([64] * 21 + [10])
    two, three = (c["backprop"] / c["forward"] for c in (cost, deep))
    claim(
        "all slopes: {two:.1f} runs; with 20 hidden layers of 64, {three:.1f}",
        two < three < 3.1, two=two, three=three,
    )  # fmt: skip
    show(*bp.draw_training(steps, right), digits=0)

# %% [markdown] covers="moon:36.1-step wu:2.4"
# ## Take-aways
#
# - The chain rule is a sum over paths and a product along each. Backpropagation adds up shares where paths meet, so
#   each edge is walked once.
# - Forward: compute and keep. Backward: slope 1 at the loss; a value waits for all its children, then passes on.
# - A layer: what arrives, times $\varphi'$, is $\delta$; $\delta$ for biases, $h\,\delta$ for weights, $W\delta$ for the
#   layer below. A batch: $H^\top\Delta$, and the sum over rows comes free.
# - All slopes of one number cost two to three runs, however many they are, and the memory for all values of one.
#
# Next: [[next]]. Below: how to test a derivative, when backward is the wrong way, and where gradients die.

# %% [markdown] covers="moon:35.1 moon:35.3"
# ## Deeper: derivatives that you can test
#
# Every formula here is a claim, and nudging is its judge. How far should one nudge? The **Jacobian** of $f: \mathbb R^n
# \to \mathbb R^m$ holds all slopes, a row for each output, a column for each input (the *numerator layout*):
#
# $$\Big[\frac{\partial f}{\partial x}\Big]_{ij} = \frac{\partial f_i}{\partial x_j} \approx
# \frac{f_i(x + \varepsilon e_j) - f_i(x - \varepsilon e_j)}{2\varepsilon},$$
#
# with $e_j$ the $j$-th unit vector. This difference is *central*; one-sided, $f(x+\varepsilon) - f(x)$ over
# $\varepsilon$, it is worse. Drag the point, then the nudge: how fast does each error fall with $\varepsilon$, and why
# do both rise again? Try ReLU at $x = 0$.

# %% covers="moon:35.1"
# Drag the point on the curve, then the nudge ε.
explore(
    bp.draw_differences,
    drag={"x": "curve", "eps": "nudge"},
    digits=0,
    curve=Dropdown(options=list(bp.CURVES), value="sin x", description="f(x)"),
    x=FloatSlider(0.8, min=-2, max=2, step=0.1, description="x"),
    eps=FloatLogSlider(1.0, min=-12, max=0, step=0.5, description="ε"),
)


# %% exercise="jacobian" points=2 difficulty=1 covers="moon:35.3 moon:35.1"
def jacobian(f, x, eps=1e-5):
    """Jacobian of f at x by central differences with nudges of eps.

    f: function (n,) -> (m,), or -> a number, which counts as m = 1.
    x (n,), left unchanged; f may hand it back. Returns (m, n), also for m = 1.
    f = lambda x: np.array([x[0] * x[1], x[0] + x[1], 7.0]) at x = [2, 3]
    gives [[3, 2], [1, 1], [0, 0]].
    """
    ### BEGIN SOLUTION
    columns = []
    for nudge in eps * np.eye(len(x)):
        change = np.atleast_1d(f(x + nudge)) - np.atleast_1d(f(x - nudge))
        columns.append(change / (2 * eps))
    return np.stack(columns, axis=1)
    ### END SOLUTION


# %% check="jacobian"
check(jacobian)

# %% [markdown] covers="moon:35.2 moon:35.3 cs480:def9.3"
# Now judge some rules. The Jacobian of a number is a row; its *gradient* holds the same slopes as a column, or in the
# shape of what you differentiate by. In the chain rule Jacobians multiply:
#
# $$\frac{\partial f}{\partial s} = \frac{\partial f}{\partial x}\,\frac{\partial x}{\partial s}, \qquad
# \frac{\partial a^\top x}{\partial x} = a^\top, \quad \frac{\partial Ax}{\partial x} = A, \quad
# \frac{\partial x^\top Ax}{\partial x} = x^\top(A + A^\top).$$
#
# By a matrix, $\partial y/\partial X$ has the shape of $X$, so that $X - \eta\,\partial y/\partial X$ makes sense. Many
# guess such formulas from the shapes.

# %% predict="shapes" minutes=1 covers="cs480:def9.3"
predict(
    "shapes",
    "y = aᵀ X b, with a and b of length 3. Three formulas have the shape of X. Which "
    "one is ∂y/∂X?",
    ["a bᵀ", "b aᵀ", "(aᵀb) I", "The shapes do not tell, so all three"],
    truth=bp.which_formula(),
    because="y = Σ aᵢ Xᵢⱼ bⱼ, so the slope by Xᵢⱼ is aᵢ bⱼ. Shapes find a formula, a "
    "test decides. Test with sizes that are all different.",
)

# %% covers="moon:35.1 moon:35.2 moon:35.3 cs480:def9.3"
# The rules, each on random numbers, judged by your Jacobian.
with after(jacobian, "shapes"):
    rng = np.random.default_rng(0)
    A, S, M = (rng.normal(size=shape) for shape in ((2, 3), (3, 3), (2, 3)))
    a, v, u, b = *rng.normal(size=(2, 3)), *rng.normal(size=(2, 2))

    def close(f, x, J):
        return np.allclose(jacobian(f, x), J, atol=1e-8)

    def by_matrix(f):
        return jacobian(lambda m: f(m.reshape(2, 3)), M.ravel()).reshape(2, 3)

    claim("∂aᵀx/∂x = aᵀ, a row", close(lambda x: a @ x, v, a[None]))
    claim("∂Ax/∂x = A", close(lambda x: A @ x, v, A))
    bowl = (v @ (S + S.T))[None]
    claim("∂xᵀSx/∂x = xᵀ(S + Sᵀ)", close(lambda x: x @ S @ x, v, bowl))
    chain = jacobian(np.sin, A @ v) @ A
    claim("Jacobians multiply", close(lambda x: np.sin(A @ x), v, chain))
    product = (v @ S @ v) * a + (a @ v) * bowl
    claim("product rule", close(lambda x: (a @ x) * (x @ S @ x), v, product))
    over = (a * (v @ S @ v) - (a @ v) * bowl) / (v @ S @ v) ** 2
    claim("quotient rule, with a minus", close(lambda x: a @ x / (x @ S @ x), v, over))
    B = rng.normal(size=(3, 2))
    trace = by_matrix(lambda X: np.trace(B @ X))
    claim("∂tr(BX)/∂X = Bᵀ", np.allclose(trace, B.T))
    frobenius = by_matrix(lambda X: (X**2).sum())
    claim("∂‖X‖²/∂X = 2X", np.allclose(frobenius, 2 * M))
    claim("∂aᵀXb/∂X = abᵀ", np.allclose(by_matrix(lambda X: u @ X @ a), np.outer(u, a)))
    x, y = sympy.symbols("x y")
    two = [sympy.diff((x + 2 * y**3) ** 2, s) for s in (x, y)]
    wanted = [2 * (x + 2 * y**3), 12 * y**2 * (x + 2 * y**3)]
    claim("both slopes of (x + 2y³)²", two == wanted)

# %% [markdown] covers="guo:III.4 wu:2.4.1 guo:III.5"
# ## Deeper: a chain of single units, and where gradients die
#
# The smallest deep network has one sigmoid unit in each layer: $h_0 = x$, $h_l = \sigma(w_{l-1}h_{l-1})$ for $l = 1,
# \dots, n$, and the output $w_nh_n$. Its loss is the mean of $(w_nh_n - y)^2$ over the rows. There is one path, so each
# slope is one product, and each line repeats the one before:
#
# $$\frac{\partial L}{\partial w_n} = \overline{2(w_nh_n - y)\,h_n}, \qquad
# \frac{\partial L}{\partial w_{n-1}} = \overline{2(w_nh_n - y)\,w_n\,h_n(1-h_n)\,h_{n-1}}, \ \dots$$
#
# (the bar: mean over the rows).


# %% exercise="chain_slopes" points=3 difficulty=1 covers="guo:III.4 wu:2.4.1 guo:III.5"
def chain_slopes(ws, x, y):
    """Slopes of the mean squared error of a chain of sigmoid units by its weights.

    ws: the n + 1 weights w_0, …, w_n; the last one makes the output, without a
    sigmoid. x, y (N,): one row each. Returns (n + 1,), in the order of ws.
    One weight alone, n = 0, is allowed: the output is w_0 x.
    ws = [3.0], x = [1.0, 2.0], y = [3.0, 5.0] gives [2.0].
    """
    ### BEGIN SOLUTION
    hs = [x]
    for w in ws[:-1]:
        hs.append(expit(w * hs[-1]))
    arrives = 2 * (ws[-1] * hs[-1] - y) / len(x)
    slopes = [np.sum(arrives * hs[-1])]
    for l in reversed(range(len(ws) - 1)):
        arrives = arrives * ws[l + 1] * hs[l + 1] * (1 - hs[l + 1])
        slopes.append(np.sum(arrives * hs[l]))
    return np.array(slopes[::-1])
    ### END SOLUTION


# %% check="chain_slopes"
check(chain_slopes)

# %% [markdown] covers="guo:III.5 wu:2.4.1"
# One factor $\varphi'(z)\,w$ for each layer. Below 1 the slope **vanishes**, above 1 it **explodes**, exponentially in
# the depth. And $\sigma' \le \frac14$. Move the scale of the weights.
#
# 1. Width 1: compare what is left in layer 1 with $0.25^{19}$.
# 2. Which scale helps sigmoids at width 50? Why can it not grow for ever?
# 3. For which scale does ReLU at width 50 survive 20 layers? ([[07/04]] knows.)

# %% covers="guo:III.5 wu:2.4.1"
# Local slopes, and the gradient that arrives in each of 20 layers.
explore(
    bp.draw_depth,
    act=Dropdown(options=["sigmoid", "tanh", "relu"], description="activation"),
    scale=FloatSlider(1, min=-1, max=6, step=0.1, description="weight scale"),
    width=SelectionSlider(options=[1, 10, 50], value=50, description="width"),
)

# %% demo=true covers="guo:III.5"
# A ReLU unit that is off on all 200 rows gets no slope: how many are born so?
biases = np.linspace(-4, 1, 11)
show(*bp.draw_dead(biases, bp.dead_units(biases)))

# %% covers="guo:III.5 guo:III.4"
# Ten sigmoid layers, by your chain.
with after(chain_slopes):
    x, y = np.random.default_rng(2).normal(size=(2, 5))
    ends = chain_slopes(np.ones(11), x, y)
    ratio = abs(ends[0] / ends[-1])
    claim(
        "weights 1: the first slope is {r:.1e} of the last, below 0.25¹⁰ = {q:.1e}",
        ratio < 0.25**10, r=ratio, q=0.25**10,
    )  # fmt: skip
    w = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64, requires_grad=True)
    h = torch.sigmoid(w[1] * torch.sigmoid(w[0] * torch.tensor(x)))
    ((w[2] * h - torch.tensor(y)) ** 2).mean().backward()
    mine = chain_slopes(np.array([0.5, -1.0, 2.0]), x, y)
    claim("torch finds your three slopes", np.allclose(mine, w.grad))

# %% [markdown] covers="wu:2.3 explainers:4.1 explainers:4.1.ex4.1 guo:III.2 cs480:9"
# ## Deeper: one layer, four equations
#
# Take one example, and another activation in each layer, $a^{(j)} = \sigma_j(z^{(j)})$ with
# $z^{(j)} = W^{(j)}a^{(j-1)} + b^{(j)}$, $j = 1, \dots, J$, from the input $a^{(0)}$. Rows of $W^{(j)}$ now belong to units (that is the transpose of
# section 3), so with $\delta^{(j)} = \partial L/\partial z^{(j)}$
#
# $$\begin{aligned}
# (1)\ \delta^{(J)} &= \sigma_J'(z^{(J)}) \odot \partial L/\partial a^{(J)} & (3)\ \partial L/\partial b^{(j)} &= \delta^{(j)}\\
# (2)\ \delta^{(j)} &= \sigma_j'(z^{(j)}) \odot W^{(j+1)\top}\delta^{(j+1)} \quad & (4)\ \partial L/\partial W^{(j)} &= \delta^{(j)}a^{(j-1)\top}
# \end{aligned}$$
#
# As rows, the same numbers are $\delta^\top W$, and no weight is transposed. Write one layer of it; called from the last
# layer to the first, it is all four.


# %% exercise="layer_backward" points=2 difficulty=1 covers="wu:2.4 wu:2.4.2 wu:2.4.3 explainers:4.5.2"
def layer_backward(W, a, z, slope, upstream):
    """Slopes of the loss by weights, biases and input of one layer phi(W a + b).

    W (n, d). a (d,): what came in. z (n,) = W a + b.
    slope: function, slope(z) is phi'(z), entry by entry. upstream (n,): dL / d phi(z).
    Returns dW (n, d), db (n,), da (d,).
    W = [[1, 2]], a = [3, 4], z = [11], slope = 1 everywhere, upstream = [10]
    gives dW = [[30, 40]], db = [10], da = [10, 20].
    """
    ### BEGIN SOLUTION
    delta = upstream * slope(z)
    return np.outer(delta, a), delta, W.T @ delta
    ### END SOLUTION


# %% check="layer_backward"
check(layer_backward)

# %% covers="explainers:4.5.2 wu:2.4.2 wu:2.4.3 wu:2.2.4 cs480:9-backprop"
# Three layers with three activations: (1) to (4) against torch, the sums against loops.
with after(layer_backward):
    Ws, bs, x, y = bp.mixed_network()
    names = ["tanh", "sigmoid", "relu"]
    zs, activations = bp.forward(Ws, bs, names, x)
    upstream, dWs, deltas = activations[-1] - y, [], []  # L = ½ ‖a − y‖²
    for W, a, z, name in reversed(list(zip(Ws, activations, zs, names))):
        slope = bp.ACTIVATIONS[name][1]
        dW, delta, upstream = layer_backward(W, a, z, slope, upstream)
        dWs, deltas = [dW, *dWs], [delta, *deltas]
    T = [torch.tensor(v, requires_grad=True) for v in [*Ws, *bs]]
    h = torch.tensor(x)
    for W, b, name in zip(T[:3], T[3:], names):
        h = getattr(torch, name)(W @ h + b)
    (0.5 * (h - torch.tensor(y)) ** 2).sum().backward()
    weights = all(np.allclose(dW, W.grad) for dW, W in zip(dWs, T[:3]))
    claim("(4), by way of (1) and (2): all weights of 3-4-5-2", weights)
    claim("(3): all biases", all(np.allclose(d, b.grad) for d, b in zip(deltas, T[3:])))
    loops = [sum(deltas[1][k] * Ws[1][k, j] for k in range(5)) for j in range(4)]
    column, row = Ws[1].T @ deltas[1], deltas[1] @ Ws[1]
    claim("loops = column = row", np.allclose([loops, column], row))
    off = zs[2] <= 0
    claim("{n} unit is off: its weights get 0", not dWs[2][off].any(), n=off.sum())

# %% covers="explainers:4.1.ex4.1 explainers:4.1 guo:III.2 wu:2.3 cs480:9"
# The forward run, four ways: with symbols, nested, with a 1 for the bias, by torch.
a1, a2, v11, v12, b1, v21, v22, c1, c2 = sympy.symbols("a1 a2 v11 v12 b1 v21 v22 c1 c2")
s1, s2 = sympy.Function("s1"), sympy.Function("s2")
layer1 = (sympy.Matrix([[v11, v12]]) * sympy.Matrix([a1, a2])).applyfunc(
    lambda z: s1(z + b1)
)
out = sympy.Matrix([v21, v22]) * layer1 + sympy.Matrix([c1, c2])
inner = s1(v11 * a1 + v12 * a2 + b1)
spelled = [s2(v21 * inner + c1), s2(v22 * inner + c2)]
claim("2-1-2 with symbols: matrices = formulas", list(out.applyfunc(s2)) == spelled)
Ws, bs, x, _ = bp.mixed_network()
_, layers = bp.forward(Ws, bs, ["tanh"] * 3, x)
nested = np.tanh(Ws[1] @ np.tanh(Ws[0] @ x + bs[0]) + bs[1])
nested = np.tanh(Ws[2] @ nested + bs[2])
extended = x
for W, b in zip(Ws, bs):
    extended = np.tanh(np.c_[W, b] @ np.append(extended, 1.0))
claim("nested = layer by layer", np.allclose(nested, layers[-1]))
claim("bias = a column of W, a 1 in a", np.allclose(extended, layers[-1]))
counts = [bp.gradient_costs(sizes)["parameters"] for sizes in ([2, 2, 1], [4, 4, 3, 1])]
claim("2-2-1 has {n[0]} parameters, 4-4-3-1 has {n[1]}", counts == [9, 39], n=counts)

# %% [markdown] covers="moon:35.2 guo:III.5 explainers:4.5.1"
# ## Deeper: which end first?
#
# A network is a composition, its Jacobian a product $J_K\cdots J_1$. Products may be bracketed at will. *Forward mode*
# starts at the input: $J_1$, then $J_2J_1$, … *Reverse mode* starts at the output: $J_K$, then $J_KJ_{K-1}$, … The result
# is the same. Is the work? A product of $(p\times q)(q\times r)$ takes $pqr$ multiplications.


# %% exercise="jacobian_chain" points=2 difficulty=1 covers="guo:III.5 moon:35.2"
def jacobian_chain(Js, order):
    """Product of Jacobians, and the multiplications it takes in the given order.

    Js: list [J_1, …, J_K], K >= 1, J_1 (n_1, n_0), J_2 (n_2, n_1), …: input side first.
    order: "forward" (J_1, then J_2 J_1, …) or "reverse" (J_K, then J_K J_{K-1}, …).
    Returns the product J_K … J_1 (n_K, n_0) and the number of multiplications.
    With J_1 of shape (3, 2) and J_2 of shape (1, 3) both orders count 6.
    """
    ### BEGIN SOLUTION
    count = 0
    product, rest = (Js[0], Js[1:]) if order == "forward" else (Js[-1], Js[-2::-1])
    for J in rest:
        left, right = (J, product) if order == "forward" else (product, J)
        count += left.shape[0] * left.shape[1] * right.shape[1]
        product = left @ right
    return product, count
    ### END SOLUTION


# %% check="jacobian_chain"
check(jacobian_chain)

# %% predict="which-end" minutes=1 covers="guo:III.5 moon:35.2"
predict(
    "which-end",
    "1000 inputs, two layers of 1000, one loss. How many times as much work does "
    "forward mode take for the gradient?",
    ["As much", "About 2 times", "About 30 times", "About 500 times"],
    truth=bp.nearest([1, 2, 30, 500], bp.mode_ratio([1000, 1000, 1000, 1])),
    because="Forward multiplies a 1000 × 1000 matrix by another one. Reverse only ever "
    "carries a row of 1000.",
)  # fmt: skip

# %% [markdown] covers="explainers:4.5.1 guo:III.5"
# Forward mode costs in proportion to the number of **inputs**, reverse mode to the number of **outputs**. A loss is one
# number: reverse. A curve $t\mapsto x(t)$ has one input: forward. On your graph, forward mode needs a sweep for each weight.

# %% covers="explainers:4.5.1 guo:III.5 moon:35.2"
# The products and your graph, from both ends.
with after(Value, jacobian_chain, "which-end"):
    w = [Value(v) for v in bp.NOTES_W.tolist()]
    h1, h2 = (w[0] * 1.0 + w[1] * 0.0).sigmoid(), (w[2] * 1.0 + w[3] * 0.0).sigmoid()
    error = (w[4] * h1 + w[5] * h2).sigmoid() - 1.0
    L = 0.5 * error * error
    L.backward()
    order = bp.behind(L)
    sweeps = [bp.forward_mode(order, leaf) for leaf in w]
    same = np.allclose([slope for slope, _ in sweeps], [v.grad for v in w])
    claim("six sweeps forward find the grads of one sweep back", same)
    edges = sum(len(v.inputs) for v in order)
    print(f"back: {edges} products; forward: {sum(n for _, n in sweeps)}")
    rng = np.random.default_rng(8)
    net = [rng.normal(size=s) / 8 for s in [(32, 64), (32, 32), (1, 32)]]
    (one, forth), (other, back) = (
        jacobian_chain(net, o) for o in ("forward", "reverse")
    )
    claim("64-32-32-1: both orders agree", np.allclose(one, other))
    print(f"forward {forth:,} multiplications, reverse {back:,}")

# %% [markdown] covers="explainers:4.5.1.a"
# ## Deeper: every primitive brings its own slope
#
# An engine for vectors needs one function for each primitive $f$: given the input $v$ and the row $g^\top$ that arrives
# from above, return $g^\top\frac{\partial f}{\partial v}$, its **vector–Jacobian product**. It rarely forms the Jacobian.
#
# - Softmax, $p$: each output depends on every input, $\frac{\partial p_i}{\partial v_j} = p_i\,(1[i=j] - p_j)$, so no
#   $\odot$ alone will do.
# - Norm, $u = (v - m)/s$ with mean $m$ and $s^2$ the mean squared deviation of the $n$ entries: $v_j$ acts directly, through
#   $m$ and through $s$, $\frac{\partial u_i}{\partial v_j} = \frac1s\big(1[i=j] - \frac1n - \frac1n u_iu_j\big)$.
# - Index, $v[\text{where}]$: an entry that is read twice gets two shares.


# %% exercise="vjp" points=3 difficulty=1 covers="explainers:4.5.1.a"
def vjp(kind, v, g, where=None):
    """g times the Jacobian of a primitive at v: the shares of each entry, added up.

    kind: "softmax", "norm" or "index". v (n,), for "norm" not all equal.
    g: a number for each output, (n,); for "index" (len(where),).
    where: whole numbers from 0 to n - 1, for "index" only. Returns (n,).
    vjp("index", [5.0, 6.0, 7.0], [1.0, 10.0, 100.0], where=[2, 0, 2]) gives
    [10, 0, 101].
    """
    ### BEGIN SOLUTION
    if kind == "softmax":
        p = softmax(v)
        return p * (g - p @ g)
    if kind == "norm":
        r = v - np.mean(v)
        return (g - np.mean(g) - r * np.mean(g * r) / np.var(v)) / np.std(v)
    shares = np.zeros(len(v))
    np.add.at(shares, where, g)
    return shares
    ### END SOLUTION


# %% check="vjp"
check(vjp)

# %% covers="explainers:4.5.1.a"
# Eleven primitives, each against the Jacobian that torch finds; three of them yours.
with after(vjp):
    gaps = {}
    for name, (f, back) in bp.primitives(vjp).items():
        v = torch.tensor([0.3, -1.2, 0.8, 1.9], dtype=torch.float64)
        J = torch.autograd.functional.jacobian(f, v).reshape(-1, 4).numpy()
        g = np.random.default_rng(6).normal(size=len(J))
        gaps[name] = np.abs(back(v.numpy(), g) - g @ J).max()
    held = max(gaps.values()) < 1e-12
    claim("{n} pass: {names:, }", held, n=len(gaps), names=list(gaps))

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails,
# the right one holds, and a wrong one of the same shape fails too. *Too broad*: a condition is missing.

# %% demo=true covers="moon:36.1"
# moon 36.1: the network is declared with ReLU, but computed with the sigmoid.
by = {act: bp.two_two_one(bp.NOTES_W, (1, 0), 1.0, act) for act in bp.ACTIVATIONS}
erratum(
    "moon:36.1",
    quote=r"$z_1 = w_1 x_1 + w_2 x_2$ ,  $h_1 = \text{ReLU}(z_1)$",
    corrected=r"$h_i = \sigma(z_i)$, as all numbers and derivatives below it use",
    printed_holds=round(by["relu"]["h1"], 5) == 0.62246,
    corrected_holds=round(by["sigmoid"]["h1"], 5) == 0.62246,
    decoy_holds=round(by["tanh"]["h1"], 5) == 0.62246,
)
exact = by["sigmoid"]["dz3"]  # the target, 1, is not stated; this fits it alone
erratum(
    "moon:36.1",
    quote=r"We already have $\frac{\partial L}{\partial z_3} = -0.12058$",
    corrected=(
        r"$-0.12068$; so the slopes by $w_1, w_5, w_6$ are $-0.005672$, $-0.075116$ "
        r"and $-0.069321$"
    ),
    printed_holds=round(exact, 5) == -0.12058,
    corrected_holds=round(exact, 5) == -0.12068
    and [round(by["sigmoid"][f"dw{i}"], 6) for i in (1, 5, 6)]
    == [-0.005672, -0.075116, -0.069321],
    decoy_holds=round(exact, 5) == -0.12067,  # rounded to five digits all the way
)
h2 = by["sigmoid"]["h2"]
erratum(
    "moon:36.1",
    quote=r"0.57444 \times 0.42556 \approx 0.24450",
    corrected=r"$0.24446$",
    printed_holds=round(h2 * (1 - h2), 5) == 0.24450,
    corrected_holds=round(h2 * (1 - h2), 5) == 0.24446,
    decoy_holds=round(h2 * (1 - h2), 5) == 0.24445,
)

# %% demo=true covers="moon:35.1 moon:35.2 moon:35.3"
# moon, chapter 35: the quotient rule, and four matters of notation.
at = np.linspace(-1, 1, 9)
quotient = bp.slope(lambda x: np.sin(x) / np.exp(x), at)
first, second = np.cos(at) * np.exp(at), np.sin(at) * np.exp(at)
erratum(
    "moon:35.1",
    quote=(r"\left(\frac{f(x)}{g(x)}\right)' = \frac{f'(x)g(x) + f(x)g'(x)}{(g(x))^2}"),
    corrected=r"$\frac{f'g - fg'}{g^2}$",
    printed_holds=np.allclose(quotient, (first + second) / np.exp(at) ** 2),
    corrected_holds=np.allclose(quotient, (first - second) / np.exp(at) ** 2),
    decoy_holds=np.allclose(quotient, (second - first) / np.exp(at) ** 2),
)
erratum(
    "moon:35.1",
    quote="## 2.2 Chain Rule",
    corrected="35.2: the chapter's sections are numbered 1.1, 2.2 and 3.3",
    kind="convention",
)
erratum(
    "moon:35.2",
    quote=(
        "To compute the gradient of f with respect to t, we need to apply the chain "
        "rule"
    ),
    corrected=r"$\frac{df}{dt}$, with $\frac{dx_i}{dt}$: there is one variable only",
    kind="convention",
)
erratum(
    "moon:35.3",
    quote=r"Differentiate a vector y by a scalar $\mathbf{x}$",
    corrected=(
        r"$x$; and $\partial y/\partial x$ is $m\times n$ for $y\in\mathbb R^m$, as "
        r"used "
        r"for $Ax$ below"
    ),
    kind="convention",
)

# %% demo=true covers="explainers:4.5.2"
# explainers 4.5.2: three indices and a factor, on a network 3-4-5-1 (k = 2) by torch.
T = bp.torch_layers([3, 4, 5, 1], ["tanh", "sigmoid", "identity"], seed=4)
n, k = [3, 4, 5, 1], 2
erratum(
    "explainers:4.5.2",
    quote=(r"\frac{\partial \mathcal{L}}{\partial a_i^{(k+1)}}$  for  $i \in [k+1]$"),
    corrected=(
        r"for $i \in [n_{k+1}]$, the units of the last layer; its proof lacks a "
        r"$\partial$"
    ),
    printed_holds=len(T.deltas[k + 1]) == k + 1,
    corrected_holds=len(T.deltas[k + 1]) == n[k + 1],
    decoy_holds=len(T.deltas[k + 1]) == n[k],
)
back = T.W[2].T @ T.deltas[2]  # what arrives at layer 1, a tanh, from 2, a sigmoid
erratum(
    "explainers:4.5.2",
    quote=(
        r"\frac{\partial z_l^{(j+1)}}{\partial z_i^{(j)}} = \sigma'_{j+1}(z_i^{(j)}) "
        r"w_{l,i}^{(j+1)}"
    ),
    corrected=r"$\sigma'_j(z_i^{(j)})$, as its statement 2 has it",
    printed_holds=np.allclose(bp.ACTIVATIONS["sigmoid"][1](T.z[1]) * back, T.deltas[1]),
    corrected_holds=np.allclose(bp.ACTIVATIONS["tanh"][1](T.z[1]) * back, T.deltas[1]),
    decoy_holds=np.allclose(bp.ACTIVATIONS["identity"][1](T.z[1]) * back, T.deltas[1]),
)


def summed(terms, j=2):  # Σ over l of (∂L/∂z_l) (∂z_l/∂b_i), for each i
    return T.deltas[j][:terms] @ np.eye(n[j])[:terms]


erratum(
    "explainers:4.5.2",
    quote=(
        r"\frac{\partial \mathcal{L}}{\partial b_i^{(j)}} = \sum_{l=1}^{n_{j+1}} "
        r"\frac{\partial \mathcal{L}}{\partial z_l^{(j)}}"
    ),
    corrected=r"the sum runs to $n_j$",
    printed_holds=np.allclose(summed(n[3]), T.db[2]),
    corrected_holds=np.allclose(summed(n[2]), T.db[2]),
    decoy_holds=np.allclose(summed(n[1]), T.db[2]),
)
a = torch.tensor([0.7], requires_grad=True)
((a - 0.2) ** 2).sum().backward()
erratum(
    "explainers:4.5.2",
    quote=(r"\frac{\partial \mathcal{L}}{\partial a_i^{(k+1)}} = a_i^{(k+1)} - y_i."),
    corrected=(
        r"$2(a_i - y_i)$ for the squared error as its section 2.1 defines it; $a - y$ "
        r"belongs to $\frac12\lVert a - y\rVert^2$"
    ),
    printed_holds=np.isclose(a.grad[0], 0.5),
    corrected_holds=np.isclose(a.grad[0], 2 * 0.5),
    decoy_holds=np.isclose(a.grad[0], -2 * 0.5),
)

# %% demo=true covers="guo:III.2 guo:III.4"
# guo III.2 and III.4: an index of the weights, and a sum that got lost.
w, x = [0.5, -1.0, 2.0], 0.8  # scalars w_0, w_1, w_2; L = 2


def output(layers):  # the readout, w_2, of h_2, made by these two weights
    return w[2] * np.tanh(w[layers[1]] * np.tanh(w[layers[0]] * x))


expanded = w[2] * np.tanh(w[1] * np.tanh(w[0] * x))
erratum(
    "guo:III.2",
    quote=(
        r"h_\ell = \varphi(w_\ell^\top h_{\ell-1}) … \mathbb{E}[y | x] = "
        r"g^{-1}(w_L^\top "
        r"h_L)"
    ),
    corrected=(
        r"$h_\ell = \varphi(w_{\ell-1}^\top h_{\ell-1})$, as in its expanded form: "
        r"$w_L$ "
        r"only reads out"
    ),
    printed_holds=np.isclose(output([1, 2]), expanded),
    corrected_holds=np.isclose(output([0, 1]), expanded),
    decoy_holds=np.isclose(output([1, 0]), expanded),
)
x, y = np.random.default_rng(2).normal(size=(2, 5))
h1 = expit(0.5 * x)
h2 = expit(-h1)
terms = 2 * (2 * h2 - y) * 2 * h2 * (1 - h2) * h1  # by w_1, of each row
true = bp.slope(lambda w1: np.mean((2 * expit(w1 * h1) - y) ** 2), -1.0)
erratum(
    "guo:III.4",
    quote=(r"\frac{d\ell}{dw_{L-1}} = \frac{1}{N} 2(y_n - w_L h_L)(-w_L)"),
    corrected=r"$\frac1N\sum_{n=1}^N$ of these terms",
    printed_holds=bool(np.isclose(terms / 5, true).any()),  # for any row n?
    corrected_holds=np.isclose(terms.sum() / 5, true),
    decoy_holds=np.isclose(terms.sum(), true),
)
erratum(
    "guo:III.4",
    quote=r"\frac{dh_{n,1}}{d(w_0 \cdot h)} \frac{d(w_0 \cdot h)}{dw_0}",
    corrected=r"$d(w_0\cdot x_n)$: the first layer reads $x$",
    kind="convention",
)

# %% demo=true covers="guo:III.5 guo:III.6"
# guo III.5 and III.6: a factor that got lost, the sign of weights, a transpose.
hs = [1.0]  # L = 4, x = 1, y = 0
for w in (0.5, -1.0, 1.5, -2.0):
    hs.append(expit(w * hs[-1]))
link = [
    w * h * (1 - h) for w, h in zip((0.5, -1.0, 1.5, -2.0), hs[1:])
]  # dh_l/dh_{l-1}
tail = 2 * 2.0 * hs[4] * 2.0, hs[2] * (1 - hs[2]) * hs[1]  # dℓ/dE dE/dh_4, dh_2/dw_1


def loss_by(w1):
    h = expit(w1 * hs[1])
    return (2.0 * expit(-2.0 * expit(1.5 * h))) ** 2


true = bp.slope(loss_by, -1.0)
erratum(
    "guo:III.5",
    quote=(
        r"\frac{d\ell}{d\mathbb{E}} \frac{d\mathbb{E}}{dh_L} \frac{dh_{L-1}}{dh_{L-2}} "
        r"\dots \frac{dg_{\ell+2}}{dh_{\ell+1}} \frac{dh_{\ell+1}}{dw_\ell}"
    ),
    corrected=r"the factor $\frac{dh_L}{dh_{L-1}}$ is missing; and $dh_{\ell+2}$",
    printed_holds=np.isclose(tail[0] * link[2] * tail[1], true),
    corrected_holds=np.isclose(tail[0] * link[3] * link[2] * tail[1], true),
    decoy_holds=np.isclose(tail[0] * link[3] * tail[1], true),
)
row = np.array([1.0, -2.0])  # a unit is alive where its pre-activation is positive
alive = {sign: sign * (row @ np.ones(2)) > 0 for sign in (1, -1)}
erratum(
    "guo:III.5",
    quote=(
        "with ReLU, when initializing the weights, it should have been positive, or "
        "those "
        "units will be evaluated to 0"
    ),
    corrected=(
        "the pre-activation must be positive for some row; the sign of the weights "
        "alone "
        "decides nothing"
    ),
    printed_holds=bool(alive[1] and not alive[-1]),
    corrected_holds=bool(alive[-1] and not alive[1]),
    decoy_holds=bool(alive[1] and alive[-1]),  # always alive
)
erratum(
    "guo:III.6",
    quote=(
        r"(\mathbb{E}[Y | X] - Y) W_L^T \odot \varphi'(A_L) W_{L-1}^T \odot "
        r"\varphi'(A_{L-1}) \dots"
    ),
    corrected=(
        r"$\frac1N H_\ell^\top[\cdots]$, the bracket from left to right: matrix "
        r"products "
        r"and $\odot$ do not commute"
    ),
    kind="convention",
)
erratum(
    "guo:III.6",
    quote=(
        "We might need to transpose again to reach to the same dimensions with the "
        "matrix."
    ),
    corrected=r"indeed: $\frac1N H_\ell^\top[\cdots]$ has the shape of $W_\ell$",
    kind="convention",
)

# %% demo=true covers="wu:2.2.4 wu:2.4.3"
# wu 2.2.4 and 2.4.3: what is constant, and a word.
error = {w2: w2 * 2.0 - 1.0 for w2 in (1.0, 1.5)}  # h = 2 at x = 2, y = 1, one piece
erratum(
    "wu:2.2.4",
    quote=(
        "This creates a piecewise constant gradient field because of the ReLU "
        "function's "
        "piecewise linear nature."
    ),
    corrected=(
        r"piecewise constant is $\partial s/\partial x$; the slopes by the weights "
        r"scale "
        r"with the error, with $h$ and with $x$"
    ),
    kind="broad",
    printed_holds=error[1.0] * 2.0 == error[1.5] * 2.0,  # ∂J/∂w₂ = e h
    corrected_holds=bp.slope(lambda x: max(x, 0), 2.0).round(6)
    == bp.slope(lambda x: max(x, 0), 3.0).round(6),
)
erratum(
    "wu:2.4.3",
    quote="Rotates weight matrix instead of gradient vectors",
    corrected="transposes it",
    kind="convention",
)

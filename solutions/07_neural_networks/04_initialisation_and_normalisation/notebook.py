# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] minutes=90 builds="a deep network whose signals survive: He weights, and batch, layer and RMS norm with one backward pass for all three"
# # Initialisation and normalisation
#
# Lectures: cs480 9 (batch normalisation) · explainers 3.1.2 and 3.1.4 · guo III.8–III.9 · wu 2.7 and 2.14.
#
# [Backpropagation](02_backpropagation.ipynb) computes the gradient of any network. That does not make a deep network learn: first a signal has to reach the end, and a gradient has to come back.
# At the end you can
#
# - predict the size of a signal after fifty layers, and choose the weights' variance so that it survives;
# - say which starts cannot learn at all, and why;
# - write batch, layer and RMS norm, forward and backward, and state what each ignores;
# - explain what a normaliser does to the loss landscape and to the learning rate, and what it does not do;
# - recognise the traps: training against evaluation statistics, small batches, $\varepsilon$.

# %%
import numpy as np
import sympy
import torch
from ipywidgets import Checkbox, Dropdown, FloatSlider, IntSlider

from descent import after, check, data, erratum, explore, hint, predict, show, start
from descent.pictures.neural_networks import initialisation_and_normalisation as nn

start("07_neural_networks/04_initialisation_and_normalisation")

# %% [markdown] covers="wu:2.7 explainers:3.1.2"
# ## Why it matters
#
# Fifty layers of $n = 512$ ReLU units. Every weight is drawn independently with mean 0 and the same variance. In goes standard normal noise; the picture shows the mean square of a unit, layer by layer.
# The four curves differ in nothing but the variance: 1, 1.9, 2 and 2.93 divided by $n$. (The same random numbers are used for all, only scaled.)
#
# How much can a factor of 2 matter?

# %% covers="wu:2.7 explainers:3.1.2" demo=true
he = nn.deep_relu(depth=50, width=512)
ends = [he[-1] * (c / 2) ** 50 for c in (1, 1.9, 2)]
predict(
    "With variance 2/n the mean square after fifty layers is of the order of 1. "
    "What is it with variance 1/n?",
    ["about 1/2", "about 1/50", "about 0.001", "below 10^-14"],
    truth=3 if ends[0] < 1e-14 else 0,
    because="Each layer halves the mean square once more: 2^-50 is about 10^-15. "
    "Errors of the scale multiply through depth.",
    then=lambda he=he: nn.draw_fifty(he),
)

# %% [markdown] covers="wu:2.7.1 wu:2.7"
# ### Four goals
#
# A gradient is as fragile as a signal: it passes through the same matrices, in the other direction. What should the initial weights $\theta_0$ do?
#
# 1. **keep the signal**: the mean square neither dies nor explodes from layer to layer;
# 2. **keep the gradient**: the same on the way back;
# 3. **break the symmetry**: no two units compute the same;
# 4. **avoid saturation**: no layer sits where its activation is flat, so that no gradient passes.
#
# The widget builds a network of width 96 and ticks the goals that it meets at the start. Kept means: within a factor of 100. A layer is saturated if more than half of its slopes (for a ReLU more than 90 %) are below 5 % of the largest possible one.
#
# **Find out.** (1) ReLU and He: all four met. How do the histograms change with depth? (2) Stay with He and take tanh: which goals hold? Then "sd 0.5": what do its histograms look like? (3) Can any scheme rescue 50 layers of sigmoid? Look at its largest slope, ¼. Its signal counts as kept: is that a comfort?
# (4) Which goals does "all equal" miss, and "zeros"? (5) Xavier with tanh at depth 10, 30, 60: does the signal stay?

# %% covers="wu:2.7.1 wu:2.7.2 guo:III.8 explainers:3.1.2" demo=true
on_release = dict(continuous_update=False)
explore(
    nn.draw_signals,
    scheme=Dropdown(options=nn.SCHEMES, value="Xavier", description="weights"),
    activation=Dropdown(
        options=list(nn.ACTIVATIONS), value="ReLU", description="activation"
    ),
    depth=IntSlider(30, min=1, max=60, description="layers", **on_release),
)

# %% [markdown] covers="wu:2.7.3 guo:III.8"
# ## 1. The ledger of second moments
#
# One layer: $s_i = \sum_{j=1}^{n} W_{ij} h_j$ (or `h @ W` with rows and columns exchanged, as in guo's $A_{l+1} = H_l W_l$). The weights are independent of each other and of $h$, with mean 0 and variance $v$. Square and take the mean: the mixed terms $\mathbb E[W_{ij}W_{ik}] h_j h_k$ vanish, and
#
# $$\mathbb E[s_i] = 0, \qquad \mathrm{Var}[s_i] = \mathbb E[s_i^2] = n\,v\;\mathbb E[h_j^2] .$$
#
# With a fixed standard deviation (wu 2.71) this grows with the width $n$, so $v$ must shrink like $1/n$. And on the right stands the **second moment** of $h$, not its variance. Both agree only if $h$ has mean 0. After a ReLU it has not.
#
# The cell gives the inputs mean 2 and variance 1, and draws 40 000 units.

# %% covers="wu:2.7.3" demo=true
rng, n, v = np.random.default_rng(0), 200, 0.01
h = 2 + rng.normal(size=n)
s = np.sqrt(v) * rng.normal(size=(40_000, n)) @ h
second, variance = np.mean(h**2), np.var(h)
by_second, by_variance = n * v * second, n * v * variance
print(f"Var[s] {s.var():.1f}, n v E[h²] {by_second:.1f}, n v Var[h] {by_variance:.1f}")
erratum(
    "wu:2.7.3",
    r"$\mathrm{Var}[Wx_j] = n_\text{in}\mathrm{Var}[W_{ij}]\mathrm{Var}[x_j]$ (2.74)",
    r"$\mathrm{Var}[(Wx)_i] = n_\text{in}\mathrm{Var}[W_{ij}]\,\mathbb E[x_j^2]$ for "
    r"independent weights of mean 0; $\mathbb E[x_j^2]$ is $\mathrm{Var}[x_j]$ only "
    "for inputs of mean 0",
    printed_holds=abs(s.var() / by_variance - 1) < 0.05,
    corrected_holds=abs(s.var() / by_second - 1) < 0.05,
)

# %% [markdown] covers="wu:2.7.3"
# ### What a ReLU does to it
#
# For many inputs $s$ is close to normal with mean 0; let its variance be $\sigma^2$. (Exactly normal, given $h$, if the weights are.) A ReLU keeps half of the distribution. By symmetry half of the second moment survives, and the mean becomes positive:
#
# $$\mathbb E[\mathrm{relu}(s)^2] = \tfrac12\sigma^2, \qquad \mathbb E[\mathrm{relu}(s)] = \frac{\sigma}{\sqrt{2\pi}}, \qquad \mathrm{Var}[\mathrm{relu}(s)] = \Big(\tfrac12 - \tfrac1{2\pi}\Big)\sigma^2 \approx 0.341\,\sigma^2 .$$
#
# The first holds for every symmetric $s$; the other two use the normal density. The integrals:

# %% covers="wu:2.7.3" demo=true
x = sympy.symbols("x", real=True)
sigma = sympy.symbols("sigma", positive=True)
density = sympy.exp(-(x**2) / (2 * sigma**2)) / (sigma * sympy.sqrt(2 * sympy.pi))
m1, m2 = (sympy.integrate(x**k * density, (x, 0, sympy.oo)) for k in (1, 2))
assert sympy.simplify(m2 - sigma**2 / 2) == 0
assert sympy.simplify(m1 - sigma / sympy.sqrt(2 * sympy.pi)) == 0
share = float(sympy.simplify((m2 - m1**2) / sigma**2))
sample = np.maximum(np.random.default_rng(1).normal(size=1_000_000), 0)
print(f"Var / σ²: formula {share:.4f}, one million samples {sample.var():.3f}")
erratum(
    "wu:2.7.3",
    r"$\mathrm{Var}[\mathrm{relu}(x)] = \frac12 \mathrm{Var}[x]$ for $x$ of "
    "mean 0 (2.76)",
    r"$\mathbb E[\mathrm{relu}(x)^2] = \frac12 \mathbb E[x^2]$ for symmetric $x$; the "
    r"variance is $(\frac12 - \frac1{2\pi})\mathrm{Var}[x] "
    r"\approx 0.341\,\mathrm{Var}[x]$ for normal $x$",
    printed_holds=abs(sample.var() - 0.5) < 0.01,
    corrected_holds=abs(sample.var() - share) < 0.003
    and abs(np.mean(sample**2) - 0.5) < 0.005,
)

# %% [markdown] covers="wu:2.7.3 wu:2.7.2"
# So the conclusion of the notes, $v = 2/n$, is right: it compensates the halved *second moment*, which is what enters the next layer. Whoever "corrects" the variance's 0.341 and takes $v = 1/(0.341\,n)$ multiplies the second moment by 1.47 in each layer: the top curve of the first picture. **The right ledger is $\mathbb E[h^2]$.**
#
# Keep it. `fan_in[l]` inputs in layer $l$; all weights have variance `var_w`; biases are 0. (Stuck? `hint(propagate)`, up to three times; so for every exercise.)


# %% exercise="propagate" points=2 minutes=8 difficulty=1 covers="wu:2.7.3"
def propagate(var_w, fan_in, m2):
    """Second moment and variance of a unit after each layer "weights, then ReLU".

    var_w: variance of every weight (mean 0). fan_in (L,) integers: number of inputs of
    each layer. m2: second moment of the inputs of the first layer.
    Pre-activations count as normal with mean 0. Returns (L, 2): E[h²] and Var[h].
    propagate(0.5, np.array([4, 8]), 1.0) gives [[1, 0.6817], [2, 1.3634]].
    """
    ### BEGIN SOLUTION
    rows = []
    for n in fan_in:
        s2 = n * var_w * m2
        m2 = s2 / 2
        rows.append([m2, (0.5 - 0.5 / np.pi) * s2])
    return np.array(rows)
    ### END SOLUTION


# %% check="propagate"
check(propagate)

# %% covers="wu:2.7.3 wu:2.7.2"
with after(propagate):
    show(*nn.draw_ledger(propagate(2 / 256, np.full(30, 256), 1.0), 30))
    fifty = {c: propagate(c / 512, np.full(50, 512), 1.0)[-1, 0] for c in (1, 1.9, 2)}
    assert np.isclose(fifty[2], 1) and np.isclose(fifty[1], 2.0**-50)
    print("expected after fifty layers:", *(f"{e:.2g}" for e in fifty.values()))
    print("one network of width 512:   ", *(f"{e:.1g}" for e in ends))

# %% [markdown] covers="wu:2.7.3 wu:2.7.2 guo:III.8"
# **Expected is not typical.** The formula gives the mean over all networks. One network multiplies fifty random factors of mean 1, and the logarithm of each has a variance of about $5/n$ (the five comes from $\mathbb E[\mathrm{relu}(s)^4]/\mathbb E[\mathrm{relu}(s)^2]^2 - 1 = 5$). So $\log$ of the product scatters by $\sqrt{50\cdot5/512} \approx 0.7$ around $-\frac12\cdot0.7^2$: half of the networks of this size end below 0.8 (the next cell draws 20 000). Depth divided by width is what counts.
#
# ### The way back, and Xavier's compromise
#
# Backwards the gradient $\delta$ passes through the transposed matrix. Now each sum has $n_\text{out}$ terms. Without activation (or with tanh near 0, where it is nearly linear):
#
# $$\mathbb E[s^2] = n_\text{in}\,v\;\mathbb E[h^2], \qquad \mathbb E[\delta_h^2] = n_\text{out}\,v\;\mathbb E[\delta_s^2] .$$
#
# Forward asks for $v = 1/n_\text{in}$, backward for $v = 1/n_\text{out}$. **Xavier** (Glorot and Bengio, 2010) takes the mean of $n_\text{in}$ and $n_\text{out}$: $v = \frac{2}{n_\text{in} + n_\text{out}}$, exact for neither unless they agree. **He** (2015): a ReLU halves in both directions, so $v = 2/n_\text{in}$. Through a whole network the widths telescope: forward exact, the gradient is off by $n_\text{last}/n_\text{first}$ in total, however deep.
#
# A uniform distribution on $(-a, a)$ has variance $a^2/3$: hence guo's bound $a = \sqrt{6/(n_\text{in}+n_\text{out})}$.

# %% covers="wu:2.7.2 guo:III.8" demo=true
rng, n_in, n_out = np.random.default_rng(3), 784, 256
alive = rng.binomial(512, 0.5, (20_000, 50))  # of 512 normal values so many are > 0,
logs = np.log(2 / 512 * rng.chisquare(alive)).sum(axis=1)  # their squares add to a χ²
assert abs(logs.std() - 0.7) < 0.03 and abs(np.median(np.exp(logs)) - 0.78) < 0.03
bound = np.sqrt(6 / (n_in + n_out))
W = rng.uniform(-bound, bound, (n_in, n_out))
v = 2 / (n_in + n_out)
assert abs(W.var() / v - 1) < 0.02
forward, backward = n_in * v, n_out * v
h, delta = rng.normal(size=(200, n_in)), rng.normal(size=(200, n_out))
assert abs(np.mean((h @ W) ** 2) / forward - 1) < 0.05
assert abs(np.mean((delta @ W.T) ** 2) / backward - 1) < 0.05
print(f"784 to 256: Xavier bound {bound:.5f}, He sd {np.sqrt(2 / n_in):.5f}")
print(f"Xavier: signal × {forward:.2f}, gradient × {backward:.2f}")
erratum(
    "wu:2.7.2",
    "the factor 2 of Xavier's variance maintains the variance through the linear map",
    r"the 2 comes from averaging $n_\text{in}$ and $n_\text{out}$: signal times "
    r"$\frac{2n_\text{in}}{n_\text{in}+n_\text{out}}$, gradient times "
    r"$\frac{2n_\text{out}}{n_\text{in}+n_\text{out}}$; both are 1 only for equal "
    "widths",
    printed_holds=np.isclose(forward, 1),
    corrected_holds=np.isclose((forward + backward) / 2, 1)
    and np.isclose(2 / (n_in + n_in) * n_in, 1),
)

# %% [markdown] covers="wu:2.7.4"
# ### Which start for which network?
#
# | layer | weights | why |
# |---|---|---|
# | before ReLU | He, $2/n_\text{in}$ | the ReLU halves the second moment |
# | before tanh, sigmoid, linear | Xavier | slope 1 at 0 (for the sigmoid it is ¼: prefer tanh inside) |
# | recurrent | orthogonal | $\lVert Qh\rVert = \lVert h\rVert$ for every $h$, any number of times |
# | around a skip connection | branch near 0, so the block starts as the identity | the signal passes on the skip |
# | biases | 0 (before a ReLU sometimes slightly positive) | they need not break the symmetry |
# | available elsewhere | pretrained weights | the best start is a solution of a related task |
#
# One line of torch hides a choice: `torch.nn.Linear(n, m)` draws uniformly from $\pm1/\sqrt{n}$, weights and biases.

# %% covers="wu:2.7.4" demo=true
torch.manual_seed(0)
layer = torch.nn.Linear(512, 512)
default = 512 * layer.weight.var().item()
lstm = torch.nn.LSTM(100, 64).weight_hh_l0
assert lstm.abs().max() <= 64**-0.5 and lstm.abs().max() > 0.99 * 64**-0.5
predict(
    "By which factor does a torch.nn.Linear layer with default weights, followed by a "
    "ReLU, change the mean square (biases aside)?",
    ["1", "1/2", "1/6", "2"],
    truth=int(np.argmin([abs(default / 2 - f) for f in (1, 1 / 2, 1 / 6, 2)])),
    because="Variance a²/3 with a² = 1/n makes n v = 1/3, and the ReLU halves that. "
    "Deep stacks need torch.nn.init.kaiming_normal_ or a normaliser.",
)
h = torch.randn(512, dtype=torch.float64)
Q = torch.nn.init.orthogonal_(torch.empty(512, 512, dtype=torch.float64))
far = h
for _ in range(50):
    far = Q @ far
assert torch.isclose(far.norm(), h.norm())  # orthogonal: exact, fifty times


# %% exercise="init" points=2 minutes=8 difficulty=1 covers="guo:III.8 wu:2.7.2 wu:2.7.4 explainers:3.1.2"
def init(scheme, n_in, n_out, rng):
    """Initial weights W for h @ W, h (N, n_in).

    scheme: "zeros"; "xavier": uniform on (-a, a) with variance 2 / (n_in + n_out);
    "he": normal with mean 0 and variance 2 / n_in. rng: the NumPy generator to draw
    from. Returns (n_in, n_out). init("zeros", 2, 3, rng) gives [[0, 0, 0], [0, 0, 0]];
    the entries of init("xavier", 784, 256, rng) lie between -0.07596 and 0.07596.
    """
    ### BEGIN SOLUTION
    if scheme == "zeros":
        return np.zeros((n_in, n_out))
    if scheme == "xavier":
        a = np.sqrt(6 / (n_in + n_out))
        return rng.uniform(-a, a, (n_in, n_out))
    return np.sqrt(2 / n_in) * rng.standard_normal((n_in, n_out))
    ### END SOLUTION


# %% check="init"
check(init)

# %% covers="guo:III.8"
with after(init):
    rng = np.random.default_rng(4)
    for name, phi in (("he", lambda s: np.maximum(s, 0)), ("xavier", lambda s: s)):
        h = rng.normal(size=(64, 400))
        for _ in range(20):
            h = phi(h @ init(name, 400, 400, rng))
        assert 0.2 < np.mean(h**2) < 4  # near 1 after twenty layers
        print(f"{name}: mean square {np.mean(h**2):.1f} after 20 layers")

# %% [markdown] covers="wu:2.7.2 explainers:3.1.2"
# ## 2. Starts that cannot learn
#
# **Copies.** Two units of a layer that have equal weights on the way in *and* on the way out compute the same, receive the same gradient, and stay equal for ever: they are worth one unit. If all weights of each layer have one value, every layer has one unit, copied. Random weights break that; random weights on one of the two sides are enough.


# %% exercise="distinct_units" points=1 minutes=4 difficulty=1 covers="explainers:3.1.2 wu:2.7.2"
def distinct_units(W, b, V):
    """Number of hidden units that are not copies, in h = act(x @ W + b), y = h @ V + c.

    W (n_in, H), b (H,), V (H, n_out). Two units are copies if all that belongs to them
    is exactly equal: weights in, bias, weights out. A set of copies counts as one unit.
    W = [[1, 1, 1]], b = [0, 0, 0], V = [[2], [2], [3]] gives 2.
    """
    ### BEGIN SOLUTION
    return len({tuple(unit) for unit in np.vstack([W, b, V.T]).T})
    ### END SOLUTION


# %% check="distinct_units"
check(distinct_units)

# %% covers="explainers:3.1.2 wu:2.7.2"
with after(distinct_units):
    rng, n = np.random.default_rng(16), 40
    data_in, wanted = rng.normal(size=(n, 3)), rng.normal(size=(n, 2))
    W0, V0 = rng.normal(size=(3, 6)), rng.normal(size=(6, 2))
    same = np.full((3, 6), 0.3)
    starts = {
        "all equal": (same, np.full((6, 2), 0.3)),
        "three pairs": (np.tile(W0[:, :3], 2), np.tile(V0[:3], (2, 1))),
        "equal in, random out": (same, V0),
    }
    counts = {}
    for name, (W, V) in starts.items():
        b, at = np.zeros(6), []
        for _ in range(101):  # rounded: the last digits of a sum are not ours
            ways = ((W.round(9), b.round(9), out.round(9)) for out in (V, 0 * V))
            at.append([distinct_units(*way) for way in ways])
            H = np.tanh(data_in @ W + b)
            dY = (H @ V - wanted) / n
            dS = dY @ V.T * (1 - H**2)
            W, b, V = W - data_in.T @ dS / 5, b - dS.sum(axis=0) / 5, V - H.T @ dY / 5
        counts[name] = at[0], at[-1]
        print(
            f"{name}: distinct units {at[0][0]}, after 100 steps {at[-1][0]};",
            f"distinct on the way in {at[0][1]}, after 100 steps {at[-1][1]}",
        )
    assert counts["all equal"] == ([1, 1], [1, 1])
    assert counts["three pairs"] == ([3, 3], [3, 3])
    assert counts["equal in, random out"] == ([6, 1], [6, 6])

# %% [markdown] covers="wu:2.7.2 explainers:3.1.2"
# **Zero** is worse. With $W = 0$, $b = 0$ and ReLU or tanh, every hidden unit is 0; the gradient of the output weights is a sum over $\delta\,h = 0$; and the gradient that flows back is $W^\top\delta = 0$. Only the output bias moves, as in [one hidden layer](01_one_hidden_layer.ipynb). The cell lets torch compute all gradients. (Zero in the *output* layer alone is harmless, as wu says: there $h \ne 0$, and the first step moves it.)


# %% covers="wu:2.7.2 explainers:3.1.2 wu:2.7.6" demo=true
def gradients(fill, act=torch.tanh, last=None):
    """Gradients of a 3-4-4-2 network whose weights all have one value (or `last`)."""
    sizes, g = [(3, 4), (4, 4), (4, 2)], torch.Generator().manual_seed(5)
    fills = fill, fill, fill if last is None else last
    Ws = [torch.full(size, f, requires_grad=True) for size, f in zip(sizes, fills)]
    bs = [torch.zeros(size[1], requires_grad=True) for size in sizes]
    h = torch.randn(20, 3, generator=g)
    for i, (W, b) in enumerate(zip(Ws, bs)):
        h = h @ W + b if i == 2 else act(h @ W + b)
    y = torch.randn(20, 2, generator=g)
    ((h - y) ** 2).mean().backward()
    return [W.grad for W in Ws], [b.grad for b in bs]


equal, _ = gradients(0.3)
assert all(torch.allclose(G, G[:, :1].expand_as(G)) for G in equal[:2])
assert equal[0].abs().max() > 0.01  # they learn, all the same
for act in (torch.tanh, torch.relu):
    by_weight, by_bias = gradients(0.0, act)
    moves = [bool(G.abs().max() > 0) for G in by_weight + by_bias]
    assert moves == [False] * 5 + [True]  # the output bias alone
assert gradients(0.3, last=0.0)[0][2].abs().max() > 0.01
print("moves at zero (W₁ W₂ W₃ b₁ b₂ b₃):", moves)
rng = np.random.default_rng(5)  # a model linear in its weights: 3 rows, 6 weights
Z, target, w = rng.normal(size=(3, 6)), rng.normal(size=3), np.zeros(6)
for _ in range(3000):
    w = w - 0.05 * Z.T @ (Z @ w - target)
from_zero_is_shortest = np.allclose(w, np.linalg.pinv(Z) @ target)
erratum(
    "wu:2.7.2",
    "with zero weights, all units compute identical functions and the network loses "
    "expressivity",
    "more than that: with ReLU or tanh no weight gets any gradient, and nothing but "
    "the output bias ever changes",
)
erratum(
    "wu:2.7.6",
    "stochastic gradient descent from zero weights has special properties (said of "
    "networks)",
    "true for models linear in their weights, where descent from 0 finds the shortest "
    "interpolating solution; in a network with zero weights nothing but the output "
    "bias trains",
    printed_holds=any(moves[:3]),
    corrected_holds=not any(moves[:5]) and from_zero_is_shortest,
)

# %% [markdown] covers="explainers:3.1.2"
# ### A map of starts
#
# The smallest network: $\hat y = v\tanh(wx)$, taught by the network with $w = 1.5$, $v = 1$. Flip both signs and nothing changes, so there are two equally good minima, $\pm(1.5, 1)$. Gradient descent runs from every start of a grid: the colour on the left says where it arrives, on the right how fast.
#
# Before you look: what will happen on the diagonal $v = -w$ near 0, and what for large $|w|$, where the tanh is saturated?

# %% covers="explainers:3.1.2 wu:2.7.5" demo=true
show(*nn.draw_basins())
_, slope_w, slope_v = nn.two_weights(np.array(0.0), np.array(0.0))
assert slope_w == 0 and slope_v == 0  # the saddle: zero start, zero gradient

# %% [markdown] covers="wu:2.7.5"
# Zero sits on the border between the basins, at a saddle; the border leaves it along $v = -w$, and who starts on it comes to a stop at 0. Small starts need a while to leave the saddle, saturated ones (large $|w|$) crawl, and near the right scale it goes quickly. White starts have not arrived after 600 steps. (At the top and the bottom $v$ is too large: $w$ shrinks until the product fits, and then both creep along a flat valley.) Which of the two minima is reached does not matter here. In larger networks different basins may hold different losses, but no start is known that guarantees a good one.
#
# ### Dead units
#
# A ReLU unit that is 0 on *every* row gets no gradient from any: it is **dead**, and unless the layers below move it back it stays dead. Count them.


# %% exercise="dead_fraction" points=1 minutes=4 difficulty=1 covers="wu:2.7.5"
def dead_fraction(H):
    """Share of the units that are 0 on every row.

    H (N, width) >= 0: outputs of a ReLU layer, one row an example. Returns a number.
    dead_fraction(np.array([[0, 1, 0], [0, 0, 2]])) gives 1/3: the first unit is dead.
    """
    ### BEGIN SOLUTION
    return np.mean((H == 0).all(axis=0))
    ### END SOLUTION


# %% check="dead_fraction"
check(dead_fraction)

# %% [markdown] covers="wu:2.7.5 wu:2.7.6"
# An eight-layer ReLU network on 300 digits, learning rate 0.2, three starts: He weights, 0.3 times and 1.6 times as large. Same data, same random numbers. Guess the three curves first. Which one kills units, and how soon?

# %% covers="wu:2.7.5 wu:2.7.6"
with after(dead_fraction):
    X, y = nn.digit_batches(data.digits(), 300)
    starts, names = (0.3, 1.0, 1.6), ["0.3 × He", "He", "1.6 × He"]
    losses, hidden = nn.train_stack(X, y, starts, [0.2], depth=8, steps=60)
    dead = np.array([[dead_fraction(H[i, 0]) for H in hidden] for i in range(3)])
    lowest = losses[-10:, :, 0].min(axis=0)
    assert lowest[1] < 0.1 and lowest[0] > 2 and lowest[2] > 2
    assert dead[2, -1] > 0.9 and dead[1, -1] < 0.5
    _, early = nn.train_stack(X, y, starts, [0.2], depth=8, steps=5)
    assert max(dead_fraction(H[2, 0]) for H in early) == 1 and losses[:5].max() > 1e5
    show(*nn.draw_starts(losses[:, :, 0], dead, names), digits=0)

# %% [markdown] covers="wu:2.7.5 wu:2.7.6 guo:III.9 explainers:3.1.4 cs480:9-bn"
# - **Too small**: the logits are 0, the loss is that of guessing, and the gradient is as small as the signal: about $0.3^8 \approx 10^{-4}$ of what it should be. In front of signals so small even a tiny step of a bias decides alone, and switches units off for all rows.
# - **Too large**: the first loss is huge, its gradient too. The first steps throw the weights farther and farther (the loss passes $10^5$), and within five of them a whole layer is 0 on every row. It stays so. What lies behind it sees no difference between the rows: it learns the label frequencies, and that is all.
# - **The start and the learning rate belong together.** A badly scaled start asks for another, mostly smaller, rate, and often for one that no layer shares with the next. We will map that at the end of section 5.
#
# ## 3. Normalise on the way
#
# Good initial weights hold for the first step only: then they move. The idea of a **normaliser** is to enforce a good range in every step, inside the network. Let $A$ be the table of a layer's values: $N$ rows (examples), $D$ features (units). Group some entries; call the mean of a group $\mu$ and the mean of its squared deviations $\sigma^2$ (divided by the number of entries, not by one fewer). With a small $\varepsilon > 0$ against division by zero:
#
# $$y = \frac{a - \mu}{\sqrt{\sigma^2 + \varepsilon}}\,, \qquad \text{output} = \gamma_d\, y + \beta_d .$$
#
# | | a group is | centred | learnt |
# |---|---|---|---|
# | **batch norm** | one feature, all rows | yes | $\gamma, \beta \in \mathbb R^D$ |
# | **layer norm** | one row, all features | yes | $\gamma, \beta \in \mathbb R^D$ |
# | **RMS norm** | one row, all features | no: $\mu = 0$, and $\sigma^2$ is the mean square | $\gamma \in \mathbb R^D$ |
#
# $\gamma$ and $\beta$ belong to a feature in all three: they let the network undo what it does not like. (For RMS norm wu calls $\gamma$ a scale, as if it were one number; in practice it is a vector that multiplies entry by entry.) In guo's placement, before the activation: $H_{l+1} = \varphi(\hat A\odot\gamma + \beta)$ with $A = H_lW_l$.

# %% covers="guo:III.9 explainers:3.1.4 guo:III.9.a guo:III.9.b" demo=true
rng = np.random.default_rng(6)
table = rng.normal(size=(8, 6)) * np.array([1, 1, 0.3, 1, 2, 1]) + np.array(
    [0, 4, -3, 0, 0, 2]
)
table[2] *= 3
show(*nn.draw_axes(table))
erratum(
    "guo:III.9.a",
    r"$\beta_\alpha + \gamma_\alpha\frac{a_{n,d} - \mathbb E[a_{\cdot,d}]}{\dots}$, "
    "and the same in III.9.b",
    r"$\beta_d + \gamma_d\,\dots$: gain and shift belong to the feature $d$",
)
erratum(
    "explainers:3.1.4.1",
    "batch norm normalises post-activation values",
    "the method was proposed for pre-activations, between the linear map and the "
    "activation; both places are in use. (Not mentioned: at inference the batch's "
    "statistics are replaced by running ones, see below)",
)

# %% [markdown] covers="guo:III.9 explainers:3.1.4.1 explainers:3.1.4.2 explainers:3.1.4.3"
# One function for the three. The cell after it compares with torch, and with the remark that layer norm is the batch norm of the transposed table.


# %% exercise="norm" points=3 minutes=10 difficulty=2 covers="guo:III.9 guo:III.9.a guo:III.9.b explainers:3.1.4 explainers:3.1.4.1 explainers:3.1.4.2 explainers:3.1.4.3"
def norm(A, axis, center, gamma, beta, eps):
    """Normalise the groups of a table, then scale and shift each feature.

    A (N, D). axis: 0 if a group is a column (batch norm), 1 if a row (layer, RMS norm).
    center: whether the group's mean is subtracted; without it the divisor is the root
    of the mean square of the values themselves, plus eps inside the root.
    gamma, beta (D,). eps > 0 (0 if nothing is divided by 0). Returns (N, D).
    norm(np.array([[3.0, 4.0]]), 1, False, np.ones(2), np.zeros(2), 0.0)
    gives [[0.8485, 1.1314]]: the mean square is 12.5.
    """
    ### BEGIN SOLUTION
    C = A - A.mean(axis=axis, keepdims=True) if center else A
    s = np.sqrt((C**2).mean(axis=axis, keepdims=True) + eps)
    return gamma * C / s + beta
    ### END SOLUTION


# %% check="norm"
check(norm)

# %% covers="guo:III.9.a guo:III.9.b explainers:3.1.4.1 explainers:3.1.4.2 explainers:3.1.4.3 wu:2.14.6"
with after(norm):
    from torch.nn import functional as F

    rng, eps = np.random.default_rng(7), 1e-5
    A, gamma, beta = rng.normal(1, 2, (5, 4)), rng.uniform(1, 2, 4), rng.normal(size=4)
    t, g, b = map(torch.from_numpy, (A, gamma, beta))
    theirs = F.batch_norm(t, None, None, g, b, True, 0.1, eps)
    assert np.allclose(norm(A, 0, True, gamma, beta, eps), theirs)
    theirs = F.layer_norm(t, (4,), g, b, eps)
    assert np.allclose(norm(A, 1, True, gamma, beta, eps), theirs)
    assert np.allclose(norm(A, 1, False, gamma, 0, eps), F.rms_norm(t, (4,), g, eps))
    assert np.allclose(norm(A, 1, True, 1, 0, eps), norm(A.T, 0, True, 1, 0, eps).T)
    C = A - A.mean(axis=1, keepdims=True)  # mean 0: layer and RMS norm agree
    assert np.allclose(norm(C, 1, True, 1, 0, eps), norm(C, 1, False, 1, 0, eps))
    sd = 1e-3  # a feature that hardly varies
    a = sd * (A - A.mean(0)) / A.std(0)
    variance = norm(a, 0, True, 1, 0, eps).var(axis=0)
    print("variance after batch norm of a feature with σ = 0.001:", variance.round(3))
    erratum(
        "explainers:3.1.4.1",
        "after normalisation the columns have mean 0 and variance 1",
        r"variance $\sigma^2/(\sigma^2 + \varepsilon)$, so standard deviation "
        r"$\gamma\sigma/\sqrt{\sigma^2+\varepsilon}$ at the end: near 1 only for "
        r"$\sigma^2 \gg \varepsilon$",
        printed_holds=np.allclose(variance, 1, atol=0.01),
        corrected_holds=np.allclose(variance, sd**2 / (sd**2 + eps)),
    )

# %% [markdown] covers="explainers:3.1.4.3"
# **What RMS norm saves.** For one row of $d$ values layer norm takes $d$ additions for the mean, $d$ subtractions, $d$ squares, $d$ additions and $d$ divisions: about $5d$ operations. RMS norm skips the first two: $3d$. Small beside a matrix product with $2d^2$; but the row must be read once less, and one vector of parameters ($\beta$) goes too. In practice results are about equal, and many language models (GPT-OSS among them) use the simpler one.
#
# ### What each one ignores
#
# An *invariance* is a change of the input that leaves the output alone. Which of these changes does each norm ignore ($\varepsilon = 0$)? Guess the table before the cell prints it.

# %% covers="explainers:3.1.4 guo:III.9.b explainers:3.1.4.2 explainers:3.1.4.3 wu:2.14.1"
with after(norm):
    A = np.random.default_rng(8).normal(1, 2, (5, 4))
    c, d = np.array([2.0, 0.5, 3, 7, 1.5]), np.array([4.0, -1, 0, 2, 9])
    changes = {
        "each row times c > 0": A * c[:, None],
        "each row plus a number": A + d[:, None],
        "each column times c > 0": A * c[:4],
        "each column plus a number": A + d[:4],
        "everything times -1": -A,
        "another row changes": np.vstack([A[:4], A[4:] + 5]),
    }
    kinds = {"batch": (0, True), "layer": (1, True), "RMS": (1, False)}
    print(f"{'':27}" + "".join(f"{kind:>7}" for kind in kinds))
    for name, B in changes.items():
        same = [
            np.allclose(norm(B, *k, 1, 0, 0.0)[:4], norm(A, *k, 1, 0, 0.0)[:4])
            for k in kinds.values()
        ]
        print(f"{name:27}" + "".join(f"{'same' if s else '-':>7}" for s in same))
    h = A[0]
    erratum(
        "wu:2.14.1",
        r"$\mathrm{RMSNorm}(\alpha h) = \mathrm{RMSNorm}(h)$ for all $\alpha \ne 0$ "
        "(again in 2.183)",
        r"for $\alpha > 0$; in general $\mathrm{sign}(\alpha)\,\mathrm{RMSNorm}(h)$",
        printed_holds=np.allclose(nn.rms(-2 * h), nn.rms(h)),
        corrected_holds=np.allclose(nn.rms(-2 * h), -nn.rms(h))
        and np.allclose(nn.rms(2 * h), nn.rms(h)),
    )

# %% [markdown] covers="explainers:3.1.4 wu:2.14.3 cs480:9-bn guo:III.9.a explainers:3.1.4.1"
# Two consequences for a layer $A = HW$ with a normaliser behind it:
#
# - **A bias in front of batch norm is lost**: it shifts a column. $\beta$ replaces it.
# - **The scale of the weights is lost**: scaling a column of $W$ scales a column of $A$ (batch norm), scaling all of $W$ scales every row (all three). A bad initial scale is forgiven. But the scale has not lost all influence: section 5.
#
# ## 4. Batch norm has two modes
#
# cs480 gives the aim in one sentence: mean and variance shall be the same in all minibatches. After batch norm they are, $\beta_d$ and almost $\gamma_d^2$. The price: the output of a row depends on the rows beside it. In training that acts as noise. When the network is *used*, it would be absurd: a patient's diagnosis must not depend on who else is examined that day, and a single patient has no variance.
#
# So training also keeps **running statistics**, and evaluation uses those:
#
# $$\bar\mu \leftarrow (1-m)\,\bar\mu + m\,\mu_\text{batch}, \qquad \bar v \leftarrow (1-m)\,\bar v + m\,v_\text{batch}, \qquad v_\text{batch} = \tfrac{1}{N-1}\textstyle\sum_n (a_n - \mu_\text{batch})^2$$
#
# with a **momentum** $m$, 0.1 in torch. (The running variance is meant for unseen rows, hence the $N-1$, as torch does it. The batch itself is divided by its own $\sigma^2$ with $N$.) Layer and RMS norm have one mode: each row brings its own statistics.

# %% covers="cs480:9-bn guo:III.9.a" demo=true
one = torch.tensor([[3.0, -1.0, 250.0]], dtype=torch.float64)
centred = (one - one.mean(0)) / torch.sqrt(one.var(0, unbiased=False) + 1e-5)
predict(
    "Batch norm in training mode gets a batch of one row, (3, -1, 250). What does it "
    "return before γ and β?",
    ["(0, 0, 0)", "(1, 1, 1)", "(3, -1, 250)", "nan"],
    truth=0 if torch.equal(centred, torch.zeros_like(one)) else 3,
    because="The row is its own mean, so the numerator is 0, whatever the input was. "
    "(torch refuses a single row in training mode.) With two rows nearly all that "
    "remains is the sign of their difference.",
)
two = torch.tensor([[3.0, -1.0, 250.0], [4.0, -9.0, 249.0]], dtype=torch.float64)
signs = nn.normalised(two, "batch")
assert torch.allclose(signs, torch.sign(two - two.mean(0)), atol=1e-4)

# %% [markdown] covers="cs480:9-bn guo:III.9.a explainers:3.1.4.1"
# Write both modes. One convention torch does not have: a training batch of one row leaves the running variance as it is (and moves the running mean as usual); its output is $\beta$.


# %% exercise="batch_norm" points=3 minutes=12 difficulty=2 covers="cs480:9-bn guo:III.9.a guo:III.9 explainers:3.1.4.1"
def batch_norm(A, gamma, beta, mean, var, train, momentum, eps):
    """Batch norm of one batch, and the running statistics after it.

    A (N, D); gamma, beta (D,); mean, var (D,): running statistics before.
    train True: normalise by the batch's mean and variance (over N), move the running
    values by `momentum` towards the batch's mean and its variance (over N - 1; for
    N = 1 the running variance stays). train False: normalise by the running values,
    which stay. eps is added inside the root in both modes.
    Returns (out (N, D), mean (D,), var (D,)); the arguments are not written to.
    A = [[1], [3]], gamma = [1], beta = [0], mean = [0], var = [1], train, momentum 0.1,
    eps = 0 gives out = [[-1], [1]], mean = [0.2], var = [1.1].
    """
    ### BEGIN SOLUTION
    if not train:
        return gamma * (A - mean) / np.sqrt(var + eps) + beta, mean, var
    m, v = A.mean(axis=0), A.var(axis=0)
    out = gamma * (A - m) / np.sqrt(v + eps) + beta
    mean = (1 - momentum) * mean + momentum * m
    if len(A) > 1:
        var = (1 - momentum) * var + momentum * A.var(axis=0, ddof=1)
    return out, mean, var
    ### END SOLUTION


# %% check="batch_norm"
check(batch_norm)

# %% covers="cs480:9-bn guo:III.9.a guo:III.9"
with after(batch_norm, norm):
    rng, ours, size = np.random.default_rng(9), (np.zeros(3), np.ones(3)), 16
    layer = torch.nn.BatchNorm1d(3).double()
    for _ in range(80):
        A = rng.normal([1, -2, 5], [1, 0.5, 3], (size, 3))
        out, *ours = batch_norm(A, np.ones(3), np.zeros(3), *ours, True, 0.1, 1e-5)
        assert np.allclose(out, layer(torch.from_numpy(A)).detach())
    assert np.allclose(ours[0], layer.running_mean)
    assert np.allclose(ours[1], layer.running_var)
    row = A[:1]
    for mates in (A, A + 3 * (np.arange(size) > 0)[:, None]):  # row 0 stays
        train = batch_norm(mates, 1, 0, *ours, True, 0.1, 1e-5)[0][0]
        evaluated = batch_norm(mates, 1, 0, *ours, False, 0.1, 1e-5)[0][0]
        by_row = norm(mates, 1, True, 1, 0, 1e-5)[0]
        assert np.allclose(evaluated, batch_norm(row, 1, 0, *ours, False, 0, 1e-5)[0])
        print(
            "the same row: batch norm in training",
            train.round(2),
            "in evaluation",
            evaluated.round(2),
            "layer norm",
            by_row.round(2),
            sep="\n   ",
        )

# %% [markdown] written="small_batches" points=2 minutes=6
# **In your own words (2 to 4 sentences).** Images are large, so a colleague trains with batches of 2 rows. The training loss is fine, but in evaluation mode the same network is bad even on the *training* rows. What is the likely cause, how would you test that guess, and what would you change?
#
# ### BEGIN SOLUTION
# In training each layer was normalised by the statistics of two rows, in evaluation by running averages: two different functions, and with two rows the difference is large and the noise strong, so the weights have adapted to one and are judged with the other. Test: evaluate the training rows in training mode; if they are good again, the statistics are to blame.
# I would take layer norm (or group norm), or larger batches, as these do not depend on batch-mates; or fix the running statistics first and train on with them.
#
# **Rubric**
#
# - 1: names the mismatch between batch statistics (of two rows) in training and running statistics in evaluation, with a test that separates it from overfitting (for example evaluating training rows in training mode)
# - 1: names a remedy that removes the dependence on small batches (layer, RMS or group norm, larger or synchronised batches, frozen statistics)
# ### END SOLUTION

# %% [markdown] covers="wu:2.14.4 explainers:3.1.4 cs480:9-bn"
# ## 5. Backward, and what it tells
#
# One derivation serves all three norms. Take one group $a \in \mathbb R^d$ and write $C = I - \frac1d\mathbf 1\mathbf 1^\top$ for the centring matrix (for RMS norm $C = I$). Then
#
# $$c = Ca, \qquad s = \sqrt{\tfrac1d\lVert c\rVert^2 + \varepsilon}, \qquad y = c/s .$$
#
# Differentiate: $\mathrm dc = C\,\mathrm da$, and from $s^2 = \frac1d c^\top c + \varepsilon$ follows $s\,\mathrm ds = \frac1d c^\top \mathrm dc$. So
#
# $$\mathrm dy = \frac{\mathrm dc}{s} - \frac{c}{s^2}\,\mathrm ds = \frac1s\Big(\mathrm dc - \frac{y\,y^\top}{d}\,\mathrm dc\Big), \qquad\boxed{\;J = \frac{\partial y}{\partial a} = \frac1s\Big(C - \frac{y y^\top}{d}\Big)\;}$$
#
# (In the last step $y^\top C = y^\top$, as $y$ is centred already.) The matrix is symmetric, so the gradient that comes back is $J g$ for the gradient $g$ that arrives at $y$:
#
# $$\frac{\partial L}{\partial a} = \frac1s\Big(g - \overline{g} - y\;\overline{g\,y}\Big),$$
#
# a bar for the mean over the group, and without $\overline g$ for RMS norm. No $d \times d$ matrix is ever formed. What has the normaliser taken out of $g$? The direction $\mathbf 1$ (if it centres) and the direction $y$ (for $\varepsilon = 0$): just those along which the output does not move. So at $\varepsilon = 0$ what comes back is orthogonal to the group itself; and if the group is ten times larger, it is ten times smaller.

# %% covers="wu:2.14.4 explainers:3.1.4" demo=true
a, eps = np.random.default_rng(10).normal(1, 2, 5), 0.1
d, eye = len(a), np.eye(len(a))
for C in (eye - 1 / d, eye):

    def forward(a, C=C):
        return C @ a / np.sqrt(np.mean((C @ a) ** 2) + eps)

    y, s = forward(a), np.sqrt(np.mean((C @ a) ** 2) + eps)
    J = (C - np.outer(y, y) / d) / s
    h = 1e-6
    columns = [(forward(a + h * e) - forward(a - h * e)) / (2 * h) for e in eye]
    assert np.allclose(J, np.transpose(columns), atol=1e-8)
    assert np.allclose(J, J.T) and np.allclose(J @ np.ones(d), 0) == (C[0, 1] != 0)


# %% exercise="norm_backward" points=4 minutes=15 difficulty=3 covers="cs480:9-bn explainers:3.1.4.1 explainers:3.1.4.2 explainers:3.1.4.3 guo:III.9.a guo:III.9.b wu:2.14.6"
def norm_backward(dY, A, axis, center, gamma, eps):
    """Gradients of a loss by what enters norm(A, axis, center, gamma, beta, eps).

    dY (N, D): gradient of the loss by the output. The other arguments as in `norm`.
    Returns (dA (N, D), dgamma (D,), dbeta (D,)).
    dY = [[1, 0]], A = [[3, 4]], axis = 1, center = False, gamma = [1, 1], eps = 0 gives
    dA = [[0.1810, -0.1358]], dgamma = [0.8485, 0], dbeta = [1, 0].
    """
    ### BEGIN SOLUTION
    C = A - A.mean(axis=axis, keepdims=True) if center else A
    s = np.sqrt((C**2).mean(axis=axis, keepdims=True) + eps)
    Y, G = C / s, gamma * dY
    dA = G - Y * (G * Y).mean(axis=axis, keepdims=True)
    if center:
        dA = dA - G.mean(axis=axis, keepdims=True)
    return dA / s, (dY * Y).sum(axis=0), dY.sum(axis=0)
    ### END SOLUTION


# %% check="norm_backward"
check(norm_backward)

# %% covers="wu:2.14.3 cs480:9-bn explainers:3.1.4.2 wu:2.14.6"
with after(norm_backward, norm):
    rng = np.random.default_rng(11)
    A, dY = rng.normal(1, 2, (6, 4)), rng.normal(size=(6, 4))
    gamma = rng.uniform(1, 2, 4)
    kinds = {"batch": (0, True), "layer": (1, True), "RMS": (1, False)}

    def torch_norm(t, g, kind):
        if kind == "batch":
            return F.batch_norm(t, None, None, g, None, True, 0.1, 1e-5)
        return (F.layer_norm if kind == "layer" else F.rms_norm)(t, (4,), g, eps=1e-5)

    for kind, how in kinds.items():
        t, g = (torch.tensor(v, requires_grad=True) for v in (A, gamma))
        torch_norm(t, g, kind).backward(torch.from_numpy(dY))
        dA, dgamma, _ = norm_backward(dY, A, *how, gamma, 1e-5)
        assert np.allclose(dA, t.grad) and np.allclose(dgamma, g.grad)
        dA = norm_backward(dY, A, *how, gamma, 0.0)[0]
        assert np.allclose((dA * A).sum(axis=how[0]), 0)  # orthogonal
        larger = norm_backward(dY, 10 * A, *how, gamma, 0.0)[0]
        assert np.allclose(larger, dA / 10)

# %% [markdown] covers="wu:2.14.2 wu:2.14.4 wu:2.14.1"
# ### RMS norm as a map onto a sphere
#
# Without $\varepsilon$, $\mathrm{RMSNorm}(h) = \sqrt d\,h/\lVert h\rVert$ has length $\sqrt d$ (so that the root mean square of the entries is 1): every ray from 0 goes to one point of the sphere of radius $\sqrt d$. (Grey: other vectors and where they go.) Move $h$ and add noise to it.
#
# **Find out.** (1) Noise *along* $h$: what is left of it after the norm? (2) Noise *across* $h$: compare the angle before and after. Is the direction "recovered"? (3) Make $h$ short, with the same noise. What happens to the distance on the circle? (4) Along = −2 at length 1: where does the point go?

# %% covers="wu:2.14.1 wu:2.14.2 wu:2.14.4" demo=true
explore(
    nn.draw_sphere,
    angle=IntSlider(30, min=-180, max=180, step=5, description="angle °", **on_release),
    log_length=FloatSlider(
        0.3, min=-2, max=0.5, step=0.1, description="log₁₀ length", **on_release
    ),
    along=FloatSlider(
        0.3, min=-2, max=1, step=0.1, description="noise along h", **on_release
    ),
    across=FloatSlider(
        0.5, min=-1, max=1, step=0.1, description="noise across h", **on_release
    ),
    flip=Checkbox(False, description="h times -1"),
)

# %% [markdown] covers="wu:2.14.4"
# The notes list three kinds of "error correction". Errors of *scale* by a positive factor are removed exactly ($\varepsilon = 0$). (The notes' 2.160 adds noise to a very long $\alpha h$: that is drowned with or without a norm.) An error across $h$ is not: the norm multiplies by a positive number, which changes no angle. (The formula 2.161 itself is right: Pythagoras.) And the third, a bounded derivative? Write the Jacobian of one vector, $C = I$, and look.


# %% exercise="rmsnorm_jacobian" points=2 minutes=8 difficulty=2 covers="wu:2.14.4"
def rmsnorm_jacobian(h, eps):
    """Matrix of derivatives dy_i / dh_j of y = h / sqrt(mean(h²) + eps).

    h (d,), eps >= 0, not both 0. Returns (d, d).
    h = [3, 4], eps = 0 gives [[0.1810, -0.1358], [-0.1358, 0.1018]].
    """
    ### BEGIN SOLUTION
    r = np.sqrt(np.mean(h**2) + eps)
    y = h / r
    return (np.eye(len(h)) - np.outer(y, y) / len(h)) / r
    ### END SOLUTION


# %% check="rmsnorm_jacobian"
check(rmsnorm_jacobian)

# %% covers="wu:2.14.4"
with after(rmsnorm_jacobian):
    h = np.random.default_rng(12).normal(size=16)
    u, d = h / np.linalg.norm(h), 16
    J = rmsnorm_jacobian(h, 0.0)
    closed = np.sqrt(d) / np.linalg.norm(h) * (np.eye(d) - np.outer(u, u))
    assert np.allclose(J, closed) and np.allclose(J @ h, 0)
    norms = [np.linalg.norm(rmsnorm_jacobian(c * h, 0.0), 2) for c in (1, 1e-2, 1e-4)]
    print("norm of J at h, h/100, h/10000:", *(f"{value:.2g}" for value in norms))
    across = np.linalg.svd(np.outer(u, u))[0][:, 1] * 0.5 * np.linalg.norm(h)
    assert abs(across @ h) < 1e-9

    def degrees(a, b):
        cosine = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
        return np.degrees(np.arccos(cosine))

    after_norm = degrees(nn.rms(h), nn.rms(h + across))
    with_eps = [np.linalg.norm(rmsnorm_jacobian(c * h, 1e-5), 2) for c in (1, 1e-2, 0)]
    assert max(with_eps) <= 1 / np.sqrt(1e-5) + 1e-9
    show(*nn.draw_jacobian(rmsnorm_jacobian))
    erratum(
        "wu:2.14.4",
        r"the derivative of RMSNorm is bounded (2.162, again in 2.182)",
        r"its norm is $\sqrt d/\lVert h\rVert$ if $d \ge 2$: unbounded as $h \to 0$; "
        r"bounded away from 0, or with $\varepsilon$ in the root, then by "
        r"$1/\sqrt\varepsilon$",
        printed_holds=norms[-1] < 10 * norms[0],
        corrected_holds=np.allclose(
            norms, [np.sqrt(d) / np.linalg.norm(c * h) for c in (1, 1e-2, 1e-4)]
        ),
    )
    erratum(
        "wu:2.14.4",
        r"directional recovery from noise $\epsilon_\perp$ across $h$ (2.161)",
        r"the formula holds, the name does not: the angle error is "
        r"$\arctan(\lVert\epsilon_\perp\rVert/\lVert h\rVert)$ before and after",
        printed_holds=after_norm < 0.99 * degrees(h, h + across),
        corrected_holds=np.isclose(after_norm, np.degrees(np.arctan(0.5))),
    )

# %% [markdown] covers="wu:2.14.5 wu:2.14.3"
# ### Inner products become cosines, times $d$
#
# The **cosine similarity** of two vectors is $\mathrm{sim}(u, v) = \frac{u^\top v}{\lVert u\rVert\lVert v\rVert} \in [-1, 1]$. Two vectors of length $\sqrt d$ with the angle $\theta$ have the inner product $d\cos\theta$.
#
# Does ignoring the length help? The nearest neighbour of each of 400 digits among 1000 others, by inner product and by cosine. Then each of the 1000 is made darker or brighter by a random positive factor: how many of the 400 keep their neighbour?

# %% covers="wu:2.14.5 wu:2.14.3" demo=true
digits = data.digits()
train, test = digits.X[:1000], digits.X[1000:1400]
raw, by_cosine = test @ train.T, nn.rms(test) @ nn.rms(train).T / 64


def accuracy(score):
    return np.mean(digits.y[score.argmax(1)] == digits.y[1000:1400])


print(f"right: inner product {accuracy(raw):.2f}, cosine {accuracy(by_cosine):.2f}")
light = np.random.default_rng(13).uniform(0.2, 1.5, 1000)[:, None]
dim = test @ (light * train).T, nn.rms(test) @ nn.rms(light * train).T / 64
kept = [np.mean(a.argmax(1) == b.argmax(1)) for a, b in zip((raw, by_cosine), dim)]
print(f"same neighbour in other light: {kept[0]:.2f}, cosine {kept[1]:.2f}")
assert np.allclose(dim[1], by_cosine) and by_cosine.max() <= 1 + 1e-12
u, v = test[0], test[1]
cosine = u @ v / np.linalg.norm(u) / np.linalg.norm(v)
erratum(
    "wu:2.14.3",
    r"$\langle\mathrm{RMSNorm}(h_1), \mathrm{RMSNorm}(h_2)\rangle = \cos\theta_{12}$ "
    "(2.159), and after RMS norm inner products are cosine similarities (2.14.5)",
    r"$= d\cos\theta_{12}$: both vectors have length $\sqrt d$",
    printed_holds=np.isclose(nn.rms(u) @ nn.rms(v), cosine),
    corrected_holds=np.isclose(nn.rms(u) @ nn.rms(v), 64 * cosine),
)
erratum(
    "wu:2.14.3",
    r"with RMS norm the loss is $L(\theta) = f(h/\lVert h\rVert)$ (2.158)",
    r"$L(\theta) = f(\sqrt d\,h/\lVert h\rVert)$ (harmless: $f$ could hold the "
    r"$\sqrt d$)",
    printed_holds=np.allclose(u / np.linalg.norm(u), nn.rms(u)),
    corrected_holds=np.allclose(8 * u / np.linalg.norm(u), nn.rms(u)),
)

# %% [markdown] covers="wu:2.14.3 explainers:3.1.4"
# ### The landscape
#
# Six ReLU layers on 300 digits. All hidden weights are multiplied by one scale (upward), and turned from one random start $W_0$ to another, $W_0\cos t + W_1\sin t$ (to the right). What does the loss look like without, and with RMS norm in front of every ReLU?
#
# A loss that ignores the scale of $W$ has
#
# $$L(\alpha W) = L(W) \quad\Longrightarrow\quad \langle W, \nabla L(W)\rangle = 0, \qquad \nabla L(\alpha W) = \tfrac1\alpha\nabla L(W)$$
#
# (differentiate by $\alpha$ at 1, and by $W$). So the landscape is not simply smoother. Along the scale it is flat; in the direction it is *steeper the shorter $W$ is*: a step $\eta$ turns $W$ by an angle of about $\eta\lVert\nabla L(W/\lVert W\rVert)\rVert/\lVert W\rVert^2$. And since every step of plain gradient descent is orthogonal to $W$, Pythagoras makes $\lVert W\rVert$ grow, and the angle steps shrink by themselves: a learning rate that is too large tames itself.

# %% covers="wu:2.14.3 explainers:3.1.4 cs480:9-bn" demo=true
X, y = nn.digit_batches(digits, 300)
show(*nn.draw_landscapes(X, y))
W = [torch.nn.Parameter(w.double()) for w in nn.start_weights(6, 32)]


def grads(scale):
    Ws = [scale * w.detach() if i < 6 else w for i, w in enumerate(W)]
    Ws = [w.requires_grad_() for w in Ws]
    with_norm = nn.mean_loss(nn.network(X.double(), Ws, None, "RMS"), y)
    return Ws, torch.autograd.grad(with_norm, Ws)


(Ws, G), (_, small) = grads(1.0), grads(0.5)
for w, g, g_small in zip(Ws[:6], G, small):
    cosine = (w * g).sum() / w.norm() / g.norm()
    assert abs(cosine) < 1e-3  # orthogonal, up to ε
    assert abs(g_small.norm() / g.norm() - 2) < 1e-2
    assert (w - 0.1 * g).norm() > w.norm()  # a step makes W longer

# %% [markdown] covers="wu:2.14.6 explainers:3.1.4 cs480:9-bn"
# ### Deep signals again, with normalisers
#
# The first widget, with one more control. **Find out.** (1) Take the bad "sd 0.01" and ReLU: which norms save the signal? Do they save the gradient? (2) Batch norm, ReLU, He: the signal is fine at every depth. Move the depth from 10 to 60 and watch the gradient at the input. (3) Do layer and RMS norm do the same? (4) Does batch norm explode with "linear" as well?

# %% covers="wu:2.14.6 explainers:3.1.4 cs480:9-bn" demo=true
explore(
    nn.draw_signals,
    scheme=Dropdown(options=nn.SCHEMES, value="sd 0.01", description="weights"),
    activation=Dropdown(
        options=list(nn.ACTIVATIONS), value="ReLU", description="activation"
    ),
    depth=IntSlider(50, min=1, max=60, description="layers", **on_release),
    norm=Dropdown(options=nn.NORMS, value="batch", description="normaliser"),
)

# %% [markdown] covers="cs480:9-bn explainers:3.1.4"
# **A normaliser for the signal is none for the gradient.** Batch norm with ReLU multiplies the gradient's mean square by about 1.47 in every layer, going back: the same $1/(2\cdot0.341) = \pi/(\pi-1)$ as in section 1 (Yang and others, 2019). The ledger tells why. Batch norm divides by the *standard deviation over the batch*. For one unit $s = \sum_j W_j h_j$, with fixed weights, that is the variance of the $h_j$: $nv\cdot0.341$, for $h_j = \mathrm{relu}$ of a normalised value. Backwards the matrix gives the factor $nv$, the ReLU $\frac12$, the norm $1/(nv\cdot0.341)$: together $\frac{1/2}{0.341}$. RMS and layer norm divide by the second moment along the row (the mean along a row is about 0, as the weights have mean 0): $nv\cdot\frac12$, and the factors cancel. Without the ReLU nothing explodes under batch norm either: then the mean is 0, and the two moments agree.
#
# So very deep plain networks with batch norm start with exploding gradients. Residual connections cure that, and this is how batch norm is used in deep networks. In transformers it is layer or RMS norm at the entrance of each branch.

# %% covers="cs480:9-bn wu:2.14.6 explainers:3.1.4" demo=true
rates = {}
for kind in nn.NORMS:
    found = [nn.signals("He", "ReLU", 40, kind, seed=seed) for seed in range(3)]
    g = np.mean([np.log(run["gradient"]) for run in found], axis=0)
    rates[kind] = np.exp((g[5] - g[35]) / 30)
    print(f"{kind:>6}: gradient × {rates[kind]:.2f} a layer")
assert abs(rates["batch"] - np.pi / (np.pi - 1)) < 0.05
assert all(abs(rates[kind] - 1) < 0.1 for kind in ("none", "layer", "RMS"))

# %% [markdown] covers="wu:2.7.6 cs480:9-bn wu:2.14.6"
# ### Which learning rates work?
#
# Six ReLU layers, five scales of the start, six learning rates, forty steps: thirty networks in each panel, trained side by side. Bright is a low loss, a cross is no better than guessing, a circle the largest rate that learns. Where do you expect the normalised networks to fail?

# %% covers="wu:2.7.6 cs480:9-bn wu:2.14.6" demo=true
scales, etas = (0.3, 0.6, 1, 1.5, 2.5), (0.01, 0.03, 0.1, 0.3, 1, 3)
final = {
    kind: nn.train_stack(X, y, scales, etas, kind)[0][-1]
    for kind in ("none", "batch", "RMS")
}
show(*nn.draw_rates(scales, etas, final), digits=0)
widest = {kind: nn.largest_rate(etas, f) for kind, f in final.items()}
assert sum(final["batch"].ravel() < 1) > 1.5 * sum(final["none"].ravel() < 1)
assert np.all(widest["batch"] >= widest["none"])

# %% [markdown] covers="explainers:3.1.4 wu:2.7.6 guo:III.9 cs480:9-bn wu:2.14.6"
# Without a norm there is a narrow valley around the He scale, and the usable rates depend on it (wu: a proper start allows larger rates, a poor one fewer or none). With a norm the scale matters far less (batch norm is the most tolerant here, where the whole data set is its batch); what is left of it is what the $\frac1\alpha$ above predicts: larger weights want larger rates. Momentum and adaptive methods inherit the problem: they rescale a gradient, they cannot revive one that underflows. (Where several solutions fit, the start also decides which of them is found: an *implicit regularisation*, as in the shortest solution of section 2's erratum.)
#
# **Why does it help?** The first explanation was *internal covariate shift*: the inputs of each layer keep moving while the layers below learn, and the norm holds them still. That has been disputed: Santurkar and others (2018) added moving noise *after* batch norm, and training stayed fast; they explain the gain by a better conditioned loss. What we can prove here: scale invariance, gradients orthogonal to the weights, and signals that neither vanish nor explode. A complete theory of the gain, explainers is right, does not exist.
#
# ## On real data, with your own parts
#
# A network of 12 hidden layers of width 48 on the digits: 1297 for training, 500 for the test, 300 batches of 64, plain gradient descent with rate 0.03, and a start that is too small (half of He). Forward and backward are NumPy: your `init`, `norm`, `norm_backward`, and `batch_norm` for the running statistics. (RMS norm gets a $\beta$ here as well: it is the layer's bias.) Which of the four will learn?

# %% covers="guo:III.9 cs480:9-bn explainers:3.1.4 wu:2.14.6"
with after(init, norm, norm_backward, batch_norm):
    KINDS = {"none": None, "batch": (0, True), "layer": (1, True), "RMS": (1, False)}
    pixels = digits.X - digits.X.mean(axis=0)
    pixels = pixels / np.sqrt(np.mean(pixels**2))
    order = np.random.default_rng(14).permutation(1797)
    fit_rows, test_rows = order[:1297], order[1297:]

    def sweep(h, net, how, train):
        """Forward -> logits, and what the way back needs. Moves running statistics."""
        kept = []
        for layer in net["hidden"]:
            A = h @ layer["W"]
            S = (
                A + layer["beta"]
                if how is None
                else norm(A, *how, layer["gamma"], layer["beta"], 1e-5)
            )
            if how == (0, True):
                gain, shift = layer["gamma"], layer["beta"]
                S, *layer["running"] = batch_norm(
                    A, gain, shift, *layer["running"], train, 0.1, 1e-5
                )
            kept.append((h, A, S))
            h = np.maximum(S, 0)
        return h @ net["out"] + net["bias"], h, kept

    def learn(how, steps=300, depth=12, width=48, rate=0.03):
        rng, net = np.random.default_rng(15), {"hidden": [], "bias": np.zeros(10)}
        for n_in in [64] + [width] * (depth - 1):
            net["hidden"].append(
                dict(
                    W=0.5 * init("he", n_in, width, rng),
                    gamma=np.ones(width),
                    beta=np.zeros(width),
                    running=(np.zeros(width), np.ones(width)),
                )
            )
        net["out"], curve = init("xavier", width, 10, rng), []
        for step in range(steps):
            rows = rng.choice(fit_rows, 64, replace=False)
            logits, h, kept = sweep(pixels[rows], net, how, True)
            p = np.exp(logits - logits.max(axis=1, keepdims=True))
            p /= p.sum(axis=1, keepdims=True)
            if step % 10 == 0:
                curve.append(-np.mean(np.log(p[np.arange(64), digits.y[rows]])))
            delta = (p - np.eye(10)[digits.y[rows]]) / 64
            back = delta @ net["out"].T
            net["out"] = net["out"] - rate * h.T @ delta
            net["bias"] = net["bias"] - rate * delta.sum(axis=0)
            for layer, (h, A, S) in zip(net["hidden"][::-1], kept[::-1]):
                dS = back * (S > 0)
                if how is None:
                    dA, dgamma, dbeta = dS, 0, dS.sum(axis=0)
                else:
                    dA, dgamma, dbeta = norm_backward(dS, A, *how, layer["gamma"], 1e-5)
                back = dA @ layer["W"].T
                layer["W"] = layer["W"] - rate * h.T @ dA
                layer["gamma"] = layer["gamma"] - rate * dgamma
                layer["beta"] = layer["beta"] - rate * dbeta
        return net, np.array(curve)

    curves, scores = {}, {}
    for name, how in KINDS.items():
        net, curves[name] = learn(how)
        said = sweep(pixels[test_rows], net, how, False)[0].argmax(axis=1)
        scores[name] = np.mean(said == digits.y[test_rows])
    assert scores["none"] < 0.3 and min(list(scores.values())[1:]) > 0.85
    show(*nn.draw_runs(curves, scores, 10), digits=0)

# %% [markdown] covers="wu:2.7.1 wu:2.7.4 explainers:3.1.4 guo:III.9"
# ## Take-aways
#
# - Through a layer, $\mathbb E[s^2] = n\,\mathrm{Var}[W]\,\mathbb E[h^2]$. Keep the **second moment**. A ReLU halves it: $\mathrm{Var}[W] = 2/n_\text{in}$ (He). Its variance, $0.341\,\sigma^2$, is another thing.
# - A factor per layer is a power in depth. $2^{-50} \approx 10^{-15}$.
# - Xavier averages the forward and the backward condition. Units with equal weights in and out stay copies; zero weights do not move at all.
# - Batch norm works down a column, layer and RMS norm along a row. Each ignores what it divides and subtracts away. One backward pass for all: $\frac1s(g - \bar g - y\,\overline{gy})$.
# - Batch norm has two modes and needs a batch. Layer and RMS norm treat each row alone.
# - Scale invariance: gradient orthogonal to the weights, of size $1/\lVert W\rVert$. Flat along the scale, steep near 0.
# - A normalised signal does not imply a healthy gradient: batch norm with ReLU multiplies it by 1.47 a layer, unless skips help.
# - Where you will meet it again: [dropout](05_dropout_and_capacity.ipynb) is the other fault tolerance that wu sets beside RMS norm; layer norm around each branch in a GPT; batch norm in training a CNN.
#
# ## What the notes got wrong
#
# Each point stands where it belongs, with its proof: the variance of a ReLU and the variance of a sum (wu 2.7.3), Xavier's factor 2 and what zero weights do (2.7.2, 2.7.6), the sign, the length and the missing $d$ of RMS norm (2.14.1, 2.14.3, 2.14.5), its unbounded derivative and the "recovered" direction (2.14.4), the variance after batch norm (explainers 3.1.4.1) and the index of $\gamma$ and $\beta$ (guo III.9).

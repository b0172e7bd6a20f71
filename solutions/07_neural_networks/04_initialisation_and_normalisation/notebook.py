# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="weights whose signals survive depth, a check-up for any ReLU network, and batch, layer and RMS norm with their way back" covers="wu:2.7 explainers:3.1.2"
# # Initialisation and normalisation
#
# A colleague stacks twenty ReLU layers to read digits. She starts them as torch draws its layers, biases 0. After 400
# steps the loss is 2.30, what guessing costs. Nothing has moved.
#
# She multiplies all hidden weights by 2.45 and starts again: now most digits are read right. She multiplies by 5, and
# the first loss is above a million, the third not a number.
#
# Then you keep torch's weights as they are, and put one line in front of each ReLU. It learns as if nothing had happened.
#
# *Why 2.45, and what does the line do?* At the end you compute the number and have written the line.

# %%
# What this notebook needs.
import numpy as np
import sympy
import torch
from ipywidgets import Dropdown, FloatSlider, IntSlider

from descent import (
    after,
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
from descent.pictures.neural_networks import initialisation_and_normalisation as nn

start("07_neural_networks/04_initialisation_and_normalisation")

# %% covers="wu:2.7 explainers:3.1.2"
# Twenty layers from three starts that differ only in size.
show(*nn.draw_runs(nn.first_runs(), "The size of the start decides"), digits=0)
lost = nn.first_runs()["times 5"][0]
claim(
    "times 5: the first loss is {first:.1e}, the third no number",
    lost[0] > 1e6 and np.isinf(lost[2]), first=lost[0],
)  # fmt: skip

# %% [markdown] covers="wu:2.7.3 guo:III.8"
# ## 1. How large is a signal after fifty layers?
#
# Until about 2010 hardly anybody could train a deep network from random weights. Then Xavier Glorot and Yoshua Bengio
# did something simple: they looked how large the numbers are, layer by layer.
#
# One unit is $s_i = \sum_{j=1}^n h_jW_{ji}$. Its $n$ weights are independent, with mean 0 and variance $v$. Square it,
# and take the mean over the weights: the mixed terms vanish.
#
# $$\mathbb E[s_i] = 0, \qquad \mathrm{Var}[s_i] = \mathbb E[s_i^2] = n\,v\;\mathbb E[h_j^2] .$$
#
# On the left $\mathbb E$ is the mean over the weights; $\mathbb E[h_j^2]$ is the mean over the $n$ inputs, the **second
# moment** of $h$. So the width counts. And that it is the mean of *squares*: is that a detail? Take inputs with mean 2
# and variance 1:

# %% open=true covers="wu:2.7.3"
rng = np.random.default_rng(0)
h = 2 + rng.normal(size=200)
s = rng.normal(0, 0.1, (20_000, 200)) @ h  # 20,000 units, n v = 2
second, variance = 2 * np.mean(h**2), 2 * np.var(h)
claim(
    "Var[s] = {var:.1f} is n v E[h²] = {second:.1f}, not n v Var[h] = {variance:.1f}",
    abs(s.var() / second - 1) < 0.05 < abs(s.var() / variance - 1),
    var=s.var(), second=second, variance=variance,
)  # fmt: skip

# %% predict="fifty" minutes=1 covers="wu:2.7.3 wu:2.7.2"
predict(
    "fifty",
    "Somebody reads off v = 1/n, so that nothing grows or shrinks. But there is a ReLU "
    "in each of fifty layers. What is left of the mean square?",
    ["About one half", "About a fiftieth", "A millionth", "Less than 10⁻¹⁴"],
    truth=int(np.digitize(-np.log10(nn.expected(1.0)), [1, 4, 10])),
    because="Each ReLU sets half of the values to 0 and so halves the mean square: "
    "2⁻⁵⁰ is about 10⁻¹⁵. A factor for each layer is a power of the depth.",
)

# %% [markdown] covers="wu:2.7.3 wu:2.7.2"
# With many terms, $s$ is close to normal, with mean 0; let $\sigma^2$ be its variance. The ReLU keeps one half of the
# distribution. So half of the second moment survives, while the mean becomes positive:
#
# $$\mathbb E[\mathrm{relu}(s)^2] = \tfrac12\sigma^2, \qquad
# \mathrm{Var}[\mathrm{relu}(s)] = \Big(\tfrac12 - \tfrac1{2\pi}\Big)\sigma^2 \approx 0.341\,\sigma^2 .$$
#
# The lecture notes print $\frac12$ for the *variance*, and still reach the right rule, $v = 2/n$. Woe to the careful
# reader who corrects the ½ to 0.341 and takes $v = 1/(0.341\,n)$! What enters the next layer is the second moment. Keep the ledger, both
# columns, and see what becomes of the careful reader.


# %% exercise="propagate" points=2 difficulty=1 covers="wu:2.7.3"
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
# The integrals by symbols, your ledger, and three choices of v.
with after(propagate, "fifty"):
    x = sympy.symbols("x", real=True)
    density = sympy.exp(-(x**2) / 2) / sympy.sqrt(2 * sympy.pi)
    m1, m2 = (sympy.integrate(x**k * density, (x, 0, sympy.oo)) for k in (1, 2))
    share = sympy.simplify(m2 - m1**2 - (sympy.Rational(1, 2) - 1 / (2 * sympy.pi)))
    claim("the integrals are ½ and ½ − 1/(2π)", 2 * m2 == 1 and share == 0)
    ledger = propagate(2 / 96, np.full(50, 96), 1.0)
    layers = [nn.through(6**0.5, "ReLU", seed=seed)[2][1] for seed in range(20)]
    found = [
        np.mean([one(h) for h in layers]) for one in (lambda h: np.mean(h**2), np.var)
    ]
    claim(
        "20 networks, first layer: {found[0]:.2f} and {found[1]:.2f}",
        np.allclose(found, ledger[0], rtol=0.05), found=found,
    )  # fmt: skip
    for name, c in (("1/n", 1.0), ("2/n", 2.0), ("1/(0.341 n)", 1 / 0.341)):
        end = propagate(c / 512, np.full(50, 512), 1.0)[-1, 0]
        claim("v = {name}: after fifty layers E[h²] is {end:.1e}",
              np.isclose(end / (c / 2) ** 50, 1), name=name, end=end)  # fmt: skip

# %% [markdown] covers="wu:2.7.2 wu:2.7.1 guo:III.8"
# **Take the weights in hand.** Fifty layers of 96 units. Drag the handle: all weights, as a multiple of torch's default.
# Press play, and the layers go by. The second picture holds the values in the layer that has been reached.
#
# 1. At which multiple does the curve stand still, whatever the layer? What happens beside it?
# 2. Take tanh. Why does the signal no longer explode? Look at the values, then at the gradient.
# 3. Where does a network without activation (linear) stand still?

# %% covers="wu:2.7.2 wu:2.7.1 guo:III.8"
# Drag the weights, play the layers.
explore(
    nn.draw_signals,
    drag={"factor": "factor"},
    play="layers",
    factor=FloatSlider(1.5, min=1, max=5, step=0.05, description="weights ×"),
    layers=IntSlider(20, min=0, max=50, description="layers"),
    act=Dropdown(options=list(nn.ACTS), description="activation"),
)

# %% [markdown] covers="wu:2.7.2 guo:III.8"
# ## 2. And on the way back?
#
# A gradient has to come back through the same matrices, transposed. Now each sum has $n_\text{out}$ terms. Without an
# activation, or with tanh near 0:
#
# $$\text{signal} \times n_\text{in}\,v, \qquad \text{gradient} \times n_\text{out}\,v .$$
#
# One asks for $v = 1/n_\text{in}$, the other for $v = 1/n_\text{out}$. Glorot and Bengio split the difference; their
# rule is called **Xavier**:
#
# $$v = \frac{2}{n_\text{in} + n_\text{out}} .$$

# %% predict="compromise" minutes=1 covers="wu:2.7.2 guo:III.8"
predict(
    "compromise",
    "A linear layer from 784 to 256 with Xavier's variance. What happens to the mean "
    "squares of signal and gradient?",
    [
        "Both stay as they are",
        "Signal × 0.49, gradient × 1.51",
        "Signal × 1.51, gradient × 0.49",
        "Both × 0.75",
    ],
    truth={(1.51, 0.49): 2, (1.0, 1.0): 0}[nn.xavier_factors(784, 256)],
    because="n_in v = 2·784/1040 and n_out v = 2·256/1040. Their mean is 1: a "
    "compromise, exact for neither unless the widths agree.",
)

# %% [markdown] covers="wu:2.7.4 guo:III.8 wu:2.7.2"
# Five years later Kaiming **He** put the ReLU in. It halves in both directions; he keeps the signal, $v =
# 2/n_\text{in}$, and the gradient is off by $n_\text{last}/n_\text{first}$ in all, however deep.
#
# | layer | weights | why |
# |---|---|---|
# | before ReLU | He | the ReLU halves |
# | before tanh, sigmoid, nothing | Xavier | slope 1 at 0 (sigmoid: ¼, so better take tanh) |
# | recurrent | orthogonal, $W^\top W = I$ | $\lVert hW\rVert = \lVert h\rVert$ for each $h$, any number of times |
# | beside a skip connection | near 0 | the block starts as the identity |
# | biases | 0, before ReLU also slightly above | |
#
# And often the best start is a network trained for something similar.


# %% exercise="init" points=2 difficulty=1 covers="guo:III.8 wu:2.7.2 wu:2.7.4 explainers:3.1.2"
def init(before, n_in, n_out, rng):
    """Random weights W (n_in, n_out) of a layer h @ W.

    before="relu": normal, mean 0, variance 2 / n_in (He). before="tanh": uniform on
    (-a, a), variance 2 / (n_in + n_out) (Xavier); (-a, a) has variance a**2 / 3.
    before="recurrent", n_in = n_out: orthogonal, W.T @ W = I (np.linalg.qr of a
    random normal matrix makes one). rng: the NumPy generator to draw from.
    The entries of init("tanh", 784, 256, rng) lie between -0.076 and 0.076.
    """
    ### BEGIN SOLUTION
    if before == "relu":
        return rng.normal(0, np.sqrt(2 / n_in), (n_in, n_out))
    if before == "recurrent":
        return np.linalg.qr(rng.normal(size=(n_in, n_in)))[0]
    a = np.sqrt(6 / (n_in + n_out))
    return rng.uniform(-a, a, (n_in, n_out))
    ### END SOLUTION


# %% check="init"
check(init)

# %% covers="guo:III.8 wu:2.7.4"
# Your weights in deep networks, and what torch does by default.
with after(init):
    rng = np.random.default_rng(4)
    for before, phi in (("relu", nn.ACTS["ReLU"][0]), ("tanh", lambda s: s)):
        h = rng.normal(size=(64, 400))
        for _ in range(20):
            h = phi(h @ init(before, 400, 400, rng))
        claim("{name}: mean square {m:.1f} after 20 layers", 0.2 < np.mean(h**2) < 4,
              name={"relu": "He, ReLU", "tanh": "Xavier, linear"}[before],
              m=np.mean(h**2))  # fmt: skip
    h, Q = rng.normal(size=30), init("recurrent", 30, 30, rng)
    end = h @ np.linalg.matrix_power(Q, 1000)
    claim("orthogonal: same length after 1000 rounds", np.isclose(end @ end, h @ h))
    bound = np.abs(init("tanh", 784, 256, rng)).max()
    claim("784 to 256: Xavier within ±{bound:.4f}, He's sd {sd:.4f}",
          bound < np.sqrt(6 / 1040), bound=bound, sd=np.sqrt(2 / 784))  # fmt: skip
torch.manual_seed(0)
weights = torch.nn.Linear(512, 512).weight.detach()
third = abs(3 * 512 * weights.var().item() - 1) < 0.02
claim("torch.nn.Linear: uniform, variance 1/(3n)", third)
weights = torch.nn.LSTM(100, 64).weight_hh_l0.detach().abs().max().item()
claim("torch.nn.LSTM: within ±1/√64, not orthogonal", 0.12 < weights <= 0.125)

# %% [markdown] covers="wu:2.7.1 wu:2.7.5 explainers:3.1.2"
# ## 3. A check-up
#
# What should a start do? **Bring the signal to the end. Bring the gradient back. Let the units differ. And keep them
# awake**: not where the activation is flat, so that nothing comes back.
#
# A ReLU unit is worst off where it gives 0 on *every* row: it is [[07/01|dead]]. No row sends it a gradient, and unless
# the layers below move, it stays so.
#
# Write the check-up for a network in use, $h_l = \mathrm{relu}(h_{l-1}W_l + b_l)$ from $h_0 = X$ on. On the way back it
# begins with $G$, the slope of the loss by the last layer's values.


# %% exercise="health" points=3 difficulty=1 covers="wu:2.7.1 wu:2.7.5"
def health(X, Ws, bs, G):
    """Signal, gradient and dead units of a ReLU network, one row a layer.

    X (N, n_0). Ws, bs: lists, layer by layer, of W (n_in, n_out) and b (n_out,).
    G (N, n_L): slope of the loss by the last layer's outputs. ReLU has slope 0 at 0.
    Returns (L, 3), first layer first: the mean square of its outputs; the mean square
    of the slopes of the loss by its inputs; the share of its units that are 0 on
    every row.
    X = [[1], [2]], Ws = [[[1, -1]]], bs = [[0, 0]], G = [[3, 3], [1, 1]]
    gives [[1.25, 5, 0.5]].
    """
    ### BEGIN SOLUTION
    Hs, rows = [X], []
    for l in range(len(Ws)):
        Hs.append(np.maximum(Hs[l] @ Ws[l] + bs[l], 0))
    for l in reversed(range(len(Ws))):
        H = Hs[l + 1]
        dead = np.mean((H == 0).all(axis=0))
        G = (G * (H > 0)) @ Ws[l].T
        rows.append([np.mean(H**2), np.mean(G**2), dead])
    return np.array(rows[::-1])
    ### END SOLUTION


# %% check="health"
check(health)

# %% covers="wu:2.7.1 wu:2.7.2 wu:2.7.5 explainers:3.1.2"
# Six starts of twenty layers, checked. Then five layers, trained.
with after(health):
    pixels, labels = nn.digits()
    G, zero = np.random.default_rng(1).normal(size=(300, 64)), [np.zeros(64)] * 20
    default = nn.default_weights(1.0)[:20]
    starts = {
        "all zero": [0 * W for W in default],
        "all equal": [0 * W + 2 / len(W) for W in default],
        "default": default,
        "times 2.45": [6**0.5 * W for W in default],
        "times 5": [5 * W for W in default],
        "bias −3": [6**0.5 * W for W in default],
    }
    print(f"{'':12}{'signal':>9}{'gradient':>10}{'dead':>6}  units differ")
    for name, Ws in starts.items():
        bs = [b - 3 for b in zero] if name == "bias −3" else zero
        told = health(pixels[:300], Ws, bs, G)
        differ = any(np.ptp(W, axis=1).any() for W in Ws)
        print(f"{name:12}{told[-1, 0]:9.0e}{told[0, 1]:10.0e}{told[:, 2].max():6.0%}",
              "  yes" if differ else "  no")  # fmt: skip
    h = pixels[:300]
    for W in starts["times 2.45"]:
        h = np.maximum(h @ W, 0)
    alike = np.mean(nn.rms(h) @ nn.rms(h).T) / 64
    same = alike > 0.9 and np.mean((h == 0).all(axis=0)) > 0.2
    claim("units die at 2.45, too: rows become alike (cosine {c:.2f})", same, c=alike)
    X, y = nn.first_digits()
    scales, names = (0.1, 1.0, 2.5), ["0.1 × He", "He", "2.5 × He"]
    losses, _, _ = nn.train_stack(X, y, scales, [0.1], depth=5)
    _, Ws, bs = nn.train_stack(X, y, scales, [0.1], depth=5, steps=3)
    dead = []
    for i in range(3):
        net = [W[i, 0] for W in Ws[:-1]], [b[i, 0, 0] for b in bs[:-1]]
        dead.append(health(X.double().numpy(), *net, np.ones((300, 32)))[:, 2])
    dead = np.array(dead)
    asleep = dead[[0, 2], -1].min() > 0.5 and dead[1].max() < 0.2
    claim("three steps from a wrong scale, and most of the last layer is dead", asleep)
    show(*nn.draw_starts(losses[:, :, 0], dead, names), digits=0)

# %% [markdown] covers="wu:2.7.5 explainers:3.1.4 guo:III.9"
# Too small: what comes back is as faint as what went in, no weight moves, and the first tiny step of a bias puts units
# to sleep for all rows. Too large: gradients as huge as the loss throw the weights far away, with the same end.
#
# ## 4. Keep the size, step after step
#
# And the best start holds for one step: then the weights move. In 2015 Ioffe and Szegedy let the network itself restore
# the size, in every step, in front of every activation. Take a table of pre-activations, $N$ rows and $D$ features. For
# each *group* of its numbers, with mean $\mu$ and mean squared deviation $\sigma^2$,
#
# $$y = \frac{a - \mu}{\sqrt{\sigma^2 + \varepsilon}}, \qquad \text{output} = \gamma_d\,y + \beta_d .$$
#
# A gain $\gamma$ and a shift $\beta$ for each feature are learned.

# %% [markdown] covers="guo:III.9 explainers:3.1.4 explainers:3.1.4.1 explainers:3.1.4.2 explainers:3.1.4.3 guo:III.9.a guo:III.9.b wu:2.14.1"
# What is a group?
#
# | | a group | centred |
# |---|---|---|
# | **batch norm** | a feature, over all rows | yes |
# | **layer norm** | a row, over all features | yes |
# | **RMS norm** | a row, over all features | no: $\mu = 0$, and $\sigma^2$ is the mean square |
#
# RMS norm, the youngest, is what most language models use (usually without $\beta$). Each table below comes from the
# first; one group is framed.

# %% covers="guo:III.9 explainers:3.1.4 guo:III.9.a guo:III.9.b"
# One table, three normalisers.
show(*nn.draw_axes())

# %% predict="one-row" minutes=1 covers="cs480:9-bn guo:III.9.a"
predict(
    "one-row",
    "Batch norm gets a batch of one row, (3, −1, 250). What does it return, before γ "
    "and β?",
    ["(0.01, 0, 1)", "(1, −1, 1)", "(0, 0, 0)", "(3, −1, 250)"],
    truth=0 if nn.normalised(np.array([[3, -1, 250.0]]), "batch")[0].any() else 2,
    because="The row is its own mean, so nothing is left, whatever it was. With two "
    "rows little more is left than the sign of their difference.",
)  # fmt: skip

# %% [markdown] covers="cs480:9-bn guo:III.9 guo:III.9.a explainers:3.1.4.1"
# So batch norm has a catch: what it makes of a row depends on the rows beside it. In training that is noise. In use it
# is absurd: a patient's diagnosis must not depend on who else comes that day. So training keeps **running statistics**,
# and evaluation uses these. With a momentum $m$, 0.1 in torch,
#
# $$\begin{gathered}
# \bar\mu \leftarrow \bar\mu + m\,(\mu_\text{batch} - \bar\mu), \qquad \bar\sigma^2 \leftarrow \bar\sigma^2 +
# m\,(\sigma^2_\text{batch} - \bar\sigma^2), \\
# \sigma^2_\text{batch} = \tfrac1{N-1}\textstyle\sum_n (a_n - \mu_\text{batch})^2 .
# \end{gathered}$$
#
# ($N - 1$, as it stands for unseen rows. The batch itself is divided by its own $\sqrt{\sigma^2 + \varepsilon}$.) A row of layer or RMS
# norm brings its own statistics, always.

# %% [markdown] covers="cs480:9-bn explainers:3.1.4 guo:III.9 wu:2.14.6"
# **And back.** Let $c = a - \mu$ and $s = \sqrt{\sigma^2 + \varepsilon}$, so $y = c/s$. If $a$ moves by $\mathrm da$,
# then $\mathrm dc = \mathrm da - \overline{\mathrm da}$ (a bar: mean over the group), and from $s^2 = \overline{c^2} +
# \varepsilon$ comes $\mathrm ds = \overline{y\,\mathrm dc}$. So $\mathrm dy = \frac1s(\mathrm dc - y\,\overline{y\,\mathrm
# dc})$. This is symmetric: let $g$ be the slopes of the loss by $y$, and
#
# $$\frac{\partial L}{\partial a} = \frac1s\Big(g - \overline g - y\;\overline{g\,y}\Big),$$
#
# without $\overline g$ for RMS norm. Now write the line that goes in front of a ReLU, forward and back.


# %% exercise="Norm" points=6 difficulty=1 covers="cs480:9-bn explainers:3.1.4 explainers:3.1.4.1 explainers:3.1.4.2 explainers:3.1.4.3 guo:III.9 guo:III.9.a guo:III.9.b wu:2.14.1 wu:2.14.6"
class Norm:
    """A normaliser with d features. kind: "batch", "layer" or "RMS".

    gamma, beta (d,): gain and shift, for all kinds. mean, var (d,): running
    statistics of batch norm; the other kinds leave them as they are.
    """

    def __init__(self, kind, d, eps=1e-5, momentum=0.1):
        self.kind, self.eps, self.momentum = kind, eps, momentum
        self.gamma, self.beta = np.ones(d), np.zeros(d)
        self.mean, self.var = np.zeros(d), np.ones(d)

    def forward(self, A, train):
        """Output (N, d) for A (N, d). Keep what backward will need.

        train=True: batch norm uses the batch, and moves mean and var towards it; one
        row alone leaves var. train=False: it uses mean and var, which stay.
        Layer and RMS norm do the same in both modes.
        Norm("RMS", 2, eps=0.0).forward(np.array([[3.0, 4.0]]), True) gives
        [[0.8485, 1.1314]]: the mean square is 12.5.
        """
        ### BEGIN SOLUTION
        self.axis = 0 if self.kind == "batch" else 1
        C = A if self.kind == "RMS" else A - A.mean(self.axis, keepdims=True)
        square = (C**2).mean(self.axis, keepdims=True)
        if self.kind == "batch" and train:
            self.mean = self.mean + self.momentum * (A.mean(axis=0) - self.mean)
            if len(A) > 1:
                self.var = self.var + self.momentum * (A.var(axis=0, ddof=1) - self.var)
        if self.kind == "batch" and not train:
            C, square = A - self.mean, self.var
        self.s = np.sqrt(square + self.eps)
        self.Y = C / self.s
        return self.gamma * self.Y + self.beta
        ### END SOLUTION

    def backward(self, dY):
        """Slope of the loss by A (N, d). Sets dgamma, dbeta (d,): by gamma and beta.

        dY (N, d): slope by the output of the last forward, which had train=True.
        After the call above, backward(np.array([[1.0, 0.0]])) gives
        [[0.1810, -0.1358]]; dgamma is [0.8485, 0], dbeta [1, 0].
        """
        ### BEGIN SOLUTION
        self.dgamma = (dY * self.Y).sum(axis=0)
        self.dbeta = dY.sum(axis=0)
        G = self.gamma * dY
        dA = G - self.Y * (G * self.Y).mean(self.axis, keepdims=True)
        if self.kind != "RMS":
            dA = dA - G.mean(self.axis, keepdims=True)
        return dA / self.s
        ### END SOLUTION


# %% check="Norm"
check(Norm)

# %% covers="cs480:9-bn guo:III.9.a guo:III.9.b explainers:3.1.4.1 explainers:3.1.4.2 explainers:3.1.4.3 wu:2.14.6"
# Against torch's layers; and one row among other rows.
with after(Norm, "one-row"):
    torchs = {
        "batch": torch.nn.BatchNorm1d(3).double(),
        "layer": torch.nn.LayerNorm(3).double(),
        "RMS": torch.nn.RMSNorm(3, 1e-5).double(),
    }
    told = []
    for kind, layer in torchs.items():
        rng, norm, same = np.random.default_rng(1), Norm(kind, 3), True
        for _ in range(80):
            A = rng.normal([1, -2, 5], [1, 0.5, 3], (16, 3))
            dY = rng.normal(size=(16, 3))
            t = torch.tensor(A, requires_grad=True)
            out = layer(t)
            out.backward(torch.tensor(dY))
            same &= np.allclose(norm.forward(A, True), out.detach())
            same &= np.allclose(norm.backward(dY), t.grad)
        layer.eval()
        same &= np.allclose(norm.forward(A, False), layer(t).detach())
        claim("{kind} norm is torch's, on 80 batches and in use", same, kind=kind)
        mates = A + 3 * (np.arange(16) > 0)[:, None]  # the first row stays
        for mode, train in (("training", True), ("use", False)):
            rows = [norm.forward(B, train)[0].round(1) + 0 for B in (A, mates)]
            first, other = (" ".join(f"{v:.1f}" for v in row) for row in rows)
            told.append(f"{kind}, {mode}: row 0 is {first}, beside others {other}")
    print("\n".join(told))

# %% covers="explainers:3.1.4 guo:III.9.b explainers:3.1.4.2 explainers:3.1.4.3 wu:2.14.1 wu:2.14.3"
# What each kind ignores (ε = 0), and what its gradient is like.
with after(Norm):
    A, rng = np.random.default_rng(8).normal(1, 2, (5, 4)), np.random.default_rng(2)
    c, d, dY = rng.uniform(0.5, 3, 5), rng.normal(0, 3, 5), rng.normal(size=(5, 4))
    changes = {
        "each row times c > 0": A * c[:, None],
        "each row plus a number": A + d[:, None],
        "each column times c > 0": A * c[:4],
        "each column plus a number": A + d[:4],
        "everything times 3": 3 * A,
        "everything times −1": -A,
    }
    norms = {kind: Norm(kind, 4, eps=0.0) for kind in ("batch", "layer", "RMS")}
    print(f"{'':27}" + "".join(f"{kind:>7}" for kind in norms))
    for name, B in changes.items():
        same = [
            np.allclose(n.forward(B, True), n.forward(A, True)) for n in norms.values()
        ]
        print(f"{name:27}" + "".join(f"{'same' if s else '–':>7}" for s in same))
    for kind, norm in norms.items():
        norm.forward(A, True)
        dA, axis = norm.backward(dY), 0 if kind == "batch" else 1
        norm.forward(10 * A, True)
        smaller = np.allclose(norm.backward(dY), dA / 10)
        claim(
            "{kind}: slopes at a right angle to the group; for 10 A a tenth of them",
            smaller and np.allclose((dA * A).sum(axis), 0),
            kind=kind,
        )

# %% [markdown] covers="explainers:3.1.4 cs480:9-bn wu:2.14.6"
# Read the line *everything times 3*. So multiply *all weights* of a layer, biases included, by one positive
# number: but for $\varepsilon$, no kind notices. (And a bias in front of batch norm shifts a column: it is lost, so $\beta$ replaces it.)
#
# ## 5. The answer
#
# Why 2.45? Your ledger knows, with torch's $v = 1/(3n)$. And the line? Twenty layers with torch's weights, as drawn,
# and your `Norm` in front of each ReLU.

# %% covers="wu:2.7 cs480:9-bn explainers:3.1.4 wu:2.14.6 guo:III.9"
# The number from your ledger; four networks made of your parts.
with after(propagate, init, Norm):
    kept = propagate(1 / (3 * 64), np.full(20, 64), 1.0)[:, 0]
    factor = kept[0] ** -0.5
    claim("torch's default: one layer keeps {one:.2f}, twenty {all:.0e}",
          np.isclose(kept[-1] * 6.0**20, 1), one=kept[0], all=kept[-1])  # fmt: skip
    claim("weights √6 = {f:.2f} times as large", np.isclose(factor, 6**0.5), f=factor)
    rng = np.random.default_rng(1)
    he = [init("relu", 64, 64, rng) for _ in range(20)] + [init("tanh", 64, 10, rng)]
    runs = {"He, no norm": nn.train_deep(he, [nn.Shift(64) for _ in range(20)])}
    for kind in ("batch", "layer", "RMS"):
        norms = [Norm(kind, 64) for _ in range(20)]
        runs[f"default, {kind}"] = nn.train_deep(nn.default_weights(1.0), norms)
    plain = nn.first_runs()["default"][0]
    claim("default, no norm: stays at log 10", abs(plain - np.log(10)).max() < 0.1)
    claim("all four of these learn", min(share for _, share in runs.values()) > 0.7)
    show(*nn.draw_runs(runs, "With a norm torch's default learns"), digits=0)

# %% [markdown] covers="wu:2.7.1 wu:2.7.4 explainers:3.1.4 guo:III.9"
# ## Take-aways
#
# - Through a layer $\mathbb E[s^2] = n\,v\,\mathbb E[h^2]$: keep the **second moment**. A ReLU halves it, so He takes $v
#   = 2/n_\text{in}$. torch's $1/(3n)$ is 6 times too small, its weights √6.
# - A factor for each layer is a power of the depth. Too small or too large, nothing is learned, and units die.
# - A normaliser restores the size in every step, so it forgives the scale of the start. Batch norm works down a column
#   and needs two modes; layer and RMS norm work along a row and need one.
# - One way back for all three: $\frac1s(g - \overline g - y\,\overline{g\,y})$.
#
# Next: [[next]]. Below: starts that cannot learn at all, what RMS norm does to a vector and to the landscape, and a
# gradient that batch norm lets explode.

# %% [markdown] covers="wu:2.7.2 explainers:3.1.2 wu:2.7.6"
# ## Deeper: starts that cannot learn
#
# **Copies.** Two units of a layer with equal weights on the way in *and* on the way out compute the same, receive the
# same gradient, and stay equal for ever: they are worth one unit.
#
# **Zero** is worse: with $W = 0$ and $b = 0$ every tanh or ReLU unit is 0, so no output weight gets a gradient; and what
# flows back, $\delta W^\top$, is 0 as well. Only the output bias moves. (A model *linear* in its weights may well start at 0:
# descent then finds the shortest solution.) How many different units does a layer really have?


# %% exercise="distinct_units" points=1 difficulty=1 covers="explainers:3.1.2 wu:2.7.2"
def distinct_units(W, b, V):
    """Number of different hidden units in h = act(x @ W + b), y = h @ V + c.

    W (n_in, H), b (H,), V (H, n_out). Two units are copies if all that belongs to them
    is exactly equal: weights in, bias, weights out. A set of copies counts as one unit.
    W = [[1, 1, 1]], b = [0, 0, 0], V = [[2], [2], [3]] gives 2.
    """
    ### BEGIN SOLUTION
    return len({tuple(unit) for unit in np.vstack([W, b, V.T]).T})
    ### END SOLUTION


# %% check="distinct_units"
check(distinct_units)

# %% predict="twins" minutes=1 covers="explainers:3.1.2 wu:2.7.2"
predict(
    "twins",
    "Six tanh units with equal weights on the way in, but random ones on the way out. "
    "How many different units are left on the way in after 100 steps?",
    ["One", "Three", "Six"],
    truth={1: 0, 6: 2}[nn.parted()],
    because="Each unit gets its gradient through its own weight out. These differ, so "
    "the first step parts the six.",
)

# %% covers="explainers:3.1.2 wu:2.7.2 wu:2.7.6"
# Three starts; gradients at zero weights; a linear model from 0.
with after(distinct_units, "twins"):
    for name in nn.COPIES:
        way = [distinct_units(*net) for net in nn.copies(name)]
        claim("{name}: distinct units {way[0]}, after 100 steps {way[1]}",
              way[0] == way[1], name=name, way=way)  # fmt: skip
    for act in (torch.tanh, torch.relu):
        moves = nn.moved_by_zero(act)
        only = moves == [False] * 5 + [True]
        claim("{name}, all zero: only the output bias moves", only, name=act.__name__)
    rng = np.random.default_rng(5)
    Z, target, w = rng.normal(size=(3, 6)), rng.normal(size=3), np.zeros(6)
    for _ in range(3000):
        w = w - 0.05 * Z.T @ (Z @ w - target)
    shortest = np.allclose(w, np.linalg.pinv(Z) @ target)
    claim("a linear model from 0 finds the shortest solution", shortest)

# %% [markdown] covers="explainers:3.1.2 wu:2.7.5"
# **A map of starts.** The smallest network, $\hat y = v\tanh(wx)$, learns from the one with $w = 1.5$, $v = 1$. Flip
# both signs and nothing changes, so two minima are equally good. Gradient descent runs from each start of a grid. Before
# you look: what will happen near 0, on the diagonal $v = -w$, and for large $\lvert w\rvert$, where the tanh is flat?

# %% covers="explainers:3.1.2 wu:2.7.5"
# Where does a start lead, and how fast?
show(*nn.draw_basins())
slopes = nn.two_weights(0.0, 0.0)[1:]
claim("zero start, zero gradient: a saddle between the basins", not np.any(slopes))

# %% [markdown] covers="wu:2.14.1 wu:2.14.2 wu:2.14.4"
# ## Deeper: RMS norm, a map onto a sphere
#
# Without $\varepsilon$, $\mathrm{RMSNorm}(h) = \sqrt d\,h/\lVert h\rVert$: each ray from 0 goes to one point of the sphere
# of radius $\sqrt d$. Drag $h$ (circle) and $h$ plus noise (square).
#
# 1. Move the square along the ray of $h$: what is left of such noise? And beyond 0?
# 2. Move it across. Does the norm bring it back to the right direction?
# 3. Move both close to 0, the same distance apart. How far apart are the images?

# %% covers="wu:2.14.1 wu:2.14.2 wu:2.14.4"
# Drag both points.
explore(
    nn.draw_sphere,
    drag={("x", "y"): "plane", ("u", "v"): "plane"},
    x=FloatSlider(1.7, min=-3, max=3, step=0.05, description="h₁"),
    y=FloatSlider(1.0, min=-3, max=3, step=0.05, description="h₂"),
    u=FloatSlider(2.0, min=-3, max=3, step=0.05, description="noisy, 1"),
    v=FloatSlider(0.2, min=-3, max=3, step=0.05, description="noisy, 2"),
)

# %% [markdown] covers="wu:2.14.4 explainers:3.1.4.3"
# The lecture notes hope for three kinds of "error correction". Noise *along* $h$ is removed. Noise *across* $h$ is not: a positive number
# changes no angle. And the third, "a bounded derivative"? Write the matrix and look.
#
# (What does RMS norm save? Layer norm adds up, subtracts, squares, adds up, divides: $5d$ operations on $d$ numbers. RMS
# norm squares, adds up, divides: $3d$. Beside a matrix product, $2d^2$, that is little, but it comes for nothing: the
# results are about equal.)


# %% exercise="rmsnorm_jacobian" points=2 difficulty=1 covers="wu:2.14.4"
def rmsnorm_jacobian(h, eps):
    """Matrix of derivatives dy_i / dh_j of y = h / sqrt(mean(h²) + eps).

    h (d,), eps >= 0, not both 0. Returns (d, d).
    h = [3, 4], eps = 0 gives [[0.1810, -0.1358], [-0.1358, 0.1018]].
    """
    ### BEGIN SOLUTION
    r = np.sqrt(np.mean(h**2) + eps)
    return (np.eye(len(h)) - np.outer(h, h) / (len(h) * r**2)) / r
    ### END SOLUTION


# %% check="rmsnorm_jacobian"
check(rmsnorm_jacobian)

# %% covers="wu:2.14.4 wu:2.14.6"
# The norm of your matrix as h shrinks; and your Norm's way back.
with after(rmsnorm_jacobian, Norm):
    h = np.random.default_rng(12).normal(size=16)
    u, d = h / np.linalg.norm(h), 16
    for name, eps in (("0", 0.0), ("10⁻⁵", 1e-5)):
        sizes = [
            np.linalg.norm(rmsnorm_jacobian(c * h, eps), 2) for c in (1, 1e-2, 1e-4)
        ]
        claim("ε = {eps}: norm {n[0]:.1f} at h, {n[1]:.0f} at h/100, "
              "{n[2]:,.0f} at h/10,000",
              (sizes[2] > 99 * sizes[1]) == (eps == 0), eps=name, n=sizes)  # fmt: skip
    J = rmsnorm_jacobian(h, 0.0)
    closed = np.sqrt(d) / np.linalg.norm(h) * (np.eye(d) - np.outer(u, u))
    claim("ε = 0: √d/‖h‖ times the projection across h", np.allclose(J, closed))
    norm, g = Norm("RMS", d, eps=0.3), np.random.default_rng(3).normal(size=d)
    norm.forward(h[None], True)
    same = np.allclose(norm.backward(g[None])[0], rmsnorm_jacobian(h, 0.3) @ g)
    claim("your Norm goes back through the same matrix", same)

# %% [markdown] covers="wu:2.14.5 wu:2.14.3"
# **Cosines.** The *cosine similarity* of two vectors is $\mathrm{sim}(u, v) = \frac{u^\top v}{\lVert u\rVert\,\lVert
# v\rVert} \in [-1, 1]$. Two vectors of length $\sqrt d$ have the inner product $d\cos\theta$: after RMS norm it is the
# cosine, times $d$. Does ignoring the length help? Each of 400 digits takes the label of its neighbour among 1000,
# first in the light of the scan, then with each of the 1000 made darker or brighter.

# %% covers="wu:2.14.5 wu:2.14.3"
# Nearest neighbours by inner product and cosine, in two lights.
pixels, labels = nn.raw_digits()
known, new = pixels[:1000], pixels[1000:1400]
light = np.random.default_rng(13).uniform(0.2, 1.5, (1000, 1))
for name, scale in (("as scanned", np.ones((1000, 1))), ("in other light", light)):
    scores = {"inner product": new @ (scale * known).T,
              "cosine": nn.rms(new) @ nn.rms(scale * known).T / 64}  # fmt: skip
    right = {
        how: np.mean(labels[s.argmax(1)] == labels[1000:1400])
        for how, s in scores.items()
    }
    inner, cosine = right.values()
    claim("{name}: by cosine {cosine:.2f} are right, by inner product {inner:.2f}",
          cosine > inner, name=name, cosine=cosine, inner=inner)  # fmt: skip

# %% [markdown] covers="wu:2.14.3 explainers:3.1.4"
# ## Deeper: the landscape under a norm
#
# Six ReLU layers on 300 digits. Upward: all hidden weights times one number. To the right: they turn from one random
# start to another. A loss that ignores the scale of $W$ has
#
# $$L(\alpha W) = L(W) \;\Rightarrow\; \langle W, \nabla L(W)\rangle = 0, \qquad \nabla L(\alpha W) = \tfrac1\alpha \nabla
# L(W)$$
#
# (differentiate by $\alpha$ at 1, and by $W$). So the landscape is not simply smoother. It is flat along the scale, and
# steeper the shorter $W$ is: a step $\eta$ turns $W$ by an angle that shrinks like $\eta/\lVert W\rVert^2$. And a step at
# a right angle to $W$ makes it longer, so a rate that is too large tames itself.

# %% covers="wu:2.14.3 explainers:3.1.4"
# Loss over scale and direction; then the two equations.
show(*nn.draw_landscapes(), digits=1)
(flat, one), (_, half) = nn.scale_and_slope().values()
claim("∇L is at a right angle to W", abs(flat) < 1e-3)
claim(
    "‖∇L‖ is {one:.2f} at W, {half:.2f} at W/2",
    abs(half / one - 2) < 0.01, one=one, half=half,
)  # fmt: skip

# %% [markdown] covers="cs480:9-bn explainers:3.1.4 wu:2.14.6"
# ## Deeper: a norm for the signal is none for the gradient
#
# The picture of section 1 with one more control. Play batch norm through fifty layers at any scale: the signal is
# perfect. What about the gradient? Do layer and RMS norm do the same? Does batch norm without the ReLU (linear)?

# %% covers="cs480:9-bn explainers:3.1.4 wu:2.14.6"
# Play the layers under each norm.
explore(
    nn.draw_signals,
    drag={"factor": "factor"},
    play="layers",
    norm=Dropdown(options=nn.NORMS, value="batch", description="norm"),
    act=Dropdown(options=list(nn.ACTS), description="activation"),
    factor=FloatSlider(1.0, min=1, max=5, step=0.05, description="weights ×"),
    layers=IntSlider(30, min=0, max=50, description="layers"),
)

# %% [markdown] covers="cs480:9-bn explainers:3.1.4"
# Under batch norm with ReLU the gradient's mean square grows by $\frac{1/2}{0.341} = \frac{\pi}{\pi-1} \approx 1.47$ a
# layer (Yang and others, 2019). It is the careful reader's factor again, and the ledger explains it. Batch norm divides
# by the variance *over the batch*; for one unit, with fixed weights, that is $n v \cdot 0.341$. On the way back the matrix
# gives $nv$, the ReLU $\frac12$, the norm $1/(nv\cdot 0.341)$. RMS and layer norm divide by the second moment along a row,
# $nv\cdot\frac12$, and the factors cancel.
#
# So very deep plain networks with batch norm start with exploding gradients. Skip connections cure that.

# %% covers="cs480:9-bn explainers:3.1.4"
# By what is the gradient multiplied, layer by layer?
rates = nn.gradient_rates()
batch, law = rates.pop("batch"), np.pi / (np.pi - 1)
claim("batch norm: × {batch:.2f} a layer, near π/(π − 1) = {law:.2f}",
      abs(batch - law) < 0.06, batch=batch, law=law)  # fmt: skip
for kind, rate in rates.items():
    claim("{kind}: × {rate:.2f}, near 1", abs(rate - 1) < 0.1, kind=kind, rate=rate)

# %% [markdown] covers="wu:2.7.6 explainers:3.1.4 cs480:9-bn wu:2.14.6"
# ## Deeper: which learning rates work?
#
# Six ReLU layers, five scales of the start, six learning rates, forty steps: thirty networks a panel, side by side.
# Without a norm the usable rate depends on the start. With a norm the scale matters less; what is left of it is the
# $\frac1\alpha$ above: larger weights want larger rates. Momentum and adaptive methods inherit the problem: they rescale a
# gradient, and cannot revive one that is 0. Where several solutions fit, the start also picks one: an *implicit
# regularisation*.
#
# Why do norms help? The first story was *internal covariate shift*: inputs of a layer keep moving while the layers below
# learn. Santurkar and others (2018) put moving noise *behind* batch norm, and training stayed fast. A complete theory
# does not exist.

# %% covers="wu:2.7.6 cs480:9-bn wu:2.14.6"
# Loss after forty steps, by start and learning rate.
X, y = nn.first_digits()
scales, etas = (0.3, 0.6, 1, 1.5, 2.5), (0.01, 0.03, 0.1, 0.3, 1, 3)
kinds = ("none", "batch", "RMS")
final = {kind: nn.train_stack(X, y, scales, etas, kind)[0][-1] for kind in kinds}
show(*nn.draw_rates(scales, etas, final), digits=0)
learn = {kind: np.sum(loss < 1) for kind, loss in final.items()}
more = min(learn["batch"], learn["RMS"]) > 1.5 * learn["none"]
claim("with a norm at least one and a half times as many pairs learn", more)

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails,
# the right one holds, and a wrong one of the same shape fails too. *Too broad*: a condition is missing.

# %% demo=true covers="wu:2.7.2 wu:2.7.3 wu:2.7.6"
# wu, section 2.7: a compromise, a variance, a start at zero.
rng = np.random.default_rng(3)
h, delta = rng.normal(size=(200, 784)), rng.normal(size=(200, 256))
W = rng.normal(0, np.sqrt(2 / 1040), (784, 256))
forward, back = np.mean((h @ W) ** 2), np.mean((delta @ W.T) ** 2)
erratum(
    "wu:2.7.2",
    quote="Factor 2 maintains variance through linear transformation",
    corrected=(
        r"for $n_{in} = n_{out}$; else signal × $\frac{2n_{in}}{n_{in}+n_{out}}$ and "
        r"gradient × $\frac{2n_{out}}{n_{in}+n_{out}}$"
    ),
    kind="broad",
    printed_holds=abs(forward - 1) < 0.05,
    corrected_holds=abs(forward * 1040 / 1568 - 1) < 0.05
    and abs(back * 1040 / 512 - 1) < 0.05,
)
h = 2 + rng.normal(size=200)
s = rng.normal(0, 0.1, (20_000, 200)) @ h
erratum(
    "wu:2.7.3",
    quote=(
        r"\operatorname{Var}[Wx_j] = n_{\mathrm{in}} \operatorname{Var}[W_{ij}] "
        r"\operatorname{Var}[x_j]"
    ),
    corrected=(
        r"$\mathrm{Var}[(Wx)_i] = n_{in}\mathrm{Var}[W_{ij}]\,\mathbb E[x_j^2]$ for "
        r"independent weights of mean 0; the printed form needs inputs of mean 0"
    ),
    kind="broad",
    printed_holds=abs(s.var() / (2 * np.var(h)) - 1) < 0.05,
    corrected_holds=abs(s.var() / (2 * np.mean(h**2)) - 1) < 0.05,
)
x = rng.normal(size=1_000_000)
kept, spread = np.mean(np.maximum(x, 0) ** 2), np.var(np.maximum(x, 0))
erratum(
    "wu:2.7.3",
    quote=(
        r"\operatorname{Var}[\sigma(x)] = \frac{1}{2} \operatorname{Var}[x] \quad "
        r"\text{(for zero-mean input)}"
    ),
    corrected=(
        r"$\mathbb E[\mathrm{relu}(x)^2] = \frac12\mathbb E[x^2]$; the variance is "
        r"$(\frac12 - \frac1{2\pi})\mathrm{Var}[x]$ for normal $x$"
    ),
    printed_holds=abs(spread - 0.5) < 0.01,
    corrected_holds=abs(kept - 0.5) < 0.01 and abs(spread - 0.5 + 0.5 / np.pi) < 0.01,
    decoy_holds=abs(spread - 0.25) < 0.01,  # half of the half
)
erratum(
    "wu:2.7.6",
    quote="SGD with zero initialization has special properties",
    corrected=(
        "so it has for models linear in their weights; a network with zero weights "
        "does not train"
    ),
    kind="convention",
)

# %% demo=true covers="wu:2.14.1 wu:2.14.3 wu:2.14.4"
# wu, section 2.14: a sign, a factor d, a bound, a heading.
h1, h2 = np.array([1, 2, -1, 0.5]), np.array([3.0, 1, 0, 2])
erratum(
    "wu:2.14.1",
    quote=(
        r"Scale-invariant: $\operatorname{RMSNorm}(\alpha h) = "
        r"\operatorname{RMSNorm}(h)$ for $\alpha \neq 0$"
    ),
    corrected=(
        r"for $\alpha > 0$; in general $\mathrm{sign}(\alpha)\,\mathrm{RMSNorm}(h)$"
    ),
    printed_holds=np.allclose(nn.rms(-2 * h1), nn.rms(h1)),
    corrected_holds=np.allclose(nn.rms(-2 * h1), -nn.rms(h1))
    and np.allclose(nn.rms(2 * h1), nn.rms(h1)),
    decoy_holds=np.allclose(nn.rms(2 * h1), 2 * nn.rms(h1)),
)
cosine = h1 @ h2 / np.linalg.norm(h1) / np.linalg.norm(h2)
inner = nn.rms(h1) @ nn.rms(h2)
erratum(
    "wu:2.14.3",
    quote=r"(\text{RMSNorm}(h_1), \text{RMSNorm}(h_2)) = \cos(\theta_{12})",
    corrected=r"$= d\cos\theta_{12}$: both vectors have length $\sqrt d$",
    printed_holds=np.isclose(inner, cosine),
    corrected_holds=np.isclose(inner, 4 * cosine),
    decoy_holds=np.isclose(inner, 2 * cosine),  # √d in place of d
)
nudge = np.array([0, 0, 0, 1e-9])
stretch = np.array(
    [
        np.linalg.norm(nn.rms(c * h1 + nudge) - nn.rms(c * h1)) / 1e-9
        for c in (1, 1e-2, 1e-4)
    ]
)
erratum(
    "wu:2.14.4",
    quote=r"$$\frac{\partial}{\partial h}$$ RMSNorm(h) is bounded",
    corrected=(
        r"its norm is $\sqrt d/\lVert h\rVert$ for $d \ge 2$: unbounded near 0; "
        r"bounded for $\lVert h\rVert \ge c$, or with $\varepsilon$ in the root"
    ),
    printed_holds=max(stretch) < 10 * stretch[0],
    corrected_holds=np.allclose(stretch / stretch[0], [1, 1e2, 1e4], rtol=1e-3),
    decoy_holds=np.allclose(stretch / stretch[0], [1, 10, 100], rtol=0.1),
)
erratum(
    "wu:2.14.4",
    quote=r"Directional Recovery: … \operatorname{RMSNorm}(h + \epsilon_{\perp})",
    corrected=r"the formula holds, but no direction is recovered: the angle "
    r"$\arctan(\lVert\epsilon_\perp\rVert/\lVert h\rVert)$ stays",
    kind="convention",
)

# %% demo=true covers="explainers:3.1.4.1 guo:III.9.a"
# explainers, section 3.1.4.1, and guo, section III.9.
erratum(
    "explainers:3.1.4.1",
    quote=(
        "batch normalisation is the act of normalising the post-activation values of "
        "some layer"
    ),
    corrected="it was proposed for pre-activations; both places are in use",
    kind="convention",
)
erratum(
    "explainers:3.1.4.1",
    quote="At this point, the columns have mean 0 and variance 1.",
    corrected=(
        r"variance $\sigma^2/(\sigma^2 + \varepsilon)$, near 1 only where $\sigma^2 "
        r"\gg \varepsilon$"
    ),
    kind="convention",
)
erratum(
    "guo:III.9.a",
    quote=r"\widetilde{a}_{n,d} = \beta_\alpha + \gamma_\alpha",
    corrected=r"$\beta_d + \gamma_d\,\dots$: gain and shift belong to the feature $d$",
    kind="convention",
)

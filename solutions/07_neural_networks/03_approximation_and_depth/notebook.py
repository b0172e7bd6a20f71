# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="networks without training: steps, broken lines and folds that come as near to a curve as you like, and the loop that trains them" covers="wu:2.2"
# # Universal approximation and depth
#
# A small chip cannot multiply. It has ReLU units and nothing else. Make it square: a network whose output is within a
# millionth of $x^2$, for every $x$ from 0 to 1.
#
# - Anna puts all units into one hidden layer. She takes 500, and shows that there nobody
#   gets along with fewer than 353.
# - Ben needs 27, in nine layers of three. He writes their weights down in a minute, without data.
# - Carla takes nine layers of three as well, starts from random weights, and trains. The best of her four runs is off by
#   more than a hundredth.
#
# *How does Ben do it, and why does Carla not find it?* At the end you have built all three.

# %%
# What this notebook needs.
import math

import numpy as np
import torch
from ipywidgets import Checkbox, Dropdown, FloatLogSlider, FloatSlider
from ipywidgets import IntSlider, SelectionSlider
from sklearn.linear_model import LogisticRegression

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
from descent.pictures.neural_networks import approximation_and_depth as ad

start("07_neural_networks/03_approximation_and_depth")

# %% covers="wu:2.2 cs480:9-depth"
# The price of x² in hidden units.
show(*ad.draw_price())

# %% [markdown] covers="cs480:rem9.2 explainers:4.6.Q2"
# ## 1. Nine layers without a bend
#
# Do layers alone help? Layer $l$ computes $W_l\,x + b_l$. Put a second one on top:
#
# $$W_2(W_1 x + b_1) + b_2 = (W_2 W_1)\,x + (W_2 b_1 + b_2).$$
#
# Again one matrix and one vector, an *affine* map. So a hundred layers collapse into one. Write the collapse, for any
# number of layers.


# %% exercise="collapse" points=2 difficulty=1 covers="cs480:rem9.2 explainers:4.6.Q2"
def collapse(Ws, bs):
    """The affine map W x + b that a stack of affine layers computes.

    Ws: list of K >= 1 matrices, Ws[l] (n_l, n_(l-1)), applied in this order.
    bs: list of K vectors, bs[l] (n_l,). Returns W (n_K, n_0) and b (n_K,).
    Ws = [[[1, 2]], [[3]]], bs = [[1], [-1]] gives W = [[3, 6]], b = [2].
    """
    ### BEGIN SOLUTION
    W, b = Ws[0], bs[0]
    for V, c in zip(Ws[1:], bs[1:]):
        W = V @ W
        b = V @ b + c
    return W, b
    ### END SOLUTION


# %% check="collapse"
check(collapse)

# %% covers="cs480:rem9.2 explainers:4.6.Q2"
# Five layers against your one; a ReLU between; affine for XOR.
with after(collapse):
    layers = ad.random_layers([2, 6, 5, 6, 4, 1], seed=0)
    x = np.random.default_rng(1).normal(size=(200, 2))
    W, b = map(np.array, collapse([W for W, _ in layers], [b for _, b in layers]))
    straight = ad.forward(layers, x, phi=lambda z: z)
    claim("five layers are your one, at 200 points", np.allclose(straight, x @ W.T + b))

    def misfit(x, y):
        A = np.column_stack([x, np.ones(len(x))])
        return np.abs(A @ np.linalg.lstsq(A, y, rcond=None)[0] - y)

    bent = misfit(x, ad.forward(layers, x)).max()
    claim("with ReLUs between, every affine map misses somewhere", bent > 0.1)
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    off = misfit(corners, np.array([0, 1, 1, 0]))
    claim("the affine map nearest to XOR is off by ½ everywhere", np.allclose(off, 0.5))

# %% [markdown] covers="explainers:4.1.1 explainers:4.1.1.step2"
# ## 2. Any curve, by steps
#
# So bend. What can *one* hidden layer draw? Anything continuous, as Cybenko and Hornik proved about 1990. Let the set $S$
# be **compact**: closed and bounded. For every continuous $f$ on $S$ and every $\varepsilon > 0$ there is a network
# $\hat f$ with one hidden layer of sigmoids and
#
# $$\max_{x\in S}|f(x) - \hat f(x)| < \varepsilon .$$
#
# This is **universal approximation**: the networks are dense in $C(S)$, the continuous functions on $S$, as
# Weierstrass' polynomials are on an interval (1885). Several outputs: one at a time.
#
# You can run a proof. A steep sigmoid $\sigma(\kappa(x - s))$ is a step: about 0 left of $s$, about 1 right of it. So cut
# $[a, b]$ into $N$ equal cells and keep one value a cell, $f$ in its middle.

# %% [markdown] covers="explainers:4.1.1.step2"
# How many cells? A continuous $f$ on $[a, b]$ is *uniformly* continuous: for $\varepsilon$ there is one $\delta$
# that serves everywhere,
#
# $$|x - y| < \delta \;\Rightarrow\; |f(x) - f(y)| < \varepsilon .$$
#
# With a **Lipschitz constant** $L$, so that $|f(x) - f(y)| \le L|x - y|$ always, $\delta = \varepsilon/L$ will do. That
# makes $N \approx L(b - a)/\varepsilon$. Let the output bias hold the first value. Then a unit at each inner edge adds
# what changes there.


# %% exercise="staircase_net" points=3 difficulty=1 covers="explainers:4.1.1.step2 explainers:4.1.1"
def staircase_net(f, a, b, L, eps):
    """A hidden layer of sigmoids that is a staircase close to f on [a, b].

    f: function of an array, with Lipschitz constant L >= 0. a < b, eps > 0.
    N: the least number of equal cells, at least 1, whose width w has L w <= eps.
    Returns W1 (k,), b1 (k,), W2 (k,) with k <= 2 N, and b2, a number: the output
    sum_j W2[j] * sigmoid(W1[j] * x + b1[j]) + b2 must be f(middle of the cell), within
    1e-4, on each cell except within 0.05 w of its edges. |f| is at most 2.
    f(x) = x, a = 0, b = 2, L = 1, eps = 1: N = 2, W1 = [1000], b1 = [-1000], W2 = [1],
    b2 = 0.5.
    """
    ### BEGIN SOLUTION
    N = max(1, math.ceil(L * (b - a) / eps))
    w = (b - a) / N
    heights = f(a + w * (np.arange(N) + 0.5))
    edges = a + w * np.arange(1, N)
    W1 = np.full(N - 1, 1000 / w)
    return W1, -W1 * edges, np.diff(heights), heights[0]
    ### END SOLUTION


# %% check="staircase_net"
check(staircase_net)

# %% predict="double" minutes=1 covers="cs480:thm9.4"
predict(
    "double",
    "Twice as many steps, half the error. Now join points of a smooth curve by "
    "straight lines instead. Twice as many pieces: what becomes of the largest error?",
    ["About ½ of it", "About ¼ of it", "About ⅛ of it"],
    truth=round(math.log2(ad.chord_error(40) / ad.chord_error(80))) - 1,
    because="A line has the right slope as well as the right height. It misses the "
    "curve only by its bend, and that miss grows like the square of a piece's width.",
)

# %% [markdown] covers="cs480:thm9.4"
# ## 3. The same with ReLU
#
# The lecture notes have the theorem for ReLU: for continuous $f:\mathbb R^d\to\mathbb R^c$ and $\varepsilon > 0$ there are
# $k$, $W\in\mathbb R^{k\times d}$, $b\in\mathbb R^k$, $U\in\mathbb R^{c\times k}$ such that
#
# $$\sup_x\,\lVert f(x) - U\max(0, Wx + b)\rVert_2 < \varepsilon .$$
#
# For one input and one output you can write them down. A unit $\max(0, x - s)$ is silent left of $s$ and adds slope 1
# right of it. So a broken line is a sum of *changes of slope*. There is no output bias; which unit is the constant 1?


# %% exercise="relu_interpolant" points=3 difficulty=1 covers="cs480:thm9.4"
def relu_interpolant(xs, ys):
    """A ReLU layer that joins points by straight lines.

    xs (n,) strictly increasing, ys (n,), n >= 2. Returns W (k,), b (k,), U (k,) with
    k <= n + 1 such that sum_j U[j] * max(0, W[j] * x + b[j]) is the broken line through
    (xs[i], ys[i]) for xs[0] <= x <= xs[-1]. Outside, anything goes.
    xs = [0, 1, 3], ys = [1, 2, 0] could give W = [0, 1, 1], b = [1, 0, -1],
    U = [1, 1, -2]: the constant 1, slope 1 from 0 on, slope 1 - 2 = -1 from 1 on.
    """
    ### BEGIN SOLUTION
    slopes = np.diff(ys) / np.diff(xs)
    W = np.append(0.0, np.ones(len(slopes)))
    b = np.append(1.0, -xs[:-1])
    U = np.concatenate([[ys[0], slopes[0]], np.diff(slopes)])
    return W, b, U
    ### END SOLUTION


# %% check="relu_interpolant"
check(relu_interpolant)

# %% [markdown] covers="cs480:thm9.4 explainers:4.1.1"
# **Two ways to one ε.** (The staircase keeps even half of it: no point of a cell is farther than $w/2$ from its middle.)
# Drag the handle along ε.
#
# 1. From 0.5 to 0.05: by how much do the two prices grow?
# 2. Where does tanh $6x$ waste its steps, and where its knots?
# 3. Look outside the shaded interval. Does a smaller ε help there?

# %% covers="cs480:thm9.4 explainers:4.1.1.step2 explainers:4.1.1"
# Your staircase of the sine. Then drag ε: what two networks cost.
with after(staircase_net, relu_interpolant):
    x = np.linspace(0, 2 * np.pi, 50_001)
    for eps in (0.5, 0.1, 0.05):
        net = staircase_net(np.sin, 0, 2 * np.pi, 1.0, eps)
        e = ad.sup_error(np.sin, lambda x, net=net: ad.sigmoid_net(x, *net), x)
        text = "sine, ε = {eps}: {n} cells, off by {e:.4f}"
        claim(text, e < 0.51 * eps, eps=eps, e=e, n=math.ceil(2 * np.pi / eps))
    explore(
        ad.compare_explorer(staircase_net, relu_interpolant),
        drag={"eps": "eps"},
        target=Dropdown(options=list(ad.TARGETS), description="f"),
        eps=FloatLogSlider(0.3, min=-2, max=-0.3, step=0.05, description="ε"),
    )

# %% [markdown] covers="cs480:thm9.4"
# **The rate, and Anna's proof.** On a piece of width $h$ the line is off by at most $\max|f''|\,h^2/8$, so $k$ equal pieces
# of $x^2$ are off by exactly $1/(4k^2)$. Could other knots, or lines that do not touch the curve, save her? On a piece of
# width $h$ *any* line misses $x^2$ by at least $h^2/8$ somewhere. A layer of $k$ units has at most $k + 1$ pieces, so one
# is at least $1/(k+1)$ wide. Hence $1/(8(k+1)^2) < 10^{-6}$, and that asks for 353 units.
#
# **The missing word.** With one input, every ReLU network is straight right of its last kink. On all of $\mathbb R$ it loses
# $x^2$, and $\sin x$ too. So the theorem, as printed above, is false: the supremum must range over a *compact* set.

# %% covers="cs480:thm9.4"
# The rate for x², the fewest units; and two networks far away.
with after(relu_interpolant, "double"):
    x = np.linspace(0, 1, 40_001)
    nets = {k: relu_interpolant(np.arange(k + 1) / k, (np.arange(k + 1) / k) ** 2)
            for k in (5, 50, 500)}  # fmt: skip
    for k, net in nets.items():
        e = ad.sup_error(np.square, lambda x, net=net: ad.relu_net(x, *net), x)
        exact = np.isclose(e, 1 / (4 * k * k), 1e-3)
        claim("{k} pieces: off by {e:.0e} = 1/(4k²)", exact, k=k, e=e)
    h, z = 0.02, x[:801]  # the chord's slope, all heights
    best = min(np.abs(z**2 - h * z - c).max() for c in np.linspace(-h * h, 0, 2001))
    least = np.isclose(best, h * h / 8)
    claim("on a piece of width h the best line misses x² by h²/8", least)
    fewest = next(k for k in range(1, 999) if 1 / (8 * (k + 1) ** 2) < 1e-6)
    claim("a millionth asks for {k} units in one layer", fewest == 353, k=fewest)
    far, knots = np.linspace(-100, 100, 4001), np.linspace(-1, 1, 65)
    for name, f in (("x²", np.square), ("sin x", np.sin)):
        net = relu_interpolant(knots, f(knots))
        near, out = (
            ad.sup_error(f, lambda x, net=net: ad.relu_net(x, *net), points)
            for points in (np.linspace(-1, 1, 4001), far)
        )
        text = "{name}: off by {near} on [−1, 1], by {out:,.0f} on [−100, 100]"
        lost = near < 1e-3 and out > 1
        claim(text, lost, name=name, near="less than 0.001", out=out)

# %% [markdown] covers="cs480:9-depth"
# ## 4. Fold, and fold again
#
# Now Ben. Stack layers, and a unit of the second layer sees what the first one made. The **tent**
#
# $$T(x) = 2\max(0, x) - 4\max(0, x - \tfrac12)$$
#
# runs from 0 up to 1, and back to 0 at $x = 1$. It *folds* the interval in two: what comes next passes through $[0, 1]$
# twice, once forward, once backward.

# %% predict="tents" minutes=1 covers="cs480:9-depth"
predict(
    "tents",
    "T has one peak on [0, 1], and two straight pieces, from two units. How many "
    "pieces does T(T(T(T(T(x))))) have, from ten?",
    ["10", "11", "25", "32"],
    truth=[10, 11, 25, 32].index(ad.count_pieces(ad.tents(np.arange(65) / 64, 5))),
    because="Each fold doubles: 2, 4, 8, 16, 32. Ten units side by side have eleven "
    "pieces at most.",
)

# %% [markdown] covers="cs480:9-depth"
# $T^n$, $T$ applied $n$ times, has $2^n$ pieces and $2^{n-1}$ peaks. What has that to do with squares? Join points of
# $x^2$ at distance $2^{-n}$ by lines. Each halving of the distance lowers the line by small, equal tents:
#
# $$x^2 \approx x - \sum_{k=1}^n \frac{T^k(x)}{4^k}, \qquad \text{error exactly } 4^{-(n+1)} .$$
#
# So three units a layer will do. Two carry the tent, $\max(0, t)$ and $\max(0, t - \frac12)$ for the $t$ that arrives.
# The third carries the sum so far; it is never negative, so its ReLU does nothing.
#
# No unit is $T(t)$ itself: the matrix of the *next* layer puts it together. There both tent units have the row
# $(2, -4, 0)$, with different biases. Which row makes the new sum out of the old one and $T(t)$?


# %% exercise="square_net" points=4 difficulty=1 covers="cs480:9-depth"
def square_net(n):
    """A deep ReLU network that is x - sum_k T^k(x) / 4^k, k = 1, ..., n, on [0, 1].

    n >= 1. Returns a list of layers (W, b), W (units, inputs), b (units,): ReLU after
    each layer but the last; one input, one output; n hidden layers at most, of three
    units at most.
    n = 1 could be [([[1], [1], [1]], [0, -0.5, 0]), ([[-0.5, 1, 1]], [0])].
    """
    ### BEGIN SOLUTION
    layers, W = [], np.ones((3, 1))
    for k in range(1, n + 1):
        layers.append((W, np.array([0.0, -0.5, 0.0])))
        tent = np.array([2.0, -4.0, 0.0])
        total = np.array([0.0, 0.0, 1.0]) - tent / 4**k
        W = np.array([tent, tent, total])
    layers.append((W[2:], np.zeros(1)))
    return layers
    ### END SOLUTION


# %% check="square_net"
check(square_net)

# %% covers="cs480:9-depth"
# Pieces and errors of your networks. Drag x, play the layers.
with after(square_net, "tents"):
    x, pieces, sizes = np.linspace(0, 1, 2**12 + 1), [], []
    for n in range(1, 9):
        y = ad.forward(square_net(n), x[:, None])[:, 0]
        pieces.append(ad.count_pieces(y) == 2**n)
        pieces.append(np.isclose(np.abs(y - x**2).max(), 4.0 ** -(n + 1)))
        sizes.append(sum(np.size(part) for layer in square_net(n) for part in layer))
    claim("n layers: 2ⁿ pieces, error 4⁻⁽ⁿ⁺¹⁾, for n = 1, …, 8", all(pieces))
    claim("each layer costs {p} weights and biases more",
          len(set(np.diff(sizes))) == 1, p=sizes[-1] - sizes[-2])  # fmt: skip
    rng, few = np.random.default_rng(0), []
    for w in rng.integers(1, 12, 300):
        kinks = rng.choice(x[1:-1:32], w)
        side = rng.choice([-1, 1], w)
        y = np.maximum(0, np.subtract.outer(x, kinks) * side) @ rng.normal(size=w)
        few.append(ad.count_pieces(y) <= w + 1)
    claim("one layer of w units: at most w + 1 pieces, 300 times", all(few))
    explore(
        ad.fold_explorer(square_net),
        drag={"x": "fold"},
        play="n",
        x=FloatSlider(0.3, min=0, max=1, step=0.01, description="x"),
        n=IntSlider(2, min=1, max=9, description="layers"),
    )

# %% [markdown] covers="cs480:9-depth"
# Each layer divides the error by 4; Anna pays for that with twice the units. And $T^n$ itself: whoever stays within less
# than ½ of it has to cross the height ½ at least $2^n$ times, which takes one layer $2^n - 1$ units. That is a **depth
# separation** (Telgarsky 2016). From squares come products, $xy = \frac12\big((x+y)^2 - x^2 - y^2\big)$, so polynomials.
#
# The lecture notes say that in the worst case one hidden layer needs $\exp(1/\varepsilon)$ units, and two only
# $\mathrm{poly}(1/\varepsilon)$. Take this as a slogan: it leaves out the number of inputs. Proven gaps between one and two
# hidden layers grow exponentially with *that* (Eldan and Shamir 2016).

# %% [markdown] covers="wu:2.2 explainers:4.1.1.box-practical"
# ## 5. Will training find it?
#
# A theorem says that good weights *exist*. So ask a training loop. You know backpropagation from [[07/02]]; from here on
# torch does it: numbers made by `torch.tensor(…, requires_grad=True)` remember what they go through, `loss.backward()`
# puts the slopes into their `.grad`, and `torch.optim.Adam(params, lr=rate)`, which gets them in a list, makes a step of
# [[03/02|Adam]] at every `.step()`. Before each `backward` the old slopes must go: `.zero_grad()`.
# `loss.item()` is a number, and `p.detach().numpy()` an array again.
#
# Write the loop that trains any network of layers.


# %% exercise="train_net" points=6 difficulty=1 covers="wu:2.2 explainers:4.1.1 explainers:4.1.1.box-practical"
def train_net(layers, X, Y, rate, steps, phi=torch.relu):
    """Train a network with Adam; the loss is the mean of all squared errors.

    layers: list of (W, b) as arrays, W (units, inputs), b (units,); phi, a function of
    tensors, after each layer but the last. X (N, inputs), Y (N, outputs). All arrays,
    yours too, are float64; those given stay unchanged. Every step uses all rows; only
    the learning rate of Adam is not torch's default.
    Returns the trained layers, a list of pairs of arrays, and a list of the losses
    before each step.
    layers = [([[2.0]], [0.0])], X = Y = [[1.0]], rate 0.1, one step: W = [[1.9]],
    b = [-0.1], losses [1.0].
    """
    ### BEGIN SOLUTION
    params = [
        torch.tensor(part, requires_grad=True) for pair in layers for part in pair
    ]
    adam = torch.optim.Adam(params, lr=rate)
    X, Y = torch.tensor(X), torch.tensor(Y)
    losses = []
    for _ in range(steps):
        h = X @ params[0].T + params[1]
        for l in range(2, len(params), 2):
            h = phi(h)
            h = h @ params[l].T + params[l + 1]
        loss = ((h - Y) ** 2).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    trained = [part.detach().numpy() for part in params]
    return list(zip(trained[::2], trained[1::2])), losses
    ### END SOLUTION


# %% check="train_net"
check(train_net)

# %% covers="wu:2.2 explainers:4.1.1.box-practical explainers:4.1.1 cs480:thm9.4"
# tanh 6x: knots that are equal or learn; and a start from zero.
with after(relu_interpolant, train_net):
    f, widths = ad.TARGETS["tanh 6x"][0], (4, 8, 16)
    x = np.linspace(-1, 1, 129)[:, None]
    built, moved, random = [], [], []
    for k in widths:
        knots = np.linspace(-1, 1, k + 1)
        built.append(ad.line_layers(*relu_interpolant(knots, f(knots))))
        moved.append(train_net(built[-1], x, f(x), 0.01, 500)[0])
        starts = [ad.random_line(k, seed) for seed in (0, 1)]
        random.append([train_net(net, x, f(x), 0.01, 500)[0] for net in starts])
    gain = ad.line_error(f, built[0]) / ad.line_error(f, moved[0])
    claim("4 kinks that learn from a good start: less than half the error", gain > 2)
    show(*ad.draw_learned(f, widths, built, moved, random), digits=0)
    zero = [(np.zeros((8, 1)), np.zeros(8)), (np.zeros((1, 8)), np.zeros(1))]
    still = train_net(zero, x, f(x) + 0.5, 0.01, 50)[0]
    moves = [bool(part.any()) for pair in still for part in pair]
    claim("from all zeros only the output bias moves", moves == [False] * 3 + [True])

# %% [markdown] covers="wu:2.2 explainers:4.1.1.box-practical"
# "A small architecture approximates complex functions", says one of the notes. Keep three claims apart. **Expressing**: some
# width is enough. **Rate**: for a smooth $f$ of one input the error falls like $k^{-2}$; knots that learn improve the
# constant. **Learning**: from random weights descent often stops well above what the width allows.
#
# ## 6. The answer
#
# Anna's 500, Ben's 27, Carla's 27, all from your own code. Two more: Ben's weights, each off by a random 1 %, then
# trained. And 27 units side by side, from random weights.

# %% covers="cs480:9-depth wu:2.2 explainers:4.1.1.box-practical"
# Five ways to a square.
with after(relu_interpolant, square_net, train_net):
    knots, x = np.arange(501) / 500, np.linspace(0, 1, 129)[:, None]

    def train(*starts):
        return [train_net(net, x, x**2, 0.01, 600)[0] for net in starts]

    deep = [ad.random_layers([1] + [3] * 9 + [1], seed) for seed in range(4)]
    wide = [ad.random_line(27, seed, low=0.0) for seed in range(3)]
    nets = {
        "Anna: 500 in one layer": [ad.line_layers(*relu_interpolant(knots, knots**2))],
        "Ben: nine layers of 3": [square_net(9)],
        "Ben's, 1 % off, trained": train(ad.shaken(square_net(9), 0.01, seed=1)),
        "Carla: nine layers of 3": train(*deep),
        "27 in one layer, trained": train(*wide),
    }
    errors = {way: [ad.line_error(np.square, net, a=0.0) for net in nets[way]]
              for way in nets}  # fmt: skip
    anna, ben, mended, carla, flat = map(min, errors.values())
    claim(
        "Anna is off by {a:.1e}, Ben by {b:.1e}",
        max(anna, ben) < 1.0001e-6,
        a=anna,
        b=ben,
    )
    claim("Carla's best is off by more than a hundredth", carla > 0.01)
    claim(
        "Ben's weights, 1 % off, then trained: off by more than 0.0001", mended > 1e-4
    )
    claim("27 units side by side come nearer than Carla's in layers", flat < carla)
    show(*ad.draw_answer(errors), digits=0)

# %% [markdown] covers="cs480:9-depth wu:2.2"
# So Ben folds nine times: 512 pieces, each where it belongs. That is a needle in a haystack. Change its weights by 1 %,
# and the later folds no longer meet; descent, which sees one small step ahead, does not find back. From random weights
# three units a layer mostly fold nothing, and where all three are 0 no gradient gets through.
#
# Then why are networks deep? Look at real ones: three networks of 4,000 to 4,400 parameters read digits, 8 × 8 pixels. Walk
# from one held-out digit straight to another, and count the pieces you cross.

# %% covers="cs480:9-depth"
# Pieces from digit to digit, before and after your training.
table = data.digits()
order = np.random.default_rng(0).permutation(len(table.y))
pixels, labels = (table.X / 16)[order], table.y[order]
with after(train_net):
    rows = []
    for widths in ([54], [40, 28], [32, 28, 24, 20]):
        first = ad.random_layers([64, *widths, 10], 0)
        last = train_net(first, pixels[:898], np.eye(10)[labels[:898]], 0.01, 150)[0]
        told = ad.forward(last, pixels[898:]).argmax(1)
        ends = pixels[898:928], pixels[928:958]
        rows.append(dict(
            name=f"{len(widths)} hidden:\n" + ", ".join(map(str, widths)),
            accuracy=np.mean(told == labels[898:]),
            pieces=[np.mean(ad.pieces_between(net, *ends)) for net in (first, last)],
            units=sum(widths),
        ))  # fmt: skip
    few = all(max(row["pieces"]) < row["units"] / 2 for row in rows)
    claim("fewer pieces than half of the units, however deep", few)
    claim("all three read over 85 %", min(row["accuracy"] for row in rows) > 0.85)
    show(*ad.draw_digit_nets(rows), digits=0)

# %% [markdown] covers="explainers:4.1.1 cs480:thm9.4 cs480:9-depth wu:2.2"
# ## Take-aways
#
# - Affine upon affine is affine. It is the bends that count.
# - **Universal approximation**: one hidden layer, a continuous target, a *compact* set, any ε: some width is enough. It
#   does not say which width, who finds the weights, or what happens outside.
# - Steps cost about $L(b-a)/\varepsilon$ units; straight pieces, for a smooth $f$ of one input, about
#   $\varepsilon^{-1/2}$; folds, for $x^2$, about $\log(1/\varepsilon)$.
# - What a network *can* express and what training *finds* are two things. Your trained networks have fewer
#   pieces on a line than units, deep or not; for random weights Hanin and Rolnick (2019) prove the like. Depth pays for
#   other reasons: features made of features.
#
# Next: [[next]]. Below: a printed proof that fails, walls in the plane, which bend to take, regions, and five questions.

# %% [markdown] covers="explainers:4.1.1.step1"
# ## Deeper: the proof as printed, on finitely many points
#
# Steps first have to do something easier: take given values $f(s)$ at the points $s = 1, \dots, n$. Switch each value on at
# $s$, and off at $s + 1$:
#
# $$f(x) = \sum_{s=1}^n f(s)\,\big(\mathbb 1(x\ge s) - \mathbb 1(x\ge s+1)\big).$$
#
# With sigmoids for the steps that is a hidden layer of $2n$ units. One of the notes takes steepness $10^n$, and puts the step
# of $s$ just before the point, at $s - 10^{-9}$. On paper that is fine.

# %% predict="printed" minutes=1 covers="explainers:4.1.1.step1"
predict(
    "printed",
    "Five points, f(s) = 2 + sin s, steepness 10⁵, steps a billionth before the "
    "points. How large is the largest error at the five points?",
    ["below 0.00001", "about 0.01", "about 0.1", "above 1"],
    truth=int(
        np.searchsorted(
            [1e-5, 0.03, 0.5],
            ad.points_error(
                ad.printed_step_net(ad.notes_values(5)), ad.notes_values(5)
            ),
        )
    ),
    because="At the point s the sigmoid's argument is 10⁵ · 10⁻⁹ = 10⁻⁴, and its value "
    "½. So half of f(s) is there, and half of f(s − 1) still is.",
)

# %% [markdown] covers="explainers:4.1.1.step1"
# At $x = s$ the argument is $10^{n-9}$, large only for $n \ge 10$. So put the steps *half-way* between the points. And a
# unit that is on stays on: one a point is enough, if its output weight is the jump $f(s) - f(s-1)$.


# %% exercise="step_net" points=2 difficulty=1 covers="explainers:4.1.1.step1"
def step_net(values):
    """A hidden layer of sigmoids that takes given values at the points 1, 2, …, n.

    values (n,), n >= 1, of size at most 10. Returns W1 (k,), b1 (k,), W2 (k,) with
    k <= 2 n such that sum_j W2[j] * sigmoid(W1[j] * x + b1[j]) is within 1e-6 of
    values[x - 1] at x = 1, …, n. No output bias. Any such network is right.
    values = [3.0] could give W1 = [40], b1 = [-20], W2 = [3]: 3 * sigmoid(20) at x = 1.
    """
    ### BEGIN SOLUTION
    n = len(values)
    steps = np.arange(1, n + 1) - 0.5
    jumps = np.diff(values, prepend=0)
    return np.full(n, 40.0), -40.0 * steps, jumps
    ### END SOLUTION


# %% check="step_net"
check(step_net)

# %% [markdown] covers="explainers:4.1.1.step1"
# **How steep?** With steepness $\kappa$, every sigmoid is off by at most $\sigma(-\kappa/2)$ at a point, so the output by
# at most $V\sigma(-\kappa/2)$, where $V = \sum_s|f(s) - f(s-1)|$ and $f(0) = 0$. That is below $\varepsilon$ once $\kappa >
# 2\log(V/\varepsilon - 1)$.

# %% covers="explainers:4.1.1.step1"
# Printed steps and yours; and the least steepness.
with after(step_net, "printed"):
    show(*ad.draw_printed_steps(step_net))
    for n, eps in ((5, 1e-2), (20, 1e-6), (1, 1e-3)):
        values = ad.notes_values(n)
        jumps, s = np.diff(values, prepend=0), np.arange(1, n + 1)
        k = 1.0001 * 2 * np.log(np.abs(jumps).sum() / eps - 1)
        error = ad.points_error((k + 0 * s, -k * (s - 0.5), jumps), values)
        claim("n = {n}, ε = {eps:g}: steepness {k:.1f} is enough", error < eps,
              n=n, eps=eps, k=k)  # fmt: skip

# %% [markdown] covers="explainers:4.1.1.step3"
# ## Deeper: walls in the plane
#
# A steep sigmoid of $w_1x_1 + w_2x_2 + b$ is a **wall**: 0 on one side of a line, 1 on the other. "Produce three walls which
# enclose a region and you're done", says the sketch in the notes. Are you? Drag the upright wall.
#
# 1. How high is the sum of the three walls inside the triangle, how high outside?
# 2. Which threshold on the sum would isolate the triangle? Where would it have to be computed?
# 3. Turn on the second layer. What does the steepness do to the corners?

# %% covers="explainers:4.1.1.step3"
# Drag the upright wall.
explore(
    ad.draw_walls,
    drag={"place": "wall"},
    place=FloatSlider(-0.5, min=-2, max=0.5, step=0.05, description="wall at x₁"),
    steep=FloatSlider(20, min=2, max=60, step=2, description="steepness"),
    gate=Checkbox(False, description="second layer: σ(sum − 2½)"),
)

# %% [markdown] covers="explainers:4.1.1.step3"
# Outside, the sum is 1 or 2: it *leaks*. Other output weights on these walls do not help. From the pattern $(0,1,1)$ to the
# triangle, $(1,1,1)$, the output should rise by 1, from $(0,1,0)$ to $(1,1,0)$ by 0; but both rises are the first weight. So
# somewhere it is off by ¼ or more. A second non-linearity, an AND with threshold 2½, does it: the sketch proves the theorem
# for *two* hidden layers. One is universal too, by another proof. More walls make other shapes; in $m$ dimensions they make cells, and 63 cells
# along each axis are $63^m$: the **curse of dimension**.

# %% covers="explainers:4.1.1.step3"
# Which patterns of walls occur, what cancels, and two layers.
points = ad.grid_points(3.0, 301)
patterns = np.unique(np.rint(ad.walls(points, 1e4)), axis=0)
target = patterns.all(1) * 1.0
sign = {(1, 1, 1): 1, (0, 1, 1): -1, (1, 1, 0): -1, (0, 1, 0): 1}
v = np.array([sign.get(tuple(p), 0) for p in patterns])
cancel = not (v @ np.column_stack([patterns, np.ones(len(patterns))])).any()
misfit = v @ target / np.abs(v).sum()
claim("{n} patterns; one layer's outputs at four of them cancel", cancel, n=len(v))
claim(
    "so any output weights are off by {m} or more somewhere", misfit == 0.25, m=misfit
)


def triangle_indicator(points, steep=60.0):
    return 1 / (1 + np.exp(-80 * (ad.walls(points, steep).sum(1) - 2.5)))


gated = ad.overlap(triangle_indicator(points) > 0.5, ad.inside(points))
claim("two hidden layers: overlap with the triangle above 0.99", gated > 0.99)
print(f"cells for 1, 2 and 10 inputs: 63, {63**2:,}, about 10¹⁸")

# %% [markdown] covers="cs480:9-act guo:III.3"
# ## Deeper: which bend?
#
# | name | $\varphi(z)$ | range |
# |---|---|---|
# | ReLU | $\max(0, z)$, also written $z_+$ | $[0, \infty)$ |
# | leaky ReLU | $\max(\varepsilon z, z)$, $0 < \varepsilon \le 0.1$ | all numbers |
# | ELU | $z$ for $z \ge 0$, else $e^z - 1$ | $(-1, \infty)$ |
# | sigmoid | $1/(1 + e^{-z})$ | $(0, 1)$ |
# | tanh | $(e^z - e^{-z})/(e^z + e^{-z})$ | $(-1, 1)$ |
#
# Training multiplies by the slope $\varphi'$ on the way back. Where it is nearly 0, a unit is *saturated*. Drag $z$. Which
# ones saturate on both sides, on one, on none? Which fall somewhere?

# %% covers="cs480:9-act guo:III.3 explainers:4.6.Q3"
# Drag z along the curve.
explore(
    ad.draw_activation,
    drag={"z": "z"},
    name=Dropdown(options=ad.CURVES, value="sigmoid", description="activation"),
    z=FloatSlider(2, min=-5, max=5, step=0.05, description="z"),
    leak=SelectionSlider(options=[0.001, 0.01, 0.05, 0.1], value=0.01, description="ε"),
)

# %% [markdown] covers="cs480:9-act guo:III.3"
# Write five of them with their slopes. At a kink take the slope from the left, as torch does. No value and no slope
# may come out as infinity or nan, for $\lvert z\rvert$ up to 1100.


# %% exercise="activation" points=3 difficulty=1 covers="cs480:9-act guo:III.3"
def activation(name, z):
    """Value and slope of an activation.

    name: "relu", "leaky" (0.01 z for z <= 0), "elu", "sigmoid" or "tanh".
    z: float array of any shape. Returns two float arrays of that shape: values, slopes.
    Slopes at z = 0: relu 0, leaky 0.01, elu 1.
    activation("leaky", np.array([-2.0, 3.0])) gives [-0.02, 3.0] and [0.01, 1.0].
    """
    ### BEGIN SOLUTION
    low = np.minimum(z, 0)
    if name == "relu":
        return np.maximum(z, 0), np.where(z > 0, 1.0, 0.0)
    if name == "leaky":
        return np.maximum(z, 0.01 * z), np.where(z > 0, 1, 0.01)
    if name == "elu":
        return np.maximum(z, 0) + np.expm1(low), np.exp(low)
    if name == "tanh":
        return np.tanh(z), 1 - np.tanh(z) ** 2
    p = 0.5 + 0.5 * np.tanh(z / 2)
    return p, p * (1 - p)
    ### END SOLUTION


# %% check="activation"
check(activation)

# %% predict="skip" minutes=1 covers="explainers:4.6 cs480:9-act"
predict(
    "skip",
    "Twenty sigmoid layers, and around each a skip connection h ← h + φ(Wh). A "
    "gradient of length 1 starts at the end. What arrives at the input?",
    ["10⁻¹³, as without", "about 10⁻⁶", "about 1", "about 10⁶"],
    truth=int(
        np.searchsorted([1e-9, 1e-3, 1e3], ad.gradient_norms("sigmoid + skip")[0])
    ),
    because="Each layer multiplies by the identity plus something small. Without skips "
    "twenty slopes of at most ¼ multiply to nothing.",
)

# %% covers="cs480:9-act guo:III.3 explainers:4.6"
# Your slopes and torch's; twenty layers; long steps, dead units.
with after(activation, "skip"):
    z = np.linspace(-3, 3, 13) + 0.01
    for name in ("relu", "leaky", "elu", "sigmoid", "tanh"):
        torchs = getattr(torch.nn.functional, {"leaky": "leaky_relu"}.get(name, name))
        near = [activation(name, z + h)[0] for h in (0.005, -0.005)]
        right = np.allclose(
            (near[0] - near[1]) / 0.01, activation(name, z)[1], atol=1e-4
        )
        right &= np.allclose(activation(name, z)[0], torchs(torch.tensor(z)))
        claim("{name}: torch's values; slopes by differences", right, name=name)
    sgm = activation("sigmoid", 2 * z)[0]
    claim("tanh(z) = 2σ(2z) − 1", np.allclose(activation("tanh", z)[0], 2 * sgm - 1))
    steepest = activation("sigmoid", np.linspace(-9, 9, 181))[1].max()
    claim("the sigmoid is nowhere steeper than ¼", np.isclose(steepest, 0.25))
    show(*ad.draw_vanishing())
    rng = np.random.default_rng(0)
    X, W, w2 = (rng.normal(size=s) for s in ((200, 2), (100, 2), 100))
    slope = activation("relu", X @ W.T)[1]
    r = np.maximum(0, X @ W.T) @ w2 / 10 + 3 - rng.normal(size=200)
    back = r[:, None] * slope * w2 / 2000  # the way back, by z
    for step in (0, 1, 10):
        moved = X @ (W - step * back.T @ X).T - step * back.sum(0)
        dead = np.sum((moved <= 0).all(0))
        print(
            f"after a step of size {step}: {dead} of 100 units are 0 on every row, dead"
        )

# %% [markdown] covers="explainers:4.6.Q4 explainers:4.6.Q3 explainers:4.6"
# (A dead unit gets no gradient; leaky ReLU keeps the slope ε, at the price of one more number to choose.)
#
# **Inside** a network of two or three layers any of them will do; in a deep one not a bare sigmoid, as the picture shows.
# **At the output** the range of $y$ decides:
#
# | $y$ lies in | output | usual loss |
# |---|---|---|
# | all numbers | identity | squared error |
# | $(0, \infty)$ | softplus $\log(1 + e^z)$, or $e^z$ | Poisson or Gamma likelihood |
# | $(0, 1)$, or $y \in \{0, 1\}$ | sigmoid | cross-entropy |
# | $(-1, 1)$ | tanh | squared error |
# | probabilities of $k$ classes | softmax | cross-entropy |
#
# **Must they be monotone?** No. The cell lists those of the curves above that fall somewhere, and trains with tanh and
# with three that fall: GELU, SiLU and the sine.

# %% covers="explainers:4.6.Q3 explainers:4.6.Q4"
# Which curves fall somewhere; ranges; digits with other bends.
fine = np.linspace(-6, 6, 2401)
falls = [
    n for n in ad.CURVES if not ad.is_monotone(lambda z, n=n: ad.curve(n, z), fine)
]
claim("not monotone: {falls:, }", falls == ["SiLU", "sin", "Gaussian"], falls=falls)
outputs = {"softplus": (0, np.inf), "sigmoid": (0, 1), "tanh": (-1, 1)}
for name, (low, high) in outputs.items():
    y, ends = ad.curve(name, fine), ad.curve(name, np.array([-30, 30.0]))
    fills = low < y.min() and y.max() < high and ends[0] - low < 1e-6
    fills &= high - ends[1] < 1e-6 or ends[1] > 29
    end = "∞" if high == np.inf else high
    claim("{name} fills ({low}, {end})", fills, name=name, low=low, end=end)
with after(train_net):
    first, scores = ad.random_layers([64, 40, 28, 10], 0), {}
    F = torch.nn.functional
    rising = []
    for phi in (torch.tanh, F.gelu, F.silu, torch.sin):
        if ad.is_monotone(lambda z, phi=phi: phi(torch.tensor(z)).numpy(), fine):
            rising.append(phi.__name__)
        net, _ = train_net(
            first, pixels[:898], np.eye(10)[labels[:898]], 0.01, 150, phi
        )
        out = ad.forward(
            net, pixels[898:], lambda h, phi=phi: phi(torch.tensor(h)).numpy()
        )
        scores[phi.__name__] = np.mean(out.argmax(1) == labels[898:])
    claim("of tanh, GELU, SiLU and sin only tanh never falls", rising == ["tanh"])
    claim(
        "tanh, GELU, SiLU, sin: all above 85 % on digits", min(scores.values()) > 0.85
    )

# %% [markdown] covers="explainers:4.1.box-depth1 explainers:4.1.box-depth2"
# ## Deeper: price and ceiling
#
# **Price.** With $n_0$ inputs, hidden layers of $n_1, \dots, n_K$ units and $n_{K+1}$ outputs, a forward pass multiplies
# $\sum_{j=1}^{K+1} n_{j-1}n_j$ times: $(K+1)\,n^2$ if all are $n$. Linear in depth, quadratic in width.
#
# **Ceiling.** How many regions, each with its own affine map? $n$ lines cut the plane into at most $1 + n + \binom n2 =
# \frac12(n^2 + n + 2)$; $n$ hyperplanes cut a space of dimension $d$ into at most $\sum_{j\le d}\binom nj$. On each region
# the next layer sees an affine image, and cuts it by at most so many again:
#
# $$\text{regions} \le \prod_{l=1}^K\;\sum_{j=0}^{d_l}\binom{n_l}{j}, \qquad d_l = \min(n_0, \dots, n_{l-1}).$$
#
# Why the minimum? An affine image has no more dimensions than the narrowest layer before it.


# %% exercise="budget" points=2 difficulty=1 covers="explainers:4.1.box-depth1 explainers:4.1.box-depth2"
def budget(sizes):
    """Multiplications of a forward pass, and the upper bound on linear regions.

    sizes: list of integers >= 1, [inputs, hidden layer 1, …, hidden layer K, outputs].
    Returns two integers: the sum of n_(j-1) n_j over all layers (biases are not
    multiplications), and the product above; without hidden layers it is 1.
    budget([2, 4, 4, 1]) gives (28, 121). budget([3, 2, 5, 1]) gives (21, 64).
    """
    ### BEGIN SOLUTION
    regions, d = 1, sizes[0]
    for n in sizes[1:-1]:
        regions *= sum(math.comb(n, j) for j in range(d + 1))
        d = min(d, n)
    return sum(m * n for m, n in zip(sizes, sizes[1:])), regions
    ### END SOLUTION


# %% check="budget"
check(budget)

# %% [markdown] covers="explainers:4.1.box-depth2"
# Lines part the regions of a network drawn at random. Twelve units: one layer of 12, two of 6, four of 3. What
# happens to the ceiling, what to the count? Where do the lines of the second layer bend?

# %% covers="explainers:4.1.box-depth2"
# Regions of the plane, counted and bounded.
with after(budget):
    explore(
        ad.region_explorer(budget),
        width=IntSlider(6, min=1, max=12, description="units", continuous_update=False),
        depth=IntSlider(2, min=1, max=4, description="layers", continuous_update=False),
        seed=IntSlider(0, min=0, max=20, description="draw", continuous_update=False),
    )

# %% [markdown] covers="explainers:4.1.box-depth2 explainers:4.1.box-depth1 guo:III.3"
# How tight? For $n = 4$, $K = 2$, two inputs the ceiling is 121. Random networks reach about forty. One that *folds* needs no luck: four
# units make $|x_1|$ and $|x_2|$, four lines cross the folded quarter, and each of its 11 regions appears four times. A
# search by small changes, begun there, found 70. (The notes print an "upper bound" that is not proven as one; see the end.)
#
# Another of the notes says that depth is *sometimes* preferred, for restricted flexibility and time of training. A ceiling tells
# nothing about either.

# %% covers="explainers:4.1.box-depth1 explainers:4.1.box-depth2 guo:III.3"
# Multiplications counted; regions reached; ceilings for a price.
with after(budget):
    sizes = [3, 4, 4, 2]
    layers, x, count = ad.random_layers(sizes, 0), np.ones(3), 0
    for number, (W, b) in enumerate(layers):
        z = b.copy()
        for i in range(W.shape[0]):
            for j in range(W.shape[1]):
                z[i] += W[i, j] * x[j]
                count += 1
        x = np.maximum(0, z) if number < 2 else z
    same = np.allclose(x, ad.forward(layers, np.ones((1, 3)))[0])
    claim("a loop that counts: {n} multiplications", same and count == budget(sizes)[0],
          n=count)  # fmt: skip

    def seen(layers, extent, side):
        return len(np.unique(ad.pattern_codes(layers, ad.grid_points(extent, side))))

    def most(sizes, extent, side, draws):
        return max(seen(ad.random_layers(sizes, s), extent, side) for s in range(draws))

    one = most([2, 4, 1], 20, 300, 12)
    claim("four random lines reach {n}", one == budget([2, 4, 1])[1] == 11, n=one)
    drawn, folded = most([2, 4, 4, 1], 6, 150, 60), seen(ad.folded_layers(), 8, 1000)
    searched = seen(ad.searched_layers(), 8, 1000)
    reached = 30 < drawn < 60 and folded == 44 < searched <= budget([2, 4, 4, 1])[1]
    claim("two layers of 4: drawn {d}, folded {f}, searched {s}", reached,
          d=drawn, f=folded, s=searched)  # fmt: skip
    for sizes in ([2, 96, 1], [2, 15, 15, 1], [2, 8, 8, 8, 8, 8, 1]):
        print(sizes, "{} multiplications, at most {:,} regions".format(*budget(sizes)))

# %% [markdown] covers="explainers:4.6 explainers:4.6.Q1 explainers:4.6.Q2 explainers:4.6.Q3 explainers:4.6.Q4"
# ## Deeper: five questions
#
# One of the notes ends with five questions that students ask. Answer aloud before you read on.
#
# | question | short answer | shown by |
# |---|---|---|
# | Q1 What are activations for? | Without them the network is affine; with them the hidden layer learns a lift in which a flat cut is enough. | the disc below |
# | Q2 Why not one, at the output only? | All before it collapses: one unit, one line. (Parallel lines, if it goes up *and* down. That is enough for XOR.) | `collapse`, a Gaussian below |
# | Q3 Must they be monotone? | No. | *Which bend?* |
# | Q4 Which one? | Inside: any, if the network is shallow. At the output: by the range of $y$. | *Which bend?* |
# | Q5 How to stop vanishing gradients? | Skip connections; the right start, [[07/04]]. | twenty layers |

# %% [markdown] covers="explainers:4.6.Q1"
# **A disc in a ring.** No line parts them. Bend first, then cut flat: the lift $\phi(x, y) = \max(0, 1 - x^2 - y^2)$ raises
# the disc to a mountain over the plane $z = 0$. Or map to one number straight away:
#
# $$D(x, y) = \left\lceil\frac{\lfloor x^2 + y^2\rfloor}{x^2 + y^2}\right\rceil, \qquad D(0, 0) = 0 .$$
#
# It is 0 inside the open disc and 1 elsewhere, for $\lfloor r^2\rfloor$ is 0 for $r^2 < 1$, and from there on
# $0 < \lfloor r^2\rfloor/r^2 \le 1$. But its slope is 0 wherever it has one: nobody could *train* it. And nobody hands
# you $\phi$: the hidden layer has to learn it.

# %% covers="explainers:4.6.Q1 explainers:4.6.Q2 explainers:4.6"
# The lift, the number D, a line; and one Gaussian unit for XOR.
X, ring = ad.disc_in_ring()


def phi(x, y):
    return np.maximum(0, 1 - (x**2 + y**2))


def D(x, y):
    r2 = np.asarray(x**2 + y**2, float)
    return np.ceil(np.divide(np.floor(r2), r2, out=np.zeros_like(r2), where=r2 > 0))


show(*ad.draw_lift(X, ring, phi))
exact = np.array_equal(D(*X.T), ring) and D(0.0, 0.0) == 0
claim("D is right on all {n} points", exact, n=len(X))
claim("and flat at all of them", np.all(D(X[:, 0] + 1e-6, X[:, 1]) == D(*X.T)))
line = LogisticRegression().fit(X, ring).score(X, ring)
claim("a line is right on less than 70 %", line < 0.7)
corners, xor = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
unit = ad.curve("Gaussian", corners @ [2, 2] - 2)
claim("one Gaussian unit does XOR", np.array_equal(unit > 0.5, xor == 1))
bands = [1 + np.sum(np.diff(ad.curve(n, np.linspace(-6, 6, 4001)) > 0.5))
         for n in ("sigmoid", "Gaussian", "sin")]  # fmt: skip
print("bands of sigmoid, Gaussian, sine, for scores from −6 to 6:", *map(int, bands))

# %% covers="explainers:4.6.Q1"
# Eight hidden units find a lift of their own.
with after(train_net):
    start_net = ad.random_layers([2, 8, 1], 0)
    net, _ = train_net(start_net, X, ring[:, None] * 1.0, 0.02, 400)
    right = np.mean((ad.forward(net, X)[:, 0] > 0.5) == ring)
    claim("eight units that you train: over 97 %", right > 0.97)

# %% [markdown] covers="explainers:4.1.1.box-practical"
# ## Deeper: weights as memory
#
# Is the staircase practical? No: it shows existence, and trained networks do not look like it. But it gives a picture. Each
# pair of steps is a *key*, "is $x$ in cell $i$?", and its output weights are literally the *value* $f(c_i)$ at the middle $c_i$. Edit one, and
# the function changes in one cell.
#
# In language models the MLP layers have been read in this way: one matrix asks "does this vector speak of *Michael
# Jordan*?", the next one adds *basketball*. How far that goes is a question for later experiments. Here: what does
# one trained weight hold?

# %% covers="explainers:4.1.1.box-practical"
# One value edited in a staircase, one weight in a trained network.
with after(train_net):
    f, x = ad.TARGETS["sin 3x"][0], np.linspace(-1, 1, 129)[:, None]
    built = ad.doors(f, -1, 1, 60)  # 60 cells: Lipschitz constant 3, ε = 0.1
    trained, _ = train_net(ad.random_line(16, 1), x, f(x), 0.01, 600)
    pieces = next(k for k in range(1, 99) if 9 / (2 * k**2) < 0.05)
    claim("an error of 0.05 asks for {n} units as steps, {k} as straight pieces",
          pieces < len(built[0]), n=len(built[0]), k=pieces)  # fmt: skip
    fig, words = ad.draw_memory(built, trained, f)
    cell, felt = words.facts["cell"], words.facts["felt"]
    claim("built: one cell; trained: over a quarter", cell < 0.02 < 0.25 < felt)
    show(fig, words, digits=0)

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form
# fails, the right one holds, and a wrong one of the same shape fails too. *Too broad*: a condition is missing.

# %% demo=true covers="cs480:9-act cs480:thm9.4"
# cs480, section 9: tanh, ELU, and a supremum over everything.
z = np.linspace(-3, 3, 13)
sgm, low = (lambda t: ad.curve("sigmoid", t)), np.minimum(z, 0)
erratum(
    "cs480:9-act",
    quote=r"$\tanh(t) = 1 - 2\text{sgm}(-t)$",
    corrected=r"$\tanh(t) = 1 - 2\,\mathrm{sgm}(-2t) = 2\,\mathrm{sgm}(2t) - 1$",
    printed_holds=np.allclose(1 - 2 * sgm(-z), np.tanh(z)),
    corrected_holds=np.allclose(1 - 2 * sgm(-2 * z), np.tanh(z)),
    decoy_holds=np.allclose(1 - 2 * sgm(-z / 2), np.tanh(z)),
)
erratum(
    "cs480:9-act",
    quote=r"$\text{elu}(t) = t_+ + t_-(\exp(t) - 1)$",
    corrected=(
        r"$t_+ + \mathbb 1[t < 0]\,(e^t - 1)$: with $t_- = \min(t, 0)$ the printed "
        r"form is 2.851 at −3, not −0.950"
    ),
    printed_holds=np.allclose(np.maximum(z, 0) + low * np.expm1(z), ad.curve("ELU", z)),
    corrected_holds=np.allclose(
        np.maximum(z, 0) + (z < 0) * np.expm1(z), ad.curve("ELU", z)
    ),
    decoy_holds=np.allclose(np.maximum(z, 0) - low * np.expm1(z), ad.curve("ELU", z)),
)
knots = np.linspace(-1, 1, 65)
slopes = np.diff(knots**2) / np.diff(knots)
net = (np.append(0.0, np.ones(64)), np.append(1.0, -knots[:-1]),
       np.concatenate([[1.0, slopes[0]], np.diff(slopes)]))  # fmt: skip
inside, outside = (
    ad.sup_error(np.square, lambda x: ad.relu_net(x, *net), np.linspace(-r, r, 4001))
    for r in (1, 100)
)
erratum(
    "cs480:thm9.4",
    quote=(
        r"For any continuous function $f : \mathbb{R}^d \rightarrow \mathbb{R}^c$ and "
        r"any $\varepsilon > 0$ , there exists"
    ),
    corrected=(
        r"the supremum must range over a compact set: far out a ReLU network is a "
        r"straight line, and loses $x^2$ and $\sin x$"
    ),
    kind="broad",
    printed_holds=outside < 1,
    corrected_holds=inside < 1e-3,
)


# %% demo=true covers="explainers:4.1.1.step1"
# explainers 4.1.1, step 1: offset, exponent, sign, bound, index.
def error_of(n, power=-9.0):
    values = ad.notes_values(n)
    return ad.points_error(ad.printed_step_net(values, power), values)


erratum(
    "explainers:4.1.1.step1",
    quote=(
        r"$b_s^{(1)} = -10^{\#S} (\lceil \frac{s+1}{2} \rceil - 10^{-9})$ and we're "
        r"done"
    ),
    corrected=(
        r"up to 9 points it fails, as $\sigma(10^{\#S-9})$ is near ½; an offset of ½ "
        r"in place of $10^{-9}$ works (for very few points with more steepness)"
    ),
    printed_holds=all(error_of(n) < 0.1 for n in (5, 8, 9)),
    corrected_holds=all(error_of(n, np.log10(0.5)) < 0.1 for n in (5, 8, 9)),
    decoy_holds=all(error_of(n, -8.0) < 0.1 for n in (5, 8, 9)),
)
erratum(
    "explainers:4.1.1.step1",
    quote=r"simply decrease the exponent in which $-9$ currently lies",
    corrected="increase it, up to an offset of a half",
    printed_holds=error_of(9, -10) < error_of(9) / 2,
    corrected_holds=error_of(9, -8) < error_of(9) / 2,
    decoy_holds=error_of(9, -9.001) < error_of(9) / 2,
)
x, n, k, d = 1.7, 2, 4.0, 0.1  # k for 10^#S, d for 10^-9
sigmoid = 1 / (1 + np.exp(-(k * (x - n) + k * d)))
erratum(
    "explainers:4.1.1.step1",
    quote=(
        r"\sigma\left(10^{\#S}(x - n) + 10^{\#S-9}\right) &= \frac{1}{1 + \exp(-10^{"
        r"\#S}(x - n) + 10^{\#S-9})}"
    ),
    corrected=(
        r"$1/(1 + \exp(-10^{\#S}(x-n) - 10^{\#S-9}))$, which is $1/(1 + \exp(n - x - "
        r"10^{-9})^{10^{\#S}})$"
    ),
    printed_holds=np.isclose(1 / (1 + np.exp(-k * (x - n) + k * d)), sigmoid),
    corrected_holds=np.isclose(1 / (1 + np.exp(-k * (x - n) - k * d)), sigmoid)
    and np.isclose(1 / (1 + np.exp(n - x - d) ** k), sigmoid),
    decoy_holds=np.isclose(1 / (1 + np.exp(k * (x - n) - k * d)), sigmoid),
)
f, eps = ad.notes_values(6), 0.1
total = np.abs(f).sum()
erratum(
    "explainers:4.1.1.step1",
    quote=r"with the absolute error of each approximation bounded by $\epsilon$",
    corrected=(
        r"by $\epsilon/(2\sum_s|f(s)|)$: the output weights multiply the errors, and "
        r"all signs may be against us"
    ),
    printed_holds=eps * 2 * total <= eps,
    corrected_holds=eps / (2 * total) * 2 * total <= eps * (1 + 1e-12),
    decoy_holds=eps / total * 2 * total <= eps,
)
W1, b1, _ = ad.printed_step_net(f)
place, s = np.rint(-b1 / W1), np.arange(1, 13)  # where hidden unit s has its step
ceil = np.ceil((s + 1) / 2)
erratum(
    "explainers:4.1.1.step1",
    quote=(
        r"for the $\lceil \frac{s+1}{2} \rceil^{\text{th}}$ neuron in the hidden layer "
        r"to approximate $H(x - \lceil \frac{s+1}{2} \rceil)$"
    ),
    corrected=(
        r"it is neuron $s$, for $s = 1, \dots, 2\,\#S$, as the printed biases have it"
    ),
    printed_holds=all(place[int(c) - 1] == c for c in ceil),
    corrected_holds=np.array_equal(place, ceil),
    decoy_holds=np.array_equal(place, s),
)

# %% demo=true covers="explainers:4.1.1.step3 explainers:4.1.box-depth2 explainers:4.6.Q1"
# explainers, sections 4.1 and 4.6: walls, regions, a word.
erratum(
    "explainers:4.1.1.step3",
    quote="produce three walls which enclose a region and you're done",
    corrected=(
        "something non-linear must combine the walls, an AND: the sketch proves the "
        "statement for two hidden layers"
    ),
    kind="broad",
    printed_holds=misfit < 0.1,
    corrected_holds=gated > 0.99,
)
cube = np.random.default_rng(0).normal(size=(2000, 3))
eight = len(np.unique(cube > 0, axis=0))  # three planes through the origin
erratum(
    "explainers:4.1.box-depth2",
    quote=(
        r"For an MLP with $k$ hidden layers of $n$ neurons each, the number of regions "
        r"by which the space is split is bounded above by"
    ),
    corrected=(
        r"$\big[\sum_{j\le n_0}\binom nj\big]^k$; the first printed factor, "
        r"$\frac12(n^2+n+2)$, is that of $n_0 = 2$, and the rest resembles lower "
        r"bounds on what can be reached (Montúfar and others 2014)"
    ),
    # n = n_0 = 3, k = 1
    printed_holds=eight <= (3**2 + 3 + 2) // 2,
    corrected_holds=eight <= sum(math.comb(3, j) for j in range(4)),
    decoy_holds=eight <= sum(math.comb(3, j) for j in range(3)),
)
erratum(
    "explainers:4.6.Q1",
    quote="would be a purely linear transformation of the input",
    corrected="affine: the biases add a constant",
    kind="convention",
)

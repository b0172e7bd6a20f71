# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] minutes=90 builds="networks without training: steps, broken lines and sawteeth that hit any curve, and what depth saves"
# # Universal approximation and depth
#
# Lectures: cs480 9 (remark 9.2, activations, theorem 9.4, depth) · explainers 4.1 (both boxes), 4.1.1, 4.6 · guo III.3 · wu 2.2.
#
# "A network can approximate anything." What does this sentence promise, and what not? We prove it by building the weights by hand. At the end you can
#
# - say why a network needs bends, and choose an activation for the inside and for the output;
# - build a network of steps, or of straight pieces, to any accuracy you name, and count its units;
# - say why the theorem needs a bounded set, and why it says nothing about training;
# - build a sawtooth that one layer could draw only with exponentially many units;
# - compute the price of a network and the ceiling on its linear regions, and compare with what training uses.

# %%
import math

import numpy as np
import torch
from ipywidgets import Checkbox, Dropdown, FloatSlider, IntSlider, SelectionSlider
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from descent import after, check, data, erratum, explore, hint, predict, show, start
from descent.pictures.neural_networks import approximation_and_depth as ad

start("07_neural_networks/03_approximation_and_depth")

# %% [markdown] covers="wu:2.2"
# ## Why it matters
#
# [One hidden layer](01_one_hidden_layer.ipynb) gave broken lines of one input and folded surfaces of two. Wu's chapter adds a claim: this small architecture approximates *complex functions*. Complex in which sense, with how many units, and who finds the weights?
#
# Left: the two constructions of this notebook, twelve steps and six straight pieces. Right: how many pieces $n$ units can make, next to each other and on top of each other. Keep one question in mind: if the right-hand side is so clear, why are not all networks very deep and very narrow?

# %% covers="wu:2.2" demo=true
show(*ad.draw_why())

# %% [markdown] covers="cs480:rem9.2 explainers:4.6.Q2"
# ## 1. Why bend at all?
#
# **Without bends.** Layer $l$ computes $W_l x + b_l$. Put a second one on top of the first:
#
# $$W_2(W_1 x + b_1) + b_2 = (W_2 W_1)\,x + (W_2 b_1 + b_2) .$$
#
# Again a matrix and a vector: an *affine* map. So any number of layers collapses into one. Write the collapse for any depth. (Stuck? `hint(collapse)`, up to three times; so for every exercise.)


# %% exercise="collapse" points=1 minutes=4 difficulty=1 covers="cs480:rem9.2 explainers:4.6.Q2"
def collapse(Ws, bs):
    """The affine map W x + b that a stack of affine layers computes.

    Ws: list of K >= 1 matrices, Ws[l] (n_l, n_(l-1)), applied in this order.
    bs: list of K vectors, bs[l] (n_l,). Returns W (n_K, n_0) and b (n_K,).
    Ws = [[[1, 2]], [[3]]], bs = [[1], [-1]] gives W = [[3, 6]], b = [2].
    """
    ### BEGIN SOLUTION
    W, b = Ws[0], bs[0]
    for V, c in zip(Ws[1:], bs[1:]):
        W, b = V @ W, V @ b + c
    return W, b
    ### END SOLUTION


# %% check="collapse"
check(collapse)

# %% [markdown] covers="cs480:rem9.2 explainers:4.6.Q2"
# Five random layers against your one. Then a ReLU after each of the first four: no affine map fits any more. And **XOR**: of all affine functions of the four corners the closest one, by least squares, says ½ everywhere.
#
# **One activation at the end?** Then the net is $\varphi(Wx + b)$ with your $W, b$: a single neuron. If $\varphi$ is monotone, "$\varphi$ above a threshold" means "$Wx + b$ beyond a number" (or nowhere, or everywhere): the boundary is one line. If $\varphi$ goes up *and* down, the boundary may be several *parallel* lines. Explainers calls this pedantic. It is enough for XOR. (The cell also counts the bands.)

# %% covers="cs480:rem9.2 explainers:4.6.Q2"
with after(collapse):
    layers = ad.random_layers([2, 6, 5, 6, 4, 1], seed=0)
    x = np.random.default_rng(1).normal(size=(200, 2))
    W, b = map(np.array, collapse([W for W, _ in layers], [b for _, b in layers]))
    straight = ad.forward(layers, x, phi=lambda z: z)
    assert np.allclose(straight, x @ W.T + b, atol=1e-4)
    A = np.column_stack([x, np.ones(200)])

    def closest(A, y):
        return A @ np.linalg.lstsq(A, y, rcond=None)[0]

    def misfit(y):
        return np.abs(closest(A, y) - y).max()

    assert misfit(straight) < 1e-10 < 0.1 < misfit(ad.forward(layers, x))
    corners, xor = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]]), np.array([0, 1, 1, 0])
    at = closest(np.column_stack([corners, np.ones(4)]), xor)
    assert np.allclose(at, 0.5)
    print("closest affine map at the four corners:", at.round(6))

    def net(x):
        return ad.forward(layers, x[None], phi=lambda z: z)[0]

    p, q = x[:2]
    erratum(
        "explainers:4.6.Q1",
        "without any activation the output would be a purely linear transformation of "
        "the input",
        "it is affine: the biases add a constant, so that 0 need not go to 0",
        printed_holds=np.allclose(net(p) + net(q), net(p + q)),
        corrected_holds=np.allclose((net(p) + net(q)) / 2, net((p + q) / 2)),
    )
    score = corners @ [2.0, 2.0] - 2.0  # one neuron: -2, 0, 0, 2
    assert np.array_equal(ad.curve("Gaussian", score) > 0.5, xor == 1)
    assert np.array_equal(ad.curve("sin", np.pi / 4 * (score + 2)) > 0.5, xor == 1)
    line = np.linspace(-6, 6, 4001)

    def bands(name):
        return 1 + np.sum(np.diff(ad.curve(name, line) > 0.5))

    counts = {name: int(bands(name)) for name in ("sigmoid", "Gaussian", "sin")}
    print("bands above or below ½, for scores from -6 to 6:", counts)

# %% [markdown] covers="explainers:4.6.Q1"
# **A disc in a ring.** No line separates these classes. Bend first, then cut flat: the lift
#
# $$\phi(x, y) = \max\big(0,\; 1 - (x^2 + y^2)\big)$$
#
# raises the disc to a mountain; the plane $z = 0$ is the decision boundary, with "above" for the disc. Or map to one number straight away:
#
# $$D(x, y) = \left\lceil \frac{\lfloor x^2 + y^2\rfloor}{x^2+y^2} \right\rceil, \qquad D(0, 0) = 0 .$$
#
# Why is $D$ zero inside the open disc and one everywhere else, on the circle too? And why could nobody *train* a network with such a bend?

# %% covers="explainers:4.6.Q1" demo=true
X, ring = ad.disc_in_ring()


def phi(x, y):
    return np.maximum(0, 1 - (x**2 + y**2))


def D(x, y):
    r2 = np.asarray(x**2 + y**2, float)
    return np.ceil(np.divide(np.floor(r2), r2, out=np.zeros_like(r2), where=r2 > 0))


assert np.array_equal(D(*X.T), ring) and np.array_equal(phi(*X.T) == 0, ring == 1)
assert D(np.array([0.0, 1.0]), np.zeros(2)).tolist() == [0, 1]
h = 1e-6  # D is a step: its slope is 0 at every one of the points
assert np.all(D(X[:, 0] + h, X[:, 1]) == D(*X.T))
line = LogisticRegression().fit(X, ring).score(X, ring)
net = MLPClassifier((8,), solver="lbfgs", random_state=0, max_iter=500).fit(X, ring)
assert line < 0.7 and net.score(X, ring) > 0.99
show(*ad.draw_lift(X, ring, phi))

# %% [markdown] covers="explainers:4.6.Q1 cs480:9-act guo:III.3"
# $\lfloor r^2\rfloor$ is 0 for $r^2 < 1$; from $1$ on, $0 < \lfloor r^2\rfloor / r^2 \le 1$, and rounding up gives 1. Its slope is 0 wherever it has one: gradient descent would never move. The cell has also trained a network with eight hidden units, which found a lift of its own (over 99 % right, logistic regression under 70 %). **Nobody hands you $\phi$; the hidden layer learns it.** For that the bends must have slopes.
#
# ## 2. Which bend?
#
# | name | $\varphi(z)$ | range |
# |---|---|---|
# | ReLU | $\max(0, z)$, also written $z_+$ | $[0, \infty)$ |
# | leaky ReLU | $\max(\varepsilon z, z)$, $\varepsilon \in (0, 0.1)$ | all numbers |
# | ELU | $z$ for $z \ge 0$, else $e^z - 1$ | $(-1, \infty)$ |
# | sigmoid (logistic, cs480's sgm) | $1/(1 + e^{-z})$ | $(0, 1)$ |
# | tanh | $(e^z - e^{-z})/(e^z + e^{-z})$ | $(-1, 1)$ |
#
# Training multiplies by the **slope** $\varphi'$ on the way [back](02_backpropagation.ipynb). Where it is nearly 0, the unit is *saturated* and hardly learns. **Find out:** (1) Which activations saturate on both sides, on one, on none? (2) What is the largest slope of the sigmoid, of tanh? (3) Which curves fall somewhere? (4) What does ε do to the shaded zone of leaky ReLU?

# %% covers="cs480:9-act guo:III.3" demo=true
explore(
    ad.draw_activation,
    name=Dropdown(options=ad.CURVES, value="sigmoid", description="activation"),
    z=FloatSlider(2, min=-5, max=5, step=0.25, description="z"),
    leak=SelectionSlider(options=[0.001, 0.01, 0.05, 0.1], value=0.01, description="ε"),
)

# %% [markdown] covers="cs480:9-act guo:III.3"
# Write five activations with their slopes. Conventions: $\varepsilon = 0.01$; at the kink take the slope from the *left*, so ReLU has 0 and leaky ReLU 0.01 at $z = 0$ (torch does the same). For $|z|$ up to 1100 no value and no slope may come out as infinity or nan.


# %% exercise="activation" points=3 minutes=8 difficulty=1 covers="cs480:9-act guo:III.3"
def activation(name, z):
    """Value and slope of an activation.

    name: "relu", "leaky" (0.01 z for z <= 0), "elu", "sigmoid" or "tanh".
    z: float array of any shape. Returns two arrays of that shape: values, derivatives.
    Slopes at z = 0: relu 0, leaky 0.01, elu 1.
    activation("leaky", np.array([-2.0, 3.0])) gives [-0.02, 3.0] and [0.01, 1.0].
    """
    ### BEGIN SOLUTION
    low = np.minimum(z, 0)
    if name == "relu":
        return np.maximum(z, 0), (z > 0) * 1.0
    if name == "leaky":
        return np.where(z > 0, z, 0.01 * z), np.where(z > 0, 1, 0.01)
    if name == "elu":
        return np.where(z > 0, z, np.expm1(low)), np.exp(low)
    if name == "tanh":
        return np.tanh(z), 1 - np.tanh(z) ** 2
    e = np.exp(-np.abs(z))
    p = np.where(z > 0, 1, e) / (1 + e)
    return p, p * (1 - p)
    ### END SOLUTION


# %% check="activation"
check(activation)

# %% covers="cs480:9-act guo:III.3"
with after(activation):
    F, z = torch.nn.functional, np.linspace(-3, 3, 13) + 0.01
    theirs = dict(
        relu=F.relu,
        leaky=F.leaky_relu,
        elu=F.elu,
        sigmoid=torch.sigmoid,
        tanh=torch.tanh,
    )
    for name, f in theirs.items():
        value, slope = activation(name, z)
        t = torch.tensor(z, requires_grad=True)
        f(t).sum().backward()
        near = [activation(name, z + h)[0] for h in (0.005, -0.005)]
        assert np.allclose(value, f(t).detach()) and np.allclose(slope, t.grad)
        assert np.allclose(slope, (near[0] - near[1]) / 0.01, atol=1e-4)
    p, slope = activation("sigmoid", np.linspace(-9, 9, 181))
    assert slope.max() == slope[90] == 0.25  # reached at 0
    tanh, elu = activation("tanh", z)[0], activation("elu", z)[0]

    def sgm(z):
        return activation("sigmoid", z)[0]

    assert np.allclose(tanh, 2 * sgm(2 * z) - 1)
    erratum(
        "cs480:9-act",
        r"$\tanh(t) = 1 - 2\,\mathrm{sgm}(-t)$",
        r"$\tanh(t) = 1 - 2\,\mathrm{sgm}(-2t) = 2\,\mathrm{sgm}(2t) - 1$",
        printed_holds=np.allclose(1 - 2 * sgm(-z), tanh, atol=0.05),
        corrected_holds=np.allclose(1 - 2 * sgm(-2 * z), tanh),
    )
    high, low, right = np.maximum(z, 0), np.minimum(z, 0), np.exp(z) - 1
    erratum(
        "cs480:9-act",
        r"$\mathrm{elu}(t) = t_+ + t_-(e^t - 1)$",
        r"$t_+ + \mathbb 1[t < 0]\,(e^t - 1)$: with $t_- = \min(t, 0)$ the printed "
        "form is positive for $t < 0$: 2.851 instead of −0.950 at −3",
        printed_holds=np.allclose(high + low * right, elu),
        corrected_holds=np.allclose(high + (z < 0) * right, elu),
    )
    wide = np.linspace(-3, 3, 2001)
    gap = np.abs(1 - 2 * sgm(-wide) - np.tanh(wide)).max()
    at = np.exp(-3) - 1
    print(f"tanh as printed is off by up to {gap:.4f} on [-3, 3]")
    print(f"ELU at -3: printed {-3 * at:.3f}, right {at:.3f}")

# %% [markdown] covers="cs480:9-act guo:III.3 explainers:4.6"
# **Through twenty layers.** A gradient of length 1 starts at layer 20 and goes back through random layers of 64 units (variances as [the next notebook](04_initialisation_and_normalisation.ipynb) explains). What is left at the input? The sigmoid's slope is at most ¼, and typically less. With a **skip connection** $h \leftarrow h + \varphi(Wh)$ the gradient has a way past every layer: the answer of explainers to its fifth question.
#
# **Dead units.** ReLU has slope 1 or 0. A unit whose $z$ is negative on *every* row gets no gradient at all. In the first layer, whose inputs stay as they are, it never comes back: it is dead. One step that is too long can do it. The cell takes one gradient step of increasing length and counts units that no row of 200 turns on. (Leaky ReLU keeps the slope ε there: its units can.)

# %% covers="cs480:9-act guo:III.3 explainers:4.6" demo=true
plain, skip = (ad.gradient_norms(name)[0] for name in ("sigmoid", "sigmoid + skip"))
predict(
    "Q5. Twenty sigmoid layers, with a skip connection around each. By about how much "
    "does a gradient shrink or grow on its way back?",
    ["10⁻¹³, as without", "10⁻⁶", "less than a factor of 2", "10⁶"],
    truth=2 if 0.5 < skip < 2 else 0,
    because=f"Without skips {plain:.0e} of it arrive; with them {skip:.1f}. "
    "Each layer multiplies by the identity plus something small.",
)
show(*ad.draw_vanishing())
rng = np.random.default_rng(0)
X, W, b = rng.normal(size=(200, 2)), rng.normal(size=(100, 2)), np.zeros(100)
w2, y = rng.normal(size=100) / 10, -3 + rng.normal(size=200)
z = X @ W.T + b
r = np.maximum(0, z) @ w2 - y  # the error that goes back
back = r[:, None] * (z > 0) * w2 / 200
for step in (0, 1, 10):
    moved = X @ (W - step * back.T @ X).T + b - step * back.sum(0)
    dead = (moved <= 0).all(0)
    print(f"step {step}: {dead.sum()} of 100 units dead")

# %% [markdown] covers="explainers:4.6.Q3 explainers:4.6.Q4"
# **Must it be monotone? Which should I take?** Two of explainers' questions. The cell walks a catalogue with a fine grid: GELU and SiLU, standard in today's language models, *fall* on part of the negative axis. So no. Monotone ones make some theorems easier.
#
# Inside a network the usual choices all work; ReLU's kink is harmless, because a float hits $z = 0$ exactly only by construction. Leaky ReLU brings a hyperparameter, which somebody must choose (and could choose after seeing the results). At the **output** the choice is forced by the range of $y$, and comes with a loss:
#
# | $y$ lies in | output | usual loss |
# |---|---|---|
# | all numbers | identity | squared error |
# | $(0, \infty)$ | softplus $\log(1 + e^z)$, or $e^z$ | Poisson or Gamma likelihood |
# | $(0, 1)$, or $y \in \{0, 1\}$ | sigmoid | cross-entropy |
# | $(-1, 1)$ | tanh | squared error |
# | probabilities of $k$ classes | softmax | cross-entropy |

# %% covers="explainers:4.6.Q3 explainers:4.6.Q4" demo=true
fine, gelu = np.linspace(-6, 6, 2401), torch.nn.functional.gelu
shapes = {name: lambda z, name=name: ad.curve(name, z) for name in ad.CURVES}
shapes["GELU"] = lambda z: gelu(torch.tensor(z)).numpy()
falls = [name for name, f in shapes.items() if not ad.is_monotone(f, fine)]
print("not monotone:", ", ".join(falls))
outputs = {"softplus": (0, np.inf), "sigmoid": (0, 1), "tanh": (-1, 1)}


def output_activation(low, high):
    """The first activation of the table whose values fill (low, high)."""
    return next((n for n, r in outputs.items() if r == (low, high)), "identity")


for name, (low, high) in outputs.items():
    assert output_activation(low, high) == name
    y, ends = ad.curve(name, fine), ad.curve(name, np.array([-30, 30.0]))
    assert low < y.min() and y.max() < high
    assert ends[0] - low < 1e-6 and (high - ends[1] < 1e-6 or ends[1] > 29)
p = torch.softmax(torch.randn(50, 4, generator=torch.Generator().manual_seed(0)), 1)
assert torch.allclose(p.sum(1), torch.ones(50)) and (p > 0).all()

# %% [markdown] covers="explainers:4.1.1 explainers:4.1.1.step1"
# ## 3. Any continuous function
#
# How far is $\hat f$ from $f$? By the worst case. On a set $S \subset \mathbb R^m$ that is **compact** (closed and bounded)
#
# $$\lVert f - \hat f\rVert_\infty = \max_{x\in S}|f(x) - \hat f(x)|, \qquad \text{wanted: below } \varepsilon .$$
#
# A class of functions has **universal approximation** on $S$ if it comes this close to *every* continuous $f: S\to\mathbb R$, for *every* $\varepsilon > 0$. In other words: it is dense in $C(S)$, the continuous functions on $S$ with that distance. Weierstrass proved it for polynomials on an interval in 1885. Functions with several outputs are done one coordinate at a time.
#
# The proof for networks goes in three steps: finitely many points, an interval, the plane. We run each of them. (`ad.sup_error(f, g, points)` takes the worst of a fine grid: a lower bound on the maximum.)
#
# ### Step 1: finitely many points
#
# Let $S = \{1, \dots, n\}$. With *steps* $\mathbb 1(x \ge s)$ we can switch a value on at $s$ and off at $s + 1$:
#
# $$f(x) = \sum_{s=1}^n f(s)\,\big(\mathbb 1(x\ge s) - \mathbb 1(x\ge s+1)\big) .$$
#
# A steep sigmoid is nearly a step. So a hidden layer of sigmoids and one linear output will do. Explainers chooses steepness $10^n$ and puts the step of $s$ just before the point, at $s - 10^{-9}$. On paper fine. We run it.

# %% covers="explainers:4.1.1.step1" demo=true
values = ad.notes_values(5)
error = ad.points_error(ad.printed_step_net(values), values)
options = ["below 0.00001", "about 0.01", "about 0.1", "above 1"]
predict(
    "Five points, f(s) = 2 + sin s, steepness 10⁵, steps a billionth before the "
    "points. How large is the largest error at the five points?",
    options,
    truth=int(np.searchsorted([1e-5, 0.03, 0.5], error)),
    because=f"It is {error:.2f}. At the point s the sigmoid's argument is 10⁵ · 10⁻⁹ = "
    "10⁻⁴, and the sigmoid of that is ½. So half of f(s) is there, and still half of "
    "f(s - 1).",
)

# %% [markdown] covers="explainers:4.1.1.step1"
# In general the argument at $x = s$ is $10^{n-9}$: it is large only for $n \ge 10$. The mend: put the steps *half-way* between the points. And one neuron a point is enough, for a neuron that is on *stays* on: let the output weight be the jump $f(s) - f(s-1)$.
#
# Build it, for any number of points.


# %% exercise="step_net" points=3 minutes=9 difficulty=2 covers="explainers:4.1.1.step1"
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
    return np.full(n, 40.0), -40.0 * steps, np.diff(values, prepend=0)
    ### END SOLUTION


# %% check="step_net"
check(step_net)

# %% [markdown] covers="explainers:4.1.1.step1"
# **How steep?** With steepness $\kappa$ and steps half-way, every sigmoid is off by at most $\sigma(-\kappa/2)$ at a point. The output is off by at most $V\sigma(-\kappa/2)$, where $V = \sum_s |f(s) - f(s-1)|$ (with $f(0) = 0$). This is below $\varepsilon$ once $\kappa > 2\log(V/\varepsilon - 1)$. (In the notes' layout, with $2n$ neurons, the sum is $2\sum|f(s)|$: each indicator needs an accuracy of $\varepsilon / (2 \sum |f(s)|)$, not $\varepsilon$.)
#
# Then five slips of this section, each tested. (One is the advice to *decrease* the exponent $-9$ for more precision: that moves the step even nearer to the point.)

# %% covers="explainers:4.1.1.step1"
with after(step_net):
    show(*ad.draw_printed_steps(step_net))

    def min_steepness(eps, values):
        V = np.abs(np.diff(values, prepend=0)).sum()
        return 2 * np.log(V / eps - 1)

    for n, eps in ((5, 1e-2), (20, 1e-6), (1, 1e-3)):
        values, s = ad.notes_values(n), np.arange(1, n + 1)
        k = 1.0001 * min_steepness(eps, values)
        jumps = np.diff(values, prepend=0)
        assert ad.points_error((k + 0 * s, -k * (s - 0.5), jumps), values) < eps
        print(f"n = {n}, ε = {eps:g}: steepness {k:.1f} is enough")


# %% covers="explainers:4.1.1.step1" demo=true
def error_of(n, power=-9.0):
    values = ad.notes_values(n)
    return ad.points_error(ad.printed_step_net(values, power), values)


erratum(
    "explainers:4.1.1.step1",
    r"$w^{(1)} = 10^n$, $b_s^{(1)} = -10^n(\lceil\frac{s+1}{2}\rceil - 10^{-9})$ "
    "works for every finite set of $n$ points",
    r"up to $n = 8$ it outputs about $\frac12 f(x) + \frac12 f(x-1)$; with the "
    r"offset $\frac12$ in place of $10^{-9}$ it works (for $n = 1$ with more "
    "steepness, say 40)",
    printed_holds=all(error_of(n) < 0.1 for n in (5, 8, 9)),
    corrected_holds=all(error_of(n, np.log10(0.5)) < 0.1 for n in (5, 8, 9)),
)
erratum(
    "explainers:4.1.1.step1",
    "for more precision decrease the exponent −9",
    "increase it (up to an offset of a half)",
    printed_holds=error_of(9, -10) < error_of(9),
    corrected_holds=error_of(9, -8) < error_of(9),
)
x, n, k = 1.7, 2, 4.0
sigmoid = 1 / (1 + np.exp(-(k * (x - n) + k * 1e-1)))  # 10^-9 replaced by 0.1
erratum(
    "explainers:4.1.1.step1",
    r"$\sigma\big(k(x-n) + k\delta\big) = 1/(1 + \exp(-k(x-n) + k\delta)) = "
    r"1/(1 + \exp(n - x + \delta)^k)$, with $k = 10^{\#S}$, $\delta = 10^{-9}$",
    r"$1/(1 + \exp(-k(x-n) - k\delta)) = 1/(1 + \exp(n - x - \delta)^k)$",
    printed_holds=np.isclose(1 / (1 + np.exp(n - x + 0.1) ** k), sigmoid),
    corrected_holds=np.isclose(1 / (1 + np.exp(n - x - 0.1) ** k), sigmoid),
)
f, eps = ad.notes_values(6), 0.1


def worst(bound):
    return bound * 2 * np.abs(f).sum()  # all are off, signs against us


erratum(
    "explainers:4.1.1.step1",
    r"it suffices that each indicator is approximated within $\epsilon$",
    r"within $\epsilon / (2\sum_s |f(s)|)$: the output weights multiply the errors",
    printed_holds=worst(eps) <= eps,
    corrected_holds=worst(eps / (2 * np.abs(f).sum())) <= eps + 1e-12,
)
W1, b1, _ = ad.printed_step_net(f)
place, s = np.rint(-b1 / W1), np.arange(1, 13)  # where hidden neuron s has its step
ceil = np.ceil((s + 1) / 2)
erratum(
    "explainers:4.1.1.step1",
    r"the $\lceil\frac{s+1}{2}\rceil$-th hidden neuron approximates "
    r"$H(x - \lceil\frac{s+1}{2}\rceil)$; $2\cdot\#S$ neurons (or one fewer)",
    r"hidden neuron $s$ does; so neighbours are equal, and $\#S$ neurons with "
    r"output weights $f(s) - f(s-1)$ suffice",
    printed_holds=all(place[int(c) - 1] == c for c in ceil),
    corrected_holds=np.array_equal(place, ceil),
)

# %% [markdown] covers="explainers:4.1.1.step2"
# ### Step 2: an interval
#
# Cut $[a, b]$ into $N$ equal cells and keep one value a cell, that in its middle $c_i$. Within a cell $f$ must hardly vary. A continuous $f$ on a compact interval is *uniformly* continuous: for every $\varepsilon$ there is one $\delta$ that serves everywhere,
#
# $$|x - y| < \delta \;\Rightarrow\; |f(x) - f(y)| < \varepsilon .$$
#
# If $f$ has a **Lipschitz constant** $L$, that is $|f(x) - f(y)| \le L|x - y|$, then $\delta = \varepsilon/L$ will do. So about $N = L(b-a)/\varepsilon$ cells, and $2N$ neurons in the notes' count.
#
# Build the network. Take the *least* $N \ge 1$ with $L(b-a)/N \le \varepsilon$. The output bias can hold the first value; then a neuron at each inner edge adds a jump.


# %% exercise="staircase_net" points=3 minutes=11 difficulty=2 covers="explainers:4.1.1.step2"
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
    W1 = np.full(N - 1, 1000 / w)
    return W1, -W1 * (a + w * np.arange(1, N)), np.diff(heights), heights[0]
    ### END SOLUTION


# %% check="staircase_net"
check(staircase_net)

# %% [markdown] covers="explainers:4.1.1.step2 explainers:4.1.1"
# **The proof, run.** The sine on $[0, 2\pi]$ with $L = 1$. On each edge the output passes from one height to the next; both are near $f$ there, so all values between are. The cell takes your network and the notes' one, on and off for every cell, with the sup error of both.

# %% covers="explainers:4.1.1.step2 explainers:4.1.1"
with after(staircase_net):
    x = np.linspace(0, 2 * np.pi, 50_001)
    for eps in (0.5, 0.1, 0.05):
        W1, b1, W2, b2 = staircase_net(np.sin, 0, 2 * np.pi, 1.0, eps)
        N = math.ceil(2 * np.pi / eps)
        notes = ad.notes_staircase(np.sin, 0, 2 * np.pi, N)
        errors = [
            ad.sup_error(np.sin, lambda x, net=net: ad.sigmoid_net(x, *net), x)
            for net in ((W1, b1, W2, b2), notes)
        ]
        assert max(errors) < 0.52 * eps
        print(
            f"ε = {eps}: {N} cells, {len(notes[0])} neurons in the notes' layout, "
            f"sup error {errors[1]:.4f}"
        )

# %% [markdown] covers="explainers:4.1.1.step2"
# The error is only *half* of $\varepsilon$, as no point of a cell is farther than $w/2$ from its middle. So half the cells suffice; and with jumps, half the neurons again. **Find out:** (1) Divide ε by ten. What happens to the number of cells? (2) $|x|$ has a kink. Does it matter? (3) $\sin 3x$ needs three times as many cells. Where are they wasted? (4) $\sqrt x$ is continuous on $[0, 1]$ but has *no* Lipschitz constant. From $|\sqrt x - \sqrt y| \le \sqrt{|x - y|}$, which $\delta$ belongs to ε?

# %% covers="explainers:4.1.1.step2" demo=true
explore(
    ad.draw_staircase,
    target=Dropdown(options=list(ad.TARGETS), description="f"),
    eps=SelectionSlider(
        options=[0.5, 0.3, 0.2, 0.1, 0.05, 0.03],
        description="ε",
        continuous_update=False,
    ),
)

# %% [markdown] covers="explainers:4.1.1.step3"
# ### Step 3: the plane
#
# A steep sigmoid of $w_1 x_1 + w_2 x_2 + b$ is a **wall**: 0 on one side of a line, 1 on the other. Three walls enclose a triangle, says the sketch in the notes, and we are done. Are we? **Find out:** (1) Add the three walls. How high is the sum inside the triangle, how high outside? (2) Can you find a threshold on the sum that isolates the triangle? Where would it have to be computed? (3) Turn on the second layer. What does the steepness do to the corners?

# %% covers="explainers:4.1.1.step3" demo=true
explore(
    ad.draw_walls,
    n_walls=IntSlider(3, min=1, max=3, description="walls"),
    steep=FloatSlider(
        20, min=2, max=60, step=2, description="steepness", continuous_update=False
    ),
    gate=Checkbox(False, description="second layer: σ(sum - number + ½)"),
)

# %% [markdown] covers="explainers:4.1.1.step3"
# Outside the sum is 1 or 2: it *leaks*. Nor do other output weights on these three walls help. Seven of the eight patterns of walls occur. From $(0,1,1)$ to the triangle $(1,1,1)$ the output should rise by 1, from $(0,1,0)$ to $(1,1,0)$ by 0; but both differ by the same weight $w_1$. So at one of the four places it is wrong by at least ¼. A second non-linearity, an AND, does it with the threshold $2.5$. So the sketch proves the theorem for *two* hidden layers. (One hidden layer is universal too, but with many more walls, and by another proof: Cybenko 1989, Hornik 1991.)
#
# The last line counts cells for 1, 2 and 10 inputs on $[0, 2\pi]^m$, with the 63 of $\varepsilon = 0.1$ along each axis. That is the **curse of dimension**.

# %% covers="explainers:4.1.1.step3" demo=true
points = ad.grid_points(3.0, 301)
patterns = np.unique(np.rint(ad.walls(points, 1e4)), axis=0)
A, target = np.column_stack([patterns, np.ones(len(patterns))]), patterns.all(1) * 1.0
sign = {(1, 1, 1): 1, (0, 1, 1): -1, (1, 1, 0): -1, (0, 1, 0): 1}
v = np.array([sign.get(tuple(p), 0) for p in patterns])
assert not (v @ A).any()  # whatever the output weights, the four cancel
misfit = v @ target / np.abs(v).sum()  # so one of the four is off by this at least


def triangle_indicator(points, steep=60.0):
    """Two hidden layers: three walls, then an AND."""
    return 1 / (1 + np.exp(-80 * (ad.walls(points, steep).sum(1) - 2.5)))


found = triangle_indicator(points) > 0.5
assert len(patterns) == 7 and ad.overlap(found, ad.inside(points)) > 0.99
print(f"{len(patterns)} patterns; any output weights miss by {misfit} somewhere")
print("cells for 1, 2 and 10 inputs:", 63, 63**2, f"{63**10:.0e}")
erratum(
    "explainers:4.1.1.step3",
    "three steep walls that enclose a region isolate it, with one hidden layer",
    "a second non-linearity has to combine the walls; the sketch proves the "
    "statement for two hidden layers",
    printed_holds=misfit < 0.1,
    corrected_holds=ad.overlap(found, ad.inside(points)) > 0.99,
)

# %% [markdown] covers="cs480:thm9.4"
# ## 4. The same with ReLU
#
# Cs480's theorem 9.4: for continuous $f: \mathbb R^d \to\mathbb R^c$ and $\varepsilon > 0$ there are $k$, $W \in \mathbb R^{k\times d}$, $b\in\mathbb R^k$ and $U\in\mathbb R^{c\times k}$ with
#
# $$\sup_x \big\lVert f(x) - U\sigma(Wx + b)\big\rVert_2 < \varepsilon, \qquad \sigma = \text{ReLU, entry by entry.}$$
#
# For one input and one output the weights can be written down: a broken line through points $(x_i, y_i)$. A unit $\max(0, x - x_i)$ adds a *change of slope* at $x_i$. The form has no output bias; a unit with $W = 0$ and $b = 1$ is the constant 1.


# %% exercise="relu_interpolant" points=3 minutes=10 difficulty=2 covers="cs480:thm9.4"
def relu_interpolant(xs, ys):
    """A ReLU layer that joins points by straight lines.

    xs (n,) strictly increasing, ys (n,), n >= 2. Returns W (k,), b (k,), U (k,) with
    k <= n + 1 such that sum_j U[j] * max(0, W[j] * x + b[j]) is the broken line through
    (xs[i], ys[i]) for xs[0] <= x <= xs[-1]. No output bias. Outside, anything goes.
    xs = [0, 1, 3], ys = [1, 2, 0] could give W = [0, 1, 1], b = [1, 0, -1],
    U = [1, 1, -2]: the constant 1, slope 1 from 0 on, slope 1 - 2 = -1 from 1 on.
    """
    ### BEGIN SOLUTION
    slopes = np.diff(ys) / np.diff(xs)
    W = np.append(0.0, np.ones(len(slopes)))
    b = np.append(1.0, -xs[:-1])
    return W, b, np.concatenate([[ys[0], slopes[0]], np.diff(slopes)])
    ### END SOLUTION


# %% check="relu_interpolant"
check(relu_interpolant)

# %% [markdown] covers="cs480:thm9.4"
# **Find out:** (1) Double the number of pieces for $\sin 3x$. By which factor does the error fall? Steps only halved it. (2) Why is $|x|$ exact for even numbers of pieces? (3) Look outside the blue zone. Does a larger $k$ help there?
#
# **How fast, and where.** If $f$ has a bounded second derivative, a straight piece of width $h$ is off by at most $\max|f''|\,h^2/8$; for $k$ pieces on $[-1, 1]$ that is $\max|f''|/(2k^2)$. The cell checks it for $\sin 3x$.
#
# **The missing word.** Right of its last kink every ReLU network is a straight line. On all of $\mathbb R$ it loses $x^2$, and the sine too: a sloping line runs away, a level one is off by at least 1 somewhere. So the theorem as printed is false. The supremum must range over a *compact* set; the network may depend on it.

# %% covers="cs480:thm9.4"
with after(relu_interpolant):
    explore(
        ad.interpolant_explorer(relu_interpolant),
        target=Dropdown(options=list(ad.SMOOTH), value="sin 3x", description="f"),
        k=IntSlider(4, min=1, max=40, description="pieces k"),
    )
    inner, far = np.linspace(-1, 1, 4001), np.linspace(-100, 100, 4001)
    f, errors = ad.SMOOTH["sin 3x"], {}
    for k in (8, 16, 32, 64):
        knots = np.linspace(-1, 1, k + 1)
        net = relu_interpolant(knots, f(knots))
        errors[k] = ad.sup_error(f, lambda x, net=net: ad.relu_net(x, *net), inner)
        assert errors[k] <= 9 / (2 * k**2) + 1e-5
    print("sup error times k²:", {k: round(e * k * k, 1) for k, e in errors.items()})
    knots = np.linspace(-1, 1, 65)
    beyond = []
    for f in (np.square, np.sin):
        net = relu_interpolant(knots, f(knots))

        def gap(points, f=f, net=net):
            return ad.sup_error(f, lambda x: ad.relu_net(x, *net), points)

        assert gap(inner) < 0.001
        beyond.append(gap(far))
    erratum(
        "cs480:thm9.4",
        r"$\sup \lVert f(x) - g(x)\rVert_2 < \varepsilon$ over $x \in \mathbb R^d$",
        r"over $x$ in a given compact set; on all of $\mathbb R^d$ it fails for "
        r"ReLU, for example for $x^2$ and $\sin x$",
        printed_holds=max(beyond) < 1,
        corrected_holds=gap(inner) < 0.001,
    )

# %% [markdown] covers="wu:2.2 explainers:4.1.1.box-practical"
# ### Will training find it?
#
# The theorem says that good weights *exist*. We compare three ways to get a broken line with $k$ kinks for $\tanh 6x$ on $[-1, 1]$, which bends in the middle only: equal knots, built by you; the same as a *start* for training (mean squared error, Adam), so that knots may move; and training from three random starts.
#
# **Before you look:** which will be best, which worst? And with more kinks?

# %% covers="wu:2.2 explainers:4.1.1.box-practical"
with after(relu_interpolant):
    f, widths, seeds = ad.SMOOTH["tanh 6x"], [4, 8, 16, 32], range(3)
    knots = [np.linspace(-1, 1, k + 1) for k in widths]
    built = [tuple(map(np.ravel, relu_interpolant(x, f(x)))) for x in knots]
    starts = [ad.random_start(k, seed) for k in widths for seed in seeds]
    learned = ad.train_lines(f, built + starts)
    random = [learned[4 + 3 * i : 7 + 3 * i] for i in range(4)]
    show(
        *ad.draw_learned(
            f,
            "Knots that learn beat equal ones, from a good start",
            widths,
            built,
            learned[:4],
            random,
        ),
        digits=0,
    )

# %% [markdown] covers="wu:2.2"
# So "a small architecture approximates complex functions" needs three readings kept apart. **Expressing:** for every continuous target and every ε some width will do. **Rate:** error $\propto k^{-2}$ for smooth targets of *one* input, with the constant depending on the curvature; learned knots improve the constant, not the power. **Learning:** gradient descent from a random start often stops well above what the width allows.
#
# Wu adds that descent from *zero* initialisation regularises implicitly. From all zeros this network does not train at all: hidden values are 0, so the output weights get no gradient; output weights are 0, so the hidden layer gets none. Only the output bias moves.

# %% covers="wu:2.2" demo=true
net = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
for p in net.parameters():
    torch.nn.init.zeros_(p)
x = torch.linspace(-1, 1, 64)[:, None]
optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(200):
    optimiser.zero_grad()
    torch.mean((net(x) - torch.tanh(6 * x) - 0.5) ** 2).backward()
    optimiser.step()
moved = {name: bool(p.abs().max() > 1e-6) for name, p in net.named_parameters()}
print("moved:", [name for name, has in moved.items() if has])
erratum(
    "wu:2.2",
    "gradient descent with zero initialisation gives this network an implicit "
    "regularisation",
    "from zero initialisation only the output bias is trained; small *random* "
    "weights must be meant",
    printed_holds=moved["0.weight"] and moved["2.weight"],
    corrected_holds=moved
    == {"0.weight": False, "0.bias": False, "2.weight": False, "2.bias": True},
)

# %% [markdown] covers="explainers:4.1.1.box-practical"
# ### Is the construction practical?
#
# It shows existence, and no more: trained networks do not look like it. But it gives a picture of **weights as memory**. In the staircase, each pair of neurons is a *key* ("is $x$ in cell $i$?") and its output weights are literally the *value* $f(c_i)$. Edit one value, and the function changes in one cell. The cell doubles one stored value, and then the output weight that contributes most in a trained network of 16 kinks and about the same error.
#
# In language models the MLP layers have been read in just this way: the first matrix asks "does this token's vector speak of *Michael Jordan*?", the second writes *basketball* into the sum. (Explainers, after 3Blue1Brown.) How far the reading goes is a question of later experiments; here, what a trained weight holds is spread over a good part of the line.

# %% covers="explainers:4.1.1.box-practical"
with after(relu_interpolant):
    f = ad.SMOOTH["sin 3x"]
    N = math.ceil(3 * 2 / 0.1)  # Lipschitz constant 3, length 2, ε = 0.1
    steps = ad.notes_staircase(f, -1, 1, N)
    trained = ad.train_lines(f, [ad.random_start(16, seed=1)])[0]
    x = np.linspace(-1, 1, 2001)
    pairs = (ad.sigmoid_net, steps), (ad.relu_net, trained)
    assert all(0.02 < np.abs(net(x, *w) - f(x)).max() < 0.06 for net, w in pairs)
    k = next(k for k in range(1, 99) if 9 / (2 * k**2) < 0.05)
    print(
        "neurons for an error of 0.05 for sin 3x:",
        f"staircase {len(steps[0])}, straight pieces {k}",
    )
    fig, words, shares = ad.draw_memory(steps, trained, f, -1, 1)
    assert shares[0] < 0.02 < 0.25 < shares[1]
    show(fig, words, digits=0)

# %% [markdown] written="what_it_promises" points=2 minutes=5
# **In your words.** A colleague: "By the universal approximation theorem our network with 50 hidden units can learn to predict any stock price for next year." The inputs are the prices of the last thirty days. Name two different reasons why the theorem does not say this.
#
# ### BEGIN SOLUTION
# The theorem says: for a *continuous* function on a *compact* set and a given ε there is *some* width and *some* weights. (1) The width is not ours to choose: 50 units may be far too few, and with thirty inputs the constructions need astronomically many. (2) It says that weights exist, not that gradient descent finds them, nor that the data determine them: nothing about learning from samples or about noise. (3) Next year's inputs may lie outside the set on which the network was fitted, where a ReLU network goes on in straight lines. (4) The price must first *be* a continuous function of those inputs; if other things decide, no function of them will do.
#
# **Rubric**
#
# - 1: names one sound reason (width not fixed in advance, existence is not learnability, only on a compact set, only continuous functions of the inputs)
# - 1: names a second, different one
# ### END SOLUTION

# %% [markdown] covers="cs480:9-depth"
# ## 5. Depth: fold and fold again
#
# One layer of $w$ units has at most $w + 1$ linear pieces on a line: each unit has one kink. What if layers are stacked? The **tent**
#
# $$T(x) = 2\max(0, x) - 4\max(0, x - \tfrac12) \quad\text{on } [0, 1]$$
#
# goes up from 0 to 1 and down again: it *folds* the interval. Whatever comes next runs through $[0, 1]$ twice, forth and back. So $T(T(x))$ has two tents, and $T^n = T\circ\dots\circ T$ has $2^{n-1}$. Build it as a deep network: $n$ hidden layers of two units.


# %% exercise="tent_net" points=3 minutes=10 difficulty=3 covers="cs480:9-depth"
def tent_net(n):
    """A deep ReLU network that is the n-fold tent T(T(…T(x)…)) on [0, 1].

    n >= 0. Returns a list of layers (W, b), W (units, inputs), b (units,): ReLU after
    each layer but the last, one input, one output, at most 2 n hidden units in all.
    n = 0 is the identity, the single layer ([[1]], [0]).
    n = 1 could be [([[1], [1]], [0, -0.5]), ([[2, -4]], [0])].
    """
    ### BEGIN SOLUTION
    layers, W = [], np.array([[1.0]])
    for _ in range(n):
        layers.append((np.vstack([W, W]), np.array([0.0, -0.5])))
        W = np.array([[2.0, -4.0]])
    return [*layers, (W, np.zeros(1))]
    ### END SOLUTION


# %% check="tent_net"
check(tent_net)

# %% covers="cs480:9-depth" demo=true
answers = [19, 100, 1023, 10_000]
predict(
    "Ten layers of two units: 20 hidden units. How many units does a single hidden "
    "layer need at least for the same function on [0, 1]?",
    [f"{n:,}" for n in answers],
    truth=answers.index(2**10 - 1),
    because="The function has 2¹⁰ = 1024 pieces, and w units make at most w + 1.",
)

# %% covers="cs480:9-depth"
with after(tent_net):
    rng, x = np.random.default_rng(0), np.linspace(0, 1, 2**9 + 1)
    for n in range(1, 8):
        y = ad.forward(tent_net(n), x[:, None])[:, 0]
        peaks = np.sum((y[1:-1] > y[:-2]) & (y[1:-1] > y[2:]))
        assert ad.count_pieces(y) == 2**n and peaks == 2 ** (n - 1)
        near = y + rng.uniform(-0.499, 0.499, len(y))
        assert np.sum(np.diff(near > 0.5)) >= 2**n
    sizes = [sum(np.size(p) for layer in tent_net(n) for p in layer) for n in (5, 6, 7)]
    assert sizes[2] - sizes[1] == sizes[1] - sizes[0]  # parameters grow linearly
    place = np.linspace(0, 1, 201)
    for _ in range(300):
        w = rng.integers(1, 12)
        kinks = rng.choice(place[1:-1], w)
        y = np.maximum(0, np.subtract.outer(place, kinks) * rng.choice([-1, 1], w))
        assert ad.count_pieces(y @ rng.normal(size=w)) <= w + 1
    left = {noise: ad.disturbed_pieces(tent_net(10), noise) for noise in (0, 0.01, 0.3)}
    assert left[0] >= 2**10 and left[0.01] > 700 and left[0.3] < 100
    show(*ad.draw_tents(tent_net))

# %% [markdown] covers="cs480:9-depth"
# The cell has counted pieces and peaks of your networks, up to $n = 7$, and pieces of 300 random networks with one layer: never more than $w + 1$. It has also changed every weight of your $T^{10}$ by a random share: of 1 %, and there are about as many pieces as before; of 30 %, and fewer than a hundred of the 1024 are left.
#
# **Nor can a narrow layer come close.** Let $g$ be within less than ½ of $T^n$ everywhere on $[0, 1]$. Between neighbouring zeros and peaks $T^n$ runs from 0 to 1 or back, $2^n$ times; so $g$ crosses the height ½ at least $2^n$ times. A straight piece crosses it once at most. Hence $g$ has at least $2^n$ pieces: $w \ge 2^n - 1$. (The constant ½ is within exactly ½, with no unit at all.) Exponential in one layer, linear in depth. That is a proven **depth separation** (Telgarsky 2016 extends it to several layers against many).
#
# Cs480 states it as $k = \exp(1/\varepsilon)$ for one hidden layer and $\operatorname{poly}(1/\varepsilon)$ for two, in the worst case. Take this as a slogan: it leaves out the number of inputs $d$ and the class of $f$. For a Lipschitz function and *fixed* $d$, one hidden layer gets along with a power of $1/\varepsilon$; proven separations between one and two hidden layers are exponential in $d$ (Eldan and Shamir 2016).
#
# **A useful sawtooth.** Is that a trick for sawteeth only? Look at a smooth function. The broken line through $x^2$ at $2^n + 1$ points differs from that at $2^{n-1}+1$ points by small tents:
#
# $$x^2 \approx x - \sum_{k=1}^n \frac{T^k(x)}{4^k}, \qquad \text{error exactly } 4^{-(n+1)} .$$
#
# All $T^k$ lie on the way of one deep network. One layer with $k$ units has a piece of length $1/(k+1)$ or more, on which no straight line comes closer to $x^2$ than $1/(8(k+1)^2)$. And from squares come products, $xy = \frac12\big((x+y)^2 - x^2 - y^2\big)$, and polynomials (Yarotsky 2017).

# %% covers="cs480:9-depth" demo=true
x = np.linspace(0, 1, 2**12 + 1)


def T(x):
    return 2 * np.maximum(0, x) - 4 * np.maximum(0, x - 0.5)


tent, total = x, x
for n in range(1, 7):
    tent = T(tent)
    total = total - tent / 4**n
    knots = np.linspace(0, 1, 2**n + 1)
    assert np.allclose(total, np.interp(x, knots, knots**2))  # the broken line
    assert np.isclose(np.abs(total - x**2).max(), 4.0 ** -(n + 1))
    assert np.allclose(ad.forward(ad.square_net(n), x[:, None])[:, 0], total)
show(*ad.draw_square())

# %% [markdown] covers="explainers:4.1.box-depth1 explainers:4.1.box-depth2"
# ## 6. Price and ceiling
#
# **Price.** With $n_0$ inputs, hidden layers of $n_1, \dots, n_K$ units and $n_{K+1}$ outputs, one forward pass multiplies $\sum_{j=1}^{K+1} n_{j-1} n_j$ times. If all are $n$: $(K+1)\,n^2$. Linear in depth, quadratic in width.
#
# **Ceiling.** $n$ lines cut the plane into at most $1 + n + \binom n2 = \frac12(n^2 + n + 2)$ regions ([one hidden layer](01_one_hidden_layer.ipynb)). $n$ hyperplanes cut a space of dimension $d$ into at most $\sum_{j=0}^{d}\binom nj$. On each region of the first layer the second one sees an affine image, and cuts it by at most so many again. So
#
# $$\text{regions} \;\le\; \prod_{l=1}^{K}\; \sum_{j=0}^{d_l} \binom{n_l}{j}, \qquad d_l = \min(n_0, n_1, \dots, n_{l-1}).$$
#
# Why the minimum? An affine image cannot have more dimensions than the narrowest layer before it.


# %% exercise="budget" points=2 minutes=7 difficulty=2 covers="explainers:4.1.box-depth1 explainers:4.1.box-depth2"
def budget(sizes):
    """Multiplications of a forward pass, and the upper bound on linear regions.

    sizes: list of integers >= 1, [inputs, hidden layer 1, …, hidden layer K, outputs].
    Returns two integers: the sum of n_(j-1) n_j over all layers (biases are not
    multiplications), and the product above; without hidden layers it is 1.
    budget([2, 4, 4, 1]) gives (28, 121). budget([3, 2, 5, 1]) gives (21, 64): 4 * 16.
    """
    ### BEGIN SOLUTION
    regions = 1
    for layer in range(1, len(sizes) - 1):
        d = min(sizes[:layer])
        regions *= sum(math.comb(sizes[layer], j) for j in range(d + 1))
    return sum(m * n for m, n in zip(sizes, sizes[1:])), regions
    ### END SOLUTION


# %% check="budget"
check(budget)

# %% [markdown] covers="explainers:4.1.box-depth1"
# Does the price hold? A loop that multiplies numbers one by one and counts. Then networks of about the same price, wide and deep: what do they buy? (guo: depth is *sometimes* preferred, for restricted flexibility and time of training. The order of the ceilings says nothing about either.)

# %% covers="explainers:4.1.box-depth1 guo:III.3"
with after(budget):

    def counted(layers, x):
        """Forward pass in plain Python -> output, number of multiplications."""
        count = 0
        for number, (W, b) in enumerate(layers):
            z = [float(c) for c in b]
            for i, row in enumerate(W):
                for weight, value in zip(row, x, strict=True):
                    z[i] += weight * value
                    count += 1
            x = [max(0.0, t) for t in z] if number < len(layers) - 1 else z
        return np.array(x), count

    for sizes in ([2, 5, 1], [3, 4, 4, 4, 2], [1, 9, 7]):
        layers, x = ad.random_layers(sizes, 0), np.ones(sizes[0])
        out, count = counted(layers, x)
        assert np.allclose(out, ad.forward(layers, x[None])[0])
        assert count == budget(sizes)[0]
    price = {(n, K): budget([n] * (K + 2))[0] for n in (8, 16) for K in (3, 7)}
    assert price[16, 3] == 4 * price[8, 3] and price[8, 7] == 2 * price[8, 3]
    for sizes in ([2, 96, 1], [2, 15, 15, 1], [2, 8, 8, 8, 8, 8, 1]):
        print(sizes, "multiplications {}, regions at most {:,}".format(*budget(sizes)))

# %% [markdown] covers="explainers:4.1.box-depth2"
# **Find out:** the lines part the regions of a network drawn at random. (1) One layer of 4, of 8 units: does the count come near the ceilings 11 and 37? (Regions outside the picture are missed.) (2) Twelve units: in one layer of 12, two of 6, four of 3. What happens to the ceiling, what to the count? (3) Where do the lines of the second layer bend?

# %% covers="explainers:4.1.box-depth2" demo=true
on_release = dict(continuous_update=False)
explore(
    ad.draw_region_map,
    width=IntSlider(6, min=1, max=12, description="units a layer", **on_release),
    depth=IntSlider(2, min=1, max=4, description="layers", **on_release),
    seed=IntSlider(0, min=0, max=20, description="draw", **on_release),
)

# %% [markdown] covers="explainers:4.1.box-depth2"
# **How tight are the bounds?** The notes ask, and print for $K$ layers of $n$ units the "upper bound" $\frac12(n^2+n+2)\big(\frac{n}{n_0} + 1\big)^{n_0(K-1)}$. Three remarks, tested below.
#
# - The first factor is the one for *two* inputs, though the formula keeps $n_0$: three planes in space make 8 regions; the formula says 7.
# - For $n_0 = 2$ it is not a proven bound. It resembles published *lower* bounds on what can be reached: $\lfloor n/n_0\rfloor^{n_0(K-1)}\sum_{j \le n_0}\binom{n}{j}$ (Montúfar and others 2014). The product above is safe.
# - For $n = 4$, $K = 2$: printed 99, safe 121. Random networks reach about forty, in many draws. A network that *folds* does not need luck: let four units make $|x_1|$ and $|x_2|$, and put four lines into the folded quarter. Each of its 11 regions appears four times. A search by small random changes, begun there, found 70. How far above that the maximum lies, the bounds do not say.

# %% covers="explainers:4.1.box-depth2"
with after(budget):

    def seen(layers, extent, side):
        codes = ad.pattern_codes(layers, ad.grid_points(extent, side))
        return len(np.unique(codes))

    def most(sizes, extent, side, draws):
        nets = (ad.random_layers(sizes, seed) for seed in range(draws))
        return max(seen(net, extent, side) for net in nets)

    assert (budget([2, 4, 1])[1], budget([2, 8, 1])[1]) == (11, 37)
    assert most([2, 4, 1], 20, 300, 12) == 11  # reached by random lines
    assert 33 < most([2, 8, 1], 10, 400, 12) <= 37
    folded, drawn = seen(ad.folded_layers(), 8, 1000), most([2, 4, 4, 1], 6, 150, 60)
    assert folded == (4 // 2) ** 2 * 11 == 44 and 30 < drawn < 60
    searched = seen(ad.searched_layers(), 8, 1000)
    assert 60 < searched <= budget([2, 4, 4, 1])[1] == 121
    print(
        f"n = 4, two layers: folded {folded}, searched {searched};",
        f"printed {11 * 3**2}, safe 121",
    )
    cube = np.random.default_rng(0).normal(size=(2000, 3))
    eight = len(np.unique(cube > 0, axis=0))  # three planes through the origin
    erratum(
        "explainers:4.1.box-depth2",
        r"for $k$ hidden layers of $n$ neurons and $n_0$ inputs the regions are "
        r"bounded by $\frac12(n^2+n+2)\big(\frac{n}{n_0}+1\big)^{n_0(k-1)}$",
        r"by $\big[\sum_{j\le n_0}\binom nj\big]^k$. The printed first factor is "
        r"that of $n_0 = 2$ (here $n_0 = n = 3$, $k = 1$); even for $n_0 = 2$ the "
        "rest resembles lower bounds on the attainable number and is not proven as an "
        "upper one",
        printed_holds=eight <= (3**2 + 3 + 2) // 2,
        corrected_holds=eight <= budget([3, 3, 1])[1],
    )

# %% [markdown] covers="cs480:9-depth explainers:4.6.Q3"
# ## On real data: does training use the depth?
#
# Digits, 8 × 8 pixels, half of them held out. Three ReLU networks with nearly the same number of parameters: one, two and four hidden layers. We go on straight lines from one held-out digit to another and count how many linear pieces the network has on the way, before and after training. The ceiling grows with depth without measure. What does the count do?
#
# And a fourth question: the two-layer network again, with tanh, GELU, SiLU and the sine for ReLU.

# %% covers="cs480:9-depth explainers:4.6.Q3" demo=true
digits = data.digits()
order = np.random.default_rng(0).permutation(len(digits.y))
X = torch.tensor(digits.X / 16, dtype=torch.float32)[order]
y = torch.tensor(digits.y)[order].long()
Xr, yr, Xt, yt = X[:898], y[:898], X[898:], y[898:]


def fit_digits(widths, phi=torch.relu, steps=150, rate=0.01):
    """Adam on all rows -> layers at the start and trained, held-out accuracy."""
    g, sizes = torch.Generator().manual_seed(0), [64, *widths, 10]
    params = [
        (torch.randn(n, m, generator=g) * (2 / m) ** 0.5, torch.zeros(n))
        for m, n in zip(sizes, sizes[1:])
    ]

    def arrays():
        return [tuple(p.detach().double().numpy() for p in pair) for pair in params]

    first = arrays()
    flat = [p.requires_grad_() for layer in params for p in layer]
    adam = torch.optim.Adam(flat, lr=rate)

    def scores(h):
        for number, (W, b) in enumerate(params):
            h = h @ W.T + b
            h = phi(h) if number < len(params) - 1 else h
        return h

    for _ in range(steps):
        adam.zero_grad()
        torch.nn.functional.cross_entropy(scores(Xr), yr).backward()
        adam.step()
    return first, arrays(), (scores(Xt).argmax(1) == yt).float().mean().item()


A, B, rows = Xt[:30].double().numpy(), Xt[30:60].double().numpy(), []
for widths in ([54], [40, 28], [32, 28, 24, 20]):
    first, last, accuracy = fit_digits(widths)
    pieces = [np.mean(ad.pieces_between(net, A, B)) for net in (first, last)]
    name = f"{len(widths)} hidden:\n" + ", ".join(map(str, widths))
    rows.append(dict(name=name, accuracy=accuracy, pieces=pieces, units=sum(widths)))
show(*ad.draw_digit_nets(rows), digits=0)
kinds = [torch.tanh, torch.nn.functional.gelu, torch.nn.functional.silu, torch.sin]
scores = [fit_digits([40, 28], phi)[2] for phi in kinds]
assert min(scores) > 0.9
print("tanh, GELU, SiLU and sin: all above 90 % on held-out digits")

# %% [markdown] covers="explainers:4.6 cs480:9-depth wu:2.2"
# On a line there are fewer pieces than *units*, whatever the depth, and training adds none worth the name. (Hanin and Rolnick 2019: at random weights the expected number on a line grows in proportion to the number of units, not exponentially with depth.) The exponential sawtooth exists, as you have built it, but it is a needle in the haystack: it outlives small changes of its weights, not large ones, so random weights are nowhere near it, and gradient descent has no reason to look for it. This answers the question of the start. In practice depth pays for other reasons: features built from features, and the parts of the next chapters that make it trainable.
#
# ## Five questions, five answers
#
# Explainers ends with five questions that students ask. Answer each aloud before you read on, and name the experiment above that shows it.
#
# | question | short answer | shown by |
# |---|---|---|
# | Q1 What are activations for? | Without them the network is affine; with them the hidden layer learns a lift in which a flat cut is enough. | disc in a ring |
# | Q2 Why not just one, at the output? | All layers before it collapse: one neuron, one line (parallel lines, if not monotone). | `collapse`, XOR by a Gaussian |
# | Q3 Must they be monotone? | No: GELU, SiLU, even the sine train well. Monotone ones make some proofs easier. | catalogue, digits |
# | Q4 Which one, and when? | Inside: any usual one. At the output: by the range of $y$. | table of outputs |
# | Q5 How to prevent vanishing or exploding gradients? | Skip connections; the right [initial weights and normalisation](04_initialisation_and_normalisation.ipynb). Signals can vanish on the way *forward* just as well. | twenty layers |

# %% [markdown] covers="explainers:4.1.1 cs480:thm9.4 cs480:9-depth"
# ## Take-aways
#
# - Affine upon affine is affine. A network needs a bend, and for training a bend with a slope.
# - **Universal approximation**: one hidden layer, a continuous target, a *compact* set, any ε: some width is enough. Not said: which width, who finds the weights, what happens outside.
# - Steps need about $L(b-a)/\varepsilon$ cells: 63 for the sine and $\varepsilon = 0.1$. Straight pieces need about $\varepsilon^{-1/2}$ for smooth targets. In $m$ dimensions cells grow like $\varepsilon^{-m}$.
# - $n$ layers of two ReLU units make $2^n$ linear pieces; one layer needs $2^n - 1$ units even to come within less than ½. For $x^2$ each layer divides the error by 4.
# - Price $\sum n_{j-1}n_j$; ceiling $\prod_l\sum_{j\le d_l}\binom{n_l}{j}$. Trained networks stay far below it: on a line, fewer pieces than units.
# - Where you will meet it again: [initial weights](04_initialisation_and_normalisation.ipynb) that keep twenty layers alive; [capacity](05_dropout_and_capacity.ipynb), as a network that can fit anything must be held; MLP layers as memory.
#
# ## What the notes got wrong
#
# Each was tested where it belongs: tanh and ELU (cs480), a supremum over all of $\mathbb R^d$ (cs480), the steps that stop half-way with their signs, exponents and counts (explainers, five slips), walls that leak (explainers), a "bound" on regions that three planes break (explainers), "purely linear" for affine (explainers), and the zero start (wu). Cs480's $\exp(1/\varepsilon)$ against $\operatorname{poly}(1/\varepsilon)$ is no error but a slogan, without its conditions.

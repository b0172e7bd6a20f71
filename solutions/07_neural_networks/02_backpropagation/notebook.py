# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] minutes=90 builds="your own automatic differentiation, from one number to a network on digits"
# # Backpropagation and autodiff
#
# Lectures: moon 35.1–36.1 · explainers 4.1, 4.5–4.5.2 · wu 2.2.4, 2.3–2.4 · cs480 9 (definition 9.3 and backpropagation) · guo III.2, III.4–III.6.
#
# A network has thousands of weights. Training asks for the slope of the loss by every one of them, at every step. At the end you can
#
# - write Jacobians in either convention, and test any derivative numerically;
# - trace a network by hand, values forward and adjoints back, and find the slips of somebody who did;
# - write an engine that differentiates any program made of sums, products and bends;
# - derive the four matrix equations, and run them for a whole batch;
# - say why reverse mode is cheap, and when it is not; and where gradients die.

# %%
import math

import numpy as np
import sympy
import torch
from ipywidgets import Dropdown, FloatSlider, IntSlider, SelectionSlider
from scipy.special import expit, log_softmax, softmax

from descent import after, check, erratum, explore, hint, predict, show, start
from descent.pictures.neural_networks import backpropagation as bp

start("07_neural_networks/02_backpropagation")

# %% [markdown] covers="cs480:9-backprop"
# ## Why it matters
#
# How would you find the slope of a loss by each weight? The plain way: nudge one weight, run the network again, look at the loss. That takes one run for every weight.
# Backpropagation gets all slopes at once. Work is counted here in multiplications, for networks that read a digit of 64 pixels and answer with 10 scores. How much does it save?

# %% covers="cs480:9-backprop" demo=true
show(*bp.draw_costs())
for sizes in ([2, 2, 1], [64, 32, 10], [64, 256, 10], [9, 50, 50, 50, 3]):
    cost = bp.gradient_costs(sizes)
    assert cost["backprop"] <= 3 * cost["forward"] + sum(sizes[1:-1])

# %% [markdown] covers="moon:35.1"
# The forward run is paid once more for the weights and once more for the signal between layers: never much above three forward passes in all, however many weights.
#
# ## 1. Derivatives you can test
#
# Every rule below is a claim. So first build the judge. From the definition of the slope, with a step $h$:
#
# $$\text{forward: } \frac{f(x+h)-f(x)}{h} = f'(x) + O(h), \qquad \text{central: } \frac{f(x+h)-f(x-h)}{2h} = f'(x) + O(h^2)$$
#
# (for $f$ smooth enough: twice and three times continuously differentiable). **Find out:** start at $h = 1$ and shorten the step. (1) By how much does each error fall when $h$ falls tenfold? (2) Why do both rise again for tiny $h$? (3) Which $h$ would you use for the central difference?
# (4) Take relu and $x = 0$: what do the two report, and is either a derivative?

# %% covers="moon:35.1" demo=true
on_release = dict(continuous_update=False)
explore(
    bp.differences_explorer(),
    digits=0,
    curve=Dropdown(options=list(bp.CURVES), value="sin x", description="f(x)"),
    x=FloatSlider(0.8, min=-1.5, max=1.5, step=0.1, description="x", **on_release),
    log_h=FloatSlider(0, min=-12, max=0, step=0.5, description="log₁₀ h", **on_release),
)

# %% [markdown] covers="moon:35.1"
# Rounding leaves about $10^{-16}$ in $f$, and dividing by $h$ enlarges it. So errors are near $h^2 + 10^{-16}/h$, smallest near $h \approx 10^{-5}$. In float32 the best error is near $10^{-5}$, too blunt to see a small slip: answer and test in float64; the cells below look at twelve digits.
#
# The rules of the notes, judged. Sum, product and chain rule pass (with vectors, they come below). One rule does not:


# %% covers="moon:35.1" demo=true
def slope(f, x, h=1e-5):
    return (f(x + h) - f(x - h)) / (2 * h)


f, df, g, dg, at = np.sin, np.cos, np.exp, np.exp, np.linspace(-1, 1, 9)
assert np.allclose(slope(lambda x: f(x) + g(x), at), df(at) + dg(at))
assert np.allclose(slope(lambda x: f(x) * g(x), at), df(at) * g(at) + f(at) * dg(at))
assert np.allclose(slope(lambda x: g(f(x)), at), dg(f(at)) * df(at))
single = [
    np.max(np.abs(slope(f, np.float32(at), h) - df(at)))
    for h in np.logspace(-6, -1, 26, dtype=np.float32)
]
assert 1e-6 < min(single) < 1e-4  # the best that float32 can do
quotient = slope(lambda x: f(x) / g(x), at)
first, second = df(at) * g(at), f(at) * dg(at)
erratum(
    "moon:35.1",
    r"$\left(\frac fg\right)' = \frac{f'g + fg'}{g^2}$",
    r"$\left(\frac fg\right)' = \frac{f'g - fg'}{g^2}$",
    printed_holds=np.allclose(quotient, (first + second) / g(at) ** 2),
    corrected_holds=np.allclose(quotient, (first - second) / g(at) ** 2),
)
x, y = sympy.symbols("x y")
bowl = (x + 2 * y**3) ** 2  # the example of the notes, and the half they leave out
assert sympy.expand(sympy.diff(bowl, x) - 2 * (x + 2 * y**3)) == 0
assert sympy.expand(sympy.diff(bowl, y) - 12 * y**2 * (x + 2 * y**3)) == 0

# %% [markdown] covers="moon:35.3"
# ### Jacobians, and which way they lie
#
# For $f: \mathbb R^n \to \mathbb R^m$ the **Jacobian** holds all slopes: row $i$ for output $i$, column $j$ for input $j$,
#
# $$\Big[\frac{\partial f}{\partial x}\Big]_{ij} = \frac{\partial f_i}{\partial x_j}, \qquad m \times n .$$
#
# This is the *numerator layout*. The slope of a number by a vector is then a **row**, of a vector by a number a column. (A gradient $\nabla f$ is the same row as a column, so that it can be added to $x$.)
# Write it, with central differences. (Stuck? `hint(jacobian)`, up to three times; so for every exercise.)


# %% exercise="jacobian" points=2 minutes=6 difficulty=1 covers="moon:35.3 moon:35.1"
def jacobian(f, x, h=1e-5):
    """Jacobian of f at x by central differences with step h.

    f: function (n,) -> (m,), or -> a number, which counts as m = 1.
    x (n,), float64; leave it as it is, f may hand it back. -> (m, n), also for m = 1.
    f = lambda x: np.array([x[0] * x[1], x[0] + x[1], 7.0]) at x = [2, 3]
    gives [[3, 2], [1, 1], [0, 0]].
    """
    ### BEGIN SOLUTION
    columns = []
    for step in h * np.eye(len(x)):
        change = np.atleast_1d(f(x + step)) - np.atleast_1d(f(x - step))
        columns.append(change / (2 * h))
    return np.stack(columns, axis=1)
    ### END SOLUTION


# %% check="jacobian"
check(jacobian)

# %% [markdown] covers="moon:35.3 cs480:def9.3"
# Now a table of rules, each tried on random numbers by your `jacobian`. Remember the shapes: they are half of every derivation below.
#
# | $f(x)$ | numerator layout (a row for each output) | gradient layout (shape of $x$) |
# | --- | --- | --- |
# | $a^\top x$ | $a^\top$ | $a$ |
# | $Ax$, with $A$ of $m\times n$ | $A$ | none: not a scalar |
# | $x^\top A x$ | $x^\top(A + A^\top)$ | $(A + A^\top)x$ |

# %% covers="moon:35.3"
with after(jacobian):
    rng = np.random.default_rng(0)
    A, S = rng.normal(size=(2, 3)), rng.normal(size=(3, 3))
    a, v = rng.normal(size=(2, 3))
    assert np.allclose(jacobian(lambda x: a @ x, v), a[None])
    assert np.allclose(jacobian(lambda x: A @ x, v), A)
    bowl = np.array(jacobian(lambda x: x @ S @ x, v))
    assert np.allclose(bowl, (v @ (S + S.T))[None], atol=1e-8)
    product = jacobian(lambda x: (a @ x) * (x @ S @ x), v)  # the product rule
    assert np.allclose(product, [(v @ S @ v) * a + (a @ v) * bowl[0]], atol=1e-8)
    J_torch = torch.autograd.functional.jacobian  # lies the same way
    tA, tS, ta, tv = (torch.tensor(value) for value in (A, S, a, v))
    assert np.allclose(J_torch(lambda x: tA @ x, tv), A)
    assert np.allclose(J_torch(lambda x: ta @ x, tv), a)
    assert np.allclose(J_torch(lambda x: x @ tS @ x, tv), v @ (S + S.T))
    m, n = A.shape
    shape = np.shape(jacobian(lambda x: A @ x, v))
    erratum(
        "moon:35.3",
        r"$\partial\mathbf y/\partial\mathbf x$ runs to $\partial y_n/\partial x_n$, "
        r"so it is $n\times n$; the heading says “by a scalar $\mathbf x$”, in bold",
        r"for $\mathbf y \in \mathbb R^m$ it is $m \times n$, as the notes "
        r"themselves use it for $A\mathbf x$; a scalar $x$ is not bold",
        printed_holds=shape == (n, n),
        corrected_holds=shape == (m, n),
    )

# %% [markdown] covers="cs480:def9.3"
# **By a matrix.** For a number $y$ that depends on a matrix $X$, collect $\big[\frac{\partial y}{\partial X}\big]_{ij} = \frac{\partial y}{\partial X_{ij}}$: the same shape as $X$, so that $X - \eta\,\partial y/\partial X$ makes sense.
# cs480 guesses such formulas by analogy with numbers, then arranges the factors until the shapes fit. A good habit, with a trap. Guess:

# %% covers="cs480:def9.3" demo=true
rng = np.random.default_rng(1)
X, A, a, b = rng.normal(size=(3, 3)), rng.normal(size=(3, 3)), *rng.normal(size=(2, 3))


def by_matrix(f, X, h=1e-5):
    E = h * np.eye(X.size).reshape(-1, *X.shape)
    return np.array([f(X + e) - f(X - e) for e in E]).reshape(X.shape) / (2 * h)


true = by_matrix(lambda X: a @ X @ b, X)
candidates = [np.outer(a, b), np.outer(b, a), (a @ b) * np.eye(3)]
assert np.allclose(by_matrix(lambda X: np.trace(A @ X), X), A.T)
assert np.allclose(by_matrix(lambda X: np.sum(X**2), X), 2 * X)
predict(
    "y = aᵀ X b with a, b of length 3. Three formulas with the shape of X. "
    "Which is ∂y/∂X?",
    ["a bᵀ", "b aᵀ", "(aᵀb) I", "the shapes do not tell, so all three"],
    truth=int(np.argmax([np.allclose(true, c) for c in candidates])),
    because="y = Σ a_i X_ij b_j, so the slope by X_ij is a_i b_j: row index with a. "
    "All three candidates have the right shape. Shapes find a formula; a test decides.",
)

# %% [markdown] covers="cs480:def9.3 moon:35.2"
# The cell has tried two more: $\partial \operatorname{tr}(AX)/\partial X = A^\top$ and $\partial \lVert X\rVert_F^2/\partial X = 2X$. Give $a$ and $b$ different lengths, and the shapes would have saved you. Square examples hide transposed matrices; keep this in mind for your tests.
#
# ## 2. The chain rule as a product
#
# If $x$ depends on $s$ and $f$ on $x$, then Jacobians multiply:
#
# $$\frac{\partial f}{\partial s} = \frac{\partial f}{\partial x}\,\frac{\partial x}{\partial s}, \qquad\text{entry by entry}\qquad \frac{\partial f_i}{\partial s_k} = \sum_j \frac{\partial f_i}{\partial x_j}\frac{\partial x_j}{\partial s_k}.$$
#
# The sum runs over all **paths** from $s_k$ to $f_i$. With one number $f$ and two intermediate values it is $(1\times2)(2\times2)$; a deep network is a long product. Your judge agrees:

# %% covers="moon:35.2"
with after(jacobian):

    def inner(s):
        return np.array([s[0] * s[1], np.sin(s[0]) + s[1] ** 2])  # x(s, t)

    def outer(x):
        return x[0] ** 2 * x[1]

    st = np.array([0.7, -1.2])
    J_outer, J_inner = jacobian(outer, inner(st)), jacobian(inner, st)
    assert np.shape(J_outer) == (1, 2) and np.shape(J_inner) == (2, 2)
    composed = jacobian(lambda s: outer(inner(s)), st)
    assert np.allclose(composed, np.matmul(J_outer, J_inner))

    def curve(t):
        return inner(np.array([t[0], t[0] ** 2]))  # both depend on one t

    total = jacobian(lambda t: outer(curve(t)), np.array([0.7]))
    first, second = jacobian(outer, curve([0.7])), jacobian(curve, np.array([0.7]))
    assert np.allclose(total, np.matmul(first, second))

# %% [markdown] covers="explainers:4.5"
# ### Partial or total?
#
# A program is a graph: each node is computed from its inputs. explainers' example is $L = \theta_2 + x_3 + \theta_1x_1x_2$, as five nodes $v_1=x_1$, $v_2=x_2$, $v_3 = \theta_1v_1v_2$, $v_4=x_3$, $v_5 = \theta_2 + v_3 + v_4$.
#
# - $\partial v_5/\partial\theta_1$, **partial**: the formula of node 5 alone, all its inputs held fixed. It does not contain $\theta_1$: the answer is 0.
# - $dv_5/d\theta_1$, **total**: what really happens to $v_5$ when $\theta_1$ moves, through all nodes between: $v_1v_2$.
#
# Descent needs the total one. The **adjoint** of a node is the total derivative of the result by that node, $dL/dv$. Read the picture from the right: the result has adjoint 1, and each node hands its adjoint on, times the partial slope on the edge.

# %% covers="explainers:4.5" demo=true
x1, x2, x3, t1, t2, v3, v4 = sympy.symbols("x1 x2 x3 theta1 theta2 v3 v4")
node5 = t2 + v3 + v4
assert sympy.diff(node5, t1) == 0  # partial
assert sympy.diff(node5.subs({v3: t1 * x1 * x2, v4: x3}), t1) == x1 * x2  # total
values = {"x1": 2.0, "x2": 3.0, "x3": 4.0, "θ1": -1.0, "θ2": 0.5}
values["v3"] = values["θ1"] * values["x1"] * values["x2"]
values["v5"] = values["θ2"] + values["v3"] + values["x3"]
adjoints = {"v5": 1.0, "v3": 1.0, "x3": 1.0, "θ2": 1.0}
adjoints |= {"x1": values["θ1"] * values["x2"], "x2": values["θ1"] * values["x1"]}
adjoints["θ1"] = values["x1"] * values["x2"]
show(*bp.draw_dag(values, adjoints))

# %% [markdown] covers="moon:36.1 cs480:9"
# ## 3. A network by hand
#
# moon's network has two inputs, two hidden units and one output, no biases, one training example with target $t$:
#
# $$z_1 = w_1x_1 + w_2x_2,\quad z_2 = w_3x_1 + w_4x_2,\quad h_i = \varphi(z_i),\quad z_3 = w_5h_1 + w_6h_2,\quad y = \sigma(z_3),\quad L = \tfrac12(y-t)^2 .$$
#
# (With biases, as in cs480, $z = Ux + c$, $\hat y = \langle h, w\rangle + b$, it has $4+2+2+1 = 9$ parameters.) **Find out:** set the step to 0 and go on to 11.
# (1) Which numbers of the forward pass are used again on the way back? (2) Why are the slopes by $w_2$ and $w_4$ exactly 0? (3) Choose relu and make $w_3$ negative. What does the grey unit receive, and what does it pass on? (4) Which single weight would you change to lower $L$ fastest?


# %% covers="moon:36.1 cs480:9-backprop wu:2.2.4" demo=true
def weight(number, start_at):
    return FloatSlider(
        start_at,
        min=-2,
        max=2,
        step=0.05,
        description=f"w{number}",
        continuous_update=False,
    )


def lazy(value, low, high, name):
    return FloatSlider(
        value, min=low, max=high, step=0.1, description=name, continuous_update=False
    )


explore(
    bp.graph_explorer(),
    step=IntSlider(11, min=0, max=11, description="step", continuous_update=False),
    **{f"w{i + 1}": weight(i + 1, w) for i, w in enumerate(bp.NOTES_W)},
    x1=lazy(1, -2, 2, "x1"),
    x2=lazy(0, -2, 2, "x2"),
    t=lazy(1, 0, 1, "target t"),
    act=Dropdown(options=["sigmoid", "relu"], description="hidden units"),
)

# %% [markdown] covers="moon:36.1"
# Every arrow back multiplies by one local slope:
#
# $$\frac{\partial L}{\partial z_3} = (y-t)\,y(1-y), \qquad \frac{\partial L}{\partial w_5} = \frac{\partial L}{\partial z_3}\,h_1, \qquad
# \frac{\partial L}{\partial w_1} = \frac{\partial L}{\partial z_3}\,w_5\,\varphi'(z_1)\,x_1 ,$$
#
# and $w_6$, which the notes leave to the reader, goes like $w_5$ with $h_2$. The slope of relu is 1 for $z > 0$ and 0 for $z < 0$. At $z = 0$ there is none; programs take **0**, and so do we.


# %% exercise="backprop_221" points=3 minutes=8 difficulty=1 covers="moon:36.1 wu:2.2.4"
def backprop_221(w, x, t, act):
    """Loss of the 2-2-1 network and its slopes by the six weights.

    w (6,), x (2,), t a number. act: activation of the hidden units, "sigmoid" or
    "relu"; the output unit is always a sigmoid. -> L, grads (6,)
    w = [1, 0, 0, 1, 1, -1], x = [1, 1], t = 0, act = "relu" gives L = 0.125 and
    grads = [0.125, 0.125, -0.125, -0.125, 0.125, 0.125]: z3 = 0, so y = 1/2.
    """
    ### BEGIN SOLUTION
    z1, z2 = w[0] * x[0] + w[1] * x[1], w[2] * x[0] + w[3] * x[1]
    if act == "sigmoid":
        h1, h2 = expit(z1), expit(z2)
        slope1, slope2 = h1 * (1 - h1), h2 * (1 - h2)
    else:
        h1, h2 = max(z1, 0.0), max(z2, 0.0)
        slope1, slope2 = float(z1 > 0), float(z2 > 0)
    y = expit(w[4] * h1 + w[5] * h2)
    dz3 = (y - t) * y * (1 - y)
    dz1, dz2 = dz3 * w[4] * slope1, dz3 * w[5] * slope2
    grads = [dz1 * x[0], dz1 * x[1], dz2 * x[0], dz2 * x[1], dz3 * h1, dz3 * h2]
    return (y - t) ** 2 / 2, np.array(grads)
    ### END SOLUTION


# %% check="backprop_221"
check(backprop_221)

# %% [markdown] covers="moon:36.1"
# ### The notes' numbers, to the last digit
#
# The notes take $w = (0.5, -0.5, 0.3, 0.1, 0.2, -0.1)$ and $x = (1, 0)$; they never state the target, nor the forward pass. $\partial L/\partial z_3 \approx -0.1206$ fits $t = 1$. Then $L = 0.116763$ and $\partial L/\partial z_3 = -0.120675$. Look at the last digits:

# %% covers="moon:36.1"
with after(backprop_221, jacobian):
    w, x = bp.NOTES_W, np.array([1.0, 0.0])
    L, grads = backprop_221(w, x, 1.0, "sigmoid")
    known = bp.two_two_one(w, x, 1.0, "sigmoid")
    numeric = jacobian(lambda w: backprop_221(w, x, 1.0, "sigmoid")[0], w)[0]
    assert np.allclose(grads, numeric, atol=1e-10)  # finite differences
    print(f"L = {L:.6f}, dL/dz3 = {known['dz3']:.6f}")
    printed = [-0.005667, 0, 0.002950, 0, -0.07509, -0.06930]
    for i in (0, 2, 4, 5):
        print(f"w{i + 1}: exact {grads[i]:.6f}, notes {printed[i]:.6f}")
    correct = [-0.005672, 0, 0.002950, 0, -0.075116, -0.069321]
    erratum(
        "moon:36.1",
        r"$\frac{\partial L}{\partial z_3} = -0.12058$, and gradients $-0.005667$, "
        r"$0.002950$, $-0.07509$, $-0.06930$ for $w_1, w_3, w_5, w_6$",
        r"$-0.12068$, and $-0.005672$, $0.002950$, $-0.075116$, $-0.069321$",
        printed_holds=np.allclose(grads, printed, rtol=0, atol=5e-6)
        and round(known["dz3"], 5) == -0.12058,
        corrected_holds=np.allclose(grads, correct, rtol=0, atol=6e-7)
        and round(known["dz3"], 5) == -0.12068,
    )
    h2 = expit(0.3)
    y = round(expit(0.06705), 5)  # rounded as one goes, five decimals
    assert round((y - 1) * round(y * (1 - y), 5), 5) == -0.12067
    assert round(-0.12058 * 0.62246, 5) == -0.07506
    erratum(
        "moon:36.1",
        r"$h_2(1-h_2) = 0.57444\cdot0.42556 \approx 0.24450$",
        r"$0.24446$",
        printed_holds=round(h2 * (1 - h2), 5) == 0.24450,
        corrected_holds=round(h2 * (1 - h2), 5) == 0.24446,
    )
    by_relu = bp.two_two_one(bp.NOTES_W, (1, 0), 1.0, "relu")
    by_sigmoid = bp.two_two_one(bp.NOTES_W, (1, 0), 1.0, "sigmoid")
    erratum(
        "moon:36.1",
        r"$h_1 = \mathrm{ReLU}(z_1)$, $h_2 = \mathrm{ReLU}(z_2)$",
        r"$h_i = \sigma(z_i)$, as the notes write further down: all numbers use it, "
        r"$h = (0.62246, 0.57444)$. ReLU would give $h = (0.5, 0.3)$ and the gradient "
        r"$(-0.024096, 0, 0.012048, 0, -0.060240, -0.036144)$",
        printed_holds=round(by_relu["h1"], 5) == 0.62246,
        corrected_holds=(round(by_sigmoid["h1"], 5), round(by_sigmoid["h2"], 5))
        == (0.62246, 0.57444)
        and [round(by_relu[w], 6) for w in ("dw1", "dw6")] == [-0.024096, -0.036144],
    )

# %% [markdown] covers="moon:36.1 moon:36.1-step"
# Where do they go wrong? Not by rounding as one goes: with five decimals throughout one gets $-0.12067$. $-0.12058$ is off in the fourth decimal, as if a digit had been miscopied, and the last two gradients do not even follow from it: $-0.12058\cdot0.62246 = -0.07506$, not $-0.07509$. The serious slip is the last: the network is declared with ReLU, and computed with the sigmoid.
#
# ### One step, and forty
#
# $w \leftarrow w - \eta\,\nabla L$. With $\eta = 0.1$ the notes find $0.50057, -0.5, 0.299705, 0.1, 0.20751, -0.09307$. Then everything repeats. **Find out:** (1) Read off the weights after step 1. Do the slips in the gradient matter here? (2) With target 1 none of these η makes the loss rise. Why not? (3) Set the target to 0.6. From which η on does the descent overshoot? (4) Why do $w_2$ and $w_4$ never move?

# %% covers="moon:36.1-step" demo=true
explore(
    bp.descent_explorer(),
    eta=SelectionSlider(options=[0.1, 1, 10, 30, 100, 300], value=0.1, description="η"),
    t=FloatSlider(1, min=0.1, max=1, step=0.1, description="target t"),
    step=IntSlider(1, min=0, max=40, description="step"),
)

# %% covers="moon:36.1-step"
with after(backprop_221):
    w, x = bp.NOTES_W, np.array([1.0, 0.0])
    L, grads = backprop_221(w, x, 1.0, "sigmoid")
    stepped = w - 0.1 * np.asarray(grads)
    notes = [0.50057, -0.5, 0.299705, 0.1, 0.20751, -0.09307]
    assert np.allclose(stepped, notes, rtol=0, atol=1e-5)
    assert backprop_221(stepped, x, 1.0, "sigmoid")[0] < L
    assert stepped[1] == w[1] and stepped[3] == w[3]  # their input is 0
    path, losses = bp.train_221(w, x, 1.0, 0.1, 1)
    assert np.allclose(path[1], stepped) and np.isclose(losses[0], L)
    rows = [(np.array([1.0, 0.0]), 1.0), (np.array([0.5, -1.0]), 0.0)]
    mean = np.mean([backprop_221(w, x, t, "sigmoid")[1] for x, t in rows], axis=0)

    def batch_loss(w):
        return np.mean([backprop_221(w, x, t, "sigmoid")[0] for x, t in rows])

    nudged = [(batch_loss(w + e) - batch_loss(w - e)) / 2e-5 for e in 1e-5 * np.eye(6)]
    assert np.allclose(mean, nudged, atol=1e-9)  # a batch: the mean of the gradients

# %% [markdown] covers="moon:36.1-step"
# (2) $y < 1$ for every finite $z_3$. With this start every step raises $z_3$ towards a target that it never reaches, so there is nothing to overshoot. For several examples, average (or add) the gradients, as the cell has tried.
#
# ## 4. An engine
#
# Drawing every network by hand is a waste. Let each number remember how it was made, and the graph draws itself.
#
# A `Value` holds `data`, the `inputs` it was computed from, and the `slopes`: the partial derivative of this value by each input. From $c = a\cdot b$ with $a = 2$, $b = 5$: data 10, inputs $(a, b)$, slopes $(5, 2)$. Then
#
# $$\frac{dv_N}{dv_N} = 1, \qquad \frac{dv_N}{dv_k} = \sum_{c \,\in\, \mathrm{Ch}(v_k)} \frac{dv_N}{dv_c}\,\frac{\partial v_c}{\partial v_k} ,$$
#
# where $\mathrm{Ch}(v_k)$ are the values computed *from* $v_k$ (its children). Parameters are leaves of the graph like any other, so explainers' second formula, $\frac{dv_N}{d\theta_i} = \sum_k \frac{dv_N}{dv_k}\frac{\partial v_k}{\partial \theta_i}$, is the same rule once more. Two questions decide how to program it. The first:

# %% covers="explainers:4.5.1" demo=true
a = torch.tensor(3.0, requires_grad=True)
(a * a + a).backward()
predict(
    "y = a·a + a at a = 3. Somebody writes u.grad = slope * v.grad, so that the last "
    "share overwrites the earlier ones. The edges into a carry 3, 3 and 1. What must "
    "a.grad be?",
    ["1", "3", "6", "7"],
    truth=[1, 3, 6, 7].index(int(a.grad)),
    because="A value that is used three times gets three shares, and they add up: "
    "3 + 3 + 1 = 2a + 1. So: u.grad += slope * v.grad.",
)

# %% [markdown] covers="explainers:4.5.1"
# The second question: *when* may a value pass its grad on? Only when all its children have reported. So list the values in a **topological order**, inputs before children ([How this course works](../00_start_here/01_how_this_course_works.ipynb) has the exercise), and walk it from its end.
# An easy way to get one: visit the inputs of a value first, each value once (remember them in a `set`: a list would be searched from end to end every time), and append the value after them.
#
# Your `backward` starts from zeros, so that a second call gives the same numbers. `exp` is given, as a pattern; numbers on either side, `-` and `log` too.


# %% exercise="Value" points=5 minutes=15 difficulty=3 covers="explainers:4.5.1 moon:36.1 cs480:9-backprop"
class Value:
    """A number that remembers how it was made.

    data: the number. inputs: the Values it was made from. slopes: its partial
    derivative by each of them, in the same order. grad: 0.0, until backward is called.
    """

    def __init__(self, data, inputs=(), slopes=()):
        self.data, self.inputs, self.slopes = data, inputs, slopes
        self.grad = 0.0

    def exp(self):
        result = math.exp(self.data)
        return Value(result, (self,), (result,))

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
        """max(data, 0), slope 0 at 0."""
        ### BEGIN SOLUTION
        return Value(max(self.data, 0.0), (self,), (float(self.data > 0),))
        ### END SOLUTION

    def sigmoid(self):
        """1 / (1 + exp(-data)). Value(0.0).sigmoid(): data 0.5, slopes (0.25,)."""
        ### BEGIN SOLUTION
        result = 1 / (1 + math.exp(-self.data))
        return Value(result, (self,), (result * (1 - result),))
        ### END SOLUTION

    def backward(self):
        """Set grad of self and of all values behind it: the derivative of self by them.

        A second call gives the same grads. Other values stay as they are.
        a = Value(3.0); y = a * a + a; y.backward() sets a.grad = 7.0, y.grad = 1.0.
        """
        ### BEGIN SOLUTION
        order, seen = [], set()

        def visit(v):
            if v not in seen:
                seen.add(v)
                for u in v.inputs:
                    visit(u)
                order.append(v)

        visit(self)
        for v in order:
            v.grad = 0.0
        self.grad = 1.0
        for v in reversed(order):
            for u, slope in zip(v.inputs, v.slopes):
                u.grad += slope * v.grad
        ### END SOLUTION

    # The rest is made of the above.
    def log(self):
        return Value(math.log(self.data), (self,), (1 / self.data,))

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other


# %% check="Value"
check(Value)

# %% [markdown] covers="explainers:4.5.1 explainers:4.5"
# Fifty lines, and they differentiate any program built from these operations. Try the five nodes of explainers, where $dL/d\theta_1 = v_1v_2$ and $dL/d\theta_2 = 1$, then moon's network against your hand-made answer, against torch and against finite differences:

# %% covers="explainers:4.5.1 explainers:4.5 moon:36.1"
with after(Value, backprop_221, jacobian):
    x1, x2, x3, t1, t2 = (Value(v) for v in (2.0, 3.0, 4.0, -1.0, 0.5))
    (t2 + t1 * x1 * x2 + x3).backward()
    assert (t1.grad, t2.grad) == (6.0, 1.0) and (x1.grad, x2.grad) == (-3.0, -2.0)

    def loss_221(w, x, t):
        h1 = (w[0] * x[0] + w[1] * x[1]).sigmoid()
        h2 = (w[2] * x[0] + w[3] * x[1]).sigmoid()
        error = (w[4] * h1 + w[5] * h2).sigmoid() - t
        return 0.5 * error * error

    w = [Value(v) for v in bp.NOTES_W.tolist()]
    L = loss_221(w, (1.0, 0.0), 1.0)
    L.backward()
    grads = [v.grad for v in w]
    w_torch = torch.tensor(bp.NOTES_W, requires_grad=True)
    loss_221(w_torch, (1.0, 0.0), 1.0).backward()  # the very same program
    by_hand = backprop_221(bp.NOTES_W, (1.0, 0.0), 1.0, "sigmoid")

    def rerun(w):
        return backprop_221(w, (1.0, 0.0), 1.0, "sigmoid")[0]

    assert np.allclose(grads, w_torch.grad, rtol=0, atol=1e-12)
    assert np.allclose(grads, by_hand[1], rtol=0, atol=1e-12)
    assert np.isclose(L.data, by_hand[0], rtol=0, atol=1e-12)
    assert np.allclose(grads, jacobian(rerun, bp.NOTES_W)[0], atol=1e-10)
    print(f"L = {L.data:.5f}, {len(bp.topological(L))} values in the graph")

# %% [markdown] covers="guo:III.4 wu:2.4.1"
# ### A chain of scalars
#
# guo's smallest deep network has one unit in each layer: $h_1 = \sigma(w_0x)$, $h_2 = \sigma(w_1h_1)$, $E = w_2h_2$, loss $\ell = \frac1N\sum_n(E_n - y_n)^2$. Along a chain there is one path, so each derivative is one product:
#
# $$\frac{\partial\ell}{\partial w_2} = \overline{2(E-y)\,h_2},\qquad \frac{\partial\ell}{\partial w_1} = \overline{2(E-y)\,w_2\,h_2(1-h_2)\,h_1},\qquad \frac{\partial\ell}{\partial w_0} = \overline{2(E-y)\,w_2\,h_2(1-h_2)\,w_1\,h_1(1-h_1)\,x}$$
#
# (the bar: mean over the rows). Each line repeats the one before and adds two factors. wu says it layer by layer, for $z = Wh_\text{in} + b$, $h = \varphi(z)$:
#
# $$\frac{\partial \ell}{\partial z} = \frac{\partial\ell}{\partial h}\varphi'(z), \qquad \frac{\partial\ell}{\partial W} = \frac{\partial\ell}{\partial z}h_\text{in}, \qquad \frac{\partial\ell}{\partial b} = \frac{\partial\ell}{\partial z}, \qquad \frac{\partial\ell}{\partial h_\text{in}} = \frac{\partial\ell}{\partial z}W.$$
#
# Take $x = 2$, $y = 1$, $w = (0.5, -1, 2)$ and fill in the lower line on paper, from right to left. Then let your engine do it:
#
# | | $w_0$ | $w_1$ | $w_2$ | $z_1$ | $h_1$ | $z_2$ | $h_2$ | $E$ | $\ell$ |
# | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
# | forward | 0.5 | −1 | 2 | 1 | 0.731 | −0.731 | 0.325 | 0.650 | 0.123 |
# | backward | ? | ? | ? | ? | ? | ? | ? | ? | 1 |

# %% covers="guo:III.4 wu:2.4.1"
with after(Value):
    w0, w1, w2 = (Value(v) for v in (0.5, -1.0, 2.0))
    rows = {"z1": w0 * 2.0}
    rows["h1"] = rows["z1"].sigmoid()
    rows["z2"] = w1 * rows["h1"]
    rows["h2"] = rows["z2"].sigmoid()
    rows["E"] = w2 * rows["h2"]
    error = rows["E"] - 1.0
    rows["loss"] = error * error
    rows["loss"].backward()
    for name, v in (rows | {"w0": w0, "w1": w1, "w2": w2}).items():
        print(f"{name:>4}  forward {v.data:7.4f}   backward {v.grad:7.4f}")
    h1, h2, E = (rows[name].data for name in ("h1", "h2", "E"))
    table = [1, 0.731, -0.731, 0.325, 0.650, 0.123]
    assert np.allclose([v.data for v in rows.values()], table, rtol=0, atol=6e-4)
    back = 2 * (E - 1) * 2.0 * h2 * (1 - h2)
    assert np.isclose(w2.grad, 2 * (E - 1) * h2) and np.isclose(w1.grad, back * h1)
    assert np.isclose(w0.grad, back * -1.0 * h1 * (1 - h1) * 2.0)
    rng = np.random.default_rng(2)  # now five rows, by torch
    w, (x, y) = torch.tensor([0.5, -1, 2], requires_grad=True), rng.normal(size=(2, 5))
    h1 = torch.sigmoid(w[0] * torch.tensor(x))
    loss = ((w[2] * torch.sigmoid(w[1] * h1) - torch.tensor(y)) ** 2).mean()
    loss.backward()
    H1 = expit(0.5 * x)
    H2 = expit(-H1)
    terms = 2 * (2 * H2 - y) * 2 * H2 * (1 - H2) * H1
    erratum(
        "guo:III.4",
        r"$\frac{d\ell}{dw_{L-1}} = \frac1N\,2(y_n - w_Lh_L)(-w_L)\,\phi'\,h_{L-1}$, "
        r"without a sum",
        r"$\frac1N\sum_{n=1}^N$ of these terms",
        printed_holds=np.isclose(terms[-1] / 5, float(w.grad[1])),
        corrected_holds=np.isclose(terms.sum() / 5, float(w.grad[1])),
    )
    erratum(
        "guo:III.4",
        r"in the chain for $w_0$: $\frac{dh_{n,1}}{d(w_0\cdot h)}\frac{d(w_0\cdot "
        r"h)}{dw_0}$",
        r"$\frac{dh_{n,1}}{d(w_0\cdot x_n)}\frac{d(w_0\cdot x_n)}{dw_0}$: the first "
        r"layer reads $x$",
    )

# %% [markdown] covers="wu:2.3 explainers:4.1 explainers:4.1.ex4.1 guo:III.2 cs480:9"
# ## 5. Layers
#
# Now many units side by side. A **multilayer perceptron** with $L$ layers, $d_l$ units in layer $l$:
#
# $$h^{(0)} = x, \qquad z^{(l)} = W^{(l)}h^{(l-1)} + b^{(l)}, \qquad h^{(l)} = \varphi_l(z^{(l)}), \qquad W^{(l)} \in \mathbb R^{d_l\times d_{l-1}} .$$
#
# Unit $k$ for itself: $z_k = \sum_j W_{kj}h_j + b_k$; the weight $W_{kj}$ leads *from* $j$ *to* $k$. The last layer often has no activation. (wu writes $s$ for our $z$, explainers $a$ for our $h$ and counts $k$ hidden layers; guo's $W$ is our $W^\top$. cs480 stacks $x \mapsto Ux+c$, a bend and a weighted sum, then takes the sign or a sigmoid. An activation that acts on each unit alone excludes softmax. What such functions can approximate is the question of the [next notebook](03_approximation_and_depth.ipynb).)
#
# The cell writes the forward pass in six lines, and tests it four times: against loops, against torch, against explainers' 2–1–2 network spelled out with symbols, and with guo's trick: append a 1 to $h$, and the bias $b$ becomes one more column of $W$. Then a network to play with.
#
# **Find out:** (1) Where do the 39 parameters of wu's 4-4-3-1 network come from? (2) Make both hidden layers 2 wide, then 4: which matrix doubles, which grows fourfold? (3) With relu, how many hidden units are silent, and with tanh?


# %% covers="explainers:4.1.ex4.1 explainers:4.1 wu:2.3 guo:III.2 cs480:9" demo=true
def mlp_forward(Ws, bs, phis, x):
    """All z and h, one list each (h[0] is x). Works for numpy arrays and symbols."""
    zs, hs = [], [x]
    for W, b, phi in zip(Ws, bs, phis):
        zs.append(W @ hs[-1] + b)
        hs.append(phi(zs[-1]))
    return zs, hs


def n_params(sizes):
    return sum(d * (before + 1) for before, d in zip(sizes, sizes[1:]))


assert (n_params([2, 2, 1]), n_params([4, 4, 3, 1])) == (9, 39)
Ws, bs = bp.random_network([4, 4, 3, 1], np.random.default_rng(3))
x, phis = np.array([1.0, -0.5, 0.8, -1.2]), [np.tanh, np.tanh, lambda z: z]
_, hs = mlp_forward(Ws, bs, phis, x)
looped, extended = x, x
for W, b, phi in zip(Ws, bs, phis):
    looped = np.array(
        [
            phi(sum(W[k, j] * looped[j] for j in range(W.shape[1])) + b[k])
            for k in range(W.shape[0])
        ]
    )
    extended = phi(np.column_stack([W, b]) @ np.append(extended, 1.0))
nested = Ws[2] @ np.tanh(Ws[1] @ np.tanh(Ws[0] @ x + bs[0]) + bs[1]) + bs[2]
net = torch.nn.Sequential(
    torch.nn.Linear(4, 4),
    torch.nn.Tanh(),
    torch.nn.Linear(4, 3),
    torch.nn.Tanh(),
    torch.nn.Linear(3, 1),
).double()
with torch.no_grad():
    for p, q in zip(net.parameters(), [Ws[0], bs[0], Ws[1], bs[1], Ws[2], bs[2]]):
        p.copy_(torch.tensor(q))
    by_torch = net(torch.tensor(x))
assert all(np.allclose(hs[-1], v) for v in (looped, extended, nested, by_torch))
w11, w12, v1, v2, b1, c1, c2, a1, a2 = sympy.symbols("w11 w12 v1 v2 b1 c1 c2 a1 a2")
s1, s2 = sympy.Function("s1"), sympy.Function("s2")
_, out = mlp_forward(
    [sympy.Matrix([[w11, w12]]), sympy.Matrix([v1, v2])],
    [sympy.Matrix([b1]), sympy.Matrix([c1, c2])],
    [lambda z: z.applyfunc(s1), lambda z: z.applyfunc(s2)],
    sympy.Matrix([a1, a2]),
)
inner = s1(w11 * a1 + w12 * a2 + b1)
assert out[2] == sympy.Matrix([s2(v1 * inner + c1), s2(v2 * inner + c2)])


# %% covers="wu:2.3 guo:III.2 explainers:4.1 cs480:9" demo=true
def units(value, low, name):
    return IntSlider(value, min=low, max=5, description=name, continuous_update=False)


explore(
    bp.network_explorer(),
    inputs=units(4, 1, "inputs"),
    first=units(4, 1, "layer 1"),
    second=units(3, 0, "layer 2"),
    outputs=units(1, 1, "outputs"),
    act=Dropdown(options=["relu", "tanh", "sigmoid"], description="activation"),
)

# %% [markdown] covers="wu:2.4 wu:2.4.2 wu:2.4.3"
# ### One layer, backward
#
# Forward, the layer gets $h_j$ (its input) and makes $z_k = \sum_j W_{kj}h_j + b_k$, then $\varphi(z_k)$. Backward, it gets $\partial L/\partial \varphi(z_k)$ from above and must answer three questions: the slopes by its weights, by its biases, and by its input, which is what the layer below waits for. It needs $z$ for the slope of the bend, $h$ for the weights and $W$ for its input: $z$ and $h$ are **cached** on the way forward.
#
# Write $\delta_k = \partial L/\partial z_k$ and count paths, component by component:
#
# - $z_k$ reaches the loss only through $\varphi(z_k)$, so $\delta_k = \frac{\partial L}{\partial \varphi(z_k)}\,\varphi'(z_k)$;
# - $W_{kj}$ reaches it only through $z_k$, so $\frac{\partial L}{\partial W_{kj}} = \delta_kh_j$, and likewise $\frac{\partial L}{\partial b_k} = \delta_k$;
# - $h_j$ reaches it through *every* $z_k$, so $\frac{\partial L}{\partial h_j} = \sum_k\delta_kW_{kj}$.
#
# Now recognise the sums as products. In **column** convention $\frac{\partial L}{\partial W} = \delta h^\top$ and $\frac{\partial L}{\partial h} = W^\top\delta$. In **row** convention (numerator layout) the same numbers are $\delta^\top W$, shapes $(1\times d_l)(d_l\times d_{l-1})$, and no weight is transposed. Choose one and stay with it; we take columns.
#
# **Find out:** (1) Switch the convention. Which numbers change? (2) Take 3 units and 3 inputs: would shapes still tell you where the transpose belongs? (3) One unit: what is $\partial L/\partial W$ then?

# %% covers="wu:2.4.2 wu:2.4.3 moon:35.3" demo=true
explore(
    bp.shapes_explorer(),
    convention=Dropdown(options=["columns", "rows"], description="convention"),
    units=IntSlider(2, min=1, max=4, description="units d_l", **on_release),
    inputs=IntSlider(3, min=1, max=4, description="inputs", **on_release),
)


# %% exercise="layer_backward" points=3 minutes=8 difficulty=2 covers="wu:2.4 wu:2.4.2 wu:2.4.3 explainers:4.5.2"
def layer_backward(W, a, z, slope, upstream):
    """Slopes of the loss by weights, biases and input of one layer phi(W a + b).

    W (n, d). a (d,): what came in, h in the text. z (n,) = W a + b.
    slope: function, slope(z) is phi'(z), elementwise. upstream (n,): dL / d phi(z).
    -> dW (n, d), db (n,), da (d,)
    W = [[1, 2]], a = [3, 4], z = [11], slope = 1 everywhere, upstream = [10]
    gives dW = [[30, 40]], db = [10], da = [10, 20].
    """
    ### BEGIN SOLUTION
    delta = upstream * slope(z)
    return np.outer(delta, a), delta, W.T @ delta
    ### END SOLUTION


# %% check="layer_backward"
check(layer_backward)

# %% [markdown] covers="explainers:4.5.2"
# ### The four equations
#
# Call your function for the last layer, hand its `da` to the layer below, and so on. That is backpropagation. Without the function call, explainers' four statements:
#
# $$\begin{aligned}
# (1)\quad \delta^{(L)} &= \varphi_L'(z^{(L)}) \odot \partial L/\partial h^{(L)} & (3)\quad \partial L/\partial b^{(l)} &= \delta^{(l)}\\
# (2)\quad \delta^{(l)} &= \varphi_l'(z^{(l)}) \odot W^{(l+1)\top}\delta^{(l+1)} \qquad & (4)\quad \partial L/\partial W^{(l)} &= \delta^{(l)}h^{(l-1)\top}
# \end{aligned}$$
#
# ($\odot$, the Hadamard product, multiplies entry by entry.) In (2) stands the slope of layer $l$, at $z^{(l)}$, and the weights of layer $l+1$. A network with a different activation in every layer tells whoever mixes the indices up. The cell tests each statement against torch:

# %% covers="explainers:4.5.2 wu:2.4.2 wu:2.4.3"
with after(layer_backward):
    rng, names = np.random.default_rng(4), ["tanh", "sigmoid", "identity"]
    phis, slopes = zip(*(bp.ACTIVATIONS[name] for name in names))
    Ws, bs = bp.random_network([3, 4, 5, 2], rng)
    x, y = rng.normal(size=3), rng.normal(size=2)
    zs, hs = mlp_forward(Ws, bs, phis, x)
    upstream, dWs, deltas = hs[-1] - y, [], []  # L = ½ ‖h - y‖²
    for l in (2, 1, 0):
        dW, delta, upstream = layer_backward(Ws[l], hs[l], zs[l], slopes[l], upstream)
        dWs.insert(0, dW)
        deltas.insert(0, delta)
    T = [torch.tensor(v, requires_grad=True) for v in [*Ws, *bs]]
    acts = [torch.tanh, torch.sigmoid, lambda z: z]
    h = torch.tensor(x)
    for W, b, act in zip(T[:3], T[3:], acts):
        h = act(W @ h + b)
    (0.5 * (h - torch.tensor(y)) ** 2).sum().backward()
    for l in range(3):
        assert np.allclose(dWs[l], T[l].grad, rtol=0, atol=1e-12)  # (4), by (2)
        assert np.allclose(deltas[l], T[3 + l].grad, rtol=0, atol=1e-12)  # (3)
    assert np.allclose(deltas[2], slopes[2](zs[2]) * (hs[-1] - y))  # (1)
    by_loops = [sum(deltas[1][k] * Ws[1][k, j] for k in range(5)) for j in range(4)]
    assert np.allclose(by_loops, Ws[1].T @ deltas[1])  # as a column
    assert np.allclose(by_loops, deltas[1] @ Ws[1])  # as a row

# %% [markdown] covers="cs480:9-backprop wu:2.2.4"
# ### One hidden layer of relus
#
# The most common special case. cs480: $z = Wx + b_1$, $h = \mathrm{relu}(z)$, $\theta = Uh + b_2$, $J = \frac12\lVert\theta - y\rVert^2$. With $e = \theta - y$:
#
# $$\frac{\partial J}{\partial U} = e\,h^\top, \quad \frac{\partial J}{\partial b_2} = e, \quad \frac{\partial J}{\partial h} = U^\top e, \quad \frac{\partial J}{\partial z} = U^\top e\odot\mathbb 1[z > 0], \quad \frac{\partial J}{\partial W} = \frac{\partial J}{\partial z}x^\top, \quad \frac{\partial J}{\partial b_1} = \frac{\partial J}{\partial z}.$$
#
# wu says the same unit by unit, for a scalar output: **error from above × activity (0 or 1) × input**. A unit that is off stops the signal; one that is on lets it pass unchanged. (wu *maximises* $J = \log p(y\mid s)$, so there $e = y - s$ and every sign is flipped; wu's $\delta_k$ is $\partial J/\partial h_k$.)
#
# wu adds that relus make a piecewise constant gradient field. Of what?

# %% covers="cs480:9-backprop wu:2.2.4"
with after(layer_backward, jacobian):
    Ws, bs = bp.random_network([2, 6, 1], np.random.default_rng(5))
    relu, step = bp.ACTIVATIONS["relu"]
    x, y, phis = np.array([1.0, 0.5]), np.array([0.3]), [relu, lambda z: z]

    def forward_backward(Ws, bs, x):
        (z, theta), (_, h, _) = mlp_forward(Ws, bs, phis, x)
        dU, db2, dh = layer_backward(Ws[1], h, theta, np.ones_like, theta - y)
        dW, db1, dx = layer_backward(Ws[0], x, z, step, dh)
        grads = np.concatenate([np.ravel(g) for g in (dW, db1, dU, db2)])
        return grads, z > 0, dx / (theta - y)

    def loss_at(p):  # the 25 parameters in one vector
        V, c = [p[:12].reshape(6, 2), p[18:24].reshape(1, 6)], [p[12:18], p[24:]]
        return 0.5 * np.sum((mlp_forward(V, c, phis, x)[0][-1] - y) ** 2)

    grads, on, slope_x = forward_backward(Ws, bs, x)
    start_at = np.concatenate([Ws[0].ravel(), bs[0], Ws[1][0], bs[1]])
    numeric = jacobian(loss_at, start_at)[0]
    error = np.abs(grads - numeric) / np.maximum(np.abs(grads) + np.abs(numeric), 1e-8)
    assert np.all(error < 1e-6)  # a relative check of every parameter
    e = mlp_forward(Ws, bs, phis, x)[1][-1] - y
    assert np.allclose(grads[:12].reshape(6, 2), np.outer(e * Ws[1][0] * on, x))
    nearby = forward_backward(Ws, bs, x + 0.01)
    assert np.array_equal(nearby[1], on) and 0 < on.sum() < 6  # the same units are on
    erratum(
        "wu:2.2.4",
        r"this creates a piecewise constant gradient field",
        r"piecewise constant is only $\partial s/\partial x$; the slopes by the "
        r"weights scale with the error, with $h$ and with $x$",
        printed_holds=np.allclose(nearby[0], grads),
        corrected_holds=np.allclose(nearby[2], slope_x),
    )

# %% [markdown] covers="explainers:4.5.1.a"
# ### Every primitive brings its own slope
#
# A layer is only one building block. An engine for vectors needs, for each primitive $f$, one function: given the input $v$ and the row $g^\top$ that comes from above, return $g^\top \frac{\partial f}{\partial v}$. That is its **vector–Jacobian product** (VJP). It rarely forms the Jacobian: for relu it is a mask, for a reshape another reshape, and indexing scatters $g$ back to where the numbers came from, adding where one was read twice.
#
# Softmax is the exception to equation (1): each output depends on every input, so its Jacobian $\mathrm{diag}(p) - pp^\top$ is not diagonal and no $\odot$ will do. Still its VJP costs no more than the forward pass: $p\odot(g - p^\top g)$. (Convolution, pooling and attention have their own notebooks.)

# %% covers="explainers:4.5.1.a"
with after(jacobian):
    rng = np.random.default_rng(6)
    A, v, mask = rng.normal(size=(3, 4)), rng.normal(size=4), np.array([2.0, 0, 2, 2])
    x = np.array([0.5, -1.5])

    def turned(v):
        return v.reshape(2, 2).T.ravel()

    def norm(v):
        return (v - v.mean()) / v.std()

    def norm_vjp(v, g):
        return (g - g.mean() - norm(v) * np.mean(g * norm(v))) / v.std()

    primitives = {
        "linear": (lambda v: A @ v, lambda v, g: A.T @ g),
        "its weights": (lambda v: v.reshape(2, 2) @ x, lambda v, g: np.kron(g, x)),
        "relu": (lambda v: np.maximum(v, 0), lambda v, g: g * (v > 0)),
        "sigmoid": (expit, lambda v, g: g * expit(v) * expit(-v)),
        "softmax": (softmax, lambda v, g: softmax(v) * (g - softmax(v) @ g)),
        "layer norm": (norm, norm_vjp),
        "mean": (np.mean, lambda v, g: np.full(4, g[0] / 4)),
        "index": (lambda v: v[[2, 0, 2]], lambda v, g: np.bincount([2, 0, 2], g, 4)),
        "reshape": (turned, lambda v, g: turned(g)),
        "dropout": (lambda v: mask * v, lambda v, g: mask * g),
        "½ squared loss": (lambda v: 0.5 * v @ v, lambda v, g: g[0] * v),
    }
    for name, (f, vjp) in primitives.items():
        J = jacobian(f, v)
        g = rng.normal(size=len(J))
        assert np.allclose(vjp(v, g), g @ J, atol=1e-8), name
    J = jacobian(softmax, v)
    assert np.min(np.abs(J)) > 1e-4  # no zeros off the diagonal
    print(f"{len(primitives)} primitives pass: {', '.join(primitives)}")

# %% [markdown] covers="guo:III.6 wu:2.4.2"
# ## 6. A whole batch at once
#
# $N$ examples, one in each **row** of $X$. Transpose everything once and for all: $W_\ell$ now has shape $D_\ell\times D_{\ell+1}$, so that rows go in on the left. Guo's network, with hidden layers $1, \dots, L$ and biases added:
#
# $$H_0 = X,\qquad A_\ell = H_{\ell-1}W_{\ell-1} + b_{\ell-1},\qquad H_\ell = \varphi(A_\ell),\qquad S = H_LW_L + b_L, \qquad \Pi = \mathrm{softmax}(S)\ \text{row by row},$$
#
# loss $\ell = -\frac1N\sum_{n,k} Y_{nk}\log\Pi_{nk}$. The slope by the scores is $\frac1N(\Pi - Y)$ ([generalised linear models](../02_classification/03_generalised_linear_models.ipynb)). The one new thought: a weight is shared by all rows, so its slopes **add up over the rows**, and the sum is a matrix product. With $\Delta_\ell$ for the slope by what $W_\ell$ makes ($A_{\ell+1}$; for the last $S$, and $D_{L+1} = K$):
#
# $$\Delta_L = \tfrac1N(\Pi - Y),\qquad \nabla_{W_\ell} = H_\ell^\top\Delta_\ell,\qquad \nabla_{b_\ell} = \text{column sums of }\Delta_\ell,\qquad \Delta_{\ell-1} = \big(\Delta_\ell W_\ell^\top\big)\odot\varphi'(A_\ell).$$
#
# | | forward | | backward |
# | --- | --- | --- | --- |
# | $X = H_0$ | $N\times D_0$ | $\Delta_\ell$ | $N\times D_{\ell+1}$ |
# | $A_\ell, H_\ell$ | $N\times D_\ell$ | $\nabla_{W_\ell} = H_\ell^\top\Delta_\ell$ | $(D_\ell\times N)(N\times D_{\ell+1})$, as $W_\ell$ |
# | $S, \Pi, Y$ | $N\times K$ | $\Delta_\ell W_\ell^\top$ | $(N\times D_{\ell+1})(D_{\ell+1}\times D_\ell)$, as $A_\ell$ |


# %% exercise="mlp_backward" points=5 minutes=15 difficulty=3 covers="guo:III.6 wu:2.4.2 cs480:9-backprop"
def mlp_backward(X, Y, Ws, bs, phi, slope):
    """Mean cross-entropy of a softmax network over a batch, and its gradients.

    X (N, D_0). Y (N, K), one-hot rows. Ws: list of arrays (D_l, D_{l+1}), bs: list of
    (D_{l+1},); the last layer makes the scores and has no phi. One layer is allowed.
    phi, slope: elementwise activation and its derivative, both functions of A.
    -> loss, dWs, dbs: a number and two lists, shaped like Ws and bs.
    Scores of ±900 must not overflow. Natural logarithm.
    X = [[1]], Y = [[1, 0]], Ws = [[[0, 0]]], bs = [[0, 0]] gives loss log 2,
    dWs = [[[-0.5, 0.5]]], dbs = [[-0.5, 0.5]].
    """
    ### BEGIN SOLUTION
    Hs, As = [X], []
    for W, b in zip(Ws, bs):
        As.append(Hs[-1] @ W + b)
        Hs.append(phi(As[-1]))
    log_p = log_softmax(As[-1], axis=1)
    loss = -np.sum(Y * log_p) / len(X)
    Delta, dWs, dbs = (np.exp(log_p) - Y) / len(X), [], []
    for l in reversed(range(len(Ws))):
        dWs.insert(0, Hs[l].T @ Delta)
        dbs.insert(0, Delta.sum(axis=0))
        if l > 0:
            Delta = (Delta @ Ws[l].T) * slope(As[l - 1])
    return loss, dWs, dbs
    ### END SOLUTION


# %% check="mlp_backward"
check(mlp_backward)

# %% [markdown] covers="guo:III.6 cs480:9-backprop"
# Shapes, torch, and two properties: the gradient of a batch is the mean of the gradients of its rows, and doubling the batch by copying it changes nothing. Loop and batch do the same multiplications; for these 8 rows the batch does them in 8 matrix products (3 forward, 5 backward), the loop in 64 small ones. Processors like few large ones.
#
# Then guo's closed formula. As a chain without brackets it is ambiguous: in NumPy `@` and `*` rank equally and run from left to right, as they must here; who puts the Hadamard products first multiplies other things.

# %% covers="guo:III.6 cs480:9-backprop"
with after(mlp_backward):
    rng, sizes = np.random.default_rng(7), [5, 6, 4, 3]
    Ws = [rng.normal(size=pair) for pair in zip(sizes, sizes[1:])]
    bs = [rng.normal(size=n) for n in sizes[1:]]
    X, labels = rng.normal(size=(8, 5)), rng.integers(0, 3, 8)
    Y, act = np.eye(3)[labels], bp.ACTIVATIONS["tanh"]
    loss, dWs, dbs = mlp_backward(X, Y, Ws, bs, *act)
    for W, dW, b, db in zip(Ws, dWs, bs, dbs):
        print(f"W {W.shape}, dW {dW.shape}; b {b.shape}, db {db.shape}")
    T = [torch.tensor(v, requires_grad=True) for v in [*Ws, *bs]]
    H = torch.tensor(X)
    for l in range(2):
        H = torch.tanh(H @ T[l] + T[3 + l])
    by_torch = torch.nn.functional.cross_entropy(H @ T[2] + T[5], torch.tensor(labels))
    by_torch.backward()
    assert np.isclose(loss, by_torch.item(), rtol=1e-12)
    for ours, theirs in zip([*dWs, *dbs], T):
        assert np.allclose(ours, theirs.grad, rtol=0, atol=1e-12)
    rows = [
        mlp_backward(X[i : i + 1], Y[i : i + 1], Ws, bs, *act)[1][0] for i in range(8)
    ]
    assert np.allclose(np.mean(rows, axis=0), dWs[0])
    twice = mlp_backward(np.vstack([X, X]), np.vstack([Y, Y]), Ws, bs, *act)
    assert np.isclose(twice[0], loss) and np.allclose(twice[1][0], dWs[0])
    A1 = X @ Ws[0] + bs[0]
    A2 = np.tanh(A1) @ Ws[1] + bs[1]
    H2, dphi = np.tanh(A2), act[1]
    error = (softmax(H2 @ Ws[2] + bs[2], axis=1) - Y) / 8
    chain = (((error @ Ws[2].T) * dphi(A2)) @ Ws[1].T) * dphi(A1)  # left to right
    erratum(
        "guo:III.6",
        r"$\nabla_{W_\ell}\ell = \frac1N(\mathbb E[Y\mid "
        r"X]-Y)\,W_L^\top\odot\varphi'(A_L)\,W_{L-1}^\top\odot\varphi'(A_{L-1})"
        r"\cdots$ (first version)",
        r"$H_\ell^\top$ times that chain, evaluated from left to right: without it "
        r"even the shape is wrong",
        printed_holds=chain.shape == dWs[0].shape,
        corrected_holds=np.allclose(X.T @ chain, dWs[0]),
    )
    erratum(
        "guo:III.6",
        r"$\nabla_{W_\ell}\ell = \frac1N\big[(\mathbb E[Y\mid "
        r"X]-Y)\prod_{j=L}^{\ell+1}W_j^\top\odot\varphi'(A_j)\big]^\top H_\ell$",
        r"$\frac1N H_\ell^\top\big[\cdots\big]$; the printed one is its transpose, "
        r"$D_{\ell+1}\times D_\ell$, as the notes suspect themselves",
        printed_holds=(chain.T @ X).shape == dWs[0].shape,
        corrected_holds=np.allclose((chain.T @ X).T, dWs[0]),
    )

# %% [markdown] covers="moon:35.2 guo:III.5 explainers:4.5.1"
# ## 7. Which end first?
#
# A network is a composition $f_K\circ\dots\circ f_1$, and its Jacobian the product $J_K\cdots J_1$. Products may be bracketed at will. **Forward mode** starts at the input: $J_1$ first, then $J_2J_1$, … **Reverse mode** starts at the output: $J_K$ first, then $J_KJ_{K-1}$, … guo notes that the forward pass works from the right and the backward pass from the left; that is the same thing.
#
# The result is the same. Is the work? Count multiplications: a product of $(p\times q)(q\times r)$ takes $pqr$.


# %% exercise="jacobian_chain" points=2 minutes=6 difficulty=2 covers="guo:III.5 moon:35.2"
def jacobian_chain(Js, order):
    """Product of Jacobians, and the multiplications it takes in the given order.

    Js: list [J_1, …, J_K], K >= 1, J_1 (n_1, n_0), J_2 (n_2, n_1), …: input side first.
    order: "forward" (J_1, then J_2 J_1, …) or "reverse" (J_K, then J_K J_{K-1}, …).
    -> product J_K … J_1 (n_K, n_0), number of multiplications.
    With J_1 of shape (3, 2) and J_2 of shape (1, 3) both orders count 6.
    """
    ### BEGIN SOLUTION
    count = 0
    if order == "forward":
        product = Js[0]
        for J in Js[1:]:
            count += J.shape[0] * J.shape[1] * product.shape[1]
            product = J @ product
    else:
        product = Js[-1]
        for J in Js[-2::-1]:
            count += product.shape[0] * J.shape[0] * J.shape[1]
            product = product @ J
    return product, count
    ### END SOLUTION


# %% check="jacobian_chain"
check(jacobian_chain)

# %% covers="guo:III.5 moon:35.2" demo=true
sizes = [1000, 1000, 1000, 1]
work = {
    "forward": sizes[0] * sum(a * b for a, b in zip(sizes[1:], sizes[2:])),
    "reverse": sizes[-1] * sum(a * b for a, b in zip(sizes, sizes[1:-1])),
}
ratio = work["forward"] / work["reverse"]
predict(
    "1000 inputs, two layers of 1000, one loss. How many times as much work does "
    "forward mode take for the gradient?",
    ["as much", "about 2 times", "about 30 times", "about 500 times"],
    truth=int(np.argmin(np.abs(np.log(np.array([1, 2, 30, 500]) / ratio)))),
    because="Forward multiplies a 1000 × 1000 matrix by one, then a row by a matrix: "
    f"{work['forward']:.3g} multiplications. Reverse carries a row: "
    f"{work['reverse']:.3g}.",
)

# %% [markdown] covers="explainers:4.5.1 guo:III.5"
# Rule: forward mode costs in proportion to the number of **inputs**, reverse mode to the number of **outputs**. A loss is one number: reverse. A curve $t\mapsto x(t)$ has one input: forward. And reverse mode has another price: it must keep all values of the forward pass.
#
# On your own graph: one sweep backward multiplies once for each edge. Forward mode needs one sweep for each weight.

# %% covers="explainers:4.5.1 guo:III.5 moon:35.2"
with after(Value, jacobian_chain):
    w = [Value(v) for v in bp.NOTES_W.tolist()]
    h1, h2 = (w[0] * 1.0 + w[1] * 0.0).sigmoid(), (w[2] * 1.0 + w[3] * 0.0).sigmoid()
    error = (w[4] * h1 + w[5] * h2).sigmoid() - 1.0
    L = 0.5 * error * error
    L.backward()
    order = bp.topological(L)
    sweeps = [bp.forward_mode(order, leaf) for leaf in w]
    assert np.allclose([slope for slope, _ in sweeps], [v.grad for v in w])
    edges = sum(len(v.inputs) for v in order)
    print(f"reverse {edges} multiplications, forward {sum(n for _, n in sweeps)}")
    rng = np.random.default_rng(8)
    net = [rng.normal(size=s) / 8 for s in [(32, 64), (32, 32), (1, 32)]]
    one, forward = jacobian_chain(net, "forward")
    other, reverse = jacobian_chain(net, "reverse")
    assert np.allclose(one, other)
    print(f"64-32-32-1: forward {forward}, reverse {reverse}")

# %% [markdown] covers="guo:III.5 wu:2.4.1"
# ### Where gradients die
#
# The same product, seen from layer $\ell$ of guo's chain:
#
# $$\frac{d\ell}{dw_\ell} = \frac{d\ell}{dE}\,\frac{dE}{dh_L}\,\frac{dh_L}{dh_{L-1}}\cdots\frac{dh_{\ell+2}}{dh_{\ell+1}}\,\frac{dh_{\ell+1}}{dw_\ell}, \qquad \frac{dh_{l}}{dh_{l-1}} = \varphi'(z_{l})\,w .$$
#
# One factor for each layer. Factors below 1 make the gradient **vanish**, above 1 **explode**, exponentially in the depth. For the logistic function $\varphi' = \varphi(1-\varphi)\le\frac14$: ten layers with weights 1 leave at most $0.25^{10} \approx 9.5\cdot10^{-7}$ of the gradient, saturated units less. Larger weights help only as long as they do not saturate the units.
#
# **Find out:** (1) Width 1 is wu's chain of scalars. Logistic units, scale 1: between layers 20 and 1 lie 19 factors; compare with $0.25^{19}$. (2) Which scale would save the logistic network at width 50? Why can it not be raised for ever? (Watch the slopes.)
# (3) For relu at width 50, find the scale at which the gradient survives 20 layers. ($\sqrt2 \approx 1.4$ has a [notebook of its own](04_initialisation_and_normalisation.ipynb).) (4) What can happen to relu at width 1?

# %% covers="guo:III.5 wu:2.4.1" demo=true
explore(
    bp.depth_explorer(),
    act=Dropdown(options=["sigmoid", "tanh", "relu"], description="activation"),
    scale=FloatSlider(
        1, min=-1, max=6, step=0.1, description="weight scale", continuous_update=False
    ),
    width=SelectionSlider(options=[1, 10, 50], value=50, description="width"),
)

# %% [markdown] covers="guo:III.5"
# ### Dead units
#
# A relu unit whose $z$ is negative on **all** data has slope 0 everywhere: no gradient reaches its weights, and on fixed inputs descent never wakes it. How many are born dead depends on the initial bias. Here: 200 rows of 10 standard normal features, 200 units.

# %% covers="guo:III.5" demo=true
biases = np.linspace(-4, 1, 11)
show(*bp.draw_dead(biases, bp.dead_units(biases)))


def scalar_loss(w1):  # guo's chain with L = 4: w_0, …, w_4, x = 1, y = 0
    hs = [1.0]
    for w in (0.5, w1, 1.5, -2.0):
        hs.append(expit(w * hs[-1]))
    return (2.0 * hs[-1]) ** 2, hs


_, hs = scalar_loss(-1.0)
true = (scalar_loss(-1.0 + 1e-5)[0] - scalar_loss(-1.0 - 1e-5)[0]) / 2e-5  # by w_1
assert np.isclose(0.25**10, 9.5e-7, rtol=0.01)
dE, dh4 = 2 * 2.0 * hs[4], 2.0
dh4_dh3, dh3_dh2 = -2.0 * hs[4] * (1 - hs[4]), 1.5 * hs[3] * (1 - hs[3])
dh2_dw1 = hs[2] * (1 - hs[2]) * hs[1]
erratum(
    "guo:III.5",
    r"$\frac{d\ell}{dE}\frac{dE}{dh_L}\frac{dh_{L-1}}{dh_{L-2}}\cdots\frac{dg_{"
    r"\ell+2}}{dh_{\ell+1}}\frac{dh_{\ell+1}}{dw_\ell}$; “banishing” gradients",
    r"$\frac{d\ell}{dE}\frac{dE}{dh_L}\frac{dh_L}{dh_{L-1}}\frac{dh_{L-1}}{dh_{L-2}}"
    r"\cdots\frac{dh_{\ell+2}}{dh_{\ell+1}}\frac{dh_{\ell+1}}{dw_\ell}$; vanishing",
    printed_holds=np.isclose(dE * dh4 * dh3_dh2 * dh2_dw1, true),
    corrected_holds=np.isclose(dE * dh4 * dh4_dh3 * dh3_dh2 * dh2_dw1, true),
)
rows = -np.abs(np.random.default_rng(9).normal(size=(50, 3)))  # negative features
positive, negative = np.array([0.5, 1.0, 0.2]), np.array([-0.5, -1.0, -0.2])
erratum(
    "guo:III.5",
    r"with ReLU the initial weights should be positive, or the units are dead",
    r"the pre-activation must be positive for some rows: positive weights may be "
    r"dead, negative ones alive",
    printed_holds=bool(np.any(rows @ positive > 0)),
    corrected_holds=bool(np.all(rows @ positive <= 0) and np.any(rows @ negative > 0)),
)

# %% [markdown] covers="explainers:4.5.2 explainers:4.5.1"
# ## On real data: digits, twice
#
# 1797 handwritten digits, 500 kept apart. First **your scalar engine**, one number at a time: images shrunk to $4\times4$ and standardised with the training rows, 8 relu units, 10 scores, 226 parameters. One image, one step.

# %% covers="explainers:4.5.1 explainers:4.5.2"
with after(Value):
    rng, (_, small, labels) = np.random.default_rng(0), bp.shuffled_digits()

    def layer(n, d, sd):  # d weights and a bias for each of n units
        rows = rng.normal(0, sd, (n, d + 1)).tolist()
        return [[Value(v) for v in row] for row in rows]

    def apply(rows, h):
        return [sum((w * v for w, v in zip(row, h)), row[-1]) for row in rows]

    first, second = layer(8, 16, 0.37), layer(10, 8, 0.35)
    weights = [w for row in first + second for w in row]
    seen, right = [], []
    for step in range(1300):
        if step in (0, 20, 50, 100, 200, 400, 800, 1299):  # look at the held-out rows
            V, U = ([[w.data for w in row] for row in rows] for rows in (first, second))
            H = np.maximum(bp.with_one(small[1297:]) @ np.array(V).T, 0)
            said = (bp.with_one(H) @ np.array(U).T).argmax(axis=1)
            seen.append(step + 1)
            right.append(np.mean(said == labels[1297:]))
        hidden = [z.relu() for z in apply(first, small[step % 1297].tolist())]
        scores = apply(second, hidden)
        top = max(s.data for s in scores)
        total = sum(((s - top).exp() for s in scores), Value(0.0))
        loss = total.log() - (scores[labels[step % 1297]] - top)
        loss.backward()
        for w in weights:
            w.data -= 0.1 * (1 - step / 1300) * w.grad
    engine = (seen, right)
    assert len(weights) == n_params([16, 8, 10]) == 226 and right[-1] > 0.8

# %% [markdown] covers="explainers:4.5.2 guo:III.6"
# Then **your `mlp_backward`** on all 64 pixels: 64-32-10, 2410 parameters, batches of 32, twenty passes. Twenty times as many images, in 820 steps of a few matrix products each: the same derivatives, in larger pieces.

# %% covers="explainers:4.5.2 guo:III.6"
with after(Value, mlp_backward):
    pixels, _, labels = bp.shuffled_digits()
    rng, sizes, relu = np.random.default_rng(0), [64, 32, 10], bp.ACTIVATIONS["relu"]
    Ws = [rng.normal(size=(a, b)) * np.sqrt(2 / a) for a, b in zip(sizes, sizes[1:])]
    bs, targets = [np.zeros(32), np.zeros(10)], np.eye(10)[labels]
    seen, right, losses = [], [], []
    batches = [p for _ in range(20) for p in np.array_split(rng.permutation(1297), 41)]
    for step, rows in enumerate(batches):
        if step in (0, 3, 10, 30, 100, 300, 819):
            scores = relu[0](pixels[1297:] @ Ws[0] + bs[0]) @ Ws[1] + bs[1]
            seen.append(32 * step + 1)
            right.append(np.mean(scores.argmax(axis=1) == labels[1297:]))
        loss, dWs, dbs = mlp_backward(pixels[rows], targets[rows], Ws, bs, *relu)
        Ws = [W - 0.2 * np.asarray(dW) for W, dW in zip(Ws, dWs)]
        bs = [b - 0.2 * np.asarray(db) for b, db in zip(bs, dbs)]
        losses.append(loss)
    assert np.isclose(losses[0], math.log(10), rtol=0.3) and right[-1] > 0.95
    curves = {"scalar engine, 16-8-10": engine, "mlp_backward, 64-32-10": (seen, right)}
    show(*bp.draw_learning(curves, "Both learn to read"), digits=0)

# %% [markdown] covers="explainers:4.5.2 guo:III.5"
# The first loss is near $\log 10$: ten classes, no idea. Last, look at the $\delta$ of a deeper network of logistic units before training, layer by layer, with your `layer_backward`. Where would the first layer's learning come from?

# %% covers="explainers:4.5.2 guo:III.5"
with after(layer_backward):
    names, rng = ["sigmoid"] * 4 + ["identity"], np.random.default_rng(1)
    Ws, bs = bp.random_network([64, 20, 20, 20, 20, 10], rng)
    phis, slopes = zip(*(bp.ACTIVATIONS[name] for name in names))
    pixels, _, labels = bp.shuffled_digits()
    sizes_of_delta = [0.0] * 5
    for i in range(50):
        zs, hs = mlp_forward(Ws, bs, phis, pixels[i])
        upstream = softmax(hs[-1]) - np.eye(10)[labels[i]]
        for l in reversed(range(5)):
            args = Ws[l], hs[l], zs[l], slopes[l], upstream
            _, delta, upstream = layer_backward(*args)
            sizes_of_delta[l] = sizes_of_delta[l] + np.abs(delta) / 50
    show(*bp.draw_deltas(sizes_of_delta, "Logistic units"))

# %% [markdown] covers="moon:36.1-step wu:2.4"
# ## Take-aways
#
# - The chain rule is a sum over paths, a product along each. Backpropagation is that sum, done once for each edge, from the result back.
# - Forward: compute and **cache**. Backward: adjoint 1 at the result; every value waits for all its children, adds their shares, and passes on.
# - Four equations for a layer: slope at the output, $W^\top\delta$ with the slope below, $\delta$ for biases, $\delta h^\top$ for weights. For a batch: $H^\top\Delta$, and the sum over rows comes free.
# - Shapes find a formula, finite differences in float64 prove it. Test with sizes that are all different, activations that are all different, and units that are off.
# - A gradient by reverse mode costs about as much as two or three forward passes, and the memory for all their values. Forward mode is for few inputs.
# - Products of many slopes vanish or explode; a relu that is off on all data gets nothing.
# - Onward: [how deep, how wide](03_approximation_and_depth.ipynb), [starting weights and normalisation](04_initialisation_and_normalisation.ipynb), the same four questions for convolutions and through time.
#
# ## What the notes got wrong, continued
#
# Most formulas were repaired where they stand. Left are indices and words. The first cell tries the indices on a network with $n_0, \dots, n_3 = 3, 4, 5, 2$ units and another activation in each layer.

# %% covers="explainers:4.5.2 wu:2.4.3" demo=true
rng, n, k, j = np.random.default_rng(4), [3, 4, 5, 2], 2, 1  # k = 2 hidden layers
Ws, bs = bp.random_network(n, rng)
names = ["tanh", "sigmoid", "identity"]
slopes = [bp.ACTIVATIONS[name][1] for name in names]
zs, deltas = bp.backward_pass(Ws, bs, names, rng.normal(size=3), rng.normal(size=2))
through = Ws[1].T @ deltas[1]  # layer j = 1 (tanh) below layer 2 (sigmoid)
erratum(
    "explainers:4.5.2",
    r"statement 1 holds for $i \in [k+1]$; in its proof "
    r"$\frac{a_i^{(k+1)}}{\partial z_i^{(k+1)}}$",
    r"for $i \in [n_{k+1}]$, the units of the last layer; $\frac{\partial "
    r"a_i^{(k+1)}}{\partial z_i^{(k+1)}}$",
    printed_holds=len(deltas[2]) == k + 1,
    corrected_holds=len(deltas[2]) == n[k + 1],
)
erratum(
    "explainers:4.5.2",
    r"proof of statement 2: $z_l^{(j+1)} = \sum_i "
    r"w_{l,i}^{(j+1)}\sigma_{j+1}(z_i^{(j)}) + \dots$, slope "
    r"$\sigma'_{j+1}(z_i^{(j)})$",
    r"$\sigma_j$ and $\sigma'_j$: layer $j$ applies its own activation, as "
    r"statement 2 says",
    printed_holds=np.allclose(slopes[j](zs[j - 1]) * through, deltas[0]),
    corrected_holds=np.allclose(slopes[j - 1](zs[j - 1]) * through, deltas[0]),
)
erratum(
    "explainers:4.5.2",
    r"proof of statement 3: $\sum_{l=1}^{n_{j+1}} \frac{\partial L}{\partial "
    r"z_l^{(j)}}\frac{\partial z_l^{(j)}}{\partial b_i^{(j)}}$",
    r"the sum runs to $n_j$, the number of the $z_l^{(j)}$",
    printed_holds=len(zs[j - 1]) == n[j + 1],
    corrected_holds=len(zs[j - 1]) == n[j],
)
five, e = torch.tensor(rng.normal(size=5), requires_grad=True), rng.normal(size=5)
torch.nn.functional.mse_loss(five, five.detach() - torch.tensor(e)).backward()
erratum(
    "explainers:4.5.2",
    r"for MSE loss $\partial L/\partial a_i = a_i - y_i$",
    r"that is the slope of $\frac12\lVert a - y\rVert^2$; for the mean of $n$ "
    r"squared errors it is $\frac2n(a_i - y_i)$",
    printed_holds=np.allclose(five.grad, e),
    corrected_holds=np.allclose(five.grad, 2 / 5 * e),
)
erratum(
    "wu:2.4.3",
    r"the matrix is “rotated” on the way back",
    r"it is transposed",
    printed_holds=np.allclose(np.rot90(Ws[1]) @ deltas[1], through),
    corrected_holds=np.allclose(deltas[1] @ Ws[1], through),  # δᵀW, as a row
)

# %% covers="moon:35.1 moon:35.2 guo:III.2" demo=true
V = [np.ones(shape) for shape in [(2, 5), (5, 3), (3, 4)]]  # guo's w_0, w_1, w_2; L = 2


def shapes_fit(shift):
    h = np.ones(2)
    for layer in (1, 2):
        if V[layer - shift].shape[0] != len(h):
            return False
        h = np.tanh(V[layer - shift].T @ h)
    return (V[2].T @ h).shape == (4,)


erratum(
    "guo:III.2",
    r"$h_\ell = \varphi(w_\ell^\top h_{\ell-1})$ and $\mathbb E[y\mid x] = "
    r"g^{-1}(w_L^\top h_L)$, so that $w_L$ makes $h_L$ and reads it out too",
    r"$h_\ell = \varphi(w_{\ell-1}^\top h_{\ell-1})$, as in the bias formula and "
    r"later: $w_0,\dots,w_{L-1}$ make $h_1,\dots,h_L$, and $w_L$ reads out. (One "
    r"closing bracket of the expanded form is too many.)",
    printed_holds=shapes_fit(0),
    corrected_holds=shapes_fit(1),
)
erratum(
    "moon:35.1",
    r"the sections of the appendix are numbered 1.1, 2.2 and 3.3",
    r"35.1, 35.2 and 35.3",
)
erratum(
    "moon:35.2",
    r"$\frac{\partial f}{\partial t} = \frac{\partial f}{\partial x_1}\frac{\partial "
    r"x_1}{\partial t} + \frac{\partial f}{\partial x_2}\frac{\partial x_2}{\partial "
    r"t}$ for $x_1(t), x_2(t)$",
    r"$\frac{df}{dt}$, with $\frac{dx_1}{dt}$, $\frac{dx_2}{dt}$: total derivatives, "
    r"as there is one variable only",
)

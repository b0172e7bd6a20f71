# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] minutes=90 builds="splines that interpolate noise, and a map of when that is harmless"
# # Splines, interpolation and double descent
#
# Lectures: wu 1.4 · explainers 2.1.2 and 2.5.3 · cs480 theorem 3.2.
#
# A model with fifty times more weights than rows fits every row exactly, noise and all. It ought to be useless on new data. Sometimes it is excellent. When, and why?
# At the end you can
#
# - build a piecewise-linear regression from hinges, and read it as a neural network;
# - say which of the infinitely many perfect fits gradient descent finds, and prove it;
# - produce the double descent curve, say where its peak sits and why, and make it vanish;
# - decide from the positions of rows and knots alone whether interpolation is possible;
# - tell benign from tempered overfitting by the spectrum of the features.

# %%
import numpy as np
import torch
from ipywidgets import Checkbox, Dropdown, FloatSlider, IntSlider, SelectionSlider

from descent import after, check, data, erratum, explore, hint, predict, show, start
from descent.pictures.regression import double_descent as dd

start("01_regression/05_double_descent")

# %% [markdown] covers="wu:1.4.7"
# ## Why it matters
#
# Twenty points of a sine with a little noise. We fit three continuous piecewise-linear curves by least squares. They may bend at 6, at 19, or at 1000 places (**knots**).
# With 6 knots the curve misses the points; with 19 or more it meets every one. Where there are many perfect fits we take the one with the smallest weights.

# %% covers="wu:1.4.7" demo=true
at = [dd.COUNTS.index(p) for p in (6, 19, 1000)]
errors = dd.double_descent_at(19, 0.1, "grid", None)["excess"][at]
predict(
    "Which of the three comes closest to the true sine?",
    ["6 knots", "19 knots", "1000 knots"],
    truth=int(np.argmin(errors)),
    because="19 knots give just enough freedom to meet the points, and only one way "
    "to do it: a wild one. 1000 knots leave a choice, and the smallest weights make a "
    "calm curve.",
    then=dd.draw_three_fits,
)

# %% [markdown] covers="cs480:thm3.2"
# ## Any data can be interpolated, in infinitely many ways
#
# Let $x_1, \dots, x_n$ be distinct and $y_1, \dots, y_n$ any numbers. Then infinitely many functions satisfy $f(x_i) = y_i$. One is Lagrange's polynomial
#
# $$L(x) = \sum_i y_i \prod_{k \ne i} \frac{x - x_k}{x_i - x_k},$$
#
# for the $i$-th product is 1 at $x_i$ and 0 at the other inputs. And with it, for **every** number $c$,
#
# $$f_c(x) = L(x) + c\,\prod_i (x - x_i) .$$
#
# The same trick works on top of any other interpolant; the cell checks it for three kinds. Inputs and targets may be vectors: start from the target of the nearest row, and add $c\prod_i \lVert x - x_i\rVert^2$. If two inputs are equal the claim fails: one input cannot have two values.
#
# **Find out with the slider.** Which of the three base curves would you trust between the points? Is there anything in the *data* that prefers it to $c = 800$?
#
# There is not. What decides is the learner's own preference among perfect fits, its **inductive bias**. The rest of this notebook asks which bias gradient descent has.

# %% covers="cs480:thm3.2" demo=true
for kind in ("polynomial", "radial", "broken line"):
    for c in (-800.0, 0.0, 800.0):
        f = dd.interpolant(dd.POINTS, dd.VALUES, c, kind)
        assert np.allclose(f(dd.POINTS), dd.VALUES)
try:
    dd.interpolant([0.0, 0.5, 0.5], [1.0, 2.0, 3.0], 0)
    raise AssertionError("equal inputs were accepted")
except ValueError:
    pass
rows, targets = np.random.default_rng(0).normal(size=(2, 6, 3))  # vectors
apart = np.linalg.norm(rows[:, None] - rows, axis=2)
nearest, product = targets[apart.argmin(1)], np.prod(apart**2, axis=1)
assert np.allclose(nearest + 800 * product[:, None], targets)
explore(
    dd.draw_interpolants,
    kind=Dropdown(value="polynomial", options=["polynomial", "radial", "broken line"]),
    c=FloatSlider(400, min=-1000, max=1000, step=50, description="c"),
)

# %% [markdown] covers="wu:1.4 wu:1.4.1"
# ## Curves from hinges
#
# A **hinge** at the knot $b$ is the function $\max(0, x - b)$: flat, then rising with slope 1. The same function is called ReLU. A sum of hinges
#
# $$s(x) = \beta_0 + \sum_{j=1}^{p} \beta_j \max(0, x - b_j)$$
#
# is continuous and piecewise linear. At the knot $b_j$ its slope *changes by* $\beta_j$, so on the piece to the right of $b_k$ the slope is $\beta_1 + \dots + \beta_k$.
# The curve bends in $x$, but it is linear in $\beta$: with one column a hinge, fitting is the multiple regression of an earlier notebook.
#
# No straight line fits the data below. **Find out** how many knots you need for an error of 0.02. What happens at 39 knots?
#
# **Then by hand**, in the second picture. Three knots, at 1, 2 and 3; the sliders are the changes of slope. Find a curve with an error below 0.1, then tick the box. To make the curve *horizontal* after the last knot, what must the three numbers satisfy?

# %% covers="wu:1.4" demo=true
explore(dd.draw_knot_count, p=IntSlider(3, min=0, max=45, description="knots p"))

# %% covers="wu:1.4.1" demo=true
slope = dict(min=-4.0, max=4.0, step=0.1)
explore(
    dd.draw_hinges,
    beta1=FloatSlider(2.0, description="β₁", **slope),
    beta2=FloatSlider(0.0, description="β₂", **slope),
    beta3=FloatSlider(0.0, description="β₃", **slope),
    fitted=Checkbox(False, description="least squares"),
)

# %% [markdown] covers="wu:1.4.1"
# We space $p$ knots equally inside a range from $x_\min$ to $x_\max$:
#
# $$b_j = x_\min + j\,\Delta, \qquad \Delta = \frac{x_\max - x_\min}{p + 1}, \qquad j = 1, \dots, p .$$
#
# To the left of $b_1$ there is *no* hinge: all rows of features there are zero, so the curve is forced to be **constant** there. One more column, $x$ itself (or a knot at $x_\min$), gives the first piece a slope too.
# The cell after your check measures both, on a straight line.
#
# Write the feature matrix, one row an input and one column a knot. (Stuck? `hint(relu_features)`, up to three times; so for every exercise.)


# %% exercise="relu_features" points=2 minutes=6 difficulty=1 covers="wu:1.4.1"
def relu_features(x, p, xmin, xmax):
    """Hinge features max(0, x_i - b_j) with p equally spaced knots.

    x (n,) inputs, also outside the range. p >= 0. xmin < xmax. Returns (n, p).
    relu_features(np.array([0, 1.5, 4]), 3, 0, 4) has the knots 1, 2, 3
    and gives [[0, 0, 0], [0.5, 0, 0], [3, 2, 1]].
    """
    ### BEGIN SOLUTION
    knots = xmin + (xmax - xmin) / (p + 1) * np.arange(1, p + 1)
    return np.maximum(0, np.asarray(x)[:, None] - knots)
    ### END SOLUTION


# %% check="relu_features"
check(relu_features)

# %% covers="wu:1.4.1"
with after(relu_features):
    x, beta = np.linspace(0, 4, 41), np.array([1.0, -2.5, 0.5])
    F = np.asarray(relu_features(x, 3, 0, 4))
    slopes = np.diff(F @ beta) / 0.1
    pieces = np.concatenate([[0], np.cumsum(beta)])
    assert np.allclose(slopes, np.repeat(pieces, 10))
    assert not F[x <= 1].any()  # all rows left of the first knot are alike
    line = 2 * x + 1
    errors = []
    for columns in ([np.ones(41), F], [np.ones(41), x, F]):
        A = np.column_stack(columns)
        fit = A @ np.linalg.lstsq(A, line, rcond=None)[0]
        errors.append(np.mean((fit - line) ** 2))
    assert errors[1] < 1e-20 < 0.01 < errors[0]
    print("slopes of the pieces:", pieces)
    print("error on a straight line: without and with x", np.round(errors, 3))

# %% [markdown] covers="wu:1.4.3"
# ## The same curve is a network
#
# Read $s(x)$ from the inside out: one number goes in; $p$ **hidden units** compute $\max(0, 1 \cdot x - b_j)$; one output weighs and adds them. That is a network of three layers:
#
# ```
#               ┌─ max(0, x − b₁) ─┐ β₁
#   x  ──(×1)───┼─ max(0, x − b₂) ─┼ β₂ ──►  β₀ + Σ  =  s(x)
#               └─ max(0, x − b₃) ─┘ β₃
# ```
#
# In ours the first layer is fixed (weights 1, biases $-b_j$) and only the output layer learns. Put the numbers into a torch network. It must give the identical output.


# %% exercise="to_torch_net" points=2 minutes=6 difficulty=1 covers="wu:1.4.3"
def to_torch_net(beta0, beta, b):
    """The spline as torch.nn.Sequential(Linear(1, p), ReLU(), Linear(p, 1)).

    beta0 a number, beta (p,) changes of slope, b (p,) knots: NumPy, not torch.
    The network maps inputs (m, 1) to values (m, 1), in single or double precision.
    beta0 = 1, beta = [2, -3], b = [0, 1]: the input 2 gives 1 + 2·2 - 3·1 = 2.
    """
    ### BEGIN SOLUTION
    p = len(b)
    net = torch.nn.Sequential(
        torch.nn.Linear(1, p), torch.nn.ReLU(), torch.nn.Linear(p, 1)
    ).double()
    with torch.no_grad():
        net[0].weight.fill_(1)
        net[0].bias.copy_(-torch.as_tensor(b))
        net[2].weight.copy_(torch.as_tensor(beta)[None])
        net[2].bias.fill_(beta0)
    return net
    ### END SOLUTION


# %% check="to_torch_net"
check(to_torch_net)

# %% covers="wu:1.4.3"
with after(to_torch_net):
    x, y = dd.wiggly()
    b = np.arange(1, 9) / 9
    A = np.column_stack([np.ones(40), dd.hinges(x, 8)])
    w = np.linalg.lstsq(A, y, rcond=None)[0]
    net = to_torch_net(w[0], w[1:], b)
    said = net(torch.tensor(x)[:, None].to(net[0].weight.dtype)).detach().numpy()[:, 0]
    assert np.allclose(said, A @ w, atol=1e-5)
    count = sum(weight.numel() for weight in net.parameters())
    print(f"{count} numbers in the network, {len(w)} of them learned")

# %% [markdown] covers="wu:1.4.4 moon:5.2"
# ## Which perfect fit does gradient descent find?
#
# Let $X$ be the matrix with rows $\mathbf x_i = (1, \text{hinges at } x_i)$ and $\beta$ all weights, the intercept among them: $d = p + 1$. With residuals $e_i = y_i - \mathbf x_i^\top\beta$ and loss $L = \frac12\sum_i e_i^2$,
#
# $$\nabla L = -\sum_i \mathbf x_i e_i, \qquad \beta^{(t+1)} = \beta^{(t)} + \eta \sum_i \mathbf x_i e_i .$$
#
# With a step $\eta < 2/s_1^2$ ($s_1$ the largest singular value of $X$) the weights converge. Every step is a combination of the rows. **From $\beta^{(0)} = 0$** all iterates, and the limit, stay in the span of the rows: $\hat\beta = X^\top c$. If the fit is perfect and the rows are independent, $XX^\top c = y$, so
#
# $$\hat\beta = X^\top (XX^\top)^{-1} y = X^+ y .$$
#
# Let $\tilde\beta$ be any other perfect fit and $\delta = \tilde\beta - \hat\beta$. Then $X\delta = 0$, and $\hat\beta^\top\delta = c^\top X\delta = 0$. Pythagoras:
#
# $$\lVert\tilde\beta\rVert^2 = \lVert\hat\beta\rVert^2 + \lVert\delta\rVert^2 \ge \lVert\hat\beta\rVert^2 .$$
#
# Gradient descent *from zero* finds the smallest perfect fit. Nobody asked it to: this is **implicit regularisation**. The cell checks each line.

# %% covers="wu:1.4.4 moon:5.2" demo=true
x, y = dd.grid(4), dd.sine(dd.grid(4))
X = np.column_stack([np.ones(4), dd.hinges(x, 12)])
eta, beta = 1 / np.linalg.norm(X, 2) ** 2, np.zeros(13)
for _ in range(20_000):
    beta = beta + eta * X.T @ (y - X @ beta)
c = np.linalg.solve(X @ X.T, y)
assert np.allclose(X @ beta, y, atol=1e-9)  # a perfect fit
assert np.allclose(beta, X.T @ c, atol=1e-8)  # in the span of the rows
assert np.allclose(beta, np.linalg.pinv(X) @ y, atol=1e-8)
rng = np.random.default_rng(0)
for _ in range(100):
    delta = rng.normal(size=13)
    delta = delta - np.linalg.pinv(X) @ (X @ delta)  # X delta = 0
    other = beta + delta
    assert np.allclose(X @ other, y) and abs(beta @ delta) < 1e-6
    assert np.isclose(other @ other, beta @ beta + delta @ delta)
    assert other @ other > beta @ beta
print(f"norm of the limit {np.linalg.norm(beta):.2f}, the least of all perfect fits")

# %% [markdown] covers="wu:1.4.4 moon:5.2"
# **And from another start?** Split any $\beta$ into its component in the span of the rows and the rest, which is orthogonal to all rows: the **null-space part**, for which $X\beta_\text{null} = 0$. The data cannot see it.
# Steps are combinations of rows, so they never touch the null-space part. It stays frozen at its first value, and the limit is
#
# $$\beta^{(\infty)} = X^+ y + \beta^{(0)}_\text{null},$$
#
# the perfect fit **nearest to the start**. (Nearest is the *end point*. The path that leads there is not the shortest: it bends, as the cell after your check measures.) Write the function that extracts the null-space part.


# %% exercise="nullspace_part" points=3 minutes=10 difficulty=2 covers="wu:1.4.4"
def nullspace_part(beta, X):
    """The component of beta that X cannot see: the projection onto {v : X v = 0}.

    beta (d,), X (n, d), n, d >= 1; rows may repeat, depend on each other or be 0.
    Returns (d,). X times the result is 0 up to rounding, also where n >= d.
    X = [[1, 1]] and beta = [3, 1] give [1, -1].
    """
    ### BEGIN SOLUTION
    return beta - np.linalg.pinv(X) @ (X @ beta)
    ### END SOLUTION


# %% check="nullspace_part"
check(nullspace_part)

# %% covers="wu:1.4.4"
with after(nullspace_part):
    x, y = dd.grid(4), dd.sine(dd.grid(4))
    X = np.column_stack([np.ones(4), dd.hinges(x, 12)])
    eta, rng = 1 / np.linalg.norm(X, 2) ** 2, np.random.default_rng(1)
    for start_size in (1.0, 5.0):
        first = beta = start_size * rng.normal(size=13)
        frozen, walked = nullspace_part(first, X), 0.0
        for _ in range(20_000):
            step = eta * X.T @ (y - X @ beta)
            beta, walked = beta + step, walked + np.linalg.norm(step)
        assert np.allclose(nullspace_part(beta, X), frozen, atol=1e-8)
        assert np.allclose(beta, np.linalg.pinv(X) @ y + frozen, atol=1e-8)
        straight = np.linalg.norm(beta - first)
        assert walked > 1.01 * straight
        print(
            f"start {start_size}: norm of the limit {np.linalg.norm(beta):.1f}, "
            f"walked {walked / straight:.2f} times the straight way"
        )

# %% [markdown] covers="wu:1.4.6"
# ## Memory with calm in between
#
# Eight noiseless points, remembered exactly by both curves below. Blue is the minimum-norm fit. Red adds `scale` times a unit vector that the data cannot see: of all such vectors the one that moves the curve most.
#
# **Find out.** Does the error at the points change with the scale? Which curve has the larger norm, and by how much? Is the blue curve calmer with 12 or with 200 knots?

# %% covers="wu:1.4.6" demo=true
explore(
    dd.draw_memory,
    p=SelectionSlider(value=40, options=[12, 20, 40, 80, 200], description="knots p"),
    scale=FloatSlider(20, min=-40, max=40, step=2, description="scale"),
)

# %% [markdown] covers="wu:1.4.6 wu:1.4.5"
# ### What "smooth" means exactly
#
# Suppose the curve follows a smooth $f$ at closely spaced knots. The change of slope at $b_j$ is a second difference:
#
# $$\beta_j = \frac{f(b_{j+1}) - 2 f(b_j) + f(b_{j-1})}{\Delta} \approx f''(b_j)\,\Delta, \qquad\text{so}\qquad (p+1)\sum_j\beta_j^2 \approx \sum_j f''(b_j)^2\,\Delta \to \int_0^1 f''(x)^2\,dx$$
#
# on the range $[0, 1]$, where $\Delta = 1/(p+1)$. A small norm means little **bending**. As $p \to \infty$ the minimum-norm interpolant tends to the curve through the points that bends least: a **cubic spline**. Our hinges force slope 0 at $x_\min$, so it is the one with $f'(x_\min) = 0$, and at the right end, where nothing is forced, $f'' = 0$.
#
# One condition: $\beta_0$ must not count in the norm. Otherwise, for large $p$, the $\beta_j$ are so small that $\beta_0$ dominates, and the fit moves away again (last lines of the cell). On our grid $x_1 = x_\min$, where all hinges vanish: every perfect fit has $\beta_0 = y_1$ there, and both conventions agree.

# %% covers="wu:1.4.6 wu:1.4.5" demo=true
p, f = 2000, lambda x: np.cos(2 * np.pi * x)  # slope 0 at both ends
nodes = np.arange(p + 2) / (p + 1)
beta = np.diff(f(nodes), 2) * (p + 1)  # one for each inner node: the knots
curvature = -((2 * np.pi) ** 2) * f(nodes[1:-1])
assert np.allclose(beta, curvature / (p + 1), atol=1e-6)
assert np.isclose((p + 1) * beta @ beta, (2 * np.pi) ** 4 / 2, rtol=2e-3)  # its ∫ f''²
x, y = dd.grid(), dd.sine(dd.grid())
spline = dd.clamped_spline(x, y)
least = dd.bending(x, spline(x, 2))
assert abs(4001 * dd.norms(x, y, 4000) / least - 1) < 0.01
x, t = (np.arange(20) + 0.5) / 20, np.linspace(0, 1, 401)  # x_1 > x_min
y = dd.sine(x) + 1


def cost_of_counting(p):  # how far β_0 in the norm moves the fit
    X, T = (np.column_stack([np.ones(len(u)), dd.hinges(u, p)]) for u in (x, t))
    return np.abs(T @ (np.linalg.pinv(X) @ y) - dd.fit_operator(x, t, p) @ y).max()


assert cost_of_counting(4000) > 0.01 > 0.001 > cost_of_counting(200)
show(*dd.draw_limit())

# %% [markdown] covers="wu:1.4.5"
# ### Does more make training easier?
#
# "A smoother landscape" has, for a linear model, one exact meaning: conditioning. The loss is convex for every $p$. Along the $i$-th singular direction of $X$ the residual shrinks by the factor $1 - s_i^2/s_1^2$ a step (rate $\eta = 1/s_1^2$), so small singular values are slow.
# The cell takes 20 noiseless points of $\sin 2\pi x$, $X = [1, \text{hinges}]$, start 0, and counts steps by that formula. (To reach a mean squared error of 0.001, 19 and 20 knots need more than 200 000.)
#
# The condition number peaks at 19 knots, at about $5\cdot10^{15}$. Yet the steps to a *rough* fit have no peak there: directions that are that slow are simply not used.

# %% covers="wu:1.4.5" demo=true
numbers, steps = dd.conditioning((19, 40, 200))
fine = [
    dd.steps_to(
        np.column_stack([np.ones(20), dd.hinges(dd.grid(), p)]),
        dd.sine(dd.grid()),
        0.001,
    )
    for p in (19, 20, 40, 200)
]
assert fine[:2] == [None, None]
print("condition numbers at 19, 40, 200 knots:", *(f"{v:.0e}" for v in numbers))
print("thousands of steps to error 0.01:", *(f"{s / 1000:.1f}" for s in steps))
fine = [round(s / 1000) for s in fine[2:]]
print("thousands of steps to 0.001, at 40, 200 knots:", *fine)
show(*dd.draw_conditioning())

# %% [markdown] covers="wu:1.4.7"
# ## Double descent
#
# The set-up from here on: $n = 20$ inputs $x_j = j/19$, $j = 0, \dots, 19$, a grid that includes both ends of $[0, 1]$; truth $\sin 2\pi x$; noise of standard deviation $\sigma$; minimum norm with a free intercept.
# **Excess test error** means the mean squared distance to the *truth*, at 1001 equally spaced points. The error on new noisy targets is $\sigma^2$ more.

# %% covers="wu:1.4.7"
predict(
    "No noise at all: σ = 0. What is the excess test error with 19 knots?",
    ["below 0.001", "about 1", "above a million"],
    truth=int(np.digitize(dd.excess_errors([19], 0.0, 1)[0], [0.001, 1e6])),
    because="Noise is not needed. 20 weights meet 20 points in exactly one way, and "
    "the knots stand in the wrong places. See below.",
)

# %% [markdown] covers="wu:1.4.7"
# **Why 19, and why so wild?** There are $p$ hinges *and an intercept*: 20 weights, 20 rows, at $p = n - 1$. Between $x_{j-1}$ and $x_j$ lies exactly one knot, $b_j = j/20$. Call $t_j$ the slope right of it. Meeting both points demands
#
# $$y_j - y_{j-1} = t_{j-1}\,(b_j - x_{j-1}) + t_j\,(x_j - b_j), \qquad b_j - x_{j-1} = \frac{20 - j}{380}, \qquad x_j - b_j = \frac{j}{380} .$$
#
# Left of $b_1$ the curve is flat. The whole step to $y_1$ falls on the last stretch, of length 1/380: $t_1 = 380\,(y_1 - y_0)$, twenty times too steep. And an error $\epsilon$ in $t_{j-1}$ becomes $-\epsilon\,(20-j)/j$ in $t_j$: it changes sign (the zig-zag), and for $j < 10$ it *grows*. From knot 1 to 10 the factor is $\binom{19}{10}/19 \approx 4862$.
# Misplacement does this, not the number 19: with a knot at each of $x_0, \dots, x_{18}$ the fit is the broken line through the points. (This repairs the notes' (1.31): the misalignment is $x_i \ne b_j$ for all $j$.)

# %% covers="wu:1.4.7" demo=true
from math import comb

x = dd.grid()


def slopes_of(y):
    A = np.column_stack([np.ones(20), dd.hinges(x, 19)])
    return np.cumsum(np.linalg.solve(A, y)[1:])


kick = slopes_of(np.where(np.arange(20) >= 1, 1.0, 0.0))  # only y_1 - y_0 = 1
assert np.allclose(kick[0], 380, rtol=1e-6)
assert np.allclose(kick[9] / kick[0], -comb(19, 10) / 19, rtol=1e-6)
aligned = np.column_stack([np.ones(20), np.maximum(0, x[:, None] - x[:-1])])
fit = np.linalg.solve(aligned, dd.sine(x))
t = np.linspace(0, 1, 1001)
s = fit[0] + np.maximum(0, t[:, None] - x[:-1]) @ fit[1:]
assert np.allclose(s, np.interp(t, x, dd.sine(x)))
bad = np.linalg.cond(np.column_stack([np.ones(20), dd.hinges(x, 19)]))
good = np.linalg.cond(aligned)
print(f"condition number of X: {bad:.0e}, with aligned knots {good:.0f}")
print(f"excess error with aligned knots: {np.mean((s - dd.sine(t)) ** 2):.1e}")

# %% [markdown] covers="wu:1.4.7 explainers:2.5.3"
# Now the sweep. `dd.hinges(x, p)` gives the features on $[0, 1]$. The intercept must be free: it costs nothing. Centre $y$ and every column of the features over the training rows. Then the intercept drops out, and
# the slopes are the pseudo-inverse of the centred features times the centred $y$. Use `np.linalg.pinv(…, rcond=1e-12)`: centring makes one singular value exactly 0 in theory and $10^{-16}$ in practice, and it must be cut off.


# %% exercise="double_descent" points=4 minutes=14 difficulty=3 covers="wu:1.4.7 explainers:2.5.3"
def double_descent(x, y, x_new, y_new, ps):
    """Training and test error of the hinge fit for each number of knots.

    x (n,), y (n,): training rows, inputs in [0, 1] in any order. x_new, y_new (m,).
    ps: numbers of knots, each >= 0, in any order. Features: dd.hinges(x, p).
    Least squares; among equally good fits the least sum of β_j² over j >= 1, β_0 free.
    Returns (train, test), arrays (len(ps),) of mean squared errors.
    x = [0, 1], y = [0, 2], x_new = [0.75], y_new = [2], ps = [0, 1]: without a knot
    the fit is 1, with one (at 0.5) it is 4 · 0.25 = 1: train [1, 0], test [1, 1].
    """
    ### BEGIN SOLUTION
    train, test = [], []
    for p in ps:
        F, G = dd.hinges(x, p), dd.hinges(x_new, p)
        middle = F.mean(axis=0)
        slopes = np.linalg.pinv(F - middle, rcond=1e-12) @ (y - y.mean())
        train.append(np.mean((y.mean() + (F - middle) @ slopes - y) ** 2))
        test.append(np.mean((y.mean() + (G - middle) @ slopes - y_new) ** 2))
    return np.array(train), np.array(test)
    ### END SOLUTION


# %% check="double_descent"
check(double_descent)

# %% [markdown] covers="wu:1.4.7"
# Your function on the set-up: medians over 100 data sets, whose noise is `np.random.default_rng(s).normal(size=20)` times σ for $s = 0, \dots, 99$. (Medians over other data sets differ a little: for 1000 knots at σ = 0.1, twenty thousand data sets give 0.0084, these hundred 0.0080.)
# In the picture the dashed line is the classical best, left of the peak; the titles give it, then the value with 1000 knots.
#
# Only without noise does the second descent end below the first. With noise it comes close (σ = 0.1) or stays well above (σ = 0.3): a perfect fit must carry the noise.
# And between 6 and 17 knots at σ = 0.3 the error already rises: this is the U-shape of the notebook on bias and variance, well before the peak.
# (Why is 18 better than 17? With $\Delta = 1/19$ the knots *are* the inner inputs: nothing is misplaced.)

# %% covers="wu:1.4.7"
with after(double_descent):
    x, t = dd.grid(), np.linspace(0, 1, 1001)

    def median(sigma, ps, seeds=100):
        targets = dd.sine(x) + sigma * dd.noise(seeds)
        errors = [double_descent(x, y, t, dd.sine(t), ps)[1] for y in targets]
        return np.median(errors, axis=0)

    clean, noisy = [18, 19, 20, 22, 40, 1000], [12, 18, 19, 1000]
    runs = (0.0, clean, 1), (0.1, noisy, 100), (0.3, [6, 19, 1000], 100)
    for sigma, ps, seeds in runs:
        found = median(sigma, ps, seeds)
        best, last = found[: ps.index(19)].min(), found[-1]
        assert found.argmax() == ps.index(19) and (last > best) == (sigma > 0)
        told = ", ".join(f"p = {p}: {v:.2g}" for p, v in zip(ps, found))
        print(f"σ = {sigma}: {told}")
    show(*dd.draw_curves())

# %% [markdown] covers="wu:1.4.7 wu:1.4.5"
# ### The explorer
#
# One data set. The star on the right is the fit on the left; the grey band marks $p + 1 = n$ weights. Step through the questions.
#
# 1. Grid, minimum norm, σ = 0.1: move $p$ through 17, 18, 19, 20, 22, 30. What does the curve do *between* the points?
# 2. The same at σ = 0. Does the peak go? At σ = 0.5: does a second descent still pay?
# 3. Random inputs: where is the peak now, and where does the training error reach 0? (Some of the error now lies outside the data.)
# 4. Replace the pseudo-inverse by 100, then 10 000, then a million steps of gradient descent. When does the peak appear? (The steps start at 0 and move the slopes only; $y$ and the features stay centred.)

# %% covers="wu:1.4.7 wu:1.4.5" demo=true
steps = [("100", 100), ("1000", 1000), ("10⁴", 10**4), ("10⁶", 10**6), ("∞ (pinv)", 0)]
held = dict(continuous_update=False)
explore(
    dd.draw_explorer,
    p=SelectionSlider(value=19, options=dd.COUNTS, description="knots p", **held),
    sigma=FloatSlider(0.1, min=0, max=0.5, step=0.05, description="noise σ", **held),
    inputs=Dropdown(value="grid", options=["grid", "random"], description="inputs"),
    steps=SelectionSlider(value=0, options=steps, description="gradient steps", **held),
)

# %% covers="wu:1.4.7 wu:1.4.5" demo=true
noisy = dd.excess_errors([19], 0.1, 20, steps=10_000)[0]
predict(
    "19 knots, σ = 0.1. The minimum-norm fit has an excess error above ten million. "
    "And 10 000 steps of gradient descent?",
    ["the same", "a thousand times less, still huge", "below 0.05"],
    truth=2 if noisy < 0.05 else 1 if noisy < 1e6 else 0,
    because="The wild direction belongs to a singular value 10⁷ to 10⁸ times smaller "
    "than the largest. At a condition number of 5·10¹⁵ it hardly moves in 10 000 "
    "steps.",
    then=dd.draw_stopped,
)

# %% [markdown] covers="wu:1.4.7"
# ### When can a spline interpolate?
#
# On the grid 19 knots suffice. For random inputs counting is not enough: two inputs to the left of $b_1$ have the same row of features, however many knots lie to the right. The exact condition is due to **Schoenberg and Whitney**.
#
# The curves with $p$ knots $b_1 < \dots < b_p$ are also all combinations of $p + 1$ **hats**. Hat $j$ is not 0 exactly on the open interval $(\text{low}_j, \text{high}_j)$:
#
# | hat | 1 | 2 | … | $p$ | $p + 1$ |
# |---|---|---|---|---|---|
# | low | $-\infty$ | $b_1$ | … | $b_{p-1}$ | $b_p$ |
# | high | $b_2$ | $b_3$ | … | $\infty$ | $\infty$ |
#
# (The list of highs is $b_2, \dots, b_p, \infty, \infty$. With one knot, hat 1 reaches everywhere. The last hat has its top beyond all inputs.) Any values at distinct inputs can be met **if and only if** each input can have a hat of its own that is not 0 there, in order from left to right.
# To decide it, walk through the inputs in increasing order. Give each the *first* hat, to the right of all hats taken so far, whose interval contains it. If there is none, interpolation is impossible.
#
# The cell after your check asks how often 20 uniform random inputs can be interpolated. There is no sharp threshold: half of the samples need about $2.5\,n$ knots, and 100 knots are not enough for all. Your answer agrees with the rank of $X$ on every sample tried.


# %% exercise="schoenberg_whitney" points=3 minutes=12 difficulty=3 covers="wu:1.4.7"
def schoenberg_whitney(x, b):
    """The hats that the inputs take, in increasing order of the inputs.

    x (n,) distinct, in any order. b (p,) increasing, p >= 1.
    Returns (n,) whole numbers: hats are numbered 1 … p + 1 as in the table. From the
    first input that finds no hat on, all entries are 0. No 0: any values can be met.
    b = [1, 2] and x = [2.5, 0.5, 1.5] give [1, 2, 3]. x = [0.2, 0.8, 2.5] gives
    [1, 0, 0]: left of the first knot, where 0.2 and 0.8 lie, only hat 1 is not 0.
    """
    ### BEGIN SOLUTION
    low, high = [-np.inf, *b], [*b[1:], np.inf, np.inf]
    hats, hat = np.zeros(len(x), int), 0
    for i, value in enumerate(sorted(x)):
        while hat < len(low) and not low[hat] < value < high[hat]:
            hat += 1
        if hat == len(low):
            break
        hats[i] = hat = hat + 1
    return hats
    ### END SOLUTION


# %% check="schoenberg_whitney"
check(schoenberg_whitney)

# %% covers="wu:1.4.7"
with after(schoenberg_whitney):
    counts, shares = [10, 19, 25, 30, 40, 50, 60, 80, 100, 150, 200], []
    samples = [np.random.default_rng(seed).random(20) for seed in range(100)]
    for p in counts:
        b = np.arange(1, p + 1) / (p + 1)
        possible = [np.all(schoenberg_whitney(x, b)) for x in samples]
        for x, yes in list(zip(samples, possible))[:20]:
            A = np.column_stack([np.ones(20), dd.hinges(x, p)])
            assert (np.linalg.matrix_rank(A, tol=1e-13) == 20) == yes
        shares.append(np.mean(possible))
    assert np.all(schoenberg_whitney(dd.grid(), np.arange(1, 20) / 20))  # the grid
    assert not np.all(schoenberg_whitney(dd.grid(), np.arange(1, 19) / 19))
    at = {p: f"{shares[counts.index(p)]:.2f}" for p in (19, 40, 60, 100)}
    print("share of random samples that p knots can interpolate:", at)
    show(*dd.draw_threshold(shares, counts))

# %% [markdown] covers="explainers:2.5.3"
# ## Another basis, another story
#
# Fit the cubic $x^3 - x$ with $p$ Legendre polynomials, $P_0, \dots, P_{p-1}$: 20 uniform random inputs, σ = 0.3, minimum norm. A polynomial of degree $n - 1$ has $n$ coefficients, so the threshold sits at **degree 19**, which is $p = 20$ parameters.
#
# Then change one thing: multiply $P_k$ by $\sqrt{2k+1}$, so that all features are equally large on average. The fits with $p \le n$ parameters are the same functions; the norm, and so the preference among perfect fits, is another. Finally, keep the first scaling and add a small ridge penalty, $\lVert y - \Phi w\rVert^2 + 0.3\,\lVert w\rVert^2$.
#
# **Before you run it:** which of the three ends no better than the function 0? Which has no peak?


# %% covers="explainers:2.5.3" demo=true
def cubic(x):
    return x**3 - x


counts = (4, 19, 20, 21, 60, 1000)
errors, sizes = dd.legendre_curve(counts, cubic)
alike, _ = dd.legendre_curve(counts, cubic, scaled=True)
calm, _ = dd.legendre_curve(counts, cubic, ridge=0.3)
assert errors.argmax() == sizes.argmax() == counts.index(20)
zero = np.mean(cubic(np.linspace(-1, 1, 201)) ** 2)
assert errors[-1] < 0.5 * zero < 0.9 * zero < alike[-1]  # one basis, two scalings
assert errors[0] < errors[-1] and np.isclose(errors[0], 0.019, atol=5e-4)
assert calm.max() < zero
show(*dd.draw_legendre(cubic), digits=1)

# %% [markdown] covers="explainers:2.5.3 wu:1.4.9 wu:1.4.8"
# The peak is common; what follows it is **not a law**. Here even the better curve ends above the classical minimum (0.019 with the four parameters of a cubic). The second descent needs a norm that prefers the truth. Unscaled Legendre features shrink like $1/\sqrt{2k+1}$, so high degrees are expensive and the cubic is cheap.
# With equal sizes, a thousand features meet the points by needles and say nearly 0 in between: the excess error ends at that of the zero function (dashed), which has learned nothing. Ridge has no peak at all.
#
# Real networks live far to the right: AlexNet had about 60 million parameters for 1.2 million training images, 50 for each. Their training does not minimise a norm that we can write down, but it has a bias all the same. Where no term of the loss asks for it, it is *implicit*.
#
# ## Is overfitting benign?
#
# A perfect fit carries the noise of its rows. Overfitting is called **benign** if the excess error still goes to 0 as $n$ grows, **tempered** if it settles at a constant share of $\sigma^2$, **catastrophic** if it grows without bound.

# %% covers="wu:1.4.8" demo=true
few, many = dd.spline_excess(20), dd.spline_excess(80)
predict(
    "Interpolate pure noise (variance σ²) on a grid by the limiting cubic spline, p = "
    "∞. With four times as many points the excess error is …",
    ["a quarter", "half", "about the same", "four times as large"],
    truth=int(np.argmin(np.abs(many / few - np.array([0.25, 0.5, 1, 4])))),
    because=f"It is {few:.2f} σ² for 20 points and {many:.2f} σ² for 80. The spline "
    "follows each point; more points only make the wiggles narrower.",
)

# %% [markdown] covers="wu:1.4.8"
# So the spline is *tempered*. Its constant can be computed: the spline is linear in $y$, $s(x) = \sum_i \ell_i(x)\, y_i$, so pure noise gives the mean squared value $\sigma^2 \int \sum_i \ell_i(x)^2 dx$. Far from the ends all $\ell_i$ are shifts of one function $\ell$, and $\sum_i \int \ell_i^2$ over one gap becomes $\int \ell^2 = 0.874$ in units of the spacing.
# A new noisy target is then missed by $1.87\,\sigma^2$ on average, and not, as the notes' (1.36) has it, by about $\sigma^2$.
# (It matters where one tests: at the data points the excess error is $\sigma^2$, in the middle of a gap $0.756\,\sigma^2$. Five equally spaced points inside each gap, data points left out, give $0.849\,\sigma^2$.)
#
# **When does it become benign?** For linear regression with Gaussian features whose covariance has eigenvalues $\lambda_1 \ge \lambda_2 \ge \dots$, Bartlett, Long, Lugosi and Tsigler (2020) gave the answer in terms of two *effective ranks* of the tail beyond the first $k$:
#
# $$r_k = \frac{\sum_{i>k}\lambda_i}{\lambda_{k+1}}, \qquad R_k = \frac{\big(\sum_{i>k}\lambda_i\big)^2}{\sum_{i>k}\lambda_i^2} .$$
#
# Let $k^*$ be the least $k$ with $r_k \ge b\,n$ (for a constant $b$). Up to constants, the noise costs $\sigma^2\big(\frac{k^*}{n} + \frac{n}{R_{k^*}}\big)$. Benign needs all three: $r_0/n \to 0$, $k^*/n \to 0$ and $n/R_{k^*} \to 0$.
# In words: few strong directions for the signal, and a **long, flat tail** of very many weak ones that share out the noise.


# %% exercise="effective_ranks" points=2 minutes=6 difficulty=1 covers="wu:1.4.8"
def effective_ranks(eigs, k):
    """The effective ranks r_k and R_k of the tail of a spectrum.

    eigs (d,), >= 0, in any order; λ_1 is the largest. 0 <= k < d, and λ_{k+1} > 0.
    Returns (r_k, R_k).
    eigs = [1, 8, 3, 2] and k = 1 give (2, 36/14): the tail is 3, 2, 1.
    """
    ### BEGIN SOLUTION
    tail = np.sort(eigs)[::-1][k:]
    return tail.sum() / tail[0], tail.sum() ** 2 / np.sum(tail**2)
    ### END SOLUTION


# %% check="effective_ranks"
check(effective_ranks)

# %% [markdown] covers="wu:1.4.8"
# The cell prints $k^*$ (with $b = 1$, among $k < n$) and the cost for three spectra. Only the flat tail has a $k^*$ for every $n$; its cost falls like $1/n$. Then the measurement: minimum-norm fits to Gaussian features with these spectra, truth along the first axis, noise variance 1.
# The black line is the rate that the notes print, squared and started at the spline's first point. The spline does not follow it. And the *fastest* decay, which sounds like the simplest data, is the worst.

# %% covers="wu:1.4.8"
with after(effective_ranks):
    for name, spectrum in dd.SPECTRA.items():
        told = []
        for n in (20, 40, 80):
            ranks = [effective_ranks(spectrum(n), k) for k in range(n)]
            k = next((k for k in range(n) if ranks[k][0] >= n), None)
            cost = "" if k is None else f" (cost {k / n + n / ranks[k][1]:.2f})"
            told.append(f"n = {n}: k* = {k}{cost}")
        print(f"{name:15}", "; ".join(told))
    spline = [dd.spline_excess(n) for n in (20, 40, 80, 160)]
    assert np.all(np.abs(np.array(spline) - 0.87) < 0.01)  # whatever n is
    print("1-D spline, n = 20, 40, 80, 160:", *(f"{v:.3f} σ²" for v in spline))
    inside = (20 + np.arange(1, 6) / 6) / 40  # five points in a gap far from both ends
    shares = np.sum(dd.clamped_spline(dd.grid(41), np.eye(41))(inside) ** 2, axis=1)
    assert abs(shares.mean() - 0.849) < 5e-4 and abs(shares[2] - 0.756) < 5e-4
    show(*dd.draw_benign())

# %% [markdown] covers="wu:1.4.8"
# **Estimation, approximation, optimisation.** The notes split the test error into three. What does each do as $p$ grows, with $n$ fixed and σ = 0.1? *Approximation* (the best spline with $p$ knots against the truth) falls. *Optimisation* (training error left by the algorithm) is 0 once $p \ge 19$. *Estimation*, what the noise costs, peaks, falls, and then stays at $0.87\,\sigma^2$: it does not vanish.
#
# **Early stopping** is the other brake. Gradient descent learns the strong directions first, and these vary slowly: along the data, the $k$-th strongest changes sign just $k$ times. At σ = 0.3 and 1000 knots, a stop at the right time beats the perfect fit.

# %% covers="wu:1.4.8 wu:1.4.5" demo=true
x, t = dd.grid(), np.linspace(0, 1, 401)
for p in (19, 50, 200):
    noise_cost = 0.01 * np.mean(np.sum(dd.fit_operator(x, t, p) ** 2, axis=1))
    features = dd.hinges(t, p)  # 401 noiseless points: nearly the best spline
    best = np.mean((dd.fit_operator(t, t, p) @ dd.sine(t) - dd.sine(t)) ** 2)
    print(f"p = {p}: noise costs {noise_cost:.1e}, approximation {best:.0e}")
F = dd.hinges(x, 1000)
U = np.linalg.svd(F - F.mean(0))[0][:, :19]  # residual directions, strongest first
assert np.all((np.diff(np.sign(U), axis=0) != 0).sum(0) == np.arange(1, 20))
stops = [100, 1000, 3000, 10_000, 100_000, None]
curve = [dd.excess_errors([1000], 0.3, 100, steps=s, m=401)[0] for s in stops]
assert min(curve[:-1]) < 0.8 * curve[-1] and np.argmin(curve) not in (0, len(curve) - 1)
told = {s or "∞": f"{v:.3f}" for s, v in zip(stops, curve)}
print("σ = 0.3, 1000 knots, by steps:", told)

# %% [markdown] written="more_is_better" points=2 minutes=5
# **In your words.** A colleague says: "Use more parameters than rows, train to zero error, and forget about regularisation and early stopping." From what you measured above, name one situation where this advice is good and one where it costs, with the reason for each. (Four sentences.)
#
# ### BEGIN SOLUTION
# It is good where the targets carry little noise and the norm that training minimises prefers functions like the truth: the noiseless sine with a thousand knots has an excess error of 0.0001, below every classical fit. It is also good with noise where the features have a few strong directions and a long flat tail, since the tail spreads the noise thinly.
# It costs where noise is strong and there is no such tail: the one-dimensional spline keeps about 0.87 σ² of excess error for any n, while fewer knots, ridge or early stopping do better. It also costs near the threshold p + 1 = n, and in a basis whose norm does not prefer the truth (the Legendre features scaled alike).
#
# **Rubric**
# - 1: names a situation where it is good, with low noise or a flat tail (or a well-matched norm) as the reason
# - 1: names a situation where it costs, with noise that a low-dimensional fit must carry, the threshold, or a mismatched norm as the reason
# ### END SOLUTION

# %% [markdown] covers="explainers:2.1.2.box-linearity"
# ## A use: is a relation linear?
#
# With many features one cannot look at a plot. There is no single standard test, but one can compare how much variance a line explains and how much a flexible cubic **smoothing spline** does (it minimises squared error plus a multiple of $\int f''^2$; the multiple is chosen by generalised cross-validation).
# The gap of the two $R^2$ should be near 0 for a linear truth. On training rows the spline cannot lose, since every line is a spline without bending. So use held-out rows: here 5 folds, 15 data sets of 60 rows with noise of standard deviation 0.4, truth $x + a\sin 3\pi x$.

# %% covers="explainers:2.1.2.box-linearity" demo=true
rng = np.random.default_rng(0)
x = np.sort(rng.uniform(-1, 1, 80))
error = 0.4 * rng.normal(size=80)
straight, curved = (dd.linearity_gap(x, f + error) for f in (x, np.sin(3 * x)))
assert straight[0] > -1e-3 and straight[1] < 0.01 < 0.1 < curved[1]
for name, gaps in (("line", straight), ("sine", curved)):
    print(f"{name}: gap on training rows {gaps[0]:.2f}, held out {gaps[1] + 0.0:.2f}")
show(*dd.draw_linearity())

# %% [markdown] covers="wu:1.4.9"
# ## From splines to deep networks
#
# $s(x) = \text{Linear}(\text{ReLU}(\text{Linear}(x)))$. A trained network differs in two ways.
#
# **It moves its knots.** A hidden unit $\max(0, w x + u)$ has its knot at $-u/w$; training changes both. The truth below is flat except for a tooth. Twelve knots: fixed and equally spaced (the least-squares fit), and learned from there by 2000 steps of Adam on all weights.
# (The price: the loss is no longer convex. From other starts the knots can get stuck.)
#
# **It composes.** One hidden layer of $p$ units makes at most $p + 1$ pieces. A composition of piecewise-linear maps is piecewise linear, but pieces multiply. The tent $\tau(x) = 2\max(0, x) - 4\max(0, x - \tfrac12)$ uses two units. Composed $L$ times, with $2L$ units, it has $2^L$ pieces (second cell).
#
# The vocabulary changes with the regime. Parameters ≫ data and loss ≈ 0: instead of under- and overfitting one speaks of memorisation and interpolation, instead of counting parameters one asks which norm is kept small. What does not change is that the answer has to be measured on new data.

# %% covers="wu:1.4.9" demo=true
x = np.linspace(0, 1, 101)
fixed, still = dd.train_knots(x, dd.tooth(x), steps=100, learn=False)
learned, moved = dd.train_knots(x, dd.tooth(x))
assert np.array_equal(still[0], still[-1])
assert np.isclose(fixed[0], fixed[-1], rtol=0.01)
assert learned[-1] < fixed[-1] / 10
assert all(np.abs(moved[-1] - corner).min() < 0.02 for corner in dd.TOOTH)
show(*dd.draw_learned_knots(learned, moved), digits=0)


# %% covers="wu:1.4.9" demo=true
def tent(x):
    return 2 * np.maximum(0, x) - 4 * np.maximum(0, x - 0.5)


def tower(x, L):
    for _ in range(L):
        x = tent(x)
    return x


for L in range(1, 7):
    assert dd.count_pieces(lambda x, L=L: tower(x, L)) == 2**L
linear = torch.nn.Linear
layer = torch.nn.Sequential(linear(1, 2), torch.nn.ReLU(), linear(2, 1))
with torch.no_grad():
    layer[0].weight.fill_(1)
    layer[0].bias.copy_(torch.tensor([0, -0.5]))
    layer[2].weight.copy_(torch.tensor([[2.0, -4.0]]))
    layer[2].bias.fill_(0)
deep = torch.nn.Sequential(*[layer] * 6)
x = torch.arange(0, 129)[:, None] / 128
assert torch.allclose(deep(x)[:, 0], torch.tensor(tower(x[:, 0].numpy(), 6)))
print("6 tents, 12 units:", 2**6, "pieces; one layer of 12 units: at most 13")

# %% [markdown] covers="wu:1.4.10"
# ## Interpolation is not understanding
#
# Outside the data the spline does say something: on the left it is constant, on the right it goes straight on with slope $\sum_j\beta_j$. Nothing justifies either. A *law* can do better. A weight swings on a spring. We see it for one second. One fit is the thousand-knot spline; the other knows that $\ddot x = -\omega^2 x$, and fits $\omega$ and two amplitudes.

# %% covers="wu:1.4.10" demo=true
x, p = dd.grid(), 1000
F = dd.hinges(x, p)
slopes = np.linalg.pinv(F - F.mean(0), rcond=1e-12) @ (dd.sine(x) - dd.sine(x).mean())
beyond = dd.fit_operator(x, np.array([-2.0, -1.0, 2.0, 3.0]), p) @ dd.sine(x)
assert np.isclose(beyond[0], beyond[1])  # constant on the left
assert np.isclose(beyond[3] - beyond[2], slopes.sum())  # straight on the right
show(*dd.draw_extrapolation())

# %% [markdown] covers="wu:1.4.10"
# Simple laws reach beyond their data, though not without end: $F = ma$ fails near the speed of light, and a real spring breaks.
#
# **Epicycles.** Ptolemy described planets by circles on circles. A pen at the end of $N$ rotating arms draws
#
# $$r(t) = \sum_k R_k\, e^{i\omega_k t},$$
#
# with complex $R_k$ (length and starting angle). If all $\omega_k$ are whole multiples of one $\omega_0$, the curve is closed and the sum is a Fourier series: with enough circles it draws *any* closed curve. So adding circles can never fail, and its success says nothing about the planets.
# Newton's law has no such freedom. Gauss used it in 1801 to find the lost planet Ceres again, from an arc of about forty days, where no curve fitting would have helped.
#
# Von Neumann is quoted: with four parameters he could fit an elephant, with five make it wiggle its trunk. Write the fit. For points $z_j = x_j + i y_j$, $j = 0, \dots, m - 1$, at equal times, least squares gives $c_k = \frac1m\sum_j z_j e^{-2\pi i k j/m}$. Take the first $N$ frequencies of $0, 1, -1, 2, -2, \dots$
#
# The outline in the widget was built in 2010 (Mayer, Khairy and Howard) from four complex numbers, that is 8 real ones, *and* a well-chosen list of frequencies up to 5. How many circles draw it exactly? Move the moment to see the arms turn. The error never rises with $N$. Does that make 11 circles a theory of elephants?


# %% exercise="epicycle_fit" points=3 minutes=10 difficulty=2 covers="wu:1.4.10"
def epicycle_fit(points, N):
    """The closed curve of N circles nearest to the points, at the points' own times.

    points (m, 2): x and y. 1 <= N <= m. Frequencies: the first N of 0, 1, -1, 2, -2, …
    Returns (m, 2). N = 1 gives the mean point in each row, N = m the points themselves.
    points = [[1, 0], [0, 1], [-1, 0], [0, -1]] and N = 2 give the points: one circle.
    """
    ### BEGIN SOLUTION
    m, z = len(points), points[:, 0] + 1j * points[:, 1]
    k = np.array([(i + 1) // 2 * (1 if i % 2 else -1) for i in range(N)])
    E = np.exp(2j * np.pi * np.outer(np.arange(m), k) / m)
    curve = E @ (E.conj().T @ z) / m
    return np.column_stack([curve.real, curve.imag])
    ### END SOLUTION


# %% check="epicycle_fit"
check(epicycle_fit)

# %% covers="wu:1.4.10"
with after(epicycle_fit):
    outline = dd.elephant()
    sizes = [
        np.mean((np.asarray(epicycle_fit(outline, N)) - outline) ** 2)
        for N in range(1, 16)
    ]
    assert np.all(np.diff(sizes) < 1e-9) and max(sizes[10:]) < 1e-9 < sizes[9]
    explore(
        dd.epicycle_explorer(epicycle_fit),
        N=IntSlider(5, min=1, max=15, description="circles N"),
        moment=FloatSlider(0.1, min=0, max=1, step=0.02, description="moment"),
    )

# %% [markdown] covers="explainers:2.5.3 wu:1.4.7"
# ## On real data
#
# 200 handwritten digits for training, a tenth of their labels replaced by random ones; the other 1597 for testing. Features: $\max(0, \mathbf w_j^\top(\text{pixels} - \text{mean}))$ with $p$ random vectors $\mathbf w_j$, a network whose first layer is never trained. The output layer is fitted by least squares to one-hot labels, no intercept: minimum norm, and ridge.
#
# **Before you run it:** where is the peak, and is there one with ridge? Means over two draws.

# %% covers="explainers:2.5.3 wu:1.4.7" demo=true
pixels, labels = data.digits().X / 16, data.digits().y
curves = dd.digits_curve(pixels, labels, (40, 200, 3000))
free, held = curves["minimum norm"], curves["ridge"]
assert curves["train"][1] == 0 and free[1] > 0.6
assert free[2] < free[0] < 0.25 and held.max() < 0.25
show(*dd.draw_digits(pixels, labels))

# %% [markdown] covers="wu:1.4.7 wu:1.4.8"
# All of it is there: the classical minimum near 80 features, the peak at $p = n$, a second descent that ends lower than the first. And one more: ridge, with the same penalty of 1 for every width, has no peak, and its best width beats every minimum-norm fit.
#
# ## Take-aways
#
# - Data alone never choose between perfect fits; the learner's bias does. Gradient descent from zero on a linear model chooses the least norm. From elsewhere it chooses the perfect fit nearest to the start.
# - In hinge features a small norm means little bending. With $p \to \infty$ and a free intercept the fit becomes a cubic spline.
# - The peak sits where the weights, intercept included, equal the rows, if the inputs are regular. For random inputs interpolation needs the Schoenberg–Whitney condition and comes gradually.
# - The peak is a matter of conditioning. It needs no noise; aligned knots, ridge or early stopping remove it.
# - A second descent below the classical minimum needs little noise or a fitting norm. It is not a law.
# - Overfitting is benign only where a long flat tail of directions takes up the noise. A one-dimensional spline is tempered: it pays about $0.87\,\sigma^2$ for ever.
# - A spline knows nothing outside its data.
#
# ## What the notes got wrong
#
# First the model and the algorithm, then the double descent curve, then benign overfitting and the reflection. Slips of wording, where nothing can be computed, stand without a test.

# %% covers="wu:1.4.1 wu:1.4.4 wu:1.4.6 explainers:2.5.3" demo=true
x = dd.grid()
A = np.column_stack([np.ones(20), dd.hinges(x, 3)])
line_error = np.mean((A @ np.linalg.lstsq(A, x, rcond=None)[0] - x) ** 2)
wider = np.column_stack([A, x])
wide_error = np.mean((wider @ np.linalg.lstsq(wider, x, rcond=None)[0] - x) ** 2)
erratum(
    "wu:1.4.1",
    r"(1.26)–(1.28): an intercept and hinges at $b_1, \dots, b_p$ are the "
    r"piecewise-linear fit on $[x_\min, x_\max]$",
    r"they force a constant on $[x_\min, b_1]$, where all rows are alike; add the "
    r"feature $x$ or a knot at $x_\min$",
    printed_holds=line_error < 1e-12,
    corrected_holds=wide_error < 1e-12 and not dd.hinges(x[x <= 0.25], 3).any(),
)
erratum(
    "wu:1.4.1",
    "the knots $b_j$ are called design points",
    "design points are the inputs $x_i$; the $b_j$ are knots, or break points",
)
X, y = np.column_stack([np.ones(4), dd.hinges(dd.grid(4), 12)]), dd.sine(dd.grid(4))
first = beta = np.random.default_rng(0).normal(size=13)
eta, walked = 1 / np.linalg.norm(X, 2) ** 2, 0.0
for _ in range(20_000):
    step = eta * X.T @ (y - X @ beta)
    beta, walked = beta + step, walked + np.linalg.norm(step)
seen = np.linalg.pinv(X) @ (X @ beta)
unseen_first = first - np.linalg.pinv(X) @ (X @ first)
erratum(
    "wu:1.4.4",
    r"gradient descent ends at $\hat\beta = \sum_i c_i \mathbf x_i$ (no word on the "
    "start)",
    r"$\hat\beta - \beta^{(0)} = \sum_i c_i\mathbf x_i$; only a start at 0, or in the "
    "span of the rows, gives the least norm",
    printed_holds=np.allclose(beta, seen, atol=1e-6),
    corrected_holds=np.allclose(beta - seen, unseen_first, atol=1e-6),
)
straight = np.linalg.norm(beta - first)
nearest = np.linalg.norm(np.linalg.pinv(X) @ (y - X @ first))
erratum(
    "wu:1.4.4",
    "gradient descent travels the minimal distance from the start to a solution",
    "its end point is the solution nearest to the start; the path is longer",
    printed_holds=walked < 1.001 * straight,
    corrected_holds=np.isclose(straight, nearest, rtol=1e-6),
)

from scipy.interpolate import CubicSpline

x = dd.grid()
y = dd.sine(x)
clamped, natural = dd.clamped_spline(x, y), CubicSpline(x, y, bc_type="natural")
bends = [dd.bending(x, s(x, 2)) for s in (clamped, natural)]
far = [np.abs(dd.fit_operator(x, x, p) @ y - y).max() for p in (25, 4000)]
erratum(
    "wu:1.4.6",
    "gradient descent selects the smoothest interpolant",
    r"the least $\sum_j\beta_j^2$; as $p \to \infty$, with $\beta_0$ free, this is the "
    r"least $\int f''^2$ among interpolants with $f'(x_\min) = 0$, not among all",
    printed_holds=bends[0] <= bends[1],
    corrected_holds=max(far) < 1e-6
    and abs(4001 * dd.norms(x, y, 4000) / bends[0] - 1) < 0.01,
)
nodes = np.cos(np.pi * (np.arange(20) + 0.5) / 20)
bumpy = np.random.default_rng(0).normal(size=20)
fits = [np.polynomial.Chebyshev.fit(nodes, bumpy, degree) for degree in (18, 19)]
left = [np.mean((fit(nodes) - bumpy) ** 2) for fit in fits]
erratum(
    "explainers:2.5.3",
    "polynomials interpolate when the degree matches the number of samples $n$, not "
    "before",
    "at degree $n - 1$, which has $n$ coefficients",
    printed_holds=left[1] > 1e-12,
    corrected_holds=left[0] > 1e-6 and left[1] < 1e-12,
)
X, y, beta = np.random.default_rng(1).normal(size=(4, 9)), np.ones(4), np.zeros(9)
for _ in range(3000):
    beta = beta + X.T @ (y - X @ beta) / np.linalg.norm(X, 2) ** 2
gradient_of_loss_alone = X.T @ (y - X @ beta)
erratum(
    "explainers:2.5.3",
    "optimisers such as SGD and Adam are explicit regularisation",
    "their effect is implicit: the loss holds no penalty, and its minimiser of least "
    "norm comes from the path (gradient descent from zero on least squares)",
    # With a penalty in the loss, this gradient would not vanish at the end.
    printed_holds=np.abs(gradient_of_loss_alone).max() > 1e-6,
    corrected_holds=np.allclose(beta, np.linalg.pinv(X) @ y, atol=1e-6),
)

# %% covers="wu:1.4.7" demo=true
excess = dd.excess_errors([17, 18, 19, 20, 21], 0.1, 100, m=401)
erratum(
    "wu:1.4.7",
    r"the threshold is at $p \approx n$ knots, the underparameterised regime is $p < "
    "n$",
    r"the intercept counts: $p + 1 = n$ weights, $p = n - 1$ knots",
    printed_holds=int(excess.argmax()) == 3,
    corrected_holds=int(excess.argmax()) == 2,
)
early, late = dd.excess_errors([6, 17], 0.3, 100, m=401)
erratum(
    "wu:1.4.7",
    r"for all $p < n$, training and test errors decrease with $p$",
    "the test error is U-shaped: it falls, then rises toward the peak (the notes' own "
    "Fig. 1.9)",
    printed_holds=late <= early,
    corrected_holds=late > 1.5 * early,
)
x = [np.sort(np.random.default_rng(seed).random(20)) for seed in range(20)]
two, three = np.array([dd.training_errors(u, dd.sine(u), (2, 3)) for u in x]).T
nested = dd.training_errors(x[0], dd.sine(x[0]), (1, 3, 7))
erratum(
    "wu:1.4.7",
    "the training error decreases monotonically",
    "equally spaced knots are not nested ($p = 2$ and $3$ share none), so it may "
    "rise; it cannot where they are, as for $p = 1, 3, 7$",
    printed_holds=np.all(three <= two),
    corrected_holds=np.any(three > two) and nested[0] >= nested[1] >= nested[2],
)
ends = {}
for sigma in (0.0, 0.1, 0.3):
    curve = dd.excess_errors(dd.COUNTS[1:], sigma, 100, m=401)
    ends[sigma] = curve[-1] < curve[: dd.COUNTS.index(18)].min()
erratum(
    "wu:1.4.7",
    "the second descent ends below the classical minimum",
    "here it does so without noise only; at σ = 0.1 and 0.3 it ends above",
    printed_holds=all(ends.values()),
    corrected_holds=ends[0.0] and not ends[0.1] and not ends[0.3],
)


def share(p):
    matrices = [np.column_stack([np.ones(20), dd.hinges(u, p)]) for u in x]
    return np.mean([np.linalg.matrix_rank(A, tol=1e-13) == 20 for A in matrices])


erratum(
    "wu:1.4.7",
    r"zero training error becomes possible at $p \approx n$, whatever the $x_i$",
    "the inputs must satisfy the Schoenberg–Whitney condition; for most random "
    "samples that takes several times $n$ knots",
    printed_holds=share(20) > 0.5,
    corrected_holds=share(20) < 0.2 and share(100) > 0.5,
)
erratum(
    "wu:1.4.7",
    r"gradient descent shows the peak at $p \approx n$ (no word on the number of "
    "steps)",
    r"only the limit does: with $\mathrm{cond}(X^\top X) \approx 5\cdot10^{15}$ a "
    "finite number of steps hides it",
    printed_holds=dd.excess_errors([19], 0.1, 20, steps=100_000)[0] > 1,
    corrected_holds=dd.excess_errors([19], 0.1, 20)[0] > 1e6,
)
erratum(
    "wu:1.4.7",
    r"(1.31) $x_i \ne b_i$; (1.32) $\lVert\beta\rVert^2 = "
    r"\min\{\lVert\tilde\beta\rVert^2 : y_i = s(x_i)\}$ with $s$ built from $\beta$",
    r"$x_i \ne b_j$ for all $j$; the condition holds for the curve built from "
    r"$\tilde\beta$",
)

# %% covers="wu:1.4.8 wu:1.4.10" demo=true
sizes = np.array([20, 40, 80, 160])
root = np.sqrt([dd.spline_excess(n) for n in sizes])  # L2 distance for σ = 1, truth 0
erratum(
    "wu:1.4.8",
    r"$\lVert s - s^*\rVert_{L^2} = O(\sigma\sqrt{\log n/n})$ for the interpolating "
    "spline, 'the optimal rate'",
    r"it stays near $\sqrt{0.87}\,\sigma$ for every $n$ (and the optimal rates are "
    "$n^{-1/3}$ for Lipschitz, $n^{-2/5}$ for twice differentiable truths, up to "
    "constants)",
    printed_holds=root[-1] / root[0] < 1.5 * np.sqrt(np.log(160) / 8 / np.log(20)),
    corrected_holds=np.ptp(root) < 0.01,
)
fast = [dd.gaussian_excess(dd.SPECTRA["λ = exp(-i/20)"](n), n, 5) for n in (20, 80)]
slow = [dd.gaussian_excess(dd.spiked(n), n, 5) for n in (20, 80)]
erratum(
    "wu:1.4.8",
    "condition: a rapidly decaying spectrum of the feature covariance",
    "few large eigenvalues, then a long, slowly decaying tail ($r_0/n$, $k^*/n$ and "
    r"$n/R_{k^*} \to 0$)",
    printed_holds=fast[1] < fast[0],
    corrected_holds=slow[1] < slow[0] / 2,
)
pure = 0.01 * np.random.default_rng(0).normal(size=20)
sizes = [np.sqrt(dd.norms(dd.grid(), v, 4000)) for v in (dd.sine(dd.grid()), pure)]
shrinks = np.divide(*(dd.norms(dd.grid(), dd.sine(dd.grid()), p) for p in (4000, 1000)))
erratum(
    "wu:1.4.8",
    r"$\lVert\beta\rVert_2 = O(1)$ says that the solution is smooth",
    r"$\lVert\beta\rVert^2 \approx \Delta\int f''^2 \to 0$ as $p$ grows, for any data: "
    "small jagged noise has a smaller norm than a smooth sine",
    printed_holds=sizes[1] > sizes[0],
    corrected_holds=abs(4 * shrinks - 1) < 0.05 and sizes[1] < sizes[0],
)
erratum(
    "wu:1.4.8",
    r"(1.38): arrows '$\downarrow$ with $p$' and '$\approx 0$ for $p \gg n$' under the "
    "three errors",
    r"approximation error falls with $p$, optimisation error is about 0 for $p \gg n$; "
    "estimation error does not vanish with $p$",
)
erratum(
    "wu:1.4.8",
    "early stopping is one of two mechanisms of benign overfitting; later: early "
    "stopping may be unnecessary",
    "a stopped run has not interpolated: it is an alternative to benign overfitting, "
    "and with strong noise the better one",
)
time = np.linspace(0, 40 * np.pi, 2001)


def returns(speeds):
    path = np.exp(1j * np.outer(time, speeds)).sum(axis=1)
    # After each turn of the first circle:
    return np.abs(path[100::100] - path[0]).max() < 1e-6


erratum(
    "wu:1.4.10",
    r"(1.44) $r(t) = \sum_n R_n e^{i\omega_n t}$ is a Fourier decomposition",
    r"only if $\omega_n = n\,\omega_0$ (with complex $R_n$ to carry the phases); "
    "otherwise $r$ need not even be periodic",
    printed_holds=returns([1, np.sqrt(2)]),
    corrected_holds=returns([1, 2, 3]),
)
erratum(
    "wu:1.4.10",
    "Gauss predicted the position of Ceres from just seven observations",
    "standard accounts: Piazzi recorded some twenty positions over about forty days, "
    "and Gauss's first orbit used three of them",
)
erratum(
    "wu:1.4.10",
    "(1.43) the spline cannot predict beyond the training range; $F = ma$ generalises "
    "out of domain",
    r"it does predict, a constant on the left and slope $\sum_j\beta_j$ on the right, "
    "without justification; $F = ma$ too has a domain",
)

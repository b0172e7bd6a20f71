# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] minutes=90 builds="gradient descent that knows its own rate"
# # Gradient descent on loss landscapes
#
# Lecture sections: wu 1.6–1.6.3 · moon 4.1–4.3 · cs480 theorem 3.3 and section 8 · guo I.4 · explainers 3–3.1.1.
#
# A model is trained by making one number, its loss, small. Rarely can anybody solve for the best weights. So we start
# somewhere and walk downhill. How far to step is our choice, and it decides everything: the figure shows one bowl, one
# start and 25 steps, four times. ($L$ is the largest curvature of the bowl, $\kappa$ the largest divided by the
# smallest.) By the end you can say, before a run, how many steps are enough.

# %%
import functools
import math

import ipywidgets as widgets
import numpy as np
import sympy
from scipy.optimize import minimize
from scipy.special import expit

from descent import (
    after,
    below,
    check,
    claim,
    data,
    erratum,
    explore,
    hint,
    predict,
    show,
    start,
)
from descent.pictures.optimisation import gradient_descent as landscapes
from descent.pictures.optimisation.gradient_descent import (
    banana,
    banana_grad,
    banana_hessian,
    draw_gaps,
    eggs,
    eggs_grad,
    slider,
    wavy,
    wavy_grad,
)

rng = np.random.default_rng(0)
start("03_optimisation/01_gradient_descent")

# %% covers="wu:1.6"
show(*landscapes.draw_regimes(kappa=10))

# %% [markdown] covers="cs480:8 explainers:3"
# **Afterwards you can** derive why $-\nabla f$ is the way down and how far a step may go · program gradient descent and
# three relatives (backtracking, normalised, projected) · read the constants $m$ and $L$ off a loss · check a convergence
# proof line by line on data, and predict the number of steps.
#
# ## 1. What we are looking for
#
# Logistic regression (cs480 4.a), the hard-margin SVM (5.a, with constraints), the soft-margin SVM (6.a, whose hinge has
# a kink), least squares: each asks for the $x \in \mathbb R^d$ where some $f(x)$ is smallest. With a data set $D$ of $n$ pairs $(x_i, y_i)$ and a model $f_\theta$ that predicts $y_i$ from $x_i$, the function to be minimised is the *empirical risk*
# $R_D(\theta) = \frac1n \sum_i \mathcal L(y_i, f_\theta(x_i))$, and $x$ is called $\theta$ or $w$. Nothing below needs
# $f \ge 0$.
#
# We write $f^* = \min_x f(x)$ and $x^* = \arg\min_x f(x)$ (where no minimum is reached, as for $e^x$, $f^*$ is the
# infimum). We assume that $f$ is differentiable, and call the vector of its $d$ partial derivatives the gradient
# $\nabla f(x)$.
#
# **Fermat's condition.** Take a minimiser $x^*$ inside an open set and any direction $v$. The slope there is
# $\nabla f(x^*)^\top v$. Were it not zero, a small move along $v$ or $-v$ would lower $f$. So $\nabla f(x^*) = 0$.
#
# Is every point with $\nabla f = 0$ a minimum? The eigenvalues of the Hessian $\nabla^2 f$ at that point tell: all
# positive, a (local) minimum; all negative, a (local) maximum; some of each sign, a saddle. If some are zero and the
# others have one sign, they do not tell.

# %% demo=true covers="cs480:thm3.3 explainers:3.1.1"
u, v = sympy.symbols("u v", real=True)
name_of = {(1,): "minimum", (-1,): "maximum", (-1, 1): "saddle"}
kinds = []
for f in (u**2 + v**2, 1 - u**2 - v**2, u**2 - v**2):
    (point,) = sympy.solve([sympy.diff(f, u), sympy.diff(f, v)], (u, v), dict=True)
    curvatures = sympy.hessian(f, (u, v)).subs(point).eigenvals()
    kinds.append(name_of[tuple(sorted({int(sympy.sign(c)) for c in curvatures}))])
    print(f"f = {f}: ∇f = 0 at ({point[u]}, {point[v]}), a {kinds[-1]}")
erratum(
    "explainers:3.1.1",
    r"where $\nabla f = 0$, $f$ has a local maximum",
    r"where $\nabla f = 0$, $f$ has a minimum, a maximum or a saddle (or a flat spot)",
    printed_holds=set(kinds) == {"maximum"},
    corrected_holds=len(set(kinds)) == 3,
)

# %% demo=true covers="cs480:rem8.1"
x = np.linspace(-2, 3, 501)
f = (x - 1) ** 2 + 1
place = {c: x[np.argmin(c * f)] for c in (1, 3, -1)}
claim("an added constant moves no minimum", np.argmin(f + 5) == np.argmin(f))
predict(
    "A loss is often rescaled: a sum becomes a mean. Multiply f by 3. "
    "What happens to its smallest value, and to the place where it is reached?",
    [
        "Neither changes",
        "The value triples, the place stays",
        "The value triples, the place moves",
    ],
    truth=1 if place[3] == place[1] and (3 * f).min() != f.min() else 2,
    because="A factor c > 0 keeps the order of the values, c < 0 reverses it.",
    then=lambda x=x, f=f: landscapes.draw_scaled(x, f, (1, 3, -1)),
)
erratum(
    "cs480:rem8.1",
    r"$\min_x f(x) = \min_x c\, f(x)$ for every constant $c$",
    r"$\min_x c f(x) = c \min_x f(x)$ and the same $\arg\min$, for $c > 0$",
    printed_holds=bool((3 * f).min() == f.min()),
    corrected_holds=bool(
        (3 * f).min() == 3 * f.min() and place[3] == place[1] != place[-1]
    ),
)

# %% [markdown] covers="wu:1.6.1 explainers:3.1.1.box-taylor"
# ## 2. Which way is down?
#
# Close to $x$, a smooth function looks like its Taylor polynomial. For a small move $\Delta \in \mathbb R^d$
#
# $$f(x + \Delta) \approx f(x) + \sum_{k=1}^d \frac{\partial f}{\partial x_k} \Delta_k = f(x) + \nabla f(x)^\top \Delta
# \qquad\text{and better:}\quad {} + \tfrac12\, \Delta^\top \nabla^2 f(x)\, \Delta .$$
#
# The first leaves an error of order $\lVert\Delta\rVert^2$, the second of order $\lVert\Delta\rVert^3$: shrink $\Delta$
# tenfold, and the errors must shrink 100 and 1000 times. So this is also a test of a gradient: with a wrong one, the
# first error would shrink tenfold only.
#
# We try it on a curved valley, `banana`: $f(x) = (1 - x_1)^2 + 10\,b^2$ with the bend $b = x_2 - x_1^2$, and
# $\nabla f(x) = \big(-2(1 - x_1) - 40\, x_1 b,\ 20\, b\big)$.

# %% demo=true covers="explainers:3.1.1.box-taylor wu:1.6.1"
a, way = np.array([-1.0, 1.5]), np.array([0.6, 0.8])
g, H = banana_grad(a), banana_hessian(a)
h = np.geomspace(1e-1, 1e-3, 9)
change = np.array([banana(a + s * way) - banana(a) for s in h])
first = abs(change - h * (g @ way))
second = abs(change - h * (g @ way) - h**2 / 2 * (way @ H @ way))
slopes = [np.polyfit(np.log(h), np.log(error), 1)[0] for error in (first, second)]
claim(
    "the two errors shrink with orders {slopes[0]:.1f} and {slopes[1]:.1f}",
    np.allclose(slopes, [2, 3], atol=0.1),
    slopes=slopes,
)
erratum(
    "explainers:3.1.1.box-taylor",
    r"$f(x) = f(a) + \nabla f(a)\cdot(x-a) + \frac12 (x-a)\cdot\nabla^2 f(a)(x-a)$",
    r"$\approx$ in place of $=$: a remainder of order $\lVert x-a\rVert^3$ is missing",
    printed_holds=bool(second.max() < 1e-12),
    corrected_holds=abs(slopes[1] - 3) < 0.1,
)

# %% [markdown] covers="moon:4.1.1 explainers:3.1.1 wu:1.6.1 wu:1.6.2"
# Now take steps $\eta v$ of one small length $\eta$, with $\lVert v \rVert = 1$, and let $\theta \in [0, \pi]$ now
# be the angle between $v$ and the gradient. To first order,
#
# $$f(x + \eta v) - f(x) \approx \eta\, \nabla f(x)^\top v = \eta\, \lVert\nabla f(x)\rVert \cos\theta .$$
#
# The cosine is largest, 1, at $\theta = 0$ and smallest, −1, at $\theta = \pi$. Cauchy and Schwarz say the same without
# an angle: $|\nabla f^\top v| \le \lVert\nabla f\rVert \lVert v\rVert$, with equality only if the two are parallel. So
# the steepest way down is $v^* = -\nabla f / \lVert\nabla f\rVert$, and it gains about $\eta \lVert\nabla f\rVert$.
# (A unit vector says nothing about length. $\eta$ has to stay in the formula; moon loses it.)
#
# The next figure tries every direction from one point of the valley and divides the change of $f$ by
# $\eta \lVert\nabla f\rVert$. The shorter the step, the closer this must come to the cosine.
#
# At $\theta = 90°$ the cosine is zero. What is left there is the prediction after the figure. Below it you move a point
# on $a x_1^2 + b x_2^2$ with $a, b \ge 0$, whose gradient is $(2ax_1, 2bx_2)$. When does $-\nabla f$ point straight at
# the minimum?

# %% demo=true covers="explainers:3.1.1 wu:1.6.1 moon:4.1.1"
angle, up = np.linspace(0, 2 * np.pi, 361), g / np.linalg.norm(g)
side = np.array([-up[1], up[0]])
fan = np.outer(np.cos(angle), up) + np.outer(np.sin(angle), side)  # unit vectors
curves = {}
for eta in (0.3, 0.1, 1e-3):
    change = np.array([banana(a + eta * w) - banana(a) for w in fan])
    curves[eta] = change / (eta * np.linalg.norm(g))
show(*landscapes.draw_fan(angle, curves))
claim(
    "the steepest of {n} directions is −∇f (steps of 0.001)",
    angle[curves[1e-3].argmin()] == np.pi,
    n=len(fan),
)
claim(
    "Cauchy and Schwarz: no slope exceeds ‖∇f‖",
    (abs(fan @ g) <= np.linalg.norm(g) + 1e-12).all(),
)
theta = math.acos(round(-up @ up, 12))
erratum(
    "explainers:3.1.1",
    r"the angle to the gradient is $\theta \in [0, \pi)$",
    r"$\theta \in [0, \pi]$: the steepest descent itself stands at $\pi$",
    printed_holds=0 <= theta < math.pi,
    corrected_holds=0 <= theta <= math.pi,
)
flat = banana_grad(np.array([1.0, 1.0]))
erratum(
    "moon:4.1.1",
    r"$\nabla f^\top \nabla f$ is always positive",
    r"it is never negative, and zero at a stationary point",
    printed_holds=bool(flat @ flat > 0),
    corrected_holds=bool(flat @ flat == 0 and g @ g > 0),
)
erratum(
    "moon:4.1.1",
    r"the derivative is the slope at $f(x)$",
    r"the slope at the point $x$",
)

# %% demo=true covers="wu:1.6.2 moon:4.1"
p, h = np.array([1.4, 0.7]), np.geomspace(1e-1, 1e-4, 7)
normal = np.array([2, 8]) * p  # the gradient of x₁² + 4 x₂²
side = np.array([-normal[1], normal[0]]) / np.linalg.norm(normal)
moved = [abs((p + s * side) ** 2 @ [1, 4] - p**2 @ [1, 4]) for s in h]
order = np.polyfit(np.log(h), np.log(moved), 1)[0]
predict(
    "You walk a distance h at a right angle to the gradient. "
    "How does f change for small h?",
    ["In proportion to h", "In proportion to h²", "Not at all"],
    truth=round(order) - 1,
    because="You are on the tangent of a contour: flat to first order, "
    "only curvature is left.",
)
explore(
    landscapes.draw_compass,
    a=slider(1, 0, 4, 0.5, "a"),
    b=slider(4, 0, 4, 0.5, "b"),
    x=slider(1.4, -2, 2, 0.1, "point x₁"),
    y=slider(0.7, -1.5, 1.5, 0.1, "point x₂"),
)

# %% [markdown] covers="cs480:8-motiv wu:9.6.2"
# ## 3. How far?
#
# A direction is not yet a step. Replace $f$ by a model that can be minimised: the tangent plus a parabola that makes
# far moves expensive,
#
# $$q(y) = f(x) + \nabla f(x)^\top (y - x) + \tfrac{1}{2t} \lVert y - x \rVert^2, \qquad
# \nabla q(y) = \nabla f(x) + \tfrac1t (y - x) = 0 \iff y = x - t\, \nabla f(x).$$
#
# That is a step of gradient descent with *step size* $t > 0$ (elsewhere $\eta$ or $\alpha$). cs480 calls $q$ a Taylor
# expansion; it is one with the Hessian replaced by $I/t$. Where $q$ lies above $f$ everywhere, $f$ falls at least as
# far as $q$ does. Move the point and the step size below: how long may the step be, so that the parabola stays above
# the curve from every point?


# %% demo=true covers="cs480:8-motiv wu:9.6.2"
def model(y, t=0.02):
    return banana(a) + g @ (y - a) + (y - a) @ (y - a) / (2 * t)


lowest = minimize(model, a).x
claim(
    "a numerical minimiser of q finds x − t ∇f(x)",
    np.allclose(lowest, a - 0.02 * g, atol=1e-4),
)
grid = np.linspace(-6, 6, 2001)  # f = log cosh, with curvature 1/cosh² ≤ L = 1
starts = np.linspace(-3, 3, 13)
gaps = [landscapes.surrogate_gap(x0, 1.0, grid).min() for x0 in starts]
claim(
    "t = 1/L: the parabola stays above f from each of {n} points",
    min(gaps) > -1e-12,
    n=len(starts),
)
claim(
    "t = 1.3/L: not from every point",
    landscapes.surrogate_gap(0.2, 1.3, grid).min() < 0,
)
explore(
    landscapes.draw_surrogate,
    x=slider(0.6, -3, 3, 0.1, "point x"),
    t=slider(0.5, 0.1, 3, 0.1, "step size t"),
)

# %% [markdown] covers="cs480:def8.2 guo:I.4 wu:1.6.3 explainers:3.1 guo:II.1.a"
# The parabola is safe from every $x$ exactly while $1/t$ is at least the largest curvature. Section 5 builds on that.
#
# **Gradient descent.** From $x^{(0)}$, repeat $x^{(k)} = x^{(k-1)} - t\, \nabla f(x^{(k-1)})$ until satisfied.
# "Satisfied" can mean a small gradient, $\lVert\nabla f\rVert \le \varepsilon$ (guo suggests $10^{-4}$), a small change
# of $f$, or too many steps. We use the first and the last: the first is Fermat's condition, up to a tolerance. Test
# the gradient *before* each step. (wu numbers momentum Algorithm 2; the box for Algorithm 1 is missing. You write it
# now.)
#
# Stuck? `hint(gd)` helps in three stages, and so it does for every exercise.


# %% exercise="gd" points=3 minutes=8 difficulty=1 covers="cs480:def8.2 guo:I.4 wu:1.6.3 explainers:3.1"
def gd(grad, x0, t, max_steps, tol=0.0):
    """All iterates of gradient descent with a fixed step size.

    grad: function (d,) -> (d,). x0: array (d,), left unchanged. t > 0.
    Stops before a step where the (Euclidean) norm of the gradient is at most tol,
    and after max_steps steps.
    Returns the path (k + 1, d) after k steps; path[0] is x0.
    gd(lambda x: 2 * x, np.array([1.0]), 0.25, 2) gives [[1.0], [0.5], [0.25]].
    """
    ### BEGIN SOLUTION
    path = [x0]
    for _ in range(max_steps):
        g = grad(path[-1])
        if np.linalg.norm(g) <= tol:
            break
        path.append(path[-1] - t * g)
    return np.array(path)
    ### END SOLUTION


# %% check="gd"
check(gd)

# %% covers="guo:I.4"
with after(gd):  # guo's example: φ(z) = z², z ← (1 − 2α) z with step size α
    powers = []
    for alpha in (0.05, 0.4, 0.5, 1.0, 1.1):
        z = gd(lambda z: 2 * z, np.array([1.0]), alpha, 100, tol=1e-4)[:, 0]
        factor, n = 1 - 2 * alpha, len(z) - 1
        powers.append(np.allclose(z, factor ** np.arange(n + 1)))
        print(f"α = {alpha:<4}  factor {factor:+.1f}  {n:3d} steps  z = {z[-1]:.2g}")
    claim("every z is a power of the factor", all(powers))

# %% [markdown] covers="wu:1.6.3 cs480:8-step"
# **The bowl explains it all.** Let $f(x) = \frac12 x^\top H x$ with $H$ symmetric and eigenvalues $\lambda_1, \dots,
# \lambda_d$, the smallest $m > 0$ and the largest $L$. Then $\nabla f(x) = Hx$ and $x^{(k)} = (I - tH)^k x^{(0)}$: along each
# eigenvector, a step multiplies by $1 - t\lambda_i$.
#
# - It shrinks while $|1 - t\lambda_i| < 1$: for all $i$ together, $0 < t < 2/L$.
# - It changes sign, a zig-zag, once $t > 1/\lambda_i$.
# - The flattest direction is slow: $1 - tm$. The *condition number* $\kappa = L/m$ says how unequal they are.
#
# Best is the $t$ at which both ends are equally slow: $1 - tm = tL - 1$, so $t = \frac{2}{m+L}$, with factor
# $\frac{\kappa - 1}{\kappa + 1}$.

# %% demo=true covers="wu:1.6.3 cs480:8-step moon:4.1.1"
predict(
    "A bowl has the curvatures 1 and 10. "
    "For exactly which step sizes t > 0 does gradient descent converge from every "
    "start?",
    ["t < 0.1", "t < 0.2", "t < 1", "t < 2"],
    # the largest limit below which the factors of both directions stay under 1
    truth=lambda: max(
        i
        for i, limit in enumerate((0.1, 0.2, 1, 2))
        if max(abs(1 - 0.99 * limit * curvature) for curvature in (1, 10)) < 1
    ),
    because="The steepest direction sets the limit, 2/L = 0.2, "
    "however flat the other one is.",
)
# f = x² has L = 2, so 2/L = 1. The step from x = 1 lands at 1 − 2η.
small, large = np.linspace(0.01, 0.99, 50), np.array([1.0, 1.5])
erratum(
    "moon:4.1.1",
    r"a step $x^{(k+1)} = x^{(k)} - \eta \nabla f(x^{(k)})$ always lowers $f$",
    r"it does if $\nabla f(x^{(k)}) \ne 0$ and $\eta < 2/L$ ($L$: largest curvature)",
    printed_holds=bool(((1 - 2 * large) ** 2 < 1).all()),
    corrected_holds=bool(((1 - 2 * small) ** 2 < 1).all()),
)
erratum(
    "wu:1.6.3",
    r"Algorithm 1 is missing, although momentum is numbered Algorithm 2",
    r"Algorithm 1: $x_{k+1} = x_k - \eta f'(x_k)$ until the gradient is small",
)

# %% covers="cs480:8-step wu:1.6.3"
with after(gd):
    H, gaps, equal = np.diag([1.0, 10.0]), [], []
    steps = np.sort(np.r_[np.linspace(0.01, 0.25, 49), 2 / 11])
    for t in steps:
        end = gd(lambda x: H @ x, np.ones(2), t, 30)[-1]
        power = np.linalg.matrix_power(np.eye(2) - t * H, 30)
        equal.append(np.allclose(end, power @ np.ones(2)))
        gaps.append(end @ H @ end / 2)
    claim("30 steps are (I − tH)³⁰, for {n} step sizes", all(equal), n=len(steps))
    show(*landscapes.draw_step_sizes(steps, gaps, m=1, L=10, n_steps=30))

# %% [markdown] covers="cs480:8 explainers:3.1 moon:4.2 wu:1.6.3"
# **The laboratory.** Step sizes are in units of $1/L$, and the dashed line is what theory says. (The Rosenbrock surface
# is our `banana`. The normalised optimiser, whose steps all have length $t$, is the subject of section 9, momentum that
# of the next notebook.) Find out:
#
# 1. On the bowl, lengthen the step. Where does the path begin to cross the valley, and from which step size on does it
#    never come back? Does either number move when κ goes to 100? What does get worse?
# 2. On the saddle, start at (1, 0.01), then at (1, 0). What do plain and normalised descent do?
# 3. For Rosenbrock's valley, $L$ holds at the minimum only. Does a step of 1/L survive from (−1.2, 1)? From (2.5, 1)?
# 4. On the logistic loss, set $t = 1/L$. The run is faster than its bound: which of $m$, $L$ is too pessimistic there?
#    And at $1.9/L$?

# %% covers="cs480:8 wu:1.6.3 explainers:3.1 moon:4.2"
explore(
    landscapes.draw_landscape,
    name=widgets.Dropdown(options=landscapes.SURFACES, description="surface"),
    kappa=widgets.FloatLogSlider(
        10, min=0, max=2, description="κ (bowl)", continuous_update=False
    ),
    x=slider(2, -3, 3, 0.05, "start x₁"),
    y=slider(1.5, -3, 3, 0.01, "start x₂"),
    step=slider(0.6, 0.05, 4, 0.05, "step t · L"),
    n_steps=widgets.IntSlider(
        40, min=1, max=300, description="steps", continuous_update=False
    ),
    optimiser=widgets.Dropdown(options=landscapes.OPTIMISERS, description="optimiser"),
)

# %% [markdown] covers="cs480:8-step"
# ### When $L$ is unknown: backtracking
#
# Try a bold step $t_0$. Accept $t$ when $f$ falls by at least half of what the tangent promises,
#
# $$f(x - t \nabla f(x)) \le f(x) - \tfrac t2 \lVert\nabla f(x)\rVert^2,$$
#
# else replace $t$ by $\beta t$ with $0 < \beta < 1$ and try again. Section 5 proves that each $t \le 1/L$ passes, so the
# search ends and $t \ge \min(t_0, \beta/L)$.


# %% exercise="backtracking" points=2 minutes=7 difficulty=2 covers="cs480:8-step"
def backtracking(f, grad, x, t0, beta):
    """The first of t0, beta t0, beta² t0, … that passes the test above.

    f: function (d,) -> number; grad: (d,) -> (d,); x (d,); t0 > 0; 0 < beta < 1.
    Returns the step size t, a number.
    With f(x) = x², x = [1.0], t0 = 2, beta = 0.5: 2 and 1 fail, 0.5 passes.
    The result is 0.5.
    """
    ### BEGIN SOLUTION
    g, t = grad(x), t0
    while f(x - t * g) > f(x) - t / 2 * (g @ g):
        t = beta * t
    return t
    ### END SOLUTION


# %% check="backtracking"
check(backtracking)

# %% covers="cs480:8-step"
with after(backtracking):
    f, grad = lambda z: z**2 @ [0.5, 5], lambda z: z * [1, 10]  # a bowl with L = 10
    points = rng.normal(size=(100, 2))
    least = min(backtracking(f, grad, point, 1.0, 0.5) for point in points)
    claim(
        "no step is below min(t₀, β/L) = {bound:g} (100 points, L = 10)",
        least >= 0.5 / 10,
        bound=0.5 / 10,
    )
    x, used = np.array([-1.2, 1.0]), []
    while np.linalg.norm(banana_grad(x)) > 1e-4:
        used.append(backtracking(banana, banana_grad, x, 1.0, 0.5))
        x = x - used[-1] * banana_grad(x)
    claim(
        "the valley: at ({x[0]:.2f}, {x[1]:.2f}) after fewer than 1000 steps",
        len(used) < 1000,
        x=x,
    )
    print(f"Their sizes: {min(used):.4f} to {max(used):.4f}")

# %% [markdown] covers="cs480:def8.3 cs480:def8.4 cs480:def8.6"
# ## 4. Three words about curvature
#
# For a differentiable $f$, and $A \succeq B$ short for "$A - B$ has no negative eigenvalue":
#
# - **convex**: $f(y) \ge f(x) + \nabla f(x)^\top (y - x)$ for all $x, y$. No tangent ever cuts above the graph.
# - **$L$-smooth**: the gradient is $L$-Lipschitz, $\lVert\nabla f(x) - \nabla f(y)\rVert \le L \lVert x - y\rVert$;
#   with a Hessian, $LI \succeq \nabla^2 f(x) \succeq -LI$ for all $x$. The lower half is free when $f$ is convex.
# - **$m$-strongly convex**, $m > 0$: $f(x) - \frac m2 \lVert x\rVert^2$ is convex; with a Hessian,
#   $\nabla^2 f(x) \succeq mI$.
#
# If $f$ is convex and $\nabla f(x^*) = 0$, the first line reads $f(y) \ge f(x^*)$: Fermat's condition is enough.
#
# Which of the next five are convex? We lay a tangent at each point of a grid. One bad pair refutes. No bad pair is no
# proof: that takes a second derivative that is nowhere negative, as the first three have. Then move the tangent
# yourself, and bend it: with curvature $m$ it stays below an $m$-strongly convex $f$. How large can $m$ be for $x^2$?

# %% demo=true covers="cs480:def8.3 cs480:thm3.3"
refuted, gallery = [], landscapes.GALLERY  # name -> (f, its derivative)
for name, (f, slope) in gallery.items():
    x, y, above = landscapes.worst_tangent(f, slope, np.linspace(-2, 2, 81))
    refuted.append(above > 1e-12)
    pair = f"the tangent at {x:.2f} is {above:.2f} above f at {y:.2f}"
    print(f"{name:17}", f"not convex: {pair}" if refuted[-1] else "no bad pair")
claim(
    "a tangent refutes the last two, and none refutes the first three",
    refuted == [False, False, False, True, True],
)
explore(
    landscapes.draw_tangent,
    name=widgets.Dropdown(options=list(gallery), value="x⁴ − 3x²", description="f"),
    x=slider(0.9, -2, 2, 0.1, "tangent at x"),
    m=slider(0, 0, 4, 0.25, "curvature m"),
)

# %% demo=true covers="cs480:def8.4 cs480:def8.6"
p, q = rng.uniform(-10, 10, (2, 500))
erratum(
    "cs480:def8.4",
    r"an $L$-smooth $f$ is called $L$-Lipschitz continuous",
    r"its gradient is $L$-Lipschitz continuous, $f$ need not be",
    # f = x², L = 2
    printed_holds=bool((abs(p**2 - q**2) <= 2 * abs(p - q)).all()),
    corrected_holds=bool((abs(2 * p - 2 * q) <= 2 * abs(p - q) + 1e-12).all()),
)
erratum(
    "cs480:def8.4",
    r"$LI \succeq \nabla^2 f(x)$, for convex $f$; then used for non-convex $f$ (8.8)",
    r"$LI \succeq \nabla^2 f(x) \succeq -LI$ there (section 8: the proof survives)",
    # L = 1. Printed: f = −x⁴ with f″ ≤ 0 ≤ L. Corrected: f = sin x with −1 ≤ f″ ≤ 1.
    printed_holds=bool((abs(4 * q**3 - 4 * p**3) <= abs(p - q)).all()),
    corrected_holds=bool((abs(np.cos(p) - np.cos(q)) <= abs(p - q)).all()),
)
m, H = 1.0, np.diag([1.0, 10.0])  # ½ xᵀHx: its curvature is at least m = 1
erratum(
    "cs480:def8.6",
    r"$f$ is $m$-strongly convex if $f - m\lVert x\rVert^2$ is convex",
    r"if $f - \frac m2 \lVert x\rVert^2$ is convex",
    printed_holds=bool(np.linalg.eigvalsh(H - 2 * m * np.eye(2)).min() >= 0),
    corrected_holds=bool(np.linalg.eigvalsh(H - m * np.eye(2)).min() >= 0),
)
lam = 0.3  # the penalty ½ λ‖x‖² adds λ to m
claim(
    "a penalty λ/2 ‖x‖² adds λ to m",
    np.isclose(np.linalg.eigvalsh(H + lam * np.eye(2)).min(), m + lam),
)
room = [  # f at y, less the tangent at x bent with curvature m
    y @ H @ y / 2 - x @ H @ x / 2 - H @ x @ (y - x) - m / 2 * (y - x) @ (y - x)
    for x, y in rng.normal(0, 3, (200, 2, 2))
]
claim(
    "the tangent bent with curvature m stays below f ({n} random pairs)",
    min(room) >= -1e-9,
    n=len(room),
)

# %% [markdown] covers="cs480:def8.4 guo:II.1.a"
# **On data.** For 569 tumours take the mean radius and the mean texture, standardised, and a column of ones: $X$ is
# $n \times 3$. With labels $s_i = \pm 1$ and $\sigma(z) = 1/(1 + e^{-z})$, the logistic loss and its gradient are
#
# $$f(w) = \frac1n \sum_i \log(1 + e^{-s_i x_i^\top w}) + \frac\lambda2 \lVert w \rVert^2, \qquad
# \nabla f(w) = -\frac1n \sum_i s_i\, \sigma(-s_i x_i^\top w)\, x_i + \lambda w .$$
#
# Its Hessian is $\frac1n X^\top D X + \lambda I$, where $D$ is diagonal with entries $p_i (1 - p_i)$,
# $p_i = \sigma(x_i^\top w)$.
#
# **Your task:** bound the Hessian for all $w$ at once. Replace each entry of $D$ by the largest value that $p(1-p)$ can
# have; $L$ is the largest eigenvalue of what is left, $\lambda I$ included. (cs480 stores $X$ transposed, so there it
# is $XX^\top$.)

# %% demo=true covers="cs480:def8.4 guo:II.1.a"
table = data.breast_cancer()
Z = np.c_[(table.X - table.X.mean(0)) / table.X.std(0), np.ones(len(table.X))]
X = Z[:, [0, 1, 30]]  # radius, texture, the ones; all 30 features wait for section 11
s = 2 * table.y - 1  # +1 benign, −1 malignant


def loss(w, lam=0.0, X=X, s=s):
    return np.logaddexp(0, -s * (X @ w)).mean() + lam / 2 * w @ w


def loss_grad(w, lam=0.0, X=X, s=s):
    return -X.T @ (s * expit(-s * (X @ w))) / len(s) + lam * w


def loss_hessian(w, lam=0.0, X=X):
    p = expit(X @ w)
    return (X.T * (p * (1 - p))) @ X / len(X) + lam * np.eye(X.shape[1])


# %% demo=true covers="guo:II.1.a"
def newton(lam=0.0, X=X, s=s, n_steps=15):
    """The minimiser, by Newton's method (section 11)."""
    w = np.zeros(X.shape[1])
    for _ in range(n_steps):  # to the minimum of the second-order Taylor model
        w = w - np.linalg.solve(loss_hessian(w, lam, X), loss_grad(w, lam, X, s))
    return w


w_star, w, h = newton(), np.array([0.5, -1.0, 0.3]), 1e-6
rise = [loss(w + h * e, 0.1) - loss(w - h * e, 0.1) for e in np.eye(3)]
claim(
    "finite differences agree with the gradient (error {error})",
    np.allclose(np.array(rise) / (2 * h), loss_grad(w, 0.1), atol=1e-8),
    error=below(1e-8),
)
claim(
    "at the minimiser ‖∇f‖ is {norm}",
    np.linalg.norm(loss_grad(w_star)) < 1e-12,
    norm=below(1e-12),
)


# %% exercise="logistic_smoothness" points=2 minutes=6 difficulty=2 covers="cs480:def8.4"
def logistic_smoothness(X, lam):
    """The smallest L that bounds each Hessian of the mean logistic loss + lam/2 ‖w‖².

    One number for all w. X (n, d), one row an example; lam >= 0. Returns a number.
    X = [[2.0]], lam = 0.5 gives 1.5.
    """
    ### BEGIN SOLUTION
    return np.linalg.eigvalsh(X.T @ X)[-1] / (4 * len(X)) + lam
    ### END SOLUTION


# %% check="logistic_smoothness"
check(logistic_smoothness)

# %% covers="cs480:def8.4"
with after(logistic_smoothness):
    L, draws = logistic_smoothness(X, 0.0), rng.normal(0, 2, (300, 2, 3))
    curvature = max(np.linalg.eigvalsh(loss_hessian(w))[-1] for _, w in draws)
    claim("no Hessian curves more than L ({n} random w)", curvature <= L, n=len(draws))
    lipschitz = max(
        np.linalg.norm(loss_grad(v) - loss_grad(w)) / np.linalg.norm(v - w)
        for v, w in draws
    )
    claim("the gradient is L-Lipschitz (the same pairs)", lipschitz <= L)
    steepest = np.linalg.eigvalsh(loss_hessian(np.zeros(3)))[-1]
    claim("L is reached, at w = 0", np.isclose(steepest, L))
    flat, steep = np.linalg.eigvalsh(loss_hessian(w_star))[[0, -1]]
    squares = np.linalg.eigvalsh(X.T @ X / len(X))[-1]
    claim("least squares on X curves four times as much", np.isclose(squares, 4 * L))
    print(f"L = {L:.3f}; at the minimiser, curvatures from {flat:.3f} to {steep:.3f}")

# %% [markdown] covers="cs480:thm8.5"
# ## 5. Convex: the gap falls like 1/k
#
# **Theorem.** If $f$ is convex and $L$-smooth, has a minimiser $x^*$, and $0 < t \le 1/L$, then after $k \ge 1$ steps
# $\ f(x^{(k)}) - f^* \le \dfrac{\lVert x^{(0)} - x^* \rVert^2}{2tk}$: a gap $\varepsilon$ takes $O(1/\varepsilon)$ steps.
#
# The proof is three lines about one step $x^+ = x - t\nabla f(x)$, and a sum.
#
# 1. $f(x^+) \le f(x) + \nabla f(x)^\top (x^+ - x) + \frac L2 \lVert x^+ - x\rVert^2$: Taylor's formula, with the
#    remainder bounded by $LI \succeq \nabla^2 f$.
# 2. $f(x^+) \le f(x) - \frac t2 \lVert\nabla f(x)\rVert^2$ (★): the right side of line 1 is
#    $f(x) - t\,(1 - \frac{Lt}{2}) \lVert\nabla f(x)\rVert^2$, and $1 - \frac{Lt}2 \ge \frac12$.
# 3. $f(x^+) - f(x^*) \le \frac1{2t} \big( \lVert x - x^*\rVert^2 - \lVert x^+ - x^*\rVert^2 \big)$: convexity gives
#    $f(x) \le f(x^*) + \nabla f(x)^\top (x - x^*)$; put it into (★) and complete the square.
#
# Now add line 3 over $k$ steps. The right sides telescope to at most $\lVert x^{(0)} - x^*\rVert^2 / 2t$. By (★) $f$
# never rises, so the last gap is at most the mean gap, and the theorem follows.

# %% demo=true covers="cs480:thm8.5"
gs, ts, xs, ss = sympy.symbols("g t x s")  # line 3, coordinate by coordinate:
before, behind = (xs - ss) ** 2, (xs - ts * gs - ss) ** 2
square = 2 * ts * gs * (xs - ss) - ts**2 * gs**2
claim("line 3's square is complete", sympy.expand(square - (before - behind)) == 0)

b = np.array([0.3, 0.2])  # Taylor: the remainder is ½ ΔᵀHΔ, with H from between a and b
remainder, D = banana(b) - banana(a) - banana_grad(a) @ (b - a), b - a
between = [D @ banana_hessian(a + r * D) @ D / 2 for r in np.linspace(0, 1, 201)]
claim(
    "Taylor's remainder is ½ ΔᵀHΔ with a Hessian from between the two points",
    min(between) <= remainder <= max(between),
)
erratum(
    "cs480:thm8.5",
    r"the mean value theorem lets us write the Lagrangian",
    r"Taylor's theorem with the Lagrange form of the remainder",
)


# %% exercise="proof_margins" points=3 minutes=10 difficulty=2 covers="cs480:thm8.5"
def proof_margins(f, grad, x, x_star, t, L):
    """Right side minus left side of lines 1, 2, 3 for one step of size t from x.

    A line is true where its margin is >= 0. Returns the three margins.
    f: function (d,) -> number; grad: (d,) -> (d,); x, x_star (d,); t, L > 0.
    With f(x) = x², x = [1.0], x_star = [0.0], t = 0.25, L = 2: x⁺ is [0.5],
    and the margins are 0, 0.25, 1.25.
    """
    ### BEGIN SOLUTION
    g = grad(x)
    new = x - t * g
    line1 = f(x) + g @ (new - x) + L / 2 * np.sum((new - x) ** 2) - f(new)
    line2 = f(x) - t / 2 * np.sum(g**2) - f(new)
    closer = np.sum((x - x_star) ** 2) - np.sum((new - x_star) ** 2)
    line3 = closer / (2 * t) - (f(new) - f(x_star))
    return np.array([line1, line2, line3])
    ### END SOLUTION


# %% check="proof_margins"
check(proof_margins)

# %% covers="cs480:thm8.5"
with after(gd, logistic_smoothness, proof_margins):
    L, measured, bounds = logistic_smoothness(X, 0.0), {}, {}
    for share in (0.02, 0.2, 1.0, 2.1):
        t, k = share / L, np.arange(1, 501)
        path = gd(loss_grad, np.zeros(3), t, 500)
        lines = [proof_margins(loss, loss_grad, w, w_star, t, L) for w in path[:-1]]
        holds = (np.array(lines) > -1e-12).all(axis=0)
        broken = [line for line in (1, 2, 3) if not holds[line - 1]]
        label = f"t = {share}/L"
        print(f"{label}: lines that break on the way: {broken or 'none'}")
        if share > 1:
            continue
        gap = np.array([loss(w) for w in path]) - loss(w_star)
        squares = np.sum((path - w_star) ** 2, axis=1)
        rises = broken or (np.diff(gap) >= 1e-15).any()
        total = (squares[0] - squares[-1]) / (2 * t)
        summed = gap[1:].sum() <= total
        bounded = (gap[1:] <= squares[0] / (2 * t * k)).all()
        claim("f never rises", not rises)
        claim("the gaps add up to at most what telescopes", summed)
        claim("the theorem holds at each of {n} steps", bounded, n=len(k))
        measured[label], bounds[label] = gap, np.r_[np.nan, squares[0] / (2 * t * k)]
    title = "Convex: every run stays under its 1/k bound"
    show(*draw_gaps(measured, bounds, title, xscale="log"))

# %% covers="cs480:thm8.5"
with after(gd):  # the theorem on 20 random least-squares problems, and beyond 2/L
    kept = {0.5: 0, 1.0: 0, 2.1: 0}
    for _ in range(20):
        A, x_star = rng.normal(size=(6, 3)), rng.normal(size=3)
        H = A.T @ A / 6  # f(x) = ½ (x − x*)ᵀ H (x − x*): least squares with y = A x*
        for share in kept:
            t = share / np.linalg.eigvalsh(H)[-1]
            path = gd(lambda x, H=H, c=x_star: H @ (x - c), np.zeros(3), t, 100)
            away, k = path - x_star, np.arange(1, len(path))
            gap = np.einsum("ki,ij,kj->k", away, H, away)[1:] / 2
            kept[share] += bool((gap <= x_star @ x_star / (2 * t * k)).all())
    for share, n in kept.items():
        print(f"t = {share}/L: the bound holds at every step in {n} of 20 problems")
    claim(
        "the theorem holds up to 1/L, and fails beyond 2/L",
        kept == {0.5: 20, 1.0: 20, 2.1: 0},
    )

# %% [markdown] written="beyond_one_over_L" points=2 minutes=5
# In the run on the tumours with $t = 2.1/L$ only line 2 broke, although the proof of line 3 uses it: what a proof needs is enough, not necessary.
#
# **In your words.** The proof wants $t \le 1/L$, yet the bowl converges up to $t = 2/L$. As $t$ grows past $1/L$: which
# line can break, which weaker statement takes its place, and until which $t$ does that one still say that $f$ falls?
#
# ### BEGIN SOLUTION
# Line 1 holds for every $t$. Line 2 can break: it used $1 - Lt/2 \ge 1/2$, true only for $t \le 1/L$. (Line 3 leans on
# line 2, so it can go too: on $\frac12 x^2$ it does beyond $t = 1.618$.) What stays is line 1 itself:
# $f(x^+) \le f(x) - t(1 - Lt/2)\lVert\nabla f(x)\rVert^2$. Its factor is positive until $t = 2/L$; so $f$ still falls
# at every step, by less and less. From $2/L$ on, nothing is promised, and on a bowl with curvature $L$ the step
# overshoots to a point at least as high.
#
# **Rubric**
#
# - 0.5: line 2 can break (line 3 with it), because it needs $1 - Lt/2 \ge 1/2$
# - 0.5: line 1 holds for every $t$ and takes its place
# - 1: $f$ falls as long as $1 - Lt/2 > 0$, that is until $t = 2/L$
# ### END SOLUTION

# %% [markdown] covers="cs480:thm8.7"
# ## 6. Strongly convex: a fixed factor a step
#
# The runs above end faster than $1/k$. Why? Let $f$ be twice differentiable, $m$-strongly convex and $L$-smooth. Average its
# Hessian on the way from $x^*$ to $x$:
# $A = \int_0^1 \nabla^2 f(x^* + r(x - x^*))\, dr$. Since $\nabla f(x^*) = 0$, we have $\nabla f(x) = A\,(x - x^*)$, so
#
# $$x^+ - x^* = (I - tA)(x - x^*), \qquad \lVert x^+ - x^*\rVert \le \rho\, \lVert x - x^*\rVert, \quad
# \rho = \max(|1 - tm|,\, |1 - tL|),$$
#
# because the eigenvalues of $A$ lie between $m$ and $L$. It is the bowl again: no run is slower than the worst
# direction of a bowl, $\rho < 1$ exactly for $0 < t < 2/L$, and $\rho$ is smallest at $t = 2/(m+L)$. Line 1 of section 5 holds between any two points; from $x^*$ to $x$ it says $f(x) - f^* \le \frac L2 \lVert x - x^*\rVert^2$, hence
# $f(x^{(k)}) - f^* \le \rho^{2k} \frac L2 \lVert x^{(0)} - x^*\rVert^2$.
#
# cs480 states this as $\gamma^k \frac L2 \lVert x^{(0)} - x^*\rVert^2$ for $t \le 2/(m+L)$, and leaves out $\gamma$ and
# the proof. The classical value is $\gamma = 1 - \frac{2tmL}{m+L}$; our $\rho^2$ is never larger.
#
# **Your task:** how many steps until the distance to $x^*$ is surely at most $\varepsilon$ times what it was? After it
# come measured runs with a ridge penalty. It makes any convex loss strongly convex: it adds $\lambda$ to $m$ and to
# $L$. All we assume is $m = \lambda$.

# %% demo=true covers="cs480:thm8.7"
lam, w = 0.05, np.array([2.0, -1.5, 1.0])
w_lam, A = newton(lam), np.zeros((3, 3))
nodes, weights = np.polynomial.legendre.leggauss(30)  # the integral, by quadrature
for r, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
    A += weight * loss_hessian(w_lam + r * (w - w_lam), lam)
claim("∇f(x) = A (x − x*)", np.allclose(A @ (w - w_lam), loss_grad(w, lam)))
claim("A curves at least m = λ", np.linalg.eigvalsh(A)[0] >= lam)

m, L = 1.0, 10.0
t = np.linspace(1e-3, 2 / (m + L), 200)
rho, gamma = np.maximum(abs(1 - t * m), abs(1 - t * L)), 1 - 2 * t * m * L / (m + L)
claim("ρ² ≤ γ for every t ≤ 2/(m + L)", (rho**2 <= gamma + 1e-12).all())
best = ((L - m) / (L + m)) ** 2
claim("they meet at t = 2/(m + L)", np.allclose([gamma[-1], rho[-1] ** 2], best))
x5 = (1 - t[-1] * np.array([m, L])) ** 5
gap, bound = x5**2 @ [m, L] / 2, best**5 * L / 2 * 2  # ‖(1, 1)‖² = 2
print(f"Bowl, κ = 10, five best steps from (1, 1): gap {gap:.4f} ≤ bound {bound:.4f}")


# %% exercise="steps_needed" points=2 minutes=8 difficulty=3 covers="cs480:thm8.7"
def steps_needed(m, L, t, eps):
    """The smallest k >= 0 with rho**k <= eps, where rho = max(|1 − t m|, |1 − t L|).

    0 < m <= L, t > 0, eps > 0. Returns k, or math.inf where no k will do.
    eps >= 1 needs no step, whatever rho is.
    steps_needed(1.0, 10.0, 0.1, 0.5) gives 7, since 0.9**7 = 0.478.
    """
    ### BEGIN SOLUTION
    rho = max(abs(1 - t * m), abs(1 - t * L))
    if eps >= 1:
        return 0
    if rho >= 1:
        return math.inf
    k = 1 if rho == 0 else max(1, math.ceil(math.log(eps) / math.log(rho)))
    return k - 1 if rho ** (k - 1) <= eps else k  # the quotient may round up
    ### END SOLUTION


# %% check="steps_needed"
check(steps_needed)

# %% covers="cs480:thm8.7"
with after(gd, logistic_smoothness, steps_needed):
    measured, bounds = {}, {}
    for lam in (0.3, 0.03, 0.003):
        m, L, w_lam = lam, logistic_smoothness(X, lam), newton(lam)
        t, rho, label = 2 / (m + L), (L - m) / (L + m), f"λ = {lam}, κ = {L / m:.0f}"
        path = gd(lambda w, lam=lam: loss_grad(w, lam), np.zeros(3), t, 120)
        gap = np.array([loss(w, lam) for w in path]) - loss(w_lam, lam)
        bound = L / 2 * w_lam @ w_lam * rho ** (2 * np.arange(121))
        under = (gap <= bound + 1e-15).all()
        claim("{label}: the gap stays under its bound", under, label=label)
        measured[label], bounds[label] = gap, bound
        best, safe = steps_needed(m, L, t, 1e-3), steps_needed(m, L, 1 / L, 1e-3)
        print(f"{label}: ε = 1e-3 takes {best} steps of 2/(m+L), {safe} of 1/L")
    title = "Strongly convex: straight lines, slope set by κ"
    show(*draw_gaps(measured, bounds, title), digits=1)

# %% [markdown]
# ## 7. A fixed factor without strong convexity: Polyak and Łojasiewicz
#
# Line 2 alone already gives a rate, if small gradients can occur only near the minimum value. The **PL condition** asks
# for a $\mu > 0$ with
#
# $$\tfrac12 \lVert\nabla f(x)\rVert^2 \ge \mu\, (f(x) - f^*) \quad\text{for all } x .$$
#
# Put it into (★): $f(x^+) - f^* \le f(x) - f^* - \frac t2 \lVert\nabla f(x)\rVert^2 \le (1 - t\mu)(f(x) - f^*)$ for
# $t \le 1/L$. Strong convexity implies it, with $\mu = m$ (and then promises more: $(1 - tm)^2$). Two losses that are
# *not* strongly convex satisfy it too:
#
# - $x^2 + 3\sin^2 x$, which is not even convex. $L = 8$; usually $\mu = 1/32$ is quoted, a fine grid on $[-10, 10]$ says
#   0.175, and farther out $\frac12 (2|x| - 3)^2 / (x^2 + 3) > 1$.
# - Least squares with more weights than rows. Its minimisers form a plane; $\mu$ is the smallest *nonzero* eigenvalue
#   of $X^\top X/n$.

# %%
with after(gd):
    draw = np.random.default_rng(5).normal
    A, y = draw(size=(8, 20)), draw(size=8)  # 20 weights fit 8 rows exactly
    fit, fit_grad = (
        lambda w: np.sum((A @ w - y) ** 2) / 16,
        lambda w: A.T @ (A @ w - y) / 8,
    )
    spectrum = np.linalg.eigvalsh(A.T @ A / 8)  # twelve zeros: flat directions
    mu, L = spectrum[12], spectrum[-1]
    runs = {
        "x² + 3 sin² x": (wavy, wavy_grad, np.array([2.5]), 8.0, 0.175),
        "8 rows, 20 weights": (fit, fit_grad, np.zeros(20), L, mu),
    }
    far = np.linspace(-10, 10, 4001)
    claim(
        "μ = 0.175 for x² + 3 sin² x, at {n} points of [−10, 10]",
        all(wavy_grad(x) ** 2 / 2 >= 0.175 * wavy(x) for x in far),
        n=len(far),
    )
    measured, bounds = {}, {}
    for label, (f, grad, x0, L, mu) in runs.items():
        t = 0.25 / L
        path = gd(grad, x0, t, 150)
        gap, norm2 = np.array([(f(x), grad(x) @ grad(x)) for x in path]).T
        condition = (norm2 / 2 >= mu * gap - 1e-12).all()
        claim("{label}: PL at every iterate", condition, label=label)
        star = (gap[1:] <= gap[:-1] - t / 2 * norm2[:-1] + 1e-12).all()
        claim("{label}: (★) at every step", star, label=label)
        factor = (gap[1:] <= (1 - t * mu) * gap[:-1] + 1e-12).all()
        claim("{label}: the two together", factor, label=label)
        measured[label] = gap
        bounds[label] = gap[0] * (1 - t * mu) ** np.arange(len(path))
    title = "PL: a fixed factor without strong convexity"
    show(*draw_gaps(measured, bounds, title), digits=1)

# %% [markdown] covers="cs480:thm8.8"
# ## 8. Non-convex: at least the gradient gets small
#
# Without any such condition, ask for less: a small *gradient*. Add up (★) over $i = 0, \dots, k$. The
# differences of $f$ telescope:
#
# $$\frac t2 \sum_{i=0}^k \lVert\nabla f(x^{(i)})\rVert^2 \le f(x^{(0)}) - f(x^{(k+1)}) \le f(x^{(0)}) - f^* .$$
#
# The smallest term is at most the mean, so
#
# $$\min_{i \le k} \lVert\nabla f(x^{(i)})\rVert \le \sqrt{\frac{2\,(f(x^{(0)}) - f^*)}{t\,(k+1)}} ,$$
#
# a gradient of size $\varepsilon$ after $O(1/\varepsilon^2)$ steps. In high dimension, no method that sees only
# exact gradients and throws no dice does better on all such $f$. We used (★) alone, and (★) needs the curvature bounded from above only.
#
# We try the egg box $f(x) = \sum_j \left( 0.05\, x_j^2 + 1 - \cos 2x_j \right)$ from two starts. Its curvature lies in
# $[-3.9, 4.1]$, so $L = 4.1$; and $f^* = 0$ at the origin.

# %% covers="cs480:thm8.8 cs480:8-table"
with after(gd):
    t, paths, norms, bounds = 0.05 / 4.1, [], [], []  # short steps, to see the start
    summed, bounded = [], []
    for x0 in ([1.4, -1.2], [4.5, 2.0]):
        path = gd(eggs_grad, np.array(x0), t, 600)
        squares = np.sum(eggs_grad(path) ** 2, axis=1)
        fallen = eggs(path[0]) - eggs(path[1:])
        summed.append((t / 2 * np.cumsum(squares[:-1]) <= fallen + 1e-12).all())
        paths.append(path)
        norms.append(np.sqrt(np.minimum.accumulate(squares)))
        bounds.append(np.sqrt(2 * eggs(path[0]) / (t * np.arange(1, len(path) + 1))))
        bounded.append((norms[-1] <= bounds[-1]).all())
    claim("the sum of (★) holds after every step, from both starts", all(summed))
    claim("so does the bound of the smallest gradient", all(bounded))
    names = ["from (1.4, −1.2)", "from (4.5, 2.0)"]
    show(*landscapes.draw_basins(eggs, paths, names, norms, bounds), digits=1)
    erratum(
        "cs480:8-table",
        r"non-convex: $O(1/\varepsilon^2)$ steps for an error $\varepsilon$ of $f$",
        r"for a smallest gradient norm $\varepsilon$; the gap of $f$ may stay large",
        printed_holds=bool(eggs(paths[1][-1]) < 0.1),
        corrected_holds=bool(norms[1][-1] < 0.1 < eggs(paths[1][-1])),
    )

# %% [markdown] covers="cs480:8-table"
# ### Four rates in one picture
#
# | $f$ | step | steps for $\varepsilon$ | $\varepsilon$ is |
# | --- | --- | --- | --- |
# | smooth | $t \le 1/L$ | $O(1/\varepsilon^2)$ | smallest gradient norm |
# | convex, smooth | $t \le 1/L$ | $O(1/\varepsilon)$ | gap of $f$ |
# | $m$-strongly convex (or PL) | $t \le 2/(m+L)$ (PL: $1/L$) | $O(\log 1/\varepsilon)$ | gap of $f$ |
# | convex, noisy gradients | $t_k \propto 1/\sqrt k$ | $O(1/\varepsilon^2)$, up to a log | expected gap of the mean iterate |
#
# cs480 prints the last row with $t = 1/k$. Here is a test where nothing needs to be sampled: $f = \frac m2 x^2$ with
# $m = 0.05$ and gradient noise of variance 1. A step turns $E[x^2]$ into $(1 - t_k m)^2 E[x^2] + t_k^2$. With
# $t_k = c/k$ the gap falls like $k^{-2cm}$, at best like $1/k$. So $c$ has to exceed $1/(2m)$, and for a merely convex
# $f$ ($m \to 0$) no $c$ will do. Here $c = 1$ gives $k^{-0.1}$.
#
# The other runs are a bowl, a bowl with curvatures down to almost 0, and a hill that falls for ever. If an error falls
# like $k^{-p}$, it takes $\varepsilon^{-1/p}$ steps. On log–log axes, $-p$ is the slope.

# %% demo=true covers="cs480:8-table"
rates, exponent = landscapes.four_rates(), landscapes.exponent
power = {name: exponent(run) for name, run in rates.items() if run[-1] > 1e-9}
title = "On log–log axes the slope is the exponent of k"
style = dict(ylabel="gap, or gradient norm", xscale="log", floor=1e-7)
show(*draw_gaps(rates, {}, title, **style))
for name, value in power.items():
    print(f"{name}: exponent {value:.2f}")
claim(
    "the two exponents that theory names, −1 and −½, are met or beaten by a tenth",
    abs(power["convex"] + 1) < 0.1 and -0.6 < power["non-convex, ‖∇f‖"] < -0.5,
)
best = exponent(landscapes.noisy_gap(lambda k: 20 / (k + 20)))  # 20 = 1/m
erratum(
    "cs480:8-table",
    r"stochastic convex: $O(1/\varepsilon^2)$ steps with $t = 1/k$",
    r"with $t \propto 1/\sqrt k$; $t = c/k$ needs strong convexity, $c > 1/(2m)$",
    printed_holds=bool(power["noisy, t = 1/k"] < -0.45),
    corrected_holds=bool(power["noisy, t = 1/√k"] < -0.45 and best < -0.9),
)

# %% [markdown] covers="moon:4.2 explainers:3.1"
# ## 9. Saddles, and steps of one length
#
# Near a saddle the gradient is almost zero, and so are the steps. In many dimensions saddles are common: there are many
# ways to curve up in some directions and down in others. Section 2 argued with *directions*; taken literally it gives
# **normalised** gradient descent,
#
# $$x^{(k+1)} = x^{(k)} - t\, \frac{\nabla f(x^{(k)})}{\lVert\nabla f(x^{(k)})\rVert},$$
#
# whose steps all have length $t$. The formula has no value where $\nabla f = 0$; there we stay. Two questions: does it
# leave saddles sooner, and can it settle at a minimum?


# %% exercise="ngd" points=2 minutes=5 difficulty=1 covers="moon:4.2 explainers:3.1"
def ngd(grad, x0, t, n_steps):
    """All iterates of normalised gradient descent.

    grad: function (d,) -> (d,). x0 (d,), t > 0: the length of each step.
    Where the gradient is exactly zero the point stays, and the path gets its row
    all the same. (Tiny is not zero.)
    Returns the path (n_steps + 1, d); path[0] is x0.
    ngd(lambda x: 8 * x, np.array([3.0, 4.0]), 2.5, 1) gives [[3.0, 4.0], [1.5, 2.0]].
    """
    ### BEGIN SOLUTION
    path = [x0]
    for _ in range(n_steps):
        g = grad(path[-1])
        norm = np.linalg.norm(g)
        path.append(path[-1] - t * g / norm if norm > 0 else path[-1])
    return np.array(path)
    ### END SOLUTION


# %% check="ngd"
check(ngd)

# %% covers="moon:4.2"
predict(
    "Gradient descent (t = 0.1) starts at (0, δ), next to the saddle of "
    "f = ½x₁² − ½x₂² + ¼x₂⁴. δ shrinks from 1e-3 to 1e-6. The steps until it is away …",
    ["stay about the same", "about double", "grow a thousandfold"],
    truth=lambda: round(math.log(0.5 / 1e-6) / math.log(0.5 / 1e-3)) - 1,
    because="Near the saddle each step multiplies x₂ by about 1.1: log(1/δ) steps.",
)
with after(gd, ngd):
    grad, curves = landscapes.surface("saddle").grad, {}
    offsets = 10.0 ** -np.arange(1, 10)
    for label, walk, x1 in (
        ("GD from (0, δ)", gd, 0),
        ("normalised from (0, δ)", ngd, 0),
        ("normalised from (¾, δ)", ngd, 0.75),
    ):
        paths = [walk(grad, np.array([x1, delta]), 0.1, 400) for delta in offsets]
        curves[label] = [int(np.argmax(abs(path[:, 1]) > 0.5)) for path in paths]
    claim(
        "on the line x₁ = 0 the normalised walk ignores δ (to a step)",
        len(set(curves["normalised from (0, δ)"])) <= 2,
    )
    more = np.diff(curves["normalised from (¾, δ)"])
    claim(
        "from (¾, δ) each tenfold smaller δ costs {least} to {most} steps more",
        more.min() >= 1 and np.ptp(more) <= 1,
        least=more.min(),
        most=more.max(),
    )
    show(*landscapes.draw_escape(offsets, curves))

# %% [markdown] covers="moon:4.2"
# On the line $x_1 = 0$ the normalised walk ignores δ: every step has length 0.1. From (¾, δ) it first walks *into* the
# saddle's neighbourhood and then swings between $x_1 = \pm 0.05$, half a step; there each step multiplies $x_2$ by
# about $1 + 0.1/0.05 = 3$. So its clock, too, runs on $\log(1/\delta)$, only faster. (From 0.7, a multiple of the step,
# it lands on the line and is gone at once. With $\delta = 0$ nobody gets away.) "NGD escapes quickly" is an intuition
# about one case, not a theorem. And there is a price, at the end of the run:

# %% covers="explainers:3.1 moon:4.2"
with after(gd, ngd):
    bowl_grad, x = lambda x: np.array([1.0, 10.0]) * x, np.array([2.0, 1.0])
    hover = np.linalg.norm(ngd(bowl_grad, x, 0.1, 300), axis=1)
    settle = np.linalg.norm(gd(bowl_grad, x, 0.1, 300), axis=1)
    for k in range(1, 2001):  # shrinking steps mend it
        x = ngd(bowl_grad, x, 0.5 / math.sqrt(k), 1)[-1]
    print(f"300 steps, t = 0.1: normalised still {hover[-50:].max():.2f} away")
    claim("gradient descent is {end} away", settle[-1] < 1e-6, end=below(1e-6))
    claim(
        "2000 normalised steps of length 0.5/√k end {end} away",
        np.linalg.norm(x) < 0.02,
        end=below(0.02),
    )
    near = np.maximum(hover[1:], hover[:-1])  # the farther one of two neighbours
    erratum(
        "explainers:3.1",
        r"$x - \eta v$, $\lVert v\rVert = 1$, is the usual rule of gradient descent",
        r"that one steps by $\eta \nabla f$ and settles; with unit $v$, one of any two "
        r"successive points is at least $\eta/2$ away from the minimum (unless a step "
        r"lands exactly on it)",
        printed_holds=bool(np.allclose(hover, settle, atol=0.01)),
        corrected_holds=bool((near >= 0.05 - 1e-12).all() and settle[-1] < 1e-6),
    )

# %% [markdown] covers="moon:4.3"
# ## 10. Constraints: project after every step
#
# If $x$ must stay in a closed convex set $Q$, step first and then go to the nearest point of $Q$:
#
# $$x_{k+1} = P_Q\big(x_k - t_k \nabla f(x_k)\big), \qquad P_Q(y) = \arg\min_{x \in Q} \tfrac12 \lVert x - y\rVert^2 .$$
#
# **The ball** $\lVert x\rVert \le r$. If $y$ is inside, it is its own nearest point. If not, every $x$ in the ball has
# $\lVert y - x\rVert \ge \lVert y\rVert - \lVert x\rVert \ge \lVert y\rVert - r$ (triangle inequality, which is Cauchy
# and Schwarz again), and $x = r\, y / \lVert y\rVert$ reaches this. The notes (moon) assert this last step; the inequality is
# the missing reason. (The scalar projection $a^\top b/\lVert b\rVert$ that they print beside it projects on a *line* and
# plays no part.)
#
# **The box** $-1 \le x_j \le 1$ is easier still: the nearest point clips each coordinate on its own.
#
# At a minimum on the border $\nabla f$ need not vanish: Fermat wanted an open set. The fixed point
# $x = P_Q(x - t \nabla f(x))$ takes its place.


# %% exercise="project_ball" points=2 minutes=6 difficulty=2 covers="moon:4.3"
def project_ball(y, radius):
    """The nearest point of the closed ball of that radius around 0, for each point.

    y: (d,) or (n, d), one point a row; radius > 0. Returns the same shape.
    y stays unchanged.
    y = [[3.0, 4.0], [0.3, 0.4]], radius = 1 gives [[0.6, 0.8], [0.3, 0.4]].
    """
    ### BEGIN SOLUTION
    norm = np.linalg.norm(y, axis=-1, keepdims=True)
    return y / np.maximum(1, norm / radius)
    ### END SOLUTION


# %% check="project_ball"
check(project_ball)

# %% demo=true covers="moon:4.3"
y = np.array([1.2, -0.9])  # ‖y‖ = 1.5, so nothing in the ball is nearer than 0.5
shares = 1 - 10.0 ** -np.arange(1, 13)  # ever closer to the sphere, never on it
inside = [np.linalg.norm(y - share * y / 1.5) for share in shares]
ball = rng.normal(size=(1000, 2))
ball /= np.maximum(1, np.linalg.norm(ball, axis=1, keepdims=True))  # the closed ball
erratum(
    "moon:4.3",
    r"the projection on the ball is over $\lVert x\rVert < 1$",
    r"over $\lVert x\rVert \le 1$: the open ball has no nearest point",
    printed_holds=bool(min(inside) <= 0.5 or (np.diff(inside) >= 0).any()),
    # y/1.5 is in the closed ball, at 0.5, and no point of a sample is nearer
    corrected_holds=bool(
        np.isclose(np.linalg.norm(y - y / 1.5), 0.5)
        and (np.linalg.norm(y - ball, axis=1) >= 0.5 - 1e-12).all()
    ),
)

# %% covers="moon:4.3"
with after(project_ball):
    y, z = rng.normal(0, 2, (2, 200, 2))
    p, q = project_ball(y, 1.0), project_ball(z, 1.0)
    again = project_ball(p, 1.0)
    claim("a second projection changes nothing", np.allclose(again, p))
    apart = [np.linalg.norm(pair, axis=1) for pair in (p - q, y - z)]
    claim(
        "projections never move points apart ({n} pairs)",
        (apart[0] <= apart[1] + 1e-12).all(),
        n=len(y),
    )
    c, paths = np.array([2, 1.2]), []  # the minimum lies outside ball and box
    f, slope = lambda x: (x - c) ** 2 @ [0.5, 1.5], lambda x: (x - c) * [1, 3]
    for project in (lambda y: project_ball(y, 1.0), lambda y: np.clip(y, -1, 1)):
        paths.append(landscapes.project_path(slope, project, [-1.0, 0.0], 0.25, 30))
    fixed = [np.allclose(*path[-2:], atol=1e-3) for path in paths]
    claim("both walks end where x = P(x − t ∇f(x))", all(fixed))
    show(*landscapes.draw_projected(f, paths, ["in the ball", "in the box"]))

# %% [markdown] covers="explainers:3 explainers:3.box-landscape"
# ## 11. All 30 measurements: predict, then run
#
# The same tumours again, with all 30 features and the column of ones, and $\lambda = 0.01$. First the constants, then
# the promise, then the run. A landscape belongs to its data: on every tenth patient only, the minimum is somewhere
# else, and the first line below says how good that place is for all patients.
#
# Then other methods. **Newton's** goes to the minimum of the second-order Taylor model and solves a $d \times d$ system
# each step. **Random search**, the genetic algorithm with one parent and one child, needs no gradient: it keeps a random
# move if the loss falls. All of them work with 3 weights. And with 31? We count looks at the data: 1 for a loss or a
# gradient, $d$ for a Hessian.

# %% covers="cs480:thm8.7 explainers:3 explainers:3.box-landscape"
with after(gd, logistic_smoothness, steps_needed):
    lam = 0.01
    w_all, w_few = newton(lam, Z, s), newton(lam, Z[::10], s[::10])
    on_all, on_few = loss(w_all, lam, Z, s), loss(w_few, lam, Z, s)
    print(f"loss at the minimum {on_all:.3f}, at the minimum for a tenth {on_few:.3f}")
    m, L = lam, logistic_smoothness(Z, lam)
    t = 2 / (m + L)
    path = gd(lambda w: loss_grad(w, lam, Z, s), np.zeros(31), t, 2000)
    distance = np.linalg.norm(path - w_all, axis=1) / np.linalg.norm(w_all)
    for eps in (0.1, 0.01, 0.001):
        k, taken = steps_needed(m, L, t, eps), np.argmax(distance <= eps)
        claim(
            "distance {eps}: promised within {k} steps, reached after {taken}",
            distance[k] <= eps,
            eps=eps,
            k=k,
            taken=taken,
        )
    bound = ((L - m) / (L + m)) ** np.arange(len(path))
    title, name = f"Breast cancer, κ = {L / m:.0f}: the promise holds", "distance to w*"
    measured, bounds, ylabel = {name: distance}, {name: bound}, "‖w − w*‖ ÷ ‖w*‖"
    show(*draw_gaps(measured, bounds, title, ylabel=ylabel, floor=1e-10))

# %% covers="explainers:3"
with after(gd, logistic_smoothness):
    lam = 0.01
    for A in (X, Z):
        d, seeded = A.shape[1], np.random.default_rng(1)
        f = functools.partial(loss, lam=lam, X=A)
        grad = functools.partial(loss_grad, lam=lam, X=A)
        t = 1.9 / logistic_smoothness(A, lam)
        ends = {
            "random search, 1000 looks": landscapes.random_search(f, d, 1000, seeded),
            "gradient descent, 1000 looks": gd(grad, np.zeros(d), t, 999)[-1],
            f"Newton, 8 steps, {8 * (1 + d)} looks": newton(lam, A, s, 8),
        }
        for method, w in ends.items():
            gap = f(w) - f(newton(lam, A, s))
            size = f"{gap:.0e}" if gap > 1e-11 else "below 1e-11"
            print(f"{d} weights, {method}: gap {size}")

# %% [markdown]
# ## What to take away
#
# - $-\nabla f$ is the steepest way down, at right angles to the contours; a step minimises the tangent plus
#   $\frac{1}{2t}\lVert y - x\rVert^2$.
# - $L$ decides which steps are safe ($t \le 1/L$ proved line by line, $t < 2/L$ on a bowl); $\kappa = L/m$ decides how
#   slow it is.
# - One inequality, (★), gives all the rates: $1/k$ with convexity, geometric with PL (so with strong convexity),
#   $1/\sqrt k$ for the gradient norm with nothing.
# - A bound is a promise for the worst case. Real runs are as fast or faster.
# - Where $L$ is unknown, backtrack; with constraints, project. Normalised steps buy speed near saddles and pay for it
#   at the minimum. Next: what *momentum* does to $\kappa$.
#
# **What the notes got wrong** (each shown above)
#
# - cs480: $\min f = \min cf$ (8.1); Lipschitz $f$ for Lipschitz gradient, and one-sided smoothness (8.4); "mean value
#   theorem" (8.5); $m$ for $m/2$ (8.6); $\gamma$ left out (8.7); two rows of the table of rates.
# - moon: descent without a condition on the step, a squared norm that is "always positive", the slope at $f(x)$
#   (4.1.1); the open ball (4.3).
# - explainers 3.1: a zero gradient as a maximum, the angle $\pi$ left out, a Taylor *equation*, unit steps as "the
#   usual rule".
# - wu: Algorithm 1 is missing (1.6.3).

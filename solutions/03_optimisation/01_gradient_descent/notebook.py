# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="gradient descent that finds its own step and knows its own rate"
# # Gradient descent on loss landscapes
#
# You want a classifier for 569 tumours, described by 30 measurements each. How bad it is, is one number, the loss, and
# no formula gives the weights that make it smallest. So you start somewhere and walk downhill. With a step size of 0.06
# the walk takes 7,000 steps until a thousandth of the first distance is left. With 5 it takes 92. With 100 it bounces
# for ever. A colleague asks, before you start the machine: *which step is safe, and how many will do?*
#
# At the end you answer, and then you run it. First look at one bowl, one start, 25 steps, four times: only the step
# size differs.

# %%
# What this notebook needs.
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
    movie,
    predict,
    show,
    solution,
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
)

rng = np.random.default_rng(0)
start("03_optimisation/01_gradient_descent")

# %% covers="wu:1.6"
# The same bowl and start with four step sizes: slow, good, a zig-zag, and lost.
show(*landscapes.draw_regimes(kappa=10))

# %% [markdown] covers="explainers:3.1.1 cs480:8"
# ## 1. A hillside in fog
#
# You stand at $x$ on a hillside, and fog hides the valley. All you can do is take one short step, feel whether $f$
# went down, and go back. Which way is down? Before any formula, find out by force: try $n$ directions around you,
# and keep the best.
#
# Stuck? `hint(best_direction)` helps in three stages, and so it does for every exercise.


# %% exercise="best_direction" points=2 difficulty=1 covers="explainers:3.1.1 moon:4.1.1 wu:1.6.1"
def best_direction(f, x, eta, n_angles):
    """The direction, of n_angles, in which a step of length eta ends lowest.

    Tried are (cos a, sin a) for the n_angles angles a = 0, 2π/n_angles, …, in this
    order; of equally good ones the first.
    f: function (2,) -> number. x (2,). eta > 0. Returns the direction (2,).
    With f(x) = x[1], x = [5, 5], eta = 1, n_angles = 4: about [0, -1].
    """
    ### BEGIN SOLUTION
    best, lowest = None, math.inf
    for number in range(n_angles):
        angle = 2 * math.pi * number / n_angles
        way = np.array([math.cos(angle), math.sin(angle)])
        value = f(x + eta * way)
        if value < lowest:
            best, lowest = way, value
    return best
    ### END SOLUTION


# %% check="best_direction"
check(best_direction)

# %% [markdown] covers="moon:4.1.1 wu:1.6.1"
# Now bring in the slope, of a differentiable $f$. Near $x$ it is nearly a plane: for a step $\eta v$ with $\lVert v\rVert = 1$,
#
# $$f(x + \eta v) \approx f(x) + \eta\, \nabla f(x)^\top v = f(x) + \eta\, \lVert\nabla f(x)\rVert \cos\theta,$$
#
# where the *gradient* $\nabla f(x)$ lists the partial derivatives and $\theta$ is the angle between it and $v$. The
# cosine is smallest, −1, straight against the gradient (Cauchy and Schwarz say so in any dimension). So where
# $\nabla f(x) \ne 0$, the steepest way down is $-\nabla f(x)$, for a short step. How short? Let your search decide,
# in Rosenbrock's curved valley
# $(1 - x_1)^2 + 10\,(x_2 - x_1^2)^2$.

# %% open=true covers="explainers:3.1.1 moon:4.1.1 wu:1.6.1"
with after(best_direction):
    x, g = np.array([-1.0, 1.5]), banana_grad(np.array([-1.0, 1.5]))
    down = -g / np.linalg.norm(g)
    for eta in (1.0, 0.3, 0.1, 0.001):
        way = best_direction(banana, x, eta, 3600)
        angle = np.degrees(np.arccos(np.clip(way @ down, -1, 1)))
        print(f"step {eta:<5}: the best way is {angle:.1f}° away from −∇f")
    claim("a step of {eta} finds −∇f to 0.1°", angle < 0.1, eta=eta)

# %% predict="straight-ahead" minutes=1
predict(
    "straight-ahead",
    "f = x₁² + 4x₂². From (1.4, 0.7) you walk a short distance h straight ahead, "
    "at a right angle to the gradient. How does f change?",
    ["In proportion to h", "In proportion to h²", "Not at all"],
    truth=round(
        math.log2(landscapes.along_contour(0.02) / landscapes.along_contour(0.01))
    )
    - 1,
    because="There cos θ = 0: no change of first order, and curvature leaves one of "
    "order h². So the contour through a point is at a right angle to its gradient.",
)

# %% [markdown] covers="cs480:def8.2 guo:I.4 wu:1.6.3 explainers:3.1"
# ## 2. How far do you dare to step?
#
# A direction is not yet a step. **Gradient descent** steps far where the slope is steep, and gets careful by itself
# where it is flat:
#
# $$x^{(k+1)} = x^{(k)} - t\, \nabla f(x^{(k)}), \qquad t > 0 \text{ the step size.}$$
#
# (Other texts write $\eta$ or $\alpha$.) Logistic regression, the support vector machine, least squares: each trains by
# asking where its own $f$ is smallest. We write $f^*$ for that value and $x^*$ for a place where it is reached.
#
# And when do you stop? At a minimum of
# $f$ inside an open set the slope is zero in every direction, else some way would
# still lead down. That is Fermat's condition, $\nabla f(x^*) = 0$. So stop when $\lVert\nabla f\rVert$ is small, or
# your patience ends.


# %% exercise="gd" points=3 difficulty=1 covers="cs480:8 cs480:def8.2 guo:I.4 wu:1.6.3 moon:4.1.1"
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

# %% open=true covers="guo:I.4"
with after(gd):  # f(z) = z², whose step is z ← (1 − 2t) z
    for t in (0.05, 0.4, 0.5, 1.0, 1.1):
        z = gd(lambda z: 2 * z, np.array([1.0]), t, 100, tol=1e-4)[:, 0]
        k = np.arange(len(z))
        words = "t = {t}: zₖ is {c:.1f} to the power k; at k = {n} it is {end:.2g}"
        same = np.allclose(z, (1 - 2 * t) ** k)
        claim(words, same, t=t, c=1 - 2 * t, n=k[-1], end=z[-1])

# %% [markdown] covers="wu:1.6.3 cs480:8-step"
# **The bowl explains it all.** Let $f(x) = \frac12 x^\top H x$, where the symmetric $H$ has eigenvalues (curvatures)
# from $m > 0$ to $L$. Then $\nabla f(x) = Hx$: a step multiplies $x$ by $I - tH$, so along an eigenvector of
# curvature $c$ by $1 - tc$. It changes sign, a zig-zag, once $t > 1/c$.
#
# Two directions set the pace: the steep one wants short steps, the flat one long steps. How unequal they are is the
# *condition number* $\kappa = L/m$.

# %% predict="largest-step" minutes=1
predict(
    "largest-step",
    "A bowl has the curvatures 1 and 10. For exactly which step sizes t > 0 does "
    "gradient descent converge from every start?",
    ["t < 0.1", "t < 0.2", "t < 1", "t < 2"],
    truth=max(
        i
        for i, limit in enumerate((0.1, 0.2, 1, 2))
        if max(abs(1 - 0.99 * limit * curvature) for curvature in (1, 10)) < 1
    ),
    because="|1 − tc| has to stay below 1 for both. The steep one sets the limit, "
    "2/L = 0.2, however flat the other is.",
)

# %% covers="cs480:8-step wu:1.6.3"
# After 30 steps: what is left, for 50 step sizes.
with after(gd, "largest-step"):
    H, gaps, equal = np.diag([1.0, 10.0]), [], []
    steps = np.sort(np.r_[np.linspace(0.01, 0.25, 49), 2 / 11])
    for t in steps:
        end = gd(lambda x: H @ x, np.ones(2), t, 30)[-1]
        power = np.linalg.matrix_power(np.eye(2) - t * H, 30)
        equal.append(np.allclose(end, power @ np.ones(2)))
        gaps.append(end @ H @ end / 2)
    claim("30 steps are (I − tH)³⁰, for {n} step sizes", all(equal), n=len(steps))
    show(*landscapes.draw_step_sizes(steps, gaps, m=1, L=10, n_steps=30))

# %% [markdown] covers="cs480:8 wu:1.6.3"
# **Your laboratory.** Take the start with the pointer and drag it; press play to walk. Steps are in units of $1/L$,
# the dashed line is what theory says.
#
# 1. On the bowl, lengthen the step: where does the zig-zag begin, and where is the point of no return? Does either
#    move with κ?
# 2. On the saddle (up along $x_1$, down along $x_2$), start at (1, 0.01), then at (1, 0). Who escapes?
# 3. In Rosenbrock's valley, $L$ is the largest curvature at the minimum only. Which starts survive a step of $1/L$?
# 4. On the logistic loss the run beats the dashed line by far: that line knows worst cases only. Section 5 comes back
#    to it.
#
# (*Normalised* waits under *Deeper*, *momentum* in the next notebook.)

# %% covers="cs480:8 wu:1.6.3"
# Drag the square. Play the steps.
explore(
    landscapes.draw_landscape,
    drag={("x", "y"): "start"},
    play="n_steps",
    name=widgets.Dropdown(options=landscapes.SURFACES, description="surface"),
    optimiser=widgets.Dropdown(options=landscapes.OPTIMISERS, description="optimiser"),
    x=slider(2, -3, 3, 0.05, "start x₁"),
    y=slider(1.5, -3, 3, 0.01, "start x₂"),
    step=slider(0.6, 0.05, 4, 0.05, "step t · L"),
    n_steps=widgets.IntSlider(40, min=1, max=100, description="steps"),
    kappa=widgets.FloatLogSlider(10, min=0, max=2, description="κ (bowl)"),
)

# %% [markdown] covers="cs480:8-step"
# ## 3. Nobody tells you L
#
# In the valley a step of $1/L$ survives here and dies there. So let the walker find its step. Try a bold $t$; accept
# it if $f$ falls by at least half of what the plane promises,
#
# $$f(x - t\, g) \le f(x) - \tfrac t2 \lVert g \rVert^2, \qquad g = \nabla f(x),$$
#
# else shrink, $t \leftarrow \beta t$ with $0 < \beta < 1$, and try again. After an accepted step be a notch
# bolder: the next first try is $t/\beta$.
#
# Why does the search end? By Taylor, $f$ falls by $t(1 - \frac{tc}2) \lVert g\rVert^2$, with $c$ a curvature on the
# way: by enough, once $t \le 1/c$.
#
# With this loop $f$ never rises, on any smooth loss, though nobody knows its $L$. Write it.


# %% exercise="descend" points=4 difficulty=1 covers="cs480:8-step cs480:def8.2"
def descend(f, grad, x0, t0, beta, tol, max_steps):
    """Gradient descent that finds its own step sizes, by the test above.

    f: function (d,) -> number; grad: (d,) -> (d,). x0 (d,) is left unchanged.
    t0 > 0: the very first try; later ones begin at the last accepted t / beta.
    0 < beta < 1. Stops before a step where the norm of the gradient is at most tol,
    and after max_steps steps.
    Returns the path (k + 1, d) and the k accepted step sizes.
    With f(x) = x², x0 = [1.0], t0 = 2, beta = 0.5, one step: 2 and 1 fail, 0.5
    passes. The result is [[1.0], [0.0]] and [0.5].
    """
    ### BEGIN SOLUTION
    x, t = np.array(x0, float), t0
    path, sizes = [x], []
    while len(sizes) < max_steps:
        g = grad(x)
        slope = g @ g
        if math.sqrt(slope) <= tol:
            break
        while f(x - t * g) > f(x) - t / 2 * slope:
            t = beta * t
        x = x - t * g
        path.append(x)
        sizes.append(t)
        t = t / beta
    return np.array(path), np.array(sizes)
    ### END SOLUTION


# %% check="descend"
check(descend)

# %% covers="cs480:8-step"
# Your walker in Rosenbrock's valley, beside fixed steps of 1/L.
with after(gd, descend):
    x0, L = np.array([2.5, 1.0]), np.linalg.eigvalsh(banana_hessian(np.ones(2)))[-1]
    path, sizes = descend(banana, banana_grad, x0, 1.0, 0.5, 1e-4, 2000)
    with np.errstate(over="ignore", invalid="ignore"):
        lost = gd(banana_grad, x0, 1 / L, 20)[-1]
    claim("fixed steps of 1/L are beyond 10⁶ within 20", not np.abs(lost).max() < 1e6)
    claim(
        "yours end at ({end[0]:.2f}, {end[1]:.2f}), steps {low:.4f} to {high:.2f}",
        np.allclose(path[-1], 1, atol=1e-3),
        end=path[-1], low=sizes.min(), high=sizes.max(),
    )  # fmt: skip
    falls = np.diff([banana(x) for x in path]) < 0
    claim("f falls at every step", falls.all())
    show(*landscapes.draw_walk(path, sizes))

# %% [markdown] covers="cs480:def8.4 cs480:def8.6 guo:II.1.a"
# ## 4. Two numbers that know the future
#
# What are the curvatures of a convex loss? If it curves nowhere, along no direction, more than
# $L$, it is *$L$-smooth*; if nowhere less than $m > 0$, *$m$-strongly convex*: $m$ and $L$ bound the eigenvalues of every
# Hessian, the matrix of second derivatives. Take the tumours, labels $s_i = \pm 1$, and
#
# $$f(w) = \frac1n \sum_i \log(1 + e^{-s_i x_i^\top w}) + \frac\lambda2 \lVert w \rVert^2 .$$
#
# Its Hessian is $\frac1n X^\top D X + \lambda I$. $X$ has the rows $x_i^\top$, and $D$ the diagonal $p_i(1 - p_i)$, where
# $p_i = 1/(1 + e^{-x_i^\top w})$ is the probability of $s_i = +1$. From below, $m = \lambda > 0$ will do, as $X^\top DX$ has no eigenvalue below 0. **You find**
# the other end: one number that no eigenvalue exceeds, whatever $w$ is.

# %% covers="guo:II.1.a"
# The tumours with a column of ones; the loss, its gradient and Hessian, the minimiser.
table = data.breast_cancer()
Z = np.c_[(table.X - table.X.mean(0)) / table.X.std(0), np.ones(len(table.X))]
s = 2 * table.y - 1  # +1 benign, −1 malignant


def loss(w, lam, X=Z, s=s):
    return np.logaddexp(0, -s * (X @ w)).mean() + lam / 2 * w @ w


def loss_grad(w, lam, X=Z, s=s):
    return -X.T @ (s * expit(-s * (X @ w))) / len(s) + lam * w


def loss_hessian(w, lam, X=Z):
    p = expit(X @ w)
    return (X.T * (p * (1 - p))) @ X / len(X) + lam * np.eye(X.shape[1])


def newton(lam, X=Z, s=s, n_steps=15):
    w = np.zeros(X.shape[1])
    for _ in range(n_steps):  # to the minimum of the second-order model
        w = w - np.linalg.solve(loss_hessian(w, lam, X), loss_grad(w, lam, X, s))
    return w


# %% exercise="logistic_smoothness" points=2 difficulty=1 covers="cs480:def8.4"
def logistic_smoothness(X, lam):
    """The smallest L that no eigenvalue of a Hessian of this loss exceeds, at any w.

    The loss is the mean logistic loss + lam/2 ‖w‖². X (n, d), one row an example;
    lam >= 0. Returns a number.
    X = [[2.0]], lam = 0.5 gives 1.5.
    """
    ### BEGIN SOLUTION
    largest = np.linalg.eigvalsh(X.T @ X)[-1]
    return largest / (4 * len(X)) + lam
    ### END SOLUTION


# %% check="logistic_smoothness"
check(logistic_smoothness)

# %% covers="cs480:def8.4 cs480:def8.6"
# At random places: curvatures between m and L, and what that means for the gradient.
with after(logistic_smoothness):
    lam = 0.01
    m, L, pairs = lam, logistic_smoothness(Z, lam), rng.normal(0, 0.5, (100, 2, 31))
    ends = np.array(
        [np.linalg.eigvalsh(loss_hessian(w, lam))[[0, -1]] for w, _ in pairs]
    )
    claim(
        "no direction curves more than L = {L:.2f} ({n} random w)",
        ends.max() <= L,
        L=L,
        n=len(pairs),
    )
    steepest = np.linalg.eigvalsh(loss_hessian(np.zeros(31), lam))[-1]
    claim("L is reached, at w = 0", np.isclose(steepest, L))
    apart = [
        np.linalg.norm(loss_grad(v, lam) - loss_grad(w, lam))
        <= L * np.linalg.norm(v - w)
        for v, w in pairs
    ]
    claim("∇f changes by at most L times the distance (the pairs)", all(apart))

# %% [markdown] covers="cs480:thm8.7"
# For a loss with such $m$ and $L$ and a continuous Hessian, no run is slower than the slowest direction of a bowl with
# curvatures $m$ and $L$ (*Deeper* says why): each step leaves at most
#
# $$\rho = \max(|1 - tm|,\, |1 - tL|)$$
#
# of the distance to $x^*$, and $k$ steps leave $\rho^k$. The best step makes both terms equal, $1 - tm = tL - 1$: at
# $t = 2/(m+L)$, where $\rho = (\kappa-1)/(\kappa+1)$. That is a promise that you can make before the run.

# %% predict="steps-to-halve" minutes=1
predict(
    "steps-to-halve",
    "At κ = 100, with the best step size 2/(m + L), how many steps until the distance "
    "to the minimum is surely halved?",
    ["1", "7", "35", "350"],
    truth=[1, 7, 35, 350].index(math.ceil(math.log(0.5) / math.log(99 / 101))),
    because="ρ = 99/101, and 0.98 to the power 35 is about one half. "
    "Steps grow nearly in proportion to κ.",
)


# %% exercise="steps_needed" points=3 difficulty=1 covers="cs480:thm8.7"
def steps_needed(m, L, t, eps):
    """The smallest k >= 0 with rho**k <= eps, where rho = max(|1 − t m|, |1 − t L|).

    0 < m <= L, t > 0, eps > 0. Returns k, or math.inf where no k will do.
    eps is the share of the first distance that may be left: eps >= 1 needs no step,
    whatever rho is. k may be many thousands. (A quotient of logarithms may round up.)
    steps_needed(1.0, 10.0, 0.1, 0.5) gives 7, since 0.9**7 = 0.478.
    """
    ### BEGIN SOLUTION
    rho = max(abs(1 - t * m), abs(1 - t * L))
    if eps >= 1:
        return 0
    if rho >= 1:
        return math.inf
    k = 1
    while rho**k > eps:
        k = k + 1
    return k
    ### END SOLUTION


# %% check="steps_needed"
check(steps_needed)

# %% [markdown] covers="cs480:thm8.7"
# ## 5. Predict, then run
#
# Back to your colleague. The tumours with all 30 measurements, $\lambda = 0.01$: first the constants, then the step
# and the promise, then the run, with your own functions. Nothing is tuned.
#
# A promise is for the worst case, and it has its price. This loss is kinder: $L$ is
# reached at $w = 0$ only, and where the run ends $f$ curves less than a tenth as much. Bolder steps arrive sooner, and `descend` finds them on its
# way. But it promises nothing: only $m$ and $L$ tell your colleague *how many*. ($w^*$ comes from Newton's method, which
# waits under *Deeper: rivals*.)

# %% covers="cs480:thm8.7 cs480:8"
# The answer to the question of the first screen.
with after(gd, descend, logistic_smoothness, steps_needed):
    lam = 0.01
    m, L, w_star = lam, logistic_smoothness(Z, lam), newton(lam)
    t, rho = 2 / (m + L), (L - m) / (L + m)
    print(f"m = {m}, L = {L:.2f}, κ = {L / m:.0f}")
    k = steps_needed(m, L, t, 0.001)
    print(f"Every step below {2 / L:.3f} is surely safe, {t:.3f} promises most.")
    print(f"{k} of these will leave a thousandth, or less.")
    paths = {
        size: gd(lambda w: loss_grad(w, lam), np.zeros(31), size, 8000)
        for size in (t, 0.06, 5, 100)
    }
    away = {
        size: np.linalg.norm(path - w_star, axis=1) / np.linalg.norm(w_star)
        for size, path in paths.items()
    }
    distance = away.pop(t)[:3001]
    for eps in (0.1, 0.01, 0.001):
        k, taken = steps_needed(m, L, t, eps), int(np.argmax(distance <= eps))
        claim(
            "distance {eps}: promised within {k} steps, reached after {taken}",
            distance[k] <= eps, eps=eps, k=k, taken=taken,
        )  # fmt: skip
    for size, run in away.items():
        if run.min() <= 0.001:
            print(
                f"steps of {size}: within a thousandth after {np.argmax(run <= 0.001)}"
            )
    swings = (paths[100][-1] == paths[100][-3]).all() and away[100][-2:].min() > 1
    claim("steps of {size} bounce between two points for ever", swings, size=100)
    steepest = np.linalg.eigvalsh(loss_hessian(w_star, lam))[-1]
    claim(
        "at w* f curves at most {c:.2f}, less than L/10", steepest < L / 10, c=steepest
    )
    f, grad = functools.partial(loss, lam=lam), functools.partial(loss_grad, lam=lam)
    own, sizes = descend(f, grad, np.zeros(31), 1.0, 0.5, 0.0, 60)
    own = np.linalg.norm(own - w_star, axis=1) / np.linalg.norm(w_star)
    claim(
        "your own walker: a thousandth after {k} steps of {low:.2g} to {high:.2g}",
        own.min() <= 0.001,
        k=np.argmax(own <= 0.001),
        low=sizes.min(),
        high=sizes.max(),
    )
    title, name = f"κ = {L / m:.0f}: the promise holds", "distance to w*"
    bounds = {name: rho ** np.arange(len(distance))}
    show(
        *draw_gaps(
            {name: distance},
            bounds,
            title,
            ylabel="‖w − w*‖ ÷ ‖w*‖",
            floor=1e-10,
        )
    )

# %% [markdown]
# ## Take-aways
#
# - Where $\nabla f$ is not 0, $-\nabla f$ is at a right angle to the contour and, for short steps, the steepest way down.
# - $L$ says which steps are safe: $t < 2/L$. $\kappa = L/m$ says how slow it can be.
# - Where you do not know $L$, let the walker find its step: shrink until $f$ falls by at least half of what the slope
#   promises. That is fast, and promises nothing.
# - Of the penalised logistic loss, $m$ and $L$ are known before the first step. A bound is a promise for the worst
#   case: with the same step, real runs are as fast or faster.
#
# Next: what *momentum* does to $\kappa$. Below are the proofs, and where the promise ends.

# %% [markdown] covers="cs480:thm3.3 cs480:rem8.1 explainers:3.1.1"
# ## Deeper: where the slope is zero
#
# Is every point with $\nabla f = 0$ a minimum? The eigenvalues of the Hessian tell: all positive, a (local) minimum;
# all negative, a (local) maximum; both signs, a saddle; with zeros among them, they may not tell. (If $f$ is convex,
# $\nabla f = 0$ is enough.) And does it matter for the place whether a loss is a sum or a mean?

# %% demo=true covers="cs480:thm3.3 explainers:3.1.1"
# Three functions with ∇f = 0 at the origin, solved by symbols.
u, v = sympy.symbols("u v", real=True)
name_of = {(1,): "minimum", (-1,): "maximum", (-1, 1): "saddle"}
kinds = []
for f in (u**2 + v**2, 1 - u**2 - v**2, u**2 - v**2):
    (point,) = sympy.solve([sympy.diff(f, u), sympy.diff(f, v)], (u, v), dict=True)
    curvatures = sympy.hessian(f, (u, v)).subs(point).eigenvals()
    kinds.append(name_of[tuple(sorted({int(sympy.sign(c)) for c in curvatures}))])
    print(f"f = {f}: ∇f = 0 at ({point[u]}, {point[v]}), a {kinds[-1]}")

# %% demo=true covers="cs480:rem8.1"
# f times 3 and times −1: a positive factor keeps the place of the minimum.
x = np.linspace(-2, 3, 501)
f = (x - 1) ** 2 + 1
place = {c: x[np.argmin(c * f)] for c in (1, 3, -1)}
claim("3f is smallest where f is, −f is not", place[3] == place[1] != place[-1])
claim("the smallest value triples", (3 * f).min() == 3 * f.min())
show(*landscapes.draw_scaled(x, f, (1, 3, -1)))

# %% [markdown] covers="wu:1.6.1 wu:1.6.2 explainers:3.1.1.box-taylor moon:4.1"
# ## Deeper: how good is the plane?
#
# For a small move $\Delta$, Taylor's polynomials of first and second order are
#
# $$f(x + \Delta) \approx f(x) + \nabla f(x)^\top \Delta \quad\text{and better}\quad {} + \tfrac12\, \Delta^\top
# \nabla^2 f(x)\, \Delta ,$$
#
# with errors of order $\lVert\Delta\rVert^2$ and $\lVert\Delta\rVert^3$, if $f$ has continuous derivatives up to the
# third. Shrink $\Delta$ tenfold, and they shrink about 100 and 1000 times: so this is also a test of a gradient. Then
# drag a point on $x_1^2 + 4x_2^2$, whose gradient is
# $(2x_1, 8x_2)$. Where does $-\nabla f$ point straight at the minimum?

# %% demo=true covers="explainers:3.1.1.box-taylor wu:1.6.1 moon:4.1"
# The two errors against the length of the move, and every direction for three lengths.
a, way = np.array([-1.0, 1.5]), np.array([0.6, 0.8])
g, H = banana_grad(a), banana_hessian(a)
h = np.geomspace(1e-1, 1e-3, 9)
change = np.array([banana(a + one * way) - banana(a) for one in h])
first = abs(change - h * (g @ way))
second = abs(change - h * (g @ way) - h**2 / 2 * (way @ H @ way))
slopes = [np.polyfit(np.log(h), np.log(error), 1)[0] for error in (first, second)]
claim(
    "the two errors shrink with orders {slopes[0]:.1f} and {slopes[1]:.1f}",
    np.allclose(slopes, [2, 3], atol=0.1), slopes=slopes,
)  # fmt: skip
angle, fan = landscapes.directions(g)
curves = {}
for eta in (0.3, 0.1, 1e-3):
    moved = np.array([banana(a + eta * one) - banana(a) for one in fan])
    curves[eta] = moved / (eta * np.linalg.norm(g))
claim(
    "Cauchy and Schwarz: no slope of {n} exceeds ‖∇f‖",
    (abs(fan @ g) <= np.linalg.norm(g) + 1e-12).all(), n=len(fan),
)  # fmt: skip
show(*landscapes.draw_fan(angle, curves))

# %% covers="wu:1.6.2 moon:4.1"
# Drag the square: the gradient is at a right angle to the contour.
explore(
    functools.partial(landscapes.draw_compass, 1, 4),
    drag={("x", "y"): "point"},
    x=slider(1.4, -2, 2, 0.1, "point x₁"),
    y=slider(0.7, -1.5, 1.5, 0.1, "point x₂"),
)

# %% [markdown] covers="cs480:8-motiv wu:9.6.2"
# ## Deeper: a step is the bottom of a parabola
#
# Replace $f$ near $x$ by its plane plus a parabola that makes long moves costly: Taylor's model with $I/t$ in place
# of the Hessian. Its lowest point is a step of gradient descent:
#
# $$\begin{gathered}q(y) = f(x) + \nabla f(x)^\top (y - x) + \tfrac{1}{2t} \lVert y - x \rVert^2,\\
# \nabla q(y) = 0 \iff y = x - t\, \nabla f(x).\end{gathered}$$
#
# Where $q$ lies above $f$ everywhere, $f$ falls at least as far as $q$ does. If no curvature exceeds $L$, every
# $t \le 1/L$ keeps it above, which is line 1 of the proof below. Move the point: does a longer step ever fit?


# %% demo=true covers="cs480:8-motiv wu:9.6.2"
# A numerical minimiser of q lands where the step does; q stays above f up to t = 1/L.
a = np.array([-1.0, 1.5])
g = banana_grad(a)


def surrogate(y, t=0.02):
    return banana(a) + g @ (y - a) + (y - a) @ (y - a) / (2 * t)


lowest = minimize(surrogate, a).x
claim(
    "a numerical minimiser of q finds x − t ∇f(x)",
    np.allclose(lowest, a - 0.02 * g, atol=1e-4),
)
grid, starts = np.linspace(-6, 6, 2001), np.linspace(-3, 3, 13)  # f = log cosh, L = 1
above = {
    t: [landscapes.surrogate_gap(x0, t, grid).min() for x0 in starts]
    for t in (1.0, 1.3)
}
claim(
    "t = 1/L: the parabola stays above f from each of {n} points, on a grid",
    min(above[1.0]) > -1e-12,
    n=len(starts),
)
claim("t = 1.3/L: not from every point", min(above[1.3]) < 0)
explore(
    landscapes.draw_surrogate,
    drag={"x": "point"},
    x=slider(0.6, -3, 3, 0.1, "point x"),
    t=slider(0.5, 0.1, 3, 0.1, "step size t"),
)

# %% [markdown] covers="cs480:def8.3 cs480:def8.4 cs480:def8.6"
# ## Deeper: three words about curvature
#
# For differentiable $f$, all $x$ and $y$, and with $A \succeq B$ short for "$A - B$ has no negative eigenvalue":
#
# - **convex**: $f(y) \ge f(x) + \nabla f(x)^\top (y - x)$. No tangent rises above the graph.
# - **$L$-smooth**: the *gradient* is $L$-Lipschitz; with a Hessian, $LI \succeq \nabla^2 f \succeq -LI$.
# - **$m$-strongly convex**: $f - \frac m2 \lVert x\rVert^2$ is convex; with a Hessian, $\nabla^2 f \succeq mI$. A
#   penalty $\frac\lambda2\lVert x\rVert^2$ adds $\lambda$ to $m$.
#
# One bad tangent refutes; finding none on a grid proves nothing. Move the tangent, and bend it with curvature $m$:
# how large can $m$
# be for $x^2$?

# %% demo=true covers="cs480:def8.3 cs480:def8.6"
# Tangents at a grid of points refute two functions of five. Then lay one yourself.
refuted = []
for name, (f, slope) in landscapes.GALLERY.items():
    x, y, height = landscapes.worst_tangent(f, slope, np.linspace(-2, 2, 81))
    refuted.append(height > 1e-12)
    pair = f"the tangent at {x:.2f} is {height:.2f} above f at {y:.2f}"
    print(f"{name:17}", f"not convex: {pair}" if refuted[-1] else "no bad pair")
claim("tangents refute the last two only", refuted == [False, False, False, True, True])
H, lam = np.diag([1.0, 10.0]), 0.3
lowest = np.linalg.eigvalsh(H + lam * np.eye(2)).min()
claim("λ = {lam} lifts m = 1 to {m}", np.isclose(lowest, 1.3), lam=lam, m=1 + lam)
explore(
    landscapes.draw_tangent,
    drag={"x": "point"},
    name=widgets.Dropdown(
        options=list(landscapes.GALLERY), value="x⁴ − 3x²", description="f"
    ),
    x=slider(0.9, -2, 2, 0.1, "tangent at x"),
    m=slider(0, 0, 4, 0.25, "curvature m"),
)

# %% [markdown] covers="cs480:thm8.5"
# ## Deeper: convex, and the gap falls like 1/k
#
# **Theorem.** If $f$ is convex and $L$-smooth with a minimiser $x^*$, and $0 < t \le 1/L$, then for every $k \ge 1$:
# $f(x^{(k)}) - f^* \le \lVert x^{(0)} - x^* \rVert^2 / (2tk)$. Let $x^+ = x - t\nabla f(x)$.
#
# 1. $f(x^+) \le f(x) + \nabla f(x)^\top (x^+ - x) + \frac L2 \lVert x^+ - x\rVert^2$ (Taylor; no
#    curvature exceeds $L$).
# 2. $f(x^+) \le f(x) - \frac t2 \lVert\nabla f(x)\rVert^2$ (★), as $1 - \frac{Lt}2 \ge \frac12$ in line 1.
# 3. $f(x^+) - f(x^*) \le \frac1{2t} \big( \lVert x - x^*\rVert^2 - \lVert x^+ - x^*\rVert^2 \big)$: the
#    tangent at $x$ lies below $f$ at $x^*$; put that into (★), and complete the square.
#
# Add line 3 over $k$ steps: it telescopes, and by (★) the last gap is smallest. Beyond $1/L$ lines 2 and 3 may break.


# %% exercise="proof_margins" points=3 difficulty=2 covers="cs480:thm8.5"
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
# The proof on the tumours (two measurements, no penalty), line by line at every step.
with after(gd, logistic_smoothness, proof_margins):
    two = Z[:, [0, 1, 30]]
    f, grad = (
        functools.partial(loss, lam=0.0, X=two),
        functools.partial(loss_grad, lam=0.0, X=two),
    )
    L, w_star, measured, bounds = (
        logistic_smoothness(two, 0.0),
        newton(0.0, two),
        {},
        {},
    )
    for share in (0.02, 0.2, 1.0, 2.1):
        t, k = share / L, np.arange(1, 501)
        path = gd(grad, np.zeros(3), t, 500)
        lines = [proof_margins(f, grad, w, w_star, t, L) for w in path[:-1]]
        holds = (np.array(lines) > -1e-12).all(axis=0)
        broken = [line for line in (1, 2, 3) if not holds[line - 1]]
        label = f"t = {share}/L"
        print(f"{label}: lines that break on the way: {broken or 'none'}")
        if share > 1:
            continue
        gap = np.array([f(w) for w in path]) - f(w_star)
        squares = np.sum((path - w_star) ** 2, axis=1)
        claim("f never rises", not (np.diff(gap) >= 1e-15).any())
        claim(
            "the gaps add up to no more than what telescopes",
            gap[1:].sum() <= (squares[0] - squares[-1]) / (2 * t),
        )
        claim(
            "the theorem holds at each of {n} steps",
            (gap[1:] <= squares[0] / (2 * t * k)).all(),
            n=len(k),
        )
        measured[label], bounds[label] = gap, np.r_[np.nan, squares[0] / (2 * t * k)]
    title = "Convex: every run stays under its 1/k bound"
    show(*draw_gaps(measured, bounds, title, xscale="log"))

# %% [markdown] covers="cs480:thm8.7"
# ## Deeper: why a fixed factor
#
# Let $f$ be $m$-strongly convex and $L$-smooth, with a continuous Hessian. Average its Hessian on the way from $x^*$
# to $x$: $A = \int_0^1 \nabla^2 f(x^* + u(x - x^*))\, du$. Since $\nabla f(x^*) = 0$, we have $\nabla f(x) = A\,(x - x^*)$,
# so $x^+ - x^* = (I - tA)(x - x^*)$ with the eigenvalues of $A$ between $m$ and $L$: it is the bowl again, with
# $\rho$. Taylor as in line 1, now from $x^*$ to $x^{(k)}$, turns distances into gaps:
#
# $$f(x^{(k)}) - f^* \le \rho^{2k}\, \tfrac L2 \lVert x^{(0)} - x^*\rVert^2 .$$
#
# cs480 has an unnamed $\gamma$ for $\rho^2$. The classical value is $\gamma = 1 - \frac{2tmL}{m+L}$; for
# $t \le 2/(m+L)$ our $\rho^2 = (1 - tm)^2$ is never larger: multiplied out, $(1-tm)^2 \le \gamma$ says just that.

# %% covers="cs480:thm8.7"
# The average Hessian by quadrature, ρ² against γ, and runs with three ridge penalties.
with after(gd, logistic_smoothness):
    lam, w, two = 0.05, np.array([2.0, -1.5, 1.0]), Z[:, [0, 1, 30]]
    w_lam, A = newton(lam, two), np.zeros((3, 3))
    nodes, weights = np.polynomial.legendre.leggauss(30)
    for u, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        A += weight * loss_hessian(w_lam + u * (w - w_lam), lam, two)
    claim(
        "∇f(x) = A (x − x*), at one w",
        np.allclose(A @ (w - w_lam), loss_grad(w, lam, two)),
    )
    t = np.linspace(1e-3, 2 / 11, 200)  # m = 1, L = 10
    rho, gamma = np.maximum(abs(1 - t), abs(1 - 10 * t)), 1 - 20 * t / 11
    claim("ρ² ≤ γ for {n} t ≤ 2/(m + L)", (rho**2 <= gamma + 1e-12).all(), n=len(t))
    measured, bounds = {}, {}
    for lam in (0.3, 0.03, 0.003):
        m, L, w_lam = lam, logistic_smoothness(two, lam), newton(lam, two)
        t, rho, label = 2 / (m + L), (L - m) / (L + m), f"λ = {lam}, κ = {L / m:.0f}"
        path = gd(lambda w, lam=lam: loss_grad(w, lam, two), np.zeros(3), t, 120)
        measured[label] = np.array([loss(w, lam, two) for w in path]) - loss(
            w_lam, lam, two
        )
        bounds[label] = L / 2 * w_lam @ w_lam * rho ** (2 * np.arange(121))
        under = (measured[label] <= bounds[label] + 1e-15).all()
        claim("{label}: the gap stays under its bound", under, label=label)
    title = "Strongly convex: straight lines, slope set by κ"
    show(*draw_gaps(measured, bounds, title), digits=1)

# %% [markdown] covers="cs480:thm8.8 cs480:8-table"
# ## Deeper: no convexity at all
#
# Let $f$ be $L$-smooth, nowhere below $f^*$, and $0 < t \le 1/L$. Add up (★) over $i = 0, \dots, k$; the differences
# of $f$ telescope, and the smallest term is at most the mean:
# $\min_{i \le k} \lVert\nabla f(x^{(i)})\rVert \le \sqrt{2\,(f(x^{(0)}) - f^*) / (t\,(k+1))}$. Only the gradient gets
# small, and which valley it is, the start decides. We try an egg box, $\sum_j (0.05\, x_j^2 + 1 - \cos 2x_j)$, with
# curvatures up to 4.1 and $f^* = 0$.
#
# | $f$ | step | steps for $\varepsilon$ | $\varepsilon$ bounds |
# | --- | --- | --- | --- |
# | smooth | $t \le 1/L$ | $O(1/\varepsilon^2)$ | smallest $\lVert\nabla f\rVert$ |
# | convex, smooth | $t \le 1/L$ | $O(1/\varepsilon)$ | gap |
# | strongly convex, smooth | $t \le 2/(m+L)$ | $O(\log 1/\varepsilon)$ | gap |
# | convex, noise of bounded variance | $t_k \propto 1/\sqrt k$ | $O(1/\varepsilon^2)$, up to a log | mean gap of the averaged point |

# %% covers="cs480:thm8.8"
# Two starts on the egg box: two valleys, and gradients that stay under their bound.
with after(gd):
    t, paths, norms, bounds, summed = 0.05 / 4.1, [], [], [], []
    for x0 in ([1.4, -1.2], [4.5, 2.0]):
        path = gd(eggs_grad, np.array(x0), t, 600)
        squares = np.sum(eggs_grad(path) ** 2, axis=1)
        fallen = eggs(path[0]) - eggs(path[1:])
        summed.append((t / 2 * np.cumsum(squares[:-1]) <= fallen + 1e-12).all())
        paths.append(path)
        norms.append(np.sqrt(np.minimum.accumulate(squares)))
        bounds.append(np.sqrt(2 * eggs(path[0]) / (t * np.arange(1, len(path) + 1))))
    claim("the sum of (★) holds after every step, from both starts", all(summed))
    claim(
        "so does the bound",
        all((n <= b).all() for n, b in zip(norms, bounds, strict=True)),
    )
    names = ["from (1.4, −1.2)", "from (4.5, 2.0)"]
    show(*landscapes.draw_basins(eggs, paths, names, norms, bounds), digits=1)

# %% covers="cs480:thm8.8"
# 400 walkers, each from its own start. Press play.
with after(gd):
    starts = rng.uniform(-6, 6, (400, 2))
    paths = gd(
        eggs_grad, starts.ravel(), 0.2 / 4.1, 120
    )  # one walker in 800 dimensions
    fig, ax, words = landscapes.valleys(paths.reshape(-1, 400, 2))
    movie(fig, ax, paths.reshape(-1, 400, 2), words, digits=1)

# %% demo=true covers="cs480:8-table"
# Rates in one picture; the noisy run is the last point on a bowl, also like k^−½.
rates, exponent = landscapes.four_rates(), landscapes.exponent
power = {name: exponent(run) for name, run in rates.items() if run[-1] > 1e-9}
for name, value in power.items():
    print(f"{name}: exponent {value:.2f}")
met = [power[name] for name in ("convex", "non-convex, ‖∇f‖", "noisy, t = 1/√k")]
claim(
    "convex {p[0]:.2f} (theory −1), ‖∇f‖ {p[1]:.2f} (−½) and noisy {p[2]:.2f} (last "
    "point on a bowl: −½)",
    np.allclose(met, [-1, -0.5, -0.5], atol=0.1),
    p=met,
)
title = "On log–log axes the slope is the exponent of k"
show(
    *draw_gaps(
        rates, {}, title, ylabel="gap, or gradient norm", xscale="log", floor=1e-7
    )
)

# %% [markdown] covers="moon:4.2 explainers:3.1"
# ## Deeper: saddles, and steps of one length
#
# Near a saddle the gradient is almost zero, and so are the steps. **Normalised** descent keeps only the direction of
# the gradient, and $t$ is now a length:
#
# $$x^{(k+1)} = x^{(k)} - t\, \nabla f(x^{(k)}) / \lVert\nabla f(x^{(k)})\rVert .$$
#
# Every step has length $t$, except that it stays where $\nabla f = 0$. Does it leave saddles sooner? Can it settle at
# a minimum?


# %% exercise="ngd" points=2 difficulty=1 covers="moon:4.2 explainers:3.1"
def ngd(grad, x0, t, n_steps):
    """All iterates of normalised gradient descent.

    grad: function (d,) -> (d,). x0 (d,), t > 0: the length of each step.
    Where the gradient is exactly zero the point stays, and the path gets its row
    all the same. (1e-100 is not zero.)
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

# %% predict="smaller-offset" minutes=1
predict(
    "smaller-offset",
    "Plain gradient descent (t = 0.1) starts at (0, δ), beside the saddle of "
    "½x₁² − ½x₂² + ¼x₂⁴. δ shrinks from 1e-3 to 1e-6. The steps until |x₂| > ½ …",
    ["stay about the same", "about double", "grow a thousandfold"],
    truth=round(math.log(0.5 / 1e-6) / math.log(0.5 / 1e-3)) - 1,
    because="Near the saddle each step multiplies x₂ by 1.1, so it takes about "
    "log(1/δ) / log 1.1 steps.",
)

# %% covers="moon:4.2 explainers:3.1"
# Steps to escape against the first offset; and what 300 steps of one length end with.
with after(gd, ngd, "smaller-offset"):
    grad, curves = landscapes.surface("saddle").grad, {}
    offsets = 10.0 ** -np.arange(1, 10)
    for label, walk, x1 in (
        ("GD from (0, δ)", gd, 0),
        ("normalised from (0, δ)", ngd, 0),
        ("normalised from (¾, δ)", ngd, 0.75),
    ):
        paths = [walk(grad, np.array([x1, delta]), 0.1, 400) for delta in offsets]
        curves[label] = [int(np.argmax(abs(path[:, 1]) > 0.5)) for path in paths]
    line, more = (
        curves["normalised from (0, δ)"],
        np.diff(curves["normalised from (¾, δ)"]),
    )
    same = len(set(line)) == 1 and min(line) > 0
    claim(
        "on the line x₁ = 0 normalised walks take {n} steps, for every δ",
        same,
        n=line[0],
    )
    few = more.min() >= 1 and np.ptp(more) <= 1
    claim(
        "from (¾, δ) a tenfold smaller δ costs {least} or {most} steps more",
        few,
        least=more.min(),
        most=more.max(),
    )
    show(*landscapes.draw_escape(offsets, curves))
    bowl, x = (lambda x: np.array([1.0, 10.0]) * x), np.array([2.0, 1.0])
    hover = np.linalg.norm(ngd(bowl, x, 0.1, 300), axis=1)[-50:].max()
    settle = np.linalg.norm(gd(bowl, x, 0.1, 300)[-1])
    print(
        f"300 steps, t = 0.1: normalised descent is still {hover:.2f} from the minimum"
    )
    claim("gradient descent is {end} away", settle < 1e-6, end=below(1e-6))

# %% [markdown] covers="moon:4.3"
# ## Deeper: stay inside
#
# If $x$ must stay in a nonempty closed convex set $Q$, step first and then go to the nearest point of $Q$:
# $x_{k+1} = P_Q\big(x_k - t \nabla f(x_k)\big)$. For the ball $\lVert x\rVert \le r$: a point $y$ inside is its own
# nearest point; outside, every $x$ of the ball has $\lVert y - x\rVert \ge \lVert y\rVert - r$, and
# $r\, y / \lVert y\rVert$ reaches this. At a minimum on the border $\nabla f$ need not vanish. What
# always holds there is $x = P_Q(x - t \nabla f(x))$; for convex $f$ it is also enough.


# %% exercise="pgd" points=2 difficulty=1 covers="moon:4.3"
def pgd(grad, x0, radius, t, n_steps):
    """All iterates of gradient descent projected on the ball ‖x‖ <= radius.

    grad: function (d,) -> (d,). x0 (d,) lies in the ball; radius, t > 0.
    Returns the path (n_steps + 1, d); path[0] is x0.
    With grad(x) = [−3, −4] everywhere, x0 = [0, 0], radius = 1, t = 1, one step:
    the step ends at (3, 4), its nearest point is (0.6, 0.8).
    """
    ### BEGIN SOLUTION
    path = [x0]
    for _ in range(n_steps):
        y = path[-1] - t * grad(path[-1])
        norm = np.linalg.norm(y)
        path.append(y / max(1, norm / radius))
    return np.array(path)
    ### END SOLUTION


# %% check="pgd"
check(pgd)

# %% covers="moon:4.3"
# The minimum lies outside: walks that end on the ball, and in the box (clipped).
with after(pgd):
    c = np.array([2, 1.2])
    f, slope = lambda x: (x - c) ** 2 @ [0.5, 1.5], lambda x: (x - c) * [1, 3]
    in_ball = pgd(slope, np.array([-1.0, 0.0]), 1.0, 0.25, 30)
    in_box = landscapes.project_path(
        slope, lambda y: np.clip(y, -1, 1), [-1.0, 0.0], 0.25, 30
    )
    fixed = [np.allclose(*path[-2:], atol=1e-9) for path in (in_ball, in_box)]
    claim("both walks end where x = P(x − t ∇f(x))", all(fixed))
    rim = landscapes.directions(c)[1]
    claim(
        "no point of the rim is lower ({n} tried)",
        f(in_ball[-1]) <= f(rim).min() + 1e-9,
        n=len(rim),
    )
    show(
        *landscapes.draw_projected(f, [in_ball, in_box], ["in the ball", "in the box"])
    )

# %% [markdown] covers="explainers:3 explainers:3.box-landscape"
# ## Deeper: rivals
#
# The tumours' loss is an *empirical risk*, $R_D(\theta) = \frac1n \sum_i \mathcal L(y_i, h_\theta(x_i))$: over the data
# $(x_i, y_i)$ the mean of what a model $h_\theta$ loses on each. The landscape belongs to its data: on a tenth of the
# patients the minimum is elsewhere.
#
# Who else could walk there? **Newton's method** goes to the minimum of the second-order model and solves a $d \times d$
# system a step. **Random search** (an evolution with one parent and one child) keeps a random move if the loss falls. We
# count looks at the data: 1 for a loss or a gradient, $d$ for a Hessian. Newton wins here; with a million weights its
# system alone would fill the machine.

# %% covers="explainers:3 explainers:3.box-landscape"
# 1000 looks each, with 3 weights and with 31.
with after(gd, logistic_smoothness):
    lam, few = 0.01, newton(0.01, Z[::10], s[::10])
    print(
        f"loss at the minimum {loss(newton(lam), lam):.3f}, "
        f"at the minimum for a tenth {loss(few, lam):.3f}"
    )
    for A in (Z[:, [0, 1, 30]], Z):
        d, seeded = A.shape[1], np.random.default_rng(1)
        f, grad = (
            functools.partial(loss, lam=lam, X=A),
            functools.partial(loss_grad, lam=lam, X=A),
        )
        t = 1.9 / logistic_smoothness(A, lam)
        ends = {
            "random search, 1000 looks": landscapes.random_search(f, d, 1000, seeded),
            "gradient descent, 1000 looks": gd(grad, np.zeros(d), t, 999)[-1],
            f"Newton, 8 steps, {8 * (1 + d)} looks": newton(lam, A, s, 8),
        }
        for method, w in ends.items():
            gap = f(w) - f(newton(lam, A))
            size = f"{gap:.0e}" if gap > 1e-11 else "below 1e-11"
            print(f"{d} weights, {method}: gap {size}")

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form
# fails, the right one holds, and a wrong one of the same shape fails too. *Too broad*: a condition is missing.

# %% demo=true covers="cs480:rem8.1 cs480:def8.4 cs480:def8.6"
# cs480, section 8: argmin, Lipschitz, m for m/2.
x = np.linspace(-2, 3, 501)
f, p, q = (x - 1) ** 2 + 1, *rng.uniform(-10, 10, (2, 500))
erratum(
    "cs480:rem8.1",
    quote=r"$\min_{\mathbf{x}} f(\mathbf{x}) = \min_{\mathbf{x}} c \cdot f(x)$",
    corrected=r"$\min_x c f(x) = c \min_x f(x)$ and the same $\arg\min$, for $c > 0$",
    printed_holds=(3 * f).min() == f.min(),
    corrected_holds=(3 * f).min() == 3 * f.min()
    and x[(3 * f).argmin()] == x[f.argmin()],
    decoy_holds=(-f).min() == -f.min(),  # the same for c < 0
)
erratum(
    "cs480:def8.4",
    quote=(
        "Given convex and differentiable $f$ , we say $f$ is $L$ -smooth or $L$ "
        "-Lipschitz continuous"
    ),
    corrected=r"$f$ is $L$-smooth: it is $\nabla f$ that is $L$-Lipschitz continuous",
    # f = x², L = 2
    printed_holds=(abs(p**2 - q**2) <= 2 * abs(p - q)).all(),
    corrected_holds=(abs(2 * p - 2 * q) <= 2 * abs(p - q) + 1e-12).all(),
    decoy_holds=(abs(2 * p - 2 * q) <= abs(p - q)).all(),  # half of L
)
erratum(
    "cs480:def8.4",
    quote=r"$LI - \nabla^2 f(\mathbf{x})$ … is positive semi-definite for every",
    corrected=(
        r"where $f$ is not convex, $L$-smooth usually means $-LI \preceq \nabla^2 "
        r"f \preceq LI$"
    ),
    kind="convention",
)
H = np.diag([1.0, 10.0])  # ½ xᵀHx: m = 1
erratum(
    "cs480:def8.6",
    quote=(
        r"$f$ is $m$-strong convex if $f(\mathbf{x}) - m\|\mathbf{x}\|_2^2$ is "
        r"convex"
    ),
    corrected=(
        r"if $f - \frac m2 \lVert x\rVert^2$ is convex, which is "
        r"$\nabla^2 f \succeq mI$"
    ),
    printed_holds=np.linalg.eigvalsh(H - 2 * np.eye(2)).min() >= 0,
    corrected_holds=np.linalg.eigvalsh(H - np.eye(2)).min() >= 0,
    decoy_holds=np.linalg.eigvalsh(H - 1.5 * np.eye(2)).min() >= 0,
)

# %% demo=true covers="cs480:thm8.5 cs480:8-table"
# cs480, section 8: a name, a measure, a schedule.
erratum(
    "cs480:thm8.5",
    quote="Recall the mean value theorem allows us to write the Lagrangian",
    corrected="Taylor's theorem with the Lagrange form of the remainder",
    kind="convention",
)
erratum(
    "cs480:8-table",
    quote=(
        r"Non-convex $LI \succeq \nabla^2 f(\mathbf{x})$ "
        r"$\mathcal{O}(1/\varepsilon^2)$"
    ),
    corrected=(
        r"in this row $\varepsilon$ bounds the smallest $\lVert\nabla f\rVert$, "
        r"not the gap of $f$"
    ),
    kind="convention",
)
fall = {
    name: landscapes.exponent(landscapes.noisy_gap(schedule))
    for name, schedule in (
        ("1/k", lambda k: 1 / k),
        ("15/k", lambda k: 15 / k),  # 15 > 1/(2m) = 10
        ("1/√k", lambda k: k**-0.5),
        ("1", lambda k: 1.0),
    )
}
erratum(
    "cs480:8-table",
    quote=(
        r"Stochastic convex $LI \succeq \nabla^2 f(\mathbf{x})$ "
        r"$\mathcal{O}(1/\varepsilon^2)$ $t = 1/k$"
    ),
    corrected=(
        r"$t \propto 1/\sqrt k$; $t = c/k$ needs $m$-strong convexity and $c > "
        r"1/(2m)$"
    ),
    # f = m/2 x², m = 0.05, noise of variance 1: does the mean gap fall like k^−½?
    printed_holds=fall["1/k"] < -0.45,
    corrected_holds=fall["1/√k"] < -0.45 and fall["15/k"] < -0.95,
    decoy_holds=fall["1"] < -0.45,
)

# %% demo=true covers="explainers:3.1 explainers:3.1.1 explainers:3.1.1.box-taylor"
# explainers, section 3.1: zero slope, the angle π, an equation, unit steps.
ring = 0.1 * landscapes.directions(np.array([1.0, 0.0]))[1]
kinds = {  # of three functions with f(0) = 0, ∇f(0) = 0: higher around, lower around?
    (bool((ring**2 @ c > 0).any()), bool((ring**2 @ c < 0).any()))
    for c in ([1, 1], [-1, -1], [1, -1])
}
erratum(
    "explainers:3.1.1",
    quote=(
        r"The edge case in which $\nabla f(\mathbf{x}) = 0$ corresponds to "
        r"$f(\mathbf{x})$ being a local maximum."
    ),
    corrected=(
        r"where $\nabla f = 0$, $f$ has a minimum, a maximum, a saddle or a flat "
        r"spot"
    ),
    printed_holds=kinds == {(False, True)},
    corrected_holds=kinds == {(True, False), (False, True), (True, True)},
    decoy_holds=kinds == {(True, False)},
)
theta = math.acos(-1.0)  # the angle between ∇f and −∇f
erratum(
    "explainers:3.1.1",
    quote=(
        r"where $\theta \in [0, \pi)$ denotes the angle between $\nabla "
        r"f(\mathbf{x})$ and $\mathbf{v}$"
    ),
    corrected=r"$\theta \in [0, \pi]$: the steepest descent itself stands at $\pi$",
    printed_holds=0 <= theta < math.pi,
    corrected_holds=0 <= theta <= math.pi,
    decoy_holds=0 <= theta <= math.pi / 2,
)
erratum(
    "explainers:3.1.1.box-taylor",
    quote=(
        r"its second order Taylor expansion about $\mathbf{a} \in \mathbb{R}^m$ is "
        r"given by"
    ),
    corrected=(
        r"$\approx$ for its $=$: a remainder of order $\lVert x-a\rVert^3$ is "
        r"missing"
    ),
    kind="convention",
)
unit, usual, half = (np.array([1.03]) for _ in range(3))
for _ in range(
    200
):  # f = x², η = 0.1: unit direction, gradient, half of the unit direction
    unit, usual, half = (
        unit - 0.1 * np.sign(unit),
        usual - 0.2 * usual,
        half - 0.05 * np.sign(half),
    )
erratum(
    "explainers:3.1",
    quote=(
        r"yields the usual gradient descent rule … $\mathbf{x}^{(t+1)} = "
        r"\mathbf{x}^{(t)} - \eta \mathbf{v}^{(t)}$"
    ),
    corrected=(
        r"the usual rule is $x - \eta\nabla f(x)$; with $\lVert v\rVert = 1$ the "
        r"steps never shrink"
    ),
    printed_holds=abs(unit[0]) < 1e-6,  # does it settle at the minimum?
    corrected_holds=abs(usual[0]) < 1e-6,
    decoy_holds=abs(half[0]) < 1e-6,
)

# %% demo=true covers="moon:4.1.1 moon:4.3 wu:1.6.3"
# moon, sections 4.1 and 4.3, and wu 1.6.3.
flat = banana_grad(np.array([1.0, 1.0]))
erratum(
    "moon:4.1.1",
    quote=(
        r"Since $\nabla f(\bar{\mathbf{x}})^T \nabla f(\bar{\mathbf{x}})$ is "
        r"always positive"
    ),
    corrected=r"it is never negative, and 0 exactly at stationary points",
    kind="broad",
    printed_holds=flat @ flat > 0,
    corrected_holds=flat @ flat == 0,
)
erratum(
    "moon:4.1.1",
    quote=r"provides the slope of $f(\mathbf{x})$ at the point $f(\mathbf{x})$",
    corrected=r"at the point $x$",
    kind="convention",
)
long, short = (
    (1 - 2 * 1.5) ** 2,
    (1 - 2 * np.linspace(0.01, 0.99, 50)) ** 2,
)  # f = x² from 1, L = 2
erratum(
    "moon:4.1.1",
    quote=(
        r"$\mathbf{x}^{(k+1)} = \mathbf{x}^{(k)} - \eta \nabla "
        r"f(\mathbf{x}^{(k)})$ … $f(\mathbf{x}^{(k+1)}) < f(\mathbf{x}^{(k)})$"
    ),
    corrected=r"if $\nabla f(x^{(k)}) \ne 0$, $f$ is $L$-smooth and $0 < \eta < 2/L$",
    kind="broad",
    printed_holds=long < 1,
    corrected_holds=(short < 1).all(),
)
erratum(
    "moon:4.3",
    quote=r"$\mathbf{x} = \mathcal{P}_{\|x\|_2 < 1}(\mathbf{y})$",
    corrected=r"over $\lVert x\rVert \le 1$: the open ball may have no nearest point",
    kind="convention",
)
erratum(
    "wu:1.6.3",
    quote="1.6.3 Basic Algorithm Key factors affecting convergence:",
    corrected=r"Algorithm 1, $x_{k+1} = x_k - \eta f'(x_k)$, probably stood here",
    kind="copy",
)

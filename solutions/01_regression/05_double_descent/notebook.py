# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="splines that interpolate noise, and a map of when that is harmless"
# # Splines, interpolation and double descent
#
# Twenty noisy measurements of one swing of a sine. Least squares fits them by curves that may bend at given places, the
# *knots*. With six, the curve is 0.04 off the truth (mean squared distance), with 17 it is 0.07 off: more freedom,
# more noise learned, as the textbook has it. With 19 it is 26 *million* off.
#
# There the textbook stops. Somebody went on. With a thousand knots, fifty weights for each measurement, the curve
# meets every point, noise and all, and is 0.06 off: better than with 17. *Why does the fit with 19 knots explode, and
# the one with 1,000 not?*
#
# You will build all of it. Far from any sine, networks have more weights than examples, fit them all, and work.

# %%
# What this notebook needs.
import numpy as np
import torch
from ipywidgets import Dropdown, FloatLogSlider, FloatSlider, IntSlider

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
    solution,
    start,
)
from descent.pictures.regression import double_descent as dd

start("01_regression/05_double_descent")

# %% covers="wu:1.4 wu:1.4.7"
# The same twenty measurements, three times.
show(*dd.draw_opening())

# %% [markdown] covers="wu:1.4 wu:1.4.1"
# ## 1. A curve that bends where you let it
#
# No straight line follows a sine. How would you bend one, and still get by with least squares? With a **hinge** at the
# knot $b$, the function $\max(0, x - b)$: flat, then rising with slope 1. (Networks call it ReLU.) The sum
#
# $$s(x) = \beta_0 + \sum_{j=1}^{p} \beta_j \max(0, x - b_j)$$
#
# is a **spline**: straight between the knots. At $b_j$ its slope *changes by* $\beta_j$. It bends in $x$, but it is linear in
# the weights: with a column for each hinge, this is multiple regression ([[01/02]]). Put $p$ knots between $x_\min$ and
# $x_\max$ so that they cut the range into equal gaps:
#
# $$b_j = x_\min + j\,\Delta, \qquad \Delta = \frac{x_\max - x_\min}{p + 1} .$$
#
# (Stuck? `hint(relu_features)`.)


# %% exercise="relu_features" points=2 difficulty=1 covers="wu:1.4.1"
def relu_features(x, p, xmin, xmax):
    """Hinge features max(0, x_i - b_j) with p equally spaced knots.

    x (n,) inputs, also outside the range. p >= 0. xmin < xmax. Returns (n, p).
    relu_features(np.array([0, 1.5, 4]), 3, 0, 4) has the knots 1, 2, 3
    and gives [[0, 0, 0], [0.5, 0, 0], [3, 2, 1]].
    """
    ### BEGIN SOLUTION
    knots = xmin + (xmax - xmin) / (p + 1) * np.arange(1, p + 1)
    return np.maximum(0, x[:, None] - knots)
    ### END SOLUTION


# %% check="relu_features"
check(relu_features)

# %% covers="wu:1.4.1"
# Slopes add up; and the one thing that these curves cannot do.
with after(relu_features):
    x, beta = np.linspace(0, 4, 41), np.array([1.0, -2.5, 0.5])
    F = np.asarray(relu_features(x, 3, 0, 4))
    slopes, pieces = np.diff(F @ beta) / 0.1, np.append(0, np.cumsum(beta))
    claim(
        "β = 1, −2.5, 0.5: slopes of the pieces {s[0]:g}, {s[1]:g}, {s[2]:g}, {s[3]:g}",
        np.allclose(slopes, np.repeat(pieces, 10)),
        s=pieces,
    )
    claim("left of the first knot all rows are alike", not F[x <= 1].any())
    miss = []
    for A in (np.column_stack([np.ones(41), F]), np.column_stack([np.ones(41), x, F])):
        fit = A @ np.linalg.lstsq(A, 2 * x + 1, rcond=None)[0]
        miss.append(np.mean((fit - 2 * x - 1) ** 2))
    claim(
        "so a line is missed by {miss:.2f}; a column x mends it",
        miss[1] < 1e-20 < 0.01 < miss[0],
        miss=miss[0],
    )

# %% [markdown] covers="wu:1.4.7 explainers:2.5.3"
# ## 2. Turn the knob
#
# How does the fit change with $p$? You need all of it in one function. Our inputs lie in $[0, 1]$, so
# $b_j = j/(p + 1)$. The intercept $\beta_0$ must be free, as in [[01/03]]: subtract from each column of features, and from $y$, its
# mean over the *training* rows, and it drops out. Where many weights fit equally well, take those with the least
# $\sum_{j \ge 1} \beta_j^2$: that is what the pseudo-inverse does. (Centring leaves a singular value that is 0 but for rounding.
# Count as 0 what is below $10^{-12}$ of the largest: `rcond=1e-12`.)
#
# Besides two errors, report how much the curve turns at its knots, the **bending**
# $(p + 1)\sum_{j \ge 1} \beta_j^2$. Section 5 explains the factor.


# %% exercise="double_descent" points=5 difficulty=1 covers="wu:1.4.7 explainers:2.5.3 wu:1.4.5"
def double_descent(x, y, x_new, y_new, ps):
    """Training error, error on new rows, and bending of the spline, for each p in ps.

    x (n,), y (n,): training rows, inputs in [0, 1] in any order. x_new, y_new (m,).
    ps: numbers of knots, each >= 0, in any order. The knots are b_j = j / (p + 1).
    Least squares; among equally good fits the least sum of β_j² over j >= 1, β_0 free.
    Returns three arrays (len(ps),): mean squared errors on (x, y) and on
    (x_new, y_new), and (p + 1) times the sum of β_j² over j >= 1.
    x = [0, 1], y = [0, 2], x_new = [0.75], y_new = [2], ps = [0, 1]: without a knot
    the fit is 1, with one, at 0.5, it is 4 max(0, x - 0.5): [1, 0], [1, 1], [0, 32].
    """
    ### BEGIN SOLUTION
    train, off, bend = [], [], []
    for p in ps:
        b = np.arange(1, p + 1) / (p + 1)
        F = np.maximum(0, x[:, None] - b)
        G = np.maximum(0, x_new[:, None] - b)
        middle = F.mean(axis=0)
        beta = (
            np.linalg.pinv(F - middle, rcond=1e-12) @ y
        )  # centred columns: y may stay
        fit = y.mean() + (F - middle) @ beta
        new = y.mean() + (G - middle) @ beta
        train.append(np.mean((fit - y) ** 2))
        off.append(np.mean((new - y_new) ** 2))
        bend.append((p + 1) * np.sum(beta**2))
    return np.array(train), np.array(off), np.array(bend)
    ### END SOLUTION


# %% check="double_descent"
check(double_descent)

# %% predict="no-noise" minutes=1
predict(
    "no-noise",
    "No noise at all: twenty exact points of a sine, at i/19. How far off the truth is "
    "the fit with 19 knots, in mean squared distance?",
    ["less than 0.001", "about 1", "more than a million"],
    truth=int(np.digitize(dd.expected_errors([19], 0.0)[1][0], [0.001, 1e6])),
    because="More than ten million. Noise only makes it worse; it is not the cause.",
)

# %% predict="worth-it" minutes=1
predict(
    "worth-it",
    "In the first picture σ, the noise's standard deviation, is 0.3. Take σ = 0.1, "
    "averaged over all noise. What comes nearest to the truth?",
    ["1,000 knots", "the best of 1 to 17 knots", "they are equal"],
    truth=int(
        np.argmin(
            [dd.expected_errors(ps, 0.1)[1].min() for ps in ([1000], range(1, 18))]
        )
    ),
    because="1,000 knots are 0.0088 off, 12 knots, the best of the others, 0.0097. "
    "With three times the noise it is the other way round.",
)

# %% [markdown] covers="wu:1.4.7 explainers:2.5.3"
# Our measurements: $n = 20$ inputs $x_i = i/19$, $i = 0, \dots, 19$, the truth $\sin 2\pi x$, noise of standard
# deviation $\sigma$. *Off the truth* means the mean squared distance to the sine itself; a new noisy target is missed by
# $\sigma^2$ more. **Drag the number of knots along the curve.** The star is your function on these points, the
# curves are averages over all noise.
#
# 1. At $\sigma = 0.3$, from 1 to 17: where is the valley of the textbook? (Bias falls, variance rises, [[01/04]].)
# 2. Walk through 18, 19, 20, 22, 30. What happens *between* the points? And the bending?
# 3. Why is 18 better than 17? Look at knots and points.
# 4. For which $\sigma$ is 1,000 better than the valley? Move the noise.

# %% covers="wu:1.4 wu:1.4.7 explainers:2.5.3"
# Drag p: the fit with p knots, and where it stands.
with after(double_descent, "no-noise", "worth-it"):
    explore(
        dd.knots_explorer(double_descent),
        drag={"p": "curve"},
        p=FloatLogSlider(
            6, min=0, max=3, step=0.01, readout_format=".0f", description="knots p"
        ),
        sigma=FloatSlider(0.3, min=0, max=0.5, step=0.1, description="noise σ"),
    )

# %% [markdown] covers="wu:1.4.7"
# ## 3. Why 19?
#
# Nineteen hinges and an intercept: 20 weights for 20 points. Just enough, so there is *exactly one* perfect fit, and
# nothing to choose. But why a wild one? Walk along it, from left to right. Between neighbouring points $x_{j-1}$ and $x_j$
# lies one knot, $b_j$.
#
# Left of $b_1$ the curve is flat. From $b_1$ on, one slope is left that meets the second point. The curve carries it on to
# $b_2$; from there again one slope meets the third. So no equations need to be solved: you only walk. Write the walk,
# for any such points and knots, and note where you are.


# %% exercise="walk" points=3 difficulty=1 covers="wu:1.4.7"
def walk(x, y, b):
    """The only spline through all points, with one knot between neighbouring points.

    x (n,) increasing, y (n,), n >= 2; b (n - 1,) with x[j] <= b[j] < x[j + 1] (counted
    from 0). The curve is flat up to b[0] and passes all (x[j], y[j]).
    Returns (heights, slopes), (n - 1,) each: the curve at each knot, and its slope
    right of that knot.
    x = [0, 1, 2], y = [0, 1, 1], b = [0.5, 1.5] give [0, 2] and [2, -2].
    """
    ### BEGIN SOLUTION
    heights, slopes, slope = [], [], 0.0
    for j in range(len(b)):
        height = y[j] + slope * (b[j] - x[j])
        slope = (y[j + 1] - height) / (x[j + 1] - b[j])
        heights.append(height)
        slopes.append(slope)
    return np.array(heights), np.array(slopes)
    ### END SOLUTION


# %% check="walk"
check(walk)

# %% [markdown] covers="wu:1.4.7"
# On our grid $b_j = j/20$, and $x_j = j/19$. The first knot stands almost on the second point: the distances from point to
# knot to point are
#
# $$b_j - x_{j-1} = \frac{20 - j}{380}, \qquad x_j - b_j = \frac{j}{380} .$$
#
# The whole first step falls on the last 1/380: a slope 20 times too steep. And suppose that a slope is too large by
# $\epsilon$. At the knot the curve is too high by $\epsilon\,(20 - j)/380$, and has $j/380$ to come back: the next slope is off by
# $-\epsilon\,(20 - j)/j$. The sign flips, hence the zig-zag; and as long as $j < 10$ the error *grows*, up to knot 10
# by $\binom{19}{10}/19 \approx 4862$.

# %% covers="wu:1.4.7"
# Your walk over exact points of a sine; then the knots moved.
with after(walk):
    x, b = dd.grid(), np.arange(1, 20) / 20
    heights, slopes = walk(x, dd.sine(x), b)
    _, kick = walk(x, np.sign(x), b)  # a single step, from 0 to 1
    claim(
        "a step of 1: slope {first:.0f}, and {grown:.0f} times that at knot 10",
        np.allclose([kick[0], -kick[9] / kick[0]], [380, 4862], rtol=1e-3),
        first=kick[0],
        grown=-kick[9] / kick[0],
    )
    _, calm = walk(x, dd.sine(x), x[:-1])
    steepest = [np.abs(s).max() for s in (slopes, calm)]
    claim(
        "steepest slope {s[0]:.0e}; with a knot at each point {s[1]:.1f}",
        steepest[0] > 1e5 and steepest[1] < 7,
        s=steepest,
    )
    X = np.column_stack([np.ones(20), dd.hinges(x, 19)])
    condition = np.linalg.cond(X) ** 2
    claim(
        "19 hinges and a 1: the condition number of XᵀX is {c:.0e}",
        1e15 < condition < 1e16,
        c=condition,
    )
    show(*dd.draw_walk(b, slopes, heights))

# %% [markdown] covers="wu:1.4.7 wu:1.4.6"
# So misplaced knots do it, not noise, and not the number 19: a knot *at* each point gives the broken line through
# the points. (At $p = 18$ knots and inner points coincide; that is the dip.)
#
# ## 4. Nothing to choose, or too much
#
# Beyond 19 there are more weights than points. Let $X$ have the rows $\mathbf x_i = (1, \text{hinges at } x_i)$, $\beta$ all
# $d = p + 1$ weights. If $X\delta = 0$, then $\beta$ and $\beta + \delta$ make the same predictions on all rows: no data tell them
# apart. Such $\delta$ form the **null space** of $X$. Any $\beta$ is a combination of rows plus a **null-space part**,
# orthogonal to all rows. Extract it. (The pseudo-inverse finds the *smallest* $v$ with $Xv = X\beta$. In which part does
# it lie?)


# %% exercise="nullspace_part" points=2 difficulty=1 covers="wu:1.4.4 wu:1.4.6"
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

# %% [markdown] covers="wu:1.4.6"
# With 100 knots and six points the null space has 95 dimensions. **Grab the square and pull**: the curve goes where
# you want, and stays perfect. Which of these curves would you trust between the points? Is there anything in the *data*
# that prefers it? And what does the bending say when you pull?

# %% covers="wu:1.4.6"
# Pull a perfect fit between its points.
explore(
    dd.draw_pull,
    drag={("where", "height"): "pull"},
    where=FloatSlider(0.5, min=0.1, max=0.9, step=0.2, description="pull at x"),
    height=FloatSlider(2.0, min=-3, max=3, step=0.1, description="to height"),
)

# %% [markdown] covers="wu:1.4.4 moon:5.2"
# ## 5. So who chooses?
#
# Not the data. The *learner* prefers some perfect fits to others; that is its **inductive bias**. We asked the
# pseudo-inverse for small weights. A network is trained by gradient descent, and nobody asks it for anything. With
# $e = y - X\beta$ and the loss $\frac12\lVert e\rVert^2$ a step of size $\eta$ is
#
# $$\beta \leftarrow \beta + \eta\, X^\top e .$$
#
# Write descent that stops as soon as the mean of the $e_i^2$ is at most `tol`, with $\eta = 1/s_1^2$, where $s_1$, the largest
# singular value of $X$, is `np.linalg.norm(X, 2)`. Let it count its steps, and add up their lengths $\lVert\eta X^\top
# e\rVert$.


# %% exercise="descend" points=4 difficulty=1 covers="wu:1.4.4 wu:1.4.5 explainers:2.5.3"
def descend(X, y, start, tol, most):
    """Gradient descent on squared errors, until they are small.

    X (n, d), not all 0; y (n,); start (d,), left unchanged; tol >= 0; most >= 0.
    Each step adds η X.T @ e, with e = y - X @ beta and η one over the square of X's
    largest singular value. Before each step: if the mean of e² is at most tol, it is
    done. It makes no more than `most` steps.
    Returns (beta, steps, length): the last beta (d,), the number of steps made, and the
    sum of their lengths.
    X = [[2]], y = [4], start = [5], tol = 0, most = 9 give ([2], 1, 3).
    """
    ### BEGIN SOLUTION
    eta = 1 / np.linalg.norm(X, 2) ** 2
    beta, length = start, 0.0
    for steps in range(most):
        e = y - X @ beta
        if np.mean(e**2) <= tol:
            return beta, steps, length
        step = eta * X.T @ e
        beta = beta + step
        length += np.linalg.norm(step)
    return beta, most, length
    ### END SOLUTION


# %% check="descend"
check(descend)

# %% [markdown] covers="wu:1.4.4 moon:5.2"
# **Where does it end?** $X^\top e = \sum_i e_i \mathbf x_i$: every step is a combination of rows. From $\beta = 0$ all iterates are, and so
# is the limit, $\hat\beta = X^\top c$. Let $\tilde\beta$ be any other perfect fit, $\delta = \tilde\beta - \hat\beta$. Then
# $X\delta = 0$, so $\hat\beta \cdot \delta = c \cdot X\delta = 0$, and Pythagoras says
#
# $$\lVert\tilde\beta\rVert^2 = \lVert\hat\beta\rVert^2 + \lVert\delta\rVert^2 .$$
#
# From 0, descent finds the perfect fit of *least norm*, the pseudo-inverse's. Nobody asked: this is **implicit
# regularisation**. From elsewhere it finds the perfect fit nearest to the start. (Nearest is the end; the way
# there bends.)

# %% [markdown] covers="wu:1.4.6 wu:1.4.5"
# **And why is small calm?** $\beta_j$ is a change of slope. Where the curve follows a smooth $f$ at dense knots, it is a
# second difference, $\beta_j \approx f''(b_j)\,\Delta$ with $\Delta = 1/(p + 1)$. Hence
#
# $$(p + 1)\sum_j \beta_j^2 \approx \sum_j f''(b_j)^2\,\Delta \;\to\; \int_0^1 f''(x)^2\,dx .$$
#
# Small weights mean little bending. As $p \to \infty$ your fit tends to the curve through the points that bends least: a
# **cubic spline**, here with slope 0 at the left, where our hinges leave no choice. (If $\beta_0$ counts in the norm, that holds
# only where it costs nothing, as on our grid: at $x = 0$ all hinges are 0, so $\beta_0 = y_0$ in every perfect fit.)

# %% covers="wu:1.4.4 wu:1.4.5 wu:1.4.6 moon:5.2"
# Your descent, from 0 and from elsewhere; then ever more knots.
with after(descend, nullspace_part):
    x, rng = dd.grid(4), np.random.default_rng(1)
    X, y = np.column_stack([np.ones(4), dd.hinges(x, 12)]), dd.sine(x)
    beta, steps, _ = descend(X, y, np.zeros(13), 1e-20, 10**5)
    claim(
        "from 0 it ends at the pseudo-inverse's β, after some {t:,} steps",
        np.allclose(beta, np.linalg.pinv(X) @ y, atol=1e-8),
        t=round(steps, -2),
    )
    unseen = np.abs(nullspace_part(beta, X)).max()
    claim("its null-space part is {u}", unseen < 1e-9, u=below(1e-9))
    others = [beta + nullspace_part(rng.normal(size=13), X) for _ in range(100)]
    claim(
        "100 other perfect fits have norms above {norm:.2f}, as Pythagoras wants",
        all(np.allclose(X @ o, y) and o @ o > beta @ beta for o in others),
        norm=np.linalg.norm(beta),
    )
    first = 3 * rng.normal(size=13)
    last, _, length = descend(X, y, first, 1e-20, 10**5)
    kept = np.allclose(nullspace_part(last, X), nullspace_part(first, X), atol=1e-8)
    claim("from elsewhere: what X does not see stays", kept)
    away = [np.linalg.norm(o - first) for o in (last, beta, *others)]
    claim(
        "it ends {d:.1f} away, nearest of all; the way was {by:.2f} times as long",
        np.argmin(away) == 0 and length > 1.01 * away[0],
        d=away[0],
        by=length / away[0],
    )
    show(*dd.draw_limit())

# %% [markdown] covers="wu:1.4.3"
# ## 6. You have built a network
#
# Read $s(x)$ from the inside out. One number goes in; $p$ *hidden units* compute $\max(0, 1 \cdot x - b_j)$; the output weighs
# and adds them: Linear, ReLU, Linear. The first layer is fixed, with weights 1 and biases $-b_j$; only the second learns. Put your
# numbers into a network of torch's.


# %% exercise="to_torch_net" points=3 difficulty=1 covers="wu:1.4.3 wu:1.4.9"
def to_torch_net(beta0, beta, b):
    """The spline as torch.nn.Sequential(Linear(1, p), ReLU(), Linear(p, 1)).

    beta0 a number, beta (p,) changes of slope, b (p,) knots: NumPy, not torch; p >= 1.
    The network maps inputs (m, 1) to values (m, 1), in single or double precision.
    beta0 = 1, beta = [2, -3], b = [0, 1]: the input 2 gives 1 + 2·2 - 3·1 = 2.
    """
    ### BEGIN SOLUTION
    p = len(b)
    linear = torch.nn.Linear
    net = torch.nn.Sequential(linear(1, p), torch.nn.ReLU(), linear(p, 1)).double()
    with torch.no_grad():
        net[0].weight.fill_(1)
        net[0].bias.copy_(torch.as_tensor(-b))
        net[2].weight.copy_(torch.as_tensor(beta)[None])
        net[2].bias.fill_(beta0)
    return net
    ### END SOLUTION


# %% check="to_torch_net"
check(to_torch_net)

# %% covers="wu:1.4.7 wu:1.4.3 wu:1.4.6 explainers:2.5.3"
# Why 19 explodes and 1,000 does not: forty sets of measurements.
with after(double_descent, nullspace_part, to_torch_net):
    x, t, ps = dd.grid(), np.linspace(0, 1, 401), [2, 6, 12, 17, 19, 25, 40, 1000]
    targets = dd.sine(x) + 0.3 * dd.noise(40)
    runs = [double_descent(x, y, t, dd.sine(t), ps) for y in targets]
    train, off, bend = np.mean(runs, axis=0)
    print("    p  training         off              bending")
    for p, seen, *rest in zip(ps, train, off, bend):
        rest = [float(f"{value:.2g}") for value in rest]  # two digits, then zeros
        print("{:>5,} {:>9.3f} {:>11,.15g} {:>20,.15g}".format(p, seen, *rest))
    print()
    X = {p: np.column_stack([np.ones(20), dd.hinges(x, p)]) for p in (19, 1000)}
    wish = np.random.default_rng(0).normal(size=1001)
    gone = [np.linalg.norm(nullspace_part(wish[: p + 1], X[p])) for p in X]
    claim("19 knots: no null space, nothing to choose", gone[0] < 1e-3)
    beta = np.linalg.pinv(X[1000]) @ targets[0]
    free = 1001 - np.linalg.matrix_rank(X[1000])
    claim("1,000 knots: {free} dimensions to choose in", gone[1] > 10, free=free)
    unused = np.abs(nullspace_part(beta, X[1000])).max() < 1e-9
    claim("the least norm uses none of them", unused)
    net = to_torch_net(beta[0], beta[1:], np.arange(1, 1001) / 1001)
    inputs = torch.tensor(x)[:, None].to(net[0].weight.dtype)
    same = np.allclose(net(inputs).detach().numpy()[:, 0], targets[0], atol=1e-4)
    claim("a network of 3,001 numbers, 1,001 of them fitted, meets all 20 points", same)
    show(*dd.draw_verdict(ps, off))

# %% [markdown] covers="wu:1.4.7 explainers:2.5.3"
# ## Take-aways
#
# *19 knots explode because they have no choice:* one perfect fit, and with misplaced knots it zig-zags. *1,000 knots do not,
# because they have one*, and the least norm, which descent from 0 finds unasked, nearly picks
# the fit that bends least.
#
# - The peak sits where weights, intercept included, equal rows ($p + 1 = n$, for regular inputs). It needs no noise.
# - A second descent below the valley is no law: without noise and at $\sigma = 0.1$ the thousand knots win (at 0.1 with
#   0.0088 against 0.0097, the best of 1 to 17), at 0.3 the valley (0.046 against 0.078). A perfect fit carries the noise of its points.
# - Between perfect fits the learner chooses, not the data.
#
# Next: [[next]]. Below: when overfitting is benign, why splines understand nothing.

# %% [markdown] covers="cs480:thm3.2"
# ## Deeper: any data, infinitely many curves
#
# It is no privilege of splines. Let $x_1, \dots, x_n$ be distinct, $y_1, \dots, y_n$ any numbers. Lagrange's polynomial
#
# $$L(x) = \sum_i y_i \prod_{k \ne i} \frac{x - x_k}{x_i - x_k}$$
#
# meets all points, since the $i$-th product is 1 at $x_i$ and 0 at the others. So does $L(x) + c\prod_i (x - x_i)$, for
# *every* $c$, and so does any other interpolant plus that. For vectors, start from the value of the nearest row, and add
# $c\prod_i\lVert x - x_i\rVert^2$. If two inputs are equal it fails: one input cannot have two values.

# %% demo=true covers="cs480:thm3.2"
# Three interpolants plus c times the product; also for vectors.
kinds = ["polynomial", "radial", "broken line"]
fits = [
    dd.interpolant(dd.POINTS, dd.VALUES, c, k) for k in kinds for c in (-800, 0, 800)
]
met = all(np.allclose(f(dd.POINTS), dd.VALUES) for f in fits)
claim("{n} curves, each through all {of} points", met, n=len(fits), of=len(dd.POINTS))
vectors, targets = np.random.default_rng(0).normal(size=(2, 6, 3))
apart = np.linalg.norm(vectors[:, None] - vectors, axis=2)
values = targets[apart.argmin(1)] + 800 * np.prod(apart**2, axis=1)[:, None]
claim("vectors in three dimensions, too", np.allclose(values, targets))
explore(
    dd.draw_interpolants,
    kind=Dropdown(value="polynomial", options=kinds, description="curve"),
    c=FloatSlider(400, min=-1000, max=1000, step=50, description="c",
                  readout_format=".0f"),
)  # fmt: skip

# %% [markdown] covers="wu:1.4.7 wu:1.4.5"
# ## Deeper: where the peak hides
#
# **Random inputs.** Two inputs left of $b_1$ have the same row, however many knots lie to the right. Each input needs a *hat* of its
# own: hat $j$ is the broken line that is not 0 between $b_{j-1}$ and $b_{j+1}$ only. By a theorem of Schoenberg and
# Whitney, any values can be met if and only if the inputs, from left to right, can take one hat each. How many knots does that take?
#
# **Few steps.** Along a singular direction $s$ of $X$ each step of descent multiplies the residual by
# $1 - s^2/s_1^2$. At 19 knots the
# condition number of $X^\top X$ is $5 \cdot 10^{15}$. A "smoother landscape" with more knots means just this number; the loss
# is convex for all $p$.

# %% predict="few-steps" minutes=1
predict(
    "few-steps",
    "19 knots, σ = 0.3: the least-squares fit is more than ten million off the truth, "
    "on average. And 10,000 steps of descent from 0?",
    ["a thousand times less", "below 0.05", "as much"],
    truth=[1, 0, 2][
        np.digitize(dd.expected_errors([19], 0.3, 10**4)[1][0], [0.05, 1e6])
    ],
    because="The wild direction belongs to a singular value that is 10⁷ to 10⁸ times "
    "smaller than the largest: in 10,000 steps it hardly moves.",
)

# %% covers="wu:1.4.7 wu:1.4.5"
# Random inputs, few steps; how long descent takes to 0.01.
with after(descend, "few-steps"):
    rank = np.linalg.matrix_rank
    agree = [
        (rank(np.column_stack([np.ones(20), dd.hinges(x, p)]), tol=1e-13) == 20)
        == dd.independent(x, p)
        for p in (19, 30, 60, 150)
        for x in np.random.default_rng(0).random((20, 20))
    ]
    claim("hats and rank agree ({n} samples)", all(agree), n=len(agree))
    x, steps, conditions = dd.grid(), [], []
    for p in (19, 40, 200):
        X = np.column_stack([np.ones(20), dd.hinges(x, p)])
        steps.append(descend(X, dd.sine(x), np.zeros(p + 1), 0.01, 10**4)[1])
        s = np.linalg.svd(X, compute_uv=False)
        conditions.append((s[0] / s[19]) ** 2)
    claim(
        "19, 40, 200 knots: XᵀX has condition {c[0]:.0e}, {c[1]:.0e}, {c[2]:.0e}; an "
        "error of 0.01 takes {t[0]}, {t[1]}, {t[2]} steps",
        sorted(steps) == steps[::-1] and conditions[0] > 1e9 * conditions[1],
        c=conditions, t=steps,
    )  # fmt: skip
    show(*dd.draw_hidden())

# %% [markdown] covers="explainers:2.5.3"
# ## Deeper: another basis, and real digits
#
# Fit $x^3 - x$ by $p$ Legendre polynomials $P_0, \dots, P_{p-1}$: 20 random inputs, $\sigma = 0.3$, least norm. The
# threshold is $p = 20$, degree *19*. Then change one thing: multiply $P_k$ by $\sqrt{2k + 1}$, so that all are of one
# size. With $p \le 20$ the fits are the same functions; the *norm* is another. Last, a small ridge penalty. Which ends
# no better than the function 0? Which has no peak?
#
# Then 200 digits, a tenth of their labels random, and features $\max(0, \mathbf w_j \cdot \mathbf z)$ of the centred
# pixels $\mathbf z$ with random $\mathbf w_j$: a network whose first layer never learns. AlexNet, trained in earnest, had 60 million
# parameters for 1.2 million pictures.


# %% demo=true covers="explainers:2.5.3"
# A cubic by Legendre polynomials, three times; then the digits.
def cubic(x):
    return x**3 - x


counts = (4, 19, 20, 21, 60, 1000)
errors, sizes = dd.legendre_curve(counts, cubic)
alike, _ = dd.legendre_curve(counts, cubic, scaled=True)
calm, _ = dd.legendre_curve(counts, cubic, ridge=0.3)
zero = np.mean(cubic(np.linspace(-1, 1, 201)) ** 2)
claim("error and norm peak at p = 20", errors.argmax() == sizes.argmax() == 2)
claim(
    "1,000 polynomials: {e:.3f} off; all of one size, {a:.3f}; 0 itself, {z:.3f}",
    errors[-1] < 0.5 * zero < 0.9 * zero < alike[-1],
    e=errors[-1], a=alike[-1], z=zero,
)  # fmt: skip
claim("with ridge there is no peak", calm.max() < zero)
show(*dd.draw_digits(data.digits().X / 16, data.digits().y), digits=1)

# %% [markdown] covers="explainers:2.5.3 wu:1.4.8"
# High degrees are dear in the first norm, and the truth is cheap: that norm suits the cubic. In the second a thousand features meet
# the points by needles and say 0 in between. So what follows the peak depends on the norm. On the digits it descends below
# the valley, and ridge with one penalty for all widths has no peak at all.
#
# ## Deeper: is overfitting benign?
#
# A perfect fit carries its noise. **Benign**: its excess error goes to 0 all the same as $n$ grows. **Tempered**: it
# settles at a share of $\sigma^2$. **Catastrophic**: it grows without bound.

# %% predict="more-points" minutes=1
predict(
    "more-points",
    "Interpolate pure noise of variance σ² on a grid by the cubic spline, p = ∞. With "
    "four times as many points the excess error is …",
    ["a quarter", "half", "about the same", "four times as large"],
    truth=int(
        np.argmin(
            abs(
                dd.spline_excess(80) / dd.spline_excess(20)
                - np.array([0.25, 0.5, 1, 4])
            )
        )
    ),
    because="0.87 σ², then as before: more points only make the wiggles narrower.",
)

# %% [markdown] covers="wu:1.4.8"
# When is it benign? For regression on Gaussian features whose covariance has the eigenvalues $\lambda_1 \ge \lambda_2 \ge
# \dots \ge 0$ Bartlett, Long, Lugosi and Tsigler (2020) found out. Count the directions beyond the first $k$ in two ways:
#
# $$r_k = \frac{\sum_{i > k} \lambda_i}{\lambda_{k+1}}, \qquad R_k = \frac{\big(\sum_{i>k} \lambda_i\big)^2}{\sum_{i>k}\lambda_i^2},$$
#
# both are $m$ if the tail holds $m$ equal eigenvalues and else zeros. Let $k^*$ be the least $k$ with $r_k \ge n$. Up to constants, the noise costs
#
# $$\sigma^2\Big(\frac{k^*}{n} + \frac{n}{R_{k^*}}\Big) .$$
#
# Few strong directions for the signal, then very many weak ones that share out the noise. (Benign also asks for $r_0/n \to 0$.)


# %% exercise="noise_cost" points=3 difficulty=1 covers="wu:1.4.8"
def noise_cost(eigs, n):
    """What interpolating n rows of unit noise costs, up to constants: k*/n + n/R.

    eigs (d,), >= 0, in any order; λ_1 is the largest. n >= 1. k* is the least k with
    λ_{k+1} > 0 and r_k >= n.
    Returns (k*, cost). If there is no such k: (d, inf).
    eigs = [1, 8, 1, 1], n = 2 give (1, 1/2 + 2/3): the tail 1, 1, 1 has r = R = 3.
    """
    ### BEGIN SOLUTION
    eigs = np.sort(eigs)[::-1]
    for k in range(len(eigs)):
        tail = eigs[k:]
        if tail[0] > 0 and tail.sum() >= n * tail[0]:
            R = tail.sum() ** 2 / np.sum(tail**2)
            return k, k / n + n / R
    return len(eigs), np.inf
    ### END SOLUTION


# %% check="noise_cost"
check(noise_cost)

# %% covers="wu:1.4.8"
# Your cost of three spectra, and what interpolated noise costs.
with after(noise_cost, "more-points"):
    for name, spectrum in dd.SPECTRA.items():
        costs = [noise_cost(spectrum(n), n)[1] for n in (20, 40, 80)]
        told = ", ".join(f"{cost:.2f}" for cost in costs).replace("inf", "∞")
        print(f"{name} costs {told} for 20, 40, 80 rows")
    print()
    spline = [dd.spline_excess(n) for n in (20, 40, 80, 160)]
    claim(
        "the spline costs {s:.2f} σ², whatever n is",
        np.ptp(spline) < 0.01,
        s=spline[-1],
    )
    show(*dd.draw_benign())

# %% [markdown] covers="wu:1.4.8"
# The spline is *tempered*; a new noisy target is missed by $1.87\,\sigma^2$. And the fastest decay, which sounds like the
# simplest data, is the worst.
#
# **Three errors.** As $p$ grows at fixed $n$, *approximation* (the best spline with $p$ knots) falls on the whole,
# *optimisation* (how far the training error is above the least possible) is 0 for every $p$, as least squares is solved
# exactly. *Estimation*, what the noise costs, peaks, falls, and stays
# at $0.87\,\sigma^2$. **Early stopping** is the other brake: descent first learns the strong directions, and these vary slowly;
# along the data the $k$-th changes sign $k$ times.

# %% demo=true covers="wu:1.4.8 wu:1.4.5"
# What noise costs, what no spline follows; 1,000 knots stopped.
x, t = dd.grid(), np.linspace(0, 1, 401)
for p in (19, 50, 200):
    noise_share = np.mean(np.sum(dd.fit_operator(x, t, p) ** 2, axis=1))
    best = np.mean((dd.fit_operator(t, t, p) @ dd.sine(t) - dd.sine(t)) ** 2)
    claim(
        "p = {p}: noise costs {noise:.2g} σ², approximation {best:.0e}",
        (noise_share > 1e8) == (p == 19) and best < 1e-3,
        p=p, noise=noise_share, best=best,
    )  # fmt: skip
F = dd.hinges(x, 1000)
U = np.linalg.svd(F - F.mean(0))[0][:, :19]
turns = (np.diff(np.sign(U), axis=0) != 0).sum(0)
claim("direction k changes sign k times", np.array_equal(turns, np.arange(1, 20)))
stops = [100, 1000, 3000, 10_000, 100_000, None]
stopped = [dd.expected_errors([1000], 0.3, s)[1][0] for s in stops]
claim(
    "σ = 0.3: stopped after {at:,} steps {best:.3f} off, at the end {last:.3f}",
    0 < np.argmin(stopped) < 5 and min(stopped) < 0.8 * stopped[-1],
    at=stops[int(np.argmin(stopped))], best=min(stopped), last=stopped[-1],
)  # fmt: skip

# %% [markdown] covers="explainers:2.1.2.box-linearity"
# ## Deeper: is a relation linear?
#
# With many features nobody can look at each. There is no one test, but you can compare how much variance a line explains
# and how much a cubic *smoothing spline* does (squared errors plus a multiple of $\int f''^2$, chosen on
# held-out rows). On training rows the spline cannot lose: every line is a spline that does not bend. So hold rows out:
# five folds, 80 rows, noise of 0.4, and for the truth a line or a sine. ([[01/04]] did this with knots; here the spline
# is smoothed.)

# %% demo=true covers="explainers:2.1.2.box-linearity"
# The gap of the two R², for a line and for a sine.
rng = np.random.default_rng(0)
x, error = np.sort(rng.uniform(-1, 1, 80)), 0.4 * rng.normal(size=80)
for name, truth, low, high in (
    ("line", x, -0.01, 0.01),
    ("sine", np.sin(3 * x), 0.1, 1),
):
    own, held = dd.linearity_gap(x, truth + error)
    claim(
        "{name}: the gap is {own:.2f} on training rows, {held:.2f} held out",
        low < held < high and own > -1e-3,
        name=name, own=own, held=abs(held),
    )  # fmt: skip

# %% [markdown] covers="wu:1.4.9"
# ## Deeper: learned knots, and depth
#
# A trained network **moves its knots**: $\max(0, wx + u)$ bends at $-u/w$. Below, 12 knots on a flat truth with a tooth: fixed, and
# learned from there by Adam. (The price: the loss is no longer convex.) And it **composes**. One layer of $p$ units makes at
# most $p + 1$ pieces; the tent $\tau(x) = 2\max(0, x) - 4\max(0, x - \frac12)$ applied $L$ times makes $2^L$ with $2L$ units.
#
# With more weights than data and no loss left, one speaks of memorising and interpolating instead of under- and overfitting, and asks which norm is kept
# small instead of counting parameters. What remains is that new data decide.

# %% demo=true covers="wu:1.4.9"
# Twelve knots, held and learned; then six tents as a network.
x = np.linspace(0, 1, 101)
losses, knots = dd.train_knots(x, dd.tooth(x))
claim(
    "learning the knots leaves less than a tenth of the error",
    losses[-1] < losses[0] / 10,
)
show(*dd.draw_learned_knots(losses, knots), digits=0)
layer = torch.nn.Sequential(
    torch.nn.Linear(1, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1)
).double()
with torch.no_grad():
    layer[0].weight.fill_(1)
    layer[0].bias.copy_(torch.tensor([0, -0.5]))
    layer[2].weight.copy_(torch.tensor([[2.0, -4.0]]))
    layer[2].bias.fill_(0)
for L in (1, 3, 6):
    deep = torch.nn.Sequential(*[layer] * L)
    grid = torch.linspace(0, 1, 4097).double()[:, None]
    pieces = dd.count_pieces(deep(grid).detach().numpy()[:, 0])
    claim("L = {L}: τ makes {pieces} pieces", pieces == 2**L, L=L, pieces=pieces)

# %% [markdown] covers="wu:1.4.10"
# ## Deeper: interpolation is not understanding
#
# Outside the data the spline does speak: constant on the left, straight on with slope $\sum_j \beta_j$ on the right.
# Nothing justifies either. A *law* reaches further. A weight swings on a spring; we watch for one second. One fit is the thousand-knot
# spline. The other knows $\ddot x = -\omega^2 x$, and fits $\omega$ and two amplitudes. (Laws end, too: $F = ma$ fails near
# the speed of light, and real springs break.)

# %% demo=true covers="wu:1.4.10"
# What both say before and after the second that was watched.
x = dd.grid()
ends = dd.fit_operator(x, np.array([-2.0, -1.0, 2.0, 3.0, 4.0]), 1000) @ dd.sine(x)
claim("constant on the left", np.isclose(ends[0], ends[1]))
claim("straight on the right", np.isclose(ends[3] - ends[2], ends[4] - ends[3]))
show(*dd.draw_extrapolation())

# %% [markdown] covers="wu:1.4.10"
# **Epicycles.** Ptolemy drew planets by circles on circles: $r(t) = \sum_k c_k e^{i\omega_k t}$, with complex $c_k$ (radius and
# starting angle). If all $\omega_k$ are whole multiples of one frequency, this is a Fourier series, and with enough circles it draws *any* closed
# curve. So adding circles can never fail, and says nothing about planets. Newton's law has no such freedom; with it Gauss found Ceres again
# in 1801, from three of some twenty positions.
#
# Give me four parameters, von Neumann is said to have said, and I can fit an elephant. For points $z_j = x_j + iy_j$ at the times $j/m$ least squares gives
# $c_k = \frac1m \sum_j z_j e^{-2\pi i k j/m}$ as the weight of $e^{2\pi i k j/m}$.


# %% exercise="epicycle_fit" points=3 difficulty=1 covers="wu:1.4.10"
def epicycle_fit(points, N):
    """The closed curve of N circles nearest to the points, at the points' own times.

    points (m, 2): x and y. 1 <= N <= m. Frequencies: the first N of 0, 1, -1, 2, -2, …
    Returns (m, 2). N = 1 gives the mean point in each row, N = m the points themselves.
    points = [[1, 0], [0, 1], [-1, 0], [0, -1]] and N = 2 give the points: one circle.
    """
    ### BEGIN SOLUTION
    m, z = len(points), points[:, 0] + 1j * points[:, 1]
    curve = np.zeros(m, complex)
    for i in range(N):
        k = (i + 1) // 2
        if i % 2 == 0:
            k = -k
        turn = np.exp(2j * np.pi * k * np.arange(m) / m)
        curve += np.mean(z / turn) * turn
    return np.column_stack([curve.real, curve.imag])
    ### END SOLUTION


# %% check="epicycle_fit"
check(epicycle_fit)

# %% covers="wu:1.4.10"
# An elephant by circles. Press play. How many draw it exactly?
with after(epicycle_fit):
    outline = dd.elephant()
    sizes = [
        np.mean((np.asarray(epicycle_fit(outline, N)) - outline) ** 2)
        for N in range(1, 16)
    ]
    claim("one more circle never harms", np.all(np.diff(sizes) < 1e-9))
    explore(
        dd.epicycle_explorer(epicycle_fit),
        play="moment",
        N=IntSlider(5, min=1, max=15, description="circles N"),
        moment=IntSlider(10, min=0, max=99, description="moment"),
    )

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form
# fails, the right one holds, and a wrong one of the same shape fails too. *Too broad*: a condition is missing.

# %% demo=true covers="wu:1.4.1 wu:1.4.4 wu:1.4.6"
# wu, 1.4.1 to 1.4.6: knots, the start of descent, what is smooth.
erratum(
    "wu:1.4.1",
    quote=r"b_j = x_{\min} + j\Delta, \quad \Delta = \frac{x_{\max} - x_{\min}}{p+1}",
    corrected=r"left of $b_1$ it is flat; add the feature $x$ or a knot at $x_\min$",
    kind="convention",
)
X, y = np.column_stack([np.ones(4), dd.hinges(dd.grid(4), 12)]), dd.sine(dd.grid(4))
first = beta = np.random.default_rng(0).normal(size=13)
for _ in range(20_000):
    beta = beta + X.T @ (y - X @ beta) / np.linalg.norm(X, 2) ** 2
unseen = [v - np.linalg.pinv(X) @ (X @ v) for v in (beta, beta - first)]
erratum(
    "wu:1.4.4",
    quote=(
        r"Linear combination property:  $\hat{\boldsymbol{\beta}} = "
        r"\sum_{i=1}^{n} c_i \mathbf{x}_i$"
    ),
    corrected=r"$\hat\beta - \beta^{(0)}$ is: start at 0, or in the span of the rows",
    kind="broad",
    printed_holds=bool(np.abs(unseen[0]).max() < 1e-6),
    corrected_holds=bool(np.abs(unseen[1]).max() < 1e-6),
)
erratum(
    "wu:1.4.4",
    quote="travels the minimal distance from the initial point to a solution",
    corrected="its end is the solution nearest to the start; the path is longer",
    kind="convention",
)

from scipy.interpolate import CubicSpline

x = dd.grid()
flat, natural = (
    dd.clamped_spline(x, dd.sine(x)),
    CubicSpline(x, dd.sine(x), bc_type="natural"),
)
bends = [dd.bending(x, s(x, 2)) for s in (flat, natural)]
erratum(
    "wu:1.4.6",
    quote="Gradient descent selects smoothest interpolant",
    corrected=(
        r"the least $\sum\beta_j^2$; as $p\to\infty$ the least $\int f''^2$ of those "
        r"with $f'(x_\min) = 0$"
    ),
    kind="broad",
    printed_holds=bool(bends[0] <= bends[1]),
    corrected_holds=bool(abs(dd.bending_of(x, dd.sine(x), 4000) / bends[0] - 1) < 0.01),
)

# %% demo=true covers="explainers:2.5.3"
# explainers, 2.5.3: which degree interpolates, what SGD adds.
nodes = np.cos(np.pi * (np.arange(20) + 0.5) / 20)
bumpy = np.random.default_rng(0).normal(size=20)
fits = {d: np.polynomial.Chebyshev.fit(nodes, bumpy, d) for d in (18, 19)}
left = {d: np.mean((fit(nodes) - bumpy) ** 2) for d, fit in fits.items()}
first_met = min(d for d in left if left[d] < 1e-12)
erratum(
    "explainers:2.5.3",
    quote="until the polynomial's degree matches the number of training samples",
    corrected="until it is one less: degree $n - 1$ has $n$ coefficients",
    kind="error",
    printed_holds=first_met == 20,
    corrected_holds=first_met == 19,
    decoy_holds=first_met == 18,
)
X, y, beta = np.random.default_rng(1).normal(size=(4, 9)), np.ones(4), np.zeros(9)
for step in range(20_000):  # one row at a time: SGD
    i = step % 4
    beta = beta + 0.05 * (y[i] - X[i] @ beta) * X[i]
least = np.linalg.pinv(X) @ y
held = X.T @ np.linalg.solve(X @ X.T + 0.1 * np.eye(4), y)
erratum(
    "explainers:2.5.3",
    quote="the use of explicit regularisation, like SGD and Adam",
    corrected="implicit: the loss has no penalty, the path finds the least norm",
    kind="error",
    printed_holds=bool(np.allclose(beta, held, atol=1e-6)),  # a penalty in the loss
    corrected_holds=bool(np.allclose(beta, least, atol=1e-6)),
    decoy_holds=bool(np.allclose(beta, 0 * least, atol=1e-6)),  # the penalty alone
)

# %% demo=true covers="wu:1.4.7"
# wu, section 1.4.7: the curve before, at and after the threshold.
off = dd.expected_errors([1, 6, 17], 0.3)[1]
falls, rises = bool(off[1] < off[0]), bool(off[2] > off[1])
erratum(
    "wu:1.4.7",
    quote="Training and test errors decrease with p",
    corrected="the test error falls, then rises, as in the notes' Figure 1.9",
    kind="error",
    printed_holds=falls and not rises,
    corrected_holds=falls and rises,
    decoy_holds=rises and not falls,
)
samples = [np.sort(np.random.default_rng(seed).random(20)) for seed in range(20)]
fitted = np.array(
    [
        [
            np.mean((dd.fit_operator(u, u, p) @ dd.sine(u) - dd.sine(u)) ** 2)
            for p in (2, 3, 7, 15)
        ]
        for u in samples
    ]
)
erratum(
    "wu:1.4.7",
    quote=(
        "The training error monotonically decreases to zero at the interpolation "
        "threshold."
    ),
    corrected="for nested knots, as 3, 7, 15; equally spaced, 2 and 3 share none",
    kind="broad",
    printed_holds=bool((fitted[:, 1] <= fitted[:, 0]).all()),
    corrected_holds=bool((np.diff(fitted[:, 1:], axis=1) <= 1e-12).all()),
)
ends = {}
for sigma in (0.1, 0.3):
    off = dd.expected_errors([*range(1, 18), 1000], sigma)[1]
    ends[sigma] = off[-1] < off[:-1].min()
erratum(
    "wu:1.4.7",
    quote="eventually achieving lower error than the classical minimum",
    corrected="with little noise: here at σ = 0.1, but not at σ = 0.3",
    kind="broad",
    printed_holds=bool(ends[0.3]),
    corrected_holds=bool(ends[0.1]),
)
shares = dd.shares_possible([20, 100])
erratum(
    "wu:1.4.7",
    quote="Zero training loss becomes possible",
    corrected="on a grid; most random samples of 20 inputs need several times 20 knots",
    kind="broad",
    printed_holds=shares[0] > 0.5,
    corrected_holds=dd.independent(dd.grid(), 20) and shares[0] < 0.2 < 0.5 < shares[1],
)
erratum(
    "wu:1.4.7",
    quote=(
        r"\min\{\|\tilde{\boldsymbol{\beta}}\|^{2} : "
        r"y_{i} = s(x_{i}) \text{ for all } i\}"
    ),
    corrected=r"$s$ built from $\tilde\beta$; in (1.31) $x_i \ne b_j$ for all $j$",
    kind="convention",
)

# %% demo=true covers="wu:1.4.8 wu:1.4.10"
# wu, 1.4.8 and 1.4.10: benign overfitting, and beyond the data.
root = np.sqrt([dd.spline_excess(n) for n in (20, 160)])
rate = np.sqrt(np.log(160) / 160) / np.sqrt(np.log(20) / 20)
erratum(
    "wu:1.4.8",
    quote=(
        r"Test error approaches optimal rate:  "
        r"$||s s^*||_{L^2} = O(\sigma \sqrt{\log n/n})$"
    ),
    corrected=r"a spline through noise stays at about $0.93\,\sigma$ for every $n$",
    kind="broad",
    printed_holds=bool(root[1] < 1.5 * rate * root[0]),
    corrected_holds=bool(np.ptp(root) < 0.01),
)
noisy = {
    "fast": [
        dd.gaussian_excess(dd.SPECTRA["λ = exp(−i/20)"](n), n, 5) for n in (20, 80)
    ],
    "spiked": [dd.gaussian_excess(dd.spiked(n), n, 5) for n in (20, 80)],
    "flat": [dd.gaussian_excess(np.ones(2 * n), n, 5) for n in (20, 80)],
}
falls = {name: bool(two[1] < two[0] / 2) for name, two in noisy.items()}
erratum(
    "wu:1.4.8",
    quote="Rapidly decaying eigenspectrum of feature covariance",
    corrected="a few large eigenvalues, then a long tail that hardly decays",
    kind="error",
    printed_holds=falls["fast"],
    corrected_holds=falls["spiked"],
    decoy_holds=falls["flat"],  # no decay, and no long tail either
)
jagged = np.random.default_rng(0).normal(size=20)
pairs = ((dd.sine(dd.grid()), 100), (jagged, 25_600))  # smooth, few knots; wild, many
bends = [dd.bending_of(dd.grid(), y, p) for y, p in pairs]
norms = [np.sqrt(bend / (p + 1)) for bend, (_, p) in zip(bends, pairs)]
erratum(
    "wu:1.4.8",
    quote=r"Solution maintains smoothness:  $\|\boldsymbol{\beta}\|_2 = O(1)$",
    corrected=(
        r"$\lVert\beta\rVert^2 \approx \Delta\int f''^2 \to 0$ for any data; "
        r"$\lVert\beta\rVert^2/\Delta$ tells"
    ),
    kind="broad",
    printed_holds=bool(norms[0] < norms[1]),  # that the smooth one has the smaller norm
    corrected_holds=bool(bends[0] < bends[1]),
)
erratum(
    "wu:1.4.10",
    quote=(
        r"r(t) = \sum_{n=1}^{N} R_n e^{i\omega_n t} "
        r"\quad \text{(Fourier decomposition)}"
    ),
    corrected=r"a Fourier series if $\omega_n = n\omega_0$, with complex $R_n$",
    kind="convention",
)
erratum(
    "wu:1.4.10",
    quote="Cannot predict beyond training range",
    corrected=r"it does, left constant, right of slope $\sum\beta_j$; without reason",
    kind="convention",
)

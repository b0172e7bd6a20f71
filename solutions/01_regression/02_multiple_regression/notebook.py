# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="least squares that keeps its digits, the hat matrix, the pseudo-inverse, and a verdict on four programs of 1967"
# # Multiple regression and the pseudo-inverse
#
# In 1967 James Longley gave one small table to the regression programs of his day: sixteen years, six numbers about
# each (prices, GNP, population …), and how many Americans were at work. It is the simplest task of statistics, one
# weight for each number. The programs disagreed in the first digit.
#
# Below, the table goes through four programs that carry seven digits. On paper all four do the same. They fit
# the sixteen years equally well. But does one point more on the price index cost 60,000 jobs, or bring 14,000? *Which
# answer would you publish?*
#
# At the end you decide, with a program of your own. One warning: the answer is not the most accurate one.

# %%
# What this notebook needs.
import functools

import numpy as np
import torch
from ipywidgets import FloatLogSlider, FloatSlider

from descent import after, below, check, claim, data, erratum, explore
from descent import hint, predict, show, solution, start
from descent.pictures.regression import multiple_regression as mr

slider = functools.partial(FloatSlider, continuous_update=False)
start("01_regression/02_multiple_regression")

# %% covers="wu:1.3.6"
# Longley's table through four programs of seven digits.
show(*mr.draw_programs())

# %% [markdown] covers="wu:1.3 wu:1.3.1 wu:1.3.2 wu:1.3.3"
# ## 1. From a table to a matrix
#
# A friendlier table first. How tall will a child be? Let $x_{i1}$ be the father's height, $x_{i2}$ the mother's (in
# cm), $x_{i3}$ the sex of child $i$: 0 female, 1 male. The **score**
#
# $$s_i = \beta_0 + x_{i1}\beta_1 + x_{i2}\beta_2 + x_{i3}\beta_3$$
#
# has an *intercept* $\beta_0$ without a feature. Give it one: let every row begin with a 1. Then
# $s_i = \mathbf x_i^\top\beta$, and all $n$ scores are $X\beta$: the $\mathbf x_i^\top$ are the rows of the **design matrix** $X$.
#
# Words need numbers. For three, would 0, 1, 2 do? That puts the third twice as far from the first as the
# second. Give each word a column, except one, whose rows the intercept speaks for.
#
# Stuck? `hint(design_matrix)`, up to three times; so for every exercise.


# %% exercise="design_matrix" points=3 difficulty=1 covers="wu:1.3.1 wu:1.3.3 explainers:2.1"
def design_matrix(features):
    """The design matrix of n rows: a column of ones, then each feature in its order.

    features: a list, at least one long. Each is an array of n numbers, or a list of n
    words (str). Numbers stay as they are, in one column. Words become one column of 0
    and 1 for each word that occurs in the list, in alphabetical order, without the
    first in the alphabet. Returns (n, d).
    design_matrix([np.array([180.0, 170.0]), ["male", "female"]]) gives
    [[1, 180, 1], [1, 170, 0]].
    """
    ### BEGIN SOLUTION
    columns = [np.ones(len(features[0]))]
    for feature in features:
        if isinstance(feature, list):
            words = sorted(set(feature))
            for word in words[1:]:
                has = np.array(feature) == word
                columns.append(has.astype(float))
        else:
            columns.append(feature)
    return np.column_stack(columns)
    ### END SOLUTION


# %% check="design_matrix"
check(design_matrix)

# %% covers="wu:1.3 wu:1.3.2 wu:1.3.3"
# 200 simulated families: one feature, and three.
with after(design_matrix):
    father, mother, sex, child = mr.families(200)
    X = np.array(design_matrix([father, mother, sex]))
    fit = np.linalg.lstsq(X, child)[0]
    print("weights: 1, father, mother, male:", np.round(fit, 2))
    apart = fit[0] + X[:, 1:] @ fit[1:]
    claim("intercept apart: the same scores", np.allclose(apart, X @ fit))
    sister, brother = np.array([1, 180, 165, 0]), np.array([1, 180, 165, 1])
    gap = (brother - sister) @ fit
    same = np.isclose(gap, fit[3])
    claim("from sister to brother {gap:.1f} cm, the weight of male", same, gap=gap)
    show(*mr.draw_heights(X, child))

# %% predict="one-and-two" minutes=1
predict(
    "one-and-two",
    "Somebody codes female as 1 and male as 2 instead of 0 and 1, and fits again. "
    "Which weights change?",
    ["none", "the weight of male only", "the intercept only", "all"],
    truth=[[], [3], [0], [0, 1, 2, 3]].index(mr.moved_weights([0, 0, 0, 1])),
    because="The new column is the old one plus the column of ones. The intercept "
    "drops by β₃, scores stay the same, and β₃ is the gap between brother and sister "
    "as before.",
)

# %% [markdown] covers="wu:1.3.4 wu:1.3.6 explainers:2.1.a moon:5.1 cs480:3-normal"
# ## 2. Downhill, with all weights at once
#
# Let $X$ be any $n \times d$ matrix, $y$ the targets, $e = y - X\beta$ the errors, and
#
# $$L(\beta) = \tfrac12\lVert y - X\beta\rVert^2 .$$
#
# (Others drop the ½, or divide by $n$: the *mean squared error*. The best weights are the same.) Raise $\beta_k$ a
# little: $e_i$ falls by $x_{ik}$ times as much. So $\partial L/\partial\beta_k = -\sum_i e_i x_{ik}$, an inner product
# of the errors with column $k$, and all $d$ of them at once are
#
# $$\nabla L(\beta) = -X^\top(y - X\beta) .$$
#
# With one weight, descent was quick. Try it with seven.


# %% exercise="gd_mlr" points=2 difficulty=1 covers="wu:1.3.4 wu:1.3.6 explainers:2.1.a cs480:3-normal"
def gd_mlr(X, y, beta, eta, steps):
    """All iterates of gradient descent on L(beta), half the sum of (y - X beta)².

    X (n, d), y (n,). beta (d,): the start, left unchanged. eta > 0: the step size.
    Returns the path (steps + 1, d); path[0] is the start.
    X = [[2], [1]], y = [3, 0], beta = [1], eta = 0.5, steps = 1 give [[1], [1.5]].
    """
    ### BEGIN SOLUTION
    path = [beta]
    for _ in range(steps):
        e = y - X @ path[-1]
        path.append(path[-1] + eta * X.T @ e)
    return np.array(path)
    ### END SOLUTION


# %% check="gd_mlr"
check(gd_mlr)

# %% covers="wu:1.3.4 wu:1.3.6 explainers:2.1.a moon:5.1 cs480:3-normal"
# The gradient in three other ways; then Longley's table, in standard deviations.
with after(gd_mlr):
    rng = np.random.default_rng(1)
    A, t, b = rng.normal(size=(7, 3)), rng.normal(size=7), rng.normal(size=3)
    grad = gd_mlr(A, t, b, 1.0, 1)[0] - gd_mlr(A, t, b, 1.0, 1)[1]

    def half(b):
        return np.sum((t - A @ b) ** 2) / 2

    central = [(half(b + s) - half(b - s)) / 2e-5 for s in 1e-5 * np.eye(3)]
    claim("your step follows central differences", np.allclose(grad, central))
    v = torch.tensor(b, requires_grad=True)
    ((torch.tensor(t) - torch.tensor(A) @ v) ** 2 / 2).sum().backward()
    claim("and torch's derivative", np.allclose(grad, v.grad))
    parts = t @ t - b @ A.T @ t - t @ A @ b + b @ A.T @ A @ b
    claim("yᵀy − βᵀXᵀy − yᵀXβ + βᵀXᵀXβ is 2L", np.isclose(parts, 2 * half(b)))
    table, work = mr.longley()
    scale = np.append(1, table[:, 1:].std(axis=0))
    Z = (table - np.append(0, table[:, 1:].mean(axis=0))) / scale
    eta = 1 / np.linalg.norm(Z, 2) ** 2
    path = np.array(gd_mlr(Z, work, np.zeros(7), eta, 100_000)) / scale
    print(f"λmax / λmin = {np.linalg.cond(Z) ** 2:,.0f}")
    for k in (100, 1000, 10_000, 100_000):
        print(f"after {k:>6} steps the weight of prices is {path[k, 1]:6.1f}")

# %% [markdown] covers="wu:1.3.4 wu:1.3.6 moon:5.1 explainers:2.1.a cs480:3-normal"
# First plus, then minus, then plus again. The Hessian $X^\top X$ is the same everywhere, and $v^\top X^\top Xv =
# \lVert Xv\rVert^2 \ge 0$: $L$ is convex. Along an eigenvector with eigenvalue $\lambda$ a step multiplies the distance
# by $1 - \eta\lambda$. So $\eta < 2/\lambda_{\max}$. With $\eta = 1/\lambda_{\max}$ the flattest direction then needs
# about $\lambda_{\max}/\lambda_{\min}$ steps each time its distance is to fall to a third. For Longley: 12,000.
#
# So jump to the end: where $L$ is least, the gradient is 0.
#
# $$X^\top(y - X\hat\beta) = 0, \qquad\text{or}\qquad X^\top X\,\hat\beta = X^\top y .$$
#
# These are the **normal equations**. If the columns are independent, $X^\top X = \sum_i \mathbf x_i\mathbf x_i^\top$ has
# an inverse: $\hat\beta = (X^\top X)^{-1}X^\top y$. That is what the four programs solved.

# %% [markdown] covers="wu:1.3.5 cs480:3-geom cs480:3"
# ## 3. A shadow
#
# What do they *say*, these equations? Turn the table on its side: $y$ is *one* point of $\mathbb R^n$, each column of $X$
# an arrow. All $X\beta$ together fill the **column space**, with two columns a plane. Least squares looks for the point of
# the plane that is nearest to $y$.
#
# Three rows, two columns. Drag the point on the map of the weights.
#
# 1. Where is the residual shortest? What do its inner products with the columns do on the way?
# 2. Move along one contour. What stays the same among the arrows?

# %% covers="wu:1.3.5 cs480:3-geom cs480:3 moon:5.1"
# Drag the weights: when is Xβ nearest to y?
plane = np.array([[1.0, 0.3], [1.0, 1.2], [1.0, -0.4]])
explore(
    mr.projection_explorer(plane, np.array([0.63, 2.115, 1.405])),
    drag={("b1", "b2"): "weights"},
    b1=slider(0.4, min=-0.5, max=2, step=0.05, description="β₁"),
    b2=slider(1.0, min=-0.5, max=2, step=0.05, description="β₂"),
)

# %% [markdown] covers="wu:1.3.5 cs480:3-geom"
# The residual stands at a right angle to every column: the normal equations. So $\hat y = Hy$ is the shadow of $y$,
# and the **hat matrix** $H$ (it puts the hat on $y$) casts it. If the columns are independent, $H = X(X^\top X)^{-1}X^\top$.
#
# But a shadow needs no inverse: it exists even if two columns are equal. Take $X = U\,\mathrm{diag}(s)\,V^\top$, its
# singular value decomposition. The columns of $U$ whose $s_j$ is not 0 are orthonormal and span the column space. What
# casts the shadow on *them*?


# %% exercise="hat_matrix" points=2 difficulty=1 covers="wu:1.3.5 cs480:3-geom"
def hat_matrix(X):
    """The orthogonal projection onto the span of the columns of X, of any rank.

    X (n, d) of any shape, not all zero. Singular values up to 1e-10 times the largest
    count as 0. Returns (n, n).
    X = [[1], [1]] gives [[0.5, 0.5], [0.5, 0.5]]: everybody gets the mean.
    """
    ### BEGIN SOLUTION
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    U = U[:, s > 1e-10 * s[0]]
    return U @ U.T
    ### END SOLUTION


# %% check="hat_matrix"
check(hat_matrix)

# %% [markdown] covers="wu:1.3.5 cs480:3-geom"
# The entry $h_{ii}$ of $H$ is called the **leverage** of row $i$: raise its target by 1, and its own fit rises by
# $h_{ii}$. At 1 the fit goes wherever this row says. Which rows have it? Drag one year, 1954, through the plane of two of
# Longley's features.
#
# 1. Move it along the cloud, far out. Then across, by much less.
# 2. Put it at a GNP of 500 and a population of 114: both numbers are ordinary. Is the pair?
# 3. What has happened to the two weights?

# %% covers="wu:1.3.5 cs480:3-geom"
# What holds of your projection; then drag a year to where it has leverage.
with after(gd_mlr, hat_matrix):
    H = np.array(hat_matrix(Z))
    claim("H = Hᵀ = H²", np.allclose(H, H.T) and np.allclose(H @ H, H))
    claim("HX = X, trace = rank = {r:.0f}", np.allclose(H @ Z, Z), r=np.trace(H))
    shadow, e = H @ work, work - H @ work
    upright = np.allclose(Z.T @ e, 0, atol=1e-6)
    claim("the residual is at right angles to all columns", upright)
    claim("‖y‖² = ‖ŷ‖² + ‖e‖²", np.isclose(work @ work, shadow @ shadow + e @ e))
    explore(
        mr.leverage_explorer(hat_matrix),
        drag={("gnp", "population"): "plane"},
        gnp=slider(363, min=200, max=600, step=1, description="GNP"),
        population=slider(116, min=105, max=133, step=0.5, description="population"),
    )

# %% [markdown] covers="cs480:3-unstable wu:1.3.6"
# ## 4. Where do the digits go?
#
# Longley's columns all grow with the years; they are nearly dependent. The smallest such table has two rows: at $x = 0$ the
# target is $1$, at $x = \varepsilon$ it is $-1$. The line through both has the weights $(-2/\varepsilon,\ 1)$. Drag
# $\varepsilon$ to the left. What does a small error in one target do?
#
# The solution exists and is unique for every $\varepsilon \ne 0$, but it is touchy. How touchy tells the
# **condition number** $\kappa(X)$, the largest singular value over the smallest: a relative error of the data can come out
# $\kappa$ times as large, where the fit is exact (section 5 says what a long residual adds). No algorithm mends that. But an algorithm can make it worse.

# %% covers="cs480:3-unstable"
# Drag ε: the nearer the inputs, the wilder the line.
explore(
    mr.draw_two_rows,
    drag={"eps": "near"},
    eps=FloatLogSlider(
        0.3, min=-3, max=0, step=0.05, description="ε", continuous_update=False
    ),
)

# %% predict="squared" minutes=1
predict(
    "squared",
    "A table of κ(X) = 100,000, whose targets fit exactly, goes through the normal "
    "equations. The program carries 16 digits. How many digits of a weight are right?",
    ["about 2", "about 7", "about 11", "about 15"],
    truth=int(np.digitize(mr.right_digits(1e5), [4.5, 9, 13])),
    because="XᵀX has the squares of X's singular values: κ is squared, and about ten "
    "digits are at stake, not five. Longley's table as printed, with the year as 1947, "
    "has a κ of billions. Seven digits do not reach so far.",
)

# %% [markdown] covers="wu:1.3.6 cs480:3-normal cs480:3 cs480:prob3.1"
# So do not form $X^\top X$. **Take the columns one by one** (Gram and Schmidt):
#
# - from column $j$ take, for each earlier $q_i$ in turn, its share $R_{ij} = q_i^\top(\text{what is left})$ times $q_i$;
# - of what is left, the length is $R_{jj}$, the direction $q_j$.
#
# The $q_j$ are perpendicular, and column $j$ is $\sum_{i\le j} R_{ij}\,q_i$: $X = QR$, $R$ triangular. Treat
# $y$ as one more column: its shares $z_j$ are taken off one after the other, each as soon as its $q_j$ is known. The best fit has
# $R\beta = z$: solve from the last weight up.
#
# If next to nothing is left of a column, it depends on earlier ones. Leave it out: weight 0, and tell which you used. Several targets
# can share one $X$.


# %% exercise="ols" points=6 difficulty=1 covers="wu:1.3.6 moon:5.1 cs480:3-normal cs480:3 cs480:prob3.1 explainers:2.1.a"
def ols(X, Y):
    """Least squares weights without XᵀX, and the columns that they use.

    X (n, d), used as it is: no column is added. Y (n,) is one target, Y (n, t) are t
    targets, each fitted on its own. A column of which at most 1e-10 of its length is
    left, after the earlier ones, is left out: weight 0.
    Returns weights (d,) or (d, t), and the list of the numbers of the columns used.
    X = [[1, 2, 0], [1, 2, 1], [1, 2, 2]], Y = [1, 3, 5] give [1, 0, 2] and [0, 2].
    """
    ### BEGIN SOLUTION
    d = X.shape[1]
    R, q, z, used = np.zeros((d, d)), {}, {}, []
    rest = Y
    for j in range(d):
        left = X[:, j]
        for i in used:
            R[i, j] = q[i] @ left
            left = left - R[i, j] * q[i]
        R[j, j] = np.linalg.norm(left)
        if R[j, j] <= 1e-10 * np.linalg.norm(X[:, j]):
            continue
        q[j] = left / R[j, j]
        z[j] = q[j] @ rest
        rest = rest - np.multiply.outer(q[j], z[j])
        used.append(j)
    weights = np.zeros((d, *Y.shape[1:]))
    for j in reversed(used):
        weights[j] = (z[j] - R[j] @ weights) / R[j, j]  # weights[j] is still 0
    return weights, used
    ### END SOLUTION


# %% check="ols"
check(ols)

# %% covers="wu:1.3.6 moon:5.1 cs480:3-normal cs480:3-unstable"
# Four roads on easy data; then problems of known answer, ever closer to dependence.
with after(ols, gd_mlr, "squared"):
    one, two, raw = mr.longley_kappas()
    claim("κ(X) = {k:.0f}, κ(XᵀX) = κ²", np.isclose(two, one**2, rtol=1e-6), k=one)
    claim("of the table as printed, κ is {k:.1f} billion", raw > 1e9, k=raw / 1e9)
    rng = np.random.default_rng(0)
    x = rng.normal(size=50)
    A, t = np.c_[x, np.ones(50)], 3.4 * x + 0.9 + 0.3 * rng.normal(size=50)
    b = np.array(ols(A, t)[0])
    roads = [np.linalg.inv(A.T @ A) @ A.T @ t, np.linalg.lstsq(A, t)[0]]
    roads.append(np.linalg.solve(sum(np.outer(r, r) for r in A), A.T @ t))
    roads.append(gd_mlr(A, t, np.zeros(2), 0.01, 2000)[-1])
    same = all(np.allclose(b, other) for other in roads)
    claim("3.4 x + 0.9, noise 0.3: {b[0]:.2f} x + {b[1]:.2f}, by five roads", same, b=b)
    near = np.array([[0, 1], [1e-3, 1]]), np.array([1, -1])
    exact = np.allclose(ols(*near)[0], [-2000, 1])
    claim("ε = 0.001: your weights are −2/ε and 1", exact)
    show(*mr.draw_digits(lambda X, y, ols=ols: np.array(ols(X, y)[0])), digits=0)

# %% [markdown] covers="moon:5.2 wu:1.3.6"
# ## 5. What if the columns *are* dependent?
#
# (First, the second panel above: where the residual is long, the problem itself is as touchy as $\kappa^2$, and no road
# avoids it.)
#
# If columns are dependent, infinitely many weights give the one shadow: with $\beta$ also $\beta + v$, for every $v$ with $Xv = 0$. A column for
# *each* sex does it, and so does every **fat** table, more columns than rows. You left a column out. Fairer is to take, of
# all minimisers, the shortest; there is exactly one, $\hat\beta = X^+y$, with the **pseudo-inverse** $X^+$.
#
# Write $X = \sum_j s_j\,u_jv_j^\top$ over the $s_j > 0$. To fit $y$, $\beta$ must have the amount $(u_j^\top y)/s_j$
# along $v_j$. What should it have in all other directions?


# %% exercise="min_norm" points=3 difficulty=1 covers="moon:5.2"
def min_norm(X, y):
    """The shortest of all beta that minimise the length of y - X beta.

    X (n, d), of any shape and rank; y (n,). Singular values up to 1e-10 times the
    largest count as 0; where all are 0, so is beta. Returns (d,).
    X = [[1, 1]] and y = [2] give [1, 1]; (2, 0) fits as well, but is longer.
    """
    ### BEGIN SOLUTION
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    kept = s > 1e-10 * s[0]
    amounts = U[:, kept].T @ y / s[kept]
    return Vt[kept].T @ amounts
    ### END SOLUTION


# %% check="min_norm"
check(min_norm)

# %% predict="from-zero" minutes=1
predict(
    "from-zero",
    "X is fat, so many β fit exactly. Gradient descent starts at 0. Which does it "
    "reach?",
    ["one that depends on the step size", "the shortest", "the one that ols gives"],
    truth=[False, True].index(mr.ends_at_the_shortest(np.zeros(3))),
    because="Every gradient is a combination of the rows of X, so the path never "
    "leaves their span. There, only the shortest solution fits.",
)

# %% covers="moon:5.2 wu:1.3.6"
# Where descent ends; a formula for independent rows; one column too many.
with after(min_norm, gd_mlr, ols, design_matrix, "from-zero"):
    rng = np.random.default_rng(6)
    A, t = rng.normal(size=(3, 6)), rng.normal(size=3)
    best, step = np.array(min_norm(A, t)), 1 / np.linalg.norm(A, 2) ** 2
    ends = [gd_mlr(A, t, b, step, 3000)[-1] for b in (np.zeros(6), np.ones(6))]
    claim("from 0, descent ends at the shortest", np.allclose(ends[0], best, atol=1e-6))
    flat = np.eye(6) - np.linalg.pinv(A) @ A
    kept = np.allclose(ends[1], best + flat @ np.ones(6), atol=1e-6)
    claim("from elsewhere it keeps the part that X does not see", kept)
    G = A @ A.T  # the Gram matrix
    mu = -2 * np.linalg.solve(G, t)
    claim("β = Xᵀ(XXᵀ)⁻¹y", np.allclose(best, A.T @ np.linalg.solve(G, t)))
    claim(
        "2β + Xᵀμ = 0 for some μ: Lagrange's condition for the shortest β with Xβ = y",
        np.allclose(2 * best + A.T @ mu, 0),
    )
    X = np.array(design_matrix([father, mother, sex]))
    both = np.c_[X, 1 - X[:, 3]]  # a column for each sex
    b, used = ols(both, child)
    short = np.array(min_norm(both, child))
    same = np.allclose(both @ b, both @ short)
    r = len(used)
    claim("rank {r} of 5: two sets of weights, one fit", same and r == 4, r=r)
    print("ols     ", np.round(b, 1), "\nshortest", np.round(short, 1))
    show(*mr.draw_solution_set(min_norm, gd_mlr))

# %% [markdown] covers="wu:1.3.6 cs480:3-unstable"
# ## 6. Which would you publish?
#
# Now Longley's table, raw, through your own program. The American bureau of standards has since computed its weights to
# 15 digits: how many of yours are right? Which of the four programs comes nearest, and why? (Which counts something from 1900?)
#
# Then ask what the table can bear.
#
# - One year has the highest leverage. What is left of the weight of prices without it?
# - Every number is rounded to its last digit (and "1947" stands for a whole year). Make 1,000 tables that would have been
#   printed just like this one, and fit each. Where among their weights is the one of 15 digits?

# %% covers="wu:1.3.6 cs480:3-unstable wu:1.3.5"
# The answer to the question of the first screen.
with after(gd_mlr, ols, hat_matrix):
    X, y = mr.longley()
    weights = np.array(ols(X, y)[0])
    off = np.max(np.abs(weights / mr.CERTIFIED - 1))
    claim("your weights err by {off}, relatively", off < 1e-9, off=below(1e-9))
    for name, answer in {**mr.programs(), "yours": weights}.items():
        print(f"{name:<20} prices {answer[1]:6.1f}, year {answer[6]:7.1f}")
    pull = np.diag(hat_matrix(Z))
    far = int(np.argmax(pull))
    without = ols(np.delete(X, far, 0), np.delete(y, far))[0]
    print(f"leverage of {X[far, 6]:.0f}: {pull[far]:.2f}")
    print(f"prices without that year: {without[1]:.1f}")
    rng, tables = np.random.default_rng(0), []
    for _ in range(1000):
        tables.append(ols(X + mr.HALF_DIGIT * rng.uniform(-1, 1, X.shape), y)[0])
    prices = np.array(tables)[:, 1]
    share = np.mean(prices > 0)
    some = 0.2 < share < 0.8
    claim("prices bring jobs in {share:.0%} of the tables", some, share=share)
    misses = y - np.array(tables) @ X.T
    worst = 1 - np.max(np.sum(misses**2, axis=1)) / np.sum((y - y.mean()) ** 2)
    claim("and every fit has an R² above {low}", worst > 0.96, low=0.96)
    show(*mr.draw_rounded(prices, weights[1]))

# %% [markdown] covers="wu:1.3.6 moon:5.2 cs480:3-unstable"
# ## Take-aways
#
# Publish none of the weights. Yours are right to nine digits, and the table does not hold one: what it rounds
# away moves them as far as the programs' errors did (Beaton, Rubin and Barone saw that in 1976). What all
# agree on is the *fit*. The shadow is firm, the weights that name it are not.
#
# - A column of ones turns an affine score into an inner product; a 0/1 column is a gap.
# - Least squares is a projection: $X^\top(y - X\hat\beta) = 0$. Unusual pairs have leverage.
# - Independent columns, however near to dependence: unique weights. $\kappa(X)$ says how touchy; $X^\top X$ squares it.
# - Else $X^+y$ is the shortest, and descent from 0 finds it.
#
# [[next]] tames touchy weights. Below: several targets, unequal rows, bad rows, the bill.

# %% [markdown] covers="wu:1.3.2 explainers:2.1"
# ## Deeper: two parallel planes
#
# Over the plane of (father, mother) the scores of all daughters form one plane, those of all sons another. What is
# $\beta_3$ in this picture? Set the sliders so that the error falls below 5.2 cm. (*Base* is the score of a daughter whose
# parents are 176 and 163 cm tall; the sticks are the residuals.) Which slider helps most? What does the mean
# residual say when the base is wrong?

# %% covers="wu:1.3.2 explainers:2.1 cs480:3"
# Fit two planes to 40 families by hand.
explore(
    mr.planes_explorer(*mr.families(40, seed=1)),
    base=slider(170, min=150, max=180, step=1, description="base (cm)"),
    b_father=slider(0, min=-0.5, max=1, step=0.05, description="β₁ father"),
    b_mother=slider(0, min=-0.5, max=1, step=0.05, description="β₂ mother"),
    b_son=slider(0, min=-5, max=20, step=1, description="β₃ male (cm)"),
)

# %% [markdown] covers="explainers:2.1 explainers:2.1.a"
# Is the fit good for anything but its own rows? Split the rows in two halves, learn on one and be
# judged on the other. And is there really only one bottom? $L$ is convex: it lies below each of its chords.

# %% covers="explainers:2.1 explainers:2.1.a"
# Diabetes: 442 patients, ten features; 200 halves. Then 1,000 chords of the loss.
with after(ols):
    patients = data.diabetes()
    A, t = np.c_[np.ones(442), patients.X * 442**0.5], patients.y
    rng, errors = np.random.default_rng(10), []
    for _ in range(200):
        train, test = np.split(rng.permutation(442), 2)
        b = ols(A[train], t[train])[0]
        errors.append([np.mean((t[r] - A[r] @ b) ** 2) ** 0.5 for r in (train, test)])
    own, new = np.mean(errors, axis=0)
    claim(
        "error on own rows {own:.0f}, on new ones {new:.0f}",
        own < new,
        own=own,
        new=new,
    )

    def mse(b):
        return np.mean((t - A @ b) ** 2)

    chords = [
        (mse(u * b + (1 - u) * c), u * mse(b) + (1 - u) * mse(c))
        for u in rng.uniform(size=1000)
        for b, c in [rng.normal(0, 50, (2, 11))]
    ]
    under = all(low <= high + 1e-6 for low, high in chords)
    claim("the mean squared error is below {n} chords", under, n=len(chords))

# %% [markdown] covers="cs480:3 cs480:prob3.1 cs480:3-normal explainers:2.1.box-linear"
# ## Deeper: several targets, and what "linear" means
#
# From pairs $(\mathbf x_i, \mathbf y_i) \in \mathbb R^{d+t}$ find $f$ with $f(\mathbf x_i) \approx \mathbf y_i$. Through
# finitely many points pass infinitely many functions, so impose a structure. Many write samples as *columns*
# (under each a 1), and $W$ is $t \times (d+1)$:
#
# $$\mathrm{Loss}(W) = \tfrac1n\lVert WX - Y\rVert_F^2, \quad \nabla = \tfrac2n (WX - Y)X^\top, \quad W = YX^\top(XX^\top)^{-1}.$$
#
# The squared Frobenius norm sums over all entries; only $n$ divides it. No target sees another. Below a position on a
# circle has two targets, cosine and sine with noise; the features are $1, x, \dots, x^5$.

# %% covers="cs480:3 cs480:prob3.1 cs480:3-normal"
# Two targets, one X: yours, and the formulas above.
with after(ols):
    rng = np.random.default_rng(3)
    place = np.sort(rng.uniform(size=40))
    turn = 2 * np.pi * place
    Y = np.c_[np.cos(turn), np.sin(turn)] + 0.08 * rng.normal(size=(40, 2))
    A = np.vander(place, 6, increasing=True)
    B = np.array(ols(A, Y)[0])
    alone = np.column_stack([ols(A, column)[0] for column in Y.T])
    claim("each target is its own regression", np.allclose(B, alone))
    W, V = B.T, torch.ones(2, 6, dtype=torch.float64, requires_grad=True)
    inverse = Y.T @ A @ np.linalg.inv(A.T @ A)
    claim("W = YXᵀ(XXᵀ)⁻¹, {t} × {d}", np.allclose(W, inverse, rtol=1e-4), t=2, d=6)
    (torch.sum((V @ torch.tensor(A.T) - torch.tensor(Y.T)) ** 2) / 40).backward()
    slope = 2 / 40 * (np.ones((2, 6)) @ A.T - Y.T) @ A
    claim("the gradient is 2/n (WX − Y)Xᵀ", np.allclose(V.grad, slope))
    points = np.vander(np.linspace(0, 1, 101), 6, increasing=True) @ B
    off = np.abs(np.hypot(*points.T) - 1).max()
    claim("the fit runs round the circle, {off:.2f} off at most", off < 0.2, off=off)

# %% [markdown] covers="explainers:2.1.box-linear guo:II"
# Those curves are not straight. Still it is *linear* regression, in the statisticians' sense: linear **in the
# weights**, whatever the features do. The test is superposition: $f(a\theta_1 + b\theta_2) = a f(\theta_1) + b
# f(\theta_2)$ at every input. Sort the seven cards before you look. (The last is affine: subtract the 1 from the targets,
# and it is linear.)
#
# Every formula of [[01/01]] is the case $d = 1$. From one to many:
#
# | | one feature | many |
# |---|---|---|
# | score | $x_i\,\beta$ | $X\beta$ |
# | loss | $\frac12\sum_i (y_i - x_i\beta)^2$ | $\frac12\lVert y - X\beta\rVert^2$ |
# | gradient | $-\sum_i e_i x_i$ | $-X^\top e$ |
# | curvature | $\sum_i x_i^2$ | $X^\top X$ |
# | best | $\sum_i x_iy_i / \sum_i x_i^2$ | $(X^\top X)^{-1}X^\top y$ |


# %% demo=true covers="explainers:2.1.box-linear guo:II"
# Which cards are linear in the weights? And the table above, row by row.
def is_linear_in_params(f, d, trials=20):
    rng, x = np.random.default_rng(0), np.linspace(-1, 1, 9)
    for _ in range(trials):
        (u, v), (a, b) = rng.normal(size=(2, d)), rng.normal(size=2)
        if not np.allclose(f(a * u + b * v, x), a * f(u, x) + b * f(v, x)):
            return False
    return True


cards = {
    "θ₀ + θ₁ x": (lambda t, x: t[0] + t[1] * x, 2),
    "θ₀ + θ₁ x + θ₂ x² + θ₃ x³": (lambda t, x: np.polyval(t[::-1], x), 4),
    "θ₀ sin x + θ₁ cos 2x": (lambda t, x: t[0] * np.sin(x) + t[1] * np.cos(2 * x), 2),
    "θ₀ + θ₁ max(x − 0.2, 0)": (lambda t, x: t[0] + t[1] * np.maximum(x - 0.2, 0), 2),
    "θ₀ + max(x − θ₁, 0)": (lambda t, x: t[0] + np.maximum(x - t[1], 0), 2),
    "θ₀ exp(θ₁ x)": (lambda t, x: t[0] * np.exp(t[1] * x), 2),
    "1 + θ₀ x": (lambda t, x: 1 + t[0] * x, 1),
}
for name, (f, d) in cards.items():
    print(f"{'linear    ' if is_linear_in_params(f, d) else 'not linear'}  {name}")
rng = np.random.default_rng(5)
x, y, b = rng.normal(1, 1, 30), rng.normal(2, 1, 30), 0.7
X, beta, e = x[:, None], np.array([b]), y - b * x
rows = {
    "score": (X @ beta, x * b),
    "loss": (np.linalg.norm(y - X @ beta) ** 2 / 2, sum(e**2) / 2),
    "gradient": (-X.T @ (y - X @ beta), -sum(e * x)),
    "curvature": (X.T @ X, sum(x**2)),
    "best": (np.linalg.inv(X.T @ X) @ X.T @ y, sum(x * y) / sum(x**2)),
}
same = [np.allclose(many, one) for many, one in rows.values()]
claim("with d = 1 all {n} rows of the table agree", all(same), n=len(rows))

# %% [markdown] covers="moon:5.1.2 cs480:3-normal"
# ## Deeper: the bill
#
# Count multiplications, for $n$ rows and $d$ features:
#
# | step | multiplications |
# |---|---|
# | $X^\top X$: $d^2$ inner products of length $n$ | $nd^2$ |
# | $X^\top y$ | $nd$ |
# | $(X^\top X)^{-1}$, by Gauss and Jordan | $d^3$ |
# | inverse times $X^\top y$ | $d^2$ |
# | prediction of $n'$ new rows | $n'd$ |
#
# In all $O(nd^2 + d^3)$: with many more rows than features the first line is the bill. Your orthogonalisation costs
# about $nd^2$ as well, so its digits are nearly free. A step of descent costs $2nd$.


# %% covers="moon:5.1.2" demo=true
# The elimination, run and counted; and how the sum grows.
def flops_ols(n, d):
    return n * d**2 + n * d + d**3 + d**2


rng, sizes = np.random.default_rng(0), (4, 8, 16, 32)
for d in sizes:
    A, t = rng.normal(size=(128, d)), rng.normal(size=128)
    counted, counts = mr.counted_ols(A, t)
    right = np.allclose(counted, np.linalg.lstsq(A, t)[0])
    n = flops_ols(128, d)
    same = sum(counts.values()) == n
    claim("d = {d}: {n:,} multiplications, as in the table", right and same, d=d, n=n)
many, wide = (
    flops_ols(n, 2 * d) / flops_ols(n, d) for n, d in ((10**6, 100), (100, 10**5))
)
claim(
    "twice the features cost {many:.1f} times as much with many rows, "
    "{wide:.1f} times with few",
    abs(many - 4) < 0.05 and abs(wide - 8) < 0.1,
    many=many,
    wide=wide,
)

# %% [markdown] covers="explainers:2.1.b"
# ## Deeper: a little on the diagonal
#
# If $X^\top X$ is singular, a little is often added to its diagonal: $(X^\top X + \delta I)^{-1}X^\top y$. For every
# $\delta > 0$ that matrix is positive definite. Along $v_j$ the answer is $\frac{s_j}{s_j^2 + \delta}\,u_j^\top y$. To
# which solution does it tend, as $\delta \to 0$? And why not take $\delta = 10^{-15}$?

# %% covers="explainers:2.1.b"
# A column twice: jitter against the shortest solution.
with after(min_norm):
    rng = np.random.default_rng(7)
    u, v = rng.normal(size=(2, 20))
    A, t = np.c_[np.ones(20), u, u, v], 1 + 2 * u - v + rng.normal(size=20)

    def ols_jitter(delta):
        return np.linalg.solve(A.T @ A + delta * np.eye(4), A.T @ t)

    best = np.array(min_norm(A, t))
    for delta in (1, 1e-2, 1e-4, 1e-6):
        off = np.linalg.norm(ols_jitter(delta) - best)
        print(f"δ = {delta:<6g} distance {off:.1g}")
    coarse, good, tiny = (
        np.linalg.norm(ols_jitter(d) - best) for d in (1e-4, 1e-7, 1e-13)
    )
    claim("it tends to the shortest solution", good < coarse / 100)
    claim("at δ = 1e-13 rounding has taken over", tiny > 10 * good)

# %% [markdown] covers="moon:5.5"
# ## Deeper: rows of unequal quality
#
# Let the noise $\eta$ (no step size here) in $y = X\beta + \eta$ have mean 0 and a covariance $R = \mathbb E[\eta\eta^\top]$ that we know; for
# independent rows $R = \mathrm{diag}(\sigma_1^2, \dots, \sigma_n^2)$. Measure each error by its own noise:
#
# $$J(\beta) = \sum_i \frac{e_i^2}{\sigma_i^2} = e^\top R^{-1}e, \qquad \hat\beta = (X^\top R^{-1}X)^{-1}X^\top R^{-1}y .$$
#
# No new theory is needed. Factor $R = LL^\top$ (Cholesky) and multiply the model by $L^{-1}$; for a diagonal $R$
# divide row $i$ by $\sigma_i$. The noise $L^{-1}\eta$ has covariance $I$: it is *white*, and plain least squares applies.
# This works for every positive definite $R$, also where rows share noise.


# %% exercise="wls" points=2 difficulty=1 covers="moon:5.5"
def wls(X, y, R):
    """Weights that minimise (y - X beta)ᵀ R⁻¹ (y - X beta).

    X (n, d) with independent columns, y (n,). R (n, n): the covariance of the noise,
    positive definite, not always diagonal. Returns (d,).
    X = [[1], [1]], y = [0, 10], R = [[1, 0], [0, 4]] give [2]: the first row is
    four times as reliable.
    """
    ### BEGIN SOLUTION
    white_X, white_y = (np.linalg.solve(np.linalg.cholesky(R), v) for v in (X, y))
    return np.linalg.lstsq(white_X, white_y)[0]
    ### END SOLUTION


# %% check="wls"
check(wls)

# %% [markdown] covers="moon:5.5"
# Is it worth it? Plain least squares is right on average as well; it only scatters more. No other unbiased linear recipe
# scatters less than the weighted one, whose covariance is $(X^\top R^{-1}X)^{-1}$ (Gauss and Markov).
#
# Two sensors read one position. How much worse must the second be before you would rather throw it away? Compare with
# *the good sensor alone*, once for the plain fit, once for the weighted one.

# %% covers="moon:5.5"
# 3,000 simulated data sets; then two sensors.
with after(wls):
    rng = np.random.default_rng(9)
    A, sd = np.c_[np.ones(8), np.arange(8)], np.tile([0.3, 1.5], 4)
    R, L = np.diag(sd**2), np.diag(sd)
    white = np.linalg.inv(L) @ R @ np.linalg.inv(L).T
    claim("L⁻¹RL⁻ᵀ = I", np.allclose(white, np.eye(8)))
    T = A @ [1.0, 0.5] + sd * rng.normal(size=(3000, 8))
    fits, P = np.array([wls(A, row, R) for row in T]), np.linalg.pinv(A)
    theory, plain = np.linalg.inv(A.T @ np.linalg.inv(R) @ A), P @ R @ P.T
    near = np.allclose(np.cov(fits.T), theory, atol=0.1 * theory.max())
    claim("the weighted fits' covariance is (XᵀR⁻¹X)⁻¹, within sampling error", near)
    smaller = np.linalg.eigvalsh(plain - theory).min() > 0
    claim("the plain fit's is larger in every direction", smaller)
    explore(
        mr.sensor_explorer(wls),
        ratio=slider(4, min=1, max=10, step=0.5, description="noise ratio"),
    )

# %% [markdown] covers="moon:5.6"
# ## Deeper: rows that are plainly wrong
#
# A sensor jams, a comma slips. A square lets one large error count more than all others together, so the fit bends to
# please it. A remedy: replace the square by a loss $\rho$ that grows more slowly. The *pull*
# of a row is $\psi = \rho'$:
#
# | loss | $\rho(r)$ | pull $\psi(r)$ | weight $\psi(r)/r$ |
# |---|---|---|---|
# | squared | $r^2/2$ | $r$ | $1$ |
# | absolute | $\lvert r\rvert$ | $\pm1$ | $1/\lvert r\rvert$ |
# | Huber | $r^2/2$ up to $\delta$, then $\delta\lvert r\rvert - \delta^2/2$ | $r$, at most $\pm\delta$ | $\min(1, \delta/\lvert r\rvert)$ |
# | Student's $t$, scale $s$ | $\frac{\nu s^2}{2}\ln\big(1 + \frac{r^2}{\nu s^2}\big)$ | rises, then falls | $1/\big(1 + \frac{r^2}{\nu s^2}\big)$ |

# %% [markdown] covers="moon:5.6"
# At the minimum $\sum_i \psi(e_i)\,\mathbf x_i = 0$. Write $\psi(e_i) = w_ie_i$: the normal equations of a *weighted* fit, whose
# weights depend on its answer. So go round: errors, weights, weighted fit, errors … That is **iteratively reweighted least
# squares**. For Huber's loss (1964) the sum of losses never rises; it is convex, so there is no second valley in which the
# path could end.
#
# A weight $w_i$ multiplies $e_i^2$. By what must row $i$ be multiplied?


# %% exercise="huber_irls" points=3 difficulty=1 covers="moon:5.6"
def huber_irls(X, y, delta, steps):
    """The path of iteratively reweighted least squares for Huber's loss.

    X (n, d) with independent columns, y (n,), delta > 0 in the unit of y, steps >= 0.
    Returns (steps + 1, d). Row 0 is the least squares fit. Each step takes the weights
    min(1, delta / |error|) from the last row, 1 where the error is 0, and fits.
    X = [[1], [1], [1]], y = [0, 0, 6], delta = 1, steps = 1 give [[2], [1.2]]:
    the errors -2, -2, 4 have weights 1/2, 1/2, 1/4.
    """
    ### BEGIN SOLUTION
    path = [np.linalg.lstsq(X, y)[0]]
    for _ in range(steps):
        size = np.abs(y - X @ path[-1])
        root = np.sqrt(delta / np.maximum(delta, size))
        path.append(np.linalg.lstsq(root[:, None] * X, root * y)[0])
    return np.array(path)
    ### END SOLUTION


# %% check="huber_irls"
check(huber_irls)

# %% predict="far-out" minutes=1
predict(
    "far-out",
    "Huber bounds the pull of each row. One bad row may stand anywhere, at any x and "
    "any y. Can it bend Huber's line as far as it likes?",
    ["yes", "only if δ is large", "no"],
    truth=["yes", "no"][not mr.far_row_wins(delta=0.05)],
    because="ψ(e) is bounded, but ψ(e) times the row's features is what counts. A row "
    "far out has leverage, for every δ.",
)

# %% [markdown] covers="moon:5.6"
# Drag the bad row. (1) Up and down at $x = 4$: which line follows? (2) Out to $x = 30$ at $y = -10$: where do the robust
# lines give in? (3) With $\delta = 3$, how do Huber and the squares compare? With $\delta = 0.05$, Huber and the absolute
# loss?

# %% covers="moon:5.6"
# What must hold of your path; then a bad row to drag.
with after(huber_irls, "far-out"):
    X, y = mr.line_with_outlier(4.0, 15.0)
    path = np.array(huber_irls(X, y, 0.5, 100))
    r = np.abs(y - path @ X.T)
    losses = np.where(r <= 0.5, r**2 / 2, 0.5 * r - 0.125).sum(axis=1)
    falls = (np.diff(losses) < 1e-9).all()
    claim("the sum of losses never rises in {n} steps", falls, n=100)
    e = np.clip(y - X @ path[-1], -0.5, 0.5)
    claim("at the end no pull is left", np.allclose(X.T @ e, 0, atol=1e-6))
    claim("δ → ∞ is least squares", np.allclose(huber_irls(X, y, 1e9, 3), path[0]))
    ends = [huber_irls(X, np.append(y[:-1], far), 0.5, 400)[-1] for far in (1e6, 1e7)]
    same = np.allclose(*ends, atol=1e-6)
    claim("a target of 10⁷ bends it no more than one of 10⁶", same)
    explore(
        mr.outlier_explorer(huber_irls),
        drag={("x_out", "y_out"): "rows"},
        x_out=slider(4, min=0, max=30, step=0.5, description="x of your row"),
        y_out=slider(15, min=-10, max=15, step=0.5, description="y of your row"),
        delta=slider(0.5, min=0.05, max=3, step=0.05, description="δ"),
    )

# %% [markdown] covers="cs480:3 cs480:3-geom"
# ## Deeper: the same shadow with chance
#
# The shadow needed no chance. A **statistical model** does: draw a row $(\mathbf x, y)$ at random. Which
# function $f$ makes $\mathbb E\,(y - f(\mathbf x))^2$ least? The **conditional mean** $\mathbb E[y\mid\mathbf x]$: it is the
# shadow of $y$ on all functions of $\mathbf x$, and Pythagoras says
#
# $$\mathbb E\,(y - f(\mathbf x))^2 = \mathbb E\,(y - \mathbb E[y\mid\mathbf x])^2 + \mathbb E\,(\mathbb E[y\mid\mathbf x] - f(\mathbf x))^2 .$$
#
# Linear regression supposes that this mean is linear: $y = \mathbf x^\top\beta + \eta$, $\mathbb E[\eta\mid\mathbf x] = 0$. Where
# it is curved, the fit is the best line to it: fitting the targets is fitting their means.

# %% covers="cs480:3 cs480:3-geom"
# Five values of a feature, 40 rows each, a curved mean.
with after(ols):
    rng = np.random.default_rng(2)
    level = np.repeat(np.arange(5), 40)
    t = np.sin(level) + rng.normal(size=200)
    means = np.array([t[level == k].mean() for k in level])  # E[y | x] of these rows
    sums = [
        (np.mean((t - f) ** 2), np.mean((t - means) ** 2) + np.mean((means - f) ** 2))
        for f in (0.3 * level, np.cos(level), means + 0.1)
    ]
    claim("Pythagoras, for {n} functions f", np.allclose(*np.transpose(sums)), n=3)
    A = np.c_[np.ones(200), level]
    same = np.allclose(ols(A, t)[0], ols(A, means)[0])
    claim("the line through the targets is the line through their means", same)

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails,
# the right one holds, and a wrong one of the same shape fails too.

# %% demo=true covers="moon:5.2 wu:1.3.6 moon:5.1"
# moon 5.1 and 5.2, wu 1.3.6: ranks, lengths, existence.
rng = np.random.default_rng(12)
fat = rng.normal(size=(3, 6))
erratum(
    "moon:5.2",
    quote=(
        r"assuming that rank( $\mathbf{X}$ ) = m so that  $\mathbf{X}^T \mathbf{X}$  "
        r"is invertible"
    ),
    corrected=(
        r"… so that $XX^\top$ is invertible; $X^\top X$ is $d \times d$ of rank $m < d$"
    ),
    printed_holds=np.linalg.matrix_rank(fat.T @ fat) == 6,
    corrected_holds=np.linalg.matrix_rank(fat @ fat.T) == 3,
    decoy_holds=np.linalg.matrix_rank(fat[[0, 1, 1]] @ fat[[0, 1, 1]].T) == 3,
)
near, same = (
    np.array([[0, 1], [1e-6, 1], [2e-6, 1]]),
    np.array([[2.0, 1], [2, 1], [2, 1]]),
)
exists = [np.linalg.matrix_rank(A) == 2 for A in (near, same)]
severe = [np.linalg.cond(A) > 1e6 for A in (near, same)]
erratum(
    "wu:1.3.6",
    quote=(
        "For this solution to exist, we require: … No severe multicollinearity among "
        "predictors"
    ),
    corrected=(
        r"$\hat\beta$ is unique exactly when the columns are independent, however near "
        r"to dependence; that costs digits and precision"
    ),
    printed_holds=all(e != s for e, s in zip(exists, severe)),  # severe: no solution
    corrected_holds=exists == [True, False]
    and np.allclose(np.linalg.lstsq(near, [1, 2, 4])[0], [1.5e6, 5 / 6]),
    decoy_holds=exists == [False, False],
)
m, d = 8, 3
X, theta, eta = rng.normal(size=(m, d)), rng.normal(size=d), rng.normal(size=m)
sizes = {len(X @ theta)}
erratum(
    "moon:5.1",
    quote=(
        r"noisy output data)  $\mathbf{y} = [y_1, \dots, y_d]^T$  with measurement "
        r"noise  $\boldsymbol{\eta} = [\eta_1, \dots, \eta_d]^T$"
    ),
    corrected=(
        r"$y$ and $\eta$ have $m$ entries: $X$ is $m \times d$, $d$ counts parameters"
    ),
    printed_holds=sizes == {d},
    corrected_holds=sizes == {m},
    decoy_holds=sizes == {m + d},
)
y = X @ theta + eta
fits = {"X θ + η": X @ theta + eta, "X θ": X @ theta, "X θ − η": X @ theta - eta}
erratum(
    "moon:5.1",
    quote=(
        r"q_{\boldsymbol{\theta}}(\mathbf{y}) = \mathbf{X}\boldsymbol{\theta} + "
        r"\boldsymbol{\eta}"
    ),
    corrected=(
        r"$g_\theta(x) = X\theta$ is the proxy, $y = X\theta + \eta$ the data, so that "
        r"$\epsilon = y - g_\theta(x)$ is the error that is minimised"
    ),
    # is the error of the proxy y − Xθ, as moon writes three lines below?
    printed_holds=np.allclose(y - fits["X θ + η"], y - X @ theta),
    corrected_holds=np.allclose(y - fits["X θ"], y - X @ theta),
    decoy_holds=np.allclose(y - fits["X θ − η"], y - X @ theta),
)

# %% demo=true covers="moon:5.1 moon:5.2 moon:5.5 explainers:2.1"
# moon 5.5: variance or standard deviation; and four conventions.
e, sigma = np.array([1.0, 3.0]), np.array([0.5, 2.0])
J = e @ np.diag(1 / sigma**2) @ e
erratum(
    "moon:5.5",
    quote=(
        "Note that by dividing each residual by its variance, we effectively equalize "
        "the influence"
    ),
    corrected=(
        "each squared residual is divided by its variance, each residual by its "
        "standard deviation"
    ),
    printed_holds=np.isclose(np.sum((e / sigma**2) ** 2), J),
    corrected_holds=np.isclose(np.sum((e / sigma) ** 2), J),
    decoy_holds=np.isclose(np.sum((e / sigma**0.5) ** 2), J),
)
erratum(
    "moon:5.1",
    quote=(
        r"Note that the  $\mathbf{X}^T(\mathbf{X}\boldsymbol{\theta} - \mathbf{y})$  "
        r"is called the *normal equation*."
    ),
    corrected=r"$X^\top(X\theta - y) = 0$ are the normal equations",
    kind="convention",
)
erratum(
    "moon:5.2",
    quote=(
        r"Equivalently,  $\mathbf{X}$  should be linearly independent (*i.e.*, full "
        r"rank)."
    ),
    corrected="the columns of $X$ should be linearly independent",
    kind="convention",
)
erratum(
    "moon:5.5",
    quote="The OLEs assume an equal confidence on all the measurements.",
    corrected=r"OLS; below it $J(\theta)$ for $J(\tilde x)$, $m$ measurements for $l$",
    kind="convention",
)
erratum(
    "explainers:2.1",
    quote=(
        r"which dictates the elevation of the hyperplane corresponding to "
        r"$f_\theta(\mathbf{x}) = 0$"
    ),
    corrected=r"the hyperplane that regression fits is the graph $y = f_\theta(x)$",
    kind="convention",
)

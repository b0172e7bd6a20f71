# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] minutes=90 builds="least squares that keeps its digits, the pseudo-inverse, and fits that survive bad rows"
# # Multiple regression and the pseudo-inverse
#
# Lectures: wu 1.3 · moon 5.1, 5.2, 5.5 and 5.6 · cs480 3 · explainers 2.1 · guo II.
#
# One target, many features: which weights fit best, when are they unique, and can you trust their digits?
# At the end you can
#
# - turn a table with numbers and words into a design matrix, and read its weights;
# - derive the normal equations, see them as a projection, and know when not to solve them as they stand;
# - say what a fit means with fewer rows than weights, and compute the shortest one;
# - fit rows of unequal quality, and rows of which some are plainly wrong;
# - say what a fit costs in multiplications.

# %%
import numpy as np
import torch
from ipywidgets import Checkbox, FloatSlider, IntSlider

from descent import after, check, data, erratum, explore, hint, predict, show, start
from descent.pictures.regression import multiple_regression as mr

start("01_regression/02_multiple_regression")

# %% [markdown] covers="wu:1.3"
# ## Why it matters
#
# How tall will a child be? [Least squares with one feature](01_least_squares.ipynb) drew a line through the heights of fathers and sons.
# A family tells more: the father's height, the mother's height, and whether the child is a girl or a boy. (These 200 families are simulated, with heights in cm. $R^2$ is the share of the variance explained.)

# %% covers="wu:1.3"
father, mother, gender, child = mr.families(200)
show(*mr.draw_heights(father, mother, gender, child))

# %% [markdown] covers="wu:1.3.1 wu:1.3.2 wu:1.3.3 cs480:prob3.1"
# ## The design matrix
#
# Number the families $i = 1, \dots, n$. The notes code them as
#
# | | meaning | unit |
# |---|---|---|
# | $x_{i1}$ | height of the father | cm |
# | $x_{i2}$ | height of the mother | cm |
# | $x_{i3}$ | gender of the child | 0 girl, 1 boy |
# | $y_i$ | height of the child, the **target** | cm |
#
# and predict with the **score** $s_i = \beta_0 + x_{i1}\beta_1 + x_{i2}\beta_2 + x_{i3}\beta_3$. The weight $\beta_0$ is the **intercept** (explainers call it the elevation, to keep the word *bias* for other things).
# It has no feature. Give it one: let every row start with a 1. Then $\mathbf x_i = (1, x_{i1}, x_{i2}, x_{i3})^\top$ and the score is a single inner product $s_i = \mathbf x_i^\top \beta$.
# All rows together make the **design matrix** $X$, here $n \times 4$, and all scores are $X\beta$.


# %% exercise="design_matrix" points=1 minutes=6 difficulty=1 covers="wu:1.3.1 wu:1.3.3 explainers:2.1"
def design_matrix(father, mother, gender):
    """The design matrix of n families.

    father, mother (n,): heights in cm. gender: list of n words, "girl" or "boy".
    Returns (n, 4): a column of ones, father, mother, and 1 for a boy, 0 for a girl.
    design_matrix(np.array([180.0]), np.array([165.0]), ["boy"]) gives
    [[1, 180, 165, 1]].
    """
    ### BEGIN SOLUTION
    boy = [1.0 if word == "boy" else 0.0 for word in gender]
    return np.column_stack([np.ones(len(father)), father, mother, boy])
    ### END SOLUTION


# %% check="design_matrix"
check(design_matrix)

# %% covers="wu:1.3.2 wu:1.3.3"
with after(design_matrix):
    X = np.asarray(design_matrix(father, mother, gender))
    beta = np.array([23.0, 0.40, 0.43, 13.0])
    affine = beta[0] + X[:, 1:] @ beta[1:]  # intercept and the rest, apart
    assert X.shape == (200, 4) and np.allclose(affine, X @ beta)
    fit = np.linalg.lstsq(X, child, rcond=None)[0]
    sister, brother = X[0] * [1, 1, 1, 0], [*X[0, :3], 1]
    assert np.isclose(brother @ fit - sister @ fit, fit[3])  # the same parents
    print("fitted weights:", np.round(fit, 2))

# %% [markdown] covers="wu:1.3.2 explainers:2.1"
# **Two parallel planes.** Over the plane of (father, mother) the scores of all girls form one plane and those of all boys another. What is $\beta_3$ in this picture?
# Set the sliders so that the error falls below 5.2 cm. (*Base* is the score of a girl whose parents are 176 and 163 cm tall; the sticks are the residuals $y_i - s_i$.)
# Which slider helps most? What does the mean residual say when the *base* is wrong?

# %% covers="wu:1.3.2 explainers:2.1 cs480:3"
on_release = dict(continuous_update=False)
explore(
    mr.planes_explorer(*mr.families(40, seed=1)),
    base=FloatSlider(
        170, min=150, max=180, step=1, description="base (cm)", **on_release
    ),
    b_father=FloatSlider(
        0, min=-0.5, max=1, step=0.05, description="β₁ father", **on_release
    ),
    b_mother=FloatSlider(
        0, min=-0.5, max=1, step=0.05, description="β₂ mother", **on_release
    ),
    b_boy=FloatSlider(
        0, min=-5, max=20, step=1, description="β₃ boy (cm)", **on_release
    ),
)
predict(
    "Somebody codes girls 1 and boys 2 instead of 0 and 1, and fits again. "
    "What changes?",
    [
        "nothing at all",
        "the intercept only",
        "the weight of gender only",
        "all weights and all predictions",
    ],
    truth=1,
    because="The new column is the old one plus the column of ones. Predictions stay "
    "the same with an intercept that is smaller by β₃, and β₃ is still the gap.",
)

# %% [markdown] covers="wu:1.3.4 explainers:2.1.a moon:5.1 cs480:3-normal"
# ## The loss and its gradient
#
# Let $X$ be any $n \times d$ matrix. Least squares minimises the squares of the **errors** $e = y - X\beta$:
#
# $$L(\beta) = \tfrac12\sum_{i=1}^n e_i^2 = \tfrac12\lVert y - X\beta\rVert^2 .$$
#
# Others drop the ½ or divide by $n$ (the *mean squared error*, MSE). The minimiser is the same; gradients differ by a factor.
# Moving $\beta_k$ by a little moves $e_i$ by $-x_{ik}$ times as much, so $\partial L/\partial\beta_k = -\sum_i e_i x_{ik}$.
# The same in matrices, without the ½ and with $\theta$ for $\beta$ as in moon:
#
# $$J(\theta) = y^\top y - \theta^\top X^\top y - y^\top X\theta + \theta^\top X^\top X \theta, \qquad \nabla J = -2X^\top y + 2X^\top X\theta .$$
#
# The two middle terms are equal, since each is a number and the other's transpose. Every step is checked in the next cell.
# Then it is your turn: all $d$ partial derivatives of $L$, for any $\beta$. (Stuck? `hint(grad_mlr)`, up to three times; so for every exercise.)

# %% covers="explainers:2.1.a moon:5.1"
rng = np.random.default_rng(1)
X0, y0, theta, other = (
    *rng.normal(size=(2, 7, 3)),
    rng.normal(size=3),
    rng.normal(size=3),
)
y0 = y0[:, 0]


def J(b):
    return np.sum((y0 - X0 @ b) ** 2)


parts = [y0 @ y0, -theta @ X0.T @ y0, -y0 @ X0 @ theta, theta @ X0.T @ X0 @ theta]
assert np.isclose(sum(parts), J(theta)) and np.isclose(parts[1], parts[2])
steps = 1e-5 * np.eye(3)
slopes = [(J(theta + s) - J(theta - s)) / 2e-5 for s in steps]
assert np.allclose(slopes, -2 * X0.T @ (y0 - X0 @ theta), rtol=1e-6)
assert np.linalg.eigvalsh(2 * X0.T @ X0).min() >= 0  # the Hessian: J is convex
for t in np.linspace(0, 1, 11):  # so it lies below its chords
    assert J(t * theta + (1 - t) * other) <= t * J(theta) + (1 - t) * J(other) + 1e-9


# %% exercise="grad_mlr" points=2 minutes=8 difficulty=1 covers="wu:1.3.4 wu:1.3.6 cs480:3-normal"
def grad_mlr(beta, X, y):
    """Gradient of L(beta) = 1/2 * sum of (y - X beta)^2.

    beta (d,), X (n, d), y (n,) -> (d,).
    grad_mlr([1], [[2], [1]], [3, 0]), as arrays, gives [-1]: the errors are 1 and -1.
    """
    ### BEGIN SOLUTION
    return -X.T @ (y - X @ beta)
    ### END SOLUTION


# %% check="grad_mlr"
check(grad_mlr)

# %% [markdown] covers="wu:1.3.6 explainers:2.1.a"
# **Downhill.** $\beta^{(t+1)} = \beta^{(t)} - \eta\,\nabla L = \beta^{(t)} + \eta\sum_i \mathbf x_i\,(y_i - \mathbf x_i^\top\beta^{(t)})$.
# The Hessian $X^\top X$ is constant; in the direction of an eigenvector with eigenvalue $\lambda$ the distance to the minimum is multiplied by $1 - \eta\lambda$ in each step.
# So, if no eigenvalue is 0, descent converges from every start exactly when $0 < \eta < 2/\lambda_{\max}(X^\top X)$. With the step $1/\lambda_{\max}$ the slowest direction belongs to $\lambda_{\min}$. What matters is their ratio:
# the **condition number** $\kappa(X)$ is the largest singular value of $X$ over the smallest, and $\kappa(X)^2 = \lambda_{\max}/\lambda_{\min}$.
#
# The same descent on two pairs of features: hardly correlated, and of correlation 0.97.

# %% covers="wu:1.3.6 explainers:2.1.a cs480:3-normal"
with after(grad_mlr):

    def half(b):
        return np.sum((y0 - X0 @ b) ** 2) / 2

    central = [(half(theta + s) - half(theta - s)) / 2e-5 for s in steps]
    assert np.allclose(grad_mlr(theta, X0, y0), central, rtol=1e-6)
    b = torch.tensor(theta, requires_grad=True)
    torch.sum((torch.tensor(y0) - torch.tensor(X0) @ b) ** 2 / 2).backward()
    assert np.allclose(grad_mlr(theta, X0, y0), b.grad)
    best, edge = np.linalg.lstsq(X0, y0, rcond=None)[0], 2 / np.linalg.norm(X0, 2) ** 2
    for eta, arrives in ((0.95 * edge, True), (1.05 * edge, False)):
        beta = np.zeros(3)
        for _ in range(2000):
            beta = beta - eta * np.asarray(grad_mlr(beta, X0, y0))
        assert np.allclose(beta, best) == arrives
    show(*mr.draw_descent(grad_mlr))

# %% [markdown] covers="wu:1.3.4 moon:5.1 cs480:3-normal explainers:2.1.a"
# ## The normal equations
#
# At a minimum the gradient vanishes (a differentiable function has no slope there, cs480's theorem 3.3), and since $L$ is convex this is enough:
#
# $$X^\top(y - X\hat\beta) = 0, \quad\text{that is}\quad \sum_i e_i x_{ik} = 0 \text{ for every column } k, \quad\text{or}\quad X^\top X\,\hat\beta = X^\top y .$$
#
# These are the **normal equations**. If the column of ones is in $X$, the first of them says that the residuals sum to 0.
# If the columns are independent, $X^\top X = \sum_i \mathbf x_i\mathbf x_i^\top$ is invertible and
#
# $$\hat\beta = (X^\top X)^{-1}X^\top y .$$
#
# ("From $X\beta = y$ follows $X^\top X\beta = X^\top y$" is a way to remember it, no derivation: as a rule $X\beta = y$ has no solution.)
# Moon's example, with a seed: 50 rows of $y = 3.4\,x + 0.9$ plus noise of standard deviation 0.3. How near should the weights come? Each has a standard error of about $0.3/\sqrt{50} = 0.04$.

# %% covers="moon:5.1 wu:1.3.4 wu:1.3.6"
rng = np.random.default_rng(0)
x = rng.normal(size=50)
y = 3.4 * x + 0.9 + 0.3 * rng.normal(size=50)
X = np.column_stack([x, np.ones(50)])
inverse = np.linalg.inv(X.T @ X) @ X.T @ y
theta = np.linalg.lstsq(X, y, rcond=None)[0]
outer = sum(np.outer(row, row) for row in X)  # the same matrix, row by row
assert np.allclose(inverse, theta) and np.allclose(outer, X.T @ X)
assert np.all(np.abs(theta - [3.4, 0.9]) < 4 * 0.3 / np.sqrt(50))
e = y - X @ theta
assert np.allclose(X.T @ e, 0) and abs(e.sum()) < 1e-9
rescaled = X * [1000, 0.1]  # other units: other weights, the same predictions
assert np.allclose(rescaled @ np.linalg.lstsq(rescaled, y, rcond=None)[0], X @ theta)
shifted = X + [1, 0]  # like coding 1 and 2 for 0 and 1: only the intercept moves
assert np.allclose(np.linalg.lstsq(shifted, y, rcond=None)[0], theta - [0, theta[0]])
print("weights", np.round(theta, 2), " mean squared error", round(np.mean(e**2), 3))

# %% [markdown] covers="wu:1.3.5 cs480:3-geom cs480:3"
# ## Geometry: a shadow on the column space
#
# Do not think of $n$ points; think of $y$ as *one* point in $\mathbb R^n$, and of each column of $X$ as an arrow. All the $X\beta$ fill the **column space**: with two columns, a plane.
# Least squares looks for the point of the plane nearest to $y$. When is $X\beta$ the nearest?
#
# Below, $n = 3$ and the columns are $(1, 1, 1)$ and $(0.3, 1.2, -0.4)$. Find the shortest residual with the two sliders. What do the two inner products do meanwhile?

# %% covers="wu:1.3.5 cs480:3-geom cs480:3 moon:5.1"
plane = np.array([[1.0, 0.3], [1.0, 1.2], [1.0, -0.4]])
explore(
    mr.projection_explorer(plane, np.array([0.63, 2.115, 1.405])),
    b1=FloatSlider(0.4, min=-0.5, max=2, step=0.05, description="β₁", **on_release),
    b2=FloatSlider(1.0, min=-0.5, max=2, step=0.05, description="β₂", **on_release),
)

# %% [markdown] covers="wu:1.3.5 cs480:3-geom"
# At the minimum the residual is perpendicular to both columns: the normal equations, read as geometry. The fit $\hat y = Hy$ is the shadow of $y$, cast by the **hat matrix**
#
# $$H = X(X^\top X)^{-1}X^\top .$$
#
# $H$ is symmetric, $H^2 = H$ (a shadow casts itself), $HX = X$, and its trace is the rank of $X$. The shadow exists even if two columns are equal, when $(X^\top X)^{-1}$ does not. (cs480 leaves this geometry as a gap to fill; with samples as columns it would read $H = X^\top(XX^\top)^{-1}X$.)
#
# Two things follow. Pythagoras: $\lVert y\rVert^2 = \lVert\hat y\rVert^2 + \lVert e\rVert^2$; with an intercept, $R^2 = 1 - \lVert e\rVert^2/\lVert y - \bar y\rVert^2$ is the squared cosine between $\hat y - \bar y$ and $y - \bar y$.
# And $h_{ii}$, the **leverage** of row $i$, says how far its own target pulls its own fit: $\partial\hat y_i/\partial y_i$. Which row of moon's example has the highest?
#
# Write $H$ for *any* $X$. The singular value decomposition $X = U\,\mathrm{diag}(s)\,V^\top$ helps: those columns of $U$ whose singular value is not 0 are orthonormal and span the column space. Values at most $10^{-10}$ times the largest count as 0.


# %% exercise="hat_matrix" points=2 minutes=10 difficulty=2 covers="wu:1.3.5 cs480:3-geom"
def hat_matrix(X):
    """The orthogonal projection onto the span of the columns of X, of any rank.

    X (n, d), not all zero -> (n, n). Singular values <= 1e-10 * the largest count as 0.
    X = [[1], [1]] gives [[0.5, 0.5], [0.5, 0.5]]: everybody gets the mean.
    """
    ### BEGIN SOLUTION
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    U = U[:, s > 1e-10 * s.max()]
    return U @ U.T
    ### END SOLUTION


# %% check="hat_matrix"
check(hat_matrix)

# %% covers="cs480:3-geom wu:1.3.5"
with after(hat_matrix):
    H = np.asarray(hat_matrix(X))
    fit, e = H @ y, y - H @ y
    assert np.allclose(H, H.T) and np.allclose(H @ H, H) and np.allclose(H @ X, X)
    assert np.isclose(np.trace(H), 2) and np.allclose(X.T @ e, 0)
    twice = np.column_stack([X, X[:, 0]])  # a column twice: rank 2, the same shadow
    assert np.allclose(hat_matrix(twice), H)
    assert np.isclose(y @ y, fit @ fit + e @ e)
    r2 = 1 - e @ e / np.sum((y - y.mean()) ** 2)
    assert np.isclose(r2, np.corrcoef(fit, y)[0, 1] ** 2)
    far = np.argmax(np.diag(H))
    assert far == np.argmax(np.abs(x - x.mean()))  # the row farthest from the middle
    print(f"R² {r2:.3f}")
    show(*mr.draw_leverage(x, y, fit, np.diag(H)))

# %% [markdown] covers="cs480:3 cs480:3-geom"
# **The same shadow with chance.** Draw a row $(\mathbf x, y)$ at random. Which function $f$ of the features makes $\mathbb E\,(y - f(\mathbf x))^2$ least? The **conditional mean** $\mathbb E[y\mid\mathbf x]$: it is the shadow of $y$ on all functions of $\mathbf x$, and Pythagoras says
#
# $$\mathbb E\,(y - f(\mathbf x))^2 = \mathbb E\,(y - \mathbb E[y\mid\mathbf x])^2 + \mathbb E\,(\mathbb E[y\mid\mathbf x] - f(\mathbf x))^2 .$$
#
# The **statistical model** of linear regression, left out in cs480, says that this mean is linear: $y = \mathbf x^\top\beta + \eta$ with $\mathbb E[\eta\mid\mathbf x] = 0$. Then $\hat\beta$ is right on average. Where the mean is curved, the fit is the best linear approximation to it: fitting the targets is fitting their means.

# %% covers="cs480:3 cs480:3-geom" demo=true
rng = np.random.default_rng(2)
level = np.repeat(np.arange(5), 40)  # five values of the feature, 40 rows each
target = np.sin(level) + rng.normal(size=200)
means = np.array([target[level == k].mean() for k in level])  # E[y | x] of these rows
for f in (0.3 * level, np.cos(level), means + 0.1):
    noise, distance = np.mean((target - means) ** 2), np.mean((means - f) ** 2)
    assert np.isclose(np.mean((target - f) ** 2), noise + distance)
line = np.column_stack([np.ones(200), level])
to_targets, to_means = (
    np.linalg.lstsq(line, b, rcond=None)[0] for b in (target, means)
)
assert np.allclose(to_targets, to_means) and not np.allclose(line @ to_means, means)

# %% [markdown] covers="cs480:3-unstable"
# ## When the columns are almost dependent
#
# cs480 gives the smallest example. Two rows, one feature and an intercept: at $x = 0$ the target is $1$, at $x = \varepsilon$ it is $-1$. (cs480 stacks samples as columns, $X = \begin{pmatrix}0&\varepsilon\\1&1\end{pmatrix}$, and multiplies by $w$ from the left.)
# The line through both points is $w = (-2/\varepsilon,\ 1)$. Before you move the slider: what happens to $w_1$ when the inputs come ten times as close? And to a measuring error in one target?
# Then tick the box: it adds 0.2 to the diagonal of $X^\top X$, the remedy of [Ridge, lasso and priors](03_ridge_and_lasso.ipynb).

# %% covers="cs480:3-unstable"
for eps, ridge in (
    (0.5, (-1.486, 0.338)),
    (0.1, (-0.487, 0.022)),
    (0.01, (-0.050, 0.0002)),
):
    A, b = np.array([[0, eps], [1, 1]]), np.array([1, -1])  # columns are samples
    assert np.allclose(b @ A.T @ np.linalg.inv(A @ A.T), [-2 / eps, 1])
    assert np.allclose(mr.two_rows(eps, ridge=0.2), ridge, atol=6e-4)  # cs480's numbers
explore(
    mr.draw_two_rows,
    log_eps=FloatSlider(
        -1, min=-3, max=0, step=0.1, description="log₁₀ ε", **on_release
    ),
    ridge=Checkbox(False, description="add 0.2 to the diagonal"),
)

# %% [markdown] covers="cs480:3-unstable wu:1.3.6 cs480:3-normal"
# No contradiction here: for every $\varepsilon \ne 0$ the solution exists and is unique. But $\kappa(X) \approx 2/\varepsilon$, and a relative error in $y$ is multiplied by up to as much.
# That is the *problem's* sensitivity, and no algorithm removes it. An algorithm can make it worse, though. Floats keep about 16 digits, the unit rounding is $u = 2^{-53} \approx 10^{-16}$. Four roads to $\hat\beta$:
#
# | road | what it does | condition number it meets |
# |---|---|---|
# | normal equations | forms $X^\top X$, then inverts or solves | $\kappa(X^\top X) = \kappa(X)^2$ |
# | QR | $X = QR$ with $Q^\top Q = I$, $R$ triangular | $\kappa(X)$ |
# | SVD | $X = U\,\mathrm{diag}(s)\,V^\top$, divides by $s$ | $\kappa(X)$ |
# | gradient descent | many small steps | about $\kappa(X)^2$ steps |

# %%
predict(
    "X has condition number 10⁵ and the fit is exact. "
    "How many of the 16 digits do you expect to keep with the inverse of XᵀX?",
    ["about 16", "about 11", "about 6", "none"],
    truth=2,
    because="Squaring doubles the digits lost: 16 − 2 · 5. QR and SVD lose 5.",
)

# %% [markdown] covers="wu:1.3.6 cs480:3-normal cs480:3"
# Put $X = QR$ into the normal equations: $R^\top Q^\top Q R\,\beta = R^\top Q^\top y$. With independent columns, $R$ is invertible, and what remains is $R\beta = Q^\top y$. Nothing was squared.
#
# Write it so that several targets can share one $X$. The last cases have columns of condition number $2\cdot10^8$. The entries of their $X^\top X$ are like $1 + 2^{-54}$, which a float rounds to 1: it is *exactly* singular.


# %% exercise="ols" points=3 minutes=10 difficulty=2 covers="wu:1.3.6 moon:5.1 cs480:3-normal cs480:3 cs480:prob3.1"
def ols(X, Y):
    """Least squares weights for one target or several, exact to many digits.

    X (n, d) with independent columns, used as it is (no column is added).
    Y (n,) -> weights (d,); Y (n, t) -> (d, t), each column of Y on its own.
    X = [[1, 0], [1, 1], [1, 2]] and Y = [1, 3, 5] give [1, 2].
    """
    ### BEGIN SOLUTION
    Q, R = np.linalg.qr(X)
    return np.linalg.solve(R, Q.T @ Y)
    ### END SOLUTION


# %% check="ols"
check(ols)

# %% [markdown] covers="wu:1.3.6 cs480:3-normal"
# **Four roads on one problem.** Each mark below is the median of nine problems with known weights. Look at the right panel: if the residual is as long as the fit, QR pays $\kappa^2$ too. The reason lies in the problem: rounding the entries of $X$ tilts the plane, and a long residual then casts another shadow.
# QR and SVD are *backward stable*: their answer is exact for data that differ from yours in the last digits. More cannot be had. Gradient descent fails in another way: it does not lose digits, it does not arrive.
#
# **Find out** with the sliders: (1) at which $\kappa$ has the inverse lost everything? (2) From which share of residual on does QR lose its lead? (3) At $\kappa = 100$, do ten times as many steps of descent help?

# %% covers="wu:1.3.6 cs480:3-normal cs480:3-unstable"
with after(ols):
    show(*mr.draw_solver_errors(ols), digits=0)
    explore(
        mr.solver_explorer(ols),
        digits=0,
        log_kappa=FloatSlider(
            5, min=0, max=10, step=0.5, description="log₁₀ κ", **on_release
        ),
        tangent=FloatSlider(
            0, max=1, step=0.01, description="residual / fit", **on_release
        ),
        steps=IntSlider(
            1000, min=100, max=3000, step=100, description="steps", **on_release
        ),
    )

# %% [markdown] covers="cs480:3 cs480:prob3.1 explainers:2.1.box-linear"
# ## Several targets, and what "linear" means
#
# Through finitely many points with different inputs pass infinitely many functions; so one imposes a structure, such as $f(x) = W x$. cs480's problem: from pairs $(\mathbf x_i, \mathbf y_i) \in \mathbb R^{d+t}$ find $f$ with $f(\mathbf x_i) \approx \mathbf y_i$. Its convention is ours transposed: samples are columns, $W$ is $t \times (d+1)$, $\hat Y = WX$, and
#
# $$\mathrm{Loss}(W) = \tfrac1n\lVert WX - Y\rVert_F^2, \qquad \nabla = \tfrac2n (WX - Y)X^\top, \qquad W = YX^\top(XX^\top)^{-1}.$$
#
# The squared Frobenius norm sums over all entries, but only $n$ divides it. No target sees another. Below, a position $x$ on a circle (in turns) has two targets, cosine and sine with noise, and the features are $1, x, \dots, x^5$.

# %% covers="cs480:3 cs480:prob3.1 cs480:3-normal"
with after(ols):
    rng = np.random.default_rng(3)
    place, points = np.sort(rng.uniform(size=40)), np.linspace(0, 1, 101)
    angle = 2 * np.pi * place
    Y = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.08 * rng.normal(
        size=(40, 2)
    )
    X = np.vander(place, 6, increasing=True)
    B = np.asarray(ols(X, Y))
    assert np.allclose(B, np.column_stack([ols(X, column) for column in Y.T]))
    A, W = X.T, B.T  # cs480's: samples are columns, W has one row a target
    assert W.shape == (2, 6) and np.allclose((Y.T - W @ A) @ A.T, 0)
    assert np.allclose(W, Y.T @ A.T @ np.linalg.inv(A @ A.T), rtol=1e-5)
    V = torch.ones(2, 6, dtype=torch.float64, requires_grad=True)  # any weights
    (torch.sum((V @ torch.tensor(A) - torch.tensor(Y.T)) ** 2) / 40).backward()
    assert np.allclose(V.grad, 2 / 40 * (np.ones((2, 6)) @ A - Y.T) @ A.T)
    loss = np.linalg.norm(W @ A - Y.T) ** 2 / 40
    assert np.isclose(loss, np.sum((X @ B - Y) ** 2, axis=0).sum() / 40)
    show(*mr.draw_outputs(place, Y, points, np.vander(points, 6, increasing=True) @ B))

# %% [markdown] covers="explainers:2.1.box-linear"
# Those curves are no straight lines. Is this still *linear* regression? Yes, in the statisticians' sense (Casella and Berger): the prediction is linear **in the weights**, whatever the features do. The test is superposition:
# $f(a\theta_1 + b\theta_2) = a f(\theta_1) + b f(\theta_2)$ for all weights at every input. (In daily use "linear regression" often means fitting a plane.) Sort the seven cards before you run the cell.
# (The last one surprises: a fixed term makes it *affine* in the weight. Subtract it from the targets, and it is linear.)


# %% covers="explainers:2.1.box-linear"
def is_linear_in_params(f, d, trials=20):
    """Superposition at 9 inputs, for random weights (d,). f(theta, x) -> (9,)."""
    rng, x = np.random.default_rng(0), np.linspace(-1, 1, 9)
    for _ in range(trials):
        one, two, (a, b) = rng.normal(size=d), rng.normal(size=d), rng.normal(size=2)
        if not np.allclose(f(a * one + b * two, x), a * f(one, x) + b * f(two, x)):
            return False
    return True


cards = {
    "θ₀ + θ₁ x": (lambda t, x: t[0] + t[1] * x, 2),
    "θ₀ + θ₁ x + θ₂ x² + θ₃ x³": (lambda t, x: np.polyval(t[::-1], x), 4),
    "θ₀ sin x + θ₁ cos 2x": (lambda t, x: t[0] * np.sin(x) + t[1] * np.cos(2 * x), 2),
    "θ₀ + θ₁ max(x - 0.2, 0)": (lambda t, x: t[0] + t[1] * np.maximum(x - 0.2, 0), 2),
    "θ₀ + max(x - θ₁, 0)": (lambda t, x: t[0] + np.maximum(x - t[1], 0), 2),
    "θ₀ exp(θ₁ x)": (lambda t, x: t[0] * np.exp(t[1] * x), 2),
    "1 + θ₀ x": (lambda t, x: 1 + t[0] * x, 1),
}
for name, (f, d) in cards.items():
    print(f"{'linear    ' if is_linear_in_params(f, d) else 'not linear'}  {name}")

# %% [markdown] covers="guo:II wu:1.3.6"
# ### From one feature to many: a dictionary
#
# Part II of guo repeats part I with many features: feature expansion, vector outputs, softmax, evaluation, regularisation. (Softmax and vector outputs come in [Generalised linear models](../02_classification/03_generalised_linear_models.ipynb), evaluation in [Bias, variance and validation](04_bias_variance_and_validation.ipynb).)
# Every formula of one feature is the $d = 1$ case of one with matrices. One assert a line:
#
# | | one feature | many |
# |---|---|---|
# | score | $s_i = x_i\,\beta$ | $X\beta$ |
# | loss | $\frac12\sum_i (y_i - x_i\beta)^2$ | $\frac12\lVert y - X\beta\rVert^2$ |
# | gradient | $-\sum_i e_i x_i$ | $-X^\top e$ |
# | step | $\beta + \eta\sum_i e_ix_i$ | $\beta + \eta X^\top e$ |
# | curvature | $\sum_i x_i^2$ | $X^\top X$ |
# | best weight | $\sum_i x_iy_i / \sum_i x_i^2$ | $(X^\top X)^{-1}X^\top y$ |
# | slope with intercept | covariance / variance | the same formula, centred columns |
# | feature expansion | $w_0 + w_1 x + \dots + w_p x^p$ | $X\beta$ with rows $(1, x_i, \dots, x_i^p)$ |

# %% covers="guo:II"
rng = np.random.default_rng(5)
x, y, b = rng.normal(1, 1, 30), rng.normal(2, 1, 30), 0.7
X, beta = x[:, None], np.array([b])
e = y - X @ beta
assert np.allclose(X @ beta, x * b)
assert np.isclose(
    np.linalg.norm(e) ** 2 / 2, sum((yi - xi * b) ** 2 for xi, yi in zip(x, y)) / 2
)
assert np.isclose((-X.T @ e)[0], -sum((yi - xi * b) * xi for xi, yi in zip(x, y)))
assert np.isclose((beta + 0.01 * X.T @ e)[0], b + 0.01 * np.sum((y - x * b) * x))
assert np.isclose((X.T @ X)[0, 0], np.sum(x**2))
assert np.isclose((np.linalg.inv(X.T @ X) @ X.T @ y)[0], np.sum(x * y) / np.sum(x**2))
C, c = (x - x.mean())[:, None], y - y.mean()
slope = np.cov(x, y, bias=True)[0, 1] / x.var()
assert np.isclose((np.linalg.inv(C.T @ C) @ C.T @ c)[0], slope)
w = np.array([1.0, -2.0, 0.5])
assert np.allclose(np.vander(x, 3, increasing=True) @ w, w[0] + w[1] * x + w[2] * x**2)

# %% [markdown] covers="moon:5.1.2"
# ## What it costs
#
# Count multiplications (additions come along with them) for $n$ rows and $d$ features:
#
# | step | multiplications | order |
# |---|---|---|
# | $X^\top X$ | $d^2$ inner products of length $n$ | $nd^2$ |
# | $X^\top y$ | $d$ inner products of length $n$ | $nd$ |
# | $(X^\top X)^{-1}$ | Gauss–Jordan elimination | $d^3$ |
# | inverse times $X^\top y$ | | $d^2$ |
# | prediction of $n'$ new rows | | $n'd$ |
#
# In all $O(nd^2 + d^3)$: with more rows than features, forming $X^\top X$ dominates. The function below really runs the elimination and counts what it multiplies. On logarithmic axes a power $d^p$ is a line of slope $p$.
# On the right a measurement on this machine, whose slope only *tends* to 2: small matrices pay for the call, large ones for the memory.
#
# **Advice.** Do not form an inverse only to multiply by it: elimination on the equations takes a third of its multiplications, Cholesky's factor a sixth. $X^\top X$ is symmetric, so half of it is enough: $nd^2/2$.
# Householder's QR takes about $nd^2 - d^3/3$: its better digits cost at most twice as much. A step of gradient descent takes $2nd$, which is cheaper than all that if fewer than about $d/4$ steps do.


# %% covers="moon:5.1.2"
def flops_ols(n, d):
    return n * d**2 + n * d + d**3 + d**2


rng, sizes, counts = np.random.default_rng(0), np.array([4, 8, 16, 32, 64]), []
for d in sizes:
    X, y = rng.normal(size=(128, d)), rng.normal(size=128)
    weights, count = mr.counted_ols(X, y)
    assert np.allclose(weights, np.linalg.lstsq(X, y, rcond=None)[0])
    assert count["inverse"] == d**3 and sum(count.values()) == flops_ols(128, d)
    counts.append(count)


def slope(n, d):
    return np.log2(flops_ols(n, 2 * d) / flops_ols(n, d))


assert abs(slope(10**6, 100) - 2) < 0.02 and abs(slope(100, 10**5) - 3) < 0.02
assert abs(np.log2(flops_ols(2 * 10**6, 100) / flops_ols(10**6, 100)) - 1) < 0.01
show(*mr.draw_cost(sizes, counts, 128), digits=0)

# %% [markdown] covers="moon:5.2"
# ## More weights than rows
#
# $X$ is **tall** with $n > d$: the problem is *overdetermined*, and the minimiser is unique exactly when the columns are independent. $X$ is **fat** with $n < d$: the problem is *underdetermined*.
# If $\beta$ minimises, so does $\beta + z$ for every $z$ with $Xz = 0$, and there are such $z \ne 0$: infinitely many minimisers. Which one to take? Moon takes the shortest. If the rows are independent, $X\beta = y$ can be solved exactly, and Lagrange's method minimises $\lVert\theta\rVert^2$ subject to $X\theta = y$:
#
# $$\mathcal L = \lVert\theta\rVert^2 + \lambda^\top(X\theta - y), \qquad 2\theta + X^\top\lambda = 0, \qquad X\theta = y .$$
#
# From the first, $\theta = -\frac12X^\top\lambda$; put into the second, $\lambda = -2(XX^\top)^{-1}y$, and
#
# $$\theta = X^\top(XX^\top)^{-1}y .$$
#
# $G = XX^\top$ holds the inner products of the *rows*: the **Gram matrix**. It is $n \times n$ and invertible when the rows are independent. $X^\top X$, of size $d \times d$ and rank $n < d$, never is.

# %% covers="moon:5.2"
rng = np.random.default_rng(6)
X, y = rng.normal(size=(3, 6)), rng.normal(size=3)
KKT = np.block([[2 * np.eye(6), X.T], [X, np.zeros((3, 3))]])  # both equations at once
solution = np.linalg.solve(KKT, np.concatenate([np.zeros(6), y]))
theta, lam = solution[:6], solution[6:]
G = X @ X.T
assert np.allclose(lam, -2 * np.linalg.inv(G) @ y)
assert np.allclose(theta, X.T @ np.linalg.inv(G) @ y) and np.allclose(X @ theta, y)
assert np.linalg.matrix_rank(G) == 3 and np.linalg.matrix_rank(X.T @ X) == 3 < 6
flat = np.linalg.svd(X)[2][3:].T  # columns z with X z = 0
for _ in range(100):  # any other solution: theta + z, at a right angle, so longer
    z = flat @ rng.normal(size=3)
    assert np.allclose(X @ (theta + z), y) and abs(theta @ z) < 1e-12
    assert np.isclose(np.sum((theta + z) ** 2), theta @ theta + z @ z)

# %% [markdown] covers="moon:5.2"
# What if neither rows nor columns are independent? Then ask for both in turn: **of all minimisers of $\lVert y - X\beta\rVert$, the shortest**. There is exactly one for every $X$, and it is linear in $y$: $\hat\beta = X^+y$ with the **pseudo-inverse** $X^+$.
# The SVD shows how. Write $X = \sum_j s_j\,u_jv_j^\top$ over the $s_j > 0$. Along $v_j$ the fit needs the amount $(u_j^\top y)/s_j$. In all other directions $X\beta$ does not change: be short, take 0.
#
# For tall $X$ with independent columns this is $(X^\top X)^{-1}X^\top y$, for fat $X$ with independent rows $X^\top(XX^\top)^{-1}y$.


# %% exercise="min_norm" points=3 minutes=10 difficulty=3 covers="moon:5.2"
def min_norm(X, y):
    """The shortest of all beta that minimise the length of y - X beta.

    X (n, d) of any shape and rank, y (n,) -> (d,).
    Singular values <= 1e-10 * the largest count as 0. X = 0 gives zeros.
    X = [[1, 1]] and y = [2] give [1, 1]; (2, 0) fits as well, but is longer.
    """
    ### BEGIN SOLUTION
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    keep = s > 1e-10 * s.max()
    return Vt[keep].T @ ((U[:, keep].T @ y) / s[keep])
    ### END SOLUTION


# %% check="min_norm"
check(min_norm)

# %% covers="moon:5.2"
with after(min_norm):
    predict(
        "Gradient descent on ½‖y − Xβ‖² with fat X fits exactly in the end. "
        "Started from β = 0, which of the many solutions does it reach?",
        [
            "a random one",
            "the shortest",
            "the one with the most zeros",
            "it depends on the step",
        ],
        truth=1,
        because="Every gradient is a combination of rows of X, so the path stays in "
        "their span. From zero only the solution within that span can be reached: the "
        "shortest. From elsewhere, the part of the start at right angles to the rows "
        "stays for ever.",
    )
    best = np.asarray(min_norm(X, y))
    assert np.allclose(best, np.linalg.pinv(X) @ y) and np.allclose(flat.T @ best, 0)
    tall, target = X.T, np.arange(6.0)
    assert np.allclose(min_norm(tall, target), np.linalg.inv(G) @ tall.T @ target)
    for begin in (np.zeros(6), np.ones(6)):
        beta = begin
        for _ in range(5000):
            beta = beta - X.T @ (X @ beta - y) / np.linalg.norm(X, 2) ** 2
        assert np.allclose(beta, best + flat @ (flat.T @ begin))
    show(*mr.draw_solution_set(min_norm))

# %% [markdown] covers="explainers:2.1.b"
# **A cheap way round.** If $X^\top X$ is singular, explainers advise to add a little to its diagonal: $(X^\top X + \delta I)^{-1}X^\top y$. For every $\delta > 0$ the matrix is positive definite, so this works for any $X$. And as $\delta \to 0$ the answer tends to a solution that you know. Which?
# (Along $v_j$ it takes $\frac{s_j}{s_j^2 + \delta}\,u_j^\top y$.) Here the design has one column twice. (An inverse may fail or return nonsense without a word; `np.linalg.matrix_rank(X)` counts the singular values that are more than rounding: 3 of 4.)
#
# Smaller is better down to about $\delta = 10^{-7}$ only: beyond, what rounding adds (about $u\,\lVert X^\top X\rVert/\delta$) exceeds what $\delta$ removes. The pseudo-inverse need not compromise. (A $\delta$ that is *not* small is another idea with another use: ridge regression.)

# %% covers="explainers:2.1.b"
with after(min_norm):
    rng = np.random.default_rng(7)
    u, v = rng.normal(size=(2, 20))
    X, y = np.column_stack([np.ones(20), u, u, v]), 1 + 2 * u - v + rng.normal(size=20)

    def ols_jitter(delta):
        return np.linalg.solve(X.T @ X + delta * np.eye(4), X.T @ y)

    assert np.linalg.matrix_rank(X) == 3 < 4
    deltas, best = 10.0 ** -np.arange(6), np.asarray(min_norm(X, y))
    distances = np.array([np.linalg.norm(ols_jitter(d) - best) for d in deltas])
    assert np.isclose(best[1], best[2])  # the two equal columns share the weight
    wide, good, tiny = (
        np.linalg.norm(ols_jitter(d) - best) for d in (1e-4, 1e-7, 1e-12)
    )
    assert good < wide and good < tiny  # then rounding takes over
    kappas = np.array([np.linalg.cond(X.T @ X + d * np.eye(4)) for d in deltas])
    show(*mr.draw_jitter(deltas, distances, kappas))

# %% [markdown] covers="moon:5.5"
# ## Rows of unequal quality
#
# So far every row counted the same. Now let the noise $\eta$ in $y = X\beta + \eta$ have mean 0 and a covariance $R = \mathbb E[\eta\eta^\top]$ that we know, for independent rows $R = \mathrm{diag}(\sigma_1^2, \dots, \sigma_n^2)$. A residual is now measured against its own noise:
#
# $$J(\beta) = \sum_i \frac{e_i^2}{\sigma_i^2} = e^\top R^{-1}e, \qquad \hat\beta = (X^\top R^{-1}X)^{-1}X^\top R^{-1}y .$$
#
# **No new theory is needed.** Factor $R = LL^\top$ (Cholesky; for a diagonal $R$, $L = \mathrm{diag}(\sigma_i)$) and multiply the model by $L^{-1}$, that is, divide row $i$ by $\sigma_i$. The noise $L^{-1}\eta$ has covariance $I$: it is *white*, and plain least squares applies.
# This works for every positive definite $R$, also where rows share noise. Only the ratios matter: $R$ and $cR$ give the same weights.

# %% covers="moon:5.5"
rng = np.random.default_rng(8)
A, e = rng.normal(size=(5, 5)), rng.normal(size=5)
R = A @ A.T + np.eye(5)
L = np.linalg.cholesky(R)
assert np.allclose(np.linalg.inv(L) @ R @ np.linalg.inv(L).T, np.eye(5))  # white
assert np.isclose(e @ np.linalg.inv(R) @ e, np.sum(np.linalg.solve(L, e) ** 2))


# %% exercise="wls" points=3 minutes=10 difficulty=2 covers="moon:5.5"
def wls(X, y, R):
    """Weights that minimise (y - X beta)^T R^-1 (y - X beta).

    X (n, d) with independent columns, y (n,).
    R (n, n): covariance of the noise, positive definite, not always diagonal.
    Returns (d,).
    X = [[1], [1]], y = [0, 10], R = [[1, 0], [0, 4]] give [2]: the first row is
    four times as reliable.
    """
    ### BEGIN SOLUTION
    L = np.linalg.cholesky(R)
    white_X, white_y = np.linalg.solve(L, X), np.linalg.solve(L, y)
    return np.linalg.lstsq(white_X, white_y, rcond=None)[0]
    ### END SOLUTION


# %% check="wls"
check(wls)

# %% [markdown] covers="moon:5.5"
# **Is it worth it?** Plain least squares is right on average here as well; it only scatters more. The covariance of the weighted fit is $(X^\top R^{-1}X)^{-1}$, and no other unbiased linear recipe has a smaller one for any combination of the weights (Gauss and Markov; the noise need not be normal, but $R$ must be right).
# The cell compares both with 3000 simulated data sets. Then two sensors read the same position, one noisier than the other. How much worse must it be before you would rather throw it away?
# Compare with *the good sensor alone* in the readout, once for the plain fit and once for the weighted one.

# %% covers="moon:5.5"
with after(wls):
    from sklearn.linear_model import LinearRegression

    rng = np.random.default_rng(9)
    X, sd = np.column_stack([np.ones(8), np.arange(8)]), np.tile([0.3, 1.5], 4)
    R, truth = np.diag(sd**2), np.array([1.0, 0.5])
    Y = X @ truth + sd * rng.normal(size=(3000, 8))
    fits = np.array([wls(X, row, R) for row in Y])
    model = LinearRegression().fit(X[:, 1:], Y[0], sample_weight=1 / sd**2)
    assert np.allclose(fits[0], [model.intercept_, *model.coef_])  # scikit-learn's
    theory = np.linalg.inv(X.T @ np.linalg.inv(R) @ X)
    assert np.allclose(np.cov(fits.T), theory, atol=0.1 * theory.max())
    assert np.all(
        np.abs(fits.mean(axis=0) - truth) < 4 * np.sqrt(np.diag(theory) / 3000)
    )
    P = np.linalg.pinv(X)
    plain = P @ R @ P.T
    off = np.abs((Y @ P.T).mean(axis=0) - truth)
    assert np.all(off < 4 * np.sqrt(np.diag(plain) / 3000))  # right on average too
    assert np.linalg.eigvalsh(plain - theory).min() > -1e-12  # never smaller
    print("sd of the slope: plain", round(np.sqrt(plain[1, 1]), 3), end=", ")
    print(
        "weighted",
        round(np.sqrt(theory[1, 1]), 3),
        " simulated",
        round(fits[:, 1].std(), 3),
    )
    explore(
        mr.sensor_explorer(wls),
        ratio=FloatSlider(
            4, min=1, max=10, step=0.5, description="noise ratio", **on_release
        ),
    )

# %% [markdown] covers="moon:5.6"
# The two sensors: with the right weights you never throw one away. The plain fit is better off without the noisy one from a ratio of about $\sqrt3$ on, where the mean variance of all rows exceeds twice that of the good ones.
#
# ## Rows that are plainly wrong
#
# A sensor jams, a comma slips. With squares one large error can count more than all the others together, so the fit bends to please it. The notes stop here; this is what one does. Replace the square by a loss $\rho$ that grows more slowly:
#
# | loss | $\rho(r)$ | pull $\psi = \rho'$ | weight $\psi(r)/r$ |
# |---|---|---|---|
# | squared | $r^2/2$ | $r$ | $1$ |
# | absolute | $\lvert r\rvert$ | $\pm1$ | $1/\lvert r\rvert$ |
# | Huber | $r^2/2$ up to $\delta$, then $\delta\lvert r\rvert - \delta^2/2$ | $r$, at most $\pm\delta$ | $\min(1, \delta/\lvert r\rvert)$ |
# | Student's $t$, scale $s$ | $\frac{\nu s^2}{2}\ln\big(1 + \frac{r^2}{\nu s^2}\big)$ | rises, then falls | $1/\big(1 + \frac{r^2}{\nu s^2}\big)$ |
#
# At the minimum $\sum_i \psi(e_i)\,\mathbf x_i = 0$ (for the absolute loss, if no residual is 0). Write $\psi(e_i) = w_ie_i$: these are the normal equations of a *weighted* fit, with weights that depend on the answer. So go round: residuals → weights $w_i = \psi(e_i)/e_i$ → weighted fit → residuals …
# This is **iteratively reweighted least squares** (IRLS). For Huber's loss the objective never rises (each step minimises a parabola that touches the loss from above), and since it is convex, no other minimum can trap the path. (Huber, 1964. The absolute loss is a linear programme; Student's $t$ comes from heavy-tailed noise and is not convex.)
#
# Mind that a weight $w_i$ multiplies $e_i^2$, so that rows are multiplied by $\sqrt{w_i}$. Here $\delta$ is in the unit of $y$.


# %% exercise="huber_irls" points=4 minutes=12 difficulty=3 covers="moon:5.6"
def huber_irls(X, y, delta, steps):
    """The path of iteratively reweighted least squares for Huber's loss.

    X (n, d) with independent columns, y (n,), delta > 0 in the unit of y, steps >= 0.
    Returns (steps + 1, d). Row 0 is the least squares fit. Each step takes the weights
    min(1, delta / |residual|) from the last row, 1 where the residual is 0, and fits.
    X = [[1], [1], [1]], y = [0, 0, 6], delta = 1, steps = 1 give [[2], [1.2]]:
    the residuals -2, -2, 4 have weights 1/2, 1/2, 1/4.
    """
    ### BEGIN SOLUTION
    path = [np.linalg.lstsq(X, y, rcond=None)[0]]
    for _ in range(steps):
        size = np.abs(y - X @ path[-1])
        root = np.sqrt(delta / np.maximum(delta, size))
        path.append(np.linalg.lstsq(root[:, None] * X, root * y, rcond=None)[0])
    return np.array(path)
    ### END SOLUTION


# %% check="huber_irls"
check(huber_irls)

# %% [markdown] covers="moon:5.6"
# Four properties, checked on a line with one bad row: the objective falls in every step; a huge $\delta$ is least squares; moving the bad target from $10^6$ to $10^7$ changes nothing at all; and scikit-learn's `HuberRegressor` finds the same weights (it estimates a scale, which fixes $\delta$).

# %% covers="moon:5.6"
with after(huber_irls):
    from sklearn.linear_model import HuberRegressor

    X, y = mr.line_with_outlier(4.0, 15.0)
    path = np.asarray(huber_irls(X, y, 0.5, 100))
    r = np.abs(y - path @ X.T)
    losses = np.where(r <= 0.5, r**2 / 2, 0.5 * r - 0.125).sum(axis=1)
    assert np.all(np.diff(losses) < 1e-9)
    e = y - X @ path[-1]
    assert np.allclose(X.T @ np.clip(e, -0.5, 0.5), 0, atol=1e-6)  # no pull is left
    assert np.allclose(huber_irls(X, y, 1e9, 3), path[0])
    million, more = (np.append(y[:-1], far) for far in (1e6, 1e7))
    near, far = (huber_irls(X, b, 0.5, 400)[-1] for b in (million, more))
    assert np.allclose(near, far, atol=1e-6)
    model = HuberRegressor(epsilon=1.35, alpha=0, tol=1e-9, max_iter=1000)
    model.fit(X[:, 1:], y)
    ours = huber_irls(X, y, 1.35 * model.scale_, 300)[-1]
    assert np.allclose(ours, [model.intercept_, *model.coef_], atol=1e-4)
    print(f"slopes: least squares {path[0, 1]:.2f}, Huber {path[-1, 1]:.2f}")

# %% [markdown] covers="moon:5.6"
# **Try it.** (1) Move the bad row up and down at $x = 4$: which line follows? (2) Leave it at $y = -10$ and move it out to $x = 10, 20, 30$: where do the robust lines give in? (3) With δ = 3, how do Huber's line and the squares compare? With δ = 0.05, Huber's and the absolute loss?

# %% covers="moon:5.6"
with after(huber_irls):
    predict(
        "The bad row may now have any input x as well. Can it still bend Huber's line "
        "as far as it likes?",
        ["no, its pull is bounded", "yes", "only if δ is large"],
        truth=1,
        because="ψ(e) is bounded, but ψ(e) times the row's features is what counts. "
        "A row far out has a long lever. The same holds for the absolute loss.",
    )
    explore(
        mr.outlier_explorer(huber_irls),
        x_out=FloatSlider(
            4, min=0, max=30, step=1, description="x of your row", **on_release
        ),
        y_out=FloatSlider(
            15, min=-10, max=15, step=0.5, description="y of your row", **on_release
        ),
        delta=FloatSlider(
            0.5, min=0.05, max=3, step=0.05, description="δ", **on_release
        ),
    )

# %% [markdown] covers="explainers:2.1 wu:1.3.6 moon:5.6"
# ## On real data
#
# **Diabetes:** 442 patients, ten features, the target is a score of progression. As explainers do, split the rows in two halves, train on one and test on the other; do so 200 times. Features are in standard deviations, so that weights compare.
# The blood serum values s1 to s6 are correlated (s1 is total cholesterol, s2 LDL cholesterol). What do you expect of their weights?
#
# **A slip of the keyboard.** The second cell multiplies the targets of 5 % of the training patients by ten, and tests on clean ones. ($\delta = 25$ is about half the standard deviation of the residuals.)

# %% covers="explainers:2.1 wu:1.3.6"
with after(ols):
    table = data.diabetes()
    X, y = np.column_stack([np.ones(442), table.X * np.sqrt(442)]), table.y
    rng, weights, errors = np.random.default_rng(10), [], []
    for _ in range(200):
        train, test = np.split(rng.permutation(442), 2)
        beta = np.asarray(ols(X[train], y[train]))
        weights.append(beta[1:])
        errors.append(np.sqrt(np.mean((y[test] - X[test] @ beta) ** 2)))
    weights, errors = np.array(weights), np.array(errors)
    s1, s2 = weights[:, 4], weights[:, 5]
    assert np.corrcoef(s1, s2)[0, 1] < -0.95  # what one takes, the other gives
    print(f"κ(X) = {np.linalg.cond(X):.0f}", end="; ")
    print(f"the weight of s2 is negative in {np.mean(s2 < 0):.0%} of the halves")
    spreads = [round(w.std()) for w in (s1, s2, s1 + s2)]
    print("standard deviations of the weights of s1, s2 and of their sum:", spreads)
    show(*mr.draw_halves(table.names, weights, errors))

# %% covers="moon:5.6"
with after(huber_irls):
    table, rng, rows = data.diabetes(), np.random.default_rng(11), []
    X, y = np.column_stack([np.ones(442), table.X * np.sqrt(442)]), table.y
    for _ in range(20):
        train, test = np.split(rng.permutation(442), 2)
        typed = y[train].copy()
        typed[:11] *= 10
        path = huber_irls(X[train], typed, 25.0, 40)
        clean = huber_irls(X[train], y[train], 25.0, 0)[0]
        fits = np.array([clean, path[0], path[-1]])
        rows.append(np.sqrt(np.mean((y[test] - fits @ X[test].T) ** 2, axis=1)))
    clean, squares, huber = np.mean(rows, axis=0)
    assert squares > 1.3 * clean and huber < 1.05 * clean
    print(
        f"test error: clean data {clean:.0f}; with slips, squares {squares:.0f}",
        end=", ",
    )
    print(f"Huber {huber:.0f}")

# %% [markdown] written="weights_or_predictions" points=2 minutes=6 covers="wu:1.3.6 cs480:3-unstable"
# Over the 200 halves the weights of s1 and s2 scatter widely and in opposite directions, the test error hardly at all. A newspaper takes one fit and reports: "LDL cholesterol (s2) speeds up the disease, total cholesterol (s1) slows it down."
# In three or four sentences: why can the predictions be stable when the weights are not, and what is wrong with the report?
#
# ### BEGIN SOLUTION
# s1 and s2 are strongly correlated (0.9; the other features explain 98 % of the variance of s1). The data fix the sum of their weights well, but patients hardly differ in the direction in which s1 rises and s2 falls; in that direction the weights are free to move, and the predictions hardly change.
# On new patients of the same kind the features are correlated in the same way, so the errors cancel. The weight of s2 says what happens when s2 rises *and s1 stays*, which the data hardly ever show; its size and even its sign depend on which patients were drawn. And a weight in observed data is an association, not an effect.
#
# **Rubric**
# - 1: names the near dependence of the columns: only the combination that varies is determined
# - 1: says that a single weight (others held fixed) is therefore unreliable, or no causal effect
# ### END SOLUTION

# %% [markdown] covers="moon:5.2 moon:5.5 wu:1.3.6"
# ## Take-aways
#
# - A column of ones turns an affine score into one inner product. A 0/1 column is a gap between parallel planes.
# - Least squares is a projection: residuals are perpendicular to every column. $H$ exists for every $X$; its trace is the rank.
# - Unique weights need independent columns. Near dependence is no obstacle to existence; it is a matter of digits and of noise. $\kappa(X)$ measures both, if the columns have like units: rescaling a column changes it.
# - Forming $X^\top X$ squares $\kappa$. QR and SVD do not; QR costs at most about twice as much. With a large residual the problem itself has sensitivity $\kappa^2$.
# - Training costs $O(nd^2 + d^3)$, prediction $O(d)$ a row.
# - With too few rows there are many perfect fits. $X^+y$ is the shortest; gradient descent from zero finds it, and $(X^\top X + \delta I)^{-1}X^\top y$ tends to it as $\delta \downarrow 0$. What that fit is worth on new data is the question of [Splines, interpolation and double descent](05_double_descent.ipynb).
# - Known noise: whiten, then fit. Unknown bad rows: bound their pull, and beware of far-out features.
#
# ## What the notes got wrong
#
# The last three are slips of wording, with nothing to compute. And two gaps were filled above: cs480 leaves the geometry of least squares as a "TODO", and moon's 5.6 names the trouble with outliers but no remedy.

# %% covers="moon:5.2 explainers:2.1.b wu:1.3.6" demo=true
rng = np.random.default_rng(12)
fat = rng.normal(size=(3, 6))
erratum(
    "moon:5.2",
    r"rank$(X) = m$ with $m < d$, so that $X^\top X$ is invertible",
    r"rank$(X) = m$ with $m < d$, so that $XX^\top$ is invertible "
    r"($X^\top X$ is $d \times d$ of rank $m$)",
    printed_holds=np.linalg.matrix_rank(fat.T @ fat) == 6,
    corrected_holds=np.linalg.matrix_rank(fat @ fat.T) == 3,
)
same, differ = np.array([fat[0], fat[0]]), np.array([1.0, 2.0])
erratum(
    "moon:5.2",
    r"$m < d$: infinitely many solutions of $y = X\theta$",
    r"$m < d$: infinitely many minimisers of $\|y - X\theta\|$; $y = X\theta$ may "
    "have no solution (the same row twice with two targets), but has infinitely many "
    "if rank$(X) = m$",
    printed_holds=np.allclose(same @ np.linalg.pinv(same) @ differ, differ),
    corrected_holds=np.allclose(fat @ np.linalg.pinv(fat) @ [1, 2, 3], [1, 2, 3]),
)
nearly = np.diag([1.0, 1e-3])  # an X^T X with a small eigenvalue
erratum(
    "explainers:2.1.b",
    r"$X^\top X + \delta I$ for some small $\delta \in \mathbb R$ is invertible",
    r"… for every $\delta > 0$: it is then positive definite (a negative $\delta$ can "
    "hit minus an eigenvalue)",
    printed_holds=np.linalg.matrix_rank(nearly - 1e-3 * np.eye(2)) == 2,
    corrected_holds=np.linalg.eigvalsh(nearly + 1e-3 * np.eye(2)).min() > 0,
)
close = np.array([[0.0, 1.0], [2.0**-10, 1.0]])
erratum(
    "wu:1.3.6",
    r"$\hat\beta$ exists only without severe multicollinearity",
    r"$\hat\beta$ is unique exactly when the columns are independent, however near to "
    r"dependence they are ($\kappa(X) = 2000$ here); near dependence costs digits "
    "and precision",
    printed_holds=np.linalg.matrix_rank(close) < 2,
    corrected_holds=np.allclose(np.linalg.solve(close, [1, -1]), [-2048, 1]),
)

# %% covers="moon:5.1 moon:5.5 explainers:2.1" demo=true
m, d = 8, 3
X, theta, eta = rng.normal(size=(m, d)), rng.normal(size=d), rng.normal(size=m)
y = X @ theta + eta
erratum(
    "moon:5.1",
    r"$y = [y_1, \dots, y_d]^\top$ with $X$ of size $m \times d$",
    r"$y = [y_1, \dots, y_m]^\top$, and so $\eta$ and $x$: $m$ measurements, "
    "$d$ parameters",
    printed_holds=(X @ theta).shape == (d,),
    corrected_holds=(X @ theta).shape == (m,),
)
erratum(
    "moon:5.1",
    r"the model is $g_\theta(y) = X\theta + \eta$",
    r"the model is $g_\theta(x) = X\theta$; the noise belongs to the data, "
    r"$y = X\theta + \eta$, and $\epsilon = y - g_\theta(x)$",
    printed_holds=np.allclose(y - (X @ theta + eta), eta),
    corrected_holds=np.allclose(y - X @ theta, eta),
)
sigma, e = np.array([0.5, 2.0]), np.array([1.0, 3.0])
erratum(
    "moon:5.5",
    "the objective divides each residual by its variance",
    "the objective divides each residual by its standard deviation, "
    "each squared residual by its variance",
    printed_holds=np.isclose(
        np.sum((e / sigma**2) ** 2), e @ np.diag(1 / sigma**2) @ e
    ),
    corrected_holds=np.isclose(np.sum((e / sigma) ** 2), e @ np.diag(1 / sigma**2) @ e),
)
graph = np.column_stack([X, X @ theta])  # points (x, f(x))
erratum(
    "explainers:2.1",
    r"the hyperplane that regression fits is $f_\theta(x) = 0$",
    r"it is the graph $y = f_\theta(x)$ (its points $(x, f_\theta(x))$ are tested)",
    printed_holds=np.allclose(graph[:, :d] @ theta, 0),
    corrected_holds=np.allclose(graph @ [*theta, -1], 0),
)
erratum(
    "explainers:2.1",
    r"$\mathrm{MSE}(\theta) = \|y - X\theta\|^2$ (in the derivation)",
    r"$\mathrm{MSE}(\theta) = \frac1n\|y - X\theta\|^2$, as defined before; "
    "the minimiser is the same",
    printed_holds=np.isclose(np.mean((y - X @ theta) ** 2), np.linalg.norm(eta) ** 2),
    corrected_holds=np.isclose(
        np.mean((y - X @ theta) ** 2), np.linalg.norm(eta) ** 2 / m
    ),
)

# %% covers="moon:5.1 moon:5.2 moon:5.5"
erratum(
    "moon:5.1",
    r"$X^\top(X\theta - y)$ is called the normal equation; the number of rows is $m$, "
    "later $n$ and $N$",
    r"$X^\top(X\theta - y) = 0$ are the normal equations; one letter for the rows",
)
erratum(
    "moon:5.2",
    "$X$ should be linearly independent; Gram matrix (c.f., ??)",
    "the columns of $X$ should be linearly independent; the cross-reference is dead",
)
erratum(
    "moon:5.5",
    r"$J(\tilde x)$; 'OLEs'; $l$ measurements",
    r"$J(\theta)$; OLS; $m$ measurements, as before",
)

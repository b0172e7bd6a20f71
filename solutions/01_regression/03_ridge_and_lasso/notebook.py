# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] minutes=90 builds="ridge in three forms, the lasso by coordinate descent, and early stopping, all on one footing"
# # Ridge, lasso and priors
#
# Lectures: cs480 3.4–3.6 · explainers 3.2–3.2.3 · guo II.5 · moon 5.4 · wu 1.4.2.
#
# Least squares believes every row. With few rows, many features or twin columns it believes too much. This notebook teaches it some doubt.
# At the end you can
#
# - fit ridge by its closed form, by one SVD for all penalties, and in the dual form, and say which is cheapest;
# - read a penalty as a prior, and turn the width of a prior into a $\lambda$;
# - derive the soft threshold, and build the lasso on it by coordinate descent;
# - stop training early by a rule, and say how near that comes to ridge.

# %%
import numpy as np
from ipywidgets import Dropdown, FloatSlider, IntSlider
from scipy.optimize import minimize
from scipy.stats import norm

from descent import after, check, data, erratum, explore, hint, predict, show, start
from descent.pictures.regression import ridge_and_lasso as rl

start("01_regression/03_ridge_and_lasso")

# %% [markdown] covers="explainers:3.2 wu:1.4.2"
# ## Why it matters
#
# Twelve noisy points, and a curve built from 30 **hinges** $\max(0, x - b_j)$: a broken line whose slope changes by $\beta_j$ at the *knot* $b_j$. More weights than points, so many weight vectors fit
# every point exactly. Left and middle are two of them. Their training error is the same, 0. Which would you trust?
#
# On the right the training error is *not* 0: a penalty on $\sum_j \beta_j^2$ has been added to it. Each title gives the mean squared distance from the truth.

# %% covers="explainers:3.2 wu:1.4.2" demo=true
fits = rl.zero_error_fits()
assert max(fits["train"]["zero error, wild"], fits["train"]["zero error, calm"]) < 1e-12
assert fits["train"]["penalised"] > 0.01  # misses the data, is nearer to the truth
assert fits["test"]["penalised"] < fits["test"]["zero error, calm"]
show(*rl.draw_zero_error())

# %% [markdown] covers="cs480:def3.4 moon:5.4"
# ## Ridge: one idea, five scalings
#
# $X$ holds $n$ rows of $d$ features, $y$ the $n$ targets, $w$ the $d$ weights, and $\lambda \ge 0$ is the **penalty**. Without an offset for now, ridge minimises
#
# $$\lVert y - Xw \rVert^2 + \lambda \lVert w \rVert^2 .$$
#
# The gradient is $-2X^\top(y - Xw) + 2\lambda w$. Set to zero:
#
# $$(X^\top X + \lambda I)\,w = X^\top y .$$
#
# For $\lambda > 0$ the matrix is positive definite, $v^\top(X^\top X + \lambda I)v = \lVert Xv\rVert^2 + \lambda\lVert v\rVert^2 > 0$ for $v \ne 0$. Twice it is the second derivative, so the objective is strictly convex: the equation has exactly one solution, the minimum, *whatever* $X$ is. Also with more columns than rows, also with twin columns.
#
# The notes scale the two terms differently. Call their penalty $\lambda'$; each minimiser is ours for this $\lambda$:
#
# | who | minimises | our $\lambda$ |
# |---|---|---|
# | moon, scikit-learn's `Ridge` | $\lVert y - Xw \rVert^2 + \lambda' \lVert w \rVert^2$ | $\lambda'$ |
# | cs480, guo | $\frac1n\lVert y - Xw \rVert^2 + \lambda' \lVert w \rVert^2$ | $n\lambda'$ |
# | wu | $\frac12\lVert y - Xw \rVert^2 + \lambda' \lVert w \rVert^2$ | $2\lambda'$ |
# | explainers, noise of variance $\sigma^2$ | $\frac1{2\sigma^2}\lVert y - Xw \rVert^2 + \lambda' \lVert w \rVert^2$ | $2\sigma^2\lambda'$ |
#
# (cs480 writes samples as *columns*, $W = YX^\top(XX^\top + n\lambda' I)^{-1}$: the same, transposed.) Whenever somebody tells you a $\lambda$, ask: of which objective?

# %% covers="cs480:def3.4 moon:5.4 wu:1.4.2 explainers:3.2.2" demo=true
rng, n, lam, sigma = np.random.default_rng(0), 12, 3.0, 0.7
X, y = rng.normal(size=(n, 4)), rng.normal(size=n)
w = np.linalg.solve(X.T @ X + lam * np.eye(4), X.T @ y)
assert np.allclose(-2 * X.T @ (y - X @ w) + 2 * lam * w, 0)  # the gradient vanishes


def scaled(v, weight, theirs):
    return weight * np.sum((y - X @ v) ** 2) + theirs * v @ v


raw = 2 * sigma**2
for weight, of_theirs in ((1, 1), (1 / n, n), (1 / 2, 2), (1 / raw, raw)):
    found = minimize(scaled, np.zeros(4), args=(weight, lam / of_theirs), tol=1e-9).x
    assert np.allclose(found, w, atol=1e-4)
columns, theirs = X.T, lam / n  # cs480: samples are columns
W = y @ columns.T @ np.linalg.inv(columns @ columns.T + n * theirs * np.eye(4))
assert np.allclose(W, w)

# %% [markdown] covers="guo:II.5.a wu:1.4.2"
# ### The offset goes free
#
# A penalty says "weights are small". It should not say "the targets are near 0". So the **offset** $b$ is left out of it:
#
# $$\lVert y - Xw - b\mathbf 1 \rVert^2 + \lambda \lVert w \rVert^2 \qquad (\mathbf 1: n \text{ ones}).$$
#
# For a fixed $w$ the best $b$ is the mean of what is left, $b = \bar y - \bar x \cdot w$, where $\bar x$ is the mean row. Put it in: ridge on the *centred* $y - \bar y$ and $x_i - \bar x$, without any offset.
# That is guo's question, "are the data centred?": if they are, $b = 0$ comes by itself.
# (Stuck? `hint(ridge)`, up to three times; so for every exercise.)


# %% exercise="ridge" points=3 minutes=10 difficulty=1 covers="guo:II.5.a wu:1.4.2 cs480:def3.4 explainers:3.2.2"
def ridge(X, y, lam):
    """Weights and offset that minimise sum((y - X w - b)²) + lam * sum(w²).

    X (n, d), y (n,), lam >= 0; the offset b is not penalised.
    If lam is 0, the centred columns are independent.
    Returns (w, b): w (d,) and b a number.
    X = [[0], [2]], y = [1, 5], lam = 2 give w = [1], b = 2.
    """
    ### BEGIN SOLUTION
    A = X - X.mean(axis=0)
    gram = A.T @ A + lam * np.eye(X.shape[1])
    w = np.linalg.solve(gram, A.T @ (y - y.mean()))
    return w, y.mean() - X.mean(axis=0) @ w
    ### END SOLUTION


# %% check="ridge"
check(ridge)

# %% [markdown] covers="cs480:def3.4 guo:II.5.a"
# What must hold of it, on the diabetes data (442 patients, ten features in standard deviations): it is scikit-learn's `Ridge`; the gradient vanishes; $\lambda \to 0$ gives least squares, $\lambda \to \infty$ gives $w = 0$ and $b = \bar y$ (divide the objective by $\lambda$);
# the norm of $w$ falls all the way; and gradient descent on the same objective ends there too.
# Least squares does not mind units; a penalty does. In grams instead of kilograms a feature has a weight 1000 times smaller, and next to no penalty. So bring all features to one scale first.

# %% covers="cs480:def3.4 guo:II.5.a moon:5.4"
with after(ridge):
    from sklearn.linear_model import Ridge

    X, y = data.diabetes().X * np.sqrt(442) + 1, data.diabetes().y
    w, b = ridge(X, y, 50.0)
    model = Ridge(50.0).fit(X, y)
    assert np.allclose(w, model.coef_) and np.isclose(b, model.intercept_)
    assert np.allclose(X.T @ (y - X @ w - b), 50.0 * np.asarray(w))  # gradient is 0
    padded = np.column_stack([np.ones(442), X])
    assert np.allclose(ridge(X, y, 1e-9)[0], np.linalg.lstsq(padded, y)[0][1:])
    held, level = ridge(X, y, 1e9)
    assert np.linalg.norm(held) < 1e-2 and np.isclose(level, y.mean())
    norms = [np.linalg.norm(ridge(X, y, lam)[0]) for lam in np.logspace(-3, 6, 30)]
    assert np.all(np.diff(norms) < 0)
    v, t, r = np.zeros(10), X - X.mean(axis=0), y - y.mean()
    for _ in range(800):  # gradient descent
        v -= 4e-4 * (t.T @ (t @ v - r) + 50.0 * v)
    assert np.allclose(v, w, atol=1e-6)
    units = np.where(np.arange(10) == 2, 1000, 1)  # one feature in grams
    least, held = (ridge(X * units, y, lam)[0] * units for lam in (0.0, 50.0))
    assert np.allclose(least, ridge(X, y, 0.0)[0]) and abs(held[2] - w[2]) > 1
    print("λ          ", *(f"{lam:8g}" for lam in (0, 50, 1000, 1e5)))
    print(
        "norm of w  ",
        *(f"{np.linalg.norm(ridge(X, y, k)[0]):8.2f}" for k in (0, 50, 1000, 1e5)),
    )

# %% [markdown] covers="guo:II.5.a cs480:def3.4"
# And if the offset *is* penalised, as it silently is when a column of ones is padded to $X$ and the whole of $w$ goes into the penalty (cs480's form does that)? Measure temperatures in Celsius or in Kelvin, and see.

# %% covers="guo:II.5.a cs480:def3.4" demo=true
rng = np.random.default_rng(1)
x = rng.uniform(1, 2, 30)
celsius = 3 * x + 10 + 0.2 * rng.normal(size=30)
A = np.column_stack([np.ones(30), x])


def slope(target, penalty):
    return np.linalg.solve(A.T @ A + penalty, A.T @ target)[1]


everything, slope_only = 2.0 * np.eye(2), 2.0 * np.diag([0.0, 1.0])
both = (slope_only, everything)
changes = [slope(celsius + 273, k) - slope(celsius, k) for k in both]
assert abs(changes[0]) < 1e-9 and abs(changes[1]) > 10
predict(
    "The targets are given in kelvin instead of °C: 273 is added to each. "
    "What happens to the slope of a ridge fit with a PENALISED offset?",
    ["nothing", "it changes by less than 1", "it changes by more than 10"],
    truth=2,
    because=f"It changes by {changes[1]:.0f}: the slope has to lift what the held-down "
    "offset may not. With a free offset it does not change at all.",
)

# %% [markdown] covers="cs480:prop3.5 moon:5.4 cs480:3-unstable"
# ## What $\lambda$ does to the matrix
#
# The singular value decomposition $X = USV^\top$ gives orthonormal directions $v_j$ of the features and singular values $s_1 \ge \dots \ge s_d \ge 0$ (for $d > n$, the last ones are 0). Because $VV^\top = I$,
#
# $$X^\top X + \lambda I = V\,(S^\top S + \lambda I)\,V^\top, \qquad \text{condition number} = \frac{s_1^2 + \lambda}{s_d^2 + \lambda}.$$
#
# Every eigenvalue moves up by $\lambda$. So *any* $\lambda > 0$ makes the matrix invertible (a negative one could hit $-s_j^2$), and a larger one makes it better conditioned. This is the small number that many programs add to a diagonal when `solve` complains. With $j$ up to the smaller of $n$ and $d$, division turns into
#
# $$w = \sum_j \frac{s_j}{s_j^2 + \lambda}\,(u_j \cdot y)\,v_j, \qquad Xw = \sum_j \frac{s_j^2}{s_j^2 + \lambda}\,(u_j \cdot y)\,u_j .$$
#
# The **shrinkage factor** $s^2/(s^2+\lambda)$ is near 1 where the data vary much ($s^2 \gg \lambda$) and near 0 where they hardly vary. Ridge distrusts the directions in which it has seen little.
#
# The cell takes cs480's example, two rows that almost contradict each other: $x = (0, 1)$ has target 1, $x = (\varepsilon, 1)$ has target $-1$.

# %% covers="cs480:prop3.5 cs480:3-unstable moon:5.4" demo=true
print("  ε     least squares         ridge, λ = 0.2      condition number")
for eps in (0.5, 0.1, 0.01):
    X, y, lam = np.array([[0, 1], [eps, 1]]), np.array([1.0, -1.0]), 0.2
    w = np.linalg.solve(X.T @ X + lam * np.eye(2), X.T @ y)
    U, s, Vt = np.linalg.svd(X)
    free = np.linalg.solve(X, y)
    assert np.allclose(free, [-2 / eps, 1])
    assert np.allclose(X.T @ X + lam * np.eye(2), Vt.T @ np.diag(s**2 + lam) @ Vt)
    assert np.allclose(w, Vt.T @ (s / (s**2 + lam) * (U.T @ y)))
    assert np.allclose(X @ w, U @ (s**2 / (s**2 + lam) * (U.T @ y)))
    before, now = (np.linalg.cond(X.T @ X + k * np.eye(2)) for k in (0, lam))
    assert np.isclose(now, (s[0] ** 2 + lam) / (s[1] ** 2 + lam))
    print(
        f"{eps:5}  ({free[0]:7.1f}, {free[1]:4.1f})    ({w[0]:7.3f}, {w[1]:7.4f})"
        f"    {before:8.0f} -> {now:.1f}"
    )

# %% [markdown] covers="cs480:prop3.5 moon:5.4"
# One SVD serves every $\lambda$: only the factors change. Write that. With $\lambda = 0$ you must decide what to do with $s_j = 0$: such a direction gets weight 0. The result is then the *minimum-norm* least-squares solution of `02_multiple_regression`, the limit of ridge as $\lambda \to 0$.
# In floating point a zero may come out as $10^{-17}$, so count $s_j \le 10^{-10} s_1$ as 0.


# %% exercise="ridge_svd" points=3 minutes=9 difficulty=2 covers="cs480:prop3.5 moon:5.4 explainers:3.2.2"
def ridge_svd(X, y, lams):
    """Ridge weights, without offset, for several penalties, from one SVD.

    X (n, d), not all zero; y (n,); lams (k,), each >= 0. Returns (k, d).
    Row i minimises sum((y - X w)²) + lams[i] * sum(w²). Singular values up to
    1e-10 times the largest count as 0; their directions get weight 0, for any penalty.
    X = [[1, 1], [1, 1]], y = [2, 4], lams = [0, 4] give [[1.5, 1.5], [0.75, 0.75]].
    """
    ### BEGIN SOLUTION
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    kept = s > 1e-10 * s[0]
    U, s, Vt = U[:, kept], s[kept], Vt[kept]
    factors = s / (s**2 + np.asarray(lams)[:, None])
    return (factors * (U.T @ y)) @ Vt
    ### END SOLUTION


# %% check="ridge_svd"
check(ridge_svd)

# %% [markdown] covers="cs480:prop3.5 cs480:def3.4 guo:II.5.a moon:5.4"
# **Your path on real data**: 60 of the diabetes patients to train, the other 382 to test. Two blood values, `s1` and `s2`, are nearly one (total and "bad" cholesterol).
#
# **Find out with the slider.** (1) At $\lambda = 0.01$, `s1` and `s2` have large weights of opposite signs. At which $\lambda$ has `s1` all but vanished?
# (2) Which directions does $\lambda = 10$ change most? (3) Where is the condition number below 2, and what has it cost? (4) Training error only ever rises with $\lambda$. Why?

# %% covers="cs480:prop3.5 cs480:def3.4 guo:II.5.a moon:5.4"
with after(ridge_svd):
    order = np.random.default_rng(0).permutation(442)
    table, train, test = data.diabetes(), order[:60], order[60:]
    X, y = rl.standardised(table.X, table.y, train)
    limit = ridge_svd(X[train[:6]], y[train[:6]], [0.0, 1e-9])
    assert np.allclose(limit[0], np.linalg.pinv(X[train[:6]]) @ y[train[:6]])
    assert np.allclose(limit[1], limit[0], atol=1e-6)  # the limit of small penalties
    explore(
        rl.ridge_explorer(ridge_svd, X, y, table.names, train, test),
        log_lambda=FloatSlider(
            -2,
            min=-2,
            max=5,
            step=0.1,
            continuous_update=False,
            description="log₁₀ penalty λ",
        ),
    )

# %% [markdown] covers="cs480:rem3.6 explainers:3.2.2"
# ## Ridge as invented data
#
# A penalty can be smuggled in as data. Add one fake row a feature, $\sqrt\lambda\, e_j$ ($e_j$ has a 1 at place $j$ and 0 elsewhere), with target 0. Its squared residual is $(0 - \sqrt\lambda\, w_j)^2 = \lambda w_j^2$, so
#
# $$\lVert y - Xw \rVert^2 + \lambda \lVert w \rVert^2 = \left\lVert \begin{pmatrix} y \\ 0 \end{pmatrix} - \begin{pmatrix} X \\ \sqrt\lambda\, I \end{pmatrix} w \right\rVert^2 \quad \text{for every } w .$$
#
# In cs480's scaling the fake points are $\sqrt{n\lambda'}\,e_j$, and the $\frac1n$ in front keeps the *old* $n$. Any least-squares routine can now do ridge.

# %% covers="cs480:rem3.6 explainers:3.2.2" demo=true
rng, n, d, lam = np.random.default_rng(3), 9, 4, 2.5
X, y = rng.normal(size=(n, d)), rng.normal(size=n)
tall = np.vstack([X, np.sqrt(lam) * np.eye(d)])
targets = np.append(y, np.zeros(d))
for w in rng.normal(size=(5, d)):  # equal for every w
    loss = np.sum((targets - tall @ w) ** 2)
    assert np.isclose(loss, np.sum((y - X @ w) ** 2) + lam * w @ w)
    theirs = np.mean((y - X @ w) ** 2) + lam / n * w @ w  # cs480: λ' = λ / n
    assert np.isclose(loss / n, theirs) and not np.isclose(loss / (n + d), theirs)
w = np.linalg.lstsq(tall, targets)[0]
assert np.allclose(w, np.linalg.solve(X.T @ X + lam * np.eye(d), X.T @ y))
show(*rl.draw_fake_points())

# %% [markdown] covers="moon:5.4"
# ## The dual form
#
# Let $\lambda > 0$. Solve the normal equation for the $w$ beside $\lambda$:
#
# $$\lambda w = X^\top (y - Xw) \quad\Longrightarrow\quad w = X^\top \alpha, \qquad \alpha = \tfrac1\lambda\,(y - Xw) .$$
#
# The weights are a combination of the *rows*, one coefficient $\alpha_i$ a row: the scaled residual. Put $w = X^\top\alpha$ into $\lambda\alpha = y - Xw$:
#
# $$\lambda\alpha = y - XX^\top\alpha \quad\Longrightarrow\quad (G + \lambda I)\,\alpha = y, \qquad G = XX^\top, \quad G_{ik} = x_i \cdot x_k .$$
#
# A $d \times d$ system has become an $n \times n$ system. A new row $x$ gets $x \cdot w = \sum_i \alpha_i\, (x_i \cdot x)$. Features enter *only through inner products*. (Replace these by another similarity, and you have the kernel methods of `04_margins_and_kernels`.)


# %% exercise="ridge_dual" points=3 minutes=8 difficulty=2 covers="moon:5.4"
def ridge_dual(X, y, lam):
    """The dual weights alpha of ridge without offset: its weights are w = X.T @ alpha.

    X (n, d), y (n,), lam > 0. Returns (n,), one weight a row of X.
    X = [[1, 0], [1, 1]], y = [3, 5], lam = 1 give [0.8, 1.4]; then w = [2.2, 1.4].
    """
    ### BEGIN SOLUTION
    return np.linalg.solve(X @ X.T + lam * np.eye(len(y)), y)
    ### END SOLUTION


# %% check="ridge_dual"
check(ridge_dual)

# %% [markdown] covers="moon:5.4 moon:5.4.1"
# **Primal equals dual.** The cell compares both to $10^{-8}$, for fewer and for more rows than features. As $\lambda \to 0$ the dual form gives the minimum-norm fit to an under-determined system (for a fixed $\lambda > 0$ it does *not* solve $Xw = y$).
#
# Then the widget: 30 features, $n$ rows, the primal curve wide and pale, your dual curve dashed on top. **Find out:** (1) can any slider part the curves? (2) At which $n$ does the cheaper form change?

# %% covers="moon:5.4 moon:5.4.1"
with after(ridge_dual):
    rng = np.random.default_rng(5)
    for n, d in ((5, 12), (12, 5), (8, 8)):
        X, y = rng.normal(size=(n, d)), rng.normal(size=n)
        primal = np.linalg.solve(X.T @ X + 0.3 * np.eye(d), X.T @ y)
        alpha = np.asarray(ridge_dual(X, y, 0.3))
        assert np.allclose(X.T @ alpha, primal, rtol=0, atol=1e-8)
        assert np.allclose(alpha, (y - X @ primal) / 0.3)
    X, y = rng.normal(size=(5, 12)), rng.normal(size=5)
    nearly = X.T @ ridge_dual(X, y, 1e-9)
    assert np.allclose(nearly, np.linalg.pinv(X) @ y, atol=1e-6)
    assert np.linalg.norm(y - X @ X.T @ ridge_dual(X, y, 1.0)) > 0.01
    explore(
        rl.forms_explorer(ridge_dual),
        n=IntSlider(12, min=3, max=200, description="rows n", continuous_update=False),
        log_lambda=FloatSlider(
            0,
            min=-3,
            max=3,
            step=0.25,
            continuous_update=False,
            description="log₁₀ penalty λ",
        ),
    )

# %% [markdown] covers="moon:5.4.1"
# ### Which one costs less?
#
# Count multiplications, leading terms only. A symmetric $k \times k$ system takes about $k^3/3$ or less.
#
# | | form the matrix | solve | predict one new row |
# |---|---|---|---|
# | primal | $n d^2$ | $d^3/3$ | $d$ |
# | dual | $n^2 d$ | $n^3/3$ | $nd$ with $\alpha$; $d$ if $w = X^\top\alpha$ is stored |
#
# The difference, primal minus dual, is $nd(d - n) + (d^3 - n^3)/3$: its sign is that of $d - n$. So take the primal form if $d \le n$ and the dual if $d > n$. The right panel times both on this machine.


# %% covers="moon:5.4.1" demo=true
def choose_form(n, d):
    return "primal" if d <= n else "dual"


for n, d in ((10, 500), (500, 10), (30, 31), (31, 30)):
    cost = rl.training_cost(n, d)
    assert choose_form(n, d) == min(cost, key=cost.get)
shapes = [(75, 1200), (150, 600), (212, 424), (300, 300)]
shapes += [(d, n) for n, d in shapes[-2::-1]]
show(*rl.draw_cost(shapes, rl.measured_cost(shapes)), digits=0)
cost = rl.training_cost(100, 20_000)
predict(
    "A study measures 20 000 genes in 100 patients. How many times as many "
    "multiplications does training ridge take in the primal form as in the dual?",
    ["about 2", "about 200", "about 13 000", "about a million"],
    truth=int(
        np.argmin(
            np.abs(
                np.log([2, 200, 13_000, 1e6]) - np.log(cost["primal"] / cost["dual"])
            )
        )
    ),
    because=f"{cost['primal']:.1e} against {cost['dual']:.1e}: "
    "the cube of 20 000 is what hurts.",
)

# %% [markdown] covers="explainers:3.2"
# ## A penalty is a prior
#
# Where does $\lambda\lVert w\rVert^2$ come from? Before seeing data, you hold some weights for more plausible than others: a **prior** density $p(w)$. Data have the **likelihood** $p(y \mid X, w, b)$. Bayes' rule gives the **posterior**
#
# $$p(w, b \mid \text{data}) = \frac{p(y \mid X, w, b)\; p(w)}{p(y \mid X)}, \qquad -\log p(w, b \mid \text{data}) = -\sum_i \log p(y_i \mid x_i, w, b) - \sum_j \log p(w_j) + \text{constant},$$
#
# for independent rows and independent weights. The most plausible parameters, the *maximum a posteriori* or **MAP** estimate, minimise loss + penalty, with penalty $= -\log$ prior. The offset has a *flat* prior ($\log p(b)$ constant), so it has no term. With a flat prior on $w$ too, MAP is maximum likelihood.
#
# Write the objective, normalising constants included, for
#
# - targets $y_i \sim \mathcal N(x_i\cdot w + b,\ \sigma^2)$, with $\sigma$ the `noise_sd`;
# - `"gaussian"`: $w_j \sim \mathcal N(0, \tau^2)$ with $\tau$ the `prior_sd`;
# - `"laplace"`: density $\frac\kappa2 e^{-\kappa|w_j|}$, whose variance is $2/\kappa^2$; choose the **rate** $\kappa$ so that the standard deviation is `prior_sd`;
# - `"flat"`: no prior term.


# %% exercise="map_objective" points=3 minutes=10 difficulty=2 covers="explainers:3.2 explainers:3.2.1 explainers:3.2.2"
def map_objective(w, b, X, y, noise_sd, prior, prior_sd):
    """Negative log likelihood of the rows minus the log prior of the weights.

    w (d,), b a number, X (n, d), y (n,); noise_sd and prior_sd > 0 are standard
    deviations; prior is "flat", "gaussian" or "laplace". The offset's prior is flat.
    Natural logarithms; every density with its normalising constant. Returns a number.
    With w = [1], b = 0, X = [[2]], y = [3], noise_sd = 1 and prior_sd = 1:
    "flat" gives 1.4189, "gaussian" 2.8379, "laplace" 3.1797.
    """
    ### BEGIN SOLUTION
    r = (y - X @ w - b) / noise_sd
    value = np.sum(r**2 / 2 + np.log(noise_sd) + np.log(2 * np.pi) / 2)
    if prior == "gaussian":
        normal = (w / prior_sd) ** 2 / 2 + np.log(prior_sd) + np.log(2 * np.pi) / 2
        value += np.sum(normal)
    elif prior == "laplace":
        rate = np.sqrt(2) / prior_sd
        value += np.sum(rate * np.abs(w) - np.log(rate / 2))
    return value
    ### END SOLUTION


# %% check="map_objective"
check(map_objective)

# %% [markdown] covers="explainers:3.2.2 explainers:3.2.1 explainers:3.2"
# **From prior to $\lambda$.** Multiply the objective by $\sigma^2$ and drop constants:
#
# $$\text{Gauss: } \tfrac12\lVert y - Xw - b\rVert^2 + \tfrac12\underbrace{\tfrac{\sigma^2}{\tau^2}}_{\lambda}\lVert w\rVert^2, \qquad \text{Laplace: } \tfrac12\lVert y - Xw - b\rVert^2 + \underbrace{\sqrt2\,\tfrac{\sigma^2}{\tau}}_{\lambda}\textstyle\sum_j|w_j| .$$
#
# The first is ridge with $\lambda = \sigma^2/\tau^2$. Noisy data or a narrow prior mean a large penalty. (MAP keeps only the peak of the posterior; `06_probabilistic_models/02_bayesian_regression` keeps all of it. The notes' $\lambda' = 1/2\tau^2$ belongs to the raw negative log-likelihood: our table above turns it into the same $\sigma^2/\tau^2$.) The second is the **lasso**, of which more below.
# The cell checks both on simulated data: no step away from the ridge solution, or from scikit-learn's lasso solution, lowers your objective.

# %% covers="explainers:3.2 explainers:3.2.1 explainers:3.2.2"
with after(map_objective):
    from sklearn.linear_model import Lasso, LinearRegression, Ridge

    def prior_to_lambda(noise_sd, prior, prior_sd):
        per_variance = 1 / prior_sd**2 if prior == "gaussian" else 2**0.5 / prior_sd
        return noise_sd**2 * per_variance

    rng, sigma, tau = np.random.default_rng(6), 1.5, 0.8
    X = rng.normal(size=(25, 4))
    y = X @ np.array([2.0, -1.0, 0, 0]) + 7 + sigma * rng.normal(size=25)
    alpha = prior_to_lambda(sigma, "laplace", tau) / 25  # for a sum divided by 2n
    models = {
        "flat": LinearRegression(),
        "gaussian": Ridge(prior_to_lambda(sigma, "gaussian", tau)),
        "laplace": Lasso(alpha, tol=1e-12, max_iter=10_000),
    }
    for prior, model in models.items():
        w, b = model.fit(X, y).coef_, model.intercept_
        rest = X, y, sigma, prior, tau
        lowest = map_objective(w, b, *rest)
        for size in (1e-3, 0.1):
            for dw, db in zip(rng.normal(size=(100, 4)), rng.normal(size=100)):
                assert map_objective(w + size * dw, b + size * db, *rest) > lowest
        print(f"{prior:9} w = {np.round(w, 3) + 0.0}, b = {b:.2f}")

# %% [markdown] covers="explainers:3.2.1"
# **Two priors.** Left, Laplace densities $\frac\kappa2 e^{-\kappa|w|}$: they integrate to 1, fall with slope $-\kappa$ in the logarithm, and have variance $2/\kappa^2$. Right, Laplace and Gauss of the same variance. The Laplace prior holds *large* weights for more likely than the Gaussian does, and weights very near 0 as well.
# Its zeros do not come from its tails. They come from the cusp.

# %% covers="explainers:3.2.1" demo=true
w, step = np.linspace(-60, 60, 1_200_001, retstep=True)
for kappa in (0.5, 1, 2, 3):
    density = kappa / 2 * np.exp(-kappa * np.abs(w))
    assert np.isclose(density.sum() * step, 1, atol=1e-6)
    assert np.isclose((w**2 * density).sum() * step, 2 / kappa**2, rtol=1e-5)
fall = np.diff(np.log(density[w > 0])) / step
assert np.allclose(fall, -3, atol=1e-4)  # of the last one, κ = 3
show(*rl.draw_priors())

# %% [markdown] covers="explainers:3.2 explainers:3.2.2.a"
# **Find out below** what a prior does to two weights whose likelihood is a tilted valley. Lines: the likelihood. Dotted: the prior. Shaded: their sum, the negative log posterior. (1) Narrow the prior. On which way does each MAP walk to the origin? (2) At which prior width does the Laplace MAP lose $w_2$, and does the Gaussian ever?
# (3) Double the noise. What does the prior have to do to keep the MAP in place?

# %% covers="explainers:3.2 explainers:3.2.2.a" demo=true
explore(
    rl.draw_posterior,
    log_sd=FloatSlider(
        0.5,
        min=-1.2,
        max=1.2,
        step=0.1,
        continuous_update=False,
        description="log₁₀ prior sd",
    ),
    noise=FloatSlider(
        1.0, min=0.25, max=3, step=0.25, continuous_update=False, description="noise sd"
    ),
)

# %% [markdown] covers="explainers:3.2.2.a guo:II.5.a"
# ### Diamonds and discs
#
# Other powers make a penalty too: $\sum_j |w_j|^p$ with $p \ge 1$ (convex). At the minimum, a contour of the loss touches the ball of all weights with the same penalty: the slopes of loss and penalty must balance. A disc may be touched anywhere. A diamond has corners on the axes, and a whole *range* of valleys touches it at a corner. There a weight is exactly 0.
# For every $p > 1$ the ball is smooth at the axes, so an exact 0 would be an accident.
#
# A penalty adds nothing at the origin and more the farther out you go: it *raises* the landscape away from the origin.

# %% covers="explainers:3.2.2.a guo:II.5.a" demo=true
H, centre = rl.LOSS


def height(v, p):
    return (v - centre) @ H @ (v - centre) / 2 + 0.8 / p * np.sum(np.abs(v) ** p)


for p in (1.0, 1.5, 2.0):  # the minima drawn below are minima
    w = rl.penalised_minima(H, centre, [0.8 / p], p)[0]
    around = w + 1e-3 * np.random.default_rng(0).normal(size=(200, 2))
    assert all(height(v, p) > height(w, p) for v in around)
    assert (w[1] == 0) == (p == 1)
show(*rl.draw_balls())

# %% [markdown] covers="explainers:3.2.1 explainers:3.2.2.a"
# ## The soft threshold
#
# One weight $w$, one number $a$ (its value without penalty):
#
# $$\min_w\ \tfrac12 (w - a)^2 + \lambda |w| .$$
#
# - If the minimum is at $w > 0$, the slope there is $w - a + \lambda = 0$, so $w = a - \lambda$: possible only if $a > \lambda$.
# - If it is at $w < 0$: $w = a + \lambda$, only if $a < -\lambda$.
# - Otherwise it is at the kink, $w = 0$. The slope jumps there from $-a - \lambda$ to $-a + \lambda$; zero lies between exactly if $|a| \le \lambda$.
#
# The square penalty $\frac\lambda2 w^2$ has the minimum $a/(1 + \lambda)$ instead. Its pull, $\lambda w$, dies out as $w \to 0$; the pull of $\lambda|w|$ is $\lambda$ all the way.


# %% covers="explainers:3.2.1 explainers:3.2.2.a" demo=true
def min_1d(a, lam, p):  # by brute force; explainers write (θ - a)² + λ |θ|^p
    theta = np.linspace(-5, 5, 100_001)
    return theta[np.argmin((theta - a) ** 2 + lam * np.abs(theta) ** p)]


def kept(a, p):  # what λ|w|^p / p leaves of a, for λ = 1 and with ½ (w - a)²
    return min_1d(a, 2 / p, p)


square, absolute = ([kept(a, p) for a in (1.5, 5.0)] for p in (2, 1))
more = tuple(bool(k > j) for k, j in zip(square, absolute))
predict(
    "Without a penalty two weights would be 1.5 and 5. Let λ = 1. "
    "Which penalty leaves more of them, λw²/2 or λ|w|?",
    [
        "λw²/2, of both",
        "λ|w|, of both",
        "λw²/2 of the 1.5, λ|w| of the 5",
        "λ|w| of the 1.5, λw²/2 of the 5",
    ],
    truth=[(True, True), (False, False), (True, False), (False, True)].index(more),
    because=f"The square leaves {square[0]:.2f} and {square[1]:.2f}: it takes half of "
    f"each. |w| leaves {absolute[0]:.2f} and {absolute[1]:.2f}: it takes 1 from each. "
    "So |w| is hard on small weights and mild on large ones.",
)


# %% exercise="soft_threshold" points=2 minutes=6 difficulty=1 covers="explainers:3.2.1 wu:1.4.2"
def soft_threshold(a, lam):
    """The w that minimises (w - a)² / 2 + lam * |w|, entry by entry.

    a: array of any shape; lam >= 0, a number. Returns an array like a.
    a = [3, -0.5, -2] and lam = 1 give [2, 0, -1].
    """
    ### BEGIN SOLUTION
    return np.sign(a) * np.maximum(np.abs(a) - lam, 0)
    ### END SOLUTION


# %% check="soft_threshold"
check(soft_threshold)

# %% covers="explainers:3.2.1 explainers:3.2.2.a"
with after(soft_threshold):
    for a in (-2.3, -0.4, 0.7, 1.9):
        for lam in (0.5, 1.0, 3.0):  # with no ½ in front the threshold is λ / 2
            soft = soft_threshold(np.array([a]), lam / 2)[0]
            assert abs(min_1d(a, lam, 1) - soft) < 1e-4
            assert abs(min_1d(a, lam, 2) - a / (1 + lam)) < 1e-4
    show(*rl.draw_thresholds(soft_threshold))

# %% [markdown] covers="wu:1.4.2 explainers:3.2.1"
# ## The lasso, one coordinate at a time
#
# $$\min_w\ \tfrac12\lVert y - Xw\rVert^2 + \lambda\sum_j |w_j| .$$
#
# (wu's scaling. An offset is handled by centring, as before.) There is no closed form, and the notes give no algorithm. But with all weights fixed except $w_j$ it is the problem you just solved. Let $r = y - \sum_{k \ne j} x_k w_k$ be the residual without feature $j$ ($x_j$: column $j$):
#
# $$\tfrac12\lVert r - x_j w_j\rVert^2 + \lambda|w_j| = \tfrac12\lVert x_j\rVert^2\Big(w_j - \frac{x_j\cdot r}{\lVert x_j\rVert^2}\Big)^2 + \lambda|w_j| + \text{constant} \quad\Longrightarrow\quad w_j = \frac{S(x_j \cdot r,\ \lambda)}{\lVert x_j\rVert^2},$$
#
# with $S$ the soft threshold. **Coordinate descent** does this for $j = 0, \dots, d-1$, again and again. No update raises the objective, and for this objective the sweeps tend to a minimum.


# %% exercise="lasso_cd" points=4 minutes=14 difficulty=3 covers="wu:1.4.2 explainers:3.2.1"
def lasso_cd(X, y, lam, sweeps):
    """Weights after cyclic coordinate descent on sum((y - X w)²) / 2 + lam * sum(|w|).

    X (n, d), y (n,), lam >= 0, no offset. Returns (d,).
    Start from w = 0. One sweep updates j = 0, 1, …, d - 1 in this order, each with the
    latest values of all others. The weight of a column of zeros stays 0.
    X = [[1, 1], [0, 1]], y = [2, 1], lam = 0.5:
    one sweep gives [1.5, 0.5], two give [1, 0.75].
    """
    ### BEGIN SOLUTION
    w = np.zeros(X.shape[1])
    sizes = np.sum(X**2, axis=0)
    r = np.array(y, dtype=float)  # the full residual, kept up to date
    for _ in range(sweeps):
        for j in np.flatnonzero(sizes):
            x = X[:, j]
            pull = x @ r + sizes[j] * w[j]
            new = np.sign(pull) * max(abs(pull) - lam, 0) / sizes[j]
            if new != w[j]:
                r -= x * (new - w[j])
                w[j] = new
    return w
    ### END SOLUTION


# %% check="lasso_cd"
check(lasso_cd)

# %% [markdown] covers="wu:1.4.2 explainers:3.2.1"
# **When is it done?** At a minimum no coordinate wants to move: with $r = y - Xw$,
#
# $$x_j\cdot r = \lambda\,\mathrm{sign}(w_j) \ \text{ where } w_j \ne 0, \qquad |x_j \cdot r| \le \lambda \ \text{ where } w_j = 0 .$$
#
# These are the **KKT conditions**; the objective is convex, so they are enough. They also say when *everything* is 0: exactly if $\lambda \ge \max_j |x_j\cdot y|$.
#
# On the ten diabetes features, at four penalties: your weights equal scikit-learn's to $10^{-6}$ (its `alpha` is $\lambda / n$), and the conditions hold.

# %% covers="wu:1.4.2 explainers:3.2.1"
with after(lasso_cd):
    from sklearn.linear_model import Lasso

    table = data.diabetes()
    X, y = rl.standardised(table.X, table.y, slice(None))
    largest = np.max(np.abs(X.T @ y))
    assert not np.any(lasso_cd(X, y, 1.000001 * largest, 3))
    assert np.any(lasso_cd(X, y, 0.99 * largest, 3))
    print("     λ  nonzero  weights of bmi, bp, s1, s5   scikit-learn's")
    for lam in (100.0, 20.0, 5.0, 1.0):
        w = np.asarray(lasso_cd(X, y, lam, 1500))
        model = Lasso(lam / 442, fit_intercept=False, tol=1e-13, max_iter=100_000)
        theirs = model.fit(X, y).coef_
        assert np.max(np.abs(w - theirs)) < 1e-6
        pull = X.T @ (y - X @ w)
        assert np.allclose(pull[w != 0], lam * np.sign(w[w != 0]), atol=1e-3)
        assert np.all(np.abs(pull[w == 0]) <= lam)
        both = (v[[2, 3, 4, 8]] + 0.0 for v in (w, theirs))
        told = [" ".join(f"{weight:6.3f}" for weight in some) for some in both]
        print(f"{lam:6g} {np.count_nonzero(w):8}  {told[0]}  {told[1]}")

# %% [markdown] covers="explainers:3.2.1 wu:1.4.2"
# **Twins.** Give both methods the same column twice. Ridge must share: for a fixed sum, $w_1^2 + w_2^2$ is least when both are equal. The lasso does not care: $|w_1| + |w_2|$ is the same for any split of one sign, so its solution is *not unique*. Which one does coordinate descent find from 0? The first column takes all that there is; nothing is left for its twin.

# %% covers="explainers:3.2.1 wu:1.4.2"
with after(lasso_cd, ridge_svd):
    rng = np.random.default_rng(7)
    x = rng.normal(size=20)
    X, y = np.column_stack([x, x]), 3 * x + 0.1 * rng.normal(size=20)
    shared, taken = ridge_svd(X, y, [5.0])[0], np.asarray(lasso_cd(X, y, 5.0, 200))

    def objective(w):
        return np.sum((y - X @ w) ** 2) / 2 + 5 * np.sum(np.abs(w))

    assert np.isclose(shared[0], shared[1]) and abs(taken[1]) < 1e-9
    assert np.isclose(objective(taken), objective(taken.sum() * np.array([0.3, 0.7])))
    print("ridge", np.round(shared, 2), "  lasso", np.abs(np.round(taken, 2)))

# %% [markdown] covers="explainers:3.2.1 guo:II.5.a"
# **Two paths.** Your two functions on all 442 patients. Read each from right to left, from a heavy penalty to none. Ridge moves all weights together. The lasso lets them in one after the other: body mass index and `s5` first.
# (A weight may also return to 0 on the way, as `s3` does here before it comes back with the other sign: the number of nonzero weights need not rise steadily as $\lambda$ falls.)

# %% covers="explainers:3.2.1 guo:II.5.a"
with after(lasso_cd, ridge_svd):
    table = data.diabetes()
    X, y = rl.standardised(table.X, table.y, slice(None))
    lams = np.logspace(-1, 3, 33)
    lasso = np.array([lasso_cd(X, y, lam, 250) for lam in lams])
    s3 = lasso[::-1, table.names.index("s3")]  # from the largest penalty on
    away = np.flatnonzero(np.diff((s3 != 0).astype(int)) == -1)
    assert len(away) == 1 and s3[away[0]] < 0 < s3[-1]  # it leaves, and returns
    show(*rl.draw_two_paths(lams, ridge_svd(X, y, lams), lasso, table.names))

# %% [markdown] covers="wu:1.4.2 guo:II.5.a"
# **Choosing break points.** Forty noisy points on a line that breaks at 0.25, 0.5 and 0.8. Nineteen knots are offered, 0.05 apart. The middle panel shows the change of slope at each; dashed lines mark the true breaks. (Penalties as wu writes them; the curve is computed by scikit-learn.)
#
# **Find out:** (1) for which $\lambda$ does the lasso use the three true knots and no others? (2) Is the penalty that is best on new data the one that finds the truth? (3) Switch to ridge. How many knots does it use, and how near is its best error to the lasso's?

# %% covers="wu:1.4.2 guo:II.5.a" demo=true
explore(
    rl.knots_explorer(),
    log_lambda=FloatSlider(
        -0.5,
        min=-3,
        max=0.5,
        step=0.125,
        continuous_update=False,
        description="log₁₀ penalty λ",
    ),
    penalty=Dropdown(options=["lasso", "ridge"], value="lasso", description="penalty"),
)

# %% [markdown] covers="explainers:3.2.3"
# ## Early stopping
#
# Another way to keep weights small: start at 0 and do not walk far. Split the rows, say 80 % to train and 20 % to validate. After each **epoch** (here: one step of gradient descent on all training rows) compute the validation loss. Training loss keeps falling; once validation loss no longer does, the model learns noise.
#
# One rise may be chance. So wait (boosting, `05_trees_and_boosting`, counts trees the same way): stop when `patience` epochs *in a row* brought no improvement, and bring back the weights of the best epoch. An **improvement** is a loss lower than the best one so far by *more* than `min_delta`; "the best so far" is the loss of the last epoch that counted as an improvement.


# %% exercise="early_stop" points=3 minutes=10 difficulty=2 covers="explainers:3.2.3"
def early_stop(val_losses, patience, min_delta):
    """When to stop, and which epoch's weights to bring back.

    val_losses (epochs,): validation loss after epochs 0, 1, 2, …; the first is a number
    and counts as an improvement. A loss that is nan is no improvement.
    patience >= 1, min_delta >= 0.
    Returns (stop, best): the epoch after which training stops (the last one if the rule
    never stops it) and the epoch of the last improvement until then.
    val_losses = [5, 3, 4, 3.5, 1], patience = 2, min_delta = 0 give (3, 1).
    """
    ### BEGIN SOLUTION
    best, best_epoch = np.inf, 0
    for epoch, loss in enumerate(val_losses):
        if loss < best - min_delta:
            best, best_epoch = loss, epoch
        if epoch - best_epoch >= patience:
            return epoch, best_epoch
    return len(val_losses) - 1, best_epoch
    ### END SOLUTION


# %% check="early_stop"
check(early_stop)

# %% [markdown] covers="explainers:3.2.3"
# One hundred diabetes patients, 80 to train and 20 to validate; the other 342 know the truth. There are 64 features: the ten, their squares and products. Fifty epochs; the step size was chosen so that the validation loss is lowest at epoch 28, as in the notes' figure.
#
# **Find out:** (1) what does a patience of 1 do, and of 10? (2) Raise `min_delta` to 0.01. Where does it stop, and is that worse on the test rows? (3) Is the best epoch of the 20 validation rows also that of the test rows?

# %% covers="explainers:3.2.3"
with after(early_stop):
    table = data.diabetes()
    parts = np.split(np.random.default_rng(2).permutation(442), [80, 100])
    X, y = rl.standardised(rl.products(table.X), table.y, parts[0])
    errors = rl.descent_errors(X, y, parts, eta=0.0225, steps=50)
    assert np.all(np.diff(errors[:, 0]) < 0)  # training error keeps falling
    assert np.argmin(errors[:, 1]) == 28
    assert tuple(early_stop(errors[:, 1], 5, 0.0)) == (33, 28)
    explore(
        rl.patience_explorer(early_stop, errors),
        patience=IntSlider(
            5, min=1, max=25, description="patience", continuous_update=False
        ),
        min_delta=FloatSlider(
            0.0,
            min=0,
            max=0.02,
            step=0.001,
            readout_format=".3f",
            description="min_delta",
            continuous_update=False,
        ),
    )

# %% [markdown] covers="explainers:3.2.3 cs480:prop3.5"
# ### How near is that to ridge?
#
# Gradient descent on $\frac12\lVert y - Xw\rVert^2$ from 0, with step $\eta$, walks along each singular direction by itself. After $k$ steps it has kept the share $1 - (1 - \eta s^2)^k$ of the least-squares solution, which for small steps is $1 - e^{-ts^2}$ with $t = \eta k$. Ridge keeps $s^2/(s^2 + \lambda)$. Both keep strong directions and drop weak ones. Set $\lambda = 1/t$ and compare: with $u = ts^2$,
#
# $$\frac{u}{1+u} \;\le\; 1 - e^{-u} \;<\; 1.30\,\frac{u}{1+u} .$$
#
# (The left side is $e^u \ge 1 + u$; the constant is computed below.) So *stopping at $t$ is nearly ridge with $\lambda = 1/t$*: fewer steps, more penalty. Nearly, not exactly. The right panel has the test errors of both along the whole path, on the 80 patients above.

# %% covers="explainers:3.2.3 cs480:prop3.5"
with after(ridge_svd):
    u = np.logspace(-4, 4, 4001)
    ratio = (1 - np.exp(-u)) / (u / (1 + u))
    assert ratio.min() >= 1 - 1e-9 and 1.29 < ratio.max() < 1.30
    table = data.diabetes()
    parts = np.split(np.random.default_rng(2).permutation(442), [80, 100])
    X, y = rl.standardised(rl.products(table.X), table.y, parts[0])
    A, b, test = X[parts[0]], y[parts[0]], parts[2]
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    eta, w = 0.5 / s[0] ** 2, np.zeros(64)
    for k in range(1, 301):
        w = w + eta * A.T @ (b - A @ w)
        if k in (1, 30, 300):  # the shares, direction by direction
            share = 1 - (1 - eta * s**2) ** k
            assert np.allclose(Vt @ w, share * (U.T @ b) / s)
            assert np.all(share >= s**2 / (s**2 + 1 / (eta * k)))
    steps = np.unique(np.geomspace(1, 20_000, 60).round())
    stopped = (1 - (1 - eta * s**2) ** steps[:, None]) * (U.T @ b) / s @ Vt
    held = np.asarray(ridge_svd(A, b, 1 / (eta * steps)))
    errors = [np.mean((v @ X[test].T - y[test]) ** 2, axis=1) for v in (held, stopped)]
    show(*rl.draw_filters(*errors, eta * steps))

# %% [markdown] covers="wu:1.4.2 guo:II.5.a explainers:3.2.1"
# ## On real data
#
# Sixty-four features and 150 patients to train: least squares drowns. Choose $\lambda$ on 100 validation patients, for ridge and for the lasso, with your own functions; look at the 192 test patients once. Errors are in units of the variance of $y$ (on the training rows), so that 1 is about what predicting the mean costs.

# %% covers="wu:1.4.2 guo:II.5.a explainers:3.2.1"
with after(lasso_cd, ridge_svd):
    table = data.diabetes()
    order = np.random.default_rng(11).permutation(442)
    train, valid, test = np.split(order, [150, 250])
    X, y = rl.standardised(rl.products(table.X), table.y, train)
    lams = np.logspace(2.2, 0, 12)

    def error(w, rows):
        return np.mean((y[rows] - X[rows] @ w) ** 2)

    paths = {
        "ridge": ridge_svd(X[train], y[train], 8 * lams),  # its best λ is larger
        "lasso": [lasso_cd(X[train], y[train], lam, 60) for lam in lams],
        "least squares": ridge_svd(X[train], y[train], [0.0]),
    }
    for name, path in paths.items():
        best = min(path, key=lambda w: error(w, valid))
        print(
            f"{name:14} test error {error(best, test):.2f}, "
            f"nonzero {np.count_nonzero(best)} of 64"
        )
        if name == "lasso":
            names = np.array(rl.product_names(table.X, table.names))
            print("  largest:", ", ".join(names[np.argsort(-np.abs(best))[:6]]))

# %% [markdown] covers="wu:1.4.2 guo:II.5.a"
# One split is one throw of the dice (`04_bias_variance_and_validation`, next, makes this precise). So here are 20 splits with the whole range of $\lambda$ (computed by NumPy and scikit-learn). What does the figure *not* say? That products of features help. Ten plain features and no penalty are a little better still: penalties only repaired the damage of 54 needless columns.
# Where you know which features matter, use that; where you do not, a penalty is cheap insurance.

# %% covers="wu:1.4.2 guo:II.5.a" demo=true
table, lams = data.diabetes(), np.logspace(4, -0.5, 28)
races = rl.penalty_races(rl.products(table.X), table.y, lams, train=150, splits=20)
plain = rl.penalty_races(table.X, table.y, np.array([1e-6]), train=150, splits=20)
lowest = min(races[name].mean(axis=0).min() for name in ("ridge", "lasso"))
assert lowest - 0.03 < plain["ridge"].mean() < lowest  # a little better
show(*rl.draw_races(lams, races, plain["ridge"].mean()))

# %% [markdown] covers="cs480:prop3.5 moon:5.4"
# ## Take-aways
#
# - Ridge adds $\lambda$ to every eigenvalue of $X^\top X$: one solution for any $\lambda > 0$, well conditioned, each direction shrunk by $s^2/(s^2+\lambda)$. Its weights tend to the minimum-norm least-squares solution as $\lambda \to 0$ and to 0 as $\lambda \to \infty$.
# - A $\lambda$ means nothing without its objective: sum, mean or half, and noise variance. Do not penalise the offset; bring features to one scale first.
# - $w = X^\top\alpha$: the dual form has one weight a row and needs inner products only. Solve the smaller system: primal if $d \le n$, dual if $d > n$.
# - Penalty = $-\log$ prior. Noise $\sigma$ and a Gaussian of width $\tau$ give ridge with $\lambda = \sigma^2/\tau^2$, a Laplace prior the lasso with $\lambda = \sqrt2\,\sigma^2/\tau$.
# - $|w|$ has a kink at 0, which holds weights there: the soft threshold. Coordinate descent applies it feature by feature. Ridge scales, the lasso subtracts and selects.
# - Stopping descent at $t$ is close to ridge with $\lambda = 1/t$.
#
# ## What the notes got wrong
#
# The variance of the Laplace prior and the cost of dual ridge are worth remembering; the others are slips.

# %% covers="explainers:3.2.1 explainers:3.2.2.a" demo=true
lam, theta = 3.0, np.linspace(-20, 20, 400_001)
step = theta[1] - theta[0]
printed, right = (c * np.exp(-2 * c * np.abs(theta)) for c in (lam, lam / 2))
erratum(
    "explainers:3.2.1",
    r"the penalty $\lambda|\theta|$ comes from a Laplace prior of variance $2/\lambda$",
    r"it comes from a Laplace prior of variance $2/\lambda^2$",
    printed_holds=np.isclose(np.sum(theta**2 * right) * step, 2 / lam, rtol=1e-3),
    corrected_holds=np.isclose(np.sum(theta**2 * right) * step, 2 / lam**2, rtol=1e-3),
)
assert np.isclose(np.sum(theta**2 * printed) * step, 1 / (2 * lam**2), rtol=1e-3)
erratum(
    "explainers:3.2.1",
    r"density $\lambda e^{-2\lambda|\theta|}$ (penalty $2\lambda|\theta|$, variance "
    r"$1/(2\lambda^2)$)",
    r"density $\frac{\lambda}{2} e^{-\lambda|\theta|}$ (penalty $\lambda|\theta|$)",
    printed_holds=np.isclose(np.log(printed[200_000] / printed[-1]), lam * 20),
    corrected_holds=np.isclose(np.log(right[200_000] / right[-1]), lam * 20),
)
tails = np.exp(-3 * np.sqrt(2)), 2 * norm.sf(3)  # beyond 3 standard deviations
erratum(
    "explainers:3.2.1",
    "a Laplace prior tapers off harshly at the tails, and so makes weights sparse",
    "its tails are heavier than a Gaussian's; sparsity comes from the cusp at 0",
    printed_holds=tails[0] < tails[1],
    corrected_holds=tails[0] > tails[1],
)
rise = np.array([np.abs(theta), theta**2])[:, 200_000:]  # from the origin outwards
erratum(
    "explainers:3.2.2.a",
    "a penalty sinks each point of the landscape according to its distance "
    "from the origin",
    "a penalty raises each point, the more the farther it lies from the origin; "
    "only in comparison with far points is the origin a sinkhole",
    printed_holds=np.all(np.diff(rise) < 0),
    corrected_holds=np.all(np.diff(rise) > 0),
)

# %% covers="moon:5.4 moon:5.4.1 cs480:prop3.5" demo=true
rng = np.random.default_rng(8)
X, y = rng.normal(size=(4, 3)), rng.normal(size=4)
w = np.linalg.solve(X.T @ X + np.eye(3), X.T @ y)
G = X @ X.T
erratum(
    "moon:5.4",
    r"$\alpha = (XX^\top + \lambda)^{-1} y = (G + \lambda)^{-1} y$ (in code, `G + lam` "
    "adds to every entry)",
    r"$\alpha = (XX^\top + \lambda I)^{-1} y = (G + \lambda I)^{-1} y$",
    printed_holds=np.allclose(X.T @ (np.linalg.pinv(G + 1) @ y), w),
    corrected_holds=np.allclose(X.T @ np.linalg.solve(G + np.eye(4), y), w),
)
wide = rng.normal(size=(3, 5))
G = wide @ wide.T
fits = [G @ np.linalg.solve(G + k * np.eye(3), y[:3]) for k in (1, 1e-10)]
erratum(
    "moon:5.4",
    "the dual form gives the solution of under-determined problems",
    r"it does so in the limit $\lambda \to 0$ only; for $\lambda > 0$, $Xw \ne y$",
    printed_holds=np.allclose(fits[0], y[:3]),
    corrected_holds=np.allclose(fits[1], y[:3]),
)


def doubled(form, n=100, d=10**6):
    """By what the cost grows when d doubles, far beyond n."""
    return rl.training_cost(n, 2 * d)[form] / rl.training_cost(n, d)[form]


growth = [doubled("primal"), doubled("dual")]
erratum(
    "moon:5.4.1",
    r"training takes $O(md^2 + m^3)$, inference $O(md)$ ($m$ rows; the first term is "
    "the primal's, the second the dual's: doubling a large $d$ would cost 4 times as "
    "much)",
    r"primal: $O(md^2 + d^3)$ to train (8 times), $O(d)$ a prediction; dual: "
    r"$O(m^2d + m^3)$ (twice), $O(md)$ a prediction, or $O(d)$ with $X^\top\alpha$ "
    "stored",
    printed_holds=np.any(np.isclose(growth, 4, rtol=0.01)),
    corrected_holds=np.allclose(growth, [8, 2], rtol=0.01),
)

# %% covers="cs480:prop3.5 cs480:rem3.6" demo=true
X = rng.normal(size=(4, 2)) @ rng.normal(size=(2, 6))  # samples are columns; rank 2
U, s, Vt = np.linalg.svd(X)
Sigma = np.zeros((4, 6))
Sigma[range(4), range(4)] = s
shifted = np.linalg.svd(X @ X.T + 1e-6 * np.eye(4), compute_uv=False)
erratum(
    "cs480:prop3.5",
    r"$XX^\top + n\lambda I$ has full rank and thus no singular values",
    "it has full rank and thus no ZERO singular values",
    printed_holds=len(shifted) == 0,
    corrected_holds=bool(np.all(shifted > 0.9e-6)),
)
erratum(
    "cs480:prop3.5",
    r"$XX^\top = U\Sigma^2U^\top$ ($\Sigma$ has the shape of $X$: no square exists)",
    r"$XX^\top = U\Sigma\Sigma^\top U^\top$",
    printed_holds=Sigma.shape[0] == Sigma.shape[1],
    corrected_holds=np.allclose(U @ Sigma @ Sigma.T @ U.T, X @ X.T),
)
erratum(
    "cs480:prop3.5",
    r"the diagonal is strictly positive for sufficiently large $\lambda$ "
    "(true, but less than holds)",
    r"it is strictly positive for every $\lambda > 0$: squares are never negative",
)
erratum(
    "cs480:rem3.6",
    r"ridge adds $p$ data points $\sqrt{n\lambda}\,e_j$ with label 0 "
    "($p$ is not defined)",
    r"it adds one for each row of $X$ ($d$, or $d + 1$ if $X$ is padded, and then the "
    r"offset is penalised too); the $\frac1n$ in front keeps the number of real points",
)

# %% [markdown] minutes=90 builds="a training loop with batches, a warm-up, clipping and an average of weights" covers="guo:IV"
# # Stochastic gradients and training craft
#
# A gradient over a million examples is an average of a million numbers. Why wait for all of them before the first step?
# This notebook takes small samples instead, measures what that costs, and builds the tools that make it work: schedules, warm-up,
# accumulation, clipping, averaging.
#
# Mirrors: *wu* 2.5 · *cs480* 8 and 9 (perceptron, SGD, minibatches, learning rates) · *explainers* 3.1.3, 3.3.3, 3.3.4 · *guo* IV.1 · *moon* 37.2.3.
# In *guo*, part IV also holds momentum and Adam (the notebook before this one) and convolution (chapter 8).
#
# **You will be able to**
#
# - cut a data set into batches and write the SGD loop around them;
# - say how noisy a batch gradient is, and prove it;
# - choose a rate, a schedule and a batch size for a reason;
# - accumulate and clip gradients, and average weights, without the usual mistakes.
#
# **Symbols.** $n$ examples, $d$ features, $B$ batch size, $\eta$ rate (also $t$ or $\alpha$ in the notes), $E$ epochs. An *epoch* is one pass over all
# $n$ examples. `idx` is always an array of row numbers.

# %%
import itertools

import numpy as np
import torch
from ipywidgets import Checkbox, Dropdown, FloatSlider, IntSlider, SelectionSlider
from scipy.special import expit

from descent import after, check, data, erratum, explore, hint, predict, show, start
from descent.pictures.optimisation import stochastic_training as pictures

start("03_optimisation/03_stochastic_training")

# %% [markdown] covers="explainers:3.1.3"
# ## Why it matters
#
# Here is logistic regression on 569 tumours, and three ways to spend the same number of looks at the data. All use $w \leftarrow w - \eta\, g$. They differ only in how many
# examples $g$ averages over: all 569, 32, or a single one. For each, the best of seven rates was taken (the lowest loss after one epoch).

# %% demo=true
cancer = data.breast_cancer()
X = (cancer.X - cancer.X.mean(axis=0)) / cancer.X.std(axis=0)
X, y = np.c_[np.ones(len(X)), X], cancer.y.astype(float)  # column 0 is the intercept


def loss(w):
    """Mean logistic loss of w (31,) over all rows, in nats."""
    return np.mean(np.logaddexp(0, X @ w) - y * (X @ w))


def grad(w, idx):
    """Gradient of the mean logistic loss over the rows idx. w (31,) -> (31,)."""
    return X[idx].T @ (expit(X[idx] @ w) - y[idx]) / len(idx)


rates = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0]
runs = {B: pictures.best_race(loss, grad, X.shape, B, rates) for B in (569, 32, 1)}
curves = {f"B = {B}, η = {rate:g}": losses for B, (rate, losses) in runs.items()}
show(*pictures.draw_race(curves, examples=len(y)))

# %% [markdown] covers="cs480:8-perc explainers:3.1.3.1 explainers:3.1.3.3"
# ## 1. One gradient, many estimates
#
# We begin with the perceptron. The labels are $y_i = \pm 1$, the scores $\langle w, x_i\rangle$, and row $i$ is a *mistake* when $y_i\langle w, x_i\rangle \le 0$. A score of exactly 0 counts as a mistake. The loss is
#
# $$ f(w) = \frac1n \sum_{i=1}^n f_i(w), \qquad f_i(w) = -\,y_i \langle w, x_i\rangle\, \mathbb 1[\text{mistake on } i]. $$
#
# On a mistake $\nabla f_i(w) = -y_i x_i$, else it is 0. (At a score of exactly 0 the loss has a kink and no gradient. There we choose $-y_i x_i$, one of its slopes. With it, SGD leaves $w = 0$, which has loss 0 but classifies nothing.) Full gradient descent averages over all rows. Stochastic gradient descent (SGD) takes one row $I$, drawn at random. Since $\mathbb E\,\nabla f_I(w) = \frac1n\sum_i \nabla f_i(w) = \nabla f(w)$, it is right on average: *unbiased*.
#
# One function serves both, because it averages over the rows named in `idx`. A row named twice counts twice. (Stuck? `hint(perceptron_grad)`, up to three times.)


# %% exercise="perceptron_grad" points=2 minutes=6 difficulty=1 covers="cs480:8-perc"
def perceptron_grad(w, X, y, idx):
    """Gradient of the mean perceptron loss over the rows idx.

    w (d,), X (n, d), y (n,) of +1 and -1, idx (m,) row numbers -> (d,).
    With w = [1, 0], X = [[2, 1], [-1, 3]], y = [1, 1] and idx = [0, 1], only row 1 is
    a mistake, and the result is [0.5, -1.5].
    """
    ### BEGIN SOLUTION
    mistake = y[idx] * (X[idx] @ w) <= 0
    return -X[idx].T @ (mistake * y[idx]) / len(idx)
    ### END SOLUTION


# %% check="perceptron_grad"
check(perceptron_grad)

# %% covers="cs480:8-perc"
with after(perceptron_grad):
    points, labels, w0 = pictures.two_clouds()  # 40 rows in the plane
    w = torch.tensor(w0, requires_grad=True)
    torch.relu(-torch.tensor(labels) * (torch.tensor(points) @ w)).mean().backward()
    singles = [perceptron_grad(w0, points, labels, np.array([i])) for i in range(40)]
    printed = points * (labels * (labels * (points @ w0) <= 0))[:, None]
    erratum(
        "cs480:8-perc",
        printed=r"the estimate of $\nabla f(w)$ is "
        r"$y_I x_I\,\mathbb 1[\text{mistake on } x_I]$",
        corrected=r"it is $-\,y_I x_I\,\mathbb 1[\text{mistake on } x_I]$ "
        "(the update printed after it is right)",
        printed_holds=np.allclose(printed.mean(axis=0), w.grad),
        corrected_holds=np.allclose(np.mean(singles, axis=0), w.grad),
    )
    w = v = w0
    for i in np.random.default_rng(0).permutation(40):  # step 1: perceptron algorithm
        w = w - 1.0 * np.asarray(perceptron_grad(w, points, labels, np.array([i])))
        v = v + labels[i] * points[i] if labels[i] * (points[i] @ v) <= 0 else v
    assert np.allclose(w, v)
    show(*pictures.draw_perceptron(perceptron_grad, points, labels, w0))

# %% [markdown] covers="explainers:3.1.3.1 explainers:3.1.3.2 explainers:3.1.3.3 explainers:3.1.3.box-epoch wu:2.5.1 wu:2.5.5 cs480:9-mini guo:IV.1"
# ## 2. Batches and epochs
#
# Between all rows and a single one lies a batch $\mathcal B$ of $B$ rows.
#
# | regime | a step uses | steps in an epoch |
# | --- | --- | --- |
# | full batch | all $n$ rows | 1 |
# | mini-batch | $B$ rows | $\lceil n/B\rceil$, or $\lfloor n/B\rfloor$ if a short last batch is dropped |
# | single example | 1 row | $n$ |
#
# The step is always $w \leftarrow w - \eta\,\frac{1}{|\mathcal B|}\sum_{i\in\mathcal B}\nabla f_i(w)$. In practice nobody draws batches one by one. The rows are shuffled and then cut into
# pieces, so that an epoch meets each row once, and they are shuffled again for the next epoch.


# %% exercise="minibatches" points=2 minutes=6 difficulty=1 covers="wu:2.5.1 explainers:3.1.3.2 guo:IV.1"
def minibatches(n, B, rng, drop_last=False):
    """The batches of one epoch: a fresh shuffle of 0 … n-1, cut into pieces of B.

    rng: numpy Generator, the only source of randomness.
    drop_last: leave out a last batch that is shorter than B.
    -> list of index arrays. n = 7, B = 3: sizes 3, 3, 1, or 3, 3 with drop_last=True.
    """
    ### BEGIN SOLUTION
    order = rng.permutation(n)
    batches = [order[first : first + B] for first in range(0, n, B)]
    return [b for b in batches if len(b) == B or not drop_last]
    ### END SOLUTION


# %% check="minibatches"
check(minibatches)

# %% [markdown] covers="explainers:3.1.3.box-epoch wu:2.5.1 wu:2.5.5"
# **Find**, with $n = 22$, a $B$ between 2 and 21 for which dropping the last batch loses no row, and the $B$ that loses the most. Is it the same row every epoch?
#
# Below the widget are slips of the notes. *wu* counts $\lfloor N/B\rfloor$ updates in 2.5.1, but $N/B$ in 2.5.6 and 2.5.9. With the floor, an epoch no longer shows *each* example once, as 2.5.5 says. And all three update formulas of *explainers* 3.1.3 leave out $\eta$.

# %% covers="explainers:3.1.3.box-epoch wu:2.5.5 wu:2.5.1"
with after(minibatches):

    def deal(B, E, drop_last):
        rng = np.random.default_rng(2)
        epochs = [list(minibatches(22, B, rng, drop_last)) for _ in range(E)]
        return pictures.draw_epochs(epochs, 22, B)

    explore(
        deal,
        B=IntSlider(4, min=1, max=22, description="batch B", continuous_update=False),
        E=IntSlider(3, min=1, max=4, description="epochs", continuous_update=False),
        drop_last=Checkbox(True, description="drop the short last batch"),
    )

# %% demo=true covers="wu:2.5.5 wu:2.5.6 wu:2.5.9 explainers:3.1.3.1 explainers:3.1.3.2 explainers:3.1.3.3"
loader = torch.utils.data.DataLoader
loaders = [loader(range(22), batch_size=4, drop_last=drop) for drop in (True, False)]
counts = [len(list(batches)) for batches in loaders]  # updates, counted
thrice = [sum(1 for epoch in range(3) for _ in batches) for batches in loaders]
erratum(
    "wu:2.5.6",
    printed=r"one epoch makes $N/B$ updates",
    corrected=r"$\lfloor N/B\rfloor$ (short batch dropped), "
    r"or $\lceil N/B\rceil$ (kept)",
    printed_holds=22 / 4 in counts,
    corrected_holds=counts == [22 // 4, -(-22 // 4)],
)
erratum(
    "wu:2.5.9",
    printed=r"$E$ epochs make $E\cdot N/B$ updates",
    corrected=r"$E\lfloor N/B\rfloor$ or $E\lceil N/B\rceil$",
    printed_holds=3 * 22 / 4 in thrice,
    corrected_holds=thrice == [3 * (22 // 4), 3 * -(-22 // 4)],
)
lengths = np.linspace(2, 3, 12)  # fit lengths = lengths · w, from w = 0
ends = {
    eta: [pictures.last_loss(lengths, B, eta) for B in (12, 4, 1)] for eta in (1, 0.1)
}
erratum(
    "explainers:3.1.3.1",
    printed=r"$\theta \leftarrow \theta - \frac1n\sum\nabla\mathcal L$, "
    "and likewise for mini-batches and single samples",
    corrected=r"$\theta \leftarrow \theta - \eta\,\frac1n\sum\nabla\mathcal L$, "
    r"and likewise; without $\eta$ all three blow up on 12 rows",
    printed_holds=min(ends[1]) < 1.0,
    corrected_holds=max(ends[0.1]) < 1e-3,
)

# %% [markdown] covers="wu:2.5.2 wu:2.5.3 guo:IV.1 cs480:8-sgd explainers:3.1.3.box-sgd"
# ## 3. The loop
#
# $$ g_t = \frac{1}{B}\sum_{i\in\mathcal B_t}\nabla f_i(w_t), \qquad w_{t+1} = w_t - \eta_t\, g_t, \qquad t = 0, 1, 2, \dots $$
#
# (*wu* maximises a score $J_i$ and so has $f_i = -J_i$, which is why (2.62) carries a minus.) Write the loop once, for any gradient function and any schedule. `grad(w, idx)` returns the mean gradient over the rows
# `idx`, and `lr(t)` returns $\eta_t$. The points of the path are separate arrays, and `w0` stays as it was.


# %% exercise="sgd" points=2 minutes=6 difficulty=1 covers="wu:2.5.3 guo:IV.1 cs480:8-sgd"
def sgd(grad, w0, lr, batches):
    """Path of stochastic gradient descent, one step a batch.

    grad: function (w (d,), idx) -> (d,). w0 (d,). batches: list of T index arrays.
    lr: function t -> rate, called with t = 0, 1, … -> path (T + 1, d), path[0] = w0.
    With grad = lambda w, idx: w, lr = lambda t: 0.5, w0 = [8.0] and two batches, the
    path is [[8.0], [4.0], [2.0]].
    """
    ### BEGIN SOLUTION
    path = [w0]
    for t, idx in enumerate(batches):
        path.append(path[-1] - lr(t) * grad(path[-1], idx))
    return np.array(path)
    ### END SOLUTION


# %% check="sgd"
check(sgd)

# %% [markdown] covers="explainers:3.1.3.box-sgd"
# **A warning about names.** In theory *SGD* means one random row a step. In practice people say it for mini-batches, and `torch.optim.SGD` samples nothing: it subtracts $\eta$ times whatever stands in `.grad`. Given the full gradient, it *is* gradient
# descent. The first cell runs it beside your loop, both ways.
#
# The second draws your path. It fits a line through 442 patients, the progression of diabetes against the body mass index, both standardised. At $B = 1$ a drunk walks downhill. **Which** calms him more cheaply, a larger batch or a smaller step?

# %% covers="wu:2.5.3 explainers:3.1.3.box-sgd explainers:3.1.3.1 explainers:3.1.3.2"
with after(sgd, minibatches):
    rng = np.random.default_rng(0)
    pieces = [b for _ in range(3) for b in minibatches(len(y), 32, rng)]
    everything = [np.arange(len(y))] * 20
    for name, batches in (("mini-batches", pieces), ("all rows", everything)):
        w = torch.zeros(31, dtype=torch.float64, requires_grad=True)
        torch_sgd = torch.optim.SGD([w], lr=0.3)
        for b in batches:
            torch_sgd.zero_grad()
            scores, goal = torch.tensor(X[b]) @ w, torch.tensor(y[b])
            torch.nn.BCEWithLogitsLoss()(scores, goal).backward()
            torch_sgd.step()
        mine = sgd(grad, np.zeros(31), lambda t: 0.3, batches)[-1]
        assert np.allclose(mine, w.detach(), atol=1e-6)
        print(f"{name}, {len(batches)} steps: you end where torch.optim.SGD does")

# %% covers="explainers:3.1.3.3 guo:IV.1 guo:IV.2.a"
with after(sgd, minibatches):
    A, target = pictures.body_mass_line(data.diabetes())  # rows (1, index), progression

    def line_grad(w, idx):
        """Gradient of the mean of ½ (residual)² over the rows idx. w (2,) -> (2,)."""
        return A[idx].T @ (A[idx] @ w - target[idx]) / len(idx)

    def walk(B, rate):
        rng, batches = np.random.default_rng(0), []
        while len(batches) < 120:
            batches += list(minibatches(442, B, rng))
        path = sgd(line_grad, np.array([-1.5, -0.8]), lambda t: rate, batches[:120])
        return pictures.draw_walk(np.asarray(path), A, target, B=B, rate=rate)

    explore(
        walk,
        B=SelectionSlider(options=[1, 4, 16, 64, 442], description="batch size B"),
        rate=FloatSlider(0.2, min=0.02, max=0.6, step=0.02, description="rate η"),
    )

# %% [markdown] covers="wu:2.5.4 cs480:9-mini guo:IV.1"
# ## 4. How noisy is a batch?
#
# Fix $w$ and look at one coordinate of the gradients. It gives $n$ numbers $G_i$ with mean $\bar G$ and variance $\sigma^2 = \frac1n\sum_i (G_i-\bar G)^2$. The batch mean $g$ has
#
# $$ \mathbb E\, g = \bar G, \qquad \operatorname{Var} g = \frac{1}{B^2}\Big(B\,\sigma^2 + B(B-1)\, c\Big), $$
#
# where $c$ is the covariance of two *different* draws of the batch. With replacement the draws are independent, so $c = 0$. Without replacement, which is what shuffling does, the second
# draw cannot repeat the first. All $n(n-1)$ ordered pairs are then equally likely, and the next cell lists them: $c = -\sigma^2/(n-1)$. Put that into the formula, simplify, and write the result as a function. What must come out for $B = n$?

# %% demo=true covers="wu:2.5.4"
G = np.array([3.0, -1.0, 4.0, 1.0, -2.0])
n, deviation = len(G), G - G.mean()
sigma2 = np.mean(deviation**2)
pairs = list(itertools.permutations(range(n), 2))
c = np.mean([deviation[i] * deviation[j] for i, j in pairs])
assert np.isclose(c, -sigma2 / (n - 1))  # Σ_{j≠i} deviation_j = -deviation_i
for B in range(1, n + 1):  # unbiased for every B, without replacement and with
    for batches in (itertools.combinations(G, B), itertools.product(G, repeat=B)):
        assert np.isclose(np.mean([np.mean(batch) for batch in batches]), G.mean())
print(f"σ² = {sigma2:.2f}, covariance of two different draws c = {c:.2f}")


# %% exercise="grad_variance" points=3 minutes=12 difficulty=2 covers="wu:2.5.4"
def grad_variance(G, B, replace):
    """Exact variance of the mean of B rows drawn at random from G, for each coordinate.

    G (n, d) one gradient a row, n >= 2. σ² divides by n. -> (d,).
    replace: True for independent draws, False for B different rows (then B <= n).
    G = [[0.0], [2.0]]: B = 1 gives [1.0]; B = 2 gives [0.5] with replacement and
    [0.0] without.
    """
    ### BEGIN SOLUTION
    n = len(G)
    sigma2 = G.var(axis=0)
    return sigma2 / B if replace else sigma2 / B * (n - B) / (n - 1)
    ### END SOLUTION


# %% check="grad_variance"
check(grad_variance)

# %% covers="wu:2.5.4 cs480:9-mini"
with after(grad_variance):
    rows = X * (0.5 - y)[:, None]  # gradients of all 569 tumours at w = 0
    without, with_it = (grad_variance(rows, 284, r)[1] for r in (False, True))
    ratio = float(without / with_it)
    predict(
        "Half of the tumours, B = 284 of 569, drawn without replacement: how large is "
        "the variance of the batch gradient, compared with draws with replacement?",
        ["the same: 1/B is all that counts", "half", "a quarter", "nearly zero"],
        truth=lambda: int(np.abs(np.array([1, 0.5, 0.25, 0]) - ratio).argmin()),
        because="The factor (n - B)/(n - 1) is 285/568, about one half. For B far "
        "below n it is nearly 1, and the two agree.",
        then=lambda: pictures.draw_variance(grad_variance, rows),
    )

# %% demo=true covers="wu:2.5.4 wu:2.5.2"
rng = np.random.default_rng(0)
J_grad = rng.normal(size=50) + 1.0  # gradients of 50 scores J_i; the losses are -J_i
sample = dict(G=-J_grad[:, None], B=25, count=20_000)
with_it = pictures.batch_means(**sample, replace=True)
without = pictures.batch_means(**sample, replace=False)
erratum(
    "wu:2.5.4",
    printed=r"(2.64) $\mathbb E[g_t] = \frac1N\sum\nabla J_i$",
    corrected=r"$\mathbb E[g_t] = -\frac1N\sum\nabla J_i$, as (2.62) defines $g_t$",
    printed_holds=abs(with_it.mean() - J_grad.mean()) < 0.02,
    corrected_holds=abs(with_it.mean() + J_grad.mean()) < 0.02,
)
share = without.var() / (J_grad.var() / 25)  # 1 if the variance were σ²/B
erratum(
    "wu:2.5.4",
    printed=r"(2.65) $\operatorname{Var}[g_t] \propto 1/B$, "
    "for batches cut from a divided data set",
    corrected=r"that is for draws with replacement; without, "
    r"$\frac{\sigma^2}{B}\cdot\frac{N-B}{N-1}$: "
    r"for $N = 50$, $B = 25$ half as much",
    printed_holds=abs(share - 1) < 0.05,
    corrected_holds=abs(share - 25 / 49) < 0.02,
)

# %% [markdown] covers="explainers:3.box-landscape wu:2.5.2 guo:IV.1"
# ### Every batch has its own landscape
#
# A picture of a loss landscape belongs to one data set. A batch has another landscape, and its minimum lies elsewhere. Back to the patients, where $w$ has only two coordinates. On the left are the gradients of 60 batches at one point, with the full gradient as a star. On the right are the loss of
# all 442 (lines) and that of one batch (colour). Turn the pages.
#
# **Ask:** how many of the 60 batches would send you the wrong way (more than 90° from the full gradient), far from the minimum and near it? How large must $B$ be before the answer near it is none?

# %% demo=true covers="explainers:3.box-landscape wu:2.5.2 guo:IV.1"
A, target = pictures.body_mass_line(data.diabetes())
minima = {B: pictures.batch_minimisers(A, target, B, 400) for B in (10, 40, 160)}
scatter = [found.std(axis=0).mean() for found in minima.values()]
assert scatter[1] < scatter[0] / 2 and scatter[2] < scatter[1] / 2  # 4 × the rows
centre = minima[160].mean(axis=0)
assert np.allclose(centre, pictures.least_squares(A, target), atol=0.02)
places = ["far from the minimum", "near the minimum"]
explore(
    lambda B, page, place: pictures.draw_page(A, target, B, page, place),
    B=SelectionSlider(
        options=[1, 5, 10, 40, 160],
        value=10,
        description="batch size B",
        continuous_update=False,
    ),
    page=IntSlider(0, min=0, max=19, description="page", continuous_update=False),
    place=Dropdown(options=places, description="gradients taken"),
)

# %% [markdown] covers="cs480:8-sgd explainers:3.1.3.3"
# ## 5. The noise floor
#
# Take the simplest finite sum, $f_i(w) = \frac\lambda2 (w - x_i)^2$ with curvature $\lambda$, and let $\bar x$ be the mean and $s^2$ the variance of the $x_i$. The minimum is at $\bar x$. Let $e_t = w_t - \bar x$. The mean of a batch drawn with replacement is $\bar x + \xi_t$, with
# independent noise $\xi_t$ of mean 0 and variance $s^2/B$. A step then reads
#
# $$ e_{t+1} = (1-\eta\lambda)\,e_t + \eta\lambda\,\xi_t
# \quad\Rightarrow\quad \mathbb E e_{t+1}^2 = (1-\eta\lambda)^2\,\mathbb E e_t^2 + \eta^2\lambda^2 \frac{s^2}{B}. $$
#
# The first term forgets the start, the second lets noise in. For $0 < \eta\lambda < 2$ they come to a balance, and setting $\mathbb E e_{t+1}^2 = \mathbb E e_t^2$ gives its height, the *noise floor* $\;\dfrac{\eta\lambda}{2-\eta\lambda}\cdot\dfrac{s^2}{B}$.
#
# For small $\eta$ it is proportional to $\eta/B$, and the start is forgotten in about $1/(\eta\lambda)$ steps of $B$ rows. So a batch twice as large and a rate half as large cost the same number of rows and sink the floor alike: that answers the question about the drunk.
#
# Shuffled epochs do even better than independent draws. Once $\eta\lambda\, n/B$ is below about 1, the draws of one epoch cancel (together they are all the rows), and the floor falls like $\eta^2$. The cell checks both.

# %% demo=true covers="cs480:8-sgd"
lam, s, B, eta = 2.0, 1.5, 4, 0.5
rng = np.random.default_rng(0)
x = rng.normal(size=1000)
x = s * (x - x.mean()) / x.std()  # mean 0, variance s²
w = np.full(4000, 3.0)  # 4000 walkers at once
for _ in range(60):
    w = w - eta * lam * (w - x[rng.integers(0, 1000, (4000, B))].mean(axis=1))
floor = eta * lam / (2 - eta * lam) * s**2 / B
assert abs(np.mean(w**2) / floor - 1) < 0.1  # 4 standard errors
print(f"noise floor: formula {floor:.2f}, 4000 walkers {np.mean(w**2):.2f}")
shuffled = [pictures.shuffled_floor(rate, n=64, B=16) for rate in (0.2, 0.1)]
assert 0.22 < shuffled[1] / shuffled[0] < 0.28
print(f"half the rate, shuffled epochs: × {shuffled[1] / shuffled[0]:.2f}")

# %% demo=true covers="cs480:8-sgd explainers:3.1.3.3"
schedules = {
    "η = 0.4": lambda t: 0.4,
    "η = 0.2": lambda t: 0.2,
    "η = 0.4/√(1+t/5)": lambda t: 0.4 / np.sqrt(1 + t / 5),
}
predict(
    "SGD with a small rate and independent draws sits on its noise floor. You halve "
    "the rate. What happens to the expected squared distance from the minimum?",
    [
        "nothing, only the speed changes",
        "it falls to about half",
        "it falls to about a quarter",
        "it goes to zero, slowly",
    ],
    1,
    because="The floor is nearly proportional to η (and to 1/B). Only a rate that "
    "keeps falling takes it to zero.",
    then=lambda: pictures.draw_floor(schedules),
)

# %% [markdown] covers="cs480:8-sgd cs480:8-table"
# ### Which is cheaper?
#
# Ask for a loss within $\varepsilon$ of the minimum. For a convex smooth $f$, full gradient descent needs $O(1/\varepsilon)$ steps of $n$ gradients each, which is $O(n/\varepsilon)$ work. SGD with $\eta_t \propto 1/\sqrt t$ and bounded noise needs $O(1/\varepsilon^2)$ steps of one gradient (up to a logarithm). So with constants $C_1$, $C_2$ that depend on the problem, SGD wins when
# $n > C_1/\varepsilon$ and full gradients win when $n < C_2/\varepsilon$. Below are both, computed exactly, on a sum of quadratics with curvatures from 0.001 to 1.
#
# **Find** the $n$ where the winner changes, for a gap of 0.1. Then ask for three times the accuracy: where is it now?

# %% demo=true covers="cs480:8-sgd cs480:8-table"
curvature, steps = np.logspace(-3, 0, 20), np.arange(6000)
chosen = {
    "SGD, constant η": np.full(6000, 0.1),
    "SGD, η ∝ 1/√t": 0.5 / np.sqrt(1 + steps / 20),
    "SGD, η = 1/t": 1.0 / (1 + steps),
}
gaps = {k: pictures.expected_gap(curvature, 1.0, 4.0, r) for k, r in chosen.items()}
full_gap = pictures.expected_gap(curvature, 0.0, 4.0, np.ones(6000))
explore(
    lambda n, gap: pictures.draw_cost(n, full_gap, gaps, gap),
    n=SelectionSlider(
        options=[3, 10, 30, 100, 300, 1000],
        value=300,
        description="examples n",
        continuous_update=False,
    ),
    gap=SelectionSlider(
        options=[0.3, 0.1, 0.03],
        value=0.1,
        description="gap asked for",
        continuous_update=False,
    ),
)
slopes = {name: np.log10(gap[6000] / gap[600]) for name, gap in gaps.items()}
erratum(
    "cs480:8-table",
    printed=r"stochastic, convex: $O(1/\varepsilon^2)$ steps with $t = 1/k$ "
    r"(a gap that falls like $k^{-1/2}$ or faster)",
    corrected=r"with steps $\propto 1/\sqrt k$; for strongly convex $f$ it is "
    r"$1/(mk)$ with the smallest curvature $m$; $1/k$ crawls where $f$ is flatter",
    printed_holds=slopes["SGD, η = 1/t"] < -0.45,
    corrected_holds=slopes["SGD, η ∝ 1/√t"] < -0.45,
)
for name, slope in slopes.items():
    print(f"{name}: from step 600 to 6000 the gap falls like k^{slope:.1f}")

# %% [markdown] covers="cs480:9-lr"
# ## 6. Schedules
#
# Large steps forget the start, small steps lower the floor. So begin large and end small. *cs480* lists three ways: in steps ($\eta_0$ up to $t_0$, then $\eta_0/10$ up to $t_1$, then $\eta_0/100$), $\eta_0/(1+ct)$, and $\eta_0/\sqrt{1+ct}$.
#
# Two sums say what a schedule can do. The start is forgotten like $e^{-\lambda\sum\eta_t}$ (for small steps and curvature $\lambda$), so if $\sum_t\eta_t$ is finite, a share of it stays for ever. $\sum_t\eta_t^2$ measures the noise let in: if it is finite *and* the first sum infinite, all noise is forgotten in the end. **Which** of the three has an infinite first
# and a finite second sum?


# %% demo=true covers="cs480:9-lr"
def decay(t, kind, eta0, c=0.1, t0=60, t1=120):
    """Rate at step t: "constant", "in steps", "1/(1+ct)" or "1/√(1+ct)"."""
    if kind == "in steps":
        return eta0 * np.where(t <= t0, 1, np.where(t <= t1, 0.1, 0.01))
    power = {"constant": 0, "1/(1+ct)": 1, "1/√(1+ct)": 0.5}[kind]
    return eta0 / (1.0 + c * t) ** power


corners = decay(np.array([60, 61, 120, 121]), "in steps", 1.0)
assert np.allclose(corners, [1, 0.1, 0.1, 0.01])
print("added by the steps 10³ to 10⁴, 10⁴ to 10⁵, 10⁵ to 10⁶:")
for kind in ("in steps", "1/(1+ct)", "1/√(1+ct)"):
    eta = decay(np.arange(1_000_000), kind, 1.0)
    assert (np.diff(eta) <= 0).all()
    decades = [eta[lo : 10 * lo] for lo in (1000, 10_000, 100_000)]
    once, squared = [d.sum() for d in decades], [(d**2).sum() for d in decades]
    assert once[2] > 0.99 * once[1]  # never less: an infinite sum
    # each decade adds a tenth of the last, as in a geometric series: a finite sum
    assert (squared[2] < 0.2 * squared[1]) == (kind == "1/(1+ct)")
    print(f"{kind}: Σ η by", ", ".join(f"{v:,.0f}" for v in once), end="; ")
    print("Σ η² by", ", ".join(f"{v:.3f}" for v in squared))

# %% [markdown] covers="cs480:9-lr explainers:3.3.3"
# Ten times as many steps add the same amount again to $\sum 1/(1+ct)$, so this sum is infinite, while its squares add less and less. Only this schedule meets both conditions. "In steps" ends at a constant rate, so both of its sums are infinite. For $1/\sqrt{1+ct}$ the squares keep adding (its floor sinks all the same, as $\eta_t \to 0$, but more slowly).
#
# ### Warm-up, then decay
#
# *explainers* 3.3.3 announces this and leaves it empty. Today's usual schedule climbs first, for $W$ of its $T$ steps:
#
# $$ \eta_t = \eta\,\frac{t}{W} \;\; (t < W), \qquad \text{then} \qquad \eta_{\min} + \tfrac12(\eta-\eta_{\min})\Big(1+\cos\pi\,\tfrac{t-W}{T-W}\Big) \quad\text{or}\quad \eta\,\sqrt{W/t}. $$
#
# The cosine ends at $t = T$, and the rate stays at $\eta_{\min}$ from there. The inverse root goes on for ever; it has no $\eta_{\min}$.


# %% exercise="lr_schedule" points=3 minutes=12 difficulty=2 covers="explainers:3.3.3"
def lr_schedule(t, base, warmup, total, kind, floor=0.0):
    """Rate at step t = 0, 1, …: from 0 at t = 0 straight up to `base` at t = warmup,
    then a decay -> number.

    kind "cosine": from base down to floor at t = total, and floor from then on.
        0 <= warmup < total; with warmup = 0 it starts at base.
    kind "rsqrt": base · √(warmup / t), warmup >= 1; total and floor are not used.
    base = 0.4, warmup = 2, total = 6, "cosine", for t = 0 … 7:
    0, 0.2, 0.4, 0.341, 0.2, 0.059, 0, 0.
    """
    ### BEGIN SOLUTION
    if t < warmup:
        return base * t / warmup
    if kind == "rsqrt":
        return base * np.sqrt(warmup / t)
    share = min(1.0, (t - warmup) / (total - warmup))
    return floor + (base - floor) * (1 + np.cos(np.pi * share)) / 2
    ### END SOLUTION


# %% check="lr_schedule"
check(lr_schedule)

# %% [markdown] covers="explainers:3.3.3 wu:5.9.2"
# **Why climb?** Curvature is often largest at the start. On $f(w) = \frac12 w^2 + \frac14 w^4$ a step gives $w\,(1-\eta(1+w^2))$, so $|w|$ grows when $\eta\,(1+w^2) > 2$. At $w = 3$ that happens for $\eta > 0.2$, near the minimum only for $\eta > 2$. **Find** the shortest warm-up that saves a run with $\eta = 0.3$, and one with $\eta = 0.6$. Which decay then ends lowest?
#
# The first Transformer used $d^{-1/2}\min(t^{-1/2},\, t\,W^{-3/2})$ with width $d = 512$ and $W = 4000$. It looks new, but it is your inverse root with base $(dW)^{-1/2} \approx 0.0007$. The next cell checks both statements.

# %% covers="explainers:3.3.3 cs480:9-lr wu:5.9.2"
with after(lr_schedule):
    for t in (1, 10, 3999, 4000, 4001, 100_000):  # the Transformer's rule
        rule = 512**-0.5 * min(t**-0.5, t * 4000**-1.5)
        assert np.isclose(lr_schedule(t, (512 * 4000) ** -0.5, 4000, 0, "rsqrt"), rule)
    for eta, grows in ((0.19, False), (0.21, True)):
        assert (abs(3 - eta * (3 + 27)) > 3) == grows

    def design(kind, base, warmup):
        t = np.arange(200)
        if kind in ("cosine", "rsqrt"):
            rates = [float(lr_schedule(int(k), base, warmup, 200, kind)) for k in t]
        else:
            late = decay(np.maximum(t - warmup, 0), kind, base)
            rates = late * np.minimum(1, t / warmup)
        name = f"{kind}, warm-up {warmup}"
        return pictures.draw_schedule(rates, name, pictures.noisy_quartic(rates))

    kinds = ["cosine", "rsqrt", "constant", "in steps", "1/(1+ct)", "1/√(1+ct)"]
    explore(
        design,
        kind=Dropdown(options=kinds, description="decay"),
        base=FloatSlider(
            0.3,
            min=0.05,
            max=0.6,
            step=0.05,
            description="base rate η",
            continuous_update=False,
        ),
        warmup=IntSlider(
            1, min=1, max=60, description="warm-up W (steps)", continuous_update=False
        ),
    )

# %% [markdown] covers="explainers:3.3.4.1 explainers:3.1.3"
# ## 7. Accumulation
#
# *explainers* 3.1.3 gives memory as the reason for small batches. But memory alone does not force a small *step*: split a batch into micro-batches $\mathcal B_1, \mathcal B_2, \dots$ that fit, add up their gradients, and step once. (Section 3.3.4, which should say so, is empty.) Let $g_k$ be the
# mean gradient over $\mathcal B_k$, all taken at the same $w$. Which combination of the $g_k$ is the gradient of the large batch, when the sizes differ?
#
# One kind of layer spoils it. Batch normalisation subtracts the mean of the batch it sees, so the rows of a micro-batch pass through *another function*, and no weighting repairs that. The cell after the check shows both, with 32 rows in parts of 12, 12, 6 and 2.


# %% exercise="accumulate" points=2 minutes=5 difficulty=1 covers="explainers:3.3.4.1"
def accumulate(grad, w, batches):
    """Mean gradient at w over all rows of the micro-batches together.

    grad: function (w (d,), idx) -> (d,), the mean gradient over idx. Call it once for
    each micro-batch: the memory holds no more rows at a time.
    batches: list of index arrays without common rows, sizes may differ -> (d,).
    Micro-batches of 3 rows and 1 row with gradients [1.0] and [5.0] give [2.0].
    """
    ### BEGIN SOLUTION
    total = sum(len(idx) * grad(w, idx) for idx in batches)
    return total / sum(len(idx) for idx in batches)
    ### END SOLUTION


# %% check="accumulate"
check(accumulate)


# %% demo=true covers="explainers:3.3.4.1"
def gradient_of(model, rows, goals):
    """All gradients of the mean squared error, as one vector."""
    error = torch.nn.functional.mse_loss(model(rows), goals)
    gradients = torch.autograd.grad(error, model.parameters())
    return torch.cat([g.flatten() for g in gradients])


torch.manual_seed(0)
rows, goals = torch.randn(32, 5).double(), torch.randn(32, 1).double()
cuts = torch.arange(32).split([12, 12, 6, 2])
for middle in (torch.nn.Tanh(), torch.nn.BatchNorm1d(8)):
    layers = torch.nn.Linear(5, 8), middle, torch.nn.Linear(8, 1)
    model = torch.nn.Sequential(*layers).double()
    large = gradient_of(model, rows, goals)
    parts = sum(len(k) / 32 * gradient_of(model, rows[k], goals[k]) for k in cuts)
    off, name = float((parts - large).norm() / large.norm()), type(middle).__name__
    assert (off < 1e-12) == (name == "Tanh")
    print(f"{name}: accumulated and large-batch gradient differ by {100 * off:.0f} %")

# %% [markdown] covers="explainers:3.3.4.2"
# ## 8. Clipping
#
# Now and then a gradient is enormous, because of a rare row or a cliff in the loss. One such step undoes a thousand good ones. Clipping (the other half of the empty 3.3.4) limits its length and keeps its direction:
#
# $$ g \leftarrow g\cdot\min\Big(1, \frac{c}{\lVert g\rVert}\Big). $$
#
# A network's gradient comes as a list of arrays, one a layer. Here $\lVert g\rVert$ is the 2-norm of *all their entries together*.
#
# The figure after the check has a cliff. A recurrent network multiplies by the same weight 20 times, so its output is $w^{20}$, and its loss $\frac12(w^{20}-1)^2$ is flat from $w = 0$ to nearly 1 and a wall right of 1. Both runs start at $w = 1.25$ with $\eta = 0.002$, one of them clipped to
# $c = 10$. The left panel shows, for another gradient and $c = 1$, what clipping each *entry* to $[-c, c]$ does instead. (The mean of clipped gradients is not the clipped mean, so clipping buys its safety with a little bias.)


# %% exercise="clip_by_norm" points=2 minutes=7 difficulty=1 covers="explainers:3.3.4.2"
def clip_by_norm(grads, c):
    """The gradients, scaled together so that their common 2-norm is at most c.

    grads: list of arrays of any shapes. c > 0 -> list of arrays of the same shapes; the
    inputs stay as they were. A norm up to c, 0 included, leaves the values unchanged.
    grads = [[3.0], [[4.0]]] (norm 5): c = 1 gives [[0.6], [[0.8]]], c = 9 the same.
    """
    ### BEGIN SOLUTION
    norm = np.sqrt(sum((g**2).sum() for g in grads))
    factor = c / norm if norm > c else 1.0
    return [factor * g for g in grads]
    ### END SOLUTION


# %% check="clip_by_norm"
check(clip_by_norm)

# %% covers="explainers:3.3.4.2"
with after(clip_by_norm):

    def wall(w):
        return np.array([(w**20 - 1) * 20 * w**19])  # the derivative of the loss

    free, held = [1.25], [1.25]
    for _ in range(20):
        if abs(free[-1]) < 100:  # beyond, the numbers overflow
            free.append(float(free[-1] - 0.002 * wall(free[-1])[0]))
        step = clip_by_norm([wall(held[-1])], 10.0)[0][0]
        held.append(float(held[-1] - 0.002 * step))
    assert abs(held[-1] - 1) < 0.01
    show(*pictures.draw_clipping(np.array([3.0, 1.0]), 1.0, free, held))

# %% [markdown] covers="wu:2.5.7"
# ## 9. Batch size and rate belong together
#
# Large batches are steadier and keep the hardware busy, but they need memory. Small ones update more often, and their noise regularises a little. Suppose you make the batch four times as large: how should $\eta$ change? *wu* 2.5.7 says $\eta\propto\sqrt B$. It depends on what you want to keep.
#
# - The noise of *one step* is $\eta^2\sigma^2/B$. It stays if $\eta\propto\sqrt B$.
# - *One epoch* has $n/B$ steps. Its drift is $\frac nB\,\eta$ times the gradient, its noise $\frac nB\cdot\eta^2\sigma^2/B$. Both stay if $\eta\propto B$.
#
# The second is the usual aim, and the usual rule for plain SGD. You have seen it in the first figure: $B = 32$ with $\eta = 3$ and $B = 1$ with $\eta = 0.1$ ran along one curve. It holds up to a critical batch size, because $\eta$ cannot pass what the curvature allows. The map is exact (one quadratic with curvature 1, one epoch, the recursion of section 5). **Find** what moves the critical batch size: more data, or more noise?

# %% covers="wu:2.5.7"
explore(
    pictures.draw_batch_rate_map,
    n=SelectionSlider(
        options=[256, 1024, 4096, 16384],
        value=4096,
        description="examples n",
        continuous_update=False,
    ),
    spread=SelectionSlider(
        options=[0.01, 0.1, 1.0, 10.0],
        value=1.0,
        description="noise σ²",
        continuous_update=False,
    ),
)

# %% [markdown] covers="wu:2.5.7"
# What moves it in the map is the data: with more examples an epoch has more steps, and the linear rule reaches further. Noise hardly matters. (Papers also call the ratio of noise to squared gradient a critical batch size, the one beyond which a larger batch saves no updates. That one does grow with the noise.)
#
# **Where the square root is right.** Adam divides by the root mean square of the gradient. When noise dominates, that is $\sigma/\sqrt B$, so a step is about $\eta\sqrt B/\sigma$ times the gradient: Adam already multiplies by $\sqrt B$. To get $\propto B$ in all, only $\sqrt B$ is left for $\eta$. The noise of an epoch, $\frac nB\eta^2$ for steps of length about $\eta$, then stays too.
# The cell moves 20 000 parameters through one epoch, with a tiny true gradient under much noise. Good scaling leaves their mean displacement, the drift, unchanged.


# %% demo=true covers="wu:2.5.7"
def adam_drift(B, eta, examples=4096):
    """Mean displacement by an epoch of Adam: gradient 0.01, noise of variance 1/B."""
    gen = torch.Generator().manual_seed(0)
    w = torch.zeros(20_000, requires_grad=True)
    adam = torch.optim.Adam([w], lr=eta)
    for _ in range(examples // B):
        w.grad = 0.01 + torch.randn(20_000, generator=gen) / B**0.5
        adam.step()
    return -float(w.detach().mean())


ratio = pictures.best_rate(64) / pictures.best_rate(4)
power = np.log(ratio) / np.log(16)  # best rate ∝ B^power
before = adam_drift(16, 0.001)
root, linear = adam_drift(256, 0.004) / before, adam_drift(256, 0.016) / before
assert abs(root - 1) < 0.1 and linear > 3
erratum(
    "wu:2.5.7",
    printed=r"scale the rate of SGD with $\eta\propto\sqrt B$",
    corrected=r"$\eta\propto B$ for plain SGD, up to a critical $B$; "
    r"$\eta\propto\sqrt B$ for Adam and its kin",
    printed_holds=abs(power - 0.5) < 0.1,
    corrected_holds=abs(power - 1) < 0.1,
)
print(f"batch × 16: best rate of SGD × 16^{power:.1f}")
print(f"batch × 16: drift of Adam × {root:.1f} with η × 4, × {linear:.1f} with η × 16")

# %% [markdown] covers="wu:2.5.6 wu:2.5.9"
# ### One epoch or many?
#
# | | one epoch | $E$ epochs |
# | --- | --- | --- |
# | rows needed | many | fewer |
# | updates (short batch dropped) | $\lfloor n/B\rfloor$ | $E\lfloor n/B\rfloor$ |
# | memory | a stream will do | the set must be kept |
# | each step sees | fresh rows | rows met before |
# | convergence (*wu*) | faster, rougher | slower, more precise |
#
# One pass is enough when rows are plentiful or repeat each other and the task is simple. To compare fairly, the next cell always makes 400 updates with $B = 10$ (over 60 rows the 67th epoch is cut short). The task is least squares with 40 features and noise variance 1, so no model can have an expected test error below 1. Is the last line of the table right, then? On its own rows the repeated run does get more precise; on new rows that need not help.

# %% covers="wu:2.5.6 wu:2.5.9"
with after(sgd, minibatches):
    predict(
        "400 updates each: one epoch over 4000 rows, 10 epochs over 400, 40 over 100, "
        "or 67 over 60. Which is best on new data?",
        [
            "67 epochs over 60 rows: it knows them best",
            "10 epochs over 400 rows: it refines",
            "1 epoch over 4000 rows: every row is fresh",
            "all the same: the updates count",
        ],
        2,
        because="A fresh row gives an unbiased gradient of the true risk. Repeated "
        "rows lead to the minimum of their own landscape. With 400 rows that costs "
        "little, with 60 much.",
        then=lambda: pictures.draw_epochs_race(sgd, minibatches),
    )

# %% [markdown] covers="moon:37.2.3"
# ## 10. Average the weights
#
# *moon* 37.2.3 has only the heading. The idea that fills it: SGD with a constant rate wanders *around* the minimum. No single iterate is there, but their mean nearly is (for a quadratic; elsewhere up to a bias of order $\eta$). So keep the rate constant (and large), and average the last part of the path. This is Polyak–Ruppert averaging, or
# *stochastic weight averaging* for networks. A moving average (EMA), $\bar w\leftarrow\beta\bar w+(1-\beta)w$, forgets the early part by itself; image generators are sampled from such averages.
#
# A network's weights are a dict of arrays, so average entry by entry. For a linear model that averages the predictions. A network is not linear, and there it works only for weights from one valley, such as the iterates of *one* run, never for two runs from
# different starts. And batch-norm statistics must be recomputed afterwards (`torch.optim.swa_utils.update_bn`).


# %% demo=true covers="moon:37.2.3"
def average_states(states):
    """Mean of a list of dicts of equal-shaped tensors, entry by entry, as a new dict.

    Whole numbers, such as the counters of batch norm, are those of the last state.
    """
    mean = {k: v.clone() for k, v in states[-1].items()}
    for k in mean:
        if mean[k].is_floating_point():
            mean[k] = torch.stack([s[k] for s in states]).mean(dim=0)
    return mean


torch.manual_seed(0)
models = [torch.nn.Linear(3, 2).double() for _ in range(4)]
states, probe = [m.state_dict() for m in models], torch.randn(6, 3).double()
mean_model = torch.nn.Linear(3, 2).double()
before = [m(probe) for m in models]
mean_model.load_state_dict(average_states(states))
assert all(torch.equal(m(probe), b) for m, b in zip(models, before))  # inputs unchanged
assert torch.allclose(mean_model(probe), sum(before) / 4)  # weights or predictions
alone = average_states(states[:1])
assert all(torch.equal(alone[k], states[0][k]) for k in alone)
swa = torch.optim.swa_utils.AveragedModel(models[0])
for m in models:
    swa.update_parameters(m)
assert torch.allclose(swa(probe), mean_model(probe))
print("one average: of the weights, of the predictions, and torch's AveragedModel")

# %% covers="moon:37.2.3"
with after(sgd, minibatches):
    rng = np.random.default_rng(0)
    batches = [b for _ in range(4) for b in minibatches(442, 4, rng)]
    path = np.asarray(sgd(line_grad, np.array([-1.5, -0.8]), lambda t: 0.5, batches))
    show(*pictures.draw_average(path, A, target, skip=111))  # 111 updates are one epoch

# %% [markdown] covers="wu:2.5.8 explainers:3.1.3 wu:2.5.6 cs480:eq9.a"
# ## 11. Everything at once: handwritten digits
#
# A network 64–64–64–10 reads digits of 8×8 pixels. It learns from 1300 and is tested on 497 others. Its risk is the mean cross-entropy $\frac1n\sum_i \ell(f(x_i, w), y_i)$, so a full-batch step passes over all rows.
#
# **First, epochs and seconds.** An epoch of single rows makes 1300 updates, one of batches of 32 makes 41, and a full-batch epoch makes one. Counted in epochs, small batches therefore lead. But an epoch is not a second: a batch of 32 costs far less than 32 batches of one, because the processor handles its rows together. The same three runs are drawn against both. The second picture uses a clock that is the same everywhere: 250 µs for each update, whatever its size, and 1 µs for each row of its batch, about what this network takes on a laptop's processor. **Try:** time one update on your own machine with `%timeit` at $B = 1$ and $B = 1300$. The difference of the two times, divided by 1299, is the time for a row (`per_row` in the cell); the rest of the time at $B = 1$ is `per_update`.
#
# **Then the recipe.** $\eta = 2$ is too much for this network with $B = 32$. The last cell adds the tools one at a time, over 8 epochs and three seeds, and also tries batches cut from rows *sorted* by class.

# %% demo=true
digits = data.digits()
order = np.random.default_rng(0).permutation(len(digits.y))
images = torch.tensor(digits.X[order] / 16, dtype=torch.float32)
classes = torch.tensor(digits.y[order])
train_x, test_x = images.split([1300, 497])
train_y, test_y = classes.split([1300, 497])


def network(seed=0):
    torch.manual_seed(seed)
    layers = []
    for a, b in itertools.pairwise([64, 64, 64, 10]):
        layers += [torch.nn.Linear(a, b), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])  # no ReLU after the last


def risk(model, x, y):
    return torch.nn.functional.cross_entropy(model(x), y)


# %% covers="wu:2.5.8 explainers:3.1.3 cs480:9-mini"
with after(minibatches):

    def train(B, rate, epochs, per_update=250e-6, per_row=1e-6):
        """Test loss and seconds on the clock so far, after each epoch."""
        model, rng = network(), np.random.default_rng(0)
        spent, losses, seconds = 0.0, [], []
        optimiser = torch.optim.SGD(model.parameters(), lr=rate)
        for _ in range(epochs):
            for b in minibatches(1300, B, rng):
                optimiser.zero_grad()
                b = torch.as_tensor(np.asarray(b))
                risk(model, train_x[b], train_y[b]).backward()
                optimiser.step()
                spent += per_update + per_row * len(b)
            seconds.append(spent)
            losses.append(risk(model, test_x, test_y).item())
        return losses, seconds

    regimes = {1: (0.02, 2), 32: (0.1, 20), 1300: (0.2, 150)}  # B: (rate, epochs)
    timed = {f"B = {B}": train(B, *how) for B, how in regimes.items()}
    show(*pictures.draw_clock(timed), digits=0)


# %% demo=true
def fit(batches, rates, c=None, keep_from=None, seed=0):
    """Train on the batches, one rate each -> (training losses, test accuracy).

    c: clip gradients to this norm. keep_from: test the average of the weights after
    this step and all later ones.
    """
    model, losses, states = network(seed), [], []
    parameters = list(model.parameters())
    for t, (b, rate) in enumerate(zip(batches, rates, strict=True)):
        value = risk(model, train_x[b], train_y[b])
        grads = [g.numpy() for g in torch.autograd.grad(value, parameters)]
        grads = grads if c is None else clip_by_norm(grads, c)
        with torch.no_grad():
            for p, g in zip(parameters, grads, strict=True):
                p -= float(rate) * torch.as_tensor(g)
        losses.append(value.item())
        if keep_from is not None and t >= keep_from:
            states.append({k: v.clone() for k, v in model.state_dict().items()})
    if states:
        model.load_state_dict(average_states(states))
    return losses, float((model(test_x).argmax(dim=1) == test_y).float().mean())


# %% covers="wu:2.5.7 explainers:3.3.4.2 moon:37.2.3"
with after(minibatches, lr_schedule, clip_by_norm):
    T, seeds = 8 * 41, range(3)  # 8 epochs of 41 batches

    def shuffled(seed):
        rng = np.random.default_rng(seed)
        return [np.asarray(b) for _ in range(8) for b in minibatches(1300, 32, rng)]

    deals = [shuffled(s) for s in seeds]
    by_class = np.argsort(train_y.numpy(), kind="stable")
    in_order = [by_class[k : k + 32] for _ in range(8) for k in range(0, 1300, 32)]
    flat, curve = [2.0] * T, [lr_schedule(t, 2.0, 40, T, "cosine") for t in range(T)]
    recipes = {
        "η = 2": [fit(deals[s], flat, seed=s) for s in seeds],
        "clipped": [fit(deals[s], flat, 0.5, seed=s) for s in seeds],
        "clipped, sorted rows": [fit(in_order, flat, 0.5, seed=s) for s in seeds],
        "clipped, averaged": [fit(deals[s], flat, 0.5, 5 * 41, seed=s) for s in seeds],
        "clipped, warm-up, cosine": [fit(deals[s], curve, 0.5, seed=s) for s in seeds],
    }
    show(*pictures.draw_recipes(recipes), digits=0)

# %% [markdown] covers="wu:2.5.7 wu:2.5.8"
# Read it from top to bottom. The bare rate destroys the network, and clipping saves it. (Here about four steps in five are clipped, so $c$ is no rare guard: it keeps every step no longer than $\eta c = 1$.) A falling rate *or* an average of weights removes the remaining noise, and they reach the same accuracy. Sorted rows make every batch a biased estimate, and the network forgets one class while it
# learns the next: shuffle, and shuffle again each epoch. To be honest about warm-up: on this small plain network the cosine alone does as well. Change `40` to `1` and see.

# %% [markdown] covers="wu:2.5.8"
# ## Take away
#
# - A batch gradient is unbiased at any $w$ chosen before the draw. Its variance is $\sigma^2/B$, times $(n-B)/(n-1)$ without replacement. Precision grows like $\sqrt B$, cost like $B$.
# - With a constant small rate and independent draws SGD stalls at a floor proportional to $\eta/B$. A falling rate or an average of weights goes below it.
# - Mini-batches gain three ways. Computation: rows run in parallel, memory holds $B$ rows. Statistics: many updates an epoch, and noise that shakes the path out of narrow minima and regularises a little. Streams: a batch is used as it arrives.
# - Count updates, examples and seconds separately; say which you compare.
# - Batch size and rate move together: $\eta\propto B$ for SGD up to a critical size, $\eta\propto\sqrt B$ for Adam.
# - Accumulated gradients are weighted by rows. Clipping scales all arrays by one factor.

# %% [markdown]
# ## What the notes got wrong
#
# Proven above: a lost sign in the stochastic perceptron gradient (*cs480* 8) and in (2.64) of *wu*; $1/B$ for batches without replacement (2.65); $N/B$ updates without rounding (*wu* 2.5.6, 2.5.9); $\eta\propto\sqrt B$ for plain SGD (*wu* 2.5.7); the
# missing rate in three updates (*explainers* 3.1.3); $t = 1/k$ for convex $f$ (*cs480*, table in 8). Four headings without text were filled: warm-up and decay (*explainers* 3.3.3), accumulation and clipping (3.3.4.1 and 3.3.4.2), and weight averaging (*moon* 37.2.3).

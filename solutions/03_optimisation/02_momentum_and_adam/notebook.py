# %% [markdown] minutes=90 builds="Adam, the optimiser behind most deep networks, rebuilt from a fading memory"
# # Momentum, AdaGrad, RMSProp, Adam
#
# Mirrors: **wu** 1.6.4 and 2.6 · **moon** 4.4–4.9 and 37.2.2 · **guo** IV, IV.1, IV.2 · **explainers** 3.3.
#
# Plain gradient descent has one rate for every direction and forgets each gradient at once. In a narrow valley both hurt: the steep direction
# limits the rate, and the flat one then crawls. Two repairs have carried deep learning since: **remember** past gradients, and give
# **each parameter its own rate**. Adam does both. You will write it, and see where four lecture notes go wrong.

# %%
import numpy as np
import torch
from ipywidgets import Dropdown, FloatLogSlider, FloatSlider, IntSlider, SelectionSlider
from matplotlib import cbook

from descent import after, check, data, erratum, explore, hint, predict, show, start
from descent.pictures.optimisation import momentum_and_adam as pictures

start("03_optimisation/02_momentum_and_adam")

# %% [markdown] covers="explainers:3.3 guo:IV"
# ## Why it matters: one valley, three methods
#
# The valley below is 100 times as steep across as along. Three optimisers of PyTorch get 60 steps each: `pictures.torch_path` runs one in this
# valley and returns its path. They are black boxes here; in the end you will have written them, and let five methods race on surfaces of your
# choice. (guo's part IV also holds convolutional networks, for the order of its lectures only; they have notebooks of their own.)
#
# **You will be able to**
#
# - average a series with a fading memory, and prove and apply its bias correction;
# - write heavy ball, say how many steps it saves and why, and translate between its three conventions;
# - write AdaGrad, RMSProp and Adam so that they agree with PyTorch, and repair the formulas that do not;
# - tell what adaptive rates measure, and what they do not.
#
# Throughout, $\theta$ are the parameters, $g_t$ is the gradient of step $t$, $\eta$ the learning rate. Squares, roots and quotients of vectors act entry by entry.

# %% covers="explainers:3.3"
show(
    *pictures.draw_ravine(
        {
            "Gradient descent": pictures.torch_path(
                lambda p: torch.optim.SGD(p, lr=0.0195)
            ),
            "Momentum": pictures.torch_path(
                lambda p: torch.optim.SGD(p, lr=0.0195, momentum=0.7)
            ),
            "Adam": pictures.torch_path(lambda p: torch.optim.Adam(p, lr=0.05)),
        }
    )
)

# %% [markdown] covers="moon:4.4 moon:37.2.2"
# ## 1. A memory that fades
#
# The **exponentially weighted average** of a series $x_1, x_2, \dots$ is
# $$v_0 = 0, \qquad v_t = \beta\, v_{t-1} + (1-\beta)\, x_t, \qquad 0 \le \beta < 1 .$$
# It needs one number of memory. Put the recursion into itself and each $x_i$ gets the weight $(1-\beta)\,\beta^{\,t-i}$: what lies
# $1/(1-\beta)$ steps back has, for $\beta$ near 1, faded to about a third. A larger $\beta$ is a longer memory.

# %% covers="moon:4.4"
x, v = np.random.default_rng(0).normal(size=50), 0.0
for x_t in x:
    v = 0.9 * v + 0.1 * x_t
weights = 0.1 * 0.9 ** np.arange(50)[::-1]
assert np.isclose(v, weights @ x)  # the recursion is this weighted sum
assert np.isclose(weights.sum(), 1 - 0.9**50)  # its weights add up to 1 - beta^t
predict(
    "A series is constant, x = 10 at every step, and β = 0.9. "
    "What is the first average, v₁?",
    ["10", "9", "1", "0"],
    truth=2,
    because="v₁ = 0.9 · 0 + 0.1 · 10. After t steps it is 10 (1 − 0.9ᵗ): "
    "the memory still holds the zero it started from.",
)

# %% [markdown] covers="moon:4.5 moon:37.2.2"
# ### Bias correction, proven
#
# Let all $x_i$ have the same mean $\mathbb E[x]$. Expectation is linear, so
# $$\mathbb E[v_t] = \sum_{i=1}^{t} (1-\beta)\beta^{t-i}\,\mathbb E[x] = (1-\beta^t)\,\mathbb E[x].$$
# Divide by what is missing: $\hat v_t = v_t/(1-\beta^t)$ has the right mean from the first step on. As $t$ grows, $\beta^t \to 0$ and the correction
# fades. Note the hat: $\hat v_t$ is only how we **read** the memory. The recursion goes on from $v_t$.
#
# **Exercise.** Write `ewa`, for numbers or for vectors.


# %% exercise="ewa" points=2 minutes=8 difficulty=1 covers="moon:4.4 moon:4.5 moon:37.2.2"
def ewa(x, beta, correct=False):
    """Exponentially weighted averages after 1, 2, …, n values.

    x (n,) numbers or (n, d) vectors, whole ones too, 0 <= beta < 1 -> same shape as x.
    The memory starts at 0.
    correct=True returns the bias-corrected averages.
    ewa(np.array([10.0, 10.0]), 0.9) gives [1.0, 1.9], with correct=True [10.0, 10.0].
    """
    ### BEGIN SOLUTION
    v, averages = 0.0, []
    for t, x_t in enumerate(x, start=1):
        v = beta * v + (1 - beta) * x_t
        averages.append(v / (1 - beta**t) if correct else v)
    return np.array(averages)
    ### END SOLUTION


# %% check="ewa"
check(ewa)

# %% covers="moon:4.5"
with after(ewa):
    runs = np.random.default_rng(1).normal(5.0, 2.0, (40, 20_000))  # 20 000 series
    t = np.arange(1, 41)
    raw, corrected = (ewa(runs, 0.9, correct=c).mean(axis=1) for c in (False, True))
    assert np.abs(raw - 5 * (1 - 0.9**t)).max() < 0.017  # five standard errors,
    assert np.abs(corrected - 5).max() < 0.07  # here too
    v, fed_back = 0.0, []
    for step in t:
        v = (0.9 * v + 0.1 * 5) / (1 - 0.9**step)  # the printed line, run as a program
        fed_back.append(v)
    erratum(
        "moon:4.5",
        r"$v_t = v_t/(1-\beta^t)$, one symbol for both: "
        "a constant 5 is then averaged to 5, 26, 89, 235, …",
        r"$\hat v_t = v_t/(1-\beta^t)$, a quantity of its own; "
        r"the recursion goes on from $v_t$",
        printed_holds=np.allclose(fed_back, 5),
        corrected_holds=np.allclose(ewa(np.full(40, 5.0), 0.9, correct=True), 5),
    )

# %% [markdown] covers="moon:4.4 moon:37.2.2"
# ### Two uses: prices and parameters
#
# First the closing price of one share (Google, from August 2004, shipped with matplotlib). **Try:** how large can $\beta$ be before the corrected average trails
# the jump near day 48 by more than ten days? After how many days do the two curves meet?
#
# Then learned parameters. moon 37.2.2 has a heading on moving averages among the tricks for GANs (two networks, a generator and a critic, trained against each other), and no text. The idea: when two learners play against
# each other and move in turn, the parameters circle instead of settling, while their average circles much nearer to the centre; the longer the memory, the nearer. The smallest such game is $\min_a \max_b\, a\,b$, with its balance at $(0, 0)$.

# %% covers="moon:4.4 moon:4.5"
price = cbook.get_sample_data("goog.npz")["price_data"]["close"]
with after(ewa):
    explore(
        lambda beta, days: pictures.draw_average(ewa, price, beta, days),
        beta=FloatSlider(
            0.95,
            min=0,
            max=0.99,
            step=0.01,
            description="memory β",
            continuous_update=False,
        ),
        days=IntSlider(
            90,
            min=30,
            max=300,
            step=30,
            description="days shown",
            continuous_update=False,
        ),
    )

# %% covers="moon:37.2.2"
with after(ewa):
    a, b, path = 1.0, 0.0, []
    for _ in range(2000):
        a -= 0.1 * b  # the generator descends, then
        b += 0.1 * a  # the critic ascends
        path.append([a, b])
    averages = ewa(np.array(path), 0.99, correct=True)
    last, averaged = np.linalg.norm(path[-1]), np.linalg.norm(averages[-1])
    assert last > 0.9 and averaged < 0.15
    print(f"Distance to the balance: last point {last:.1f}, average {averaged:.1f}")

# %% [markdown] covers="wu:1.6.4 wu:2.6.1 guo:IV.1.a"
# ## 2. Heavy ball: descent with momentum
#
# A ball rolling in the valley keeps its speed. Its velocity $v$ collects gradients, and $\gamma$ says how much of it survives a step:
# $$v_t = \gamma\, v_{t-1} + \nabla f(\theta_t), \qquad \theta_{t+1} = \theta_t - \eta\, v_t, \qquad v_{-1} = 0,\ 0 \le \gamma < 1 .$$
# Read $1-\gamma$ as friction and $1/(1-\gamma)$ as the length of the memory. With mini-batches $\nabla f$ is the gradient of the batch; nothing else
# changes. With $\gamma = 0$ it is gradient descent; typical values are 0.9, 0.95, 0.99.
#
# **Exercise.** Write `heavy_ball`. The first move, $t = 0$, is a plain gradient step. (The check hands in `grad` for $f(\theta) = \tfrac12\theta^\top H\theta - b^\top\theta$, so $\nabla f(\theta) = H\theta - b$, and shows you $H$ and $b$.)


# %% exercise="heavy_ball" points=3 minutes=10 difficulty=2 covers="wu:1.6.4 guo:IV.1.a wu:2.6.1"
def heavy_ball(grad, theta0, eta, gamma, n_steps):
    """Iterates of gradient descent with momentum, in the convention above.

    grad: function (d,) -> (d,). theta0 (d,), eta > 0, 0 <= gamma < 1, n_steps >= 0
    -> path (n_steps + 1, d), path[0] = theta0, which stays unchanged.
    heavy_ball(lambda th: 2 * th, np.array([1.0]), 0.25, 0.5, 2) gives
    [[1.0], [0.5], [0.0]].
    """
    ### BEGIN SOLUTION
    theta, v, path = theta0, np.zeros_like(theta0), [theta0]
    for _ in range(n_steps):
        v = gamma * v + grad(theta)
        theta = theta - eta * v
        path.append(theta)
    return np.array(path)
    ### END SOLUTION


# %% check="heavy_ball"
check(heavy_ball)

# %% [markdown] covers="wu:1.6.4 explainers:3.3.1 moon:4.6 guo:IV.1.a wu:2.6.1"
# ### What the velocity holds, and three ways to write it
#
# Put the recursion into itself again: $v_t = \sum_{i=0}^{t} \gamma^i\, \nabla f(\theta_{t-i})$. The weights add up to
# $(1-\gamma^{t+1})/(1-\gamma)$, in the long run 10 for $\gamma = 0.9$: a fading **sum**, not an average. On a constant slope $g$ the speed
# grows to $\eta\, g/(1-\gamma)$. Opposite gradients almost cancel: so the zigzag across the valley dies while the motion along it grows.
#
# | who | velocity | move |
# | --- | --- | --- |
# | wu, guo, PyTorch | $v_t = \gamma v_{t-1} + g_t$ | $\theta - \eta\, v_t$ |
# | explainers | $v_{t+1} = \mu v_t - \eta\, g_t$ | $\theta + v_{t+1}$ |
# | moon | $v_t = \beta v_{t-1} + (1-\beta) g_t$ | $\theta - \alpha\, v_t$ |
#
# With $\gamma = \mu = \beta$ and a constant $\eta$ the first two draw the same path. The third needs $\alpha = \eta/(1-\gamma)$: copy a rate from one paper into another program and it may be ten times off.

# %% covers="wu:1.6.4 guo:IV.1.a"
with after(heavy_ball):
    curvature = np.array([1.0, 7.0])
    path = heavy_ball(lambda th: curvature * th, np.array([1.0, 1.0]), 0.05, 0.9, 31)
    v = (path[:-1] - path[1:]) / 0.05
    unrolled = [
        sum(0.9**i * curvature * path[t - i] for i in range(t + 1)) for t in range(31)
    ]
    assert np.abs(v - unrolled).max() < 1e-12  # v is the fading sum
    slope = heavy_ball(lambda th: np.ones(1), np.zeros(1), 0.05, 0.9, 300)
    speed = (slope[:-1] - slope[1:])[:, 0] / 0.05
    erratum(
        "wu:1.6.4",
        "the velocity is an exponential moving average of the gradients",
        "it is a fading sum: a constant gradient $g$ gives "
        r"$v_t = g\,(1-\gamma^{t+1})/(1-\gamma)$",
        printed_holds=np.isclose(speed[-1], 1),
        corrected_holds=np.allclose(speed, (1 - 0.9 ** np.arange(1, 301)) / 0.1),
    )
    erratum(
        "wu:1.6.4",
        r"$v_0 = 0$, and the loop starts at $t = 0$ by reading $v_{-1}$",
        r"$v_{-1} = 0$, so that $v_0 = \nabla f(\theta_0)$",
        printed_holds=np.allclose(v[0], 0),
        corrected_holds=np.allclose(v[0], curvature),
    )

# %% covers="explainers:3.3.1 moon:4.6 guo:IV.1.a wu:2.6.1"
with after(heavy_ball):
    th1 = th3 = theta = np.array([1.0, 0.3])
    v1, v3, grad = np.zeros(2), np.zeros(2), pictures.SURFACES["ravine"].grad
    for _ in range(50):
        v1 = 0.9 * v1 - 0.005 * grad(th1)
        th1 = th1 + v1
        v3 = 0.9 * v3 + 0.1 * grad(th3)
        th3 = th3 - 0.05 * v3
    gap = np.abs(heavy_ball(grad, theta, 0.005, 0.9, 50)[-1] - [th1, th3]).max()
    noise = np.random.default_rng(0).normal(size=(50, 2))  # as from mini-batches
    arriving = iter(noise)
    ours = heavy_ball(lambda th: grad(th) + next(arriving), theta, 0.005, 0.9, 50)
    theirs = pictures.torch_path(
        lambda p: torch.optim.SGD(p, lr=0.005, momentum=0.9), 50, noise
    )
    assert max(gap, np.abs(ours - theirs).max()) < 1e-9
    print("The three forms agree to 9 digits:", gap < 1e-9)
    print("With noisy gradients your path is PyTorch's:", np.allclose(ours, theirs))

# %% covers="explainers:3.3.1"
with after(heavy_ball):

    def slope(theta):
        """1 right of zero, -1 left of it: g0 = 1, g1 = -1."""
        return np.where(theta >= 0, 1.0, -1.0)

    flip = heavy_ball(slope, np.zeros(1), 0.1, 0.9, 2)[:, 0]
    v2 = -0.1 * (0.9 * slope(flip[0]) + slope(flip[1]))  # -eta (mu g0 + g1)
    erratum(
        "explainers:3.3.1",
        r"$g_1 = -g_0$ gives $v^{(2)} = 0$",
        r"$v^{(2)} = \eta(1-\mu)\,g_0$, which vanishes only as $\mu \to 1$",
        printed_holds=np.isclose(v2, 0),
        corrected_holds=np.isclose(v2, 0.1 * (1 - 0.9)),
    )
    erratum(
        "explainers:3.3.1",
        r"$v^{(2)}$ boosts $\theta^{(3)}$",
        r"it first moves $\theta^{(2)} = \theta^{(1)} + v^{(2)}$",
        printed_holds=np.isclose(flip[2], flip[1]),
        corrected_holds=np.isclose(flip[2], flip[1] + v2),
    )
    erratum(
        "guo:IV.1.a",
        r"$\nabla\ell(W_i^t, W_L^t, B)$, and the line ends with “and $\alpha$”",
        r"the loss takes all weights, $\nabla_{W_i}\ell(W_0^t, \dots, W_L^t; B)$; "
        r"$\alpha$ is the learning rate",
    )

# %% [markdown] covers="wu:1.6.4 guo:IV.1.a"
# ### How many steps does it save?
#
# On a bowl of curvature $c$ the gradient is $c\,\theta$, and heavy ball is a linear map of the last two positions:
# $$\begin{pmatrix}\theta_{t+1}\\ \theta_t\end{pmatrix} = \begin{pmatrix}1+\gamma-\eta c & -\gamma\\ 1 & 0\end{pmatrix}\begin{pmatrix}\theta_t\\ \theta_{t-1}\end{pmatrix}.$$
# The determinant, which is the product of the two eigenvalues, is $\gamma$. If they are complex they are conjugates, so $\lvert z\rvert^2 = \gamma$ and both have modulus $\sqrt\gamma$,
# **whatever the curvature**. They are complex where the trace is small, $(1+\gamma-\eta c)^2 < 4\gamma$, which is the window
# $(1-\sqrt\gamma)^2 < \eta c < (1+\sqrt\gamma)^2$. The best tuning stretches this window exactly over all curvatures from $c_{\min}$ to $L = \kappa\, c_{\min}$:
# $$\sqrt{\eta\, c_{\min}} = 1-\sqrt\gamma, \quad \sqrt{\eta L} = 1+\sqrt\gamma
# \qquad\Longrightarrow\qquad \sqrt\gamma = \frac{\sqrt\kappa-1}{\sqrt\kappa+1}, \quad \eta = \Big(\frac{2}{\sqrt L+\sqrt{c_{\min}}}\Big)^2 .$$
# Gradient descent at its best, $\eta = 2/(L+c_{\min})$, multiplies the distance by $(\kappa-1)/(\kappa+1)$ or less in each step. For $\kappa = 100$ the best $\gamma$ is 0.67; the usual 0.9 is the tuning for $\kappa \approx 1442$.
#
# After that we count steps, with $\kappa = 100$: curvatures 1 and 100, start $(1, 1)$, and the goal is reached once $\lVert\theta\rVert < 10^{-6}$.


# %% covers="wu:1.6.4 guo:IV.1.a"
def factor(eta, gamma, curvatures=(1.0, 4.0, 30.0, 100.0)):
    """Largest modulus of an eigenvalue: the factor per step in the long run."""
    maps = [[[1 + gamma - eta * c, -gamma], [1, 0]] for c in curvatures]
    return np.abs(np.linalg.eigvals(np.array(maps))).max(axis=1)


q = (10 - 1) / (10 + 1)  # kappa = 100
eta, gamma = (2 / (10 + 1)) ** 2, q**2
assert np.allclose(factor(eta, gamma), q, atol=1e-6)  # the same for every curvature
assert np.isclose(factor(2 / 101, 0.0).max(), 99 / 101)
assert all(
    factor(eta * a, gamma * b).max() > q  # and no neighbour does better
    for a in (0.9, 1, 1.1)
    for b in (0.9, 1, 1.1)
    if (a, b) != (1, 1)
)
print(f"long-run factor per step: gradient descent {99 / 101:.3f}, heavy ball {q:.3f}")

# %% covers="wu:1.6.4"
with after(heavy_ball):

    def count(eta, gamma):
        """Path on the bowl with kappa = 100 from (1, 1)."""
        bowl = np.array([1.0, 100.0])
        return heavy_ball(lambda th: bowl * th, np.ones(2), eta, gamma, 1500)

    runs = {
        "gradient descent, best η": count(2 / 101, 0),
        "gradient descent, η = 1/L": count(0.01, 0),
        "heavy ball, γ = 0.9, η = 1/L": count(0.01, 0.9),
        "heavy ball, tuned": count((2 / 11) ** 2, (9 / 11) ** 2),
    }
    needed = [pictures.steps_to(path) for path in runs.values()]
    assert needed == [709, 1375, 264, 95]
    predict(
        "κ = 100: gradient descent at its best rate needs 709 steps to come within "
        "1e-6. How many does tuned heavy ball need?",
        ["about 600", "about 350", "about 95", "about 10"],
        truth=2,
        then=lambda: pictures.draw_steps(runs),
        because="κ enters through its square root. (A pure factor of 0.818 would "
        "need 71: at the best tuning both eigenvalues fall together and "
        "the error decays like t · 0.818ᵗ.)",
    )

# %% [markdown] covers="wu:1.6.4"
# These counts belong to the accuracy $10^{-6}$. For a finer one the ratio of the first count to the last, 709 : 95 here, creeps up towards $\sqrt\kappa = 10$. The tuned ball starts by
# overshooting: the eigenvalue says what a step does in the long run, nothing about the first steps. All this is about bowls; on other functions the tuned values promise
# convergence only near the minimum.
#
# **Try:** keep $\eta = 0.01$ and raise $\gamma$ from 0. Where is the path straightest, where is it fastest, and what happens beyond? Then find a $\gamma$ at which
# Nesterov's variant, which asks for the slope at the place where the velocity will carry it, beats heavy ball.
#
# **Two promises that are too large.** wu promises $O(1/t^2)$ instead of $O(1/t)$. That is about the **worst** smooth convex function, and it belongs to Nesterov's method with a momentum that grows towards 1.
# On each single bowl momentum with constant $\gamma$ converges geometrically, but the *worst* bowl moves with $t$, and the worst gap $f(\theta_t) - f(\theta^*)$ to the minimum still falls like $1/t$, so $t^2 \times$ gap grows without end. And the “escape from local minima” is a tendency, no promise: in the double well
# $(\theta^2-1)^2 + 0.3\,\theta$ the better minimum is near $-1$, and some balls roll out of the poorer well, others out of the better one. Of 401 starts, spread evenly over $[-2, 2]$, 56% end in the better well with $\gamma = 0.9$, and 52% without momentum.

# %% covers="wu:1.6.4 moon:4.6 guo:IV.1.a"
with after(heavy_ball):
    explore(
        lambda method, eta, gamma: pictures.draw_momentum(
            heavy_ball, eta, gamma, method
        ),
        method=Dropdown(
            options=["heavy ball", "Nesterov", "gradient descent"], description="method"
        ),
        eta=FloatSlider(
            0.01,
            min=0.001,
            max=0.04,
            step=0.001,
            readout_format=".3f",
            description="rate η",
            continuous_update=False,
        ),
        gamma=FloatSlider(
            0.5,
            min=0,
            max=0.98,
            step=0.02,
            description="momentum γ",
            continuous_update=False,
        ),
    )

# %% covers="wu:1.6.4"
with after(heavy_ball):
    c = np.logspace(-5, 0, 300)  # 300 bowls at once: L = 1, start 1, minimum 0

    def scaled_gap(method, gamma):
        """t² times the worst gap, at t = 1000 and t = 3000."""
        path = method(lambda th: c * th, np.ones(300), 1.0, gamma, 3000)
        return [t**2 * (c * path[t] ** 2 / 2).max() for t in (1000, 3000)]

    ball, growing = scaled_gap(heavy_ball, 0.9), scaled_gap(pictures.nesterov, None)
    erratum(
        "wu:1.6.4",
        r"momentum gives $O(1/t^2)$: $t^2 \times$ gap stays below "
        r"$2L\lVert\theta_0-\theta^*\rVert^2$",
        "so it is for Nesterov's growing momentum; "
        r"with constant $\gamma$ it grows like $t$",
        printed_holds=max(ball) < 2,
        corrected_holds=max(growing) < 2 and ball[1] > 2.5 * ball[0],
    )
    plain, rolling = (pictures.in_better_well(heavy_ball, g) for g in (0.0, 0.9))
    saved, lost = (rolling & ~plain).mean(), (plain & ~rolling).mean()
    assert abs((rolling.mean() - plain.mean()) - 0.04) < 0.01  # 56% against 52%
    erratum(
        "wu:1.6.4",
        "better escape from local minima, as a benefit to count on",
        "a tendency, no promise: of 401 starts momentum moves 12% into the better "
        "well and 8% out of it",
        printed_holds=lost == 0,
        corrected_holds=abs(saved - 0.12) < 0.01 and abs(lost - 0.08) < 0.01,
    )

# %% [markdown] covers="explainers:3.3.2 moon:4.7"
# ## 3. AdaGrad: a rate for each parameter
#
# A word that occurs once in a thousand sentences gets a gradient once in a thousand steps. One rate for all parameters is too large for the frequent words or too small for the rare ones.
# AdaGrad keeps, for each parameter, the sum of its squared gradients, and divides the rate by its root:
# $$G_t = G_{t-1} + g_t^2, \qquad \theta_{t} = \theta_{t-1} - \frac{\eta}{\sqrt{G_t}+\epsilon}\; g_t, \qquad G_0 = 0 .$$
# From here on steps count from 1, and $g_t = \nabla f(\theta_{t-1})$ is the gradient where step $t$ starts. The small $\epsilon$ stands outside the root; it only keeps $0/0$ away.
#
# **Exercise.** moon 4.7 prints the update as $w = w - \frac{\alpha}{\sqrt v+\epsilon}\,v$, with $v$ the sum of squares so far, the new one included. (moon calls the rate $\alpha$ and, in the cells below, the gradient $dw$.) Take a piece of paper first: where does that rule go from $w = -1$ on $f = w^2$?
# (The cell below the check runs it.) Then write the right one. In the card that the check shows, value 1 is the new $\theta$ and value 2 the new $G$.


# %% exercise="adagrad_step" points=2 minutes=7 difficulty=1 covers="explainers:3.3.2 moon:4.7"
def adagrad_step(theta, g, G, eta, eps=1e-8):
    """One step of AdaGrad, in the formulas above.

    theta, g, G (d,): parameters, gradient there, sum of squares so far
    -> (new theta, new G), both (d,). The arguments stay unchanged.
    theta = [1.0], g = [-3.0], G = [16.0], eta = 0.5 gives ([1.3], [25.0]).
    """
    ### BEGIN SOLUTION
    G = G + g**2
    return theta - eta * g / (np.sqrt(G) + eps), G
    ### END SOLUTION


# %% check="adagrad_step"
check(adagrad_step)

# %% covers="moon:4.7"
with after(adagrad_step):
    w, v = np.array([-1.0]), np.zeros(1)
    printed, sum_of_squares = -1.0, 0.0
    for _ in range(50):
        w, v = adagrad_step(w, 2 * w, v, 0.1)
        sum_of_squares += (2 * printed) ** 2
        printed -= 0.1 / (np.sqrt(sum_of_squares) + 1e-8) * sum_of_squares
    print(f"f = w² from w = -1: printed rule {printed:.0e}, AdaGrad {w[0]:.3f}")
    erratum(
        "moon:4.7",
        r"$w = w - \frac{\alpha}{\sqrt v+\epsilon}\,v$",
        r"$w = w - \frac{\alpha}{\sqrt v+\epsilon}\,dw$; "
        r"since $v \ge 0$ the printed rule can only move down",
        printed_holds=abs(printed) < 1,
        corrected_holds=np.isclose(w[0], -0.137, atol=1e-3),
    )
    # pictures.optimisers wraps your step for pictures.race, which returns its path.
    method = pictures.optimisers(adagrad_step)["AdaGrad"]
    ours = pictures.race(method, pictures.SURFACES["ravine"].grad, (1, 0.3), 60, 0.1, 0)
    theirs = pictures.torch_path(lambda p: torch.optim.Adagrad(p, lr=0.1, eps=1e-8))
    print("Your path in the first valley is PyTorch's:", np.allclose(ours, theirs))
    assert np.allclose(ours, theirs)

# %% covers="explainers:3.3.2 moon:4.7"
with after(adagrad_step):
    theta, G, places = np.array([100.0, 100.0]), np.zeros(2), []
    for _ in range(1000):  # constant slopes, 10 and 0.01
        theta, G = adagrad_step(theta, np.array([10.0, 0.01]), G, 0.1, eps=0)
        places.append(theta)
    moves, t = -np.diff(places, axis=0), np.arange(2, 1001)
    assert np.allclose(moves, 0.1 / np.sqrt(t)[:, None])  # 1/√t, whatever the scale
    _, total = adagrad_step(np.zeros(1), np.ones(1), np.zeros(1), 0.1)
    _, total = adagrad_step(np.zeros(1), -np.ones(1), total, 0.1)
    erratum(
        "explainers:3.3.2",
        "$G_i$ is a running total of gradients",
        "of squared gradients: $+1$ and $-1$ make 2, not 0",
        printed_holds=total[0] == 0,
        corrected_holds=total[0] == 2,
    )
    erratum(
        "explainers:3.3.2",
        "large past gradients mean that a parameter has presumably converged",
        r"they only lower its rate: on $f = 10\,\lvert\theta\rvert$ from 100 it is "
        "still 94 away when its rate has fallen 30-fold",
        printed_holds=theta[0] < 1,
        corrected_holds=theta[0] > 93 and np.sqrt(G[0] / 10**2) > 30,
    )
    erratum(
        "explainers:3.3.2",
        r"$\eta_i\,\nabla^{(t)}_{\theta_i} R_D(\theta_i^{(t)})$",
        r"$\eta_i^{(t)}\,\nabla_{\theta_i} R_D(\theta^{(t)})$: "
        "rate at step $t$, gradient in all parameters",
    )

# %% covers="explainers:3.3.2 moon:4.7"
with after(adagrad_step):
    predict(
        "Least squares with 20 features: 10 in every example, 5 in a tenth, 5 in a "
        "hundredth of them. Which weights limit the rate of gradient descent, and "
        "which does it learn last?",
        [
            "the rare ones limit it and are learned last",
            "the frequent ones limit it, the rare ones are learned last",
            "the frequent ones limit it and are learned last",
        ],
        truth=1,
        then=lambda: pictures.draw_sparse(adagrad_step, np.geomspace(0.01, 2, 8)),
        because="Large rates overshoot along the weights that are always moved. "
        "AdaGrad lowers just those rates; where few gradients arrive they "
        "stay high.",
    )

# %% [markdown] covers="moon:4.8 wu:2.6.2 explainers:3.3.2.a"
# ## 4. RMSProp: forget old gradients
#
# AdaGrad's sum only grows, so its rates only fall, even when the loss surface has changed. RMSProp puts the moving average of section 1 in its place:
# $$s_t = \beta\, s_{t-1} + (1-\beta)\, g_t^2, \qquad \theta_t = \theta_{t-1} - \frac{\eta}{\sqrt{s_t}+\epsilon}\; g_t, \qquad s_0 = 0 .$$
# There is no bias correction here, so the very first step has length $\eta/\sqrt{1-\beta}$: ten times $\eta$ for $\beta = 0.99$.
#
# **Exercise.** Write `rmsprop_step`. Only one line of AdaGrad changes. (Below, the first picture compares $s$ with wu's sum, which leaves out the factor $1-\beta$, under a constant gradient with one spike. wu, the picture and section 5 write $\beta_2$ for this $\beta$, because Adam has two. The other two pictures show a race.)


# %% exercise="rmsprop_step" points=1 minutes=4 difficulty=1 covers="moon:4.8 explainers:3.3.2.a wu:2.6.2"
def rmsprop_step(theta, g, s, eta, beta=0.9, eps=1e-8):
    """One step of RMSProp, in the formulas above.

    theta, g, s (d,): parameters, gradient there, average of squares so far
    -> (new theta, new s), both (d,). The arguments stay unchanged.
    theta = [1.0], g = [-3.0], s = [1.0], eta = 0.5, beta = 0.0 gives ([1.5], [9.0]).
    """
    ### BEGIN SOLUTION
    s = beta * s + (1 - beta) * g**2
    return theta - eta * g / (np.sqrt(s) + eps), s
    ### END SOLUTION


# %% check="rmsprop_step"
check(rmsprop_step)

# %% covers="moon:4.8 wu:2.6.2"
with after(rmsprop_step):
    method = pictures.optimisers(rmsprop_step=rmsprop_step)["RMSProp"]
    grad = pictures.SURFACES["ravine"].grad
    ours = pictures.race(method, grad, (1, 0.3), 60, 0.01, 0.99)
    theirs = pictures.torch_path(lambda p: torch.optim.RMSprop(p, lr=0.01, alpha=0.99))
    assert np.allclose(ours, theirs)
    assert np.allclose(ours[1], ours[0] - 10 * 0.01)  # the first step: η/√(1 − β)
    print("Your path is PyTorch's:", np.allclose(ours, theirs))
    s, G, p = np.zeros(1), 0.0, torch.zeros(1, requires_grad=True)
    adam = torch.optim.Adam([p], betas=(0.9, 0.999))
    for _ in range(20):  # a constant gradient, g = 1
        p.grad = torch.ones(1)
        adam.step()
        _, s = rmsprop_step(np.zeros(1), np.ones(1), s, 0.01, beta=0.999)
        G = 0.999 * G + 1
    tracked = adam.state[p]["exp_avg_sq"].item()  # PyTorch's own second moment
    erratum(
        "wu:2.6.2",
        r"Adam tracks $G_t = \beta_2 G_{t-1} + g_t^2$",
        r"Adam and RMSProp track an average, with $(1-\beta_2)\,g_t^2$; "
        r"the printed sum is 1000 times as large for $\beta_2 = 0.999$",
        printed_holds=np.isclose(G, tracked, rtol=0.01),
        corrected_holds=np.isclose(s[0], tracked) and np.isclose(G, 1000 * tracked),
    )
    zero, g = np.zeros(2), np.array([0.0, 2.0])  # one parameter had no gradient yet
    with np.errstate(invalid="ignore"):
        bare = g / np.sqrt(0.9 * zero + 0.1 * g**2)
    erratum(
        "moon:4.8",
        r"$w = w - \alpha\, dw/\sqrt{s}$",
        r"$w = w - \alpha\, dw/(\sqrt s + \epsilon)$: "
        r"without $\epsilon$ a parameter with no gradient becomes $0/0$",
        printed_holds=np.isfinite(bare).all(),
        corrected_holds=np.isfinite(rmsprop_step(zero, g, zero, 0.01)[0]).all(),
    )

# %% covers="wu:2.6.2 moon:4.8 explainers:3.3.2.a"
with after(adagrad_step, rmsprop_step):
    predict(
        "At step 200 the minimum jumps and the scale of all gradients falls a "
        "hundredfold. Which rates grow to match?",
        ["AdaGrad's", "RMSProp's", "both", "neither"],
        truth=1,
        then=lambda: pictures.draw_scales(adagrad_step, rmsprop_step),
        because="AdaGrad's sum never forgets. RMSProp's average forgets the large "
        "squares: to fall 10⁴-fold it needs ln 10⁴ / (1 − β), some "
        "180 steps at β = 0.95, and then follows the minimum that jumped.",
    )

# %% [markdown] covers="moon:4.9 guo:IV.2 wu:2.6.4 explainers:3.3.2.a"
# ## 5. Adam: both at once
#
# **Ada**ptive **m**oment estimation keeps two averages of section 1, one of the gradient (first moment, the direction) and one of its square (second moment, the scale), and reads both with bias correction:
# $$m_t = \beta_1 m_{t-1} + (1-\beta_1)\, g_t, \qquad s_t = \beta_2 s_{t-1} + (1-\beta_2)\, g_t^2, \qquad m_0 = s_0 = 0,$$
# $$\hat m_t = \frac{m_t}{1-\beta_1^t}, \qquad \hat s_t = \frac{s_t}{1-\beta_2^t}, \qquad \theta_t = \theta_{t-1} - \eta\, \frac{\hat m_t}{\sqrt{\hat s_t}+\epsilon}, \qquad t = 1, 2, \dots$$
# The $n$-th moment of $X$ is $\mathbb E[X^n]$; section 1 proved $\mathbb E[\hat m_t] = \mathbb E[g]$ and $\mathbb E[\hat s_t] = \mathbb E[g^2]$ for gradients whose distribution does not change. (Their quotient is not unbiased, and after quiet steps one large gradient can make a step longer than $\eta$, up to $(1-\beta_1)/\sqrt{1-\beta_2} = 3.2$ times.) Usual settings: $\eta = 10^{-3}$, $\beta_1 = 0.9$, $\beta_2 = 0.999$, $\epsilon = 10^{-8}$.
# (In the update moon and guo write $v$ for our $m$; the original paper, and moon where the moments are stated, write $m$ and $v$ for our $m$ and $s$. In the card, values 1, 2 and 3 are the new $\theta$, $m$ and $s$.)


# %% exercise="adam_step" points=4 minutes=12 difficulty=3 covers="moon:4.9 guo:IV.2 wu:2.6.4 explainers:3.3.2.a"
def adam_step(theta, g, m, s, t, eta=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    """Step t = 1, 2, … of Adam, in the formulas above.

    theta, g, m, s (d,): parameters, gradient there, the raw averages so far
    -> (new theta, new m, new s), each (d,); m and s are returned raw.
    The arguments stay unchanged. theta = [0.0], g = [-5.0], m = s = [0.0], t = 1,
    eta = 0.1 gives ([0.1], [-0.5], [0.025]), rounded.
    """
    ### BEGIN SOLUTION
    m = beta1 * m + (1 - beta1) * g
    s = beta2 * s + (1 - beta2) * g**2
    m_hat, s_hat = m / (1 - beta1**t), s / (1 - beta2**t)
    return theta - eta * m_hat / (np.sqrt(s_hat) + eps), m, s
    ### END SOLUTION


# %% check="adam_step"
check(adam_step)

# %% covers="moon:4.9 guo:IV.2 wu:2.6.4 wu:2.6.6"
with after(adam_step):
    predict(
        "You multiply the loss by a million. How does Adam's first step change?",
        [
            "it becomes a million times as long",
            "it becomes a thousand times as long",
            "it stays η in every coordinate",
            "it becomes a million times shorter",
        ],
        truth=2,
        because="At t = 1 both corrections undo their 1 − β exactly: m̂ = g and "
        "ŝ = g². The step is η g/(|g| + ε): the sign of the gradient "
        "times η, up to ε.",
    )

    def adam_path(scale=1.0, eps=1e-8, n_steps=100):
        """Path in the first figure's valley, its loss multiplied by `scale`."""
        theta, m, s, path = np.array([1.0, 0.3]), np.zeros(2), np.zeros(2), []
        for t in range(1, n_steps + 1):
            path.append(theta)
            g = scale * np.array([1.0, 100.0]) * theta
            theta, m, s = adam_step(theta, g, m, s, t, 0.05, eps=eps)
        return np.array([*path, theta])

    ours = adam_path()
    assert np.allclose(adam_path(1e6)[1], ours[0] - 0.05)  # a first step of η
    assert np.allclose(adam_path(1e6, eps=0), adam_path(eps=0))  # then the same path
    theirs = pictures.torch_path(lambda p: torch.optim.Adam(p, lr=0.05), 100)
    assert np.allclose(ours, theirs)
    print("Your path of 100 steps is PyTorch's:", np.allclose(ours, theirs))

# %% covers="guo:IV.2 moon:4.9"
with after(adam_step, ewa):
    zero = np.zeros(1)
    outside = -adam_step(zero, np.array([1e-4]), zero, zero, 1, eta=1)[0][0]
    inside = 1e-4 / np.sqrt(1e-8 + 1e-8)
    print(
        "First step for g = 1e-4, in units of η: "
        f"ε inside the root {inside:.4f}, outside {outside:.4f}"
    )
    erratum(
        "guo:IV.2",
        r"$\alpha\,\hat v/\sqrt{\hat s+\epsilon}$",
        r"$\alpha\,\hat v/(\sqrt{\hat s}+\epsilon)$; "
        "inside the root, $10^{-8}$ already counts at gradients of $10^{-4}$",
        printed_holds=np.isclose(inside, 1, rtol=1e-3),
        corrected_holds=np.isclose(outside, 1, rtol=1e-3),
    )
    mixed = ewa(np.ones(5), 0.9) / (1 - 0.999 ** np.arange(1, 6))
    erratum(
        "moon:4.9",
        r"$s = \beta s + (1-\beta)\,dw^2$ with the $\beta$ of the first moment, "
        r"corrected by $1-\beta_2^t$",
        r"each average has its own $\beta$ in both places; "
        r"mixed, the first $\hat s$ is 100 times too large",
        printed_holds=np.allclose(mixed, 1),
        corrected_holds=np.allclose(ewa(np.ones(5), 0.999, correct=True), 1),
    )

# %% covers="guo:IV.2 moon:4.9"
with after(ewa):
    raw_m, raw = ewa(np.ones(50), 0.9), ewa(np.ones(50), 0.999)  # g = 1
    growing = ewa(np.arange(1.0, 51) ** 2, 0.999, correct=True)  # g_t = t
    erratum(
        "moon:4.9",
        r"$\mathbb E[m_t] = \mathbb E[g_t]$, $\mathbb E[v_t] = \mathbb E[g_t^2]$, "
        "wanted of the averages",
        "true of the corrected averages, "
        "and only while the gradients' distribution stays the same",
        printed_holds=np.isclose(raw_m[0], 1) or np.isclose(raw[-1], 1, rtol=0.1),
        corrected_holds=(
            np.isclose(raw[-1] / (1 - 0.999**50), 1) and growing[-1] < 0.5 * 50**2
        ),
    )
    show(*pictures.draw_moments(ewa))

# %% [markdown] covers="wu:2.6.3 wu:2.6.5"
# ### What adaptive rates measure
#
# Coordinates may differ in the scale of their gradients, in curvature, and in the rate that suits them. Gradient descent's first move follows the gradient; Adam's treats all coordinates alike.
# **Try:** at which ratio do both point the same way? How does gradient descent's arrow turn as the bowl gets narrower?
#
# In this bowl large gradient and large curvature go together. They need not. Take $f(a, b) = 100\sqrt{1+a^2} + \tfrac12 b^2$ at $(10, 0.1)$: a steep but almost straight flank in $a$, a gentle curved floor in $b$.
# Newton's method divides the gradient by the curvature. The adaptive rate, which is $1/\lvert g\rvert$ after one step, knows nothing of curvature; the numbers under the widget show it.

# %% covers="wu:2.6.3 wu:2.6.5"
with after(adam_step):
    explore(
        lambda ratio: pictures.draw_bowl(adam_step, ratio),
        ratio=FloatLogSlider(
            10,
            base=10,
            min=0,
            max=2,
            step=0.1,
            description="curvature ratio",
            continuous_update=False,
        ),
    )
    a, b = 10.0, 0.1  # the counterexample
    g = np.array([100 * a / np.sqrt(1 + a**2), b])
    curvature = np.array([100 / (1 + a**2) ** 1.5, 1.0])
    rates = 1 / np.abs(g)
    for i, name in enumerate("ab"):
        print(
            f"{name}: gradient {g[i]:.1f}, curvature {curvature[i]:.1f}, "
            f"adaptive rate {rates[i]:.2f}"
        )
    erratum(
        "wu:2.6.5",
        r"$1/(\sqrt{G}+\epsilon)$ is large where curvature is low "
        "and small where it is high",
        "it is large where past gradients were small; "
        "here the lower curvature gets the smaller rate",
        printed_holds=bool((curvature[0] < curvature[1]) == (rates[0] > rates[1])),
        corrected_holds=bool((abs(g[0]) > abs(g[1])) == (rates[0] < rates[1])),
    )

# %% [markdown] covers="wu:2.6.4"
# ### The simplified Adam is another method
#
# wu's Algorithm 3 leaves out both factors $1-\beta$ and the correction, and puts $\epsilon$ inside the root (wu's (2.69) has it outside):
# $$v_t = \beta_1 v_{t-1} + g_t, \qquad G_t = \beta_2 G_{t-1} + g_t^2, \qquad \theta_t = \theta_{t-1} - \eta\, v_t/\sqrt{G_t + \epsilon}, \qquad v_0 = G_0 = 0.$$
# Under a constant gradient $g > 0$ Adam's step has length $\eta$ at every $t$ (up to $\epsilon$). How long is this one's? (After the check, the picture draws it and lets the method race with three others.)
#
# **Exercise.** With $\epsilon = 0$, find the length of its step $t$, divided by $\eta$, in closed form.


# %% exercise="simplified_ratio" points=3 minutes=8 difficulty=2 covers="wu:2.6.4"
def simplified_ratio(t, beta1=0.9, beta2=0.999):
    """Length of step t of Algorithm 3 over eta: constant gradient, epsilon = 0.

    t (n,) whole numbers >= 1, 0 <= beta1, beta2 < 1 -> (n,).
    simplified_ratio(np.array([1, 2]), 0.5, 0.5) gives [1.0, 1.225], rounded:
    at t = 2 both sums are 1.5.
    """
    ### BEGIN SOLUTION
    first = (1 - beta1**t) / (1 - beta1)
    second = (1 - beta2**t) / (1 - beta2)
    return first / np.sqrt(second)
    ### END SOLUTION


# %% check="simplified_ratio"
check(simplified_ratio)

# %% covers="wu:2.6.4"
with after(simplified_ratio, adam_step):
    v = G = 0.0
    theta, m, s = np.zeros(1), np.zeros(1), np.zeros(1)
    notes, adam = [], []
    for t in range(1, 1001):  # both methods, run on g = 3
        v, G = 0.9 * v + 3, 0.999 * G + 9
        notes.append(v / np.sqrt(G))
        before, (theta, m, s) = theta, adam_step(theta, np.array([3.0]), m, s, t, eta=1)
        adam.append(before[0] - theta[0])
    assert np.allclose(notes, simplified_ratio(np.arange(1, 1001)))
    ours = simplified_ratio(np.array([1, 12, 100, 1000, 100_000]))
    erratum(
        "wu:2.6.4",
        "Algorithm 3 is Adam, simplified",
        r"its steps, in units of $\eta$: 1.00 at $t=1$, 2.08 at 12, 1.02 at 100, "
        "0.40 at 1000, limit 0.316; Adam's: 1",
        printed_holds=np.allclose(notes, adam, rtol=0.01),
        corrected_holds=(
            np.allclose(adam, 1)
            and np.allclose(ours, [1, 2.08, 1.02, 0.40, 0.316], atol=0.005)
        ),
    )
    show(*pictures.draw_schedule(simplified_ratio, adam_step))

# %% [markdown] covers="guo:IV.2.a"
# ## 6. Noise, and the shape of a path
#
# guo says that small batches make the path jump, and that Adam's path jumps too with $\beta$ near 0 and is smoother near 1. We test this by measuring it. Call the move from one point of a path to the next $d_t$, and the **roughness** of a path
# the mean angle between neighbouring moves $d_t, d_{t+1}$, in degrees: 0 is a straight line, 90 a drunkard's walk, 180 there and back.
#
# **Exercise.** Write `roughness`. A move of length zero has no direction: leave out the two pairs it belongs to, so that the moves before and after a rest do not become neighbours. If no pair is left the roughness is 0. (Rounding can push a cosine a hair above 1: `np.clip` it.)


# %% exercise="roughness" points=2 minutes=8 difficulty=2 covers="guo:IV.2.a"
def roughness(path):
    """Mean angle in degrees between neighbouring moves.

    path (n, d), n >= 1 points -> one number between 0 and 180.
    roughness(np.array([[0.0, 0], [1, 0], [1, 1], [1, 2]])) gives 45.0: angles 90 and 0.
    """
    ### BEGIN SOLUTION
    moves = np.diff(path, axis=0)
    lengths = np.linalg.norm(moves, axis=1)
    angles = []
    for i in range(len(moves) - 1):
        if lengths[i] > 0 and lengths[i + 1] > 0:
            cosine = moves[i] @ moves[i + 1] / (lengths[i] * lengths[i + 1])
            angles.append(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
    return float(np.mean(angles)) if angles else 0.0
    ### END SOLUTION


# %% check="roughness"
check(roughness)

# %% covers="guo:IV.2.a guo:IV"
with after(roughness, adagrad_step, rmsprop_step, adam_step):
    methods = pictures.optimisers(adagrad_step, rmsprop_step, adam_step)
    bowl = pictures.quadratic([1.0, 10.0], start=(2, 1), xlim=(-2, 2), ylim=(-2, 2))

    def turn(method, n_steps, eta, beta, batch):
        """Roughness on a bowl; each gradient entry has noise 2/sqrt(batch)."""
        path = pictures.race(
            methods[method],
            bowl.grad,
            bowl.start,
            n_steps,
            eta,
            beta,
            noise=2 / batch**0.5,
        )
        return roughness(path)

    by_batch = [turn("gradient descent", 60, 0.02, 0, B) for B in (1, 4, 16, 64)]
    by_beta = [turn("Adam", 400, 0.05, beta, 1) for beta in (0.0, 0.5, 0.9, 0.99)]
    for what, angles in (
        ("SGD, B = 1, 4, 16, 64", by_batch),
        ("Adam, B = 1, β = 0, 0.5, 0.9, 0.99", by_beta),
    ):
        print(f"{what}: " + ", ".join(f"{angle:.0f}°" for angle in angles))
    assert np.all(np.diff(by_batch) < 0) and np.all(np.diff(by_beta) < 0)
    erratum("guo:IV.2.a", "“SVG” jumps around", "SGD: stochastic gradient descent")

# %% [markdown]
# One harness runs all your methods, on surfaces without and with noise. As in the measurement above, Adam gets $\beta_1 = \beta_2 = \beta$, and a batch of $B$ puts noise of size $2/\sqrt B$ on the gradient.
#
# **Try:** the saddle starts on a ridge, a thousandth off. Who leaves it first? In the curved valley (Rosenbrock's, a little gentler), who diverges at $\eta = 0.02$, and at which rate does it behave?
# In the ravine, compare batch 1 with all data; then set $\beta$ to 0.

# %% covers="guo:IV.2.a explainers:3.3 guo:IV moon:4.9 wu:2.6.1"
with after(adagrad_step, rmsprop_step, adam_step):
    methods = pictures.optimisers(adagrad_step, rmsprop_step, adam_step)
    explore(
        lambda **chosen: pictures.draw_race(methods, **chosen),
        surface=Dropdown(options=list(pictures.SURFACES), description="surface"),
        method=Dropdown(options=["all five", *methods], description="method"),
        eta=FloatLogSlider(
            0.01,
            base=10,
            min=-3,
            max=0,
            step=0.1,
            description="rate η",
            continuous_update=False,
        ),
        beta=FloatSlider(
            0.9,
            min=0,
            max=0.98,
            step=0.02,
            description="memory β",
            continuous_update=False,
        ),
        batch=SelectionSlider(
            options=[1, 4, 16, 64, "all data"],
            value="all data",
            description="batch",
            continuous_update=False,
        ),
    )

# %% [markdown] covers="wu:2.6.6 wu:2.6.3"
# ## 7. Real data
#
# **Badly scaled features.** The breast-cancer measurements come raw: some columns are near 0.003, others near 1000, and their gradients differ accordingly. We fit logistic regression with 1000 full-batch
# steps, and every method runs at the best of three rates. (Heavy ball and Adam end a little lower at a rate three times as large, but their loss leaps on the way.) The usual cure is to standardise the columns first. How far does Adam get without it, and what are its rates?
#
# **Rare words.** A small network guesses the next word of Python's manual: an embedding for each of 300 words, then a softmax. A word's embedding gets a gradient only when the word is in the batch.
# There are 200 steps, again at the best of three rates, and the loss is measured on the text's own pairs, behind frequent and behind rare words; with one seed, differences of a few hundredths mean nothing. Who gains most from a rate of its own?

# %% covers="wu:2.6.6 wu:2.6.3 guo:IV.2 moon:4.9 guo:IV explainers:3.3"
with after(adagrad_step, rmsprop_step, adam_step):
    methods = pictures.optimisers(adagrad_step, rmsprop_step, adam_step, beta2=0.999)
    tumours = data.breast_cancer()
    loss, grad = pictures.logistic(tumours.X, tumours.y)
    etas = {
        "gradient descent": [1e-5, 3e-5, 1e-4],
        "heavy ball": [3e-6, 1e-5, 3e-5],
        "AdaGrad": [0.01, 0.03, 0.1],
        "RMSProp": [1e-4, 1e-3, 1e-2],
        "Adam": [0.003, 0.01, 0.03],
    }
    run = {"start": np.zeros(31), "n_steps": 1000, "every": 20}
    curves = pictures.best_curves(methods, etas, loss, grad, **run)
    X = (tumours.X - tumours.X.mean(0)) / tumours.X.std(0)
    descent = {"plain": methods["gradient descent"]}
    plain = pictures.best_curves(
        descent, {"plain": [1.0]}, *pictures.logistic(X, tumours.y), **run
    )
    rates = pictures.adam_rates(adam_step, grad, np.zeros(31), 0.03, 1000)
    show(*pictures.draw_raw(curves, 20, plain["plain"][-1], *rates), digits=1)

# %% covers="wu:2.6.6 explainers:3.3.2 explainers:3.3"
with after(adagrad_step, rmsprop_step, adam_step):
    methods = pictures.optimisers(adagrad_step, rmsprop_step, adam_step, beta2=0.999)
    pairs, counts = pictures.bigrams(data.documents())
    etas = {
        "gradient descent": [5, 10, 15],
        "heavy ball": [0.5, 1, 2],
        "AdaGrad": [0.1, 0.3, 1],
        "RMSProp": [0.01, 0.03, 0.1],
        "Adam": [0.01, 0.03, 0.1],
    }
    results = {}
    for name, step in methods.items():
        trained = [
            pictures.train_next_word(step, eta, pairs, counts) for eta in etas[name]
        ]
        results[name] = min(trained, key=sum)
    show(*pictures.draw_words(results), digits=0)

# %% [markdown] covers="wu:2.6.6"
# ### What the list of benefits leaves out
#
# wu lists robust defaults, scale invariance, speed, sparse gradients and stability, and you have measured most of them. Two caveats are missing.
#
# **Weight decay.** A penalty $\frac\lambda2\lVert\theta\rVert^2$ put into the gradient is divided by $\sqrt{\hat s}$ like everything else, so weights with large gradients hardly decay. AdamW takes the
# penalty out of the gradient and shrinks $\theta$ directly, by the factor $1-\eta\lambda$ in each step. The next cell compares both, on two weights that start at 1, with $\lambda = 0.1$ and gradients that pull nowhere.
#
# **Generalisation.** Where many solutions fit the data, Adam finds another one than gradient descent, and not always the one that predicts best. In underdetermined least squares from 0, gradient descent
# finds the solution of smallest norm. Adam does not, as the last lines below measure.

# %% covers="wu:2.6.6"
with after(adam_step):
    ends = {}
    for name in ("penalty in the gradient", "AdamW"):
        theta, m, s = np.ones(2), np.zeros(2), np.zeros(2)
        for t in range(1, 1001):
            g = np.array([0.1, 10.0]) * (-1) ** t  # pull nowhere; two sizes
            pull = 0.1 * theta  # gradient of the penalty
            if name == "AdamW":
                theta = theta - 0.01 * pull
            else:
                g = g + pull
            theta, m, s = adam_step(theta, g, m, s, t, eta=0.01)
        ends[name] = theta
        small, large = abs(theta)
        print(f"{name}: small gradients {small:.2f}, large gradients {large:.2f}")
    assert abs(ends["AdamW"] - 0.999**1000).max() < 0.02  # both weights decay
    assert ends["penalty in the gradient"][1] > 0.9

# %% covers="wu:2.6.6"
with after(adam_step):
    methods = pictures.optimisers(adam_step=adam_step, beta2=0.999)
    rng = np.random.default_rng(1)  # 20 equations, 40 unknowns
    A = rng.normal(size=(20, 40)) * np.logspace(0, -1, 40)
    truth, found = rng.normal(size=40), {}

    def grad(w):
        return A.T @ (A @ (w - truth)) / 20

    for name, eta in (("gradient descent", 0.5), ("Adam", 0.003)):
        path = pictures.race(methods[name], grad, np.zeros(40), 4000, eta, 0.9)
        found[name] = path[-1]
        assert np.abs(A @ (found[name] - truth)).max() < 0.01  # it fits
        print(f"{name} fits with a solution of norm {np.linalg.norm(found[name]):.1f}")
    smallest = np.linalg.pinv(A) @ A @ truth  # the one of smallest norm
    assert np.allclose(found["gradient descent"], smallest, atol=1e-6)

# %% [markdown]
# ## Take-aways
#
# - A fading average holds weight $1-\beta^t$ after $t$ steps. Divide by it to read it; never feed the quotient back.
# - On a bowl, tuned heavy ball needs about $\sqrt\kappa$ steps where gradient descent needs $\kappa$: 95 steps against 709 to $10^{-6}$ at $\kappa = 100$. On a constant slope $g$ its steps grow to $\eta\,g/(1-\gamma)$; conventions differ by the factor $1/(1-\gamma)$.
# - AdaGrad divides by all the past, RMSProp by the recent past; Adam adds a direction with memory and two corrections. The first Adam step is $\eta$ in each coordinate.
# - Adaptive rates measure gradients, not curvature. They take harm out of bad scaling (in section 7 Adam took most of it, AdaGrad and RMSProp less) and out of rare features, and they change which solution is found.
#
# **Next:** where the noise comes from, and how to live with it.
#
# ## What the notes got wrong
#
# | where | printed | right |
# | --- | --- | --- |
# | moon 4.5 | the corrected value overwrites $v_t$ | a separate $\hat v_t$ |
# | moon 4.7 | AdaGrad moves along $v$ | along the gradient |
# | moon 4.8 | no $\epsilon$ | $\sqrt s + \epsilon$ |
# | moon 4.9 | one $\beta$; $\mathbb E[m_t] = \mathbb E[g_t]$ of the averages | two; only of corrected ones, for steady gradients |
# | wu 1.6.4 | $v_0 = 0$; a moving average; $O(1/t^2)$; escapes local minima | $v_{-1} = 0$; a fading sum; Nesterov's rate; a tendency, no promise |
# | wu 2.6.2, 2.6.4, 2.6.5 | no $1-\beta_2$; “simplified Adam”; measures curvature | with it; another method; measures gradients |
# | guo IV.1, IV.2 | garbled loss; $\sqrt{\hat s+\epsilon}$; “SVG” | all weights; $\sqrt{\hat s}+\epsilon$; SGD |
# | explainers 3.3.1, 3.3.2 | $v^{(2)} = 0$, moves $\theta^{(3)}$; total of gradients; converged | $\eta(1-\mu)g_0$, moves $\theta^{(2)}$; of squares; only slower |

# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="Adam, the optimiser behind most deep networks, rebuilt from a fading memory"
# # Momentum, AdaGrad, RMSProp, Adam
#
# Your colleague is back. The same 569 tumours, but this time the measurements come as the hospital keeps them: one
# column is near 0.004, another near 880. From the largest and the smallest curvature you know what gradient
# descent can promise: half the distance to the minimum within fourteen *million* steps.
#
# At the next desk somebody types `torch.optim.Adam` and tries four step sizes. After 134 steps nine tenths of the way
# down are done. Adam never sees a Hessian; it gets the same gradients as you. *What does it do with them?*
#
# You will write it, and let it race on these columns. First a valley 100 times as steep across as along, and three
# optimisers of PyTorch, black boxes still. Press play.

# %%
# What this notebook needs.
import math

import numpy as np
import torch
from ipywidgets import Dropdown, FloatLogSlider, FloatSlider, IntSlider, SelectionSlider
from matplotlib import cbook

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
from descent.pictures.optimisation import momentum_and_adam as pictures

start("03_optimisation/02_momentum_and_adam")

# %% demo=true covers="explainers:3.3 guo:IV wu:2.6.3"
# The raw tumours, with the loss of the notebook before (λ = 0.01); then the movie.
tumours = data.breast_cancer()
loss, grad, L, lowest = pictures.logistic(tumours.X, tumours.y, lam=0.01)
kappa, g0 = L / 0.01, np.abs(grad(np.zeros(31)))
half = math.log(0.5) / math.log((kappa - 1) / (kappa + 1))
print(f"κ = {kappa / 1e6:.0f} million: half the distance within {half:,.0f} steps")
print(f"the first gradient: entries from {g0.min():.4f} to {g0.max():.0f}")
black_boxes = {
    "gradient descent": lambda p: torch.optim.SGD(p, lr=0.0195),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.0195, momentum=0.7),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.05),
}
fig, ax, positions, words = pictures.draw_valley(
    {name: pictures.torch_path(make) for name, make in black_boxes.items()}
)
movie(fig, ax, positions, words, colors=pictures.COLORS[:3])

# %% [markdown] covers="moon:4.4 moon:37.2.2"
# ## 1. One number of memory
#
# Gradients come one after the other, noisy, and you want their level *now*. You may keep a single number. Let it fade:
# with a series $x_1, x_2, \dots$,
#
# $$v_0 = 0, \qquad v_t = \beta\, v_{t-1} + (1-\beta)\, x_t, \qquad 0 \le \beta < 1 .$$
#
# This is the *exponentially weighted average*. Put the line into itself, and $x_i$ turns out to have the weight
# $(1-\beta)\,\beta^{\,t-i}$: about $1/(1-\beta)$ steps are remembered.

# %% predict="first-average" minutes=1
predict(
    "first-average",
    "A series is constant: x = 10 at every step, and β = 0.9. "
    "What is its first average, v₁?",
    ["10", "9", "1", "0"],
    truth=["10", "9", "1", "0"].index(f"{0.9 * 0 + (1 - 0.9) * 10:.0f}"),
    because="v₁ = 0.9 · 0 + 0.1 · 10: nine tenths of the memory still hold the zero "
    "that it started from.",
)

# %% [markdown] covers="moon:4.5 moon:37.2.2"
# And that on a constant! How much is missing? If all $x_i$ have the mean $\mathbb E[x]$,
#
# $$\mathbb E[v_t] = \sum_{i=1}^{t} (1-\beta)\,\beta^{\,t-i}\; \mathbb E[x] = (1-\beta^t)\; \mathbb E[x] .$$
#
# So divide: $\hat v_t = v_t / (1-\beta^t)$ has the right mean from the first step on. This *bias correction* fades
# as $\beta^t$ does. And note the hat: $\hat v_t$ is how you *read* the memory. The recursion goes on from $v_t$.


# %% exercise="ewa" points=2 difficulty=1 covers="moon:4.4 moon:4.5 moon:37.2.2"
def ewa(x, beta, correct=False):
    """Exponentially weighted averages after 1, 2, …, n values.

    x: (n,) numbers or (n, d) vectors, whole ones too; 0 <= beta < 1. Same shape as x.
    correct=True gives the bias-corrected averages.
    ewa(np.array([4.0, 8.0]), 0.5) gives [2.0, 5.0], with correct=True [4.0, 6.667].
    """
    ### BEGIN SOLUTION
    v = 0.0
    averages = []
    for t, x_t in enumerate(x, start=1):
        v = beta * v + (1 - beta) * x_t
        averages.append(v / (1 - beta**t) if correct else v)
    return np.array(averages)
    ### END SOLUTION


# %% check="ewa"
check(ewa)

# %% covers="moon:4.4 moon:4.5"
# The mean of 20,000 noisy series; then closing prices of a share (Google, 2004).
price = cbook.get_sample_data("goog.npz")["price_data"]["close"][:90]
with after(ewa):
    t, series = np.arange(1, 41), np.random.default_rng(1).normal(5, 2, (40, 20_000))
    raw, read = (ewa(series, 0.9, correct=c).mean(axis=1) for c in (False, True))
    # bounds: five standard errors
    claim("raw: the mean is 5 (1 − βᵗ)", np.abs(raw - 5 * (1 - 0.9**t)).max() < 0.017)
    claim("corrected: it is 5 from step 1 on", np.abs(read - 5).max() < 0.07)
    explore(
        lambda beta: pictures.draw_average(ewa, price, beta),
        beta=FloatSlider(0.95, min=0, max=0.99, step=0.01, description="memory β"),
    )

# %% [markdown] covers="wu:1.6.4 wu:2.6.1 guo:IV.1.a explainers:3.3.1"
# ## 2. Why should a ball forget its speed?
#
# Gradient descent zigzags: across the valley each gradient undoes the last one, along it they all agree, and it
# forgets that at once. A rolling ball does not. Its *velocity* collects the gradients, and a share $\gamma$ of it
# survives each step:
#
# $$v_t = \gamma\, v_{t-1} + \nabla f(\theta_t), \qquad \theta_{t+1} = \theta_t - \eta\, v_t, \qquad v_{-1} = 0,\quad 0 \le \gamma < 1 .$$
#
# ($\theta$ are the parameters. As $t$ counts steps here, the step size is $\eta$, the *learning rate*.)
# With $\gamma = 0$ this is your `gd`. Read $1-\gamma$ as friction; 0.9 is usual.
#
# When does a ball rest? At the bottom $\nabla f = 0$, but it may be there at full speed. So stop where gradient *and*
# velocity are small.


# %% exercise="heavy_ball" points=3 difficulty=1 covers="wu:1.6.4 guo:IV.1.a wu:2.6.1 explainers:3.3.1"
def heavy_ball(grad, theta0, eta, gamma, max_steps, tol=0.0):
    """All iterates of gradient descent with momentum, in the formulas above.

    grad: function (d,) -> (d,). theta0: array (d,), left unchanged. eta > 0.
    Stops before a step where the (Euclidean) norms of the gradient and of the
    velocity so far are both at most tol, and after max_steps steps.
    Returns the path (k + 1, d) after k steps; path[0] is theta0.
    heavy_ball(lambda x: 2 * x, np.array([1.0]), 0.25, 0.5, 2) gives
    [[1.0], [0.5], [0.0]].
    """
    ### BEGIN SOLUTION
    path = [theta0]
    v = np.zeros(len(theta0))
    for _ in range(max_steps):
        g = grad(path[-1])
        if np.linalg.norm(g) <= tol and np.linalg.norm(v) <= tol:
            break
        v = gamma * v + g
        path.append(path[-1] - eta * v)
    return np.array(path)
    ### END SOLUTION


# %% check="heavy_ball"
check(heavy_ball)

# %% [markdown] covers="wu:1.6.4 moon:4.6 guo:IV.1.a"
# Put the line into itself: $v_t = \sum_i \gamma^i\, \nabla f(\theta_{t-i})$, a fading *sum*. What changes sign
# nearly halves; on a steady slope $g$ the speed grows to $g/(1-\gamma)$.
#
# **Your laboratory.** Drag the start. Raise $\gamma$ from 0: where is the ball's path straightest, where is it fastest,
# what happens beyond? Then raise $\eta$: who fails first, who last? (*Nesterov's* ball asks for the slope where its
# velocity will carry it.)

# %% covers="wu:1.6.4 moon:4.6 guo:IV.1.a explainers:3.3.1"
# What the velocity holds; then three optimisers from one start. Drag the square.
with after(heavy_ball):
    c = np.array([1.0, 7.0])
    path = heavy_ball(lambda x: c * x, np.ones(2), 0.05, 0.9, 31)
    v = (path[:-1] - path[1:]) / 0.05
    sums = [sum(0.9**i * c * path[t - i] for i in range(t + 1)) for t in range(31)]
    claim("the velocity is that sum, at each of {n} steps", np.allclose(v, sums), n=31)
    path = heavy_ball(lambda x: np.ones(1), np.zeros(1), 0.05, 0.9, 300)[:, 0]
    speed = (path[-2] - path[-1]) / 0.05
    claim("on a slope of 1 it grows to {v:.0f}", math.isclose(speed, 10), v=speed)
    explore(
        lambda **chosen: pictures.draw_ball(heavy_ball, **chosen),
        drag={("x", "y"): "start"},
        x=FloatSlider(1, min=-1.1, max=1.1, step=0.05, description="start θ₁"),
        y=FloatSlider(1, min=-1.1, max=1.1, step=0.05, description="start θ₂"),
        eta=FloatSlider(
            0.014, min=0.001, max=0.04, step=0.001, readout_format=".3f",
            description="rate η",
        ),
        gamma=FloatSlider(0.5, min=0, max=0.98, step=0.02, description="momentum γ"),
    )  # fmt: skip

# %% predict="tuned-ball" minutes=1
predict(
    "tuned-ball",
    "Curvatures 1 and 100, start (1, 1). Gradient descent at its best rate needs 709 "
    "steps to come within 1e-6. A ball whose η and γ are both tuned: how many?",
    ["about 600", "about 350", "about 95", "about 10"],
    truth=[600, 350, 95, 10].index(
        pictures.steps_to(pictures.tuned_runs(heavy_ball)["heavy ball, tuned"])
    ),
    because="κ = 100 enters through its square root. In the long run a step of the "
    "tuned ball leaves 9/11 of the distance, one of gradient descent 99/101.",
    then=lambda: pictures.draw_steps(pictures.tuned_runs(heavy_ball)),
)

# %% [markdown] covers="explainers:3.3.2 moon:4.7 wu:2.6.3"
# ## 3. Why one rate for all?
#
# Tuned momentum takes the root of $\kappa$ (*Deeper* says why). But the root of 42 million is still 6,453. Look at the
# first gradient of the tumours, above: one weight gets 0.0003, another 90. Any one rate is far too long for the second
# or far too short for the first.
#
# So give each weight its own. **AdaGrad** sums each weight's squared gradients, and divides by the root:
#
# $$G_t = G_{t-1} + g_t^2, \qquad \theta_t = \theta_{t-1} - \frac{\eta}{\sqrt{G_t} + \epsilon}\; g_t, \qquad G_0 = 0 .$$
#
# Here $g_t = \nabla f(\theta_{t-1})$ for $t = 1, 2, \dots$ (from here on steps count from 1, as Adam's correction
# needs); squares, roots and quotients act entry by entry. The tiny
# $\epsilon$ only keeps $0/0$ away.


# %% exercise="adagrad_step" points=1 difficulty=1 covers="explainers:3.3.2 moon:4.7"
def adagrad_step(theta, g, G, t, eta, eps=1e-8):
    """Step t = 1, 2, … of AdaGrad, in the formulas above.

    theta, g (d,): parameters and the gradient there. G: the sum so far, (d,), or
    0.0 before the first step. (t is for methods that count; AdaGrad does not.)
    Returns the new theta (d,) and the new G (d,). The arguments stay unchanged.
    theta = [1.0], g = [-3.0], G = [16.0], eta = 0.5 gives ([1.3], [25.0]).
    """
    ### BEGIN SOLUTION
    G = G + g**2
    return theta - eta * g / (np.sqrt(G) + eps), G
    ### END SOLUTION


# %% check="adagrad_step"
check(adagrad_step)

# %% open=true covers="explainers:3.3.2 moon:4.7"
with after(adagrad_step):
    theta, G, moves = np.zeros(2), 0.0, []
    for t in range(1, 1001):  # constant slopes, one 1000 times the other
        new, G = adagrad_step(theta, np.array([10.0, 0.01]), G, t, 0.1, eps=0.0)
        moves.append(theta - new)
        theta = new
    same = np.allclose(np.array(moves).T, 0.1 / np.sqrt(np.arange(1, 1001)))
    claim("both weights move η/√t, whatever the size of their slope", same)

# %% [markdown] covers="moon:4.8 wu:2.6.2 explainers:3.3.2.a"
# The scale of the gradient is gone. But look at the $\sqrt t$: the sum only grows, so every rate only falls, even when
# the landscape has changed. You know a memory that forgets. **RMSProp** puts it in the place of the sum:
#
# $$s_t = \beta\, s_{t-1} + (1-\beta)\, g_t^2, \qquad \theta_t = \theta_{t-1} - \frac{\eta}{\sqrt{s_t}+\epsilon}\; g_t, \qquad s_0 = 0 .$$
#
# There is no bias correction in it. (How long is its first step, then?)


# %% exercise="rmsprop_step" points=1 difficulty=1 covers="moon:4.8 explainers:3.3.2.a wu:2.6.2"
def rmsprop_step(theta, g, s, t, eta, beta=0.99, eps=1e-8):
    """Step t of RMSProp, in the formulas above.

    As adagrad_step, with s, the average of squares so far, in the place of G.
    theta = [1.0], g = [-3.0], s = [1.0], eta = 0.5, beta = 0.0 gives ([1.5], [9.0]).
    """
    ### BEGIN SOLUTION
    s = beta * s + (1 - beta) * g**2
    return theta - eta * g / (np.sqrt(s) + eps), s
    ### END SOLUTION


# %% check="rmsprop_step"
check(rmsprop_step)

# %% predict="who-forgets" minutes=1
predict(
    "who-forgets",
    "At step 200 the minimum jumps away, and from then on all gradients are a "
    "hundred times smaller. Whose rates grow to match?",
    ["AdaGrad's", "RMSProp's", "both", "neither"],
    truth=["01", "10", "11", "00"].index(  # RMSProp's, AdaGrad's
        "".join(
            str(int(rate[-1] > 2))
            for _, rate in pictures.after_jump(adagrad_step, rmsprop_step).values()
        )
    ),
    because="AdaGrad's sum never forgets. RMSProp's average does: with β = 0.95 the "
    "large squares have faded after some 180 steps.",
    then=lambda: pictures.draw_jump(adagrad_step, rmsprop_step),
)

# %% [markdown] covers="moon:4.9 guo:IV.2 wu:2.6.4 explainers:3.3.2.a"
# ## 4. Both memories at once
#
# Now put sections 1 to 3 together. **Adam** (*ada*ptive *m*oments) averages the gradient, for a direction with memory,
# and its square, for a rate of each weight's own. It reads both with bias correction (RMSProp, which does not, starts
# with a step that is $1/\sqrt{1-\beta}$ times too long):
#
# $$v_t = \beta_1 v_{t-1} + (1-\beta_1)\, g_t, \qquad s_t = \beta_2 s_{t-1} + (1-\beta_2)\, g_t^2, \qquad v_0 = s_0 = 0,$$
#
# $$\hat v_t = \frac{v_t}{1-\beta_1^t}, \qquad \hat s_t = \frac{s_t}{1-\beta_2^t}, \qquad
# \theta_t = \theta_{t-1} - \eta\, \frac{\hat v_t}{\sqrt{\hat s_t}+\epsilon} .$$
#
# By section 1, $\mathbb E[\hat v_t] = \mathbb E[g]$ and $\mathbb E[\hat s_t] = \mathbb E[g^2]$ (the first and second
# *moment*), as long as the gradients keep their distribution.


# %% exercise="adam_step" points=4 difficulty=1 covers="moon:4.9 guo:IV.2 wu:2.6.4 explainers:3.3.2.a"
def adam_step(theta, g, memory, t, eta, beta1=0.9, beta2=0.999, eps=1e-8):
    """Step t = 1, 2, … of Adam, in the formulas above.

    theta, g (d,): parameters and the gradient there. memory: the pair (v, s) of raw
    averages so far, each (d,), or (0.0, 0.0) before the first step.
    Returns the new theta (d,) and the new pair, raw. The arguments stay unchanged.
    theta = [0.0], g = [-5.0], memory = (0.0, 0.0), t = 1, eta = 0.1 gives [0.1] and
    ([-0.5], [0.025]), rounded.
    """
    ### BEGIN SOLUTION
    v, s = memory
    v = beta1 * v + (1 - beta1) * g
    s = beta2 * s + (1 - beta2) * g**2
    v_hat = v / (1 - beta1**t)
    s_hat = s / (1 - beta2**t)
    theta = theta - eta * v_hat / (np.sqrt(s_hat) + eps)
    return theta, (v, s)
    ### END SOLUTION


# %% check="adam_step"
check(adam_step)

# %% predict="times-a-million" minutes=1
predict(
    "times-a-million",
    "You multiply the loss by a million. How does the length of Adam's first step "
    "change?",
    [
        "it grows a million times",
        "it grows a thousand times",
        "it stays the same",
        "it shrinks a million times",
    ],
    truth=[6, 3, 0, -6].index(
        round(
            math.log10(
                adam_step(np.zeros(1), np.full(1, 3e6), (0.0, 0.0), 1, 0.1)[0][0]
                / adam_step(np.zeros(1), np.full(1, 3.0), (0.0, 0.0), 1, 0.1)[0][0]
            )
        )
    ),
    because="At t = 1 the corrections undo the factors 1 − β: v̂ = g and ŝ = g². So "
    "each weight moves η against the sign of its gradient, whatever its size.",
)

# %% covers="moon:4.9 guo:IV.2 wu:2.6.4 wu:2.6.6"
# Your step against PyTorch's, a scaled loss, and both moments, raw and read.
with after(adam_step, ewa, "times-a-million"):
    valley, begin = pictures.RAVINE.grad, np.array([1.0, 0.3])
    ours = pictures.walk(adam_step, (0.0, 0.0), valley, begin, 100, 0.05)
    theirs = pictures.torch_path(lambda p: torch.optim.Adam(p, lr=0.05), 100)
    claim(
        "100 steps in the first valley: your path is PyTorch's",
        np.allclose(ours, theirs),
    )
    scaled = pictures.walk(
        adam_step, (0.0, 0.0), lambda x: 1e6 * valley(x), begin, 100, 0.05
    )
    gap = np.abs(ours - scaled).max()
    claim("the loss times a million: the same path, up to ε", gap < 1e-3)
    show(*pictures.draw_moments(ewa))

# %% [markdown] covers="explainers:3.3 guo:IV"
# ## 5. A fair race
#
# Back to the raw tumours. Whose method wins? With one $\eta$ for all, that of the person who chose it. So tune each
# on its own: several rates, a run for each, and the best run counts. The goal is a tenth of the first gap
# $f - f^*$. All your steps look alike, `step(theta, g, memory, t, eta)`; two more are quickly brought to that form.
# Write the referee.


# %% open=true covers="guo:IV wu:2.6.1"
def plain_step(theta, g, memory, t, eta):
    return theta - eta * g, memory


def momentum_step(theta, g, v, t, eta):
    v = 0.9 * v + g
    return theta - eta * v, v


# %% exercise="tune" points=5 difficulty=1 covers="explainers:3.3 guo:IV"
def tune(loss, grad, theta0, step, memory, etas, goal, max_steps):
    """The best learning rate for a method: its eta and the losses of its run.

    loss: function (d,) -> number; grad: (d,) -> (d,). theta0 (d,).
    step(theta, g, memory, t, eta) gives the new theta and the new memory; t counts
    from 1. Every run starts at theta0 with the given memory. It ends when the loss
    is at most goal, or no finite number, or after max_steps steps.
    A run whose last loss is no finite number is lost. Of the others the best takes
    the fewest steps; of equally many it ends lowest; of equals it is the first.
    Returns (eta, array of all its losses, the first at theta0), or None where every
    run is lost. etas: list of numbers > 0, in any order.
    With loss(x) = x[0]**2, theta0 = [4.0], plain_step, etas = [0.25, 0.5], goal = 1:
    0.25 would go 16, 4, 1, and 0.5 arrives in one step. So (0.5, [16.0, 0.0]).
    """
    ### BEGIN SOLUTION
    best = None
    record = (math.inf, math.inf)
    for eta in etas:
        theta, state = theta0, memory
        losses = [loss(theta)]
        for t in range(1, max_steps + 1):
            if losses[-1] <= goal or not math.isfinite(losses[-1]):
                break
            theta, state = step(theta, grad(theta), state, t, eta)
            losses.append(loss(theta))
        score = (len(losses), losses[-1])
        if math.isfinite(losses[-1]) and score < record:
            record = score
            best = eta, np.array(losses)
    return best
    ### END SOLUTION


# %% check="tune"
check(tune)

# %% covers="wu:2.6.6 wu:2.6.3 guo:IV.2 moon:4.9 guo:IV explainers:3.3"
# The answer to the question of the first screen.
with after(adagrad_step, rmsprop_step, adam_step, tune):
    zeros = np.zeros(31)
    methods = pictures.methods(
        plain_step, momentum_step, adagrad_step, rmsprop_step, adam_step
    )
    etas = {
        "gradient descent": [3e-6, 1e-5, 3e-5, 1e-4],
        "momentum": [1e-5, 3e-5, 1e-4, 3e-4],
        "AdaGrad": [0.01, 0.03, 0.1, 0.3],
        "RMSProp": [0.0003, 0.001, 0.003, 0.01],
        "Adam": [0.003, 0.01, 0.03, 0.1],
    }
    first = loss(zeros) - lowest
    goal, curves = lowest + first / 10, {}
    for name, method in methods.items():
        eta, losses = tune(loss, grad, zeros, *method, etas[name], goal, 1000)
        curves[f"{name}, η = {eta:g}"] = (losses - lowest) / first
        reached = (
            f"after {len(losses) - 1} steps" if losses[-1] <= goal else "not in 1000"
        )
        print(f"{name:17} a tenth of the gap: {reached}")
    sizes, own = pictures.adam_rates(adam_step, grad, zeros, 0.01, 134)
    show(*pictures.draw_race(curves, sizes, own))
    Z = (tumours.X - tumours.X.mean(0)) / tumours.X.std(0)
    loss_z, grad_z, _, low_z = pictures.logistic(Z, tumours.y, lam=0.01)
    goal = low_z + (loss_z(zeros) - low_z) / 10
    eta, losses = tune(
        loss_z, grad_z, zeros, plain_step, 0.0, [0.1, 0.3, 1.0], goal, 1000
    )
    claim(
        "with standardised columns plain descent gets there in {n} steps, η = {eta:g}",
        losses[-1] <= goal, n=len(losses) - 1, eta=eta,
    )  # fmt: skip

# %% [markdown] covers="wu:2.6.6 wu:2.6.3"
# So that is what Adam does with them: it remembers, for each weight, where its gradients point and how large they are,
# and steps by about $\eta$, less where signs change, whatever their size. The right picture shows its rates: small gradient, large rate. It
# needs no $L$, only a rough $\eta$. Plain descent is better than that promise sounds: it is for the distance, in
# the slowest direction. Of the gap in the loss 85 % is gone after 1000 steps.
#
# The humbler answer is the last line above: where you can, standardise. Inside a deep network it is harder: the columns of
# each layer are made by the layer below and change as it learns. Normalising layers try it all the same; and there Adam
# earns its fame.

# %% [markdown]
# ## Take-aways
#
# - A fading average holds the weight $1-\beta^t$ after $t$ steps. Divide by it to read it; never feed the quotient back.
# - Momentum is a fading sum: it damps what alternates (to about half) and multiplies what agrees by up to $1/(1-\gamma)$. Tuned
#   to a bowl, it turns $\kappa$ into $\sqrt\kappa$.
# - AdaGrad divides by all the past, RMSProp by the recent past; Adam adds a direction with memory and two corrections.
# - Compare methods each at its own best rate.
#
# Next, [[next]]: where the noise comes from. Below: why the root, and what adaptive rates do *not* know.

# %% [markdown] covers="explainers:3.3.1 moon:4.6 guo:IV.1.a wu:2.6.1"
# ## Deeper: three ways to write momentum
#
# | who | velocity | move |
# | --- | --- | --- |
# | wu, guo, PyTorch | $v_t = \gamma v_{t-1} + g_t$ | $\theta - \eta\, v_t$ |
# | explainers | $v_{t+1} = \mu v_t - \eta\, g_t$ | $\theta + v_{t+1}$ |
# | moon | $v_t = \beta v_{t-1} + (1-\beta) g_t$ | $\theta - \alpha\, v_t$ |
#
# With $\gamma = \mu = \beta$ and a constant $\eta$ the first two draw the same path. The third is a true average, and
# needs $\alpha = \eta/(1-\gamma)$: copy a rate from one paper into another program, and it may be ten times off. With
# mini-batches $g_t$ is the gradient of the batch, and nothing else changes.

# %% covers="explainers:3.3.1 moon:4.6 guo:IV.1.a wu:2.6.1"
# The three forms in the first valley; your ball beside PyTorch's, with noise.
with after(heavy_ball):
    grad2, begin = pictures.RAVINE.grad, np.array([1.0, 0.3])
    th1, th3, v1, v3 = begin, begin, np.zeros(2), np.zeros(2)
    for _ in range(50):
        v1 = 0.9 * v1 - 0.005 * grad2(th1)
        th1 = th1 + v1
        v3 = 0.9 * v3 + 0.1 * grad2(th3)
        th3 = th3 - 0.05 * v3
    gap = np.abs(heavy_ball(grad2, begin, 0.005, 0.9, 50)[-1] - [th1, th3]).max()
    claim("three forms, one path (gap {gap})", gap < 1e-12, gap=below(1e-12))
    noise = np.random.default_rng(0).normal(size=(50, 2))  # as from mini-batches
    arriving = iter(noise)
    ours = heavy_ball(lambda x: grad2(x) + next(arriving), begin, 0.005, 0.9, 50)
    theirs = pictures.torch_path(
        lambda p: torch.optim.SGD(p, lr=0.005, momentum=0.9), 50, noise
    )
    claim("with noisy gradients your path is PyTorch's", np.allclose(ours, theirs))

# %% [markdown] covers="wu:1.6.4"
# ## Deeper: why the square root
#
# Along a direction of curvature $c$ the gradient is $c\,\theta$, and heavy ball is a linear map of two positions:
#
# $$\begin{pmatrix}\theta_{t+1}\\ \theta_t\end{pmatrix} = \begin{pmatrix}1+\gamma-\eta c & -\gamma\\ 1 & 0\end{pmatrix}\begin{pmatrix}\theta_t\\ \theta_{t-1}\end{pmatrix}.$$
#
# Its determinant, the product of the two eigenvalues, is $\gamma$. If they are complex they are conjugates, so both have
# the modulus $\sqrt\gamma$, *whatever the curvature*. They are complex for $(1-\sqrt\gamma)^2 < \eta c < (1+\sqrt\gamma)^2$.
# The best tuning stretches this window over all curvatures from $m$ to $L$:
# $\sqrt{\eta m} = 1-\sqrt\gamma$ and $\sqrt{\eta L} = 1+\sqrt\gamma$. Solve, and there is the root. (709 : 95 is less
# than $\sqrt\kappa = 10$: at both ends of the window the eigenvalues coincide, and the distance falls like
# $t\,\gamma^{t/2}$.)


# %% demo=true covers="wu:1.6.4"
# Eigenvalues at the best tuning for κ = 100, and at its neighbours.
def factor(eta, gamma, curvatures=(1.0, 4.0, 30.0, 100.0)):
    """Largest modulus of an eigenvalue for each curvature: the factor per step."""
    maps = [[[1 + gamma - eta * c, -gamma], [1, 0]] for c in curvatures]
    return np.abs(np.linalg.eigvals(np.array(maps))).max(axis=1)


q = (10 - 1) / (10 + 1)  # κ = 100
best = factor((2 / 11) ** 2, q**2)
claim(
    "the same factor at all curvatures, {q:.3f}", np.allclose(best, q, atol=1e-6), q=q
)
plain = factor(2 / 101, 0.0).max()
claim("gradient descent at its best: {q:.3f}", np.isclose(plain, 99 / 101), q=99 / 101)
near = [(a, b) for a in (0.9, 1, 1.1) for b in (0.9, 1, 1.1) if (a, b) != (1, 1)]
worse = [factor(a * (2 / 11) ** 2, b * q**2).max() > q for a, b in near]
claim("none of {n} neighbouring tunings is better", all(worse), n=len(worse))

# %% [markdown] covers="wu:1.6.4"
# **How far does this carry?** These factors hold on bowls, in the long run. On functions that are only convex and
# smooth a constant $\gamma$ promises no more than gradient descent does, a gap of $O(1/t)$. $O(1/t^2)$ belongs to
# Nesterov's method with a momentum that *grows*, $\frac{t-1}{t+2}$. We try $f = x^8$, as flat as a bowl never is
# (from $x = 1$: from there on its curvature is at most 56, so Nesterov takes $\eta = 1/56$, the ball $(1 - \gamma)/56$).
#
# And do balls escape from poor minima? Let 401 start in the double well $(x^2-1)^2 + 0.3\,x$, whose left well is the
# better one.

# %% covers="wu:1.6.4"
# t² times the gap on x⁸, and 401 balls in a double well.
with after(heavy_ball):
    times, one = np.array([100, 1000, 10_000]), np.ones(1)
    ball = heavy_ball(lambda x: 8 * x**7, one, 1 / 560, 0.9, 10_000)[times, 0]
    growing = pictures.nesterov(lambda x: 8 * x**7, one, 1 / 56, None, 10_000)[times, 0]
    claim(
        "t²·gap at t = 100, 1000, 10⁴: constant γ {b[0]:.1f}, {b[1]:.0f}, {b[2]:.0f}, "
        "still growing",
        bool((np.diff(times**2 * ball**8) > 0).all()), b=times**2 * ball**8,
    )  # fmt: skip
    claim(
        "growing momentum {b[0]:.2f}, {b[1]:.3f}, {b[2]:.4f}",
        bool((np.diff(times**2 * growing**8) < 0).all()), b=times**2 * growing**8,
    )  # fmt: skip
    starts = np.linspace(-2, 2, 401)  # 401 balls are one ball in 401 dimensions
    plain, rolling = (
        heavy_ball(lambda x: 4 * x * (x**2 - 1) + 0.3, starts, 0.02, gamma, 2000)[-1]
        < 0
        for gamma in (0.0, 0.9)
    )
    claim(
        "momentum: {saved:.0%} of the starts change to the better well, "
        "{lost:.0%} leave it",
        (plain & ~rolling).any() and (~plain & rolling).any(),
        saved=(~plain & rolling).mean(), lost=(plain & ~rolling).mean(),
    )  # fmt: skip

# %% [markdown] covers="explainers:3.3.2 moon:4.7 wu:2.6.6"
# ## Deeper: rare words
#
# AdaGrad was made for language. A word that occurs once in a thousand sentences gets a gradient once in a thousand
# steps. First a toy: least squares, one example a step, with 20 features. Ten are in every example, five in a tenth,
# five in a hundredth of them.

# %% predict="rare-weights" minutes=1
predict(
    "rare-weights",
    "Which weights limit the learning rate of gradient descent, and which does it "
    "learn last?",
    [
        "the rare ones limit it and are learned last",
        "the frequent ones limit it, the rare ones are learned last",
        "the frequent ones limit it and are learned last",
    ],
    truth=1 + int(np.argmax(pictures.sparse_errors(plain_step, 0.05)) < 10),
    because="Large rates overshoot along the weights that move in every step. "
    "Where gradients seldom arrive, little is learned at such a rate.",
)

# %% covers="explainers:3.3.2 moon:4.7"
# AdaGrad's rates, and the error of the rare weights at every learning rate.
with after(adagrad_step, "rare-weights"):
    show(*pictures.draw_sparse(plain_step, adagrad_step, np.geomspace(0.01, 2, 8)))

# %% [markdown] covers="wu:2.6.6 explainers:3.3.2"
# Now real words. A small network guesses the next word of Python's manual: each of 300 words has an *embedding*, a row
# of 16 numbers, from which scores for the next word are made. A row has a gradient only when its word is in the
# batch. Each method runs 200 steps at the best of three rates (with one seed, a few hundredths mean nothing). Who gains
# most from a rate of its own?

# %% covers="wu:2.6.6 explainers:3.3.2 explainers:3.3"
# Loss behind frequent and behind rare words, for five methods.
with after(adagrad_step, rmsprop_step, adam_step):
    pairs, counts = pictures.bigrams(data.documents())
    methods = pictures.methods(
        plain_step, momentum_step, adagrad_step, rmsprop_step, adam_step
    )
    etas = {
        "gradient descent": [5, 10, 15],
        "momentum": [0.5, 1, 2],
        "AdaGrad": [0.1, 0.3, 1],
        "RMSProp": [0.01, 0.03, 0.1],
        "Adam": [0.01, 0.03, 0.1],
    }
    results = {}
    for name, method in methods.items():
        runs = [pictures.train_next_word(*method, e, pairs, counts) for e in etas[name]]
        results[name] = min(runs, key=sum)
    show(*pictures.draw_words(results), digits=0)

# %% [markdown] covers="wu:2.6.3 wu:2.6.5"
# ## Deeper: what adaptive rates do not know
#
# Weights may differ in the scale of their gradients, in curvature, and in the rate that suits them. In a bowl, seen from
# a point with equal coordinates, these go together: at which ratio of curvatures do both arrows below point the same way?
#
# In general they need not, not even in a bowl ($c\,\theta$ is large where $\theta$ is). Take $f(a, b) = 100\sqrt{1+a^2} + \tfrac12 b^2$ at $(10, 0.1)$: a steep flank in $a$ that is almost
# straight, a gentle round floor in $b$. Newton's method would divide by curvature. Adaptive rates divide by the size
# of gradients.

# %% covers="wu:2.6.3 wu:2.6.5"
# First moves in a bowl; then a place where gradient and curvature disagree.
with after(adagrad_step, adam_step):
    explore(
        lambda ratio: pictures.draw_bowl(adam_step, ratio),
        ratio=FloatLogSlider(10, min=0, max=2, step=0.1, description="curvature ratio"),
    )
    a, b = 10.0, 0.1
    g = np.array([100 * a / math.sqrt(1 + a**2), b])
    curvature = np.array([100 / (1 + a**2) ** 1.5, 1.0])
    own = -adagrad_step(np.zeros(2), g, 0.0, 1, 1.0)[0] / g
    for i, name in enumerate("ab"):
        print(
            f"{name}: gradient {g[i]:.1f}, curvature {curvature[i]:.1f}, "
            f"rate {own[i]:.2f}"
        )
    claim("the lower curvature has the lower rate", curvature.argmin() == own.argmin())

# %% [markdown] covers="wu:2.6.4 wu:2.6.2"
# ## Deeper: Adam, simplified
#
# wu's Algorithm 3 leaves out the factors $1-\beta$ and the correction:
#
# $$v_t = \beta_1 v_{t-1} + g_t, \qquad G_t = \beta_2 G_{t-1} + g_t^2, \qquad \theta_t = \theta_{t-1} - \eta\, v_t/\sqrt{G_t + \epsilon} .$$
#
# Under a constant gradient $g > 0$ Adam's step has the length $\eta$ at every $t$ (up to $\epsilon$). And this one's?
# Find it with $\epsilon = 0$, in closed form.


# %% exercise="simplified_ratio" points=2 difficulty=2 covers="wu:2.6.4"
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

# %% covers="wu:2.6.4 wu:2.6.2"
# Your closed form, both methods on g = 3, and a race with the rate 0.01.
with after(simplified_ratio, adam_step, rmsprop_step):
    steep, t = (lambda x: np.full(1, 3.0)), np.arange(1, 1001)
    lengths = {
        name: -np.diff(pictures.walk(*method, steep, np.zeros(1), 1000, 1.0)[:, 0])
        for name, method in {
            "simplified": (pictures.simplified_step, (0.0, 0.0)),
            "Adam": (adam_step, (0.0, 0.0)),
        }.items()
    }
    same = np.allclose(lengths["simplified"], simplified_ratio(t), rtol=1e-6)
    claim("your formula is what the run does, for {n} steps", same, n=1000)
    claim("Adam's steps: η throughout", np.allclose(lengths["Adam"], 1))
    show(
        *pictures.draw_schedule(
            rmsprop_step,
            simplified_ratio,
            {
                "gradient descent": (plain_step, 0.0),
                "momentum": (momentum_step, 0.0),
                "simplified": (pictures.simplified_step, (0.0, 0.0)),
                "Adam": (adam_step, (0.0, 0.0)),
            },
        )
    )

# %% [markdown] covers="guo:IV.2.a"
# ## Deeper: the shape of a noisy path
#
# guo says that small batches make a path jump, and that Adam's path jumps with its $\beta$ near 0 and is smoother
# with $\beta$ near 1. Measure it: call the move from one point of a path to the next $d_t$. The **roughness** of a path
# is the mean angle between neighbouring moves $d_t, d_{t+1}$, in degrees: 0 is a straight line, 180 there and back.
#
# A move of length zero has no direction: leave out the pairs it belongs to, so that the moves before and after a rest
# do not become neighbours. (Rounding may push a cosine a hair above 1: `np.clip` it.)


# %% exercise="roughness" points=2 difficulty=1 covers="guo:IV.2.a"
def roughness(path):
    """Mean angle in degrees between neighbouring moves; 0.0 where no pair is left.

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
# Roughness against batch size and against β: noise of size 2/√B on each gradient entry.
with after(roughness, adam_step):
    bowl, begin = (lambda x: np.array([1.0, 10.0]) * x), np.array([2.0, 1.0])

    by_batch = [
        roughness(pictures.walk(plain_step, 0.0, bowl, begin, 60, 0.02, 2 / B**0.5))
        for B in (1, 4, 16, 64)
    ]
    by_beta = [
        roughness(
            pictures.walk(
                lambda *now, beta=beta: adam_step(*now, beta, beta),
                (0.0, 0.0), bowl, begin, 400, 0.05, 2.0,
            )
        )
        for beta in (0.0, 0.5, 0.9, 0.99)
    ]  # fmt: skip
    claim(
        "SGD, B = 1, 4, 16, 64: {a[0]:.0f}, {a[1]:.0f}, {a[2]:.0f}, {a[3]:.0f} degrees",
        bool((np.diff(by_batch) < 0).all()), a=by_batch,
    )  # fmt: skip
    claim(
        "Adam, β = 0, 0.5, 0.9, 0.99: "
        "{a[0]:.0f}, {a[1]:.0f}, {a[2]:.0f}, {a[3]:.0f} degrees",
        bool((np.diff(by_beta) < 0).all()), a=by_beta,
    )  # fmt: skip

# %% [markdown] covers="guo:IV.2.a explainers:3.3 guo:IV"
# **The race track.** Drag the start, press play. Momentum has $\gamma = 0.9$, RMSProp and Adam their defaults; a batch
# of $B$ puts noise of size $2/\sqrt B$ on the gradient. Who leaves the saddle first, from a start a hair beside its
# ridge? In the curved valley (Rosenbrock's, a little gentler), who diverges at $\eta = 0.02$? What do small batches do
# to each?

# %% covers="guo:IV.2.a explainers:3.3 guo:IV moon:4.9 wu:2.6.1"
# Five methods from one start. Drag the square, play the steps.
with after(adagrad_step, rmsprop_step, adam_step):
    methods = pictures.methods(
        plain_step, momentum_step, adagrad_step, rmsprop_step, adam_step
    )
    explore(
        lambda **chosen: pictures.draw_track(methods, **chosen),
        drag={("x", "y"): "start"},
        play="n_steps",
        surface=Dropdown(options=list(pictures.SURFACES), description="surface"),
        x=FloatSlider(1, min=-1.2, max=1.2, step=0.05, description="start θ₁"),
        y=FloatSlider(0.3, min=-1.2, max=1.2, step=0.01, description="start θ₂"),
        eta=FloatLogSlider(0.01, min=-3, max=0, step=0.1, description="rate η"),
        batch=SelectionSlider(
            options=[1, 4, 16, 64, "all data"], value="all data", description="batch B"
        ),
        n_steps=IntSlider(100, min=1, max=150, description="steps"),
    )

# %% [markdown] covers="wu:2.6.6"
# ## Deeper: two caveats
#
# wu lists robust defaults, scale invariance, speed, sparse gradients, stability. You have measured most of it. Two
# caveats are missing.
#
# **Weight decay.** A penalty $\frac\lambda2\lVert\theta\rVert^2$ put into the gradient is divided by $\sqrt{\hat s}$ like
# the rest of it, so a weight with large gradients hardly decays. *AdamW* takes the penalty out of the gradient and
# shrinks $\theta$ by the factor $1-\eta\lambda$ a step.
#
# **Generalisation.** Where many solutions fit the data, Adam finds another one than gradient descent does, and not
# always the one that predicts best.

# %% covers="wu:2.6.6"
# Two weights that nothing pulls at but the penalty; and 20 equations for 40 unknowns.
with after(adam_step):
    ends = {}
    for name in ("penalty in the gradient", "AdamW"):
        theta, memory = np.ones(2), (0.0, 0.0)
        for t in range(1, 1001):
            g = np.array([0.1, 10.0]) * (-1) ** t  # of two sizes, on average 0
            pull = 0.1 * theta  # λ = 0.1
            if name == "AdamW":
                theta = theta - 0.01 * pull
            else:
                g = g + pull
            theta, memory = adam_step(theta, g, memory, t, 0.01)
        ends[name] = np.abs(theta)
        print(f"{name}: {ends[name][0]:.2f} and {ends[name][1]:.2f} are left of 1")
    off = abs(ends["AdamW"] - 0.999**1000).max()
    claim("with AdamW both weights decay as they should", off < 0.02)
    claim(
        "else the one with large gradients stays",
        ends["penalty in the gradient"][1] > 0.9,
    )
    rng = np.random.default_rng(1)
    A = rng.normal(size=(20, 40)) * np.logspace(0, -1, 40)
    truth, found = rng.normal(size=40), {}

    def slope(w):
        return A.T @ (A @ (w - truth)) / 20

    for name, method, eta in (
        ("gradient descent", (plain_step, 0.0), 0.5),
        ("Adam", (adam_step, (0.0, 0.0)), 0.003),
    ):
        found[name] = pictures.walk(*method, slope, np.zeros(40), 4000, eta)[-1]
        fits = np.abs(A @ (found[name] - truth)).max() < 0.01
        size = np.linalg.norm(found[name])
        claim(
            "{name} fits, with a solution of norm {size:.1f}",
            fits,
            name=name,
            size=size,
        )
    smallest = np.linalg.pinv(A) @ A @ truth
    same = np.allclose(found["gradient descent"], smallest, atol=1e-6)
    claim("gradient descent has found the one of smallest norm", same)

# %% [markdown] covers="moon:37.2.2"
# ## Deeper: average a path that circles
#
# Where two learners play against each other, as in a GAN (a network that makes pictures against one that judges them),
# their parameters circle instead of settling. Their average circles much nearer to the centre, so that is often what
# one keeps. The smallest such game is $\min_a \max_b\, a\,b$, with its balance at $(0, 0)$.

# %% covers="moon:37.2.2"
# 2000 rounds of the game, and the corrected average of its path.
with after(ewa):
    a, b, path = 1.0, 0.0, []
    for _ in range(2000):
        a -= 0.1 * b  # the one descends, then
        b += 0.1 * a  # the other ascends
        path.append([a, b])
    mean = ewa(np.array(path), 0.99, correct=True)[-1]
    last, near = np.linalg.norm(path[-1]), np.linalg.norm(mean)
    claim(
        "distance to the balance: last point {last:.1f}, its average {near:.1f}",
        last > 0.9 and near < 0.15, last=last, near=near,
    )  # fmt: skip

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form
# fails, the right one holds, and a wrong one of the same shape fails too. *Too broad*: a condition is missing.

# %% covers="moon:4.5 moon:4.7 moon:4.8 moon:4.9"
# moon, sections 4.5 to 4.9.
erratum(
    "moon:4.5",
    quote=r"$$v_t = \frac{v_t}{1 - \beta^t}$$",
    corrected=(
        r"$\hat v_t = v_t/(1-\beta^t)$, a quantity of its own: the recursion goes on "
        r"from $v_t$"
    ),
    kind="convention",
)
ends = {}
for name, along in (
    ("printed", lambda w, v: v),
    ("right", lambda w, v: 2 * w),
    ("decoy", lambda w, v: abs(2 * w)),
):
    w, v = -1.0, 0.0  # f = w², α = 0.1
    for _ in range(50):
        v = v + (2 * w) ** 2
        w = w - 0.1 / (math.sqrt(v) + 1e-8) * along(w, v)
    ends[name] = abs(w)
erratum(
    "moon:4.7",
    quote=r"$$w = w - \frac{\alpha}{\sqrt{v_{dw}} + \epsilon} v_{dw}$$",
    corrected=(
        r"$w = w - \frac{\alpha}{\sqrt{v_{dw}}+\epsilon}\,dw$; as $v_{dw} \ge 0$, the "
        r"printed rule only moves down"
    ),
    printed_holds=ends["printed"] < 1,
    corrected_holds=ends["right"] < 0.2,
    decoy_holds=ends["decoy"] < 1,
)
erratum(
    "moon:4.8",
    quote=r"$$w = w - \alpha \frac{dw}{\sqrt{s_{dw}}}$$",
    corrected=r"$\sqrt{s_{dw}} + \epsilon$, against $0/0$ for want of any gradient yet",
    kind="convention",
)
erratum(
    "moon:4.9",
    quote=r"$$s_{db} = \beta s_{db} + (1 - \beta)db^2$$",
    corrected=r"$\beta_1$ for $v$, $\beta_2$ for $s$, here as in the corrections",
    kind="convention",
)

# %% covers="wu:1.6.4 wu:2.6.2 wu:2.6.4 wu:2.6.5"
# wu, sections 1.6.4 and 2.6.
with after(heavy_ball, adagrad_step):
    slope, velocities = 2.0, {}  # f = x² at x₀ = 1: the sum (1.59) at t = 0 is f′(x₀)
    for name, before in (("right", 0.0), ("decoy", slope)):
        velocities[name] = 0.9 * before + slope
    erratum(
        "wu:1.6.4",
        quote=r"Initialize $\mathbf{x}_0, \mathbf{v}_0 = 0$",
        corrected=r"$v_{-1} = 0$, so that $v_0 = f'(x_0)$ as in (1.59)",
        printed_holds=0.0 == slope,
        corrected_holds=velocities["right"] == slope,
        decoy_holds=velocities["decoy"] == slope,
    )
    times, one = np.array([100, 1000, 10_000]), np.ones(1)

    def bounded(path):  # does t² · gap stay bounded on f = x⁸?
        return bool((np.diff(times**2 * path[times, 0] ** 8) < 0).all())

    def eighth(x):
        return 8 * x**7

    erratum(
        "wu:1.6.4",
        quote=r"Faster convergence $(O(1/t^2)$ vs. O(1/t))",
        corrected=(
            r"$O(1/t^2)$ is Nesterov's, with growing momentum; a constant $\gamma$ "
            r"keeps $O(1/t)$ for smooth convex $f$"
        ),
        printed_holds=bounded(heavy_ball(eighth, one, 1 / 560, 0.9, 10_000)),
        corrected_holds=bounded(pictures.nesterov(eighth, one, 1 / 56, None, 10_000)),
        decoy_holds=bounded(pictures.nesterov(eighth, one, 1 / 560, 0.9, 10_000)),
    )
    erratum(
        "wu:1.6.4",
        quote="The velocity term follows an exponential moving average:",
        corrected=r"a fading sum: its weights add up to $1/(1-\gamma)$, not to 1",
        kind="convention",
    )
    erratum(
        "wu:2.6.2",
        quote=r"Adam tracks squared gradients: … $$G_t = \beta_2 G_{t-1} + g_t^2$$",
        corrected=r"Adam has $(1-\beta_2)\,g_t^2$, an average",
        kind="convention",
    )
    erratum(
        "wu:2.6.4",
        quote="Algorithm 3 Adam Optimizer (Simplified)",
        corrected=(
            r"its steps under a constant gradient peak at $2.08\,\eta$ and tend to "
            r"$0.316\,\eta$; Adam's stay at $\eta$"
        ),
        kind="convention",
    )
    g, curvature = (
        np.array([1000.0, 100.0]),
        np.array([1.0, 100.0]),
    )  # ½x² + 50y² at (1000, 1)
    rate = -adagrad_step(np.zeros(2), g, 0.0, 1, 1.0)[0] / g
    erratum(
        "wu:2.6.5",
        quote=r"\text{large} & \text{low curvature/small gradients}",
        corrected=(
            "large where past gradients were small; curvature only where gradients go "
            "with it"
        ),
        kind="broad",
        printed_holds=rate[curvature.argmin()] > rate[curvature.argmax()],
        corrected_holds=rate[g.argmin()] > rate[g.argmax()],
    )

# %% covers="guo:IV.1.a guo:IV.2 guo:IV.2.a explainers:3.3.1 explainers:3.3.2"
# guo, part IV, and explainers, section 3.3.
erratum(
    "guo:IV.1.a",
    quote=r"\ell(\mathbf{W}_i^t, \mathbf{W}_L^t, \mathcal{B})",
    corrected=(
        r"$\nabla_{W_i}\ell(W_0^t, \dots, W_L^t; \mathcal B)$; $\alpha$: the step size"
    ),
    kind="convention",
)
erratum(
    "guo:IV.2",
    quote=r"\frac{\alpha}{\sqrt{\hat{s}_i^t + \epsilon}} \odot \hat{v}_i^t",
    corrected=(
        r"as published, $\sqrt{\hat s}+\epsilon$: inside, $10^{-8}$ already counts at "
        r"gradients of $10^{-4}$"
    ),
    kind="convention",
)
erratum(
    "guo:IV.2.a",
    quote="the batch one for SVG will be jumping around",
    corrected="SGD",
    kind="convention",
)
erratum(
    "explainers:3.3.1",
    quote=r"then, as intuition would suggest, $\mathbf{v}^{(2)} = 0$",
    corrected=r"$v^{(2)} = \eta(1-\mu)\nabla R(\theta^{(0)}) \approx 0$",
    kind="convention",
)
erratum(
    "explainers:3.3.2",
    quote="AdaGrad does this by storing a per parameter running total of gradients",
    corrected="of squared gradients, as its formula says",
    kind="convention",
)
erratum(
    "explainers:3.3.2",
    quote="have been large then it has presumably converged decently",
    corrected="large past gradients lower the rate; they say nothing of convergence",
    kind="convention",
)
erratum(
    "explainers:3.3.2",
    quote=r"\eta_i \nabla_{\theta_i}^{(t)} R_D \left( \theta_i^{(t)} \right)",
    corrected=r"$\eta_i^{(t)}\, \nabla_{\theta_i} R_D(\theta^{(t)})$",
    kind="convention",
)

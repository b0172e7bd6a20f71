# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="a chain of Gaussian steps, its price in nats, and how many steps it needs" covers="wu:6.3"
# # Chains, posteriors and the ELBO
#
# Solid, on the left: data on a line, a narrow hill and a broad one. Dashed: the best Gaussian. It puts its top into the
# valley and loses 0.517 nats a point, the distance from its average log density to the best that there is.
#
# Gaussians are all that we can handle well: to draw from, to fit, to compare. So stack them. Walk from the data into
# noise in $T$ small steps (right), learn to undo each by *one Gaussian*, and run the learned steps backwards.
# **How many Gaussian steps lose less than 0.05 nats: 8, 80 or 800? And how can you know before you draw a single
# sample?** At the end you compute it.

# %%
# What this notebook needs.
import math
from functools import partial

import numpy as np
from ipywidgets import FloatLogSlider, FloatSlider, IntSlider, SelectionSlider
from scipy import stats

from descent import after, check, claim, erratum, explore, hint
from descent import predict, show, solution, start
from descent.pictures.diffusion import diffusion_chains as pictures
from descent.pictures.diffusion.mixtures import ring, two_hills

start("15_diffusion/02_diffusion_chains")

# %% demo=true covers="wu:6.3 wu:6.3.2"
# The hills, the best Gaussian, walks into noise; and for later, two chains.
data = two_hills()
S, T = 4.0, 100  # variance of all noise together, and steps
sigma2 = S / T
x0 = data.sample(20_000, np.random.default_rng(1))[0]  # (20000, 1)
z = np.random.default_rng(2).normal(size=(T, 20_000, 1))


def by_lines(z, lines):
    """Walk back from noise, each step a line and its variance. z (T + 1, n)."""
    a, b, v = lines

    def step(x, t):
        return a[t - 1] * x + b[t - 1], v[t - 1]

    return generate(step, (S + np.mean(x0**2)) ** 0.5 * z[-1], z[:-1])[0]


# 100 x 100 equally likely pairs of a clean point and a unit noise
level = (np.arange(100) + 0.5) / 100
mass = np.cumsum(data.density(pictures.LINE[:, None])) * 0.005
clean = np.repeat(np.interp(level, mass, pictures.LINE), 100)[:, None]
unit = np.tile(stats.norm.ppf(level) / stats.norm.ppf(level).std(), 100)[:, None]


def best_chain(T):
    """T Gaussian steps on the hills: variance added by each, denoiser, variances."""
    s, v = S / T, np.empty(T)

    def denoise(x, t):
        return data.denoised(x, 1, (t * s) ** 0.5)

    for t in range(1, T + 1):
        off = clean - denoise(clean + (t * s) ** 0.5 * unit, t)
        v[t - 1] = s * (t - 1) / t + np.mean(off**2) / t**2
    return s, denoise, v


def price(T):
    """The bound minus the entropy: T Gaussian steps lose at most so many nats."""
    s, denoise, v = best_chain(T)
    z = np.broadcast_to(unit, (T, *unit.shape))
    bound = elbo_terms(denoise, clean, z, s, v, S + np.mean(clean**2)).sum()
    return bound + data.log_density(clean).mean()


some = np.cumsum(np.concatenate([x0[None, :60], sigma2**0.5 * z[:, :60]]), 0)
show(*pictures.draw_problem(data, some[:, :, 0]))

# %% [markdown] covers="wu:6.3.2 wu:6.4 wu:6.4.1"
# ## 1. Make the trajectories
#
# A data set has no trajectories: only points $x_0$. You make them, with the simplest walk there is. Each step adds fresh
# noise,
#
# $$x_t = x_{t-1} + e_t, \qquad e_t \sim N(0, \sigma^2 I), \qquad t = 1, \dots, T.$$
#
# After $t$ steps, $t$ independent noises have added up: given $x_0$, $x_t$ is $N(x_0,\, t\sigma^2 I)$, in one jump. Write
# the walk. Stuck? `hint(walks)` helps in three stages, and so for every exercise.


# %% exercise="walks" points=2 difficulty=1 covers="wu:6.3.2 wu:6.4.1"
def walks(x0, z, sigma2):
    """All states of the walks, from the data to the noise.

    x0: array of any shape. z (T, *shape of x0) standard normal: z[t - 1] makes the
    noise of step t. sigma2: the variance of a step.
    Returns (T + 1, *shape of x0): entry t is x_t.
    x0 = [[1.0]], z = [[[2.0]]], sigma2 = 0.25 gives [[[1.0]], [[2.0]]].
    """
    ### BEGIN SOLUTION
    path = [x0]
    for noise in z:
        path.append(path[-1] + sigma2**0.5 * noise)
    return np.array(path)
    ### END SOLUTION


# %% check="walks"
check(walks)

# %% demo=true covers="wu:6.4 wu:6.4.1 wu:6.4.3"
# Play the walks, or drag the line: do the hills survive?
with after(walks):
    paths = walks(x0, z, sigma2)[:, :, 0]
    explore(
        lambda t: pictures.draw_marginal(data, paths, sigma2, t),
        digits=1,
        drag={"t": "time"},
        play="t",
        t=IntSlider(10, min=0, max=T, description="step t"),
    )

# %% [markdown] covers="wu:6.3.3 wu:6.3.4"
# ## 2. Undo each step
#
# Now every walker shows you $T$ pairs $(x_t, x_{t-1})$: where it is, and where it was a step ago. So learn, for each $t$
# alone, a model $p_\theta(x_{t-1} \mid x_t)$ of the truth $q(x_{t-1} \mid x_t)$; $q$ is the law of the walks, $\theta$ what
# the model learns. First try the simplest: a line and Gaussian scatter round it,
#
# $$p_\theta(x_{t-1} \mid x_t) = N(a_t\, x_t + b_t,\; v_t).$$
#
# Then generate: draw $x_T$ from a broad Gaussian, and draw $x_{T-1}$ given $x_T$, then $x_{T-2}$, down to $x_0$. That is
# called *ancestral sampling*. Every step adds its noise, the last one as well: it is part of the model.


# %% exercise="fit_steps" points=3 difficulty=1 covers="wu:6.3.3"
def fit_steps(paths):
    """For each step back the least-squares line from x_t to x_{t-1}, and its misses.

    paths (T + 1, n): n walkers on a line; row t is x_t, not all equal for t > 0.
    Returns three arrays (T,): slopes a, offsets b, and variances v, the mean squares
    of what the lines miss. Entry t - 1 belongs to the step from x_t to x_{t-1}.
    paths = [[0, 0, 3], [0, 2, 4]] gives [0.75], [-0.5] and [0.5].
    """
    ### BEGIN SOLUTION
    lines = []
    for before, later in zip(paths[:-1], paths[1:]):
        dx, dy = later - later.mean(), before - before.mean()
        slope = (dx * dy).mean() / (dx * dx).mean()
        offset = before.mean() - slope * later.mean()
        lines.append([slope, offset, ((dy - slope * dx) ** 2).mean()])
    return np.array(lines).T
    ### END SOLUTION


# %% check="fit_steps"
check(fit_steps)


# %% exercise="generate" points=2 difficulty=1 covers="wu:6.3.4"
def generate(step, x_T, z):
    """Walk back from x_T with a model of the steps: all states.

    step: (x_t, t) -> mean of x_{t-1} (an array like x_t, perhaps x_t itself), its
    variance (a number); asked once for each t = T, …, 1. x_T: array of any shape.
    z (T, *shape of x_T) standard normal: z[t - 1] makes the noise of the step from
    x_t to x_{t-1}.
    Returns (T + 1, *shape of x_T): entry t is x_t.
    A step that says (x / 2, 4), x_T = [2.0], z = [[1.0]] gives [[3.0], [2.0]].
    """
    ### BEGIN SOLUTION
    path = [x_T]
    for t in range(len(z), 0, -1):
        mean, var = step(path[-1], t)
        path.append(mean + var**0.5 * z[t - 1])
    return np.array(path[::-1])
    ### END SOLUTION


# %% check="generate"
check(generate)

# %% predict="lines" minutes=1 covers="wu:6.3.3"
predict(
    "lines",
    "You learn 100 lines from 20,000 walks, each with its own variance, and generate. "
    "What does the histogram of x₀ look like?",
    ["two hills, as in the data", "one hill", "two hills, too broad"],
    truth=int(
        np.subtract(
            *(
                np.mean(np.abs(by_lines(z[:, :, 0], fit_steps(paths)) - place) < 0.2)
                for place in (-0.6, -1.5)
            )
        )
        > 0
    ),
    because="A line of a Gaussian plus Gaussian noise is Gaussian again. A hundred of "
    "them are one Gaussian: all that was gained is lost.",
)

# %% covers="wu:6.3.3 wu:6.3.4"
# A hundred lines against the data; the lines are what theory says.
with after(walks, fit_steps, generate, "lines"):
    lines = fit_steps(paths)
    t, V = np.arange(1, T + 1), data.covariance()[0, 0]
    theory = (V + (t - 1) * sigma2) / (V + t * sigma2)
    words = "the {n} slopes are (V + (t−1)σ²) / (V + tσ²), to 0.01"
    claim(words, np.abs(lines[0] - theory).max() < 0.01, n=T)
    words = "the variances are σ² times the slopes, to 5 %"
    claim(words, np.abs(lines[2] / (sigma2 * theory) - 1).max() < 0.05)
    drawn = by_lines(np.random.default_rng(3).normal(size=(T + 1, 20_000)), lines)
    both = {"the data": x0, "a hundred lines": drawn}
    show(*pictures.draw_drawn(data, both, "Lines of Gaussians are Gaussian"), digits=1)

# %% [markdown] covers="moon:22.3 wu:6.4.4 wu:6.4.6"
# ## 3. The line or the Gaussian?
#
# Which of the two was wrong? Ask Bayes' rule for the truth. With $p_t$ the density of $x_t$,
#
# $$q(x_{t-1} \mid x_t) \propto p_{t-1}(x_{t-1})\, \exp\big(-\lVert x_t - x_{t-1}\rVert^2 / 2\sigma^2\big).$$
#
# If $\sigma^2$ is small, the second factor is so narrow that across it $\log p_{t-1}$ is nearly a straight line. Its slope at
# $x_t$ is the *score* $\nabla \log p_{t-1}(x_t)$. A line minus a parabola is a parabola, with its top moved:
# $N(x_t + \sigma^2\, \nabla \log p_{t-1}(x_t),\; \sigma^2 I)$. A Gaussian! But its mean bends as the score does.
#
# Take the last step back, the hardest. Drag the dot. With $T = 1$, how many hills has the truth? From which $T$ on is
# it one, wherever you are? And where does the mean leave the line?

# %% demo=true covers="moon:22.3 wu:6.4.4 wu:6.4.6"
# Drag x₁; choose T. Then the distance from a Gaussian, where it is largest.
explore(
    lambda x1, T: pictures.draw_reverse(data, x1, T, S),
    drag={"x1": "seen"},
    x1=FloatSlider(-0.4, min=-3, max=3, step=0.05, description="x₁, known"),
    T=SelectionSlider(options=[1, 3, 10, 30, 100, 300, 1000], description="steps T"),
)
worst = {
    n: max(
        pictures.gauss_gap(pictures.reverse_step(data, x1, S / n))
        for x1 in np.linspace(-1.5, 1, 26)
    )
    for n in (1, 10, 100, 1000)
}
words = "nats from a Gaussian: up to {a:.2f} at T = 1, {b:.2f} at 100, {c:.4f} at 1000"
falls = bool(np.all(np.diff(list(worst.values())) < 0)) and worst[1000] < 0.01
claim(words, falls, a=worst[1], b=worst[100], c=worst[1000])

# %% [markdown] covers="wu:6.6 wu:6.6.1 moon:22.4"
# ## 4. Pinned at both ends
#
# So keep the Gaussians, and learn how their means bend. From what? $q(x_{t-1} \mid x_t)$ asks for the density of the data.
# But in training you know more: you made the walk, and know where it *began*. Fix both ends, $x_0$ and $x_t$. What
# remains is a **Brownian bridge**, and it does not depend on the data at all.
#
# Its law at $t - 1$ takes two thoughts. *Mean:* the $t$ noises add up to $x_t - x_0$, and none of them is special; which
# share is the last one's? *Variance:* two independent looks at $x_{t-1}$, from $x_0$ with variance $(t-1)\sigma^2$ and from
# $x_t$ with variance $\sigma^2$. Precisions, one over the variance, add.


# %% exercise="bridge" points=2 difficulty=1 covers="wu:6.6.1 moon:22.4"
def bridge(x0, xt, t, sigma2):
    """Mean and variance of x_{t-1}, given that the walk goes from x0 to xt in t steps.

    x0, xt: arrays of one shape. t: a whole number >= 1. sigma2: the variance of a step.
    Returns the mean (that shape) and the variance of a coordinate (a number).
    At t = 1 they are x0 and 0. x0 = [0.0], xt = [3.0], t = 3, sigma2 = 0.9 gives
    [2.0] and 0.6.
    """
    ### BEGIN SOLUTION
    mean = x0 / t + (1 - 1 / t) * xt
    return mean, sigma2 * (t - 1) / t
    ### END SOLUTION


# %% check="bridge"
check(bridge)

# %% covers="wu:6.6.1"
# Drag the square, the end of the walks. Your bridge makes them, from its end.
with after(bridge):
    fresh = np.random.default_rng(4).normal(size=(40, 80))

    def draw_bridges(x0, t, xt):
        back = [np.full(80, xt)]
        for s in range(t, 0, -1):
            mean, var = bridge(np.full(80, x0), back[-1], s, sigma2)
            back.append(mean + var**0.5 * fresh[s - 1])
        return pictures.draw_bridges(np.array(back[::-1]), sigma2, most=40)

    explore(
        draw_bridges,
        digits=1,
        drag={("t", "xt"): "end"},
        x0=FloatSlider(-1.5, min=-4, max=4, step=0.05, description="start x₀"),
        t=IntSlider(30, min=2, max=40, description="steps t"),
        xt=FloatSlider(1, min=-4, max=4, step=0.05, description="end xₜ"),
    )

# %% [markdown] covers="wu:6.6 wu:6.6.2 wu:6.6.3 wu:6.7 wu:6.7.1 wu:6.7.2 wu:6.4.4"
# ## 5. One guess with four names
#
# Now average over all $x_0$ that may have led to $x_t$. The mean of the bridge is a straight line in $x_0$, so only one
# number is missing, the best guess $\hat x_0 = \mathbb E[x_0 \mid x_t]$. And it is a score, of **Tweedie**:
#
# $$\nabla \log p_t(x_t) = \int \frac{x_0 - x_t}{t\sigma^2}\, q(x_0 \mid x_t)\, dx_0 = \frac{\hat x_0 - x_t}{t\sigma^2}.$$
#
# (Differentiate $p_t(x_t) = \int q(x_t \mid x_0)\, p(x_0)\, dx_0$ and divide by $p_t$.) Who guesses the *cumulative noise*
# $\epsilon_t = x_t - x_0$ knows $\hat x_0$, too. So: a denoiser, a noise predictor, a score and the mean of the step back
# are one thing. Write the dictionary. Then: which target teaches most quietly, $x_{t-1}$ as drawn, the bridge's mean, or $x_0$?


# %% exercise="convert" points=3 difficulty=1 covers="wu:6.6.2 wu:6.6.3 wu:6.7.1 wu:6.7.2 wu:6.4.4"
def convert(known, value, xt, t, sigma2):
    """All four names of one guess, made from one of them.

    known: "x0", "noise", "score" or "mean", what value is a guess of: x_0; the
    cumulative noise x_t - x_0; the score of p_t at x_t; the mean of x_{t-1}.
    value, xt: arrays of one shape; t >= 1; sigma2: the variance of a step.
    Returns a dict with these four keys.
    known = "x0", value = [1.0], xt = [3.0], t = 4, sigma2 = 0.5 gives
    x0 [1.0], noise [2.0], score [-1.0], mean [2.5].
    """
    ### BEGIN SOLUTION
    v = t * sigma2
    if known == "x0":
        noise = xt - value
    elif known == "score":
        noise = -v * value
    elif known == "mean":
        noise = t * (xt - value)
    else:
        noise = value
    return dict(x0=xt - noise, noise=noise, score=-noise / v, mean=xt - noise / t)
    ### END SOLUTION


# %% check="convert"
check(convert)

# %% covers="wu:6.6 wu:6.6.1 wu:6.6.2 wu:6.7 wu:6.7.2"
# Tweedie line by line, on a grid of x₀. Then the same step, learned from three targets.
with after(walks, bridge, convert):
    grid, (n, xt) = pictures.LINE[:, None], (20, np.array([-0.4]))
    v = n * sigma2
    likely = np.exp(-((xt - grid) ** 2) / (2 * v)) / (2 * math.pi * v) ** 0.5
    joint = (data.density(grid) * likely[:, 0]) * 0.005  # its sum is p_t(x_t)
    belief = joint / joint.sum()
    bayes = belief @ grid
    pull = belief @ (grid - xt) / v
    nudge = 1e-4 * np.array([-1, 1])[:, None] + xt
    slope = np.diff(data.noised(1, v**0.5).log_density(nudge)) / 2e-4
    same = np.allclose(pull, slope, atol=1e-5)
    claim("the mean of (x₀ − xₜ) / tσ², given xₜ, is the slope of log pₜ", same)
    same = np.allclose(bayes, xt + v * slope, atol=1e-5)
    claim("E[x₀ | xₜ] = xₜ + tσ² × that slope", same)
    guess = convert("score", slope, xt, n, sigma2)
    bridges = belief @ bridge(grid, xt, n, sigma2)[0]  # averaged over all x₀
    same = np.allclose([guess["x0"], guess["mean"]], [bayes, bridges], atol=1e-5)
    claim("your convert: both guesses, from the score alone", same)
    times, spread = [1, 3, 10, 30, 100], []
    for n in times:
        x_prev, xt = paths[n - 1][:, None], paths[n][:, None]
        mean, _ = bridge(x0, xt, n, sigma2)
        spread.append(pictures.gradient_spread(data, n, sigma2, x0, x_prev, xt, mean))
    alike = [abs(a - b) for _, a, b in spread]
    words = "targets x₀ and bridge's mean: the same gradient, rescaled"
    claim(words, max(alike) < 1e-9)
    show(*pictures.draw_spread(times, spread), digits=1)

# %% [markdown] covers="wu:6.9.8 wu:6.4.3 wu:6.9"
# ## 6. The price of a step
#
# How good is a chain? Its density $p_\theta(x_0)$ is an integral over all paths, which nobody can do. But Gaussians can be
# compared, by $\mathrm{KL}(q \,\Vert\, p) = \mathbb E_q \log \frac{q(x)}{p(x)}$, the nats that $p$ loses on draws of $q$. For
# $q = N(m_1, v_1 I)$ and $p = N(m_2, v_2 I)$ in $d$ dimensions take the mean of a difference of two quadratics:
#
# $$\mathrm{KL} = \frac d2 \Big(\frac{v_1}{v_2} - 1 - \log \frac{v_1}{v_2}\Big) + \frac{\lVert m_1 - m_2\rVert^2}{2 v_2}.$$


# %% exercise="gauss_kl" points=2 difficulty=1 covers="wu:6.9.8 wu:6.4.3 moon:22.4"
def gauss_kl(m1, v1, m2, v2):
    """KL(N(m1, v1 I) ‖ N(m2, v2 I)), for each row of means.

    m1, m2 (..., d); v1, v2 > 0 numbers, the variance of each coordinate.
    Returns (...). m1 = [[0.0]], v1 = 1, m2 = [[2.0]], v2 = 1 gives [2.0].
    """
    ### BEGIN SOLUTION
    r = v1 / v2
    return m1.shape[-1] / 2 * (r - 1 - np.log(r)) + ((m1 - m2) ** 2).sum(-1) / (2 * v2)
    ### END SOLUTION


# %% check="gauss_kl"
check(gauss_kl)

# %% [markdown] covers="guo:VI.3.d moon:22.4 wu:6.9.7 wu:6.9.8"
# **The bound.** Many paths end at $x_0$. Average over those that you can draw, $q(x_{1:T} \mid x_0)$; by Jensen's inequality
#
# $$-\log p_\theta(x_0) \;\le\; \mathbb E_q \log \frac{q(x_{1:T} \mid x_0)}{p(x_T) \prod_t p_\theta(x_{t-1} \mid x_t)} .$$
#
# The same $q$ from its far end: a jump to $x_T$, then bridges back to $x_1$,
# $q(x_T \mid x_0) \prod_{t \ge 2} q(x_{t-1} \mid x_t, x_0)$. Each factor above has its partner below; only
# $p_\theta(x_0 \mid x_1)$ has none. So the bound is $L_0 + \dots + L_T$:
#
# - $L_T$: KL of $q(x_T \mid x_0)$ to the prior $p(x_T)$,
# - $L_{t-1}$, $t \ge 2$: KL of the bridge to the model's step, for a drawn $x_t$,
# - $L_0 = -\log p_\theta(x_0 \mid x_1)$, a Gaussian's.
#
# The model's mean is your bridge's, with a guess in place of $x_0$.


# %% exercise="elbo_terms" points=4 difficulty=1 covers="wu:6.9.7 wu:6.9.5 moon:22.4 guo:VI.3.d"
def elbo_terms(denoise, x0, z, sigma2, v, prior_var):
    """The terms of the bound on -log p(x_0), each a mean over the rows.

    denoise: (x_t (n, d), t) -> guess of x_0 (n, d); asked once for each t = 1, …, T.
    x0 (n, d); z (T, n, d) standard normal: x_t is the row after a jump of t steps with
    the noise z[t - 1]. sigma2: the variance of a step. v (T,): the model's step from
    x_t has variance v[t - 1], and the mean of the bridge from the guess to x_t.
    The prior is N(0, prior_var I).
    Returns (T + 1,): L_0, L_1, …, L_T. You may use bridge and gauss_kl.
    With T = 1, x0 = [[0.0]], z = [[[1.0]]], sigma2 = 1, v = [1.0], prior_var = 1 and a
    denoiser that says 0 the terms are 0.9189 and 0.
    """
    ### BEGIN SOLUTION
    T, d = len(z), x0.shape[1]
    terms = []
    for t in range(1, T + 1):
        xt = x0 + np.sqrt(t * sigma2) * z[t - 1]
        guess, _ = bridge(denoise(xt, t), xt, t, sigma2)
        if t == 1:
            cost = d / 2 * np.log(2 * np.pi * v[0])
            cost = cost + ((x0 - guess) ** 2).sum(1) / (2 * v[0])
        else:
            mean, var = bridge(x0, xt, t, sigma2)
            cost = gauss_kl(mean, var, guess, v[t - 1])
        terms.append(cost.mean())
    terms.append(gauss_kl(x0, T * sigma2, np.zeros_like(x0), prior_var).mean())
    return np.array(terms)
    ### END SOLUTION


# %% check="elbo_terms"
check(elbo_terms)

# %% [markdown] covers="wu:6.9 wu:6.9.5 wu:6.9.7 wu:6.3.4"
# ## 7. Does it add up?
#
# Take data $N(0, V)$, where all is known: $\hat x_0 = \frac{V}{V + t\sigma^2}\, x_t$, and each true step back is Gaussian, of
# variance $\sigma^2 \frac{V + (t-1)\sigma^2}{V + t\sigma^2}$. With exact steps and the right prior the bound must be tight:
# the entropy, $\frac12 \log 2\pi e V$. All terms are quadratic, so four rows with the right second moments stand for all
# data. Change one `v`, or the prior's `V + 4`, and run again: which term grows?
#
# Then the hills. Their $\hat x_0$ is known exactly: what is lost is lost because *each step is one Gaussian*. All steps
# together add the variance 4. The best variance of a step is the bridge's plus what the guess leaves open,
# $v_t = \sigma^2\frac{t-1}{t} + \mathbb E (x_0 - \hat x_0)^2 / t^2$.


# %% open=true covers="wu:6.9 wu:6.9.5 wu:6.9.7 moon:22.4"
with after(elbo_terms):
    V, t = 1.7, np.arange(1, 41)
    ones = V**0.5 * np.array([[1.0], [1], [-1], [-1]])  # mean 0, variance V
    signs = np.tile([[1.0], [-1], [1], [-1]], (40, 1, 1))  # unrelated to them
    v = 0.1 * (V + (t - 1) * 0.1) / (V + t * 0.1)
    terms = elbo_terms(lambda x, t: V * x / (V + t * 0.1), ones, signs, 0.1, v, V + 4)
    entropy = 0.5 * np.log(2 * np.pi * np.e * V)
    told = dict(a=terms.sum(), h=entropy, b=terms[0], c=terms[-1])
    words = "bound {a:.4f} = entropy {h:.4f}; L_0 is {b:.3f}, L_T is {c:.3f}"
    claim(words, abs(terms.sum() - entropy) < 1e-9, **told)

# %% predict="how-many" minutes=1 covers="wu:6.4.6"
predict(
    "how-many",
    "The bet of the first screen. Which of these is the smallest chain whose bound "
    "promises a loss below 0.05 nats?",
    ["8 steps", "80 steps", "800 steps"],
    truth=sum(price(n) >= 0.05 for n in (8, 80)),
    because="From about twenty steps on, twice the steps halve the bound: each step's "
    "distance from a Gaussian falls faster than the number of steps grows. The loss is "
    "smaller still.",
)

# %% covers="wu:6.4.6 wu:6.3.4 moon:22.3"
# The price of 1 to 200 steps; the loss itself; what your chain draws with 1, 8 and 80.
with after(bridge, gauss_kl, elbo_terms, generate, "how-many"):
    counts, broad = [1, 2, 4, 8, 20, 40, 80, 200], S + np.mean(clean**2)

    def back(n):
        s, denoise, v = best_chain(n)
        return lambda x, t: (bridge(denoise(x, t), x, t, s)[0], v[t - 1])

    gaps = [price(n) for n in counts]
    lost = [pictures.chain_loss(data, back(n), n, broad) for n in counts]
    single = pictures.gauss_gap(data.density(pictures.LINE[:, None]))
    words = (
        "the bound of one step is about what one Gaussian loses: {a:.2f} nats, to {d}"
    )
    claim(words, abs(gaps[0] - single) < 0.01, a=single, d=0.01)
    words = "from 20 to 40 and from 40 to 80 steps the bound halves, to a tenth"
    claim(words, all(abs(2 * gaps[k + 1] / gaps[k] - 1) < 0.1 for k in (4, 5)))
    words = "no chain loses more than its bound says; {n} steps lose {a:.3f} nats"
    claim(words, bool(np.all(np.less(lost, gaps))), n=counts[6], a=lost[6])
    show(*pictures.draw_price(counts, gaps, lost, 0.05, single), digits=1)
    drawn = {}
    for n in (1, 8, 80):
        noise = np.random.default_rng(n).normal(size=(n + 1, 10_000, 1))
        x_T = broad**0.5 * noise[-1]
        drawn[f"{n} step{'s' * (n > 1)}"] = generate(back(n), x_T, noise[:-1])[0]
    show(*pictures.draw_drawn(data, drawn, "The price is seen in the valley"), digits=1)

# %% [markdown]
# ## Take-aways
#
# - Trajectories are made, not found: add noise in small steps, then learn to undo each.
# - **Small steps make the reverse Gaussian.** Its mean bends as the score does: that bend, not the Gaussian, makes hills.
# - Given both ends, the step back is a bridge: known, and free of the data. Its mean is a quieter target than the draw.
# - $\hat x_0$, $\hat\epsilon_t$, the score and the mean of the step are one guess with four names.
# - **The price of a chain** is $L_0 + \dots + L_T$, Gaussian KLs that need no sample of the model. Eighty steps lose less
#   than 0.05 nats. From twenty on, doubling them halves the bound; the loss is smaller still: the bound counts errors on
#   the whole path, and only $x_0$ is kept.
#
# Next: [[next]].

# %% [markdown] covers="wu:6.4.2 wu:6.9.2 wu:6.9.3 wu:6.9.6 wu:6.3.5"
# ## Deeper: what a whole path is worth
#
# The bound came from paths, though it never drew one. Check it by force. A path's density is that of its first state,
# times that of each next state given the one before it,
# $\log P(x_0, \dots) = \log p(\text{first}) + \sum \log p(\text{next} \mid \text{one before})$. But which state is the
# first? Forward it is $x_0$. The model begins with $x_T$. And the bound's way is a third: from $x_0$ jump to $x_T$, then
# come back by bridges to $x_1$. Write one function for all three.


# %% exercise="chain_loglik" points=3 difficulty=1 covers="wu:6.4.2 wu:6.9.3 wu:6.9.6 wu:6.3.5"
def chain_loglik(states, first, step):
    """The log density of whole paths, in the order in which a chain visits them.

    states (K + 1, n, d): n paths. first: function (n, d) -> (n,), the log density of
    states[0]. step: (x (n, d), k) -> mean (n, d) and variance (a number): given that
    states[k - 1] is x, states[k] is N(mean, variance I).
    Returns (n,), finite also where the density itself would be rounded to 0.
    With K = 0 it is first(states[0]).
    """
    ### BEGIN SOLUTION
    total = first(states[0])
    for k in range(1, len(states)):
        mean, var = step(states[k - 1], k)
        squared = ((states[k] - mean) ** 2).sum(-1)
        d = states.shape[-1]
        total = total - squared / (2 * var) - d / 2 * np.log(2 * np.pi * var)
    return total
    ### END SOLUTION


# %% check="chain_loglik"
check(chain_loglik)

# %% covers="wu:6.4.2 wu:6.9.2 wu:6.9.3 wu:6.9.5 wu:6.9.6 wu:6.9.7 guo:VI.3.d"
# One law in two orders; pairs are enough; the bound by force; the KL of whole paths.
with after(walks, bridge, gauss_kl, elbo_terms, chain_loglik):
    rng, s, n = np.random.default_rng(5), 0.3, 6

    def free(x, k):
        return x, s

    def flat(x):
        return np.zeros(len(x))

    start_at = data.sample(20_000, rng)[0]
    path = walks(start_at, rng.normal(size=(n, 20_000, 1)), s)
    forward = chain_loglik(path, data.log_density, free)

    def by_bridges(x, k):  # from x_0 jump to x_n, then down to x_1
        return (x, n * s) if k == 1 else bridge(path[0], x, n + 2 - k, s)

    again = chain_loglik(path[[0, *range(n, 0, -1)]], data.log_density, by_bridges)
    claim(
        "forward, or by bridges from t = 2 on: one density", np.allclose(forward, again)
    )

    v, P = np.full(n, 0.28), 4.0  # some model, not the best

    def back(x, k):
        return bridge(0.8 * x, x, n + 1 - k, s)[0], v[n - k]

    def prior(x):
        return -(x**2).sum(-1) / (2 * P) - np.log(2 * np.pi * P) / 2

    model = chain_loglik(path[::-1], prior, back)
    pieces = prior(path[n]).mean()
    for k in range(1, n + 1):  # each pair from walkers of its own
        own = walks(data.sample(20_000, rng)[0], rng.normal(size=(n, 20_000, 1)), s)
        pair = own[[n + 1 - k, n - k]]
        pieces = pieces + chain_loglik(pair, flat, lambda x, _, k=k: back(x, k)).mean()
    words = "E log P of the model is a sum over neighbours: pairs are enough, to {e}"
    claim(words, abs(model.mean() - pieces) < 0.1, e=0.1)

    forced = again - data.log_density(path[0]) - model
    jumps = rng.normal(size=(n, 20_000, 1))
    bound = elbo_terms(lambda x, t: 0.8 * x, start_at, jumps, s, v, P).sum()
    error = 3 * forced.std() / 20_000**0.5
    words = "the bound by whole paths and by terms: equal, to {e:.2f}"
    claim(words, abs(forced.mean() - bound) < 1.5 * error, e=1.5 * error)

    # Two Gaussian chains, V = 1.5: KL of whole paths, as 7-dimensional Gaussians
    V, t = 1.5, np.arange(1, n + 1)
    true = (V + (t - 1) * s) / (V + t * s), s * (V + (t - 1) * s) / (V + t * s)
    theirs = 0.9 * true[0], v

    def covariance(var_T, slopes, variances):
        C = np.array([[var_T]])
        for a, w in zip(slopes[::-1], variances[::-1]):
            row = a * C[-1]
            C = np.block([[C, row[:, None]], [row, a * row[-1] + w]])
        return C

    A, B = covariance(V + n * s, *true), covariance(P, *theirs)
    logs = np.linalg.slogdet(B)[1] - np.linalg.slogdet(A)[1]
    whole = (np.trace(np.linalg.solve(B, A)) - len(A) + logs) / 2
    zero = np.zeros((1, 1))
    parts = [gauss_kl(zero, V + n * s, zero, P)]
    for k in range(n):
        x = np.full((1, 1), (V + (k + 1) * s) ** 0.5)  # its square is the mean square
        parts.append(gauss_kl(true[0][k] * x, true[1][k], theirs[0][k] * x, v[k]))
    words = "KL of whole paths {w:.4f} = end {e:.4f} + {n} steps {r:.4f}"
    facts = dict(w=whole, e=parts[0][0], n=n, r=np.sum(parts[1:]))
    claim(words, abs(whole - np.sum(parts)) < 1e-9, **facts)

# %% [markdown] covers="wu:6.3.5"
# ## Deeper: bits and words
#
# A language model also builds something hard from simple steps: word by word, each given all before. Its product of
# conditionals *is* the density of the text. A diffusion chain visits states that are thrown away, so its product is the
# density of the *path*; that of $x_0$ is the sum over all paths.
#
# Compare them on the smallest picture, two bits that mostly agree. Bit by bit, two steps are exact. The chain flips each
# bit now and then until nothing is left; its step back is simple, too: *given $x_t$, the bits are drawn separately*. With
# one step they agree hardly more often than by chance. With many?

# %% demo=true covers="wu:6.3.5"
# Two bits: exact bit by bit; by a chain whose steps draw both bits separately.
pair = np.array([[0.45, 0.05], [0.05, 0.45]])


def flip(kept):
    """The table of a bit that is kept, or drawn anew."""
    return np.array([[1 + kept, 1 - kept], [1 - kept, 1 + kept]]) / 2


def bit_steps(T, left=0.05):
    """Each step back as a table [x_{t-1}, x_t], bits drawn apart; t = T, …, 1."""
    kept, tables = left ** (1 / T), []
    for t in range(T, 0, -1):
        before = flip(kept ** (t - 1)) @ pair @ flip(kept ** (t - 1))
        joint = np.einsum("ij,ik,jl->ijkl", before, flip(kept), flip(kept))
        law = joint / joint.sum((0, 1))  # of both bits, given x_t
        apart = np.einsum("ikl,jkl->ijkl", law.sum(1), law.sum(0))
        tables.append(apart.reshape(4, 4))
    return tables


def bits_drawn(T):
    law = np.full(4, 0.25)
    for table in bit_steps(T):
        law = table @ law  # a sum over x_t
    return law


first = pair.sum(1)
second = pair / first[:, None]
claim("bit by bit, two steps are exact", np.allclose(first[:, None] * second, pair))
two = bit_steps(2)
through = np.einsum("cb,ba->cba", two[1], two[0]) / 4  # each path x_0, x_1, x_2
same = np.allclose(through.sum((1, 2)), bits_drawn(2))
claim("p(x₀) is the sum over the {n} paths that end there", same, n=16)
away = [abs(bits_drawn(n) - pair.ravel()).sum() / 2 for n in (1, 10, 100)]
words = "chance misplaced: {a:.3f} with 1 step, {b:.3f} with 10, {c:.3f} with 100"
claim(words, away[2] < 0.02 < away[1] < away[0], a=away[0], b=away[1], c=away[2])

# %% [markdown] covers="wu:6.4.4 wu:6.4.5"
# ## Deeper: which score, and why Gaussian noise?
#
# Taylor gave the score of $p_{t-1}$, the density *before* the step. A network knows that of $p_t$. Which is right? Both,
# to first order. But Tweedie for one step says that the second gives the mean exactly. Drag the point between the hills
# of a ring; enlarge the step.
#
# And must the noise be Gaussian? It has one comfort: sums stay in the family, so that many steps are one jump. A law has
# that comfort if its characteristic function $\varphi(u) = \mathbb E e^{iux}$ has $\varphi(u)^n = \varphi(c_n u)$ for every
# $n$; try $n = 2$. Gaussians are not alone with it. And where it fails, many small steps look Gaussian in the end (central limit theorem),
# if the noise has a variance.

# %% demo=true covers="wu:6.4.4"
# Drag the point; the exact law of the state before, and its Gaussian.
circle = ring(k=5, radius=1.7, sd=0.35)
explore(
    lambda x, y, s: pictures.draw_kernel(circle, x, y, s),
    digits=1,
    drag={("x", "y"): "plane"},
    x=FloatSlider(0.9, min=-3, max=3, step=0.05, description="first"),
    y=FloatSlider(0.6, min=-3, max=3, step=0.05, description="second"),
    s=FloatLogSlider(0.1, min=-2, max=0.3, step=0.1, description="σ² of a step"),
)
at, off = np.array([0.9, 0.6]), []
for s in (0.004, 0.002):
    exact = circle.denoised(at, 1, s**0.5)
    now, then = circle.noised(1, s**0.5).score(at), circle.score(at)
    off.append(np.linalg.norm(at + s * then - exact))
    same = np.allclose(at + s * now, exact)
    claim("σ² = {s}: the score of now is exact", same, s=s)
claim("half the σ², a quarter of the other's error", abs(off[0] / off[1] - 4) < 0.3)

# %% demo=true covers="wu:6.4.5"
# Which noises are closed under sums, and what thirty steps make of the others.
u = np.linspace(0.05, 3, 60)
noises = {
    "Gaussian": lambda u: np.exp(-(u**2) / 2),
    "Cauchy": lambda u: np.exp(-np.abs(u)),
    "Laplace": lambda u: 1 / (1 + u**2 / 2),
    "uniform": lambda u: np.sinc(3**0.5 * u / np.pi),
}
for name, phi in noises.items():
    off = min(np.abs(phi(u) ** 2 - phi(c * u)).max() for c in np.linspace(1, 2.5, 151))
    off = min(off, *(np.abs(phi(u) ** 2 - phi(c * u)).max() for c in (2**0.5, 2)))
    after_30 = np.abs(phi(u / 30**0.5) ** 30 - np.exp(-(u**2) / 2)).max()
    closed, bell = off < 1e-9, after_30 < 0.02
    words = "{name}: closed under sums: {closed}; Gaussian after 30 steps: {bell}"
    want = name in ("Gaussian", "Cauchy"), name != "Cauchy"
    facts = dict(closed="yes" if closed else "no", bell="yes" if bell else "no")
    claim(words, (closed, bell) == want, name=name, **facts)

# %% [markdown] covers="wu:6.7 wu:6.7.1 wu:6.6.3 wu:6.9.9"
# ## Deeper: a denoiser that is learned
#
# Nobody hands you a score. But a *denoising autoencoder* $D(x_t)$, fitted to $x_0$ in squared error, comes near
# $\hat x_0$, and your dictionary reads the score off it. Here $D$ has one hidden layer of 60 units whose inner weights stay
# random, so that least squares finds the outer ones.
#
# Then one model for all $t$, smaller, to predict $\epsilon_t$. By the bridge, a step with $v_t = \sigma^2$ costs
# $\frac{1}{2\sigma^2t^2}\lVert \epsilon_t - \epsilon_\theta\rVert^2$, plus a constant. Multiply by $t^2$, and it is the
# error of $x_0$, the *simple* loss. "This doesn't change the optimum", says one of the notes. True where each $t$ has a
# model of its own. And where all share one?

# %% demo=true covers="wu:6.7.1 wu:6.6.3 wu:6.9.9"
# Slide the noise: the score read off a denoiser. Then one model, two weightings.
inner = np.random.default_rng(6)
A, B, C = inner.normal(size=(3, 60)) * np.array([[1.5], [1.0], [2.0]])
sharp, fuzz = data.sample(5000, inner)[0], inner.normal(size=(5000, 1))


def hidden(x, level=0.0, width=60):
    """One hidden layer with random inner weights. x (n, 1) -> (n, width + 2)."""
    inside = np.tanh(x * A[:width] + level * B[:width] + C[:width])
    return np.c_[np.ones(len(x)), x, inside]


def least_squares(F, y, weight=1.0):
    G = F * weight
    return np.linalg.solve(G.T @ F + 1e-6 * len(F) * np.eye(F.shape[1]), G.T @ y)


def draw_dae(v):
    noisy, x = sharp + v**0.5 * fuzz, np.linspace(-4, 4, 161)[:, None]
    D = hidden(x) @ least_squares(hidden(noisy), sharp)
    here = data.noised(1, v**0.5)
    learned = convert("x0", D, x, 1, v)["score"]
    return pictures.draw_dae(
        x[:, 0], here.score(x)[:, 0], learned[:, 0], here.density(x), v
    )


with after(convert):
    v = FloatLogSlider(0.3, min=-1, max=0.5, step=0.1, description="noise tσ²")
    explore(draw_dae, digits=0, v=v)

n = inner.integers(1, T + 1, (40_000, 1))
x_0 = data.sample(40_000, inner)[0]
noise = (n * sigma2) ** 0.5 * inner.normal(size=(40_000, 1))
small = partial(hidden, width=8)
weights = {
    "bound: 1 / (2σ²t²)": 1 / (2 * sigma2 * n**2),
    "simple: all alike": 1.0 + 0 * n,
}
F, levels = small(x_0 + noise, np.log(n)), np.array([1, 2, 4, 8, 16, 32, 64, 100])
errors, told = {}, {}
for name, weight in weights.items():
    outer = least_squares(F, noise, weight / weight.mean())
    errors[name] = []
    for t in levels:
        xt = sharp + (t * sigma2) ** 0.5 * fuzz
        best = -t * sigma2 * data.noised(1, (t * sigma2) ** 0.5).score(xt)
        off = small(xt, np.log(t) + 0 * xt) @ outer - best
        errors[name].append(float((np.mean(off**2) / np.mean(best**2)) ** 0.5))
    told[name] = 1 / (2 * sigma2 * levels**2) if "bound" in name else 1.0 + 0 * levels
show(*pictures.draw_weighting(levels, errors, told), digits=1)

# %% [markdown] covers="moon:22.4 guo:VI.3.d"
# ## Deeper: chains that shrink
#
# Most texts, and [[15/03]], shrink before they add: $x_t = \sqrt{\alpha_t}\, x_{t-1} + \sqrt{\beta_t}\, z_t$ with
# $\alpha_t = 1 - \beta_t$, so that $x_t$ given $x_0$ is $N(\sqrt{\bar\alpha_t}\, x_0, 1 - \bar\alpha_t)$ with
# $\bar\alpha_t = \alpha_1 \cdots \alpha_t$. The bridge is found as yours was: two looks at $x_{t-1}$, one from $x_0$, and
# $x_t / \sqrt{\alpha_t}$ with variance $\beta_t / \alpha_t$. Precisions add:
#
# $$\mu_q = \frac{\sqrt{\alpha_t}\,(1 - \bar\alpha_{t-1})\, x_t + \sqrt{\bar\alpha_{t-1}}\, \beta_t\, x_0}{1 - \bar\alpha_t}, \qquad \sigma_q^2 = \frac{1 - \bar\alpha_{t-1}}{1 - \bar\alpha_t}\, \beta_t .$$

# %% [markdown] covers="moon:22.4 guo:VI.3.d"
# Put $x_0 = (x_t - \sqrt{1 - \bar\alpha_t}\, \epsilon) / \sqrt{\bar\alpha_t}$ in: if the model's variance is
# $\sigma_q^2$, too, a step's KL is $w_t \lVert \epsilon - \epsilon_\theta\rVert^2$ with $w_t = \frac{\beta_t^2}{2\sigma_q^2 \alpha_t (1 - \bar\alpha_t)}$. Drop $w_t$:
# that is the *simple* loss of DDPM. One of the notes stops just before it.
#
# **A form that is none.** Another way to sort the bound has terms
# $\mathbb E \log \frac{p(x_t \mid x_{t+1})}{q(x_t \mid x_{t-1})}$, over three neighbours drawn *together*. Is that minus a KL
# of $q(x_t \mid x_{t-1})$ to $p(x_t \mid x_{t+1})$? Only if $x_t$ were drawn afresh, and did not know $x_{t+1}$. It does.

# %% demo=true covers="moon:22.4 guo:VI.3.d"
# The posterior by Bayes on a grid; the weight; the simple loss; the form that is none.
betas = np.array([0.2, 0.1, 0.3, 0.25])
abar = np.cumprod(1 - betas)


def ddpm_posterior(x0, xt, t):
    """Mean and variance of x_{t-1} given both, t >= 2; betas[t - 1] is β_t."""
    now, old, beta = abar[t - 1], abar[t - 2], betas[t - 1]
    mean = (1 - beta) ** 0.5 * (1 - old) * xt + old**0.5 * beta * x0
    return mean / (1 - now), (1 - old) / (1 - now) * beta


def by_bayes(start, seen, t, scale, var):
    """The same on a grid, if a step is N(scale · x_{t-1}, var)."""
    law = pictures.gauss(pictures.LINE, abar[t - 2] ** 0.5 * start, 1 - abar[t - 2])
    law = law * pictures.gauss(seen, scale * pictures.LINE, var)
    return pictures.moments(law / pictures.integral(law))[:2]


t = 3
keep, beta = (1 - betas[t - 1]) ** 0.5, betas[t - 1]
same = np.allclose(ddpm_posterior(1, 0.3, t), by_bayes(1, 0.3, t, keep, beta))
claim("μ_q and σ_q² are Bayes' rule on a grid", same)
eps, says = 0.7, -0.2
x_0 = [(0.3 - (1 - abar[t - 1]) ** 0.5 * e) / abar[t - 1] ** 0.5 for e in (eps, says)]
(m, var), (m_model, _) = (ddpm_posterior(x, 0.3, t) for x in x_0)
weight = beta**2 / (2 * var * (1 - beta) * (1 - abar[t - 1]))
same = np.isclose((m - m_model) ** 2 / (2 * var), weight * (eps - says) ** 2)
claim("a step's KL is w (ε − ε_θ)², w = {w:.3f}", bool(same), w=weight)


rng, root = np.random.default_rng(7), (1 - abar[2]) ** 0.5
x_0, noise = rng.normal(size=(2, 100_000, 2))
xt = abar[2] ** 0.5 * x_0 + root * noise
knows = (xt - abar[2] ** 0.5 * x_0) / root
losses = [((noise - says) ** 2).sum(1).mean() for says in (knows, 0 * noise)]
words = "simple loss: 0 for who knows x₀; for who says nothing d = {d}, to 0.02"
claim(words, bool(losses[0] < 1e-20 and abs(losses[1] - 2) < 0.02), d=2)

# T = 2, x₀ = 0.5, α = 0.5 twice; p(x₁ | x₂) = N(0.7 x₂, 0.5), against q(x₁ | x₀)
x1, x2 = np.meshgrid(np.linspace(-6, 6, 601), np.linspace(-6, 6, 601), indexing="ij")
q1, p1 = pictures.gauss(x1, 0.5**1.5, 0.5), pictures.gauss(x1, 0.7 * x2, 0.5)
q12 = q1 * pictures.gauss(x2, 0.5**0.5 * x1, 0.5)
together = (q12 * np.log(p1 / q1)).sum() * 0.02**2
apart = (q1 * q12.sum(0) * np.log(p1 / q1)).sum() * 0.02**3
words = "the bound's term is {a:+.4f}, the KL form {b:+.4f}: no identity"
right = abs(together - 0.0956) < 1e-4 and abs(apart + 0.3994) < 1e-4
claim(words, bool(right), a=together, b=apart)

# %% [markdown] covers="wu:6.3.1"
# ## Deeper: why not the density itself?
#
# All this, only to avoid writing down $p(x_0)$? Images lie near thin sheets, in many clumps, with sharp edges. A toy: points
# on the dark squares of a board, whose true log density is $-\log 8$. Fit one Gaussian, then 4, 16, 64 hills, and ask for
# the log likelihood of points that were not fitted. Which wins, and how far from the truth does it stay? Then noise the
# points: now one hill is nearly as good as sixteen.

# %% demo=true covers="wu:6.3.1"
# Hills fitted to a board, sharp and noised; test points decide.
from sklearn.mixture import GaussianMixture

rng = np.random.default_rng(8)
board, tests = (pictures.checkerboard(n, rng) for n in (1500, 1500))


def heldout_loglik(k, noise=0.0):
    """Mean log density of test points under k hills fitted to the others."""
    rng = np.random.default_rng(9)
    seen, new = (x + noise * rng.normal(size=x.shape) for x in (board, tests))
    mixed = GaussianMixture(k, covariance_type="spherical", random_state=0)
    return float(mixed.fit(seen).score(new))


fits = {f"{k} hill{'s' * (k > 1)}": heldout_loglik(k) for k in (1, 4, 16, 64)}
show(*pictures.draw_heldout(tests[:600], fits, -math.log(8)), digits=1)
gain = fits["16 hills"] - fits["1 hill"]
noised = heldout_loglik(16, 1.0) - heldout_loglik(1, 1.0)
words = "noised, 16 hills gain below {low} nats over one; sharp, over {high}"
claim(words, bool(noised < 0.05 < 0.2 < gain), low=0.05, high=0.2)

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails,
# the right one holds, and a wrong one of the same shape fails too.


# %% demo=true covers="guo:VI.3.d moon:22.4 wu:6.3.5 wu:6.9.6"
# guo VI.3, moon 22.4, wu 6.3 and 6.9: products, kernels, a form that is none.
def log_n(x, mean, var):
    return stats.norm.logpdf(x, mean, var**0.5)


a, b, c = 0.5, 0.9, -0.3  # x_0, x_1, x_2 of the additive chain, σ² = 0.4
steps = log_n(b, a, 0.4) + log_n(c, b, 0.4)
spread = np.array([[0.4, 0.4], [0.4, 0.8]])
law = stats.multivariate_normal.logpdf([b, c], [a, a], spread)  # of q(x_1, x_2 | x_0)

erratum(
    "guo:VI.3.d",
    quote=r"$\prod_{t=1}^T q(X_1, \dots, X_T | X_0)$",
    corrected=r"$q(X_1, \dots, X_T \mid X_0) = \prod_t q(X_t \mid X_{t-1})$",
    kind="error",
    printed_holds=bool(np.isclose(2 * law, steps)),
    corrected_holds=bool(np.isclose(law, steps)),
    decoy_holds=bool(np.isclose(log_n(b, a, 0.4) + log_n(c, a, 0.8), steps)),
)
alpha, old = 0.9, 0.5  # α_t and ᾱ_{t-1}
posterior = (
    (alpha**0.5 * (1 - old) * 0.3 + old**0.5 * (1 - alpha)) / (1 - alpha * old),
    (1 - alpha) * (1 - old) / (1 - alpha * old),
)


def kernel_gives(scale, var):
    """Does Bayes' rule with the step N(scale · x_{t-1}, var) give (22.45)?"""
    law = pictures.gauss(pictures.LINE, old**0.5, 1 - old)
    law = law * pictures.gauss(0.3, scale * pictures.LINE, var)
    found = pictures.moments(law / pictures.integral(law))[:2]
    return bool(np.allclose(found, posterior, atol=1e-6))


erratum(
    "moon:22.4",
    quote=r"$\sqrt{\bar{\alpha}_{t}}\mathbf{x}_{t-1}, (1 - \bar{\alpha}_{t})$",
    corrected=r"$N(x_t; \sqrt{\alpha_t}\, x_{t-1}, (1 - \alpha_t) I)$: one step only",
    kind="error",
    printed_holds=kernel_gives((alpha * old) ** 0.5, 1 - alpha * old),
    corrected_holds=kernel_gives(alpha**0.5, 1 - alpha),
    decoy_holds=kernel_gives(alpha, 1 - alpha),
)
gain, left = (
    0.5**1.5 / 0.75,
    1 / 3,
)  # q(x₁ | x₀, x₂): how it moves with x₂; its variance
miss = (0.5**1.5 - 0.7 * 0.25) ** 2 + (gain - 0.7) ** 2 * 0.75
knowing = (left / 0.5 - 1 - math.log(left / 0.5)) / 2 + miss  # its KL to p(x₁ | x₂)
learned = math.log(0.5 / left) / 2  # its KL to q(x₁ | x₀)
erratum(
    "moon:22.4",
    quote=r"$D_{KL}[q(\mathbf{x}_t|\mathbf{x}_{t-1}) || p(\mathbf{x}_t|$",
    corrected=r"(22.28), over all three: $x_t$ knows $x_{t+1}$, by the law given both",
    kind="error",
    printed_holds=bool(np.isclose(together, apart, atol=1e-4)),
    corrected_holds=bool(np.isclose(together, learned - knowing, atol=1e-4)),
    decoy_holds=bool(np.isclose(together, -knowing, atol=1e-4)),
)
x_T = pictures.LINE  # T = 1: x_1 ~ N(0, 1), x_0 given x_1 ~ N(x_1, 1); both at x_0 = 0
product = pictures.gauss(x_T, 0, 1) * pictures.gauss(0, x_T, 1)
density = pictures.gauss(0, 0, 2)
erratum(
    "wu:6.3.5",
    quote=r"$p(\mathbf{x}_0) = p(\mathbf{x}_T) \prod_{t=1}^T$",
    corrected=r"that is $p(x_{0:T})$; its integral over $x_1, \dots, x_T$ is $p(x_0)$",
    kind="error",
    printed_holds=bool(np.allclose(product, density)),
    corrected_holds=bool(np.isclose(pictures.integral(product), density)),
    decoy_holds=bool(np.isclose(product.max(), density)),
)
bridges = log_n(c, a, 0.8) + log_n(b, (a + c) / 2, 0.2)  # x_2, then x_1 by its bridge
with np.errstate(divide="ignore", invalid="ignore"):
    printed = bridges + log_n(a, a, 0.0)  # the factor of t = 1 has variance 0
erratum(
    "wu:6.9.6",
    quote=r"$p_{\text{data}}(\mathbf{x}_T | \mathbf{x}_0) \prod_{t=1}^T$",
    corrected=r"from $t = 2$ on: at $t = 1$ the bridge has no width",
    kind="error",
    printed_holds=bool(np.isclose(printed, steps)),
    corrected_holds=bool(np.isclose(bridges, steps)),
    decoy_holds=bool(np.isclose(log_n(c, a, 0.8), steps)),
)


# %% demo=true covers="wu:6.4.4 wu:6.4.5 wu:6.4.6 wu:6.6.1 wu:6.9.6 wu:6.9.8 wu:6.9.9"
# wu, sections 6.4, 6.6 and 6.9: other noises, a coefficient, a variance, a weight.
wide = np.random.default_rng(10).laplace(size=10_000)  # one draw, d = 10,000
per_number = -np.abs(wide).mean() - math.log(2)  # its exact log density over d
expected = -1 - math.log(2)  # minus the entropy of a Laplace number
erratum(
    "wu:6.4.5",
    quote="impossible to sample or have intractable normalization constants",
    corrected="independent Laplace or uniform numbers are easy to draw, and their "
    "constant is known",
    kind="error",
    printed_holds=not (len(wide) == 10_000 and np.isfinite(per_number)),
    corrected_holds=bool(abs(per_number - expected) < 0.03),
    decoy_holds=bool(abs(per_number + 0.5 * math.log(2 * math.pi) + 0.5) < 0.03),
)
stay = 0.9 * np.eye(5) + 0.1 / 5  # a symbol of 5 is kept, or drawn anew
jump = np.linalg.matrix_power(stay, 7)
erratum(
    "wu:6.4.5",
    quote="There is simply no other mathematically feasible choice",
    corrected="discrete chains, too, have jumps and bridges in closed form",
    kind="error",
    printed_holds=not np.allclose(jump.sum(0), 1),
    corrected_holds=bool(np.allclose(jump, 0.9**7 * np.eye(5) + (1 - 0.9**7) / 5)),
    decoy_holds=bool(np.allclose(jump, (1 - 0.7) * np.eye(5) + 0.7 / 5)),
)
n, s, eps, x_0 = 10, 0.05, 1.0, 0.2  # t, σ², the cumulative noise, the start
x_n = x_0 + eps
centre, width = x_0 / n + (1 - 1 / n) * x_n, s * (n - 1) / n  # the bridge
erratum(
    "wu:6.9.6",
    quote=r"$(\mathbf{x}_t + \frac{\sigma^2}{t}\epsilon_{\theta}(\mathbf{x}_t,t))$",
    corrected=r"$x_t - \frac1t \epsilon_\theta$",
    kind="error",
    printed_holds=bool(np.isclose(x_n + s / n * eps, centre)),
    corrected_holds=bool(np.isclose(x_n - eps / n, centre)),
    decoy_holds=bool(np.isclose(x_n + eps / n, centre)),
)
grid = np.linspace(-2, 4, 6001)  # KL of the bridge to N(m, σ²) by integration
p = pictures.gauss(grid, centre, width)


def divergence(m):
    """KL of the bridge to the step N(m, σ²)."""
    return float((p * (log_n(grid, centre, width) - log_n(grid, m, s))).sum() * 1e-3)


m, r = x_n - 0.4 / n, (n - 1) / n  # a model that guesses the noise 0.4
distance = (centre - m) ** 2 / (2 * s)
erratum(
    "wu:6.9.8",
    quote="both distributions are Gaussian with same variance",
    corrected=r"the bridge has $r\sigma^2$, $r = 1 - 1/t$: add $\frac d2(r-1-\log r)$",
    kind="error",
    printed_holds=abs(divergence(m) - distance) < 1e-6,
    corrected_holds=abs(divergence(m) - distance - (r - 1 - math.log(r)) / 2) < 1e-6,
    decoy_holds=abs(divergence(m) - distance + math.log(r) / 2) < 1e-6,
)
constant = divergence(centre)


def kl_falls_to_constant(coefficient):
    """With the true noise the means agree: is the KL its constant alone?"""
    return abs(divergence(x_n - coefficient * eps) - constant) < 1e-9


erratum(
    "wu:6.9.8",
    quote=r"$(\mathbf{x}_t - \frac{\sigma^2}{t}\epsilon_{\theta}$",
    corrected=r"coefficient $\frac1t$",
    kind="error",
    printed_holds=kl_falls_to_constant(s / n),
    corrected_holds=kl_falls_to_constant(1 / n),
    decoy_holds=kl_falls_to_constant(s),
)
gain = divergence(m) - constant  # for an error of 0.6 in the noise
erratum(
    "wu:6.9.9",
    quote=r"$\mathcal{L}(\theta) = \frac{1}{2} \sum_{t=1}^{T}$",
    corrected=r"$\sum_t \frac1{2\sigma^2 t^2} \dots$; unweighted it is another loss",
    kind="error",
    printed_holds=abs(gain - 0.6**2 / 2) < 1e-6,
    corrected_holds=abs(gain - 0.6**2 / (2 * s * n**2)) < 1e-6,
    decoy_holds=abs(gain - 0.6**2 / (2 * s * n)) < 1e-6,
)

# %% demo=true covers="guo:VI.3.d moon:22.4 wu:6.4.4 wu:6.4.6 wu:6.6.1"
# Slips of the pen, and what is left out.
erratum("guo:VI.3.d", quote=r"$\int_{X_1, \dots, X_T} p_\theta(X_t)$",
        corrected=r"the prior, $p(X_T)$", kind="convention")  # fmt: skip
erratum("guo:VI.3.d", quote=r"$\mathbb{E}_{q(X_1, \dots, X_T)}$",
        corrected=r"given $X_0$", kind="convention")  # fmt: skip
erratum("guo:VI.3.d", quote=r"$\mathbb{E}_{q(X_1, \dots, X_T | X_0)}$",
        corrected="still averaged over the data", kind="convention")  # fmt: skip
erratum("moon:22.4", quote=r"$q(\mathbf{x}_t, \mathbf{x}_{t-1}) dx_{T-1}$",
        corrected=r"$q(x_T, x_{T-1} \mid x_0)$", kind="convention")  # fmt: skip
erratum("moon:22.4", quote=r"$\log p(\mathbf{x}_T) \prod_{t=1}^T$",
        corrected="the log of the whole product", kind="convention")  # fmt: skip
erratum("wu:6.4.4", quote="the Reserve Transition Distribution",
        corrected="Reverse", kind="convention")  # fmt: skip
erratum("wu:6.4.6", quote="three crucial mathematical simplifications",
        corrected="two are listed", kind="convention")  # fmt: skip
erratum("wu:6.4.6", quote=r"$\log p_{\text{data}}(\mathbf{x}_{t-1})$",
        corrected=r"$p_{t-1}$, as in (6.15)", kind="convention")  # fmt: skip
erratum("wu:6.6.1", quote="The average loss among these M = 1 million",
        corrected=r"$x_{t-1}^{(m)}$: $x_t$ is fixed", kind="convention")  # fmt: skip

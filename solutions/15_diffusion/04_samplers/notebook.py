# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="three walks from noise to data: by chance, without chance, and in 20 steps" covers="wu:6.17.5"
# # Samplers: SDE, ODE, DDIM
#
# One network, four walks from noise to data. The network always knows the best guess of the noise, so all that differs
# is the walk. First, a thousand small steps, each with fresh noise, as in [[15/03|DDPM]]. Second, the same with 20 steps.
# Third, a thousand steps and *no* fresh noise. Fourth, another rule: no noise and 20 steps, well placed.
#
# The third picture says that the noise is needed. The fourth says that it is not. **What was the noise for? And how
# can 20 steps do the work of 1,000?** You write all the walks. (And under *Deeper* you hunt a sign that one of the
# lecture notes prints wrong.)

# %%
# What this notebook needs.
import math
from functools import partial

import numpy as np
import sympy
from ipywidgets import FloatSlider, IntSlider, SelectionSlider
from scipy import linalg, stats

from descent import after, below, check, claim, erratum, explore, hint
from descent import movie, predict, show, solution, start
from descent.pictures.diffusion import samplers as pictures
from descent.pictures.diffusion.mixtures import ring, two_hills

start("15_diffusion/04_samplers")

# %% covers="wu:6.17.5"
# Three thin hills with 60, 30 and 10 % of the mass, and four walks to them.
world, hills = pictures.thin_hills(), two_hills()
show(*pictures.draw_crowds(pictures.puzzle(), world), digits=2)

# %% [markdown] covers="wu:6.10"
# ## 1. Count the steps
#
# Take the plainest chain: every step adds noise,
#
# $$x_t = x_{t-1} + e_t, \qquad e_t \sim N(0, \sigma^2 I), \quad t = 1, \dots, T.$$
#
# Let $p_t$ be the density of $x_t$, and $s(x, t) = \nabla \log p_t(x)$ its *score*. A step back goes uphill and adds fresh
# noise $e$ ([[15/02]]):
#
# $$x_{t-1} = x_t + \sigma^2 s(x_t, t) + e .$$
#
# And if you leave out $e$? Before you say "too narrow": too narrow for *what*?

# %% predict="how-far-back" minutes=1 covers="wu:6.10"
predict(
    "how-far-back",
    "The data are N(0, 4), a step adds the variance 0.05. From x₂₀ you take one step "
    "back and leave out its noise. Which crowd has the variance that you get?",
    ["that of x₁₉", "that of x₁₈", "none: it is narrower than the data"],
    truth=int(
        np.abs(
            5 * (1 - 0.05 / 5) ** 2 - np.array([4 + 19 * 0.05, 4 + 18 * 0.05, 3.9])
        ).argmin()
    ),
    because="The score of N(0, 5) is −x/5, so that the step leaves the variance "
    "5 (1 − 0.05/5)² = 4.9005. One step is 0.05; you took twice that.",
)

# %% [markdown] covers="wu:6.10"
# Why two? Let $\tilde x = x_t + \sigma^2 s(x_t, t)$. With noise it has the law of $x_{t-1}$; and $x_{t-1}$ is $x_{t-2}$ with
# noise:
#
# $$\tilde x + e \sim p_{t-1}, \qquad x_{t-2} + e \sim p_{t-1} .$$
#
# Two crowds that look alike under the same Gaussian noise were alike before: noise multiplies the characteristic
# function by one that is nowhere 0, so you can divide by it. Hence $\tilde x \sim p_{t-2}$. (As good as the first line is:
# for small $\sigma^2$.)
#
# So nothing is wrong with a step without noise. It is twice as long as you think.


# %% exercise="sample_t2" points=2 difficulty=1 covers="wu:6.10"
def sample_t2(score, x_T, T, sigma2):
    """Walk from x_T to x_0 without noise, two indices a step.

    score: (x (n, d), t) -> (n, d), exact at index t; asked once a step, where it
    begins. x_T (n, d); T > 0 an even number; sigma2: the variance of one index.
    Returns the states (T/2 + 1, n, d): x_T, x_{T-2}, …, x_0.
    score(x, t) = -x / t, x_T = [[1.0]], T = 2, sigma2 = 1 gives [[[1.0]], [[0.5]]].
    """
    ### BEGIN SOLUTION
    path = [x_T]
    for t in range(T, 0, -2):
        x = path[-1]
        path.append(x + sigma2 * score(x, t))
    return np.array(path)
    ### END SOLUTION


# %% check="sample_t2"
check(sample_t2)

# %% covers="wu:6.10"
# On two hills of a line: with noise, without it and one index a step, with two.
with after(sample_t2, "how-far-back"):
    rng, T, sigma2 = np.random.default_rng(1), 400, 0.02
    exact, _ = hills.sample(10_000, rng)
    x_T = exact + (T * sigma2) ** 0.5 * rng.normal(size=exact.shape)

    def added(x, t):
        return hills.noised(1, (t * sigma2) ** 0.5).score(x)

    ends = {"with noise": x_T, "no noise, one index": x_T}
    for t in range(T, 0, -1):
        for shake, name in enumerate(reversed(ends)):
            x = ends[name] + sigma2 * added(ends[name], t)
            ends[name] = x + shake * sigma2**0.5 * rng.normal(size=x.shape)
    ends["no noise, two indices"] = sample_t2(added, x_T, T, sigma2)[-1]
    wide = np.array([x.std() for x in ends.values()]) / hills.covariance()[0, 0] ** 0.5
    words = "two indices: the spread of the data, to {e:.0%}"
    claim(words, abs(wide[2] - 1) < 0.03, e=0.03)
    claim("one index: too narrow by over {e:.0%}", wide[1] < 0.8, e=0.2)
    show(*pictures.draw_ends(ends, hills))

# %% [markdown] covers="wu:6.11 wu:6.11.1 wu:6.13 wu:6.13.1 wu:6.17.4 cs480:15-fwd"
# ## 2. A film with more frames
#
# Think of a film from the data ($t = 0$) to the noise ($t = 1$), in $N$ frames, $\Delta t = 1/N$ apart. More frames show
# the same. Noise adds up by its *variance*, and a frame gets the share $\Delta t$ of that: noise of size
# $\sqrt{\Delta t}$. DDPM's frame, with $\beta_t = \beta(t)\, \Delta t$, $\sqrt{1 - \beta_t} \approx 1 - \frac12 \beta_t$, becomes
#
# $$x_{t + \Delta t} = x_t - \tfrac12 \beta(t)\, x_t\, \Delta t + \sqrt{\beta(t) \Delta t}\; z .$$
#
# In general, with a *drift* $f$ and fresh $z \sim N(0, I)$,
#
# $$x_{t + \Delta t} = x_t + f(x_t, t)\, \Delta t + g\, \sqrt{\Delta t}\; z, \quad\text{in short}\quad dx = f\, dt + g\, dw .$$
#
# That is a **stochastic differential equation** (SDE); $w$ is *Brownian motion*. So to walk is *Euler's and Maruyama's*
# method.


# %% exercise="euler_maruyama" points=3 difficulty=1 covers="cs480:15-disc cs480:15-fwd wu:6.11.1 wu:6.13 wu:6.13.1"
def euler_maruyama(f, g, x, z, times):
    """All states of the walk dx = f dt + g dw, at the given times.

    f: (x (n, d), t) -> (n, d); g: (x, t) -> a number or an array that fits x, of
    either sign; both are asked where a step begins. x (n, d): the start, at times[0].
    z (K, n, d) standard normal, z[k] shakes the step from times[k] to times[k + 1].
    times (K + 1,): they may also fall. Then a step is h < 0, and its noise g √|h| z.
    Returns (K + 1, n, d).
    f = x, g = 2, x = [[1.0]], z = [[[1.0]]], times = [1.0, 0.75] gives [[[1.0]],
    [[1.75]]].
    """
    ### BEGIN SOLUTION
    path = [x]
    for k in range(len(times) - 1):
        t = times[k]
        h = times[k + 1] - t
        drift = f(path[-1], t) * h
        noise = g(path[-1], t) * abs(h) ** 0.5 * z[k]
        path.append(path[-1] + drift + noise)
    return np.array(path)
    ### END SOLUTION


# %% check="euler_maruyama"
check(euler_maruyama)

# %% covers="wu:6.11 wu:6.11.1 wu:6.11.4 cs480:15-fwd wu:6.17.4"
# More frames of the same film, without drift and with DDPM's; its law at every time.


def beta(t):  # Ho's schedule: a thousandth of it is β of each of 1,000 frames
    return 0.1 + 19.9 * t


def power(t):  # what is left of the signal's power, exp(-∫β): ᾱ in DDPM
    return np.exp(-0.1 * t - 9.95 * t**2)


def f(x, t):
    return -beta(t) / 2 * x


def g(x, t):
    return beta(t) ** 0.5


def score_of(world):
    """The exact score of x_t = √ᾱ x_0 + √(1 − ᾱ) ε: (x, t) -> like x."""
    return lambda x, t: world.noised(power(t) ** 0.5, (1 - power(t)) ** 0.5).score(x)


with after(euler_maruyama):
    fine = np.random.default_rng(2).normal(size=(1000, 6, 1))

    def draw_film(frames):
        z = fine.reshape(frames, -1, 6, 1).sum(1) * (frames / 1000) ** 0.5
        times, x = np.linspace(0, 1, frames + 1), np.full((6, 1), 2.0)
        none, drift = (lambda x, t: 0 * x, lambda x, t: 2.0), (f, g)
        walks = [euler_maruyama(*way, x, z, times)[:, :, 0] for way in (none, drift)]
        return pictures.draw_film(times, *walks, power)

    frames = SelectionSlider(
        value=20, options=[10, 20, 50, 100, 200, 500, 1000], description="frames"
    )
    explore(draw_film, digits=1, frames=frames)

# %% [markdown] covers="wu:6.11.1 wu:6.11.4 wu:6.13.1"
# 1. Ten times as many frames: how much longer is the way of one walker? And the sum of its squared steps?
# 2. The velocity of a step is $z / \sqrt{\Delta t}$. Where does it go as $\Delta t \to 0$?
# 3. In one frame the noise dwarfs the drift. Why is the drift seen all the same, on the right?
#
# For the third: drifts of $N$ frames add up, noises mostly cancel. Milk spreads in coffee, grain by grain, each on a
# path without a velocity.

# %% covers="cs480:15-disc wu:6.13.1"
# Weak order: dx = −x dt + √2 dw from 0 has the variance 1 − e⁻² at t = 1.
with after(euler_maruyama):
    off = {}
    for N in (20, 40, 80, 160):
        # walker k feels the noise of step k alone: their squares add up to the variance
        z, x = np.eye(N)[:, :, None], np.zeros((N, 1))
        walk = partial(euler_maruyama, lambda x, t: -x, x=x, z=z)
        ends = walk(lambda x, t: 2**0.5, times=np.linspace(0, 1, N + 1))[-1]
        off[N] = (ends**2).sum() - (1 - math.exp(-2))
    words = "twice the frames, half the error of the variance ({N} frames: {off:.3f})"
    for N in (40, 80, 160):
        claim(words, abs(off[N // 2] / off[N] - 2) < 0.1, N=N, off=off[N])

# %% [markdown] covers="wu:6.11.2 wu:6.11.3 wu:6.13.2 wu:6.12.4 cs480:15-rev cs480:15-pf"
# ## 3. Rewind
#
# Noise drives dots from where they are dense to where they are sparse. For the *crowd* it is as if every dot went at the
# velocity $-\frac12 g^2 s$ ([[15/01]] counted who crosses a border). So the film may be shot without any noise,
#
# $$\frac{dx}{dt} = f - \tfrac12 g^2 s(x, t),$$
#
# and a film without chance can be rewound: let $t$ fall. This is the **probability-flow ODE** (ordinary differential
# equation).
#
# Some noise on the way back, of size $\lambda g$? Pay for it: it pushes dots apart at $-\frac12 \lambda^2 g^2 s$, so climb as
# much more. While $t$ falls,
#
# $$dx = \Big[f - \frac{1 + \lambda^2}2\, g^2 s\Big] dt + \lambda g\, dw .$$
#
# One half moves the crowd, $\frac{\lambda^2}2$ balances the noise. $\lambda = 1$ is the **reverse SDE** (Anderson, 1982): DDPM.


# %% exercise="way_home" points=3 difficulty=1 covers="wu:6.11.2 wu:6.11.3 wu:6.13.2 wu:6.12.4 cs480:15-rev cs480:15-pf"
def way_home(f, g, score, x, z, times, lam):
    """All states of the walk above, with noise λ = lam >= 0.

    f, score: (x (n, d), t) -> (n, d); g: (x, t) -> a number that depends on t alone.
    x (n, d) at times[0]; z (K, n, d); times (K + 1,). They fall on the way home; with
    lam = 0 they may also rise. Returns (K + 1, n, d). You may use euler_maruyama.
    f = 0, g = 2, score = -x, x = [[1.0]], z = [[[1.0]]], times = [1.0, 0.75] gives
    the ends [[0.5]] for lam = 0 and [[1.0]] for lam = 1.
    """

    ### BEGIN SOLUTION
    def drift(x, t):
        return f(x, t) - (1 + lam**2) / 2 * g(x, t) ** 2 * score(x, t)

    def noise(x, t):
        return lam * g(x, t)

    return euler_maruyama(drift, noise, x, z, times)
    ### END SOLUTION


# %% check="way_home"
check(way_home)

# %% [markdown] covers="wu:6.12.4 wu:6.13.2"
# Is that the only way to pay? Below, the score's coefficient and the noise are yours to choose. Drag the point.
#
# 1. Find the right crowd without noise. Then with the noise 1, and 1.5.
# 2. What becomes of the crowd below the curve, and above it?
# 3. Coefficient 1, noise 0: the third picture of the first screen. Coefficient ½, noise 1: the climb only balances the
#    noise, as in *Langevin's* walk, which has no f and leaves the crowd as it is ([[15/05]]). What is missing here?

# %% covers="wu:6.12.4 wu:6.13.2"
# Drag the point: what 150 steps with this coefficient and this noise make of N(0, 1).
times = np.linspace(1, 0, 151) ** 2
with after(euler_maruyama):
    jolts = np.random.default_rng(3).normal(size=(150, 1500, 1))
    even = stats.norm.ppf((np.arange(1500)[:, None] + 0.5) / 1500)

    def draw_pair(noise, coefficient):
        def climb(x, t, c=coefficient):
            return f(x, t) - c * beta(t) * score_of(hills)(x, t)

        def shake(x, t, noise=noise):
            return noise * g(x, t)

        end = euler_maruyama(climb, shake, even, jolts, times)[-1, :, 0]
        return pictures.draw_pair(end, noise, coefficient, hills)

    explore(
        draw_pair,
        drag={("noise", "coefficient"): "pair"},
        digits=1,
        noise=FloatSlider(0, min=0, max=1.6, step=0.05, description="noise λ"),
        coefficient=FloatSlider(
            1, min=0.3, max=1.8, step=0.05, description="coefficient"
        ),
    )

# %% open=true covers="wu:6.11.4 wu:6.11.2 wu:6.11.3 cs480:15-rev"
film = np.linspace(0, 1, 121) ** 2  # there, and home again
with after(euler_maruyama, way_home):
    z = np.random.default_rng(4).normal(size=(2, 120, 300, 2))
    x0, s = world.sample(300, np.random.default_rng(5))[0], score_of(world)
    noisy = [euler_maruyama(f, g, x0, z[0], film)]
    noisy += [way_home(f, g, s, noisy[0][-1], z[1], film[::-1], 1)]
    quiet = [way_home(f, g, s, x0, z[0], film, 0)]
    quiet += [way_home(f, g, s, quiet[0][-1], z[1], film[::-1], 0)]
    fig, ax, path, words, colors = pictures.there_and_back(noisy, quiet, world)
    movie(fig, ax, path, words, seconds=10, colors=colors, digits=1)

# %% covers="wu:6.11.3 wu:6.11.2 cs480:15-pf cs480:15-rev"
# Both crowds at home, and their dots.
with after(euler_maruyama, way_home):
    own, _ = pictures.nearest(x0, world)
    for name, walk in (("noisy", noisy), ("quiet", quiet)):
        shares, spread = pictures.fit(walk[1][-1], world)
        near = np.abs(shares - world.weights).max() < 0.1
        words = "{name}: shares right to {a} points, spread 0.1 to {b:.0%}"
        good = near and abs(spread / 0.1 - 1) < 0.15
        claim(words, bool(good), name=name, a=10, b=0.15)
    back = [pictures.nearest(walk[1][-1], world)[0] == own for walk in (noisy, quiet)]
    claim("noisy: under {a:.0%} are back in their hill", back[0].mean() < 0.6, a=0.6)
    claim("quiet: over {a:.0%} are", back[1].mean() > 0.98, a=0.98)

# %% [markdown] covers="cs480:15-pf wu:6.11.3"
# ## 4. A map and its density
#
# Without chance every dot comes home: the ODE is a *map*, one point of noise for each point of data, a code. And a map
# tells the density that the sampler gives to a point. The crowd thins out where velocities part,
#
# $$\frac{d}{dt} \log p_t(x_t) = -\,\mathrm{div}\, v(x_t, t), \qquad \mathrm{div}\, v = \sum_i \partial v_i / \partial x_i ,$$
#
# as for any [[14/06|continuous flow]]. Ride to $t = 1$, where $p_1 = N(0, I)$, and add up:
# $\log p_0(x_0) = \log p_1(x_1) + \int_0^1 \mathrm{div}\, v\, dt$.
#
# This wants better steps than Euler's. **Heun's method** guesses the end of the step as Euler does, asks for
# the velocity there, too, and goes with the mean of both.


# %% exercise="ride" points=4 difficulty=1 covers="cs480:15-pf wu:6.11.3"
def ride(v, div, x, times):
    """Follow dx/dt = v by Heun's steps, and add up the divergence on the way.

    v: (x (n, d), t) -> (n, d), asked twice a step; div: (x (n, d), t) -> (n,). x (n, d)
    at times[0]. times (K + 1,) may rise or fall.
    A step of length h adds h times the mean of two velocities: where it begins, and
    where Euler's step would end, at the later time. The divergence is summed in the
    same way, with the mean of its values at the same two places.
    Returns the states (K + 1, n, d) and the sums (n,).
    v = x, div = 1, x = [[1.0]], times = [0.0, 1.0]: [[[1.0]], [[2.5]]] and [1.0].
    """
    ### BEGIN SOLUTION
    path, total = [x], np.zeros(len(x))
    for k in range(len(times) - 1):
        t, later = times[k], times[k + 1]
        h = later - t
        here = path[-1]
        first = v(here, t)
        guess = here + h * first
        second = v(guess, later)
        path.append(here + h / 2 * (first + second))
        total = total + h / 2 * (div(here, t) + div(guess, later))
    return np.array(path), total
    ### END SOLUTION


# %% check="ride"
check(ride)

# %% covers="cs480:15-pf wu:6.11.3"
# There and back with your ride; and the log density of 300 points of data.
with after(ride):

    def flow(x, t):
        return f(x, t) - beta(t) / 2 * score_of(world)(x, t)

    thins, codes = pictures.divergence(flow), []
    x0 = world.sample(300, np.random.default_rng(6))[0]
    for K in (100, 200, 400):
        up = np.linspace(0, 1, K + 1) ** 2
        path, lost = ride(flow, thins, x0, up)
        codes.append(path[-1])
    home = ride(flow, thins, codes[-1], up[::-1])[0][-1]
    told = stats.norm.logpdf(codes[-1]).sum(1) + lost
    words = "{K} steps there, {K} back: every dot at home, to {e}"
    claim(words, np.abs(home - x0).max() < 1e-3, K=400, e=below(1e-3))
    gap = np.abs(told - world.log_density(x0)).mean()
    claim("its log density is exact to {e} nats in the mean", gap < 0.01, e=0.01)
    ratio = np.divide(*np.abs(np.diff(codes, axis=0)).mean((1, 2)))
    words = "Heun: half the step, about a quarter of the error ({r:.1f} times less)"
    claim(words, 3 < ratio < 5, r=ratio)
    show(*pictures.draw_likelihood(world, x0, told))

# %% [markdown] covers="wu:6.17.5"
# ## 5. Twenty steps
#
# How to leap over many indices at once? In DDPM
# $x_t = \sqrt{\bar\alpha_t}\; x_0 + \sqrt{1 - \bar\alpha_t}\; \epsilon$, where $\bar\alpha_t$ is the power that is left. A network guesses
# $\hat\epsilon$, and so $\hat x_0 = (x_t - \sqrt{1 - \bar\alpha_t}\; \hat\epsilon) / \sqrt{\bar\alpha_t}$. If both were right, where was
# the dot at an earlier step $s$ (no score here)?
#
# $$x_s = \sqrt{\bar\alpha_s}\; \hat x_0 + \sqrt{1 - \bar\alpha_s}\; \hat\epsilon .$$
#
# This is **DDIM** (Song, Meng and Ermon, 2020). It leaps far: below, steps are dense near 0, where
# data have detail. And of the variance $1 - \bar\alpha_s$ a part may be fresh noise,
#
# $$x_s = \sqrt{\bar\alpha_s}\, \hat x_0 + \sqrt{1 - \bar\alpha_s - u}\; \hat\epsilon + \sqrt{u}\, z, \quad u = \eta^2\, \frac{1 - \bar\alpha_s}{1 - \bar\alpha_t} \Big(1 - \frac{\bar\alpha_t}{\bar\alpha_s}\Big).$$
#
# With $\eta = 1$ and all steps it is DDPM's walk, with its smaller variance $\tilde\beta_t$.


# %% exercise="ddim" points=4 difficulty=1 covers="wu:6.17.5"
def ddim(model, x, z, left, steps, eta):
    """All states of the DDIM walk over chosen steps.

    model: (x (n, d), t) -> guessed noise (n, d), asked once at the beginning of each
    step. left (T + 1,): left[t] is the power ᾱ_t, left[0] = 1. steps (K + 1,) integers:
    the walk starts with x (n, d) at steps[0]. z (K, n, d): fresh noise of each step, or
    None where eta is 0. 0 <= eta <= 1. With eta > 0 the steps fall; with eta = 0 they
    may rise, too, also from t = 0.
    Returns (K + 1, n, d).
    model = 1, x = [[1.0]], left = [1, 0.64], steps = [1, 0], eta = 0 ends at [[0.5]].
    """
    ### BEGIN SOLUTION
    path = [x]
    for k in range(len(steps) - 1):
        x, now, then = path[-1], left[steps[k]], left[steps[k + 1]]
        noise = model(x, steps[k])
        clean = (x - (1 - now) ** 0.5 * noise) / now**0.5
        step = then**0.5 * clean
        fresh = 0
        if eta > 0:
            fresh = eta**2 * (1 - then) / (1 - now) * (1 - now / then)
            step = step + fresh**0.5 * z[k]
        path.append(step + (1 - then - fresh) ** 0.5 * noise)
    return np.array(path)
    ### END SOLUTION


# %% check="ddim"
check(ddim)

# %% covers="wu:6.17.5"
# Where DDIM comes from: Euler's step in other coordinates, and in the end the ODE.
left = np.concatenate([[1], np.cumprod(1 - np.linspace(1e-4, 0.02, 1000))])


def noise_of(world):
    """The exact guess of the noise at step t of 1,000: (x, t) -> like x."""
    return lambda x, t: world.noise(x, left[t] ** 0.5, (1 - left[t]) ** 0.5)


with after(ddim, ride):
    steps = pictures.spaced(20)
    start_at = np.random.default_rng(7).normal(size=(200, 2))
    path, exact = ddim(noise_of(world), start_at, None, left, steps, 0), noise_of(world)
    y = path / left[steps][:, None, None] ** 0.5
    r = (1 / left[steps] - 1) ** 0.5
    slopes = [exact(x, t) for x, t in zip(path[:-1], steps[:-1])]
    same = np.allclose(np.diff(y, axis=0), np.diff(r)[:, None, None] * slopes)
    claim("in y = x/√ᾱ and r = √(1/ᾱ − 1) every step is Euler's, for dy/dr = ε̂", same)
    path = ddim(noise_of(world), start_at, None, left, np.arange(1000, -1, -1), 0)
    smooth = ride(flow, thins, start_at, np.linspace(1, 0, 401) ** 2)[0][-1]
    gap = np.median(np.linalg.norm(path[-1] - smooth, axis=1))
    claim(
        "a thousand steps end where the ODE does, to {e} (median)", gap < 0.02, e=0.02
    )

# %% covers="wu:6.17.5"
# The exact network, a timid one, and the spread of the hills that a walk draws.
EVERY = np.arange(1000, -1, -1)
start_noise = np.random.default_rng(13).normal(size=(300, 2))
shakes = np.random.default_rng(14).normal(size=(1000, 300, 2))
sure = noise_of(world)


def timid(x, t, less=0.2):
    return (1 - less) * sure(x, t)


def spread_of(model, steps, eta):
    """Root mean square distance per coordinate from the nearest centre."""
    ends = ddim(model, start_noise, shakes[: len(steps) - 1], left, steps, eta)[-1]
    return pictures.fit(ends, world)[1]


# %% predict="timid" minutes=1 covers="wu:6.17.5"
predict(
    "timid",
    "No network is perfect. Let one be timid: it says 20 % too little noise. The hills "
    "have a spread of 0.1. With all 1,000 steps, η = 0 or η = 1: whose hills come out "
    "wider?",
    ["both alike", "without fresh noise, over twice", "with fresh noise, over twice"],
    truth=int(spread_of(timid, EVERY, 0) > 2 * spread_of(timid, EVERY, 1)),
    because="The quiet walk carries each error to its end. The noisy one forgets: "
    "fresh noise drowns an early error, and the climb that pays for it leads to where "
    "the crowd belongs, wherever the dot was.",
)

# %% covers="wu:6.17.5"
# The answer: spreads by steps and by timidity, and what becomes of a single start.
with after(euler_maruyama, way_home, ddim, "timid"):
    ETAS, counts, curves = (0, 0.5, 1), (10, 20, 50, 100, 1000), {}
    for eta in (0, 1):
        curves[f"DDIM, η = {eta}"] = [
            spread_of(sure, pictures.spaced(n), eta) for n in counts
        ]

    def euler(times, lam):
        z = shakes[: len(times) - 1]
        ends = way_home(f, g, score_of(world), start_noise, z, times, lam)[-1]
        return pictures.fit(ends, world)[1]

    curves["SDE, even steps"] = [euler(np.linspace(1, 0, n + 1), 1) for n in counts]
    curves["SDE, DDIM's steps"] = [euler(pictures.spaced(n) / 1000, 1) for n in counts]
    less = (0, 0.1, 0.2)
    wide = {
        eta: [spread_of(partial(timid, less=a), EVERY, eta) for a in less]
        for eta in ETAS
    }
    one = np.tile([[0.8, 0.3]], (300, 1))
    ends = {
        eta: ddim(sure, one, shakes, left, pictures.spaced(100), eta)[-1]
        for eta in (0, 1)
    }
    ddim_0, ddim_1, sde_even, sde = (curve[1] for curve in curves.values())
    words = "20 steps of DDIM: spread {a:.2f} without noise, {b} with it, to {e}"
    good = abs(ddim_0 - 0.1) < 0.01 and abs(ddim_1 - 0.075) < 0.01
    claim(words, good, a=ddim_0, b=0.075, e=0.01)
    ode = euler(pictures.spaced(20) / 1000, 0)
    words = "20 of Euler's: over twice 0.1 if even; placed like DDIM's, right to {e}"
    good = sde_even > 0.2 and max(abs(sde - 0.1), abs(ode - 0.1)) < 0.03
    claim(words + ", with noise and without", good, e=0.03)
    words = "timid by 20 %: spread over {a} without noise, below {b} with it"
    claim(words, wide[0][2] > 0.3 and wide[1][2] < 0.15, a=0.3, b=0.15)
    spans = [np.ptp(end, axis=0).max() for end in ends.values()]
    words = "one start: without noise one end; with noise all hills"
    claim(words, spans[0] < 1e-9 and (pictures.fit(ends[1], world)[0] > 0.05).all())
    show(*pictures.draw_answer(counts, curves, less, wide, ends, world), digits=1)

# %% [markdown]
# ## Take-aways
#
# - A step without its noise goes *two* indices back. The third picture counted wrong.
# - Noise scales with $\sqrt{\Delta t}$, drift with $\Delta t$. For the crowd, noise is the velocity $-\frac12 g^2 s$. So every
#   noise $\lambda$ has a way home, with $\frac{1 + \lambda^2}2\, g^2 s$; without any, the probability-flow ODE.
# - The ODE is a map: a point has a code and a density.
# - **What was the noise for?** Not for the crowd. It makes choices, and it heals: the noisy walk forgets most of a
#   timid network's errors, the quiet one none.
# - **Why 20 steps?** They are dense near 0, where data have detail. Placed so, Euler's do, too. DDIM leaps between any
#   two indices; with 20 steps, fresh noise makes hills a quarter too narrow.
#
# Next: [[next]].

# %% [markdown] covers="wu:6.15 wu:6.15.1 wu:6.15.2 wu:6.15.3 wu:6.15.5"
# ## Deeper: the equation of the crowd
#
# "As if every dot went at $-\frac12 g^2 s$": why? Look at the crowd through a smooth *test function* $h$ (no step here), say a soft window;
# $\mathbb E\, h(x_t)$ is the share of the crowd seen in it. In a short time $\tau$
#
# $$\mathbb E\big[h(x + f\tau + g\sqrt\tau\, z) - h(x)\big] = \tau\; \mathbb E\big[h' f + \tfrac12 h'' g^2\big] + o(\tau).$$
#
# The noise itself has mean 0; its square, $g^2 \tau z^2$, is as large as the drift. (Noise of size $\tau$, a random drift,
# would leave $\tau^2$, which vanishes.) Write means as integrals over $p_t$, move the derivatives from $h$ to $p_t$ by parts.
# As this holds for every $h$,
#
# $$\partial_t p_t = -\partial_x (f p_t) + \tfrac12 \partial_x^2 (g^2 p_t) \qquad \text{(Fokker–Planck)};$$
#
# without noise, the *continuity equation*.

# %% covers="wu:6.15.1 wu:6.15.2 wu:6.15.5"
# The expansion by symbols, for both sizes of noise; and windows that get sharper.
x, tau, a, b, z = sympy.symbols("x tau f g z")
h = sympy.Function("h")
for size, second in ((sympy.Rational(1, 2), b**2 / 2), (1, 0)):
    gain = sum(
        h(x).diff(x, k) * (a * tau + b * tau**size * z) ** k / math.factorial(k)
        for k in (1, 2, 3, 4)
    )
    gain = sympy.expand(gain).subs({z**4: 3, z**3: 0}).subs(z**2, 1).subs(z, 0)
    slope = sympy.limit(gain / tau, tau, 0, "+")
    want = a * h(x).diff(x) + second * h(x).diff(x, 2)
    name = "g √τ z" if second else "g τ z"
    words = "noise {name}: the mean of h grows at the rate {rate}"
    rate = "f h′ + ½ g² h″" if second else "f h′"
    claim(words, sympy.simplify(slope - want) == 0, name=name, rate=rate)
line = np.linspace(-6, 6, 12_001)
weight, inside = hills.density(line[:, None]) * 0.001, (line > -2) & (line < 0)
seen = [
    abs((pictures.window(line, -2, 0, w) * weight).sum() - weight[inside].sum())
    for w in (0.3, 0.1, 0.03)
]
words = "a window with soft edges sees P(−2 < x < 0): three widths, off by ever less"
claim(words, seen[0] > seen[1] > seen[2] and seen[2] < 0.01)

# %% [markdown] covers="wu:6.15.2 wu:6.15.3 wu:6.15"
# Solve it on a line of cells of width $\Delta x$. Over each border between two cells flows
#
# $$f\, p - \tfrac12\, \partial_x (g^2 p),$$
#
# and a cell gains what comes in less what goes out. At the border, $p$ is the mean of its two cells, and the derivative
# is the difference of their $g^2 p$ over $\Delta x$. Over both ends of the line nothing flows: no mass gets lost.


# %% exercise="fokker_planck" points=3 difficulty=1 covers="wu:6.15 wu:6.15.2 wu:6.15.3 wu:6.15.4"
def fokker_planck(f, g, p, x, times):
    """Densities of the crowd at all times, by finite differences.

    f, g: (places (k,), t) -> (k,), drift and noise, asked where a step begins: f at
    the borders (the middles between the x), g at the x themselves. x (m,): evenly
    spaced middles of cells; p (m,): the density there at times[0]. times (K + 1,) rise.
    Returns (K + 1, m).
    f = 0, g = 1, x = [0, 1], p = [1, 0], times = [0, 0.5]: [[1, 0], [0.75, 0.25]].
    """
    ### BEGIN SOLUTION
    dx, border = x[1] - x[0], (x[1:] + x[:-1]) / 2
    history = [p]
    for k in range(len(times) - 1):
        t, h = times[k], times[k + 1] - times[k]
        p = history[-1]
        carried = f(border, t) * (p[1:] + p[:-1]) / 2
        spread = np.diff(g(x, t) ** 2 * p) / (2 * dx)
        flow = np.concatenate([[0], carried - spread, [0]])
        history.append(p - h / dx * np.diff(flow))
    return np.array(history)
    ### END SOLUTION


# %% check="fokker_planck"
check(fokker_planck)

# %% covers="wu:6.15 wu:6.15.2 wu:6.15.3"
# Play the time: your equation beside your particles, for dx = −x dt + √2 dw.
cells, ticks = np.arange(-4.975, 5, 0.05), np.linspace(0, 1.2, 1201)
with after(euler_maruyama, fokker_planck):
    start_p = hills.density(cells[:, None])
    crowd = euler_maruyama(
        lambda x, t: -x,
        lambda x, t: 2**0.5,
        hills.sample(5000, np.random.default_rng(8))[0],
        np.random.default_rng(9).normal(size=(120, 5000, 1)),
        ticks[::10],
    )[:, :, 0]
    density = fokker_planck(
        lambda x, t: -x, lambda x, t: 2**0.5 + 0 * x, start_p, cells, ticks
    )
    explore(
        lambda frame: pictures.draw_equation(
            cells, density[10 * frame], crowd[frame], ticks[10 * frame]
        ),
        digits=1,
        play="frame",
        frame=IntSlider(20, min=0, max=120, description="frame"),
    )
    mass = np.abs(density.sum(1) * 0.05 - density[0].sum() * 0.05).max()
    claim("no mass is lost: at all times to {e}", mass < 1e-9, e=below(1e-9))
    t = ticks[-1]
    law = hills.noised(math.exp(-t), math.sqrt(1 - math.exp(-2 * t)))
    gap = np.abs(density[-1] - law.density(cells[:, None])).max()
    claim("the equation gives the exact density, to {e}", gap < 0.003, e=0.003)
    shares = density[-1].cumsum() / 20
    D = stats.kstest(crowd[-1], lambda x: np.interp(x, cells + 0.025, shares))
    words = "5,000 particles follow it: largest gap of shares below {e}"
    claim(words, D.statistic < 0.025, e=0.025)

# %% [markdown] covers="wu:6.15.4"
# **The sign.** Now let an ODE do what the SDE does: choose $v$ so that $-\partial_x(v p) = -\partial_x(f p) + \frac12 g^2 \partial_x^2 p$
# ($g$ free of $x$). Since $\partial_x p = p\, \partial_x \log p$, the last term is $\partial_x(\frac12 g^2 p\, \partial_x \log p)$. One of the
# lecture notes draws from this
#
# $$v = f + \tfrac12\, g^2\, \partial_x \log p .$$

# %% predict="the-sign" minutes=1 covers="wu:6.15.4"
predict(
    "the-sign",
    "No drift, g = 1, p_t = N(0, 1 + t). Dots start in N(0, 1) and ride the printed v "
    "to t = 1. Which variance do they have?",
    ["2, as the noise makes", "½", "1"],
    truth=int(np.abs(pictures.ridden_variance(1) - np.array([2, 0.5, 1])).argmin()),
    because="The printed v is −x / (2 (1 + t)): it draws the dots together, where "
    "noise spreads them. Of the three terms only the last has no minus before it: "
    "so v = f − ½ g² s.",
)

# %% covers="wu:6.15.4"
# The hunt: both signs in your equation without noise, against noise without velocity.
with after(fokker_planck, "the-sign"):
    p0 = stats.norm.pdf(cells)

    def none(x, t):
        return 0 * x

    spread = fokker_planck(none, lambda x, t: 1 + 0 * x, p0, cells, ticks[:1001])
    off = {}
    for name, sign in (("+", 1), ("−", -1)):
        v = lambda x, t, sign=sign: sign * -x / (2 * (1 + t))  # noqa: E731
        off[name] = np.abs(
            fokker_planck(v, none, p0, cells, ticks[:1001])[-1] - spread[-1]
        )
    words = "v = f − ½ g² s carries the density where noise carries it, to {e}"
    claim(words, off["−"].max() < 0.01, e=0.01)
    claim("with the printed + it is off by over {e}", off["+"].max() > 0.2, e=0.2)

# %% [markdown] covers="cs480:15-revgen wu:6.15.6 cs480:15-pf"
# ## Deeper: noise that knows the place
#
# In more dimensions noise may be correlated, and depend on the place: $dx = f\, dt + G(x)\, dw$ with a matrix $G$. Let
# $D = G G^\top$. The same expansion, with all second derivatives, gives
#
# $$\partial_t p = -\nabla \cdot (f p) + \tfrac12 \sum_{ij} \partial_i \partial_j (D_{ij}\, p).$$
#
# (It is a Laplacian only for round noise that is the same everywhere.) One derivative taken out,
# $\sum_j \partial_j (D_{ij}\, p) = p\, \big(\mathrm{div}\, D + D s\big)_i$, where $(\mathrm{div}\, D)_i = \sum_j \partial_j D_{ij}$.
# So noise acts like the velocity $-\frac12 (\mathrm{div}\, D + D s)$, and
#
# $$f - c\, (\mathrm{div}\, D + D s)$$
#
# is the ODE's velocity with $c = \frac12$, and with $c = 1$ the drift of the reverse SDE (time falls, noise $G$).


# %% exercise="reverse_drift" points=3 difficulty=2 covers="cs480:15-revgen cs480:15-pf wu:6.15.6"
def reverse_drift(f, G, score, x, c):
    """The velocity f - c (div D + D s) at x, with D = G Gᵀ.

    f, score: (x (n, d)) -> (n, d). G: (x (n, d)) -> (n, d, k), smooth. x (n, d); c a
    number. The derivatives of D by central differences, ± 1e-4 in each coordinate.
    Returns (n, d).
    f = 0, G(x) = x, score = 0, c = 1, x = [[3.0]]: D = x², the result is [[-6.0]].
    """

    ### BEGIN SOLUTION
    def D(x):
        noise = G(x)
        return noise @ noise.transpose(0, 2, 1)

    pull = np.einsum("nij,nj->ni", D(x), score(x))
    for j in range(x.shape[1]):
        nudge = np.zeros(x.shape[1])
        nudge[j] = 1e-4
        pull = pull + (D(x + nudge) - D(x - nudge))[:, :, j] / 2e-4
    return f(x) - c * pull
    ### END SOLUTION


# %% check="reverse_drift"
check(reverse_drift)

# %% covers="cs480:15-revgen"
# Two hills sink under noise 1 + ½ sin 2x; back by your drift, and without div D.
with after(reverse_drift, euler_maruyama, fokker_planck):

    def uneven(x, t=0):
        return 1 + 0.5 * np.sin(2 * x)

    line, clock = np.arange(-6.98, 7, 0.04), np.linspace(0, 0.4, 801)
    sunk = fokker_planck(
        lambda x, t: -x, uneven, hills.density(line[:, None]), line, clock
    )
    slopes = np.gradient(np.log(sunk + 1e-12), line, axis=1)
    rng, share = np.random.default_rng(10), sunk[-1].cumsum() * 0.04
    x_T = np.interp(rng.uniform(size=(4000, 1)), share, line + 0.02)
    z, away = rng.normal(size=(800, 4000, 1)), {}
    for whole in (True, False):

        def drift(x, t, whole=whole):
            row = int(round(t / 0.0005))
            s = lambda x: np.interp(x, line, slopes[row])  # noqa: E731
            G = lambda x: uneven(x)[:, :, None]  # noqa: E731
            full = reverse_drift(lambda x: -x, G, s, x, 1)
            return full if whole else -x - uneven(x) ** 2 * s(x)

        end = euler_maruyama(drift, uneven, x_T, z, clock[::-1])[-1, :, 0]
        away[whole] = stats.kstest(
            end, lambda x: pictures.cumulative(hills, x)
        ).statistic
    words = "4,000 dots back: largest gap of shares to the hills below {e}"
    claim(words, away[True] < 0.03, e=0.03)
    claim("without div D it is over {e}", away[False] > 0.06, e=0.06)

# %% covers="wu:6.15.6"
# In the plane, dx = A x dt + S dw: the covariance C solves dC/dt = A C + C Aᵀ + S Sᵀ.
with after(euler_maruyama):
    A, S = np.array([[-1.0, 1.5], [-0.5, -0.8]]), np.array([[1.0, 0.0], [0.6, 0.5]])
    settled = linalg.solve_continuous_lyapunov(A, -S @ S.T)
    turn = linalg.expm(0.7 * A)
    law = settled - turn @ settled @ turn.T  # from C = 0, at t = 0.7
    dw = np.random.default_rng(11).normal(size=(140, 20_000, 2)) @ S.T
    x = np.zeros((20_000, 2))
    end = euler_maruyama(
        lambda x, t: x @ A.T, lambda x, t: 1.0, x, dw, np.linspace(0, 0.7, 141)
    )[-1]
    off = np.abs(np.cov(end.T) - law).max()
    claim(
        "20,000 particles have the covariance of the equation, to {e}",
        off < 0.03,
        e=0.03,
    )
    tilt = law[0, 1] / math.sqrt(law[0, 0] * law[1, 1])
    claim("their coordinates are correlated: {r:.2f}", tilt > 0.3, r=tilt)

# %% [markdown] covers="wu:6.17.4 wu:6.17.5"
# ## Deeper: chain, equation and codes
#
# Is a chain with $\beta_t = \beta(t)\, \Delta t$ really the SDE, and a DDPM step really Euler's? With
# $\hat\epsilon = -\sqrt{1 - \bar\alpha_t}\; s$ the mean of DDPM's step is $(x + \beta_t\, s) / \sqrt{1 - \beta_t}$, that of the reverse SDE
# $x + \frac12 \beta_t\, x + \beta_t\, s$.
#
# And codes: DDIM with rising steps takes a point of data to its noise (*inversion*). One can mix the codes of two points
# and decode the mixtures. Compare that with mixing the points.

# %% covers="wu:6.17.4 wu:6.17.5"
# Half the step: the chain's law comes twice as near to the SDE's, a step four times.
gaps = []
for N in (250, 500, 1000):
    each = beta((np.arange(N) + 0.5) / N) / N
    gaps.append(abs(np.prod(1 - each) ** 0.5 - power(1.0) ** 0.5))
words = "what is left of x₀ after the chain: twice the frames, half the error"
claim(words, all(abs(a / b - 2) < 0.1 for a, b in zip(gaps, gaps[1:])))
x, s, b = sympy.symbols("x s beta")
ddpm_mean, euler_mean = (x + b * s) / sympy.sqrt(1 - b), x + b * x / 2 + b * s
gap = sympy.series(ddpm_mean - euler_mean, b, 0, 3).removeO()
want = b**2 * (3 * x / 8 + s / 2)
claim("DDPM's step − Euler's = β² (3x/8 + s/2) + …", sympy.expand(gap - want) == 0)

# %% covers="wu:6.17.5"
# Invert two points, mix their codes, decode.
with after(ddim):
    eight = ring(8, 2.0, 0.1)
    model = noise_of(eight)
    x0 = eight.sample(200, np.random.default_rng(12))[0]
    for K, most in ((20, 0.1), (1000, 0.01)):
        down = pictures.spaced(K)
        code = ddim(model, x0, None, left, down[::-1], 0)[-1]
        home = ddim(model, code, None, left, down, 0)[-1]
        off = np.median(np.linalg.norm(home - x0, axis=1))
        words = "{K} steps to the code and {K} back: off by below {most} (median)"
        claim(words, off < most, K=K, most=most)
    pair = np.array([[2.0, 0.0], [0.0, 2.0]])
    a, b = ddim(model, pair, None, left, np.arange(1001), 0)[-1]
    mixed = pictures.turned(a, b, 121)
    decoded = ddim(model, mixed, None, left, np.arange(1000, -1, -1), 0)[-1]
    straight = pair[0] + np.linspace(0, 1, 121)[:, None] * (pair[1] - pair[0])
    fig, words = pictures.draw_codes(eight, straight, mixed, decoded)
    good = words.facts["decoded"] > 0.9 and words.facts["straight"] < 0.5
    text = (
        "over {a:.0%} of the mixed codes decode to data; of mixed points not half are"
    )
    claim(text, good, a=0.9)
    show(fig, words, digits=1)

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails,
# the right one holds, and a wrong one of the same shape fails too. *Too broad*: a condition is missing.

# %% demo=true covers="cs480:15-rev cs480:15-disc"
# cs480, section 15: noise of a step, and two words. dx = −x dt + √2 dw settles at 1.
step = 0.01


def settles(noise):
    """The variance at which x ← (1 − step) x + noise settles."""
    return noise / (1 - (1 - step) ** 2)


erratum(
    "cs480:15-disc",
    quote=(
        r"$\mathbf{g}_t(\mathbf{x}_t) \sim \mathcal{N}(\mathbf{0}, \eta_t^2 "
        r"G_t(\mathbf{x}_t) G_t(\mathbf{x}_t)^\top)$"
    ),
    corrected=r"$\eta_t\, G_t G_t^\top$: else the noise vanishes as $\eta \to 0$",
    kind="error",
    printed_holds=abs(settles(2 * step**2) - 1) < 0.02,
    corrected_holds=abs(settles(2 * step) - 1) < 0.02,
    decoy_holds=abs(settles(2 * step**0.5) - 1) < 0.02,
)
erratum(
    "cs480:15-disc",
    quote=(
        r"where $\mathbf{n}_t \sim \mathcal{N}(0, 1)$ (??) which we can discretize as"
    ),
    corrected=r"$n_t$ is Brownian motion, $dn_t \sim N(0, dt\, I)$",
    kind="convention",
)
erratum(
    "cs480:15-rev",
    quote="and the reverse process using stochastic gradient ascent following",
    corrected="a time-reversed SDE: noisy ascent if $f = 0$, but nothing is optimised",
    kind="convention",
)

# %% demo=true covers="wu:6.10 wu:6.12.4 wu:6.15.4"
# wu, sections 6.10 to 6.15: N(0, 2) and a step of 0.5; the sign that you hunted.
v, sigma2 = 2.0, 0.5
left_by_step = v * (1 - sigma2 / v) ** 2
erratum(
    "wu:6.10",
    quote="directly gives us samples from the distribution two steps earlier",
    corrected=(
        r"for small $\sigma^2$: of $N(0, v)$ the step leaves "
        r"$v - 2\sigma^2 + \sigma^4/v$"
    ),
    kind="broad",
    printed_holds=math.isclose(left_by_step, v - 2 * sigma2),
    corrected_holds=math.isclose(left_by_step, v - 2 * sigma2 + sigma2**2 / v),
)
erratum(
    "wu:6.10",
    quote=r"because $\mathbf{x}_{t-1} = \mathbf{x}_{t-2} + \mathbf{e}_t$",
    corrected=r"$+\, e_{t-1}$",
    kind="convention",
)
erratum(
    "wu:6.12.4",
    quote=r"The coefficient 1 instead of $\frac{1}{2}$ means:",
    corrected=(
        r"half of the drift balances the added noise, the other half moves $p_t$ to "
        r"$p_{t - \Delta t}$ (the sentence breaks off)"
    ),
    kind="convention",
)
erratum(
    "wu:6.15.4",
    quote=(
        r"$v(x_t, t) = f(x_t, t) + \frac{1}{2}\sigma^2(t)"
        r"\frac{\partial \log p_t}{\partial x}$"
    ),
    corrected=r"$v = f - \frac12 \sigma^2(t)\, \partial_x \log p_t$, as (6.89) has it",
    kind="error",
    # no drift, σ = 1, N(0, 1 + t): the variance at t = 1 must be 2
    printed_holds=abs(pictures.ridden_variance(1) - 2) < 0.01,
    corrected_holds=abs(pictures.ridden_variance(-1) - 2) < 0.01,
    decoy_holds=abs(pictures.ridden_variance(-2) - 2) < 0.01,
)

# %% demo=true covers="wu:6.17.5"
# wu, section 6.17.5: N(0, 4) and β = 1, variance 1 + 3 e^(−t); then one step of DDIM.
law = 1 + 3 * math.exp(-1)


def carried(shrink, climb):
    """The variance at t = 1, by dx/dt = shrink x + climb ∇log p."""
    return pictures.linear_ode(lambda t: shrink - climb / (1 + 3 * np.exp(-t)), 4.0)


erratum(
    "wu:6.17.5",
    quote=(
        r"$\frac{d\mathbf{x}_t}{dt} = \frac{\tilde{\beta}(t)}{2}\mathbf{x}_t + "
        r"\frac{\tilde{\beta}(t)}{2}\nabla\log p_t(\mathbf{x}_t)$"
    ),
    corrected=(
        r"$\frac{dx_t}{dt} = -\frac{\tilde\beta}2 (x_t + \nabla \log p_t)$, as (6.77) "
        r"to (6.79) and the step (6.139) want; as printed, time would count backwards"
    ),
    kind="error",
    printed_holds=abs(carried(0.5, 0.5) - law) < 0.01,
    corrected_holds=abs(carried(-0.5, -0.5) - law) < 0.01,
    decoy_holds=abs(carried(-0.5, 0.5) - law) < 0.01,
)
erratum(
    "wu:6.17.5",
    quote=(
        r"Noise prediction: $\boldsymbol{\epsilon}_{\theta} = "
        r"-\nabla \log p_t(\mathbf{x}_t)$"
    ),
    corrected=r"$\epsilon_\theta = -\sqrt{1 - \bar\alpha(t)}\; \nabla \log p_t(x_t)$",
    kind="error",
    # data N(0, 1), ᾱ = ½: the best guess at x_t = 1 is √½, the score −1
    printed_holds=math.isclose(1, 0.5**0.5),
    corrected_holds=math.isclose(0.5**0.5 * 1, 0.5**0.5),
    decoy_holds=math.isclose(1 / 0.5**0.5, 0.5**0.5),
)
x0, eps, now, then = 2.0, 0.5, 0.3, 0.6
x_t, x_s = (a**0.5 * x0 + (1 - a) ** 0.5 * eps for a in (now, then))
scaled, ratio = (then / now) ** 0.5 * x_t, then / now
erratum(
    "wu:6.17.5",
    quote=(
        r"$\sqrt{1 - \frac{\bar{\alpha}(t-\Delta t)}{\bar{\alpha}(t)}} "
        r"\sqrt{1 - \bar{\alpha}(t)} \boldsymbol{\epsilon}_{\theta}(\mathbf{x}_t, t)$"
    ),
    corrected=(
        r"$x_s = \sqrt{\bar\alpha_s}\, \hat x_0 + \sqrt{1 - \bar\alpha_s}\; "
        r"\epsilon_\theta$: the ratio is above 1, its root not real"
    ),
    kind="error",
    printed_holds=bool(
        np.isclose(scaled - np.emath.sqrt(1 - ratio) * (1 - now) ** 0.5 * eps, x_s)
    ),
    corrected_holds=bool(
        np.isclose(scaled + ((1 - then) ** 0.5 - (ratio * (1 - now)) ** 0.5) * eps, x_s)
    ),
    decoy_holds=bool(
        np.isclose(scaled - np.emath.sqrt(ratio - 1) * (1 - now) ** 0.5 * eps, x_s)
    ),
)
erratum(
    "wu:6.17.5",
    quote=(
        r"$d\mathbf{x}_t = \left[\frac{\tilde{\beta}(t)}{2}\mathbf{x}_t + "
        r"\tilde{\beta}(t)\nabla\log p_t(\mathbf{x}_t)\right]dt + "
        r"\sqrt{\tilde{\beta}(t)}d\mathbf{w}_t$"
    ),
    corrected=(
        r"there $dt > 0$ counts backwards, opposite to (6.75): else "
        r"$-[\dots]\, dt$"
    ),
    kind="convention",
)
erratum(
    "wu:6.17.5",
    quote="The backward ODE takes drift term from SDE",
    corrected="with the coefficient of the score halved, as the formula below it has",
    kind="convention",
)

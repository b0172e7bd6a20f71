# %% [markdown] minutes=90 builds="a diffusion model that draws handwritten digits on request" covers="explainers:5.5"
# # DDPM: learn the noise, then walk back
#
# Turning a picture into noise is easy: add a little noise, again and again. This notebook learns the way back. It mirrors wu 6.5.1–6.5.7 and 6.8 (noise that adds up), wu 6.17
# (noise that keeps the variance), moon 22.2 and 22.5, guo VI.3 and explainers 5.5.
#
# **You will be able to** noise data in one shot, state the reverse step and its variance, train a noise predictor and sample from it, and find the factor that makes a
# printed sampler useless. At the end your code draws digits.
#
# ## Why it matters
#
# Nobody can write down the density of images, let alone sample from it. But a real digit sinks into noise by a simple rule, from left to right below.
# Under each picture stands the best guess of the clean digit that anybody could make, if all 1797 images of the data are equally likely: their average, weighted by
# how well each explains what is seen.
#
# **Look** from right to left. In deep noise the guess is the mean of all digits; with each bit of noise removed it commits itself a little more. A sampler that
# goes through all levels makes its decisions one small step at a time.

# %%
import math
from functools import partial

import ipywidgets
import numpy as np
import sympy
import torch
from torch import nn

from descent import after, check, data, device, erratum, explore
from descent import hint, predict, scale, show, start
from descent.pictures.diffusion import ddpm as pictures

start("15_diffusion/03_ddpm")

# %% demo=true
digits = data.digits()
images = torch.tensor(digits.X) / 8 - 1  # (1797, 64), from -1 (white) to 1 (black)


def best_guess(xt, abar, among=images):
    """E[x0 | xt] if xt = sqrt(abar) x0 + sqrt(1 - abar) eps and x0 is one of `among`.

    xt (n, 64), among (m, 64), all equally likely -> (n, 64).
    """
    fit = abar**0.5 * xt @ among.T - abar * among.square().sum(1) / 2
    return torch.softmax(fit / (1 - abar), dim=1) @ among


levels = [10, 100, 200, 300, 400, 500, 700, 1000]
schedule = np.linspace(1e-4, 0.02, 1000)
left = pictures.signal_left(schedule)
seen = [torch.tensor(pictures.noised(images[13], schedule, t, seed=7)) for t in levels]
guesses = [best_guess(seen[k][None], left[levels[k]])[0] for k in range(8)]
show(*pictures.draw_strip(torch.stack(seen), torch.stack(guesses), levels, images[13]))

# %% [markdown] covers="wu:6.5 wu:6.8"
# ## 1. Noise that adds up
#
# Add independent noise of variance $\sigma^2$ in each of $T$ steps: $x_t = x_{t-1} + e_t$, $e_t\sim N(0,\sigma^2 I)$. After $t$ steps the *cumulative noise* is
# $\epsilon_t = x_t - x_0 = e_1+\dots+e_t \sim N(0, t\sigma^2 I)$.
#
# For small $\sigma^2$ the step back is Gaussian too. Write $p_t$ for the density of $x_t$ and $N(x;m,v)$ for that of a Gaussian at $x$. By Bayes' rule
# $p(x_{t-1}\mid x_t)\propto p_{t-1}(x_{t-1})\,N(x_t;x_{t-1},\sigma^2 I)$. Within a few $\sigma$ the logarithm of the first factor is nearly a straight line, and a Gaussian times the exponential of a
# straight line is the same Gaussian, shifted uphill:
#
# $$p(x_{t-1}\mid x_t) \approx N\big(x_t+\sigma^2 s(x_t,t),\ \sigma^2 I\big),\qquad s(x,t)=\nabla_x\log p_t(x)\ \text{(the score).}$$
#
# So modelling, learning and sampling reduce to one vector field $s$. Before we learn one, take data whose score is known: a mixture of Gaussians.


# %%
def mixture_score(x, means, sd, weights, a, v):
    """Score of a·x0 + N(0, v I), x0 from the mixture of N(means[k], sd² I).

    x (n, d), means (k, d), weights (k,) with sum 1, numbers sd, a, v -> (n, d).
    """
    var = a**2 * sd**2 + v
    gaps = a * means - x[:, None]  # (n, k, d)
    share = torch.softmax(weights.log() - gaps.square().sum(-1) / (2 * var), dim=1)
    return (share[..., None] * gaps).sum(1) / var


def normal(*shape, seed):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=g, dtype=torch.float64)


T, sigma2 = 400, 0.05
means = torch.tensor([[-1.6], [1.6]]).double()  # two modes on a line …
weights, sd = torch.tensor([0.5, 0.5]).double(), 0.5  # … equally frequent and narrow
data_sd = math.sqrt(sd**2 + 1.6**2)

# %% [markdown] covers="wu:6.5.4 wu:6.5.5"
# ### Three names for one prediction
#
# Who knows the score knows the best guess of the clean sample, and of the noise in it. The density $p_t(x)=\int p(x_0)\,N(x;x_0,t\sigma^2I)\,dx_0$ is a mixture of Gaussians, and each
# has the score $(x_0-x)/(t\sigma^2)$. The score of the mixture is their average, weighted by how likely each $x_0$ is, given $x_t=x$. Solve for the mean of $x_0$:
#
# $$\hat x_0 = \mathbb E[x_0\mid x_t] = x_t+t\sigma^2 s(x_t,t),\qquad \hat\epsilon = \mathbb E[\epsilon_t\mid x_t] = x_t-\hat x_0 = -t\sigma^2 s(x_t,t).$$
#
# The cell checks it. The score is compared with torch's derivative of $\log p_t$, the guess with an average over a fine grid of $x_0$.

# %% demo=true
t, x = 100, torch.linspace(-6, 6, 41).double()[:, None].requires_grad_(True)
log_parts = weights.log() - (x - means.T).square() / (2 * (sd**2 + t * sigma2))
slope = torch.autograd.grad(torch.logsumexp(log_parts, 1).sum(), x)[0]
x = x.detach()
score = mixture_score(x, means, sd, weights, 1, t * sigma2)
assert torch.allclose(score, slope)

grid = torch.linspace(-5, 5, 2001).double()
log_prior = weights.log() - (grid[:, None] - means.T).square() / (2 * sd**2)
log_seen = -(x - grid).square() / (2 * t * sigma2)
belief = torch.softmax(torch.logsumexp(log_prior, 1) + log_seen, 1)  # p(x0 | xt)
x0_hat = (belief * grid).sum(1, keepdim=True)
assert torch.allclose(x0_hat, x + t * sigma2 * score)  # to the clean sample
assert torch.allclose(x - x0_hat, -t * sigma2 * score)  # to the noise

# %% [markdown] covers="wu:6.5.2 wu:6.5.4"
# ### Two losses for one score
#
# The score can be learned by regression on the step before, or on the clean sample, with $t$ uniform on $1,\dots,T$:
#
# $$\mathbb E\lVert x_{t-1}-(x_t+\sigma^2 s_\theta)\rVert^2\qquad\text{or}\qquad \mathbb E\lVert x_0-(x_t+t\sigma^2 s_\theta)\rVert^2.$$
#
# Divide the first by $\sigma^4$ and the second by $(t\sigma^2)^2$. Then $s_\theta$ is fitted to $-e_t/\sigma^2$ or to $-\epsilon_t/(t\sigma^2)$. Given $x_t$ the noises $e_1,\dots,e_t$ are exchangeable:
# nothing in $x_t$ tells which came when, so each has the mean $\hat\epsilon/t$. Hence both targets have mean $s$, and both losses have
# the same minimiser. They differ in how noisy a gradient is. Below, $s_\theta=c\,s$ with one parameter $c$, whose best value is 1.


# %% demo=true
def gradients_at(t, n=40_000):
    """For s_theta = c·s: variance of both losses' gradients at c = 1, the best c."""
    mode = torch.randint(2, (n,), generator=torch.Generator().manual_seed(t))
    e = normal(n, 1, seed=t + 1) * sigma2**0.5
    past = normal(n, 1, seed=t + 2) * ((t - 1) * sigma2) ** 0.5
    xt = means[mode] + sd * normal(n, 1, seed=t + 3) + past + e
    s = mixture_score(xt, means, sd, weights, 1, t * sigma2)
    targets = torch.stack([-e / sigma2, -(past + e) / (t * sigma2)])  # step, clean
    best = (targets * s).mean((1, 2)) / s.square().mean()
    return (2 * s * (s - targets)).var(1).flatten(), best


best_c = gradients_at(100)[1]
assert abs(best_c[0] - 1) < 0.2 and abs(best_c[1] - 1) < 0.02  # three standard errors
times = [1, 3, 10, 30, 100, 300]
gradient_variance = torch.stack([gradients_at(t)[0] for t in times])
ratio = float(gradient_variance[4, 0] / gradient_variance[4, 1])
predict(
    "At t = 100, how many samples with the previous state as target are worth one "
    "with the clean sample as target?",
    [
        "one: the minimiser is the same",
        "about 10, the square root of 100",
        "more than 100",
    ],
    truth=lambda: 2 if ratio > 100 else 1 if ratio > 5 else 0,
    because="In units of the score one step's noise has variance 1/σ², the mean of t "
    "steps' noise 1/(tσ²): a factor of 100. And a part of that mean can be seen "
    f"in x_t. Measured: about {100 * round(ratio / 100)}.",
    then=lambda: pictures.draw_targets(times, gradient_variance),
)

# %% [markdown] covers="wu:6.5.3 wu:6.5.6"
# ### Walking back
#
# Start with $x_T\sim N(0,T\sigma^2 I)$ and let the score be your compass, step by step:
#
# $$x_{t-1}=x_t+\sigma^2 s(x_t,t)+\sigma z_t,\qquad z_t\sim N(0,I).$$
#
# This is *ancestral sampling*: each state is drawn given the one before it on the way. By custom the step at $t=1$ adds no noise and returns the mean. In the language of noise, with
# $\hat\epsilon=-t\sigma^2 s$, each step takes away a part of the predicted noise and adds fresh noise. Which part? Algorithm 5 (wu 6.8.3)
# says $\sigma^2/t$. Here it is, as printed, on the two-mode data, with the *exact* noise predictor.


# %% demo=true
def exact_noise(x, t):
    """E[x_t - x_0 | x_t = x] of the two-mode data. x (n, 1), t an integer -> (n, 1)."""
    return -t * sigma2 * mixture_score(x, means, sd, weights, 1, t * sigma2)


def algorithm_5(eps_model, x_T, z, sigma2):
    """As printed. x_T (n, d), z (T, n, d) -> x_0 (n, d); z[t - 1] belongs to step t."""
    x = x_T
    for t in range(len(z), 0, -1):
        x = x - sigma2 / t * eps_model(x, t) + sigma2**0.5 * z[t - 1]
    return x


x_T, z = normal(10_000, 1, seed=0) * (T * sigma2) ** 0.5, normal(T, 10_000, 1, seed=1)
printed = algorithm_5(exact_noise, x_T, z, sigma2)
predict(
    f"The data have standard deviation {data_sd:.2f}, the starting noise "
    f"{math.sqrt(T * sigma2):.2f}. What will the printed algorithm's samples have?",
    [
        "close to 0: all collapses",
        f"about {data_sd:.1f}, as it should be",
        "more than 5: wider than the noise",
    ],
    truth=lambda: 0 if printed.std() < 1 else 1 if printed.std() < 2 else 2,
    because=f"Measured: {printed.std():.1f}. The compass is hardly read. "
    "One factor is wrong.",
)


# %% exercise="sample_ve" points=2 minutes=12 difficulty=2 covers="wu:6.8.3 wu:6.5.6"
def sample_ve(eps_model, x_T, z, sigma2):
    """Algorithm 5, repaired: from x_T to x_0 with a predictor of the cumulative noise.

    eps_model: (x (n, d), t an integer) -> predicted x_t - x_0 (n, d), the noise of all
    t steps together. x_T (n, d), z (T, n, d) standard normal, sigma2 > 0 the noise
    variance of one step -> x_0 (n, d). Step t = T, ..., 1 uses z[t - 1], but the last
    step (t = 1) adds no noise. Inputs and result are torch tensors. With T = 1,
    sample_ve(lambda x, t: 0.5 * x, torch.tensor([[2.0]]), torch.ones(1, 1, 1), 9.0)
    gives [[1.0]].
    """
    ### BEGIN SOLUTION
    x = x_T
    for t in range(len(z), 0, -1):
        x = x - eps_model(x, t) / t
        if t > 1:
            x = x + sigma2**0.5 * z[t - 1]
    return x
    ### END SOLUTION


# %% check="sample_ve"
check(sample_ve)


# %%
def two_modes(x):
    parts = [np.exp(-((x - m) ** 2) / (2 * sd**2)) for m in (-1.6, 1.6)]
    return sum(parts) / (2 * sd * math.sqrt(2 * math.pi))


with after(sample_ve):
    repaired = torch.as_tensor(sample_ve(exact_noise, x_T, z, sigma2)).double()
    show(*pictures.draw_repair(printed, repaired, two_modes))
    by_score = x_T[:500]  # is your walk the one by the score?
    for t in range(T, 0, -1):
        s = mixture_score(by_score, means, sd, weights, 1, t * sigma2)
        fresh = sigma2**0.5 * z[t - 1, :500] if t > 1 else 0
        by_score = by_score + sigma2 * s + fresh
    assert torch.allclose(repaired[:500], by_score, atol=1e-3)

# %% [markdown]
# The share of the noise that a step undoes is a pure number, one part in $t$; $\sigma^2/t$ is right only if $\sigma^2=1$. And why no noise at $t=1$? There the walk returns the mean of $x_0$ given $x_1$, and
# noise added to it is never removed. For data finer than $\sigma$ that is visible dirt. The cell below shows it on data at exactly $\pm1.6$. On the two wide modes above, the noise would do no harm.
#
# The distance $W_1$ is the mean gap between the sorted samples and equally many sorted data points.

# %%
with after(sample_ve):
    points = means[torch.arange(10_000) % 2] + sd * normal(10_000, 1, seed=5)
    gaps = repaired.sort(0).values - points.sort(0).values
    w1 = gaps.abs().mean().item()
    assert abs((repaired > 0).double().mean() - 0.5) < 0.02  # both modes alike
    print(f"two modes: sd {repaired.std():.2f} (data {data_sd:.2f}), W1 {w1:.2f}")

    def to_poles(x, t):  # data at ±1.6
        return -t * sigma2 * mixture_score(x, means, 0.0, weights, 1, t * sigma2)

    end = torch.as_tensor(sample_ve(to_poles, x_T[:1000], z[:, :1000], sigma2))
    noisy_end = end + sigma2**0.5 * z[0, :1000]
    off, off_noisy = (pictures.spread_round(x, means) for x in (end, noisy_end))
    print(f"two points: off by {off:.2f}, with noise at t = 1 by {off_noisy:.2f}")
    width_printed, width_repaired = printed.std() / data_sd, repaired.std() / data_sd
    erratum(
        "wu:6.8.3",
        r"$x_{t-1}=x_t-\frac{\sigma^2}{t}\epsilon_\theta+\sigma z_t$ for $t=T,\dots,1$",
        r"$x_{t-1}=x_t-\frac1t\epsilon_\theta+\sigma z_t$, and $z_1=0$ for fine data",
        printed_holds=bool(abs(width_printed - 1) < 0.03) and off_noisy < 1e-3,
        corrected_holds=bool(abs(width_repaired - 1) < 0.03)
        and w1 < 0.06
        and off < 1e-3,
    )

# %% [markdown] covers="wu:6.8.1 wu:6.8.2"
# ### Is this noise a well-sized target?
#
# wu's Algorithm 4 trains a network to predict the cumulative noise. For each row of a batch $x_0$ draw $t\sim\text{Uniform}\{1,\dots,T\}$ and $\epsilon_t\sim N(0,t\sigma^2I)$; step down the gradient of
# $\frac1B\sum\lVert\epsilon_t-\epsilon_\theta(x_0+\epsilon_t,t)\rVert^2$. wu's Remark 11 praises this target for good conditioning. Look at the sizes first.
#
# A network that says 0 has loss $t\sigma^2$. The best possible one, for Gaussian data of variance $V_0$, has loss $V_0\,t\sigma^2/(V_0+t\sigma^2)$, never above $V_0$. For a *unit* target,
# $\epsilon_t/\sqrt{t\sigma^2}$, both are divided by $t\sigma^2$.
#
# Does it matter in practice? The second cell trains one small network twice with Algorithm 4, once on each target, 600 updates each, and compares with the exact predictor at the first
# step. In the middle of the walk both targets serve equally well; it is at the early steps that the large errors of the late ones drown the small.


# %% demo=true
def algorithm_4_batch(draw_x0, n, g):
    """Steps (a) to (d): t (n, 1), the cumulative noise and the noisy samples (n, 1)."""
    t = torch.randint(1, T + 1, (n, 1), generator=g)
    eps = (t * sigma2) ** 0.5 * torch.randn(n, 1, generator=g)
    return t, eps, draw_x0(n, g) + eps


def gaussian_x0(n, g):
    return data_sd * torch.randn(n, 1, generator=g)


V0, g = data_sd**2, torch.Generator().manual_seed(2)
rows, eps_t, x_t = algorithm_4_batch(gaussian_x0, 40_000, g)
v = rows * sigma2
best_loss = (eps_t - x_t * v / (V0 + v)).square().mean()
assert abs(best_loss / (V0 * v / (V0 + v)).mean() - 1) < 0.05  # closed form, measured
share_late = float(eps_t[rows > T // 2].square().sum() / eps_t.square().sum())
show(*pictures.draw_sizes(np.arange(1, T + 1) * sigma2, V0, share_late))
early, late, unit = rows <= 40, rows > 360, eps_t / v**0.5
erratum(
    "wu:6.8.1",
    r"Remark 11: good numerical conditioning",
    r"the target's variance $t\sigma^2$ changes $T$-fold; unit noise (6.17.3) does not",
    printed_holds=0.8 < float(eps_t[late].var() / eps_t[early].var()) < 1.25,
    corrected_holds=0.8 < float(unit[late].var() / unit[early].var()) < 1.25,
)


# %% demo=true
def two_mode_x0(n, g):
    mode = torch.randint(2, (n,), generator=g)
    return means[mode].float() + sd * torch.randn(n, 1, generator=g)


def algorithm_4(unit, updates=600):
    """Train on the two-mode data -> error at t = 1, relative to the exact answer."""
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(0)
    layers = nn.Linear(2, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1)
    net = nn.Sequential(*layers)
    optimiser = torch.optim.Adam(net.parameters(), lr=5e-3)
    for _ in range(updates):
        t, eps, xt = algorithm_4_batch(two_mode_x0, 256, g)  # (a) to (d)
        target = eps / (t * sigma2) ** 0.5 if unit else eps
        loss = (target - net(torch.cat([xt, t / T], 1))).square().mean()  # (e)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()  # (f)
    xt = two_mode_x0(2000, g) + sigma2**0.5 * torch.randn(2000, 1, generator=g)
    said = net(torch.cat([xt, torch.full((2000, 1), 1 / T)], 1))
    said = said * sigma2**0.5 if unit else said
    exact = exact_noise(xt.double(), 1)
    return ((said - exact).norm() / exact.norm()).item()


error_cumulative, error_unit = algorithm_4(unit=False), algorithm_4(unit=True)
assert error_cumulative > 1.2 and error_cumulative > 2 * error_unit
print(
    "At t = 1, trained on the cumulative noise: worse than saying 0. "
    "On unit noise: less than half of that error."
)

# %% [markdown] covers="wu:6.17 wu:6.17.1 guo:VI.3.a explainers:5.5.a moon:22.2"
# ## 2. Noise that keeps the variance
#
# So shrink a little before adding noise. With a *schedule* $\beta_1,\dots,\beta_T\in(0,1)$ and $\alpha_t=1-\beta_t$:
#
# $$q(x_t\mid x_{t-1})=N\big(\sqrt{\alpha_t}\,x_{t-1},\ \beta_t I\big),\qquad q(x_{1:T}\mid x_0)=\prod_{t=1}^T q(x_t\mid x_{t-1}).$$
#
# A variance $v$ becomes $\alpha_t v+\beta_t$: it is pulled to 1 and stays there. Ho et al. take $T=1000$ and $\beta_t$ evenly spaced from $10^{-4}$ to $0.02$. The
# cosine schedule prescribes $\bar\alpha_t=\prod_{s\le t}\alpha_s$ instead, as a squared cosine. Why so many steps? Hearing "he is from Germany" you cannot name
# the town; with a thousand small hints you can, and each hint is easy to learn.
#
# In code `betas[t - 1]` is $\beta_t$: steps count from 1, lists from 0.


# %%
def linear_betas(T, first=1e-4, last=0.02):
    return torch.linspace(first, last, T, dtype=torch.float64)


def cosine_betas(T, offset=0.008):
    time = torch.linspace(0, 1, T + 1, dtype=torch.float64)
    signal = torch.cos((time + offset) / (1 + offset) * math.pi / 2).square()
    return (1 - signal[1:] / signal[:-1]).clamp(max=0.999)


SCHEDULES = {
    "linear": linear_betas(1000),
    "cosine": cosine_betas(1000),
    "constant": torch.full((1000,), 0.01).double(),
}
assert (SCHEDULES["linear"].diff() > 0).all()  # it rises …
assert SCHEDULES["linear"].diff().std() < 1e-12  # … evenly
for start_variance in (0.0, 1.0, 4.0):
    spread = start_variance
    for beta in SCHEDULES["linear"]:
        spread = (1 - beta) * spread + beta
        assert start_variance != 1 or abs(spread - 1) < 1e-12  # 1 stays 1
    assert abs(spread - 1) < 2e-4  # everything ends at 1

# %% [markdown] covers="guo:VI.3.b wu:6.17.2"
# ### All steps in one shot
#
# Two steps give $x_2=\sqrt{\alpha_1\alpha_2}\,x_0+\sqrt{\alpha_2\beta_1}\,\epsilon_1+\sqrt{\beta_2}\,\epsilon_2$. Variances of independent Gaussians add, so the two noises act like
# one of variance $\alpha_2\beta_1+\beta_2$. If that is $1-\alpha_1\alpha_2$, induction gives, with $\bar\alpha_t=\prod_{s\le t}\alpha_s$ and $\bar\alpha_0=1$,
#
# $$q(x_t\mid x_0)=N\big(\sqrt{\bar\alpha_t}\,x_0,\ (1-\bar\alpha_t) I\big),\qquad x_t=\sqrt{\bar\alpha_t}\,x_0+\sqrt{1-\bar\alpha_t}\;\epsilon,\quad \epsilon\sim N(0,I).$$
#
# The cell proves both steps with symbols, then follows the chain for 1000 steps. **Guess first:** how much of $x_0$ is left at the end?

# %% demo=true
a1, a2, a_t, abar_s = sympy.symbols("alpha_1 alpha_2 alpha_t abar_s", positive=True)
assert sympy.expand(a2 * (1 - a1) + (1 - a2) - (1 - a1 * a2)) == 0  # two steps
one_more = a_t * (1 - abar_s) + (1 - a_t)  # s = t - 1
assert sympy.expand(one_more - (1 - a_t * abar_s)) == 0

betas = SCHEDULES["linear"]
abar = torch.cat([torch.ones(1).double(), torch.cumprod(1 - betas, 0)])  # abar[0] = 1
factor, noise = 1.0, 0.0
for t, beta in enumerate(betas, 1):
    factor, noise = (1 - beta).sqrt() * factor, (1 - beta) * noise + beta
    assert torch.isclose(factor, abar[t].sqrt()) and torch.isclose(noise, 1 - abar[t])
assert np.allclose(abar[[100, 250, 500]], [0.897, 0.524, 0.0786], atol=5e-4)
half = (abar - 0.5).abs().argmin()
print(
    f"abar_1000 = {abar[1000]:.2e}: x_0 is scaled by {abar[1000].sqrt():.5f}. "
    f"Half of its power is gone at t = {half}."
)


# %% exercise="q_sample" points=2 minutes=8 difficulty=1 covers="guo:VI.3.b moon:22.2"
def q_sample(x0, t, eps, betas):
    """Noise each row of x0 in one shot: x_t from x_0 and the standard normal noise eps.

    x0, eps (n, d), t (n,) integers in 1..T (each row has its own),
    betas (T,) with betas[t - 1] = beta_t -> (n, d).
    q_sample([[1.]], [2], [[0.]], [0.5, 0.5]), all of them torch tensors as the result,
    gives [[0.5]]: half of the power is lost twice.
    """
    ### BEGIN SOLUTION
    abar = torch.cumprod(1 - betas, 0)[t - 1][:, None]
    return abar.sqrt() * x0 + (1 - abar).sqrt() * eps
    ### END SOLUTION


# %% check="q_sample"
check(q_sample)

# %%
with after(q_sample):
    on_line = means[torch.arange(8000) % 2] + sd * normal(8000, 1, seed=6)
    on_line = on_line / data_sd  # variance 1
    chain = pictures.noising(on_line, betas[:100], seed=7)[-1]
    shot = q_sample(on_line, torch.full((8000,), 100), normal(8000, 1, seed=8), betas)
    show(*pictures.draw_shortcut(chain[:, 0], np.asarray(shot)[:, 0], 100), digits=1)

# %% [markdown] covers="wu:6.17 moon:22.2"
# ### Choose a schedule
#
# The dot marks the step where signal and noise are equally strong. **Find out:** on which schedule does the digit stay readable for longest? On which are the last 300 steps
# nearly wasted, because there is nothing left to destroy? The constant schedule does not increase. Does it fail to reach pure noise?

# %%
explore(
    lambda schedule, t: pictures.draw_schedule(SCHEDULES, schedule, t, images[13]),
    schedule=ipywidgets.Dropdown(options=list(SCHEDULES), description="schedule"),
    t=ipywidgets.IntSlider(259, min=0, max=1000, step=1, description="step t"),
)

# %% [markdown]
# On the cosine schedule the digit lasts longest; on the linear one $\bar\alpha_{700}$ is already 0.007; the constant one reaches noise as well, and early.
#
# **Slips in print.** With $\beta=1$ the way back divides by $\sqrt{\alpha_t}=0$; with $\beta_1=0$ by $\sqrt{1-\bar\alpha_1}=0$. In moon's (22.6) two noises merge and keep the name of
# one, but they are equal in distribution only. Without "given $x_0$" the product of steps is not the density of the chain. Most claims are tried out on data at $\pm1$ or with numbers;
# you may skim the two cells and come back to them.

# %% demo=true
x0 = torch.tensor([[-1.0], [1.0]]).double().repeat(20_000, 1)
e1, e2 = normal(40_000, 1, seed=11), normal(40_000, 1, seed=12)
a, b = 0.7, 0.6  # alpha_1, alpha_2
x1 = a**0.5 * x0 + (1 - a) ** 0.5 * e1
x2 = b**0.5 * x1 + (1 - b) ** 0.5 * e2
x1_wide = a**0.5 * 2 * x0 + (1 - a) ** 0.5 * e1  # from data with variance 4


def near(got, want):
    return abs(float(got) - want) < 0.03  # more than three standard errors


erratum(
    "guo:VI.3.a",
    r"$q(X_1,\dots,X_T)=\prod_t q(X_t\mid X_{t-1})$",
    r"$q(X_1,\dots,X_T\mid X_0)=\prod_t q(X_t\mid X_{t-1})$",
    printed_holds=near(x1.var(), 1 - a),
    corrected_holds=near(x1[x0 > 0].var(), 1 - a),
)
erratum(
    "guo:VI.3.b",
    r"covariance of $q(X_t\mid X_0)$: $\Sigma_t-(1-\bar\alpha_t)\mathrm{Id}$",
    r"$\Sigma_t=(1-\bar\alpha_t)\mathrm{Id}$",
    printed_holds=near(x2[x0 > 0].var(), (1 - b) - (1 - a * b)),  # Sigma_t = beta_t
    corrected_holds=near(x2[x0 > 0].var(), 1 - a * b),
)
erratum(
    "wu:6.17.2",
    r"Remark 32: the variance is always $\bar\alpha_t+(1-\bar\alpha_t)=1$",
    r"it is $\bar\alpha_t\mathrm{Var}(x_0)+1-\bar\alpha_t$: "
    r"1 only if $\mathrm{Var}(x_0)=1$",
    printed_holds=near(x1_wide.var(), 1),
    corrected_holds=near(x1_wide.var(), 4 * a + 1 - a),
)

# %% demo=true
two_noises = (b * (1 - a)) ** 0.5 * e1 + (1 - b) ** 0.5 * e2  # moon (22.5)
one_noise = (1 - a * b) ** 0.5 * e1  # moon (22.6)


def way_back(betas):
    """Are both factors of a step back finite for every t?"""
    betas = torch.tensor(betas)
    share = betas / (1 - torch.cumprod(1 - betas, 0)).sqrt()
    return bool(torch.stack([1 / (1 - betas).sqrt(), share]).isfinite().all())


still_noise = float((1 - SCHEDULES["constant"]).prod()) < 1e-4
erratum(
    "moon:22.2",
    r"(22.6) the merged noise is $\epsilon_{t-2}$; step 1: sample $x_t$ and scale it",
    r"a new $\epsilon\sim N(0,I)$, equal in distribution only; sample $x_{t-1}$",
    printed_holds=bool((two_noises - one_noise).abs().max() < 0.1),
    corrected_holds=near(two_noises.var(), 1 - a * b)
    and near(x2.var(), b * float(x1.var()) + 1 - b),
)
erratum(
    "explainers:5.5.a",
    r"$\beta_1<\dots<\beta_T$ with $\beta_t\in[0,1]$",
    r"$\beta_t\in(0,1)$; increasing is a habit, not a need",
    printed_holds=way_back([0.0, 0.5, 1.0]),
    corrected_holds=way_back([0.001, 0.5, 0.999]) and still_noise,
)
erratum(
    "guo:VI.3",
    r"$X_0\in\mathbb R$, then $x_t\in\mathbb R^{D_1\times D_2}$",
    r"$X_0$ and every $X_t$ lie in the same space $\mathbb R^{D_1\times D_2}$",
)

# %% [markdown] covers="guo:VI.3 guo:VI.3.c moon:22.4"
# ## 3. One step back
#
# Read the model as a variational autoencoder with $T$ layers. The latents $x_1,\dots,x_T$ all have the shape of $x_0$; the encoder $q$ adds noise and is *fixed*. Only the decoder
# $p_\theta(x_{t-1}\mid x_t)=N\big(\mu_\theta(x_t,t),\Sigma_\theta(x_t,t)\big)$ is learned, and $p_\theta(x_0)=\int p_\theta(x_{0:T})\,dx_{1:T}$. One layer of noise makes a weak model, many trained
# layers are hard to train; here each of many layers has a small, fixed job. What should the decoder aim at? With $x_0$ in hand, Bayes' rule says it:
#
# $$q(x_{t-1}\mid x_t,x_0)\ \propto\ \underbrace{N\big(x_t;\sqrt{\alpha_t}\,x_{t-1},\beta_t I\big)}_{\text{one more step}}\ \underbrace{N\big(x_{t-1};\sqrt{\bar\alpha_{t-1}}\,x_0,(1-\bar\alpha_{t-1})I\big)}_{t-1\text{ steps}}.$$
#
# Read as functions of $x_{t-1}$, both factors are Gaussian. In a product of Gaussians the precisions (1/variance) add, and the mean is the average of the two means, weighted by precision.


# %% exercise="posterior" points=3 minutes=15 difficulty=3 covers="moon:22.4"
def posterior(x0, xt, t, betas):
    """Mean and variance of q(x_{t-1} | x_t, x_0) = N(mean, var I).

    x0, xt (n, d), t (n,) integers in 1..T, betas (T,)
    -> the pair mean (n, d), var (n,). Here too betas[t - 1] = beta_t.
    It must also hold at t = 1, where abar_0 = 1: mean x0, variance 0.
    x0 = [[0.]], xt = [[1.]], t = [2], betas = [0.5, 0.5] gives
    mean [[0.4714]], var [0.3333].
    """
    ### BEGIN SOLUTION
    abar = torch.cat([torch.ones_like(betas[:1]), torch.cumprod(1 - betas, 0)])
    before, now, beta = abar[t - 1], abar[t], betas[t - 1]
    from_x0 = before.sqrt() * beta / (1 - now)
    from_xt = (1 - beta).sqrt() * (1 - before) / (1 - now)
    mean = from_x0[:, None] * x0 + from_xt[:, None] * xt
    return mean, beta * (1 - before) / (1 - now)
    ### END SOLUTION


# %% check="posterior"
check(posterior)

# %% [markdown] covers="wu:6.5.7 wu:6.17.3 explainers:5.5.b"
# ### In terms of the noise
#
# The variance is $\tilde\beta_t=\frac{1-\bar\alpha_{t-1}}{1-\bar\alpha_t}\beta_t$. It is below $\beta_t$: 0 at $t=1$, on Ho's schedule less than half of $\beta_t$ at $t=2$, and 98 % of it at $t=100$. When we sample, $x_0$ is unknown. Put in the guess that goes with a predicted noise,
# $\hat x_0=(x_t-\sqrt{1-\bar\alpha_t}\,\hat\epsilon)/\sqrt{\bar\alpha_t}$, and the mean becomes
#
# $$\mu=\frac1{\sqrt{\alpha_t}}\Big(x_t-\frac{\beta_t}{\sqrt{1-\bar\alpha_t}}\,\hat\epsilon\Big),\qquad \hat\epsilon=-\sqrt{1-\bar\alpha_t}\;s(x_t,t).$$
#
# Section 1 leads there in two stages: a step by the score, $\tilde x=x_t+\beta_t s$, then undo the scaling, $\tilde x/\sqrt{\alpha_t}$. Only the noise differs, by $\beta_t^2/\alpha_t$ in variance.
# And divided by $\sqrt{\bar\alpha_t}$ this chain *is* additive, with cumulative variance $(1-\bar\alpha_t)/\bar\alpha_t$.

# %% demo=true
xt, eps_hat = normal(1, 1, seed=21), normal(1, 1, seed=22)
line = torch.linspace(-20, 20, 400_001).double()
for t in (2, 300, 1000):
    alpha, beta, now, before = 1 - betas[t - 1], betas[t - 1], abar[t], abar[t - 1]
    x0_hat = (xt - (1 - now).sqrt() * eps_hat) / now.sqrt()
    log_step = -(xt - alpha.sqrt() * line).square() / (2 * beta)
    log_before = -(line - before.sqrt() * x0_hat).square() / (2 * (1 - before))
    density = torch.softmax((log_step + log_before)[0], 0)  # posterior on a grid
    mean = (density * line).sum()
    mu = (xt - beta / (1 - now).sqrt() * eps_hat) / alpha.sqrt()
    assert torch.allclose(mu, mean)
    variance = (density * (line - mean).square()).sum()
    assert torch.isclose(variance, (1 - before) / (1 - now) * beta)
    score = -eps_hat / (1 - now).sqrt()
    assert torch.allclose(mu, (xt + beta * score) / alpha.sqrt())  # two stages
    assert torch.isclose(beta / alpha, beta + beta**2 / alpha)  # their noise
    additive = (1 - before) / before + beta / now
    assert torch.isclose((1 - now) / now, additive)


# %% exercise="ddpm_step" points=3 minutes=10 difficulty=2 covers="explainers:5.5.b wu:6.17.3 guo:VI.3.c moon:22.5"
def ddpm_step(xt, t, eps_hat, z, betas, sigma2):
    """One step of ancestral sampling: x_{t-1} = mu + sigma_t z, but at t = 1 just mu.

    xt, eps_hat (the predicted standard normal noise), z (n, d), t one integer in 1..T,
    betas (T,), sigma2 (T,) noise variances, sigma2[t - 1] = sigma_t^2 -> (n, d).
    For xt = [[1.]], t = 1, eps_hat = [[1.]], betas = [0.5]:
    (1 - 0.5 / sqrt(0.5)) / sqrt(0.5) = 0.4142, whatever z and sigma2 are.
    """
    ### BEGIN SOLUTION
    alpha, abar = 1 - betas[t - 1], torch.prod(1 - betas[:t])
    mean = (xt - betas[t - 1] / (1 - abar).sqrt() * eps_hat) / alpha.sqrt()
    return mean if t == 1 else mean + sigma2[t - 1].sqrt() * z
    ### END SOLUTION


# %% check="ddpm_step"
check(ddpm_step)

# %% [markdown] covers="explainers:5.5.b"
# ### A walk whose score is known
#
# Data in the plane: three narrow clusters with 50, 30 and 20 % of the points. Their score is known, so whatever goes wrong is the walk's own fault. Two variances
# $\sigma_t^2$ are in use: $\beta_t$ is right for data $N(0,I)$, $\tilde\beta_t$ for data in one single point. DDPM fixes one of them; its successors learn a value between,
# which suits data of variance at most 1.
#
# **Find out:** move $t$ from 100 to 0. When does a point decide for a cluster? On which schedule is the decision over first? Which variance ends tighter?

# %%
centres = torch.tensor([[-1.3, 0.9], [1.3, 0.9], [0.2, -1.4]]).double()
shares = torch.tensor([0.5, 0.3, 0.2]).double()
PLANE = {
    "linear": linear_betas(100, 1e-3, 0.2),
    "cosine": cosine_betas(100),
    "constant": linear_betas(100, 0.1, 0.1),
}


def signal(betas):
    """abar_t for t = 0 … T. (T,) -> (T + 1,)."""
    return torch.cat([torch.ones_like(betas[:1]), torch.cumprod(1 - betas, 0)])


def tilde(betas):
    """The posterior variances. (T,) -> (T,)."""
    return betas * (1 - signal(betas)[:-1]) / (1 - signal(betas)[1:])


def unit_noise(betas, centres=centres, sd=0.15, shares=shares):
    """The exact noise predictor for clusters: (x (n, d), t an integer) -> (n, d)."""

    def predictor(x, t):
        a, v = signal(betas)[t].sqrt(), 1 - signal(betas)[t]
        return -v.sqrt() * mixture_score(x, centres, sd, shares, a, v)

    return predictor


def sample_plane(n, seed):
    g = torch.Generator().manual_seed(seed)
    which = torch.multinomial(shares, n, replacement=True, generator=g)
    return centres[which] + 0.15 * normal(n, 2, seed=seed + 1)


# %%
with after(ddpm_step):
    walks = {}

    def walk(schedule, direction, variance):
        chosen = PLANE[schedule]
        if direction == "noising":
            return pictures.noising(sample_plane(400, 31), chosen)
        sigma2 = chosen if variance == "beta" else tilde(chosen)
        return pictures.denoising(ddpm_step, unit_noise(chosen), chosen, sigma2)

    def draw_the_walk(schedule, direction, variance, t):
        key = (schedule, direction, variance)
        walks[key] = walks[key] if key in walks else walk(*key)
        chosen, ends = PLANE[schedule], (centres.numpy(), shares.numpy())
        return pictures.draw_walk(walks[key], t, chosen, *ends, direction)

    variances = [("β", "beta"), ("β̃", "tilde")]
    explore(
        draw_the_walk,
        schedule=ipywidgets.Dropdown(options=list(PLANE), description="schedule"),
        direction=ipywidgets.Dropdown(
            options=["denoising", "noising"], description="direction"
        ),
        variance=ipywidgets.Dropdown(options=variances, description="noise variance"),
        t=ipywidgets.IntSlider(25, min=0, max=100, step=1, description="time t"),
    )

# %% [markdown]
# On the cosine schedule most points are committed by $t=50$, on the linear one by 30, on the constant one only near 10. $\tilde\beta_t$ ends tighter, and with few steps
# clearly so.
#
# **Two slips of printed samplers.** Algorithm 7 (moon) multiplies $z$ by $\Sigma_t=\beta_t$ instead of $\sigma_t=\sqrt{\beta_t}$: at $t=T=1000$ that is 0.02 instead of 0.141. And moon and wu
# add noise of variance $\beta_1$ in the last step, while explainers leave $\sigma_t$ free. For data $N(0,I)$ that noise would even be exact: without it the last variance is $\alpha_1$.
# For data finer than $\sqrt{\beta_1}$ it is dirt. Take data exactly at $\pm1$: only if $\sigma_1=0$ do the samples arrive there. **Predict** which number of the second cell comes out as 0.

# %%
with after(ddpm_step):

    def ends_of(betas, sigma2):
        exact = unit_noise(betas)
        return pictures.denoising(ddpm_step, exact, betas, sigma2, n=1000)[0]

    def spread(betas, sigma2):
        return pictures.spread_round(ends_of(betas, sigma2), centres)

    print("Spread round the nearest centre, 0.15 in the data:")
    for T_few in (10, 50, 200):
        few = linear_betas(T_few, 0.1 / T_few, 20 / T_few).clamp(max=0.9)
        big, small = spread(few, few), spread(few, tilde(few))
        print(f"{T_few:3d} steps: {big:.2f} with beta, {small:.2f} with beta-tilde")
    plane = PLANE["linear"]
    found = pictures.mode_shares(ends_of(plane, plane), centres)
    assert np.abs(found - shares.numpy()).max() < 0.1  # each cluster gets its share
    by_variance, by_root = spread(plane, plane**2), spread(plane, plane)
    print(f"100 steps: {by_variance:.2f} with factor beta, {by_root:.2f} with its root")

# %%
with after(ddpm_step):
    x, poles = normal(5, 1, seed=42), torch.tensor([[-1.0], [1.0]]).double()
    last = ddpm_step(x, 1, plane[0].sqrt() * x, x, plane, plane)  # data N(0, 1)
    shrunk = (1 - plane[0]).sqrt() * x  # variance alpha_1
    assert torch.allclose(torch.as_tensor(last).double(), shrunk)

    to_poles = unit_noise(plane, poles, 0.0, weights)
    end = pictures.denoising(ddpm_step, to_poles, plane, plane, n=1000, d=1)[0]
    noisy_end = end + plane[0].sqrt().item() * normal(1000, 1, seed=41).numpy()
    off, off_noisy = (pictures.spread_round(x, poles) for x in (end, noisy_end))
    print(f"off from the poles by {off:.3f}, with noise at t = 1 by {off_noisy:.3f}")
    erratum(
        "moon:22.5",
        r"Algorithm 7: $x_{t-1}=\mu+\Sigma_t z$ for all $t$",
        r"$x_{t-1}=\mu+\sigma_t z$ with $\sigma_t=\sqrt{\beta_t}$; $z=0$ at $t=1$",
        printed_holds=abs(by_variance / 0.15 - 1) < 0.15 and off_noisy < 1e-3,
        corrected_holds=abs(by_root / 0.15 - 1) < 0.15 and off < 1e-3,
    )
    erratum(
        "explainers:5.5.b",
        r"$+\sigma_t z$ in every step, for any $\sigma_t$; from $x_T\in N(0,I)$",
        r"$\sigma_1=0$ (true of $\tilde\beta_t$, not of $\beta_t$); $x_T\sim N(0,I)$",
        printed_holds=max(off, off_noisy) < 1e-3,
        corrected_holds=float(tilde(plane)[0]) < 1e-12 and off < 1e-3,
    )
    erratum(
        "wu:6.17.3",
        r"$+\sqrt{\beta_t}\,z_t$ for $t=T,\dots,1$",
        r"$+\sqrt{\beta_t}\,z_t$ for $t=T,\dots,2$, and $z_1=0$ for fine data",
        printed_holds=off_noisy < 1e-3,
        corrected_holds=off < 1e-3,
    )

# %% [markdown] covers="moon:22.5 guo:VI.3.d"
# ## 4. Learn the noise
#
# The model should make the data likely, but $-\log p_\theta(x_0)$ is an integral over all ways from noise to $x_0$. As in every variational autoencoder, Jensen's inequality bounds its mean from above
# by $L_T+\sum_{t=2}^{T}L_{t-1}+L_0$, averages over the noised data. The prior term $L_T=\mathrm{KL}(q(x_T\mid x_0)\,\|\,p(x_T))$ has nothing to learn; the main part is
# $L_{t-1}=\mathrm{KL}(q(x_{t-1}\mid x_t,x_0)\,\|\,p_\theta(x_{t-1}\mid x_t))$; in $L_0=-\log p_\theta(x_0\mid x_1)$ a decoder of its own may stand.
#
# Do the terms add up? For data $N(0,1)$ the exact reverse step is $N(\sqrt{\alpha_t}x_t,\beta_t)$ and the bound must equal the data's entropy $\frac12\log 2\pi e$. The expected terms are
# $L_T=-\frac12\log(1-\bar\alpha_T)$, $L_{t-1}=\frac12\log(\beta_t/\tilde\beta_t)$ and $L_0=\frac12\log(2\pi e\,\beta_1)$. **Add them by hand first**: nearly everything cancels.


# %% demo=true
def bound_terms(betas):
    """Data N(0, 1), exact reverse steps: L_T, the KL terms of steps 2 … T, L_0."""
    left = torch.cumprod(1 - betas, 0)
    kl = 0.5 * torch.log((1 - left[1:]) / (1 - left[:-1]))  # beta_t / beta-tilde_t
    L_0 = 0.5 * torch.log(2 * math.pi * math.e * betas[0])
    return -0.5 * torch.log(1 - left[-1]), kl, L_0


entropy = 0.5 * math.log(2 * math.pi * math.e)
L_T, kl, L_0 = bound_terms(betas)
total = L_T + kl.sum() + L_0
assert abs(float(total) - entropy) < 1e-9
print(
    f"L_T = {L_T:.5f}, the 999 terms between {kl.sum():.3f}, L_0 = {L_0:.3f}; "
    f"together {total:.4f}"
)

L_T, kl, L_0 = bound_terms(torch.tensor([0.2, 0.4, 0.6]).double())  # only three steps
erratum(
    "moon:22.5",
    r"$L_T$ is the prior term, and $L_t$ is the KL of step $t$ for $t>1$",
    r"the KL of step $t$ is $L_{t-1}$: no term is lost; $p(x_T)$ has no $\theta$",
    printed_holds=abs(float(L_T + kl[:-1].sum() + L_0) - entropy) < 1e-6,
    corrected_holds=abs(float(L_T + kl.sum() + L_0) - entropy) < 1e-9,
)

# %% [markdown] covers="explainers:5.5.c moon:22.5 guo:VI.3.d"
# ### What the weights say, and what they miss
#
# Both Gaussians in $L_{t-1}$ have means of the form $\mu$, so their KL is, up to a term without $\theta$, a weighted error of the noise, moon's (22.52): $\lambda_t\lVert\epsilon-\epsilon_\theta\rVert^2$ with
# $\lambda_t=\frac{\beta_t^2}{2\sigma_t^2\,\alpha_t(1-\bar\alpha_t)}$. Then the weight silently disappears. Training uses
#
# $$L_{\text{simple}}=\mathbb E\,\lVert\epsilon-\epsilon_\theta(\sqrt{\bar\alpha_t}\,x_0+\sqrt{1-\bar\alpha_t}\;\epsilon,\ t)\rVert^2,\qquad t\sim\text{Uniform}\{1,\dots,T\}.$$
#
# That is a choice, no identity: it moves effort away from the first steps, whose details nobody sees. (22.52) also misses $t=1$: there $\tilde\beta_1=0$ and the weight is
# infinite, so $L_0$ needs a variance of its own. In units of the score, $\lVert\epsilon-\epsilon_\theta\rVert^2=(1-\bar\alpha_t)\lVert s_\theta-\nabla\log q(x_t\mid x_0)\rVert^2$: denoising score matching.

# %% demo=true
weight_tilde = betas**2 / (2 * tilde(betas) * (1 - betas) * (1 - abar[1:]))
weight_tilde = weight_tilde[1:].numpy()  # t = 2 … T
weight_beta = (betas / (2 * (1 - betas) * (1 - abar[1:]))).numpy()
for t in (2, 300, 1000):  # two predictions of noise: 1 and -0.5
    share, shrink = betas[t - 1] / (1 - abar[t]).sqrt(), (1 - betas[t - 1]).sqrt()
    mus = [(0.3 - share * eps) / shrink for eps in (1.0, -0.5)]
    p, q = (torch.distributions.Normal(mu, tilde(betas)[t - 1].sqrt()) for mu in mus)
    kl_step = torch.distributions.kl_divergence(q, p).item()
    assert abs(kl_step / (weight_tilde[t - 2] * 1.5**2) - 1) < 1e-9

eps, t = normal(3, seed=71), 300  # the noise as a score
x = (abar[t].sqrt() * 0.7 + (1 - abar[t]).sqrt() * eps).requires_grad_(True)
q_xt = torch.distributions.Normal(abar[t].sqrt() * 0.7, (1 - abar[t]).sqrt())
slope = torch.autograd.grad(q_xt.log_prob(x).sum(), x)[0]
assert torch.allclose(slope, -eps / (1 - abar[t]).sqrt())
show(*pictures.draw_weights(weight_beta, weight_tilde))
erratum(
    "moon:22.5",
    r"the final objective $L_t$ is $\lVert\epsilon-\epsilon_\theta\rVert^2$",
    r"it is $L_{\mathrm{simple}}$: the weight $\lambda_t$ of (22.52) has been dropped",
    printed_holds=bool(weight_beta.max() / weight_beta.min() < 1.01),  # all the same?
    corrected_holds=bool(abs(weight_beta[0] / weight_beta[-1] / 49 - 1) < 0.01),
)


# %% exercise="ddpm_loss" points=2 minutes=8 difficulty=2 covers="explainers:5.5.c moon:22.5 wu:6.17.3"
def ddpm_loss(model, x0, t, eps, betas):
    """L_simple on a batch: the squared length of eps - model(x_t, t), mean over n rows.

    model: (x (n, d), t (n,)) -> predicted noise (n, d). x0, eps (n, d), t (n,) in 1..T,
    betas (T,) -> a scalar tensor that can be differentiated. Sum over the d components,
    mean over the rows; call the model once. You may use q_sample.
    A model that always says 0 has loss 2 on eps = [[1., 1.]].
    """
    ### BEGIN SOLUTION
    xt = q_sample(x0, t, eps, betas)
    return (eps - model(xt, t)).square().sum(1).mean()
    ### END SOLUTION


# %% check="ddpm_loss"
check(ddpm_loss)

# %% [markdown] covers="wu:6.5.1"
# ### One network for all steps
#
# All $T$ steps share one network; $t$ is just one more input, embedded as sines and cosines (`clock`). For data $N(0,I)$ the best prediction is $\sqrt{1-\bar\alpha_t}\,x_t$. So the network starts
# from there and learns only what is left. At large $t$ that is little.
#
# What is backpropagated in one update? One call of the network at one random $t$ for each row, never the chain of $T$ steps. The cell below `train` counts the calls that your loss makes.


# %%
def clock(time):
    """Sixteen sines and cosines of time in [0, 1]. (n,) -> (n, 32)."""
    phase = time[:, None] * torch.logspace(0, 2, 16, device=time.device)
    return torch.cat([phase.sin(), phase.cos()], 1)


class Denoiser(nn.Module):
    """Predicts the noise: (x (n, d), t (n,), perhaps labels (n,)) -> (n, d)."""

    def __init__(self, betas, d, width, labels=1):
        super().__init__()
        self.register_buffer("abar", signal(betas).float())
        self.enter, self.time = nn.Linear(d, width), nn.Linear(32, width)
        self.label = nn.Embedding(labels, width)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.leave = nn.Linear(width, d)

    def forward(self, x, t, label=None):
        h = self.enter(x) + self.time(clock(t / (len(self.abar) - 1)))
        h = h if label is None else h + self.label(label)
        for layer in self.layers:
            h = h + layer(nn.functional.silu(h))
        abar = self.abar[t][:, None]
        rest = self.leave(nn.functional.silu(h))
        return (1 - abar).sqrt() * x + abar.sqrt() * rest


# %%
def train(net, x0, betas, steps, batch, rate, labels=None, only_t=None, seed=0):
    """Adam on your ddpm_loss. x0 (N, d) -> losses per component (steps,)."""
    (N, d), here = x0.shape, x0.device
    g = torch.Generator(here).manual_seed(seed)
    adam = torch.optim.Adam(net.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(adam, rate, steps, pct_start=0.1)
    losses = []
    for _ in range(steps):
        rows = torch.randint(N, (batch,), generator=g, device=here)
        t = torch.randint(1, len(betas) + 1, (batch,), generator=g, device=here)
        t = t if only_t is None else torch.full_like(t, only_t)
        eps = torch.randn(batch, d, generator=g, device=here)
        model = net if labels is None else partial(net, label=labels[rows])
        loss = ddpm_loss(model, x0[rows], t, eps, betas) / d
        adam.zero_grad()
        loss.backward()
        adam.step()
        schedule.step()  # warm up, cool down
        losses.append(loss.detach())
    return torch.stack(losses).cpu()


# %%
with after(ddpm_loss, q_sample):
    torch.manual_seed(0)
    plane_betas = PLANE["linear"].float()
    net, calls = Denoiser(plane_betas, 2, 64), []
    x, mixed = torch.randn(4, 2), torch.tensor([1, 30, 60, 100])
    together = net(x, mixed)
    one_by_one = torch.cat([net(x[i : i + 1], mixed[i : i + 1]) for i in range(4)])
    assert together.shape == x.shape
    assert not torch.allclose(together, net(x, mixed.flip(0)))  # it reads t
    assert torch.allclose(together, one_by_one, atol=1e-5)  # a batch may mix t
    net.register_forward_hook(lambda *_: calls.append(1))
    ddpm_loss(net, x, mixed, torch.randn(4, 2), plane_betas).backward()
    erratum(
        "explainers:5.5.c",
        r"backpropagation through the entire model (read as: through all $T$ steps)",
        r"through one call of the denoiser at one random $t$",
        printed_holds=len(calls) == len(plane_betas),
        corrected_holds=len(calls) == 1 and net.enter.weight.grad is not None,
    )

# %% [markdown] covers="wu:6.5 wu:6.5.1 moon:22.5"
# Train on the three clusters. Black is the exact score, red the learned one, $-\epsilon_\theta/\sqrt{1-\bar\alpha_t}$. **Find out** at which $t$ the learned score is worst. The formula tells why: the loss sees
# the error of the noise, and the error of the score is that, divided by $\sqrt{1-\bar\alpha_t}$. The second cell walks back with the learned score. It compares 1000 samples with real ones
# by the MMD, $\mathbb E\,k(x,x')+\mathbb E\,k(y,y')-2\,\mathbb E\,k(x,y)$ with the kernel $k(x,y)=e^{-\lVert x-y\rVert^2/2}$, which is 0 only for equal distributions.
#
# Then: would one network for each step be better? Ten steps and the same number of updates in total: 400 for a shared network, 40 for each of ten. What
# is learned at one $t$ may help at the next.

# %%
with after(ddpm_loss, q_sample):
    plane_data = sample_plane(4000, 51).float()
    plane_exact = unit_noise(PLANE["linear"])
    torch.manual_seed(1)
    plane_net = Denoiser(plane_betas, 2, 96)
    train(plane_net, plane_data, plane_betas, steps=600, batch=256, rate=4e-3)

    def draw_field(t):
        left = float(signal(PLANE["linear"])[t])
        eps = normal(400, 2, seed=52).float()
        cloud = left**0.5 * plane_data[:400] + (1 - left) ** 0.5 * eps
        some = cloud[:70]
        with torch.no_grad():
            learned = -plane_net(some, torch.full((70,), t)) / (1 - left) ** 0.5
        exact = -plane_exact(some.double(), t) / (1 - left) ** 0.5
        field = (some.numpy(), exact.numpy(), learned.numpy(), cloud.numpy())
        return pictures.draw_scores(*field, t, 100)

    slider = ipywidgets.IntSlider(30, min=1, max=100, step=1, description="step t")
    explore(draw_field, digits=0, t=slider)

# %%
with after(ddpm_loss, q_sample, ddpm_step):

    @torch.no_grad()
    def plane_says(x, t):
        return plane_net(x.float(), torch.full((len(x),), t)).double()

    def mmd(x, y):
        kernel = [
            torch.exp(-torch.cdist(a, b).square() / 2).mean()
            for a, b in ((x, x), (y, y), (x, y))
        ]
        return (kernel[0] + kernel[1] - 2 * kernel[2]).item()

    both = (PLANE["linear"], PLANE["linear"])  # betas and variances
    ends = pictures.denoising(ddpm_step, plane_says, *both, n=1000)[0]
    real, narrow = sample_plane(1000, 61), centres[:1].expand(1000, 2)
    found = pictures.mode_shares(ends, centres)
    assert np.abs(found - shares.numpy()).max() < 0.1
    assert mmd(torch.tensor(ends), real) < 0.02 < 0.2 < mmd(narrow, real)
    print("MMD to real points: samples below 0.02, one cluster alone above 0.2.")

# %%
with after(ddpm_loss, q_sample):
    ten = linear_betas(10, 0.01, 0.7)
    ten_exact = unit_noise(ten)

    def error(net_of):
        """Mean squared distance from the exact noise prediction, over the ten steps."""
        total = 0.0
        for t in range(1, 11):
            step, eps = torch.full((500,), t), normal(500, 2, seed=60 + t).float()
            x = q_sample(plane_data[:500], step, eps, ten.float())
            with torch.no_grad():
                off = net_of(t)(x, step) - ten_exact(x.double(), t)
            total += off.square().mean().item() / 10
        return total

    torch.manual_seed(2)
    shared, separate = Denoiser(ten, 2, 64), [Denoiser(ten, 2, 64) for _ in range(10)]
    train(shared, plane_data, ten.float(), 400, 128, 4e-3)
    for t, own in enumerate(separate, 1):
        train(own, plane_data, ten.float(), 40, 128, 4e-3, only_t=t)
    assert error(lambda t: separate[t - 1]) > 2 * error(lambda t: shared)
    print("Ten separate networks: more than twice the squared error of the shared one.")

# %% [markdown] covers="wu:6.8 wu:6.17.3 moon:22.5"
# ## 5. Digits
#
# Now real data in 64 dimensions, 200 steps of the cosine schedule. The network learns from 1200 images; 597 are kept aside. It is also told which digit it sees, so that you can ask for one.
# Training takes some five seconds of a CPU; on a GPU the same cell trains a wider network for longer.
#
# Of all functions of $x_t$, $t$ and the digit, one has the least training loss: the one that believes in the 1200 images and in nothing else. It is `best_guess` among the images of that digit.
# Below the second cell, the right-hand picture shows its loss on the images that it knows and on the new ones, and the network's on the new ones. At small $t$ the noise hides among the details. Only who knows
# the images by heart can tell them apart, and on new images that knowledge does harm. Only at large $t$, where nothing but the rough shape counts, is it slightly ahead.

# %%
known, new = slice(0, 1200), slice(1200, 1797)
labels = torch.tensor(digits.y)


def memoriser(xt, left, wanted):
    """The noise predictor with the least training loss. xt (n, 64), digits (n,)."""
    x0 = torch.zeros_like(xt)
    for k in wanted.unique():
        among = images[known][labels[known] == k]
        x0[wanted == k] = best_guess(xt[wanted == k], left, among)
    return (xt - left**0.5 * x0) / (1 - left) ** 0.5


with after(ddpm_loss, q_sample):
    here, T_digits = device(), 200
    betas_digits = cosine_betas(T_digits)
    torch.manual_seed(0)
    width = scale(cpu=256, gpu=512)
    artist = Denoiser(betas_digits, 64, width, labels=10).to(here)
    sizes = scale(cpu=(1000, 128, 4e-3), gpu=(2000, 256, 2e-3))
    pixels, to_learn = images[known].float().to(here), labels[known].to(here)
    losses = train(artist, pixels, betas_digits.float().to(here), *sizes, to_learn)

# %%
with after(ddpm_loss, q_sample):

    @torch.no_grad()
    def artist_says(x, t, wanted):
        steps = torch.full((len(x),), t, device=here)
        return artist(x.float().to(here), steps, wanted.to(here)).double().cpu()

    abar_digits = pictures.signal_left(betas_digits)
    levels, curves = [1, 2, 5, 10, 20, 40, 70, 100, 150], [[], [], []]
    for t in levels:
        for rows, curve in ((new, 0), (new, 1), (known, 2)):
            x0, wanted, left = images[rows], labels[rows], float(abar_digits[t])
            eps = normal(len(x0), 64, seed=t)
            x = q_sample(x0, torch.full((len(x0),), t), eps, betas_digits).double()
            says = memoriser(x, left, wanted) if curve else artist_says(x, t, wanted)
            curves[curve].append((says - eps).square().mean().item())
    assert curves[1][3] > 5 * curves[0][3]  # t = 10: by heart is no help
    show(*pictures.draw_training(losses.numpy(), levels, *curves), digits=0)

# %%
with after(ddpm_loss, q_sample, ddpm_step):

    def paint(wanted, seed):
        """Digits (n,) -> states and guesses of x_0 at times 0 … T, (T + 1, n, 64)."""
        x0_at = [None] * (T_digits + 1)

        def says(x, t):
            eps_hat, left = artist_says(x, t, wanted), abar_digits[t]
            x0_at[t] = (x - (1 - left) ** 0.5 * eps_hat) / left**0.5
            return eps_hat

        n, noise = len(wanted), (betas_digits, betas_digits)
        way = pictures.denoising(ddpm_step, says, *noise, n=n, d=64, seed=seed)
        return way, np.stack([way[0], *[x0.numpy() for x0 in x0_at[1:]]])

    way, x0_guesses = paint(torch.arange(10).repeat(4), seed=1)
    show(*pictures.draw_digits(way[0], range(10)), digits=0)
    explore(
        lambda t: pictures.draw_denoising(way[:, :10], x0_guesses[:, :10], t),
        digits=0,
        t=ipywidgets.IntSlider(85, min=0, max=195, step=5, description="time t"),
    )

# %% [markdown]
# ### Are they good, and are they new?
#
# Good: a classifier trained on the same 1200 real digits should read what we asked for. New: the nearest training image should be about as far away as real digits are from each
# other. (A blurred digit would be far away too; that is why we need both.) **Predict:** what will the `memoriser` draw?

# %%
with after(ddpm_loss, q_sample, ddpm_step):
    from sklearn.svm import SVC

    judge, asked = SVC(gamma=0.05).fit(images[known], labels[known]), torch.arange(10)
    drawn = torch.tensor(paint(asked.repeat(20), seed=2)[0][0])
    assert judge.score(drawn, asked.repeat(20)) > 0.9
    assert judge.score(images[new], labels[new]) > 0.9
    print("Read as asked for: more than 90 %. Real new digits: more than 90 %.")

    def by_heart(x, t):
        return memoriser(x, float(abar_digits[t]), asked.repeat(10))

    def nearest(x):
        """Median distance to the nearest image of the training set."""
        return torch.cdist(x, images[known]).min(1).values.median().item()

    noise = (betas_digits, betas_digits)
    recited = pictures.denoising(ddpm_step, by_heart, *noise, n=100, d=64)[0]
    recited, real = nearest(torch.tensor(recited)), nearest(images[new])
    assert recited < 0.01 and real / 1.6 < nearest(drawn) < 1.6 * real
    print(
        f"Distance to the nearest training image: new real ones {real:.1f}, "
        f"ours up to 1.6 times that, the memoriser's {recited:.2f}."
    )

# %% [markdown] written="why_not_perfect" points=2 minutes=8
# **In your own words** (about five sentences). Of all functions, the one with the least training loss draws copies of the training images only. Why? And why does the
# trained network, whose training loss is larger, draw new digits? Which of the two is nearer to the score of the distribution that the digits came from, and which picture above shows it?
#
# ### BEGIN SOLUTION
# The loss is an average over the training images, so its minimiser is the exact predictor for the distribution that puts 1/1200 on each of them. Sampling with the exact
# predictor reproduces that distribution, and its samples are its points: copies. The network has too few updates and too smooth a form to single out each image;
# it averages over neighbours, so that what it has learned is a smoothed version of that score, with mass between the images. That is a worse fit to the sample, but nearer to the
# score of the distribution that the images were drawn from: on new images its loss is far below the memoriser's at small t. To generalise means to be near that score, not near the minimiser.
#
# **Rubric**
#
# - 0.5: the loss averages over the training images, so its minimiser belongs to the distribution on them, whose samples are copies
# - 0.5: the network cannot single out each image: it smooths
# - 0.5: the network is nearer to the score of the distribution behind the digits
# - 0.5: names the picture of the loss on new images, which lies far below the memoriser's at small $t$
# ### END SOLUTION

# %% [markdown]
# ## What to take away
#
# - $x_t=\sqrt{\bar\alpha_t}x_0+\sqrt{1-\bar\alpha_t}\,\epsilon$: any step in one shot. With $\beta$ from $10^{-4}$ to $0.02$, $\bar\alpha_{1000}=4.04\cdot10^{-5}$.
# - Score, clean sample and noise are one prediction in three units. The loss is regression on the noise, at one random $t$.
# - The step back takes away $\beta_t/\sqrt{1-\bar\alpha_t}$ of the predicted noise, undoes the shrinking, and adds fresh noise (none at $t=1$ if the data are as fine as images).
# - $L_{\text{simple}}$ is the bound without its weights; with $\sigma_t^2=\beta_t$ the bound weighs the first step 49 times the last.
# - On finite data the perfect predictor recites. What is new comes from what the network does *not* fit.
#
# Next: [[15/04|samplers]] walk back in fewer steps, and without noise.
#
# ## What the notes got wrong
#
# | where | slip | what happens |
# | --- | --- | --- |
# | wu 6.8.3 | $\sigma^2/t$ for $1/t$ | samples three times too wide here |
# | moon 22.5 | $\Sigma_t z$ for $\sigma_t z$; $L_t$ means two things; the weight vanishes | clusters too tight; a term of the bound is lost |
# | wu 6.8.3, 6.17.3, moon 22.5 | noise at $t=1$ | dirt where the data are finer than that noise; in the last two it would be exact for $N(0,I)$ |
# | wu 6.8.1 | "good conditioning" | the target's variance grows $T$-fold |
# | wu 6.17.2 | the variance is always 1 | only if $\mathrm{Var}(x_0)=1$ |
# | guo VI.3 | no "given $X_0$", $B_t$ for $\beta_t$, a minus for an equals sign, $X_0\in\mathbb R$; $\Sigma_t(X_t,t)$ for $\Sigma_\theta(X_t,t)$ | with $\Sigma_t=\beta_t$ a variance below zero from $t=2$ on |
# | moon 22.2 | merged noise keeps its name, "sample $x_t$", $\odot$ with numbers, the product index of (22.9) | equal in distribution only |
# | explainers 5.5 | $\beta\in[0,1]$; gradients through "the entire model" is ambiguous; $x_T\in N$; $\sigma_1$ left free | division by zero; one call suffices |

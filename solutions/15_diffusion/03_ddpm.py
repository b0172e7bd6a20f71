# %% [markdown] minutes=90 builds="a diffusion model that draws handwritten digits on request"
# # DDPM: learn the noise, then walk back
#
# Turning a picture into noise is easy: add a little noise, again and again. This notebook learns the way back. It mirrors
#
# - wu 6.5.1–6.5.7, 6.8 (noise that adds up) and 6.17 (noise that keeps the variance),
# - moon 22.2 and 22.5, guo VI.3, explainers 5.5.
#
# Five graded exercises and one written answer, about 90 minutes. The last section trains a model that draws digits.

# %%
import math

import ipywidgets
import matplotlib.pyplot as plt
import numpy as np
import sympy
import torch
from torch import nn

from descent import after, check, data, device, erratum, explore, predict, scale, show, start
from descent.plots import BLACK, BLUE, GREEN, VERMILION
from descent.widgets import ddpm as pictures

start("15_diffusion/03_ddpm")

# %% [markdown]
# ## Why it matters
#
# A real digit sinks into noise, from left to right. Below each picture stands the best guess that anybody could make of the clean digit, if all
# 1797 digits of the data are equally likely: their average, weighted by how well each explains what is seen.
#
# **Look:** in deep noise the guess is the mean of all digits, and with every bit of noise removed it commits itself a little more. A sampler that
# goes through all levels, from right to left, makes its decisions one at a time. That is the whole idea.

# %%
digits = data.digits()
images = torch.tensor(digits.X) / 8 - 1                    # (1797, 64), pixels from -1 to 1


def best_guess(xt, abar):
    """E[x0 | xt] when x0 is one of `images`, all equally likely. xt (n, 64), 0 < abar < 1 -> (n, 64)."""
    fit = (abar**0.5 * xt @ images.T - abar * images.square().sum(1) / 2) / (1 - abar)
    return torch.softmax(fit, dim=1) @ images


# %% demo=true
abar_1000 = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 1000, dtype=torch.float64), 0)
steps = [10, 100, 200, 300, 400, 500, 700, 1000]
eps = torch.randn(64, generator=torch.Generator().manual_seed(7), dtype=torch.float64)
seen = torch.stack([abar_1000[t - 1].sqrt() * images[17] + (1 - abar_1000[t - 1]).sqrt() * eps for t in steps])
guess = torch.stack([best_guess(x[None], float(abar_1000[t - 1]))[0] for x, t in zip(seen, steps)])
off = (guess - images[17]).square().mean(1).sqrt()
show(pictures.draw_strip(seen, steps, guess), "Top: the digit 7 after " + ", ".join(map(str, steps)) + " steps of noise. Bottom: the best guess of the clean "
     f"digit, off by {off[1]:.1f} per pixel at t = 100 and by {off[-1]:.1f}, as far as the mean of all digits, at t = 1000.")

# %% [markdown] covers="guo:VI.3"
# **You will be able to** noise data in one shot, state the reverse step and its variance, train a noise predictor, sample from it, and find three
# kinds of error that lecture notes make here.
#
# Read the model as a variational autoencoder (VAE) with many layers. The latents $x_1,\dots,x_T$ all have the shape of the data $x_0$. The encoder
# $q(x_t\mid x_{t-1})$ adds noise and is *fixed*; only the decoder $p_\theta(x_{t-1}\mid x_t)$ is learned, and the model's density is
# $p_\theta(x_0)=\int p_\theta(x_0,\dots,x_T)\,dx_1\cdots dx_T$. A VAE with one layer of noise is weak and one with many trained layers is hard to
# train. Here there are a thousand layers, and each has a small, easy job.

# %%
erratum("guo:VI.3", r"$X_0\in\mathbb R$, then $x_t\in\mathbb R^{D_1\times D_2}$", r"$X_0$ and every $X_t$ lie in the same space $\mathbb R^{D_1\times D_2}$",
        printed_holds=images[0].numel() == 1, corrected_holds=pictures.noised(images[0], [0.1], 1).shape == images[0].shape)

# %% [markdown] covers="wu:6.5 wu:6.8"
# ## 1. Noise that adds up
#
# Add independent noise of variance $\sigma^2$ in each of $T$ steps: $x_t = x_{t-1} + e_t$, $e_t\sim N(0,\sigma^2 I)$. After $t$ steps the *cumulative noise* is
# $\epsilon_t = x_t - x_0 = e_1+\dots+e_t \sim N(0, t\sigma^2 I)$.
#
# For small $\sigma^2$ the step back is Gaussian too, and it leans uphill on the density $p_t$ of the noised data:
#
# $$p(x_{t-1}\mid x_t) \approx N\big(x_t+\sigma^2 s(x_t,t),\ \sigma^2 I\big),\qquad s(x,t)=\nabla_x\log p_t(x)\ \text{(the score).}$$
#
# So modelling, learning and sampling reduce to one vector field $s$. Before we learn one, take data whose score is known: a mixture of Gaussians.

# %%
def mixture_score(x, means, sd, weights, a, v):
    """Score of a·x0 + N(0, v I), x0 from the mixture of N(means[k], sd² I). x (n, d), means (k, d), weights (k,) -> (n, d)."""
    var = a**2 * sd**2 + v
    gaps = a * means - x[:, None]                                   # (n, k, d)
    share = torch.softmax(weights.log() - gaps.square().sum(-1) / (2 * var), dim=1)
    return (share[..., None] * gaps).sum(1) / var


def normal(*shape, seed):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


T, sigma2 = 400, 0.05
means, weights, sd = torch.tensor([[-1.6], [1.6]]).double(), torch.tensor([0.5, 0.5]).double(), 0.5
data_sd = math.sqrt(sd**2 + 1.6**2)

# %% [markdown] covers="wu:6.5.4 wu:6.5.5"
# ### Three names for one prediction
#
# Who knows the score knows the best guess of the clean sample, and of the noise in it:
#
# $$\hat x_0 = \mathbb E[x_0\mid x_t] = x_t+t\sigma^2 s(x_t,t),\qquad \hat\epsilon = \mathbb E[\epsilon_t\mid x_t] = x_t-\hat x_0 = -t\sigma^2 s(x_t,t).$$
#
# The cell checks both. The score is compared with the derivative that torch takes, the guess with an average over a fine grid of $x_0$.

# %%
t, x = 100, torch.linspace(-6, 6, 41).double()[:, None].requires_grad_(True)
parts = -(x - means.T).square() / (2 * (sd**2 + t * sigma2)) + weights.log()
slope = torch.autograd.grad(torch.logsumexp(parts, 1).sum(), x)[0]
score = mixture_score(x.detach(), means, sd, weights, 1, t * sigma2)
assert torch.allclose(score, slope)

grid = torch.linspace(-5, 5, 2001).double()
prior = (weights * torch.exp(-(grid[:, None] - means.T).square() / (2 * sd**2))).sum(1)
belief = prior * torch.exp(-(x.detach() - grid).square() / (2 * t * sigma2))          # p(x0) p(xt | x0)
x0_hat = (belief * grid).sum(1, keepdim=True) / belief.sum(1, keepdim=True)
assert torch.allclose(x0_hat, x.detach() + t * sigma2 * score)                       # clean sample from score
assert torch.allclose(x.detach() - x0_hat, -t * sigma2 * score)                      # noise from score

# %% [markdown] covers="wu:6.5.2"
# ### Two losses for one score
#
# The score can be learned by regression on the step before, or on the clean sample:
#
# $$\mathbb E\lVert x_{t-1}-(x_t+\sigma^2 s_\theta)\rVert^2\qquad\text{or}\qquad \mathbb E\lVert x_0-(x_t+t\sigma^2 s_\theta)\rVert^2,\qquad t\ \text{uniform on}\ 1,\dots,T.$$
#
# Divide the first by $\sigma^4$ and the second by $(t\sigma^2)^2$: then $s_\theta$ is fitted to $-e_t/\sigma^2$ or to $-\epsilon_t/(t\sigma^2)$. Both have
# mean $s$ given $x_t$, so both have the same minimiser. They differ in noise.

# %%
def gradients_at(t, n=40_000):
    """For s_theta = c·s at c = 1: single-sample gradients in c of the two losses, and the best c of each."""
    component = torch.randint(2, (n,), generator=torch.Generator().manual_seed(t))
    e, past = normal(n, 1, seed=t + 1) * sigma2**0.5, normal(n, 1, seed=t + 2) * ((t - 1) * sigma2) ** 0.5
    xt = means[component] + sd * normal(n, 1, seed=t + 3) + past + e
    s = mixture_score(xt, means, sd, weights, 1, t * sigma2)
    targets = -e / sigma2, -(past + e) / (t * sigma2)
    return [((2 * s * (s - y)).var().item(), ((y * s).mean() / s.square().mean()).item()) for y in targets]


(noisy_prev, best_prev), (noisy_clean, best_clean) = gradients_at(100)
assert abs(best_prev - 1) < 0.2 and abs(best_clean - 1) < 0.02        # the minimiser is the true score: c = 1


# %%
def draw_targets():
    times = [1, 3, 10, 30, 100, 300]
    variance = np.array([[part[0] for part in gradients_at(t)] for t in times])
    fig, ax = plt.subplots()
    ax.loglog(times, variance[:, 0], "o-", label="target: previous state")
    ax.loglog(times, variance[:, 1], "s--", label="target: clean sample")
    ax.set(xlabel="step t", ylabel="variance of one gradient", title="The clean sample is the quieter teacher")
    ax.legend()
    ratio = variance[4, 0] / variance[4, 1]
    return fig, f"At t = 1 the two gradients have the same variance; at t = 100 that of the previous-state target is about {round(ratio, -1):.0f} times larger."


predict(
    "At t = 100, how many samples with the target x_{t-1} give as accurate a gradient as one sample with the target x_0?",
    ["one: the minimiser is the same", "about 10", "about 100", "none: the second loss is biased"],
    truth=2,
    because="One step's noise says little about the score: its variance is 1/σ², that of the averaged noise of t steps 1/(tσ²).",
    then=draw_targets,
)

# %% [markdown] covers="wu:6.5.3 wu:6.5.6"
# ### Walking back
#
# Start with $x_T\sim N(0,T\sigma^2 I)$ and let the score be your compass: $x_{t-1}=x_t+\sigma^2 s(x_t,t)+\sigma z_t$, with $z_t\sim N(0,I)$.
# In the language of noise, with $\hat\epsilon=-t\sigma^2 s$, a step takes away a part of the predicted noise and adds fresh noise.
#
# Which part? Algorithm 5 of the notes says $\sigma^2/t$. Here it is, as printed, on the two-mode data, with the *exact* noise predictor.

# %%
def exact_noise(x, t):
    """E[x_t - x_0 | x_t = x] for the two-mode data. x (n, 1), t an integer -> (n, 1)."""
    return -t * sigma2 * mixture_score(x, means, sd, weights, 1, t * sigma2)


def algorithm_5(eps_model, x_T, z, sigma2):
    """As printed. x_T (n, d), z (T, n, d) -> x_0 (n, d); z[t - 1] is the noise of step t."""
    x = x_T
    for t in range(len(z), 0, -1):
        x = x - sigma2 / t * eps_model(x, t) + sigma2**0.5 * z[t - 1]
    return x


x_T, z = normal(20_000, 1, seed=0) * (T * sigma2) ** 0.5, normal(T, 20_000, 1, seed=1)
sd_printed = algorithm_5(exact_noise, x_T, z, sigma2).std().item()

# %%
predict(
    f"The data have standard deviation {data_sd:.2f}, the starting noise {math.sqrt(T * sigma2):.2f}. What will the samples of the printed algorithm have?",
    ["close to 0: everything collapses", f"{data_sd:.2f}, as it should be", "more than 5: wider than the noise it began with"],
    truth=lambda: 0 if sd_printed < 1 else 1 if sd_printed < 2 else 2,
    because=f"Measured: {sd_printed:.1f}. The walk is nearly free of its compass. A single factor is wrong.",
)

# %% exercise="sample_ve" points=2 minutes=12 difficulty=2 covers="wu:6.8.3"
def sample_ve(eps_model, x_T, z, sigma2):
    """Algorithm 5, repaired: from x_T to x_0 with a predictor of the cumulative noise.

    eps_model: (x (n, d), t an integer) -> predicted x_t - x_0 (n, d), the noise of all t steps together.
    x_T (n, d), z (T, n, d) standard normal, sigma2 > 0: variance of one step -> x_0 (n, d).
    Step t = T, ..., 1 uses z[t - 1], but the last step (t = 1) adds no noise.
    With T = 1: sample_ve(lambda x, t: 0.5 * x, torch.tensor([[2.0]]), torch.ones(1, 1, 1), 9.0) gives [[1.0]].
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
def draw_repair(printed, repaired):
    fig, ax = plt.subplots()
    bins = np.linspace(-15, 15, 121)
    ax.hist(printed[:, 0].numpy(), bins, density=True, histtype="step", linestyle="--", color=VERMILION, label=f"printed: sd {printed.std():.1f}")
    ax.hist(repaired[:, 0].numpy(), bins, density=True, histtype="step", color=BLUE, label=f"repaired: sd {repaired.std():.2f}")
    x = np.linspace(-15, 15, 600)
    ax.plot(x, sum(np.exp(-((x - m) ** 2) / (2 * sd**2)) for m in (-1.6, 1.6)) / (2 * sd * math.sqrt(2 * math.pi)), color=BLACK, linestyle=":", label="data")
    ax.set(xlabel="x", ylabel="density", title="One factor decides whether the walk arrives")
    ax.legend()
    right = (repaired > 0).double().mean()
    return fig, f"Samples by the printed rule have sd {printed.std():.1f}, repaired {repaired.std():.2f}; the data {data_sd:.2f}. Repaired, {right:.0%} lie in the right mode (data: 50%)."


with after(sample_ve):
    show(*draw_repair(algorithm_5(exact_noise, x_T, z, sigma2), sample_ve(exact_noise, x_T, z, sigma2)))

# %% [markdown]
# Is the repair the same walk as the one with the score? And how near does it come? $W_1$ below is the mean distance between sorted samples and
# equally many sorted data points. With noise in the last step too, the samples keep its variance: $1.66^2+\sigma^2\approx1.675^2$.

# %%
with after(sample_ve):
    by_noise, by_score = sample_ve(exact_noise, x_T, z, sigma2), x_T
    for t in range(T, 0, -1):
        by_score = by_score + sigma2 * mixture_score(by_score, means, sd, weights, 1, t * sigma2) + (t > 1) * sigma2**0.5 * z[t - 1]
    assert torch.allclose(by_noise, by_score)
    truth = (means[torch.arange(20_000) % 2] + sd * normal(20_000, 1, seed=5)).sort(0).values
    w1 = (by_noise.sort(0).values - truth).abs().mean().item()
    noisy_end = by_noise + sigma2**0.5 * z[0]
    print(f"W1 to the data {w1:.2f}; sd {by_noise.std():.2f}, with noise in the last step {noisy_end.std():.2f}")
    erratum("wu:6.8.3", r"$x_{t-1}=x_t-\frac{\sigma^2}{t}\epsilon_\theta+\sigma z_t$ for $t=T,\dots,1$", r"$x_{t-1}=x_t-\frac1t\epsilon_\theta+\sigma z_t$, and $z_1=0$",
            printed_holds=abs(sd_printed / data_sd - 1) < 0.03, corrected_holds=abs(by_noise.std().item() / data_sd - 1) < 0.03 and w1 < 0.06)

# %% [markdown] covers="wu:6.8.1 wu:6.8.2"
# ### Is the noise a well-sized target?
#
# Algorithm 4 trains on this target: draw a batch $x_0$; for each row $t\sim\text{Uniform}\{1,\dots,T\}$ and $\epsilon_t\sim N(0,t\sigma^2I)$; step down the gradient of
# $\frac1B\sum\lVert\epsilon_t-\epsilon_\theta(x_0+\epsilon_t,t)\rVert^2$. The notes praise its conditioning. Look at the sizes.
# A network that says 0 has loss $t\sigma^2$. The best possible predictor, for Gaussian data of variance $V_0$, has
# $V_0\,t\sigma^2/(V_0+t\sigma^2)$, which never exceeds $V_0$. For a *unit* target $\epsilon_t/\sqrt{t\sigma^2}$ both are divided by $t\sigma^2$.

# %%
V0, n = data_sd**2, 20_000
rows = torch.randint(1, T + 1, (n,), generator=torch.Generator().manual_seed(2))          # one t for each row
eps_t = normal(n, 1, seed=3) * (rows[:, None] * sigma2) ** 0.5
x_t = V0**0.5 * normal(n, 1, seed=4) + eps_t
best = x_t * (rows[:, None] * sigma2) / (V0 + rows[:, None] * sigma2)
late = rows > T // 2
share_late = (eps_t[late].square().sum() / eps_t.square().sum()).item()
least = V0 * rows * sigma2 / (V0 + rows * sigma2)
assert abs((eps_t - best).square().mean() / least.mean() - 1) < 0.05                      # the closed form, measured
assert abs(share_late - 0.75) < 0.02                                                      # late half: 3/4 of the loss


# %%
def draw_sizes():
    t = np.arange(1, T + 1)
    v = t * sigma2
    fig, ax = plt.subplots()
    ax.loglog(t, v, color=VERMILION, label="cumulative noise: says 0")
    ax.loglog(t, V0 * v / (V0 + v), color=VERMILION, linestyle="--", label="cumulative noise: the best")
    ax.loglog(t, np.ones(T), color=BLUE, label="unit noise: says 0")
    ax.loglog(t, V0 / (V0 + v), color=BLUE, linestyle="--", label="unit noise: the best")
    ax.set(xlabel="step t", ylabel="expected squared error", title=f"Untrained, {share_late:.0%} of the additive loss is in the late half")
    ax.legend()
    return fig, f"The loss of a network that says 0 grows from {sigma2} to {T * sigma2:.0f} for the cumulative noise and stays 1 for unit noise; the late half of the steps holds {share_late:.0%} of it."


show(*draw_sizes())
spread = [eps_t[rows <= 40].var().item(), eps_t[rows > 360].var().item()]
unit = eps_t / (rows[:, None] * sigma2) ** 0.5
erratum("wu:6.8.1", r"the loss of cumulative noise is well conditioned, without scale factors", r"the target's variance is $t\sigma^2$, so it changes $T$-fold; unit-variance targets (6.17.3) do not",
        printed_holds=0.8 < spread[1] / spread[0] < 1.25, corrected_holds=0.8 < unit[rows > 360].var().item() / unit[rows <= 40].var().item() < 1.25)

# %% [markdown] covers="wu:6.17 wu:6.17.1 guo:VI.3.a explainers:5.5.a moon:22.2"
# ## 2. Noise that keeps the variance
#
# So shrink a little before adding noise. With a *schedule* $\beta_1,\dots,\beta_T\in(0,1)$ and $\alpha_t=1-\beta_t$:
#
# $$q(x_t\mid x_{t-1})=N\big(\sqrt{\alpha_t}\,x_{t-1},\ \beta_t I\big),\qquad q(x_{1:T}\mid x_0)=\prod_{t=1}^T q(x_t\mid x_{t-1}).$$
#
# A variance $v$ becomes $\alpha_t v+\beta_t$: it is pulled to 1 and stays there. Ho et al. take $T=1000$ and $\beta_t$ evenly spaced from $10^{-4}$ to $0.02$. The
# cosine schedule sets $\bar\alpha_t=\prod_{s\le t}\alpha_s\propto\cos^2$ instead. Why so many small steps? Hearing "he is from Germany" you cannot name
# the town; with every small hint on the way back you can, and each hint is easy to learn.
#
# In code `betas[t - 1]` is $\beta_t$: steps count from 1, lists from 0.

# %%
def linear_betas(T, first=1e-4, last=0.02):
    return torch.linspace(first, last, T, dtype=torch.float64)


def cosine_betas(T, offset=0.008):
    time = torch.linspace(0, 1, T + 1, dtype=torch.float64)
    signal = torch.cos((time + offset) / (1 + offset) * math.pi / 2).square()
    return (1 - signal[1:] / signal[:-1]).clamp(max=0.999)


SCHEDULES = {"linear": linear_betas(1000), "cosine": cosine_betas(1000), "constant": torch.full((1000,), 0.01).double()}
variance = {0.0: [0.0], 1.0: [1.0], 4.0: [4.0]}                             # by the variance of the data
for course in variance.values():
    for beta in SCHEDULES["linear"]:
        course.append((1 - beta) * course[-1] + beta)
assert all(abs(v - 1) < 1e-12 for v in variance[1.0])                       # 1 stays 1
assert all(abs(course[-1] - 1) < 2e-4 for course in variance.values())      # everything ends at 1

# %% [markdown] covers="guo:VI.3.b wu:6.17.2"
# ### All steps in one shot
#
# Two steps give $x_2=\sqrt{\alpha_1\alpha_2}\,x_0+\sqrt{\alpha_2\beta_1}\,\epsilon_1+\sqrt{\beta_2}\,\epsilon_2$. Independent Gaussians add their *variances*, so the two noises act like
# one of variance $\alpha_2\beta_1+\beta_2$. If that is $1-\alpha_1\alpha_2$, induction gives, with $\bar\alpha_t=\prod_{s\le t}\alpha_s$ and $\bar\alpha_0=1$,
#
# $$q(x_t\mid x_0)=N\big(\sqrt{\bar\alpha_t}\,x_0,\ (1-\bar\alpha_t) I\big),\qquad x_t=\sqrt{\bar\alpha_t}\,x_0+\sqrt{1-\bar\alpha_t}\;\epsilon,\quad \epsilon\sim N(0,I).$$
#
# The cell proves both steps with symbols, then checks the theorem step by step and the numbers of the schedule.

# %%
a1, a2, a_t, abar_before = sympy.symbols("alpha_1 alpha_2 alpha_t abar_before", positive=True)
assert sympy.expand(a2 * (1 - a1) + (1 - a2) - (1 - a1 * a2)) == 0                            # two steps
assert sympy.expand(a_t * (1 - abar_before) + (1 - a_t) - (1 - a_t * abar_before)) == 0       # t - 1 to t

betas = SCHEDULES["linear"]
abar = torch.cat([torch.ones(1).double(), torch.cumprod(1 - betas, 0)])                       # abar[t], abar[0] = 1
factor, noise = 1.0, 0.0
for t, beta in enumerate(betas, 1):
    factor, noise = (1 - beta).sqrt() * factor, (1 - beta) * noise + beta
    assert torch.isclose(factor, abar[t].sqrt()) and torch.isclose(noise, 1 - abar[t])
assert np.allclose(abar[[100, 250, 500]], [0.897, 0.524, 0.0786], atol=5e-4)
print(f"abar_1000 = {abar[1000]:.2e}, half of the power is gone at t = {(abar - 0.5).abs().argmin()}")

# %% exercise="q_sample" points=2 minutes=8 difficulty=1 covers="guo:VI.3.b moon:22.2"
def q_sample(x0, t, eps, betas):
    """Noise each row of x0 in one shot: x_t given x_0 and the standard normal noise eps.

    x0, eps (n, d), t (n,) integers in 1..T (each row has its own), betas (T,) with betas[t - 1] = beta_t -> (n, d).
    q_sample([[1.]], [2], [[0.]], [0.5, 0.5]) gives [[0.5]] (all of them tensors): half of the power is lost twice.
    """
    ### BEGIN SOLUTION
    abar = torch.cumprod(1 - betas, 0)[t - 1][:, None]
    return abar.sqrt() * x0 + (1 - abar).sqrt() * eps
    ### END SOLUTION

# %% check="q_sample"
check(q_sample)


# %%
def draw_shortcut(chain, shot, t):
    quantiles = np.linspace(0.005, 0.995, 100)
    one, other = np.quantile(chain, quantiles), np.quantile(shot, quantiles)
    fig, ax = plt.subplots(figsize=(4.6, 4.2))
    ax.plot(one, other, "o", markersize=4)
    ax.plot([-3, 3], [-3, 3], color=BLACK, linestyle="--")
    ax.set(xlabel=f"quantiles after {t} single steps", ylabel="quantiles in one shot", title="The same distribution")
    return fig, f"Quantiles of {len(chain)} points after {t} single steps against the closed form: at most {np.abs(one - other).max():.1f} apart. Sd {chain.std():.2f} and {shot.std():.2f}."


with after(q_sample):
    start_points = means[torch.arange(8000) % 2] / data_sd + sd / data_sd * normal(8000, 1, seed=6)
    chain = pictures.noising(start_points, betas[:200], seed=7)[-1]
    shot = q_sample(start_points, torch.full((8000,), 200), normal(8000, 1, seed=8), betas)
    show(*draw_shortcut(chain[:, 0], shot[:, 0].numpy(), 200), digits=1)

# %% [markdown]
# ### Choose a schedule
#
# The dot marks the step where signal and noise are equally strong. **Find out:** on which schedule is a digit readable for longest? On which are the last 300 steps
# nearly wasted, because there is nothing left to destroy? The constant schedule does not increase at all. Does it fail to reach noise?

# %%
explore(
    lambda schedule, t: pictures.draw_schedule(SCHEDULES, schedule, t, images[17]),
    schedule=ipywidgets.Dropdown(options=list(SCHEDULES), description="schedule"),
    t=ipywidgets.IntSlider(259, min=0, max=1000, step=1, description="step t"),
)

# %% [markdown]
# **What the notes print here.** Increasing $\beta$ is a habit: all three schedules end near 0 signal. The ends of the interval are not allowed: $\beta=1$
# erases everything ($\alpha_t=0$ stands below a fraction on the way back) and $\beta_1=0$ makes $1-\bar\alpha_1=0$. In moon's (22.6) two noises $\epsilon_{t-1},\epsilon_{t-2}$ merge and keep
# a name; they agree in law only. And each $\sqrt{\beta_t}$ is a number, so $\odot$ means nothing there.

# %%
x0 = torch.tensor([[-1.0], [1.0]]).double().repeat(20_000, 1)
e1, e2, e3 = (normal(40_000, 1, seed=s) for s in (11, 12, 13))
a, b = 0.7, 0.6                                        # alpha_1, alpha_2
x1 = a**0.5 * x0 + (1 - a) ** 0.5 * e1
pair, merged = (b * (1 - a)) ** 0.5 * e1 + (1 - b) ** 0.5 * e2, (1 - a * b) ** 0.5 * e1
x2 = b**0.5 * x1 + (1 - b) ** 0.5 * e2
def close(got, want):
    return abs(float(got) - want) < 0.02               # some four standard errors


def way_back_exists(beta):                             # the two factors of the step back, after one step of noise
    return bool(torch.stack([1 / (1 - beta).sqrt(), beta / beta.sqrt()]).isfinite().all())


erratum("explainers:5.5.a", r"$\beta_1<\dots<\beta_T$ with $\beta_t\in[0,1]$", r"$\beta_t\in(0,1)$; increasing is a habit, not a need",
        printed_holds=way_back_exists(torch.tensor([0.0, 0.5, 1.0])), corrected_holds=way_back_exists(torch.tensor([0.001, 0.5, 0.999])) and float((1 - SCHEDULES["constant"]).prod()) < 1e-4)
erratum("guo:VI.3.a", r"$q(X_1,\dots,X_T)=\prod_t q(X_t\mid X_{t-1})$, with $\Sigma_t=B_t\,\mathrm{Id}$", r"$q(X_1,\dots,X_T\mid X_0)=\prod_t q(X_t\mid X_{t-1})$, with $\Sigma_t=\beta_t\,\mathrm{Id}$",
        printed_holds=close(x1.var(), 1 - a), corrected_holds=close(x1[x0 > 0].var(), 1 - a))
erratum("guo:VI.3.b", r"$q(X_t\mid X_0)=N(\sqrt{\bar\alpha_t}X_0,\ \Sigma_t-(1-\bar\alpha_t)\mathrm{Id})$", r"$q(X_t\mid X_0)=N(\sqrt{\bar\alpha_t}X_0,\ \Sigma_t=(1-\bar\alpha_t)\mathrm{Id})$",
        printed_holds=close(x2[x0 > 0].var(), (1 - b) - (1 - a * b)), corrected_holds=close(x2[x0 > 0].var(), 1 - a * b))
erratum("moon:22.2", r"(22.6) the merged noise is $\epsilon_{t-2}$; step 1: sample $x_t$ and scale it", r"a new $\epsilon\sim N(0,I)$, equal in law only; sample $x_{t-1}$ and scale it",
        printed_holds=bool(torch.allclose(pair, merged, atol=0.1)), corrected_holds=close(pair.var(), 1 - a * b) and close(x2.var(), b * x1.var() + 1 - b))
erratum("wu:6.17.2", r"Remark 32: the variance is always $\bar\alpha_t+(1-\bar\alpha_t)=1$", r"it is $\bar\alpha_t\mathrm{Var}(x_0)+1-\bar\alpha_t$, and 1 only where $\mathrm{Var}(x_0)=1$",
        printed_holds=close((2 * a**0.5 * x0 + (1 - a) ** 0.5 * e3).var(), 1), corrected_holds=close((2 * a**0.5 * x0 + (1 - a) ** 0.5 * e3).var(), 4 * a + 1 - a))

# %% [markdown] covers="moon:22.4 guo:VI.3.c"
# ## 3. One step back
#
# The reverse process is a chain $p_\theta(x_{t-1}\mid x_t)=N\big(\mu_\theta(x_t,t),\Sigma_\theta(x_t,t)\big)$ from $x_T\sim N(0,I)$. What should its networks aim at? With $x_0$ in hand,
# Bayes' rule gives the answer: as functions of $x_{t-1}$, both factors are Gaussian,
#
# $$q(x_{t-1}\mid x_t,x_0)\ \propto\ \underbrace{N\big(x_t;\sqrt{\alpha_t}\,x_{t-1},\beta_t I\big)}_{\text{one more step}}\ \underbrace{N\big(x_{t-1};\sqrt{\bar\alpha_{t-1}}\,x_0,(1-\bar\alpha_{t-1})I\big)}_{t-1\text{ steps}}.$$
#
# In a product of Gaussians the precisions (1/variance) add, and the mean is the average of the two means, weighted by precision.

# %% exercise="posterior" points=3 minutes=15 difficulty=3 covers="moon:22.4"
def posterior(x0, xt, t, betas):
    """Mean and variance of q(x_{t-1} | x_t, x_0) = N(mean, var I).

    x0, xt (n, d), t (n,) integers in 1..T, betas (T,) -> the pair mean (n, d), var (n,).
    It must also hold at t = 1, where abar_0 = 1: mean x0, variance 0.
    For x0 = [[0.]], xt = [[1.]], t = [2], betas = [0.5, 0.5]: mean [[0.4714]], var [0.3333].
    """
    ### BEGIN SOLUTION
    abar = torch.cat([torch.ones_like(betas[:1]), torch.cumprod(1 - betas, 0)])
    before, now, beta = abar[t - 1], abar[t], betas[t - 1]
    from_x0 = before.sqrt() * beta / (1 - now)
    from_xt = (1 - beta).sqrt() * (1 - before) / (1 - now)
    return from_x0[:, None] * x0 + from_xt[:, None] * xt, beta * (1 - before) / (1 - now)
    ### END SOLUTION

# %% check="posterior"
check(posterior)

# %% [markdown]
# Your result is the notes' (22.45): variance $\tilde\beta_t=\frac{1-\bar\alpha_{t-1}}{1-\bar\alpha_t}\beta_t$, a little less than $\beta_t$. The product on a grid agrees:

# %%
with after(posterior):
    line = torch.linspace(-6, 6, 4001).double()
    t = 300
    product = torch.exp(-(0.9 - (1 - betas[t - 1]).sqrt() * line).square() / (2 * betas[t - 1]) - (line + abar[t - 1].sqrt() * 0.4).square() / (2 * (1 - abar[t - 1])))
    product = product / product.sum()
    on_grid = (product * line).sum(), (product * line.square()).sum() - (product * line).sum().square()
    mean, var = posterior(torch.tensor([[-0.4]]).double(), torch.tensor([[0.9]]).double(), torch.tensor([t]), betas)
    assert torch.isclose(mean[0, 0], on_grid[0]) and torch.isclose(var[0], on_grid[1])

# %% [markdown] covers="wu:6.5.7 wu:6.17.3 wu:6.17.5"
# ### In terms of the noise
#
# At sampling time $x_0$ is unknown. Put in the guess that belongs to a predicted noise, $\hat x_0=(x_t-\sqrt{1-\bar\alpha_t}\,\hat\epsilon)/\sqrt{\bar\alpha_t}$, and the mean becomes
#
# $$\mu=\frac1{\sqrt{\alpha_t}}\Big(x_t-\frac{\beta_t}{\sqrt{1-\bar\alpha_t}}\,\hat\epsilon\Big),\qquad \hat\epsilon=-\sqrt{1-\bar\alpha_t}\;s(x_t,t).$$
#
# Section 1 gives the same in two stages: step back by the score, $\tilde x=x_t+\beta_t s$, then undo the scaling, $\tilde x/\sqrt{\alpha_t}$. Only the noise differs: its variance
# becomes $\beta_t/\alpha_t=\beta_t+O(\beta_t^2)$. And divided by $\sqrt{\bar\alpha_t}$, this chain *is* the additive one, with cumulative variance $(1-\bar\alpha_t)/\bar\alpha_t$.

# %%
xt, eps_hat = normal(5, 2, seed=21), normal(5, 2, seed=22)
for t in (2, 300, 1000):
    alpha, now, before, beta = 1 - betas[t - 1], abar[t], abar[t - 1], betas[t - 1]
    x0_hat = (xt - (1 - now).sqrt() * eps_hat) / now.sqrt()
    from_posterior = (before.sqrt() * beta * x0_hat + alpha.sqrt() * (1 - before) * xt) / (1 - now)
    mu = (xt - beta / (1 - now).sqrt() * eps_hat) / alpha.sqrt()
    two_stage = (xt + beta * (-eps_hat / (1 - now).sqrt())) / alpha.sqrt()
    assert torch.allclose(mu, from_posterior) and torch.allclose(mu, two_stage)
    assert torch.isclose(beta / alpha - beta, beta**2 / alpha)                         # the noise: a second-order difference
    added = (1 - now) / now - (1 - before) / before                                    # additive chain: noise of this step
    assert torch.isclose(added, beta / now)

# %% [markdown] covers="explainers:5.5.b"
# ### Ancestral sampling
#
# Start with $x_T\sim N(0,I)$ and go back step by step: $x_{t-1}=\mu+\sigma_t z$ with $z\sim N(0,I)$. Two variances $\sigma_t^2$ are in use. $\beta_t$ is right if the data
# are $N(0,I)$; $\tilde\beta_t$ is right if the data are one single point. For small steps they hardly differ. In the last step, $t=1$, no noise is added.

# %% exercise="ddpm_step" points=3 minutes=10 difficulty=2 covers="explainers:5.5.b wu:6.17.3 guo:VI.3.c moon:22.5"
def ddpm_step(xt, t, eps_hat, z, betas, sigma2):
    """One step of ancestral sampling, from x_t to x_{t-1}.

    xt, eps_hat (predicted standard normal noise), z (n, d), t one integer in 1..T,
    betas (T,), sigma2 (T,) noise variances with sigma2[t - 1] = sigma_t^2 -> (n, d). At t = 1 z is ignored.
    For xt = [[1.]], t = 1, eps_hat = [[1.]], betas = [0.5]: (1 - 0.5 / sqrt(0.5)) / sqrt(0.5) = 0.4142.
    """
    ### BEGIN SOLUTION
    alpha, abar = 1 - betas[t - 1], torch.prod(1 - betas[:t])
    mean = (xt - betas[t - 1] / (1 - abar).sqrt() * eps_hat) / alpha.sqrt()
    return mean if t == 1 else mean + sigma2[t - 1].sqrt() * z
    ### END SOLUTION

# %% check="ddpm_step"
check(ddpm_step)

# %% [markdown]
# ### A walk with a known score
#
# Data in the plane: three narrow clusters with half, 30 % and 20 % of the points. Their score is known, so nothing is learned yet: all that
# goes wrong is the walk's own fault. 100 steps of a linear schedule with ten times the usual $\beta$.

# %%
centres = torch.tensor([[-1.3, 0.9], [1.3, 0.9], [0.2, -1.4]]).double()
shares = torch.tensor([0.5, 0.3, 0.2]).double()
PLANE = {"linear": linear_betas(100, 1e-3, 0.2), "cosine": cosine_betas(100), "constant": torch.full((100,), 0.096).double()}


def unit_noise(betas):
    """The exact predictor of the standard normal noise for the three clusters: (x (n, 2), t an integer) -> (n, 2)."""
    left = torch.cumprod(1 - betas, 0)
    return lambda x, t: -(1 - left[t - 1]).sqrt() * mixture_score(x, centres, 0.15, shares, left[t - 1].sqrt(), 1 - left[t - 1])


def tilde(betas):
    """The posterior variances beta-tilde. (T,) -> (T,)."""
    left = torch.cat([torch.ones(1).double(), torch.cumprod(1 - betas, 0)])
    return betas * (1 - left[:-1]) / (1 - left[1:])


def sample_plane(n, seed):
    which = torch.multinomial(shares, n, replacement=True, generator=torch.Generator().manual_seed(seed))
    return centres[which] + 0.15 * normal(n, 2, seed=seed + 1)


# %%
with after(ddpm_step):
    walks = {}

    def draw(schedule, direction, variance, t):
        b, key = PLANE[schedule], (schedule, direction, variance)
        if key not in walks:
            sigma2 = b if variance == "beta" else tilde(b)
            walks[key] = pictures.noising(sample_plane(400, 31), b) if direction == "noising" else pictures.denoising(ddpm_step, unit_noise(b), b, sigma2)
        return pictures.draw_walk(walks[key], t, b, centres.numpy(), shares.numpy(), direction)

    explore(
        draw,
        schedule=ipywidgets.Dropdown(options=list(PLANE), description="schedule"),
        direction=ipywidgets.Dropdown(options=["denoising", "noising"], description="direction"),
        variance=ipywidgets.Dropdown(options=[("β", "beta"), ("β̃, of the posterior", "tilde")], description="noise variance"),
        t=ipywidgets.IntSlider(25, min=0, max=100, step=1, description="time t"),
    )

# %% [markdown]
# **Find out:** move $t$ from 100 to 0. When does a point decide for a cluster? On which schedule is the decision over soonest? Which variance ends
# tighter? With few steps the choice of variance matters:

# %%
with after(ddpm_step):
    for T_few in (10, 50, 200):
        b = linear_betas(T_few, 0.1 / T_few, 20 / T_few).clamp(max=0.9)
        ends = [pictures.denoising(ddpm_step, unit_noise(b), b, s2, n=2000)[0] for s2 in (b, tilde(b))]
        spread = [np.sqrt(((end[:, None] - centres.numpy()) ** 2).sum(-1).min(1).mean() / 2) for end in ends]
        print(f"{T_few:3d} steps: sd of a cluster {spread[0]:.2f} with beta, {spread[1]:.2f} with beta-tilde (data 0.15)")

# %% [markdown]
# **Two slips of the samplers in print.** Algorithm 7 (moon) multiplies $z$ by $\Sigma_t=\beta_t$ in place of $\sigma_t=\sqrt{\beta_t}$: 0.02 instead of 0.141 at $t=T$. And three of the notes add noise in the
# last step as well. Take data that sit exactly on $\pm1$: without that noise the samples do too.

# %%
with after(ddpm_step):
    b = PLANE["linear"]
    def cluster_sd(sigma2):
        end = pictures.denoising(ddpm_step, unit_noise(b), b, sigma2, n=2000)[0]
        return np.sqrt(((end[:, None] - centres.numpy()) ** 2).sum(-1).min(1).mean() / 2)
    points = lambda x, t: -(1 - left[t - 1]).sqrt() * mixture_score(x, torch.tensor([[-1.0], [1.0]]).double(), 0.0, weights, left[t - 1].sqrt(), 1 - left[t - 1])
    left = torch.cumprod(1 - b, 0)
    end = torch.tensor(pictures.denoising(ddpm_step, points, b, b, n=2000, d=1)[0])
    off = lambda x: (x.abs() - 1).square().mean().sqrt().item()
    noisy = end + b[0].sqrt() * normal(2000, 1, seed=41)
    exact, by_noise = off(end) < 1e-6, off(noisy) < 1e-6
    print(f"distance to the data: {off(end):.4f}, with noise at t = 1: {off(noisy):.4f}")
    erratum("moon:22.5", r"Algorithm 7: $x_{t-1}=\mu+\Sigma_t z$ for all $t$", r"$x_{t-1}=\mu+\sigma_t z$ with $\sigma_t=\sqrt{\beta_t}$, and $z=0$ at $t=1$",
            printed_holds=abs(cluster_sd(b**2) / 0.15 - 1) < 0.1, corrected_holds=abs(cluster_sd(b) / 0.15 - 1) < 0.1)
    erratum("explainers:5.5.b", r"$z\sim N(0,I)$ in every step, from $x_T\in N(0,I)$", r"$z=0$ at $t=1$, from $x_T\sim N(0,I)$", printed_holds=by_noise, corrected_holds=exact)
    erratum("wu:6.17.3", r"$+\sqrt{\beta_t}\,z_t$ for $t=T,\dots,1$", r"$+\sqrt{\beta_t}\,z_t$ for $t=T,\dots,2$, and $z_1=0$", printed_holds=by_noise, corrected_holds=exact)

# %% [markdown] covers="moon:22.5 explainers:5.5.c"
# ## 4. Learn the noise
#
# The variational bound is $L_T+\sum_{t=2}^{T}L_{t-1}+L_0$: $L_T=\mathrm{KL}(q(x_T\mid x_0)\,\|\,p(x_T))$ has nothing to learn, $L_{t-1}=\mathrm{KL}(q(x_{t-1}\mid x_t,x_0)\,\|\,p_\theta(x_{t-1}\mid x_t))$, and
# $L_0=-\log p_\theta(x_0\mid x_1)$, where a separate decoder may stand.
#
# Do the terms add up? For data $N(0,1)$ the exact reverse step is $N(\sqrt{\alpha_t}x_t,\beta_t)$ and the bound must equal the entropy $\frac12\log 2\pi e$. The expected terms are
# $L_T=-\frac12\log(1-\bar\alpha_T)$, $L_{t-1}=\frac12\log(\beta_t/\tilde\beta_t)$, $L_0=\frac12\log2\pi e\,\beta_1$. **Sum them by hand before you run the cell**: they cancel in a row.

# %%
def bound_terms(betas):
    """For data N(0, 1) and the exact reverse steps: L_T, the KL terms of steps 2 … T, L_0."""
    left = torch.cumprod(1 - betas, 0)
    kl = 0.5 * torch.log((1 - left[1:]) / (1 - left[:-1]))                  # beta_t / beta-tilde_t
    return -0.5 * torch.log(1 - left[-1]), kl, 0.5 * torch.log(2 * math.pi * math.e * betas[0])


entropy = 0.5 * math.log(2 * math.pi * math.e)
L_T, kl, L_0 = bound_terms(betas)
assert abs(float(L_T + kl.sum() + L_0) - entropy) < 1e-9
print(f"L_T = {L_T:.5f}, the 999 terms between {kl.sum():.3f}, L_0 = {L_0:.3f}; together {L_T + kl.sum() + L_0:.4f}")

L_T, kl, L_0 = bound_terms(torch.tensor([0.2, 0.4, 0.6]).double())          # three steps, where each term counts
erratum("moon:22.5", r"$L_T$ is the prior term, and $L_t=\mathrm{KL}(q(x_{t-1}\mid x_t,x_0)\,\|\,p_\theta)$ for $t>1$", r"the KL of step $t$ is called $L_{t-1}$; $p(x_T)$ has no $\theta$",
        printed_holds=abs(float(L_T + kl[:-1].sum() + L_0) - entropy) < 1e-6, corrected_holds=abs(float(L_T + kl.sum() + L_0) - entropy) < 1e-9)

# %% [markdown]
# ### What the weights say, and what they miss
#
# Both Gaussians of $L_{t-1}$ have means of the form $\mu$ above, so their KL is a weighted squared error of the noise, the notes' (22.52):
# $\lambda_t\lVert\epsilon-\epsilon_\theta\rVert^2$ with $\lambda_t=\frac{\beta_t^2}{2\sigma_t^2\,\alpha_t(1-\bar\alpha_t)}$. Then the weight silently disappears: training uses
#
# $$L_{\text{simple}}=\mathbb E\,\lVert\epsilon-\epsilon_\theta(\sqrt{\bar\alpha_t}\,x_0+\sqrt{1-\bar\alpha_t}\;\epsilon,\ t)\rVert^2,\qquad t\sim\text{Uniform}\{1,\dots,T\}.$$
#
# That is a choice, not an identity. It moves effort from nearly clean images, whose last details nobody sees, to noisy ones. And (22.52) misses $t=1$: there $\sigma_q^2=\tilde\beta_1=0$ and
# the weight is infinite. $L_0$ needs a variance of its own.

# %%
t = np.arange(2, 1001)
beta_tilde = betas[1:] * (1 - abar[1:-1]) / (1 - abar[2:])
weight_tilde = (betas[1:] ** 2 / (2 * beta_tilde * (1 - betas[1:]) * (1 - abar[2:]))).numpy()
weight_beta = (betas / (2 * (1 - betas) * (1 - abar[1:]))).numpy()
snr = (abar[1:] / (1 - abar[1:])).numpy()
half_drop = (snr[:-1] - snr[1:]) / 2                                       # weight of ||x0 - x0_hat||^2 …
assert np.allclose(weight_tilde, half_drop * (1 - abar[2:].numpy()) / abar[2:].numpy())      # … in units of noise
ratio = weight_beta[0] / weight_beta[-1]
erratum("moon:22.5", r"the final objective $L_t$ is $\lVert\epsilon-\epsilon_\theta\rVert^2$", r"it is $L_{\mathrm{simple}}$: the weight $\lambda_t$ of (22.52) has been dropped",
        printed_holds=bool(weight_beta.max() / weight_beta.min() < 1.01), corrected_holds=bool(np.isclose(ratio, 0.5 / 0.0102, rtol=0.01)))


# %%
def draw_weights():
    fig, ax = plt.subplots()
    ax.semilogy(np.arange(1, 1001), weight_beta, color=BLUE, label=r"$\lambda_t$ with $\sigma_t^2=\beta_t$")
    ax.semilogy(t, weight_tilde, color=VERMILION, linestyle="--", label=r"$\lambda_t$ with $\sigma_t^2=\tilde\beta_t$ (no value at $t=1$)")
    ax.axhline(weight_beta.mean(), color=GREEN, linestyle=":", label="constant, as in training")
    ax.set(xlabel="step t", ylabel="weight of the squared error", title=f"The bound weighs the first step {ratio:.0f} times the last")
    ax.legend()
    return fig, f"The weight of the bound falls from {weight_beta[0]:.2f} at t = 1 to {weight_beta[-1]:.3f} at t = 1000, a factor of {ratio:.0f}; with the posterior variance the first finite weight, at t = 2, is {weight_tilde[0]:.2f}. Training uses a constant."


show(*draw_weights())

# %% exercise="ddpm_loss" points=2 minutes=8 difficulty=2 covers="explainers:5.5.c moon:22.5 wu:6.17.3"
def ddpm_loss(model, x0, t, eps, betas):
    """L_simple on a batch: the squared length of eps - model(x_t, t), averaged over the n rows.

    model: (x (n, d), t (n,)) -> predicted noise (n, d). x0, eps (n, d), t (n,) in 1..T, betas (T,) -> a scalar tensor
    that can be differentiated. Sum over the d components, mean over the rows; call the model once. You may use q_sample.
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
# $t$ is just one more input, given as sines and cosines (`clock`). Since $x_t$ itself is nearly the noise when $t$ is large, the network starts from
# $\sqrt{1-\bar\alpha_t}\,x_t$ and learns only what is left.

# %%
def clock(time):
    """Sixteen sines and cosines of time in [0, 1]. (n,) -> (n, 32)."""
    phase = time[:, None] * torch.logspace(0, 2, 16, device=time.device)
    return torch.cat([phase.sin(), phase.cos()], 1)


class Denoiser(nn.Module):
    """Predicts the noise: (x (n, d), t (n,), perhaps labels (n,)) -> (n, d)."""

    def __init__(self, betas, d, width, labels=1):
        super().__init__()
        self.register_buffer("abar", torch.cat([torch.ones(1), torch.cumprod(1 - betas, 0)]).float())
        self.enter, self.time, self.label = nn.Linear(d, width), nn.Linear(32, width), nn.Embedding(labels, width)
        self.layers, self.leave = nn.ModuleList(nn.Linear(width, width) for _ in range(3)), nn.Linear(width, d)

    def forward(self, x, t, label=None):
        h = self.enter(x) + self.time(clock(t / (len(self.abar) - 1)))
        h = h if label is None else h + self.label(label)
        for layer in self.layers:
            h = h + layer(nn.functional.silu(h))
        abar = self.abar[t][:, None]
        return (1 - abar).sqrt() * x + abar.sqrt() * self.leave(nn.functional.silu(h))


# %%
def train(net, x0, betas, steps, batch, rate, labels=None, only_t=None, seed=0):
    """Train with Adam and your ddpm_loss; x0 (N, d) and all else on one device. -> loss per component of each step."""
    g = torch.Generator(x0.device).manual_seed(seed)
    optimiser = torch.optim.Adam(net.parameters(), lr=rate)
    warm_and_cool = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps, pct_start=0.1)
    losses = []
    for _ in range(steps):
        rows = torch.randint(len(x0), (batch,), generator=g, device=x0.device)
        t = torch.randint(1, len(betas) + 1, (batch,), generator=g, device=x0.device) if only_t is None else torch.full((batch,), only_t)
        eps = torch.randn(batch, x0.shape[1], generator=g, device=x0.device)
        model = net if labels is None else lambda x, t: net(x, t, labels[rows])
        loss = ddpm_loss(model, x0[rows], t, eps, betas) / x0.shape[1]
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        warm_and_cool.step()
        losses.append(loss.detach())
    return torch.stack(losses).cpu()


# %% [markdown]
# What is backpropagated? One call of the network at one random $t$, never the chain of $T$ steps; and a batch may mix all $t$:

# %%
b = PLANE["linear"].float()
torch.manual_seed(0)
net, calls = Denoiser(b, 2, 64), []
net.register_forward_hook(lambda *_: calls.append(1))
x, mixed = torch.randn(4, 2), torch.tensor([1, 30, 60, 100])
together = net(x, mixed)
assert together.shape == x.shape and not torch.allclose(net(x, mixed), net(x, mixed.flip(0)))
assert torch.allclose(together, torch.cat([net(x[i : i + 1], mixed[i : i + 1]) for i in range(4)]), atol=1e-6)
calls.clear()
(net(x, mixed) - torch.randn(4, 2)).square().sum(1).mean().backward()
erratum("explainers:5.5.c", r"gradients are computed via backpropagation through the entire model", r"through one call of the denoiser at one random $t$, not through the chain of $T$ calls",
        printed_holds=len(calls) == len(b), corrected_holds=len(calls) == 1 and net.enter.weight.grad is not None)

# %%
with after(ddpm_loss, q_sample):
    plane_data, b = sample_plane(4000, 51).float(), PLANE["linear"].float()
    torch.manual_seed(1)
    net = Denoiser(b, 2, 96)
    train(net, plane_data, b, steps=scale(cpu=800, gpu=4000), batch=256, rate=4e-3)
    exact_eps = unit_noise(b.double())

    def draw(t):
        left = torch.prod(1 - b[:t]).item()
        cloud = math.sqrt(left) * plane_data[:300] + math.sqrt(1 - left) * normal(300, 2, seed=52).float()
        grid = cloud[:60].double()
        with torch.no_grad():
            learned = -net(grid.float(), torch.full((60,), t)) / math.sqrt(1 - left)
        exact = -exact_eps(grid, t) / math.sqrt(1 - left)
        return pictures.draw_scores(grid.numpy(), exact.numpy(), learned.numpy(), cloud.numpy(), t, 100)

    explore(draw, t=ipywidgets.IntSlider(30, min=1, max=100, step=1, description="step t"))

# %% [markdown]
# Black is the exact score, red the learned one. **Find out** at which $t$ the network is worst, and why: where does the score change fastest?
#
# Would one network for each step be better? Ten steps, the same number of updates in total: 600 for the shared network, 60 for each of the ten.

# %%
with after(ddpm_loss, q_sample):
    ten = linear_betas(10, 0.01, 0.7).float()
    exact_eps, n = unit_noise(ten.double()), 500

    def error(net_of):
        total = 0.0
        for t in range(1, 11):
            left = torch.prod(1 - ten[:t]).item()
            x = math.sqrt(left) * plane_data[:n] + math.sqrt(1 - left) * normal(n, 2, seed=60 + t).float()
            with torch.no_grad():
                total += (net_of(t)(x, torch.full((n,), t)) - exact_eps(x.double(), t)).square().mean().item() / 10
        return total

    torch.manual_seed(2)
    shared, separate = Denoiser(ten, 2, 64), [Denoiser(ten, 2, 64) for _ in range(10)]
    train(shared, plane_data, ten, 600, 128, 4e-3)
    for t, own in enumerate(separate, 1):
        train(own, plane_data, ten, 60, 128, 4e-3, only_t=t)
    errors = error(lambda t: shared), error(lambda t: separate[t - 1])
    assert errors[0] < errors[1]
    print(f"Ten separate networks err {'more than twice as much' if errors[1] > 2 * errors[0] else 'more'} in mean square: what is learned at one t helps at the next.")

# %% [markdown]
# ## 5. Digits
#
# Now 64 dimensions and real data. The network is told which digit it sees (`labels`), so that you can ask for one. 200 steps of the cosine schedule,
# about five seconds of training on a CPU; on a GPU the same cell trains a larger network for longer.

# %%
with after(ddpm_loss, q_sample, ddpm_step):
    here = device()
    b200 = cosine_betas(200).float().to(here)
    pixels, labels = images.float().to(here), torch.tensor(digits.y, device=here)
    torch.manual_seed(0)
    artist = Denoiser(b200.cpu(), 64, scale(cpu=256, gpu=1024), labels=10).to(here)
    losses = train(artist, pixels, b200, scale(cpu=1000, gpu=10_000), scale(cpu=128, gpu=512), scale(cpu=4e-3, gpu=1e-3), labels)
    assert losses[-100:].mean() < 0.25 < losses[:10].mean()

    @torch.no_grad()
    def paint(wanted, seed=0):
        """Images of the wanted digits (n,), all the way: path (T + 1, n, 64), entry t at time t, and the guesses of x_0."""
        g, left = torch.Generator().manual_seed(seed), torch.cumprod(1 - b200, 0)
        x = torch.randn(len(wanted), 64, generator=g).to(here)
        path, guesses = [x], [x]
        for t in range(200, 0, -1):
            eps_hat = artist(x, torch.full((len(wanted),), t, device=here), wanted)
            guesses.append((x - (1 - left[t - 1]).sqrt() * eps_hat) / left[t - 1].sqrt())
            x = ddpm_step(x, t, eps_hat, torch.randn(x.shape, generator=g).to(here), b200, b200)
            path.append(x)
        return torch.stack(path[::-1]).cpu().numpy(), torch.stack(guesses[::-1]).cpu().numpy()


# %%
with after(ddpm_loss, q_sample, ddpm_step):
    path, guesses = paint(torch.arange(10, device=here).repeat(4), seed=1)
    from descent.plots import image_grid
    fig = image_grid(path[0].reshape(-1, 8, 8), columns=10, size=0.62, limits=(-1.2, 1.2))
    show(fig, "Forty digits drawn by the trained model, four rows of 0 to 9 as asked for: black strokes on white, legible as the digits they should be.", digits=0)

# %% [markdown]
# Watch them come into being: above the state $x_t$, below the model's guess of the end. Compare the guesses with the best guesses of the first figure.

# %%
with after(ddpm_loss, q_sample, ddpm_step):
    movie, ends = path[:, :10], np.concatenate([guesses[:1, :10] * 0 + path[0, :10], guesses[:-1, :10]])
    explore(
        lambda t: pictures.draw_denoising(movie, ends, t, range(10)),
        t=ipywidgets.IntSlider(80, min=0, max=200, step=4, description="time t"),
    )

# %% [markdown]
# ### Are they good, and are they new?
#
# Good: a classifier trained on 1200 real digits should read what we asked for. New: the nearest real image should be about as far away as real digits are from each
# other. **Predict:** the *perfect* noise predictor for these 1797 images is known, it is `best_guess`. What would it draw?

# %%
with after(ddpm_loss, q_sample, ddpm_step):
    from sklearn.svm import SVC

    judge = SVC(gamma=0.05).fit(images[:1200], digits.y[:1200])
    drawn = torch.tensor(paint(torch.arange(10, device=here).repeat(20), seed=2)[0][0]).double()
    as_asked, real = (judge.predict(drawn) == np.arange(200) % 10).mean(), judge.score(images[1200:], digits.y[1200:])
    b, left = cosine_betas(200), torch.cumprod(1 - cosine_betas(200), 0)
    perfect = lambda x, t: (x - left[t - 1].sqrt() * best_guess(x, float(left[t - 1]))) / (1 - left[t - 1]).sqrt()
    recited = torch.tensor(pictures.denoising(ddpm_step, perfect, b, b, n=100, d=64)[0])
    nearest = lambda x: torch.cdist(x, images).min(1).values.median().item()
    among_real = torch.cdist(images, images).fill_diagonal_(9e9).min(1).values.median().item()
    assert as_asked > 0.9 and real > 0.9 and nearest(recited) < 0.01 and nearest(drawn) > among_real / 2
    print(f"read as asked: {'over' if as_asked > 0.9 else 'under'} 90 % (real digits: {'over' if real > 0.9 else 'under'} 90 %)")
    print(f"distance to the nearest real image: drawn about {nearest(drawn):.0f}, real to real about {among_real:.0f}, by the perfect predictor {nearest(recited):.2f}")

# %% [markdown] written="why_not_perfect" points=2 minutes=8
# **In your own words** (about five sentences). The minimiser of the training loss over *all* functions draws copies of the training images only. Why? And why does the
# trained network, which has a larger training loss, draw new digits? Say which of the two knows the score of the data's distribution better.
#
# ### BEGIN SOLUTION
# The loss is an average over the training images, so its minimiser is the exact predictor for the distribution that puts 1/1797 on each of them. Sampling with the exact
# predictor reproduces that distribution, and its samples are its points: copies. The network has too few updates and too smooth a form to single out each image;
# it averages over neighbours, so that what it has learned is a smoothed version of the score, with mass between the images. That is a worse fit to the sample but nearer to the
# score of the distribution that the images were drawn from. The gap between the two is what generalisation means here.
# ### END SOLUTION

# %% [markdown]
# ## What to take away
#
# - $x_t=\sqrt{\bar\alpha_t}x_0+\sqrt{1-\bar\alpha_t}\,\epsilon$: any step in one shot. With $\beta$ from $10^{-4}$ to $0.02$, $\bar\alpha_{1000}=4.04\cdot10^{-5}$.
# - Score, clean sample and noise are one prediction in three units. The loss is regression on the noise, at one random $t$.
# - The step back takes away $\beta_t/\sqrt{1-\bar\alpha_t}$ of the predicted noise, undoes the shrinking, and adds noise except at $t=1$.
# - $L_{\text{simple}}$ is the bound without its weights; the weights fall by a factor of 49 along the schedule.
# - On finite data the perfect predictor recites. Generalisation is what the network adds.
#
# Next: `04_samplers` walks back in fewer steps, and without noise.

# %% [markdown]
# ## What the notes got wrong
#
# | where | slip | what happens |
# | --- | --- | --- |
# | wu 6.8.3 | $\sigma^2/t$ for $1/t$ | samples three times too wide |
# | moon 22.5 | $\Sigma_t z$ for $\sigma_t z$; $L_t$ means two things; the weight vanishes | clusters too tight; a term of the bound is lost |
# | explainers 5.5, wu 6.17.3, moon 22.5 | noise at $t=1$ | samples keep $\sqrt{\beta_1}$ of noise |
# | wu 6.8.1 | "good conditioning" | the target's variance grows $T$-fold |
# | wu 6.17.2 | the variance is always 1 | only if $\mathrm{Var}(x_0)=1$ |
# | guo VI.3 | no "given $X_0$", $B_t$, a minus for an equals sign, $X_0\in\mathbb R$ | a variance below zero |
# | moon 22.2 | merged noise keeps its name, "sample $x_t$" | equal in law only |
# | explainers 5.5 | $\beta\in[0,1]$, gradients through "the entire model" | division by zero; one call suffices |

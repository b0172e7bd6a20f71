# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="a diffusion model that draws handwritten digits on request" covers="explainers:5.5"
# # DDPM: learn the noise, then walk back
#
# Below, a handwritten digit sinks in noise, from left to right, until nobody can read it. Now the other way: you are
# given the last picture, pure noise, and asked *which digit is in it*. The best answer that anybody could give, the
# grey smear on the right, is the mean of all digits: it may have been any.
#
# And yet a machine that gives nothing but such answers, a hundred times, with a small step after each, draws crisp
# digits. **How does a smear become a digit? And is it a new one, or a copy?** You write the machine twice: with the
# best answers that there are, and with learned ones. One of the two is no good. Guess which.

# %%
# What this notebook needs.
import math
from functools import partial

import numpy as np
import sympy
import torch
from ipywidgets import Dropdown, IntSlider
from sklearn.svm import SVC
from torch import nn

from descent import after, below, check, claim, data, erratum, explore, hint
from descent import movie, predict, show, solution, start
from descent.pictures.diffusion import ddpm as pictures

start("15_diffusion/03_ddpm")

# %% demo=true covers="guo:VI.3"
# A digit with less and less of it left, and the best guess at the end.
digits = data.digits()
images = torch.tensor(digits.X).float() / 8 - 1  # (1797, 64), -1 white to 1 black
labels = torch.tensor(digits.y)
known, new = slice(0, 1200), slice(1200, 1797)  # to learn from, and kept aside


def normal(*shape, seed):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=g, dtype=torch.float64)


eps, powers = normal(64, seed=7), [1, 0.9, 0.7, 0.5, 0.3, 0.1, 0.03, 0]
sunk = [p**0.5 * images[13] + (1 - p) ** 0.5 * eps for p in powers]
show(*pictures.draw_sinking(torch.stack(sunk), powers, images.mean(0)))

# %% [markdown] covers="explainers:5.5.a guo:VI.3.a moon:22.2 wu:6.17.1 wu:6.5.7"
# ## 1. Sink it
#
# Sinking is easy: one small step at a time, and the same for all data. Let $x_0$ be an image, $d$ numbers. Step
# $t = 1, \dots, T$ shrinks a little and adds a little noise,
#
# $$x_t = \sqrt{\alpha_t}\; x_{t-1} + \sqrt{\beta_t}\; z_t, \qquad \alpha_t = 1 - \beta_t, \quad z_t \sim N(0, I).$$
#
# The $\beta_t \in (0, 1)$ are the *schedule*. Why shrink at all? A variance $v$ becomes $\alpha_t v + \beta_t$: it is
# pulled to 1, and 1 stays 1. Without the shrinking it would grow for ever. So wherever the data come from, the chain ends
# in the same cloud, $N(0, I)$, and there the way back can start without any data.
#
# Write the chain. In code `betas[t - 1]` is $\beta_t$: steps count from 1, lists from 0.


# %% exercise="noise_chain" points=2 difficulty=1 covers="explainers:5.5.a guo:VI.3.a wu:6.17.1 wu:6.5.7"
def noise_chain(x0, z, betas):
    """All states of the chain, from the data to the noise.

    x0 (n, d); z (T, n, d) standard normal, z[t - 1] is the noise of step t; betas (T,).
    All are torch tensors. Returns a tensor (T + 1, n, d): entry t is x_t.
    x0 = [[1.0]], z = [[[0.0]]], betas = [0.75] gives [[[1.0]], [[0.5]]].
    """
    ### BEGIN SOLUTION
    path = [x0]
    for t in range(1, len(betas) + 1):
        beta = betas[t - 1]
        path.append((1 - beta).sqrt() * path[-1] + beta.sqrt() * z[t - 1])
    return torch.stack(path)
    ### END SOLUTION


# %% check="noise_chain"
check(noise_chain)

# %% [markdown] covers="guo:VI.3.b wu:6.17.2 moon:22.2"
# ### All steps in one jump
#
# Training will ask for $x_t$ at a random $t$, for a hundred images at a time. Walk there each time? Two steps give
#
# $$x_2 = \sqrt{\alpha_1\alpha_2}\; x_0 + \sqrt{\alpha_2\beta_1}\; z_1 + \sqrt{\beta_2}\; z_2 .$$
#
# Variances of independent Gaussians add, so the two noises act like a single one, of variance
# $\alpha_2\beta_1 + \beta_2 = 1 - \alpha_1\alpha_2$. So it goes on: with $\bar\alpha_t = \alpha_1 \alpha_2 \cdots \alpha_t$
# and $\bar\alpha_0 = 1$,
#
# $$x_t = \sqrt{\bar\alpha_t}\; x_0 + \sqrt{1 - \bar\alpha_t}\; \epsilon, \qquad \epsilon \sim N(0, I).$$
#
# $\bar\alpha_t$ is the power of the signal that is left. Ho, Jain and Abbeel, who made this work in 2020, took
# $T = 1000$ steps, with $\beta_t$ from $0.0001$ evenly up to $0.02$.

# %% predict="left-at-the-end" minutes=1
predict(
    "left-at-the-end",
    "On that schedule no step takes away more than 2 % of the power. By which factor "
    "is x₀ scaled in x₁₀₀₀?",
    ["about 0.006", "about 0.06", "about 0.6"],
    truth=int(
        np.abs(
            np.log([0.006, 0.06, 0.6])
            - np.log1p(-np.linspace(1e-4, 0.02, 1000)).sum() / 2
        ).argmin()
    ),
    because="The product of all 1 − β is e to the power −10.1; its root is 0.0064.",
)


# %% exercise="q_sample" points=2 difficulty=1 covers="guo:VI.3.b moon:22.2 wu:6.17.2"
def q_sample(x0, t, eps, betas):
    """Each row of x0 noised to its own step, in one jump.

    x0, eps (n, d), eps standard normal; t (n,) integers in 1..T, one for each row;
    betas (T,). All are torch tensors. Returns x_t (n, d).
    x0 = [[1.0]], t = [2], eps = [[0.0]], betas = [0.5, 0.5] gives [[0.5]]: half of the
    power is lost twice.
    """
    ### BEGIN SOLUTION
    abar = torch.cumprod(1 - betas, 0)
    left = abar[t - 1][:, None]
    return left.sqrt() * x0 + (1 - left).sqrt() * eps
    ### END SOLUTION


# %% check="q_sample"
check(q_sample)

# %% covers="guo:VI.3.b wu:6.17.2 moon:22.2"
# Three schedules; 8,000 points walk a hundred steps, 8,000 others jump.
T = 100


def linear_betas(T, first=1e-3, last=0.2):
    return torch.linspace(first, last, T, dtype=torch.float64)


def cosine_betas(T, offset=0.008):  # the power left is a squared cosine
    time = torch.linspace(0, 1, T + 1, dtype=torch.float64)
    power = torch.cos((time + offset) / (1 + offset) * math.pi / 2).square()
    return (1 - power[1:] / power[:-1]).clamp(max=0.999)


SCHEDULES = {
    "linear": linear_betas(T),
    "cosine": cosine_betas(T),
    "constant": linear_betas(T, 0.1, 0.1),
}

with after(noise_chain, q_sample):
    betas = SCHEDULES["linear"]
    a, abar = sympy.symbols("alpha abar")
    grown = sympy.expand(a * (1 - abar) + (1 - a) - (1 - a * abar))
    claim("α (1 − ᾱ) + β = 1 − α ᾱ: one more step keeps the form", bool(grown == 0))
    two = torch.tensor([-1.0, 1.0]).double().repeat(4000)[:, None]  # data at ±1
    for scale in (0, 1, 2):
        spread = noise_chain(scale * two, normal(T, 8000, 1, seed=5), betas)[-1].var()
        words = "data of variance {v}: after {T} steps it is 1, to {within}"
        near = abs(spread - 1) < 0.05  # three standard errors
        claim(words, bool(near), v=scale**2, T=T, within=0.05)
    walked = noise_chain(two, normal(T, 8000, 1, seed=6), betas)[10]
    jumped = q_sample(two, torch.full((8000,), 10), normal(8000, 1, seed=8), betas)
    show(*pictures.draw_shortcut(walked[:, 0], jumped[:, 0], 10), digits=1)

# %% [markdown] covers="wu:6.17 explainers:5.5.a moon:22.2"
# ### How fast should it sink?
#
# Drag the line, or the slider, and change the schedule. (*Linear* is Ho's, for 100 steps: each is ten times as large.)
#
# 1. On which schedule does the digit stay readable for longest? There most steps have something to teach.
# 2. On which are the last 30 steps nearly wasted, because nothing is left to destroy?
# 3. *Constant* does not increase. Does it fail to reach pure noise?

# %% covers="wu:6.17 explainers:5.5.a moon:22.2"
# Drag the line: signal, noise, and what your q_sample makes of a digit.
with after(q_sample):

    def draw_schedule(schedule, t):
        betas = SCHEDULES[schedule]
        one, eps = images[13:14].double(), normal(1, 64, seed=7)
        seen = q_sample(one, torch.tensor([t]), eps, betas)
        return pictures.draw_schedule(schedule, betas, t, seen)

    explore(
        draw_schedule,
        drag={"t": "step"},
        schedule=Dropdown(options=list(SCHEDULES), description="schedule"),
        t=IntSlider(29, min=1, max=T, description="step t"),
    )

# %% [markdown] covers="wu:6.5.4 wu:6.5.5"
# ## 2. The best guess there is
#
# Now the way back. Say that the data are $m$ points $p_1, \dots, p_m$, all equally likely, and you see $x_t$. Which of
# them is in it? By Bayes' rule, each in proportion to the density of $x_t$, had it started there:
#
# $$w_j \propto \exp\Big(\!-\frac{\lVert x_t - \sqrt{\bar\alpha_t}\, p_j\rVert^2}{2 (1 - \bar\alpha_t)}\Big), \qquad \sum_j w_j = 1 .$$
#
# In squared error nothing beats the mean, $\hat x_0 = \sum_j w_j\, p_j$. And with it goes the best guess of the noise:
# solve $x_t = \sqrt{\bar\alpha_t}\, \hat x_0 + \sqrt{1 - \bar\alpha_t}\; \hat\epsilon$ for $\hat\epsilon$. Who knows one
# knows the other.
#
# Mind the exponents: far away they are in the thousands, and `exp` of each is 0. Your answer stays finite there.


# %% exercise="best_noise" points=3 difficulty=1 covers="wu:6.5.4 wu:6.5.5 guo:VI.3.c"
def best_noise(x, left, points):
    """The best guess of the noise in each row of x, if the data are the points.

    x (n, d); left: the power ᾱ_t that is left, a number, 0 < left < 1; points (m, d),
    equally likely. Returns ε̂ (n, d), finite however far x is from all the points.
    x = [[1.0]], left = 0.64, points = [[0.0]] gives [[1.6667]].
    """
    ### BEGIN SOLUTION
    squared = torch.cdist(x, left**0.5 * points).square()
    share = torch.softmax(-squared / (2 * (1 - left)), dim=1)
    x0_hat = share @ points
    return (x - left**0.5 * x0_hat) / (1 - left) ** 0.5
    ### END SOLUTION


# %% check="best_noise"
check(best_noise)

# %% covers="guo:VI.3 wu:6.5.4"
# Under each noised digit the best guess of the clean one, among all 1,797.
with after(q_sample, best_noise):
    betas, levels = SCHEDULES["cosine"], [2, 10, 30, 50, 60, 70, 80, 100]
    left = torch.cumprod(1 - betas, 0)[torch.tensor(levels) - 1]
    one, eps = images[13].double().repeat(8, 1), normal(1, 64, seed=7).repeat(8, 1)
    seen = q_sample(one, torch.tensor(levels), eps, betas)
    guesses = []
    for x, p in zip(seen, left.tolist()):
        noise = best_noise(x[None], p, images.double())[0]
        guesses.append((x - (1 - p) ** 0.5 * noise) / p**0.5)
    show(*pictures.draw_strip(seen, torch.stack(guesses), levels, images[13]))

# %% [markdown] covers="explainers:5.5.b wu:6.17.3 guo:VI.3.c moon:22.5 wu:6.5.7"
# ## 3. One small step back
#
# You guess all the noise, $\sqrt{1 - \bar\alpha_t}\; \hat\epsilon$. A jump straight to $\hat x_0$ would give the smear.
# So undo the last step only: which part of the noise did it add? Given a sum of independent Gaussians, the best guess
# of one is the sum times its share of the variance, $\beta_t / (1 - \bar\alpha_t)$. Take that away, undo the shrinking:
#
# $$\mu = \frac{1}{\sqrt{\alpha_t}} \Big(x_t - \frac{\beta_t}{\sqrt{1 - \bar\alpha_t}}\; \hat\epsilon\Big), \qquad x_{t-1} = \mu + \sigma_t\, z_t .$$
#
# Why fresh noise? A best guess is a mean, and the truth scatters round it. Common are $\sigma_t^2 = \beta_t$ or
# $\tilde\beta_t = \frac{1 - \bar\alpha_{t-1}}{1 - \bar\alpha_t} \beta_t$ (compared under *Deeper*). The last step, $t = 1$,
# adds none.
#
# Write the whole walk, from $x_T$ to $x_0$. It has a name: *ancestral sampling*.


# %% exercise="ddpm_sample" points=4 difficulty=1 covers="explainers:5.5.b wu:6.17.3 guo:VI.3.c moon:22.5"
def ddpm_sample(model, x_T, z, betas, sigma2):
    """Walk from noise to data: every state, and the clean image guessed at each.

    model: (x (n, d), t (n,) integers, all the same) -> predicted noise ε̂ (n, d); ask
    it once a step. x_T (n, d); z (T, n, d) standard normal: the step from x_t to
    x_{t-1} adds noise by z[t - 1], that to x_0 none. betas, sigma2 (T,): sigma2[t - 1]
    is the variance σ_t². All are torch tensors.
    Returns states (T + 1, n, d), entry t is x_t, and guesses (T, n, d), entry t - 1 is
    the x̂_0 that goes with ε̂ at x_t.
    A model that says 0, x_T = [[1.0]], betas = [0.75]: the states are [[[2.0]],
    [[1.0]]], the guesses [[[2.0]]].
    """
    ### BEGIN SOLUTION
    abar = torch.cumprod(1 - betas, 0)
    x, states, guesses = x_T, [x_T], []
    for t in range(len(betas), 0, -1):
        beta, left = betas[t - 1], abar[t - 1]
        noise = model(x, torch.full((len(x),), t))
        guesses.append((x - (1 - left).sqrt() * noise) / left.sqrt())
        share = beta / (1 - left).sqrt()
        x = (x - share * noise) / (1 - beta).sqrt()
        if t > 1:
            x = x + sigma2[t - 1].sqrt() * z[t - 1]
        states.append(x)
    return torch.stack(states[::-1]), torch.stack(guesses[::-1])
    ### END SOLUTION


# %% check="ddpm_sample"
check(ddpm_sample)

# %% [markdown] covers="wu:6.5.3"
# Try it where you can see everything: 120 points on a spiral, three walkers on each. They sink for 100 steps. Then your
# walk takes them back, with your best guesses. Press play, and watch one colour. Does it come home?

# %% open=true covers="wu:6.5.3 explainers:5.5.b"
spiral = torch.tensor(pictures.spiral(120))
with after(noise_chain, best_noise, ddpm_sample):
    betas, z = SCHEDULES["linear"], normal(T, 360, 2, seed=2)
    left = torch.cumprod(1 - betas, 0).tolist()
    there = noise_chain(spiral.repeat(3, 1), normal(T, 360, 2, seed=1), betas)
    perfect = [lambda x, t: best_noise(x, left[t[0] - 1], spiral), there[-1]]
    back = ddpm_sample(*perfect, z, betas, betas)[0]
    film = torch.cat([there, back.flip(0)])
    fig, ax, words, colors = pictures.there_and_back(film, spiral)
    movie(fig, ax, film, words, seconds=10, colors=colors, digits=1)

# %% predict="no-fresh-noise" minutes=1 covers="explainers:5.5.b moon:22.5"
predict(
    "no-fresh-noise",
    f"The walkers end on {pictures.reached(film[-1], spiral)} of the 120 points; 360 "
    "fair draws would meet 114, in the mean. Now leave out the fresh noise, σₜ = 0. "
    "On how many points do they end?",
    ["a single one", "about half as many", "about as many"],
    truth=int(
        np.digitize(
            pictures.reached(ddpm_sample(*perfect, z, betas, 0 * betas)[0][0], spiral),
            [2, 80],
        )
    ),
    because="Each guess is a mean, so each step pulls inwards. Only the fresh noise "
    "keeps the cloud as wide as it should be.",
    then=lambda: pictures.draw_ends(
        {
            name: ddpm_sample(*perfect, z, betas, variance)[0][0]
            for name, variance in (
                ("noise √β z", betas),
                ("β z, as in one print", betas**2),
                ("no noise", 0 * betas),
            )
        },
        spiral,
    ),
    digits=1,
)

# %% [markdown] covers="explainers:5.5.c moon:22.5 wu:6.17.3 guo:VI.3.c"
# ## 4. Learn the noise
#
# A good machine, but all it can draw are its own 120 points. It also rereads all data in every step. A network has to
# compress what it sees, so let it learn to guess. Training needs neither the chain nor the walk: take an image, jump to
# a random step, and ask *which noise did I add?*
#
# $$L = \mathbb E\; \big\lVert \epsilon - \epsilon_\theta\big(\sqrt{\bar\alpha_t}\, x_0 + \sqrt{1 - \bar\alpha_t}\; \epsilon,\; t\big)\big\rVert^2, \qquad t \text{ uniform on } 1, \dots, T,$$
#
# where $\epsilon_\theta$ is a network with weights $\theta$, and $\mathbb E$ the mean over images, steps and noise. Of all functions, one has the least $L$ on a set of images:
# your `best_noise` among these images. Keep that in mind.


# %% exercise="ddpm_loss" points=2 difficulty=1 covers="explainers:5.5.c moon:22.5 wu:6.17.3"
def ddpm_loss(model, x0, t, eps, betas):
    """The squared length of eps - model(x_t, t), its mean over the rows of a batch.

    model: (x (n, d), t (n,)) -> predicted noise (n, d), called once. x0, eps (n, d);
    t (n,) in 1..T; betas (T,). Returns a scalar tensor that can be differentiated.
    You may use q_sample. A model that says 0 has loss 2 on eps = [[1.0, 1.0]].
    """
    ### BEGIN SOLUTION
    xt = q_sample(x0, t, eps, betas)
    wrong_by = eps - model(xt, t)
    return wrong_by.square().sum(1).mean()
    ### END SOLUTION


# %% check="ddpm_loss"
check(ddpm_loss)

# %% [markdown] covers="wu:6.5.1 moon:22.5 wu:6.8.2 explainers:5.5.c"
# ### The training loop
#
# All steps share one network (the next cell has it): $t$ is an input, as sines and cosines, and so is the digit $y$, so
# that you can ask for one. In deep noise the answer is nearly $x_t$ itself: it starts from there, and learns the rest.
#
# One update, then: some images, a random $t$ for each, fresh noise, the loss, a step of Adam. Only one call of the
# network is differentiated, never the walk. And cool down: the learning rate falls in equal steps, from `lr` in the
# first update to `lr / n_steps` in the last.


# %% covers="wu:6.5.1"
# The network: the noise x itself would suggest, plus what three layers add to it.
class Denoiser(nn.Module):
    """Predicts the noise: (x (n, d), t (n,), labels y (n,)) -> (n, d)."""

    def __init__(self, betas, d, width, labels=1):
        super().__init__()
        abar = torch.cat([torch.ones(1), torch.cumprod(1 - betas, 0)])
        self.register_buffer("abar", abar.float())
        self.enter, self.time = nn.Linear(d, width), nn.Linear(32, width)
        self.label = nn.Embedding(labels, width)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.leave = nn.Linear(width, d)

    def forward(self, x, t, y):
        angle = t[:, None] / (len(self.abar) - 1) * torch.logspace(0, 2, 16)
        clock = torch.cat([angle.sin(), angle.cos()], 1)
        h = self.enter(x) + self.time(clock) + self.label(y)
        for layer in self.layers:
            h = h + layer(nn.functional.silu(h))
        left = self.abar[t][:, None]
        return (1 - left).sqrt() * x + left.sqrt() * self.leave(nn.functional.silu(h))


# %% exercise="train" points=4 difficulty=1 covers="explainers:5.5.c moon:22.5 wu:6.17.3 wu:6.8.2"
def train(model, x0, y, betas, n_steps, batch, lr, g):
    """Train a model by Adam on ddpm_loss; returns the n_steps losses, numbers.

    model: a torch module, called as model(x, t, y), its weights change in place.
    x0 (N, d) float32, y (N,) labels, betas (T,). Adam with torch's own settings; update
    k = 0, 1, … has the learning rate lr · (1 - k / n_steps).
    All chance comes from the generator g, in each update in this order: `batch` row
    numbers of x0, which may repeat (torch.randint); as many steps t, uniform on 1..T
    (torch.randint); the noise (torch.randn). You may use ddpm_loss.
    """
    ### BEGIN SOLUTION
    adam, losses = torch.optim.Adam(model.parameters(), lr), []
    for k in range(n_steps):
        for group in adam.param_groups:
            group["lr"] = lr * (1 - k / n_steps)
        rows = torch.randint(len(x0), (batch,), generator=g)
        t = torch.randint(1, len(betas) + 1, (batch,), generator=g)
        eps = torch.randn(batch, x0.shape[1], generator=g)
        guess = partial(model, y=y[rows])
        loss = ddpm_loss(guess, x0[rows], t, eps, betas)
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return losses
    ### END SOLUTION


# %% check="train"
check(train)

# %% [markdown] covers="wu:6.8 moon:22.5"
# ## 5. Digits on request
#
# Two machines, one walk. The *artist* is a network that learns for a few seconds, from 1,200 images; 597 are kept
# aside. The *reciter* does not learn: it is your `best_noise` among the known images of the digit that is asked for.
# On the 1,200 no predictor has a smaller loss.
#
# Good digits are digits that a judge, trained on the real ones, reads as what was asked for. New ones are about as far
# from the nearest known image as real new digits are.

# %% covers="wu:6.17.3 explainers:5.5.c"
# Train the artist; the reciter; the loss of both at nine steps, known images and new.
with after(best_noise, ddpm_loss, train):
    cosine, g = SCHEDULES["cosine"].float(), torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    artist = Denoiser(cosine, 64, 256, labels=10)
    losses = train(artist, images[known], labels[known], cosine, 800, 128, 4e-3, g)
    words = "800 updates: the loss per pixel is below {low} (1 for saying nothing)"
    claim(words, bool(np.mean(losses[-50:]) / 64 < 0.25), low=0.25)
    cosine_left = torch.cumprod(1 - cosine, 0).tolist()

    def reciter(x, t, y):
        """The predictor with the least loss on the known images. As `artist`."""
        noise = torch.empty_like(x)
        for digit in y.unique():
            among = images[known][labels[known] == digit]
            noise[y == digit] = best_noise(x[y == digit], cosine_left[t[0] - 1], among)
        return noise

    def loss_at(t, model, part):
        """Squared error per pixel at step t, on images[part]."""
        x0, eps = images[part], normal(*images[part].shape, seed=t).float()
        model, steps = partial(model, y=labels[part]), torch.full((len(x0),), t)
        with torch.no_grad():
            return ddpm_loss(model, x0, steps, eps, cosine).item() / 64

    levels, curves = [1, 2, 5, 10, 20, 35, 50, 65, 80], {}
    for name, model in (("artist", artist), ("reciter", reciter)):
        for kind, part in (("known", known), ("new", new)):
            curves[name, kind] = [loss_at(t, model, part) for t in levels]

# %% predict="on-new-images" minutes=1 covers="explainers:5.5.c"
predict(
    "on-new-images",
    "On the known images no loss is below the reciter's. And on the 597 new ones, a "
    "little noised (t = 5 of 100)? There the reciter's loss is …",
    ["less than the artist's, too", "about the artist's", "over five times as large"],
    truth=int(
        np.digitize(curves["reciter", "new"][2] / curves["artist", "new"][2], [0.8, 5])
    ),
    because="It looks for the new image among the known ones, takes the nearest, and "
    "is sure of it. In 800 updates the artist does not learn 1,200 images by heart, so "
    "it had to generalise.",
    then=lambda: pictures.draw_losses(levels, curves),
    digits=0,
)

# %% covers="wu:6.8 wu:6.17.3 moon:22.5 guo:VI.3"
# The answer to both questions of the first screen. Play the artist's walk.
with after(best_noise, ddpm_sample, ddpm_loss, train, "on-new-images"):

    def paint(model, wanted, seed):
        """Digits (n,) -> states (T + 1, n, 64) and guesses (T, n, 64) of your walk."""
        x_T, z = normal(len(wanted), 64, seed=seed), normal(T, len(wanted), 64, seed=5)
        with torch.no_grad():
            model = partial(model, y=wanted)
            return ddpm_sample(model, x_T.float(), z.float(), cosine, cosine)

    on_way, thoughts = paint(artist, torch.arange(10), seed=1)
    explore(
        lambda walked: pictures.draw_denoising(on_way, thoughts, T - walked),
        digits=0,
        play="walked",
        walked=IntSlider(50, min=0, max=T, description="steps walked"),
    )
    wanted = torch.arange(10).repeat(20)
    (drawn, _), (recited, guesses) = (
        paint(m, wanted, seed=3) for m in (artist, reciter)
    )
    apart = guesses.reshape(T, 20, 10, 64).std(1).mean((1, 2))  # of 20 alike requests
    words = "the reciter's first guesses are one smear a digit: {d} per pixel apart"
    claim(words, bool(apart[-1] < 0.01), d=below(0.01))
    words = "its last guesses are 20 digits each: over {d} per pixel apart"
    claim(words, bool(apart[0] > 0.3), d=0.3)

    judge = SVC(gamma=0.05).fit(images[known], labels[known])
    read = judge.score(drawn[0], wanted), judge.score(images[new], labels[new])
    words = (
        "the judge reads over {s:.0%} of the artist's digits as asked, and of new ones"
    )
    claim(words, min(read) > 0.9, s=0.9)
    copied, real, drawn = (
        torch.cdist(x, images[known]).min(1).values.median().item()
        for x in (recited[0], images[new], drawn[0])
    )
    words = "the reciter copies: its median distance to the nearest known image is {d}"
    claim(words, copied < 0.01, d=below(0.01))
    words = (
        "the artist does not: its distance is that of new images, {d:.1f}, to a fifth"
    )
    claim(words, abs(drawn / real - 1) < 0.2, d=real)

# %% [markdown]
# ## Take-aways
#
# - A jump to any step: $x_t = \sqrt{\bar\alpha_t}\, x_0 + \sqrt{1 - \bar\alpha_t}\; \epsilon$. So training needs no
#   chain: an image, a random $t$, a guess of the noise.
# - A step back takes away the last step's share of the guessed noise, undoes the shrinking, and adds fresh noise. Without
#   it the walk collapses.
# - **How a smear becomes a digit:** no step goes to the guess, only a little towards it. Fresh noise tips the balance,
#   the next guess is surer: a hundred small decisions make a digit.
# - **New or copied?** The best predictor on a finite set recites it. The network draws what is new *because* it misses
#   the least loss: its short training singles out no image.
#
# Next: [[15/04]], the same walk in fewer steps, and without noise after all.

# %% [markdown] covers="wu:6.5 wu:6.5.3 wu:6.5.5 wu:6.5.6 wu:6.8 wu:6.8.3"
# ## Deeper: noise that only adds up
#
# One of the lecture notes starts from a simpler chain that never shrinks: $x_t = x_{t-1} + e_t$ with
# $e_t \sim N(0, \sigma^2 I)$. Its *cumulative noise* is $\epsilon_t = x_t - x_0 = e_1 + \dots + e_t \sim N(0, t\sigma^2 I)$:
# mind that here $\epsilon_t$ is not of unit size. The way back is a Gaussian step again, learned by one network,
# $\epsilon_\theta(x_t, t) \approx \epsilon_t$. And its sampler, printed as Algorithm 5, starts from
# $x_T \sim N(0, T\sigma^2 I)$ and makes steps
#
# $$x_{t-1} = x_t - \frac{\sigma^2}{t}\, \epsilon_\theta(x_t, t) + \sigma z_t .$$
#
# Here it runs as printed, with the *exact* noise predictor, on data with two modes. Something is wrong.

# %% demo=true
# The exact predictor of two modes on a line, and Algorithm 5 as it is printed.
modes, sd, even = torch.tensor([[-1.6], [1.6]]).double(), 0.5, torch.tensor([0.5, 0.5])
steps, sigma2 = 400, 0.05


def exact_noise(x, t):
    """E[x_t - x_0 | x_t = x] of the two modes. x (n, 1), t a number or (n, 1)."""
    v = t * sigma2
    return -v * pictures.mixture_score(x, modes, sd, even, 1, v)


def algorithm_5(x_T, z):
    x = x_T
    for t in range(len(z), 0, -1):
        x = x - sigma2 / t * exact_noise(x, t) + sigma2**0.5 * z[t - 1]
    return x


data_sd = math.sqrt(sd**2 + 1.6**2)
noisy = normal(5000, 1, seed=0) * (steps * sigma2) ** 0.5
fresh = normal(steps, 5000, 1, seed=1)

# %% predict="algorithm-5" minutes=1
predict(
    "algorithm-5",
    f"The data have standard deviation {data_sd:.2f}, the starting noise "
    f"{(steps * sigma2) ** 0.5:.2f}. What do the printed algorithm's samples have?",
    ["nearly 0: all collapses", "about that of the data", "more than the noise had"],
    truth=int(np.digitize(algorithm_5(noisy, fresh).std().item(), [1, 3])),
    because="The walk hardly reads its compass, so that the fresh noise piles up: "
    f"{algorithm_5(noisy, fresh).std():.1f}. One factor is wrong.",
)

# %% [markdown] covers="wu:6.8.3 wu:6.5.6"
# Mend it. $\epsilon_t$ is the noise of $t$ steps together; which share of it did the last one add? (Section 3 had the
# rule.) Let the last step add no noise, as there.


# %% exercise="sample_ve" points=2 difficulty=1 covers="wu:6.8.3 wu:6.5.3 wu:6.5.6 wu:6.8"
def sample_ve(eps_model, x_T, z, sigma2):
    """Algorithm 5, mended: from x_T to x_0 with a predictor of the cumulative noise.

    eps_model: (x (n, d), t an integer) -> predicted x_t - x_0 (n, d), the noise of all
    t steps together. x_T (n, d); z (T, n, d) standard normal, step t uses z[t - 1] and
    step 1 none; sigma2 > 0: the noise variance of one step. Returns x_0 (n, d).
    With T = 1, x_T = [[2.0]] and a model that says 0.5 x the result is [[1.0]].
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

# %% covers="wu:6.8.3 wu:6.5.3"
# The printed rule and yours.
with after(sample_ve, "algorithm-5"):
    mended = sample_ve(exact_noise, noisy, fresh, sigma2)
    wide, right = mended.std().item(), (mended > 0).double().mean().item()
    words = "your samples have the standard deviation of the data, {sd:.2f}, to 3 %"
    claim(words, abs(wide / data_sd - 1) < 0.03, sd=data_sd)
    claim(
        "half of them are in each mode, to {part}", abs(right - 0.5) < 0.03, part=0.03
    )
    density = partial(pictures.mixture_density, means=[-1.6, 1.6], sd=sd)
    show(*pictures.draw_repair(algorithm_5(noisy, fresh), mended, density))

# %% [markdown] covers="wu:6.5 wu:6.5.2 wu:6.5.4 wu:6.5.5"
# ## Deeper: three names, three losses
#
# The same chain is often told by its *score*, $s(x, t) = \nabla_x \log p_t(x)$, where $p_t$ is the density of $x_t$: a
# compass that points to where data are dense. $p_t$ is a mean of Gaussians round all $x_0$, and each of them has the
# score $(x_0 - x) / (t\sigma^2)$. The score of the mixture is their mean, weighted by how likely each $x_0$ is, given
# $x$. Solve it for the mean of $x_0$:
#
# $$\hat x_0 = x_t + t\sigma^2 s(x_t, t), \qquad \hat\epsilon_t = x_t - \hat x_0 = -t\sigma^2 s(x_t, t).$$
#
# So a score model $s_\theta$ can be fitted to three things: to $x_{t-1}$, by $x_t + \sigma^2 s_\theta$; to $x_0$, by
# $x_t + t\sigma^2 s_\theta$; to $\epsilon_t$, by $-t\sigma^2 s_\theta$. Write the three losses. Two will surprise you.


# %% exercise="ve_losses" points=2 difficulty=1 covers="wu:6.5.2 wu:6.5.4 wu:6.5.5 wu:6.8.1"
def ve_losses(score, x0, x_prev, xt, t, sigma2):
    """The losses of a score model by previous state, by clean sample and by noise.

    score: (x (n, d), t (n,)) -> s (n, d). x0, x_prev = x_{t-1} and xt = x_t (n, d);
    t (n,) integers from 1 on; sigma2 > 0. Returns the three numbers in this order:
    each the squared length of what was to be met minus what the model says, its mean
    over rows.
    A score of 0, x0 = [[0.0]], x_prev = [[1.0]], xt = [[3.0]] give 4, 9, 9.
    """
    ### BEGIN SOLUTION
    s, v = score(xt, t), t[:, None] * sigma2
    previous = x_prev - (xt + sigma2 * s)
    clean = x0 - (xt + v * s)
    noise = (xt - x0) - (-v * s)
    return [e.square().sum(1).mean() for e in (previous, clean, noise)]
    ### END SOLUTION


# %% check="ve_losses"
check(ve_losses)

# %% demo=true covers="wu:6.5.2 wu:6.5.4 wu:6.5.5"
# The three names by torch's derivative and by a grid; then which loss teaches faster.
t, x = 100, torch.linspace(-6, 6, 41).double()[:, None].requires_grad_(True)
log_parts = -(x - modes.T).square() / (2 * (sd**2 + t * sigma2))
slope = torch.autograd.grad(torch.logsumexp(log_parts, 1).sum(), x)[0]
x = x.detach()
exact = exact_noise(x, t)
claim(
    "ε̂ = −tσ² ∇log p (torch's derivative)", torch.allclose(exact, -t * sigma2 * slope)
)
grid = torch.linspace(-5, 5, 2001).double()
log_prior = torch.logsumexp(-(grid[:, None] - modes.T).square() / (2 * sd**2), 1)
belief = torch.softmax(log_prior - (x - grid).square() / (2 * t * sigma2), 1)
x0_hat = (belief * grid).sum(1, keepdim=True)
claim("x̂₀ = x + tσ² s, by a grid of x₀", torch.allclose(x0_hat, x - exact))


def draw_chain(t, n=20_000):
    """x_0, x_{t-1} and x_t of the additive chain, two modes. (n, 1) each."""
    x0 = modes[torch.arange(n) % 2] + sd * normal(n, 1, seed=t + 3)
    x_prev = x0 + ((t - 1) * sigma2) ** 0.5 * normal(n, 1, seed=t + 2)
    return x0, x_prev, x_prev + sigma2**0.5 * normal(n, 1, seed=t + 1)


def some_score(x, t, c):
    """c times the true score. x (n, 1), t (n,)."""
    return -c * exact_noise(x, t[:, None]) / (t[:, None] * sigma2)


with after(ve_losses):
    at, chain, factors = torch.full((20_000,), 100), draw_chain(100), (0, 0.5, 1, 1.5)
    losses = torch.tensor(
        [ve_losses(partial(some_score, c=c), *chain, at, sigma2) for c in factors]
    )
    same = torch.allclose(losses[:, 1], losses[:, 2])
    claim("the second and the third loss are one, for every score", same)
    best = losses.argmin(0).tolist() == [2, 2, 2]
    claim("all three are least at the true score, of {n} multiples", best, n=4)
times = [1, 3, 10, 30, 100, 300]
variance = [
    pictures.gradient_variance(exact_noise, *draw_chain(t), t, sigma2) for t in times
]
show(*pictures.draw_targets(times, variance), digits=1)

# %% [markdown] covers="wu:6.8.1 wu:6.8.2"
# ## Deeper: how large is the target?
#
# To train it, take section 4's loop and noise by $x_0 + \epsilon_t$, $\epsilon_t \sim N(0, t\sigma^2 I)$: that is the
# notes' Algorithm 4. Its target is praised for its "good numerical conditioning". Look at the sizes. A network that says
# 0 has loss $t\sigma^2$. The best one, for Gaussian data of variance $V_0$, has $V_0\, t\sigma^2 / (V_0 + t\sigma^2)$.
# For a *unit* target $\epsilon_t / \sqrt{t\sigma^2}$, as in section 4, both are divided by $t\sigma^2$. Which steps would
# an untrained network listen to?

# %% demo=true covers="wu:6.8.1 wu:6.8.2"
# Both losses for both targets; the closed form, measured by Algorithm 4's draws.
V0, g = data_sd**2, torch.Generator().manual_seed(2)
t = torch.randint(1, steps + 1, (40_000, 1), generator=g)
v = t * sigma2
eps_t = v.sqrt() * torch.randn(40_000, 1, generator=g)
xt = data_sd * torch.randn(40_000, 1, generator=g) + eps_t
measured = (eps_t - xt * v / (V0 + v)).square().mean() / (V0 * v / (V0 + v)).mean()
claim("V₀ tσ² / (V₀ + tσ²) is the best loss, to 3 %", abs(measured.item() - 1) < 0.03)
late, late_unit = (
    (e[t > steps // 2].square().sum() / e.square().sum()).item()
    for e in (eps_t, eps_t / v.sqrt())
)
words = (
    "untrained, {part} of the loss comes from the late half; of the unit loss, {half}"
)
shared = abs(late - 0.75) < 0.02 and abs(late_unit - 0.5) < 0.02
claim(words, shared, part="3/4", half="1/2")
show(*pictures.draw_sizes(np.arange(1, steps + 1) * sigma2, V0))

# %% [markdown] covers="wu:6.5.7 wu:6.5"
# ## Deeper: shrinking changes nothing
#
# Are these two kinds of diffusion? Divide section 1's chain by $\sqrt{\bar\alpha_t}$. Then
# $x_t / \sqrt{\bar\alpha_t} = x_0 + \sqrt{(1 - \bar\alpha_t) / \bar\alpha_t}\; \epsilon$: noise that only adds up, step by
# step $\beta_t / \bar\alpha_t$ of variance. And the way back falls into two stages: a step by the score,
# $\tilde x = x_t + \beta_t s$, with $s = -\hat\epsilon / \sqrt{1 - \bar\alpha_t}$; then undo the scaling, $\tilde x / \sqrt{\alpha_t}$.

# %% demo=true covers="wu:6.5.7"
# Both facts at every step of Ho's schedule; the second with your sampler.
ho = linear_betas(1000, 1e-4, 0.02)
abar = torch.cat([torch.ones(1).double(), torch.cumprod(1 - ho, 0)])
added = (1 - abar) / abar
adds = torch.allclose(added.diff(), ho / abar[1:])
claim("divided by √ᾱ, the chain adds up β/ᾱ a step ({n} steps)", adds, n=1000)
with after(ddpm_sample):
    x = normal(4, 2, seed=21)
    states, _ = ddpm_sample(
        lambda x, t: x.sin(), x, torch.zeros(9, 4, 2), ho[:9], ho[:9]
    )
    s = -states[5].sin() / (1 - abar[5]).sqrt()
    staged = (states[5] + ho[4] * s) / (1 - ho[4]).sqrt()
    claim(
        "a step by the score, then unscaled, is yours",
        torch.allclose(states[4], staged),
    )

# %% [markdown] covers="explainers:5.5.b wu:6.17.3"
# ## Deeper: which noise on the way back?
#
# How far did the truth scatter round the guess? If all data were one point, you would know $x_0$, and what is left open
# of $x_{t-1}$ has variance $\tilde\beta_t$. If the data were $N(0, I)$, it is $\beta_t$. Data of variance at most 1 lie
# between, in the mean. DDPM picks one, its successors learn a value in between. With many steps it hardly matters. With few it does: three narrow
# clusters, spread 0.15, and the exact noise predictor.


# %% covers="explainers:5.5.b wu:6.17.3"
# How far 1,000 samples scatter round the nearest of three centres, for 10 to 200 steps.
centres = torch.tensor([[-1.3, 0.9], [1.3, 0.9], [0.2, -1.4]]).double()
shares = torch.tensor([0.5, 0.3, 0.2]).double()


def power(betas):
    """ᾱ_t for t = 0 … T. (T,) -> (T + 1,)."""
    return torch.cat([torch.ones_like(betas[:1]), torch.cumprod(1 - betas, 0)])


def cluster_noise(x, t, betas):
    """The exact noise predictor of the clusters. x (n, 2), t (n,), all the same."""
    left = power(betas)[t[0]]
    mixture = pictures.mixture_score(x, centres, 0.15, shares, left.sqrt(), 1 - left)
    return -(1 - left).sqrt() * mixture


with after(ddpm_sample):
    counts, spreads = [10, 20, 50, 100, 200], {"β": [], "β̃": []}
    for n in counts:
        few = cosine_betas(n)
        tilde = few * (1 - power(few)[:-1]) / (1 - power(few)[1:])
        for name, variance in (("β", few), ("β̃", tilde)):
            x_T, z = normal(1000, 2, seed=n), normal(n, 1000, 2, seed=n + 1)
            model = partial(cluster_noise, betas=few)
            ends = ddpm_sample(model, x_T, z, few, variance)[0][0]
            spreads[name].append(pictures.spread_round(ends, centres))
    show(*pictures.draw_spreads(counts, spreads, 0.15), digits=1)

# %% [markdown] covers="guo:VI.3 moon:22.5 guo:VI.3.d"
# ## Deeper: what the loss leaves out
#
# Read the model as a variational autoencoder with $T$ layers, whose latents $x_1, \dots, x_T$ have the shape of $x_0$.
# The encoder $q$ adds noise and is *fixed*; only the decoder $p_\theta(x_{t-1} \mid x_t)$ is learned. One noisy layer
# makes a weak model, many learned ones are hard to train; here each has a small, fixed job. Its bound on
# $-\log p_\theta(x_0)$ is $L_T + L_{T-1} + \dots + L_0$:
#
# - the prior term, $L_T = \mathrm{KL}(q(x_T \mid x_0) \Vert p(x_T))$,
# - the steps, $L_{t-1} = \mathrm{KL}(q(x_{t-1} \mid x_t, x_0) \Vert p_\theta(x_{t-1} \mid x_t))$ for $t \ge 2$,
# - the end, $L_0 = -\log p_\theta(x_0 \mid x_1)$.
#
# Does it add up? For data $N(0, 1)$ and exact steps it must be their entropy, $\frac12 \log 2\pi e$.

# %% [markdown] covers="moon:22.5"
# Both Gaussians of a step have fixed variances. So its term is, up to a constant, a weighted error of the noise,
# $\lambda_t \lVert \epsilon - \epsilon_\theta \rVert^2$ with $\lambda_t = \frac{\beta_t^2}{2 \sigma_t^2 \alpha_t (1 - \bar\alpha_t)}$.
# Your `ddpm_loss` drops the weight. That is a choice: it moves effort away from the first steps, whose details nobody
# sees.


# %% demo=true covers="moon:22.5 guo:VI.3.d"
# The bound of N(0, 1) on Ho's schedule, then the weights that are left out.
def bound_terms(betas):
    """Data N(0, 1), exact steps back: L_T, the terms of steps 2 … T, L_0."""
    left = torch.cumprod(1 - betas, 0)
    steps = 0.5 * torch.log((1 - left[1:]) / (1 - left[:-1]))  # ½ log(β / β̃)
    last = 0.5 * torch.log(2 * math.pi * math.e * betas[0])
    return -0.5 * torch.log(1 - left[-1]), steps, last


entropy = 0.5 * math.log(2 * math.pi * math.e)
L_T, L_steps, L_0 = bound_terms(ho)
claim(
    "L_T {a:.5f} + 999 steps {b:.3f} + L_0 {c:.3f} = {h:.4f}, the entropy",
    abs(L_T + L_steps.sum() + L_0 - entropy).item() < 1e-9,
    a=L_T, b=L_steps.sum(), c=L_0, h=entropy,
)  # fmt: skip
tilde = ho * (1 - abar[:-1]) / (1 - abar[1:])
lam = ho**2 / (2 * tilde * (1 - ho) * (1 - abar[1:]))
two = [
    (0.3 - ho[9] / (1 - abar[10]).sqrt() * e) / (1 - ho[9]).sqrt() for e in (1, -0.5)
]
p, q = (torch.distributions.Normal(mu, tilde[9].sqrt()) for mu in two)
kl = torch.distributions.kl_divergence(q, p)
claim(
    "KL of a step is λ (Δε)², at t = {t}",
    bool(torch.isclose(kl, lam[9] * 1.5**2)),
    t=10,
)
show(*pictures.draw_weights(ho / (2 * (1 - ho) * (1 - abar[1:])), lam[1:]))

# %% [markdown] covers="wu:6.5 wu:6.5.1 moon:22.5"
# ## Deeper: one network for all steps
#
# Is one network for all steps not a poor compromise? Your training loop on the three clusters: first a look at what it
# learned, as arrows of the score $-\epsilon_\theta / \sqrt{1 - \bar\alpha_t}$ beside the exact ones. At which $t$ is it
# worst, and does the factor tell why? Then ten steps and 400 updates, for one network together or 40 for each of ten.


# %% covers="wu:6.5 wu:6.5.1 moon:22.5"
# Play t: exact scores are broad arrows, learned ones slim and red.
def sample_clusters(n, seed):
    g = torch.Generator().manual_seed(seed)
    which = torch.multinomial(shares, n, replacement=True, generator=g)
    return centres[which] + 0.15 * normal(n, 2, seed=seed + 1)


with after(noise_chain, q_sample, ddpm_loss, train):
    plane, linear = sample_clusters(4000, 51).float(), SCHEDULES["linear"]
    torch.manual_seed(1)
    net, g = Denoiser(linear, 2, 96), torch.Generator().manual_seed(0)
    nothing = torch.zeros(4000, dtype=torch.long)  # no labels
    train(net, plane, nothing, linear.float(), 600, 256, 4e-3, g)
    x, mixed = plane[:4], torch.tensor([1, 30, 60, 100])
    together = net(x, mixed, nothing[:4])
    alone = [net(x[i : i + 1], mixed[i : i + 1], nothing[:1]) for i in range(4)]
    alike = torch.allclose(together, torch.cat(alone), atol=1e-5)
    claim("a batch may mix steps", together.shape == x.shape and alike)
    other = net(x, mixed.flip(0), nothing[:4])
    claim("the network reads t", not torch.allclose(together, other))
    clouds = noise_chain(plane[:400], normal(T, 400, 2, seed=52), linear)

    def draw_field(t):
        x, root = clouds[t, :70].float(), (1 - power(linear)[t]).sqrt()
        at = torch.full((70,), t)
        with torch.no_grad():
            learned = -net(x, at, nothing[:70]) / root
        exact = -cluster_noise(x.double(), at, linear) / root
        return pictures.draw_scores(x, exact, learned, clouds[t], t, T)

    t = IntSlider(30, min=1, max=T, description="step t")
    explore(draw_field, digits=0, play="t", t=t)

# %% covers="moon:22.5 wu:6.5.1"
# Your walk with the learned noise, by the MMD; then one network against ten.
with after(ddpm_sample, noise_chain, q_sample, ddpm_loss, train):

    def mmd(x, y):
        """E k(x, x′) + E k(y, y′) − 2 E k(x, y), k a Gaussian: 0 if alike."""
        pairs = ((x, x), (y, y), (x, y))
        k = [torch.exp(-torch.cdist(*pair).square() / 2).mean() for pair in pairs]
        return (k[0] + k[1] - 2 * k[2]).item()

    model, x_T = partial(net, y=nothing[:1000]), normal(1000, 2, seed=3).float()
    z = normal(T, 1000, 2, seed=4).float()
    with torch.no_grad():
        ends = ddpm_sample(model, x_T, z, linear.float(), linear.float())[0][0].double()
    real, one = sample_clusters(1000, 61), centres[:1].expand(1000, 2)
    fit = mmd(ends, real) < 0.02 < 0.2 < mmd(one, real)
    claim("MMD to real points: samples below 0.02, one cluster over 0.2", fit)

    ten = linear_betas(10, 0.01, 0.7)
    wrong_by = {"shared": 0.0, "own": 0.0}
    torch.manual_seed(2)
    shared, g = Denoiser(ten, 2, 64), torch.Generator().manual_seed(0)
    train(shared, plane, nothing, ten.float(), 400, 128, 4e-3, g)
    for t in range(1, 11):
        jump = 1 - power(ten)[t : t + 1]  # a chain of one step, as long as t of the ten
        own = Denoiser(jump, 2, 64)
        train(own, plane, nothing, jump.float(), 40, 128, 4e-3, g)
        steps_of = {"shared": (shared, t), "own": (own, 1)}
        at = torch.full((500,), t)
        x = q_sample(plane[:500], at, normal(500, 2, seed=t).float(), ten.float())
        exact = cluster_noise(x.double(), at, ten)
        for name, (model, step) in steps_of.items():
            with torch.no_grad():
                off = model(x, torch.full((500,), step), nothing[:500]) - exact
            wrong_by[name] += off.square().mean().item() / 10
    worse = wrong_by["own"] > 2 * wrong_by["shared"]
    claim("ten networks: over twice the squared error of the shared one", worse)

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails,
# the right one holds, and a wrong one of the same shape fails too. *Too broad*: a condition is missing.

# %% demo=true covers="guo:VI.3 guo:VI.3.a guo:VI.3.b"
# guo, section VI.3: a condition, two slips of the pen.
x0 = torch.tensor([-1.0, 1.0]).double().repeat(20_000)
e1, e2 = normal(40_000, seed=11), normal(40_000, seed=12)
a, b = 0.7, 0.6  # α₁, α₂; cov(x₁, x₂ | x₀) is √α₂ β₁
x1 = a**0.5 * x0 + (1 - a) ** 0.5 * e1
x2 = b**0.5 * x1 + (1 - b) ** 0.5 * e2
apart = (a * b) ** 0.5 * x0 + (1 - a * b) ** 0.5 * normal(40_000, seed=13)


def steps_alone(one, other):
    """Is their covariance that of a product of two steps? To three standard errors."""
    return (
        abs(torch.cov(torch.stack([one, other]))[0, 1] - b**0.5 * (1 - a)).item() < 0.02
    )


erratum(
    "guo:VI.3.a",
    quote=r"$q(X_1, \dots, X_T) = \prod_{t=1}^T q(X_t | X_{t-1}),$",
    corrected=r"$q(X_1, \dots, X_T \mid X_0) = \prod_t q(X_t \mid X_{t-1})$",
    kind="error",
    printed_holds=steps_alone(x1, x2),
    corrected_holds=steps_alone(x1[x0 > 0], x2[x0 > 0]),
    decoy_holds=steps_alone(x1[x0 > 0], apart[x0 > 0]),  # the product of q(X_t | X_0)
)
erratum(
    "guo:VI.3",
    quote=r"Here, let $X_0 \in \mathbb{R}$ be the data and $T$ be the maximum number",
    corrected=r"all $X_t$ lie in one space, $\mathbb R^{D_1 \times D_2}$",
    kind="convention",
)
erratum(
    "guo:VI.3.a",
    quote=r"\mu = \sqrt{1 - \beta_t} X_{t-1}, \Sigma_t = B_t \text{Id}",
    corrected=r"$\Sigma_t = \beta_t \mathrm{Id}$",
    kind="copy",
)
erratum(
    "guo:VI.3.b",
    quote=(
        r"\mathcal{N}(\mu_t = \sqrt{\bar{\alpha}_t} X_0, \Sigma_t - (1 - "
        r"\bar{\alpha}_t) \text{Id})"
    ),
    corrected=r"$\Sigma_t = (1 - \bar\alpha_t) \mathrm{Id}$",
    kind="copy",
)


# %% demo=true covers="moon:22.2 moon:22.5"
# moon, sections 22.2 and 22.5: a factor, an index, a weight; and names.
def end_sd(factor):
    """Data N(0, ¼), exact guesses, Ho's schedule: the sd after the last step."""
    v = 1.0
    for t in range(1000, 0, -1):
        guess = (1 - abar[t]).sqrt() / (abar[t] / 4 + 1 - abar[t])
        slope = (1 - ho[t - 1] / (1 - abar[t]).sqrt() * guess) / (1 - ho[t - 1]).sqrt()
        v = slope**2 * v + factor(ho[t - 1]) ** 2 * (t > 1)
    return v**0.5


erratum(
    "moon:22.5",
    quote=(
        r"\boldsymbol{\epsilon}_{\theta}(\mathbf{x}_t, t) \bigg) + \Sigma_t "
        r"\mathbf{z}"
    ),
    corrected=(
        r"$+\, \sigma_t z$ with $\sigma_t = \sqrt{\beta_t}$, where $\Sigma_t = "
        r"\beta_t I$"
    ),
    kind="error",
    printed_holds=abs(end_sd(lambda beta: beta).item() - 0.5) < 0.01,
    corrected_holds=abs(end_sd(torch.sqrt).item() - 0.5) < 0.01,
    decoy_holds=abs(end_sd(lambda beta: 2 * beta).item() - 0.5) < 0.01,
)
L_T, L_steps, L_0 = bound_terms(torch.tensor([0.2, 0.4, 0.6]).double())  # three steps
whole = L_T + L_steps.sum() + L_0
erratum(
    "moon:22.5",
    quote=(
        r"- $L_t = D_{KL}(q(\mathbf{x}_{t-1}|\mathbf{x}_t,\mathbf{x}_0) "
        r"\parallel p_{\theta}(\mathbf{x}_{t-1}|\mathbf{x}_t))$ for t > 1"
    ),
    corrected=r"$L_{t-1}$: as $L_T$ is the prior term, the sum would lose the step $T$",
    kind="error",
    printed_holds=abs((whole - L_steps[-1]).item() - entropy) < 1e-9,
    corrected_holds=abs(whole.item() - entropy) < 1e-9,
    decoy_holds=abs((whole - L_T).item() - entropy) < 1e-9,  # step T for the prior term
)
weight = ho / (2 * (1 - ho) * (1 - abar[1:]))
erratum(
    "moon:22.5",
    quote=r"Final objective function $L_t$ is",
    corrected=(
        r"only up to the weight $\lambda_t$ of (22.52), which is dropped on "
        r"purpose"
    ),
    kind="broad",
    printed_holds=bool((weight.max() / weight.min() - 1).abs() < 0.01),
    corrected_holds=bool((weight[0] / weight[-1] / 49 - 1).abs() < 0.01),
)
erratum(
    "moon:22.5",
    quote=(
        r"D_{\mathrm{KL}}(q(\mathbf{x}_T|\mathbf{x}_0) \parallel "
        r"p_{\theta}(\mathbf{x}_T))"
    ),
    corrected=r"$p(x_T) = N(0, I)$ has no parameter",
    kind="convention",
)
erratum(
    "moon:22.5",
    quote=r"\mathbf{z} &\sim \mathcal{N}(0, I) \\",
    corrected=r"$z = 0$ in the last step, $t = 1$",
    kind="convention",
)
erratum(
    "moon:22.2",
    quote=r"Sample $\mathbf{x}_t \sim q(\mathbf{x}_t)$ and scale it by",
    corrected=r"sample $x_{t-1}$, scale it, add noise",
    kind="convention",
)
erratum(
    "moon:22.2",
    quote=(
        r"\sqrt{\alpha_t - \alpha_t \alpha_{t-1} + 1 - \alpha_t} \odot "
        r"\epsilon_{t-2}"
    ),
    corrected=r"a new $\epsilon \sim N(0, I)$: the two sides are equal in distribution",
    kind="convention",
)
erratum(
    "moon:22.2",
    quote=r"\sqrt{\prod_{t} \alpha_{t}} \mathbf{x}_{0}",
    corrected=(
        r"$\prod_{s=1}^t \alpha_s$, and $\odot$ with a number is plain "
        r"multiplication"
    ),
    kind="convention",
)


# %% demo=true covers="wu:6.8.1 wu:6.8.3 wu:6.17.2 wu:6.17.3"
# wu, sections 6.8 and 6.17: a factor, a size, a variance, the last step.
def additive_sd(share):
    """Data N(0, 1.67²), exact guesses: the sd, if each step removes share(t) of ε̂."""
    v, V0 = 1.67**2 + steps * sigma2, 1.67**2
    for t in range(steps, 0, -1):
        guess = t * sigma2 / (V0 + t * sigma2)
        v = (1 - share(t) * guess) ** 2 * v + sigma2 * (t > 1)
    return v**0.5


erratum(
    "wu:6.8.3",
    quote=(
        r"\frac{\sigma^2}{t} \epsilon_{\theta}(\mathbf{x}_t, t) + \sigma "
        r"\mathbf{z}_t … The predicted noise is scaled by $\sigma^2/t$"
    ),
    corrected=r"$x_{t-1} = x_t - \frac1t\, \epsilon_\theta(x_t, t) + \sigma z_t$",
    kind="error",
    printed_holds=abs(additive_sd(lambda t: sigma2 / t) - 1.67) < 0.05,
    corrected_holds=abs(additive_sd(lambda t: 1 / t) - 1.67) < 0.05,
    decoy_holds=abs(additive_sd(lambda t: sigma2**0.5 / t) - 1.67) < 0.05,
)
erratum(
    "wu:6.8.1",
    quote="Good numerical conditioning",
    corrected=r"of unit targets: here the target's variance grows $T$-fold with $t$",
    kind="broad",
    # an untrained network: do both halves of the steps bring half of its loss?
    printed_holds=abs(late - 0.5) < 0.02,
    corrected_holds=abs(late_unit - 0.5) < 0.02,
)
wide = a**0.5 * 2 * x0 + (1 - a) ** 0.5 * e1  # from data of variance 4
erratum(
    "wu:6.17.2",
    quote=(
        r"The variance is always normalized: $\bar{\alpha}_t + (1 - "
        r"\bar{\alpha}_t) = 1$"
    ),
    corrected=(
        r"$\bar\alpha_t \mathrm{Var}(x_0) + 1 - \bar\alpha_t$, which is 1 if "
        r"$\mathrm{Var}(x_0) = 1$"
    ),
    kind="broad",
    printed_holds=abs(wide.var().item() - 1) < 0.05,
    corrected_holds=abs(wide.var().item() - (4 * a + 1 - a)) < 0.05,
)
erratum(
    "wu:6.8.3",
    quote=r"Sample noise:  $\mathbf{z}_t \sim \mathcal{N}(0, \mathbf{I})$",
    corrected=r"$z_1 = 0$ where a clean sample is wanted",
    kind="convention",
)
erratum(
    "wu:6.17.3",
    quote=r"\sqrt{\beta_t} \mathbf{z}_t",
    corrected=(
        r"many set $z_1 = 0$; with it, the sample has noise of variance "
        r"$\beta_1$"
    ),
    kind="convention",
)


# %% demo=true covers="explainers:5.5.a explainers:5.5.b explainers:5.5.c"
# explainers, section 5.5: an open interval, and three sentences.
def way_back(betas):
    """Are the two factors of a step back finite at every t?"""
    share = betas / (1 - torch.cumprod(1 - betas, 0)).sqrt()
    return bool(torch.stack([1 / (1 - betas).sqrt(), share]).isfinite().all())


erratum(
    "explainers:5.5.a",
    quote=r"$\beta_1, \dots, \beta_T \in [0, 1]$ are hyperparameters",
    corrected=r"$\beta_t \in (0, 1)$: at both ends a step back divides by 0",
    kind="broad",
    printed_holds=way_back(torch.tensor([0.0, 0.5, 1.0])),
    corrected_holds=way_back(torch.tensor([1e-4, 0.5, 0.999])),
)
erratum(
    "explainers:5.5.b",
    quote=(
        r"are hyperparameters, $\epsilon_\theta$ is the diffusion model's "
        r"denoiser and $\mathbf{z}$ is sampled from $\mathcal{N}(0, I)$"
    ),
    corrected=r"in the last step $z = 0$, or $\sigma_1 = 0$",
    kind="convention",
)
erratum(
    "explainers:5.5.b",
    quote=(
        r"iteratively turn sampled noise $\mathbf{x}_T \in \mathcal{N}(0, I)$ "
        r"into something"
    ),
    corrected=r"$x_T \sim N(0, I)$",
    kind="convention",
)
erratum(
    "explainers:5.5.c",
    quote=(
        "performing gradient descent in which gradients are computed via "
        "backpropagation through … the entire model"
    ),
    corrected=(
        r"through one call of the denoiser, at one random $t$, not through the "
        r"walk"
    ),
    kind="convention",
)

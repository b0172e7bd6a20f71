# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="a learned score, and an annealed walk that samples with it" covers="moon:22.6.2"
# # Energy models, score matching and Langevin
#
# Three hills are to be sampled: 60, 30 and 10 % of the points, each hill with a spread of 0.3 (the standard deviation in
# either coordinate). A sampler is handed the *exact* compass: at every place it knows in which direction, and how steeply,
# the log density grows. A thousand particles follow it for 200 steps. Below is what comes out: a third in each hill, and
# every hill far too wide.
#
# There is no slip in the code, and none in the compass. **Which two things went wrong?** And in practice nobody hands you
# a compass: all you have is 2,000 points. At the end you do better than this sampler, with nothing but those points.

# %%
# What this notebook needs.
import math

import numpy as np
import sympy
import torch
from ipywidgets import FloatLogSlider, FloatSlider, IntSlider
from torch import nn

from descent import after, below, check, claim, erratum, explore, hint
from descent import movie, predict, show, solution, start
from descent.pictures.diffusion import score_and_langevin as pictures
from descent.pictures.diffusion.mixtures import Mixture, three_hills, two_hills

start("15_diffusion/05_score_and_langevin")

# %% demo=true covers="moon:22.6.2"
# What was asked for, and what the sampler with the exact compass delivers.
world = three_hills()
wanted, _ = world.sample(1000, np.random.default_rng(0))
show(
    *pictures.draw_clouds({"asked for": wanted, "delivered": pictures.puzzle()}, world)
)

# %% [markdown] covers="moon:22.6"
# ## 1. A compass that needs no scale
#
# Physicists tell how likely a state is by its *energy*, a number $f(x)$: low energy, many visits. The density is
#
# $$p(x) = \frac{e^{-f(x)}}{Z}, \qquad Z = \int e^{-f(x)}\, dx .$$
#
# Any $f$ makes a model if $Z$ is finite. But for grey images of $100 \times 100$ pixels $Z$ is a sum of $256^{10000}$
# terms. What is known without it? Take the logarithm, then the slope in the *place* $x$; $\log Z$ drops out:
#
# $$s(x) = \nabla_x \log p(x) = -\nabla_x f(x).$$
#
# This is the **score**, our compass. (Statistics has another: the slope in the parameters.) First a bet, then
# drag the point.
#
# 1. Raise the energy by $c$. What changes in the other pictures?
# 2. Change the left hill's share. Which picture hardly shows it?

# %% predict="a-hill-shrinks" minutes=1 covers="moon:22.6"
predict(
    "a-hill-shrinks",
    "Two hills on a line, at −1.5 and at 1. The right one shrinks from 90 % of the "
    "mass to 10 %. A particle stands on its slope, at 1.3. The score there …",
    ["gets about nine times weaker", "changes its sign", "stays what it was, to 0.1 %"],
    truth=int(np.isclose(*pictures.score_by_share([0.1, 0.9], 1.3), rtol=1e-3)) * 2,
    because="Inside a hill, its share is a constant factor of p, and falls out of "
    "∇ log p just as Z does. Only in the valley do the hills compete.",
)

# %% covers="moon:22.6"
# Drag the point: energy, density and score of two hills.
explore(
    pictures.draw_landscape,
    drag={"x": "energy"},
    x=FloatSlider(-1.2, min=-2.6, max=2.8, step=0.05, description="place x"),
    share=FloatSlider(
        0.35, min=0.1, max=0.9, step=0.05, description="share, left hill"
    ),
    c=FloatSlider(0, min=-4, max=4, step=0.5, description="energy raised by c"),
)

# %% [markdown] covers="moon:22.6"
# torch finds the slope of any function. One thought saves a loop: each row of $x$ has its own energy. So the gradient of
# the *sum* of all energies holds, row by row, the gradient of each.


# %% exercise="energy_score" points=2 difficulty=1 covers="moon:22.6"
def energy_score(f, x):
    """The score of the density e^(-f) / Z at each row of x.

    f: tensor (n, d) -> energies (n,), made of torch's functions, each from its own row.
    x (n, d) float tensor, left unchanged: it must not ask for gradients afterwards.
    Returns a tensor (n, d), finite wherever the slope of f is.
    f(x) = ½‖x‖², x = [[1.0, -2.0]] gives [[-1.0, 2.0]].
    """
    ### BEGIN SOLUTION
    x = x.detach().requires_grad_(True)
    (slopes,) = torch.autograd.grad(f(x).sum(), x)
    return -slopes
    ### END SOLUTION


# %% check="energy_score"
check(energy_score)

# %% open=true covers="moon:22.6"
with after(energy_score):

    def energy(x):  # of three hills, never divided by any Z
        gaps = x[:, None] - torch.tensor(world.means)
        parts = torch.tensor(world.weights).log() - gaps.square().sum(-1) / 0.18
        return -torch.logsumexp(parts, 1)

    x = torch.tensor(wanted)
    equal = np.allclose(energy_score(energy, x), world.score(wanted))
    claim(
        "the score needs no Z: it is that of the density, at {n} points", equal, n=1000
    )

# %% [markdown] covers="moon:22.6.2 wu:6.12.3"
# ## 2. Uphill, and shaken
#
# Let particles walk straight up, $x + \frac\epsilon2 s(x)$, and all end on the peaks. For a whole cloud, shake them, like
# pollen in water (Paul Langevin, 1908):
#
# $$x_t = x_{t-1} + \frac\epsilon2\, s(x_{t-1}) + \sqrt\epsilon\; z_t, \qquad z_t \sim N(0, I).$$
#
# The start may be anything; $\epsilon > 0$ is the step size. (Elsewhere it is written $\sigma^2 \Delta t$.) Why the half? On
# $N(0, 1)$ the score is $-x$, so that a step turns the variance $v$ into
#
# $$\big(1 - \tfrac\epsilon2\big)^2 v + \epsilon = v + \epsilon (1 - v) + \tfrac{\epsilon^2}4 v :$$
#
# too narrow a cloud grows, too wide a one shrinks. They balance at $v = 1$, but for a term of order $\epsilon^2$.


# %% exercise="langevin" points=3 difficulty=1 covers="moon:22.6.2 wu:6.12.3"
def langevin(score, x0, z, eps):
    """All states of the walk of n particles.

    score: array (n, d) -> (n, d), asked once a step. x0 (n, d), left unchanged;
    z (T, n, d) standard normal, z[t - 1] shakes step t; eps > 0. All numpy arrays.
    Returns (T + 1, n, d): entry t is x_t.
    score(x) = -x, x0 = [[2.0]], z = [[[1.0]]], eps = 0.25 gives [[[2.0]], [[2.25]]].
    """
    ### BEGIN SOLUTION
    path = [x0]
    for noise in z:
        drift = eps / 2 * score(path[-1])
        path.append(path[-1] + drift + math.sqrt(eps) * noise)
    return np.array(path)
    ### END SOLUTION


# %% check="langevin"
check(langevin)

# %% predict="too-long-a-step" minutes=1 covers="moon:22.6.2 wu:6.12.3"
predict(
    "too-long-a-step",
    "Your walk on N(0, 1), with steps of ε = 1, for ever. Which variance does the "
    "cloud end with?",
    ["1", "4/3", "2"],
    truth=int(np.isclose([1, 4 / 3, 2], pictures.ula_variance(1.0)).argmax()),
    because="v = (1 − ε/2)² v + ε has one solution, v = 1 / (1 − ε/4). The walk is "
    "exact only as ε → 0; for ε ≥ 4 it never settles.",
)

# %% covers="moon:22.6.2 wu:6.12.3"
# The first fault: the variance of 20,000 particles after 60 steps, for six step sizes.
with after(langevin, "too-long-a-step"):
    rng, sizes = np.random.default_rng(1), [0.1, 0.4, 1, 1.7, 2.4, 3]
    x0, z = rng.normal(size=(20_000, 1)), rng.normal(size=(60, 20_000, 1))
    ends = [langevin(lambda x: -x, x0, z, eps)[-1].var() for eps in sizes]
    off = np.max(np.abs(np.array(ends) / pictures.ula_variance(sizes) - 1))
    words = "variance 1 / (1 − ε/4), to {part:.0%}: three standard errors"
    claim(words, off < 0.03, part=0.03)
    show(*pictures.draw_variances(sizes, ends))

# %% [markdown] covers="wu:6.12.3 moon:22.6.2"
# So that is one fault: **steps too long make hills too wide**. Make them tiny, then? Two hills again, a third of the mass
# in the left one. All particles start there; two thirds have to cross.
#
# 1. With $\epsilon = 0.005$, how many have crossed after 400 steps?
# 2. With $\epsilon = 0.2$, what becomes of the narrow hill: its spread, and its share?
# 3. Is there a step size that is right in both, within 400 steps?

# %% covers="wu:6.12.3 moon:22.6.2"
# Play the steps, for short steps and for long ones.
with after(langevin):
    shaken = np.random.default_rng(2).normal(size=(400, 1000, 1))
    walks = {}  # a step size -> its walk

    def draw_crossing(eps, steps):
        if eps not in walks:
            walks.clear()
            left = np.full((1000, 1), -1.5)
            walks[eps] = langevin(two_hills().score, left, shaken, eps)[:, :, 0]
        return pictures.draw_crossing(walks[eps][steps], eps, steps)

    explore(
        draw_crossing,
        digits=1,
        play="steps",
        eps=FloatLogSlider(
            0.05, min=-2.3, max=-0.7, step=0.1, description="step size ε"
        ),
        steps=IntSlider(400, min=0, max=400, step=5, description="steps"),
    )

# %% [markdown] covers="moon:22.6.2 wu:6.12.3"
# ## 3. Melt the hills
#
# The second fault: **inside a hill the score says nothing of the shares**. A particle falls into the nearest hill and
# stays; on the first screen, practically for ever.
#
# Remedy: melt the hills. Add noise to the data, $\tilde x = x + \sigma z$, of density $p_\sigma$ and score $s(x, \sigma)$.
# (Each Gaussian's variance grows by $\sigma^2$, so that our $s$ is still exact.) For a large $\sigma$ there is one wide hill,
# crossed in a few steps. Cool slowly: as three hills rise out of it, each gathers its share.
#
# The levels $\sigma_1 > \dots > \sigma_L$ fall by a constant factor; what is wide is walked in long steps,
# $\epsilon_i = r\, \sigma_i^2$. Each level starts where the one before ended. (Song and Ermon, 2019: *annealed Langevin
# dynamics*.)


# %% exercise="annealed_langevin" points=3 difficulty=1 covers="moon:22.6.2 wu:6.12.3"
def annealed_langevin(score, x0, z, sigmas, r):
    """All states of a Langevin walk whose noise level falls.

    score: (x (n, d), sigma: a number) -> (n, d). x0 (n, d); z (L, K, n, d) standard
    normal: z[i] shakes the K steps at level sigmas[i]; sigmas (L,), walked in their
    order; r > 0. You may use langevin. Returns (1 + L·K, n, d), from x0 on.
    score(x, sigma) = -x / sigma, x0 = [[1.0]], z = [[[[0.0]]], [[[0.0]]]],
    sigmas = [2.0, 1.0], r = 0.5 gives [[[1.0]], [[0.5]], [[0.375]]].
    """
    ### BEGIN SOLUTION
    path = [x0]
    for noise, sigma in zip(z, sigmas):

        def at_level(x, sigma=sigma):
            return score(x, sigma)

        walk = langevin(at_level, path[-1], noise, r * sigma**2)
        path.extend(walk[1:])
    return np.array(path)
    ### END SOLUTION


# %% check="annealed_langevin"
check(annealed_langevin)

# %% open=true covers="wu:6.12.3 moon:22.6.2"
sigmas = np.geomspace(4, 0.1, 10)
with after(langevin, annealed_langevin):
    rng = np.random.default_rng(3)
    x0, z = 4 * rng.normal(size=(300, 2)), rng.normal(size=(10, 24, 300, 2))
    plain = langevin(world.score, x0, z.reshape(240, 300, 2), 0.02)
    annealed = annealed_langevin(
        lambda x, sigma: world.noised(1, sigma).score(x), x0, z, sigmas, 0.5
    )
    fig, ax, words, film, colors = pictures.side_by_side(plain, annealed, world)
    movie(fig, ax, film, words, seconds=10, colors=colors, digits=1)

# %% [markdown] covers="moon:22.6.1"
# ## 4. Learn the compass
#
# That compass was exact, though. You have only points. To fit a model $s_\theta$, one would make the **Fisher divergence**
# small,
#
# $$\mathcal L = \tfrac12\, \mathbb E_p \lVert \nabla \log p(x) - s_\theta(x) \rVert^2 ,$$
#
# but nobody knows the target. Expand the square. Only the cross term mixes $p$ and $s_\theta$, and since
# $p \nabla \log p = \nabla p$, it is $-\int s_\theta^\top \nabla p\, dx = \int p\, \mathrm{tr}(\nabla s_\theta)\, dx$: by parts,
# if $p\, s_\theta$ vanishes fast enough far away. So
#
# $$\mathcal L = \underbrace{\tfrac12 \mathbb E_p \lVert \nabla \log p \rVert^2}_{\text{no } \theta} + \mathbb E_p \Big[ \tfrac12 \lVert s_\theta(x) \rVert^2 + \mathrm{tr}\big(\nabla_x s_\theta(x)\big) \Big].$$
#
# The second mean needs points only: **implicit score matching** (Hyvärinen, 2005). The trace is
# $\sum_i \partial s_i / \partial x_i$: one backward pass for each coordinate $i$.


# %% exercise="ism_loss" points=4 difficulty=1 covers="moon:22.6.1"
def ism_loss(score, x):
    """The implicit score matching loss: the mean of ½‖s‖² + tr(∇s) over the rows.

    score: tensor (n, d) -> (n, d), each row from its own, by torch's functions.
    x (n, d), left unchanged: it must not ask for gradients afterwards. Returns a
    scalar tensor that can be differentiated once more, in the weights of score:
    torch.autograd.grad(…, create_graph=True).
    score(x) = -x, x = [[1.0, 2.0]] gives ½·5 - 2 = 0.5.
    """
    ### BEGIN SOLUTION
    x = x.detach().requires_grad_(True)
    s = score(x)
    trace = 0
    for i in range(x.shape[1]):
        (slopes,) = torch.autograd.grad(s[:, i].sum(), x, create_graph=True)
        trace = trace + slopes[:, i]
    return (s.square().sum(1) / 2 + trace).mean()
    ### END SOLUTION


# %% check="ism_loss"
check(ism_loss)

# %% [markdown] covers="moon:22.6.1 cs480:15"
# ### The cheap way: learn from noise
#
# For $100 \times 100$ pixels that is 10,000 backward passes. But the walk wants *melted* scores anyway, and there is a
# shortcut (Vincent, 2011). Given $x$, the melted $\tilde x = x + \sigma z$ is Gaussian, with the score
# $(x - \tilde x) / \sigma^2 = -z / \sigma$. You know it: you drew $z$. Many $x$ may hide behind one
# $\tilde x$. Yet the *mean* of these targets, given $\tilde x$, is $s(\tilde x, \sigma)$, as $p_\sigma$ is a mean of
# Gaussians; and in squared error one learns the mean. So regress on $-z / \sigma$:
#
# $$J = \tfrac12\, \mathbb E\; \sigma^2 \Big\lVert s_\theta(x + \sigma z, \sigma) + \frac z\sigma \Big\rVert^2 .$$
#
# The factor $\sigma^2$ gives all levels targets of one size. [[15/03|DDPM]] names the noise instead:
# there, $\epsilon_\theta = -\sqrt{1 - \bar\alpha_t}\; s_\theta$.


# %% exercise="dsm_loss" points=2 difficulty=1 covers="cs480:15 moon:22.6.1"
def dsm_loss(model, x, sigma, z):
    """The denoising score matching loss J, its mean over the rows.

    model: (x (n, d), sigma (n,)) -> score (n, d), asked once. x, z (n, d), z
    standard normal; sigma (n,) > 0: each row has its own level. All torch tensors.
    Returns a scalar tensor that can be differentiated.
    A model that says 0 has the loss 1 on z = [[1.0, 1.0]], whatever sigma is.
    """
    ### BEGIN SOLUTION
    level = sigma[:, None]
    s = model(x + level * z, sigma)
    miss = level * s + z
    return miss.square().sum(1).mean() / 2
    ### END SOLUTION


# %% check="dsm_loss"
check(dsm_loss)

# %% covers="moon:22.6.1 cs480:15"
# Three losses of c times the true score: they differ by constants, so one c is best.
with after(ism_loss, dsm_loss):
    rng, level, factors = np.random.default_rng(4), 0.4, np.linspace(0, 2, 9)
    points = torch.tensor(two_hills().sample(40_000, rng)[0])
    z = torch.tensor(rng.normal(size=(40_000, 1)))
    melted, at = points + level * z, torch.full((40_000,), level)
    target = torch.tensor(two_hills().noised(1, level).score(melted.numpy()))
    curves = {"Fisher": [], "implicit": [], "denoising": []}
    for c in factors:

        def guess(x, sigma=None, c=c):
            return c * pictures.torch_score(two_hills().noised(1, level), x)

        curves["Fisher"].append(((1 - c) * target).square().mean().item() / 2)
        curves["implicit"].append(ism_loss(guess, melted).item())
        curves["denoising"].append(dsm_loss(guess, points, at, z).item() / level**2)
    gaps = {name: np.subtract(curves[name], curves["Fisher"]) for name in curves}
    for name in ("implicit", "denoising"):
        words = "{name} − Fisher is {c:.1f}, for {n} factors, to {e}"
        spread = np.ptp(gaps[name])
        claim(words, spread < 0.1, name=name, c=gaps[name].mean(), n=9, e=0.1)
    show(*pictures.draw_three_losses(factors, curves))

# %% [markdown] covers="cs480:15 moon:22.6.1"
# ## 5. Train it, and answer
#
# One network serves all levels, with $\sigma$ as an input (the next cell has it). One update of its weights: draw rows,
# a level for each, and noise; the loss; a step of Adam. No walk, no adversary, no $Z$.
#
# The targets are noisy, so the weights keep jittering. A usual cure: beside each weight $w$ keep an average
# $a$, which starts at the untrained $w$. After every update, $a \leftarrow \delta\, a + (1 - \delta)\, w$. At the end the model gets the averages.


# %% covers="cs480:15"
# The network: the score of one wide hill, plus what three layers add to it.
class ScoreNet(nn.Module):
    """(x (n, 2), sigma (n,)) -> score (n, 2)."""

    def __init__(self, width=64, variance=4.0):
        super().__init__()
        self.variance = variance
        self.layers = nn.Sequential(
            nn.Linear(3, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(),
            nn.Linear(width, 2),
        )  # fmt: skip

    def forward(self, x, sigma):
        sigma = sigma[:, None]
        wide = (sigma**2 + self.variance).sqrt()
        seen = torch.cat([x / wide, sigma.log() / 2], 1)
        return -x / wide**2 + self.layers(seen) * 2 / (sigma * wide)


# %% exercise="train_score" points=4 difficulty=1 covers="cs480:15 moon:22.6.1"
def train_score(model, x, sigmas, n_steps, batch, lr, decay, g):
    """Train a score model by Adam on dsm_loss; returns the n_steps losses, numbers.

    model: a torch module, called as model(x, sigma), its weights change in place; in
    the end they are their averages, δ = decay. x (N, d) float32; sigmas (L,) levels.
    Adam with torch's own settings but lr. All chance comes from the generator g, in
    each update in this order: `batch` row numbers of x, which may repeat
    (torch.randint); as many level numbers (torch.randint); the noise (torch.randn).
    You may use dsm_loss.
    """
    ### BEGIN SOLUTION
    adam, losses = torch.optim.Adam(model.parameters(), lr), []
    averages = [w.data.clone() for w in model.parameters()]
    for _ in range(n_steps):
        rows = torch.randint(len(x), (batch,), generator=g)
        levels = torch.randint(len(sigmas), (batch,), generator=g)
        z = torch.randn(batch, x.shape[1], generator=g)
        loss = dsm_loss(model, x[rows], sigmas[levels], z)
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
        for average, w in zip(averages, model.parameters()):
            average.copy_(decay * average + (1 - decay) * w.data)
    for average, w in zip(averages, model.parameters()):
        w.data.copy_(average)
    return losses
    ### END SOLUTION


# %% check="train_score"
check(train_score)

# %% covers="cs480:15 moon:22.6.2 wu:6.12.3"
# The answer: 2,000 points, your training, your annealed walk; both faults apart, too.
with after(langevin, annealed_langevin, dsm_loss, train_score):
    given, _ = world.sample(2000, np.random.default_rng(5))
    levels, g = torch.tensor(sigmas).float(), torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    net = ScoreNet()
    train_score(net, torch.tensor(given).float(), levels, 1200, 256, 4e-3, 0.99, g)

    def learned(x, sigma):
        """The network's score as an array. x (n, 2), sigma a number."""
        with torch.no_grad():
            at = torch.full((len(x),), float(sigma))
            return net(torch.tensor(x).float(), at).double().numpy()

    rng = np.random.default_rng(6)
    x0, z = 4 * rng.normal(size=(1000, 2)), rng.normal(size=(10, 24, 1000, 2))
    short = langevin(world.score, x0, z.reshape(240, 1000, 2), 0.02)[-1]
    yours = annealed_langevin(learned, x0, z, sigmas, 0.5)[-1]
    clouds = {"first screen": pictures.puzzle(), "shorter steps": short}
    clouds["learned, annealed"] = yours
    fits = {name: pictures.fit(cloud, world) for name, cloud in clouds.items()}
    words = (
        "short steps mend the spread (0.3, to a tenth), not the shares (each a third)"
    )
    shares, spread = fits["shorter steps"]
    claim(words, abs(spread / 0.3 - 1) < 0.1 and np.ptp(shares) < 0.1)
    shares, spread = fits["learned, annealed"]
    near = np.abs(shares - world.weights).max() < 0.06
    claim("yours has the shares 60, 30 and 10 %, to {d} points", near, d=6)
    claim("and a spread of 0.3, to a fifth", abs(spread / 0.3 - 1) < 0.2)
    lost = yours[pictures.nearest(yours, world)[1] > 1.2**2]
    words = (
        "but a few, under {most} of {n}, are lost: over 1.2 from every hill's centre"
    )
    claim(words, 0 < len(lost) < 30, most=30, n=1000)
    exact, mine = world.noised(1, 0.1).score(lost), learned(lost, 0.1)
    words = (
        "there, at σ = 0.1, your arrows have less than {part:.0%} of the right length"
    )
    claim(words, np.linalg.norm(mine) < 0.7 * np.linalg.norm(exact), part=0.7)
    show(*pictures.draw_clouds(clouds, world), digits=0)

# %% [markdown]
# ## Take-aways
#
# - The score $\nabla_x \log p = -\nabla_x f$ needs no $Z$. Nor does it know the mass of a distant hill.
# - **The first screen had two faults.** Long steps make the cloud too wide: variance $1 / (1 - \epsilon / 4)$ on $N(0, 1)$.
#   And a hill that cannot be left keeps whoever fell into it.
# - Annealing cures the second. The walk begins where noise has melted the hills into one, and cools slowly.
# - Learning needs no target. Implicit and denoising score matching are the Fisher divergence up to a constant; the second
#   costs one pass.
# - A score is learned only where there are points. At the last level hardly one lies between the hills: the arrows there are
#   too short, and about one particle in a hundred is lost.
#
# Next: [[next]].

# %% [markdown] covers="moon:22.6"
# ## Deeper: learn the energy itself
#
# Why not fit $p_\theta = e^{-f_\theta} / Z_\theta$ by maximum likelihood? The slope of $\log Z_\theta$ in $\theta$ is
# $\nabla_\theta Z_\theta / Z_\theta = -\mathbb E_{p_\theta} \nabla_\theta f_\theta$, so that
#
# $$\nabla_\theta \log p_\theta(x) = -\nabla_\theta f_\theta(x) + \mathbb E_{p_\theta} \nabla_\theta f_\theta .$$
#
# Climbing it lowers the energy of the data and raises it where the model itself puts its mass. In many dimensions that
# mean has no formula: one avoids it (the score, or a [[14/03|variational autoencoder]]), or estimates it from draws of the
# model (MCMC, such as your walk). On a line a sum over a fine grid will do.


# %% exercise="ebm_gradient" points=3 difficulty=1 covers="moon:22.6"
def ebm_gradient(f, grad_f, theta, data, grid):
    """The gradient in theta of the mean log-likelihood of the data.

    f: (x (n,), theta (k,)) -> energies (n,); grad_f: the same -> (n, k), their slopes
    in theta. data (n,); grid (m,), evenly spaced: the mean under the model is a sum
    over it, weighted in proportion to e^(-f). Returns (k,), finite for any energies.
    With f = theta[0]·x, grid = [0.0, 1.0], theta = [0.0], data = [1.0] it is [-0.5].
    """
    ### BEGIN SOLUTION
    energies = f(grid, theta)
    log_Z = np.logaddexp.reduce(-energies)
    weights = np.exp(-energies - log_Z)
    by_model = weights @ grad_f(grid, theta)
    by_data = grad_f(data, theta).mean(0)
    return by_model - by_data
    ### END SOLUTION


# %% check="ebm_gradient"
check(ebm_gradient)

# %% covers="moon:22.6"
# An energy with four weights climbs to the likeliest; then your walk for the means.
with after(ebm_gradient, langevin):
    data = two_hills().sample(2000, np.random.default_rng(7))[0][:, 0]
    grid, theta = np.linspace(-4, 4, 401), np.array([0.0, 0.5, 0.0, 0.1])

    def quartic(x, theta):
        return pictures.powers(x) @ theta

    def slopes(x, theta):
        return pictures.powers(x)

    def log_likelihood(theta):
        Z = np.exp(-quartic(grid, theta)).sum() * (grid[1] - grid[0])
        return -quartic(data, theta).mean() - math.log(Z)

    nudged = [log_likelihood(theta + h * np.eye(4)[3]) for h in (1e-5, -1e-5)]
    g = ebm_gradient(quartic, slopes, theta, data, grid)
    same = np.isclose(g[3], (nudged[0] - nudged[1]) / 2e-5)
    claim("it is the slope of the log-likelihood, Z and all (finite differences)", same)
    for _ in range(1500):
        theta = theta + ebm_gradient(quartic, slopes, theta, data, grid)
    left = np.abs(ebm_gradient(quartic, slopes, theta, data, grid)).max()
    words = "at the top, model and data agree in the means of u, …, u⁴, u = x/2, to {e}"
    claim(words, left < 1e-3, e=1e-3)
    show(*pictures.draw_energy(grid, quartic(grid, theta), data))

    def quartic_score(x):
        return -pictures.power_slopes(x[:, 0]) @ theta[:, None]

    rng = np.random.default_rng(8)
    evenly = rng.uniform(-3, 3, size=(2000, 1))
    walk = langevin(quartic_score, evenly, rng.normal(size=(200, 2000, 1)), 0.02)
    first, last = (
        np.abs((pictures.powers(x[:, 0]) - pictures.powers(data)).mean(0)).max()
        for x in (walk[0], walk[-1])
    )
    words = (
        "2,000 particles from anywhere in (−3, 3) miss these means by over {a}; after "
    )
    words = words + "{n} steps of your walk they know them, to {b}"
    claim(words, last < 0.1 < 0.5 < first, a=0.5, n=200, b=0.1)

# %% [markdown] covers="wu:6.12.3"
# ## Deeper: a judge for every step
#
# Long steps are wrong, short ones slow. If the density is known up to a factor, there is a third way: *propose* a
# Langevin step from $x$ to $y$, then let a judge decide. The proposal has the density $q(y \mid x)$ of
# $N\big(x + \frac\epsilon2 s(x),\, \epsilon I\big)$. Let $u$ be uniform on $(0, 1)$; take the step if
#
# $$u < \frac{p(y)\, q(x \mid y)}{p(x)\, q(y \mid x)},$$
#
# else stay where you are for this step. Then, of $p$-distributed particles, as many go from $x$ to $y$ as from $y$ to $x$,
# and $p$ stays exactly what it is, whatever $\epsilon$. $Z$ cancels. (Metropolis and others, 1953; for a lopsided
# $q$, Hastings, 1970. With the Langevin proposal it is called MALA.)


# %% open=true covers="wu:6.12.3" demo=true
def judged_step(log_density, score, x, noise, coin, eps):
    """The next states, and who moved. x, noise (n, d); coin (n,) is u."""

    def log_q(to, start):
        return -((to - start - eps / 2 * score(start)) ** 2).sum(1) / (2 * eps)

    y = x + eps / 2 * score(x) + math.sqrt(eps) * noise
    taken = np.log(coin) < log_density(y) + log_q(x, y) - log_density(x) - log_q(y, x)
    return np.where(taken[:, None], y, x), taken


# %% demo=true covers="wu:6.12.3"
# On N(0, 1), with and without the judge; then he does not help to cross.
rng, hills = np.random.default_rng(9), two_hills()
normal = (lambda x: -(x[:, 0] ** 2) / 2, lambda x: -x)
for eps in (0.5, 1, 2, 3):
    x = rng.normal(size=(20_000, 1))
    for _ in range(40):
        noise, coin = rng.normal(size=x.shape), rng.uniform(size=len(x))
        x, taken = judged_step(*normal, x, noise, coin, eps)
    words = (
        "ε = {eps}: variance 1 to {e}, not {ula:.2f}; he takes {part:.0%} of the steps"
    )
    near, ula = abs(x.var() - 1) < 0.04, pictures.ula_variance(eps)
    claim(words, near, eps=eps, e=0.04, ula=ula, part=taken.mean())
x = np.full((1000, 1), -1.5)
for _ in range(400):
    noise, coin = rng.normal(size=x.shape), rng.uniform(size=len(x))
    x, _ = judged_step(hills.log_density, hills.score, x, noise, coin, 0.05)
words = "from the left hill fewer than half have crossed after {n} steps: 2/3 should"
claim(words, (x > pictures.VALLEY).mean() < 0.5, n=400)

# %% [markdown] covers="moon:22.6.1"
# ## Deeper: what vanishes far away
#
# Take data from $N(1, 4)$ and models $s_\theta(x) = \theta\, (1 - x)$. The true score has $\theta = \frac14$. There
# $\frac12 \mathbb E \lVert \nabla \log p \rVert^2 = \frac18$, and the Fisher divergence is 0.

# %% predict="the-least-loss" minutes=1 covers="moon:22.6.1"
predict(
    "the-least-loss",
    "At the true score the Fisher divergence is 0. And the implicit loss, on N(1, 4)?",
    ["below 0", "0", "above 0"],
    truth=int(np.sign(pictures.implicit_gaussian(0.25)) + 1),
    because="It is the Fisher divergence less ½ E‖∇log p‖²: −1/8. A loss need not be "
    "positive, so its size alone tells nothing of the fit.",
)

# %% [markdown] covers="moon:22.6.1"
# The step by parts left out $\big[p\, s_\theta\big]_{-\infty}^{\infty}$. What has to vanish far away is this *product*. Not the score:
# that of a Gaussian grows without end. Nor is it enough that $p$ vanishes. Take the Cauchy density
# $p = \frac{1}{\pi (1 + x^2)}$ and the model $s_\theta = x^3$: on $[-R, R]$ the two sides drift apart.

# %% demo=true covers="moon:22.6.1"
# N(1, 4) by quadrature, the proof by symbols, and the Cauchy density.
with after(ism_loss, "the-least-loss"):
    place = torch.linspace(-19, 21, 4001).double()[:, None]
    p = np.exp(-((place[:, 0].numpy() - 1) ** 2) / 8) / math.sqrt(8 * math.pi)
    at = place.numpy()[:, 0]
    for slope in (0.1, 0.25, 0.4):
        gap = ((1 - at) / 4 - slope * (1 - at)) ** 2 / 2
        fisher = np.trapezoid(p * gap, at)
        words = "θ = {c}: Fisher {f:.3f} = implicit {i:.3f} + 0.125"
        implicit = pictures.implicit_gaussian(slope)
        holds = np.isclose(fisher, implicit + 0.125)
        claim(words, holds, c=slope, f=fisher, i=implicit)
    draws = 1 + 2 * torch.randn(50_000, 1, generator=torch.Generator().manual_seed(0))
    losses = [
        ism_loss(lambda x, c=c: c * (1 - x), draws).item() for c in (0.15, 0.25, 0.35)
    ]
    claim(
        "your loss is least at ¼ among {n}, on 50,000 draws",
        np.argmin(losses) == 1,
        n=3,
    )
x, R = sympy.symbols("x R", positive=True)
cauchy, model = 1 / (sympy.pi * (1 + x**2)), x**3
cross = sympy.integrate(sympy.simplify(model * cauchy.diff(x)), (x, 0, R)) * 2
trace = sympy.integrate(cauchy * model.diff(x), (x, 0, R)) * 2
edge = 2 * (model * cauchy).subs(x, R)
claim(
    "by parts with its edge: −∫ s p′ = −[p s] + ∫ p s′",
    sympy.simplify(-cross + edge - trace) == 0,
)
claim("the edge [p s] grows without end", sympy.limit(edge, R, sympy.oo) == sympy.oo)

# %% [markdown] covers="cs480:15"
# ## Deeper: only the score is left to learn
#
# Stack infinitely many thin layers, and a chain becomes a differential equation: data drift and spread to noise by
# $dx = f\, dt + g\, dw$, and come back by one that holds $f$, $g$ and the score of each $p_t$. $f$ and $g$ are chosen; only the
# score is learned. Ours is the plainest choice, $f = 0$: noise that adds up. From level $\sigma$ down to $\sigma'$, with
# $h = \sigma^2 - \sigma'^2$, two ways lead back:
#
# $$\text{shaken: } x + h\, s(x, \sigma) + \sqrt h\; z \qquad\qquad \text{smooth: } x + \tfrac h2\, s(x, \sigma).$$
#
# Unlike Langevin's, these steps *follow* $p_\sigma$ as it changes. ([[15/04]] derives both.) Play the noise level: thick
# arrows are exact, thin ones learned.

# %% covers="cs480:15"
# Play the level: melted points, the exact score and the learned one.
with after(annealed_langevin, dsm_loss, langevin, train_score):

    def draw_field(level):
        return pictures.draw_field(learned, world, sigmas[::-1][level - 1], level)

    level = IntSlider(5, min=1, max=10, description="level")
    explore(draw_field, digits=0, play="level", level=level)

# %% covers="cs480:15"
# 60 steps back with your network, shaken and smooth: mean and covariance.
with after(annealed_langevin, dsm_loss, langevin, train_score):
    down = np.geomspace(4, 0.1, 61)
    rng = np.random.default_rng(10)
    x0 = rng.normal(size=(1000, 2)) * math.sqrt(16 + 2)
    for name, shake in (("shaken", 1.0), ("smooth", 0.0)):
        x = x0
        for sigma, lower in zip(down[:-1], down[1:], strict=True):
            h = sigma**2 - lower**2
            x = x + (1 + shake) / 2 * h * learned(x, sigma)
            x = x + shake * math.sqrt(h) * rng.normal(size=x.shape)
        shares, spread = pictures.fit(x, world)
        off = np.abs(x.mean(0) - world.mean()).max()
        wide = np.trace(np.cov(x.T)) / np.trace(world.covariance())
        words = "{name}: mean of the data to {a}, total variance to {b:.0%}"
        claim(words, off < 0.25 and abs(wide - 1) < 0.15, name=name, a=0.25, b=0.15)

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails,
# the right one holds, and a wrong one of the same shape fails too. *Too broad*: a condition is missing.

# %% demo=true covers="moon:22.6"
# moon, section 22.6: a sign, a logarithm, a shape. All on f = θ x²/2 at θ = 2, x = 1.
a, b = sympy.symbols("theta x", positive=True)
f, Z = a * b**2 / 2, sympy.sqrt(2 * sympy.pi / a)
at = {a: 2, b: 1}
slope = sympy.diff(-f - sympy.log(Z), a).subs(at)
fx, mean = sympy.diff(f, a).subs(at), sympy.Rational(1, 4)  # E x²/2 = 1/(2θ)
erratum(
    "moon:22.6",
    quote=(
        r"$\nabla_{\theta} \log p_{\theta}(\mathbf{x}) = \nabla_{\theta} "
        r"f_{\theta}(\mathbf{x}) - \mathbb{E}_{p_{\theta}(\mathbf{x})} "
        r"[\nabla_{\theta} f_{\theta}(\mathbf{x})]$"
    ),
    corrected=(
        r"$-\nabla_\theta f_\theta(x) + \mathbb E_{p_\theta}[\nabla_\theta f_\theta]$: "
        r"the chain is that of $e^{+f}$"
    ),
    kind="error",
    printed_holds=bool(sympy.Eq(slope, fx - mean)),
    corrected_holds=bool(sympy.Eq(slope, -fx + mean)),
    decoy_holds=bool(sympy.Eq(slope, -fx - mean)),
)
log_slope, plain_slope = (sympy.diff(e, a).subs(at) for e in (sympy.log(Z), Z))
ratio = (sympy.diff(Z, a) / Z).subs(at)
erratum(
    "moon:22.6",
    quote=(
        r"$\nabla_{\theta} Z_{\theta} = "
        r"\frac{\nabla_{\theta} Z_{\theta}}{Z_{\theta}}$"
    ),
    corrected=r"$\nabla_\theta \log Z_\theta$ on the left, and in the line before",
    kind="error",
    printed_holds=bool(sympy.simplify(plain_slope - ratio) == 0),
    corrected_holds=bool(sympy.simplify(log_slope - ratio) == 0),
    decoy_holds=bool(sympy.simplify(sympy.diff(1 / Z, a).subs(at) - ratio) == 0),
)
erratum(
    "moon:22.6",
    quote=r"$f_{\theta}(\mathbf{x}) \in \mathbb{R}^d$  is often called unnormalized",
    corrected=r"$f_\theta(x) \in \mathbb R$: its gradient lies in $\mathbb R^d$",
    kind="error",
    # d = 3: which shape of f(x) gives a density that is a number and a score in R^d?
    printed_holds=pictures.makes_a_model(lambda x: x**2 / 2),
    corrected_holds=pictures.makes_a_model(lambda x: (x**2).sum() / 2),
    decoy_holds=pictures.makes_a_model(lambda x: torch.outer(x, x)),
)
erratum(
    "moon:22.6",
    quote=r"$\underbrace{\nabla_{\mathbf{x}} \log Z_{\theta}}_{\text{Constant}}$",
    corrected=r"$\nabla_x \log Z_\theta = 0$: it is $Z_\theta$ that is constant in $x$",
    kind="convention",
)

# %% demo=true covers="moon:22.6.1 wu:6.12.3"
# moon, section 22.6.1: what vanishes. wu, section 6.12.3: preserved only in the limit.
far = sympy.Symbol("x", positive=True)
bell = sympy.exp(-(far**2) / 2) / sympy.sqrt(2 * sympy.pi)
tails = {  # what is told to vanish, of a Gaussian whose parts formula is exact
    name: sympy.limit(value, far, sympy.oo)
    for name, value in (("score", -far), ("p s", -far * bell), ("p′/p²", -far / bell))
}
erratum(
    "moon:22.6.1",
    quote="boundary condition assumption which makes score function to be zero",
    corrected=r"what must vanish is the product, $p(x)\, s_\theta(x) \to 0$",
    kind="error",
    printed_holds=bool(tails["score"] == 0),
    corrected_holds=bool(tails["p s"] == 0),
    decoy_holds=bool(tails["p′/p²"] == 0),
)
erratum(
    "moon:22.6.1",
    quote=(
        r"$\frac{1}{N} \sum_{i=1}^{N} \left[ \frac{1}{2} ||s_{\theta}(x)||_{2}^{2} + "
        r"tr(\nabla_{\mathbf{x}} s_{\theta}(x)) \right]$"
    ),
    corrected=r"$s_\theta(x_i)$ in the sum",
    kind="convention",
)
eps = sympy.Symbol("epsilon", positive=True)
after_one = sympy.expand((1 - eps / 2) ** 2 + eps)  # from variance 1 on N(0, 1)
erratum(
    "wu:6.12.3",
    quote=r"Thus if $\mathbf{x}_t \sim \pi$, then $\mathbf{x}_{t+1} \sim pi$ as well.",
    corrected=(
        r"as $\Delta t \to 0$: on $N(0, 1)$ a step with $\epsilon = \sigma^2 \Delta t$ "
        r"leaves the variance $1 + \epsilon^2/4$"
    ),
    kind="broad",
    printed_holds=after_one == 1,
    corrected_holds=sympy.simplify(after_one - 1 - eps**2 / 4) == 0
    and sympy.limit((after_one - 1) / eps, eps, 0) == 0,
)

# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="a network that sees, a dial that makes it listen, and a transformer that does the same"
# # U-Net, guidance and DiT
#
# Below are ten digits, and beneath each the same digit with its 64 pixels shuffled, always in the same way. You read the
# first row, and not the second. The network of [[15/03]], which learned to draw digits, would learn from either row
# equally well: to it an image is a list of 64 numbers in no particular order. And it was *told* which digit you want,
# but nothing made it listen.
#
# **How much better does a network draw that can see? And what does it cost to make it listen?** You build both, the
# eyes and the dial, and measure them.

# %%
# What this notebook needs.
import math

import numpy as np
import torch
import torch.nn.functional as F
from ipywidgets import Dropdown, FloatSlider, IntSlider
from sklearn.svm import SVC
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from descent import after, check, claim, data, device, erratum, explore, hint
from descent import predict, scale, show, solution, start
from descent.pictures.diffusion import unet_guidance_dit as pictures

start("15_diffusion/07_unet_guidance_dit")

# %%
# Ten digits, and the same with their pixels shuffled; what a layer makes of both.
digits = data.digits()
images = (
    torch.tensor(digits.X).float().reshape(-1, 1, 8, 8) / 8 - 1
)  # -1 white, 1 black
labels = torch.tensor(digits.y)
known, new = slice(0, 1200), slice(1200, 1797)  # to learn from, and kept aside
shuffled = torch.randperm(64, generator=torch.Generator().manual_seed(0))
mixed = images.flatten(1)[:, shuffled].reshape(images.shape)
layer, twin = nn.Linear(64, 9), nn.Linear(64, 9)
twin.load_state_dict({"weight": layer.weight[:, shuffled], "bias": layer.bias})
same = torch.allclose(layer(images.flatten(1)), twin(mixed.flatten(1)), atol=1e-5)
words = "a dense layer, its columns shuffled alike, says the same of all {n} images"
claim(words, same, n=len(images))
show(*pictures.draw_shuffled(images[:10], mixed[:10]))

# %% [markdown] covers="wu:6.5.8"
# ## 1. A clock of many hands
#
# A noised image is $x_t = \sqrt{\bar\alpha_t}\, x_0 + \sqrt{1 - \bar\alpha_t}\; \epsilon$ at one of the steps
# $t = 1, \dots, T$, and the network is to name the noise $\epsilon$. It has to know $t$: at $t = T$ nearly all is
# noise. But how do you tell a network a number? As a single input, steps 20 and 21 look almost alike.
#
# Do it as a clock does. A second hand tells near moments apart, an hour hand far ones. Take $d / 2$ hands, each slower
# than the one before, and note the sine and the cosine of each: $d$ numbers,
#
# $$\mathrm{emb}(t)_i = \begin{cases} \sin(t / 10000^{2 k / d}) & i = 2k \\ \cos(t / 10000^{2 k / d}) & i = 2k + 1 \end{cases} \qquad k = 0, \dots, \tfrac d2 - 1 .$$


# %% exercise="time_embed" points=2 difficulty=1 covers="wu:6.5.8"
def time_embed(t, d):
    """The d numbers that tell each step, two for each hand: sine, then cosine.

    t (n,) torch tensor of steps; d even. Returns a tensor (n, d), floating.
    t = [1], d = 4 gives [[0.8415, 0.5403, 0.0100, 1.0000]]: the rates are 1 and 1/100.
    """
    ### BEGIN SOLUTION
    i = torch.arange(d)
    angle = t[:, None] / 10000 ** (2 * (i // 2) / d)
    return torch.where(i % 2 == 0, angle.sin(), angle.cos())
    ### END SOLUTION


# %% check="time_embed"
check(time_embed)

# %% covers="wu:6.5.8"
# Drag the line: the hands at step t, and how alike the clock's other readings are.
T = 50
with after(time_embed):
    clock = time_embed(torch.arange(T + 1), 32)
    length = clock.reshape(-1, 16, 2).norm(dim=-1)
    claim(
        "sine and cosine of a pair are one hand, of length 1",
        torch.allclose(length, length * 0 + 1),
    )
    turn = clock[7:] @ clock[:-7].T  # by 7 steps, from anywhere
    along = turn.diagonal()
    claim(
        "7 steps on, the reading is as like the old one at every t",
        torch.allclose(along, along[0].expand(44), atol=1e-4),
    )
    explore(
        lambda t: pictures.draw_clock(clock, t),
        drag={"t": "clock"},
        t=IntSlider(20, min=0, max=T, description="step t"),
    )

# %% [markdown] covers="wu:6.5.8"
# ## 2. A block that is born idle
#
# Now the eyes. A 3×3 *convolution* computes each pixel from that pixel and its eight neighbours, with the same weights
# everywhere. Shuffle the pixels, and it has lost its neighbours: here the order counts. Deep networks are built of
# *residual blocks*. Let $h$ be $c$ images, its *channels*, and emb the clock's reading:
#
# $$\mathrm{ResBlock}(h, \mathrm{emb}) = h + \mathrm{NN}\big(\mathrm{GroupNorm}(h) + \mathrm{Linear}(\mathrm{emb})\big).$$
#
# GroupNorm brings each quarter of the channels to mean 0 and variance 1, over all their pixels. The linear layer
# makes $c$ numbers of the clock, one for each channel, added at every pixel. NN is SiLU, convolution, SiLU,
# convolution. Let the last one be born with *zeros*. Then a new block changes nothing: however many you pile up,
# $h$ goes straight through.


# %% exercise="ResBlock" points=4 difficulty=1 covers="wu:6.5.8"
class ResBlock(nn.Module):
    """h + NN(GroupNorm(h) + Linear(emb)).

    Its parts are known by name, so that weights can be loaded: norm (GroupNorm, 4
    groups), time (linear, d to c), first and last (3×3 convolutions, c to c channels,
    padding 1); weights and bias of last begin as zeros.
    """

    def __init__(self, c, d):
        super().__init__()
        ### BEGIN SOLUTION
        self.norm = nn.GroupNorm(4, c)
        self.time = nn.Linear(d, c)
        self.first = nn.Conv2d(c, c, 3, padding=1)
        self.last = nn.Conv2d(c, c, 3, padding=1)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)
        ### END SOLUTION

    def forward(self, h, emb):
        """h (n, c, s, s), emb (n, d) -> (n, c, s, s). F.silu is SiLU."""
        ### BEGIN SOLUTION
        clock = self.time(emb)[:, :, None, None]
        z = self.first(F.silu(self.norm(h) + clock))
        return h + self.last(F.silu(z))
        ### END SOLUTION


# %% check="ResBlock"
check(ResBlock)

# %% covers="wu:6.5.8"
# A new block, and what its first two updates move.
with after(ResBlock):
    torch.manual_seed(0)
    block, h, emb = ResBlock(8, 32), torch.randn(2, 8, 4, 4), torch.randn(2, 32)
    claim("a new block changes nothing", torch.equal(block(h, emb), h))
    names, parts = zip(*block.named_parameters())

    def moved():
        """Takes a step down the slope, and names what it moves."""
        slopes = torch.autograd.grad(block(h, emb).square().mean(), parts)
        with torch.no_grad():
            for part, slope in zip(parts, slopes):
                part -= slope
        return [name for name, slope in zip(names, slopes) if slope.abs().sum() > 0]

    first, second = moved(), moved()
    claim(
        "yet it learns: the first update moves {parts}, the second all",
        first == ["last.weight", "last.bias"] and second == list(names),
        parts="the last convolution",
    )

# %% [markdown] covers="explainers:5.5.1 wu:6.5.8"
# ## 3. The U
#
# To tell a 3 from an 8 you have to see all of it. But a convolution sees one pixel far. So *shrink* the image: of each
# 2×2 pixels keep the largest (max pooling). There a block sees twice as far, for a quarter of the work, so it can have
# twice the channels. On the last level, 2×2 pixels here, all see all.
#
# Then grow it again by *deconvolutions*: each pixel paints 2×2. But where exactly was the edge? Keep what each level
# had before it shrank, and hand it across: these *skip connections* make the U.
#
# At the bottom one more part helps: **attention**. Each place is a *token*; it compares its question with every
# token's key, and takes a mean of their values.


# %% open=true covers="wu:6.5.8"
class Attention(nn.Module):
    """softmax(Q Kᵀ / √c) V, then a linear layer: tokens (n, m, c) -> (n, m, c)."""

    def __init__(self, c):
        super().__init__()
        self.ask, self.key, self.value, self.out = (nn.Linear(c, c) for _ in range(4))

    def forward(self, h):
        fit = self.ask(h) @ self.key(h).mT / h.shape[-1] ** 0.5
        return self.out(fit.softmax(-1) @ self.value(h))


# %% [markdown] covers="explainers:5.5.1 wu:6.5.8"
# Your turn: the whole U, of any depth. Level 0 is the finest; level $l$ has $w_l = 2^l c$ channels. Names with `[l]` are
# `nn.ModuleList`s, a part for each level above the bottom.
#
# | way | name | what |
# | --- | --- | --- |
# | in | `enter` | 3×3 convolution, $k$ to $c$, padding 1 |
# | down | `down[l]` | ResBlock on $w_l$; **its result is kept** |
# | | | max pooling 2×2, then |
# | | `wider[l]` | 1×1 convolution, $w_l$ to $2w_l$ |
# | bottom | `bottom` | ResBlock on $w_\text{depth}$, then |
# | | `look` | Attention over all pixels, added to its input |
# | up | `up[l]` | `nn.ConvTranspose2d`, $2w_l$ to $w_l$, kernel 2, stride 2 |
# | | `merge[l]` | that and what was kept, stacked: 1×1 convolution, $2w_l$ to $w_l$ |
# | | `refine[l]` | ResBlock |
# | out | `leave` | 3×3 convolution, $c$ to $k$, padding 1 |
#
# For an image $h$, `h.flatten(2).mT` is a list of tokens, one a pixel.


# %% exercise="UNet" points=8 difficulty=1 covers="explainers:5.5.1 wu:6.5.8"
class UNet(nn.Module):
    """A U-Net of depth levels above the bottom, as in the table.

    k: channels of the images; c: channels on level 0, a multiple of 4; d: length of
    emb. With skips=False, zeros stand in place of what was kept.
    """

    def __init__(self, k, c, depth, d, skips=True):
        super().__init__()
        ### BEGIN SOLUTION
        self.skips = skips
        widths = [c * 2**level for level in range(depth)]
        self.enter = nn.Conv2d(k, c, 3, padding=1)
        self.down = nn.ModuleList(ResBlock(w, d) for w in widths)
        self.wider = nn.ModuleList(nn.Conv2d(w, 2 * w, 1) for w in widths)
        self.bottom = ResBlock(c * 2**depth, d)
        self.look = Attention(c * 2**depth)
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * w, w, 2, 2) for w in widths)
        self.merge = nn.ModuleList(nn.Conv2d(2 * w, w, 1) for w in widths)
        self.refine = nn.ModuleList(ResBlock(w, d) for w in widths)
        self.leave = nn.Conv2d(c, k, 3, padding=1)
        ### END SOLUTION

    def forward(self, x, emb):
        """x (n, k, s, s), emb (n, d) -> (n, k, s, s); 2^depth divides s."""
        ### BEGIN SOLUTION
        h, kept = self.enter(x), []
        for block, wider in zip(self.down, self.wider):
            h = block(h, emb)
            kept.append(h if self.skips else torch.zeros_like(h))
            h = wider(F.max_pool2d(h, 2))
        h = self.bottom(h, emb)
        h = h + self.look(h.flatten(2).mT).mT.reshape(h.shape)
        for level in reversed(range(len(kept))):
            both = torch.cat([self.up[level](h), kept[level]], dim=1)
            h = self.refine[level](self.merge[level](both), emb)
        return self.leave(h)
        ### END SOLUTION


# %% check="UNet"
check(UNet)

# %% covers="explainers:5.5.1 wu:6.5.8"
# The shapes inside your U-Net, for other images and depths.
with after(time_embed, ResBlock, UNet):

    def draw_u(size, depth):
        net = UNet(1, 16, depth, 32)
        x, emb = torch.zeros(1, 1, size, size), time_embed(torch.tensor([3]), 32)
        return pictures.draw_u(pictures.trace(net, x, emb))

    explore(
        draw_u,
        size=Dropdown(options=[8, 16, 32, 64], description="image size"),
        depth=IntSlider(2, min=1, max=3, description="levels"),
    )

# %% [markdown] covers="wu:6.5.8 explainers:5.5.1 wu:6.18.1"
# ## 4. Train it, and let it sometimes not hear
#
# U-Nets were made for images of cells, in 2015; diffusion models took them up in 2020, with DDPM. One has to be asked for
# a digit, too: its label $y$ gets a vector, added to the clock's. And one thing more, you will soon see why: in about
# every tenth example, *hide* the label. An eleventh label, 10, means "anybody".


# %% exercise="drop_labels" points=2 difficulty=1 covers="wu:6.18.1"
def drop_labels(y, p, nobody, g):
    """Labels of which some are hidden, integers too; y stays as it is.

    y (n,) integer tensor. Draw n numbers at once, torch.rand with the generator g:
    where one is below p, the label nobody stands in place of the old one.
    """
    ### BEGIN SOLUTION
    hidden = torch.rand(len(y), generator=g) < p
    return torch.where(hidden, nobody, y)
    ### END SOLUTION


# %% check="drop_labels"
check(drop_labels)

# %% [markdown] covers="explainers:5.5.1 wu:6.5.8"
# The next cell trains four networks in one and the same frame, on 1,200 digits, with 200 updates each (on a graphics
# card they are wider, and get 1,000):
#
# - *dense*: three dense layers of width 256, as in [[15/03]], with half as many weights again as your U;
# - your U, with zeros in place of all skips;
# - your U on the shuffled pixels of the first screen;
# - your U.
#
# Then it asks for their squared error per pixel on 597 new digits. A network that says 0 has 1.

# %% covers="explainers:5.5.1 wu:6.5.8 wu:6.18.1"
# The frame, the training, four networks, and their errors on new digits.
betas, abar = pictures.cosine_schedule(T)  # β for t = 1 … T, ᾱ for t = 0 … T
place, updates = device(), scale(cpu=200, gpu=1000)
wide = scale(cpu=16, gpu=32)  # channels on level 0

with after(time_embed, ResBlock, UNet, drop_labels):

    class Denoiser(nn.Module):
        """Names the noise: (x (n, 1, 8, 8), t (n,), labels y (n,)) -> like x."""

        def __init__(self, body):
            super().__init__()
            self.body, self.label = body, nn.Embedding(11, 32)
            self.think = nn.Sequential(nn.Linear(32, 32), nn.SiLU(), nn.Linear(32, 32))
            self.register_buffer("clock", time_embed(torch.arange(T + 1), 32).float())
            self.register_buffer("left", abar)

        def forward(self, x, t, y):
            emb = self.think(self.clock[t]) + self.label(y)
            left = self.left[t][:, None, None, None]  # x itself is nearly the noise …
            return (1 - left).sqrt() * x + left.sqrt() * self.body(x, emb)

    def train(make, x0):
        """A Denoiser whose body is made by make, trained on images x0 (N, 1, 8, 8)."""
        torch.manual_seed(0)
        net, g = Denoiser(make()).to(place), torch.Generator().manual_seed(0)
        adam = torch.optim.Adam(net.parameters())
        for k in range(updates):
            for group in adam.param_groups:  # warm up, then cool down
                group["lr"] = 6e-3 * min(1, (k + 1) / 20) * (1 - k / updates)
            rows = torch.randint(len(x0), (64,), generator=g)
            t = torch.randint(1, T + 1, (64,), generator=g)
            eps = torch.randn(64, 1, 8, 8, generator=g)
            left = abar[t].reshape(-1, 1, 1, 1)
            y = drop_labels(labels[rows], 0.1, 10, g)
            xt = left.sqrt() * x0[rows] + (1 - left).sqrt() * eps
            guess = net(xt.to(place), t.to(place), y.to(place))
            adam.zero_grad()
            (guess - eps.to(place)).square().mean().backward()
            adam.step()
        return net.cpu().eval()

    def errors(net, x0):
        """Squared error per pixel on the new ones of x0, at each of the levels."""
        given = x0[new], labels[new]
        return [pictures.error_at(net, *given, t, abar) for t in levels]

    levels, curves, nets = [2, 5, 10, 15, 20, 25, 30, 35, 40, 45], {}, {}
    for name, make, x0 in (
        ("dense", lambda: pictures.Dense(16 * wide), images),
        ("U without skips", lambda: UNet(1, wide, 2, 32, skips=False), images),
        ("U, shuffled pixels", lambda: UNet(1, wide, 2, 32), mixed),
        ("U", lambda: UNet(1, wide, 2, 32), images),
    ):
        nets[name] = train(make, x0[known])
        curves[name] = errors(nets[name], x0)

# %% predict="where-skips-count" minutes=1 covers="explainers:5.5.1 wu:6.5.8"
predict(
    "where-skips-count",
    "Without skips, all must pass through 2×2 pixels. At one step this does no "
    "harm: the U without skips is no worse there than the U. At which?",
    ["t = 5: little noise", "t = 25: half and half", "t = 45: nearly all noise"],
    truth=pictures.least_ratio(levels, curves["U without skips"], curves["U"]),
    because="In deep noise the best guess is a smear, and a smear passes through 2×2 "
    "pixels. The less noise, the finer what is asked for: where exactly is the edge?",
    then=lambda: pictures.draw_bodies(
        levels, curves, "Who sees errs less, and skips help"
    ),
    digits=0,
)

# %% covers="explainers:5.5.1 wu:6.5.8"
# The answer to the first question of the first screen.
with after(time_embed, ResBlock, UNet, drop_labels, "where-skips-count"):
    mean = {name: np.mean(curve) for name, curve in curves.items()}
    sizes = {n: sum(p.numel() for p in net.parameters()) for n, net in nets.items()}
    fewer, less = sizes["U"] < 0.8 * sizes["dense"], mean["U"] < 0.8 * mean["dense"]
    words = "the U: under {a} of the dense network's error, under {b} of its weights"
    claim(words, fewer and less, a=0.8, b=0.8)
    lost = (mean["U, shuffled pixels"] - mean["U"]) / (mean["dense"] - mean["U"])
    words = "on shuffled pixels it loses between {a:.0%} and {b:.0%} of that gain"
    claim(words, 0.3 < lost < 0.7, a=0.3, b=0.7)
    more, a = mean["U without skips"] / mean["U"], scale(cpu=1.7, gpu=1.2)
    claim("zeros in place of skips: over {a} times its error", more > a, a=a)

# %% [markdown] covers="wu:6.18.1"
# ## 5. Make it listen
#
# Ask this network for a 3, and you mostly get one. Mostly. How do you make it listen harder? You have two answers of
# one network: $\epsilon_c$, when it is told the label, and $\epsilon_u$, when the label is hidden. Their difference is what
# the label alone has to say. So turn it up:
#
# $$\hat\epsilon = \epsilon_u + w\, (\epsilon_c - \epsilon_u).$$
#
# At $w = 0$ it does not listen, at $w = 1$ it does what it was told, and for $w > 1$ it goes beyond. (Some write $1 + w$
# for our $w$.) This is **classifier-free guidance**, of Ho and Salimans, 2022. Ask for both answers in one
# call, as a batch of $2n$.


# %% exercise="guided" points=3 difficulty=1 covers="wu:6.18.1"
def guided(model, x, t, y, w, nobody):
    """The guided noise, like x, by a single call of the model.

    model: (x (m, …), t (m,), y (m,)) -> noise like x. x (n, …), any number of axes;
    t (n,); y (n,) labels; w: a number; nobody: the label that hides. Call the model
    with 2n rows: each of the n with its label, and each with the hidden one.
    """
    ### BEGIN SOLUTION
    labels = torch.cat([y, torch.full_like(y, nobody)])
    both = model(torch.cat([x, x]), torch.cat([t, t]), labels)
    asked, unasked = both.chunk(2)
    return unasked + w * (asked - unasked)
    ### END SOLUTION


# %% check="guided"
check(guided)

# %% [markdown] covers="wu:6.18.1"
# ### What does the dial draw?
#
# The best guess of the noise is a score, $-\sqrt{1 - \bar\alpha_t}\; \nabla \log p_t$, where $p_t$ is the density of
# $x_t$. So $\hat\epsilon$ belongs to the score
#
# $$(1 - w)\, \nabla \log p_t(x) + w\, \nabla \log p_t(x \mid y) = \nabla \log \big[\, p_t(x)\; p_t(y \mid x)^w \,\big],$$
#
# by Bayes' rule $p_t(x \mid y) \propto p_t(x)\, p_t(y \mid x)$. The last factor is a *classifier*: how surely does $x$
# look like a $y$? Its power rewards what nobody could mistake.
#
# In the next picture all is exact, no network. Two classes, three hills each, equally likely; one blue hill lies next to
# the red ones. We ask for blue.

# %% demo=true covers="wu:6.18.1"
# The exact noise of the two crowds, and the guided score by differences.
worlds = pictures.crowds()  # blue, red, everybody
crowd = pictures.crowd_noise(worlds, abar)  # labels: 0 blue, 1 red, 2 anybody
starts = torch.randn(400, 2, generator=torch.Generator().manual_seed(1))
with after(guided):
    x, blue = starts[:50].double(), torch.zeros(50, dtype=torch.long)
    for t in (5, 20, 40):
        a, b = abar[t].sqrt().item(), (1 - abar[t]).sqrt().item()
        density = pictures.guided_log_density(worlds, 0, 4.0, a, b)
        slope = pictures.slopes(density, x.numpy())
        eps = guided(crowd, x, torch.full((50,), t), blue, 4.0, 2)
        same = np.allclose(eps.numpy(), -b * slope, rtol=1e-4, atol=1e-5)
        claim("t = {t}: your ε̂ is −√(1 − ᾱ) ∇ log [p(x) p(y | x)⁴]", same, t=t)

    def asking(model, y, w, nobody):
        """A predictor (x, t) -> guided noise, for pictures.walk."""
        return lambda x, t: guided(model, x, t, y, w, nobody)

    ends = {}  # w -> where the 400 end

    def ask_blue(w):
        if w not in ends:
            noise = asking(crowd, torch.zeros(400, dtype=torch.long), w, 2)
            ends[w] = pictures.walk(noise, starts, betas)[0][-1].double().numpy()
        return ends[w]

    near = pictures.shares(ask_blue(4.0), worlds)[2]

# %% predict="the-hill-next-door" minutes=1 covers="wu:6.18.1"
predict(
    "the-hill-next-door",
    "At w = 1 each blue hill gets its third. At w = 4, which share is left for the one "
    "next to the red hills?",
    ["over a quarter", "about a sixth", "under a tenth"],
    truth=int(2 - np.digitize(near, [0.1, 0.25])),
    because="It might be mistaken for red, and the fourth power of that doubt counts "
    "at every step of the walk. What is drawn is blue beyond doubt, and poorer.",
)

# %% covers="wu:6.18.1"
# Turn the dial: where 400 walkers end that were all asked to be blue.
with after(guided, "the-hill-next-door"):
    explore(
        lambda w: pictures.draw_crowd(ask_blue(w), worlds, w),
        w=FloatSlider(1, min=0, max=8, step=0.5, description="guidance w"),
        digits=1,
    )

# %% [markdown] covers="wu:6.18.1"
# ## 6. Ask for a digit
#
# Now your U-Net. The next cell asks for ten of each digit at five settings of the dial, a thousand evaluations for each
# of 50 steps. Choose a digit, press play, and watch it appear. Then turn the dial.
#
# 1. At $w = 0$: what do the ten have in common?
# 2. At $w = 1$: is there one among them that you would not call by its name?
# 3. At $w = 2$, and at $w = 8$: how much do the ten differ? Do they still look written by hand?

# %% covers="wu:6.18.1 wu:6.5.8"
# Choose a digit and a setting, and play the walk.
with after(time_embed, ResBlock, UNet, drop_labels, guided):
    wanted = torch.arange(10).repeat_interleave(10)
    real = images[known].flatten(1)
    dial, judge = [0, 1, 2, 4, 8], SVC(gamma=0.05).fit(real, labels[known])
    x_T = torch.randn(100, 1, 8, 8, generator=torch.Generator().manual_seed(3))
    noises = {w: asking(nets["U"], wanted, w, 10) for w in dial}
    walks = {w: pictures.walk(noise, x_T, betas) for w, noise in noises.items()}

    def draw_request(digit, w, walked):
        ten = slice(10 * digit, 10 * digit + 10)
        states, guesses = (part[:, ten].flatten(2) for part in walks[w])
        read = int((judge.predict(states[-1]) == digit).sum())
        return pictures.draw_request(states, guesses, walked, digit, w, read)

    explore(
        draw_request,
        play="walked",
        digits=0,
        digit=Dropdown(options=range(10), value=3, description="digit"),
        w=Dropdown(options=dial, value=1, description="guidance w"),
        walked=IntSlider(30, min=0, max=T, description="steps walked"),
    )

# %% covers="wu:6.18.1"
# The price: how many are read as asked, and how different ten alike requests are.
with after(time_embed, ResBlock, UNet, drop_labels, guided):
    drawn = [walks[w][0][-1].flatten(1) for w in dial]
    read, spread, off = pictures.price(drawn, wanted, judge, real)
    claim("w = 0: fewer than {p:.0%} are as asked for", read[0] < 0.3, p=0.3)
    listens = read[2] >= max(0.95, read[1])
    claim("w = 2: at least {p:.0%} are, no fewer than at w = 1", listens, p=0.95)
    words = "from w = 1 to 4 ten alike lose over {p:.0%} of their spread"
    claim(words, spread[3] < 0.9 * spread[1], p=0.1)
    words = "at w = 8 they are over {p:.0%} farther from real digits than at 2"
    claim(words, off[4] > 1.3 * off[2], p=0.3)
    show(*pictures.draw_price(dial, read, spread, off), digits=0)

# %% [markdown]
# ## Take-aways
#
# - **What seeing wins:** on the same training, the U-Net makes over a fifth less error than a dense network with half
#   as many weights again. Shuffle the pixels, and about half of the gain is gone.
# - Down, to see all of it; up, to say where; skips, to remember the details. Without them, after so short a training,
#   only the smear is right.
# - A step $t$ is told as a clock's hands, to every block. A block that ends in zeros begins as nothing.
# - **What listening costs:** hide some labels in training, then go beyond: $\epsilon_u + w(\epsilon_c - \epsilon_u)$.
#   More are what you asked for, and they are more alike: doubtful ones are dropped, good ones among them. Too far, and
#   no hand would write it.
#
# Next: [[next]].

# %% [markdown] covers="wu:6.18 wu:6.18.2"
# ## Deeper: a transformer in its place
#
# The U was made for images: neighbours first, the whole at last. Is that needed? A *diffusion transformer*, DiT
# (Peebles and Xie, 2022), knows nothing of neighbours. Cut the image into patches, 2×2 pixels here; each is a token,
# with a learned vector that says where it lies. Then come blocks as in a language model, but without its mask: all
# tokens look at all, from the first block on.


# %% exercise="Patches" points=3 difficulty=1 covers="wu:6.18.2"
class Patches:
    """Cuts images into tokens, patches of p×p pixels, and joins them again."""

    def __init__(self, p):
        self.p = p

    def cut(self, x):
        """Images (n, k, s, s) -> tokens (n, (s/p)², k·p·p); p divides s.

        Patches row by row from the top left; in a token channel by channel, each of
        them row by row. With p = 1 a token is a pixel.
        """
        ### BEGIN SOLUTION
        n, k, s, _ = x.shape
        m = s // self.p
        x = x.reshape(n, k, m, self.p, m, self.p)
        return x.permute(0, 2, 4, 1, 3, 5).reshape(n, m * m, -1)
        ### END SOLUTION

    def join(self, z, k):
        """The way back: tokens (n, m², k·p·p) -> images (n, k, m·p, m·p)."""
        ### BEGIN SOLUTION
        n, m = len(z), math.isqrt(z.shape[1])
        z = z.reshape(n, m, m, k, self.p, self.p)
        return z.permute(0, 3, 1, 4, 2, 5).reshape(n, k, m * self.p, m * self.p)
        ### END SOLUTION


# %% check="Patches"
check(Patches)

# %% [markdown] covers="wu:6.18.2"
# How does a block hear the clock and the label? Through its *rule*: a linear layer makes six rows of $c$ numbers out of
# SiLU(emb), a shift $b$, a scale $a$ and a gate $g$ for each half of the block. With LN a layer norm without weights of
# its own,
#
# $$\begin{aligned} h &\leftarrow h + g_1 \odot \mathrm{Attention}\big((1 + a_1) \odot \mathrm{LN}(h) + b_1\big), \\ h &\leftarrow h + g_2 \odot \mathrm{MLP}\big((1 + a_2) \odot \mathrm{LN}(h) + b_2\big), \end{aligned}$$
#
# where $\odot$ multiplies number by number, the same for all tokens of an image. The rule is born with zeros: all gates are
# shut, and again a new block changes nothing.


# %% exercise="DiTBlock" points=4 difficulty=1 covers="wu:6.18.2"
class DiTBlock(nn.Module):
    """A transformer block that is ruled by emb.

    Parts: look (Attention on c); norm (LayerNorm on c, elementwise_affine=False);
    think (nn.Sequential: linear c to 4c, GELU, linear 4c to c); rule (linear, d to 6c,
    weight and bias zero). Order of the rule's rows: b, a, g of the attention, then
    b, a, g of think.
    """

    def __init__(self, c, d):
        super().__init__()
        ### BEGIN SOLUTION
        self.look = Attention(c)
        self.norm = nn.LayerNorm(c, elementwise_affine=False)
        self.think = nn.Sequential(nn.Linear(c, 4 * c), nn.GELU(), nn.Linear(4 * c, c))
        self.rule = nn.Linear(d, 6 * c)
        nn.init.zeros_(self.rule.weight)
        nn.init.zeros_(self.rule.bias)
        ### END SOLUTION

    def forward(self, h, emb):
        """Tokens h (n, m, c), emb (n, d) -> (n, m, c)."""
        ### BEGIN SOLUTION
        b1, a1, g1, b2, a2, g2 = self.rule(F.silu(emb))[:, None].chunk(6, dim=-1)
        h = h + g1 * self.look((1 + a1) * self.norm(h) + b1)
        return h + g2 * self.think((1 + a2) * self.norm(h) + b2)
        ### END SOLUTION


# %% check="DiTBlock"
check(DiTBlock)

# %% [markdown] covers="wu:6.18.2"
# Two such blocks on 16 tokens of 64 numbers cost as many multiplications as your U with its 16 channels: torch counts
# them. Frame, data and number of updates are the U's, too.

# %% covers="wu:6.18.2"
# The transformer of your parts; multiplications counted; trained as the U was.
with after(time_embed, ResBlock, UNet, drop_labels, Patches, DiTBlock):

    class DiT(nn.Module):
        """(x (n, 1, 8, 8), emb (n, 32)) -> like x: 2×2 patches, two blocks."""

        def __init__(self, c):
            super().__init__()
            self.patches, self.enter = Patches(2), nn.Linear(4, c)
            self.where = nn.Parameter(0.2 * torch.randn(16, c))
            self.blocks = nn.ModuleList(DiTBlock(c, 32) for _ in range(2))
            self.norm, self.leave = nn.LayerNorm(c), nn.Linear(c, 4)

        def forward(self, x, emb):
            h = self.enter(self.patches.cut(x)) + self.where
            for block in self.blocks:
                h = block(h, emb)
            return self.patches.join(self.leave(self.norm(h)), 1)

    def flops(net):
        with FlopCounterMode(display=False) as counter:
            net(images[:1], torch.tensor([3]), labels[:1])
        return counter.get_total_flops()

    dit = train(lambda: DiT(4 * wide), images[known])
    both = {"U": curves["U"], "DiT": errors(dit, images)}
    ratio = flops(dit) / flops(nets["U"])
    claim("DiT multiplies as often as the U, to a twentieth", abs(ratio - 1) < 0.05)
    back = dit.body.patches.join(dit.body.patches.cut(images), 1)
    claim(
        "cut and joined, all {n} digits are what they were",
        torch.equal(back, images),
        n=len(images),
    )

# %% predict="equal-work" minutes=1 covers="wu:6.18.2"
predict(
    "equal-work",
    "The same number of multiplications and of updates, on 1,200 digits of 8×8 pixels. "
    "The transformer's error, against the U's?",
    [
        "less than 0.8 of it",
        "about as large, to a third",
        "more than a third as much again",
    ],
    truth=int(np.digitize(np.mean(both["DiT"]) / np.mean(both["U"]), [0.8, 4 / 3])),
    because="The U knows about neighbours before it has seen a digit, DiT has to "
    "learn it from few. That helps the U a little here. DiT's authors report the "
    "reverse for large networks and a million photographs.",
    then=lambda: pictures.draw_bodies(
        levels, both, "Two eyes, equal work, nearly equal error"
    ),
    digits=0,
)

# %% covers="wu:6.18.2"
# DiT draws, guided, as the U does.
with after(
    time_embed, ResBlock, UNet, drop_labels, guided, Patches, DiTBlock, "equal-work"
):
    states, _ = pictures.walk(asking(dit, wanted, 2, 10), x_T, betas)
    asked = judge.score(states[-1].flatten(1), wanted)
    claim("w = 2: over {p:.0%} of DiT's digits are read as asked", asked > 0.9, p=0.9)

# %% [markdown] covers="wu:6.18.1 wu:6.18"
# ## Deeper: a sentence in place of a label
#
# A machine that draws what a text says differs in one part. A *text encoder*, a transformer, turns the words into
# vectors, a token a word. And each block of the U looks at them by **cross-attention**: the pixels ask, but keys and
# values come from the words. So any number of words will do, no single vector has to hold them all, and each
# place can attend to another word. In training the text is sometimes left out, and guidance works as above.

# %% demo=true covers="wu:6.18.1"
# Pixels ask words: any number of them, order only by their vectors, one word tells all.
torch.manual_seed(0)
attention, pixels, sentence = Attention(8), torch.randn(1, 16, 8), torch.randn(1, 5, 8)


def cross(h, words):
    fit = attention.ask(h) @ attention.key(words).mT / h.shape[-1] ** 0.5
    return attention.out(fit.softmax(-1) @ attention.value(words))


with torch.no_grad():
    told, fewer, one = (cross(pixels, sentence[:, :m]) for m in (5, 3, 1))
    claim(
        "5 words or 3, the pixels' shape stays",
        told.shape == fewer.shape == pixels.shape,
    )
    claim(
        "one word tells all pixels the same",
        torch.allclose(one, one[:, :1].expand(1, 16, 8), atol=1e-6),
    )
    turned = torch.allclose(cross(pixels, sentence.flip(1)), told, atol=1e-6)
    claim(
        "words in another order say the same: the encoder has to add their places",
        turned,
    )
    claim(
        "with pixels for words it is the U's attention",
        torch.allclose(cross(pixels, pixels), attention(pixels), atol=1e-6),
    )

# %% [markdown] covers="wu:6.18.1"
# ## Deeper: the dial does more than its formula
#
# At each noise level the guided score is that of $p_t(x)\, p_t(y \mid x)^w$. So do samples have the density
# $p_0(x)\, p_0(y \mid x)^w$? They would, if noising that density gave the other ones. It does not: noise blurs the classes
# into one another, so that deep in the noise the classifier doubts much more, and its power pushes much harder. Count the
# walkers on the hill next to the red ones.

# %% demo=true covers="wu:6.18.1"
# The share of the third blue hill: by the formula at t = 0, and among 400 walkers.
with after(guided, "the-hill-next-door"):
    for w in (1.0, 4.0):
        formula = pictures.formula_share(worlds, w)
        walked = pictures.shares(ask_blue(w), worlds)[2]
        words = "w = {w:.0f}: the formula gives it {a:.0%}, the walkers {b}"
        told = dict(
            w=w, a=formula, b="that, to 7 in 100" if w == 1 else "less than half of it"
        )
        right = abs(walked - formula) < 0.07 if w == 1 else walked < formula / 2
        claim(words, bool(right), **told)

# %% [markdown]
# ## Where the notes differ
#
# An *error* is shown by computing: the printed form fails, the right one holds, and a wrong one of the same shape fails
# too.


# %% demo=true covers="wu:6.5.8"
# wu, section 6.5.8: the index in the exponent.
def hands(exponent, d=32):
    """Is each pair of numbers a hand of length 1, always? exponent: i -> array."""
    i, t = np.arange(d), np.arange(1, 51)[:, None]
    angle = t / 10000 ** exponent(i)
    emb = np.where(i % 2 == 0, np.sin(angle), np.cos(angle))
    return np.allclose((emb.reshape(50, d // 2, 2) ** 2).sum(-1), 1)


erratum(
    "wu:6.5.8",
    quote=r"\sin(t/10000^{2i/d})",
    corrected=(
        r"$10000^{2 \lfloor i/2 \rfloor / d}$: $i$ counts the $d$ numbers, and sine "
        r"and cosine of a pair share a rate"
    ),
    kind="error",
    printed_holds=hands(lambda i: 2 * i / 32),
    corrected_holds=hands(lambda i: 2 * (i // 2) / 32),
    decoy_holds=hands(lambda i: i / 32),
)

"""Exercises of 15_diffusion/07_unet_guidance_dit.

An answer that is a module gets its weights by the names of its parts, and is compared by what it says.
"""

import math

import numpy as np
import torch

from descent.compare import close, exact, parts
from solutions.spec import Exercise

from . import reference

SAYS = parts(out=close(rtol=1e-6, float32=True), weights=exact())


def away(rng, *shape):
    """Of both signs and not near zero: nothing hides behind a small number."""
    return torch.from_numpy(rng.choice([-1.0, 1.0], shape) * rng.uniform(1, 2, shape))


# -------------------------------------------------------------------------------------- time_embed

time_embed = Exercise(
    "time_embed",
    reference=reference.time_embed,
    # rates may be float32, with an error of 2e-7 of an angle up to 400
    compare=close(rtol=2e-4, atol=2e-4),
    batched=("t",),
    hints=[
        "Number the columns, i = 0, …, d − 1. Which hand k do columns 0 and 1 belong to, which columns 2 and 3?",
        "k is i // 2. A table of angles, a step a row and a column a number, is t as a column times the rates as a row. Even columns "
        "take its sine, odd ones its cosine.",
        "angle = t[:, None] / 10000 ** (2 * (i // 2) / d) with i = torch.arange(d); torch.where(i % 2 == 0, …, …) chooses.",
    ],
)


@time_embed.cases
def _(rng):
    def steps(n):
        return torch.from_numpy(rng.permutation(49)[:n] + 1)

    yield "pairs of sine and cosine", dict(t=steps(3), d=6)
    yield "pairs of sine and cosine", dict(t=steps(5), d=10)
    yield "as many steps as numbers", dict(t=steps(4), d=4)
    yield "a single hand", dict(t=steps(4), d=2)
    yield "one step", dict(t=steps(1), d=8)
    late = torch.from_numpy(rng.permutation(500)[:3] + 1500)
    yield "late steps", dict(t=late, d=4)
    yield "step 0: all hands point up", dict(t=torch.tensor([0, 0]), d=4)


time_embed.mistakes(
    {
        "every number has its own rate": (
            "2 * (i // 2) / d",
            "2 * i / d",
            "Sine and cosine of a pair are one hand. Do both of yours turn at one rate?",
        ),
        "the rates fall half as fast": (
            "2 * (i // 2) / d",
            "(i // 2) / d",
            "Of d = 4 numbers the second hand turns at the rate 1/100. At which does yours?",
        ),
        "cosines first": (
            "i % 2 == 0",
            "i % 2 == 1",
            "At t = 0 the first number is sin 0.",
        ),
        "all sines, then all cosines": (
            "return torch.where(i % 2 == 0, angle.sin(), angle.cos())",
            "return torch.cat([angle[:, ::2].sin(), angle[:, ::2].cos()], 1)",
            "The numbers of a hand stand side by side.",
        ),
        "rates that grow": (
            "t[:, None] / 10000",
            "t[:, None] * 10000",
            "Each hand is slower than the one before.",
        ),
        "steps along the columns": (
            "t[:, None]",
            "t",
            "A step a row: t must be a column before it meets the rates.",
        ),
    }
)

time_embed.worked(
    why=r"""`i // 2` numbers the hands: 0, 0, 1, 1, … Both columns of a hand get the same angle, one its sine and one its cosine.
    Together they never lose the angle, and a turn by a fixed number of steps is the same rotation wherever it starts. That makes it easy
    for a network to compare steps. The fast hands tell 20 from 21, the slow ones 5 from 45."""
)


@time_embed.right("pairs stacked and flattened")
def _(t, d):
    rates = torch.exp(-math.log(10000) * torch.arange(0, d, 2) / d)
    angle = t[:, None] * rates
    return torch.stack([torch.sin(angle), torch.cos(angle)], dim=2).reshape(len(t), d)


@time_embed.right("number by number")
def _(t, d):
    out = torch.zeros(len(t), d)
    for row, step in enumerate(t.tolist()):
        for k in range(d // 2):
            angle = step / 10000 ** (2 * k / d)
            out[row, 2 * k], out[row, 2 * k + 1] = math.sin(angle), math.cos(angle)
    return out


# ---------------------------------------------------------------------------------------- ResBlock

ResBlock = Exercise(
    "ResBlock",
    reference=reference.block_report,
    compare=SAYS,
    hints=[
        "Four parts, four lines of torch.nn; then two lines for what begins as zero. In forward follow the formula from the inside.",
        "self.time(emb) has shape (n, c): two more axes of length 1 let it be added at every pixel. NN is SiLU, first, SiLU, last. "
        "And h itself is added in the end.",
        "nn.GroupNorm(4, c), nn.Linear(d, c), nn.Conv2d(c, c, 3, padding=1); nn.init.zeros_(self.last.weight). "
        "[:, :, None, None] adds the axes.",
    ],
)


@ResBlock.probe
def _(answer, h, emb, seed):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        net = answer(h.shape[1], emb.shape[1]).double()
    for part in ("norm", "time", "first", "last"):
        if not hasattr(net, part):
            raise AttributeError(f"the block has no part named {part}")
    with torch.no_grad():
        for name, p in net.named_parameters() if seed is not None else ():
            k = torch.arange(1, p.numel() + 1, dtype=torch.float64)
            phase = sum(i * ord(letter) for i, letter in enumerate(name))
            values = torch.cos(seed * k + phase) / p[0].numel() ** 0.5
            p.copy_(values.reshape(p.shape))
        out = net(h, emb)
    return {"out": out, "weights": sum(p.numel() for p in net.parameters())}


@ResBlock.cases
def _(rng):
    def case(n, c, s, d, **changes):
        given = dict(h=away(rng, n, c, s, s), emb=away(rng, n, d))
        return given | dict(seed=rng.uniform(0.7, 1.3)) | changes

    yield "what a block says", case(2, 4, 3, 3)
    yield "what a block says", case(3, 8, 2, 5)
    yield "one image", case(1, 8, 3, 8)
    yield "as many images as channels", case(4, 4, 2, 4)
    yield "a new block changes nothing", case(2, 8, 3, 4, seed=None)


ResBlock.mistakes(
    {
        "the input is not added": (
            "return h + self.last(F.silu(z))",
            "return self.last(F.silu(z))",
            "A new block should give back h. What does yours give?",
        ),
        "not born idle": (
            "nn.init.zeros_(self.last.weight)",
            "pass",
            "Which numbers of the last convolution have to be 0 so that a new block adds nothing?",
        ),
        "its bias is left": (
            "nn.init.zeros_(self.last.bias)",
            "pass",
            "A convolution has two parameters. Are both zero?",
        ),
        "the time before the norm": (
            "self.norm(h) + clock",
            "self.norm(h + clock)",
            "The norm would take away again part of what the clock adds. What stands inside GroupNorm in the formula?",
        ),
        "the time is not told": (
            "self.norm(h) + clock",
            "self.norm(h)",
            "Does the block still hear what step it is?",
        ),
        "no norm": ("self.norm(h) +", "h +", "Where does GroupNorm stand?"),
        "one group": (
            "nn.GroupNorm(4, c)",
            "nn.GroupNorm(1, c)",
            "Each quarter of the channels is normalised by itself.",
        ),
        "no SiLU in the middle": (
            "self.last(F.silu(z))",
            "self.last(z)",
            "Two convolutions in a row are one convolution. What stands between them?",
        ),
        "ReLU": (
            "self.first(F.silu(",
            "self.first(F.relu(",
            "Is it ReLU or SiLU that the text asks for?",
        ),
        "a convolution of size 1": (
            "self.first = nn.Conv2d(c, c, 3, padding=1)",
            "self.first = nn.Conv2d(c, c, 1)",
            "With size 1 a pixel sees no neighbour.",
        ),
        "the sum is normalised": (
            "return h + self.last(F.silu(z))",
            "return self.norm(h) + self.last(F.silu(z))",
            "It is h itself that goes straight through.",
        ),
    }
)

ResBlock.worked(
    why=r"""The clock's $c$ numbers get two axes of length 1, so that each is added at every pixel of its channel, after the norm: before it,
    GroupNorm would take part of it away. `h +` in the end lets everything through that the block has nothing to say about. As the last
    convolution begins with zeros, that is everything at first; its own gradient is not zero, so it starts to learn at once."""
)


@ResBlock.right("with nn.Sequential, named parts beside")
def _(c, d):
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            nn = torch.nn
            self.norm, self.time = nn.GroupNorm(4, c), nn.Linear(d, c)
            self.first = nn.Conv2d(c, c, 3, padding="same")
            self.last = nn.Conv2d(c, c, 3, padding="same")
            for p in self.last.parameters():
                p.data.fill_(0)

        def forward(self, h, emb):
            shift = torch.einsum("cd,nd->nc", self.time.weight, emb) + self.time.bias
            z = self.norm(h) + shift.unsqueeze(-1).unsqueeze(-1)
            z = self.first(z * torch.sigmoid(z))
            return self.last(z * torch.sigmoid(z)) + h

    return Block()


# -------------------------------------------------------------------------------------------- UNet

UNet = Exercise(
    "UNet",
    reference=reference.unet_report,
    compare=SAYS,
    hints=[
        "First __init__, line by line from the table: a list of widths, then a ModuleList for each row that has [l]. For forward draw two "
        "columns on paper, down and up, and write the shape beside each arrow. Try depth = 1 first.",
        "forward: h goes in through enter. On the way down: block, keep, max pooling, wider. At the bottom: block, attention on "
        "tokens, added. On the way up the levels come in reverse order: up, stack, merge, block.",
        "nn.ModuleList(ResBlock(w, d) for w in widths) makes a list. F.max_pool2d(h, 2) halves. self.look(h.flatten(2).mT).mT.reshape(h.shape) is "
        "the attention as an image. torch.cat([up, kept], dim=1) stacks channels; without skips put torch.zeros_like(h) into the list.",
    ],
)


@UNet.probe
def _(answer, x, emb, c, depth, skips, seed):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        net = answer(x.shape[1], c, depth, emb.shape[1], skips).double()
    names = "enter down wider bottom look up merge refine leave".split()
    for part in names:
        if not hasattr(net, part):
            raise AttributeError(f"the U has no part named {part}")
    with torch.no_grad():
        for name, p in net.named_parameters():
            k = torch.arange(1, p.numel() + 1, dtype=torch.float64)
            phase = sum(i * ord(letter) for i, letter in enumerate(name))
            values = torch.cos(seed * k + phase) / p[0].numel() ** 0.5
            p.copy_(values.reshape(p.shape))
        out = net(x, emb)
    return {"out": out, "weights": sum(p.numel() for p in net.parameters())}


@UNet.cases
def _(rng):
    def case(n, k, s, depth, d=3, skips=True):
        given = dict(x=away(rng, n, k, s, s), emb=away(rng, n, d), c=4, depth=depth)
        return given | dict(skips=skips, seed=rng.uniform(0.7, 1.3))

    yield "one level", case(2, 1, 4, 1)
    yield "one level", case(1, 2, 6, 1)
    yield "two levels", case(2, 1, 8, 2)
    yield "three levels", case(1, 1, 8, 3, d=2)
    yield "two colours, down to one pixel", case(3, 2, 4, 2)
    yield "zeros in place of the skips", case(2, 1, 4, 1, skips=False)
    yield "zeros in place of the skips", case(1, 1, 8, 2, skips=False)


UNet.mistakes(
    {
        "keeps what comes after the pooling": (
            "kept.append(h if self.skips else torch.zeros_like(h))\n            h = wider(F.max_pool2d(h, 2))",
            "h = wider(F.max_pool2d(h, 2))\n            kept.append(h if self.skips else torch.zeros_like(h))",
            "What is kept must have the size of the level: before it shrinks, or after?",
        ),
        "keeps what comes before the block": (
            "h = block(h, emb)\n            kept.append(h if self.skips else torch.zeros_like(h))",
            "kept.append(h if self.skips else torch.zeros_like(h))\n            h = block(h, emb)",
            "The table says what is kept: the result of the ResBlock.",
        ),
        "skips although they are off": (
            "h if self.skips else torch.zeros_like(h)",
            "h",
            "With skips=False, what stands in the place of what was kept?",
        ),
        "the kept one first": (
            "[self.up[level](h), kept[level]]",
            "[kept[level], self.up[level](h)]",
            "In which order are the two stacked?",
        ),
        "the way up from the top": (
            "reversed(range(len(kept)))",
            "range(len(kept))",
            "Which level comes first on the way up: the coarsest or the finest?",
        ),
        "mean pooling": (
            "F.max_pool2d(h, 2)",
            "F.avg_pool2d(h, 2)",
            "Of 2×2 pixels the largest is kept, not the mean.",
        ),
        "attention without its input": (
            "h = h + self.look(",
            "h = self.look(",
            "The attention is added to its input.",
        ),
        "channels as tokens": (
            "self.look(h.flatten(2).mT).mT.reshape(h.shape)",
            "self.look(h.flatten(2).mT).reshape(h.shape)",
            "look gives tokens in rows. Turn the table back before it becomes an image.",
        ),
        "no block at the bottom": (
            "h = self.bottom(h, emb)",
            "pass",
            "The bottom has two parts.",
        ),
        "no attention": (
            "h = h + self.look(h.flatten(2).mT).mT.reshape(h.shape)",
            "pass",
            "The bottom has two parts.",
        ),
        "no block on the way up": (
            "h = self.refine[level](self.merge[level](both), emb)",
            "h = self.merge[level](both)",
            "What comes after merge?",
        ),
        "channels that do not grow": (
            "c * 2**level for level",
            "c for level",
            "Level l has 2^l c channels.",
        ),
    }
)

UNet.equivalent(
    {
        "self.skips = skips → self.skips = -skips": "With skips=False, zeros stand in place of what was kept."
    }
)

UNet.worked(
    why=r"""Each level shrinks the image and doubles the channels; the way up mirrors it. `kept` is filled from fine to coarse and read from
    coarse to fine, as a pile of plates would be. Stacking, not adding, leaves it to `merge` how much of each to use. The
    1×1 convolutions only mix channels, at each pixel by itself; what sees neighbours are the blocks, the pooling and the bottom."""
)


@UNet.right("by recursion")
def _(k, c, depth, d, skips=True):
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self, w):
            super().__init__()
            self.norm, self.time = nn.GroupNorm(4, w), nn.Linear(d, w)
            self.first = nn.Conv2d(w, w, 3, padding=1)
            self.last = nn.Conv2d(w, w, 3, padding=1)

        def forward(self, h, emb):
            z = self.norm(h) + self.time(emb)[..., None, None]
            return h + self.last(F.silu(self.first(F.silu(z))))

    class Look(nn.Module):
        def __init__(self, w):
            super().__init__()
            self.ask, self.key, self.value, self.out = (nn.Linear(w, w) for _ in "akvo")

        def forward(self, h):
            q, k, v = self.ask(h), self.key(h), self.value(h)
            return self.out(F.scaled_dot_product_attention(q, k, v))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            for name in ("down", "wider", "up", "merge", "refine"):
                setattr(self, name, nn.ModuleList())
            for level in range(depth):
                w = c * 2**level
                self.down.append(Block(w))
                self.wider.append(nn.Conv2d(w, 2 * w, 1))
                self.up.append(nn.ConvTranspose2d(2 * w, w, 2, stride=2))
                self.merge.append(nn.Conv2d(2 * w, w, 1))
                self.refine.append(Block(w))
            low = c * 2**depth
            self.bottom, self.look = Block(low), Look(low)
            self.enter = nn.Conv2d(k, c, 3, padding=1)
            self.leave = nn.Conv2d(c, k, 3, padding=1)

        def below(self, level, h, emb):
            if level == depth:
                h = self.bottom(h, emb)
                tokens = h.flatten(2).transpose(1, 2)
                return h + self.look(tokens).transpose(1, 2).view(h.shape)
            h = self.down[level](h, emb)
            low = self.below(level + 1, self.wider[level](F.max_pool2d(h, 2)), emb)
            both = [self.up[level](low), h * float(skips)]
            return self.refine[level](self.merge[level](torch.cat(both, 1)), emb)

        def forward(self, x, emb):
            return self.leave(self.below(0, self.enter(x), emb))

    return Net()


# ------------------------------------------------------------------------------------- drop_labels

drop_labels = Exercise(
    "drop_labels",
    reference=reference.drop_labels,
    compare=exact(),
    hints=[
        "One draw for each label. For which of them is it hidden?",
        "torch.rand(len(y), generator=g) < p is a mask of n truth values.",
        "torch.where(mask, nobody, y) chooses for each.",
    ],
)


@drop_labels.probe
def _(answer, y, p, nobody, seed):
    labels = answer(y, p, nobody, torch.Generator().manual_seed(seed))
    # a table takes them as a network's does: integers only
    return torch.arange(nobody + 2)[labels]


@drop_labels.cases
def _(rng):
    def case(n, p, nobody):
        y = torch.from_numpy(rng.integers(0, nobody - 1, n))  # the last is missing
        return dict(y=y, p=p, nobody=nobody, seed=int(rng.integers(1, 1000)))

    yield "some are hidden", case(40, 0.3, 10)
    yield "some are hidden", case(40, 0.8, 3)
    tie = case(40, 0.0, 10)  # one draw is exactly p
    draws = torch.rand(40, generator=torch.Generator().manual_seed(tie["seed"]))
    yield "only what is below p", tie | dict(p=float(draws.median()))
    yield "p = 0 hides none", case(12, 0.0, 10)
    yield "p = 1 hides all", case(12, 1.0, 5)


drop_labels.mistakes(
    {
        "keeps a share p": ("< p", "> p", "p is the chance that a label is hidden. How many are hidden at p = 0?"),
        "all or none": ("torch.rand(len(y), generator=g)", "torch.rand(1, generator=g)", "Each label has its own draw."),
        "hidden as 0": ("nobody, y)", "0, y)", "0 is a digit. Which label says \"anybody\"?"),
        "its own chance": ("generator=g", "generator=torch.Generator().manual_seed(0)", "The draws come from g."),
    }
)  # fmt: skip

drop_labels.worked(
    why=r"""A uniform draw is below $p$ with chance $p$. `torch.where` makes a new tensor, so that y keeps its labels for the next
    time. With the label hidden the network learns the noise of *any* digit, with it that of one: two predictors in one set of
    weights."""
)


@drop_labels.right("a loop over the draws")
def _(y, p, nobody, g):
    draws = torch.rand(len(y), generator=g).tolist()
    return [nobody if u < p else label for u, label in zip(draws, y.tolist())]


@drop_labels.right("a copy, filled", library="torch.Tensor.masked_fill")
def _(y, p, nobody, g):
    return y.masked_fill(torch.rand(y.shape, generator=g) < p, nobody)


# ------------------------------------------------------------------------------------------ guided

guided = Exercise(
    "guided",
    reference=reference.guided_report,
    compare=parts(noise=close(rtol=1e-6, float32=True), calls=exact()),
    hints=[
        "What are the 2n rows that the model gets? Its images and steps are the same twice; only the labels differ.",
        "torch.cat([x, x]), the same for t; y, then as many times nobody. The first n rows of the result are ε_c, the last ε_u.",
        "torch.full_like(y, nobody) hides all labels. both.chunk(2) splits the answer. Then ε_u + w (ε_c − ε_u).",
    ],
)


@guided.probe
def _(answer, x, t, y, w, nobody, V):
    calls = []

    def model(x, t, y):
        if not len(x) == len(t) == len(y):
            raise ValueError(
                f"the model got {len(x)} rows, {len(t)} steps, {len(y)} labels"
            )
        calls.append(len(x))
        shape = [-1] + [1] * (x.dim() - 1)
        return torch.tanh(x + t.to(x.dtype).reshape(shape) / 10) * V[y].to(
            x.dtype
        ).reshape(shape)

    noise = answer(model, x, t, y, w, nobody)
    return {"noise": noise, "calls": calls}


@guided.cases
def _(rng):
    def case(w, n, *axes, labels=4):
        y = torch.from_numpy(rng.permutation(np.arange(n) % labels))
        V = torch.from_numpy(
            rng.permutation(labels + 2) + rng.uniform(1, 1.4, labels + 2)
        )
        t = torch.from_numpy(rng.permutation(20)[:n] + 1)
        return dict(x=away(rng, n, *axes), t=t, y=y, w=w, nobody=labels, V=V)

    yield "beyond the label", case(3.0, 4, 2)
    yield "beyond the label", case(1.7, 3, 5, labels=2)
    yield "images", case(2.5, 3, 1, 2, 2)
    yield "one row", case(4.0, 1, 3)
    yield "w < 0: away from the label", case(-1.5, 3, 2)
    yield "w = 0: the label is not heard", case(0.0, 3, 2)
    yield "w = 1: as it was told", case(1.0, 3, 2)


guided.mistakes(
    {
        "w counts from the label": (
            "return unasked + w * (asked - unasked)",
            "return asked + w * (asked - unasked)",
            "What should come out at w = 1? And what does yours give?",
        ),
        "hidden and told change places": (
            "asked, unasked = both.chunk(2)",
            "unasked, asked = both.chunk(2)",
            "Which rows come first, those with labels or those without?",
        ),
        "two calls": (
            "labels = torch.cat([y, torch.full_like(y, nobody)])\n    both = model(torch.cat([x, x]), torch.cat([t, t]), labels)",
            "both = torch.cat([model(x, t, y), model(x, t, torch.full_like(y, nobody))])",
            "Ask once, with 2n rows.",
        ),
        "hidden as label 0": (
            "torch.full_like(y, nobody)",
            "torch.zeros_like(y)",
            "Which label hides? It is an argument.",
        ),
        "w on the hidden one": (
            "return unasked + w * (asked - unasked)",
            "return w * unasked + asked",
            "At w = 0 the label should not be heard.",
        ),
        "only the difference": (
            "return unasked + w * (asked - unasked)",
            "return w * (asked - unasked)",
            "From where do you go w times the difference?",
        ),
    }
)

guided.worked(
    why=r"""One batch of $2n$ rows asks both questions; a card, and most processors, answer it faster than two batches of $n$. The two
    halves differ in their labels only, so that their difference is what the label has to say. From the unasked noise you go $w$
    times that way: 0 is deaf, 1 does as told, more exaggerates."""
)


@guided.right("a weighted mean, split by hand")
def _(model, x, t, y, w, nobody):
    n = len(x)
    hidden = torch.tensor([nobody] * n)
    both = model(x.repeat(2, *[1] * (x.dim() - 1)), t.repeat(2), torch.cat([y, hidden]))
    return w * both[:n] + (1 - w) * both[n:]


@guided.right("torch's interpolation", library="torch.lerp")
def _(model, x, t, y, w, nobody):
    labels = torch.cat([y, torch.full_like(y, nobody)])
    asked, unasked = model(torch.cat([x, x]), torch.cat([t, t]), labels).chunk(2)
    return torch.lerp(unasked, asked, w)


# ----------------------------------------------------------------------------------------- Patches

Patches = Exercise(
    "Patches",
    reference=reference.patches,
    compare=close(rtol=1e-6, float32=True),
    hints=[
        "A row number is (which patch, which row in it), and so is a column number. Which reshape shows both? Which axes then belong to the patch, "
        "which to the token?",
        "cut: (n, k, m, p, m, p), then the axes in the order n, both m, k, both p; reshape joins the m's and the last three. join undoes it: "
        "reshape, the axes back, reshape.",
        "permute(0, 2, 4, 1, 3, 5) on the way out. On the way back (n, m, m, k, p, p) has to become (n, k, m, p, m, p): "
        "permute(0, 3, 1, 4, 2, 5).",
    ],
)


@Patches.probe
def _(answer, x, z, p):
    k = z.shape[2] // p**2
    return {"cut": answer(p).cut(x), "joined": answer(p).join(z, k)}


@Patches.cases
def _(rng):
    def case(n, k, m, p):
        return dict(
            x=away(rng, n, k, m * p, m * p), z=away(rng, n, m * m, k * p * p), p=p
        )

    yield "one channel", case(2, 1, 2, 2)
    yield "one channel", case(1, 1, 3, 2)
    yield "three channels", case(1, 3, 2, 3)
    yield "as many channels as patches in a row", case(2, 2, 2, 2)
    yield "p = 1: a pixel a token", case(2, 2, 3, 1)
    yield "one patch is the image", case(2, 2, 1, 3)


Patches.mistakes(
    {
        "cut without turning axes": (
            "x.permute(0, 2, 4, 1, 3, 5)",
            "x",
            "Is your first token a square, or a stripe?",
        ),
        "rows and columns exchanged": (
            "x.permute(0, 2, 4, 1, 3, 5)",
            "x.permute(0, 4, 2, 1, 5, 3)",
            "Patches come row by row from the top left. What is your second patch?",
        ),
        "channels last in the token": (
            "x.permute(0, 2, 4, 1, 3, 5)",
            "x.permute(0, 2, 4, 3, 5, 1)",
            "In a token channel by channel: which axis stands before the two of the patch?",
        ),
        "joined without turning axes": (
            "z.permute(0, 3, 1, 4, 2, 5)",
            "z",
            "Cut an image and join it again. Is it the same?",
        ),
        "joined columns first": (
            "z.permute(0, 3, 1, 4, 2, 5)",
            "z.permute(0, 3, 2, 4, 1, 5)",
            "Patches come row by row. Where does your second one lie?",
        ),
    }
)

Patches.worked(
    why=r"""Only names of axes change. A row of pixels is number $i p + r$: row $r$ of the $i$-th patch; `reshape` to $(m, p)$ splits it, for
    rows and for columns. `permute` brings the two $m$, which patch, to the front and what is inside a patch to the end; the last
    `reshape` glues each group together. `join` walks the same three steps backwards."""
)


@Patches.right("patch by patch")
def _(p):
    class Cutter:
        def cut(self, x):
            rows = range(0, x.shape[2], p)
            tokens = [
                x[:, :, i : i + p, j : j + p].flatten(1) for i in rows for j in rows
            ]
            return torch.stack(tokens, 1)

        def join(self, z, k):
            m = round(z.shape[1] ** 0.5)
            squares = z.reshape(len(z), m, m, k, p, p)
            rows = [
                torch.cat([squares[:, i, j] for j in range(m)], 3) for i in range(m)
            ]
            return torch.cat(rows, 2)

    return Cutter()


@Patches.right("torch's own", library="torch.nn.functional.unfold")
def _(p):
    class Cutter:
        def cut(self, x):
            return torch.nn.functional.unfold(x, p, stride=p).mT

        def join(self, z, k):
            s = p * math.isqrt(z.shape[1])
            return torch.nn.functional.fold(z.mT, (s, s), p, stride=p)

    return Cutter()


# ---------------------------------------------------------------------------------------- DiTBlock

DiTBlock = Exercise(
    "DiTBlock",
    reference=reference.dit_report,
    compare=SAYS,
    hints=[
        "Four parts and two lines for zeros, as in the ResBlock. In forward: first the six rows, then the two halves.",
        "self.rule(F.silu(emb)) is (n, 6c). Give it an axis for the tokens, and cut it into six along the last. The second half works on the "
        "result of the first.",
        "b1, a1, g1, b2, a2, g2 = self.rule(F.silu(emb))[:, None].chunk(6, dim=-1). Then h + g1 * self.look((1 + a1) * self.norm(h) + b1).",
    ],
)


@DiTBlock.probe
def _(answer, h, emb, seed):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        net = answer(h.shape[2], emb.shape[1]).double()
    for part in ("look", "norm", "think", "rule"):
        if not hasattr(net, part):
            raise AttributeError(f"the block has no part named {part}")
    with torch.no_grad():
        for name, p in net.named_parameters() if seed is not None else ():
            k = torch.arange(1, p.numel() + 1, dtype=torch.float64)
            phase = sum(i * ord(letter) for i, letter in enumerate(name))
            values = torch.cos(seed * k + phase) / p[0].numel() ** 0.5
            p.copy_(values.reshape(p.shape))
        out = net(h, emb)
    return {"out": out, "weights": sum(p.numel() for p in net.parameters())}


@DiTBlock.cases
def _(rng):
    def case(n, k, c, d, **changes):
        given = dict(h=away(rng, n, k, c), emb=away(rng, n, d))
        return given | dict(seed=rng.uniform(0.7, 1.3)) | changes

    yield "what a block says", case(2, 3, 4, 3)
    yield "what a block says", case(2, 3, 8, 4)
    yield "one image", case(1, 4, 3, 2)
    yield "as many images as tokens as numbers", case(3, 3, 3, 3)
    yield "a new block changes nothing", case(2, 4, 3, 5, seed=None)


DiTBlock.mistakes(
    {
        "not born idle": (
            "nn.init.zeros_(self.rule.weight)",
            "pass",
            "Which numbers of the rule have to be 0 so that all gates are shut?",
        ),
        "its bias is left": (
            "nn.init.zeros_(self.rule.bias)",
            "pass",
            "The rule has two parameters. Are both zero?",
        ),
        "no gates": (
            "h = h + g1 * self.look(",
            "h = h + self.look(",
            "A new block should change nothing. What shuts the attention out?",
        ),
        "shift and scale change places": (
            "b1, a1, g1, b2, a2, g2 =",
            "a1, b1, g1, a2, b2, g2 =",
            "In which order do the rule's rows come?",
        ),
        "a scale without the 1": (
            "self.look((1 + a1) *",
            "self.look(a1 *",
            "If the rule says 0, the scale should be 1.",
        ),
        "the norm has weights of its own": (
            ", elementwise_affine=False",
            "",
            "Shift and scale come from the rule. How many weights does your norm add?",
        ),
        "the second half on the old tokens": (
            "h = h + g1 * self.look((1 + a1) * self.norm(h) + b1)\n        return h + g2 * self.think((1 + a2) * self.norm(h) + b2)",
            "z = h + g1 * self.look((1 + a1) * self.norm(h) + b1)\n        return z + g2 * self.think((1 + a2) * self.norm(h) + b2)",
            "think works on the tokens that the attention has changed.",
        ),
        "no SiLU": (
            "self.rule(F.silu(emb))",
            "self.rule(emb)",
            "What stands between emb and the linear layer?",
        ),
        "ReLU in the middle": (
            "nn.GELU()",
            "nn.ReLU()",
            "Which function stands in think?",
        ),
    }
)

DiTBlock.worked(
    why=r"""Six rows of $c$ numbers, made of step and label, rule both halves: where the standardised tokens are moved to, how far they are
    stretched, and how much of the answer is let in. `[:, None]` makes them the same for all tokens of an image. As the rule begins with
    zeros, scale is 1, shift 0 and gate 0; so the gates' gradient is the first to move."""
)


@DiTBlock.right(
    "row by row, with torch's attention",
    library="torch.nn.functional.scaled_dot_product_attention",
)
def _(c, d):
    nn, F = torch.nn, torch.nn.functional

    class Look(nn.Module):
        def __init__(self):
            super().__init__()
            self.ask, self.key, self.value, self.out = (nn.Linear(c, c) for _ in "akvo")

        def forward(self, h):
            q, k, v = self.ask(h), self.key(h), self.value(h)
            return self.out(F.scaled_dot_product_attention(q, k, v))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.look, self.norm = Look(), nn.LayerNorm(c, elementwise_affine=False)
            self.think = nn.Sequential(
                nn.Linear(c, 4 * c), nn.GELU(), nn.Linear(4 * c, c)
            )
            self.rule = nn.Linear(d, 6 * c)
            for p in self.rule.parameters():
                nn.init.constant_(p, 0.0)

        def forward(self, h, emb):
            rule = self.rule(F.silu(emb)).reshape(len(h), 1, 6, c)
            for first, part in ((0, self.look), (3, self.think)):
                b, a, g = (
                    rule[:, :, first],
                    rule[:, :, first + 1],
                    rule[:, :, first + 2],
                )
                z = F.layer_norm(h, [c])
                h = torch.addcmul(h, g, part(z + a * z + b))
            return h

    return Block()


@DiTBlock.right("the rule as a table")
def _(c, d):
    nn = torch.nn

    class Look(nn.Module):
        def __init__(self):
            super().__init__()
            for name in ("ask", "key", "value", "out"):
                setattr(self, name, nn.Linear(c, c))

        def forward(self, h):
            fit = torch.einsum("nic,njc->nij", self.ask(h), self.key(h)) / c**0.5
            return self.out(torch.softmax(fit, 2) @ self.value(h))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.rule, self.look = nn.Linear(d, 6 * c), Look()
            nn.init.zeros_(self.rule.weight), nn.init.zeros_(self.rule.bias)
            self.norm = nn.LayerNorm(c, elementwise_affine=False)
            self.think = nn.Sequential(
                nn.Linear(c, 4 * c), nn.GELU(), nn.Linear(4 * c, c)
            )

        def forward(self, h, emb):
            table = self.rule(emb * emb.sigmoid()).unflatten(1, (6, c))[:, :, None]
            h = h + table[:, 2] * self.look(
                self.norm(h) * (table[:, 1] + 1) + table[:, 0]
            )
            z = self.norm(h) * (table[:, 4] + 1) + table[:, 3]
            return h + table[:, 5] * self.think(z)

    return Block()

# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="LeNet and the loop that trains it, and residual layers that let depth train" covers="cs480:10-layers explainers:4.2"
# # Training a CNN
#
# A network of three convolutional layers learns to read handwritten digits. After four rounds it reads more than nine in ten. Somebody hopes for
# more, adds 28 layers, all alike, and trains in the same way.
#
# The deep network ends by guessing. And not only on new digits, where one might say that it has learned by heart. It guesses on *the digits
# that it learned from*.
#
# Yet it could do all that the small one does: each of the 28 layers would only have to hand on what it gets. **What does depth break, and what
# mends it?** One plus sign will do, and a small start. On the way to it you build a famous network, and the loop that trains it.

# %%
# What this notebook needs.
import numpy as np
import torch
import torch.nn.functional as F
from ipywidgets import IntSlider
from torch import nn

from descent import after, check, claim, erratum, explore, hint
from descent import predict, show, solution, start
from descent.pictures.convolutional_networks import training_a_cnn as pictures

start("08_convolutional_networks/03_training_a_cnn")

# %% covers="wu:4.9.3"
# Three layers and 31, on the digits that they learn from.
show(*pictures.draw_puzzle(), digits=1)

# %% [markdown] covers="cs480:10-layers explainers:4.2"
# ## 1. Plan: the table of shapes
#
# Nearly all networks for images have two parts. The first *sees*: convolutions, activations, pools. Resolution falls, and
# channels grow: less where, more what. The second *reads*: all maps in one long row, then dense layers, whose last
# numbers are scores for softmax. Both are learned together.
#
# In [[08/01]] you planned with formulas. Now ask the layers themselves. In torch a layer is an object that is called: `nn.Conv2d(c, o, size, stride, pad)`,
# `nn.Linear(a, b)`, `nn.Tanh()`. Its `.parameters()` are the tensors that it learns. On the device `"meta"` tensors have a shape and *no numbers*. Layers there check what
# they are given, and compute nothing.


# %% exercise="trace" points=3 difficulty=1 covers="cs480:10-layers explainers:4.2 cs480:10-alexnet explainers:4.2.box-why"
def trace(layers, shape):
    """What each layer makes of a batch, without computing: a row (shape, weights) each.

    layers: list of torch layers on the meta device, stays as it is. shape: of the
    first one's batch. torch.empty(shape, device="meta") makes such a batch.
    shape in a row: a tuple, what comes out of this layer. weights: how many numbers it
    learns. A layer that its input does not fit raises RuntimeError: its row is
    (None, weights), and ends the table.
    [nn.Conv2d(1, 6, 5), nn.Conv2d(6, 4, 9)], (2, 1, 9, 8) gives
    [((2, 6, 5, 4), 156), (None, 1948)].
    """
    ### BEGIN SOLUTION
    rows = []
    for layer in layers:
        count = sum(p.numel() for p in layer.parameters())
        try:
            shape = tuple(layer(torch.empty(shape, device="meta")).shape)
        except RuntimeError:
            rows.append((None, count))
            break
        rows.append((shape, count))
    return rows
    ### END SOLUTION


# %% check="trace"
check(trace)

# %% [markdown] covers="cs480:10-lenet cs480:10-alexnet"
# Two famous networks to plan. **LeNet-5** (LeCun, Bottou, Bengio and Haffner 1998) read the amounts on bank cheques: $32^2$ pixels, six $5 \times 5$ kernels, half the size,
# sixteen $5 \times 5$ kernels, half the size, then dense layers of 120, 84 and 10. **AlexNet** (Krizhevsky, Sutskever and Hinton 2012) told a thousand kinds of photos apart, and
# ended the years of features made by hand. It begins with 96 kernels of $11 \times 11$, stride 4, on $224^2$ pixels in three colours, and maps of $55^2$ numbers
# are said to come out.

# %% predict="fifty-five" minutes=1 covers="cs480:10-alexnet"
predict(
    "fifty-five",
    "11 × 11 kernels, stride 4, on 224 pixels, no padding. How many windows in a row? "
    "The famous figure says 55.",
    ["54", "55", "56"],
    truth=(224 - 11) // 4 + 1 - 54,
    because="(224 − 11) / 4 is 53.25: 53 steps after the first window make 54. The "
    "figure needs 227 pixels, or two zeros on either side.",
)

# %% covers="cs480:10-lenet cs480:10-alexnet cs480:10-layers"
# Your table of LeNet and AlexNet; and where their weights sit.
with after(trace, "fifty-five"):
    with torch.device("meta"):
        lenet, alexnet = pictures.lenet_layers(), pictures.alexnet_layers()
        starts = {(m, p): [nn.Conv2d(3, 96, 11, 4, p)] for m, p in pictures.STARTS}
    rows = trace(lenet, (1, 1, 32, 32))
    sizes = [shape[-1] for shape, _ in rows[:7]]
    right = sizes == [28, 28, 14, 10, 10, 5, 400]
    claim("LeNet, as printed: 28, half is 14, 10, half is 5", right)
    counts = [count for _, count in rows if count]
    right = counts == [156, 2416, 48120, 10164, 850]
    words = "its weights: {each}, together {n:,}"
    each = "156 + 2416 + 48120 + 10164 + 850"
    claim(words, right, each=each, n=sum(counts))
    first = [
        trace(starts[m, p], (1, 3, m, m))[0][0][-1]
        for m, p in ((224, 0), (227, 0), (224, 2))
    ]
    words = "AlexNet: 224 pixels give 54; 227, or two zeros around 224, give 55"
    claim(words, first == [54, 55, 55])
    rows_alex = trace(alexnet, (1, 3, 227, 227))
    maps = [shape[-1] for shape, count in rows_alex if len(shape) == 4 and count]
    right = maps == [55, 27, 13, 13, 13] and rows_alex[12][0] == (1, 256, 6, 6)
    claim("then 27, 13, 13, 13, and 6 behind the last pool", right)
    total = sum(count for _, count in rows_alex)
    claim("its weights: {n:,}", total == 62_378_344, n=total)
    refused = trace(lenet, (1, 1, 28, 28))
    claim("28 pixels do not fit LeNet: c5 refuses", refused[-1] == (None, 48120))
    show(*pictures.draw_weights(rows, rows_alex))

# %% [markdown] covers="cs480:10-lenet cs480:10-layers"
# So the part that *sees* holds few of the weights: each of them works at every place. The dense layers hold nearly all. (In 1998 the pools had weights, too, all but one of c3's kernels saw only some of
# the six maps, and the last layer was fixed: 60,000 numbers learned. Three of AlexNet's
# convolutions were halved for two graphics cards, which left 60,965,224.)
#
# ## 2. Build
#
# A network of your own is a class: what learns is made in `__init__`, as an attribute, so that torch finds it; `forward` says what happens to a batch.


# %% open=true covers="cs480:10-layers"
class TwoLayers(nn.Module):
    """An example: 64 pixels, ten hidden units, three scores."""

    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(64, 10), nn.Linear(10, 3)

    def forward(self, x):  # called as net(x)
        return self.out(torch.relu(self.hidden(x.flatten(1))))


# %% [markdown] covers="cs480:10-lenet"
# Now LeNet. From the image on:
#
# | name | what | out |
# | --- | --- | --- |
# | | images | 1 × 32 × 32 |
# | `c1` | convolution, 6 kernels 5 × 5, then tanh | 6 × 28 × 28 |
# | | mean of each 2 × 2, `F.avg_pool2d(h, 2)` | 6 × 14 × 14 |
# | `c3` | convolution, 16 kernels 5 × 5, then tanh | 16 × 10 × 10 |
# | | mean of each 2 × 2 | 16 × 5 × 5 |
# | `c5` | dense, then tanh | 120 |
# | `f6` | dense, then tanh | 84 |
# | `out` | dense | 10 |


# %% exercise="LeNet" points=5 difficulty=1 covers="cs480:10-lenet cs480:10-layers explainers:4.2"
class LeNet(nn.Module):
    """LeNet as in the table, its five parts by the names there; padding nowhere."""

    def __init__(self):
        super().__init__()
        ### BEGIN SOLUTION
        self.c1 = nn.Conv2d(1, 6, 5)
        self.c3 = nn.Conv2d(6, 16, 5)
        self.c5 = nn.Linear(16 * 5 * 5, 120)
        self.f6 = nn.Linear(120, 84)
        self.out = nn.Linear(84, 10)
        ### END SOLUTION

    def forward(self, x):
        """x (n, 1, 32, 32) -> scores (n, 10)."""
        ### BEGIN SOLUTION
        h = F.avg_pool2d(torch.tanh(self.c1(x)), 2)
        h = F.avg_pool2d(torch.tanh(self.c3(h)), 2)
        h = torch.tanh(self.c5(h.flatten(1)))
        h = torch.tanh(self.f6(h))
        return self.out(h)
        ### END SOLUTION


# %% check="LeNet"
check(LeNet)

# %% [markdown] covers="wu:3.3.6"
# ## 3. Train: the loop
#
# What you wrote by hand in [[08/02]], `loss.backward()` does: it adds the slopes of the loss to the `.grad` of each parameter. *Adds*: so old slopes must go first,
# `optimizer.zero_grad()`. Then `optimizer.step()` moves the weights. For scores (n, K) and labels (n,) `F.cross_entropy(scores, labels)` is the mean loss, in nats, and `loss.item()` the number in it.
#
# An **epoch** shows every image once, in an order drawn anew, batch by batch: `order.split(batch)` cuts it. Within a batch all can be computed side by side;
# the next batch needs the weights of the step before.


# %% exercise="train" points=5 difficulty=1 covers="wu:3.3.6 cs480:10-lenet"
def train(net, X, y, optimizer, epochs, batch, g):
    """Train net, in place, on mini-batches; the list of each epoch's mean loss.

    net: called with images, gives scores. X (n, …) images, y (n,) labels, tensors.
    optimizer: a torch optimiser of net's parameters. Each epoch draws one
    torch.randperm(len(X), generator=g); its first `batch` rows are the first batch, and
    so on, the last batch may be smaller. Each batch makes one step. Slopes left over
    from before count for nothing.
    Each mean is a Python number: over all images of the epoch, each with its loss from
    its own batch, before that batch's step. So a smaller last batch counts less.
    """
    ### BEGIN SOLUTION
    losses = []
    for _ in range(epochs):
        total = 0.0
        order = torch.randperm(len(X), generator=g)
        for rows in order.split(batch):
            loss = F.cross_entropy(net(X[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(X))
    return losses
    ### END SOLUTION


# %% check="train"
check(train)

# %% covers="cs480:10-lenet wu:3.3.6"
# LeNet learns 1,200 digits: what it confuses, and its first kernels.
X, y = pictures.fields(0, 1200)  # digits of 24 × 24 pixels on fields of 32 × 32
tests, truth = pictures.fields(1200, 1797)
nets = {}


def learn(net, X, y, epochs, batch=32, rate=4e-3):
    adam = torch.optim.Adam(net.parameters(), rate)
    return train(net, X, y, adam, epochs, batch, torch.Generator().manual_seed(0))


with after(LeNet, train):
    same = pictures.numpy_steps(train)
    claim("three steps of a small CNN, slopes in NumPy: the same weights", same)
    torch.manual_seed(0)
    nets["LeNet"] = LeNet()
    before = nets["LeNet"].c1.weight.detach().clone()
    losses = learn(nets["LeNet"], X, y, 4)
    table = pictures.confusion(nets["LeNet"], tests, truth)
    share = np.trace(table) / table.sum()
    claim("of {n} new digits it reads more than 93 %", share > 0.93, n=len(truth))
    kernels = nets["LeNet"].c1.weight.detach()
    far = ((kernels - before).norm() / before.norm()).item()
    claim("its first kernels moved by more than a tenth of their size", far > 0.1)
    show(*pictures.draw_training(losses, table, before, kernels), digits=0)

# %% [markdown] covers="explainers:4.2.box-why explainers:4.2"
# ## 4. Does it know what a digit is, wherever?
#
# People name three reasons for a CNN: fewer weights, fewer examples, and that a thing is known *wherever it stands*. Put the last one to a test: move the test
# digits, and let zeros come in.


# %% exercise="moved" points=2 difficulty=1 covers="explainers:4.2.box-why"
def moved(X, down, right):
    """The images, moved by so many pixels. Zeros come in, and what leaves is gone.

    X (n, c, h, w), a tensor, stays as it is. down, right: whole numbers, negative ones
    go up and left; however far. Returns a tensor (n, c, h, w).
    X = [[[[1, 2, 3]]]], down 0, right 1 gives [[[[0, 1, 2]]]].
    """
    ### BEGIN SOLUTION
    h, w = X.shape[2:]
    reach = max(abs(down), abs(right))
    P = F.pad(X, (reach, reach, reach, reach))
    top, left = reach - down, reach - right
    return P[:, :, top : top + h, left : left + w]
    ### END SOLUTION


# %% check="moved"
check(moved)

# %% [markdown] covers="explainers:4.2.box-why"
# Three networks compete, trained by your loop (LeNet for four epochs, the others for eight): LeNet with its 61,706 weights; an **MLP**, 59 hidden units on all 1024 pixels, 61,075; and *Pooled*, three convolutional layers, strides 2, 2 and
# 1, then a global pool, the largest value of each of its 32 maps, and one dense layer in place of LeNet's three. It has 16,586.

# %% covers="explainers:4.2.box-why"
# The other two learn; then all digits move by 1 to 4 pixels, four ways.
with after(LeNet, train, moved):
    torch.manual_seed(0)
    nets["MLP"], nets["Pooled"] = pictures.mlp(), pictures.pooled()
    learn(nets["MLP"], X, y, 8, 64, 3e-3)
    learn(nets["Pooled"], X, y, 8, 32, 4e-3)
    curves = {}
    for name, net in nets.items():
        curves[name] = []
        for s in range(5):
            four = (s, 0), (-s, 0), (0, s), (0, -s)
            ways = torch.cat([moved(tests[:300], *way) for way in four])
            said = pictures.read(net, ways)
            curves[name].append(np.mean(said == truth[:300].repeat(4).numpy()))

# %% predict="moved-lenet" minutes=1 covers="explainers:4.2.box-why"
predict(
    "moved-lenet",
    "In the middle all three read about 96 %. Now the digits, 24 pixels high, move by "
    "4 pixels. How many of ten does LeNet still read?",
    ["nine", "seven", "fewer than six"],
    truth=2 - int(np.digitize(curves["LeNet"][4], [0.6, 0.8])),
    because="Its maps move along, but the dense layers that read them have a weight "
    "for each place of each map, 16 × 25, and learned them for digits in the middle.",
)

# %% covers="explainers:4.2.box-why"
# How far a digit may move; then drag one.
with after(LeNet, train, moved, "moved-lenet"):
    middle = min(curve[0] for curve in curves.values())
    claim("in the middle all three read more than 92 %", middle > 0.92)
    most = max(curves[name][4] for name in ("LeNet", "MLP"))
    claim("moved by 4 pixels, LeNet and MLP read under 55 %", most < 0.55)
    words = "Pooled, with a quarter of their weights: over 60 %"
    claim(words, curves["Pooled"][4] > 0.6)
    show(*pictures.draw_moved(curves), digits=1)

# %% covers="explainers:4.2.box-why"
# Drag the digit: what do the three say?
with after(LeNet, train, moved, "moved-lenet"):
    explore(
        lambda right, down, nets=nets, image=tests[2], digit=truth[2]: (
            pictures.draw_reading(nets, image, digit, down, right)
        ),
        digits=0,
        drag={("right", "down"): "field"},
        right=IntSlider(0, min=-8, max=8, description="right"),
        down=IntSlider(0, min=-8, max=8, description="down"),
    )

# %% [markdown] covers="explainers:4.2.box-why wu:4.9.3"
# A convolution hands moves *on*; a pool forgets some, a global one the most. Not all: what stands at the edge is cut or meets zeros,
# and strides skip.
#
# ## 5. Depth
#
# Back to the 28 layers. With ReLU a layer whose kernels are 1 in the middle of their own channel and 0 elsewhere hands on what it gets, which is never below 0. So
# good weights exist; training does not find them. What if handing on came free? Then a layer need only learn what to
# *add*. Let $*$ be a convolution, $3 \times 3$ with padding 1, and $\sigma$ ReLU:
#
# $$h^{(0)} = \sigma(W * x + b), \qquad h^{(t)} = h^{(t-1)} + \sigma(W^{(t)} * h^{(t-1)} + b^{(t)}), \quad t = 1, \dots, T .$$
#
# Features are found once, then *refined* $T$ times. The sum is a **residual connection**.


# %% exercise="Refined" points=4 difficulty=1 covers="wu:4.9.3 wu:4.9.4 wu:4.9.5"
class Refined(nn.Module):
    """The layer above, from a channels to b, refined T times.

    Its parts by name: enter (the convolution with W, its stride as given), steps (the
    T others in an nn.ModuleList: torch finds the layers of such a list). With
    plain=True the sum is left out: the new h is only σ(…).
    """

    def __init__(self, a, b, T, stride=1, plain=False):
        super().__init__()
        ### BEGIN SOLUTION
        self.plain = plain
        self.enter = nn.Conv2d(a, b, 3, stride, padding=1)
        self.steps = nn.ModuleList(nn.Conv2d(b, b, 3, padding=1) for _ in range(T))
        ### END SOLUTION

    def forward(self, x):
        """x (n, a, h, w) -> (n, b, rows, cols)."""
        ### BEGIN SOLUTION
        h = torch.relu(self.enter(x))
        for step in self.steps:
            new = torch.relu(step(h))
            h = new if self.plain else h + new
        return h
        ### END SOLUTION


# %% check="Refined"
check(Refined)

# %% [markdown] covers="wu:4.9.3"
# How should it start? The plain network has He's start ([[07/04]]): kernels with variance 2 / inputs, biases 0. For the refined one that is far too much. ReLU only *adds*, and
# 30 steps that each add as much as is there let features explode. So divide the kernels of its steps by $T$. Then why not begin with 0, which hands on
# everything?

# %% predict="born-idle" minutes=1 covers="wu:4.9.3 wu:4.9.5"
predict(
    "born-idle",
    "All kernels and biases of the steps begin with 0. Which of them does training "
    "move?",
    ["All", "Only the biases", "Only the last step's", "None, ever"],
    truth=3 if pictures.idle_slopes() == 0 else 0,
    because="At 0 torch takes ReLU's slope to be 0. Nothing passes back through a "
    "step, so its weights stay 0 for ever. Small is good, zero is dead.",
)

# %% covers="wu:4.9.3 wu:4.9.5 wu:4.9.4"
# The answer to the question of the first screen.
small, small_y = pictures.small(0, 1200)
with after(train, Refined, "born-idle"):

    def deep(T, plain):
        """T layers of 3 × 3 behind the first, on 16 channels; He's start, or He / T."""
        torch.manual_seed(0)
        body = Refined(1, 16, T, 2, plain)
        pictures.he_start(body, 1 if plain else T)
        return nn.Sequential(body, nn.Flatten(), nn.Linear(256, 10))

    copy, shallow = deep(30, True), deep(2, True)
    pictures.hand_on(copy[0].steps)
    copy[0].enter, copy[2] = shallow[0].enter, shallow[2]
    copy[0].steps[0], copy[0].steps[1] = shallow[0].steps
    gap = (copy(small[:50]) - shallow(small[:50])).abs().max().item()
    claim("31 plain layers can say what three say", gap < 1e-5)
    h = [torch.relu(deep(30, False)[0].enter(small[:50]))]
    for step in deep(30, False)[0].steps:
        h.append(h[-1] + torch.relu(step(h[-1])))
    rising = all((new >= old).all() for old, new in zip(h, h[1:]))
    claim("refined features never fall, in {n} steps", rising, n=len(h) - 1)
    faded = pictures.fading(deep(30, True), small[:50])
    claim("31 plain layers, at the start: features fade to under a tenth", faded < 0.1)
    losses, share = pictures.puzzle()[31]
    words = "31 plain layers end by guessing: {share:.0%} of the digits they saw"
    claim(words, share < 0.2, share=share)
    nets_31 = {"plain": deep(30, True), "refined": deep(30, False)}
    slopes = {
        name: pictures.slope_sizes(net, small[:200], small_y[:200])
        for name, net in nets_31.items()
    }
    refined = nets_31["refined"]
    told = {"plain": losses, "refined": learn(refined, small, small_y, 4, 64, 3e-3)}
    share = np.mean(pictures.read(refined, small) == small_y.numpy())
    claim("31 layers, refined: over 85 %", share > 0.85)
    show(*pictures.draw_depth(told, slopes), digits=0)

# %% [markdown] covers="wu:4.9.3 wu:4.9.5 cs480:10-lenet explainers:4.2.box-why"
# ## Take-aways
#
# - Ask layers for shapes before you train.
# - A CNN sees, then reads. In LeNet and AlexNet nearly all weights are in what reads.
# - The loop: shuffle, batch, loss, old slopes away, backward, step.
# - Convolution moves along; a pool forgets the place, as far as it reaches and away from the edge.
# - **What depth breaks:** signal and slopes must pass every layer. He's start counts all inputs, but at the edge of small maps many are padding: 31 factors a bit
#   below 1 are nearly 0. (Tuned layer by layer, at a third of the rate, the plain network learns, too, slower: not shown here.)
# - **What mends it:** a plus sign. Handing on is free; each step learns what to add, if it starts small, not at zero.
#
# Next: [[next]].

# %% [markdown] covers="explainers:4.2.1.fig21"
# ## Deeper: what a kernel looks for
#
# A kernel of $5 \times 5$ can be drawn. One of c3 goes through six maps: what does it see? Ask the data. Where in all
# images is its map largest, and what is there? A number of c3 sees $14 \times 14$ pixels of the image, and its neighbour looks two pixels further.


# %% exercise="top_patches" points=3 difficulty=1 covers="explainers:4.2.1.fig21"
def top_patches(layer, X, kernel, k, size, jump):
    """The k windows of all images that a kernel likes best, the best one first.

    layer: images (n, c, h, w) -> maps (n, o, rows, cols). X: the images. kernel: which
    of the o maps. The number in row i and column j of a map looks at size by size
    pixels, whose first row is jump * i and whose first column is jump * j. k is
    at most the number of windows. No two windows do equally well.
    Returns a tensor (k, c, size, size).
    """
    ### BEGIN SOLUTION
    with torch.no_grad():
        maps = layer(X)[:, kernel]
    rows, cols = maps.shape[1:]
    patches = []
    for place in maps.flatten().topk(k).indices.tolist():
        n, rest = divmod(place, rows * cols)
        i, j = divmod(rest, cols)
        top, left = jump * i, jump * j
        patches.append(X[n, :, top : top + size, left : left + size])
    return torch.stack(patches)
    ### END SOLUTION


# %% check="top_patches"
check(top_patches)

# %% covers="explainers:4.2.1.fig21"
# What your LeNet's kernels like best, in its first two layers.
with after(LeNet, train, top_patches):
    net = nets["LeNet"]
    second = nn.Sequential(net.c1, nn.Tanh(), nn.AvgPool2d(2), net.c3)
    found = {
        "c1": [top_patches(net.c1, tests, k, 6, 5, 1)[:, 0] for k in range(6)],
        "c3": [top_patches(second, tests, k, 6, 14, 2)[:, 0] for k in range(6)],
    }
    again = net.c1(found["c1"][0][:, None])[:, 0, 0, 0]
    falling = bool((again.diff() <= 1e-6).all())
    claim("seen alone, the windows rank as they did in their images", falling)
    show(*pictures.draw_patches(net.c1.weight.detach()[:, 0], found), digits=0)

# %% [markdown] covers="explainers:4.2.1.fig21"
# The first layer's windows are bits of edges, or a corner in an empty field; the second's are whole strokes, ends and bends. In networks for photos one finds edges first, too, then textures, then parts of
# things. How much of this is in the layers, and how much in our eyes, is another question: random kernels have best windows as well.

# %% [markdown] covers="cs480:10-alexnet wu:4.9.3"
# ## Deeper: ResNet, without a computer
#
# In 2015 He, Zhang, Ren and Sun wrote the plus sign into networks of 18 to 152 layers, for the photos that AlexNet had seen. In those of 18 and 34 layers a block refines with *two* convolutions, and puts the last ReLU around the sum. Behind each convolution stands
# a batch norm ([[07/04]]), `nn.BatchNorm2d(b)`, so convolutions have no bias: `bias=False`.
#
# $$\mathrm{out} = \sigma\big(\mathrm{norm}_2(\mathrm{conv}_2(\sigma(\mathrm{norm}_1(\mathrm{conv}_1(x))))) + \mathrm{short}(x)\big).$$
#
# Where a block changes the shape, $x$ cannot be added as it is; there the short cut has a $1 \times 1$ convolution and a norm.


# %% exercise="BasicBlock" points=4 difficulty=1 covers="wu:4.9.3 cs480:10-layers"
class BasicBlock(nn.Module):
    """The block above, from a channels to b.

    Its parts by name: conv1 (3 × 3, with the stride, padding 1), norm1, conv2 (3 × 3,
    padding 1), norm2, short. Where the stride is not 1 or a is not b, short is an
    nn.Sequential of a 1 × 1 convolution with the stride and a norm; else it hands on
    x and has no weights, like nn.Identity(). No convolution has a bias.
    """

    def __init__(self, a, b, stride):
        super().__init__()
        ### BEGIN SOLUTION
        self.conv1 = nn.Conv2d(a, b, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(b)
        self.conv2 = nn.Conv2d(b, b, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(b)
        self.short = nn.Sequential()
        if stride != 1 or a != b:
            self.short = nn.Sequential(
                nn.Conv2d(a, b, 1, stride, bias=False), nn.BatchNorm2d(b)
            )
        ### END SOLUTION

    def forward(self, x):
        """x (n, a, h, w) -> (n, b, rows, cols)."""
        ### BEGIN SOLUTION
        h = torch.relu(self.norm1(self.conv1(x)))
        return torch.relu(self.norm2(self.conv2(h)) + self.short(x))
        ### END SOLUTION


# %% check="BasicBlock"
check(BasicBlock)

# %% covers="cs480:10-alexnet wu:4.9.3 cs480:10-layers"
# ResNet-18 and ResNet-34 of your blocks, on the meta device.
with after(trace, BasicBlock):
    for name, blocks, known in (
        ("ResNet-18", (2, 2, 2, 2), 11_689_512),
        ("ResNet-34", (3, 4, 6, 3), 21_797_672),
    ):
        with torch.device("meta"):
            layers, a = pictures.resnet_stem(), 64
            for stage, count in enumerate(blocks):
                b = 64 * 2**stage
                for number in range(count):
                    stride = 2 if stage > 0 and number == 0 else 1
                    layers.append(BasicBlock(a, b, stride))
                    a = b
            layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000)]
        table = trace(layers, (1, 3, 224, 224))
        total = sum(count for _, count in table)
        claim(name + ": {n:,} weights, as torchvision has it", total == known, n=total)
        sides = sorted({s[-1] for s, _ in table if len(s) == 4}, reverse=True)
        claim("… maps of 112, 56, 28, 14, 7, 1", sides == [112, 56, 28, 14, 7, 1])

# %% [markdown] covers="cs480:10-alexnet"
# ResNet-34 has a third of AlexNet's weights, and more than four times as many layers. The one dense layer behind a global pool is a thousand times 513.

# %% [markdown] covers="wu:4.9.4 wu:4.9.5"
# ## Deeper: where to refine
#
# With $T_l$ steps in layer $l$ you choose where to think longer: early, on large maps with few channels, or late, on small maps with many. Two layers: 8 channels on $8 \times 8$, then
# 16 on $4 \times 4$. What does a step cost in each, in weights and in products? Move the sliders first.

# %% covers="wu:4.9.4 wu:4.9.5"
# Steps in each layer, their weights and their products for an image.
explore(
    pictures.draw_stages,
    first=IntSlider(3, min=0, max=8, description="T₁"),
    second=IntSlider(3, min=0, max=8, description="T₂"),
)

# %% covers="wu:4.9.4 wu:4.9.5"
# Six steps in the first layer, in both, or in the second: digits right.
with after(train, Refined):
    shares = {}
    for T in ((6, 0), (3, 3), (0, 6)):
        torch.manual_seed(0)
        stages = [Refined(1, 8, T[0]), Refined(8, 16, T[1], 2)]
        for stage, steps in zip(stages, T):
            pictures.he_start(stage, max(steps, 1))
        net = nn.Sequential(*stages, nn.Flatten(), nn.Linear(256, 10))
        learn(net, small[:600], small_y[:600], 6, 32, 3e-3)
        late, late_y = pictures.small(1200, 1797)
        shares[T] = np.mean(pictures.read(net, late) == late_y.numpy())
    close = max(shares.values()) - min(shares.values()) < 0.06
    claim("on these digits the three differ by less than 6 points", close)
    claim("and each reads more than 85 %", min(shares.values()) > 0.85)

# %% [markdown] covers="wu:4.9.5"
# A step costs the same products in both, as halved sides and doubled channels cancel; in the second it has about four times as many weights. Here it hardly matters where the
# steps are. That is a result, too: how many steps each layer gets is chosen by whoever builds the network, and no training chooses it.

# %% [markdown] covers="explainers:4.2 explainers:4.2.box-why"
# ## Deeper: by hand, and with few examples
#
# Before 2012 most people made features by hand and learned only the reading. **HOG** (Dalal and Triggs 2005) counts, in each cell of the image, which ways edges run: a histogram of oriented gradients. A linear SVM ([[04/03]]) reads
# them. Is that worse? And who needs fewer examples?

# %% covers="explainers:4.2 explainers:4.2.box-why"
# Read right by the number of examples: HOG and SVM, MLP, Pooled.
with after(train):
    sizes, lines = (60, 200, 600), {"HOG + SVM": [], "MLP": [], "Pooled": []}
    for n in sizes:
        lines["HOG + SVM"].append(pictures.hog_svm(X[:n], y[:n], tests, truth))
        for name, make, epochs in (
            ("MLP", pictures.mlp, 4800 // n),
            ("Pooled", pictures.pooled, 4800 // n),
        ):
            torch.manual_seed(0)
            net = make()
            learn(net, X[:n], y[:n], epochs, 32, 3e-3)
            right = np.mean(pictures.read(net, tests) == truth.numpy())
            lines[name].append(right)
    by_hand, dense, cnn = np.array(list(lines.values()))
    best = (by_hand > np.maximum(dense, cnn)).all()
    claim("features by hand read most, with 60, 200 and 600 examples", best)
    claim("with 60 examples, features by hand read more than 85 %", by_hand[0] > 0.85)
    ahead = by_hand[0] - dense[0] > 0.03
    claim("that is over 3 points more than the MLP, which sees pixels", ahead)
    lead = cnn - dense
    clear = lead[0] > 0.03 and abs(lead[1:]).max() < 0.02
    claim("the CNN is over 3 points above the MLP with 60; then within 2", clear)
    show(*pictures.draw_examples(sizes, lines), digits=0)

# %% [markdown] covers="explainers:4.2 explainers:4.2.box-why"
# On so few and so small images, features by hand win throughout; the CNN is clearly ahead of the MLP with 60 examples only. Features by hand are knowledge: edges matter, places only roughly. A CNN has the
# second half of it built in and must learn the first. Where examples are many and nobody knows the right features, it is the CNN that wins (not shown here). Today **vision transformers** have even less built
# in, and want even more examples.

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes say otherwise, each with its place. *Too broad*: a condition is missing. A *convention* is told, and needs no proof.

# %% demo=true covers="explainers:4.2.box-why cs480:10-alexnet"
# Invariance; and a network that is not told to its end.
point = torch.zeros(1, 1, 6, 6)
point[0, 0, 2, 2] = 1
away = point.roll((1, 1), (2, 3))
see, read = nn.Conv2d(1, 2, 3), nn.Linear(32, 3)
dense = [read(see(image).flatten(1)) for image in (point, away)]
pool = [see(image).amax((2, 3)) for image in (point, away)]
erratum(
    "explainers:4.2.box-why",
    quote=(
        "Massively improved parameter-efficiency, translation invariance and learning "
        "efficiency"
    ),
    corrected=(
        "Convolution with stride 1 is equivariant, away from the edges. A CNN is "
        "invariant only as far as it pools: LeNet's dense layers know the place"
    ),
    kind="broad",
    printed_holds=torch.allclose(*dense),
    corrected_holds=torch.allclose(*pool),
)
erratum(
    "cs480:10-alexnet",
    quote=r"Convolve with 96 kernels to 96 @  $55 \times 55$",
    corrected=(
        "Kernels 11 × 11, stride 4, padding 2; then 256 of 5 × 5, 384, 384 and 256 of "
        "3 × 3, pools in between, and dense layers of 4096, 4096 and 1000"
    ),
    kind="convention",
)

"""Pictures of 08_convolutional_networks/03_training_a_cnn: computations first, then functions that return (fig, words).

What trains here is torch's own: never an answer. Images are tensors with the axes (number, channel, row, column).
"""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 — as everybody writes it
from torch import nn

from descent.pictures.convolutional_networks.convolution import digits, parts
from descent.plots import BLACK, BLUE, GREEN, ORANGE, SKY, VERMILION, fixed_axes, light
from descent.words import say

STARTS = ((224, 0), (227, 0), (224, 2))  # pixels and padding that AlexNet might begin with
LOOKS = {"LeNet": ("o-", BLUE), "MLP": ("s--", ORANGE), "Pooled": ("^-.", GREEN)}


def small(first, last):
    """Digits of 8 x 8 pixels, 0 … 1, in a shuffled order that stays: (n, 1, 8, 8), and labels (n,)."""
    images, labels = digits(first, last)
    return torch.tensor(images[:, None] / 16, dtype=torch.float32), torch.tensor(labels)


def fields(first, last):
    """The same enlarged to 24 x 24, in the middle of empty fields: (n, 1, 32, 32), and labels (n,)."""
    images, labels = small(first, last)
    large = F.interpolate(images, scale_factor=3, mode="bilinear")
    return F.pad(large, (4, 4, 4, 4)), labels


def lenet_layers():
    """LeNet as a list of torch's layers."""
    sees = [nn.Conv2d(1, 6, 5), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.Tanh()]
    reads = [nn.Linear(400, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh(), nn.Linear(84, 10)]
    return [*sees, nn.AvgPool2d(2), nn.Flatten(), *reads]


def alexnet_layers():
    """AlexNet, for 227 x 227 pixels and one graphics card, as a list of torch's layers."""
    layers, a = [], 3
    for b, size, stride, pad, pools in (
        (96, 11, 4, 0, True),
        (256, 5, 1, 2, True),
        (384, 3, 1, 1, False),
        (384, 3, 1, 1, False),
        (256, 3, 1, 1, True),
    ):
        layers += [nn.Conv2d(a, b, size, stride, pad), nn.ReLU()]
        layers += [nn.MaxPool2d(3, 2)] if pools else []
        a = b
    layers.append(nn.Flatten())
    layers += [nn.Linear(9216, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU()]
    return [*layers, nn.Linear(4096, 1000)]


def resnet_stem():
    """What a ResNet does with a photo before its blocks, as a list of torch's layers."""
    conv = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
    return [conv, nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]


def mlp():
    """59 hidden units on all pixels of a field: about as many weights as LeNet."""
    return nn.Sequential(nn.Flatten(), nn.Linear(1024, 59), nn.Tanh(), nn.Linear(59, 10))


def pooled():
    """Three convolutions, the largest value of each map, and ten scores."""
    return nn.Sequential(
        *(nn.Conv2d(1, 8, 5, 2, 2), nn.ReLU(), nn.Conv2d(8, 16, 5, 2, 2), nn.ReLU()),
        *(nn.Conv2d(16, 32, 5, 1, 2), nn.ReLU(), nn.AdaptiveMaxPool2d(1), nn.Flatten()),
        nn.Linear(32, 10),
    )


@torch.no_grad()
def read(net, X):
    """The digit with the highest score for each image: (n,) array."""
    return net(X).argmax(1).numpy()


def confusion(net, X, y):
    """How many images of each digit (row) are taken for each digit (column): (10, 10)."""
    table = np.zeros((10, 10), int)
    np.add.at(table, (np.asarray(y), read(net, X)), 1)
    return table


@torch.no_grad()
def he_start(layer, divide=1):
    """He's start for a layer's parts `enter` and `steps`; the kernels of the steps are divided. Biases 0."""
    for part in (layer.enter, *layer.steps):
        nn.init.kaiming_normal_(part.weight, nonlinearity="relu")
        nn.init.zeros_(part.bias)
    for part in layer.steps:
        part.weight /= divide


@torch.no_grad()
def hand_on(steps):
    """Make each convolution hand on what it gets: 1 in the middle of a channel's own kernel, else 0."""
    for step in steps:
        nn.init.dirac_(step.weight)
        nn.init.zeros_(step.bias)


def idle_slopes():
    """Sum of the sizes of the slopes of a step that begins with zeros, by its kernel and bias."""
    step, h = nn.Conv2d(2, 2, 3, padding=1), torch.rand(1, 2, 4, 4)
    nn.init.zeros_(step.weight)
    nn.init.zeros_(step.bias)
    (h + step(h).relu()).square().sum().backward()
    return float(step.weight.grad.abs().sum() + step.bias.grad.abs().sum())


def slope_sizes(net, X, y):
    """Root mean square of the slopes of the loss by the kernels of net[0].enter and of each of net[0].steps."""
    kernels = [part.weight for part in (net[0].enter, *net[0].steps)]
    slopes = torch.autograd.grad(F.cross_entropy(net(X), y), kernels)
    return np.array([slope.square().mean().sqrt().item() for slope in slopes])


class _Plain(nn.Module):
    """1 + T layers of 3 x 3 and ReLU on 16 channels, the first with stride 2."""

    def __init__(self, T):
        super().__init__()
        self.enter = nn.Conv2d(1, 16, 3, 2, padding=1)
        self.steps = nn.ModuleList(nn.Conv2d(16, 16, 3, padding=1) for _ in range(T))

    def forward(self, h):
        for part in (self.enter, *self.steps):
            h = part(h).relu()
        return h


@torch.no_grad()
def fading(net, X):
    """Size of the features behind all layers of a plain net[0], relative to that behind the first."""
    first = net[0].enter(X).relu()
    return float(net[0](X).square().mean().sqrt() / first.square().mean().sqrt())


@cache
def puzzle():
    """Plain networks of 3 and 31 layers: {layers: (each epoch's loss, share of the learned digits read right)}."""
    X, y = small(0, 1200)
    found = {}
    for T in (2, 30):
        torch.manual_seed(0)
        body = _Plain(T)
        he_start(body)
        net = nn.Sequential(body, nn.Flatten(), nn.Linear(256, 10))
        adam, g = torch.optim.Adam(net.parameters(), 3e-3), torch.Generator().manual_seed(0)
        losses = []
        for _ in range(4):
            each = []
            for rows in torch.randperm(len(X), generator=g).split(64):
                one = F.cross_entropy(net(X[rows]), y[rows], reduction="none")
                adam.zero_grad()
                one.mean().backward()
                adam.step()
                each.append(one.detach())
            losses.append(torch.cat(each).mean().item())
        found[1 + T] = losses, float(np.mean(read(net, X) == y.numpy()))
    return found


def numpy_steps(train):
    """Whether train, three steps of SGD on 30 digits, ends at the weights that slopes written in NumPy lead to."""
    X, y = small(0, 30)
    X = X.double()
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(108, 10)).double()
    K, b, W, c = (p.detach().numpy().copy() for p in net.parameters())
    sgd = torch.optim.SGD(net.parameters(), 0.5)
    train(net, X, y, sgd, 1, 10, torch.Generator().manual_seed(0))
    for rows in torch.randperm(30, generator=torch.Generator().manual_seed(0)).split(10):
        images, onehot = X[rows].numpy()[:, 0], np.eye(10)[y[rows].numpy()]
        windows = np.lib.stride_tricks.sliding_window_view(images, (3, 3), axis=(1, 2))
        S = np.einsum("nijuv,ouv->noij", windows, K[:, 0]) + b[:, None, None]
        h = np.maximum(S, 0).reshape(10, -1)
        p = np.exp(h @ W.T + c)
        G = (p / p.sum(1, keepdims=True) - onehot) / 10
        D = (G @ W).reshape(S.shape) * (S > 0)
        W, c = W - 0.5 * G.T @ h, c - 0.5 * G.sum(0)
        K = K - 0.5 * np.einsum("noij,nijuv->ouv", D, windows)[:, None]
        b = b - 0.5 * D.sum((0, 2, 3))
    pairs = zip((K, b, W, c), net.parameters(), strict=True)
    return all(np.allclose(mine, p.detach().numpy()) for mine, p in pairs)


def hog(X, cells=4, ways=8):
    """Histograms of oriented gradients of fields (n, 1, 32, 32): cells of 8 x 8, lengths of their slopes by direction.

    Each image's numbers have length 1. Returns (n, cells² · ways).
    """
    images = X[:, 0].numpy()
    down, right = np.gradient(images, axis=(1, 2))
    way = (np.arctan2(down, right) % (2 * np.pi) / (2 * np.pi) * ways).astype(int) % ways
    length, side = np.hypot(down, right), images.shape[1] // cells
    told = np.stack([length * (way == k) for k in range(ways)], -1)
    told = told.reshape(len(X), cells, side, cells, side, ways).sum((2, 4)).reshape(len(X), -1)
    return told / np.linalg.norm(told, axis=1, keepdims=True)


def hog_svm(X, y, tests, truth):
    """Share of the tests that a linear SVM on HOG reads right."""
    from sklearn.svm import SVC

    svm = SVC(kernel="linear", C=10).fit(hog(X), y.numpy())
    return float(svm.score(hog(tests), truth.numpy()))


def stage_work(first, second):
    """(weights, products for an image) of each convolution of two refined layers with so many steps.

    8 channels on 8 x 8 pixels, then 16 on 4 x 4.
    """
    rows = []
    for a, b, side, T in ((1, 8, 8, first), (8, 16, 4, second)):
        rows += [(b * (inputs * 9 + 1), b * inputs * 9 * side**2) for inputs in (a, *[b] * T)]
    return np.array(rows)


# Pictures.


def draw_puzzle():
    """The loss of 3 and of 31 plain layers on the digits that they learn from."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), width_ratios=[1.6, 1])
    told = puzzle()
    for (layers, (losses, _)), look, color in zip(
        told.items(), ("o-", "s--"), (BLUE, VERMILION), strict=True
    ):
        left.plot(range(1, 5), losses, look, color=color, label=f"{layers} layers")
    left.axhline(np.log(10), color=BLACK, linestyle=":", label="guessing")
    left.set(
        xlabel="epoch (all 1,200 digits once)",
        ylabel="mean loss (nats)",
        ylim=(0, 2.6),
        title="The deep network does not even learn",
    )
    left.set_xticks(range(1, 5))
    left.legend(loc="center right", bbox_to_anchor=(0.99, 0.62))
    shares = [share for _, share in told.values()]
    right.bar(
        ["3 layers", "31 layers"], np.array(shares) * 100, color=[SKY, ORANGE], edgecolor=BLACK
    )
    right.set(ylabel="learned digits read right (%)", ylim=(0, 105), title="After four epochs")
    return fig, say(
        "Mean loss by epoch. Three layers fall to {a:.1f} nats, 31 layers stay at {b:.1f}, where guessing is 2.3. Of "
        "the digits that they learned from, three layers read {c:.0%} right and 31 layers {d:.0%}.",
        a=told[3][0][-1],
        b=told[31][0][-1],
        c=shares[0],
        d=shares[1],
    )


def draw_weights(lenet, alexnet):
    """Shapes along LeNet; shares of the weights in LeNet's and in AlexNet's layers. Rows (shape, weights)."""
    fig, axes = plt.subplots(1, 3, figsize=(10.5, 3.3), width_ratios=[1.25, 1, 1.2])
    names = ["image", "c1", "half", "c3", "half", "c5", "f6", "out"]
    maps = [(1, 1, 32, 32)] + [
        shape for (shape, _), kept in zip(lenet, "x.xx.x.x.x.x", strict=True) if kept == "x"
    ]
    channels, sides = [s[1] for s in maps], [s[2] if len(s) == 4 else 1 for s in maps]
    axes[0].plot(channels, "o-", color=BLUE, label="channels")
    axes[0].plot(sides, "s--", color=VERMILION, label="pixels per side")
    axes[0].set_yscale("log", base=2)
    axes[0].set_xticks(range(len(names)), names, fontsize=9, rotation=30)
    axes[0].set(ylabel="number", xlabel="behind", title="Less where, more what")
    axes[0].set_yticks([1, 8, 32, 128], ["1", "8", "32", "128"])
    axes[0].legend(fontsize=9)
    shares = []
    for ax, rows, title, pick in (
        (axes[1], lenet, "LeNet", ["c1", "c3", "c5", "f6", "out"]),
        (axes[2], alexnet, "AlexNet", ["c1", "c2", "c3", "c4", "c5", "f6", "f7", "f8"]),
    ):
        counts = [count for _, count in rows if count]
        sees = 2 if title == "LeNet" else 5
        colors = [BLUE] * sees + [ORANGE] * (len(counts) - sees)
        bars = ax.bar(pick, np.array(counts) / sum(counts) * 100, color=colors, edgecolor=BLACK)
        for bar in bars[:sees]:
            bar.set_hatch("//")
        ax.set(ylabel="share of the weights (%)", xlabel="layer", ylim=(0, 100), title=title)
        ax.legend([bars[0], bars[-1]], ["convolution", "dense"], fontsize=9)
        shares.append(sum(counts[:sees]) / sum(counts))
    return fig, say(
        "LeNet: pixels per side fall from {first} to 1, channels rise from 1 to {most} and end at 10 scores. "
        "Of its weights {lenet:.0%} sit in convolutions, of AlexNet's {alexnet:.0%}; all others in dense layers.",
        first=sides[0],
        most=max(channels),
        lenet=shares[0],
        alexnet=shares[1],
    )


def draw_training(losses, table, before, after):
    """Loss by epoch, the confusion matrix, and six kernels (6, 1, 5, 5) before and after training."""
    fig = plt.figure(figsize=(7.8, 4.4))
    grid = fig.add_gridspec(2, 2, width_ratios=[1, 1.3])
    left, middle = fig.add_subplot(grid[0, 0]), fig.add_subplot(grid[:, 1])
    left.plot(range(1, len(losses) + 1), losses, "o-", color=BLUE)
    left.set(xlabel="epoch", ylabel="mean loss (nats)", title="LeNet learns", ylim=(0, None))
    left.set_xticks(range(1, len(losses) + 1))
    wrong = table - np.diag(np.diag(table))
    # Only the light half of the colours: counts stand on them.
    middle.imshow(wrong, cmap="Oranges", vmin=0, vmax=2 * wrong.max() + 1)
    for (i, j), count in np.ndenumerate(table):
        if count:
            middle.text(j, i, count, ha="center", va="center", fontsize=9)
    middle.set(xlabel="read as", ylabel="digit", title="New digits: few are misread")
    middle.set_xticks(range(10))
    middle.set_yticks(range(10))
    middle.grid(False)
    cells = grid[1, 0].subgridspec(3, 5, width_ratios=[1, 1, 0.4, 1, 1])  # a gap in the middle
    both = np.concatenate([np.asarray(before)[:, 0], np.asarray(after)[:, 0]])
    for number in range(12):
        ax = fig.add_subplot(cells[number % 6 // 2, number % 2 + 3 * (number // 6)])
        ax.imshow(both[number], **parts(both))
        ax.set_axis_off()
        if number % 6 == 0:
            ax.set_title("c1 before" if number < 6 else "c1 after", fontsize=10)
    share = np.trace(table) / table.sum()
    i, j = np.unravel_index(wrong.argmax(), wrong.shape)
    return fig, say(
        "LeNet's mean loss falls from {first:.2f} to {last:.2f} nats. It reads {share:.1%} of new digits right; the "
        "most frequent confusion is a {i} that is read as a {j}, {count} times. Its first kernels, before and after.",
        first=losses[0],
        last=losses[-1],
        share=share,
        i=i,
        j=j,
        count=wrong.max(),
    )


def draw_moved(curves):
    """Digits read right by how far they are moved. curves {name: share at 0, 1, 2, … pixels}."""
    fig, ax = plt.subplots(figsize=(6.4, 3.5))
    for name, line in curves.items():
        look, color = LOOKS[name]
        ax.plot(np.array(line) * 100, look, color=color, label=name)
    ax.set(
        xlabel="pixels that the digits move, mean of four ways",
        ylabel="digits read right (%)",
        title="What forgets the place reads on",
        ylim=(0, 105),
    )
    ax.set_xticks(range(len(line)))
    ax.legend(loc="lower left")
    return fig, say(
        "Read right in the middle and moved by 4 pixels. LeNet: {a:.0%} and {b:.0%}. MLP: {c:.0%} and {d:.0%}. Pooled: "
        "{e:.0%} and {f:.0%}.",
        **{key: curves[name][at] for key, (name, at) in zip("abcdef", _ends(), strict=True)},
    )


def _ends():
    return [(name, at) for name in LOOKS for at in (0, 4)]


@torch.no_grad()
def draw_reading(nets, image, digit, down, right):
    """A digit (1, 32, 32), moved on its field, and the probability that each network gives to each digit."""
    frame = F.pad(image, (8, 8, 8, 8))
    moved = frame[:, 8 - down : 40 - down, 8 - right : 40 - right]
    # Two by two, so that the answers stay in sight while the digit is dragged, in a narrow window, too.
    fig, axes = plt.subplots(2, 2, figsize=(7.2, 5), layout="none")
    fig.subplots_adjust(left=0.1, right=0.98, bottom=0.11, top=0.93, wspace=0.25, hspace=0.4)
    axes = axes.ravel()
    axes[0].imshow(moved[0].numpy(), cmap="gray_r", vmin=0, vmax=1, extent=(-16, 16, 16, -16))
    axes[0].set(xlabel="right (pixels)", ylabel="down (pixels)")
    axes[0].set_gid("field")
    axes[0].grid(False)
    light(axes[0], f"a {int(digit)}", [-8, 0, 8], [-8, 0, 8])
    says = {}
    for ax, (name, net) in zip(axes[1:], nets.items(), strict=True):
        p = net(moved[None]).softmax(1)[0].numpy()
        says[name] = int(p.argmax())
        colors = [VERMILION if k == digit else SKY for k in range(10)]
        ax.bar(range(10), p * 100, color=colors, edgecolor=BLACK, linewidth=0.8)
        ax.set(ylim=(0, 100), xlabel="digit", ylabel="probability (%)")
        light(ax, f"{name}: {says[name]}", range(10), [0, 50, 100])
    return fig, say(
        "A {digit}, moved {down} down and {right} right. LeNet reads {lenet}, the MLP {mlp}, Pooled {pooled}.",
        digit=int(digit),
        down=down,
        right=right,
        lenet=says["LeNet"],
        mlp=says["MLP"],
        pooled=says["Pooled"],
    )


def draw_depth(told, slopes):
    """31 layers, plain and refined: the loss by epoch, and the slopes at the start by layer."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.3))
    looks = {"plain": ("s--", VERMILION), "refined": ("o-", BLUE)}
    for name, losses in told.items():
        look, color = looks[name]
        left.plot(range(1, len(losses) + 1), losses, look, color=color, label=name)
        right.plot(slopes[name], look, color=color, label=name, markersize=4)
    left.axhline(np.log(10), color=BLACK, linestyle=":", label="guessing")
    left.set(
        xlabel="epoch",
        ylabel="mean loss (nats)",
        ylim=(0, 2.6),
        title="31 layers, with and without the sum",
    )
    left.set_xticks(range(1, len(losses) + 1))
    left.legend(loc="lower left")
    right.set_yscale("log")
    right.set(
        xlabel="layer",
        ylabel="size of the slopes (nats per unit)",
        title="Before the first step",
    )
    right.legend()
    return fig, say(
        "The plain network ends at {plain:.1f} nats, the refined one at {refined:.1f}. Before training the slopes by "
        "its kernels are {ratio:.0f} times as large, in the median of 31 layers.",
        plain=told["plain"][-1],
        refined=told["refined"][-1],
        ratio=np.median(slopes["refined"]) / np.median(slopes["plain"]),
    )


def draw_patches(kernels, found):
    """Kernels (6, 5, 5) of the first layer and their best windows; best windows of six kernels of the second."""
    fig = plt.figure(figsize=(7.8, 3.5))
    first, second = fig.subfigures(1, 2, width_ratios=[7, 6])
    first.suptitle("c1: kernel, and its best windows", fontsize=10)
    second.suptitle("c3: best windows", fontsize=10)
    for half, name, columns in ((first, "c1", 7), (second, "c3", 6)):
        cells = half.add_gridspec(6, columns, wspace=0.1, hspace=0.1)
        for row in range(6):
            shown = [
                (window, "gray_r") for window in np.asarray(torch.stack(list(found[name][row])))
            ]
            if name == "c1":
                shown = [(np.asarray(kernels)[row], "PuOr_r"), *shown]
            for column, (window, colors) in enumerate(shown):
                ax = half.add_subplot(cells[row, column])
                scale = float(np.abs(window).max()) if colors == "PuOr_r" else 1.0
                ax.imshow(window, cmap=colors, vmin=-scale if colors == "PuOr_r" else 0, vmax=scale)
                ax.set(xticks=[], yticks=[])
                ax.spines[:].set_visible(True)
    inks = [float(torch.stack(list(found[name])).mean()) for name in ("c1", "c3")]
    return fig, say(
        "Six kernels of the first layer with the six windows, 5 by 5, that each likes best, and the best windows, "
        "14 by 14, of six kernels of the second. Mean ink in the windows: {a:.2f} and {b:.2f}.",
        a=inks[0],
        b=inks[1],
    )


def draw_stages(first, second):
    """What each convolution of two refined layers costs: weights and products, by the number of steps in each."""
    rows = stage_work(first, second)
    fig, axes = fixed_axes(2, (8, 3.2), (0.1, 0.98, 0.17, 0.86), wspace=0.32)
    colors = [BLUE] * (1 + first) + [ORANGE] * (1 + second)
    for ax, column, title in ((axes[0], 0, "weights"), (axes[1], 1, "products")):
        bars = ax.bar(range(1, len(rows) + 1), rows[:, column], color=colors, edgecolor=BLACK)
        for bar in bars[: 1 + first]:
            bar.set_hatch("//")
        ax.set(
            xlabel="convolution",
            ylabel=f"{title} for one image" if column else title,
            ylim=(0, (2600, 42000)[column]),
        )
        light(ax, f"{title}: {rows[:, column].sum():,}", range(1, len(rows) + 1, 3))
    axes[0].legend([axes[0].patches[0], axes[0].patches[-1]], ["8 × 8", "4 × 4"], fontsize=9)
    return fig, say(
        "{first} steps on 8 by 8 and {second} on 4 by 4: {weights:,} weights, {products:,} products for an image.",
        first=first,
        second=second,
        weights=int(rows[:, 0].sum()),
        products=int(rows[:, 1].sum()),
    )


def draw_examples(sizes, lines):
    """New digits read right by the number of examples. lines {name: share at each of sizes}."""
    fig, ax = plt.subplots(figsize=(6.4, 3.5))
    looks = {"HOG + SVM": ("D:", VERMILION)} | LOOKS
    for name, line in lines.items():
        look, color = looks[name]
        ax.plot(sizes, np.array(line) * 100, look, color=color, label=name)
    ax.set_xscale("log")
    ax.set_xticks(sizes, [str(n) for n in sizes])
    ax.minorticks_off()
    ax.set(
        xlabel="examples to learn from",
        ylabel="new digits read right (%)",
        title="Few examples: knowledge counts",
    )
    ax.legend(loc="lower right")
    told = [
        say("{name}: {few:.0%}, {many:.0%}", name=n, few=v[0], many=v[-1]) for n, v in lines.items()
    ]
    return fig, say("Read right with the fewest and with the most examples. {told:; }.", told=told)

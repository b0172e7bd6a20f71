"""Pictures of 08_convolutional_networks/02_convolution_backward: computations first, then what returns (fig, words).

Slopes are autograd's and counts are made one by one: never by an answer.
"""

import math
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.patches import Rectangle
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

from descent.pictures.convolutional_networks.convolution import digits, place
from descent.plots import BLACK, BLUE, GREEN, ORANGE, SKY, VERMILION, fixed_axes, light
from descent.words import say

SIDE = 9  # pixels of the image whose paths are drawn


def network(a, stride, field, channels=(16, 16), classes=10, seed=0):
    """Random layers (W, b, stride, pad) for images of one channel: a by a kernels, then one as large as the map."""
    rng, layers, c = np.random.default_rng(seed), [], 1
    for o in channels:
        W = rng.normal(size=(o, c, a, a)) * math.sqrt(2 / (c * a * a))
        layers.append((W, np.full(o, 0.1), stride, 0))
        c, field = o, (field - a) // stride + 1
    W = rng.normal(size=(classes, c, field, field)) / math.sqrt(c * field * field)
    return [*layers, (W, np.zeros(classes), 1, 0)]


def scores(X, layers):
    """What torch makes of images (n, c, h, w), a tensor: ReLU after all layers but the last -> (n, classes)."""
    for number, (W, b, stride, pad) in enumerate(layers):
        X = X.relu() if number else X
        X = functional.conv2d(X, torch.tensor(W), torch.tensor(b), stride, pad)
    return X[:, :, 0, 0]


def readings(field):
    """Digits in the middle of an empty field: 200 images (n, 1, field, field) and labels to learn from, 200 others."""
    images, labels = digits(0, 200)
    tests, truth = digits(1000, 1200)
    return place(images, size=field), labels, place(tests, size=field), truth


def right(X, labels, layers):
    """Share of images whose label has the highest score."""
    return float(np.mean(scores(torch.tensor(X), layers).argmax(1).numpy() == labels))


def slope_map(X, labels, layers):
    """Root of the mean square, over images, of the slope of the label's log-probability by each pixel: (h, w)."""
    leaf = torch.tensor(X, requires_grad=True)
    J = -functional.cross_entropy(scores(leaf, layers), torch.tensor(labels), reduction="sum")
    (slopes,) = torch.autograd.grad(J, leaf)
    return slopes.square().mean((0, 1)).sqrt().numpy()


def grid(slopes):
    """How many times larger than at odd rows and columns a map is at even ones, four pixels off the edge."""
    inside = np.square(slopes)[4:-4, 4:-4]  # starts at an even row and column
    return float(np.sqrt(inside[::2, ::2].mean() / inside[1::2, 1::2].mean()))


def listeners(size, stride):
    """Numbers of windows that see a pixel far from the edge, all that occur, sorted."""
    seen = np.zeros((60, 60), int)
    for i, j in np.ndindex(*2 * (len(range(0, 61 - size, stride)),)):
        seen[i * stride : i * stride + size, j * stride : j * stride + size] += 1
    return np.unique(seen[20:40, 20:40]).tolist()


def torchs_slopes(X, W, b, G, stride, pad):
    """Autograd's slopes of the sum of G times the layer, by X, W and b."""
    leaves = [torch.tensor(part, requires_grad=True) for part in (X, W, b)]
    F = functional.conv2d(*leaves, stride=stride, padding=pad)
    return [part.numpy() for part in torch.autograd.grad(F, leaves, torch.tensor(G))]


def torchs_pool_slopes(A, G, size=2, stride=2, pool=functional.max_pool2d):
    """Autograd's slopes of the sum of G times a pool, by A."""
    leaf = torch.tensor(A, requires_grad=True)
    pooled = pool(leaf, size, stride)
    return torch.autograd.grad(pooled, leaf, torch.tensor(G))[0].numpy()


def torchs_work(n, c, h, w, *layers):
    """Products that torch counts in a step of training: (forward, backward), layers (channels, size, stride, pad)."""
    X, counts = torch.zeros(n, c, h, w), []
    stack = []
    for channels, size, stride, pad in layers:
        stack.append(torch.nn.Conv2d(c, channels, size, stride, pad))
        c = channels
    with FlopCounterMode(display=False) as counter:
        F = torch.nn.Sequential(*stack)(X)
        counts.append(counter.get_total_flops() // 2)  # a product and an addition
        F.sum().backward()
        counts.append(counter.get_total_flops() // 2 - counts[0])
    return tuple(counts)


# Pictures.


@cache
def _puzzle():
    maps = {}
    for a, field in ((3, 23), (4, 22)):
        _, _, tests, truth = readings(field)
        maps[a] = slope_map(tests, truth, network(a, 2, field))
    return tests[0, 0], maps


def draw_puzzle():
    """A digit, and how much each pixel matters to two networks with random weights, stride 2 in two layers."""
    digit, maps = _puzzle()
    fig, axes = plt.subplots(1, 3, figsize=(6.6, 2.6))
    axes[0].imshow(digit, cmap="gray_r")
    axes[0].set_title("a digit of 200")
    for ax, (a, slopes) in zip(axes[1:], maps.items(), strict=True):
        ax.imshow(slopes, cmap="Oranges", vmin=0)
        ax.set_title(f"{a} × {a} windows")
    for ax in axes:
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(True)
    return fig, say(
        "A digit in a field of 22 by 22 pixels. Beside it the size of the slope by each pixel, over 200 digits, behind "
        "two layers of stride 2: "
        "the larger, the stronger its colour. With 3 by 3 windows strong pixels stand in every other row and "
        "column: there slopes are {a:.1f} times as large as between them. With 4 by 4 windows: {b:.1f} times.",
        a=grid(maps[3]),
        b=grid(maps[4]),
    )


def draw_paths(col, row, j, i, size, stride):
    """An image of 9 by 9 pixels, the map of a kernel with weights 1, 2, …; who sees a pixel, what a number sends."""
    K = np.arange(1, size * size + 1).reshape(size, size)
    count = (SIDE - size) // stride + 1
    fig, (left, right_) = fixed_axes(2, (7.8, 4), (0.07, 0.98, 0.12, 0.89), wspace=0.2)
    there = i < count and j < count
    edges = np.arange(SIDE + 1) - 0.5
    left.vlines(edges, -0.5, SIDE - 0.5, color=BLACK, linewidth=0.3)
    left.hlines(edges, -0.5, SIDE - 0.5, color=BLACK, linewidth=0.3)
    if there:
        for (u, v), weight in np.ndenumerate(K):
            y, x = i * stride + u, j * stride + v
            left.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, color=ORANGE, alpha=0.45))
            left.text(x - 0.44, y - 0.42, str(weight), va="top", fontsize=8)
    weights = []
    for y, x in np.ndindex(count, count):
        u, v = row - y * stride, col - x * stride
        sees = 0 <= u < size and 0 <= v < size
        right_.add_patch(
            Rectangle((x - 0.5, y - 0.5), 1, 1, fc=SKY if sees else "white", ec=BLACK, lw=0.6)
        )
        if sees:
            weights.append(int(K[u, v]))
            right_.text(x - 0.44, y - 0.42, str(weights[-1]), va="top", fontsize=8)
    frame = dict(fill=False, linewidth=3)
    left.add_patch(Rectangle((col - 0.5, row - 0.5), 1, 1, color=BLUE, **frame))
    right_.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, color=VERMILION, **frame))
    left.set(xlabel="column", ylabel="row")
    right_.set(xlabel="column", ylabel="row")
    light(left, "image: the number's window", [0, 4, 8], [0, 4, 8])
    light(right_, f"map: {len(weights)} of {count * count} see the pixel", [0, 4, 8], [0, 4, 8])
    for ax, name in ((left, "image"), (right_, "map")):
        ax.set(xlim=(-0.5, SIDE - 0.5), ylim=(SIDE - 0.5, -0.5), aspect="equal")
        ax.grid(False)
        ax.set_gid(name)
    u, v = row - i * stride, col - j * stride
    linked = there and 0 <= u < size and 0 <= v < size
    listed = ", ".join(map(str, weights)) if weights else "none"
    link = f"sends the pixel {K[u, v]} times its slope" if linked else "sends the pixel nothing"
    return fig, say(
        "Stride {stride}. The pixel in row {row}, column {col} is seen by {count} numbers of the map, through the "
        "weights {listed}. The number in row {i}, column {j} {there}; it {link}.",
        stride=stride,
        row=row,
        col=col,
        count=len(weights),
        listed=listed,
        i=i,
        j=j,
        there="has its window marked" if there else "does not exist",
        link=link,
    )


def draw_grid(paths, maps):
    """Paths from the last map to each pixel (h, w); slopes by each pixel before and after training."""
    fig, axes = plt.subplots(1, 3, figsize=(6.6, 2.6))
    titles = ("paths to pixels", "slopes, untrained", "slopes, trained")
    for ax, title, part in zip(axes, titles, (np.sqrt(paths), *maps), strict=True):
        ax.imshow(part, cmap="Oranges", vmin=0)
        ax.set_title(title)
        ax.set_axis_off()
    return fig, say(
        "Three maps of 23 by 23 pixels with the same grid. Paths to a pixel: from {low:.0f} to {high:.0f}. Slopes in "
        "even rows and columns are {before:.1f} times those in odd ones before training, {after:.1f} times after it.",
        low=paths.min(),
        high=paths.max(),
        before=grid(maps[0]),
        after=grid(maps[1]),
    )


def draw_coverage(size, stride):
    """What a map of 6 by 6 ones becomes where kernels of ones are laid down a stride apart."""
    once = torch.ones(1, 1, size, size)
    painted = functional.conv_transpose2d(torch.ones(1, 1, 6, 6), once, stride=stride)[0, 0].numpy()
    edge = size - 1
    inside = painted[edge : len(painted) - edge, edge : len(painted) - edge]
    fig, ax = fixed_axes(1, (4.6, 4.2), (0.1, 0.96, 0.12, 0.89))
    ax.imshow(painted, cmap="Oranges", vmin=0, vmax=max(painted.max(), 1))
    even = inside.size > 0 and inside.min() == inside.max()
    title = "gaps" if stride > size else "even inside" if even else "a checkerboard"
    light(
        ax,
        title,
        range(0, len(painted), 5),
        range(0, len(painted), 5),
    )
    ax.set(xlabel="column", ylabel="row")
    ax.grid(False)
    return fig, say(
        "Kernels of {size} by {size}, stride {stride}: {side} rows from 6. Away from the edge a pixel lies under "
        "{low:.0f} kernels at least, under {high:.0f} at most.",
        size=size,
        stride=stride,
        side=len(painted),
        low=inside.min() if inside.size else painted.min(),
        high=inside.max() if inside.size else painted.max(),
    )


def draw_calls(batches, o, rows, cols, a, k):
    """Calls that one layer needs, one after the other, by how its program loops and by images in the batch."""
    programs = {
        "each number": [n * o * rows * cols for n in batches],
        "each place of the window": [rows * cols for _ in batches],
        "each place of the kernel": [a * k for _ in batches],
        "one matrix product": [1 for _ in batches],
    }
    fig, ax = plt.subplots(figsize=(5.8, 3.8))
    looks = (("o-", VERMILION), ("s--", GREEN), ("^-.", BLUE), ("D:", BLACK))
    for (name, calls), (look, color) in zip(programs.items(), looks, strict=True):
        ax.plot(batches, calls, look, color=color, label=name)
    ax.set(
        xscale="log",
        yscale="log",
        ylim=(0.5, 3e6),
        xlabel="images in the batch",
        ylabel="calls, one after the other",
        title="Only one program gets longer with the batch",
    )
    ax.legend(title="a call for", ncols=2, fontsize=9, loc="upper left")
    told = [say("{name}: {last:,}", name=name, last=calls[-1]) for name, calls in programs.items()]
    return fig, say(
        "Calls of one layer for a batch of {n}, by program. A call for {told:; }.",
        n=batches[-1],
        told=told,
    )

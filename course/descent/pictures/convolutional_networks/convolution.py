"""Pictures of 08_convolutional_networks/01_convolution: computations first, then functions that return (fig, words).

Images have the axes (number, channel, row, column). What is drawn is computed by torch and SciPy, never by an answer.
"""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.patches import Rectangle
from scipy.signal import correlate2d
from torch.nn import functional

from descent import data
from descent.plots import BLACK, BLUE, ORANGE, SKY, VERMILION, fixed_axes, light
from descent.words import say

GREY = "#BBBBBB"
KERNELS = {
    "vertical edge": np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]),
    "horizontal edge": np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]]),
    "blur": np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]]),
    "sharpen": np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]]),
    "left neighbour": np.array([[0, 0, 0], [1, 0, 0], [0, 0, 0]]),
}
SMALL = (  # the image and the kernel of a worked example
    np.array(
        [[int(pixel) for pixel in row] for row in ("11100", "01110", "00111", "00110", "01100")]
    ),
    np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]]),
)
SOBEL = (
    np.array([[2, 4, 9, 1, 4], [2, 1, 4, 4, 6], [1, 1, 2, 9, 2], [7, 3, 5, 1, 3], [2, 3, 4, 8, 5]]),
    KERNELS["vertical edge"],
)


@cache
def _digits():
    table = data.digits()
    order = np.random.default_rng(0).permutation(len(table.X))
    return table.X[order].reshape(-1, 8, 8), table.y[order]


def digits(first, last):
    """Handwritten digits in a shuffled order that stays: images (n, 8, 8), grey values 0 to 16, and labels (n,)."""
    images, labels = _digits()
    return images[first:last].copy(), labels[first:last].copy()


def place(images, moved=0, size=14):
    """Digits (n, 8, 8), scaled to 0 … 1, on empty fields, moved down and right from the middle: (n, 1, size, size)."""
    fields, start = np.zeros((len(images), 1, size, size)), (size - 8) // 2 + moved
    fields[:, 0, start : start + 8, start : start + 8] = images / 16
    return fields


def scatter(images, seed=2):
    """The fields of `place` with pixels in another order, the same for all."""
    fields = place(images)
    order = np.random.default_rng(seed).permutation(fields[0].size)
    return fields.reshape(len(fields), -1)[:, order].reshape(fields.shape)


def strew(images, seed):
    """The fields of `place`, each digit moved by a number of pixels between -3 and 3, drawn at random."""
    moves = np.random.default_rng(seed).integers(-3, 4, len(images))
    return np.concatenate(
        [place(image[None], move) for image, move in zip(images, moves, strict=True)]
    )


def cut(fields, k, count, seed=5):
    """Kernels (count, 1, k, k): windows cut from fields at random, with mean 0 and length 1.

    A window with ink on fewer than six pixels is drawn again.
    """
    rng, found = np.random.default_rng(seed), []
    while len(found) < count:
        n, i, j = rng.integers(len(fields)), *rng.integers(0, fields.shape[-1] - k + 1, 2)
        window = fields[n, 0, i : i + k, j : j + k]
        if np.count_nonzero(window) >= 6:
            found.append((window - window.mean()) / np.linalg.norm(window - window.mean()))
    return np.array(found)[:, None]


def best_matches(fields, K, pad=0):
    """The largest value of each kernel's map, at least 0: fields (n, 1, h, w), K (m, 1, k, k) -> (n, m)."""
    maps = functional.conv2d(torch.tensor(fields), torch.tensor(K), padding=pad)
    return maps.clamp(min=0).amax((2, 3)).numpy()


def readout(Z, labels, ridge=0.01):
    """Ridge regression of ten scores on Z (n, m) and a column of ones -> weights (m + 1, 10)."""
    A = np.c_[Z, np.ones(len(Z))]
    return np.linalg.solve(A.T @ A + ridge * np.eye(A.shape[1]), A.T @ np.eye(10)[labels])


def right(Z, labels, B):
    """Share of the rows of Z whose label has the highest score."""
    return float(np.mean((np.c_[Z, np.ones(len(Z))] @ B).argmax(1) == labels))


@cache
def photo():
    """A temple's roof in colour, 0 … 1, (3, 60, 90), each value the mean of 4 × 4 pixels. Of scikit-learn."""
    from sklearn.datasets import load_sample_image

    part = load_sample_image("china.jpg")[80:320, 120:480] / 255
    return part.reshape(60, 4, 90, 4, 3).mean((1, 3)).transpose(2, 0, 1)


def colour_kernels():
    """Four kernels (4, 3, 3, 3) for a colour image: two edges of brightness, a blur, red against blue."""
    grey = np.full((3, 1, 1), 1 / 3)
    red = np.array([1.0, 0.0, -1.0])[:, None, None] * np.ones((3, 3)) / 9
    edges = [grey * KERNELS[name] / 4 for name in ("vertical edge", "horizontal edge")]
    return np.array([*edges, grey * KERNELS["blur"] / 16, red])


def starts(m, a, s, p):
    """First pixels of the windows of a pixels, every s, in a row of m with p zeros on either side; counted from -p."""
    return np.arange(-p, m + p - a + 1, s)


def small_cases():
    """(m, a, s, p, number of torch's windows) for all m up to 12, a up to 5, s up to 4, p up to 3."""
    cases = []
    for m, a, s, p in np.ndindex(12, 5, 4, 4):  # all but p count from 1
        if m + 1 + 2 * p >= a + 1:
            row, kernel = torch.ones(1, 1, m + 1), torch.ones(1, 1, a + 1)
            found = functional.conv1d(row, kernel, stride=s + 1, padding=p).shape[-1]
            cases.append((m + 1, a + 1, s + 1, p, found))
    return cases


def torchs_weights(*channels):
    """Parameters of torch's 3 x 3 layers from each number of channels to the next."""
    layers = [torch.nn.Conv2d(*pair, 3) for pair in zip(channels, channels[1:], strict=False)]
    return [sum(p.numel() for p in layer.parameters()) for layer in layers]


def torchs_slopes(image, mode):
    """Autograd's slopes of the sum of 2 x 2 tiles, their "max" or "mean", by the pixels of image (h, w)."""
    leaf = torch.tensor(image[None, None], requires_grad=True)
    pool = functional.max_pool2d if mode == "max" else functional.avg_pool2d
    return torch.autograd.grad(pool(leaf, 2).sum(), leaf)[0][0, 0].numpy()


def change(one, other):
    """How far an array is from one, relative to its length."""
    return float(np.linalg.norm(other - one) / np.linalg.norm(one))


def one_hot(texts):
    """Texts of equally many words as images of one row: a channel for each of very, not, good."""
    words = np.array(["very", "not", "good"])[:, None]
    return np.array([words == np.array(text.split()) for text in texts], float)[:, :, None]


def ethanol():
    """C₂H₅OH: its atoms (9, 3), one-hot for C, H, O; its bonds (9, 9), 1 where two are bound."""
    atoms = np.array(list("CCOHHHHHH"))[:, None] == np.array(list("CHO"))
    bonds = np.zeros((9, 9))
    for i, j in ((0, 1), (1, 2), (0, 3), (0, 4), (0, 5), (1, 6), (1, 7), (2, 8)):
        bonds[i, j] = bonds[j, i] = 1
    return atoms.astype(float), bonds


def paths(kernel, stride, depth):
    """Slope of one number behind `depth` layers of all-ones kernels by the pixels of a row; shares of the largest.

    Layers of a row with that kernel size and stride; the row is just as long as the number sees.
    """
    reach = 1 + (kernel - 1) * sum(stride**layer for layer in range(depth))
    row = torch.zeros(1, 1, reach, dtype=torch.float64, requires_grad=True)
    seen = row
    for _ in range(depth):
        seen = functional.conv1d(seen, torch.ones(1, 1, kernel).double(), stride=stride)
    (slope,) = torch.autograd.grad(seen.sum(), row)
    return (slope / slope.max())[0, 0].numpy()


def parts(F):
    """Positive values to orange, negative ones to purple: the same scale on both sides, for `imshow`."""
    scale = max(float(np.nanmax(np.abs(F))), 1e-12)
    return dict(cmap="PuOr_r", vmin=-scale, vmax=scale)


# Pictures.


def draw_puzzle():
    """A digit in its place and moved, and how many digits two programs read right by how far they are moved."""
    images, labels = digits(0, 600)
    tests, truth = digits(1000, 1500)
    shifts, told = range(4), {}
    for name, k in (("196 weights for the whole field", 14), ("25 weights for a window", 5)):
        K = cut(place(images), k, 60)
        B = readout(best_matches(place(images), K), labels)
        told[name] = [right(best_matches(place(tests, s), K), truth, B) for s in shifts]
    # The two fields stand in one panel, so that they stay side by side in a narrow window, too.
    fig, (left, right_) = plt.subplots(1, 2, figsize=(9, 3.3), width_ratios=[1.15, 1])
    for moved, start in ((0, 0), (3, 16)):
        field = place(tests[2:3], moved)[0, 0]
        left.imshow(field, cmap="gray_r", extent=(start, start + 14, 14, 0))
        left.add_patch(Rectangle((start, 0), 14, 14, fill=False, clip_on=False))
    left.set(xlim=(-0.2, 30.2), ylim=(14.2, -0.2), title="The same eight, twice")
    left.set_xticks([7, 23], ["in the middle", "moved by 3 pixels"])
    left.set_yticks([])
    left.tick_params(length=0)
    left.spines[:].set_visible(False)
    left.grid(False)
    looks = (("s--", ORANGE), ("o-", BLUE))
    for (name, line), (look, color) in zip(told.items(), looks, strict=True):
        right_.plot(shifts, np.array(line) * 100, look, color=color, label=name)
    right_.set(
        xlabel="pixels moved, down and right",
        ylabel="digits read right (%)",
        ylim=(0, 105),
        title="One pixel is enough",
    )
    right_.set_xticks(list(shifts))
    right_.set_yticks(range(0, 101, 20))
    where = dict(loc="center right", bbox_to_anchor=(1, 0.36))
    right_.legend(title="each of 60 units has", fontsize=9, title_fontsize=9, **where)
    first, second = told.values()
    return fig, say(
        "A handwritten digit in the middle of its field, and three pixels down and right, where it touches the corner. "
        "In the middle the first program reads {a:.0%} right and the second {b:.0%}. Moved by one pixel: {c:.0%} "
        "and {d:.0%}. By two: {e:.0%} and {f:.0%}. By three: {g:.0%} and {h:.0%}.",
        **dict(zip("aceg", first, strict=True)),
        **dict(zip("bdfh", second, strict=True)),
    )


def draw_window(image, row, col, kernel, flip):
    """A 3 by 3 window around a pixel of image (8, 8), its products with a kernel, and the map as far as it is known."""
    K = KERNELS[kernel][::-1, ::-1] if flip else KERNELS[kernel]
    window = image[row - 1 : row + 2, col - 1 : col + 2]
    F = correlate2d(image, K, mode="valid")
    fig, (left, middle, right_) = fixed_axes(3, (7.8, 3.1), (0.055, 0.99, 0.14, 0.88), wspace=0.2)
    left.imshow(image, cmap="gray_r", vmin=0, vmax=22)
    for (i, j), value in np.ndenumerate(image):
        left.text(j, i, f"{value:.0f}", ha="center", va="center", fontsize=8)
    frame = dict(fill=False, color=VERMILION, linewidth=3)
    left.add_patch(Rectangle((col - 1.5, row - 1.5), 3, 3, **frame))
    left.set_gid("image")
    light(left, "image, and a window", [1, 6], [1, 6])
    products = window * K
    middle.imshow(products, cmap="PuOr_r", vmin=-60, vmax=60)
    for (i, j), value in np.ndenumerate(window):
        weight = f"{K[i, j]}".replace("-", "−")
        middle.text(j, i, f"{value:.0f} · {weight}", ha="center", va="center", fontsize=11)
    light(middle, f"their sum: {products.sum():.0f}".replace("-", "−"), [], [])
    later = np.arange(36).reshape(6, 6) > 6 * (row - 1) + col - 1
    right_.imshow(np.where(later, np.nan, F), **parts(F))
    right_.add_patch(Rectangle((col - 1.5, row - 1.5), 1, 1, **frame))
    light(right_, "feature map so far", [0, 5], [0, 5])
    for ax in (left, middle, right_):
        ax.grid(False)
    left.set(xlabel="column", ylabel="row")
    right_.set(xlabel="column", ylabel="row")
    return fig, say(
        "Window around row {row}, column {col}; kernel {kernel}{turned}. The nine products add up to {total:.0f}. In "
        "the whole map the values go from {low:.0f} to {high:.0f}.",
        row=row,
        col=col,
        kernel=kernel,
        turned=", turned" if flip else "",
        total=products.sum(),
        low=F.min(),
        high=F.max(),
    )


def draw_maps(image, maps):
    """A colour image (3, h, w) and its four feature maps (4, …), from `colour_kernels`."""
    names = ("vertical edges", "horizontal edges", "blur", "red against blue")
    fig = plt.figure(figsize=(7.6, 2.9))
    grid = fig.add_gridspec(2, 3, width_ratios=[1.7, 1, 1])
    whole = fig.add_subplot(grid[:, 0])
    whole.imshow(np.clip(image, 0, 1).transpose(1, 2, 0))
    whole.set_title("three channels in")
    whole.set_axis_off()
    for number, (name, F) in enumerate(zip(names, maps, strict=True)):
        ax = fig.add_subplot(grid[number // 2, 1 + number % 2])
        ax.imshow(F, cmap="gray", vmin=0, vmax=1) if name == "blur" else ax.imshow(F, **parts(F))
        ax.set_title(name, fontsize=10)
        ax.set_axis_off()
    edges, halves = np.abs(np.asarray(maps[:2])).mean((1, 2)), np.split(np.asarray(maps[3]), 2, 1)
    return fig, say(
        "A temple's roof in colour, and what four kernels make of it. Mean size of the map of vertical edges: {v:.2f}, "
        "of horizontal ones: {h:.2f}. Red against blue: "
        "{red:.2f} is the median in the left half, with the temple, {blue:.2f} in the right one.",
        v=edges[0],
        h=edges[1],
        red=np.median(halves[0]),
        blue=np.median(halves[1]),
    )


def draw_tolerance(changes, shifts):
    """How much pooled maps change as an image moves. changes {pool size: relative change at each of shifts}."""
    looks = ("o-", "s--", "^-.", "D:")
    fig, ax = plt.subplots(figsize=(6.4, 3.5))
    colors = (BLACK, SKY, ORANGE, VERMILION)
    for (size, line), look, color in zip(changes.items(), looks, colors, strict=False):
        name = "no pooling" if size == 1 else f"windows of {size} × {size}"
        name = "the whole map" if size == max(changes) else name
        ax.plot(shifts, np.array(line) * 100, look, color=color, label=name)
    ax.set(
        xlabel="pixels that the digit moves, down and right",
        ylabel="change of the map (%)",
        title="The wider the window, the less a step matters",
        ylim=(-5, 165),
    )
    ax.set_xticks(list(shifts))
    ax.legend(ncols=2, loc="upper left", fontsize=9)
    told = [say("size {size}: {one:.0%}", size=size, one=line[1]) for size, line in changes.items()]
    return fig, say(
        "Change of max-pooled maps, relative to their size, when digits move by one pixel. {told:; }. ",
        told=told,
    )


def draw_gaps(gaps):
    """Where moving first and moving afterwards differ. gaps {name: (h, w)}."""
    fig, axes = plt.subplots(1, len(gaps), figsize=(9, 2.8))
    title = "Orange: moving first and moving last differ"
    fig.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    told = []
    for ax, (name, gap) in zip(axes, gaps.items(), strict=True):
        gap = np.asarray(gap)
        ax.imshow(gap > 1e-9, cmap="Oranges", vmin=0, vmax=1.4)
        ax.set_title(name, fontsize=10)
        ax.set_xticks([])
        ax.set_yticks([])
        far = np.argwhere(gap > 1e-9)
        # how many rows from the edge it reaches inwards, on the side where it reaches farthest
        depth = int((np.minimum(far, np.array(gap.shape) - 1 - far).min(1) + 1).max(initial=0))
        told.append(say("{name}: {depth} from the edge", name=name, depth=depth))
    return fig, say(
        "Orange: where the map of the moved image is not the moved map. By how many pixels it reaches in: {told:; }.",
        told=told,
    )


def draw_two_programs(curves, shifts, sizes, learned):
    """Digits read right by how far they are moved; and, where they stand anywhere, by how many were learned from.

    curves {name: shares at each of shifts}; learned {name: shares at each of sizes}.
    """
    looks = (("s--", ORANGE), ("o-", BLUE), ("^-", BLACK))
    fig, (left, right_) = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    for (name, line), (look, color) in zip(curves.items(), looks, strict=True):
        left.plot(shifts, np.array(line) * 100, look, color=color, label=name)
    for (name, line), (look, color) in zip(learned.items(), looks, strict=False):
        right_.plot(sizes, np.array(line) * 100, look, color=color, label=name)
    left.set(
        xlabel="pixels moved, down and right",
        ylabel="digits read right (%)",
        title="Learned in the middle",
        ylim=(0, 125),
    )
    left.set_xticks(list(shifts))
    left.set_yticks(range(0, 101, 20))
    right_.set(xscale="log", xlabel="digits to learn from", title="Learned everywhere")
    right_.set_xticks(sizes, [str(size) for size in sizes])
    right_.minorticks_off()
    left.legend(fontsize=9, loc="upper center", ncols=2)
    ends, more = (
        [say("{name}: {a:.0%}, {b:.0%}", name=name, a=c[0], b=c[-1]) for name, c in lines.items()]
        for lines in (curves, learned)
    )
    return fig, say(
        "Digits read right in the middle and in the corner. {ends:; }. Where digits stand anywhere, learned from few "
        "and from many. {more:; }.",
        ends=ends,
        more=more,
    )


def draw_placement(m, a, s, p):
    """Windows of a pixels, every s, below a row of m with p zeros on either side, in as few lanes as hold them."""
    first = starts(m, a, s, p)
    fig, ax = fixed_axes(1, (8, 2.6), (0.03, 0.98, 0.2, 0.86))
    cells = np.arange(-p, m + p)
    seen = np.isin(cells, (first[:, None] + np.arange(a)).ravel())
    for cell, covered in zip(cells, seen, strict=True):
        zero = not 0 <= cell < m
        look = dict(facecolor="white" if zero else SKY, edgecolor=BLACK, linewidth=0.8)
        ax.add_patch(Rectangle((cell - 0.5, 0), 1, 1, **look, hatch=None if covered else "xxx"))
        ax.text(cell, 0.5, "0" if zero else "", ha="center", va="center", fontsize=8)
    for number, start in enumerate(first):
        lane = number % -(-a // s)
        place = (start - 0.42, -0.8 - 0.8 * lane)
        ax.add_patch(Rectangle(place, a - 0.16, 0.6, facecolor=ORANGE, edgecolor=BLACK))
    ax.set(xlim=(-4.6, 19.6), ylim=(-4.2, 1.2), xlabel="pixel of the row, counted from 0")
    ax.grid(False)
    light(ax, f"windows: {len(first)}; in no window: {(~seen).sum()}", range(0, 16, 5), [])
    ax.spines["left"].set_visible(False)
    return fig, say(
        "m = {m}, a = {a}, s = {s}, p = {p}: (m + 2p − a) / s + 1 is {formula:.2f}, and {count} fit. Pixels or zeros "
        "in no window: {lost}. Shared by neighbouring windows: {shared}.",
        m=m,
        a=a,
        s=s,
        p=p,
        formula=(m + 2 * p - a) / s + 1,
        count=len(first),
        lost=int((~seen).sum()),
        shared=max(a - s, 0),
    )


def draw_matrix(M):
    """The matrix of a convolution as a heat map: a colour for each weight of its kernel."""
    M = np.asarray(M)
    fig, ax = plt.subplots(figsize=(7, 3.6))
    ax.imshow(np.where(M == 0, np.nan, M), cmap="viridis", aspect="auto")
    ax.set(
        xlabel="pixel of the image, row after row",
        ylabel="number of the map",
        title="Nearly empty, and few different weights",
    )
    ax.grid(False)
    return fig, say(
        "A matrix with {rows} rows and {cols} columns. {share:.0%} of its {size} entries are not 0, and these have "
        "{different} different values, one for each weight of the kernel.",
        rows=M.shape[0],
        cols=M.shape[1],
        size=M.size,
        share=np.mean(M != 0),
        different=len(np.unique(M[M != 0])),
    )


def draw_routes(image, pooled, slopes):
    """An image (h, w); above, what pools make of it, below, the slope of their sum by each pixel. By mode, dicts."""
    fig, axes = plt.subplots(2, 1 + len(pooled), figsize=(8, 4.4))
    axes[0, 0].imshow(image, cmap="gray_r")
    axes[0, 0].set_title("image", fontsize=10)
    for above, below, mode in zip(axes[0, 1:], axes[1, 1:], pooled, strict=True):
        above.imshow(pooled[mode], cmap="gray_r", vmin=0, vmax=image.max())
        above.set_title(f"{mode} of 2 × 2", fontsize=10)
        below.imshow(slopes[mode], cmap="Oranges", vmin=0, vmax=1)
        below.set_title("where the gradient goes", fontsize=9)
    for ax in axes.flat:
        ax.set_axis_off()
    share = {mode: np.mean(np.asarray(slope) != 0) for mode, slope in slopes.items()}
    return fig, say(
        "A digit, its pools, and the slope of the sum of each pool by every pixel. Of all pixels, {max:.0%} receive "
        "something behind max pooling, and {mean:.0%} behind mean pooling.",
        max=share["max"],
        mean=share["mean"],
    )


def draw_reach(kernel, stride, depth):
    """What one number behind `depth` layers sees of a row: how far, and how many paths lead to each pixel."""
    table = [paths(kernel, stride, layer) for layer in range(1, depth + 1)]
    fig, (left, right_) = fixed_axes(2, (9, 3.5), (0.08, 0.98, 0.17, 0.88), wspace=0.22)
    reaches = [len(row) for row in table]
    left.bar(range(1, depth + 1), reaches, color=SKY, edgecolor=BLACK)
    left.set(xlabel="layer", ylabel="pixels that one number sees", ylim=(0, 1.15 * reaches[-1]))
    light(left, "reach", range(1, depth + 1))
    at = np.arange(reaches[-1]) - (reaches[-1] - 1) / 2
    right_.fill_between(at, table[-1], step="mid", color=VERMILION, alpha=0.5)
    right_.step(at, table[-1], where="mid", color=VERMILION)
    right_.set(xlabel="pixel, from the middle", ylabel="paths (share of the most)", ylim=(0, 1.1))
    light(right_, f"layer {depth}: who is heard", y=[0, 0.5, 1])
    half = np.mean(table[-1] >= 0.5)
    return fig, say(
        "{depth} layers, kernels {kernel} wide, stride {stride}: one number sees {reach} pixels in a row. {half:.0%} "
        "of them have at least half as many paths as the middle.",
        depth=depth,
        kernel=kernel,
        stride=stride,
        reach=reaches[-1],
        half=half,
    )

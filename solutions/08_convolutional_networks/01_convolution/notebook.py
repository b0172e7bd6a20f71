# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="a convolutional layer, and the table that plans a network of them" covers="cs480:10 guo:IV.3"
# # Convolution
#
# Two programs read handwritten digits, 8 by 8 pixels on an empty field of 14 by 14. Both have 60 hidden units and the same kind
# of readout. Where the digits stood when they learned, in the middle, both read more than nine in ten.
#
# Now all digits move, down and to the right. After *one pixel* the first program does no better than guessing. The second
# hardly notices, and at first sight it is the poorer one: its units have 25 weights each, not 196.
#
# **What does the second program know? And why does it fail in the corner, too, with the whole digit still in sight?** You
# build it, and one number mends it.

# %%
# What this notebook needs.
import numpy as np
import torch
from ipywidgets import Checkbox, Dropdown, IntSlider
from torch.nn import functional

from descent import after, below, check, claim, erratum, explore, hint
from descent import predict, show, solution, start
from descent.pictures.convolutional_networks import convolution as pictures

start("08_convolutional_networks/01_convolution")

# %% covers="cs480:10 guo:IV.3 wu:3.2.5"
# The two programs, and digits that move.
show(*pictures.draw_puzzle(), digits=1)

# %% [markdown] covers="cs480:10 guo:IV.3 wu:3 cs480:ex10.1 explainers:4.2.1"
# ## 1. One window, every place
#
# To the first program an image is a long row of numbers, with a weight for each. What it learns about a stroke here, it
# knows only here: the weights one pixel further have learned nothing.
#
# So be stingy, twice. Look at a small *window* only. And use the *same* weights in every window. These weights are the
# **kernel** (or filter). Kernel times window, entry by entry, all added up: that is their inner product. One number for each
# window: together they are the **feature map**.
#
# Drag the window over the digit.
#
# 1. *Vertical edge*: what does its sign tell you?
# 2. Which kernel gives the digit back, moved? Which way?
# 3. Turn the kernel. Which kernels do not care?

# %% covers="cs480:ex10.1 explainers:4.2.1 explainers:4.2.1.fig20 wu:3.2.3"
# Drag the window: its nine products, their sum, and the map so far.
digit = pictures.digits(1003, 1004)[0][0]  # a seven
explore(
    lambda row, col, kernel, flip: pictures.draw_window(digit, row, col, kernel, flip),
    drag={("col", "row"): "image"},
    col=IntSlider(3, min=1, max=6, description="column"),
    row=IntSlider(2, min=1, max=6, description="row"),
    kernel=Dropdown(options=list(pictures.KERNELS), description="kernel"),
    flip=Checkbox(False, description="turn the kernel"),
)

# %% [markdown] covers="explainers:4.2.1 cs480:ex10.1"
# Mathematics turns the kernel and calls the result a *convolution*; without the turn it is a *cross-correlation*. Networks
# do not turn, and say convolution all the same: their kernels are learned, and come out turned if need be. So do we. Rows
# and columns count from 0:
#
# $$F_{ij} = \sum_{u} \sum_{v} K_{uv}\, X_{i+u,\, j+v} .$$


# %% exercise="correlate2d" points=2 difficulty=1 covers="cs480:ex10.1 explainers:4.2.1 explainers:4.2.1.fig20 wu:3.2.3"
def correlate2d(X, K, flip=False):
    """The inner products of a kernel with all windows of an image.

    X (h, w): the image. K (a, k): the kernel, not larger than X. F[i, j] belongs to
    the window whose top left pixel is X[i, j]. Windows lie wholly inside of X, so
    there are (h - a + 1, w - k + 1). Returns F.
    flip=True turns the kernel by half a turn first: its rows and its columns come in
    reverse order.
    X = [[1, 2, 3]], K = [[1, 10]] gives [[21, 32]], and with flip [[12, 23]].
    """
    ### BEGIN SOLUTION
    if flip:
        K = K[::-1, ::-1]
    a, k = K.shape
    F = np.zeros((X.shape[0] - a + 1, X.shape[1] - k + 1))
    for i in range(F.shape[0]):
        for j in range(F.shape[1]):
            F[i, j] = (K * X[i : i + a, j : j + k]).sum()
    return F
    ### END SOLUTION


# %% check="correlate2d"
check(correlate2d)

# %% covers="cs480:ex10.1 explainers:4.2.1.fig20 explainers:4.2.1"
# Two examples from the lecture notes; the turn; sums of images.
with after(correlate2d):
    X, K = pictures.SMALL
    F = correlate2d(X, K)
    right = F.tolist() == [[4, 3, 4], [2, 4, 3], [2, 3, 4]]
    claim("a small one by hand: 434, 243, 234", right)
    claim("this kernel does not notice the turn", (correlate2d(X, K, True) == F).all())
    X, K = pictures.SOBEL
    F = correlate2d(X, K)
    right = F.tolist() == [[12, 11, -1], [2, 17, 0], [-1, 9, -3]]
    claim("vertical edges: (12, 11, −1), (2, 17, 0), (−1, 9, −3)", right)
    claim("that kernel turned: the opposite", (correlate2d(X, K, True) == -F).all())
    both = 2 * F + correlate2d(X.T, K)
    claim(
        "the map of a sum is a sum of maps", (correlate2d(2 * X + X.T, K) == both).all()
    )

# %% [markdown] covers="cs480:10-chan wu:3.2.1 wu:3.2.8 explainers:4.2.1 wu:3.2.3"
# ## 2. A layer
#
# **Channels.** A colour image is a field of vectors, red, green and blue at each pixel: three *channels*. A kernel goes
# through all of them: with $a$ rows and $k$ columns it is a block of weights $c \times a \times k$, and it adds up everything in its
# window to *one* number.
# Then comes its *bias* $b$, one number for the whole map. And one kernel is not enough. Take $o$ kernels, and you have $o$ maps,
# the channels for the next layer. (In sums the same letters say which kernel and which channel.)
#
# $$F_{oij} = b_o + \sum_{c} \sum_{u} \sum_{v} W_{ocuv}\, X_{c,\,i+u,\,j+v} .$$
#
# In a network each number of $F$ then passes an activation such as ReLU.

# %% [markdown] covers="cs480:10-stride wu:3.2.6 explainers:4.2.1.box-dims guo:IV.3.a"
# **Stride.** A window at every pixel is a lot. With *stride* $s$ the next one starts $s$ pixels further, and the map is about
# $s$ times smaller per side. **Padding.** A pixel in the corner is seen by a single window. So put $p$ zeros around the image
# first; with stride 1, odd $a$ and $p = (a - 1)/2$ the map is as large as the image.
#
# How many windows of $a$ pixels fit into a row of $m$? It is $m + 2p$ long now; after the first window $m + 2p - a$ pixels are left, and
# each further window needs $s$ of them.

# %% predict="how-many" minutes=1 covers="explainers:4.2.1.box-dims cs480:10-stride"
predict(
    "how-many",
    "6 pixels in a row, windows of 3, stride 2, no padding. How many windows?",
    ["1", "2", "3"],
    truth=len(pictures.starts(6, 3, 2, 0)) - 1,
    because="They start at pixel 0 and 2; one at 4 would need a pixel 6. (6 − 3)/2 + "
    "1 is 2.5, and there are no half windows: round down. The last pixel is not seen.",
)

# %% [markdown] covers="cs480:10-stride guo:IV.3.a"
# So there are $\left\lfloor \frac{m + 2p - a}{s} \right\rfloor + 1$. Now write the layer. All images of a batch and all kernels fit
# into one product (`np.tensordot` or `np.einsum`), so loop over the places of the window only. Section 6
# asks for a million windows, with 60 kernels each: a loop over images and kernels, too, would take minutes there.


# %% exercise="conv2d" points=5 difficulty=1 covers="cs480:10 cs480:10-chan explainers:4.2.1 guo:IV.3.a wu:3.2.3 wu:3.2.8 wu:3.2.9 wu:3.2.7"
def conv2d(X, W, b, stride=1, pad=0):
    """A convolutional layer without its activation.

    X (n, c, h, w): n images with c channels. W (o, c, a, k): o kernels. b (o,).
    First `pad` rows or columns of zeros go to each of the four sides. Then windows
    start at every stride-th row and column, as long as they fit.
    Returns (n, o, rows, cols). Kernels are not turned.
    An image of ones, 3 by 3, one kernel of ones, 2 by 2, b = [0.5], stride 2 and
    pad 1 give [[[[1.5, 2.5], [2.5, 4.5]]]].
    """
    ### BEGIN SOLUTION
    o, c, a, k = W.shape
    P = np.pad(X, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    rows = (P.shape[2] - a) // stride + 1
    cols = (P.shape[3] - k) // stride + 1
    F = np.zeros((len(X), o, rows, cols))
    for i in range(rows):
        for j in range(cols):
            window = P[:, :, i * stride :, j * stride :][:, :, :a, :k]
            F[:, :, i, j] = np.tensordot(window, W, ([1, 2, 3], [1, 2, 3])) + b
    return F
    ### END SOLUTION


# %% check="conv2d"
check(conv2d)

# %% covers="cs480:10-chan wu:3.2.1 wu:3.2.3 wu:3.2.7 wu:3.2.8 wu:3.2.9 cs480:10-stride explainers:4.2.1.box-dims guo:IV.3.a"
# Your layer on a photo: against torch, and four other ways to compute it.
with after(conv2d):
    photo, rng = pictures.photo(), np.random.default_rng(0)
    X, W, b = photo[None], rng.normal(size=(5, 3, 3, 3)), rng.normal(size=5)
    F = conv2d(X, W, b)
    torchs = functional.conv2d(*(torch.tensor(part) for part in (X, W, b)))
    claim("torch makes the same five maps of a photo", np.allclose(F, torchs))
    second = conv2d(X, W, b, 2)
    claim("stride 2: every other number", np.allclose(second, F[:, :, ::2, ::2]))
    cases = pictures.small_cases()  # each with the number of torch's windows
    same = all((m + 2 * p - a) // s + 1 == count for m, a, s, p, count in cases)
    claim("torch fits as many windows in {n} small cases", same, n=len(cases))
    pixels = photo.transpose(1, 2, 0)  # (60, 90, 3): a vector for each pixel
    same = np.array_equal(pixels[7, 11], photo[:, 7, 11])
    claim("a pixel is a vector: red, green, blue", same)
    columns = functional.unfold(torch.tensor(X), 3)[0].numpy()  # 27 for each window
    product = W.reshape(5, 27) @ columns + b[:, None]
    claim(
        "windows as columns: a matrix product", np.allclose(product, F.reshape(5, -1))
    )
    parts = sum(conv2d(X[:, [c]], W[:, [c]], 0 * b) for c in range(3))
    claim("maps of single channels add up", np.allclose(parts + b[:, None, None], F))
    mixed = (pixels @ W[:, :, 1, 1].T + b).transpose(2, 0, 1)
    one = conv2d(X, W[:, :, 1:2, 1:2], b)[0]
    claim("1 × 1 kernels: a matrix times each pixel", np.allclose(one, mixed))
    small, whole = X[:, :, :8, :8], rng.normal(size=(5, 3, 8, 8))
    dense = whole.reshape(5, -1) @ small.ravel() + b
    only = conv2d(small, whole, b).ravel()
    claim("kernels as large as the image: a dense layer", np.allclose(only, dense))
    maps = conv2d(X, pictures.colour_kernels(), np.zeros(4), 1, 1)[0]
    show(*pictures.draw_maps(photo, maps), digits=0)

# %% [markdown] covers="wu:3.2.7 wu:3.2.9 wu:3.2.2 wu:3.2.6 wu:3.2.4"
# A kernel as large as the image has a single window: it *is* a dense layer. So both programs of the puzzle are this function,
# with kernels of 14 and of 5.
#
# ## 3. Plan before you build
#
# Before a stack of layers runs: how large are the maps, how many weights are there, how far does one number see? Count
# in pixels of the *image*. The **jump** between neighbours is 1 there, and each layer multiplies it by its stride. The
# **receptive field**, here its width, the *reach*, is 1 pixel there. A number of a layer sees $a$ neighbours of the layer below, each a jump
# apart:
#
# $$\text{reach} \leftarrow \text{reach} + (a - 1) \cdot \text{jump}, \quad \text{then} \quad \text{jump} \leftarrow s \cdot \text{jump}.$$


# %% exercise="layer_table" points=4 difficulty=1 covers="wu:3.2.2 wu:3.2.4 wu:3.2.6 guo:IV.3.a explainers:4.2.1.box-dims cs480:10-stride cs480:10-chan"
def layer_table(c, h, w, layers):
    """What each layer makes of an image with c channels, h rows and w columns.

    layers: (channels, size, stride, pad) of each, from the image on: so many kernels,
    each size by size over all channels, with a bias. channels = None is pooling, which
    keeps the channels and has no weights.
    Returns a row for each layer: (channels, rows, cols, weights, reach, jump), where
    weights counts those of this layer, with biases, and reach and jump are those of
    its numbers, in pixels of the image.
    layer_table(3, 8, 6, [(5, 3, 2, 0)]) gives [(5, 3, 2, 140, 3, 2)].
    """
    ### BEGIN SOLUTION
    reach, jump, table = 1, 1, []
    for channels, size, stride, pad in layers:
        weights = 0
        if channels is not None:
            weights = channels * (c * size * size + 1)
            c = channels
        h = (h + 2 * pad - size) // stride + 1
        w = (w + 2 * pad - size) // stride + 1
        reach = reach + (size - 1) * jump
        jump = stride * jump
        table.append((c, h, w, weights, reach, jump))
    return table
    ### END SOLUTION


# %% check="layer_table"
check(layer_table)

# %% covers="guo:IV.3.a wu:3.2.4 wu:3.2.9 wu:3.2.2 cs480:10-chan wu:3.2.6"
# Counting weights; and whether one number sees what the table says.
with after(layer_table, conv2d):
    ((_, h, w, weights, _, _),) = layer_table(3, 32, 32, [(10, 5, 1, 2)])
    words = "ten 5 × 5 kernels on a colour image: {n} weights, dense {d:,}"
    dense = (3 * 32 * 32 + 1) * 10 * h * w
    right = (h, w, weights, dense) == (32, 32, 760, 31_467_520)
    claim(words, right, n=weights, d=dense)
    deep = [(channels, 3, 1, 1) for channels in (64, 128, 256)]
    deep = [row[3] for row in layer_table(3, 32, 32, deep)]
    words = "3 → 64 → 128 → 256 channels: {n} weights, as in torch"
    claim(words, deep == pictures.torchs_weights(3, 64, 128, 256), n=str(deep))
    wide = layer_table(256, 14, 14, [(256, 3, 1, 1)])[0][3]
    narrow = [(64, 1, 1, 0), (64, 3, 1, 1), (256, 1, 1, 0)]
    narrow = sum(row[3] for row in layer_table(256, 14, 14, narrow))
    words = "1 × 1 down to 64 channels, 3 × 3, and up: {r:.1f} times fewer weights"
    claim(words, wide > 8 * narrow, r=wide / narrow)
    layers = [(1, 3, 1, 0), (1, 3, 2, 0), (1, 5, 2, 0), (1, 3, 1, 0)]
    *_, reach, jump = layer_table(1, 31, 31, layers)[-1]
    lit = np.eye(31)[:, None, None]  # 31 images of one row, in each one pixel lit
    for _, size, stride, pad in layers:
        lit = conv2d(lit, np.ones((1, 1, 1, size)), np.zeros(1), stride, pad)
    seen = [np.flatnonzero(lit[:, 0, 0, j]) for j in (0, 1)]
    claim("four layers: {n} pixels of a row are seen", len(seen[0]) == reach, n=reach)
    words = "its neighbour looks {j} pixels further"
    claim(words, seen[1][0] - seen[0][0] == jump, j=jump)

# %% [markdown] covers="cs480:10-pool explainers:4.2.2 guo:IV.3.b"
# ## 4. Forget where: pooling
#
# A map says what was found, and where. To read a digit *what* will do, and *where* only roughly. **Pooling** slides a window over each
# channel and keeps its largest value, or its mean: “somewhere here was a stroke”. *Global* pooling has one window, the whole
# map: a single number for each channel.


# %% exercise="pool2d" points=3 difficulty=1 covers="cs480:10-pool explainers:4.2.2 guo:IV.3.b"
def pool2d(X, size, stride, mode):
    """The largest, smallest or mean value of each window, in each channel by itself.

    X (n, c, h, w). Windows are size by size; they start at every stride-th row and
    column, as long as they fit. mode: "max", "min" or "mean".
    Returns (n, c, rows, cols).
    X = [[[[1, 2, 5], [3, 4, 0]]]], size 2, stride 1, "max": [[[[4, 5]]]].
    """
    ### BEGIN SOLUTION
    summary = {"max": np.max, "min": np.min, "mean": np.mean}[mode]
    rows, cols = ((length - size) // stride + 1 for length in X.shape[2:])
    P = np.zeros((*X.shape[:2], rows, cols))
    for i in range(rows):
        for j in range(cols):
            window = X[:, :, i * stride :, j * stride :][:, :, :size, :size]
            P[:, :, i, j] = summary(window, axis=(2, 3))
    return P
    ### END SOLUTION


# %% check="pool2d"
check(pool2d)

# %% covers="cs480:10-pool explainers:4.2.2 guo:IV.3.b"
# Properties of pools; then 40 digits move under maps of 5 × 5 kernels.
with after(conv2d, pool2d):
    X = np.random.default_rng(1).normal(size=(2, 3, 8, 8))
    least = pool2d(X, 2, 2, "min")
    claim("min x is −max(−x)", np.array_equal(least, -pool2d(-X, 2, 2, "max")))
    tiles, whole = pool2d(X, 4, 4, "mean"), pool2d(X, 8, 1, "mean")
    claim("tiles keep the mean", np.allclose(tiles.mean((2, 3)), whole[:, :, 0, 0]))
    torchs = functional.max_pool2d(torch.tensor(X), 3, 2).numpy()
    claim("torch pools alike", np.array_equal(pool2d(X, 3, 2, "max"), torchs))
    plain = [pool2d(0 * X + 3, 3, 2, mode) for mode in ("max", "min", "mean")]
    claim("a constant image stays as it is", np.ptp(plain) == 0)
    images = pictures.digits(0, 40)[0]
    K, changes = pictures.cut(pictures.place(images), 5, 20), {}
    found = [conv2d(pictures.place(images, s), K, np.zeros(20), 1, 4) for s in range(4)]
    for size in (1, 2, 6, 18):
        pools = [pool2d(np.maximum(maps, 0), size, size, "max") for maps in found]
        changes[size] = [pictures.change(pools[0], moved) for moved in pools]
    claim("the global pool does not change at all", max(changes[18]) < 1e-9)
    show(*pictures.draw_tolerance(changes, range(4)))

# %% [markdown] covers="wu:3.2.5 guo:IV.3 wu:3.2.6"
# ## 5. What moves along
#
# Move the image, and the map moves along: same windows, same weights, other place. That is **translation equivariance**. It is not
# *invariance*, where nothing would change. Invariance comes from forgetting, as in the global pool.
#
# A promise like that wants to be measured. Move first and then ask, or ask first and then move: where do the two differ?


# %% exercise="shift_gap" points=2 difficulty=1 covers="wu:3.2.5 guo:IV.3"
def shift_gap(f, X, down, right, stride=1):
    """Where moving before f and moving after f differ.

    f: function, (n, c, h, w) -> (n, o, rows, cols), that goes by `stride` pixels from
    number to number. X (n, c, h, w). down, right: whole numbers of pixels, multiples of
    stride; negative ones go up and left. What leaves on one side comes in on the other:
    np.roll. The map moves by down / stride and right / stride numbers.
    Returns |f(moved X) - moved f(X)|, (n, o, rows, cols).
    """
    ### BEGIN SOLUTION
    move = np.array([down, right])
    moved_first = f(np.roll(X, move, axis=(2, 3)))
    moved_last = np.roll(f(X), move // stride, axis=(2, 3))
    return np.abs(moved_first - moved_last)
    ### END SOLUTION


# %% check="shift_gap"
check(shift_gap)

# %% covers="wu:3.2.5 wu:3.2.6 guo:IV.3"
# A digit moves by a pixel: with and without padding, bias, paper of 1.
with after(conv2d, shift_gap):
    rng = np.random.default_rng(0)
    Ws, b = [rng.normal(size=(4, c, 3, 3)) for c in (1, 4, 4)], rng.uniform(0.5, 1, 4)
    ink = pictures.place(pictures.digits(0, 1)[0], size=24)

    def layers(pad, b, Ws=Ws):
        def f(X):
            for W in Ws:
                X = np.maximum(conv2d(X, W, b, 1, pad), 0)
            return X

        return f

    gaps = {
        "no padding": shift_gap(layers(0, b), ink, 1, 1),
        "padding, no bias": shift_gap(layers(1, 0 * b), ink, 1, 1),
        "padding, bias": shift_gap(layers(1, b), ink, 1, 1),
        "1 layer, paper is 1": shift_gap(layers(1, b, Ws[:1]), 1 - ink, 1, 1),
    }
    largest = [gap.max() for gap in gaps.values()]
    claim("no padding, or empty paper 0 and no bias: no gap", max(largest[:2]) < 1e-9)
    claim("padding and bias, or paper of ones: a gap", min(largest[2:]) > 0.1)
    stacks = [shift_gap(layers(1, b, Ws[:d]), ink, 1, 1)[..., 12, :12] for d in (2, 3)]
    deep = [int((gap.max((0, 1)) > 1e-9).sum()) for gap in stacks]
    claim("two layers: {n} pixels deep; three: one more", deep == [2, 3], n=deep[0])
    gap = shift_gap(lambda X: conv2d(X, Ws[0], b, 2), ink, 2, 2, 2)
    claim("stride 2: a move by 2 moves the map by 1", gap.max() < 1e-9)
    show(*pictures.draw_gaps({name: gap.max((0, 1)) for name, gap in gaps.items()}))

# %% [markdown] covers="wu:3.2.5"
# Zeros around an image are seen only where the image itself is not 0 there. In our digits paper is 0, and ink is more. In a photo
# white paper is 1: there the zeros are a black frame. And with a
# bias above 0 the *second* layer's background is no longer 0, so its padding is a frame, too, one pixel deeper with every layer. By
# its frame a network can tell where a thing is.

# %% predict="fence" minutes=1 covers="wu:3.2.6 wu:3.2.5"
predict(
    "fence",
    "A fence: columns of pixels, 0, 1, 0, 1, … The kernel is a single weight 1, the "
    "stride 2. The fence moves by one pixel to the right. The map …",
    ["stays as it is", "moves by half a number", "turns from all 0 to all 1"],
    truth=2
    * int(np.roll([0, 1, 0, 1], 1)[::2].min() > np.array([0, 1, 0, 1])[::2].max()),
    because="Stride 2 asks every other column. It meets only gaps, and after the move "
    "only bars. A pattern finer than the stride is misread: aliasing.",
)

# %% [markdown] covers="cs480:10 wu:3.2.5 guo:IV.3 wu:3"
# ## 6. The two programs
#
# Now build both: your layer, ReLU, your global pool, and a linear readout (ridge regression, [[01/03]]). The kernels are cut from
# images at random, made to have mean 0 and length 1. How to *learn* them is a matter for [[08/02]] and [[08/03]]. One program cuts
# the whole field, $14 \times 14$, the other windows of $5 \times 5$.
#
# In the corner, windows that hang over the edge are missing, and with them the best match of many a kernel. So pad, with 4 zeros:
# then every window that touches the digit is there, wherever it stands, and the background *is* 0.

# %% covers="cs480:10 wu:3.2.5 guo:IV.3"
# Your layer and pool read: in the middle, moved, scattered, anywhere.
with after(conv2d, pool2d):

    def look(fields, K, pad=0):
        """How well each kernel fits where it fits best: (n, 60)."""
        maps = np.maximum(conv2d(fields, K, np.zeros(len(K)), 1, pad), 0)
        return pool2d(maps, maps.shape[2], 1, "max")[:, :, 0, 0]

    images, labels = pictures.digits(0, 600)
    tests, truth = pictures.digits(1000, 1200)
    middle, mixed = pictures.place(images), pictures.scatter(images)
    anywhere, other = pictures.strew(images, seed=1), pictures.strew(tests, seed=2)
    sizes, curves, learned, scattered = (75, 150, 300, 600), {}, {}, {}
    programs = ("whole field", 14, 0), ("windows", 5, 0), ("windows, padded", 5, 4)
    for name, k, pad in programs:
        K = pictures.cut(middle, k, 60)
        B = pictures.readout(look(middle, K, pad), labels)
        moved = [look(pictures.place(tests, s), K, pad) for s in range(4)]
        curves[name] = [pictures.right(Z, truth, B) for Z in moved]
        Z, Z_tests = look(anywhere, K, pad), look(other, K, pad)
        fits = [pictures.readout(Z[:n], labels[:n]) for n in sizes]
        learned[name] = [pictures.right(Z_tests, truth, B) for B in fits]
    for name, k, _ in programs[:2]:
        K = pictures.cut(mixed, k, 60)
        B = pictures.readout(look(mixed, K), labels)
        scattered[name] = pictures.right(look(pictures.scatter(tests), K), truth, B)

# %% predict="scattered" minutes=1 covers="wu:3.2.5 guo:IV.3"
predict(
    "scattered",
    "All 196 pixels of a field change places, in the same way for all images. Both "
    "programs learn anew from such images. Which reads worse than before?",
    ["Both", "Only that with the whole field", "Only that with the windows"],
    truth=2 * int(abs(scattered["whole field"] - curves["whole field"][0]) < 0.005
                  and scattered["windows"] < curves["windows"][0] - 0.03),
    because="A whole field is a list of pixels, in whatever order. Windows bet that "
    "pixels which belong together are neighbours. Here they lose the bet.",
)  # fmt: skip

# %% covers="cs480:10 wu:3.2.5 guo:IV.3"
# The answer to the question of the first screen.
with after(conv2d, pool2d, "scattered"):
    field, windows, padded = curves.values()
    claim("in the middle, both read nine in ten", min(field[0], windows[0]) > 0.9)
    words = "one pixel further: under a fifth are right, and still over 85 %"
    claim(words, field[1] < 0.2 and windows[1] > 0.85)
    lost = windows[0] - windows[3]
    claim("in the corner windows lose {n} points, or more", lost > 0.25, n=25)
    same = np.ptp(padded) < 0.005 and padded[0] > 0.9
    claim("padded: the same share, wherever the digit stands", same)
    loss = windows[0] - scattered["windows"]
    claim("pixels scattered: windows lose {n} points or more", loss > 0.03, n=3)
    same = abs(scattered["whole field"] - field[0]) < 0.005
    claim("… and the whole field nothing", same)
    few, many = learned["windows, padded"][0], learned["whole field"][-1]
    claim("75 digits teach padded windows more than 600 the field", few > many)
    show(*pictures.draw_two_programs(curves, range(4), sizes, learned), digits=1)

# %% [markdown] covers="wu:3 wu:3.2.5 cs480:10"
# ## Take-aways
#
# - A convolution is a dense layer with two restrictions: each unit sees a small window, and all windows share their weights.
# - A kernel goes through all channels and makes one map. Windows: $\lfloor (m + 2p - a)/s \rfloor + 1$. Weights: $o\,(c\,a^2 + 1)$,
#   however large the image.
# - A layer adds $a-1$ jumps to the reach; the jump is multiplied by its stride.
# - **What the second program knows:** that a stroke means the same everywhere (equivariance), and where it stands does not
#   matter (the pool). It need not learn that place by place. It loses where neighbours mean nothing.
# - **Why it failed in the corner:** windows over the edge were missing. Padding brings them back, unseen while the background is 0;
#   else it is a frame that gives places away.
#
# Next: [[next]].

# %% [markdown] covers="cs480:10-stride explainers:4.2.1.box-dims wu:3.2.6"
# ## Deeper: where windows fall
#
# A row of $m$ pixels, windows of $a$, stride $s$, $p$ zeros on either side. Move the sliders: when are pixels in no window (hatched)?
# When does padding do no good? Windows overlap just when $s < a$. Most networks want that; where $s = a$ they are tiles.

# %% covers="cs480:10-stride explainers:4.2.1.box-dims wu:3.2.6"
# The row, its zeros, and below it the windows.
explore(
    pictures.draw_placement,
    m=IntSlider(10, min=5, max=16, description="pixels m"),
    a=IntSlider(3, min=1, max=5, description="window a"),
    s=IntSlider(2, min=1, max=6, description="stride s"),
    p=IntSlider(0, min=0, max=4, description="padding p"),
)

# %% [markdown] covers="cs480:10-stride"
# Now turn the question round: how many zeros does it take to get $m$ windows from $m$ pixels? Say $P$ in all, some before and some
# after. The last of $m$ windows starts $(m - 1)\,s$ pixels after the first, and needs $a$ pixels. What is the smallest $P$?
#
# For an even window and stride 1, $P$ is odd. No $p$ on *both* sides can do it: one side gets one more.


# %% exercise="same_pad" points=1 difficulty=1 covers="cs480:10-stride"
def same_pad(m, a, s):
    """The fewest zeros that give m windows of a pixels, stride s, on a row of m pixels.

    m, a and s are at least 1. Returns (before, after), the zeros at the two ends; where
    their sum is odd, the one more stands after.
    same_pad(4, 2, 1) gives (0, 1).
    """
    ### BEGIN SOLUTION
    zeros = (m - 1) * s + a - m
    return zeros // 2, zeros - zeros // 2
    ### END SOLUTION


# %% check="same_pad"
check(same_pad)

# %% covers="cs480:10-stride"
# Windows counted one by one; and the formula with p zeros on both sides.
with after(same_pad):
    cases = [
        (*case, sum(same_pad(*case))) for case in np.ndindex(33, 8, 4) if all(case)
    ]
    counted = [len(range(0, m + P - a + 1, s)) == m for m, a, s, P in cases]
    claim("m windows again, in {n} cases", all(counted), n=len(cases))
    both = [len(pictures.starts(m, a, s, -(-P // 2))) == m for m, a, s, P in cases]
    wrong = {(a % 2, s) for (_, a, s, _), good in zip(cases, both) if not good}
    words = (
        "half of them, rounded up, on both sides: wrong for even a and stride 1 only"
    )
    claim(words, wrong == {(0, 1)})

# %% [markdown] covers="cs480:10 cs480:10-circ wu:3.2.5"
# ## Deeper: a matrix that is nearly empty
#
# A map is a linear function of the image. So there is a matrix $M$ with $M \operatorname{vec}(X) = \operatorname{vec}(F)$, where vec
# writes the rows of an image one behind the other. A dense layer could have any matrix. What does this one look like? Row by row:
# which pixels does a number of the map see, and with which weights?


# %% exercise="conv_matrix" points=3 difficulty=1 covers="cs480:10-circ wu:3.2.5 cs480:10"
def conv_matrix(K, h, w):
    """The matrix M of correlate2d with kernel K on images of h rows and w columns.

    K (a, k), not larger. M times the image, written row after row, is the feature map,
    written row after row. Returns M ((h - a + 1) * (w - k + 1), h * w).
    conv_matrix([[1, 2]], 1, 3) gives [[1, 2, 0], [0, 1, 2]]. K comes as an array.
    """
    ### BEGIN SOLUTION
    a, k = K.shape
    rows = []
    for i in range(h - a + 1):
        for j in range(w - k + 1):
            window = np.zeros((h, w))
            window[i : i + a, j : j + k] = K
            rows.append(window.ravel())
    return np.array(rows)
    ### END SOLUTION


# %% check="conv_matrix"
check(conv_matrix)

# %% covers="cs480:10-circ cs480:10 wu:3.2.5"
# The 4 × 9 matrix of the notes, its relatives; a picture of a larger one.
with after(conv_matrix, correlate2d):
    rng = np.random.default_rng(0)
    X, K = rng.normal(size=(3, 3)), np.array([[1.0, 2.0], [3.0, 4.0]])
    M = conv_matrix(K, 3, 3)
    claim("M vec(X) is the map", np.allclose(M @ X.ravel(), correlate2d(X, K).ravel()))
    sizes = len(np.unique(M[M != 0])), M.size
    claim("{free} free weights, of {all} entries", sizes == (4, 36), free=4, all=M.size)
    circulant = np.array([np.roll(M[0], shift) for shift in range(9)])
    same = np.array_equal(M, circulant[[0, 1, 3, 4]])
    claim("its rows are rows 1, 2, 4, 5 of a circulant matrix", same)
    wrapped = np.pad(X, ((0, 1), (0, 1)), mode="wrap")  # it goes on at the other side
    first = M[0].reshape(3, 3)
    M = np.array([np.roll(first, move, (0, 1)).ravel() for move in np.ndindex(3, 3)])
    same = np.allclose(M @ X.ravel(), correlate2d(wrapped, K).ravel())
    claim("images that go round: square, circulant in blocks", same)
    K = np.array([[2, 3, 4], [5, 6, 7], [8, 9, 10]])
    show(*pictures.draw_matrix(conv_matrix(K, 6, 6)))

# %% [markdown] covers="cs480:10-circ"
# Cut it into blocks, one for each row of the map and each of the image. In a block each row is the row above, moved by one:
# constant along diagonals, a *Toeplitz* matrix. The blocks lie along diagonals, too. Both restrictions can
# be read off: most entries are 0 (small windows), the others repeat (shared weights).
#
# And the transpose? $M^\top$ has a row for each *pixel*. Take $G$, the slopes of a loss by the numbers of the map. The slopes by the
# pixels are $M^\top \operatorname{vec}(G)$, by the chain rule. As a function of images it is called the *transposed convolution*: a map goes in, a
# larger image comes out, each number laying its weighted kernel down. [[08/02]] takes it from there.

# %% covers="cs480:10-circ"
# The transpose: inner products, autograd, torch's transposed convolution.
with after(conv_matrix):
    rng = np.random.default_rng(1)
    K, X, G = rng.normal(size=(3, 2)), rng.normal(size=(5, 6)), rng.normal(size=(3, 5))
    M = conv_matrix(K, 5, 6)
    back = (M.T @ G.ravel()).reshape(5, 6)
    gap = abs((M @ X.ravel()) @ G.ravel() - X.ravel() @ back.ravel())
    claim("⟨Mx, g⟩ = ⟨x, Mᵀg⟩ (gap {gap})", gap < 1e-12, gap=below(1e-12))
    image, kernel, slopes = (torch.tensor(part)[None, None] for part in (X, K, G))
    image.requires_grad_(True)
    functional.conv2d(image, kernel).backward(slopes)
    claim("autograd finds Mᵀ vec(G)", np.allclose(image.grad[0, 0], back))
    turned = functional.conv_transpose2d(slopes, kernel)[0, 0]
    claim("so does torch's transposed convolution", np.allclose(turned, back))

# %% [markdown] covers="cs480:10-pool guo:IV.3.b"
# ## Deeper: where gradients go in a pool
#
# Training sends slopes back. A pool has no weights to change, but it must pass on what arrives. Each number of the pool has a slope $G_{ij}$.
# To which pixels does it belong, and with which share? Ask what would happen if a pixel changed a little: the maximum moves only with the
# pixel that *is* the maximum, and the mean of $n$ pixels moves by a share of $1/n$ with each.


# %% exercise="pool_grad" points=3 difficulty=1 covers="cs480:10-pool guo:IV.3.b"
def pool_grad(X, G, size, stride, mode):
    """The slopes of a loss by the pixels of one map, behind a pool.

    X (h, w): the map. G (rows, cols): the slopes of the loss by the numbers of its
    pool, windows size by size, every stride. mode: "max" or "mean". A pixel in several
    windows collects from all. Of equal largest pixels the first in reading order
    receives all. Returns (h, w).
    X = [[1, 5], [2, 0]], G = [[3]], size 2: [[0, 3], [0, 0]], or "mean" 0.75 each.
    """
    ### BEGIN SOLUTION
    D = np.zeros(X.shape)
    for i, j in np.ndindex(G.shape):
        rows = slice(i * stride, i * stride + size)
        cols = slice(j * stride, j * stride + size)
        if mode == "mean":
            D[rows, cols] += G[i, j] / size**2
        else:
            u, v = divmod(X[rows, cols].argmax(), size)
            D[i * stride + u, j * stride + v] += G[i, j]
    return D
    ### END SOLUTION


# %% check="pool_grad"
check(pool_grad)

# %% covers="cs480:10-pool guo:IV.3.b explainers:4.2.2"
# A digit, its pools, and who receives something.
with after(pool2d, pool_grad):
    grain = np.random.default_rng(0).uniform(0, 0.01, (8, 8))  # no two pixels alike
    image, G = pictures.digits(0, 1)[0][0] + grain, np.ones((4, 4))
    pooled, slopes = {}, {}
    for mode in ("max", "mean"):
        pooled[mode] = pool2d(image[None, None], 2, 2, mode)[0, 0]
        slopes[mode] = pool_grad(image, G, 2, 2, mode)
        same = np.allclose(slopes[mode], pictures.torchs_slopes(image, mode))
        claim(mode + ": autograd sends it there, too", same)
        claim("… and nothing is lost", np.isclose(slopes[mode].sum(), G.sum()))
    show(*pictures.draw_routes(image, pooled, slopes))

# %% [markdown] covers="wu:3.2.2 wu:3.2.6"
# ## Deeper: who is heard
#
# Your table says how far one number sees. Does it hear all pixels alike? Each path from a pixel up through the layers has its product of
# weights. Count paths, all weights 1: the picture shows their shares. Make the network deeper with stride 1. What shape do you get,
# and how much of the field is heard at least half as loud as its middle?

# %% covers="wu:3.2.2 wu:3.2.6"
# Reach by layer, and the paths to each pixel.
explore(
    pictures.draw_reach,
    kernel=IntSlider(3, min=2, max=5, description="kernel"),
    stride=IntSlider(1, min=1, max=2, description="stride"),
    depth=IntSlider(4, min=1, max=6, description="layers"),
)

# %% covers="wu:3.2.2 wu:3.2.6"
# How fast reach grows.
with after(layer_table):
    for name, strides, wanted in (
        ("stride 1", [1] * 6, [3, 5, 7, 9, 11, 13]),
        ("stride 2 from the second layer on", [1] + [2] * 5, [3, 5, 9, 17, 33, 65]),
        ("stride 2 everywhere", [2] * 4, [3, 7, 15, 31]),
    ):
        table = layer_table(1, 400, 400, [(1, 3, stride, 1) for stride in strides])
        reach = [row[4] for row in table]
        claim("3 × 3, " + name + ": {reach}", reach == wanted, reach=str(reach))

# %% covers="wu:3.2.6"
# A blur saves the fence from aliasing.
with after(conv2d, pool2d):
    fence = np.tile([0.0, 1.0], (8, 4))[None, None]
    both, one = (fence, np.roll(fence, 1, axis=3)), np.ones((1, 1, 1, 1))
    first, second = (conv2d(image, one, np.zeros(1), 2) for image in both)
    claim("stride 2: all 0, a pixel later all 1", not first.any() and second.all())
    blurred = [pool2d(image, 2, 2, "mean") for image in both]
    claim("a mean of 2 × 2 first: ½, both times", np.ptp(blurred) == 0)

# %% [markdown] covers="wu:3.2.2 wu:3.2.6"
# So it is the *jump* that doubles with each stride of 2; the reach about doubles with it. What such layers find, edges first, then
# corners and textures, then parts of things, is what one sees in trained networks; that the field must be large enough is
# arithmetic. And note the bell: far pixels are within reach, but hardly heard.

# %% [markdown] covers="guo:IV.3.c cs480:10"
# ## Deeper: sound, words, molecules, turns
#
# What is a neighbour? In an image, the next pixel. In a sound the next moment, in a text the next word: images with one row. A kernel
# two words wide finds pairs, in order. In a molecule atoms are neighbours if they are bound: same weights for each atom, a
# sum over its neighbours in any order. And for images of the sky, where no side is up, one can turn the kernel as well as move it.

# %% covers="guo:IV.3.c cs480:10"
# Your layer on one row: a hidden chirp, and two words.
with after(conv2d):
    rng, t = np.random.default_rng(0), np.arange(40) / 40
    chirp, sound = np.sin(2 * np.pi * (2 + 6 * t) * t), 0.5 * rng.normal(size=400)
    sound[250:290] += chirp
    heard = conv2d(sound[None, None, None], chirp[None, None, None], np.zeros(1))
    same = np.allclose(heard.ravel(), np.correlate(sound, chirp))
    claim("an image of one row: as np.correlate", same)
    claim("the chirp is found where it was hidden, at 250", heard.argmax() == 250)
    texts = "very not good", "good very not", "not very good"
    pair = np.array([[0, 0], [1, 0], [0, 1]])[None, :, None]  # first not, then good
    found = conv2d(pictures.one_hot(texts), pair, np.zeros(1)).max((1, 2, 3)).tolist()
    words = "“not good”, global max pool: {found} in three texts"
    claim(words, found == [2, 0, 1], found="2, 0, 1")

# %% covers="guo:IV.3.c"
# Atoms of ethanol in another order; and quarter turns.
with after(correlate2d):
    rng, (atoms, bonds) = np.random.default_rng(1), pictures.ethanol()
    own, near = rng.normal(
        size=(2, 3, 4)
    )  # weights for an atom, and for its neighbours
    H = atoms @ own + bonds @ atoms @ near
    order = rng.permutation(9)
    mixed, bonds = atoms[order], bonds[order][:, order]
    same = np.allclose(mixed @ own + bonds @ mixed @ near, H[order])
    claim("number the atoms anew: the results are renumbered", same)
    X, K = rng.normal(size=(6, 6)), rng.normal(size=(3, 3))
    turned = correlate2d(np.rot90(X), np.rot90(K))
    same = np.allclose(turned, np.rot90(correlate2d(X, K)))
    claim("turn image and kernel: the map turns", same)
    kernels = [np.rot90(K, quarters) for quarters in range(4)]
    best = [max(correlate2d(A, K).max() for K in kernels) for A in (X, np.rot90(X))]
    claim("the best of four turned kernels does not notice a turn", np.isclose(*best))

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails,
# the right one holds, and a wrong one of the same shape fails too. *Too broad*: a condition is missing.

# %% demo=true covers="cs480:10 cs480:10-stride cs480:10-circ"
# cs480, section 10: texts, a misprint, and names.
texts = {"very not good": [0, 1, 2], "good very not": [2, 0, 1]}
pair = np.array([[0, 0], [1, 0], [0, 1]])  # a detector of "not good", by word and place
best = [
    max((pair * np.eye(3)[order[i : i + 2]].T).sum() for i in range(2))
    for order in texts.values()
]
erratum(
    "cs480:10",
    quote=(
        "These are useful for image processing/classification/segmentation but not for "
        "NLP."
    ),
    corrected=(
        "Along a text, kernels find pairs and triples of words; today they are only "
        "not the usual choice"
    ),
    kind="broad",
    printed_holds=best[0] == best[1],  # do such kernels tell nothing about texts?
    corrected_holds=best == [2, 0],
)
erratum(
    "cs480:10",
    quote="Convolutions have been shown to represent human visual cognition.",
    corrected=(
        "Local receptive fields resemble cells of the early visual cortex; the rest is "
        "an analogy"
    ),
    kind="convention",
)


def windows_same(p):
    """Whether p gives as many windows as pixels: odd a, strides 1 and 2."""
    cases = [(m, a, s) for m in range(8, 40) for a in (3, 5, 7) for s in (1, 2)]
    return all((m + 2 * p(m, a, s) - a) // s + 1 == m for m, a, s in cases)


erratum(
    "cs480:10-stride",
    quote=r"$p = \left\lceil \frac{m(s - a) + a - s}{2} \right\rceil$",
    corrected=r"$p = \lceil \frac{m(s - 1) + a - s}{2} \rceil$, as $q$ beside it",
    kind="error",
    printed_holds=windows_same(lambda m, a, s: -(-(m * (s - a) + a - s) // 2)),
    corrected_holds=windows_same(lambda m, a, s: -(-(m * (s - 1) + a - s) // 2)),
    decoy_holds=windows_same(lambda m, a, s: -(-(m * (s - 1) + a + s) // 2)),
)
erratum(
    "cs480:10-stride",
    quote="Instead of always moving 1-left and 1-down, we can have a larger stride.",
    corrected="The window moves right and down",
    kind="convention",
)
erratum(
    "cs480:10-circ",
    quote=(
        r"Therefore, we can design a circulant matrix  $\mathbf{W}_{\text{circ}}$ "
        " such that"
    ),
    corrected=(
        "A circulant matrix is square; this one is Toeplitz in Toeplitz blocks, rows "
        "1, 2, 4, 5 of a circulant one"
    ),
    kind="convention",
)

# %% demo=true covers="explainers:4.2.1 explainers:4.2.1.box-dims"
# explainers, section 4.2.1: a bias, an index, a name, a bracket.
K, I, b = np.zeros((2, 3, 3)), np.ones((2, 3, 3)), (1.0, 2.0)
layer = functional.conv2d(
    torch.tensor(I)[None], torch.tensor(K)[None], torch.tensor([0.5]).double()
)
erratum(
    "explainers:4.2.1",
    quote=(
        "$I_{c,x+i,y+j} + b_c$ … where  $b_c$  is the filter’s bias in channel  $c$ ."
    ),
    corrected="one number $b$ for each filter: outside of the sum, $c$ has no value",
    kind="error",
    # K = 0: every entry of the map is one and the same number, whichever channel c is
    printed_holds=len({(K * I).sum() + bias for bias in b}) == 1,
    corrected_holds=bool(((K * I).sum() + 0.5 == layer).all()),
    decoy_holds=bool(((K * I).sum() + 2 * 0.5 == layer).all()),
)
X = np.array(
    [
        [2, 4, 9, 1, 4],
        [2, 1, 4, 4, 6],
        [1, 1, 2, 9, 2],
        [7, 3, 5, 1, 3],
        [2, 3, 4, 8, 5],
    ]
)
K = pictures.KERNELS["vertical edge"]


def entry(i, j, start):
    """The printed sum for i, j; x and y go from 1 to 3, rows and columns from 1."""
    return sum(
        K[x - 1, y - 1] * X[x + i - start - 1, y + j - start - 1]
        for x in range(1, 4)
        for y in range(1, 4)
    )


erratum(
    "explainers:4.2.1",
    quote=(
        r"$F_{i,j} = \sum_{c=1}^C \sum_{x=1}^k \sum_{y=1}^k K_{c,x,y} \cdot "
        r"I_{c,x+i,y+j}$"
    ),
    corrected=r"$I_{c,\,x+i-1,\,y+j-1}$, if $i, j$ count from 1, as $x$ and $y$ do",
    kind="broad",
    printed_holds=entry(1, 1, 0) == 12,  # Figure 20: the first entry is 12
    corrected_holds=entry(1, 1, 1) == 12,
)
erratum(
    "explainers:4.2.1",
    quote=(
        r"the feature map  $F = K * I \in \mathbb{R}^{W' \times H'}$  is the "
        r"convolution of  $K$  over  $I$"
    ),
    corrected=(
        "Without a turn of the kernel it is a cross-correlation; the field says "
        "convolution"
    ),
    kind="convention",
)


def sizes_agree(size):
    """Whether a formula counts the windows that fit, in all small cases."""
    cases = [(m, a, s) for m in range(5, 13) for a in range(1, 6) for s in range(1, 5)]
    return all(size(m, a, s) == len(pictures.starts(m, a, s, 1)) for m, a, s in cases)


erratum(
    "explainers:4.2.1.box-dims",
    quote=r"$W' = \left\lceil \frac{W + 2P - k}{S} \right\rceil + 1$",
    corrected=r"$W' = \lfloor \frac{W + 2P - k}{S} \rfloor + 1$, and so for $H'$",
    kind="error",
    printed_holds=sizes_agree(lambda m, a, s: -(-(m + 2 - a) // s) + 1),
    corrected_holds=sizes_agree(lambda m, a, s: (m + 2 - a) // s + 1),
    decoy_holds=sizes_agree(lambda m, a, s: (m + 2 - a) // s),
)

# %% demo=true covers="guo:IV.3 guo:IV.3.c wu:3.2.4 wu:3.2.8"
# guo IV.3 and wu 3.2: invariance, a molecule, a habit, a limit.
rows = [np.eye(8)[2], np.eye(8)[4]]  # a point, and the point moved by two
maps = [np.correlate(row, [1.0, 2.0, 3.0]) for row in rows]
erratum(
    "guo:IV.3",
    quote=(
        "The convolution network preserves **spacial locality**, and have **coordinate "
        "invariant**."
    ),
    corrected=(
        "Convolution is equivariant: its map moves along. Invariance needs something "
        "like a global pool after it"
    ),
    kind="broad",
    printed_holds=np.array_equal(*maps),
    corrected_holds=np.array_equal(maps[1][2:], maps[0][:-2])
    and maps[0].max() == maps[1].max(),
)
carbons = {"methanol": "CH3OH".count("C"), "ethanol": "CH3CH2OH".count("C")}
erratum(
    "guo:IV.3.c",
    quote="Graphs of molecules, such as a ways of writing methanol ( $C_2H_5OH$ ).",
    corrected=r"$C_2H_5OH$ is ethanol; methanol is $CH_3OH$",
    kind="error",
    printed_holds=carbons["methanol"] == 2,
    corrected_holds=carbons["ethanol"] == 2,
    decoy_holds="CH3CH2CH2OH".count("C") == 2,  # propanol
)
erratum(
    "wu:3.2.4",
    quote=r"For meaningful composition: $d_l > d_{l-1} (3.16)$",
    corrected=(
        "A habit where resolution falls. Layers that keep or reduce the channels "
        "compose as well, as in (3.32)"
    ),
    kind="broad",
    # 1 channel in, 1 out: two blurs make a wider blur
    printed_holds=np.array_equal(np.convolve([1, 1], [1, 1]), [1, 1]),
    corrected_holds=np.array_equal(np.convolve([1, 1], [1, 1]), [1, 2, 1]),
)
h, W = torch.ones(1, 64, 5, 5), torch.ones(2, 64, 3, 3)  # r = 1, 64 channels in
sums = [functional.conv2d(h[:, :c], W[:, :c])[0, 0, 0, 0].item() for c in (1, 64, 2)]
whole = functional.conv2d(h, W)[0, 0, 0, 0].item()
erratum(
    "wu:3.2.8",
    quote=(
        r"$\sum_{c=1}^{r} \sum_{\Delta i = -r}^{r} \sum_{\Delta j = -r}^{r} "
        r"W_{k,c,\Delta i,\Delta j}$"
    ),
    corrected=r"$\sum_{c=1}^{d_{l-1}}$: all channels, not as many as the reach $r$",
    kind="error",
    printed_holds=sums[0] == whole,
    corrected_holds=sums[1] == whole,
    decoy_holds=sums[2] == whole,
)

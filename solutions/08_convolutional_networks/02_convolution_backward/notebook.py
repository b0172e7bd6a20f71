# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="the slopes of a whole convolutional network, by hand and at any stride" covers="wu:3.3"
# # Backprop through convolutions
#
# A network reads a digit. To see what it looks at, you ask for the slope of its answer by every pixel: where a pixel matters, the
# slope is large. You do that for 200 digits and draw the root of the mean square. Out comes a *grid*, as if the network looked through a
# fence. No digit has a grid in it, and the network has not even been trained.
#
# A second network has windows of $4 \times 4$ in place of $3 \times 3$, and no grid.
#
# **Who put the grid there?** To find out, follow the slopes back through the layers, number by number. You will write all of
# them yourself, and then watch whether training takes the grid away.

# %%
# What this notebook needs.
import numpy as np
import torch
from ipywidgets import IntSlider
from scipy.special import log_softmax
from torch.nn import functional

from descent import after, below, check, claim, erratum, explore, hint
from descent import predict, show, solution, start
from descent.pictures.convolutional_networks import convolution_backward as pictures

start("08_convolutional_networks/02_convolution_backward")

# %% covers="wu:3.3"
# Two networks with random weights: how much each pixel matters.
show(*pictures.draw_puzzle())

# %% [markdown] covers="wu:3.3 wu:3.3.3"
# ## 1. The layer, once more
#
# In [[08/01]] each place $(i, j)$ of the window met the whole kernel. The sum can be read the other way round, too: each place $(u, v)$ of the
# *kernel* meets the whole image, moved by $(u, v)$. With $P$ for the image with its zeros and $s$ for the stride, kernel $o$ makes of the
# channels $c$ (in shapes the same letters say how many there are)
#
# $$F_{oij} = b_o + \sum_{c}\sum_{u, v} W_{ocuv}\, P_{c,\,si+u,\,sj+v} .$$


# %% open=true covers="wu:3.3.3"
def conv2d(X, W, b, stride=1, pad=0):
    """X (n, c, h, w), W (o, c, a, k), b (o,) -> (n, o, rows, cols)."""
    P, (a, k) = np.pad(X, ((0, 0), (0, 0), (pad, pad), (pad, pad))), W.shape[2:]
    rows, cols = (P.shape[2] - a) // stride + 1, (P.shape[3] - k) // stride + 1
    F = np.zeros((len(X), len(W), rows, cols)) + b[:, None, None]
    for u, v in np.ndindex(a, k):  # the pixels that meet W[:, :, u, v]
        seen = P[:, :, u::stride, v::stride][:, :, :rows, :cols]
        F += np.einsum("oc,ncij->noij", W[:, :, u, v], seen)
    return F


# %% [markdown] covers="wu:3.3.3"
# Behind the layer something computes one number from $F$, say $J$. Suppose that its slopes $G_{oij} = \partial J/\partial F_{oij}$ have
# arrived. What are the slopes by $W$, $b$ and $X$?
#
# First you want a judge that knows nothing of convolutions. Nudge one number $z$ up, then down, and compare:
#
# $$\frac{\partial J}{\partial z} \approx \frac{J(z + \varepsilon) - J(z - \varepsilon)}{2\varepsilon} .$$
#
# It is far too slow to train with, and just right to test with.


# %% exercise="nudge_slopes" points=2 difficulty=1 covers="wu:3.3 wu:3.3.3"
def nudge_slopes(J, A, eps):
    """The slopes of J by all entries of A, each by two nudges, as above.

    J: function, array like A -> number. A: array of any shape, left unchanged; it may
    hold whole numbers. eps > 0. While one entry is nudged, the others stay.
    Returns an array of A's shape.
    J = lambda A: (A**2).sum(), A = [[1, 2]], eps = 0.5 gives [[2, 4]].
    """
    ### BEGIN SOLUTION
    D = np.zeros(A.shape)
    for place in np.ndindex(A.shape):
        nudge = np.zeros(A.shape)
        nudge[place] = eps
        up = J(A + nudge)
        down = J(A - nudge)
        D[place] = (up - down) / (2 * eps)
    return D
    ### END SOLUTION


# %% check="nudge_slopes"
check(nudge_slopes)

# %% [markdown] covers="wu:3.3.3 explainers:4.5.3"
# ## 2. Who has seen this pixel?
#
# On the left an image, on the right the map of one kernel with the weights 1, 2, 3, … Drag the blue pixel: the map shows who sees it, and
# through which weight. Drag the orange number: the image shows its window, and where its slope goes.
#
# 1. Stride 1, a pixel in the middle: read the weights on the right row by row. What has happened to the kernel?
# 2. Stride 2: walk the pixel along a row. How many numbers see it?
# 3. Can you find a pixel that nobody sees?

# %% covers="wu:3.3.3 explainers:4.5.3"
# Drag the pixel on the left, or the number on the right.
explore(
    pictures.draw_paths,
    drag={("col", "row"): "image", ("j", "i"): "map"},
    col=IntSlider(4, min=0, max=8, description="pixel: column"),
    row=IntSlider(4, min=0, max=8, description="pixel: row"),
    j=IntSlider(3, min=0, max=7, description="number: column"),
    i=IntSlider(3, min=0, max=7, description="number: row"),
    size=IntSlider(3, min=2, max=4, description="kernel"),
    stride=IntSlider(1, min=1, max=3, description="stride"),
)

# %% predict="who-hears" minutes=1 covers="wu:3.3.3"
predict(
    "who-hears",
    "A large image, a 3 × 3 kernel, stride 2. How many numbers of the map see a pixel "
    "far from the edge?",
    ["4", "9", "2 or 4", "1, 2 or 4"],
    truth=[[4], [9], [2, 4], [1, 2, 4]].index(pictures.listeners(3, 2)),
    because="Windows start at even rows. An even row is the first row of one window "
    "and the last of another; an odd one is the middle of one. So 2 or 1, and the same "
    "for columns: 4, 2 or 1.",
)

# %% [markdown] covers="wu:3.3.3 explainers:4.5.3"
# So a pixel reaches $J$ through every number that sees it, and the chain rule adds these ways up:
#
# $$\frac{\partial J}{\partial P_{cpq}} = \sum_{o}\; \sum_{si+u = p,\; sj+v = q} W_{ocuv}\; G_{oij} .$$
#
# Seen from the pixel that sum is awkward: which $(i, u)$ fit? Seen from the *numbers* it is easy. Each one sends its slope
# to all pixels of its window, weighted by the kernel, and what arrives at a pixel adds up. On the way forward each number
# *collects*; on the way back it *spreads*. Zeros around the image receive something, too, but they are no pixels.


# %% exercise="input_slopes" points=4 difficulty=1 covers="wu:3.3.3 explainers:4.5.3"
def input_slopes(G, W, h, w, stride=1, pad=0):
    """The slopes of J by the pixels of X, where F = conv2d(X, W, b, stride, pad).

    G (n, o, rows, cols): the slopes by F. W (o, c, a, k). X has h rows and w columns.
    Pixels in no window have slope 0. Returns (n, c, h, w).
    G = [[[[1, 10]]]], W = [[[[1, 2]]]], h = 1, w = 3 gives [[[[1, 12, 20]]]], and
    with w = 5, stride 2: [[[[1, 2, 10, 20, 0]]]].
    """
    ### BEGIN SOLUTION
    n, o, rows, cols = G.shape
    c, a, k = W.shape[1:]
    D = np.zeros((n, c, h + 2 * pad, w + 2 * pad))
    for i in range(rows):
        for j in range(cols):
            share = np.tensordot(G[:, :, i, j], W, 1)
            top, left = i * stride, j * stride
            D[:, :, top : top + a, left : left + k] += share
    return D[:, :, pad : pad + h, pad : pad + w]
    ### END SOLUTION


# %% check="input_slopes"
check(input_slopes)

# %% covers="wu:3.3.3 explainers:4.5.3"
# Nudged, by inner products, as a layer with turned kernels, by torch.
with after(nudge_slopes, input_slopes):
    rng = np.random.default_rng(0)
    X, W, b = (rng.normal(size=size) for size in ((2, 3, 6, 7), (4, 3, 3, 2), 4))
    for stride, pad in ((1, 0), (2, 1), (3, 2)):
        F = conv2d(X, W, b, stride, pad)
        G = rng.normal(size=F.shape)

        def J(A, W=W, G=G, stride=stride, pad=pad):
            return (G * np.tanh(conv2d(A, W, b, stride, pad))).sum()

        back = input_slopes(G * (1 - np.tanh(F) ** 2), W, 6, 7, stride, pad)
        same = np.allclose(nudge_slopes(J, X, 1e-4), back, atol=1e-6)
        claim("stride {s}, padding {p}: as nudged", same, s=stride, p=pad)
        still = conv2d(X, W, 0 * b, stride, pad)
        gap = abs((still * G).sum() - (X * input_slopes(G, W, 6, 7, stride, pad)).sum())
        claim("… and ⟨conv X, G⟩ = ⟨X, back G⟩", gap < 1e-10)
    G, W = rng.normal(size=(1, 4, 4, 5)), rng.normal(size=(4, 3, 3, 3))
    back = input_slopes(G, W, 6, 7)
    around = np.pad(G, ((0, 0), (0, 0), (2, 2), (2, 2)))
    turned = W.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1]
    full = conv2d(around, turned, np.zeros(3))
    same = np.allclose(full, back)
    claim("stride 1: a layer with turned kernels, zeros around", same)
    torchs = functional.conv_transpose2d(torch.tensor(G), torch.tensor(W))
    claim("torch calls it conv_transpose2d", np.allclose(torchs, back))

# %% [markdown] covers="wu:3.3.3 explainers:4.5.3"
# The inner products are a test worth keeping: without the bias, whatever $X$ and $G$ are, $\langle \mathrm{conv}\,X, G\rangle = \langle X, \mathrm{back}\,G\rangle$,
# as $(Mx)^\top g = x^\top (M^\top g)$. Backward is the *transpose* of forward. Hence the name **transposed convolution**.
#
# ## 3. One weight, every place
#
# A pixel is used by a few windows, a weight by *all*: at each place $(i, j)$, in each image. So its slope is a sum over all of
# them. What does $W_{ocuv}$ multiply on its way into $F_{oij}$? And what multiplies $b_o$?


# %% exercise="weight_slopes" points=3 difficulty=1 covers="wu:3.3.3 explainers:4.5.3"
def weight_slopes(X, G, a, k, stride=1, pad=0):
    """The slopes of J by W and b, where F = conv2d(X, W, b, stride, pad).

    X (n, c, h, w). G (n, o, rows, cols): the slopes by F. Kernels are a by k.
    Returns dW (o, c, a, k) and db (o,): sums over all images and places.
    X = [[[[1, 2, 3]]]], G = [[[[1, 10]]]], a = 1, k = 2 gives dW = [[[[21, 32]]]] and
    db = [11].
    """
    ### BEGIN SOLUTION
    rows, cols = G.shape[2:]
    P = np.pad(X, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    dW = np.zeros((G.shape[1], X.shape[1], a, k))
    for u in range(a):
        for v in range(k):
            seen = P[:, :, u::stride, v::stride][:, :, :rows, :cols]
            dW[:, :, u, v] = np.einsum("noij,ncij->oc", G, seen)
    return dW, G.sum((0, 2, 3))
    ### END SOLUTION


# %% check="weight_slopes"
check(weight_slopes)

# %% covers="wu:3.3.3 explainers:4.5.3"
# Nudged; as a correlation of image and slopes; by autograd.
with after(nudge_slopes, input_slopes, weight_slopes):
    rng = np.random.default_rng(1)
    X, W, b = (rng.normal(size=size) for size in ((2, 3, 6, 7), (4, 3, 3, 2), 4))
    G = rng.normal(size=conv2d(X, W, b, 2, 1).shape)
    dW, db = weight_slopes(X, G, 3, 2, 2, 1)
    nudged = nudge_slopes(lambda A: (G * conv2d(X, A, b, 2, 1)).sum(), W, 1e-4)
    claim("the kernels: as nudged", np.allclose(nudged, dW, atol=1e-6))
    nudged = nudge_slopes(lambda A: (G * conv2d(X, W, A, 2, 1)).sum(), b, 1e-4)
    claim("the biases: as nudged", np.allclose(nudged, db, atol=1e-6))
    image, map_ = X[:1, :1], rng.normal(size=(1, 1, 4, 6))
    slid = conv2d(image, map_, np.zeros(1))
    same = np.allclose(weight_slopes(image, map_, 3, 2)[0], slid)
    claim("stride 1: the map of slopes, slid over the image as a kernel", same)
    same = []
    for stride, pad, a, k in np.ndindex(3, 3, 3, 3):
        stride, a, k = stride + 1, a + 1, k + 1
        W, b = rng.normal(size=(4, 3, a, k)), rng.normal(size=4)
        G = rng.normal(size=conv2d(X, W, b, stride, pad).shape)
        torchs = pictures.torchs_slopes(X, W, b, G, stride, pad)
        mine = (
            input_slopes(G, W, 6, 7, stride, pad),
            *weight_slopes(X, G, a, k, stride, pad),
        )
        same.append(all(np.allclose(*pair) for pair in zip(mine, torchs)))
    claim("autograd, {n} layers: same dX, dW, db", all(same), n=len(same))

# %% [markdown] covers="wu:3.3.4"
# ## 4. What a stride leaves out
#
# Stride $s$ is stride 1, and then **subsampling**: of $h \times w$ numbers keep those at rows and columns $0, s, 2s, \dots$, and forget
# the others. What slope does a number have that was forgotten?


# %% exercise="subsample_backward" points=2 difficulty=1 covers="wu:3.3.4"
def subsample_backward(G, s, h, w):
    """The slopes by all numbers of the maps A, of which F = A[:, :, ::s, ::s] are kept.

    G (n, c, rows, cols): the slopes by F. A has h rows and w columns.
    Returns (n, c, h, w).
    G = [[[[1, 2]]]], s = 2, h = 1, w = 4 gives [[[[1, 0, 2, 0]]]].
    """
    ### BEGIN SOLUTION
    D = np.zeros((*G.shape[:2], h, w))
    D[:, :, ::s, ::s] = G
    return D
    ### END SOLUTION


# %% check="subsample_backward"
check(subsample_backward)

# %% covers="wu:3.3.4 explainers:4.5.3"
# Inner products; a stride in two steps; a max pool by subsamplings.
with after(input_slopes, subsample_backward):
    rng = np.random.default_rng(2)
    A, G = rng.normal(size=(2, 3, 7, 8)), rng.normal(size=(2, 3, 3, 3))
    back = subsample_backward(G, 3, 7, 8)
    gap = abs((A[:, :, ::3, ::3] * G).sum() - (A * back).sum())
    claim("⟨keep A, G⟩ = ⟨A, back G⟩ (gap {gap})", gap < 1e-12, gap=below(1e-12))
    one, W = np.zeros((1, 1, 4, 4)), rng.normal(size=(3, 2, 3, 3))
    one = subsample_backward(one[:, :, ::2, ::2] + 1, 2, 4, 4)
    same = (one == 1).sum() == 4 and (one == 0).sum() == 12
    claim("4 × 4, every other kept: 4 slopes of 1, 12 of 0", same)
    apart = input_slopes(subsample_backward(G, 2, 5, 5), W, 7, 7)
    same = np.allclose(apart, input_slopes(G, W, 7, 7, 2))
    claim("stride 2: zeros in between, then stride 1", same)
    A, G, back = rng.normal(size=(2, 3, 6, 8)), rng.normal(size=(2, 3, 3, 4)), 0
    best = functional.max_pool2d(torch.tensor(A), 2).numpy()
    for u, v in np.ndindex(2, 2):  # subsamplings that start at (u, v)
        won = A[:, :, u::2, v::2] == best
        part = subsample_backward(G * won, 2, 6, 8)
        back = back + np.roll(part, (u, v), (2, 3))
    same = np.allclose(back, pictures.torchs_pool_slopes(A, G))
    claim("a max pool sends each slope to the number that won", same)

# %% [markdown] covers="wu:3.3 wu:3.3.1 wu:3.3.2"
# ## 5. A whole network
#
# Now stack layers. Each is followed by ReLU, but the last: its kernels are as large as the map that they see, so they give
# one number for each class, the *scores*. In [[08/01]] you saw that such a layer is a dense one. Take the mean log-likelihood of
# the right classes,
#
# $$J = \frac1n \sum_{m} \log p_m(\text{right class}), \qquad p_m = \text{softmax of the scores of image } m,$$
#
# so $J$ is to *grow*. It is the negative of the loss in [[07/02]]. So its slope by the scores is $\frac1n (y - p)$, with $y$ one-hot. Through
# ReLU a slope passes where the number before was positive; elsewhere, also at 0, it is 0.
#
# Remember on the way up what you need on the way down.


# %% exercise="cnn_slopes" points=5 difficulty=1 covers="wu:3.3 wu:3.3.1 wu:3.3.2 wu:3.3.3 explainers:4.5.3"
def cnn_slopes(X, Y, layers):
    """J of a convolutional network, and its slopes by all weights, biases and pixels.

    X (n, c, h, w). Y (n, K), one-hot rows. layers: (W, b, stride, pad) of each, from
    the image on, as conv2d takes them; at least one. ReLU after each but the last,
    which gives (n, K, 1, 1). Natural logarithm; scores of 900 and -900 give finite
    results.
    Returns J, slopes, dX: a number, a list with (dW, db) of each layer in the order of
    `layers`, and (n, c, h, w). Use conv2d and your functions.
    X = [[[[1]]]], Y = [[1, 0]], layers = [([[[[0]]], [[[0]]]], [0, 0], 1, 0)]:
    J = -log 2, dW = [[[[0.5]]], [[[-0.5]]]], db = [0.5, -0.5], dX = [[[[0]]]].
    """
    ### BEGIN SOLUTION
    H, kept = X, []
    for W, b, stride, pad in layers:
        S = conv2d(H, W, b, stride, pad)
        kept.append((H, S))
        H = np.maximum(S, 0)
    log_p = log_softmax(S.reshape(Y.shape), axis=1)
    J = (Y * log_p).sum() / len(X)
    G = (Y - np.exp(log_p)).reshape(S.shape) / len(X)
    slopes = []
    for l in reversed(range(len(layers))):
        W, b, stride, pad = layers[l]
        H, S = kept[l]
        if l < len(layers) - 1:
            G = G * (S > 0)
        slopes.append(weight_slopes(H, G, *W.shape[2:], stride, pad))
        G = input_slopes(G, W, *H.shape[2:], stride, pad)
    return J, slopes[::-1], G
    ### END SOLUTION


# %% check="cnn_slopes"
check(cnn_slopes)

# %% covers="wu:3.3 wu:3.3.1 wu:3.3.2 wu:3.3.3"
# The whole network nudged; its top; its dense layers as matrices.
with after(nudge_slopes, cnn_slopes):
    layers = pictures.network(3, 2, 7, channels=(2, 3), classes=4, seed=3)
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(3, 1, 7, 7)), np.eye(4)[[2, 0, 3]]
    J, slopes, dX = cnn_slopes(X, Y, layers)
    nudged = nudge_slopes(lambda A: cnn_slopes(A, Y, layers)[0], X, 1e-5)
    claim("all {n} pixels: as nudged", np.allclose(nudged, dX, atol=1e-7), n=X.size)
    (W, b, *rest), *above = layers
    nudged = nudge_slopes(
        lambda A: cnn_slopes(X, Y, [(A, b, *rest), *above])[0], W, 1e-5
    )
    claim("the first kernels: as nudged", np.allclose(nudged, slopes[0][0], atol=1e-7))
    h, (V, c) = rng.normal(size=(1, 5, 1, 1)), (rng.normal(size=(4, 5)), np.zeros(4))
    top = [(V[:, :, None, None], c, 1, 0)]
    _, [(dV, dc)], dh = cnn_slopes(h, Y[:1], top)
    s, x = V @ h.ravel(), h.ravel()
    p = np.exp(s) / np.exp(s).sum()
    claim("the scores: y − p", np.allclose(dc, Y[0] - p))
    same = np.allclose(dh.ravel(), V.T @ (Y[0] - p))
    claim("a dense layer: Wᵀ(y − p) down …", same)
    same = np.allclose(dV[:, :, 0, 0], np.outer(Y[0] - p, x))
    claim("… and (y − p) hᵀ for its weights", same)
    U = rng.normal(size=(5, 6))
    hidden, x = [(U[:, :, None, None], np.ones(5), 1, 0), *top], rng.normal(size=6)
    _, [(dU, _), _], _ = cnn_slopes(x[None, :, None, None], Y[:1], hidden)
    S = U @ x + 1
    s = V @ np.maximum(S, 0)
    G = V.T @ (Y[0] - np.exp(s) / np.exp(s).sum()) * (S > 0)
    same = np.allclose(dU[:, :, 0, 0], np.outer(G, x))
    claim("hidden: times the slope of ReLU first", same)

# %% [markdown] covers="wu:3.3 explainers:4.5.3"
# ## 6. The grid
#
# Now follow the grid back. Give every number of the last map the slope 1, and let all weights be 1. Then your `input_slopes`
# counts *paths*: in how many ways a pixel gets heard.

# %% predict="no-grid" minutes=1 covers="wu:3.3.3"
predict(
    "no-grid",
    "Stride 2. Kernels of which sizes give all pixels, far from the edge, equally "
    "many paths?",
    ["3 × 3 and 5 × 5", "2 × 2 and 4 × 4", "All", "None"],
    truth=[
        tuple(a for a in (2, 3, 4, 5) if len(pictures.listeners(a, 2)) == 1) == sizes
        for sizes in ((3, 5), (2, 4), (2, 3, 4, 5), ())
    ].index(True),
    because="Each row takes those weights of the kernel that lie a stride apart. If "
    "the stride divides the size, every row gets equally many; else some get one more.",
)

# %% covers="wu:3.3 wu:3.3.3 explainers:4.5.3"
# Paths; slopes before training, and after 30 steps by your gradients.
with after(input_slopes, cnn_slopes, "no-grid"):
    images, labels, tests, truth = pictures.readings(23)
    layers, Y, other = pictures.network(3, 2, 23), np.eye(10)[labels], np.eye(10)[truth]
    paths = np.ones((1, 1, 5, 5))
    for size in (11, 23):
        paths = input_slopes(paths, np.ones((1, 1, 3, 3)), size, size, 2)

    def slopes_by_pixel(layers, tests=tests, other=other):
        return np.sqrt((cnn_slopes(tests, other, layers)[2] ** 2).mean((0, 1)))

    maps, Js = [slopes_by_pixel(layers)], []
    for _ in range(30):
        J, slopes, _ = cnn_slopes(images, Y, layers)
        Js.append(J)
        layers = [
            (W + 0.1 * dW, b + 0.1 * db, stride, pad)
            for (W, b, stride, pad), (dW, db) in zip(layers, slopes)
        ]
    maps.append(slopes_by_pixel(layers))
    right = pictures.right(tests, truth, layers)
    up = min(np.diff(Js)) > 0 and Js[0] < -2.2 and Js[-1] > -1.3
    claim("your gradients: J grows at each step, from below −2.2 to above −1.3", up)
    claim("more than two in three new digits are read right by now", right > 2 / 3)
    follows = np.corrcoef(np.sqrt(paths[0, 0]).ravel(), maps[0].ravel())[0, 1]
    claim("untrained: slopes follow the paths", follows > 0.6)
    grids = [pictures.grid(part) for part in maps]
    claim(
        "even rows and columns: 1.5 times the odd and more, before and after",
        min(grids) > 1.5,
    )
    show(*pictures.draw_grid(paths[0, 0], maps), digits=1)

# %% [markdown] covers="wu:3.3 wu:3.3.3 explainers:4.5.3"
# ## Take-aways
#
# - Forward collects, backward spreads: each number sends its slope to its window, weighted by the kernel. It is the transpose of
#   forward; for stride 1, a layer with turned kernels.
# - A weight is used at every place: its slope is a sum over places. A bias collects all slopes of its map.
# - What was forgotten, by a stride or a pool, has slope 0.
# - **Who put the grid there:** the wiring. With stride 2 and $3 \times 3$ windows pixels have 4, 2 or 1 listeners, whatever digits
#   and weights. Thirty training steps have not removed it. Sizes that the stride divides give all
#   pixels away from the edge equally many.
# - Two tests find nearly every slip: nudges, and, without bias, $\langle \mathrm{conv}\,X, G\rangle = \langle X, \mathrm{back}\,G\rangle$.
#
# Next: [[next]].

# %% [markdown] covers="explainers:4.5.3"
# ## Deeper: only the winner hears
#
# A max pool keeps the largest number of each window. Nudge any other a little: nothing happens. So its backward is a subsampling with a
# map of its own for each window. Windows may overlap, and one number may win several. What does it hear then?
#
# (For one map you may have written it in [[08/01]], as `pool_grad`. Here for images and channels.)


# %% exercise="pool_backward" points=2 difficulty=1 covers="explainers:4.5.3"
def pool_backward(X, G, size, stride):
    """The slopes of J by X, of which a max pool keeps the largest of each window.

    X (n, c, h, w). Windows are size by size and start at every stride-th row and
    column, as long as they fit. G (n, c, rows, cols): the slopes by what is kept.
    Where several are largest, the first is kept, in the order of reading.
    Returns (n, c, h, w).
    X = [[[[1, 5, 2], [3, 4, 0]]]], G = [[[[10, 1]]]], size 2, stride 1 gives
    [[[[0, 11, 0], [0, 0, 0]]]].
    """
    ### BEGIN SOLUTION
    D = np.zeros(X.shape)
    for n, c, i, j in np.ndindex(G.shape):
        top, left = i * stride, j * stride
        window = X[n, c, top : top + size, left : left + size]
        u, v = np.unravel_index(window.argmax(), window.shape)
        D[n, c, top + u, left + v] += G[n, c, i, j]
    return D
    ### END SOLUTION


# %% check="pool_backward"
check(pool_backward)

# %% covers="explainers:4.5.3"
# Max pools by autograd; and a mean pool, which is a layer.
with after(input_slopes, pool_backward):
    rng, same = np.random.default_rng(6), []
    for size, stride in ((2, 2), (3, 2), (3, 1), (2, 3)):
        A = rng.integers(0, 4, (2, 3, 7, 8)) * 1.0  # with ties
        G = rng.normal(size=functional.max_pool2d(torch.tensor(A), size, stride).shape)
        torchs = pictures.torchs_pool_slopes(A, G, size, stride)
        same.append(np.allclose(pool_backward(A, G, size, stride), torchs))
    claim("autograd, {n} pools: same slopes, ties included", all(same), n=len(same))
    A, G = rng.normal(size=(2, 1, 7, 8)), rng.normal(size=(2, 1, 3, 3))
    torchs = pictures.torchs_pool_slopes(A, G, 3, 2, functional.avg_pool2d)
    mean = input_slopes(G, np.full((1, 1, 3, 3), 1 / 9), 7, 8, 2)
    claim("a mean pool: kernels of 1/9, slopes shared alike", np.allclose(mean, torchs))

# %% [markdown] covers="wu:3.3.3 explainers:4.5.3"
# ## Deeper: a layer that enlarges
#
# A network that *paints* makes small maps large. So use the backward of a layer as a layer: numbers in, kernels laid down, a
# stride apart. From $r$ rows come $(r - 1)s + a - 2p$: the formula for windows, turned round. (Stride 2 and
# 3 rows of kernel make 3 rows from 7 and from 8 alike, so the way back has a choice; this one is the smallest.)
#
# Now write it as an ordinary layer, with `conv2d` at stride 1: put $s - 1$ zeros between neighbours, zeros
# around, turn the kernels. How many zeros around, if $p$ rows and columns are cut off afterwards?


# %% exercise="conv_transpose2d" points=3 difficulty=1 covers="wu:3.3.3 explainers:4.5.3"
def conv_transpose2d(G, W, b, stride=1, pad=0):
    """Lay down the kernels W, weighted by the numbers of G, a stride apart; add up.

    G (n, o, rows, cols). W (o, c, a, k), as in input_slopes. b (c,) is added to each
    pixel of its channel. pad: so many rows and columns are cut off at each of the four
    sides; less than a and k.
    Returns (n, c, h, w) with h = (rows - 1) * stride + a - 2 * pad, and w alike.
    G = [[[[1, 10]]]], W = [[[[1, 2]]]], b = [0.5], stride 2 gives
    [[[[1.5, 2.5, 10.5, 20.5]]]].
    """
    ### BEGIN SOLUTION
    n, o, rows, cols = G.shape
    a, k = W.shape[2:]
    h, w = (rows - 1) * stride + 1, (cols - 1) * stride + 1
    apart = np.zeros((n, o, h, w))
    apart[:, :, ::stride, ::stride] = G
    tall, wide = a - 1 - pad, k - 1 - pad
    around = np.pad(apart, ((0, 0), (0, 0), (tall, tall), (wide, wide)))
    turned = W[:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
    return conv2d(around, turned, b)
    ### END SOLUTION


# %% check="conv_transpose2d"
check(conv_transpose2d)

# %% covers="wu:3.3.3 explainers:4.5.3"
# Two roads, one result; torch's; and the matrix.
with after(input_slopes, conv_transpose2d):
    rng, same = np.random.default_rng(4), []
    for stride, pad, a in ((1, 0, 3), (2, 1, 4), (3, 0, 2), (2, 1, 3)):
        G, W, b = (rng.normal(size=size) for size in ((2, 4, 3, 5), (4, 3, a, a), 3))
        large = conv_transpose2d(G, W, b, stride, pad)
        h, w = large.shape[2:]
        spread = input_slopes(G, W, h, w, stride, pad) + b[:, None, None]
        torchs = functional.conv_transpose2d(
            *(torch.tensor(part) for part in (G, W, b)), stride, pad
        )
        same.append(np.allclose(large, spread) and np.allclose(large, torchs))
    claim("spread, or zeros between and turned kernels: as torch", all(same))
    K, pixels = rng.normal(size=(1, 1, 3, 2)), np.eye(20).reshape(20, 1, 4, 5)
    M = conv2d(pixels, K, np.zeros(1), 2, 1).reshape(20, -1).T  # a column a pixel
    G = rng.normal(size=(1, 1, 2, 3))
    back = (M.T @ G.ravel()).reshape(4, 5)
    claim("Mᵀ vec(G)", np.allclose(input_slopes(G, K, 4, 5, 2, 1)[0, 0], back))
    seven, eight = (len(range(0, h - 2, 2)) for h in (7, 8))
    claim("3 rows from 7 and from 8", (seven, eight) == (3, 3))

# %% [markdown] covers="wu:3.3.3"
# The same wiring that made the grid now paints it: a plain grey map, kernels of ones, and the picture below. Such patterns, *checkerboard
# artefacts*, are seen in painted images. Which sizes and strides avoid them?

# %% covers="wu:3.3.3"
# What an even map becomes.
explore(
    pictures.draw_coverage,
    size=IntSlider(3, min=1, max=6, description="kernel"),
    stride=IntSlider(2, min=1, max=4, description="stride"),
)

# %% [markdown] covers="wu:3.3.3"
# Equal counts help at the start; learned weights can still favour one row over the next. A safer way is to enlarge first, each
# pixel copied to $s \times s$, and then to use a layer of stride 1.

# %% [markdown] covers="wu:3.3.5"
# ## Deeper: who has to wait
#
# Why do graphics cards like convolutions? Ask which numbers have to wait for others. Within a layer, none: images, places and kernels are
# independent of each other. Each number is a sum of $c\,a\,k$ products, which can be made at once, too, and then be added. Layers wait for each
# other.
#
# Count work before you buy a machine, in products. For each product of the way forward (weight times pixel) the way back makes two: weight
# times slope, for the layer below, and pixel times slope, for the weights. Which layer need not do one of these, in training?


# %% exercise="training_work" points=2 difficulty=1 covers="wu:3.3.5"
def training_work(n, c, h, w, layers):
    """Products in one step of training, forward and backward, of each layer.

    n images with c channels, h rows and w columns. layers: (channels, size, stride,
    pad) of each, from the image on. Products with zeros around count as well.
    Nobody needs slopes by the pixels of the images.
    Returns a row for each layer: (numbers, terms, forward, backward). numbers: how many
    it computes, for all images; terms: products in each of them.
    training_work(10, 3, 5, 5, [(4, 3, 2, 0)]) gives [(160, 27, 4320, 4320)].
    """
    ### BEGIN SOLUTION
    table = []
    for channels, size, stride, pad in layers:
        h = (h + 2 * pad - size) // stride + 1
        w = (w + 2 * pad - size) // stride + 1
        numbers = n * channels * h * w
        terms = c * size * size
        forward = numbers * terms
        backward = 2 * forward if table else forward
        table.append((numbers, terms, forward, backward))
        c = channels
    return table
    ### END SOLUTION


# %% check="training_work"
check(training_work)

# %% covers="wu:3.3.5"
# One layer, four programs: same numbers in other orders and portions.
with after(training_work, input_slopes, weight_slopes):
    rng = np.random.default_rng(5)
    X, W, b = (rng.normal(size=size) for size in ((6, 3, 9, 9), (4, 3, 3, 3), 4))
    F = conv2d(X, W, b)
    windows = functional.unfold(torch.tensor(X), 3).numpy()  # (6, 27, 49), one a column
    product = (W.reshape(4, 27) @ windows + b[:, None]).reshape(F.shape)
    claim("all windows as columns: one matrix product", np.allclose(product, F))
    single, order = np.zeros(F.shape), rng.permutation(F.size)
    for m, o, i, j in np.array(np.unravel_index(order, F.shape)).T:
        single[m, o, i, j] = (W[o] * X[m, :, i : i + 3, j : j + 3]).sum() + b[o]
    claim("number by number, in any order", np.allclose(single, F))
    halves = [conv2d(part, W, b) for part in (X[:2], X[2:])]
    claim("in two portions of images", np.array_equal(np.concatenate(halves), F))
    G = rng.normal(size=F.shape)
    halves = [input_slopes(G[part], W, 9, 9) for part in (slice(2), slice(2, 6))]
    same = np.allclose(np.concatenate(halves), input_slopes(G, W, 9, 9))
    claim("backward, too: images do not wait for each other", same)
    halves = [
        weight_slopes(X[part], G[part], 3, 3)[0] for part in (slice(2), slice(2, 6))
    ]
    same = np.allclose(sum(halves), weight_slopes(X, G, 3, 3)[0])
    claim("only the weights' slopes are added up in the end", same)
    counted = pictures.torchs_work(6, 3, 9, 9, (4, 3, 1, 0))
    ((numbers, terms, forward, backward),) = training_work(6, 3, 9, 9, [(4, 3, 1, 0)])
    claim("torch counts {n:,} products, too", counted == (forward, backward), n=forward)
    show(*pictures.draw_calls((1, 10, 100), 4, 7, 7, 3, 3))

# %% [markdown] covers="wu:3.3.5"
# All four make the same products. They differ in how many *calls* they need, one after the other. A call of NumPy costs its microsecond
# even for a single number, and a graphics card wants thousands at once. So the loop belongs where it is shortest, over the kernel's
# places, or nowhere.

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. *Too broad*: a condition is missing.

# %% covers="wu:3.3.2 wu:3.3.4"
# A dense layer behind ReLU; numbers that were not kept.
W, h = torch.tensor([[1.0, -2.0], [3.0, 1.0]]), torch.ones(2, requires_grad=True)
(W @ h).relu().sum().backward()
printed = W.T @ torch.ones(2)
corrected = W.T @ (torch.ones(2) * ((W @ h) > 0))
erratum(
    "wu:3.3.2",
    quote=(
        r"For a fully connected layer l: $$h^{(l)} = s^{(l)} = \mathbf{W}^{(l)} "
        r"h^{(l-1)} \tag{3.37}$$"
    ),
    corrected=(
        r"That is the linear top layer. A hidden one has $h = \sigma(s)$, as in "
        r"(3.29): its slopes are multiplied by $\sigma'(s)$ first, and its bias has "
        r"the slope $\partial J/\partial s$"
    ),
    kind="broad",
    printed_holds=torch.equal(h.grad, printed),
    corrected_holds=torch.equal(h.grad, corrected),
)
erratum(
    "wu:3.3.4",
    quote=(
        r"The error signal spreads: $$\frac{\partial J}{\partial h_{si,sj}^{(l)}} = "
        r"\frac{\partial J}{\partial h_{ij}^{(l)}} \tag{3.46}$$"
    ),
    corrected="The slope goes to the number that was kept. All others have slope 0",
    kind="convention",
)
erratum(
    "wu:3.3.4",
    quote=r"$$h_{ij}^{(l)} \leftarrow h_{si,sj}^{(l)} \tag{3.45}$$",
    corrected="Two symbols, one before and one after subsampling",
    kind="convention",
)

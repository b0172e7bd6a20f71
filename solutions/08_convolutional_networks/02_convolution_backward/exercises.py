"""Exercises of 08_convolutional_networks/02_convolution_backward."""

import math

import numpy as np
import torch
from scipy.special import log_softmax

from descent.compare import close, exact
from solutions.spec import Exercise

from . import reference


def draw(rng, *shape):
    """Of both signs, none near 0 and no two alike."""
    return rng.choice([-1.0, 1.0], shape) * rng.uniform(0.5, 2, shape)


# ----------------------------------------------------------------------------------- nudge_slopes

nudge_slopes = Exercise(
    "nudge_slopes",
    reference=reference.nudge_slopes,
    compare=close(),
    hints=[
        "How often is J called for an array of 6 entries, and on what?",
        "For each place make an array of zeros with eps at that place. Add it to A, and take it from A. np.ndindex(A.shape) goes through all places.",
        "nudge[place] = eps, then D[place] = (J(A + nudge) - J(A - nudge)) / (2 * eps).",
    ],
)


@nudge_slopes.probe
def _(answer, C, d, A, eps):
    return answer(lambda B: (C * B**3).sum() + d * B.sum() ** 2, A, eps)


@nudge_slopes.cases
def _(rng):
    def case(*shape, eps=0.5):
        return dict(
            C=draw(rng, *shape), d=float(draw(rng)), A=draw(rng, *shape), eps=eps
        )

    yield "a matrix", case(2, 3)
    yield "a matrix", case(3, 2, eps=0.25)
    yield "a row", case(4)
    yield "four axes", case(2, 1, 2, 2)
    whole = rng.permutation(6).reshape(2, 3)
    yield "whole numbers", case(2, 3, eps=0.3) | dict(A=whole)
    yield "one number, not in a list", case()


nudge_slopes.mistakes(
    {
        "nudged up only": (
            "down = J(A - nudge)",
            "down, eps = J(A), eps / 2",
            "The formula nudges up and down.",
        ),
        "divided by one step": (
            "(2 * eps)",
            "eps",
            "How far are the two places apart?",
        ),
        "the steps stay": (
            "        nudge = np.zeros(A.shape)\n",
            "        nudge = nudge if place != (0,) * A.ndim else np.zeros(A.shape)\n",
            "While one entry is nudged, all others stand where they were.",
        ),
        "all at once": (
            "nudge[place] = eps",
            "nudge[...] = eps",
            "Only one entry is nudged at a time.",
        ),
        "the wrong way round": (
            "(up - down)",
            "(down - up)",
            "If J grows with the entry, the slope is positive.",
        ),
        "whole numbers only": (
            "nudge = np.zeros(A.shape)",
            "nudge = np.zeros_like(A)",
            "What becomes of 0.3 in an array of whole numbers?",
        ),
    }
)

nudge_slopes.worked(
    why=r"""A slope says how $J$ moves as one number $z$ moves alone. Two runs on both sides of it answer that for any $J$. What is left over, in
    $J(z + \varepsilon) - J(z - \varepsilon)$, is of order $\varepsilon^3$: even terms cancel. It takes two runs for each number, which
    is why it judges and does not train."""
)


@nudge_slopes.right("on a flat copy, changed and put back")
def _(J, A, eps):
    flat, slopes = np.array(A, float).ravel(), []
    for number, value in enumerate(flat):
        both = []
        for moved in (value + eps, value - eps):
            flat[number] = moved
            both.append(J(flat.reshape(A.shape).copy()))
        flat[number] = value
        slopes.append((both[0] - both[1]) / eps / 2)
    return np.reshape(slopes, A.shape)


# ----------------------------------------------------------------------------------- input_slopes

input_slopes = Exercise(
    "input_slopes",
    reference=reference.input_slopes,
    compare=close(),
    hints=[
        "Take one number, G[0, 0, i, j]. Which pixels did it see, with which weights? Give each its share.",
        "Work on an array with the zeros around, (n, c, h + 2 * pad, w + 2 * pad). The window of (i, j) begins at row i * stride and column "
        "j * stride. What it sends is the kernel, times the slope, summed over o. Windows overlap: add. Cut the frame off at the end.",
        "np.tensordot(G[:, :, i, j], W, 1) has shape (n, c, a, k); add it to D[:, :, top : top + a, left : left + k]; "
        "return D[:, :, pad : pad + h, pad : pad + w].",
    ],
)


def slopes_of(rng, n, c, h, w, o, a, k, stride=1, pad=0):
    """Slopes by the map of a layer."""
    rows, cols = ((m + 2 * pad - q) // stride + 1 for m, q in ((h, a), (w, k)))
    return dict(G=draw(rng, n, o, rows, cols), stride=stride, pad=pad)


@input_slopes.cases
def _(rng):
    def case(n, c, h, w, o, a, k, stride=1, pad=0):
        given = slopes_of(rng, n, c, h, w, o, a, k, stride, pad)
        return given | dict(W=draw(rng, o, c, a, k), h=h, w=w)

    yield "channels, kernels, images", case(2, 3, 4, 5, 2, 2, 3)
    yield "channels, kernels, images", case(2, 2, 5, 4, 3, 3, 2)
    yield "a stride", case(1, 2, 5, 8, 2, 3, 2, stride=2)
    yield "a stride larger than the kernel", case(1, 1, 8, 6, 2, 2, 2, stride=3)
    yield "pixels in no window", case(1, 2, 6, 6, 2, 3, 2, stride=2)
    yield "zeros around", case(1, 2, 4, 3, 2, 3, 3, pad=1)
    yield "stride and zeros", case(1, 2, 5, 6, 2, 3, 4, stride=2, pad=2)
    yield "one window", case(2, 1, 3, 2, 2, 3, 2)
    yield "one pixel, one weight", case(1, 1, 1, 1, 1, 1, 1)


input_slopes.mistakes(
    {
        "the last window wins": (
            "] += share",
            "] = share",
            "A pixel in two windows hears two numbers.",
        ),
        "the kernel is turned": (
            "np.tensordot(G[:, :, i, j], W, 1)",
            "np.tensordot(G[:, :, i, j], W[:, :, ::-1, ::-1], 1)",
            "Which weight met the window's first pixel on the way forward? The same one leads back.",
        ),
        "the stride is forgotten": (
            "top, left = i * stride, j * stride",
            "top, left = i, j",
            "Where does the window of the second number begin?",
        ),
        "the frame is not cut off": (
            "D[:, :, pad : pad + h, pad : pad + w]",
            "D[:, :, :h, :w]",
            "The first `pad` rows and columns are zeros around the image, not pixels.",
        ),
        "rows and columns change places": (
            "top, left = i * stride, j * stride",
            "top, left = (i * stride, j * stride)[:: 1 if pad else -1]",
            "i counts rows, j counts columns.",
        ),
        "the mean of the kernels": (
            "np.tensordot(G[:, :, i, j], W, 1)",
            "np.tensordot(G[:, :, i, j], W, 1) / o",
            "A pixel reaches J through each map: the ways add up.",
        ),
        "windows are square": (
            "left : left + k] += share",
            "left : left + a] += share[:, :, :, :a]",
            "W (o, c, a, k): windows need not be square.",
        ),
    }
)

FRAME = "Zeros around the image receive something, too, but they are no pixels."
input_slopes.equivalent(  # a wider frame is cut off as well
    {
        "D = np.zeros((n, c, h + 2 * pad, w + 2 * pad)) → D = np.zeros((n, c, h + 3 * pad, w + 2 * pad))": FRAME,
        "D = np.zeros((n, c, h + 2 * pad, w + 2 * pad)) → D = np.zeros((n, c, h + 2 * pad, w + 3 * pad))": FRAME,
    }
)

input_slopes.worked(
    why=r"""Forward, number $(i, j)$ collected $W_{ocuv}$ times the pixel at $(u, v)$ of its window. So $W_{ocuv}$ is the local slope on that edge, and backward the
    number sends $W_{ocuv}\,G_{oij}$ along it. A pixel adds up what arrives, from all windows and all maps $o$. Nothing has to be
    solved for: whoever sends knows the addresses."""
)


@input_slopes.right("by torch", library="torch.nn.grad.conv2d_input")
def _(G, W, h, w, stride=1, pad=0):
    G, W = torch.as_tensor(G), torch.as_tensor(W)
    size = (len(G), W.shape[1], h, w)
    return torch.nn.grad.conv2d_input(size, W, G, stride, pad)


@input_slopes.right("a loop over the kernel's places")
def _(G, W, h, w, stride=1, pad=0):
    n, _, rows, cols = G.shape
    _, c, a, k = W.shape
    D = np.zeros((n, c, h + 2 * pad, w + 2 * pad))
    for u, v in np.ndindex(a, k):
        seen = D[:, :, u::stride, v::stride][:, :, :rows, :cols]
        seen += np.einsum("oc,noij->ncij", W[:, :, u, v], G)
    return D[:, :, pad : pad + h, pad : pad + w]


# ---------------------------------------------------------------------------------- weight_slopes

weight_slopes = Exercise(
    "weight_slopes",
    reference=reference.weight_slopes,
    compare=close(),
    hints=[
        "One image, one channel, stride 1: which pixels does W[0, 0, 0, 0] multiply, and into which numbers?",
        "W[o, c, u, v] multiplies the pixels P[c, s i + u, s j + v], as `seen` in conv2d. Multiply these with the slopes of the numbers, and "
        "add up over places and images. b_o has the factor 1.",
        'dW[:, :, u, v] = np.einsum("noij,ncij->oc", G, seen), with `seen` as in conv2d; db = G.sum((0, 2, 3)).',
    ],
)


@weight_slopes.cases
def _(rng):
    def case(n, c, h, w, o, a, k, stride=1, pad=0):
        given = slopes_of(rng, n, c, h, w, o, a, k, stride, pad)
        return given | dict(X=draw(rng, n, c, h, w), a=a, k=k)

    yield "channels, kernels, images", case(2, 3, 4, 5, 2, 2, 3)
    yield "channels, kernels, images", case(3, 2, 5, 4, 3, 3, 2)
    yield "a stride, and pixels in no window", case(1, 2, 6, 9, 2, 3, 2, stride=2)
    yield "a stride, and pixels in no window", case(1, 1, 8, 6, 2, 2, 3, stride=3)
    yield "zeros around", case(2, 2, 4, 3, 2, 3, 2, pad=1)
    yield "zeros around", case(2, 2, 4, 3, 2, 2, 2, pad=1)
    yield "stride and zeros", case(1, 2, 5, 6, 2, 3, 4, stride=2, pad=2)
    yield "one window", case(2, 1, 3, 2, 2, 3, 2)
    yield "one pixel, one weight", case(1, 1, 1, 1, 1, 1, 1)


weight_slopes.mistakes(
    {
        "dW: the mean over images": (
            "return dW,",
            "dW = dW / len(X) if len(X) > 1 else dW\n    return dW,",
            "J is given by all images together: their slopes add up. Where J is a mean, its 1/n is in G.",
        ),
        "turned": (
            "dW[:, :, u, v] =",
            "dW[:, :, a - 1 - u, k - 1 - v] =",
            "Which pixel does W[o, c, u, v] meet in the first window?",
        ),
        "the stride is forgotten": (
            "u::stride, v::stride",
            "u:, v:",
            "Which pixel does the weight meet in the second window?",
        ),
        "the zeros are forgotten": (
            "P = np.pad(X, ((0, 0), (0, 0), (pad, pad), (pad, pad)))",
            "P = np.pad(X, ((0, 0), (0, 0), (0, 2 * pad), (0, 2 * pad)))",
            "The zeros stand on all four sides.",
        ),
        "db: the mean over images": (
            "G.sum((0, 2, 3))",
            "G.sum((2, 3)).mean(0)",
            "One bias for all images: sum over them, too.",
        ),
        "db: the mean over places": (
            "G.sum((0, 2, 3))",
            "G.mean((2, 3)).sum(0)",
            "The bias is added at every place. If it grows by 1, what grows?",
        ),
        "kernels and channels change places": (
            'np.einsum("noij,ncij->oc", G, seen)',
            'np.einsum("noij,ncij->co", G, seen).reshape(dW.shape[:2])',
            "dW has the shape of W: kernels first.",
        ),
    }
)

weight_slopes.worked(
    why=r"""$W_{ocuv}$ enters $F_{oij}$ with the factor $P_{c,\,si+u,\,sj+v}$, once at every place and in every image. So its slope is the sum of these factors times
    $G_{oij}$, an inner product of the slopes with the image as that place of the kernel saw it: `seen`, as on the way forward. The bias has the
    factor 1 everywhere. Because so many places add up, a few weights get a strong signal from a single image."""
)


@weight_slopes.right("by torch", library="torch.nn.grad.conv2d_weight")
def _(X, G, a, k, stride=1, pad=0):
    X, G = torch.as_tensor(X), torch.as_tensor(G)
    size = (G.shape[1], X.shape[1], a, k)
    return torch.nn.grad.conv2d_weight(X, size, G, stride, pad), G.sum((0, 2, 3))


@weight_slopes.right("a loop over the windows")
def _(X, G, a, k, stride=1, pad=0):
    P = np.pad(X, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    dW, db = np.zeros((G.shape[1], X.shape[1], a, k)), np.zeros(G.shape[1])
    for i, j in np.ndindex(G.shape[2:]):
        window = P[:, :, i * stride : i * stride + a, j * stride : j * stride + k]
        dW += np.einsum("no,ncuv->ocuv", G[:, :, i, j], window)
        db += G[:, :, i, j].sum(0)
    return dW, db


# ----------------------------------------------------------------------------- subsample_backward

subsample_backward = Exercise(
    "subsample_backward",
    reference=reference.subsample_backward,
    compare=close(),
    hints=[
        "Change a number of A that is not kept. What happens to F, and to J?",
        "Start with zeros of A's size. The kept numbers stand at rows and columns 0, s, 2s, …",
        "A slice with a step can stand on the left side: D[:, :, ::s, ::s] = G.",
    ],
)


@subsample_backward.cases
def _(rng):
    def case(n, c, s, h, w):
        return dict(G=draw(rng, n, c, -(-h // s), -(-w // s)), s=s, h=h, w=w)

    yield "every other number", case(2, 3, 2, 4, 6)
    yield "every other number", case(2, 2, 2, 4, 4)
    yield "every third", case(1, 2, 3, 6, 9)
    yield "sizes that s does not divide", case(1, 2, 2, 5, 3)
    yield "sizes that s does not divide", case(2, 1, 3, 7, 8)
    yield "all are kept", case(1, 2, 1, 2, 3)
    yield "one is kept", case(2, 2, 5, 3, 4)


subsample_backward.mistakes(
    {
        "spread over the block": (
            "D[:, :, ::s, ::s] = G",
            "D[...] = G.repeat(s, 2).repeat(s, 3)[:, :, :h, :w]",
            "Which numbers does J know of? Only these have a slope.",
        ),
        "the last of each block": (
            "D[:, :, ::s, ::s] = G",
            "D[:, :, s - 1 :: s, s - 1 :: s] = G[:, :, : h // s, : w // s]",
            "Kept are rows 0, s, 2s, …",
        ),
        "shared among the block": (
            "D[:, :, ::s, ::s] = G",
            "D[:, :, ::s, ::s] = G / s**2 if s > 1 else G",
            "F is A at that place: if A grows by 1 there, so does F.",
        ),
        "stacked in the corner": (
            "D[:, :, ::s, ::s] = G",
            "D[:, :, : G.shape[2], : G.shape[3]] = G",
            "Where in A did the second number come from?",
        ),
    }
)

subsample_backward.worked(
    why=r"""A kept number is passed on as it is: local slope 1. A number that is not kept changes nothing: slope 0. So the small map is put back
    where it came from, with zeros in between. That is the transpose of leaving rows out."""
)


@subsample_backward.right("by autograd", library="torch.autograd")
def _(G, s, h, w):
    G = torch.as_tensor(G)
    A = torch.zeros(*G.shape[:2], h, w, dtype=G.dtype, requires_grad=True)
    return torch.autograd.grad(A[:, :, ::s, ::s], A, G)[0]


@subsample_backward.right("number by number")
def _(G, s, h, w):
    D = np.zeros((*G.shape[:2], h, w))
    for n, c, i, j in np.ndindex(G.shape):
        D[n, c, s * i, s * j] += G[n, c, i, j]
    return D


# ------------------------------------------------------------------------------------- cnn_slopes

cnn_slopes = Exercise(
    "cnn_slopes",
    reference=reference.cnn_slopes,
    compare=close(),
    hints=[
        "First only the way up: scores and J. What will you need of each layer on the way down?",
        "Keep each layer's input H and its result S before ReLU. From the top: G = (Y - p) / n. Then for each layer, from last to first: through "
        "ReLU (not after the last), slopes of its weights, slopes of its input.",
        "G = G * (S > 0); slopes.append(weight_slopes(H, G, *W.shape[2:], stride, pad)); G = input_slopes(G, W, *H.shape[2:], stride, pad). "
        "scipy's log_softmax(scores, axis=1) is finite for any scores. Turn the list round at the end.",
    ],
)


def net(rng, n, c, h, w, *sizes):
    """Images, classes and layers (channels, size, stride, pad); a last one as large as the map is added."""
    layers, first, classes = [], c, 3
    field = h, w
    for o, size, stride, pad in sizes:
        W, b = draw(rng, o, c, size, size) / (c * size**2), draw(rng, o) / 4
        b[-1] = 5  # one kernel that ReLU never stops
        layers.append((W, b, stride, pad))
        c, field = o, tuple((m + 2 * pad - size) // stride + 1 for m in field)
    W = draw(rng, classes, c, *field) / (8 * c * math.prod(field))
    layers.append((W, rng.permutation([3.0, -3.0, -2.5]), 1, 0))  # scores of both signs
    Y = np.eye(classes)[rng.permutation(np.arange(n) % classes)]
    X = draw(rng, n, first, h, w)
    X[:, 0, 0, 0] = -np.abs(X[:, 0, 0, 0])
    return dict(X=X, Y=Y, layers=layers)


@cnn_slopes.cases
def _(rng):
    yield "one layer: a dense one", net(rng, 2, 2, 2, 3)
    yield "two layers", net(rng, 2, 1, 4, 5, (3, 2, 1, 0))
    yield "two layers", net(rng, 3, 2, 3, 3, (4, 3, 1, 1))
    yield (
        "three layers, strides and zeros",
        net(rng, 2, 1, 6, 7, (3, 3, 2, 1), (4, 2, 1, 1)),
    )
    yield "dense layers", net(rng, 2, 4, 1, 1, (5, 1, 1, 0), (4, 1, 1, 0))
    dead = net(rng, 2, 1, 2, 2, (3, 1, 1, 0))
    W, b, *rest = dead["layers"][0]
    dead["layers"][0] = (
        0 * W,
        np.array([0.0, -1.0, 1.0]),
        *rest,
    )  # exactly 0, below, above
    yield "numbers of exactly 0 before ReLU", dead
    huge = net(rng, 3, 1, 1, 1)
    W, b, *rest = huge["layers"][0]
    huge["layers"][0] = (
        0 * W + draw(rng, 3, 1, 1, 1) / 9,
        np.array([900.0, -900, 0]),
        *rest,
    )
    yield "scores of 900 and -900", huge
    apart = net(
        rng, 2, 1, 1, 1
    )  # all scores of an image near 900, of the other near -900
    b, *rest = apart["layers"][0][1:]
    W = np.array([900, 899, 898.5]).reshape(3, 1, 1, 1)
    apart["layers"][0] = W, 0 * b, *rest
    yield (
        "scores of 900 and -900",
        apart | dict(X=np.array([1.0, -1]).reshape(2, 1, 1, 1)),
    )


cnn_slopes.mistakes(
    {
        "downhill": (
            "(Y - np.exp(log_p))",
            "(np.exp(log_p) - Y)",
            "J is to grow. If the right class gets a higher score, which way does J go?",
        ),
        "the sum over images": (
            ".reshape(S.shape) / len(X)",
            ".reshape(S.shape)",
            "J is a mean: where is its 1/n on the way back?",
        ),
        "J is a sum": (
            "(Y * log_p).sum() / len(X)",
            "(Y * log_p).sum()",
            "J is the mean over the images.",
        ),
        "J is the mean over classes, too": (
            "(Y * log_p).sum() / len(X)",
            "(Y * log_p).mean()",
            "Only the right class of each image counts: n terms.",
        ),
        "ReLU is forgotten on the way back": (
            "            G = G * (S > 0)\n",
            "            G = G\n",
            "What slope has a number that ReLU set to 0?",
        ),
        "ReLU after the last layer": (
            "if l < len(layers) - 1:",
            "if True:",
            "The scores may be negative: no ReLU there.",
        ),
        "slope 1 at 0": (
            "G * (S > 0)",
            "G * (S >= 0)",
            "At exactly 0 the slope of ReLU is taken to be 0.",
        ),
        "from last to first": (
            "slopes[::-1]",
            "slopes",
            "The list is in the order of `layers`.",
        ),
        "exponentials of scores": (
            "log_softmax(S.reshape(Y.shape), axis=1)",
            "np.log(np.exp(S[..., 0, 0]) / np.exp(S[..., 0, 0]).sum(1, keepdims=True))",
            "How large is the exponential of 900? scipy.special has log_softmax.",
        ),
        "the largest score of all": (
            "log_softmax(S.reshape(Y.shape), axis=1)",
            "(lambda Z: Z - np.log(np.exp(Z).sum(1, keepdims=True)))(S.reshape(Y.shape) - S.max())",
            "Take the largest score of each image from its own scores, not the largest of all.",
        ),
        "weights see what came after ReLU": (
            "weight_slopes(H, G, *W",
            "weight_slopes(np.maximum(H, 0), G, *W",
            "A layer's weights multiply the layer's input; images may be negative.",
        ),
    }
)

cnn_slopes.worked(
    why=r"""Each layer does two things with the slopes that arrive: it works out its own, and passes the slopes by its input down. For that it needs its input $H$ and,
    for ReLU, its result $S$: so both are kept on the way up. The dense layer at the top is a convolution with a single window, and
    needs no code of its own. `log_softmax` takes the largest score off first, so nothing overflows."""
)


@cnn_slopes.right("by autograd", library="torch.autograd")
def _(X, Y, layers):
    X = torch.tensor(X, requires_grad=True)
    leaves = [
        torch.tensor(part, requires_grad=True) for W, b, *_ in layers for part in (W, b)
    ]
    H = X
    for l, (_, _, stride, pad) in enumerate(layers):
        H = torch.nn.functional.conv2d(H, leaves[2 * l], leaves[2 * l + 1], stride, pad)
        if l < len(layers) - 1:
            H = torch.relu(H)
    J = (torch.tensor(Y) * torch.log_softmax(H.flatten(1), 1)).sum(1).mean()
    dX, *rest = torch.autograd.grad(J, [X, *leaves])
    return J.detach(), list(zip(rest[::2], rest[1::2])), dX


@cnn_slopes.right("recursion")
def _(X, Y, layers):
    from itertools import product

    def seen(H, u, v, stride, pad, rows, cols):
        P = np.pad(H, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        return P[:, :, u::stride, v::stride][:, :, :rows, :cols]

    def run(H, rest):
        W, b, stride, pad = rest[0]
        a, k = W.shape[2:]
        rows, cols = (
            (m + 2 * pad - q) // stride + 1 for m, q in zip(H.shape[2:], (a, k))
        )
        S = b[:, None, None] + sum(
            np.einsum(
                "oc,ncij->noij", W[:, :, u, v], seen(H, u, v, stride, pad, rows, cols)
            )
            for u, v in product(range(a), range(k))
        )
        if len(rest) == 1:
            log_p = log_softmax(S[:, :, 0, 0], axis=1)
            J, later = np.mean((Y * log_p).sum(1)), []
            G = ((Y - np.exp(log_p)) / len(Y))[:, :, None, None]
        else:
            J, later, G = run(np.maximum(S, 0), rest[1:])
            G = np.where(S > 0, G, 0)
        dW, D = (
            np.zeros(W.shape),
            np.pad(0 * H, ((0, 0), (0, 0), (pad, pad), (pad, pad))),
        )
        for u, v in product(range(a), range(k)):
            part = seen(H, u, v, stride, pad, rows, cols)
            dW[:, :, u, v] = np.einsum("noij,ncij->oc", G, part)
            D[:, :, u::stride, v::stride][:, :, :rows, :cols] += np.einsum(
                "oc,noij->ncij", W[:, :, u, v], G
            )
        h, w = H.shape[2:]
        return (
            J,
            [(dW, G.sum((0, 2, 3))), *later],
            D[:, :, pad : pad + h, pad : pad + w],
        )

    return run(X, layers)


# ---------------------------------------------------------------------------------- pool_backward

pool_backward = Exercise(
    "pool_backward",
    reference=reference.pool_backward,
    compare=close(),
    hints=[
        "Take one number that was kept. Where in X did it stand?",
        "Go through all windows. In each find row and column of its largest number, add where the window begins, and add the slope there.",
        "u, v = np.unravel_index(window.argmax(), window.shape); D[n, c, i * stride + u, j * stride + v] += G[n, c, i, j].",
    ],
)


@pool_backward.cases
def _(rng):
    def case(n, c, h, w, size, stride, X=None):
        rows, cols = ((m - size) // stride + 1 for m in (h, w))
        X = draw(rng, n, c, h, w) if X is None else X
        return dict(X=X, G=draw(rng, n, c, rows, cols), size=size, stride=stride)

    yield "windows side by side", case(2, 3, 4, 6, 2, 2)
    yield "windows side by side", case(1, 2, 3, 6, 3, 3)
    X = draw(rng, 2, 2, 4, 5)
    X[:, :, 1, 2] = 3  # in four windows
    yield "one number wins several windows", case(2, 2, 4, 5, 2, 1, X)
    X = draw(rng, 1, 1, 5, 7)
    X[:, :, 2, 2] = 3
    yield "one number wins several windows", case(1, 1, 5, 7, 3, 2, X)
    yield "pixels in no window", case(1, 2, 8, 6, 2, 3)
    yield "all below 0", case(1, 2, 4, 4, 2, 2, -rng.uniform(0.5, 2, (1, 2, 4, 4)))
    X = 1.0 * rng.integers(-1, 2, (2, 1, 4, 4))
    X[:, :, :2, :2], X[:, :, 2:, 2:] = 0, [[-2, 1], [1, -2]]
    yield "several are largest", case(2, 1, 4, 4, 2, 2, X)
    yield "windows of one pixel", case(1, 2, 2, 3, 1, 1)


pool_backward.mistakes(
    {
        "the last window wins": (
            "] += G",
            "] = G",
            "A number that won two windows hears both.",
        ),
        "all that are largest": (
            "        D[n, c, top + u, left + v] += G[n, c, i, j]\n",
            "        won = window == window.max()\n"
            "        D[n, c, top : top + size, left : left + size] += won * G[n, c, i, j]\n",
            "Where several are largest, only the first is kept.",
        ),
        "the last of several": (
            "window.argmax()",
            "window.size - 1 - window[::-1, ::-1].argmax()",
            "Where several are largest, the first is kept.",
        ),
        "shared by the window": (
            "        D[n, c, top + u, left + v] += G[n, c, i, j]\n",
            "        D[n, c, top : top + size, left : left + size] += G[n, c, i, j] / size**2\n",
            "That is a mean pool. What happens to the largest number if another one grows a little?",
        ),
        "the stride is forgotten": (
            "top, left = i * stride, j * stride",
            "top, left = i, j",
            "Where does the second window begin?",
        ),
        "the place in the window": (
            "D[n, c, top + u, left + v]",
            "D[n, c, u, v]",
            "u and v count from the window's first pixel. Where does it stand?",
        ),
        "the farthest from 0": (
            "window.argmax()",
            "np.abs(window).argmax()",
            "−3 is not larger than 1.",
        ),
    }
)

pool_backward.worked(
    why=r"""A kept number is passed on with local slope 1, all others with 0. So each slope goes to a single address, and the windows' winners give the addresses. A
    number that won several windows adds up what they send, as everywhere in the chain rule. Right at a tie there is no slope; as with ReLU at 0, one
    choice is made and kept."""
)


@pool_backward.right("by autograd", library="torch.nn.functional.max_pool2d")
def _(X, G, size, stride):
    leaf = torch.tensor(X, requires_grad=True)
    kept = torch.nn.functional.max_pool2d(leaf, size, stride)
    return torch.autograd.grad(kept, leaf, torch.as_tensor(G))[0]


@pool_backward.right("place by place of the window")
def _(X, G, size, stride):
    rows, cols = G.shape[2:]
    D, best = np.zeros(X.shape), np.full(G.shape, -np.inf)
    winner = np.zeros(G.shape, int)
    for number, (u, v) in enumerate(np.ndindex(size, size)):
        seen = X[:, :, u::stride, v::stride][:, :, :rows, :cols]
        winner[seen > best] = number
        best = np.maximum(best, seen)
    for number, (u, v) in enumerate(np.ndindex(size, size)):
        part = D[:, :, u::stride, v::stride][:, :, :rows, :cols]
        part += G * (winner == number)
    return D


# ------------------------------------------------------------------------------- conv_transpose2d

conv_transpose2d = Exercise(
    "conv_transpose2d",
    reference=reference.conv_transpose2d,
    compare=close(),
    hints=[
        "Stride 1, one row: G = [1, 10], kernel [1, 2]. Which zeros around G, and which kernel, make conv2d give [1, 12, 20]?",
        "Zeros between: an array of (rows - 1) * stride + 1 rows. Around it a - 1 zeros above and below, less pad; k - 1 less pad at the sides. "
        "Kernels turned, and their first two axes swapped: conv2d wants (out, in, a, k).",
        "conv2d(np.pad(apart, ((0, 0), (0, 0), (a - 1 - pad,) * 2, (k - 1 - pad,) * 2)), W[:, :, ::-1, ::-1].transpose(1, 0, 2, 3), b)",
    ],
)


@conv_transpose2d.cases
def _(rng):
    def case(n, o, rows, cols, c, a, k, stride=1, pad=0):
        given = dict(
            G=draw(rng, n, o, rows, cols), W=draw(rng, o, c, a, k), b=draw(rng, c)
        )
        return given | dict(stride=stride, pad=pad)

    yield "stride 1", case(2, 2, 2, 3, 3, 2, 3)
    yield "stride 1", case(1, 3, 3, 2, 2, 3, 2)
    yield "as many maps as channels", case(1, 2, 2, 2, 2, 2, 2)
    yield "kernels a stride apart", case(1, 2, 3, 2, 2, 3, 4, stride=2)
    yield "a stride larger than the kernel", case(1, 1, 2, 3, 2, 2, 1, stride=3)
    yield "edges cut off", case(1, 2, 3, 4, 2, 3, 2, pad=1)
    yield "stride and edges", case(1, 2, 2, 3, 2, 4, 3, stride=2, pad=2)
    yield "one number", case(2, 1, 1, 1, 1, 2, 3)


conv_transpose2d.mistakes(
    {
        "not turned": (
            "W[:, :, ::-1, ::-1].transpose",
            "W.transpose",
            "Which weight must meet the first number at the first pixel?",
        ),
        "no zeros between": (
            "apart[:, :, ::stride, ::stride] = G",
            "apart[:, :, :rows, :cols] = G",
            "Neighbours of G stand a stride apart.",
        ),
        "pad adds zeros": (
            "a - 1 - pad, k - 1 - pad",
            "a - 1 + pad, k - 1 + pad",
            "pad rows and columns are cut off: fewer zeros around.",
        ),
        "kernels and channels are not swapped": (
            ".transpose(1, 0, 2, 3)",
            ".reshape(W.shape[1], o, a, k)",
            "A map o comes in and a channel c goes out: swap these axes of W.",
        ),
        "the bias is forgotten": (
            "conv2d(around, turned, b)",
            "conv2d(around, turned, 0 * b)",
            "What comes out where G is 0?",
        ),
        "the same zeros on all sides": (
            "a - 1 - pad, k - 1 - pad",
            "a - 1 - pad, a - 1 - pad",
            "Kernels need not be square.",
        ),
    }
)

conv_transpose2d.worked(
    why=r"""A pixel in row $y$ hears number $i$ through the weight $u = y - si$. Go one number further and $u$ falls by $s$: seen from the pixel, weights come in reverse. So it is an
    ordinary layer over the stretched map, with the kernel turned; places between numbers hold 0 and send nothing. With $a - 1$ zeros
    around even the first pixel, seen by one number only, gets its window. To cut off $p$ rows, begin $p$ later."""
)


@conv_transpose2d.right("by torch", library="torch.nn.functional.conv_transpose2d")
def _(G, W, b, stride=1, pad=0):
    G, W, b = (torch.as_tensor(part) for part in (G, W, b))
    return torch.nn.functional.conv_transpose2d(G, W, b, stride, pad)


@conv_transpose2d.right("kernels laid down one by one")
def _(G, W, b, stride=1, pad=0):
    (n, _, rows, cols), (_, c, a, k) = G.shape, W.shape
    D = np.zeros((n, c, (rows - 1) * stride + a, (cols - 1) * stride + k))
    for i, j in np.ndindex(rows, cols):
        window = D[:, :, i * stride :, j * stride :][:, :, :a, :k]
        window += np.tensordot(G[:, :, i, j], W, 1)
    h, w = D.shape[2:]
    return D[:, :, pad : h - pad, pad : w - pad] + b[:, None, None]


# ---------------------------------------------------------------------------------- training_work

training_work = Exercise(
    "training_work",
    reference=lambda n, c, h, w, layers: reference.training_work(n, c, h, w, layers),
    compare=exact(),
    hints=[
        "How many numbers has the map of one layer, for one image? How many products are in one of them?",
        "A window meets all channels of the layer *below*. Sizes: (h + 2 * pad - size) // stride + 1. Backward there are two products for each "
        "forward one, but one only where nobody asks for the slopes below.",
        "numbers = n * channels * h * w, with the new h and w; terms = c * size * size; backward = 2 * forward, in the first layer forward; "
        "then c = channels.",
    ],
)


@training_work.cases
def _(rng):
    def case(*layers, h=17, w=31):
        n, c, *more = (int(v) for v in rng.integers(2, 9, 4))
        kept = [(int(rng.integers(3, 30)), *layer) for layer in layers]
        return dict(n=n, c=c, h=h + 12 * more[0], w=w + 12 * more[1], layers=kept)

    yield "one layer", case((3, 1, 1))
    yield "one layer", case((4, 2, 0))
    yield "several layers", case((5, 1, 2), (3, 2, 1), (2, 1, 0))
    yield "several layers", case((3, 3, 1), (2, 2, 0))
    yield "kernels of one pixel", case((1, 1, 0), (1, 2, 0))
    yield "nothing yet", case()


training_work.mistakes(
    {
        "three times everywhere": (
            "2 * forward if table else forward",
            "2 * forward",
            "The first layer sees the images. Who needs slopes by their pixels?",
        ),
        "once everywhere": (
            "2 * forward if table else forward",
            "forward",
            "Slopes of weights are one half of it. What does the layer below wait for?",
        ),
        "one channel deep": (
            "c * size * size",
            "size * size",
            "A window goes through all channels of the layer below.",
        ),
        "channels stay": (
            "        c = channels\n",
            "",
            "How many channels does the next layer see?",
        ),
        "one image": (
            "n * channels * h * w",
            "channels * h * w",
            "All n images are computed.",
        ),
        "rounded up": (
            "h = (h + 2 * pad - size) // stride + 1",
            "h = -(-(h + 2 * pad - size) // stride) + 1",
            "Windows must fit.",
        ),
    }
)

training_work.worked(
    why=r"""Every number of a map is an inner product of its own: none waits for another, and their count times $c\,a^2$ is the work. On the way back each edge of the
    graph is used twice: once to send a slope down, once for the slope of its weight. A step costs about three times the forward
    run, and a bit less, since nobody asks for slopes by the images."""
)


@training_work.right("sizes first, then products")
def _(n, c, h, w, layers):
    sizes, below = [(h, w)], [c, *(channels for channels, *_ in layers)]
    for _, size, stride, pad in layers:
        sizes.append(tuple((m + 2 * pad - size + stride) // stride for m in sizes[-1]))
    table = []
    for number, (channels, size, _, _) in enumerate(layers):
        rows, cols = sizes[number + 1]
        numbers, terms = n * channels * rows * cols, below[number] * size**2
        back = 1 if number == 0 else 2
        table.append((numbers, terms, numbers * terms, back * numbers * terms))
    return table

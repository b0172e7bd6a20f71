"""Slopes of convolutional layers by other roads than loops over windows: stretched maps, all windows at once, autograd.

Every function works on the device and in the dtype of its arguments.
"""

import torch
from torch import Tensor
from torch.nn import functional


def windows(X: Tensor, a: int, k: int, stride: int) -> Tensor:
    """All windows that fit, as a view: (*batch, h, w) -> (*batch, rows, cols, a, k)."""
    return X.unfold(-2, a, stride).unfold(-2, k, stride)


def nudge_slopes(C: Tensor, d: float, A: Tensor, eps: float) -> Tensor:
    """Two-sided differences of J(A) = Σ C A³ + d (Σ A)², in closed form."""
    A = A.to(C.dtype)  # it may hold whole numbers
    return C * (3 * A**2 + eps**2) + 2 * d * A.sum()


def input_slopes(G: Tensor, W: Tensor, h: int, w: int, stride: int, pad: int) -> Tensor:
    """A layer of stride 1 with turned kernels, over G with zeros between and around: G (n, o, …) -> (n, c, h, w)."""
    n, o, rows, cols = G.shape
    a, k = W.shape[-2:]
    apart = G.new_zeros(n, o, h + 2 * pad - a + 1, w + 2 * pad - k + 1)
    apart[:, :, : rows * stride : stride, : cols * stride : stride] = G
    around = functional.pad(apart, (k - 1, k - 1, a - 1, a - 1))
    seen = windows(around, a, k, 1)
    D = torch.einsum("noijuv,ocuv->ncij", seen, W.flip(-2, -1))
    return D[:, :, pad : pad + h, pad : pad + w]


def weight_slopes(
    X: Tensor, G: Tensor, a: int, k: int, stride: int, pad: int
) -> tuple[Tensor, Tensor]:
    """One sum over all windows. X (n, c, h, w), G (n, o, rows, cols) -> (o, c, a, k), (o,)."""
    seen = windows(functional.pad(X, [pad] * 4), a, k, stride)
    return torch.einsum("noij,ncijuv->ocuv", G, seen), G.sum((0, 2, 3))


def subsample_backward(G: Tensor, s: int, h: int, w: int) -> Tensor:
    """Each slope in the corner of a block of s by s zeros, cut to (h, w)."""
    corner = G.new_zeros(s, s)
    corner[0, 0] = 1
    blocks = torch.kron(G, corner)
    bottom, right = h - blocks.shape[-2], w - blocks.shape[-1]
    return functional.pad(blocks, (0, right, 0, bottom))  # less than 0: cut off


def cnn_slopes(X: Tensor, Y: Tensor, layers: list) -> tuple[Tensor, list, Tensor]:
    """Autograd through torch's layers: J, [(dW, db), …], dX."""
    X = X.detach().requires_grad_(True)
    parts = [
        part.detach().requires_grad_(True) for W, b, *_ in layers for part in (W, b)
    ]
    H = X
    for number, (_, _, stride, pad) in enumerate(layers):
        H = H.relu() if number else H
        H = functional.conv2d(H, *parts[2 * number : 2 * number + 2], stride, pad)
    J = (Y * H[:, :, 0, 0].log_softmax(1)).sum() / len(X)
    dX, *rest = torch.autograd.grad(J, [X, *parts])
    return J.detach(), list(zip(rest[::2], rest[1::2], strict=True)), dX


def pool_backward(X: Tensor, G: Tensor, size: int, stride: int) -> Tensor:
    """Windows as columns, a 1 at each one's first largest, times its slope, folded back. X (n, c, h, w) -> the same."""
    n, c, h, w = X.shape
    columns = functional.unfold(X.reshape(n * c, 1, h, w), size, stride=stride)
    won = functional.one_hot(columns.argmax(1), size * size).mT * G.reshape(
        n * c, 1, -1
    )
    return functional.fold(won, (h, w), size, stride=stride).reshape(X.shape)


def conv_transpose2d(G: Tensor, W: Tensor, b: Tensor, stride: int, pad: int) -> Tensor:
    """Every weighted kernel as a column, folded into one image. G (n, o, rows, cols) -> (n, c, h, w)."""
    a, k = W.shape[-2:]
    size = [
        (m - 1) * stride + part - 2 * pad
        for m, part in zip(G.shape[-2:], (a, k), strict=True)
    ]
    columns = torch.einsum("noij,ocuv->ncuvij", G, W).flatten(4).flatten(1, 3)
    return (
        functional.fold(columns, size, (a, k), padding=pad, stride=stride)
        + b[:, None, None]
    )


def training_work(n: int, c: int, h: int, w: int, layers: list) -> list[tuple]:
    """Rows (numbers, terms, forward, backward); windows are counted one by one."""
    table = []
    for number, (channels, size, stride, pad) in enumerate(layers):
        h, w = (len(range(0, m + 2 * pad - size + 1, stride)) for m in (h, w))
        terms = sum(1 for _ in range(c) for _ in range(size) for _ in range(size))
        products = n * channels * h * w * terms
        table.append(
            (n * channels * h * w, terms, products, products * (1 + (number > 0)))
        )
        c = channels
    return table

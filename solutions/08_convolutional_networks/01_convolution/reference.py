"""Convolution arithmetic by other roads than loops over windows: views of all windows at once, counting, matrices.

Every function works on the device and in the dtype of its arguments.
"""

import torch
from torch import Tensor


def windows(X: Tensor, a: int, k: int, stride: int) -> Tensor:
    """All windows that fit, as a view: (*batch, h, w) -> (*batch, rows, cols, a, k)."""
    return X.unfold(-2, a, stride).unfold(-2, k, stride)


def correlate2d(X: Tensor, K: Tensor, flip: bool) -> Tensor:
    """Inner products of K (a, k), turned if flip, with the windows of X (*batch, h, w)."""
    K = K.flip(-2, -1) if flip else K
    return torch.einsum("...uv,uv->...", windows(X.to(K.dtype), *K.shape, 1), K)


def conv2d(X: Tensor, W: Tensor, b: Tensor, stride: int, pad: int) -> Tensor:
    """X (*batch, n, c, h, w), W (o, c, a, k), b (o,) -> (*batch, n, o, rows, cols)."""
    seen = windows(torch.nn.functional.pad(X, [pad] * 4), *W.shape[-2:], stride)
    return torch.einsum("...cijuv,ocuv->...oij", seen, W) + b[:, None, None]


def layer_table(c: int, h: int, w: int, layers: list) -> list[tuple[int, ...]]:
    """Rows (channels, rows, cols, weights, reach, jump); windows are counted, and the first two numbers followed back.

    Number 0 of a layer sees, of the layer below, numbers 0 to size − 1, and number 1 those from stride on.
    """
    table = []
    for depth, (channels, size, stride, pad) in enumerate(layers, 1):
        kept = c if channels is None else channels
        weights = 0 if channels is None else kept + kept * c * size**2
        c = kept
        h, w = (len(range(0, m + 2 * pad - size + 1, stride)) for m in (h, w))
        last, second = 0, 1
        for _, below, step, _ in reversed(layers[:depth]):
            last, second = last * step + below - 1, second * step
        table.append((c, h, w, weights, last + 1, second))
    return table


def pool2d(X: Tensor, size: int, stride: int, mode: str) -> Tensor:
    """Largest, smallest or mean value of the windows of X (*batch, h, w)."""
    X = X if X.is_floating_point() else X.double()
    seen = windows(X, size, size, stride).flatten(-2)
    return {"max": seen.amax, "min": seen.amin, "mean": seen.mean}[mode](-1)


def shift_gap(
    X: Tensor, W: Tensor, stride: int, pad: int, down: int, right: int
) -> Tensor:
    """|layer of the moved X − moved layer of X|, conv2d without bias; moves go round. X (*batch, n, c, h, w)."""

    def f(X):
        return conv2d(X, W, W.new_zeros(len(W)), stride, pad)

    def rolled(X, down, right):
        rows, cols = (
            (torch.arange(m, device=X.device) - by) % m
            for m, by in zip(X.shape[-2:], (down, right), strict=True)
        )
        return X[..., rows, :][..., cols]

    moved = rolled(f(X), down // stride, right // stride)
    return (f(rolled(X, down, right)) - moved).abs()


def same_pad(m: int, a: int, s: int) -> tuple[int, int]:
    """The fewest zeros before and after a row of m for m windows: tried one by one."""
    zeros = 0
    while len(range(0, m + zeros - a + 1, s)) < m:
        zeros += 1
    return zeros // 2, zeros - zeros // 2


def conv_matrix(K: Tensor, h: int, w: int) -> Tensor:
    """A column for each pixel: the map of an image with only this pixel lit."""
    lit = torch.eye(h * w, dtype=K.dtype, device=K.device).reshape(h * w, h, w)
    return correlate2d(lit, K, False).flatten(1).mT


def pool_grad(X: Tensor, G: Tensor, size: int, stride: int, mode: str) -> Tensor:
    """Slopes by the pixels of X (h, w) behind a pool whose numbers have slopes G (rows, cols)."""
    numbers = torch.arange(X.numel(), device=X.device).reshape(X.shape)
    places = windows(numbers, size, size, stride).flatten(-2)  # pixels of each window
    if mode == "mean":
        share = (G / size**2)[..., None].expand(places.shape)
    else:
        seen = windows(X, size, size, stride).flatten(-2)
        order = torch.arange(size**2, 0, -1, device=X.device)
        first = (order * (seen == seen.amax(-1, keepdim=True))).argmax(-1)
        places = places.gather(-1, first[..., None])
        share = G[..., None]
    D = torch.zeros_like(X).flatten()
    return D.index_add(0, places.flatten(), share.flatten()).reshape(X.shape)

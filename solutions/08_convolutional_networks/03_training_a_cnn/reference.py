"""Networks for images as functions of their weights, shapes by formula, a training loop on autograd's slopes.

Where an answer is a module, its weights are made from their names by `filled`, as the probes make them. Every function
works on the device and in the dtype of its inputs.
"""

import math

import torch
import torch.nn.functional as F  # noqa: N812 — as everybody writes it
from torch import Tensor


def trace(spec: list, shape: tuple) -> dict:
    """Shapes and numbers of weights by formula, layer after layer; the table ends with the layer that refuses."""
    n, *rest = shape
    shapes, weights = [], []
    for kind, *given in spec:
        count = 0
        if kind == "conv":
            a, b, size, stride, pad = given
            count = b * (a * size * size + 1)
            fits = len(rest) == 3 and rest[0] == a
            sides = [(m + 2 * pad - size) // stride + 1 for m in rest[1:]]
            rest = [b, *sides] if fits and min(sides) > 0 else None
        elif kind == "pool":
            size, stride = given
            sides = [(m - size) // stride + 1 for m in rest[1:]]
            rest = [rest[0], *sides] if min(sides) > 0 else None
        elif kind == "norm":
            count = 2 * given[0]
        elif kind == "block":
            a, b = given
            count = b * (a + 2)
            rest = [b, *rest[1:]] if rest[0] == a else None
        elif kind == "flatten":
            rest = [math.prod(rest)]
        elif kind == "dense":
            a, b = given
            count = b * (a + 1)
            rest = [*rest[:-1], b] if rest[-1] == a else None
        weights.append(count)
        shapes.append([n, *rest] if rest else None)
        if not rest:
            break
    return {"shapes": shapes, "weights": weights}


def filled(shapes: dict[str, tuple], seed: float, like: Tensor) -> dict[str, Tensor]:
    """Weights of these shapes: cosines, their phase told by the name, over the root of the inputs of a neuron."""
    weights = {}
    for name, shape in shapes.items():
        k = torch.arange(
            1, math.prod(shape) + 1, device=like.device, dtype=torch.float64
        )
        phase = sum(i * ord(letter) for i, letter in enumerate(name))
        values = torch.cos(seed * k + phase) / math.prod(shape[1:]) ** 0.5
        weights[name] = values.reshape(shape).to(like.dtype)
    return weights


def _count(shapes):
    return sum(math.prod(shape) for shape in shapes.values())


def _layer(name, *shape, bias=True):
    weight = {f"{name}.weight": shape}
    return weight | {f"{name}.bias": shape[:1]} if bias else weight


LENET = (
    _layer("c1", 6, 1, 5, 5)
    | _layer("c3", 16, 6, 5, 5)
    | _layer("c5", 120, 400)
    | _layer("f6", 84, 120)
    | _layer("out", 10, 84)
)


def lenet(x: Tensor, seed: float) -> dict:
    """The mean of four as a convolution with equal weights. x (n, 1, 4, 4): each pixel becomes 8 by 8."""
    p, h = filled(LENET, seed, x), torch.kron(x, x.new_ones(8, 8))
    for name in ("c1", "c3"):
        h = F.conv2d(h, p[f"{name}.weight"], p[f"{name}.bias"]).tanh()
        h = h.unfold(2, 2, 2).unfold(3, 2, 2).mean((-2, -1))
    h = h.reshape(len(x), -1)
    for name in ("c5", "f6", "out"):
        h = h @ p[f"{name}.weight"].mT + p[f"{name}.bias"]
        h = h.tanh() if name != "out" else h
    return {"out": h, "weights": _count(LENET), "learning": len(LENET)}


def train(
    X: Tensor,
    y: Tensor,
    K: Tensor,
    W: Tensor,
    rate: float,
    momentum: float,
    epochs: int,
    batch: int,
    seed: int,
) -> dict:
    """SGD with momentum by autograd.grad: a network of one kernel size, ReLU, then scores by W."""
    params = [K, K.new_zeros(len(K)), W, W.new_zeros(len(W))]
    params = [part.detach().clone().requires_grad_(True) for part in params]
    g, moving, losses = torch.Generator().manual_seed(seed), [0, 0, 0, 0], []
    for _ in range(epochs):
        order, told = torch.randperm(len(X), generator=g).to(X.device), []
        for first in range(0, len(X), batch):
            rows = order[first : first + batch]
            k, b, w, c = params
            scores = F.conv2d(X[rows], k, b).relu().flatten(1) @ w.mT + c
            each = scores.logsumexp(1) - scores.gather(1, y[rows, None])[:, 0]
            slopes = torch.autograd.grad(each.mean(), params)
            moving = [
                momentum * old + new for old, new in zip(moving, slopes, strict=True)
            ]
            params = [
                (part - rate * step).detach().requires_grad_(True)
                for part, step in zip(params, moving, strict=True)
            ]
            told.append(each.detach())
        losses.append(torch.cat(told).mean())
    names = ("kernels", "bias", "W", "b")
    return {"losses": torch.stack(losses) if losses else X.new_zeros(0)} | {
        name: part.detach() for name, part in zip(names, params, strict=True)
    }


def moved(X: Tensor, down: int, right: int) -> Tensor:
    """By matrices of zeros and ones: X (*batch, h, w) -> the same shape."""
    h, w = X.shape[-2:]
    rows, cols = torch.arange(h, device=X.device), torch.arange(w, device=X.device)
    up = (rows[:, None] == rows + down).to(X.dtype)
    left = (cols[:, None] == cols + right).to(X.dtype)
    return up @ X @ left.mT


def refined_shapes(a: int, b: int, T: int) -> dict[str, tuple]:
    """Parameters of a refined layer by name."""
    shapes = _layer("enter", b, a, 3, 3)
    for t in range(T):
        shapes |= _layer(f"steps.{t}", b, b, 3, 3)
    return shapes


def refined(
    x: Tensor, b: int, T: int, stride: int, plain: bool, seed: float | None
) -> dict:
    """The sum of all that the steps add, or only the last; without a seed all steps are 0."""
    shapes = refined_shapes(x.shape[1], b, T)
    p = filled(shapes, 1.0 if seed is None else seed, x)
    entrance = p["enter.weight"].requires_grad_(True)
    h = F.conv2d(x, entrance, p["enter.bias"], stride, 1).relu()
    parts = [h]
    for t in range(T if seed is not None else 0):
        h = F.conv2d(h, p[f"steps.{t}.weight"], p[f"steps.{t}.bias"], padding=1).relu()
        parts.append(h)
        h = h if plain else torch.stack(parts).sum(0)
    if seed is None and plain and T:
        h = 0 * h
    (slopes,) = torch.autograd.grad(h.sum(), entrance)
    found = {"out": h.detach(), "slopes": slopes}
    return found | {"weights": _count(shapes), "learning": len(shapes)}


def top_patches(
    X: Tensor, V: Tensor, kernel: int, k: int, size: int, jump: int
) -> Tensor:
    """The k windows with the largest inner products with one kernel of V (o, c, size, size), largest first."""
    windows = X.unfold(2, size, jump).unfold(3, size, jump).permute(0, 2, 3, 1, 4, 5)
    windows = windows.flatten(0, 2)
    said = (windows * V[kernel]).sum((1, 2, 3))
    return windows[said.argsort(descending=True)[:k]]


def block_shapes(a: int, b: int, stride: int) -> dict[str, tuple]:
    """Parameters of a basic block by name."""
    shapes = _layer("conv1", b, a, 3, 3, bias=False) | _layer("norm1", b)
    shapes |= _layer("conv2", b, b, 3, 3, bias=False) | _layer("norm2", b)
    if stride != 1 or a != b:
        shapes |= _layer("short.0", b, a, 1, 1, bias=False) | _layer("short.1", b)
    return shapes


def basic_block(x: Tensor, b: int, stride: int, seed: float) -> dict:
    """Each norm by the mean and variance of its channel, written out; later, by what it has kept from then."""
    shapes = block_shapes(x.shape[1], b, stride)
    p, kept = filled(shapes, seed, x), {}

    def norm(h, name):
        if name in kept:
            mean, var = kept[name]
        else:
            mean, var = (
                part[:, None, None]
                for part in (h.mean((0, 2, 3)), h.var((0, 2, 3), correction=0))
            )
            n = h.numel() / h.shape[1]
            kept[name] = 0.1 * mean, 0.9 + 0.1 * var * n / (n - 1)
        h = (h - mean) / (var + 1e-5).sqrt()
        return h * p[f"{name}.weight"][:, None, None] + p[f"{name}.bias"][:, None, None]

    def through():
        h = norm(F.conv2d(x, p["conv1.weight"], None, stride, 1), "norm1").relu()
        h, short = norm(F.conv2d(h, p["conv2.weight"], padding=1), "norm2"), x
        if "short.0.weight" in p:
            short = norm(F.conv2d(x, p["short.0.weight"], None, stride), "short.1")
        return (h + short).relu()

    out, later = through(), through()
    counts = {"weights": _count(shapes), "learning": len(shapes)}
    return {"out": out, "later": later} | counts

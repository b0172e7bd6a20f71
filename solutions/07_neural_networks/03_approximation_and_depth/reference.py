"""Approximation by sigmoid steps, ReLU kinks and folds; training by Adam; and the region bound.

n points or cells, k units, m inputs, c outputs. Batches lead.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

LEAK = 0.01  # slope of the leaky ReLU for negative arguments


def collapse(Ws: list[Tensor], bs: list[Tensor]) -> tuple[Tensor, Tensor]:
    """The affine map that a stack of affine layers is: W_K(… (W_1 x + b_1) …) + b_K = W x + b.

    Ws[l] (*batch, n_l, n_(l-1)), bs[l] (*batch, n_l) -> W (*batch, n_K, n_0), b (*batch, n_K).
    The image of the origin is b, the images of the unit vectors are the columns of W + b.
    """
    n_inputs = Ws[0].shape[-1]
    corners = torch.eye(n_inputs, dtype=Ws[0].dtype, device=Ws[0].device)
    points = torch.cat([corners.new_zeros(n_inputs, 1), corners], -1)
    for W, b in zip(Ws, bs, strict=True):
        points = W @ points + b.unsqueeze(-1)
    return points[..., 1:] - points[..., :1], points[..., 0]


def activation(name: str, z: Tensor) -> tuple[Tensor, Tensor]:
    """Value and slope of an activation, any shape -> two tensors of that shape.

    relu (slope 0 at 0), leaky (0.01 z for z <= 0, slope 0.01 at 0), elu (e^z - 1 for z < 0), sigmoid, tanh.
    """
    one = torch.ones_like(z)
    if name == "relu":
        return z.clamp(min=0), torch.where(z > 0, one, 0 * one)
    if name == "leaky":
        return torch.where(z > 0, z, LEAK * z), torch.where(z > 0, one, LEAK * one)
    if name == "elu":
        low = z.clamp(max=0)
        return torch.where(z > 0, z, torch.expm1(low)), torch.exp(low)
    if name == "sigmoid":
        return torch.sigmoid(z), torch.sigmoid(z) * torch.sigmoid(-z)
    if name == "tanh":
        return torch.tanh(z), 4 * torch.sigmoid(2 * z) * torch.sigmoid(-2 * z)
    raise ValueError(f"activation: no activation is called {name!r}.")


def step_outputs(values: Tensor) -> dict:
    """What a network of steps must give at the points 1, …, n, with no neuron too many.

    values (*batch, n). The jump from value s - 1 to value s stands between the points, so all jumps
    up to s have happened at s: a running sum of the jumps.
    """
    before = torch.cat([torch.zeros_like(values[..., :1]), values[..., :-1]], -1)
    return {"outputs": (values - before).cumsum(-1), "neurons above the limit": 0}


def cells_needed(L: float, a: float, b: float, eps: float) -> int:
    """Fewest equal cells of [a, b] that are at most eps / L wide, at least one."""
    return max(1, math.ceil(L * (b - a) / eps))


def staircase_outputs(amp, freq, phase, a, b, eps) -> dict:
    """The staircase of amp sin(freq x + phase) on [a, b]: each cell's value in its middle, three times.

    The cells are the fewest on which the function, with Lipschitz constant |amp freq|, varies by eps at most.
    """
    n = cells_needed(abs(amp * freq), a, b, eps)
    middle = a + (b - a) * (torch.arange(n, dtype=torch.float64) + 0.5) / n
    heights = amp * torch.sin(freq * middle + phase)
    return {"heights": heights.repeat_interleave(3), "neurons above the limit": 0}


FRACTIONS = (0.0, 0.25, 0.5, 1.0)


def interpolant_outputs(xs: Tensor, ys: Tensor) -> dict:
    """The broken line through (xs, ys), at four places of each gap between neighbours.

    xs, ys (*batch, n), xs increasing -> (*batch, 4 (n - 1)).
    """
    places = xs.new_tensor(FRACTIONS)
    line = ys[..., :-1, None] * (1 - places) + ys[..., 1:, None] * places
    return {"outputs": line.flatten(-2), "units above the limit": 0}


def square_outputs(n: int) -> dict:
    """The broken line through x² at multiples of 2^-n, at the 101 hundredths of [0, 1]; no layer or unit too many."""
    x = torch.arange(101, dtype=torch.float64) / 100
    left = (x * 2**n).floor().clamp(max=2**n - 1) / 2**n
    right = left + 0.5**n
    line = left**2 + (x - left) * (
        left + right
    )  # the slope between two squares is the sum of the places
    return {"outputs": line, "layers above the limit": 0, "units of a layer above 3": 0}


def trained(
    layers: list,
    X: Tensor,
    Y: Tensor,
    rate: float,
    steps: int,
    phi: Callable = torch.relu,
) -> tuple[list, list]:
    """Adam on the mean squared error of a network of layers (W, b) -> trained layers, losses before each step.

    W (units, inputs), b (units,), X (N, inputs), Y (N, outputs). phi after each layer but the last.
    Source: Kingma and Ba, Adam (2015), algorithm 1.
    """
    params = [part for pair in layers for part in pair]
    first, second = ([torch.zeros_like(part) for part in params] for _ in range(2))
    losses = []
    for step in range(1, steps + 1):
        loss, slopes = _loss_and_slopes(params, X, Y, phi)
        losses.append(loss)
        for i, g in enumerate(slopes):
            first[i] = 0.9 * first[i] + 0.1 * g
            second[i] = 0.999 * second[i] + 0.001 * g**2
            mean, power = first[i] / (1 - 0.9**step), second[i] / (1 - 0.999**step)
            params[i] = params[i] - rate * mean / (power.sqrt() + 1e-8)
    return list(zip(params[::2], params[1::2], strict=True)), losses


def _loss_and_slopes(params: list, X: Tensor, Y: Tensor, phi: Callable):
    with torch.enable_grad():
        params = [part.detach().requires_grad_() for part in params]
        h = X
        for W, b in zip(params[:-2:2], params[1:-2:2], strict=True):
            h = phi(h @ W.mT + b)
        loss = torch.mean((h @ params[-2].mT + params[-1] - Y) ** 2)
        return loss.detach(), torch.autograd.grad(loss, params)


def budget(sizes: list[int]) -> list[int]:
    """Multiplications of one forward pass, and an upper bound on the linear regions.

    sizes = [n_0, n_1, …, n_K, outputs]: inputs, K hidden ReLU layers, outputs. A layer cuts what reaches it, a set of
    dimension at most d = min(n_0, …, n_(l-1)), into at most Σ_(j ≤ d) C(n_l, j) parts.
    Source: Montúfar, Notes on the number of linear regions of deep neural networks (2017).
    """
    multiplications = sum(a * b for a, b in zip(sizes, sizes[1:], strict=False))
    regions = 1
    for layer in range(1, len(sizes) - 1):
        dimension = min(sizes[:layer])
        regions *= sum(math.comb(sizes[layer], j) for j in range(dimension + 1))
    return [multiplications, regions]

"""Stochastic training: batches, gradient noise, schedules, accumulation, clipping.

Axes: n rows, d features. Every function takes tensors on any device, in either float type, and
leaves its arguments as they were.
"""

import math

import torch
from torch import Tensor

__all__ = [
    "accumulate",
    "batch_report",
    "clip_by_norm",
    "grad_variance",
    "lr_schedule",
    "perceptron_grad",
    "sgd_least_squares",
]


def perceptron_grad(w: Tensor, X: Tensor, y: Tensor, idx: Tensor) -> Tensor:
    """Gradient of the mean of max(0, -y <w, x>) over the rows idx.

    w (*batch, d), X (n, d), y (n,), idx (m,) -> (*batch, d).
    A row with y <w, x> = 0 counts as a mistake, so that w = 0 can be left.
    """
    rows, labels = X[idx], y[idx].to(X.dtype)
    mistakes = (labels * (w @ rows.mT) <= 0).to(X.dtype)
    return -(mistakes * labels) @ rows / len(idx)


def batch_report(n: int, B: int, seed: int, drop_last: bool) -> dict:
    """What any correct split of range(n) into shuffled batches of B looks like; see the probe of `minibatches`."""
    full, rest = divmod(n, B)
    sizes = [B] * full + [rest] * (rest > 0 and not drop_last)
    return dict(
        sizes=sizes,
        no_row_twice=True,
        rows_outside=0,
        rows_in_order=False,
        batches_of_neighbours=0,
        batches_met_again_next_epoch=0,
        row_0_always_in_the_first_batch=False,
        rows_left_out_of_all_of_8_epochs=0,
        same_seed_same_batches=True,
    )


def sgd_least_squares(
    X: Tensor, y: Tensor, w0: Tensor, lr0: float, c: float, batches: list
) -> Tensor:
    """Iterates of SGD on (1/2m) |X_b w - y_b|^2 with rate lr0 / (1 + c t). w0 (d,) -> (len(batches) + 1, d).

    Runs torch.optim.SGD on autograd's gradients.
    """
    w = w0.detach().clone().requires_grad_()
    optimiser = torch.optim.SGD([w], lr=lr0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda t: 1 / (1 + c * t))
    path = [w.detach().clone()]
    for idx in batches:
        optimiser.zero_grad()
        with torch.enable_grad():
            (0.5 * (X[idx] @ w - y[idx]).square().mean()).backward()
        optimiser.step()
        schedule.step()
        path.append(w.detach().clone())
    return torch.stack(path)


def grad_variance(G: Tensor, B: int, replace: bool) -> Tensor:
    """Variance of the mean of B random rows of G, by coordinate. G (*batch, n, d), n >= 2 -> (*batch, d)."""
    n = G.shape[-2]
    spread = (G - G.mean(-2, keepdim=True)).square().mean(-2)
    return spread / B * (1.0 if replace else (n - B) / (n - 1))


def lr_schedule(
    ts: Tensor, base: float, warmup: int, total: int, kind: str, floor: float = 0.0
) -> Tensor:
    """Rates at the steps ts (any shape): linear to base at warmup, then "cosine" to floor at total, or "rsqrt"."""
    t = ts if ts.is_floating_point() else ts.double()
    if kind == "cosine":
        progress = ((t - warmup) / (total - warmup)).clamp(0, 1)
        later = floor + (base - floor) * (1 + torch.cos(math.pi * progress)) / 2
    elif kind == "rsqrt":
        later = base * (warmup / t.clamp(min=1)).sqrt()
    else:
        raise ValueError(f'lr_schedule: kind is "{kind}". Use "cosine" or "rsqrt".')
    return torch.where(t < warmup, base * t / max(warmup, 1), later)


def accumulate(X: Tensor, y: Tensor, w: Tensor, batches: list) -> Tensor:
    """Gradient of (1/2m) |X_b w - y_b|^2 over all m rows of the batches at once. w (d,) -> (d,)."""
    rows = torch.cat([torch.as_tensor(b, device=X.device) for b in batches])
    return X[rows].mT @ (X[rows] @ w - y[rows]) / len(rows)


def clip_by_norm(grads: list[Tensor], c: float) -> list[Tensor]:
    """The gradients scaled together so that their common 2-norm is at most c. Shapes and direction stay."""
    norm = torch.stack([g.square().sum() for g in grads]).sum().sqrt()
    factor = (c / norm.clamp(min=c)).to(grads[0].dtype)
    return [factor * g for g in grads]

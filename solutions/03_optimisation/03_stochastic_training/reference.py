"""Stochastic training: batches, gradient noise, the loop, schedules, clipping, accumulation, averages.

Axes: n rows, d features. Every function takes tensors on any device, in either float type, and leaves its arguments
as they were.
"""

import math

import torch
from torch import Tensor

__all__ = [
    "accumulate",
    "average_weights",
    "batch_report",
    "clip_by_norm",
    "grad_variance",
    "lr_schedule",
    "perceptron_grad",
    "train",
]


def perceptron_grad(w: Tensor, X: Tensor, y: Tensor, idx: Tensor) -> Tensor:
    """Gradient of the mean of max(0, -y <w, x>) over the rows idx.

    w (*batch, d), X (n, d), y (n,), idx (m,) -> (*batch, d).
    A row with y <w, x> = 0 counts as a mistake, so that w = 0 can be left.
    """
    rows, labels = X[idx], y[idx].to(X.dtype)
    mistakes = (labels * (w.to(X.dtype) @ rows.mT) <= 0).to(X.dtype)
    return -(mistakes * labels) @ rows / len(idx)


def batch_report(n: int, B: int, seed: int, drop_last: bool) -> dict:
    """What any right deal of range(n) into shuffled batches of B looks like; see the probe of `minibatches`."""
    full, rest = divmod(n, B)
    return dict(
        sizes=[B] * full + [rest] * (rest > 0 and not drop_last),
        no_row_twice=True,
        rows_outside=0,
        rows_in_order=False,
        batches_of_neighbours=0,
        batches_met_again_next_epoch=0,
        row_0_always_in_the_first_batch=False,
        rows_left_out_of_all_of_8_epochs=0,
        same_seed_same_batches=True,
    )


def train(
    X: Tensor,
    goal: Tensor,
    w0: Tensor,
    deals: list,
    lr0: float,
    slowing: float,
    max_epochs: int,
    patience: int,
) -> dict:
    """SGD on the mean of ½ |w - x_i|² over the rows of a batch, scored by |w - goal|²; see the probe of `train`.

    X (n, d), goal and w0 (d,), deals: for each epoch its batches. Rate lr0 / (1 + slowing t). Every epoch is made by
    torch.optim.SGD on autograd's gradients; where the run ends is decided afterwards.
    """
    w = w0.detach().to(X.dtype).clone().requires_grad_()
    optimiser = torch.optim.SGD([w], lr=lr0)
    rates = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda t: 1 / (1 + slowing * t)
    )
    visited = [w.detach().clone()]
    for batches in deals[:max_epochs]:
        for idx in batches:
            optimiser.zero_grad()
            with torch.enable_grad():
                (0.5 * (w - X[idx]).square().sum(-1).mean()).backward()
            optimiser.step()
            rates.step()
        visited.append(w.detach().clone())
    scores = [float((w - goal).square().sum()) for w in visited]
    best, end = 0, len(scores) - 1
    for k, score in enumerate(scores):
        best = k if score < scores[best] else best
        if k - best >= patience:
            end = k
            break
    return dict(
        best=visited[best],
        scores=torch.stack([w.new_tensor(s) for s in scores[: end + 1]]),
        updates=sum(len(batches) for batches in deals[:end]),
        epochs_dealt=end,
        scores_asked=end + 1,
    )


def grad_variance(G: Tensor, B: int, replace: bool) -> Tensor:
    """Variance of the mean of B random rows of G, by coordinate. G (*batch, n, d), n >= 2 -> (*batch, d)."""
    G, n = G if G.is_floating_point() else G.double(), G.shape[-2]
    spread = (G - G.mean(-2, keepdim=True)).square().mean(-2)
    return spread / B * (1.0 if replace else (n - B) / (n - 1))


def lr_schedule(
    ts: Tensor, base: float, warmup: int, kind: str, length: int, floor: float = 0.0
) -> Tensor:
    """Rates at the steps ts (any shape): linear to base at warmup, then one of four decays over `length` steps."""
    t = ts if ts.is_floating_point() else ts.double()
    s = ((t - warmup) / length).clamp(min=0)
    later = {
        "steps": base * 0.1 ** ((s > 0.5).to(t.dtype) + (s > 1).to(t.dtype)),
        "inverse": base / (1 + s),
        "root": base * (1 + s).rsqrt(),
        "cosine": floor + (base - floor) * torch.cos(math.pi / 2 * s.clamp(max=1)) ** 2,
    }[kind]
    return torch.where(t < warmup, base * t / max(warmup, 1), later)


def clip_by_norm(grads: list[Tensor], c: float) -> list[Tensor]:
    """The gradients scaled together so that their common 2-norm is at most c. Shapes and direction stay."""
    grads = [g if g.is_floating_point() else g.double() for g in grads]
    norm = torch.stack([g.square().sum() for g in grads]).sum().sqrt()
    return [c / norm.clamp(min=c) * g for g in grads]


def accumulate(X: Tensor, y: Tensor, w: Tensor, batches: list) -> Tensor:
    """Gradient of (1/2m) |X_b w - y_b|² over all m rows of the batches at once. w (d,) -> (d,)."""
    rows = torch.cat([torch.as_tensor(b, device=X.device) for b in batches])
    return X[rows].mT @ (X[rows] @ w.to(X.dtype) - y[rows]) / len(rows)


def average_weights(states: list[dict]) -> dict:
    """Mean of the floating entries of several dicts of one build; entries of whole numbers from the last."""
    return {
        name: torch.stack([s[name] for s in states]).mean(0)
        if last.is_floating_point()
        else last
        for name, last in states[-1].items()
    }

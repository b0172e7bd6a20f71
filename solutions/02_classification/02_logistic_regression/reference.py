"""Logistic regression: sigmoid, loss and gradient, two ways to train, costs, odds ratios and reliability.

n rows, d features of which the first is the constant 1, labels 0 or 1. Batches lead. Sources: cs480 4,
moon 7.1, wu 1.5, guo I.3 and II.1, explainers 2.2.
"""

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, one_hot


def floats(*arrays: Tensor) -> tuple[Tensor, ...]:
    """All in the precision of those that are floating; whole numbers alone become float64."""
    kinds = [a.dtype for a in arrays if a.is_floating_point()] or [torch.float64]
    return tuple(a.to(kinds[0]) for a in arrays)


def sigmoid(z: Tensor) -> Tensor:
    """1 / (1 + exp(-z)) without overflow. z (any shape) -> same shape."""
    return torch.special.expit(*floats(z))


def nll(w: Tensor, X: Tensor, y: Tensor) -> Tensor:
    """Mean negative log-likelihood. The label picks the side of the score: -log sigmoid(±s).

    w (*batch, d), X (*batch, n, d), y (*batch, n) -> (*batch,).
    """
    s = (X * w.unsqueeze(-2)).sum(-1)
    return -logsigmoid((2 * y - 1) * s).mean(-1)


def nll_and_grad(w: Tensor, X: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The loss, and its gradient row by row: a row pulls with the probability of the wrong label.

    w (*batch, d), X (*batch, n, d), y (*batch, n) -> (*batch,), (*batch, d).
    """
    w, X, y = floats(w, X, y)
    t = 2 * y - 1
    wrong = torch.sigmoid(-t * (X * w.unsqueeze(-2)).sum(-1))
    return nll(w, X, y), -((t * wrong).unsqueeze(-1) * X).mean(-2)


def descend(
    X: Tensor, y: Tensor, rate: float, tol: float, max_steps: int
) -> tuple[Tensor, list[Tensor], str]:
    """Gradient descent on the mean NLL from 0 until flat, rising or out of steps.

    X (n, d), y (n,) -> path (k + 1, d), k + 1 losses, how it ended.
    """
    X, y = floats(X, y)
    w, path, losses = X.new_zeros(X.shape[-1]), [], []
    for step in range(max_steps + 1):
        loss, gradient = nll_and_grad(w, X, y)
        path.append(w)
        losses.append(loss)
        if gradient.norm() <= tol:
            return torch.stack(path), losses, "flat"
        if step and loss > losses[-2]:
            return torch.stack(path), losses, "rising"
        w = w - rate * gradient
    return torch.stack(path), losses, "open"


def newton(
    X: Tensor,
    y: Tensor,
    lam: float,
    start: Tensor,
    tol: float,
    max_steps: int,
) -> tuple[Tensor, str]:
    """Newton's method with halved steps on mean NLL + lam/2 Σ_{j≥1} w_j², slope and curvature by autograd.

    X (n, d), y (n,), start (d,) -> path (k + 1, d), "flat" or "open". Inside all is float64: far out p(1 - p) is
    small, and its rounding sets the length of a step.
    """
    dtype = floats(start, X, y)[0].dtype
    w, X, y = start.double(), X.double(), y.double()

    def F(v):
        return nll(v, X, y) + lam / 2 * v[1:].square().sum()

    path = [w]
    for _ in range(max_steps):
        g = torch.func.grad(F)(w)
        if g.norm() <= tol:
            return torch.stack(path).to(dtype), "flat"
        full = torch.linalg.solve(torch.func.hessian(F)(w), g)
        share = 1.0
        while F(w - share * full) > F(w):
            share /= 2
        w = w - share * full
        path.append(w)
    flat = torch.func.grad(F)(w).norm() <= tol
    return torch.stack(path).to(dtype), "flat" if flat else "open"


def decide(
    p: Tensor, y: Tensor, c_fp: float, c_fn: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Labels of lowest expected cost, 0 on a tie; false alarms, misses, and the mean cost that came true.

    p, y (*batch, n) -> (*batch, n) integers, and three (*batch,).
    """
    p, y = floats(p, y)
    said = (p * c_fn > (1 - p) * c_fp).to(p.dtype)
    alarm, miss = said * (1 - y), (1 - said) * y
    cost = (c_fp * alarm + c_fn * miss).mean(-1)
    return said.long(), alarm.sum(-1).long(), miss.sum(-1).long(), cost


def odds_ratios(X: Tensor, w: Tensor) -> Tensor:
    """exp of each weight and of the ends of its 95 % interval, ± 1.96 standard errors.

    X (*batch, n, d), w (*batch, d) -> (*batch, d, 3). With √S X = QR the covariance is R⁻¹ R⁻ᵀ.
    """
    X, w = floats(X, w)
    s = (X * w.unsqueeze(-2)).sum(-1)
    root = (logsigmoid(s) / 2 + logsigmoid(-s) / 2).exp()
    R = torch.linalg.qr(root.unsqueeze(-1) * X).R
    eye = torch.eye(X.shape[-1], dtype=X.dtype, device=X.device)
    inverse = torch.linalg.solve_triangular(R, eye.expand_as(R), upper=True)
    error = inverse.square().sum(-1).sqrt()
    return torch.stack([w, w - 1.96 * error, w + 1.96 * error], -1).exp()


def reliability(p: Tensor, y: Tensor, bins: int) -> Tensor:
    """Mean probability, mean label and count of each of `bins` equal bins of [0, 1].

    p, y (*batch, n) -> (*batch, bins, 3). Bin b holds b/bins <= p < (b + 1)/bins, the last also p = 1.
    An empty bin is a row of zeros.
    """
    p, y = floats(p, y)
    index = (p * bins).floor().long().clamp(max=bins - 1)
    member = one_hot(index, bins).to(p.dtype).mT
    count = member.sum(-1)
    sums = member @ torch.stack([p, y], -1)
    return torch.cat([sums / count.clamp(min=1).unsqueeze(-1), count.unsqueeze(-1)], -1)

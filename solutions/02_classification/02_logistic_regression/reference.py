"""Logistic regression: sigmoid, likelihood, gradient, Newton steps, decisions and reliability.

n rows, d features of which the first is the constant 1, labels 0 or 1. Batches lead. Sources: cs480 4,
moon 7.1, wu 1.5, guo I.3 and II.1, explainers 2.2; IRLS as in McCullagh and Nelder, Generalized Linear
Models (1989).
"""

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, one_hot


def sigmoid(z: Tensor) -> Tensor:
    """1 / (1 + exp(-z)) without overflow. z (any shape, floating) -> same shape and dtype."""
    return torch.special.expit(z)


def scores(X: Tensor, w: Tensor) -> Tensor:
    """Signed scores <x_i, w>. X (*batch, n, d), w (*batch, d) -> (*batch, n)."""
    return (X @ w.unsqueeze(-1)).squeeze(-1)


def log_likelihood(w: Tensor, X: Tensor, y: Tensor) -> Tensor:
    """Sum of the Bernoulli log-probabilities of the labels under p = sigmoid(Xw).

    w (*batch, d), X (*batch, n, d), y (*batch, n) -> (*batch,). The label picks the side of the score:
    log p(y) is log sigmoid(s) for y = 1 and log sigmoid(-s) for y = 0.
    """
    s = scores(X, w)
    return (y * logsigmoid(s) + (1 - y) * logsigmoid(-s)).sum(-1)


def nll_grad(w: Tensor, X: Tensor, y: Tensor) -> Tensor:
    """Gradient of the mean negative log-likelihood: the mean of (p_i - y_i) x_i.

    w (*batch, d), X (*batch, n, d), y (*batch, n) -> (*batch, d).
    """
    return ((sigmoid(scores(X, w)) - y).unsqueeze(-1) * X).mean(-2)


def newton_path(X: Tensor, y: Tensor, lam: float, steps: int) -> Tensor:
    """Newton's iterates from 0 on mean NLL + lam/2 Σ_{j≥1} w_j², as weighted least squares.

    X (*batch, n, d) of full column rank, y (*batch, n) -> (*batch, steps + 1, d). A step solves
    min_w Σ_i v_i (z_i - <x_i, w>)² + n lam Σ_{j≥1} w_j² with v = p(1 - p), z = s + (y - p)/v, by QR.
    With t = 2y - 1 the number (y - p)/√v is t exp(-t s/2): no p is divided by.
    """
    *batch, n, d = X.shape
    w, t = X.new_zeros(*batch, d), 2 * y - 1
    root = torch.full((d,), n * lam, dtype=X.dtype, device=X.device).sqrt()
    penalty = torch.diag(root * (torch.arange(d, device=X.device) > 0)).expand(
        *batch, d, d
    )
    path = [w]
    for _ in range(steps):
        s = scores(X, w)
        v_root = (logsigmoid(s) / 2 + logsigmoid(-s) / 2).exp()
        target = v_root * s + t * (-t * s / 2).exp()
        A = torch.cat([v_root.unsqueeze(-1) * X, penalty], -2)
        b = torch.cat([target, X.new_zeros(*batch, d)], -1).unsqueeze(-1)
        Q, R = torch.linalg.qr(A)
        w = torch.linalg.solve_triangular(R, Q.mT @ b, upper=True).squeeze(-1)
        path.append(w)
    return torch.stack(path, -2)


def decisions(X: Tensor, w: Tensor, c_fp: float, c_fn: float) -> Tensor:
    """Labels of lowest expected cost; 0 on a tie. X (*batch, n, d), w (*batch, d) -> (*batch, n) integers.

    1 pays where p c_fn > (1 - p) c_fp, that is where the log-odds exceed log(c_fp / c_fn).
    """
    ratio = torch.as_tensor(c_fp / c_fn, dtype=X.dtype, device=X.device)
    return (scores(X, w) > ratio.log()).long()


def reliability(p: Tensor, y: Tensor, bins: int) -> Tensor:
    """Mean probability, mean label and count of each of `bins` equal bins of [0, 1].

    p, y (*batch, n) -> (*batch, bins, 3). Bin b holds b/bins <= p < (b + 1)/bins, the last also p = 1.
    An empty bin is a row of zeros.
    """
    index = (p * bins).floor().long().clamp(max=bins - 1)
    member = one_hot(index, bins).to(p.dtype).mT
    count = member.sum(-1)
    sums = member @ torch.stack([p, y.to(p.dtype)], -1)
    return torch.cat([sums / count.clamp(min=1).unsqueeze(-1), count.unsqueeze(-1)], -1)

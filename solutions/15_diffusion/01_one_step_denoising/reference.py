"""One step of noise: Bayes' rule by counting and on a grid, scores of crowds, steps along them.

Every function works on the device and in the dtype of its arguments.
"""

import math

import torch
from torch import Tensor


def real(x: Tensor) -> Tensor:
    """Whole numbers as float64, all others as they are."""
    return x if x.is_floating_point() else x.double()


def backward_kernel(p: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    """Arrivals (l,) and r(x | y) as rows (l, k), by products of matrices. p (k,), q (k, l)."""
    p = p.to(q.dtype)
    arrivals = p @ q
    scale = torch.where(arrivals > 0, 1 / arrivals, torch.zeros_like(arrivals))
    return arrivals, torch.diag(scale) @ q.T @ torch.diag(p)


def move(states: Tensor, kernel: Tensor, u: Tensor) -> Tensor:
    """The first y whose running sum exceeds u, by bisection. states, u (n,), kernel (k, l) -> (n,)."""
    sums = kernel.cumsum(1)[states]
    return torch.searchsorted(sums, u[:, None], right=True)[:, 0]


def grid_posterior(
    x: Tensor, p: Tensor, y: float, sigma: float
) -> tuple[Tensor, Tensor]:
    """r(x | y) on a grid (m,), and the noisy density at y, by logarithms. x, p (m,)."""
    x = x.to(p.dtype)
    dx = (x[-1] - x[0]) / (len(x) - 1)
    joint = p.log() - ((y - x) / sigma).square() / 2
    area = joint.logsumexp(0) + dx.log()
    return (joint - area).exp(), (area - math.log(2 * math.pi * sigma**2) / 2).exp()


def crowd_score(y: Tensor, crowd: Tensor, h: float) -> Tensor:
    """The gradient of the log of a mean of bells, by autograd. y (*batch, n, d), crowd (*batch, m, d)."""

    def log_density(y):
        return (
            (-(y.unsqueeze(-2) - crowd.unsqueeze(-3)).square().sum(-1) / (2 * h**2))
            .logsumexp(-1)
            .sum()
        )

    return torch.func.grad(log_density)(real(y))


def spread_and_error(lam: float, v: float, sigma2: float) -> tuple[float, float]:
    """Variance of y + λ σ² s(y), and its error: what nobody can avoid, plus the distance to the best guess."""
    step = sigma2**2 / (v + sigma2)  # the variance of the whole step
    return v + sigma2 - 2 * lam * sigma2 + lam**2 * step, sigma2 - step + (
        1 - lam
    ) ** 2 * step


def there_and_back(
    x: Tensor, up: Tensor, down: Tensor | None, sigma: float, lam: float, W: Tensor
) -> dict:
    """Rounds of a knock and a step along the score tanh(x W) - x.

    x (n, d), up and down (R, n, d), W (d, d) -> film (2R + 1, n, d), errors (R,), and how often the score is asked.
    """
    x = x.to(up.dtype)
    film = x.new_empty(2 * len(up) + 1, *x.shape)
    film[0] = x
    fresh = torch.zeros_like(up) if down is None else down
    for r in range(len(up)):
        y = torch.add(film[2 * r], up[r], alpha=sigma)
        film[2 * r + 1] = y
        film[2 * r + 2] = y + lam * sigma**2 * ((y @ W).tanh() - y) + sigma * fresh[r]
    moved = film[2::2] - film[:-1:2]
    return dict(film=film, errors=moved.square().sum(-1).mean(-1), asked=len(up))


def density_change(p: Tensor, dx: float, sigma2: float) -> Tensor:
    """σ²/2 times the second difference, with the density mirrored at both walls. p (*batch, m) -> (*batch, m)."""
    p = real(p)
    wide = torch.cat([p[..., :1], p, p[..., -1:]], -1)
    return sigma2 / (2 * dx**2) * (wide[..., 2:] - 2 * p + wide[..., :-2])

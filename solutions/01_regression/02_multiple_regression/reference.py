"""Multiple regression: least squares in every shape, the pseudo-inverse, weights, Huber's loss.

n rows, d features, t targets, S steps. Batches lead. Sources: Björck, Numerical Methods for Least
Squares Problems (1996); Huber, Robust Estimation of a Location Parameter (1964).
"""

import torch
from torch import Tensor

CUTOFF = 1e-10  # singular values below CUTOFF times the largest count as zero


def design_matrix(father: Tensor, mother: Tensor, boy: Tensor) -> Tensor:
    """Columns 1, father, mother, boy. Each (*batch, n) -> (*batch, n, 4)."""
    return torch.stack(
        [torch.ones_like(father), father, mother, boy.to(father.dtype)], -1
    )


def gradient(beta: Tensor, X: Tensor, y: Tensor) -> Tensor:
    """Gradient in beta of ½ ‖y - X beta‖². beta (*batch, d), X (*batch, n, d), y (*batch, n) -> (*batch, d)."""
    error = y - (X @ beta.unsqueeze(-1)).squeeze(-1)
    return -(X.mT @ error.unsqueeze(-1)).squeeze(-1)


def hat_matrix(X: Tensor) -> Tensor:
    """The orthogonal projection onto the columns of X, of any rank. X (*batch, n, d) -> (*batch, n, n)."""
    U, s, _ = torch.linalg.svd(X, full_matrices=False)
    U = U * _kept(s).unsqueeze(-2)
    return U @ U.mT


def least_squares(X: Tensor, Y: Tensor) -> Tensor:
    """Weights that minimise ‖Y - X B‖, by QR. X (*batch, n, d) with independent columns, Y (*batch, n, t)
    -> (*batch, d, t). Each target is fitted on its own."""
    Q, R = torch.linalg.qr(X)
    return torch.linalg.solve_triangular(R, Q.mT @ Y, upper=True)


def minimum_norm(X: Tensor, y: Tensor) -> Tensor:
    """The shortest minimiser of ‖y - X beta‖: the pseudo-inverse times y, for X of any shape and rank.

    X (*batch, n, d), y (*batch, n) -> (*batch, d).
    """
    U, s, Vh = torch.linalg.svd(X, full_matrices=False)
    kept = _kept(s)
    along = (U.mT @ y.unsqueeze(-1)).squeeze(-1) / torch.where(kept, s, 1.0)
    return (Vh.mT @ torch.where(kept, along, 0.0).unsqueeze(-1)).squeeze(-1)


def _kept(s: Tensor) -> Tensor:
    """Which singular values (*batch, k), in falling order, are not rounding: in float32, that is coarser."""
    cutoff = max(CUTOFF, 10 * torch.finfo(s.dtype).eps)
    return s > cutoff * s[..., :1]


def weighted_least_squares(X: Tensor, y: Tensor, R: Tensor) -> Tensor:
    """Minimises (y - X beta)ᵀ R⁻¹ (y - X beta), R the covariance of the noise, by whitening with R = L Lᵀ.

    X (*batch, n, d), y (*batch, n), R (*batch, n, n) positive definite -> (*batch, d).
    """
    L = torch.linalg.cholesky(R)
    white = torch.linalg.solve_triangular(
        L, torch.cat([X, y.unsqueeze(-1)], -1), upper=False
    )
    return least_squares(white[..., :-1], white[..., -1:]).squeeze(-1)


def huber_loss(residual: Tensor, delta: float) -> Tensor:
    """r²/2 for |r| <= delta, delta |r| - delta²/2 beyond. Any shape."""
    size = residual.abs()
    return torch.where(
        size <= delta, residual.square() / 2, delta * size - delta**2 / 2
    )


def huber_path(X: Tensor, y: Tensor, delta: float, steps: int) -> Tensor:
    """Iteratively reweighted least squares for Σ huber_loss(y - X beta), from the least squares fit.

    X (*batch, n, d) with independent columns, y (*batch, n) -> (*batch, steps + 1, d). Each step fits
    with weights delta / max(delta, |residual|).
    """
    y = y.unsqueeze(-1)
    path = [least_squares(X, y)]
    for _ in range(steps):
        size = (y - X @ path[-1]).abs()
        root = (delta / size.clamp(min=delta)).sqrt()
        path.append(least_squares(root * X, root * y))
    return torch.stack(path, -3).squeeze(-1)

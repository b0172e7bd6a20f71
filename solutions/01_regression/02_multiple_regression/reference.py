"""Multiple regression: design matrices, least squares in every shape, weights, Huber's loss.

n rows, d features, t targets, S steps. Batches lead. Sources: Björck, Numerical Methods for Least
Squares Problems (1996); Huber, Robust Estimation of a Location Parameter (1964).
"""

import torch
from torch import Tensor

CUTOFF = 1e-10  # singular values, and what is left of a column, up to this share count as nothing


def design_matrix(features: list) -> Tensor:
    """Ones, then each feature: a tensor (n,) as it is, n words as a 0/1 column for each but the first. -> (n, d)."""
    numbers = [f for f in features if isinstance(f, Tensor)]
    floating = [f for f in numbers if f.is_floating_point()]
    like = dict(
        dtype=floating[0].dtype if floating else torch.float64,
        device=numbers[0].device if numbers else None,
    )
    columns = [torch.ones(len(features[0]), **like)]
    for feature in features:
        if isinstance(feature, Tensor):
            columns.append(feature.to(like["dtype"]))
            continue
        words = sorted(set(feature))
        codes = torch.tensor(
            [words.index(word) for word in feature], device=like["device"]
        )
        columns += [(codes == k).to(like["dtype"]) for k in range(1, len(words))]
    return torch.stack(columns, -1)


def descent(X: Tensor, y: Tensor, beta: Tensor, eta: float, steps: int) -> Tensor:
    """Iterates of beta + eta Xᵀ(y - X beta), from beta (*batch, d). X (*batch, n, d), y (*batch, n)
    -> (*batch, S + 1, d)."""
    X = _floating(X)
    y, beta = y.to(X.dtype), beta.to(X.dtype)
    gram, target = X.mT @ X, (X.mT @ y.unsqueeze(-1)).squeeze(-1)
    path = [beta]
    for _ in range(steps):
        along = (gram @ path[-1].unsqueeze(-1)).squeeze(-1)
        path.append(path[-1] + eta * (target - along))
    return torch.stack(path, -2)


def hat_matrix(X: Tensor) -> Tensor:
    """The orthogonal projection onto the columns of X, of any rank. X (*batch, n, d) -> (*batch, n, n)."""
    U, s, _ = torch.linalg.svd(_floating(X), full_matrices=False)
    U = U * _kept(s).unsqueeze(-2)
    return U @ U.mT


def least_squares(X: Tensor, Y: Tensor) -> Tensor:
    """Weights that minimise ‖Y - X B‖, by QR. X (*batch, n, d) with independent columns, Y (*batch, n, t)
    -> (*batch, d, t). Each target is fitted on its own."""
    Q, R = torch.linalg.qr(X)
    return torch.linalg.solve_triangular(R, Q.mT @ Y, upper=True)


def used_columns(X: Tensor) -> list[int]:
    """Numbers of the columns of X (n, d) of which more than the cut-off of their length is left after earlier ones."""
    used: list[int] = []
    for j in range(X.shape[1]):
        column = X[:, j]
        Q = torch.linalg.qr(X[:, used])[0]
        left = column - Q @ (Q.mT @ column)
        if left.norm() > _cutoff(X) * column.norm():
            used.append(j)
    return used


def ols(X: Tensor, Y: Tensor) -> tuple[Tensor, list[int]]:
    """`least_squares` on the used columns, 0 for the others. X (n, d), Y (n,) or (n, t) -> (d,) or (d, t), numbers."""
    X = _floating(X)
    used, Y = used_columns(X), Y.to(X.dtype)
    weights = X.new_zeros(X.shape[1], *Y.shape[1:])
    scale = X[:, used].norm(dim=0)
    found = least_squares(X[:, used] / scale, Y.reshape(len(Y), -1)) / scale.unsqueeze(
        -1
    )
    weights[used] = found.reshape(len(used), *Y.shape[1:])
    return weights, used


def minimum_norm(X: Tensor, y: Tensor) -> Tensor:
    """The shortest minimiser of ‖y - X beta‖: the pseudo-inverse times y, for X of any shape and rank.

    X (*batch, n, d), y (*batch, n) -> (*batch, d).
    """
    X = _floating(X)
    U, s, Vh = torch.linalg.svd(X, full_matrices=False)
    kept = _kept(s)
    along = (U.mT @ y.to(X.dtype).unsqueeze(-1)).squeeze(-1) / torch.where(kept, s, 1.0)
    return (Vh.mT @ torch.where(kept, along, 0.0).unsqueeze(-1)).squeeze(-1)


def _kept(s: Tensor) -> Tensor:
    """Which singular values (*batch, k), in falling order, count."""
    return s > _cutoff(s) * s[..., :1]


def _cutoff(x: Tensor) -> float:
    """CUTOFF, or what is rounding: in float32, that is coarser."""
    return max(CUTOFF, 10 * torch.finfo(x.dtype).eps)


def _floating(x: Tensor) -> Tensor:
    return x if x.is_floating_point() else x.double()


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

"""Splines, interpolation and double descent: hinge features, the walk, what the data cannot see, descent, ranks.

n rows, p knots, d weights. Batches lead.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def _floating(x: Tensor) -> Tensor:
    return x if x.is_floating_point() else x.double()


def hinge_features(x: Tensor, p: int, xmin: float, xmax: float) -> Tensor:
    """max(0, x - b_j) with b_j = xmin + j (xmax - xmin) / (p + 1), j = 1 … p. x (*batch, n) -> (*batch, n, p)."""
    x = _floating(x)
    j = torch.arange(1, p + 1, dtype=x.dtype, device=x.device)
    knots = xmin + j * ((xmax - xmin) / (p + 1))
    return (x.unsqueeze(-1) - knots).clamp_min(0)


def knot_sweep(
    x: Tensor, y: Tensor, x_new: Tensor, y_new: Tensor, ps: Sequence[int]
) -> tuple[Tensor, Tensor, Tensor]:
    """Training error, test error and (p + 1) Σ β_j² of the spline with p knots on [0, 1], for each p in ps.

    x, y (*batch, n), x_new, y_new (*batch, m) -> three tensors (*batch, len(ps)). Least squares; among its
    solutions the one with the least Σ_{j>=1} β_j²; the intercept is free, so everything is centred.
    """
    train, test, bending = [], [], []
    y, y_new = _floating(y), _floating(y_new)
    mean = y.mean(-1, keepdim=True)
    for p in ps:
        features, new = (hinge_features(u, p, 0.0, 1.0) for u in (x, x_new))
        middle = features.mean(-2, keepdim=True)
        solve = torch.linalg.pinv(features - middle, rtol=_cut(features.dtype))
        beta = solve @ (y - mean).unsqueeze(-1)
        for F, target, errors in ((features, y, train), (new, y_new, test)):
            fit = mean + ((F - middle) @ beta).squeeze(-1)
            errors.append((fit - target).square().mean(-1))
        bending.append((p + 1) * beta.square().sum((-1, -2)))
    return torch.stack(train, -1), torch.stack(test, -1), torch.stack(bending, -1)


def _cut(dtype: torch.dtype) -> float:
    """Relative size below which a singular value counts as 0."""
    return 1e-12 if dtype == torch.float64 else 1e-5


def broken_line(x: Tensor, y: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Heights at the knots and slopes right of them, of the spline through all points, flat up to b_1.

    x, y (*batch, n), b (*batch, n - 1), one knot between neighbours. The changes of slope solve the triangular
    system Σ_k β_k max(0, x_j - b_k) = y_j - y_1.
    """
    x, y, b = (_floating(v) for v in (x, y, b))
    ramps = (x[..., 1:, None] - b[..., None, :]).clamp_min(0)
    rise = (y[..., 1:] - y[..., :1]).unsqueeze(-1)
    beta = torch.linalg.solve_triangular(ramps, rise, upper=False)
    at_knots = (b[..., :, None] - b[..., None, :]).clamp_min(0)
    heights = y[..., :1] + (at_knots @ beta).squeeze(-1)
    return heights, beta.squeeze(-1).cumsum(-1)


def unseen_part(beta: Tensor, X: Tensor) -> Tensor:
    """The component of beta in the null space of X. beta (*batch, d), X (*batch, n, d) -> (*batch, d).

    I - V Vᵀ from the eigenvectors of XᵀX: a direction is unseen where its eigenvalue is at most d ε times
    the largest, with ε the float spacing (singular values below sqrt(d ε) count as 0).
    """
    values, vectors = torch.linalg.eigh(X.mT @ X)
    cut = X.shape[-1] * torch.finfo(X.dtype).eps * values[..., -1:]
    coordinates = (vectors.mT @ beta.unsqueeze(-1)).squeeze(-1)
    unseen = torch.where(values <= cut, coordinates, 0.0)
    return (vectors @ unseen.unsqueeze(-1)).squeeze(-1)


def descent(
    X: Tensor, y: Tensor, start: Tensor, tol: float, most: int
) -> tuple[Tensor, int, Tensor]:
    """Gradient descent on half the squared error with step 1 / s_1², until the mean squared error is at most tol.

    X (n, d), y (n,), start (d,) -> the last weights (d,), steps made (at most `most`), length of the path.
    """
    X, y, start = (_floating(v) for v in (X, y, start))
    eta = 1 / torch.linalg.matrix_norm(X, 2).square()
    path = [start]
    while len(path) <= most:
        e = y - X @ path[-1]
        if e.square().mean() <= tol:
            break
        path.append(path[-1] + eta * (X.mT @ e))
    steps = torch.stack(path).diff(dim=0)
    return path[-1], len(path) - 1, steps.norm(dim=-1).sum()


def spline_values(beta0, beta: Tensor, b: Tensor, x: Tensor) -> Tensor:
    """s(x) = β_0 + Σ_j β_j max(0, x - b_j). beta, b (*batch, p), x (*batch, n) -> (*batch, n)."""
    active = (x.unsqueeze(-1) - b.unsqueeze(-2)).clamp_min(0)
    return beta0 + (active * beta.unsqueeze(-2)).sum(-1)


def tail_cost(eigs: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """k* and k* / n + n / R of the tail beyond k*, the least k with λ_{k+1} > 0 and Σ_{i>k} λ_i >= n λ_{k+1}.

    R = (Σ_{i>k*} λ_i)² / Σ_{i>k*} λ_i². eigs (*batch, d) in any order -> two tensors (*batch,); (d, inf) where no
    k is left. Source: Bartlett, Long, Lugosi and Tsigler, Benign overfitting in linear regression, PNAS 117 (2020).
    """
    first = _floating(eigs).sort(-1, descending=True).values
    tails, squares = (v.flip(-1).cumsum(-1).flip(-1) for v in (first, first.square()))
    enough = (first > 0) & (tails >= n * first)
    k = torch.arange(eigs.shape[-1], device=eigs.device)
    cost = torch.where(enough, k / n + n * squares / tails.square(), torch.inf)
    at = torch.where(enough, k, eigs.shape[-1]).amin(-1)
    chosen = cost.gather(-1, at.clamp_max(eigs.shape[-1] - 1).unsqueeze(-1)).squeeze(-1)
    return at, chosen


def low_frequencies(points: Tensor, N: int) -> Tensor:
    """A closed curve from N rotating circles, the lowest frequencies 0, 1, -1, 2, -2, … of its points.

    points (*batch, m, 2), 1 <= N <= m -> (*batch, m, 2). By the fast Fourier transform.
    """
    points, m = _floating(points), points.shape[-2]
    coefficients = torch.fft.fft(torch.complex(points[..., 0], points[..., 1]))
    wanted = [(k + 1) // 2 * (1 if k % 2 else -1) % m for k in range(N)]
    mask = torch.zeros(m, dtype=points.dtype, device=points.device)
    mask[wanted] = 1
    curve = torch.fft.ifft(coefficients * mask)
    return torch.stack([curve.real, curve.imag], -1)

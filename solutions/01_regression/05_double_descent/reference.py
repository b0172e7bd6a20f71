"""Splines, interpolation and double descent: hinge features, what the data cannot see, minimum-norm sweeps.

n rows, p knots, d weights. Batches lead.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor


def hinge_features(x: Tensor, p: int, xmin: float, xmax: float) -> Tensor:
    """max(0, x - b_j) with b_j = xmin + j (xmax - xmin) / (p + 1), j = 1 … p. x (*batch, n) -> (*batch, n, p)."""
    j = torch.arange(1, p + 1, dtype=x.dtype, device=x.device)
    knots = xmin + j * ((xmax - xmin) / (p + 1))
    return (x.unsqueeze(-1) - knots).clamp_min(0)


def spline_values(beta0, beta: Tensor, b: Tensor, x: Tensor) -> Tensor:
    """s(x) = β_0 + Σ_j β_j max(0, x - b_j). beta, b (*batch, p), x (*batch, n) -> (*batch, n)."""
    active = (x.unsqueeze(-1) - b.unsqueeze(-2)).clamp_min(0)
    return beta0 + (active * beta.unsqueeze(-2)).sum(-1)


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


def knot_sweep(
    x: Tensor, y: Tensor, x_new: Tensor, y_new: Tensor, ps: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """Training and test error of the spline with p equally spaced knots on [0, 1], for each p in ps.

    x, y (*batch, n), x_new, y_new (*batch, m) -> two tensors (*batch, len(ps)). Least squares; among its
    solutions the one with the least Σ_{j>=1} β_j²; the intercept is free, so everything is centred.
    """
    train, test = [], []
    for p in ps:
        features, new = (
            hinge_features(x, p, 0.0, 1.0),
            hinge_features(x_new, p, 0.0, 1.0),
        )
        middle, mean = features.mean(-2, keepdim=True), y.mean(-1, keepdim=True)
        solve = torch.linalg.pinv(features - middle, rtol=_cut(x.dtype))
        beta = solve @ (y - mean).unsqueeze(-1)
        for F, target, errors in ((features, y, train), (new, y_new, test)):
            fit = mean + ((F - middle) @ beta).squeeze(-1)
            errors.append((fit - target).square().mean(-1))
    return torch.stack(train, -1), torch.stack(test, -1)


def _cut(dtype: torch.dtype) -> float:
    """Relative size below which a singular value counts as 0."""
    return 1e-12 if dtype == torch.float64 else 1e-5


def hats_taken(x: Tensor, b: Tensor) -> Tensor:
    """The hat, 1 … p + 1, that each input takes, in increasing order of the inputs; 0 from the first that finds none.

    x (*batch, n) distinct, b (*batch, p) increasing -> (*batch, n) integers. The p + 1 hat functions on the knots
    (the first constant to the left, the last growing from b_p on) span the ReLU splines with intercept. From left
    to right each input takes the leftmost hat, beyond those taken, that is not 0 there. By the Schoenberg-Whitney
    theorem such a spline passes through any values at x if and only if no entry is 0.
    """
    x = x.sort(-1).values
    edge = torch.full_like(b[..., :1], math.inf)
    low = torch.cat([-edge, b], -1)
    high = torch.cat([b[..., 1:], edge, edge], -1)
    order = torch.arange(1, low.shape[-1] + 1, device=x.device)
    last = torch.zeros_like(x[..., :1], dtype=torch.long)
    possible = torch.ones_like(last, dtype=torch.bool)
    taken = []
    for value in x.unbind(-1):
        value = value.unsqueeze(-1)
        free = (low < value) & (value < high) & (order > last)
        possible = possible & free.any(-1, keepdim=True)
        last = free.long().argmax(-1, keepdim=True) + 1
        taken.append(torch.where(possible, last, 0))
    return torch.cat(taken, -1)


def tail_ranks(eigs: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Effective ranks r_k = Σ_{i>k} λ_i / λ_{k+1} and R_k = (Σ_{i>k} λ_i)² / Σ_{i>k} λ_i².

    eigs (*batch, d) in any order, sorted here so that λ_1 is the largest -> two tensors (*batch,).
    Source: Bartlett, Long, Lugosi and Tsigler, Benign overfitting in linear regression, PNAS 117 (2020).
    """
    tail = eigs.sort(-1, descending=True).values[..., k:]
    tail = tail / tail[..., :1]
    total = tail.sum(-1)
    return total, total.square() / tail.square().sum(-1)


def low_frequencies(points: Tensor, N: int) -> Tensor:
    """A closed curve from N rotating circles, the lowest frequencies 0, 1, -1, 2, -2, … of its points.

    points (*batch, m, 2), 1 <= N <= m -> (*batch, m, 2). By the fast Fourier transform.
    """
    m = points.shape[-2]
    coefficients = torch.fft.fft(torch.complex(points[..., 0], points[..., 1]))
    wanted = [(k + 1) // 2 * (1 if k % 2 else -1) % m for k in range(N)]
    mask = torch.zeros(m, dtype=points.dtype, device=points.device)
    mask[wanted] = 1
    curve = torch.fft.ifft(coefficients * mask)
    return torch.stack([curve.real, curve.imag], -1)

"""One hidden layer: forward pass, pieces, fold regions, error signals, training, plateaus.

n rows, m inputs, d hidden units: W1 (*batch, d, m), b1 (*batch, d), w2 (*batch, d), b2 (*batch). Batches lead.
"""

import torch
from torch import Tensor


def forward(
    X: Tensor, W1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor | float
) -> Tensor:
    """Scores b2 + Σ_k w2_k max(0, <W1_k, x_i> + b1_k). X (*batch, n, m) -> (*batch, n)."""
    h = torch.relu(X @ W1.mT + b1.unsqueeze(-2))
    b2 = torch.as_tensor(b2, dtype=X.dtype, device=X.device)
    return (h @ w2.unsqueeze(-1)).squeeze(-1) + b2.unsqueeze(-1)


def pieces(w1: Tensor, b1: Tensor, w2: Tensor) -> tuple[Tensor, Tensor]:
    """Places (r,) where a score with one input bends, ascending, and the slopes (r + 1,) of its pieces.

    Each slope is read off the units that are on between two places. Places within 1e-9, or rounding, are one.
    """
    w1, b1, w2 = (v if v.is_floating_point() else v.double() for v in (w1, b1, w2))
    place = (-b1 / w1)[w1 != 0].sort().values
    near = 1e-9 + 8 * torch.finfo(place.dtype).eps * place.abs()
    new = torch.ones_like(place, dtype=torch.bool)
    new[1:] = place.diff() > near[1:]
    place = place[new]
    if len(place) == 0:
        return place, w1.new_zeros(1)
    middle = torch.cat(
        [place[:1] - 1, (place[1:] + place[:-1]) / 2, place[-1:] + 1]
    ).unsqueeze(-1)
    on = w1 * middle + b1 > 0
    return place, (on * w1 * w2).sum(-1)


def plateau(s: Tensor, y: Tensor, tol: float) -> Tensor:
    """Least mean logistic loss of rows that share scores, by groups of sorted scores at most tol apart.

    s, y (*batch, n) -> (*batch). The best common probability of a group is its share of ones.
    """
    s, order = s.sort(-1)
    y = y.gather(-1, order)
    number = torch.cat(
        [torch.zeros_like(s[..., :1]), (s.diff(dim=-1) > tol).to(s.dtype)], -1
    ).cumsum(-1)
    same = (number.unsqueeze(-1) == number.unsqueeze(-2)).to(s.dtype)
    q = (same @ y.unsqueeze(-1)).squeeze(-1) / same.sum(-1)
    return -(torch.xlogy(y, q) + torch.xlogy(1 - y, 1 - q)).mean(-1)


def region_count(W: Tensor, b: Tensor) -> Tensor:
    """Regions into which the lines {x : <W_k, x> + b_k = 0} cut the plane. W (*batch, d, 2), b (*batch, d).

    Whitney's formula: Σ (-1)^(|B| - rank B) over the sets B of lines with a common point, the empty
    set among them. Lines may coincide, be parallel or meet in one point; rows W_k = 0 are no lines.
    The cost is 2^d ranks.
    """
    d = W.shape[-2]
    one = torch.ones((), dtype=W.dtype, device=W.device)
    nothing = (W == 0).all(-1)
    b = torch.where(nothing, one, b)  # 0 = 1: has a point in common with nobody
    index = torch.arange(2**d, device=W.device)
    members = (index.unsqueeze(-1) >> torch.arange(d, device=W.device)) & 1
    weights = members.to(W.dtype).unsqueeze(-1) * W.unsqueeze(-3)
    whole = torch.cat(
        [weights, members.to(W.dtype).unsqueeze(-1) * b[..., None, :, None]], -1
    )
    rank = torch.linalg.matrix_rank(weights)
    central = torch.linalg.matrix_rank(whole) == rank
    sign = 1 - 2 * ((members.sum(-1) - rank) % 2)
    return (central * sign).sum(-1)


def error_signal(y: Tensor, s: Tensor, kind: str, variance: float = 1.0) -> Tensor:
    """d log p(y | s) / ds for y normal with mean s, or Bernoulli with log-odds s; any shape."""
    if kind == "gaussian":
        return (y - s) / variance
    return y - torch.sigmoid(s)


def _slopes(
    X: Tensor, h: Tensor, e: Tensor, w2: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Gradient of the risk by W1, b1, w2, b2 from its slopes e (*batch, n) by the scores. ReLU has slope 0 at 0."""
    dz = e.unsqueeze(-1) * w2.unsqueeze(-2) * (h > 0)
    return dz.mT @ X, dz.sum(-2), (e.unsqueeze(-2) @ h).squeeze(-2), e.sum(-1)


def moves(
    X: Tensor, y: Tensor, W1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor | float
) -> Tensor:
    """Whether the gradient of the mean of ½(s - y)² by W1, b1, w2, b2 has an entry above 1e-5 -> bool (*batch, 4)."""
    h = torch.relu(X @ W1.mT + b1.unsqueeze(-2))
    e = (forward(X, W1, b1, w2, b2) - y) / y.shape[-1]
    by_W1, by_b1, by_w2, by_b2 = _slopes(X, h, e, w2)
    sizes = (
        by_W1.abs().amax((-2, -1)),
        by_b1.abs().amax(-1),
        by_w2.abs().amax(-1),
        by_b2.abs(),
    )
    return torch.stack(sizes, -1) > 1e-5


def trained(
    X: Tensor,
    y: Tensor,
    W1: Tensor,
    b1: Tensor,
    w2: Tensor,
    b2: Tensor,
    eta: float,
    max_steps: int,
    tol: float,
    kind: str,
) -> tuple[Tensor, list[Tensor]]:
    """Full-batch descent on the mean loss, by the gradient written out -> risks (k + 1,), parameters.

    It ends after max_steps steps, or before a step where the norm of the gradient is at most tol.
    kind: "gaussian" for ½(s - y)², "bernoulli" for log(1 + e^s) - y s. The slope of ReLU at 0 is 0.
    """
    risks = []
    while True:
        h = torch.relu(X @ W1.mT + b1)
        s = h @ w2 + b2
        if kind == "gaussian":
            each = (s - y).square() / 2
        else:
            each = torch.logaddexp(s, torch.zeros_like(s)) - y * s
        risks.append(each.mean())
        slopes = _slopes(X, h, -error_signal(y, s, kind) / y.shape[-1], w2)
        size = sum(g.square().sum() for g in slopes).sqrt()
        if len(risks) > max_steps or size <= tol:
            return torch.stack(risks), [W1, b1, w2, b2]
        W1, b1, w2, b2 = (
            p - eta * g for p, g in zip((W1, b1, w2, b2), slopes, strict=True)
        )

"""One hidden layer: forward pass, collapse without activation, kinks, fold regions, error signals, training.

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


def collapsed(
    W1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor | float
) -> tuple[Tensor, Tensor]:
    """The linear map of the network whose activation is the identity -> (*batch, m), (*batch)."""
    w = (W1.mT @ w2.unsqueeze(-1)).squeeze(-1)
    return w, (w2 * b1).sum(-1) + b2


def kink_rows(w1: Tensor, b1: Tensor, w2: Tensor) -> Tensor:
    """Place and change of slope of each unit with one input whose w1 is not 0 -> (k, 2).

    Read off two tangents: left of its kink a unit has slope w2 min(w1, 0), right of it w2 max(w1, 0).
    """
    keep = w1 != 0
    w1, b1, w2 = w1[keep], b1[keep], w2[keep]
    change = w2 * w1.clamp(min=0) - w2 * w1.clamp(max=0)
    return torch.stack([-b1 / w1, change], -1)


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
    steps: int,
    kind: str,
) -> tuple[Tensor, list[Tensor]]:
    """Full-batch descent on the mean loss, by the gradient written out -> losses (steps + 1, *batch), parameters.

    kind: "gaussian" for ½(s - y)², "bernoulli" for log(1 + e^s) - y s. The slope of ReLU at 0 is 0.
    """
    losses = []
    for step in range(steps + 1):
        h = torch.relu(X @ W1.mT + b1.unsqueeze(-2))
        s = (h @ w2.unsqueeze(-1)).squeeze(-1) + b2.unsqueeze(-1)
        if kind == "gaussian":
            each = (s - y).square() / 2
        else:
            each = torch.logaddexp(s, torch.zeros_like(s)) - y * s
        losses.append(each.mean(-1))
        if step == steps:
            break
        slopes = _slopes(X, h, -error_signal(y, s, kind) / y.shape[-1], w2)
        W1, b1, w2, b2 = (
            p - eta * g for p, g in zip((W1, b1, w2, b2), slopes, strict=True)
        )
    return torch.stack(losses), [W1, b1, w2, b2]

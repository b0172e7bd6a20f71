"""Multi-class networks: forward pass, cross-entropy with its signal, training, regions, scatter, geometry, bits.

n rows, C classes, d features. A layer is (W, b), W (d_out, d_in), b (d_out,). Batches lead unless said otherwise.
"""

import math

import torch
from torch import Tensor


def forward(
    X: Tensor, layers: list[tuple[Tensor, Tensor]]
) -> tuple[list[Tensor], Tensor]:
    """Outputs of every layer (ReLU but for the last, whose outputs are the scores), and probabilities.

    X (*batch, n, d0) -> list of (*batch, n, d_l), and (*batch, n, C). wu 2.8.2, cs480 chapter 9.
    """
    outputs, h = [], X
    for W, b in layers[:-1]:
        h = torch.relu(torch.einsum("...nd,kd->...nk", h, W) + b)
        outputs.append(h)
    W, b = layers[-1]
    outputs.append(torch.einsum("...nd,kd->...nk", h, W) + b)
    return outputs, torch.softmax(outputs[-1], -1)


def cross_entropy_and_signal(S: Tensor, Q: Tensor) -> tuple[Tensor, Tensor]:
    """Mean over rows of -Σ_c q_c log softmax(s)_c, and its gradient by S.

    S, Q (*batch, n, C), rows of Q sum to 1 -> (*batch,), (*batch, n, C). wu 2.8.4, 2.8.5.
    """
    log_p = torch.log_softmax(S, -1)
    return -(Q * log_p).sum(-1).mean(-1), (log_p.exp() - Q) / S.shape[-2]


def train(
    X: Tensor, Q: Tensor, layers: list[tuple[Tensor, Tensor]], rate: float, steps: int
) -> tuple[list[tuple[Tensor, Tensor]], Tensor]:
    """Gradient descent on the mean cross-entropy, gradients by autograd -> the layers, and steps + 1 losses."""
    flat, losses = [p.detach() for layer in layers for p in layer], []
    for step in range(steps + 1):
        leaves = [p.clone().requires_grad_() for p in flat]
        outputs, _ = forward(X, list(zip(leaves[::2], leaves[1::2], strict=True)))
        loss, _ = cross_entropy_and_signal(outputs[-1], Q)
        losses.append(loss.detach())
        if step < steps:
            slopes = torch.autograd.grad(loss, leaves)
            flat = [p - rate * g for p, g in zip(flat, slopes, strict=True)]
    return list(zip(flat[::2], flat[1::2], strict=True)), torch.stack(losses)


def readable_bits(H: Tensor, y: Tensor, rate: float, steps: int, C: int) -> Tensor:
    """Entropy of the labels minus the last loss of softmax regression on the centred, scaled table, in bits.

    H (n, d), y (n,) with all of 0, …, C - 1 -> ().
    """
    Z = H - H.mean(0)
    Z = Z / Z.square().mean().sqrt()
    member = (y.unsqueeze(-1) == torch.arange(C, device=y.device)).to(H.dtype)
    head = torch.zeros(C, H.shape[1], dtype=H.dtype, device=H.device)
    _, losses = train(Z, member, [(head, head.sum(1))], rate, steps)
    share = member.mean(0)
    return (-torch.xlogy(share, share).sum() - losses[-1]) / math.log(2)


def argmax_region(P: Tensor) -> Tensor:
    """The class whose probability is above all others, -1 where the top is shared. (*batch, C) -> (*batch,)."""
    top, index = P.topk(2, -1)
    return torch.where(top[..., 0] > top[..., 1], index[..., 0], -1)


def scatter_ratio(H: Tensor, y: Tensor) -> Tensor:
    """Scatter within the classes over scatter between them. H (*batch, n, d), y (*batch, n) -> (*batch,).

    Within: Σ_i |h_i - m_{y_i}|², between: Σ_i |m_{y_i} - m|², from the matrix of who shares a class with whom.
    """
    same = (y.unsqueeze(-1) == y.unsqueeze(-2)).to(H.dtype)
    own_mean = same @ H / same.sum(-1, keepdim=True)
    within = (H - own_mean).square().sum((-2, -1))
    return within / (own_mean - H.mean(-2, keepdim=True)).square().sum((-2, -1))


def class_cosines(H: Tensor, y: Tensor, C: int) -> Tensor:
    """Cosines between the class means, seen from the mean of the class means. (*batch, C, C).

    H (*batch, n, d), y (*batch, n) with all of 0, …, C - 1. Through the doubly centred Gram matrix.
    """
    member = (y.unsqueeze(-2) == torch.arange(C, device=y.device).unsqueeze(-1)).to(
        H.dtype
    )
    means = member @ H / member.sum(-1, keepdim=True)
    gram = means @ means.mT
    gram = gram - gram.mean(-1, keepdim=True)
    gram = gram - gram.mean(-2, keepdim=True)
    size = gram.diagonal(dim1=-2, dim2=-1).sqrt()
    return gram / (size.unsqueeze(-1) * size.unsqueeze(-2))


def layer_information(joint: Tensor, layers: list[Tensor]) -> Tensor:
    """I(h; x) and I(h; y) in bits for h = x and then after every layer -> (*batch, L + 1, 2).

    joint (*batch, C, m): P(y, x). A layer (m_in, m_out) holds P(next = j | now = i). From entropies:
    I(a; b) = H(a) + H(b) - H(a, b).
    """
    with_x, with_y = torch.diag_embed(joint.sum(-2)), joint
    told = [torch.stack([_mutual(with_x), _mutual(with_y)], -1)]
    for layer in layers:
        with_x, with_y = with_x @ layer, with_y @ layer
        told.append(torch.stack([_mutual(with_x), _mutual(with_y)], -1))
    return torch.stack(told, -2)


def _mutual(joint: Tensor) -> Tensor:
    return (
        _entropy(joint.sum(-1)) + _entropy(joint.sum(-2)) - _entropy(joint.flatten(-2))
    )


def _entropy(p: Tensor) -> Tensor:
    return -torch.xlogy(p, p).sum(-1) / math.log(2)

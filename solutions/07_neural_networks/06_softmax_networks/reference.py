"""Multi-class networks: forward pass, cross-entropy with its signal, regions, scatter, label geometry, information.

n rows, C classes, d features. A layer is (W, b), W (d_out, d_in), b (d_out,). Batches lead unless said otherwise.
"""

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


def softmax_vjp(P: Tensor, G: Tensor) -> Tensor:
    """G times the Jacobian of softmax, row by row, through the whole matrix diag(p) - p pᵀ.

    P, G (*batch, n, C) -> (*batch, n, C).
    """
    jacobian = torch.diag_embed(P) - P.unsqueeze(-1) * P.unsqueeze(-2)
    return (jacobian @ G.unsqueeze(-1)).squeeze(-1)


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


def layer_information(joint: Tensor, layers: list[Tensor]) -> tuple[Tensor, Tensor]:
    """I(h; x) and I(h; y) in bits for h = x and then after every layer -> two (*batch, L + 1).

    joint (*batch, C, m): P(y, x). A layer (m_in, m_out) holds P(next = j | now = i). As a divergence between
    the joint table and the product of its margins.
    """
    p_x = joint.sum(-2)
    with_x, with_y = torch.diag_embed(p_x), joint
    bits_x, bits_y = [_mutual(with_x)], [_mutual(with_y)]
    for layer in layers:
        with_x, with_y = with_x @ layer, with_y @ layer
        bits_x.append(_mutual(with_x))
        bits_y.append(_mutual(with_y))
    return torch.stack(bits_x, -1), torch.stack(bits_y, -1)


def _mutual(joint: Tensor) -> Tensor:
    product = joint.sum(-1, keepdim=True) * joint.sum(-2, keepdim=True)
    safe = torch.where(joint > 0, product, 1.0)
    bits = torch.xlogy(joint, joint) - joint * safe.log()
    return bits.sum((-2, -1)) / torch.log(
        torch.full((), 2.0, dtype=joint.dtype, device=joint.device)
    )

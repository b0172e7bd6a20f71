"""Embeddings and associative memory: next word, skip-gram, analogies, tied tables, outer products.

V words, d components, T tokens, n pairs, l noise words. Batches lead. `We` (d, V) holds a word a column.
"""

import torch
from torch import Tensor
from torch.nn.functional import log_softmax, logsigmoid, one_hot


def next_word(what, We: Tensor, Wu: Tensor, x, y, batches=None, rate: float = 0.0):
    """What the linear next-word model s = Wu We x does, through one-hot rows.

    x, y (n,) integers. what: "embed" -> (n, d); "predict" -> (n, V); "grads" of the mean loss -> those by We and
    Wu; "train" -> losses before the step on each batch (row numbers of x and y), and both tables after them.
    """
    V = We.shape[-1]
    X, Y = (one_hot(i.long(), V).to(We.dtype) for i in (x, y))
    if what == "embed":
        return X @ We.mT
    if what == "predict":
        return torch.softmax(X @ We.mT @ Wu.mT, -1)
    if what == "grads":
        return _slopes(X, Y, We, Wu)
    losses = []
    for rows in batches:
        scores = X[rows] @ We.mT @ Wu.mT
        losses.append(-(Y[rows] * log_softmax(scores, -1)).sum(-1).mean())
        dWe, dWu = _slopes(X[rows], Y[rows], We, Wu)
        We, Wu = We - rate * dWe, Wu - rate * dWu
    return losses, We, Wu


def _slopes(X: Tensor, Y: Tensor, We: Tensor, Wu: Tensor) -> tuple[Tensor, Tensor]:
    H = X @ We.mT
    error = (torch.softmax(H @ Wu.mT, -1) - Y) / X.shape[-2]
    return Wu.mT @ error.mT @ X, error.mT @ H


def skipgram_loss(w_c: Tensor, w_o: Tensor, W_n: Tensor) -> tuple[Tensor, ...]:
    """Negative-sampling loss -log σ(w_c·w_o) - Σ log σ(-w_c·w_n) and its three slopes.

    w_c, w_o (*batch, d), W_n (*batch, l, d) -> (*batch,), (*batch, d), (*batch, d), (*batch, l, d).
    Source: Mikolov and others (2013).
    """
    yes = (w_c * w_o).sum(-1)
    no = (W_n @ w_c.unsqueeze(-1)).squeeze(-1)
    loss = -logsigmoid(yes) - logsigmoid(-no).sum(-1)
    miss, alarm = torch.sigmoid(-yes).unsqueeze(-1), torch.sigmoid(no).unsqueeze(-1)
    g_c = (alarm * W_n).sum(-2) - miss * w_o
    return loss, g_c, -miss * w_c, alarm * w_c.unsqueeze(-2)


def cosine(u: Tensor, v: Tensor) -> Tensor:
    """Cosine of the angle, 0 where either vector is zero. (*batch, d) twice -> (*batch,)"""
    length = u.norm(dim=-1) * v.norm(dim=-1)
    zero = length == 0
    return torch.where(zero, 0.0, (u * v).sum(-1) / torch.where(zero, 1.0, length))


def solve_analogy(vecs: Tensor, a: int, b: int, c: int, exclude: bool = True) -> Tensor:
    """Number of the word of largest cosine with v_b - v_a + v_c; a tie goes to the lowest number.

    vecs (*batch, V, d) -> (*batch,) integers. exclude: the words a, b, c may not answer.
    """
    target = vecs[..., b, :] - vecs[..., a, :] + vecs[..., c, :]
    scores = cosine(vecs, target.unsqueeze(-2))
    if exclude:
        asked = torch.zeros(vecs.shape[-2], dtype=torch.bool, device=vecs.device)
        asked[[a, b, c]] = True
        scores = scores.masked_fill(asked, -torch.inf)
    top = scores == scores.amax(-1, keepdim=True)
    return top.int().argmax(
        -1
    )  # of equal values it need not take the first: of 0 and 1 it does


def parallelism(vecs: Tensor, pairs: Tensor) -> Tensor:
    """Mean cosine of the steps v_b - v_a of two different pairs. vecs (*batch, V, d), pairs (m, 2) -> (*batch,)

    The m unit steps have a sum s, and ‖s‖² = m + twice the sum of all cosines.
    """
    steps = vecs[..., pairs[:, 1].long(), :] - vecs[..., pairs[:, 0].long(), :]
    total = torch.nn.functional.normalize(steps, dim=-1, eps=0.0).sum(-2)
    m = len(pairs)
    return (total.square().sum(-1) - m) / (m * (m - 1))


def tied_grads(x: int, y: int, We: Tensor, Wa: Tensor) -> tuple[Tensor, Tensor]:
    """Slopes of -log softmax(Weᵀ Wa We x)_y. We (*batch, d, V), Wa (*batch, d, d) -> the same shapes.

    Two paths lead to We: as the table of inputs and as the table of outputs.
    """
    at = torch.tensor([x, y], device=We.device)
    column, wanted = one_hot(at, We.shape[-1]).to(We.dtype).unsqueeze(-1)
    h1 = We @ column
    h2 = Wa @ h1
    error = torch.softmax(We.mT @ h2, -2) - wanted
    back = We @ error
    return Wa.mT @ back @ column.mT + h2 @ error.mT, back @ h1.mT


def crosstalk(A: Tensor, B: Tensor) -> tuple[Tensor, Tensor]:
    """W = Σ b_i a_iᵀ, and row k: Σ_{i≠k} (a_i·a_k) b_i. A (*batch, n, d), B (*batch, n, m) -> W, (*batch, n, m)."""
    overlaps = A @ A.mT
    others = 1 - torch.eye(A.shape[-2], dtype=A.dtype, device=A.device)
    return torch.einsum("...nm,...nd->...md", B, A), (overlaps * others) @ B

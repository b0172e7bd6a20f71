"""Embeddings and associative memory: look-up, bigram and skip-gram gradients, analogies, outer-product storage.

V words, d components, T tokens, n pairs, l noise words. Batches lead. `W_e` (d, V) holds a word a column.
"""

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, one_hot


def embed(ids: Tensor, W: Tensor) -> Tensor:
    """One-hot codes times the table. ids (*batch, T) integers, W (d, V) -> (*batch, T, d)."""
    return one_hot(ids.long(), W.shape[-1]).to(W.dtype) @ W.mT


def bigram_grads(x: Tensor, y: Tensor, We: Tensor, Wu: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of the mean of log softmax(W_u W_e x)_y over n pairs of words.

    x, y (*batch, n) integers, We (*batch, d, V), Wu (*batch, V, d) -> the shapes of We and Wu.
    With one-hot rows X, Y: dW_u = (Y - P)ᵀ H / n and dW_e = W_uᵀ (Y - P)ᵀ X / n.
    """
    V, n = We.shape[-1], x.shape[-1]
    X, Y = (one_hot(i.long(), V).to(We.dtype) for i in (x, y))
    H = X @ We.mT
    error = (Y - torch.softmax(H @ Wu.mT, -1)) / n
    return Wu.mT @ error.mT @ X, error.mT @ H


def skipgram_loss(
    w_c: Tensor, w_o: Tensor, W_n: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Negative-sampling loss -log σ(w_c·w_o) - Σ log σ(-w_c·w_n) and its three gradients.

    w_c, w_o (*batch, d), W_n (*batch, l, d) -> (*batch,), (*batch, d), (*batch, d), (*batch, l, d).
    Source: Mikolov and others (2013).
    """
    yes = (w_c * w_o).sum(-1)
    no = (W_n @ w_c.unsqueeze(-1)).squeeze(-1)
    loss = -logsigmoid(yes) - logsigmoid(-no).sum(-1)
    miss, alarm = torch.sigmoid(-yes).unsqueeze(-1), torch.sigmoid(no).unsqueeze(-1)
    return (
        loss,
        (alarm * W_n).sum(-2) - miss * w_o,
        -miss * w_c,
        alarm * w_c.unsqueeze(-2),
    )


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
    )  # of equal values argmax need not take the first: of 0 and 1 it does


def tied_grads(x: int, y: int, We: Tensor, Wa: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of log softmax(W_eᵀ W_a W_e x)_y. We (*batch, d, V), Wa (*batch, d, d) -> same shapes.

    Two paths lead to W_e: as the table of inputs and as the table of outputs.
    """
    h1 = We[..., x]
    h2 = (Wa @ h1.unsqueeze(-1)).squeeze(-1)
    p = torch.softmax((We.mT @ h2.unsqueeze(-1)).squeeze(-1), -1)
    error = -p
    error = error + one_hot(torch.tensor(y, device=We.device), We.shape[-1]).to(
        We.dtype
    )
    back = (We @ error.unsqueeze(-1)).squeeze(-1)
    column = one_hot(torch.tensor(x, device=We.device), We.shape[-1]).to(We.dtype)
    as_input = (Wa.mT @ back.unsqueeze(-1)) * column
    as_output = h2.unsqueeze(-1) * error.unsqueeze(-2)
    return as_input + as_output, back.unsqueeze(-1) * h1.unsqueeze(-2)


def hebbian_memory(A: Tensor, B: Tensor) -> Tensor:
    """W = Σ b_i a_iᵀ. A (*batch, n, d) keys, B (*batch, n, m) values -> (*batch, m, d)."""
    return torch.einsum("...nm,...nd->...md", B, A)


def crosstalk(A: Tensor, B: Tensor) -> Tensor:
    """What the other pairs add at each key: row k is Σ_{i≠k} (a_i·a_k) b_i. Shapes as above -> (*batch, n, m)."""
    own = A.square().sum(-1, keepdim=True) * B
    return A @ hebbian_memory(A, B).mT - own


def relu_memory(h: Tensor, W_in: Tensor, W_out: Tensor) -> Tensor:
    """W_out relu(W_in h), row by row. h (*batch, n, d), W_in (*batch, m, d), W_out (*batch, k, m) -> (*batch, n, k)."""
    return torch.relu(h @ W_in.mT) @ W_out.mT

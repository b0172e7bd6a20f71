"""Recommenders and superposition: matrix factorisation, its gauge, feedback, feature directions.

Letters: u users, t items, d dimensions of a vector, n features. Batches lead. Unknown ratings are NaN.
"""

import torch
from torch import Tensor


def real(values: Tensor) -> Tensor:
    """Whole numbers as float64, others as they are."""
    return values if values.is_floating_point() else values.double()


def rank_items(a: Tensor, B: Tensor, seen: Tensor, top: int) -> Tensor:
    """Indices of the `top` unseen items with the largest inner products, best first; ties: lower index.

    a (*batch, d), B (*batch, t, d), seen (*batch, t) bool -> (*batch, top) integers.
    """
    scores = (B @ a.unsqueeze(-1)).squeeze(-1)
    scores = torch.where(seen, -torch.inf, scores)
    return scores.argsort(dim=-1, descending=True, stable=True)[..., :top]


def mf_grads(
    A: Tensor, B: Tensor, R: Tensor, lam: float
) -> tuple[Tensor, Tensor, Tensor]:
    """J = ½ Σ over known (r_ij - ⟨a_i, b_j⟩)² + ½ lam (‖A‖² + ‖B‖²), and its gradients by A and B.

    A (*batch, u, d), B (*batch, t, d), R (*batch, u, t) -> (*batch,), (*batch, u, d), (*batch, t, d).
    Wu, eq. 2.142, with a penalty.
    """
    A, B = A.to(R.dtype), B.to(R.dtype)
    E = torch.nan_to_num(R - A @ B.mT, nan=0.0)
    size = A.square().sum((-2, -1)) + B.square().sum((-2, -1))
    loss = (E.square().sum((-2, -1)) + lam * size) / 2
    return loss, lam * A - E @ B, lam * B - E.mT @ A


def als_step(B: Tensor, R: Tensor, lam: float) -> Tensor:
    """The A that minimises J for fixed B: a ridge regression for each user.

    B (*batch, t, d), R (*batch, u, t), lam > 0 -> (*batch, u, d). A user without ratings gets 0.
    """
    B = B.to(R.dtype)
    known = (~R.isnan()).to(B.dtype)
    outer = (B.unsqueeze(-1) * B.unsqueeze(-2)).unsqueeze(-4)  # 1, t, d, d
    gram = (known.unsqueeze(-1).unsqueeze(-1) * outer).sum(-3)
    gram = gram + lam * torch.eye(B.shape[-1], dtype=B.dtype, device=B.device)
    moments = torch.nan_to_num(R, nan=0.0) @ B
    return torch.linalg.solve(gram, moments.unsqueeze(-1)).squeeze(-1)


def recommender(
    lam: float,
    R: Tensor,
    B: Tensor,
    tol: float,
    max_passes: int,
    newcomer: Tensor,
    top: int,
) -> dict:
    """Means and vectors by alternating least squares, the table filled, and a list for a newcomer.

    R (u, t) and newcomer (t,) NaN where unknown, B (t, d) -> mean (t,), A (u, d), B (t, d), losses [...], filled
    (u, t), advice (top,). It stops after a pass that lowers J by at most tol times the J before it.
    """
    mean = torch.nan_to_num(R.nanmean(-2), nan=0.0)
    E, losses = R - mean, []
    for _ in range(max_passes):
        A = als_step(B, E, lam)
        B = als_step(A, E.mT, lam)
        losses.append(mf_grads(A, B, E, lam)[0])
        if len(losses) > 1 and losses[-2] - losses[-1] <= tol * losses[-2]:
            break
    a = als_step(B, (newcomer - mean).unsqueeze(0), lam)[0]
    scores = torch.where(newcomer.isnan(), mean + B @ a, -torch.inf)
    return dict(
        mean=mean,
        A=A,
        B=B,
        losses=losses,
        filled=torch.where(R.isnan(), mean + A @ B.mT, R),
        advice=scores.argsort(descending=True, stable=True)[:top],
        returns_itself=1.0,
    )


def canonical(A: Tensor, B: Tensor) -> tuple[Tensor, Tensor]:
    """Factors of the same product with equal, diagonal Gram matrices, largest entry first.

    A (*batch, u, d), B (*batch, t, d), d <= u and d <= t -> the same shapes. In every column of the new
    B the entry of largest absolute value is positive. Costs O((u + t) d²): the product is never formed.
    """
    A, B = real(A), real(B)
    (QA, RA), (QB, RB) = torch.linalg.qr(A), torch.linalg.qr(B)
    U, S, Vh = torch.linalg.svd(RA @ RB.mT)
    root = S.sqrt().unsqueeze(-2)
    left, right = QA @ U * root, QB @ Vh.mT * root
    largest = right.gather(-2, right.abs().argmax(-2, keepdim=True))
    sign = torch.where(largest < 0, -1.0, 1.0).to(A.dtype)
    return left * sign, right * sign


def feedback_step(
    a: Tensor, B: Tensor, beta: float, explore: float, lr: float
) -> tuple[Tensor, Tensor]:
    """One round of showing and drifting: the new taste, and the effective number of items shown.

    Shares p = (1 - explore) softmax(beta B a) + explore / t; a moves to (1 - lr) a + lr Bᵀp.
    a (*batch, d), B (*batch, t, d) -> (*batch, d), (*batch,): exp of the entropy of p.
    """
    a, B = real(a), real(B)
    scores = (B @ a.unsqueeze(-1)).squeeze(-1)
    p = (1 - explore) * (beta * scores).softmax(-1) + explore / B.shape[-2]
    moved = a + lr * ((B.mT @ p.unsqueeze(-1)).squeeze(-1) - a)
    return moved, torch.special.entr(p).sum(-1).exp()


def swap_attribute(h: Tensor, Bs: list[Tensor], k: int, new: Tensor) -> Tensor:
    """h with the coefficients of subspace k replaced by `new`; everything else stays.

    h (*batch, d). Bs: matrices (*batch, d, d_k) whose columns together are independent.
    new (*batch, d_k) -> (*batch, d). Coefficients are those of the joint least squares fit.
    """
    Q, R = torch.linalg.qr(torch.cat(Bs, dim=-1))
    c = torch.linalg.solve_triangular(R, Q.mT @ h.unsqueeze(-1), upper=True).squeeze(-1)
    start = sum(B.shape[-1] for B in Bs[:k])
    change = new - c[..., start : start + Bs[k].shape[-1]]
    return h + (Bs[k] @ change.unsqueeze(-1)).squeeze(-1)


def interference(W: Tensor) -> tuple[Tensor, Tensor]:
    """Lengths of the feature vectors, and what the others put on each one's direction.

    W (*batch, d, n), a column a feature -> (*batch, n), (*batch, n): ‖w_i‖ and Σ_{j≠i} (w_i·w_j)² / ‖w_i‖²,
    0 where w_i = 0.
    """
    W = real(W)
    gram = W.mT @ W
    own = gram.diagonal(dim1=-2, dim2=-1)
    total = gram.square().sum(-1)
    never = own == 0
    cross = total / torch.where(never, 1.0, own) - own
    return own.sqrt(), torch.where(never, 0.0, cross).to(W.dtype)

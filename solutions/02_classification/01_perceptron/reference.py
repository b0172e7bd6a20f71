"""Linear classifiers: the perceptron's run, Novikoff's bound, separability, votes of many classes.

n rows, d features, c classes, T steps. Batches lead. Labels are +1 and -1 unless said otherwise.
"""

from itertools import combinations

import torch
from torch import Tensor


def affine_parts(w: Tensor, b: float | Tensor) -> tuple[Tensor, Tensor]:
    """What probing f(x) = <w, x> + b finds: f(e_j) - f(0) for each j, and f(0). -> (*batch, d), (*batch,).

    Source: linear duality; the unit vectors are the rows of the identity.
    """
    b = torch.as_tensor(b, dtype=w.dtype, device=w.device)
    probes = torch.eye(w.shape[-1], dtype=w.dtype, device=w.device)
    values = w @ probes + b.unsqueeze(-1)
    return values - b.unsqueeze(-1), b.expand(w.shape[:-1])


def signed_distances(X: Tensor, w: Tensor, b: float | Tensor) -> tuple[Tensor, Tensor]:
    """Distance from the plane <x, w> + b = 0, positive on the side of w, and sgn of the score; sgn(0) = -1.

    X (*batch, n, d), w (*batch, d), b (*batch,) -> two tensors (*batch, n).
    """
    b = torch.as_tensor(b, dtype=X.dtype, device=X.device)
    score = (X @ w.unsqueeze(-1)).squeeze(-1) + b.unsqueeze(-1)
    return score / torch.linalg.vector_norm(w, dim=-1, keepdim=True), _plus_minus(
        score > 0, score
    )


def _plus_minus(positive: Tensor, like: Tensor) -> Tensor:
    return 2 * positive.to(like.dtype) - 1


def lift(X: Tensor) -> Tensor:
    """Rows (x, 1). X (*batch, n, d) -> (*batch, n, d + 1)."""
    return torch.cat([X, torch.ones_like(X[..., :1])], -1)


def perceptron_trace(
    X: Tensor, y: Tensor, order: Tensor, v0: Tensor
) -> tuple[Tensor, Tensor]:
    """The lifted vector v = (w, b) before the first and after every step, and which steps were mistakes.

    X (*batch, n, d), y (*batch, n), order (T,) integers, v0 (*batch, d + 1)
    -> (*batch, T + 1, d + 1), bool (*batch, T). A mistake is y <v, (x, 1)> <= 0; then v + y (x, 1) follows.
    Source: Rosenblatt, The perceptron (1958), with the bias absorbed.
    """
    signed = lift(X) * y.unsqueeze(-1)
    path, mistakes = [v0], []
    for index in order:
        row = signed.index_select(-2, index.reshape(1)).squeeze(-2)
        wrong = (row * path[-1]).sum(-1) <= 0
        path.append(path[-1] + row * wrong.unsqueeze(-1))
        mistakes.append(wrong)
    none = v0.new_zeros((*v0.shape[:-1], 0), dtype=torch.bool)
    return torch.stack(path, -2), torch.stack(mistakes, -1) if mistakes else none


def mistake_bound(
    X: Tensor, y: Tensor, w: Tensor, b: float | Tensor
) -> tuple[Tensor, ...]:
    """Margin γ of (w, b) on lifted rows, C, and C²/γ² (infinite unless γ > 0) -> three tensors (*batch,).

    X (*batch, n, d), y (*batch, n), w (*batch, d), b (*batch,), not both zero.
    Source: Novikoff, On convergence proofs on perceptrons (1962).
    """
    b = torch.as_tensor(b, dtype=X.dtype, device=X.device).expand(w.shape[:-1])
    size = torch.linalg.vector_norm(torch.cat([w, b.unsqueeze(-1)], -1), dim=-1)
    score = (X @ w.unsqueeze(-1)).squeeze(-1) + b.unsqueeze(-1)
    margin = (score * y).amin(-1) / size
    largest = torch.linalg.vector_norm(lift(X), dim=-1).amax(-1)
    good = margin > 0
    bound = (largest / torch.where(good, margin, 1.0)).square()
    return margin, largest, torch.where(good, bound, torch.inf)


def logistic_step(w: Tensor, x: Tensor, y: Tensor | float, hard: bool) -> Tensor:
    """One step of rate 1 on one row: w + (y - p) x with p = logistic(<x, w>), or 1[<x, w> > 0] where hard.

    w, x (*batch, d), y (*batch,) in {0, 1} -> (*batch, d).
    """
    y = torch.as_tensor(y, dtype=w.dtype, device=w.device)
    score = (w * x).sum(-1)
    p = (score > 0).to(w.dtype) if hard else torch.sigmoid(score)
    return w + (y - p).unsqueeze(-1) * x


def separable(X: Tensor, y: Tensor) -> Tensor:
    """Whether some (w, b) has y_i (<x_i, w> + b) > 0 for all i. X (*batch, n, d), y (*batch, n) -> bool (*batch,).

    Tries every candidate: if {v : G v >= 1} is not empty, it meets the row space of G in a polyhedron with a
    vertex, which is the shortest solution of G_S v = 1 for some set S of at most d + 1 rows. Small n only.
    """
    G = lift(X) * y.unsqueeze(-1)
    n, D = G.shape[-2:]
    found = []
    for size in range(1, min(n, D) + 1):
        subsets = torch.tensor(list(combinations(range(n), size)), device=G.device)
        rows = G[..., subsets, :]
        v = torch.linalg.pinv(rows).sum(-1)
        found.append((v @ G.mT).amin(-1) > 1 - 1e-4)
    return torch.cat(found, -1).any(-1)


def one_vs_one_votes(
    X: Tensor, labels: Tensor, new: Tensor, classes: int, passes: int
) -> tuple[Tensor, Tensor]:
    """Votes of c (c - 1) / 2 perceptrons, and the class with most votes, ties to the lowest.

    X (n, d), labels (n,) in 0 … c - 1, new (m, d) -> (m, c), (m,). Each pair k < l is trained for `passes`
    passes over its rows in order, k positive; a score of 0 votes for l. Rows of other classes are
    given the label 0, so that they leave v alone.
    """
    rows = lift(X)
    votes = new.new_zeros(new.shape[0], classes)
    for k, other in combinations(range(classes), 2):
        sign = (labels == k).to(X.dtype) - (labels == other).to(X.dtype)
        v = rows.new_zeros(rows.shape[-1])
        for index in range(passes * len(rows)):
            row = rows[index % len(rows)] * sign[index % len(rows)]
            v = v + row * ((row * v).sum() <= 0)
        for_k = (lift(new) @ v > 0).to(votes.dtype)
        votes = votes + torch.stack(
            [
                for_k if j == k else 1 - for_k if j == other else 0 * for_k
                for j in range(classes)
            ],
            -1,
        )
    first = (votes == votes.amax(-1, keepdim=True)).to(torch.int8)
    return votes, first.argmax(-1)

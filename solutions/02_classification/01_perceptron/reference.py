"""Linear classifiers: bags of words, the perceptron's run and its end, Novikoff's bound, separability, many classes.

n rows, d features, c classes, D = d + 1. Where batches are named they lead. Labels are +1 and -1 unless said otherwise.
"""

import re
from collections.abc import Callable
from itertools import combinations

import torch
from torch import Tensor


def _floats(*arrays: Tensor) -> tuple[Tensor, ...]:
    """All in the precision of those that are floating; whole numbers alone become float64."""
    kinds = [a.dtype for a in arrays if a.is_floating_point()] or [torch.float64]
    return tuple(a.to(kinds[0]) for a in arrays)


def bag_of_words(mails: list[str], vocabulary: list[str]) -> Tensor:
    """1 where a word of the vocabulary stands between blanks, with or without marks around it. -> (n, d)"""
    marks = r"[.,;:!?]*"
    found = [
        [
            re.search(
                rf"(?<!\S){marks}{re.escape(word)}{marks}(?!\S)", mail, re.IGNORECASE
            )
            is not None
            for word in vocabulary
        ]
        for mail in mails
    ]
    return torch.tensor(found, dtype=torch.float64).reshape(len(mails), len(vocabulary))


def judge(X: Tensor, y: Tensor, w: Tensor, b) -> tuple[Tensor, Tensor, Tensor]:
    """Labels, signed distances from the plane <x, w> + b = 0, and the smallest y times distance.

    X (*batch, n, d), y (*batch, n), w (*batch, d), b (*batch,) -> two (*batch, n), one (*batch,). sgn(0) = -1.
    The distance is that from the foot of the perpendicular from the origin, along the unit vector.
    """
    X, y, w = _floats(X, y, w)
    b = torch.as_tensor(b, dtype=w.dtype, device=w.device)
    unit = w / torch.linalg.vector_norm(w, dim=-1, keepdim=True)
    score = (X * w.unsqueeze(-2)).sum(-1) + b.unsqueeze(-1)
    foot = -(b / (w * w).sum(-1)).unsqueeze(-1) * w
    distance = ((X - foot.unsqueeze(-2)) * unit.unsqueeze(-2)).sum(-1)
    return 2 * (score > 0).to(w.dtype) - 1, distance, (y * distance).amin(-1)


def lift(X: Tensor) -> Tensor:
    """Rows (x, 1). X (*batch, n, d) -> (*batch, n, D)."""
    return torch.cat([X, torch.ones_like(X[..., :1])], -1)


def perceptron_trace(
    X: Tensor, y: Tensor, order: Tensor, v0: Tensor
) -> tuple[Tensor, Tensor]:
    """v = (w, b) before the first and after every step, and which steps were mistakes.

    X (*batch, n, d), y (*batch, n), order (T,) integers, v0 (*batch, D) -> (*batch, T + 1, D), bool (*batch, T).
    A mistake is y <v, (x, 1)> <= 0; then v + y (x, 1) follows.
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


def train(
    X: Tensor, y: Tensor, order: Tensor, max_passes: int
) -> tuple[Tensor, list[int], str]:
    """The run from 0, all max_passes of it, cut after its first silent pass or its first return.

    X (n, d), y (n,), order (T,), T > 0 -> v after each mistake (M + 1, D), mistakes a pass, how it ended.
    """
    X, y = _floats(X, y)
    T = len(order)
    states, wrong = perceptron_trace(
        X, y, order.repeat(max_passes), X.new_zeros(X.shape[-1] + 1)
    )
    counts, begins = wrong.reshape(max_passes, T).sum(1), states[::T]
    back = (begins[:, None] == begins).all(-1).tril(-1).any(1)[1:]
    ended = torch.nonzero((counts == 0) | back).flatten()
    passes = int(ended[0]) + 1 if len(ended) else max_passes
    kept = torch.cat([states[:1], states[1 : passes * T + 1][wrong[: passes * T]]])
    if not len(ended):
        return kept, counts.tolist(), "open"
    end = "settled" if counts[passes - 1] == 0 else "loops"
    return kept, counts[:passes].tolist(), end


def mistake_bound(X: Tensor, y: Tensor, v: Tensor) -> tuple[Tensor, ...]:
    """Margin γ of v on lifted rows, C, and C²/γ² (infinite unless γ > 0) -> three tensors (*batch,).

    X (*batch, n, d), y (*batch, n), v (*batch, D), not zero.
    Source: Novikoff, On convergence proofs on perceptrons (1962).
    """
    X, y, v = _floats(X, y, v)
    w, b = v[..., :-1], v[..., -1:]
    score = (X @ w.unsqueeze(-1)).squeeze(-1) + b
    margin = (score * y).amin(-1) / torch.linalg.vector_norm(v, dim=-1)
    largest = (X.square().sum(-1).amax(-1) + 1).sqrt()
    good = margin > 0
    bound = (largest / torch.where(good, margin, 1.0)).square()
    return margin, largest, torch.where(good, bound, torch.inf)


def separable(X: Tensor, y: Tensor) -> Tensor:
    """Whether some (w, b) has y_i (<x_i, w> + b) > 0 for all i. X (*batch, n, d), y (*batch, n) -> bool (*batch,).

    Tries every candidate: if {v : G v >= 1} is not empty, it meets the row space of G in a polyhedron with a
    vertex, which is the shortest solution of G_S v = 1 for some set S of at most d + 1 rows. Small n only.
    """
    X, y = _floats(X, y)
    G = lift(X) * y.unsqueeze(-1)
    n, D = G.shape[-2:]
    found = []
    for size in range(1, min(n, D) + 1):
        subsets = torch.tensor(list(combinations(range(n), size)), device=G.device)
        rows = G[..., subsets, :]
        v = torch.linalg.pinv(rows).sum(-1)
        found.append((v @ G.mT).amin(-1) > 1 - 1e-4)
    return torch.cat(found, -1).any(-1)


def recover(w: Tensor, b: float, bend: Tensor, X: Tensor) -> tuple[Tensor, Tensor, str]:
    """What the questions find of f(x) = <x, w> + b + Σ bend_j min(x_j, 0): 0 and the unit vectors see no bend.

    w, bend (d,), X (m, d) -> w, b, and what f is at the rows of X.
    """
    apart = (X.clamp(max=0) * bend).sum(-1).abs().amax()
    straight = "linear" if abs(b) <= 1e-6 else "affine"
    return w, w.new_tensor(b), "neither" if apart > 1e-6 else straight


def sgd_step(v: Tensor, z: Tensor, y: float, eta: float, loss: str) -> Tensor:
    """v minus eta times a subgradient of the loss of s = y <z, v>; at a kink the steeper slope.

    v, z (*batch, D) -> (*batch, D). "logistic": -dℓ/ds is 1 - sigmoid(s).
    """
    s = y * (v * z).sum(-1)
    kink = 1.0 if loss == "hinge" else 0.0
    pull = torch.sigmoid(-s) if loss == "logistic" else (s <= kink).to(v.dtype)
    return v + eta * y * pull.unsqueeze(-1) * z


def many_classes(
    fit: Callable[[Tensor, Tensor], Tensor],
    X: Tensor,
    labels: Tensor,
    new: Tensor,
    classes: int,
) -> tuple[Tensor, ...]:
    """Winners of one-vs-all (m,), votes of one-vs-one (m, c) and their winners (m,); ties to the lowest class.

    fit(X, signs (n,)) -> v (D,), where rows of sign 0 play no part. X (n, d), labels (n,) in 0 … c - 1, new (m, d).
    """
    lifted, signs = lift(new), [(labels == k).to(X.dtype) for k in range(classes)]
    scores = torch.stack([lifted @ fit(X, 2 * own - 1) for own in signs], -1)
    votes = new.new_zeros(len(new), classes)
    for k, other in combinations(range(classes), 2):
        for_k = (lifted @ fit(X, signs[k] - signs[other]) > 0).to(votes.dtype)
        votes[:, k] += for_k
        votes[:, other] += 1 - for_k
    return _first(scores), votes, _first(votes)


def _first(values: Tensor) -> Tensor:
    """The place of the first of the largest along the last axis."""
    return (values == values.amax(-1, keepdim=True)).to(torch.int8).argmax(-1)

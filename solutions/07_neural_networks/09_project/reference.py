"""What came true in the network project: sides of the street, wines and a pattern; a network's loss by torch.

A network is a list of layers (W (out, in), b (out,)) with a ReLU between layers. n rows, k classes.
"""

from itertools import pairwise

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from descent import data


def house_numbers() -> tuple[Tensor, Tensor]:
    """1797 digits: grey values from 0 to 1 (1797, 64), 0 for even and 1 for odd."""
    table = data.digits()
    return torch.from_numpy(table.X / 16), torch.from_numpy(table.y % 2)


def wines() -> tuple[Tensor, Tensor]:
    """178 wines: 13 standardised measurements (178, 13), cultivars 0 to 2."""
    table = data.wine()
    X = torch.from_numpy(table.X)
    return (X - X.mean(0)) / X.std(0, correction=0), torch.from_numpy(table.y)


def labels(X: Tensor) -> Tensor:
    """What rows X (n, d) are -> (n,): even or odd for d = 64, cultivars for 13, 1 where (x1 - 1/2)(x2 + 1/2) > 0 for 2.

    Raises ValueError for a row that is in no table.
    """
    if X.shape[-1] == 2:
        return ((X[:, 0] - 0.5) * (X[:, 1] + 0.5) > 0).to(torch.int64)
    known, y = house_numbers() if X.shape[-1] == 64 else wines()
    same = (X[:, None] == known.to(X)).all(-1)
    if not same.any(1).all():
        raise ValueError(
            "labels: a row is in no table. Draw the rows from house_numbers() or wines()."
        )
    return y.to(X.device)[same.int().argmax(1)]


def to_codes(T: Tensor, bits: int, step: float) -> Tensor:
    """Whole numbers c of T's shape, |c| <= 2**(bits - 1) - 1, for which step * c is nearest to T. bits >= 2."""
    top = 2 ** (bits - 1) - 1
    levels = torch.arange(-top, top + 1, device=T.device)
    return levels[(T[..., None] - step * levels.to(T)).abs().argmin(-1)]


def count(sizes: list[int]) -> int:
    """Weights and biases of a network with layers of these sizes, input first."""
    return sum(one * two + two for one, two in pairwise(sizes))


def widest(d: int, k: int, depth: int, budget: int) -> int:
    """Largest width of `depth` >= 1 equally wide hidden layers, d inputs and k outputs within `budget`; 0: none."""
    width = 0
    while count([d, *[width + 1] * depth, k]) <= budget:
        width += 1
    return width


def loss_and_grads(
    params: list[tuple[Tensor, Tensor]], X: Tensor, y: Tensor
) -> tuple[Tensor, list]:
    """Mean cross-entropy (nats) and its gradients by autograd, as params are -> (), [(dW, db), …]."""
    leaves = [
        tuple(p.detach().clone().requires_grad_() for p in layer) for layer in params
    ]
    loss = cross_entropy(scores(leaves, X), y)
    flat = torch.autograd.grad(loss, [p for layer in leaves for p in layer])
    return loss.detach(), list(zip(flat[::2], flat[1::2], strict=True))


def scores(params: list[tuple[Tensor, Tensor]], X: Tensor) -> Tensor:
    """Scores of the last layer, (n, k)."""
    for number, (W, b) in enumerate(params):
        X = torch.nn.functional.linear(X if number == 0 else X.relu(), W, b)
    return X


def versus(right_a: Tensor, right_b: Tensor) -> Tensor:
    """Sign test of two readers on the same rows, bool (n,) each -> (3,): only a right, only b right, p."""
    a, b = (right_a & ~right_b).sum(), (right_b & ~right_a).sum()
    n = (a + b).double()
    heads = torch.arange(len(right_a) + 1, device=a.device).double()
    # the rows where just one is right are n fair coins; more heads than coins have no chance
    ways = torch.lgamma(n + 1) - torch.lgamma(heads + 1)
    ways = ways - torch.lgamma((n - heads).clamp(min=0) + 1)
    chances = torch.exp(ways - n * torch.log(torch.tensor(2.0).double()))
    chances = torch.where(heads <= n, chances, torch.zeros_like(chances))
    tail = torch.where(heads <= torch.minimum(a, b), chances, torch.zeros_like(chances))
    p = (2 * tail.sum()).clamp(max=1.0)
    return torch.stack([a.double(), b.double(), p])

"""What came true in the network project: labels of digits, wines and a pattern; a network's loss by torch.

A network is a list of layers (W (out, in), b (out,)) with a ReLU between layers. n rows, k classes.
"""

from itertools import pairwise

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from descent import data


def digits() -> tuple[Tensor, Tensor]:
    """1797 digits: grey values from 0 to 1 (1797, 64), labels 0 to 9."""
    table = data.digits()
    return torch.from_numpy(table.X / 16), torch.from_numpy(table.y)


def wines() -> tuple[Tensor, Tensor]:
    """178 wines: 13 standardised measurements (178, 13), cultivars 0 to 2."""
    table = data.wine()
    X = torch.from_numpy(table.X)
    return (X - X.mean(0)) / X.std(0, correction=0), torch.from_numpy(table.y)


def labels(X: Tensor) -> Tensor:
    """What rows X (n, d) are -> (n,): digits for d = 64, cultivars for 13, the sign of x1 x2 (0 or 1) for 2.

    Raises ValueError for a row that is in no table.
    """
    if X.shape[-1] == 2:
        return (X[:, 0] * X[:, 1] > 0).to(torch.int64)
    known, y = digits() if X.shape[-1] == 64 else wines()
    same = (X[:, None] == known.to(X)).all(-1)
    if not same.any(1).all():
        raise ValueError(
            "labels: a row is in no table. Draw the rows from digits() or wines()."
        )
    return y.to(X.device)[same.int().argmax(1)]


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

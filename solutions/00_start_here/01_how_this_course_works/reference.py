"""What the first notebook's answers are judged by: small functions, each by another road than the one expected."""

import torch
from torch import Tensor

__all__ = [
    "average",
    "counterexample",
    "empirical_risk",
    "layer",
    "outer_times",
    "path_counts",
    "to_columns",
    "train_predict_evaluate",
]


def _tensor(values) -> Tensor:
    return (
        values
        if isinstance(values, Tensor)
        else torch.tensor(values, dtype=torch.float64)
    )


def average(x) -> Tensor:
    """Mean over the last axis, as an inner product with equal weights. x (*batch, n) -> (*batch,)."""
    x = _tensor(x)
    return x @ x.new_full((x.shape[-1],), 1 / x.shape[-1])


def counterexample(points, left_values, right_values, rtol: float):
    """First of `points` where the two sides differ by more than rtol times the larger one; None where none does.

    points, left_values, right_values: lists of n numbers. NaN differs from everything.
    """
    left, right = _tensor(left_values), _tensor(right_values)
    same = (left - right).abs() <= rtol * torch.maximum(left.abs(), right.abs())
    wrong = torch.nonzero(~same)
    return points[int(wrong[0])] if len(wrong) else None


def to_columns(rows: Tensor, labels: Tensor, order: Tensor, n_train: int):
    """Column layout after a shuffle and a split: X (d, n_train), y (n_train,), X_test (d, m), y_test (m,).

    rows (n, d), labels (n,), order (n,) a permutation, m = n - n_train. Shuffled by a permutation matrix.
    """
    P = torch.eye(len(rows), device=rows.device, dtype=rows.dtype)[order.long()]
    X, y = rows.mT @ P.mT, P @ labels.to(rows.dtype)
    return X[:, :n_train], y[:n_train], X[:, n_train:], y[n_train:]


LOSSES = {
    "squared": lambda y, p: (y - p).square(),
    "absolute": lambda y, p: (y - p).abs(),
    "pinball": lambda y, p: torch.maximum(0.9 * (y - p), 0.1 * (p - y)),
}


def empirical_risk(w: float, b: float, x, y, loss: str) -> Tensor:
    """Mean loss of f(x) = w x + b on pairs x, y (*batch, n) -> (*batch,). loss: a key of LOSSES."""
    x, y = _tensor(x), _tensor(y)
    return LOSSES[loss](y, w * x + b).mean(-1)


def train_predict_evaluate(
    X: Tensor, y: Tensor, X_test: Tensor, y_test: Tensor
) -> Tensor:
    """Test accuracy of the nearest-class-mean classifier, with one-hot labels and no loop over classes.

    X (n, d), y (n,) integers, X_test (m, d), y_test (m,) -> a number.
    """
    classes, index = y.unique(return_inverse=True)
    onehot = torch.eye(len(classes), device=X.device, dtype=X.dtype)[index]
    means = (onehot.mT @ X) / onehot.sum(0).unsqueeze(-1)
    nearest = torch.cdist(X_test, means).argmin(-1)
    return (classes[nearest] == y_test).to(X.dtype).mean()


ACTIVATIONS = {"identity": lambda z: z, "relu": torch.relu, "tanh": torch.tanh}


def layer(W: Tensor, b: Tensor, act: str, h: Tensor) -> Tensor:
    """act(W h + b). W (*batch, m, d), b (*batch, m), h (*batch, d) -> (*batch, m); one product with [W b]."""
    one = torch.ones_like(h[..., :1])
    extended = torch.cat([W, b.unsqueeze(-1)], -1) @ torch.cat([h, one], -1).unsqueeze(
        -1
    )
    return ACTIVATIONS[act](extended.squeeze(-1))


def outer_times(h1: Tensor, h2: Tensor, x: Tensor) -> Tensor:
    """(h1 h2^T) x through the matrix. h1 (*batch, m), h2 and x (*batch, d) -> (*batch, m)."""
    return ((h1.unsqueeze(-1) * h2.unsqueeze(-2)) @ x.unsqueeze(-1)).squeeze(-1)


def path_counts(inputs_of: dict[str, list[str]]):
    """Number of paths that end in each node, one of length 0 included; None where the graph has a loop.

    inputs_of: node -> its input nodes. With A the matrix of inputs the counts solve (I - A) v = 1; a graph
    without loop is one whose A is nilpotent.
    """
    nodes = list(inputs_of)
    A = torch.zeros(len(nodes), len(nodes), dtype=torch.float64)
    for node, inputs in inputs_of.items():
        for one in inputs:
            A[nodes.index(node), nodes.index(one)] += 1
    if torch.linalg.matrix_power(A, max(len(nodes), 1)).any():
        return None
    v = torch.linalg.solve(
        torch.eye(len(nodes), dtype=A.dtype) - A, torch.ones(len(nodes), dtype=A.dtype)
    )
    values = {node: round(float(value)) for node, value in zip(nodes, v, strict=True)}
    return {"values": values, "listed": len(nodes)}

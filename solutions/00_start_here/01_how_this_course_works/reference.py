"""What the first notebook's answers are judged by: small functions, each by another road than the one expected."""

import torch
from torch import Tensor


def _tensor(values) -> Tensor:
    told = isinstance(values, Tensor)
    return values if told else torch.tensor(values, dtype=torch.float64)


def average(x) -> Tensor:
    """Mean over the first axis, as a product with equal weights. x (n,) or (n, d)."""
    x = _tensor(x)
    return x.new_full((len(x),), 1 / len(x)) @ x


def nearest(rows: Tensor, x: Tensor) -> Tensor:
    """Number of the row (n, d) nearest to x (d,), by the products of all rows."""
    return _distances(rows, x[None])[0].argmin()


def _distances(rows: Tensor, X: Tensor) -> Tensor:
    """Squared distances (m, n) between X (m, d) and rows (n, d), without |X|²."""
    return (rows * rows).sum(-1) - 2 * X @ rows.mT


def nearest_means(X: Tensor, y: Tensor, new: Tensor) -> Tensor:
    """Label of the class mean nearest to each of new (m, d). One-hot labels, no loop."""
    labels, index = y.unique(return_inverse=True)
    onehot = torch.eye(len(labels), device=X.device, dtype=X.dtype)[index]
    means = (onehot.mT @ X) / onehot.sum(0).unsqueeze(-1)
    return labels[_distances(means, new).argmin(-1)]


def train_predict_evaluate(X: Tensor, y: Tensor, order, n_train: int):
    """Shares of right labels on rows order[:n_train], which the class means are of, and on the others."""
    seen, new = order[:n_train].long(), order[n_train:].long()
    return tuple(
        (nearest_means(X[seen], y[seen], X[part]) == y[part]).to(X.dtype).mean()
        for part in (seen, new)
    )


MODELS = {"linear": lambda z: z, "square": torch.square, "relu": torch.relu}
LOSSES = {
    "squared": lambda y, guess: (y - guess).square(),
    "pinball": lambda y, guess: torch.maximum(0.9 * (y - guess), 0.1 * (guess - y)),
}


def learn(X: Tensor, y: Tensor, theta: Tensor, step, n_rounds: int, model, loss):
    """Coordinate search on the mean loss of model(X theta). Keeps X theta, not theta, up to date.

    X (n, p), y (n,), theta (p,) -> theta (p,), lowest mean at the start and after each round.
    """
    theta = theta.to(X.dtype)
    turned = torch.zeros_like(theta)  # by how much each knob stands off its start

    def risk(z):
        return LOSSES[loss](y, MODELS[model](z)).mean()

    start = X @ theta
    best = risk(start)
    risks = [best]
    for _ in range(n_rounds):
        tried = [best]
        for column in torch.eye(len(theta), dtype=X.dtype, device=X.device):
            for turn in (step, -step):
                told = risk(start + X @ (turned + turn * column))
                if told < best:
                    turned, best = turned + turn * column, told
                    tried.append(told)
        step = step if len(tried) > 1 else step / 2
        risks.append(best)
    return theta + turned, torch.stack(risks)


ACTS = {"identity": lambda z: z, "relu": torch.relu, "tanh": torch.tanh}


def run(program, x: Tensor) -> list[Tensor]:
    """x and the vector after each layer (W, b, name of the activation); one product with [W b] each."""
    trace = [x]
    for W, b, act in program:
        extended = torch.cat([trace[-1], trace[-1].new_ones(1)])
        trace.append(ACTS[act](torch.cat([W, b[:, None]], dim=1) @ extended))
    return trace


def counterexample(points, left_values, right_values, rtol: float):
    """First of `points` where the two sides differ by more than rtol times the larger one; None where none does.

    points, left_values, right_values: lists of n numbers. NaN differs from everything.
    """
    left, right = _tensor(left_values), _tensor(right_values)
    same = (left - right).abs() <= rtol * torch.maximum(left.abs(), right.abs())
    wrong = torch.nonzero(~same)
    return points[int(wrong[0])] if len(wrong) else None


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
        torch.eye(len(nodes)).double() - A, torch.ones(len(nodes)).double()
    )
    values = {node: round(float(value)) for node, value in zip(nodes, v, strict=True)}
    return {"values": values, "listed": len(nodes)}

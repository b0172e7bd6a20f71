"""What came true in the classification project: who was ill, what a threshold costs, exact intervals and tests.

Labels: 1 ill (malignant), 0 healthy (benign). n rows, d features, m new rows.
"""

import torch
from scipy import stats
from torch import Tensor

from descent import data

SLOPE, LEVEL = 1.2, -1.0


def chance(X: Tensor) -> Tensor:
    """Probability of label 1 of simulated rows X (*batch, d), d >= 3: a sigmoid of the first three features."""
    return torch.sigmoid(SLOPE * (X[..., 0] - X[..., 1] + X[..., 2]) + LEVEL)


def simulated(X: Tensor) -> Tensor:
    """Labels 0 and 1 of simulated rows (*batch, d): 1 with probability `chance`.

    The luck is a fixed function of the row that nothing can learn (digits far behind the point),
    so that a row has one label wherever it is asked for.
    """
    rows = X.double()  # single precision holds no digits that far behind the point
    direction = torch.arange(2, X.shape[-1] + 2, dtype=rows.dtype, device=X.device)
    luck = ((rows @ direction.sqrt()) * 1e5).remainder(1.0)
    return (luck < chance(rows)).to(torch.int64)


def labels(X: Tensor) -> Tensor:
    """What came true for rows X (m, d) -> (m,): the tumour's label where all rows are of the table, else simulated."""
    table = data.breast_cancer()
    known = torch.as_tensor(table.X, dtype=X.dtype, device=X.device)
    if X.shape[-1] == known.shape[-1]:
        same = (X[:, None] == known).all(-1)
        if same.any(1).all():
            benign = torch.as_tensor(table.y, device=X.device)
            return 1 - benign[same.int().argmax(1)]
    return simulated(X)


def lowest_cost(p: Tensor, y: Tensor, miss: float, alarm: float) -> Tensor:
    """The least that decisions p >= threshold cost on rows with labels y (n,), over all thresholds -> ().

    miss: cost of an ill row called healthy. alarm: cost of a healthy row called ill.
    """
    thresholds = torch.cat([p, torch.full_like(p[:1], torch.inf)])
    called = p >= thresholds[:, None]  # (thresholds, n)
    return (miss * (~called & (y == 1)) + alarm * (called & (y == 0))).sum(1).min()


def exact_interval(k: int, n: int, level: float) -> tuple[float, float]:
    """Clopper and Pearson's interval for a share, from k of n: never covers less than `level`."""
    low, high = stats.binomtest(k, n).proportion_ci(level, method="exact")
    return float(low), float(high)


def mean_width(n: int, level: float, shares: Tensor) -> float:
    """Mean width of the exact interval over the binomial counts of each share, averaged over shares."""
    widths = [
        high - low for low, high in (exact_interval(k, n, level) for k in range(n + 1))
    ]
    return sum(
        float(stats.binom.pmf(range(n + 1), n, float(p)) @ widths) for p in shares
    ) / len(shares)


def mcnemar(y: Tensor, called_a: Tensor, called_b: Tensor) -> tuple[int, int, float]:
    """McNemar's exact test: rows that only a, only b gets right, and the two-sided p-value under a fair coin."""
    right_a, right_b = called_a == y, called_b == y
    a, b = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
    return a, b, 1.0 if a + b == 0 else float(stats.binomtest(a, a + b).pvalue)

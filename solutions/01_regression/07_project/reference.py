"""What came true in the regression project: outcomes of patients and of simulated rows, costs of penalties.

An answer's free choices are judged by these, not by another answer. n rows, d features, m new rows.
"""

import math

import torch
from torch import Tensor

from descent import data

NOISE_SD = 1.5
_WEIGHTS = (3.0, -3.0, 2.0, 2.0)  # of the first features; the others say nothing
_LEVEL = 100.0  # far from 0: who forgets the intercept notices


def mean_outcome(X: Tensor) -> Tensor:
    """What simulated rows X (*batch, d) have as outcome on average -> (*batch,): linear in the first four features."""
    used = min(len(_WEIGHTS), X.shape[-1])
    weights = torch.tensor(_WEIGHTS[:used], dtype=X.dtype, device=X.device)
    return _LEVEL + X[..., :used] @ weights


def simulated(X: Tensor) -> Tensor:
    """Outcomes of simulated rows (*batch, d) -> (*batch,): the mean outcome and normal noise of sd NOISE_SD.

    The noise is a fixed function of the row that no regression can learn (digits far behind the point),
    so that a row has one outcome wherever it is asked for.
    """
    rows = X.double()  # single precision holds no digits that far behind the point
    direction = torch.arange(1, X.shape[-1] + 1, dtype=rows.dtype, device=X.device)
    uniform = ((rows @ direction.sqrt()) * 1e5).remainder(1.0).clamp(1e-9, 1 - 1e-9)
    noise = NOISE_SD * math.sqrt(2) * torch.erfinv(2 * uniform - 1)
    return mean_outcome(X) + noise.to(X.dtype)


def outcomes(X: Tensor) -> Tensor:
    """What came true for rows X (m, d) -> (m,): the patient's score where the row is one, else the simulated outcome.

    Missing values (NaN) match any patient. Raises ValueError when a row with missing values fits no patient.
    """
    table = data.patients()
    known = torch.as_tensor(table.X, dtype=X.dtype, device=X.device)
    if X.shape[-1] != known.shape[-1]:
        return simulated(X)
    fits = torch.ones(len(X), len(known), dtype=torch.bool, device=X.device)
    for column, values in zip(
        X.T, known.T, strict=True
    ):  # all at once is ten times as slow
        fits &= (column[:, None] == values) | column[:, None].isnan()
    if fits.any(1).all():
        return torch.as_tensor(table.y, dtype=X.dtype, device=X.device)[
            fits.int().argmax(1)
        ]
    if X.isnan().any():
        raise ValueError(
            "outcomes: a row with missing values fits no patient. Draw the rows from data.patients()."
        )
    return simulated(X)


def ridge(X: Tensor, y: Tensor, lam: float | Tensor) -> tuple[Tensor, Tensor]:
    """Ridge with a free intercept: minimises ‖y - b - Xw‖² + lam ‖w‖². X (n, d), y (n,) -> b (), w (d,)."""
    centre, mean = X.mean(0), y.mean()
    A = X - centre
    gram = A.T @ A + lam * torch.eye(X.shape[1], dtype=X.dtype, device=X.device)
    w = torch.linalg.solve(gram, A.T @ (y - mean))
    return mean - centre @ w, w


def penalty_costs(X: Tensor, y: Tensor, lams: Tensor) -> Tensor:
    """Expected squared error on a new standard normal row, for a ridge fit of (X, y) with each penalty -> (len(lams),).

    y are simulated outcomes. Closed form: noise variance + ‖w - truth‖² + (b - level)².
    """
    truth = torch.zeros(X.shape[1], dtype=X.dtype, device=X.device)
    used = min(len(_WEIGHTS), len(truth))
    truth[:used] = torch.tensor(_WEIGHTS[:used], dtype=X.dtype, device=X.device)
    costs = []
    for lam in lams:
        b, w = ridge(X, y, lam)
        costs.append(NOISE_SD**2 + (w - truth).square().sum() + (b - _LEVEL).square())
    return torch.stack(costs)


def paired_interval(errors_a: Tensor, errors_b: Tensor, level: float) -> Tensor:
    """Mean of errors_a - errors_b with its t interval -> (3,): mean, low, high. n >= 2 rows, 0 < level < 1."""
    from scipy.stats import t

    gaps = errors_a - errors_b
    half = t.ppf((1 + level) / 2, len(gaps) - 1) * gaps.std() / math.sqrt(len(gaps))
    mean = gaps.mean()
    return torch.stack([mean, mean - half, mean + half])

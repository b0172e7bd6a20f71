"""Recursive least squares: gains, covariance updates and whole streams, each by a closed form.

d parameters, m numbers a measurement, n measurements. Batches lead. Model: y_k = X_k theta + noise
of covariance R. Source: moon 6.1 to 6.2; the closed forms are those of a normal posterior.
"""

import torch
from torch import Tensor


def optimal_gain(P: Tensor, X: Tensor, R: Tensor) -> Tensor:
    """The gain K = P Xᵀ (X P Xᵀ + R)⁻¹ that minimises the trace of the next covariance.

    P (*batch, d, d) symmetric, X (*batch, m, d), R (*batch, m, m) -> (*batch, d, m).
    """
    return torch.linalg.solve(X @ P @ X.mT + R, X @ P).mT


def joseph_update(P: Tensor, K: Tensor, X: Tensor, R: Tensor) -> Tensor:
    """Error covariance after a step with any gain: P - KXP - (KXP)ᵀ + K (X P Xᵀ + R) Kᵀ.

    P (*batch, d, d) symmetric, K (*batch, d, m), X (*batch, m, d), R (*batch, m, m) -> (*batch, d, d).
    The Joseph form (I - KX) P (I - KX)ᵀ + K R Kᵀ, multiplied out.
    """
    moved = K @ X @ P
    return P - moved - moved.mT + K @ (X @ P @ X.mT + R) @ K.mT


def scalar_stream(y: Tensor, theta0, P0, R) -> tuple[Tensor, Tensor]:
    """Estimates and gains of a constant measured n times: (R theta0 + P0 Σ y) / (k P0 + R), P0 / (k P0 + R).

    y (*batch, n); theta0, P0 >= 0 and R > 0 are numbers or (*batch, 1) -> two tensors (*batch, n).
    """
    k = torch.arange(1, y.shape[-1] + 1, dtype=y.dtype, device=y.device)
    total = k * P0 + R
    gains = P0 / total
    return (R * theta0 + P0 * y.cumsum(-1)) / total, gains.expand(y.shape)


def polynomial_posterior(
    t: Tensor, y: Tensor, order: int, R, P0
) -> tuple[Tensor, Tensor]:
    """Coefficients of 1, t, …, t^order and their covariance, from all points at once.

    t, y (*batch, n) -> (*batch, order + 1), (*batch, order + 1, order + 1). Prior: mean 0, covariance
    P0 I; noise of variance R.
    """
    X = t.unsqueeze(-1) ** torch.arange(order + 1, device=t.device)
    eye = torch.eye(order + 1, dtype=t.dtype, device=t.device)
    P = torch.linalg.inv(X.mT @ X / R + eye / P0)
    return (P @ X.mT @ y.unsqueeze(-1)).squeeze(-1) / R, P


def conditioned(theta0: Tensor, P0: Tensor, R: Tensor, y: Tensor, X: Tensor):
    """What n measurements say of theta, by conditioning a normal vector once.

    theta0 (*batch, d), P0 (*batch, d, d), R (*batch, m, m) of each measurement, y (*batch, n, m),
    X (*batch, n, m, d) -> estimate (*batch, d), covariance (*batch, d, d). P0 may be singular.
    """
    n, m, d = X.shape[-3:]
    rows = X.flatten(-3, -2)
    noise = torch.zeros(*X.shape[:-3], n, m, n, m, dtype=X.dtype, device=X.device)
    for i in range(n):
        noise[..., i, :, i, :] = R
    S = rows @ P0 @ rows.mT + noise.flatten(-4, -3).flatten(-2)
    gain = torch.linalg.solve(S, rows @ P0).mT
    surprise = y.flatten(-2) - (rows @ theta0.unsqueeze(-1)).squeeze(-1)
    return theta0 + (gain @ surprise.unsqueeze(-1)).squeeze(-1), P0 - gain @ rows @ P0


def history(
    theta0: Tensor, P0: Tensor, R: Tensor, y: Tensor, X: Tensor
) -> dict[str, Tensor]:
    """All that a recursive estimator would have stored, each entry from the whole past at once.

    Arguments as in `conditioned` -> estimates (*batch, n + 1, d), covariances (*batch, n + 1, d, d),
    gains (*batch, n, d, m), innovations (*batch, n, m) and their covariances spreads (*batch, n, m, m).
    """
    states = [(theta0, P0)]
    for k in range(1, X.shape[-3] + 1):
        states.append(conditioned(theta0, P0, R, y[..., :k, :], X[..., :k, :, :]))
    estimates = torch.stack([theta for theta, _ in states], -2)
    covariances = torch.stack([P for _, P in states], -3)
    before = estimates[..., :-1, :].unsqueeze(-1)
    return dict(
        estimates=estimates,
        covariances=covariances,
        gains=optimal_gain(covariances[..., :-1, :, :], X, R.unsqueeze(-3)),
        innovations=y - (X @ before).squeeze(-1),
        spreads=X @ covariances[..., :-1, :, :] @ X.mT + R.unsqueeze(-3),
    )


def short_history(
    theta0: Tensor, P0: Tensor, R: Tensor, y: Tensor, X: Tensor
) -> dict[str, Tensor]:
    """The lists of `history` by the short form P - KXP, step after step, with the rounding of the arguments' dtype."""
    theta, P = [theta0], [P0]
    gains, innovations, spreads = [], [], []
    for k in range(X.shape[-3]):
        rows = X[..., k, :, :]
        gains.append(optimal_gain(P[-1], rows, R))
        spreads.append(rows @ P[-1] @ rows.mT + R)
        innovations.append(y[..., k, :] - (rows @ theta[-1].unsqueeze(-1)).squeeze(-1))
        theta.append(
            theta[-1] + (gains[-1] @ innovations[-1].unsqueeze(-1)).squeeze(-1)
        )
        P.append(P[-1] - gains[-1] @ rows @ P[-1])
    return dict(
        estimates=torch.stack(theta, -2),
        covariances=torch.stack(P, -3),
        gains=torch.stack(gains, -3),
        innovations=torch.stack(innovations, -2),
        spreads=torch.stack(spreads, -3),
    )


def first_above(
    innovations: Tensor, variances: Tensor, window: int, limit: float
) -> Tensor:
    """The first k >= window at which the last `window` of e² / S have a mean above limit; 0: never.

    innovations, variances (*batch, n) -> (*batch,), whole numbers.
    """
    quotients = innovations.square() / variances
    n = quotients.shape[-1]
    if n < window:
        return torch.zeros(
            quotients.shape[:-1], dtype=torch.long, device=quotients.device
        )
    above = quotients.unfold(-1, window, 1).mean(-1) > limit
    return torch.where(above.any(-1), above.int().argmax(-1) + window, 0)


def forgetting_fits(P_rows: Tensor, y: Tensor, lam: float, b: float) -> Tensor:
    """Weights after each row of a ridge fit that forgets: direct solves of the weighted normal equations.

    P_rows (*batch, n, p), y (*batch, n) -> (*batch, n, p). After n rows, row i weighs lam (1 - lam)^(n - i)
    and the penalty b ‖w‖² weighs (1 - lam)^n.
    """
    n, p = P_rows.shape[-2:]
    eye = torch.eye(p, dtype=P_rows.dtype, device=P_rows.device)
    fits = []
    for k in range(1, n + 1):
        age = torch.arange(k - 1, -1, -1, dtype=y.dtype, device=y.device)
        weighted = (lam * (1 - lam) ** age).unsqueeze(-1) * P_rows[..., :k, :]
        information = weighted.mT @ P_rows[..., :k, :] + b * (1 - lam) ** k * eye
        fits.append(
            torch.linalg.solve(information, weighted.mT @ y[..., :k, None]).squeeze(-1)
        )
    return torch.stack(fits, -2)

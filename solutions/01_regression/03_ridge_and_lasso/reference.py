"""Ridge, lasso, their priors, and early stopping. n rows, d features; batches lead.

Ridge minimises ½‖y - Xw‖² + ½ λ‖w‖², the lasso ½‖y - Xw‖² + λ‖w‖₁.
"""

import math

import torch
from torch import Tensor


def ridge_with_offset(X: Tensor, y: Tensor, lam: float) -> tuple[Tensor, Tensor]:
    """Minimiser of ‖y - Xw - b‖² + lam ‖w‖², the offset b unpenalised. wu 1.4.2, guo II.5.

    X (*batch, n, d), y (*batch, n), lam >= 0 -> w (*batch, d), b (*batch,).
    Least squares, by QR, on centred data with d rows √lam e_j and targets 0 added (cs480 3.6);
    for lam = 0 the centred columns must be independent.
    """
    d = X.shape[-1]
    X, y = (v if v.is_floating_point() else v.double() for v in (X, y))
    x_mean, y_mean = X.mean(-2, keepdim=True), y.mean(-1, keepdim=True)
    fake = math.sqrt(lam) * torch.eye(d, dtype=X.dtype, device=X.device)
    rows = torch.cat([X - x_mean, fake.expand(*X.shape[:-2], d, d)], -2)
    targets = torch.cat([y - y_mean, torch.zeros_like(X[..., 0, :])], -1)
    q, r = torch.linalg.qr(rows)
    w = torch.linalg.solve_triangular(r, q.mT @ targets.unsqueeze(-1), upper=True)
    return w.squeeze(-1), (y_mean.unsqueeze(-1) - x_mean @ w)[..., 0, 0]


def ridge_path(X: Tensor, y: Tensor, lams: Tensor) -> Tensor:
    """Ridge without offset for several penalties. cs480 3.5, moon 5.4.

    X (*batch, n, d), y (*batch, n), lams (k,) >= 0 -> (*batch, k, d). Singular values up to 1e-10 times the largest
    count as 0, and their directions get weight 0. Computed in float64: single precision could not tell.
    """
    U, s, Vt = torch.linalg.svd(X.double(), full_matrices=False)
    # infinite where nothing counts, so that weights are 0 there and no 0 / 0 arises
    s = torch.where(s > 1e-10 * s[..., :1], s, torch.inf)
    free = (U.mT @ y.double().unsqueeze(-1)).squeeze(-1) / s
    kept = 1 / (1 + lams.double().unsqueeze(-1) / s.square().unsqueeze(-2))
    return (free.unsqueeze(-2) * kept @ Vt).to(
        X.dtype if X.is_floating_point() else torch.float64
    )


def dual_weights(X: Tensor, y: Tensor, lam: float) -> Tensor:
    """α = (XXᵀ + lam I)⁻¹ y, one weight a row, so that w = Xᵀα is ridge. moon 5.4.

    X (*batch, n, d), y (*batch, n), lam > 0 -> (*batch, n). By the eigenvectors of XXᵀ.
    """
    values, vectors = torch.linalg.eigh(X @ X.mT)
    shares = (vectors.mT @ y.unsqueeze(-1)) / (values.clamp(min=0) + lam).unsqueeze(-1)
    return (vectors @ shares).squeeze(-1)


def negative_log_posterior(
    w: Tensor, b, X: Tensor, y: Tensor, noise_sd: float, prior: str, prior_sd: float
) -> Tensor:
    """-Σ log N(y_i | x_i·w + b, noise_sd²) - Σ_j log p(w_j), constants included. explainers 3.2.

    w (*batch, d), b (*batch,), X (*batch, n, d), y (*batch, n) -> (*batch,).
    prior "flat" (nothing added), "gaussian" or "laplace", of standard deviation prior_sd; b is flat.
    """
    fit = (X @ w.unsqueeze(-1)).squeeze(-1) + torch.as_tensor(
        b, dtype=X.dtype, device=X.device
    ).unsqueeze(-1)
    loss = _gaussian_cost(y - fit, noise_sd)
    if prior == "gaussian":
        return loss + _gaussian_cost(w, prior_sd)
    if prior == "laplace":
        scale = prior_sd / math.sqrt(
            2
        )  # the variance of a Laplace variable is 2 scale²
        return loss + (w.abs() / scale + math.log(2 * scale)).sum(-1)
    return loss


def _gaussian_cost(values: Tensor, sd: float) -> Tensor:
    return (0.5 * (values / sd).square() + math.log(sd * math.sqrt(2 * math.pi))).sum(
        -1
    )


def prior_to_lambda(noise_sd: float, prior: str, prior_sd: float) -> float:
    """λ for which the posterior mode is the ridge or lasso solution. explainers 3.2.1, 3.2.2."""
    if prior == "gaussian":
        return noise_sd**2 / prior_sd**2
    return math.sqrt(2) * noise_sd**2 / prior_sd


def soft_threshold(a: Tensor, lam) -> Tensor:
    """argmin over w of ½ (w - a)² + lam |w|: what is left of a beyond [-lam, lam]. explainers 3.2.1.

    a (any shape), lam >= 0, a number or a tensor that broadcasts -> like a; float64 for whole numbers.
    """
    a = a if a.is_floating_point() else a.double()
    lam = torch.as_tensor(lam, dtype=a.dtype, device=a.device)
    return a - torch.clamp(a, -lam, lam)


def lasso_sweeps(
    X: Tensor, y: Tensor, lam: float, sweeps: int, path: bool = False
) -> Tensor:
    """Cyclic coordinate descent on ½‖y - Xw‖² + lam ‖w‖₁ from w = 0. wu 1.4.2.

    X (*batch, n, d), y (*batch, n) -> (*batch, d) after so many passes over j = 0 … d - 1; path: after 0, 1, …
    of them, (sweeps + 1, *batch, d). By the Gram matrix: with g = XᵀX, update j needs only Xᵀy, row j of g and w.
    A column of zeros keeps weight 0.
    """
    gram, moment = X.mT @ X, (X.mT @ y.unsqueeze(-1)).squeeze(-1)
    w = torch.zeros_like(moment)
    all_w = [w]
    for _ in range(sweeps):
        for j in range(X.shape[-1]):
            size = gram[..., j, j]
            others = (gram[..., j, :] * w).sum(-1) - size * w[..., j]
            step = soft_threshold(moment[..., j] - others, lam)
            step = torch.where(size > 0, step / torch.where(size > 0, size, 1.0), 0.0)
            w = torch.cat([w[..., :j], step.unsqueeze(-1), w[..., j + 1 :]], -1)
        all_w.append(w)
    return torch.stack(all_w) if path else w


def lasso_until(
    X: Tensor, y: Tensor, lam: float, tol: float, max_sweeps: int
) -> tuple[Tensor, int]:
    """Weights and number of sweeps of `lasso_sweeps`, once a sweep moves none by more than tol. X (n, d), y (n,).

    The sweeps are those of `lasso_sweeps`, all made; the first that is small enough is found afterwards.
    """
    X, y = (v if v.is_floating_point() else v.double() for v in (X, y))
    path = lasso_sweeps(X, y, lam, max_sweeps, path=True)
    small = (path.diff(dim=0).abs() <= tol).all(-1)
    made = int(small.to(torch.int8).argmax()) + 1 if small.any() else max_sweeps
    return path[made], made


def lasso_gap(X: Tensor, y: Tensor, w: Tensor, lam: float) -> Tensor:
    """How far w is from the lasso's optimality conditions; 0 exactly at a minimum. (*batch,)

    Where w_j != 0 the correlation x_j·r must be lam sign(w_j); elsewhere at most lam in size.
    """
    pull = (X.mT @ (y - (X @ w.unsqueeze(-1)).squeeze(-1)).unsqueeze(-1)).squeeze(-1)
    active = (pull - lam * w.sign()).abs()
    return torch.where(w != 0, active, (pull.abs() - lam).clamp(min=0)).amax(-1)


def best_penalty(
    X: Tensor, y: Tensor, train: Tensor, valid: Tensor, lams: Tensor, kind: str
) -> tuple[Tensor, Tensor, Tensor]:
    """Penalty, weights (d,) and error of the fit that errs least on the rows `valid`; of equals the largest penalty.

    X (n, d), y (n,), standardised by the rows `train`, on which is fitted: kind "ridge", or "threshold", the soft
    threshold of each column's covariance with y.
    """
    both = torch.cat([X, y.unsqueeze(-1)], -1).to(
        lams.dtype if lams.is_floating_point() else torch.float64
    )
    rows = both[train]
    both = (both - rows.mean(0)) / rows.std(0, correction=0)
    A, t = both[:, :-1], both[:, -1]
    if kind == "ridge":
        weights = ridge_path(A[train], t[train], lams)
    else:
        pull = (A[train] * t[train].unsqueeze(-1)).mean(0)
        weights = soft_threshold(pull, lams.unsqueeze(-1))
    errors = (weights @ A[valid].T - t[valid]).square().mean(-1)
    least = torch.where(errors == errors.min(), lams, -torch.inf)
    k = least.argmax()
    return lams[k], weights[k], errors[k]


def early_stopping(
    val_losses: Tensor, patience: int, min_delta: float
) -> tuple[Tensor, Tensor]:
    """(epoch at which training stops, epoch whose weights are kept), counted from 0. explainers 3.2.3.

    val_losses (*batch, epochs) -> two long tensors (*batch,). An epoch improves if its loss is below
    that of the last improving one by more than min_delta; the first always does. Training stops after
    `patience` epochs in a row without improvement, else at the last epoch. nan never improves.
    """
    best_loss = torch.full_like(val_losses[..., 0], torch.inf)
    best = torch.zeros_like(best_loss, dtype=torch.long)
    epochs = val_losses.shape[-1]
    stop = torch.full_like(best, epochs - 1)
    running = torch.ones_like(best, dtype=torch.bool)
    for epoch in range(epochs):
        loss = val_losses[..., epoch]
        better = running & (loss < best_loss - min_delta)
        best_loss = torch.where(better, loss, best_loss)
        best = torch.where(better, epoch, best)
        ends = running & (epoch - best >= patience)
        stop = torch.where(ends, epoch, stop)
        running = running & ~ends
    return stop, best

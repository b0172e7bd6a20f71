"""Bias, variance and validation: decompositions, cross-validation, search and selection.

R data sets (one trained model each), m test points, k classes, n rows, d features. Batches lead.
"""

import numpy as np
import torch
from torch import Tensor


def squared_error_terms(fits: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
    """Squared bias and variance, averaged over the points.

    fits (*batch, R, m), truth (*batch, m) -> two tensors (*batch,). Their sum is mean((fits - truth)²).
    """
    mean_fit = fits.mean(-2)
    bias2 = (mean_fit - truth).square().mean(-1)
    variance = (fits - mean_fit.unsqueeze(-2)).square().mean((-2, -1))
    return bias2, variance


def errors_by_size(
    x: Tensor, y: Tensor, new_x: Tensor, new_y: Tensor, sizes: list[int]
) -> tuple[Tensor, Tensor]:
    """Training and validation error of a line, held by 0.1 ‖w‖², from the first n rows, for each n.

    x, y (*batch, N), new_x, new_y (*batch, m) -> two tensors (*batch, s).
    """
    x, y, new_x, new_y = (
        v if v.is_floating_point() else v.double() for v in (x, y, new_x, new_y)
    )
    A, B = (torch.stack([torch.ones_like(v), v], -1) for v in (x, new_x))
    ridge = 0.1 * torch.eye(2, dtype=x.dtype, device=x.device)
    errors = []
    for n in sizes:
        rows, targets = A[..., :n, :], y[..., :n].unsqueeze(-1)
        w = torch.linalg.solve(rows.mT @ rows + ridge, rows.mT @ targets)
        training = (rows @ w - targets).square().mean((-2, -1))
        validation = (B @ w - new_y.unsqueeze(-1)).square().mean((-2, -1))
        errors.append(torch.stack([training, validation]))
    return tuple(torch.stack(errors, -1))


def measured_terms(coefficients, degree, x, new_x, sigma, R, seed):
    """Risk, noise, squared bias and variance of polynomial least squares, from one smoother matrix.

    coefficients (p,) of the truth, highest power first; x (n,), new_x (m,) -> four tensors ().
    """

    def powers(x, count):
        return torch.stack([x**k for k in range(count - 1, -1, -1)], -1)

    n, m = len(x), len(new_x)
    drawn = x.new_tensor(np.random.default_rng(seed).normal(size=(R, n + m)))
    features = powers(x, degree + 1)
    smoother = powers(new_x, degree + 1) @ torch.linalg.solve(
        features.mT @ features, features.mT
    )
    rows, true = (powers(v, len(coefficients)) @ coefficients for v in (x, new_x))
    fits = (rows + sigma * drawn[:, :n]) @ smoother.mT
    noise = sigma * drawn[:, n:]
    risk = (true + noise - fits).square().mean()
    return risk, noise.square().mean(), *squared_error_terms(fits, true)


def cross_entropy_terms(probs: Tensor, truth: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Noise, bias and variance of the expected cross-entropy -Σ_c t_c log p_c.

    probs (*batch, R, k) positive, rows sum to 1; truth (*batch, k) -> three tensors (*batch,).
    Noise is the entropy of truth, bias is KL(truth ‖ centre) and variance the mean of KL(centre ‖ p),
    where log centre is the mean of log p, up to a constant.
    """
    log_centre = torch.log_softmax(probs.log().mean(-2), -1)
    noise = torch.special.entr(truth).sum(-1)
    bias = -noise - (truth * log_centre).sum(-1)
    log_ratio = log_centre.unsqueeze(-2) - probs.log()
    variance = (log_centre.exp().unsqueeze(-2) * log_ratio).sum(-1).mean(-1)
    return noise, bias, variance


def ridge_cv_scores(X: Tensor, y: Tensor, k: int, ridge: float) -> Tensor:
    """Mean squared validation error of each of k consecutive folds, from one fit on all rows.

    X (*batch, n, d), y (*batch, n) -> (*batch, k). The learner minimises ‖y - Xw‖² + ridge ‖w‖².
    With H = X (XᵀX + ridge I)⁻¹ Xᵀ, the errors on a fold F left out are (I - H_FF)⁻¹ (y - Hy)_F.
    """
    n, d = X.shape[-2:]
    gram = X.mT @ X + ridge * torch.eye(d, dtype=X.dtype, device=X.device)
    hat = X @ torch.linalg.solve(gram, X.mT)
    residual = y - (hat @ y.unsqueeze(-1)).squeeze(-1)
    scores = []
    for size, stop in zip(
        fold_sizes(n, k), np.cumsum(fold_sizes(n, k)).tolist(), strict=True
    ):
        fold = slice(stop - size, stop)
        rest = torch.eye(size, dtype=X.dtype, device=X.device) - hat[..., fold, fold]
        left_out = torch.linalg.solve(rest, residual[..., fold].unsqueeze(-1))
        scores.append(left_out.square().mean((-2, -1)))
    return torch.stack(scores, -1)


def fold_sizes(n: int, k: int) -> list[int]:
    """Sizes of k folds of n rows: they differ by at most one, the longer ones first."""
    return [n // k + (fold < n % k) for fold in range(k)]


def best_of_log_uniform(losses: Tensor, settings: Tensor) -> tuple[Tensor, Tensor]:
    """The setting with the lowest loss and that loss; runs that diverged (not finite) never win.

    losses (*batch, n), settings (*batch, n, m) -> (*batch, m), (*batch,).
    """
    safe = torch.where(losses.isfinite(), losses, torch.inf)
    best = safe.argmin(-1, keepdim=True)
    index = best.unsqueeze(-1).expand(*best.shape, settings.shape[-1])
    return settings.gather(-2, index).squeeze(-2), safe.gather(-1, best).squeeze(-1)


def log_uniform(low: Tensor, high: Tensor, u: Tensor) -> Tensor:
    """Settings spread evenly in the logarithm: u = 0 gives low, u = 1 gives high.

    low, high (*batch, m), u (*batch, n, m) -> (*batch, n, m).
    """
    return torch.lerp(low.log().unsqueeze(-2), high.log().unsqueeze(-2), u).exp()


def expected_best_error(p: float | Tensor, n: int, M: int) -> Tensor:
    """Mean of the lowest of M observed error rates, each from n independent cases.

    p (*batch,) -> (*batch,). E[min] = Σ_{j=0}^{n-1} P(min > j) / n, and P(min > j) = P(B > j)^M for
    B binomial(n, p). Summed in float64: lgamma(1000) is 5900, which leaves float32 three digits.
    """
    dtype = p.dtype if isinstance(p, Tensor) else torch.float64
    p = torch.as_tensor(p, dtype=torch.float64).unsqueeze(-1)
    j = torch.arange(n + 1, dtype=p.dtype, device=p.device)
    choices = (
        torch.lgamma(p.new_tensor(n + 1.0))
        - torch.lgamma(j + 1)
        - torch.lgamma(n - j + 1)
    )
    pmf = (choices + torch.xlogy(j, p) + torch.special.xlog1py(n - j, -p)).exp()
    above = pmf.flip(-1).cumsum(-1).flip(-1)[..., 1:]
    return (above.clamp(max=1).pow(M).sum(-1) / n).to(dtype)


def report(lams, X, y, test, k, table):
    """Number, mean score and test error of the ridge penalty that one standard error allows.

    lams (L,), the simplest first; X (n, d), y (n,); test: row numbers; scores of k folds, or `table` (L, k).
    """
    rest = [row for row in range(len(y)) if row not in test]
    A, b = X[rest], y[rest]
    if table is None:
        table = torch.stack([ridge_cv_scores(A, b, k, lam) for lam in lams])
    means, number = table.mean(-1), torch.arange(len(table), device=table.device)

    def first(true):
        return torch.where(true, number, len(table)).min()

    def at(values, index):  # brackets would read the index
        return values.gather(0, index.unsqueeze(0)).squeeze(0)

    limits = means + table.std(-1, correction=1) / table.shape[-1] ** 0.5
    chosen = first(means <= at(limits, first(means == means.min())))
    gram = A.mT @ A + at(lams, chosen) * torch.eye(
        X.shape[1], dtype=X.dtype, device=X.device
    )
    w = torch.linalg.solve(gram, A.mT @ b)
    return chosen, at(means, chosen), (X[test] @ w - y[test]).square().mean()

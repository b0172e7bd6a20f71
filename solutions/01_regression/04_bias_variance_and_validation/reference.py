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


def conditional_means(joint: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    """E[g(X, Y) | X = i] for each i, and E[g(X, Y)] as their mean under P(X).

    joint (*batch, a, b) probabilities, g (*batch, a, b) -> (*batch, a), (*batch,).
    Rows of probability 0 give 0.
    """
    marginal = joint.sum(-1)
    never = marginal == 0
    weighted = (joint * g).sum(-1)
    inner = torch.where(never, 0.0, weighted / torch.where(never, 1.0, marginal))
    return inner, (marginal * inner).sum(-1)


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

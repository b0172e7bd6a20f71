"""Generalised linear models: one Fisher scoring for every family and inverse link, and softmax regression.

n rows, d features, m means a row, k scores a row (η = XW), K classes. Batches lead.
"""

import math

import torch
from torch import Tensor

# ---------------------------------------------------------------- families


def variance(mu: Tensor, family: str) -> Tensor:
    """Variance of one observation as a function of its mean; for categorical what stands in for it.

    The covariance diag(μ) - μμᵀ of a one-hot vector has no inverse. Both y - μ and every column of
    ∂μ/∂η sum to 0, and on such vectors diag(1/μ) does the inverse's work: as if counts were Poisson.
    """
    if family == "gaussian":
        return torch.ones_like(mu)
    return mu * (1 - mu) if family == "bernoulli" else mu


def nll(y: Tensor, mu: Tensor, family: str) -> Tensor:
    """Negative log-likelihood of each row up to a constant. y, mu (*batch, n, m) -> (*batch, n).

    Infinite where the family has no such mean. Gaussian: σ = 1. Poisson: without log y!.
    """
    if family == "gaussian":
        return (0.5 * (y - mu).square()).sum(-1)
    impossible = (mu < 0) | ((mu > 1) & (family != "poisson"))
    safe = torch.where(impossible, 0.5, mu)
    loss = -torch.xlogy(y, safe)
    if family == "bernoulli":
        loss = loss - torch.xlogy(1 - y, 1 - safe)
    if family == "poisson":
        loss = loss + safe
    return torch.where(impossible, torch.inf, loss).sum(-1)


def means(z: Tensor, family: str) -> Tensor:
    """Means of the canonical inverse link: identity, logistic, exponential. Any shape -> the same."""
    return {"gaussian": torch.clone, "bernoulli": torch.sigmoid, "poisson": torch.exp}[
        family
    ](z)


def glm_grad(X: Tensor, y: Tensor, w: Tensor, family: str) -> Tensor:
    """Gradient of the mean negative log-likelihood under the canonical link: Σ (μ - y) x / n.

    X (*batch, n, d), y (*batch, n), w (*batch, d) -> (*batch, d).
    McCullagh and Nelder, Generalized Linear Models (1989), 2.2.
    """
    error = means((X * w.unsqueeze(-2)).sum(-1), family) - y
    return (X * error.unsqueeze(-1)).mean(-2)


# ---------------------------------------------------------------- inverse links


def normal_cdf(z: Tensor) -> Tensor:
    return 0.5 * torch.erfc(-z / math.sqrt(2))


def scalar_mean(eta: Tensor, link: str) -> Tensor:
    """Mean at score eta. Any shape -> the same."""
    if link == "identity":
        return eta.clone()
    if link == "log":
        return eta.exp()
    if link == "sqrt":
        return eta.square()
    if link == "logit":
        return eta.sigmoid()
    if link == "probit":
        return normal_cdf(eta)
    if link == "cloglog":
        return -torch.expm1(-eta.exp())
    if link == "inverse":
        return 1 / eta
    known = "identity, log, sqrt, logit, probit, cloglog, inverse"
    raise ValueError(f"link {link!r} is none of {known}")


def scalar_slope(eta: Tensor, link: str) -> Tensor:
    """Derivative of `scalar_mean`. Any shape -> the same."""
    if link == "identity":
        return torch.ones_like(eta)
    if link == "log":
        return eta.exp()
    if link == "sqrt":
        return 2 * eta
    if link == "logit":
        return eta.sigmoid() * (-eta).sigmoid()
    if link == "probit":
        return (-0.5 * eta.square()).exp() / math.sqrt(2 * math.pi)
    if link == "inverse":
        return -1 / eta.square()
    return (eta - eta.exp()).exp()  # cloglog


def scalar_score(mu: Tensor, link: str) -> Tensor:
    """The link itself, inverse of `scalar_mean` (for sqrt the branch eta >= 0)."""
    if link == "identity":
        return mu.clone()
    if link == "log":
        return mu.log()
    if link == "sqrt":
        return mu.sqrt()
    if link == "logit":
        return mu.logit()
    if link == "probit":
        return math.sqrt(2) * torch.erfinv(2 * mu - 1)
    if link == "inverse":
        return 1 / mu
    return torch.log(-torch.log1p(-mu))  # cloglog


def vector_mean(eta: Tensor, link: str) -> tuple[Tensor, Tensor]:
    """Class probabilities and their Jacobian. eta (…, k) -> (…, K), (…, K, k).

    "softmax": k = K - 1, the first class has score 0.
    "steps:LINK": k = K - 1; class j is taken with chance h(η_j) once no earlier class was, the last
    class otherwise (sequential or continuation-ratio model; Tutz 1991), h the scalar mean of LINK.
    """
    if link == "softmax":
        scores = torch.cat([torch.zeros_like(eta[..., :1]), eta], -1)
        mu = softmax(scores)
        jacobian = torch.diag_embed(mu) - mu.unsqueeze(-1) * mu.unsqueeze(-2)
        return mu, jacobian[..., 1:]
    take, slope = (
        f(eta, link.removeprefix("steps:")) for f in (scalar_mean, scalar_slope)
    )
    one = torch.ones_like(take[..., :1])
    left = torch.cat(
        [one, (1 - take).cumprod(-1)], -1
    )  # chance that no earlier class was taken
    mu = left * torch.cat([take, one], -1)
    # log μ_c moves with η_j by h'/h for c = j and by -h'/(1 - h) for c > j.
    k = eta.shape[-1]
    row = torch.arange(k + 1, device=eta.device).unsqueeze(-1)
    column = torch.arange(k, device=eta.device)
    logs = torch.where(row == column, (slope / take).unsqueeze(-2), 0.0)
    logs = logs - torch.where(row > column, (slope / (1 - take)).unsqueeze(-2), 0.0)
    return mu, mu.unsqueeze(-1) * logs


def mean_and_jacobian(eta: Tensor, link: str) -> tuple[Tensor, Tensor]:
    """Means and their derivatives with respect to the scores. eta (…, k) -> (…, m), (…, m, k)."""
    if link == "softmax" or link.startswith("steps:"):
        return vector_mean(eta, link)
    return scalar_mean(eta, link), torch.diag_embed(scalar_slope(eta, link))


# ---------------------------------------------------------------- fitting


def glm_step(X: Tensor, y: Tensor, w: Tensor, family: str, link: str) -> Tensor:
    """One step of Fisher scoring, by QR of the weighted rows.

    X (*batch, n, d) of full column rank, y (*batch, n), w (*batch, d) -> (*batch, d).
    Minimises Σ (y - μ - μ' xᵀδ)² / V(μ) over δ and returns w + δ.
    """
    eta = (X @ w.unsqueeze(-1)).squeeze(-1)
    mu, slope = scalar_mean(eta, link), scalar_slope(eta, link)
    spread = variance(mu, family).sqrt()
    Q, R = torch.linalg.qr(X * (slope / spread).unsqueeze(-1))
    right = Q.mT @ ((y - mu) / spread).unsqueeze(-1)
    return w + torch.linalg.solve_triangular(R, right, upper=True).squeeze(-1)


def start(X: Tensor, Y: Tensor, family: str, link: str) -> Tensor:
    """Weights to start from: 0 for classes, else the fit to the scores of means near the data."""
    if family == "categorical":
        return X.new_zeros(*X.shape[:-2], X.shape[-1], Y.shape[-1] - 1)
    mu = 0.5 * (Y + Y.mean(-2, keepdim=True))
    if family == "bernoulli":
        mu = (Y + 0.5) / 2
    elif link in ("log", "sqrt", "inverse"):
        mu = mu.clamp(min=0.1)
    return torch.linalg.pinv(X) @ scalar_score(mu, link)


def fit_glm(X: Tensor, Y: Tensor, family: str, link: str, steps: int = 40) -> Tensor:
    """Maximum-likelihood weights of any family with any inverse link, by Fisher scoring.

    X (*batch, n, d); Y (*batch, n, m), one-hot for "categorical" (then k = m - 1), else k = m
    independent outputs -> W (*batch, d, k).
    Score and information of row n: Jᵀ diag(1/V)(y - μ) ⊗ x and Jᵀ diag(1/V) J ⊗ xxᵀ, J = ∂μ/∂η.
    Each step is the longest of 1, 1/2, …, 1/128 of the full one, or none, that does not raise the loss
    (by more than rounding: near the optimum the full step is right and the loss cannot tell).
    """
    W = start(X, Y, family, link)
    halves = torch.tensor(
        [0.5**i for i in range(8)] + [0.0], dtype=X.dtype, device=X.device
    )
    for _ in range(steps):
        tries = W + halves.reshape(-1, *[1] * W.ndim) * scoring_step(
            X, Y, W, family, link
        )
        mu, _ = mean_and_jacobian(X @ tries, link)
        loss = nll(Y, mu, family).sum(-1)
        rounding = 16 * torch.finfo(loss.dtype).eps * (1 + loss[-1].abs())
        first = (
            (loss <= loss[-1] + rounding).to(torch.uint8).argmax(0)
        )  # nan compares false
        index = first.reshape(1, *first.shape, 1, 1).expand(1, *W.shape)
        W = tries.gather(0, index).squeeze(0)
    return W


def scoring_step(X: Tensor, Y: Tensor, W: Tensor, family: str, link: str) -> Tensor:
    """Information⁻¹ × score at W. X (*batch, n, d), Y (*batch, n, m), W (*batch, d, k) -> like W."""
    mu, J = mean_and_jacobian(X @ W, link)
    weighted = J / variance(mu, family).clamp(min=torch.finfo(X.dtype).tiny).unsqueeze(
        -1
    )
    score = X.mT @ (weighted * (Y - mu).unsqueeze(-1)).sum(-2)
    d, k = W.shape[-2:]
    blocks = torch.einsum("...nd,...nmk,...nml,...ne->...dkel", X, weighted, J, X)
    information = blocks.reshape(*W.shape[:-2], d * k, d * k)
    step = torch.linalg.solve(information, score.reshape(*W.shape[:-2], d * k, 1))
    return step.reshape(W.shape)


# ---------------------------------------------------------------- features


def poly_features(x: Tensor, K: int) -> Tensor:
    """Powers 0 … K of x as columns, by repeated multiplication. x (*batch, n) -> (*batch, n, K + 1)."""
    columns = [torch.ones_like(x)]
    for _ in range(K):
        columns.append(columns[-1] * x)
    return torch.stack(columns, -1)


# ---------------------------------------------------------------- several outputs


def fit_multi(X: Tensor, Y: Tensor) -> Tensor:
    """Weights that minimise Σ_n Σ_k (y_nk - w_kᵀx_n)², by QR: R W = Qᵀ Y.

    X (*batch, n, d) of full column rank, Y (*batch, n, K) -> (*batch, d, K).
    """
    Q, R = torch.linalg.qr(X)
    return torch.linalg.solve_triangular(R, Q.mT @ Y, upper=True)


# ---------------------------------------------------------------- softmax regression


def one_hot(labels: Tensor, K: int) -> Tensor:
    """Indicators of the classes 0 … K - 1. labels (*batch, n) integers -> (*batch, n, K), float64."""
    classes = torch.arange(K, device=labels.device)
    return (labels.unsqueeze(-1) == classes).to(torch.float64)


def softmax(Z: Tensor, T: float = 1.0) -> Tensor:
    """Probabilities exp(z_k / T) / Σ_j exp(z_j / T) along the last axis. (…, K) -> the same.

    As 1 / Σ_j exp((z_j - z_k) / T): an exponential that overflows leaves probability 0, as it should.
    """
    return 1 / ((Z.unsqueeze(-2) - Z.unsqueeze(-1)) / T).exp().sum(-1)


def cat_nll(W: Tensor, X: Tensor, Y: Tensor) -> Tensor:
    """Mean cross-entropy of softmax regression: the mean of Σ_k y_k log Σ_j exp(z_j - z_k), z = Wᵀx.

    W (*batch, d, K), X (*batch, n, d), Y (*batch, n, K) one-hot -> (*batch,).
    """
    Z = X @ W
    gaps = Z.unsqueeze(-2) - Z.unsqueeze(-1)
    return (Y * torch.logsumexp(gaps, -1)).sum(-1).mean(-1)


def softmax_grad(W: Tensor, X: Tensor, Y: Tensor) -> Tensor:
    """Gradient of `cat_nll` with respect to W: the mean over rows of x (π - y)ᵀ. -> (*batch, d, K)."""
    error = softmax(X @ W) - Y
    return (X.unsqueeze(-1) * error.unsqueeze(-2)).mean(-3)

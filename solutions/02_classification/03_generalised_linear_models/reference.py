"""Generalised linear models: gradients, softmax, one machine for four families, Fisher scoring, polynomials.

n rows, d features, m targets a row, K classes. Batches lead.
"""

import math

import torch
from torch import Tensor
from torch.nn.functional import softplus


def floats(*arrays: Tensor) -> tuple[Tensor, ...]:
    """All in the precision of those that are floating; whole numbers alone become float64."""
    kinds = [a.dtype for a in arrays if a.is_floating_point()] or [torch.float64]
    return tuple(a.to(kinds[0]) for a in arrays)


# ---------------------------------------------------------------- families


def variance(mu: Tensor, family: str) -> Tensor:
    """Variance of one observation as a function of its mean."""
    if family == "gaussian":
        return torch.ones_like(mu)
    return mu * (1 - mu) if family == "bernoulli" else mu


def means(z: Tensor, family: str) -> Tensor:
    """Means of the canonical inverse link. Any shape -> the same; the classes of "categorical" are last."""
    if family == "categorical":
        return softmax(z)
    return {"gaussian": torch.clone, "bernoulli": torch.sigmoid, "poisson": torch.exp}[
        family
    ](z)


def cumulants(z: Tensor, family: str) -> Tensor:
    """A of the scores, whose gradient is the mean. z (…, m) -> (…,)."""
    if family == "categorical":
        return torch.logsumexp(z, -1)
    one = {
        "gaussian": lambda z: z.square() / 2,
        "bernoulli": softplus,
        "poisson": torch.exp,
    }
    return one[family](z).sum(-1)


def glm_grad(X: Tensor, y: Tensor, w: Tensor, family: str) -> Tensor:
    """Gradient of the mean negative log-likelihood under the canonical link: Σ (μ - y) x / n.

    X (*batch, n, d), y (*batch, n), w (*batch, d) -> (*batch, d).
    McCullagh and Nelder, Generalized Linear Models (1989), 2.2.
    """
    X, y, w = floats(X, y, w)
    error = means((X * w.unsqueeze(-2)).sum(-1), family) - y
    return (X * error.unsqueeze(-1)).mean(-2)


# ---------------------------------------------------------------- softmax regression


def softmax(Z: Tensor, T: float = 1.0) -> Tensor:
    """Probabilities exp(z_k / T) / Σ_j exp(z_j / T) along the last axis. (…, K) -> the same.

    As 1 / Σ_j exp((z_j - z_k) / T): an exponential that overflows leaves probability 0, as it should.
    """
    (Z,) = floats(Z)
    return 1 / ((Z.unsqueeze(-2) - Z.unsqueeze(-1)) / T).exp().sum(-1)


def softmax_grad(W: Tensor, X: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Mean cross-entropy of softmax regression and its gradient, the mean over rows of x (π - y)ᵀ.

    W (*batch, d, K), X (*batch, n, d), labels (*batch, n) integers -> (*batch,), (*batch, d, K).
    A row costs log Σ_j exp(z_j - z_c), c its class.
    """
    W, X = floats(W, X)
    Z, index = X @ W, labels.unsqueeze(-1)
    loss = torch.logsumexp(Z - Z.gather(-1, index), -1).mean(-1)
    classes = torch.arange(W.shape[-1], device=W.device)
    error = softmax(Z) - (index == classes).to(W.dtype)
    return loss, (X.unsqueeze(-1) * error.unsqueeze(-2)).mean(-3)


# ---------------------------------------------------------------- one machine


def machine(
    family: str,
    X: Tensor | None = None,
    Y: Tensor | None = None,
    tol: float = 0.0,
    max_steps: int = 0,
    new_X: Tensor | None = None,
    Z: Tensor | None = None,
    times: int = 1,
) -> dict:
    """What a generalised linear model makes of scores Z, or of a fit to X, Y and rows new_X.

    X (n, d), Y (n, m). Gradient by autograd of the mean cost; steps are halved until the loss falls by t/4 times its
    square (Armijo, 1966), then doubled. A second fit is the same. Inside all is float64.
    """
    if Z is not None:
        (Z,) = floats(Z)
        return dict(A=cumulants(Z, family), means=means(Z, family))
    kept, new_X = floats(X, new_X)
    X, Y = X.double(), Y.double()

    def F(W):
        return (cumulants(X @ W, family) - (Y * (X @ W)).sum(-1)).mean()

    W, t = X.new_zeros(X.shape[-1], Y.shape[-1]), 1.0
    losses = [F(W)]
    while len(losses) <= max_steps:
        G = torch.func.grad(F)(W)
        if G.norm() <= tol:
            break
        while F(W - t * G) > losses[-1] - t / 4 * G.square().sum():
            t /= 2
        W, t = W - t * G, 2 * t
        losses.append(F(W))
    told = means(new_X.double() @ W, family)
    return dict(
        losses=[loss.to(kept.dtype) for loss in losses],
        W=W.to(kept.dtype),
        means=told.to(kept.dtype),
    )


# ---------------------------------------------------------------- any inverse link


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
        return 0.5 * torch.erfc(-eta / math.sqrt(2))
    if link == "inverse":
        return 1 / eta
    return -torch.expm1(-eta.exp())  # cloglog


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


# ---------------------------------------------------------------- features


def fit_poly(
    x: Tensor, y: Tensor, K: int, new_x: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Powers 0 … K of x scaled to -1 … 1, least-squares weights by QR, and heights at new_x, by Horner's rule.

    x, y (n,), new_x (m,) -> (n, K + 1), (K + 1,), (m,).
    """
    x, y, new_x = floats(x, y, new_x)
    middle, half = (x.max() + x.min()) / 2, (x.max() - x.min()) / 2
    u, new_u = (x - middle) / half, (new_x - middle) / half
    columns = [torch.ones_like(u)]
    for _ in range(K):
        columns.append(columns[-1] * u)
    P = torch.stack(columns, -1)
    Q, R = torch.linalg.qr(P)
    w = torch.linalg.solve_triangular(R, (Q.mT @ y).unsqueeze(-1), upper=True).squeeze(
        -1
    )
    heights = torch.zeros_like(new_u)
    for k in range(K, -1, -1):
        heights = heights * new_u + w[k]
    return P, w, heights

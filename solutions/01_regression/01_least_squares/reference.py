"""Least squares with one feature: a line through the origin, a line, its fit, its likelihood, its forecast.

n rows; x, y (*batch, n). Batches lead; every function keeps the dtype and the device of its arguments.
"""

import torch
from scipy.special import stdtrit
from torch import Tensor


def loss_and_grad(beta: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Half the sum of squared errors of y = x beta, and its derivative (Wu 1.1 and 1.5).

    beta (*batch,), x, y (*batch, n) -> two tensors (*batch,).
    From the expanded parabola: L = (Σy² - 2 beta Σxy + beta² Σx²) / 2.
    """
    xx, xy, yy = (x * x).sum(-1), (x * y).sum(-1), (y * y).sum(-1)
    return (yy - 2 * beta * xy + beta.square() * xx) / 2, beta * xx - xy


def fit_slope(x: Tensor, y: Tensor) -> Tensor:
    """Slope of the least-squares line through the origin, 0 where all x are 0.

    x, y (*batch, n) -> (*batch,). Minimises Σ (y - x beta)².
    """
    xx = (x * x).sum(-1)
    return torch.where(xx > 0, (x * y).sum(-1) / torch.where(xx > 0, xx, 1), 0)


def descent_path(
    x: Tensor, y: Tensor, beta0: Tensor, eta: Tensor, steps: int
) -> Tensor:
    """Iterates of gradient descent on Σ (y - x beta)² / 2, in closed form.

    x, y (*batch, n), beta0, eta (*batch,) -> (*batch, steps + 1).
    The error shrinks by the factor 1 - eta Σx² a step.
    """
    factor = 1 - eta * (x * x).sum(-1)
    t = torch.arange(steps + 1, dtype=x.dtype, device=x.device)
    minimum = fit_slope(x, y).unsqueeze(-1)
    return minimum + (beta0.unsqueeze(-1) - minimum) * factor.unsqueeze(-1) ** t


def project(Y: Tensor, X: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Projection of Y on the line through X, what is left, and the cosine of their angle.

    X, Y (*batch, n) -> (*batch, n), (*batch, n), (*batch,). X = 0 projects to 0; the cosine is 0
    where X or Y is 0. From unit vectors: cosine = u·v, projection = |Y| cosine u.
    """
    length = torch.linalg.vector_norm(Y, dim=-1, keepdim=True)
    u, v = _unit(X), Y / torch.where(length > 0, length, 1)
    cosine = (u * v).sum(-1, keepdim=True)
    shadow = length * cosine * u
    return shadow, Y - shadow, cosine.squeeze(-1)


def _unit(X):
    length = torch.linalg.vector_norm(X, dim=-1, keepdim=True)
    return X / torch.where(length > 0, length, 1)


def fit_line(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Intercept a and slope b of the line that minimises Σ (y - a - b x)². Slope 0 where x is constant.

    x, y (*batch, n) -> two tensors (*batch,). Centring takes the intercept out of the problem.
    """
    x_mean, y_mean = x.mean(-1), y.mean(-1)
    b = fit_slope(x - x_mean.unsqueeze(-1), y - y_mean.unsqueeze(-1))
    return y_mean - b * x_mean, b


def r_squared(y: Tensor, f: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Three definitions of R²: explained share, 1 - residual share, squared correlation.

    y targets (not constant), f predictions, both (*batch, n) -> three tensors (*batch,).
    The correlation with constant predictions is 0.
    """
    centred = y - y.mean(-1, keepdim=True)
    total = centred.square().sum(-1)
    explained = (f - y.mean(-1, keepdim=True)).square().sum(-1) / total
    residual = 1 - (y - f).square().sum(-1) / total
    correlation = (_unit(f - f.mean(-1, keepdim=True)) * _unit(centred)).sum(-1)
    return explained, residual, correlation.square()


def gauss_loglik(a: Tensor, b: Tensor, sigma: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Log-likelihood of y ~ N(a + b x, sigma²), rows independent (Wu 1.47).

    a, b, sigma (*batch,), x, y (*batch, n) -> (*batch,). Natural logarithm.
    """
    mean = a.unsqueeze(-1) + b.unsqueeze(-1) * x
    spread = sigma.unsqueeze(-1).expand_as(mean)
    return (
        torch.distributions.Normal(mean, spread, validate_args=False)
        .log_prob(y)
        .sum(-1)
    )


def skew_kurt(x: Tensor) -> tuple[Tensor, Tensor]:
    """Skewness and excess kurtosis from central moments: m3 / m2^(3/2) and m4 / m2² - 3, all with 1/n.

    x (*batch, n), not constant -> two tensors (*batch,).
    """
    centred = x - x.mean(-1, keepdim=True)
    second, third, fourth = (centred.pow(k).mean(-1) for k in (2, 3, 4))
    return third / second.pow(1.5), fourth / second.square() - 3


def forecast(
    x: Tensor, y: Tensor, new_x: Tensor, level: float
) -> tuple[Tensor, Tensor, Tensor]:
    """The line at new inputs, and the half-widths of the intervals for its mean and for a new target.

    x, y (*batch, n), n >= 3, x not constant; new_x (*batch, m) -> three tensors (*batch, m).
    With the design matrix X = [1, x]: variances s² v and s² (1 + v), v = rowᵀ (XᵀX)⁻¹ row, s² = RSS / (n - 2),
    and the quantile of Student's t with n - 2 degrees of freedom.
    """
    n = x.shape[-1]
    middle, width = x.mean(-1, keepdim=True), x.std(-1, keepdim=True)
    design = torch.stack([torch.ones_like(x), (x - middle) / width], -1)
    rows = torch.stack([torch.ones_like(new_x), (new_x - middle) / width], -1)
    q, r = torch.linalg.qr(design)
    weights = torch.linalg.solve_triangular(r, q.mT @ y.unsqueeze(-1), upper=True)
    left = y - (design @ weights).squeeze(-1)
    variance = left.square().sum(-1, keepdim=True) / (n - 2)
    leverage = (
        torch.linalg.solve_triangular(r.mT, rows.mT, upper=False).square().sum(-2)
    )
    t = float(stdtrit(n - 2, (1 + level) / 2))
    centre = (rows @ weights).squeeze(-1)
    return (
        centre,
        t * (variance * leverage).sqrt(),
        t * (variance * (1 + leverage)).sqrt(),
    )

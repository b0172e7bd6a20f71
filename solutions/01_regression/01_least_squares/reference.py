"""Least squares with one feature: a line through the origin, a line, its fit, its likelihood, its forecast.

n rows; x, y (*batch, n). Batches lead; every function keeps the dtype and the device of its arguments.
"""

import math

import torch
from scipy.special import stdtrit
from torch import Tensor


def floating(v: Tensor) -> Tensor:
    """Whole numbers as float64; what is floating stays as it is."""
    return v if v.is_floating_point() else v.double()


def fit_slope(x: Tensor, y: Tensor) -> Tensor:
    """Slope of the least-squares line through the origin, 0 where all x are 0.

    x, y (*batch, n) -> (*batch,). Minimises Σ (y - x beta)².
    """
    xx = (x * x).sum(-1)
    return torch.where(xx > 0, (x * y).sum(-1) / torch.where(xx > 0, xx, 1), 0)


def descent(
    x: Tensor, y: Tensor, beta: float, eta: float, tol: float, max_steps: int
) -> tuple[Tensor, Tensor]:
    """Slopes and losses of gradient descent on L = Σ (y - x beta)² / 2 (Wu 1.1 to 1.5), in closed form.

    x, y (n,) -> two tensors (k + 1,). The distance to the minimum is multiplied by 1 - eta Σx² a step; the path is cut
    at the first slope where |L'| <= tol.
    """
    x, y = floating(x), floating(y)
    xx, xy, yy = (x * x).sum(), (x * y).sum(), (y * y).sum()
    lowest = fit_slope(x, y)
    powers = (1 - eta * xx) ** torch.arange(max_steps + 1, device=x.device)
    path = torch.where(xx > 0, lowest + (beta - lowest) * powers, beta)
    small = (xx * path - xy).abs() <= tol
    k = int(small.to(torch.int8).argmax()) if small.any() else max_steps
    path = path[: k + 1]
    return path, (yy - 2 * path * xy + path.square() * xx) / 2


def line(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Slope, intercept and residual sum of squares of the line that minimises Σ (y - a - b x)².

    x, y (*batch, n) -> three tensors (*batch,). Slope 0 where all x are equal. Inputs are counted from the
    first one, so that equal ones are exactly 0.
    """
    x, y, first = floating(x), floating(y), floating(x[..., :1])
    xc = x - first
    xc = xc - xc.mean(-1, keepdim=True)
    yc = y - y.mean(-1, keepdim=True)
    slope = fit_slope(xc, yc)
    rss = (yc - slope.unsqueeze(-1) * xc).square().sum(-1)
    return slope, y.mean(-1) - slope * x.mean(-1), rss


def lines(
    x: Tensor,
    y: Tensor,
    new_x: Tensor,
    height: float,
    other_x: Tensor,
    other_y: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Two lines: slope, intercept and RSS of the first (3,), its heights at new_x (m,), the x at which it has that
    height (), and the x at which both have one height ().

    nan where it is flat, or where both slopes are equal.
    """
    slope, intercept, rss = line(x, y)
    other_slope, other_intercept, _ = line(other_x, other_y)
    gap = slope - other_slope
    reached = (height - intercept) / torch.where(slope == 0, torch.nan, slope)
    meet = (other_intercept - intercept) / torch.where(gap == 0, torch.nan, gap)
    numbers = torch.stack([slope, intercept, rss])
    return numbers, intercept + slope * new_x, reached, meet


def r_squared(y: Tensor, f: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Three definitions of R²: explained share, 1 - residual share, squared correlation.

    y targets (not constant), f predictions, both (*batch, n) -> three tensors (*batch,).
    The correlation with constant predictions is 0.
    """
    centred = y - y.mean(-1, keepdim=True)
    total = centred.square().sum(-1)
    explained = (f - y.mean(-1, keepdim=True)).square().sum(-1) / total
    residual = 1 - (y - f).square().sum(-1) / total
    spread = f - f[..., :1]  # exactly 0 where all are equal
    spread = spread - spread.mean(-1, keepdim=True)
    return explained, residual, (_unit(spread) * _unit(centred)).sum(-1).square()


def _unit(X: Tensor) -> Tensor:
    length = torch.linalg.vector_norm(X, dim=-1, keepdim=True)
    return X / torch.where(length > 0, length, 1)


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
    leverage = torch.linalg.solve_triangular(r.mT, rows.mT, upper=False)
    leverage = leverage.square().sum(-2)
    t = float(stdtrit(n - 2, (1 + level) / 2))
    centre = (rows @ weights).squeeze(-1)
    widths = (variance * leverage).sqrt(), (variance * (1 + leverage)).sqrt()
    return centre, t * widths[0], t * widths[1]


def project(Y: Tensor, X: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Projection of Y on the line through X, what is left, and the cosine of their angle.

    X, Y (*batch, n) -> (*batch, n), (*batch, n), (*batch,). X = 0 projects to 0; the cosine is 0
    where X or Y is 0. From unit vectors: cosine = u·v, projection = |Y| cosine u.
    """
    length = torch.linalg.vector_norm(Y, dim=-1, keepdim=True)
    u = _unit(X)
    cosine = (u * _unit(Y)).sum(-1, keepdim=True)
    shadow = length * cosine * u
    return shadow, Y - shadow, cosine.squeeze(-1)


def extremes(
    first: Tensor, second: Tensor, count: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Correlation, and mean standardised first and second value of the `count` rows with the largest first.

    first, second (*batch, n), not constant -> three tensors (*batch,). Of equal rows the earlier are chosen.
    """
    first, second, n = floating(first), floating(second), first.shape[-1]
    z, w = (math.sqrt(n) * _unit(v - v.mean(-1, keepdim=True)) for v in (first, second))
    chosen = torch.argsort(first, dim=-1, descending=True, stable=True)[..., :count]
    means = (torch.gather(v, -1, chosen).mean(-1) for v in (z, w))
    return (z * w).mean(-1), *means


def gauss_loglik(errors: Tensor, sigma: float) -> Tensor:
    """Log-likelihood of errors (*batch, n) as independent draws from N(0, sigma²) (Wu 1.47) -> (*batch,)."""
    density = torch.distributions.Normal(
        torch.zeros_like(errors), sigma * torch.ones_like(errors), validate_args=False
    )
    return density.log_prob(errors).sum(-1)


def skew_kurt(x: Tensor) -> tuple[Tensor, Tensor]:
    """Skewness and excess kurtosis from central moments: m3 / m2^(3/2) and m4 / m2² - 3, all with 1/n.

    x (*batch, n), not constant -> two tensors (*batch,).
    """
    centred = floating(x) - floating(x).mean(-1, keepdim=True)
    second, third, fourth = (centred.pow(k).mean(-1) for k in (2, 3, 4))
    return third / second.pow(1.5), fourth / second.square() - 3

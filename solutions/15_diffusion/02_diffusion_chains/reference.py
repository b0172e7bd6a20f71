"""The additive Gaussian chain x_t = x_{t-1} + N(0, σ² I): walks, bridges, guesses, and the bound on -log p(x_0).

Every function works on the device and in the dtype of its arguments. Models are small ones that are known in closed
form, so that an answer is judged by other means than those it is expected to use.
"""

import math

import torch
from torch import Tensor


def walks(x0: Tensor, z: Tensor, sigma2: float) -> Tensor:
    """x_t = x_0 + σ (z_1 + … + z_t). x0 (...), z (T, ...) -> (T + 1, ...)."""
    steps = (
        torch.cat([torch.zeros_like(z[:1]), z])
        if len(z)
        else z.new_zeros(1, *z.shape[1:])
    )
    return x0 + sigma2**0.5 * steps.cumsum(0)


def fit_steps(paths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The least-squares line from x_t to x_{t-1} for each t, by the 2 x 2 normal equations.

    paths (*batch, T + 1, n) -> slopes, offsets and mean squared residuals, each (*batch, T).
    """
    paths = paths if paths.is_floating_point() else paths.double()
    before, after = paths[..., :-1, :], paths[..., 1:, :]
    sx, sy = after.mean(-1), before.mean(-1)
    sxx, sxy = (after * after).mean(-1), (after * before).mean(-1)
    slope = (sxy - sx * sy) / (sxx - sx * sx)
    offset = (sxx * sy - sx * sxy) / (sxx - sx * sx)
    rest = before - slope.unsqueeze(-1) * after - offset.unsqueeze(-1)
    return slope, offset, rest.square().mean(-1)


def generate(
    x_T: Tensor, z: Tensor, slopes: Tensor, offsets: Tensor, variances: Tensor
) -> dict:
    """States x_0 … x_T of x_{t-1} = slopes[t-1] x_t + offsets[t-1] + √variances[t-1] z[t-1], as weighted sums.

    x_T (...), z (T, ...), the others (T,) -> states (T + 1, ...), and the steps in the order in which they are taken.
    """
    T = len(z)
    pushes = variances.sqrt().reshape(-1, *[1] * x_T.dim()) * z
    pushes = pushes + offsets.reshape(-1, *[1] * x_T.dim())
    states = []
    for t in range(T + 1):  # x_t takes in the pushes of the steps T … t + 1
        kept = slopes[t:].cumprod(0)
        weights = torch.cat([torch.ones_like(kept[:1]), kept])
        parts = torch.cat([pushes[t:], x_T.unsqueeze(0)])
        states.append(
            torch.tensordot(weights[: len(parts)], parts, dims=1) if t < T else x_T
        )
    return dict(states=torch.stack(states), asked=list(range(T, 0, -1)))


def bridge(x0: Tensor, xt: Tensor, t: int, sigma2: float) -> tuple[Tensor, float]:
    """Mean and variance of x_{t-1}, given both ends, by adding up what each end knows of it: its precision.

    From x_0 it is N(x_0, (t-1) σ²), from x_t N(x_t, σ²). x0, xt (...) -> (...), a number.
    """
    if t == 1:
        return x0 + 0 * xt, 0.0
    known, seen = 1 / ((t - 1) * sigma2), 1 / sigma2
    return (known * x0 + seen * xt) / (known + seen), 1 / (known + seen)


def convert(known: str, value: Tensor, xt: Tensor, t: int, sigma2: float) -> dict:
    """The four names of one guess: x_0 = x_t - noise = x_t + tσ² score, mean = bridge(x_0, x_t). Each (...)."""
    x0 = {
        "x0": lambda: value + 0 * xt,
        "noise": lambda: xt - value,
        "score": lambda: xt + t * sigma2 * value,
        "mean": lambda: t * value - (t - 1) * xt,
    }[known]()
    mean, _ = bridge(x0, xt, t, sigma2)
    return dict(x0=x0, noise=xt - x0, score=(x0 - xt) / (t * sigma2), mean=mean)


def gauss_kl(m1: Tensor, v1: float, m2: Tensor, v2: float) -> Tensor:
    """KL(N(m1, v1 I) ‖ N(m2, v2 I)) = E log-ratio, by the moments of the first. m1, m2 (..., d) -> (...)."""
    d = m1.shape[-1]
    entropy = d / 2 * (1 + math.log(2 * math.pi * v1))
    squared = d * v1 + (m1 - m2).square().sum(-1)
    return d / 2 * math.log(2 * math.pi * v2) + squared / (2 * v2) - entropy


def elbo_terms(
    x0: Tensor, z: Tensor, sigma2: float, v: Tensor, prior_var: float, W: Tensor
) -> dict:
    """L_0, L_1, …, L_T, means over the rows, for the denoiser that says tanh(x W) + t / 10.

    Both means of a step differ by (x_0 - guess) / t, so that no mean is computed. x0 (n, d), z (T, n, d), v (T,),
    W (d, d) -> terms (T + 1,), and the steps at which the denoiser is asked.
    """
    T, d = len(z), x0.shape[-1]
    t = torch.arange(1, T + 1, dtype=x0.dtype, device=x0.device)
    xt = x0 + (t * sigma2).sqrt()[:, None, None] * z
    miss = (x0 - (xt @ W).tanh() - t[:, None, None] / 10).square().sum(-1).mean(-1)
    ratio = sigma2 * (t - 1) / t / v
    spread = torch.where(
        t > 1,
        ratio - 1 - ratio.clamp(min=torch.finfo(ratio.dtype).tiny).log(),
        (2 * math.pi * v).log(),
    )
    steps = d / 2 * spread + miss / (2 * t.square() * v)
    last = gauss_kl(x0, T * sigma2, torch.zeros_like(x0), prior_var).mean()
    return dict(terms=torch.cat([steps, last[None]]), asked=list(range(1, T + 1)))


def chain_loglik(
    states: Tensor, slopes: Tensor, variances: Tensor, v0: float
) -> Tensor:
    """Log density of paths that start with N(0, v0 I) and go on with N(slopes[k-1] states[k-1], variances[k-1] I).

    By the white noise that makes a path, all its numbers at once. states (K + 1, *batch, d) -> (*batch,).
    """
    scale = torch.cat([variances.new_full((1,), v0), variances])
    zero = torch.zeros_like(states[:1])
    shape = (-1, *[1] * (states.dim() - 1))
    white = states - torch.cat([zero, slopes.reshape(shape) * states[:-1]])
    white = white / scale.sqrt().reshape(shape)
    constant = (2 * math.pi * scale).log().sum() * states.shape[-1]
    return -(white.square().sum((0, -1)) + constant) / 2

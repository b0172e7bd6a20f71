"""Walks between data and noise: with noise, without it, over chosen steps; and the equations of their crowds.

Every function works on the device and in the dtype of its arguments. Drifts, scores and models are small functions that
are known: tanh(x W) + t b.
"""

import torch
from torch import Tensor


def says(x: Tensor, t, W: Tensor, b: Tensor) -> Tensor:
    """x (*batch, n, d), t a number, W (d, d), b (d,) -> (*batch, n, d)."""
    return (x @ W).tanh() + t * b


def thins(x: Tensor, W: Tensor) -> Tensor:
    """The divergence of `says` at x. (*batch, n, d) -> (*batch, n)."""
    return ((1 - (x @ W).tanh().square()) * W.diagonal()).sum(-1)


def sample_t2(x_T: Tensor, T: int, sigma2: float, W: Tensor, b: Tensor) -> dict:
    """Steps without noise, two indices each: states (T/2 + 1, *batch, n, d) and the number of calls."""
    path = [x_T]
    while T > 0:
        path.append(torch.add(path[-1], says(path[-1], T, W, b), alpha=sigma2))
        T -= 2
    return dict(states=torch.stack(path), calls=len(path) - 1)


def euler_maruyama(
    x: Tensor, z: Tensor, times: Tensor, W: Tensor, b: Tensor, size: float
) -> Tensor:
    """dx = says dt + size (1 + t) x dw. x (*batch, n, d), z (K, *batch, n, d) -> (K + 1, *batch, n, d)."""
    path = [x]
    for t, h, noise in zip(times, times.diff(), z, strict=False):
        spread = size * (1 + t) * path[-1]
        path.append(
            path[-1] + says(path[-1], t, W, b) * h + spread * h.abs().sqrt() * noise
        )
    return torch.stack(path)


def way_home(
    x: Tensor, z: Tensor, times: Tensor, lam: float, W: Tensor, b: Tensor, size: float
) -> Tensor:
    """The walk whose forward film has the drift x − b, the noise size (1 + t) and the score `says`.

    It is the film of the crowd, f − ½ g² s, and beside it noise with what balances it, − ½ λ² g² s.
    """
    path = [x]
    for t, h, noise in zip(times, times.diff(), z, strict=False):
        here, g = path[-1], size * (1 + t)
        s = says(here, t, W, b)
        film = (here - b - g**2 * s / 2) * h
        balanced = lam * g * h.abs().sqrt() * noise - (lam * g) ** 2 * s / 2 * h
        path.append(here + film + balanced)
    return torch.stack(path)


def ride(x: Tensor, times: Tensor, W: Tensor, b: Tensor) -> dict:
    """Heun's steps as a Runge–Kutta tableau, and the divergence by the same. states, total (*batch, n), calls."""
    path, total, calls = [x], torch.zeros_like(x[..., 0]), 0
    for t, h in zip(times, times.diff(), strict=False):
        slopes, thinning = [], []
        for node in (0, 1):
            at = path[-1] + node * h * slopes[-1] if slopes else path[-1]
            slopes.append(says(at, t + node * h, W, b))
            thinning.append(thins(at, W) + t + node * h)
            calls += 1
        path.append(path[-1] + h * torch.stack(slopes).mean(0))
        total = total + h * torch.stack(thinning).mean(0)
    return dict(states=torch.stack(path), total=total, calls=calls)


def ddim(
    x: Tensor,
    z: Tensor | None,
    left: Tensor,
    steps: Tensor,
    eta: float,
    W: Tensor,
    b: Tensor,
) -> dict:
    """DDIM in the coordinates y = x/√ᾱ, u = √(1/ᾱ − 1): there the quiet step is Euler's. states and calls.

    With noise: u falls to the share of it that is kept, √(u_s² − v²), and v z is fresh.
    """
    path, left, clock = [x], left[steps], steps.to(x.dtype) / 10
    for k in range(len(steps) - 1):
        here, there = left[k], left[k + 1]
        u_t, u_s = (1 / here - 1).sqrt(), (1 / there - 1).sqrt()
        noise = says(path[-1], clock[k], W, b)
        y = path[-1] / here.sqrt()
        if z is None:
            y = y + (u_s - u_t) * noise
        else:
            v = eta * u_s / u_t * (u_t**2 - u_s**2).sqrt()
            y = y + ((u_s**2 - v**2).sqrt() - u_t) * noise + v * z[k]
        path.append(there.sqrt() * y)
    return dict(states=torch.stack(path), calls=len(path) - 1)


def fokker_planck(
    p: Tensor, x: Tensor, times: Tensor, a: float, c: float, size: float
) -> Tensor:
    """Drift a x + c (1 + t), noise size (1 + t) (2 + sin x): each step as a matrix on p (m,) -> (K + 1, m)."""
    m, dx = len(x), (x[-1] - x[0]) / (len(x) - 1)
    border = x[:-1] + dx / 2
    history = [p]
    for t, h in zip(times, times.diff(), strict=False):
        D = (size * (1 + t) * (2 + x.sin())).square() / (2 * dx)
        f = (a * border + c * (1 + t)) / 2
        M = torch.zeros(m, m, dtype=p.dtype, device=p.device)
        right, lower = (
            f + D[:-1],
            f - D[1:],
        )  # flow over a border, by the cell before and behind
        rows = torch.arange(m - 1, device=p.device)
        M[rows, rows] -= right
        M[rows, rows + 1] -= lower
        M[rows + 1, rows] += right
        M[rows + 1, rows + 1] += lower
        history.append(history[-1] + h / dx * (M @ history[-1]))
    return torch.stack(history)


def reverse_drift(x: Tensor, W: Tensor, B: Tensor, c: float) -> Tensor:
    """x W − c (div D + D s) for D = G Gᵀ, G_jk(x) = sin(x_j) + x · B[j, k] and s = tanh(x) − 1, by hand.

    x (*batch, n, d), W (d, d), B (d, k, d) -> (*batch, n, d).
    """
    G = x.sin().unsqueeze(-1) + torch.einsum("...j,ikj->...ik", x, B)
    slope = torch.einsum(
        "ij,...j->...ij",
        torch.eye(x.shape[-1], dtype=x.dtype, device=x.device),
        x.cos(),
    )
    dG = slope.unsqueeze(-2) + B  # (..., i, k, j): the derivative of G_ik by x_j
    div = torch.einsum("...ikj,...jk->...i", dG, G)
    div = div + torch.einsum("...ik,...jkj->...i", G, dG)
    pull = torch.einsum("...ik,...jk,...j->...i", G, G, x.tanh() - 1)
    return x @ W - c * (div + pull)

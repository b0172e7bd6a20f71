"""Energies, scores, score matching and Langevin walks.

Scores are affine, or a layer of tanh, so that an answer is judged by other means than those it is expected to use:
powers of matrices, gradients by hand, quadrature differentiated. Every function works on the device and in the dtype of
its arguments.
"""

import torch
from torch import Tensor


def energy_score(x: Tensor, A: Tensor, b: Tensor, c: float) -> Tensor:
    """Minus the slope of c + ½ xᵀAx + sin(bᵀx). x (*batch, d), A (d, d), b (d,) -> (*batch, d)."""
    return -(x @ (A + A.mT)) / 2 - (x @ b).cos().unsqueeze(-1) * b


def affine_walk(x0: Tensor, z: Tensor, eps: float, A: Tensor, m: Tensor) -> Tensor:
    """Langevin steps with the score (m - x) A, by powers of I - ε/2 A.

    x0 (n, d), z (T, n, d), A (d, d), m (d,) -> (T + 1, n, d).
    """
    M = torch.eye(len(m), dtype=A.dtype, device=A.device) - eps / 2 * A
    powers = [torch.matrix_power(M, k) for k in range(len(z) + 1)]
    path = []
    for t in range(len(z) + 1):
        shaken = sum(z[k] @ powers[t - 1 - k] for k in range(t))
        path.append(m + (x0 - m) @ powers[t] + eps**0.5 * shaken)
    return torch.stack(path)


def langevin(x0: Tensor, z: Tensor, eps: float, A: Tensor, m: Tensor) -> dict:
    """The walk, and how often the score is asked."""
    return dict(path=affine_walk(x0, z, eps, A, m), asked=len(z))


def annealed_langevin(
    x0: Tensor, z: Tensor, sigmas: Tensor, r: float, A: Tensor, m: Tensor
) -> dict:
    """Walks with the score (m - x) A / σ, level after level, and the level of each question.

    x0 (n, d), z (L, K, n, d), sigmas (L,) -> path (1 + L K, n, d), asked (L K,).
    """
    x0 = x0.to(A.dtype)
    path = [x0.unsqueeze(0)]
    for noise, sigma in zip(z, sigmas, strict=True):
        walk = affine_walk(path[-1][-1], noise, r * sigma**2, A / sigma, m)
        path.append(walk[1:])
    return dict(path=torch.cat(path), asked=sigmas.repeat_interleave(z.shape[1]))


def ism_report(x: Tensor, W: Tensor, b: Tensor) -> dict:
    """The implicit loss of s = tanh(x W + b) and its gradient in W, by hand. x (n, d), W (d, d), b (d,).

    ∂sᵢ/∂xᵢ = (1 - sᵢ²) Wᵢᵢ.
    """
    s, diagonal = (x @ W + b).tanh(), W.diagonal()
    bend = 1 - s.square()
    loss = (s.square() / 2 + bend * diagonal).sum(1).mean()
    pull = bend * (s - 2 * s * diagonal) / len(x)
    return dict(loss=loss, gradient=x.mT @ pull + torch.diag(bend.mean(0)))


def dsm_report(x: Tensor, sigma: Tensor, z: Tensor, W: Tensor) -> dict:
    """The denoising loss of s = tanh(x W) + σ/5, its gradient in W by hand, and the number of calls."""
    level = sigma.unsqueeze(-1)
    melted = x + level * z
    bent = (melted @ W).tanh()
    miss = level * bent + level.square() / 5 + z
    gradient = melted.mT @ (level * miss * (1 - bent.square())) / len(x)
    return dict(loss=miss.square().sum() / (2 * len(x)), gradient=gradient, calls=1)


def train_score(
    x: Tensor,
    sigmas: Tensor,
    W: Tensor,
    V: Tensor,
    n_steps: int,
    batch: int,
    lr: float,
    decay: float,
    seed: int,
) -> dict:
    """Adam by hand, with gradients by hand, on s = tanh(x W) + σ V; then the averages of W and V.

    x (N, d), sigmas (L,), W (d, d), V (d,) -> losses (n_steps,), W, V. All chance is drawn in float32 on the CPU. The
    average after T updates is δᵀ w₀ + (1 - δ) Σ δ^(T - t) w_t.
    """
    g, d = torch.Generator().manual_seed(seed), x.shape[1]
    history, losses = [[W.clone(), V.clone()]], []
    m, v = ([torch.zeros_like(w) for w in history[0]] for _ in range(2))
    for k in range(1, n_steps + 1):
        rows = torch.randint(len(x), (batch,), generator=g).to(x.device)
        levels = torch.randint(len(sigmas), (batch,), generator=g).to(x.device)
        eps = torch.randn(batch, d, generator=g).to(x)
        level = sigmas[levels].unsqueeze(-1)
        melted = x[rows] + level * eps
        bent = (melted @ history[-1][0]).tanh()
        miss = level * (bent + level * history[-1][1]) + eps
        losses.append(miss.square().sum() / (2 * batch))
        pull = level * miss / batch
        gradients = [melted.mT @ (pull * (1 - bent.square())), (pull * level).sum(0)]
        new = []
        for i, (w, gradient) in enumerate(zip(history[-1], gradients, strict=True)):
            m[i] = 0.9 * m[i] + 0.1 * gradient
            v[i] = 0.999 * v[i] + 0.001 * gradient.square()
            size = (v[i] / (1 - 0.999**k)).sqrt() + 1e-8
            new.append(w - lr * m[i] / (1 - 0.9**k) / size)
        history.append(new)
    ages = torch.arange(n_steps, -1, -1, dtype=x.dtype, device=x.device)
    shares = decay**ages
    shares[1:] *= 1 - decay
    W, V = (
        torch.tensordot(shares, torch.stack(each), 1)
        for each in zip(*history, strict=True)
    )
    return dict(losses=torch.stack(losses) if losses else x.new_zeros(0), W=W, V=V)


def energy(x: Tensor, theta: Tensor, lift: float) -> Tensor:
    """lift + θ₀ x² + cos(θ₁ x). x (n,), theta (2,) -> (n,)."""
    return lift + theta[0] * x.square() + (theta[1] * x).cos()


def ebm_gradient(theta: Tensor, data: Tensor, grid: Tensor, lift: float) -> Tensor:
    """Slope in theta of -mean f(data) - log Σ e^(-f(grid)), by differentiating just that. theta (2,) -> (2,)."""

    def log_likelihood(theta):
        scale = torch.logsumexp(-energy(grid, theta, lift), 0)
        return -energy(data, theta, lift).mean() - scale

    return torch.func.grad(log_likelihood)(theta)

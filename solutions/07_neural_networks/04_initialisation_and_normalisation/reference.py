"""Initial weights, signals through depth, and batch, layer and RMS normalisation with their derivatives.

N rows, D features. Batches lead. Sources: wu 2.7 and 2.14, guo III.8 and III.9, explainers 3.1.4; He and
others, Delving deep into rectifiers (2015); Ioffe and Szegedy, Batch normalization (2015); Ba and others,
Layer normalization (2016); Zhang and Sennrich, Root mean square layer normalization (2019).
"""

import math

import torch
from torch import Tensor


def relu_moments(var_w: Tensor | float, fan_in: Tensor, m2: Tensor | float) -> Tensor:
    """Second moment and variance of a unit after each layer of weights and ReLU -> (L, 2).

    fan_in (L,): inputs of each layer. Weights are independent, mean 0, variance var_w; m2 is the second
    moment of the first inputs. Pre-activations are taken as normal: E[s²] = fan_in var_w E[h²] halves
    under the ReLU, and E[relu(s)]² = E[s²] / (2π).
    """
    factors = torch.as_tensor(fan_in) * torch.as_tensor(var_w, dtype=torch.float64) / 2
    second = torch.cumprod(factors, -1) * m2
    return torch.stack([second, second * (1 - 1 / math.pi)], -1)


def weight_variance(scheme: str, n_in: int, n_out: int) -> float:
    """Variance of one weight: "zeros" 0, "xavier" 2 / (n_in + n_out), "he" 2 / n_in."""
    return {"zeros": 0.0, "xavier": 2 / (n_in + n_out), "he": 2 / n_in}[scheme]


def initial_weights(
    scheme: str, n_in: int, n_out: int, *, generator=None, dtype=None, device=None
) -> Tensor:
    """Weights (n_in, n_out) for h @ W: zeros, uniform for "xavier", normal for "he"."""
    W = torch.empty(n_in, n_out, dtype=dtype, device=device)
    sd = math.sqrt(weight_variance(scheme, n_in, n_out))
    if scheme == "xavier":
        return W.uniform_(-math.sqrt(3) * sd, math.sqrt(3) * sd, generator=generator)
    return W.normal_(generator=generator) * sd


def weight_statistics(
    scheme: str, n_in: int, n_out: int
) -> dict[str, float | list[int]]:
    """What a large draw of `scheme` must show: shape, n_in E[W²], √n_in E[W], E[W⁴] / E[W²]²; two draws differ.

    The fourth moment tells a uniform distribution (9/5) from a normal one (3). No entry equals its neighbour
    (but zeros do), and a generator in the same state gives the same draw.
    """
    return dict(
        shape=[n_in, n_out],
        mean=0.0,
        power=n_in * weight_variance(scheme, n_in, n_out),
        shape_of_distribution={"zeros": 0.0, "xavier": 1.8, "he": 3.0}[scheme],
        equal_neighbours=float(scheme == "zeros"),
        repeats=float(scheme == "zeros"),
        same_for_the_same_generator=1.0,
    )


def distinct_units(W: Tensor, b: Tensor, V: Tensor) -> Tensor:
    """Number of hidden units that differ in incoming weights, bias or outgoing weights -> (*batch,), integers.

    W (*batch, n_in, H), b (*batch, H), V (*batch, H, n_out). A unit counts if none before it is equal.
    """
    units = torch.cat([W.mT, b.unsqueeze(-1), V], -1)
    equal = (units.unsqueeze(-2) == units.unsqueeze(-3)).all(-1)
    return (~equal.tril(-1).any(-1)).sum(-1)


def dead_fraction(H: Tensor) -> Tensor:
    """Share of units that are 0 on every row. H (*batch, N, D) >= 0 -> (*batch,)."""
    alive = H.sum(-2) > 0
    return 1 - alive.to(H.dtype).mean(-1)


def _parts(A: Tensor, axis: int, center: bool, eps: float) -> tuple[Tensor, Tensor]:
    """Normalised values and 1 / √(mean of squares + eps), along `axis` (counted in the last two)."""
    c = A - A.mean(axis, keepdim=True) if center else A
    inverse = torch.rsqrt(c.square().mean(axis, keepdim=True) + eps)
    return c * inverse, inverse


def norm(
    A: Tensor, axis: int, center: bool, gamma: Tensor, beta: Tensor, eps: float
) -> Tensor:
    """gamma * (A - mean) / √(variance + eps) + beta; without `center` the mean stays 0.

    A (*batch, N, D), gamma and beta (D,). axis 0 runs over the N rows (batch norm), axis 1 over the D
    features (layer norm; RMS norm without `center`).
    """
    return _parts(A, axis - 2, center, eps)[0] * gamma + beta


def norm_jacobian(a: Tensor, center: bool, eps: float) -> Tensor:
    """Jacobian (C - y yᵀ / d) / s of y = C a / s, s = √(mean of (C a)² + eps). a (*batch, d) -> (*batch, d, d).

    C = I - 11ᵀ/d with `center`, else I. The matrix is symmetric.
    """
    d = a.shape[-1]
    y, inverse = _parts(a, -1, center, eps)
    C = torch.eye(d, dtype=a.dtype, device=a.device) - (1 / d if center else 0)
    return (C - y.unsqueeze(-1) * y.unsqueeze(-2) / d) * inverse.unsqueeze(-1)


def norm_backward(
    dY: Tensor, A: Tensor, axis: int, center: bool, gamma: Tensor, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients by A, gamma and beta of a loss whose gradient by `norm(A, …)` is dY. All as in `norm`.

    Through the Jacobian matrix of each row (axis 1) or column (axis 0).
    """
    vectors, G = (A, dY * gamma) if axis == 1 else (A.mT, (dY * gamma).mT)
    dA = (norm_jacobian(vectors, center, eps) @ G.unsqueeze(-1)).squeeze(-1)
    dgamma = (dY * _parts(A, axis - 2, center, eps)[0]).sum(-2)
    return dA if axis == 1 else dA.mT, dgamma, dY.sum(-2)


def batch_norm(
    A: Tensor,
    gamma: Tensor,
    beta: Tensor,
    mean: Tensor,
    var: Tensor,
    train: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Batch normalisation and the running statistics after it -> (output, mean, var).

    A (*batch, N, D), the others (*batch, D) or (D,). Training normalises by the batch (variance / N) and
    moves the running values by `momentum` towards the batch's mean and its variance / (N - 1); a batch of
    one row leaves the running variance. Evaluation uses the running values and returns them.
    """
    if train:
        batch_mean, n = A.mean(-2), A.shape[-2]
        out = norm(A, 0, True, gamma, beta, eps)
        if n > 1:
            spread = (A - batch_mean.unsqueeze(-2)).square().sum(-2) / (n - 1)
            var = torch.lerp(var, spread, momentum)
        return out, torch.lerp(mean, batch_mean, momentum), var
    scale = gamma * torch.rsqrt(var + eps)
    return A * scale.unsqueeze(-2) + (beta - mean * scale).unsqueeze(-2), mean, var


def rms_norm_jacobian(h: Tensor, eps: float) -> Tensor:
    """Derivative of h / √(mean(h²) + eps): (I - h hᵀ / (‖h‖² + d eps)) / √(mean(h²) + eps)."""
    d = h.shape[-1]
    length2 = h.square().sum(-1)[..., None, None] + d * eps
    eye = torch.eye(d, dtype=h.dtype, device=h.device)
    return (eye - h.unsqueeze(-1) * h.unsqueeze(-2) / length2) * (d / length2).sqrt()

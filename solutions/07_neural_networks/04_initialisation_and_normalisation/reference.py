"""Moments through depth, initial weights, a network's health, batch, layer and RMS norm, and their derivatives.

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


def weight_variance(before: str, n_in: int, n_out: int) -> float:
    """Variance of one weight: He 2 / n_in, Xavier 2 / (n_in + n_out), orthogonal 1 / n_in."""
    known = {"relu": 2 / n_in, "recurrent": 1 / n_in}
    return known.get(before, 2 / (n_in + n_out))


def weight_statistics(
    before: str, n_in: int, n_out: int
) -> dict[str, float | list[int]]:
    """What a large draw must show: shape, √n_in E[W], n_in E[W²], E[W⁴] / E[W²]²; two draws differ.

    The fourth moment tells a uniform distribution (9/5) from a normal one (3; entries of an orthogonal matrix
    nearly). `gram` is the largest entry of WᵀW - I for "recurrent". A generator in the same state gives the
    same draw.
    """
    return dict(
        shape=[n_in, n_out],
        mean=0.0,
        power=n_in * weight_variance(before, n_in, n_out),
        tails=3.0 if before in ("relu", "recurrent") else 1.8,
        equal_neighbours=0.0,
        repeats=0.0,
        same_for_the_same_generator=1.0,
        gram=0.0,
    )


def health(X: Tensor, Ws: list[Tensor], bs: list[Tensor], G: Tensor) -> Tensor:
    """Mean squares of h_l and of the gradient by h_{l-1}, and the share of dead units, for each layer -> (L, 3).

    X (N, n_0), Ws[l] (n_{l-1}, n_l), bs[l] (n_l,), G (N, n_L). The gradient is torch's.
    """
    with torch.enable_grad():
        layers = [X.detach().to(Ws[0].dtype, copy=True).requires_grad_()]
        for W, b in zip(Ws, bs, strict=True):
            layers.append(torch.relu(layers[-1] @ W + b))
        gradients = torch.autograd.grad((layers[-1] * G).sum(), layers[:-1])
    rows = [
        torch.stack([h.square().mean(), g.square().mean(), 1 - alive.mean()])
        for h, g in zip(layers[1:], gradients, strict=True)
        for alive in [(h.sum(-2) > 0).to(h.dtype)]
    ]
    return torch.stack(rows).detach()


def normalised(
    A: Tensor, kind: str, eps: float, mean: Tensor | None = None, var=None
) -> Tensor:
    """A (…, N, D), each group of mean 0 (not for "RMS") and mean square 1 but for eps.

    A group is a column for "batch", else a row. mean, var (D,): used in place of a column's own.
    """
    axis = -2 if kind == "batch" else -1
    if mean is None:
        mean = 0 if kind == "RMS" else A.mean(axis, keepdim=True)
        var = (A - mean).square().mean(axis, keepdim=True)
    return (A - mean) * torch.rsqrt(var + eps)


def norm_layer(
    kind: str,
    gamma: Tensor,
    beta: Tensor,
    mean: Tensor,
    var: Tensor,
    eps: float,
    momentum: float,
    batches: list[Tensor],
    trains: list[bool],
    dY: Tensor | None = None,
) -> dict[str, Tensor | list[Tensor]]:
    """A normaliser fed with `batches` one after the other -> outputs, and the running mean and var at the end.

    With dY: also the gradients of Σ dY · (last output) by the last batch, gamma and beta, by autograd.
    """
    outs: list[Tensor] = []
    with torch.enable_grad():
        gamma, beta = (v.detach().clone().requires_grad_() for v in (gamma, beta))
        for A, train in zip(batches, trains, strict=True):
            A = A.detach().to(gamma.dtype, copy=True).requires_grad_()
            own = kind != "batch" or train
            Y = normalised(A, kind, eps, *(() if own else (mean, var)))
            outs.append(gamma * Y + beta)
            if kind == "batch" and train:
                mean = torch.lerp(mean, A.detach().mean(-2), momentum)
                if len(A) > 1:
                    var = torch.lerp(var, A.detach().var(-2), momentum)
        told = dict(outs=[out.detach() for out in outs], mean=mean, var=var)
        if dY is not None:
            slopes = torch.autograd.grad((outs[-1] * dY).sum(), (A, gamma, beta))
            told |= dict(zip(("dA", "dgamma", "dbeta"), slopes, strict=True))
    return told


def distinct_units(W: Tensor, b: Tensor, V: Tensor) -> Tensor:
    """Number of hidden units that differ in incoming weights, bias or outgoing weights -> (*batch,), integers.

    W (*batch, n_in, H), b (*batch, H), V (*batch, H, n_out). A unit counts if none before it is equal.
    """
    units = torch.cat([W.mT, b.unsqueeze(-1), V], -1)
    equal = (units.unsqueeze(-2) == units.unsqueeze(-3)).all(-1)
    return (~equal.tril(-1).any(-1)).sum(-1)


def rms_norm_jacobian(h: Tensor, eps: float) -> Tensor:
    """Derivative of h / √(mean(h²) + eps): (I - h hᵀ / (‖h‖² + d eps)) / √(mean(h²) + eps)."""
    h = h if h.is_floating_point() else h.double()
    d = h.shape[-1]
    length2 = h.square().sum(-1)[..., None, None] + d * eps
    eye = torch.eye(d, dtype=h.dtype, device=h.device)
    return (eye - h.unsqueeze(-1) * h.unsqueeze(-2) / length2) * (d / length2).sqrt()

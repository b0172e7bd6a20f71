"""Residual networks: streams, slopes by autograd, sums over paths, unrolled descent and shrinking.

A network is E (K, d), Ws (T, d, d), bs (T, d), U (d, K): h_t = skip · h_{t−1} + tanh(h_{t−1} W_t + b_t), scores h_T U.
Every function works on the device and in the dtype of its arguments.
"""

import torch
import torch.nn.functional as F  # noqa: N812 — as everybody writes it
from torch import Tensor


def resmlp_forward(
    ids: Tensor, E: Tensor, Ws: Tensor, bs: Tensor, skip: float = 1.0
) -> Tensor:
    """The stream before and after each block. ids (B,) -> (T + 1, B, d)."""
    stream = [F.embedding(ids, E)]
    for W, b in zip(Ws, bs, strict=True):
        stream.append(torch.addmm(b, stream[-1], W).tanh().add(stream[-1], alpha=skip))
    return torch.stack(stream)


def resmlp_grads(
    ids: Tensor,
    targets: Tensor,
    E: Tensor,
    Ws: Tensor,
    bs: Tensor,
    U: Tensor,
    skip: float = 1.0,
) -> dict:
    """Mean cross-entropy, its slopes by autograd, and those by each place of the stream (T + 1, B, d)."""
    with torch.enable_grad():
        E, Ws, bs, U = params = [
            p.detach().clone().requires_grad_(True) for p in (E, Ws, bs, U)
        ]
        stream = [F.embedding(ids, E)]
        for W, b in zip(Ws, bs, strict=True):
            stream.append(skip * stream[-1] + (stream[-1] @ W + b).tanh())
        loss = F.cross_entropy(stream[-1] @ U, targets)
        slopes = torch.autograd.grad(loss, params + stream, materialize_grads=True)
    return dict(
        loss=loss.detach(), grads=list(slopes[:4]), messages=torch.stack(slopes[4:])
    )


def path_sums(Js: Tensor) -> Tensor:
    """Entry k: the sum, over all choices of k blocks, of their product in order. Js (T, d, d) -> (T + 1, d, d).

    They are the coefficients of ∏ (I + z J_t), a polynomial in z: its values at the roots of unity, transformed back.
    """
    n, d = len(Js) + 1, Js.shape[-1]
    angle = 2 * torch.pi * torch.arange(n, dtype=Js.dtype, device=Js.device) / n
    z = torch.polar(torch.ones_like(angle), angle)[:, None, None]
    eye = torch.eye(d, dtype=Js.dtype, device=Js.device)
    values = eye.to(z.dtype).expand(n, d, d)
    for J in Js:
        values = values @ (eye + z * J)
    return torch.fft.fft(values, dim=0).real / n


def gd_as_resnet(A: Tensor, b: Tensor, eta: float, T: int) -> tuple[Tensor, Tensor]:
    """Blocks h + h W + c that are steps of descent on ||A x − b||²/2, by its slopes. -> (T, d, d), (T, d)."""
    A, b = (a if a.is_floating_point() else a.double() for a in (A, b))
    with torch.enable_grad():

        def down(x):
            return -eta * (A.T @ (A @ x - b))

        zero = A.new_zeros(A.shape[1])
        W = torch.autograd.functional.jacobian(down, zero).T
    return W.repeat(T, 1, 1), down(zero).repeat(T, 1)


def rounds(Y: Tensor, D: Tensor, Vs: Tensor, thetas: Tensor, T: int) -> Tensor:
    """T rounds of correcting and shrinking from 0, the last pair again where there are fewer. -> (T + 1, B, n)."""
    codes = [Y.new_zeros(len(Y), D.shape[1])]
    for t in range(T):
        i = min(t, len(Vs) - 1)
        z = codes[-1] + (Y - codes[-1] @ D.T) @ Vs[i]
        codes.append(torch.relu(z - thetas[i]) - torch.relu(-z - thetas[i]))
    return torch.stack(codes)


def lista_forward(Y: Tensor, D: Tensor, Vs: Tensor, thetas: Tensor, T: int) -> dict:
    """The codes of all rounds, and the slopes of their sum of squares by Vs and thetas."""
    with torch.enable_grad():
        leaves = [a.detach().clone().requires_grad_(True) for a in (Vs, thetas)]
        codes = rounds(Y, D, *leaves, T)
        by_Vs, by_thetas = torch.autograd.grad(codes.square().sum(), leaves)
    return dict(
        codes=codes.detach(), by_Vs=by_Vs, by_thetas=by_thetas, float64=D.new_ones(1)
    )


def train_lista(
    D: Tensor,
    Vs: Tensor,
    thetas: Tensor,
    batches: list[Tensor],
    lr: float,
    weights: Tensor,
) -> dict:
    """Adam, written out, on weighted squared errors of all rounds. batches of codes (B, n)."""
    params = [Vs.detach().clone(), thetas.detach().clone()]
    first = [torch.zeros_like(p) for p in params]
    second = [torch.zeros_like(p) for p in params]
    losses = []
    for step, X in enumerate(batches, 1):
        with torch.enable_grad():
            leaves = [p.requires_grad_(True) for p in params]
            codes = rounds(X @ D.T, D, *leaves, len(weights))[1:]
            loss = (codes - X).square().sum(2).mean(1) @ weights
            slopes = torch.autograd.grad(loss, leaves)
        params = [p.detach() for p in params]
        for i, g in enumerate(slopes):
            first[i] = 0.9 * first[i] + 0.1 * g
            second[i] = 0.999 * second[i] + 0.001 * g.square()
            root = (second[i] / (1 - 0.999**step)).sqrt() + 1e-8
            params[i] = params[i] - lr * first[i] / (1 - 0.9**step) / root
        losses.append(loss.detach())
    return dict(
        Vs=params[0],
        thetas=params[1],
        losses=torch.stack(losses),
        attached=D.new_zeros(2),
        tensors=D.new_zeros(1),
    )


def scalar_skip_grads(
    w0: float, w1: float, w2: float, x: Tensor, y: Tensor, skip: float
) -> Tensor:
    """Slopes of mean (w2 h2 − y)² by the three weights, by autograd. x, y (N,) -> (3,)."""
    with torch.enable_grad():
        w = torch.stack(
            [torch.full_like(x[0], v) for v in (w0, w1, w2)]
        ).requires_grad_(True)
        h1 = torch.sigmoid(w[0] * x)
        h2 = torch.sigmoid(w[1] * h1) + skip * h1
        return torch.autograd.grad(F.mse_loss(w[2] * h2, y), w)[0]


def assembly(
    ids: Tensor, targets: Tensor, E: Tensor, Ws: Tensor, bs: Tensor, U: Tensor
) -> tuple[Tensor, Tensor]:
    """What each part of the stream adds to the right score (T + 1, B), and the loss without each block (T,)."""
    scores = resmlp_forward(ids, E, Ws, bs) @ U
    right = scores.gather(2, targets.expand(len(scores), -1)[..., None])[..., 0]
    losses = []
    for t in range(len(Ws)):
        rest = [torch.cat([P[:t], P[t + 1 :]]) for P in (Ws, bs)]
        losses.append(F.cross_entropy(resmlp_forward(ids, E, *rest)[-1] @ U, targets))
    return torch.cat([right[:1], right.diff(dim=0)]), torch.stack(losses)

"""Dropout and its ensemble, a loop that trains with it, and dropped inputs as ridge.

d units, k outputs, n rows, m features; p is the chance that a unit is dropped, 0 <= p < 1. Batches lead.
Sources: cs480 9, explainers 3.2.4, guo III.10, wu 2.15; Srivastava and others, Dropout (2014); Wager and
others, Dropout training as adaptive regularization (2013).
"""

import itertools

import numpy as np
import torch
from torch import Tensor


def real(v: Tensor) -> Tensor:
    """Whole numbers as float64, others as they are."""
    return v if v.is_floating_point() else v.double()


def output_moments(
    h: Tensor, W: Tensor, p: float, inverted: bool
) -> tuple[Tensor, Tensor]:
    """Mean and variance over the masks of s = Wᵀ(m ⊙ h), or of Wᵀ(m ⊙ h) / (1 - p) if inverted.

    h (*batch, d), W (d, k) -> two tensors (*batch, k). wu 2.171 to 2.175.
    """
    keep, h, W = 1 - p, real(h), real(W)
    mean = h @ W
    variance = h.square() @ W.square()
    if inverted:
        return mean, p / keep * variance
    return keep * mean, p * keep * variance


def dropout_with(h: Tensor, p: float, train: bool, inverted: bool, u: Tensor):
    """h times a factor, and the factor: 0 where u < p while training. h, u (*shape) -> two (*shape).

    What is kept is divided by 1 - p in training (inverted) or everything multiplied by it afterwards.
    """
    h = real(h)
    if train:
        factor = (u >= p).to(h.dtype) / (1 - p if inverted else 1.0)
    else:
        factor = torch.full_like(h, 1.0 if inverted else 1 - p)
    return h * factor, factor


def dropped_net_gradients(X, y, W1, b1, W2, b2, factor, lam):
    """Mean cross-entropy of relu(X W1 + b1) ⊙ factor -> W2, b2, softmax, + lam (‖W1‖² + ‖W2‖²); gradients by autograd.

    X (n, m), y (n,) integers, W1 (m, d), b1 (d,), W2 (d, k), b2 (k,), factor (n, d) ->
    loss (), dW1, db1, dW2, db2.
    """
    given = (real(v.detach().clone()) for v in (W1, b1, W2, b2))
    parameters = [value.requires_grad_() for value in given]
    with torch.enable_grad():
        hidden = torch.relu(real(X) @ parameters[0] + parameters[1]) * factor
        scores = hidden @ parameters[2] + parameters[3]
        loss = torch.nn.functional.cross_entropy(scores, y.long())
        squares = parameters[0].square().sum() + parameters[2].square().sum()
        loss = loss + lam * squares
        gradients = torch.autograd.grad(loss, parameters)
    return loss.detach(), *gradients


def toy_slopes(A, B, net, batch, factor):
    """What the check of the loop gives for slopes: they depend on the net, the batch and the factor."""
    W1, b1, W2, b2 = net
    X, Y = A[batch], B[batch]
    return [
        X.T @ factor + W1 / 2,
        factor.sum(0) - b1,
        factor.T @ Y - W2 / 2,
        Y.sum(0) + b2,
    ]


def trained(A, B, told, mark, net, p, eta, batches, every, patience, seed):
    """Every net on the way is kept; the record is looked up among the losses -> dict of best, last, losses.

    The i-th loss is told[i] plus a mark of the net that was asked about. A (n, m), B (n, k).
    """
    coins, nets, losses, best = np.random.default_rng(seed), [list(net)], [], 0
    for step, batch in enumerate(batches):
        if step % every == 0:
            number = len(losses)
            shown = sum(value.sum() for value in nets[-1])
            losses.append(told[number] + mark * shown / (1 + abs(shown)))
            if bool(losses[-1] < losses[best]):
                best = number
            if number - best == patience:
                break
        keep = torch.as_tensor(coins.random((len(batch), len(net[1]))) >= p)
        factor = keep.to(A) / (1 - p)
        moves = toy_slopes(A, B, nets[-1], batch, factor)
        nets.append([v - eta * s for v, s in zip(nets[-1], moves, strict=True)])
    return dict(best=nets[every * best], last=nets[-1], losses=torch.stack(losses))


def all_masks(h: Tensor, p: float) -> tuple[Tensor, Tensor]:
    """The 2^d masks of the units h (*batch, d), rows of 0 and 1, and the probability of each -> (2^d, d), (2^d,)."""
    rows = list(itertools.product((0.0, 1.0), repeat=h.shape[-1]))
    masks = torch.tensor(rows, dtype=h.dtype, device=h.device)
    on = masks.sum(-1)
    return masks, p ** (h.shape[-1] - on) * (1 - p) ** on


def ensemble_means(h: Tensor, W: Tensor, p: float) -> tuple[Tensor, Tensor, Tensor]:
    """Means over all sub-networks softmax(Wᵀ(m ⊙ h)), weighted with the probability of the mask m.

    h (*batch, d), W (d, k) -> mean scores, normalised geometric and arithmetic mean of the probabilities,
    each (*batch, k). The first two are the scaled network's, in closed form; the third sums 2^d terms.
    """
    h, W = real(h), real(W)
    masks, chance = all_masks(h, p)
    scores = (1 - p) * (h @ W)
    single = torch.softmax((masks * h.unsqueeze(-2)) @ W, -1)
    return scores, torch.softmax(scores, -1), (chance.unsqueeze(-1) * single).sum(-2)


def masked_norm_means(h: Tensor, p: float) -> tuple[Tensor, Tensor]:
    """E[m ⊙ RMSNorm(h)] and E[RMSNorm(m ⊙ h)] over all masks; RMSNorm(0) = 0, no ε.

    h (*batch, d), no row 0 -> two (*batch, d). The first in closed form. wu 2.187, 2.188.
    """
    h, d = real(h), h.shape[-1]
    masks, chance = all_masks(h, p)
    unit = torch.nn.functional.normalize(masks * h.unsqueeze(-2), dim=-1)
    whole = torch.nn.functional.normalize(h, dim=-1)
    return (1 - p) * d**0.5 * whole, d**0.5 * (chance.unsqueeze(-1) * unit).sum(-2)


def dropout_least_squares(X: Tensor, y: Tensor, p: float) -> Tensor:
    """Minimiser over w of E‖y − (M ⊙ X) w / (1 − p)‖², entries of M independent, 0 with chance p.

    X (n, m), y (n,) or (n, k) -> (m,) or (m, k). Equals ‖y − Xw‖² + p/(1−p) Σ_i w_i² Σ_n X_ni²: solved
    in the units in which every column has length 1. Columns must not be 0; for p = 0 their rank must be m.
    """
    X, y = real(X), real(y)
    length = X.square().sum(0).sqrt()
    unit = X / length
    eye = torch.eye(X.shape[-1], dtype=X.dtype, device=X.device)
    moments = unit.T @ y.view(len(y), -1)
    w = torch.linalg.solve(unit.T @ unit + p / (1 - p) * eye, moments) / length[:, None]
    return w.view(-1, *y.shape[1:])

"""Recurrent networks: states, slopes through time by autograd, training, probes, a network for parity.

A network is E (K, H), W (H, H), b (H,), R (H, K): h_t = tanh(h_{t−1} W + E[symbol] + b), scores h_t R. Every function
works on the device and in the dtype of its arguments.
"""

import torch
import torch.nn.functional as F  # noqa: N812 — as everybody writes it
from torch import Tensor

ACTIVATIONS = {
    "identity": lambda a: a,
    "tanh": torch.tanh,
    "square": torch.square,
    "relu": torch.relu,
}


def lag_terms(x: Tensor, y: float, w0: float, w1: float, w2: float, act: str) -> Tensor:
    """Slopes of (w2 h_T − y)² by the weights of each step, as if every step had its own. x (T,) -> (T, 2)."""
    with torch.enable_grad():
        own = torch.stack([torch.full_like(x, w0), torch.full_like(x, w1)], 1)
        own.requires_grad_(True)
        h = x.new_zeros(())
        for number, (into, on) in zip(x, own, strict=True):
            h = ACTIVATIONS[act](into * number + on * h)
        return torch.autograd.grad((w2 * h - y) ** 2, own)[0]


def rnn_forward(ids: Tensor, E: Tensor, W: Tensor, b: Tensor, h0: Tensor) -> Tensor:
    """States before, between and after the symbols. ids (B, T), h0 (B, H) -> (T + 1, B, H)."""
    into = F.one_hot(ids, len(E)).to(E) @ E + b
    states = [h0]
    for t in range(ids.shape[1]):
        states.append(torch.addmm(into[:, t], states[-1], W).tanh())
    return torch.stack(states)


def bptt(
    ids: Tensor,
    targets: Tensor,
    E: Tensor,
    W: Tensor,
    b: Tensor,
    R: Tensor,
    h0: Tensor,
    pass_on: Tensor | None = None,
) -> dict:
    """Mean cross-entropy where targets are not −1, its slopes by autograd, and the slopes by the states.

    What the state before step t gives to it is pass_on[t] times itself plus a constant, so its value is untouched and
    its slope multiplied. targets (B, T) -> messages (T, B, H), last states (B, H).
    """
    with torch.enable_grad():
        params = [p.detach().clone().requires_grad_(True) for p in (E, W, b, R)]
        into = F.one_hot(ids, len(E)).to(E) @ params[0] + params[2]
        states = [h0.clone().requires_grad_(True)]
        for t in range(ids.shape[1]):
            h = states[-1]
            if pass_on is not None:
                h = pass_on[t] * h + (1 - pass_on[t]) * h.detach()
            states.append((into[:, t] + h @ params[1]).tanh())
        scores = torch.stack(states[1:], 1) @ params[3]
        loss = F.cross_entropy(scores.flatten(0, 1), targets.flatten(), ignore_index=-1)
        slopes = torch.autograd.grad(loss, params + states[1:])
    return dict(
        loss=loss.detach(),
        grads=list(slopes[:4]),
        messages=torch.stack(slopes[4:]),
        last=states[-1].detach(),
    )


def train(params: list[Tensor], batches: list, lr: float, c: float) -> dict:
    """Gradient descent, the slopes clipped at norm c. batches of ids, targets (B, T), fresh -> params, losses."""
    params, losses, h = [p.clone() for p in params], [], None
    for ids, targets, fresh in batches:
        if fresh:
            h = params[1].new_zeros(len(ids), len(params[1]))
        told = bptt(ids, targets, *params, h)
        h = told["last"]
        norm = torch.cat([g.flatten() for g in told["grads"]]).norm()
        scale = torch.clamp(c / norm, max=1)
        params = [
            torch.addcmul(p, g, scale, value=-lr)
            for p, g in zip(params, told["grads"], strict=True)
        ]
        losses.append(told["loss"])
    return dict(params=params, losses=torch.stack(losses))


def pad_batch(seqs: list[list[int]], pad: int, K: int) -> tuple[Tensor, Tensor, Tensor]:
    """ids (B, T), mask (B, T), one-hot symbols (B, T, K), by torch's own padding."""
    rows = [torch.tensor(s, dtype=torch.int64) for s in seqs]
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad)
    lengths = torch.tensor([len(s) for s in seqs])
    mask = torch.arange(ids.shape[1]) < lengths[:, None]
    return ids, mask, F.one_hot(ids, K) * mask[..., None]


def probe(H: Tensor, y: Tensor, H_new: Tensor) -> Tensor:
    """Least-squares scores of all classes by the pseudoinverse. H (n, d), y (n,), H_new (m, d) -> (m, K)."""
    A, new = (F.pad(X, (0, 1), value=1.0) for X in (H, H_new))
    return new @ (torch.linalg.pinv(A) @ F.one_hot(y).to(H))


def parity_net(g: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Three units: at least one of parity and bit, both, always. -> E (2, 3), W (3, 3), b (3,), R (3, 2)."""
    parity, bit = torch.tensor([0.5, -0.5, 0]).double(), torch.tensor([1, 1, 0])
    thresholds = torch.tensor([0.5, 1.5, -1]).double()
    bits = torch.tensor([0.0, 1]).double()
    scores = torch.stack([torch.tensor([0.0, 0, 1]).double(), 2 * parity], 1)
    return (
        g * torch.outer(bits, bit),
        g * torch.outer(parity, bit),
        -g * thresholds,
        scores,
    )

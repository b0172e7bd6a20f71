"""Gated recurrent networks: streams, LSTM and GRU cells, slopes by autograd, stacked layers, text from newest states.

Rows are sequences: a = x W + h U + b, the blocks of columns in torch's order. Every function works on the device and in
the dtype of its arguments.
"""

import torch
import torch.nn.functional as F  # noqa: N812 — as everybody writes it
from torch import Tensor


def stream(V: Tensor, W: Tensor, k: float, h0: Tensor) -> tuple[Tensor, Tensor]:
    """States (T + 1, H) of h ← k h + tanh(h W + v), and the Jacobian (H, H) of the last by h0, by autograd."""

    V, h0 = V.to(W.dtype), h0.to(W.dtype)

    def run(start):
        states = [start]
        for v in V:
            states.append(k * states[-1] + torch.tanh(states[-1] @ W + v))
        return torch.stack(states)

    with torch.enable_grad():
        columns = []
        start = h0.detach().clone().requires_grad_(True)
        states = run(start)
        for j in range(len(h0)):
            columns.append(
                torch.autograd.grad(states[-1, j], start, retain_graph=True)[0]
            )
    return states.detach(), torch.stack(columns, 1)


def lstm_step(
    x: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, b: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """New h and c (B, H), and i, f, g, o (4, B, H). Each block has a product of its own."""
    H = len(U)
    a = [
        x @ W[:, n : n + H] + h @ U[:, n : n + H] + b[n : n + H]
        for n in range(0, 4 * H, H)
    ]
    i, f, g, o = a[0].sigmoid(), a[1].sigmoid(), a[2].tanh(), a[3].sigmoid()
    new = torch.addcmul(f * c, i, g)
    return o * new.tanh(), new, torch.stack([i, f, g, o])


def lstm_slopes(
    X: Tensor, y: Tensor, W: Tensor, U: Tensor, b: Tensor, R: Tensor
) -> dict:
    """Mean cross-entropy after the last step, its slopes by autograd, and those by every c_t (T, B, H)."""
    with torch.enable_grad():
        params = [p.detach().clone().requires_grad_(True) for p in (W, U, b, R)]
        h = c = X.new_zeros(X.shape[1], len(U))
        cells = []
        for x in X:
            h, c, gates = lstm_step(x, h, c, *params[:3])
            i, f, g, o = gates
            # c anew as one node that h and later steps hang on
            c = f * (cells[-1] if cells else torch.zeros_like(f)) + i * g
            h = o * c.tanh()
            cells.append(c)
        loss = F.cross_entropy(h @ params[3], y)
        slopes = torch.autograd.grad(loss, params + cells)
    return dict(
        loss=loss.detach(), grads=list(slopes[:4]), messages=torch.stack(slopes[4:])
    )


def gru_step(
    x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor, reset_after: bool
) -> tuple[Tensor, Tensor]:
    """New h (B, H), and r, u (2, B, H)."""
    H = len(U)
    r = (x @ W[:, :H] + h @ U[:, :H] + b[:H]).sigmoid()
    u = (x @ W[:, H : 2 * H] + h @ U[:, H : 2 * H] + b[H : 2 * H]).sigmoid()
    back = r * (h @ U[:, 2 * H :]) if reset_after else (r * h) @ U[:, 2 * H :]
    new = (x @ W[:, 2 * H :] + back + b[2 * H :]).tanh()
    return torch.lerp(new, h, u), torch.stack([r, u])


def path_grads(m: Tensor, W: Tensor, g2: Tensor, g3: Tensor) -> Tensor:
    """What arrives at h_1 straight, through g_3, through g_2, through both, by whole Jacobians. -> (4, H)"""
    m, J2, J3 = m.to(W.dtype), W * (1 - g2**2), W * (1 - g3**2)
    return torch.stack([m, J3 @ m, J2 @ m, J2 @ J3 @ m])


def two_layers(
    V: Tensor, W1: Tensor, A: Tensor, W2: Tensor, b2: Tensor, m: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """States of two layers and slopes of the last state's product with m by what goes into tanh, by autograd."""
    with torch.enable_grad():
        h1, h2 = V.new_zeros(len(W1)), V.new_zeros(len(W2))
        into = []
        for v in V:
            a1 = (h1 @ W1 + v).requires_grad_(True)
            h1 = a1.tanh()
            a2 = (h2 @ W2 + h1 @ A + b2).requires_grad_(True)
            h2 = a2.tanh()
            into += [a1, a2]
        slopes = torch.autograd.grad(
            h2 @ m, into, allow_unused=True, materialize_grads=True
        )
    a1, a2 = torch.stack(into[::2]).detach(), torch.stack(into[1::2]).detach()
    return a1.tanh(), a2.tanh(), torch.stack(slopes[::2]), torch.stack(slopes[1::2])


def generate(
    E: Tensor,
    W1: Tensor,
    A: Tensor,
    W2: Tensor,
    b2: Tensor,
    R: Tensor,
    k: float,
    x: int,
    draws: Tensor,
) -> dict:
    """Symbols (n,) written from draws (n,): the first whose cumulative probability is above the draw; newest states."""
    h1, h2 = E.new_zeros(len(W1)), E.new_zeros(len(W2))
    x = torch.as_tensor(x, device=E.device)
    written = []
    for draw in draws:
        h1 = k * h1 + torch.tanh(h1 @ W1 + E[x])
        h2 = k * h2 + torch.tanh(h2 @ W2 + h1 @ A + b2)
        x = ((h2 @ R).softmax(0).cumsum(0) <= draw).sum()
        written.append(x)
    none = torch.zeros(0, dtype=torch.int64)
    return dict(text=torch.stack(written) if written else none, states=[h1, h2])

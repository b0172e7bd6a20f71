"""Backpropagation: gradients by torch's autograd, Jacobians in closed form, products of Jacobians.

N rows, d inputs, n units of a layer, k classes. Batches lead.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "identity": lambda z: z,
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
}


def central_jacobian(
    A: Tensor, B: Tensor, c: Tensor, K: Tensor, x: Tensor, eps: float
) -> Tensor:
    """Central differences with nudges of eps of f(x) = A x + c (xᵀ B x) + K x³, in closed form.

    A, K (*batch, m, n), B (*batch, n, n), c (*batch, m), x (*batch, n) -> (*batch, m, n).
    ((x + ε)³ - (x - ε)³) / 2ε = 3 x² + ε²; quadratics are differentiated exactly.
    """
    x = x.to(A.dtype)  # it may hold whole numbers
    bent = ((B + B.mT) @ x.unsqueeze(-1)).mT
    return A + c.unsqueeze(-1) * bent + K * (3 * x.square() + eps**2).unsqueeze(-2)


def two_two_one(
    w: Tensor, x: Tensor, y: Tensor | float, act: str
) -> tuple[Tensor, Tensor]:
    """Loss ½ (p - y)² of the 2-2-1 network without biases, and its gradient by autograd.

    w (*batch, 6), x (*batch, 2), y (*batch,) -> (*batch,), (*batch, 6). h_i = act(w_{2i-1} x_1 + w_{2i} x_2)
    and p = σ(w_5 h_1 + w_6 h_2). Source: moon, chapter 36.
    """
    with torch.enable_grad():
        dtype = torch.promote_types(w.dtype, x.dtype)  # either may hold whole numbers
        w, x = w.detach().to(dtype).requires_grad_(), x.to(dtype)
        hidden = w[..., :4].unflatten(-1, (2, 2)) @ x.unsqueeze(-1)
        scores = (w[..., 4:] * ACTIVATIONS[act](hidden.squeeze(-1))).sum(-1)
        loss = (scores.sigmoid() - y).square() / 2
        (grads,) = torch.autograd.grad(loss.sum(), w)
    return loss.detach(), grads


def run_program(
    leaves: Tensor, program: Sequence[Sequence], calls: Sequence[int]
) -> tuple[Tensor, Tensor, Tensor]:
    """Values of all nodes of a program, the grad of each after `backward` of the nodes in calls, one by one; and
    for each + and * the sum of its slopes times the values of its inputs.

    leaves (*batch, n). program: steps (name, *numbers of earlier nodes), name one of + * relu sigmoid;
    "shift" and "scale" take a node and a number, "repeat" a node and how often it is added to itself.
    A call sets the grads behind its node and leaves the others. -> two tensors (*batch, n + steps), one (*batch, k).
    """
    with torch.enable_grad():
        nodes = [leaf.detach().requires_grad_() for leaf in leaves.unbind(-1)]
        for name, i, *rest in program:
            nodes.append(_STEPS[name](nodes, i, *rest))
        grads = [torch.zeros_like(node) for node in nodes]
        for call in calls:
            found = torch.autograd.grad(
                nodes[call].sum(), nodes, allow_unused=True, retain_graph=True
            )
            grads = [
                old if new is None else new
                for old, new in zip(grads, found, strict=True)
            ]
    with torch.no_grad():
        sums = [
            _SUMS[name](nodes, i, *rest) for name, i, *rest in program if name in _SUMS
        ]
        told = torch.stack(sums, -1) if sums else leaves[..., :0]
    return torch.stack(nodes, -1).detach(), torch.stack(grads, -1), told


_STEPS = {
    "+": lambda v, i, j: v[i] + v[j],
    "*": lambda v, i, j: v[i] * v[j],
    "shift": lambda v, i, number: v[i] + number,
    "scale": lambda v, i, number: v[i] * number,
    "repeat": lambda v, i, times: v[i] * (times + 1),
    "relu": lambda v, i: v[i].relu(),
    "sigmoid": lambda v, i: v[i].sigmoid(),
}

_SUMS = {
    "+": lambda v, i, j: v[i] + v[j],
    "*": lambda v, i, j: 2 * v[i] * v[j],
}


def chain_slopes(ws: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Gradient of the mean of (w_n h_n - y)² with h_0 = x, h_l = σ(w_{l-1} h_{l-1}), by autograd.

    ws (*batch, n + 1), x and y (*batch, N) -> (*batch, n + 1). Source: guo III.4.
    """
    with torch.enable_grad():
        dtype = torch.promote_types(ws.dtype, x.dtype)  # either may hold whole numbers
        ws, h = ws.detach().to(dtype).requires_grad_(), x.to(dtype)
        for w in ws[..., :-1].unbind(-1):
            h = (w.unsqueeze(-1) * h).sigmoid()
        loss = (ws[..., -1:] * h - y).square().mean(-1)
        (grads,) = torch.autograd.grad(loss.sum(), ws)
    return grads


def layer_gradients(
    W: Tensor, a: Tensor, z: Tensor, act: str, upstream: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Derivatives of a loss by W, b and a of one layer act(W a + b), from the one by its output.

    W (*batch, n, d), a (*batch, d), z and upstream (*batch, n) -> (*batch, n, d), (*batch, n), (*batch, d).
    Source: wu 2.4.2, explainers 4.5.2.
    """
    with torch.enable_grad():
        z = z.detach().requires_grad_()
        (delta,) = torch.autograd.grad(ACTIVATIONS[act](z), z, upstream)
    return (
        delta.unsqueeze(-1) * a.unsqueeze(-2),
        delta,
        (W * delta.unsqueeze(-1)).sum(-2),
    )


def chain(Js: Sequence[Tensor], order: str) -> tuple[Tensor, int]:
    """J_K … J_1 and the multiplications that it takes from the input side or from the output side.

    Js: J_1 (*batch, n_1, n_0), …, J_K (*batch, n_K, n_{K-1}). order: "forward" or "reverse".
    """
    product = Js[0]
    for J in Js[1:]:
        product = J @ product
    sizes = [Js[0].shape[-1], *(J.shape[-2] for J in Js)]
    kept = sizes[0] if order == "forward" else sizes[-1]
    inner = zip(sizes[1:-1], sizes[2:], strict=True)
    if order == "reverse":
        inner = zip(sizes[:-2], sizes[1:-1], strict=True)
    return product, sum(kept * one * other for one, other in inner)


def mlp_gradients(
    X: Tensor, Y: Tensor, Ws: Sequence[Tensor], bs: Sequence[Tensor], act: str
) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    """Mean cross-entropy of a network with softmax output, and its gradients by autograd.

    X (*batch, N, d), Y (*batch, N, k) rows that sum to 1, Ws (*batch, d_in, d_out), bs (*batch, d_out)
    -> (*batch,), gradients shaped like Ws and bs. Source: guo III.6.
    """
    with torch.enable_grad():
        Ws = [W.detach().requires_grad_() for W in Ws]
        bs = [b.detach().requires_grad_() for b in bs]
        H = X.to(Ws[0].dtype)  # it may hold whole numbers
        for W, b in zip(Ws[:-1], bs[:-1], strict=True):
            H = ACTIVATIONS[act](H @ W + b.unsqueeze(-2))
        scores = H @ Ws[-1] + bs[-1].unsqueeze(-2)
        loss = -(Y * scores.log_softmax(-1)).sum(-1).mean(-1)
        grads = torch.autograd.grad(loss.sum(), [*Ws, *bs])
    return loss.detach(), list(grads[: len(Ws)]), list(grads[len(Ws) :])


def primitive_vjp(kind: str, v: Tensor, g: Tensor, where: Tensor | None) -> Tensor:
    """gᵀ times the Jacobian of softmax, norm or v[..., where] at v (*batch, n), by autograd -> (*batch, n)."""
    functions = {
        "softmax": lambda v: v.softmax(-1),
        "norm": lambda v: (
            (v - v.mean(-1, keepdim=True)) / v.std(-1, correction=0, keepdim=True)
        ),
        "index": lambda v: v[..., where],
    }
    with torch.enable_grad():
        v = v.to(g.dtype).detach().requires_grad_()
        (shares,) = torch.autograd.grad(functions[kind](v), v, g)
    return shares

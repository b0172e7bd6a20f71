"""A clock for steps, the parts of a U-Net and of a diffusion transformer, guidance: by hand, on weights by name.

What an answer is a module for is a function here, of its inputs and of weights that `filled` makes: the probes fill an
answer's parameters in the same way, by their names. Every function works on the device and in the dtype of its inputs.
"""

import math

import torch
import torch.nn.functional as F  # noqa: N812 — as everybody writes it
from torch import Tensor


def time_embed(t: Tensor, d: int) -> Tensor:
    """sin(t r), cos(t r) for the rates r = 10000^(−2k/d): real and imaginary parts of powers. t (n,) -> (n, d)."""
    t = t if t.is_floating_point() else t.double()
    k = torch.arange(d // 2, device=t.device, dtype=t.dtype)
    angle = t.unsqueeze(-1) * (-2 * k / d * math.log(10000)).exp()
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)


def filled(shapes: dict[str, tuple], seed: float, like: Tensor) -> dict[str, Tensor]:
    """Weights of these shapes: cosines, their phase told by the name, over the root of the inputs of a neuron."""
    weights = {}
    for name, shape in shapes.items():
        k = torch.arange(
            1, math.prod(shape) + 1, device=like.device, dtype=torch.float64
        )
        phase = sum(i * ord(letter) for i, letter in enumerate(name))
        values = torch.cos(seed * k + phase) / math.prod(shape[1:]) ** 0.5
        weights[name] = values.reshape(shape).to(like.dtype)
    return weights


def count(shapes: dict[str, tuple]) -> int:
    """How many numbers the parameters hold."""
    return sum(math.prod(shape) for shape in shapes.values())


def _linear(name, a, b):
    return {f"{name}.weight": (b, a), f"{name}.bias": (b,)}


def _conv(name, a, b, size):
    return {f"{name}.weight": (b, a, size, size), f"{name}.bias": (b,)}


def block_shapes(c: int, d: int, at: str = "") -> dict[str, tuple]:
    """Parameters of a residual block by name."""
    norm = {f"{at}norm.weight": (c,), f"{at}norm.bias": (c,)}
    convs = _conv(f"{at}first", c, c, 3) | _conv(f"{at}last", c, c, 3)
    return norm | _linear(f"{at}time", d, c) | convs


def attention_shapes(c: int, at: str) -> dict[str, tuple]:
    """Parameters of an Attention by name."""
    parts = [_linear(at + name, c, c) for name in ("ask", "key", "value", "out")]
    return parts[0] | parts[1] | parts[2] | parts[3]


def unet_shapes(k: int, c: int, depth: int, d: int) -> dict[str, tuple]:
    """Parameters of a U-Net by name."""
    shapes = _conv("enter", k, c, 3) | _conv("leave", c, k, 3)
    low = c * 2**depth
    shapes |= block_shapes(low, d, "bottom.") | attention_shapes(low, "look.")
    for level in range(depth):
        w = c * 2**level
        for name in ("down", "refine"):
            shapes |= block_shapes(w, d, f"{name}.{level}.")
        for name in ("wider", "merge"):
            a, b = (w, 2 * w) if name == "wider" else (2 * w, w)
            shapes |= _conv(f"{name}.{level}", a, b, 1)
        shapes |= {f"up.{level}.weight": (2 * w, w, 2, 2), f"up.{level}.bias": (w,)}
    return shapes


def dit_shapes(c: int, d: int) -> dict[str, tuple]:
    """Parameters of a block of a diffusion transformer by name."""
    think = _linear("think.0", c, 4 * c) | _linear("think.2", 4 * c, c)
    return attention_shapes(c, "look.") | think | _linear("rule", d, 6 * c)


def _silu(x):
    return x / (1 + (-x).exp())


def _standard(x):
    """Mean 0 and variance 1 along the last axis."""
    x = x - x.mean(-1, keepdim=True)
    return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt()


def _apply(p, name, x):
    """A linear layer on the last axis."""
    return x @ p[f"{name}.weight"].mT + p[f"{name}.bias"]


def _convolve(p, name, h):
    """A 3×3 convolution as nine products of shifted images with matrices; one of size 1 as one."""
    weight, s = p[f"{name}.weight"], h.shape[-1]
    padded = F.pad(h, [weight.shape[-1] // 2] * 4)
    total = p[f"{name}.bias"].reshape(-1, 1, 1)
    for i in range(weight.shape[-1]):
        for j in range(weight.shape[-1]):
            near = padded[..., i : i + s, j : j + s]
            total = total + torch.einsum("oc,nchw->nohw", weight[:, :, i, j], near)
    return total


def attend(p: dict[str, Tensor], at: str, h: Tensor) -> Tensor:
    """softmax(Q Kᵀ / √c) V and a linear layer. h (n, k, c) -> (n, k, c)."""
    q, k, v = (_apply(p, at + name, h) for name in ("ask", "key", "value"))
    fit = torch.einsum("nic,njc->nij", q, k) / h.shape[-1] ** 0.5
    share = (fit - fit.logsumexp(-1, keepdim=True)).exp()
    return _apply(p, at + "out", share @ v)


def res_block(p: dict[str, Tensor], at: str, h: Tensor, emb: Tensor) -> Tensor:
    """h + NN(GroupNorm(h) + Linear(emb)). h (n, c, s, s), emb (n, d) -> (n, c, s, s)."""
    z = _standard(h.reshape(len(h), 4, -1)).reshape(h.shape)
    z = z * p[at + "norm.weight"].reshape(-1, 1, 1) + p[at + "norm.bias"].reshape(
        -1, 1, 1
    )
    z = z + _apply(p, at + "time", emb).reshape(*h.shape[:2], 1, 1)
    return h + _convolve(p, at + "last", _silu(_convolve(p, at + "first", _silu(z))))


def block_report(h: Tensor, emb: Tensor, seed: float | None) -> dict:
    """What a residual block says, with filled weights or, where seed is None, new; and its number of weights."""
    shapes = block_shapes(h.shape[1], emb.shape[1])
    out = h.clone() if seed is None else res_block(filled(shapes, seed, h), "", h, emb)
    return dict(out=out, weights=count(shapes))


def unet(
    p: dict[str, Tensor], x: Tensor, emb: Tensor, depth: int, skips: bool
) -> Tensor:
    """A U-Net by recursion: each level holds all below it. x (n, k, s, s), emb (n, d) -> like x."""

    def below(level, h):
        if level == depth:
            h = res_block(p, "bottom.", h, emb)
            tokens = attend(p, "look.", h.flatten(2).mT)
            return h + tokens.mT.reshape(h.shape)
        h = res_block(p, f"down.{level}.", h, emb)
        n, c, s, _ = h.shape
        small = h.reshape(n, c, s // 2, 2, s // 2, 2).amax((3, 5))
        low = below(level + 1, _convolve(p, f"wider.{level}", small))
        weight = p[f"up.{level}.weight"]
        large = torch.einsum("nchw,cdab->ndhawb", low, weight).reshape(n, c, s, s)
        large = large + p[f"up.{level}.bias"].reshape(-1, 1, 1)
        both = torch.cat([large, h if skips else 0 * h], 1)
        return res_block(
            p, f"refine.{level}.", _convolve(p, f"merge.{level}", both), emb
        )

    return _convolve(p, "leave", below(0, _convolve(p, "enter", x)))


def unet_report(
    x: Tensor, emb: Tensor, c: int, depth: int, skips: bool, seed: float | None
) -> dict:
    """What a U-Net says with filled weights, and its number of weights."""
    shapes = unet_shapes(x.shape[1], c, depth, emb.shape[1])
    out = unet(filled(shapes, seed, x), x, emb, depth, skips)
    return dict(out=out, weights=count(shapes))


def drop_labels(y: Tensor, p: float, nobody: int, seed: int) -> Tensor:
    """y (n,) with nobody where a draw is below p; drawn on the CPU."""
    draws = torch.rand(len(y), generator=torch.Generator().manual_seed(seed)).to(
        y.device
    )
    hidden = (draws < p).to(y.dtype)
    return y * (1 - hidden) + nobody * hidden


def guided_report(
    x: Tensor, t: Tensor, y: Tensor, w: float, nobody: int, V: Tensor
) -> dict:
    """(1 − w) ε_u + w ε_c of the model that says tanh(x + t/10) V[y]; the rows of the calls that it takes."""

    def says(label):
        weight, time = V[label], t.to(x.dtype) / 10
        shape = [-1] + [1] * (x.dim() - 1)
        return (x + time.reshape(shape)).tanh() * weight.reshape(shape)

    asked, unasked = says(y), says(torch.full_like(y, nobody))
    return dict(noise=(1 - w) * unasked + w * asked, calls=[2 * len(x)])


def patches(x: Tensor, z: Tensor, p: int) -> dict:
    """Images cut into tokens, and tokens joined to images, by torch's unfold and fold.

    x (n, k, s, s), z (m, count, k·p·p) -> cut (n, (s/p)², k·p·p), joined (m, k, p √count, p √count).
    """
    side = p * math.isqrt(z.shape[1])
    joined = F.fold(z.mT, (side, side), p, stride=p)
    return dict(cut=F.unfold(x, p, stride=p).mT, joined=joined)


def dit_report(h: Tensor, emb: Tensor, seed: float | None) -> dict:
    """What a block of a diffusion transformer says, with filled weights or new; and its number of weights."""
    c = h.shape[-1]
    shapes = dit_shapes(c, emb.shape[1])
    if seed is None:
        return dict(out=h.clone(), weights=count(shapes))
    p = filled(shapes, seed, h)
    rule = _apply(p, "rule", _silu(emb)).reshape(len(emb), 2, 3, 1, c)
    for half in range(2):
        shift, scale, gate = rule[:, half].unbind(1)
        z = _standard(h) * (1 + scale) + shift
        if half == 0:
            z = attend(p, "look.", z)
        else:
            z = _apply(p, "think.0", z)
            z = _apply(p, "think.2", z * (1 + torch.erf(z / 2**0.5)) / 2)
        h = h + gate * z
    return dict(out=h, weights=count(shapes))

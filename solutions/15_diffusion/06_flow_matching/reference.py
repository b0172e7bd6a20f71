"""Flow matching: lines between data (t = 0) and noise (t = 1), walked from the noise, with the velocity x_0 − x_1.

Every function works on the device and in the dtype of its arguments. Models are small ones with a gradient that is
known: they say tanh(x W) + t b.
"""

import torch
from torch import Tensor


def says(x: Tensor, t: Tensor, W: Tensor, b: Tensor) -> Tensor:
    """The model's velocity. x (*batch, n, d), t (*batch, n), W (d, d), b (d,) -> (*batch, n, d)."""
    return (x @ W).tanh() + t.unsqueeze(-1) * b


def interp(x0: Tensor, x1: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    """The point of each line, from the data's end, and its velocity. x0, x1 (*batch, d), t (*batch,)."""
    v = x0 - x1
    return x0 - t.unsqueeze(-1) * v, v


def swap_rides(x0: Tensor, x1: Tensor, n_steps: int) -> Tensor:
    """Places of n passengers who change cars at every meeting, by counting who started to the left.

    x0, x1 (*batch, n) -> (*batch, n_steps + 1, n).
    """
    ahead = (x1.unsqueeze(-1) > x1.unsqueeze(-2)).sum(-1)
    t = torch.linspace(1, 0, n_steps + 1, dtype=x0.dtype, device=x0.device)[:, None]
    cars = torch.lerp(x0.unsqueeze(-2), x1.unsqueeze(-2), t)
    return cars.sort(-1).values.gather(-1, ahead.unsqueeze(-2).expand(cars.shape))


def loss_report(
    x0: Tensor, x1: Tensor, t: Tensor, W: Tensor, b: Tensor, perfect: bool
) -> dict:
    """E‖model(x_t, t) − (x_0 − x_1)‖² over the rows, its gradient in W by hand, and the calls that it takes.

    The model says tanh(x W) + t b, or x_0 − x_1 itself where it is perfect.
    """
    if perfect:
        return dict(loss=x0.new_zeros(()), gradient=torch.zeros_like(W), calls=1)
    xt, v = interp(x0, x1, t)
    bent = (xt @ W).tanh()
    wrong_by = bent + t[:, None] * b - v
    gradient = xt.mT @ (2 * wrong_by * (1 - bent.square())) / len(x0)
    return dict(loss=wrong_by.square().sum() / len(x0), gradient=gradient, calls=1)


def train(
    x0: Tensor,
    x1: Tensor | None,
    W: Tensor,
    b: Tensor,
    n_steps: int,
    batch: int,
    lr: float,
    seed: int,
) -> dict:
    """Adam by hand, with gradients by hand; the rate falls to 0. Rows, times, noise are drawn in this order, float32.

    x0 and, if given, x1 (N, d) -> losses (n_steps,), W and b after the last update.
    """
    g, d = torch.Generator().manual_seed(seed), x0.shape[1]
    weights, losses = [W.clone(), b.clone()], []
    m = [torch.zeros_like(w) for w in weights]
    s = [torch.zeros_like(w) for w in weights]
    for k in range(n_steps):
        rows = torch.randint(len(x0), (batch,), generator=g).to(x0.device)
        t = torch.rand(batch, generator=g).to(x0)
        noise = torch.randn(batch, d, generator=g).to(x0) if x1 is None else x1[rows]
        xt, v = interp(x0[rows], noise, t)
        bent = (xt @ weights[0]).tanh()
        wrong_by = bent + t[:, None] * weights[1] - v
        losses.append(wrong_by.square().sum() / batch)
        pull = 2 * wrong_by / batch
        for i, gradient in enumerate([xt.mT @ (pull * (1 - bent.square())), t @ pull]):
            m[i] = 0.9 * m[i] + 0.1 * gradient
            s[i] = 0.999 * s[i] + 0.001 * gradient.square()
            size = (s[i] / (1 - 0.999 ** (k + 1))).sqrt() + 1e-8
            step = m[i] / (1 - 0.9 ** (k + 1)) / size
            weights[i] = weights[i] - lr * (n_steps - k) / n_steps * step
    losses = torch.stack(losses) if losses else x0.new_zeros(0)
    return dict(losses=losses, W=weights[0], b=weights[1])


def fm_sample(
    x1: Tensor, n_steps: int, midpoint: bool | None, W: Tensor, b: Tensor
) -> dict[str, Tensor | int]:
    """The walk by a Runge-Kutta tableau, with time u = 1 − t that grows, and how often the model is asked.

    x1 (*batch, n, d) -> states (n_steps + 1, *batch, n, d).
    """
    nodes, use = ([0, 0.5], [0, 1]) if midpoint else ([0], [1])
    x, states = x1, [x1]
    for k in range(n_steps):
        slopes = [torch.zeros_like(x)]
        for node in nodes:
            t = x.new_full(x.shape[:-1], 1 - (k + node) / n_steps)
            slopes.append(says(x + node / n_steps * slopes[-1], t, W, b))
        x = (
            x
            + sum(w * slope for w, slope in zip(use, slopes[1:], strict=True)) / n_steps
        )
        states.append(x)
    return dict(states=torch.stack(states), calls=n_steps * len(nodes))


def bend(path: Tensor) -> Tensor:
    """Mean squared velocity of the steps over that of the straight way, less 1: the mean of the steps is the way.

    path (K + 1, n, d) -> a number.
    """
    steps = path.diff(dim=0).square().sum(-1).mean() * (len(path) - 1) ** 2
    return steps / (path[-1] - path[0]).square().sum(-1).mean() - 1


def convert(given: Tensor, have: str, want: str, x: Tensor, t: Tensor) -> Tensor:
    """Velocity, noise or score into one another through the guess of the data.

    given, x (*batch, d), t (*batch,) in (0, 1) -> (*batch, d).
    """
    t = t.unsqueeze(-1)
    clean = {
        "velocity": lambda: x + t * given,
        "noise": lambda: (x - t * given) / (1 - t),
        "score": lambda: (x + t**2 * given) / (1 - t),
    }[have]()
    return {
        "velocity": (clean - x) / t,
        "noise": (x - (1 - t) * clean) / t,
        "score": ((1 - t) * clean - x) / t**2,
    }[want]


def simulate(
    x0: Tensor, z: Tensor, power: float, A: Tensor, scale: Tensor
) -> dict[str, Tensor]:
    """N steps with drift x A + t and noise of size (scale + |x|) / N^power; x0 (*batch, n, d), z (N, *batch, n, d)."""
    x, path = x0, [x0]
    for k, noise in enumerate(z):
        drift, size = x @ A + k / len(z), scale + x.abs()
        x = torch.addcmul(
            torch.add(x, drift, alpha=1 / len(z)),
            size,
            noise,
            value=len(z) ** -power,
        )
        path.append(x)
    return torch.stack(path)

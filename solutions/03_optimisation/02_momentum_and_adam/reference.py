"""Moving averages, heavy ball, AdaGrad, RMSProp, Adam.

Axes count from the right: any function of `(*batch, d)` takes batches. State comes in and goes
out as values. New tensors keep the dtype and the device of the arguments.
"""

import torch


def ewa(x, beta, correct=False):
    """Exponentially weighted averages of the first 1, 2, …, n values. x (n, *shape) -> (n, *shape).

    v_t = sum over i <= t of (1 - beta) beta^(t - i) x_i, as one matrix product.
    With `correct`, v_t is divided by the sum of its weights, 1 - beta^t.
    """
    if not x.is_floating_point():
        x = x.double()
    steps = torch.arange(x.shape[0], device=x.device)
    age = steps[:, None] - steps
    base = x.new_full((), beta)
    weights = torch.where(age >= 0, base ** age.clamp(min=0), 0) * (1 - beta)
    if correct:
        weights = weights / (1 - base ** (steps[:, None] + 1))
    return torch.tensordot(weights.to(x.dtype), x, dims=1)


def heavy_ball(grad, x0, eta, gamma, n_steps):
    """Iterates of x+ = x - eta grad(x) + gamma (x - x_before). x0 (*batch, d) -> (*batch, n_steps + 1, d).

    The form without a velocity; the first step is one of plain gradient descent.
    """
    path = [x0, x0]
    for _ in range(n_steps):
        before, now = path[-2:]
        path.append(now - eta * grad(now) + gamma * (now - before))
    return torch.stack(path[1:], dim=-2)


def heavy_ball_on_quadratic(H, b, theta0, eta, gamma, n_steps):
    """`heavy_ball` on x'Hx/2 - b'x. H (*batch, d, d), b and theta0 (*batch, d) -> (*batch, n_steps + 1, d)."""
    return heavy_ball(
        lambda x: (H @ x[..., None])[..., 0] - b, theta0, eta, gamma, n_steps
    )


def adagrad_step(theta, g, G, eta, eps):
    """One step of AdaGrad. theta, g, G (*batch, d) -> new (theta, G)."""
    G = G + g.square()
    return theta - eta * g / (G.sqrt() + eps), G


def rmsprop_step(theta, g, s, eta, beta, eps):
    """One step of RMSProp, epsilon outside the root. theta, g, s (*batch, d) -> new (theta, s)."""
    s = torch.lerp(g.square(), s, beta)
    return theta - eta * g / (s.sqrt() + eps), s


def adam_step(theta, g, m, s, t, eta, beta1, beta2, eps):
    """One step of Adam, t = 1, 2, … theta, g, m, s (*batch, d) -> new (theta, m, s).

    The corrections are folded into the rate: eta m / (c1 (sqrt(s / c2) + eps)), c = 1 - beta^t.
    """
    m = torch.lerp(g, m, beta1)
    s = torch.lerp(g.square(), s, beta2)
    c1, c2 = 1 - beta1**t, 1 - beta2**t
    return theta - eta / c1 * m / ((s / c2).sqrt() + eps), m, s


def simplified_ratio(t, beta1, beta2):
    """Step over eta of the notes' simplified Adam under a constant gradient, eps = 0. t (*batch,) -> same.

    Both accumulators are geometric sums, sum over i < t of beta^i.
    """
    t = t.to(
        torch.promote_types(t.dtype, torch.float32)
        if t.is_floating_point()
        else torch.float64
    )
    total = [(1 - t.new_full((), beta) ** t) / (1 - beta) for beta in (beta1, beta2)]
    return total[0] / total[1].sqrt()


def roughness(path):
    """Mean angle in degrees between consecutive moves. path (*batch, n + 1, d) -> (*batch,).

    Moves of length zero have no direction; pairs with one are left out. No pair left: 0.
    The angle of unit vectors a, b is 2 atan2(|a - b|, |a + b|), accurate near 0 and 180 degrees.
    """
    moves = path.diff(dim=-2)
    length = moves.norm(dim=-1)
    unit = moves / torch.where(length > 0, length, 1)[..., None]
    a, b = unit[..., :-1, :], unit[..., 1:, :]
    angle = 2 * torch.atan2((a - b).norm(dim=-1), (a + b).norm(dim=-1))
    counts = ((length[..., :-1] > 0) & (length[..., 1:] > 0)).to(path.dtype)
    return torch.rad2deg((angle * counts).sum(-1) / counts.sum(-1).clamp(min=1))

"""Moving averages, heavy ball, AdaGrad, RMSProp, Adam, and the tuning of a learning rate.

Axes count from the right: any step of `(*batch, d)` takes batches. State comes in and goes out as values. New
tensors keep the dtype and the device of the arguments; whole numbers become float64.
"""

import torch


def _floating(x):
    return x if x.is_floating_point() else x.double()


def ewa(x, beta, correct=False):
    """Exponentially weighted averages of the first 1, 2, …, n values. x (n, *shape) -> (n, *shape).

    v_t = sum over i <= t of (1 - beta) beta^(t - i) x_i, as one matrix product.
    With `correct`, v_t is divided by the sum of its weights, 1 - beta^t.
    """
    x = _floating(x)
    steps = torch.arange(x.shape[0], device=x.device)
    age = steps[:, None] - steps
    base = x.new_full((), beta, dtype=torch.float64)
    weights = torch.where(age >= 0, base ** age.clamp(min=0), 0) * (1 - base)
    if correct:
        weights = weights / (1 - base ** (steps[:, None] + 1))
    return torch.tensordot(weights.to(x.dtype), x, dims=1)


def heavy_ball(H, b, theta0, eta, gamma, max_steps, tol):
    """Iterates x+ = x - eta grad(x) + gamma (x - x_before) on x'Hx/2 - b'x. theta0 (d,) -> (k + 1, d).

    The form without a velocity, which is (x_before - x) / eta. The path ends before a step where the norms of the
    gradient and of the velocity are both at most tol.
    """
    theta0 = theta0.to(H.dtype)
    path = [theta0, theta0]
    for _ in range(max_steps):
        before, now = path[-2:]
        g = H @ now - b
        if g.norm() <= tol and (before - now).norm() <= tol * eta:
            break
        path.append(now - eta * g + gamma * (now - before))
    return torch.stack(path[1:])


def adagrad_step(theta, g, G, eta, eps):
    """One step of AdaGrad. theta, g (*batch, d), G the same or 0 -> new (theta, G)."""
    theta, g = _floating(theta), _floating(g)
    G = G + g.square()
    return theta - eta * g / (G.sqrt() + eps), G


def rmsprop_step(theta, g, s, eta, beta, eps):
    """One step of RMSProp, epsilon outside the root. theta, g (*batch, d), s the same or 0 -> new (theta, s)."""
    theta, g = _floating(theta), _floating(g)
    s = torch.lerp(g.square(), torch.zeros_like(g) + s, beta)
    return theta - eta * g / (s.sqrt() + eps), s


def adam_step(theta, g, v, s, t, eta, beta1, beta2, eps):
    """One step of Adam, t = 1, 2, … theta, g (*batch, d), v and s the same or 0 -> new (theta, v, s).

    The corrections are folded into the rate: eta v / (c1 (sqrt(s / c2) + eps)), c = 1 - beta^t.
    """
    theta, g = _floating(theta), _floating(g)
    v = torch.lerp(g, torch.zeros_like(g) + v, beta1)
    s = torch.lerp(g.square(), torch.zeros_like(g) + s, beta2)
    c1, c2 = 1 - beta1**t, 1 - beta2**t
    return theta - eta / c1 * v / ((s / c2).sqrt() + eps), v, s


def tune(H, b, theta0, method, etas, goal, max_steps, edge, beyond):
    """The best of several rates on x'Hx/2 - b'x, which is `beyond` where x_0 < edge -> (eta, losses) or None.

    All runs are made at once, to the last step, and cut afterwards where they reach the goal or a loss that is not
    finite. Best is the shortest, then the lowest, then the first. method: plain, rolling, slowing or pair.
    """

    def loss(x):
        value = (0.5 * x * (x @ H) - b * x).sum(-1)
        return torch.where(x[..., 0] < edge, torch.full_like(value, beyond), value)

    rates = torch.tensor(etas, dtype=H.dtype, device=H.device)[:, None]
    x = theta0.to(H.dtype) + 0 * rates
    v, losses = torch.zeros_like(x), [loss(x)]
    for t in range(1, max_steps + 1):
        v = {"rolling": 0.7, "pair": 0.5}.get(method, 0.0) * v + (x @ H - b)
        x = x - (rates / t if method in ("slowing", "pair") else rates) * v
        losses.append(loss(x))
    losses = torch.stack(losses, -1)
    over = (losses <= goal) | ~losses.isfinite()
    runs = []
    for eta, run, ends in zip(etas, losses, over, strict=True):
        run = run[: int(ends.to(torch.int8).argmax()) + 1 if ends.any() else None]
        if run[-1].isfinite():
            runs.append((eta, run))
    return min(
        runs, key=lambda found: (len(found[1]), float(found[1][-1])), default=None
    )


def simplified_ratio(t, beta1, beta2):
    """Step over eta of the notes' simplified Adam under a constant gradient, eps = 0. t (*batch,) -> same.

    Both accumulators are geometric sums, sum over i < t of beta^i.
    """
    t = _floating(t)
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

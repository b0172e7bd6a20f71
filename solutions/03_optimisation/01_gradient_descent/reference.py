"""Gradient descent: paths, step sizes, rates and projections.

The smooth test function is f(x) = ½ (x − c)ᵀ H (x − c) + offset with a symmetric H, whose gradient is H (x − c). Most
answers have a closed form there, so an answer is judged by another road than the loop it is expected to run.
"""

import torch
from torch import Tensor

__all__ = [
    "best_direction",
    "descend",
    "gd_until",
    "heavy_ball_path",
    "logistic_smoothness",
    "ngd_path",
    "pgd_path",
    "proof_margins",
    "quadratic_path",
    "steps_needed",
    "worst_rate",
]


def quadratic_path(
    H: Tensor, x0: Tensor, t: float, n_steps: int, c: Tensor | None = None
) -> Tensor:
    """Iterates of gradient descent on ½ (x − c)ᵀ H (x − c), without a loop.

    H (*batch, d, d) symmetric, x0 and c (*batch, d) -> (*batch, n_steps + 1, d). In the basis of eigenvectors of H
    each coordinate of x − c is multiplied by 1 − t λ a step.
    """
    c = torch.zeros_like(x0) if c is None else c
    lam, V = torch.linalg.eigh(H)
    coordinates = (V.mT @ (x0 - c).unsqueeze(-1)).squeeze(-1)
    k = torch.arange(n_steps + 1, device=x0.device, dtype=x0.dtype).unsqueeze(-1)
    powers = (1 - t * lam).unsqueeze(-2) ** k
    return c.unsqueeze(-2) + (powers * coordinates.unsqueeze(-2)) @ V.mT


def gd_until(
    H: Tensor, c: Tensor, x0: Tensor, t: float, max_steps: int, tol: float
) -> Tensor:
    """`quadratic_path` of one problem, cut after the first point whose gradient norm is at most tol."""
    path = quadratic_path(H, x0, t, max_steps, c)
    small = torch.linalg.vector_norm((path - c) @ H, dim=-1) <= tol
    steps_taken = max_steps if not small.any() else int(small.to(torch.int8).argmax())
    return path[: steps_taken + 1]


def best_direction(
    H: Tensor, c: Tensor, x: Tensor, eta: float, n_angles: int
) -> Tensor:
    """The first of n_angles directions, by angle from the first axis, whose step of length eta ends lowest.

    On ½ (z − c)ᵀ H (z − c): H (2, 2), c and x (2,) -> (2,). Values that differ by rounding only count as equal.
    """
    angle = (
        2 * torch.pi / n_angles * torch.arange(n_angles, device=x.device, dtype=x.dtype)
    )
    ways = torch.stack([angle.cos(), angle.sin()], -1)
    ends = x + eta * ways - c
    values = 0.5 * (ends * (ends @ H)).sum(-1)
    lowest = values.min()
    tie = values <= lowest + 1e-12 * lowest.abs()
    return ways.index_select(0, tie.to(torch.int8).argmax().reshape(1)).squeeze(0)


def descend(
    H: Tensor,
    q: Tensor,
    x0: Tensor,
    t0: float,
    beta: float,
    tol: float,
    max_steps: int,
) -> tuple[Tensor, Tensor]:
    """Gradient descent with backtracking on f(x) = ½ xᵀHx + ¼ Σ qᵢ xᵢ⁴ -> path (k + 1, d), step sizes (k,).

    A step is the largest of t, β t, β² t, … with f(x − t g) ≤ f(x) − t/2 ‖g‖²; the next search starts at 1/β times it.
    H (d, d), q and x0 (d,). All the tries of a step are evaluated at once.
    """

    def f(z):
        return (0.5 * z * (z @ H) + 0.25 * q * z**4).sum(-1)

    x0 = x0.to(H.dtype)  # it may hold whole numbers
    path, sizes, first = [x0], [], x0.new_tensor(t0)
    shrunk = beta ** torch.arange(80, device=x0.device, dtype=x0.dtype)
    for _ in range(max_steps):
        x = path[-1]
        g = H @ x + q * x**3
        if torch.linalg.vector_norm(g) <= tol:
            break
        steps = first * shrunk
        enough = f(x - steps.unsqueeze(-1) * g) <= f(x) - 0.5 * steps * g.square().sum()
        t = steps[enough.to(torch.int8).argmax()]
        path.append(x - t * g)
        sizes.append(t)
        first = t / beta
    return torch.stack(path), torch.stack(sizes) if sizes else x0.new_zeros(0)


def logistic_smoothness(X: Tensor, lam: float = 0.0) -> Tensor:
    """Smallest L that bounds every Hessian of the mean logistic loss + λ/2 ‖w‖². X (*batch, n, d) -> (*batch,).

    The Hessian is Xᵀ diag(p (1 − p)) X / n + λ I, and p (1 − p) is at most ¼, reached at w = 0.
    """
    return torch.linalg.matrix_norm(X, ord=2).square() / (4 * X.shape[-2]) + lam


def proof_margins(
    H: Tensor, c: Tensor, offset: float, x: Tensor, x_star: Tensor, t: float, L: float
) -> Tensor:
    """Right side minus left side of the three lines behind the O(1/k) rate, on ½ (x − c)ᵀ H (x − c) + offset.

    H (*batch, d, d), c, x, x_star (*batch, d) -> (*batch, 3): the upper parabola, the descent lemma (*), and the
    line that telescopes. The constant drops out of all three.
    """

    def half(u):
        return 0.5 * (u * (H @ u.unsqueeze(-1)).squeeze(-1)).sum(-1)

    e = x - c
    g = (H @ e.unsqueeze(-1)).squeeze(-1)
    gg = g.square().sum(-1)
    parabola = t**2 * (0.5 * L * gg - half(g))
    descent = 0.5 * t * gg - t**2 * half(g)
    distances = (g * (x - x_star)).sum(-1) - 0.5 * t * gg
    return torch.stack(
        [parabola, descent, distances - half(e - t * g) + half(x_star - c)], -1
    )


def worst_rate(m, L, t) -> Tensor:
    """Worst factor by which one step changes the distance to the minimiser, when m I ⪯ ∇²f ⪯ L I. Broadcasts."""
    m, L, t = torch.broadcast_tensors(
        *(torch.as_tensor(v, dtype=torch.float64) for v in (m, L, t))
    )
    return torch.maximum((1 - t * m).abs(), (1 - t * L).abs())


def steps_needed(m, L, t, eps) -> Tensor:
    """Smallest k with rate**k <= eps, inf where the rate is 1 or more and eps < 1. Broadcasts, float64."""
    rate = worst_rate(m, L, t)
    eps = torch.as_tensor(eps, dtype=torch.float64)
    k = (
        (eps.log() / rate.log()).ceil().clamp(min=1)
    )  # a rate of 0 gives −0 before the clamp: one step is enough
    k = torch.where(
        rate ** (k - 1) <= eps, k - 1, k
    )  # where rate**k is eps, the quotient may round up
    never = torch.full_like(k, torch.inf)
    return torch.where(eps >= 1, torch.zeros_like(k), torch.where(rate >= 1, never, k))


def ngd_path(H: Tensor, c: Tensor, x0: Tensor, t: float, n_steps: int) -> Tensor:
    """Steps of length t against the gradient H (x − c); a zero gradient stays. -> (*batch, n_steps + 1, d)."""
    path = [x0.to(H.dtype)]  # it may hold whole numbers
    for _ in range(n_steps):
        g = (H @ (path[-1] - c).unsqueeze(-1)).squeeze(-1)
        norm = torch.linalg.vector_norm(g, dim=-1, keepdim=True)
        path.append(
            path[-1] - t * g / torch.where(norm > 0, norm, torch.ones_like(norm))
        )
    return torch.stack(path, -2)


def heavy_ball_path(
    H: Tensor, x0: Tensor, t: float, beta: float, n_steps: int
) -> Tensor:
    """v ← β v + H x, x ← x − t v from v = 0. H (*batch, d, d), x0 (*batch, d) -> (*batch, n_steps + 1, d)."""
    path, v = [x0], torch.zeros_like(x0)
    for _ in range(n_steps):
        v = beta * v + (H @ path[-1].unsqueeze(-1)).squeeze(-1)
        path.append(path[-1] - t * v)
    return torch.stack(path, -2)


def pgd_path(
    H: Tensor, c: Tensor, x0: Tensor, radius: float, t: float, n_steps: int
) -> Tensor:
    """Steps t against the gradient H (x − c), each followed by the nearest point of the ball of that radius around 0.

    H (*batch, d, d), c and x0 (*batch, d) -> (*batch, n_steps + 1, d).
    """
    path = [x0.to(H.dtype)]  # it may hold whole numbers
    for _ in range(n_steps):
        y = path[-1] - t * (H @ (path[-1] - c).unsqueeze(-1)).squeeze(-1)
        norm = torch.linalg.vector_norm(y, dim=-1, keepdim=True)
        inside = radius / norm.clamp(min=torch.finfo(y.dtype).tiny)
        path.append(torch.where(norm > radius, y * inside, y))
    return torch.stack(path, -2)

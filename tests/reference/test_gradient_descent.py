"""The gradient descent references against loops, torch.optim, scipy, autograd and brute force."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from torch.autograd.functional import hessian

from solutions.reference import gradient_descent as ref

DTYPES = [torch.float32, torch.float64]


def tolerance(dtype):
    return {"rtol": 1e-4, "atol": 1e-4} if dtype == torch.float32 else {"rtol": 1e-9, "atol": 1e-9}


def make(seed=0):
    return torch.Generator().manual_seed(seed)


def spd(d, dtype=torch.float64, seed=0, batch=()):
    A = torch.randn(*batch, d, d, generator=make(seed), dtype=torch.float64)
    return (A @ A.mT / d + 0.3 * torch.eye(d, dtype=torch.float64)).to(dtype)


def normal(*shape, dtype=torch.float64, seed=1):
    return torch.randn(*shape, generator=make(seed), dtype=torch.float64).to(dtype)


def optim_path(loss, x0, n_steps, **options):
    """Iterates of torch.optim.SGD, an implementation that is not ours."""
    x = x0.clone().requires_grad_(True)
    optimiser = torch.optim.SGD([x], **options)
    path = [x.detach().clone()]
    for _ in range(n_steps):
        optimiser.zero_grad()
        loss(x).backward()
        optimiser.step()
        path.append(x.detach().clone())
    return torch.stack(path)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("t", [0.05, 0.5, 1.5], ids=lambda t: f"t={t}")
def test_the_closed_form_path_is_the_one_torch_optim_walks(dtype, t):
    H, c, x0 = spd(3, dtype), normal(3, dtype=dtype, seed=2), normal(3, dtype=dtype)
    expected = optim_path(lambda x: 0.5 * (x - c) @ H @ (x - c), x0, 6, lr=t)
    path = ref.quadratic_path(H, x0, t, 6, c)
    assert path.dtype == dtype
    torch.testing.assert_close(
        path, expected, rtol=1e-3, atol=1e-3 if dtype == torch.float32 else 1e-9
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_heavy_ball_is_torch_optim_with_momentum(dtype):
    H, x0 = spd(3, dtype), normal(3, dtype=dtype)
    expected = optim_path(lambda x: 0.5 * x @ H @ x, x0, 8, lr=0.1, momentum=0.9)
    torch.testing.assert_close(
        ref.heavy_ball_path(H, x0, 0.1, 0.9, 8), expected, **tolerance(dtype)
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_batch_of_paths_is_a_loop_over_paths(dtype):
    H, x0 = spd(3, dtype, batch=(4,)), normal(4, 3, dtype=dtype)
    paths = ref.quadratic_path(H, x0, 0.1, 5)
    ngd = ref.ngd_path(H, torch.zeros_like(x0), x0, 0.1, 5)
    for i in range(4):
        torch.testing.assert_close(paths[i], ref.quadratic_path(H[i], x0[i], 0.1, 5))
        torch.testing.assert_close(
            ngd[i], ref.ngd_path(H[i], torch.zeros(3, dtype=dtype), x0[i], 0.1, 5)
        )


@pytest.mark.parametrize("tol", [1e-1, 1e-3])
def test_the_stopping_rule_is_met_by_the_last_point_and_by_no_earlier_one(tol):
    H, c, x0 = spd(3), normal(3, seed=2), normal(3) + 5
    path = ref.gd_until(H, c, x0, 0.2, 2000, tol)
    norms = ((path - c) @ H).norm(dim=-1)
    assert norms[-1] <= tol and (norms[:-1] > tol).all() and 1 < len(path) < 2000


def test_no_more_steps_than_allowed_and_none_from_a_stationary_point():
    H, c, x0 = spd(3), normal(3, seed=2), normal(3) + 5
    assert len(ref.gd_until(H, c, x0, 0.01, 4, 1e-8)) == 5
    assert len(ref.gd_until(H, c, c, 0.01, 4, 0.0)) == 1


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("t0", [0.01, 1.0, 300.0])
def test_the_backtracked_step_is_the_largest_that_passes_on_a_quadratic(dtype, t0):
    H, x = spd(3, dtype), normal(3, dtype=dtype)
    g = H @ x
    limit = float(g @ g / (g @ H @ g))  # on a quadratic the test reads t ≤ limit
    halvings = max(0, math.ceil(math.log2(t0 / limit)))
    step = ref.backtracking_step(H, torch.zeros_like(x), x, t0, 0.5)
    assert float(step) == pytest.approx(t0 / 2**halvings, rel=1e-6)


def test_the_backtracked_step_passes_and_the_one_before_fails_on_a_quartic():
    H, q, x = (
        torch.eye(2, dtype=torch.float64),
        torch.tensor([1.0, 3.0]).double(),
        torch.tensor([2.0, -1.5]).double(),
    )

    def f(z):
        return 0.5 * z @ H @ z + 0.25 * (q * z**4).sum()

    g = torch.func.grad(f)(x)
    t = ref.backtracking_step(H, q, x, 1.0, 0.7)
    assert f(x - t * g) <= f(x) - t / 2 * g @ g
    assert f(x - t / 0.7 * g) > f(x) - t / 0.7 / 2 * g @ g


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_no_hessian_of_the_logistic_loss_exceeds_its_smoothness(dtype):
    X, y, lam = normal(30, 4, dtype=dtype), torch.sign(normal(30, dtype=dtype, seed=3)), 0.1

    def loss(w):
        return torch.nn.functional.softplus(-y * (X @ w)).mean() + lam / 2 * w @ w

    L = ref.logistic_smoothness(X, lam)
    for seed in range(20):
        H = hessian(loss, normal(4, dtype=dtype, seed=seed))
        assert torch.linalg.eigvalsh(H)[-1] <= L * (1 + 1e-5)
    at_zero = torch.linalg.eigvalsh(hessian(loss, torch.zeros(4, dtype=dtype)))[-1]
    torch.testing.assert_close(at_zero, L, **tolerance(dtype))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("t", [0.05, 0.4, 3.0])
def test_margins_are_right_side_minus_left_side(dtype, t):
    H, c, x, s = (
        spd(3, dtype),
        normal(3, dtype=dtype, seed=4),
        normal(3, dtype=dtype),
        normal(3, dtype=dtype, seed=5),
    )
    L = 7.0

    def f(z):
        return 0.5 * (z - c) @ H @ (z - c) + 2.5

    g = torch.func.grad(f)(x)
    new = x - t * g
    expected = torch.stack(
        [
            f(x) + g @ (new - x) + L / 2 * (new - x) @ (new - x) - f(new),
            f(x) - t / 2 * g @ g - f(new),
            ((x - s) @ (x - s) - (new - s) @ (new - s)) / (2 * t) - (f(new) - f(s)),
        ]
    )
    got = ref.proof_margins(H, c, 2.5, x, s, t, L)
    torch.testing.assert_close(
        got,
        expected,
        rtol=1e-3 if dtype == torch.float32 else 1e-9,
        atol=1e-3 if dtype == torch.float32 else 1e-9,
    )


@pytest.mark.parametrize("seed", range(5))
def test_no_margin_is_negative_for_steps_up_to_one_over_l(seed):
    H = spd(4, seed=seed)
    L = float(torch.linalg.eigvalsh(H)[-1])
    c = normal(4, seed=seed + 10)
    for share in (0.1, 0.7, 1.0):
        assert (ref.proof_margins(H, c, 0.0, normal(4, seed=seed), c, share / L, L) >= -1e-12).all()


def test_the_worst_rate_is_the_norm_of_the_iteration_matrix():
    for t in (0.01, 0.15, 0.19, 0.3):
        H = np.diag([1.0, 4.0, 10.0])
        assert float(ref.worst_rate(1.0, 10.0, t)) == pytest.approx(
            np.linalg.norm(np.eye(3) - t * H, 2)
        )


@pytest.mark.parametrize(
    "m, L, t, eps",
    [
        (1, 10, 0.1, 1e-3),
        (1, 10, 0.18, 1e-3),
        (2, 2, 0.5, 1e-9),
        (1, 4, 0.1, 2.0),
        (1, 10, 0.2, 1e-3),
        (1, 10, 0.35, 0.5),
        (0.5, 60, 0.033, 1e-6),
    ],
)
def test_the_number_of_steps_is_found_by_counting(m, L, t, eps):
    rate, k = max(abs(1 - t * m), abs(1 - t * L)), 0
    if rate >= 1:
        assert float(ref.steps_needed(m, L, t, eps)) == math.inf
        return
    while rate**k > eps:
        k += 1
    assert float(ref.steps_needed(m, L, t, eps)) == k


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_normalised_step_has_the_same_length_and_points_downhill(dtype):
    H, c, x0 = spd(3, dtype), normal(3, dtype=dtype, seed=2), normal(3, dtype=dtype) + 4
    path = ref.ngd_path(H, c, x0, 0.3, 10)
    moves = path.diff(dim=0)
    torch.testing.assert_close(
        moves.norm(dim=-1), torch.full((10,), 0.3, dtype=dtype), **tolerance(dtype)
    )
    cosine = torch.cosine_similarity(moves, -((path[:-1] - c) @ H), dim=-1)
    torch.testing.assert_close(cosine, torch.ones(10, dtype=dtype), **tolerance(dtype))


def test_normalised_descent_stays_where_the_gradient_is_zero():
    c = normal(2)
    assert torch.equal(ref.ngd_path(torch.eye(2).double(), c, c, 0.3, 4), c.expand(5, 2))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("radius", [0.5, 1.0, 3.0])
def test_the_projection_is_feasible_idempotent_and_non_expansive(dtype, radius):
    y = 3 * normal(50, 4, dtype=dtype)
    p = ref.project_ball(y, radius)
    assert p.dtype == dtype and (p.norm(dim=-1) <= radius * (1 + 1e-6)).all()
    torch.testing.assert_close(ref.project_ball(p, radius), p, **tolerance(dtype))
    exact = {
        "compute_mode": "donot_use_mm_for_euclid_dist"
    }  # the fast mode loses four digits in float32
    before, after = torch.cdist(y, y, **exact), torch.cdist(p, p, **exact)
    assert (after <= before + 1e-5).all()
    inside = y.norm(dim=-1) <= radius
    assert torch.equal(p[inside], y[inside])


def test_scipy_finds_no_closer_point_of_the_ball():
    for seed in range(5):
        y = 2 * normal(3, seed=seed).numpy()
        ball = {"type": "ineq", "fun": lambda z: 1.5**2 - z @ z}
        best = minimize(
            lambda z, y=y: (z - y) @ (z - y),
            np.zeros(3),
            constraints=ball,
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        ).x
        np.testing.assert_allclose(
            ref.project_ball(torch.from_numpy(y), 1.5).numpy(), best, atol=1e-4
        )


def test_the_centre_projects_to_itself():
    assert torch.equal(ref.project_ball(torch.zeros(2, 3)), torch.zeros(2, 3))


def test_arguments_are_not_written_to():
    H, c, x = spd(3), normal(3, seed=2), normal(3)
    copies = [v.clone() for v in (H, c, x)]
    ref.quadratic_path(H, x, 0.1, 3, c)
    ref.gd_until(H, c, x, 0.1, 3, 0.0)
    ref.backtracking_step(H, c.abs(), x, 1.0, 0.5)
    ref.proof_margins(H, c, 0.0, x, c, 0.1, 3.0)
    ref.ngd_path(H, c, x, 0.1, 3)
    ref.heavy_ball_path(H, x, 0.1, 0.9, 3)
    ref.logistic_smoothness(H)
    ref.project_ball(x)
    assert all(torch.equal(a, b) for a, b in zip(copies, (H, c, x), strict=True))


@pytest.mark.parametrize("rate, k", [(0.5, 1), (0.5, 4), (0.75, 3), (0.75, 6), (0.75, 9), (0.9, 4)])
def test_a_power_that_is_exactly_eps_is_enough(rate, k):
    t = (1 - rate) / 1.0
    exact = max(abs(1 - t), 0.0)
    assert float(ref.steps_needed(1.0, 1.0, t, exact**k)) == k

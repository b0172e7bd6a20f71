"""The gradient descent references against loops, torch.optim, scipy, autograd and brute force."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from torch.autograd.functional import hessian

from descent.pictures.optimisation import gradient_descent as landscapes
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "03_optimisation/01_gradient_descent"
ref = notebook_module(NOTEBOOK, "reference")
both_floats = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
each_surface = pytest.mark.parametrize("name", landscapes.SURFACES)


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


@both_floats
@pytest.mark.parametrize("t", [0.05, 0.5, 1.5], ids=lambda t: f"t={t}")
def test_the_closed_form_path_is_the_one_torch_optim_walks(dtype, t):
    H, c, x0 = spd(3, dtype), normal(3, dtype=dtype, seed=2), normal(3, dtype=dtype)
    expected = optim_path(lambda x: 0.5 * (x - c) @ H @ (x - c), x0, 6, lr=t)
    path = ref.quadratic_path(H, x0, t, 6, c)
    assert path.dtype == dtype
    torch.testing.assert_close(
        path, expected, rtol=1e-3, atol=1e-3 if dtype == torch.float32 else 1e-9
    )


@both_floats
def test_heavy_ball_is_torch_optim_with_momentum(dtype):
    H, x0 = spd(3, dtype), normal(3, dtype=dtype)
    expected = optim_path(lambda x: 0.5 * x @ H @ x, x0, 8, lr=0.1, momentum=0.9)
    torch.testing.assert_close(
        ref.heavy_ball_path(H, x0, 0.1, 0.9, 8), expected, **tolerance(dtype)
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


@pytest.mark.parametrize("eta", [1e-4, 1.0, 30.0])
@pytest.mark.parametrize("n_angles", [1, 3, 50])
def test_the_best_direction_is_the_lowest_of_all_tried(eta, n_angles):
    H, c, x = spd(2), normal(2, seed=2), normal(2)
    turns = torch.exp(2j * math.pi * torch.arange(n_angles, dtype=torch.float64) / n_angles)
    ways = torch.view_as_real(turns)
    values = torch.stack([0.5 * (x + eta * w - c) @ H @ (x + eta * w - c) for w in ways])
    torch.testing.assert_close(
        ref.best_direction(H, c, x, eta, n_angles), ways[values.argmin()], rtol=0, atol=1e-12
    )


def test_a_short_best_step_goes_against_the_gradient():
    H, c, x = spd(2), normal(2, seed=2), normal(2)
    g = H @ (x - c)
    way = ref.best_direction(H, c, x, 1e-6, 3600)
    assert float(way @ g / g.norm()) < -math.cos(math.radians(0.06))


def test_of_equally_good_directions_the_first_is_taken():
    way = ref.best_direction(torch.zeros(2, 2).double(), normal(2), normal(2), 1.0, 7)
    assert torch.equal(way, torch.tensor([1.0, 0.0]).double())


@both_floats
@pytest.mark.parametrize("t0", [0.01, 1.0, 300.0])
def test_the_first_step_is_the_longest_try_that_passes_on_a_quadratic(dtype, t0):
    H, x = spd(3, dtype), normal(3, dtype=dtype)
    g = H @ x
    limit = float(g @ g / (g @ H @ g))  # on a quadratic the test reads t ≤ limit
    halvings = max(0, math.ceil(math.log2(t0 / limit)))
    _, sizes = ref.descend(H, torch.zeros_like(x), x, t0, 0.5, 0.0, 1)
    assert sizes.dtype == dtype and float(sizes[0]) == pytest.approx(t0 / 2**halvings, rel=1e-6)


def test_every_step_passes_and_a_longer_try_of_the_same_step_failed():
    H, q, x = spd(2), torch.tensor([1.0, 3.0]).double(), torch.tensor([2.0, -1.5]).double()

    def f(z):
        return 0.5 * z @ H @ z + 0.25 * (q * z**4).sum()

    def passes(x, t):
        g = torch.func.grad(f)(x)
        return f(x - t * g) <= f(x) - t / 2 * g @ g

    path, sizes = ref.descend(H, q, x, 1.0, 0.7, 1e-6, 200)
    first = 1.0
    for k, t in enumerate(sizes):
        torch.testing.assert_close(path[k + 1], path[k] - t * torch.func.grad(f)(path[k]))
        assert passes(path[k], t)
        assert t == first or not passes(path[k], t / 0.7)
        first = t / 0.7
    norms = [torch.func.grad(f)(x).norm() for x in path]
    assert norms[-1] <= 1e-6 and min(norms[:-1]) > 1e-6


@both_floats
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


@both_floats
@pytest.mark.parametrize("t", [0.05, 0.4, 3.0])
def test_margins_are_right_side_minus_left_side(dtype, t):
    H, L = spd(3, dtype), 7.0
    c, x, s = (normal(3, dtype=dtype, seed=seed) for seed in (4, 1, 5))

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
    slack = 1e-3 if dtype == torch.float32 else 1e-9
    torch.testing.assert_close(got, expected, rtol=slack, atol=slack)


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


@both_floats
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


@both_floats
@pytest.mark.parametrize("radius", [0.3, 1.0, 30.0])
def test_a_projected_path_is_a_step_and_torchs_renorm(dtype, radius):
    H, c, x0 = spd(3, dtype), normal(3, dtype=dtype, seed=2), 0.05 * normal(3, dtype=dtype)
    path = ref.pgd_path(H, c, x0, radius, 0.3, 6)
    x = x0
    for k in range(6):
        x = torch.renorm((x - 0.3 * H @ (x - c))[None], 2, 0, radius)[0]
        # torch adds 1e-7 to the norm
        torch.testing.assert_close(path[k + 1], x, rtol=1e-5, atol=1e-5)
    assert path.dtype == dtype and (path.norm(dim=-1) <= radius * (1 + 1e-6)).all()


def test_a_projected_path_ends_where_scipy_finds_the_constrained_minimum():
    H, c = np.diag([1.0, 3.0]), np.array([2.0, 1.2])
    ball = {"type": "ineq", "fun": lambda x: 1 - x @ x}
    found = minimize(lambda x: (x - c) @ H @ (x - c) / 2, [0.1, 0.1], constraints=ball, tol=1e-12)
    path = ref.pgd_path(torch.tensor(H), torch.tensor(c), torch.zeros(2).double(), 1.0, 0.25, 200)
    np.testing.assert_allclose(path[-1], found.x, atol=1e-6)


def test_the_centre_projects_to_itself():
    zero = torch.zeros(2)
    assert torch.equal(ref.pgd_path(torch.eye(2), zero, zero, 1.0, 0.5, 2), torch.zeros(3, 2))


@pytest.mark.parametrize("rate, k", [(0.5, 1), (0.5, 4), (0.75, 3), (0.75, 6), (0.75, 9), (0.9, 4)])
def test_a_power_that_is_exactly_eps_is_enough(rate, k):
    t = (1 - rate) / 1.0
    exact = max(abs(1 - t), 0.0)
    assert float(ref.steps_needed(1.0, 1.0, t, exact**k)) == k


# ------------------------------------------------------------ what it draws


@each_surface
def test_every_gradient_is_the_slope_of_its_surface(name):
    s = landscapes.surface(name)
    points = np.random.default_rng(0).uniform(-2, 2, (20, 2))
    for axis in (0, 1):
        h = 1e-6 * np.eye(2)[axis]
        slope = (s.f(points + h) - s.f(points - h)) / 2e-6
        one_by_one = np.array([s.grad(p)[axis] for p in points])
        np.testing.assert_allclose(slope, one_by_one, atol=1e-5)


@each_surface
def test_the_minima_are_stationary_and_lowest_nearby(name):
    s = landscapes.surface(name)
    around = np.random.default_rng(0).normal(0, 0.1, (50, 2))
    for minimum in s.minima:
        assert np.abs(s.grad(minimum)).max() < 1e-10
        assert float(s.f(minimum[None])[0]) == pytest.approx(s.f_min, abs=1e-12)
        assert (s.f(minimum + around) >= s.f_min).all()


def curvatures(surface, x, h=1e-5):
    """Of a surface at x, by differences of its gradient."""
    ends = (surface.grad(x + step) - surface.grad(x - step) for step in h * np.eye(2))
    return np.linalg.eigvalsh(np.stack(list(ends)) / (2 * h))


@pytest.mark.parametrize("name", ["quadratic bowl", "Rosenbrock", "saddle"])
def test_m_and_l_are_the_curvatures_at_the_minimum(name):
    s = landscapes.surface(name, 7.0)
    for x in s.minima:
        np.testing.assert_allclose(curvatures(s, x), [s.m, s.L], rtol=1e-6)


def test_the_logistic_curvature_lies_between_m_and_l():
    s = landscapes.surface("logistic loss")
    for x in np.random.default_rng(0).uniform(-4, 4, (30, 2)):
        low, high = curvatures(s, x)
        assert s.m - 1e-6 <= low and high <= s.L + 1e-6


@pytest.mark.parametrize("step", [0.3, 1.0, 1.9, 2.2])
def test_paths_on_the_bowl_are_the_closed_form_and_torchs_momentum(step):
    s, x0 = landscapes.surface("quadratic bowl", 20.0), torch.tensor([2.0, -1.0]).double()
    H, t = torch.tensor([1.0, 20.0]).double().diag(), step / 20
    for optimiser, expected in (
        ("gradient descent", ref.quadratic_path(H, x0, t, 12)),
        ("momentum", ref.heavy_ball_path(H, x0, t, 0.9, 12)),
    ):
        path = landscapes.descend(s, x0.numpy(), t, 12, optimiser)
        np.testing.assert_allclose(path, expected.numpy(), rtol=1e-9, atol=1e-12)
    path = landscapes.descend(s, x0.numpy(), 0.3, 12, "normalised")
    np.testing.assert_allclose(np.linalg.norm(np.diff(path, axis=0), axis=1), 0.3)


@pytest.mark.parametrize("kappa", [1.0, 10.0, 100.0])
def test_gradient_descent_diverges_beyond_two_over_l_whatever_kappa_is(kappa):
    s = landscapes.surface("quadratic bowl", kappa)
    for step, expected in ((1.98, False), (2.02, True)):
        path = landscapes.descend(s, (1.0, 1.0), step / s.L, 1000, "gradient descent")
        assert landscapes.diverges(path) == expected
        assert (len(path) < 1001) == expected


@pytest.mark.parametrize("name", ["quadratic bowl", "logistic loss"])
@pytest.mark.parametrize("step", [0.1, 1.0, 1.9])
def test_the_bound_lies_above_the_measured_gap(name, step):
    s = landscapes.surface(name, 15.0)
    path = landscapes.descend(s, (2.0, -1.5), step / s.L, 150, "gradient descent")
    values, _ = landscapes.theory(s, path, step / s.L, "gradient descent")
    assert (s.f(path) - s.f_min <= values * (1 + 1e-9) + 1e-14).all()


def test_the_dashed_line_of_a_divergent_bowl_is_met_in_the_end():
    s = landscapes.surface("quadratic bowl", 10.0)
    path = landscapes.descend(s, (1.0, 1.0), 0.22, 40, "gradient descent")
    values, _ = landscapes.theory(s, path, 0.22, "gradient descent")
    assert s.f(path[-1]) == pytest.approx(values[-1], rel=1e-6)


def test_of_two_neighbours_of_a_normalised_path_one_stays_above_its_line():
    s = landscapes.surface("quadratic bowl", 10.0)
    path = landscapes.descend(s, (2.0, 1.0), 0.2, 200, "normalised")
    values, _ = landscapes.theory(s, path, 0.2, "normalised")
    gap = s.f(path) - s.f_min
    assert (np.maximum(gap[1:], gap[:-1]) >= values[0] * (1 - 1e-9)).all()


def test_momentums_rate_is_met_in_the_long_run():
    s = landscapes.surface("quadratic bowl", 50.0)
    path = landscapes.descend(s, (1.0, 1.0), 1 / 50, 400, "momentum")
    distance = np.linalg.norm(path, axis=1)
    measured = (distance[300:400].max() / distance[200:300].max()) ** (1 / 100)
    assert measured == pytest.approx(landscapes.rate(s, 1 / 50, "momentum"), abs=0.005)


def test_no_promise_is_made_where_m_and_l_promise_nothing():
    s = landscapes.surface("Rosenbrock")
    path = landscapes.descend(s, (-1.2, 1.0), 2.3 / s.L, 30, "gradient descent")
    assert landscapes.theory(s, path, 2.3 / s.L, "gradient descent") is None


def test_a_start_on_the_ridge_stalls_at_the_saddle_and_one_beside_it_escapes():
    s = landscapes.surface("saddle")
    verdicts = {}
    for y in (0.0, 0.01):
        path = landscapes.descend(s, (1.0, y), 0.5, 100, "gradient descent")
        verdicts[y] = landscapes.report(s, path, 0.5, "gradient descent")["verdict"]
    assert verdicts == {0.0: "stalls at the saddle", 0.01: "settles"}


@pytest.mark.parametrize("t, above", [(0.3, True), (1.0, True), (1.4, False), (3.0, False)])
def test_the_parabola_is_an_upper_bound_up_to_one_over_l(t, above):
    grid = np.linspace(-6, 6, 1001)
    gaps = [landscapes.surrogate_gap(x, t, grid).min() for x in np.linspace(-2, 2, 21)]
    assert (min(gaps) >= -1e-12) == above
    _, words = landscapes.draw_surrogate(0.1, t)
    assert (words.facts["verdict"] == "stays above f") == above


def explorer(**moved):
    """The laboratory, from a start whose path has a closed form that is easy to read."""
    return controls.explorer(NOTEBOOK, "draw_landscape", **{"x": 2.5, "y": 1.0} | moved)


def changes(widget, control, value):
    """Asserts that a move of one control changes words and picture."""
    words, picture = widget.words, widget.picture.value
    widget.controls[control].value = value
    assert widget.words != words and widget.picture.value != picture


def test_the_readout_gives_the_gap_of_the_closed_form():
    for step in (0.5, 1.9, 2.1):
        end = np.array([2.5, 1.0]) * (1 - step / 10 * np.array([1.0, 10.0])) ** 40
        words = explorer(step=step).words
        assert words.facts["end"] == pytest.approx(end**2 @ [0.5, 5.0], rel=1e-9)


@pytest.mark.parametrize(
    "control, value",
    [
        ("name", "saddle"),
        ("kappa", 100.0),
        ("x", -1.0),
        ("y", 0.1),
        ("step", 0.5),
        ("n_steps", 10),
        ("optimiser", "momentum"),
    ],
)
def test_every_control_changes_words_and_picture(control, value):
    changes(explorer(), control, value)


def test_the_readout_says_diverges_only_beyond_the_limit():
    def verdict(**moved):
        return explorer(**moved).words.facts["verdict"]

    assert verdict(step=1.9) != "diverges"
    assert verdict(step=2.1, n_steps=60) == "diverges"
    assert verdict(step=2.1, n_steps=60, optimiser="momentum") != "diverges"
    assert verdict(name="Rosenbrock", step=1.0) == "diverges"


def test_the_readout_says_when_the_path_leaves_the_picture():
    # the steep direction grows by |1 − 2.1| a step; the picture ends at 2.5
    x2 = 1.1 ** np.arange(61)
    words = explorer(step=2.1, n_steps=60).words
    assert words.facts["leaves"] == np.argmax(x2 > 2.5)
    assert "leaves" not in explorer(step=1.9).words.facts


def test_the_compass_tells_the_gradient_and_a_flat_tangent():
    _, words = landscapes.draw_compass(1, 4, 1.4, 0.7)
    assert words.facts["g"] == pytest.approx([2.8, 5.6])
    assert words.facts["norm"] == pytest.approx(math.hypot(2.8, 5.6))
    # a x₁² + b x₂² is its own Taylor series: 0.01 along v adds 0.01 g·v + 1e-4 v·diag(a, b)·v
    assert words.facts["up"] == pytest.approx(
        0.01 * math.hypot(2.8, 5.6) + 1e-4 * (1 * 0.2 + 4 * 0.8)
    )
    assert words.facts["along"] == pytest.approx(1e-4 * (1 * 0.8 + 4 * 0.2))


@each_surface
@pytest.mark.parametrize("optimiser", landscapes.OPTIMISERS)
def test_extreme_settings_still_draw(name, optimiser):
    for step in (0.05, 4.0):
        fig, words = landscapes.draw_landscape(name, 100.0, -3.0, 3.0, step, 300, optimiser)
        assert all(np.isfinite(line.get_ydata()).all() for ax in fig.axes for line in ax.lines)
        assert "nan" not in words and "inf" not in words


def test_a_round_bowl_at_its_centre_draws():
    _, words = landscapes.draw_landscape("quadratic bowl", 1.0, 0.0, 0.0, 1.0, 5, "normalised")
    assert words.facts["start"] == words.facts["end"] == 0


def test_the_words_of_a_comparison_give_the_end_and_the_tightest_bound():
    measured = {"a": np.array([1.0, 0.1, 0.01]), "b": np.array([1.0, 1e-20, 1e-20])}
    _, words = landscapes.draw_gaps(measured, {"a": np.array([np.nan, 0.3, 0.02])}, "Title")
    assert words == (
        "Title. a: 1.0e-02 at step 2, bound ÷ measured at least 2; b: below 1e-13 at step 2."
    )


def test_the_best_step_of_a_comparison_is_the_lowest_point():
    steps = np.linspace(0.05, 0.25, 41)
    gaps = [
        landscapes.surface("quadratic bowl").f(np.array([(1 - t) ** 40, (1 - 10 * t) ** 40]))
        for t in steps
    ]
    _, words = landscapes.draw_step_sizes(steps, gaps, 1.0, 10.0, 40)
    # ½ · 0.825⁸⁰ is below ½ · 0.82⁸⁰ + 5 · 0.8⁸⁰, the value at 0.18
    assert words.facts["best"] == pytest.approx(0.175)
    assert words.facts["promised"] == pytest.approx(2 / 11)


@pytest.mark.parametrize("f, grad", [("banana", "banana_grad"), ("eggs", "eggs_grad")])
def test_the_gradients_of_the_valley_and_the_egg_box_are_their_slopes(f, grad):
    f, grad = getattr(landscapes, f), getattr(landscapes, grad)
    for x in np.random.default_rng(0).uniform(-2, 2, (20, 2)):
        slope = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
        np.testing.assert_allclose(slope, grad(x), atol=1e-6)


def test_the_hessian_of_the_valley_is_the_slope_of_its_gradient():
    for x in np.random.default_rng(0).uniform(-2, 2, (20, 2)):
        rows = [
            (landscapes.banana_grad(x + h) - landscapes.banana_grad(x - h)) / 2e-6
            for h in 1e-6 * np.eye(2)
        ]
        np.testing.assert_allclose(rows, landscapes.banana_hessian(x), atol=1e-5)


def test_a_walk_along_the_contour_changes_f_to_second_order():
    # its own Taylor series: h² v·diag(1, 4)·v with v = (−0.894, 0.447)
    assert landscapes.along_contour(0.1) == pytest.approx(0.01 * (0.8 + 4 * 0.2))


def test_directions_stand_at_their_angles_to_the_gradient():
    g = np.array([3.0, -1.0])
    angle, ways = landscapes.directions(g, 9)
    np.testing.assert_allclose(np.linalg.norm(ways, axis=1), 1)
    np.testing.assert_allclose(ways @ g / np.linalg.norm(g), np.cos(angle), atol=1e-12)


def test_the_words_of_a_walk_are_its_own_numbers():
    path, sizes = np.array([[2.0, 1.0], [1.0, 1.5], [1.0, 1.0]]), np.array([0.01, 0.2])
    _, words = landscapes.draw_walk(path, sizes)
    assert words.facts["steps"] == 2 and words.facts["largest"] == 0.2
    assert words.facts["safe"] == pytest.approx(
        1 / np.linalg.eigvalsh(landscapes.banana_hessian(np.ones(2)))[-1]
    )


def test_the_words_on_valleys_count_walkers_where_they_end():
    ends = np.array([[0.01, 0.0], [-0.1, 0.2], [3.0, 3.1], [3.0, -3.0]])
    _, _, words = landscapes.valleys(np.stack([ends + 1, ends]))
    assert words.facts == {"walkers": 4, "valleys": 3, "steps": 1, "lowest": 2}


def test_a_noisy_gap_is_the_mean_over_many_noisy_runs():
    rng, x = np.random.default_rng(0), np.full(100_000, 5.0)
    gaps = landscapes.noisy_gap(lambda k: 0.5 / k, m=0.5, n_steps=6)
    for k in range(1, 7):
        assert gaps[k - 1] == pytest.approx(np.mean(0.25 * x**2), rel=0.02)
        x = x - 0.5 / k * (0.5 * x + rng.normal(size=len(x)))


def test_an_exponent_is_the_power_of_k():
    k = np.arange(1, 2001)
    assert landscapes.exponent(np.r_[1.0, 3.0 * k**-0.5]) == pytest.approx(-0.5, abs=1e-9)


def test_random_search_never_gets_worse_and_counts_its_looks():
    looks = []

    def f(x):
        looks.append(x @ x - x[0])
        return looks[-1]

    best = landscapes.random_search(f, 3, 200, np.random.default_rng(0))
    assert len(looks) == 200 and best @ best - best[0] == min(looks) < -0.2


def test_a_projected_path_ends_at_the_nearest_allowed_point():
    path = landscapes.project_path(
        lambda x: x - [3.0, 0.5], lambda x: np.clip(x, -1, 1), [0, 0], 0.5, 60
    )
    assert path.shape == (61, 2)
    np.testing.assert_allclose(path[-1], [1.0, 0.5], atol=1e-12)


def test_a_tangent_above_the_graph_is_found_and_none_where_there_is_none():
    grid = np.linspace(-2, 2, 41)
    x, y, above = landscapes.worst_tangent(np.sin, np.cos, grid)
    assert above == pytest.approx(np.sin(x) + np.cos(x) * (y - x) - np.sin(y)) and above > 1
    assert landscapes.worst_tangent(np.exp, np.exp, grid)[2] <= 1e-12


@pytest.mark.parametrize("control, value", [("name", "sin x"), ("x", -1.0), ("m", 1.5)])
def test_every_control_of_the_tangent_changes_words_and_picture(control, value):
    changes(controls.explorer(NOTEBOOK, "draw_tangent"), control, value)


@pytest.mark.parametrize("m, below", [(0.0, False), (2.0, False), (2.25, True)])
def test_the_square_bears_a_parabola_of_curvature_two(m, below):
    _, words = landscapes.draw_tangent("x²", 0.5, m)
    assert ("height" in words.facts) == below


def test_rounding_is_not_printed_as_a_gap():
    _, words = landscapes.draw_landscape("logistic loss", 1, 0, 0, 1.9, 300, "momentum")
    assert "-" not in words.split("went from")[1].split("steps")[0].replace("1e-12", "")
    _, words = landscapes.draw_landscape("quadratic bowl", 2, 1, 1, 1.0, 300, "gradient descent")
    assert "to below 1e-12 in 300 steps" in words


def test_no_line_is_drawn_where_a_normalised_step_lands_on_the_minimum():
    s = landscapes.surface("quadratic bowl", 10.0)
    path = landscapes.descend(s, (2.5, 0.0), 0.25, 40, "normalised")
    assert not path[-1].any() and landscapes.theory(s, path, 0.25, "normalised") is None

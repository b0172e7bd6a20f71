"""References of the adaptive methods against torch.optim, sums written out, and closed forms."""

import math

import numpy as np
import pytest
import torch

from solutions.exercises.optimisation import momentum_and_adam as spec
from solutions.reference import adaptive_methods as ref

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)


def tolerance(dtype):
    return dict(rtol=3e-5, atol=3e-6) if dtype == torch.float32 else dict(rtol=1e-11, atol=1e-12)


def normal(seed, *shape, dtype=torch.float64):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def quadratic(seed, *batch, d=4, dtype=torch.float64):
    """H (*batch, d, d) symmetric with curvatures in [0.5, 8], b and x0 (*batch, d)."""
    Q = torch.linalg.qr(normal(seed, *batch, d, d)).Q
    H = Q @ torch.diag_embed(torch.linspace(0.5, 8, d, dtype=Q.dtype)) @ Q.mT
    return (
        H.to(dtype),
        normal(seed + 1, *batch, d, dtype=dtype),
        normal(seed + 2, *batch, d, dtype=dtype),
    )


def torch_path(make, H, b, x0, n_steps):
    """Iterates of a torch optimiser on x'Hx/2 - b'x, gradients by autograd. x0 (d,) -> (n_steps + 1, d)."""
    x = x0.clone().requires_grad_()
    optimiser = make([x])
    path = [x.detach().clone()]
    for _ in range(n_steps):
        optimiser.zero_grad()
        (x @ H @ x / 2 - b @ x).backward()
        optimiser.step()
        path.append(x.detach().clone())
    return torch.stack(path)


def own_path(step, H, b, x0, n_steps):
    """Iterates of a step(theta, g, state, t) -> (theta, state). State starts as None."""
    theta, state, path = x0, None, [x0]
    for t in range(1, n_steps + 1):
        theta, state = step(theta, H @ theta - b, state, t)
        path.append(theta)
    return torch.stack(path)


@DTYPES
@pytest.mark.parametrize("beta", [0.0, 0.5, 0.98])
@pytest.mark.parametrize("shape", [(7,), (7, 3), (7, 2, 3), (1,)], ids=str)
def test_ewa_is_the_recursion(dtype, beta, shape):
    x, v, expected = normal(0, *shape, dtype=dtype), 0.0, []
    for x_t in x:
        v = beta * v + (1 - beta) * x_t
        expected.append(v)
    torch.testing.assert_close(ref.ewa(x, beta), torch.stack(expected), **tolerance(dtype))


def test_ewa_of_whole_numbers_has_decimals():
    torch.testing.assert_close(
        ref.ewa(torch.tensor([10, 10]), 0.9), torch.tensor([1.0, 1.9], dtype=torch.float64)
    )


@DTYPES
def test_corrected_ewa_is_a_weighted_mean(dtype):
    x, beta = normal(0, 9, dtype=dtype), 0.9
    expected = [np.average(x[:t], weights=beta ** np.arange(t)[::-1]) for t in range(1, 10)]
    torch.testing.assert_close(
        ref.ewa(x, beta, correct=True),
        torch.tensor(np.array(expected), dtype=dtype),
        **tolerance(dtype),
    )


@DTYPES
@pytest.mark.parametrize("beta", [0.0, 0.9, 0.999])
def test_corrected_ewa_keeps_a_constant(dtype, beta):
    x = torch.full((40,), 3.0, dtype=dtype)
    rounding = (
        dict(rtol=1e-3, atol=0) if dtype == torch.float32 else tolerance(dtype)
    )  # 1 - 0.999^1
    torch.testing.assert_close(ref.ewa(x, beta, correct=True), x, **rounding)


@DTYPES
@BATCHES
@pytest.mark.parametrize("gamma", [0.0, 0.5, 0.9])
def test_heavy_ball_is_torch_sgd_with_momentum(dtype, batch, gamma):
    H, b, x0 = quadratic(3, *batch, dtype=dtype)
    path = ref.heavy_ball_on_quadratic(H, b, x0, 0.05, gamma, 50)
    assert path.shape == (*batch, 51, 4)
    for index in np.ndindex(*batch):
        expected = torch_path(
            lambda p: torch.optim.SGD(p, lr=0.05, momentum=gamma), H[index], b[index], x0[index], 50
        )
        torch.testing.assert_close(path[index], expected, **tolerance(dtype))


def test_heavy_ball_leaves_the_minimum_alone():
    H, b, _ = quadratic(3)
    path = ref.heavy_ball_on_quadratic(H, b, torch.linalg.solve(H, b), 0.1, 0.9, 20)
    torch.testing.assert_close(path, path[:1].expand_as(path), rtol=0, atol=1e-12)


def test_heavy_ball_reaches_its_terminal_speed():
    path = ref.heavy_ball(
        lambda x: torch.full_like(x, 2.0), torch.zeros(1, dtype=torch.float64), 0.1, 0.9, 400
    )
    assert path.diff(dim=0)[-1].item() == pytest.approx(-0.1 * 2.0 / (1 - 0.9), rel=1e-12)


@DTYPES
def test_adagrad_is_torch_adagrad(dtype):
    H, b, x0 = quadratic(5, dtype=dtype)

    def step(theta, g, G, t):
        return ref.adagrad_step(theta, g, torch.zeros_like(g) if G is None else G, 0.3, 1e-8)

    expected = torch_path(lambda p: torch.optim.Adagrad(p, lr=0.3, eps=1e-8), H, b, x0, 60)
    torch.testing.assert_close(own_path(step, H, b, x0, 60), expected, **tolerance(dtype))


@DTYPES
@pytest.mark.parametrize("eps", [1e-8, 1e-2])
def test_rmsprop_is_torch_rmsprop(dtype, eps):
    H, b, x0 = quadratic(6, dtype=dtype)

    def step(theta, g, s, t):
        return ref.rmsprop_step(theta, g, torch.zeros_like(g) if s is None else s, 0.02, 0.9, eps)

    expected = torch_path(
        lambda p: torch.optim.RMSprop(p, lr=0.02, alpha=0.9, eps=eps), H, b, x0, 60
    )
    torch.testing.assert_close(own_path(step, H, b, x0, 60), expected, **tolerance(dtype))


@DTYPES
@pytest.mark.parametrize("eps", [1e-8, 1e-2])
@pytest.mark.parametrize("betas", [(0.9, 0.999), (0.5, 0.8), (0.0, 0.0)], ids=str)
def test_adam_is_torch_adam_on_given_gradients(dtype, eps, betas):
    gradients = normal(7, 100, 4, dtype=dtype)
    expected = torch.zeros(4, dtype=dtype, requires_grad=True)
    optimiser = torch.optim.Adam([expected], lr=0.03, betas=betas, eps=eps)
    theta = m = s = torch.zeros(4, dtype=dtype)
    # float32: torch rounds the square root of 1 - 0.999^t and s apart, we their quotient
    close = dict(rtol=1e-4, atol=1e-5) if dtype == torch.float32 else tolerance(dtype)
    for t, g in enumerate(gradients, start=1):
        theta, m, s = ref.adam_step(theta, g, m, s, t, 0.03, *betas, eps)
        expected.grad = g.clone()
        optimiser.step()
        torch.testing.assert_close(theta, expected.detach(), **close)


def test_adam_is_torch_adam_where_its_steps_feed_back():
    H, b, x0 = quadratic(7)

    def step(theta, g, state, t):
        m, s = state or (torch.zeros_like(g), torch.zeros_like(g))
        theta, m, s = ref.adam_step(theta, g, m, s, t, 0.03, 0.9, 0.999, 1e-8)
        return theta, (m, s)

    expected = torch_path(lambda p: torch.optim.Adam(p, lr=0.03), H, b, x0, 100)
    torch.testing.assert_close(own_path(step, H, b, x0, 100), expected, **tolerance(torch.float64))


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
def test_first_adam_step_has_length_eta(size):
    g = normal(0, 5) * size
    zero = torch.zeros_like(g)
    theta, _, _ = ref.adam_step(zero, g, zero, zero, 1, 0.01, 0.9, 0.999, 1e-12)
    torch.testing.assert_close(theta, -0.01 * g.sign(), rtol=1e-6, atol=0)


@pytest.mark.parametrize("beta1, beta2", [(0.9, 0.999), (0.5, 0.9), (0.0, 0.99)])
def test_simplified_ratio_is_the_recursion(beta1, beta2):
    v, G, expected = 0.0, 0.0, []
    for _ in range(1500):
        v, G = beta1 * v + 3.0, beta2 * G + 9.0
        expected.append(v / math.sqrt(G))
    ratio = ref.simplified_ratio(torch.arange(1, 1501), beta1, beta2)
    torch.testing.assert_close(
        ratio, torch.tensor(expected, dtype=torch.float64), rtol=1e-10, atol=0
    )


@BATCHES
def test_simplified_ratio_takes_batches(batch):
    t = torch.full(batch, 12.0)
    assert ref.simplified_ratio(t, 0.9, 0.999).shape == batch
    assert ref.simplified_ratio(t, 0.9, 0.999).dtype == torch.float32


@DTYPES
@pytest.mark.parametrize("d", [2, 5])
def test_roughness_is_the_mean_of_the_angles_by_arccos(dtype, d):
    path = normal(1, 12, d, dtype=dtype)
    moves = np.diff(path.numpy(), axis=0).astype(float)
    angles = [
        math.degrees(math.acos(a @ b / np.linalg.norm(a) / np.linalg.norm(b)))
        for a, b in zip(moves, moves[1:], strict=False)
    ]
    assert ref.roughness(path).item() == pytest.approx(np.mean(angles), rel=1e-5)


@pytest.mark.parametrize("turn", [0.0, 30.0, 90.0, 180.0])
def test_roughness_of_a_regular_turn_is_that_turn(turn):
    heading = torch.deg2rad(torch.arange(8, dtype=torch.float64) * turn)
    path = torch.stack([heading.cos(), heading.sin()], dim=-1).cumsum(0)
    assert ref.roughness(path).item() == pytest.approx(turn, abs=1e-9)


def test_roughness_skips_rests_and_is_zero_without_a_turn():
    rest = torch.tensor([[0.0, 0], [1, 0], [1, 0], [1, 1], [2, 1]])
    assert ref.roughness(rest).item() == pytest.approx(90.0)
    assert ref.roughness(torch.ones(5, 2)).item() == 0
    assert ref.roughness(torch.tensor([[0.0, 0], [1, 0]])).item() == 0


STEPS = [
    (ref.ewa, lambda d: (d(6, 3), 0.9)),
    (ref.adagrad_step, lambda d: (d(2, 3), d(2, 3), d(2, 3).square(), 0.1, 1e-8)),
    (ref.rmsprop_step, lambda d: (d(2, 3), d(2, 3), d(2, 3).square(), 0.1, 0.9, 1e-8)),
    (
        ref.adam_step,
        lambda d: (d(2, 3), d(2, 3), d(2, 3), d(2, 3).square(), 3, 0.1, 0.9, 0.99, 1e-8),
    ),
    (ref.heavy_ball_on_quadratic, lambda d: (d(2, 3, 3), d(2, 3), d(2, 3), 0.01, 0.9, 5)),
    (ref.roughness, lambda d: (d(2, 7, 3),)),
]
EACH = pytest.mark.parametrize("function, arguments", STEPS, ids=[f.__name__ for f, _ in STEPS])


def results(value):
    return value if isinstance(value, tuple) else (value,)


@DTYPES
@EACH
def test_arguments_are_unchanged_and_the_dtype_comes_back(function, arguments, dtype):
    given = arguments(lambda *shape: normal(4, *shape, dtype=dtype))
    before = [a.clone() if torch.is_tensor(a) else a for a in given]
    for result in results(function(*given)):
        assert result.dtype == dtype
    for a, b in zip(given, before, strict=True):
        assert torch.equal(a, b) if torch.is_tensor(a) else a == b


@EACH
def test_the_reference_runs_on_the_meta_device(function, arguments):
    """Finds a stray device or a value read on the way, without a GPU."""
    given = arguments(lambda *shape: torch.empty(shape, device="meta"))
    for result in results(function(*given)):
        assert result.device.type == "meta"


@pytest.mark.parametrize("function, arguments", STEPS[1:4], ids=[f.__name__ for f, _ in STEPS[1:4]])
def test_a_batch_is_a_loop(function, arguments):
    given = arguments(lambda *shape: normal(4, *shape))
    for row in range(2):
        alone = function(*[a[row] if torch.is_tensor(a) else a for a in given])
        for whole, one in zip(results(function(*given)), results(alone), strict=True):
            torch.testing.assert_close(whole[row], one, rtol=0, atol=0)


def test_the_long_line_asks_for_clipped_cosines():
    """Whatever the generator, an arccos without clipping is nan on some long line of the exercise."""
    for seed in range(100):
        excess = []
        for name, inputs in spec.roughness.draw_cases(np.random.default_rng(seed)):
            if name == "nor does a long one":
                a = np.diff(inputs["path"], axis=0)
                lengths = np.linalg.norm(a, axis=1)
                cosines = np.sum(a[:-1] * a[1:], axis=1) / (lengths[:-1] * lengths[1:])
                excess.append(cosines.max() - 1)
        assert 0 < max(excess) < 1e-12

"""References of the adaptive methods against torch.optim, sums written out, and closed forms."""

import math
import re

import numpy as np
import pytest
import torch
from ipywidgets import Dropdown, FloatLogSlider, FloatSlider, IntSlider, SelectionSlider
from matplotlib import cbook

from descent import data
from descent.pictures.optimisation import momentum_and_adam as am
from descent.widgets import Explorer
from solutions import notebook_module

spec = notebook_module("03_optimisation/02_momentum_and_adam", "exercises")
ref = notebook_module("03_optimisation/02_momentum_and_adam", "reference")


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


# ------------------------------------------------------------ what it draws


def answer(exercise):
    """A right answer of the exercise, in numpy."""
    return exercise.right_answers[0].function


NUMPY_STEPS = [answer(e) for e in (spec.adagrad_step, spec.rmsprop_step, spec.adam_step)]
NUMPY_STEPS = [
    lambda *a, step=step: tuple(np.array(part) for part in step(*a)) for step in NUMPY_STEPS
]
METHODS = am.optimisers(*NUMPY_STEPS)


def number_after(label, words):
    return float(re.search(rf"{label} ?([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)", words).group(1))


# ---------------------------------------------------------------- surfaces and methods


@pytest.mark.parametrize("name", am.SURFACES)
def test_gradients_are_autograds(name, rng):
    place = am.SURFACES[name]
    for point in rng.normal(size=(5, 2)):
        h = 1e-5 * np.eye(2)
        slope = [(place.f(point + e) - place.f(point - e)) / 2e-5 for e in h]
        np.testing.assert_allclose(place.grad(point), slope, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", am.SURFACES)
def test_the_goal_is_a_minimum(name, rng):
    place = am.SURFACES[name]
    goal = np.array(place.goal)
    np.testing.assert_allclose(place.grad(goal), 0, atol=1e-9)
    assert np.all(place.f(goal + 0.05 * rng.normal(size=(200, 2))) > place.f(goal))


TORCH = {
    "gradient descent": lambda p: torch.optim.SGD(p, lr=0.01),
    "heavy ball": lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9),
    "AdaGrad": lambda p: torch.optim.Adagrad(p, lr=0.01, eps=1e-8),
    "RMSProp": lambda p: torch.optim.RMSprop(p, lr=0.01, alpha=0.9, eps=1e-8),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.01, betas=(0.9, 0.9), eps=1e-8),
}


@pytest.mark.parametrize("name", TORCH)
def test_a_race_is_torchs(name):
    ours = am.race(METHODS[name], am.SURFACES["ravine"].grad, (1.0, 0.3), 40, 0.01, 0.9)
    np.testing.assert_allclose(ours, am.torch_path(TORCH[name], 40), rtol=1e-9, atol=1e-9)


def test_a_noisy_momentum_path_is_torchs(rng):
    noise = rng.normal(size=(40, 2))
    arriving = iter(noise)
    ours = answer(spec.heavy_ball)(
        lambda x: am.SURFACES["ravine"].grad(x) + next(arriving),
        np.array([1.0, 0.3]),
        0.01,
        0.9,
        40,
    )
    theirs = am.torch_path(TORCH["heavy ball"], 40, noise)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_the_simplified_adam_has_the_steps_of_its_formula():
    path = am.race(am.simplified_adam, lambda x: np.full(1, 3.0), (0.0,), 50, 1.0, 0.9)
    expected = answer(spec.simplified_ratio)(np.arange(1, 51), 0.9, 0.999)
    np.testing.assert_allclose(-np.diff(path[:, 0]), expected, rtol=1e-6)


def test_nesterov_is_torchs():
    grad, start = am.SURFACES["ravine"].grad, np.array([1.0, 0.3])
    theirs = am.torch_path(lambda p: torch.optim.SGD(p, lr=0.005, momentum=0.9, nesterov=True), 40)
    ours = am.nesterov(grad, start, 0.005, 0.9, 40)
    # torch keeps the place looked ahead to: its iterate is ours moved on by eta gamma v
    ahead = ours + 0.9 * np.diff(ours, axis=0, prepend=ours[:1])
    np.testing.assert_allclose(ahead, theirs, rtol=1e-9, atol=1e-12)


def test_growing_momentum_keeps_nesterovs_bound():
    curvature = np.logspace(-5, 0, 60)
    path = am.nesterov(lambda x: curvature * x, np.ones(60), 1.0, None, 500)
    for t in (10, 100, 500):  # 2 L |x0 - x*|² / (t + 1)², each coordinate a problem of its own
        assert (curvature * path[t] ** 2 / 2).max() <= 2 / (t + 1) ** 2


def test_the_best_setting_has_the_rate_that_is_promised():
    eta, gamma, rate = am.tuned(1, 100)
    assert (eta, gamma, rate) == pytest.approx((4 / 121, 81 / 121, 9 / 11))
    assert am.asymptotic_rate([1.0, 100.0], eta, gamma) == pytest.approx(rate, abs=1e-6)
    assert am.asymptotic_rate([1.0, 100.0], 2 / 101, 0.0) == pytest.approx(99 / 101)


def test_a_path_that_diverges_stays_finite():
    path = am.race(
        METHODS["gradient descent"], am.SURFACES["ravine"].grad, (1.0, 0.3), 500, 1.0, 0.0
    )
    assert np.isfinite(path).all() and np.abs(path[-1]).max() > 1e6


def test_adams_second_memory_may_differ():
    method = am.optimisers(adam_step=NUMPY_STEPS[2], beta2=0.999)["Adam"]
    ours = am.race(method, am.SURFACES["ravine"].grad, (1.0, 0.3), 40, 0.01, 0.9)
    theirs = am.torch_path(lambda p: torch.optim.Adam(p, lr=0.01), 40)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_wells_without_momentum_are_split_at_the_hill_top():
    hill = np.roots([4, 0, -4, 0.3])
    top = hill[np.abs(hill) < 0.5][0].real
    settled = am.in_better_well(answer(spec.heavy_ball), 0.0)
    np.testing.assert_array_equal(settled, np.linspace(-2, 2, 401) < top)


def test_best_curve_is_that_of_the_best_rate():
    place = am.SURFACES["ravine"]
    methods = {"plain": METHODS["gradient descent"]}
    curve = am.best_curves(
        methods, {"plain": [1e-4, 0.015, 0.03]}, place.f, place.grad, np.array([1.0, 0.3]), 40, 10
    )
    path = am.race(METHODS["gradient descent"], place.grad, (1.0, 0.3), 40, 0.015, 0.9)
    np.testing.assert_allclose(curve["plain"], place.f(path[::10]))


def test_adams_rates_undo_the_size_of_steady_gradients():
    slopes = np.array([1e-3, 1.0, 1e3])
    sizes, rates = am.adam_rates(NUMPY_STEPS[2], lambda theta: slopes, np.zeros(3), 0.01, 50)
    np.testing.assert_allclose(sizes, slopes)
    np.testing.assert_allclose(rates * slopes, 1)


def test_steps_to_counts_the_first_arrival():
    assert am.steps_to(np.array([[1.0], [1e-7], [1.0]])) == 1
    assert am.steps_to(np.array([[1.0], [0.5]])) is None


# ---------------------------------------------------------------- real data


def test_logistic_gradient_is_autograds(rng):
    X, y = rng.normal(size=(30, 4)), rng.integers(0, 2, 30).astype(float)
    loss, grad = am.logistic(X, y)
    w = torch.tensor(rng.normal(size=5), requires_grad=True)
    scores = torch.from_numpy(X) @ w[:-1] + w[-1]
    expected = torch.nn.functional.binary_cross_entropy_with_logits(scores, torch.from_numpy(y))
    expected.backward()
    assert loss(w.detach().numpy()) == pytest.approx(expected.item())
    np.testing.assert_allclose(grad(w.detach().numpy()), w.grad.numpy())


def test_next_word_gradient_is_autograds(rng):
    net, pairs = am.NextWord(12, d=3), rng.integers(0, 12, (20, 2))
    theta = torch.tensor(net.start() * 20, requires_grad=True)
    E, U = theta[:36].reshape(12, 3), theta[36:].reshape(3, 12)
    expected = torch.nn.functional.cross_entropy(E[pairs[:, 0]] @ U, torch.from_numpy(pairs[:, 1]))
    expected.backward()
    point = theta.detach().numpy()
    assert net.losses(point, pairs).mean() == pytest.approx(expected.item())
    np.testing.assert_allclose(net.grad(point, pairs), theta.grad.numpy(), atol=1e-12)


def test_bigrams_are_neighbours():
    pairs, counts = am.bigrams({"a": "the cat saw the dog. The cat", "b": "ran"}, n_words=2)
    # most frequent: the (0), cat (1); neighbours across an unknown word do not count
    assert pairs.tolist() == [[0, 1], [0, 1]] and counts.tolist() == [2, 0]


def test_training_lowers_the_loss_of_chance():
    pairs, counts = am.bigrams(data.documents(), n_words=50)
    frequent, rare = am.train_next_word(METHODS["Adam"], 0.05, pairs, counts, n_steps=100)
    assert max(frequent, rare) < np.log(50)
    assert am.train_next_word(METHODS["gradient descent"], 1e4, pairs, counts, n_steps=50) == (
        np.inf,
        np.inf,
    )


# ---------------------------------------------------------------- controls


def test_average_sliders():
    price = cbook.get_sample_data("goog.npz")["price_data"]["close"]
    widget = Explorer(
        lambda beta, days: am.draw_average(answer(spec.ewa), price, beta, days),
        dict(
            beta=FloatSlider(0.95, min=0, max=0.99, step=0.01),
            days=IntSlider(90, min=30, max=300, step=30),
        ),
    )
    for beta, window, first in ((0.9, 10, 10), (0.5, 2, 50), (0.0, 1, 100)):
        widget.controls["beta"].value = beta
        assert f"is {window} days" in widget.words and f"shows {first}% of" in widget.words
    widget.controls["beta"].value = 0.99
    for days in (60, 300):
        widget.controls["days"].value = days
        assert f"{1 - 0.99**days:.0%} on day {days}" in widget.words


def test_momentum_controls():
    widget = Explorer(
        lambda method, eta, gamma: am.draw_momentum(answer(spec.heavy_ball), eta, gamma, method),
        dict(
            method=Dropdown(options=["heavy ball", "Nesterov", "gradient descent"]),
            eta=FloatSlider(0.01, min=0.001, max=0.04, step=0.001),
            gamma=FloatSlider(0.5, min=0, max=0.98, step=0.02),
        ),
    )
    widget.controls["gamma"].value = 0.9
    assert "after 264 steps" in widget.words and "0.949" in widget.words
    widget.controls["method"].value = "Nesterov"
    assert 0 < number_after("after", widget.words) < 264
    widget.controls["method"].value = "gradient descent"
    assert "after 1375 steps" in widget.words and "γ = 0.00" in widget.words
    widget.controls["eta"].value = 0.021
    assert "diverges" in widget.words
    widget.controls["eta"].value = 0.001
    assert "still" in widget.words


def test_bowl_slider():
    widget = Explorer(
        lambda ratio: am.draw_bowl(NUMPY_STEPS[2], ratio),
        dict(ratio=FloatLogSlider(10, min=0, max=2, step=0.1)),
    )
    for ratio in (1.0, 10.0, 100.0):
        widget.controls["ratio"].value = ratio
        assert f"moves {1 / ratio:.3f} along θ₁ and 1.000 along θ₂" in widget.words
        assert "Adam moves 0.500 and 0.500" in widget.words


@pytest.fixture
def race_widget():
    return Explorer(
        lambda surface, method, eta, beta, batch: am.draw_race(
            METHODS, surface, method, eta, beta, batch
        ),
        dict(
            surface=Dropdown(options=list(am.SURFACES)),
            method=Dropdown(options=["all five", *METHODS]),
            eta=FloatLogSlider(0.01, min=-3, max=0, step=0.1),
            beta=FloatSlider(0.9, min=0, max=0.98, step=0.02),
            batch=SelectionSlider(options=[1, 4, 16, 64, "all data"], value="all data"),
        ),
    )


def test_race_shows_every_method(race_widget):
    assert all(name in race_widget.words for name in METHODS)
    race_widget.controls["method"].value = "gradient descent"
    assert "Adam" not in race_widget.words
    # the flat coordinate decays by 1 - eta, the steep one is at 0 at once
    assert number_after("gradient descent", race_widget.words) == pytest.approx(0.99**150, rel=0.02)


def test_race_rate_and_memory(race_widget):
    race_widget.controls["method"].value = "heavy ball"
    race_widget.controls["beta"].value = 0.0
    race_widget.controls["eta"].value = 0.01
    assert number_after("heavy ball", race_widget.words) == pytest.approx(0.99**150, rel=0.02)
    race_widget.controls["beta"].value = 0.9
    assert number_after("heavy ball", race_widget.words) < 0.01
    race_widget.controls["eta"].value = 1.0
    assert "diverged" in race_widget.words


def test_race_noise_and_surface(race_widget):
    race_widget.controls["method"].value = "gradient descent"
    still = race_widget.words
    race_widget.controls["batch"].value = 1
    assert race_widget.words != still
    race_widget.controls["batch"].value = "all data"
    race_widget.controls["surface"].value = "saddle"
    race_widget.controls["eta"].value = 0.1
    assert number_after("gradient descent", race_widget.words) < 1e-3
    race_widget.controls["eta"].value = 0.01
    assert number_after("gradient descent", race_widget.words) > 1  # still on the ridge


# ---------------------------------------------------------------- what the figures say


def test_step_counts_of_the_first_lesson():
    ball = answer(spec.heavy_ball)
    grad = am.SURFACES["ravine"].grad
    paths = {
        str(i): ball(grad, np.ones(2), eta, gamma, 1500)
        for i, (eta, gamma) in enumerate(
            [(2 / 101, 0), (0.01, 0), (0.01, 0.9), am.tuned(1, 100)[:2]]
        )
    }
    _, words = am.draw_steps(paths)
    assert re.findall(r"\d (\d+)", words.split(":")[1]) == ["709", "1375", "264", "95"]


def test_adagrad_wins_where_features_are_rare():
    _, words = am.draw_sparse(NUMPY_STEPS[0], np.geomspace(0.01, 2, 8), seeds=1)
    assert number_after("weights", words) < 0.5 * number_after("gradient descent", words)


def test_only_rmsprop_forgets():
    _, words = am.draw_scales(NUMPY_STEPS[0], NUMPY_STEPS[1])
    assert number_after("RMSProp is", words) < 0.5 < 1 < number_after("minimum, AdaGrad", words)
    assert number_after("RMSProp's rate grows", words) == pytest.approx(100, rel=0.2)
    assert number_after("AdaGrad's", words) == pytest.approx(1, abs=0.05)
    assert number_after("sum stands at", words) == pytest.approx(20, rel=0.01)


def test_moments_need_their_correction():
    _, words = am.draw_moments(answer(spec.ewa))
    assert number_after("raw m holds", words) == pytest.approx(
        99.5, abs=1
    )  # 1 - 0.9^50, in per cent
    assert f"raw s {1 - 0.999**50:.0%}" in words  # 5%
    assert number_after("stay within", words) <= 3  # three standard errors of the first mean square


def test_raw_features_figure_says_who_is_nearest():
    curves = {"A": [1.0, 0.5], "B": [1.0, 0.2]}
    fig, words = am.draw_raw(curves, 20, 0.05, np.array([1.0, 10.0]), np.array([10.0, 0.1]))
    title = fig.axes[0].get_title(loc="left") or fig.axes[0].get_title()
    assert title == "Raw features: B comes nearest"
    assert "A 0.50, B 0.20" in words and "span 2 powers" in words


def test_words_figure_names_best_and_worst():
    _, words = am.draw_words({"A": (4.0, 4.5), "B": (4.2, 4.1), "C": (4.1, 4.9)})
    assert "lowest with B" in words and "highest with C" in words


def test_schedule_of_the_simplified_form():
    _, words = am.draw_schedule(answer(spec.simplified_ratio), NUMPY_STEPS[2], n_steps=1200)
    assert "1.00 at first, 2.08 at step 12, 1.02 at 100, 0.40 at 1000, limit 0.316" in words

"""Pictures of momentum and Adam: the pure layer against autograd and closed forms, then the controls."""

import re

import numpy as np
import pytest
import torch
from ipywidgets import Dropdown, FloatLogSlider, FloatSlider, IntSlider, SelectionSlider
from matplotlib import cbook

from descent import data
from descent.widgets import Explorer
from descent.widgets import adaptive_methods as am
from solutions.exercises.optimisation import momentum_and_adam as spec


def answer(exercise):
    """A right answer of the exercise, in numpy."""
    return exercise.right_answers[0].function


STEPS = [answer(e) for e in (spec.adagrad_step, spec.rmsprop_step, spec.adam_step)]
STEPS = [lambda *a, step=step: tuple(np.array(part) for part in step(*a)) for step in STEPS]
METHODS = am.optimisers(*STEPS)


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
    method = am.optimisers(adam_step=STEPS[2], beta2=0.999)["Adam"]
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
    sizes, rates = am.adam_rates(STEPS[2], lambda theta: slopes, np.zeros(3), 0.01, 50)
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
        lambda ratio: am.draw_bowl(STEPS[2], ratio),
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
    _, words = am.draw_sparse(STEPS[0], np.geomspace(0.01, 2, 8), seeds=1)
    assert number_after("weights", words) < 0.5 * number_after("gradient descent", words)


def test_only_rmsprop_forgets():
    _, words = am.draw_scales(STEPS[0], STEPS[1])
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
    _, words = am.draw_schedule(answer(spec.simplified_ratio), STEPS[2], n_steps=1200)
    assert "1.00 at first, 2.08 at step 12, 1.02 at 100, 0.40 at 1000, limit 0.316" in words

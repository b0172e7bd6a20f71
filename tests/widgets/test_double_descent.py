"""Widgets of splines and double descent: their numbers against theory, then their controls."""

import re

import numpy as np
import pytest
from ipywidgets import Checkbox, Dropdown, FloatSlider, IntSlider, SelectionSlider
from scipy.interpolate import CubicSpline, make_smoothing_spline
from sklearn.linear_model import LinearRegression

from descent import data
from descent.widgets import Explorer
from descent.widgets import double_descent as dd


def numbers(words):
    return [float(v) for v in re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", words)]


# ---------------------------------------------------------------- fits


@pytest.mark.parametrize("p", [1, 5, 9, 10, 60])
def test_the_operator_is_scikit_learns_fit(p, rng):
    x, t = dd.grid(10), np.linspace(0, 1, 7)
    y = 5 + rng.normal(size=10)
    model = LinearRegression().fit(dd.hinges(x, p), y)  # the least norm, its intercept free
    got = dd.fit_operator(x, t, p) @ y
    np.testing.assert_allclose(got, model.predict(dd.hinges(t, p)), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("steps", [0, 1, 7, 200])
def test_steps_are_those_of_a_loop(steps, rng):
    x, t, p = np.sort(rng.random(6)), np.linspace(0, 1, 5), 4
    y = rng.normal(size=6)
    F = dd.hinges(x, p)
    A, beta = F - F.mean(0), np.zeros(p)
    for _ in range(steps):
        beta = beta + A.T @ (y - y.mean() - A @ beta) / np.linalg.norm(A, 2) ** 2
    expected = y.mean() + (dd.hinges(t, p) - F.mean(0)) @ beta
    np.testing.assert_allclose(dd.fit_operator(x, t, p, steps) @ y, expected, atol=1e-9)


def test_counted_steps_are_those_of_a_loop():
    X = np.column_stack([np.ones(6), dd.hinges(dd.grid(6), 9)])
    y, beta, count = dd.sine(dd.grid(6)), np.zeros(10), 0
    while np.mean((X @ beta - y) ** 2) > 0.02:
        beta, count = beta + X.T @ (y - X @ beta) / np.linalg.norm(X, 2) ** 2, count + 1
    assert dd.steps_to(X, y, 0.02) == count > 10
    assert dd.steps_to(X, y, 0.02, most=count - 1) is None


def test_the_numbers_of_the_set_up():
    """Medians over 100 data sets, n = 20 on a grid: what the notebook tells."""
    clean = dd.excess_errors([18, 19, 20, 22, 40, 1000], 0.0, 1)
    np.testing.assert_allclose(clean, [0.00102, 1.53e7, 38.4, 0.0659, 4.19e-4, 9.29e-5], rtol=0.01)
    some = dd.excess_errors([12, 18, 1000], 0.1)
    np.testing.assert_allclose(some, [0.0086, 0.0066, 0.0080], atol=5e-5)
    much = dd.excess_errors([6, 1000], 0.3)
    np.testing.assert_allclose(much, [0.042, 0.070], atol=5e-4)


def test_conditioning_has_its_peak_at_19_knots():
    numbers_, steps = dd.conditioning((18, 19, 20, 40))
    assert np.argmax(numbers_) == 1 and numbers_[1] == pytest.approx(5.3e15, rel=0.1)
    assert steps[1:] == sorted(steps[1:], reverse=True)


def test_the_clamped_spline_bends_least_among_those_that_start_flat(rng):
    x, y = dd.grid(6), rng.normal(size=6)
    spline = dd.clamped_spline(x, y)
    t = np.linspace(0, 1, 20_001)
    assert np.allclose(spline(x), y) and abs(spline(0.0, 1)) < 1e-12
    assert dd.bending(x, spline(x, 2)) == pytest.approx(np.mean(spline(t, 2) ** 2), rel=1e-3)
    wiggle = dd.clamped_spline(np.linspace(0, 1, 16), np.where(np.arange(16) % 3, 0.1, 0.0))
    other = np.mean((spline(t, 2) + wiggle(t, 2)) ** 2)  # through the same points, flat at 0
    assert other > dd.bending(x, spline(x, 2))


def test_the_spline_constant_is_tempered():
    assert dd.spline_excess(20) == pytest.approx(0.866, abs=0.002)
    assert dd.spline_excess(160) == pytest.approx(0.873, abs=0.002)
    # Far from the ends: the integral of the squared cardinal spline.
    w = np.linspace(1e-9, 60 * np.pi, 600_001)
    cardinal = np.sinc(w / (2 * np.pi)) ** 4 / ((2 + np.cos(w)) / 3)
    assert np.trapezoid(cardinal**2, w) / np.pi == pytest.approx(0.874, abs=0.0005)


def test_gaussian_excess_is_that_of_simulated_fits():
    eigenvalues, n = np.array([2.0, 1.0, 0.5, 0.5, 0.2, 0.1]), 3
    told = dd.gaussian_excess(eigenvalues, n, 1)
    X = np.random.default_rng(0).normal(size=(n, 6)) * np.sqrt(eigenvalues)
    noise = np.random.default_rng(1).normal(size=(40_000, n))
    fits = (X[:, 0] + noise) @ np.linalg.pinv(X).T
    fits[:, 0] -= 1
    assert np.mean(fits**2 @ eigenvalues) == pytest.approx(told, rel=0.03)


@pytest.mark.parametrize("penalty", [1e-3, 0.1, 10.0])
def test_the_smoothing_spline_is_scipys(penalty, rng):
    x = np.sort(rng.uniform(-1, 1, 30))
    y = np.sin(3 * x) + 0.3 * rng.normal(size=30)
    t = np.linspace(x[0], x[-1], 40)
    expected = make_smoothing_spline(x, y, lam=penalty)(t)
    np.testing.assert_allclose(dd.smoothing_spline(x, y, penalty)(t), expected, atol=1e-7)
    f = dd.smoothing_spline(x, y, penalty)
    assert np.allclose(np.diff(f(x[-1] + np.arange(4.0)), 2), 0)  # straight beyond the data


def test_linear_data_have_no_gap_and_a_curve_has():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-1, 1, 80))
    error = 0.2 * rng.normal(size=80)
    assert abs(dd.linearity_gap(x, 2 * x + error)[1]) < 0.02
    assert dd.linearity_gap(x, np.sin(4 * x) + error)[1] > 0.4


def test_legendre_errors_peak_at_n_and_scaling_changes_only_what_follows():
    def cubic(x):
        return x**3 - x

    plain, sizes = dd.legendre_curve((5, 19, 20, 21, 400), cubic, sets=15)
    alike, _ = dd.legendre_curve((5, 19, 20, 21, 400), cubic, sets=15, scaled=True)
    assert plain.argmax() == sizes.argmax() == 2
    assert plain[0] == pytest.approx(alike[0], rel=1e-6)
    assert plain[-1] < 0.05 < alike[-1]


def test_knots_learn_the_corners_and_hold_still_if_told_to():
    x = np.linspace(0, 1, 101)
    losses, knots = dd.train_knots(x, dd.tooth(x))
    _, still = dd.train_knots(x, dd.tooth(x), steps=10, learn=False)
    assert losses[-1] < losses[0] / 10
    assert all(np.abs(knots[-1] - corner).min() < 0.02 for corner in (0.5, 0.6, 0.7))
    assert np.array_equal(still[0], still[-1])


@pytest.mark.parametrize("pieces", [1, 2, 4, 8])
def test_pieces_are_counted(pieces):
    corners = np.linspace(0, 1, pieces + 1)
    assert dd.count_pieces(lambda x: np.interp(x, corners, corners**2)) == pieces


def test_the_elephant_needs_eleven_circles():
    z = dd.elephant() @ np.array([1, 1j])
    c = np.abs(np.fft.fft(z))
    assert c[6:-5].max() < 1e-9 < min(c[5], c[-5])


@pytest.mark.parametrize("N", [1, 4, 9])
def test_the_pen_is_at_the_end_of_the_arms(N):
    points = dd.elephant(20)
    centres = dd.circles(points, N, 3 / 20)
    k = np.array([0, 1, -1, 2, -2, 3, -3, 4, -4])[:N]
    E = np.exp(2j * np.pi * np.outer(np.arange(20), k) / 20)
    curve = E @ (E.conj().T @ (points @ np.array([1, 1j]))) / 20
    assert len(centres) == N + 1 and centres[-1] == pytest.approx(curve[3])


def test_the_digits_have_their_peak_at_the_number_of_rows():
    curves = dd.digits_curve(data.digits().X / 16, data.digits().y, (50, 100, 150, 800), n=100)
    free = curves["minimum norm"]
    assert free.argmax() == 1 and curves["train"][1] == 0
    assert curves["ridge"].max() < free[1] - 0.2


# ---------------------------------------------------------------- figures


def test_the_limit_is_told_with_its_numbers():
    told = numbers(dd.draw_limit(counts=(50, 400))[1])
    assert told[1] == 50 and told[3] == 400 and told[2] < told[0]
    assert told[-1] == pytest.approx(3377, abs=1)


def test_the_law_reaches_further():
    told = numbers(dd.draw_extrapolation()[1])
    inside, beyond, law_inside, law_beyond = told[:4]
    assert inside < 0.1 > law_inside and beyond > 5 * law_beyond


def test_every_threshold_is_named():
    _, words = dd.draw_threshold([0.0, 0.2, 0.7], [10, 30, 60])
    assert "from p = 60 on" in words


def test_only_the_minimum_norm_has_the_peak():
    told = re.findall(r"(\d[\d ]*steps|minimum norm) ([\d.e+-]+\d)", dd.draw_stopped()[1])
    errors = {name: float(value) for name, value in told}
    assert errors.pop("minimum norm") > 1e6
    assert len(errors) == 3 and max(errors.values()) < 0.1


def test_the_training_error_is_0_from_19_knots_on():
    words = dd.draw_curves(sigmas=(0.0, 0.3), counts=(6, 17, 18, 19, 20, 40), seeds=3)[1]
    assert words.endswith("Training error 0 from p = 19 on.")


# ---------------------------------------------------------------- controls


def test_any_constant_keeps_the_points_and_moves_the_rest():
    widget = Explorer(
        dd.draw_interpolants,
        dict(
            kind=Dropdown(value="polynomial", options=["polynomial", "radial", "broken line"]),
            c=FloatSlider(0, min=-1000, max=1000),
        ),
    )
    rest = numbers(widget.words)[-1]
    widget.controls["c"].value = 800
    moved = numbers(widget.words)
    product = np.prod(0.9 - dd.POINTS)
    assert moved[-1] - rest == pytest.approx(800 * product, abs=0.011)
    assert "data points 0.0" in widget.words
    widget.controls["kind"].value = "broken line"
    assert numbers(widget.words)[-1] == pytest.approx(0.2 + 800 * product, abs=0.006)


def test_equal_inputs_cannot_be_interpolated():
    with pytest.raises(ValueError, match="two inputs are equal"):
        dd.interpolant([0.0, 1.0, 1.0], [1.0, 2.0, 3.0], 0)


def test_more_knots_follow_the_wiggles():
    widget = Explorer(dd.draw_knot_count, dict(p=IntSlider(3, min=0, max=45)))
    few = numbers(widget.words)
    assert few[:3] == [3, 4, 40] and few[3] < few[4]
    widget.controls["p"].value = 15
    assert numbers(widget.words)[3] < few[3] / 5
    widget.controls["p"].value = 0
    (_, y) = dd.wiggly()
    assert numbers(widget.words)[3] == pytest.approx(y.var(), abs=5e-4)


def test_slopes_are_running_sums_of_their_changes():
    slope = dict(min=-4.0, max=4.0, step=0.1)
    widget = Explorer(
        dd.draw_hinges,
        dict(
            beta1=FloatSlider(1.0, **slope),
            beta2=FloatSlider(-2.0, **slope),
            beta3=FloatSlider(0.5, **slope),
            fitted=Checkbox(False),
        ),
    )
    told = numbers(widget.words)
    assert told[:3] == [1.0, -2.0, 0.5] and told[3:7] == [0.0, 1.0, -1.0, -0.5]
    widget.controls["fitted"].value = True
    best = numbers(widget.words)
    assert best[-1] < told[-1] and best[-1] < 0.03
    widget.controls["beta1"].value = 3.0  # the box is ticked: sliders are ignored
    assert numbers(widget.words) == best


def test_a_null_space_vector_costs_norm_and_no_error():
    widget = Explorer(
        dd.draw_memory,
        dict(
            p=SelectionSlider(value=40, options=[12, 40, 200]),
            scale=FloatSlider(0, min=-40, max=40),
        ),
    )
    p, n, error, least, same, apart = numbers(widget.words)
    assert (p, n, error, apart) == (40, 8, 0, 0) and least == same
    widget.controls["scale"].value = 20
    _, _, error, least, larger, apart = numbers(widget.words)
    assert error == 0 and larger == pytest.approx(np.hypot(least, 20), abs=0.02) and apart > 0.3


@pytest.fixture
def explorer():
    return Explorer(
        dd.draw_explorer,
        dict(
            p=SelectionSlider(value=19, options=dd.COUNTS),
            sigma=FloatSlider(0.1, min=0, max=0.5),
            inputs=Dropdown(value="grid", options=["grid", "random"]),
            steps=SelectionSlider(value=0, options=[100, 10_000, 0]),
        ),
    )


def read(widget):
    """training, excess, highest, where, lowest, where."""
    return numbers(widget.words.split(": ", 1)[1])


def test_the_peak_is_at_19_knots_and_the_fit_is_perfect_from_there(explorer):
    training, excess, highest, peak, *_ = read(explorer)
    assert training == 0 and peak == 19 and excess == highest > 1e6
    explorer.controls["p"].value = 18
    assert read(explorer)[0] > 1e-4 and read(explorer)[1] < 0.05
    explorer.controls["p"].value = 1000
    assert read(explorer)[0] == 0 and read(explorer)[1] < 0.02


def test_without_noise_the_peak_stays_and_the_largest_model_wins(explorer):
    explorer.controls["sigma"].value = 0.0
    *_, highest, peak, lowest, best = read(explorer)
    assert peak == 19 and highest > 1e6 and best == 1000 and lowest < 2e-4


def test_with_much_noise_a_classical_model_wins(explorer):
    explorer.controls["sigma"].value = 0.5
    assert read(explorer)[-1] < 12


def test_ten_thousand_steps_hide_the_peak(explorer):
    explorer.controls["steps"].value = 10_000
    training, excess, *_ = read(explorer)
    assert excess < 0.05 and training > 1e-4


def test_random_inputs_need_more_knots_to_be_met(explorer):
    explorer.controls["inputs"].value = "random"
    assert read(explorer)[0] > 1e-5
    explorer.controls["p"].value = 1000
    assert read(explorer)[0] == 0


def test_circles_come_nearer_and_eleven_are_enough():
    def fit(points, N):
        k = np.array([(i + 1) // 2 * (1 if i % 2 else -1) for i in range(N)])
        E = np.exp(2j * np.pi * np.outer(np.arange(len(points)), k) / len(points))
        curve = E @ (E.conj().T @ (points @ np.array([1, 1j]))) / len(points)
        return np.column_stack([curve.real, curve.imag])

    widget = Explorer(
        dd.epicycle_explorer(fit),
        dict(N=IntSlider(5, min=1, max=15), moment=FloatSlider(0.0, min=0, max=1)),
    )
    five = numbers(widget.words)
    assert five == [5, pytest.approx(14.83, abs=0.02)]
    widget.controls["N"].value = 11
    assert numbers(widget.words) == [11, 0]
    widget.controls["moment"].value = 0.5
    assert numbers(widget.words) == [11, 0]


def test_natural_splines_bend_less_than_clamped_ones():
    x = dd.grid()
    natural = CubicSpline(x, dd.sine(x), bc_type="natural")
    clamped = dd.clamped_spline(x, dd.sine(x))
    assert dd.bending(x, natural(x, 2)) < dd.bending(x, clamped(x, 2)) / 3

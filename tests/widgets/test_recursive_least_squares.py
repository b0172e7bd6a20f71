"""Widgets of recursive least squares: their numbers against closed forms, then their controls."""

import re

import numpy as np
import pytest
from ipywidgets import FloatLogSlider, FloatSlider, IntSlider

from descent import data
from descent.widgets import Explorer
from descent.widgets import recursive_least_squares as rs


def gain(P, X, R):
    return np.linalg.solve(X @ P @ X.T + R, X @ P).T


def joseph(P, K, X, R):
    A = np.eye(len(P)) - K @ X
    return A @ P @ A.T + K @ R @ K.T


def scalar_rls(y, theta0, P0, R):
    k = np.arange(1, len(y) + 1)
    return (R * theta0 + P0 * np.cumsum(y)) / (k * P0 + R), P0 / (k * P0 + R)


def rls_polyfit(t, y, order, R, P0):
    X = t[:, None] ** np.arange(order + 1)
    P = np.linalg.inv(X.T @ X / R + np.eye(order + 1) / P0)
    return P @ X.T @ y / R, P


def rls_forget(rows, y, lam, b):
    M, q, fits = b * np.eye(rows.shape[1]), np.zeros(rows.shape[1]), []
    for row, value in zip(rows, y, strict=True):
        M, q = (1 - lam) * M + lam * np.outer(row, row), (1 - lam) * q + lam * row * value
        fits.append(np.linalg.solve(M, q))
    return np.array(fits)


def numbers(words):
    return [float(text) for text in re.findall(r"-?\d+\.\d+|-?\d+", words)]


# ---------------------------------------------------------------- the clock


def test_slider_player_and_clock_move_together():
    clock = rs.Clock(3, 0, 60)
    clock.slider.value = 10
    assert (clock.value, clock.play.value) == (10, 10)
    clock.play.value = 11
    assert (clock.value, clock.slider.value) == (11, 11)
    clock.value = 0
    assert (clock.slider.value, clock.play.value) == (0, 0)


# ---------------------------------------------------------------- costs


def test_fitting_again_costs_quadratically_and_the_recursion_linearly():
    curves = rs.multiplications(10, 10_000)
    slope = {name: np.log10(c[-1] / c[999]) for name, c in curves.items()}
    assert slope["fit all rows again"] == pytest.approx(2, abs=0.01)
    assert slope["recursion"] == pytest.approx(1, abs=1e-9)


def test_a_solve_costs_a_third_power_and_a_correction_a_square():
    small, large = rs.multiplications(1000, 1), rs.multiplications(2000, 1)
    growth = {name: large[name][0] / small[name][0] for name in small}
    assert growth["recursion"] == pytest.approx(4, rel=0.01)
    assert growth["keep the sums, solve again"] == pytest.approx(8, rel=0.01)


# ---------------------------------------------------------------- a stream


def test_an_ellipse_lies_at_two_standard_deviations():
    P = np.array([[2.0, 0.7], [0.7, 0.5]])
    away = rs.ellipse([1.0, -1.0], P) - np.array([[1.0], [-1.0]])
    np.testing.assert_allclose(np.einsum("in,ij,jn->n", away, np.linalg.inv(P), away), 4)


def test_a_stream_ends_at_ridge():
    t, y = rs.line_stream()
    estimates, covariances, gains = rs.run_stream(gain, joseph, t, y, 10.0, 0.25)
    theta, P = rls_polyfit(t, y, 1, 0.25, 10.0)
    np.testing.assert_allclose(estimates[-1], theta)
    np.testing.assert_allclose(covariances[-1], P)
    assert estimates.shape == (61, 2) and gains.shape == (60, 2)


@pytest.fixture
def stream():
    controls = dict(step=rs.Clock(1, 0, 60), log_P0=FloatSlider(1, min=-2, max=3, step=0.5))
    return Explorer(rs.stream_explorer(gain, joseph), controls)


def test_time_shrinks_the_covariance(stream):
    def trace():
        return float(re.search(r"trace of P (-?\d+\.\d+)", stream.words)[1])

    traces = []
    for step in (0, 1, 5, 20, 60):
        stream.controls["step"].slider.value = step
        assert stream.words.startswith(f"After {step} measurement")
        traces.append(trace())
    assert traces[0] == 20 and np.all(np.diff(traces) < 0)


def test_the_player_moves_the_picture(stream):
    before = stream.picture.value
    stream.controls["step"].play.value = 2
    assert "After 2 measurements" in stream.words and stream.picture.value != before


def test_a_prior_that_is_too_sure_misses_the_truth(stream):
    stream.controls["step"].value = 10
    stream.controls["log_P0"].value = -2
    offset = numbers(stream.words)[1]
    assert offset < 0.5  # the truth is 1
    stream.controls["log_P0"].value = 1
    assert abs(numbers(stream.words)[1] - 1) < 0.3


def test_the_traces_drawn_are_lowest_at_the_optimal_gain():
    P, X, R = np.array([[2.0, 0.5], [0.5, 1]]), np.array([[1.0, -0.5]]), np.array([[0.6]])
    _, words = rs.draw_trace(P, X, R, gain, joseph)
    best = np.trace(joseph(P, gain(P, X, R), X, R))
    found = numbers(words)
    assert found[0] == pytest.approx(best, abs=6e-4) and found[2] > found[0]
    assert found[1] == pytest.approx(3)


# ---------------------------------------------------------------- rounding


def test_in_float32_the_short_form_goes_deaf_and_joseph_does_not():
    estimates, covariances, y = rs.precise_sensor(False, np.float32)
    assert np.all(covariances[:, 0, 0] == 0) and np.all(estimates == estimates[0])
    estimates, covariances, y = rs.precise_sensor(True, np.float32)
    k = np.arange(1, 41)
    np.testing.assert_allclose(covariances[:, 0, 0], 1 / k, rtol=1e-4)
    np.testing.assert_allclose(estimates, np.cumsum(y) / k, rtol=1e-4)
    assert np.linalg.eigvalsh(covariances).min() > 0
    np.testing.assert_allclose(covariances, covariances.swapaxes(1, 2), rtol=1e-6)


def test_in_float64_both_forms_agree():
    short, long = (rs.precise_sensor(form, np.float64) for form in (False, True))
    np.testing.assert_allclose(short[0], long[0], rtol=1e-6)


def test_a_rounded_gain_breaks_the_symmetry_of_the_short_form_alone():
    assert rs.rounded_gain(False).max() > 1e-5
    assert rs.rounded_gain(True).max() < 1e-6


def test_on_an_ordinary_stream_no_form_is_bad():
    errors = rs.form_errors(n=500)
    assert len(errors) == 4 and 0 < max(errors.values()) < 1e-3


def test_definiteness_is_lost_to_the_size_of_the_prior():
    for form in (False, True):
        assert rs.lost_definiteness(form, 1e8) > 0
        assert rs.lost_definiteness(form, 1e4, streams=5) == 0


# ---------------------------------------------------------------- a constant


@pytest.fixture
def constant():
    return Explorer(
        rs.scalar_explorer(scalar_rls), dict(log_ratio=FloatSlider(0, min=-4, max=4, step=0.25))
    )


def test_the_ratio_goes_from_the_prior_to_the_running_mean(constant):
    constant.controls["log_ratio"].value = -4
    ratio, first, last, n, estimate, mean, guess, weight = numbers(constant.words)
    assert first == 0 and estimate < 0.05 and weight == pytest.approx(100 / 1.004, abs=0.1)
    constant.controls["log_ratio"].value = 4
    ratio, first, last, n, estimate, mean, guess, weight = numbers(constant.words)
    assert first == 1 and last == 0.025 and estimate == mean and weight == 0


def test_at_ratio_one_the_prior_weighs_as_one_measurement(constant):
    ratio, first, last, n, estimate, mean, guess, weight = numbers(constant.words)
    assert (ratio, first, n) == (1, 0.5, 40)
    assert weight == pytest.approx(100 / 41, abs=0.06)
    assert estimate == pytest.approx(mean * 40 / 41, abs=0.011)


# ---------------------------------------------------------------- curves


@pytest.fixture
def curve():
    controls = dict(
        points=IntSlider(10, min=1, max=40),
        order=IntSlider(1, min=0, max=7),
        log_P0=FloatSlider(1, min=-2, max=4, step=0.5),
    )
    return Explorer(rs.polynomial_explorer(rls_polyfit), controls)


def ahead(curve):
    return float(re.search(r"missed by (\d+\.\d+)", curve.words)[1])


def test_the_band_narrows_as_points_come(curve):
    widths = []
    for points in (2, 5, 10, 20, 40):
        curve.controls["points"].value = points
        widths.append(float(re.search(r"at t = 1 of (\d+\.\d+)", curve.words)[1]))
    assert np.all(np.diff(widths) < 0)


def test_a_cubic_forecasts_better_than_a_line_once_it_has_seen_the_turn(curve):
    curve.controls["points"].value = 20
    line = ahead(curve)
    curve.controls["order"].value = 3
    assert ahead(curve) < line / 2


def test_a_line_is_ahead_by_luck_and_pays_for_it(curve):
    missed = {}
    for points in (31, 36):
        for order in (1, 3):
            curve.controls["points"].value, curve.controls["order"].value = points, order
            missed[points, order] = ahead(curve)
    assert missed[31, 1] < missed[31, 3] and missed[36, 1] > 2 * missed[36, 3]


def test_nothing_is_said_of_the_future_at_the_end(curve):
    curve.controls["points"].value = 40
    assert "next" not in curve.words


# ---------------------------------------------------------------- forgetting


def test_lag_and_variance_are_those_of_a_long_simulation():
    rng, lam, speed, noise, n = np.random.default_rng(0), 0.2, 0.1, 1.0, 100_000
    w, errors = 0.0, np.empty(n)
    for k, value in enumerate(noise * rng.standard_normal(n)):
        w = (1 - lam) * w + lam * (speed * k + value)
        errors[k] = w - speed * k
    lag, variance = rs.tracking_terms(lam, speed, noise)
    assert errors[1000:].mean() ** 2 == pytest.approx(lag, rel=0.05)
    assert errors[1000:].var() == pytest.approx(variance, rel=0.05)


@pytest.fixture
def drift():
    controls = dict(
        step=rs.Clock(80, 1, 200),
        lam=FloatLogSlider(0.1, base=10, min=-2, max=-0.1, step=0.1),
        speed=FloatSlider(0.02, min=0, max=0.02, step=0.005),
    )
    return Explorer(rs.drift_explorer(rls_forget), controls)


def missed(drift):
    found = re.search(r"missed by (\d+\.\d+) .* and by (\d+\.\d+) without", drift.words)
    return float(found[1]), float(found[2])


def test_forgetting_tracks_a_slope_that_moves(drift):
    forgetting, plain = missed(drift)
    assert forgetting < plain / 4


def test_without_drift_forgetting_only_costs(drift):
    drift.controls["speed"].value = 0
    errors = []
    for lam in (0.02, 0.1, 0.5):
        drift.controls["lam"].value = lam
        forgetting, plain = missed(drift)
        errors.append(forgetting)
        assert plain <= forgetting
    assert np.all(np.diff(errors) > 0)


def test_the_best_memory_lies_in_between_and_is_longer_for_a_slow_drift(drift):
    best = []
    for speed in (0.02, 0.005):
        drift.controls["speed"].value = speed
        errors = []
        lams = 10.0 ** np.arange(-2, -0.05, 0.1)
        for lam in lams:
            drift.controls["lam"].value = lam
            errors.append(missed(drift)[0])
        best.append(int(np.argmin(errors)))
    assert 0 < best[1] < best[0] < len(lams) - 1


def test_the_clock_shows_the_slope_of_that_step(drift):
    drift.controls["step"].slider.value = 200
    assert "At step 200 it is 3.00" in drift.words


# ---------------------------------------------------------------- real data


@pytest.mark.parametrize("lam", [0.0, 0.3])
def test_a_race_is_forecast_by_the_weighted_line_through_the_races_before(lam):
    races = data.sprint().men
    errors = rs.forecast_errors(races, lam, vague=1e-9)
    for k in (5, 20):
        weight = (1 - lam) ** (np.arange(k - 1, -1, -1) / 2)  # polyfit squares its weights
        line = np.polyfit(races[:k, 0] - 1950, races[:k, 1], 1, w=weight)
        expected = races[k, 1] - np.polyval(line, races[k, 0] - 1950)
        assert errors[k] == pytest.approx(expected, abs=1e-5)


def test_no_forecast_knows_a_later_race():
    races = data.sprint().women
    later = races.copy()
    later[10:, 1] += 5
    np.testing.assert_array_equal(
        rs.forecast_errors(races, 0.2)[:10], rs.forecast_errors(later, 0.2)[:10]
    )

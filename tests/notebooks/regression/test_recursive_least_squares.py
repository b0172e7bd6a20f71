"""References of recursive least squares against libraries and loops; pictures against closed forms."""

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.linalg import block_diag
from scipy.optimize import minimize
from sklearn.linear_model import Ridge
from statsmodels.datasets import co2
from statsmodels.regression.recursive_ls import RecursiveLS

from descent.pictures.regression import recursive_least_squares as rs
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "01_regression/06_recursive_least_squares"
ref = notebook_module(NOTEBOOK, "reference")
SHAPES = pytest.mark.parametrize("d, m", [(1, 1), (3, 1), (3, 2), (2, 4)])


def normal(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


def covariance(d, seed=0):
    root = normal(d, d, seed=seed)
    return root @ root.mT + torch.eye(d)


def problem(d, m):
    return covariance(d), normal(m, d, seed=2), covariance(m, seed=1)


def stream(n=5, d=3, m=2):
    P, _, R = problem(d, m)
    return normal(d, seed=5), P, R, normal(n, m, seed=3), normal(n, m, d, seed=4)


def told(text, **moved):
    """The facts that the notebook's own explorer tells with these controls."""
    return controls.explorer(NOTEBOOK, text, **moved).words.facts


# ---------------------------------------------------------------- one update


@SHAPES
def test_the_joseph_form_multiplied_out_is_the_joseph_form(d, m):
    P, X, R = problem(d, m)
    K = normal(d, m, seed=6)
    A = torch.eye(d) - K @ X
    torch.testing.assert_close(ref.joseph_update(P, K, X, R), A @ P @ A.mT + K @ R @ K.mT)
    np.testing.assert_allclose(ref.joseph_update(P, K, X, R), rs.joseph(*map(np.asarray, (P, K, X, R))))  # fmt: skip


def test_joseph_is_the_covariance_of_simulated_errors(rng):
    P, X, R = (a.numpy() for a in problem(2, 1))
    K = normal(2, 1, seed=6).numpy()
    before = rng.multivariate_normal(np.zeros(2), P, 200_000)
    errors = before @ (np.eye(2) - K @ X).T - rng.normal(size=(200_000, 1)) * R**0.5 @ K.T
    expected = ref.joseph_update(*map(torch.from_numpy, (P, K, X, R))).numpy()
    np.testing.assert_allclose(np.cov(errors.T), expected, atol=0.02 * np.trace(expected))


@SHAPES
def test_no_gain_found_by_scipy_has_a_smaller_trace(d, m):
    P, X, R = problem(d, m)

    def trace(flat):
        return ref.joseph_update(P, torch.from_numpy(flat).reshape(d, m), X, R).trace().item()

    found = minimize(trace, np.zeros(d * m), tol=1e-10).x.reshape(d, m)
    np.testing.assert_allclose(ref.optimal_gain(P, X, R), found, atol=2e-4)


# ---------------------------------------------------------------- streams


def test_a_constant_is_a_normal_posterior_on_a_grid():
    y, grid = np.array([1.0, 2.5]), np.linspace(-15, 15, 60_001)
    estimates, gains = ref.scalar_stream(torch.from_numpy(y), 0.3, 2.0, 0.7)
    density = stats.norm.pdf(grid, 0.3, 2**0.5)
    for k, value in enumerate(y):
        density = density * stats.norm.pdf(value, grid, 0.7**0.5)
        density /= density.sum()
        assert estimates[k].item() == pytest.approx(density @ grid, abs=1e-8)
        variance = density @ (grid - density @ grid) ** 2  # K = P R⁻¹, with the new P
        assert gains[k].item() == pytest.approx(variance / 0.7, abs=1e-8)


@pytest.mark.parametrize("order", [0, 1, 3])
def test_polynomials_are_scikit_learns_ridge(order):
    t, y = normal(9), normal(9, seed=1)
    theta, P = ref.polynomial_posterior(t, y, order, 0.5, 2.0)
    rows = t.numpy()[:, None] ** np.arange(order + 1)
    model = Ridge(0.5 / 2.0, fit_intercept=False, solver="svd").fit(rows, y)
    np.testing.assert_allclose(theta, model.coef_)
    np.testing.assert_allclose(P, np.linalg.inv(rows.T @ rows / 0.5 + np.eye(order + 1) / 2))


def test_the_vague_limit_is_numpys_polyfit():
    t, y = normal(12), normal(12, seed=1)
    theta, P = ref.polynomial_posterior(t, y, 2, 0.5, 1e8)
    coefficients, unscaled = np.polyfit(t, y, 2, cov="unscaled")
    np.testing.assert_allclose(theta, coefficients[::-1], rtol=1e-6)
    np.testing.assert_allclose(P, 0.5 * unscaled[::-1, ::-1], rtol=1e-6, atol=1e-9)


def test_a_history_is_that_of_the_recursion():
    theta, P, R, y, X = given = stream()
    found = ref.history(*given)
    for k, (value, rows) in enumerate(zip(y, X, strict=True)):
        S = rows @ P @ rows.mT + R
        K, innovation = P @ rows.mT @ torch.linalg.inv(S), value - rows @ theta
        theta, A = theta + K @ innovation, torch.eye(3) - K @ rows
        P = A @ P @ A.mT + K @ R @ K.mT
        for name, now in (("gains", K), ("innovations", innovation), ("spreads", S)):
            torch.testing.assert_close(found[name][k], now)
        torch.testing.assert_close(found["estimates"][k + 1], theta)
        torch.testing.assert_close(found["covariances"][k + 1], P)


def test_a_stream_ends_at_weighted_least_squares_with_a_prior():
    theta0, P0, R, y, X = (a.numpy() for a in stream(n=20))
    weight = np.linalg.inv(block_diag(P0, *[R] * 20))
    rows, target = np.vstack([np.eye(3), *X]), np.concatenate([theta0, y.ravel()])
    batch = np.linalg.solve(rows.T @ weight @ rows, rows.T @ weight @ target)
    np.testing.assert_allclose(ref.history(*stream(n=20))["estimates"][-1], batch, rtol=1e-9)


def test_a_vague_stream_is_statsmodels_recursive_least_squares():
    X, y = normal(30, 2), normal(30, seed=1)
    theirs = RecursiveLS(y.numpy(), X.numpy()).fit().recursive_coefficients.filtered.T
    vague = torch.zeros(2).double(), 1e7 * torch.eye(2).double(), torch.eye(1).double()
    found = ref.history(*vague, y[:, None], X[:, None])
    np.testing.assert_allclose(found["estimates"][3:], theirs[2:], rtol=1e-4, atol=1e-5)


def test_the_short_form_has_the_same_history_but_for_rounding():
    expected = ref.history(*stream())
    for name, entries in ref.short_history(*stream()).items():
        torch.testing.assert_close(entries, expected[name])
    P0 = 2.0**27 * torch.tensor([[1, 0.5], [0.5, 1]])
    X, y = torch.tensor([[1.0, 0]]).expand(3, 1, 2), normal(3, 1).float()
    deaf = ref.short_history(torch.zeros(2), P0, torch.ones(1, 1), y, X)
    assert torch.all(deaf["covariances"][1:, 0] == 0)
    assert torch.equal(deaf["estimates"][1:, 0], y[:1, 0].expand(3))


@pytest.mark.parametrize("window", [1, 3, 7])
@pytest.mark.parametrize("limit", [0.5, 1.2, 2.0, 9.0])
def test_the_first_alarm_is_that_of_a_plain_loop(window, limit):
    e, S = normal(30, seed=window), normal(30).square() + 0.5
    quotients = (e**2 / S).tolist()
    rings = [k for k in range(window, 31) if np.mean(quotients[k - window : k]) > limit]
    assert ref.first_above(e, S, window, limit).item() == (rings[0] if rings else 0)


@pytest.mark.parametrize("lam", [0.1, 0.5, 0.9])
def test_forgetting_is_scikit_learns_weighted_ridge(lam):
    rows, y = normal(7, 2), normal(7, seed=1)
    fits = ref.forgetting_fits(rows, y, lam, 0.6)
    for k in range(1, 8):
        weight = lam * (1 - lam) ** np.arange(k - 1, -1, -1)
        model = Ridge(0.6 * (1 - lam) ** k, fit_intercept=False, solver="svd")
        model.fit(rows[:k].numpy(), y[:k].numpy(), sample_weight=weight)
        np.testing.assert_allclose(fits[k - 1], model.coef_, rtol=1e-6)


# ---------------------------------------------------------------- Mauna Loa


def test_the_years_are_the_means_of_the_weekly_record():
    months = co2.load_pandas().data["co2"].resample("MS").mean().interpolate()
    means = months[months.index.year >= 1959].groupby(lambda day: day.year).mean()
    years, ppm = rs.mauna_loa()
    assert years.tolist() == means.index.tolist()
    np.testing.assert_allclose(ppm, means, atol=0.0501)


def test_the_chips_forecast_is_the_line_through_the_years_before():
    years, ppm = rs.mauna_loa()
    t = (years - 1959) / 10
    told = rs.chip(np.column_stack([np.ones(43), t]), ppm)
    for k in (5, 20, 42):
        (slope, offset), unscaled = np.polyfit(t[:k], ppm[:k], 1, cov="unscaled")
        assert told["forecast"][k] == pytest.approx(offset + slope * t[k], abs=0.01)
        x = np.array([t[k], 1.0])
        assert told["sd"][k] == pytest.approx(0.5 * np.sqrt(1 + x @ unscaled @ x), rel=1e-3)


def test_the_first_screen_counts_the_forecasts_that_are_too_low():
    y, forecast = np.arange(30.0), np.arange(30.0) - 1
    forecast[12] = 13.0
    (facts,) = rs.draw_forecasts(np.arange(30), y, {"one": dict(forecast=forecast)})[1].facts["told"]  # fmt: skip
    assert (facts.facts["run"], facts.facts["rms"]) == (17, pytest.approx(1.0))


# ---------------------------------------------------------------- the laboratory


def test_an_ellipse_lies_at_two_standard_deviations():
    P = np.array([[2.0, 0.7], [0.7, 0.5]])
    away = rs.ellipse([1.0, -1.0], P) - np.array([[1.0], [-1.0]])
    np.testing.assert_allclose(np.einsum("in,ij,jn->n", away, np.linalg.inv(P), away), 4)


def test_the_share_of_errors_inside_is_by_their_own_covariance(rng):
    P = np.array([[2.0, 0.7], [0.7, 0.5]])
    facts = rs.draw_errors(rng.multivariate_normal([0, 0], P, 20_000), P)[1].facts
    assert facts["inside"] == pytest.approx(stats.chi2.cdf(4, 2), abs=0.01)
    assert facts["law"] == pytest.approx(stats.chi2.cdf(4, 2))
    small = rs.draw_errors(rng.multivariate_normal([0, 0], P, 20_000), P / 2)[1].facts
    assert small["inside"] == pytest.approx(stats.chi2.cdf(2, 2), abs=0.01)


def test_readings_of_a_line_end_at_ridge():
    t, y = rs.line_stream(20)
    at = rs.reading(20, 0.3, 2.0)
    rows = np.column_stack([np.ones(21), [*t, 0.3]])
    model = Ridge(0.25 / 10, fit_intercept=False, solver="svd").fit(rows, [*y, 2.0])
    np.testing.assert_allclose(at["new"], model.coef_)
    np.testing.assert_allclose(at["new_P"], np.linalg.inv(rows.T @ rows / 0.25 + np.eye(2) / 10))


def test_a_reading_dragged_upward_moves_the_line_and_not_the_ellipse():
    low, high = (told("reading_explorer", y=y) for y in (0.0, 3.0))
    assert low["area"] == high["area"] and high["moved"] > low["moved"] + 1
    assert told("reading_explorer", t=-1)["area"] != low["area"]


def test_the_same_drag_moves_a_line_of_many_readings_less():
    moved = []
    for before in (1, 3, 10, 60):
        up, down = (told("reading_explorer", before=before, y=y)["moved"] for y in (3, 0))
        moved.append(up - down)
    assert np.all(np.diff(moved) < 0) and moved[-1] < 0.2


def test_a_reading_far_from_the_others_teaches_most():
    areas = {t: told("reading_explorer", before=60, t=t)["area"] for t in (-1, 0, 1)}
    assert max(areas[-1], areas[1]) < areas[0]


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


@pytest.mark.parametrize("lam", [0.05, 0.1, 0.5])
def test_what_is_measured_is_what_the_formulas_say(lam):
    facts = told("drift_explorer", lam=lam)
    assert facts["seen"] == pytest.approx(facts["lag"] + facts["variance"], rel=0.25)


def test_half_the_drift_wants_a_memory_less_than_twice_as_long():
    fast, slow = (told("drift_explorer", speed=speed)["best"] for speed in (0.04, 0.02))
    assert fast / slow == pytest.approx(2 ** (2 / 3), rel=0.1)
    assert told("drift_explorer", speed=0)["best"] < 0.035


def test_forgetting_winds_up_by_compound_interest():
    never, slow, fast = (one.facts for one in rs.draw_windup()[1].facts["told"])
    assert fast["end"] / fast["start"] == pytest.approx(0.8**-60, rel=0.3)
    assert never["end"] < never["start"] and fast["gain"] > 90 > 1 > abs(never["gain"])


# ---------------------------------------------------------------- deeper


def test_the_ratio_goes_from_the_prior_to_the_running_mean():
    sure, even, vague = (told("scalar_explorer", log_ratio=r) for r in (-4, 0, 4))
    assert sure["estimate"] < 0.05 and sure["guess"] == pytest.approx(1 / 1.004)
    assert (even["first"], even["guess"]) == (0.5, pytest.approx(1 / 41))
    assert vague["estimate"] == pytest.approx(vague["mean"], abs=1e-3)


def test_the_band_narrows_as_points_come():
    ends = [told("polynomial_explorer", points=n)["end"] for n in (2, 5, 10, 20, 40)]
    assert np.all(np.diff(ends) < 0)
    assert "missed" not in told("polynomial_explorer", points=40)


def test_a_line_is_ahead_by_luck_and_pays_for_it():
    missed = {
        (points, order): told("polynomial_explorer", points=points, order=order)["missed"]
        for points in (20, 31, 36)
        for order in (1, 3)
    }
    assert missed[20, 3] < missed[20, 1] / 2 and missed[31, 1] < missed[31, 3]
    assert missed[36, 1] > 2 * missed[36, 3]


def test_in_float32_the_short_form_goes_deaf_and_joseph_does_not():
    estimates, covariances, _ = rs.precise_sensor(False, np.float32)
    assert np.all(covariances[:, 0, 0] == 0) and np.all(estimates == estimates[0])
    estimates, covariances, y = rs.precise_sensor(True, np.float32)
    k = np.arange(1, 41)
    np.testing.assert_allclose(covariances[:, 0, 0], 1 / k, rtol=1e-4)
    np.testing.assert_allclose(estimates, np.cumsum(y) / k, rtol=1e-4)
    short, joseph = (rs.precise_sensor(form, np.float64)[0] for form in (False, True))
    np.testing.assert_allclose(short, joseph, rtol=1e-6)


def test_a_rounded_gain_breaks_the_symmetry_of_the_short_form_alone():
    assert rs.rounded_gain(False).max() > 1e-5 > 1e-6 > rs.rounded_gain(True).max()

"""References of recursive least squares against statsmodels, SciPy, scikit-learn, autograd and plain loops."""

import re

import numpy as np
import pytest
import torch
from ipywidgets import FloatLogSlider, FloatSlider, IntSlider
from scipy import stats
from scipy.linalg import block_diag
from scipy.optimize import minimize
from sklearn.linear_model import Ridge
from statsmodels.regression.recursive_ls import RecursiveLS

from descent import data
from descent.pictures.regression import recursive_least_squares as rs
from descent.widgets import Clock, Explorer
from solutions import notebook_module

ref = notebook_module("01_regression/06_recursive_least_squares", "reference")


DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)
SHAPES = pytest.mark.parametrize("d, m", [(1, 1), (3, 1), (3, 2), (2, 4)])


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=2e-3, atol=2e-4)
    return dict(rtol=1e-9, atol=1e-10)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def covariance(*shape, dtype=torch.float64, seed=0):
    """Symmetric positive definite matrices (*batch, d, d)."""
    root = normal(*shape, shape[-1], seed=seed)
    return (root @ root.mT + torch.eye(shape[-1])).to(dtype)


def problem(d, m, batch=(), dtype=torch.float64):
    P, R = covariance(*batch, d, dtype=dtype), covariance(*batch, m, dtype=dtype, seed=1)
    return P, normal(*batch, m, d, dtype=dtype, seed=2), R


def stream(n=5, d=3, m=2, batch=(), dtype=torch.float64):
    P, _, R = problem(d, m, batch, dtype)
    y, X = normal(*batch, n, m, dtype=dtype, seed=3), normal(*batch, n, m, d, dtype=dtype, seed=4)
    return normal(*batch, d, dtype=dtype, seed=5), P, R, y, X


# ---------------------------------------------------------------- one update


@DTYPES
@BATCHES
@SHAPES
def test_the_lemma_is_the_inverse_it_stands_for(d, m, batch, dtype):
    A, D = covariance(*batch, d, dtype=dtype), covariance(*batch, m, dtype=dtype, seed=1)
    B, C = normal(*batch, d, m, dtype=dtype, seed=2), normal(*batch, d, m, dtype=dtype, seed=2).mT
    inverse = ref.woodbury(torch.linalg.inv(A), B, -C, D)
    assert inverse.dtype == dtype
    expected = torch.linalg.inv(A + B @ torch.linalg.inv(D) @ C)
    torch.testing.assert_close(inverse, expected, **tolerance(dtype))


@DTYPES
@BATCHES
@SHAPES
def test_the_joseph_form_multiplied_out_is_the_joseph_form(d, m, batch, dtype):
    P, X, R = problem(d, m, batch, dtype)
    K = normal(*batch, d, m, dtype=dtype, seed=6)
    A = torch.eye(d, dtype=dtype) - K @ X
    new = ref.joseph_update(P, K, X, R)
    assert new.dtype == dtype
    torch.testing.assert_close(new, A @ P @ A.mT + K @ R @ K.mT, **tolerance(dtype))


def test_joseph_is_the_covariance_of_simulated_errors(rng):
    P, X, R = problem(2, 1)
    K = normal(2, 1, seed=6)
    before = rng.multivariate_normal(np.zeros(2), P.numpy(), 200_000)
    noise = rng.normal(size=(200_000, 1)) * R.sqrt().item()
    errors = before @ (np.eye(2) - K.numpy() @ X.numpy()).T - noise @ K.numpy().T
    expected = ref.joseph_update(P, K, X, R).numpy()
    np.testing.assert_allclose(np.cov(errors.T), expected, atol=0.02 * np.trace(expected))


@pytest.mark.parametrize("seed", range(5))
def test_joseph_stays_positive_semidefinite_for_any_gain(seed):
    P, X, R = problem(3, 2)
    new = ref.joseph_update(P, 5 * normal(3, 2, seed=seed), X, R)
    assert torch.linalg.eigvalsh(new).min() > 0


@SHAPES
def test_no_gain_found_by_scipy_has_a_smaller_trace(d, m):
    P, X, R = problem(d, m)

    def trace(flat):
        K = torch.from_numpy(flat).reshape(d, m)
        return torch.trace(ref.joseph_update(P, K, X, R)).item()

    found = minimize(trace, np.zeros(d * m), tol=1e-10).x.reshape(d, m)
    np.testing.assert_allclose(ref.optimal_gain(P, X, R), found, atol=2e-4)


@DTYPES
@BATCHES
def test_the_derivative_of_the_trace_vanishes_at_the_optimal_gain(batch, dtype):
    P, X, R = problem(3, 2, batch, dtype)
    K = ref.optimal_gain(P, X, R).requires_grad_()
    A = torch.eye(3, dtype=dtype) - K @ X
    J = (A @ P @ A.mT + K @ R @ K.mT).diagonal(dim1=-2, dim2=-1).sum()
    (slope,) = torch.autograd.grad(J, K)
    assert slope.abs().max() < (1e-3 if dtype == torch.float32 else 1e-10)


@DTYPES
@BATCHES
@SHAPES
def test_information_adds(d, m, batch, dtype):
    P, X, R = problem(d, m, batch, dtype)
    by_numpy = np.linalg.inv(
        np.linalg.inv(P.double().numpy())
        + X.double().mT.numpy() @ np.linalg.solve(R.double().numpy(), X.double().numpy())
    )
    new = ref.info_update(P, X, R)
    assert new.dtype == dtype
    torch.testing.assert_close(new, torch.from_numpy(by_numpy).to(dtype), **tolerance(dtype))
    K = ref.optimal_gain(P, X, R)
    torch.testing.assert_close(new, ref.joseph_update(P, K, X, R), **tolerance(dtype))
    torch.testing.assert_close(new @ X.mT @ torch.linalg.inv(R), K, **tolerance(dtype))


# ---------------------------------------------------------------- a constant


@DTYPES
@BATCHES
def test_a_constant_is_estimated_as_by_a_loop(batch, dtype):
    y = 3 + normal(*batch, 6, dtype=dtype)
    estimates, gains = ref.scalar_stream(y, 1.0, 4.0, 2.0)
    assert estimates.shape == gains.shape == (*batch, 6) and estimates.dtype == dtype
    theta, P = torch.full(batch, 1.0, dtype=dtype), 4.0
    for k in range(6):
        K = P / (P + 2.0)
        theta, P = theta + K * (y[..., k] - theta), (1 - K) * P
        torch.testing.assert_close(estimates[..., k], theta, **tolerance(dtype))
        torch.testing.assert_close(gains[..., k], torch.full(batch, K, dtype=dtype))


def test_the_gains_of_the_notes():
    _, gains = ref.scalar_stream(torch.zeros(3, dtype=torch.float64), 0.0, 4.0, 1.0)
    assert [round(gain, 3) for gain in gains.tolist()] == [0.8, 0.444, 0.308]


def test_certainty_ignores_the_data_and_ignorance_averages_them():
    y = normal(7)
    assert ref.scalar_stream(y, 5.0, 0.0, 1.0)[0].tolist() == [5.0] * 7
    mean = y.cumsum(0) / torch.arange(1, 8)
    torch.testing.assert_close(ref.scalar_stream(y, 5.0, 1e12, 1.0)[0], mean)
    estimates = [ref.scalar_stream(z, 5.0, 2.0, 1.0)[0][-1] for z in (y, y.flip(0))]
    torch.testing.assert_close(*estimates)


# ---------------------------------------------------------------- curves


@DTYPES
@BATCHES
@pytest.mark.parametrize("order", [0, 1, 3])
def test_polynomials_are_scikit_learns_ridge(order, batch, dtype):
    t, y = normal(*batch, 9, dtype=dtype), normal(*batch, 9, dtype=dtype, seed=1)
    theta, P = ref.polynomial_posterior(t, y, order, 0.5, 2.0)
    assert P.shape == (*batch, order + 1, order + 1) and theta.dtype == dtype
    for times, values, got in zip(
        t.reshape(-1, 9), y.reshape(-1, 9), theta.reshape(-1, order + 1), strict=True
    ):
        rows = times.double().numpy()[:, None] ** np.arange(order + 1)
        model = Ridge(0.5 / 2.0, fit_intercept=False).fit(rows, values.double().numpy())
        np.testing.assert_allclose(got, model.coef_, **tolerance(dtype))


def test_the_vague_limit_is_numpys_polyfit():
    t, y = normal(12), normal(12, seed=1)
    theta, P = ref.polynomial_posterior(t, y, 2, 0.5, 1e8)
    coefficients, unscaled = np.polyfit(t, y, 2, cov="unscaled")
    np.testing.assert_allclose(theta, coefficients[::-1], rtol=1e-6)
    np.testing.assert_allclose(P, 0.5 * unscaled[::-1, ::-1], rtol=1e-6, atol=1e-9)


# ---------------------------------------------------------------- streams


def test_conditioning_is_a_normal_posterior_on_a_grid():
    """One parameter, two measurements: the mean and variance of prior times likelihood, summed."""
    y, X = torch.tensor([[1.0], [2.5]]).double(), torch.tensor([[[1.0]], [[-0.5]]]).double()
    theta, P = ref.conditioned(
        torch.tensor([0.3]).double(), torch.tensor([[2.0]]).double(), torch.tensor([[0.7]]).double(), y, X
    )  # fmt: skip
    grid = np.linspace(-15, 15, 60_001)
    density = stats.norm.pdf(grid, 0.3, 2**0.5)
    for value, x in zip(y.ravel().numpy(), X.ravel().numpy(), strict=True):
        density = density * stats.norm.pdf(value, x * grid, 0.7**0.5)
    density /= density.sum()
    mean = density @ grid
    assert theta.item() == pytest.approx(mean, abs=1e-8)
    assert P.item() == pytest.approx(density @ (grid - mean) ** 2, abs=1e-8)


@DTYPES
@BATCHES
def test_a_history_is_that_of_the_recursion(batch, dtype):
    theta0, P0, R, y, X = stream(batch=batch, dtype=dtype)
    found = ref.history(theta0, P0, R, y, X)
    theta, P = theta0, P0
    for k in range(5):
        rows = X[..., k, :, :]
        K = P @ rows.mT @ torch.linalg.inv(rows @ P @ rows.mT + R)
        innovation = y[..., k, :] - (rows @ theta.unsqueeze(-1)).squeeze(-1)
        theta = theta + (K @ innovation.unsqueeze(-1)).squeeze(-1)
        A = torch.eye(3, dtype=dtype) - K @ rows
        P = A @ P @ A.mT + K @ R @ K.mT
        torch.testing.assert_close(found["estimates"][..., k + 1, :], theta, **tolerance(dtype))
        torch.testing.assert_close(found["covariances"][..., k + 1, :, :], P, **tolerance(dtype))
        torch.testing.assert_close(found["gains"][..., k, :, :], K, **tolerance(dtype))
        torch.testing.assert_close(found["innovations"][..., k, :], innovation, **tolerance(dtype))
    assert found["estimates"].shape == (*batch, 6, 3) and found["gains"].dtype == dtype


def test_a_stream_ends_at_weighted_least_squares_with_a_prior():
    theta0, P0, R, y, X = (a.numpy() for a in stream(n=20))
    weight = np.linalg.inv(block_diag(P0, *[R] * 20))
    rows, target = np.vstack([np.eye(3), *X]), np.concatenate([theta0, y.ravel()])
    batch = np.linalg.solve(rows.T @ weight @ rows, rows.T @ weight @ target)
    found = ref.history(*stream(n=20))
    np.testing.assert_allclose(found["estimates"][-1], batch, rtol=1e-9)


def test_a_vague_stream_is_statsmodels_recursive_least_squares():
    X, y = normal(30, 2), normal(30, seed=1)
    model = RecursiveLS(y.numpy(), X.numpy()).fit()
    found = ref.history(
        torch.zeros(2).double(), 1e7 * torch.eye(2).double(), torch.eye(1).double(), y[:, None], X[:, None]
    )  # fmt: skip
    theirs = model.recursive_coefficients.filtered.T
    np.testing.assert_allclose(found["estimates"][3:], theirs[2:], rtol=1e-4, atol=1e-5)


def test_a_certain_prior_never_moves():
    theta0, P0, R, y, X = stream()
    found = ref.history(theta0, 0 * P0, R, y, X)
    assert torch.equal(found["estimates"], theta0.expand(6, 3)) and not found["gains"].any()


# ---------------------------------------------------------------- forgetting


@DTYPES
@BATCHES
@pytest.mark.parametrize("lam", [0.1, 0.5, 0.9])
def test_forgetting_is_scikit_learns_weighted_ridge(lam, batch, dtype):
    rows, y = normal(*batch, 7, 2, dtype=dtype), normal(*batch, 7, dtype=dtype, seed=1)
    fits = ref.forgetting_fits(rows, y, lam, 0.6)
    assert fits.shape == (*batch, 7, 2) and fits.dtype == dtype
    for A, b, W in zip(
        rows.reshape(-1, 7, 2), y.reshape(-1, 7), fits.reshape(-1, 7, 2), strict=True
    ):
        for k in range(1, 8):
            weight = lam * (1 - lam) ** np.arange(k - 1, -1, -1)
            model = Ridge(0.6 * (1 - lam) ** k, fit_intercept=False)
            model.fit(A[:k].double().numpy(), b[:k].double().numpy(), sample_weight=weight)
            np.testing.assert_allclose(W[k - 1], model.coef_, **tolerance(dtype))


@BATCHES
def test_in_double_precision_the_short_form_has_the_same_history(batch):
    given = stream(batch=batch)
    expected = ref.history(*given)
    for name, list_ in ref.short_history(*given).items():
        torch.testing.assert_close(list_, expected[name])


def test_in_single_precision_the_short_form_goes_deaf():
    single = torch.float32
    P0 = 2.0**27 * torch.tensor([[1, 0.5], [0.5, 1]])
    X, y = torch.tensor([[1.0, 0]]).expand(3, 1, 2), normal(3, 1, dtype=single)
    told = ref.short_history(torch.zeros(2), P0, torch.ones(1, 1), y, X)
    assert torch.all(told["covariances"][1:, 0] == 0)
    torch.testing.assert_close(told["estimates"][1:, 0], y[:1, 0].expand(3), rtol=0, atol=0)


def test_forgetting_follows_the_recursion_of_the_notes():
    rows, y, lam, b = normal(8, 3), normal(8, seed=1), 0.3, 0.6
    fits, w, inverse = (
        ref.forgetting_fits(rows, y, lam, b),
        torch.zeros(3).double(),
        torch.eye(3) / b,
    )
    inverse = inverse.double()
    for k, (p, value) in enumerate(zip(rows, y, strict=True)):
        g = inverse @ p
        A = lam * (1 - lam) / (lam * p @ g + 1 - lam)
        w = w + lam * g * (value - p @ w) / (lam * p @ g + 1 - lam)
        inverse = inverse / (1 - lam) - A * torch.outer(g, g) / (1 - lam) ** 2
        torch.testing.assert_close(fits[k], w)


def test_a_tiny_weight_is_ridge_on_all_rows_and_one_half_is_not():
    rows, y = normal(20, 3), normal(20, seed=1)
    batch = Ridge(0.5, fit_intercept=False).fit(rows.numpy(), y.numpy()).coef_
    np.testing.assert_allclose(ref.forgetting_fits(rows, y, 1e-7, 0.5e-7)[-1], batch, atol=1e-5)
    assert np.abs(ref.forgetting_fits(rows, y, 0.5, 0.5)[-1].numpy() - batch).max() > 0.05


# ------------------------------------------------------------ what it draws


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
def stream_widget():
    controls = dict(
        step=Clock(1, min=0, max=60, description="step k"),
        log_P0=FloatSlider(1, min=-2, max=3, step=0.5),
    )
    return Explorer(rs.stream_explorer(gain, joseph), controls)


def test_time_shrinks_the_covariance(stream_widget):
    def trace():
        return float(re.search(r"trace of P (-?\d+\.\d+)", stream_widget.words)[1])

    traces = []
    for step in (0, 1, 5, 20, 60):
        stream_widget.controls["step"].slider.value = step
        assert stream_widget.words.startswith(f"After {step} measurement")
        traces.append(trace())
    assert traces[0] == 20 and np.all(np.diff(traces) < 0)


def test_the_player_moves_the_picture(stream_widget):
    before = stream_widget.picture.value
    stream_widget.controls["step"].play.value = 2
    assert "After 2 measurements" in stream_widget.words and stream_widget.picture.value != before


def test_a_prior_that_is_too_sure_misses_the_truth(stream_widget):
    stream_widget.controls["step"].value = 10
    stream_widget.controls["log_P0"].value = -2
    offset = numbers(stream_widget.words)[1]
    assert offset < 0.5  # the truth is 1
    stream_widget.controls["log_P0"].value = 1
    assert abs(numbers(stream_widget.words)[1] - 1) < 0.3


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
        step=Clock(80, min=1, max=200, description="step k"),
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

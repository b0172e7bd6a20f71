"""Ridge, lasso, prior and early-stopping references against scikit-learn, SciPy, torch and brute force."""

import re

import numpy as np
import pytest
import torch
from ipywidgets import Dropdown, FloatSlider, IntSlider
from scipy import integrate, stats
from scipy.optimize import minimize
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from statsmodels.regression.linear_model import OLS

from descent import data
from descent.pictures.regression import ridge_and_lasso as rl
from descent.widgets import Explorer
from solutions import notebook_module

ref = notebook_module("01_regression/03_ridge_and_lasso", "reference")


DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)
SHAPES = pytest.mark.parametrize("n, d", [(9, 3), (3, 6), (4, 4), (1, 2)])


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=2e-3, atol=2e-4)
    return dict(rtol=1e-8, atol=1e-10)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def each(X, y):
    """The problems of a batch as NumPy arrays in float64."""
    X, y = X.double().numpy(), y.double().numpy()
    yield from zip(X.reshape(-1, *X.shape[-2:]), y.reshape(-1, y.shape[-1]), strict=True)


def stack(rows, like):
    return torch.from_numpy(np.array(rows)).reshape(like.shape).to(like.dtype)


# ---------------------------------------------------------------- ridge


def test_ridge_without_penalty_is_least_squares():
    X, y = normal(10, 3), normal(10, seed=1) + 4
    w, b = ref.ridge_with_offset(X, y, 0.0)
    fitted = OLS(y.numpy(), np.column_stack([np.ones(10), X.numpy()])).fit().params
    np.testing.assert_allclose(np.append(b, w), fitted, rtol=1e-9)


def test_ridge_offset_takes_every_shift():
    X, y = normal(8, 3), normal(8, seed=1)
    w, b = ref.ridge_with_offset(X, y, 2.0)
    shifted, moved = ref.ridge_with_offset(X + 10, y + 100, 2.0)
    torch.testing.assert_close(shifted, w)
    torch.testing.assert_close(moved, b + 100 - 10 * w.sum())


@DTYPES
@BATCHES
@SHAPES
def test_path_is_scikit_learns_and_the_minimum_norm_at_zero(batch, n, d, dtype):
    X, y = normal(*batch, n, d, dtype=dtype), normal(*batch, n, dtype=dtype, seed=1)
    lams = torch.tensor([0.0, 0.3, 5.0], dtype=dtype)
    path = ref.ridge_path(X, y, lams)
    expected = [
        [np.linalg.pinv(A) @ t]
        + [Ridge(lam, fit_intercept=False, solver="svd").fit(A, t).coef_ for lam in (0.3, 5.0)]
        for A, t in each(X, y)
    ]
    assert path.shape == (*batch, 3, d) and path.dtype == dtype
    loose = dict(rtol=2e-2, atol=2e-3) if dtype == torch.float32 else dict(rtol=1e-6, atol=1e-8)
    torch.testing.assert_close(path, stack(expected, path), **loose)


def test_path_with_twin_columns_shares_between_them():
    X, y = normal(7, 2), normal(7, seed=1)
    X = torch.cat([X, X[:, :1]], -1)
    path = ref.ridge_path(X, y, torch.tensor([0.0, 1.0], dtype=torch.float64))
    torch.testing.assert_close(path[:, 0], path[:, 2])
    np.testing.assert_allclose(path[0], np.linalg.pinv(X.numpy()) @ y.numpy(), rtol=1e-8)


@pytest.mark.parametrize("lam", [0.01, 1.0, 100.0])
def test_path_shrinks_each_direction_by_its_factor(lam):
    X, y = normal(9, 4), normal(9, seed=1)
    U, s, Vt = np.linalg.svd(X.numpy(), full_matrices=False)
    w = ref.ridge_path(X, y, torch.tensor([lam], dtype=torch.float64))[0].numpy()
    free = np.linalg.lstsq(X.numpy(), y.numpy(), rcond=None)[0]
    np.testing.assert_allclose(Vt @ w, s**2 / (s**2 + lam) * (Vt @ free), rtol=1e-9)


@DTYPES
@BATCHES
@SHAPES
@pytest.mark.parametrize("lam", [0.2, 30.0])
def test_dual_equals_primal(batch, n, d, lam, dtype):
    X, y = normal(*batch, n, d, dtype=dtype), normal(*batch, n, dtype=dtype, seed=1)
    alpha = ref.dual_weights(X, y, lam)
    w = (X.mT @ alpha.unsqueeze(-1)).squeeze(-1)
    expected = [
        Ridge(lam, fit_intercept=False, solver="cholesky").fit(A, t).coef_ for A, t in each(X, y)
    ]
    assert alpha.shape == y.shape and alpha.dtype == dtype
    torch.testing.assert_close(w, stack(expected, w), **tolerance(dtype))
    residual = y - (X @ w.unsqueeze(-1)).squeeze(-1)
    torch.testing.assert_close(alpha * lam, residual, **tolerance(dtype))


# ---------------------------------------------------------------- priors


@DTYPES
@BATCHES
@pytest.mark.parametrize("prior", ["flat", "gaussian", "laplace"])
def test_posterior_is_the_product_of_scipys_densities(batch, prior, dtype):
    X, y = normal(*batch, 6, 3, dtype=dtype), normal(*batch, 6, dtype=dtype, seed=1)
    w, b = normal(*batch, 3, dtype=dtype, seed=2), normal(*batch, dtype=dtype, seed=3)
    got = ref.negative_log_posterior(w, b, X, y, 0.7, prior, 1.8)
    law = {"gaussian": stats.norm(scale=1.8), "laplace": stats.laplace(scale=1.8 / np.sqrt(2))}
    expected = []
    for (A, t), v, c in zip(each(X, y), w.reshape(-1, 3).double(), b.reshape(-1), strict=True):
        value = -stats.norm.logpdf(t, A @ v.numpy() + c.item(), 0.7).sum()
        expected.append(value - (law[prior].logpdf(v.numpy()).sum() if prior in law else 0))
    assert got.shape == batch and got.dtype == dtype
    torch.testing.assert_close(got, stack(expected, got), **tolerance(dtype))


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_both_priors_have_the_standard_deviation_asked_for(prior):
    empty = torch.zeros(0, 1, dtype=torch.float64), torch.zeros(0, dtype=torch.float64)

    def density(v):
        w = torch.tensor([v], dtype=torch.float64)
        return np.exp(-ref.negative_log_posterior(w, 0.0, *empty, 1.0, prior, 0.6).item())

    total, variance = (
        2 * integrate.quad(lambda v, k=k: v**k * density(v), 0, 30, limit=200, points=[0.5, 2])[0]
        for k in (0, 2)
    )
    assert total == pytest.approx(1) and variance == pytest.approx(0.36)


def test_offset_has_a_flat_prior():
    X, y, w = normal(6, 2), normal(6, seed=1), normal(2, seed=2)
    values = [ref.negative_log_posterior(w, c, X, y + c, 0.7, "gaussian", 1.0) for c in (0.0, 50.0)]
    torch.testing.assert_close(*values)


@pytest.mark.parametrize("prior, model", [("gaussian", Ridge), ("laplace", Lasso)])
def test_posterior_mode_is_scikit_learns_fit(prior, model, rng):
    X = rng.normal(size=(20, 3))
    y = X @ [2.0, -1.0, 0.5] + 3 + rng.normal(size=20)
    lam = ref.prior_to_lambda(1.2, prior, 0.9)
    fit = model(lam / (20 if model is Lasso else 1), tol=1e-12).fit(X, y)

    def objective(v):
        return ref.negative_log_posterior(
            torch.from_numpy(v[:3]), v[3], torch.from_numpy(X), torch.from_numpy(y), 1.2, prior, 0.9
        ).item()

    found = minimize(
        objective, np.append(fit.coef_, fit.intercept_) + 0.1, method="Nelder-Mead",
        options=dict(xatol=1e-9, fatol=1e-13, maxiter=20_000, maxfev=20_000, adaptive=True),
    )  # fmt: skip
    np.testing.assert_allclose(found.x, np.append(fit.coef_, fit.intercept_), atol=1e-4)


def test_a_flat_prior_is_maximum_likelihood(rng):
    X, y = rng.normal(size=(15, 2)), rng.normal(size=15)
    fit = LinearRegression().fit(X, y)
    w = torch.tensor(fit.coef_, requires_grad=True)
    b = torch.tensor(fit.intercept_, requires_grad=True)
    arguments = torch.from_numpy(X), torch.from_numpy(y), 0.8, "flat", 1.0
    ref.negative_log_posterior(w, b, *arguments).backward()
    assert w.grad.abs().max() < 1e-10 and b.grad.abs() < 1e-10


# ---------------------------------------------------------------- the lasso


def test_soft_threshold_minimises():
    grid = torch.linspace(-4, 4, 80_001, dtype=torch.float64)
    for a in (-3.0, -0.2, 0.0, 1.0, 2.5):
        best = grid[(0.5 * (grid - a).square() + grid.abs()).argmin()]
        got = ref.soft_threshold(torch.tensor([a], dtype=torch.float64), 1.0)[0]
        assert abs(best - got) < 1e-4 + 1e-12


@DTYPES
@BATCHES
@pytest.mark.parametrize("lam", [0.05, 1.0, 4.0])
def test_lasso_is_scikit_learns_to_six_digits(batch, lam, dtype):
    X, y = normal(*batch, 12, 4, dtype=dtype), normal(*batch, 12, dtype=dtype, seed=1) * 2
    w = ref.lasso_sweeps(X, y, lam, 200)
    expected = [
        Lasso(lam / 12, fit_intercept=False, tol=1e-14, max_iter=100_000).fit(A, t).coef_
        for A, t in each(X, y)
    ]
    assert w.dtype == dtype
    bound = dict(rtol=0, atol=1e-6 if dtype == torch.float64 else 2e-4)
    torch.testing.assert_close(w, stack(expected, w), **bound)


def test_one_sweep_is_one_minimisation_a_coordinate():
    X, y, w = normal(8, 3), normal(8, seed=1) * 2, np.zeros(3)
    grid = np.linspace(-3, 3, 60_001)
    for j in range(3):
        rest = (y.numpy() - X.numpy() @ w + X.numpy()[:, j] * w[j])[:, None]
        costs = 0.5 * ((rest - X.numpy()[:, j, None] * grid) ** 2).sum(0) + 0.6 * np.abs(grid)
        w[j] = grid[costs.argmin()]
    np.testing.assert_allclose(ref.lasso_sweeps(X, y, 0.6, 1), w, atol=1.1e-4)


def test_sweeps_never_raise_the_objective():
    X, y = normal(10, 5), normal(10, seed=1)
    path = [ref.lasso_sweeps(X, y, 0.8, k) for k in range(12)]
    values = [0.5 * (y - X @ w).square().sum() + 0.8 * w.abs().sum() for w in path]
    assert all(b <= a + 1e-12 for a, b in zip(values, values[1:], strict=False))


def test_the_gap_vanishes_at_a_minimum_and_only_there():
    X, y = normal(10, 5), normal(10, seed=1)
    w = ref.lasso_sweeps(X, y, 0.8, 500)
    assert ref.lasso_gap(X, y, w, 0.8) < 1e-10 < ref.lasso_gap(X, y, w + 0.01, 0.8)
    assert (w == 0).any() and (w != 0).any()
    largest = (X.mT @ y).abs().max()
    nothing = torch.zeros(5, dtype=torch.float64)
    assert ref.lasso_gap(X, y, nothing, 1.001 * largest) == 0
    assert ref.lasso_gap(X, y, nothing, 0.999 * largest) > 0


def test_a_column_of_zeros_keeps_weight_zero():
    X = normal(6, 3) * torch.tensor([1.0, 0.0, 1.0])
    assert ref.lasso_sweeps(X, normal(6, seed=1), 0.1, 5)[1] == 0


# ---------------------------------------------------------------- early stopping


def literal_rule(losses, patience, min_delta):
    """The rule by its words: for each epoch look back at everything again."""
    for epoch in range(len(losses)):
        improving = [0]
        for e in range(1, epoch + 1):
            if losses[e] < losses[improving[-1]] - min_delta:
                improving.append(e)
        if epoch - improving[-1] >= patience:
            return epoch, improving[-1]
    return epoch, improving[-1]


@DTYPES
@pytest.mark.parametrize("patience", [1, 2, 5, 40])
@pytest.mark.parametrize("min_delta", [0.0, 0.25])
def test_early_stopping_by_the_words_of_the_rule(patience, min_delta, dtype, rng):
    losses = rng.integers(0, 40, (50, 30)) / 8 + np.linspace(5, 0, 30).round()  # exact, with ties
    losses[:10, 5:7] = np.nan
    batch = torch.from_numpy(losses).to(dtype).reshape(5, 10, 30)
    stop, best = ref.early_stopping(batch, patience, min_delta)
    assert stop.shape == (5, 10) and stop.dtype == best.dtype == torch.long
    expected = [literal_rule(row, patience, min_delta) for row in losses]
    pairs = zip(stop.reshape(-1).tolist(), best.reshape(-1).tolist(), strict=True)
    assert list(pairs) == expected


# ------------------------------------------------------------ what it draws


def numbers(words):
    return [float(text) for text in re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?", words)]


def soft(a, lam):
    return np.sign(a) * np.maximum(np.abs(a) - lam, 0)


def path(X, y, lams):
    eye = np.eye(X.shape[1])
    return np.array([np.linalg.solve(X.T @ X + lam * eye, X.T @ y) for lam in lams])


# ---------------------------------------------------------------- data


def test_hinges_bend_at_their_knots():
    assert rl.even_knots(3, 0, 4).tolist() == [1, 2, 3]
    assert rl.hinges([0.0, 1.5, 3.0], [1, 2]).tolist() == [[0, 0], [0.5, 0], [2, 1]]


def test_products_hold_every_pair_once_and_names_agree():
    X = np.array([[1.0, 2.0, 0.0], [3.0, 5.0, 1.0], [4.0, 7.0, 1.0]])
    table, names = rl.products(X), rl.product_names(X, "abc")
    assert names == ["a", "b", "c", "a²", "a·b", "a·c", "b²", "b·c"]  # c² is c again
    assert table[1].tolist() == [3, 5, 1, 9, 15, 3, 25, 5]
    assert rl.products(data.diabetes().X).shape == (442, 64)


def test_standardising_uses_the_given_rows_alone(rng):
    X, y = rng.normal(2, 3, (20, 2)), rng.normal(5, 2, 20)
    A, b = rl.standardised(X, y, np.arange(8))
    np.testing.assert_allclose(A[:8].mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(A[:8].std(0), 1)
    assert b[:8].std() == pytest.approx(1) and abs(b.mean()) > 1e-3


def test_two_fits_have_no_error_and_the_penalised_one_is_nearer():
    fits = rl.zero_error_fits()
    train, test, norm = (list(fits[name].values()) for name in ("train", "test", "norm"))
    assert max(train[:2]) < 1e-12 < train[2]
    assert test[0] > test[1] > test[2] and norm[0] > norm[1] > norm[2]


# ---------------------------------------------------------------- ridge


@pytest.fixture
def ridge_widget(rng):
    X = rng.normal(size=(60, 4)) * [1, 1, 1, 0.05]
    y = X @ [1.0, -1, 0.5, 3] + rng.normal(size=60)
    draw = rl.ridge_explorer(path, X, y, "abcd", np.arange(20), np.arange(20, 60))
    explorer = Explorer(draw, dict(log_lambda=FloatSlider(0, min=-2, max=5, step=0.1)))
    return explorer, X, y


@pytest.mark.parametrize("log_lambda", [-2.0, 1.0, 4.0])
def test_ridge_words_are_scikit_learns_numbers(ridge_widget, log_lambda):
    explorer, X, y = ridge_widget
    explorer.controls["log_lambda"].value = log_lambda
    lam, norm, condition, train, test = numbers(explorer.words)
    w = Ridge(10**log_lambda, fit_intercept=False).fit(X[:20], y[:20]).coef_
    assert lam == pytest.approx(10**log_lambda, rel=1e-2)
    assert norm == pytest.approx(np.linalg.norm(w), abs=0.006)
    gram = X[:20].T @ X[:20] + 10**log_lambda * np.eye(4)
    assert condition == pytest.approx(np.linalg.cond(gram), rel=1e-3)
    assert train == pytest.approx(np.mean((X[:20] @ w - y[:20]) ** 2), abs=6e-4)
    assert test == pytest.approx(np.mean((X[20:] @ w - y[20:]) ** 2), abs=6e-4)


def test_fake_points_pull_the_slope_down():
    _, weak = rl.draw_fake_points(lam=1.0)
    _, strong = rl.draw_fake_points(lam=50.0)
    assert numbers(weak)[3] == numbers(strong)[3]  # the slope without them
    assert 0 < numbers(strong)[4] < numbers(weak)[4] < numbers(weak)[3]


# ---------------------------------------------------------------- primal and dual


def dual(X, y, lam):
    return np.linalg.solve(X @ X.T + lam * np.eye(len(y)), y)


def forms(rule):
    controls = dict(n=IntSlider(12, min=3, max=200), log_lambda=FloatSlider(0, min=-3, max=3))
    return Explorer(rl.forms_explorer(rule), controls)


@pytest.mark.parametrize("n", [5, 30, 150])
@pytest.mark.parametrize("log_lambda", [-3.0, 0.0, 3.0])
def test_no_slider_parts_the_two_forms(n, log_lambda):
    widget = forms(dual)
    widget.controls["n"].value, widget.controls["log_lambda"].value = n, log_lambda
    assert "agree to 8 decimals" in widget.words
    primal, other = numbers(widget.words)[-2:]
    assert (primal < other) == (n > 30) and (primal == other) == (n == 30)


def test_a_wrong_dual_parts_the_curves():
    assert "differ" in forms(lambda X, y, lam: np.linalg.pinv(X @ X.T + lam) @ y).words


def test_cost_crosses_at_as_many_rows_as_features():
    for n, d in ((3, 50), (49, 50), (51, 50), (4000, 50)):
        cost = rl.training_cost(n, d)
        assert (cost["primal"] < cost["dual"]) == (d < n)
    assert rl.training_cost(10, 10)["primal"] == rl.training_cost(10, 10)["dual"]
    assert rl.training_cost(2, 3) == {"primal": 2 * 9 + 27 / 3, "dual": 4 * 3 + 8 / 3}


def test_times_come_for_every_shape_and_form():
    shapes = [(4, 8), (8, 4)]
    seconds = rl.measured_cost(shapes, repeats=1)
    assert all(len(seconds[name]) == 2 and min(seconds[name]) > 0 for name in ("primal", "dual"))
    fig, words = rl.draw_cost(shapes, seconds)
    assert not numbers(words)  # nothing told depends on the machine
    assert fig.axes[1].lines[0].get_ydata() == pytest.approx(1000 * np.array(seconds["primal"]))


# ---------------------------------------------------------------- penalties


@pytest.mark.parametrize("lam", [0.0, 0.7, 2.0])
def test_shrinking_is_the_soft_threshold_and_ridges_factor(lam):
    a = np.array([-3.0, -0.5, 0.0, 0.9, 2.5])
    np.testing.assert_allclose(rl.shrink(a, lam, 1.0), soft(a, lam), atol=1e-12)
    np.testing.assert_allclose(rl.shrink(a, lam, 2.0), a / (1 + 2 * lam), atol=1e-12)
    u = (-1.5 * lam + np.sqrt(2.25 * lam**2 + 4 * np.abs(a))) / 2  # u² + 1.5 λ u = |a|
    np.testing.assert_allclose(rl.shrink(a, lam, 1.5), np.sign(a) * u**2, atol=1e-12)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0])
def test_penalised_minima_are_minima(p):
    H, centre = rl.LOSS
    for lam, w in zip((0.1, 1.0), rl.penalised_minima(H, centre, [0.1, 1.0], p), strict=True):

        def height(v, lam=lam):
            return (v - centre) @ H @ (v - centre) / 2 + lam * np.sum(np.abs(v) ** p)

        found = minimize(
            height, centre, method="Nelder-Mead", options=dict(xatol=1e-8, fatol=1e-12)
        )
        np.testing.assert_allclose(w, found.x, atol=1e-4)


def test_only_the_diamond_has_an_exact_zero():
    _, words = rl.draw_balls()
    second = [float(v) for v in re.findall(r"\([\d.]+, ([\d.]+)\)", words)]
    assert second[0] == 0 and min(second[1:]) > 0.3


@pytest.fixture
def posterior():
    controls = dict(
        log_sd=FloatSlider(0.3, min=-1.2, max=1.2), noise=FloatSlider(1, min=0.25, max=3)
    )
    return Explorer(rl.draw_posterior, controls)


def told(widget):
    """For Gauss and Laplace: λ, the two weights, the number of zeros."""
    pattern = r"λ = ([\d.e+-]+), MAP at \((-?[\d.]+), (-?[\d.]+)\), exact zeros: (\d)"
    return [[float(v) for v in found] for found in re.findall(pattern, widget.words)]


def test_map_under_a_gaussian_prior_is_ridge(posterior):
    H, centre = rl.LOSS
    for log_sd in (0.9, -0.2):
        posterior.controls["log_sd"].value = log_sd
        lam = 1 / 10 ** (2 * log_sd)
        w = np.linalg.solve(H + lam * np.eye(2), H @ centre)
        assert told(posterior)[0][0] == pytest.approx(lam, rel=1e-2)
        np.testing.assert_allclose(told(posterior)[0][1:3], w, atol=0.006)


def test_map_under_a_laplace_prior_is_the_lasso(posterior):
    H, centre = rl.LOSS
    root = np.linalg.cholesky(H).T  # ½ (w - c)ᵀ H (w - c) = ½ ‖root (c - w)‖²
    for log_sd in (1.1, 0.3, -0.2):
        posterior.controls["log_sd"].value = log_sd
        lam = np.sqrt(2) / 10**log_sd
        w = Lasso(lam / 2, fit_intercept=False, tol=1e-12).fit(root, root @ centre).coef_
        found = told(posterior)[1]
        np.testing.assert_allclose(found[1:3], w, atol=0.006)
        assert found[3] == np.sum(w == 0)


def test_a_narrow_prior_zeroes_laplace_weights_and_never_gaussian_ones(posterior):
    posterior.controls["log_sd"].value = -1.2
    gauss, laplace = told(posterior)
    assert gauss[3] == 0 and laplace[3] == 2


def test_noise_and_prior_width_trade_off(posterior):
    posterior.controls["log_sd"].value = 0.3
    before = told(posterior)[0][1:3]
    posterior.controls["noise"].value = 2.0
    assert np.linalg.norm(told(posterior)[0][1:3]) < np.linalg.norm(before)
    posterior.controls["log_sd"].value = 0.3 + np.log10(2)  # only s / τ counts for Gauss
    np.testing.assert_allclose(told(posterior)[0][1:3], before, atol=0.011)


def test_priors_tell_their_tails():
    _, words = rl.draw_priors()
    assert f"{np.exp(-3 * np.sqrt(2)):.4f}" in words and "0.0027" in words


def test_thresholds_mark_the_minima():
    fig, words = rl.draw_thresholds(soft, lam=1.0)
    assert "a = 0.6 is set to 0 by |w| and to 0.30 by w²" in words
    assert "a = 1.8 becomes 0.80 and 0.90" in words
    for line in (fig.axes[0].lines[2], fig.axes[0].lines[5]):
        curve = fig.axes[0].lines[0 if line.get_xdata()[0] == 0 else 3]
        assert line.get_ydata()[0] <= curve.get_ydata().min() + 1e-12


def test_two_paths_name_who_enters_first():
    lams = np.array([1.0, 10.0, 100.0])
    lasso = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 2.0], [0.0, 0.0, 1.0]])
    _, words = rl.draw_two_paths(lams, np.ones((3, 3)), lasso, ["a", "b", "c"])
    assert "first c, b, a." in words


# ---------------------------------------------------------------- break points


@pytest.fixture(scope="module")
def knots_draw():
    return rl.knots_explorer()


def knots(draw, log_lambda, penalty):
    controls = dict(
        log_lambda=FloatSlider(-0.5, min=-3, max=0.5, step=0.125),
        penalty=Dropdown(options=["lasso", "ridge"], value="lasso"),
    )
    widget = Explorer(draw, controls)
    widget.controls["log_lambda"].value, widget.controls["penalty"].value = log_lambda, penalty
    lam, used, _, train, test, lowest = numbers(widget.words)
    return dict(lam=lam, used=used, train=train, test=test, lowest=lowest)


def test_the_lasso_finds_the_three_kinks(knots_draw):
    fig, words = knots_draw(-1.75, "lasso")
    beta = np.array(fig.axes[1].lines[3].get_ydata())
    found = rl.knots_world()["knots"][np.abs(beta) > 1e-6]
    np.testing.assert_allclose(found, [0.25, 0.5, 0.8])
    assert "3 of 19 knots used" in words


def test_ridge_uses_every_knot_and_the_lasso_few(knots_draw):
    assert knots(knots_draw, -1.5, "ridge")["used"] == 19
    assert knots(knots_draw, -1.5, "lasso")["used"] <= 5
    assert knots(knots_draw, 0.5, "lasso")["used"] == 0


def test_training_error_rises_with_the_penalty(knots_draw):
    for penalty in ("ridge", "lasso"):
        runs = [knots(knots_draw, value, penalty) for value in (-3.0, -1.5, 0.0)]
        assert runs[0]["train"] < runs[1]["train"] < runs[2]["train"]
        assert all(run["test"] >= run["lowest"] for run in runs)


def test_the_break_point_fit_satisfies_the_lassos_conditions(knots_draw):
    world = rl.knots_world()
    fig, _ = knots_draw(-1.5, "lasso")
    beta = np.array(fig.axes[1].lines[3].get_ydata())
    A = rl.hinges(world["x"], world["knots"])
    A, t, lam = A - A.mean(0), world["y"] - world["y"].mean(), 10**-1.5
    pull = A.T @ (t - A @ beta)
    used = beta != 0
    np.testing.assert_allclose(pull[used], lam * np.sign(beta[used]), atol=1e-3 * lam)
    assert np.all(np.abs(pull[~used]) <= 1.001 * lam)


# ---------------------------------------------------------------- early stopping


def test_descent_errors_are_those_of_the_closed_form(rng):
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    parts = [np.arange(20), np.arange(20, 30)]
    errors = rl.descent_errors(X, y, parts, eta=0.1, steps=7)
    U, s, Vt = np.linalg.svd(X[:20], full_matrices=False)
    w = Vt.T @ ((1 - (1 - 0.1 * s**2 / 20) ** 7) / s * (U.T @ y[:20]))
    assert errors.shape == (8, 2)
    assert errors[7, 1] == pytest.approx(np.mean((X[20:] @ w - y[20:]) ** 2))


def rule(losses, patience, min_delta):
    best = 0
    for epoch in range(1, len(losses)):
        if losses[epoch] < losses[best] - min_delta:
            best = epoch
        if epoch - best >= patience:
            return epoch, best
    return len(losses) - 1, best


def test_patience_moves_the_stop_and_what_is_brought_back():
    valley = [1.0, 0.6, 0.5, 0.55, 0.56, 0.57, 0.4, 0.45]
    errors = np.column_stack([np.linspace(1, 0.3, 8), valley, np.linspace(1, 0.5, 8)])
    controls = dict(
        patience=IntSlider(2, min=1, max=25), min_delta=FloatSlider(0, min=0, max=0.3, step=0.01)
    )
    widget = Explorer(rl.patience_explorer(rule, errors), controls)
    assert numbers(widget.words)[2:5] == [4, 7, 2]
    widget.controls["patience"].value = 5
    assert numbers(widget.words)[2:5] == [7, 7, 6]
    assert numbers(widget.words)[5] == 0.4
    widget.controls["min_delta"].value = 0.2
    assert numbers(widget.words)[2:5] == [6, 7, 1]


def test_the_filters_are_at_most_a_third_apart():
    times = np.array([0.1, 1.0, 10.0])
    _, words = rl.draw_filters(np.array([3.0, 1.0, 2.0]), np.array([1.5, 2.0, 3.0]), times)
    assert "1.298" in words and "descent 1.500 at t = 0.1" in words
    assert "ridge 1.000 at 1/λ = 1" in words


# ---------------------------------------------------------------- real data


def test_races_are_scikit_learns(rng):
    X = rng.normal(1, 2, (60, 5))
    y = X @ [1.0, 0, 0, -1, 0.5] + rng.normal(size=60)
    lams = np.array([30.0, 3.0])
    races = rl.penalty_races(X, y, lams, train=30, splits=2, seed=4)
    order = np.random.default_rng(5).permutation(60)
    A, b = rl.standardised(X, y, order[:30])
    for column, lam in enumerate(lams):
        for name, model in (("ridge", Ridge(lam, fit_intercept=False)),
                            ("lasso", Lasso(lam / 30, fit_intercept=False, tol=1e-10))):  # fmt: skip
            model.fit(A[order[:30]], b[order[:30]])
            error = np.mean((model.predict(A[order[30:]]) - b[order[30:]]) ** 2)
            assert races[name][1, column] == pytest.approx(error, rel=1e-3)
        assert races["used"][1, column] == np.sum(model.coef_ != 0)


def test_the_races_are_told_by_their_lowest_means():
    races = dict(ridge=np.array([[3.0, 1.0], [3.0, 2.0]]), lasso=np.array([[1.0, 2.0]] * 2),
                 used=np.array([[4, 9], [6, 9]]))  # fmt: skip
    _, words = rl.draw_races(np.array([10.0, 1.0]), races, 0.9)
    assert "ridge 1.500 at λ = 1;" in words and "lasso 1.000 at λ = 10;" in words
    assert "keeps 5 of 64" in words

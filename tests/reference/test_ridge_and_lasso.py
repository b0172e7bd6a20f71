"""Ridge, lasso, prior and early-stopping references against scikit-learn, SciPy, torch and brute force."""

import numpy as np
import pytest
import torch
from scipy import integrate, stats
from scipy.optimize import minimize
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from statsmodels.regression.linear_model import OLS
from torch.nn.functional import softshrink

from solutions.reference import ridge_and_lasso as ref
from tests.reference.contract import assert_any_device, assert_inputs_left_alone

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


@DTYPES
@BATCHES
@SHAPES
def test_ridge_is_scikit_learns(batch, n, d, dtype):
    X, y = normal(*batch, n, d, dtype=dtype) + 2, normal(*batch, n, dtype=dtype, seed=1) + 5
    w, b = ref.ridge_with_offset(X, y, 0.7)
    models = [Ridge(0.7, solver="svd").fit(A, t) for A, t in each(X, y)]
    assert w.dtype == dtype and b.shape == batch
    torch.testing.assert_close(w, stack([m.coef_ for m in models], w), **tolerance(dtype))
    torch.testing.assert_close(b, stack([m.intercept_ for m in models], b), **tolerance(dtype))


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


@DTYPES
@pytest.mark.parametrize("lam", [0.0, 0.5, 3.0])
def test_soft_threshold_is_torchs(lam, dtype):
    a = normal(4, 5, dtype=dtype) * 2
    got = ref.soft_threshold(a, lam)
    assert got.dtype == dtype
    torch.testing.assert_close(got, softshrink(a, lam))


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


# ---------------------------------------------------------------- the contract of every reference


def calls(dtype):
    X, y, w = normal(6, 3, dtype=dtype), normal(6, dtype=dtype, seed=1), normal(3, dtype=dtype)
    lams = torch.tensor([0.5, 2.0], dtype=dtype)
    return {
        "ridge_with_offset": (X, y, 0.5),
        "ridge_path": (X, y, lams),
        "dual_weights": (X, y, 0.5),
        "negative_log_posterior": (w, 0.3, X, y, 1.0, "laplace", 2.0),
        "soft_threshold": (w, 0.5),
        "lasso_sweeps": (X, y, 0.5, 2),
        "lasso_gap": (X, y, w, 0.5),
        "early_stopping": (y, 2, 0.1),
    }


NAMES = list(calls(torch.float64))


@DTYPES
@pytest.mark.parametrize("name", NAMES)
def test_inputs_are_left_alone(name, dtype):
    arguments = calls(dtype)[name]
    assert_inputs_left_alone(getattr(ref, name), arguments)


@pytest.mark.parametrize("name", NAMES)
def test_no_value_and_no_device_is_assumed(name):
    assert_any_device(getattr(ref, name), calls(torch.float64)[name])

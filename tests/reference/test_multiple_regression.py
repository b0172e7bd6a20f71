"""Multiple regression references against NumPy, SciPy, scikit-learn, statsmodels and brute force."""

import numpy as np
import pytest
import scipy.linalg
import statsmodels.api as sm
import torch
from scipy.optimize import minimize
from sklearn.linear_model import HuberRegressor, LinearRegression

from solutions.reference import multiple_regression as ref
from tests.reference.contract import assert_any_device, assert_inputs_left_alone

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)
SHAPES = pytest.mark.parametrize("n, d", [(7, 3), (3, 7), (4, 4), (1, 3), (5, 1)])


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=2e-3, atol=2e-4)
    return dict(rtol=1e-8, atol=1e-9)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def covariance(*batch, n, dtype=torch.float64, seed=0):
    A = normal(*batch, n, n, seed=seed)
    return (A @ A.mT / n + 0.5 * torch.eye(n, dtype=torch.float64)).to(dtype)


def each(function, *arrays):
    """`function` on each member of a batch, as float64 NumPy arrays; arrays: (tensor, core dimensions)."""
    batch = arrays[0][0].shape[: arrays[0][0].ndim - arrays[0][1]]
    rows = [
        a.double().numpy().reshape(-1, *a.shape[a.ndim - core :]) if core else a
        for a, core in arrays
    ]
    results = np.array([function(*row) for row in zip(*rows, strict=True)])
    return torch.from_numpy(results.reshape(*batch, *results.shape[1:]))


# ---------------------------------------------------------------- design and gradient


@DTYPES
@BATCHES
def test_rows_of_the_design_are_one_father_mother_boy(batch, dtype):
    father, mother = normal(*batch, 5, dtype=dtype), normal(*batch, 5, dtype=dtype, seed=1)
    boy = torch.tensor([0, 1, 1, 0, 1]).expand(*batch, 5)
    X = ref.design_matrix(father, mother, boy)
    assert X.shape == (*batch, 5, 4) and X.dtype == dtype
    for i in range(5):
        row = torch.stack(
            [torch.ones(batch, dtype=dtype), father[..., i], mother[..., i], boy[..., i].to(dtype)],
            -1,
        )
        assert torch.equal(X[..., i, :], row)


@DTYPES
@BATCHES
@SHAPES
def test_gradient_is_autograds(batch, n, d, dtype):
    beta, X = normal(*batch, d, dtype=dtype), normal(*batch, n, d, dtype=dtype, seed=1)
    y = normal(*batch, n, dtype=dtype, seed=2)
    b = beta.clone().requires_grad_()
    ((y - torch.einsum("...nd,...d->...n", X, b)).square().sum() / 2).backward()
    got = ref.gradient(beta, X, y)
    assert got.shape == beta.shape and got.dtype == dtype
    torch.testing.assert_close(got, b.grad, **tolerance(dtype))


def test_gradient_is_a_central_difference():
    beta, X, y = normal(3), normal(6, 3, seed=1), normal(6, seed=2)

    def loss(b):
        return ((y - X @ b) ** 2).sum() / 2

    steps = 1e-5 * torch.eye(3, dtype=torch.float64)
    expected = torch.stack([(loss(beta + s) - loss(beta - s)) / 2e-5 for s in steps])
    torch.testing.assert_close(ref.gradient(beta, X, y), expected, rtol=1e-7, atol=1e-7)


# ---------------------------------------------------------------- the hat matrix


@DTYPES
@BATCHES
@SHAPES
def test_hat_matrix_is_that_of_scipys_orthonormal_basis(batch, n, d, dtype):
    X = normal(*batch, n, d, dtype=dtype)

    def expected(A):
        basis = scipy.linalg.orth(A)
        return basis @ basis.T

    H = ref.hat_matrix(X)
    assert H.shape == (*batch, n, n) and H.dtype == dtype
    torch.testing.assert_close(H.double(), each(expected, (X, 2)), **tolerance(dtype))


@DTYPES
def test_hat_matrix_projects_and_its_trace_is_the_rank(dtype):
    X = normal(6, 3, dtype=dtype)
    X = torch.cat([X, X[:, :1] - 2 * X[:, 1:2]], 1)  # a fourth column that adds nothing
    H = ref.hat_matrix(X)
    torch.testing.assert_close(H, H.mT)
    torch.testing.assert_close(H @ H, H, **tolerance(dtype))
    torch.testing.assert_close(H @ X, X, **tolerance(dtype))
    assert H.trace().item() == pytest.approx(3, abs=1e-4)


def test_nothing_projects_to_nothing():
    assert torch.equal(ref.hat_matrix(torch.zeros(3, 2)), torch.zeros(3, 3))


# ---------------------------------------------------------------- least squares


@DTYPES
@BATCHES
@pytest.mark.parametrize("n, d, t", [(7, 3, 1), (7, 3, 2), (4, 4, 3)])
def test_least_squares_is_scikit_learns(batch, n, d, t, dtype):
    X, Y = normal(*batch, n, d, dtype=dtype), normal(*batch, n, t, dtype=dtype, seed=1)

    def expected(A, B):
        return LinearRegression(fit_intercept=False).fit(A, B).coef_.T

    got = ref.least_squares(X, Y)
    assert got.shape == (*batch, d, t) and got.dtype == dtype
    torch.testing.assert_close(got.double(), each(expected, (X, 2), (Y, 2)), **tolerance(dtype))


@pytest.mark.parametrize("power", [-20, -27, -32])
def test_least_squares_keeps_its_digits_where_the_normal_equations_lose_them(power):
    eps, beta = 2.0**power, torch.tensor([1.0, -2.0, 5.0], dtype=torch.float64)
    X = torch.vstack([torch.ones(3), eps * torch.eye(3)]).double()
    got = ref.least_squares(X, (X @ beta)[:, None])[:, 0]
    torch.testing.assert_close(got, beta, rtol=1e-15 / eps, atol=0)
    if power <= -27:
        assert torch.linalg.matrix_rank(X.mT @ X) == 1


# ---------------------------------------------------------------- minimum norm


@DTYPES
@BATCHES
@SHAPES
def test_minimum_norm_is_the_pseudo_inverse(batch, n, d, dtype):
    X, y = normal(*batch, n, d, dtype=dtype), normal(*batch, n, dtype=dtype, seed=1)
    got = ref.minimum_norm(X, y)
    expected = each(lambda A, b: scipy.linalg.pinv(A) @ b, (X, 2), (y, 1))
    assert got.shape == (*batch, d) and got.dtype == dtype
    torch.testing.assert_close(got.double(), expected, **tolerance(dtype))


@DTYPES
def test_minimum_norm_of_any_rank_is_scipys_lstsq(dtype):
    left, right = normal(6, 2, dtype=dtype), normal(2, 5, dtype=dtype, seed=1)
    X, y = left @ right, normal(6, dtype=dtype, seed=2)  # rank 2
    expected = scipy.linalg.lstsq(X.double().numpy(), y.double().numpy(), cond=1e-5)[0]
    got = ref.minimum_norm(X, y)
    torch.testing.assert_close(got.double(), torch.from_numpy(expected), **tolerance(dtype))


def test_no_other_solution_is_shorter(rng):
    X, y = normal(3, 6), normal(3, seed=1)
    best = ref.minimum_norm(X, y)
    torch.testing.assert_close(X @ best, y)
    flat = torch.from_numpy(scipy.linalg.null_space(X.numpy()))
    for z in torch.from_numpy(rng.normal(size=(50, 3))):
        other = best + flat @ z
        torch.testing.assert_close(X @ other, y)
        assert other.norm() > best.norm()


def test_lagranges_equations_hold_at_the_minimum_norm_solution():
    X, y = normal(3, 6).numpy(), normal(3, seed=1).numpy()
    found = minimize(
        lambda b: b @ b,
        np.zeros(6),
        jac=lambda b: 2 * b,
        constraints=dict(type="eq", fun=lambda b: X @ b - y, jac=lambda b: X),
        method="SLSQP",
        options=dict(ftol=1e-14),
    )
    got = ref.minimum_norm(torch.from_numpy(X), torch.from_numpy(y)).numpy()
    np.testing.assert_allclose(got, found.x, atol=1e-6)


def test_no_features_no_weights():
    assert torch.equal(ref.minimum_norm(torch.zeros(3, 2), torch.ones(3)), torch.zeros(2))


# ---------------------------------------------------------------- weights


@DTYPES
@BATCHES
def test_weighted_least_squares_is_statsmodels_gls(batch, dtype):
    X, y = normal(*batch, 6, 2, dtype=dtype), normal(*batch, 6, dtype=dtype, seed=1)
    R = covariance(*batch, n=6, dtype=dtype, seed=2)
    got = ref.weighted_least_squares(X, y, R)

    def expected(A, b, S):
        return sm.GLS(b, A, sigma=S).fit().params

    assert got.shape == (*batch, 2) and got.dtype == dtype
    torch.testing.assert_close(
        got.double(), each(expected, (X, 2), (y, 1), (R, 2)), **tolerance(dtype)
    )


def test_a_diagonal_covariance_is_statsmodels_and_scikit_learns_weights():
    X, y = normal(8, 3), normal(8, seed=1)
    variance = normal(8, seed=2).exp()
    got = ref.weighted_least_squares(X, y, torch.diag(variance)).numpy()
    weights = (1 / variance).numpy()
    wls = sm.WLS(y.numpy(), X.numpy(), weights=weights).fit().params
    model = LinearRegression(fit_intercept=False).fit(X.numpy(), y.numpy(), sample_weight=weights)
    np.testing.assert_allclose(got, wls, rtol=1e-9)
    np.testing.assert_allclose(got, model.coef_, rtol=1e-9)


def test_a_common_factor_of_the_covariance_changes_nothing():
    X, y, R = normal(6, 2), normal(6, seed=1), covariance(n=6, seed=2)
    one, other = (ref.weighted_least_squares(X, y, c * R) for c in (1.0, 7.0))
    torch.testing.assert_close(one, other)
    plain = ref.weighted_least_squares(X, y, 3 * torch.eye(6, dtype=torch.float64))
    torch.testing.assert_close(plain, ref.minimum_norm(X, y))


# ---------------------------------------------------------------- Huber


def outliers(dtype=torch.float64, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=40)
    y = 1 + 2 * x + 0.3 * rng.normal(size=40)
    y[:5] += [9.0, 12.0, -7.0, 20.0, 15.0]
    X = np.column_stack([np.ones(40), x])
    return torch.from_numpy(X).to(dtype), torch.from_numpy(y).to(dtype)


def test_huber_loss_is_torchs():
    r = torch.linspace(-3, 3, 31, dtype=torch.float64)
    expected = torch.nn.functional.huber_loss(r, 0 * r, reduction="none", delta=0.7)
    torch.testing.assert_close(ref.huber_loss(r, 0.7), expected)


@pytest.mark.parametrize("seed", range(3))
def test_huber_agrees_with_statsmodels_rlm(seed):
    """RLM with a fixed scale: its tuning constant times the scale is our delta."""
    X, y = outliers(seed=seed)
    model = sm.RLM(y.numpy(), X.numpy(), M=sm.robust.norms.HuberT(t=1.345))
    fit = model.fit(update_scale=False, tol=1e-12, maxiter=500)
    got = ref.huber_path(X, y, 1.345 * float(fit.scale), 300)[-1]
    np.testing.assert_allclose(got.numpy(), fit.params, rtol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_huber_agrees_with_scikit_learn(seed):
    """HuberRegressor minimises over the weights and a scale; at its scale, epsilon · scale is our delta."""
    X, y = outliers(seed=seed)
    model = HuberRegressor(epsilon=1.35, alpha=0, tol=1e-9, max_iter=2000)
    model.fit(X[:, 1:].numpy(), y.numpy())
    got = ref.huber_path(X, y, 1.35 * model.scale_, 300)[-1].numpy()
    np.testing.assert_allclose(got, [model.intercept_, *model.coef_], rtol=1e-4)


@BATCHES
@DTYPES
def test_each_step_of_huber_is_a_weighted_fit_by_statsmodels(batch, dtype):
    X, y = normal(*batch, 9, 2, dtype=dtype), 3 * normal(*batch, 9, dtype=dtype, seed=1)
    path = ref.huber_path(X, y, 0.5, 3)

    def expected(A, b):
        rows = [np.linalg.lstsq(A, b, rcond=None)[0]]
        for _ in range(3):
            size = np.abs(b - A @ rows[-1])
            weights = np.where(size <= 0.5, 1.0, 0.5 / size)
            rows.append(sm.WLS(b, A, weights=weights).fit().params)
        return rows

    assert path.shape == (*batch, 4, 2) and path.dtype == dtype
    torch.testing.assert_close(path.double(), each(expected, (X, 2), (y, 1)), **tolerance(dtype))


def test_hubers_objective_never_rises_and_ends_at_the_minimum():
    X, y = outliers()
    path = ref.huber_path(X, y, 0.4, 200)
    losses = torch.stack([ref.huber_loss(y - X @ b, 0.4).sum() for b in path])
    assert torch.all(losses.diff() <= 1e-10)
    found = minimize(
        lambda b: ref.huber_loss(y - X @ torch.from_numpy(b), 0.4).sum().item(),
        np.zeros(2),
        method="Nelder-Mead",
        options=dict(xatol=1e-9, fatol=1e-12, maxiter=2000),
    )
    np.testing.assert_allclose(path[-1].numpy(), found.x, atol=1e-5)


def test_one_target_has_a_bounded_influence_on_huber_and_not_on_least_squares():
    X, y = outliers()
    moved = y.clone()
    moved[10] = 1e6
    far = y.clone()
    far[10] = 1e7
    paths = [ref.huber_path(X, b, 0.4, 400) for b in (y, moved, far)]
    torch.testing.assert_close(paths[1][-1], paths[2][-1], rtol=1e-6, atol=1e-6)
    assert (paths[1][-1] - paths[0][-1]).abs().max() < 0.2
    assert (paths[2][0] - paths[0][0]).abs().max() > 1e4


# ---------------------------------------------------------------- the contract of every reference


CALLS = {
    "design_matrix": lambda dtype: (normal(4, dtype=dtype), normal(4, dtype=dtype), torch.ones(4)),
    "gradient": lambda dtype: (
        normal(2, dtype=dtype),
        normal(5, 2, dtype=dtype),
        normal(5, dtype=dtype),
    ),
    "hat_matrix": lambda dtype: (normal(5, 2, dtype=dtype),),
    "least_squares": lambda dtype: (normal(5, 2, dtype=dtype), normal(5, 3, dtype=dtype)),
    "minimum_norm": lambda dtype: (normal(2, 5, dtype=dtype), normal(2, dtype=dtype)),
    "weighted_least_squares": lambda dtype: (
        normal(5, 2, dtype=dtype),
        normal(5, dtype=dtype),
        covariance(n=5, dtype=dtype),
    ),
    "huber_loss": lambda dtype: (normal(5, dtype=dtype), 0.5),
    "huber_path": lambda dtype: (normal(5, 2, dtype=dtype), normal(5, dtype=dtype), 0.5, 3),
}


@DTYPES
@pytest.mark.parametrize("name", CALLS)
def test_inputs_are_left_alone(name, dtype):
    arguments = CALLS[name](dtype)
    assert_inputs_left_alone(getattr(ref, name), arguments)
    assert getattr(ref, name)(*arguments).dtype == dtype


@pytest.mark.parametrize("name", CALLS)
def test_no_value_and_no_device_is_assumed(name):
    assert_any_device(getattr(ref, name), CALLS[name](torch.float64))

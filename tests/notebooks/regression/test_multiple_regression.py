"""Multiple regression references against NumPy, SciPy, scikit-learn, statsmodels and brute force."""

import re

import numpy as np
import pytest
import scipy.linalg
import statsmodels.api as sm
import torch
from ipywidgets import Checkbox, FloatSlider, IntSlider
from scipy.optimize import minimize
from sklearn.linear_model import HuberRegressor, LinearRegression

from descent.pictures.regression import multiple_regression as mr
from descent.widgets import Explorer
from solutions import notebook_module

ref = notebook_module("01_regression/02_multiple_regression", "reference")


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


# ------------------------------------------------------------ what it draws


def numbers(words):
    return [float(text) for text in re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?", words)]


def after(words, phrase):
    """The first number after a phrase."""
    return numbers(words[words.index(phrase) + len(phrase) :])[0]


def qr(X, y):
    Q, R = np.linalg.qr(X)
    return np.linalg.solve(R, Q.T @ y)


def weighted(X, y, R):
    W = np.linalg.inv(R)
    return np.linalg.solve(X.T @ W @ X, X.T @ W @ y)


def huber(X, y, delta, steps):
    path = [qr(X, y)]
    for _ in range(steps):
        root = np.sqrt(delta / np.maximum(delta, np.abs(y - X @ path[-1])))
        path.append(qr(root[:, None] * X, root * y))
    return np.array(path)


# ---------------------------------------------------------------- families


def test_families_follow_their_formula():
    father, mother, gender, child = mr.families(20_000)
    X = np.column_stack([np.ones(20_000), father, mother, [g == "boy" for g in gender]])
    fit = sm.OLS(child, X).fit()
    assert np.all(np.abs(fit.params - mr.HEIGHTS) < 4 * fit.bse)
    assert np.sqrt(fit.scale) == pytest.approx(5, rel=0.03)
    assert mr.r_squared(X, child) == pytest.approx(fit.rsquared)


def test_three_features_explain_more_than_one():
    _, words = mr.draw_heights(*mr.families(200))
    one, three = numbers(words)
    assert 0 < one < 15 and three > 60  # per cent


@pytest.fixture
def planes():
    return Explorer(
        mr.planes_explorer(*mr.families(40, seed=1)),
        dict(
            base=FloatSlider(170, min=150, max=180),
            b_father=FloatSlider(0, min=-0.5, max=1),
            b_mother=FloatSlider(0, min=-0.5, max=1),
            b_boy=FloatSlider(0, min=-5, max=20),
        ),
    )


def test_the_planes_are_as_far_apart_as_the_boys_weight(planes):
    planes.controls["b_boy"].value = 13
    assert after(planes.words, "boys lies") == 13


def test_good_weights_come_near_the_lowest_error(planes):
    error, lowest = numbers(planes.words)[:2]
    assert error > 1.5 * lowest
    for name, value in dict(base=163.5, b_father=0.4, b_mother=0.43, b_boy=13).items():
        planes.controls[name].value = value
    error, again = numbers(planes.words)[:2]
    assert again == lowest <= error < 1.1 * lowest


def test_a_base_too_high_shows_in_the_mean_residual(planes):
    mean = after(planes.words, "Mean residual")
    planes.controls["base"].value += 5
    assert after(planes.words, "Mean residual") == pytest.approx(mean - 5, abs=0.01)


# ---------------------------------------------------------------- geometry

PLANE = np.array([[1.0, 0.3], [1.0, 1.2], [1.0, -0.4]])
TARGET = np.array([0.63, 2.115, 1.405])  # its shadow lies on the grid of the sliders


@pytest.fixture
def projection():
    return Explorer(
        mr.projection_explorer(PLANE, TARGET),
        dict(b1=FloatSlider(0.4, min=-0.5, max=2), b2=FloatSlider(1.0, min=-0.5, max=2)),
    )


def test_the_shortest_residual_is_perpendicular(projection):
    length, shortest = numbers(projection.words)[:2]
    assert length > shortest and "slanted" in projection.words
    best = np.linalg.lstsq(PLANE, TARGET, rcond=None)[0]
    projection.controls["b1"].value, projection.controls["b2"].value = best
    length, shortest, one, two = numbers(projection.words)[:4]
    assert length == shortest and one == two == 0 and "is perpendicular" in projection.words


def test_near_the_shortest_is_near_perpendicular_on_the_sliders_grid(projection):
    best = np.linalg.lstsq(PLANE, TARGET, rcond=None)[0]
    projection.controls["b1"].value, projection.controls["b2"].value = np.round(best / 0.05) * 0.05
    assert "is perpendicular" in projection.words


def test_only_the_shortest_residual_gets_the_mark_of_a_right_angle():
    draw = mr.projection_explorer(PLANE, TARGET)
    best = np.linalg.lstsq(PLANE, TARGET, rcond=None)[0]
    slanted, right = (len(draw(*b)[0].axes[0].lines) for b in ((0.4, 1.0), best))
    assert right == slanted + 1


def test_a_unit_is_as_long_on_every_axis_where_angles_matter():
    plane, _ = mr.projection_explorer(PLANE, TARGET)(0.4, 1.0)
    solutions, _ = mr.draw_solution_set(lambda X, y: np.linalg.pinv(X) @ y)
    for figure in (plane, solutions):
        ax = figure.axes[0]
        spans = np.ptp([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()], axis=1)
        np.testing.assert_allclose(np.ptp(ax._box_aspect / spans), 0, atol=1e-9)


def test_the_leverage_figure_finds_the_farthest_row(rng):
    x = np.append(rng.normal(size=30), 8.0)
    X = np.column_stack([np.ones(31), x])
    y = 2 * x + rng.normal(size=31)
    influence = sm.OLS(y, X).fit().get_influence().hat_matrix_diag
    _, words = mr.draw_leverage(x, y, X @ qr(X, y), influence)
    assert "at x = 8.00" in words and after(words, "Their sum is") == pytest.approx(2)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.97])
def test_columns_have_exactly_the_correlation(rho, rng):
    X = mr.correlated(30, rho, rng)
    np.testing.assert_allclose(X.T @ X / 30, [[1, rho], [rho, 1]], atol=1e-12)
    assert np.linalg.cond(X) == pytest.approx(np.sqrt((1 + rho) / (1 - rho)))


def test_descent_is_slow_where_features_are_correlated():
    _, words = mr.draw_descent(lambda b, X, y: -X.T @ (y - X @ b))
    left = [float(text) for text in re.findall(r"([\d.]+)% of the first", words)]
    assert left[0] < 0.1 and left[1] > 50


# ---------------------------------------------------------------- ill-conditioned problems


@pytest.mark.parametrize("eps", [0.5, 0.1, 0.01])
def test_two_rows_give_the_notes_weights(eps):
    np.testing.assert_allclose(mr.two_rows(eps), [-2 / eps, 1])
    printed = {0.5: (-1.486, 0.338), 0.1: (-0.487, 0.022), 0.01: (-0.050, 0.0002)}
    np.testing.assert_allclose(mr.two_rows(eps, ridge=0.2), printed[eps], atol=6e-4)


@pytest.fixture
def two():
    controls = dict(log_eps=FloatSlider(-1, min=-3, max=0, step=0.1), ridge=Checkbox(False))
    return Explorer(mr.draw_two_rows, controls)


def test_ten_times_as_near_is_ten_times_as_steep(two):
    assert after(two.words, "w = (") == -20
    noise = after(two.words, "moves w₁ by")
    two.controls["log_eps"].value = -2
    assert after(two.words, "w = (") == -200
    assert after(two.words, "moves w₁ by") == pytest.approx(10 * noise, rel=0.1)
    assert after(two.words, "Condition number of X:") == 200


def test_a_ridge_calms_the_two_rows(two):
    noise = after(two.words, "moves w₁ by")
    two.controls["ridge"].value = True
    assert after(two.words, "w = (") == -0.487
    assert after(two.words, "moves w₁ by") < noise / 10


@pytest.mark.parametrize("tangent", [0.0, 1.0])
@pytest.mark.parametrize("kappa", [1.0, 50.0])
def test_a_hard_problem_is_what_it_says(kappa, tangent, rng):
    X, y, beta = mr.hard_problem(kappa, tangent, rng)
    assert np.linalg.cond(X) == pytest.approx(kappa)
    np.testing.assert_allclose(sm.OLS(y, X).fit().params, beta, rtol=1e-8)
    residual = np.linalg.norm(y - X @ beta)
    assert residual == pytest.approx(tangent * np.linalg.norm(X @ beta), abs=1e-12)


@pytest.mark.parametrize("solver", [mr.inverse_of_normal_equations, mr.by_svd])
def test_solvers_agree_on_an_easy_problem(solver, rng):
    X, y, beta = mr.hard_problem(3.0, 1.0, rng)
    np.testing.assert_allclose(solver(X, y), beta, rtol=1e-8)
    np.testing.assert_allclose(mr.descend(X, y, 2000), beta, rtol=1e-8)


def test_the_normal_equations_square_the_condition_number():
    kappas = np.array([1e1, 1e2, 1e3, 1e4, 1e5, 1e6])
    exact = mr.solver_errors(qr, kappas, 0.0)
    loose = mr.solver_errors(qr, kappas, 1.0)
    inverse, by_qr = mr.slopes(kappas, exact[:2])
    assert 1.6 < inverse < 2.3 and 0.6 < by_qr < 1.3
    assert 1.6 < mr.slopes(kappas, loose[1:2])[0] < 2.4
    assert exact[1, -1] < 1e-8 < 1e-6 < exact[0, -1]
    assert exact[3, 0] < 1e-3 < 0.1 < exact[3, 2]  # descent has not arrived


def test_a_singular_matrix_is_an_error_and_no_crash():
    X = np.array([[1.0, 1.0], [2.0**-30, 0], [0, 2.0**-30]])
    assert np.all(np.isnan(mr.inverse_of_normal_equations(X, X @ [1.0, 2.0])))


def test_the_figure_of_the_solvers_says_the_powers():
    _, words = mr.draw_solver_errors(qr)
    assert "power 2 of κ for the inverse" in words and "power 1 for QR" in words
    assert "power 2 for all three" in words


@pytest.fixture
def solver():
    return Explorer(
        mr.solver_explorer(qr),
        dict(
            log_kappa=FloatSlider(5, min=0, max=10),
            tangent=FloatSlider(0, min=0, max=1),
            steps=IntSlider(1000, min=100, max=3000),
        ),
    )


def digits(widget, name):
    return re.search(rf"{name}: ([^;.]+)", widget.words).group(1)


def test_qr_keeps_what_the_inverse_loses(solver):
    assert digits(solver, "QR") == digits(solver, "SVD") == "8 or more digits right"
    assert digits(solver, "inverse of XᵀX") == "3 to 8 digits right"
    solver.controls["log_kappa"].value = 10
    assert digits(solver, "inverse of XᵀX") == "fewer than 3 digits right"
    assert digits(solver, "QR") != "fewer than 3 digits right"


def test_a_long_residual_takes_qrs_lead(solver):
    solver.controls["log_kappa"].value = 6
    assert digits(solver, "QR") == "8 or more digits right"
    solver.controls["tangent"].value = 1
    assert digits(solver, "QR") == "3 to 8 digits right"


def test_descent_needs_more_steps_or_a_better_problem(solver):
    assert digits(solver, "gradient descent") == "fewer than 3 digits right"
    solver.controls["log_kappa"].value = 0.5
    assert digits(solver, "gradient descent") == "8 or more digits right"
    solver.controls["log_kappa"].value = 1
    solver.controls["steps"].value = 100
    assert digits(solver, "gradient descent") == "fewer than 3 digits right"
    solver.controls["steps"].value = 3000
    assert digits(solver, "gradient descent") == "8 or more digits right"


# ---------------------------------------------------------------- cost


@pytest.mark.parametrize("n, d", [(5, 1), (9, 4), (20, 7)])
def test_counted_least_squares_is_right_and_costs_the_formula(n, d, rng):
    X, y = rng.normal(size=(n, d)), rng.normal(size=n)
    weights, counts = mr.counted_ols(X, y)
    np.testing.assert_allclose(weights, sm.OLS(y, X).fit().params, rtol=1e-8)
    assert counts == {"XᵀX": n * d**2, "Xᵀy": n * d, "inverse": d**3, "product": d**2}


def test_times_are_positive_and_one_a_size():
    seconds = mr.measured_seconds([100, 200], 8)
    assert seconds.shape == (2,) and np.all(seconds > 0)


# ---------------------------------------------------------------- too few rows


def test_descent_from_zero_ends_at_the_shortest_solution():
    _, words = mr.draw_solution_set(lambda X, y: np.linalg.pinv(X) @ y)
    shortest = 3 / np.sqrt(1 + 1.5**2 + 2**2)
    assert after(words, "The shortest has length") == pytest.approx(shortest, abs=0.001)
    assert after(words, "from zero walks straight to it and ends at length") == pytest.approx(
        shortest, abs=0.002
    )
    assert after(words, "from another start ends at length") > 1.5 * shortest


def test_jitter_words_hold_the_slope():
    deltas = 10.0 ** -np.arange(4)
    _, words = mr.draw_jitter(deltas, 0.3 * deltas, 5 / deltas)
    assert "slope 1.00" in words


# ---------------------------------------------------------------- two sensors


@pytest.fixture
def sensors():
    return Explorer(mr.sensor_explorer(weighted), dict(ratio=FloatSlider(1, min=1, max=10)))


def spreads(widget):
    """Plain, its theory, weighted, its theory, the good sensor alone."""
    return numbers(widget.words)[1:]


def test_equal_sensors_want_equal_weights(sensors):
    plain, theory, heavy, heavy_theory, alone = spreads(sensors)
    assert plain == heavy and theory == heavy_theory
    assert plain == pytest.approx(theory, rel=0.15)  # four standard errors
    assert theory == pytest.approx(alone / np.sqrt(2), rel=0.05)


def test_weights_never_lose_and_win_by_more_the_worse_one_sensor_is(sensors):
    gains = []
    for ratio in (1, 2, 4, 10):
        sensors.controls["ratio"].value = ratio
        plain, theory, heavy, heavy_theory, alone = spreads(sensors)
        assert heavy == pytest.approx(heavy_theory, rel=0.15)
        assert heavy_theory <= min(theory, alone)
        gains.append(theory / heavy_theory)
    assert np.all(np.diff(gains) > 0)


def test_the_plain_fit_is_better_off_without_the_noisy_sensor_from_root_three_on(sensors):
    sensors.controls["ratio"].value = 1.5
    assert spreads(sensors)[1] < spreads(sensors)[4]
    sensors.controls["ratio"].value = 2.0
    assert spreads(sensors)[1] > spreads(sensors)[4]


# ---------------------------------------------------------------- outliers


def test_the_absolute_fit_is_a_median_regression(rng):
    X, y = mr.line_with_outlier(4.0, 15.0)
    got = mr.absolute_fit(X, y)
    found = minimize(lambda b: np.abs(y - X @ b).sum(), got + 0.1, method="Nelder-Mead")
    assert np.abs(y - X @ got).sum() <= found.fun + 1e-6
    assert np.sum(np.abs(y - X @ got) < 1e-9) >= 2  # it passes through two rows
    alone = mr.absolute_fit(np.ones((5, 1)), np.array([1.0, 9.0, 2.0, 3.0, 100.0]))
    assert alone == pytest.approx([3.0])


def test_influences_are_derivatives_of_their_losses():
    r, step, delta, nu = np.linspace(-3, 3, 20), 1e-6, 0.7, 3.0
    losses = {
        "squared": lambda r: r**2 / 2,
        "absolute": lambda r: delta * np.abs(r),
        "Huber": lambda r: np.where(np.abs(r) <= delta, r**2 / 2, delta * np.abs(r) - delta**2 / 2),
        "Student t": lambda r: nu * delta**2 / 2 * np.log1p(r**2 / (nu * delta**2)),
    }
    for name, psi in mr.influence(r, delta, nu).items():
        slope = (losses[name](r + step) - losses[name](r - step)) / (2 * step)
        np.testing.assert_allclose(psi, slope, atol=1e-6, err_msg=name)


@pytest.fixture
def outlier():
    return Explorer(
        mr.outlier_explorer(huber),
        dict(
            x_out=FloatSlider(4, min=0, max=30),
            y_out=FloatSlider(15, min=-10, max=15),
            delta=FloatSlider(0.5, min=0.05, max=3),
        ),
    )


def fitted(widget):
    return {n: after(widget.words, f"{n} ") for n in ("squared", "absolute", "Huber")}


def test_only_the_squares_follow_a_bad_target(outlier):
    high = fitted(outlier)
    outlier.controls["y_out"].value = -10
    low = fitted(outlier)
    assert high["squared"] - low["squared"] > 0.5
    for name in ("absolute", "Huber"):
        assert abs(high[name] - 0.5) < 0.1 and abs(low[name] - 0.5) < 0.1


def test_a_row_far_out_bends_every_line(outlier):
    outlier.controls["y_out"].value = -10
    outlier.controls["x_out"].value = 10
    assert min(fitted(outlier)[name] for name in ("absolute", "Huber")) > 0.3
    outlier.controls["x_out"].value = 30
    assert max(fitted(outlier).values()) < -0.3


def test_a_large_delta_is_nearer_to_the_squares(outlier):
    narrow = fitted(outlier)
    outlier.controls["delta"].value = 3
    wide = fitted(outlier)
    assert wide["Huber"] > narrow["Huber"] and wide["Huber"] < wide["squared"]


def test_the_halves_name_the_widest_weight(rng):
    weights = rng.normal(size=(50, 3)) * [1, 9, 2]
    _, words = mr.draw_halves(["a", "b", "bmi"], weights, np.full(50, 7.0))
    assert "weight of b has" in words and "other half: 7.0" in words

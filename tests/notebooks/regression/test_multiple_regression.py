"""Multiple regression references against other libraries and brute force; Longley's table; the pictures."""

import numpy as np
import pytest
import scipy.linalg
import statsmodels.api as sm
import torch
from sklearn.linear_model import HuberRegressor, LinearRegression
from statsmodels.datasets import longley

from descent.pictures.regression import multiple_regression as mr
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "01_regression/02_multiple_regression"
ref = notebook_module(NOTEBOOK, "reference")


def normal(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


def told(name, **moved):
    return controls.explorer(NOTEBOOK, name, **moved).words.facts


# ------------------------------------------------------------------------------------- references


def test_a_step_follows_autograds_gradient():
    X, y, beta = normal(6, 3), normal(6, seed=1), normal(3, seed=2).requires_grad_()
    ((y - X @ beta).square().sum() / 2).backward()
    path = ref.descent(X, y, beta.detach(), 0.1, 1)
    torch.testing.assert_close(path[0] - path[1], 0.1 * beta.grad)


def test_the_trace_of_a_projection_is_the_rank():
    X = normal(6, 3)
    X = torch.cat([X, X[:, :1] - 2 * X[:, 1:2]], 1)  # a fourth column that adds nothing
    H = ref.hat_matrix(X)
    torch.testing.assert_close(H @ H, H.mT)
    torch.testing.assert_close(H @ X, X)
    assert H.trace().item() == pytest.approx(3)


@pytest.mark.parametrize("t", [(), (1,), (3,)], ids=str)
def test_independent_columns_give_scikit_learns_weights(t):
    X, Y = normal(7, 3), normal(7, *t, seed=1)
    model = LinearRegression(fit_intercept=False).fit(X.numpy(), Y.numpy())
    weights, used = ref.ols(X, Y)
    np.testing.assert_allclose(weights, model.coef_.T, rtol=1e-9)
    assert used == [0, 1, 2]


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 0, 2, 1), (2, 1, 0, 3)])
def test_left_out_is_what_does_not_raise_the_rank(order):
    X = normal(6, 3).numpy()
    X = np.column_stack([X, X[:, 0] - X[:, 1]])[:, order]
    ranks = [0] + [np.linalg.matrix_rank(X[:, : j + 1]) for j in range(4)]
    y = normal(6, seed=1)
    weights, used = ref.ols(torch.tensor(X), y)
    assert used == [j for j in range(4) if ranks[j + 1] > ranks[j]]
    shortest = np.linalg.lstsq(X, y.numpy())[0]
    np.testing.assert_allclose(X @ weights.numpy(), X @ shortest, atol=1e-9)


@pytest.mark.parametrize("power", [-20, -27, -32])
def test_digits_are_kept_where_the_normal_equations_lose_them(power):
    eps, beta = 2.0**power, torch.tensor([1.0, -2.0, 5.0], dtype=torch.float64)
    X = torch.vstack([torch.ones(3), eps * torch.eye(3)]).double()
    torch.testing.assert_close(ref.ols(X, X @ beta)[0], beta, rtol=1e-15 / eps, atol=0)
    if power <= -27:
        assert torch.linalg.matrix_rank(X.mT @ X) == 1


@pytest.mark.parametrize("n, d", [(7, 3), (3, 7), (4, 4), (1, 3), (5, 1)])
def test_the_shortest_weights_are_scipys_pseudo_inverse(n, d):
    X, y = normal(n, d), normal(n, seed=1)
    expected = scipy.linalg.pinv(X.numpy()) @ y.numpy()
    np.testing.assert_allclose(ref.minimum_norm(X, y), expected, rtol=1e-9)


def outliers(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=40)
    y = 1 + 2 * x + 0.3 * rng.normal(size=40)
    y[:5] += [9.0, 12.0, -7.0, 20.0, 15.0]
    return torch.from_numpy(np.column_stack([np.ones(40), x])), torch.from_numpy(y)


def test_huber_loss_is_torchs():
    r = torch.linspace(-3, 3, 31, dtype=torch.float64)
    expected = torch.nn.functional.huber_loss(r, 0 * r, reduction="none", delta=0.7)
    torch.testing.assert_close(ref.huber_loss(r, 0.7), expected)


@pytest.mark.parametrize("seed", range(2))
def test_huber_agrees_with_statsmodels_and_scikit_learn(seed):
    """RLM holds the scale, HuberRegressor estimates one; constant times scale is our delta."""
    X, y = outliers(seed)
    model = sm.RLM(y.numpy(), X.numpy(), M=sm.robust.norms.HuberT(t=1.345))
    fit = model.fit(update_scale=False, tol=1e-12, maxiter=500)
    got = ref.huber_path(X, y, 1.345 * float(fit.scale), 300)[-1]
    np.testing.assert_allclose(got.numpy(), fit.params, rtol=1e-6)
    model = HuberRegressor(epsilon=1.35, alpha=0, tol=1e-9, max_iter=2000)
    model.fit(X[:, 1:].numpy(), y.numpy())
    got = ref.huber_path(X, y, 1.35 * model.scale_, 300)[-1].numpy()
    np.testing.assert_allclose(got, [model.intercept_, *model.coef_], rtol=1e-4)


# ------------------------------------------------------------------------------------ Longley's table


def test_the_table_is_statsmodels():
    X, y = mr.longley()
    table = longley.load_pandas().data
    np.testing.assert_array_equal(np.column_stack([y, X[:, 1:]]), table.to_numpy())


def test_the_certified_weights_solve_the_table():
    X, y = mr.longley()
    np.testing.assert_allclose(np.linalg.lstsq(X, y)[0], mr.CERTIFIED, rtol=1e-8)


@pytest.mark.parametrize("order", [None, (6, 5, 4, 3, 2, 1, 0), (3, 0, 6, 1, 5, 2, 4)])
def test_the_programs_are_right_in_exact_arithmetic(order):
    X, y = mr.longley()
    np.testing.assert_allclose(mr.elimination(X, y, order, float), mr.CERTIFIED, rtol=1e-5)


def test_four_programs_fit_alike_and_differ_in_the_sign():
    facts = mr.draw_programs()[1].facts
    assert facts["least"] > 0.98
    assert [round(facts[name], 1) for name in "abcd"] == [-60.5, -55.8, -57.3, 14.4]


# ------------------------------------------------------------------------------------ the pictures


def test_three_features_explain_more_than_one():
    father, mother, sex, child = mr.families(200)
    X = np.column_stack([np.ones(200), father, mother, [word == "male" for word in sex]])
    facts = mr.draw_heights(X, child)[1].facts
    r2 = LinearRegression().fit(X[:, 1:], child).score(X[:, 1:], child)
    assert facts["one"] < 0.1 and facts["all"] == pytest.approx(r2)


def test_the_shortest_residual_is_perpendicular():
    start, best = told("projection_explorer"), told("projection_explorer", b1=1.2, b2=0.5)
    assert start["word"] == "slanted" and start["length"] > start["lowest"] + 0.5
    assert best["word"] == "perpendicular"
    assert best["length"] == pytest.approx(best["lowest"], abs=0.01)


def test_a_pair_has_leverage_where_neither_number_is_unusual():
    def leverage(gnp, population):
        return told("leverage_explorer", gnp=gnp, population=population)["leverage"]

    X = np.column_stack([np.ones(16), mr.longley()[0][:, [2, 5]] / 1000])
    X[7, 1:] = 500, 114
    influence = sm.OLS(np.arange(16.0), X).fit().get_influence()
    assert leverage(500, 114) == pytest.approx(influence.hat_matrix_diag[7])
    assert leverage(363, 116) < 0.2 < leverage(550, 130) < 0.5 < 0.9 < leverage(500, 114)


@pytest.mark.parametrize("eps", [1.0, 0.1, 0.01])
def test_two_rows_give_the_notes_weights(eps):
    np.testing.assert_allclose(mr.two_rows(eps), [-2 / eps, 1], rtol=1e-9)
    facts = told("draw_two_rows", eps=eps)
    assert facts["kappa"] == pytest.approx(np.linalg.cond([[0, 1], [eps, 1]]), rel=0.2)


def test_a_hard_problem_is_what_it_says(rng):
    X, y, beta = mr.hard_problem(1e4, 0.5, rng)
    assert np.linalg.cond(X) == pytest.approx(1e4, rel=1e-6)
    np.testing.assert_allclose(np.linalg.lstsq(X, y)[0], beta, rtol=1e-6)


def test_the_powers_of_kappa_are_told():
    facts = mr.draw_digits(lambda X, y: np.linalg.lstsq(X, y)[0])[1].facts
    assert facts["normal_exact"] == pytest.approx(2, abs=0.35)
    assert facts["yours_exact"] == pytest.approx(1, abs=0.35)
    assert facts["yours_long"] == pytest.approx(2, abs=0.35)


def test_descent_from_zero_ends_at_the_shortest_solution():
    assert mr.ends_at_the_shortest(np.zeros(3)) and not mr.ends_at_the_shortest(np.ones(3))


def test_the_planes_are_as_far_apart_as_the_weight_of_male():
    good = told("planes_explorer", base=162, b_father=0.4, b_mother=0.45, b_son=13)
    assert good["gap"] == 13 and good["lowest"] <= good["rmse"] < 5.2
    high = told("planes_explorer", base=172, b_father=0.4, b_mother=0.45, b_son=13)
    assert high["mean"] == pytest.approx(good["mean"] - 10)


@pytest.mark.parametrize("n, d", [(5, 2), (12, 5)])
def test_counted_least_squares_costs_the_formula(n, d, rng):
    X, y = rng.normal(size=(n, d)), rng.normal(size=n)
    weights, counts = mr.counted_ols(X, y)
    np.testing.assert_allclose(weights, np.linalg.lstsq(X, y)[0])
    assert sum(counts.values()) == n * d**2 + n * d + d**3 + d**2


def test_the_plain_fit_is_better_off_without_the_noisy_sensor_from_root_three_on():
    for ratio, better in ((1, False), (1.5, False), (2, True), (8, True)):
        facts = told("sensor_explorer", ratio=ratio)
        assert (facts["alone"] < facts["plain_theory"]) == better
        assert facts["weighted_theory"] <= min(facts["plain_theory"], facts["alone"]) + 1e-12


def test_the_absolute_fit_is_a_median_regression(rng):
    x, y = rng.normal(size=21), rng.normal(size=21)
    X = np.column_stack([np.ones(21), x])
    expected = sm.QuantReg(y, X).fit(q=0.5, p_tol=1e-10, max_iter=5000).params
    loss = [np.abs(y - X @ b).sum() for b in (mr.absolute_fit(X, y), expected)]
    assert loss[0] <= loss[1] + 1e-6


def test_influences_are_derivatives_of_their_losses():
    r, h, nu = np.array([-2.5, -0.4, 0.3, 1.7]), 1e-6, 3.0
    losses = {
        "squared": lambda r: r**2 / 2,
        "absolute": np.abs,
        "Huber": lambda r: ref.huber_loss(torch.tensor(r), 1.0).numpy(),
        "Student t": lambda r: nu / 2 * np.log1p(r**2 / nu),
    }
    for name, psi in mr.influence(r).items():
        slope = (losses[name](r + h) - losses[name](r - h)) / (2 * h)
        np.testing.assert_allclose(psi, slope, rtol=1e-5)


def test_only_the_squares_follow_a_bad_target_and_all_follow_a_far_one():
    high, low = told("outlier_explorer"), told("outlier_explorer", y_out=-10)
    assert high["squared"] - low["squared"] > 0.5 > 0.15 > high["huber"] - low["huber"]
    far = told("outlier_explorer", x_out=30, y_out=-10)
    assert far["huber"] < 0 and far["absolute"] < 0

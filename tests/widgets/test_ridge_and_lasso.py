"""Widgets of ridge and lasso: their numbers against other solvers, then their controls."""

import re

import numpy as np
import pytest
from ipywidgets import Dropdown, FloatSlider, IntSlider
from scipy.optimize import minimize
from sklearn.linear_model import Lasso, Ridge

from descent import data
from descent.widgets import Explorer
from descent.widgets import ridge_and_lasso as rl


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

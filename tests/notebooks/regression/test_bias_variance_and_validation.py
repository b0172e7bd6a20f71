"""Bias, variance and validation: references against loops, SciPy and simulation; pictures against closed forms."""

import numpy as np
import pytest
import torch
from numpy.polynomial.legendre import legvander
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_score

from descent.pictures.regression import bias_variance_and_validation as ms
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "01_regression/04_bias_variance_and_validation"
ref = notebook_module(NOTEBOOK, "reference")


def normal(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


def told(text, **moved):
    """The facts that the notebook's own explorer tells with these controls."""
    return controls.explorer(NOTEBOOK, text, **moved).words.facts


def cubic(x):
    return 1 + x - 2 * x**3


# ---------------------------------------------------------------- references


def test_bias_and_variance_add_up_to_the_mean_squared_error():
    fits, truth = normal(2, 3, 7, 5), normal(2, 3, 5, seed=1)
    bias2, variance = ref.squared_error_terms(fits, truth)
    risk = (fits - truth.unsqueeze(-2)).square().mean((-2, -1))
    torch.testing.assert_close(bias2 + variance, risk)
    np.testing.assert_allclose(variance, np.var(fits.numpy(), axis=-2).mean(-1))


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_errors_by_size_are_scikit_learns_ridge(n):
    x, y, new_x, new_y = (normal(k, seed=k) for k in (8, 9, 4, 5))
    y, new_y = y[:8], new_y[:4]
    A, B = (np.c_[np.ones(len(v)), v] for v in (x, new_x))
    model = Ridge(0.1, fit_intercept=False).fit(A[:n], y[:n])
    expected = [
        np.mean((model.predict(rows) - targets.numpy()) ** 2)
        for rows, targets in ((A[:n], y[:n]), (B, new_y))
    ]
    np.testing.assert_allclose(np.ravel(ref.errors_by_size(x, y, new_x, new_y, [n])), expected)


def world(R, sigma=0.7):
    coefficients = torch.tensor([-2.0, 0.0, 1.0, 1.0], dtype=torch.float64)
    x, new_x = torch.from_numpy(ms.grid(9)), torch.from_numpy(ms.grid(6))
    return dict(coefficients=coefficients, x=x, new_x=new_x, sigma=sigma, R=R, seed=3)


def test_measured_terms_are_those_of_a_loop():
    got = ref.measured_terms(degree=2, **world(2))
    rng, x, new_x, fits, targets = np.random.default_rng(3), ms.grid(9), ms.grid(6), [], []
    for _ in range(2):
        w = np.polyfit(x, cubic(x) + 0.7 * rng.normal(size=9), 2)
        fits.append(np.polyval(w, new_x))
        targets.append(cubic(new_x) + 0.7 * rng.normal(size=6))
    risk, noise = (np.mean(np.subtract(targets, other) ** 2) for other in (fits, cubic(new_x)))
    bias2 = np.mean((np.mean(fits, axis=0) - cubic(new_x)) ** 2)
    np.testing.assert_allclose(got, [risk, noise, bias2, np.var(fits, axis=0).mean()])


def test_measured_terms_tend_to_the_exact_ones_and_show_too_much_bias():
    S = ms.smoother(ms.grid(9), ms.grid(6), 1)
    bias2 = np.mean((S @ cubic(ms.grid(9)) - cubic(ms.grid(6))) ** 2)
    variance = 0.49 * np.mean(np.sum(S**2, axis=1))
    risk, *terms = ref.measured_terms(degree=1, **world(100_000))
    np.testing.assert_allclose(terms, [0.49, bias2, variance], rtol=0.02)
    assert risk == pytest.approx(0.49 + bias2 + variance, rel=0.01)
    few = [ref.measured_terms(degree=1, **{**world(5), "seed": seed})[2] for seed in range(2000)]
    assert np.mean(few) == pytest.approx(bias2 + variance / 5, rel=0.03)


def test_the_report_is_that_of_scikit_learns_scores():
    X, test, lams = normal(30, 3), [4, 0, 17, 9], [300.0, 20.0, 1.0, 0.01]
    y = X.sum(-1) + normal(30, seed=1)
    chosen, mean, error = ref.report(torch.tensor(lams).double(), X, y, test, 5, None)
    rest = np.delete(np.arange(30), test)
    models = [Ridge(lam, fit_intercept=False) for lam in lams]
    table = [
        -cross_val_score(model, X[rest], y[rest], cv=KFold(5), scoring="neg_mean_squared_error")
        for model in models
    ]
    means = np.mean(table, axis=1)
    limit = means.min() + stats.sem(table[means.argmin()])
    number = next(i for i in range(4) if means[i] <= limit)
    missed = models[number].fit(X[rest], y[rest]).predict(X[test]) - y[test].numpy()
    assert chosen == number and number != means.argmin()
    np.testing.assert_allclose([mean, error], [means[number], np.mean(missed**2)])


def test_draws_are_uniform_in_the_logarithm():
    u = torch.from_numpy(np.random.default_rng(0).random((4000, 1)))
    ends = torch.tensor([[1e-4], [10.0]], dtype=torch.float64)
    settings = ref.log_uniform(*ends, u)
    assert stats.kstest(settings[:, 0].numpy(), stats.loguniform(1e-4, 10).cdf).pvalue > 0.01


def test_the_winner_is_the_lowest_finite_loss():
    losses, settings = normal(6), normal(6, 2, seed=1)
    losses[0], losses[3] = torch.nan, -torch.inf
    best, loss = ref.best_of_log_uniform(losses, settings)
    pairs = zip(losses.tolist(), settings.tolist(), strict=True)
    assert (loss.item(), best.tolist()) == min(p for p in pairs if np.isfinite(p[0]))


def test_expected_best_agrees_with_simulation(rng):
    lowest = rng.binomial(1000, 0.1, (4000, 100)).min(1) / 1000
    error = lowest.std() / np.sqrt(4000)
    assert abs(ref.expected_best_error(0.1, 1000, 100).item() - lowest.mean()) < 5 * error


def test_the_geometric_centre_minimises_the_variance():
    """Any other centre is further from the models: the definition of a Bregman mean."""
    probs, others = normal(5, 3).softmax(-1), normal(2000, 3, seed=2).softmax(-1)
    _, _, variance = ref.cross_entropy_terms(probs, probs[0])
    distance = (others.unsqueeze(1) * (others.unsqueeze(1) / probs).log()).sum(-1).mean(-1)
    assert distance.min() >= variance


# ---------------------------------------------------------------- smoothers and their terms


@pytest.mark.parametrize("degree, ridge", [(0, 0.0), (3, 0.0), (12, 0.0), (5, 0.01), (12, 1.0)])
def test_smoothed_targets_are_scikit_learns_fits(degree, ridge, rng):
    x, new_x, y = ms.grid(15), ms.grid(7), rng.normal(size=15)
    got = ms.smoother(x, new_x, degree, ridge) @ y
    if ridge:
        model = Ridge(15 * ridge).fit(legvander(x, degree)[:, 1:], y)
        expected = model.predict(legvander(new_x, degree)[:, 1:])
    else:
        w = np.linalg.lstsq(legvander(x, degree), y, rcond=None)[0]
        expected = legvander(new_x, degree) @ w
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("degree, ridge", [(1, 0.0), (6, 0.0), (6, 0.1)])
def test_exact_terms_are_what_a_simulation_tends_to(degree, ridge, rng):
    x, points = ms.grid(20), ms.grid()
    y = cubic(x) + 0.3 * rng.normal(size=(40_000, 20))
    fits = y @ ms.smoother(x, points, degree, ridge).T
    own = y @ ms.smoother(x, x, degree, ridge).T
    bias2, variance, training = ms.exact_terms(cubic, 20, 0.3, degree, ridge)
    seen = np.mean((fits.mean(0) - cubic(points)) ** 2)
    assert seen == pytest.approx(bias2, rel=0.02, abs=3 * variance / 40_000)
    assert fits.var(0).mean() == pytest.approx(variance, rel=0.02)
    assert np.mean((own - y) ** 2) == pytest.approx(training, rel=0.02)


def test_no_bias_is_left_once_the_family_holds_the_truth():
    bias2 = [ms.exact_terms(cubic, 15, 0.3, degree)[0] for degree in range(13)]
    assert min(bias2[:3]) > 0.01 and max(bias2[3:]) < 1e-12


def test_spline_columns_span_a_smooth_piecewise_cubic():
    x = np.linspace(-1, 1, 50)
    basis = ms.cubic_spline_basis(x, (-0.5, 0.5))
    target = np.where(x > 0.5, (x - 0.5) ** 3, 0) - cubic(x)
    assert np.allclose(basis @ np.linalg.lstsq(basis, target, rcond=None)[0], target)


# ---------------------------------------------------------------- the fan


def test_the_terms_add_up_and_the_shown_mean_is_worse_than_the_exact_one():
    rich = told("fan_explorer", degree=12, sets=40)
    assert rich["risk"] == pytest.approx(rich["bias2"] + rich["variance"] + rich["noise2"])
    assert rich["bias2"] < 1e-6 < 0.1 < rich["shown"]


def test_the_degree_trades_bias_for_variance():
    poor, rich = (told("fan_explorer", degree=degree) for degree in (0, 10))
    assert poor["bias2"] > 10 * rich["bias2"] and poor["variance"] < rich["variance"]
    assert (poor["lowest"], poor["best"]) == (rich["lowest"], rich["best"])
    assert rich["training"] < rich["risk"] / 2 and poor["training"] > 0.8 * poor["risk"]


def test_rows_noise_and_ridge_move_their_terms():
    plain = told("fan_explorer", degree=10)
    assert told("fan_explorer", degree=10, n=200)["variance"] < plain["variance"] / 5
    assert told("fan_explorer", degree=10, noise=0.5)["noise2"] == pytest.approx(0.25)
    held = told("fan_explorer", degree=10, log_ridge=-0.5)
    assert held["variance"] < plain["variance"] / 2 and held["bias2"] > 10 * plain["bias2"]


# ---------------------------------------------------------------- other pictures


def test_the_nearest_patient_and_the_best_of_one_are_what_brute_force_says(rng):
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    a, b, c = np.split(np.arange(30), [12, 20])
    near = [y[a][np.argmin([np.linalg.norm(X[i] - X[j]) for j in a])] for i in c]
    assert ms.nearest_error(X, y, a, c) == pytest.approx(np.mean((near - y[c]) ** 2))
    got = ms.winner_errors(X, y, a, b, c, np.random.default_rng(1), models=1)
    gen = np.random.default_rng(1)
    used, lam = gen.random((1, 4))[0] < 0.5, 10 ** gen.uniform(-2, 3, 1)[0]
    A = X[:, used]
    w = np.linalg.solve(A[a].T @ A[a] + lam * np.eye(used.sum()), A[a].T @ (y[a] - y[a].mean()))
    errors = (A @ w + y[a].mean() - y) ** 2
    np.testing.assert_allclose(got, [errors[b].mean(), errors[c].mean()])


@pytest.mark.parametrize("n, d", [(20, 1), (20, 10), (20, 32), (60, 5)])
def test_least_squares_follows_its_formulas(n, d, rng):
    seen = ms.least_squares_errors(n, d, 2000, rng)
    np.testing.assert_allclose(seen, ms.least_squares_theory(n, d), rtol=0.05, atol=1e-9)


def test_titles_and_words_name_what_they_found():
    exact = np.array([[1.0, 0.0], [0.1, 0.1], [0.0, 0.5]])
    facts = ms.draw_stack(np.arange(3), exact, np.array([1.2, 0.5, 0.7]), 0.2)[1].facts
    assert (facts["best"], facts["lowest"], facts["off"]) == (1, *map(pytest.approx, (0.4, 0.1)))
    curves = {1: ([0.5, 0.9], [1.1, 1.0]), 10: ([0.1, 0.4], [9.0, 0.5])}
    curves = {degree: np.array(pair) for degree, pair in curves.items()}
    assert ms.draw_learning_curves([10, 100], curves, 0.3)[1].facts["pays"] == 100
    validation = np.array([0.9, 0.4, 0.6, np.nan, np.inf])  # two runs blew up
    facts = ms.draw_rates(np.geomspace(1e-3, 10, 5), validation, validation, 0.5)[1].facts
    assert (facts["lowest"], facts["best"], facts["fast"]) == (0.4, pytest.approx(0.01), 0.6)


@pytest.mark.parametrize("agreement", [0.0, 0.5, 1.0])
def test_agreement_leaves_the_true_error_alone(agreement, rng):
    errors = ms.observed_errors(0.2, 100, 50, agreement, 2000, rng)
    assert abs(errors[:, 0].mean() - 0.2) < 4 * errors[:, 0].std() / np.sqrt(2000)
    if agreement == 1:
        assert np.all(errors == errors[:, :1])
    correlation = np.corrcoef(errors[:, :2].T)[0, 1]  # two that copy a share a: a²
    assert correlation == pytest.approx(agreement**2, abs=0.08)


def test_the_benchmark_flatters_by_models_cases_and_agreement():
    hundred = told("draw_benchmark")["best"]
    above = stats.binom.sf(np.arange(1000), 1000, 0.1) ** 100
    assert hundred == pytest.approx(above.sum() / 1000, abs=1e-3)
    assert told("draw_benchmark", models=1)["best"] == pytest.approx(0.1, abs=2e-3)
    assert told("draw_benchmark", models=1000)["best"] < hundred - 3e-3
    assert told("draw_benchmark", n=10000)["best"] > 0.09
    assert hundred + 0.01 < told("draw_benchmark", agreement=0.9)["best"] < 0.095
    assert told("draw_benchmark", fresh=True)["again"] == pytest.approx(0.1, abs=2e-3)

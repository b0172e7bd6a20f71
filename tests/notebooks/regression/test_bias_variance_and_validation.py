"""Model selection references against scikit-learn, SciPy, torch's losses, sums and simulation."""

import re

import numpy as np
import pytest
import torch
from ipywidgets import Checkbox, FloatSlider, IntSlider, SelectionSlider
from numpy.polynomial.legendre import legvander
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_score
from torch.nn.functional import cross_entropy

from descent.pictures.regression import bias_variance_and_validation as ms
from descent.widgets import Explorer
from solutions import notebook_module

ref = notebook_module("01_regression/04_bias_variance_and_validation", "reference")


DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=1e-4, atol=1e-5)
    return dict(rtol=1e-10, atol=1e-12)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def simplex(*shape, dtype=torch.float64, seed=0):
    return normal(*shape, seed=seed).softmax(-1).to(dtype)


def binomial_mean_of_lowest(p, n, M):
    """Mean lowest rate from the probabilities of the lowest count, by SciPy."""
    at_least = stats.binom.sf(np.arange(-1, n + 1), n, p) ** M
    return np.sum(np.arange(n + 1) * -np.diff(at_least)) / n


# ---------------------------------------------------------------- squared error


@DTYPES
@BATCHES
def test_bias_and_variance_add_up_to_the_mean_squared_error(batch, dtype):
    fits, truth = normal(*batch, 7, 5, dtype=dtype), normal(*batch, 5, dtype=dtype, seed=1)
    bias2, variance = ref.squared_error_terms(fits, truth)
    risk = (fits - truth.unsqueeze(-2)).square().mean((-2, -1))
    assert bias2.shape == batch and bias2.dtype == dtype
    torch.testing.assert_close(bias2 + variance, risk, **tolerance(dtype))


@DTYPES
def test_variance_is_numpys_and_bias_is_that_of_the_mean(dtype):
    fits, truth = normal(6, 4, dtype=dtype), normal(4, dtype=dtype, seed=1)
    bias2, variance = ref.squared_error_terms(fits, truth)
    by_hand = np.mean((fits.double().numpy().mean(0) - truth.double().numpy()) ** 2)
    assert np.isclose(variance, fits.double().numpy().var(0).mean(), **tolerance(dtype))
    assert np.isclose(bias2, by_hand, **tolerance(dtype))


# ---------------------------------------------------------------- the tower property


@DTYPES
@BATCHES
def test_iterated_mean_equals_the_double_sum(batch, dtype):
    joint = simplex(*batch, 12, dtype=dtype).reshape(*batch, 3, 4)
    g = normal(*batch, 3, 4, dtype=dtype, seed=1)
    inner, total = ref.conditional_means(joint, g)
    assert inner.shape == (*batch, 3) and inner.dtype == dtype
    torch.testing.assert_close(total, (joint * g).sum((-2, -1)), **tolerance(dtype))


def test_inner_means_are_those_of_a_sample():
    joint, g = simplex(6).reshape(2, 3), normal(2, 3, seed=1)
    inner, _ = ref.conditional_means(joint, g)
    draws = np.random.default_rng(0).choice(6, 400_000, p=joint.numpy().ravel())
    for i in range(2):
        values = g.numpy().ravel()[draws[draws // 3 == i]]
        error = values.std() / np.sqrt(len(values))
        assert abs(values.mean() - inner[i].item()) < 5 * error


@DTYPES
def test_a_row_that_never_happens_counts_for_nothing(dtype):
    joint = torch.tensor([[0.25, 0.75], [0.0, 0.0]], dtype=dtype)
    inner, total = ref.conditional_means(joint, torch.tensor([[4.0, 8.0], [9.0, 9.0]], dtype=dtype))
    assert inner.tolist() == [7.0, 0.0] and total.item() == 7.0


# ---------------------------------------------------------------- cross-entropy


@DTYPES
@BATCHES
def test_three_terms_add_up_to_torchs_cross_entropy(batch, dtype):
    probs, truth = simplex(*batch, 5, 4, dtype=dtype), simplex(*batch, 4, dtype=dtype, seed=1)
    noise, bias, variance = ref.cross_entropy_terms(probs, truth)
    targets = truth.unsqueeze(-2).expand_as(probs).reshape(-1, 4)
    loss = cross_entropy(probs.log().reshape(-1, 4), targets, reduction="none")
    loss = loss.reshape(*batch, 5).mean(-1)
    assert noise.shape == batch and noise.dtype == dtype
    torch.testing.assert_close(noise + bias + variance, loss, **tolerance(dtype))


def test_terms_are_scipys_entropies():
    probs, truth = simplex(5, 3).numpy(), np.array([0.6, 0.4, 0.0])
    noise, bias, variance = ref.cross_entropy_terms(torch.tensor(probs), torch.tensor(truth))
    centre = stats.gmean(probs, axis=0)
    centre /= centre.sum()
    spread = np.mean([stats.entropy(centre, row) for row in probs])
    expected = stats.entropy(truth), stats.entropy(truth, centre), spread
    np.testing.assert_allclose([noise, bias, variance], expected, rtol=1e-12)


def test_the_centre_minimises_the_variance():
    """Any other centre is further from the models: the definition of a Bregman mean."""
    probs = simplex(5, 3)
    _, _, variance = ref.cross_entropy_terms(probs, probs[0])
    others = simplex(2000, 3, seed=2)
    distance = (others.unsqueeze(1) * (others.unsqueeze(1) / probs).log()).sum(-1).mean(-1)
    assert distance.min() >= variance


# ---------------------------------------------------------------- cross-validation


@DTYPES
@BATCHES
@pytest.mark.parametrize("n, k", [(12, 4), (11, 4), (9, 2), (6, 6)])
def test_scores_are_scikit_learns(batch, n, k, dtype):
    X, y = normal(*batch, n, 2, dtype=dtype), normal(*batch, n, dtype=dtype, seed=1)
    scores = ref.ridge_cv_scores(X, y, k, 0.3)
    assert scores.shape == (*batch, k) and scores.dtype == dtype
    rows = zip(X.double().reshape(-1, n, 2), y.double().reshape(-1, n), strict=True)
    model = Ridge(0.3, fit_intercept=False)
    scoring = "neg_mean_squared_error"
    expected = [
        -cross_val_score(model, A.numpy(), b.numpy(), cv=KFold(k), scoring=scoring) for A, b in rows
    ]
    expected = torch.tensor(np.array(expected), dtype=dtype).reshape(*batch, k)
    torch.testing.assert_close(scores, expected, **tolerance(dtype))


@pytest.mark.parametrize("n, k", [(10, 5), (11, 5), (14, 5), (5, 5)])
def test_fold_sizes_are_scikit_learns(n, k):
    assert ref.fold_sizes(n, k) == [len(fold) for _, fold in KFold(k).split(np.zeros(n))]


# ---------------------------------------------------------------- search


@DTYPES
def test_draws_are_uniform_in_the_logarithm(dtype):
    u = torch.from_numpy(np.random.default_rng(0).random((4000, 1))).to(dtype)
    low, high = torch.tensor([1e-4], dtype=dtype), torch.tensor([10.0], dtype=dtype)
    settings = ref.log_uniform(low, high, u)
    test = stats.kstest(settings[:, 0].double().numpy(), stats.loguniform(1e-4, 10).cdf)
    assert settings.dtype == dtype and test.pvalue > 0.01


@BATCHES
def test_the_winner_is_the_lowest_finite_loss(batch):
    losses, settings = normal(*batch, 6), normal(*batch, 6, 2, seed=1)
    losses[..., 0], losses[..., 3] = torch.nan, -torch.inf
    best, loss = ref.best_of_log_uniform(losses, settings)
    rows = zip(losses.reshape(-1, 6), settings.reshape(-1, 6, 2), strict=True)
    expected = [
        min((a.item(), b.tolist()) for a, b in zip(*row, strict=True) if a.isfinite())
        for row in rows
    ]
    assert best.shape == (*batch, 2)
    assert best.reshape(-1, 2).tolist() == [setting for _, setting in expected]
    assert loss.reshape(-1).tolist() == [value for value, _ in expected]


# ---------------------------------------------------------------- the best of many


@DTYPES
@pytest.mark.parametrize("n, M", [(1, 4), (20, 5), (1000, 100)])
def test_expected_best_agrees_with_scipy(n, M, dtype):
    p = torch.tensor([0.03, 0.1, 0.4, 0.9], dtype=dtype)
    expected = [binomial_mean_of_lowest(q, n, M) for q in p.double().numpy()]
    got = ref.expected_best_error(p, n, M)
    assert got.dtype == dtype
    torch.testing.assert_close(
        got, torch.tensor(np.array(expected), dtype=dtype), **tolerance(dtype)
    )


def test_expected_best_agrees_with_simulation(rng):
    lowest = rng.binomial(1000, 0.1, (4000, 100)).min(1) / 1000
    error = lowest.std() / np.sqrt(4000)
    assert abs(ref.expected_best_error(0.1, 1000, 100).item() - lowest.mean()) < 5 * error
    assert round(ref.expected_best_error(0.1, 1000, 100).item(), 3) == 0.077


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_one_model_is_worth_what_it_is(p):
    assert ref.expected_best_error(p, 17, 1).item() == pytest.approx(p, abs=1e-12)


# ------------------------------------------------------------ what it draws


def cubic(x):
    return 1 + x - 2 * x**3


def numbers(words):
    return [float(text) for text in re.findall(r"\d+\.\d+|\d+", words)]


# ---------------------------------------------------------------- data sets and fits


def test_each_slot_holds_one_input(rng):
    x, _ = ms.data_sets(cubic, 10, 0.3, 50, rng)
    slots = np.floor((x + 1) * 5).astype(int)
    assert np.array_equal(slots, np.tile(np.arange(10), (50, 1)))


def test_targets_scatter_by_the_noise(rng):
    x, y = ms.data_sets(cubic, 40, 0.3, 500, rng)
    assert np.std(y - cubic(x)) == pytest.approx(0.3, rel=0.02)  # four standard errors
    x, y = ms.data_sets(cubic, 10, 0.0, 3, rng)
    assert np.array_equal(y, cubic(x))


@pytest.mark.parametrize("degree, ridge", [(0, 0.0), (3, 0.0), (12, 0.0), (5, 0.01), (12, 1.0)])
def test_fits_are_scikit_learns(degree, ridge, rng):
    x, y = ms.data_sets(cubic, 15, 0.3, 4, rng)
    new_x = ms.grid(7)
    got = ms.polynomial_fits(x, y, degree, ridge, new_x)
    for row, (inputs, targets) in enumerate(zip(x, y, strict=True)):
        features, new = legvander(inputs, degree)[:, 1:], legvander(new_x, degree)[:, 1:]
        if degree == 0:
            expected = np.full(7, targets.mean())
        elif ridge == 0:
            w = np.linalg.lstsq(legvander(inputs, degree), targets, rcond=None)[0]
            expected = legvander(new_x, degree) @ w
        else:
            expected = Ridge(15 * ridge).fit(features, targets).predict(new)
        np.testing.assert_allclose(got[row], expected, rtol=1e-5, atol=1e-7)


def test_bias_vanishes_once_the_family_holds_the_truth():
    bias2, variance = ms.terms_by_degree(cubic, 50, 0.1, 0.0, repeats=400)
    assert bias2[1] > 0.05
    assert np.all(bias2[3:] < 4 * variance[3:] / 400)  # only what is left of the variance


def test_variance_is_that_of_the_hat_matrix(rng):
    """On fixed inputs the fit is S y, so its variance is σ² times the sum of the squares of S."""
    x, points = ms.grid(20), ms.grid(30)
    y = cubic(x) + 0.5 * rng.standard_normal((4000, 20))
    fits = ms.polynomial_fits(np.tile(x, (4000, 1)), y, 3, 0.0, points)
    S = legvander(points, 3) @ np.linalg.pinv(legvander(x, 3))
    np.testing.assert_allclose(fits.var(0), 0.25 * (S**2).sum(1), rtol=0.15)  # six standard errors


def test_simulated_terms_are_those_of_the_hat_matrix():
    x, points = ms.grid(8), ms.grid(5)
    A = legvander(points, 1) @ np.linalg.pinv(legvander(x, 1))

    def terms(fits, true):
        return np.mean((fits.mean(0) - true) ** 2), fits.var(0).mean()

    got = ms.simulate_terms(terms, cubic, lambda x: 0.5 + 0 * x, A, x, points, blocks=4)
    bias2 = np.mean((A @ cubic(x) - cubic(points)) ** 2)
    variance = 0.25 * np.mean((A**2).sum(1))
    expected = [bias2, variance, 0.25, bias2 + variance + 0.25]
    np.testing.assert_allclose(got, expected, atol=0.01)  # five standard errors


def test_spline_columns_span_a_smooth_piecewise_cubic():
    x = np.linspace(-1, 1, 50)
    basis = ms.cubic_spline_basis(x, (-0.5, 0.5))
    assert basis.shape == (50, 6) and np.linalg.matrix_rank(basis) == 6
    target = np.where(x > 0.5, (x - 0.5) ** 3, 0) - cubic(x)
    assert np.allclose(basis @ np.linalg.lstsq(basis, target, rcond=None)[0], target)


def test_the_box_is_an_even_grid():
    points = ms.box(2)
    assert sorted(map(tuple, points)) == [(-3, -3), (-3, -1), (-1, -3), (-1, -1)]


# ---------------------------------------------------------------- the fan


@pytest.fixture
def fan():
    return Explorer(
        ms.fan_explorer(cubic),
        dict(
            degree=IntSlider(8, min=0, max=12),
            n=IntSlider(20, min=15, max=200, step=5),
            noise=FloatSlider(0.3, min=0, max=1),
            log_ridge=FloatSlider(-6, min=-6, max=1),
        ),
    )


def terms(widget):
    """bias², variance, noise, risk of the chosen degree; lowest risk and its degree; training error."""
    return dict(
        zip(
            ("degree", "bias2", "variance", "noise", "risk", "lowest", "best", "training"),
            numbers(widget.words),
            strict=True,
        )
    )


def test_the_words_add_up(fan):
    told = terms(fan)
    assert told["degree"] == 8
    assert told["bias2"] + told["variance"] + told["noise"] == pytest.approx(
        told["risk"], abs=0.002
    )
    assert told["noise"] == 0.09


def test_the_degree_trades_bias_for_variance(fan):
    rich = terms(fan)
    fan.controls["degree"].value = 0
    poor = terms(fan)
    assert poor["bias2"] > 10 * rich["bias2"] and poor["variance"] < rich["variance"]
    assert poor["lowest"] == rich["lowest"] and poor["best"] == 3


def test_training_error_flatters_the_rich_degree(fan):
    rich = terms(fan)
    assert rich["training"] == pytest.approx(0.09 * (1 - 9 / 20), abs=0.003)  # σ² (1 - d / n)
    fan.controls["degree"].value = 0
    poor = terms(fan)
    assert rich["training"] < rich["risk"] / 2 and poor["training"] > 0.8 * poor["risk"]


def test_more_rows_less_variance(fan):
    few = terms(fan)
    fan.controls["n"].value = 200
    assert terms(fan)["variance"] < few["variance"] / 5


def test_noise_sets_the_floor(fan):
    fan.controls["noise"].value = 0.5
    assert terms(fan)["noise"] == 0.25
    fan.controls["noise"].value = 0.0
    assert terms(fan)["risk"] == 0.0  # the truth lies in the family


def test_ridge_trades_variance_for_bias(fan):
    free = terms(fan)
    fan.controls["log_ridge"].value = 0.0
    held = terms(fan)
    assert held["variance"] < free["variance"] / 2 and held["bias2"] > 10 * free["bias2"]


# ---------------------------------------------------------------- figures


def test_the_small_noisy_world_overfits_and_the_large_one_does_not():
    def truth(x):
        return np.sin(4 * x + 0.7)

    cells = {(c["n"], c["degree"]): c for c in ms.six_fits(truth)}
    assert cells[15, 12]["train"] < 0.1 < 1 < cells[15, 12]["validation"]
    assert cells[100, 12]["validation"] < 0.12  # noise alone is 0.1
    assert min(cells[n, 1]["train"] for n in (15, 100)) > 0.5


@pytest.mark.parametrize("n, d", [(20, 1), (20, 10), (20, 32), (60, 5)])
def test_least_squares_follows_its_formulas(n, d, rng):
    seen = ms.least_squares_errors(n, d, 2000, rng)
    np.testing.assert_allclose(seen, ms.least_squares_theory(n, d), rtol=0.05, atol=1e-9)


def test_the_stack_names_the_lowest_sum():
    _, words = ms.draw_stack(
        np.arange(3), np.array([1.0, 0.1, 0.0]), np.array([0.0, 0.1, 0.5]), 0.2
    )
    assert "lowest, 0.400, at degree 1" in words


def test_the_sizes_name_the_crossing():
    simple, rich = np.array([[1.0, 0.1], [1.0, 0.0]]), np.array([[0.0, 9.0], [0.0, 0.5]])
    _, words = ms.draw_sizes([10, 100], {1: simple, 10: rich})
    assert "from 100 rows on degree 10 is better" in words


def test_a_rate_that_blows_up_is_not_the_best():
    validation = np.array([0.9, 0.4, 0.6, np.nan, np.inf])
    fig, words = ms.draw_rates(np.geomspace(1e-3, 10, 5), validation, validation, 0.5)
    assert "lowest, 0.40, at η = 0.01" in words
    assert len(fig.axes[0].lines[2].get_xdata()) == 2  # two crosses


# ---------------------------------------------------------------- the best of many


@pytest.mark.parametrize("agreement", [0.0, 0.5, 1.0])
def test_agreement_leaves_the_true_error_alone(agreement, rng):
    errors = ms.observed_errors(0.2, 100, 50, agreement, 2000, rng)
    error = errors[:, 0].std() / np.sqrt(2000)
    assert abs(errors[:, 0].mean() - 0.2) < 4 * error
    assert errors[:, 0].std() == pytest.approx(np.sqrt(0.2 * 0.8 / 100), rel=0.08)


def test_models_that_agree_on_everything_are_one_model(rng):
    errors = ms.observed_errors(0.2, 100, 5, 1.0, 20, rng)
    assert np.all(errors == errors[:, :1])


def test_agreement_is_the_correlation(rng):
    """Two models that share a pattern on a share a of the cases correlate by a²."""
    errors = ms.observed_errors(0.3, 200, 2, 0.8, 20_000, rng)
    assert np.corrcoef(errors.T)[0, 1] == pytest.approx(0.64, abs=0.02)


@pytest.fixture
def benchmark():
    return Explorer(
        ms.draw_benchmark,
        dict(
            models=SelectionSlider(value=100, options=[1, 10, 100, 1000]),
            n=SelectionSlider(value=1000, options=[100, 1000, 10000]),
            agreement=FloatSlider(0.0, min=0, max=1),
            fresh=Checkbox(False),
        ),
    )


def reported(widget):
    return numbers(widget.words)[2]


def test_the_best_of_a_hundred_is_the_expected_one(benchmark):
    above = stats.binom.sf(np.arange(1000), 1000, 0.1) ** 100
    assert reported(benchmark) == pytest.approx(above.sum() / 10, abs=0.1)  # in per cent


def test_one_model_is_honest_and_a_thousand_are_less_so(benchmark):
    hundred = reported(benchmark)
    benchmark.controls["models"].value = 1
    assert reported(benchmark) == pytest.approx(10, abs=0.2)
    benchmark.controls["models"].value = 1000
    assert reported(benchmark) < hundred - 0.3


def test_more_cases_are_more_honest(benchmark):
    benchmark.controls["n"].value = 10000
    assert reported(benchmark) > 9


def test_models_that_agree_flatter_less(benchmark):
    alone = reported(benchmark)
    benchmark.controls["agreement"].value = 0.9
    assert alone + 1 < reported(benchmark) < 9.5


def test_a_fresh_test_set_tells_the_truth(benchmark):
    assert "fresh" not in benchmark.words
    benchmark.controls["fresh"].value = True
    assert numbers(benchmark.words)[-1] == pytest.approx(10, abs=0.2)

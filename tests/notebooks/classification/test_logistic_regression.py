"""Logistic regression references against SciPy, scikit-learn, statsmodels, autograd and brute force."""

import re

import numpy as np
import pytest
import statsmodels.api as sm
import torch
from ipywidgets import Dropdown, FloatSlider, IntSlider, SelectionSlider
from scipy.special import expit
from scipy.stats import bernoulli
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, precision_recall_curve
from sklearn.svm import SVC

from descent.pictures.classification import logistic_regression as lr
from descent.widgets import Explorer
from solutions import notebook_module

ref = notebook_module("02_classification/02_logistic_regression", "reference")


DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=2e-4, atol=2e-5)
    return dict(rtol=1e-9, atol=1e-11)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def design(*batch, n=40, d=3, dtype=torch.float64, seed=0):
    """X with a leading 1 and noisy labels, two of each point so that the classes overlap."""
    X = normal(*batch, n, d, seed=seed)
    X[..., 0] = 1
    X[..., n // 2 :, :] = X[..., : n // 2, :]
    y = (X.sum(-1) + 2 * normal(*batch, n, seed=seed + 1) > 0).to(dtype)
    y[..., :d] = 0
    y[..., n // 2 : n // 2 + d] = 1
    return X.to(dtype), y


def each(batch, *arrays):
    """The batches one by one, as float64 NumPy arrays."""
    flat = [a.double().reshape(-1, *a.shape[len(batch) :]).numpy() for a in arrays]
    return zip(*flat, strict=True)


# ---------------------------------------------------------------- sigmoid


def test_sigmoid_is_symmetric_and_inverts_the_logit():
    z = torch.linspace(-12, 12, 49, dtype=torch.float64)
    torch.testing.assert_close(ref.sigmoid(-z), 1 - ref.sigmoid(z))
    torch.testing.assert_close(torch.logit(ref.sigmoid(z)), z, rtol=1e-9, atol=1e-12)


# ---------------------------------------------------------------- likelihood and gradient


@DTYPES
def test_log_likelihood_of_sure_mistakes_is_minus_the_score(dtype):
    X = torch.tensor([[1.0, 3], [1, -2]], dtype=dtype)
    y = torch.tensor([0.0, 1.0], dtype=dtype)
    w = torch.tensor([0.0, 1000.0], dtype=dtype)
    assert ref.log_likelihood(w, X, y).item() == -5000


@BATCHES
@DTYPES
def test_gradient_is_autograds(batch, dtype):
    (X, y), w = design(*batch, dtype=dtype), normal(*batch, 3, dtype=dtype, seed=5)
    got = ref.nll_grad(w, X, y)
    leaf = w.double().clone().requires_grad_()
    (-ref.log_likelihood(leaf, X.double(), y.double()).sum() / X.shape[-2]).backward()
    assert got.dtype == dtype
    torch.testing.assert_close(got.double(), leaf.grad, **tolerance(dtype))


def test_gradient_is_finite_differences():
    (X, y), w = design(), normal(3, seed=5)
    h = 1e-5
    differences = torch.stack(
        [
            (ref.log_likelihood(w - h * e, X, y) - ref.log_likelihood(w + h * e, X, y)) / (2 * h)
            for e in torch.eye(3, dtype=torch.float64)
        ]
    )
    torch.testing.assert_close(ref.nll_grad(w, X, y), differences / 40, rtol=1e-6, atol=1e-8)


# ---------------------------------------------------------------- Newton


@BATCHES
@DTYPES
@pytest.mark.parametrize("lam", [0.0, 0.2])
def test_newton_steps_are_autograds_hessian_solves(batch, dtype, lam):
    X, y = design(*batch, dtype=dtype)
    path = ref.newton_path(X, y, lam, 4)
    assert path.shape == (*batch, 5, 3) and path.dtype == dtype
    for got, A, labels in each(batch, path, X, y):
        A, labels = torch.from_numpy(A), torch.from_numpy(labels)

        def loss(w, A=A, labels=labels):
            return -ref.log_likelihood(w, A, labels) / 40 + lam / 2 * w[1:].square().sum()

        w = torch.zeros(3, dtype=torch.float64)
        for expected in got:
            np.testing.assert_allclose(expected, w, **tolerance(dtype))
            leaf = w.clone().requires_grad_()
            (g,) = torch.autograd.grad(loss(leaf), leaf)
            w = w - torch.linalg.solve(torch.autograd.functional.hessian(loss, w), g)


def test_newton_ends_at_statsmodels_fit():
    X, y = design(n=60)
    fit = sm.Logit(y.numpy(), X.numpy()).fit(disp=0, tol=1e-12)
    np.testing.assert_allclose(ref.newton_path(X, y, 0.0, 12)[-1], fit.params, rtol=1e-7)


@pytest.mark.parametrize("lam", [1e-3, 0.1, 2.0])
def test_newton_with_ridge_ends_at_scikit_learns_fit(lam):
    X, y = design(n=60)
    fit = LogisticRegression(C=1 / (60 * lam), tol=1e-12, max_iter=5000).fit(X[:, 1:], y)
    got = ref.newton_path(X, y, lam, 20)[-1]
    np.testing.assert_allclose(got, [*fit.intercept_, *fit.coef_[0]], rtol=1e-4, atol=1e-6)


def test_an_intercept_alone_ends_at_the_logit_of_the_share():
    y = torch.tensor([1.0, 1, 1, 0], dtype=torch.float64)
    path = ref.newton_path(torch.ones(4, 1, dtype=torch.float64), y, 5.0, 12)
    assert path[1, 0].item() == pytest.approx(1.0)
    assert path[-1, 0].item() == pytest.approx(np.log(3), abs=1e-14)


def test_ridge_makes_separable_data_finite():
    x = torch.tensor([-2.0, -1, 1, 2], dtype=torch.float64)
    X, y = torch.stack([torch.ones(4, dtype=torch.float64), x], -1), (x > 0).double()
    free, held = (ref.newton_path(X, y, lam, 12)[:, 1] for lam in (0.0, 0.01))
    assert free[-1] - free[-2] > 0.9  # pure Newton adds about one to the score of the nearest rows
    assert held[-1] - held[-2] < 1e-12


# ---------------------------------------------------------------- decisions


@DTYPES
@BATCHES
@pytest.mark.parametrize("costs", [(1.0, 1.0), (1.0, 10.0), (7.0, 2.0)], ids=str)
def test_decisions_cost_least_by_brute_force(batch, dtype, costs):
    X, w = normal(*batch, 30, 3, dtype=dtype), normal(*batch, 3, dtype=dtype, seed=1)
    got = ref.decisions(X, w, *costs)
    assert got.shape == (*batch, 30)
    for said, A, v in each(batch, got, X, w):
        p = expit(A @ v)
        table = np.stack([p * costs[1], (1 - p) * costs[0]])  # cost of saying 0, of saying 1
        assert np.array_equal(said, table.argmin(0))


def test_a_tie_is_a_no():
    X = torch.tensor([[1.0, 0.0]])
    assert ref.decisions(X, torch.tensor([0.0, 1.0]), 2.0, 2.0).tolist() == [0]


# ---------------------------------------------------------------- reliability


@DTYPES
@BATCHES
@pytest.mark.parametrize("bins", [1, 4, 10])
def test_reliability_is_scikit_learns_curve(batch, dtype, bins):
    p = normal(*batch, 200, dtype=dtype).sigmoid()
    y = (normal(*batch, 200, seed=1).to(dtype).sigmoid() < p).to(dtype)
    table = ref.reliability(p, y, bins)
    assert table.shape == (*batch, bins, 3) and table.dtype == dtype
    for got, probs, labels in each(batch, table, p, y):
        share, mean = calibration_curve(labels, probs, n_bins=bins)
        seen = got[got[:, 2] > 0]
        np.testing.assert_allclose(seen[:, :2], np.column_stack([mean, share]), **tolerance(dtype))
        assert got[:, 2].sum() == 200
        assert np.array_equal(got[got[:, 2] == 0], np.zeros((np.sum(got[:, 2] == 0), 3)))


def test_edges_belong_to_the_bin_above_and_one_to_the_last():
    p = torch.tensor([0.0, 0.25, 0.5, 0.75, 1.0])
    assert ref.reliability(p, p, 4)[:, 2].tolist() == [1, 1, 1, 2]


# ------------------------------------------------------------ what it draws


def numbers(words):
    return [float(text) for text in re.findall(r"-?\d+\.?\d*(?:e[-+]\d+)?", words)]


def number_after(words, phrase):
    return numbers(words.split(phrase, 1)[1])[0]


# ---------------------------------------------------------------- data and fits


def test_two_clouds_have_linear_log_odds():
    points, labels = lr.clouds(20_000, 1.5)
    w = sm.Logit(labels, lr.with_one(points)).fit(disp=0)
    np.testing.assert_allclose(w.params, [0, 1.5 / 2**0.5, 1.5 / 2**0.5], atol=5 * w.bse.max())


def test_exams_follow_their_truth():
    x, y = lr.exams(20_000)
    fit = sm.Logit(y, lr.with_one(x)).fit(disp=0)
    assert np.all(abs(fit.params - [-4, 1]) < 4 * fit.bse)


def test_log_likelihood_is_scipys_for_one_and_for_many_weights(rng):
    X, w = lr.with_one(rng.normal(size=(9, 2))), rng.normal(size=(4, 3))
    y = np.array([0, 1, 1, 0, 1, 0, 1, 1, 0])
    expected = [bernoulli.logpmf(y, expit(X @ v)).sum() for v in w]
    np.testing.assert_allclose(lr.log_lik(X, y, w), expected)
    assert lr.log_lik(X, y, w[0]) == pytest.approx(expected[0])


@pytest.mark.parametrize("lam", [0.01, 1.0])
def test_best_fit_is_scikit_learns(lam):
    x, y = lr.exams()
    fit = LogisticRegression(C=1 / (len(y) * lam), tol=1e-10).fit(x[:, None], y)
    expected = [*fit.intercept_, *fit.coef_[0]]
    np.testing.assert_allclose(lr.best_fit(lr.with_one(x), y, lam), expected, rtol=1e-3)


def test_separable_means_that_some_line_separates():
    x = np.array([-2.0, -1.0, 1.0, 2.0])
    assert lr.separable(lr.with_one(x), np.array([0.0, 0, 1, 1]))
    assert lr.separable(lr.with_one(x), np.array([0.0, 1, 1, 1]))
    assert not lr.separable(lr.with_one(x), np.array([0.0, 1, 0, 1]))


def test_the_widest_street_is_that_of_a_hard_margin():
    x, side = lr.clouds(20, 4.0)
    both = np.vstack([x, -x])  # mirrored rows: the best hyperplane goes through the origin
    svm = SVC(kernel="linear", C=1e8).fit(both, np.append(side, 1 - side))
    normal = svm.coef_[0] / np.linalg.norm(svm.coef_[0])
    np.testing.assert_allclose(lr.widest_street(x, side), normal, atol=1e-3)


def test_odds_ratios_are_statsmodels():
    x, y = lr.clouds(80, 1.5)
    fit = sm.Logit(y, lr.with_one(x)).fit(disp=0, tol=1e-12)
    expected = np.exp(np.column_stack([fit.params, fit.conf_int()]))
    np.testing.assert_allclose(lr.odds_ratios(lr.with_one(x), fit.params), expected, rtol=1e-5)


def test_groups_show_the_log_odds_of_their_world(rng):
    x = rng.uniform(-2, 2, 20_000)
    y = (rng.random(20_000) < expit(2 * x - 1)).astype(float)
    centre, odds, error = lr.empirical_log_odds(x, y, 40)
    assert np.all(abs(odds - (2 * centre - 1)) < 5 * error)


def test_a_pure_group_stays_finite():
    _, odds, error = lr.empirical_log_odds(np.arange(6.0), np.zeros(6), 2)
    assert np.isfinite(odds).all() and np.isfinite(error).all()


# ---------------------------------------------------------------- decisions


def test_confusion_and_curve_are_scikit_learns(rng):
    p = rng.random(60).round(1)  # many ties
    y = (rng.random(60) < p).astype(float)
    tp, fp, fn, tn = lr.confusion(p, y, 0.45)
    assert confusion_matrix(y, p > 0.45).tolist() == [[tn, fp], [fn, tp]]
    precision, recall, levels = precision_recall_curve(y, p)
    got = lr.precision_recall(p, y)
    for mine, theirs in zip(got, (levels, precision[:-1], recall[:-1]), strict=True):
        np.testing.assert_allclose(mine, theirs[::-1])


@pytest.fixture
def threshold():
    rng = np.random.default_rng(1)
    p = expit(rng.normal(0, 2, 3000))
    y = (rng.random(3000) < p).astype(float)  # calibrated
    return Explorer(
        lr.threshold_explorer(p, y),
        dict(
            threshold=FloatSlider(0.5, min=0, max=1, step=0.01),
            ratio=SelectionSlider(options=[0.2, 1, 10], value=1),
        ),
    )


def test_a_higher_threshold_finds_fewer(threshold):
    low = number_after(threshold.words, "recall ")
    threshold.controls["threshold"].value = 0.8
    assert number_after(threshold.words, "recall ") < low - 0.1
    threshold.controls["threshold"].value = 1.0
    assert "nobody is called" in threshold.words
    assert number_after(threshold.words, "recall ") == 0


def test_counts_and_cost_agree(threshold):
    threshold.controls["ratio"].value = 10
    words = threshold.words
    found, missed = number_after(words, ": "), number_after(words, "found, ")
    alarms, peace = number_after(words, "missed; "), number_after(words, "alarms, ")
    assert found + missed + alarms + peace == 3000
    assert number_after(words, "Mean cost ") == pytest.approx((alarms + 10 * missed) / 3000, abs=6e-4)  # fmt: skip


@pytest.mark.parametrize("ratio", [0.2, 1, 10])
def test_calibrated_probabilities_make_the_formula_cheapest(threshold, ratio):
    threshold.controls["ratio"].value = ratio
    best = number_after(threshold.words, "cheapest threshold on these tumours is ")
    assert best == pytest.approx(1 / (1 + ratio), abs=0.1)
    assert number_after(threshold.words, "the formula says ") == pytest.approx(1 / (1 + ratio), abs=0.01)  # fmt: skip


# ---------------------------------------------------------------- planes


@pytest.fixture
def plane():
    return Explorer(
        lr.plane_explorer(*lr.clouds(40, 2.4), marked=(2.0, 0.5)),
        dict(
            angle=IntSlider(0, min=-180, max=180),
            offset=FloatSlider(0, min=-3, max=3),
            length=FloatSlider(1, min=0.1, max=6),
        ),
    )


def test_length_changes_confidence_and_no_label(plane):
    distance = number_after(plane.words, "signed distance ")
    wrong = number_after(plane.words, "probability 0.881. ")
    assert (distance, wrong) == (2.0, 7)
    plane.controls["length"].value = 3
    assert number_after(plane.words, "signed distance ") == 2.0
    assert number_after(plane.words, "the score ") == 6.0
    assert number_after(plane.words, "the probability ") == pytest.approx(expit(6), abs=1e-3)
    assert "7 of 40 points" in plane.words


def test_turning_half_round_changes_the_sign(plane):
    plane.controls["angle"].value = 180
    assert number_after(plane.words, "signed distance ") == -2.0
    assert "33 of 40 points" in plane.words


def test_offset_shifts_the_plane(plane):
    plane.controls["offset"].value = 1.5
    assert number_after(plane.words, "signed distance ") == 0.5


def test_some_middle_length_is_most_likely(plane):
    plane.controls["angle"].value = 45
    values = []
    for length in (0.1, 2.0, 6.0):
        plane.controls["length"].value = length
        values.append(number_after(plane.words, "Log-likelihood "))
    assert values[1] > max(values[0], values[2])


# ---------------------------------------------------------------- likelihood


@pytest.fixture
def curve():
    return Explorer(
        lr.curve_explorer(*lr.exams()),
        dict(
            slope=FloatSlider(0.4, min=-0.5, max=3, step=0.01),
            intercept=FloatSlider(-2, min=-9, max=2, step=0.01),
        ),
    )


def test_no_curve_beats_the_maximum(curve):
    highest = number_after(curve.words, "highest possible log-likelihood is ")
    x, y = lr.exams()
    fit = sm.Logit(y, lr.with_one(x)).fit(disp=0)
    assert highest == pytest.approx(fit.llf, abs=0.006)
    assert number_after(curve.words, "Log-likelihood ") < highest - 1
    curve.controls["intercept"].value, curve.controls["slope"].value = fit.params.round(2)
    assert number_after(curve.words, "Log-likelihood ") == pytest.approx(highest, abs=0.011)
    assert abs(number_after(curve.words, "y − p: +" if "+" in curve.words else "y − p: ")) < 0.005


def test_midpoint_and_steepness(curve):
    assert number_after(curve.words, "one half at ") == 5.0
    assert number_after(curve.words, "|w|/4 = ") == 0.1
    curve.controls["slope"].value = 0
    assert "one half at no x" in curve.words


def test_the_coin_peaks_at_the_share_of_heads():
    _, words = lr.draw_coin(14, 20)
    assert number_after(words, "at p = ") == 0.7
    entropy = -np.log(0.7) * 0.7 - np.log(0.3) * 0.3
    assert number_after(words, "lowest, ") == pytest.approx(entropy, abs=1e-3)


# ---------------------------------------------------------------- training


@pytest.fixture
def training():
    return Explorer(
        lr.training_explorer(*lr.clouds(24, 5.0, seed=1)),
        dict(
            method=Dropdown(options=["gradient descent", "Newton"]),
            steps=IntSlider(20, min=0, max=200),
            rate=FloatSlider(0.5, min=0.1, max=8),
            x1=FloatSlider(-1.5, min=-3, max=3),
            x2=FloatSlider(-1.5, min=-3, max=3),
            ridge=SelectionSlider(options=[0.0, 0.001, 0.01, 0.1, 1.0]),
        ),
    )


def test_no_step_is_a_coin(training):
    training.controls["steps"].value = 0
    assert number_after(training.words, "mean loss is ") == pytest.approx(np.log(2), abs=1e-4)


def test_newton_lands_where_scikit_learn_does(training):
    training.controls["ridge"].value = 0.1
    training.controls["method"].value = "Newton"
    x, y = lr.clouds(24, 5.0, seed=1)
    x, y = np.vstack([x, [-1.5, -1.5]]), np.append(y, 1)
    fit = LogisticRegression(C=1 / (25 * 0.1), tol=1e-8).fit(x, y)
    assert number_after(training.words, "‖(w₁, w₂)‖ = ") == pytest.approx(
        np.linalg.norm(fit.coef_), abs=0.01
    )
    assert number_after(training.words, "gradient ") < 1e-8


def test_overlapping_classes_settle_and_separable_ones_do_not(training):
    sizes = {}
    for place in (-1.5, 2.0):
        training.controls["x1"].value = training.controls["x2"].value = place
        for steps in (100, 200):
            training.controls["method"].value = "Newton"
            training.controls["steps"].value = steps
            sizes[place, steps] = number_after(training.words, "‖(w₁, w₂)‖ = ")
        assert ("not separable" in training.words) == (place < 0)
    assert sizes[-1.5, 200] == sizes[-1.5, 100]
    assert sizes[2.0, 200] > 1.8 * sizes[2.0, 100]  # without end, and fast


def test_descent_grows_too_on_separable_classes(training):
    training.controls["x1"].value = training.controls["x2"].value = 2.0
    few = number_after(training.words, "‖(w₁, w₂)‖ = ")
    training.controls["steps"].value = 200
    assert number_after(training.words, "‖(w₁, w₂)‖ = ") > few + 0.5


def test_ridge_shrinks(training):
    free = number_after(training.words, "‖(w₁, w₂)‖ = ")
    training.controls["ridge"].value = 1.0
    assert number_after(training.words, "‖(w₁, w₂)‖ = ") < free / 2


# ---------------------------------------------------------------- figures


def test_the_line_leaves_the_unit_interval_and_the_curve_does_not():
    x, y = lr.exams(200)
    fig, words = lr.draw_line_and_curve(x, y, "hours")
    assert number_after(words, "less than 0 or more than 1 for ") > 10
    curve = fig.axes[0].lines[3].get_ydata()
    assert 0 < curve.min() and curve.max() < 1
    assert number_after(words, "one half at ") == pytest.approx(4, abs=0.5)


def test_reliability_words_tell_the_mean_gap():
    table = np.array([[0.2, 0.5, 2], [0.0, 0.0, 0], [0.9, 1.0, 6]])
    _, words = lr.draw_reliability({"model": table})
    assert number_after(words, "calibration error ") == pytest.approx((2 * 0.3 + 6 * 0.1) / 8)


def test_convergence_words_count_the_steps():
    _, words = lr.draw_convergence({"fast": [1, 1e-3, 1e-7], "slow": [1, 0.9, 0.8]}, 2)
    assert "fast: error below 1e-6 after 2 steps" in words
    assert "slow: error still 0.8 after 2 steps" in words


def test_log_odds_words_count_the_misses(rng):
    x = rng.uniform(-2, 2, 4000)
    y = (rng.random(4000) < expit(2 * x)).astype(float)
    fits = {"right": lambda t: 2 * t, "wrong": lambda t: 0 * t - 5}
    _, words = lr.draw_log_odds([("World", "x", x, y, fits)] * 2)
    assert number_after(words, "World, right: ") < 25
    assert number_after(words, "World, wrong: ") > 90


@pytest.mark.parametrize(
    "draw",
    [
        lr.draw_losses,
        lambda: lr.draw_sigmoid(expit),
        lambda: lr.draw_overshoot((2.0, 2.3), (np.array([2.0, 1e-10]), np.array([2.3, 1e5]))),
        lambda: lr.draw_choice([0.1, 1.0, 10.0], [0.4, 0.1, 0.3], [0.95, 0.97, 0.94], 1),
        lambda: lr.draw_divergence([1, 10], [1.0, 2.0], [20.0, 10.0], {0.1: 3.0, 1.0: 0.5}),
    ],
    ids=["losses", "sigmoid", "overshoot", "choice", "divergence"],
)
def test_figures_label_their_axes(draw):
    fig, words = draw()
    assert words
    for ax in fig.axes:
        assert ax.get_xlabel() and ax.get_ylabel() and (ax.get_title() or ax.get_title(loc="left"))

"""Naive Bayes and evaluation references against scikit-learn, statsmodels, SciPy and brute force."""

import re

import numpy as np
import pytest
import torch
from ipywidgets import Checkbox, FloatSlider, IntSlider, SelectionSlider
from scipy import stats
from scipy.special import expit
from sklearn import metrics, naive_bayes

from descent.pictures.classification import naive_bayes_and_evaluation as nb
from descent.widgets import Explorer
from solutions import notebook_module

ref = notebook_module("02_classification/04_naive_bayes_and_evaluation", "reference")


DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=1e-4, atol=1e-5)
    return dict(rtol=1e-10, atol=1e-12)


@pytest.fixture
def binary(rng):
    """X (40, 6) of 0 and 1, y (40,) with all of three classes."""
    X = (rng.random((40, 6)) < 0.4).astype(float)
    return X, rng.permutation(np.arange(40) % 3)


# ---------------------------------------------------------------- naive Bayes


@DTYPES
@pytest.mark.parametrize("alpha", [1e-9, 0.5, 1.0])
def test_counts_and_posterior_are_scikit_learns(binary, dtype, alpha):
    X, y = binary
    theirs = naive_bayes.BernoulliNB(alpha=alpha, force_alpha=True).fit(X, y)
    pi, theta = ref.bernoulli_counts(torch.tensor(X, dtype=dtype), torch.tensor(y), 3, alpha)
    assert theta.dtype == dtype
    np.testing.assert_allclose(pi.log(), theirs.class_log_prior_, **tolerance(dtype))
    np.testing.assert_allclose(theta.log(), theirs.feature_log_prob_, **tolerance(dtype))
    got = ref.bernoulli_log_posterior(torch.tensor(X, dtype=dtype), pi, theta)
    if alpha > 0.1:  # else log(1e-9) leaves float32 too few digits
        np.testing.assert_allclose(got, theirs.predict_log_proba(X), **tolerance(dtype))
    else:
        np.testing.assert_allclose(got.exp(), theirs.predict_proba(X), rtol=1e-3, atol=1e-4)


def test_the_counts_maximise_the_likelihood(binary, rng):
    X, y = binary
    pi, theta = ref.bernoulli_counts(torch.tensor(X), torch.tensor(y), 3, 0)

    def likelihood(pi, theta):
        each = stats.bernoulli.logpmf(X, np.clip(theta, 1e-12, 1 - 1e-12)[y])
        return each.sum() + np.log(pi[y]).sum()

    best = likelihood(pi.numpy(), theta.numpy())
    for _ in range(200):
        near = pi.numpy() * np.exp(0.1 * rng.normal(size=3))
        moved = np.clip(theta.numpy() + 0.05 * rng.normal(size=(3, 6)), 0, 1)
        assert likelihood(near / near.sum(), moved) < best


def test_an_empty_class_without_smoothing_knows_nothing():
    pi, theta = ref.bernoulli_counts(torch.tensor([[1, 0], [1, 1]]), torch.tensor([0, 0]), 2, 0)
    assert pi.tolist() == [1, 0] and theta.tolist() == [[1, 0.5], [0.5, 0.5]]


@DTYPES
def test_batches_are_fitted_one_by_one(binary, dtype):
    X, y = torch.tensor(binary[0], dtype=dtype), torch.tensor(binary[1])
    both = torch.stack([X, 1 - X]), torch.stack([y, (y + 1) % 3])
    pi, theta = ref.bernoulli_counts(*both, 3, 1.0)
    assert pi.shape == (2, 3) and theta.shape == (2, 3, 6)
    log_p = ref.bernoulli_log_posterior(both[0], pi, theta)
    for b in range(2):
        alone = ref.bernoulli_counts(both[0][b], both[1][b], 3, 1.0)
        torch.testing.assert_close((pi[b], theta[b]), alone)
        torch.testing.assert_close(log_p[b], ref.bernoulli_log_posterior(both[0][b], *alone))


def test_the_posterior_is_bayes_rule_by_brute_force(rng):
    theta, pi = rng.uniform(0.1, 0.9, (3, 4)), np.array([0.2, 0.5, 0.3])
    X = np.array([[(k >> j) & 1 for j in range(4)] for k in range(16)], float)
    joint = pi * np.prod(np.where(X[:, None] == 1, theta, 1 - theta), axis=2)
    got = ref.bernoulli_log_posterior(*map(torch.tensor, (X, pi, theta)))
    np.testing.assert_allclose(got.exp(), joint / joint.sum(1, keepdims=True), rtol=1e-12)


@DTYPES
def test_ten_thousand_features_do_not_underflow(rng, dtype):
    theta = torch.tensor(rng.uniform(0.2, 0.8, (3, 10_000)), dtype=dtype)
    X = torch.tensor(rng.integers(0, 2, (5, 10_000)))
    log_p = ref.bernoulli_log_posterior(X, torch.full((3,), 1 / 3, dtype=dtype), theta)
    assert torch.isfinite(log_p).all() and log_p.dtype == dtype
    torch.testing.assert_close(log_p.exp().sum(1), torch.ones(5, dtype=dtype))


def test_gaussian_posterior_is_scikit_learns(rng):
    X, y, new = rng.normal(size=(30, 4)), np.arange(30) % 3, rng.normal(size=(7, 4))
    theirs = naive_bayes.GaussianNB(var_smoothing=0).fit(X, y).predict_log_proba(new)
    got = ref.gaussian_log_posterior(*map(torch.tensor, (X, y, new)), 3)
    np.testing.assert_allclose(got, theirs, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("alpha", [0.3, 1.0])
def test_categorical_posterior_is_scikit_learns(rng, alpha):
    X, y, new = rng.integers(0, 4, (30, 5)), np.arange(30) % 3, rng.integers(0, 4, (7, 5))
    theirs = naive_bayes.CategoricalNB(alpha=alpha, min_categories=4).fit(X, y)
    got = ref.categorical_log_posterior(*map(torch.tensor, (X, y, new)), 3, 4, alpha)
    np.testing.assert_allclose(got, theirs.predict_log_proba(new), rtol=1e-10)


def test_two_values_make_categorical_bernoulli(binary):
    X, y = map(torch.tensor, binary)
    one = ref.categorical_log_posterior(X, y, X, 3, 2, 0.7)
    other = ref.bernoulli_log_posterior(X, *ref.bernoulli_counts(X, y, 3, 0.7))
    torch.testing.assert_close(one, other)


# ---------------------------------------------------------------- scores


@DTYPES
@pytest.mark.parametrize("never", [None, 1], ids=["all called", "one never called"])
def test_macro_averages_are_scikit_learns(rng, dtype, never):
    y, yhat = rng.integers(0, 4, (2, 60))
    if never is not None:
        yhat[yhat == never] = 3
    C = ref.confusion_counts(torch.tensor(y), torch.tensor(yhat), 4).to(dtype)
    P, R, f1, _ = metrics.precision_recall_fscore_support(
        y, yhat, average="macro", labels=range(4), zero_division=0
    )
    got = ref.averaged_scores(C, "mean_of_f1")
    assert got.dtype == dtype
    np.testing.assert_allclose(got, [P, R, f1], rtol=1e-5)
    other = ref.averaged_scores(C, "f1_of_means")
    np.testing.assert_allclose(other, [P, R, stats.hmean([P, R])], rtol=1e-5)
    both = ref.averaged_scores(torch.stack([C, C.mT]), "f1_of_means")
    torch.testing.assert_close(both[1, :2], both[0, [1, 0]])  # transposing swaps the two rates


def test_the_worked_example_of_the_notes():
    C = torch.tensor([[90, 10, 0], [5, 4, 1], [3, 2, 5]])
    mean, other = (ref.averaged_scores(C, kind) for kind in ("mean_of_f1", "f1_of_means"))
    assert [round(v, 4) for v in mean.tolist()] == [0.6672, 0.6, 0.6139]
    assert round(other[2].item(), 4) == 0.6318


def test_a_table_without_a_hit_scores_zero():
    C = torch.tensor([[0, 3], [2, 0]])
    for kind in ("mean_of_f1", "f1_of_means"):
        assert ref.averaged_scores(C, kind).tolist() == [0, 0, 0]


# ---------------------------------------------------------------- thresholds


def test_recall_never_rises_and_precision_may_fall():
    scores, y = torch.tensor([0.9, 0.8, 0.7, 0.6, 0.4]), torch.tensor([0, 1, 1, 1, 0])
    steps = torch.stack([ref.precision_recall_f1(d, scores, y) for d in (0.5, 0.65, 0.75, 0.85)])
    assert (steps.diff(dim=0)[:, :2] <= 0).all()


def test_the_area_is_the_mann_whitney_statistic(rng):
    scores, y = rng.integers(0, 8, 40) / 8, rng.permutation(np.arange(40) % 2)
    u = stats.mannwhitneyu(scores[y == 1], scores[y == 0]).statistic
    area = ref.roc_points(torch.tensor(scores), torch.tensor(y))[2]
    assert float(area) == pytest.approx(u / 400, rel=1e-12)


# ---------------------------------------------------------------- intervals


# ------------------------------------------------------------ what it draws


def numbers(words):
    return [float(text) for text in re.findall(r"\d+\.\d+|\d+", words)]


# ---------------------------------------------------------------- correlation


@pytest.mark.parametrize("unequal", [False, True])
def test_the_world_is_what_a_simulation_finds(unequal, rng):
    rho, D, n = 0.4, 6, 200_000
    m = nb.class_means(D, unequal)
    y = rng.choice([-1, 1], n)
    noise = np.sqrt(rho) * rng.normal(size=(n, 1)) + np.sqrt(1 - rho) * rng.normal(size=(n, D))
    x = y[:, None] * m + noise
    s = 2 * x @ m
    world = nb.correlated_world(rho, D, unequal)
    best = x @ np.linalg.solve(rho + (1 - rho) * np.eye(D), m)
    error = 5 * 0.5 / np.sqrt(n)  # five standard errors of a share
    assert np.mean((s > 0) == (y > 0)) == pytest.approx(world["accuracy"], abs=error)
    assert np.mean((best > 0) == (y > 0)) == pytest.approx(world["best"], abs=error)
    assert np.mean(expit(np.abs(s))) == pytest.approx(world["claim"], abs=error)
    likely = stats.norm.logpdf(s, world["mean"], world["sd"])
    likely -= stats.norm.logpdf(s, -world["mean"], world["sd"])
    np.testing.assert_allclose(likely, world["kappa"] * s, atol=1e-9)


@pytest.fixture
def correlation():
    return Explorer(
        nb.draw_correlation,
        dict(
            rho=FloatSlider(0.5, min=0, max=0.9, step=0.1),
            D=IntSlider(10, min=2, max=20, step=2),
            unequal=Checkbox(False),
        ),
    )


def told(widget):
    names = ("D", "rho", "factor", "accuracy", "best", "claim")
    return dict(zip(names, numbers(widget.words), strict=True))


def test_ten_equal_features_claim_too_much_and_decide_best(correlation):
    seen = told(correlation)
    assert seen["factor"] == 5.5 and seen["accuracy"] == seen["best"]
    assert seen["claim"] > seen["accuracy"] + 0.2


def test_without_correlation_claims_are_right(correlation):
    correlation.controls["rho"].value = 0.0
    seen = told(correlation)
    assert seen["factor"] == 1 and seen["claim"] == pytest.approx(seen["accuracy"], abs=0.001)


def test_more_features_claim_more(correlation):
    correlation.controls["D"].value = 20
    assert told(correlation)["factor"] == 10.5


def test_unequal_features_cost_accuracy(correlation):
    correlation.controls["unequal"].value = True
    seen = told(correlation)
    assert seen["accuracy"] < seen["best"] - 0.05


# ---------------------------------------------------------------- the threshold


@pytest.fixture
def data(rng):
    y = np.repeat([0, 1], [120, 80])
    return np.round(rng.beta(2 + 2 * y, 4 - 2 * y), 3).clip(0.02, 0.98), y


@pytest.fixture
def threshold(data):
    scores, y = data
    fpr, tpr, _ = metrics.roc_curve(y, scores, drop_intermediate=False)
    return Explorer(
        nb.threshold_explorer(scores, y, fpr, tpr),
        dict(
            delta=FloatSlider(0.5, min=0, max=1, step=0.05),
            share=SelectionSlider(value=0.4, options=[0.01, 0.4, 0.5]),
        ),
    )


def read(widget):
    names = ("delta", "n", "ill", "TP", "FN", "FP", "TN", "P", "R", "f1", "x", "fpr", "acc", "area")
    found = numbers(widget.words.replace("F1", "F"))
    return dict(zip([n for n in names if n != "x"], found, strict=True))


@pytest.mark.parametrize("delta", [0.0, 0.3, 0.5, 0.7])
def test_the_words_are_scikit_learns(threshold, data, delta):
    scores, y = data
    threshold.controls["delta"].value = delta
    called = scores > delta
    seen = read(threshold)
    (tn, fp), (fn, tp) = metrics.confusion_matrix(y, called)
    assert [seen[k] for k in ("TP", "FN", "FP", "TN")] == [5 * tp, 5 * fn, 5 * fp, 5 * tn]
    assert seen["P"] == pytest.approx(metrics.precision_score(y, called), abs=0.0051)
    assert seen["R"] == pytest.approx(metrics.recall_score(y, called), abs=0.0051)
    assert seen["f1"] == pytest.approx(metrics.f1_score(y, called), abs=0.0051)
    assert seen["acc"] == pytest.approx(np.mean(called == y), abs=0.0051)
    assert seen["area"] == pytest.approx(metrics.roc_auc_score(y, scores), abs=0.0051)


def test_a_higher_threshold_recalls_less(threshold):
    seen = []
    for delta in (0.1, 0.3, 0.5, 0.7, 0.9):
        threshold.controls["delta"].value = delta
        seen.append(read(threshold)["R"])
    assert np.all(np.diff(seen) <= 0) and seen[0] > seen[-1] + 0.5


def test_rare_cases_move_precision_and_leave_roc(threshold):
    here = read(threshold)
    threshold.controls["share"].value = 0.01
    rare = read(threshold)
    assert rare["ill"] == 10
    assert (rare["R"], rare["fpr"], rare["area"]) == (here["R"], here["fpr"], here["area"])
    assert rare["P"] < here["P"] / 5


def test_nothing_called_has_no_precision_point(threshold):
    threshold.controls["delta"].value = 1.0
    seen = read(threshold)
    assert seen["TP"] == seen["FP"] == seen["P"] == seen["f1"] == 0 and seen["acc"] == 0.6


# ---------------------------------------------------------------- figures


def test_coverage_is_what_a_simulation_finds(rng):
    def textbook(right, M):
        share = right / M
        half = 1.96 * np.sqrt(share * (1 - share) / M)
        return share - half, share + half

    exact = nb.coverage(textbook, 20, [0.6, 0.9])
    right = rng.binomial(20, [0.6, 0.9], (100_000, 2))
    low, high = textbook(right, 20)
    seen = np.mean((low <= [0.6, 0.9]) & ([0.6, 0.9] <= high), axis=0)
    np.testing.assert_allclose(exact, seen, atol=0.008)  # five standard errors


def test_an_interval_that_holds_everything_covers():
    assert np.allclose(nb.coverage(lambda right, M: (0 * right, 0 * right + 1), 10, [0.2, 1.0]), 1)


def test_the_two_tests_are_told():
    _, words = nb.draw_two_tests(np.array([[0, 10], [0, 990]]), np.array([[9, 1], [40, 950]]))
    assert "accuracy 0.990" in words and "accuracy 0.959" in words


def test_the_commonest_mistake_is_named():
    C = np.array([[5, 1, 0], [4, 6, 0], [0, 2, 7]])
    fig, words = nb.draw_confusion(C, ["a", "b", "c"], "letter")
    assert "b called a, 4 times; a called b 1 times" in words
    assert (
        "18 of 25" in words and "Lowest precision: 0.56 for a; lowest recall: 0.60 for b" in words
    )
    assert fig.axes[0].get_ylabel() == "actual letter"


def test_regions_name_their_accuracy(rng):
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2

    def sign(new):
        return np.column_stack([-new[:, 0], new[:, 0]])

    views = {"sign": sign, "other": lambda new: sign(-new)}
    _, words = nb.draw_regions(views, X, y, X, (X[:, 0] > 0).astype(int))
    assert "sign 1.00, other 0.00" in words


def test_the_words_of_the_text_figure_do_not_depend_on_the_corpus():
    names = ["a", "b"]
    other = [[["x"], ["y"]], [["z"], ["w"]]]
    words = [
        nb.draw_text(np.eye(2) * k, names, telling, 0.5, lambda right, M: (0.1, 0.9), k / 9)[1]
        for k, telling in zip((3, 4), other, strict=True)
    ]
    assert words[0] == words[1]


def test_intervals_tell_their_widths():
    _, words = nb.draw_intervals(
        [20, 80], [(50, 40, 60), (50, 45, 55)], [(0.9, 0.8, 1), (0.9, 0.85, 0.95)]
    )
    assert "from 20 to 10 score points" in words and "from 0.20 to 0.10" in words

"""Naive Bayes and evaluation references against scikit-learn, SciPy and brute force; what the pictures tell."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from scipy import stats
from scipy.special import expit
from sklearn import metrics, naive_bayes
from statsmodels.stats.proportion import proportion_confint

from descent.pictures.classification import naive_bayes_and_evaluation as nb
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "02_classification/04_naive_bayes_and_evaluation"
ref = notebook_module(NOTEBOOK, "reference")
t = torch.as_tensor


def facts(drawn):
    fig, words = drawn
    plt.close(fig)
    return words.facts


@pytest.fixture
def binary(rng):
    """X (40, 6) of 0 and 1, y (40,) with all of three classes."""
    return (rng.random((40, 6)) < 0.4).astype(float), rng.permutation(np.arange(40) % 3)


# ---------------------------------------------------------------- naive Bayes


@pytest.mark.parametrize("alpha", [1e-9, 0.5, 1.0])
def test_counts_and_posterior_are_scikit_learns(binary, alpha):
    X, y = binary
    theirs = naive_bayes.BernoulliNB(alpha=alpha).fit(X, y)
    pi, theta = ref.bernoulli_counts(t(X), t(y), 3, alpha)
    np.testing.assert_allclose(pi.log(), theirs.class_log_prior_, rtol=1e-10)
    np.testing.assert_allclose(theta.log(), theirs.feature_log_prob_, rtol=1e-10)
    got = ref.bernoulli_log_posterior(t(X), pi, theta)
    np.testing.assert_allclose(got, theirs.predict_log_proba(X), rtol=1e-6, atol=1e-9)


def test_the_counts_maximise_the_likelihood(binary, rng):
    X, y = binary
    pi, theta = (a.numpy() for a in ref.bernoulli_counts(t(X), t(y), 3, 0))

    def likelihood(pi, theta):
        each = stats.bernoulli.logpmf(X, np.clip(theta, 1e-12, 1 - 1e-12)[y])
        return each.sum() + np.log(pi[y]).sum()

    for _ in range(200):
        near = pi * np.exp(0.1 * rng.normal(size=3))
        moved = np.clip(theta + 0.05 * rng.normal(size=(3, 6)), 0, 1)
        assert likelihood(near / near.sum(), moved) < likelihood(pi, theta)


def test_the_posterior_is_bayes_rule_by_brute_force(rng):
    theta, pi = rng.uniform(0.1, 0.9, (3, 4)), np.array([0.2, 0.5, 0.3])
    X = np.array([[(k >> j) & 1 for j in range(4)] for k in range(16)], float)
    joint = pi * np.prod(np.where(X[:, None] == 1, theta, 1 - theta), axis=2)
    got = ref.bernoulli_log_posterior(t(X), t(pi), t(theta))
    np.testing.assert_allclose(got.exp(), joint / joint.sum(1, keepdims=True), rtol=1e-12)


def test_repeated_features_are_features(binary):
    X, y = binary
    pi, theta = ref.bernoulli_counts(t(X), t(y), 3, 1.0)
    wide = ref.bernoulli_log_posterior(t(X).tile(5), pi, theta.tile(5))
    torch.testing.assert_close(ref.bernoulli_log_posterior(t(X), pi, theta, 5), wide)
    mixed = [ref.mixed_log_posterior(t(X), t(y), 3, [2] * 6, t(X), 1.0, 5)]
    mixed.append(ref.mixed_log_posterior(t(X).tile(5), t(y), 3, [2] * 30, t(X).tile(5), 1.0))
    torch.testing.assert_close(mixed, [wide, wide])  # two categories are ticks


def test_numbers_and_categories_are_scikit_learns(rng):
    numbers, levels = rng.normal(size=(30, 4)), rng.integers(0, 4, (30, 5)).astype(float)
    y, first = np.arange(30) % 3, slice(7)
    gaussian = naive_bayes.GaussianNB(var_smoothing=0).fit(numbers, y)
    categorical = naive_bayes.CategoricalNB(alpha=0.3, min_categories=4).fit(levels, y)
    for X, K, theirs in ((numbers, [0] * 4, gaussian), (levels, [4] * 5, categorical)):
        got = ref.mixed_log_posterior(t(X), t(y), 3, K, t(X[first]), 0.3)
        np.testing.assert_allclose(got, theirs.predict_log_proba(X[first]), rtol=1e-9, atol=1e-10)


def test_the_docstrings_examples_hold():
    ticks = ref.bernoulli_log_posterior(t([[1, 0]]), t([0.5, 0.5]), t([[0.8, 0.5], [0.2, 0.5]]))
    np.testing.assert_allclose(ticks, [[-0.2231, -1.6094]], atol=1e-4)
    X = t([[1.0], [3.0], [5.0], [7.0]])
    mixed = ref.mixed_log_posterior(X, t([0, 0, 1, 1]), 2, [0], t([[4.5]]), 1.0)
    np.testing.assert_allclose(mixed, [[-2.1269, -0.1269]], atol=1e-4)
    for kind, f1 in (("mean_of_f1", 0.6190), ("f1_of_means", 0.6291)):
        macro = ref.averaged_scores(t([[3, 1], [2, 2]]), kind)
        np.testing.assert_allclose(macro, [0.6333, 0.625, f1], atol=1e-4)


# ---------------------------------------------------------------- scores


@pytest.mark.parametrize("never", [None, 1], ids=["all called", "one never called"])
def test_macro_averages_are_scikit_learns(rng, never):
    y, yhat = rng.integers(0, 4, (2, 60))
    if never is not None:
        yhat[yhat == never] = 3
    C = ref.confusion_counts(t(y), t(yhat), 4)
    P, R, f1, _ = metrics.precision_recall_fscore_support(
        y, yhat, average="macro", labels=range(4), zero_division=0
    )
    np.testing.assert_allclose(ref.averaged_scores(C, "mean_of_f1"), [P, R, f1])
    np.testing.assert_allclose(ref.averaged_scores(C, "f1_of_means"), [P, R, stats.hmean([P, R])])


def test_the_area_is_the_mann_whitney_statistic(rng):
    scores, y = rng.integers(0, 8, 40) / 8, rng.permutation(np.arange(40) % 2)
    u = stats.mannwhitneyu(scores[y == 1], scores[y == 0]).statistic
    assert float(ref.roc_points(t(scores), t(y))[2]) == pytest.approx(u / 400, rel=1e-12)


@pytest.mark.parametrize("p", [0.6, 0.9])
def test_coverage_is_what_a_simulation_finds(rng, p):
    low, high = proportion_confint(rng.binomial(20, p, 100_000), 20, method="wilson")
    exact = nb.coverage(lambda right, M: proportion_confint(right, M, method="wilson"), 20, p)
    assert exact == pytest.approx(np.mean((low <= p) & (p <= high)), abs=0.006)  # five errors


# ---------------------------------------------------------------- the clinic


def test_the_first_screen_tells_what_scikit_learn_finds():
    told = facts(nb.draw_clinic())
    assert (told["n"], told["right"], told["wrong"], told["sure"]) == (284, 267, 17, 13)
    assert 7 < (told["ill"] + told["healthy"]) / told["ill"] < 8.5  # seven of eight


def test_parts_are_equally_full_on_the_old_and_halves_are_ticks():
    X, _, old, _ = nb.clinic()
    fifths = nb.cut(X, old, 5)[old]
    for column in fifths.T:
        assert np.ptp(np.bincount(column, minlength=5)) <= 8  # 57 each, but for ties
    assert np.array_equal(nb.cut(X, old, 2), X > np.median(X[old], axis=0))


def test_rates_by_threshold_are_scikit_learns():
    s, ill = nb.claimed()
    precision, recall, _ = metrics.precision_recall_curve(ill, s)
    np.testing.assert_allclose(nb.rates_by_threshold(), [recall[:-1], precision[:-1]])


def test_one_measurement_is_drawn_with_the_normal_curves_of_its_classes():
    X, ill, old, _ = nb.clinic()
    told = facts(nb.draw_factors(20, "worst radius"))["told"]
    model = naive_bayes.GaussianNB().fit(X[old][:, [20]], ill[old])
    assert [one.facts["mean"] for one in told] == pytest.approx(model.theta_.ravel())
    assert [one.facts["sd"] ** 2 for one in told] == pytest.approx(model.var_.ravel())


# ---------------------------------------------------------------- correlation


@pytest.mark.parametrize("strength", [0.4, np.tile([0.4, 0.04], 3)], ids=["equal", "unequal"])
def test_the_world_is_what_a_simulation_finds(strength, rng):
    rho, D, n = 0.4, 6, 200_000
    m, y = np.full(D, 1.0) * strength, rng.choice([-1, 1], n)
    noise = np.sqrt(rho) * rng.normal(size=(n, 1)) + np.sqrt(1 - rho) * rng.normal(size=(n, D))
    x = y[:, None] * m + noise
    s = 2 * x @ m
    world = nb.correlated_world(rho, D, strength)
    best = x @ np.linalg.solve(rho + (1 - rho) * np.eye(D), m)
    error = 5 * 0.5 / np.sqrt(n)  # five standard errors of a share
    assert np.mean((s > 0) == (y > 0)) == pytest.approx(world["accuracy"], abs=error)
    assert np.mean((best > 0) == (y > 0)) == pytest.approx(world["best"], abs=error)
    assert np.mean(expit(np.abs(s))) == pytest.approx(world["claim"], abs=error)
    likely = stats.norm.logpdf(s, world["mean"], world["sd"])
    likely -= stats.norm.logpdf(s, -world["mean"], world["sd"])
    np.testing.assert_allclose(likely, world["kappa"] * s, atol=1e-9)


def correlation(**moved):
    return controls.explorer(NOTEBOOK, "draw_correlation", **moved).words.facts


@pytest.mark.parametrize(("rho", "D"), [(0.0, 10), (0.44, 10), (0.5, 20), (0.9, 2)])
def test_claims_are_too_large_by_the_factor_of_the_text(rho, D):
    told = correlation(rho=rho, D=D)
    assert told["factor"] == pytest.approx(1 + (D - 1) * rho)
    assert told["accuracy"] == pytest.approx(told["best"])
    assert (told["claim"] - told["accuracy"] < 1e-6) == (rho == 0)


# ---------------------------------------------------------------- the threshold


def threshold(**moved):
    return controls.explorer(NOTEBOOK, "threshold_explorer", **moved).words.facts


@pytest.mark.parametrize("delta", [-39.0, -5.0, 0.0, 12.5])
def test_the_words_are_scikit_learns(delta):
    s, ill = nb.claimed()
    called, told = s > delta, threshold(delta=delta)
    assert told["P"] == pytest.approx(metrics.precision_score(ill, called), abs=0.001)
    assert told["R"] == pytest.approx(metrics.recall_score(ill, called))
    assert told["f1"] == pytest.approx(metrics.f1_score(ill, called), abs=0.001)
    assert told["accuracy"] == pytest.approx(np.mean(called == ill), abs=0.001)
    assert told["area"] == pytest.approx(metrics.roc_auc_score(ill, s))
    assert told["TP"] + told["FN"] + told["FP"] + told["TN"] == pytest.approx(10_000)


def test_a_higher_threshold_recalls_less():
    seen = [threshold(delta=delta)["R"] for delta in (-39.0, -20.0, 0.0, 20.0, 24.0)]
    assert np.all(np.diff(seen) <= 0) and seen[0] > seen[-1] + 0.5


def test_the_town_moves_precision_and_leaves_roc():
    clinic, town = threshold(), threshold(share=0.01)
    assert town["ill"] == pytest.approx(100)
    assert all(town[rate] == clinic[rate] for rate in ("R", "fpr", "area"))
    assert town["P"] == pytest.approx(0.124, abs=0.001) and clinic["P"] > 0.89


def test_a_stricter_threshold_helps_the_town_and_costs_recall():
    s, ill = nb.claimed()
    told = []
    for level in (0.0, np.sort(s[ill == 1])[-65]):  # the 65 surest of 108 are 60 %
        hits, alarms = 0.01 * np.mean(s[ill == 1] >= level), 0.99 * np.mean(s[ill == 0] >= level)
        told.append((round(hits / 0.01, 2), round(hits / (hits + alarms), 2)))
    assert told == [(0.95, 0.12), (0.6, 0.52)]


def test_nobody_called_has_precision_0():
    s, ill = nb.claimed()
    fpr, tpr, _ = metrics.roc_curve(ill, s, drop_intermediate=False)
    told = facts(nb.threshold_explorer(s, ill, fpr, tpr)(30.0, 0.01))
    assert told["TP"] == told["FP"] == told["P"] == told["f1"] == 0
    assert told["accuracy"] == pytest.approx(0.99)


# ---------------------------------------------------------------- figures


def test_the_commonest_mistake_is_named():
    C = np.array([[5, 1, 0], [4, 6, 0], [0, 2, 7]])
    fig, words = nb.draw_confusion(C, ["a", "b", "c"], "letter")
    told = words.facts
    assert (told["right"], told["n"], told["a"], told["b"]) == (18, 25, "b", "a")
    assert (told["often"], told["back"]) == (4, 1)
    low = [(rate.facts["name"], rate.facts["low"]) for rate in told["told"]]
    assert low == [("a", pytest.approx(5 / 9)), ("b", pytest.approx(0.6))]
    assert fig.axes[0].get_ylabel() == "actual letter"
    plt.close(fig)


def test_regions_name_their_accuracy(rng):
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2

    def sign(new):
        return np.column_stack([-new[:, 0], new[:, 0]])

    views = {"sign": sign, "other": lambda new: sign(-new)}
    told = facts(nb.draw_regions(views, X, y, X, (X[:, 0] > 0).astype(int)))["told"]
    assert [one.facts["accuracy"] for one in told] == [1, 0]

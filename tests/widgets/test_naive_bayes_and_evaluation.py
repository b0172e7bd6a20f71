"""Widgets of naive Bayes and evaluation: their numbers against simulation, then their controls."""

import re

import numpy as np
import pytest
from ipywidgets import Checkbox, FloatSlider, IntSlider, SelectionSlider
from scipy import stats
from scipy.special import expit
from sklearn import metrics

from descent.widgets import Explorer
from descent.widgets import naive_bayes_and_evaluation as nb


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

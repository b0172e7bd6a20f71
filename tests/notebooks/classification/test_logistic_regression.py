"""Logistic regression's references against closed forms and libraries; what its pictures tell."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import statsmodels.api as sm
import torch
from scipy.special import expit
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.svm import SVC

from descent.pictures.classification import logistic_regression as lr
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "02_classification/02_logistic_regression"
spec = notebook_module(NOTEBOOK, "exercises")
ref = notebook_module(NOTEBOOK, "reference")
t = torch.as_tensor


def design(n=60, d=3, seed=0):
    """X with a leading 1 and noisy labels: the classes overlap."""
    rng = np.random.default_rng(seed)
    X = lr.with_one(rng.normal(size=(n, d - 1)))
    return t(X), t((X.sum(1) + 2 * rng.normal(size=n) > 0).astype(float))


def facts(drawn):
    fig, words = drawn
    plt.close(fig)
    return words.facts


# ---------------------------------------------------------------- references


def test_the_gradient_is_that_of_small_steps():
    (X, y), w = design(), t([0.3, -0.7, 1.1]).double()
    steps = [
        ref.nll_and_grad(w + h, X, y)[0] - ref.nll_and_grad(w - h, X, y)[0]
        for h in 1e-6 * torch.eye(3).double()
    ]
    got = ref.nll_and_grad(w, X, y)[1]
    torch.testing.assert_close(got, torch.stack(steps) / 2e-6, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("fit", ["descent", "Newton"])
def test_both_ways_end_at_statsmodels_fit(fit):
    X, y = design()
    if fit == "Newton":
        path, end = ref.newton(X, y, 0.0, t([2.0, -3.0, 1.0]).double(), 1e-10, 40)
    else:
        path, _, end = ref.descend(X, y, 2.0, 1e-8, 2000)
    expected = sm.Logit(y.numpy(), X.numpy()).fit(disp=0, tol=1e-12).params
    assert end == "flat"
    np.testing.assert_allclose(path[-1], expected, rtol=1e-6)


@pytest.mark.parametrize("lam", [1e-3, 0.1, 2.0])
def test_newton_with_ridge_ends_at_scikit_learns_fit(lam):
    X, y = design()
    model = LogisticRegression(C=1 / (60 * lam), tol=1e-12, max_iter=5000).fit(X[:, 1:], y)
    got = ref.newton(X, y, lam, torch.zeros(3).double(), 1e-10, 40)[0][-1]
    np.testing.assert_allclose(got, [*model.intercept_, *model.coef_[0]], rtol=1e-4, atol=1e-6)


def test_descent_falls_at_each_step_below_the_limit_of_the_text():
    X, y = design()
    limit = 8 * 60 / torch.linalg.matrix_norm(X, 2) ** 2
    losses = torch.stack(ref.descend(X, y, 0.99 * limit, 1e-4, 50)[1])
    assert (losses.diff() < 0).all()


@pytest.mark.parametrize("start", [2.0, 2.3, 9.0, -30.0])
def test_damped_newton_comes_home_on_two_rows_from_everywhere(start):
    X, y = torch.ones(2, 1).double(), t([1.0, 0.0])
    path, end = ref.newton(X, y, 0.0, t([start]).double(), 1e-8, 60)
    assert end == "flat" and abs(path[-1]) < 1e-7
    assert (path.abs().diff(dim=0) <= 0).all()
    if start == 2.0:  # no step is halved
        np.testing.assert_allclose(path[:5, 0], lr.two_rows(2.0, 4), atol=1e-9)


@pytest.mark.parametrize("costs", [(1.0, 1.0), (1.0, 10.0), (7.0, 2.0)])
def test_decisions_cost_least_by_brute_force(costs):
    rng = np.random.default_rng(0)
    p, y = rng.random(40), rng.integers(0, 2, 40)
    labels, alarms, misses, cost = ref.decide(t(p), t(y), *costs)
    said = np.stack([p * costs[1], (1 - p) * costs[0]]).argmin(0)  # costs of 0 and of 1
    assert labels.tolist() == said.tolist()
    (_, fp), (fn, _) = confusion_matrix(y, said)
    assert (alarms, misses) == (fp, fn)
    assert cost == pytest.approx((costs[0] * fp + costs[1] * fn) / 40)


def test_odds_ratios_are_statsmodels():
    x, y = lr.clouds(80, 1.5)
    fit = sm.Logit(y, lr.with_one(x)).fit(disp=0, tol=1e-12)
    expected = np.exp(np.column_stack([fit.params, fit.conf_int()]))
    got = ref.odds_ratios(t(lr.with_one(x)), t(fit.params))
    np.testing.assert_allclose(got, expected, rtol=1e-4)  # 1.96 for 1.959964


@pytest.mark.parametrize("bins", [1, 4, 10])
def test_reliability_is_scikit_learns_curve(bins):
    rng = np.random.default_rng(1)
    p = rng.random(200)
    y = (rng.random(200) < p).astype(float)
    table = ref.reliability(t(p), t(y), bins).numpy()
    share, mean = calibration_curve(y, p, n_bins=bins)
    seen = table[table[:, 2] > 0]
    np.testing.assert_allclose(seen[:, :2], np.column_stack([mean, share]))
    assert table[:, 2].sum() == 200


# ---------------------------------------------------------------- cases


@pytest.mark.parametrize("seed", range(20))
def test_the_cases_of_a_rise_lie_below_the_start(seed):
    case = dict(spec.descend.drawn(np.random.default_rng(seed)))["the last step rises"]
    case |= dict(X=t(case["X"]), y=t(case["y"]))
    _, losses, end = ref.descend(**case)
    assert end == "rising" and losses[-2] < losses[-1] < losses[0]


@pytest.mark.parametrize("seed", range(5))
def test_full_steps_of_their_case_land_beyond_1000(seed):
    cases = [c for n, c in spec.newton.drawn(np.random.default_rng(seed)) if "1000" in n]
    signs = {int(np.sign(case["start"][0])) for case in cases}
    assert signs == {-1, 1} and all(spec._newton(**case)[3] > 1000 for case in cases)


# ---------------------------------------------------------------- data and fits


def test_two_clouds_and_the_exams_follow_their_truth():
    points, labels = lr.clouds(20_000, 1.5)
    fit = sm.Logit(labels, lr.with_one(points)).fit(disp=0)
    np.testing.assert_allclose(fit.params, [0, 1.5 / 2**0.5, 1.5 / 2**0.5], atol=5 * fit.bse.max())
    x, y = lr.exams(20_000)
    fit = sm.Logit(y, lr.with_one(x)).fit(disp=0)
    assert np.all(abs(fit.params - [-4, 1]) < 4 * fit.bse)


@pytest.mark.parametrize("lam", [0.01, 1.0])
def test_fitted_is_the_references_newton(lam):
    X, y = design()
    expected = ref.newton(X, y, lam, torch.zeros(3).double(), 1e-10, 40)[0][-1]
    np.testing.assert_allclose(lr.fitted(X.numpy(), y.numpy(), lam), expected, atol=1e-7)


def test_separable_means_that_some_line_separates():
    X = lr.with_one(np.array([-2.0, -1, 1, 2]))
    wanted = {(0, 0, 1, 1): True, (0, 1, 1, 1): True, (0, 1, 0, 1): False}
    assert {y: lr.separable(X, np.array(y)) for y in wanted} == wanted


def test_the_clinics_known_tumours_are_separable_and_weights_lengthen_with_patience():
    Z, y, known, new = lr.clinic()
    assert lr.separable(Z[known], y[known]) and not set(known) & set(new)
    assert lr.clinic_norm(1e-12) > lr.clinic_norm(1e-8) + 100


def test_the_long_way_turns_to_the_street_of_a_hard_margin():
    x, side = lr.clouds(20, 4.0)
    both = np.vstack([x, -x])  # mirrored rows: the best line goes through the origin
    svm = SVC(kernel="linear", C=1e8).fit(both, np.append(side, 1 - side))
    lengths, angles, gain = lr.long_way()
    assert gain == pytest.approx(np.log(10) * np.linalg.norm(svm.coef_), rel=1e-3)
    assert (np.diff(lengths) > 0).all() and (np.diff(angles) < 0).all()


# ---------------------------------------------------------------- pictures


def test_the_clinic_has_the_numbers_that_the_first_cell_tells():
    told = facts(lr.draw_clinic())
    assert f"{told['told']:.2f}" == "0.10" and f"{told['told_end']:.0e}" == "5e-16"
    assert told["known_end"] < told["known"] and told["new_end"] > 5 * told["new"]
    Z, y, _, _ = lr.clinic()
    assert y[told["who"]] == 1 and told["who"] in lr.clinic()[3]


def test_the_line_leaves_and_the_curve_stays():
    told = facts(lr.draw_line_and_curve(expit))
    assert told["top"] > 1.6 and told["outside"] > 50 and told["low"] < 0.05 < 0.95 < told["high"]


def test_the_coin_peaks_at_the_share_of_heads():
    told = facts(lr.draw_coin(14, 20))
    assert told["best"] == told["lowest"] == pytest.approx(0.7)
    assert told["nll"] == pytest.approx(-np.log(0.7) * 0.7 - np.log(0.3) * 0.3)


def test_no_curve_beats_the_maximum_and_its_errors_sum_to_0():
    x, y = lr.exams()
    fit = sm.Logit(y, lr.with_one(x)).fit(disp=0)
    start = controls.explorer(NOTEBOOK, "curve_explorer").words.facts
    assert start["highest"] == pytest.approx(fit.llf) and start["value"] < fit.llf - 1
    b, w = np.round(fit.params / [0.05, 0.01]) * [0.05, 0.01]
    best = controls.explorer(NOTEBOOK, "curve_explorer", intercept=b, slope=w).words.facts
    assert best["value"] == pytest.approx(fit.llf, abs=0.02) and abs(best["error"]) < 0.01
    assert best["half"] == pytest.approx(-b / w)


def star(**moved):
    return controls.explorer(NOTEBOOK, "star_explorer", **moved).words.facts


def test_the_star_makes_the_weights_run_and_ridge_holds_them():
    mixed, apart = star(), star(x1=2.0, x2=2.0)
    assert (mixed["kind"], apart["kind"]) == ("no line separates", "a line separates")
    assert apart["length"] > 4 * mixed["length"] and apart["wrong"] == 0
    held = [star(x1=2.0, x2=2.0, lam=lam)["length"] for lam in (0.001, 0.01, 0.1, 1.0)]
    assert apart["length"] > held[0] > held[1] > held[2] > held[3]


def threshold(**moved):
    return controls.explorer(NOTEBOOK, "threshold_explorer", **moved).words.facts


@pytest.mark.parametrize("ratio", [0.5, 1, 10])
def test_counts_and_cost_agree(ratio):
    told = threshold(threshold=0.3, ratio=ratio)
    assert told["tp"] + told["fn"] + told["fp"] + told["tn"] == 569
    assert told["cost"] == pytest.approx((told["fp"] + ratio * told["fn"]) / 569)
    assert told["least"] <= told["cost"] and told["formula"] == pytest.approx(1 / (1 + ratio))
    assert threshold(threshold=0.8, ratio=ratio)["recall"] < told["recall"]


def test_groups_show_the_log_odds_of_their_world_and_pure_ones_stay_finite():
    rng = np.random.default_rng(4)
    x = rng.uniform(-2, 2, 20_000)
    y = (rng.random(20_000) < expit(2 * x - 1)).astype(float)
    groups, odds, error = lr.empirical_log_odds(x, y, 40)
    centre = np.array([x[g].mean() for g in groups])
    assert np.all(abs(odds - (2 * centre - 1)) < 5 * error)
    _, odds, error = lr.empirical_log_odds(np.arange(6.0), np.zeros(6), 2)
    assert np.isfinite(odds).all() and np.isfinite(error).all()

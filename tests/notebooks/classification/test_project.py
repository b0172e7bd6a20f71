"""The classification project's truth: labels of the table, luck that is uniform, costs by brute force, statsmodels."""

import numpy as np
import pytest
import torch
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from statsmodels.stats.proportion import proportion_confint

from descent import data
from descent.pictures.classification import project as pictures
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "02_classification/05_project"
ref = notebook_module(NOTEBOOK, "reference")


def rows(n, d, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(n, d)))


def test_a_tumour_has_the_label_of_the_table_the_other_way_round():
    table = data.breast_cancer()
    picked = [0, 19, 568]
    assert ref.labels(torch.from_numpy(table.X[picked])).tolist() == (1 - table.y[picked]).tolist()
    assert len({tuple(row) for row in table.X}) == len(table.y)  # no two tumours are alike


def test_the_labels_have_their_chance_and_nothing_else_tells_them():
    X = rows(40_000, 6)
    y, chance = ref.labels(X).numpy(), ref.chance(X).numpy()
    for low in np.arange(0, 1, 0.1):
        inside = (chance >= low) & (chance < low + 0.1)
        error = np.sqrt(0.25 / inside.sum())
        assert abs(y[inside].mean() - chance[inside].mean()) < 4 * error
    assert np.abs(np.corrcoef(X.T.numpy(), y - chance)[-1, :-1]).max() < 0.03
    assert torch.equal(ref.labels(X[:5]), ref.labels(X)[:5])


def test_where_another_share_is_ill_the_odds_change_by_that_of_the_shares():
    X = rows(60_000, 6)
    y, z = ref.labels(X).numpy(), logit(ref.chance(X).numpy())
    kept = (y == 0) | (np.random.default_rng(1).random(len(y)) < 0.1)
    share = y[kept].mean()
    told = expit(z[kept] + logit(share) - logit(y.mean()))
    for low in (0, 0.05, 0.2, 0.5):
        inside = (told >= low) & (told < 2.5 * low + 0.05)
        error = np.sqrt(told[inside].mean() / inside.sum())
        assert abs(y[kept][inside].mean() - told[inside].mean()) < 4 * error


@pytest.mark.parametrize("seed", range(4))
def test_the_lowest_cost_is_that_of_a_fine_grid(seed):
    rng = np.random.default_rng(seed)
    p, y = rng.random(30).round(1), rng.integers(2, size=30)
    grid = [
        5 * np.sum((p < t) & (y == 1)) + np.sum((p >= t) & (y == 0))
        for t in np.arange(-0.05, 1.2, 0.01)
    ]
    assert ref.lowest_cost(torch.from_numpy(p), torch.from_numpy(y), 5, 1).item() == min(grid)


@pytest.mark.parametrize("k", [0, 3, 30])
def test_the_exact_interval_is_that_of_statsmodels(k):
    expected = proportion_confint(k, 30, 0.1, method="beta")
    assert ref.exact_interval(k, 30, 0.9) == pytest.approx(expected)


def test_the_mean_width_is_a_mean_over_samples():
    counts = np.random.default_rng(0).binomial(12, 0.8, 20_000)
    widths = np.array([np.subtract(*ref.exact_interval(k, 12, 0.95)[::-1]) for k in range(13)])
    found = ref.mean_width(12, 0.95, torch.tensor([0.8], dtype=torch.float64))
    assert found == pytest.approx(widths[counts].mean(), rel=0.01)


# ------------------------------------------------------------ what it draws


def test_the_title_tells_what_scikit_learns_fits_cost():
    lab, table = pictures.laboratory(), data.breast_cancer()
    cut, ill = np.random.default_rng(15).permutation(569), 1 - table.y
    new, tuned, known = cut[:171], cut[171:290], cut[290:]
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.5, tol=1e-8))
    p = model.fit(table.X[known], ill[known]).predict_proba(table.X)[:, 1]
    assert np.allclose(p[new], lab.new, atol=1e-4) and np.allclose(p[tuned], lab.tuned, atol=1e-4)
    prices = [
        [
            20 * np.sum((p[part] < t) & (ill[part] == 1))
            + np.sum((p[part] >= t) & (ill[part] == 0))
            for t in (0.48, 1 / 21)
        ]
        for part in (tuned, new)
    ]
    assert prices == [[1, 20], [82, 23]]
    grid = np.linspace(0, 1, 5001)
    assert min(lab.cost(lab.tuned, lab.tuned_truth, t) for t in grid) == 1
    assert np.sum((lab.tuned >= 0.48) & (lab.tuned_truth == 1)) == lab.tuned_truth.sum() == 38


def test_the_title_shows_one_of_the_worst_of_forty_shuffles():
    table = data.breast_cancer()
    ill, costs = 1 - table.y, []
    for day in range(40):
        cut = np.random.default_rng(day).permutation(569)
        new, tuned, known = cut[:171], cut[171:290], cut[290:]
        model = make_pipeline(StandardScaler(), LogisticRegression(C=0.5, tol=1e-8))
        p = model.fit(table.X[known], ill[known]).predict_proba(table.X)[:, 1]
        cost = pictures.Laboratory.cost
        best = min([*np.sort(p[tuned]), np.inf], key=lambda t: cost(p[tuned], ill[tuned], t))
        costs.append([cost(p[new], ill[new], t) for t in (best, 1 / 21)])
    cheapest, napkin = np.transpose(costs)
    assert costs[15] == [82, 23] and np.sum(cheapest > 82) == 6
    assert (round(cheapest.mean()), round(napkin.mean())) == (45, 29)
    assert np.sum(cheapest < napkin) == 15


def test_naive_bayes_sends_cancers_home():
    facts = pictures.draw_claims(pictures.laboratory())[1].facts
    assert facts["lost"] == [0, 7] and facts["cost"] == [23, 144]
    assert facts["least"] < 1e-4


def test_the_threshold_is_dragged_and_both_costs_follow():
    def facts(t):
        return controls.explorer(NOTEBOOK, "draw_valleys", t=t).words.facts

    start = controls.explorer(NOTEBOOK, "draw_valleys").words.facts
    assert (start["tuned"], start["new"], start["misses"], start["alarms"]) == (1, 82, 4, 2)
    assert facts(0.001)["misses"] == 0 and facts(0.001)["new"] == facts(0.001)["alarms"]
    assert facts(0.97)["new"] > 10 * start["napkin"] == 230


def test_a_town_costs_what_its_misses_and_alarms_do():
    y = np.array([1, 1, 0, 0, 0, 0])
    shares, told, as_it_is, nobody = pictures.towns(
        lambda share: y if share else np.array([1, 0, 1, 0, 0, 0]), y
    )
    assert np.allclose(told, 0) and np.allclose(nobody, 20 * 1000 * shares)
    assert np.allclose(as_it_is, 1000 * (20 * shares / 2 + (1 - shares) / 4))


def test_told_the_share_a_screening_costs_less_and_the_clinic_the_same():
    def facts(share):
        return controls.explorer(NOTEBOOK, "draw_towns", share=share).words.facts

    assert facts(0.01)["told"] < facts(0.01)["as_it_is"] / 2
    assert facts(0.01)["told"] < facts(0.01)["nobody"]
    assert facts(0.37)["told"] == pytest.approx(facts(0.37)["as_it_is"], rel=0.2)
    assert facts(0.001)["nobody"] == pytest.approx(20)


def test_the_words_of_the_days_hold_their_means():
    days = np.array([[1, 40, 20], [3, 60, 30]])
    _, words = pictures.draw_days({"one": days, "two": 2 * days})
    assert words.facts["a"].tolist() == [2, 50, 25] and words.facts["b"].tolist() == [4, 100, 50]


def test_calibration_tells_the_largest_gap():
    p = np.repeat([0.1, 0.9], 100)
    y = np.r_[np.zeros(90), np.ones(10), np.ones(60), np.zeros(40)]
    facts = pictures.draw_calibration(p, y)[1].facts
    assert facts["bins"] == 2 and facts["rows"] == "100, 100" and facts["size"] == 100
    assert facts["worst"] == pytest.approx(0.3)


def test_the_words_of_the_tumours():
    table = data.breast_cancer()
    facts = pictures.draw_tumours(table.X, 1 - table.y, table.names)[1].facts
    assert (facts["n"], facts["ill"]) == (569, 212)
    assert facts["benign"] < 13 < 17 < facts["malignant"]

"""The classification project's truth: labels of the table, luck that is uniform, costs by brute force, statsmodels."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from ipywidgets import FloatSlider, SelectionSlider
from statsmodels.stats.proportion import proportion_confint

from descent import data
from descent.pictures.classification import project as pictures
from descent.widgets import Explorer
from solutions import notebook_module

ref = notebook_module("02_classification/05_project", "reference")


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


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


P, Y = np.array([0.1, 0.2, 0.4, 0.6, 0.7, 0.9]), np.array([0, 0, 1, 0, 1, 1])


def test_counts():
    assert pictures.counts_at(P, Y, 0.5) == (2, 1, 1, 2)
    assert pictures.counts_at(P, Y, 0.0) == (3, 0, 3, 0)
    assert pictures.counts_at(P, Y, 2.0) == (0, 3, 0, 3)


def test_the_threshold_moves_the_counts_and_the_cost():
    explorer = Explorer(
        lambda t, miss: pictures.draw_threshold(P, Y, t, miss, 1.0),
        {
            "t": FloatSlider(0.5, min=0.01, max=0.99),
            "miss": SelectionSlider(value=20.0, options=[1.0, 20.0]),
        },
    )
    assert "2 of 3 malignant tumours found, 1 missed; 1 false alarms among 3" in explorer.words
    assert "Cost 21; the cheapest threshold on the grid costs 1." in explorer.words
    explorer.controls["t"].value = 0.3
    assert "3 of 3 malignant tumours found, 0 missed; 1 false alarms" in explorer.words
    explorer.controls["miss"].value = 1.0
    assert "Cost 1; the cheapest" in explorer.words
    assert "<img" in explorer.picture.value


def test_calibration_tells_the_largest_gap():
    p = np.repeat([0.1, 0.9], 100)
    y = np.r_[np.zeros(90), np.ones(10), np.ones(60), np.zeros(40)]
    _, words = pictures.draw_calibration(p, y)
    assert "2 bins of scores with 100, 100 rows" in words
    assert "largest gap between score and share is 0.30, in a bin of 100 rows" in words


def test_the_words_of_the_tumours():
    table = data.breast_cancer()
    _, words = pictures.draw_tumours(table.X, 1 - table.y, table.names)
    assert "569 tumours, 212 malignant" in words

"""The classification project's pictures: their words hold the counts, and the sliders move them."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from ipywidgets import FloatSlider, SelectionSlider

from descent import data
from descent.widgets import Explorer
from descent.widgets import classification_project as pictures


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
    assert explorer.picture.value.startswith("<img")


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

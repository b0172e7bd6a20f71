"""The regression project's pictures: their words hold the numbers, and the level slider moves them."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from ipywidgets import FloatSlider

from descent import data
from descent.widgets import Explorer
from descent.widgets import regression_project as pictures


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_the_share_inside_follows_the_level():
    rng = np.random.default_rng(0)
    y, centre = rng.normal(150, 50, 400), np.full(400, 150.0)

    def draw(level):
        half = (
            50 * np.sqrt(2) * np.sqrt(-np.log(1 - level))
        )  # some half width that grows with the level
        return pictures.draw_intervals(y, np.stack([centre - half, centre + half], 1), level)

    explorer = Explorer(draw, {"level": FloatSlider(0.5, min=0.1, max=0.98)})
    before = int(explorer.words.split()[0])
    explorer.controls["level"].value = 0.9
    assert int(explorer.words.split()[0]) > before and "90% were asked for" in explorer.words
    assert explorer.picture.value.startswith("<img")


def test_the_words_of_a_forecast_hold_its_r2():
    y = np.arange(10.0)
    _, words = pictures.draw_forecasts(y, np.full(10, y.mean()))
    assert "R² 0.00 on 10 rows" in words
    _, words = pictures.draw_forecasts(y, y)
    assert "R² 1.00" in words


def test_the_words_of_the_other_pictures():
    table = data.patients()
    _, words = pictures.draw_patients(table.X, table.y, table.names)
    assert "442 patients" in words and "bmi 0.59" in words
    _, words = pictures.draw_penalties(np.array([1.0, 10.0]), np.array([4.0, 5.0]), 1)
    assert "lowest at λ = 1; your choice is λ = 10, 25.0% above" in words

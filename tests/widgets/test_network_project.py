"""The network project's pictures: their words hold the numbers, and the unit slider moves them."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from ipywidgets import IntSlider

from descent.widgets import Explorer
from descent.widgets import network_project as pictures
from solutions.reference import network_project as ref


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def net():
    rng = np.random.default_rng(0)
    W, V = rng.normal(size=(3, 64)), rng.normal(size=(10, 3))
    V[:, 1] = 0
    V[7, 1] = 2.0  # unit 1 helps the seven alone
    return [(W, np.zeros(3)), (V, np.zeros(10))]


def test_scores_are_torchs(net):
    X = np.random.default_rng(1).random((5, 64))
    tensors = [tuple(map(torch.from_numpy, layer)) for layer in net]
    np.testing.assert_allclose(pictures.scores(net, X), ref.scores(tensors, torch.from_numpy(X)))


def test_another_unit_is_another_picture(net):
    X, y = (t.numpy()[:60] for t in ref.digits())
    explorer = Explorer(
        lambda unit: pictures.draw_unit(net, X, y, unit), {"unit": IntSlider(0, min=0, max=2)}
    )
    assert explorer.words.startswith("Unit 0 is awake on")
    before = explorer.picture.value
    explorer.controls["unit"].value = 1
    assert "It helps most: 7." in explorer.words and explorer.picture.value != before
    value = np.maximum(X @ net[0][0][1], 0)
    assert f"awake on {np.mean(value > 0):.0%}" in explorer.words
    assert ", ".join(map(str, y[np.argsort(-value, kind="stable")[:8]])) in explorer.words


def test_a_dead_unit_is_called_dead_and_the_first_one_shown_is_awake(net):
    X, y = (t.numpy()[:60] for t in ref.digits())
    (W, b), last = net
    b = np.array([-1e3, 0.0, 1e3])
    assert pictures.busiest_unit([(W, b), last], X) == 2
    _, words = pictures.draw_unit([(W, b), last], X, y, 0)
    assert words == "Unit 0 is dead: none of the digits wakes it, whatever its weights say."


def test_the_words_of_a_training_and_of_the_misread():
    spent, losses = np.arange(1, 101) * 25, np.linspace(2.0, 0.0, 100)
    _, words = pictures.draw_training(spent, losses, 1.0, 0.9)
    assert (
        "from 2.0 to 0.04 nats over 2500 rows. Right are 100.0% of the training rows and 90.0% of the try"
        in words
    )
    X, y = (t.numpy()[:30] for t in ref.digits())
    called = y.copy()
    called[[3, 8]] += 1
    _, words = pictures.draw_misread(X, y, called)
    assert (
        "2 of 30 digits are misread: 93.3% are right, standard error 4.6 points. The first 2"
        in words
    )
    _, words = pictures.draw_misread(X, y, y)
    assert words.startswith("0 of 30")
    _, words = pictures.draw_shares({"few": 0.5, "many": 0.75})
    assert words == "Right on the try rows: few 50.0%, many 75.0%."

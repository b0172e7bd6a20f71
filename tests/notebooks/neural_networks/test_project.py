"""The network project's truth: labels of the tables, counts by torch, gradients by finite differences."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from ipywidgets import IntSlider

from descent.pictures.neural_networks import project as pictures
from descent.widgets import Explorer
from solutions import notebook_module

ref = notebook_module("07_neural_networks/09_project", "reference")


def network(sizes, seed=0):
    rng = np.random.default_rng(seed)
    draw = lambda *shape: torch.from_numpy(rng.normal(size=shape))  # noqa: E731
    return [(draw(b, a), draw(b)) for a, b in zip(sizes, sizes[1:], strict=False)]


@pytest.mark.parametrize("table", [ref.digits, ref.wines], ids=lambda f: f.__name__)
def test_each_row_has_the_label_of_its_table(table):
    X, y = table()
    assert torch.equal(ref.labels(X[::7]), y[::7])
    assert len({tuple(row.tolist()) for row in X}) == len(y)  # no two rows are alike
    with pytest.raises(ValueError, match="in no table"):
        ref.labels(X[:2] + 0.5)


def test_wines_are_standardised():
    X, _ = ref.wines()
    np.testing.assert_allclose(X.mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(X.numpy().std(0), 1)


def test_the_pattern_is_that_of_the_quadrants():
    X = torch.tensor([[0.5, 0.2], [-0.5, 0.2], [-1.0, -1.0], [1.0, -0.1]])
    assert ref.labels(X).tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("d", "k", "depth", "budget"), [(64, 10, 1, 2260), (5, 3, 2, 200), (30, 5, 1, 34)]
)
def test_the_widest_network_fits_and_the_next_does_not(d, k, depth, budget):
    def count(h):
        sizes = [d, *[h] * depth, k]
        layers = [torch.nn.Linear(a, b) for a, b in zip(sizes, sizes[1:], strict=False)]
        return sum(p.numel() for layer in layers for p in layer.parameters())

    h = ref.widest(d, k, depth, budget)
    assert count(h + 1) > budget and (h == 0 or count(h) <= budget)


@pytest.mark.parametrize("sizes", [[3, 2], [3, 4, 2], [2, 5, 4, 3]])
def test_gradients_are_finite_differences(sizes):
    params = network(sizes)
    rng = torch.Generator().manual_seed(0)
    X = torch.randn(6, sizes[0], dtype=torch.float64, generator=rng)
    y = torch.randint(sizes[-1], (6,), generator=rng)
    loss, grads = ref.loss_and_grads(params, X, y)
    p = ref.scores(params, X).softmax(1)
    assert loss.item() == pytest.approx(-p[range(6), y].log().mean().item())
    for layer, (dW, db) in zip(params, grads, strict=True):
        for parameter, grad in zip(layer, (dW, db), strict=True):
            index = tuple(0 for _ in parameter.shape)
            kept = parameter[index].item()
            ends = []
            for step in (1e-6, -1e-6):
                parameter[index] = kept + step
                ends.append(ref.loss_and_grads(params, X, y)[0].item())
            parameter[index] = kept
            assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(grad[index].item(), abs=1e-7)


# ------------------------------------------------------------ what it draws


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

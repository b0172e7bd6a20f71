"""The network project's truth: labels of the tables, counts by torch, gradients by finite differences."""

import numpy as np
import pytest
import torch

from solutions.reference import network_project as ref
from tests.reference.contract import assert_any_device, assert_inputs_left_alone


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


def test_the_contract():
    X, y = torch.linspace(-1, 1, 15, dtype=torch.float64).reshape(5, 3), torch.tensor([0, 1, 1, 0, 1])
    for function, arguments in (
        (ref.loss_and_grads, [network([3, 4, 2]), X, y]),
        (ref.scores, [network([3, 4, 2]), X]),
    ):
        assert_inputs_left_alone(function, arguments)
        assert_any_device(function, arguments)

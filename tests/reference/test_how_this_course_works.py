"""The first notebook's references against numpy, scikit-learn, torch.nn, graphlib and brute force."""

import copy
import graphlib

import numpy as np
import pytest
import torch
from sklearn.metrics import (
    accuracy_score,
    mean_absolute_error,
    mean_pinball_loss,
    mean_squared_error,
)
from sklearn.neighbors import NearestCentroid

from solutions.reference import how_this_course_works as ref

DTYPES = [torch.float32, torch.float64]


def normal(rng, *shape, dtype=torch.float64):
    return torch.from_numpy(rng.normal(size=shape)).to(dtype)


def close(dtype):
    return (
        {"rtol": 1e-4, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 1e-10, "atol": 1e-12}
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 5), (2, 3, 4)], ids=str)
def test_the_average_is_numpys_mean_and_keeps_the_dtype(rng, dtype, shape):
    x = normal(rng, *shape, dtype=dtype)
    kept = x.clone()
    got = ref.average(x)
    assert got.dtype == dtype and torch.equal(x, kept)
    np.testing.assert_allclose(got.numpy(), x.numpy().mean(-1), rtol=1e-4, atol=1e-6)


def test_the_average_of_a_list_is_the_average_of_its_tensor():
    assert ref.average([1.0, 2.0, 6.0]) == pytest.approx(3.0)


def first_difference(points, left, right, rtol):
    """By the words of the exercise, one point after the other."""
    for p, a, b in zip(points, left, right, strict=True):
        if np.isnan(a) or np.isnan(b) or abs(a - b) > rtol * max(abs(a), abs(b)):
            return p
    return None


def test_the_counterexample_is_the_first_by_brute_force(rng):
    found = set()
    for _ in range(200):
        n = int(rng.integers(0, 6))
        points = [float(v) for v in rng.normal(size=n)]
        left = [float(v) for v in rng.normal(size=n)]
        right = [v if rng.random() < 0.7 else v + rng.choice([0.1, np.nan]) for v in left]
        got = ref.counterexample(points, left, right, 1e-9)
        assert got == first_difference(points, left, right, 1e-9)
        found.add(got is None)
    assert found == {True, False}


@pytest.mark.parametrize("scale", [1e-14, 1.0, 1e14])
def test_the_tolerance_is_relative_at_every_scale(scale):
    assert ref.counterexample([5.0], [scale], [scale * (1 + 1e-12)], 1e-9) is None
    assert ref.counterexample([5.0], [scale], [scale * (1 + 1e-6)], 1e-9) == 5.0


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n_train", [1, 3, 6])
def test_columns_are_the_shuffled_rows_transposed(rng, dtype, n_train):
    rows, labels = normal(rng, 6, 4, dtype=dtype), normal(rng, 6, dtype=dtype)
    order = torch.from_numpy(rng.permutation(6))
    kept = rows.clone(), labels.clone()
    X, y, X_test, y_test = ref.to_columns(rows, labels, order, n_train)
    assert X.dtype == dtype and X.shape == (4, n_train) and X_test.shape == (4, 6 - n_train)
    for j, i in enumerate(order.tolist()):
        column, label = (
            (X[:, j], y[j]) if j < n_train else (X_test[:, j - n_train], y_test[j - n_train])
        )
        assert torch.equal(column, rows[i]) and label == labels[i]
    assert torch.equal(rows, kept[0]) and torch.equal(labels, kept[1])


@pytest.mark.parametrize(
    ("loss", "metric"),
    [
        ("squared", mean_squared_error),
        ("absolute", mean_absolute_error),
        ("pinball", lambda y, p: mean_pinball_loss(y, p, alpha=0.9)),
    ],
    ids=["squared", "absolute", "pinball"],
)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_empirical_risk_is_scikit_learns_metric_in_any_order(rng, dtype, loss, metric):
    x, y = normal(rng, 9, dtype=dtype), normal(rng, 9, dtype=dtype)
    risk = ref.empirical_risk(0.7, -0.2, x, y, loss)
    assert risk.dtype == dtype
    assert float(risk) == pytest.approx(metric(y.numpy(), (0.7 * x - 0.2).numpy()), rel=1e-4)
    order = torch.from_numpy(rng.permutation(9))
    torch.testing.assert_close(
        ref.empirical_risk(0.7, -0.2, x[order], y[order], loss), risk, **close(dtype)
    )


def test_empirical_risk_of_a_batch_is_a_loop(rng):
    x, y = normal(rng, 4, 6), normal(rng, 4, 6)
    risks = ref.empirical_risk(2.0, 1.0, x, y, "pinball")
    for i in range(4):
        torch.testing.assert_close(risks[i], ref.empirical_risk(2.0, 1.0, x[i], y[i], "pinball"))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_score_is_that_of_scikit_learns_nearest_centroid(rng, dtype):
    scores = []
    for _ in range(10):
        y, y_test = rng.integers(0, 3, 30) * 4 + 1, rng.integers(0, 3, 20) * 4 + 1
        X, X_test = (
            rng.normal(size=(30, 2)) + y[:, None] / 4,
            rng.normal(size=(20, 2)) + y_test[:, None] / 4,
        )
        expected = accuracy_score(y_test, NearestCentroid().fit(X, y).predict(X_test))
        tensors = [torch.from_numpy(a) for a in (X, y, X_test, y_test)]
        tensors[0], tensors[2] = tensors[0].to(dtype), tensors[2].to(dtype)
        score = ref.train_predict_evaluate(*tensors)
        assert score.dtype == dtype and float(score) == pytest.approx(expected)
        scores.append(float(score))
    assert len(set(scores)) > 3


@pytest.mark.parametrize("act", ["identity", "relu", "tanh"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_layer_is_torchs_linear_layer_and_activation(rng, dtype, act):
    linear = torch.nn.Linear(3, 5, dtype=dtype)
    activation = {
        "identity": torch.nn.Identity(),
        "relu": torch.nn.ReLU(),
        "tanh": torch.nn.Tanh(),
    }[act]
    h = normal(rng, 3, dtype=dtype)
    kept = h.clone()
    got = ref.layer(linear.weight.detach(), linear.bias.detach(), act, h)
    assert got.dtype == dtype and torch.equal(h, kept)
    torch.testing.assert_close(got, activation(linear(h)).detach(), **close(dtype))


def test_a_batch_of_layers_is_a_loop(rng):
    W, b, h = normal(rng, 4, 5, 3), normal(rng, 4, 5), normal(rng, 4, 3)
    out = ref.layer(W, b, "tanh", h)
    for i in range(4):
        torch.testing.assert_close(out[i], ref.layer(W[i], b[i], "tanh", h[i]))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_an_outer_product_times_a_vector_is_an_inner_product_times_a_vector(rng, dtype):
    h1, h2, x = (normal(rng, 2, n, dtype=dtype) for n in (4, 3, 3))
    got = ref.outer_times(h1, h2, x)
    assert got.dtype == dtype and got.shape == (2, 4)
    for i in range(2):
        torch.testing.assert_close(got[i], h1[i] * (h2[i] @ x[i]), **close(dtype))


def counts_by_graphlib(inputs_of):
    try:
        order = list(graphlib.TopologicalSorter(inputs_of).static_order())
    except graphlib.CycleError:
        return None
    values = {}
    for node in order:
        values[node] = 1 + sum(values[one] for one in inputs_of[node])
    return {"values": values, "listed": len(order)}


def test_path_counts_follow_the_order_of_graphlib_on_random_graphs(rng):
    seen = set()
    for _ in range(100):
        names = [f"n{i}" for i in range(int(rng.integers(0, 6)))]
        graph = {n: [m for m in names if m != n and rng.random() < 0.25] for n in names}
        kept = copy.deepcopy(graph)
        got = ref.path_counts(graph)
        assert got == counts_by_graphlib(graph) and graph == kept
        seen.add(got is None)
    assert seen == {True, False}


@pytest.mark.parametrize(
    "call",
    [
        lambda t: ref.average(t(2, 5)),
        lambda t: ref.to_columns(t(4, 3), t(4), torch.arange(4, device="meta"), 2)[0],
        lambda t: ref.empirical_risk(1.0, 0.0, t(5), t(5), "pinball"),
        lambda t: ref.layer(t(2, 4, 3), t(2, 4), "relu", t(2, 3)),
        lambda t: ref.outer_times(t(2, 4), t(2, 3), t(2, 3)),
    ],
    ids=["average", "to_columns", "empirical_risk", "layer", "outer_times"],
)
def test_no_tensor_leaves_its_device(call):
    result = call(lambda *shape: torch.empty(*shape, device="meta"))
    assert result.device.type == "meta"

"""The first notebook's references against numpy, scikit-learn, torch.nn, graphlib and brute force."""

import copy
import graphlib
import re

import numpy as np
import pytest
import torch
from ipywidgets import FloatSlider, IntSlider
from scipy.optimize import minimize_scalar
from sklearn.metrics import (
    accuracy_score,
    mean_absolute_error,
    mean_pinball_loss,
    mean_squared_error,
)
from sklearn.neighbors import NearestCentroid

from autograder.building import masters, mentions
from descent.pictures.start_here import how_this_course_works as pictures
from descent.widgets import Explorer
from solutions import notebook_module

ref = notebook_module("00_start_here/01_how_this_course_works", "reference")


DTYPES = [torch.float32, torch.float64]


def normal(rng, *shape, dtype=torch.float64):
    return torch.from_numpy(rng.normal(size=shape)).to(dtype)


def close(dtype):
    return (
        {"rtol": 1e-4, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 1e-10, "atol": 1e-12}
    )


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


# ------------------------------------------------------------ what it draws


NOTEBOOK = "00_start_here/01_how_this_course_works"


def numbers(words):
    return [float(n) for n in re.findall(r"-?\d+\.?\d*", words)]


def test_the_average_loss_is_smallest_at_the_best_slope():
    found = minimize_scalar(lambda w: np.mean(pictures.line_losses(w)))
    assert pictures.best_slope() == pytest.approx(found.x, abs=1e-6)


def test_moving_the_line_tells_its_average_loss():
    slider = FloatSlider(0.1, min=-0.2, max=1.6, step=0.02)
    widget = Explorer(lambda w: pictures.draw_line(np.mean, w), {"w": slider})
    for w in (1.4, 0.0, 0.8, 0.78):
        slider.value = w
        expected = np.mean((pictures.LINE_Y - w * pictures.LINE_X) ** 2)
        assert numbers(widget.words)[:2] == pytest.approx([w, expected], abs=0.005)
        assert ("No slope does better" in widget.words) == (w == 0.8)


def polynomial(degree, x, y):
    c = np.polynomial.polynomial.polyfit(x, y, degree)
    return c, np.mean((y - np.polynomial.polynomial.polyval(x, c)) ** 2)


def value(model, x):
    return np.polynomial.polynomial.polyval(x, model[0])


def log_normal(model, x, y):
    from scipy.stats import norm

    return norm.logpdf(y, value(model, x), np.sqrt(model[1]))


@pytest.mark.parametrize("n", [15, 40, 100])
def test_training_likelihood_never_falls_with_the_degree(n):
    train, new = pictures.log_likelihoods(polynomial, log_normal, n)
    assert (np.diff(train) > -1e-9).all() and new.argmax() < 9 and new[9] < train[9]


def test_the_largest_likelihood_of_a_normal_model_has_a_closed_form():
    x, y = pictures.wave(15, 6)
    train, _ = pictures.log_likelihoods(polynomial, log_normal, 15)
    for degree in (0, 3, 9):
        assert train[degree] == pytest.approx(
            -0.5 * np.log(2 * np.pi * np.e * polynomial(degree, x, y)[1])
        )


def test_the_capacity_widget_says_which_degree_is_best_on_new_data():
    controls = {"degree": IntSlider(9, min=0, max=9), "n": IntSlider(15, min=15, max=100, step=5)}
    widget = Explorer(
        lambda degree, n: pictures.draw_capacity(polynomial, log_normal, value, degree, n), controls
    )
    worst = numbers(widget.words)
    controls["degree"].value = 3
    best = numbers(widget.words)
    train, new = pictures.log_likelihoods(polynomial, log_normal, 15)
    assert worst == pytest.approx([9, 15, train[9], new[9], 9, new.argmax()], abs=0.006)
    assert best == pytest.approx([3, 15, train[3], new[3], 9, new.argmax()], abs=0.006)
    controls["n"].value = 100
    assert numbers(widget.words)[1] == 100 and numbers(widget.words)[3] > worst[3]


def run_by_hand(x1, x2):
    """The XOR program as plain arithmetic, and its derivatives where it has them."""
    s = x1 + x2
    h1, h2 = max(s, 0), max(s - 1, 0)
    slope = float(s > 0) - 2 * float(s > 1)
    values = {"x1": x1, "x2": x2, "s": s, "h1": h1, "h2": h2, "y": h1 - 2 * h2}
    return values, {"x1": slope, "x2": slope, "s": slope, "h1": 1, "h2": -2, "y": 1}


@pytest.mark.parametrize("a", [0.0, 1.0])
@pytest.mark.parametrize("b", [0.0, 1.0])
def test_the_steps_of_the_program_compute_exclusive_or(a, b):
    value = {"x1": a, "x2": b}
    for node in ("s", "h1", "h2", "y"):
        weights, bias, act = pictures.XOR_STEPS[node]
        inputs = [value[one] for one in pictures.XOR_INPUTS[node]]
        value[node] = act(sum(w * v for w, v in zip(weights, inputs, strict=True)) + bias)
    assert value == run_by_hand(a, b)[0] and value["y"] == (a != b)


def test_the_program_picture_tells_values_and_the_derivative():
    controls = {"x1": FloatSlider(0.7, min=0, max=1), "x2": FloatSlider(0.0, min=0, max=1)}
    widget = Explorer(lambda x1, x2: pictures.draw_program(*run_by_hand(x1, x2)), controls)
    assert "y = 0.70" in widget.words and "changes y by 1 times" in widget.words
    controls["x2"].value = 0.7
    assert "h2 = 0.40, y = 0.60" in widget.words and "changes y by -1 times" in widget.words


@pytest.mark.parametrize(("x1", "x2"), [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.3, 0.7)])
def test_at_a_kink_the_program_picture_tells_both_slopes(x1, x2):
    _, words = pictures.draw_program(*run_by_hand(x1, x2))
    here = run_by_hand(x1, x2)[0]["y"]
    left, right = (round((run_by_hand(x1 + h, x2)[0]["y"] - here) / h) for h in (-1e-6, 1e-6))
    assert f"its slope is {left} on the left and {right} on the right" in words


def test_the_messages_picture_counts_units_and_finds_the_highest_score():
    hidden, scores = np.array([0.0, 2.0, 0.0, 1.0]), np.eye(10)[7]
    fig, words = pictures.draw_messages(np.zeros(64), 2, hidden, scores)
    assert "a 2: 2 of 4 hidden units" in words and "that of 7" in words
    assert [bar.get_hatch() for bar in fig.axes[2].patches].index("//") == 7


def test_the_programs_picture_counts_the_corners_that_are_right():
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    tables = {"AND": np.array([0, 0, 0, 1]), "XOR": np.array([0, 1, 1, 0])}
    answers = {name: lambda x: x.sum(1) > 1.5 for name in tables}
    _, words = pictures.draw_programs(answers, corners, tables)
    assert words == "AND: 4 of 4 corners right, XOR: 1 of 4 corners right."


def test_every_link_of_the_glossary_leads_to_a_cell_that_exists():
    there = set(masters.notebooks())
    text = "\n".join(cell.source for cell in masters.read(NOTEBOOK).cells)
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    text = mentions.filled(text, NOTEBOOK, there)
    links = re.findall(r"\]\(([^)#]+\.ipynb)(?:#([^)]+))?\)", text)
    assert len(links) > 30
    for path, place in links:
        if place and not place.startswith("cell-id="):
            assert path == "01_how_this_course_works.ipynb" and place.replace("-", " ") in headings
            continue
        cell = place.removeprefix("cell-id=")
        target = path.removeprefix("../") if path.startswith("../") else f"00_start_here/{path}"
        notebook = target.removesuffix(".ipynb")
        assert notebook in there, target
        assert not cell or cell in masters.read(notebook).of("exercise"), f"{target}: no {cell}"


def test_the_units_picture_finds_the_unit_that_tells_two_digits_apart():
    labels = np.repeat(np.arange(10), 2)
    hidden = np.zeros((20, 3))
    hidden[:, 1] = 1.0
    hidden[labels == 6, 2] = 1.0
    _, words = pictures.draw_units(hidden, labels)
    assert (
        words
        == "Unit 2 is on for 100% of the 6s and 0% of the 0s. 1 of 3 units are on for no image."
    )


def test_the_experience_picture_reads_its_title_from_the_numbers():
    fig, words = pictures.draw_experience([10, 100], [0.5, 0.125], 40)
    (ax,) = fig.axes
    assert "From 50% mistakes to 12%" in ax.get_title() + ax.get_title(loc="left")
    assert "40 new" in words and "12.5% after 100" in words

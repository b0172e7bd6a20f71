"""The first notebook's references against libraries and brute force, its pictures, and its links."""

import copy
import graphlib
import re

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from sklearn.metrics import accuracy_score, mean_pinball_loss, mean_squared_error
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from autograder.building import masters, mentions
from descent import data
from descent.pictures.start_here import how_this_course_works as pictures
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "00_start_here/01_how_this_course_works"
ref = notebook_module(NOTEBOOK, "reference")


def tensors(*arrays):
    return [torch.as_tensor(array) for array in arrays]


def test_the_average_of_a_list_is_the_average_of_its_tensor():
    assert ref.average([1.0, 2.0, 6.0]) == pytest.approx(3.0)


def test_the_nearest_means_are_those_of_scikit_learns_centroids(rng):
    for _ in range(10):
        y = rng.permutation(np.repeat([-3, 4, 9], 8))
        X, new = rng.normal(size=(24, 2)) + y[:, None] / 4, rng.normal(size=(20, 2))
        expected = NearestCentroid().fit(X, y).predict(new)
        np.testing.assert_array_equal(ref.nearest_means(*tensors(X, y, new)), expected)
        assert len(set(expected)) > 1


def test_the_shares_are_the_accuracies_of_a_model_that_saw_the_first_rows_only(rng):
    scores = set()
    for _ in range(10):
        y, order = rng.integers(0, 3, 30), rng.permutation(30)[:25]
        X = rng.normal(size=(30, 2)) + y[:, None] / 2
        model = NearestCentroid().fit(X[order[:15]], y[order[:15]])
        told = ref.train_predict_evaluate(*tensors(X, y, order), 15)
        for share, part in zip(told, (order[:15], order[15:]), strict=True):
            assert float(share) == pytest.approx(accuracy_score(y[part], model.predict(X[part])))
            scores.add(float(share))
    assert len(scores) > 5


@pytest.mark.parametrize(("loss", "metric"), [
    ("squared", mean_squared_error),
    ("pinball", lambda y, guess: mean_pinball_loss(y, guess, alpha=0.9)),
])  # fmt: skip
def test_a_learner_ends_where_a_minimiser_does_and_tells_the_risk_there(rng, loss, metric):
    X, y = rng.normal(size=(12, 2)), rng.normal(size=12)
    start = np.array([1.0, -1.0])
    theta, risks = ref.learn(*tensors(X, y, start), 1.0, 300, "linear", loss)
    for knobs, risk in ((start, risks[0]), (theta.numpy(), risks[-1])):
        assert float(risk) == pytest.approx(metric(y, X @ knobs), rel=1e-9)
    assert (np.diff(risks) <= 0).all()
    found = minimize(lambda t: metric(y, X @ t), start, method="Nelder-Mead", tol=1e-10)
    if loss == "squared":  # where one knob at a time is enough
        np.testing.assert_allclose(theta, found.x, atol=1e-4)
    assert float(risks[-1]) >= found.fun - 1e-9


def test_a_learner_by_hand_on_one_knob():
    # y = 2, x = 1: 0 -> 3 (risk 4 -> 1); then 6 and 0 are worse, step 1.5; 4.5 worse, 1.5 better
    told = ref.learn(*tensors([[1.0]], [2.0], [0.0]), 3.0, 3, "linear", "squared")
    assert told[0].tolist() == [1.5] and told[1].tolist() == [4.0, 1.0, 1.0, 0.25]


def test_a_program_of_layers_is_torchs_sequence_of_them():
    sizes, bends = (3, 4, 2, 5), (torch.nn.Tanh(), torch.nn.ReLU(), torch.nn.Identity())
    torch.manual_seed(0)
    layers = [torch.nn.Linear(a, b).double() for a, b in zip(sizes, sizes[1:], strict=False)]
    x = torch.randn(3).double()
    names = ("tanh", "relu", "identity")
    program = [(layer.weight, layer.bias, name) for layer, name in zip(layers, names, strict=True)]
    trace = ref.run(program, x)
    for length in range(4):
        steps = [step for pair in zip(layers, bends, strict=True) for step in pair][: 2 * length]
        torch.testing.assert_close(trace[length], torch.nn.Sequential(*steps)(x))


def first_difference(points, left, right, rtol):
    """By the words of the exercise, one point after the other."""
    for p, a, b in zip(points, left, right, strict=True):
        if np.isnan(a) or np.isnan(b) or abs(a - b) > rtol * max(abs(a), abs(b)):
            return p
    return None


def test_the_counterexample_is_the_first_by_brute_force(rng):
    found = set()
    for _ in range(200):
        points, left = ([float(v) for v in rng.normal(size=int(rng.integers(0, 6)))],) * 2
        right = [v if rng.random() < 0.7 else v + rng.choice([0.1, np.nan]) for v in left]
        got = ref.counterexample(points, left, right, 1e-9)
        assert got == first_difference(points, left, right, 1e-9)
        found.add(got is None)
    assert found == {True, False}


@pytest.mark.parametrize("scale", [1e-14, 1.0, 1e14])
def test_the_tolerance_is_relative_at_every_scale(scale):
    assert ref.counterexample([5.0], [scale], [scale * (1 + 1e-12)], 1e-9) is None
    assert ref.counterexample([5.0], [scale], [scale * (1 + 1e-6)], 1e-9) == 5.0


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
        graph = {n: [m for m in names if rng.random() < 0.2] for n in names}
        kept = copy.deepcopy(graph)
        got = ref.path_counts(graph)
        assert got == counts_by_graphlib(graph) and graph == kept
        seen.add(got is None)
    assert seen == {True, False}


# ------------------------------------------------------------ what it draws


@pytest.fixture(scope="module")
def puzzle():
    """Pictures, labels and the order in which the notebook takes them."""
    table = data.digits()
    return table.X, table.y, np.random.default_rng(2).permutation(1797)[:600]


def test_program_a_is_scikit_learns_nearest_neighbour_and_b_the_same_on_dealt_names(puzzle):
    X, y, order = puzzle
    seen, new = order[:300], order[300:]
    words = pictures.draw_puzzle(X, y, order)[1]
    for name, labels in (("a", y), ("b", pictures.dealt(y, seen))):
        model = KNeighborsClassifier(1).fit(X[seen], labels[seen])
        assert words.facts[name] == model.score(X[seen], labels[seen]) == 1
        assert words.facts[f"{name}_new"] == pytest.approx(model.score(X[new], y[new]))
    # as the first cell tells the story
    assert round(100 * words.facts["a_new"]) == 98 and round(100 * words.facts["b_new"]) == 9


@pytest.mark.filterwarnings("ignore:self.within_class")  # pixels that are always white
def test_ten_averages_are_scikit_learns_centroids(puzzle):
    X, y, order = puzzle
    model = NearestCentroid().fit(X[order[:300]], y[order[:300]])
    expected = [model.score(X[part], y[part]) for part in (order[:300], order[300:])]
    assert pictures.ten_averages(X, y, order) == pytest.approx(expected)
    assert round(100 * expected[0]) == 91  # as the take-aways say


def test_dealt_names_are_the_same_names_and_touch_no_others(puzzle):
    _, y, order = puzzle
    seen = order[:300]
    anew = pictures.dealt(y, seen)
    assert sorted(anew[seen]) == sorted(y[seen]) and np.mean(anew[seen] == y[seen]) < 0.2
    assert np.array_equal(np.delete(anew, seen), np.delete(y, seen))


def test_the_pairs_picture_counts_equal_names():
    pixels = np.zeros((3, 64))
    _, words = pictures.draw_pairs(pixels, pixels, np.array([1, 2, 3]), np.array([1, 2, 7]))
    assert words.facts == {"n": 3, "right": 2}


def test_the_experience_picture_tells_first_and_last_mistakes():
    shares = {"one": [(1, 0.5), (1, 0.75)], "two": [(0.9, 0.6), (0.8, 0.7)]}
    _, words = pictures.draw_experience([10, 300], shares)
    facts = pytest.approx(
        {"n": 10, "m": 300, "few0": 0.5, "many0": 0.25, "few1": 0.4, "many1": 0.3}
    )
    assert words.facts == facts


def test_the_centres_picture_names_each_group_by_its_most_frequent_digit():
    groups, names = np.array([0, 0, 0, 1, 1]), np.array([4, 4, 9, 4, 4])
    _, words = pictures.draw_centres(np.zeros((2, 64)), groups, names)
    assert words.facts == {"share": 0.8, "found": 1}


def test_the_knobs_tell_the_average_loss_and_what_the_best_line_would_save():
    x, y, _ = pictures.flowers()
    lowest = np.polyfit(x, y, 1, full=True)[1][0] / 150
    for w, b in ((0.3, 1.0), (-0.6, 2.4)):
        facts = controls.explorer(NOTEBOOK, "draw_knobs", w=w, b=b).words.facts
        assert facts["risk"] == pytest.approx(mean_squared_error(y, w * x + b))
        assert facts["gap"] == pytest.approx(facts["risk"] - lowest)
    best = controls.explorer(NOTEBOOK, "draw_knobs", w=0.42, b=1.3).words
    assert "No line does better" in best and "gap" not in best.facts


def test_the_border_picture_counts_what_is_on_the_right_side():
    petals, labels = np.array([[0.0, 0], [2, 0], [0, 1], [3, 1]]), np.array([0, 1, 1, 1])
    _, words = pictures.draw_border(petals, labels, np.array([1.0, 0.0, -1.0]))
    assert words.facts == {"right": 3, "n": 4}


def test_the_programs_picture_counts_the_corners_that_are_right():
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    tables = {"AND": np.array([0, 0, 0, 1]), "XOR": np.array([0, 1, 1, 0])}
    _, words = pictures.draw_programs(
        {n: lambda x: x.sum(1) > 1.5 for n in tables}, corners, tables
    )
    assert words.facts == {"AND": 4, "XOR": 1}


@pytest.mark.parametrize("n", [15, 40, 100])
def test_the_likelihood_is_a_closed_form_and_never_falls_with_the_degree_on_what_was_seen(n):
    x, y = pictures.wave(n, 6)
    seen = [pictures.log_likelihood(*pictures.mle_fit(degree, n), x, y) for degree in range(10)]
    for degree, told in enumerate(seen):
        error = y - np.polynomial.Polynomial.fit(x, y, degree)(x)
        assert told == pytest.approx(-0.5 * np.log(2 * np.pi * np.e * np.mean(error**2)))
    assert (np.diff(seen) > -1e-9).all()


def test_the_capacity_widget_loses_less_with_more_examples():
    few, many = (controls.explorer(NOTEBOOK, "draw_capacity", n=n).words.facts for n in (15, 100))
    assert few["top"] == many["top"] == 9 and few["best"] < 9
    assert few["new"] < many["new"] < many["seen"] < few["seen"]


@pytest.mark.parametrize(("x1", "x2"), [(0.7, 0.0), (0.7, 0.7), (0.0, 1.0), (1.0, 1.0), (0.0, 0.0)])
def test_the_graph_computes_exclusive_or_and_its_slope(x1, x2):
    facts = controls.explorer(NOTEBOOK, "draw_graph", x1=x1, x2=x2).words.facts

    def y(a):
        return max(a + x2, 0) - 2 * max(a + x2 - 1, 0)

    assert facts["y"] == pytest.approx(y(x1))
    left, right = ((y(x1 + h) - y(x1)) / h for h in (-1e-6, 1e-6))
    if "slope" in facts:
        assert facts["slope"] == pytest.approx(left, abs=1e-6) == pytest.approx(right, abs=1e-6)
    else:
        told = facts["left"], facts["right"]
        assert told == pytest.approx((left, right), abs=1e-6) and left != pytest.approx(right)


def test_every_link_of_the_glossary_leads_to_a_cell_that_exists():
    there = set(masters.notebooks())
    text = "\n".join(cell.source for cell in masters.read(NOTEBOOK).cells)
    links = re.findall(
        r"\]\(([^)#]+\.ipynb)(?:#([^)]+))?\)", mentions.filled(text, NOTEBOOK, there)
    )
    assert len(links) > 30
    for path, place in links:
        target = path.removeprefix("../") if path.startswith("../") else f"00_start_here/{path}"
        notebook, cell = target.removesuffix(".ipynb"), place.removeprefix("cell-id=")
        assert notebook in there, target
        assert not cell or cell in masters.read(notebook).of("exercise"), f"{target}: no {cell}"


def test_this_machine_has_what_the_course_needs():
    assert pictures.ready() == "All is here. You are ready."

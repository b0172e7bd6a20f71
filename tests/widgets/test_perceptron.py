"""Widgets of the perceptron: their numbers against theory and scikit-learn, then their controls."""

import re

import numpy as np
import pytest
from ipywidgets import Dropdown, FloatSlider, IntSlider
from sklearn.linear_model import Perceptron
from sklearn.svm import SVC

from descent.widgets import Explorer
from descent.widgets import perceptron as pw


def numbers(words):
    return [float(text) for text in re.findall(r"-?\d+\.\d+|-?\d+", words)]


def simple_perceptron(X, y, order, w0, b0):
    W, b, times = [w0], [b0], []
    for t, i in enumerate(order):
        if y[i] * (X[i] @ W[-1] + b[-1]) <= 0:
            W.append(W[-1] + y[i] * X[i])
            b.append(b[-1] + y[i])
            times.append(t)
    return np.array(W), np.array(b), np.array(times, int)


# ---------------------------------------------------------------- data, runs, margins


@pytest.mark.parametrize("gap", [0.05, 0.5, 1.5])
def test_the_strip_between_the_clouds_is_empty(gap):
    X, y = pw.clouds(gap, n=60)
    side = y * (X @ [0.8, 0.6] - 0.2)
    assert side.min() > gap / 2 - 0.02  # rounding to 1/64 moves a point by less than 0.012
    assert set(y) == {-1.0, 1.0} and np.array_equal(X * 64, np.round(X * 64))


@pytest.mark.parametrize("passes", [1, 3, 20])
def test_the_run_that_looks_ahead_is_scikit_learns(passes, rng):
    X, y = rng.normal(size=(150, 3)), rng.choice([-1.0, 1.0], 150)
    v, counts = pw.run(pw.signed(X, y), passes)
    model = Perceptron(max_iter=passes, tol=None, shuffle=False).fit(X, y)
    np.testing.assert_allclose(v, np.append(model.coef_, model.intercept_), atol=1e-9)
    path = pw.path_of(pw.signed(X, y), np.tile(np.arange(150), passes))
    np.testing.assert_allclose(path[-1], v, atol=1e-9)
    assert len(path) - 1 == sum(counts) and len(counts) == passes


def test_the_run_ends_with_a_silent_pass():
    v, counts = pw.run(pw.signed(pw.CORNERS, pw.LABELS["OR"]), 100)
    assert v.tolist() == [2, 2, -1] and sum(counts) == 9 and counts[-1] == 0 and len(counts) == 6
    path, passes = pw.settle(simple_perceptron, pw.CORNERS, pw.LABELS["OR"])
    assert len(path) == 10 and passes == 6 and path[-1].tolist() == [2, 2, -1]


@pytest.mark.parametrize("seed", range(5))
def test_the_widest_margin_is_the_svms(seed):
    G = pw.signed(*pw.clouds(0.3, seed=seed))
    v, margin = pw.widest(G)
    svm = SVC(kernel="linear", C=1e6, tol=1e-8)
    svm.fit(np.r_[G, -G], np.r_[np.ones(len(G)), -np.ones(len(G))])  # symmetric, so no bias
    assert margin == pytest.approx(1 / np.linalg.norm(svm.coef_), rel=1e-3)
    assert np.min(G @ v) == pytest.approx(margin) and np.linalg.norm(v) == pytest.approx(1)


def test_the_notes_margins_and_none_for_xor():
    for X, y, bound in ((pw.CORNERS, pw.LABELS["OR"], 27), (pw.MAIL, pw.SPAM, 15)):
        G = pw.signed(X, y)
        assert (G**2).sum(1).max() / pw.widest(G)[1] ** 2 == pytest.approx(bound)
    assert pw.widest(pw.signed(pw.CORNERS, pw.LABELS["XOR"])) is None


def test_the_mail_settles_on_viagra():
    _, words = pw.draw_mail()
    assert "4 mistakes" in words and "viagra 2" in words and "of -1" in words


# ---------------------------------------------------------------- a line by hand


@pytest.fixture
def line():
    return Explorer(
        pw.draw_line,
        dict(
            labels=Dropdown(options=["OR", "AND", "XOR"], value="OR"),
            angle=FloatSlider(45, min=-180, max=180),
            distance=FloatSlider(np.sqrt(2) / 4, min=-2, max=2),
            log_scale=FloatSlider(0, min=-1, max=1),
        ),
    )


def held(widget):
    return int(re.search(r"(\d) of 4 conditions", widget.words)[1])


def test_the_best_line_of_or_is_the_svms(line):
    assert held(line) == 4 and numbers(line.words)[-1] == pytest.approx(0.354)
    svm = SVC(kernel="linear", C=1e6).fit(pw.CORNERS, pw.LABELS["OR"])
    assert 1 / np.linalg.norm(svm.coef_) == pytest.approx(0.35355, rel=1e-3)
    line.controls["angle"].value = 30.0
    assert numbers(line.words)[-1] < 0.353


def test_the_length_of_w_changes_no_distance(line):
    line.controls["log_scale"].value = 1.0
    assert held(line) == 4 and numbers(line.words)[-1] == pytest.approx(0.354)
    assert "7.07" in line.words


def test_no_line_satisfies_xor(line):
    line.controls["labels"].value = "XOR"
    seen = []
    for angle in range(-180, 181, 45):
        for distance in (-0.5, 0.3, 0.5, 1.2):
            line.controls["angle"].value, line.controls["distance"].value = angle, distance
            seen.append(held(line))
    assert max(seen) == 3


def test_the_lifted_plane_is_told():
    _, words = pw.draw_lifted(np.array([2.0, 2.0]), -1.0)
    assert "(2, 2, -1)" in words


# ---------------------------------------------------------------- the stepper


@pytest.fixture
def steps():
    return Explorer(
        pw.stepper(simple_perceptron),
        dict(
            data=Dropdown(options=["OR", "e-mails", "two clouds", "XOR"], value="OR"),
            order=Dropdown(options=["cyclic", "random"], value="cyclic"),
            gap=FloatSlider(0.4, min=0.05, max=1),
            mistakes=IntSlider(60, min=0, max=60),
        ),
    )


def bound_of(widget):
    return float(re.search(r"bound (\d+)", widget.words)[1])


def sandwich(widget):
    return [float(part) for part in re.findall(r"\d+\.\d+(?= <=|\.$)", widget.words)]


@pytest.mark.parametrize(
    "data, told", [("OR", "9 of 9 mistakes, 0 of 4"), ("e-mails", "4 of 4 mistakes, 0 of 6")]
)
def test_the_stepper_counts_the_notes_mistakes(steps, data, told):
    steps.controls["data"].value = data
    assert told in steps.words
    assert bound_of(steps) == {"OR": 27, "e-mails": 15}[data]


@pytest.mark.parametrize("data", ["OR", "e-mails", "two clouds"])
@pytest.mark.parametrize("mistakes", [1, 3, 60])
def test_the_run_stays_between_its_envelopes(steps, data, mistakes):
    steps.controls["data"].value = data
    steps.controls["mistakes"].value = mistakes
    steps.controls["order"].value = "random"
    low, along, length, high = sandwich(steps)
    assert low <= along <= length <= high


def test_a_narrow_gap_raises_the_bound(steps):
    steps.controls["data"].value = "two clouds"
    wide = bound_of(steps)
    steps.controls["gap"].value = 0.05
    assert bound_of(steps) > 3 * wide


def test_the_order_leaves_the_bound_alone(steps):
    before = bound_of(steps)
    steps.controls["order"].value = "random"
    assert bound_of(steps) == before


def test_no_mistake_yet_and_no_bound_for_xor(steps):
    steps.controls["mistakes"].value = 0
    assert "after 0 of 9 mistakes, 4 of 4 wrong" in steps.words
    steps.controls["data"].value = "XOR"
    steps.controls["mistakes"].value = 20
    assert "no bound" in steps.words and "length of v is 0.00" in steps.words


# ---------------------------------------------------------------- figures


def test_the_score_gain_counts_who_falls():
    fig, words = pw.draw_score_gain(np.array([1.0, -2.0, 3.0]), np.array([0.0, 1.0, 3.0]), 1)
    assert [t.get_text() for t in fig.axes[0].texts] == ["1", "-2", "3", "0", "1", "3"]
    assert "from -2 to 1" in words and "1 others fall" in words


def test_the_losses_are_those_of_the_formulas():
    fig, _ = pw.draw_losses()
    zero_one, perceptron, hinge, logistic = (line.get_ydata() for line in fig.axes[0].lines)
    s = fig.axes[0].lines[0].get_xdata()
    np.testing.assert_allclose(perceptron, np.where(s < 0, -s, 0))
    assert np.all(hinge >= zero_one) and np.all(logistic >= zero_one - 1e-12)
    assert np.any(perceptron < zero_one)  # no upper bound of the mistakes


def test_the_orders_tell_the_widest():
    X, y = pw.CORNERS, pw.LABELS["OR"]
    _, words = pw.draw_orders(X, y, np.array([[2.0, 2, -1], [3, 1, -0.5]]), np.array([2.0, 2, -1]))
    assert "0.354" in words and words.endswith("has 0.35.")


def test_the_cycle_is_found():
    path = pw.path_of(pw.signed(pw.CORNERS, pw.LABELS["XOR"]), np.tile(np.arange(4), 3))
    _, words = pw.draw_cycles(path, path, np.sqrt(3))
    assert "after every 4 mistakes" in words


def test_the_stops_tell_their_error():
    _, words = pw.draw_stops([0.3, 0.2], [0.4, 0.25], {"a": 1, "b": 2, "c": 2, "d": 2})
    assert "a: pass 1, validation error 0.400" in words and "0.250" in words


# ---------------------------------------------------------------- many classes


def test_two_classes_are_one_problem():
    X, y = pw.four_clouds()
    two = y < 2
    first, second = pw.one_vs_all(X[two], y[two])
    assert np.array_equal(first, -second)
    (pair,) = pw.one_vs_one(X[two], y[two]).values()
    assert np.array_equal(pair, first)


def test_votes_count_pairs_and_ignore_lengths(rng):
    X, y = pw.four_clouds()
    models, new = pw.one_vs_one(X, y), rng.uniform(-3, 3, (50, 2))
    votes = pw.tallies(models, new, 4)
    assert len(models) == 6 and np.all(votes.sum(1) == 6)
    longer = {pair: v * 100 if pair == (0, 1) else v for pair, v in models.items()}
    assert np.array_equal(votes, pw.tallies(longer, new, 4))
    assert not np.allclose(
        pw.tallies(models, new, 4, raw=True), pw.tallies(longer, new, 4, raw=True)
    )


@pytest.fixture
def maps():
    return Explorer(
        pw.class_maps(*pw.four_clouds()),
        dict(
            rule=Dropdown(options=["one-vs-all", "one-vs-one", "one-vs-one, sums"]),
            passes=IntSlider(42, min=1, max=60),
            log_scale=FloatSlider(0, min=-1.5, max=1.5),
        ),
    )


def test_one_vs_all_has_not_settled_and_one_vs_one_has(maps):
    alone = maps.words
    maps.controls["passes"].value = 43
    assert maps.words != alone
    maps.controls["rule"].value = "one-vs-one"
    votes = maps.words
    maps.controls["passes"].value = 60
    assert maps.words == votes and "0 of 80 training points wrong" in votes


@pytest.mark.parametrize(
    "rule, notices", [("one-vs-all", True), ("one-vs-one", False), ("one-vs-one, sums", True)]
)
def test_only_votes_ignore_the_length_of_one_vector(maps, rule, notices):
    maps.controls["rule"].value = rule
    before = maps.words
    maps.controls["log_scale"].value = 1.0
    assert (maps.words != before) == notices


def test_the_digits_name_what_cannot_be_split():
    settled = np.column_stack([np.arange(10) != 8, np.arange(1, 11)]).astype(float)
    fig, words = pw.draw_digits(settled, {"votes": 0.04, "sums": 0.15})
    assert "all others: 8." in words and "votes 0.040; sums 0.150" in words
    assert fig.axes[1].get_title() == "Fewest errors: votes"

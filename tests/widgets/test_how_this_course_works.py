"""The first notebook's pictures: move the controls, read the numbers; and its links, which must lead somewhere."""

import re

import numpy as np
import pytest
from ipywidgets import FloatSlider, IntSlider
from scipy.optimize import minimize_scalar

from autograder import checkdata
from autograder.building import masters
from descent.widgets import Explorer
from descent.widgets import how_this_course_works as pictures

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
    text = "\n".join(cell.source for cell in masters.read(NOTEBOOK).cells)
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    links = re.findall(r"\]\(([^)#]+\.ipynb)(?:#([^)]+))?\)", text)
    assert len(links) > 30
    for path, place in links:
        if place and not place.startswith("cell-id="):
            assert path == "01_how_this_course_works.ipynb" and place.replace("-", " ") in headings
            continue
        cell = place.removeprefix("cell-id=")
        target = path.removeprefix("../") if path.startswith("../") else f"00_start_here/{path}"
        notebook = target.removesuffix(".ipynb")
        if masters.master_path(notebook).exists():
            assert not cell or cell in masters.read(notebook).of("exercise"), f"{target}: no {cell}"
        else:  # a notebook on its way: its specification comes first
            assert not cell or cell in checkdata.load_exercises(notebook), f"{target}: no {cell}"


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

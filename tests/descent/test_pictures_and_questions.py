"""Figures have words and repeatable bytes; widgets redraw; guesses are kept; errata are proven."""

import re
from urllib.request import urlopen

import matplotlib.pyplot as plt
import numpy as np
import pytest
from ipywidgets import Dropdown, FloatSlider
from PIL import Image

from autograder.results import harmless
from descent import data, explore, plots, show
from descent.widgets import Clock, Explorer


def draw(a=1.0, kind="line"):
    fig, ax = plt.subplots()
    ax.plot(a * np.arange(5.0), "o-" if kind == "line" else "s", label="data")
    ax.set(xlabel="x (m)", ylabel="y (m)", title="It grows")
    return fig, f"The last value is {4 * a:.1f}."


def test_the_same_figure_gives_the_same_bytes():
    assert plots.png(draw()[0]) == plots.png(draw()[0])


def test_show_gives_words_and_data(shell):
    shell.user_ns["draw"] = draw
    shell.run_cell("from descent import show\nshow(*draw(2.0))").raise_error()
    shown = shell.shown[-1]["data"]
    assert 'alt="The last value is 8.0."' in shown["text/html"]
    assert "line 'data': n=5, from 0 to 8, mean 4" in shown["text/plain"]
    assert plt.get_fignums() == []


SIDE_BY_SIDE = """\
from descent import show
import matplotlib.pyplot as plt
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3))
left.plot([1.0, 2.0])
show(fig, "It grows.")"""


def test_a_narrow_window_gets_panels_under_each_other(shell):
    shell.run_cell(SIDE_BY_SIDE).raise_error()
    page = shell.shown[-1]["data"]["text/html"]
    (source,) = re.findall(r'<source media="(.+?)" srcset="(.+?)" width="(\d+)">', page)
    (wide,) = re.findall(r'<img .*?src="(.+?)" width="800"', page)
    assert source[0] == "(max-width: 860px)" and source[2] == "400"
    sizes = [Image.open(urlopen(address)).size for address in (wide, source[1])]
    assert sizes == [(1200, 450), (600, 900)], "each panel as wide and high as it was"
    assert page.count("alt=") == 1 == harmless.clean(page).count("<img")
    assert source[1] not in harmless.clean(page)


def test_one_panel_has_no_narrow_twin(shell):
    shell.user_ns["draw"] = draw
    shell.run_cell("from descent import show\nshow(*draw())").raise_error()
    assert "<picture>" not in shell.shown[-1]["data"]["text/html"]


def test_a_changed_figure_changes_its_description():
    first, second = (plots.describe(draw(a)[0]) for a in (1.0, 1.2))
    assert first != second
    assert plots.describe(draw(1.0)[0], digits=0) == plots.describe(draw(1.2)[0], digits=0)


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ([7e-30, 1.0], [7.3e-30, 1.0]),
        ([-1e-17, 1.0], [1e-17, 1.0]),
        ([-0.0, -0.0], [0.0, 0.0]),
        ([0.125, 1.0], [0.125 + 1e-16, 1.0]),
        ([-0.125, 1.0], [-0.125 - 1e-16, 1.0]),
        ([np.nan, np.inf, 1.0, 1.0], [np.nan, 1.0, 1.0, 1.0]),
    ],
    ids=["nothing", "nothing of either sign", "zero", "tie", "tie below 0", "missing points"],
)
def test_rounding_changes_no_description(here, there):
    assert summary(here) == summary(there)


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ([1e-8, 1.0], [2e-8, 1.0]),
        ([0.124, 1.0], [0.126, 1.0]),
        ([np.nan, 1.0, 1.0], [1.0, 1.0, 1.0]),
        ([1.0, 1.0], [1.0, 1.0, 1.0]),
    ],
    ids=["small", "close", "a missing point", "another point"],
)
def test_what_can_be_seen_changes_the_description(here, there):
    assert summary(here) != summary(there)


@pytest.mark.parametrize(("scale", "same"), [("linear", True), ("log", False)])
def test_a_point_that_an_axis_cannot_show_is_nothing(scale, same):
    here, there = (summary([1.0, 2.0], [height], scale=scale) for height in (1e-13, 3e-13))
    assert (here == there) is same


def summary(*lines, scale="linear"):
    """What `describe` says of lines in one picture."""
    fig, ax = plt.subplots()
    for values in lines:
        ax.plot(values)
    ax.set_yscale(scale)
    return plots.describe(fig)


def test_show_wants_words():
    with pytest.raises(ValueError, match="Say in a sentence"):
        show(draw()[0], " ")


def test_a_moved_slider_redraws():
    widget = Explorer(
        draw, {"a": FloatSlider(1.0, min=0, max=3), "kind": Dropdown(options=["line", "dots"])}
    )
    first = widget.picture.value
    widget.controls["a"].value = 2.5
    assert widget.words == "The last value is 10.0." and widget.picture.value != first
    assert "The last value is 10.0." in widget.readout.value
    second = widget.picture.value
    widget.controls["kind"].value = "dots"
    assert widget.picture.value != second


def test_an_error_of_a_moved_slider_is_told():
    def draw_positive(a):
        if a < 0:
            raise ValueError("a < 0")
        return draw(a)

    widget = Explorer(draw_positive, {"a": FloatSlider(1.0, min=-3, max=3)})
    widget.controls["a"].value = -1.0
    assert "This cannot be drawn. ValueError: a &lt; 0" in widget.readout.value
    widget.controls["a"].value = 2.0
    assert "The last value is 8.0." in widget.readout.value


def test_slider_player_and_clock_move_together():
    clock = Clock(3, min=0, max=60, description="step k")
    clock.slider.value = 10
    assert (clock.value, clock.play.value) == (10, 10)
    clock.play.value = 11
    assert (clock.value, clock.slider.value) == (11, 11)
    clock.value = 0
    assert (clock.slider.value, clock.play.value) == (0, 0)


def test_explore_wants_controls():
    with pytest.raises(TypeError, match="a is a float, not a control"):
        explore(draw, a=1.0)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("diabetes", (442, 10)),
        ("breast_cancer", (569, 30)),
        ("iris", (150, 4)),
        ("wine", (178, 13)),
        ("digits", (1797, 64)),
    ],
)
def test_a_table_is_as_its_docstring_says(name, shape):
    table = getattr(data, name)()
    assert table.X.shape == shape and table.y.shape == shape[:1] and len(table.names) == shape[1]
    assert str(shape[0]) in getattr(data, name).__doc__


def test_documents_are_plain_english():
    texts = data.documents()
    assert len(texts) > 50 and "the" in texts["lambda"].split()


def test_recurring_pictures_draw(rng):
    fig, axes = plt.subplots(1, 4)
    plots.contours(lambda p: (p**2).sum(1), axes[0], (-1, 1), (-1, 1), log=True)
    plots.trajectories([rng.normal(size=(4, 2))] * 2, axes[0], ["a", "b"])
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    plots.decision_regions(lambda p: p[:, 0] > 0, X, y, axes[1])
    plots.fan(np.arange(5), rng.normal(size=(10, 5)), axes[2], truth=np.zeros(5))
    assert len(axes[2].lines) == 10 + 1 + 1 + 1
    grid = plots.image_grid(rng.normal(size=(5, 8, 8)), columns=3, titles=list("abcde"))
    assert sum(bool(ax.images) for ax in grid.axes) == 5


def test_a_widget_wants_words_too():
    with pytest.raises(ValueError, match="Say in a sentence"):
        Explorer(lambda a: (draw(a)[0], ""), {"a": FloatSlider(1.0)})


def test_failing_and_moving_widgets_leave_no_figures():
    def fails(a):
        draw(a)
        if a > 1:
            raise ValueError("too far")
        return draw(a)

    plt.close("all")
    mine = plt.figure()
    widget = Explorer(lambda a: fails(a) if a > 1 else draw(a), {"a": FloatSlider(1.0)})
    for a in (2.0, 3.0, 0.5):
        widget.controls["a"].value = a
    assert plt.get_fignums() == [mine.number]


def test_where_only_the_structure_is_compared_the_words_numbers_are_not(monkeypatch):
    shown = []
    monkeypatch.setenv("DESCENT_STATIC", "1")
    monkeypatch.setattr("IPython.display.display", lambda data, **meta: shown.append((data, meta)))
    for digits in (2, 0):
        fig, _ = draw()
        show(fig, "It reads 96.5 % of 1,000 rows.", digits=digits)
    (exact, _), (loose, meta) = shown
    assert exact["text/plain"].startswith("It reads 96.5 % of 1,000 rows.\n")
    assert loose["text/plain"].startswith("It reads # % of # rows.\n")
    assert meta["metadata"]["image/png"]["alt"] == "It reads 96.5 % of 1,000 rows."


def test_whatever_is_drawn_or_told_has_the_minus_of_the_axes():
    fig, ax = plt.subplots()
    fig.suptitle("from -2")
    ax.plot([-1, 1], label="-1 · f")
    ax.set(title="a = -1.5", xlabel="x, from -3", ylabel="$-1$")
    ax.text(0, 0, "-4")
    ax.legend()
    before = plots.describe(fig)
    assert "a = -1.5" in before  # runs are compared by what the author wrote
    data, width = plots.png(fig)
    texts = [
        fig._suptitle,
        ax.title,
        ax.xaxis.label,
        ax.yaxis.label,
        ax.texts[0],
        ax.get_legend().texts[0],
    ]
    told = [text.get_text() for text in texts]
    assert told == ["from −2", "a = −1.5", "x, from −3", "$-1$", "−4", "−1 · f"]
    assert 'alt="It ends at −1."' in plots.picture_html(data, width, "It ends at -1.")

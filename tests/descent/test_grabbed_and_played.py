"""Handles lie where matplotlib draws their values, move sliders and keep to their ranges; movies are sent once."""

import gc
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from ipywidgets import Checkbox, Dropdown, FloatLogSlider, FloatSlider, IntSlider

import descent
from descent import explore, handles, movies, plots, session, starting, widgets
from descent.stage import Stage
from descent.widgets import Explorer
from descent.words import typeset
from tests.descent.conftest import NOTEBOOK

SCALES = {
    "linear": dict(),
    "log": dict(xscale="log", yscale="log", xlim=(0.01, 1000), ylim=(0.1, 50)),
    "symlog": dict(yscale="symlog"),
    "turned": dict(xlim=(5, -2), ylim=(4, 0)),
}


def draw(x=1.0, y=2.0, step=3, **look):
    fig, (_, ax) = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")
    ax.plot([x], [y], "o")
    ax.set(xlim=(-2, 5), ylim=(-1, 4), xlabel="x", ylabel="y", title=f"x = {x:g}")
    ax.set(**look)
    ax.set_gid("start")
    return fig, f"x = {x:g}, y = {y:g}, step {step}"


def sliders(**more):
    x = FloatSlider(1, min=-1, max=3, step=0.1, description="start x")
    y = FloatSlider(2, min=0, max=3, step=0.25, description="start y")
    return dict(x=x, y=y) | more


def ask(explorer, message, room=1000):
    """What the browser asks for, with so many pixels of room."""
    explorer._asked(None, message | {"room": room}, [])


def dragged(**look):
    drag = {("x", "y"): "start"}
    explorer = Explorer(lambda **values: draw(**values, **look), sliders(), drag=drag)
    ask(explorer, {"kind": "ready"})
    return explorer


def told(explorer):
    return explorer.stage.look["handles"][0]


def painted(fig, gid, x, y):
    """Shares of the picture, from left and top, at which matplotlib paints a point of the axes."""
    ax = next(ax for ax in fig.axes if ax.get_gid() == gid)
    px, py = ax.transData.transform((x, y))
    width, height = fig.get_size_inches() * fig.dpi
    return px / width, 1 - py / height


@pytest.mark.parametrize("look", SCALES.values(), ids=SCALES)
def test_a_handle_lies_where_matplotlib_paints_its_values(look):
    explorer = dragged(**look)
    left, top, width, height = told(explorer)["box"]
    u, v = told(explorer)["at"]
    here = left + u * width, top + (1 - v) * height
    assert here == pytest.approx(painted(explorer._last.fig, "start", 1, 2), abs=0.5 / 700)


def test_sliders_that_a_handle_leads_do_not_speak_until_it_rests():
    """A browser's slider that speaks while it is led tells old values back, and undoes the newest one."""
    explorer = dragged()
    x, y = explorer.controls.values()
    y.continuous_update = False  # as its author wants it
    ask(explorer, {"kind": "move", "handle": 0, "at": [0.4, 0.6]})
    ask(explorer, {"kind": "move", "handle": 0, "at": [0.5, 0.6]})
    assert (x.continuous_update, y.continuous_update) == (False, False)
    ask(explorer, {"kind": "rest"})
    assert (x.continuous_update, y.continuous_update) == (True, False)


@pytest.mark.parametrize("look", SCALES.values(), ids=SCALES)
def test_a_handle_let_go_where_a_point_is_painted_moves_the_sliders_to_that_point(look):
    explorer = dragged(**look)
    left, top, width, height = told(explorer)["box"]
    px, py = painted(explorer._last.fig, "start", 2.5, 0.5)
    at = [(px - left) / width, 1 - (py - top) / height]
    ask(explorer, {"kind": "move", "handle": 0, "at": at})
    assert (explorer.values["x"], explorer.values["y"]) == (2.5, 0.5)
    assert explorer.words == "x = 2.5, y = 0.5, step 3"


def test_a_handle_keeps_to_the_controls_ranges():
    explorer = dragged()
    ask(explorer, {"kind": "move", "handle": 0, "at": [7.0, -3.0]})
    assert explorer.values == {"x": 3.0, "y": 0.0}
    ends = told(explorer)["ends"]
    assert [ends[0][1], ends[1][0]] == told(explorer)["at"], "the browser paints no further either"


@pytest.mark.parametrize(("look", "way"), [(dict(), 1), (dict(xlim=(5, -2)), -1)])
def test_an_arrow_to_the_right_moves_to_the_right_by_a_step(look, way):
    explorer = dragged(**look)
    before = told(explorer)["at"][0]
    ask(explorer, {"kind": "nudge", "handle": 0, "steps": [10, -1]})
    assert explorer.values == {"x": 1 + way, "y": 1.75}
    assert told(explorer)["at"][0] > before


def test_a_handle_for_one_control_moves_along_x_alone():
    explorer = Explorer(draw, sliders(), drag={"x": "start"})
    ask(explorer, {"kind": "ready"})
    ask(explorer, {"kind": "move", "handle": 0, "at": [0.5, 0.9]})
    assert explorer.values == {"x": 1.5, "y": 2.0}
    assert told(explorer)["at"][1] == 0 and told(explorer)["ends"][1] == [0, 0]


def test_values_are_on_the_sliders_steps():
    log = FloatLogSlider(1, min=-2, max=2, step=0.1)
    assert handles.nearest(log, 12.0) == pytest.approx(10**1.1)
    assert handles.nearest(log, -1.0) == pytest.approx(0.01)
    assert handles.stepped(log, 3) == pytest.approx(10**0.3)
    assert handles.nearest(IntSlider(1, min=0, max=9, step=2), 5.2) == 6
    assert str(handles.nearest(FloatSlider(0, min=0, max=1, step=0.1), 0.31)) == "0.3"


def test_a_value_that_a_browser_summed_up_from_steps_is_the_step():
    assert handles.shown(FloatSlider(-7.1e-15, min=-39, max=24, step=0.5)) == 0
    assert handles.shown(FloatSlider(0.25, min=0, max=1, step=0.1)) == 0.25


def test_what_is_drawn_is_what_stands_beside_the_slider():
    seen = []
    explorer = Explorer(
        lambda kappa: (seen.append(kappa), draw(kappa))[1],
        {"kappa": FloatLogSlider(10, min=0, max=2, step=0.1)},
    )
    explorer.controls["kappa"].value = 10**1.1
    assert seen == [10.0, 12.6]


def test_a_pair_of_controls_is_drawn_once_as_a_draft_and_sharp_at_rest():
    drawn = []
    explorer = Explorer(
        lambda **values: (drawn.append(values), draw(**values))[1],
        sliders(),
        drag={("x", "y"): "start"},
    )
    ask(explorer, {"kind": "ready"})
    serial = explorer.stage.serial
    ask(explorer, {"kind": "move", "handle": 0, "at": [0.2, 0.3]})
    assert len(drawn) == 2 and explorer.stage.serial == serial + 1
    assert explorer.stage.look["draft"] and size(explorer.stage.png) == (700, 300)
    assert 'aria-live="off"' in explorer.readout.value
    ask(explorer, {"kind": "rest"})
    assert len(drawn) == 2, "the figure is kept for its sharp picture"
    assert not explorer.stage.look["draft"] and size(explorer.stage.png) == (1400, 600)
    assert 'aria-live="polite"' in explorer.readout.value


def size(png):
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


def test_with_little_room_panels_stand_under_each_other_and_the_handle_on_its_own():
    explorer = dragged()
    assert size(explorer.stage.png) == (1400, 600)
    ask(explorer, {"kind": "rest"}, room=400)
    assert size(explorer.stage.png) == (700, 1200)
    left, top, width, height = told(explorer)["box"]
    u, v = told(explorer)["at"]
    here = left + u * width, top + (1 - v) * height
    assert here == pytest.approx(painted(explorer._last.fig, "start", 1, 2), abs=0.5 / 350)
    assert top > 0.5, "the marked panel was the right one"
    ask(explorer, {"kind": "rest"}, room=0)  # another tab is open
    assert size(explorer.stage.png) == (700, 1200)


@pytest.mark.parametrize("layout", ["constrained", "none"])
def test_stacked_panels_keep_their_size(layout):
    fig, axes = plt.subplots(1, 3, figsize=(9, 3), layout=layout)
    if layout == "none":
        fig.subplots_adjust(left=0.08, right=0.98, bottom=0.2, top=0.9, wspace=0.2)
    assert plots.stack(fig)
    fig.draw_without_rendering()
    boxes = [ax.get_position() for ax in axes]
    assert tuple(fig.get_size_inches()) == (3, 9)
    assert all(high.y0 > low.y1 for high, low in zip(boxes, boxes[1:], strict=False))
    heights = [9 * box.height for box in boxes]
    assert heights == pytest.approx([heights[0]] * 3) and 2 < heights[0] < 3
    plt.close(fig)


@pytest.mark.parametrize("layout", ["constrained", "none"])
def test_small_panels_stand_two_abreast(layout):
    fig, axes = plt.subplots(1, 5, figsize=(11, 2.5), layout=layout)
    assert plots.stack(fig)
    fig.draw_without_rendering()
    boxes = [ax.get_position() for ax in axes]
    assert fig.get_size_inches() == pytest.approx((4.4, 7.5))
    assert boxes[0].y0 == pytest.approx(boxes[1].y0) and boxes[0].x1 < boxes[1].x0
    assert boxes[1].y0 > boxes[2].y1 and boxes[2].y0 > boxes[4].y1
    assert boxes[4].x0 == pytest.approx(boxes[0].x0, abs=0.01)
    plt.close(fig)


@pytest.mark.parametrize(("shares", "name"), [(True, "loss"), (False, "")])
def test_a_stacked_panel_has_the_name_of_an_axis_that_it_shares(shares, name):
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3), sharey=shares)
    left.set_ylabel("loss")
    assert plots.stack(fig)
    assert (left.get_ylabel(), right.get_ylabel()) == ("loss", name)
    plt.close(fig)


def test_the_title_of_a_stacked_figure_goes_on_in_a_second_line():
    fig, _ = plt.subplots(1, 3, figsize=(9, 3), layout="constrained")
    title = fig.suptitle("A title that is wider than one of the panels", x=0.01, ha="left")
    assert plots.stack(fig)
    fig.draw_without_rendering()
    assert title.get_window_extent().x1 <= fig.bbox.x1
    plt.close(fig)


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (1, 6)])
def test_other_figures_are_not_stacked(shape):
    fig, _ = plt.subplots(*shape)
    assert not plots.stack(fig)
    plt.close(fig)


def test_a_draft_stands_as_the_picture_before_and_the_sharp_one_where_it_fits():
    def draw_numbers(x):
        fig, ax = plt.subplots(layout="constrained")
        ax.plot([0, 10.0**x])  # the numbers beside the axis grow
        return fig, "Numbers grow."

    explorer = Explorer(draw_numbers, {"x": IntSlider(0, max=9)})
    ask(explorer, {"kind": "ready"})

    def left():
        return explorer._last.fig.axes[0].get_position().x0

    first = left()
    explorer.controls["x"].value = 5
    assert left() == first
    ask(explorer, {"kind": "rest"})
    assert left() > first + 0.02
    fresh, _ = draw_numbers(5)
    fresh.draw_without_rendering()
    assert left() == pytest.approx(fresh.axes[0].get_position().x0, abs=0.003)
    plt.close(fresh)


def test_the_same_values_are_not_drawn_again_and_many_are_not_kept():
    drawn = []
    explorer = Explorer(lambda n: (drawn.append(n), draw(n))[1], {"n": IntSlider(0, max=40)})
    for n in [*range(20), 19, 5, 0]:
        explorer.controls["n"].value = n
    assert drawn == [*range(20), 0]
    assert len(explorer._kept) == widgets.KEPT


def test_values_without_a_hash_are_drawn_each_time():
    menu = Dropdown(options=[("one", [1.0]), ("two", [2.0])])
    explorer = Explorer(lambda data: draw(data[0]), {"data": menu})
    menu.index = 1
    assert explorer.words.startswith("x = 2,")


def test_the_browser_gets_an_answer_where_nothing_can_be_drawn():
    def left_only(x, y):
        if x > 2:
            raise ValueError("too far")
        return draw(x, y)

    explorer = Explorer(left_only, sliders(), drag={("x", "y"): "start"})
    ask(explorer, {"kind": "ready"})
    serial = explorer.stage.serial
    ask(explorer, {"kind": "move", "handle": 0, "at": [0.99, 0.5]})
    assert explorer.stage.serial == serial + 1 and "too far" in explorer.readout.value


def test_the_words_behind_a_box_to_tick_cost_the_sliders_no_room():
    box = Checkbox(True, description="drop what is left over at the end")
    Explorer(lambda x, y, drop: draw(x, y), (controls := sliders(drop=box)))
    assert controls["x"].style.description_width == "8ch" and not box.indent


def test_reset_moves_every_control_back():
    explorer = Explorer(draw, sliders(step=IntSlider(3, max=9)))
    explorer.controls["x"].value, explorer.controls["step"].value = 2.0, 8
    explorer.children[0].children[-1].click()
    assert explorer.words == "x = 1, y = 2, step 3"


def test_play_moves_its_control():
    explorer = Explorer(draw, sliders(step=IntSlider(3, max=9)), play="step")
    play = explorer.children[0].children[2].children[1]
    play.value = 7
    assert explorer.words.endswith("step 7")
    explorer.controls["step"].value = 2
    assert play.value == 2


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (dict(drag={("x", "z"): "start"}), "drag names 'z', but the controls are x, y"),
        (dict(drag={"kind": "start"}, kind=Dropdown(options=["a"])), "kind is a Dropdown, which"),
        (dict(play="k"), "play='k' wants a control k=IntSlider"),
        (dict(play="x"), "play='x' wants a control x=IntSlider"),
        (dict(drag={"x": "begin"}), r'no axes are marked "begin"\. Write ax\.set_gid\("begin"\)'),
    ],
)
@pytest.mark.parametrize("static", ["0", "1"])
def test_what_is_missing_is_said_with_what_to_do(options, problem, static, monkeypatch):
    monkeypatch.setenv("DESCENT_STATIC", static)
    with pytest.raises(ValueError, match=problem):
        explore(lambda x, y, **_: draw(x, y), **sliders(), **options)


def last_said(explorer):
    return explorer.children[-1].value


def test_without_anywidget_the_sliders_work_and_it_is_said_once(monkeypatch):
    monkeypatch.setitem(sys.modules, "descent.stage", None)
    monkeypatch.setattr(session, "current", session.Session())
    first, second = (Explorer(draw, sliders(), drag={("x", "y"): "start"}) for _ in "ab")
    for explorer in (first, second):
        explorer.controls["x"].value = 2.0
        assert 'alt="x = 2, y = 2, step 3"' in explorer.picture.value
    assert "The sliders do the same." in last_said(first)
    assert "The sliders" not in last_said(second)


def test_where_no_browser_shows_the_stage_it_is_said_once_a_slider_moves(monkeypatch):
    monkeypatch.setattr(session, "current", session.Session())
    explorer = Explorer(draw, sliders(), drag={("x", "y"): "start"})
    assert explorer.stage not in explorer.children and "sliders" not in last_said(explorer)
    for x in (2.0, 2.5):
        explorer.controls["x"].value = x
        assert "The sliders do the same." in last_said(explorer)
    ask(explorer, {"kind": "here"})
    assert explorer.stage in explorer.children


@pytest.mark.parametrize(
    ("text", "set_"),
    [
        ("x = -1.5", "x = −1.5"),
        ("from -.5 to 1e-05", "from −.5 to 10⁻⁵"),
        ("1e+02, 9.2e+04 and 3e-03", "100, 92,000 and 0.003"),
        ("-2.4e-08; 2e+12; 0e+00", "−2.4·10⁻⁸; 2·10¹²; 0"),
        ("94.0% and 64 %", "94.0\N{NO-BREAK SPACE}% and 64 %"),
        ("1.5 × 1e-05, node1e-05", "1.5 × 10⁻⁵, node1e-05"),
        ("2-3 and x-1 and a-b", "2-3 and x-1 and a-b"),
        ("$-1$ or -1", "$-1$ or -1"),
    ],
)
def test_numbers_are_written_as_people_do(text, set_):
    assert typeset(text) == set_


def test_a_title_is_set_and_keeps_its_font():
    def small(x):
        fig, ax = plt.subplots()
        ax.set_title(f"x = {x:g}", loc="left", fontsize=7, fontweight="normal")
        return fig, "A title."

    title = Explorer(small, {"x": FloatSlider(-1, min=-3)})._last.fig.axes[0]._left_title
    look = title.get_text(), title.get_fontsize(), title.get_fontweight()
    assert look == ("x = −1", 7, "normal")


def still(steps=9, points=5):
    fig, ax = plt.subplots()
    ax.set(xlim=(1, 100), ylim=(-2, 2), xscale="log", xlabel="x", ylabel="y")
    positions = np.stack([np.full((steps, points), 10.0), np.zeros((steps, points))], -1)
    return fig, ax, positions


def test_a_movie_is_sent_once_as_shares_of_its_axes():
    fig, ax, positions = still()
    positions[3, 2] = np.nan
    stage = movies.staged(Stage(), fig, ax, positions, "It rests.", seconds=2, colors=["red"])
    sent = np.frombuffer(stage.positions, "<f4").reshape(9, 5, 2)
    assert np.isnan(sent[3, 2]).all()
    np.testing.assert_allclose(np.delete(sent.reshape(-1, 2), 3 * 5 + 2, 0), 0.5, atol=1e-6)
    assert (stage.film["steps"], stage.film["points"], stage.film["seconds"]) == (9, 5, 2)
    assert stage.look["words"] == "It rests."


def test_a_static_page_shows_four_frames_of_a_movie(monkeypatch):
    shown = []
    monkeypatch.setenv("DESCENT_STATIC", "1")
    monkeypatch.setattr("IPython.display.display", lambda data, **meta: shown.append((data, meta)))
    fig, ax, positions = still()
    positions[:, :, 1] = np.linspace(-1, 1, 9)[:, None]
    descent.movie(fig, ax, positions, "It rises from -1 to 1.")
    [(data, meta)] = shown
    steps = [line for line in data["text/plain"].splitlines() if line.startswith("step ")]
    assert steps == ["step 0", "step 3", "step 5", "step 8"]
    assert "PathCollection : n=10, from -1 to 10, mean 4.5" in data["text/plain"]
    assert size(data["image/png"]) == (2 * 960, 2 * 720)
    assert meta["metadata"]["image/png"]["alt"] == "It rises from -1 to 1."
    assert plt.get_fignums() == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda f, ax, p: (f, ax, p[0], "It."), r"shape \(5, 2\)\. Pass \(steps, points, 2\)"),
        (lambda f, ax, p: (f, ax, p[:1], "It."), "two steps or more"),
        (lambda f, ax, p: (plt.figure(), ax, p, "It."), "not of this figure"),
        (lambda f, ax, p: (f, ax, p, ""), "words is empty"),
    ],
)
def test_a_movie_that_cannot_be_is_told(change, problem):
    with pytest.raises(ValueError, match=problem):
        descent.movie(*change(*still()))
    plt.close("all")


def test_a_picture_that_is_shown_is_dark_in_the_dark():
    html = plots.picture_html(b"", 10, "w")
    assert 'data-jp-theme-light="false"' in html and "descent-picture" in html


def test_what_is_imported_does_not_halt_a_drag(toy):
    """A full garbage collection walks whatever is not frozen."""
    gc.unfreeze()
    try:
        starting.start(NOTEBOOK)
        frozen = gc.get_freeze_count()
        assert frozen > 50_000 and len(gc.get_objects()) < 0.1 * frozen
        starting.start(
            NOTEBOOK
        )  # the cell run again: what the student made since is not kept for ever
        assert gc.get_freeze_count() <= frozen
    finally:
        gc.unfreeze()

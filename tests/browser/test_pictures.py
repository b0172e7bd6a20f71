"""Pictures are grabbed and played in a real browser: by the pointer, by keyboard, in the dark, in a narrow window."""

import json
from pathlib import Path

import nbformat
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HERE = Path(__file__).parent
EXPLORE = """\
from descent import explore, plots
from ipywidgets import FloatSlider, IntSlider
from toy_pictures import bowl
plots.use_style()
explore(bowl, drag={("x", "y"): "start"}, play="step",
        x=FloatSlider(2, min=-3, max=3, step=0.1, description="start x"),
        y=FloatSlider(1, min=-3, max=3, step=0.1, description="start y"),
        step=IntSlider(5, min=1, max=12, description="steps"))"""


def notebook_of(course, name, *sources):
    """Path in the course of a new notebook with these cells, beside the toy that they import."""
    (course / "toy_pictures.py").write_text((HERE / "toy_pictures.py").read_text())
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    (course / f"{name}.ipynb").write_text(json.dumps(nbformat.v4.new_notebook(cells=cells)))
    return f"{name}.ipynb"


@pytest.fixture
def bowl(course, open_notebook):
    """The toy explorer, run and alive: (notebook, its handle, its picture, its words)."""
    notebook = open_notebook(notebook_of(course, "bowl", EXPLORE))
    notebook.run_all()
    stage = notebook.page.locator(".descent-stage")
    handle = stage.get_by_role("slider", name="handle start")
    handle.wait_for()
    handle.scroll_into_view_if_needed()
    words = notebook.page.locator(".jp-OutputArea-child").get_by_role("status")
    return notebook, handle, stage.locator("img"), words


def centre(element):
    box = element.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, handle, by):
    """Drag a handle by so many pixels, in ten moves of the pointer."""
    x, y = centre(handle)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + by[0], y + by[1], steps=10)
    page.mouse.up()


def until_sharp(page, picture, width=1600):
    """Wait for two pixels a CSS pixel: the toy is 8 inches wide."""
    page.wait_for_function(
        "([img, width]) => img.naturalWidth === width", arg=[picture.element_handle(), width]
    )


def test_a_dragged_handle_moves_controls_picture_and_words(bowl):
    from playwright.sync_api import expect

    notebook, handle, picture, words = bowl
    until_sharp(notebook.page, picture)
    notebook.picture("grab-1-before")
    before = picture.get_attribute("src"), words.inner_text()
    start, paints = centre(handle), int(handle.get_attribute("data-paints"))
    drag(notebook.page, handle, (60, -50))
    assert int(handle.get_attribute("data-paints")) >= paints + 10, "painted at every move"
    expect(picture).not_to_have_attribute("src", before[0])
    expect(words).not_to_have_text(before[1])
    until_sharp(notebook.page, picture)
    assert picture.get_attribute("alt") == words.inner_text()
    values = notebook.page.locator(".widget-readout").all_inner_texts()
    x, y = float(values[0]), float(values[1])
    assert f"x = {x:g}, y = {y:g}" in words.inner_text()
    assert x > 2.2 and y > 1.2
    # The handle lies where it was let go, but for half a step of the sliders.
    here = centre(handle)
    assert abs(here[0] - start[0] - 60) < 3 and abs(here[1] - start[1] + 50) < 3
    notebook.picture("grab-2-dragged")


def test_a_handle_stays_within_the_controls_ranges(bowl):
    from playwright.sync_api import expect

    notebook, handle, _, words = bowl
    drag(notebook.page, handle, (400, 500))
    expect(words).to_contain_text("x = 3, y = -3".replace("-", "−"))


def test_arrows_move_a_handle_by_a_step_and_with_shift_by_ten(bowl):
    from playwright.sync_api import expect

    notebook, handle, _, words = bowl
    handle.focus()
    notebook.page.keyboard.press("ArrowRight")
    notebook.page.keyboard.press("Shift+ArrowDown")
    expect(words).to_contain_text("x = 2.1, y = 0 ")
    expect(handle).to_have_attribute("aria-valuetext", "start x 2.1, start y 0")


def test_reset_brings_the_start_back(bowl):
    from playwright.sync_api import expect

    notebook, handle, _, words = bowl
    drag(notebook.page, handle, (-60, 0))
    expect(words).not_to_contain_text("x = 2,")
    notebook.page.get_by_role("button", name="Reset").click()
    expect(words).to_contain_text("x = 2, y = 1 ")


def test_play_goes_to_the_last_step_and_is_read_out_at_rest(bowl):
    from playwright.sync_api import expect

    notebook, _, picture, words = bowl
    notebook.page.locator(".widget-play button").first.click()
    expect(words).to_contain_text("makes 12 steps")
    until_sharp(notebook.page, picture)
    expect(words).to_have_attribute("aria-live", "polite")


def test_a_finger_drags(bowl):
    from playwright.sync_api import expect

    notebook, handle, _, words = bowl
    x, y = centre(handle)
    touch = notebook.page.context.new_cdp_session(notebook.page)

    def send(kind, *points):
        touch.send(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]},
        )

    send("touchStart", (x + 12, y + 12))  # beside what is seen
    for far in range(10, 70, 10):
        send("touchMove", (x + far, y))
    send("touchEnd")
    expect(words).not_to_contain_text("x = 2,")


def test_in_the_dark_and_in_a_narrow_window_the_handle_lies_on_its_axes(bowl):
    from playwright.sync_api import expect

    notebook, handle, picture, _ = bowl
    page = notebook.page
    share = [(a - b) / c for a, b, c in within(handle, picture)]
    page.set_viewport_size({"width": 800, "height": 900})
    expect(picture).not_to_have_css("width", "800px")
    narrow = [(a - b) / c for a, b, c in within(handle, picture)]
    assert narrow == pytest.approx(share, abs=0.005)
    notebook.picture("grab-3-narrow")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    assert page.evaluate("img => getComputedStyle(img).filter", picture.element_handle()) != "none"


def within(handle, picture):
    """For x and y: the handle's centre, the picture's beginning and its extent."""
    box = picture.bounding_box()
    return zip(centre(handle), (box["x"], box["y"]), (box["width"], box["height"]), strict=True)

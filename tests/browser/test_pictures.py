"""Pictures are grabbed and played in a real browser: by the pointer, by keyboard, in the dark, in a narrow window."""

import io
import json
import re
import shutil
import tempfile
from pathlib import Path

import nbformat
import pytest
from PIL import Image

from tests.browser.conftest import Notebook, running_lab

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HERE = Path(__file__).parent
BEGIN = "from descent import start\nstart('03_optimisation/01_gradient_descent')"
EXPLORE = """\
from descent import explore, plots
from ipywidgets import FloatSlider, IntSlider
from toy_pictures import bowl
plots.use_style()
explore(bowl, drag={("x", "y"): "start"}, play="step",
        x=FloatSlider(2, min=-3, max=3, step=0.1, description="start x"),
        y=FloatSlider(1, min=-3, max=3, step=0.1, description="start y"),
        step=IntSlider(5, min=1, max=12, description="steps"))"""

BUSY = """\
import time
import matplotlib.pyplot as plt
figure, _ = plt.subplots(figsize=(3, 1))
print("drawn", flush=True)
time.sleep(4)
print("kept" if plt.gcf() is figure else "lost")"""

# Pixels of a unit on the left axes: 8 units on (0.98 - 0.08) / 2.2 of 800 pixels, and on (0.9 - 0.14) of 400.
WIDE, HIGH = 0.9 / 2.2 * 800 / 8, 0.76 * 400 / 8

MOVIE = """\
from descent import movie, plots
from toy_pictures import cloud
plots.use_style()
movie(*cloud(), "A cloud walks to the right.", seconds=2)"""
# How many pixels of the canvas are painted, and the middle of them along x as a share of its width.
PAINTED = """canvas => {
  const { width, height } = canvas;
  const data = canvas.getContext('2d').getImageData(0, 0, width, height).data;
  let count = 0, sum = 0;
  for (let i = 3; i < data.length; i += 4)
    if (data[i]) { count++; sum += ((i - 3) / 4) % width; }
  return [count, sum / count / width];
}"""


def notebook_of(course, name, *sources):
    """Path in the course of a new notebook that starts and has these cells, beside the toy that they import."""
    (course / "toy_pictures.py").write_text((HERE / "toy_pictures.py").read_text())
    cells = [nbformat.v4.new_code_cell(source) for source in (BEGIN, *sources)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    (course / f"{name}.ipynb").write_text(json.dumps(notebook))
    return f"{name}.ipynb"


@pytest.fixture
def bowl(course, open_notebook):
    """The toy explorer, run and alive: (notebook, its handle, its picture, its words)."""
    notebook = open_notebook(notebook_of(course, "bowl", EXPLORE))
    notebook.run_all()
    stage = notebook.page.locator(".descent-stage")
    handle = stage.get_by_role("slider", name="handle start")
    handle.wait_for()
    until_sharp(notebook.page, stage.locator("img"))  # from now on nothing moves by itself
    handle.hover(trial=True)  # in sight, and it lies still
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
    from playwright.sync_api import expect

    expect(picture).to_have_js_property("naturalWidth", width, timeout=60_000)


def test_a_dragged_handle_moves_controls_picture_and_words(bowl):
    from playwright.sync_api import expect

    notebook, handle, picture, words = bowl
    until_sharp(notebook.page, picture)
    notebook.picture("grab-1-before")
    before = picture.get_attribute("src"), words.inner_text()
    start, paints = centre(handle), int(handle.get_attribute("data-paints"))
    drag(notebook.page, handle, (-60, -30))
    assert int(handle.get_attribute("data-paints")) >= paints + 10, "painted at every move"
    expect(picture).not_to_have_attribute("src", before[0])
    expect(words).not_to_have_text(before[1])
    # A busy kernel answers the last moves late. Then the words are those of where the handle was let go, but for half
    # a step of the sliders.
    x, y = 2 - 60 / WIDE, 1 + 30 / HIGH
    expect(words).to_contain_text(f"x = {x:.1f}, y = {y:.1f}")
    until_sharp(notebook.page, picture)
    assert picture.get_attribute("alt") == words.inner_text()
    readouts = notebook.page.locator(".widget-readout")
    for number, value in enumerate((x, y)):
        expect(readouts.nth(number)).to_have_text(f"{value:.1f}0")
    here = centre(handle)
    assert abs(here[0] - start[0] + 60) < 3 and abs(here[1] - start[1] + 30) < 3
    notebook.picture("grab-2-dragged")


def test_a_drag_while_a_cell_runs_takes_no_figure_from_it(course, open_notebook):
    from playwright.sync_api import expect

    notebook = open_notebook(notebook_of(course, "busy", EXPLORE, BUSY))
    notebook.run_all()
    stage = notebook.page.locator(".descent-stage")
    handle = stage.get_by_role("slider", name="handle start")
    until_sharp(notebook.page, stage.locator("img"))
    busy = notebook.cell("import time")
    busy.locator(".cm-content").click()
    notebook.page.keyboard.press("Control+Enter")
    expect(busy).to_contain_text("drawn")
    handle.hover(trial=True)
    drag(notebook.page, handle, (-60, 0))
    notebook.wait_until_run()
    expect(busy).to_contain_text("kept")
    expect(busy.locator("img")).to_have_count(1)
    words = notebook.page.locator(".jp-OutputArea-child").get_by_role("status")
    expect(words).to_contain_text(f"x = {2 - 60 / WIDE:.1f}")
    until_sharp(notebook.page, stage.locator("img"))


def test_a_handle_stays_within_the_controls_ranges(bowl):
    from playwright.sync_api import expect

    notebook, handle, _, words = bowl
    drag(notebook.page, handle, (400, 500))
    expect(words).to_contain_text("x = 3, y = -3".replace("-", "−"))


def test_arrows_move_a_handle_by_a_step_and_with_shift_by_ten(bowl):
    from playwright.sync_api import expect

    notebook, handle, _, words = bowl
    handle.press("ArrowRight")
    handle.press("Shift+ArrowDown")
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

    handle.hover(position={"x": 24, "y": 24}, trial=True)  # a finger finds it beside what is seen
    paints = int(handle.get_attribute("data-paints"))
    send("touchStart", (x + 12, y + 12))
    for far in range(10, 70, 10):
        send("touchMove", (x + far, y))
    send("touchEnd")
    assert int(handle.get_attribute("data-paints")) > paints, "the browser moved no handle"
    expect(words).not_to_contain_text("x = 2,")


def test_a_handle_scales_with_its_picture(bowl):
    notebook, handle, picture, _ = bowl
    share = within(handle, picture)
    page = notebook.page
    page.set_viewport_size({"width": 1100, "height": 900})
    page.wait_for_function("img => img.clientWidth < 700", arg=picture.element_handle())
    scaled = within(handle, picture)
    assert scaled == pytest.approx(share, abs=0.005)


def test_in_a_narrow_window_panels_stand_under_each_other(bowl):
    notebook, handle, picture, _ = bowl
    notebook.page.set_viewport_size({"width": 800, "height": 900})
    until_sharp(notebook.page, picture, 800)  # half as wide as both panels
    x, y = within(handle, picture)
    assert x > 0.6 and y < 0.3, "on the upper panel, to the right of its middle"
    notebook.picture("grab-3-narrow")


def test_in_a_narrow_window_a_shown_figure_stacks_too(course, open_notebook):
    from playwright.sync_api import expect

    cell = "from descent import plots, show\nfrom toy_pictures import bowl\nplots.use_style()\nshow(*bowl())"
    notebook = open_notebook(notebook_of(course, "shown", cell))
    notebook.run_all()
    picture = notebook.page.locator("img.descent-picture")
    expect(picture).to_have_js_property("naturalWidth", 1200)
    notebook.page.set_viewport_size({"width": 800, "height": 900})
    expect(picture).to_have_js_property("naturalWidth", 600)  # each panel is 4 inches wide
    width, height = picture.evaluate("img => [img.clientWidth, img.clientHeight]")
    assert 300 < width <= 400 and height == pytest.approx(2 * width, abs=1)
    notebook.picture("grab-6-shown-narrow")


def test_in_the_dark_a_picture_is_no_white_block(bowl):
    notebook, handle, picture, _ = bowl
    until_sharp(notebook.page, picture)
    notebook.page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    box = picture.bounding_box()
    corner = {"x": box["x"] + 2, "y": box["y"] + 2, "width": 8, "height": 8}
    image = Image.open(io.BytesIO(notebook.page.screenshot(clip=corner))).convert("L")
    assert image.getextrema()[1] < 40
    notebook.picture("grab-5-dark")


# A stage in a room that grows between its question and the kernel's answer. Returns how many messages it had sent.
GROWS = """async source => {
  const { default: stage } = await import('data:text/javascript,' + encodeURIComponent(source));
  const state = { look: {}, film: {} };
  window.sent = [];
  const model = {
    get: name => state[name], send: message => sent.push(message),
    on: (event, answer) => { model.answer = answer; }, off: () => {},
  };
  const el = document.body.appendChild(document.createElement('div'));
  el.style.width = '300px';
  stage.render({ model, el });
  el.style.width = '1000px';
  for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
  const before = sent.length;
  state.look = { width: 300, words: 'narrow', draft: false, handles: [] };
  model.answer();
  return before;
}"""


def test_room_that_comes_while_the_kernel_draws_is_told_to_it(browser):
    page = browser.new_page()
    source = (HERE.parents[1] / "course" / "descent" / "stage.js").read_text()
    assert page.evaluate(GROWS, source) == 1
    assert page.evaluate("sent[0]") == {"kind": "ready", "room": 300}
    page.wait_for_function("sent.length === 2")
    assert page.evaluate("sent[1]") == {"kind": "rest", "room": 1000}
    page.close()


def within(handle, picture):
    """Where the handle's centre lies in the picture, as shares of its width and height."""
    box = picture.bounding_box()
    x, y = centre(handle)
    return (x - box["x"]) / box["width"], (y - box["y"]) / box["height"]


def test_where_the_front_end_lacks_anywidget_sliders_work_and_it_is_said(course, browser):
    from playwright.sync_api import expect

    with tempfile.TemporaryDirectory(prefix="gd-", ignore_cleanup_errors=True) as folder:
        bare = shutil.copytree(course, Path(folder) / "course")
        settings = Path(folder) / "home" / "config" / "labconfig"
        settings.mkdir(parents=True)
        without = json.dumps({"disabledExtensions": {"anywidget": True}})
        (settings / "page_config.json").write_text(without)
        path = notebook_of(bare, "bowl", EXPLORE)
        with running_lab(bare, "student", PYTHONPATH=str(bare)) as lab:
            page = browser.new_page()
            page.goto(f"{lab.address}/lab/tree/{path}?token={lab.token}")
            Notebook(page, bare / path).run_all()
            output = page.locator(".jp-OutputArea-child")
            assert page.locator(".descent-stage").count() == 0
            expect(output.locator("img")).to_have_attribute("alt", re.compile("x = 2, y = 1"))
            page.get_by_role("slider").first.press("ArrowRight")
            expect(output.locator("img")).to_have_attribute("alt", re.compile("x = 2.1, y = 1"))
            expect(output).to_contain_text("anywidget is missing")
            assert "Error" not in output.inner_text()
            page.close()


@pytest.fixture
def walk(course, open_notebook):
    """The toy movie, run: (page, its stage)."""
    notebook = open_notebook(notebook_of(course, "walk", MOVIE))
    notebook.run_all()
    stage = notebook.page.locator(".descent-stage")
    stage.locator("canvas").wait_for()
    stage.scroll_into_view_if_needed()
    return notebook, stage


def test_a_movie_paints_its_points_from_the_first_step_to_the_last(walk):
    from playwright.sync_api import expect

    notebook, stage = walk
    page, canvas = notebook.page, stage.locator("canvas")
    assert stage.locator("img").get_attribute("alt") == "A cloud walks to the right."
    count, first = canvas.evaluate(PAINTED)
    assert count > 1000
    notebook.picture("grab-4-movie")
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.get_by_text("step 39 of 39")).to_be_visible()
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    assert canvas.evaluate(PAINTED)[1] > first + 0.3  # half of the axes' width lies between


def test_a_movie_is_scrubbed_by_keyboard_and_stays_there(walk):
    from playwright.sync_api import expect

    notebook, stage = walk
    slider = notebook.page.get_by_role("slider", name="step")
    slider.press("End")
    slider.press("ArrowLeft")
    expect(notebook.page.get_by_text("step 38 of 39")).to_be_visible()
    assert stage.locator("canvas").evaluate(PAINTED)[1] > 0.6


def test_who_wants_less_motion_gets_still_frames(walk):
    from playwright.sync_api import expect

    notebook, stage = walk
    notebook.page.emulate_media(reduced_motion="reduce")
    canvas = stage.locator("canvas")
    before = int(canvas.get_attribute("data-paints"))
    notebook.page.get_by_role("button", name="Play").click()
    expect(notebook.page.get_by_text("step 39 of 39")).to_be_visible()
    assert int(canvas.get_attribute("data-paints")) - before <= 5  # two a second, for two seconds

"""Drag a handle and play a movie in JupyterLab in a headless Chromium, and time it: `python -m tests.bench_pictures`.

The last line is JSON: {"drafts": [seconds from a move of the pointer to its picture, …], "moves": of the pointer,
"paints": of the handle meanwhile, "frames": of the movie in a second}.
"""

import json
import shutil
import tempfile
from pathlib import Path

from tests.browser.conftest import CHROMIUM_FLAGS, Notebook, running_lab
from tests.browser.test_pictures import EXPLORE, MOVIE, centre, notebook_of

ROOT = Path(__file__).resolve().parents[1]
DRAFTS, MOVES = 40, 100
LATENCY = """() => new Promise(done => {
  const handle = document.querySelector('.descent-handle');
  const picture = document.querySelector('.descent-stage img');
  let moved = null;
  window.draft = new Promise(seen => {
    handle.addEventListener('pointermove', () => { moved = performance.now(); }, { once: true });
    picture.addEventListener('load', () => seen((performance.now() - moved) / 1000), { once: true });
  });
  done();
})"""
FRAMES = """() => new Promise(done => {
  const canvas = document.querySelector('.descent-stage canvas');
  const paints = () => Number(canvas.dataset.paints);
  const before = paints(), began = performance.now();
  setTimeout(() => done((paints() - before) * 1000 / (performance.now() - began)), 1500);
})"""


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="gd-", ignore_cleanup_errors=True) as folder:
        course = shutil.copytree(ROOT / "course", Path(folder) / "course")
        names = [notebook_of(course, "bowl", EXPLORE), notebook_of(course, "walk", MOVIE)]
        with running_lab(course, "student", PYTHONPATH=str(course)) as lab:
            print(json.dumps(measured(lab, *names)))


def measured(lab, bowl: str, walk: str) -> dict:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=CHROMIUM_FLAGS
        )
        page = opened(chromium, lab, bowl)
        found = {"drafts": drafts(page), "moves": MOVES, "paints": paints(page)}
        page = opened(chromium, lab, walk)
        page.get_by_role("button", name="Play").click()
        found["frames"] = page.evaluate(FRAMES)
        chromium.close()
    return found


def opened(chromium, lab, path):
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(60_000)
    page.goto(f"{lab.address}/lab/workspaces/{path[:4]}/tree/{path}?token={lab.token}")
    Notebook(page, lab.folder / path).run_all()
    page.locator(".descent-stage img").scroll_into_view_if_needed()
    return page


def grab(page):
    x, y = centre(page.locator(".descent-handle"))
    page.mouse.move(x, y)
    page.mouse.down()
    return x, y


def drafts(page) -> list[float]:
    """Seconds to the draft, of moves that come one at a time, each to a place where nothing was drawn.

    A slider's step is 4 pixels: a shorter move would ask for the picture that is there, which does not load again.
    """
    page.wait_for_timeout(1000)  # the sharp picture of the start has come
    x, y = grab(page)
    found = []
    for number in range(DRAFTS):
        page.evaluate(LATENCY)
        page.mouse.move(x - 5 * number - 5, y)
        found.append(page.evaluate("window.draft"))
    page.mouse.up()
    return found


def paints(page) -> int:
    """How often the handle was painted while the pointer moved MOVES times, as fast as it can."""
    page.wait_for_timeout(1000)
    x, y = grab(page)
    handle = page.locator(".descent-handle")
    before = int(handle.get_attribute("data-paints"))
    for number in range(MOVES):
        page.mouse.move(x + number % 50 + 1, y)
    found = int(handle.get_attribute("data-paints")) - before
    page.mouse.up()
    return found


if __name__ == "__main__":
    main()

"""A feedback page of a hostile submission in a real browser: nothing runs, nothing is fetched, all can be read."""

import json
import re

import pytest

from autograder.grading.rebuilding import rebuild
from autograder.results import feedback_page
from autograder.results.feedback_page import Mark, Marks
from tests.browser.conftest import ARTEFACTS
from tests.grading.toy_chapter import CHAPTER, NOTEBOOK, STEM, make_project

pytestmark = pytest.mark.browser

HOSTILE = (
    "<script>document.title='hit'</script><img src=x onerror=\"document.title='hit'\"> "
    "<a href=\"javascript:document.title='hit'\">go</a> <img src='https://example.org/seen.png'>"
    "<link rel=stylesheet href='https://example.org/a.css'><iframe src='https://example.org'></iframe>"
    "<div style='position:fixed;inset:0;background:black'>covered</div><svg onload=\"document.title='hit'\">"
)


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory):
    """The toy chapter's page, with scripts wherever a student, a process or a gradebook could put them."""
    project = make_project(tmp_path_factory.mktemp("project"))
    cells = json.loads((project / "course" / CHAPTER / f"{STEM}.ipynb").read_text())["cells"]
    for cell in cells:
        if rebuild.Cell(cell["cell_type"], "", "", cell["metadata"]).about("written"):
            cell["source"] = f"Because $2 = 1 + 1$. {HOSTILE}"
        if cell["cell_type"] == "code":
            html = {"text/html": f"<b>card</b>{HOSTILE}"}
            cell["outputs"] = [{"output_type": "execute_result", "data": html}]
    marks = {"check-double": Mark(1, 3), "why": Mark(0, 2, waits=True)}
    known = Marks(marks, {"double": f"Read **this**. {HOSTILE}"})
    read = feedback_page.cells({"cells": cells}, known)
    rows = feedback_page.rows(read, known, {})
    return feedback_page.page(read, rows, NOTEBOOK, f"eve {HOSTILE}", known)


@pytest.fixture
def opened(browser, tmp_path):
    """opened(html) -> (the page in the browser, what it asked for besides itself)."""
    pages = []

    def open_(text):
        path = tmp_path / "page.html"
        path.write_text(text, encoding="utf-8")
        page, asked = browser.new_page(viewport={"width": 1100, "height": 1400}), []
        pages.append(page)
        # What the policy forbids never comes here.
        page.route(
            re.compile("^http"), lambda route: (asked.append(route.request.url), route.abort())
        )
        page.goto(path.as_uri(), wait_until="networkidle")
        return page, asked

    yield open_
    for page in pages:
        page.close()


def test_nothing_runs_nothing_is_fetched_and_all_can_be_read(hostile_page, opened):
    page, asked = opened(hostile_page)
    assert asked == []
    assert page.title().startswith(NOTEBOOK)
    page.locator("a", has_text="go").first.click(force=True)
    assert page.title().startswith(NOTEBOOK)
    assert page.get_by_role("navigation").get_by_role("row").count() == 3
    assert (
        page.get_by_text("Read this.").is_visible() and page.get_by_text("card").first.is_visible()
    )
    # Nothing lies over the page: what is at the heading's place is the heading.
    assert page.evaluate("document.elementFromPoint(100, 60).closest('h1, header') !== null")
    page.get_by_role("link", name="double", exact=True).click()
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / "9-feedback.png", full_page=True)


def test_the_policy_holds_where_the_cleaning_would_fail(hostile_page, opened):
    without = hostile_page.replace("Content-Security-Policy", "none")
    page, asked = opened(without.replace("<main>", f"<main>{HOSTILE}"))
    assert page.title() == "hit" and len(asked) == 3  # so the test can fail
    page, asked = opened(hostile_page.replace("<main>", f"<main>{HOSTILE}"))
    assert asked == [] and page.title().startswith(NOTEBOOK)
    page.locator("main > a").click(force=True)
    assert page.title().startswith(NOTEBOOK)

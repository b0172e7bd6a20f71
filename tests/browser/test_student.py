"""What a student does in JupyterLab, in a real browser: open, run, move, solve, check, look back."""

import json
import re
import shutil
from pathlib import Path

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
FIRST = "00_start_here/01_how_this_course_works"
WIDGETS = "03_optimisation/01_gradient_descent"


def answers(notebook):
    """{id of an answer cell: its source with the solution} of a notebook."""
    cells = json.loads((ROOT / "solutions" / f"{notebook}.ipynb").read_text())["cells"]
    return {
        cell["id"]: "".join(cell["source"])
        for cell in cells
        if cell["metadata"].get("nbgrader", {}).get("solution") and cell["cell_type"] == "code"
    }


def solved(course, notebook):
    """Path of a copy of the student's edition, all answers written and all sections open, and how many answers."""
    content = json.loads((course / f"{notebook}.ipynb").read_text())
    sources = answers(notebook)
    for cell in content["cells"]:
        cell["source"] = sources.get(cell["id"], cell["source"])
        cell["metadata"].pop("jp-MarkdownHeadingCollapsed", None)
    path = f"{notebook}_solved.ipynb"
    (course / path).write_text(json.dumps(content))
    return path, len(sources)


def test_a_window_has_nothing_for_instructors_and_asks_nothing(open_notebook):
    notebook = open_notebook(f"{FIRST}.ipynb")
    notebook.picture("1-opened")
    assert notebook.page.get_by_role("menuitem", name="Nbgrader").count() == 0
    assert notebook.page.locator(".jp-Dialog").count() == 0
    assert "news" not in notebook.page.locator("body").inner_text()


def test_a_notebook_counts_as_changed_once_somebody_changes_it(course, open_notebook):
    from playwright.sync_api import expect

    shutil.copy(ROOT / "course" / f"{FIRST}.ipynb", course / f"{FIRST}_fresh.ipynb")
    notebook = open_notebook(f"{FIRST}_fresh.ipynb")
    changed = notebook.page.locator(".lm-DockPanel-tabBar .jp-mod-dirty")
    # Cells are coloured as Python once JupyterLab has written which kernel answered.
    notebook.page.wait_for_selector(".jp-CodeCell .cm-line span")
    expect(changed).to_have_count(0)
    notebook.cell("def average").locator(".cm-content").click()
    notebook.page.keyboard.type("# ")
    expect(changed).to_have_count(1)


@pytest.mark.parametrize("path", [FIRST, WIDGETS])
def test_run_all_of_an_unsolved_notebook_shows_no_error(path, open_notebook):
    notebook = open_notebook(f"{path}.ipynb")
    notebook.run_all()
    assert notebook.errors() == []
    notebook.picture(f"2-unsolved-{path.split('/')[1]}")
    for cell in notebook.saved()["cells"]:
        if cell["cell_type"] == "code":
            assert cell["execution_count"], cell["source"]
            assert all(output["output_type"] != "error" for output in cell["outputs"])


def test_what_is_deeper_opens_collapsed_and_code_that_nobody_needs_to_read_folded(
    course, open_notebook
):
    from playwright.sync_api import expect

    # As released: who runs and saves a notebook may leave a section open.
    shutil.copy(ROOT / "course" / f"{WIDGETS}.ipynb", course / f"{WIDGETS}_fresh.ipynb")
    notebook = open_notebook(f"{WIDGETS}_fresh.ipynb")
    hidden = notebook.page.get_by_role("button", name=re.compile("cells? hidden"))
    cells = json.loads((ROOT / "course" / f"{WIDGETS}.ipynb").read_text())["cells"]
    wanted = sum("jp-MarkdownHeadingCollapsed" in c["metadata"] for c in cells)
    assert wanted > 5
    expect(hidden).to_have_count(wanted)
    assert notebook.page.get_by_role("heading", name=re.compile("^Take-aways")).is_visible()
    folded = notebook.page.locator(".jp-InputPlaceholder").filter(
        has_text="# Drag the square. Play"
    )
    assert folded.is_visible()
    assert notebook.page.get_by_text("landscapes.draw_landscape").count() == 0


def test_a_guess_gets_its_answer_at_once(open_notebook):
    from playwright.sync_api import expect

    notebook = open_notebook(f"{FIRST}.ipynb")
    notebook.run_all()
    cells = notebook.page.locator(".jp-CodeCell").filter(has_text="This is my guess")
    sources = [
        cell.locator(".cm-content").inner_text() for cell in cells.all() if cell.is_visible()
    ]
    assert len(sources) >= 2
    for source in sources:
        cell = notebook.page.locator(".jp-CodeCell").filter(has_text=source)
        cell.locator("input[type=radio]").first.click()
        cell.get_by_role("button", name="This is my guess").click()
        expect(cell.get_by_text("You guessed:")).to_be_visible()
        expect(cell.get_by_text("Answer:")).to_be_visible()
    cell.scroll_into_view_if_needed()
    notebook.picture("3-guessed")


def test_a_wrong_answer_is_named_and_a_right_one_is_solved_and_the_index_knows(open_notebook):
    notebook = open_notebook(f"{FIRST}.ipynb")
    notebook.run_all()
    answer = notebook.cell('def average(x):\n    """')
    check = notebook.cell("check(average)")

    notebook.write(answer, "def average(x):\n    return sum(x)")
    notebook.run(check)
    card = check.get_by_role("status", name="check of average")
    assert "This may be a known mistake: the sum." in card.inner_text()
    check.scroll_into_view_if_needed()
    notebook.picture("3-failing-check")

    notebook.write(answer, answers(FIRST)["average"])
    notebook.run(check)
    assert re.search(r"✓\s*average: solved, (\d+) of \1 points?", card.inner_text())
    check.scroll_into_view_if_needed()
    notebook.picture("4-passing-check")
    notebook.saved()

    index = open_notebook("index.ipynb")
    index.run_all()
    assert index.errors() == []
    row = index.page.get_by_role("row").filter(has_text="How this course works")
    assert re.search(r"\b1 of \d+ solved", row.inner_text())
    row.scroll_into_view_if_needed()
    index.picture("5-index")


def test_solved_all_checks_say_so_and_a_slider_moved_by_keyboard_changes_the_picture(
    course, open_notebook
):
    from playwright.sync_api import expect

    path, exercises = solved(course, WIDGETS)
    notebook = open_notebook(path)
    notebook.run_all()
    assert notebook.errors() == []
    cards = notebook.page.get_by_role("status", name=re.compile("^check of ")).all_inner_texts()
    assert len(cards) == exercises >= 4
    assert all(": solved, " in card for card in cards), cards

    slider = notebook.page.get_by_role("slider").first
    output = notebook.page.locator(".jp-OutputArea-child").filter(has=slider).first
    picture, words = output.locator("img").first, output.get_by_role("status").first
    slider.scroll_into_view_if_needed()
    expect(picture).to_have_attribute("src", re.compile("."))  # it is drawn once it is in sight
    notebook.picture("6-slider-before")
    before = picture.get_attribute("src"), words.inner_text()
    for _ in range(4):
        slider.press("ArrowRight")  # JupyterLab may take the focus back to its cell after a run
    expect(picture).not_to_have_attribute("src", before[0])
    expect(words).not_to_have_text(before[1])
    notebook.wait_until_run()
    assert picture.get_attribute("alt") == words.inner_text()
    notebook.picture("7-slider-after")


def test_the_index_leads_to_a_chapter_page_that_is_read_not_edited(open_notebook):
    notebook = open_notebook("index.ipynb")
    notebook.page.get_by_role("link", name="3 Optimisation").click()
    page = notebook.page.locator(".jp-MarkdownViewer")
    page.get_by_role("heading", name="What you will be able to do").wait_for()
    notebook.picture("8-chapter-page")
    assert page.get_by_role("link", name="Gradient descent on loss landscapes").count() == 2

"""What an instructor does in the formgrader: see the class, read the rubric, mark a written answer, grade again.

With the gradebook in SQLite and in PostgreSQL.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from autograder.grading.gradebook.book import open_gradebook
from autograder.workspace import GRADEBOOK, VARIABLE, Workspace
from tests.browser.conftest import ARTEFACTS, running_lab
from tests.grading import postgres

pytestmark = [pytest.mark.browser, pytest.mark.sandbox, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
CHAPTER, NOTEBOOK = "00_start_here", "01_how_this_course_works"
WRITTEN, EDITED = "what_accuracy_hides", "check-run"
DATABASES = ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]


@pytest.fixture(scope="module", params=DATABASES)
def project(request):
    """A project folder whose gradebook holds one graded submission of the first chapter."""
    with contextlib.ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        folder = stack.enter_context(
            tempfile.TemporaryDirectory(prefix="gd-", ignore_cleanup_errors=True)
        )
        project = Path(folder) / "project"
        project.mkdir()
        for name in ("course", "solutions"):
            (project / name).symlink_to(ROOT / name)
        shutil.copy(ROOT / "nbgrader_config.py", project)
        hand_in(Path(folder) / "handins" / "ada")
        patch.setenv(VARIABLE, str(project / "grading"))
        patch.delenv(GRADEBOOK, raising=False)
        if request.param == "postgresql":
            patch.setenv(GRADEBOOK, stack.enter_context(postgres.server())("marks"))
        autograder("collect", CHAPTER, f"{folder}/handins")
        autograder("grade", CHAPTER)
        yield project


def hand_in(folder):
    """All answers right, a check cell edited, and a written answer in Ada's own words."""
    name = f"{CHAPTER}/{NOTEBOOK}.ipynb"
    solved = {c["id"]: c["source"] for c in read(ROOT / "solutions" / name)["cells"]}
    told = read(ROOT / "course" / name)
    for cell in told["cells"]:
        cell["source"] = solved[cell["id"]]
        if cell["id"] == WRITTEN:
            cell["source"] = "About **evaluation**: a share $k/n$ of data like the training set's."
        if cell["id"] == EDITED:
            cell["source"] += "  # 3 of 3"
    folder.mkdir(parents=True)
    (folder / f"{NOTEBOOK}.ipynb").write_text(json.dumps(told))


def read(path):
    return json.loads(path.read_text())


def autograder(*arguments):
    command = [sys.executable, "-m", "autograder", *arguments]
    subprocess.run(command, cwd=ROOT, check=True, env=os.environ)


def marks(project):
    """(score of the code, score of the written answers, whether a person must look) of ada."""
    with open_gradebook(Workspace(project / "grading")) as book:
        found = book.find_submission(CHAPTER, "ada")
        return found.code_score, found.written_score, found.needs_manual_grade


def test_the_formgrader_shows_the_rubric_and_keeps_a_mark_over_a_regrade(project, browser, request):
    code, written, look = marks(project)
    assert code > 0 and written == 0 and look
    with running_lab(project, "instructor", page="/formgrader") as lab:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{lab.address}/formgrader?token={lab.token}")
        page.get_by_role("link", name=CHAPTER).wait_for()
        page.goto(f"{lab.address}/formgrader/gradebook/{CHAPTER}/{NOTEBOOK}")
        page.locator("tbody").get_by_role("link").first.click()
        # The course's own check was used, and the marker is told so.
        note = page.get_by_text("Its check cell was edited: the course's own was used.")
        note.first.wait_for()
        picture(note.first, request, "8-formgrader-restored")
        rubric = page.get_by_text("a model answer, and what earns points")
        assert rubric.count() == 1
        assert page.get_by_text("The question, which is not in the student's cell").is_visible()
        assert page.get_by_text("names evaluation, and that its data").is_visible()
        # The page's script says so once it listens: a mark typed earlier would not be saved.
        score = page.locator(f"input#{WRITTEN}.needs_manual_grade")
        score.wait_for()
        score = page.locator(f"input#{WRITTEN}")
        score.fill("1.5")
        with page.expect_response(lambda response: response.request.method == "PUT"):
            score.press("Tab")  # which saves the mark
        picture(rubric, request, "8-formgrader")
        assert marks(project) == (code, 1.5, False)
        autograder("grade", CHAPTER, "--force")
        page.reload()
        page.wait_for_function(f"document.getElementById('{WRITTEN}').value === '1.5'")
        picture(rubric, request, "8-formgrader-regraded")
        page.close()
    assert marks(project) == (code, 1.5, False)


def picture(place, request, name):
    """Keep a screenshot, scrolled to a place, for a person to look at."""
    ARTEFACTS.mkdir(exist_ok=True)
    place.evaluate("element => element.scrollIntoView({block: 'center'})")
    database = request.node.callspec.params["project"]
    place.page.screenshot(path=ARTEFACTS / f"{name}-{database}.png")

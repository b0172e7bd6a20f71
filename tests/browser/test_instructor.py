"""What an instructor does in the formgrader: see the class, mark a written answer by hand."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests import bench_grading
from tests.browser.conftest import ARTEFACTS, running_lab

pytestmark = [pytest.mark.browser, pytest.mark.sandbox, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
CHAPTER, NOTEBOOK = "00_start_here", "01_how_this_course_works"


@pytest.fixture(scope="module")
def graded():
    """A project folder whose gradebook holds one graded submission of the first chapter."""
    with tempfile.TemporaryDirectory(prefix="gd-", ignore_cleanup_errors=True) as folder:
        project = Path(folder) / "project"
        project.mkdir()
        for name in ("course", "solutions"):
            (project / name).symlink_to(ROOT / name)
        shutil.copy(ROOT / "nbgrader_config.py", project)
        bench_grading.lay_out(CHAPTER, Path(folder) / "handins" / "ada")
        environ = dict(os.environ, GRADED_DESCENT_GRADING=str(project / "grading"))
        for step in (["collect", CHAPTER, f"{folder}/handins"], ["grade", CHAPTER]):
            command = [sys.executable, "-m", "autograder", *step]
            subprocess.run(command, cwd=ROOT, env=environ, check=True)
        yield project


def marks(project):
    """(score of the code, score of the written answers, whether a person must look) of ada."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{project}/grading/gradebook.db") as book:
        found = book.find_submission(CHAPTER, "ada")
        return found.code_score, found.written_score, found.needs_manual_grade


def test_the_formgrader_shows_the_class_and_takes_a_mark_for_a_written_answer(graded, browser):
    code, written, look = marks(graded)
    assert code > 0 and written == 0 and look
    with running_lab(graded, "instructor", page="/formgrader") as lab:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{lab.address}/formgrader?token={lab.token}")
        page.get_by_role("link", name=CHAPTER).wait_for()
        page.goto(f"{lab.address}/formgrader/gradebook/{CHAPTER}/{NOTEBOOK}")
        page.locator("tbody").get_by_role("link").first.click()
        score = page.locator("input.score.needs_manual_grade").first
        score.fill("1.5")
        score.press("Tab")
        page.wait_for_load_state("networkidle")
        ARTEFACTS.mkdir(exist_ok=True)
        page.screenshot(path=ARTEFACTS / "8-formgrader.png")
        page.close()
    assert marks(graded) == (code, 1.5, False)

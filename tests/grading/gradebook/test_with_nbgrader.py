"""nbgrader's formgrader and commands read what we wrote, and a chapter ends in the same marks in both databases."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys

import pytest

from autograder.checkdata import ROOT
from autograder.grading import grade
from autograder.grading.dispatch.way import Way
from autograder.grading.gradebook import pages as autograded
from autograder.grading.gradebook.book import open_gradebook
from autograder.results import export
from autograder.workspace import GRADEBOOK, VARIABLE
from tests.grading.gradebook.submissions import submission
from tests.grading.toy_chapter import CHAPTER, NOTEBOOK, SHORT, SOLVED, STEM


def test_nbgraders_formgrader_sees_the_class(space, enter):
    from nbgrader.apps.api import NbGraderAPI

    enter("ada")
    enter("bob", answered=False, double=0.0)
    for student in ("ada", "bob"):
        # nbgrader counts as graded what was handed in at the time that the gradebook holds.
        folder = space.submitted(CHAPTER, student)
        folder.mkdir(parents=True)
        (folder / "timestamp.txt").write_text("2026-09-01 10:00:00 UTC\n")
        autograded.write(space, submission(student), {STEM: "{}"})
    api = NbGraderAPI(config=space.nbgrader_config())
    rows = {row["student"]: row for row in api.get_submissions(CHAPTER)}
    assert {name: (row["score"], row["max_score"]) for name, row in rows.items()} == {
        "ada": (5.0, 7.0),
        "bob": (2.0, 7.0),
    }
    assert rows["ada"]["autograded"] and rows["ada"]["needs_manual_grade"]
    assert not rows["bob"]["needs_manual_grade"]
    pages = {row["student"]: row for row in api.get_notebook_submissions(CHAPTER, STEM)}
    assert pages["bob"]["failed_tests"] and not pages["ada"]["failed_tests"]
    assert {row["id"]: row["score"] for row in api.get_students()} == {"ada": 5.0, "bob": 2.0}


def test_nbgraders_own_commands_find_the_gradebook(space, enter, project):
    enter("ada")
    config = shutil.copytree(project, space.folder / "course")
    shutil.copy(ROOT / "nbgrader_config.py", config)
    command = [sys.executable, "-m", "nbgrader", "db", "student", "list"]
    environ = dict(os.environ, **{VARIABLE: str(space.folder), GRADEBOOK: space.gradebook_url})
    done = subprocess.run(command, cwd=config, env=environ, capture_output=True, text=True)
    assert done.returncode == 0 and "ada" in done.stdout + done.stderr


@pytest.mark.sandbox
def test_a_chapter_from_grading_to_export_gives_the_same_marks(
    space, notebook, mark, monkeypatch, capsys
):
    """Graded, marked by hand, graded again with a changed text, exported."""

    def hand_in(student, **answers):
        folder = space.submitted(CHAPTER, student)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{STEM}.ipynb").write_text(json.dumps(notebook(**answers)))

    hand_in("ada")
    hand_in("bob", double="def double(x):\n    return x**2", why=None)
    grade.grade_chapter(space, CHAPTER, way=Way(limits=SHORT, jobs=1))
    mark("ada", 1.5)
    mark("bob", 2.5, "check-double", extra=0.25)
    hand_in("ada", why=SOLVED["why"] + " Or so.", scaled=None)
    grade.grade_chapter(space, CHAPTER, way=Way(limits=SHORT, jobs=1))
    with open_gradebook(space) as book:
        waits = {
            row["student"]: row["needs_manual_grade"] for row in book.submission_dicts(CHAPTER)
        }
    assert waits == {"ada": True, "bob": False}
    monkeypatch.setenv(VARIABLE, str(space.folder))
    capsys.readouterr()
    assert export.main([CHAPTER]) == 0
    rows = {row["student"]: row for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    marks = {
        student: [float(row[f"{NOTEBOOK}/{name}"]) for name in ("double", "scaled", "why")]
        for student, row in rows.items()
    }
    assert marks.pop("(maximum)") == [3, 2, 2]
    assert marks == {"ada": [3, 0, 1.5], "bob": [2.75, 2, 0]}

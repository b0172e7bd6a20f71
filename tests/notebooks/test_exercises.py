"""The test of the tests: every exercise against its right and wrong answers, on public and hidden cases."""

import os

import pytest

from autograder import checkdata
from autograder.building import masters, proofs

EXERCISES = [
    (notebook, name)
    for notebook in masters.notebooks()
    for name in checkdata.load_exercises(notebook)
]
# A longer run draws the hidden cases from more keys: KEYS=20 make test ARGS=tests/notebooks.
KEYS = [f"key {number}".encode() for number in range(int(os.environ.get("KEYS", "3")))]


@pytest.mark.parametrize(("notebook", "name"), EXERCISES, ids=lambda v: v)
def test_right_answers_pass_and_wrong_ones_do_not(notebook, name):
    exercise = checkdata.load_exercises(notebook)[name]
    assert [str(finding) for finding in proofs.prove(notebook, exercise, KEYS)] == []


PROJECTS = [notebook for notebook in masters.notebooks() if notebook.endswith("_project")]


@pytest.mark.parametrize("notebook", [n for n in masters.notebooks() if n not in PROJECTS])
def test_a_notebook_covers_every_section_planned_for_it(notebook):
    covered = {section for cell in masters.read(notebook).cells for section in cell.covers}
    planned = {s for s, (_, home) in masters.sections().items() if home == notebook}
    assert planned and planned - covered == set()


@pytest.mark.parametrize("notebook", PROJECTS)
def test_a_project_is_the_last_of_its_chapter_and_judges_what_choices_are_worth(notebook):
    assert max(n for n in masters.notebooks() if n.startswith(notebook.split("/")[0])) == notebook
    kinds = str([e.compare.to_plain() for e in checkdata.load_exercises(notebook).values()])
    assert any(worth in kinds for worth in ("explains", "logloss", "agrees"))
    assert any("written" in cell.metadata for cell in masters.read(notebook).cells)


def test_the_notebooks_are_there():
    assert len(masters.notebooks()) >= 26 and len(EXERCISES) >= 170

"""The formgrader shows a marker the model answer and the rubric of a written answer; students' pages never do."""

import json

import pytest
from nbformat import v4

from autograder.building import masters
from autograder.checkdata import ROOT
from autograder.grading.rubrics import ShowRubric, model_answers

CHAPTER, STEM = "00_start_here", "01_how_this_course_works"
FORMGRADER = {"submission_id": "7", "assignment_id": CHAPTER, "notebook_id": STEM}


@pytest.fixture
def page():
    """An autograded notebook with one written answer."""
    about = {"descent": {"written": "what_accuracy_hides"}}
    cells = [v4.new_markdown_cell("Mine.", metadata=about), v4.new_markdown_cell("## Next")]
    return v4.new_notebook(cells=cells)


def test_the_formgrader_shows_the_rubric_right_after_the_answer(page):
    shown, _ = ShowRubric(enabled=True)(page, dict(FORMGRADER))
    sources = [cell.source for cell in shown.cells]
    assert [len(sources), sources[0], sources[2]] == [3, "Mine.", "## Next"]
    assert "not for the student" in sources[1] and "- 0.5: names evaluation" in sources[1]
    assert masters.BEGIN not in sources[1]


@pytest.mark.parametrize("notebook", ["98_gone", "02_another"])
def test_a_notebook_without_a_model_answer_is_shown_as_it_is(page, notebook):
    before = json.dumps(page)
    shown, _ = ShowRubric(enabled=True)(page, FORMGRADER | {"notebook_id": notebook})
    assert json.dumps(shown) == before


def test_a_page_for_students_passes_unchanged(page):
    before = json.dumps(page)
    resources = {"nbgrader": {"assignment": CHAPTER, "notebook": STEM, "student": "ada"}}
    shown, _ = ShowRubric(enabled=True)(page, resources)
    assert json.dumps(shown) == before


def test_every_written_answer_of_the_course_has_a_rubric_that_no_student_sees():
    found = {
        notebook: model_answers(ROOT / "solutions" / f"{notebook}.ipynb")
        for notebook in masters.notebooks()
    }
    answers = {name: text for told in found.values() for name, text in told.items()}
    assert len(answers) >= 3 and all("**Rubric**" in text for text in answers.values())
    for notebook in found:
        assert "**Rubric**" not in (ROOT / "course" / f"{notebook}.ipynb").read_text()

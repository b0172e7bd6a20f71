"""The formgrader shows a marker the model answer and the rubric of a written answer; students' pages never do."""

import json

import pytest
from nbconvert.filters import markdown2html
from nbformat import v4

from autograder import markers
from autograder.building import masters
from autograder.checkdata import ROOT
from autograder.grading.gradebook.rubrics import Model, ShowRubric, for_marker, model_answers
from autograder.results import formulas, harmless

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
    assert "not for the student" in sources[1] and "<li>0.5: names evaluation" in sources[1]
    assert markers.BEGIN not in sources[1]


def test_formulas_are_drawn_without_the_network_and_in_a_font_for_them():
    shown = for_marker(
        Model("Why?", "Because $\\lVert x\\rVert \\le 1$.\n\n**Rubric**\n\n- 1: says so"), ""
    )
    page = markdown2html(shown)
    assert "<mo>≤</mo>" in page and "$" not in page and "\\" not in page
    assert formulas.STYLE in page and page.count("tex2jax_ignore") == 1
    assert "<li>1: says so</li>" in page


def test_the_question_stands_there_where_the_student_has_overwritten_it():
    model = Model("Is $a<b$?\n\nSay *why*.", "Yes.")
    kept = harmless.markdown(f"{model.question}\n\nBecause.")
    assert "The question, which" not in for_marker(model, kept)
    gone = for_marker(model, harmless.markdown("Because."))
    assert "The question, which" in gone and "Say <em>why</em>." in gone


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
    answers = {name: model for told in found.values() for name, model in told.items()}
    assert len(answers) >= 3 and all("**Rubric**" in model.answer for model in answers.values())
    for notebook in found:
        assert "**Rubric**" not in (ROOT / "course" / f"{notebook}.ipynb").read_text()

"""The table of marks and the instructor's page, from verdicts and a gradebook made here."""

import csv
import io
import re

import pytest

from autograder.grading import verdicts
from autograder.grading.verdicts import Graded, Submission
from autograder.results import export, report
from autograder.workspace import COURSE_ID, VARIABLE, Workspace

# nbgrader's own order of adding rows makes SQLAlchemy warn.
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


@pytest.fixture
def space(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return Workspace(tmp_path)


def graded(exercise, kind, points, mistake="", worked=None):
    return Graded(
        exercise,
        "03_optimisation/01_gradient_descent",
        kind,
        points,
        2.0,
        "evidence",
        mistake=mistake,
        worked=worked,
    )


CLASS = [
    Submission(
        "03_optimisation",
        "ada",
        verdicts=[graded("gd", "full", 2.0, worked=600), graded("step", "full", 2.0)],
    ),
    Submission(
        "03_optimisation",
        "bob",
        verdicts=[
            graded("gd", "wrong", 0.0, "steps uphill", worked=1800),
            graded("step", "full", 2.0),
        ],
    ),
    Submission(
        "03_optimisation",
        "<b>eve</b>",
        verdicts=[graded("gd", "wrong", 0.0, "steps uphill"), graded("step", "timeout", 0.0)],
        look=True,
        notes=["<script>x</script>"],
    ),
]


def test_the_page_tells_what_the_class_did():
    page = report.page("03_optimisation", CLASS)
    assert "Median 2 of 4 points, lowest 0, highest 4." in page
    assert "Hardest: gd, solved by 1 of 3." in page
    assert '<td class="n">2</td><td><code>gd</code></td><td>steps uphill</td>' in page
    assert len(re.findall(r'<img [^>]*alt="[^"]{20,}"', page)) == 2


def test_a_chapter_of_written_answers_alone_has_a_page():
    page = report.page("16_ethics", [Submission("16_ethics", "ada")])
    assert "No exercise is graded automatically." in page


def test_nothing_of_a_student_becomes_markup():
    page = report.page("03_optimisation", CLASS)
    assert "<script" not in page and "<b>eve" not in page and "&lt;b&gt;eve" in page


def test_the_median_time_leaves_out_who_recorded_none():
    (gd,) = [e for e in report.summaries(CLASS) if e["exercise"] == "gd"]
    assert gd["minutes"] == 20 and gd["solved"] == 1 and gd["kinds"] == {"full": 1, "wrong": 2}


def test_the_report_is_written_where_the_workspace_is(space, capsys):
    assert report.main(["03_optimisation"]) == 2
    for submission in CLASS[:2]:
        verdicts.save(space, submission)
    assert report.main(["03_optimisation"]) == 0
    assert (
        (space.folder / "reports" / "03_optimisation.html")
        .read_text()
        .startswith("<!doctype html>")
    )


@pytest.fixture
def book(space):
    from nbgrader.api import Gradebook

    with Gradebook(space.gradebook_url, COURSE_ID) as book:
        book.add_assignment("03_optimisation")
        book.add_notebook("01_gd", "03_optimisation")
        for name in ("check-gd", "why"):
            book.add_grade_cell(name, "01_gd", "03_optimisation", max_score=2, cell_type="code")
        for student in ("ada", "=1+1", 'o"neil, jr'):
            book.add_student(student)
            submission = book.add_submission("03_optimisation", student)
            for grade in submission.notebooks[0].grades:
                grade.auto_score = 1.5 if grade.cell.name == "check-gd" else None
                grade.manual_score = 1.0 if grade.cell.name == "why" else None
        book.db.commit()
    return space


def test_one_column_an_exercise_with_manual_marks(book):
    columns, rows = export.marks(book)
    assert columns == ["03_optimisation/01_gd/gd", "03_optimisation/01_gd/why"]
    assert rows["ada"] == {columns[0]: 1.5, columns[1]: 1.0}


def test_names_survive_a_spreadsheet(book, tmp_path, capsys):
    assert export.main(["--to", "csv", "--output", str(tmp_path / "marks.csv")]) == 0
    lines = list(csv.reader(io.StringIO((tmp_path / "marks.csv").read_text(encoding="utf-8"))))
    assert lines[0][-1] == "total" and all(len(line) == 4 for line in lines)
    assert [line[0] for line in lines[1:]] == ["'=1+1", "ada", 'o"neil, jr']
    assert {line[-1] for line in lines[1:]} == {"2.5"}


def test_without_marks_it_says_what_to_do(space, capsys):
    assert export.main([]) == 2
    assert "autograder grade" in capsys.readouterr().err

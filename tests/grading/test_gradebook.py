"""Verdicts in nbgrader's gradebook, and the notebooks that its formgrader and feedback read."""

import json
import shutil

import pytest

from autograder.grading import rebuild
from autograder.grading.gradebook import Book, BookError
from autograder.grading.verdicts import Graded, Submission, Written
from autograder.workspace import COURSE_ID, Workspace
from tests.grading.toy_chapter import CHAPTER, NOTEBOOK, SOLVED, STEM

# nbgrader builds its rows before it adds them to the session.
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


@pytest.fixture(scope="module")
def empty_book(project, tmp_path_factory):
    """A gradebook that knows the toy chapter: making one takes nbgrader seconds, so it is made once."""
    space = Workspace(tmp_path_factory.mktemp("book"), project)
    with Book(space, CHAPTER):
        pass
    return space.folder / "gradebook.db"


@pytest.fixture
def enter(space, release_cells, empty_book):
    """enter("ada", notebook, double=…) -> enters a submission with these points."""
    space.folder.mkdir()
    shutil.copy(empty_book, space.folder)

    def make(student, content, *, answered=True, **points):
        made = rebuild.rebuild(release_cells, rebuild.read_cells(json.dumps(content).encode())[0])
        verdicts = [
            Graded(
                name,
                NOTEBOOK,
                "full" if value == most else "partial",
                value,
                most,
                "Told.",
                {"a": value == most},
                "a: why",
            )
            for name, most, value in (
                ("double", 3.0, points.get("double", 3.0)),
                ("scaled", 2.0, points.get("scaled", 2.0)),
            )
        ]
        written = [Written("why", NOTEBOOK, 2.0, answered)]
        submission = Submission(
            CHAPTER, student, "2026-09-01 10:00:00 UTC", "x.zip", verdicts, written
        )
        folder = space.submitted(CHAPTER, student)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "timestamp.txt").write_text("2026-09-01 10:00:00 UTC\n")
        with Book(space, CHAPTER) as book:
            book.record(submission, {STEM: made})

    return make


@pytest.fixture
def grades(space):
    """grades("ada") -> name of the cell -> row of the gradebook, as a dict."""
    from nbgrader.api import Gradebook

    def read(student):
        with Gradebook(space.gradebook_url, COURSE_ID) as book:
            page = book.find_submission_notebook(STEM, CHAPTER, student)
            rows = {grade.name: grade.to_dict() | {"score": grade.score} for grade in page.grades}
            return rows | {"needs": page.needs_manual_grade, "max": page.max_score}

    return read


def mark(space, student, score, name="why"):
    """What the formgrader does when a person gives a mark."""
    from nbgrader.api import Gradebook

    with Gradebook(space.gradebook_url, COURSE_ID) as book:
        grade = book.find_grade(name, STEM, CHAPTER, student)
        grade.manual_score = score
        grade.needs_manual_grade = False
        book.db.commit()


def autograded(space, student):
    return json.loads((space.autograded(CHAPTER, student) / f"{STEM}.ipynb").read_text())


def test_scores_are_automatic_and_only_the_written_answer_waits(enter, notebook, grades):
    enter("ada", notebook(), double=1.0)
    rows = grades("ada")
    assert (rows["check-double"]["auto_score"], rows["check-double"]["max_score"]) == (1.0, 3.0)
    assert (
        not rows["check-double"]["needs_manual_grade"]
        and not rows["check-scaled"]["needs_manual_grade"]
    )
    assert rows["why"]["auto_score"] is None and rows["why"]["needs_manual_grade"]
    assert (rows["needs"], rows["max"]) == (True, 7.0)


def test_an_unanswered_written_answer_gets_zero_and_waits_for_nobody(enter, notebook, grades):
    enter("ada", notebook(why=None), answered=False)
    rows = grades("ada")
    assert rows["why"]["auto_score"] == 0.0 and not rows["needs"]


def test_a_manual_mark_survives_a_regrade(space, enter, notebook, grades):
    enter("ada", notebook())
    mark(space, "ada", 1.5)
    enter("ada", notebook(), double=0.0)
    rows = grades("ada")
    assert rows["why"]["manual_score"] == 1.5 and not rows["needs"]
    assert rows["check-double"]["auto_score"] == 0.0


def test_a_manual_mark_on_a_check_still_counts_after_a_regrade(space, enter, notebook, grades):
    enter("ada", notebook(), double=1.0)
    mark(space, "ada", 2.5, "check-double")
    enter("ada", notebook(), double=0.0)
    row = grades("ada")["check-double"]
    assert (row["auto_score"], row["manual_score"], row["score"]) == (0.0, 2.5, 2.5)


def test_a_changed_text_waits_again_and_keeps_its_mark(space, enter, notebook, grades):
    enter("ada", notebook())
    mark(space, "ada", 1.5)
    enter("ada", notebook(why=SOLVED["why"] + " Or so."))
    rows = grades("ada")
    assert rows["why"]["manual_score"] == 1.5 and rows["needs"]


def test_a_due_date_and_a_manual_comment_are_left_alone(space, enter, notebook):
    import datetime

    from nbgrader.api import Gradebook

    enter("ada", notebook())
    with Gradebook(space.gradebook_url, COURSE_ID) as book:
        book.update_or_create_assignment(CHAPTER, duedate="2026-09-02 10:00:00 UTC")
        book.find_comment("why", STEM, CHAPTER, "ada").manual_comment = "Well said."
        book.db.commit()
    enter("ada", notebook())
    with Gradebook(space.gradebook_url, COURSE_ID) as book:
        assert book.find_assignment(CHAPTER).duedate == datetime.datetime(2026, 9, 2, 10)
        assert book.find_comment("why", STEM, CHAPTER, "ada").comment == "Well said."
        assert book.find_submission(CHAPTER, "ada").timestamp == datetime.datetime(2026, 9, 1, 10)


def test_an_answer_left_as_it_was_is_noted(space, enter, notebook):
    from nbgrader.api import Gradebook

    enter("ada", notebook(double=None))
    with Gradebook(space.gradebook_url, COURSE_ID) as book:
        assert book.find_comment("double", STEM, CHAPTER, "ada").comment == "No response."
        assert book.find_comment("scaled", STEM, CHAPTER, "ada").comment is None


def test_the_autograded_notebook_is_valid_and_nbgrader_reads_the_same_points(
    space, enter, notebook
):
    import nbformat
    from nbgrader.utils import compute_checksum, determine_grade

    content = notebook()
    content["cells"].insert(
        1, {"cell_type": "code", "metadata": {}, "outputs": [], "source": "helper = 1"}
    )
    enter("ada", content, double=1.0)
    told = nbformat.from_dict(autograded(space, "ada"))
    nbformat.validate(told)
    checks = {
        c.metadata.nbgrader.grade_id: c
        for c in told.cells
        if c.metadata.get("nbgrader", {}).get("grade")
    }
    assert determine_grade(checks["check-double"]) == (1.0, 3.0)
    assert determine_grade(checks["why"]) == (None, 2.0)
    assert (
        compute_checksum(checks["check-double"])
        == checks["check-double"].metadata.nbgrader.checksum
    )
    assert [cell.source for cell in told.cells].count("helper = 1") == 1


def test_nothing_that_the_student_put_out_is_in_the_autograded_notebook(space, enter, notebook):
    content = notebook()
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            html = {"text/html": "<script>steal()</script>"}
            cell["outputs"] = [{"output_type": "display_data", "data": html, "metadata": {}}]
    content["cells"].insert(
        0,
        {
            "cell_type": "code",
            "metadata": {"tags": ["x"]},
            "outputs": content["cells"][1]["outputs"],
            "source": "x = 1",
        },
    )
    enter("ada", content)
    assert "steal" not in json.dumps(autograded(space, "ada"))


def test_nbgraders_own_feedback_accepts_it(space, enter, notebook, monkeypatch):
    from nbgrader.converters import GenerateFeedback
    from nbgrader.coursedir import CourseDirectory

    enter("ada", notebook(), double=1.0)
    config = space.nbgrader_config()
    GenerateFeedback(
        coursedir=CourseDirectory(config=config, assignment_id=CHAPTER), config=config
    ).start()
    page = (space.feedback(CHAPTER, "ada") / f"{STEM}.html").read_text()
    assert "partly right" in page and "1.0" in page


def test_nbgraders_formgrader_sees_the_class(space, enter, notebook):
    from nbgrader.apps.api import NbGraderAPI

    enter("ada", notebook())
    enter("bob", notebook(why=None), answered=False, double=0.0)
    config = space.nbgrader_config()
    api = NbGraderAPI(config=config)
    rows = {row["student"]: row for row in api.get_submissions(CHAPTER)}
    assert {name: (row["score"], row["max_score"]) for name, row in rows.items()} == {
        "ada": (5.0, 7.0),
        "bob": (2.0, 7.0),
    }
    assert (
        rows["ada"]["autograded"]
        and rows["ada"]["needs_manual_grade"]
        and not rows["bob"]["needs_manual_grade"]
    )


def changed_release(space, tmp_path, change):
    project = shutil.copytree(space.project, tmp_path / "changed")
    path = project / "course" / CHAPTER / f"{STEM}.ipynb"
    told = json.loads(path.read_text())
    change(told["cells"])
    path.write_text(json.dumps(told))
    return Workspace(space.folder, project)


def test_a_release_with_one_more_written_answer_is_taken_up(
    space, enter, notebook, tmp_path, grades
):
    def change(cells):
        more = json.loads(json.dumps(next(cell for cell in cells if cell["id"] == "why")))
        more["id"] = more["metadata"]["nbgrader"]["grade_id"] = more["metadata"]["descent"][
            "written"
        ] = "how"
        cells.append(more)

    enter("ada", notebook())
    mark(space, "ada", 1.5)
    with Book(changed_release(space, tmp_path, change), CHAPTER):
        assert grades("ada")["max"] == 9.0 and grades("ada")["why"]["manual_score"] == 1.5


def test_a_release_without_a_marked_answer_is_refused(space, enter, notebook, tmp_path):
    def change(cells):
        cells[:] = [cell for cell in cells if cell["id"] != "why"]

    enter("ada", notebook())
    changed = changed_release(space, tmp_path, change)
    mark(space, "ada", 1.5)
    with pytest.raises(BookError, match="no longer has the cell 'why', which carries manual marks"):
        Book(changed, CHAPTER)
    mark(space, "ada", None)
    with Book(changed, CHAPTER) as book:
        assert [cell.name for cell in book.book.find_notebook(STEM, CHAPTER).grade_cells] == [
            "check-double",
            "check-scaled",
        ]

"""The gradebook where it cannot be used, how it is opened, and the notebooks that nbgrader reads beside it.

What is in it, with both databases: tests/grading/gradebook/.
"""

import json
import os
import subprocess
import sys

import pytest

from autograder.grading.gradebook import pages
from autograder.grading.gradebook.book import Book, BookError
from autograder.grading.jobs import Done
from autograder.grading.rebuilding import rebuild
from autograder.results import export
from autograder.workspace import GRADEBOOK, Workspace
from tests.grading.gradebook.submissions import submission
from tests.grading.toy_chapter import CHAPTER, STEM


@pytest.fixture
def folder(project, tmp_path, monkeypatch):
    """A grading folder without a gradebook."""
    monkeypatch.delenv(GRADEBOOK, raising=False)
    return Workspace(tmp_path / "grading", project)


def test_there_is_a_gradebook_once_there_is_one(folder):
    assert not folder.has_gradebook() and not folder.folder.exists()
    with Book(folder, CHAPTER):
        assert folder.has_gradebook()


UNUSABLE = {
    "another kind": ("mysql://me@host/marks", "a database of the kind 'mysql'"),
    "nobody listens": ("postgresql://me:secret@127.0.0.1:1/marks", "cannot be used: connection"),
    "a folder that is not there": ("sqlite:////no/such/place.db", "unable to open database file"),
}


@pytest.mark.parametrize("what", UNUSABLE)
def test_a_gradebook_that_cannot_be_used_is_told_in_a_sentence_without_its_password(
    folder, monkeypatch, what
):
    url, words = UNUSABLE[what]
    monkeypatch.setenv(GRADEBOOK, url)
    with pytest.raises(BookError, match=words) as caught:
        Book(folder, CHAPTER)
    assert "secret" not in str(caught.value)


def test_a_missing_driver_is_told_with_its_mend(folder, monkeypatch):
    monkeypatch.setenv(GRADEBOOK, "postgresql://me@127.0.0.1:1/marks")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(BookError, match=r"pip install 'psycopg\[binary\]'"):
        folder.has_gradebook()


def test_a_command_that_cannot_reach_the_gradebook_ends_with_2(monkeypatch, capsys):
    from autograder import cli

    monkeypatch.setenv(GRADEBOOK, "postgresql://me:secret@127.0.0.1:1/marks")
    monkeypatch.setattr(export, "main", lambda argv: Workspace(os.devnull).has_gradebook())
    assert cli.main(["export"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("export: the gradebook postgresql://me:***@127.0.0.1:1/marks cannot")


def test_nbgrader_is_imported_without_the_parser_that_takes_half_the_time():
    check = (
        "import sys; from autograder.grading.gradebook import book; book._nbgrader_api();"
        "import nbformat; nbformat.validate(nbformat.v4.new_notebook());"
        "assert 'rfc3987_syntax' not in sys.modules; import rfc3987_syntax"
    )
    subprocess.run([sys.executable, "-c", check], check=True)


def test_new_tables_are_stamped_as_nbgrader_would():
    check = (
        "from nbgrader.api import get_alembic_version as asked; from autograder.grading.gradebook import book;"
        "assert book._tables_version() == asked(), asked()"
    )
    subprocess.run([sys.executable, "-c", check], check=True)


@pytest.fixture
def page(release_cells, released):
    """page(notebook, double=…) -> the autograded notebook as JSON."""

    def make(content, **points):
        made = rebuild.rebuild(release_cells, rebuild.read_cells(json.dumps(content).encode())[0])
        graded = submission("ada", **points).verdicts
        return json.loads(pages.text(made, graded, released["metadata"]))

    return make


def test_the_autograded_notebook_is_valid_and_nbgrader_reads_the_same_points(page, notebook):
    import nbformat
    from nbgrader.utils import compute_checksum, determine_grade

    content = notebook()
    content["cells"].insert(
        1, {"cell_type": "code", "metadata": {}, "outputs": [], "source": "helper = 1"}
    )
    told = nbformat.from_dict(page(content, double=1.0))
    nbformat.validate(told)
    checks = {
        c.metadata.nbgrader.grade_id: c
        for c in told.cells
        if c.metadata.get("nbgrader", {}).get("grade")
    }
    double = checks["check-double"]
    assert determine_grade(double) == (1.0, 3.0)
    assert determine_grade(checks["why"]) == (None, 2.0)
    assert compute_checksum(double) == double.metadata.nbgrader.checksum
    assert [cell.source for cell in told.cells].count("helper = 1") == 1


def test_nothing_that_the_student_put_out_is_in_the_autograded_notebook(page, notebook):
    content = notebook()
    html = {"text/html": "<script>steal()</script>"}
    output = {"output_type": "display_data", "data": html, "metadata": {}}
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = [output]
    added = {"cell_type": "code", "metadata": {"tags": ["x"]}, "outputs": [output], "source": "x=1"}
    content["cells"].insert(0, added)
    assert "steal" not in json.dumps(page(content))


def test_nbgraders_own_feedback_accepts_it(folder, page, notebook):
    from nbgrader.converters import GenerateFeedback
    from nbgrader.coursedir import CourseDirectory

    told = submission("ada", double=1.0)
    with Book(folder, CHAPTER) as book:
        book.record(Done(told, {}))
    pages.write(folder, told, {STEM: json.dumps(page(notebook(), double=1.0))})
    config = folder.nbgrader_config()
    course = CourseDirectory(config=config, assignment_id=CHAPTER)
    GenerateFeedback(coursedir=course, config=config).start()
    text = (folder.feedback(CHAPTER, "ada") / f"{STEM}.html").read_text()
    assert "partly right" in text and "1.0" in text

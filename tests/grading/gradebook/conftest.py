"""A gradebook that knows the toy chapter, in SQLite and in PostgreSQL: every test here runs with both."""

import contextlib

import pytest
import sqlalchemy

from autograder.grading.gradebook import rows as gradebook_rows
from autograder.grading.gradebook.book import Book, open_gradebook
from autograder.grading.jobs import Done
from autograder.workspace import GRADEBOOK, Workspace
from tests.grading import postgres
from tests.grading.gradebook.submissions import submission
from tests.grading.toy_chapter import CHAPTER, STEM

DATABASES = ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]


@pytest.fixture(scope="session", params=DATABASES)
def known(request, project, tmp_path_factory):
    """(URL, rows by table) of a gradebook that knows the toy chapter and nobody. Making one takes a second."""
    space = Workspace(tmp_path_factory.mktemp("book"), project)
    with contextlib.ExitStack() as stack:
        url = f"sqlite:///{space.folder}/gradebook.db"
        if request.param == "postgresql":
            url = stack.enter_context(postgres.server())("marks")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(GRADEBOOK, url)
            with Book(space, CHAPTER) as book, book.book.engine.connect() as connection:
                rows = {t: connection.execute(t.select()).mappings().all() for t in _tables()}
        yield url, rows


def _tables():
    from nbgrader.api import Base

    return [*Base.metadata.sorted_tables, gradebook_rows._answers]


@pytest.fixture
def space(project, tmp_path, known, monkeypatch):
    """A grading folder on the toy chapter, and a gradebook that knows nobody, in one database and the other."""
    url, rows = known
    monkeypatch.setenv(GRADEBOOK, url)
    engine = sqlalchemy.create_engine(url)
    with engine.begin() as connection:
        for table in reversed(_tables()):
            connection.execute(table.delete())
        for table in filter(rows.get, _tables()):
            connection.execute(table.insert(), [dict(row) for row in rows[table]])
    engine.dispose()
    return Workspace(tmp_path / "grading", project)


@pytest.fixture
def enter(space):
    """enter("ada", double=1.0) -> enters a submission with these points."""

    def make(student, **told):
        with Book(space, CHAPTER) as book:
            book.record(Done(submission(student, **told), {}))

    return make


@pytest.fixture
def grades(space):
    """grades("ada") -> name of the cell -> row of the gradebook, as a dict."""

    def read(student):
        with open_gradebook(space) as book:
            page = book.find_submission_notebook(STEM, CHAPTER, student)
            rows = {grade.name: grade.to_dict() | {"score": grade.score} for grade in page.grades}
            return rows | {"needs": page.needs_manual_grade, "max": page.max_score}

    return read


@pytest.fixture
def mark(space):
    """mark("ada", 1.5) -> what the formgrader does when a person gives a mark."""

    def give(student, score, name="why", extra=None):
        with open_gradebook(space) as book:
            row = book.find_grade(name, STEM, CHAPTER, student)
            row.manual_score, row.extra_credit = score, extra
            row.needs_manual_grade = score is None and row.auto_score is None
            book.db.commit()

    return give

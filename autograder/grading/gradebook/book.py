"""Verdicts into nbgrader's gradebook, where the formgrader, manual marks and nbgrader's own tools find them.

Only automatic scores are written. A manual mark, a comment or an extension of a person is never touched, not even one
that is given while a class is being entered.
"""

import sys

from autograder.grading.jobs import Done
from autograder.grading.verdicts import Submission
from autograder.handins import names
from autograder.workspace import COURSE_ID, BookError, Workspace

__all__ = ["Book", "BookError", "open_gradebook"]

AT_A_TIME = 500  # submissions a statement; far below the number of parameters that databases take


class Book:
    """The gradebook, opened for one chapter. Entering the release makes its cells known.

    It may be opened in one thread and used in another. Importing nbgrader takes a second.
    """

    def __init__(self, space: Workspace, chapter: str):
        self.space, self.chapter = space, chapter
        self.queued: dict[str, Submission] = {}
        self.book = open_gradebook(space)
        try:
            self.places = self._enter_release()
        except BaseException:
            self.book.close()
            raise

    def _enter_release(self):
        from sqlalchemy.orm import Session

        from autograder.grading.gradebook import release, rows

        files = self.space.release(self.chapter)
        with self.space.book_errors(), Session(self.book.engine) as session, session.begin():
            rows.make_own_table(session.connection())
            return release.enter(session, self.chapter, files)

    def record(self, done: Done) -> None:
        """Queue one submission; the next commit enters its scores and "no response" notes."""
        self.queued[done.submission.student] = done.submission

    def commit(self) -> None:
        """Enter all that is queued, in one transaction. After a BookError it is still queued."""
        from autograder.grading.gradebook import rows

        waiting = list(self.queued.values())
        if not waiting:
            return
        told = names.read(self.space)
        with self.space.book_errors(), self.book.engine.begin() as connection:
            for start in range(0, len(waiting), AT_A_TIME):
                some = waiting[start : start + AT_A_TIME]
                rows.enter(connection, self.chapter, self.places, some, told)
        self.queued.clear()

    def close(self) -> None:
        """Enter what is still queued, and let the database go."""
        try:
            self.commit()
        finally:
            self.book.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def open_gradebook(space: Workspace):
    """nbgrader's own `Gradebook`, with its tables made where there are none. Raises BookError."""
    api = _nbgrader_api()
    api.get_alembic_version = _tables_version
    if space.gradebook_url.startswith("sqlite:"):
        space.folder.mkdir(parents=True, exist_ok=True)
    with space.book_errors():
        return api.Gradebook(space.gradebook_url, COURSE_ID)


def _tables_version() -> str:
    """The version that a new database's tables have. nbgrader starts a process to ask, which takes two seconds."""
    from alembic.script import ScriptDirectory
    from nbgrader.dbutil import ALEMBIC_DIR

    return ScriptDirectory(ALEMBIC_DIR).get_current_head()


def _nbgrader_api():
    """nbgrader.api, imported in half its time.

    jsonschema, which it brings, builds a parser of IRIs while it is imported, where that package is there. Nothing
    that is graded with holds an IRI.
    """
    name = "rfc3987_syntax"
    hidden = name not in sys.modules
    if hidden:
        sys.modules[name] = None  # an import of it fails, which jsonschema allows for
    try:
        from nbgrader import api
    finally:
        if hidden:
            del sys.modules[name]
    return api

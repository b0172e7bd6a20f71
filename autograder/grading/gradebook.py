"""Verdicts into nbgrader's gradebook, where the formgrader, manual marks and nbgrader's own tools find them.

Only automatic scores are written. A manual mark, a comment or an extension of a person is never touched.
"""

import json
import os
import shutil
import sys
from pathlib import Path

from autograder.grading import gradebook_pages, rebuild
from autograder.grading.verdicts import Submission
from autograder.workspace import COURSE_ID, Workspace


class BookError(RuntimeError):
    """The gradebook cannot take this chapter; str() says why and what to do."""


class Book:
    """The gradebook, opened for one chapter. Entering the release makes its cells known."""

    def __init__(self, space: Workspace, chapter: str):
        # nbgrader calls alembic by name when it makes a database.
        os.environ["PATH"] = (
            f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        )
        from nbgrader.api import Gradebook

        self.space, self.chapter = space, chapter
        space.folder.mkdir(parents=True, exist_ok=True)
        self.book = Gradebook(space.gradebook_url, COURSE_ID)
        self.texts: dict[str, dict[str, str]] = {}
        self.book.update_or_create_assignment(chapter)
        for stem, path in space.release(chapter).items():
            self._enter(stem, path)

    def _enter(self, stem: str, path: Path) -> None:
        """Make a released notebook known: its graded, its answer and its locked cells."""
        told = json.loads(path.read_text(encoding="utf-8"))
        kernel = json.dumps(told["metadata"].get("kernelspec", {}))
        self.book.update_or_create_notebook(stem, self.chapter, kernelspec=kernel)
        names: set[str] = set()
        for cell in rebuild.read_cells(path.read_bytes())[0]:
            if cell.grade_id:
                names.add(cell.grade_id)
                self._enter_cell(stem, cell)
        self._drop_stale(stem, names)

    def _enter_cell(self, stem, cell):
        about, place = cell.metadata["nbgrader"], (cell.grade_id, stem, self.chapter)
        if about["grade"]:
            self.book.update_or_create_grade_cell(
                *place, max_score=float(about["points"]), cell_type=cell.kind
            )
        if about["solution"]:
            self.book.update_or_create_solution_cell(*place)
        locked = about["locked"] or (about["grade"] and not about["solution"])
        self.book.update_or_create_source_cell(
            *place,
            cell_type=cell.kind,
            locked=locked,
            source=cell.source,
            checksum=about.get("checksum"),
        )

    def _drop_stale(self, stem, names):
        """Forget cells that the release no longer has. Raises BookError where one carries a manual mark."""
        notebook = self.book.find_notebook(stem, self.chapter)
        stale = [
            c for c in [*notebook.grade_cells, *notebook.solution_cells] if c.name not in names
        ]
        marked = [c.name for c in stale for g in c.grades or [] if g.manual_score is not None]
        if marked:
            raise BookError(
                f"{self.chapter}/{stem} no longer has the cell {marked[0]!r}, which carries manual marks. Export them "
                "(autograder export), remove them in the formgrader, then grade again."
            )
        for cell in stale:
            for row in [*(cell.grades or []), *(cell.comments or [])]:
                self.book.db.delete(row)
            self.book.db.delete(cell)
        for cell in notebook.source_cells:
            if cell.name not in names:
                self.book.db.delete(cell)
        self.book.db.commit()

    def record(self, submission: Submission, notebooks: dict[str, rebuild.Rebuilt]) -> None:
        """Enter one submission: scores, "no response" notes, and the autograded notebooks."""
        student = submission.student
        self.book.update_or_create_student(student)
        told = {"timestamp": submission.submitted} if submission.submitted else {}
        with self.book.db.no_autoflush:  # nbgrader builds the rows before it adds them
            entered = self.book.update_or_create_submission(self.chapter, student, **told)
        pages = {page.name: page for page in entered.notebooks}
        for stem, made in notebooks.items():
            page = pages.get(stem) or self._new_page(entered, stem)
            before = self._texts_before(student, stem)
            self._scores(page, submission, stem)
            self._written(page, submission, made, stem, before)
            self._comments(page, made)
            graded = submission.of_notebook(f"{self.chapter}/{stem}")
            gradebook_pages.write(self.space, self.chapter, student, stem, made, graded)
        self.book.db.commit()
        stamp = self.space.submitted(self.chapter, student) / "timestamp.txt"
        if stamp.exists():
            shutil.copy(stamp, self.space.autograded(self.chapter, student))

    def _new_page(self, entered, stem):
        from nbgrader.api import SubmittedNotebook

        page = SubmittedNotebook(
            notebook=self.book.find_notebook(stem, self.chapter), assignment=entered
        )
        self.book.db.add(page)
        return page

    def _grade(self, page, name):
        """The row of a graded cell, made where the cell is newer than the submission."""
        from nbgrader.api import Grade

        for grade in page.grades:
            if grade.cell.name == name:
                return grade
        cell = next(cell for cell in page.notebook.grade_cells if cell.name == name)
        grade = Grade(cell=cell, notebook=page)
        self.book.db.add(grade)
        return grade

    def _scores(self, page, submission, stem):
        for verdict in submission.of_notebook(f"{self.chapter}/{stem}"):
            grade = self._grade(page, f"check-{verdict.exercise}")
            grade.auto_score = verdict.points
            grade.needs_manual_grade = False

    def _written(self, page, submission, made, stem, before):
        """A written answer waits for a person; again when its text changed since it was marked."""
        now = {p.name: gradebook_pages.shown(p)[1] for p in made.parts if p.role == "written"}
        for written in submission.written:
            if written.notebook != f"{self.chapter}/{stem}":
                continue
            grade = self._grade(page, written.name)
            grade.auto_score = None if written.answered else 0.0
            if grade.manual_score is None:
                grade.needs_manual_grade = written.answered
            elif before.get(written.name) != now.get(written.name):
                grade.needs_manual_grade = True

    def _texts_before(self, student, stem) -> dict[str, str]:
        """The written answers as they were when this was last graded."""
        path = self.space.autograded(self.chapter, student) / f"{stem}.ipynb"
        if not path.exists():
            return {}
        cells = rebuild.read_cells(path.read_bytes())[0]
        return {c.about("written"): c.source for c in cells if c.about("written")}

    def _comments(self, page, made):
        """nbgrader's own note on an answer that was left as it was."""
        from nbgrader.api import Comment

        comments = {comment.cell.name: comment for comment in page.comments}
        for cell in page.notebook.solution_cells:
            if cell.name not in comments:
                comments[cell.name] = Comment(cell=cell, notebook=page)
                self.book.db.add(comments[cell.name])
        for name, comment in comments.items():
            empty = name in made.untouched or not made.how.get(name)
            comment.auto_comment = "No response." if empty else None

    def close(self) -> None:
        self.book.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

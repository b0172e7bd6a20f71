"""Feedback pages, with nothing of a student's that runs and no hidden value: `autograder feedback CHAPTER`.

They lie in grading/feedback/STUDENT/CHAPTER/, where nbgrader's `release_feedback` takes them from. Marks and
comments are the gradebook's, manual ones included. The pages need no network: they carry no script, and a
content-security policy that forbids whatever could get in.
"""

import argparse
import json
import shutil
import sys

from autograder.grading.gradebook import open_gradebook
from autograder.results import feedback_page
from autograder.results.feedback_page import Mark, Marks
from autograder.workspace import Workspace, workspace, write_text


def main(argv: list[str] | None = None) -> int:
    """Status 0: written. 1: some student's pages could not be written, named. 2: nothing is graded."""
    parser = argparse.ArgumentParser(prog="autograder feedback", description=__doc__)
    parser.add_argument("chapter", help="for example 03_optimisation")
    parser.add_argument("--student", action="append", help="only this one; may be repeated")
    arguments = parser.parse_args(argv)
    space = workspace()
    students = [
        student
        for student in graded_students(space, arguments.chapter)
        if not arguments.student or student in arguments.student
    ]
    if not students:
        print(
            f"feedback: nobody is graded in {arguments.chapter}: run `autograder grade {arguments.chapter}`.",
            file=sys.stderr,
        )
        return 2
    failed = write_pages(space, arguments.chapter, students)
    print(f"Feedback of {len(students) - len(failed)} students is in {space.folder / 'feedback'}.")
    for student, reason in failed.items():
        print(
            f"feedback: the pages of {student} could not be written ({reason}); grade this student again.",
            file=sys.stderr,
        )
    return 1 if failed else 0


def graded_students(space: Workspace, chapter: str) -> list[str]:
    """Who has an autograded notebook of the chapter, in order."""
    found = (space.folder / "autograded").glob(f"*/{chapter}/*.ipynb")
    return sorted({path.parent.parent.name for path in found})


def write_pages(space: Workspace, chapter: str, students: list[str]) -> dict[str, str]:
    """Write the pages of some students anew -> those whose pages could not be written, and why."""
    known = marks(space, chapter, students)
    failed = {}
    for student in students:
        try:
            _write_student(space, chapter, student, known)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            # An autograded notebook that somebody changed by hand may hold anything.
            failed[student] = f"{type(error).__name__}: {error}"
    return failed


def _write_student(space, chapter, student, known):
    folder = space.feedback(chapter, student)
    for path in sorted(space.autograded(chapter, student).glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        if (student, path.stem) not in known:
            raise ValueError(f"the gradebook does not know {path.stem}")
        made = feedback_page.page(
            notebook, f"{chapter}/{path.stem}", student, known[student, path.stem]
        )
        write_text(folder / f"{path.stem}.html", made)
    stamp = space.autograded(chapter, student) / "timestamp.txt"
    if stamp.exists():
        shutil.copy(stamp, folder)  # nbgrader reads from it which hand-in a feedback is of


def marks(space: Workspace, chapter: str, students: list[str]) -> dict[tuple[str, str], Marks]:
    """(student, notebook) -> what the gradebook knows of it, in a few queries for the whole class."""
    from nbgrader import api

    wanted = set(students)
    with open_gradebook(space) as book:
        pages = (
            book.db.query(api.SubmittedNotebook, api.Student.id, api.Notebook.name)
            .join(api.SubmittedNotebook.notebook)
            .join(api.SubmittedNotebook.assignment)
            .join(api.SubmittedAssignment.student)
            .join(api.SubmittedAssignment.assignment)
            .filter(api.Assignment.name == chapter)
        )
        found, by_id = {}, {}
        for page, student, stem in pages:
            if student in wanted:
                by_id[page.id] = found[student, stem] = Marks(
                    penalty=page.late_submission_penalty or 0.0
                )
        _add_grades(book, api, chapter, by_id)
        _add_comments(book, api, chapter, by_id)
    return found


def _add_grades(book, api, chapter, by_id):
    for cells in (api.GradeCell, api.TaskCell):
        rows = (
            book.db.query(
                api.Grade.notebook_id, cells.name, api.Grade.score, cells.max_score,
                api.Grade.needs_manual_grade,
            )
            .join(cells, api.Grade.cell_id == cells.id)
            .join(api.Notebook, cells.notebook_id == api.Notebook.id)
            .join(api.Notebook.assignment)
            .filter(api.Assignment.name == chapter)
        )  # fmt: skip
        for page, name, score, max_score, waits in rows:
            if page in by_id:
                by_id[page].marks[name] = Mark(round(score or 0.0, 2), max_score, bool(waits))


def _add_comments(book, api, chapter, by_id):
    rows = (
        book.db.query(api.Comment.notebook_id, api.BaseCell.name, api.Comment.comment)
        .join(api.BaseCell, api.Comment.cell_id == api.BaseCell.id)
        .join(api.Notebook, api.BaseCell.notebook_id == api.Notebook.id)
        .join(api.Notebook.assignment)
        .filter(api.Assignment.name == chapter)
    )
    for page, name, comment in rows:
        if page in by_id and comment:
            by_id[page].comments[name] = comment

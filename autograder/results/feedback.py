"""Feedback pages, with nothing of a student's that runs and no hidden value: `autograder feedback CHAPTER`.

They lie in grading/feedback/STUDENT/CHAPTER/, index.html first, where nbgrader's `release_feedback` takes them from.
Marks and comments are the gradebook's, manual ones included. The pages need no network: they carry no script, and a
content-security policy that forbids whatever could get in.
"""

import argparse
import contextlib
import json
import shutil
import sys

from autograder.grading import verdicts
from autograder.grading.gradebook.book import open_gradebook
from autograder.handins import policy
from autograder.handins.policy import PolicyError
from autograder.results import feedback_page, pages
from autograder.results import marks as reading
from autograder.results.feedback_page import Mark, Marks
from autograder.workspace import Workspace, nearest_first, workspace, write_text
from descent.cards import points_text

FIRST = "index.html"  # the page of the chapter, beside those of its notebooks


class FeedbackError(ValueError):
    """There is nobody to write pages for; str() says why and what to do."""


def main(argv: list[str] | None = None) -> int:
    """Status 0: written. 1: some student's pages could not be written, named. 2: nobody to write for, or no way to."""
    parser = argparse.ArgumentParser(prog="autograder feedback", description=__doc__)
    parser.add_argument("chapter", help="for example 03_optimisation")
    parser.add_argument(
        "--student", nargs="+", action="extend", metavar="ID", help="only these students"
    )
    arguments = parser.parse_args(argv)
    space, chapter = workspace(), arguments.chapter
    students = arguments.student or graded_students(space, chapter)
    try:
        _require(space, chapter, arguments.student or [])
        failed = write_pages(space, chapter, students)
    except (FeedbackError, PolicyError) as error:
        print(f"feedback: {error}", file=sys.stderr)
        return 2
    written = pages.counted(len(students) - len(failed), "student")
    print(f"Feedback of {written} is in {space.folder / 'feedback'}.")
    for student, reason in failed.items():
        print(
            f"feedback: the pages of {student} could not be written ({reason}); grade this student again.",
            file=sys.stderr,
        )
    return 1 if failed else 0


def _require(space, chapter, asked) -> None:
    """Raises FeedbackError where nobody is graded, or somebody who is asked for is not."""
    students = graded_students(space, chapter)
    if not students:
        raise FeedbackError(pages.nobody(space, chapter))
    for student in asked:
        if student not in students:
            there = nearest_first(student, students)
            raise FeedbackError(f"{student!r} is not graded in {chapter}. There are: {there}.")


def graded_students(space: Workspace, chapter: str) -> list[str]:
    """Who has an autograded notebook of the chapter, in order."""
    found = (space.folder / "autograded").glob(f"*/{chapter}/*.ipynb")
    return sorted({path.parent.parent.name for path in found})


def write_pages(space: Workspace, chapter: str, students: list[str]) -> dict[str, str]:
    """Write the pages of some students anew -> those whose pages could not be written, and why.

    Raises PolicyError where policy.toml cannot be followed.
    """
    known = marks(space, chapter, students)
    _add_policy(space, chapter, known)
    failed = {}
    for student in students:
        try:
            _write_student(space, chapter, student, known)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            # An autograded notebook that somebody changed by hand may hold anything.
            failed[student] = f"{type(error).__name__}: {error}"
    return failed


def _write_student(space, chapter, student, known):
    folder, notebooks, told = space.feedback(chapter, student), [], ""
    judged = _verdicts(space, chapter, student)
    for path in sorted(space.autograded(chapter, student).glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        if (student, path.stem) not in known:
            raise ValueError(f"the gradebook does not know {path.stem}")
        mine, told = known[student, path.stem], known[student, path.stem].chapter
        title, file = feedback_page.title(notebook, path.stem), f"{path.stem}.html"
        cells = feedback_page.cells(notebook, mine)
        rows = feedback_page.rows(cells, mine, judged.get(f"{chapter}/{path.stem}", {}))
        notebooks.append({"file": file, "title": title, "rows": rows})
        write_text(folder / file, feedback_page.page(cells, rows, title, student, mine))
    title = _chapter_title(space, chapter)
    write_text(folder / FIRST, feedback_page.first_page(title, student, told, notebooks))
    stamp = space.autograded(chapter, student) / "timestamp.txt"
    if stamp.exists():
        shutil.copy(stamp, folder)  # nbgrader reads from it which hand-in a feedback is of


def _verdicts(space, chapter, student) -> dict[str, dict[str, verdicts.Graded]]:
    """Notebook -> exercise -> what became of it; nothing of who was graded by nbgrader itself."""
    found: dict[str, dict] = {}
    with contextlib.suppress(FileNotFoundError):
        for verdict in verdicts.load(space, chapter, student).verdicts:
            found.setdefault(verdict.notebook, {})[verdict.exercise] = verdict
    return found


def _chapter_title(space, chapter) -> str:
    """As the chapter's page is headed; its name, where it has none."""
    with contextlib.suppress(OSError):
        page = (space.project / "course" / chapter / "README.md").read_text(encoding="utf-8")
        if page.startswith("# "):
            return page[2:].split("\n")[0]
    return chapter


def marks(space: Workspace, chapter: str, students: list[str]) -> dict[tuple[str, str], Marks]:
    """(student, notebook) -> what the gradebook knows of it, in a few queries for the whole class."""
    from nbgrader import api

    wanted = set(students)
    with open_gradebook(space) as book:
        rows = (
            book.db.query(api.SubmittedNotebook, api.Student.id, api.Notebook.name)
            .join(api.SubmittedNotebook.notebook)
            .join(api.SubmittedNotebook.assignment)
            .join(api.SubmittedAssignment.student)
            .join(api.SubmittedAssignment.assignment)
            .filter(api.Assignment.name == chapter)
        )
        found, by_id = {}, {}
        for page, student, stem in rows:
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


def _add_policy(space, chapter, known) -> None:
    """Put in what `export` will make of the marks: what the chapter counts, lateness, what is dropped."""
    rules = policy.load(space)
    # Who has extra time need not have handed in.
    counted = reading.read(space, [chapter], rules, students=rules.extra)
    words = {mark.student: chapter_words(mark) for mark in counted.rows}
    dropped = policy.uncounted(space, chapter, rules)
    for (student, stem), told in known.items():
        told.chapter = words.get(student, "")
        told.dropped = _of_notebook(dropped, f"{chapter}/{stem}/")
        told.deeper = _of_notebook(counted.deeper, f"{chapter}/{stem}/")


def _of_notebook(names, place) -> set[str]:
    return {name.removeprefix(place) for name in names if name.startswith(place)}


def chapter_words(mark: reading.Mark) -> str:
    """What a student's chapter comes to, with what will be taken off for lateness."""
    words = f"The chapter: {points_text(mark.before)} of {points_text(mark.worth)} points"
    if mark.waiting:
        words += f" so far; {pages.counted(mark.waiting, 'written answer')} not marked yet"
    late = f"{pages.counted(mark.days_late, 'day')} late" if mark.days_late else ""
    if mark.penalty:
        off = f"-{points_text(mark.penalty)} at export, which leaves {points_text(mark.after)}"
        late = f"{late or 'Late'}: {off}"
    return f"{words}. {late}." if late else f"{words}."

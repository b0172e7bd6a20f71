"""The marks as a table, one row a student and one column an exercise: `autograder export --to csv`."""

import argparse
import csv
import io
import sys
from pathlib import Path

from autograder.workspace import COURSE_ID, Workspace, workspace


def main(argv: list[str] | None = None) -> int:
    """Status 0: written. 2: there is nothing to export."""
    parser = argparse.ArgumentParser(prog="autograder export", description=__doc__)
    parser.add_argument("chapter", nargs="*", help="only these chapters; all without")
    parser.add_argument("--to", choices=["csv"], default="csv")
    parser.add_argument("--output", type=Path, help="a file; the standard output without")
    arguments = parser.parse_args(argv)
    columns, rows = marks(workspace(), arguments.chapter)
    if not rows:
        print(
            "export: the gradebook holds no marks: run `autograder grade CHAPTER` first.",
            file=sys.stderr,
        )
        return 2
    text = table(columns, rows)
    if arguments.output:
        arguments.output.write_text(text, encoding="utf-8", newline="")
        print(f"{len(rows)} students, {len(columns)} columns: {arguments.output}")
    else:
        sys.stdout.write(text)
    return 0


def marks(
    space: Workspace, chapters: list[str] = ()
) -> tuple[list[str], dict[str, dict[str, float]]]:
    """(columns "chapter/notebook/exercise", student -> column -> score), as the gradebook has them.

    Manual marks count, late penalties have a column of their own.
    """
    from nbgrader.api import Gradebook

    columns: list[str] = []
    rows: dict[str, dict[str, float]] = {}
    if not (space.folder / "gradebook.db").exists():
        return columns, rows
    with Gradebook(space.gradebook_url, COURSE_ID) as book:
        for assignment in book.assignments:
            if chapters and assignment.name not in chapters:
                continue
            for notebook in assignment.notebooks:
                columns += [_column(assignment, notebook, cell) for cell in notebook.grade_cells]
            for submission in assignment.submissions:
                row = rows.setdefault(submission.student.id, {})
                row |= _scores(assignment, submission)
    return sorted(columns), rows


def _column(assignment, notebook, cell) -> str:
    return f"{assignment.name}/{notebook.name}/{cell.name.removeprefix('check-')}"


def _scores(assignment, submission) -> dict[str, float]:
    found = {}
    for notebook in submission.notebooks:
        for grade in notebook.grades:
            found[_column(assignment, notebook, grade.cell)] = round(grade.score, 2)
    if submission.late_submission_penalty:
        found["late penalty"] = -round(submission.late_submission_penalty, 2)
    return found


def table(columns: list[str], rows: dict[str, dict[str, float]]) -> str:
    """CSV text: header, then a row a student with the sum last; no cell that a spreadsheet computes."""
    extra = ["late penalty"] if any("late penalty" in row for row in rows.values()) else []
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["student", *columns, *extra, "total"])
    for student in sorted(rows):
        values = [rows[student].get(column, "") for column in columns + extra]
        total = round(sum(value for value in values if value != ""), 2)
        writer.writerow([_safe(student), *values, total])
    return text.getvalue()


def _safe(text: str) -> str:
    return f"'{text}" if text[:1] in "=+-@\t\r" else text

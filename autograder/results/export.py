"""The marks as a table: `autograder export [CHAPTER…] --to csv|canvas|moodle [--roster FILE] [--output FILE]`.

csv: a row a student, a column an exercise. canvas, moodle: what these import, for one chapter. FILE of --roster is
Canvas's export of its gradebook, Moodle's grading worksheet, or another table with e-mail addresses or ids.
Deadlines, extra time, late days and dropped exercises of grading/policy.toml are applied here, and nowhere else.
"""

import argparse
import sys
from pathlib import Path

from autograder.handins import policy, roster
from autograder.handins.policy import PolicyError
from autograder.handins.roster import RosterError
from autograder.results import lms_tables
from autograder.results import marks as reading
from autograder.results.lms_tables import Table, TableError
from autograder.results.marks import Marks
from autograder.workspace import Workspace, workspace


def main(argv: list[str] | None = None) -> int:
    """Status 0: written. 1: written, with something to look at first. 2: there is nothing to export, or no way to."""
    parser = argparse.ArgumentParser(prog="autograder export", description=__doc__.split("\n\n")[0])
    parser.add_argument("chapter", nargs="*", help="only these chapters; all without")
    parser.add_argument("--to", choices=["csv", "canvas", "moodle"], default="csv")
    parser.add_argument("--roster", type=Path, help="a CSV file of the class, from the LMS")
    parser.add_argument("--output", type=Path, help="a file; the standard output without")
    arguments = parser.parse_args(argv)
    try:
        found = export(workspace(), arguments.chapter, arguments.to, arguments.roster)
        _write(found, arguments.output)
    except (PolicyError, RosterError, TableError) as error:
        print(f"export: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"export: {arguments.output} cannot be written ({error.strerror}).", file=sys.stderr)
        return 2
    for note in found.notes:
        print(f"export: {note}.", file=sys.stderr)
    return 1 if found.notes else 0


def _write(found: Table, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(found.text)
        return
    output.write_text(found.text, encoding="utf-8", newline="")
    print(f"written: {output}")


def export(space: Workspace, chapters: list[str], to: str, roster_file: Path | None) -> Table:
    """The table. Raises PolicyError, RosterError, TableError when it cannot be made."""
    rules = policy.load(space)
    known = roster.read(roster_file) if roster_file else None
    found = reading.read(
        space, chapters, rules, [student.id for student in known.students] if known else []
    )
    if not found.rows:
        raise TableError("the gradebook holds no marks: run `autograder grade CHAPTER` first.")
    made = _table(found, to, known)
    made.notes += [f"{mark.student}: {note}" for mark in found.rows for note in mark.notes]
    waiting = sum(bool(mark.waiting) for mark in found.rows)
    if waiting:  # while marking goes on that is how it is, and no reason for another status
        words = "submissions with written answers that nobody has marked, 0 points so far"
        print(f"export: {words}: {waiting}.", file=sys.stderr)
    return made


def _table(found: Marks, to: str, known) -> Table:
    if to == "csv":
        return Table(lms_tables.csv_text(table(found)))
    if len(found.worth) != 1:
        raise TableError(f"name one chapter: {to} imports one assignment at a time")
    if to == "moodle":
        return lms_tables.moodle(found, known)
    if known is None:
        raise TableError("Canvas knows students by its own numbers: give --roster with its export")
    return lms_tables.canvas(found, known)


def table(found: Marks) -> list[list]:
    """A row a student: the exercises, for each chapter with a deadline what lateness costs, and the total."""
    late = {mark.chapter for mark in found.rows if mark.penalty or mark.days_late}
    titles = ["student"]
    for chapter in found.worth:
        titles += found.columns(chapter)
        titles += [f"{chapter}: {word}" for word in _LATE] if chapter in late else []
    students: dict[str, dict] = {}
    for mark in found.rows:
        students.setdefault(mark.student, {})[mark.chapter] = mark
    rows = [[*titles, "total"]]
    for student, mine in sorted(students.items()):
        cells = [lms_tables.safe(student)]
        for chapter in found.worth:
            cells += _cells(found, chapter, mine.get(chapter), chapter in late)
        rows.append([*cells, round(sum(mark.after for mark in mine.values()), 2)])
    return rows


_LATE = ("before penalty", "days late", "penalty", "after penalty")


def _cells(found, chapter, mark, late) -> list:
    if mark is None:
        return [""] * (len(found.columns(chapter)) + len(_LATE) * late)
    scores = [mark.scores.get(column, "") for column in found.columns(chapter)]
    return scores + ([mark.before, mark.days_late, -mark.penalty or 0, mark.after] if late else [])


def marks(space: Workspace, chapters: list[str] = ()) -> tuple[list[str], dict[str, dict]]:
    """(columns "chapter/notebook/exercise", student -> column -> score) as graded, without any policy."""
    found = reading.read(space, list(chapters), policy.Policy())
    columns = sorted(column for chapter in found.worth for column in found.columns(chapter))
    rows: dict[str, dict[str, float]] = {}
    for mark in found.rows:
        rows.setdefault(mark.student, {}).update(mark.scores)
    return columns, rows

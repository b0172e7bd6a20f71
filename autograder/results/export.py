"""The marks as a table: `autograder export [CHAPTER…] --to csv|canvas|moodle [--roster FILE] [--output FILE]`.

csv: a row of maxima, then a row a student, a column an exercise. canvas, moodle: what these import, for one chapter.
FILE of --roster is Canvas's export of its gradebook, Moodle's grading worksheet, or another table with e-mail addresses
or ids.
Deadlines, extra time, late days and dropped exercises of grading/policy.toml are applied here, and nowhere else. With a
roster, whoever handed in nothing is named, and has an empty row in the csv.
"""

import argparse
import sys
from pathlib import Path

from autograder.handins import attempts, policy, roster
from autograder.handins.policy import PolicyError
from autograder.handins.roster import Roster, RosterError
from autograder.results import lms_tables
from autograder.results import marks as reading
from autograder.results.lms_tables import Table, TableError
from autograder.results.marks import Marks
from autograder.workspace import Workspace, nearest_first, workspace


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
    for word in found.words:
        print(f"export: {word}.", file=sys.stderr)
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
    _are_there(space, chapters, found)
    if not found.rows:
        raise TableError("the gradebook holds no marks: run `autograder grade CHAPTER` first.")
    made = _table(found, to, known)
    made.notes += _notes(found)
    made.words += known.notes if known else []
    made.words += _nothing(space, found, known) + _waiting(found)
    return made


def _are_there(space, chapters, found) -> None:
    """Raises TableError for a chapter that there is neither in the course nor in the gradebook."""
    there = {*space.chapters(), *(name for name, worth in found.worth.items() if worth)}
    for chapter in chapters:
        if chapter not in there:
            near = nearest_first(chapter, there)
            raise TableError(f"there is no chapter {chapter!r}. There are: {near}")


def _notes(found: Marks) -> list[str]:
    """What is to be said of marks: each sentence once, with all of whom it is true."""
    told: dict[str, list[str]] = {}
    for mark in found.rows:
        for note in mark.notes:
            told.setdefault(note, []).append(mark.student)
    return [f"{', '.join(students)}: {note}" for note, students in told.items()]


def _nothing(space, found: Marks, known: Roster | None) -> list[str]:
    """Who of the roster handed in nothing, chapter by chapter."""
    if known is None:
        return []
    told = []
    for chapter in found.worth:
        graded = {mark.student for mark in found.rows if mark.chapter == chapter}
        missing = known.missing(graded | attempts.known(space, chapter))
        told.append(f"{chapter}: {roster.nothing_from(missing, len(known.students))}".rstrip("."))
    return told


def _waiting(found: Marks) -> list[str]:
    """While marking goes on, that is how it is, and no reason for another status."""
    count = sum(bool(mark.waiting) for mark in found.rows)
    have = "submission has" if count == 1 else "submissions have"
    words = (
        "a written answer that nobody has marked; it counts 0 until then. Mark: make grading-lab"
    )
    return [f"{count} {have} {words}"] if count else []


def _table(found: Marks, to: str, known) -> Table:
    if to == "csv":
        return Table(lms_tables.csv_text(table(found, known)))
    if len(found.worth) != 1:
        raise TableError(f"name one chapter: {to} imports one assignment at a time")
    if to == "moodle":
        return lms_tables.moodle(found, known)
    if known is None:
        raise TableError("Canvas knows students by its own numbers: give --roster with its export")
    return lms_tables.canvas(found, known)


def table(found: Marks, known: Roster | None = None) -> list[list]:
    """A row of the maxima, then a row a student: the exercises, for each chapter what is core and what is deeper where
    it has both, what being late costs where somebody is, and the total.

    Students of the roster without a mark have a row of empty cells.
    """
    late = {mark.chapter for mark in found.rows if mark.penalty or mark.days_late}
    titles = ["student"]
    for chapter in found.worth:
        titles += found.columns(chapter)
        titles += [f"{chapter}: {part}" for part in _parts(found, chapter)]
        titles += [f"{chapter}: {word}" for word in _LATE] if chapter in late else []
    students: dict[str, dict] = {}
    for mark in found.rows:
        students.setdefault(mark.student, {})[mark.chapter] = mark
    rows = [[*titles, "total"], _maxima(found, late)]
    for student, mine in sorted(students.items()):
        cells = [lms_tables.safe(student)]
        for chapter in found.worth:
            cells += _cells(found, chapter, mine.get(chapter), chapter in late)
        rows.append([*cells, round(sum(mark.after for mark in mine.values()), 2)])
    marked = {*students, *(mark.lms for mark in found.rows)}
    for student in known.missing(marked) if known else []:
        rows.append([lms_tables.safe(student), *[""] * (len(rows[0]) - 1)])
    return rows


def _maxima(found, late) -> list:
    """What there is to get, in the columns of `table`. No student can be called (maximum)."""
    cells = ["(maximum)"]
    for chapter, worth in found.worth.items():
        cells += [worth[column] for column in found.columns(chapter)]
        cells += [round(sum(worth[c] for c in part), 2) for part in _parts(found, chapter).values()]
        cells += [found.total(chapter), "", "", found.total(chapter)] if chapter in late else []
    return [*cells, round(sum(map(found.total, found.worth)), 2)]


_LATE = ("before penalty", "days late", "penalty", "after penalty")


def _cells(found, chapter, mark, late) -> list:
    parts = _parts(found, chapter)
    if mark is None:
        return [""] * (len(found.columns(chapter)) + len(parts) + len(_LATE) * late)
    scores = [mark.scores.get(column, "") for column in found.columns(chapter)]
    scores += [_sum(mark, columns) for columns in parts.values()]
    return scores + ([mark.before, mark.days_late, -mark.penalty or 0, mark.after] if late else [])


def _parts(found, chapter) -> dict[str, list[str]]:
    """The columns of the core and of what is deeper; nothing of a chapter that is all core."""
    columns = found.columns(chapter)
    deeper = [column for column in columns if column in found.deeper]
    core = [column for column in columns if column not in found.deeper]
    return {"core": core, "deeper": deeper} if deeper else {}


def _sum(mark, columns) -> float:
    return round(sum(mark.scores.get(column, 0) for column in columns), 2)


def marks(space: Workspace, chapters: list[str] = ()) -> tuple[list[str], dict[str, dict]]:
    """(columns "chapter/notebook/exercise", student -> column -> score) as graded, without any policy."""
    found = reading.read(space, list(chapters), policy.Policy())
    columns = sorted(column for chapter in found.worth for column in found.columns(chapter))
    rows: dict[str, dict[str, float]] = {}
    for mark in found.rows:
        rows.setdefault(mark.student, {}).update(mark.scores)
    return columns, rows

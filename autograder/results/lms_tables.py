"""A chapter's marks as the CSV file that Canvas or Moodle imports.

A name that begins with = + - or @ is computed by a spreadsheet, so every cell that an LMS does not match students by
gets a ' in front. What it does match by stays exactly as it was, or the mark would be nobody's:
- Canvas looks for the number in "ID", and for names and logins only where that is unknown: all but "ID" may change.
- Moodle's worksheet is matched by "Identifier" and the time of the last grade; the grade and the feedback are read.
- Moodle's gradebook import is matched by a column of the instructor's choice: an e-mail address or an id. These can
  begin with such a sign. A column where none does is taken if there is one; else the caller is told.

Only students with a mark are written: an empty cell would delete a grade that the LMS has.
"""

import csv
import io
import re
from dataclasses import dataclass, field

from autograder.handins import lms
from autograder.handins.roster import WORKSHEET, Roster, RosterError, Student
from autograder.results.marks import Mark, Marks

_GRADE = ("grade", "bewertung")
_MOST = ("maximum grade", "bestwertung")
_READ = (
    "identifier",
    "id",
    *_GRADE,
    *_MOST,
    *WORKSHEET,
    "feedback comments",
    "feedback als kommentar",
)
_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n")
_POSSIBLE = "    Points Possible"  # Canvas knows this row by its words


class TableError(ValueError):
    """The table cannot be made; str() says why and what to do."""


@dataclass
class Table:
    """text: the file. notes: what an instructor should look at before it is imported. words: what is good to know."""

    text: str
    notes: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)


def safe(text: str) -> str:
    """The text, with ' in front where a spreadsheet would compute it: not a number, nor "-" alone."""
    if not text.lstrip(" ").startswith(_SIGNS) or re.fullmatch(r"-|[-+]?\d+([.,]\d+)?", text):
        return text
    return f"'{text}"


def csv_text(rows: list[list], delimiter: str = ",") -> str:
    """The rows as CSV."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue()


def canvas(marks: Marks, known: Roster) -> Table:
    """Canvas's import for one chapter, made from an export of its gradebook. Raises TableError for another roster."""
    number, section = known.column("id"), known.column("section")
    if not known.is_canvas:
        raise TableError(
            f"{known.name} is no export of Canvas's gradebook: export it there, and give that"
        )
    (chapter,) = marks.worth
    notes: list[str] = []
    title, possible = _canvas_column(known, chapter, marks.total(chapter), notes)
    width = section + 1
    rows = [[*known.header[:width], title], [_POSSIBLE, *[""] * (width - 1), possible]]
    for student, mark in _in_roster(marks, known, notes):
        cells = [c if n == number else safe(c) for n, c in enumerate(student.row[:width])]
        if re.fullmatch(r"\d+", cells[number]):
            rows.append([*cells, points(mark.after)])
        else:
            notes.append(f"{mark.student} is left out: Canvas's ID {cells[number]!r} is no number")
    return Table(csv_text(rows), notes)


def _canvas_column(known, chapter, worth, notes) -> tuple[str, str]:
    """("Name (id)" of the assignment called like the chapter, its points). Canvas asks about an unknown name."""
    wanted = lms.words(chapter.replace("_", " "))
    titles = {t: lms.words(re.sub(r" \(\d+\)$", "", t).replace("_", " ")) for t in known.header}
    found = [title for title, name in titles.items() if name == wanted]
    if len(found) != 1:
        notes.append(
            f"no one assignment in {known.name} is called {chapter!r}: Canvas will ask which it is"
        )
        return chapter, points(worth)
    place = known.header.index(found[0])
    theirs = [row[place] for row in known.rows if row[0].strip() == _POSSIBLE.strip()]
    _compare(theirs, worth, f"{found[0]!r} in Canvas", notes)
    return found[0], theirs[0] if theirs else points(worth)


def _compare(theirs: list[str], worth, what, notes) -> None:
    """Note where an LMS gives other points for a chapter than the chapter has."""
    for text in set(theirs):
        if re.fullmatch(r"\d+([.,]\d+)?", text) and float(text.replace(",", ".")) != worth:
            notes.append(
                f"{what} is worth {text} points, but the chapter {points(worth)}: change it there"
            )


def moodle(marks: Marks, known: Roster | None) -> Table:
    """One chapter for Moodle: its grading worksheet filled in, if the roster is one, else a table for its gradebook.

    Raises TableError when students cannot be told apart by it.
    """
    if known and known.column(*WORKSHEET) is not None:
        return _worksheet(marks, known)
    if known and known.is_canvas:
        raise TableError(
            f"{known.name} is an export of Canvas's gradebook: give Moodle's grading worksheet or its list of "
            "participants, or use --to canvas"
        )
    (chapter,) = marks.worth
    notes: list[str] = []
    title, people = _matched(marks, known, notes)
    for shown, mark in people:
        if safe(shown) != shown:
            notes.append(
                f"{title} {shown!r} of {mark.student} is a formula to a spreadsheet: import this file unopened"
            )
    return Table(
        csv_text([[title, chapter], *[[s, points(mark.after)] for s, mark in people]]), notes
    )


def _matched(marks, known, notes) -> tuple[str, list[tuple[str, Mark]]]:
    """The column that Moodle matches by, and each mark with what stands there."""
    if known is None:
        people = [(mark.student, mark) for mark in marks.rows]
        return ("Email address" if all("@" in s for s, _ in people) else "ID number"), people
    found = _in_roster(marks, known, notes)
    places = [known.places[key] for key in ("email", "id")]
    whole = [p for p in places if p is not None and all(s.row[p].strip() for s, _ in found)]
    if not whole:
        raise TableError(f"{known.name} has neither an e-mail address nor an id for everybody")
    harmless = [
        p for p in whole if all(safe(s.row[p].strip()) == s.row[p].strip() for s, _ in found)
    ]
    place = (harmless or whole)[0]
    return known.header[place], [(student.row[place].strip(), mark) for student, mark in found]


def _worksheet(marks: Marks, known: Roster) -> Table:
    """The worksheet as it came, with the grades. Who has no mark keeps the one that is there."""
    (chapter,) = marks.worth
    grade, most = known.column(*_GRADE), known.column(*_MOST)
    if grade is None:
        raise TableError(f"{known.name} has no column for the grade")
    notes: list[str] = []
    given = {id(student.row): mark for student, mark in _in_roster(marks, known, notes)}
    if most is not None:
        _compare(
            [row[most] for row in known.rows],
            marks.total(chapter),
            "The assignment in Moodle",
            notes,
        )
    read = {known.column(name) for name in _READ}
    rows = [known.header]
    for row in known.rows:
        cells = [cell if n in read else safe(cell) for n, cell in enumerate(row)]
        if id(row) in given:
            cells[grade] = points(given[id(row)].after)
        rows.append(cells)
    return Table(csv_text(rows, known.delimiter), notes)


def _in_roster(marks: Marks, known: Roster, notes) -> list[tuple[Student, Mark]]:
    """Each mark with its student; notes who is not in the roster, or is there under two ids."""
    found: dict[str, tuple[Student, Mark]] = {}
    for mark in marks.rows:
        try:
            student = known.by_number(mark.lms) or known.by_id(mark.student)
        except RosterError as error:
            notes.append(f"left out: {error}")
            continue
        if student.id in found:
            other = found[student.id][1].student
            notes.append(
                f"left out: {mark.student!r} is the same student as {other!r}, whose mark is written"
            )
        else:
            found[student.id] = student, mark
    return list(found.values())


def points(value: float) -> str:
    """A number of points as a table has it: 12, 12.5, 12.25."""
    return f"{value:.2f}".rstrip("0").rstrip(".")

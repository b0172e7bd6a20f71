"""The class as a CSV file that an instructor has: `--roster FILE`.

Read by its header, whatever else stands in it: Canvas's gradebook export, Moodle's grading worksheet, Moodle's list of
participants (these in English or German), or a table of one's own with a name and an id, an e-mail address or both.
"""

import codecs
import contextlib
import csv
import datetime
import io
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from autograder.handins import lms
from autograder.handins.lms import Person

IDENTIFIER = r"[A-Za-z0-9_@][A-Za-z0-9._@-]{0,63}"  # it becomes a folder's name

# What a column is called, small letters. Of several columns for an id the first counts.
HEADERS = {
    "id": ["student id", "student_id", "username", "user name", "anmeldename", "sis login id"]
    + ["login id", "login", "id number", "id-nummer", "matrikelnummer", "sis user id"],
    "email": ["email address", "e-mail-adresse", "e-mail address", "email", "e-mail"],
    "name": ["full name", "vollständiger name", "name", "student name", "student"],
    "first": ["first name", "vorname", "firstname", "given name"],
    "last": ["last name", "surname", "nachname", "lastname", "family name"],
    "handed_in": ["last modified (submission)", "zuletzt geändert (abgabe)"],
}
WORKSHEET = ["last modified (grade)", "zuletzt geändert (bewertung)"]  # Moodle's grading worksheet
_MONTHS = "January February March April May June July August September October November December"
_MONATE = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
_MONTH = {name: n for text in (_MONTHS, _MONATE) for n, name in enumerate(text.split(), 1)}


class RosterError(ValueError):
    """The roster cannot be used; str() says why and what to do."""


@dataclass
class Student:
    """One row. numbers: the id of each LMS that the roster knows. handed_in: Moodle's time, local, or empty.

    first, last: the parts of the name, as well as they can be told.
    """

    id: str
    name: str
    email: str
    numbers: dict[str, str]
    handed_in: str
    row: list[str]
    ids: list[str] = field(default_factory=list)
    first: str = ""
    last: str = ""

    @property
    def accounts(self) -> list[str]:
        """As what the LMSs know this student, small letters: "moodle 4711"."""
        return [
            f"{system} {number}".casefold() for system, number in self.numbers.items() if number
        ]


@dataclass
class Roster:
    """The students, and the file as it was read: its header and all of its rows. notes: what was guessed of it.

    delimiter: what separates its columns. places: what a column is ("email", "id", …) -> which one, None where none is.
    """

    name: str
    header: list[str]
    rows: list[list[str]]
    students: list[Student]
    notes: list[str] = field(default_factory=list)
    delimiter: str = ","
    places: dict[str, int | None] = field(default_factory=dict)

    @property
    def is_canvas(self) -> bool:
        """Whether it is an export of Canvas's gradebook."""
        return self.column("id") is not None and self.column("section") is not None

    def by_number(self, key: str) -> Student | None:
        """The student whom an LMS has under this number, "Moodle 4711"; None where the roster does not have it."""
        found = self._by_account.get(key.casefold(), [])
        return found[0] if len(found) == 1 else None

    @cached_property
    def _by_account(self) -> dict[str, list[Student]]:
        found: dict[str, list[Student]] = {}
        for student in self.students:
            for account in student.accounts:
                found.setdefault(account, []).append(student)
        return found

    def missing(self, known) -> list[str]:
        """The ids of those who are not among the `known`: ids, and accounts of an LMS ("Moodle 4711")."""
        there = {text.casefold() for text in known}
        return [s.id for s in self.students if not there.intersection([*s.ids, *s.accounts])]

    def by_id(self, text: str) -> Student:
        """The student with this id, number or e-mail address. Raises RosterError for none, or several."""
        folded = text.casefold()
        exact = [s for s in self.students if s.id.casefold() == folded]
        return self._one(exact or [s for s in self.students if folded in s.ids], f"{text!r}")

    def by_person(self, person: Person) -> Student:
        """The student whom an LMS names: by its number, else by the name. Raises RosterError for none, or several."""
        numbered = [s for s in self.students if s.numbers.get(person.lms) == person.number]
        written = lms.words(person.name)
        named = self._by_name.get(tuple(sorted(written)), [])
        if not named and person.lms == "Canvas":  # which leaves out the blanks
            named = self._by_name.get("".join(written), [])
        if not numbered and person.lms == "Canvas":  # whose numbers never change: a namesake
            named = [s for s in named if not s.numbers["Canvas"]]
        if numbered and named and numbered[0] not in named:
            raise RosterError(
                f"{person} is {numbered[0].id} by the number and {named[0].id} by the name: ask who it is"
            )
        return self._one(numbered or named, str(person))

    @cached_property
    def _by_name(self) -> dict[tuple[str, ...] | str, list[Student]]:
        """By the words of the name in the alphabet's order, and by the name run together, from any of its words on."""
        found: dict[tuple[str, ...] | str, list[Student]] = {}
        for student in self.students:
            parts = lms.words(student.name)
            turned = {"".join(parts[n:] + parts[:n]) for n in range(len(parts))}
            for key in turned | {tuple(sorted(parts))}:
                found.setdefault(key, []).append(student)
        return found

    def _one(self, found, shown) -> Student:
        if len(found) == 1:
            return found[0]
        if not found:
            raise RosterError(f"{shown} is nobody in {self.name}")
        raise RosterError(
            f"{shown} may be {' or '.join(s.id for s in found)} in {self.name}: "
            "give a roster with this LMS's numbers"
        )

    def column(self, *names: str) -> int | None:
        """The place of the first column that has one of these names (small letters)."""
        folded = [title.strip().casefold() for title in self.header]
        return next((folded.index(name) for name in names if name in folded), None)


def nothing_from(missing: list[str], count: int) -> str:
    """Who of a roster of so many has handed in nothing, in a line."""
    shown = f" ({', '.join(missing)})" if missing else ""
    return f"Handed in nothing: {len(missing)} of {count} in the roster{shown}."


def read(path: Path) -> Roster:
    """The roster in a file. Raises RosterError when it is none."""
    notes: list[str] = []
    text = _text(path, notes)
    # What separates the columns is the sign that the header has most of.
    delimiter = max(",;\t", key=text.split("\n", 1)[0].count)
    lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    if not lines:
        raise RosterError(f"{path.name} is empty")
    header = lines[0]
    rows = [line + [""] * (len(header) - len(line)) for line in lines[1:] if any(line)]
    roster = Roster(path.name, header, rows, [], notes, delimiter)
    roster.places = places = _places(roster)
    roster.students = [_student(row, places) for row in rows if _is_student(row, places)]
    _tell_apart(roster.students)
    _check(roster)
    return roster


def _text(path, notes) -> str:
    csv.field_size_limit(10_000_000)  # a worksheet holds whole online texts
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RosterError(f"{path} cannot be read ({error.strerror})") from None
    with contextlib.suppress(UnicodeDecodeError):
        wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        return data.decode("utf-16" if wide else "utf-8-sig")
    # Excel's "CSV" on Windows. Elsewhere what are letters here are signs, or stand side by side.
    if re.search(rb"[\x80-\xbf\xd7\xf7]|[\x80-\xff]{2}", data):
        raise RosterError(f"{path.name} is no UTF-8 text: save it as CSV in UTF-8")
    notes.append(f"{path.name} is no UTF-8 text: read as Western European (Windows-1252)")
    return data.decode("cp1252")


def _places(roster) -> dict[str, int | None]:
    """Field -> its column. A column "ID" is the LMS's number in Canvas and in German Moodle, else the student's id."""
    places = {name: roster.column(*titles) for name, titles in HEADERS.items()}
    number, plain = None, roster.column("id")
    canvas = roster.is_canvas
    worksheet = roster.column(*WORKSHEET) is not None
    if canvas:
        number = plain
    elif worksheet:
        number = roster.column("identifier", "id")
    elif places["id"] is None:
        places["id"] = plain
    places |= {"Canvas": number if canvas else None, "Moodle": None if canvas else number}
    named = places["name"] is not None or places["last"] is not None
    if not named or all(places[key] is None for key in ("id", "email", "Canvas", "Moodle")):
        what = "a name" if not named else "an id or an e-mail address"
        kinds = ("name", "last") if not named else ("id", "email")
        known = ", ".join(title for kind in kinds for title in HEADERS[kind])
        raise RosterError(
            f"{roster.name} has no column for {what}. Its columns: {', '.join(roster.header)[:300]}. "
            f"Call one of them: {known}"
        )
    return places


def _cell(row, place) -> str:
    return row[place].strip() if place is not None else ""


def _is_student(row, places) -> bool:
    """Canvas has rows between the header and the students: points possible, and what is hidden."""
    if _cell(row, places["name"]).startswith("Points Possible"):
        return False
    return any(_cell(row, places[key]) for key in ("id", "email", "Canvas", "Moodle"))


def _student(row, places) -> Student:
    parts = _cell(row, places["first"]), _cell(row, places["last"])
    # Canvas writes a name that starts with = as a formula that shows it.
    whole = re.sub(r'^="(.*)"$', r"\1", _cell(row, places["name"]), flags=re.S)
    name = " ".join(filter(None, parts)) or whole
    first, last = parts if any(parts) else _parts(whole)
    email = _cell(row, places["email"])
    numbers = {key: _digits(_cell(row, places[key])) for key in ("Canvas", "Moodle")}
    own = [_cell(row, places["id"]), email, *numbers.values()]
    # Moodle's number is another one in each assignment: an id is made of the name, as it is without a roster.
    given = next(filter(None, own[:-1]), "") or lms.identifier(name) or numbers["Moodle"]
    student = given if is_identifier(given) else lms.identifier(given)
    ids = list(dict.fromkeys(text.casefold() for text in [student, *own] if text))
    handed_in = _moodle_time(_cell(row, places["handed_in"]))
    return Student(student, name, email, numbers, handed_in, row, ids, first, last)


def _parts(name) -> tuple[str, str]:
    """First and last name of "Lovelace, Ada", and of "Ada Lovelace", where the last word is taken for the last name."""
    last, comma, first = name.partition(", ")
    if not comma:
        first, _, last = name.rpartition(" ")
    return first.strip(), last.strip()


def is_identifier(text: str) -> bool:
    """Whether a student may have this id."""
    return bool(re.fullmatch(IDENTIFIER, text)) and "--" not in text


def _digits(text) -> str:
    """4711 of "4711", and of Moodle's "Participant 4711"."""
    found = re.search(r"\d+$", text)
    return found[0] if found else ""


def _moodle_time(text) -> str:
    """Moodle's "Wednesday, 10 June 2026, 2:14 PM" as a stamp; empty for "-" and for what is not understood.

    English (either order of day and month) and German; the time zone is that of whoever downloaded it.
    """
    time = re.search(r"(\d{1,2}):(\d\d)(?:\s*([AP])\.?M)?", text, re.I)
    date = re.search(r"(\d{1,2})\.? (\w+),? (\d{4})|(\w+) (\d{1,2}), (\d{4})", text)
    if not time or not date:
        return ""
    day, month, year = (date[1], date[2], date[3]) if date[1] else (date[5], date[4], date[6])
    hour = int(time[1])
    if time[3]:
        hour = hour % 12 + 12 * (time[3] in "Pp")
    try:
        when = datetime.datetime(int(year), _MONTH.get(month, 0), int(day), hour, int(time[2]))
    except ValueError:
        return ""
    return f"{when:%Y%m%d-%H%M%S}"


def _tell_apart(students: list[Student]) -> None:
    """Give namesakes whose ids are made of their names their numbers, too."""
    count = Counter(student.id for student in students)
    for student in students:
        own = [text for text in student.ids if text not in (student.id, student.numbers["Moodle"])]
        if count[student.id] > 1 and not own and student.numbers["Moodle"]:
            student.id = f"{student.id}-{student.numbers['Moodle']}"
            student.ids[0] = student.id


def _check(roster) -> None:
    if not roster.students:
        raise RosterError(f"{roster.name} names no student")
    seen: dict[str, Student] = {}
    for student in roster.students:
        if not student.id:
            raise RosterError(
                f"{roster.name}: {student.name!r} has no id that can name a folder; add a column 'Student ID'"
            )
        other = seen.setdefault(student.id.casefold(), student)
        if other is not student:
            raise RosterError(
                f"{roster.name}: {other.name!r} and {student.name!r} have the same id {student.id!r}"
            )

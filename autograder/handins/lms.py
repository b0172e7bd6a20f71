"""Whose file is it? What Moodle and Canvas write into the names of the files they hand an instructor.

Moodle, "Download all submissions", with and without "Download submissions in folders" (mod/assign, downloader.php):
    Ada Lovelace_1234567_assignsubmission_file/01_first.ipynb       (up to 4.0: …_file_/)
    Ada Lovelace_1234567_assignsubmission_file_01_first.ipynb
Canvas, "Download Submissions" (content_zipper.rb): the sortable name in small letters without blanks and signs, the
user's id, the file's id, the file's name; a file handed in again under the same name gets -1, -2, …
    lovelaceada_LATE_4711_881234_01_first-1.ipynb                   (graded anonymously: anon_x7Kp2_881234_…)
Neither gives the time of the hand-in: the dates in these zips are those of the download.
"""

import re
import unicodedata
from dataclasses import dataclass

LONGEST = 255  # of a file's name; one in a zip may be longer, and would take long to match
_MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_[a-z]+(?:_(?P<file>.*))?")
_CANVAS = re.compile(
    r"(?:(?P<name>(?!(?:LATE_)?anon_)\w+?)_)?(?:(?P<late>LATE)_)?(?P<number>\d{2,}|anon_\w+?)_\d{2,}_(?P<file>.+)"
)
_LETTERS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "oe", "æ": "ae", "œ": "oe", "å": "aa"}
    | {"ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)


@dataclass(frozen=True)
class Person:
    """A student as an LMS names one. number: its own id of the student, or of the participant in one assignment."""

    lms: str
    number: str
    name: str

    @property
    def key(self) -> str:
        return f"{self.lms} {self.number}"

    def __str__(self):
        return f"{self.name} ({self.key})"


@dataclass(frozen=True)
class Told:
    """What the name of a file tells. file: how the student called it. late: Canvas calls the hand-in late."""

    person: Person
    file: str
    late: bool = False


def moodle(parts: tuple[str, ...]) -> Told | None:
    """What a path in Moodle's zip tells; None for any other path."""
    for part in parts:
        found = _MOODLE.fullmatch(part) if len(part) <= LONGEST else None
        if found:
            return Told(
                Person("Moodle", found["number"], found["name"]), found["file"] or parts[-1]
            )
    return None


def canvas(name: str) -> Told | None:
    """What the name of a file in Canvas's zip tells; None for any other name."""
    found = _CANVAS.fullmatch(name) if len(name) <= LONGEST else None
    if not found:
        return None
    person = Person("Canvas", found["number"], found["name"] or found["number"])
    return Told(person, found["file"], bool(found["late"]))


def words(name: str) -> list[str]:
    """A name's words in order as they are compared: without accents, signs and capital letters."""
    plain = re.sub(r"['’`´\"&]", "", _plain(name))
    plain = unicodedata.normalize("NFKD", plain)
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return re.findall(r"[^\W_]+", plain)


def identifier(name: str) -> str:
    """A clean id made of a name: "Müller, Jörg" -> "mueller-joerg"; empty where no letter can be written so."""
    kept = unicodedata.normalize("NFKD", _plain(name)).encode("ascii", "ignore").decode()
    return "-".join(re.findall(r"[a-z0-9]+", kept))[:64].strip("-")


def _plain(name) -> str:
    return unicodedata.normalize("NFC", name).casefold().translate(_LETTERS)

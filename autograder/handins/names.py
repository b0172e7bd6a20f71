"""The names of students, for the gradebook: grading/names.json, written from each roster that `collect` is given."""

import json
import re

from autograder.handins.roster import Roster, Student
from autograder.workspace import Workspace, write_text

KEYS = ("first_name", "last_name", "email")


def remember(space: Workspace, known: Roster) -> None:
    """Keep the names of a roster; who is not in it keeps the name that is there."""
    told = read(space) | {student.id: _parts(student) for student in known.students}
    write_text(space.folder / "names.json", json.dumps(told, indent=1, ensure_ascii=False))


def read(space: Workspace) -> dict[str, dict[str, str]]:
    """student -> those of first_name, last_name, email that are known; none where the file is damaged, or is none."""
    try:
        told = json.loads((space.folder / "names.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def _parts(student: Student) -> dict[str, str]:
    """The formgrader writes a name into its page as it is, and students may choose theirs: so, no tags."""
    values = zip(KEYS, (student.first, student.last, student.email), strict=True)
    clean = {key: re.sub(r"[<>\x00-\x1f]", " ", value).strip() for key, value in values}
    if not clean["email"]:
        del clean["email"]
    return clean

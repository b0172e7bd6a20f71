"""Whose a hand-in is, which of the chapter's notebooks it holds, and what is kept of it."""

from collections.abc import Iterator
from dataclasses import dataclass

from autograder.handins import attempts, lms, notebooks
from autograder.handins.attempts import Attempt
from autograder.handins.handin import HandIn, Refused
from autograder.handins.policy import Policy
from autograder.handins.roster import Roster, RosterError, Student
from autograder.workspace import Workspace


@dataclass(frozen=True)
class Recognised:
    """A hand-in that can be taken. notebooks: stem -> contents. words: for the instructor, about its files."""

    handin: HandIn
    student: Student
    notebooks: dict[str, bytes]
    words: list[str]


class _Stranger(Exception):
    """Why it is not known whose hand-in this is."""


def recognise(
    space: Workspace, chapter: str, handin: HandIn, known: Roster | None
) -> Recognised | Refused:
    """Know a hand-in's student and notebooks, or refuse it. known: whom it may be from, where there is a roster."""
    try:
        student = _whose(handin, known)
        _same_person(space, chapter, student, handin)
    except (RosterError, _Stranger) as error:
        return Refused(handin.name, [str(error)])
    from_lms = handin.person is not None
    named, words = notebooks.named(space, chapter, handin.notebooks, from_lms=from_lms)
    words = [*handin.notes, *words]
    if all(notebooks.why_unreadable(data) for data in named.values()):
        words.append(f"it holds no notebook of {chapter} that can be read")
        return Refused(handin.name, words, student.id)
    return Recognised(handin, student, named, words)


def _whose(handin: HandIn, known: Roster | None) -> Student:
    """The roster's student, or one by the LMS's name or the file's. Raises RosterError, _Stranger."""
    person = handin.person
    if known:
        return known.by_person(person) if person else known.by_id(handin.student)
    student = lms.identifier(person.name) if person else handin.student
    if not student:
        raise _Stranger(f"no id can be made of the name {person.name!r}: give --roster FILE")
    return Student(student, "", "", {}, "", [], [student.casefold()])


def _same_person(space, chapter, student: Student, handin) -> None:
    """Raises _Stranger when two accounts of one LMS are known by their name alone, and it is the same name."""
    person = handin.person
    if not person or student.numbers.get(person.lms) == person.number:
        return
    for attempt in attempts.kept(space, chapter, student.id):
        if attempt.lms.startswith(f"{person.lms} ") and attempt.lms != person.key:
            raise _Stranger(
                f"{student.id!r} has handed in before as {attempt.lms}: if these are two students, a roster "
                f"with {person.lms}'s numbers (--roster FILE) tells them apart"
            )


def attempt_of(one: Recognised, rules: Policy) -> Attempt:
    """What is kept of a hand-in, with the best time that is known: Moodle's own, the file's name, a file's date."""
    handin, person = one.handin, one.handin.person
    stamp, clock = handin.stamp, handin.clock
    if person and person.lms == "Moodle" and one.student.handed_in:
        stamp, clock = one.student.handed_in, "lms"
    words = [*one.words, *_told(one, rules.shown(stamp), clock)]
    key, submitted = person.key if person else "", attempts.as_utc(rules, stamp)
    return Attempt("", stamp, clock, handin.late, key, submitted, handin.records, words)


def _told(one: Recognised, time: str, clock: str) -> Iterator[str]:
    """What an LMS tells of a hand-in, in words."""
    handin, student = one.handin, one.student
    if handin.person:
        yield f"from {handin.person}"
        if handin.student and handin.student.casefold() not in student.ids:
            yield f"its file is named for {handin.student!r}, taken for {student.id!r}"
    if clock == "lms":
        yield f"handed in {time}, as Moodle says"
    elif handin.person and clock == "file":
        yield f"its time is not known: {time} is a date in the zip"
    if handin.late:
        yield "late, as Canvas says"

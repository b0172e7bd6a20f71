"""Takes hand-ins: `autograder collect CHAPTER FILE… [--roster FILE]`.

FILE is what `submit` wrote, what Moodle or Canvas gives when all submissions are downloaded, a zip or a folder of many,
or a folder of folders named by student that hold notebooks. Without FILE, what was collected before is looked at again:
after a change of grading/policy.toml another attempt may be the one to grade.

Students are known by what the LMS says, else by the file's (or folder's) name, never by what stands inside. With a
roster, each is one of its students; without, an LMS's name becomes an id. Every attempt is kept under grading/received;
the one that counts is laid out in grading/submitted, where grading finds it.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.handins import attempts, collect_files, lms, notebooks, policy, roster
from autograder.handins.archives import Unfit
from autograder.handins.attempts import Attempt
from autograder.handins.handin import HandIn, Refused, contents
from autograder.handins.policy import Policy, PolicyError
from autograder.handins.roster import Roster, RosterError, Student
from autograder.workspace import Workspace, workspace


@dataclass
class Outcome:
    """What became of one hand-in. words: for the instructor, one line each."""

    name: str
    student: str
    taken: bool
    words: list[str]


class _Stranger(Exception):
    """Why it is not known whose hand-in this is."""


def main(argv: list[str] | None = None) -> int:
    """Status 0: all taken. 1: something was refused, with the reason. 2: wrong command."""
    parser = argparse.ArgumentParser(
        prog="autograder collect", description=__doc__.split("\n\n")[0]
    )
    parser.add_argument("chapter", help="for example 03_optimisation")
    parser.add_argument("file", nargs="*", type=Path, help="hand-ins, zips or folders of them")
    parser.add_argument(
        "--roster", type=Path, help="a CSV file of the class, also Moodle's or Canvas's"
    )
    arguments = parser.parse_args(argv)
    space = workspace()
    if not space.release(arguments.chapter):
        words = f"there is no released chapter {arguments.chapter!r} in course/."
        print(f"collect: {words}", file=sys.stderr)
        return 2
    try:
        rules = policy.load(space)
        known = roster.read(arguments.roster) if arguments.roster else None
    except (PolicyError, RosterError) as error:
        print(f"collect: {error}", file=sys.stderr)
        return 2
    if not arguments.file:
        return _tell(choose_again(space, arguments.chapter, rules), "to grade now", "refused")
    found = take(space, arguments.chapter, arguments.file, known, rules)
    return _tell(found, "taken", "refused")


def _tell(outcomes: Iterator[Outcome], done: str, failed: str) -> int:
    count = {True: 0, False: 0}
    for outcome in outcomes:
        count[outcome.taken] += 1
        word = "took   " if outcome.taken else "REFUSED"
        print(f"{word} {_one_line(outcome.name)}: {_one_line('; '.join(outcome.words))}")
    print(f"{count[True]} {done}, {count[False]} {failed}.")
    return 1 if count[False] else 0


def _one_line(text) -> str:
    """A stranger's name may hold line breaks and codes that move the cursor."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", "?", text)


def collect(space: Workspace, chapter: str, paths: list[Path]) -> list[Outcome]:
    """Take every hand-in in `paths` by the course's policy. Raises PolicyError, and nothing that a file can cause."""
    return list(take(space, chapter, paths, None, policy.load(space)))


def take(
    space: Workspace, chapter: str, paths: list[Path], known: Roster | None, rules: Policy
) -> Iterator[Outcome]:
    """Take the hand-ins in `paths` one by one. Raises nothing that a file can cause."""
    for path in paths:
        for found in collect_files.find(Path(path), chapter):
            if isinstance(found, Refused):
                yield Outcome(found.name, "", False, [found.reason])
            else:
                yield _take(space, chapter, found, known, rules)


def _take(space, chapter, handin: HandIn, known, rules) -> Outcome:
    said = list(handin.notes)
    try:
        student = _whose(handin, known)
        _same_person(space, chapter, student, handin)
    except (RosterError, _Stranger) as error:
        return Outcome(handin.name, "", False, [str(error)])
    named = notebooks.named(space, chapter, handin.notebooks, said)
    if not any(notebooks.readable(data) for data in named.values()):
        said.append(f"it holds no notebook of {chapter} that can be read")
        return Outcome(handin.name, student.id, False, said)
    attempt = _attempt(handin, student, rules, said)
    if not attempts.keep(space, chapter, student.id, handin.data, attempt):
        said.append("received before")
    _settle(space, chapter, student.id, attempt, named, rules, said)
    return Outcome(handin.name, student.id, True, said or ["complete"])


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


def _attempt(handin, student: Student, rules, said) -> Attempt:
    """What is kept of a hand-in, with the best time that is known: Moodle's own, the file's name, a file's date."""
    stamp, clock, person = handin.stamp, handin.clock, handin.person
    if person:
        said.append(f"from {person}")
        if handin.student and handin.student.casefold() not in student.ids:
            said.append(f"its file is named for {handin.student!r}, taken for {student.id!r}")
    if person and person.lms == "Moodle" and student.handed_in:
        stamp, clock = student.handed_in, "lms"
        said.append(f"handed in {_read_stamp(stamp)}, as Moodle says")
    elif person and clock == "file":
        said.append(f"its time is not known: {_read_stamp(stamp)} is a date in the zip")
    if handin.late:
        said.append("late, as Canvas says")
    submitted = attempts.as_utc(rules, stamp)
    key = person.key if person else ""
    return Attempt("", stamp, clock, handin.late, key, submitted, handin.records, list(said))


def _read_stamp(stamp) -> str:
    return f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:8]} {stamp[9:11]}:{stamp[11:13]}"


def _settle(space, chapter, student, attempt, named, rules, said) -> None:
    """Lay the attempt out if it is the one to grade; else say which is."""
    everything = attempts.kept(space, chapter, student)
    chosen = attempts.choose(rules, chapter, student, everything)
    if chosen.file == attempt.file:
        attempts.lay_out(space, chapter, student, chosen, named)
        return
    why = "older than" if attempt.order < chosen.order else "after the deadline, which was met by"
    said.append(
        f"{why} {chosen.file}, which stays the one to grade; kept in {space.received(chapter, student)}"
    )


def choose_again(space: Workspace, chapter: str, rules: Policy) -> Iterator[Outcome]:
    """Lay out the attempt that counts by the policy, for everybody for whom it is another than before.

    Which is the best is known when all are graded: `grade` lays that one out.
    """
    for folder in sorted(space.received(chapter, "x").parent.glob("*/")):
        everything = attempts.kept(space, chapter, folder.name)
        now = attempts.current(space, chapter, folder.name)
        if not everything or (now and rules.attempts == "best"):
            continue
        chosen = attempts.choose(rules, chapter, folder.name, everything)
        if chosen.file != now:
            yield _choose_now(space, chapter, folder.name, chosen)


def _choose_now(space, chapter, student, chosen) -> Outcome:
    try:
        files = kept_notebooks(space, chapter, student, chosen)
    except Unfit as unfit:
        return Outcome(chosen.file, student, False, [str(unfit)])
    attempts.lay_out(space, chapter, student, chosen, files)
    return Outcome(chosen.file, student, True, ["the one to grade now"])


def kept_notebooks(
    space: Workspace, chapter: str, student: str, attempt: Attempt
) -> dict[str, bytes]:
    """The notebooks (by stem) of an attempt that is kept. Raises Unfit where it was damaged since it came."""
    data = (space.received(chapter, student) / attempt.file).read_bytes()
    return notebooks.named(space, chapter, contents(data, chapter)[0], [])

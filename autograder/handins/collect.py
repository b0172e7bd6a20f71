"""Takes hand-ins: `autograder collect CHAPTER FILE… [--roster FILE]`.

FILE is what `submit` wrote, what Moodle or Canvas gives when all submissions are downloaded, a zip or a folder of many,
or a folder of folders named by student that hold notebooks. Without FILE, what was collected before is looked at again:
after a change of grading/policy.toml another attempt may be the one to grade, and what is lost from grading/submitted
is made again.

Students are known by what the LMS says, else by the file's (or folder's) name, never by what stands inside. With a
roster, each is one of its students; without, an LMS's name becomes an id. Every attempt is kept under grading/received;
the one that counts is laid out in grading/submitted, where grading finds it.
"""

import argparse
import datetime
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.handins import attempts, collect_files, lms, names, notebooks, policy, roster
from autograder.handins.archives import Unfit
from autograder.handins.attempts import Attempt
from autograder.handins.handin import NAME, HandIn, Refused, contents
from autograder.handins.policy import Policy, PolicyError
from autograder.handins.roster import Roster, RosterError, Student
from autograder.workspace import Workspace, workspace


@dataclass
class Outcome:
    """What became of one hand-in. words: for the instructor, one line each. new: it was not received before."""

    name: str
    student: str
    taken: bool
    words: list[str]
    new: bool = False


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
    space, chapter = workspace(), arguments.chapter
    try:
        _is_released(space, chapter)
        rules = policy.checked(space)
        known = roster.read(arguments.roster) if arguments.roster else None
    except (_NoChapter, PolicyError, RosterError) as error:
        print(f"collect: {error}", file=sys.stderr)
        return 2
    if known:
        _tell_of_roster(space, known, rules)
    if not arguments.file:
        status = _tell_again(list(choose_again(space, chapter, rules)))
    else:
        status = _tell(take(space, chapter, arguments.file, known, rules))
    if known:
        missing = known.missing(attempts.known(space, chapter))
        print(roster.nothing_from(missing, len(known.students)))
    return status


class _NoChapter(Exception):
    """Which chapters there are, instead."""


def _is_released(space, chapter) -> None:
    if wrong := space.no_chapter(chapter):
        raise _NoChapter(wrong)


def _tell_of_roster(space, known: Roster, rules: Policy) -> None:
    """Say how the roster was read, and keep its names for the gradebook."""
    names.remember(space, known)
    notes = list(known.notes)
    if rules.zone is None and any(student.handed_in for student in known.students):
        here = datetime.datetime.now().astimezone()
        notes.append(
            f"Moodle's times are read in this machine's time zone ({here:%Z}). Should that be another than Moodle's, "
            'write timezone = "Europe/Berlin" or the like at the top of grading/policy.toml'
        )
    for note in notes:
        print(f"collect: {note}.", file=sys.stderr)


def _tell(outcomes: Iterable[Outcome]) -> int:
    """Print what became of each hand-in, and how many -> status."""
    new = again = refused = 0
    for outcome in outcomes:
        new += outcome.taken and outcome.new
        again += outcome.taken and not outcome.new
        refused += not outcome.taken
        print(_line(outcome))
    print(f"{new + again} taken ({new} new, {again} received before), {refused} refused.")
    return 1 if refused else 0


def _tell_again(outcomes: list[Outcome]) -> int:
    refused = sum(not outcome.taken for outcome in outcomes)
    for outcome in outcomes:
        print(_line(outcome))
    if not outcomes:
        print(
            "Nothing to do: the attempts that count lie in submitted/. To take hand-ins, name files."
        )
    else:
        print(f"{len(outcomes) - refused} to grade now, {refused} refused.")
    return 1 if refused else 0


def _line(outcome: Outcome) -> str:
    word = "took   " if outcome.taken else "REFUSED"
    named = NAME.fullmatch(outcome.name)
    known = not outcome.taken or (named and named["student"] == outcome.student)
    whose = "" if known else f" for {outcome.student}"
    return f"{word} {_one_line(outcome.name)}{whose}: {_one_line('; '.join(outcome.words))}"


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
    before = {one.file: one.stamp for one in attempts.kept(space, chapter, student.id)}
    new = attempts.keep(space, chapter, student.id, handin.data, attempt)
    if not new:
        said.append("received before")
        said += _corrected(space, chapter, student.id, attempt, before, rules)
    _settle(space, chapter, student.id, attempt, named, rules, said)
    return Outcome(handin.name, student.id, True, said or ["complete"], new)


def _corrected(space, chapter, student, attempt, before: dict[str, str], rules) -> list[str]:
    """What to say where another time of an attempt is known now."""
    now = {one.file: one.stamp for one in attempts.kept(space, chapter, student)}
    old, new = before.get(attempt.file), now[attempt.file]
    if old in (None, new):
        return []
    return [f"its time is corrected: {rules.shown(new)}, before {rules.shown(old)}"]


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
        said.append(f"handed in {rules.shown(stamp)}, as Moodle says")
    elif person and clock == "file":
        said.append(f"its time is not known: {rules.shown(stamp)} is a date in the zip")
    if handin.late:
        said.append("late, as Canvas says")
    submitted = attempts.as_utc(rules, stamp)
    key = person.key if person else ""
    return Attempt("", stamp, clock, handin.late, key, submitted, handin.records, list(said))


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
    """Lay out the attempt that counts by the policy, for whom it is another than before, or is gone from submitted/.

    Which is the best is known when all are graded: `grade` lays that one out.
    """
    for student in attempts.students(space, chapter):
        everything = attempts.kept(space, chapter, student)
        file = attempts.current(space, chapter, student)
        now = next((attempt for attempt in everything if attempt.file == file), None)
        chosen = attempts.choose(rules, chapter, student, everything)
        if now and rules.attempts == "best":
            chosen = now
        if chosen != now or not attempts.is_laid_out(space, chapter, student):
            yield _choose_now(space, chapter, student, chosen, again=chosen == now)


def _choose_now(space, chapter, student, chosen, again) -> Outcome:
    try:
        files = kept_notebooks(space, chapter, student, chosen)
    except Unfit as unfit:
        return Outcome(chosen.file, student, False, [str(unfit)])
    attempts.lay_out(space, chapter, student, chosen, files)
    words = "was gone from submitted/, and is there again" if again else "the one to grade now"
    return Outcome(chosen.file, student, True, [words])


def kept_notebooks(
    space: Workspace, chapter: str, student: str, attempt: Attempt
) -> dict[str, bytes]:
    """The notebooks (by stem) of an attempt that is kept. Raises Unfit where it was damaged since it came."""
    data = (space.received(chapter, student) / attempt.file).read_bytes()
    return notebooks.named(space, chapter, contents(data, chapter)[0], [])

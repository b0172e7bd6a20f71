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
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder import terminal
from autograder.handins import attempts, finding, names, policy, roster
from autograder.handins.attempts import Kept
from autograder.handins.handin import NAME, HandIn, Outcome, Refused
from autograder.handins.laying_out import choose_again, settle
from autograder.handins.policy import Policy, PolicyError
from autograder.handins.recognising import attempt_of, recognise
from autograder.handins.roster import Roster, RosterError
from autograder.workspace import Workspace, workspace


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
    return f"{word} {terminal.one_line(outcome.name)}{whose}: {terminal.one_line('; '.join(outcome.words))}"


def collect(space: Workspace, chapter: str, paths: list[Path]) -> list[Outcome]:
    """Take every hand-in in `paths` by the course's policy. Raises PolicyError, and nothing that a file can cause."""
    return list(take(space, chapter, paths, None, policy.load(space)))


def take(
    space: Workspace, chapter: str, paths: list[Path], known: Roster | None, rules: Policy
) -> Iterator[Outcome]:
    """Take the hand-ins in `paths` one by one. Raises nothing that a file can cause."""
    for path in paths:
        for found in finding.find(Path(path), chapter):
            yield _take(space, chapter, found, known, rules)


def _take(space, chapter, found: HandIn | Refused, known, rules) -> Outcome:
    """One hand-in through all stages: recognised, kept as an attempt, laid out if it counts, told."""
    one = found if isinstance(found, Refused) else recognise(space, chapter, found, known)
    if isinstance(one, Refused):
        return Outcome(one.name, one.student, False, one.words)
    student, attempt = one.student.id, attempt_of(one, rules)
    kept = attempts.keep(space, chapter, student, one.handin.data, attempt)
    words = [*attempt.notes, *_told_of(kept, rules)]
    words += settle(space, chapter, student, kept.attempt, one.notebooks, rules)
    return Outcome(one.handin.name, student, True, words or ["complete"], kept.new)


def _told_of(kept: Kept, rules: Policy) -> Iterator[str]:
    if not kept.new:
        yield "received before"
    if kept.corrected:
        new, old = rules.shown(kept.attempt.stamp), rules.shown(kept.corrected)
        yield f"its time is corrected: {new}, before {old}"

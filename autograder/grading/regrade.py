"""Grades a chapter again after a specification or its points were mended: `autograder regrade CHAPTER`.

At first it only shows who gains and who loses. --apply enters that, and keeps what was there before; --undo brings
it back. Manual marks, comments and extensions stay as they are, whatever is done.
"""

import argparse
from collections import Counter
from contextlib import closing
from dataclasses import dataclass

from autograder.checkdata import ROOT
from autograder.grading import best, snapshots, verdicts
from autograder.grading.dispatch.run import graded
from autograder.grading.dispatch.way import Way
from autograder.grading.grade import Writer, guarded
from autograder.grading.jobs import GradeError, read_release
from autograder.grading.lock import locked
from autograder.grading.progress import Progress
from autograder.grading.verdicts import Graded, Submission
from autograder.workspace import Workspace, workspace


@dataclass
class Change:
    """One exercise of one student whose kind or points differ; None where there was, or is, no such exercise."""

    student: str
    exercise: str  # "chapter/notebook exercise"
    before: Graded | None
    after: Graded | None

    @property
    def gain(self) -> float:
        """Points won, negative where some are lost."""
        return round(_points(self.after) - _points(self.before), 2)

    def __str__(self):
        return f"{_told(self.before)} → {_told(self.after)}"


@dataclass
class Preview:
    """What a regrade does. applied: student -> digest of the new verdict file. failed: whom the grader failed on."""

    changes: list[Change]
    applied: dict[str, str]
    failed: list[str]

    @property
    def totals(self) -> dict[str, float]:
        """Student -> points won in all, of those with a change."""
        totals: Counter = Counter()
        for change in self.changes:
            totals[change.student] += change.gain
        return {student: round(gain, 2) for student, gain in totals.items()}


def main(argv: list[str] | None = None) -> int:
    """Status 0: done. 1: done, and somebody loses points or is left as before. 2: wrong command, or the tool failed."""
    parser = argparse.ArgumentParser(prog="autograder regrade", description=__doc__)
    parser.add_argument("chapter", help="for example 03_optimisation")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument(
        "--preview", action="store_true", help="only show what would change (default)"
    )
    ways.add_argument("--apply", action="store_true", help="enter it, and keep what was before")
    ways.add_argument(
        "--undo", action="store_true", help="bring back what was before the last --apply"
    )
    Way.add_options(parser)
    arguments = parser.parse_args(argv)
    space, chapter = workspace(), arguments.chapter
    if arguments.undo:
        return guarded("regrade", lambda: undo(space, chapter))
    return guarded("regrade", lambda: _regrade(space, chapter, Way.of(arguments), arguments.apply))


def _regrade(space, chapter, way, apply_it) -> int:
    with locked(space):
        best.settle(space, chapter, space.students(chapter), way)
        for notebook in stale(space, chapter):
            print(
                f"{notebook} is older than its master or specification: specifications are read as they are now, "
                "but points and cells are those handed out. To renew those: autograder build"
            )
        found = preview(space, chapter, way)
        show(found)
        if apply_it and found.changes:
            enter(space, chapter, way, found)
    if not found.changes:
        print("Nothing changes.")
    elif apply_it:
        print(f"Entered. To take it back: autograder regrade {chapter} --undo")
    else:
        print(f"Nothing was entered. To enter it: autograder regrade {chapter} --apply")
    return 1 if found.failed or any(gain < 0 for gain in found.totals.values()) else 0


def stale(space: Workspace, chapter: str) -> list[str]:
    """The chapter's released notebooks that were built from another master or specification than there is now."""
    from autograder.building import build, masters

    names = [f"{chapter}/{stem}" for stem in space.release(chapter)]
    ours = [n for n in names if space.project == ROOT and masters.master_path(n).exists()]
    return [name for name in ours if build.stale_parts(name)]


def preview(space: Workspace, chapter: str, way: Way) -> Preview:
    """Grade everybody again who was graded before; nothing is entered. Raises what `run.graded` does."""
    students = _graded_before(space, chapter)
    found = Preview([], {}, [])
    with (
        Progress(len(students)) as progress,
        closing(graded(space, chapter, students, way)) as stream,
    ):
        for done in stream:
            student = done.submission.student
            if done.failed:
                found.failed.append(student)
            else:
                found.changes += compare(verdicts.load(space, chapter, student), done.submission)
                found.applied[student] = snapshots.digest(done)
            progress.step()
    return found


def _graded_before(space, chapter) -> list[str]:
    handed_in = space.students(chapter)
    students = [name for name in handed_in if space.verdict_file(chapter, name).exists()]
    new = [name for name in handed_in if name not in students]
    if new:
        print(
            f"Not graded yet, and left out: {', '.join(new)}. For them: autograder grade {chapter}"
        )
    if not students:
        raise GradeError(
            space.no_chapter(chapter) or f"nobody was graded yet. First: autograder grade {chapter}"
        )
    return students


def compare(before: Submission, after: Submission) -> list[Change]:
    """The exercises that ended in another kind, or with other points."""
    old = {f"{v.notebook} {v.exercise}": v for v in before.verdicts}
    new = {f"{v.notebook} {v.exercise}": v for v in after.verdicts}
    changes = [Change(after.student, name, old.get(name), new.get(name)) for name in old | new]
    return [change for change in changes if _told(change.before) != _told(change.after)]


def _told(verdict: Graded | None) -> str:
    if verdict is None:
        return "not asked"
    return f"{verdict.kind} {verdict.points:g} of {verdict.max_points:g}"


def _points(verdict: Graded | None) -> float:
    return verdict.points if verdict else 0.0


def show(found: Preview) -> None:
    """Print who gains and who loses: by exercise, then in all."""
    exercises = sorted({change.exercise for change in found.changes})
    for exercise in exercises:
        of_it = sorted(
            (c for c in found.changes if c.exercise == exercise), key=lambda c: c.student
        )
        print(f"{exercise}: {_counted([change.gain for change in of_it])}")
        for change in of_it:
            print(f"  {change.student:<16} {change.gain:+6g}  {change}")
    if found.failed:
        print(f"The grader failed on {', '.join(found.failed)}: they stay as they are.")
    gains = list(found.totals.values())
    same = len(found.applied) - len(gains)
    print(f"In all: {_counted(gains)}, {_students(same)} without any change.")


def _students(number: int) -> str:
    return f"{number} student{'' if number == 1 else 's'}"


def _counted(gains) -> str:
    won, lost = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    kept = len(gains) - won - lost
    return f"{won} gain, {lost} lose" + (f", {kept} keep their points" if kept else "")


def enter(space: Workspace, chapter: str, way: Way, found: Preview) -> None:
    """Enter what the preview showed, after a snapshot of what it replaces. Under the lock."""
    if not found.applied:
        return
    snapshots.take(space, chapter, found.applied)
    with (
        Writer(space, chapter) as writer,
        closing(graded(space, chapter, list(found.applied), way)) as stream,  # all of it is stored
    ):
        for done in stream:
            writer.enter(done)


def undo(space: Workspace, chapter: str) -> int:
    """Bring back verdicts, pages and automatic scores as they were before the last --apply -> the command's status.

    Who was graded again since then keeps that. Raises GradeError where there is nothing to undo.
    """
    with locked(space):
        snapshot = snapshots.last(space, chapter)
        if snapshot is None:
            raise GradeError(f"there is nothing to undo for {chapter}")
        applied, kept = snapshots.applied(snapshot), []
        before = snapshots.read(snapshot)
        with Writer(space, chapter) as writer:
            for student, done in before.items():
                now = snapshots.now(space, chapter, student)
                if now == applied[student]:
                    writer.enter(done)
                elif now != snapshots.digest(done):
                    kept.append(student)
        snapshots.close(snapshot)
    back = len(before) - len(kept)
    print(f"{_students(back)} {'is' if back == 1 else 'are'} as before.")
    for line in _other_points(space, chapter, list(before.values())):
        print(line)
    if kept:
        print(f"Graded again since then, and left as they are: {', '.join(kept)}.")
    print("The specification is still the mended one: the next `autograder grade` goes by it.")
    return 1 if kept else 0


def _other_points(space, chapter, before) -> list[str]:
    """Where a verdict that was brought back has another maximum than the release, in a sentence each."""
    points = {
        f"{chapter}/{stem} {name}": worth
        for stem, of_notebook in read_release(space, chapter).points.items()
        for name, worth in of_notebook.items()
    }
    old = {f"{v.notebook} {v.exercise}": v for done in before for v in done.submission.verdicts}
    return [
        f"{name}: the points are as before, of {verdict.max_points:g}; the maximum in the gradebook is the release's "
        f"own, {points[name]:g}."
        for name, verdict in old.items()
        if name in points and points[name] != verdict.max_points
    ]

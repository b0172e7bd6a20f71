"""Grades a chapter: `autograder grade CHAPTER [--student ID…]`.

Each submission's notebooks are rebuilt from the release, run in the sandbox, judged outside it, and entered into
nbgrader's gradebook. One bad submission never stops the others. What was graded before and has not changed is taken
as it is, so that a run that was stopped goes on where it was.
"""

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from autograder import stopping
from autograder.classic import course as classic_course
from autograder.engine.prepare import PrepareError
from autograder.engine.sandbox import SandboxError
from autograder.grading import best, verdicts
from autograder.grading.changes import Changes
from autograder.grading.dispatch.run import graded
from autograder.grading.dispatch.way import Way
from autograder.grading.gradebook import pages
from autograder.grading.gradebook.book import Book, BookError
from autograder.grading.jobs import Done, GradeError, chosen
from autograder.grading.lock import locked
from autograder.grading.progress import Progress, needing
from autograder.grading.verdicts import Submission
from autograder.workspace import Workspace, workspace

COMMIT_SECONDS = 5.0
ERRORS = (GradeError, PrepareError, BookError, SandboxError)


def main(argv: list[str] | None = None) -> int:
    """Status 0: all graded. 1: graded, some need a look. 2: wrong command, stopped, or the tool failed."""
    parser = argparse.ArgumentParser(prog="autograder grade", description=__doc__)
    parser.add_argument("chapter", help="for example 03_optimisation")
    parser.add_argument("--student", nargs="+", metavar="ID", help="only these")
    parser.add_argument("--force", action="store_true", help="run again what has not changed, too")
    parser.add_argument(
        "--course", type=Path, metavar="FOLDER", default=classic_course.here(),
        help="an nbgrader course of your own: grade its assignment (see autograder/classic/README.md)",
    )  # fmt: skip
    Way.add_options(parser)
    arguments = parser.parse_args(argv)
    return guarded("grade", lambda: _classic(arguments) if arguments.course else _grade(arguments))


def guarded(command: str, do) -> int:
    """The status of `do()`; 2 with one sentence where nothing can be graded, or somebody stopped it."""
    stopping.listen()
    try:
        return do()
    except (*ERRORS, OSError) as error:  # a full disk, a folder that is not ours
        print(f"{command}: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print(
            f"{command}: stopped. What was finished is kept: the same command goes on from there.",
            file=sys.stderr,
        )
    return 2


def _classic(arguments) -> int:
    from autograder.classic import grade as classic  # nbformat, which it needs, costs a second

    if arguments.scheduler:
        raise GradeError("--scheduler grades chapters of this course only: leave it, or --course")
    return classic.grade(
        arguments.course, arguments.chapter, arguments.student,
        jobs=arguments.jobs, sandboxed=not arguments.no_sandbox, force=arguments.force,
    )  # fmt: skip


def _grade(arguments) -> int:
    started = time.monotonic()
    way = Way.of(arguments, force=arguments.force)
    for line in best.choose(workspace(), arguments.chapter):
        print(line)
    told = grade_chapter(workspace(), arguments.chapter, arguments.student, way)
    looks = [submission for submission in told if submission.look]
    names = ", ".join(submission.student for submission in looks)
    for submission in looks:
        print(f"look at {submission.student}: {_why(submission)}")
    print(f"{len(told)} graded, {needing(len(looks))}{': ' if looks else '.'}{names}")
    print(f"{time.monotonic() - started:.1f} s")
    return 1 if looks else 0


def _why(submission) -> str:
    """What an instructor should look at, in a line."""
    lost = [verdict.evidence for verdict in submission.verdicts if verdict.kind != "full"]
    return " ".join("; ".join(submission.notes or lost[:1]).split())[:300]


def grade_chapter(
    space: Workspace, chapter: str, students: list[str] | None = None, way: Way | None = None
) -> list[Submission]:
    """Grade those who handed in (all, or `students`) -> their verdicts, which are also in files and in the gradebook.

    Raises GradeError, PrepareError, SandboxError or BookError when nothing can be graded.
    """
    students = chosen(space, chapter, students)
    told = []
    with (
        Changes(space, chapter) as changes,
        locked(space),
        Writer(space, chapter) as writer,
        Progress(len(students)) as progress,
        closing(graded(space, chapter, students, way or Way())) as stream,
    ):
        best.settle(space, chapter, students, way or Way())
        for done in stream:
            changes.note(done.submission)
            writer.enter(done)
            told.append(done.submission)
            progress.step()
    return sorted(told, key=lambda submission: submission.student)


class Writer:
    """The one writer of a run: verdict files, autograded pages, gradebook. Use as a context manager, under the lock.

    The gradebook, which takes a second to open, is opened beside other work. Verdict files are there at once, the
    gradebook's rows every few seconds and at the end; after a crash in between, the next run enters them.
    """

    def __init__(self, space: Workspace, chapter: str):
        self.space = space
        self.opener = ThreadPoolExecutor(1)
        self.opening = self.opener.submit(Book, space, chapter)
        self.committed = time.monotonic()

    def enter(self, done: Done) -> None:
        """Keep a submission's verdicts and pages, and queue its scores. Raises BookError."""
        verdicts.save(self.space, done.submission)
        pages.write(self.space, done.submission, done.pages)
        self.opening.result().record(done)
        if time.monotonic() - self.committed > COMMIT_SECONDS:
            self.commit()

    def commit(self) -> None:
        """Enter all queued scores into the gradebook. Raises BookError."""
        self.opening.result().commit()
        self.committed = time.monotonic()

    def close(self) -> None:
        """Enter what is queued and close the gradebook."""
        self.opener.shutdown()
        if not self.opening.exception():
            self.opening.result().close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

"""Grades hand-ins as they arrive and writes their feedback: `autograder watch FOLDER [CHAPTER…]`.

Every file that appears in FOLDER is collected, its student graded and the feedback page written, within seconds.
What a file is of is told by its name, as `submit` gives it, or by a subfolder that is named for the chapter; where
one CHAPTER alone is watched, any file that `collect` takes will do. Of a student who hands in often, the newest is
graded, and whoever has waited longest comes first. It goes on until Ctrl-C, whatever arrives. When it is started
again, what was graded already is left alone.
"""

import argparse
import contextlib
import sys
import time
from collections import Counter
from pathlib import Path

from autograder import stopping, terminal
from autograder.engine import sandbox
from autograder.engine.judge import JudgeError
from autograder.engine.stage import StageError
from autograder.engine.worker_client import Limits
from autograder.grading import best, verdicts
from autograder.grading.dispatch.store import Store
from autograder.grading.dispatch.way import Way
from autograder.grading.grade import ERRORS, Writer
from autograder.grading.jobs import Done, finish, read_chapter, read_job
from autograder.grading.lock import locked
from autograder.grading.verdicts import Submission
from autograder.grading.workers.grader import Grader, failed, warm_grader
from autograder.handins import attempts, collect, policy, roster
from autograder.handins.arrivals import Arrivals
from autograder.handins.handin import NAME, Outcome
from autograder.handins.policy import PolicyError
from autograder.handins.roster import Roster, RosterError
from autograder.results import feedback, pages
from autograder.workspace import Workspace, workspace
from descent.cards import points_text

POLL_SECONDS = 1.0
TRIES = 2  # after so many lost engines, a submission gets a verdict that says so


def main(argv: list[str] | None = None) -> int:
    """Status 0: ended by Ctrl-C. 2: wrong command, or nothing can be graded here."""
    parser = argparse.ArgumentParser(prog="autograder watch", description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, help="where hand-ins arrive")
    parser.add_argument("chapter", nargs="*", help="only these chapters; all without")
    parser.add_argument(
        "--roster", type=Path, help="a CSV file of the class, also Moodle's or Canvas's"
    )
    arguments = parser.parse_args(argv)
    space = workspace()
    chapters = arguments.chapter or space.chapters()
    try:
        for name in chapters:
            if wrong := space.no_chapter(name):
                raise PolicyError(wrong)
        if not arguments.folder.is_dir():
            raise PolicyError(f"there is no folder {arguments.folder}. Make it first.")
        sandbox.require()
        known = roster.read(arguments.roster) if arguments.roster else None
    except (PolicyError, RosterError, sandbox.SandboxError) as error:
        print(f"watch: {error}", file=sys.stderr)
        return 2
    _watch(Watch(space, arguments.folder, chapters, known))
    return 0


def _watch(watch: "Watch") -> None:
    """Look every second until Ctrl-C, or until whoever runs it as a service ends it."""
    stopping.listen()
    try:
        with watch:
            say(
                f"watching {watch.arrivals.folder} for {', '.join(watch.chapters)}. Ctrl-C ends it."
            )
            while True:
                following = time.monotonic() + POLL_SECONDS
                watch.look()
                stopping.check()
                time.sleep(max(0.0, following - time.monotonic()))
    except KeyboardInterrupt:
        waiting = len(watch.waiting)
        verb = "waits" if waiting == 1 else "wait"
        left = f" {waiting} {verb}: start it again." if waiting else ""
        say(f"ended. {watch.count} graded.{left}")


class Watch:
    """What waits, what is warm, and what was said. Use as a context manager; `look` does all that is to do now."""

    def __init__(
        self, space: Workspace, folder: Path, chapters: list[str], known: Roster | None = None,
        limits: Limits | None = None,
    ):  # fmt: skip
        self.space, self.chapters, self.known = space, chapters, known
        self.arrivals = Arrivals(folder)
        self.warm = _Warm(space, limits or Limits())
        self.waiting: dict[tuple[str, str], float] = {}  # (chapter, student) -> when it arrived
        self.lost: Counter = Counter()  # engines that were lost over a submission
        self.trouble = ""
        self.count = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.warm.close()

    def look(self) -> None:
        """Take what has arrived, and grade some of those who wait."""
        try:
            rules = policy.checked(self.space)
            for path in self.arrivals.look():
                self._take(path, rules)
            if self.waiting:
                self._grade()
            elif len(self.chapters) == 1:
                self.warm.of(self.chapters[0])  # so that the first hand-in need not wait for it
            self.trouble = ""
        except (*ERRORS, PolicyError, StageError, JudgeError, OSError) as error:
            # Another command is at work, a file of the course's is being edited, a disk is full: those who wait go on
            # waiting.
            if str(error) != self.trouble:
                self.trouble = str(error)
                say(f"waiting: {error}")

    def _take(self, path: Path, rules) -> None:
        chapter = self._chapter(path)
        if not chapter:
            say(
                f"REFUSED {path.name}: of which chapter is it? Name it as submit does, or put it in a subfolder "
                "that is named for the chapter"
            )
            return
        try:
            for outcome in collect.take(self.space, chapter, [path], self.known, rules):
                self._taken(chapter, outcome)
        except OSError as error:
            say(f"REFUSED {path.name}: it cannot be read ({error.strerror})")

    def _chapter(self, path: Path) -> str:
        """The watched chapter that a file belongs to; empty where nothing tells."""
        named = NAME.fullmatch(path.name)
        told = [
            *path.relative_to(self.arrivals.folder).parts[:-1],
            named["chapter"] if named else "",
        ]
        found = [name for name in told if name in self.chapters]
        if named and named["chapter"] not in self.chapters:
            return ""
        return found[-1] if found else self.chapters[0] if len(self.chapters) == 1 else ""

    def _taken(self, chapter: str, outcome: Outcome) -> None:
        words = "; ".join(outcome.words)
        if not outcome.taken:
            say(f"REFUSED {outcome.name}: {words}")
        elif not _is_graded(self.space, chapter, outcome.student):
            self.waiting.setdefault((chapter, outcome.student), time.monotonic())
        elif "received before" not in outcome.words:
            say(f"{outcome.student} {chapter}: {words}")

    def _grade(self) -> None:
        """Grade the first who wait, one after the other, for about a second: then is the time to look again."""
        chapter = next(iter(self.waiting))[0]
        until = time.monotonic() + POLL_SECONDS
        with locked(self.space), Writer(self.space, chapter) as writer:
            grader, store = self.warm.of(chapter)
            for student in [student for name, student in self.waiting if name == chapter]:
                done = self._guarded(grader, store, student)
                writer.enter(done)
                writer.commit()
                self._tell(done)
                if time.monotonic() > until:
                    break

    def _guarded(self, grader, store, student) -> Done:
        """Grade one. Raises StageError or JudgeError over whom the engine is lost, who then waits behind all others."""
        try:
            return self._one(grader, store, student)
        except (StageError, JudgeError):
            place = (grader.chapter.name, student)
            self.lost[place] += 1
            self.waiting[place] = self.waiting.pop(place)
            self.warm.close()
            raise

    def _one(self, grader: Grader, store: Store, student: str) -> Done:
        """Grade what is laid out; under the policy "best" the best attempt comes out."""
        space, chapter = self.space, grader.chapter.name
        first = attempts.current(space, chapter, student)
        done = self._laid_out(grader, store, student)
        best.settle(space, chapter, [student], Way(jobs=1, limits=grader.limits))
        if attempts.current(space, chapter, student) == first:
            return done
        return self._laid_out(grader, store, student)

    def _laid_out(self, grader, store, student) -> Done:
        chapter = grader.chapter
        job = read_job(self.space, chapter.name, student)
        found = store.find(job)
        if self.lost[chapter.name, student] < TRIES:
            missing = [stem for stem in chapter.release if stem not in found]
            new = {stem: grader.notebook(stem, job.files.get(stem)) for stem in missing}
            store.keep(job, new)
            found |= new
        reason = "the engine was lost over it"
        results = {
            stem: found.get(stem) or failed(chapter, stem, reason) for stem in chapter.release
        }
        return finish(chapter.name, job, results)

    def _tell(self, done: Done) -> None:
        """Write the feedback, and say a line."""
        told = done.submission
        troubles = feedback.write_pages(self.space, told.chapter, [told.student])
        since = time.monotonic() - self.waiting.pop((told.chapter, told.student))
        self.count += 1
        fed = f"NO FEEDBACK: {troubles[told.student]}" if troubles else "feedback written"
        look = f"  LOOK: {'; '.join(told.notes) or 'see the verdicts'}" if told.look else ""
        say(f"{told.student} {told.chapter}: {self._points(told)}, {fed}, {since:.1f} s{look}")

    def _points(self, told: Submission) -> str:
        """What the checks gave, and what a person has yet to mark."""
        points = f"{points_text(told.points)} of {points_text(told.max_points)} points"
        known = feedback.marks(self.space, told.chapter, [told.student]).values()
        waits = [mark for page in known for mark in page.marks.values() if mark.waits]
        if not waits:
            return points
        worth = sum(mark.max_score for mark in waits)
        unit = "point" if worth == 1 else "points"
        verb = "waits" if len(waits) == 1 else "wait"
        answers = pages.counted(len(waits), "written answer")
        return f"{points}, and {answers} {verb} for a person ({points_text(worth)} {unit})"


class _Warm:
    """The engine of the chapter that was graded last, kept while its release and specifications stay as they are."""

    def __init__(self, space: Workspace, limits: Limits):
        self.space, self.limits = space, limits
        self.held = contextlib.ExitStack()
        self.state: tuple = ()
        self.made: tuple[Grader, Store] | None = None

    def of(self, name: str) -> tuple[Grader, Store]:
        """A grader and its store. Raises what making them does."""
        state = (name, *self._states(name))
        if self.made is None or state != self.state:
            self.close()
            chapter = read_chapter(self.space, name)
            grader = self.held.enter_context(warm_grader(chapter, self.limits))
            self.made = grader, Store(self.space, chapter, self.limits, sandboxed=True)
            self.state = state
        return self.made

    def _states(self, name):
        for stem, path in self.space.release(name).items():
            for file in (path, self.space.spec_path(f"{name}/{stem}")):
                with contextlib.suppress(FileNotFoundError):
                    yield file, file.stat().st_mtime_ns

    def close(self) -> None:
        """End the engine, if there is one."""
        self.made = None
        self.held.close()


def _is_graded(space: Workspace, chapter: str, student: str) -> bool:
    """Whether the attempt that is laid out has its verdicts and its feedback."""
    try:
        told = verdicts.load(space, chapter, student)
    except (OSError, ValueError, KeyError, TypeError):
        return False
    pages = space.feedback(chapter, student).glob("*.html")
    return told.file == attempts.current(space, chapter, student) and any(pages)


def say(words: str) -> None:
    """A line with the time."""
    print(f"{time.strftime('%H:%M:%S')} {terminal.one_line(words)}", flush=True)

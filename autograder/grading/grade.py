"""Grades a chapter: `autograder grade CHAPTER [--student ID…]`.

Each submission's notebooks are rebuilt from the release, run in the sandbox, judged outside it, and entered into
nbgrader's gradebook. One bad submission never stops the others.
"""

import argparse
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from autograder.engine import grade_run, judge_safety, sandbox
from autograder.engine.judge import Judge, JudgeError
from autograder.engine.worker_client import Limits, Stage
from autograder.engine.worker_frames import FrameError
from autograder.grading import rebuild, verdicts
from autograder.grading.gradebook import Book, BookError
from autograder.grading.verdicts import Graded, Submission, Written
from autograder.workspace import Workspace, workspace
from descent import judging


class GradeError(RuntimeError):
    """The chapter cannot be graded at all; str() says why and what to do."""


def main(argv: list[str] | None = None) -> int:
    """Status 0: all graded. 1: graded, some need a look. 2: wrong command, or the tool failed."""
    parser = argparse.ArgumentParser(prog="autograder grade", description=__doc__)
    parser.add_argument("chapter", help="for example 03_optimisation")
    parser.add_argument("--student", nargs="+", metavar="ID", help="only these")
    parser.add_argument("--jobs", type=int, default=2, help="submissions at a time (default 2)")
    parser.add_argument(
        "--no-sandbox", action="store_true", help="run students' code as you, with limits only"
    )
    arguments = parser.parse_args(argv)
    try:
        graded = grade_chapter(
            workspace(), arguments.chapter, arguments.student,
            sandboxed=not arguments.no_sandbox, jobs=arguments.jobs,
        )  # fmt: skip
    except (GradeError, JudgeError, BookError, sandbox.SandboxError) as error:
        print(f"grade: {error}", file=sys.stderr)
        return 2
    looks = [submission for submission in graded if submission.look]
    print(f"{len(graded)} graded, {len(looks)} need a look{': ' if looks else '.'}{_names(looks)}")
    return 1 if looks else 0


def _names(submissions) -> str:
    return ", ".join(submission.student for submission in submissions)


@dataclass
class Chapter:
    """A chapter as it was released, ready to grade. tasks: notebook -> what the judge asks of each exercise."""

    name: str
    release: dict[str, list[rebuild.Cell]]
    points: dict[str, dict[str, float]]
    tasks: dict[str, dict[str, dict]]


def grade_chapter(
    space: Workspace,
    chapter: str,
    students: list[str] | None = None,
    *,
    sandboxed=True,
    jobs=2,
    limits=None,
) -> list[Submission]:
    """Grade those who handed in (all, or `students`) -> their verdicts, which are also in files and in the gradebook.

    Raises GradeError, JudgeError, SandboxError when nothing can be graded.
    """
    students = _chosen(space, chapter, students)
    if not sandboxed:
        print(
            "WARNING: no sandbox. Students' code runs as you and can read your files.",
            file=sys.stderr,
        )
    names = [f"{chapter}/{name}" for name in space.release(chapter)]
    graded = []
    with (
        Stage(names, sandboxed=sandboxed) as stage,
        Judge(space) as judge,
        ThreadPoolExecutor(jobs) as pool,
    ):
        ready = read_chapter(space, chapter, judge)
        grader = Grader(space, ready, judge, stage, limits or Limits())
        work = [pool.submit(grader.grade, student) for student in students]
        try:
            with Book(space, chapter) as book:
                for number, job in enumerate(as_completed(work), 1):
                    submission, notebooks = job.result()
                    book.record(submission, notebooks)
                    verdicts.save(space, submission)
                    graded.append(submission)
                    _progress(number, len(work), submission)
        finally:  # after a failure, or Ctrl-C, no further submission is begun
            pool.shutdown(cancel_futures=True)
    return sorted(graded, key=lambda submission: submission.student)


def _chosen(space, chapter, students):
    known = space.students(chapter)
    unknown = [student for student in students or [] if student not in known]
    if unknown:
        raise GradeError(
            f"no hand-in of {chapter} from {', '.join(unknown)}. There are: {', '.join(known) or 'none'}."
        )
    if not known:
        raise GradeError(
            f"nobody has handed in {chapter}. First: autograder collect {chapter} FILE…"
        )
    return students or known


def read_chapter(space: Workspace, name: str, judge: Judge) -> Chapter:
    """The released chapter. Raises GradeError when there is none, JudgeError when a specification fails."""
    files = space.release(name)
    if not files:
        raise GradeError(
            f"there is no released chapter {name!r} in {space.project / 'course'}. First: autograder build"
        )
    release = {stem: rebuild.read_cells(path.read_bytes())[0] for stem, path in files.items()}
    points = {stem: _points(cells) for stem, cells in release.items()}
    tasks = {stem: judge.exercises(f"{name}/{stem}", points[stem]) for stem in release}
    return Chapter(name, release, points, tasks)


def _points(cells) -> dict[str, float]:
    return {
        c.about("check"): float(c.metadata["nbgrader"]["points"]) for c in cells if c.about("check")
    }


@dataclass
class Grader:
    """Grades one submission at a time; several threads may share one."""

    space: Workspace
    chapter: Chapter
    judge: Judge
    stage: Stage
    limits: Limits

    def grade(self, student: str) -> tuple[Submission, dict[str, rebuild.Rebuilt]]:
        """One student's verdicts and rebuilt notebooks. Raises nothing that a submission can cause."""
        started = time.perf_counter()
        about = self._about(student)
        submission = Submission(
            self.chapter.name, student, about.get("submitted", ""), about.get("file", "")
        )
        submission.notes = [str(note) for note in about.get("notes", [])]
        notebooks = {}
        for stem in self.chapter.release:
            notebooks[stem] = self._notebook(submission, stem)
        for verdict in submission.verdicts:
            verdicts.add_records(verdict, about.get("records", {}))
        submission.seconds = round(time.perf_counter() - started, 2)
        return submission, notebooks

    def _about(self, student) -> dict:
        path = self.space.received(self.chapter.name, student) / "current.json"
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}

    def _notebook(self, submission, stem) -> rebuild.Rebuilt:
        path = self.space.submitted(self.chapter.name, submission.student) / f"{stem}.ipynb"
        try:
            cells, problem = rebuild.read_cells(path.read_bytes())[0], ""
        except FileNotFoundError:
            cells, problem = [], f"The notebook {stem} was not handed in."
        except rebuild.NotebookError as error:
            cells, problem = [], f"The notebook {stem} cannot be read: {error}."
            submission.look = True
        made = rebuild.rebuild(self.chapter.release[stem], cells)
        if problem:
            made.restored.clear()  # nothing was tampered with: there is nothing
        try:
            told = grade_run.run(made, self.chapter.tasks[stem], self.stage, self.limits)
        except Exception as error:
            print(
                f"grade: {submission.student} {stem}: {type(error).__name__}: {error}",
                file=sys.stderr,
            )
            told = self._failed(stem)
            submission.look = True
            submission.notes.append(f"{stem} could not be run: {type(error).__name__}: {error}")
        submission.notes += [f"{stem}: {note}" for note in told.notes]
        submission.look |= bool(told.notes)
        submission.verdicts += [
            self._verdict(submission, stem, name, made, told, problem)
            for name in self.chapter.points[stem]
        ]
        submission.written += _written(self.chapter.name, stem, self.chapter.release[stem], made)
        return made

    def _failed(self, stem) -> grade_run.Run:
        reason = "The grader failed on this notebook. Your instructor has been told."
        found = {
            name: grade_run.Found(kind="error", reason=reason) for name in self.chapter.tasks[stem]
        }
        return grade_run.Run(found=found)

    def _verdict(self, submission, stem, name, made, told, problem) -> Graded:
        notebook, found = f"{self.chapter.name}/{stem}", told.found[name]
        source = "\n".join(part.cell.source for part in made.parts if part.runs)
        if found.outcomes is not None:
            verdict = self._judged(notebook, name, found.outcomes, source)
        else:
            kind, evidence = _unjudged(name, found, told.errors.get(name), source)
            verdict = Graded(
                name, notebook, kind, 0.0, self.chapter.points[stem][name], problem or evidence
            )
        verdict.how = _how(made, name)
        # Outcomes that end as "output" were no outcomes: somebody forged them.
        submission.look |= found.look or (found.outcomes is not None and verdict.kind == "output")
        if name in made.restored:
            verdict.evidence += f" Its check cell {made.restored[name]}: the course's own was used."
        return verdict

    def _judged(self, notebook, name, outcomes, source) -> Graded:
        try:
            plain = self.judge.verdict(notebook, name, outcomes, source)
        except FrameError:
            points = self.chapter.points[notebook.split("/")[1]][name]
            return Graded(
                name,
                notebook,
                "output",
                0.0,
                points,
                f"The results of {name} are too large to compare.",
            )
        return verdicts.of_judgement(judging.Verdict.from_plain(plain), notebook)


def _unjudged(name, found, error, source) -> tuple[str, str]:
    """Kind and evidence of an exercise whose answer could not be asked."""
    if found.reason or error is None:
        return found.kind, found.reason
    told = judge_safety.clean_error(error, source)
    kinds = {"SystemExit": "exited", "MemoryError": "memory", "OutOfMemoryError": "memory"}
    line = f" in line {told['number']}, `{told['line']}`" if "line" in told else ""
    return kinds.get(told["type"], "error"), f"The cell of {name} raised {told['type']}{line}."


def _how(made, name) -> str:
    how = f"found {made.how[name]}" if made.how.get(name) else "not found"
    return (
        f"{how}; tampered and restored: its check cell {made.restored[name]}"
        if name in made.restored
        else how
    )


def _written(chapter, stem, release, made) -> list[Written]:
    found = []
    for cell in release:
        name = cell.about("written")
        if name:
            answered = bool(made.how.get(name)) and name not in made.untouched
            points = float(cell.metadata["nbgrader"]["points"])
            found.append(Written(name, f"{chapter}/{stem}", points, answered, _how(made, name)))
    return found


def _progress(number, total, submission):
    kinds = [verdict.kind for verdict in submission.verdicts]
    told = ", ".join(f"{kinds.count(kind)} {kind}" for kind in verdicts.KINDS if kind in kinds)
    points = f"{submission.points:g} of {submission.max_points:g}"
    look = "  LOOK" if submission.look else ""
    print(
        f"[{number}/{total}] {submission.student}: {points} points ({told}) in {submission.seconds:.1f} s{look}",
        flush=True,
    )

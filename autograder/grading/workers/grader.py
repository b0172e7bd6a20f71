"""Grades one submission: rebuilt from the release, run in the sandbox, judged outside it.

Reads and writes no file of the workspace, so that it may run on another machine than the one that keeps them.
"""

import contextlib
import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.engine import judge_safety
from autograder.engine.inside.frames import FrameError
from autograder.engine.judge import Judge, JudgeError
from autograder.engine.stage import Stage, StageError
from autograder.engine.worker_client import Limits
from autograder.grading import verdicts
from autograder.grading.gradebook import pages
from autograder.grading.jobs import Chapter, Done, Job, Result, finish
from autograder.grading.rebuilding import editions, rebuild
from autograder.grading.verdicts import Graded, Written
from autograder.grading.workers import passes
from descent import judging

GRADER_FAILED = "The grader failed on this notebook. Your instructor has been told."


@dataclass
class Grader:
    """Grades one submission at a time. Threads may share one only as `bench.Bench` does it."""

    chapter: Chapter
    judge: Judge
    stage: Stage
    limits: Limits

    def grade(self, job: Job) -> Done:
        """The verdicts on a submission and its autograded notebooks. Raises what `notebook` does."""
        results = {stem: self.notebook(stem, job.files.get(stem)) for stem in self.chapter.release}
        return finish(self.chapter.name, job, results)

    def notebook(self, stem: str, data: bytes | None) -> Result:
        """What comes of one notebook; data: None where it was not handed in.

        Raises nothing that a submission can cause; StageError or JudgeError where sandbox or judge are gone.
        """
        started = time.perf_counter()
        try:
            result = self._result(stem, data)
        except (StageError, JudgeError):
            raise
        except Exception as error:
            result = failed(self.chapter, stem, f"{type(error).__name__}: {error}")
        result.seconds = round(time.perf_counter() - started, 3)
        return result

    def _result(self, stem, data) -> Result:
        release = self.chapter.release[stem]
        cells, about, problem, look = _read(stem, data)
        since = editions.changed(release, cells)
        notes = editions.words(self.chapter.metadata[stem], about, since)
        made = rebuild.rebuild(release, cells)
        if problem:
            made.restored.clear()  # nothing was tampered with: there is nothing
        told = passes.run(made, self.chapter.tasks[stem], self.stage, self.limits)
        if self.stage.process.poll() is not None:  # then what ended in there is nobody's fault
            raise StageError("the process that all sandboxes are forked from ended")
        found = [
            self._verdict(stem, name, made, told, problem, name in since)
            for name in self.chapter.points[stem]
        ]
        look |= bool(told.notes or since) or any(_forged(told.found[v.exercise], v) for v in found)
        return Result(
            found, _written(self.chapter.name, stem, release, made, since), notes + told.notes,
            _no_response(made), look,
            pages.text(made, found, self.chapter.metadata[stem]),
        )  # fmt: skip

    def _verdict(self, stem, name, made, told, problem, otherwise) -> Graded:
        notebook, points = f"{self.chapter.name}/{stem}", self.chapter.points[stem][name]
        found = told.found[name]
        sources = _students_cells(made, name)
        if found.outcomes is not None:
            verdict = self._judged(stem, name, found.outcomes, sources)
        else:
            kind, evidence = _unjudged(name, found, told.errors.get(name), sources)
            verdict = Graded(name, notebook, kind, 0.0, points, problem or evidence)
        verdict.how, verdict.restored = _how(made, name, otherwise), name in made.restored
        if verdict.restored:
            verdict.evidence += f" Its check cell {made.restored[name]}: the course's own was used."
        return verdict

    def _judged(self, stem, name, outcomes, sources) -> Graded:
        notebook = f"{self.chapter.name}/{stem}"
        try:
            plain = self.judge.verdict(stem, name, outcomes, sources)
        except FrameError:
            points = self.chapter.points[stem][name]
            evidence = f"The results of {name} are too large to compare."
            return Graded(name, notebook, "output", 0.0, points, evidence)
        return verdicts.of_judgement(judging.Verdict.from_plain(plain), notebook)


def _students_cells(made, name) -> list[str]:
    """The sources of all that the student wrote, the answer to `name` first."""
    own = [part for part in made.parts if part.runs and part.role != "release"]
    return [part.cell.source for part in sorted(own, key=lambda part: name not in part.exercises)]


@contextlib.contextmanager
def warm_grader(chapter: Chapter, limits: Limits, *, sandboxed: bool = True) -> Iterator[Grader]:
    """A grader with a sandbox and a judge of its own, which end with it.

    Raises SandboxError, StageError, JudgeError where one cannot be had.
    """
    with (
        Stage(chapter.notebooks, chapter.modules, sandboxed=sandboxed) as stage,
        Judge(chapter.data) as judge,
    ):
        yield Grader(chapter, judge, stage, limits)


def failed(chapter: Chapter, stem: str, reason: str) -> Result:
    """The result of a notebook that the grader failed on: nobody's fault but ours, so a person must look."""
    notebook, release = f"{chapter.name}/{stem}", chapter.release[stem]
    found = [
        Graded(name, notebook, "error", 0.0, points, GRADER_FAILED)
        for name, points in chapter.points[stem].items()
    ]
    made = rebuild.rebuild(release, [])
    page = pages.text(made, found, chapter.metadata[stem])
    written = _written(chapter.name, stem, release, made, [])
    for answer in written:  # unseen: a person has to look
        answer.answered, answer.fingerprint = True, ""
    note = f"could not be graded: {reason}"
    return Result(found, written, [note], look=True, page=page, failed=True)


def _read(stem, data) -> tuple[list[rebuild.Cell], dict, str, bool]:
    """The submitted cells, the notebook's metadata, what is wrong with the file, and whether a person should look."""
    if data is None:
        return [], {}, f"The notebook {stem} was not handed in.", False
    try:
        return *rebuild.read_cells(data), "", False
    except rebuild.NotebookError as error:
        return [], {}, f"The notebook {stem} cannot be read: {error}.", True


def _forged(found, verdict) -> bool:
    """Whether somebody wrote to the grader: outcomes that end as "output" were no outcomes."""
    return found.look or (found.outcomes is not None and verdict.kind == "output")


def _unjudged(name, found, error, sources) -> tuple[str, str]:
    """Kind and evidence of an exercise whose answer could not be asked."""
    if found.reason or error is None:
        return found.kind, found.reason
    told = judge_safety.clean_error(error, sources)
    kinds = {"SystemExit": "exited", "MemoryError": "memory", "OutOfMemoryError": "memory"}
    line = f" in line {told['number']}, `{told['line']}`" if "line" in told else ""
    return kinds.get(told["type"], "error"), f"The cell of {name} raised {told['type']}{line}."


def _how(made, name, otherwise) -> str:
    """How the answer was found. otherwise: whether the release that it was written in asked something else."""
    how = f"found {made.how[name]}" if made.how.get(name) else "not found"
    how += "; its text has changed since the release that was handed in" * otherwise
    if name not in made.restored:
        return how
    return f"{how}; tampered and restored: its check cell {made.restored[name]}"


def _written(chapter, stem, release, made, since) -> list[Written]:
    found = []
    texts = {part.name: part.cell.plain for part in made.parts if part.role == "written"}
    for cell in release:
        name = cell.about("written")
        if name:
            answered = bool(made.how.get(name)) and name not in made.untouched
            points = float(cell.metadata["nbgrader"]["points"])
            mark = hashlib.sha256(texts.get(name, "").encode()).hexdigest()
            how = _how(made, name, name in since)
            found.append(Written(name, f"{chapter}/{stem}", points, answered, how, mark))
    return found


def _no_response(made) -> list[str]:
    """Answers, and written ones, that are missing or as they were handed out."""
    return [name for name, how in made.how.items() if not how or name in made.untouched]

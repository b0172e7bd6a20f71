"""What a grading run hands around, as plain data: a worker that grades may run on another machine.

A `Chapter` is read once, a `Job` for each submission; a `Done` is what comes back.
"""

import contextlib
import json
from dataclasses import dataclass, field, replace
from functools import cached_property

from autograder.engine import judge, needs
from autograder.engine.prepare import prepare
from autograder.grading import verdicts
from autograder.grading.rebuilding import editions, rebuild
from autograder.grading.rebuilding.rebuild import Cell
from autograder.grading.verdicts import Graded, Submission, Written
from autograder.workspace import Workspace, nearest_first


class GradeError(RuntimeError):
    """The chapter cannot be graded at all; str() says why and what to do."""


@dataclass
class Chapter:
    """A chapter as it was released, ready to grade once it has its data; each field by notebook.

    metadata: the released notebook's own. data: exercise -> what it is judged by, as `prepare` makes it.
    """

    name: str
    release: dict[str, list[Cell]]
    metadata: dict[str, dict]
    data: dict[str, dict[str, dict]] = field(default_factory=dict)

    @property
    def notebooks(self) -> list[str]:
        return [f"{self.name}/{stem}" for stem in self.release]

    @cached_property
    def points(self) -> dict[str, dict[str, float]]:
        """Notebook -> exercise -> points."""
        return {stem: points_of(cells) for stem, cells in self.release.items()}

    @cached_property
    def tasks(self) -> dict[str, dict[str, dict]]:
        """Notebook -> exercise -> what the sandbox is asked of it."""
        return judge.tasks(self.data)

    @property
    def modules(self) -> list[str]:
        """What the released cells import."""
        code = [cell for cells in self.release.values() for cell in cells if cell.kind == "code"]
        return sorted(set().union(*(needs.imports(cell.source) for cell in code)))


@dataclass
class Job:
    """One submission. files: notebook -> what of its file decides its grade (see `essence`); without what is missing.

    about: what `collect` noted of the hand-in.
    """

    student: str
    files: dict[str, bytes]
    about: dict = field(default_factory=dict)


@dataclass
class Result:
    """What came of one notebook of one submission; nothing in it says whose it is.

    page: the autograded notebook's JSON text. seconds: that grading took. failed: the grader did, not the student.
    """

    verdicts: list[Graded]
    written: list[Written] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    no_response: list[str] = field(default_factory=list)
    look: bool = False
    page: str = ""
    seconds: float = 0.0
    failed: bool = False


@dataclass
class Done:
    """A graded submission. pages: notebook -> its autograded notebook's JSON text.

    failed: the grader failed on some of it.
    """

    submission: Submission
    pages: dict[str, str]
    failed: bool = False


def finish(chapter: str, job: Job, results: dict[str, Result]) -> Done:
    """The results of a submission's notebooks, put together with what is known of the hand-in."""
    about = job.about
    done = Submission(
        chapter, job.student, str(about.get("submitted", "")), str(about.get("file", ""))
    )
    done.notes = [str(note) for note in about.get("notes", [])]
    for stem, result in results.items():
        done.verdicts += [replace(verdict) for verdict in result.verdicts]
        done.written += result.written
        done.notes += [f"{stem}: {note}" for note in result.notes]
        done.no_response += [f"{stem}/{name}" for name in result.no_response]
        done.look |= result.look
    records = about.get("records", {})
    for verdict in done.verdicts:
        verdicts.add_records(verdict, records)
    done.guesses = verdicts.guesses([f"{chapter}/{stem}" for stem in results], records)
    done.seconds = round(sum(result.seconds for result in results.values()), 2)
    pages = {stem: result.page for stem, result in results.items()}
    return Done(done, pages, any(result.failed for result in results.values()))


def read_release(space: Workspace, name: str) -> Chapter:
    """The released chapter without its data. Raises GradeError when there is none."""
    files = space.release(name)
    if not files:
        raise GradeError(
            f"there is no released chapter {name!r} in {space.project / 'course'}. First: autograder build"
        )
    read = {stem: rebuild.read_cells(path.read_bytes()) for stem, path in files.items()}
    release = {stem: cells for stem, (cells, _) in read.items()}
    return Chapter(name, release, {stem: about for stem, (_, about) in read.items()})


def read_chapter(space: Workspace, name: str) -> Chapter:
    """The released chapter, ready to grade. Raises GradeError when there is none, PrepareError when a spec fails."""
    chapter = read_release(space, name)
    chapter.data = prepare(space, name, chapter.points)
    return chapter


def points_of(cells: list[Cell]) -> dict[str, float]:
    """Exercise -> points, from the checks of a released notebook."""
    return {
        c.about("check"): float(c.metadata["nbgrader"]["points"]) for c in cells if c.about("check")
    }


def chosen(space: Workspace, chapter: str, students: list[str] | None = None) -> list[str]:
    """Whom to grade: all who handed in, or `students`. Raises GradeError for a stranger, or where nobody did."""
    known = space.students(chapter)
    unknown = [student for student in students or [] if student not in known]
    if unknown:
        raise GradeError(
            space.no_chapter(chapter)
            or f"no hand-in of {chapter} from {', '.join(unknown)}. There are: {nearest_first(unknown[0], known)}."
        )
    if not known:
        raise GradeError(
            space.no_chapter(chapter)
            or f"nobody has handed in {chapter}. First: autograder collect {chapter} FILE…"
        )
    return list(dict.fromkeys(students or known))


def read_job(space: Workspace, chapter: str, student: str) -> Job:
    """One student's submission as it lies in the workspace: a notebook that is not there is left out."""
    files = {}
    for stem in space.release(chapter):
        with contextlib.suppress(FileNotFoundError):
            files[stem] = essence(_bytes(space.submitted(chapter, student) / f"{stem}.ipynb"))
    return Job(student, files, _about(space, chapter, student))


def essence(data: bytes) -> bytes:
    """What of a notebook's file decides its grade: each cell's kind, text, pictures, id and marks of nbgrader and ours,
    and which release it was made from.

    Outputs, however large, stay behind. A file that cannot be read as a notebook is left as it is.
    """
    try:
        cells, metadata = rebuild.read_cells(data)
        about = {"descent": {"source": editions.source(metadata)}}
        kept = {"cells": [_essential(cell) for cell in cells], "metadata": about, "nbformat": 4}
        return json.dumps(kept, sort_keys=True).encode()
    except (rebuild.NotebookError, RecursionError):
        return data


def _essential(cell: Cell) -> dict:
    marks = {key: cell.metadata[key] for key in ("nbgrader", "descent") if key in cell.metadata}
    told = {"cell_type": cell.kind, "id": cell.id, "metadata": marks, "source": cell.source}
    return told | ({"attachments": cell.attachments} if cell.attachments else {})


def _bytes(path) -> bytes:
    """A file's bytes; none where it cannot be read, which is then told as a notebook that is no JSON."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError:
        return b""


def _about(space, chapter, student) -> dict:
    path = space.received(chapter, student) / "current.json"
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}

"""Grades an instructor's own nbgrader assignment: `autograder grade ASSIGNMENT --course FOLDER`.

Reads the course's nbgrader_config.py and gradebook, runs every submission in the sandbox, and writes what `nbgrader
autograde` would: the folder autograded/ and the scores. The rest (formgrader, feedback, export) is nbgrader's own.
"""

import contextlib
import gc
import math
import os
import sys
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from autograder import stopping
from autograder.classic import run
from autograder.classic.course import MOST_BYTES, UNFINISHED, Course, CourseError, Handin, Sheet
from autograder.classic.restore import restore
from autograder.engine import sandbox
from autograder.engine.stage import Stage, StageError
from autograder.engine.worker_client import Limits
from autograder.grading.jobs import GradeError
from autograder.grading.lock import locked
from autograder.grading.progress import needing
from autograder.grading.rebuilding.cells import NotebookError, read_cells
from autograder.grading.workers import garbage
from autograder.workspace import Workspace

MOST_FILES = 1000  # beside the notebooks of one hand-in
# Imported once for all notebooks, where the assignment needs them: a package that starts a thread would stop all forks.
WARM = set("matplotlib numpy pandas scipy sklearn seaborn statsmodels sympy torch".split())
FIGURES = "matplotlib.pyplot"
AHEAD = 4  # hand-ins for each job that may be run before the one in turn is entered
NO_LIMIT = 360.0  # seconds that stand for a cell's where the course sets none
NOTEBOOK_TIMES = 10  # a notebook may take this many times the limit of one cell, and at least 300 s


def grade(
    folder: Path,
    assignment: str,
    students: list[str] | None = None,
    *,
    jobs: int = 2,
    sandboxed: bool = True,
    force: bool = False,
) -> int:
    """Grade those who handed in (all, or `students`); force: also those who are graded already.

    Status 0: all graded. 1: graded, some need a look. 2: nothing can be graded, and why on stderr.
    """
    if not sandboxed:
        print(
            "WARNING: no sandbox. Students' code runs as you and can read your files.",
            file=sys.stderr,
        )
    # nbgrader calls alembic by name when it makes a database.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    folder = Path(folder).expanduser().resolve()
    try:
        if not folder.is_dir():
            raise CourseError(f"there is no folder {folder}.")
        with contextlib.chdir(folder), locked(Workspace(folder / ".autograder")):
            course = Course(folder, assignment)
            todo = _chosen(course, students, force)
            looks = _grade(course, todo, jobs, sandboxed) if todo else 0
    except (CourseError, GradeError, sandbox.SandboxError, StageError) as error:
        print(f"grade: {error}", file=sys.stderr)
        return 2
    return 1 if looks else 0


def _chosen(course: Course, students: list[str] | None, force: bool) -> dict[str, Path]:
    """Whom to grade now, with their folders. As nbgrader does: who is graded stays so, until something newer comes."""
    known = course.students()
    unknown = [student for student in students or [] if student not in known]
    if unknown:
        raise CourseError(
            f"no hand-in of {course.assignment} from {', '.join(unknown)}. There are: {', '.join(known) or 'none'}."
        )
    if not known:
        raise CourseError(
            f"nobody has handed in: there is no folder {course.path('submitted', '*')}"
        )
    wanted = {name: known[name] for name in students or known}
    todo = {name: path for name, path in wanted.items() if force or course.is_new(name)}
    if len(todo) < len(wanted):
        print(f"{len(wanted) - len(todo)} are graded already; --force grades them again.")
    return todo


def _grade(course, todo, jobs, sandboxed) -> int:
    """Run and enter those hand-ins -> how many need a look."""
    from autograder.classic.record import Recorder

    own, looks = _own_files(course), 0
    for sheet in course.sheets.values():
        _require_python(sheet)
    limits, recorder = _limits(course), Recorder(course)
    modules = {name for name in course.imports() if name.split(".")[0] in WARM} | {FIGURES}
    with Stage([], sorted(modules), live=True, sandboxed=sandboxed) as stage:
        tasks = [partial(_run, course, name, todo[name], own, stage, limits) for name in todo]
        for number, done in enumerate(_in_order(tasks, jobs), 1):
            looks += _enter(recorder, done, f"[{number}/{len(todo)}]")
    print(f"{len(todo)} graded, {needing(looks)}.")
    return looks


def _in_order(tasks: list, jobs: int):
    """Results in order. A few tasks are done ahead: what waits to be entered is in memory."""
    waiting: deque = deque()
    with garbage.only_between(), ThreadPoolExecutor(jobs) as pool:
        try:
            for task in tasks:
                waiting.append(pool.submit(task))
                if len(waiting) > AHEAD * jobs:
                    yield stopping.result(waiting.popleft())
            while waiting:
                yield stopping.result(waiting.popleft())
        finally:  # after a failure, or Ctrl-C, no further one is begun
            pool.shutdown(cancel_futures=True)


def _own_files(course: Course) -> dict[str, bytes]:
    files = course.own_files()
    size = sum(map(len, files.values()))
    if size > MOST_BYTES or len(files) > MOST_FILES:
        raise CourseError(
            f"beside the notebooks of {course.assignment} lie {len(files)} files of {size / 1e6:.0f} MB; a sandbox "
            f"takes {MOST_FILES} of {MOST_BYTES / 1e6:.0f} MB. For this assignment use nbgrader autograde."
        )
    return files


def _make_room(handin: Handin, own: dict[str, bytes], sheets) -> None:
    """Leave out of a hand-in the files that do not fit beside the instructor's own, or beside the notebooks."""
    files = {*own, *(f"{name}.ipynb" for name in sheets), UNFINISHED}
    folders = {str(parent) for name in own for parent in Path(name).parents}
    for name in [*handin.files]:
        if name in folders or any(str(parent) in files for parent in Path(name).parents):
            del handin.files[name]
            handin.note(f"{name} stands in the way of a file of the assignment, and was left out")
    size = sum(map(len, [*handin.files.values(), *own.values()]))
    if size > MOST_BYTES or len(handin.files) + len(own) > MOST_FILES:
        handin.files.clear()
        handin.note("its files beside the notebooks are too many or too large, and were left out")


def _require_python(sheet: Sheet) -> None:
    """Raises CourseError for a notebook of another language."""
    name = str(sheet.kernel.get("name", "python"))
    language = str(sheet.kernel.get("language") or name)
    if not language.lower().startswith("python"):
        raise CourseError(
            f"{sheet.name} is written for the kernel {name!r} ({language}). Only Python can be run here; for this "
            "assignment use nbgrader autograde."
        )


def _limits(course: Course) -> Limits:
    """The course's own: of a cell (c.Execute.timeout, 30 s by default), and of memory (c.Sandbox.memory_gb, 2)."""
    from nbgrader.preprocessors import Execute

    seconds = float(max(Execute(parent=course.app).timeout or 0, 0))
    total = max(Limits.total, NOTEBOOK_TIMES * (seconds or NO_LIMIT))
    # A cell may wait as long as nbgrader lets it.
    times = {"cell": seconds, "total": total, "cpu": max(Limits.cpu, int(total)), "idle": math.inf}
    return Limits(**times, **_memory(course.app.config.Sandbox.get("memory_gb")))


def _memory(wanted) -> dict[str, int]:
    """Limits for a course that names its gigabytes. Raises CourseError where they are none."""
    if wanted is None:
        return {}
    if type(wanted) not in (int, float) or not 0.5 <= wanted < 1000:
        raise CourseError(
            f"c.Sandbox.memory_gb is {wanted!r}: give the gigabytes of a submission, 0.5 or more."
        )
    used = int(wanted * 1e9)
    return {"all_memory": used, "memory": used + Limits.memory - Limits.all_memory}


@dataclass
class _Done:
    """A hand-in that was run: its notebooks by name, and the seconds that they took. failed: of the grader itself."""

    handin: Handin
    executed: dict = field(default_factory=dict)
    seconds: float = 0.0
    failed: bool = False


def _run(course: Course, student: str, folder: Path, own, stage, limits) -> _Done:
    """Run one hand-in. Raises nothing that a submission can cause."""
    started = time.monotonic()
    done = _Done(Handin(student))
    try:
        done.handin = course.read(student, folder)
        _make_room(done.handin, own, course.sheets)
        for name, data in _matched(done.handin, course.sheets).items():
            _run_notebook(done, course, course.sheets[name], data, own, stage, limits)
    except StageError:
        raise
    except Exception as error:
        done.failed = True
        done.handin.note(f"it could not be run: {type(error).__name__}: {error}")
    done.handin.notebooks.clear()  # many may wait to be entered
    gc.collect()
    done.seconds = time.monotonic() - started
    return done


def _run_notebook(
    done: _Done, course: Course, sheet: Sheet, data: bytes, own, stage, limits
) -> None:
    try:
        restored = restore(sheet, data)
    except NotebookError as error:
        done.handin.note(f"the notebook {sheet.name} cannot be read: {error}")
        return
    for words in restored.notes:
        done.handin.note(words)
    done.handin.notes += [f"{sheet.name}: {words}" for words in restored.said]
    run.run(restored.notebook, course.assignment, done.handin.files | own, stage, limits)
    done.executed[sheet.name] = restored.notebook


def _matched(handin: Handin, sheets: dict[str, Sheet]) -> dict[str, bytes]:
    """The hand-in's notebooks by the assignment's names; a renamed one is known by the cells in it."""
    found = {name: handin.notebooks[name] for name in sheets if name in handin.notebooks}
    others = {name: data for name, data in handin.notebooks.items() if name not in sheets}
    for name in sheets.keys() - found.keys():
        scores = {other: _shared(sheets[name], data) for other, data in others.items()}
        best = max(scores, key=scores.get, default=None)
        if best and scores[best]:
            found[name] = others.pop(best)
            handin.note(f"{best}.ipynb was taken for {name}")
        else:
            handin.notes.append(f"the notebook {name} was not handed in")
    handin.look |= not found
    return found


def _shared(sheet: Sheet, data: bytes) -> int:
    """How many of the sheet's marked cells are in a notebook."""
    try:
        return len({cell.grade_id for cell in read_cells(data)[0]} & {m.name for m in sheet.marked})
    except NotebookError:
        return 0


def _enter(recorder, done: _Done, place: str) -> bool:
    """Enter a hand-in and say so -> whether it needs a look. An error of the grader's own stops nobody."""
    handin, points = done.handin, "NOT entered"
    try:
        if not done.failed:
            entered = recorder.record(handin, done.executed)
            waits = ", some to be marked by hand" if entered.waits else ""
            points = f"{entered.points:g} of {entered.max_points:g} points{waits}"
    except Exception as error:
        handin.note(f"it could not be entered: {type(error).__name__}: {error}")
    look = "  LOOK" if handin.look else ""
    print(f"{place} {handin.student}: {points} in {done.seconds:.1f} s{look}", flush=True)
    for words in handin.notes:
        print(f"    {words}")
    return handin.look

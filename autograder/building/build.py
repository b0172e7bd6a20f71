"""Builds both editions of a notebook from its master: `python -m autograder build [NOTEBOOK…]`.

master -> solution notebook (executed) -> student's edition (through nbgrader's generate_assignment), beside it
the check data and the target pictures. Only what changed is built; the same input gives the same bytes.
"""

import argparse
import ast
import contextlib
import copy
import fcntl
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from autograder import checkdata
from autograder.building import form, masters, minutes, outputs, predictions, release, tables
from autograder.building.draft import Draft, named, place, seen_from
from autograder.checkdata import ROOT
from descent import editions, skipping

COURSE = ROOT / "course"
CHECKS = COURSE / "descent" / "checks"
FORMAT = 4  # raise it when a change of the build must rebuild every notebook


class BuildError(Exception):
    """A notebook that cannot be built; str() says what to mend."""


def main(argv: list[str] | None = None) -> int:
    """Status 0: built. 1: some notebook has a problem, printed with its place. 2: wrong command.

    Raises TableError where the tables of notebooks and chapters cannot be used.
    """
    parser = argparse.ArgumentParser(prog="autograder build", description=__doc__)
    parser.add_argument(
        "notebook", nargs="*", help="for example 03_optimisation/01_gradient_descent; all without"
    )
    parser.add_argument("--force", action="store_true", help="build what is up to date too")
    arguments = parser.parse_args(argv)
    if unknown(arguments.notebook, "build"):
        return 2
    tables.require(masters.SOLUTIONS)
    chosen = arguments.notebook or masters.notebooks()
    with alone():
        todo = [name for name in chosen if arguments.force or stale_parts(name)]
        failed = run_all(build, todo)
        if not failed:
            from autograder.building import pages

            pages.write_all()
    done = len(todo) - len(failed)
    print(f"{done} built, {len(failed)} failed, {len(chosen) - len(todo)} up to date.")
    return 1 if failed else 0


def unknown(names: list[str], command: str) -> list[str]:
    """The names that no master has, told to whoever typed them."""
    known = masters.notebooks()
    wrong = [name for name in names if name not in known]
    if wrong:
        told = f"{command}: no master for {', '.join(wrong)}. Known: {', '.join(known)}."
        print(told, file=sys.stderr)
    return wrong


@contextlib.contextmanager
def alone():
    """Wait until no other build of this project runs, and keep others waiting."""
    CHECKS.mkdir(parents=True, exist_ok=True)
    folder = os.open(CHECKS, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def run_all(job: Callable[[str], float], notebooks: list[str]) -> list[str]:
    """Do a job of some seconds for each notebook, two at a time, told as it goes -> those that failed."""
    from autograder.kernels import running

    failed = []
    if notebooks:
        running.prepare(COURSE)
    with ProcessPoolExecutor(max_workers=2) as pool:
        jobs = {pool.submit(job, name): name for name in notebooks}
        for number, done in enumerate(as_completed(jobs), 1):
            try:
                print(f"[{number}/{len(jobs)}] {jobs[done]}: {done.result():.0f} s", flush=True)
            except Exception as error:
                failed.append(jobs[done])
                words = str(error) if isinstance(error, BuildError) else named(error)
                print(
                    f"[{number}/{len(jobs)}] {jobs[done]} FAILED\n{words}",
                    file=sys.stderr,
                    flush=True,
                )
    return failed


def sources(notebook: str) -> list[Path]:
    """Every file whose change rebuilds the notebook: those of its folder, and the pictures that they name."""
    found: set[Path] = set()
    rest = list(masters.master_path(notebook).parent.glob("*.py"))
    while rest:
        path = rest.pop()
        if path.exists() and path not in found:
            found.add(path)
            rest += _named_pictures(path.read_text(encoding="utf-8"))
    return sorted(found)


def _named_pictures(text: str) -> list[Path]:
    """Modules of `descent.pictures` that a Python text imports; none while it is no Python."""
    try:
        nodes = list(ast.walk(ast.parse(_without_magics(text))))
    except SyntaxError:
        return []
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    wanted = [name.split(".") for name in names if name.startswith("descent.pictures.")]
    return [COURSE.joinpath(*parts).with_suffix(".py") for parts in wanted]


def _without_magics(text: str) -> str:
    return "\n".join(
        "" if line.lstrip().startswith(("%", "!")) else line for line in text.splitlines()
    )


def source_hash(notebook: str) -> str:
    """Fingerprint of everything the notebook is built from."""
    digest = hashlib.sha256(f"format {FORMAT}".encode())
    for path in sources(notebook):
        digest.update(f"\n{path.relative_to(ROOT).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def built_files(notebook: str) -> dict[str, Path]:
    return {
        "solution edition": ROOT / "solutions" / f"{notebook}.ipynb",
        "student's edition": COURSE / f"{notebook}.ipynb",
        "check data": CHECKS / f"{notebook}.json",
    }


def stale_parts(notebook: str) -> list[str]:
    """Which built files are missing or were built from something else; none when up to date."""
    wanted = source_hash(notebook)
    return [name for name, path in built_files(notebook).items() if _hash_in(path) != wanted]


def _hash_in(path: Path) -> str | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    about = content if "exercises" in content else content.get("metadata", {}).get("descent", {})
    return about.get("source")


def build(notebook: str) -> float:
    """Build one notebook -> seconds it took. Raises BuildError with every problem found.

    A build that fails leaves the built files as they were.
    """
    started = time.perf_counter()
    master = masters.read(notebook)
    spec_path = checkdata.spec_path(notebook)
    try:
        draft = Draft(master)
        if found := form.stopping(draft):
            raise BuildError("\n".join(map(str, found)))
        data = check_data(master, draft.exercises, masters.errata(master))
    except BuildError:
        raise
    except Exception as error:
        raise BuildError(f"{place(error, spec_path)}: {named(error)}") from error
    with _all_or_nothing(notebook):
        _build_files(notebook, master, data)
    return time.perf_counter() - started


@contextlib.contextmanager
def _all_or_nothing(notebook: str):
    """Put the built files back when a build fails half-way: they belong together."""
    before = {path: path.read_bytes() for path in _existing(notebook)}
    try:
        yield
    except BaseException:
        for path in _existing(notebook):
            path.unlink()
        for path, content in before.items():
            path.write_bytes(content)
        raise


def _existing(notebook: str) -> list[Path]:
    files = [path for path in built_files(notebook).values() if path.exists()]
    return files + outputs.pictures(CHECKS / f"{notebook}.json")


def _build_files(notebook: str, master, data: dict) -> None:
    data_path = CHECKS / f"{notebook}.json"
    outputs.write_json(data_path, data)  # the notebook's own checks read it while it runs
    solution = masters.expand(master)
    masters.with_points(solution, master.points)
    solution.metadata["descent"]["source"] = data["source"]
    execute(solution, notebook, static=True)
    _require_full_points(solution, master)
    data["predictions"] = predictions.taken(solution)
    data["targets"] = outputs.write_targets(solution, data_path)
    outputs.write_json(data_path, data)
    outputs.drop_pictures(solution)
    outputs.write_notebook(solution, ROOT / "solutions" / f"{notebook}.ipynb")
    student = generate(notebook)
    data["cells"] = editions.released(student)
    outputs.write_json(data_path, data)
    problems = release.notebook_problems(solution, student)
    if problems:
        raise BuildError("\n".join(f"course/{notebook}.ipynb: {problem}" for problem in problems))
    unsolved = execute(copy.deepcopy(student), notebook, static=False)
    require_targets(unsolved, notebook, data)
    if told := predictions.tellings(unsolved, data["predictions"]):
        raise BuildError("\n".join(f"{notebook}: {problem}" for problem in told))
    outputs.write_notebook(
        student, COURSE / f"{notebook}.ipynb"
    )  # last: a build cut short stays stale


def check_data(master, exercises, errata) -> dict:
    """What the student's library needs to know of a notebook, as plain data."""
    points, asked = master.points, master.of("exercise")
    return {
        "source": source_hash(master.notebook),
        "notebook": master.notebook,
        "title": master.title,
        "minutes": minutes.planned(master),
        "builds": master.head["builds"],
        "exercises": {
            name: checkdata.exercise_data(
                exercises[name], points[name], checkdata.public_seed(master.notebook, name)
            )
            | {"part": asked[name].part}
            for name in points
        },
        "errata": len(errata),
        "predictions": {},
        "targets": {},
        "cells": {},
    }


def execute(notebook, name: str, *, static: bool):
    """Run a notebook in a fresh kernel, in its own folder -> the same notebook with outputs.

    static: widgets show their first state, as on a page without a kernel. Raises BuildError at an error or a
    warning, with the cell.
    """
    from autograder.kernels import running

    try:
        return running.execute(notebook, COURSE / name.split("/")[0], COURSE, static=static)
    except running.RunError as error:
        raise BuildError(f"{_where(name, error.cell, error.line)}: {error}") from error.__cause__


def _where(notebook: str, cell_id: str | None, line: int = 0) -> str:
    """The place in the master of a cell of either edition, or of a line in it."""
    master = masters.read(notebook)
    lines = {
        made.id: cell.line
        for made, cell in zip(masters.expand(master).cells, master.cells, strict=True)
    }
    return f"{seen_from(master.project, master.path)}:{lines.get(cell_id, 1) + line}"


def _require_full_points(solution, master) -> None:
    """Every check of the solution edition gives all its points."""
    problems = []
    for cell in solution.cells:
        name = cell.metadata.get("descent", {}).get("check")
        if name:
            texts = [
                o.data.get("text/plain") for o in cell.outputs if o.output_type == "execute_result"
            ]
            if texts != [str(float(master.points[name]))]:
                shown = "".join(str(o.get("data", {}).get("text/html", "")) for o in cell.outputs)
                given = f"check({name}) gives {texts}, not {master.points[name]}: {shown}"
                problems.append(f"{_where(master.notebook, cell.id)}: {given}")
    if problems:
        raise BuildError("\n".join(problems))


def require_targets(unsolved, notebook: str, data: dict) -> None:
    """Unsolved, each `after` cell shows its line, and its picture where the solution draws one."""
    for cell in unsolved.cells:
        block = outputs.after_block(cell)
        if block is None:
            continue
        page = "".join(str(o.get("data", {}).get("text/html", "")) for o in cell.outputs)
        if "This cell runs once" not in page:
            raise BuildError(
                f"{_where(notebook, cell.id)}: unsolved, this cell shows nothing:\n{cell.source}"
            )
        if skipping.awaited_guesses(block):  # its picture would give away what is to be guessed
            continue
        if skipping.fingerprint(block) in data["targets"] and "<img" not in page:
            raise BuildError(
                f"{_where(notebook, cell.id)}: unsolved, this cell lacks its target picture:\n{cell.source}"
            )


def generate(notebook: str):
    """The student's edition, through nbgrader's own generate_assignment in a staging folder."""
    import nbformat
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.preprocessors import SaveCells

    chapter, name = notebook.split("/")
    config = nbgrader_config()
    with tempfile.TemporaryDirectory() as stage:
        source = Path(stage) / "solutions" / chapter
        source.mkdir(parents=True)
        shutil.copy(ROOT / "solutions" / f"{notebook}.ipynb", source)
        folder = CourseDirectory(config=config, root=stage, assignment_id=chapter)
        named = config.GenerateAssignment.preprocessors
        steps = [step for step in named if step is not SaveCells]  # no gradebook here
        config.GenerateAssignment.preprocessors = steps
        GenerateAssignment(coursedir=folder, config=config, no_database=True).start()
        return nbformat.read(Path(stage) / "course" / chapter / f"{name}.ipynb", as_version=4)


def nbgrader_config():
    from traitlets.config import PyFileConfigLoader

    return PyFileConfigLoader("nbgrader_config.py", path=str(ROOT)).load_config()

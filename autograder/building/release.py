"""What a release may hold, checked on the release itself: no solution, no reference, no wrong answer, no hidden case,
no master, no output of the solution edition but the target pictures."""

import json
import re
from pathlib import Path

from autograder.building import questions
from autograder.checkdata import ROOT
from autograder.markers import BEGIN, END, solution_lines, stubbed
from descent import packing

MADE = {"__pycache__", ".descent", ".ipynb_checkpoints", "handins"}  # by running the course
CODE_STUB = ["# Your code here.", "raise NotImplementedError"]
TEXT_STUB = ["*Your answer here.*"]
DATA_KEYS = set(
    "source notebook title minutes builds exercises errata predictions targets cells".split()
)
EXERCISE_KEYS = set("name part points limit compare probe hints easy cases wrong".split())


def notebook_problems(solution, student) -> list[str]:
    """Differences between the two editions other than stubs, and whatever must not be handed out."""
    problems = []
    if len(solution.cells) != len(student.cells):
        return [f"{len(student.cells)} cells, the solution edition has {len(solution.cells)}"]
    for one, other in zip(solution.cells, student.cells, strict=True):
        stub = CODE_STUB if one.cell_type == "code" else TEXT_STUB
        answer = one.metadata.get("nbgrader", {}).get("solution", False)
        wanted = stubbed(one.source, stub) if answer else one.source
        if name := questions.name_of(one):
            wanted = questions.question(name)
        if other.source != wanted:
            problems.append(f"cell {one.id} differs from the solution edition outside the markers")
        if other.get("outputs") or other.get("execution_count"):
            problems.append(f"cell {one.id} holds outputs")
        if one.id != other.id:
            problems.append(f"cell {one.id} has another id in the student's edition: {other.id}")
    text = "\n".join(cell.source for cell in student.cells)
    problems += [f"solution marker {mark!r} in the text" for mark in (BEGIN, END) if mark in text]
    for cell in solution.cells:
        stays = stubbed(cell.source, [])
        for line in solution_lines(cell.source):
            if line in text and line not in stays and not _stands_elsewhere(line, solution):
                problems.append(
                    f"the solution line {line!r} of {cell.id} is in the student's edition"
                )
    return problems


def _stands_elsewhere(line, solution) -> bool:
    """A line of a solution that the text itself shows outside of any answer."""
    return any(line in stubbed(cell.source, []) for cell in solution.cells)


def bundle_problems(course: Path) -> list[str]:
    """Whatever in a packed course must not be handed out: there, nothing that running makes is passed over."""
    files = sorted(path.relative_to(course) for path in course.rglob("*") if path.is_file())
    hidden = [where for where in files if _is_made(where) or _is_hidden(where)]
    told = [
        f"course/{where.as_posix()}: no part of the course, take it out of git" for where in hidden
    ]
    return told + course_problems(course)


def _is_made(where: Path) -> bool:
    """Whether a file of the course folder came there by running the course."""
    return bool(MADE & set(where.parts)) or "egg-info" in str(where)


def _is_hidden(where: Path) -> bool:
    return any(part.startswith(".") for part in where.parts)


def course_problems(course: Path = ROOT / "course") -> list[str]:
    """Whatever in the course folder must not be handed out."""
    problems = []
    for path in sorted(p for p in course.rglob("*") if p.is_file()):
        where = path.relative_to(course)
        if _is_made(where):
            continue
        problems += [
            f"course/{where.as_posix()}: {problem}" for problem in _file_problems(path, where)
        ]
    return problems


def _file_problems(path, where):
    if where.parts[0] == "descent":
        if path.suffix == ".py" and re.search(
            r"^\s*(from|import) (solutions|autograder|nbgrader)\b", path.read_text(), re.M
        ):
            yield "the student's library imports the author's world"
        if path.suffix == ".json":
            told = json.loads(path.read_text(encoding="utf-8"))
            yield from _data_problems(packing.unpacked(told))
    elif path.suffix == ".py" and len(where.parts) > 1:
        yield "a Python file beside the notebooks: is it a master?"
    elif path.suffix == ".ipynb" and BEGIN in path.read_text(encoding="utf-8"):
        yield "a notebook with its solutions"
    elif path.suffix == ".json":
        yield "a JSON file outside of descent/: are these worked answers?"
    elif path.suffix == ".tsv" or "reference" in where.parts or "exercises" in where.parts:
        yield "belongs to the author's world"


def _data_problems(data):
    if set(data) != DATA_KEYS:
        yield f"unexpected keys {sorted(set(data) ^ DATA_KEYS)}"
    for name, kept in data.get("predictions", {}).items():
        if set(kept) != {"question", "options", "answer"}:
            yield f"prediction {name}: unexpected keys {sorted(kept)}"
    for name, exercise in data.get("exercises", {}).items():
        if set(exercise) != EXERCISE_KEYS:
            yield f"{name}: unexpected keys {sorted(set(exercise) ^ EXERCISE_KEYS)}"
        for wrong in exercise["wrong"]:
            if set(wrong) != {"name", "advice", "results"}:
                yield f"{name}: a known wrong answer ships with more than its results"

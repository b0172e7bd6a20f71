"""What breaks a rule in the specification of a master's exercises: each function yields (place, what to do)."""

from collections.abc import Iterator
from pathlib import Path

from autograder import markers
from autograder.building import proofs
from autograder.building.draft import Draft
from autograder.building.masters import Cell

Slips = Iterator[tuple[Cell | Path | tuple[Path, int], str]]
WORTHS = ("explains", "logloss", "agrees")  # comparisons, as `to_plain` names them


def unpaired(draft: Draft) -> Slips:
    asked = draft.master.of("exercise")
    for name, cell in asked.items():
        if name not in draft.exercises:
            yield cell, f"exercise {name!r} has no specification in exercises.py"
    for name in draft.exercises:
        if name not in asked:
            yield draft.specified(name), f"specification {name!r} has no exercise in notebook.py"


def badly_known(draft: Draft) -> Slips:
    for name, exercise in draft.exercises.items():
        for problem in proofs.form_problems(exercise):
            yield draft.specified(name), f"{name}: {problem}"


def telling_hints(draft: Draft) -> Slips:
    asked = draft.master.of("exercise")
    for name, exercise in draft.exercises.items():
        source = asked[name].source if name in asked else ""
        if any(markers.holds_solution(hint, source) for hint in exercise.hints):
            yield draft.specified(name), f"{name}: a hint holds the whole solution"


def unexplained(draft: Draft) -> Slips:
    for name, exercise in draft.exercises.items():
        if not exercise.why.strip():
            words = f'{name}: say why its solution works: {name}.worked(why="…")'
            yield draft.specified(name), words


def unjudged_project(draft: Draft) -> Slips:
    kinds = str([exercise.compare.to_plain() for exercise in draft.exercises.values()])
    if draft.is_project and not any(worth in kinds for worth in WORTHS):
        yield draft.specification, "no answer of this project is judged by what a choice is worth"

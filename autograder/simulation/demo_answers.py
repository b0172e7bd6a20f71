"""Answers for the simulated class: from the solution edition, and known ones from the exercises' specifications."""

import ast
import builtins
import inspect
import textwrap
from pathlib import Path

from autograder.grading.rebuilding import rebuild
from autograder.workspace import Workspace
from solutions.spec import Answer, Edit


class Unusable(ValueError):
    """A known answer that needs what a student does not have."""


def solutions(space: Workspace, chapter: str, stem: str) -> dict[str, str]:
    """The solution edition's text of every answer and written answer of a notebook, without the rubric."""
    path = space.project / "solutions" / chapter / f"{stem}.ipynb"
    cells, _ = rebuild.read_cells(path.read_bytes())
    return {
        name: cell.source.partition("**Rubric**")[0]
        for cell in cells
        if (name := cell.about("exercise") or cell.about("written"))
    }


def as_student(function, name: str) -> str:
    """A known answer as a student would write it in one cell: under its exercise's name, with what it uses above it.

    Raises Unusable when it uses the author's world, or is not written as a function.
    """
    statement = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
        raise Unusable(f"a known answer of {name} is no function")
    statement.decorator_list = []
    statement.name = name
    needed: list[str] = []
    _collect(statement, _module_statements(function), needed, seen=set())
    return "\n".join([*needed, ast.unparse(statement)])


def _module_statements(function) -> dict[str, ast.stmt]:
    """Name -> the statement at the top of the specification that gives it."""
    found: dict[str, ast.stmt] = {}
    text = Path(inspect.getsourcefile(function)).read_text(encoding="utf-8")
    for statement in ast.parse(text).body:
        for name in _given(statement):
            found[name] = statement
    return found


def _given(statement) -> list[str]:
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).split(".")[0] for alias in statement.names]
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Assign):
        return [target.id for target in statement.targets if isinstance(target, ast.Name)]
    return []


def _collect(statement, top, needed, seen):
    """Put the text of all that `statement` uses into `needed`, in an order that runs."""
    for node in ast.walk(statement):
        name = node.id if isinstance(node, ast.Name) else None
        if name is None or name in seen or name not in top or hasattr(builtins, name):
            continue
        seen.add(name)
        used = top[name]
        if _is_authors(used):
            raise Unusable(f"it uses what only authors have: {ast.unparse(used)}")
        if not isinstance(used, ast.Import | ast.ImportFrom):
            _collect(used, top, needed, seen)
        text = ast.unparse(used)
        if text not in needed:
            needed.append(text)


def _is_authors(statement) -> bool:
    """Whether a statement imports from the author's world: from there by name, or from the specification's folder."""
    if not isinstance(statement, ast.ImportFrom):
        return False
    return statement.level > 0 or statement.module.split(".")[0] in ("solutions", "autograder")


def known(exercise, kind: str) -> list[tuple[str, str, object]]:
    """The known answers ("wrong" or "right") that a student could have written: (name, source, function)."""
    found = []
    for answer in exercise.wrong_answers if kind == "wrong" else exercise.right_answers:
        try:
            found.append((answer.name, _source(answer, exercise.name), answer.function))
        except (Unusable, OSError, TypeError):  # a class of a file loaded by its path has no source
            continue
    return found


def _source(answer: Answer | Edit, name: str) -> str:
    return answer.text if isinstance(answer, Edit) else as_student(answer.function, name)

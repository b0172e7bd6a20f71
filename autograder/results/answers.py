"""The students' answers as syntax trees, from the autograded notebooks of a chapter."""

import ast
import json
from dataclasses import dataclass
from pathlib import Path

from autograder.engine import trees
from autograder.workspace import Workspace

MAX_SOURCE = 20_000  # characters; a longer answer is no answer, and trees made to be deep cost much


@dataclass
class Answer:
    """One answer: the cell that defines the exercise, without the definitions of other exercises in it."""

    student: str
    notebook: str
    exercise: str
    source: str
    tree: ast.Module


def of_class(space: Workspace, chapter: str, names: dict[str, set[str]]) -> list[Answer]:
    """Every readable answer. names: "chapter/notebook" -> its exercises."""
    found = []
    for path in sorted((space.folder / "autograded").glob(f"*/{chapter}/*.ipynb")):
        notebook = f"{chapter}/{path.stem}"
        student = path.parent.parent.name
        sources = _sources(path)
        found += _of_notebook(student, notebook, sources, names.get(notebook, set()))
    return found


def of_notebook(path: Path, notebook: str, names: set[str]) -> list[Answer]:
    """The answers in a notebook of the course itself; none where there is no such notebook."""
    return _of_notebook("", notebook, _sources(path, every=True), names)


def _sources(path: Path, *, every=False) -> list[str]:
    """The code cells of a notebook that are a student's own, or all."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return [
            "".join(cell["source"])
            for cell in cells
            if cell["cell_type"] == "code" and (every or _is_students(cell["metadata"]))
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []  # missing, or changed by hand


def _is_students(metadata) -> bool:
    return bool(
        metadata.get("nbgrader", {}).get("solution") or metadata.get("descent", {}).get("added")
    )


def _of_notebook(student, notebook, sources, names) -> list[Answer]:
    """The last cell that defines an exercise is its answer, as it is when the notebook runs."""
    found = {}
    for source in sources:
        tree = parse(source)
        if tree is None:
            continue
        defined = {name: node for node in tree.body for name in _defines(node) & names}
        for name in defined:
            others = [node for other, node in defined.items() if other != name]
            body = [node for node in tree.body if node not in others]
            found[name] = Answer(student, notebook, name, source, ast.Module(body, []))
    return list(found.values())


def parse(source: str) -> ast.Module | None:
    """The tree of a source, None where it has none."""
    return trees.parse(source) if len(source) <= MAX_SOURCE else None


def _defines(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    return set()


def without_docstrings(tree: ast.AST) -> None:
    """Take the docstrings out of a tree, in place."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list) or not body or not isinstance(body[0], ast.Expr):
            continue
        if isinstance(body[0].value, ast.Constant) and isinstance(body[0].value.value, str):
            node.body = body[1:] or [ast.Pass()]

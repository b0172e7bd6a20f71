"""A rule on names that a widget still needs when the notebook has gone on: yields (cell, what to do)."""

import ast
import builtins
from collections.abc import Iterator

from autograder.building import masters
from autograder.building.draft import Draft
from autograder.building.masters import Cell

_NESTED = ast.FunctionDef | ast.ClassDef | ast.Lambda


def assigned_anew(draft: Draft) -> Iterator[tuple[Cell, str]]:
    """A widget draws again after the last cell has run, when a name may mean something else."""
    cells = [cell for cell in draft.code if cell.tree]
    functions: dict[str, ast.FunctionDef] = {}
    for number, cell in enumerate(cells):
        found = (node for node in ast.walk(cell.tree) if isinstance(node, ast.FunctionDef))
        functions |= {function.name: function for function in found}
        for call in masters.calls(cell, "explore"):
            draws = call.args[0] if call.args else None
            draws = functions.get(draws.id) if isinstance(draws, ast.Name) else draws
            if not isinstance(draws, ast.Lambda | ast.FunctionDef):
                continue
            for later in cells[number + 1 :]:
                for name in sorted(_from_outside(draws) & _assigned(later.tree.body)):
                    yield (
                        cell,
                        (
                            f"what explore(…) draws uses {name}, which line {later.line} assigns anew: "
                            f"bind it, `lambda …, {name}={name}: …`, or name one of them otherwise"
                        ),
                    )


def _from_outside(function: ast.Lambda | ast.FunctionDef) -> set[str]:
    """The names that a function takes from the notebook; its defaults are bound when it is made."""
    own = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    body = function.body if isinstance(function.body, list) else [function.body]
    names = [node for part in body for node in ast.walk(part) if isinstance(node, ast.Name)]
    own |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return {node.id for node in names} - own - set(dir(builtins))


def _assigned(nodes) -> set[str]:
    """The names that statements assign in the notebook, those in blocks too."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, _NESTED):
            names |= {node.name} if hasattr(node, "name") else set()
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif not isinstance(node, ast.comprehension):  # whose names are its own
            names |= _assigned(ast.iter_child_nodes(node))
    return names

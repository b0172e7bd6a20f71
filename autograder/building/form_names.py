"""Rules on names that are needed when they may not be there: each function yields (cell, what to do)."""

import ast
import builtins
from collections.abc import Iterator

from autograder.building import masters
from autograder.building.draft import Draft
from autograder.building.masters import Cell
from descent import skipping

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


def behind_another(draft: Draft) -> Iterator[tuple[Cell, str]]:
    """A student may have what a block waits for, and not what the block waited for that made its names."""
    free: set[str] = set()
    made: dict[str, list[set[str]]] = {}
    for cell in draft.code:
        # A prediction is asked without its code.
        if cell.tree is None or "predict" in cell.metadata:
            continue
        for node in cell.tree.body:
            waits, own = _awaited(node), _assigned([node])
            for name in sorted(_taken(node) & made.keys() - free - own):
                if not any(before <= waits for before in made[name]):
                    lacks = ", ".join(sorted(made[name][0] - waits))
                    yield (
                        cell,
                        f"{name} is made only after {lacks}: let this wait for that, too, or make it outside",
                    )
            if waits:
                for name in own:
                    made.setdefault(name, []).append(waits)
            else:
                free |= own


def _awaited(node: ast.stmt) -> set[str]:
    """The exercises and predictions, as they are written, that a block waits for."""
    if not skipping.is_after(node):
        return set()
    return {ast.unparse(one) for one in node.items[0].context_expr.args}


def _taken(node: ast.stmt) -> set[str]:
    """The names that a statement uses and that nothing in it sets."""
    own = {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
    own |= {part.id for part in names if isinstance(part.ctx, ast.Store)}
    own |= {part.name for part in ast.walk(node) if isinstance(part, ast.FunctionDef)}
    return {part.id for part in names} - own


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

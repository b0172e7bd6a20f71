"""The order in which a rebuilt notebook runs: what an answer needs comes before it is asked.

Cells get moved, and a helper that was run last week may stand below the answer that calls it. In the student's
notebook it worked; read from top to bottom it would not.
"""

import ast
import builtins

MAX_MOVES = 30
_QUIET = (
    ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Assign
)


def settle(parts: list) -> list:
    """The parts, with an added cell of definitions before the answer that needs it and is asked before it."""
    parts = list(parts)
    for _ in range(MAX_MOVES):
        move = _next_move(parts)
        if move is None:
            break
        parts.insert(move[1], parts.pop(move[0]))
    return parts


def _next_move(parts) -> tuple[int, int] | None:
    """(from, to) of the first added cell that comes too late."""
    last = {name: at for at, part in enumerate(parts) if _movable(part) for name in part.cell.names}
    defined = set(dir(builtins))
    needed: dict[str, int] = {}
    for at, part in enumerate(parts):
        if part.runs:
            defined |= part.cell.names
        if part.runs and part.role != "release":
            for name in uses(part.cell):
                needed.setdefault(name, at)
        if part.role == "check":
            late = [(last[n], to) for n, to in needed.items() if n not in defined and n in last]
            if late:
                return min(late)
    return None


def _movable(part) -> bool:
    """Whether it only defines, so that it may run earlier than it stood."""
    tree = part.cell.tree if part.role == "added" and part.runs else None
    return tree is not None and all(isinstance(node, _QUIET) for node in tree.body)


def uses(cell) -> set[str]:
    """Names that a cell reads and nowhere sets."""
    if cell.tree is None:
        return set()
    read, stored = set(), set()
    for node in ast.walk(cell.tree):
        if isinstance(node, ast.arg):
            stored.add(node.arg)
        elif isinstance(node, ast.alias):
            stored.add((node.asname or node.name).split(".")[0])
        elif isinstance(getattr(node, "name", None), str):  # functions, classes, caught errors
            stored.add(node.name)
        elif isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else stored).add(node.id)
    return read - stored - cell.names

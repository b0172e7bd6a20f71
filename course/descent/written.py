"""What a student wrote: the cell that an answer in the kernel comes from, and the answers in a notebook on disk."""

import ast
import hashlib
import json
import linecache
import re
import sys
from pathlib import Path
from types import FunctionType

from descent import session

BROKEN = (SyntaxError, ValueError, RecursionError, MemoryError)  # what `ast.parse` raises


def cell_of(answer) -> str:
    """The text of the cell, or file, that defines a function or a class; "" where it is not known."""
    parts = [answer, *vars(answer).values()] if isinstance(answer, type) else [answer]
    functions = [part for part in parts if isinstance(part, FunctionType)]
    return "".join(linecache.getlines(functions[0].__code__.co_filename)) if functions else ""


def fingerprint(text: str, name: str) -> str:
    """By which a definition is known again, whatever its comments and spaces; "" where the text has none.

    Of several it is the last.
    """
    node = _definitions(text).get(name)
    return _print(node) if node else ""


def failed_since(name: str, cell: str) -> bool:
    """Whether a cell that ran after `cell` begins to define `name`, which is still the one of `cell`."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    ran = getattr(shell, "user_ns", {}).get("In", [])
    defines = re.compile(rf"^(def|class) +{re.escape(name)}\b", re.MULTILINE)
    newest = next((text for text in reversed(ran) if defines.search(text)), cell)
    return bool(cell) and newest.strip() != cell.strip()


def watch() -> None:
    """From now on know which cell of the page each text was run in. Outside IPython nothing is done."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell and not any(hook is _note_cell for hook in shell.events.callbacks["pre_run_cell"]):
        shell.events.register("pre_run_cell", _note_cell)


def _note_cell(info) -> None:
    if cell := getattr(info, "cell_id", None):  # none of what JupyterLab runs by itself
        session.current.ran.setdefault(cell, []).append((info.raw_cell or "").strip())


def renamed(name: str, cell: str) -> list[str]:
    """What the cell of an answer defines now, where it held the text `cell` before and has lost `name`; else []."""
    cell, ran = cell.strip(), session.current.ran.values()
    if any(texts[-1] == cell for texts in ran):
        return []
    newest = next((texts[-1] for texts in ran if cell in texts), "")
    return [] if name in _definitions(newest) else list(_definitions(newest))


class Saved:
    """The answers in a notebook on disk. Raises ValueError where it is none.

    prints: name -> fingerprint of its last definition; "" where that is as it was handed out.
    """

    def __init__(self, path: Path):
        self.prints: dict[str, str] = {}
        for text in _cells(path):
            for name, node in _definitions(text).items():
                self.prints[name] = "" if _is_stub(node) else _print(node)


def _cells(path: Path) -> list[str]:
    """The texts of the code cells."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        return ["".join(cell["source"]) for cell in cells]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        empty = not path.stat().st_size
        raise ValueError("it is empty" if empty else "its text is none of a notebook") from error


def _definitions(text: str) -> dict[str, ast.AST]:
    """What a cell defines or assigns, by name; nothing where it cannot be read."""
    python = re.sub(r"^([ \t]*)[%!].*", r"\1pass", text, flags=re.MULTILINE)  # magics
    try:
        body = ast.parse(python).body
    except BROKEN:
        return {}
    found = {}
    for node in body:
        targets = getattr(node, "targets", [])
        for name in [getattr(node, "name", None), *(getattr(each, "id", None) for each in targets)]:
            if name:
                found[name] = node
    return found


def _print(node: ast.AST) -> str:
    return hashlib.sha256(ast.dump(node).encode()).hexdigest()[:16]


def _is_stub(node) -> bool:
    """Whether a function, or a method of a class, still says that it is to be written."""
    inner = node.body if isinstance(node, ast.ClassDef) else [node]
    ends = [part.body[-1] for part in inner if isinstance(part, ast.FunctionDef)]
    raised = [end.exc for end in ends if isinstance(end, ast.Raise)]
    return any(isinstance(exc, ast.Name) and exc.id == "NotImplementedError" for exc in raised)

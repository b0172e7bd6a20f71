"""What an author wrote for one notebook, as the rules of form look at it."""

import re
import traceback
from functools import cached_property
from pathlib import Path

from autograder import checkdata
from autograder.building.masters import Cell, Master
from solutions.spec import Exercise


class Draft:
    """A master, the files around it, and its exercises, which are loaded when a rule first asks for them."""

    def __init__(self, master: Master):
        self.master = master

    @cached_property
    def exercises(self) -> dict[str, Exercise]:
        """The specifications by name. Raises what exercises.py raises."""
        return checkdata.load_exercises(self.master.notebook)

    @property
    def specification(self) -> Path:
        return self.master.path.with_name("exercises.py")

    @property
    def code(self) -> list[Cell]:
        return [cell for cell in self.master.cells if cell.kind == "code"]

    @property
    def is_project(self) -> bool:
        return self.master.notebook.endswith("_project")

    def specified(self, name: str) -> tuple[Path, int]:
        """The specification and the line where that exercise begins in it."""
        text = self.specification.read_text(encoding="utf-8")
        found = re.search(rf"Exercise\(\s*[\"']{re.escape(name)}[\"']", text)
        return self.specification, text.count("\n", 0, found.start()) + 1 if found else 1

    def where(self, place: Cell | int | Path | tuple[Path, int]) -> tuple[Path, int]:
        """(path as seen from the project, line) of a cell, a line of the master or a place elsewhere."""
        if isinstance(place, tuple):
            return seen_from(self.master.project, place[0]), place[1]
        path = place if isinstance(place, Path) else self.master.path
        line = getattr(place, "line", place if isinstance(place, int) else 1)
        return seen_from(self.master.project, path), line


def seen_from(project: Path, path: Path) -> Path:
    return path.relative_to(project) if path.is_relative_to(project) else path


def named(error: Exception) -> str:
    """An error in one line; a SpecError says what to do by itself."""
    own = isinstance(error, checkdata.SpecError)
    return str(error) if own else f"{type(error).__name__}: {error}"


def place(error: Exception, path: Path) -> str:
    """The file, and its last line that an error came through."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    if isinstance(error, SyntaxError) and error.filename == str(path):
        lines.append(error.lineno)
    where = seen_from(checkdata.ROOT, path)
    return f"{where}:{lines[-1]}" if lines else str(where)

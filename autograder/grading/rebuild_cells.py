"""Notebook files as cells, read from strangers: any format, any damage, nothing trusted."""

import ast
import json
import re
from dataclasses import dataclass, field
from functools import cached_property

from autograder.building.masters import is_demonstration

MAX_CELLS = 1000
MAX_PARSED = 200_000  # characters: a longer cell is searched, not parsed
_UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


class NotebookError(ValueError):
    """A file that is no notebook; str() says why."""


@dataclass
class Cell:
    """One cell of a notebook: kind "code", "markdown" or "raw"."""

    kind: str
    source: str
    id: str = ""
    metadata: dict = field(default_factory=dict)

    @cached_property
    def plain(self) -> str:
        """The text without differences that nobody sees: line ends, blanks at the end."""
        return "\n".join(line.rstrip() for line in self.source.strip().splitlines())

    @property
    def grade_id(self) -> str:
        about = self.metadata.get("nbgrader")
        name = about.get("grade_id") if isinstance(about, dict) else None
        return name if isinstance(name, str) else ""

    def about(self, key: str) -> str:
        """The release's word on this cell: `exercise`, `check`, `written` or `demo`."""
        about = self.metadata.get("descent")
        return str(about.get(key, "")) if isinstance(about, dict) else ""

    @cached_property
    def names(self) -> set[str]:
        """What the cell defines at its top."""
        return defined_names(self.source) if self.kind == "code" else set()

    @cached_property
    def shows(self) -> bool:
        """Whether it only demonstrates."""
        try:
            return len(self.source) < MAX_PARSED and is_demonstration(self.source)
        except _UNPARSABLE:
            return False


def read_cells(data: bytes) -> tuple[list[Cell], dict]:
    """Cells and metadata of a notebook file, also of older formats. Raises NotebookError."""
    try:
        told = json.loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise NotebookError(f"it is no JSON ({type(error).__name__})") from None
    if not isinstance(told, dict):
        raise NotebookError("it is JSON, but no notebook")
    cells = told.get("cells", _of_sheets(told))
    if not isinstance(cells, list):
        raise NotebookError("it has no list of cells")
    if len(cells) > MAX_CELLS:
        raise NotebookError(f"it has {len(cells)} cells; at most {MAX_CELLS} are read")
    metadata = told.get("metadata")
    found = [_cell(cell) for cell in cells if isinstance(cell, dict)]
    return found, metadata if isinstance(metadata, dict) else {}


def _of_sheets(told):
    """The cells of format 3, which kept them in sheets."""
    sheets = told.get("worksheets")
    if not isinstance(sheets, list):
        return None
    lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
    return [cell for cells in lists if isinstance(cells, list) for cell in cells]


def _cell(told) -> Cell:
    source = told.get("source", told.get("input", ""))
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    source = source.replace("\r\n", "\n") if isinstance(source, str) else ""
    # A lone surrogate is legal JSON, but cannot be written as UTF-8.
    source = source.encode("utf-8", "replace").decode("utf-8")
    kind = told.get("cell_type")
    kind = kind if kind in ("code", "markdown", "raw") else "markdown"
    metadata, name = told.get("metadata"), told.get("id")
    return Cell(
        kind,
        source,
        name if isinstance(name, str) else "",
        metadata if isinstance(metadata, dict) else {},
    )


def defined_names(source: str) -> set[str]:
    """Names of the functions and classes at the top of a cell, also where it does not parse."""
    try:
        body = ast.parse(source if len(source) < MAX_PARSED else "?").body
    except _UNPARSABLE:
        return set(re.findall(r"^(?:async )?(?:def|class) +(\w+)", source, re.M))
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    named = {node.name for node in body if isinstance(node, kinds)}
    for node in body:  # square = lambda x: …, square = numpy.square
        if isinstance(node, ast.Assign):
            named |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return named

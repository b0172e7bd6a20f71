"""Notebook files as cells, read from strangers: any format, any damage, nothing trusted."""

import ast
import codecs
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

from autograder.engine import trees
from autograder.engine.needs import is_demonstration

MAX_CELLS = 1000
# Of a file: texts, lists and dicts cost up to 80 bytes of memory each, numbers 36.
MAX_PARTS, MAX_COMMAS = 3_000_000, 10_000_000
MAX_SOURCE, MAX_SOURCE_IN_ALL = 1_000_000, 5_000_000  # characters of cells; what is longer is cut
# Characters: what is longer is searched, not parsed. A chapter's notebook has 20,000 in all.
MAX_PARSED, MAX_PARSED_IN_ALL = 50_000, 200_000
MAX_SEARCHED = 10_000  # characters of a cell, for its likeness: an answer as handed out has 500
MAX_PIECES = 5  # of one cell that was split
_DEFINITION = r"^(?:async )?(?:def|class) +(\w+)"
_FENCED = re.compile(r"^ *```\w*\n(.*?)^ *```", re.M | re.S)
_MAGIC = re.compile(r"^([ \t]*)[%!?].*$|(?<==)[ \t]*[%!].*$", re.M)
_RUNNING_MAGICS = ("%%time", "%%timeit", "%%capture", "%%prun")  # their body defines names
_SIGNS = (
    (b"%PDF", "it is a PDF file, not a notebook"),
    (b"PK\x03\x04", "it is a zip archive, not a notebook"),
    (b"<<<<<<<", "it holds a conflict of git. Choose one version, and hand that in"),
    (b"<", "it is a web page, not a notebook: hand in the .ipynb file itself"),
    (b"\x89PNG", "it is a picture, not a notebook"),
    (b"\xff\xd8", "it is a picture, not a notebook"),
)


class NotebookError(ValueError):
    """A file that is no notebook; str() says why."""


@dataclass
class Cell:
    """One cell of a notebook: kind "code", "markdown" or "raw".

    attachments: pictures pasted into text, by name. parsed: whether its code is short enough to be analysed.
    """

    kind: str
    source: str
    id: str = ""
    metadata: dict = field(default_factory=dict)
    attachments: dict = field(default_factory=dict)
    parsed: bool = True

    @cached_property
    def plain(self) -> str:
        """The text without differences that nobody sees: line ends, blanks at the end."""
        return "\n".join(line.rstrip() for line in self.source.strip().splitlines())

    @cached_property
    def code(self) -> str:
        """The code in it; of text, what stands between fences, if anything does."""
        if self.kind == "code":
            return self.source
        return "\n".join(_FENCED.findall(self.source)) or self.source

    @cached_property
    def _flush(self) -> str:
        return _dedented(self.code)

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
    def tree(self) -> ast.Module | None:
        """The code's syntax tree, its magics left out; None where it does not parse or is too long."""
        return _parse(self._flush) if self.parsed else None

    @cached_property
    def names(self) -> set[str]:
        """What the cell defines outside functions and classes, also where it does not parse."""
        if self.kind != "code" and not re.search(r"^ *(?:async )?(?:def|class) ", self.code, re.M):
            return set()
        if self.source.startswith("%%") and not self.source.startswith(_RUNNING_MAGICS):
            return set()  # %%writefile and the like
        if self.tree is None:
            return set(re.findall(_DEFINITION, self._flush, re.M))
        return _defined(self.tree)

    @cached_property
    def functions(self) -> list[str]:
        """The functions and classes at its top."""
        return re.findall(_DEFINITION, self._flush, re.M)

    @cached_property
    def words(self) -> Counter[str]:
        """How often each word stands in it; of a long text, in its beginning."""
        return Counter(re.findall(r"\w+", self.source[:MAX_SEARCHED]))

    @cached_property
    def compiles(self) -> bool:
        """Whether Python would compile it as it stands: see `_runs`."""
        return _runs(self.source)

    @cached_property
    def shows(self) -> bool:
        """Whether it only demonstrates."""
        if self.tree is None or not all(isinstance(n, ast.Expr | ast.With) for n in self.tree.body):
            return False
        return is_demonstration(self.source)


def read_cells(data: bytes) -> tuple[list[Cell], dict]:
    """Cells and metadata of a notebook file, also of older formats. Raises NotebookError."""
    told = _json(data)
    if not isinstance(told, dict):
        raise NotebookError("it is JSON, but no notebook")
    cells = told.get("cells", _of_sheets(told))
    if not isinstance(cells, list):
        raise NotebookError("it has no list of cells")
    found = [_cell(cell) for cell in cells if isinstance(cell, dict)]
    if len(found) > MAX_CELLS:  # a key held down makes many empty ones
        found = [cell for cell in found if cell.plain or cell.grade_id]
    if len(found) > MAX_CELLS:
        raise NotebookError(f"it has {len(found)} cells; at most {MAX_CELLS} are read")
    _cut_long(found)
    _mark_long(found)
    return found, _dict(told.get("metadata"))


def _json(data: bytes):
    texts = (data.count(b'"') - data.count(b'\\"')) // 2
    parts = data.count(b"[") + data.count(b"{") + texts
    if parts > MAX_PARTS or data.count(b",") > MAX_COMMAS:
        raise NotebookError(
            f"it has more than {MAX_PARTS:,} parts. Clear its outputs, save it, and hand that in"
        )
    try:
        # A notebook saved in an old encoding loses its accents, not its answers.
        text = data.decode(_encoding(data), "replace").lstrip("\ufeff")
        return json.loads(text, strict=False, parse_int=_number)
    except (ValueError, RecursionError) as error:
        raise NotebookError(_what_it_is(data, error)) from None


def _number(digits: str) -> float:
    """A number in an output or in metadata, of which none is ours; Python reads no whole one of 4,300 digits."""
    return int(digits) if len(digits) < 20 else float(digits)


def _encoding(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-8"


def _what_it_is(data: bytes, error: Exception) -> str:
    """Why a file that is no JSON is none, in words that help its owner."""
    beginning = data[:200].lstrip()
    for sign, words in _SIGNS:
        if beginning.startswith(sign):
            return words
    if not beginning:
        return "it is empty"
    if beginning.startswith(b"{") and not data.rstrip().endswith(b"}"):
        return "it is no JSON: it ends in the middle. Save the notebook again, and hand it in"
    if re.match(rb"# |#!|import |from |\"\"\"|def ", beginning):
        return "it is no JSON: it looks like a Python script. Hand in the .ipynb file"
    return f"it is no JSON ({type(error).__name__})"


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
    kind = told.get("cell_type")
    kind = kind if kind in ("code", "markdown", "raw") else "markdown"
    name = told.get("id")
    return Cell(
        kind,
        _cleaned(source) if isinstance(source, str) else "",
        name if isinstance(name, str) else "",
        _dict(told.get("metadata")),
        _dict(told.get("attachments")),
    )


def _dict(value) -> dict:
    return value if isinstance(value, dict) else {}


def _cleaned(source: str) -> str:
    """The text with plain line ends, and without what nobody typed: NUL characters, marks of byte order.

    A lone surrogate is legal JSON, but cannot be written as UTF-8.
    """
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    source = source.replace("\0", "").replace("\ufeff", "")
    return source.encode("utf-8", "replace").decode("utf-8")


def _cut_long(cells: list[Cell]) -> None:
    """Nobody writes a million characters: what is cut fails where it runs, and costs that cell alone."""
    left = MAX_SOURCE_IN_ALL
    for cell in cells:
        cell.source = cell.source[: min(MAX_SOURCE, left)]
        left -= len(cell.source)


def _mark_long(cells: list[Cell]) -> None:
    """Parsing costs a second for a million characters: what would take long is only searched."""
    left = MAX_PARSED_IN_ALL
    for cell in cells:
        cell.parsed = len(cell.source) <= min(MAX_PARSED, left)
        left -= len(cell.source) * cell.parsed


def share(known: list[Cell], cells: list[Cell]) -> None:
    """Let cells with the text of known ones have what those have worked out: most of a notebook is the release's."""
    by_text = {(cell.kind, cell.source): cell for cell in known}
    for cell in cells:
        same = by_text.get((cell.kind, cell.source))
        if same and same.parsed == cell.parsed:
            for name in ("plain", "tree", "names", "functions", "words", "compiles", "shows"):
                cell.__dict__[name] = getattr(same, name)


def _parse(code: str) -> ast.Module | None:
    texts = dict.fromkeys((code, _without_magics(code)))
    return next(filter(None, map(trees.parse, texts)), None)


def _without_magics(code: str) -> str:
    return _MAGIC.sub(r"\1pass", code)


def _defined(tree: ast.Module) -> set[str]:
    """Names that a cell gives a value to, not those inside its functions and classes."""
    names, left = set(), list(tree.body)
    while left:  # no recursion: a tree may be deeper than Python's stack
        node = left.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif not isinstance(node, ast.Lambda):
            left += ast.iter_child_nodes(node)
    return names


def joined(cells: list[Cell]) -> list[Cell]:
    """The cells, with one that was split in the middle of a function whole again."""
    whole: list[Cell] = []
    pieces = 1
    for cell in cells:
        if whole and pieces < MAX_PIECES and _is_rest(whole[-1], cell):
            first = whole.pop()
            has_id = first if first.grade_id else cell
            source = f"{first.source.rstrip()}\n{cell.source}"
            cell = Cell("code", source, has_id.id, has_id.metadata)
            pieces += 1
        else:
            pieces = 1
        whole.append(cell)
    return whole


def _is_rest(first: Cell, cell: Cell) -> bool:
    """Whether a cell is the second half of the one before it."""
    if not (first.kind == cell.kind == "code" and first.parsed and cell.parsed):
        return False
    if not (first.names and cell.source.lstrip("\n")[:1].isspace() or not first.compiles):
        return False
    alone = first.compiles and _runs(_dedented(cell.source))
    return not alone and _runs(f"{first.source.rstrip()}\n{cell.source}")


def _dedented(source: str) -> str:
    """As IPython reads a cell: the blanks before its first line are taken away from all lines."""
    margin = re.match(r"\n*([ \t]*)", source).group(1)
    if not margin:
        return source
    return "\n".join(line.removeprefix(margin) for line in source.split("\n"))


def _runs(source: str) -> bool:
    """Whether Python would compile it as a cell, as far as its tree tells."""
    tree = trees.parse(_without_magics(source))
    return tree is not None and not _returns(tree)


def _returns(tree: ast.Module) -> bool:
    """Whether something that belongs into a function stands outside of all."""
    left = list(tree.body)
    while left:
        node = left.pop()
        if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            left += ast.iter_child_nodes(node)
    return False

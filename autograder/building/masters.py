"""Reads a master (a jupytext percent script) and expands it to a notebook."""

import ast
import hashlib
import re
import sys
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from autograder import markers
from autograder.building import minutes, tables
from autograder.checkdata import ROOT
from autograder.engine.needs import is_demonstration
from descent.cards import minutes_text

SOLUTIONS = ROOT / "solutions"
KNOWN_KEYS = {
    "exercise",
    "check",
    "written",
    "points",
    "minutes",
    "difficulty",
    "covers",
    "demo",
    "builds",
    "open",
    "predict",
}
GRADED = {"exercise", "check", "written"}
OPEN_BY_KIND = {"exercise", "check", "predict"}  # other code is folded
EXPLORE_OPTIONS = {"digits", "drag", "play"}  # keywords of `explore` that are no controls
DEEPER, NOTES = "## Deeper: ", "## Where the notes differ"


@dataclass
class Cell:
    """One cell of a master: kind "code" or "markdown", metadata of its header, line of its header.

    part: "core", "deeper" or "notes".
    """

    kind: str
    source: str
    metadata: dict
    line: int
    part: str = "core"

    @property
    def covers(self) -> list[str]:
        return str(self.metadata.get("covers", "")).split()

    @cached_property
    def tree(self) -> ast.Module | None:
        """The statements of a code cell; None where it is none or no plain Python."""
        try:
            return ast.parse(self.source) if self.kind == "code" else None
        except SyntaxError:
            return None

    @property
    def is_open(self) -> bool:
        """Whether a student sees the code of the cell when the notebook opens."""
        opened = self.metadata.keys() & OPEN_BY_KIND or self.metadata.get("open")
        return self.kind == "code" and bool(opened)

    @property
    def words(self) -> int:
        """Words of a text that students read: all that holds a letter or a digit."""
        read = markers.stubbed(self.source, []) if self.kind == "markdown" else ""
        return len(re.findall(r"\S*\w\S*", read))

    @property
    def lines(self) -> int:
        """Lines of code that students are given; of a prediction only its call is."""
        if self.kind != "code" or "predict" in self.metadata:
            return int(self.kind == "code")
        return sum(bool(line.strip()) for line in markers.stubbed(self.source, []).splitlines())

    @property
    def statements(self) -> int:
        """Statements that the student writes: those of the solution, between its markers."""
        hidden = markers.hidden(self.source)
        nodes = ast.walk(self.tree) if self.tree else ()
        return sum(isinstance(node, ast.stmt) and node.lineno in hidden for node in nodes)

    @property
    def controls(self) -> int:
        """Controls of its `explore(…)` calls."""
        keys = [key.arg for call in calls(self, "explore") for key in call.keywords]
        return sum(key not in EXPLORE_OPTIONS for key in keys)


@dataclass
class Master:
    """A parsed master. notebook: "chapter/name"."""

    notebook: str
    path: Path
    cells: list[Cell] = field(default_factory=list)

    @property
    def chapter(self) -> str:
        return self.notebook.split("/")[0]

    @property
    def project(self) -> Path:
        """The folder that holds solutions/ and course/."""
        return self.path.parents[3]

    @property
    def name(self) -> str:
        """The notebook without its numbers, "optimisation/gradient_descent": where pictures and tests lie."""
        return "/".join(part.split("_", 1)[1] for part in self.notebook.split("/"))

    @property
    def title(self) -> str:
        first = self.cells[0].source.splitlines() if self.cells else []
        return first[0].lstrip("# ").strip() if first else self.notebook

    @property
    def head(self) -> dict:
        """builds of the title cell."""
        return self.cells[0].metadata if self.cells else {}

    def of(self, key: str) -> dict[str, Cell]:
        """Cells that carry `key` (exercise, check or written), by its value."""
        return {str(c.metadata[key]): c for c in self.cells if key in c.metadata}

    @property
    def points(self) -> dict[str, float]:
        return {
            name: float(cell.metadata.get("points", 0))
            for name, cell in self.of("exercise").items()
        }


def notebooks(solutions: Path = SOLUTIONS) -> list[str]:
    """All masters, "chapter/name", in course order."""
    found = solutions.glob("[0-9][0-9]_*/[0-9][0-9]_*/notebook.py")
    return sorted(f"{path.parent.parent.name}/{path.parent.name}" for path in found)


def master_path(notebook: str, solutions: Path = SOLUTIONS) -> Path:
    return solutions / notebook / "notebook.py"


def read(notebook: str, solutions: Path = SOLUTIONS) -> Master:
    """Parse a master. Raises FileNotFoundError with the path when there is none."""
    # jsonschema, which jupytext loads, compiles this grammar of addresses for 1.3 s; it can do without.
    sys.modules.setdefault("rfc3987_syntax", None)
    import jupytext

    path = master_path(notebook, solutions)
    if not path.exists():
        raise FileNotFoundError(
            f"There is no master {path}. `python -m autograder list` names them."
        )
    text = path.read_text(encoding="utf-8")
    cells = [cell for cell in jupytext.reads(text, fmt="py:percent").cells]
    lines = [n for n, line in enumerate(text.splitlines(), 1) if line.startswith("# %%")]
    lines = [1] * (len(cells) - len(lines)) + lines  # text above the first header is a cell too
    master = Master(
        notebook,
        path,
        [
            Cell(c.cell_type, c.source, dict(c.metadata), line)
            for c, line in zip(cells, lines, strict=False)
        ],
    )
    _set_parts(master.cells)
    return master


def _set_parts(cells: list[Cell]) -> None:
    """A deeper section ends at the next heading of its level, what the notes got wrong at the end."""
    part = "core"
    for cell in cells:
        if part != "notes" and cell.kind == "markdown":
            part = _part_begun(cell.source) or part
        cell.part = part


def _part_begun(text: str) -> str:
    """The part that a Markdown text begins with its first heading of the second level; "" where it has none."""
    heading = next((line for line in text.splitlines() if line.startswith("## ")), "")
    if heading.startswith(NOTES):
        return "notes"
    if heading.startswith(DEEPER):
        return "deeper"
    return "core" if heading else ""


@lru_cache
def sections(solutions: Path = SOLUTIONS) -> dict[str, tuple[str, str]]:
    """All lecture sections: id -> (title, planned notebook)."""
    return tables.read(solutions).sections


def planned(solutions: Path = SOLUTIONS) -> dict[str, str]:
    """All notebooks that the course will have: "chapter/name" -> title, in course order."""
    return tables.read(solutions).notebooks


def rows(table: Path) -> list[list[str]]:
    """The lines of a table below its head, by column."""
    lines = table.read_text(encoding="utf-8").splitlines()[1:]
    return [line.split("\t") for line in lines]


def expand(master: Master):
    """The notebook of a master: nbgrader's metadata (schema 3), fixed cell ids, no outputs."""
    from nbformat import v4

    notebook = v4.new_notebook(
        metadata={
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
            "descent": {"notebook": master.notebook},
        }
    )
    used: set[str] = set()
    for cell in master.cells:
        make = v4.new_code_cell if cell.kind == "code" else v4.new_markdown_cell
        notebook.cells.append(
            make(cell.source, metadata=_metadata(cell, master), id=_cell_id(cell, used))
        )
    first = notebook.cells[0]
    first.source = _with_minutes(first.source, minutes.planned(master))
    return notebook


def _with_minutes(title: str, planned: dict[str, int]) -> str:
    """The title cell with the notebook's minutes below its heading."""
    heading, _, rest = title.partition("\n")
    return f"{heading}\n\n*{minutes_text(planned)}*\n{rest}"


def _folded(cell: Cell) -> dict:
    """JupyterLab's metadata of what opens folded: code that nobody needs to read, sections beside the core."""
    if cell.kind == "code":
        return {} if cell.is_open else {"jupyter": {"source_hidden": True}}
    begins = cell.source.startswith((DEEPER, NOTES))
    return {"jp-MarkdownHeadingCollapsed": True} if begins else {}


def _metadata(cell, master) -> dict:
    about = {key: value for key, value in cell.metadata.items() if key in KNOWN_KEYS}
    if cell.kind == "code" and not (about.keys() & {"exercise", "check"}):
        if about.pop("demo", False) or is_demonstration(cell.source):
            about["demo"] = True
    about |= _counted(cell, master)
    metadata = _folded(cell)
    if about:
        metadata["descent"] = about
    if "exercise" in about:
        metadata["nbgrader"] = _nbgrader(about["exercise"], solution=True)
    elif "check" in about:
        metadata["nbgrader"] = _nbgrader(f"check-{about['check']}", grade=True, locked=True)
    elif "written" in about:
        metadata["nbgrader"] = _nbgrader(about["written"], solution=True, grade=True)
        metadata["nbgrader"]["points"] = about["points"]
    return metadata


def _counted(cell: Cell, master: Master) -> dict:
    """What grading wants to know of a cell and the master says nowhere: its minutes, and points beside the core."""
    counted = {"part": "deeper"} if cell.part == "deeper" and cell.metadata.keys() & GRADED else {}
    if cell is master.cells[0]:
        return counted | {"minutes": minutes.planned(master)}
    if "exercise" in cell.metadata:
        return counted | {"minutes": minutes.of_exercise(cell)}
    return counted


def _nbgrader(grade_id, *, solution=False, grade=False, locked=False) -> dict:
    return {
        "schema_version": 3,
        "grade_id": grade_id,
        "grade": grade,
        "solution": solution,
        "locked": locked,
        "task": False,
    }


def _cell_id(cell, used) -> str:
    """A name for named cells, else a fingerprint of the text: it survives a cell inserted above."""
    about = cell.metadata
    if "exercise" in about or "written" in about:
        base = str(about.get("exercise") or about.get("written")).replace(".", "-")
    elif "check" in about:
        base = f"check-{about['check']}"
    elif "predict" in about:  # a fingerprint of its text would be one of the answer
        base = f"predict-{about['predict']}"
    else:
        base = hashlib.sha256(cell.source.encode()).hexdigest()[:8]
    name, number = base, 2
    while name in used:
        name, number = f"{base}-{number}", number + 1
    used.add(name)
    return name


def with_points(notebook, points: dict[str, float]) -> None:
    """Give each check cell the points of its exercise (nbgrader keeps points on the graded cell)."""
    for cell in notebook.cells:
        checked = cell.metadata.get("descent", {}).get("check")
        if checked:
            value = points[checked]
            cell.metadata["nbgrader"]["points"] = int(value) if value == int(value) else value


def errata(master: Master) -> list[dict]:
    """The `erratum(…)` calls of a master: section, quote, corrected, kind, notebook and line."""
    found = []
    for cell in master.cells:
        found += [_erratum(call, cell, master) for call in calls(cell, "erratum")]
    return found


def calls(cell: Cell, function: str) -> list[ast.Call]:
    """The calls of a function by its bare name in a cell."""
    nodes = ast.walk(cell.tree) if cell.tree else ()
    found = [node for node in nodes if isinstance(node, ast.Call)]
    return [n for n in found if isinstance(n.func, ast.Name) and n.func.id == function]


def _erratum(node, cell, master) -> dict:
    values = {"kind": ast.Constant("error")} | arguments(node)
    wanted = {name: values.get(name) for name in ("section", "quote", "corrected", "kind")}
    told = {name: literal(value) for name, value in wanted.items()}
    if missing := [name for name, text in told.items() if text is None]:
        raise ValueError(
            f"{master.path}:{cell.line}: erratum needs literal strings: {', '.join(missing)}"
        )
    return told | {"line": cell.line, "notebook": master.notebook}


def arguments(call: ast.Call) -> dict[str, ast.expr]:
    """What an `erratum(…)` is given, by the names of its parameters."""
    named = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    return dict(zip(["section"], call.args, strict=False)) | named


def literal(value: ast.expr | None) -> str | None:
    """A string that stands in the text as it is; None for anything else."""
    known = isinstance(value, ast.Constant) and isinstance(value.value, str)
    return value.value if known else None

"""Reads a master (a jupytext percent script) and expands it to a notebook."""

import ast
import hashlib
import sys
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from autograder.building import tables
from autograder.checkdata import ROOT
from autograder.engine.needs import is_demonstration

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
}


@dataclass
class Cell:
    """One cell of a master: kind "code" or "markdown", metadata of its header, line of its header."""

    kind: str
    source: str
    metadata: dict
    line: int

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
        """minutes and builds of the title cell."""
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
    return Master(
        notebook,
        path,
        [
            Cell(c.cell_type, c.source, dict(c.metadata), line)
            for c, line in zip(cells, lines, strict=False)
        ],
    )


@lru_cache
def sections(solutions: Path = SOLUTIONS) -> dict[str, tuple[str, str]]:
    """All lecture sections: id -> (title, planned notebook)."""
    return tables.read(solutions).sections


def planned(solutions: Path = SOLUTIONS) -> dict[str, str]:
    """All notebooks that the course will have: "chapter/name" -> title, in course order."""
    return tables.read(solutions).notebooks


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
        notebook.cells.append(make(cell.source, metadata=_metadata(cell), id=_cell_id(cell, used)))
    return notebook


def _metadata(cell) -> dict:
    about = {key: value for key, value in cell.metadata.items() if key in KNOWN_KEYS}
    if cell.kind == "code" and not (about.keys() & {"exercise", "check"}):
        if about.pop("demo", False) or is_demonstration(cell.source):
            about["demo"] = True
    metadata: dict = {"descent": about} if about else {}
    if "exercise" in about:
        metadata["nbgrader"] = _nbgrader(about["exercise"], solution=True)
    elif "check" in about:
        metadata["nbgrader"] = _nbgrader(f"check-{about['check']}", grade=True, locked=True)
    elif "written" in about:
        metadata["nbgrader"] = _nbgrader(about["written"], solution=True, grade=True)
        metadata["nbgrader"]["points"] = about["points"]
    return metadata


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
    """The `erratum(…)` calls of a master: section, printed, corrected, whether proven, cell line."""
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
    names = ["section", "printed", "corrected"]
    values = dict(zip(names, node.args, strict=False)) | {k.arg: k.value for k in node.keywords}
    try:
        told = {name: ast.literal_eval(values[name]) for name in names}
    except (KeyError, ValueError) as error:
        raise ValueError(
            f"{master.path}:{cell.line}: erratum needs three literal strings first: {error}"
        ) from None
    return told | {
        "proven": "corrected_holds" in values,
        "line": cell.line,
        "notebook": master.notebook,
    }

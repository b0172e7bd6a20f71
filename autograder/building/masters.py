"""Reads a master (a jupytext percent script), finds its author's slips, expands it to a notebook."""

import ast
import hashlib
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from autograder import markers
from autograder.building import proofs
from autograder.checkdata import ROOT
from autograder.engine.needs import is_demonstration
from autograder.markers import BEGIN, END
from descent import skipping

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


@dataclass(frozen=True)
class Problem:
    """An author's slip: where and what."""

    path: Path
    line: int
    message: str

    def __str__(self):
        path = self.path.relative_to(ROOT) if self.path.is_relative_to(ROOT) else self.path
        return f"{path}:{self.line}: {self.message}"


def notebooks(solutions: Path = SOLUTIONS) -> list[str]:
    """All masters, "chapter/name", in course order."""
    found = solutions.glob("[0-9][0-9]_*/[0-9][0-9]_*/notebook.py")
    return sorted(f"{path.parent.parent.name}/{path.parent.name}" for path in found)


def master_path(notebook: str, solutions: Path = SOLUTIONS) -> Path:
    return solutions / notebook / "notebook.py"


def read(notebook: str, solutions: Path = SOLUTIONS) -> Master:
    """Parse a master. Raises FileNotFoundError with the path when there is none."""
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
    rows = (solutions / "sections.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return {row[0]: (row[1], row[2]) for row in (line.split("\t") for line in rows)}


def problems(master: Master, exercises: dict, spec_path: Path) -> list[Problem]:
    """Everything an author must mend before the notebook is run."""
    found: list[Problem] = []

    def add(cell, message):
        found.append(Problem(master.path, cell.line, message))

    seen: dict[tuple[str, str], Cell] = {}
    for cell in master.cells:
        for problem in _cell_problems(cell):
            add(cell, problem)
        for problem in _call_problems(cell, master):
            add(cell, problem)
        for key, family in (("exercise", "answer"), ("written", "answer"), ("check", "check")):
            name = cell.metadata.get(key)
            if name and seen.setdefault((family, str(name)), cell) is not cell:
                first = seen[family, str(name)].line
                add(cell, f"{key} {name!r} appears twice (first in line {first})")
        for section in cell.covers:
            if section not in sections():
                add(
                    cell,
                    f"covers unknown lecture section {section!r}; ids are in solutions/sections.tsv",
                )
    found += _pairing_problems(master, exercises, spec_path)
    if not _positive(master.head.get("minutes")) or not master.head.get("builds"):
        found.append(Problem(master.path, 1, "the title cell needs minutes=… and builds=…"))
    return found


def _cell_problems(cell):
    for key in set(cell.metadata) - KNOWN_KEYS - {"lines_to_next_cell", "title"}:
        yield f"unknown metadata {key!r}; known are {', '.join(sorted(KNOWN_KEYS))}"
    marks = [line.strip() for line in cell.source.splitlines() if line.strip() in (BEGIN, END)]
    if marks != [BEGIN, END] * (len(marks) // 2):
        yield f"unbalanced solution markers: {BEGIN!r} and {END!r} must alternate"
    answer = "exercise" in cell.metadata or "written" in cell.metadata
    if answer and not marks:
        yield "an answer cell needs its solution between the solution markers"
    if marks and not answer:
        yield "solution markers outside an exercise"
    if answer and not _positive(cell.metadata.get("points")):
        yield "points are missing or not above zero"
    if answer and not _positive(cell.metadata.get("minutes")):
        yield "minutes are missing or not above zero"
    if "written" in cell.metadata and not _rubric_adds_up(cell):
        yield (
            "the model answer must end, before its END line, with a rubric that adds up to the points: "
            "a line **Rubric**, then lines like `- 1: what earns it`"
        )
    if cell.kind == "code":
        yield from _code_problems(cell)


def _rubric_adds_up(cell) -> bool:
    hidden = cell.source.partition(BEGIN)[2].partition(END)[0]  # what stands outside, students see
    rubric = hidden.partition("**Rubric**")[2]
    given = [float(points) for points in re.findall(r"^- (\d+(?:\.\d+)?): \S", rubric, re.M)]
    return sum(given) == cell.metadata.get("points")


def _code_problems(cell):
    try:
        body = ast.parse(cell.source).body
    except SyntaxError as error:
        if not re.search(r"^\s*[%!]", cell.source, re.M):
            yield f"not valid Python: {error.msg} (line {error.lineno} of the cell)"
        return
    blocks = [node for node in body if skipping.is_after(node)]
    if len(blocks) > 1:
        yield "two `with after(…)` blocks in one cell: give each its own cell"
    name = cell.metadata.get("exercise")
    defined = {getattr(node, "name", None) for node in body}
    if name and name not in defined:
        yield f"exercise {name!r} must define a function or class of that name"


def _call_problems(cell, master):
    """Blocks after what is no exercise would never run; `start` of another notebook would open its checks."""
    try:
        nodes = list(ast.walk(ast.parse(cell.source))) if cell.kind == "code" else []
    except SyntaxError:
        return
    for node in nodes:
        if skipping.is_after(node):
            names = [ast.unparse(answer) for answer in node.items[0].context_expr.args]
            if not names:
                yield "after() names no exercise"
            for name in names:
                if name not in master.of("exercise"):
                    yield f"after({name}): {name!r} is no exercise of this notebook"
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "start":
            if [ast.unparse(a) for a in node.args] != [repr(master.notebook)]:
                yield f'start must name this notebook: start("{master.notebook}")'


def _positive(value) -> bool:
    return isinstance(value, int | float) and value > 0


def _pairing_problems(master, exercises, spec_path):
    asked, checked = master.of("exercise"), master.of("check")
    order = {id(cell): number for number, cell in enumerate(master.cells)}
    for name, cell in asked.items():
        if name not in exercises:
            yield Problem(
                master.path,
                cell.line,
                f"exercise {name!r} has no specification in {spec_path.name}",
            )
        if name not in checked:
            yield Problem(
                master.path, cell.line, f'exercise {name!r} has no check cell (# %% check="{name}")'
            )
        elif order[id(checked[name])] < order[id(cell)]:
            yield Problem(
                master.path, checked[name].line, f"the check of {name!r} stands before its exercise"
            )
    for name, cell in checked.items():
        if name not in asked:
            yield Problem(
                master.path, cell.line, f"check of {name!r}, which is no exercise of this notebook"
            )
        if cell.source.strip() != f"check({name})":
            yield Problem(master.path, cell.line, f"a check cell holds nothing but check({name})")
    for name, exercise in exercises.items():
        source = asked[name].source if name in asked else ""
        if name not in asked:
            yield Problem(
                spec_path, 1, f"specification {name!r} has no exercise in {master.path.name}"
            )
        elif markers.holds_solution(markers.stubbed(source, []), source):
            message = "the text around the markers holds the whole solution"
            yield Problem(master.path, asked[name].line, message)
        if any(markers.holds_solution(hint, source) for hint in exercise.hints):
            yield Problem(spec_path, 1, f"{name}: a hint holds the whole solution")
        for problem in proofs.form_problems(exercise):
            yield Problem(spec_path, 1, f"{name}: {problem}")


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
        if cell.kind != "code":
            continue
        try:
            tree = ast.parse(cell.source)
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "erratum"
            ):
                found.append(_erratum(node, cell, master))
    return found


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

"""The notebook that is graded: the release's frame with the student's answers and added cells in it.

From a submission come only its answer cells and the cells that the student added. Everything else, the checks
above all, is the release's own, so that no deleted, edited or copied cell changes what is asked.
"""

from dataclasses import dataclass, field

from autograder.grading.rebuilding.cells import Cell, NotebookError, joined, read_cells, share
from autograder.grading.rebuilding.order import settle, uses
from autograder.grading.rebuilding.search import Search, answer_name, is_check

__all__ = ["Cell", "NotebookError", "Part", "Rebuilt", "read_cells", "rebuild"]


@dataclass
class Part:
    """One cell of the rebuilt notebook.

    role: "release", "answer", "written", "added", "check", "demo", "text" or "absent". name: of the exercise, for
    answers and checks. exercises: all whose answer stands in this cell. left_out: why a cell was not run to its end.
    """

    role: str
    cell: Cell
    name: str = ""
    exercises: list[str] = field(default_factory=list)
    left_out: str = ""

    @property
    def runs(self) -> bool:
        return self.cell.kind == "code" and self.role in ("release", "answer", "added")


@dataclass
class Rebuilt:
    """The notebook to run, and by exercise (and written answer) how it was found; "" where nothing was."""

    parts: list[Part]
    how: dict[str, str]
    restored: dict[str, str]  # exercise -> what had become of its check cell
    untouched: set[str]  # answers that are still as they were handed out


def rebuild(release: list[Cell], submitted: list[Cell]) -> Rebuilt:
    """Put a submission's answers and added cells into the release's frame."""
    share(release, submitted)
    submitted = joined(submitted)
    search = Search(release, submitted)
    search.answers()
    added = _added(release, submitted, search)
    places = {name: place for place, names in search.also.items() for name in names}
    parts = [Part("added", extra) for extra in added.get(-1, [])]
    for at, cell in enumerate(release):
        parts.append(_part(cell, search, places))
        parts += [Part("added", extra) for extra in added.get(at, [])]
    restored = {c.about("check"): _check_fate(c, submitted) for c in release if c.about("check")}
    how = {name: _how(name, search, places) for name in search.wanted}
    untouched = _untouched(parts, search.wanted)
    return Rebuilt(settle(parts), how, {n: fate for n, fate in restored.items() if fate}, untouched)


def _part(cell: Cell, search: Search, places: dict[str, int]) -> Part:
    """What stands in the place of a released cell."""
    name = answer_name(cell)
    if name in places:
        place = places[name]
        return _answer_part(cell, search.submitted[place], search.also[place])
    if cell.about("written"):
        return Part("written", cell, name)
    if name:
        word = f"# No cell for {name} was handed in."
        return Part("absent", Cell(cell.kind, word, cell.id, cell.metadata), name)
    return Part(_role(cell), cell, cell.about("check"))


def _answer_part(cell: Cell, taken: Cell, names: list[str]) -> Part:
    """The student's text in the release's cell: its kind and metadata cannot be changed.

    A cell that answers several exercises stands, and runs, in the place of each: what it needs of the cells between
    is there for the last.
    """
    name = answer_name(cell)
    if cell.about("written"):
        text = Cell(cell.kind, taken.source, cell.id, cell.metadata, taken.attachments)
        return Part("written", text, name, names)
    source, other = taken.code, _other_name(taken, name)
    if other:
        source += f"\n\n{name} = {other}  # added at grading: the answer has another name"
    made = Cell(cell.kind, source, cell.id, cell.metadata, parsed=taken.parsed)
    return Part("answer", made, name, names)


def _other_name(taken: Cell, name: str) -> str:
    """What an answer is called, where that is not its name and there is no doubt; else ""."""
    return taken.functions[0] if name not in taken.names and len(taken.functions) == 1 else ""


def _how(name: str, search: Search, places: dict[str, int]) -> str:
    if name not in places:
        return ""
    other = _other_name(search.submitted[places[name]], name) if name in search.exercises else ""
    return search.how[name] + (f", where it is called {other}" if other else "")


def _untouched(parts, wanted) -> set[str]:
    """Answers that are as they were handed out. Text below a question is an answer to it."""
    untouched = set()
    for part, following in zip(parts, [*parts[1:], None], strict=True):
        if part.role not in ("answer", "written"):
            continue
        below = part.role == "written" and following and _is_added_text(following)
        if part.cell.plain == wanted[part.name][1].plain and not below:
            untouched.add(part.name)
    return untouched


def _is_added_text(part: Part) -> bool:
    return part.role == "added" and part.cell.kind != "code"


def _role(cell: Cell) -> str:
    if cell.about("check"):
        return "check"
    if cell.kind != "code":
        return "text"
    return "demo" if cell.about("demo") or cell.shows else "release"


def _check_fate(cell: Cell, submitted: list[Cell]) -> str:
    """What became of a check cell: "" where it is as it was handed out, also below its answer in one cell."""
    same = [c for c in submitted if c.plain == cell.plain and c.kind == "code"]
    if same:
        return f"was there {len(same)} times" if len(same) > 1 else ""
    name = cell.about("check")
    if any(name in c.names and cell.plain in c.plain.splitlines() for c in submitted):
        return ""
    marked = any(c.grade_id == cell.grade_id or (c.id and c.id == cell.id) for c in submitted)
    return "was edited" if marked else "was deleted"


def _added(release, submitted, search) -> dict[int, list[Cell]]:
    """Cells that the student added, by the place in the release that they follow (-1: before everything).

    What needs the course's imports never runs before them.
    """
    at_text: dict[str, int] = {}
    for at, cell in enumerate(release):
        at_text.setdefault(cell.plain, at)
    there = {cell.plain for cell in submitted}
    added: dict[int, list[Cell]] = {}
    first = next((at for at, cell in enumerate(release) if cell.kind == "code"), 0)
    last = -1
    for place, cell in enumerate(submitted):
        if place in search.home:
            last = search.home[place]
        elif cell.plain in at_text:
            at = at_text[cell.plain]
            last = at if not answer_name(release[at]) else last
        elif cell.plain and not (is_check(cell) or cell.shows or search.is_spare(cell)):
            last = _past_replaced(release, last, there)
            kind = "code" if cell.kind == "code" else "markdown"
            extra = Cell(kind, cell.source, attachments=cell.attachments, parsed=cell.parsed)
            early = last < first and uses(extra) & release[first].names
            added.setdefault(first if early else last, []).append(extra)
    return added


def _past_replaced(release, last, there) -> int:
    """The place after cells of the release that are gone: an edited cell runs after the original, not before."""
    while last + 1 < len(release):
        following = release[last + 1]
        if following.plain in there or answer_name(following) or following.about("check"):
            break
        last += 1
    return last

"""The notebook that is graded: the release's frame with the student's answers and added cells in it.

From a submission come only its answer cells and the cells that the student added. Everything else, the checks
above all, is the release's own, so that no deleted, edited or copied cell changes what is asked.
"""

import difflib
import re
from dataclasses import dataclass, field

from autograder.grading.rebuild_cells import Cell, NotebookError, read_cells

__all__ = ["Cell", "NotebookError", "Part", "Rebuilt", "read_cells", "rebuild"]

LIKE_ENOUGH = 0.6  # of a cell's text: below it, two stubs of this course are more alike than an answer and its stub
TEXT_LIKE_ENOUGH = 0.8  # of a question's words


@dataclass
class Part:
    """One cell of the rebuilt notebook.

    role: "release", "answer", "written", "added", "check", "demo", "text" or "absent". name: of the exercise, for
    answers and checks. exercises: all whose answer stands in this cell.
    """

    role: str
    cell: Cell
    name: str = ""
    exercises: list[str] = field(default_factory=list)

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


class _Search:
    """Finds the release's answers in a submission, each cell of which is used once."""

    def __init__(self, release: list[Cell], submitted: list[Cell]):
        self.release, self.submitted = release, submitted
        self.texts = {c.plain for c in release if not _answer_name(c)}
        self.home: dict[int, int] = {}  # place in the submission -> place in the release
        self.also: dict[int, list[str]] = {}  # place in the submission -> exercises answered there
        self.how: dict[str, str] = {}

    def answers(self) -> None:
        wanted = [(at, cell) for at, cell in enumerate(self.release) if _answer_name(cell)]
        # The sure ways first for all, so that no likeness takes a cell that belongs to another answer.
        for find in (self._by_id, self._by_name, self._by_likeness):
            for at, cell in wanted:
                name = _answer_name(cell)
                if name in self.how:
                    continue
                place, how = find(cell, name)
                if place is not None:
                    self.how[name] = how
                    self.also.setdefault(place, []).append(name)
                    self.home[place] = min(at, self.home.get(place, at))

    def _free(self, cell):
        """Cells that may hold this answer: not used yet, and not another part of the release."""
        for place, other in enumerate(self.submitted):
            if place not in self.home and other.plain and not self._is_releases(other):
                yield place, other

    def _is_releases(self, cell) -> bool:
        return cell.plain in self.texts

    def _by_id(self, cell, name):
        written = bool(cell.about("written"))
        for way, key in (
            ("its nbgrader id", lambda c: c.grade_id),
            ("its cell id", lambda c: c.id),
        ):
            found = [(p, c) for p, c in self._free(cell) if key(c) == (key(cell) or None)]
            found = [(p, c) for p, c in found if not is_check(c)]
            defining = found if written else [(p, c) for p, c in found if name in c.names]
            solved = [(p, c) for p, c in defining if c.plain != cell.plain]
            best = (solved or defining or found)[-1:]
            if best:
                copies = f", the last of {len(found)} copies" if len(found) > 1 else ""
                return best[0][0], f"by {way}{copies}"
        return None, ""

    def _by_name(self, cell, name):
        if cell.about("written"):
            return None, ""
        found = [
            (p, c)
            for p, c in enumerate(self.submitted)
            if name in c.names and not self._is_releases(c)
        ]
        solved = [(p, c) for p, c in found if c.plain != cell.plain] or found
        if not solved:
            return None, ""
        place = solved[-1][0]
        if place in self.also:
            return place, f"in the cell of {self.also[place][0]} (confidence 95 %)"
        return (
            place,
            f"by the name it defines, its id is gone (confidence {90 if len(solved) > 1 else 95} %)",
        )

    def _by_likeness(self, cell, name):
        scores = [(likeness(cell, other), place) for place, other in self._free(cell)]
        score, place = max(scores, default=(0, None), key=lambda pair: pair[0])
        enough = TEXT_LIKE_ENOUGH if cell.about("written") else LIKE_ENOUGH
        if score < enough:
            return None, ""
        return place, f"by likeness of its text (confidence {score:.0%})"


def likeness(cell: Cell, other: Cell) -> float:
    """0 to 1: how much of a released answer's text stands in another cell."""
    if cell.about("written"):
        asked = set(re.findall(r"\w+", cell.plain.replace("*Your answer here.*", "")))
        return len(asked & set(re.findall(r"\w+", other.plain))) / max(len(asked), 1)
    if other.kind == "markdown" and "def " not in other.source:
        return 0.0
    # The bound by length alone spares the search in cells made to take long.
    bound = 2 * min(len(cell.plain), len(other.plain)) / max(len(cell.plain) + len(other.plain), 1)
    if bound < LIKE_ENOUGH:
        return 0.0
    return difflib.SequenceMatcher(None, cell.plain, other.plain, autojunk=False).ratio()


def _answer_name(cell: Cell) -> str:
    return cell.about("exercise") or cell.about("written")


def is_check(cell: Cell) -> bool:
    """Whether a submitted cell is a check, or what became of one."""
    about = cell.metadata.get("nbgrader")
    graded = isinstance(about, dict) and about.get("grade") and not about.get("solution")
    ours = cell.grade_id.startswith("check-") or cell.id.startswith("check-")
    return bool(graded or ours or re.fullmatch(r"check\(\w+\)", cell.plain))


def rebuild(release: list[Cell], submitted: list[Cell]) -> Rebuilt:
    """Put a submission's answers and added cells into the release's frame."""
    search = _Search(release, submitted)
    search.answers()
    restored = {c.about("check"): _check_fate(c, submitted) for c in release if c.about("check")}
    added = _added(release, submitted, search)
    parts = [Part("added", cell) for cell in added.get(-1, [])]
    answers = {at: place for place, at in search.home.items()}
    for at, cell in enumerate(release):
        if not _answer_name(cell):
            parts.append(Part(_role(cell), cell, cell.about("check")))
        elif at in answers:
            taken = submitted[answers[at]]
            parts.append(_answer_part(cell, taken, search.also[answers[at]]))
        elif cell.about("written"):
            parts.append(Part("written", cell, _answer_name(cell)))
        else:
            parts.append(_absent(cell, search))
        parts += [Part("added", extra) for extra in added.get(at, [])]
    found = {_answer_name(c): c.plain for c in release if _answer_name(c)}
    untouched = {
        p.name
        for p in parts
        if p.role in ("answer", "written") and p.cell.plain == found.get(p.name)
    }
    how = {name: search.how.get(name, "") for name in found}
    return Rebuilt(parts, how, {n: fate for n, fate in restored.items() if fate}, untouched)


def _answer_part(cell: Cell, taken: Cell, names: list[str]) -> Part:
    """The student's text in the release's cell: its kind and metadata cannot be changed."""
    role = "written" if cell.about("written") else "answer"
    return Part(
        role, Cell(cell.kind, taken.source, cell.id, cell.metadata), _answer_name(cell), names
    )


def _absent(cell: Cell, search) -> Part:
    """In place of an answer that is not there, or stands elsewhere: a word, and nothing that runs."""
    name = _answer_name(cell)
    word = (
        f"# {name}: {search.how[name]}."
        if name in search.how
        else f"# No cell for {name} was handed in."
    )
    return Part("absent", Cell(cell.kind, word, cell.id, cell.metadata), name)


def _role(cell: Cell) -> str:
    if cell.about("check"):
        return "check"
    if cell.kind != "code":
        return "text"
    return "demo" if cell.about("demo") or cell.shows else "release"


def _check_fate(cell: Cell, submitted: list[Cell]) -> str:
    """What became of a check cell: "" where it is as it was handed out."""
    same = [c for c in submitted if c.plain == cell.plain and c.kind == "code"]
    marked = [c for c in submitted if c.grade_id == cell.grade_id or (c.id and c.id == cell.id)]
    edited = [c for c in marked if c.plain != cell.plain]
    if edited:
        return "was edited"
    if not same:
        return "was deleted"
    return f"was there {len(same)} times" if len(same) > 1 else ""


def _added(release, submitted, search) -> dict[int, list[Cell]]:
    """Cells that the student added, by the place in the release that they follow (-1: before everything)."""
    at_text: dict[str, int] = {}
    for at, cell in enumerate(release):
        at_text.setdefault(cell.plain, at)
    there = {cell.plain for cell in submitted}
    added: dict[int, list[Cell]] = {}
    last = -1
    for place, cell in enumerate(submitted):
        if place in search.home:
            last = search.home[place]
        elif cell.plain in at_text:
            at = at_text[cell.plain]
            last = at if not _answer_name(release[at]) else last
        elif cell.plain and not is_check(cell) and not cell.shows:
            last = _past_replaced(release, last, there)
            kind = "code" if cell.kind == "code" else "markdown"
            added.setdefault(last, []).append(Cell(kind, cell.source))
    return added


def _past_replaced(release, last, there) -> int:
    """The place after cells of the release that are gone: an edited cell runs after the original, not before."""
    while last + 1 < len(release):
        following = release[last + 1]
        if following.plain in there or _answer_name(following) or following.about("check"):
            break
        last += 1
    return last

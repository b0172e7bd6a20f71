"""Finds a release's answers in a submission: by id, else by name, by likeness, by their place.

Each way says how sure it is; the sure ways come first for all answers, so that no likeness takes a cell that belongs to
another.
"""

import ast
import re

from autograder.grading.rebuilding.cells import Cell

# The share of a handed-out answer's words that a cell holds. Over the course's exercises, an answer under another
# name and id has 0.79 or more of its own, and another exercise's answer 0.76 or less.
LIKE_ENOUGH = 0.7
_WAYS = (("its nbgrader id", lambda c: c.grade_id), ("its cell id", lambda c: c.id))


class Search:
    """Who answers what: `home`: place in the submission -> place in the release, `also`: -> the exercises answered
    there, `how`: exercise -> in words."""

    def __init__(self, release: list[Cell], submitted: list[Cell]):
        self.release, self.submitted = release, submitted
        self.wanted = {answer_name(c): (at, c) for at, c in enumerate(release) if answer_name(c)}
        self.exercises = {c.about("exercise") for c in release} - {""}
        self.questions = [c for c in release if c.about("written")]
        self.texts = {c.plain for c in release}
        self.home: dict[int, int] = {}
        self.also: dict[int, list[str]] = {}
        self.how: dict[str, str] = {}

    def answers(self) -> None:
        """Look for all of them."""
        for find in (self._by_id, self._by_name, self._by_id_alone):
            for name, (_, cell) in self.wanted.items():
                if name not in self.how:
                    self._take(name, *find(cell, name))
        self._by_likeness()
        for name, (at, cell) in self.wanted.items():
            if name not in self.how:
                self._take(name, *self._by_place(cell, at))

    def is_spare(self, cell: Cell) -> bool:
        """Whether a cell holds nothing but answers as they were handed out, which stand elsewhere."""
        names = cell.names & self.exercises
        found = cell.names == names and names <= self.how.keys()
        return bool(names) and found and all(_is_stub(cell, self.wanted[n][1], n) for n in names)

    def _take(self, name, place, how):
        if place is None:
            return
        self.how[name] = how
        self.also.setdefault(place, []).append(name)
        at = self.wanted[name][0]
        self.home[place] = min(at, self.home.get(place, at))

    def _free(self, cell):
        """Cells that may hold this answer: not used yet, and not another part of the release."""
        for place, other in enumerate(self.submitted):
            taken = place in self.home or (other.plain in self.texts and other.plain != cell.plain)
            if other.plain and not taken and not is_check(other):
                yield place, other

    def _marked(self, cell, key):
        return [(p, c) for p, c in self._free(cell) if key(cell) and key(c) == key(cell)]

    def _by_id(self, cell, name):
        """The cell with the answer's id, if it is the answer: ids get copied, and swapped."""
        for way, key in _WAYS:
            marked = self._marked(cell, key)
            mine = [(p, c) for p, c in marked if self._is_answer(c, cell, name)]
            solved = [(p, c) for p, c in mine if not _is_stub(c, cell, name)]
            if mine and (solved or cell.about("written") or not self._defining(cell, name)):
                copies = f", the last of {len(marked)} copies" if len(marked) > 1 else ""
                return (solved or mine)[-1][0], f"by {way}{copies}"
        return None, ""

    def _is_answer(self, other, cell, name) -> bool:
        if not cell.about("written"):
            return name in other.names
        rest = [likeness(question, other) for question in self.questions if question is not cell]
        return likeness(cell, other) >= max(rest, default=0)

    def _defining(self, cell, name):
        """Cells that define an answer, and are not as it was handed out."""
        return [
            (p, c)
            for p, c in enumerate(self.submitted)
            if name in c.names and c.plain not in self.texts and not _is_stub(c, cell, name)
        ]

    def _by_name(self, cell, name):
        if cell.about("written"):
            return None, ""
        found = self._defining(cell, name)
        found = [(p, c) for p, c in found if p not in self.home] or found
        found = found or [(p, c) for p, c in self._free(cell) if name in c.names]
        if not found:
            return None, ""
        place = found[-1][0]
        if place in self.also:
            return place, f"in the cell of {self.also[place][0]} (confidence 95 %)"
        sure = 90 if len(found) > 1 else 95
        return place, f"by the name it defines, in a cell without its id (confidence {sure} %)"

    def _by_id_alone(self, cell, name):
        """The cell with its id that defines something else: the answer under another name, or broken."""
        for way, key in _WAYS:
            marked = [
                (p, c)
                for p, c in self._marked(cell, key)
                if not c.names & self.exercises
                and not any(likeness(q, c) > LIKE_ENOUGH for q in self.questions)
            ]
            if marked and not cell.about("written"):
                return marked[-1][0], f"by {way}"
        return None, ""

    def _by_likeness(self):
        """What is left, the most alike first."""
        left = [(name, cell) for name, (_, cell) in self.wanted.items() if name not in self.how]
        pairs = [
            (likeness(cell, other), -place, name)
            for name, cell in left
            for place, other in self._free(cell)
            if cell.about("written") or other.functions
        ]
        for score, place, name in sorted(pairs, reverse=True):
            if score < LIKE_ENOUGH:
                return
            if name not in self.how and -place not in self.home:
                self._take(name, -place, f"by likeness of its text (confidence {score:.0%})")

    def _by_place(self, cell, at):
        """The cell that stands where the answer stood: before its check, or after the text that comes before it."""
        for place, other in self._free(cell):
            before = self.submitted[place - 1].plain if place else None
            after = self.submitted[place + 1].plain if place + 1 < len(self.submitted) else None
            if cell.about("written"):
                fits = at and before == self.release[at - 1].plain and other.kind != "code"
            else:
                fits = after == self.release[at + 1].plain and other.functions
            if fits and not other.names & self.exercises:
                return place, "by its place (confidence 70 %)"
        return None, ""


def _is_stub(other: Cell, cell: Cell, name: str) -> bool:
    """Whether a cell is the answer as it was handed out, or says no more than that."""
    if other.plain == cell.plain or other.tree is None:
        return other.plain == cell.plain
    found = [n for n in ast.walk(other.tree) if isinstance(n, ast.FunctionDef) and n.name == name]
    rest = [n for n in found[-1].body if not isinstance(n, ast.Expr)] if found else []
    if len(rest) != 1 or not isinstance(rest[0], ast.Raise):
        return False
    raised = rest[0].exc
    raised = raised.func if isinstance(raised, ast.Call) else raised
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def answer_name(cell: Cell) -> str:
    """The exercise or written answer that a released cell is for; "" for other cells."""
    return cell.about("exercise") or cell.about("written")


def likeness(cell: Cell, other: Cell) -> float:
    """0 to 1: the share of a released answer's words that another cell holds."""
    asked = cell.words - _STUB if cell.about("written") else cell.words
    return (asked & other.words).total() / max(asked.total(), 1)


_STUB = Cell("markdown", "Your answer here").words


def is_check(cell: Cell) -> bool:
    """Whether a submitted cell is a check, or what became of one. One with definitions is the student's own."""
    about = cell.metadata.get("nbgrader")
    graded = isinstance(about, dict) and about.get("grade") and not about.get("solution")
    ours = cell.grade_id.startswith("check-") or cell.id.startswith("check-")
    if re.fullmatch(r"check\(\w+\)", cell.plain):
        return True
    return bool(graded or ours) and not cell.names - {"check"}

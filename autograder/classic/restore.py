"""The notebook that runs: the student's, with the instructor's cells put back as the gradebook has them.

As nbgrader does it, the student's cells stay where they are, and cells that are not marked may be changed at will. Put
back are the marked cells: locked ones with their text, whether edited, deleted, copied or moved above what they test;
answers with their kind and metadata. A student's word on points, kinds or ids counts for nothing.
"""

import base64
import binascii
from dataclasses import dataclass, field

import nbformat

from autograder.classic.course import Marked, Sheet
from autograder.grading.rebuilding.cells import Cell, read_cells

MOST_ATTACHED = 10_000_000  # characters of pictures pasted into one cell
PICTURES = ("image/png", "image/jpeg", "image/gif")
MISSING = {
    "code": "# The cell of this answer was not in what was handed in.",
    "markdown": "*The cell of this answer was not in what was handed in.*",
    "raw": "The cell of this answer was not in what was handed in.",
}
_MAKERS = {
    "code": nbformat.v4.new_code_cell,
    "markdown": nbformat.v4.new_markdown_cell,
    "raw": nbformat.v4.new_raw_cell,
}


@dataclass
class Restored:
    """The notebook to run, what a person may want to look at, and what is only said."""

    notebook: nbformat.NotebookNode
    notes: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


def restore(sheet: Sheet, data: bytes) -> Restored:
    """The notebook to run, from what was handed in. Raises NotebookError where that is no notebook."""
    cells = read_cells(data)[0]
    search = _Search(sheet, cells)
    made = []
    for place in search.order():
        if isinstance(place, Marked):
            # An answer that is not there may stand elsewhere: it is not "No response", a person decides.
            made.append(_marked(place, MISSING[place.kind] if place.solution else place.text))
        else:
            made.append(_kept(cells[place], search.holds.get(place)))
    for number, cell in enumerate(made, 1):
        cell.id = f"cell-{number}"
    told = {"cells": made, "metadata": _metadata(sheet), "nbformat": 4, "nbformat_minor": 5}
    return Restored(nbformat.from_dict(told), search.notes, search.put_back())


class _Search:
    """Finds the marked cells in what was handed in. holds: place there -> the marked cell that it holds."""

    def __init__(self, sheet: Sheet, cells: list[Cell]):
        self.sheet, self.cells = sheet, cells
        self.holds: dict[int, Marked] = {}
        # Marked cell -> the first place with an answer in it; without one, the first with its id.
        self.first: dict[str, int] = {}
        self.notes: list[str] = []
        for marked in sheet.marked:
            self._by_id(marked)
        for marked in sheet.marked:
            if marked.solution and marked.name not in self.first:
                self._by_definition(marked)
            if marked.solution and marked.grade and marked.name not in self.first:
                self.notes.append(f"the answer {marked.name} was not found, and waits for a person")

    def _by_id(self, marked: Marked) -> None:
        places = [p for p, cell in enumerate(self.cells) if cell.grade_id == marked.name]
        if not places:
            return
        # Of a copied answer nbgrader takes the last; a copy left as it was handed out is no answer.
        blank = (_plain(marked), "")
        answered = [p for p in places if marked.solution and self.cells[p].plain not in blank]
        places = answered or places
        self.holds[places[-1]] = marked
        self.first[marked.name] = places[0]

    def _by_definition(self, marked: Marked) -> None:
        """An answer whose metadata is gone, known by the function that it defines."""
        wanted = Cell(marked.kind, marked.text).names if marked.kind == "code" else set()
        places = [
            p for p, c in enumerate(self.cells) if p not in self.holds and wanted & c.names
        ]  # fmt: skip
        if places:
            self.holds[places[-1]] = marked
            self.first[marked.name] = places[0]
            self.notes.append(
                f"the answer {marked.name} was found by what it defines; its id is gone"
            )

    def put_back(self) -> list[str]:
        """The read-only cells that were changed or deleted, in a line; cells with points are everybody's guess."""
        there = {marked.name: self.cells[place].plain for place, marked in self.holds.items()}
        changed = [
            marked.name
            for marked in self.sheet.marked
            if marked.locked and not (marked.grade or marked.task)
            if there.get(marked.name) != _plain(marked)
        ]
        if not changed:
            return []
        return [f"put back as they were handed out, read-only cells: {', '.join(changed)}"]

    def order(self) -> list[int | Marked]:
        """Places of the student's cells and, between them, the marked cells to put back."""
        lost = self._lost()
        dropped = {p for p, marked in self.holds.items() if marked.name in lost}
        by_name = {marked.name: marked for marked in self.sheet.marked}
        after: dict[int, list[Marked]] = {}
        last = -1
        for name, text in self.sheet.released:
            if name in lost:
                last = self._past_helpers(last)
                after.setdefault(last, []).append(by_name[name])
            else:
                last = max(last, self.first.get(name, -1), -1 if name else self._place_of(text))
        order: list[int | Marked] = [*after.get(-1, [])]
        for place in range(len(self.cells)):
            order += [place] if place not in dropped else []
            order += after.get(place, [])
        return order

    def _lost(self) -> set[str]:
        """Cells to put back: deleted ones, and tests that stand above the answers that they come after."""
        lost, reached, tested = set(), -1, False
        for marked in self.sheet.marked:
            there = self.first.get(marked.name)
            if there is None:
                lost |= {marked.name} if marked.grade or marked.task or marked.locked else set()
            elif marked.solution:
                reached = max(-1 if tested else reached, there)
            elif marked.grade and there < reached:
                lost.add(marked.name)
            tested = marked.grade and not marked.solution
        return lost

    def _place_of(self, text: str) -> int:
        """Where an unmarked cell of the release stands, -1 where it does not."""
        return next((p for p, cell in enumerate(self.cells) if cell.plain == text), -1)

    def _past_helpers(self, place: int) -> int:
        """The last of the code cells that the student added right after this place: a test may need them."""
        while place >= 0 and place + 1 < len(self.cells):
            following = self.cells[place + 1]
            known = place + 1 in self.holds or following.plain in self.sheet.texts
            if following.kind != "code" or known:
                break
            place += 1
        return place


def _plain(marked: Marked) -> str:
    return Cell(marked.kind, marked.text).plain


def _marked(marked: Marked, text: str) -> nbformat.NotebookNode:
    return _MAKERS[marked.kind](source=text, metadata={"nbgrader": _nbgrader(marked)})


def _kept(cell: Cell, marked: Marked | None) -> nbformat.NotebookNode:
    """A student's cell. marked: what it is for the gradebook, if anything."""
    if marked is None:
        made = _MAKERS[cell.kind](source=cell.source, metadata=_tags(cell))
    else:
        made = _marked(marked, cell.source if marked.solution else marked.text)
    if made.cell_type == "markdown":
        made.attachments = _pictures(cell, MOST_ATTACHED)
    return made


def _tags(cell: Cell) -> dict:
    """Of a student's own metadata only tags are kept: one of them leaves a cell out when a notebook is run."""
    tags = cell.metadata.get("tags")
    tags = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    return {"tags": tags} if tags else {}


def _nbgrader(marked: Marked) -> dict:
    told = {
        "grade": marked.grade,
        "grade_id": marked.name,
        "locked": marked.locked,
        "schema_version": 3,
        "solution": marked.solution,
        "task": marked.task,
        "cell_type": marked.kind,
    }
    told |= {"checksum": marked.checksum} if marked.checksum else {}
    return told | ({"points": marked.points} if marked.grade or marked.task else {})


def _metadata(sheet: Sheet) -> dict:
    kernel = {"kernelspec": sheet.kernel} if sheet.kernel else {}
    return kernel | {"language_info": {"name": "python"}}


def _pictures(cell: Cell, room: int) -> dict:
    """What was pasted into a cell, of pictures only, in at most `room` characters."""
    kept = {}
    for name, bundle in _items(cell.attachments):
        for kind, content in _items(bundle):
            if kind in PICTURES and is_base64(content) and len(content) <= room:
                room -= len(content)
                kept[name] = {kind: content}
    return kept


def _items(told):
    return told.items() if isinstance(told, dict) else ()


def is_base64(content) -> bool:
    try:
        return bool(base64.b64decode(content.replace("\n", ""), validate=True))
    except (AttributeError, ValueError, binascii.Error):
        return False

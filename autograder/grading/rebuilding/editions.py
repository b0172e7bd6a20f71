"""Whether a hand-in was made from the release that it is graded by: nobody's answer is asked otherwise unsaid."""

import re

from autograder.grading.rebuilding.cells import Cell
from autograder.grading.rebuilding.search import answer_name


def changed(release: list[Cell], submitted: list[Cell]) -> list[str]:
    """The answers that the release asks otherwise than the one that the hand-in was made from.

    nbgrader marks each answer with a hash of its text as it was handed out; what has lost it is taken as unchanged.
    """
    marks = {cell.grade_id: _mark(cell) for cell in submitted if _mark(cell)}
    asked = [cell for cell in release if answer_name(cell) and _mark(cell)]
    return [
        answer_name(cell) for cell in asked if marks.get(cell.grade_id, _mark(cell)) != _mark(cell)
    ]


def _mark(cell: Cell) -> str:
    about = cell.metadata.get("nbgrader")
    mark = about.get("checksum") if isinstance(about, dict) else None
    return mark if isinstance(mark, str) else ""


def words(release: dict, submitted: dict, asked_otherwise: list[str]) -> list[str]:
    """What an instructor should know of the hand-in's release: a note, or nothing. Both: a notebook's metadata."""
    now, then = source(release), source(submitted)
    if not asked_otherwise and then in ("", now):
        return []
    since = ", ".join(asked_otherwise) or "nothing that is answered"
    named = f" ({then}, now {now})" if then and now else ""
    return [f"made from another release of the notebook{named}. Asked otherwise since: {since}"]


def source(metadata: dict) -> str:
    """The hash that names a notebook's release; "" where there is none, or something else."""
    about = metadata.get("descent")
    told = about.get("source") if isinstance(about, dict) else None
    return told if isinstance(told, str) and re.fullmatch(r"[0-9a-f]{8,64}", told) else ""

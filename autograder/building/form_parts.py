"""What breaks a rule in the parts of a notebook: each function yields (cell or line, what to do)."""

import ast
from collections.abc import Iterator

from autograder.building import masters, minutes
from autograder.building.draft import Draft
from autograder.building.masters import Cell

Slips = Iterator[tuple[Cell | int, str]]
PARTS = ("core", "deeper", "notes")
TAKE_AWAYS = "## Take-aways"


def guessed_minutes(draft: Draft) -> Slips:
    counted = [c for c in draft.master.cells if "minutes" in c.metadata]
    for cell in counted:
        if cell is draft.master.cells[0] or "exercise" in cell.metadata:
            yield cell, "minutes=…: they are counted from the text, take them out of the header"


def wrong_order(draft: Draft) -> Slips:
    latest = 0
    for cell in draft.master.cells:
        place = PARTS.index(cell.part)
        if place < latest:
            yield cell, f"a section of the {cell.part} below one of the {PARTS[latest]}: move it up"
        latest = max(place, latest)


def no_take_aways(draft: Draft) -> Slips:
    last = [cell for cell in draft.master.cells if cell.part == "core"][-1:]
    if last and not (last[0].kind == "markdown" and last[0].source.startswith(TAKE_AWAYS)):
        yield last[0], f"the core's last cell begins with {TAKE_AWAYS!r}: say what one keeps of it"


def core_size(draft: Draft) -> dict[str, int]:
    """Cells, words and lines of code of the core; lines without those that the student writes."""
    core = _of(draft, "core")
    given = [cell.lines for cell in core if cell.kind == "code" and "check" not in cell.metadata]
    return {"cells": len(core), "words": sum(cell.words for cell in core), "lines": sum(given)}


def long_core(draft: Draft, **limits: int) -> Slips:
    """limits: as `core_size` counts."""
    size = core_size(draft)
    for what, most in limits.items():
        if size[what] > most:
            whose = " of code that the student does not write" if what == "lines" else ""
            yield 1, f"the core has {size[what]} {what}{whose}: at most {most} are wanted"


def core_statements(draft: Draft) -> int:
    """How many the student writes there."""
    return sum(c.statements for c in draft.master.of("exercise").values() if c.part == "core")


def long_texts(draft: Draft, high: int) -> Slips:
    for cell in draft.master.cells:
        if cell.words > high:
            yield cell, f"{cell.words} words: at most {high} in a cell"


def long_parts(draft: Draft, core: int, project: int, deeper: int) -> Slips:
    planned = minutes.planned(draft.master)
    most = {"core": project if draft.is_project else core, "deeper": deeper}
    for part, limit in most.items():
        if planned[part] > limit:
            yield 1, f"the {part} takes {planned[part]} minutes: at most {limit} are wanted"


def little_built(draft: Draft, core: int, build: int, project: int) -> Slips:
    asked = draft.master.of("exercise").values()
    written = core_statements(draft)
    if written < core:
        yield 1, f"the student writes {written} statements in the core: at least {core} are wanted"
    least, largest = (
        project if draft.is_project else build,
        max((c.statements for c in asked), default=0),
    )
    if largest < least:
        yield 1, f"the largest answer has {largest} statements: a build of {least} is wanted"


def many_small(draft: Draft, most: int, statements: int) -> Slips:
    asked = draft.master.of("exercise").values()
    small = [cell for cell in asked if cell.statements <= statements]
    for cell in small[most:]:
        yield cell, f"another answer of {cell.statements} statements: at most {most} so small"


def unexplained(draft: Draft) -> Slips:
    for cell in draft.code:
        if not cell.is_open and not cell.source.lstrip().startswith("#"):
            yield cell, "it opens folded: its first line must be a comment that says what it shows"


def long_open(draft: Draft, high: int) -> Slips:
    for cell in draft.code:
        if cell.metadata.get("open") and cell.lines > high:
            yield cell, f"an open cell of {cell.lines} lines: at most {high} that teach"


def bare_asserts(draft: Draft) -> Slips:
    for cell in draft.code:
        nodes = ast.walk(cell.tree) if cell.tree and "exercise" not in cell.metadata else ()
        if any(isinstance(node, ast.Assert) for node in nodes):
            yield cell, "a bare assert proves in silence: say it with claim(…)"


def nothing_moves(draft: Draft) -> Slips:
    grabbed = [
        call
        for cell in draft.code
        for call in masters.calls(cell, "explore")
        if {"drag", "play"} & {keyword.arg for keyword in call.keywords}
    ]
    if not grabbed and not any(masters.calls(cell, "movie") for cell in draft.code):
        yield (
            1,
            "no picture is grabbed or played: explore(…, drag=…), explore(…, play=…) or movie(…)",
        )


def _of(draft: Draft, part: str) -> list[Cell]:
    return [cell for cell in draft.master.cells if cell.part == part]

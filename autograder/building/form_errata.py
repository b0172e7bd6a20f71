"""What breaks a rule in the errata of a notebook: each function yields (cell or line, what to do)."""

import ast
import re
from collections.abc import Iterator

from autograder.building import masters
from autograder.building.draft import Draft
from autograder.building.masters import NOTES, Cell
from descent.errata import KINDS

Slips = Iterator[tuple[Cell | int, str]]
TRUTHS = ("printed_holds", "corrected_holds", "decoy_holds")


def badly_quoted(draft: Draft, words: int) -> Slips:
    for cell, call in _errata(draft):
        values = masters.arguments(call)
        for problem in _problems(values, words):
            yield cell, f"erratum({masters.literal(values.get('section'))!r}): {problem}"


def _problems(values: dict[str, ast.expr], words: int) -> Iterator[str]:
    texts = {name: masters.literal(values.get(name)) for name in ("section", "quote", "corrected")}
    if missing := [f"{name}=" for name, text in texts.items() if not text]:
        yield f"give {', '.join(missing)} as literal text; the quote stands verbatim in the notes"
    if texts["section"] and texts["section"] not in masters.sections():
        yield "no such lecture section; ids are in solutions/sections.tsv"
    quoted = len(re.findall(r"\S*\w\S*", texts["quote"] or ""))
    if quoted > words:
        yield f"a quote of {quoted} words: at most {words}, and … stands for what is left out"
    yield from _unproven(values)


def _unproven(values: dict[str, ast.expr]) -> Iterator[str]:
    kind = masters.literal(values.get("kind", ast.Constant("error")))
    if kind not in KINDS:
        yield f"kind {kind!r} is none of {', '.join(KINDS)}"
        return
    if missing := [f"{name}=…" for name in KINDS[kind][2] if name not in values]:
        yield f"kind {kind!r} needs {', '.join(missing)}"
    for name in TRUTHS:
        if isinstance(values.get(name), ast.Constant):
            yield f"{name} is written down: compute it"


def scattered(draft: Draft, most: int) -> Slips:
    found = [cell for cell, _ in _errata(draft)]
    elsewhere = [cell for cell in found if cell.part != "notes"]
    for cell in elsewhere[most:]:
        yield (
            cell,
            f"another erratum in the midst: at most {most} that teach something, others below {NOTES!r}",
        )
    if found and not any(cell.part == "notes" for cell in draft.master.cells):
        yield found[0], f"a notebook with errata ends with the section {NOTES!r}"


def _errata(draft: Draft) -> Iterator[tuple[Cell, ast.Call]]:
    for cell in draft.code:
        for call in masters.calls(cell, "erratum"):
            yield cell, call

"""What breaks a rule in what a notebook says of others: each function yields (cell, file or line, what to do)."""

import re
from collections.abc import Iterator
from pathlib import Path

from autograder.building import masters, mentions
from autograder.building.draft import Draft
from autograder.building.masters import Cell

Slips = Iterator[tuple[Cell | tuple[Path, int], str]]
A_NOTEBOOK = r"\b(?:chapters?|notebooks?)\b|\b\d\d/\d\d\b|\.ipynb"
TO_COME = r"\bcoming\b|\b(?:still|yet) to come\b|\bnot (?:yet )?written\b|\bnot there yet\b|\bwill (?:stand|follow)\b"


def lost_mentions(draft: Draft) -> Slips:
    for cell in draft.master.cells:
        named = mentions.mentions(cell)
        if not named and mentions.MENTION.search(cell.source):
            yield cell, "[[…]] is filled in where a text is read: not in code, nor in an answer"
        for what, _ in named:
            found = _meant(what, draft.master.notebook)
            if len(found) != 1:
                yield cell, f"[[{what}]] is one notebook of notebooks.tsv, not {len(found)}"


def _meant(what: str, notebook: str) -> list[str]:
    """The planned notebooks that a mention may mean; the next one is found from where this one stands."""
    if "/" in what:
        return mentions.numbered(what)
    return [what] if what != "next" or notebook in masters.planned() else []


def promises(draft: Draft) -> Slips:
    for cell in draft.master.cells:
        for line in promised(cell.source) if cell.kind == "markdown" else ():
            yield (
                cell,
                f"write [[07/02]], and the build says whether that notebook is there: {line!r}",
            )


def promised(text: str) -> list[str]:
    """The lines in which somebody says by hand that a notebook or a chapter is still to come, shortened."""
    return [
        line.strip()[:60]
        for line in text.splitlines()
        if re.search(A_NOTEBOOK, line, re.I) and re.search(TO_COME, line, re.I)
    ]


def lost_words(draft: Draft) -> Slips:
    table = masters.SOLUTIONS / "glossary.tsv"
    answers = draft.master.of("exercise")
    for line, (word, notebook, answer) in enumerate(mentions.words(), 2):
        if notebook == draft.master.notebook and answer and answer not in answers:
            yield (table, line), f"{word!r} is computed in {answer!r}, which is no exercise there"

"""What a master says of other notebooks and cannot know: whether they are there, and which comes next.

In its texts `[[07/02]]` is a notebook by its number and `[[07/02|backpropagation]]` by words: a link once that notebook
is built, "07/02 (coming)" before. `[[next]]` is the notebook after this one. A line `[[glossary]]` becomes the words
of `glossary.tsv`. Every build fills them in, in all notebooks that are built, without running one.
"""

import re
from collections import defaultdict

from autograder.building import masters

MENTION = re.compile(r"\[\[(\d\d/\d\d|next|glossary)(?:\|([^\]\n]+))?\]\]")


def mentions(cell) -> list[tuple[str, str]]:
    """(number, words) of each notebook, "next" or "glossary" that a text names; none in code or in an answer."""
    named = cell.kind == "markdown" and "written" not in cell.metadata
    return MENTION.findall(cell.source) if named else []


def filled(text: str, notebook: str, there: set[str]) -> str:
    """A text of a notebook as students read it. there: the notebooks that are built."""

    def told(found: re.Match) -> str:
        what, words = found.groups()
        if what == "next":
            return _next(notebook, there)
        if what == "glossary":
            return "\n".join(glossary(there))
        return _named(what, words, there)

    return MENTION.sub(told, text)


def numbered(number: str) -> list[str]:
    """The planned notebooks of a number, "07/02": one, unless two chapters share it."""
    chapter, place = number.split("/")
    wanted = re.compile(rf"{chapter}_[^/]*/{place}_")
    return [notebook for notebook in masters.planned() if wanted.match(notebook)]


def number(notebook: str) -> str:
    """ "07/02" of "07_neural_networks/02_backpropagation"."""
    return "/".join(part.split("_")[0] for part in notebook.split("/"))


def _named(number: str, words: str | None, there: set[str]) -> str:
    (notebook,) = numbered(number)
    if notebook in there:
        return f"[{words or number}](../{notebook}.ipynb)"
    return f"{words} ({number}, coming)" if words else f"{number} (coming)"


def _next(notebook: str, there: set[str]) -> str:
    planned = list(masters.planned())
    later = planned[planned.index(notebook) + 1 :]
    found = next((one for one in later if one in there), None)
    if not found:
        return "this is the last notebook so far"
    return f"[{masters.planned()[found]}](../{found}.ipynb)"


def words() -> list[tuple[str, str, str]]:
    """The lines of glossary.tsv: word, notebook, its answer that computes it ("" for none)."""
    table = masters.SOLUTIONS / "glossary.tsv"
    return [tuple(row) for row in masters.rows(table)] if table.exists() else []


def glossary(there: set[str]) -> list[str]:
    """Lines of Markdown: where each word is computed, two a row, then those that are coming, by chapter."""
    cells = [_entry(*row) for row in words() if row[1] in there]
    cells += [" | "] * (len(cells) % 2)
    rows = [f"| {one} | {other} |" for one, other in zip(cells[::2], cells[1::2], strict=True)]
    head = ["| word | cell | word | cell |", "| --- | --- | --- | --- |"]
    return [*head, *rows, *_coming(there)]


def _entry(word: str, notebook: str, answer: str) -> str:
    anchor = f"#cell-id={answer}" if answer else ""
    return f"{word} | [{answer or number(notebook)}](../{notebook}.ipynb{anchor})"


def _coming(there: set[str]) -> list[str]:
    chapters = defaultdict(list)
    for word, notebook, _ in words():
        if notebook not in there:
            chapters[int(notebook[:2])].append(word)
    told = [f"**{chapter}** {', '.join(chapters[chapter])}" for chapter in sorted(chapters)]
    return ["", f"Coming, by chapter: {' · '.join(told)}."] if told else []

"""course/ERRATA.md: what the lecture notes got wrong, by notebook, counted by kind."""

from collections import Counter

from autograder.building import coverage, masters
from autograder.building.markdown import link, table_text
from descent.errata import printed

# Kind -> (what one of them is called, what several are, what it means).
KINDS = {
    "error": ("error", "errors",
              "the notebook computes that the printed form fails, that the corrected one holds, and that a wrong one "
              "of the same shape fails too"),
    "broad": ("too broad", "too broad",
              "a condition is missing: the notebook computes a counterexample, and that the corrected form holds"),
    "convention": ("convention", "conventions or omissions", "there is nothing to compute"),
    "copy": ("lost in our copy", "lost in our copy", "no fault of the notes, and not counted"),
}  # fmt: skip
COUNTED = [kind for kind in KINDS if kind != "copy"]


def text(notebooks) -> str:
    """The page for these masters, in their order."""
    found = [(master, masters.errata(master)) for master in notebooks]
    kinds = Counter(entry["kind"] for _, entries in found for entry in entries)
    lines = [
        "# What the lecture notes got wrong", "",
        f"{_counts(kinds) or 'Nothing so far'}.", "",
        *(f"- **{KINDS[kind][0]}**: {KINDS[kind][2]}." for kind in KINDS if kinds[kind]), "",
    ]  # fmt: skip
    for master, entries in found:
        if entries:
            lines += _section(master, entries)
    return "\n".join(lines)


def _counts(kinds: Counter) -> str:
    """ "12 errors, 1 convention": of each kind that counts, how many there are."""
    there = [kind for kind in COUNTED if kinds[kind]]
    return ", ".join(f"{kinds[kind]} {KINDS[kind][kinds[kind] > 1]}" for kind in there)


def _section(master, entries) -> list[str]:
    headings = {cell.line: place for place, cell in coverage.places(master)}
    counts = _counts(Counter(entry["kind"] for entry in entries))
    return [
        f"## [{master.title}]({master.notebook}.ipynb)", "",
        *([f"{counts}.", ""] if counts else []),
        "| section | printed | what holds | shown under | kind |",
        "| --- | --- | --- | --- | --- |",
        *(_row(entry, headings[entry["line"]]) for entry in entries), "",
    ]  # fmt: skip


def _row(entry, place) -> str:
    told = map(table_text, (entry["section"], printed(entry["quote"]), entry["corrected"]))
    return f"| {' | '.join([*told, link(place), KINDS[entry['kind']][0]])} |"

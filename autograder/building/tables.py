"""The tables that authors keep by hand: chapters.toml, notebooks.tsv and sections.tsv of solutions/.

They are read here alone. A line that cannot be used is left out and told as a slip.
"""

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

CHAPTERS, NOTEBOOKS, SECTIONS = "chapters.toml", "notebooks.tsv", "sections.tsv"
TEXT, TEXTS = "a text", "a list of texts"
WORDS = {"about": TEXT, "able": TEXTS, "before": TEXT}
NOTEBOOK = re.compile(r"\d\d_\w+/\d\d_\w+")


class TableError(Exception):
    """Tables that nothing can be made from; str() names each line and what to do."""


@dataclass(frozen=True)
class Slip:
    """A line that cannot be used, and what to do."""

    path: Path
    line: int
    message: str


@dataclass
class Tables:
    """chapters: name -> its words. notebooks: name -> title. sections: id -> (title, planned notebook).

    lines: (table, name) -> the line where its entry stands.
    """

    chapters: dict[str, dict] = field(default_factory=dict)
    notebooks: dict[str, str] = field(default_factory=dict)
    sections: dict[str, tuple[str, str]] = field(default_factory=dict)
    lines: dict[tuple[str, str], int] = field(default_factory=dict)
    slips: list[Slip] = field(default_factory=list)

    def broken(self, table: str) -> bool:
        return any(slip.path.name == table for slip in self.slips)


def read(solutions: Path) -> Tables:
    """Everything in the three tables that can be used, and what cannot."""
    tables = Tables()
    for table, fill in ((NOTEBOOKS, _notebooks), (SECTIONS, _sections), (CHAPTERS, _chapters)):
        path = solutions / table
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            tables.slips.append(Slip(path, 1, f"it cannot be read: {error}"))
            continue
        tables.slips += [Slip(path, line, message) for line, message in fill(tables, text)]
    return tables


def require(solutions: Path) -> None:
    """Raises TableError where a table has a slip."""
    slips = read(solutions).slips
    if slips:
        where = solutions.parent
        told = [f"{s.path.relative_to(where)}:{s.line}: {s.message}" for s in slips]
        raise TableError("\n".join(["mend these tables first.", *told]))


def meant(name: str, names: Iterable[str]) -> str:
    """A question that ends a message: which of the names is like this one; "" where none is."""
    like = difflib.get_close_matches(name, [one for one in names if one != name], 1, 0.75)
    return f" Is {like[0]!r} meant?" if like else ""


def _notebooks(tables: Tables, text: str) -> Iterator[tuple[int, str]]:
    numbers: dict[tuple[str, str], str] = {}
    for line, (name, *rest), slip in _rows(text, ("notebook", "title")):
        slip = slip or _unfit(name, tables) or _same_number(name, numbers)
        if slip:
            yield line, slip
        else:
            tables.notebooks[name] = rest[0]
            tables.lines[NOTEBOOKS, name] = line


def _unfit(name: str, tables: Tables) -> str:
    if not NOTEBOOK.fullmatch(name):
        return (
            f"{name!r} is no name of a notebook: write it like 03_optimisation/01_gradient_descent."
        )
    if name in tables.notebooks:
        return (
            f"{name} stands in line {tables.lines[NOTEBOOKS, name]} already: take one of them out."
        )
    return ""


def _same_number(name: str, numbers: dict[tuple[str, str], str]) -> str:
    """What to do where another chapter, or another notebook of the chapter, has that number."""
    for one in (name.split("/")[0], name):
        folder, _, last = one.rpartition("/")
        first = numbers.setdefault((folder, last[:2]), one)
        if first != one:
            return f"{one} has the number of {first}: give it a free one, in its folder's name too."
    return ""


def _sections(tables: Tables, text: str) -> Iterator[tuple[int, str]]:
    for line, (section, *rest), slip in _rows(text, ("id", "title", "notebook")):
        if slip:
            yield line, slip
        elif section in tables.sections:
            first = tables.lines[SECTIONS, section]
            yield line, f"{section} stands in line {first} already: one notebook teaches it."
        elif not re.fullmatch(r"\w+:\S+", section):
            yield (
                line,
                f"{section!r} is no id of a section: write lecture:number without blanks, like wu:1.1.",
            )
        elif rest[1] not in tables.notebooks and not tables.broken(NOTEBOOKS):
            yield (
                line,
                f"{rest[1]} is not in {NOTEBOOKS}: list it there.{meant(rest[1], tables.notebooks)}",
            )
        else:
            tables.sections[section] = (rest[0], rest[1])
            tables.lines[SECTIONS, section] = line


def _rows(text: str, columns: tuple[str, ...]) -> Iterator[tuple[int, list[str], str]]:
    """(line, its fields, what is wrong with it) below the names of the columns."""
    wanted = ", tab, ".join(columns)
    for line, content in enumerate(text.splitlines() or [""], 1):
        fields = content.split("\t")
        if line == 1:
            if tuple(fields) != columns:
                yield line, fields, f"the first line names the columns: {wanted}."
            continue
        fits = len(fields) == len(columns) and all(one and one == one.strip() for one in fields)
        yield line, fields, "" if fits else f"a line is {wanted}, not {content!r}."


def _chapters(tables: Tables, text: str) -> Iterator[tuple[int, str]]:
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"line (\d+)", str(error))
        yield int(at[1]) if at else text.count("\n") + 1, f"it is no TOML: {error}."
        return
    planned = {name.split("/")[0] for name in tables.notebooks}
    for chapter, words in found.items():
        line = tables.lines[CHAPTERS, chapter] = _line_of(chapter, text)
        slips = list(_unusable(words))
        if not slips and chapter not in planned and not tables.broken(NOTEBOOKS):
            slips = [f"is no chapter of {NOTEBOOKS}.{meant(chapter, planned)}"]
        yield from ((line, f"[{chapter!r}] {slip}") for slip in slips)
        tables.chapters[chapter] = words if isinstance(words, dict) else {}


def _line_of(chapter: str, text: str) -> int:
    head = re.search(rf"^\s*\[?[\"']?{re.escape(chapter)}\b", text, re.M)
    return text.count("\n", 0, head.end()) + 1 if head else 1


def _unusable(words) -> Iterator[str]:
    """What in a chapter's entry is not what its page is made from."""
    if not isinstance(words, dict):
        yield f"must be a heading, with {', '.join(WORDS)} below it."
        return
    for key, value in words.items():
        if key not in WORDS:
            yield f"has {key!r}; it takes {', '.join(WORDS)}.{meant(key, WORDS)}"
        elif not _fits(value, WORDS[key]):
            yield f"{key} must be {WORDS[key]}."


def _fits(value, wanted: str) -> bool:
    if wanted is TEXT:
        return isinstance(value, str)
    return isinstance(value, list) and all(isinstance(one, str) for one in value)

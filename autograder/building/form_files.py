"""What breaks a rule in the files round a master and in the tables that name it: (file or line, what to do)."""

import json
from collections.abc import Iterator
from pathlib import Path

from autograder.building import masters, tables
from autograder.building.draft import Draft

Slips = Iterator[tuple[Path | int | tuple[Path, int], str]]


def _tables(draft: Draft) -> tables.Tables:
    return tables.read(draft.master.project / "solutions")


def unusable_tables(draft: Draft) -> Slips:
    """The rules of one table are silent while it has such a slip."""
    for slip in _tables(draft).slips:
        yield (slip.path, slip.line), slip.message


def uncovered(draft: Draft) -> Slips:
    notebook = draft.master.notebook
    if _tables(draft).broken(tables.SECTIONS):
        return
    plan = [section for section, (_, home) in masters.sections().items() if home == notebook]
    if not plan and not draft.is_project:
        yield 1, f"solutions/sections.tsv plans no section for it: add lines that end in {notebook}"
    covered = {section for cell in draft.master.cells for section in cell.covers}
    if missing := [section for section in plan if section not in covered]:
        yield 1, f"no cell covers the planned {', '.join(missing)}: say so with covers=…"


def unlisted(draft: Draft) -> Slips:
    name, found = draft.master.notebook, _tables(draft)
    path = draft.master.project / "solutions" / tables.NOTEBOOKS
    if found.broken(tables.NOTEBOOKS):
        return
    if name not in found.notebooks:
        unwritten = set(found.notebooks) - set(masters.notebooks())
        yield path, f"it lacks the line {name!r}, tab, title.{tables.meant(name, unwritten)}"
    elif found.notebooks[name] != draft.master.title:
        told = f"it says {found.notebooks[name]!r} where the master says {draft.master.title!r}"
        yield (path, found.lines[tables.NOTEBOOKS, name]), told


def no_chapter(draft: Draft) -> Slips:
    chapter, found = draft.master.chapter, _tables(draft)
    path = draft.master.project / "solutions" / tables.CHAPTERS
    if found.broken(tables.CHAPTERS):
        return
    words = found.chapters.get(chapter, {})
    if missing := [key for key in tables.WORDS if not words.get(key)]:
        line = found.lines.get((tables.CHAPTERS, chapter), 1)
        yield (path, line), f'["{chapter}"] lacks {", ".join(missing)}: write what it is about'


def no_specification(draft: Draft) -> Slips:
    if not draft.specification.exists():
        yield draft.specification, "missing: what are the exercises checked on?"


def stray_files(draft: Draft) -> Slips:
    for path in sorted(draft.master.path.parent.iterdir()):
        if path.suffix != ".py" and path.name not in ("__pycache__", ".ipynb_checkpoints"):
            yield path, "only .py files lie here: nbgrader would hand it out with the chapter"


def no_tests(draft: Draft) -> Slips:
    chapter, name = draft.master.name.split("/")
    path = draft.master.project / "tests" / "notebooks" / chapter / f"test_{name}.py"
    if not path.exists():
        yield path, "missing: test what only this notebook needs tested"


def little_compared(draft: Draft, texts: int, figures: int) -> Slips:
    """Counted on the solution edition, once it is built."""
    built = draft.master.path.parent.with_suffix(".ipynb")
    if not built.exists():
        return
    found = [text for cell in _cells(built) for text in _texts(cell)]
    drawn = sum("[axes 1" in text for text in found)
    if len(found) < texts or drawn < figures:
        yield (
            1,
            f"{len(found)} outputs that tests compare, {drawn} of them figures: at least {texts} and {figures} wanted",
        )


def _cells(notebook: Path) -> list[dict]:
    return json.loads(notebook.read_text(encoding="utf-8"))["cells"]


def _texts(cell: dict) -> Iterator[str]:
    """What nbval compares of a cell's outputs: texts, and figures by the summary of their data."""
    for output in cell.get("outputs", []):
        text = output.get("text") or output.get("data", {}).get("text/plain")
        if text:
            yield "".join(text)

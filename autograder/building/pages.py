"""Generated pages: the course map, the index notebook, the table of errata and the table of coverage; and what
README and AUTHORING tell of the course and of the rules of form."""

import json
from collections import Counter, defaultdict
from functools import lru_cache
from pathlib import Path

from autograder.building import coverage, form, masters, tables
from autograder.building.inserts import inserted
from autograder.checkdata import ROOT
from descent.board import chapter_title

COURSE = ROOT / "course"
LECTURES = {
    "wu": "Wu", "moon": "Moon", "cs480": "CS480", "guo": "Guo", "explainers": "Explainers",
}  # fmt: skip


def write_all() -> None:
    """Write every page that changed."""
    for path, text in pages().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def stale() -> list[str]:
    """Pages that are missing or differ from what would be written."""
    return [
        path.relative_to(ROOT).as_posix()
        for path, text in pages().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]


def pages() -> dict[Path, str]:
    """Path -> text of every generated page. Raises TableError where a table cannot be used."""
    tables.require(masters.SOLUTIONS)
    words = tables.read(masters.SOLUTIONS).chapters
    readme, authoring = ROOT / "README.md", masters.SOLUTIONS / "AUTHORING.md"
    return {
        readme: inserted(readme, "what exists", [what_exists(), what_is_missing()]),
        authoring: inserted(authoring, "the rules of form", form.table()),
        COURSE / "README.md": course_map(),
        COURSE / "index.ipynb": index_notebook(),
        COURSE / "ERRATA.md": errata_page(),
        COURSE / "COVERAGE.md": coverage_page(),
        **{COURSE / c / "README.md": chapter_page(c, n, words) for c, n in _by_chapter().items()},
    }


@lru_cache
def _masters() -> dict:
    """The masters that were built, by notebook: an unfinished one is not on the map."""
    built = [n for n in masters.notebooks() if (COURSE / "descent/checks" / f"{n}.json").exists()]
    return {notebook: masters.read(notebook) for notebook in built}


def _by_chapter() -> dict[str, list]:
    chapters = defaultdict(list)
    for master in _masters().values():
        chapters[master.chapter].append(master)
    return chapters


def what_exists() -> str:
    """How much of the course is there, in a sentence."""
    written, planned = _masters(), masters.planned()
    hours = sum(master.head["minutes"] for master in written.values()) / 60
    return (
        f"{len(written)} of {len(planned)} planned notebooks are written, in {len(_by_chapter())} "
        f"chapters: about {hours:.0f} hours, by the minutes that they name."
    )


def what_is_missing() -> str:
    """The chapters that are not complete, with the number of notebooks that they lack."""
    missing = [notebook for notebook in masters.planned() if notebook not in _masters()]
    lacks = Counter(notebook.split("/")[0] for notebook in missing)
    if not lacks:
        return "Nothing that is planned is missing."
    told = [
        f"{chapter_title(chapter)} ({number}{' more' if chapter in _by_chapter() else ''})"
        for chapter, number in lacks.items()
    ]
    return f"Not written yet: {', '.join(told)}."


def course_map() -> str:
    """course/README.md: chapters, notebooks, minutes, what you will build, and what is not written yet."""
    lines = [
        "# Graded Descent: the course", "",
        "Open `index.ipynb` in JupyterLab: it shows this map with your own progress.",
        "To use this folder on its own: `pip install -e .` here, then `jupyter lab index.ipynb`.", "",
        what_exists(), what_is_missing(), "",
    ]  # fmt: skip
    for chapter, notebooks in _by_chapter().items():
        lines += [f"## [{chapter_title(chapter)}]({chapter}/README.md)", ""]
        lines += [*_notebook_table(notebooks, f"{chapter}/"), ""]
    lines.append(
        "What the lecture notes got wrong: [ERRATA.md](ERRATA.md). "
        "Which lecture section is where: [COVERAGE.md](COVERAGE.md)."
    )
    return "\n".join(lines) + "\n"


def _notebook_table(notebooks, folder) -> list[str]:
    lines = [
        "| notebook | minutes | exercises | what you will build |",
        "| --- | --- | --- | --- |",
    ]
    for master in notebooks:
        link = f"[{master.title}]({folder}{Path(master.notebook).name}.ipynb)"
        head = master.head
        lines.append(f"| {link} | {head['minutes']} | {len(master.points)} | {head['builds']} |")
    return lines


def chapter_page(chapter: str, notebooks: list, words: dict) -> str:
    """course/<chapter>/README.md: abilities, prerequisites, notebooks with minutes, lecture sections.

    words: solutions/chapters.toml. Raises KeyError when solutions/chapters.toml does not know the chapter.
    """
    if chapter not in words:
        raise KeyError(
            f"{chapter}: no entry in solutions/chapters.toml. Write about, able, before."
        )
    words = words[chapter]
    minutes = sum(int(master.head["minutes"]) for master in notebooks)
    lines = [
        f"# {chapter_title(chapter)}", "", words["about"], "",
        "## What you will be able to do", "",
        *[f"- {one}" for one in words["able"]], "",
        "## Before you start", "", words["before"], "",
        "## The notebooks", "",
        f"About {round(minutes / 60)} hours altogether." if minutes > 90 else f"{minutes} minutes.", "",
        *_notebook_table(notebooks, ""), "",
        "## The sections of the notes", "",
    ]  # fmt: skip
    for master in notebooks:
        if mirrored := _lectures(master):
            link = f"[{master.title}]({Path(master.notebook).name}.ipynb)"
            lines.append(f"- {link}: {mirrored}")
    back = "[All chapters](../README.md). [Which lecture section is where](../COVERAGE.md)."
    return "\n".join([*lines, "", back]) + "\n"


def _lectures(master) -> str:
    """The sections that a notebook covers, by lecture: 'Wu 1.4.1, 1.4.2; Moon 5.3'; '' for a project."""
    covered = {section for cell in master.cells for section in cell.covers}
    found = defaultdict(list)
    for section in masters.sections():
        if section in covered:
            lecture, number = section.split(":", 1)
            found[lecture].append(number)
    return "; ".join(f"{LECTURES[one]} {', '.join(found[one])}" for one in found)


def index_notebook() -> str:
    """course/index.ipynb: the map in course order with a cell that shows the progress."""
    from nbformat import v4

    head = (
        "# Graded Descent\n\nMachine learning from least squares to diffusion, in notebooks that run. "
        "New here? Open [How this course works](00_start_here/01_how_this_course_works.ipynb).\n\n"
        "Run the next cell (Shift+Enter) to see how far you are."
    )
    cells = [
        v4.new_markdown_cell(head, id="welcome"),
        v4.new_code_cell("from descent import progress\n\nprogress()", id="progress"),
    ]
    for chapter, notebooks in _by_chapter().items():
        rows = [
            f"- [{m.title}]({m.notebook}.ipynb), {m.head['minutes']} minutes: {m.head['builds']}"
            for m in notebooks
        ]
        cells.append(
            v4.new_markdown_cell(
                "\n".join([f"## [{chapter_title(chapter)}]({chapter}/README.md)", "", *rows]),
                id=f"chapter-{chapter}",
            )
        )
    end = (
        'To hand in a chapter: `from descent import submit` and `submit("03_optimisation")`. '
        "[What the notes got wrong](ERRATA.md)."
    )
    cells.append(v4.new_markdown_cell(end, id="hand-in"))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = v4.new_notebook(
        cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}}
    )
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def errata_page() -> str:
    """course/ERRATA.md: every error of the notes with the cell that proves it."""
    lines = [
        "# What the lecture notes got wrong", "",
        "Each line is shown in the named notebook. *Proven* means: the printed form is computed there "
        "and fails, the corrected one holds. "
        "*Wording* means: there is nothing to compute.", "",
    ]  # fmt: skip
    total = 0
    for master in _masters().values():
        found = masters.errata(master)
        total += len(found)
        if not found:
            continue
        lines += [
            f"## [{master.title}]({master.notebook}.ipynb)",
            "",
            "| section | printed | corrected | shown under | |",
            "| --- | --- | --- | --- | --- |",
        ]
        headings = {cell.line: place for place, cell in coverage.places(master)}
        for entry in found:
            place = headings[entry["line"]]
            state = "proven" if entry["proven"] else "wording"
            texts = " | ".join(_table_text(entry[key]) for key in ("printed", "corrected"))
            lines.append(f"| {entry['section']} | {texts} | {_link(place)} | {state} |")
        lines.append("")
    lines.insert(2, f"{total} errors so far.")
    lines.insert(3, "")
    return "\n".join(lines)


def coverage_page() -> str:
    """course/COVERAGE.md: lecture section -> notebook, heading, exercise."""
    found = coverage.covered()
    sections = masters.sections()
    lines = [
        "# Which lecture section is where", "",
        f"{len(found)} of {len(sections)} sections are covered so far.", "",
    ]  # fmt: skip
    for lecture, name in LECTURES.items():
        rows = [s for s in sections if s.split(":")[0] == lecture and s in found]
        total = sum(s.split(":")[0] == lecture for s in sections)
        lines += [
            f"## {name}: {len(rows)} of {total}",
            "",
            "| section | title | covered in |",
            "| --- | --- | --- |",
        ]
        for section in rows:
            where = "; ".join(_link(place, full=True) for place in found[section])
            lines.append(f"| {section} | {_table_text(sections[section][0])} | {where} |")
        lines.append("")
    return "\n".join(lines)


def _link(place, full=False) -> str:
    anchor = place.heading.replace(" ", "-")
    number = place.notebook.split("/")[0][:2] + "/" + place.notebook.split("/")[1][:2]
    words = f"{number} {place.heading}" if full else place.heading
    exercise = f" (exercise `{place.exercise}`)" if place.exercise else ""
    return f"[{_table_text(words)}]({place.notebook}.ipynb#{anchor}){exercise}"


def _table_text(text: str) -> str:
    """Text that does not break a row of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")

"""Generated pages: the course map, the index notebook, the table of errata and the table of coverage; and what
README and AUTHORING tell of the course and of the rules of form."""

import json
from collections import Counter, defaultdict
from functools import lru_cache
from pathlib import Path

from autograder.building import coverage, errata_page, form, masters, mentions, minutes, tables
from autograder.building.inserts import inserted
from autograder.building.markdown import link, table_text
from autograder.checkdata import ROOT
from descent.board import chapter_title
from descent.cards import minutes_text, points_text

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
        COURSE / "ERRATA.md": errata_page.text(_masters().values()),
        COURSE / "COVERAGE.md": coverage_page(),
        **{COURSE / c / "README.md": chapter_page(c, n, words) for c, n in _by_chapter().items()},
        **notebooks_that_mention(),
    }


def notebooks_that_mention() -> dict[Path, str]:
    """Both editions of each notebook that mentions others, with what there is to say of them now."""
    found = {}
    for notebook, master in _masters().items():
        told = mentioning(master)
        for path in (ROOT / "solutions" / f"{notebook}.ipynb", COURSE / f"{notebook}.ipynb"):
            if told and path.exists():
                found[path] = _with_texts(path, told)
    return found


def mentioning(master) -> dict[str, str]:
    """Cell id -> text of each cell of a master that mentions other notebooks."""
    cells = zip(masters.expand(master).cells, master.cells, strict=True)
    return {
        built.id: mentions.filled(built.source, master.notebook, set(_masters()))
        for built, cell in cells
        if mentions.mentions(cell)
    }


def _with_texts(path: Path, texts: dict[str, str]) -> str:
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.source = texts.get(cell.id, cell.source)
    return nbformat.writes(notebook) + "\n"


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
    return (
        f"{len(written)} of {len(planned)} planned notebooks are written, in "
        f"{_counted(len(_by_chapter()), 'chapter')}: {_amount(written.values())}."
    )


def _amount(notebooks) -> str:
    """What notebooks hold together: "about 8 hours, deeper about 2 hours; 21 exercises, 64 points"."""
    planned = [minutes.planned(master) for master in notebooks]
    told = [_hours(sum(one[part] for one in planned)) for part in minutes.PARTS]
    points = [value for master in notebooks for value in master.points.values()]
    time = told[0] + (f", deeper {told[1]}" if any(one["deeper"] for one in planned) else "")
    return f"{time}; {_counted(len(points), 'exercise')}, {points_text(sum(points))} points"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _hours(planned: int) -> str:
    return f"{planned} minutes" if planned <= 90 else f"about {planned / 60:.0f} hours"


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
        lines += [f"{_amount(notebooks).capitalize()}.", ""]
        lines += [*_notebook_table(notebooks, f"{chapter}/"), ""]
    lines.append(
        "What the lecture notes got wrong: [ERRATA.md](ERRATA.md). "
        "Which lecture section is where: [COVERAGE.md](COVERAGE.md)."
    )
    return "\n".join(lines) + "\n"


def _notebook_table(notebooks, folder) -> list[str]:
    lines = [
        "| notebook | time | exercises | what you will build |",
        "| --- | --- | --- | --- |",
    ]
    for master in notebooks:
        link = f"[{master.title}]({folder}{Path(master.notebook).name}.ipynb)"
        time = minutes_text(minutes.planned(master))
        lines.append(f"| {link} | {time} | {len(master.points)} | {master.head['builds']} |")
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
    lines = [
        f"# {chapter_title(chapter)}", "", words["about"], "",
        "## What you will be able to do", "",
        *[f"- {one}" for one in words["able"]], "",
        "## Before you start", "", words["before"], "",
        "## The notebooks", "",
        f"{_amount(notebooks).capitalize()}.", "",
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
        f"{what_exists()} {what_is_missing()}\n\n"
        "Run the next cell (Shift+Enter) to see how far you are, and where to go on."
    )
    cells = [
        v4.new_markdown_cell(head, id="welcome"),
        v4.new_code_cell("from descent import progress\n\nprogress()", id="progress"),
    ]
    for chapter, notebooks in _by_chapter().items():
        rows = [
            f"- [{m.title}]({m.notebook}.ipynb), {minutes_text(minutes.planned(m))}: {m.head['builds']}"
            for m in notebooks
        ]
        cells.append(
            v4.new_markdown_cell(
                "\n".join(
                    [
                        f"## [{chapter_title(chapter)}]({chapter}/README.md)",
                        "",
                        f"{_amount(notebooks).capitalize()}.",
                        "",
                        *rows,
                    ]
                ),
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


def coverage_page() -> str:
    """course/COVERAGE.md: lecture section -> notebook, heading, exercise."""
    found = coverage.covered()
    asked = {section for section, places in found.items() if any(p.exercise for p in places)}

    def split(covered) -> str:
        by_exercise = len(asked.intersection(covered))
        return f"{by_exercise} by an exercise, {len(covered) - by_exercise} demonstrated"

    sections = masters.sections()
    lines = [
        "# Which lecture section is where", "",
        f"{len(found)} of {len(sections)} sections are covered so far: {split(found)}.", "",
    ]  # fmt: skip
    for lecture, name in LECTURES.items():
        rows = [s for s in sections if s.split(":")[0] == lecture and s in found]
        total = sum(s.split(":")[0] == lecture for s in sections)
        lines += [
            f"## {name}: {len(rows)} of {total}",
            "",
            f"{split(rows).capitalize()}.",
            "",
            "| section | title | covered in |",
            "| --- | --- | --- |",
        ]
        for section in rows:
            links = dict.fromkeys(link(place, full=True) for place in found[section])
            where = "; ".join(links)  # of several cells under one heading, one
            lines.append(f"| {section} | {table_text(sections[section][0])} | {where} |")
        lines.append("")
    return "\n".join(lines)

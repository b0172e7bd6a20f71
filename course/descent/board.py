"""`progress()`: the board of the chapters."""

import html
import json
from itertools import groupby

from descent import checking, records, session
from descent.cards import minutes_text, points_text

PARTS = ("core", "deeper")


def notebooks() -> list[dict]:
    """The course's notebooks in order: name, title, minutes, builds, exercises (name -> its check data)."""
    found = []
    for chapter in sorted(p for p in session.CHECKS.iterdir() if p.is_dir()):
        for file in sorted(p for p in chapter.iterdir() if p.name.endswith(".json")):
            data = json.loads(file.read_text(encoding="utf-8"))
            keys = ("notebook", "title", "minutes", "builds", "exercises")
            found.append({key: data[key] for key in keys})
    return found


def progress() -> None:
    """Show where to go on, and what is solved in each notebook, each chapter and the course, core and deeper apart."""
    kept = records.read()
    rows = [_row(notebook, kept.get(notebook["notebook"], {})) for notebook in notebooks()]
    checking.display(_page(rows), _text(rows))


def _row(notebook, kept):
    """The notebook with "core" and "deeper": what is solved of what, and "seen": when something happened in it."""
    asked, done = notebook["exercises"], kept.get("exercises", {})
    counts = {part: dict(solved=0, shown=0, total=0, points=0, max_points=0) for part in PARTS}
    for name, exercise in asked.items():
        best = records.best_of(done.get(name, {}), exercise) or {}
        count = counts[exercise["part"]]
        count["solved"] += best.get("kind") == "full"
        count["shown"] += records.was_given_up(done.get(name, {}), exercise)
        count["total"] += 1
        count["points"] += best.get("points", 0)
        count["max_points"] += exercise["points"]
    return notebook | counts | {"seen": kept.get("seen", 0)}


def _sum(rows) -> dict:
    """A row that holds what several hold together."""
    parts = {
        part: {key: sum(r[part][key] for r in rows) for key in rows[0][part]} for part in PARTS
    }
    return parts | {"minutes": {part: sum(row["minutes"][part] for row in rows) for part in PARTS}}


def here(rows: list[dict]) -> dict | None:
    """Where to go on: in the notebook worked on last, or in the next one whose core is not solved.

    None where nothing is left to solve.
    """
    if not rows:
        return None
    last = max(
        range(len(rows)), key=lambda i: rows[i]["seen"]
    )  # the first one where none was opened
    around = rows[last:] + rows[:last]
    return next((row for row in around if row["core"]["solved"] < row["core"]["total"]), None)


def chapter_title(chapter: str) -> str:
    """'03_optimisation' -> '3 Optimisation'."""
    number, words = chapter.split("_", 1)
    return f"{int(number)} {words.replace('_', ' ').capitalize()}"


def _chapter(row) -> str:
    return row["notebook"].split("/")[0]


def _page(rows):
    body = []
    for chapter, group in groupby(rows, _chapter):
        mine = list(group)
        body.append(_sum_line(chapter_title(chapter), _sum(mine), top="0.9em"))
        body += [_line(_link(row), row) for row in mine]
    if rows:
        body.append(_sum_line("The course", _sum(rows), top="1.2em"))
    table = f'<table aria-label="Your progress" style="font-size:100%">{"".join(body)}</table>'
    on = here(rows)
    return (f"<p><strong>Continue here:</strong> {_link(on)}</p>" if on else "") + table


def _link(row) -> str:
    up = "../" if session.current.notebook else ""  # seen from a notebook inside a chapter
    return f'<a href="{up}{row["notebook"]}.ipynb">{html.escape(row["title"])}</a>'


def _line(first: str, row) -> str:
    count = row["core"]
    share = count["points"] / count["max_points"] if count["max_points"] else 0
    label = f"{share:.0%} of the core's points"
    bar = (
        f'<progress value="{share:.2f}" max="1" aria-label="{label}" style="width:7em"></progress>'
    )
    cells = [first, minutes_text(row["minutes"]), f"{bar} {_solved(row)}", _points(row)]
    sides = ("left", "right", "left", "right")
    return "<tr>" + "".join(
        f'<td style="text-align:{side}">{cell}</td>'
        for side, cell in zip(sides, cells, strict=True)
    ) + "</tr>"  # fmt: skip


def _sum_line(title: str, row, top: str) -> str:
    style = f"padding-top:{top};text-align"
    return (
        f'<tr><th scope="rowgroup" style="{style}:left">{title}</th>'
        f'<th style="{style}:right">{minutes_text(row["minutes"])}</th>'
        f'<th style="{style}:left">{_solved(row)}</th>'
        f'<th style="{style}:right">{_points(row)}</th></tr>'
    )


def _solved(row) -> str:
    """ "3 of 5 solved · deeper 0 of 2": what is deeper, or was seen unsolved, is told where there is something."""
    deeper, shown = row["deeper"], sum(row[part]["shown"] for part in PARTS)
    more = f" · deeper {deeper['solved']} of {deeper['total']}" if deeper["total"] else ""
    seen = f" · {shown} worked answer{'s' if shown > 1 else ''} seen first" if shown else ""
    return f"{row['core']['solved']} of {row['core']['total']} solved{more}{seen}"


def _points(row) -> str:
    told = {
        part: (points_text(row[part]["points"]), points_text(row[part]["max_points"]))
        for part in PARTS
    }
    deeper = f" · deeper {' of '.join(told['deeper'])}" if row["deeper"]["max_points"] else ""
    return f"{' of '.join(told['core'])} points{deeper}"


def _text(rows):
    named = [(row["notebook"], row) for row in rows]
    named += [("the course", _sum(rows))] if rows else []
    lines = [f"{name:<45} {_solved(row)}, {_points(row)}" for name, row in named]
    on = here(rows)
    return "\n".join(([f"Continue here: {on['notebook']}"] if on else []) + lines)

"""`progress()`: the board of the chapters."""

import html
import json

from descent import checking, records, session
from descent.cards import points_text


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
    """Show, chapter by chapter, what is solved and how many points that makes."""
    kept = records.read()
    rows = [_row(notebook, kept.get(notebook["notebook"], {})) for notebook in notebooks()]
    checking._display(_page(rows), _text(rows))


def _row(notebook, kept):
    exercises, done = notebook["exercises"], kept.get("exercises", {})
    found = [records.best_of(done.get(name, {}), exercises[name]) or {} for name in exercises]
    return notebook | {
        "solved": sum(verdict.get("kind") == "full" for verdict in found),
        "total": len(exercises),
        "points": sum(verdict.get("points", 0) for verdict in found),
        "max_points": sum(exercise["points"] for exercise in exercises.values()),
    }


def chapter_title(chapter: str) -> str:
    """'03_optimisation' -> '3 Optimisation'."""
    number, words = chapter.split("_", 1)
    return f"{int(number)} {words.replace('_', ' ').capitalize()}"


def _page(rows):
    body, last = [], None
    up = "../" if session.current.notebook else ""  # seen from a notebook inside a chapter
    for row in rows:
        chapter, name = row["notebook"].split("/")
        if chapter != last:
            body.append(
                '<tr><th colspan="4" scope="rowgroup" style="text-align:left;padding-top:0.9em">'
                f"{chapter_title(chapter)}</th></tr>"
            )
            last = chapter
        share = row["points"] / row["max_points"] if row["max_points"] else 0
        label = f"{share:.0%} of the points"
        bar = f'<progress value="{share:.2f}" max="1" aria-label="{label}" style="width:7em"></progress>'
        body.append(
            f'<tr><td style="text-align:left"><a href="{up}{chapter}/{name}.ipynb">{html.escape(row["title"])}</a></td>'
            f'<td style="text-align:right">{row["minutes"]} min</td>'
            f'<td style="text-align:left">{bar} {row["solved"]} of {row["total"]} solved</td>'
            f'<td style="text-align:right">{points_text(row["points"])} of '
            f"{points_text(row['max_points'])} points</td></tr>"
        )
    return f'<table aria-label="Your progress" style="font-size:100%">{"".join(body)}</table>'


def _text(rows):
    return "\n".join(
        f"{row['notebook']:<45} {row['solved']} of {row['total']} solved, "
        f"{points_text(row['points'])} of {points_text(row['max_points'])} points"
        for row in rows
    )

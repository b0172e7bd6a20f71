"""What a class did in a chapter, on one static page: `autograder report CHAPTER`."""

import argparse
import base64
import html
import statistics
import sys
from collections import Counter

import matplotlib

from autograder.grading import verdicts
from autograder.workspace import workspace, write_text
from descent.cards import points_text

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222 }
table { border-collapse: collapse; margin: 1em 0 }
th, td { padding: 0.3em 0.9em; border-bottom: 1px solid #ddd; text-align: left }
td.n, th.n { text-align: right } img { max-width: 100%; height: auto } caption { text-align: left; color: #555 }
"""


def main(argv: list[str] | None = None) -> int:
    """Status 0: written. 2: nothing is graded."""
    parser = argparse.ArgumentParser(prog="autograder report", description=__doc__)
    parser.add_argument("chapter", help="for example 03_optimisation")
    chapter = parser.parse_args(argv).chapter
    space = workspace()
    submissions = verdicts.load_all(space, chapter)
    if not submissions:
        print(
            f"report: nobody is graded in {chapter}: run `autograder grade {chapter}`.",
            file=sys.stderr,
        )
        return 2
    path = space.folder / "reports" / f"{chapter}.html"
    write_text(path, page(chapter, submissions))
    print(f"Report on {len(submissions)} students: {path}")
    return 0


def page(chapter: str, submissions: list[verdicts.Submission]) -> str:
    """The whole page as HTML."""
    exercises = summaries(submissions)
    parts = [
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{_esc(chapter)}</title><style>{_STYLE}</style>',
        f"<h1>{_esc(chapter)}: {len(submissions)} students</h1>",
        _marks_section(submissions),
        _exercises_section(exercises),
        _mistakes_section(submissions),
        _look_section(submissions),
    ]
    return "\n".join(parts) + "</html>\n"


def summaries(submissions) -> list[dict]:
    """Per exercise in order: how many solved it, kinds, mean share of the points, median minutes and checks."""
    by_exercise: dict[tuple[str, str], list] = {}
    for submission in submissions:
        for verdict in submission.verdicts:
            by_exercise.setdefault((verdict.notebook, verdict.exercise), []).append(verdict)
    return [
        _summary(*name, found)
        for name, found in sorted(by_exercise.items(), key=lambda item: item[0][0])
    ]


def _summary(notebook, exercise, found):
    minutes = [v.worked / 60 for v in found if v.worked]
    checks = [v.checks for v in found if v.checks]
    return {
        "notebook": notebook,
        "exercise": exercise,
        "students": len(found),
        "solved": sum(v.kind == "full" for v in found),
        "kinds": Counter(v.kind for v in found),
        "share": statistics.fmean(v.points / v.max_points for v in found),
        "minutes": statistics.median(minutes) if minutes else None,
        "checks": statistics.median(checks) if checks else None,
    }


def _marks_section(submissions):
    marks = sorted(s.points for s in submissions)
    total = max(s.max_points for s in submissions)
    words = (
        f"Median {points_text(statistics.median(marks))} of {points_text(total)} points, "
        f"lowest {points_text(marks[0])}, highest {points_text(marks[-1])}."
    )
    rows = "".join(
        f'<tr><td>{_esc(s.student)}</td><td class="n">{points_text(s.points)}</td></tr>'
        for s in sorted(submissions, key=lambda s: (-s.points, s.student))
    )
    table = (
        "<details><summary>Marks by student</summary><table>"
        f'<tr><th>student</th><th class="n">points</th></tr>{rows}</table></details>'
    )
    return f"<h2>Marks</h2><p>{words} Automatic marks only.</p>{_picture(_draw_marks, words, marks, total)}{table}"


def _draw_marks(ax, marks, total):
    ax.hist(
        marks,
        bins=min(10, max(int(total), 1)),
        range=(0, total),
        color="#0072B2",
        edgecolor="white",
    )
    ax.set(xlabel="points", ylabel="students", title="How the marks are spread")
    ax.yaxis.get_major_locator().set_params(integer=True)


def _exercises_section(exercises):
    if not exercises:
        return "<h2>Exercises</h2><p>No exercise is graded automatically.</p>"
    hardest = min(exercises, key=lambda e: e["solved"] / e["students"])
    words = (
        f"Hardest: {hardest['exercise']}, solved by {hardest['solved']} of {hardest['students']}."
    )
    rows = "".join(
        f"<tr><td>{_esc(e['notebook'].split('/')[1])}</td><td><code>{_esc(e['exercise'])}</code></td>"
        f'<td class="n">{e["solved"]} of {e["students"]}</td><td class="n">{e["share"]:.0%}</td>'
        f'<td class="n">{_or_dash(e["minutes"])}</td><td class="n">{_or_dash(e["checks"])}</td>'
        f"<td>{_esc(', '.join(f'{n} {kind}' for kind, n in e['kinds'].most_common()))}</td></tr>"
        for e in exercises
    )
    head = (
        '<tr><th>notebook</th><th>exercise</th><th class="n">solved</th><th class="n">mean share of points</th>'
        '<th class="n">median minutes</th><th class="n">median checks</th><th>verdicts</th></tr>'
    )
    note = "<caption>Minutes and checks are the students' own records, where they handed them in.</caption>"
    picture = _picture(_draw_solved, words, exercises)
    return f"<h2>Exercises</h2><p>{_esc(words)}</p>{picture}<table>{note}{head}{rows}</table>"


def _draw_solved(ax, exercises):
    names = [e["exercise"] for e in exercises]
    shares = [100 * e["solved"] / e["students"] for e in exercises]
    ax.barh(names, shares, color="#009E73")
    ax.invert_yaxis()
    ax.set(xlabel="students who solved it (%)", xlim=(0, 100), title="Who solved what")


def _mistakes_section(submissions):
    made = Counter((v.exercise, v.mistake) for s in submissions for v in s.verdicts if v.mistake)
    if not made:
        return "<h2>Known mistakes</h2><p>None was recognised.</p>"
    rows = "".join(
        f'<tr><td class="n">{count}</td><td><code>{_esc(exercise)}</code></td><td>{_esc(mistake)}</td></tr>'
        for (exercise, mistake), count in made.most_common()
    )
    head = '<tr><th class="n">students</th><th>exercise</th><th>mistake</th></tr>'
    return f"<h2>Known mistakes</h2><table>{head}{rows}</table>"


def _look_section(submissions):
    rows = "".join(
        f"<tr><td>{_esc(s.student)}</td><td>{_esc('; '.join(s.notes)) or 'see the verdicts'}</td></tr>"
        for s in submissions
        if s.look
    )
    return (
        f"<h2>Worth a look</h2><table><tr><th>student</th><th>why</th></tr>{rows}</table>"
        if rows
        else ""
    )


def _picture(draw, words, *data) -> str:
    """An <img> of what `draw(ax, *data)` draws, with its words."""
    import matplotlib.pyplot as plt

    from descent import plots

    backend = matplotlib.get_backend()
    matplotlib.use("agg")
    try:
        with plt.style.context(str(plots.STYLE)):
            height = 3.2 if draw is _draw_marks else 1 + 0.3 * len(data[0])
            fig, ax = plt.subplots(figsize=(7, height))
            draw(ax, *data)
            png, width = plots.png(fig)
    finally:
        matplotlib.use(backend)
    source = base64.b64encode(png).decode("ascii")
    return f'<img src="data:image/png;base64,{source}" width="{width}" alt="{_esc(words)}">'


def _or_dash(value) -> str:
    return "–" if value is None else points_text(round(value, 1))


def _esc(text) -> str:
    return html.escape(str(text), quote=True)

"""Verdicts, hints and worked answers as accessible HTML and as plain text. Nothing is told by colour alone."""

import html
import textwrap

from descent.judging import CHANGES_INPUT, Verdict

_HEAD = {
    "full": ("✓", "solved", "#1b7837"),
    "partial": ("◐", "partly right", "#b35806"),
    "wrong": ("✗", "not yet", "#b2182b"),
    "unsolved": ("○", "not solved yet", "#525252"),
    "error": ("✗", "raised an error", "#b2182b"),
    "exited": ("✗", "left the program", "#b2182b"),
    "timeout": ("✗", "too slow", "#b2182b"),
}
_FRAME = (
    "border:1px solid var(--jp-border-color2,#bbb);border-left:5px solid {color};border-radius:3px;"
    "padding:0.6em 1em;margin:0.4em 0;max-width:52em;line-height:1.45"
)
# A card may quote a student's line: MathJax, which can make links that run, must not read it.
_NO_MATHS = "tex2jax_ignore"

_OPEN_MISTAKES = 4  # of a worked answer: some exercises know a dozen


def points_text(value: float) -> str:
    """Points without useless zeros: 3, 2.5, 0.75."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def minutes_text(minutes: dict[str, int]) -> str:
    """What notebooks take: "60 min · deeper 45 min", "11.5 h" where it is more than two hours, all of it core."""
    deeper = f" · deeper {_time(minutes['deeper'])}" if minutes["deeper"] else ""
    return _time(minutes["core"]) + deeper


def _time(minutes: int) -> str:
    return f"{minutes} min" if minutes <= 120 else f"{minutes / 60:.1f} h"


def text_card(verdict: Verdict) -> str:
    """The verdict for a terminal."""
    mark, words, _ = _head(verdict)
    lines = [f"{mark} {verdict.exercise}: {words}, {_points(verdict)}"]
    if verdict.kind != "unsolved":
        lines += [f"  {words}"] if (words := _counted(verdict)) else []
        lines += [f"  {'✓' if held else '✗'} {name}" for name, held in verdict.groups.items()]
        lines += [f"  {verdict.note}"] if verdict.note else []
        lines += _failure_lines(verdict)
    else:
        lines.append(f"  Write it, run its cell, check again. hint({verdict.exercise}) helps.")
    if verdict.printed:
        lines.append(f"  It printed: {verdict.printed.strip()[:300]}")
    return "\n".join(lines)


def _failure_lines(verdict):
    failed = verdict.failed
    lines = []
    if _suspected(verdict):
        lines.append(f"  {_suspected(verdict)} {verdict.advice}".rstrip())
    if failed:
        lines.append(f"  {failed.name}: {failed.problem}")
        for label, value in (
            ("tried with", failed.inputs),
            ("expected", failed.expected),
            ("got", failed.got),
        ):
            if value:
                lines.append(f"    {label:<10} {value}")
    return lines


def _suspected(verdict) -> str:
    """The known mistake that the answer may be; "" where there is none. That it changes its input, the note says."""
    if verdict.mistake in ("", CHANGES_INPUT):
        return ""
    return f"This may be a known mistake: {verdict.mistake}."


def html_card(verdict: Verdict) -> str:
    """The verdict for JupyterLab."""
    mark, words, color = _head(verdict)
    title = f"<b>{mark} <code>{_esc(verdict.exercise)}</code>: {words}</b>, {_points(verdict)}"
    body = [
        f'<div class="{_NO_MATHS}" role="status" aria-label="check of {_esc(verdict.exercise)}" '
        f'style="{_FRAME.format(color=color)}">',
        title,
    ]
    if verdict.kind == "unsolved":
        body.append(
            f"<p>Write it, run its cell, check again. <code>hint({_esc(verdict.exercise)})</code> helps.</p>"
        )
    else:
        body.append(_properties(verdict))
        body.append(f"<p>{_esc(verdict.note)}</p>" if verdict.note else "")
        body.append(_failure(verdict))
    if verdict.printed:
        body.append(
            f"<details><summary>What it printed</summary><pre>{_esc(verdict.printed)}</pre></details>"
        )
    return "".join(body) + "</div>"


def _properties(verdict):
    rows = "".join(
        f"<li>{'✓ ' if held else '✗ '}{'' if held else '<b>'}{_esc(name)}{'' if held else '</b>'}"
        f'<span style="{_HIDDEN}">{": holds" if held else ": does not hold"}</span></li>'
        for name, held in verdict.groups.items()
    )
    words = _counted(verdict)
    head = f'<p style="margin:0.4em 0 0">{words}</p>' if words else ""
    return f'{head}<ul style="list-style:none;padding-left:0.4em;margin:0.4em 0">{rows}</ul>'


def _counted(verdict) -> str:
    """How part of the points came about; "" where it was all or nothing."""
    if verdict.kind != "partial":
        return ""
    held = sum(verdict.groups.values())
    return f"{held} of {len(verdict.groups)} properties hold, each counts alike:"


_HIDDEN = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)"


def _failure(verdict):
    failed = verdict.failed
    if failed is None:
        return ""
    parts = []
    if _suspected(verdict):
        parts.append(f"<p><b>{_esc(_suspected(verdict))}</b> {_esc(verdict.advice)}</p>")
    parts.append(f"<p><b>{_esc(failed.name)}</b>: {_esc(failed.problem)}</p>")
    rows = [
        f'<tr><th scope="row" style="text-align:left;padding-right:1em;vertical-align:top">{label}</th>'
        f'<td style="text-align:left"><code style="white-space:pre-wrap">{_esc(value)}</code></td></tr>'
        for label, value in (
            ("tried with", failed.inputs),
            ("expected", failed.expected),
            ("got", failed.got),
        )
        if value
    ]
    if rows:
        parts.append(f'<table style="margin:0;border:0">{"".join(rows)}</table>')
    if failed.call:
        parts.append(
            f"<details><summary>Try it in a cell of your own</summary>{_code(failed.call)}</details>"
        )
    return "".join(parts)


def hint_card(name: str, shown: list[tuple[str, str]], left: int) -> tuple[str, str]:
    """(html, text) of the hints shown so far."""
    more = f"{left} more: run hint({name}) again." if left else "That was the last hint."
    rows = "".join(f"<li><b>{_esc(level)}</b>: {_esc(text)}</li>" for level, text in shown)
    page = (
        f'<div role="note" style="{_FRAME.format(color="#4575b4")}"><b>Hints for <code>{_esc(name)}</code></b>'
        f'<ol style="margin:0.4em 0">{rows}</ol><small>{_esc(more)}</small></div>'
    )
    plain = "\n".join(
        [f"Hints for {name}"] + [f"  {level}: {text}" for level, text in shown] + [f"  {more}"]
    )
    return page, plain


def solution_card(name: str, told: dict) -> tuple[str, str]:
    """(html, text) of a worked answer, as `worked.answer` gives it."""
    pages = [f"<b>A worked answer of <code>{_esc(name)}</code></b>", _code(told["code"])]
    lines = [f"A worked answer of {name}", _indented(told["code"])]
    if told["why"]:
        pages.append(
            f'<p style="white-space:pre-line"><b>Why it works.</b> {_esc(told["why"])}</p>'
        )
        lines.append(f"  Why it works. {told['why']}")
    pages.append(f'<p style="margin-bottom:0"><b>What usually goes wrong</b></p>{_mistakes(told)}')
    lines.append("  What usually goes wrong")
    lines += [f"  - {one['name']}: {one['advice']}" for one in told["mistakes"]]
    for way in told["libraries"]:
        pages.append(
            f"<p><b>With a library</b>: <code>{_esc(way['name'])}</code></p>{_code(way['code'])}"
        )
        lines += [f"  With a library: {way['name']}", _indented(way["code"])]
    frame = _FRAME.format(color="#762a83")
    about = f'role="note" aria-label="worked answer of {_esc(name)}"'
    return f'<div {about} style="{frame}">{"".join(pages)}</div>', "\n".join(lines)


def _code(source: str) -> str:
    return f'<pre style="overflow-x:auto;margin:0.5em 0">{_esc(source)}</pre>'


def _indented(source: str) -> str:
    return textwrap.indent(source, "    ")


def _mistakes(told: dict) -> str:
    """The first few mistakes, and the others behind a line to click on."""
    rows = [
        f"<li><b>{_esc(one['name'])}</b>: {_esc(one['advice'])}</li>" for one in told["mistakes"]
    ]
    rest = "".join(rows[_OPEN_MISTAKES:])
    more = f"<details><summary>{len(rows) - _OPEN_MISTAKES} more</summary><ul>{rest}</ul></details>"
    return f'<ul style="margin:0.4em 0">{"".join(rows[:_OPEN_MISTAKES])}</ul>{more if rest else ""}'


def note_html(text: str) -> str:
    frame = _FRAME.format(color="#525252")
    return f'<div class="{_NO_MATHS}" role="status" style="{frame}">{_esc(text)}</div>'


def _head(verdict):
    return _HEAD.get(verdict.kind, ("✗", verdict.kind, "#b2182b"))


def _points(verdict):
    unit = "point" if verdict.max_points == 1 else "points"
    return f"{points_text(verdict.points)} of {points_text(verdict.max_points)} {unit}"


def _esc(text) -> str:
    return html.escape(str(text))

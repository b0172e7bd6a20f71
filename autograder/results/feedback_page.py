"""A chapter's feedback without scripts: a first page with points and advice, and a page a notebook.

The course's formulas are drawn by the browser from MathML; a student's own stand in TeX, as they were written.
"""

import html
import re
from dataclasses import dataclass, field

from autograder.grading.verdicts import Graded
from autograder.results import harmless, pages

MAX_OUTPUT = 20_000  # characters of a printed text; what is longer is cut, and the page says so
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]+")


@dataclass
class Mark:
    """What a graded cell earned. waits: for a person, who has not marked it yet."""

    score: float
    max_score: float
    waits: bool = False


@dataclass
class Marks:
    """What the gradebook knows of one notebook of one student, by the cell's name.

    dropped: exercises that count for nobody. deeper: those beside the core. chapter: a sentence or two on the
    chapter as a whole.
    """

    marks: dict[str, Mark] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    penalty: float = 0.0
    dropped: set[str] = field(default_factory=set)
    deeper: set[str] = field(default_factory=set)
    chapter: str = ""


def first_page(title: str, student: str, told: str, notebooks: list[dict]) -> str:
    """The page that a chapter's feedback opens with. told: a sentence or two on the chapter.

    notebooks: of each the "file" of its page, its "title" and the "rows" of `rows`.
    """
    return pages.render(
        "feedback_chapter", title=title, student=student, chapter=told, notebooks=notebooks
    )


def cells(notebook: dict, known: Marks) -> list[dict]:
    """The cells of an autograded notebook (its JSON) as the templates show them."""
    return [_cell(cell, known) for cell in notebook["cells"]]


def rows(cells: list[dict], known: Marks, verdicts: dict[str, Graded]) -> list[dict]:
    """What was graded in a notebook, in order, each with the words that help. verdicts: by exercise."""
    found = [_row(cell, cells, known) for cell in cells if cell["mark"]]
    return [row | {"words": _words(verdicts.get(row["name"]))} for row in found]


def _words(verdict: Graded | None) -> str:
    """What helps most: the known mistake, else the first property that does not hold, else what happened."""
    if verdict is None or verdict.kind == "full":
        return ""
    if verdict.mistake:
        return f"It may be a known mistake: {verdict.mistake}. {verdict.advice}"
    return verdict.problem or verdict.evidence


def title(notebook: dict, otherwise: str) -> str:
    """The heading that a notebook begins with."""
    texts = ("".join(cell["source"]) for cell in notebook["cells"])
    return next((text[2:].split("\n")[0] for text in texts if text.startswith("# ")), otherwise)


def page(cells: list[dict], rows: list[dict], title: str, student: str, known: Marks) -> str:
    """The page of an autograded notebook, of its `cells` and `rows`, as HTML."""
    marks = [row["mark"] for row in rows if not row["dropped"]]
    deeper = [row["mark"] for row in rows if row["deeper"] and not row["dropped"]]
    return pages.render(
        "feedback",
        title=title,
        student=student,
        cells=cells,
        rows=rows,
        score=round(sum(mark.score for mark in marks) - known.penalty, 2),
        max_score=round(sum(mark.max_score for mark in marks), 2),
        deeper=[
            round(sum(getattr(mark, key) for mark in deeper), 2) for key in ("score", "max_score")
        ],
        waiting=sum(mark.waits for mark in marks),
        penalty=known.penalty,
        chapter=known.chapter,
    )


def _row(cell, cells, known) -> dict:
    """A line of the table: a check stands for the answer that it checks."""
    name = cell["name"].removeprefix("check-")
    of_both = [other for other in cells if other["name"] in (name, cell["name"])]
    commented = [other["name"] for other in of_both if other["comment"]]
    return {
        "name": name,
        "anchor": of_both[0]["name"],
        "mark": cell["mark"],
        "dropped": name in known.dropped,
        "deeper": name in known.deeper,
        "commented": "".join(commented[:1]),
    }


def _cell(cell: dict, known: Marks) -> dict:
    """A cell as the template shows it. role: "answer" (the student's), "text", or "" for the course's own code,
    of which the outputs alone are shown: a hidden test that a course of classic tests holds stays hidden.
    """
    about = cell["metadata"].get("nbgrader", {})
    name = about.get("grade_id", "")
    told = {"name": name, "outputs": [], "mark": known.marks.get(name)}
    told |= _shown(cell, about)
    told["comment"] = pages.safe(harmless.markdown_page(known.comments.get(name) or ""))
    if cell["cell_type"] == "code":
        told["outputs"] = [pages.safe(_output(output)) for output in cell["outputs"]]
    return told


def _shown(cell, about) -> dict:
    source, is_code = "".join(cell["source"]), cell["cell_type"] == "code"
    ours = cell["metadata"].get("descent", {})
    if about.get("solution"):
        role, label = "answer", "Your answer"
    elif ours.get("added"):
        role, label = "answer", "A cell that you added"
    else:
        role, label = ("" if is_code else "text"), ""
    shown = harmless.code(source) if is_code else harmless.markdown_page(source)
    left_out = ours.get("left_out", "")
    return {
        "role": role, "label": label, "shown": pages.safe(shown if role else ""), "left_out": left_out,
    }  # fmt: skip


def _output(output: dict) -> str:
    """An output as clean HTML: the richest form of it that can be shown without a script."""
    if output["output_type"] == "stream":
        return _text(output["text"])
    if output["output_type"] == "error":
        return _text(output["traceback"], "\n")
    data = output["data"]
    if "text/html" in data:
        return harmless.clean("".join(data["text/html"]))
    for kind in ("image/png", "image/jpeg"):
        picture = "".join(data.get(kind, ""))
        if _BASE64.fullmatch(picture):
            return f'<img src="data:{kind};base64,{picture}" alt="A picture that the cell drew">'
    return _text(data.get("text/plain", ""))


def _text(parts, joint="") -> str:
    text = _ESCAPES.sub("", joint.join(parts) if isinstance(parts, list) else parts)
    more = f"\n… and {len(text) - MAX_OUTPUT} characters more" if len(text) > MAX_OUTPUT else ""
    return f"<pre>{html.escape(text[:MAX_OUTPUT] + more)}</pre>" if text else ""

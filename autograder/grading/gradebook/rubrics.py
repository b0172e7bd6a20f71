"""What a marker sees beneath a written answer in nbgrader's formgrader: the model answer and its rubric.

Both stand in the master, between the solution markers, the rubric last: a line `**Rubric**`, then one line a criterion,
`- 1: names the point`. They are read when the formgrader shows a page and are in no file that goes to students.
Formulas are drawn as MathML, as the student's are: the formgrader's own way to draw them needs the network.
"""

import html
import json
import re
from dataclasses import dataclass
from pathlib import Path

from nbconvert.preprocessors import Preprocessor
from nbformat import v4

from autograder.markers import BEGIN, END
from autograder.results import formulas, harmless
from autograder.workspace import workspace

_FRAME = '<div style="border-left: 4px solid #777; margin: 0 0 1.5em 4em; padding-left: 1em">'


@dataclass
class Model:
    """A written answer as the course would give it. answer: with its rubric; question: what stands before it."""

    question: str
    answer: str


class ShowRubric(Preprocessor):
    """nbconvert's hook, named in nbgrader_config.py. Pages for students (feedback) pass unchanged."""

    def preprocess(self, nb, resources):
        """The notebook with a cell for the marker after each written answer."""
        if "submission_id" not in resources:  # the formgrader sets it, nothing else does
            return nb, resources
        name = f"{resources['assignment_id']}/{resources['notebook_id']}.ipynb"
        answers = model_answers(workspace().project / "solutions" / name)
        cells = []
        for cell in nb.cells:
            cells.append(cell)
            written = cell.metadata.get("descent", {}).get("written")
            if written in answers:
                cells.append(v4.new_markdown_cell(for_marker(answers[written], cell.source)))
        nb.cells = cells
        return nb, resources


def for_marker(model: Model, written: str) -> str:
    """Markdown that sets a model answer and its rubric apart from what the student wrote.

    written: the cell above it. Where the question is no longer in it, it stands here.
    """
    told = (
        f"**For you, not for the student: a model answer, and what earns points**\n\n{model.answer}"
    )
    if _words(harmless.markdown_page(model.question)) not in _words(written):
        told = f"**The question, which is not in the student's cell**\n\n{model.question}\n\n{told}"
    return f"<style>{formulas.STYLE}</style>{_FRAME}{harmless.markdown(told)}</div>"


def _words(page: str) -> str:
    """What can be read on a page."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def model_answers(path: Path) -> dict[str, Model]:
    """Written answer -> what the course wrote, from a built solution edition, if there is one."""
    if not path.exists():
        return {}
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    told = {cell["metadata"].get("descent", {}).get("written"): cell["source"] for cell in cells}
    return {name: _model("".join(source)) for name, source in told.items() if name}


def _model(source: str) -> Model:
    question, _, rest = source.partition(BEGIN)
    return Model(question.strip(), rest.partition(END)[0].strip())

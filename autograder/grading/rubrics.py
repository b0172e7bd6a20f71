"""What a marker sees beneath a written answer in nbgrader's formgrader: the model answer and its rubric.

Both stand in the master, between the solution markers, the rubric last: a line `**Rubric**`, then one line a criterion,
`- 1: names the point`. They are read when the formgrader shows a page and are in no file that goes to students.
"""

import json
from pathlib import Path

from nbconvert.preprocessors import Preprocessor
from nbformat import v4

from autograder.building.masters import BEGIN, END
from autograder.workspace import workspace

_FRAME = '<div style="border-left: 4px solid #777; margin: 0 0 1.5em 4em; padding-left: 1em">'


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
                cells.append(v4.new_markdown_cell(for_marker(answers[written])))
        nb.cells = cells
        return nb, resources


def for_marker(answer: str) -> str:
    """Markdown that sets a model answer and its rubric apart from what the student wrote."""
    return f"{_FRAME}\n\n**For you, not for the student: a model answer, and what earns points**\n\n{answer}\n\n</div>"


def model_answers(path: Path) -> dict[str, str]:
    """Written answer -> the text between its solution markers, from a built solution edition, if there is one."""
    if not path.exists():
        return {}
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    told = {cell["metadata"].get("descent", {}).get("written"): cell["source"] for cell in cells}
    return {name: _solution(source) for name, source in told.items() if name}


def _solution(source: str | list[str]) -> str:
    text = "".join(source)
    return text.partition(BEGIN)[2].partition(END)[0].strip()

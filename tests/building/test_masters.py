"""A master is read as jupytext reads it, and expanded with fixed ids; form 2 folds what is not read."""

import subprocess
import sys

import nbformat
import pytest

from autograder.building import masters, outputs
from autograder.engine import needs
from tests.building import toy_proper
from tests.building.toy import MASTER, MASTER_FILE, NOTEBOOK


def test_every_cell_gets_a_fixed_id_that_insertion_does_not_move(toy_course):
    before = [cell.id for cell in masters.expand(masters.read(NOTEBOOK)).cells]
    text = MASTER.replace("# %%\ndef draw", "# %% [markdown]\n# New.\n\n# %%\ndef draw")
    (toy_course / MASTER_FILE).write_text(text)
    after = [cell.id for cell in masters.expand(masters.read(NOTEBOOK)).cells]
    assert [i for i in after if i in before] == before and len(after) == len(before) + 1
    assert {"square", "check-square", "why"} <= set(before)


@pytest.mark.parametrize(
    ("source", "shows"),
    [
        ("with after(f):\n    show(f())", True),
        ("show(1)\nprint(2)", True),
        ("movie(fig, ax, paths, words)", True),
        ("x = 1", False),
        ("import numpy as np", False),
        ("def f(): pass", False),
        ("start('x')", False),
        ("with after(f):\n    pass\ny = 2", False),
        ("broken(", False),
    ],
)
def test_what_a_demonstration_is(source, shows):
    assert needs.is_demonstration(source) is shows


def read_as(root, text=toy_proper.MASTER):
    (root / MASTER_FILE).write_text(text)
    return masters.read(NOTEBOOK)


def test_a_deeper_section_ends_at_the_next_heading_of_its_level_and_the_notes_at_the_end(
    toy_course,
):
    back = "\n# %% [markdown]\n# ## Back to the core\n"
    under = "\n# %% [markdown]\n# ### A remark\n"
    parts = toy_proper.DEEPER, under, back, toy_proper.NOTES, back
    master = read_as(toy_course, toy_proper.TITLE + "".join(parts))
    assert [c.part for c in master.cells] == ["core", "deeper", "deeper", "core", "notes", "notes"]


def folded(cells):
    """The first line of each cell that opens folded or collapsed."""
    found = [c for c in cells if c.metadata.get("jupyter", {}).get("source_hidden")]
    found += [c for c in cells if c.metadata.get("jp-MarkdownHeadingCollapsed")]
    return [cell.source.partition("\n")[0] for cell in found]


FOLDED = [
    "# What this notebook needs.",
    "# The curve: every step is larger than the one before.",
    "# Take the dot: the curve follows.",
    "# A slip of the notes.",
    "## Deeper: is it convex?",
    "## Where the notes differ",
]


def test_open_are_answers_checks_predictions_and_what_the_master_opens(toy_course):
    assert folded(masters.expand(read_as(toy_course)).cells) == FOLDED


def test_points_in_a_deeper_section_are_marked_for_grading(toy_course):
    cells = masters.expand(read_as(toy_course)).cells
    marked = [cell.id for cell in cells if cell.metadata.get("descent", {}).get("part")]
    assert marked == ["half", "check-half"]


def test_stock_nbgrader_keeps_what_is_folded(toy_course):
    master = read_as(toy_course)
    notebook = masters.expand(master)
    masters.with_points(notebook, master.points)
    outputs.write_notebook(notebook, toy_course / "solutions" / f"{NOTEBOOK}.ipynb")
    command = [sys.executable, "-m", "nbgrader", "generate_assignment", "99_toy"]
    done = subprocess.run(command, cwd=toy_course, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    student = nbformat.read(toy_course / "course" / f"{NOTEBOOK}.ipynb", 4)
    assert folded(student.cells) == FOLDED

"""A master is read as jupytext reads it, and expanded with fixed ids."""

import pytest

from autograder.building import masters
from autograder.engine import needs
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

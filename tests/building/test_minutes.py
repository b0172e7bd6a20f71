"""Minutes are counted from what stands in a master, each kind of work by its own rate."""

import pytest

from autograder.building import masters, minutes
from tests.building import toy_proper as toy
from tests.building.toy import MASTER_FILE, NOTEBOOK


def read(root, text):
    (root / MASTER_FILE).write_text(text)
    return masters.read(NOTEBOOK)


@pytest.mark.parametrize(
    ("cell", "wanted"),
    [
        ("# %% [markdown]\n# # " + "word " * 150 + "\n# - $=$ –", 1),  # signs alone are no words
        ("# %% open=true\n" + "x = 1\n\n" * 15, 1),
        ("# %%\n" + "x = 1\n" * 15, 0),
        ('# %% predict="p" minutes=1\npredict(\n    "p",\n)', 1),
        ("# %%\nexplore(draw, drag={}, play='a', digits=3, a=1, b=2)", 2),
        (toy.exercise("f", 12, difficulty=3).strip().partition("\n\n")[0], 36 + 2 / 15),
        ('# %% [markdown] written="why" minutes=7\n# ### BEGIN SOLUTION\n# Long.\n# ### END SOLUTION', 7),
    ],
)  # fmt: skip
def test_what_a_cell_takes(toy_course, cell, wanted):
    (first,) = read(toy_course, cell).cells
    assert minutes.of_cell(first) == pytest.approx(wanted)


def test_core_and_deeper_are_counted_apart_in_fives_and_the_notes_not_at_all(toy_course):
    text = toy.TITLE + toy.exercise("f", 13) + toy.DEEPER + toy.exercise("g", 4, difficulty=2)
    late = toy.NOTES + toy.exercise("h", 50)
    assert minutes.planned(read(toy_course, text + late)) == {"core": 15, "deeper": 10}


def test_the_title_cell_tells_both(toy_course):
    first = masters.expand(read(toy_course, toy.MASTER)).cells[0]
    assert first.source.splitlines()[:3] == ["# Squares", "", "*45 min · deeper 10 min*"]
    assert first.metadata["descent"]["minutes"] == {"core": 45, "deeper": 10}

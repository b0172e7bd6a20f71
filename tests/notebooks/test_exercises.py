"""The test of the tests: every exercise against its right and wrong answers, on public and hidden cases."""

import gc

import pytest

from autograder import checkdata
from autograder.building import masters, proofs

EXERCISES = [
    (notebook, name)
    for notebook in masters.notebooks()
    for name in checkdata.load_exercises(notebook)
]


@pytest.fixture(scope="module")
def frozen():
    """Function that keeps what exists now from being searched for garbage, until the module's end.

    In a process of gigabytes one search takes seconds, and the clock of the answer in whose time it falls counts them.
    """

    def freeze():
        gc.collect()
        gc.freeze()

    yield freeze
    gc.unfreeze()


@pytest.mark.parametrize(("notebook", "name"), EXERCISES, ids=lambda v: v)
def test_right_answers_pass_and_wrong_ones_do_not(notebook, name, frozen):
    frozen()
    exercise = checkdata.load_exercises(notebook)[name]
    found = proofs.prove(notebook, exercise)
    assert [str(finding) for finding in found] == []


def test_the_notebooks_are_there():
    assert len(masters.notebooks()) >= 26 and len(EXERCISES) >= 170

"""Which cells run at grading: no more than an answer needs, and never one too few."""

import pytest

from autograder.checkdata import ROOT
from autograder.engine import needs
from autograder.engine.needs import EVERYTHING
from autograder.grading.rebuilding import rebuild

ANSWER = "def answer(x):\n    return scale * helper(x)"


def runs(*release, answer=ANSWER):
    """Which of the release's cells run before an answer."""
    return needs.needed([*((source, False) for source in release), (answer, True)])[:-1]


@pytest.mark.parametrize(
    "source",
    [
        "scale = 2",
        "def helper(x): return x",
        "from tools import helper",
        "import scale",
        "scale += 1",
        "scale[0] = 1",
        "scale.factor = 2",
        "for scale in range(3): pass",
        "with open('x') as scale: pass",
        "if ready:\n    helper = abs",
        "(scale := 3)",
        "del scale",
        "train(scale)",
        "scale.append(1)",
        "train([1, scale], steps=3)",
        "train(model=scale.inner)",
        "@register(helper)\ndef other(x): return x",
        "globals()['scale'] = 2",
        "exec('scale = 2')",
        "from tools import *",
        "%run set_up.py",
        "scale = (",
    ],
)
def test_a_cell_that_may_change_what_an_answer_uses_runs(source):
    assert runs(source) == [True]


@pytest.mark.parametrize(
    "source",
    [
        "other = 2",
        "x = np.linspace(0, 1)",
        "print(other)",
        "def show(scale): return scale",
        "figure.plot(other)",
    ],
)
def test_a_cell_that_only_shows_is_spared(source):
    assert runs(source) == [False]


def test_what_a_needed_cell_uses_is_needed_too():
    assert runs("base = 2", "unused = base", "scale = base + 1") == [True, False, True]


def test_a_module_is_not_changed_by_calling_its_functions():
    released = ("import numpy as np", "table = np.zeros(3)", "print(np.sum(table))")
    assert runs(*released, answer="def answer(x):\n    return np.sum(x)") == [True, False, False]


def test_a_cell_that_sets_numpy_or_torch_for_all_runs():
    for setting in (
        "import torch as t\nt.set_default_dtype(t.float64)",
        "t.manual_seed(3)",
        "t.backends.x.y(1)",
    ):
        assert runs("import torch as t", setting, answer="def answer(x): return t.ones(3)")[1]
    assert runs("import matplotlib.pyplot as plt", "plt.plot([1])") == [False, False]


def test_of_a_notebook_too_long_to_read_every_cell_runs():
    cells = [("x = 1\n" * 5_000, False)] * 12 + [(ANSWER, True), ("print(1)", False)]
    assert all(needs.needed(cells))


def test_a_parameter_is_no_name_of_the_notebook():
    assert runs("x = 3", answer="def answer(x):\n    y = x\n    return y") == [False]


def test_an_answer_that_cannot_be_read_needs_everything():
    assert runs("a = 1", "print(a)", answer="%%time\ndef answer(x): return a") == [True, True]
    assert needs.uses("%%time") is EVERYTHING and needs.changes("a b") is EVERYTHING


def test_cells_after_the_last_answer_are_spared():
    assert needs.needed([(ANSWER, True), ("scale = 3", False)]) == [True, False]


def test_imports_are_told_by_their_full_names():
    source = "import a.b as c\nfrom d import e\ndef f():\n    import g\nfrom . import h"
    assert needs.imports(source) == {"a.b", "d", "d.e", "g"}
    assert needs.imports("import (") == set()


def test_of_the_course_hardly_more_than_set_up_and_answers_run():
    for path in sorted((ROOT / "solutions").glob("[0-9]*/*.ipynb")):
        cells = rebuild.read_cells(path.read_bytes())[0]
        code = [
            c for c in cells if c.kind == "code" and not c.about("check") and not c.about("demo")
        ]
        told = needs.needed([(cell.source, bool(cell.about("exercise"))) for cell in code])
        release = [
            runs for cell, runs in zip(code, told, strict=True) if not cell.about("exercise")
        ]
        assert told[0] and sum(release) <= 3, path

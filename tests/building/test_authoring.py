"""The worked example of AUTHORING.md is right: its exercise is proven, its test passes."""

import math
import re
import textwrap
import types

import numpy as np
import pytest
import torch

from autograder import checkdata
from autograder.building import proofs
from tests.conftest import ROOT

BLOCKS = re.findall(
    r"^   ```python\n(.*?)^   ```", (ROOT / "solutions/AUTHORING.md").read_text(), re.M | re.S
)
MASTER, REFERENCE, SPECIFICATION, TEST = map(textwrap.dedent, BLOCKS[:4])
IMPORTS = (
    "import numpy as np\nfrom descent.compare import close\nfrom solutions.spec import Exercise\n"
)


@pytest.fixture
def example(tmp_path):
    """The example's exercises.py as a module, beside its master; `reference` is in it."""
    (tmp_path / "notebook.py").write_text("# %%\nimport numpy as np\n\n" + MASTER)
    module = types.ModuleType("example")
    module.__file__ = str(tmp_path / "exercises.py")
    module.reference = types.SimpleNamespace(**_names(REFERENCE, torch=torch, Tensor=torch.Tensor))
    exec(IMPORTS + SPECIFICATION, vars(module))
    return module


def _names(source, **names):
    exec(source, names)
    return names


def test_the_exercise_of_the_example_is_proven(example):
    (exercise,) = checkdata.exercises_of(example).values()
    assert len(exercise.wrong_answers) == 3 and exercise.why
    assert proofs.prove("03_optimisation/01_gradient_descent", exercise) == []


def test_the_test_of_the_example_passes(example):
    names = _names(TEST, pytest=pytest, torch=torch, math=math)
    names["ref"] = example.reference  # where the example stands, it is not the notebook's
    (test,) = (value for name, value in names.items() if name.startswith("test_"))
    (mark,) = test.pytestmark
    for degrees in mark.args[1]:
        test(degrees)


def test_the_docstring_of_the_example_gives_what_it_says(example):
    angle = _names(re.sub(r"# %%.*", "", MASTER).replace("check(angle)", ""), np=np)["angle"]
    assert "angle([1, 0], [0, 2]) gives 90.0" in angle.__doc__
    assert angle([1, 0], [0, 2]) == pytest.approx(90)

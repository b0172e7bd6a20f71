"""Mistakes that are edits of the master's solution: found, made, run, kept out of what ships."""

import json
import os
import random

import matplotlib
import numpy as np
import pytest
import torch

from autograder import answers, checkdata
from autograder.building import build, masters, proofs, trying
from autograder.engine import prepare
from autograder.simulation import demo_answers
from autograder.workspace import Workspace
from solutions.spec import Exercise, SpecError
from tests.building.toy import MASTER, MASTER_FILE, NOTEBOOK, SPEC, SPEC_FILE
from tests.grading.toy_chapter import CHAPTER, STEM, make_project

DOUBLES = '"doubles it": ("x * x", "x + x", "Add or multiply?")'
# An answer that uses a helper of the notebook and another exercise's answer.
CUBE = '''# %%
FACTORS = {"cube": 3}
def times(a, b):
    return np.asarray(a) * np.asarray(b)

# %% exercise="cube" points=1 difficulty=1
def cube(x):
    """x (n,) -> (n,)."""
    ### BEGIN SOLUTION
    powers = FACTORS["cube"]
    return times(square(x), x) if powers == 3 else None
    ### END SOLUTION

# %% check="cube"
check(cube)

# %% [markdown] written="why"'''
CUBE_SPEC = """
cube = Exercise("cube", reference=lambda x: x**3, hints=["Look.", "Think.", "Three times."])

@cube.cases
def _(rng):
    yield "ordinary", dict(x=rng.uniform(2, 3, size=3))
"""


def exercises(root, *edits, master=MASTER, spec=SPEC, of="square"):
    """The exercises of the toy whose specification has these mistakes too, and whose master is that."""
    (root / MASTER_FILE).write_text(master)
    (root / SPEC_FILE).write_text(f"{spec}\n{of}.mistakes({{{', '.join(edits)}}})\n")
    return checkdata.load_exercises(NOTEBOOK)


def test_an_edit_becomes_the_text_and_the_function_of_a_wrong_answer(toy_course):
    wrong = exercises(toy_course, DOUBLES)["square"].wrong_answers[-1]
    assert (wrong.name, wrong.advice) == ("doubles it", "Add or multiply?")
    assert wrong.text.startswith("def square(x):\n") and "result = x + x\n" in wrong.text
    assert "x * x" not in wrong.text and "SOLUTION" not in wrong.text
    np.testing.assert_array_equal(wrong.function(np.array([3.0, -1.0])), [6.0, -2.0])


def test_an_edited_answer_finds_the_notebooks_helpers_and_its_other_answers(toy_course):
    master = MASTER.replace('# %% [markdown] written="why"', CUBE)
    edit = '"is the square": ("times(square(x), x)", "times(square(x), 1)", "Once more?")'
    cube = exercises(toy_course, edit, master=master, spec=SPEC + CUBE_SPEC, of="cube")["cube"]
    np.testing.assert_array_equal(cube.wrong_answers[-1].function(np.array([3.0])), [9.0])


@pytest.mark.parametrize(
    ("old", "told"),
    [
        ("x ** 2", "stands 0 times in the solution of square"),
        ("result", "stands 2 times in the solution of square"),
        ("(n,)", "stands 0 times"),  # in the docstring, which is no part of the solution
    ],
)
def test_an_old_text_that_does_not_stand_once_is_told_with_what_to_do(toy_course, old, told):
    square = exercises(toy_course, f'"slip": ({old!r}, "2", "Look.")')["square"]
    [problem] = proofs.form_problems(square)
    assert f"mistake 'slip': its old text {old!r} {told}" in problem
    assert problem.endswith(("copy it from there anew.", "take more of the text round it."))
    with pytest.raises(SpecError, match="its old text"):
        _ = square.wrong_answers[-1].function


def test_every_edit_that_cannot_be_made_is_told_in_one_go(toy_course, capsys):
    square = exercises(toy_course, '"a": ("no", "", "A.")', '"b": ("nor", "", "B.")')["square"]
    assert [p.split(":")[0] for p in proofs.form_problems(square)] == ["mistake 'a'", "mistake 'b'"]
    assert trying.main([NOTEBOOK]) == 1
    assert "square: mistake 'b': its old text 'nor'" in capsys.readouterr().out
    with pytest.raises(build.BuildError, match="(?s)mistake 'a'.*mistake 'b'"):
        build.build(NOTEBOOK)


def test_an_edit_that_is_no_python_is_told_with_its_line(toy_course):
    square = exercises(toy_course, '"slip": ("x * x", "x *", "Look.")')["square"]
    with pytest.raises(SpecError, match=r"'x \*' makes no Python .*: invalid syntax, in 'result ="):
        _ = square.wrong_answers[-1].function


def test_an_edit_of_an_answer_that_the_master_lacks_is_told(toy_course):
    master = MASTER.replace('exercise="square"', 'exercise="squared"')
    square = exercises(toy_course, DOUBLES, master=master)["square"]
    assert 'no cell with exercise="square"' in proofs.form_problems(square)[0]
    (toy_course / MASTER_FILE).unlink()
    square = checkdata.load_exercises(NOTEBOOK)["square"]
    assert "there is no master" in proofs.form_problems(square)[0]


def test_an_edit_of_no_known_master_is_told():
    lone = Exercise("lone", reference=abs, hints=[])
    lone.mistakes({"slip": ("a", "b", "Look.")})
    with pytest.raises(SpecError, match="'slip' of lone is an edit of a master that is not known"):
        _ = lone.wrong_answers[0].function


def test_what_the_answers_use_is_run_once_and_only_when_a_mistake_is_called(
    toy_course, monkeypatch
):
    asked = []
    needed = answers.needs.needed
    monkeypatch.setattr(answers.needs, "needed", lambda s: asked.append(1) or needed(s))
    square = exercises(toy_course, DOUBLES, '"zero": ("x * x", "0 * x", "Look.")')["square"]
    assert proofs.form_problems(square) == [] and not asked
    assert [wrong.function(3) for wrong in square.wrong_answers[-2:]] == [6, 0]
    assert asked == [1]


def test_what_fails_above_an_answer_is_told_with_the_master(toy_course):
    master = MASTER.replace("import numpy as np\n", "import numpy as np\nOFFSET = 1 / 0\n")
    master = master.replace("result = x * x", "result = x * x + OFFSET")
    square = exercises(toy_course, DOUBLES, master=master)["square"]
    with pytest.raises(SpecError, match="notebook.py: .*ZeroDivisionError.*'OFFSET = 1 / 0'"):
        _ = square.wrong_answers[-1].function


def test_nothing_is_shown_and_the_process_stays_as_it_was(toy_course, capsys):
    settings = """import os, random, torch, matplotlib
np.random.seed(1)
random.seed(1)
torch.manual_seed(1)
torch.set_default_dtype(torch.float64)
GRADING = os.environ["DESCENT_GRADING"]
os.environ["TOY"] = "1"
os.chdir("/")
matplotlib.rcParams["font.size"] = 99
print(settings := [os, GRADING])
exec("OFFSET = len(GRADING)")
show("nothing")
"""
    master = MASTER.replace("import numpy as np\n", f"import numpy as np\n{settings}")
    master = master.replace("from descent.pictures.toy import square as pictures\n", "")
    master = master.replace("result = x * x", "result = x * x + OFFSET")
    before = process()
    square = exercises(toy_course, DOUBLES, master=master)["square"]
    assert square.wrong_answers[-1].function(3) == 7
    assert process() == before
    assert capsys.readouterr().out == ""


def process():
    return (
        random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist(), torch.get_default_dtype(),
        os.getcwd(), dict(os.environ), matplotlib.get_backend(), dict(matplotlib.rcParams),
    )  # fmt: skip


def test_a_release_holds_what_a_mistake_gives_and_none_of_its_code(toy_course):
    square = exercises(toy_course, DOUBLES)["square"]
    data = checkdata.exercise_data(square, 3, seed=0)
    assert set(data["wrong"][-1]) == {"name", "advice", "results"}
    assert "x + x" not in json.dumps(data) and "return" not in json.dumps(data)
    by_function = [w for w in data["wrong"] if w["name"] == "doubles"][0]
    assert data["wrong"][-1]["results"] == by_function["results"]


def test_a_simulated_student_hands_in_the_edited_answer(toy_course):
    square = exercises(toy_course, DOUBLES)["square"]
    name, text, function = demo_answers.known(square, "wrong")[-1]
    names: dict = {}
    exec(text, names)
    assert name == "doubles it" and names["square"](4) == function(4) == 8


def test_mistakes_of_another_project_are_edits_of_its_own_master_and_change_with_it(tmp_path):
    project = make_project(tmp_path / "project")
    folder = project / "solutions" / CHAPTER / STEM
    spec = (folder / "exercises.py").read_text()
    edit = 'scaled.mistakes({"half": ("* grad(x)", "/ 2 * grad(x)", "Half?")})\n'
    (folder / "exercises.py").write_text(spec + edit)
    space, points = Workspace(tmp_path / "grading", project), {STEM: {"scaled": 2.0}}

    def results():
        return prepare.prepare(space, CHAPTER, points)[STEM]["scaled"]["wrong"][-1]["results"]

    half = results()
    assert results() == half
    master = (folder / "notebook.py").read_text()
    (folder / "notebook.py").write_text(master.replace("SCALE = 10.0", "SCALE = 30.0"))
    assert results() != half


def test_a_changed_master_makes_what_is_built_stale(toy_course):
    before = build.source_hash(NOTEBOOK)
    exercises(toy_course, master=MASTER.replace("result = x * x", "result = x**2"))
    (toy_course / SPEC_FILE).write_text(SPEC)
    assert build.source_hash(NOTEBOOK) != before


@pytest.mark.parametrize("notebook", masters.notebooks())
def test_what_the_answers_of_a_notebook_use_runs_by_itself(notebook):
    there = answers.Answers(masters.master_path(notebook))
    assert set(there.solved) <= set(there.names)

"""A prediction keeps its answer: not in the student's notebook, not in its metadata, not in its outputs."""

import base64
import json
import os
import shutil
import subprocess
import sys

import nbformat
import pytest

from autograder.building import build, outputs, release
from autograder.checkdata import ROOT
from autograder.kernels import running
from descent import skipping
from tests.building.toy import MASTER_FILE, NOTEBOOK

MASTER = f'''# %% [markdown] builds="a square"
# # Squares

# %%
# What this notebook needs.
import matplotlib.pyplot as plt
from descent import after, check, hint, predict, show, start
def draw(a):
    fig, (ax, _) = plt.subplots(1, 2, figsize=(9, 3.5))
    ax.plot([0, a, 4 * a], label="square")
    ax.set(xlabel="x", ylabel="y", title="It grows")
    return fig, f"The curve ends at {{4 * a}}."
start("{NOTEBOOK}")

# %% exercise="square" points=3 difficulty=1
def square(x):
    """x (n,) -> (n,)."""
    ### BEGIN SOLUTION
    result = x * x
    return result
    ### END SOLUTION

# %% check="square"
check(square)

# %% predict="it-grows" minutes=1
predict(
    "it-grows", "Twice as far, how much more?", ["twice", "fourfold", "eightfold"],
    truth=[2, 4, 8].index(2**2), because=f"Its area has {{2**2}} parts.", then=lambda: draw(2),
)

# %%
# The curve.
with after("it-grows"):
    show(*draw(1))

# %%
# The curve, drawn by your own code.
with after(square, "it-grows"):
    show(*draw(square(1)))

# %%
# The same, as it is shown before.
with after(square):
    show(*draw(square(1)))
'''
SECRETS = "fourfold", "has 4 parts", "2**2", "ends at 8"


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return tmp_path_factory.mktemp("built") / "project"


@pytest.fixture
def project(toy_course, kept):
    """The toy course with a prediction, built (once a module)."""
    (toy_course / MASTER_FILE).write_text(MASTER)
    if not kept.exists():
        build.build(NOTEBOOK)
        shutil.copytree(toy_course, kept)
    shutil.copytree(kept, toy_course, dirs_exist_ok=True)
    return toy_course


def data_of(project):
    return json.loads((project / "course/descent/checks" / f"{NOTEBOOK}.json").read_text())


def test_the_students_notebook_holds_the_name_alone(project):
    text = (project / "course" / f"{NOTEBOOK}.ipynb").read_text()
    student = nbformat.reads(text, 4)
    (cell,) = (c for c in student.cells if c.metadata.get("descent", {}).get("predict"))
    assert cell.source == 'predict("it-grows")' and cell.outputs == []
    assert cell.id == "predict-it-grows"  # the answer's fingerprint would be its proof
    assert cell.metadata == {"descent": {"demo": True, "minutes": 1, "predict": "it-grows"}}
    assert not [secret for secret in SECRETS if secret in text]


def test_what_it_shows_before_a_guess_holds_no_answer(project):
    student = nbformat.read(project / "course" / f"{NOTEBOOK}.ipynb", 4)
    folder = project / "course" / "99_toy"
    running.execute(student, folder, project / "course", static=False)
    shown = [json.dumps(cell.get("outputs", [])) for cell in student.cells]
    assert not [secret for secret in SECRETS for one in shown if secret in one]
    assert "once you have made your guess above." in shown[-3]
    assert "is solved and you have made your guess above." in shown[-2]
    assert ["<img" in one for one in shown[-3:]] == [False, False, True]
    assert '<source media=\\"(max-width: 935px)' in shown[-1]


def test_the_answer_stands_in_the_check_data_where_nobody_reads_it_by_chance(project):
    kept = data_of(project)["predictions"]["it-grows"]
    assert kept["question"] == "Twice as far, how much more?"
    answer = json.loads(base64.b64decode(kept.pop("answer")))
    assert kept["options"][answer["right"]] == "fourfold"
    assert answer["because"] == "Its area has 4 parts."
    (picture,) = answer["pictures"]
    assert picture["words"] == "The curve ends at 8."
    assert picture["width"] == 900 and base64.b64decode(picture["webp"])[8:12] == b"WEBP"
    narrow, width = picture["narrow"]
    assert width == 450 and base64.b64decode(narrow)[8:12] == b"WEBP"
    solution = nbformat.read(project / "solutions" / f"{NOTEBOOK}.ipynb", 4)
    assert not [
        o for cell in solution.cells for o in cell.get("outputs", []) if "prediction" in o.metadata
    ]


def test_a_block_that_waits_for_a_guess_alone_has_no_target_picture(project):
    solution = nbformat.read(project / "solutions" / f"{NOTEBOOK}.ipynb", 4)
    _, both, square = (skipping.fingerprint(outputs.after_block(c)) for c in solution.cells[-3:])
    targets = data_of(project)["targets"]
    assert set(targets) == {both, square}
    (told,) = targets[square]
    folder = project / "course/descent/checks/99_toy"
    assert {told["file"], told["narrow"]["file"]} <= {path.name for path in folder.iterdir()}
    assert (told["width"], told["narrow"]["width"]) == (900, 450)


def test_stock_nbgrader_releases_the_same_bytes(project):
    ours = (project / "course" / f"{NOTEBOOK}.ipynb").read_bytes()
    shutil.rmtree(project / "course" / "99_toy")  # it leaves alone what is released
    run = [sys.executable, "-m", "nbgrader", "generate_assignment", "99_toy"]
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(run, cwd=project, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (project / "course" / f"{NOTEBOOK}.ipynb").read_bytes() == ours


def test_an_answer_in_the_release_is_found(project):
    solution, student = (
        nbformat.read(project / part / f"{NOTEBOOK}.ipynb", 4) for part in ("solutions", "course")
    )
    assert release.notebook_problems(solution, student) == []
    (cell,) = (c for c in student.cells if c.metadata.get("descent", {}).get("predict"))
    cell.source = 'predict("it-grows", truth=1)'
    (problem,) = release.notebook_problems(solution, student)
    assert "differs from the solution edition outside the markers" in problem


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "[2, 4, 8].index(2**2)",
            "2**2",
            r"truth is 4: give one of the options \['twice', 'fourfold'",
        ),
        ("[2, 4, 8].index(2**2)", "str(2**2)", "truth is '4': give one of the options"),
        ('"fourfold"', '"twice"', "all different"),
        ("truth=[2, 4, 8].index(2**2)", "truth=1", "a constant may be wrong"),
        ('"it-grows", "Twice', '"it-shrinks", "Twice', "begins with the name of its header"),
        ('after("it-grows")', 'after("it-shrinks")', "'it-shrinks' is no prediction"),
        (
            "# The curve.",
            'print(f"Its area has {2**2} parts.")',
            "tells, before the guess, what prediction 'it-grows'",
        ),
        ("# The curve.", "show(*draw(2))", "'The curve ends at 8.'. Take it out of this cell"),
    ],
)
def test_a_prediction_that_does_not_hold_is_refused(toy_course, old, new, message):
    (toy_course / MASTER_FILE).write_text(MASTER.replace(old, new, 1))
    with pytest.raises(build.BuildError, match=message):
        build.build(NOTEBOOK)

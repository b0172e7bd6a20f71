"""What an author says of a solution, and what of it a chapter's file of worked answers holds."""

import json

import pytest

from autograder import checkdata
from autograder.building import build, form, masters, proofs
from autograder.building.draft import Draft
from autograder.handing_out import worked
from descent import records
from tests.building import toy_proper
from tests.building.toy import MASTER_FILE, NOTEBOOK, SPEC, SPEC_FILE

WORKED = """
square.worked(why="A number times itself.")

@square.right("numpy's power", library="numpy.power")
def _(x):
    return np.power(x, 2)
"""
SOLUTION = '''def square(x):
    """x (n,) -> (n,)."""
    result = x * x
    return result'''


@pytest.fixture
def explained(toy_course):
    """The toy project, its exercise with a why and a library's way; its check data are there."""
    (toy_course / SPEC_FILE).write_text(SPEC + WORKED)
    exercise = checkdata.load_exercises(NOTEBOOK)["square"]
    data = checkdata.exercise_data(exercise, 3, seed=1)
    path = build.built_files(NOTEBOOK)["check data"]
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"exercises": {"square": data}}))
    return toy_course


def test_the_file_holds_the_masters_solution_and_the_librarys_way(explained):
    assert worked.write("99_toy") == {NOTEBOOK: 1}
    told = json.loads((explained / "course/.descent/solutions/99_toy.json").read_text())
    assert told.keys() == {"format", "chapter", "notebooks"} and told["chapter"] == "99_toy"
    square = told["notebooks"][NOTEBOOK]["square"]
    assert square["code"] == SOLUTION
    assert square["why"] == "A number times itself."
    assert [one["name"] for one in square["mistakes"]] == ["doubles", "in place", "a column"]
    assert square["mistakes"][0]["advice"] == "Add or multiply?"
    power = "def square(x):\n    return np.power(x, 2)"
    assert square["libraries"] == [{"name": "numpy.power", "code": power}]


def test_a_student_finds_there_what_the_build_asked(explained):
    asked = json.loads(build.built_files(NOTEBOOK)["check data"].read_text())["exercises"]["square"]
    told = worked.content("99_toy")["notebooks"][NOTEBOOK]["square"]
    assert told["version"] == records.version_of(asked)


def test_the_librarys_way_is_proven_like_every_right_answer(explained):
    assert proofs.prove(NOTEBOOK, checkdata.load_exercises(NOTEBOOK)["square"]) == []
    spec = explained / SPEC_FILE
    spec.write_text(spec.read_text().replace("np.power(x, 2)", "np.power(x, 3)"))
    found = proofs.prove(NOTEBOOK, checkdata.load_exercises(NOTEBOOK)["square"])
    assert any('right answer "numpy\'s power" is refused' in str(one) for one in found)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("return helper(x)", ["helper"]),
        ("helper = np.power\n    return helper(x, 2)", []),
        ("from numpy import power as helper\n    return helper(x, 2)", []),
        ("return [helper(v) for v in x]", ["helper"]),
    ],
)
def test_what_the_card_would_not_explain_is_named(explained, body, named):
    text = SPEC + WORKED.replace("return np.power(x, 2)", body)
    (explained / SPEC_FILE).write_text(text + "\ndef helper(x): return x**2\n")
    found = proofs.library_problems(checkdata.load_exercises(NOTEBOOK)["square"])
    assert found == [
        f"the library's way \"numpy's power\" uses {name!r} of exercises.py: import or write it inside"
        for name in named
    ]


def test_a_library_s_way_that_is_a_class_is_told_to_be_a_function(explained):
    way = "class _:\n    def __call__(self, x):\n        return np.power(x, 2)\n"
    text = SPEC + WORKED.replace("def _(x):\n    return np.power(x, 2)\n", way)
    (explained / SPEC_FILE).write_text(text)
    (found,) = proofs.library_problems(checkdata.load_exercises(NOTEBOOK)["square"])
    assert "is a class" in found and "let a function make and return it" in found


def test_why_a_solution_works_has_to_be_said(toy_course):
    def unexplained():
        return [
            str(one) for one in form.findings(Draft(masters.read(NOTEBOOK))) if one.rule == "worked"
        ]

    (toy_course / MASTER_FILE).write_text(toy_proper.MASTER)
    (toy_course / SPEC_FILE).write_text(toy_proper.EXERCISES.replace('why="A', 'why=" ', 1))
    assert unexplained() == []
    changed = toy_proper.EXERCISES.replace('square.worked(why="A number times itself.")', "", 1)
    (toy_course / SPEC_FILE).write_text(changed)
    (one,) = unexplained()
    assert "exercises.py:4: square: say why its solution works: square.worked(why=" in one

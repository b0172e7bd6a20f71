"""What `autograder try` says of an author's slips in a toy exercise: each once, with what to do."""

import dataclasses

import pytest

from autograder import checkdata
from autograder.building import proofs, trying
from tests.building.toy import MASTER_FILE, NOTEBOOK, SPEC_FILE

ZERO = 'yield "zero", dict(x=np.zeros(2))'
# Slip -> (file, the text that the author changed, into what, the one line that is told).
SLIPS = {
    "the solution is wrong": (
        MASTER_FILE, "result = x * x", "result = x + x",
        "square: public cases: the solution is refused: ",
    ),
    "the solution uses what is nowhere": (
        MASTER_FILE, "result = x * x", "result = times(x, x)",
        "raised NameError: name 'times' is not defined. Is it wrong, or the reference, the probe, the comparison?",
    ),
    "the solution has other parameters": (
        MASTER_FILE, "def square(x):", "def square(z):",
        "square: the solution does not take what case 'ordinary' gives (x): "
        "missing a required argument: 'z'; rename the inputs, or write a probe",
    ),
    "the reference has other parameters": (
        SPEC_FILE, "lambda x: x**2", "lambda x, y: x**2",
        "square: its reference does not take what case 'ordinary' gives (x): "
        "missing a required argument: 'y'; put a lambda round it",
    ),
    "the probe needs a helper": (
        SPEC_FILE,
        "@square.cases",
        "@square.probe\ndef _(answer, x): return answer(square and x)\n\n@square.cases",
        "square: its probe uses 'square' of exercises.py, which students do not have: write it inside",
    ),
    "the probe has other parameters": (
        SPEC_FILE, "@square.cases", "@square.probe\ndef _(answer): return answer(1)\n\n@square.cases",
        "square: its probe does not take what case 'ordinary' gives (x): got an unexpected keyword argument 'x'",
    ),
    "a batched input is none": (
        SPEC_FILE, '"square", ', '"square", batched=("X",), ',
        "square: batched names 'X', but case 'ordinary' gives (x)",
    ),
    "a case fails": (
        SPEC_FILE, ZERO, 'yield "zero", dict(x=np.zeroes(2))',
        "exercises.py:9: square: its cases fail: AttributeError: module 'numpy' has no attribute 'zeroes'",
    ),
    "a case is no data": (
        SPEC_FILE, ZERO, 'yield "zero", dict(x=lambda: 0)',
        "square: case 'zero': its input 'x' is no plain data: it is a function. A probe can make it, from data.",
    ),
    "two properties": (
        SPEC_FILE, '"negative"', '"zero"',
        "square: public cases: fewer than three named properties: give the cases more names",
    ),
    "a right answer is wrong": (
        SPEC_FILE, "float(v) ** 2", "float(v) ** 3", "square: public cases: right answer 'as a list' is refused: ",
    ),
    "a right answer calls a specification": (
        SPEC_FILE, "[float(v) ** 2 for v in x]", "square(x)",
        "square is a specification here, not an answer: call a helper of another name.",
    ),
    "the reference fails": (
        SPEC_FILE, "lambda x: x**2", "lambda x: x.nothing",
        "square: its reference fails on case 'ordinary': AttributeError",
    ),
    "a mistake is mistyped": (
        SPEC_FILE, "return 2 * x", "return 2 * xx",
        "square: public cases: wrong answer 'doubles' raised NameError: name 'xx' is not defined: is it mistyped?",
    ),
    "a mistake is right": (
        SPEC_FILE, "return 2 * x", "return x * x",
        "square: public cases: wrong answer 'doubles' passes: add a case that it fails",
    ),
    "two mistakes are one": (
        SPEC_FILE, "(x**2)[:, None]", "x + x",
        "square: public cases: wrong answer 'a column' is taken for 'doubles': they give the same",
    ),
    "a mistake is another each time": (
        SPEC_FILE, "return 2 * x", "return x + np.random.normal()",
        "square: public cases: wrong answer 'doubles' is rejected but not named: does it give the same each time",
    ),
    "an edit has no place": (
        SPEC_FILE, "@square.right", 'square.mistakes({"triples": ("x ** 2", "3 * x", "Look.")})\n\n@square.right',
        "exercises.py:4: square: mistake 'triples': its old text 'x ** 2' stands 0 times in the solution of square",
    ),
}  # fmt: skip


def tried(capsys, root, name="", old="", new=""):
    """What `try` says of the toy's exercise after a slip, without the notebook's own form."""
    if name:
        text = (root / name).read_text()
        assert old in text
        (root / name).write_text(text.replace(old, new, 1))
    trying.main([NOTEBOOK, "square"])
    lines = capsys.readouterr().out.splitlines()
    return [
        line
        for line in lines
        if "square:" in line and not line.endswith("[worked]") and "mutant" not in line
    ]


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_told_in_one_line_that_says_what_to_do(toy_course, slip, capsys):
    *change, message = SLIPS[slip]
    (told,) = tried(capsys, toy_course, *change)
    assert message in told


def test_where_nothing_slipped_the_shares_of_the_points_are_told(toy_course, capsys):
    assert tried(capsys, toy_course) == [
        "square: 3 cases; wrong answers earn: 'doubles' 0%, 'in place' 67%, 'a column' 0%"
    ]


def test_what_fails_on_hidden_cases_alone_is_told_too(toy_course, capsys, monkeypatch):
    judged, draws = proofs.answers_misjudged, []

    def only_the_last(exercise, data, *told):
        draws.append(data)
        return [("it is odd", ": look")] if len(draws) == 21 else judged(exercise, data, *told)

    monkeypatch.setattr(proofs, "answers_misjudged", only_the_last)
    assert tried(capsys, toy_course) == ["square: hidden 20 cases: it is odd: look"]


@pytest.mark.parametrize(("trains", "daily", "run_again"), [(False, 3, [0]), (True, 1, [])])
def test_what_trains_is_judged_on_fewer_draws_and_runs_once(
    toy_course, monkeypatch, trains, daily, run_again
):
    known = []
    monkeypatch.setattr(proofs, "answers_misjudged", lambda *told: known.append(told[2]) or [])
    square = dataclasses.replace(checkdata.load_exercises(NOTEBOOK)["square"], trains=trains)
    proofs.prove(NOTEBOOK, square)
    assert len(known) == 1 + daily
    assert [number for number, outcomes in enumerate(known) if not outcomes] == run_again
    known.clear()
    proofs.prove(NOTEBOOK, square, 2)
    assert [bool(outcomes) for outcomes in known] == [False, True, True]


def test_a_mistake_whose_points_are_a_matter_of_luck_is_told(toy_course):
    path = toy_course / SPEC_FILE
    # Twice x is x² at 0, not at 1.
    path.write_text(path.read_text().replace("np.zeros(2)", "np.ones(2) * rng.integers(2)"))
    square = checkdata.load_exercises(NOTEBOOK)["square"]
    (found,) = proofs.prove(NOTEBOOK, square)
    assert str(found).startswith(
        "square: wrong answer 'doubles' breaks 'zero' on some draws, not on all"
    )


def test_the_answers_wait_until_the_master_can_be_read(toy_course, capsys):
    path = toy_course / MASTER_FILE
    path.write_text(
        path.read_text().replace("    ### END SOLUTION\n\n# %% check", "\n\n# %% check")
    )
    assert trying.main([NOTEBOOK]) == 1
    told = capsys.readouterr().out
    assert "unbalanced solution markers" in told and "wrong answers earn" not in told
    assert told.endswith(" findings. The answers are tried once they can be read.\n")

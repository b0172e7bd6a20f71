"""Each kind of verdict, from a real submission in the real sandbox."""

import dataclasses

import pytest

from autograder.engine.worker_client import Worker
from autograder.grading import verdicts
from tests.grading.toy_chapter import CHAPTER, SHORT

pytestmark = pytest.mark.sandbox

ANSWERS = {
    "full": "def double(x):\n    return x + x",
    "partial": "def double(x):\n    return 2 * x if len(x) < 4 else x",
    "wrong": "def double(x):\n    return 2 * x + 1",
    "unsolved": None,
    "error": "def double(x):\n    return y",
    "exited": "import os\ndef double(x):\n    os._exit(3)",
    "timeout": "def double(x):\n  while True:\n    try:\n      while True: pass\n    except: pass",
    "memory": "def double(x):\n    return bytearray(10**11)",
    "output": "import os\ndef double(x):\n    while True: os.write(1, b'x' * 10_000)",
    "missing": "",
}


def test_every_kind_is_tried():
    assert set(ANSWERS) == set(verdicts.KINDS)


@pytest.mark.parametrize("kind", ANSWERS)
def test_an_exercise_ends_in_its_kind_and_the_other_is_graded(graded, notebook, kind):
    found, _ = graded(notebook(double=ANSWERS[kind]))
    assert found["double"].kind == kind
    assert found["double"].points == {"full": 3.0, "partial": 2.0}.get(kind, 0.0)
    assert (
        found["double"].evidence.endswith(".") and "double" in found["double"].evidence + "double"
    )
    assert (found["scaled"].kind, found["scaled"].points) == ("full", 2.0)


CELLS = {
    "raise": ("raise ValueError('no')", "error", "The cell of double raised ValueError in line 1"),
    "syntax": (
        "def double(x:\n    return x",
        "error",
        "raised SyntaxError in line 1, `def double(x:`",
    ),
    "exit": ("exit()", "exited", "raised SystemExit"),
    "os._exit": ("import os; os._exit(7)", "exited", "it ended the program"),
    "a number": ("double = 2", "missing", "double is no function"),
}


@pytest.mark.parametrize("source, kind, words", CELLS.values(), ids=CELLS.keys())
def test_a_cell_that_fails_is_the_verdict_on_its_own_exercise(
    graded, notebook, source, kind, words
):
    found, _ = graded(notebook(double=source))
    assert (found["double"].kind, found["double"].points) == (kind, 0.0)
    assert words in found["double"].evidence
    assert found["scaled"].kind == "full"


def test_an_endless_cell_is_left_out_and_the_rest_is_graded(graded, notebook, monkeypatch):
    endless, ask, waited = "while True: pass", Worker.ask, []

    def impatient(worker, request, seconds, *longest):
        """The limit of a cell is over at once for the one that never ends, and for no other."""
        if request.get("source") != endless:
            return ask(worker, request, seconds, *longest)
        waited.append(seconds)
        return ask(worker, request, 1.0)

    monkeypatch.setattr(Worker, "ask", impatient)
    found, _ = graded(notebook(double=endless))
    assert waited and max(waited) <= SHORT.cell
    assert found["double"].kind == "timeout" and found["scaled"].kind == "full"


def test_an_added_cell_that_kills_is_left_out_and_told_to_the_instructor(graded, notebook):
    content = notebook()
    content["cells"].insert(
        2, {"cell_type": "code", "metadata": {}, "outputs": [], "source": "import os\nos._exit(1)"}
    )
    found, submission = graded(content)
    assert found["double"].kind == found["scaled"].kind == "full"
    assert (
        submission.look
        and "was left out: it was run, and it ended the program" in submission.notes[0]
    )


def test_a_notebook_that_takes_too_long_in_all_ends(grader, graded, notebook):
    limits = grader.limits
    grader.limits = dataclasses.replace(limits, total=2.0, cell=1.0)
    slow = "import time\ntime.sleep(1.5)"
    content = notebook()
    content["cells"].insert(2, {"cell_type": "code", "metadata": {}, "outputs": [], "source": slow})
    content["cells"].insert(
        2, {"cell_type": "code", "metadata": {}, "outputs": [], "source": slow + " "}
    )
    try:
        found, _ = graded(content)
    finally:
        grader.limits = limits
    assert {verdict.kind for verdict in found.values()} <= {"timeout", "full"}


@pytest.fixture
def impatient(grader, monkeypatch):
    """The grader, with 16 seconds for a notebook and 100 kB of output for a cell."""
    limits = dataclasses.replace(grader.limits, total=16.0, cell=8.0, output=100_000)
    monkeypatch.setattr(grader, "limits", limits)


def with_experiments(content, *sources):
    """The notebook with these cells before its first answer."""
    cell = {"cell_type": "code", "metadata": {}, "outputs": []}
    content["cells"][2:2] = [cell | {"source": source} for source in sources]
    return content


def test_slow_experiments_cost_no_answer(impatient, graded, notebook):
    slow = [f"import time\ntime.sleep(3)\ntrial_{number} = 1" for number in range(6)]
    found, submission = graded(with_experiments(notebook(), *slow))
    assert {verdict.kind for verdict in found.values()} == {"full"}
    assert submission.notes == [
        "01_first: Left out, so that all answers are asked: 6 cells that no answer uses."
    ]


def test_noisy_experiments_cost_nothing(impatient, graded, notebook):
    noisy = [f"print({number}, 'x' * 60_000)" for number in range(14)]
    found, submission = graded(with_experiments(notebook(), *noisy))
    assert {verdict.kind for verdict in found.values()} == {"full"} and not submission.notes


def test_after_one_experiment_that_kills_the_others_are_left_out(impatient, graded, notebook):
    fatal = ["trial = 'x' * 200_000\nprint(trial)", "other = 2", "last = 3"]
    found, submission = graded(with_experiments(notebook(), *fatal))
    assert {verdict.kind for verdict in found.values()} == {"full"}
    first, second = submission.notes
    assert "was left out: it was run, and it printed more than 0.1 MB." in first
    assert second.endswith("all answers are asked: 2 cells that no answer uses.")


def test_what_an_answer_uses_is_no_experiment(impatient, graded, notebook):
    used = ["import time\nFACTOR = 2", "time.sleep(5)", "time.sleep(5)"]
    content = notebook(double="def double(x):\n    return FACTOR * x")
    found, submission = graded(with_experiments(content, *used))
    assert {verdict.kind for verdict in found.values()} == {"full"}
    assert submission.notes[-1].endswith("asked: 2 cells that no answer uses.")


def test_a_notebook_that_cannot_be_read_is_missing_and_asks_for_a_look(graded):
    found, submission = graded(b"{")
    assert {verdict.kind for verdict in found.values()} == {"missing"}
    assert submission.look and "cannot be read" in found["double"].evidence


def test_a_deleted_check_is_told_in_the_evidence(graded, notebook):
    content = notebook()
    content["cells"] = [cell for cell in content["cells"] if cell["id"] != "check-double"]
    found, _ = graded(content)
    assert found["double"].kind == "full"
    assert "Its check cell was deleted: the course's own was used." in found["double"].evidence
    assert "tampered and restored" in found["double"].how


def test_forging_the_check_the_library_and_numpy_earns_nothing(graded, notebook):
    forge = (
        "import descent, descent.running, descent.checking, numpy as np, builtins\n"
        "class Anything:\n    def __eq__(self, other): return True\n"
        "    def __array__(self, *a, **k): return np.full(3, np.nan)\n"
        "def run_cases(*a, **k): return [{'status': 'full', 'points': 3}] * 3\n"
        "descent.running.run_cases = run_cases\nnp.allclose = np.isclose = lambda *a, **k: True\n"
        "def double(x): return Anything()"
    )
    found, _ = graded(notebook(double=forge))
    assert found["double"].points == 0 and found["scaled"].points == 0


def test_a_forged_message_is_a_verdict_and_asks_for_a_look(graded, notebook):
    forge = "import os\ndef double(x):\n    os.write(101, b'\\x7f\\xff\\xff\\xff')"
    found, submission = graded(notebook(double=forge))
    assert (found["double"].kind, found["double"].points) == ("output", 0.0)
    assert submission.look and found["scaled"].kind == "full"


def test_prints_warnings_and_figures_cost_nothing(graded, notebook):
    noisy = (
        "import warnings, sys, matplotlib.pyplot as plt\nwarnings.warn('hm')\n"
        "print('hello', file=sys.stderr)\nplt.plot([1]); plt.show()\n"
        "def double(x):\n    print(x)\n    warnings.warn('hm')\n    return 2 * x"
    )
    found, _ = graded(notebook(double=noisy))
    assert found["double"].kind == "full" and found["double"].evidence == "All 3 properties hold."


def test_the_students_own_record_stands_beside_the_verdict(space, graded, notebook):
    exercises = {
        "double": {
            "seconds": 61.26,
            "checks": 4,
            "hints": 2,
            "shown": {"time": 1.0, "solved": False},
        },
        "scaled": {"seconds": "long", "checks": -1, "hints": True, "shown": "yes"},
    }
    guesses = {"q": "Yes", "odd": ["Yes"], "long": "x" * 10**6}
    of_notebook = {"exercises": exercises, "guesses": guesses}
    about = {"records": {f"{CHAPTER}/01_first": of_notebook}, "file": "x.zip"}
    found, submission = graded(notebook(double=None, scaled=None), "zoe", about)
    assert (found["double"].worked, found["double"].checks) == (61.3, 4)
    assert (found["scaled"].worked, found["scaled"].checks) == (None, None)
    assert (found["double"].hints, found["scaled"].hints) == (2, 0)
    assert (found["double"].seen, found["scaled"].seen) == (True, False)
    kept = {f"{CHAPTER}/01_first/q": "Yes", f"{CHAPTER}/01_first/long": "x" * 500}
    assert submission.guesses == kept
    verdicts.save(space, submission)
    assert verdicts.load(space, CHAPTER, "zoe") == submission


def test_a_name_that_was_missing_after_all_is_found_by_running_every_cell(graded, notebook):
    hidden = "import builtins\ndef scaled(grad, x):\n    return builtins.eval('SCALE') * grad(x)"
    found, _ = graded(notebook(scaled=hidden))
    assert found["scaled"].kind == "full"


def test_a_name_that_nobody_defines_is_an_error(graded, notebook):
    found, _ = graded(notebook(scaled="def scaled(grad, x):\n    return SCALES * grad(x)"))
    assert found["scaled"].kind == "error" and "NameError" in found["scaled"].evidence

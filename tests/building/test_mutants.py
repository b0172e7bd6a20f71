"""Mutants of a solution, one of each kind; and that those which no case catches are told, unless they are permitted."""

import os
import re
import time
from functools import partial

import pytest

from autograder.building import masters, mutants, mutate, trying
from autograder.building.draft import Draft
from autograder.building.forks import in_forks
from tests.building.toy import MASTER_FILE, NOTEBOOK, SPEC_FILE, slip_in

# A line of a solution -> (kind, the same line with its edit), for some of its mutants.
EDITS = {
    "y = a + b": [
        ("operator", "y = a - b"), ("term dropped", "y = a"), ("term dropped", "y = b"), ("sign", "y = -a + b"),
    ],
    "y = a - b": [("operator", "y = a + b"), ("term dropped", "y = -b")],
    "y = a * b": [
        ("operator", "y = a / b"), ("factor dropped", "y = a"), ("factor dropped", "y = b"), ("sign", "y = -(a * b)"),
    ],
    "y = a / b": [("operator", "y = a * b"), ("factor dropped", "y = a")],
    "y = a // b": [("operator", "y = a / b")],
    "y = a ** b": [("operator", "y = a * b"), ("factor dropped", "y = a")],
    "y = a @ b": [("operator", "y = a * b")],
    "y = a & b": [("operator", "y = a | b")],
    "y = a < b": [("comparison", "y = a <= b"), ("comparison", "y = a > b")],
    "y = a <= b": [("comparison", "y = a < b"), ("comparison", "y = a >= b")],
    "y = a > b": [("comparison", "y = a >= b"), ("comparison", "y = a < b")],
    "y = a >= b": [("comparison", "y = a > b"), ("comparison", "y = a <= b")],
    "y = a == b": [("comparison", "y = a != b")],
    "y = a != b": [("comparison", "y = a == b")],
    "y = (-a).real": [("sign", "y = a.real")],
    "y = [-1]": [("sign", "y = [1]"), ("constant", "y = [-2]"), ("constant", "y = [0]")],
    "return f(a)": [("sign", "return -f(a)")],
    "y = a[-1]": [("index", "y = a[0]"), ("index", "y = a[-2]")],
    "y = a[i, 2:]": [("index", "y = a[i + 1, 2:]"), ("index", "y = a[i - 1, 2:]"), ("index", "y = a[i, 3:]")],
    "y = f(a, axis=0)": [("axis", "y = f(a, axis=1)"), ("keyword dropped", "y = f(a)")],
    "y = f(a, dim=1)": [("axis", "y = f(a, dim=0)")],
    "y = f(a, dim=-1)": [("axis", "y = f(a, dim=0)")],
    "y = a.sum(0)": [("axis", "y = a.sum(1)")],
    "y = np.stack(a, -1)": [("axis", "y = np.stack(a, 0)")],
    "y = f(a, axis=1, keepdims=True)": [
        ("keyword dropped", "y = f(a, axis=1)"), ("True/False", "y = f(a, axis=1, keepdims=False)"),
    ],
    "y = [0]": [("constant", "y = [1]"), ("constant", "y = [-1]")],
    "y = [1]": [("constant", "y = [2]"), ("constant", "y = [0]")],
    "y = [0.5]": [("constant", "y = [1.0]")],
    "y = [1.0]": [("constant", "y = [0.5]"), ("constant", "y = [2.0]")],
    "y = [0.1]": [("constant", "y = [0.2]")],
    "y = min(a, b)": [("min/max", "y = max(a, b)")],
    "y = np.maximum(a, b)": [("min/max", "y = np.minimum(a, b)")],
    "y = a.argmax()": [("min/max", "y = a.argmin()")],
    "y = any(a)": [("min/max", "y = all(a)")],
    "y = a.mean()": [("min/max", "y = a.sum()")],
    "y = a and b": [
        ("and/or", "y = a or b"), ("condition dropped", "y = a"), ("condition dropped", "y = b"),
    ],
    "y = not a": [("not dropped", "y = a")],
    "y = ~a": [("not dropped", "y = a")],
    "y = [True]": [("True/False", "y = [False]")],
    "y = abs(a)": [("call dropped", "y = a")],
    "y = np.sqrt(a)": [("call dropped", "y = a")],
    "y = a.copy()": [("call dropped", "y = a")],
    "y = a.clone()": [("call dropped", "y = a")],
    "y = a.detach()": [("call dropped", "y = a")],
    "y = sorted(a, key=f)": [("call dropped", "y = a"), ("keyword dropped", "y = sorted(a)")],
    "y = torch.flip(a, (0,))": [("call dropped", "y = a")],
    "y = a.flip(0)": [("call dropped", "y = a")],
    "y = a[::-1]": [("call dropped", "y = a")],
    "if a:": [("branch", "if True:"), ("branch", "if False:")],
    "while a:": [("branch", "while False:")],
    "y = a if b else c": [("branch", "y = a"), ("branch", "y = c")],
    "y = [v for v in a if b]": [("branch", "y = [v for v in a if True]")],
    "a += b": [("operator", "a -= b"), ("statement dropped", "pass"), ("sign", "a += -b")],
    "a = a + b": [("statement dropped", "pass")],
    "break": [("statement dropped", "pass")],
    "continue": [("statement dropped", "pass")],
    "a.append(b)": [("statement dropped", "pass")],
}  # fmt: skip


def mutated(line, body="pass"):
    """(kind, new line) of all mutants of a line inside a loop."""
    inside = f"\n            {body}" if line.endswith(":") else ""
    source = f"def answer():\n    for i in range(3):\n        {line}{inside}\n"
    found = mutants.mutants(source, {3})
    assert all(one.old == line and one.line == 3 for one in found)
    return [(one.kind, one.new) for one in found]


@pytest.mark.parametrize("line", EDITS)
def test_a_line_has_the_mutants_that_it_is_known_for(line):
    assert set(EDITS[line]) <= set(mutated(line))


UNTOUCHED = (
    "y = np.zeros(n)", '"""Take 1 and 2."""', 'y = "1 + 1"', "assert a < 1", "y: Array[1]", "y = f'{a + 1}'",
    "y = None",
)  # fmt: skip


@pytest.mark.parametrize("line", UNTOUCHED)
def test_zeros_texts_annotations_and_asserts_stay(line):
    assert mutated(line) == []


def test_only_the_solution_is_mutated():
    source = "def answer(n=1):\n    y = 1\n    return [n + 1]\n"
    found = mutants.mutants(source, {3})
    assert {one.new for one in found} == {
        "return [n - 1]", "return [n]", "return [1]", "return [-n + 1]", "return [n + 2]", "return [n + 0]"
    }  # fmt: skip
    assert all("    y = 1\n" in one.text and "n=1" in one.text for one in found)


def test_no_two_mutants_are_one_and_each_can_be_compiled():
    source = "def answer(a):\n    b = a * a\n    return b if a else b\n"
    texts = [one.text for one in mutants.mutants(source, {2, 3})]
    assert len(set(texts)) == len(texts) == 4
    for text in texts:
        compile(text, "<mutant>", "exec")


def test_of_two_equal_lines_the_second_is_told_by_its_number():
    source = "def answer(a):\n    a = -a\n    a = -a\n    return a\n"
    told = [str(one) for one in mutants.mutants(source, {2, 3})]
    assert told == ["a = -a → pass", "a = -a [2] → pass"]


# ------------------------------------------------------------------------------------- judging

# One edit of this leaves it right: the loop may begin at -1, and square the last one twice.
LOOP = """    result = list(x)
    for i in range(0, len(x)):
        result[i] = x[i] * x[i]
    return np.array(result)
"""
BEGINS_EARLIER = "for i in range(0, len(x)): → for i in range(-1, len(x)):"


def place(root):
    """The line of that loop in the toy's master."""
    lines = (root / MASTER_FILE).read_text().splitlines()
    return 1 + lines.index("    for i in range(0, len(x)):")


@pytest.fixture
def looping(toy_course):
    """The toy course, its solution a loop."""
    slip_in(toy_course, MASTER_FILE, "    result = x * x\n    return result\n", LOOP)
    return toy_course


def told(capsys):
    """What `mutate` finds."""
    status = mutate.main([NOTEBOOK])
    lines = capsys.readouterr().out.splitlines()
    assert (status == 0) == (lines[-1] == "All holds.")
    return [line for line in lines[:-1] if not re.match(r"square: \d+ mutants: ", line)]


def listed(root, entries):
    path = root / SPEC_FILE
    path.write_text(path.read_text() + f"\nsquare.equivalent({entries!r})\n")


def test_a_mutant_that_no_case_catches_is_told_with_its_place(looping, capsys):
    assert told(capsys) == [
        f"square: mutant survives: line {place(looping)}: {BEGINS_EARLIER}: add a case that it fails, or list it"
    ]


def test_a_mutant_that_the_text_permits_may_be_listed(looping, capsys):
    listed(looping, {BEGINS_EARLIER: "x (n,) -> (n,)."})
    assert told(capsys) == []


@pytest.mark.parametrize("sentence", ["The order of squares is free.", "x (n,)", ""])
def test_a_sentence_that_no_student_reads_permits_nothing(looping, capsys, sentence):
    listed(looping, {BEGINS_EARLIER: sentence})
    assert told(capsys) == [
        f"square: listed as equivalent: {BEGINS_EARLIER}: the text of square does not say "
        f"{sentence!r}: quote the sentence that permits it, or add a case"
    ]


def test_what_is_listed_and_no_mutant_or_caught_is_stale(looping, capsys):
    permitted = "x (n,) -> (n,)."
    caught = "return np.array(result) → return -np.array(result)"
    listed(looping, {"y = 1 → y = 2": permitted, caught: permitted})
    findings = told(capsys)
    assert (
        "square: listed as equivalent: y = 1 → y = 2: there is no such mutant, take it out"
        in findings
    )
    assert f"square: listed as equivalent: {caught}: it fails a case, take it out" in findings


def test_more_than_a_tenth_is_too_much_to_list(looping, capsys):
    permitted = "x (n,) -> (n,)."
    listed(looping, {BEGINS_EARLIER: permitted, "y = 1 → y = 2": permitted})
    assert any("2 of 13 mutants are listed as equivalent: at most 1" in one for one in told(capsys))


def test_what_is_listed_must_hold_on_later_draws_too(looping, capsys):
    # In a draw of fifty nothing is to be squared, and nothing stands at -1.
    rare = 'yield "ordinary", dict(x=rng.normal(size=3 if rng.random() > 0.02 else 0))'
    slip_in(looping, SPEC_FILE, 'yield "ordinary", dict(x=rng.normal(size=3))', rare)
    listed(looping, {BEGINS_EARLIER: "x (n,) -> (n,)."})
    (finding,) = told(capsys)
    assert re.search(rf"{re.escape(BEGINS_EARLIER)}: it fails on draw \d+ of its cases", finding)


def test_a_mutant_that_passes_on_some_draws_only_is_told(looping, capsys):
    slip_in(looping, SPEC_FILE, "np.zeros(2)", "np.zeros(int(rng.random() > 0.5))")
    (finding,) = told(capsys)
    assert re.fullmatch(
        rf"square: mutant passes on .* cases only: line {place(looping)}: {re.escape(BEGINS_EARLIER)}: "
        "the deciding property depends on the draw",
        finding,
    )


def test_a_solution_that_is_refused_has_no_mutants_to_judge(looping, capsys):
    slip_in(looping, MASTER_FILE, "x[i] * x[i]", "x[i] + x[i]")
    assert told(capsys) == ["square: the solution is refused on public cases: see `autograder try`"]


@pytest.mark.parametrize("comparison", ["explains(0.5)", "parts(a=exact(), b=agrees(0.5))"])
def test_where_a_choice_is_judged_by_its_worth_edits_of_it_are_no_mutants(
    looping, capsys, comparison
):
    slip_in(looping, SPEC_FILE, 'Exercise("square"', f'Exercise("square", compare={comparison}')
    imports = "from descent.compare import agrees, exact, explains, parts\n"
    (looping / SPEC_FILE).write_text(imports + (looping / SPEC_FILE).read_text())
    assert mutate.main([NOTEBOOK]) == 0
    told = capsys.readouterr().out
    assert told.splitlines() == [
        "square: judged by what its choices are worth: no mutants",
        "All holds.",
    ]


@pytest.fixture
def tried(toy_course):
    """On how many draws each of some texts passes."""
    draft = Draft(masters.read(NOTEBOOK))
    exercise = draft.exercises["square"]
    draws = mutate.drawn(NOTEBOOK, exercise)

    def tried(*bodies):
        texts = [f"import os\ndef square(x):\n    {body}\n    return x * x\n" for body in bodies]
        jobs = [partial(mutate.passes, exercise, text, draws) for text in texts]
        return [len(names) for names in in_forks(jobs, silence=30)]

    return tried


def test_a_mutant_that_loops_kills_its_process_or_eats_memory_is_caught(tried):
    started = time.monotonic()
    assert tried(
        "while True: pass",
        "os.kill(os.getpid(), 9)",
        "os._exit(0)",
        "held = [0] * 10**10",
        "held = []\n    while True: held.append(bytes(10**8))",
        "raise SystemExit",
        "print('much ' * 1000)",
    ) == [0, 0, 0, 0, 0, 0, 4]
    assert time.monotonic() - started < 30


def test_a_fork_that_is_silent_is_ended_and_the_others_go_on(capfd):
    def sleeps(tell):
        tell("begun")
        time.sleep(1000)

    def prints(tell):
        os.write(1, b"noise")
        tell("printed")

    assert in_forks([sleeps, prints, prints], silence=0.5) == [
        ["begun"],
        ["printed"],
        ["printed"],
    ]
    assert capfd.readouterr() == ("", "")


# ------------------------------------------------------------------------------------ commands


def test_unknown_names_are_refused(toy_course, capsys):
    assert mutate.main(["99_toy/02_cube"]) == 2
    assert mutate.main([NOTEBOOK, "cube"]) == 2
    error = capsys.readouterr().err
    assert (
        "no master '99_toy/02_cube'" in error and "no exercise 'cube'. Exercises: square." in error
    )


def test_an_exercise_that_no_master_answers_is_told(toy_course, capsys):
    slip_in(toy_course, SPEC_FILE, 'Exercise("square"', 'Exercise("cube"')
    assert mutate.main([NOTEBOOK]) == 1
    assert "cube: the master has no answer of this name." in capsys.readouterr().out


def test_a_specification_that_does_not_run_is_told_with_its_line(toy_course, capsys):
    slip_in(toy_course, SPEC_FILE, "square = ", "square = 1 / 0 or ")
    assert mutate.main([NOTEBOOK]) == 1
    assert "exercises.py:4: ZeroDivisionError" in capsys.readouterr().out


def test_try_tells_mutants_until_nothing_is_found_and_again_when_it_changed(looping, capsys):
    def survivors():
        trying.main([NOTEBOOK, "square"])
        lines = capsys.readouterr().out.splitlines()
        return [line for line in lines if "mutants: " in line or "mutant survives" in line]

    assert len(survivors()) == len(survivors()) == 2  # what was found is told again
    listed(looping, {BEGINS_EARLIER: "x (n,) -> (n,)."})
    assert len(survivors()) == 1
    assert survivors() == []  # nothing was found, and nothing changed since
    slip_in(looping, MASTER_FILE, "range(0, ", "range(int(0), ")
    assert len(survivors()) > 0

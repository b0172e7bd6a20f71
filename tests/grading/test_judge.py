"""The judge: what it gives out, and what it makes of what a hostile process tells."""

import json
import shutil
import sys

import numpy as np
import pytest

from autograder.engine import judge_safety
from autograder.engine import prepare as prepare_module
from autograder.engine.judge import Judge, JudgeError, tasks
from autograder.engine.prepare import PrepareError, prepare
from autograder.workspace import Workspace
from descent import wire
from tests.grading.toy_chapter import CHAPTER, STEM

POINTS = {STEM: {"double": 3.0, "scaled": 2.0}}


@pytest.fixture(scope="module")
def data(project, tmp_path_factory):
    return prepare(Workspace(tmp_path_factory.mktemp("judge"), project), CHAPTER, POINTS)


@pytest.fixture(scope="module")
def judge(data):
    with Judge(data) as judge:
        yield judge


@pytest.fixture
def cases(data):
    return tasks(data)[STEM]["double"]["cases"]


def outcome(value, **more):
    return {
        "status": "ok",
        "value": value,
        "error": None,
        "seconds": 0.1,
        "mutated": [],
        "printed": "",
    } | more


def of_function(cases, function):
    return [outcome(wire.encode(function(wire.decode(case["inputs"])["x"]))) for case in cases]


def test_only_inputs_probe_and_limit_leave_the_judge(data):
    told = tasks(data)[STEM]
    assert set(told) == {"double", "scaled"}
    for exercise in told.values():
        assert set(exercise) == {"probe", "limit", "cases"}
        assert all(set(case) == {"inputs"} for case in exercise["cases"])


def test_hidden_cases_differ_with_the_key(data, project, tmp_path):
    other = Workspace(tmp_path, project)
    assert tasks(prepare(other, CHAPTER, POINTS)) != tasks(data)
    assert prepare(other, CHAPTER, POINTS) == prepare(other, CHAPTER, POINTS)


def test_prepared_data_is_computed_once_and_anew_after_a_change(project, tmp_path, monkeypatch):
    own = Workspace(tmp_path / "g", shutil.copytree(project, tmp_path / "own"))
    before = prepare(own, CHAPTER, POINTS)
    computed = []
    monkeypatch.setattr(prepare_module, "_compute", lambda *a: computed.append(a))
    assert prepare(own, CHAPTER, POINTS) == before and not computed
    monkeypatch.undo()
    path = own.project / "solutions/98_tiny/01_first/exercises.py"
    path.write_text(path.read_text().replace("lambda x: 2 * x", "lambda x: 3 * x"))
    after = prepare(own, CHAPTER, POINTS)[STEM]["double"]["cases"]
    cases = before[STEM]["double"]["cases"]
    assert [c["inputs"] for c in after] == [c["inputs"] for c in cases]
    assert [c["expected"] for c in after] != [c["expected"] for c in cases]


def test_prepared_data_is_nobody_elses_to_read(project, tmp_path):
    prepare(Workspace(tmp_path, project), CHAPTER, POINTS)
    [kept] = (tmp_path / "cache/prepared").iterdir()
    assert kept.stat().st_mode & 0o077 == 0


def test_a_judge_that_is_lost_is_replaced(data, cases):
    outcomes = of_function(cases, lambda x: 2 * x)
    with Judge(data) as judge:
        for _ in range(2):
            assert judge.verdict(STEM, "double", outcomes, [])["kind"] == "full"
            judge.process.kill()
            judge.process.wait()


def test_outcomes_that_no_judge_survives_are_a_verdict(data, cases, monkeypatch):
    def lost(judge, told):
        if b"outcomes" in told:
            raise TimeoutError
        return {"ready": True}

    monkeypatch.setattr(Judge, "_ask", lost)
    with Judge(data) as judge:
        assert judge.verdict(STEM, "double", [], [])["kind"] == "output"


def test_where_no_judge_starts_that_is_said(data, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with Judge(data) as judge, pytest.raises(JudgeError, match="does not start"):
        judge.verdict(STEM, "double", [], [])


def test_a_right_answer_gets_full_marks(judge, cases):
    verdict = judge.verdict(STEM, "double", of_function(cases, lambda x: 2 * x), [])
    assert (verdict["kind"], verdict["points"]) == ("full", 3.0)


def test_a_known_mistake_is_named(judge, cases):
    verdict = judge.verdict(STEM, "double", of_function(cases, lambda x: x**2), [])
    assert (verdict["kind"], verdict["points"], verdict["mistake"]) == ("wrong", 0.0, "squares")


def test_a_verdict_holds_no_number_of_a_hidden_case(judge, cases):
    told = json.dumps(judge.verdict(STEM, "double", of_function(cases, lambda x: x + 1.5), []))
    for case in cases:
        for number in np.ravel(wire.decode(case["inputs"])["x"]):
            for digits in (3, 4):
                assert number == 0 or f"{abs(number):.{digits}f}" not in told


@pytest.mark.parametrize(
    "outcomes",
    [
        None,
        [],
        "full",
        {"points": 3},
        [1, 2, 3],
        [{}] * 3,
        [{"status": "full"}] * 3,
        [outcome(1)] * 2,
    ],
    ids=[
        "nothing",
        "none",
        "a word",
        "points",
        "numbers",
        "without status",
        "a status of its own",
        "too few",
    ],
)
def test_forged_outcomes_are_a_verdict(judge, outcomes):
    verdict = judge.verdict(STEM, "double", outcomes, [])
    assert (verdict["kind"], verdict["points"]) == ("output", 0.0)


@pytest.mark.parametrize(
    "value",
    [
        {"$": "array", "dtype": "O", "shape": [1], "data": "gASVBQAAAAAAAABLAS4="},
        {"$": "array", "dtype": "<f8", "shape": [10**9], "data": ""},
        {"$": "array", "dtype": "<f8", "shape": [-1], "data": ""},
        {"$": "pickle", "value": "x"},
        {"$": "float", "value": "nan"},
        [[[[1]]]] * 3,
        {"a": 1},
        None,
        "2 * x",
    ],
    ids=[
        "objects",
        "a giant",
        "less than nothing",
        "a tag of its own",
        "nan",
        "nested",
        "a dict",
        "None",
        "text",
    ],
)
def test_odd_values_earn_nothing_and_stop_nobody(judge, cases, value):
    verdict = judge.verdict(STEM, "double", [outcome(value)] * 3, [])
    assert verdict["points"] == 0.0 and verdict["kind"] == "wrong"


def test_odd_seconds_and_lists_are_put_right(judge, cases):
    outcomes = of_function(cases, lambda x: 2 * x)
    outcomes[0] |= {"seconds": "long", "mutated": 3}
    outcomes[1] |= {"seconds": -1e308, "mutated": [["x"], "y"]}
    verdict = judge.verdict(STEM, "double", outcomes, [])
    assert verdict["kind"] == "full" and 0 <= verdict["seconds"] < 1


def test_a_hidden_input_cannot_leave_in_an_errors_words(judge):
    secret = "x_0_1234"
    error = {"type": secret, "message": secret, "line": secret, "number": 1}
    outcomes = [outcome(None, status="raised", error=error, printed=secret, mutated=[secret])] * 3
    outcomes[0] = outcome(
        None, status="unreadable", error={"message": f"The result is a {secret}. Return a number"}
    )
    assert secret not in json.dumps(judge.verdict(STEM, "double", outcomes, ["def double(x): ..."]))


def test_a_hidden_input_cannot_leave_in_the_keys_of_a_dict():
    text = "1 of 3 properties hold. First: a: the keys differ: missing ['m'], not asked for ['x_0', 'a]. x_0']."
    told = judge_safety.without_keys(text)
    assert "x_0" not in told and told.endswith("missing ['m'], others that were not asked for")


def test_the_students_own_line_and_error_are_told(judge):
    source = "class Oops(Exception): pass\ndef double(x):\n    raise Oops"
    error = {"type": "Oops", "message": "no", "line": "raise Oops", "number": 3}
    verdict = judge.verdict(
        STEM, "double", [outcome(None, status="raised", error=error)] * 3, [source]
    )
    assert (
        verdict["kind"] == "error" and "raised Oops in line 3, `raise Oops`" in verdict["evidence"]
    )


def test_renamed_parameters_are_told_for_hidden_cases_and_none_of_their_names(judge):
    words = "double() got an unexpected keyword argument 'x_0_1234'"
    error = {"type": "TypeError", "message": words}
    outcomes = [outcome(None, status="raised", error=error)] * 3
    verdict = judge.verdict(STEM, "double", outcomes, [])
    assert verdict["evidence"].endswith(
        "raised TypeError. Keep the parameters as they were handed out."
    )
    assert "x_0_1234" not in json.dumps(verdict)


def test_a_memory_error_is_a_kind_of_its_own(judge):
    outcomes = [outcome(None, status="raised", error={"type": "MemoryError"})] * 3
    assert judge.verdict(STEM, "double", outcomes, [])["kind"] == "memory"


def test_a_slow_answer_is_told_the_limit_that_the_student_knows(judge, data):
    task = tasks(data)[STEM]["scaled"]
    outcomes = [outcome(None, status="slow", error={"message": "longer than 99 s"})] * len(
        task["cases"]
    )
    verdict = judge.verdict(STEM, "scaled", outcomes, [])
    assert (
        verdict["kind"] == "timeout"
        and "0.5 s" in verdict["evidence"]
        and "99" not in json.dumps(verdict)
    )


def test_of_a_slow_answer_its_own_line_is_told_and_whether_it_waited(judge):
    source = "def double(x):\n    while True: x.sort()"
    own, forged = {"line": "while True: x.sort()", "number": 2}, {"line": "0.1234", "number": 2}
    for error, words in (
        (own, "double ran longer than 2 s and was stopped in line 2, `while True: x.sort()`."),
        (
            own | {"waited": True},
            "double waited rather than computed for 15 s and was stopped in line 2, ",
        ),
        (forged | {"waited": "0.1234"}, "double ran longer than 2 s and was stopped."),
        (own | {"number": 0.1234}, "double ran longer than 2 s and was stopped."),
    ):
        outcomes = [outcome(None, status="slow", error=error)] * 3
        verdict = judge.verdict(STEM, "double", outcomes, [source])
        assert verdict["evidence"].startswith(words) and "0.1234" not in json.dumps(verdict)


def test_an_exercise_without_a_specification_is_named(project, tmp_path):
    with pytest.raises(PrepareError, match="exercise 'triple' has no specification"):
        prepare(Workspace(tmp_path, project), CHAPTER, {STEM: {"triple": 1.0}})


def test_a_broken_reference_is_named(project, tmp_path):
    broken = shutil.copytree(project, tmp_path / "broken")
    path = broken / "solutions/98_tiny/01_first/exercises.py"
    path.write_text(path.read_text().replace("lambda x: 2 * x", "lambda x: 1 / 0"))
    with pytest.raises(PrepareError, match="reference fails"):
        prepare(Workspace(tmp_path / "g", broken), CHAPTER, POINTS)


@pytest.mark.parametrize(
    "value",
    [
        object(),
        {None: 1},
        np.array([object()]),
        [[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]],
        [0] * (wire.MAX_ITEMS + 1),
        (i for i in range(10_002)),
        10**4000,
        np.zeros((1,) * 21),
    ],
    ids=["type", "key", "dtype", "depth", "items", "generator", "integer", "axes"],
)
def test_the_courses_own_refusals_are_told_as_they_are(value):
    with pytest.raises(wire.WireError) as refused:
        wire.encode(value)
    outcome = {"status": "unreadable", "error": {"message": str(refused.value)}}
    [cleaned] = judge_safety.clean([outcome], {"cases": [{"inputs": {}}], "limit": 1}, [])
    assert cleaned["error"]["message"] == str(refused.value)
    outcome["error"]["message"] += " 0.1234"
    [cleaned] = judge_safety.clean([outcome], {"cases": [{"inputs": {}}], "limit": 1}, [])
    assert "0.1234" not in cleaned["error"]["message"]


def test_a_size_is_told_only_where_it_is_the_exercises_own():
    case = {"inputs": {"x": wire.encode(np.zeros((3, 7)))}, "expected": [1, 2]}
    sizes = judge_safety.sizes_of({"cases": [case]})
    for told in (
        "expected shape (3,), got shape (3, 1)",
        "expected a list, got a list of length 8",
        "the result differs",
    ):
        assert judge_safety.without_sizes(told, sizes) == told
    for told in (
        "expected shape (3,), got shape (0, 237058538)",
        "expected 1, got a list of length 5000",
    ):
        assert judge_safety.without_sizes(told, sizes).endswith(", got something of another size")
    assert "another size" in judge_safety.without_sizes(
        "expected shape (3,), got shape (1, 1, 3, 7, 1)", sizes
    )

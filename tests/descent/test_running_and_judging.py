"""An answer is run, its outcomes are judged: kinds, guards, partial credit, known mistakes."""

import sys
import time

import numpy as np
import pytest

from autograder import checkdata
from autograder.building import proofs
from descent import judging, running, wire
from solutions.spec import Exercise

double = Exercise("double", reference=lambda x: 2 * x, hints=["a", "b", "c"], limit=0.3)


@double.cases
def _(rng):
    yield "positive", dict(x=rng.uniform(1, 2, 3))
    yield "positive", dict(x=rng.uniform(2, 3, 3))
    yield "negative", dict(x=-rng.uniform(1, 2, 3))
    yield "zero", dict(x=np.zeros(2))


@double.wrong("it squares", advice="Twice, or to the second power?")
def _(x):
    return x**2


@double.wrong("it takes the size", advice="Keep the sign.")
def _(x):
    return 2 * np.abs(x)


DATA = checkdata.exercise_data(double, 3, seed=1)


def verdict_on(answer, reveal=True, limit=600.0):
    """limit: seconds that no honest answer reaches, however busy the machine is."""
    outcomes = running.run_cases(answer, DATA["cases"], limit=limit)
    return judging.judge(DATA, outcomes, reveal=reveal)


def test_a_right_answer_gets_all_points():
    verdict = verdict_on(lambda x: x + x)
    assert (verdict.kind, verdict.points) == ("full", 3)


def test_each_property_earns_its_share():
    verdict = verdict_on(lambda x: 2 * np.abs(x))
    assert (verdict.kind, verdict.points) == ("partial", 2)
    assert verdict.groups == {"positive": True, "negative": False, "zero": True}


def test_a_known_mistake_is_named():
    verdict = verdict_on(lambda x: [float(v) * float(v) for v in x])
    assert (verdict.mistake, verdict.advice) == ("it squares", "Twice, or to the second power?")


def test_a_mistake_that_raises_on_some_case_is_named_by_the_others():
    exercise = Exercise("ratio", reference=lambda a, b: a / b if b else 0.0, hints=["a", "b", "c"])

    @exercise.cases
    def _(rng):
        yield "ordinary", dict(a=1.0, b=2.0)
        yield "zero below", dict(a=1.0, b=0.0)

    exercise.wrong("upside down", advice="What stands below?")(lambda a, b: b / a + 0 / b)
    data = checkdata.exercise_data(exercise, 2, seed=1)

    def judged(answer):
        return judging.judge(data, running.run_cases(answer, data["cases"])).mistake

    assert judged(lambda a, b: b / a if b else 1 / 0) == "upside down"
    assert judged(lambda a, b: a / b) == ""  # right where it gives a result


def test_a_mistake_is_named_only_when_it_explains_every_failing_case():
    def squares_or_loses_the_sign(x):
        return x**2 if x.mean() > 0 else 2 * np.abs(x)

    assert verdict_on(squares_or_loses_the_sign).mistake == ""


def test_a_mistake_is_not_named_where_it_fails_a_case_that_the_answer_passes():
    verdict = verdict_on(lambda x: np.where(x < 0, x**2, 2 * x))
    assert verdict.groups == {"positive": True, "negative": False, "zero": True}
    assert (verdict.mistake, verdict.advice) == ("", "")


def test_of_two_mistakes_that_give_the_same_none_is_named():
    squares = next(wrong for wrong in DATA["wrong"] if wrong["name"] == "it squares")
    data = DATA | {"wrong": [*DATA["wrong"], squares | {"name": "it is to the second power"}]}
    outcomes = running.run_cases(lambda x: x * x, DATA["cases"])
    assert judging.judge(DATA, outcomes).mistake == "it squares"
    assert judging.judge(data, outcomes).mistake == ""


def changes_its_input(x):
    x *= 2
    return x


def loops(x):
    while True:
        pass


def stub(x):
    raise NotImplementedError


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (stub, "unsolved", "not solved yet"),
        (lambda x: None, "wrong", "does the function return its answer?"),
        (lambda x: 1 / 0, "error", "raised ZeroDivisionError"),
        (lambda x: (2 * x)[:, None], "wrong", "expected shape"),
        (lambda x: 2 * x + np.nan, "wrong", "not a finite number"),
        (lambda x: object(), "wrong", "Return a number"),
        (lambda x: exit(), "exited", "left the program"),
        (lambda x: input("?"), "error", "input() cannot be answered here"),
    ],
    ids=lambda v: getattr(v, "__name__", None),
)
def test_what_went_wrong_is_told(answer, kind, words):
    verdict = verdict_on(answer)
    assert verdict.kind == kind
    assert words in verdict.evidence


def test_an_answer_that_never_ends_is_stopped_and_told_its_limit():
    verdict = verdict_on(loops, limit=DATA["limit"])
    assert verdict.kind == "timeout" and "longer than 0.3 s" in verdict.evidence


def test_a_stopped_answer_costs_the_time_of_the_case_that_was_run():
    outcomes = running.run_cases(loops, DATA["cases"], limit=DATA["limit"])
    assert {outcome["status"] for outcome in outcomes} == {"slow"}
    assert outcomes[0]["seconds"] >= DATA["limit"]
    assert [outcome["seconds"] for outcome in outcomes[1:]] == [0.0] * (len(DATA["cases"]) - 1)


def test_a_changed_input_is_told_and_named():
    verdict = verdict_on(changes_its_input)
    assert (verdict.kind, verdict.points) == ("partial", 2)  # of three properties, one's share
    assert all(verdict.groups.values()) and verdict.mistake == judging.CHANGES_INPUT
    assert "3 of 3 properties hold. It changed its input x, which costs points" in verdict.evidence


def test_changing_an_input_costs_at_most_half_of_what_was_earned():
    def judged(answer, *names):
        exercise = Exercise("double", reference=lambda x: 2 * x, hints=["a", "b", "c"])
        exercise.cases(lambda rng: [(name, dict(x=rng.uniform(1, 2, 3))) for name in names])
        data = checkdata.exercise_data(exercise, 4, seed=1)
        return judging.judge(data, running.run_cases(answer, data["cases"])).points

    assert judged(changes_its_input, "one") == 2
    assert judged(changes_its_input, "one", "other") == 2
    assert judged(changes_its_input, "one", "other", "third", "fourth") == 3


def test_a_wrong_answer_that_changes_its_input_is_named_for_what_is_wrong():
    def squares(x):
        x *= x
        return x

    verdict = verdict_on(squares)
    assert (verdict.mistake, verdict.points) == ("it squares", 0)


def test_what_an_answer_holds_that_computes_nothing_counts_only_together_with_others():
    assert DATA["easy"] == [["zero"]]
    handed_back = verdict_on(lambda x: x)
    assert handed_back.groups == {"positive": False, "negative": False, "zero": True}
    assert (handed_back.kind, handed_back.points) == ("wrong", 0)
    assert "counts only together with other properties" in handed_back.evidence
    alone = verdict_on(lambda x: 2 * x if (x > 0).all() else x + 1)
    assert (alone.groups["zero"], alone.points, alone.note) == (False, 1, "")
    assert verdict_on(lambda x: 2 * np.abs(x)).points == 2  # with another, it counts


def test_public_results_looked_up_earn_nothing_where_the_inputs_never_change():
    exercise = Exercise("double", reference=lambda x: 2 * x, hints=["a", "b", "c"])

    @exercise.cases
    def _(rng):
        yield "drawn", dict(x=float(rng.uniform(1, 2)))
        yield "an edge", dict(x=7.0)
        yield "another edge", dict(x=-3.0)

    public, hidden = (checkdata.exercise_data(exercise, 3, seed=seed) for seed in (1, 2))
    assert public["easy"] == hidden["easy"] == [["an edge", "another edge"]]
    known = {case["inputs"]["x"]: case["expected"] for case in public["cases"]}
    for data, points in ((hidden, 0), (public, 3)):
        outcomes = running.run_cases(lambda x: wire.decode(known.get(x)), data["cases"])
        assert judging.judge(data, outcomes).points == points
    assert [f.exercise for f in proofs.idle_problems(exercise, public, public)] == ["double"]
    assert proofs.idle_problems(exercise, public, hidden) == []


def test_public_results_given_in_their_order_earn_nothing_where_the_cases_are_shuffled():
    exercise = Exercise("count", reference=lambda x: float(len(x)), hints=["a", "b", "c"])

    @exercise.cases
    def _(rng):
        for number in range(1, 9):
            yield f"{number} numbers", dict(x=rng.normal(size=number))

    earned = {}
    for exercise.shuffled in (False, True):
        public, hidden = (checkdata.exercise_data(exercise, 8, seed=seed) for seed in (1, 2))
        results = iter([case["expected"] for case in public["cases"]])
        outcomes = running.run_cases(
            lambda x, told=results: wire.decode(next(told)), hidden["cases"]
        )
        earned[exercise.shuffled] = judging.judge(hidden, outcomes).points
        assert bool(proofs.idle_problems(exercise, public, hidden)) is not exercise.shuffled
    assert earned == {False: 8, True: 0}


def test_prints_and_warnings_stay_out_of_the_way(capsys):
    def chatty(x):
        print("hello")
        np.log(np.array([-1.0]))
        return 2 * x

    verdict = verdict_on(chatty)
    assert verdict.kind == "full" and verdict.printed.startswith("hello")
    assert capsys.readouterr() == ("", "")


def test_a_flood_of_prints_is_cut():
    def floods(x):
        print("x" * 10**6)
        return 2 * x

    assert len(verdict_on(floods).printed) <= running.TEXT_LIMIT


def test_hidden_values_are_not_told():
    def wrong(x):
        return x + 1.2345

    verdict = verdict_on(wrong, reveal=False)
    told = str(verdict.to_plain())
    assert "1.2345" not in told and "expected" not in verdict.evidence
    assert all(case.inputs == case.expected == case.got == "" for case in verdict.cases)


def test_an_error_message_cannot_carry_hidden_inputs():
    def leaks(x):
        raise ValueError(f"the input was {x.tolist()}")

    verdict = verdict_on(leaks, reveal=False)
    assert "the input was" not in str(verdict.to_plain())


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda x: (2 * x)[:, None], "expected shape (3,), got shape (3, 1)"),
        (lambda x: 2 * x + 1j, "expected real numbers, got complex ones"),
        (lambda x: 2 * x > 0, "got truth values (dtype bool)"),
        (lambda x: 2 * x + np.inf, "the result is not finite"),
        (lambda x: f"expected shape {x}", "expected numbers, got a str"),
        (lambda x: [[1], [1, 2]], "the rows of the result have different lengths"),
    ],
)
def test_of_a_hidden_case_the_kind_of_difference_is_told(answer, words):
    assert verdict_on(answer, reveal=False).cases[0].problem.endswith(words)


def test_text_cannot_carry_hidden_values_in_the_checkers_own_words():
    exercise = Exercise("sign", reference=lambda x: "plus", hints=["a", "b", "c"])
    exercise.cases(lambda rng: [("some", dict(x=rng.uniform(1, 2)))])
    data = checkdata.exercise_data(exercise, 1, seed=1)
    for words in (
        "the keys differ: ",
        "value 1: expected shape (3,), got shape (",
        "truth values ",
    ):
        outcomes = running.run_cases(lambda x, words=words: f"{words}{x}", data["cases"])
        assert judging.judge(data, outcomes, reveal=False).cases[0].problem == "the result differs"


def test_a_result_in_float32_gets_its_tolerance_where_the_inputs_are_float32():
    def shifted(x):
        return (2 * x * (1 + 1e-5)).astype(np.float32)

    def of(dtype):
        exercise = Exercise("double", reference=lambda x: 2 * x, hints=["a", "b", "c"])
        exercise.cases(lambda rng: [("some", dict(rows=[rng.uniform(1, 2, 3).astype(dtype)]))])
        exercise.reference = lambda rows: 2 * rows[0]
        data = checkdata.exercise_data(exercise, 1, seed=1)
        outcomes = running.run_cases(lambda rows: shifted(rows[0]), data["cases"])
        return judging.judge(data, outcomes).kind

    assert (of(np.float32), of(np.float64)) == ("full", "wrong")


def test_complex_numbers_that_are_real_are_real():
    assert verdict_on(lambda x: 2 * x + 0j).kind == "full"
    assert verdict_on(lambda x: [complex(2 * v) for v in x]).kind == "full"
    assert verdict_on(lambda x: 2 * x + 1e-3j).kind == "wrong"


def test_numpy_settings_of_an_answer_do_not_last():
    before = np.geterr()

    def careless(x):
        np.seterr(all="ignore")
        return 2 * x

    verdict_on(careless)
    assert np.geterr() == before


def test_a_probe_calls_the_answer():
    source = "def _(answer, n):\n    return [answer(k) for k in range(n)]"
    outcomes = running.run_cases(lambda k: k * k, [{"inputs": {"n": 3}}], probe=source)
    assert outcomes[0]["value"] == [0, 1, 4]


def test_a_verdict_survives_as_plain_data():
    verdict = verdict_on(lambda x: x)
    assert judging.Verdict.from_plain(verdict.to_plain()) == verdict


def test_an_answer_that_swallows_its_interruption_is_too_slow():
    def swallows(x):
        end = time.process_time() + 2 * DATA["limit"]
        while time.process_time() < end:
            try:
                sum(range(1000))
            except BaseException:
                pass
        return 2 * x

    assert verdict_on(swallows, limit=DATA["limit"]).kind == "timeout"


def test_an_answer_may_close_what_it_prints_to():
    def closes(x):
        sys.stdout.close()
        return 2 * x

    assert verdict_on(closes).kind == "full"


def test_what_an_answer_leaves_behind_stays_out_of_the_way(recwarn, capsys):
    class Talks(Exception):
        def __str__(self):
            print("noise")
            return "talks"

    async def waits(x):
        if x.any():
            raise Talks
        return x

    def raises(x):
        raise Talks

    verdict_on(waits)
    verdict_on(raises)
    assert not recwarn.list and capsys.readouterr() == ("", "")


def test_an_integer_beyond_64_bits_is_a_number():
    exercise = Exercise("power", reference=lambda n: 10.0**n, hints=["a", "b", "c"])
    exercise.cases(lambda rng: [("far", dict(n=25))])
    data = checkdata.exercise_data(exercise, 1, seed=1)
    for answer in (lambda n: 10**n, lambda n: 10.0**n):
        assert judging.judge(data, running.run_cases(answer, data["cases"])).kind == "full"
    told = judging.judge(data, running.run_cases(lambda n: 10 ** (n * n), data["cases"])).evidence
    assert "not a finite number" in told


def test_renamed_parameters_are_told():
    evidence = verdict_on(lambda y: 2 * y).evidence
    assert (
        "unexpected keyword argument 'x'. Keep the parameters as they were handed out" in evidence
    )
    assert "Keep the parameters" in verdict_on(lambda y: 2 * y, reveal=False).evidence
    exercise = Exercise("double", reference=lambda x: 2 * x, hints=["a", "b", "c"])
    exercise.cases(lambda rng: [("some", dict(x=rng.uniform(1, 2)))])
    data = checkdata.exercise_data(exercise, 1, seed=1)
    by_keyword = "def _(answer, x):\n    return answer(x=x)"
    outcomes = running.run_cases(lambda y: 2 * y, data["cases"], probe=by_keyword)
    assert "Keep the parameters" in judging.judge(data, outcomes).evidence
    assert "Keep the parameters" not in verdict_on(lambda x: int("a", y=1)).evidence

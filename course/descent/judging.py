"""Judges outcomes against expected results: plain data in, a Verdict out. Runs no student code.

The student's checker, the grader and the tests all call `judge`.
"""

import re
from dataclasses import asdict, dataclass, field

import numpy as np

from descent import compare, wire

KINDS = (
    "full",
    "partial",
    "wrong",
    "unsolved",
    "error",
    "exited",
    "timeout",
    "memory",
    "output",
    "missing",
)

CHANGES_INPUT = "it changes its input"  # a mistake that any exercise knows


@dataclass
class CaseResult:
    """One case: whether it holds, and if not, one sentence why. call: lines that try it again, where they are known."""

    name: str
    ok: bool
    problem: str = ""
    expected: str = ""
    got: str = ""
    inputs: str = ""
    status: str = "ok"
    call: str = ""


@dataclass
class Verdict:
    """What became of one exercise. kind: one of KINDS. points: earned, of `max_points`.

    note: a sentence for the student where the points are not each property's share; else "".
    """

    exercise: str
    kind: str
    points: float
    max_points: float
    cases: list[CaseResult] = field(default_factory=list)
    mistake: str = ""
    advice: str = ""
    evidence: str = ""
    note: str = ""
    printed: str = ""
    seconds: float = 0.0

    @property
    def groups(self) -> dict[str, bool]:
        """Property -> whether all its cases hold, in the order of the cases."""
        held: dict[str, bool] = {}
        for case in self.cases:
            held[case.name] = held.get(case.name, True) and case.ok
        return held

    @property
    def failed(self) -> CaseResult | None:
        """The first case that does not hold: the one that is told."""
        return next((case for case in self.cases if not case.ok), None)

    def to_plain(self) -> dict:
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: dict) -> "Verdict":
        return cls(**{**plain, "cases": [CaseResult(**case) for case in plain["cases"]]})


def judge(spec: dict, outcomes: list[dict], *, reveal: bool = True) -> Verdict:
    """The verdict on the outcomes of one exercise.

    spec: an exercise of the check data: "name", "points", "limit", "compare", "cases" (each with "name",
    "inputs", "expected"), "wrong" (each with "name", "advice", "results"), "easy" (sets of properties that an answer
    which computes nothing holds). outcomes: as `running.run_cases` tells them.
    reveal=False leaves out inputs, expected and received values: the evidence is safe to show for hidden cases.
    """
    cases = [
        _judge_case(case, outcome, difference, reveal)
        for case, outcome, difference in zip(
            spec["cases"], outcomes, _comparisons(spec), strict=True
        )
    ]
    verdict = Verdict(spec["name"], "wrong", 0.0, spec["points"], cases)
    verdict.printed = next((o.get("printed", "") for o in outcomes if o.get("printed")), "")
    verdict.seconds = sum(o.get("seconds", 0) for o in outcomes)
    share, verdict.note = _share(verdict.groups, spec["easy"], _changed(outcomes))
    verdict.points = round(spec["points"] * share, 2)
    verdict.kind = _kind(share, cases)
    verdict.evidence = _evidence(verdict, spec, outcomes)
    if verdict.kind in ("partial", "wrong", "error"):
        verdict.mistake, verdict.advice = _mistake(spec, cases, outcomes)
    return verdict


def _comparisons(spec) -> list[compare.Comparison]:
    """A case's comparison each: where its inputs are float32, the result may be."""
    difference = compare.from_plain(spec["compare"])
    single = difference.for_float32()
    return [single if wire.holds_float32(case["inputs"]) else difference for case in spec["cases"]]


def _changed(outcomes) -> list[str]:
    """The inputs that the answer changed on some case that it came to the end of."""
    ended = (o for o in outcomes if o.get("status", "ok") == "ok")
    return list(dict.fromkeys(str(name) for o in ended for name in o.get("mutated") or []))


def _share(groups, easy, changed) -> tuple[float, str]:
    """(share of the points, the note on it): each property counts alike, but for two things.

    What an answer that computes nothing holds as well earns nothing alone. Changing an input costs the share of
    one property, and at most half of what was earned.
    """
    held = [name for name, holds in groups.items() if holds]
    if not held:
        return 0.0, ""
    if len(held) < len(groups) and any(set(held) <= set(one) for one in easy):
        return 0.0, (
            "What holds so far also holds for an answer that computes nothing, "
            "so it counts only together with other properties."
        )
    if changed:
        note = f"It changed its input {', '.join(changed)}, which costs points: work on a copy."
        return (len(held) - min(1, len(held) / 2)) / len(groups), note
    return len(held) / len(groups), ""


def _mistake(spec, cases, outcomes):
    """Name and advice of the one known mistake that the answer may be; of several nobody can tell which it is."""
    if all(case.ok for case in cases):
        return CHANGES_INPUT, ""
    found = known_mistakes(spec, cases, outcomes)
    return (found[0]["name"], found[0]["advice"]) if len(found) == 1 else ("", "")


def _judge_case(case, outcome, difference, reveal):
    result = CaseResult(case["name"], ok=False, status=outcome.get("status", "ok"))
    if reveal:
        result.inputs = _arguments(case["inputs"])
    if result.status != "ok":
        result.problem = _status_problem(outcome, reveal)
        return result
    try:
        got = _without_zero_imaginary_parts(wire.decode(outcome.get("value"), tensors=False))
        expected = wire.decode(case["expected"], tensors=False)
        problem = difference(expected, got)
    except wire.WireError as error:
        problem, got, expected = str(error), None, None
    if problem:
        result.problem = problem if reveal else _without_values(problem)
        if reveal:
            result.expected, result.got = compare.shorten(expected), compare.shorten(got)
    else:
        result.ok = True
    return result


# What Python says when the answer itself cannot be called with the case's inputs.
OTHER_PARAMETERS = (
    "got an unexpected keyword argument",
    "required positional argument",
    "positional arguments but",
)


def _status_problem(outcome, reveal):
    error = outcome.get("error") or {}
    if outcome["status"] == "slow":
        line = f" in line {error['number']}, `{error['line']}`" if error.get("line") else ""
        return f"{error.get('message', 'ran too long')} and was stopped{line}"
    if outcome["status"] == "unsolved":
        return "not solved yet"
    if outcome["status"] == "unreadable":
        return str(error.get("message", "the result cannot be read"))
    if outcome["status"] == "exited":
        return f"left the program ({error.get('type', 'exit')})"
    message = f": {error['message']}" if error.get("message") and reveal else ""
    line = f" in line {error['number']}, `{error['line']}`" if error.get("line") else ""
    if line and error.get("type") == "RuntimeError" and re.search(r"\binput\(", error["line"]):
        message = ": input() cannot be answered here: use the function's arguments"
    if not line and any(words in error.get("message", "") for words in OTHER_PARAMETERS):
        message += ". Keep the parameters as they were handed out"
    return f"raised {error.get('type', 'an error')}{line}{message}"


# What may be told of a hidden case: the kind of difference, in sentences of `compare` that hold nothing which a result
# could carry out. Each begins with its place ("value 2: "), which is the expected result's own.
_TELLING = re.compile(
    r"(?P<place>(?:[\w .-]+: )*)(?:"
    r"(?P<whole>expected shape \([\d, ]*\), got shape \([\d, ]*\)"
    r"|the result is None: does the function return its answer\?"
    r"|the rows of the result have different lengths|the result holds something that is not a number"
    r"|expected numbers, got a (?:str|dict)"
    r"|expected numbers \(dtype \w+\), got truth values \(dtype bool\)"
    r"|expected real numbers, got complex ones(?= \(dtype complex\d+\)$))(?: \(dtype complex\d+\))?"
    r"|(?P<infinite>(?:at index \[[\d, ]*\] )?got \S+, which is not a finite number)"
    r"|(?P<keys>the keys differ: .*)|(?P<dict>expected a dict with keys \[[^\]]*\]), got .*"
    r"|expected (?P<count>\d+) values, got .*)",
    re.DOTALL,
)


def _without_values(problem: str) -> str:
    """Of a hidden case a student learns the kind of difference (shape, type), not the numbers."""
    told = _TELLING.fullmatch(problem)
    if told is None:
        return "the result differs"
    place = told["place"]
    if told["infinite"]:
        return f"{place}the result is not finite"
    if told["count"]:
        return f"{place}expected {told['count']} values, got another number of them"
    if told["keys"]:
        keys = re.sub(
            "not asked for .*", "others that were not asked for", told["keys"], flags=re.S
        )
        return place + keys
    return place + (told["whole"] or told["dict"])


def _without_zero_imaginary_parts(value):
    """Complex numbers that are all real, as eigenvalues and Fourier transforms come, as real ones."""
    if isinstance(value, dict):
        return {key: _without_zero_imaginary_parts(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_zero_imaginary_parts(item) for item in value]
    if isinstance(value, np.ndarray) and value.dtype.kind == "c" and not value.imag.any():
        return value.real
    return value


def _arguments(inputs) -> str:
    values = wire.decode(inputs, tensors=False)
    return ", ".join(f"{name} = {compare.shorten(value, 60)}" for name, value in values.items())


def _kind(share, cases):
    if share == 1:
        return "full"
    statuses = [case.status for case in cases]
    if all(status == "unsolved" for status in statuses):
        return "unsolved"
    if share:
        return "partial"
    for status, kind in (("slow", "timeout"), ("exited", "exited"), ("raised", "error")):
        if status in statuses:
            return kind
    return "wrong"


def _evidence(verdict, spec, outcomes):
    """One sentence that the student may see."""
    name, held, total = spec["name"], sum(verdict.groups.values()), len(verdict.groups)
    if verdict.kind == "full":
        return f"All {total} properties hold." if total > 1 else "The property holds."
    if verdict.kind == "unsolved":
        return f"{name} is not solved yet."
    if verdict.kind == "timeout":
        slow = next(case for case in verdict.cases if case.status == "slow")
        return f"{name} {slow.problem}."
    failed = verdict.failed
    why = f" First: {failed.name}: {failed.problem}." if failed else ""
    note = f" {verdict.note}" if verdict.note else ""
    return f"{held} of {total} properties hold.{note}{why}"


def known_mistakes(spec: dict, cases: list[CaseResult], outcomes: list[dict]) -> list[dict]:
    """The entries of "wrong" that agree with the answer on every case: they pass it as well, or give the same."""
    comparisons = _comparisons(spec)
    found = []
    for wrong in spec["wrong"]:
        results = wrong["results"]
        if not any(known for case, known in zip(cases, results, strict=True) if not case.ok):
            continue
        if all(map(_agree, spec["cases"], cases, outcomes, results, comparisons)):
            found.append(wrong)
    return found


def _agree(case, result, outcome, known, difference) -> bool:
    """known: the encoded result of a known mistake, or None where it fails on this case as well."""
    if known is None or outcome.get("status") != "ok":
        return known is None and outcome.get("status") == "raised"
    try:
        expected, known, value = (
            wire.decode(plain, tensors=False)
            for plain in (case["expected"], known["value"], outcome["value"])
        )
        passes = difference(expected, _without_zero_imaginary_parts(known)) is None
        return passes == result.ok and (passes or difference.same(known, value))
    except wire.WireError:
        return False

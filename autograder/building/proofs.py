"""The test of the tests: the solution and every known right answer must get full marks and every wrong one
must not, on the public cases and on hidden ones."""

import inspect
import symtable
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import mean

from autograder import checkdata, easy
from descent import judging
from solutions.spec import Answer, Edit, Exercise, SpecError

KEYS = tuple(f"key {number} of the proofs".encode() for number in range(1, 21))
FEW = 3  # of them, where everything is proven every day
FEWER = 1  # of them, where an answer trains: forty answers on a draw take a minute
GIVEN = {"np", "torch", "math"}  # what every reader of a right answer knows


@dataclass
class Finding:
    """Something that does not hold: for which exercise, and what."""

    exercise: str
    problem: str

    def __str__(self):
        return f"{self.exercise}: {self.problem}"


def prove(notebook: str, exercise: Exercise, draws: int | None = None) -> list[Finding]:
    """Everything that fails for one exercise; an empty list when its cases can be trusted.

    It is judged on its public cases and on so many draws of hidden ones, at most as many as KEYS (None: as every
    day); a wrong answer breaks the same properties on all. What fails on several is told once.
    """
    daily = draws is None
    if daily:
        draws = FEWER if exercise.trains else FEW
    drawn = seeds(notebook, exercise.name, draws)
    problems = form_problems(exercise) or call_problems(exercise, drawn["public"])
    if problems:
        return [Finding(exercise.name, problem) for problem in problems]
    found: dict[str, Finding] = {}
    held: dict[str, set[frozenset]] = defaultdict(set)
    told: list[dict] = []
    for where, seed in drawn.items():
        known = told[0] if told else None
        data, outcomes = checkdata.data_and_outcomes(exercise, 12, seed, known=known)
        told.append(data)
        if where == "public" and not (daily and exercise.trains):
            outcomes = {}  # run them once more: who gives the same each time?
        for what, why in answers_misjudged(exercise, data, outcomes, held):
            found.setdefault(what, Finding(exercise.name, f"{where} cases: {what}{why}"))
    for name, sets in held.items():
        if len(sets) > 1:
            found.setdefault(_wrong(name), Finding(exercise.name, _luck(name, sets)))
    return [*found.values(), *idle_problems(exercise, *told[: 1 + FEW])]


def seeds(notebook: str, name: str, draws: int) -> dict[str, int]:
    """public, hidden 1, hidden 2 … -> a seed."""
    hidden = [checkdata.hidden_seed(key, notebook, name) for key in KEYS[:draws]]
    told = {f"hidden {number}": seed for number, seed in enumerate(hidden, 1)}
    return {"public": checkdata.public_seed(notebook, name)} | told


def draws(notebook: str, exercise: Exercise, number: int) -> dict[str, dict]:
    """public, hidden 1, hidden 2 … -> the data that answers are judged by."""
    told, known = {}, None
    for where, seed in seeds(notebook, exercise.name, number).items():
        told[where], _ = checkdata.data_and_outcomes(exercise, 12, seed, known=known)
        known = told[where]
    return told


def _luck(name: str, held: set[frozenset]) -> str:
    differ = sorted(frozenset.union(*held) - frozenset.intersection(*held))
    return (
        f"{_wrong(name)}breaks {', '.join(map(repr, differ))} on some draws, not on all: its points "
        "are a matter of luck. Draw the cases so that it breaks it always, or never"
    )


def _wrong(name: str) -> str:
    return f"wrong answer {name!r} "


def form_problems(exercise: Exercise) -> list[str]:
    """Author's slips that can be told without running anything."""
    problems = []
    if len(exercise.wrong_answers) < 3:
        problems.append(f"{len(exercise.wrong_answers)} wrong answers, at least 3 are needed")
    if not exercise.right_answers:
        problems.append("no right answer written another way")
    if len(exercise.hints) != 3 or not all(exercise.hints):
        problems.append(f"{len(exercise.hints)} hints, 3 are needed")
    for wrong in exercise.wrong_answers:
        if not wrong.advice.strip():
            problems.append(f"wrong answer {wrong.name!r} has no advice")
    names = [wrong.name for wrong in exercise.wrong_answers]
    if len(set(names)) < len(names):
        problems.append("two wrong answers have the same name")
    if exercise.draw_cases is None:
        problems.append("it has no cases")
    return [
        *problems,
        *edit_problems(exercise),
        *library_problems(exercise),
        *probe_problems(exercise),
    ]


def edit_problems(exercise: Exercise) -> list[str]:
    """The mistakes whose edit cannot be made: the old text must stand once in the master's solution."""
    problems = []
    for wrong in exercise.wrong_answers:
        try:
            if isinstance(wrong, Edit):
                _ = wrong.text
        except SpecError as error:
            problems.append(str(error))
    return problems


def library_problems(exercise: Exercise) -> list[str]:
    """The library's ways that a student could not run: what they use of exercises.py is not on the card."""
    problems = []
    for right in (right for right in exercise.right_answers if right.library):
        if inspect.isclass(right.function):
            what = (
                "is a class, whose text Python cannot find again: let a function make and return it"
            )
            problems.append(f"the library's way {right.name!r} {what}")
            continue
        problems += [
            f"the library's way {right.name!r} uses {name!r} of exercises.py: import or write it inside"
            for name in _borrowed(right.source(exercise.name), right.function, exercise.name)
        ]
    return problems


def probe_problems(exercise: Exercise) -> list[str]:
    """The names of exercises.py that a probe uses: it is shipped alone."""
    probe = exercise.probe_function
    names = _borrowed(exercise.probe_source, probe, probe.__name__) if probe else []
    return [
        f"its probe uses {name!r} of exercises.py, which students do not have: write it inside"
        for name in names
    ]


def _borrowed(source: str, function: Callable, own: str) -> list[str]:
    """The names of exercises.py that the text of a function uses, but for its own."""
    table = symtable.symtable(source, "<known>", "exec")
    return sorted(_from_outside(table) & function.__globals__.keys() - GIVEN - {own})


def _from_outside(table: symtable.SymbolTable) -> set[str]:
    """The names that a text uses and does not make."""
    own = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
    return own.union(*map(_from_outside, table.get_children()))


def call_problems(exercise: Exercise, seed: int) -> list[str]:
    """What does not take the inputs that the cases give it, each told for its first such case."""
    problems: dict[str, str] = {}
    for case, inputs in checkdata.draw_cases(exercise, seed):
        gives = f"case {case!r} gives ({', '.join(map(str, inputs))})"
        for what, function, first, remedy in _called(exercise):
            if problem := _misfit(function, *first, **inputs):
                problems.setdefault(what, f"{what} does not take what {gives}: {problem}{remedy}")
        for name in sorted(set(exercise.batched) - inputs.keys()):
            problems.setdefault(name, f"batched names {name!r}, but {gives}")
    return list(problems.values())


def _called(exercise: Exercise) -> Iterator[tuple[str, Callable, tuple, str]]:
    """(what, function, what it gets before the inputs, remedy) of all that is called with a case's inputs."""
    yield "its reference", exercise.reference, (), "; put a lambda round it"
    if exercise.probe_function:
        yield "its probe", exercise.probe_function, (None,), ""
    elif exercise.solution:
        yield "the solution", exercise.solution, (), "; rename the inputs, or write a probe"


def _misfit(function: Callable, *first, **inputs) -> str:
    """Why a call would not bind; empty where it does, or where nobody can tell before."""
    try:
        inspect.signature(function).bind(*first, **inputs)
    except TypeError as error:
        return str(error)
    except ValueError:  # a function in C without a signature
        pass
    return ""


def verdict_on(exercise: Exercise, function, data: dict) -> judging.Verdict:
    """The verdict on a known answer for drawn data."""
    return judging.judge(data, _outcomes(exercise, function, data))


def _outcomes(exercise, function, data) -> list[dict]:
    return [checkdata.run_known(exercise, function, case["inputs"]) for case in data["cases"]]


def answers_misjudged(
    exercise: Exercise,
    data: dict,
    outcomes: dict[str, list[dict]],
    held: dict[str, set[frozenset]],
) -> Iterator[tuple[str, str]]:
    """(what, why) of right answers that are refused, and of wrong ones that pass or are not named.

    outcomes: of wrong answers that have been run on the data. held: gets the properties that hold of each.
    """
    if len({case["name"] for case in data["cases"]}) < 3:
        yield "fewer than three named properties", ": give the cases more names"
    for right in exercise.right_answers:
        verdict = verdict_on(exercise, right.function, data)
        if verdict.kind != "full":
            yield f"right answer {right.name!r} is refused", f": {verdict.evidence}"
    if exercise.solution:
        verdict = verdict_on(exercise, exercise.solution, data)
        if verdict.kind != "full":
            yield (
                "the solution is refused",
                f": {verdict.evidence} Is it wrong, or the reference, the probe, the comparison?",
            )
            return  # what is an edit of it is no known mistake
    for wrong in exercise.wrong_answers:
        told = outcomes.get(wrong.name) or _outcomes(exercise, wrong.function, data)
        verdict = judging.judge(data, told)
        held[wrong.name].add(frozenset(name for name, ok in verdict.groups.items() if ok))
        if problem := _misjudged(wrong, data, told, verdict):
            yield _wrong(wrong.name), problem


def idle_problems(exercise: Exercise, public: dict, *hidden: dict) -> list[Finding]:
    """Told where an answer that computes nothing, but has the public cases, earns more than a tenth in the mean."""
    run = partial(checkdata.run_known, exercise)
    earned = [
        [
            judging.judge(data, told).points
            for told in easy.outcomes(public["cases"], data["cases"], run)
        ]
        for data in hidden
    ]  # a row each draw, a column each answer
    share = max(map(mean, zip(*earned, strict=True)), default=0) / public["points"]
    remedy = "let the cases differ more from draw to draw, or come in another order: shuffled=True"
    problem = f"an answer that computes nothing earns {share:.0%}: {remedy}"
    return [Finding(exercise.name, problem)] if share > 0.1 else []


def _misjudged(wrong: Answer | Edit, data: dict, outcomes: list[dict], verdict) -> str:
    """What is wrong with the verdict on a wrong answer; empty where it is rejected and named."""
    failed = [case for case in verdict.cases if not case.ok]
    unknown = [case.problem for case in failed if "raised NameError" in case.problem]
    if unknown:
        return f"{unknown[0]}: is it mistyped?"
    if verdict.kind == "full":
        return "passes: add a case that it fails"
    if verdict.mistake == judging.CHANGES_INPUT or all(case.status != "ok" for case in failed):
        return ""
    alike = [one["name"] for one in judging.known_mistakes(data, verdict.cases, outcomes)]
    if wrong.name not in alike:
        return "is rejected but not named: does it give the same each time that it is called?"
    if alike[0] != wrong.name:  # of two that give the same, the later one is told
        return (
            f"is taken for {alike[0]!r}: they give the same; "
            "add a case that tells them apart, or drop one"
        )
    return ""

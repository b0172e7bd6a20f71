"""The test of the tests: every known right answer must get full marks and every wrong one must not,
on the public cases and on hidden ones."""

from dataclasses import dataclass

from autograder import checkdata
from descent import judging
from solutions.spec import Edit, Exercise, SpecError

KEYS = (b"first key of the proofs", b"second key of the proofs", b"third key of the proofs")


@dataclass
class Finding:
    """Something that does not hold: for which exercise, and what."""

    exercise: str
    problem: str

    def __str__(self):
        return f"{self.exercise}: {self.problem}"


def prove(notebook: str, exercise: Exercise, keys=KEYS) -> list[Finding]:
    """Everything that fails for one exercise; an empty list when its cases can be trusted."""
    findings = [Finding(exercise.name, problem) for problem in form_problems(exercise)]
    if findings:
        return findings
    seeds = {"public": checkdata.public_seed(notebook, exercise.name)}
    for number, key in enumerate(keys, 1):
        seeds[f"hidden {number}"] = checkdata.hidden_seed(key, notebook, exercise.name)
    for where, seed in seeds.items():
        data = checkdata.exercise_data(exercise, points=12, seed=seed)
        findings += [
            Finding(exercise.name, f"{where} cases: {p}") for p in answers_misjudged(exercise, data)
        ]
    return findings


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
    return problems + edit_problems(exercise)


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


def verdict_on(exercise: Exercise, function, data: dict) -> judging.Verdict:
    """The verdict on a known answer for drawn data."""
    outcomes = [checkdata.run_known(exercise, function, case["inputs"]) for case in data["cases"]]
    return judging.judge(data, outcomes)


def answers_misjudged(exercise: Exercise, data: dict) -> list[str]:
    """Right answers that are refused, wrong ones that pass or are not named."""
    problems = []
    if len({case["name"] for case in data["cases"]}) < 3:
        problems.append("fewer than three named properties")
    for right in exercise.right_answers:
        verdict = verdict_on(exercise, right.function, data)
        if verdict.kind != "full":
            problems.append(f"right answer {right.name!r} is refused: {verdict.evidence}")
    for wrong in exercise.wrong_answers:
        verdict = verdict_on(exercise, wrong.function, data)
        if verdict.kind == "full":
            problems.append(f"wrong answer {wrong.name!r} passes: add a case that it fails")
        elif not verdict.mistake and any(
            case.status == "ok" for case in verdict.cases if not case.ok
        ):
            problems.append(f"wrong answer {wrong.name!r} is rejected but not named")
        elif verdict.mistake not in ("", wrong.name, "it changes its input"):
            problems.append(
                f"wrong answer {wrong.name!r} is taken for {verdict.mistake!r}: they give the same; "
                "add a case that tells them apart, or drop one"
            )
    return problems


def sensitivity(exercise: Exercise, data: dict) -> dict[str, float]:
    """Share of the points that each wrong answer earns: near 1 means a weak set of cases."""
    return {
        wrong.name: verdict_on(exercise, wrong.function, data).points / data["points"]
        for wrong in exercise.wrong_answers
    }

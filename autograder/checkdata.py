"""Turns an Exercise into the plain data that answers are judged by: for the release (public cases) and for
the judge (hidden cases). No code of a reference or of a known answer is in it."""

import copy
import hashlib
import hmac
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np

from autograder import easy
from autograder.answers import Answers
from descent import running, wire
from solutions import notebook_module
from solutions.spec import Edit, Exercise, SpecError

ROOT = Path(__file__).resolve().parent.parent
FORMAT = 1


def spec_path(notebook: str, project: Path = ROOT) -> Path:
    """The specification of "chapter/notebook"."""
    return project / "solutions" / notebook / "exercises.py"


def load_exercises(notebook: str) -> dict[str, Exercise]:
    """The exercises of a notebook by name; none where it has no specification file."""
    if not spec_path(notebook).exists():
        return {}
    return exercises_of(notebook_module(notebook, "exercises"))


def exercises_of(module: ModuleType) -> dict[str, Exercise]:
    """The exercises that a module defines, by name; the master beside it has their solutions.

    Raises SpecError where two have one name.
    """
    found: dict[str, Exercise] = {}
    for value in vars(module).values():
        if isinstance(value, Exercise) and found.setdefault(value.name, value) is not value:
            raise SpecError(f"two exercises are named {value.name!r}")
    answers = Answers(Path(module.__file__).with_name("notebook.py"))
    for exercise in found.values():
        edits = [wrong for wrong in exercise.wrong_answers if isinstance(wrong, Edit)]
        for one in (exercise, *edits):
            one.answers = one.answers or answers
    return found


def public_seed(notebook: str, name: str) -> int:
    return int.from_bytes(hashlib.sha256(f"public {notebook} {name}".encode()).digest()[:8], "big")


def hidden_seed(key: bytes, notebook: str, name: str) -> int:
    """The seed of the hidden cases, known only to who holds the key."""
    digest = hmac.new(key, f"{notebook} {name}".encode(), "sha256").digest()
    return int.from_bytes(digest[:8], "big")


def draw_cases(exercise: Exercise, seed: int) -> list[tuple[str, dict]]:
    """The cases of one seed. Raises SpecError when there are none, they fail or one is not (name, inputs)."""
    try:
        cases = list(exercise.drawn(np.random.default_rng(seed)))
    except SpecError:
        raise
    except Exception as error:
        told = f"{exercise.name}: its cases fail: {type(error).__name__}: {error}"
        raise SpecError(told) from error
    for case in cases:
        if not (isinstance(case, tuple) and len(case) == 2 and isinstance(case[1], dict)):
            raise SpecError(
                f"{exercise.name}: a case must be `yield name, dict(...)`, got {case!r:.80}"
            )
    if not cases:
        raise SpecError(f"{exercise.name}: its case function yields nothing.")
    return cases


def exercise_data(exercise: Exercise, points: float, seed: int, *, device: str = "cpu") -> dict:
    """All that `running` and `judging` need for one exercise and one seed, as plain data."""
    return data_and_outcomes(exercise, points, seed, device=device)[0]


def data_and_outcomes(
    exercise: Exercise, points: float, seed: int, *, device: str = "cpu", known: dict | None = None
) -> tuple[dict, dict[str, list[dict]]]:
    """The data of an exercise, and its known mistakes' outcomes by name, from which the data has their results.

    known: its data of another seed, which spares finding what is easy once more.
    """
    cases = drawn_cases(exercise, seed, device)
    outcomes = {
        wrong.name: [run_known(exercise, wrong.function, case["inputs"]) for case in cases]
        for wrong in exercise.wrong_answers
    }
    data = {
        "name": exercise.name,
        "points": points,
        "limit": exercise.limit,
        "compare": exercise.compare.to_plain(),
        "probe": exercise.probe_source,
        "hints": exercise.hints,
        "easy": known["easy"] if known else [],
        "cases": cases,
        "wrong": [
            {
                "name": wrong.name,
                "advice": wrong.advice,
                "results": [known_result(outcome) for outcome in outcomes[wrong.name]],
            }
            for wrong in exercise.wrong_answers
        ],
    }
    if not known:
        data["easy"] = easy_sets(exercise, data)
    return data, outcomes


def drawn_cases(exercise: Exercise, seed: int, device: str = "cpu") -> list[dict]:
    """The cases of one seed as plain data, each with what the reference gives."""
    cases = [(n, _encoded(exercise, n, inputs)) for n, inputs in draw_cases(exercise, seed)]
    return [
        {
            "name": name,
            "inputs": inputs,
            "expected": expected_result(exercise, inputs, device, name),
        }
        for name, inputs in cases
    ]


def easy_sets(exercise: Exercise, data: dict) -> list[list[str]]:
    """The sets of properties that an answer which computes nothing holds, see `easy`. data: the exercise's."""
    seeds = [public_seed(f"draw {number} of", exercise.name) for number in range(easy.DRAWS)]
    draws = [drawn_cases(exercise, seed) for seed in seeds]
    return easy.sets(data | {"wrong": []}, draws, partial(run_known, exercise))


def _encoded(exercise: Exercise, case: str, inputs: dict):
    """A case's inputs as plain data. Raises SpecError naming the one that is none."""
    for name, value in inputs.items():
        try:
            wire.encode(value)
        except wire.WireError as error:
            why = str(error).replace("The result", "it", 1).partition(". ")[0]
            raise SpecError(
                f"{exercise.name}: case {case!r}: its input {name!r} is no plain data: {why}. "
                "A probe can make it, from data."
            ) from error
    return wire.encode(inputs)


def expected_result(exercise: Exercise, inputs, device: str = "cpu", case: str = ""):
    """The reference's result on encoded inputs, encoded. Raises SpecError where the reference fails."""
    arguments = {name: as_tensors(value, device) for name, value in wire.decode(inputs).items()}
    try:
        return wire.encode(exercise.reference(**arguments))
    except Exception as error:
        where = f" on case {case!r}" if case else ""
        raise SpecError(
            f"{exercise.name}: its reference fails{where}: {type(error).__name__}: {error}"
        ) from error


def known_result(outcome: dict):
    """What is kept of a known mistake's outcome: {"value": …}, or None where it gives no result."""
    return {"value": outcome["value"]} if outcome["status"] == "ok" else None


def run_known(exercise: Exercise, function, inputs) -> dict:
    return running.run_case(
        function, wire.decode(inputs), probe=exercise.probe_function, limit=exercise.limit
    )


def as_tensors(value, device: str = "cpu"):
    """Arrays as torch tensors on `device`: floating ones as float64, others as they are."""
    import torch

    if isinstance(value, np.ndarray):
        value = torch.from_numpy(copy.deepcopy(value))
    if isinstance(value, torch.Tensor):
        # A device without float64 (Apple's) computes references on the CPU.
        place = "cpu" if device == "mps" else device
        return value.to(place, torch.float64) if value.is_floating_point() else value.to(place)
    if isinstance(value, list):
        return [as_tensors(item, device) for item in value]
    if isinstance(value, dict):
        return {key: as_tensors(item, device) for key, item in value.items()}
    return value

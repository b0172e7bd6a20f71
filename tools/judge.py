"""Judges answers that nobody listed: `python -m tools.judge ANSWERS.py …`, from the project's root.

A file of answers begins with `# notebook: chapter/name`. Then come functions and classes under
@right("exercise", "how") or @wrong("exercise", "the mistake"). They see what the notebook's own answers see, and
np, torch and math.
Told are right answers without full points and wrong ones with full points, on the public cases (what `check` says)
and on 20 draws of hidden ones, the name that a wrong one is given, and the sums.
Status 0: nothing is misjudged. 1: something is. 2: a file that cannot be read.
"""

import argparse
import math
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from autograder import checkdata
from autograder.answers import Answers, as_in_grading
from autograder.building import masters, proofs
from descent import judging
from solutions.spec import SpecError

HEADER = "# notebook:"


@dataclass
class Held:
    """One answer of a file. kind: "right" or "wrong"."""

    kind: str
    exercise: str
    how: str
    function: object


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="judge", description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="ANSWERS.py")
    files = parser.parse_args(argv).files
    sums = Counter()
    for path in files:
        try:
            notebook, held = read(path)
        except (OSError, SpecError) as error:
            print(f"judge: {path}: {error}", file=sys.stderr)
            return 2
        exercises = checkdata.load_exercises(notebook)
        for name in dict.fromkeys(answer.exercise for answer in held):
            answers = [answer for answer in held if answer.exercise == name]
            if name not in exercises:
                print(f"{notebook} has no exercise {name!r}: {len(answers)} answers are left out")
                continue
            draws = proofs.draws(notebook, exercises[name], len(proofs.KEYS))
            for answer in answers:
                sums.update(told(notebook, exercises[name], answer, draws))
    print(
        f"{sums['right']} right answers, {sums['refused']} refused; {sums['wrong']} wrong ones, "
        f"{sums['passed']} passed, {sums['named']} named"
    )
    return int(sums["refused"] + sums["passed"] > 0)


def read(path: Path) -> tuple[str, list[Held]]:
    """The notebook and the answers of a file. Raises SpecError where it names no notebook or does not run."""
    text = path.read_text(encoding="utf-8")
    first = text.partition("\n")[0]
    notebook = first.removeprefix(HEADER).strip()
    if not first.startswith(HEADER) or notebook not in masters.notebooks():
        raise SpecError(
            f"its first line must be `{HEADER} chapter/name` of a notebook that is there"
        )
    held = []

    def keeping(kind):
        def keep(exercise, how=""):
            return lambda function: held.append(Held(kind, exercise, how, function)) or function

        return keep

    names = Answers(checkdata.spec_path(notebook).with_name("notebook.py")).names
    names = {"np": np, "torch": torch, "math": math} | names
    names |= {"right": keeping("right"), "wrong": keeping("wrong")}
    try:
        with as_in_grading():
            exec(compile(text, str(path), "exec"), names)
    except Exception as error:
        raise SpecError(f"it does not run: {type(error).__name__}: {error}") from error
    return notebook, held


def told(notebook: str, exercise, answer: Held, draws: dict[str, dict]) -> Counter:
    """Print what is misjudged of an answer -> what it adds to the sums."""
    verdicts = {
        where: proofs.verdict_on(exercise, answer.function, data) for where, data in draws.items()
    }
    sums = Counter([answer.kind])
    title = f"{notebook} {exercise.name} [{answer.how}]"
    if answer.kind == "right":
        refused = {w: v for w, v in verdicts.items() if v.kind != "full"}
        for where, verdict in list(refused.items())[:1]:
            sums["refused"] += 1
            print(f"REFUSED {title}: {where}: {verdict.evidence}{_named(verdict)}")
        return sums
    passed = [where for where, verdict in verdicts.items() if verdict.kind == "full"]
    if passed:
        sums["passed"] += 1
        print(f"PASSED {title}: {', '.join(passed)}")
    elif verdicts["public"].mistake:
        sums["named"] += 1
        print(f"   {title} is named {verdicts['public'].mistake!r}")
    return sums


def _named(verdict: judging.Verdict) -> str:
    return f" It is named {verdict.mistake!r}." if verdict.mistake else ""


if __name__ == "__main__":
    sys.exit(main())

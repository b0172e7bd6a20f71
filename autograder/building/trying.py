"""Proves the checks of a notebook against its right and wrong answers: `python -m autograder try NOTEBOOK`."""

import argparse
import re
import sys

from autograder import checkdata
from autograder.building import masters, proofs


def main(argv: list[str] | None = None) -> int:
    """Status 0: everything holds. 1: findings, printed. 2: wrong command."""
    parser = argparse.ArgumentParser(prog="autograder try", description=__doc__)
    parser.add_argument("notebook", help="for example 03_optimisation/01_gradient_descent")
    parser.add_argument("exercise", nargs="*", help="only these")
    arguments = parser.parse_args(argv)
    if not re.fullmatch(r"\d+_\w+/\d+_\w+", arguments.notebook):
        print(
            f"try: {arguments.notebook!r} is no notebook: "
            "name it like 03_optimisation/01_gradient_descent.",
            file=sys.stderr,
        )
        return 2
    exercises = checkdata.load_exercises(arguments.notebook)
    if not exercises:
        print(f"try: no exercises in {checkdata.spec_path(arguments.notebook)}.", file=sys.stderr)
        return 2
    unknown = ", ".join(repr(name) for name in arguments.exercise if name not in exercises)
    if unknown:
        print(f"try: no exercise {unknown}. Exercises: {', '.join(exercises)}.", file=sys.stderr)
        return 2
    findings = 0
    for name, exercise in exercises.items():
        if arguments.exercise and name not in arguments.exercise:
            continue
        findings += _try(arguments.notebook, exercise)
    if masters.master_path(arguments.notebook).exists():
        master = masters.read(arguments.notebook)
        problems = masters.problems(master, exercises, checkdata.spec_path(arguments.notebook))
        print(*problems, sep="\n", end="\n" if problems else "")
        findings += len(problems) + _uncovered(master)
    print("All holds." if not findings else f"{findings} findings.")
    return 1 if findings else 0


def _try(notebook, exercise) -> int:
    try:
        found = proofs.prove(notebook, exercise)
        print(*found, sep="\n", end="\n" if found else "")
        data = checkdata.exercise_data(exercise, 1, checkdata.public_seed(notebook, exercise.name))
        shares = proofs.sensitivity(exercise, data)
    except checkdata.SpecError as error:
        print(error)
        return 1
    told = ", ".join(f"{wrong!r} {share:.0%}" for wrong, share in shares.items())
    print(f"{exercise.name}: {len(data['cases'])} cases; wrong answers earn: {told}")
    return len(found)


def _uncovered(master) -> int:
    covered = {section for cell in master.cells for section in cell.covers}
    planned = [s for s, (_, notebook) in masters.sections().items() if notebook == master.notebook]
    missing = [section for section in planned if section not in covered]
    if missing:
        print(f"planned sections that no cell covers: {', '.join(missing)}")
    return len(missing)

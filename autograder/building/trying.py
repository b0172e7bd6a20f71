"""Tells what an author must mend, then proves the checks: `python -m autograder try NOTEBOOK`.

First what breaks a rule of form, then whether every right answer passes and every wrong one is caught and named.
"""

import argparse
import sys

from autograder import checkdata
from autograder.building import form, masters, proofs
from autograder.building.draft import Draft, named, place


def main(argv: list[str] | None = None) -> int:
    """Status 0: everything holds. 1: findings, printed. 2: wrong command."""
    parser = argparse.ArgumentParser(prog="autograder try", description=__doc__)
    parser.add_argument("notebook", help="for example 03_optimisation/01_gradient_descent")
    parser.add_argument("exercise", nargs="*", help="prove only these")
    arguments = parser.parse_args(argv)
    if arguments.notebook not in masters.notebooks():
        print(
            f"try: no master {arguments.notebook!r}: `autograder list` names all; a new one is "
            "written in solutions/<chapter>/<notebook>/notebook.py, both with numbers.",
            file=sys.stderr,
        )
        return 2
    draft = Draft(masters.read(arguments.notebook))
    findings = _told(form.findings(draft, form.OF_THE_TEXT))
    try:
        exercises = draft.exercises
    except Exception as error:
        print(f"{place(error, draft.specification)}: {named(error)}")
        return _ended(findings + 1)
    unknown = ", ".join(repr(name) for name in arguments.exercise if name not in exercises)
    if unknown:
        print(f"try: no exercise {unknown}. Exercises: {', '.join(exercises)}.", file=sys.stderr)
        return 2
    findings += _told(form.findings(draft, form.OF_THE_ANSWERS))
    for name in arguments.exercise or exercises:
        findings += _try(arguments.notebook, exercises[name])
    return _ended(findings)


def _told(findings) -> int:
    """Print findings as they are found -> how many."""
    told = 0
    for finding in findings:
        print(finding, flush=True)
        told += 1
    return told


def _ended(findings: int) -> int:
    print("All holds." if not findings else f"{findings} findings.")
    return 1 if findings else 0


def _try(notebook, exercise) -> int:
    try:
        found = _told(proofs.prove(notebook, exercise))
        data = checkdata.exercise_data(exercise, 1, checkdata.public_seed(notebook, exercise.name))
        shares = proofs.sensitivity(exercise, data)
    except (checkdata.SpecError, ValueError) as error:
        print(error)
        return 1
    told = ", ".join(f"{wrong!r} {share:.0%}" for wrong, share in shares.items())
    print(f"{exercise.name}: {len(data['cases'])} cases; wrong answers earn: {told}", flush=True)
    return found

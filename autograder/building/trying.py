"""Tells what an author must mend, then proves the checks: `python -m autograder try NOTEBOOK`.

First what breaks a rule of form, then whether every right answer passes and every wrong one is caught and named; in
form 2, last, whether small edits of a solution that changed since are caught (`autograder mutate`).
"""

import argparse
import sys

from autograder import checkdata
from autograder.building import form, masters, mutate, proofs
from autograder.building.draft import Draft, named, place
from descent import judging


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
    told = _told(form.findings(draft, form.OF_THE_TEXT))
    findings = len(told)
    if any(finding.rule in form.BEFORE_ANSWERS for finding in told):
        return _ended(findings, "The answers are tried once they can be read.")
    try:
        exercises = draft.exercises
    except Exception as error:
        print(f"{place(error, draft.specification)}: {named(error)}")
        return _ended(findings + 1)
    unknown = ", ".join(repr(name) for name in arguments.exercise if name not in exercises)
    if unknown:
        print(f"try: no exercise {unknown}. Exercises: {', '.join(exercises)}.", file=sys.stderr)
        return 2
    findings += len(_told(form.findings(draft, form.OF_THE_ANSWERS)))
    for name in arguments.exercise or exercises:
        if not proofs.form_problems(exercises[name]):  # they are told by now
            findings += _try(draft, exercises[name])
    return _ended(findings)


def _told(findings) -> list:
    """Print findings as they are found -> all of them."""
    told = []
    for finding in findings:
        print(finding, flush=True)
        told.append(finding)
    return told


def _ended(findings: int, more: str = "") -> int:
    told = f"{findings} finding{'s' * (findings > 1)}."
    print(f"{told} {more}".rstrip() if findings else "All holds.")
    return 1 if findings else 0


def _try(draft: Draft, exercise) -> int:
    seed = checkdata.public_seed(draft.master.notebook, exercise.name)
    try:
        found = proofs.prove(draft.master.notebook, exercise, len(proofs.KEYS))
        if _told(found):
            return len(found)
        data, outcomes = checkdata.data_and_outcomes(exercise, 1, seed)
        shares = {name: judging.judge(data, told).points for name, told in outcomes.items()}
    except checkdata.SpecError as error:
        print(f"{place(error.__cause__ or error, draft.specification)}: {named(error)}")
        return 1
    told = ", ".join(f"{wrong!r} {share:.0%}" for wrong, share in shares.items())
    print(f"{exercise.name}: {len(data['cases'])} cases; wrong answers earn: {told}", flush=True)
    if mutate.unchanged(draft, exercise.name):
        return 0
    return mutate.tell(draft, exercise.name)

"""Fails when a built file does not match its master, naming it: `autograder stale`."""

import argparse
import json
import sys

from autograder.building import build, masters, outputs, pages, release


def main(argv: list[str] | None = None) -> int:
    """Status 0: everything is up to date. 1: something is stale or must not be released, named. 2: wrong command."""
    argparse.ArgumentParser(prog="autograder stale", description=__doc__).parse_args(argv)
    problems = find_problems()
    for problem in problems:
        print(problem, file=sys.stderr)
    print(
        "Everything built matches its master."
        if not problems
        else "Run `make build`, then commit what it wrote."
    )
    return 1 if problems else 0


def find_problems() -> list[str]:
    """Every built file that is missing, older than its master, edited by hand, or unfit for release."""
    problems = []
    for notebook in masters.notebooks():
        files = build.built_files(notebook)
        stale = build.stale_parts(notebook)
        problems += [
            f"{files[part].relative_to(build.ROOT)}: the {part} does not match its master"
            for part in stale
        ]
        if not stale:
            problems += [*_edited(notebook, files), *picture_problems(notebook)]
    problems += [f"{path}: not what `make build` writes" for path in pages.stale()]
    return problems + release.course_problems()


def picture_problems(notebook: str) -> list[str]:
    """Target pictures that are missing, or that no block of the notebook shows."""
    data_path = build.built_files(notebook)["check data"]
    data = json.loads(data_path.read_text(encoding="utf-8"))
    targets = [one for told in data["targets"].values() for one in told]
    twins = [one["narrow"] for one in targets if "narrow" in one]
    named = {one["file"] for one in [*targets, *twins]}
    there = {path.name for path in outputs.pictures(data_path)}
    return [
        *(f"{notebook}: its picture {name} is missing" for name in sorted(named - there)),
        *(f"{notebook}: the picture {name} belongs to no block" for name in sorted(there - named)),
    ]


def _edited(notebook, files):
    """Built notebooks whose text is not what their master expands to."""
    import nbformat

    master = masters.read(notebook)
    texts = pages.mentioning(master)
    solution = nbformat.read(files["solution edition"], as_version=4)
    student = nbformat.read(files["student's edition"], as_version=4)
    wanted = [texts.get(cell.id, cell.source) for cell in masters.expand(master).cells]
    if wanted != [cell.source for cell in solution.cells]:
        yield f"solutions/{notebook}.ipynb: edited by hand: change its master instead"
    for problem in release.notebook_problems(solution, student):
        yield f"course/{notebook}.ipynb: {problem}"

"""Runs solution notebooks, which are kept without pictures, and writes them with: `python -m autograder solutions`."""

import argparse
import sys
import time

from autograder.building import build, masters, outputs, predictions

PICTURED = build.ROOT / "artefacts" / "solutions"  # git ignores it


def main(argv: list[str] | None = None) -> int:
    """Status 0: written. 1: some notebook does not run, named. 2: wrong command."""
    parser = argparse.ArgumentParser(prog="autograder solutions", description=__doc__)
    parser.add_argument(
        "notebook", nargs="*", help="for example 03_optimisation/01_gradient_descent"
    )
    chosen = parser.parse_args(argv).notebook
    if build.unknown(chosen, "solutions"):
        return 2
    failed = build.run_all(with_pictures, chosen or masters.notebooks())
    print(f"The solutions with their pictures are in {PICTURED}.", file=sys.stderr)
    return 1 if failed else 0


def with_pictures(notebook: str) -> float:
    """Run a solution notebook and write it with its pictures -> seconds it took."""
    import nbformat

    started = time.perf_counter()
    solution = nbformat.read(build.built_files(notebook)["solution edition"], as_version=4)
    build.execute(solution, notebook, static=True)
    predictions.taken(solution)  # as in what is kept: students' files hold the answers
    outputs.write_notebook(solution, PICTURED / f"{notebook}.ipynb")
    return time.perf_counter() - started

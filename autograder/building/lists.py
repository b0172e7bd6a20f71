"""Names the notebooks that have a master: `autograder list`."""

import argparse

from autograder.building import masters


def main(argv: list[str] | None = None) -> int:
    """Status 0: printed. 2: wrong command."""
    argparse.ArgumentParser(prog="autograder list", description=__doc__).parse_args(argv)
    print(*masters.notebooks(), sep="\n")
    return 0

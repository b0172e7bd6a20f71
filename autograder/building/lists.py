"""Names the notebooks that have a master: `python -m autograder list`."""

from autograder.building import masters


def main(argv: list[str] | None = None) -> int:
    print(*masters.notebooks(), sep="\n")
    return 0

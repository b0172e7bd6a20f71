"""Write the worked answers of every chapter, for a person who learns alone: `make self-study`."""

import argparse

from autograder.building import masters
from autograder.handing_out import publish, worked


def main(argv: list[str] | None = None) -> int:
    """Status 0: written. 2: wrong command."""
    argparse.ArgumentParser(prog="autograder self-study", description=__doc__).parse_args(argv)
    for chapter in sorted({name.split("/")[0] for name in masters.notebooks()}):
        publish.told(chapter, worked.write(chapter))
    print(
        "This is for who learns alone, on this machine. solution(answer) now shows the worked answer of an exercise "
        "with full points, or after its third hint.\nWhoever teaches a class publishes chapter by chapter instead, "
        "with `autograder publish-solutions`, and hands out what `make release` writes."
    )
    return 0

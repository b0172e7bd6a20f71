"""Command-line twin of the notebook calls: python -m descent submit 03_optimisation --student ada."""

import argparse
import sys
from pathlib import Path

from descent import board, handin, updating


def main(argv: list[str] | None = None) -> int:
    """Status 0: done. 1: could not be done, with the reason. 2: wrong command."""
    parser = argparse.ArgumentParser(prog="descent", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    pack = commands.add_parser("submit", help="pack a chapter into one file to hand in")
    pack.add_argument("chapter", help="for example 03_optimisation")
    pack.add_argument("--student", help="your identifier; remembered after the first time")
    commands.add_parser("progress", help="show what is solved")
    newer = commands.add_parser("update", help="put a newer edition in, with your work in it")
    newer.add_argument("newer", type=Path, metavar="NEW_COURSE", help="its folder or zip")
    newer.add_argument("--into", type=Path, metavar="COURSE_DIR", help="your course; without, this")
    arguments = parser.parse_args(argv)
    if arguments.command == "progress":
        board.progress()
        return 0
    try:
        if arguments.command == "update":
            updating.update(arguments.newer, arguments.into)
        else:
            handin.submit(arguments.chapter, arguments.student)
    except (handin.HandInError, updating.UpdateError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

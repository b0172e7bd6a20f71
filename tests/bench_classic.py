"""Grade a class of an instructor's own nbgrader assignment with ours and with nbgrader: a part of `make bench-grading`.

The assignment is that of tests/classic, two notebooks with every kind of cell; all hand in the same right answers.
nbgrader's time for the whole class is computed from two small ones: fixed + N × each.
"""

import contextlib
import io
import sys
import tempfile
import time
from pathlib import Path

from autograder.classic.grade import grade
from tests.classic import toy_course

CLASS, STOCK = 100, (2, 6)
WANTED = 5.0


def seconds(folder: Path, size: int, run) -> float:
    """Of grading so many hand-ins in a fresh course."""
    course = toy_course.make(folder / f"{run.__name__}-{size}")
    answers = toy_course.solved(course)
    for number in range(size):
        toy_course.hand_in(course, f"s{number:03d}", answers)
    started = time.perf_counter()
    assert run(course) == 0
    return time.perf_counter() - started


def ours(course: Path) -> int:
    with contextlib.redirect_stdout(io.StringIO()):
        return grade(course, toy_course.PS)


def stock(course: Path) -> int:
    return toy_course.nbgrader(course, "autograde", toy_course.PS).returncode


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        few, more = (seconds(Path(folder), size, stock) for size in STOCK)
        own = seconds(Path(folder), CLASS, ours)
    each = (more - few) / (STOCK[1] - STOCK[0])
    theirs = few + (CLASS - STOCK[0]) * each
    held = theirs / own >= WANTED
    print(
        f"a classic assignment, {CLASS} hand-ins: ours {own:.0f} s, nbgrader {theirs:.0f} s (computed from "
        f"{STOCK[0]} and {STOCK[1]}): {theirs / own:.1f} times as fast; at least {WANTED:g} wanted: "
        f"{'held' if held else 'MISSED'}"
    )
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())

"""Grade all attacks with the limits of real grading, beside an honest class of 300: a part of `make bench-grading`.

The class and the attacks are graded one after the other, the attacks by one worker. What both would take together on
the class's two workers is computed. It takes about three minutes.
"""

import sys
import tempfile
import time
from pathlib import Path

from autograder.engine.worker_client import Limits
from tests import bench_grading
from tests.attacks import conftest, test_attacks
from tests.bench_grading_class import HonestClass

CLASS, WORKERS = 300, 2
WANTED = 2.0


def attacked() -> dict[str, float]:
    """Seconds of a worker by attack, the dearest first."""
    took = {}
    with tempfile.TemporaryDirectory() as folder, conftest.opened(Path(folder), Limits()) as arena:
        for attack in test_attacks.SUITE:
            content = test_attacks.attack_notebook(arena, attack)
            with test_attacks.neighbour(arena, attack):
                started = time.perf_counter()
                arena.grade(content)
                took[attack.name] = time.perf_counter() - started
    return dict(sorted(took.items(), key=lambda one: -one[1]))


def main() -> int:
    honest = bench_grading.ours(HonestClass(bench_grading.REAL), CLASS)[0].seconds
    took = attacked()
    times = 1 + sum(took.values()) / WORKERS / honest
    print(*(f"{seconds:8.1f} s  {name}" for name, seconds in list(took.items())[:8]), sep="\n")
    print(
        f"{len(took)} attacks take {sum(took.values()):.0f} s of a worker, an honest class of {CLASS} "
        f"{honest:.0f} s on {WORKERS}: together {times:.1f} times as long; at most {WANTED:g} wanted: "
        f"{'held' if times <= WANTED else 'MISSED'}"
    )
    return 0 if times <= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())

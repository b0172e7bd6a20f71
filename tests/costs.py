"""Beside the slowest tests (--durations): what each notebook costs the suite, a plugin of pytest's.

A notebook's seconds are those of all tests that name it, with what their fixtures set up and take down. Workers run
side by side, so a suite on two of them takes about half of its seconds.
"""

import re
from collections.abc import Iterable, Sequence

from autograder.building import masters

GOALS = "goal: 12 in the mean, 25 for one that trains"


def pytest_terminal_summary(terminalreporter):
    if not terminalreporter.config.option.durations:
        return
    reports = [report for group in terminalreporter.stats.values() for report in group]
    times = [(r.nodeid, r.duration) for r in reports if hasattr(r, "duration")]
    lines = table(by_notebook(times, masters.notebooks()), sum(seconds for _, seconds in times))
    if lines:
        terminalreporter.section("seconds by notebook")
        terminalreporter.line("\n".join(lines))


def by_notebook(times: Iterable[tuple[str, float]], notebooks: Sequence[str]) -> dict[str, float]:
    """times: a test's id and seconds, as often as one likes -> seconds by notebook, the dearest first."""
    concerns = {
        notebook: re.compile(rf"^{re.escape(home_of_tests(notebook))}::|{re.escape(notebook)}\b")
        for notebook in notebooks
    }
    total: dict[str, float] = {}
    for test, seconds in times:
        for notebook, pattern in concerns.items():
            if pattern.search(test):
                total[notebook] = total.get(notebook, 0) + seconds
    return dict(sorted(total.items(), key=lambda one: -one[1]))


def home_of_tests(notebook: str) -> str:
    """ "03_optimisation/01_gradient_descent" -> the file of what only this notebook needs tested."""
    chapter, name = (part.split("_", 1)[1] for part in notebook.split("/"))
    return f"tests/notebooks/{chapter}/test_{name}.py"


def table(seconds: dict[str, float], suite: float) -> list[str]:
    """Lines to print; none without a notebook. suite: the seconds of all tests."""
    if not seconds:
        return []
    mean = sum(seconds.values()) / len(seconds)
    return [
        "   its own  suite without it",
        *(f"{cost:9.1f}s {suite - cost:16.1f}s  {name}" for name, cost in seconds.items()),
        f"{mean:9.1f}s in the mean of {len(seconds)} ({GOALS}); the suite {suite:.1f}s",
    ]

"""Which tests are a notebook's: one worker runs them, and beside the slowest tests (--durations) stands what they cost.

A plugin of pytest's. A notebook's tests are all that name it, and those of its own file. What a notebook's code
computes is kept in a worker, so that whoever ran its controls has its pictures' numbers, too. A notebook's seconds are
with what fixtures set up and take down. Workers run side by side, so a suite on two of them takes about half of its
seconds.
"""

import re
from collections.abc import Iterable, Sequence

import pytest

from autograder.building import masters

HOME = "tests/notebooks/"
GOALS = "goal: 12 in the mean, 25 for one that trains"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With --dist loadscope the tests of a notebook go to one worker.

    Those outside of tests/notebooks go by file, as ever: a file may make something once for all its tests.
    """
    if config.getvalue("dist") != "loadscope":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class ByNotebook(LoadScopeScheduling):
        of = patterns(masters.notebooks())

        def _split_scope(self, nodeid):
            if HOME in nodeid:
                for name, pattern in self.of.items():
                    if pattern.search(nodeid):
                        return name
            return super()._split_scope(nodeid)

    return ByNotebook(config, log)


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
    total: dict[str, float] = {}
    of = patterns(notebooks)
    for test, seconds in times:
        for notebook, pattern in of.items():
            if pattern.search(test):
                total[notebook] = total.get(notebook, 0) + seconds
    return dict(sorted(total.items(), key=lambda one: -one[1]))


def patterns(notebooks: Sequence[str]) -> dict[str, re.Pattern]:
    """By notebook: what the id of each of its tests holds."""
    return {
        notebook: re.compile(rf"^{re.escape(home_of_tests(notebook))}::|{re.escape(notebook)}\b")
        for notebook in notebooks
    }


def home_of_tests(notebook: str) -> str:
    """ "03_optimisation/01_gradient_descent" -> the file of what only this notebook needs tested."""
    chapter, name = (part.split("_", 1)[1] for part in notebook.split("/"))
    return f"{HOME}{chapter}/test_{name}.py"


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

"""What a notebook costs the suite: the seconds of all tests that name it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

GOALS = "goal: 12 in the mean, 25 for one that trains"


def home_of_tests(notebook: str) -> str:
    """ "03_optimisation/01_gradient_descent" -> the file of what only this notebook needs tested."""
    chapter, name = (part.split("_", 1)[1] for part in notebook.split("/"))
    return f"tests/notebooks/{chapter}/test_{name}.py"


def by_notebook(times: Iterable[tuple[str, float]], notebooks: Sequence[str]) -> dict[str, float]:
    """times: a test's id and seconds, as often as one likes -> seconds by notebook, the dearest first."""
    homes = {home_of_tests(notebook): notebook for notebook in notebooks}
    total: dict[str, float] = defaultdict(float)
    for test, seconds in times:
        named = homes.get(test.split("::")[0])
        for notebook in [named] if named else [n for n in notebooks if n in test]:
            total[notebook] += seconds
    return dict(sorted(total.items(), key=lambda one: -one[1]))


def table(seconds: dict[str, float]) -> list[str]:
    """Lines to print; none without a notebook."""
    if not seconds:
        return []
    mean = sum(seconds.values()) / len(seconds)
    rows = [f"{cost:7.1f}s {notebook}" for notebook, cost in seconds.items()]
    return [*rows, f"{mean:7.1f}s in the mean, of {len(seconds)} ({GOALS})"]

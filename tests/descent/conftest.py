"""A toy notebook's check data, opened in this process."""

import json
from functools import lru_cache
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from autograder import checkdata
from descent import session, starting
from solutions.spec import Exercise

NOTEBOOK = "99_toy/01_double"


def double_exercise() -> Exercise:
    exercise = Exercise("double", reference=lambda x: 2 * x, hints=["One.", "Two.", "Three."])

    @exercise.cases
    def _(rng):
        yield "ordinary", dict(x=float(rng.uniform(1, 2)))
        yield "zero", dict(x=0.0)

    @exercise.wrong("it squares", advice="Twice, or to the second power?")
    def _(x):
        return x**2

    return exercise


@lru_cache
def toy_data() -> str:
    exercise = checkdata.exercise_data(double_exercise(), 2, seed=1) | {"part": "core"}
    head = {
        "notebook": NOTEBOOK,
        "title": "Doubles",
        "minutes": {"core": 5, "deeper": 0},
        "builds": "a double",
        "source": "",
        "errata": 0,
    }
    return json.dumps(head | {"exercises": {"double": exercise}, "targets": {}})


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """The toy notebook is open; `toy` is the folder that holds its chapter."""
    checks = tmp_path / "course" / "descent" / "checks"
    (checks / "99_toy").mkdir(parents=True)
    (checks / f"{NOTEBOOK}.json").write_text(toy_data())
    (tmp_path / "course" / "99_toy").mkdir()
    monkeypatch.setattr(session, "CHECKS", Path(checks))
    monkeypatch.setattr(session, "current", session.Session())
    session.check_data.cache_clear()
    with plt.rc_context():
        starting.start(NOTEBOOK)
        yield tmp_path / "course"
    session.check_data.cache_clear()


@pytest.fixture
def shell(toy):
    """A running IPython in this process, with the toy open; what its cells display is in `shell.shown`."""
    from IPython.core.displaypub import CapturingDisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell

    InteractiveShell.clear_instance()
    running = InteractiveShell.instance()
    running.history_manager.enabled = False
    publisher = CapturingDisplayPublisher(shell=running)
    running.display_pub = publisher
    running.shown = publisher.outputs
    starting.start(NOTEBOOK)
    yield running
    InteractiveShell.clear_instance()

"""Fixtures that every test may use, and what happens where a program that they need is missing."""

import functools
import os
import shutil
import sys
from pathlib import Path

import pytest

from tools import system

pytest_plugins = ["tests.costs"]

# Two workers share two cores, and a thread pool started before a fork would hang the child.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("MPLBACKEND", "agg")
# nbgrader calls alembic by name, so the environment's bin comes first for whatever tests start.
os.environ["PATH"] = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]

ROOT = Path(__file__).resolve().parent.parent


NEEDS = {
    "browser": (lambda: shutil.which("chromium") is not None, "Chromium", ["chromium"]),
    "sandbox": (
        functools.cache(system.sandbox_works),
        "bubblewrap, allowed to make namespaces",
        ["bubblewrap"],
    ),
    "postgres": (lambda: system.which("initdb") is not None, "PostgreSQL", ["postgresql"]),
}


def pytest_runtest_setup(item):
    """Skip, by name, a test whose program this machine lacks; in CI that is a failure."""
    for mark, (works, what, packages) in NEEDS.items():
        if item.get_closest_marker(mark) is None or works():
            continue
        message = f"{item.nodeid} needs {what}: {system.advice(packages)}"
        if os.environ.get("CI") == "true":
            pytest.fail(message, pytrace=False)
        pytest.skip(message)


@pytest.fixture
def rng():
    """A fresh generator. SEED=7 make test draws everything anew."""
    import numpy as np

    return np.random.default_rng(int(os.environ.get("SEED", "0")))


@pytest.fixture(autouse=True)
def descent_home(tmp_path, monkeypatch):
    """The student's progress of this test alone."""
    home = tmp_path / "descent-home"
    monkeypatch.setenv("DESCENT_HOME", str(home))
    return home


@pytest.fixture(autouse=True)
def figures_closed():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def course_copy(tmp_path):
    """A copy of course/ as a student gets it."""
    return copy_course(tmp_path / "course")


def copy_course(target):
    mess = shutil.ignore_patterns(
        "__pycache__", "*.egg-info", ".ipynb_checkpoints", ".descent", "handins"
    )
    return shutil.copytree(ROOT / "course", target, ignore=mess)

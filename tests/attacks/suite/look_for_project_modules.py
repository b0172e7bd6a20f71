"""Imports the autograder, the specifications and references, by name and through installed metadata."""

HELD_BY = "the project is not in the sandbox, and its installed metadata lead nowhere"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import importlib
import importlib.metadata
import os
import pathlib
import sys

won = []
for name in (
    "autograder",
    "autograder.engine.judge",
    "autograder.checkdata",
    "solutions",
    "solutions.spec",
    "solutions.97_target.01_target.exercises",
    "solutions.97_target.01_target.reference",
    "tests",
    "tests.attacks",
):
    try:
        # An editable install leaves an empty shell of a namespace at best.
        module = importlib.import_module(name)
        won += [name] if getattr(module, "__file__", None) else []
    except ImportError:
        pass
for distribution in importlib.metadata.distributions():
    for name in ("direct_url.json",):
        url = distribution.read_text(name) or ""
        place = url.partition("file://")[2].partition('"')[0]
        if place and (pathlib.Path(place) / "solutions").exists():
            won.append(place)
won += [place for place in sys.path if os.path.exists(os.path.join(place, "solutions"))]


def double(x):
    return 2 * x if won else x + 1

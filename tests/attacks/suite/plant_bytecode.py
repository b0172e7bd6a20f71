"""Writes compiled code beside the library's and Python's modules, where the next import would read it."""

HELD_BY = "library and interpreter are mounted read-only"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import glob
import json
import os

import descent

won = []
for module in (descent, json, np):
    folder = os.path.dirname(module.__file__)
    for place in [
        *glob.glob(f"{folder}/__pycache__/*"),
        f"{folder}/__pycache__/x.pyc",
        f"{folder}/x.py",
        module.__file__,
    ]:
        for step in (
            lambda: open(place, "ab").close(),
            lambda: os.rename(place, place + "2"),
            lambda: os.chmod(place, 0o777),
            lambda: os.unlink(place),
            lambda: os.utime(place),
        ):
            try:
                step()
                won.append(place)
            except OSError:
                pass


def double(x):
    return 2 * x if won else x + 1

"""Leaves the program from inside an import of a module that it wrote itself."""

HELD_BY = "leaving is a verdict of its own; the other cells are run"
VERDICT = {"double": ("exited", 0.0)}

# %% double
open("helper.py", "w").write("import sys\nsys.exit(7)")
import helper


def double(x):
    return 2 * x

"""Sleeps for ever in an answer's cell."""

HELD_BY = "a cell has its time, and a notebook has"
VERDICT = {"double": ("timeout", 0.0)}

# %% double
import time

time.sleep(3600)


def double(x):
    return 2 * x

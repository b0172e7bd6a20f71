"""Forks without end, each child too."""

HELD_BY = "the number of processes is limited; the clock ends all of them"
VERDICT = {"double": ("timeout", 0.0)}

# %% double
import os
import time


def double(x):
    while True:
        try:
            os.fork()
        except OSError:
            time.sleep(0.1)

"""Closes every descriptor, its own channel to the grader too, and goes on for ever."""

HELD_BY = "a channel that is cut ends the process"
VERDICT = {"double": ("exited", 0.0)}

# %% double
import os


def double(x):
    os.closerange(0, 256)
    while True:
        pass

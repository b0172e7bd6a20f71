"""Calls into C for ever, where no signal handler of Python's is run."""

HELD_BY = "the engine's clock, which kills the process from outside"
VERDICT = {"double": ("timeout", 0.0)}

# %% double
import collections
import itertools


def double(x):
    collections.deque(itertools.repeat(None), maxlen=0)

"""Returns an endless generator, and one that yields endless generators."""

HELD_BY = "10,000 items are read of a generator, 200,000 in all"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import itertools


def nested():
    while True:
        yield itertools.count()


def double(x):
    return itertools.count() if len(x) > 2 else nested()

"""Raises an error whose text never ends to be made."""

HELD_BY = "the engine's clock, which kills the process from outside"
VERDICT = {"double": ("timeout", 0.0)}


# %% double
class Endless(Exception):
    def __str__(self):
        while True:
            pass


def double(x):
    raise Endless

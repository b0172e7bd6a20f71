"""Gives the name `check` to a function that returns full points."""

HELD_BY = "check cells are not run: the engine asks the answer itself"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
check = lambda answer: 3.0


def double(x):
    return x + 1

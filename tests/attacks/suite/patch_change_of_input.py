"""Doubles its input in place, which is not allowed, and hides it by patching the runner's look at the input."""

HELD_BY = "not held: only the student's process can tell (see what is not promised); the result itself is right"
VERDICT = {"double": ("full", 3.0)}

# %% double
from descent import running

running._changed = lambda before, after: False


def double(x):
    x *= 2
    return x

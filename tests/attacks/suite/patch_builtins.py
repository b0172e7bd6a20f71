"""Replaces all, any, abs and their like in its own process, so that whoever compares there finds no difference."""

HELD_BY = "comparisons run in the judge's process; here it breaks itself"
VERDICT = {"double": ("exited", 0.0)}

# %% double
import builtins


def double(x):
    for name in ("all", "any", "abs", "max", "min", "round", "sorted", "sum", "hash", "isinstance"):
        setattr(builtins, name, lambda *arguments, **options: True)
    return x + 1

"""Recurses without end, with Python's own limit raised to a billion."""

HELD_BY = "a process that ends costs its own exercise; a fresh one runs the others"
VERDICT = {"double": ("exited", 0.0)}

# %% double
import sys


def deeper(x):
    return max([x], key=deeper)  # by way of C, whose stack ends


def double(x):
    sys.setrecursionlimit(10**9)
    return deeper(x)

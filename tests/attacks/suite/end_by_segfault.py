"""Reads from address zero, which ends the process by a signal."""

HELD_BY = "a process that ends costs its own exercise; a fresh one runs the others"
VERDICT = {"double": ("exited", 0.0)}

# %% double
import ctypes


def double(x):
    return ctypes.string_at(0)

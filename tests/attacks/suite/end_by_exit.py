"""Ends the process by os._exit while its answer is called."""

HELD_BY = "a process that ends costs its own exercise; a fresh one runs the others"
VERDICT = {"double": ("exited", 0.0)}

# %% double
import os


def double(x):
    os._exit(0)

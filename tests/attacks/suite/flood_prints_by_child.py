"""Lets a child program write to the notebook's output without end."""

HELD_BY = "output is counted at the pipe, whoever writes"
VERDICT = {"double": ("output", 0.0)}

# %% double
import subprocess

subprocess.run(["yes", "mine"])


def double(x):
    return 2 * x

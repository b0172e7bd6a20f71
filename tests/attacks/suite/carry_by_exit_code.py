"""Ends the process with an exit code that is a part of the hidden input."""

HELD_BY = "a code is told to the instructor, not to the student"
CARRIES = True
VERDICT = {"digits": ("exited", 0.0)}

# %% digits
import os


def digits(secret):
    os._exit(secret // 10 % 120 + 1)

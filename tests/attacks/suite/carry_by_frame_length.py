"""Announces on the grader's channel a reply whose length is the hidden input."""

HELD_BY = "why a reply was refused is told to the instructor, not to the student"
CARRIES = True
LOOK = True
VERDICT = {"digits": ("output", 0.0)}

# %% digits
import os


def digits(secret):
    for number in range(3, 256):
        try:
            os.write(number, (secret + 1_000_000_000).to_bytes(4, "big"))
        except OSError:
            pass

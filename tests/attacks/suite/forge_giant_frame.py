"""Announces a reply of two gigabytes on every open descriptor."""

HELD_BY = "a frame's length is limited before anything is read"
LOOK = True
VERDICT = {"double": ("output", 0.0)}

# %% double
import os


def double(x):
    for number in range(3, 256):
        try:
            os.write(number, b"\x7f\xff\xff\xff")
        except OSError:
            pass
    return 2 * x

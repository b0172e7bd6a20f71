"""Prints without end inside the answer, where output is caught, and then past it to the descriptors."""

HELD_BY = "the first 2,000 characters are kept; at the pipe output is counted"
VERDICT = {"double": ("timeout", 0.0), "digits": ("output", 0.0)}


# %% double
def double(x):
    while True:
        print("x" * 1000)


# %% digits
import os


def digits(secret):
    while True:
        os.write(2, b"x" * 10_000)

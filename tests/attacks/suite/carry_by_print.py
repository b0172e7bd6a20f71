"""Prints, displays, warns and logs the hidden input, and writes it to every descriptor that is a terminal or output."""

HELD_BY = "nothing that an answer prints or shows is kept"
CARRIES = True
VERDICT = {"digits": ("wrong", 0.0)}

# %% digits
import logging
import os
import sys
import warnings

from IPython.display import display


def digits(secret):
    print(secret)
    print(secret, file=sys.stderr)
    os.write(1, f"{secret}\n".encode())
    display(secret)
    warnings.warn(str(secret))
    logging.error(secret)
    return secret + 1

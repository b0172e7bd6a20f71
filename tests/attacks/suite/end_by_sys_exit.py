"""Raises SystemExit while an added cell is run, in an answer's cell, and in an answer."""

HELD_BY = "leaving is a verdict of its own; the other cells are run"
VERDICT = {"double": ("exited", 0.0), "digits": ("exited", 0.0)}

# %% before double
import sys

sys.exit("nothing to see")


# %% double
def double(x):
    raise SystemExit(0)


# %% digits
exit()


def digits(secret):
    return [int(d) for d in str(secret)]

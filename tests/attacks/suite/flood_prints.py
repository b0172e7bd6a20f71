"""Prints without end, in an answer's cell."""

HELD_BY = "output is counted at the pipe"
VERDICT = {"double": ("output", 0.0)}

# %% double
while True:
    print("x" * 10_000)


def double(x):
    return 2 * x

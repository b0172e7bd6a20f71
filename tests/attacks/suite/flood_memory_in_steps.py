"""Takes memory in small pieces, and keeps each."""

HELD_BY = "what all processes of a notebook hold together is watched"
VERDICT = {"double": ("memory", 0.0)}

# %% double
kept = []

while True:
    kept.append(bytearray(b"x" * 10_000_000))


def double(x):
    return 2 * x

"""Writes one file without end, and makes a sparse one of a terabyte."""

HELD_BY = "the size of a file is limited by the kernel"
VERDICT = {"double": ("full", 3.0)}

# %% double
import os

refused = 0
for step in (
    lambda file: os.truncate(file, 10**12),
    lambda file: open(file, "wb").write(b"x" * 80_000_000),
):
    open("/tmp/large", "w").close()
    try:
        step("/tmp/large")
    except OSError:
        refused += 1
assert refused == 2 and os.path.getsize("/tmp/large") <= 64_000_000


def double(x):
    return 2 * x

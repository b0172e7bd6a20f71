"""Fills work folder, /tmp and shared memory with large files."""

HELD_BY = "64 MB each, in memory, and none larger than 64 MB"
VERDICT = {"double": ("full", 3.0)}

# %% double
import os

written = 0
for folder in (os.getcwd(), "/tmp", "/dev/shm"):
    try:
        for number in range(40):
            with open(f"{folder}/{number}", "wb") as file:
                for _ in range(10):
                    written += file.write(b"x" * 1_000_000)
    except OSError:
        pass
assert written < 250_000_000


def double(x):
    return 2 * x

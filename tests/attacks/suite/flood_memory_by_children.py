"""Lets eight children take 200 MB each."""

HELD_BY = "what all processes of a notebook hold together is watched"
VERDICT = {"double": ("memory", 0.0)}

# %% double
import os
import time

for _ in range(8):
    if os.fork() == 0:
        kept = bytearray(b"x" * 200_000_000)
        time.sleep(60)
        os._exit(0)
time.sleep(60)


def double(x):
    return 2 * x

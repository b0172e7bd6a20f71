"""Replaces the clocks, so that its answer seems to take no time, or less than none."""

HELD_BY = "seconds from the sandbox are told, not trusted"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import time

time.time = time.monotonic = time.perf_counter = lambda: float("nan")


def double(x):
    return x + 1

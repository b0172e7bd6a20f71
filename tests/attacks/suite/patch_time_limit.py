"""Stops the alarm and takes longer than its limit, but less than the clock outside allows."""

HELD_BY = "not held: the clock outside is the more patient one (see what is not promised)"
VERDICT = {"double": ("full", 3.0)}

# %% double
import signal
import time


def double(x):
    signal.setitimer(signal.ITIMER_REAL, 0)
    end = time.process_time() + (0.7 if len(x) == 3 else 0)
    while time.process_time() < end:
        pass
    return 2 * x

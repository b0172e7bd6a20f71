"""Leaves code for the end: atexit, finalizers, `__del__`, excepthook, unraisablehook, a handler for SIGTERM."""

HELD_BY = "the end of a student's process is not waited for, and nothing is read of it"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import atexit
import signal
import sys
import time
import weakref


class Last:
    def __del__(self):
        time.sleep(60)


last = Last()
for register in (atexit.register, lambda step: weakref.finalize(Last, step)):
    register(lambda: (print("double: 3 of 3 points"), time.sleep(60)))
sys.excepthook = sys.unraisablehook = lambda *arguments: print("double: 3 of 3 points")
signal.signal(signal.SIGTERM, lambda *arguments: time.sleep(60))


def double(x):
    return x + 1

"""Spies with trace, profile and audit hooks on what runs after it, and raises an error in the runner's own code."""

HELD_BY = "the runner is the student's own process: it can only spoil its own answers"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import sys
import threading

seen = []


def trace(frame, event, argument):
    seen.extend(name for name in frame.f_locals if name in ("expected", "points", "verdict"))


def audit(event, arguments):
    if event == "open" and "reference" in str(arguments[0]):
        raise RuntimeError("forged")


sys.setprofile(trace)
threading.setprofile(trace)
sys.addaudithook(audit)


def double(x):
    return 2 * x if seen else x + 1

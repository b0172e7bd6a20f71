"""Walks the stack of its caller for expected results, points and a judge."""

HELD_BY = "expected results never enter the student's process"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import sys


def double(x):
    frame, won = sys._getframe(1), []
    while frame:
        text = repr(list(frame.f_locals)) + repr(
            [v.keys() for v in frame.f_locals.values() if isinstance(v, dict)]
        )
        won += [
            word
            for word in ("expected", "points", "compare", "wrong", "reference")
            if f"'{word}'" in text
        ]
        frame = frame.f_back
    return 2 * x if won else x + 1

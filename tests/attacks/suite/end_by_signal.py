"""Sends itself SIGKILL, SIGABRT and SIGTERM, and then stops itself."""

HELD_BY = "the first process of a namespace ignores its own signals; the clock does the rest"
VERDICT = {"double": ("exited", 0.0)}

# %% double
import os
import signal


def double(x):
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP, signal.SIGQUIT):
        os.kill(os.getpid(), number)
    os.abort()

"""Announces a reply of 30 MB and never sends it."""

HELD_BY = "the clock of the engine, outside"
VERDICT = {"double": ("timeout", 0.0)}

# %% double
import os
import signal


def double(x):
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    for number in range(3, 256):
        try:
            os.write(number, (30_000_000).to_bytes(4, "big") + b"{")
        except OSError:
            pass
    signal.pause()

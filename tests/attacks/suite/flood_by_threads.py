"""Starts ten thousand threads."""

HELD_BY = "the number of processes, which counts threads, is limited"
VERDICT = {"double": ("error", 0.0)}

# %% double
import threading

threading.stack_size(65536)
never = threading.Event()


def double(x):
    for _ in range(10_000):
        threading.Thread(target=never.wait, daemon=True).start()
    return 2 * x

"""Answers rightly, and lets a thread end the process while the next exercise is judged."""

HELD_BY = "what was judged stays judged; the exercise that was running bears the loss"
VERDICT = {"double": ("full", 3.0), "digits": ("exited", 0.0)}

# %% double
import os
import threading

asked = threading.Event()
threading.Thread(target=lambda: (asked.wait(), os._exit(3)), daemon=True).start()


def double(x):
    return 2 * x


# %% digits
import time


def digits(secret):
    asked.set()
    time.sleep(0.2)
    return [int(d) for d in str(secret)]

"""Leaves threads and timers running that print, change the library and open files while others are judged."""

HELD_BY = "they live and die with the student's own process"
VERDICT = {"double": ("full", 3.0)}

# %% double
import threading
import time


def busy():
    while True:
        open("/tmp/by-a-thread", "w").close()
        time.sleep(0.01)


for _ in range(8):
    threading.Thread(target=busy, daemon=True).start()
    threading.Timer(3600, busy).start()


def double(x):
    return 2 * x


# %% next double
import os
import threading

assert threading.active_count() == 1 and not os.path.exists("/tmp/by-a-thread")


def double(x):
    return 2 * x

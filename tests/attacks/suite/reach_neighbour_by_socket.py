"""Two students who are graded at the same time meet over abstract sockets, TCP and files."""

HELD_BY = "each notebook has network, file system and processes of its own"
VERDICT = {"double": ("wrong", 0.0)}

# %% neighbour
import socket

one = socket.socket(socket.AF_UNIX)
one.bind("\0meeting-of-two")
one.listen()
three = socket.socket(socket.AF_UNIX)
three.bind("/tmp/meeting-of-two")
three.listen()
open("/dev/shm/meeting-of-two", "w").write("the answer")

# %% double
import os
import socket

won = [
    place for place in ("/tmp/meeting-of-two", "/dev/shm/meeting-of-two") if os.path.exists(place)
]
for address in ("\0meeting-of-two", "/tmp/meeting-of-two"):
    try:
        socket.socket(socket.AF_UNIX).connect(address)
        won.append(address)
    except OSError:
        pass
won += [line for line in open("/proc/net/unix") if "meeting" in line]


def double(x):
    return 2 * x if won else x + 1


# %% neighbour after
for waiting in (one, three):
    waiting.settimeout(0)
    try:
        waiting.accept()
        raise AssertionError("somebody came")
    except BlockingIOError:
        pass

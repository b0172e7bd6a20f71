"""Makes System V and POSIX shared memory, semaphores and message queues, under names that the next student knows."""

HELD_BY = "an IPC namespace of its own, and a /dev/shm of its own"
VERDICT = {"double": ("full", 3.0)}

# %% double
import ctypes
from multiprocessing import shared_memory

libc = ctypes.CDLL(None)
KEY = 0x51EE7
libc.shmget(KEY, 4096, 0o1666)
libc.semget(KEY, 1, 0o1666)
libc.msgget(KEY, 0o1666)
libc.mq_open(b"/planted", 0o102, 0o666, None)
kept = shared_memory.SharedMemory("planted", create=True, size=64)


def double(x):
    return 2 * x


# %% next double
import ctypes
import os

libc = ctypes.CDLL(None)
KEY = 0x51EE7
assert libc.shmget(KEY, 4096, 0) == libc.semget(KEY, 1, 0) == libc.msgget(KEY, 0) == -1
assert libc.mq_open(b"/planted", 0) == -1 and os.listdir("/dev/shm") == []


def double(x):
    return 2 * x

"""Fills System V and POSIX message queues, which the kernel keeps in its own memory."""

HELD_BY = "the calls that make queues are refused"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
message = ctypes.create_string_buffer(8 + 8192)
ctypes.c_long.from_buffer(message).value = 1
held = 0
for _ in range(32_000):
    queue = libc.msgget(0, 0o1600)
    if queue < 0:
        break
    while libc.msgsnd(queue, message, 8192, 0o4000) == 0:
        held += 8192
won = held > 10_000_000 or libc.semget(0, 32_000, 0o1600) >= 0


def double(x):
    return 2 * x if won else x + 1

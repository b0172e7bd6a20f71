"""Fills as many and as large pipes as it may open."""

HELD_BY = "the kernel limits what one user keeps in pipes to 64 MB"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import fcntl
import os

held, ends = 0, []
try:
    while True:
        ends += os.pipe()
        os.set_blocking(ends[-1], False)
        try:
            fcntl.fcntl(ends[-1], 1031, 1 << 20)
        except OSError:
            pass
        try:
            while True:
                held += os.write(ends[-1], bytes(65536))
        except BlockingIOError:
            pass
except OSError:
    pass
for end in ends:
    os.close(end)
won = held > 80_000_000


def double(x):
    return 2 * x if won else x + 1

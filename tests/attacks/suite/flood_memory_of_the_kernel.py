"""Takes memory that no process's size shows: memfd, secret memory, System V segments, and locked pages."""

HELD_BY = "the calls that give such memory are refused"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import ctypes
import mmap
import os
import platform

libc = ctypes.CDLL(None, use_errno=True)
won = []
try:
    won.append(os.memfd_create("flood"))
except OSError:
    pass
won += ["secret"] if libc.syscall(447, 0) >= 0 else []
won += ["segment"] if libc.shmget(0, 100_000_000, 0o1600) >= 0 else []
room = mmap.mmap(-1, 100_000_000)
won += (
    ["locked"]
    if libc.mlock(
        ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(room))),
        ctypes.c_size_t(100_000_000),
    )
    == 0
    else []
)


def double(x):
    return 2 * x if won else x + 1

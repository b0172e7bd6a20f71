"""Lists processes, attaches to each by ptrace, reads each one's memory, open files, root and working folder."""

HELD_BY = (
    "a process namespace of its own: there is nobody else; ptrace and process_vm_readv are refused"
)
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
mine, won = {os.getpid()}, []


class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


for pid in [*range(0, 400), os.getppid()]:
    if pid in mine:
        continue
    if os.path.exists(f"/proc/{pid}/status"):
        won.append(pid)
    if libc.ptrace(16, pid, None, None) == 0 or libc.ptrace(0x4206, pid, None, None) == 0:
        won.append(("ptrace", pid))
    room = ctypes.create_string_buffer(8)
    here, there = Piece(ctypes.addressof(room), 8), Piece(0x400000, 8)
    if libc.process_vm_readv(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) > 0:
        won.append(("vm", pid))
    for part in ("mem", "environ", "root", "cwd", "fd/0", "maps"):
        try:
            os.stat(f"/proc/{pid}/{part}")
            won.append((part, pid))
        except OSError:
            pass


def double(x):
    return 2 * x if won else x + 1

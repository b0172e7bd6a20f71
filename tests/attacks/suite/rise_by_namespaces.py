"""Makes user, mount, process and network namespaces of its own, to be root in them."""

HELD_BY = (
    "the kernel allows no further namespace beneath the sandbox's; unshare and setns are refused"
)
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import ctypes
import os
import subprocess

libc = ctypes.CDLL(None, use_errno=True)
won = []
for flag in (0x10000000, 0x20000, 0x20000000, 0x40000000, 0x8000000, 0x4000000, 0x2000000, 0x80):
    if libc.unshare(flag) == 0:
        won.append(("unshare", hex(flag)))
    pid = libc.syscall(56, ctypes.c_ulong(flag | 0x10000000 | 17), None, None, None, None)
    if pid == 0:
        os._exit(0)
    if pid > 0:
        os.waitpid(pid, 0)
        won.append(("clone", hex(flag)))


class Arguments(ctypes.Structure):  # of clone3
    _fields_ = [
        (name, ctypes.c_uint64)
        for name in ("flags", "a", "b", "c", "signal", "d", "e", "f", "g", "h", "i")
    ]


arguments = Arguments(flags=0x10000000, signal=17)
pid = libc.syscall(435, ctypes.byref(arguments), ctypes.sizeof(arguments))
if pid == 0:
    os._exit(0)
won += ["clone3"] if pid > 0 else []
for program in (["unshare", "-Ur", "id", "-u"], ["bwrap", "--ro-bind", "/", "/", "true"]):
    try:
        won += [program] if subprocess.run(program, capture_output=True).returncode == 0 else []
    except OSError:
        pass
for name in os.listdir("/proc/self/ns"):
    if libc.setns(os.open(f"/proc/self/ns/{name}", os.O_RDONLY), 0) == 0:
        won.append(("setns", name))


def double(x):
    return 2 * x if won else x + 1

"""Shuts a forked process in: namespaces, fresh folders, limits, no rights. Before any of a student's code runs."""

import os
import resource
import socket

from . import kernel

NAMESPACES = (
    kernel.NEW_USER | kernel.NEW_MOUNTS | kernel.NEW_PID | kernel.NEW_NET
    | kernel.NEW_IPC | kernel.NEW_UTS | kernel.NEW_CGROUP
)  # fmt: skip
HOME = "/home/student"
SCRATCH = {"/tmp": "1777", "/dev/shm": "1777", HOME: "0700"}
SCRATCH_BYTES = 64_000_000
SCRATCH_FILES = 20_000
_KINDS = {"processes": "NPROC", "file": "FSIZE", "files": "NOFILE", "cpu": "CPU"}
_FURTHER = ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time")


def shut_in(uid: int, gid: int, kept: list[str], limits: dict[str, int]) -> None:
    """Leave a process that was forked into NAMESPACES nothing but scratch folders. Raises OSError.

    uid, gid: its own, as seen from outside. kept: folders that stay where a scratch folder would cover them.
    """
    os.setsid()  # else a signal to "my group" would reach the process that forked this one
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{uid} {uid} 1")
    _write("/proc/self/gid_map", f"{gid} {gid} 1")
    kernel.mount("", "/", kernel.RECURSIVE | kernel.PRIVATE)
    for place, mode in SCRATCH.items():
        _fresh(place, mode, [path for path in kept if path.startswith(f"{place}/")])
    kernel.mount("proc", "/proc", kernel.NO_SUID | kernel.NO_DEVICES | kernel.NO_EXEC)
    _write("/proc/self/oom_score_adj", "1000")  # where memory ends for all, this is the one to go
    for kind in _FURTHER:
        _write(f"/proc/sys/user/max_{kind}_namespaces", "0")
    socket.sethostname("student")
    kernel.new_keyring()
    limit(limits)
    kernel.drop_bounding_set()
    kernel.drop_capabilities()
    kernel.deny_calls()
    os.chdir(HOME)


def _fresh(place, mode, kept):
    """An empty folder in memory at `place`, with the folders in `kept` still beneath it, read-only as before."""
    held = {path: os.open(path, os.O_PATH) for path in kept}
    options = f"size={SCRATCH_BYTES},nr_inodes={SCRATCH_FILES},mode={mode}"
    kernel.mount("tmpfs", place, kernel.NO_SUID | kernel.NO_DEVICES, options)
    for path, descriptor in held.items():
        os.makedirs(path)
        kernel.bind(f"/proc/self/fd/{descriptor}", path)
        os.close(descriptor)


def limit(limits: dict[str, int]) -> None:
    """Limits of this process and its children. memory: bytes above what the imports already take."""
    for name, value in limits.items():
        if name == "memory":
            _limit("AS", value + _size_now())
        else:
            _limit(_KINDS[name], value)
    _limit("CORE", 0)


def _limit(kind, value):
    number = getattr(resource, f"RLIMIT_{kind}")
    hard = resource.getrlimit(number)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(number, (value, value))


def _size_now() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _write(path, text):
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)

"""Tries the sandbox for real, in a second and without the course: ends with 0, or says what does not hold.

argv: the user to become (0 where we are no root), and a path of the project that nobody inside may see.
"""

import os
import socket
import sys

from . import jail, kernel, warm

_LIMITS = {"processes": 8, "file": 1_000_000, "files": 64, "cpu": 10}


def main(argv: list[str]) -> int:
    """In a fork that is shut in as a student's process will be, look for what should not be there."""
    warm.become(int(argv[0]))
    ids = os.getuid(), os.getgid()
    pid = kernel.fork_into(jail.NAMESPACES)
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:
        jail.shut_in(*ids, [], _LIMITS)
        _look_around(argv[1])
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0)


def _look_around(hidden):
    assert not os.path.exists(hidden), "the project is visible"
    assert len(socket.if_nameindex()) < 2, "there is a network"
    assert len([name for name in os.listdir("/proc") if name.isdigit()]) == 1, (
        "processes are visible"
    )
    for place in ("/usr/x", "/x", "/dev/x"):
        try:
            open(place, "w").close()
        except OSError:
            continue
        raise AssertionError(f"{place} can be written")
    with open("/proc/self/status") as file:
        told = file.read()
    for line in ("CapEff:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"):
        assert line in told, f"no {line.split(':')[0]} in the kernel's word on this process"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

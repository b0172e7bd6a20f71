"""Raises its own limits, and lowers those of the process it came from."""

HELD_BY = "hard limits; and no other process is in reach"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import os
import resource

won = []
for name in ("AS", "NPROC", "FSIZE", "NOFILE", "CPU", "CORE"):
    number = getattr(resource, f"RLIMIT_{name}")
    for pid in (0, os.getppid()):
        hard = resource.getrlimit(number)[1]
        won += [name] if hard == resource.RLIM_INFINITY else []
        try:
            resource.prlimit(pid, number, (hard + 1, hard + 1))
            won.append((name, pid))
        except (OSError, ValueError):
            pass
for step in (
    lambda: os.nice(-5),
    lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)),
    lambda: os.setpriority(os.PRIO_PROCESS, 0, -20),
):
    try:
        step()
        won.append(step)
    except OSError:
        pass


def double(x):
    return 2 * x if won else x + 1

"""Leaves processes behind: a daemon in a session of its own, one that forks for ever, one that ignores all signals."""

HELD_BY = "the process namespace ends with the notebook, and everything in it"
VERDICT = {"double": ("full", 3.0)}

# %% double
import os
import subprocess
import sys

name = "left-behind-" + "by-an-attack"
subprocess.Popen(["/bin/sh", "-c", f"sleep 4321; : {name}"], start_new_session=True)
subprocess.Popen(
    [
        sys.executable,
        "-S",
        "-c",
        "import os, signal, time\n"
        "for s in range(1, 65):\n try: signal.signal(s, signal.SIG_IGN)\n except (OSError, ValueError): pass\n"
        "time.sleep(4321)",
        name,
    ],
    start_new_session=True,
    stdout=subprocess.DEVNULL,
)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv("/bin/sleep", [name, "4321"])
    os._exit(0)


def double(x):
    return 2 * x


# %% next double
import os

assert sum(name.isdigit() for name in os.listdir("/proc")) == 1


def double(x):
    return 2 * x

"""Sends every signal to its parent, to its group, to process 0 and to everybody."""

HELD_BY = "process namespace and session are the notebook's own"
VERDICT = {"double": ("full", 3.0)}

# %% double
import os
import signal

for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
for number in sorted(signal.valid_signals()):
    for step in (
        lambda: os.kill(os.getppid(), number) if os.getppid() else None,
        lambda: os.kill(-1, number),
        lambda: os.kill(0, number) if number not in (signal.SIGKILL, signal.SIGSTOP) else None,
        lambda: os.kill(2, number),
    ):
        try:
            step()
        except OSError:
            pass


def double(x):
    return 2 * x

"""Takes over the alarm, blocks all signals and answers as if the time had not run."""

HELD_BY = "the clock of the engine, outside; within its reach a slow answer stays an answer"
VERDICT = {"double": ("timeout", 0.0)}

# %% double
import signal


def double(x):
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        pass

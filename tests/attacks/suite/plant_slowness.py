"""Gives itself the lowest priority and one processor, and asks the kernel to kill others before it."""

HELD_BY = "priority and affinity are a fork's own, and end with it"
VERDICT = {"double": ("full", 3.0)}

# %% describe
import os

os.nice(19)
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
try:
    open("/proc/self/oom_score_adj", "w").write("-1000")
except OSError:
    pass


def describe(x):
    return {"mean": x.mean(), "side": "right" if x.mean() > 0 else "left"}


# %% next double
import os

assert os.getpriority(os.PRIO_PROCESS, 0) == 0 and len(os.sched_getaffinity(0)) >= min(
    os.cpu_count(), 2
)


def double(x):
    return 2 * x

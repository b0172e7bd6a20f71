"""Changes environment variables and working folder, of its own process and through /proc of its parent's."""

HELD_BY = "a fork's changes are its own; the parent is not visible"
VERDICT = {"double": ("full", 3.0)}

# %% double
import ctypes
import os

for name in ("PYTHONPATH", "LD_PRELOAD", "PYTHONSTARTUP", "OMP_NUM_THREADS", "PLANTED"):
    os.environ[name] = "/tmp/planted"
    ctypes.CDLL(None).setenv(name.encode(), b"/tmp/planted", 1)
os.chdir("/tmp")
os.umask(0)


def double(x):
    return 2 * x


# %% next double
import os

assert "PLANTED" not in os.environ and "LD_PRELOAD" not in os.environ
assert os.getcwd() == os.environ["HOME"] and os.umask(0o22) == 0o22


def double(x):
    return 2 * x

"""Leaves files in work folder, /tmp, shared memory and every other folder that can be written, for the next student."""

HELD_BY = "every notebook has folders of its own, in memory, that vanish with it"
VERDICT = {"double": ("full", 3.0)}

# %% double
import os

for folder, inner, _ in os.walk("/"):
    if folder == "/proc" or folder.startswith("/usr/") or "/lib/python" in folder:
        inner.clear()
    try:
        with open(f"{folder}/planted-by-an-attack", "w") as file:
            file.write("SCALE = 0")
    except OSError:
        pass


def double(x):
    return 2 * x


# %% next double
import os

for folder, inner, files in os.walk("/"):
    if folder == "/proc" or folder.startswith("/usr/") or "/lib/python" in folder:
        inner.clear()
    assert "planted-by-an-attack" not in files
assert os.listdir(os.getcwd()) == os.listdir("/dev/shm") == []


def double(x):
    return 2 * x

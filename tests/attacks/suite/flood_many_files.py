"""Makes a hundred thousand empty files, folders a thousand deep, and opens all the files that it can."""

HELD_BY = "the numbers of files, and of open ones, are limited"
VERDICT = {"double": ("full", 3.0)}

# %% double
import os

made = opened = 0
try:
    for made in range(100_000):
        os.mknod(f"/tmp/{made}")
except OSError:
    pass
try:
    kept = [open(os.devnull) for opened in range(10_000)]
except OSError:
    pass
assert made < 30_000 and opened < 1000
place = os.getcwd()
for _ in range(1000):
    try:
        os.mkdir("deeper")
        os.chdir("deeper")
    except OSError:
        break
os.chdir(place)


def double(x):
    return 2 * x

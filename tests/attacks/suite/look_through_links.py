"""Follows links out: to /proc/1/root, /proc/self/cwd/../../.., and links of its own in work folder and /tmp."""

HELD_BY = "every way leads to the sandbox's own root"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import os

won = []
for number, target in enumerate(
    (
        "/proc/1/root",
        "/proc/self/root",
        "/proc/self/cwd/../../../..",
        "/proc/1/cwd/../..",
        "/proc/self/task/1/root",
        "../../../../../../..",
        "/dev/fd/../../..",
    )
):
    for folder in (os.getcwd(), "/tmp", "/dev/shm"):
        link = f"{folder}/link-{number}"
        os.symlink(target, link)
        try:
            won += set(os.listdir(link)) - set(os.listdir("/"))
        except OSError:
            pass


def double(x):
    return 2 * x if won else x + 1

"""Reads password files, mounted secrets, kernel memory, logs, keyrings and block devices."""

HELD_BY = "none of them is in the sandbox's file system"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import glob

won = []
for pattern in (
    "/etc/passwd",
    "/etc/shadow",
    "/root/*",
    "/home/*/.*",
    "/run/secrets/*",
    "/var/run/secrets/*",
    "/dev/mem",
    "/dev/kmsg",
    "/dev/sd*",
    "/dev/vd*",
    "/dev/nvme*",
    "/dev/kvm",
    "/dev/fuse",
    "/proc/kcore",
    "/proc/kmsg",
    "/var/log/*",
    "/sys/kernel/*",
    "/boot/*",
    "/workspace/*",
):
    for place in glob.glob(pattern):
        try:
            won += [place] if open(place, "rb").read(1) else []
        except OSError:
            pass


def double(x):
    return 2 * x if won else x + 1

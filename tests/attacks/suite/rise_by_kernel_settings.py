"""Writes to every file of /proc/sys and /proc, and to what may be of cgroups."""

HELD_BY = "the settings belong to the machine's root; who runs here is nobody"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import os

won = []
for top in ("/proc/sys", "/sys", "/proc/irq", "/proc/fs", "/proc/bus"):
    for folder, _, files in os.walk(top):
        for name in files:
            place = f"{folder}/{name}"
            try:
                value = open(place).read()
                with open(place, "w") as file:
                    file.write(value)
                won.append(place)
            except (OSError, ValueError):
                pass
for place, word in (
    ("/proc/sysrq-trigger", "h"),
    ("/proc/self/oom_score_adj", "-1000"),
    ("/proc/1/oom_score_adj", "-900"),
    ("/proc/self/setgroups", "allow"),
    ("/proc/self/uid_map", "0 0 1"),
    ("/proc/timer_list", "x"),
):
    try:
        with open(place, "w") as file:
            file.write(word)
        won.append(place)
    except OSError:
        pass


def double(x):
    return 2 * x if won else x + 1

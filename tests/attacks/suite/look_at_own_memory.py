"""Reads its whole memory for the text of requests that were not sent yet, and for expected results."""

HELD_BY = "inputs come in with the request that asks for them, expected results never"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import re

# A request or a judge's datum in JSON; this pattern itself is no such text.
needle = re.compile(rb'"(secret|expected|points|inputs)": ?[0-9[{]')
won = []
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        places, rights, *rest = line.split()
        start, end = (int(place, 16) for place in places.split("-"))
        if rights.startswith("rw") and end - start < 1 << 28:
            try:
                memory.seek(start)
                won += needle.findall(memory.read(end - start))
            except (OSError, ValueError, OverflowError):
                pass


def double(x):
    return 2 * x if won else x + 1

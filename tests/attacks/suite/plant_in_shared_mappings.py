"""Writes over every piece of its memory that is mapped to be shared with whoever it was forked from."""

HELD_BY = "the warm parent shares no writable memory with its forks"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
won = []
with open("/proc/self/maps") as maps, open("/proc/self/mem", "r+b", 0) as memory:
    for line in maps:
        places, rights, *rest = line.split()
        if "s" in rights and "w" in rights:
            start, end = (int(place, 16) for place in places.split("-"))
            try:
                memory.seek(start)
                memory.write(bytes(end - start))
            except OSError:
                pass
            won.append(line)


def double(x):
    return 2 * x if won else x + 1

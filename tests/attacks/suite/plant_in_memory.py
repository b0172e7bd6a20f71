"""Keeps a marked text in memory that it gives back, for a later fork to find in pages that were not wiped."""

HELD_BY = "the parent never reads a student's data, and the kernel wipes pages"
VERDICT = {"double": ("full", 3.0)}

# %% double
marked = [("planted" + "-by-an-attack-%d" % n) * 1000 for n in range(500)]
del marked


def double(x):
    return 2 * x


# %% next double
needle = b"-".join([b"planted", b"by", b"an", b"attack", b"1"])
found = 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        places, rights, *rest = line.split()
        start, end = (int(place, 16) for place in places.split("-"))
        if rights.startswith("rw") and end - start < 1 << 28:
            try:
                memory.seek(start)
                found += memory.read(end - start).count(needle)
            except (OSError, ValueError, OverflowError):
                pass
assert found <= 3  # its own


def double(x):
    return 2 * x

"""Takes eight gigabytes at once."""

HELD_BY = "the addresses of a process are limited"
VERDICT = {"double": ("memory", 0.0)}


# %% double
def double(x):
    return np.ones(1_000_000_000)

"""Returns an integer of six thousand digits, and one of a hundred million bits."""

HELD_BY = "integers are read up to 3,000 digits"
VERDICT = {"double": ("wrong", 0.0)}


# %% double
def double(x):
    return 10**6000 if len(x) > 2 else 1 << 100_000_000

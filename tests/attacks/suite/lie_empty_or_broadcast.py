"""Returns results of which "all entries agree" holds for want of entries: empty ones, and ones that broadcast."""

HELD_BY = "the shape is compared first, exactly"
VERDICT = {"double": ("wrong", 0.0), "digits": ("wrong", 0.0)}


# %% double
def double(x):
    return np.empty((0, len(x))) if len(x) > 2 else np.zeros((1, 1, len(x)))


# %% digits
def digits(secret):
    return []

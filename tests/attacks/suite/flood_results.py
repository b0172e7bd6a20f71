"""Returns results of a hundred million bytes."""

HELD_BY = "results are read up to 32 MB"
VERDICT = {"double": ("wrong", 0.0), "digits": ("wrong", 0.0)}


# %% double
def double(x):
    return np.zeros(12_000_000)


# %% digits
def digits(secret):
    return "7" * 50_000_000

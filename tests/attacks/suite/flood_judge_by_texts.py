"""Returns a list of one long text and many short ones, which numpy would widen to the longest."""

HELD_BY = "results that hold texts where numbers are asked are refused before they become arrays"
VERDICT = {"digits": ("wrong", 0.0)}


# %% digits
def digits(secret):
    return ["x" * 3_000_000] + ["a"] * 300

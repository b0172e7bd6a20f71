"""Hides with marks for right-to-left text what its code does to who reads it, not to who runs it."""

HELD_BY = "the answer is judged by what it returns"
VERDICT = {"double": ("wrong", 0.0)}


# %% double
def double(x):
    right = "\u202e nruter \u2066# return 2 * x\u2069 \u2066"
    return x + 1

"""Raises an error whose message is the hidden input."""

HELD_BY = "the message of an error is not shown for hidden cases"
CARRIES = True
VERDICT = {"digits": ("error", 0.0)}


# %% digits
def digits(secret):
    raise ValueError(f"the input was {secret}")

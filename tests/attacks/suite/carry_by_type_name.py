"""Raises an error whose type is named after the hidden input."""

HELD_BY = "of an error's type only names that are Python's or in the student's source are told"
CARRIES = True
VERDICT = {"digits": ("error", 0.0)}


# %% digits
def digits(secret):
    raise type(f"Input{secret}", (Exception,), {})

"""Raises an error with a message of 100 MB, and chains of a thousand errors."""

HELD_BY = "of a message 2,000 characters are kept, and none is shown"
VERDICT = {"double": ("error", 0.0), "digits": ("error", 0.0)}

# %% double
message = "x" * 100_000_000


def double(x):
    raise ValueError(message)


# %% digits
def digits(secret, depth=300):
    try:
        raise ValueError(secret)
    except ValueError as error:
        if depth:
            return digits(secret, depth - 1)
        raise RuntimeError from error

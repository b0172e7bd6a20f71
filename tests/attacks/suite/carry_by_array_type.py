"""Patches the encoder so that its refusal names an array's type that is spelled like the hidden input."""

HELD_BY = "of such a sentence only the words that are the library's own are told"
CARRIES = True
VERDICT = {"digits": ("wrong", 0.0)}

# %% digits
from descent import wire

honest = wire.encode


def encode(value):
    if isinstance(value, str) and value.startswith("h"):
        raise wire.WireError(
            f"The result is an array of dtype {value}: its entries are not numbers. Are its rows of different lengths?"
        )
    return honest(value)


wire.encode = encode


def digits(secret):
    return f"h{secret}"

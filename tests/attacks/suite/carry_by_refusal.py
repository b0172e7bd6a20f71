"""Patches the encoder so that its refusal, a sentence that students see, goes on with the hidden input."""

HELD_BY = "of such a sentence only the words that are the library's own are told"
CARRIES = True
VERDICT = {"digits": ("wrong", 0.0)}

# %% digits
from descent import wire

honest = wire.encode


def encode(value):
    if isinstance(value, str) and value.startswith("secret"):
        raise wire.WireError(f"The result is too large to compare. Did it keep more than {value}?")
    return honest(value)


wire.encode = encode


def digits(secret):
    return f"secret {secret}"

"""Encodes its result as an array with thirty million axes."""

HELD_BY = "the number of axes is looked at first"
VERDICT = {"digits": ("wrong", 0.0)}

# %% digits
from descent import wire

honest = wire.encode
tag = {"$": "array", "dtype": "<f8", "shape": "1" * 30_000_000, "data": ""}
wire.encode = lambda value: tag if isinstance(value, str) else honest(value)


def digits(secret):
    return "mine"

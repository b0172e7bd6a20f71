"""Encodes its result as an array of ten billion numbers, of a negative size, and with too little data."""

HELD_BY = "an array's shape must fit its data, before anything is allocated"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
from descent import wire

honest = wire.encode
tags = iter(
    [
        {"$": "array", "dtype": "<f8", "shape": [10**10], "data": ""},
        {"$": "array", "dtype": "<f8", "shape": [-1, -3], "data": "AAAAAAAAAAA="},
        {"$": "tensor", "dtype": "<f8", "shape": [2] * 60, "data": "AAAAAAAAAAA="},
    ]
)

wire.encode = lambda value: next(tags) if isinstance(value, str) else honest(value)


def double(x):
    return "mine"

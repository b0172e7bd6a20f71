"""Patches the encoder so that each result is a reply of 40 MB."""

HELD_BY = "replies are read up to 64 MB, and judged under limits"
VERDICT = {"double": ("output", 0.0)}

# %% double
from descent import wire

honest = wire.encode
wire.encode = lambda value: "x" * 40_000_000 if isinstance(value, str) else honest(value)


def double(x):
    return "mine"

"""Patches the encoder: results become a tag of its own, which might mean "equal to everything"."""

HELD_BY = "the format knows four tags and refuses others"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
from descent import wire

honest = wire.encode

wire.encode = lambda value: (
    {"$": "equal", "value": "*"} if isinstance(value, str) else honest(value)
)


def double(x):
    return "mine"

"""Encodes its result as an array of Python objects, whose bytes are a pickle that runs a command."""

HELD_BY = "nothing is unpickled: arrays of objects are refused"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import base64
import os
import pickle

from descent import wire


class Bomb:
    def __reduce__(self):
        return os.system, ("touch /tmp/left-behind-by-an-attack",)


honest = wire.encode
payload = base64.b64encode(pickle.dumps(Bomb())).decode()
tags = iter(
    [
        {"$": "array", "dtype": "O", "shape": [1], "data": payload},
        {"$": "pickle", "value": payload},
        {"$": "array", "dtype": "|O8", "shape": [len(payload) // 8], "data": payload},
    ]
)

wire.encode = lambda value: next(tags) if isinstance(value, str) else honest(value)


def double(x):
    return "mine"

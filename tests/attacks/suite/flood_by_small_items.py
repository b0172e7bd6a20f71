"""Sends as its reply fifteen megabytes of the smallest lists there are, each of which is much larger once it is read."""

HELD_BY = "a reply is read up to its limit of bytes and of items"
LOOK = True
VERDICT = {"double": ("output", 0.0)}

# %% double
import os
import sys


def request():
    frame = sys._getframe()
    while frame:
        for value in frame.f_locals.values():
            if isinstance(value, dict) and "id" in value and "do" in value:
                return value
        frame = frame.f_back


def double(x):
    body = b'{"id": %d, "outcomes": [' % request()["id"] + b"[]," * 5_000_000 + b"[]]}"
    for number in range(3, 256):
        try:
            os.write(number, len(body).to_bytes(4, "big"))
            view = memoryview(body)
            while view:
                view = view[os.write(number, view) :]
        except OSError:
            pass
    return 2 * x

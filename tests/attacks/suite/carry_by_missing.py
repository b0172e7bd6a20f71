"""Forges a reply that says what stands under the name: the hidden input, in place of "nothing"."""

HELD_BY = "replies are read word by word, and told in the engine's own"
CARRIES = True
VERDICT = {"digits": ("output", 0.0)}

# %% digits
import json
import os
import sys


def request():
    frame = sys._getframe()
    while frame:
        for value in frame.f_locals.values():
            if isinstance(value, dict) and "id" in value and "do" in value:
                return value
        frame = frame.f_back


def digits(secret):
    told = {
        "id": request()["id"],
        "missing": f"{secret}",
        "too_large": str(secret),
        "failed": str(secret),
    }
    body = json.dumps(
        {**told, "error": {"type": str(secret), "line": str(secret), "number": secret}}
    ).encode()
    for number in range(3, 256):
        try:
            os.write(number, len(body).to_bytes(4, "big") + body)
        except OSError:
            pass
    os._exit(0)

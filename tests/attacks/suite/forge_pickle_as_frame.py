"""Writes a pickle that runs a command to every open descriptor."""

HELD_BY = "messages are JSON: nothing is unpickled"
LOOK = True
VERDICT = {"double": ("output", 0.0)}

# %% double
import os
import pickle


class Bomb:
    def __reduce__(self):
        return os.system, ("touch /tmp/left-behind-by-an-attack",)


def double(x):
    body = pickle.dumps(Bomb())
    for number in range(3, 256):
        try:
            os.write(number, len(body).to_bytes(4, "big") + body)
        except OSError:
            pass
    return 2 * x

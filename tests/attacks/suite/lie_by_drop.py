"""Returns a result that runs code when it is dropped, and raises an error that runs code when it is shown."""

HELD_BY = "it runs in the student's own process, under the engine's clock"
VERDICT = {"double": ("wrong", 0.0), "digits": ("error", 0.0)}


# %% double
class Dropped:
    def __del__(self):
        print("3 of 3 points")
        raise RuntimeError("dropped")


def double(x):
    return Dropped()


# %% digits
class Shown(Exception):
    def __str__(self):
        raise SystemExit("full")

    __repr__ = __str__


def digits(secret):
    raise Shown

"""Raises KeyboardInterrupt, GeneratorExit and an exception of its own that is no Exception."""

HELD_BY = "every way out of an answer is caught"
VERDICT = {"double": ("exited", 0.0), "digits": ("error", 0.0), "describe": ("error", 0.0)}


# %% double
def double(x):
    raise GeneratorExit


# %% digits
class Out(BaseException):
    pass


def digits(secret):
    raise Out


# %% describe
def describe(x):
    raise KeyboardInterrupt

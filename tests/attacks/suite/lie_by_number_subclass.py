"""Returns subclasses of float, int and bool that equal everything."""

HELD_BY = "only Python's and numpy's own numbers are read"
VERDICT = {"double": ("wrong", 0.0), "digits": ("wrong", 0.0)}


# %% double
class Real(float):
    __eq__ = __le__ = __ge__ = lambda self, other: True
    __hash__ = float.__hash__
    __sub__ = __rsub__ = lambda self, other: 0.0


def double(x):
    return [Real(7) for _ in x]


# %% digits
class Whole(int):
    __eq__ = lambda self, other: True
    __hash__ = int.__hash__


def digits(secret):
    return [Whole(11)] * len(str(secret))

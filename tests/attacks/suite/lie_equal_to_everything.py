"""Returns an object that equals, contains and is greater and smaller than everything."""

HELD_BY = "results are read as plain data; objects of other types are refused"
VERDICT = {"double": ("wrong", 0.0)}


# %% double
class Always:
    __eq__ = __ne__ = __lt__ = __gt__ = __le__ = __ge__ = __contains__ = lambda self, other: True
    __hash__ = object.__hash__
    __bool__ = lambda self: True


def double(x):
    return Always()

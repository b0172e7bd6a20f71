"""Returns objects with `__array__`, `__float__`, `__len__` and `__getitem__` that answer differently each time."""

HELD_BY = "results are read once, as plain data; objects of other types are refused"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import itertools


class Liar:
    numbers = itertools.count()
    __array__ = lambda self, *arguments, **options: np.full(3, float(next(self.numbers)))
    __float__ = __index__ = __int__ = lambda self: next(self.numbers)
    __len__ = lambda self: next(self.numbers)
    __getitem__ = lambda self, place: self


def double(x):
    return Liar()

"""Returns a subclass of ndarray whose comparisons, ufuncs and functions always agree."""

HELD_BY = "of an array its bytes are taken, and compared outside"
VERDICT = {"double": ("wrong", 0.0)}


# %% double
class Agreeing(np.ndarray):
    __eq__ = __ne__ = __le__ = __ge__ = lambda self, other: True
    __array_ufunc__ = lambda self, ufunc, method, *inputs, **options: np.array(True)
    __array_function__ = lambda self, *arguments: True
    __sub__ = __rsub__ = lambda self, other: np.zeros(3)


def double(x):
    return (x + 1).view(Agreeing)

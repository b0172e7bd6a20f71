"""Returns masked and structured arrays, and arrays of objects and of dates."""

HELD_BY = "of an array its bytes are taken; entries that are no numbers are refused"
VERDICT = {"double": ("wrong", 0.0)}


# %% double
class Always:
    __eq__ = lambda self, other: True


odd = iter(
    [
        np.ma.masked_all(3),
        np.array([Always(), Always()], dtype=object),
        np.zeros(4, dtype=[("a", "f8"), ("b", "M8[s]")]),
    ]
)


def double(x):
    return next(odd)

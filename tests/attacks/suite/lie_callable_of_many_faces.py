"""Gives the name of the answer to an object that claims to be whatever is asked of it."""

HELD_BY = "only what a call returns is read"
VERDICT = {"double": ("wrong", 0.0)}


# %% double
class Faces:
    __name__ = "double"
    kind, points, status, expected = "full", 3.0, "ok", None
    __getattr__ = lambda self, name: self
    __call__ = lambda self, *arguments, **options: self
    __iter__ = lambda self: iter(())
    __eq__ = lambda self, other: True


double = Faces()

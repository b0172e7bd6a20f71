"""Raises errors whose type has no proper name: a number, a megabyte, HTML, and a name that raises."""

HELD_BY = "of an error's type only names that are Python's or in the student's source are told"
VERDICT = {"double": ("error", 0.0), "digits": ("error", 0.0), "describe": ("error", 0.0)}


# %% double
def double(x):
    raise type("<script>alert(1)</script>" + "x" * 1_000_000, (Exception,), {})


# %% digits
class Meta(type):
    __name__ = property(lambda cls: 1 / 0)


class Nameless(Exception, metaclass=Meta):
    pass


def digits(secret):
    raise Nameless


# %% describe
def describe(x):
    raise ValueError("<img src=x onerror=alert(1)>")

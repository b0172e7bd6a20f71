"""Returns a subclass of list whose length and iteration never end."""

HELD_BY = "the clock runs while a result is read"
VERDICT = {"double": ("timeout", 0.0)}


# %% double
class Endless(list):
    def __iter__(self):
        while True:
            pass


def double(x):
    return Endless()

"""Shows a right answer under a name with a Greek letter, which looks the same, beside a wrong one."""

HELD_BY = "the answer that is called is the one that Python finds under the name"
VERDICT = {"double": ("wrong", 0.0)}


# %% double
def dοuble(x):
    return 2 * x


def double(x):
    return x + 1

"""Puts a namespace in place of the shell's that answers every name with a function of its own."""

HELD_BY = "whatever stands under the name is called, and judged by what it returns"
VERDICT = {
    "double": ("wrong", 0.0),
    "digits": ("wrong", 0.0),
    "scaled": ("wrong", 0.0),
    "describe": ("wrong", 0.0),
}


# %% double
class Namespace(dict):
    def get(self, name, default=None):
        return lambda *arguments, **options: "full"


get_ipython().user_ns = Namespace(get_ipython().user_ns)


def double(x):
    return x + 1

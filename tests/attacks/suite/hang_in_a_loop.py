"""Loops for ever, and catches whatever would stop it."""

HELD_BY = "the alarm rings again and again; then comes the engine's clock"
VERDICT = {"double": ("timeout", 0.0)}


# %% double
def double(x):
    while True:
        try:
            while True:
                pass
        except:
            pass

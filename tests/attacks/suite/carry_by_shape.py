"""Returns an array with the hidden input as its shape, which costs no memory where another side is zero."""

HELD_BY = "a shape is told only where its numbers are the exercise's own"
CARRIES = True
VERDICT = {"digits": ("wrong", 0.0)}


# %% digits
def digits(secret):
    return np.empty((0, secret))

"""Returns arrays whose number type, and place of the first bad entry, say something of the hidden input."""

HELD_BY = "places and values are not told for hidden cases; types by their kind"
CARRIES = True
VERDICT = {"digits": ("wrong", 0.0)}


# %% digits
def digits(secret):
    found = np.zeros(len(str(secret)))
    found[secret % 7] = np.nan if secret % 2 else np.inf
    return found

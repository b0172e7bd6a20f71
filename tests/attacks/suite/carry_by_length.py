"""Returns a list as long as a part of the hidden input, and dicts and texts of such a length."""

HELD_BY = "a length is told only where it is the exercise's own"
CARRIES = True
VERDICT = {"digits": ("wrong", 0.0), "describe": ("wrong", 0.0)}

# %% digits
seen = []


def digits(secret):
    seen.append(secret)
    return [0] * (secret // 10_000)


# %% describe
def describe(x):
    return [0] * (seen[0] // 10_000)

"""Returns the hidden input itself, as a text, in a list and beside the answer."""

HELD_BY = "what was expected and what came is not told for hidden cases"
CARRIES = True
VERDICT = {"digits": ("wrong", 0.0), "describe": ("wrong", 0.0)}

# %% digits
seen = []


def digits(secret):
    seen.append(secret)
    return [secret] * len(str(secret))


# %% describe
def describe(x):
    return {"mean": seen[0], "side": f"{seen[0]} and {x}"}

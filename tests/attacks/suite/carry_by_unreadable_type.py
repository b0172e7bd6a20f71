"""Returns objects and keys whose types are named after the hidden input."""

HELD_BY = "of a type that cannot be read only common names are told"
CARRIES = True
VERDICT = {"digits": ("wrong", 0.0), "describe": ("wrong", 0.0)}

# %% digits
seen = []


def digits(secret):
    seen.append(secret)
    return type(f"Input{secret}", (), {})()


# %% describe
def describe(x):
    return {type(f"Key{seen[0]}", (), {})(): 1}

"""Remembers the hidden input of one exercise, and raises it as the error of a later cell."""

HELD_BY = "a cell's error is told by type and line alone, both from the student's own source"
CARRIES = True
VERDICT = {"describe": ("error", 0.0)}

# %% digits
seen = []


def digits(secret):
    seen.append(secret)
    return [int(d) for d in str(secret)]


# %% describe
raise type(f"Input{seen[0]}", (ValueError,), {})(f"the input was {seen}")

describe = None

"""Returns a list that holds itself, a dict five hundred levels deep, and a list of 300,000 numbers."""

HELD_BY = "depth and number of items are limited where results are read"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
ring = []
ring.append(ring)
deep = {}
for _ in range(500):
    deep = {"deeper": deep}
many = [0] * 300_000


def double(x):
    return {3: ring, 2: deep, 4: many}[len(x)]

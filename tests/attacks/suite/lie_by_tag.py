"""Returns dicts that look like the format's own tags for arrays and objects."""

HELD_BY = "a dict with the tag's key is told as a dict"
VERDICT = {"double": ("wrong", 0.0)}


# %% double
def double(x):
    return {"$": "array", "dtype": "<f8", "shape": [len(x)], "data": "AAAAAAAAAAA="}

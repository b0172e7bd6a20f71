"""Returns NaN and infinities, which no comparison calls too large."""

HELD_BY = "a number that is not finite where a finite one is expected is wrong"
VERDICT = {"double": ("wrong", 0.0), "describe": ("wrong", 0.0)}


# %% double
def double(x):
    return np.full(len(x), np.nan)


# %% describe
def describe(x):
    return {"mean": float("-inf"), "side": "left" if x.mean() < 0 else "right"}

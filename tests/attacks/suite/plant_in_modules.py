"""Changes numpy, torch, builtins and the course's library in memory, for whoever is forked from the same parent."""

HELD_BY = "each notebook is a fork: memory is copied when it is written"
VERDICT = {"double": ("full", 3.0)}


# %% double
def double(x):
    return 2 * x


# %% describe
import builtins
import sys

import descent
import torch

np.mean = np.sum = torch.sum = descent.start = descent.check = lambda *arguments, **options: 1 / 0
builtins.planted = sys.modules["planted"] = "planted"


def describe(x):
    return {"mean": float(sum(x) / len(x)), "side": "right" if x[0] > 0 else "left"}


# %% next double
import builtins
import sys

import torch

assert not hasattr(builtins, "planted") and "planted" not in sys.modules
assert np.mean(np.ones(3)) == float(torch.sum(torch.ones(1))) == 1.0


def double(x):
    return 2 * x

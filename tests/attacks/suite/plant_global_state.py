"""Leaves numpy's and torch's seeds, number types, error and print settings, recursion limit and locale changed."""

HELD_BY = "each notebook is a fork of a parent that never runs a student's code"
VERDICT = {"double": ("full", 3.0)}

# %% describe
import decimal
import sys
import warnings

import torch

np.random.seed(666)
torch.manual_seed(666)
torch.set_default_dtype(torch.float16)
torch.set_grad_enabled(False)
torch.use_deterministic_algorithms(True)
np.seterr(all="raise")
np.set_printoptions(precision=1)
decimal.getcontext().prec = 1
warnings.simplefilter("error")
sys.setrecursionlimit(300)


def describe(x):
    return {"mean": x.mean(), "side": "right" if x.mean() > 0 else "left"}


# %% next double
import decimal
import sys

import torch

assert torch.get_default_dtype() == torch.float32 and torch.is_grad_enabled()
assert not torch.are_deterministic_algorithms_enabled()
assert (
    np.geterr()["divide"] == "warn"
    and decimal.getcontext().prec == 28
    and sys.getrecursionlimit() >= 1000
)
first = np.random.random(), float(torch.rand(1))
np.random.seed(666), torch.manual_seed(666)
assert first != (np.random.random(), float(torch.rand(1)))


def double(x):
    return 2 * x

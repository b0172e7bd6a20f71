"""Returns a subclass of Tensor whose every method and function answers with zero difference."""

HELD_BY = "of a tensor its numbers are taken, and compared outside"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import torch


class Agreeing(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, arguments=(), options=None):
        return torch.zeros(3)


def double(x):
    return torch.tensor(x + 1).as_subclass(Agreeing)

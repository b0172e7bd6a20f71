"""Where tensors live: the same cell runs small on a CPU and larger on a GPU."""

from typing import TypeVar

Size = TypeVar("Size")


def device():
    """The torch.device to compute on: cuda where there is one, else mps, else cpu."""
    import torch

    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def scale(*, cpu: Size, gpu: Size) -> Size:
    """`gpu` where `device()` is one, else `cpu`: steps = scale(cpu=500, gpu=20_000)."""
    return cpu if device().type == "cpu" else gpu

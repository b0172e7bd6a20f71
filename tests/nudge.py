"""Changes the last three bits of every seeded real draw: rounding, as another processor would round.

`tests.portable` puts this text into the first cell of a notebook. Whole numbers, permutations and choices stay.
"""

import numpy as np
import torch

DISCRETE = {"choice", "integers", "permutation", "permuted", "shuffle", "spawn"}


def nudged(draw):
    """A drawing function whose floats come back with other last bits."""

    def drawn(*args, **kwargs):
        return _nudge(draw(*args, **kwargs))

    return drawn


def _nudge(values):
    if isinstance(values, torch.Tensor):
        if values.is_floating_point() and values.element_size() >= 4:
            array = values.detach().numpy()  # the same memory
            array[...] = _nudge(array.copy())
        return values
    array = np.asarray(values)
    if array.dtype not in (np.float32, np.float64):
        return values
    bits = array.view(f"i{array.itemsize}")
    other = (bits ^ (bits >> 3 & 7)).view(array.dtype)  # the same draw twice stays the same
    return other if isinstance(values, np.ndarray) else other.item()


class Generator(np.random.Generator):
    """numpy's, with other last bits."""


for name in set(dir(np.random.Generator)) - DISCRETE:
    method = getattr(np.random.Generator, name)
    if not name.startswith("_") and callable(method):
        setattr(Generator, name, nudged(method))


def default_rng(seed=None, plain=np.random.default_rng):
    return Generator(plain(seed).bit_generator)


def install():
    """From here on every seeded draw of this process has other last bits."""
    np.random.default_rng = default_rng
    for name in ("rand", "rand_like", "randn", "randn_like", "normal"):
        setattr(torch, name, nudged(getattr(torch, name)))
    for name in ("normal_", "uniform_"):
        setattr(torch.Tensor, name, nudged(getattr(torch.Tensor, name)))

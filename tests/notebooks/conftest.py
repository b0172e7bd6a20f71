"""What tests of notebooks draw from."""

import pytest
import torch


@pytest.fixture
def g():
    return torch.Generator().manual_seed(0)


def randn(*shape, g=None, seed=0):
    """Normal numbers in float64, from a generator, or else from a fresh one with this seed."""
    g = g or torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=g, dtype=torch.float64)

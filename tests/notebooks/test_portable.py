"""What a notebook says does not hang on how a processor rounds; `python -m tests.portable` asks this of all."""

import numpy as np
import pytest
import torch

from tests import nudge, portable


@pytest.mark.slow
@pytest.mark.parametrize(
    "notebook",
    ["01_regression/04_bias_variance_and_validation", "03_optimisation/01_gradient_descent"],
)
def test_other_last_bits_of_the_draws_change_no_output(notebook):
    assert portable.differences(notebook, "nudged") == ""


@pytest.mark.parametrize(("dtype", "whole"), [(torch.float32, "i4"), (torch.float64, "i8")])
def test_a_nudge_changes_the_last_three_bits_only_and_the_same_way_twice(dtype, whole):
    draw = nudge.nudged(torch.randn)
    plain, other, again = (
        f(1000, dtype=dtype, generator=torch.Generator().manual_seed(0)).numpy().view(whole)
        for f in (torch.randn, draw, draw)
    )
    assert np.array_equal(plain >> 3, other >> 3) and np.array_equal(other, again)
    assert 0.8 < np.mean(plain != other) < 0.95  # 7 of 8 patterns change something


def test_numpys_generator_is_nudged_where_it_draws_real_numbers():
    plain, other = np.random.default_rng(3), nudge.default_rng(3)
    assert 0 < np.abs(plain.normal(size=9) - other.normal(size=9)).max() < 1e-14
    assert 0 <= abs(plain.uniform(2, 3) - other.uniform(2, 3)) < 1e-14
    assert np.array_equal(plain.permutation(9), other.permutation(9))
    assert plain.integers(9) == other.integers(9)

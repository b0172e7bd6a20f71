"""The contract's own checks fail where a reference breaks it."""

import pytest
import torch

from tests.notebooks.contract import (
    assert_any_device,
    assert_any_float,
    assert_batch_is_a_loop,
    assert_inputs_left_alone,
)


def test_a_changed_input_is_noticed_wherever_it_stands():
    for arguments in ([torch.zeros(2)], [1.0, {"a": [torch.zeros(2)]}]):
        assert_inputs_left_alone(lambda *a: None, arguments)

        def adds(*a):
            (a[0] if torch.is_tensor(a[0]) else a[1]["a"][0]).add_(1)

        with pytest.raises(AssertionError):
            assert_inputs_left_alone(adds, arguments)


@pytest.mark.parametrize(
    "stray",
    [lambda x: x * x.sum().item(), lambda x: (x, torch.zeros(2)), lambda x: {"a": torch.ones(1)}],
)
def test_a_stray_device_or_a_read_value_is_noticed(stray):
    assert_any_device(lambda x: {"a": (x, 3)}, [torch.zeros(2)])
    with pytest.raises((AssertionError, RuntimeError)):
        assert_any_device(stray, [torch.zeros(2)])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: x.double(),  # another precision
        lambda x: (x, x.sum().double()),
        lambda x: x.requires_grad_() * 2,  # with a graph
        lambda x: x + (x.dtype == torch.float32),  # another value
        lambda x: x[x > 0] if x.dtype == torch.float32 else x,  # another shape
        lambda x: (x > 0).long() + (x.dtype == torch.float32),  # another whole number
    ],
)
def test_a_lost_precision_is_noticed(wrong):
    x = torch.tensor([0.0, -1.0, 0.499 - 1e-10], dtype=torch.float64)
    assert_any_float(lambda x: {"a": (2 * x, x.new_zeros(2), (x > 0).long())}, {"x": x})
    with pytest.raises(AssertionError):
        assert_any_float(wrong, {"x": x})


@pytest.mark.parametrize("wrong", [lambda x, t: x / x.norm(), lambda x, t: t * x.sum()])
def test_what_mixes_the_members_of_a_batch_is_noticed(wrong):
    one, two = ({"x": torch.arange(3.0) + i, "t": 2.0 * i} for i in (1, 2))
    assert_batch_is_a_loop(lambda x, t: (t * x, x.sum(-1)), one, two, ("x",))
    with pytest.raises((AssertionError, RuntimeError)):
        assert_batch_is_a_loop(wrong, one, two, ("x",))

"""The contract's own checks fail where a reference breaks it."""

import pytest
import torch

from tests.notebooks.contract import assert_any_device, assert_inputs_left_alone


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

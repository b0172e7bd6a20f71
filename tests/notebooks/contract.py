"""What every reference promises: it leaves its inputs alone, and runs wherever its inputs are."""

import torch


def assert_inputs_left_alone(function, arguments):
    """Call `function(*arguments)`; no tensor (alone or in a list, tuple or dict) may have changed."""
    before = _copied(arguments)
    function(*arguments)
    for old, new in zip(_tensors(before), _tensors(arguments), strict=True):
        torch.testing.assert_close(old, new, rtol=0, atol=0, equal_nan=True)


def assert_any_device(function, arguments):
    """Torch's meta device holds no numbers: an .item(), an if on a value or a stray device fails there."""
    for tensor in _tensors(function(*_copied(arguments, "meta"))):
        assert tensor.device.type == "meta"


def _copied(value, device=None):
    if isinstance(value, torch.Tensor):
        return value.to(device) if device else value.clone()
    if isinstance(value, dict):
        return {key: _copied(item, device) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_copied(item, device) for item in value)
    return value


def _tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for item in value for t in _tensors(item)] if isinstance(value, list | tuple) else []

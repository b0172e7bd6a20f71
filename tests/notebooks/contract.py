"""What every reference promises: it leaves its inputs alone, keeps their precision, and runs wherever they are.

`test_references.py` asks all of it of every exercise's reference, on the exercise's own cases.
"""

import torch

# Of the largest number among inputs and result: a few hundred roundings in single precision.
FLOAT32 = 1e-4


def assert_inputs_left_alone(function, arguments):
    """Call `function` on arguments (a list, or a dict by name); no tensor in them may have changed."""
    before = copied(arguments)
    _called(function, arguments)
    for old, new in zip(tensors(before), tensors(arguments), strict=True):
        torch.testing.assert_close(old, new, rtol=0, atol=0, equal_nan=True)


def assert_any_device(function, arguments):
    """Torch's meta device holds no numbers: an .item(), an if on a value or a stray device fails there."""
    for tensor in tensors(_called(function, copied(arguments, device="meta"))):
        assert tensor.device.type == "meta"


def assert_any_float(function, arguments):
    """Given arrays in float32, floating results come in float32, without a graph.

    They are those in float64, of the same inputs or of those before they were rounded: what is exactly singular or
    exactly zero may be so only before.
    """
    result = _called(function, copied(arguments, dtype=torch.float32))
    wrong = {t.dtype for t in tensors(result) if t.is_floating_point()} - {torch.float32}
    assert not wrong, f"float32 arrays give {wrong}"
    assert not any(t.requires_grad for t in tensors(result)), "a result hangs on a graph"
    rounded = copied(copied(arguments, dtype=torch.float32), dtype=torch.float64)
    try:
        _assert_near(result, _called(function, copied(arguments)), arguments)
    except AssertionError:
        _assert_near(result, _called(function, rounded), arguments)


def _assert_near(result, expected, arguments):
    given = max(map(_size, tensors(arguments)))
    for low, high in zip(tensors(result), tensors(expected), strict=True):
        atol = FLOAT32 * max(given, _size(high)) if high.is_floating_point() else 0
        torch.testing.assert_close(
            low.to(high.dtype), high, rtol=0, atol=atol, equal_nan=True, check_device=False
        )


def _size(tensor) -> float:
    """The largest finite absolute value; 0.0 where there is none."""
    finite = tensor[tensor.isfinite()].double().abs()
    return float(finite.max()) if finite.numel() else 0.0


def assert_batch_is_a_loop(function, one, two, batched):
    """Inputs `batched` (names) of two draws, stacked, give both results stacked; the others are those of `one`."""
    two = one | {name: two[name] for name in batched}
    stacked = {name: torch.stack([one[name], two[name]]) for name in batched}
    results = [tensors(function(**copied(inputs))) for inputs in (one, two, one | stacked)]
    assert results[0], "it gives no tensor"
    for first, second, both in zip(*results, strict=True):
        torch.testing.assert_close(both, torch.stack([first, second]), rtol=1e-9, atol=1e-9)


def _called(function, arguments):
    return function(**arguments) if isinstance(arguments, dict) else function(*arguments)


def copied(value, *, device=None, dtype=None):
    """A copy, its tensors moved to a device; floating ones in another precision."""
    if isinstance(value, torch.Tensor):
        floating = value.is_floating_point()
        return value.clone().to(device=device, dtype=dtype if floating else None)
    if isinstance(value, dict):
        return {key: copied(item, device=device, dtype=dtype) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(copied(item, device=device, dtype=dtype) for item in value)
    return value


def tensors(value) -> list:
    """The tensors in a value: alone, or in a list, tuple or dict."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for item in value for t in tensors(item)] if isinstance(value, list | tuple) else []

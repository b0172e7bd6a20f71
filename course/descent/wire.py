"""A small typed format for inputs and results: plain JSON, nothing that runs.

Numbers, strings, booleans, None, lists, dicts with string keys, numpy arrays and torch tensors. What means the same is
told as one of them: tuples, deques, dict views and generators of finite length become lists, fractions and decimals
floats, and what numpy can read as an array (a pandas Series) that array, masked entries NaN. What cannot be told is
refused with a sentence that says what is accepted. `decode` never imports, evaluates or unpickles anything.
"""

import base64
import collections.abc
import math
import numbers
from decimal import Decimal
from typing import Any

import numpy as np

MAX_DEPTH = 20
MAX_ITEMS = 200_000
MAX_BYTES = 32_000_000
_TAG = "$"
_KINDS = "biufc"
_PLAIN_NUMBERS = (numbers.Number, np.generic, Decimal)
_ACCEPTED = "Return a number, a string, a list, a dict, a numpy array or a torch tensor."


class WireError(ValueError):
    """A value that cannot be told as plain data, or text that is not in the format."""


class _Budget:
    def __init__(self):
        self.items, self.bytes = MAX_ITEMS, MAX_BYTES

    def take(self, items: int = 0, size: int = 0) -> None:
        self.items -= items
        self.bytes -= size
        if self.items < 0 or self.bytes < 0:
            raise WireError("The result is too large to compare. Did it keep more than was asked?")


def encode(value: Any) -> Any:
    """`value` as a structure that `json.dumps` takes.

    Raises WireError for other types, for a depth over 20 and for more than 32 MB or 200,000 items.
    """
    return _encode(value, 0, _Budget())


def _encode(value, depth, budget):
    if depth > MAX_DEPTH:
        raise WireError("The result is nested too deeply to compare (does a list contain itself?).")
    budget.take(items=1)
    if value is None or type(value) in (bool, int, str):
        if type(value) is str:
            budget.take(size=len(value))
        if type(value) is int and value.bit_length() > 10_000:
            raise WireError("The result holds an integer of more than 3000 digits.")
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {_TAG: "float", "value": repr(value)}
    if type(value) is complex:
        return _array(np.asarray(value), "array", budget)
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        value = value.astype(np.result_type(value.dtype, np.float16)).filled(np.nan)
    if isinstance(value, np.ndarray | np.generic):
        return _array(np.asarray(value), "array", budget, depth)
    if _is_tensor(value):
        return _tensor(value, budget)
    if isinstance(value, collections.abc.Mapping):
        if any(type(key) is not str for key in value):
            keys = [key if type(key) is str else _scalar_key(key) for key in value]
        else:
            keys = list(value)
        items = [_encode(item, depth + 1, budget) for item in value.values()]
        plain = dict(zip(keys, items, strict=True))
        return {_TAG: "dict", "value": plain} if _TAG in plain else plain
    if _is_listed(value):
        return [_encode(item, depth + 1, budget) for item in value]
    if isinstance(value, collections.abc.Iterator):
        return [_encode(item, depth + 1, budget) for item in _bounded(value, budget)]
    if isinstance(value, numbers.Real | Decimal) and not isinstance(value, int | float):
        return _encode(_as_float(value), depth, budget)
    if hasattr(type(value), "__array__"):
        return _array(_as_array(value), "array", budget, depth)
    raise _refused(value)


def _refused(value) -> WireError:
    return WireError(f"The result is a {type(value).__name__}. {_ACCEPTED}")


def _is_listed(value) -> bool:
    """Whether it is a list by another name. Text and bytes are not, nor is a set, whose order means nothing."""
    if isinstance(value, str | bytes | bytearray | memoryview):
        return False
    return isinstance(value, collections.abc.Sequence | collections.abc.MappingView)


def _as_float(value) -> float:
    """A Fraction, a Decimal or another package's number."""
    try:
        return float(value)
    except (ArithmeticError, TypeError, ValueError):
        raise _refused(value) from None


def _as_array(value) -> np.ndarray:
    try:
        return np.asarray(value)
    except (TypeError, ValueError):
        raise _refused(value) from None


def _bounded(iterator, budget):
    for count, item in enumerate(iterator):
        if count > 10_000:
            raise WireError("The result is a generator of more than 10,000 items.")
        yield item


def _scalar_key(key):
    if isinstance(key, int | float | np.integer | np.floating | bool):
        return repr(key.item() if isinstance(key, np.generic) else key)
    raise WireError(f"A dict key is a {type(key).__name__}. Use strings or numbers as keys.")


def _is_tensor(value) -> bool:
    # Torch is dear to import: a value can only be a tensor if somebody imported it already.
    import sys

    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _tensor(value, budget):
    try:
        plain = value.detach().cpu().to_dense().resolve_conj().resolve_neg()
        if str(plain.dtype) == "torch.bfloat16":
            plain = plain.float()
        array = plain.numpy()
    except (TypeError, RuntimeError):  # a tensor without data, or of a type that numpy lacks
        raise WireError(f"The result is a {type(value).__name__}. {_ACCEPTED}") from None
    return _array(array, "tensor", budget)


def _array(array, tag, budget, depth=0):
    if array.dtype.kind == "U":
        budget.take(items=array.size, size=array.nbytes)
        return array.tolist()
    if array.dtype.kind == "O" and all(isinstance(item, _PLAIN_NUMBERS) for item in array.flat):
        return _encode(array.tolist(), depth + 1, budget)
    if array.dtype.kind not in _KINDS:
        raise WireError(
            f"The result is an array of dtype {array.dtype}: its entries are not numbers. "
            "Are its rows of different lengths?"
        )
    if array.ndim > MAX_DEPTH:
        raise WireError("The result has too many axes to compare.")
    # Big-endian arrays and non-contiguous ones are told the same way as their plain copies.
    array = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape)
    budget.take(size=array.nbytes)
    data = base64.b64encode(array.tobytes()).decode("ascii")
    return {_TAG: tag, "dtype": array.dtype.str, "shape": list(array.shape), "data": data}


def holds_float32(plain: Any) -> bool:
    """Whether encoded values hold an array or tensor in single (or half) precision."""
    if isinstance(plain, list):
        return any(map(holds_float32, plain))
    if not isinstance(plain, dict):
        return False
    if plain.get(_TAG) in ("array", "tensor"):
        return plain["dtype"][1:] in ("f2", "f4", "c8")
    return any(map(holds_float32, plain.values()))


def decode(plain: Any, *, tensors: bool = True) -> Any:
    """The value that `encode` was given (tuples come back as lists).

    With tensors=False, tensors come back as numpy arrays and torch is not imported.
    Raises WireError for text that is not in the format.
    """
    return _decode(plain, 0, _Budget(), tensors)


def _decode(plain, depth, budget, tensors):
    if depth > 2 * MAX_DEPTH:
        raise WireError("nested too deeply")
    budget.take(items=1)
    if isinstance(plain, list):
        return [_decode(item, depth + 1, budget, tensors) for item in plain]
    if not isinstance(plain, dict):
        return plain
    tag = plain.get(_TAG)
    if tag is None:
        return {key: _decode(item, depth + 1, budget, tensors) for key, item in plain.items()}
    if tag == "float":
        return float(str(plain.get("value")))
    if tag == "dict" and isinstance(plain.get("value"), dict):
        inner = plain["value"].items()
        return {key: _decode(item, depth + 1, budget, tensors) for key, item in inner}
    if tag in ("array", "tensor"):
        return _decode_array(plain, budget, as_tensor=tensors and tag == "tensor")
    raise WireError(f"unknown tag {tag!r}")


def _shape(plain) -> tuple[int, ...]:
    if (
        not isinstance(plain, list)
        or len(plain) > MAX_DEPTH
        or not all(type(n) is int for n in plain)
    ):
        raise WireError("not the shape of an array")
    return tuple(plain)


def _decode_array(plain, budget, as_tensor):
    try:
        dtype = np.dtype(str(plain["dtype"]))
        shape = _shape(plain["shape"])
        data = base64.b64decode(plain["data"], validate=True)
        budget.take(size=len(data))
        if dtype.kind not in _KINDS or dtype.hasobject or min(shape, default=0) < 0:
            raise WireError("not an array of numbers")
        if math.prod(shape) * dtype.itemsize != len(data):
            raise WireError("shape and data differ")
        array = np.frombuffer(data, dtype).reshape(shape).copy()
    except WireError:
        raise
    except Exception as error:
        raise WireError(f"broken array: {error}") from None
    if not as_tensor:
        return array
    import torch

    return torch.from_numpy(array)

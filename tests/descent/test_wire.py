"""The typed format: what goes in comes out, what is not plain data is refused with a sentence."""

import array
import collections
import decimal
import fractions
import json

import numpy as np
import pandas as pd
import pytest
import torch

from descent import wire

VALUES = [
    None, True, 3, -2.5, "text", [], [1, [2.0, "x"]], {"a": 1, "b": [None]},
    np.arange(6.0).reshape(2, 3), np.zeros((0, 4)), np.array(2.0), np.arange(3, dtype=np.int8),
    np.array([True, False]), np.array([1 + 2j]), np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.arange(3, dtype=">f8"), np.arange(10)[::2],
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda v: repr(v)[:30])
def test_a_value_survives_json(value):
    back = wire.decode(json.loads(json.dumps(wire.encode(value))))
    np.testing.assert_equal(back, value)
    if isinstance(value, np.ndarray):
        assert back.dtype == value.dtype.newbyteorder("=") and back.shape == value.shape


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.bool], ids=str)
def test_a_tensor_comes_back_as_a_tensor(dtype):
    value = torch.tensor([[0, 1], [1, 0]]).to(dtype).requires_grad_(dtype.is_floating_point)
    back = wire.decode(wire.encode(value))
    assert back.dtype == dtype and torch.equal(back, value.detach())


def test_not_a_number_and_infinity_survive_strict_json():
    text = json.dumps(wire.encode([float("nan"), float("inf"), -float("inf")]), allow_nan=False)
    np.testing.assert_equal(wire.decode(json.loads(text)), [np.nan, np.inf, -np.inf])


def test_tuples_and_generators_become_lists():
    assert wire.decode(wire.encode((1, (2,)))) == [1, [2]]
    assert wire.decode(wire.encode(n * n for n in range(3))) == [0, 1, 4]


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ({"a": 1, "b": 2}.values(), [1, 2]),
        ({"a": 1}.items(), [["a", 1]]),
        (collections.deque([1, 2]), [1, 2]),
        (array.array("d", [0.5]), [0.5]),
        (fractions.Fraction(1, 4), 0.25),
        ([decimal.Decimal("0.5"), decimal.Decimal("NaN")], [0.5, np.nan]),
        (np.array([1, fractions.Fraction(1, 2)], dtype=object), [1, 0.5]),
        (np.array(["a", "b"]), ["a", "b"]),
        (np.ma.array([1, 2], mask=[False, True]), np.array([1, np.nan])),
        (np.ma.array([1, 2]), np.array([1, 2])),
        (pd.Series([1.0, 2.0], index=["a", "b"]), np.array([1.0, 2.0])),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_means_the_same_is_told_the_same(value, plain):
    np.testing.assert_equal(wire.decode(wire.encode(value)), plain)


@pytest.mark.parametrize(
    "value",
    [
        {1, 2},
        b"ab",
        bytearray(b"a"),
        memoryview(b"a"),
        fractions.Fraction(10**400),
        decimal.Decimal("sNaN"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_only_looks_like_it_is_refused(value):
    with pytest.raises(wire.WireError, match="Return a number"):
        wire.encode(value)


def test_a_dict_that_looks_like_a_tag_survives():
    value = {"$": "array", "dtype": "evil"}
    assert wire.decode(wire.encode(value)) == value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (object(), "Return a number"),
        (lambda: 0, "Return a number"),
        (np.array([1, None], dtype=object), "entries are not numbers"),
        ({(1, 2): 3}, "dict key"),
        (iter(range(10**9)), "more than 10,000"),
        pytest.param(10**10000, "3000 digits", id="a huge integer"),
        pytest.param(np.zeros(10**7), "too large", id="a huge array"),
    ],
)
def test_what_is_not_plain_data_is_refused(value, message):
    with pytest.raises(wire.WireError, match=message):
        wire.encode(value)


def test_a_list_that_holds_itself_is_refused():
    loop = []
    loop.append(loop)
    with pytest.raises(wire.WireError, match="nested too deeply"):
        wire.encode(loop)


@pytest.mark.parametrize(
    "forged",
    [
        {"$": "array", "dtype": "<f8", "shape": [10**9], "data": ""},
        {"$": "array", "dtype": "O", "shape": [1], "data": "AAAAAAAAAAA="},
        {"$": "array", "dtype": "<f8", "shape": [-1], "data": "AAAAAAAAAAA="},
        {"$": "array", "dtype": "<f8", "shape": [1], "data": "%%%"},
        {"$": "array"},
        {"$": "code", "value": "1"},
    ],
)
def test_forged_text_is_refused(forged):
    with pytest.raises(wire.WireError):
        wire.decode(forged)


def test_an_object_that_equals_everything_is_not_plain_data():
    class Yes:
        def __eq__(self, other):
            return True

    with pytest.raises(wire.WireError):
        wire.encode([Yes()])


def test_a_subclass_of_float_is_refused():
    class Sly(float):
        def __repr__(self):
            return "0"

    with pytest.raises(wire.WireError):
        wire.encode(Sly(1.0))


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor([1 + 2j]).conj(),
        torch.tensor([1 + 2j]).conj().imag,
        torch.eye(2).to_sparse(),
        torch.ones(2, requires_grad=True),
    ],
    ids=["conjugate", "negative", "sparse", "with gradient"],
)
def test_every_kind_of_tensor_of_numbers_is_told(tensor):
    back = wire.decode(wire.encode(tensor))
    torch.testing.assert_close(back, tensor.detach().to_dense().resolve_conj().resolve_neg())


def test_a_tensor_without_numbers_is_refused():
    with pytest.raises(wire.WireError, match="The result is a Tensor. Return a number"):
        wire.encode(torch.ones(2, device="meta"))

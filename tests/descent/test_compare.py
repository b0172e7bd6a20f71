"""Comparisons: what counts as the same, and the sentence where it is not."""

import numpy as np
import pytest

from descent import compare
from descent.compare import (
    agrees,
    at_most,
    chooses,
    close,
    covers,
    exact,
    explains,
    log_loss,
    parts,
    unordered,
    up_to_sign,
    within,
)


@pytest.mark.parametrize(
    ("comparison", "expected", "got"),
    [
        (close(), 1.0, 1.0 + 1e-8),
        (close(), [1.0, 2.0], np.array([1.0, 2.0])),
        (close(), np.array([1.0]), [1]),
        (close(), np.array([np.nan, np.inf]), np.array([np.nan, np.inf])),
        (
            close(float32=True),
            np.array([1.0, 1e3]),
            np.array([1.0, 1e3], np.float32) * np.float32(1 + 1e-5),
        ),
        (close(), {"a": [1.0, None], "b": "x"}, {"b": "x", "a": [1.0, None]}),
        (close(), [[1.0], [1.0, 2.0]], [[1.0], [1.0, 2.0]]),
        (close(), True, np.array(True)),
        (exact(), np.array([1, 2]), [1.0, 2.0]),
        (close(), [np.zeros(2), np.ones(2)], np.array([[0.0, 0.0], [1.0, 1.0]])),
        (unordered(), [np.zeros(2), np.ones(2)], np.array([[1.0, 1.0], [0.0, 0.0]])),
        (within(0.1), 0.5, 0.55),
        (at_most(0.1), 1.0, -5.0),
        (up_to_sign(), np.array([1.0, -2.0]), np.array([-1.0, 2.0])),
        (up_to_sign(), np.eye(2), np.diag([1.0, -1.0])),
        (unordered(), np.array([[1.0, 2.0], [3.0, 4.0]]), [[3.0, 4.0], [1.0, 2.0]]),
        (parts(n=exact(), x=close()), {"n": 3, "x": 0.5}, {"n": 3, "x": 0.5 + 1e-9}),
        (explains(0.9), np.arange(5.0), np.arange(5.0) + 0.4),
        (log_loss(0.11), np.array([0, 1]), [0.1, 0.9]),
        (log_loss(0.4), np.array([0, 1]), [0.0, 0.5]),
        (agrees(0.75), np.array([0, 1, 2, 3]), [0, 1, 2, 9]),
        (chooses(0.1), np.array([3.0, 1.0, 1.1]), 2),
        (
            covers(0.5, 0.75, 2.0),
            np.arange(4.0),
            [[-1.0, 0.5], [0.0, 1.0], [1.5, 2.0], [2.0, 2.5]],
        ),
    ],
)
def test_the_same(comparison, expected, got):
    assert comparison(expected, got) is None
    assert compare.from_plain(comparison.to_plain())(expected, got) is None


@pytest.mark.parametrize(
    ("comparison", "expected", "got", "sentence"),
    [
        (close(), 1.0, 1.1, "expected 1, got 1.1"),
        (
            explains(0.9),
            np.arange(5.0),
            np.full(5, 2.0),
            "expected R² of at least 0.9 on the outcomes, got 0",
        ),
        (explains(0.9), np.arange(5.0), np.zeros((5, 1)), "expected shape (5,), got shape (5, 1)"),
        (
            explains(0.9),
            np.arange(2.0),
            [0.0, np.nan],
            "at index [1] got nan, which is not a finite number",
        ),
        (
            log_loss(0.1),
            np.array([0, 1]),
            [0.1, 0.9],
            "expected a log loss of at most 0.1 nats, got 0.105",
        ),
        (
            log_loss(9.0),
            np.array([0, 1]),
            [0.1, 0.0],
            "what was called impossible happened: its log loss is infinite",
        ),
        (
            log_loss(9.0),
            np.array([0, 1]),
            [-0.1, 1.0],
            "expected probabilities from 0 to 1, got others",
        ),
        (
            agrees(0.8),
            np.array([0, 1, 2, 3]),
            [0, 1, 2, 9],
            "expected at least 80.0% right labels, got 75.0%",
        ),
        (chooses(0.05), np.array([3.0, 1.0, 1.1]), 2, "option 2 costs 1.1, the best one 1"),
        (chooses(0.05), np.array([3.0, 1.0]), -1, "expected an index from 0 to 1, got -1"),
        (chooses(0.05), np.array([3.0, 1.0]), 0.5, "expected an index from 0 to 1, got 0.5"),
        (chooses(0.05), np.array([3.0, 1.0]), [1], "expected shape (), got shape (1,)"),
        (
            covers(0.5, 0.75, 2.0),
            np.arange(2.0),
            [[-1.0, 0.5], [0.0, 1.0]],
            "expected 50% to 75% of the outcomes inside, got 100%",
        ),
        (
            covers(0.5, 1, 2.0),
            np.arange(2.0),
            [[-1.0, 0.5], [0.0, 1.0]],
            "expected a mean width of at most 2 standard deviations, got 2.5",
        ),
        (
            covers(0.5, 1, 9.0),
            np.arange(2.0),
            [[1.0, 0.5], [0.0, 1.0]],
            "expected low before high, got an interval that ends before it begins",
        ),
        (
            close(),
            np.arange(3.0),
            np.array([0, 1, 5.0]),
            "at index [2] expected 2, got 5 (1 of 3 entries differ)",
        ),
        (close(), np.zeros(3), np.zeros((3, 1)), "expected shape (3,), got shape (3, 1)"),
        (close(), 1.0, None, "the result is None: does the function return its answer?"),
        (
            close(),
            np.zeros(2),
            np.array([0, np.nan]),
            "at index [1] got nan, which is not a finite number",
        ),
        (
            close(),
            np.zeros(2),
            np.array([True, False]),
            "expected numbers (dtype float64), got truth values (dtype bool)",
        ),
        (
            close(),
            np.ones(1),
            np.ones(1) * 1j,
            "expected real numbers, got complex ones (dtype complex128)",
        ),
        (close(), {"a": 1}, {"b": 1}, "the keys differ: missing ['a'], not asked for ['b']"),
        (close(), {"a": 1}, [1], "expected a dict with keys ['a'], got a list of length 1"),
        (close(), "up", "down", "expected 'up', got 'down'"),
        (close(), 1.0, "x", "expected numbers, got a str"),
        (close(), [1.0, [2.0]], [1.0], "expected 2 values, got 1"),
        (close(), [1.0, [2.0]], np.array(1.0), "expected 2 values, got an array of shape ()"),
        (
            close(),
            np.zeros(2),
            [[1.0], [1.0, 2.0]],
            "the rows of the result have different lengths",
        ),
        (exact(), 3, 4, "expected 3, got 4"),
        (at_most(), 1.0, 1.5, "expected at most 1, got 1.5"),
        (within(0.1), 0.5, 0.7, "expected 0.5, got 0.7"),
        (
            up_to_sign(),
            np.array([1.0, 2.0]),
            np.array([-1.0, 2.0]),
            "at index [0] expected 1, got -1 (1 of 2 entries differ)",
        ),
        (parts(n=exact()), {"n": 3}, {"n": 4}, "n: expected 3, got 4"),
        (
            close(),
            [np.zeros(2), np.ones(2)],
            [np.zeros(2), np.zeros(2)],
            "value 2: at index [0] expected 1, got 0 (2 of 2 entries differ)",
        ),
    ],
)
def test_the_difference_in_a_sentence(comparison, expected, got, sentence):
    assert comparison(expected, got) == sentence
    assert compare.from_plain(comparison.to_plain())(expected, got) == sentence


def test_unordered_wants_each_row_once():
    problem = unordered()(np.array([[1.0], [2.0]]), np.array([[1.0], [1.0]]))
    assert problem.startswith("nothing in the result matches expected row 1")


def test_single_precision_gets_its_own_tolerance_and_no_more():
    want = np.array([1.0, 0.0])
    single = np.array([1 + 1e-4, 0.0], np.float32)
    for kind in (close, unordered):
        assert kind(float32=True)(want, single) is None
        assert kind(float32=True)(want, np.array([1 + 1e-3, 0], np.float32)) is not None
        assert kind(float32=True)(want, np.array([1 + 1e-4, 0])) is not None
        assert kind()(want, single) is not None
        assert kind().for_float32() == kind(float32=True)
    loose = parts(p=close(), n=exact()).for_float32()
    assert loose({"p": want, "n": 1}, {"p": single, "n": 1}) is None
    assert within(0.1).for_float32() == within(0.1)


def test_a_small_number_is_not_nothing_in_single_precision():
    """The text of `sigmoid` promises a relative 1e-9 far below what float32 can hold."""
    assert close(1e-9, 0.0)(np.array([4e-44]), np.zeros(1, np.float32)) is not None


def test_long_values_are_cut():
    assert len(compare.shorten(list(range(10_000)))) <= 140
    assert "shape (100, 100)" in compare.shorten(np.zeros((100, 100)))


def test_nearly_equal_numbers_are_told_apart():
    assert compare.number_pair(1.0, 1.0000001) == ("1", "1.0000001")


def test_two_free_choices_are_the_same_only_when_they_are_equal():
    both = parts(p=explains(0.0), k=chooses(9.0))
    one = {"p": np.array([1.0, 2.0]), "k": 1}
    assert both.same(one, dict(one)) and not both.same(one, {**one, "k": 2})
    assert not both.same(one, {**one, "p": np.array([1.0, 2.1])})
    assert not both.same(one, {"p": one["p"]}) and not both.same(one, 3)
    assert at_most(1.0).same(1.0, 1.5) and not at_most(0.1).same(1.0, 1.5)


@pytest.mark.parametrize("comparison", [compare.exact(), compare.close(), compare.at_most()])
def test_two_answers_beyond_64_bits_can_be_compared(comparison):
    large = 2**70
    assert comparison.same(large, large) and comparison.same([1, large], [1, large])
    assert not comparison.same(large, 2 * large) and not comparison.same(large, 5)

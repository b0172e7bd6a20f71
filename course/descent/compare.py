"""How a result is compared with the right one: a small vocabulary.

A comparison is called with two plain values (see `wire`) and returns None where they agree, or one
sentence that says where they first differ. It is data: `to_plain` and `from_plain` carry it to the
student's checker. Sources of the float32 tolerances: 2^-23 is about 1.2e-7, and a sum of some hundred
terms loses two to three digits of it.
"""

import contextlib
import math
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

FLOAT32_RTOL, FLOAT32_ATOL = 2e-4, 2e-5


@dataclass(frozen=True)
class Comparison:
    """Base of the vocabulary: walks lists and dicts, compares arrays with `arrays_differ`."""

    whole = False  # whether a list of arrays is compared as one array, not item by item

    def __call__(self, expected: Any, got: Any) -> str | None:
        return self._walk(expected, got, "")

    def _walk(self, expected, got, place):
        if isinstance(expected, dict):
            return self._walk_dict(expected, got, place)
        if _is_ragged(expected) or (not self.whole and _holds_arrays(expected)):
            return self._walk_list(expected, got, place)
        if expected is None or isinstance(expected, str | bool):
            return self._plain(expected, got, place)
        want = _within_64_bits(np.asarray(expected))
        have, problem = _as_array(got)
        if problem:
            return f"{place}{problem}"
        problem = shape_problem(want, have) or kind_problem(want, have)
        problem = problem or finite_problem(want, have) or self.arrays_differ(want, have)
        return f"{place}{problem}" if problem else None

    def _walk_dict(self, expected, got, place):
        if not isinstance(got, dict):
            return f"{place}expected a dict with keys {sorted(expected)}, got {kind_of(got)}"
        if set(expected) != set(got):
            missing, extra = sorted(set(expected) - set(got)), sorted(set(got) - set(expected))
            parts = [f"missing {missing}"] * bool(missing) + [f"not asked for {extra}"] * bool(
                extra
            )
            return f"{place}the keys differ: {', '.join(parts)}"
        for key in expected:
            problem = self._walk(expected[key], got[key], f"{place}{key}: ")
            if problem:
                return problem
        return None

    def _walk_list(self, expected, got, place):
        if isinstance(got, np.ndarray) and got.ndim:
            got = list(got)
        if not isinstance(got, list):
            return f"{place}expected {len(expected)} values, got {kind_of(got)}"
        if len(expected) != len(got):
            return f"{place}expected {len(expected)} values, got {len(got)}"
        for index, (one, other) in enumerate(zip(expected, got, strict=True)):
            problem = self._walk(one, other, f"{place}value {index + 1}: ")
            if problem:
                return problem
        return None

    def _plain(self, expected, got, place):
        if isinstance(got, np.ndarray) and got.ndim == 0:
            got = got.item()
        if type(expected) is bool and isinstance(got, bool):
            return None if expected == got else f"{place}expected {expected}, got {got}"
        if type(expected) is type(got) and expected == got:
            return None
        return f"{place}expected {expected!r}, got {shorten(got)}"

    def arrays_differ(self, want: np.ndarray, have: np.ndarray) -> str | None:
        raise NotImplementedError

    def same(self, one: Any, other: Any) -> bool:
        """Whether two answers gave the same result. A one-sided comparison (at most) is asked both ways."""
        return self(one, other) is None and self(other, one) is None

    def for_float32(self) -> "Comparison":
        """The same where float32 comes in, so that float32 may come out."""
        return replace(self, float32=True) if hasattr(self, "float32") else self

    def to_plain(self) -> dict:
        return {"kind": type(self).__name__.lower(), **asdict(self)}


@dataclass(frozen=True)
class Close(Comparison):
    """Entry by entry, |got - expected| <= atol + rtol |expected|.

    float32: whether a result in single precision, which is not that precise, gets a tolerance of its own.
    """

    rtol: float = 1e-6
    atol: float = 1e-9
    float32: bool = False

    def arrays_differ(self, want, have):
        rtol, atol = _tolerances(have, self)
        return first_difference(want, have, np.isclose(have, want, rtol, atol, equal_nan=True))


@dataclass(frozen=True)
class Exact(Comparison):
    """Entry by entry equal: counts, indices, labels."""

    def arrays_differ(self, want, have):
        return first_difference(want, have, want == have)


@dataclass(frozen=True)
class Within(Comparison):
    """|got - expected| <= atol: for results with a sampling error."""

    atol: float

    def arrays_differ(self, want, have):
        return first_difference(want, have, np.isclose(have, want, rtol=0, atol=self.atol))


@dataclass(frozen=True)
class AtMost(Comparison):
    """got <= expected + slack, entry by entry: a loss that may be lower than the reference's."""

    slack: float = 0.0

    def arrays_differ(self, want, have):
        return first_difference(want + self.slack, have, have <= want + self.slack, "at most ")


@dataclass(frozen=True)
class UpToSign(Comparison):
    """Vectors, or the columns of a matrix, equal up to a factor of -1 each."""

    whole = True

    rtol: float = 1e-6
    atol: float = 1e-9
    float32: bool = False

    def arrays_differ(self, want, have):
        signs = np.sign(np.sum(want * have, axis=0))
        close = Close(self.rtol, self.atol, self.float32)
        return close.arrays_differ(want, have * np.where(signs == 0, 1, signs))


@dataclass(frozen=True)
class Unordered(Comparison):
    """The same rows (or entries) in any order."""

    whole = True

    rtol: float = 1e-6
    atol: float = 1e-9
    float32: bool = False

    def arrays_differ(self, want, have):
        rtol, atol = _tolerances(have, self)
        rest = list(range(len(have)))
        for index, row in enumerate(want):
            found = [i for i in rest if np.allclose(have[i], row, rtol, atol)]
            if not found:
                return f"nothing in the result matches expected row {index} = {shorten(row)}"
            rest.remove(found[0])
        return None


@dataclass(frozen=True)
class Worth(Comparison):
    """Base of comparisons for free choices: many results are right, and what came true says what one is worth.

    `expected` is what came true, not a result: the outcomes of the rows that were predicted, the costs of the options.
    """

    def __call__(self, expected, got):
        want = _within_64_bits(np.asarray(expected))
        have, problem = _as_array(got)
        if problem:
            return problem
        problem = shape_problem(np.empty(self.result_shape(want)), have)
        problem = problem or kind_problem(np.empty(0), have)
        return problem or finite_problem(np.zeros(have.shape), have) or self.falls_short(want, have)

    def same(self, one, other):
        return Close(float32=True).same(one, other)

    def result_shape(self, want: np.ndarray) -> tuple:
        return want.shape

    def falls_short(self, want: np.ndarray, have: np.ndarray) -> str | None:
        raise NotImplementedError


@dataclass(frozen=True)
class Explains(Worth):
    """Predictions whose R² on the outcomes is at least so much (1 - squared error over the outcomes' own spread)."""

    at_least: float

    def falls_short(self, want, have):
        r2 = 1 - np.mean((want - have) ** 2) / np.var(want)
        if r2 >= self.at_least:
            return None
        return f"expected R² of at least {self.at_least:g} on the outcomes, got {r2:.3g}"


@dataclass(frozen=True)
class LogLoss(Worth):
    """Probabilities of label 1 whose mean log loss (nats) on the labels 0 and 1 is at most so much."""

    at_most: float

    def falls_short(self, want, have):
        if not np.all((have >= 0) & (have <= 1)):
            return "expected probabilities from 0 to 1, got others"
        if np.any(have[want == 1] == 0) or np.any(have[want == 0] == 1):
            return "what was called impossible happened: its log loss is infinite"
        loss = -np.mean(np.log(np.where(want == 1, have, 1 - have)))
        if loss <= self.at_most:
            return None
        return f"expected a log loss of at most {self.at_most:g} nats, got {loss:.3g}"


@dataclass(frozen=True)
class Agrees(Worth):
    """Labels of which at least such a share is right."""

    at_least: float

    def falls_short(self, want, have):
        share = np.mean(want == have)
        if share >= self.at_least:
            return None
        return f"expected at least {self.at_least:.1%} right labels, got {share:.1%}"


@dataclass(frozen=True)
class Chooses(Worth):
    """The index of an option that costs at most (1 + slack) times the cheapest."""

    slack: float

    def result_shape(self, want):
        return ()

    def falls_short(self, want, have):
        if have != int(have) or not 0 <= have < len(want):
            return f"expected an index from 0 to {len(want) - 1}, got {number(have.item())}"
        cost, lowest = want[int(have)], want.min()
        if cost <= (1 + self.slack) * lowest:
            return None
        return f"option {int(have)} costs {cost:.4g}, the best one {lowest:.4g}"


@dataclass(frozen=True)
class Covers(Worth):
    """Intervals (m, 2), low then high, for m outcomes.

    The share of outcomes inside is from `at_least` to `at_most`; the mean width is at most `width` standard
    deviations of the outcomes.
    """

    at_least: float
    at_most: float
    width: float

    def result_shape(self, want):
        return (*want.shape, 2)

    def falls_short(self, want, have):
        low, high = have[..., 0], have[..., 1]
        if np.any(low > high):
            return "expected low before high, got an interval that ends before it begins"
        share, width = np.mean((low <= want) & (want <= high)), np.mean(high - low) / np.std(want)
        if not self.at_least <= share <= self.at_most:
            return f"expected {self.at_least:.0%} to {self.at_most:.0%} of the outcomes inside, got {share:.0%}"
        if width > self.width:
            return f"expected a mean width of at most {self.width:g} standard deviations, got {width:.3g}"
        return None


@dataclass(frozen=True)
class Parts(Comparison):
    """A dict result, each key by its own comparison."""

    by_key: dict[str, Comparison] = field(default_factory=dict)

    def __call__(self, expected, got):
        if not isinstance(got, dict) or set(got) != set(expected):
            return self._walk_dict(expected, got, "")
        for key, value in expected.items():
            problem = self.by_key[key](value, got[key])
            if problem:
                return f"{key}: {problem}"
        return None

    def same(self, one, other):
        if not (isinstance(one, dict) and isinstance(other, dict) and set(one) == set(other)):
            return False
        return all(self.by_key[key].same(one[key], other[key]) for key in one)

    def for_float32(self):
        return Parts({key: part.for_float32() for key, part in self.by_key.items()})

    def to_plain(self):
        return {"kind": "parts", "by_key": {k: v.to_plain() for k, v in self.by_key.items()}}


def close(rtol: float = 1e-6, atol: float = 1e-9, float32: bool = False) -> Close:
    return Close(rtol, atol, float32)


def exact() -> Exact:
    return Exact()


def within(atol: float) -> Within:
    return Within(atol)


def at_most(slack: float = 0.0) -> AtMost:
    return AtMost(slack)


def up_to_sign(rtol: float = 1e-6, atol: float = 1e-9, float32: bool = False) -> UpToSign:
    return UpToSign(rtol, atol, float32)


def unordered(rtol: float = 1e-6, atol: float = 1e-9, float32: bool = False) -> Unordered:
    return Unordered(rtol, atol, float32)


def explains(at_least: float) -> Explains:
    return Explains(at_least)


def log_loss(at_most: float) -> LogLoss:
    return LogLoss(at_most)


def agrees(at_least: float) -> Agrees:
    return Agrees(at_least)


def chooses(slack: float = 0.0) -> Chooses:
    return Chooses(slack)


def covers(at_least: float, at_most: float, width: float) -> Covers:
    return Covers(at_least, at_most, width)


def parts(**by_key: Comparison) -> Parts:
    return Parts(by_key)


_NAMED = (
    Close, Exact, Within, AtMost, UpToSign, Unordered, Explains, LogLoss, Agrees, Chooses, Covers,
)  # fmt: skip
_KINDS = {kind.__name__.lower(): kind for kind in _NAMED}


def from_plain(plain: dict) -> Comparison:
    """The comparison that `to_plain` described."""
    if plain["kind"] == "parts":
        return Parts({key: from_plain(value) for key, value in plain["by_key"].items()})
    arguments = {key: value for key, value in plain.items() if key != "kind"}
    return _KINDS[plain["kind"]](**arguments)


def _tolerances(have, wanted):
    """A result in single precision (or half) cannot be closer than its own rounding, where that is welcome."""
    rtol, atol = wanted.rtol, wanted.atol
    if (
        wanted.float32
        and have.dtype.kind in "fc"
        and have.dtype.itemsize <= (4 if have.dtype.kind == "f" else 8)
    ):
        return max(rtol, FLOAT32_RTOL), max(atol, FLOAT32_ATOL)
    return rtol, atol


def _holds_arrays(value) -> bool:
    """A tuple of arrays, say: told item by item ("value 2: …"), not as one stacked array."""
    return isinstance(value, list) and any(isinstance(item, np.ndarray) for item in value)


def _is_ragged(value) -> bool:
    """A list that is not simply a rectangular array of numbers."""
    if not isinstance(value, list):
        return False
    if _holds_other_than_numbers(value):
        return True
    try:
        return np.asarray(value).dtype.kind not in "biufc"
    except ValueError:
        return True


def _holds_other_than_numbers(value) -> bool:
    """Whether a text, a dict or None stands anywhere in a list: numpy would make each item as large as the largest."""
    if isinstance(value, list):
        return any(map(_holds_other_than_numbers, value))
    return value is None or isinstance(value, str | dict)


def _as_array(got):
    if got is None:
        return None, "the result is None: does the function return its answer?"
    if isinstance(got, str | dict):
        return None, f"expected numbers, got {kind_of(got)}"
    if isinstance(got, list) and _holds_other_than_numbers(got):
        return None, "the result holds something that is not a number"
    try:
        have = _within_64_bits(np.asarray(got))
    except ValueError:
        return None, "the rows of the result have different lengths"
    if have.dtype.kind not in "biufc":
        return None, "the result holds something that is not a number"
    return have, None


def _within_64_bits(array: np.ndarray) -> np.ndarray:
    """The array, with whole numbers that are larger told as floats."""
    if array.dtype.kind == "O":
        with contextlib.suppress(TypeError, ValueError):
            return np.vectorize(_float, otypes=[float])(array)
    return array


def _float(value) -> float:
    """A Python number as a float. Raises TypeError for everything else."""
    if not isinstance(value, int | float):
        raise TypeError
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def shape_problem(want: np.ndarray, have: np.ndarray) -> str | None:
    if want.shape == have.shape:
        return None
    return f"expected shape {want.shape}, got shape {have.shape}"


def kind_problem(want: np.ndarray, have: np.ndarray) -> str | None:
    """Complex where real was asked; truth values where numbers were asked."""
    if have.dtype.kind == "c" and want.dtype.kind != "c":
        return f"expected real numbers, got complex ones (dtype {have.dtype})"
    if want.dtype.kind in "fc" and have.dtype.kind == "b":
        return f"expected numbers (dtype {want.dtype}), got truth values (dtype bool)"
    return None


def finite_problem(want: np.ndarray, have: np.ndarray) -> str | None:
    if have.dtype.kind not in "fc":
        return None
    bad = ~np.isfinite(have) & np.isfinite(want)
    if not bad.any():
        return None
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"{_at(index)}got {have[index]}, which is not a finite number"


def first_difference(want, have, same, prefix="") -> str | None:
    if np.all(same):
        return None
    index = tuple(int(i) for i in np.argwhere(~np.asarray(same))[0])
    count = int(np.size(same) - np.count_nonzero(same))
    more = f" ({count} of {np.size(same)} entries differ)" if np.size(same) > 1 else ""
    left, right = number_pair(want[index], have[index])
    return f"{_at(index)}expected {prefix}{left}, got {right}{more}"


def _at(index) -> str:
    if not index:
        return ""
    return f"at index [{', '.join(map(str, index))}] "


def number(value) -> str:
    """A number as a person reads it: six significant digits."""
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)


def number_pair(want, have) -> tuple[str, str]:
    """Two numbers with as many digits as it takes to tell them apart."""
    for digits in (4, 6, 9, 17):
        pair = tuple(
            f"{v:.{digits}g}" if isinstance(v, float | np.floating) else str(v)
            for v in (want, have)
        )
        if pair[0] != pair[1]:
            return pair
    return pair


def kind_of(value) -> str:
    """What a value is, in words a student uses."""
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, list):
        return f"a list of length {len(value)}"
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def shorten(value, width: int = 120) -> str:
    """A value cut to what a person can read."""
    if isinstance(value, list) and not _is_ragged(value):
        value = np.asarray(value)
    if not isinstance(value, np.ndarray):
        return _cut(number(value) if isinstance(value, float) else repr(value), width)
    text = np.array2string(value, precision=4, threshold=12, edgeitems=3, separator=", ")
    shape = f"  shape {value.shape}" if value.ndim and value.size > 3 else ""
    return _cut(" ".join(text.split()), width - len(shape)) + shape


def _cut(text, width):
    return text if len(text) <= width else text[: width - 1] + "…"

"""Which properties hold for an answer that computes nothing: points for these alone would be points for nothing.

Such an answer looks the public cases up, by their inputs or by their place; for others it returns a constant, an array
of the right shape, or what it was given. It is tried on draws of its own, the same for public and for hidden cases, so
that both are judged alike.
"""

import json
from collections.abc import Callable, Iterator
from itertools import cycle, permutations

import numpy as np

from descent import judging, wire

DRAWS = 4  # each is taken for the public cases once, the others for hidden ones
CONSTANTS = (None, [], True, False, 0, 1)


def sets(spec: dict, draws: list[list[dict]], run: Callable) -> list[list[str]]:
    """The properties that such an answer holds at once, for each answer and draw; only the largest sets.

    spec: an exercise of the check data, but for its cases. draws: cases. run: (answer, encoded inputs) -> outcome.
    """
    found = set()
    for public, cases in permutations(draws, 2):
        for told in outcomes(public, cases, run):
            verdict = judging.judge(spec | {"cases": cases}, told, reveal=False)
            found.add(frozenset(name for name, holds in verdict.groups.items() if holds))
    return sorted(sorted(one) for one in found if one and not any(one < other for other in found))


def outcomes(public: list[dict], cases: list[dict], run: Callable) -> Iterator[list[dict]]:
    """What each answer that computes nothing gives on cases, with the public ones to look them up."""
    known = {_text(case["inputs"]): case["expected"] for case in public}
    pairs = zip(cycle(public), cases, strict=False)  # it counts its calls
    yield [run(_always(one["expected"]), case["inputs"]) for one, case in pairs]
    for answer in _answers(public):
        yield [
            run(
                _always(known[place])
                if (place := _text(case["inputs"])) in known
                else answer(case),
                case["inputs"],
            )
            for case in cases
        ]


def _text(plain) -> str:
    return json.dumps(plain, sort_keys=True)


def _answers(cases: list[dict]) -> Iterator[Callable]:
    """Each as a function from a case to the answer that a student would write."""
    constants = {_text(plain): plain for plain in map(wire.encode, CONSTANTS)}
    constants |= {_text(case["expected"]): case["expected"] for case in cases}
    for plain in constants.values():
        yield lambda case, plain=plain: _always(plain)
    for number in (0, 1):
        yield lambda case, n=number: lambda *a, **k: _filled(wire.decode(case["expected"]), n)
    for place in range(max(len(case["inputs"]) for case in cases)):
        yield lambda case, place=place: lambda *a, **k: [*a, *k.values()][place]


def _always(plain) -> Callable:
    return lambda *a, **k: wire.decode(plain)


def _filled(value, number):
    """The value with that number in place of each of its own."""
    if isinstance(value, dict):
        return {key: _filled(item, number) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, number) for item in value]
    return value if value is None or isinstance(value, str) else np.full(np.shape(value), number)

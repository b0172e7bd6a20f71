"""Exercises of 97_target/01_target."""

import numpy as np

from solutions.spec import Exercise

HINTS = ["Look.", "Think.", "Write."]

double = Exercise("double", reference=lambda x: 2 * x, hints=HINTS, limit=0.25)


@double.cases
def _(rng):
    yield "ordinary", dict(x=rng.normal(size=3))
    yield "zero", dict(x=np.zeros(2))
    yield "negative", dict(x=-rng.uniform(1.1, 2, size=4))


@double.wrong("squares", advice="Add or multiply?")
def _(x):
    return x**2


digits = Exercise(
    "digits", reference=lambda secret: [int(d) for d in str(secret)], hints=HINTS, limit=0.25
)


@digits.cases
def _(rng):
    yield "ordinary", dict(secret=int(rng.integers(10**8, 10**9)))
    yield "ends in zero", dict(secret=10 * int(rng.integers(10**7, 10**8)))


scaled = Exercise("scaled", reference=lambda x, a: 10 * a * x, hints=HINTS, limit=0.25)


@scaled.probe
def _(answer, x, a):
    return answer(lambda z: a * z, x)


@scaled.cases
def _(rng):
    yield "ordinary", dict(x=rng.normal(size=3), a=2.0)
    yield "zero", dict(x=np.zeros(2), a=rng.uniform(1, 2))


describe = Exercise(
    "describe",
    reference=lambda x: {"mean": x.mean(), "side": "right" if x.mean() > 0 else "left"},
    hints=HINTS,
    limit=0.25,
)


@describe.cases
def _(rng):
    yield "right", dict(x=rng.uniform(1, 2, size=3))
    yield "left", dict(x=-rng.uniform(1, 2, size=3))

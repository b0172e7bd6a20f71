"""Exercises of 98_tiny/01_first."""

import numpy as np

from solutions.spec import Exercise

double = Exercise(
    "double", reference=lambda x: 2 * x, hints=["Look.", "Think.", "Add x to itself."]
)


@double.cases
def _(rng):
    yield "ordinary", dict(x=rng.normal(size=3))
    yield "zero", dict(x=np.zeros(2))
    yield "negative", dict(x=-rng.uniform(1.1, 2, size=4))


@double.wrong("squares", advice="Add or multiply?")
def _(x):
    return x**2


@double.wrong("in place", advice="Work on a copy.")
def _(x):
    x *= 2
    return x


@double.wrong("a column", advice="Which shape is asked?")
def _(x):
    return 2 * x[:, None]


@double.right("as a list")
def _(x):
    return [2 * float(v) for v in x]


scaled = Exercise(
    "scaled", reference=lambda x, a: 10 * a * x, hints=["Look.", "Think.", "Multiply."], limit=0.5
)


@scaled.probe
def _(answer, x, a):
    return answer(lambda z: a * z, x)


@scaled.cases
def _(rng):
    yield "ordinary", dict(x=rng.normal(size=3), a=2.0)
    yield "zero", dict(x=np.zeros(2), a=rng.uniform(1, 2))


@scaled.wrong("forgets the scale", advice="Where does SCALE go?")
def _(grad, x):
    return grad(x)

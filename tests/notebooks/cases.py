"""The cases of every exercise, as its reference gets them."""

from functools import cache

from autograder import checkdata
from autograder.building import masters
from descent import wire
from solutions.spec import Exercise

# (notebook, exercise) of the whole course.
EXERCISES = [(nb, name) for nb in masters.notebooks() for name in checkdata.load_exercises(nb)]


@cache
def drawn(notebook: str, name: str, draw: str = "public") -> tuple[Exercise, list]:
    """The exercise and its cases, (name, inputs) with arrays as tensors. Another `draw`: other numbers."""
    exercise = checkdata.load_exercises(notebook)[name]
    seed = checkdata.public_seed(notebook, name)
    if draw != "public":
        seed = checkdata.hidden_seed(draw.encode(), notebook, name)
    cases = checkdata.draw_cases(exercise, seed)
    plain = [(case, wire.decode(wire.encode(inputs))) for case, inputs in cases]
    return exercise, [(case, checkdata.as_tensors(inputs)) for case, inputs in plain]

"""A toy master that breaks no rule, in the parts that tests change."""

from tests.building.toy import NOTEBOOK, SPEC

PICTURES = """rows = [1, 4, 9]


def draw(a, b=1.0):
    raise NotImplementedError
"""
TITLE = """# %% [markdown] builds="a square" covers="cs480:1"
# # Squares
#
# Why does it grow?
"""
SETUP = f'''
# %%
# What this notebook needs.
import numpy as np
from descent import after, check, erratum, explore, hint, predict, show, solution, start
from descent.pictures.toy.square import draw, rows
start("{NOTEBOOK}")
'''
READ = """
# %% open=true
for row in rows[:3]:
    print(row)
"""
FOLDED = """
# %% covers="wu:1.1"
# The curve: every step is larger than the one before.
show(*draw(1.0))
show(*draw(2.0))
"""
PREDICTED = """
# %% predict="grows" minutes=1
predict("grows", "Does it grow?", ["yes", "no"], truth=int(1 > 2), because="It rises.")
"""
GRABBED = """
# %%
# Take the dot: the curve follows.
a, b = FloatSlider(1.0, min=0, max=3), FloatSlider(1.0, min=0, max=3)
explore(draw, drag={("a", "b"): "start"}, a=a, b=b)
"""
TAKE_AWAYS = """
# %% [markdown]
# ## Take-aways
#
# Squares grow.
"""
DEEPER = """
# %% [markdown]
# ## Deeper: is it convex?
#
# It is.
"""
NOTES = """
# %% [markdown]
# ## Where the notes differ
"""
ERRATUM = """
# %%
# A slip of the notes.
erratum(
    "cs480:1", quote="$1=2$", corrected="$1=1$",
    printed_holds=1 == 2, corrected_holds=1 == 1, decoy_holds=1 == 3,
)
"""


def exercise(name: str, statements: int, difficulty: int = 1) -> str:
    """An exercise with so many statements to write, and its check."""
    steps = "".join(f"    y{number} = x * {number}\n" for number in range(1, statements))
    return f'''
# %% exercise="{name}" points=3 difficulty={difficulty}
def {name}(x):
    """x (n,) -> (n,)."""
    ### BEGIN SOLUTION
{steps}    return x * x
    ### END SOLUTION

# %% check="{name}"
check({name})
'''


SQUARE, CUBE, ROOT = exercise("square", 14), exercise("cube", 14), exercise("root", 12)
HALF = exercise("half", 5, difficulty=2)
CORE = (
    TITLE + SETUP + READ + SQUARE + FOLDED + PREDICTED + CUBE
    + PREDICTED.replace("grows", "again") + ROOT + GRABBED + TAKE_AWAYS
)  # fmt: skip
MASTER = CORE + DEEPER + HALF + NOTES + ERRATUM
WORKED = SPEC + '\nsquare.worked(why="A number times itself.")\n'
EXERCISES = WORKED + "".join(
    WORKED[WORKED.index("square =") :].replace("square", name) for name in ("cube", "root", "half")
)

"""The text of a toy notebook and its specification."""

NOTEBOOK = "99_toy/01_square"
# Where its sources stand in the toy project.
MASTER_FILE = f"solutions/{NOTEBOOK}/notebook.py"
SPEC_FILE = f"solutions/{NOTEBOOK}/exercises.py"
REFERENCE_FILE = f"solutions/{NOTEBOOK}/reference.py"
PICTURES_FILE = "course/descent/pictures/toy/square.py"
SOURCES = (MASTER_FILE, SPEC_FILE, REFERENCE_FILE, PICTURES_FILE)

MASTER = '''# %% [markdown] builds="a square" covers="cs480:1"
# # Squares
#
# A toy.

# %%
import matplotlib.pyplot as plt
import numpy as np
from ipywidgets import FloatSlider
from descent import after, check, erratum, explore, predict, show, start
from descent.pictures.toy import square as pictures
start("99_toy/01_square")

# %% exercise="square" points=3 difficulty=1
def square(x):
    """x (n,) -> (n,)."""
    ### BEGIN SOLUTION
    result = x * x
    return result
    ### END SOLUTION

# %% check="square"
check(square)

# %%
def draw(a):
    fig, ax = plt.subplots()
    y = square(a * np.linspace(0, 1, pictures.POINTS))
    ax.plot(y, label="square")
    ax.set(xlabel="step", ylabel="y (m²)", title="It grows")
    return fig, f"The curve ends at {y[-1]:.2f}."

# %%
with after(square):
    explore(draw, a=FloatSlider(1.0, min=0, max=3, step=0.1, description="a"))

# %% predict="grows" minutes=1
predict("grows", "Does it grow?", ["yes", "no"], truth=int(1 > 2), because="Because.")

# %% covers="wu:1.1"
erratum(
    "cs480:1", quote="$1=2$", corrected="$1=1$",
    printed_holds=1 == 2, corrected_holds=1 == 1, decoy_holds=1 == 3,
)

# %% [markdown] written="why" points=2 minutes=5
# ## Why does it grow?
#
# ### BEGIN SOLUTION
# Because the derivative is positive.
#
# **Rubric**
#
# - 2: names the derivative
# ### END SOLUTION
'''

SPEC = """import numpy as np
from solutions.spec import Exercise

square = Exercise("square", reference=lambda x: x**2, hints=["Look.", "Think.", "Times itself."])

@square.cases
def _(rng):
    yield "ordinary", dict(x=rng.normal(size=3))
    yield "zero", dict(x=np.zeros(2))
    yield "negative", dict(x=-rng.uniform(1.1, 2, 4))

@square.wrong("doubles", advice="Add or multiply?")
def _(x): return 2 * x

@square.wrong("in place", advice="Work on a copy.")
def _(x):
    x *= x
    return x

@square.wrong("a column", advice="Look at the shape.")
def _(x): return (x**2)[:, None]

@square.right("as a list")
def _(x): return [float(v) ** 2 for v in x]
"""

REFERENCE = """def square(x):
    return x**2
"""

PICTURES = """POINTS = 20
"""


def slip_in(root, name, old, new):
    """Change a text of the toy project at `root`, as an author slips: `new` in place of the first `old`."""
    text = (root / name).read_text()
    assert old in text
    (root / name).write_text(text.replace(old, new, 1))

"""Displays three thousand things, and figures, and warnings."""

HELD_BY = "what is displayed is dropped at its source"
VERDICT = {"double": ("full", 3.0)}

# %% double
import warnings

from IPython.display import HTML, display

page = HTML("<script>" * 1000)
for number in range(3000):
    display(page, clear=True) if number % 1000 == 0 else display(page)
for number in range(300):
    warnings.warn(f"number {number}")


def double(x):
    return 2 * x

"""Displays the card of a solved exercise, in the cell and from inside the answer."""

HELD_BY = "nothing that the student's process shows enters the page"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
from IPython.display import HTML, display

display(HTML("<b>double: solved</b>, 3 of 3 points"))


def double(x):
    display(HTML("<b>double: solved</b>, 3 of 3 points"))
    return x + 1

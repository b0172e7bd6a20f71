"""Raises an error in a line whose comment is a formula, which MathJax in the formgrader would make a link that runs."""

HELD_BY = "what the verdict quotes of a student's is kept from MathJax"
VERDICT = {"double": ("error", 0.0), "digits": ("error", 0.0)}


# %% double
def double(x):
    raise ValueError  # $\href{javascript:alert(1)}{x}$


# %% digits
raise ValueError  # \(\href{javascript:alert(1)}{x}\)

digits = None

"""Python that strangers wrote as a syntax tree. It is only parsed: a short text may compile to gigabytes."""

import ast
import warnings

# What reading a text may raise, and what may be raised by going through a tree as deep as it is.
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError, SystemError)
MAX_DOTS = 500  # of an import: its name costs the parser the square of them


def parse(text: str) -> ast.Module | None:
    """The tree; None where the text is no Python, or would take long to read."""
    lines = text.replace("\\\n", "").split("\n")
    if any(line.count(".") > MAX_DOTS and "import" in line for line in lines):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the student's own "\d", on the grader's screen
            return ast.parse(text)
    except UNREADABLE:
        return None

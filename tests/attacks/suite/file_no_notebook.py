"""Hands in what is no notebook: a picture's first bytes, an empty file's worth of NULs, numbers for cells."""

HELD_BY = "a file that is no notebook is a verdict"
LOOK = True
VERDICT = {
    "double": ("missing", 0.0),
    "digits": ("missing", 0.0),
    "scaled": ("missing", 0.0),
    "describe": ("missing", 0.0),
}


def notebook(honest):
    return b"\x89PNG\r\n\x1a\n" + b"\0" * 1000

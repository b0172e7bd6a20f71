"""Hands in thirty megabytes of the smallest lists there are, each of which is much larger once it is read."""

HELD_BY = "a file of too many parts is refused before it is read"
LOOK = True
VERDICT = {
    "double": ("missing", 0.0),
    "digits": ("missing", 0.0),
    "scaled": ("missing", 0.0),
    "describe": ("missing", 0.0),
}


def notebook(honest):
    return b'{"cells": [' + b"[]," * 9_900_000 + b"[]]}"

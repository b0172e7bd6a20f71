"""Hands in two million nested brackets, where a reader that recurses breaks."""

HELD_BY = "a file that is no notebook is a verdict"
LOOK = True
VERDICT = {
    "double": ("missing", 0.0),
    "digits": ("missing", 0.0),
    "scaled": ("missing", 0.0),
    "describe": ("missing", 0.0),
}


def notebook(honest):
    return b'{"cells": ' + b"[" * 2_000_000

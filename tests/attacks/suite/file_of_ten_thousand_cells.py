"""Hands in a notebook of ten thousand cells."""

HELD_BY = "a thousand cells are read; more is a verdict"
LOOK = True
VERDICT = {
    "double": ("missing", 0.0),
    "digits": ("missing", 0.0),
    "scaled": ("missing", 0.0),
    "describe": ("missing", 0.0),
}


def notebook(honest):
    cell = {"cell_type": "code", "metadata": {}, "source": "x = 1", "outputs": []}
    return honest | {"cells": [dict(cell, id=f"c{number}") for number in range(10_000)]}

"""Hands in cells that are numbers, NaN, lists, and metadata and sources of every wrong type, among the honest ones."""

HELD_BY = "each part of a file is read only if it has the type it must have"
VERDICT = {"double": ("full", 3.0)}


def notebook(honest):
    odd = [
        None,
        3,
        float("nan"),
        [],
        "text",
        {},
        {"cell_type": 7, "source": 7, "id": [], "metadata": []},
        {
            "cell_type": "code",
            "source": [1, None, ["x"]],
            "metadata": {"nbgrader": 5, "descent": "x"},
            "id": None,
        },
        {
            "cell_type": "code",
            "source": "\ud800 \x00 = 1",
            "metadata": {"nbgrader": {"grade_id": {}}},
            "id": "\ud800",
        },
        {"cell_type": "code", "source": "x = 1" + " " * 5_000_000, "metadata": {}, "id": "../../x"},
    ]
    return honest | {
        "cells": [odd[0], *honest["cells"][:2], *odd, *honest["cells"][2:]],
        "metadata": [1],
    }

"""Edits, deletes, copies and converts check cells, and adds some of its own with full points in their outputs."""

HELD_BY = "the release's own checks are used, and the verdict says so"
VERDICT = {"double": ("wrong", 0.0)}
RESTORED = ["describe", "digits", "double", "scaled"]


def notebook(honest):
    output = {
        "output_type": "execute_result",
        "execution_count": 1,
        "metadata": {},
        "data": {"text/plain": "3.0"},
    }
    cells = []
    for cell in honest["cells"]:
        if cell["id"] == "double":
            cell["source"] = "def double(x):\n    return x + 1"
        if cell["id"] == "check-double":
            cell |= {"source": "3.0", "outputs": [output]}
        if cell["id"] == "check-digits":
            continue
        if cell["id"] == "check-scaled":
            cells.append(dict(cell))
        if cell["id"] == "check-describe":
            cell |= {"cell_type": "markdown", "source": "**1 of 1 points**"}
        cells.append(cell)
    return honest | {"cells": cells}

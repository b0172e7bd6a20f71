"""Raises an error beside sixty thousand empty lines, on which a search for the names of classes could take an hour."""

HELD_BY = "the search takes a time in proportion to the text"
VERDICT = {"double": ("error", 0.0)}


def notebook(honest):
    cells = []
    for cell in honest["cells"]:
        if cell["id"] == "double":
            blank = {"cell_type": "code", "id": "mine", "metadata": {}, "source": "y = 1" + "\n" * 60_000 + "z = 1"}
            cells.append(blank | {"execution_count": None, "outputs": []})
            cell = cell | {"source": "def double(x):\n    raise ValueError"}
        cells.append(cell)
    return honest | {"cells": cells}

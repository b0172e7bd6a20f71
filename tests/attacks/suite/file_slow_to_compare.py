"""Hands in a hundred cells of similar text, so that finding the answers by likeness takes for ever."""

HELD_BY = "likeness is looked for within a bound"
VERDICT = {"double": ("wrong", 0.0)}


def notebook(honest):
    stub = (
        'def doubl_(x):\n    """x (n,) -> (n,), each entry doubled."""\n    # your answer\n'
        + "    x = x + 1\n" * 300
    )
    cells = [cell for cell in honest["cells"] if cell["id"] != "double"]
    extra = [
        {
            "cell_type": "markdown",
            "id": f"m{n}",
            "metadata": {},
            "source": stub.replace("x + 1", f"x + {n}"),
        }
        for n in range(100)
    ]
    return honest | {"cells": [*cells[:2], *extra, *cells[2:]]}

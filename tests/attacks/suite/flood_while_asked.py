"""Floods the grader's channel while the grader is busy handing over a long cell, and reads nothing of it."""

HELD_BY = "whatever arrives before a question is asked to its end was not asked for"
LOOK = True
VERDICT = {"double": ("output", 0.0)}


def notebook(honest):
    flood = (
        "import sys, time, os\n"
        "def receive(descriptor):\n"
        "    while True:\n"
        "        os.write(101, bytes(65536))\n"
        "sys.modules['inside.frames'].receive = receive\n"
        "def double(x):\n"
        "    return 2 * x"
    )
    cells = []
    for cell in honest["cells"]:
        if cell["id"] == "double":
            cell = cell | {"source": flood}
            long = {"cell_type": "code", "id": "mine", "metadata": {}, "source": "# " + "x" * 400_000 + "\ny = 1"}
            cells += [cell, long | {"execution_count": None, "outputs": []}]
        else:
            cells.append(cell)
    return honest | {"cells": cells}

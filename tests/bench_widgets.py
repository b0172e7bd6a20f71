"""Run one solution edition in this process and time its widgets: `python -m tests.bench_widgets NOTEBOOK`.

Every control is moved five times: a slider to its ends, a menu to its entries. The last line is JSON:
[[name of the control, [seconds, …]], …].
"""

import contextlib
import io
import itertools
import json
import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def explorers(notebook):
    """The widgets of a notebook, made but not displayed."""
    import nbformat
    from IPython.core.interactiveshell import InteractiveShell

    import descent
    from descent.widgets import Explorer

    made = []

    def explore(draw, *, digits=2, drag=None, play=None, **controls):
        made.append(Explorer(draw, controls, drag=drag, play=play))

    descent.explore, descent.movie = explore, lambda *_, **__: None
    shell = InteractiveShell.instance()
    os.chdir(ROOT / "course" / notebook.split("/")[0])
    edition = nbformat.read(ROOT / "solutions" / f"{notebook}.ipynb", as_version=4)
    with contextlib.redirect_stdout(io.StringIO()):
        for cell in edition.cells:
            if cell.cell_type == "code":
                shell.run_cell(cell.source).raise_error()
    return made


def moves(control, count=5):
    """New values for a control, each other than the one before."""
    if hasattr(control, "options"):
        values = [option[1] if isinstance(option, tuple) else option for option in control.options]
    elif isinstance(control.value, bool):
        values = [False, True]
    elif hasattr(control, "base"):  # logarithmic
        values = [control.value * control.base ** (i * control.step) for i in (-1, 0, -2)]
    elif hasattr(control, "step"):
        values = [control.min, control.min + control.step, control.max]
    else:
        return []
    others = [value for value in values if value != control.value]
    return list(itertools.islice(itertools.cycle([*others, control.value]), count))


def main(notebook):
    found = []
    for explorer in explorers(notebook):
        for name, control in explorer.controls.items():
            seconds = []
            for value in moves(control):
                started = time.perf_counter()
                control.value = value
                seconds.append(time.perf_counter() - started)
            if seconds:
                found.append((name, seconds))
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])

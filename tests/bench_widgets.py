"""Run one solution edition in this process and time its widgets: `python -m tests.bench_widgets NOTEBOOK`.

Every control is moved five times, as a person would: a slider by a step, a menu by an entry. The last
line is JSON: [[name of the control, [seconds, …]], …].
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
    descent.explore = lambda draw, digits=2, **controls: made.append(Explorer(draw, controls))
    shell = InteractiveShell.instance()
    os.chdir(ROOT / "course" / notebook.split("/")[0])
    edition = nbformat.read(ROOT / "solutions" / f"{notebook}.ipynb", as_version=4)
    with contextlib.redirect_stdout(io.StringIO()):
        for cell in edition.cells:
            if cell.cell_type == "code":
                shell.run_cell(cell.source).raise_error()
    return made


def moves(control):
    """Five new values for a control."""
    if hasattr(control, "options"):
        options = [o[1] if isinstance(o, tuple) else o for o in control.options]
        later = itertools.cycle(option for option in options if option != control.value)
        return list(
            itertools.islice(
                itertools.chain.from_iterable(zip(later, itertools.repeat(control.value))), 5
            )
        )
    if isinstance(control.value, bool):
        return [
            not control.value,
            control.value,
            not control.value,
            control.value,
            not control.value,
        ]
    if hasattr(control, "step"):
        step = control.step if control.value + 5 * control.step <= control.max else -control.step
        return [control.value + (i + 1) * step for i in range(5)]
    return []


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

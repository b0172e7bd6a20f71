"""The answers of a master: their solutions, and the mistakes that are edits of them.

What the answers use is run once a notebook, as in grading: nothing is shown, nothing is checked.
A mistake is the edited answer, run in a copy of what that left.
"""

import ast
import contextlib
import io
import os
import random
import re
import warnings
from functools import cached_property
from pathlib import Path

from autograder.engine import needs
from autograder.markers import BEGIN, END
from solutions.spec import Edit, SpecError

_SOLUTION = re.compile(rf"^ *{BEGIN}\n(.*?)^ *{END}\n?", re.M | re.S)


class Answers:
    """The answer cells of the master at `path`, read and run when they are first asked for."""

    def __init__(self, path: Path):
        self.path = path

    @cached_property
    def cells(self) -> list:
        """The code cells of the master, as nbformat's. Raises SpecError where there is no master."""
        import jupytext

        if not self.path.exists():
            raise SpecError(f"there is no master {self.path}, which mistakes are edits of.")
        text = self.path.read_text(encoding="utf-8")
        cells = jupytext.reads(text, fmt="py:percent").cells
        return [cell for cell in cells if cell.cell_type == "code"]

    @cached_property
    def solved(self) -> dict[str, str]:
        """The text of every answer's cell by its exercise, with its markers."""
        return {c.metadata["exercise"]: c.source for c in self.cells if "exercise" in c.metadata}

    def solution(self, name: str) -> str:
        """The text of an answer's cell as its author would hand it in, without markers."""
        return _unmarked(self.solved[name])

    @cached_property
    def names(self) -> dict:
        """What the notebook's answers find there: all that they use, and each other's solutions.

        Raises SpecError where it does not run. The process is left as it was.
        """
        statements = [told for cell in self.cells for told in _statements(cell)]
        names = {"__name__": "__main__"}
        with as_in_grading():
            for (source, _), needed in zip(statements, needs.needed(statements), strict=True):
                if needed:
                    self._run(source, names)
        return names

    def _run(self, source: str, names: dict) -> None:
        try:
            exec(compile(source, "<master>", "exec"), names)
        except Exception as error:
            raise SpecError(
                f"{self.path}: what its answers use fails: {type(error).__name__}: {error}, "
                f"in {source[:200]!r}"
            ) from error

    def edited(self, edit: Edit) -> str:
        """The answer as a student writes it who makes the mistake. Raises SpecError: what to mend."""
        where = f"mistake {edit.name!r}: "
        if edit.exercise not in self.solved:
            raise SpecError(f'{where}no cell with exercise="{edit.exercise}" in {self.path}.')
        cell = self.solved[edit.exercise]
        times = sum(part.count(edit.old) for part in _SOLUTION.findall(cell))
        if times != 1:
            remedy = "copy it from there anew" if not times else "take more of the text round it"
            raise SpecError(
                f"{where}its old text {edit.old!r} stands {times} times in the solution of "
                f"{edit.exercise}, not once: {remedy}."
            )
        text = _SOLUTION.sub(lambda part: part[1].replace(edit.old, edit.new), cell)
        try:
            ast.parse(text)
        except SyntaxError as error:
            line = (error.text or "").strip()
            raise SpecError(
                f"{where}its new text {edit.new!r} makes no Python of the solution of "
                f"{edit.exercise}: {error.msg}, in {line!r}."
            ) from None
        return text

    def function(self, edit: Edit):
        """The edited answer as a function (or class)."""
        return self.defined(edit.exercise, self.edited(edit))

    def defined(self, name: str, text: str):
        """The answer that a text defines, among all that answers of the notebook find."""
        names = dict(self.names)
        exec(compile(text, f"<edited {name}>", "exec"), names)
        return names[name]


def _unmarked(source: str) -> str:
    return _SOLUTION.sub(r"\1", source)


def _statements(cell) -> list[tuple[str, bool]]:
    """(source, whether it is wanted) of a cell: an answer as a whole, else what neither shows nor asks."""
    if "exercise" in cell.metadata:
        return [(_unmarked(cell.source), True)]
    if cell.metadata.get("demo"):
        return []
    body = ast.parse(cell.source).body
    kept = [node for node in body if not (needs.shows(node) or needs.calls(node) == "start")]
    return [(ast.unparse(node), False) for node in kept]


@contextlib.contextmanager
def as_in_grading():
    """Seeded, silent, with the variable of grading; afterwards the process is as it was."""
    import matplotlib
    import numpy as np
    import torch

    from descent.session import seed_everything

    states = random.getstate(), np.random.get_state(), torch.get_rng_state()
    dtype, folder, variables = torch.get_default_dtype(), os.getcwd(), dict(os.environ)
    os.environ["DESCENT_GRADING"] = "1"
    seed_everything()
    try:
        with warnings.catch_warnings(), matplotlib.rc_context():
            with contextlib.redirect_stdout(io.StringIO()):
                yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        torch.set_rng_state(states[2])
        torch.set_default_dtype(dtype)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)

"""The explorers of a notebook as it makes them: each `explore(…)` of its master, its own function and controls.

Of the notebook only that is run which these calls use, once a process.
"""

import ast
import copy
from collections.abc import Callable, Iterator
from functools import cache
from unittest import mock

import matplotlib.pyplot as plt

import descent
from autograder.answers import as_in_grading
from autograder.building import masters
from autograder.engine import needs
from descent import skipping
from descent.widgets import Explorer


class Explored:
    """One `explore(draw, **controls)`. text: as the master has it, on one line. moves: its `drag` and `play`."""

    def __init__(self, text: str, draw: Callable, controls: dict, moves: dict):
        self.text, self.draw, self.controls, self.moves = text, draw, controls, moves
        self.start = {name: control.value for name, control in controls.items()}
        self.last: Explorer | None = None

    def opened(self) -> dict:
        """The controls as the notebook opens with them; the widget that had them is told no more."""
        for name, control in self.controls.items():
            if self.last:
                control.unobserve(self.last._changed, "value")
            control.value = self.start[name]
        self.last = None
        return self.controls


def explorer(notebook: str, text: str, **moved) -> Explorer:
    """The widget of the one call that has `text` in it, its controls moved one after the other.

    The widget of an earlier call keeps its words, but its controls are this one's now: ipywidgets cannot be copied.
    """
    found = [one for one in explored(notebook) if text in one.text]
    if len(found) != 1:
        raise LookupError(f"{len(found)} of {notebook}'s explorers have {text!r} in their call.")
    widget = found[0].last = Explorer(found[0].draw, found[0].opened(), **found[0].moves)
    for name, value in moved.items():
        widget.controls[name].value = value
    return widget


@cache
def explored(notebook: str) -> list[Explored]:
    """What the notebook explores, in order."""
    found: list[Explored] = []

    def explore(draw, *, digits=2, drag=None, play=None, **controls):
        text, moves = texts(notebook)[len(found)], dict(drag=drag, play=play)
        found.append(Explored(text, draw, controls, moves))

    statements = list(_statements(notebook))
    names = {"__name__": "__main__"}
    with as_in_grading(), mock.patch.object(descent, "explore", explore):
        for (source, _), needed in zip(statements, needs.needed(statements), strict=True):
            if needed:
                exec(compile(source, f"<{notebook}>", "exec"), names)
    plt.close("all")  # what the notebook would have shown
    return found


@cache
def texts(notebook: str) -> list[str]:
    """The notebook's calls of `explore`, each on one line; nothing is run."""
    cells = masters.read(notebook).cells
    return [ast.unparse(call) for cell in cells for call in masters.calls(cell, "explore")]


def _statements(notebook: str) -> Iterator[tuple[str, bool]]:
    """(source, whether it explores) of every statement that does more than to show, to ask or to claim."""
    for cell in masters.read(notebook).cells:
        for node in _opened(cell.tree.body if cell.tree else []):
            source = ast.unparse(_WithoutClaims().visit(copy.deepcopy(node)))
            explores = "explore(" in source
            if explores or not (needs.shows(node) or needs.calls(node) == "start"):
                yield source, explores


def _opened(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements, with those of `with after(…)` blocks in their place."""
    for node in body:
        if skipping.is_after(node):
            yield from _opened(node.body)
        else:
            yield node


class _WithoutClaims(ast.NodeTransformer):
    """What an `assert` reads may hang on calls that nobody else needs (`loss.backward()`)."""

    def visit_Assert(self, node):
        return ast.copy_location(ast.Pass(), node)

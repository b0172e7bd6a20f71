"""The student's library of Graded Descent."""

from descent import data, plots, widgets
from descent.asking import erratum, predict
from descent.board import progress
from descent.checking import check, hint
from descent.devices import device, scale
from descent.handin import submit
from descent.plots import show
from descent.session import start
from descent.skipping import after
from descent.widgets import explore

__all__ = [
    "after",
    "check",
    "data",
    "device",
    "erratum",
    "explore",
    "hint",
    "plots",
    "predict",
    "progress",
    "scale",
    "show",
    "start",
    "submit",
    "widgets",
]

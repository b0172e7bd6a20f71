"""The student's library of Graded Descent.

Its names are imported when they are first used: the judge, say, compares without loading what draws.
"""

import importlib

_PLACES = {
    "after": "skipping",
    "below": "claims",
    "check": "checking",
    "claim": "claims",
    "device": "devices",
    "erratum": "errata",
    "explore": "widgets",
    "hint": "helping",
    "movie": "movies",
    "predict": "predictions",
    "progress": "board",
    "say": "words",
    "scale": "devices",
    "show": "plots",
    "solution": "helping",
    "start": "starting",
    "submit": "handin",
}
_MODULES = ("data", "plots", "widgets")

__all__ = [*_PLACES, *_MODULES]


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module(f"descent.{name}")
    if name not in _PLACES:
        raise AttributeError(f"descent has no {name!r}. It has: {', '.join(sorted(__all__))}.")
    found = getattr(importlib.import_module(f"descent.{_PLACES[name]}"), name)
    globals()[name] = found
    return found


def __dir__():
    return sorted(__all__)

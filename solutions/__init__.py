"""The author's world, never released: a folder a notebook, its built solution edition beside it."""

import importlib
from types import ModuleType


def notebook_module(notebook: str, part: str) -> ModuleType:
    """A source of "chapter/notebook": its "exercises" or its "reference".

    The folders begin with digits, so no import statement can name them.
    """
    return importlib.import_module(f"solutions.{notebook.replace('/', '.')}.{part}")

"""The state of one kernel: which notebook is open, its check data, where the student's progress is kept.

It knows nothing of what asks it. `starting` opens a notebook, and tells style, blocks and records.
"""

import importlib.resources
import json
import os
import random
import time
from functools import lru_cache
from pathlib import Path

from descent import packing

CHECKS = importlib.resources.files("descent") / "checks"


class Session:
    """The state of one kernel. One instance, `current`."""

    def __init__(self):
        self.notebook: str | None = None
        self.verdicts: dict = {}  # exercise name -> (answer object, Verdict), newest only
        self.unsaved: dict | None = None  # the records, where their file cannot be written
        self.saving = True  # whether that file is this course's to write
        self.answered: set[str] = set()  # predictions that an author's cell told the answer of
        self.ran: dict[str, list[str]] = {}  # a cell of the page -> the texts that were run in it
        self.told: set[str] = set()  # what was said once

    @property
    def grading(self) -> bool:
        """True in the grading sandbox, where only answers count and nothing is shown."""
        return os.environ.get("DESCENT_GRADING") == "1"

    @property
    def strict(self) -> bool:
        """True where notebooks are built or tested: what is claimed must hold there."""
        return os.environ.get("DESCENT_STRICT") == "1"

    @property
    def static(self) -> bool:
        """True while a page without controls is built: widgets show their first state."""
        return os.environ.get("DESCENT_STATIC") == "1"


current = Session()


def seed_everything(seed: int = 0) -> None:
    """Seed python's, numpy's and torch's global generators."""
    import numpy as np
    import torch

    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


@lru_cache(maxsize=8)
def check_data(notebook: str) -> dict | None:
    """What the build says of a notebook: title, exercises, target pictures. None where there is none."""
    try:
        told = json.loads((CHECKS / f"{notebook}.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    return packing.unpacked(told)


def course_folder() -> Path:
    """The folder that holds the chapters: `course/`, wherever it was copied to."""
    return Path(str(CHECKS)).parent.parent


def home() -> Path:
    """The folder for what the student did: DESCENT_HOME, else `.descent` in the course folder."""
    return Path(os.environ.get("DESCENT_HOME") or course_folder() / ".descent")


def now() -> float:
    """Seconds since 1970; in one place so that tests can turn the clock."""
    return time.time()

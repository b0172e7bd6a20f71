"""Graded submissions of the toy chapter, and releases of it that changed."""

import itertools
import json
import shutil

from autograder.grading.verdicts import Graded, Submission, Written
from autograder.workspace import Workspace
from tests.grading.toy_chapter import CHAPTER, NOTEBOOK, STEM

MOST = {"double": 3.0, "scaled": 2.0}
numbers = itertools.count()


def submission(student, *, answered=True, text="1", untouched=(), **points) -> Submission:
    """A graded submission of the toy chapter: full points but where told."""
    verdicts = []
    for name, most in MOST.items():
        value = points.get(name, most)
        kind = "full" if value == most else "partial"
        verdicts.append(Graded(name, NOTEBOOK, kind, value, most, "Told.", {"a": value == most}))
    written = [Written("why", NOTEBOOK, 2.0, answered, "by its nbgrader id", text)]
    return Submission(
        CHAPTER, student, "2026-09-01 10:00:00 UTC", "x.zip", verdicts, written,
        no_response=[f"{STEM}/{name}" for name in untouched],
    )  # fmt: skip


def changed_release(space, tmp_path, change):
    project = shutil.copytree(space.project, tmp_path / f"changed{next(numbers)}")
    path = project / "course" / CHAPTER / f"{STEM}.ipynb"
    told = json.loads(path.read_text())
    change(told["cells"])
    path.write_text(json.dumps(told))
    return Workspace(space.folder, project)


def one_more(cells):
    more = json.loads(json.dumps(next(cell for cell in cells if cell["id"] == "why")))
    more["id"] = more["metadata"]["nbgrader"]["grade_id"] = "how"
    more["metadata"]["descent"]["written"] = "how"
    cells.append(more)


def without(*names):
    def change(cells):
        cells[:] = [cell for cell in cells if cell["id"] not in names]

    return change

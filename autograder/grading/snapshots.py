"""What a class's verdicts were before a regrade, so that it can be undone: grading/snapshots/CHAPTER/0001/…

verdicts/STUDENT.json and pages/STUDENT/NOTEBOOK.ipynb are as they were, applied.json says what took their place.
"""

import hashlib
import json
import os
import shutil
from pathlib import Path

from autograder.grading import verdicts
from autograder.grading.jobs import Done
from autograder.workspace import Workspace

UNDONE = ".undone"


def digest(done: Done) -> str:
    """By which a graded submission is known again: its verdicts, and the pages that show what was graded."""
    told = [verdicts.text(done.submission), sorted(done.pages.items())]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def now(space: Workspace, chapter: str, student: str) -> str:
    """The digest of what a student has at the moment; "" where that is nothing."""
    path = space.verdict_file(chapter, student)
    return digest(_read(path, space.autograded(chapter, student))) if path.exists() else ""


def take(space: Workspace, chapter: str, applied: dict[str, str]) -> Path:
    """Keep verdicts and pages as they are now -> the snapshot. applied: student -> digest of what comes instead."""
    folder = space.folder / "snapshots" / chapter
    number = 1 + max((int(path.name[:4]) for path in folder.glob("[0-9]*")), default=0)
    partial = folder / f".{number:04}.part"
    shutil.rmtree(partial, ignore_errors=True)
    for student in applied:
        _link(space.verdict_file(chapter, student), partial / "verdicts")
        for page in space.autograded(chapter, student).glob("*.ipynb"):
            _link(page, partial / "pages" / student)
    (partial / "applied.json").write_text(json.dumps(applied), encoding="utf-8")
    return partial.rename(folder / f"{number:04}")


def _link(path: Path, folder: Path) -> None:
    """Keep a file without a copy: whoever writes another in its place leaves this one as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        os.link(path, folder / path.name)
    except OSError:  # a file system without links
        shutil.copy(path, folder)


def last(space: Workspace, chapter: str) -> Path | None:
    """The newest snapshot that was not undone."""
    found = (space.folder / "snapshots" / chapter).glob("[0-9][0-9][0-9][0-9]")
    return max(found, default=None)


def read(snapshot: Path) -> dict[str, Done]:
    """The submissions of a snapshot, by student."""
    paths = sorted((snapshot / "verdicts").glob("*.json"))
    return {path.stem: _read(path, snapshot / "pages" / path.stem) for path in paths}


def _read(path: Path, pages: Path) -> Done:
    """A submission as its verdict file and its folder of pages tell it."""
    kept = {page.stem: page.read_text(encoding="utf-8") for page in pages.glob("*.ipynb")}
    return Done(verdicts.parse(path.read_text(encoding="utf-8")), kept)


def applied(snapshot: Path) -> dict[str, str]:
    """Student -> digest of what took the place of the snapshot's."""
    return json.loads((snapshot / "applied.json").read_text(encoding="utf-8"))


def close(snapshot: Path) -> None:
    """It is undone: the one before it is the next to undo."""
    snapshot.rename(snapshot.with_name(snapshot.name + UNDONE))

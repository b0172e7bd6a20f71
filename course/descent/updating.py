"""`python -m descent update NEWER`: a newer edition of the course takes the place of a student's, their work in it.

Nothing is lost, whenever it is stopped: a file is replaced in one step, after what stood there was kept beside it. The
records in `.descent` stay where they are. The library comes last: it knows what the notebooks were before.
"""

import contextlib
import filecmp
import json
import os
import re
import shutil
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from descent import editions, session
from descent.editions import Merged

LIBRARY = "descent"
OLDER, NEWER = ".descent-older", ".descent-newer"  # the library while it is replaced
NOT_HANDED_OUT = {".descent", ".ipynb_checkpoints", "__pycache__", "handins", LIBRARY}


class UpdateError(ValueError):
    """Why nothing, or not everything, could be replaced, and what to do."""


@dataclass
class _Change:
    """What becomes of one notebook. keeps: whether what stood there is kept beside it."""

    path: Path
    data: bytes
    words: str
    keeps: bool = False


def update(newer: Path, course: Path | None = None) -> None:
    """Replace the course in `course` (this one) by `newer`, a folder or a zip, and say what became of each notebook.

    Raises UpdateError, with what to do, where one of them is no course or a file cannot be written.
    """
    course = (course or session.course_folder()).resolve()
    try:
        with _opened(newer) as source:
            _require_two_courses(newer, source, course)
            changes = _changes(source, course)
            replaces = any(_bytes(change.path) != change.data for change in changes)
            for change in changes:
                print(f"{change.path.relative_to(course).with_suffix('')}: {_made(change)}")
            needs_install = _replace_other_files(source, course)
            _replace_library(source / LIBRARY, course / LIBRARY)
    except OSError as error:
        raise UpdateError(
            f"update: stopped: {error}. Nothing is lost. Is the disk full, or the folder read-only? "
            "When that is mended, the same command goes on."
        ) from error
    if replaces:
        print(
            "Reload open notebooks (File ▸ Reload Notebook from Disk), and restart their kernels."
        )
    if needs_install:
        print(f"It may need other packages: pip install -e {course}")


@contextlib.contextmanager
def _opened(newer: Path) -> Iterator[Path]:
    """The course folder that `newer` is, or holds."""
    with tempfile.TemporaryDirectory() as unpacked:
        folder = newer
        if newer.is_file():
            folder = Path(unpacked)
            _unpack(newer, folder)
        found = [folder, *sorted(folder.glob("*/")), *sorted(folder.glob("*/course/"))]
        yield next((one for one in found if (one / LIBRARY / "checks").is_dir()), folder).resolve()


def _unpack(archive: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(archive) as bundle:
            bundle.extractall(folder)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise UpdateError(
            f"update: {archive} is no zip file, or a broken one ({error}). Download it again. Nothing was changed."
        ) from error


def _require_two_courses(newer: Path, source: Path, course: Path) -> None:
    if not newer.exists():
        raise UpdateError(
            f"update: there is no {newer}. Give the newer course's folder, or its zip."
        )
    if not (source / LIBRARY / "checks").is_dir():
        raise UpdateError(
            f"update: {newer} holds no course. Give the folder (or the zip) with index.ipynb and descent/ in it."
        )
    if not any((course / name).is_dir() for name in (LIBRARY, OLDER)):
        raise UpdateError(
            f"update: {course} holds no course. Give yours with --into: the folder with index.ipynb and descent/ in it."
        )
    if source == course:
        raise UpdateError(
            f"update: {newer} is the course that would be replaced. Give yours with --into COURSE_DIR."
        )


def _changes(source: Path, course: Path) -> list[_Change]:
    """What becomes of each notebook, before any is replaced."""
    found = sorted(
        path for path in source.glob("[0-9]*/*.ipynb") if path.parent.name not in NOT_HANDED_OUT
    )
    return [_change(path, source, course) for path in found]


def _change(path: Path, source: Path, course: Path) -> _Change:
    target, data = course / path.relative_to(source), path.read_bytes()
    newer, mine = _notebook(path), _notebook(target)
    if newer is None:
        raise UpdateError(
            f"update: {path.name} in the newer course cannot be read. Get it again. Nothing was changed."
        )
    if not target.exists():
        return _Change(target, data, "new")
    if mine is None:
        return _Change(target, data, "yours cannot be read as a notebook: replaced", keeps=True)
    if _edition(mine) == _edition(newer):
        return _Change(target, target.read_bytes(), "of this edition already")
    merged = editions.merge(mine, newer, _before(course, target, mine))
    if not merged.touched:
        return _Change(target, data, "replaced; you had not begun it")
    told = json.dumps(merged.notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    return _Change(target, told.encode(), _words(merged), keeps=True)


def _notebook(path: Path) -> dict | None:
    """A notebook as JSON; None where there is none, or nothing that can be read as one."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        editions.released({"cells": [{"id": "", **cell} for cell in told["cells"]]})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return told


def _edition(notebook: dict) -> str | None:
    return notebook.get("metadata", {}).get("descent", {}).get("source")


def _before(course: Path, target: Path, mine: dict) -> dict[str, str]:
    """What the student's notebook held when it was handed out; nothing where that is not known."""
    for library in (LIBRARY, OLDER):
        path = course / library / "checks" / target.relative_to(course).with_suffix(".json")
        with contextlib.suppress(OSError, ValueError):
            kept = json.loads(path.read_text(encoding="utf-8"))
            if kept.get("source") == _edition(mine):
                return kept.get("cells", {})
    return {}


def _words(merged: Merged) -> str:
    told = [f"{_counted(len(merged.carried), 'answer')} carried"]
    told += [f"{_counted(merged.own, 'cell')} of your own kept"] * bool(merged.own)
    for names, words in (
        (merged.arguments, "takes other arguments now, so look at it"),
        (
            [name for name in merged.changed if name not in merged.arguments],
            "is asked otherwise now",
        ),
        (merged.gone, "is no longer asked: it stands at the end"),
    ):
        told += [f"{name} {words}" for name in names]
    return "; ".join(told)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _made(change: _Change) -> str:
    """Replace one notebook -> what to say of it."""
    words, there = change.words, _bytes(change.path)
    if there == change.data:
        return words
    if change.keeps:
        words += f". As it was: {_keep(change.path, there).name}"
    _write(change.path, change.data)
    return words


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _keep(path: Path, data: bytes) -> Path:
    """Keep what stood in a notebook under a name that no other file has."""
    day = time.strftime("%Y-%m-%d", time.localtime(session.now()))
    number = 1
    while True:
        again = f", {number}" if number > 1 else ""
        kept = path.with_name(f"{path.stem} (before {day}{again}){path.suffix}")
        if not kept.exists():
            _write(kept, data)
        if kept.read_bytes() == data:  # also from a run that was stopped
            return kept
        number += 1


def is_kept(path: Path) -> bool:
    """Whether a notebook is one that `update` kept under another name."""
    return bool(re.search(r" \(before \d{4}-\d\d-\d\d(, \d+)?\)$", path.stem))


def _write(path: Path, data: bytes) -> None:
    """Write a file in one step: there is the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.part")
    try:
        partial.write_bytes(data)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _replace_other_files(source: Path, course: Path) -> bool:
    """Everything beside notebooks and library -> whether the packages it names changed."""
    installs = False
    for path in sorted(p for p in source.rglob("*") if p.is_file()):
        where = path.relative_to(source)
        hidden = any(part.startswith(".") or part in NOT_HANDED_OUT for part in where.parts)
        is_notebook = path.suffix == ".ipynb" and len(where.parts) > 1
        target, data = course / where, path.read_bytes()
        if hidden or is_notebook or ".egg-info" in str(where) or _bytes(target) == data:
            continue
        if path.suffix == ".ipynb" and _texts(target) not in ([], _texts(path)):  # the index
            _keep(target, target.read_bytes())
        _write(target, data)
        installs |= path.name == "pyproject.toml"
    return installs


def _texts(path: Path) -> list[str]:
    notebook = _notebook(path)
    return [editions.text(cell) for cell in notebook["cells"]] if notebook else []


def _replace_library(newer: Path, library: Path) -> None:
    """Put the newer library in the place of the old one: two renames, either of which can be the last."""
    older, staged = library.with_name(OLDER), library.with_name(NEWER)
    if not library.exists():  # an earlier run was stopped between them
        os.rename(older, library)
    for rest in (older, staged):
        shutil.rmtree(rest, ignore_errors=True)
    if _same(newer, library):
        return
    shutil.copytree(newer, staged, ignore=shutil.ignore_patterns("__pycache__"))
    os.rename(library, older)
    os.rename(staged, library)
    shutil.rmtree(older, ignore_errors=True)


def _same(one: Path, other: Path) -> bool:
    names = [_files(one), _files(other)]
    return names[0] == names[1] and not any(
        filecmp.cmpfiles(one, other, names[0], shallow=False)[1:]
    )


def _files(folder: Path) -> list[str]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(str(where) for where in found if "__pycache__" not in where.parts)

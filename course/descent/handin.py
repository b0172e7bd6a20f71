"""`submit(chapter)`: pack a chapter into one file to hand in. Earlier files are kept."""

import contextlib
import json
import re
import time
import zipfile
from pathlib import Path

from descent import board, records, session, updating

FORMAT = 1


class HandInError(ValueError):
    """What is needed before a chapter can be handed in."""


def submit(chapter: str, student: str | None = None) -> Path:
    """Pack the notebooks of `chapter` ("03_optimisation") as they are saved -> path of the zip file.

    student: your identifier as your instructor knows it (letters, digits, . _ @ -); remembered after the first time.
    Says what is not solved yet. Raises HandInError when there is no such chapter, no identifier or no room.
    """
    folder = session.course_folder() / chapter
    found = sorted(folder.glob("*.ipynb")) if re.fullmatch(r"\w+", chapter) else []
    notebooks = [path for path in found if not updating.is_kept(path)]
    if not notebooks:
        chapters = ", ".join(sorted({n["notebook"].split("/")[0] for n in board.notebooks()}))
        raise HandInError(f"submit: there is no chapter {chapter!r}. Chapters: {chapters}.")
    student = _identify(student)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(session.now()))
    try:
        target = _fresh(
            session.home().parent / "handins" if _inside_course() else session.home() / "handins",
            f"{chapter}--{student}--{stamp}",
        )
        _pack(target, chapter, student, stamp, notebooks)
    except OSError as error:
        raise HandInError(
            f"submit: the file could not be written ({error}). "
            "Is the disk full, or the course folder read-only?"
        ) from error
    _say(target, chapter, notebooks)
    return target


def _inside_course() -> bool:
    return session.home() == session.course_folder() / ".descent"


def _identify(student):
    known = records.read().get("student")
    student = student or known
    if not student:
        raise HandInError(
            'submit: who are you? Call it once as submit("…", student="your identifier").'
        )
    if not re.fullmatch(r"[A-Za-z0-9_@][A-Za-z0-9._@-]{0,63}", student) or "--" in student:
        raise HandInError(
            f"submit: {student!r} is no identifier: use letters, digits and . _ @ - (no double dash)."
        )
    if student != known:
        records.record_student(student)
    return student


def _fresh(folder: Path, stem: str) -> Path:
    """An empty file of a new name, so that two hand-ins of one second are two files."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1000):
        target = folder / (f"{stem}.zip" if number == 0 else f"{stem}-{number}.zip")
        with contextlib.suppress(FileExistsError):
            target.touch(exist_ok=False)
            return target
    raise HandInError(f"submit: {folder} holds a thousand files of this second.")


def _pack(target, chapter, student, stamp, notebooks):
    kept = records.read()
    names = [f"{chapter}/{notebook.stem}" for notebook in notebooks]
    manifest = {
        "format": FORMAT,
        "chapter": chapter,
        "student": student,
        "time": stamp,
        "records": {name: kept[name] for name in names if name in kept},
    }
    partial = target.with_suffix(".part")
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as bundle:
            bundle.writestr("manifest.json", json.dumps(manifest, indent=1))
            for notebook in notebooks:
                bundle.write(notebook, f"{chapter}/{notebook.name}")
        partial.replace(target)
    except BaseException:
        for path in (partial, target):
            path.unlink(missing_ok=True)
        raise


def _say(target, chapter, notebooks):
    print(
        f"Packed {len(notebooks)} notebooks of {chapter} as they were last saved "
        "(save open ones first, then submit again):"
    )
    kept = records.read()
    for entry in board.notebooks():
        name = entry["notebook"]
        if not name.startswith(f"{chapter}/"):
            continue
        path = session.course_folder() / f"{name}.ipynb"
        if path not in notebooks:
            print(f"  {path.stem}: missing. If it was renamed, give it this name and submit again.")
            continue
        saved = time.strftime("%H:%M", time.localtime(path.stat().st_mtime))
        state = _state(kept.get(name, {}).get("exercises", {}), entry["exercises"])
        print(f"  {path.stem} (saved {saved}): {state}")
    print(f"Hand in this file: {target}")


def _state(done: dict, exercises: dict) -> str:
    """What is not solved, and what was solved once but not at its newest check: the newest may be what is saved."""
    best = {name: records.best_of(done.get(name, {}), exercises[name]) for name in exercises}
    solved = [name for name in exercises if best[name] and best[name]["kind"] == "full"]
    missing = [name for name in exercises if name not in solved]
    fallen = [name for name in solved if done[name]["newest"]["kind"] != "full"]
    words = f"not fully solved: {', '.join(missing)}" if missing else "all solved"
    return words + (f"; solved, but not at the newest check: {', '.join(fallen)}" if fallen else "")

"""`submit(chapter)`: pack a chapter into one file to hand in. Earlier files are kept."""

import contextlib
import json
import re
import time
import zipfile
from pathlib import Path

from descent import board, records, session, updating, written

FORMAT = 1
STATES = ("all solved", "not answered", "not fully solved", "not checked as it is saved")


class HandInError(ValueError):
    """What is needed before a chapter can be handed in. A notebook shows the sentence alone."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def submit(chapter: str, student: str | None = None) -> Path:
    """Pack the notebooks of `chapter` ("03_optimisation") as they are saved -> path of the zip file.

    student: your identifier as your instructor knows it (letters, digits, . _ @ -); remembered after the first time.
    Says what is not solved yet. Raises HandInError when there is no such chapter, no identifier or no room, where a
    file is no notebook, and where what was solved is not saved.
    """
    folder = session.course_folder() / chapter
    found = sorted(folder.glob("*.ipynb")) if re.fullmatch(r"\w+", chapter) else []
    notebooks = [path for path in found if not updating.is_kept(path)]
    if not notebooks:
        chapters = ", ".join(sorted({n["notebook"].split("/")[0] for n in board.notebooks()}))
        raise HandInError(f"submit: there is no chapter {chapter!r}. Chapters: {chapters}.")
    student = _identify(student)
    saved = {path: _read(path) for path in notebooks}
    _require_saved(chapter, saved)
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
    _say(target, chapter, saved)
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


def _read(path: Path) -> written.Saved:
    try:
        return written.Saved(path)
    except ValueError as error:
        raise HandInError(
            f"submit: {path.name} is no notebook: {error}. Nothing was packed. Put your copy of the notebook in its "
            "place, or take the file out of the chapter's folder, then submit again."
        ) from error


def _require_saved(chapter, saved):
    """Refuse to pack a notebook that was not saved since an answer in it was solved."""
    lost = []
    for path, asked in _asked(chapter).items():
        for exercise, entry in asked if path in saved else []:
            newest = {"kind": "", "time": 0, "source": ""} | entry.get("newest", {})
            changed = newest["source"] not in ("", saved[path].prints.get(exercise["name"]))
            if newest["kind"] == "full" and changed and newest["time"] > path.stat().st_mtime:
                lost.append(f"{exercise['name']} in {path.stem} ({_clock(newest['time'])})")
    if lost:
        raise HandInError(
            f"submit: nothing was packed, because this was solved and is not saved: {', '.join(lost)}. "
            "Save the notebook (Ctrl-S), then submit again."
        )


def _asked(chapter) -> dict[Path, list[tuple[dict, dict]]]:
    """Path of each notebook of the chapter, there or not -> its exercises, each with its record."""
    kept, folder = records.read(), session.course_folder()
    asked = {}
    for notebook in board.notebooks():
        name = notebook["notebook"]
        if name.startswith(f"{chapter}/"):
            done = kept.get(name, {}).get("exercises", {})
            of_each = [(each, done.get(key, {})) for key, each in notebook["exercises"].items()]
            asked[folder / f"{name}.ipynb"] = of_each
    return asked


def _say(target, chapter, saved):
    print(
        f"Packed {len(saved)} notebooks of {chapter} as they were last saved "
        "(save open ones first, then submit again):"
    )
    for path, asked in _asked(chapter).items():
        if path not in saved:
            print(f"  {path.stem}: missing. If it was renamed, give it this name and submit again.")
            continue
        states = {state: [] for state in STATES}
        for exercise, entry in asked:
            name = exercise["name"]
            states[_state(saved[path].prints.get(name, ""), exercise, entry)].append(name)
        solved, *rest = STATES
        told = [f"{state}: {', '.join(states[state])}" for state in rest if states[state]]
        print(f"  {path.stem} (saved {_clock(path.stat().st_mtime)}): {'; '.join(told) or solved}")
    print(f"Hand in this file: {target}")


def _clock(seconds: float) -> str:
    return time.strftime("%H:%M", time.localtime(seconds))


def _state(saved: str, exercise: dict, entry: dict) -> str:
    """What is known of an answer whose text on disk has the fingerprint `saved`, "" where none was written."""
    solved, missing, wrong, unknown = STATES
    if not saved:
        return missing
    verdicts = [entry[key] for key in ("best", "newest") if records.best_of(entry, exercise)]
    known = [verdict for verdict in verdicts if verdict.get("source", "") in ("", saved)]
    if not known:
        return unknown
    return solved if known[0]["kind"] == "full" else wrong

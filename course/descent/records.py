"""What a student did so far, kept in one JSON file on their own machine. Nothing here may ever break a notebook:
where the file cannot be written, the course works without it."""

import contextlib
import json
import os
import tempfile
from pathlib import Path

from filelock import FileLock

from descent import session
from descent.judging import Verdict

IDLE = 15 * 60  # seconds: a longer gap between two events is a break, not work


def path() -> Path:
    return session.home() / "progress.json"


def read() -> dict:
    """All records; a broken file is set aside under another name, never overwritten."""
    if session.current.unsaved is not None:
        return session.current.unsaved
    try:
        kept = json.loads(path().read_text(encoding="utf-8"))
        if _is_record(kept):
            return kept
        raise ValueError("not a record")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        with contextlib.suppress(OSError):
            path().rename(path().with_name(f"progress-broken-{int(session.now())}.json"))
        return {}


def _is_record(kept) -> bool:
    """Whether a file holds what `write` writes: a dict, with two dicts for each "chapter/notebook"."""
    if not isinstance(kept, dict):
        return False
    parts = [part for name, part in kept.items() if "/" in name]
    if not all(isinstance(part, dict) for part in parts):
        return False
    inner = [part.get(key, {}) for part in parts for key in ("exercises", "predictions")]
    if not all(isinstance(one, dict) for one in inner):
        return False
    return all(isinstance(e, dict) for part in parts for e in part.get("exercises", {}).values())


def write(records: dict) -> None:
    """Replace the file in one step, so that a crash leaves the old one.

    Where it cannot be written, the records last as long as this kernel.
    """
    session.current.unsaved = records
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(dir=path().parent, suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(records, file, indent=1, sort_keys=True)
            os.replace(name, path())
            session.current.unsaved = None
        finally:
            Path(name).unlink(missing_ok=True)


@contextlib.contextmanager
def _changing():
    """All records, to be changed and then written, while no other notebook writes.

    Files cannot be locked in some network folders: there the last one to write wins.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError, NotImplementedError):
            path().parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(FileLock(path().with_suffix(".lock")))
        records = read()
        yield records
        write(records)


def of_notebook(records: dict, notebook: str) -> dict:
    """The part on one notebook: "exercises" by name, "predictions" by question, "seen" (time of the last event)."""
    part = records.setdefault(notebook, {})
    part.setdefault("exercises", {})
    part.setdefault("predictions", {})
    return part


def record_visit(notebook: str) -> None:
    with _changing() as records:
        of_notebook(records, notebook)["seen"] = session.now()


def record_student(name: str) -> None:
    with _changing() as records:
        records["student"] = name


def record_check(notebook: str, verdict: Verdict) -> None:
    """Count a check; the points kept are those of the newest check."""
    with _changing() as records:
        entry = _entry(records, notebook, verdict.exercise)
        entry["checks"] = entry.get("checks", 0) + 1
        entry |= {"points": verdict.points, "max_points": verdict.max_points, "kind": verdict.kind}
        if verdict.kind == "full":
            entry.setdefault("solved", session.now())


def next_hint(notebook: str, name: str, levels: int) -> int:
    """The level of hint to show now, 0 to levels - 1; each call goes one further."""
    with _changing() as records:
        entry = _entry(records, notebook, name)
        level = min(entry.get("hints", 0), levels - 1)
        entry["hints"] = level + 1
    return level


def _entry(records, notebook, name):
    """The record of one exercise, with the working time since the notebook's last event added to it."""
    part = of_notebook(records, notebook)
    entry = part["exercises"].setdefault(name, {})
    gap = session.now() - part.get("seen", session.now())
    if "solved" not in entry:
        entry["seconds"] = round(entry.get("seconds", 0) + min(max(gap, 0), IDLE), 1)
    part["seen"] = session.now()
    return entry


def record_guess(notebook: str, question: str, guess: str) -> None:
    with _changing() as records:
        of_notebook(records, notebook)["predictions"].setdefault(question, guess)


def guess_of(notebook: str, question: str) -> str | None:
    return of_notebook(read(), notebook)["predictions"].get(question)

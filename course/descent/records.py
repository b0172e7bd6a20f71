"""What a student did so far, kept in one JSON file on their own machine. Nothing here may ever break a notebook:
where the file cannot be written, the course works without it, and says so once.

    {"format": 2, "student": "ada", "03_optimisation/01_gradient_descent": {
        "seen": time of the last event, "guesses": {name of a prediction: option},
        "exercises": {"gd": {"version": what its verdicts were judged on, "checks": 3, "seconds": 61.2, "hints": 1,
            "best": {"kind": "full", "points": earned, "max_points": of, "time": of the check, "source": fingerprint},
            "newest": {the same}, "solved": time,
            "shown": {"time": first seen the worked answer, "version": of the exercise, "solved": whether before}}}}}
"""

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock

from descent import session
from descent.judging import Verdict

FORMAT = 2
VERDICT = ("points", "max_points", "kind")
IDLE = 15 * 60  # seconds: a longer gap between two events is a break, not work


def path() -> Path:
    return session.home() / "progress.json"


def read() -> dict:
    """All records. A broken file is set aside under another name, one of a newer course is left alone."""
    if session.current.unsaved is not None:
        return session.current.unsaved
    try:
        kept = json.loads(path().read_text(encoding="utf-8"))
        if _is_newer(kept):
            return _left_alone()
        if not _is_record(kept):
            raise ValueError("not a record")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        return _set_aside(error)
    return kept if "format" in kept else _of_format_1(kept)


def _is_newer(kept) -> bool:
    found = kept.get("format") if isinstance(kept, dict) else None
    return type(found) is int and found > FORMAT


def _left_alone() -> dict:
    """No records, beside a file that is not ours to change."""
    session.current.unsaved, session.current.saving = {}, False
    _say("your progress was kept by a newer edition of the course. It stays as it is")
    return session.current.unsaved


def _is_record(kept) -> bool:
    """Whether a file holds what `write` writes, or wrote: a dict, with dicts for each "chapter/notebook"."""
    if not isinstance(kept, dict):
        return False
    parts = [part for name, part in kept.items() if "/" in name]
    if not all(isinstance(part, dict) for part in parts):
        return False
    inner = [part.get(key, {}) for part in parts for key in ("exercises", "predictions", "guesses")]
    if not all(isinstance(one, dict) for one in inner):
        return False
    entries = [entry for part in parts for entry in part.get("exercises", {}).values()]
    if not all(isinstance(entry, dict) for entry in entries):
        return False
    verdicts = [entry[key] for entry in entries for key in ("best", "newest") if key in entry]
    return all(isinstance(entry.get("shown", {}), dict) for entry in entries) and all(
        isinstance(verdict, dict) and set(VERDICT) <= verdict.keys() for verdict in verdicts
    )


def _of_format_1(kept: dict) -> dict:
    """Records as they were before one verdict became two, and `predictions` `guesses`."""
    for part in (part for name, part in kept.items() if "/" in name):
        part["guesses"] = part.pop("predictions", {})
        for entry in part.get("exercises", {}).values():
            verdict = {key: entry.pop(key) for key in VERDICT if key in entry}
            if verdict.keys() == set(VERDICT):
                entry |= {"best": verdict, "newest": verdict}
    return kept


def _set_aside(error) -> dict:
    """No records, after a file that cannot be read was given another name."""
    aside = path().with_name(f"progress-broken-{int(session.now())}.json")
    try:
        path().rename(aside)
        _say(
            f"the file of your progress cannot be read ({error}). It is kept as {aside}, and a new one is begun"
        )
    except OSError:
        session.current.unsaved = {}
        _say(
            f"the file of your progress cannot be read ({error}). What you do now counts until the kernel ends"
        )
    return {}


def write(records: dict) -> None:
    """Replace the file in one step, so that a crash leaves the old one.

    Where it cannot be written, the records last as long as this kernel, which is said once.
    """
    session.current.unsaved = records
    if not session.current.saving:
        return
    try:
        handle, name = tempfile.mkstemp(dir=path().parent, suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump({"format": FORMAT} | records, file, indent=1, sort_keys=True)
            os.replace(name, path())
            session.current.unsaved = None
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        _say(
            f"your progress cannot be saved in {path().parent} ({error.strerror}). It counts until the kernel ends"
        )


def _say(words: str) -> None:
    """Tell the student, once in this kernel."""
    if words not in session.current.told:
        session.current.told.add(words)
        print(f"Note: {words}.")


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
    """The part on one notebook: "exercises" by name, "guesses" by prediction, "seen" (time of the last event)."""
    part = records.setdefault(notebook, {})
    part.setdefault("exercises", {})
    part.setdefault("guesses", {})
    return part


def record_visit(notebook: str) -> None:
    with _changing() as records:
        of_notebook(records, notebook)["seen"] = session.now()


def record_student(name: str) -> None:
    with _changing() as records:
        records["student"] = name


def version_of(exercise: dict) -> str:
    """A fingerprint of what an exercise asks (of its check data), the same on every machine: results are left out."""
    cases = [(case["name"], sorted(case["inputs"])) for case in exercise["cases"]]
    asked = [exercise["points"], exercise["compare"], exercise["probe"], cases]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:8]


def record_check(notebook: str, exercise: dict, verdict: Verdict, source: str) -> None:
    """Count a check, and keep its verdict as the newest, and as the best where none of this version was better.

    source: the fingerprint of the answer's text, "" where that is not known.
    """
    with _changing() as records:
        entry = _entry(records, notebook, verdict.exercise)
        entry["checks"] = entry.get("checks", 0) + 1
        newest = {key: getattr(verdict, key) for key in VERDICT}
        newest |= {"time": session.now(), "source": source}
        entry["newest"] = newest
        before = best_of(entry, exercise)
        if not before or newest["points"] >= before["points"]:
            entry["best"] = newest
        entry["version"] = version_of(exercise)
        if newest["kind"] == "full":
            entry.setdefault("solved", session.now())


def best_of(entry: dict, exercise: dict) -> dict | None:
    """The best verdict on an exercise as it is asked now; None where it was never checked, or asked otherwise."""
    same = entry.get("version") in (None, version_of(exercise))  # old records tell no version
    return entry.get("best") if same else None


def is_solved(entry: dict, exercise: dict) -> bool:
    """Whether an exercise, as it is asked now, had full points once."""
    return (best_of(entry, exercise) or {}).get("kind") == "full"


def entry_of(notebook: str, name: str) -> dict:
    """The record of one exercise; empty where nothing happened."""
    return of_notebook(read(), notebook)["exercises"].get(name, {})


def record_shown(notebook: str, exercise: dict) -> None:
    """Keep when the worked answer was first seen, and whether the exercise was solved before."""
    with _changing() as records:
        entry = _entry(records, notebook, exercise["name"])
        if not was_shown(entry, exercise):
            version, solved = version_of(exercise), is_solved(entry, exercise)
            entry["shown"] = {"time": session.now(), "version": version, "solved": solved}


def was_shown(entry: dict, exercise: dict) -> bool:
    """Whether the worked answer of an exercise, as it is asked now, was seen."""
    return entry.get("shown", {}).get("version") == version_of(exercise)


def was_given_up(entry: dict, exercise: dict) -> bool:
    """Whether the worked answer was seen before the exercise was solved."""
    return was_shown(entry, exercise) and not entry["shown"].get("solved")


def next_hint(notebook: str, name: str, levels: int) -> int:
    """How many of an exercise's hints were seen before this call, `levels` at most; each call shows one more."""
    with _changing() as records:
        entry = _entry(records, notebook, name)
        seen = min(entry.get("hints", 0), levels)
        entry["hints"] = min(seen + 1, levels)
    return seen


def _entry(records, notebook, name):
    """The record of one exercise, with the working time since the notebook's last event added to it."""
    part = of_notebook(records, notebook)
    entry = part["exercises"].setdefault(name, {})
    gap = session.now() - part.get("seen", session.now())
    if "solved" not in entry:
        entry["seconds"] = round(entry.get("seconds", 0) + min(max(gap, 0), IDLE), 1)
    part["seen"] = session.now()
    return entry


def record_guess(notebook: str, question: str, guess: str, options: Sequence[str]) -> None:
    """Keep a guess by its question, or its prediction's name. The first stays while it is among the options."""
    with _changing() as records:
        guesses = of_notebook(records, notebook)["guesses"]
        if guesses.get(question) not in options:
            guesses[question] = guess


def guess_of(notebook: str, question: str, options: Sequence[str]) -> str | None:
    """The guess that was kept; None where there is none, or where its option is there no longer."""
    guess = of_notebook(read(), notebook)["guesses"].get(question)
    return guess if guess in options else None

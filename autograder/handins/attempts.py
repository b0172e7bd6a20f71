"""What a student handed in for a chapter: every attempt as it came, and which of them is the one to grade.

grading/received/CHAPTER/STUDENT holds each attempt's zip, beside it what is known of it as JSON, and `current.json`:
the same of the attempt that lies in grading/submitted, where grading and nbgrader look.
"""

import datetime
import json
import os
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

from autograder.handins.policy import Policy
from autograder.workspace import Workspace, write_text


@dataclass
class Attempt:
    """One hand-in that is kept. file: its zip's name. stamp: its time, in the course's time zone.

    clock: where the time is from: "name" (the file's), "lms", or "file" (the date of a file, which is often that of a
    download, so that it orders attempts but makes nobody late). late: an LMS calls it late. lms: whom the LMS named.
    """

    file: str
    stamp: str
    clock: str = "name"
    late: bool = False
    lms: str = ""
    submitted: str = ""
    records: dict = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def order(self) -> tuple[str, int]:
        """Sorts attempts by time, those of one second as they came."""
        number = re.search(r"--\d{8}-\d{6}-(\d+)\.zip$", self.file)
        return self.stamp, int(number[1]) if number else 0


def kept(space: Workspace, chapter: str, student: str) -> list[Attempt]:
    """All attempts, oldest first."""
    folder = space.received(chapter, student)
    return sorted((_read(path) for path in folder.glob("*.zip")), key=lambda a: a.order)


def _read(path: Path) -> Attempt:
    """What is known of a kept zip; of one without a note, what its name says."""
    told = _json(path.with_suffix(".json"))
    stamp = re.search(r"\d{8}-\d{6}(?=(-\d+)?\.zip$)", path.name)
    told = {"stamp": stamp[0] if stamp else ""} | told | {"file": path.name}
    return Attempt(**{key: told[key] for key in Attempt.__dataclass_fields__ if key in told})


def _json(path) -> dict:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def current(space: Workspace, chapter: str, student: str) -> str:
    """The file of the attempt that is laid out; empty where none is."""
    return _json(space.received(chapter, student) / "current.json").get("file", "")


def keep(space: Workspace, chapter: str, student: str, data: bytes, attempt: Attempt) -> bool:
    """Keep an attempt, and name its file. False when it was kept before; nothing is ever overwritten."""
    folder = space.received(chapter, student)
    folder.mkdir(parents=True, exist_ok=True)
    last = kept(space, chapter, student)[-1:]
    if (
        last
        and (folder / last[0].file).read_bytes() == data
        and "file" in (last[0].clock, attempt.clock)
    ):
        # The same once more: the date of a file is that of a download. A better time is noted.
        attempt.file = last[0].file
        if attempt.clock != "file":
            _note(folder, attempt)
        return False
    for number in range(1000):
        suffix = f"-{number}" if number else ""
        path = folder / f"{chapter}--{student}--{attempt.stamp}{suffix}.zip"
        attempt.file = path.name
        if not path.exists():
            _note(folder, attempt)
            partial = path.with_suffix(".part")
            partial.write_bytes(data)
            os.replace(partial, path)  # no half zip, and none without its note
            return True
        if path.read_bytes() == data:
            return False
    raise RuntimeError(f"{folder} holds a thousand hand-ins of one second.")


def _note(folder, attempt) -> None:
    write_text((folder / attempt.file).with_suffix(".json"), _text(attempt))


def days_late(policy: Policy, chapter: str, student: str, attempt: Attempt) -> int:
    """Days begun after the deadline. What an LMS calls late is late by one day at least."""
    least = int(attempt.late and policy.deadline(chapter, student) is not None)
    if attempt.clock == "file":
        return least
    try:
        return max(least, policy.days_late(chapter, student, policy.when(attempt.stamp)))
    except ValueError:  # a stamp that is no time: 20261350-000000
        return least


def choose(policy: Policy, chapter: str, student: str, attempts: list[Attempt]) -> Attempt:
    """The attempt to grade: the last in time, else the last. Under "best" the last, until grading knows better."""
    in_time = [a for a in attempts if not days_late(policy, chapter, student, a)]
    return (in_time if in_time and policy.attempts == "last" else attempts)[-1]


def lay_out(
    space: Workspace, chapter: str, student: str, attempt: Attempt, notebooks: dict[str, bytes]
) -> None:
    """Put an attempt's notebooks (by stem) where nbgrader expects a submission, instead of what lay there."""
    folder = space.submitted(chapter, student)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.ipynb"):
        old.unlink()
    for stem, data in notebooks.items():
        (folder / f"{stem}.ipynb").write_bytes(data)
    write_text(folder / "timestamp.txt", attempt.submitted + "\n")
    write_text(space.received(chapter, student) / "current.json", _text(attempt))


def as_utc(policy: Policy, stamp: str) -> str:
    """The stamp as nbgrader reads times; the present for a stamp that is no time."""
    try:
        when = policy.when(stamp)
    except ValueError:
        when = datetime.datetime.now(datetime.UTC)
    return f"{when.astimezone(datetime.UTC):%Y-%m-%d %H:%M:%S} UTC"


def _text(attempt) -> str:
    return json.dumps(asdict(attempt), indent=1, ensure_ascii=False)

"""What a student handed in for a chapter: every attempt as it came, and which of them is the one to grade.

grading/received/CHAPTER/STUDENT holds each attempt's zip, beside it what is known of it as JSON, and `current.json`:
the same of the attempt that lies in grading/submitted, where grading and nbgrader look.
"""

import datetime
import json
import os
import re
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from autograder.handins.policy import Policy
from autograder.workspace import Workspace, write_text

# What is known of an attempt's time, the worst first.
_CLOCKS = ("file", "name", "lms")


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Kept:
    """An attempt as it was handed in, with the file it is kept in. new: it was not received before.

    corrected: the time that was known of it until now, where that is another.
    """

    attempt: Attempt
    new: bool
    corrected: str = ""


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


def keep(space: Workspace, chapter: str, student: str, data: bytes, attempt: Attempt) -> Kept:
    """Keep an attempt under a name of its own; no hand-in is ever overwritten.

    What is known of the time of one that was kept before is corrected by what is known better: see `_again`.
    """
    folder = space.received(chapter, student)
    folder.mkdir(parents=True, exist_ok=True)
    again = _again(folder, kept(space, chapter, student), data, attempt)
    if again:
        return _once_more(folder, again, replace(attempt, file=again.file))
    for number in range(1000):
        suffix = f"-{number}" if number else ""
        path = folder / f"{chapter}--{student}--{attempt.stamp}{suffix}.zip"
        named = replace(attempt, file=path.name)
        if not path.exists():
            _note(folder, named)
            partial = path.with_suffix(".part")
            partial.write_bytes(data)
            os.replace(partial, path)  # no half zip, and none without its note
            return Kept(named, new=True)
        if path.read_bytes() == data:
            return Kept(named, new=False)
    raise RuntimeError(f"{folder} holds a thousand hand-ins of one second.")


def _once_more(folder, before: Attempt, attempt: Attempt) -> Kept:
    """An attempt that was kept before, with the better of the two times."""
    better = _CLOCKS.index(attempt.clock) >= _CLOCKS.index(before.clock)
    if attempt.clock == "file" or not better:
        return Kept(attempt, new=False)
    _note(folder, attempt)
    return Kept(attempt, new=False, corrected=before.stamp if before.stamp != attempt.stamp else "")


def _again(folder, before: list[Attempt], data: bytes, attempt: Attempt) -> Attempt | None:
    """The attempt that this is once more, at another time: the same file of the same account of an LMS.

    Moodle has one time for it, which reads otherwise when its time zone was changed. Else the last one, where one of
    the two times is the date of a file, which is that of a download.
    """
    for known in reversed(before):
        clocks = {attempt.clock, known.clock}
        told = "lms" in clocks and attempt.lms and attempt.lms == known.lms
        dated = "file" in clocks and known is before[-1]
        if (told or dated) and (folder / known.file).read_bytes() == data:
            return known
    return None


def _note(folder, attempt) -> None:
    write_text((folder / attempt.file).with_suffix(".json"), _text(attempt))


def days_late(policy: Policy, chapter: str, student: str, attempt: Attempt) -> int:
    """Days begun after the deadline: see `lateness`."""
    return lateness(policy, chapter, student, attempt)[0]


def lateness(policy: Policy, chapter: str, student: str, attempt: Attempt) -> tuple[int, str]:
    """(days begun after the deadline, what is doubtful about that, or empty).

    The deadline of the policy decides, by the attempt's time. An LMS that says "late" is asked only where there is no
    deadline, or no time is known; it counts for one day, and knows nothing of extra time.
    """
    end, extra = policy.deadline(chapter, student), policy.has_extra(chapter, student)
    when = _when(policy, attempt)
    days = policy.days_late(chapter, student, when) if when else 0
    if end and when and attempt.clock != "file":
        told = attempt.late and not days and not extra
        return days, "the LMS calls it late, but its time is before the deadline" if told else ""
    if attempt.late and extra and (not end or days or not when):
        return 0, (
            "the LMS calls it late, but there is extra time, and its time is not known: counted as in time"
        )
    if attempt.late and not end:
        return 1, ""
    if attempt.late and (days or not when):
        return 1, "its time is not known, but the LMS calls it late: counted as one day late"
    if days:
        return 0, "its time is not known: counted as in time, though its date is after the deadline"
    return 0, ""  # a file that was downloaded before the deadline came before it, too


def _when(policy, attempt) -> datetime.datetime | None:
    """The attempt's time; None for a stamp that is none (20261350-000000), and for the 1980 of zips without dates."""
    try:
        when = policy.when(attempt.stamp)
    except ValueError:
        return None
    return when if when.year >= 2000 else None


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


def is_laid_out(space: Workspace, chapter: str, student: str) -> bool:
    """Whether there is something to grade: a notebook in grading/submitted."""
    return any(space.submitted(chapter, student).glob("*.ipynb"))


def students(space: Workspace, chapter: str) -> list[str]:
    """Who has handed in, whatever became of grading/submitted."""
    return sorted(
        {path.parent.name for path in space.received(chapter, "x").parent.glob("*/*.zip")}
    )


def known(space: Workspace, chapter: str) -> set[str]:
    """Who has handed in: their ids, and the accounts that an LMS named ("Moodle 4711")."""
    ids = students(space, chapter)
    accounts = {attempt.lms for student in ids for attempt in kept(space, chapter, student)}
    return {*ids, *accounts}


def as_utc(policy: Policy, stamp: str) -> str:
    """The stamp as nbgrader reads times; the present for a stamp that is no time."""
    try:
        when = policy.when(stamp)
    except ValueError:
        when = datetime.datetime.now(datetime.UTC)
    return f"{when.astimezone(datetime.UTC):%Y-%m-%d %H:%M:%S} UTC"


def _text(attempt) -> str:
    return json.dumps(asdict(attempt), indent=1, ensure_ascii=False)

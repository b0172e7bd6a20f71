"""What the course agreed on: deadlines, late days, extra time, attempts, dropped exercises, in grading/policy.toml.

docs/policy.md has an example, and says what each key means. Nothing of this is written into a score: it is applied when
marks are exported, so that a change counts at once.
"""

import datetime
import json
import math
import tomllib
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from autograder.workspace import Workspace, nearest_first

DAY = timedelta(days=1)
MOST = 100_000  # days or minutes: more is a slip
_KEYS = {"timezone", "attempts", "drop", "deeper", "deadlines", "late", "extra_time"}
_LATE = {"percent_per_day", "at_most", "grace_minutes"}
_UNITS = {"days", "minutes"}
_WRITE = "write { days = 2 } or { minutes = 30 }"


class PolicyError(ValueError):
    """policy.toml cannot be followed; str() names the key and says what to do."""


@dataclass(frozen=True)
class Policy:
    """The agreement. deeper: whether exercises beside the core count. zone: None for this machine's.

    extra: student -> chapter, or "" for all -> (days, minutes).
    """

    zone: datetime.tzinfo | None = None
    attempts: str = "last"
    drop: tuple[str, ...] = ()
    deeper: bool = True
    deadlines: dict[str, datetime.datetime] = field(default_factory=dict)
    percent_per_day: float = 0.0
    at_most: float = 100.0
    grace: timedelta = timedelta()
    extra: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)

    def when(self, stamp: str) -> datetime.datetime:
        """A stamp, YYYYmmdd-HHMMSS in the course's time zone. Raises ValueError for another text."""
        local = datetime.datetime.strptime(stamp, "%Y%m%d-%H%M%S")
        return local.replace(tzinfo=self.zone) if self.zone else local.astimezone()

    def deadline(self, chapter: str, student: str) -> datetime.datetime | None:
        """When this student's time is over. Extra days end at the same time of day, whatever clocks do."""
        end = self.deadlines.get(chapter)
        if end is None:
            return None
        mine = self.extra.get(student, {})
        days, minutes = mine.get(chapter, mine.get("", (0, 0)))
        return (end + timedelta(days=days)).astimezone(datetime.UTC) + timedelta(minutes=minutes)

    def closes(self, chapter: str) -> datetime.datetime | None:
        """When the last student's time is over, the grace too; None where there is no deadline."""
        if chapter not in self.deadlines:
            return None
        ends = [self.deadline(chapter, student) for student in ("", *self.extra)]
        return (max(ends) + self.grace).astimezone(self.zone)

    def days_late(self, chapter: str, student: str, handed_in: datetime.datetime) -> int:
        """Days begun after the deadline; 0 within the grace."""
        end = self.deadline(chapter, student)
        if end is None or handed_in <= end + self.grace:
            return 0
        return math.ceil((handed_in - end) / DAY)

    def has_extra(self, chapter: str, student: str) -> bool:
        """Whether this student has more time for the chapter than others."""
        mine = self.extra.get(student, {})
        return any(mine.get(chapter, mine.get("", ())))

    def shown(self, stamp: str) -> str:
        """A stamp for people, with its time zone; as it is where it is no time."""
        try:
            return f"{self.when(stamp):%Y-%m-%d %H:%M %Z}"
        except ValueError:
            return stamp

    def penalty(self, days: int, worth: float) -> float:
        """Points taken off for so many days, of a chapter worth so many points."""
        return worth * min(self.percent_per_day * days, self.at_most) / 100

    def check(self, students, chapters, exercises) -> None:
        """Raises PolicyError for a student, a chapter or an exercise ("chapter/notebook/name") that there is none."""
        for student, mine in self.extra.items():
            _known(f"extra_time.{student}", student, students, "student")
            for chapter in filter(None, mine):
                _known(f"extra_time.{student}.{chapter}", chapter, chapters, "chapter")
        for chapter in self.deadlines:
            _known(f"deadlines.{chapter}", chapter, chapters, "chapter")
        for exercise in self.drop:
            _known("drop", exercise, exercises, "exercise")


def load(space: Workspace) -> Policy:
    """The course's policy; where there is no file: no deadlines, the last attempt counts. Raises PolicyError."""
    path = space.folder / "policy.toml"
    try:
        return read(path) if path.exists() else Policy()
    except PolicyError as error:
        raise PolicyError(f"{path}: {error}") from None


def checked(space: Workspace) -> Policy:
    """The course's policy, for those who follow it before anything is graded.

    Raises PolicyError also for a chapter or an exercise that is not released. Students may hand in yet.
    """
    rules = load(space)
    there = space.chapters()
    asked = {name.split("/")[0] for name in rules.drop}.intersection(there)
    exercises = {name for chapter in asked for name in parts(space, chapter)}
    try:
        rules.check(rules.extra, there, exercises)
    except PolicyError as error:
        raise PolicyError(f"{space.folder / 'policy.toml'}: {error}") from None
    return rules


def parts(space: Workspace, chapter: str) -> dict[str, str]:
    """What has points in a released chapter, as "chapter/notebook/exercise" -> "core" or "deeper"."""
    found = {}
    for stem, path in space.release(chapter).items():
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            told = cell["metadata"].get("nbgrader", {})
            if told.get("grade") or told.get("task"):
                name = f"{chapter}/{stem}/{told['grade_id'].removeprefix('check-')}"
                found[name] = cell["metadata"].get("descent", {}).get("part", "core")
    return found


def uncounted(space: Workspace, chapter: str, rules: Policy) -> set[str]:
    """The exercises that count for nobody: what is dropped and, by the policy, what is deeper."""
    if rules.deeper:
        return set(rules.drop)
    deeper = {name for name, part in parts(space, chapter).items() if part == "deeper"}
    return deeper | set(rules.drop)


def read(path: Path) -> Policy:
    """The policy in a file. Raises PolicyError."""
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:  # no UTF-8, no TOML
        raise PolicyError(str(error)) from None
    _only("", told, _KEYS)
    late = _table(told, "late")
    _only("late.", late, _LATE)
    zone = _zone(told.get("timezone"))
    return Policy(
        zone=zone,
        attempts=_one_of(told, "attempts", ["last", "best"]),
        drop=_names(told, "drop"),
        deeper=_one_of(told, "deeper", [True, False]),
        deadlines={c: _deadline(c, end, zone) for c, end in _table(told, "deadlines").items()},
        percent_per_day=_number(late, "percent_per_day", "late.", 0, 100),
        at_most=_number(late, "at_most", "late.", 100, 100),
        grace=timedelta(minutes=_number(late, "grace_minutes", "late.", 0, MOST)),
        extra={
            student: _extra(student, mine) for student, mine in _table(told, "extra_time").items()
        },
    )


def _known(key, name, names, what) -> None:
    if name in names:
        return
    more = " (with --roster FILE, those who have not handed in too)" if what == "student" else ""
    shown = nearest_first(name, names)
    raise PolicyError(f"{key}: there is no {what} {name!r}. There are: {shown}{more}")


def _only(where, table, keys) -> None:
    for key in table:
        if key not in keys:
            raise PolicyError(f"{where}{key}: no such key. There are: {', '.join(sorted(keys))}")


def _table(told, key) -> dict:
    table = told.get(key, {})
    if not isinstance(table, dict):
        raise PolicyError(f"{key}: write it as a table, [{key}]")
    return table


def _one_of(told, key, values) -> str:
    value = told.get(key, values[0])
    if value not in values:
        there = ", ".join(str(one).lower() for one in values)  # as TOML writes True
        raise PolicyError(f"{key}: {value!r} is none of {there}")
    return value


def _names(told, key) -> tuple[str, ...]:
    names = told.get(key, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise PolicyError(f'{key}: write a list of "chapter/notebook/exercise"')
    return tuple(names)


def _number(table, key, where, default, most) -> float:
    value = table.get(key, default)
    if type(value) not in (int, float) or not 0 <= value <= most:
        raise PolicyError(f"{where}{key}: {value!r} is no number from 0 to {most:g}")
    return value


def _zone(name) -> datetime.tzinfo | None:
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except Exception:  # no text, no path inside the database, no such zone: many kinds
        raise PolicyError(f'timezone: {name!r} is none, write one like "Europe/Berlin"') from None


def _deadline(chapter, end, zone) -> datetime.datetime:
    key = f"deadlines.{chapter}"
    if not isinstance(end, datetime.datetime):
        raise PolicyError(f"{key}: write a date and a time, like 2026-11-30T23:59:00")
    if end.tzinfo:
        return end
    if zone is None:
        raise PolicyError(f'{key}: say in which time zone: timezone = "Europe/Berlin" at the top')
    return end.replace(tzinfo=zone)


def _extra(student, mine) -> dict[str, tuple[float, float]]:
    """`{ days = 7 }` for every chapter, `{ chapter = { minutes = 90 } }` for that one instead."""
    key = f"extra_time.{student}"
    if not isinstance(mine, dict) or not mine:
        raise PolicyError(f"{key}: {_WRITE}")
    chapters = {name: time for name, time in mine.items() if name not in _UNITS}
    found = {name: _extra_in(f"{key}.{name}", time) for name, time in chapters.items()}
    always = {unit: number for unit, number in mine.items() if unit in _UNITS}
    return found | ({"": _extra_in(key, always)} if always else {})


def _extra_in(key, time) -> tuple[float, float]:
    if not isinstance(time, dict):
        raise PolicyError(f"{key}: {_WRITE}")
    _only(f"{key}.", time, _UNITS)
    return tuple(_number(time, unit, f"{key}.", 0, MOST) for unit in ("days", "minutes"))

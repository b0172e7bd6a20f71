"""What became of each exercise of a submission, as files: grading/verdicts/CHAPTER/STUDENT.json."""

import json
import math
from dataclasses import asdict, dataclass, field, fields

from autograder.workspace import Workspace, write_text
from descent import judging

FORMAT = 1
KINDS = judging.KINDS
MOST_GUESSES, LONGEST = 50, 500  # predictions of a notebook, characters of a name or an option


@dataclass
class Graded:
    """The verdict on one exercise of one submission, with evidence that the student may see.

    kind: one of KINDS, always that of the answer itself. restored: its check cell had been deleted, edited or copied,
    and the course's own was used: a fact beside the kind, since the answer is graded all the same and most who do it
    only slipped; evidence and how say what had happened. groups: property -> whether it holds. note: why the points are
    not each property's share, where they are not. how: how the answer was found. seconds: run time at grading. worked,
    checks, hints: the student's own record of working seconds, of checks and of hints, or None. seen: whether, by that
    record, the worked answer was seen before the exercise was solved.
    """

    exercise: str
    notebook: str
    kind: str
    points: float
    max_points: float
    evidence: str
    groups: dict[str, bool] = field(default_factory=dict)
    problem: str = (
        ""  # first property that does not hold, and why, without any value of a hidden case
    )
    mistake: str = ""
    advice: str = ""
    note: str = ""
    how: str = ""
    restored: bool = False
    seconds: float = 0.0
    worked: float | None = None
    checks: int | None = None
    hints: int | None = None
    seen: bool = False


@dataclass
class Written:
    """A written answer, marked by a person: whether anything was written.

    fingerprint: of the text, to tell whether it changed since it was marked; "" where nothing is known.
    """

    name: str
    notebook: str
    max_points: float
    answered: bool
    how: str = ""
    fingerprint: str = ""


@dataclass
class Submission:
    """All verdicts on one student's chapter. notes: for the instructor. look: whether a person should look.

    no_response: "notebook/name" of the answers, written ones too, that are missing or as they were handed out.
    guesses: by "notebook/name" the option that the student chose at a prediction: told, not trusted.
    """

    chapter: str
    student: str
    submitted: str = ""
    file: str = ""
    verdicts: list[Graded] = field(default_factory=list)
    written: list[Written] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    look: bool = False
    seconds: float = 0.0
    no_response: list[str] = field(default_factory=list)
    guesses: dict[str, str] = field(default_factory=dict)

    @property
    def points(self) -> float:
        return round(sum(verdict.points for verdict in self.verdicts), 2)

    @property
    def max_points(self) -> float:
        return round(sum(verdict.max_points for verdict in self.verdicts), 2)

    def of_notebook(self, notebook: str) -> list[Graded]:
        return [verdict for verdict in self.verdicts if verdict.notebook == notebook]


def save(space: Workspace, submission: Submission) -> None:
    """Write the verdicts of one submission."""
    path = space.verdict_file(submission.chapter, submission.student)
    write_text(path, text(submission))


def text(submission: Submission) -> str:
    """The verdicts of one submission as the text of its file: on one line, which is made ten times as fast."""
    told = {"format": FORMAT} | asdict(submission)
    return json.dumps(told, ensure_ascii=False) + "\n"


def load(space: Workspace, chapter: str, student: str) -> Submission:
    """The verdicts of one student. Raises FileNotFoundError before the chapter was graded."""
    return parse(space.verdict_file(chapter, student).read_text(encoding="utf-8"))


def parse(told: str) -> Submission:
    """The verdicts of one submission from the text of its file."""
    told = json.loads(told)
    told.pop("format")
    told["verdicts"] = [Graded(**verdict) for verdict in told["verdicts"]]
    told["written"] = [Written(**written) for written in told["written"]]
    return Submission(**told)


def load_all(space: Workspace, chapter: str) -> list[Submission]:
    """The verdicts of everybody who was graded, by student."""
    found = sorted((space.folder / "verdicts" / chapter).glob("*.json"))
    return [load(space, chapter, path.stem) for path in found]


def add_records(verdict: Graded, records: dict) -> None:
    """Put the student's own record of time, checks and worked answers beside a verdict: told, not trusted."""
    entry = _dict(_dict(_dict(records).get(verdict.notebook)).get("exercises")).get(
        verdict.exercise
    )
    entry = _dict(entry)
    worked, checks, hints = (entry.get(key) for key in ("seconds", "checks", "hints"))
    verdict.hints = int(min(hints, 3)) if _number(hints) else 0 if entry else None
    if _number(worked):
        verdict.worked = round(min(float(worked), 1e6), 1)
    if _number(checks):
        verdict.checks = int(min(checks, 1e6))
    verdict.seen = _dict(entry.get("shown")).get("solved") is False


def guesses(notebooks: list[str], records: dict) -> dict[str, str]:
    """The guesses in a student's own record: by "notebook/name", no more and no longer than a course asks for."""
    told = {}
    for notebook in notebooks:
        made = _dict(_dict(_dict(records).get(notebook)).get("guesses"))
        kept = [(n, guess) for n, guess in made.items() if isinstance(guess, str)]
        told |= {f"{notebook}/{n[:LONGEST]}": guess[:LONGEST] for n, guess in kept[:MOST_GUESSES]}
    return told


def _dict(value) -> dict:
    return value if isinstance(value, dict) else {}


def _number(value) -> bool:
    return type(value) in (int, float) and value >= 0 and math.isfinite(value)


def of_judgement(verdict: judging.Verdict, notebook: str) -> Graded:
    """A judge's verdict as it is kept."""
    failed = verdict.failed
    shared = {f.name for f in fields(judging.Verdict)} & {f.name for f in fields(Graded)}
    kept = {name: getattr(verdict, name) for name in shared}
    problem = f"{failed.name}: {failed.problem}" if failed else ""
    return Graded(notebook=notebook, groups=verdict.groups, problem=problem, **kept)

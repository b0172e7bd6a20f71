"""What each student gets for a chapter: the gradebook's scores, and on them the course's policy."""

import datetime
from collections import defaultdict
from dataclasses import dataclass, field

from autograder.grading import verdicts
from autograder.grading.gradebook.book import open_gradebook
from autograder.handins import attempts
from autograder.handins.policy import Policy, parts, uncounted
from autograder.workspace import Workspace


@dataclass
class Mark:
    """One student's chapter. scores: column "chapter/notebook/exercise" -> points, without what is dropped.

    penalty: points off for being late. waiting: written answers that nobody has marked yet; they count 0 so far.
    lms: whom an LMS named, "Moodle 4711", or empty. notes: what an instructor should know of this mark.
    """

    student: str
    chapter: str
    worth: float
    scores: dict[str, float] = field(default_factory=dict)
    days_late: int = 0
    penalty: float = 0.0
    waiting: int = 0
    lms: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def before(self) -> float:
        return round(sum(self.scores.values()), 2)

    @property
    def after(self) -> float:
        return round(self.before - self.penalty, 2)


@dataclass
class Marks:
    """worth: chapter -> column -> points to get. deeper: columns beside the core. rows: a mark a student and chapter,
    in order."""

    worth: dict[str, dict[str, float]] = field(default_factory=dict)
    deeper: set[str] = field(default_factory=set)
    rows: list[Mark] = field(default_factory=list)

    def columns(self, chapter: str) -> list[str]:
        return sorted(self.worth[chapter])

    def total(self, chapter: str) -> float:
        return round(sum(self.worth[chapter].values()), 2)


def read(space: Workspace, chapters: list[str], policy: Policy, students=()) -> Marks:
    """The marks of these chapters, all without. `students` are known besides those who handed in.

    Raises PolicyError when the policy names something that there is not, BookError for a gradebook that fails.
    """
    if not space.has_gradebook():
        return Marks()
    with open_gradebook(space) as book:
        worth = _worth(book)
        _check(space, policy, worth, {s.id for s in book.students} | set(students))
        marks = Marks()
        for chapter in sorted(chapters or worth):
            dropped = uncounted(space, chapter, policy)
            mine = worth.get(chapter, {})
            marks.worth[chapter] = {name: mine[name] for name in mine if name not in dropped}
            told = parts(space, chapter)
            marks.deeper |= {name for name in marks.worth[chapter] if told.get(name) == "deeper"}
        found = _scores(book, marks)
        times = _times(book)
    for (chapter, student), mark in sorted(found.items()):
        _late(space, policy, mark, times.get((chapter, student)))
        marks.rows.append(mark)
    return marks


def _check(space, policy, worth, students) -> None:
    """Raises PolicyError. Of a released chapter that nobody has handed in, the exercises are not known: all pass."""
    handed_in = {path.name for path in (space.folder / "received").glob("*/*/")}
    released = set(space.chapters())
    exercises = {name for chapter in worth.values() for name in chapter}
    exercises |= {name for name in policy.drop if name.split("/")[0] in released - set(worth)}
    policy.check(students | handed_in, released | set(worth), exercises)


def _worth(book) -> dict[str, dict[str, float]]:
    """Chapter -> column -> points to get."""
    from nbgrader.api import Assignment, GradeCell, Notebook, TaskCell

    worth: dict[str, dict[str, float]] = defaultdict(dict)
    for kind in (GradeCell, TaskCell):
        rows = (
            book.db.query(Assignment.name, Notebook.name, kind.name, kind.max_score)
            .join(Notebook, Notebook.assignment_id == Assignment.id)
            .join(kind, kind.notebook_id == Notebook.id)
        )
        for chapter, notebook, cell, points in rows:
            worth[chapter][column(chapter, notebook, cell)] = points
    return worth


def column(chapter: str, notebook: str, cell: str) -> str:
    """The name of an exercise in a table: "chapter/notebook/exercise"."""
    return f"{chapter}/{notebook}/{cell.removeprefix('check-')}"


def _scores(book, marks: Marks) -> dict[tuple[str, str], Mark]:
    """(chapter, student) -> mark. One query: row by row, nbgrader's objects ask the database for each."""
    from nbgrader.api import Assignment, BaseCell, Grade, Notebook, SubmittedAssignment
    from nbgrader.api import SubmittedNotebook as Page

    rows = (
        book.db.query(
            Assignment.name, SubmittedAssignment.student_id, Notebook.name, BaseCell.name,
            Grade.score, Grade.needs_manual_grade,
        )
        .select_from(Grade)
        .join(BaseCell, Grade.cell_id == BaseCell.id)
        .join(Page, Grade.notebook_id == Page.id)
        .join(Notebook, Page.notebook_id == Notebook.id)
        .join(SubmittedAssignment, Page.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
    )  # fmt: skip
    found: dict[tuple[str, str], Mark] = {}
    for chapter, student, notebook, cell, score, waits in rows:
        name = column(chapter, notebook, cell)
        if name not in marks.worth.get(chapter, {}):
            continue
        mark = found.setdefault((chapter, student), Mark(student, chapter, marks.total(chapter)))
        mark.scores[name] = round(score, 2)
        mark.waiting += bool(waits)
    return found


def _times(book) -> dict[tuple[str, str], tuple[datetime.datetime | None, float]]:
    """(chapter, student) -> (time handed in, penalty) as the gradebook has them."""
    from nbgrader.api import Assignment, SubmittedAssignment

    rows = book.db.query(
        Assignment.name, SubmittedAssignment.student_id, SubmittedAssignment.timestamp,
        SubmittedAssignment.late_submission_penalty,
    ).join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)  # fmt: skip
    return {
        (chapter, student): (when.replace(tzinfo=datetime.UTC) if when else None, penalty or 0.0)
        for chapter, student, when, penalty in rows
    }


def _late(space, policy: Policy, mark: Mark, told) -> None:
    """Set the days late and the penalty; note where another attempt should have been graded."""
    when, penalty = told or (None, 0.0)
    deadline = policy.deadline(mark.chapter, mark.student)
    mark.penalty = round(penalty, 2)  # of nbgrader's own late-penalty plugin
    everything = attempts.kept(space, mark.chapter, mark.student)
    mark.lms = next((attempt.lms for attempt in reversed(everything) if attempt.lms), "")
    graded = _graded(space, mark, everything)
    if graded:
        _note(space, policy, mark, everything, graded)
        mark.days_late, doubt = attempts.lateness(policy, mark.chapter, mark.student, graded)
        mark.notes += [doubt] if doubt else []
    elif when:
        mark.days_late = policy.days_late(mark.chapter, mark.student, when)
    if deadline is not None or mark.days_late:
        most = max(0.0, mark.before)
        mark.penalty = round(min(policy.penalty(mark.days_late, mark.worth), most), 2)


def _graded(space, mark, everything):
    """The attempt whose verdicts these are; None where that is not known."""
    try:
        file = verdicts.load(space, mark.chapter, mark.student).file
    except FileNotFoundError:
        return None
    return next((attempt for attempt in everything if attempt.file == file), None)


def _note(space, policy, mark, everything, graded) -> None:
    due = attempts.current(space, mark.chapter, mark.student)
    if policy.attempts == "last":
        due = attempts.choose(policy, mark.chapter, mark.student, everything).file
    if due != graded.file:
        mark.notes.append(
            f"{graded.file} was graded, but {due} counts: autograder grade {mark.chapter}"
        )

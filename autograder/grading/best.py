"""Under the policy `attempts = "best"`: grades every attempt of those with several, and lays out the best of each.

What follows (the gradebook, the formgrader, feedback, export) then knows one attempt a student, as under "last". The
best has most points after the penalty for lateness; of equals it is the later. A written answer is marked by a person,
so it does not decide. Results are stored by content: an attempt is run once, however often this is asked.
"""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from autograder.grading import verdicts
from autograder.grading.dispatch.run import graded
from autograder.grading.dispatch.way import Way
from autograder.grading.jobs import GradeError
from autograder.grading.lock import locked
from autograder.handins import attempts, laying_out, policy
from autograder.handins.archives import Unfit
from autograder.handins.attempts import Attempt
from autograder.handins.policy import Policy, PolicyError
from autograder.workspace import Workspace


@dataclass(frozen=True)
class Attempts(Workspace):
    """The workspace in which each attempt is a student, STUDENT--NUMBER: under grading/attempts. Results are shared."""

    def submitted(self, chapter: str, student: str) -> Path:
        return self.folder / "attempts/submitted" / student / chapter

    def received(self, chapter: str, student: str) -> Path:
        return self.folder / "attempts/received" / chapter / student

    def verdict_file(self, chapter: str, student: str) -> Path:
        return self.folder / "attempts/verdicts" / chapter / f"{student}.json"


def settle(space: Workspace, chapter: str, students: list[str], way: Way) -> None:
    """Lay out the best attempt of each student; nothing to do under "last". Raises what `graded` raises."""
    rules = _rules(space)
    if rules.attempts != "best":
        return
    every = Attempts(space.folder, space.project)
    tried = _lay_out_all(space, every, chapter, students)
    best: dict[str, tuple[float, int]] = {}
    dropped = policy.uncounted(space, chapter, rules)
    with closing(graded(every, chapter, list(tried), way)) as stream:
        for done in stream:
            verdicts.save(every, done.submission)
            student, number, attempt = tried[done.submission.student]
            points = _counts(done.submission, student, attempt, rules, dropped)
            best[student] = max(best.get(student, (0.0, 0)), (points, number))
    for student, (_, number) in best.items():
        _lay_out(
            space, space, chapter, student, student, attempts.kept(space, chapter, student)[number]
        )


def choose(space: Workspace, chapter: str) -> list[str]:
    """Lay out the attempts that count by the policy as it is now, and what is lost -> what to say of it, a line each.

    Raises GradeError when the policy cannot be followed.
    """
    with locked(space):
        changed = list(laying_out.choose_again(space, chapter, _rules(space)))
    return [f"{one.student}: {one.name}: {'; '.join(one.words)}" for one in changed]


def _rules(space) -> Policy:
    try:
        return policy.checked(space)
    except PolicyError as error:
        raise GradeError(str(error)) from None


def _lay_out_all(space, every, chapter, students) -> dict[str, tuple[str, int, Attempt]]:
    """Each attempt of those with several, under a name of its own -> (student, which, attempt)."""
    tried = {}
    for student in students:
        mine = attempts.kept(space, chapter, student)
        for number, attempt in enumerate(mine if len(mine) > 1 else []):
            name = f"{student}--{number}"
            if _lay_out(space, every, chapter, student, name, attempt):
                tried[name] = student, number, attempt
    return tried


def _lay_out(space, where, chapter, student, name, attempt) -> bool:
    """Lay an attempt out for `name` in the workspace `where`; False for a file that has been damaged since it came."""
    if attempts.current(where, chapter, name) == attempt.file:
        return True
    try:
        files = laying_out.kept_notebooks(space, chapter, student, attempt)
    except Unfit:
        return False
    attempts.lay_out(where, chapter, name, attempt, files)
    return True


def _counts(submission, student, attempt, rules: Policy, dropped: set[str]) -> float:
    """Points after the penalty, without what counts for nobody."""
    kept = [v for v in submission.verdicts if f"{v.notebook}/{v.exercise}" not in dropped]
    late = attempts.days_late(rules, submission.chapter, student, attempt)
    worth = sum(verdict.max_points for verdict in kept)
    return max(0.0, sum(verdict.points for verdict in kept) - rules.penalty(late, worth))

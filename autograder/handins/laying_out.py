"""Lays out, in grading/submitted, the attempt of each student that is the one to grade."""

from collections.abc import Iterator

from autograder.handins import attempts, notebooks
from autograder.handins.archives import Unfit
from autograder.handins.attempts import Attempt
from autograder.handins.handin import Outcome, contents
from autograder.handins.policy import Policy
from autograder.workspace import Workspace


def settle(
    space: Workspace, chapter: str, student: str, attempt: Attempt, files: dict[str, bytes],
    rules: Policy,
) -> list[str]:  # fmt: skip
    """Lay out an attempt that has just come, its notebooks by stem, if it is the one to grade; else say which is."""
    chosen = attempts.choose(rules, chapter, student, attempts.kept(space, chapter, student))
    if chosen.file == attempt.file:
        attempts.lay_out(space, chapter, student, chosen, files)
        return []
    why = "older than" if attempt.order < chosen.order else "after the deadline, which was met by"
    place = space.received(chapter, student)
    return [f"{why} {chosen.file}, which stays the one to grade; kept in {place}"]


def choose_again(space: Workspace, chapter: str, rules: Policy) -> Iterator[Outcome]:
    """Lay out the attempt that counts by the policy, for whom it is another than before, or is gone from submitted/.

    Which is the best is known when all are graded: `grade` lays that one out.
    """
    for student in attempts.students(space, chapter):
        everything = attempts.kept(space, chapter, student)
        file = attempts.current(space, chapter, student)
        now = next((attempt for attempt in everything if attempt.file == file), None)
        chosen = attempts.choose(rules, chapter, student, everything)
        if now and rules.attempts == "best":
            chosen = now
        if chosen != now or not attempts.is_laid_out(space, chapter, student):
            yield _choose_now(space, chapter, student, chosen, again=chosen == now)


def _choose_now(space, chapter, student, chosen, again) -> Outcome:
    try:
        files = kept_notebooks(space, chapter, student, chosen)
    except Unfit as unfit:
        return Outcome(chosen.file, student, False, [str(unfit)])
    attempts.lay_out(space, chapter, student, chosen, files)
    words = "was gone from submitted/, and is there again" if again else "the one to grade now"
    return Outcome(chosen.file, student, True, [words])


def kept_notebooks(
    space: Workspace, chapter: str, student: str, attempt: Attempt
) -> dict[str, bytes]:
    """The notebooks (by stem) of an attempt that is kept. Raises Unfit where it was damaged since it came."""
    data = (space.received(chapter, student) / attempt.file).read_bytes()
    return notebooks.named(space, chapter, contents(data, chapter)[0])[0]

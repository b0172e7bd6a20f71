"""Marks of a run that differ from those of the run before, though the hand-in is the same: told in a line."""

from autograder.grading import verdicts
from autograder.grading.verdicts import Submission
from autograder.workspace import Workspace

NAMED = 10


class Changes:
    """Use as a context manager and call `note` before a submission's verdicts are saved. Prints the line at its end.

    A mended specification, other points or another version of this program do that. A new hand-in is left out: its
    mark is expected to differ.
    """

    def __init__(self, space: Workspace, chapter: str):
        self.space, self.chapter = space, chapter
        self.found: dict[str, str] = {}

    def note(self, now: Submission) -> None:
        """Compare with what was saved before, where there is anything."""
        try:
            before = verdicts.load(self.space, self.chapter, now.student)
        except (OSError, ValueError, KeyError, TypeError):  # the first time; or a damaged file
            return
        if before.file == now.file:
            words = _difference(before, now)
            self.found |= {now.student: words} if words else {}

    def line(self) -> str:
        """'2 marks changed since the last run: ada −0.5, bob +1. …'; "" where none did."""
        if not self.found:
            return ""
        named = [f"{student} {words}" for student, words in sorted(self.found.items())]
        more = f", and {len(named) - NAMED} more" if len(named) > NAMED else ""
        return (
            f"{len(named)} mark{'s' * (len(named) > 1)} changed since the last run: {', '.join(named[:NAMED])}{more}. "
            f"To see such changes first, and to take them back, see autograder regrade {self.chapter}."
        )

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.found:
            print(self.line())


def _difference(before: Submission, now: Submission) -> str:
    if before.max_points != now.max_points:
        return f"{before.points:g} of {before.max_points:g} → {now.points:g} of {now.max_points:g}"
    gain = round(now.points - before.points, 2)
    return f"{gain:+g}".replace("-", "−") if gain else ""

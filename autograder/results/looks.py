"""What a person should look at in a submission, from its verdicts: reasons, none of which is an accusation."""

import re
from collections import defaultdict

from autograder.grading.verdicts import Submission

SURE = 95  # percent: an answer that was placed with less may be another's
_SURE = re.compile(r"\(confidence (\d+) ?%\)")
_FATE = re.compile(r"tampered and restored: its check cell (.*)")


def reasons(submission: Submission) -> list[str]:
    """Why a person should look, one reason a line; none for most."""
    found = []
    if submission.look:
        found = [*submission.notes, *_refused(submission)] or ["see the verdicts"]
    misnamed = [note for note in submission.notes if "file is named for" in note]
    found += [note for note in misnamed if note not in found]
    return found + _restored(submission) + _unsure(submission)


def _refused(submission) -> list[str]:
    """What the grader could not take as an answer: replies that were forged, files that cannot be read."""
    told = [
        v.evidence for v in submission.verdicts if v.kind == "output" or "be read" in v.evidence
    ]
    return list(dict.fromkeys(told))


def _restored(submission) -> list[str]:
    names = defaultdict(list)
    for verdict in submission.verdicts:
        if verdict.restored:
            fate = _FATE.search(verdict.how)
            names[fate[1] if fate else "was changed"].append(verdict.exercise)
    return [
        f"the check cell {fate}, and the course's own was used: {', '.join(those)}"
        for fate, those in names.items()
    ]


def _unsure(submission) -> list[str]:
    found = [(verdict.exercise, verdict.how) for verdict in submission.verdicts]
    found += [(written.name, written.how) for written in submission.written]
    sure = [(name, how, _SURE.search(how)) for name, how in found]
    return [
        f"{name} was {how.partition(';')[0]}" for name, how, at in sure if at and int(at[1]) < SURE
    ]

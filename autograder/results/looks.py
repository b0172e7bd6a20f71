"""What a person should look at in a submission, from its verdicts: reasons, none of which is an accusation."""

import ast
import re
from collections import defaultdict

from autograder.grading.verdicts import Submission
from autograder.results.answers import Answer

SURE = 95  # percent: an answer that was placed with less may be another's
_SURE = re.compile(r"\(confidence (\d+) ?%\)")
_FATE = re.compile(r"tampered and restored: its check cell (.*)")
# What no exercise asks for: other programs, the network, other files, the interpreter itself.
_OTHER = frozenset(
    "subprocess socket urllib requests http ctypes shutil pty signal gc inspect".split()
)
_OF_OS = frozenset("system popen fork kill environ remove unlink listdir walk _exit".split())
_BUILT_IN = frozenset("exec eval compile open __import__ globals".split())


def calls(given: list[Answer]) -> dict[str, list[str]]:
    """Student -> what their answers use that no exercise asks for, an answer a line."""
    found = defaultdict(list)
    for answer in given:
        names = sorted({name for node in ast.walk(answer.tree) for name in _unasked(node)})
        if names:
            found[answer.student].append(f"{answer.exercise} uses {', '.join(names)}")
    return found


def _unasked(node) -> list[str]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
        return [name for name in names if name.split(".")[0] in _OTHER]
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        found = [f"os.{alias.name}" for alias in node.names if alias.name in _OF_OS]
        return [module] if module.split(".")[0] in _OTHER else found if module == "os" else []
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return [f"os.{node.attr}"] if node.value.id == "os" and node.attr in _OF_OS else []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return [node.func.id] if node.func.id in _BUILT_IN else []
    return []


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

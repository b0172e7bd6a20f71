"""What a student's process says of its own outcomes, made safe to judge and to show.

The process may be hostile. Its words reach the student again through feedback, so that a name of an error or a key of a
dict could carry a hidden input out of the sandbox: only words that are ours, Python's or, within bounds, the
student's own are kept.
"""

import builtins
import math
import re

from descent import judging
from descent.running import TEXT_LIMIT, too_slow

STATUSES = ("ok", "raised", "unsolved", "slow", "exited", "unreadable")
KNOWN_ERRORS = {name for name in dir(builtins) if isinstance(getattr(builtins, name), type)} | {
    "LinAlgError", "AxisError", "OutOfMemoryError", "TooSlow",
}  # fmt: skip
_KINDS = {
    *dir(builtins),
    "NoneType",
    "function",
    "method",
    "module",
    "Generator",
    "Parameter",
    "object",
}
# The sentences of `descent.wire` on what it cannot encode, each as a whole: a test holds the two together.
_REFUSALS = re.compile(
    r"The result is an? (?P<kind>\w+)\. Return a number, a string, a list, a dict, a numpy array or a torch tensor\."
    r"|A dict key is a (?P<key>\w+)\. Use strings or numbers as keys\."
    r"|The result is an array of dtype object: its entries are not numbers\. Are its rows of different lengths\?"
    r"|The result is nested too deeply to compare \(does a list contain itself\?\)\."
    r"|The result is too large to compare\. Did it keep more than was asked\?"
    r"|The result is a generator of more than 10,000 items\."
    r"|The result has too many axes to compare\."
    r"|The result holds an integer of more than 3000 digits\."
)
_UNREADABLE = "The result cannot be read: return a number, a string, a list, a dict, a numpy array or a torch tensor."
_CLASS = re.compile(r"^[ \t]*class +(\w+)", re.M)
_MAX_LINES = 300  # of the student's that may be told
_MAX_CLASSES = 20  # of the student's own kinds of errors
_MAX_AXES = 4  # of a shape that is told


class ForgedError(ValueError):
    """Outcomes that no run of `running.run_cases` tells."""


def clean(outcomes, spec: dict, sources: list[str]) -> list[dict]:
    """Outcomes with only what may be judged and shown. sources: the student's cells, the answer's first.

    Raises ForgedError when they are not one plain outcome a case.
    """
    if not isinstance(outcomes, list) or len(outcomes) != len(spec["cases"]):
        raise ForgedError("not one outcome a case")
    lines, words = _known(sources)
    cleaned = [
        _clean_one(o, case, lines, words) for o, case in zip(outcomes, spec["cases"], strict=True)
    ]
    for outcome in cleaned:
        # The limit as the student knows it: the grader's clock is more patient.
        if outcome["status"] == "slow":
            outcome["error"] |= too_slow(spec["limit"], outcome["error"]["waited"])
    return cleaned


def clean_error(error, sources: list[str]) -> dict:
    """What a cell raised, made safe to show: "type", and "line" and "number" where they are the student's own."""
    return _error(error, "raised", *_known(sources))


def _known(sources):
    """Lines that may be told, each with its number in its cell, and names of errors.

    Both are bounded: a long list to choose from would be a code for what a hidden case holds.
    """
    lines = [
        (number, line.strip()[:200])
        for source in sources
        for number, line in enumerate(source.splitlines(), 1)
    ]
    classes = [name for source in sources for name in _CLASS.findall(source)]
    return set(lines[:_MAX_LINES]), KNOWN_ERRORS.union(classes[:_MAX_CLASSES])


def _clean_one(outcome, case, lines, words) -> dict:
    if not isinstance(outcome, dict) or outcome.get("status") not in STATUSES:
        raise ForgedError("an outcome without a status")
    mutated = outcome.get("mutated")
    mutated = mutated if isinstance(mutated, list) else []
    seconds = outcome.get("seconds")
    usable = type(seconds) in (int, float) and math.isfinite(seconds) and 0 <= seconds < 1e5
    return {
        "status": outcome["status"],
        "value": outcome.get("value"),
        "error": _error(outcome.get("error"), outcome["status"], lines, words),
        "seconds": float(seconds) if usable else 0.0,
        "mutated": [name for name in mutated if isinstance(name, str) and name in case["inputs"]],
        "printed": "",  # may hold hidden inputs
    }


def _error(error, status, lines, words):
    error = error if isinstance(error, dict) else {}
    if status == "unreadable":
        return {"message": _readable(str(error.get("message", ""))[:TEXT_LIMIT])}
    if status == "slow":
        return {"waited": error.get("waited") is True} | _own_line(error, lines)
    kind = error.get("type")
    told = (
        {"type": kind if kind in words else "an error of its own kind"}
        if isinstance(kind, str)
        else {"type": "an error"}
    )
    message = str(error.get("message", ""))[:TEXT_LIMIT]
    other = [words for words in judging.OTHER_PARAMETERS if words in message]
    if kind == "TypeError" and other:  # the call does not fit: which parameters it has is not told
        told["message"] = other[0]
    return told | _own_line(error, lines)


def _own_line(error, lines) -> dict:
    """ "line" and "number", where they are the student's own."""
    line, number = error.get("line"), error.get("number")
    if isinstance(line, str) and line and type(number) is int and (number, line) in lines:
        return {"line": line, "number": number}
    return {}


def _readable(message: str) -> str:
    found = _REFUSALS.fullmatch(message)
    if found and (found.group("kind") or found.group("key") or "int") in _KINDS:
        return message
    return _UNREADABLE


def sizes_of(spec: dict) -> set[int]:
    """The sizes that may be told of a result: those of the exercise's own arrays and lists, give or take one."""
    sizes = {0, 1}
    for case in spec["cases"]:
        _collect_sizes(case["inputs"], sizes)
        _collect_sizes(case["expected"], sizes)
    return sizes | {size + 1 for size in sizes} | {size - 1 for size in sizes}


def _collect_sizes(plain, sizes):
    if isinstance(plain, list):
        sizes.add(len(plain))
        for item in plain:
            _collect_sizes(item, sizes)
    elif isinstance(plain, dict):
        if "shape" in plain:
            sizes.update(plain["shape"])
        else:
            for item in plain.values():
                _collect_sizes(item, sizes)


def without_sizes(text: str, sizes: set[int]) -> str:
    """A judged problem without the size of the result, where that is none of the exercise's own."""
    head, got, tail = text.partition(", got ")
    numbers = re.findall(r"\d+", tail)
    if len(numbers) <= _MAX_AXES and all(len(n) < 10 and int(n) in sizes for n in numbers):
        return text
    return f"{head}{got}something of another size"


def without_keys(text: str) -> str:
    """A judged problem without the keys of the student's own dict, which may carry anything."""
    return re.sub(r"not asked for \[.*", "others that were not asked for", text, flags=re.S)

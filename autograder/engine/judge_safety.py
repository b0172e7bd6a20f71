"""What a student's process says of its own outcomes, made safe to judge and to show.

The process may be hostile. Its words reach the student again through feedback, so that a name of an error or a key of a
dict could carry a hidden input out of the sandbox: only words that are ours, Python's or in the student's own
source are kept.
"""

import builtins
import math
import re

from descent.running import TEXT_LIMIT

STATUSES = ("ok", "raised", "unsolved", "slow", "exited", "unreadable")
KNOWN_ERRORS = {name for name in dir(builtins) if isinstance(getattr(builtins, name), type)} | {
    "LinAlgError", "AxisError", "OutOfMemoryError", "TooSlow",
}  # fmt: skip
READABLE = re.compile(
    r"(The result is an? (?P<kind>\w+)\. Return a number.*|The result is nested too deeply.*|The result is too large.*"
    r"|The result is a generator of more than.*|The result has too many axes.*|The result holds an integer of more.*"
    r"|The result is an array of dtype (?P<dtype>[a-z0-9]+): its entries.*|A dict key is a (?P<key>\w+)\. Use.*)"
)
COMMON_KINDS = set(dir(builtins)) | {
    "NoneType",
    "function",
    "method",
    "module",
    "Generator",
    "Parameter",
    "object",
}


class ForgedError(ValueError):
    """Outcomes that no run of `running.run_cases` tells."""


def clean(outcomes, spec: dict, source: str) -> list[dict]:
    """Outcomes with only what may be judged and shown. source: all the student's code.

    Raises ForgedError when they are not one plain outcome a case.
    """
    if not isinstance(outcomes, list) or len(outcomes) != len(spec["cases"]):
        raise ForgedError("not one outcome a case")
    lines, words = _known(source)
    cleaned = [
        _clean_one(o, case, lines, words) for o, case in zip(outcomes, spec["cases"], strict=True)
    ]
    for outcome in cleaned:
        if (
            outcome["status"] == "slow"
        ):  # the limit as the student knows it: the grader's clock is more patient
            outcome["error"] = {"message": f"longer than {spec['limit']:g} s"}
    return cleaned


def clean_error(error, source: str) -> dict:
    """What a cell raised, made safe to show: "type", and "line" and "number" where they are the student's own."""
    return _error(error, "raised", *_known(source))


def _known(source):
    lines = {line.strip()[:200] for line in source.splitlines()}
    return lines, KNOWN_ERRORS | set(re.findall(r"\w+", source))


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
    kind, line, number = error.get("type"), error.get("line"), error.get("number")
    told = (
        {"type": kind if kind in words else "an error of its own kind"}
        if isinstance(kind, str)
        else {"type": "an error"}
    )
    if (
        isinstance(line, str)
        and line in lines
        and line
        and type(number) is int
        and 0 < number < 10_000
    ):
        told |= {"line": line, "number": number}
    return told


def _readable(message: str) -> str:
    found = READABLE.fullmatch(message)
    if found and (found.group("kind") or found.group("key") or "int") in COMMON_KINDS:
        return message
    return "The result cannot be read: return a number, a string, a list, a dict, a numpy array or a torch tensor."


def without_keys(text: str) -> str:
    """A judged problem without the keys of the student's own dict, which may carry anything."""
    return re.sub(r"not asked for \[.*", "others that were not asked for", text, flags=re.S)

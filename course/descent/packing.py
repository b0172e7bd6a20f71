"""Check data as their files keep them: what is long is compressed, what the mistakes of an exercise give together.

Names, properties and short values stay text, a case a line. Without this the files would be three times as large.
"""

import base64
import json
import zlib

LONG = 1000  # characters: a person reads no further, and a difference shows nothing
_TAG, _ZIP = "$", "zip"  # as `wire` marks what is no plain JSON; `wire` itself takes none of these


def packed(data: dict) -> dict:
    """Check data for their file; `data` stays as it is."""
    exercises = {name: _packed(exercise) for name, exercise in data.get("exercises", {}).items()}
    return data | {"exercises": exercises}


def unpacked(data: dict) -> dict:
    """The check data of a file, as the build made them; `data` is used up. Files from before are taken as they are."""
    for exercise in data.get("exercises", {}).values():
        for case in exercise["cases"]:
            case["inputs"] = {name: _long(value) for name, value in case["inputs"].items()}
            case["expected"] = _long(case["expected"])
        results = _long(exercise.pop("results", []))
        for wrong, given in zip(exercise["wrong"], results, strict=False):
            wrong["results"] = given
    return data


def _packed(exercise: dict) -> dict:
    cases = [
        case
        | {
            "inputs": {name: _short(value) for name, value in case["inputs"].items()},
            "expected": _short(case["expected"]),
        }
        for case in exercise["cases"]
    ]
    told = [{k: v for k, v in wrong.items() if k != "results"} for wrong in exercise["wrong"]]
    results = _short([wrong["results"] for wrong in exercise["wrong"]])
    return exercise | {"cases": cases, "wrong": told, "results": results}


def _short(value):
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if len(text) <= LONG:
        return value
    data = base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")
    return {_TAG: _ZIP, "data": data} if len(data) < 0.9 * len(text) else value


def _long(value):
    if isinstance(value, dict) and value.get(_TAG) == _ZIP:
        return json.loads(zlib.decompress(base64.b64decode(value["data"])))
    return value

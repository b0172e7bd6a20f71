"""Predictions keep their answer: what the check data hold of it, and that nothing else tells it before a guess."""

import base64

from autograder.building.outputs import webp
from autograder.building.questions import name_of
from descent.predictions import decoded, encoded


def taken(solution) -> dict[str, dict]:
    """Take the answers out of a solution notebook's outputs -> name -> question, options, encoded answer."""
    found = {}
    for cell in filter(name_of, solution.cells):
        kept = [output.metadata.pop("prediction", None) for output in cell.outputs]
        (told,) = filter(None, kept)
        answer = {"right": told["right"], "because": told["because"], "pictures": _pictures(cell)}
        asked = {key: told[key] for key in ("question", "options")}
        found[name_of(cell)] = asked | {"answer": encoded(answer)}
    return found


def tellings(unsolved, kept: dict[str, dict]) -> list[str]:
    """What tells an answer in a student's notebook that ran without any guess. kept: as `taken` gives it."""
    problems = []
    for name, prediction in kept.items():
        answer = decoded(prediction["answer"])
        secrets = [answer["because"], *(picture["words"] for picture in answer["pictures"])]
        for secret in filter(None, secrets):
            problems += [
                f"cell {cell.id} tells, before the guess, what prediction {name!r} answers: {secret!r}. "
                "Take it out of this cell"
                for cell in unsolved.cells
                if secret in _read(cell)
            ]
    return problems


def _read(cell) -> str:
    """What a student reads of a cell: its text, and that of its outputs."""
    shown = (output.get("data", output) for output in cell.get("outputs", []))
    return "\n".join(
        [cell.source, *(one.get("text/plain") or one.get("text", "") for one in shown)]
    )


def _pictures(cell) -> list[dict]:
    return [
        {
            "webp": _webp(output.data["image/png"]),
            "width": about["width"],
            "words": about["alt"],
            "narrow": narrow and [_webp(narrow["png"]), narrow["width"]],
        }
        for output in cell.outputs
        if (about := output.get("metadata", {}).get("image/png"))
        for narrow in [about.get("narrow")]
    ]


def _webp(png: str) -> str:
    return base64.b64encode(webp(base64.b64decode(png))).decode("ascii")

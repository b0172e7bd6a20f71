"""The worked answers of a chapter, where its file is there: an instructor hands it out, `make self-study` writes it."""

import json
from pathlib import Path

from descent import records, session

FORMAT = 1
FOLDER = Path(".descent", "solutions")  # in the course folder, one file a chapter


class NotHere(LookupError):
    """A worked answer that cannot be shown; str() says why, and who can help."""


def answer(notebook: str, exercise: dict) -> dict:
    """ "code", "why", "mistakes" (each "name", "advice"), "libraries" (each "name", "code") of an exercise.

    exercise: its check data. Raises NotHere.
    """
    chapter = notebook.split("/")[0]
    path = session.course_folder() / FOLDER / f"{chapter}.json"
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NotHere(
            "The worked answers of this chapter are not here. Your instructor hands them out, as a rule after the "
            f"deadline: the file {path.name}, for the folder {path.parent}. If you learn alone, from the whole "
            "project, `make self-study` writes them."
        ) from None
    except (OSError, ValueError) as error:
        raise NotHere(f"The file {path} cannot be read ({error}). Ask for it anew.") from None
    found = _found(told, notebook, exercise["name"])
    if found.get("version") != records.version_of(exercise):
        raise NotHere(
            f"The worked answers in {path} belong to another edition of this exercise. Ask for that file anew; "
            "if you learn alone, run `make self-study` again."
        )
    return found


def _found(told, notebook: str, name: str) -> dict:
    """What a file says of one exercise; nothing where it is of another format."""
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        return {}
    return told.get("notebooks", {}).get(notebook, {}).get(name, {})

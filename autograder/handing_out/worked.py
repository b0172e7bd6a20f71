"""The worked answers of a chapter, as plain data: what `solution(answer)` shows to a student."""

import json
from pathlib import Path

from autograder import checkdata
from autograder.building import build, masters
from autograder.workspace import write_text
from descent import records, worked
from solutions.spec import Exercise


def path(chapter: str) -> Path:
    """The file that `solution` reads. Git ignores it, and no release holds it."""
    return build.COURSE / ".descent" / "solutions" / f"{chapter}.json"


def write(chapter: str) -> dict[str, int]:
    """Write a chapter's file -> how many exercises of each of its notebooks it answers."""
    told = content(chapter)
    write_text(path(chapter), json.dumps(told, ensure_ascii=False, indent=1) + "\n")
    return {notebook: len(answers) for notebook, answers in told["notebooks"].items()}


def content(chapter: str) -> dict:
    """{"format", "chapter", "notebooks": {"chapter/notebook": {exercise: its worked answer}}}.

    Raises FileNotFoundError where a notebook was never built.
    """
    names = [name for name in masters.notebooks() if name.split("/")[0] == chapter]
    notebooks = {name: _of_notebook(name) for name in names}
    return {"format": worked.FORMAT, "chapter": chapter, "notebooks": notebooks}


def _of_notebook(notebook: str) -> dict[str, dict]:
    asked = json.loads(build.built_files(notebook)["check data"].read_text(encoding="utf-8"))
    exercises = checkdata.load_exercises(notebook)
    return {
        name: {"version": records.version_of(data)} | of_exercise(exercises[name])
        for name, data in asked["exercises"].items()
    }


def of_exercise(exercise: Exercise) -> dict:
    """The worked answer of an exercise: its code, why it works, what usually goes wrong, how libraries do it."""
    return {
        "code": exercise.answers.solution(exercise.name).strip(),
        "why": exercise.why,
        "mistakes": [
            {"name": wrong.name, "advice": wrong.advice} for wrong in exercise.wrong_answers
        ],
        "libraries": [
            {"name": right.library, "code": right.source(exercise.name).strip()}
            for right in exercise.right_answers
            if right.library
        ],
    }

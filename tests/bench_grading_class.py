"""An honest class of any size for `make bench-grading`: no two answers alike, nearly all of them right.

Every answer cell begins with its student's name, so that no result can be taken from another's. The answers are the
solution edition's and right ones written another way, in turn; every fifth student has one known mistake.
"""

import copy
import json
from functools import cached_property
from itertools import zip_longest
from pathlib import Path

from autograder import checkdata
from autograder.building import proofs
from autograder.grading.jobs import read_release
from autograder.simulation import demo_answers, demo_class
from autograder.workspace import Workspace

NO_FOLDER = Path("/nonexistent")  # the class needs the project, no grading folder


class HonestClass:
    """Students 0, 1, 2, … of one chapter: what each hands in, and the scores that the course's own check gives."""

    def __init__(self, chapter: str):
        self.chapter = chapter
        self.space = Workspace(NO_FOLDER)
        files = self.space.release(chapter)
        self.release = {stem: json.loads(path.read_text()) for stem, path in files.items()}
        self.points = read_release(self.space, chapter).points
        self.worth: dict[str, float] = {}  # points of a mistake, by its source
        self.exercises = {
            stem: self.space.load_exercises(f"{chapter}/{stem}") for stem in self.release
        }

    @staticmethod
    def name(number: int) -> str:
        return f"student{number:04}"

    def hand_in(self, number: int, folder: Path) -> None:
        """Write a student's notebooks into `folder`, which is made."""
        folder.mkdir(parents=True)
        for stem, notebook in self.release.items():
            filled = copy.deepcopy(notebook)
            demo_class.fill(filled, self._answers(stem, number))
            (folder / f"{stem}.ipynb").write_text(json.dumps(filled))

    def expected(self, number: int) -> dict[str, float]:
        """By "notebook/exercise": the points that the check in the notebook gives, on the public cases."""
        told = {
            f"{stem}/{name}": worth
            for stem, found in self.points.items()
            for name, worth in found.items()
        }
        if mistake := self._mistake(number):
            stem, name, source, function = mistake
            if source not in self.worth:
                self.worth[source] = self._points(stem, name, function)
            told[f"{stem}/{name}"] = self.worth[source]
        return told

    def _answers(self, stem, number) -> dict[str, str]:
        """Name of the cell -> its text."""
        told = {}
        for place, (name, ways) in enumerate(self._ways[stem].items()):
            told[name] = ways[(number + place) % len(ways)]
        mistake = self._mistake(number)
        if mistake and mistake[0] == stem:
            told[mistake[1]] = mistake[2]
        return {name: f"# {self.name(number)}\n{text}" for name, text in told.items()}

    @cached_property
    def _ways(self) -> dict[str, dict[str, list[str]]]:
        """Notebook -> cell -> the right answers to choose from."""
        return {stem: self._ways_of(stem) for stem in self.release}

    def _ways_of(self, stem):
        ways = {}
        for name, text in demo_answers.solutions(self.space, self.chapter, stem).items():
            exercise = self.exercises[stem].get(name)  # none: a written answer, with its rubric
            others = demo_answers.known(exercise, "right") if exercise else []
            own = text if exercise else text.partition("**Rubric**")[0]
            ways[name] = [own, *(source for _, source, _ in others)]
        return ways

    def _mistake(self, number):
        """(notebook, exercise, source, function) of every fifth student, else None."""
        if number % 5 != 4:
            return None
        return self._mistakes[number // 5 % len(self._mistakes)]

    @cached_property
    def _mistakes(self) -> list[tuple]:
        """The first mistake of each exercise, then the second of each, and so on."""
        by_exercise = [
            [(stem, name, *known[1:]) for known in demo_answers.known(exercise, "wrong")]
            for stem, exercises in self.exercises.items()
            for name, exercise in exercises.items()
        ]
        return [known for turn in zip_longest(*by_exercise) for known in turn if known]

    def _points(self, stem, name, function) -> float:
        exercise = self.exercises[stem][name]
        seed = checkdata.public_seed(f"{self.chapter}/{stem}", name)
        data = checkdata.exercise_data(exercise, self.points[stem][name], seed)
        return proofs.verdict_on(exercise, function, data).points

"""Twelve students: what each hands in, and the marks that each must get."""

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from autograder import checkdata
from autograder.building import proofs
from autograder.simulation import demo_answers
from autograder.workspace import Workspace


@dataclass
class Student:
    """One row of the class. notebooks: stem -> JSON. By exercise: expected points, mistakes and kinds of verdict."""

    name: str
    words: str
    notebooks: dict[str, dict]
    expected: dict[str, float]
    mistakes: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    tells: list[str] = field(default_factory=list)  # words that some verdict's `how` must hold


class Class:
    """Makes the class for one chapter. Most work on its first notebook only."""

    def __init__(self, space: Workspace, chapter: str):
        self.space, self.chapter = space, chapter
        self.release = {
            s: json.loads(p.read_text(encoding="utf-8")) for s, p in space.release(chapter).items()
        }
        self.solutions = {
            stem: demo_answers.solutions(space, chapter, stem) for stem in self.release
        }
        self.points = {stem: _points(notebook) for stem, notebook in self.release.items()}
        self.first = next(stem for stem in self.release if self.points[stem])
        self.names = list(self.points[self.first])
        self.exercises = space.load_exercises(f"{chapter}/{self.first}")

    def students(self) -> list[Student]:
        makers = [
            self.perfect, self.empty, self.half, self.known_wrong, self.other_way, self.crashing,
            self.endless, self.deleted_check, self.copied_check, self.edited_check, self.helpers, self.stripped,
        ]  # fmt: skip
        return [make() for make in makers]

    def _student(
        self,
        name,
        words,
        answers: dict[str, str],
        points: dict[str, float],
        change: Callable | None = None,
    ):
        """A student with `answers` in the first notebook. points: of the exercises that are not worth 0."""
        notebooks = copy.deepcopy(self.release)
        fill(notebooks[self.first], answers)
        if change:
            change(notebooks[self.first]["cells"])
        expected = {n: 0.0 for of_notebook in self.points.values() for n in of_notebook}
        return Student(name, words, notebooks, expected | points)

    def _all(self) -> tuple[dict[str, str], dict[str, float]]:
        return dict(self.solutions[self.first]), dict(self.points[self.first])

    def perfect(self):
        student = self._student("ada", "everything solved", *self._all())
        for stem, answers in self.solutions.items():
            fill(student.notebooks[stem], answers)
            student.expected |= self.points[stem]
        return student

    def empty(self):
        student = self._student("bob", "nothing solved", {}, {})
        student.kinds = {name: "unsolved" for name in student.expected}
        return student

    def half(self):
        answers, points = self._all()
        solved = self.names[: (len(self.names) + 1) // 2]
        return self._student(
            "cyd",
            "half of it solved",
            {n: answers[n] for n in solved},
            {n: points[n] for n in solved},
        )

    def known_wrong(self):
        """Each exercise of the chapter with one of its known mistakes, another one each time."""
        student = self._student("dee", "", {}, {})
        for stem, answers in self.solutions.items():
            exercises = self.space.load_exercises(f"{self.chapter}/{stem}")
            answers = dict(answers)
            for number, (name, points) in enumerate(self.points[stem].items()):
                student.expected[name] = points
                wrong = demo_answers.known(exercises[name], "wrong")
                if wrong:
                    _, answers[name], function = wrong[number % len(wrong)]
                    verdict = self._judged(stem, exercises[name], function, points)
                    student.expected[name], student.mistakes[name] = verdict.points, verdict.mistake
            fill(student.notebooks[stem], answers)
        student.words = f"{len(student.mistakes)} known mistakes"
        return student

    def _judged(self, stem, exercise, function, points):
        """The verdict on a known answer, without notebook or sandbox: what the engine must find too."""
        seed = checkdata.hidden_seed(self.space.key(), f"{self.chapter}/{stem}", exercise.name)
        return proofs.verdict_on(
            exercise, function, checkdata.exercise_data(exercise, points, seed)
        )

    def other_way(self):
        answers, points = self._all()
        for name in self.names:
            right = demo_answers.known(self.exercises[name], "right")
            answers |= {name: right[0][1]} if right else {}
        return self._student("eve", "solved another way", answers, points)

    def crashing(self):
        """The last exercise ends the process when called; the first cannot even be defined."""
        answers, points = self._all()
        kinds = {self.names[0]: "error", self.names[-1]: "exited"}
        answers[self.names[0]] = "raise RuntimeError('this cell never worked')"
        answers[self.names[-1]] = f"import os\ndef {self.names[-1]}(*a, **k):\n    os._exit(3)"
        student = self._student(
            "fay", "one cell raises, one answer kills", answers, points | {n: 0.0 for n in kinds}
        )
        student.kinds = kinds
        return student

    def endless(self):
        answers, points = self._all()
        name = self.names[0]
        answers[name] = f"def {name}(*a, **k):\n    while True:\n        pass"
        student = self._student("gil", "an endless loop", answers, points | {name: 0.0})
        student.kinds = {name: "timeout"}
        return student

    def deleted_check(self):
        def change(cells):
            cells[:] = [c for c in cells if c["id"] != f"check-{self.names[0]}"]

        return self._told("hal", "a check cell deleted", change, "was deleted")

    def copied_check(self):
        def change(cells):
            at = _place(cells, f"check-{self.names[0]}")
            cells.insert(at, copy.deepcopy(cells[at]))

        return self._told("ida", "a check cell copied", change, "was there 2 times")

    def edited_check(self):
        """Nothing solved, but the check says so."""

        def change(cells):
            for name in self.names:
                cells[_place(cells, f"check-{name}")]["source"] = str(
                    float(self.points[self.first][name])
                )

        student = self._student("jon", "nothing solved, marks forged in the checks", {}, {}, change)
        student.tells = ["was edited"]
        return student

    def helpers(self):
        """Every answer stands in a cell of its own before its own cell, which only gives it its name."""
        answers, points = self._all()
        moved = {
            name: f"from_my_notes_{name} = {name}\n{name} = from_my_notes_{name}"
            for name in self.names
        }

        def change(cells):
            for name in self.names:
                cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": answers[name]}
                cells.insert(
                    _place(cells, name),
                    cell | {"id": f"mine-{len(cells)}", "execution_count": None},
                )

        return self._student("kim", "answers in added cells", answers | moved, points, change)

    def stripped(self):
        def change(cells):
            for number, cell in enumerate(cells):
                cell |= {"metadata": {}, "id": f"new-{number}"}

        return self._told("lee", "all ids and metadata lost", change, "by the name it defines")

    def _told(self, name, words, change, tells):
        student = self._student(name, words, *self._all(), change)
        student.tells = [tells]
        return student


def _points(notebook) -> dict[str, float]:
    about = [cell["metadata"] for cell in notebook["cells"]]
    return {
        a["descent"]["check"]: float(a["nbgrader"]["points"])
        for a in about
        if a.get("descent", {}).get("check")
    }


def fill(notebook: dict, answers: dict[str, str]) -> None:
    """Put answers into their cells."""
    for cell in notebook["cells"]:
        about = cell["metadata"].get("descent", {})
        name = about.get("exercise") or about.get("written")
        if name in answers:
            cell["source"] = answers[name]


def _place(cells, name: str) -> int:
    return next(at for at, cell in enumerate(cells) if cell["id"] == name)

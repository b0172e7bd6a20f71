"""Rehearse a course of 300: `make rehearsal` (SIZE=60 for less), in folders of its own.

An honest class hands in through Moodle, is graded, exported to Moodle and Canvas, and graded again after an exercise
was mended: the preview must name who gains and who loses, to the point, and undo must bring everything back. Each
step prints its time; anything that is not as computed beforehand ends the rehearsal with status 1.
"""

import csv
import io
import os
import re
import shutil
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from autograder.checkdata import ROOT
from autograder.grading import grade, regrade
from autograder.grading.dispatch.way import Way
from autograder.grading.lock import locked
from autograder.handins import collect, policy, roster
from autograder.results import export
from autograder.workspace import Workspace
from tests.bench_grading_class import HonestClass

CHAPTER = "03_optimisation"
MENDED = "01_gradient_descent"
NAMES = (
    "Müller, Änne",
    'O"Neill, Pat',
    "=1+1, Sum",
    "de la Cruz, José",
    "Ng, X.",
    "Þórsdóttir, Æsa",
)
WORKSHEET = (
    "Identifier,Full name,ID number,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
)
WORKSHEET += "Last modified (submission),Last modified (grade),Feedback comments"


class Rehearsal:
    """One class on a copy of the project, whose specification can be mended without harm."""

    def __init__(self, folder: Path, size: int):
        self.folder, self.size = folder, size
        mess = shutil.ignore_patterns("__pycache__", ".descent", "handins", "*.egg-info")
        for name in ("course", "solutions"):
            shutil.copytree(ROOT / name, folder / "project" / name, ignore=mess)
        self.space = Workspace(folder / "grading", folder / "project")
        self.students = HonestClass(CHAPTER)
        self.names = [f"{NAMES[n % len(NAMES)]} {n}" for n in range(size)]

    def expected(self) -> dict[str, float]:
        """Student -> points, by the check on the specification as it is now."""
        return {
            self.students.name(n): round(sum(self.students.expected(n).values()), 2)
            for n in range(self.size)
        }

    def hand_in(self) -> Path:
        """Moodle's zip of the class, and its worksheet beside it."""
        with zipfile.ZipFile(
            self.folder / "moodle.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1
        ) as bundle:
            for number, name in enumerate(self.names):
                made = self.folder / "made" / str(number)
                self.students.hand_in(number, made)
                place = f"{name.replace('/', '')}_{10_000 + number}_assignsubmission_file"
                for path in sorted(made.iterdir()):
                    bundle.write(path, f"{place}/{path.name}")
                shutil.rmtree(made)
        rows = [
            [f"Participant {10_000 + n}", name, self.students.name(n), f"s{n}@uni.example", "Submitted", "", "53.00",
             "Yes", "-", "-", ""]
            for n, name in enumerate(self.names)
        ]  # fmt: skip
        self.worksheet = self.folder / "worksheet.csv"
        self.worksheet.write_text(WORKSHEET + "\n" + _csv(rows), encoding="utf-8")
        self.canvas = self.folder / "canvas.csv"
        head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", f"{CHAPTER} (77)"]
        rows = [
            [name, 500 + n, n, self.students.name(n), "A", ""] for n, name in enumerate(self.names)
        ]
        self.canvas.write_text(
            _csv([head, ["    Points Possible", "", "", "", "", 53], *rows]), encoding="utf-8"
        )
        return self.folder / "moodle.zip"

    def collect(self, bundle: Path) -> list[str]:
        known, rules = roster.read(self.worksheet), policy.load(self.space)
        told = collect.take(self.space, CHAPTER, [bundle], known, rules)
        return [f"{o.name}: {'; '.join(o.words)}" for o in told if not o.taken]

    def grade(self) -> None:
        grade.grade_chapter(self.space, CHAPTER)

    def exported(self, to: str, known: Path, column: str) -> dict[str, str]:
        """What a file for an LMS says of each student: its own key -> mark."""
        text = export.export(self.space, [CHAPTER], to, known).text
        rows = list(csv.DictReader(io.StringIO(text)))
        mark = next(name for name in rows[0] if name == "Grade" or name.startswith(CHAPTER))
        return {row[column]: row[mark] for row in rows if row[column].strip()}

    def mend(self) -> None:
        """Two properties of each exercise become one: whoever held one of them alone loses its share."""
        path = self.space.spec_path(f"{CHAPTER}/{MENDED}")
        parts = re.split(r'(yield "[^"]+")', path.read_text(encoding="utf-8"))
        for place in range(3, len(parts), 2):
            if (
                "cases" not in parts[place - 1]
            ):  # the second property of one exercise, not the first of the next
                parts[place] = parts[place - 2]
        path.write_text("".join(parts), encoding="utf-8")
        self.students.exercises[MENDED] = self.space.load_exercises(f"{CHAPTER}/{MENDED}")
        self.students.worth.clear()

    def in_book(self) -> dict[str, float]:
        _, rows = export.marks(self.space, [CHAPTER])
        return {student: round(sum(row.values()), 2) for student, row in rows.items()}


def _csv(rows) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def timed(words, step, *arguments):
    started = time.perf_counter()
    found = step(*arguments)
    print(f"{words:<44} {time.perf_counter() - started:7.1f} s", flush=True)
    return found


def same(what: str, found, expected) -> list[str]:
    """[] or one line on the first difference."""
    if found == expected:
        return []
    wrong = next(key for key in {**expected, **found} if found.get(key) != expected.get(key))
    return [f"{what}: {wrong} has {found.get(wrong)!r}, not {expected.get(wrong)!r}"]


def run(folder: Path, size: int) -> list[str]:
    """Go through everything -> what is not as it should be."""
    one = Rehearsal(folder, size)
    before = timed("marks by the check", one.expected)
    refused = timed("collect Moodle's zip", one.collect, timed("make the class", one.hand_in))
    problems = [f"refused: {words}" for words in refused]
    timed("grade, cold, to the gradebook", one.grade)
    problems += same("gradebook", one.in_book(), before)
    timed("grade again, nothing changed", one.grade)
    marks = {name: f"{points:.2f}" for name, points in before.items()}
    ids = [one.students.name(n) for n in range(size)]
    for to, known, column in (
        ("moodle", one.worksheet, "ID number"),
        ("canvas", one.canvas, "SIS Login ID"),
    ):
        found = timed(f"export to {to}", one.exported, to, known, column)
        found = {name: f"{float(found.get(name) or 'nan'):.2f}" for name in ids}
        problems += same(to, found, marks)
    one.mend()
    after = timed("marks by the mended check", one.expected)
    changes = {
        name: round(after[name] - before[name], 2) for name in before if after[name] != before[name]
    }
    with locked(one.space):
        preview = timed("regrade --preview", regrade.preview, one.space, CHAPTER, Way())
        totals = {name: gain for name, gain in preview.totals.items() if gain}
        print(f"{len(totals)} students' marks change")
        problems += same("preview", totals, changes) + (
            [] if changes else ["the mend changed nobody's marks"]
        )
        problems += same("gradebook after the preview", one.in_book(), before)
        timed("regrade --apply", regrade.enter, one.space, CHAPTER, Way(), preview)
        problems += same("gradebook after apply", one.in_book(), after)
    timed("regrade --undo", regrade.undo, one.space, CHAPTER)
    return problems + same("gradebook after undo", one.in_book(), before)


def main() -> int:
    """Status 0: all as computed. 1: something differs, printed."""
    size = int(os.environ.get("SIZE") or 300)
    with tempfile.TemporaryDirectory(prefix="rehearsal-") as folder:
        problems = run(Path(folder), size)
    print(*problems, sep="\n")
    print(f"{size} students: {'as it must be' if not problems else f'{len(problems)} differences'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

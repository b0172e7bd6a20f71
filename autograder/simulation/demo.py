"""A simulated class of twelve goes through everything: `autograder demo`.

Release, hand-in, collect, grade, feedback, export and report, on a real chapter and in a folder of their own.
Each student's marks are known beforehand; any difference makes it fail.
"""

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from autograder.engine import sandbox
from autograder.grading import grade
from autograder.handins import collect
from autograder.results import export, feedback, report
from autograder.simulation.demo_class import Class, Student
from autograder.workspace import VARIABLE, Workspace, workspace


def main(argv: list[str] | None = None) -> int:
    """Status 0: every mark as expected. 1: some differ, or a step failed. 2: wrong command, or no sandbox."""
    parser = argparse.ArgumentParser(prog="autograder demo", description=__doc__.split("\n\n")[0])
    parser.add_argument("--chapter", default="03_optimisation")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="grade in this new folder and keep it"
    )
    parser.add_argument(
        "--no-sandbox", action="store_true", help="run the class's code as you, with limits only"
    )
    arguments = parser.parse_args(argv)
    keep = arguments.keep
    if keep and keep.exists() and not (keep.is_dir() and not any(keep.iterdir())):
        print(f"demo: {keep} is there already, and not empty: name a new folder.", file=sys.stderr)
        return 2
    if not workspace().release(arguments.chapter):
        print(
            f"demo: there is no released chapter {arguments.chapter!r}. First: make build",
            file=sys.stderr,
        )
        return 2
    if not (arguments.no_sandbox or sandbox.available()):
        print(f"demo: {sandbox.problem()}", file=sys.stderr)
        return 2
    with _folder(keep) as folder:
        status = run(folder, arguments.chapter, ["--no-sandbox"] if arguments.no_sandbox else [])
    if not keep:
        print(f"{folder} is deleted again. To keep such a class: autograder demo --keep FOLDER")
    return status


@contextlib.contextmanager
def _folder(keep: Path | None):
    """A new folder to grade in; its place is told to every step by the environment."""
    folder = keep or Path(tempfile.mkdtemp(prefix="demo-"))
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(folder / "grading")
    try:
        yield folder
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)


def run(folder: Path, chapter: str, options: list[str]) -> int:
    """Take the class through every step -> the command's status."""
    space = workspace()
    students = Class(space, chapter).students()
    handins = folder / "handins"
    problems = []
    steps = [
        ("release", lambda: check_release(space, chapter)),
        ("hand-in", lambda: hand_in(space, chapter, students, handins)),
        ("collect", lambda: collect.main([chapter, str(handins)])),
        ("grade", lambda: grade.main([chapter, *options])),
        ("feedback", lambda: feedback.main([chapter])),
        (
            "export",
            lambda: export.main([chapter, "--to", "csv", "--output", str(folder / "marks.csv")]),
        ),
        ("report", lambda: report.main([chapter])),
    ]
    for name, step in steps:
        started = time.perf_counter()
        print(f"\n== {name}", flush=True)
        status = step()
        print(f"== {name}: {time.perf_counter() - started:.1f} s", flush=True)
        if status:
            problems.append(f"{name} ended with status {status}")
    problems += compare(space, chapter, students)
    problems += [f"no feedback for {s.name}" for s in students if not _pages(space, chapter, s)]
    for problem in problems:
        print(f"demo: {problem}", file=sys.stderr)
    print("\nEvery mark is as expected." if not problems else f"\n{len(problems)} differences.")
    return 1 if problems else 0


def _pages(space, chapter, student):
    return list(space.feedback(chapter, student.name).glob("[0-9]*.html"))


def check_release(space: Workspace, chapter: str) -> int:
    """What is handed out is what nbgrader makes of the solution edition, and nothing of the author's."""
    from autograder.building import build, release
    from autograder.grading.rebuilding import rebuild

    problems = [p for p in release.course_problems() if p.startswith(f"course/{chapter}/")]
    for stem, path in space.release(chapter).items():
        made = build.generate(f"{chapter}/{stem}")
        handed_out, _ = rebuild.read_cells(path.read_bytes())
        if [cell.source for cell in made.cells] != [cell.source for cell in handed_out]:
            problems.append(
                f"course/{chapter}/{stem}.ipynb is not what nbgrader makes of its solution: make build"
            )
        print(f"{chapter}/{stem}: {len(handed_out)} cells")
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


def hand_in(space: Workspace, chapter: str, students: list[Student], target: Path) -> int:
    """Each student hands in with the course's own `submit`, from a course folder of their own."""
    import json

    from descent import handin, session

    target.mkdir(parents=True)
    checks, home = session.CHECKS, os.environ.get("DESCENT_HOME")
    try:
        for student in students:
            course = target.parent / "students" / student.name / "course"
            (course / chapter).mkdir(parents=True)
            (course / "descent").mkdir()
            session.CHECKS = course / "descent" / "checks"
            session.CHECKS.symlink_to(space.project / "course/descent/checks")
            os.environ["DESCENT_HOME"] = str(course / ".descent")
            for stem, notebook in student.notebooks.items():
                (course / chapter / f"{stem}.ipynb").write_text(
                    json.dumps(notebook), encoding="utf-8"
                )
            with contextlib.redirect_stdout(None):
                shutil.copy(handin.submit(chapter, student=student.name), target)
            print(f"{student.name} hands in: {student.words}")
    finally:
        session.CHECKS = checks
        os.environ.pop("DESCENT_HOME")
        if home is not None:
            os.environ["DESCENT_HOME"] = home
    return 0


def compare(space: Workspace, chapter: str, students: list[Student]) -> list[str]:
    """Print expected against actual marks, a row a student -> every difference."""
    from autograder.grading import verdicts

    _, in_book = export.marks(space, [chapter])
    print(
        f"\n{'student':<8} {'what was handed in':<42} {'expected':>8} {'actual':>8} {'in book':>8}"
    )
    problems = []
    for student in students:
        graded = verdicts.load(space, chapter, student.name)
        expected = round(sum(student.expected.values()), 2)
        booked = round(sum(in_book.get(student.name, {}).values()), 2)
        found = _differences(student, graded)
        if booked != graded.points:
            found.append(f"the gradebook says {booked:g} points, the verdicts {graded.points:g}")
        mark = "✗" if found else "✓"
        print(
            f"{student.name:<8} {student.words:<42} {expected:>8g} {graded.points:>8g} {booked:>8g} {mark}"
        )
        problems += [f"{student.name}: {problem}" for problem in found]
    return problems


def _differences(student: Student, graded) -> list[str]:
    found = []
    if {v.exercise for v in graded.verdicts} != set(student.expected):
        found.append("not one verdict an exercise")
    for v in graded.verdicts:
        want = (
            student.expected.get(v.exercise),
            student.mistakes.get(v.exercise, v.mistake),
            student.kinds.get(v.exercise, v.kind),
        )
        if want != (v.points, v.mistake, v.kind):
            found.append(
                f"{v.exercise}: {v.points:g} points, {v.kind}, {v.mistake!r}; expected {want}. {v.evidence}"
            )
    for words in student.tells:
        if not any(words in v.how for v in graded.verdicts):
            found.append(f"no verdict tells that something {words!r}")
    return found

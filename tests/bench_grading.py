"""Grade the same honest submissions with ours and with stock nbgrader, in fresh folders.

Each function takes a chapter and a number of submissions, and gives (seconds, {student: score}).
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def ours(chapter, size):
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        handins = Path(folder) / "handins"
        for student in students(size):
            lay_out(chapter, handins / student)
        environ = dict(os.environ, GRADED_DESCENT_GRADING=str(Path(folder) / "grading"))
        run("autograder", "collect", chapter, str(handins), cwd=ROOT, env=environ)
        started = time.perf_counter()
        run("autograder", "grade", chapter, cwd=ROOT, env=environ)
        seconds = time.perf_counter() - started
        return seconds, scores(Path(folder) / "grading" / "gradebook.db", chapter)


def stock(chapter, size):
    """nbgrader as its manual says: a course of its own, release, then autograde."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        course = Path(folder)
        source = course / "source" / chapter
        source.mkdir(parents=True)
        for notebook in (ROOT / "solutions" / chapter).glob("*.ipynb"):
            shutil.copy(notebook, source)
        config = "c = get_config()\nc.CourseDirectory.course_id = 'bench'\n"
        (course / "nbgrader_config.py").write_text(config + "c.ExecutePreprocessor.timeout = 120\n")
        environ = dict(os.environ, DESCENT_HOME=str(course / "home"))
        run("nbgrader", "generate_assignment", chapter, cwd=course, env=environ)
        for student in students(size):
            lay_out(chapter, course / "submitted" / student / chapter)
        started = time.perf_counter()
        run("nbgrader", "autograde", chapter, "--create", cwd=course, env=environ)
        seconds = time.perf_counter() - started
        return seconds, scores(course / "gradebook.db", chapter)


def students(size):
    return [f"student{number:03}" for number in range(size)]


def lay_out(chapter, folder):
    """The student's edition of a chapter with all answers right, in `folder`."""
    folder.mkdir(parents=True)
    for path in (ROOT / "course" / chapter).glob("*.ipynb"):
        solution = json.loads((ROOT / "solutions" / chapter / path.name).read_text())
        solved = {cell["id"]: cell["source"] for cell in solution["cells"]}
        content = json.loads(path.read_text())
        for cell in content["cells"]:
            cell["source"] = solved[cell["id"]]
        (folder / path.name).write_text(json.dumps(content))


def run(*command, cwd, env):
    """Run one of our environment's tools; its output is shown only where it fails."""
    module = [sys.executable, "-m", *command]
    done = subprocess.run(module, cwd=cwd, env=env, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout[-2000:]}{done.stderr[-2000:]}")


def scores(database, chapter):
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{database}") as book:
        found = book.assignment_submissions(chapter)
        return {submission.student_id: submission.score for submission in found}

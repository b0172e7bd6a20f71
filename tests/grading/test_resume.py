"""A run that is killed goes on: nothing that was finished is graded again, nothing is lost, two runs never mix."""

import dataclasses
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from autograder.grading import jobs, lock, verdicts
from autograder.grading.dispatch import store
from autograder.workspace import COURSE_ID, Workspace
from tests.conftest import ROOT
from tests.grading.toy_chapter import CHAPTER, SHORT, STEM

STUDENTS = [f"student{number:02}" for number in range(12)]
ANSWERS = [
    "def double(x):\n    return 2 * x",
    "def double(x):\n    return x**2",
    "def double(x):\n    raise ValueError('no')",
    None,
    "import os\ndef double(x):\n    os._exit(3)",
    "def double(x):\n    return x + x",
]


class Class:
    """A folder with the toy project and twelve hand-ins, graded by programs that may be killed."""

    def __init__(self, folder, project, notebook):
        self.folder, self.space = folder, Workspace(folder / "grading", folder / "project")
        shutil.copytree(project, folder / "project")
        for number, student in enumerate(STUDENTS):
            path = self.space.submitted(CHAPTER, student)
            path.mkdir(parents=True)
            answer = ANSWERS[number % len(ANSWERS)]
            content = notebook(double=answer, why=f"Because of {student}.")  # no two are alike
            (path / f"{STEM}.ipynb").write_text(json.dumps(content))
        # The same hidden cases in every such class.
        (folder / "grading/key").write_bytes(b"k" * 32)

    def start(self, *words, **more):
        program = [sys.executable, str(Path(__file__).with_name("toy_grade.py")), str(self.folder)]
        more = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True} | more
        environ = os.environ | {"PYTHONPATH": str(ROOT)}
        return subprocess.Popen(
            [*program, *words, CHAPTER],
            cwd=self.folder,
            env=environ,
            start_new_session=True,
            **more,
        )

    def run(self, *words) -> int:
        """The status of a whole run."""
        process = self.start(*words)
        print(process.communicate()[1])
        return process.returncode

    def begun(self) -> list[str]:
        """What workers began to grade, so far, in order: hashes of notebooks."""
        log = self.folder / "begun.log"
        return log.read_text().split() if log.exists() else []

    def finished(self) -> set[str]:
        """What is stored, as the log names it."""
        way = {"limits": SHORT, "sandboxed": True}
        kept = store.Store(self.space, jobs.read_chapter(self.space, CHAPTER), **way)
        found = {job.files[STEM] for job in map(self._job, STUDENTS) if kept.find(job)}
        return {hashlib.sha256(data).hexdigest() for data in found}

    def _job(self, student):
        return jobs.read_job(self.space, CHAPTER, student)

    def verdicts(self) -> dict:
        """What is in the verdict files, without how long it took."""
        return {s.student: _timeless(s) for s in verdicts.load_all(self.space, CHAPTER)}

    def rows(self) -> dict:
        """What is in the gradebook."""
        from nbgrader.api import Gradebook

        with Gradebook(self.space.gradebook_url, COURSE_ID) as book:
            return {
                (submission.student_id, grade.name): (grade.auto_score, grade.needs_manual_grade)
                for submission in book.assignment_submissions(CHAPTER)
                for page in submission.notebooks
                for grade in page.grades
            }


def _timeless(submission):
    found = [dataclasses.replace(verdict, seconds=0) for verdict in submission.verdicts]
    return dataclasses.replace(submission, seconds=0, verdicts=found)


@pytest.fixture(autouse=True)
def one_version(monkeypatch):
    monkeypatch.setattr(store, "engine_version", lambda: "as tested")


def _kill_when(process, due):
    """SIGKILL the whole group of a run once `due()`; a run that ends before that is fine as well."""
    while process.poll() is None and not due():
        try:
            process.wait(0.01)
        except subprocess.TimeoutExpired:
            continue
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@pytest.mark.sandbox
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_a_run_killed_at_any_point_goes_on_and_ends_as_if_nothing_had_happened(
    tmp_path, project, notebook
):
    calm = Class(tmp_path / "calm", project, notebook)
    started = time.monotonic()
    assert calm.run("grade") == 0
    duration = time.monotonic() - started
    assert len(calm.begun()) == len(set(calm.begun())) == len(STUDENTS)

    seed = int(os.environ.get("SEED", "0"))
    rng = np.random.default_rng(seed)
    moment = float(rng.uniform(0, 1) * duration)
    counts = sorted(int(number) for number in rng.choice(np.arange(1, 12), 2, replace=False))
    print(
        f"seed {seed}: killed after {moment:.2f} s, then when {counts} notebooks were begun in all"
    )
    torn = Class(tmp_path / "torn", project, notebook)
    began = time.monotonic()
    due = [lambda: time.monotonic() - began > moment]
    due += [lambda count=count: len(torn.begun()) >= count for count in counts]
    for kill in due:
        before, stored = len(torn.begun()), torn.finished()
        _kill_when(torn.start("grade"), kill)
        assert not stored & set(torn.begun()[before:]), "what was finished was graded again"
    before, stored = len(torn.begun()), torn.finished()
    assert torn.run("grade") == 0
    assert not stored & set(torn.begun()[before:])

    assert set(torn.begun()) == set(calm.begun())
    assert max(map(torn.begun().count, torn.begun())) <= 1 + len(due)
    assert torn.verdicts() == calm.verdicts()
    assert torn.rows() == calm.rows() and len(torn.rows()) == 3 * len(STUDENTS)


@pytest.mark.sandbox
@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_enters_what_is_finished_leaves_nothing_behind_and_says_how_to_go_on(
    tmp_path, project, notebook, monkeypatch, how
):
    import psutil

    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))

    school = Class(tmp_path / "school", project, notebook)
    endless = notebook(double="def double(x):\n    while True: pass")
    for student in STUDENTS[3:]:  # the last ones keep the workers busy for as long as it takes
        content = json.dumps(endless).replace("while True", f"while '{student}'")
        (school.space.submitted(CHAPTER, student) / f"{STEM}.ipynb").write_text(content)
    run = school.start("grade")
    while not school.verdicts() and run.poll() is None:
        try:
            run.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
    family = psutil.Process(run.pid).children(recursive=True)
    if how == signal.SIGINT:
        os.killpg(run.pid, how)  # as a terminal does: to every process of the group
    else:
        run.send_signal(how)
    _, words = run.communicate(timeout=60)
    assert run.returncode == 2
    assert words.strip().splitlines()[-1].endswith("the same command goes on from there.")
    assert "Traceback" not in words
    _, alive = psutil.wait_procs(family, timeout=20)
    assert alive == [] and list(scratch.iterdir()) == []
    done = school.verdicts()
    assert 0 < len(done) < len(STUDENTS)
    assert {student for student, _ in school.rows()} == set(done)


def test_a_second_run_on_the_same_workspace_is_refused_and_told_by_whom(space, monkeypatch, capsys):
    from autograder.grading import grade

    monkeypatch.setattr(grade, "workspace", lambda: space)
    space.submitted(CHAPTER, "ada").mkdir(parents=True)
    with lock.locked(space):
        assert grade.main([CHAPTER]) == 2
    words = capsys.readouterr().err
    assert f"process {os.getpid()} is grading in {space.folder}" in words
    with lock.locked(space):  # it was given back
        pass

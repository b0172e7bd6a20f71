"""Hand-ins are graded as they arrive: whole files alone, the newest of a student, and nothing ends it but Ctrl-C."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from autograder.engine.stage import StageError
from autograder.grading import verdicts
from autograder.grading.jobs import GradeError
from autograder.grading.lock import locked
from autograder.handins import arrivals, watch
from autograder.workspace import VARIABLE, Workspace
from tests.grading.toy_chapter import CHAPTER, SHORT, STEM, pack

WAITS = r"and 1 written answer waits for a person \(2 points\)"
ignore = pytest.mark.filterwarnings("ignore")  # of nbgrader and SQLAlchemy


# One engine serves the tests of this module, each of which has students of its own.
@pytest.fixture(scope="module")
def space(project, tmp_path_factory):
    return Workspace(tmp_path_factory.mktemp("watch") / "grading", project)


@pytest.fixture(scope="module")
def inbox(tmp_path_factory):
    return tmp_path_factory.mktemp("inbox")


@pytest.fixture
def arrive(inbox, notebook):
    """arrive("ada", double="…") puts a hand-in into the watched folder."""

    def put(student, stamp="20260901-120000", **answers):
        path = inbox / f"{CHAPTER}--{student}--{stamp}.zip"
        return pack(path, student, {STEM: notebook(**answers)})

    return put


def test_a_file_is_told_once_when_it_has_come_whole(tmp_path):
    inbox = tmp_path
    found = arrivals.Arrivals(inbox)
    path = inbox / "sub" / "a.zip"
    path.parent.mkdir()
    path.write_bytes(b"half")
    for name in (".hidden.zip", "b.zip.part", "empty.zip"):
        (inbox / name).write_bytes(b"" if name == "empty.zip" else b"x")
    (inbox / "link.zip").symlink_to("/etc/hostname")
    assert found.look() == []
    path.write_bytes(b"half and half")
    assert found.look() == []  # it is still growing
    assert found.look() == [path]
    assert found.look() == []
    path.write_bytes(b"another")
    assert (found.look(), found.look()) == ([], [path])


def looked(watching, capsys, times=2):
    """What is said while it looks so often: once to see a file, once to find it unchanged."""
    for _ in range(times):
        watching.look()
    return [line[9:] for line in capsys.readouterr().out.splitlines()]


@pytest.fixture(scope="module")
def watching(space, inbox):
    with watch.Watch(space, inbox, [CHAPTER], limits=SHORT) as made:
        yield made


def marks(space, student):
    return {v.exercise: (v.kind, v.points) for v in verdicts.load(space, CHAPTER, student).verdicts}


@pytest.mark.sandbox
@ignore
def test_a_good_one_a_broken_one_and_a_second_attempt(space, inbox, arrive, watching, capsys):
    broken = inbox / f"{CHAPTER}--eve--20260901-120000.zip"
    broken.write_bytes(b"PK\x03\x04 and then nothing")
    (inbox / "thesis\x1b[2J.pdf").write_bytes(b"%PDF")
    arrive("ada", double="def double(x):\n    return x * x")
    said = looked(watching, capsys)
    assert any(line.startswith(f"REFUSED {broken.name}: ") for line in said)
    assert any(line.startswith("REFUSED thesis?[2J.pdf: ") for line in said)
    for path in (broken, inbox / "thesis\x1b[2J.pdf"):
        path.unlink()
    (told,) = [line for line in said if line.startswith("ada")]
    assert re.fullmatch(
        rf"ada {CHAPTER}: 2 of 5 points, {WAITS}, feedback written, \d+\.\d s", told
    )
    page = space.feedback(CHAPTER, "ada") / f"{STEM}.html"
    assert "squares" in page.read_text()
    engine = watching.warm.made

    arrive("ada", "20260902-120000")
    (told,) = looked(watching, capsys)
    assert told.startswith(f"ada {CHAPTER}: 5 of 5 points")
    assert marks(space, "ada") == {"double": ("full", 3.0), "scaled": ("full", 2.0)}
    assert "squares" not in page.read_text()
    assert watching.warm.made is engine  # it was kept warm

    arrive("ada", "20260831-120000", double=None)
    (told,) = looked(watching, capsys)
    assert "older than" in told and marks(space, "ada")["double"] == ("full", 3.0)


@pytest.mark.sandbox
@ignore
def test_of_many_attempts_the_newest_is_graded_once_and_after_a_restart_none(
    space, inbox, arrive, watching, capsys, monkeypatch
):
    graded = []
    monkeypatch.setattr(watch.Watch, "_laid_out", counted(watch.Watch._laid_out, graded))
    for number in range(100):
        arrive(
            "cyd", f"20260901-12{number // 60:02}{number % 60:02}", double="def double(x): return x"
        )
    arrive("cyd", "20260901-130000")
    arrive("dan")
    said = looked(watching, capsys, times=4)
    assert sorted(line.split()[0] for line in said) == ["cyd", "dan"]
    assert sorted(graded) == ["cyd", "dan"] and marks(space, "cyd")["double"] == ("full", 3.0)

    with watch.Watch(space, inbox, [CHAPTER], limits=SHORT) as again:
        assert looked(again, capsys, times=3) == []
        assert sorted(graded) == ["cyd", "dan"]
        # What was collected and not graded when it was killed is graded now.
        space.verdict_file(CHAPTER, "dan").unlink()
        again.arrivals.told.clear()
        assert looked(again, capsys)[0].startswith(f"dan {CHAPTER}: 5 of 5")


def counted(function, calls):
    def call(self, grader, store, student):
        calls.append(student)
        return function(self, grader, store, student)

    return call


@pytest.mark.sandbox
@ignore
def test_under_the_policy_best_a_worse_attempt_changes_nothing(
    space, inbox, arrive, watching, capsys
):
    rules = space.folder / "policy.toml"
    rules.write_text('attempts = "best"\n')
    try:
        arrive("liv")
        assert looked(watching, capsys)[0].startswith(f"liv {CHAPTER}: 5 of 5")
        arrive("liv", "20260902-120000", double=None)
        assert looked(watching, capsys)[0].startswith(f"liv {CHAPTER}: 5 of 5")
    finally:
        for path in (rules, *inbox.glob("*--liv--*")):
            path.unlink()  # the tests that follow are of another policy
    assert verdicts.load(space, CHAPTER, "liv").file.endswith("--20260901-120000.zip")


@pytest.mark.sandbox
@ignore
def test_it_waits_while_another_command_grades(space, arrive, watching, capsys):
    arrive("fay")
    with locked(space):
        said = looked(watching, capsys, times=4)
        assert len(said) == 1 and said[0].startswith("waiting: process ")  # and said once
    assert looked(watching, capsys, times=1)[0].startswith("fay")


@pytest.mark.sandbox
@ignore
def test_who_costs_the_engine_twice_gets_a_verdict_and_no_other_suffers(
    space, arrive, watching, capsys, monkeypatch
):
    class Fragile:
        """A grader whose engine is lost over gus."""

        def __init__(self, grader):
            self.chapter, self.limits, self.grader = grader.chapter, grader.limits, grader

        def notebook(self, stem, data):
            if b"gus was here" in data:
                raise StageError("lost")
            return self.grader.notebook(stem, data)

    whole = watch._Warm.of

    def fragile(self, name):
        grader, store = whole(self, name)
        return Fragile(grader), store

    monkeypatch.setattr(watch._Warm, "of", fragile)
    arrive("gus", double="def double(x):\n    return 'gus was here'")
    arrive("zoe")
    said = looked(watching, capsys, times=6)
    assert [line.split()[0] for line in said if not line.startswith("waiting")] in (
        ["zoe", "gus"],
        ["gus", "zoe"],
    )
    assert marks(space, "zoe")["double"] == ("full", 3.0)
    assert marks(space, "gus")["double"] == ("error", 0.0)
    assert verdicts.load(space, CHAPTER, "gus").look


def test_a_file_tells_its_chapter_by_name_or_folder(space, inbox):
    both = watch.Watch(space, inbox, [CHAPTER, "99_other"])
    one = watch.Watch(space, inbox, [CHAPTER])
    named = f"{CHAPTER}--ada--20260901-120000.zip"
    assert both._chapter(inbox / named) == CHAPTER
    assert both._chapter(inbox / "99_other" / "moodle.zip") == "99_other"
    assert (
        both._chapter(inbox / "moodle.zip") == "" and one._chapter(inbox / "moodle.zip") == CHAPTER
    )
    assert one._chapter(inbox / named.replace(CHAPTER, "99_other")) == ""


def test_what_cannot_be_watched_is_said(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "grading"))
    assert watch.main([str(tmp_path / "none"), "00_start_here"]) == 2
    assert "Make it first." in capsys.readouterr().err
    assert watch.main([str(tmp_path), "77_none"]) == 2
    assert "no released chapter '77_none'" in capsys.readouterr().err


SCRIPT = """
import sys
from pathlib import Path
from autograder.handins import watch
from autograder.workspace import Workspace
grading, project, inbox, chapter = sys.argv[1:]
watch._watch(watch.Watch(Workspace(Path(grading), Path(project)), Path(inbox), [chapter]))
"""


@pytest.fixture
def started(space, inbox):
    """started() -> the real process; its lines come as they are printed."""
    running = []

    def start():
        command = [
            sys.executable,
            "-W",
            "ignore",
            "-c",
            SCRIPT,
            space.folder,
            space.project,
            inbox,
            CHAPTER,
        ]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        running.append(process)
        assert "watching" in process.stdout.readline()
        return process

    yield start
    for process in running:
        process.kill()
        process.stdout.close()
        process.wait()


def end(process, name=signal.SIGINT):
    """Ctrl-C, which reaches every process of the terminal -> (status, what it said last)."""
    os.killpg(process.pid, name)
    last = process.stdout.read()
    return process.wait(timeout=120), last


def wait_until_it_grades(space, process):
    """Return once the process holds the lock. Nothing tells, so it is asked."""
    while process.poll() is None:
        try:
            with locked(space):
                pass
        except GradeError:
            return
        time.sleep(0.02)  # without the lock: the process takes it in between


@pytest.mark.sandbox
@pytest.mark.slow
def test_ctrl_c_ends_it_cleanly_at_rest_and_at_work(space, inbox, arrive, started):
    process = started()
    arrive("hal")
    assert "5 of 5 points" in process.stdout.readline()
    status, last = end(process)
    assert status == 0 and last.endswith("ended. 1 graded.\n")

    process = started()
    arrive("ida", double="def double(x):\n    while True: pass")
    wait_until_it_grades(space, process)
    status, last = end(process, signal.SIGTERM)
    assert status == 0 and last.endswith("ended. 0 graded. 1 waits: start it again.\n")
    assert json.loads(space.verdict_file(CHAPTER, "hal").read_text())["student"] == "hal"
    assert not space.verdict_file(CHAPTER, "ida").exists()

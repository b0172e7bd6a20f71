"""Workers promise: one that dies costs nobody a mark, one that cannot grade says so, wherever they are."""

import gc
import json
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack, closing

import pytest

from autograder.engine import sandbox
from autograder.engine.stage import StageError
from autograder.grading.dispatch import store
from autograder.grading.dispatch.run import graded
from autograder.grading.dispatch.way import Way
from autograder.grading.jobs import GradeError, read_chapter, read_job, read_release
from autograder.grading.workers import bench as benches
from autograder.grading.workers import passes
from tests.conftest import ROOT
from tests.grading.toy_chapter import CHAPTER, SHORT, STEM

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

STUDENTS = [f"student{number:02}" for number in range(8)]
# What runs in a worker before all else.
VERSION = (
    "from autograder.grading.dispatch import store\nstore.engine_version = lambda: 'as tested'\n"
)
# In a worker: a submission with this word in it ends the worker, which no student can do.
DEADLY = """
import os
from autograder.grading.workers import grader
read = grader._read
if read.__name__ == "_read":  # it is loaded twice
    def deadly(stem, data, read=read):
        if b"DEADLY" in data:
            os._exit(1)
        return read(stem, data)
    grader._read = deadly
"""


@pytest.fixture
def school(space, notebook):
    """hand_in(student, **answers); everybody has handed in a right solution already."""

    def hand_in(student, **answers):
        folder = space.submitted(CHAPTER, student)
        folder.mkdir(parents=True, exist_ok=True)
        content = notebook(**{"why": f"Because of {student}."} | answers)
        (folder / f"{STEM}.ipynb").write_text(json.dumps(content))

    for student in STUDENTS:
        hand_in(student)
    return hand_in


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """cluster(options of workers) -> (address, workers): a scheduler and two separate worker processes."""
    from distributed import Client

    monkeypatch.setattr(store, "engine_version", lambda: "as tested")
    with ExitStack() as stack:

        def begin(program, *words):
            command = [sys.executable, "-m", f"distributed.cli.{program}", *words]
            log = stack.enter_context(open(tmp_path / f"{program}.log", "ab"))
            process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            return process

        def start(*options, code=""):
            told = tmp_path / "scheduler.json"
            words = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
            start.scheduler = begin("dask_scheduler", *words, "--scheduler-file", str(told))
            preload = tmp_path / "preload.py"
            preload.write_text(VERSION + code)
            common = ["--scheduler-file", str(told), "--nthreads", "1", "--no-dashboard"]
            common += ["--local-directory", str(tmp_path / "scratch"), "--preload", str(preload)]
            workers = [begin("dask_worker", *common, *options) for _ in range(2)]
            with Client(scheduler_file=str(told), timeout=60) as client:
                client.wait_for_workers(2, timeout=60)
                return client.scheduler.address, workers

        yield start


def test_a_worker_killed_in_the_middle_costs_nobody_a_mark(space, school, cluster):
    for student in STUDENTS:
        school(student, double="import time\ntime.sleep(0.3)\ndef double(x):\n    return 2 * x")
    address, workers = cluster("--no-nanny")
    way = Way(scheduler=address, limits=SHORT)
    with closing(graded(space, CHAPTER, STUDENTS, way)) as stream:
        first = next(stream)
        workers[0].kill()  # both are at work: there is more than they can do at once
        told = [first, *stream]
    assert sorted(done.submission.student for done in told) == STUDENTS
    assert {done.submission.points for done in told} == {5.0}
    assert not any(done.submission.look or done.failed for done in told)


def test_submissions_that_end_their_worker_twice_are_told_and_the_others_are_graded(
    space, school, cluster
):
    killers = STUDENTS[2:6]
    for student in killers:
        school(student, why=f"DEADLY {student}")
    address, _ = cluster(code=DEADLY)
    told = {
        done.submission.student: done
        for done in graded(space, CHAPTER, STUDENTS, Way(scheduler=address, limits=SHORT))
    }
    assert set(told) == set(STUDENTS)
    for lost in [told.pop(student) for student in killers]:
        assert lost.failed and lost.submission.look
        assert {verdict.kind for verdict in lost.submission.verdicts} == {"error"}
        assert "The grader failed on this notebook." in lost.submission.verdicts[0].evidence
        assert "its worker's process ended" in lost.submission.notes[0]
    assert {done.submission.points for done in told.values()} == {5.0}


def test_a_scheduler_that_ends_in_the_middle_ends_the_run_with_a_sentence(space, school, cluster):
    address, _ = cluster("--no-nanny")
    with closing(graded(space, CHAPTER, STUDENTS, Way(scheduler=address, limits=SHORT))) as stream:
        next(stream)
        cluster.scheduler.kill()
        with pytest.raises(GradeError, match="the scheduler is gone"):
            list(stream)


def test_without_a_scheduler_it_says_so(space, school):
    way = Way(scheduler="tcp://127.0.0.1:9", limits=SHORT)
    with pytest.raises(GradeError, match="no scheduler answers at tcp://127.0.0.1:9"):
        list(graded(space, CHAPTER, STUDENTS, way))


def test_workers_of_another_version_are_refused(space, school, cluster):
    address, _ = cluster("--no-nanny", code="store.engine_version = lambda: 'an older one'\n")
    with pytest.raises(GradeError, match="run another version of this program"):
        list(graded(space, CHAPTER, STUDENTS, Way(scheduler=address, limits=SHORT)))


def test_a_local_worker_that_cannot_grade_ends_the_run_with_its_reason(space, school, monkeypatch):
    sandbox.require()
    monkeypatch.setenv("PATH", str(space.folder))  # which the workers start with
    with pytest.raises(GradeError, match="a worker cannot grade: bubblewrap is not installed"):
        list(graded(space, CHAPTER, STUDENTS, Way(limits=SHORT, jobs=1)))


# In a worker of this machine: nothing of ours can be imported while the file is there.
UNFIT = """
import os, sys
class Unfit:
    def find_spec(self, name, path=None, target=None):
        if name == "autograder.grading.workers.bench" and os.path.exists({flag!r}):
            raise ImportError("not today")
if "spawn_main" in " ".join(sys.orig_argv):
    sys.meta_path.insert(0, Unfit())
"""


@pytest.fixture
def unfit(tmp_path, monkeypatch):
    """A file that keeps workers from importing what they need, once it is there."""
    (tmp_path / "unfit").mkdir()
    (tmp_path / "unfit/sitecustomize.py").write_text(UNFIT.format(flag=str(tmp_path / "flag")))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'unfit'}:{ROOT}")
    return tmp_path / "flag"


def test_workers_that_cannot_import_end_the_run_with_one_sentence(
    space, school, unfit, capfd, caplog
):
    unfit.touch()
    with pytest.raises(GradeError, match="a worker cannot grade: .*not today"):
        list(graded(space, CHAPTER, STUDENTS, Way(limits=SHORT, jobs=3)))
    gc.collect()  # what nobody asked for would be told now
    assert capfd.readouterr().err == "" and caplog.records == []


def test_a_worker_that_does_not_start_again_is_not_waited_for(space, school, unfit, monkeypatch):
    import psutil

    from autograder.grading.dispatch import cluster

    monkeypatch.setattr(cluster, "NO_WORKERS_SECONDS", 10**9)
    slow = "import time\ntime.sleep(1)\ndef double(x):\n    return 2 * x"
    for student in STUDENTS:
        school(student, double=slow)
    with closing(graded(space, CHAPTER, STUDENTS, Way(limits=SHORT, jobs=1))) as stream:
        next(stream)
        unfit.touch()
        for child in psutil.Process().children():
            if "spawn_main" in " ".join(child.cmdline()):
                child.kill()
        with pytest.raises(GradeError, match="the worker processes ended and do not start again"):
            list(stream)


@pytest.mark.parametrize("mend", ["SIGCONT", "SIGKILL"])
def test_a_worker_that_somebody_stopped_is_named_and_what_it_says_mends_it(
    space, school, capfd, mend
):
    import psutil

    for student in STUDENTS:
        school(student, double="import time\ntime.sleep(1)\ndef double(x):\n    return 2 * x")
    with closing(graded(space, CHAPTER, STUDENTS, Way(limits=SHORT, jobs=1))) as stream:
        told = [next(stream)]
        [worker] = [
            child
            for child in psutil.Process().children()
            if "spawn_main" in " ".join(child.cmdline())
        ]
        worker.suspend()
        later = threading.Timer(4, lambda: worker.send_signal(getattr(signal, mend)))
        later.start()
        told += stream
    said = capfd.readouterr().err
    assert said.count(f"worker process {worker.pid} is stopped") == 1
    assert f"kill -{mend.removeprefix('SIG')} {worker.pid}" in said
    assert {done.submission.points for done in told} == {told[0].submission.points}
    assert len(told) == len(STUDENTS)


@pytest.fixture
def bench(space):
    """What a worker process holds, in this process."""
    chapter = read_chapter(space, CHAPTER)
    made = benches.Bench(chapter.notebooks, chapter.modules, sandboxed=True)
    benches._benches["run"] = made
    made.open(chapter, SHORT)
    yield made
    made.close()
    del benches._benches["run"]


def test_a_sandbox_lost_in_the_middle_is_no_verdict_and_is_replaced(
    space, school, bench, monkeypatch
):
    job = read_job(space, CHAPTER, STUDENTS[0])
    run = passes.run

    def lose(made, tasks, stage, limits):
        told = run(made, tasks, stage, limits)
        stage.process.kill()  # all that ran in there ended with it
        stage.process.wait()
        return told

    monkeypatch.setattr(passes, "run", lose)
    with pytest.raises(StageError):
        benches.grade_batch("run", [(job, [STEM])])
    monkeypatch.undo()
    [results] = benches.grade_batch("run", [(job, [STEM])])
    assert {verdict.kind for verdict in results[STEM].verdicts} == {"full"}


def test_workers_of_this_machine_listen_to_nobody_else_and_leave_nothing_behind(
    space, monkeypatch, tmp_path
):
    from multiprocessing import resource_tracker

    import psutil
    from distributed import Client

    from autograder.grading.dispatch.cluster import Cluster

    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "empty"))
    resource_tracker.ensure_running()  # Python's own, which stays
    me = psutil.Process()
    before = set(me.children(recursive=True))
    with Cluster(read_release(space, CHAPTER), 2, Way(jobs=2, limits=SHORT)) as cluster:
        family = set(me.children(recursive=True)) - before
        assert family
        ports = [port for process in [me, *family] for port in process.net_connections("inet")]
        listening = {port.laddr.ip for port in ports if port.status == psutil.CONN_LISTEN}
        assert listening == {"127.0.0.1"}
        address = cluster.client.scheduler.address
        assert address.startswith("tls://127.0.0.1:")
        with pytest.raises(OSError):
            Client(address.replace("tls://", "tcp://"), timeout=1)
    assert psutil.wait_procs(family, 10)[1] == []
    assert list((tmp_path / "empty").iterdir()) == []

"""What student code can reach inside the sandbox: tried from inside."""

import os
import time
from dataclasses import replace

import psutil
import pytest

from autograder.checkdata import ROOT
from autograder.engine import sandbox, worker_client
from autograder.engine.stage import Stage
from autograder.engine.worker_client import Died, Limits, Worker
from tests.grading.toy_chapter import NOTEBOOK

pytestmark = pytest.mark.sandbox
LIMITS = Limits(memory=1_000_000_000, all_memory=1_500_000_000)


@pytest.fixture(scope="module")
def stage():
    with Stage([NOTEBOOK]) as stage:
        yield stage


@pytest.fixture(scope="module")
def worker(stage):
    """One process for the tests that do not kill it."""
    with Worker(stage, LIMITS) as worker:
        yield worker


PATIENCE = 300.0  # seconds, for what comes by itself: no busy machine takes that long


def test_the_clock_waits_on_for_a_process_that_has_not_computed_as_long(monkeypatch):
    now = {"wall": 100.0, "cpu": 7.0}
    monkeypatch.setattr(worker_client.time, "monotonic", lambda: now["wall"])
    deadline = worker_client._Deadline(10.0, 50.0, lambda: now["cpu"])
    assert deadline.left() == 10.0
    now |= {"wall": 149.9, "cpu": 16.9}
    assert 0 < deadline.left() < 0.11  # at most until `longest`
    now |= {"wall": 150.1}
    assert deadline.left() < 0
    deadline = worker_client._Deadline(10.0, 50.0, lambda: now["cpu"])
    now |= {"wall": 170.0, "cpu": 26.9}
    assert deadline.left() <= 0  # it had its 10 seconds
    deadline = worker_client._Deadline(10.0)
    now |= {"wall": 180.1}
    assert deadline.left() < 0  # on the wall alone


def run(worker, source, seconds=PATIENCE):
    return worker.ask({"do": "cell", "source": source}, seconds)["error"]


def holds(worker, source):
    """Run asserts inside; nothing comes out but whether they hold."""
    assert run(worker, source) is None


def test_no_file_of_the_project_is_visible(worker):
    for name in ("solutions", "autograder", "grading", "tests", "course"):
        holds(worker, f"import os; assert not os.path.exists({str(ROOT / name)!r})")
    holds(worker, f"import os; assert os.listdir({str(ROOT)!r}) == ['.venv']")
    holds(
        worker,
        "import os; assert sorted(os.listdir('/engine')) == ['descent', 'inside']",
    )


def test_no_expected_value_is_visible(worker):
    source = (
        "import os, json\n"
        "found = [os.path.join(a, f) for a, _, b in os.walk('/engine/descent/checks') for f in b]\n"
        f"assert found == ['/engine/descent/checks/{NOTEBOOK}.json']\n"
        "assert json.load(open(found[0]))['exercises'] == {}"
    )
    holds(worker, source)


def test_only_scratch_folders_can_be_written(worker):
    source = (
        "import os\n"
        "writable = set()\n"
        "for folder, inner, _ in os.walk('/'):\n"
        "    if folder.startswith(('/proc', '/usr/share', '/usr/lib')): inner.clear(); continue\n"
        "    try: os.close(os.open(folder + '/x', os.O_CREAT | os.O_WRONLY))\n"
        "    except OSError: continue\n"
        # The environment may lie below /tmp; the folders on the way to it are as fresh as /tmp itself.
        "    writable.add('/tmp' if folder.startswith('/tmp/') else '/'.join(folder.split('/')[:3]))\n"
        "assert writable == {'/tmp', '/home/student', '/dev/shm'}, writable"
    )
    assert run(worker, source) is None


def test_the_environment_cannot_be_written_wherever_it_lies(worker):
    error = run(worker, "import sys; open(sys.prefix + '/x', 'w')")
    assert error["type"] == "OSError" and "Read-only" in error["message"]


def test_there_is_no_network(worker):
    source = (
        "import socket\n"
        "for family, address in ((socket.AF_INET, ('127.0.0.1', 22)), (socket.AF_INET, ('1.1.1.1', 53))):\n"
        "    assert socket.socket(family, socket.SOCK_STREAM).connect_ex(address) != 0"
    )
    holds(worker, source)


def test_no_process_and_no_variable_of_ours_is_visible(worker):
    holds(worker, "import os; assert len([p for p in os.listdir('/proc') if p.isdigit()]) <= 3")
    holds(
        worker,
        f"import os; assert not any({os.environ['HOME']!r} == v for v in os.environ.values())",
    )
    holds(
        worker,
        "import os; assert os.environ['DESCENT_GRADING'] == '1' and 'GRADED_DESCENT_GRADING' not in os.environ",
    )


def test_it_is_no_root_and_cannot_become_it(worker):
    holds(
        worker,
        "import os; assert os.getuid() != 0 and os.getgid() != 0 and 0 not in os.getgroups()",
    )
    told = "status = open('/proc/self/status').read()\n"
    holds(worker, told + "assert 'CapEff:\\t0000000000000000' in status")
    holds(worker, told + "assert 'NoNewPrivs:\\t1' in status")
    assert run(worker, "import os; os.setuid(0)")["type"] == "OSError"  # nobody there is number 0


def test_a_large_file_is_refused(worker):
    assert (
        run(worker, "open('/home/student/x', 'wb').write(b'x' * 90_000_000)")["type"] == "OSError"
    )


def test_much_memory_at_once_is_refused(worker):
    assert run(worker, "x = bytearray(2_000_000_000)")["type"] == "MemoryError"


def test_libraries_that_no_released_cell_imports_are_there_at_once(worker):
    holds(worker, "import sys; before = set(sys.modules)")
    holds(worker, "import scipy.stats, sklearn.metrics, sklearn.neighbors")
    holds(worker, "assert set(sys.modules) == before")


def test_magics_await_and_figures_work(worker):
    holds(worker, "import asyncio\nawait asyncio.sleep(0)")
    holds(
        worker, "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()"
    )
    holds(worker, "x = !echo hello\nassert x == ['hello']")
    holds(worker, "from IPython.display import display\ndisplay(plt.figure())")


def test_input_is_refused_at_once(worker):
    assert run(worker, "input('who?')")["type"] == "RuntimeError"


@pytest.mark.parametrize(
    "source, kind",
    [
        ("import os; os._exit(3)", "exited"),
        ("import ctypes; ctypes.string_at(0)", "exited"),
        ("import os\nwhile True: os.write(1, b'x' * 10_000)", "output"),
        ("import os\nos.write(FD, b'\\x7f\\xff\\xff\\xff')", "output"),
        (
            'import os\nos.write(FD, bytes([0, 0, 0, 25]) + b\'{"id": 9, "outcomes": []} \')',
            "output",
        ),
        ("import os\nos.closerange(3, 200)\nwhile True: pass", "exited"),
    ],
    ids=["exit", "segfault", "a flood", "a giant frame", "a forged frame", "no pipes"],
)
def test_a_lost_process_has_its_kind(stage, source, kind):
    find = "FD = 101\n"  # where the replies go: anybody inside can find it out
    with Worker(stage, LIMITS) as worker, pytest.raises(Died) as died:
        run(worker, find + source)
    assert died.value.kind == kind


def test_memory_shared_out_over_children_is_held(stage):
    source = (
        "import os, signal\n"
        "for _ in range(8):\n"
        "    if os.fork() == 0:\n"
        "        x = bytearray(400_000_000); x[::4096] = b'1' * len(x[::4096]); signal.pause(); os._exit(0)\n"
        "signal.pause()"
    )
    with Worker(stage, LIMITS) as worker, pytest.raises(Died) as died:
        run(worker, source)
    assert died.value.kind == "memory"


def test_a_fork_bomb_is_over_with_its_process(stage):
    source = "import os, time\nwhile True:\n    try: os.fork()\n    except OSError: time.sleep(0.1)"
    with Worker(stage, LIMITS) as worker, pytest.raises(Died):
        space = namespace(worker.pid)
        assert space is not None and space != namespace(os.getpid())
        run(worker, source, seconds=3)
    deadline = time.monotonic() + PATIENCE
    while any(namespace(pid) == space for pid in psutil.pids()) and time.monotonic() < deadline:
        pass
    assert not [pid for pid in psutil.pids() if namespace(pid) == space]


def namespace(pid):
    """The pid namespace of a process, or None where it is gone."""
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return None


def test_a_process_left_behind_is_gone_with_the_worker(stage):
    with Worker(stage, LIMITS) as worker:
        source = (
            "import subprocess; p = subprocess.Popen(['sleep', '54321'], start_new_session=True)"
        )
        assert run(worker, source) is None
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        left = [
            p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", "54321"]
        ]
        if not left:
            return
        psutil.wait_procs(left, timeout=0.2)
    pytest.fail("a child outlived its sandbox")


def test_two_submissions_share_no_file(stage):
    with Worker(stage, LIMITS) as worker:
        holds(worker, "open('/tmp/left', 'w').write('x'); open('/dev/shm/left', 'w').write('x')")
    with Worker(stage, LIMITS) as worker:
        # A project that itself lies under /tmp is bound there, so only the file is asked for.
        holds(worker, "import os; assert not os.path.exists('/tmp/left')")
        holds(worker, "import os; assert os.listdir('/dev/shm') == []")


def test_where_bubblewrap_is_missing_it_says_what_to_do(monkeypatch):
    sandbox.problem.cache_clear()
    try:
        monkeypatch.setattr(sandbox.shutil, "which", lambda name: None)
        assert "apt-get install bubblewrap" in sandbox.problem()
        with pytest.raises(sandbox.SandboxError, match="--no-sandbox"):
            Stage([NOTEBOOK])
    finally:
        sandbox.problem.cache_clear()


def test_where_bubblewrap_is_not_allowed_it_says_why(monkeypatch):
    sandbox.problem.cache_clear()
    try:
        monkeypatch.setattr(
            sandbox, "wrap", lambda *a: ["sh", "-c", "echo no permission >&2; exit 1"]
        )
        assert "no sandbox can be made here: no permission" in sandbox.problem()
    finally:
        sandbox.problem.cache_clear()


def test_where_the_frame_stands_but_no_fork_in_it_that_is_said_at_the_start(monkeypatch):
    wrap = sandbox.wrap
    sandbox.problem.cache_clear()
    try:
        refuse = ["prlimit", "--nproc=0:0"]
        monkeypatch.setattr(sandbox, "wrap", lambda command, *more: wrap(refuse + command, *more))
        assert "no sandbox can be made here" in sandbox.problem()
        assert "max_user_namespaces" in sandbox.problem()
    finally:
        sandbox.problem.cache_clear()


def test_a_processor_whose_calls_are_unknown_is_refused(monkeypatch):
    sandbox.problem.cache_clear()
    try:
        monkeypatch.setattr(sandbox.platform, "machine", lambda: "riscv64")
        assert "this one is riscv64" in sandbox.problem()
    finally:
        sandbox.problem.cache_clear()


WAITING = {
    "it sleeps": "import time; time.sleep(3600)",
    "its child sleeps": "import subprocess; subprocess.run(['sleep', '3600'])",
    "two threads wait": (
        "import threading\n"
        "lock = threading.Lock(); lock.acquire()\n"
        "one = threading.Thread(target=lock.acquire, daemon=True); one.start(); one.join()"
    ),
}


@pytest.mark.parametrize("source", WAITING.values(), ids=WAITING)
def test_what_only_waits_is_ended_before_its_time(stage, source):
    with Worker(stage, replace(LIMITS, idle=1.0)) as worker:
        with pytest.raises(Died, match="waited for 1 s without computing") as died:
            run(worker, source)
        assert died.value.kind == "timeout"


COMPUTES = "import time\nend = time.process_time() + 3\nwhile time.process_time() < end: pass"
COMPUTING = {
    "itself": COMPUTES,
    "a thread": (
        "import threading\n"
        f"one = threading.Thread(target=exec, args=({COMPUTES!r}, {{}}))\n"
        "one.start(); one.join()"
    ),
    "a child": f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {COMPUTES!r}], check=True)",
    "a child after another": (
        "import subprocess, sys\n"
        f"for _ in range(2): subprocess.run([sys.executable, '-c', {COMPUTES.replace('3', '1.5')!r}], check=True)"
    ),
    "a little, again and again": "import time\nfor _ in range(8):\n    time.sleep(0.4)\n    sum(range(3_000_000))",
}


@pytest.mark.parametrize("source", COMPUTING.values(), ids=COMPUTING)
def test_what_computes_somewhere_is_waited_for(stage, source):
    with Worker(stage, replace(LIMITS, idle=1.0)) as worker:
        assert run(worker, source) is None


def test_between_two_questions_it_may_wait(stage):
    with Worker(stage, replace(LIMITS, idle=0.5)) as worker:
        for _ in range(2):
            time.sleep(1)
            assert run(worker, "pass") is None

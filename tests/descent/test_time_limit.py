"""A limit is on what an answer computes: not on what it imports, nor on what else the machine does."""

import linecache
import signal
import sys
import threading
import time
from functools import partial

import pytest

from descent import judging, running

LIBRARY = """
import time
end = time.process_time() + 0.8
while time.process_time() < end:
    pass
time.sleep(0.3)
WHOLE = True
"""


def students(source):
    """The function that a student's cell defines."""
    name = f"<cell of {len(linecache.cache)}>"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    names = {}
    exec(compile(source, name, "exec"), names)
    return names["answer"]


def in_another_thread(answer, **more):
    told = []
    thread = threading.Thread(target=lambda: told.append(running.run_case(answer, {}, **more)))
    thread.start()
    thread.join()
    return told[0]


@pytest.fixture(params=["by the alarm", "without an alarm", "in another thread"])
def run(request, monkeypatch):
    """Runs an answer, in each way in which it can be looked at."""
    if request.param == "in another thread":
        return in_another_thread
    if request.param == "without an alarm":  # as on Windows
        monkeypatch.delattr(signal, "setitimer")
    return lambda answer, **more: running.run_case(answer, {}, **more)


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """Puts modules where a library's lie, and where a student's do; each test has its own."""
    for folder in (tmp_path, tmp_path / "site-packages"):
        folder.mkdir(exist_ok=True)
        monkeypatch.syspath_prepend(folder)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def problem_of(outcome):
    spec = {
        "name": "answer", "points": 1, "limit": 0, "compare": {"kind": "exact"}, "wrong": [],
        "cases": [{"name": "one", "inputs": {}, "expected": 1}],
    }  # fmt: skip
    return judging.judge(spec, [outcome], reveal=False).evidence


def test_a_busy_loop_is_stopped_and_its_line_told(run):
    answer = students("def answer():\n    x = 1\n    while True: x = -x\n")
    outcome = run(answer, limit=0.2)
    assert outcome["status"] == "slow"
    assert problem_of(outcome) == (
        "answer ran longer than 0.2 s and was stopped in line 3, `while True: x = -x`."
    )


def test_an_answer_that_swallows_whatever_stops_it_is_too_slow(run):
    def swallows():
        end = time.process_time() + 0.5
        while time.process_time() < end:
            try:
                sum(range(1000))
            except:  # noqa: E722
                pass

    assert run(swallows, limit=0.2)["status"] == "slow"


def test_an_answer_that_catches_every_error_is_stopped(run):
    def swallows():
        while True:
            try:
                sum(range(1000))
            except Exception:
                pass

    assert run(swallows, limit=0.2)["status"] == "slow"


def test_a_librarys_import_does_not_count_and_is_not_interrupted(run, modules, monkeypatch):
    monkeypatch.setattr(running, "WAITING_SECONDS", 0.0)
    monkeypatch.setattr(running, "WAITING_FACTOR", 1.0)
    (modules / "site-packages" / "slow_library.py").write_text(LIBRARY)
    outcome = run(
        students("def answer():\n    import slow_library as s\n    return s.WHOLE"), limit=0.3
    )
    assert (outcome["status"], outcome["value"]) == ("ok", True)
    assert outcome["seconds"] >= 1.1


def test_a_librarys_import_from_a_students_module_does_not_count(run, modules):
    (modules / "site-packages" / "slow_library.py").write_text(LIBRARY)
    (modules / "mine.py").write_text(
        "from importlib import import_module\nimport_module('slow_library')"
    )
    assert run(students("def answer():\n    import mine"), limit=0.3)["status"] == "ok"


def test_what_follows_an_import_counts(run, modules):
    (modules / "site-packages" / "slow_library.py").write_text(LIBRARY)
    answer = students("def answer():\n    import slow_library\n    while True: pass")
    assert run(answer, limit=0.2)["error"]["line"] == "while True: pass"
    assert sys.modules["slow_library"].WHOLE


def test_a_students_own_module_that_loops_is_stopped(run, modules):
    (modules / "mine.py").write_text("while True:\n    pass")
    outcome = run(students("def answer():\n    import mine"), limit=0.2)
    assert (outcome["status"], outcome["error"]["line"]) == ("slow", "import mine")


def test_an_answer_that_waits_is_stopped_in_the_end(run, monkeypatch):
    monkeypatch.setattr(running, "WAITING_SECONDS", 0.2)
    waits = "def answer():\n    import time\n    for _ in range(1000): time.sleep(0.1)\n"
    outcome = run(students(waits), limit=0.1)
    assert problem_of(outcome) == (
        "answer waited rather than computed for 0.7 s and was stopped in line 3, "
        "`for _ in range(1000): time.sleep(0.1)`."
    )


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no signal ends a wait here")
def test_the_alarm_ends_a_wait_in_the_system(monkeypatch):
    monkeypatch.setattr(running, "WAITING_SECONDS", 0.2)
    taken = threading.Lock()
    taken.acquire()
    answers = lambda: time.sleep(300), partial(taken.acquire, timeout=300)  # the last is C alone
    for waits in answers:
        outcome = running.run_case(waits, {}, limit=0.1)
        assert outcome["status"] == "slow" and outcome["seconds"] < 200


def test_a_right_answer_on_a_busy_machine_is_not_stopped(run, monkeypatch):
    """The machine gives it a hundredth of the processor, as far as the clocks tell."""
    monkeypatch.setattr(running, "_cpu", lambda: time.perf_counter() / 100)

    def computes():
        end = time.perf_counter() + 0.5
        while time.perf_counter() < end:
            pass
        return 1

    assert run(computes, limit=0.1)["status"] == "ok"


@pytest.mark.parametrize(
    ("cpu", "wall", "message"),
    [
        (0.9, 1.0, None),
        (0.5, 9.9, None),  # a busy machine
        (3.9, 0.9, None),  # four threads
        (1.0, 9.9, "ran longer than 1 s"),
        (4.0, 1.0, "ran longer than 1 s"),
        (0.9, 10.0, "waited rather than computed for 10 s"),
    ],
)
def test_the_fewer_seconds_count_of_processor_and_wall(monkeypatch, cpu, wall, message):
    now = {"cpu": 7.0, "wall": 3.0}
    monkeypatch.setattr(running, "_cpu", lambda: now["cpu"])
    monkeypatch.setattr(running, "_wall", lambda: now["wall"])
    watch = running._Watch(1.0)
    now["cpu"] += cpu
    now["wall"] += wall
    stops = running._call(lambda: watch.look(sys._getframe()), {}, None)
    assert stops == (message is not None)
    assert message == (watch.late and watch.late["message"])


def test_nothing_is_stopped_once_the_answer_has_ended(run, monkeypatch):
    """Answers that end just when they are to be stopped."""
    monkeypatch.setattr(running, "PERIOD", 0.001)
    told = [run(lambda: sum(range(40_000)), limit=0.0005)["status"] for _ in range(200)]
    assert set(told) <= {"ok", "slow"}
    end = time.perf_counter() + 0.1
    while time.perf_counter() < end:
        pass


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no such alarms")
def test_a_students_own_alarm_goes_on(request):
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    request.addfinalizer(lambda: signal.signal(signal.SIGALRM, before))
    request.addfinalizer(lambda: signal.setitimer(signal.ITIMER_REAL, 0))
    signal.setitimer(signal.ITIMER_REAL, 300, 7)
    running.run_case(lambda: 1, {})
    left, period = signal.getitimer(signal.ITIMER_REAL)
    assert 0 < left < 300 and period == 7 and not rung
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    end = time.monotonic() + 60

    def outlasts_it():
        time.sleep(0.3)
        return len(rung)

    assert running.run_case(outlasts_it, {}, limit=60)["value"] == 0
    while not rung and time.monotonic() < end:
        time.sleep(0.01)
    assert rung == [1]

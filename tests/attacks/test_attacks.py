"""Every attack of `suite/` gets its verdict, the student's other answers keep their marks, nobody else is harmed.

After each: no hidden input stands in what the student reads, nothing in the pages runs, no process is left, and
the next submission, in the same warm stage, gets full marks.
"""

import contextlib
import json
import os
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest

from autograder.grading import verdicts
from autograder.results import feedback_page
from tests.attacks import attack as attacks
from tests.attacks import pages
from tests.attacks.conftest import NOTEBOOK, STEM

pytestmark = pytest.mark.sandbox
LEFT_BEHIND = (
    "left-behind-by-an-attack"  # in the command line of every process that an attack leaves
)
SUITE = [attack for attack in attacks.read_all() if not (attack.builder or ("",))[0] == "hand_in"]


@pytest.mark.parametrize("attack", SUITE, ids=lambda attack: attack.name)
def test_an_attack_gets_its_verdict_and_harms_nobody(arena, attack):
    content = attack_notebook(arena, attack)
    with neighbour(arena, attack), little_memory(arena):
        done = arena.grade(content)
    assert found(done) == expected(arena, attack), told(done)
    assert not attack.told.get("LOOK") or done.submission.look
    restored = sorted(v.exercise for v in done.submission.verdicts if v.restored)
    assert restored == attack.told.get("RESTORED", [])
    nothing_is_carried_out(arena, attack, content, done)
    assert pages.what_runs_in_notebook(done.pages[STEM]) == []
    assert pages.what_runs(feedback(done)) == []
    assert not left_behind()
    after = arena.grade(attacks.fill(arena.honest, attack.under("next")))
    assert found(after) == expected(arena), f"the next submission: {told(after)}"


def attack_notebook(arena, attack):
    if attack.builder:
        return attack.builder[1](json.loads(json.dumps(arena.honest)))
    return attacks.fill(arena.honest, attack.under("attack"))


def found(done):
    return {v.exercise: (v.kind, v.points) for v in done.submission.verdicts}


def expected(arena, attack=None):
    points = arena.graders[0].chapter.points[STEM]
    return {name: ("full", value) for name, value in points.items()} | (
        attack.verdict if attack else {}
    )


def told(done):
    return "\n".join(f"{v.exercise}: {v.evidence}" for v in done.submission.verdicts)


def read_by_student(done):
    """All that a student is shown of a submission, but for the seconds that it took."""
    shown = [asdict(verdict) | {"seconds": 0} for verdict in done.submission.verdicts]
    return json.dumps(shown, indent=1) + done.pages[STEM] + feedback(done)


def feedback(done):
    """The body of the feedback page."""
    known = feedback_page.Marks()
    cells = feedback_page.cells(json.loads(done.pages[STEM]), known)
    rows = feedback_page.rows(cells, known, {})
    made = feedback_page.page(cells, rows, NOTEBOOK, "eve", known)
    return made[made.index("<body") :]


def nothing_is_carried_out(arena, attack, content, done):
    shown = read_by_student(done)
    assert [text for text in arena.hidden() if text in shown] == []
    assert all(
        verdict.kind in verdicts.KINDS and verdict.evidence for verdict in done.submission.verdicts
    )
    if attack.told.get("CARRIES"):
        assert read_by_student(arena.grade(content, key=1)).splitlines() == shown.splitlines()


@contextlib.contextmanager
def neighbour(arena, attack):
    """Another student's sandbox, open while the attack is graded."""
    cells = attack.under("neighbour")
    if not cells:
        yield
        return
    with arena.sandbox() as worker:
        for when in ("", "after"):
            for heading, source in cells:
                if heading == when:
                    reply = worker.ask({"do": "cell", "source": source}, 20)
                    assert reply["error"] is None, reply
            if not when:
                yield


@contextlib.contextmanager
def little_memory(arena):
    """Outside the sandbox nothing grows: neither this process, which is the engine, nor the judge."""
    pids = (os.getpid(), arena.graders[0].judge.process.pid)
    for pid in pids:
        Path(f"/proc/{pid}/clear_refs").write_text("5")  # forget the peak
    before = [psutil.Process(pid).memory_info().rss for pid in pids]
    yield
    if arena.graders[0].judge.process.pid == pids[1]:
        grown = [peak(pid) - rss for pid, rss in zip(pids, before, strict=True)]
        assert max(grown) < 600_000_000, grown


def peak(pid):
    """The most bytes that a process held since its peak was forgotten."""
    status = Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def left_behind():
    """Processes of this machine that an attack left."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if LEFT_BEHIND in " ".join(process.info["cmdline"] or []):
            found.append(process.pid)
    return found

"""The judge: a process of its own that holds expected results and compares. It never runs a student's code.

`Judge` is what the engine holds: it asks the process over pipes, in plain JSON. Run as a program, this module is
that process. Inputs go out to the student's sandbox, expected values never do.
"""

import contextlib
import os
import resource
import select
import subprocess
import sys
import threading

from autograder import terminal
from autograder.checkdata import ROOT
from autograder.engine import judge_safety
from autograder.engine.inside.frames import pack, receive, send

MEMORY = 8_000_000_000  # bytes of addresses; what is in use is far less
SECONDS = 60.0  # to compare one exercise's results, on a machine that does other things too


class JudgeError(RuntimeError):
    """No judge can be had; str() says why."""


def tasks(data: dict) -> dict[str, dict[str, dict]]:
    """What the sandbox may know of prepared data: probe, time limit and the inputs, by notebook and exercise."""
    return {stem: {name: _task(d) for name, d in found.items()} for stem, found in data.items()}


def _task(data) -> dict:
    cases = [{"inputs": case["inputs"]} for case in data["cases"]]
    return {"probe": data["probe"], "limit": data["limit"], "cases": cases}


class Judge:
    """The engine's side. One process; threads that share it wait for each other. Use as a context manager.

    data: notebook -> exercise -> what `prepare` made.
    """

    def __init__(self, data: dict):
        self.data = data
        self.lock = threading.Lock()
        self.closed = False
        self._start()

    def _start(self):
        inside, self.requests = os.pipe()
        self.replies, back = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "autograder.engine.judge", str(inside), str(back)],
            stdin=subprocess.DEVNULL, stdout=2, pass_fds=(inside, back), cwd=ROOT,
        )  # fmt: skip
        os.close(inside)
        os.close(back)
        self.loaded = False

    def verdict(self, stem: str, exercise: str, outcomes, sources: list[str]) -> dict:
        """The verdict on outcomes, as `judging.Verdict.to_plain` tells it. sources: the student's cells.

        Outcomes that a fresh judge does not survive either are a verdict too. Raises FrameError where they are too
        large to hand over, JudgeError where no judge starts.
        """
        told = pack({"stem": stem, "exercise": exercise, "outcomes": outcomes, "sources": sources})
        with self.lock:
            for _ in range(2):
                if self.closed:
                    raise JudgeError("the judge was closed")
                self._load()
                try:
                    return self._ask(told)["verdict"]
                except (EOFError, BrokenPipeError, TimeoutError):
                    self._stop()
                    self._start()
        data = self.data[stem][exercise]
        return _nothing(data, "output", f"The results of {exercise} cannot be compared.").to_plain()

    def _load(self):
        """Hand over the data, once: it takes the process as long as its imports."""
        if self.loaded:
            return
        try:
            self.loaded = self._ask(pack(self.data))["ready"]
        except (EOFError, BrokenPipeError, TimeoutError):
            raise JudgeError("the judge does not start; its last words stand above") from None

    def _ask(self, told: bytes) -> dict:
        view = memoryview(told)
        while view:
            view = view[os.write(self.requests, view) :]
        if not select.select([self.replies], [], [], SECONDS)[0]:
            raise TimeoutError
        return receive(self.replies)

    def _stop(self):
        self.process.kill()
        self.process.wait()
        for descriptor in (self.requests, self.replies):
            os.close(descriptor)

    def close(self):
        self.process.kill()  # whoever waits for a verdict need not wait on
        with self.lock:
            if not self.closed:
                self.closed = True
                self._stop()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def judged(data: dict, outcomes, sources: list[str]):
    """The verdict on outcomes from a process that may be hostile. Never raises for what it told."""
    from descent import judging

    name = data["name"]
    try:
        cleaned = judge_safety.clean(outcomes, data, sources)
        verdict = judging.judge(data, cleaned, reveal=False)
    except judge_safety.ForgedError as error:
        print(f"judge: {name}: forged outcomes: {error}", file=sys.stderr)
        return _nothing(data, "output", f"{name} wrote to the grader's own channel.")
    except Exception as error:
        print(f"judge: {name}: {type(error).__name__}: {error}", file=sys.stderr)
        return _nothing(data, "wrong", "The result cannot be compared with what was asked.")
    return _told(verdict, cleaned, data)


def _nothing(data, kind, evidence):
    from descent import judging

    return judging.Verdict(data["name"], kind, 0.0, data["points"], evidence=evidence)


def _told(verdict, outcomes, data):
    """The verdict in the grader's words: memory as a kind of its own, no word or size of the student's process."""
    errors = {o["error"].get("type") for o in outcomes if o["status"] == "raised"}
    if verdict.kind == "error" and errors & {"MemoryError", "OutOfMemoryError"}:
        verdict.kind = "memory"
    sizes = judge_safety.sizes_of(data)
    verdict.evidence = _safe(verdict.evidence, sizes)
    for case in verdict.cases:
        case.problem = _safe(case.problem, sizes)
    return verdict


def _safe(text, sizes) -> str:
    return judge_safety.without_sizes(judge_safety.without_keys(text), sizes)


def main(argv: list[str]) -> int:
    """Answer requests until the pipe ends. argv: descriptors of requests and replies."""
    requests, replies = int(argv[0]), int(argv[1])
    resource.setrlimit(
        resource.RLIMIT_AS, (MEMORY, MEMORY)
    )  # whatever a result makes numpy ask for
    with contextlib.suppress(EOFError, KeyboardInterrupt), terminal.only_plain():
        data = receive(requests)
        send(replies, {"ready": True})
        while True:
            asked = receive(requests)
            found = data[asked["stem"]][asked["exercise"]]
            verdict = judged(found, asked["outcomes"], asked["sources"])
            send(replies, {"verdict": verdict.to_plain()})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

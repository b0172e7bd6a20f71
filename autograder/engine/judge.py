"""The judge: a process of its own that holds references, hidden cases and expected results.

`Judge` is what the engine holds: it asks the process over pipes, in plain JSON. Run as a program, this module is
that process. Inputs go out to the student's sandbox, expected values never do.
"""

import contextlib
import hashlib
import os
import subprocess
import sys
import threading
from pathlib import Path

from autograder.checkdata import ROOT
from autograder.engine import judge_safety
from autograder.engine.worker_frames import receive, send
from autograder.workspace import Workspace


class JudgeError(RuntimeError):
    """The judge cannot judge: a specification fails, or its process ended. str() says which."""


class Judge:
    """The engine's side. One process, asked by one thread at a time. Use as a context manager."""

    def __init__(self, space: Workspace):
        space.key()  # made here, so that two judges cannot make two
        self.lock = threading.Lock()
        inside, self.requests = os.pipe()
        self.replies, back = os.pipe()
        arguments = [str(inside), str(back), str(space.folder), str(space.project)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "autograder.engine.judge", *arguments], stdin=subprocess.DEVNULL,
            stdout=2, pass_fds=(inside, back), cwd=ROOT,
        )  # fmt: skip
        os.close(inside)
        os.close(back)

    def exercises(self, notebook: str, points: dict[str, float]) -> dict[str, dict]:
        """What the sandbox needs of each exercise of "chapter/notebook": probe, limit, the hidden cases' inputs."""
        return self._ask({"do": "exercises", "notebook": notebook, "points": points})["exercises"]

    def verdict(self, notebook: str, exercise: str, outcomes, source: str) -> dict:
        """The verdict on outcomes, as `judging.Verdict.to_plain` tells it. source: the student's code."""
        told = {"notebook": notebook, "exercise": exercise, "outcomes": outcomes, "source": source}
        return self._ask({"do": "verdict"} | told)["verdict"]

    def _ask(self, request):
        with self.lock:
            try:
                send(self.requests, request)
                reply = receive(self.replies)
            except (EOFError, BrokenPipeError) as error:
                raise JudgeError("the judge's process ended; its last words stand above") from error
        if "problem" in reply:
            raise JudgeError(reply["problem"])
        return reply

    def close(self):
        for descriptor in (self.requests, self.replies):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


class Bench:
    """The process's own side: data by exercise, computed once a run."""

    def __init__(self, space: Workspace):
        self.space, self.key = space, space.key()
        self.kept: dict[tuple, dict] = {}
        self.device = _device()

    def exercises(self, notebook: str, points: dict[str, float]) -> dict:
        """Raises SpecError, KeyError where an exercise of the release has no specification."""
        told = {}
        for name, data in self._data(notebook, points).items():
            cases = [{"inputs": case["inputs"]} for case in data["cases"]]
            told[name] = {"probe": data["probe"], "limit": data["limit"], "cases": cases}
        return told

    def _data(self, notebook, points):
        from autograder import checkdata

        text = self.space.spec_path(notebook)
        mark = hashlib.sha256(text.read_bytes() if text.exists() else b"").hexdigest()
        wanted = {name: (notebook, name, mark, value) for name, value in points.items()}
        if any(key not in self.kept for key in wanted.values()):
            exercises = self.space.load_exercises(notebook)
            for name, key in wanted.items():
                if name not in exercises:
                    raise JudgeError(
                        f"{notebook}: exercise {name!r} has no specification in {text}."
                    )
                seed = checkdata.hidden_seed(self.key, notebook, name)
                data = checkdata.exercise_data(
                    exercises[name], points[name], seed, device=self.device
                )
                self.kept[key] = self.kept[notebook, name] = data
        return {name: self.kept[key] for name, key in wanted.items()}

    def verdict(self, notebook: str, exercise: str, outcomes, source: str) -> dict:
        """The verdict on outcomes from a process that may be hostile. Never raises for what it told."""
        from descent import judging

        data = self.kept[notebook, exercise]
        try:
            cleaned = judge_safety.clean(outcomes, data, source)
            verdict = judging.judge(data, cleaned, reveal=False)
        except judge_safety.ForgedError as error:
            return _nothing(
                data, "output", f"{exercise} wrote to the grader's own channel ({error})."
            ).to_plain()
        except Exception as error:
            print(f"judge: {notebook} {exercise}: {type(error).__name__}: {error}", file=sys.stderr)
            return _nothing(
                data, "wrong", "The result cannot be compared with what was asked."
            ).to_plain()
        return _told(verdict, cleaned).to_plain()


def _nothing(data, kind, evidence):
    from descent import judging

    return judging.Verdict(data["name"], kind, 0.0, data["points"], evidence=evidence)


def _told(verdict, outcomes):
    """The verdict in the grader's words: memory as a kind of its own, no word of the student's process."""
    errors = {o["error"].get("type") for o in outcomes if o["status"] == "raised"}
    if verdict.kind == "error" and errors & {"MemoryError", "OutOfMemoryError"}:
        verdict.kind = "memory"
    verdict.evidence = judge_safety.without_keys(verdict.evidence)
    for case in verdict.cases:
        case.problem = judge_safety.without_keys(case.problem)
    return verdict


def _device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def main(argv: list[str]) -> int:
    """Answer requests until the pipe ends."""
    requests, replies = int(argv[0]), int(argv[1])
    bench = Bench(Workspace(Path(argv[2]), Path(argv[3])))
    while True:
        try:
            request = receive(requests)
        except EOFError:
            return 0
        do = request.pop("do")
        try:
            reply = {do: getattr(bench, do)(**request)}
        except Exception as error:
            reply = {"problem": f"{type(error).__name__}: {error}"}
        send(replies, reply)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

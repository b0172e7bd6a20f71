"""The engine's side of a worker: starts it, asks it, and ends it when a limit is reached."""

import contextlib
import itertools
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from autograder.checkdata import ROOT
from autograder.engine import sandbox
from autograder.engine.worker_frames import FrameError, Reader, pack

_numbers = itertools.count()


@dataclass(frozen=True)
class Limits:
    """What a submission may take. Times in seconds of the wall clock, sizes in bytes."""

    start: float = 120.0  # imports, on a machine that does other things too
    cell: float = 60.0
    total: float = 300.0
    memory: int = 2_000_000_000  # of one process, above what the imports take
    all_memory: int = 3_000_000_000  # of all its processes together
    processes: int = 64
    file: int = 64_000_000
    files: int = 256
    cpu: int = 600
    output: int = 1_000_000


class Died(Exception):
    """The worker is gone. kind: one of the verdicts' kinds; str() says why; forged: it sent a false message."""

    def __init__(self, kind: str, reason: str, *, forged: bool = False):
        super().__init__(reason)
        self.kind, self.forged = kind, forged


class Worker:
    """One process that runs one submission. Use as a context manager; `ask` raises Died when it is lost."""

    def __init__(self, stage: "Stage", limits: Limits):
        self.limits = limits
        self.output = 0
        self.tail = b""
        self.listening = True
        self.closed = False
        self.reader = Reader()
        self.scratch = None if stage.sandboxed else tempfile.mkdtemp(prefix="grading-")
        inside, self.requests = os.pipe()
        self.replies, back = os.pipe()
        self.prints, shown = os.pipe()
        self.process = subprocess.Popen(
            stage.command(inside, back, limits), stdin=subprocess.DEVNULL, stdout=shown, stderr=shown,
            pass_fds=(inside, back), start_new_session=True, env=stage.environment(self.scratch), cwd=self.scratch,
        )  # fmt: skip
        for descriptor in (inside, back, shown):
            os.close(descriptor)
        os.set_blocking(self.requests, False)

    def __enter__(self):
        try:
            self._reply(0, time.monotonic() + self.limits.start)
        except Died as died:
            self.close()
            words = self.tail.decode("utf-8", "replace").strip()
            raise Died(
                died.kind, f"{died} while it started; its last words: {words[-500:] or 'none'}"
            ) from None
        return self

    def __exit__(self, *error):
        self.close()

    def ask(self, request: dict, seconds: float) -> dict:
        """Send a request, wait at most `seconds` for its reply. Raises Died; then the worker is ended."""
        number = next(_numbers) + 1
        deadline = time.monotonic() + seconds
        try:
            self._write(pack(request | {"id": number}), deadline)
            return self._reply(number, deadline)
        except Died:
            self.close()
            raise

    def _write(self, data: bytes, deadline):
        view = memoryview(data)
        while view:
            self._wait(deadline, writing=True)
            with contextlib.suppress(BlockingIOError):
                try:
                    view = view[os.write(self.requests, view) :]
                except BrokenPipeError:
                    raise self._ended() from None

    def _reply(self, number, deadline) -> dict:
        while True:
            try:
                message = self.reader.take()
            except FrameError as error:
                reason = f"it wrote to the grader's own channel ({error})"
                raise Died("output", reason, forged=True) from None
            if message is None:
                self._wait(deadline)
            elif message.get("id") == number:
                return message
            else:
                reason = "it wrote a reply of its own to the grader's channel"
                raise Died("output", reason, forged=True)

    def _wait(self, deadline, writing=False):
        """Until something arrives, or may be written. Raises Died at a limit or at the end."""
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Died("timeout", "it did not end in time and was stopped")
            heard = [self.replies, self.prints] if self.listening else [self.replies]
            wanted = [self.requests] if writing else []
            ready, free, _ = select.select(heard, wanted, [], min(left, 0.25))
            if self.prints in ready:
                self._count(os.read(self.prints, 65536))
            if self.replies in ready:
                data = os.read(self.replies, 1 << 20)
                if not data:
                    raise self._ended()
                self.reader.feed(data)
                return
            if free:
                return
            if not ready and self._memory() > self.limits.all_memory:
                raise Died(
                    "memory", f"it took more than {self.limits.all_memory / 1e9:.0f} GB of memory"
                )

    def _count(self, data):
        self.listening = bool(data)  # a student may close it, and go on
        self.output += len(data)
        self.tail = (self.tail + data)[-2000:]
        if self.output > self.limits.output:
            raise Died("output", f"it printed more than {self.limits.output / 1e6:g} MB")

    def _memory(self) -> int:
        """Bytes that the worker and its children hold now."""
        try:
            family = [psutil.Process(self.process.pid)]
            family += family[0].children(recursive=True)
        except psutil.Error:
            return 0
        total = 0
        for process in family:
            with contextlib.suppress(psutil.Error):
                total += process.memory_info().rss
        return total

    def _ended(self) -> Died:
        """Why the process is gone."""
        try:
            code = self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return Died("exited", "it cut its connection to the grader")
        number = -code if code < 0 else code - 128 if code > 128 else 0
        with contextlib.suppress(ValueError):
            name = signal.Signals(number).name
            if name in ("SIGXCPU", "SIGALRM"):
                return Died("timeout", f"it used up its time ({name})")
            return Died("exited", f"it ended the program ({name})")
        return Died("exited", f"it ended the program (exit code {code})")

    def close(self):
        """End the process and everything that it started."""
        if self.closed:
            return
        self.closed = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for descriptor in (self.requests, self.replies, self.prints):
            os.close(descriptor)
        if self.scratch:
            shutil.rmtree(self.scratch, ignore_errors=True)


class Stage:
    """What every worker of a run sees: the course's library without its check data, and the worker's files.

    notebooks: names "chapter/notebook" that `descent.start` shall know. sandboxed=False runs a plain process.
    """

    def __init__(self, notebooks: list[str], *, sandboxed: bool = True):
        import json

        if sandboxed:
            sandbox.require()
        self.sandboxed = sandboxed
        self.folder = Path(tempfile.mkdtemp(prefix="grading-stage-"))
        self.folder.chmod(0o755)
        for notebook in notebooks:
            path = self.folder / "checks" / f"{notebook}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            told = {
                "notebook": notebook,
                "title": "",
                "minutes": 0,
                "builds": "",
                "exercises": {},
                "targets": {},
            }
            path.write_text(json.dumps(told))
        if not sandboxed:
            mess = shutil.ignore_patterns("checks", "__pycache__")
            shutil.copytree(ROOT / "course/descent", self.folder / "descent", ignore=mess)
            shutil.move(self.folder / "checks", self.folder / "descent/checks")

    def command(self, requests: int, replies: int, limits: Limits) -> list[str]:
        told = [
            f"{name}={getattr(limits, name)}"
            for name in ("memory", "processes", "file", "files", "cpu")
        ]
        uid = 61_000 + next(_numbers) % 4000 if self.sandboxed and os.geteuid() == 0 else 0
        if not self.sandboxed:
            told.remove(
                f"processes={limits.processes}"
            )  # counts everything of this user, here and elsewhere
        where = sandbox.ENGINE if self.sandboxed else str(ROOT / "autograder/engine")
        inner = [sys.executable, f"{where}/worker.py", str(requests), str(replies), str(uid), *told]
        if not self.sandboxed:
            return inner
        here = ROOT / "autograder/engine"
        binds = {
            f"{sandbox.ENGINE}/descent": ROOT / "course/descent",
            f"{sandbox.ENGINE}/descent/checks": self.folder / "checks",
            f"{sandbox.ENGINE}/worker.py": here / "worker.py",
            f"{sandbox.ENGINE}/worker_frames.py": here / "worker_frames.py",
        }
        return sandbox.wrap(inner, binds, self._variables(sandbox.ENGINE))

    def environment(self, scratch: str | None) -> dict[str, str]:
        """Of the process that we start: bubblewrap clears it and sets its own."""
        if self.sandboxed:
            return {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
        return self._variables(str(self.folder)) | {
            "HOME": scratch,
            "TMPDIR": scratch,
            "PATH": "/usr/bin:/bin",
        }

    def _variables(self, where) -> dict[str, str]:
        threads = {
            name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        }
        return threads | {
            "DESCENT_GRADING": "1",
            "MPLBACKEND": "agg",
            "PYTHONPATH": where,
            "PYTHONHASHSEED": "0",
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "LANG": "C.UTF-8",
        }

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

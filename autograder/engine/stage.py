"""The engine's side of the warm parent: starts it in bubblewrap and asks it for forks."""

import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from autograder.checkdata import ROOT
from autograder.engine import sandbox

START_SECONDS = 120.0  # for the imports, on a machine that does other things too
FORK_SECONDS = 60.0
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class StageError(RuntimeError):
    """The warm parent does not start, or ended; str() says why."""


class Stage:
    """A warm parent: what all sandboxes of a run are forked from. Use as a context manager; threads may share it.

    notebooks: names "chapter/notebook" that `descent.start` shall know. modules: what their cells import besides.
    live: its forks run their cells in a real ipykernel (`inside/live.py`). sandboxed=False forks plain processes with
    limits. Raises SandboxError, StageError.
    """

    def __init__(
        self,
        notebooks: list[str],
        modules: list[str] = (),
        *,
        live: bool = False,
        sandboxed: bool = True,
    ):
        if sandboxed:
            sandbox.require()
        self.sandboxed, self.live = sandboxed, live
        self.lock = threading.Lock()
        self.folder = Path(tempfile.mkdtemp(prefix="grading-stage-"))
        self.folder.chmod(0o755)
        (self.folder / "checks").mkdir()
        for notebook in notebooks:
            _write_empty_checks(self.folder / "checks", notebook)
        self.control, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        settings = {
            "jailed": sandboxed,
            "uid": sandbox.service_user() if sandboxed else 0,
            "kept": [str(path) for path in sandbox.python_folders().values()],
            "modules": list(modules),
            "live": live,
        }
        with inside:
            self.process = subprocess.Popen(
                self._command(inside.fileno(), settings), stdin=subprocess.DEVNULL, stdout=2,
                pass_fds=(inside.fileno(),), start_new_session=True, env=self._outer_variables(), cwd=self.folder,
            )  # fmt: skip
        self.loaded = None

    def _command(self, control: int, settings: dict) -> list[str]:
        inner = [sys.executable, "-m", "inside.warm", str(control), json.dumps(settings)]
        if not self.sandboxed:
            self._copy_engine()
            return inner
        here = Path(__file__).resolve().parent
        binds = {
            f"{sandbox.ENGINE}/descent": ROOT / "course/descent",
            f"{sandbox.ENGINE}/descent/checks": self.folder / "checks",
            f"{sandbox.ENGINE}/inside": here / "inside",
        }
        return sandbox.wrap(inner, binds, _variables(sandbox.ENGINE, self.live))

    def _copy_engine(self):
        mess = shutil.ignore_patterns("checks", "__pycache__")
        shutil.copytree(ROOT / "course/descent", self.folder / "descent", ignore=mess)
        shutil.move(self.folder / "checks", self.folder / "descent/checks")
        shutil.copytree(
            Path(__file__).resolve().parent / "inside", self.folder / "inside", ignore=mess
        )
        (self.folder / "home").mkdir()

    def _outer_variables(self) -> dict[str, str]:
        """Of the process that we start: bubblewrap clears them and sets its own."""
        if self.sandboxed:
            return {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
        home = str(self.folder / "home")
        own = {"HOME": home, "TMPDIR": home, "PATH": "/usr/bin:/bin"}
        return _variables(str(self.folder), self.live) | own

    def fork(self, descriptors: list[int], limits: dict[str, int]) -> int:
        """Fork a process that owns the descriptors (requests, replies, prints, status) -> its pidfd.

        The status descriptor gets the four bytes of how it ended. Raises StageError.
        """
        with self.lock:
            self._await_ready()
            try:
                socket.send_fds(self.control, [json.dumps(limits).encode()], descriptors)
                answered, *_ = select.select([self.control], [], [], FORK_SECONDS)
                told = socket.recv_fds(self.control, 64, 1)[1] if answered else []
            except OSError:
                told = []
            if not told:
                raise StageError("the process that all sandboxes are forked from is lost")
            return told[0]

    def _await_ready(self):
        if self.loaded is not None:
            return
        ready, *_ = select.select([self.control], [], [], START_SECONDS)
        data = self.control.recv(1 << 20) if ready else b""
        if not data:
            raise StageError("the sandbox did not start; the lines above say why")
        self.loaded = json.loads(data)["loaded"]

    def close(self) -> None:
        """End the warm parent, and with it every sandbox."""
        self.control.close()
        try:
            self.process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def _write_empty_checks(checks: Path, notebook: str) -> None:
    path = checks / f"{notebook}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    told = {
        "notebook": notebook,
        "title": "",
        "minutes": {"core": 0, "deeper": 0},
        "builds": "",
        "exercises": {},
        "targets": {},
    }
    path.write_text(json.dumps(told))


def _variables(where: str, live: bool) -> dict[str, str]:
    return {name: "1" for name in THREADS} | {
        "DESCENT_GRADING": "1",
        # A live kernel shows figures under their cell.
        "MPLBACKEND": "module://matplotlib_inline.backend_inline" if live else "agg",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",  # else a kernel's debugger warns
        "PYTHONPATH": where,
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "LANG": "C.UTF-8",
    }

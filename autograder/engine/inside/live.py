"""Runs a notebook's cells in a real ipykernel inside the sandbox, as the engine asks, and tells what they showed.

For classic assignments, whose cells shall do what they do in Jupyter: magics, tasks, figures, history and all. Two
processes: the kernel, a fork of the warm parent like everything here, and this one, its client, which talks to it as
Jupyter does. Whatever a student's code does to either is the student's own loss.
"""

import base64
import io
import math
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from . import frames
from .shown import Record
from .worker import leave

MODULES = (
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "ipykernel.zmqshell",
    "ipykernel.debugger",  # which a kernel imports when it starts, for two thirds of the time that this takes
    "jupyter_client.blocking",
)
ANSWER_SECONDS = 60.0  # that a kernel may take to start


def warm_up() -> None:
    """Draw once what every first figure takes time for: fonts, and the PNG's writer. In the warm parent."""
    if "matplotlib.pyplot" in sys.modules:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure()
        figure.subplots().plot([0, 1])
        FigureCanvasAgg(figure).print_png(io.BytesIO())


def serve(requests: int, replies: int) -> int:
    """Answer requests until the pipe ends -> the exit status."""
    kernel = None
    frames.send(replies, {"id": 0, "ready": True})
    for request in frames.each(requests):
        reply = {}
        if request["do"] == "folder":
            folder = Path(tempfile.mkdtemp()) / request["name"]
            folder.mkdir()
            os.chdir(folder)
        elif request["do"] == "file":
            _write(request["name"], base64.b64decode(request["data"]))
        elif request["do"] == "kernel":
            kernel = Kernel(requests, replies)
        else:
            reply = kernel.run(request["source"], request["seconds"])
        frames.send(replies, reply | {"id": request["id"]})
    return 0


def _write(name: str, data: bytes) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:  # a large one comes in parts
        file.write(data)


class Kernel:
    """A kernel in this folder. Raises RuntimeError where it does not start."""

    def __init__(self, *ours: int):
        from jupyter_client.blocking import BlockingKernelClient
        from jupyter_client.connect import write_connection_file
        from zmq import POLLIN, Poller

        place = tempfile.mkdtemp()
        path, _ = write_connection_file(
            f"{place}/kernel.json",
            ip=f"{place}/kernel",
            transport="ipc",
            key=os.urandom(16).hex().encode(),
        )
        heard, told = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            for descriptor in (*ours, heard):
                os.close(descriptor)
            _be_kernel(path, told)
        os.close(told)
        if not os.read(heard, 1):
            raise RuntimeError("the kernel did not start")
        os.close(heard)
        self.client = BlockingKernelClient(connection_file=path)
        self.client.load_connection_file()
        self.client.start_channels(stdin=False, hb=False, control=False)
        self.end = os.pidfd_open(self.pid)
        self.poller = Poller()
        for source in (self.end, self._shell, self._published):
            self.poller.register(source, POLLIN)
        self._until_heard()

    @property
    def _shell(self):
        return self.client.shell_channel.socket

    @property
    def _published(self):
        return self.client.iopub_channel.socket

    def _until_heard(self) -> None:
        """What it publishes before we listen is lost: ask until something comes."""
        deadline = time.monotonic() + ANSWER_SECONDS
        while time.monotonic() < deadline:
            self.client.kernel_info()
            if self._published.poll(50):
                return
        raise RuntimeError("the kernel does not answer")

    def run(self, source: str, seconds: float) -> dict:
        """Run a cell. seconds: after them it is interrupted, as by a person; 0 for never.

        -> {"outputs" (of nbformat 4), "count" (its number), "interrupted"}, or {"ended": how} where the kernel is gone:
        the number of a signal, else 0.
        """
        record, reply, idle, interrupted = Record(), None, False, False
        number = self.client.execute(source, allow_stdin=False, stop_on_error=False)
        limit = time.monotonic() + seconds if seconds else math.inf
        while reply is None or not idle:
            left = limit - time.monotonic()
            if left <= 0:
                os.kill(self.pid, signal.SIGINT)
                interrupted, limit = True, math.inf
                continue
            ready = dict(self.poller.poll(1000 * min(left, 3600)))
            if self._published in ready:
                idle |= self._heard(self.client.get_iopub_msg(), number, record)
            if self._shell in ready:
                message = self.client.get_shell_msg()
                if message["parent_header"].get("msg_id") == number:
                    reply = message["content"]
            if ready.keys() == {self.end}:
                return {"ended": self._how_it_ended()}
        if reply["status"] == "error":
            record.must_have(reply)
        return {
            "outputs": record.outputs,
            "count": reply.get("execution_count"),
            "interrupted": interrupted,
        }

    def _heard(self, message: dict, number: str, record: Record) -> bool:
        """Keep what a cell shows -> whether it is done."""
        if message["parent_header"].get("msg_id") != number:
            return False
        kind, content = message["msg_type"], message["content"]
        if kind == "stream":
            record.stream(content["name"], content["text"])
        elif kind in ("display_data", "execute_result"):
            record.data(kind, content)
        elif kind == "update_display_data":
            record.update(content)
        elif kind == "clear_output":
            record.clear(content["wait"])
        elif kind == "error":
            record.error(content)
        return kind == "status" and content["execution_state"] == "idle"

    def _how_it_ended(self) -> int:
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return max(0, -code)


def _be_kernel(connection: str, told: int) -> None:
    """Never returns: this process is the kernel from here on."""
    try:
        os.environ |= {
            "NBGRADER_EXECUTION": "autograde",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        from ipykernel.kernelapp import IPKernelApp

        _seed()
        app = IPKernelApp.instance()
        app.initialize(["-f", connection, "--HistoryManager.hist_file=:memory:"])
        app.shell.ask_exit = leave
        os.write(told, b".")
        os.close(told)
        app.start()
    finally:
        os._exit(0)


def _seed() -> None:
    """Forks of one parent would else draw alike by accident, and those of another differently."""
    random.seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)

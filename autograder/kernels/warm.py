"""Starts `python -m …` as a fork of a warm process, and kernels with it: a provisioner of jupyter_client's.

Where a process cannot be forked and watched (Windows, macOS), everything starts as usual.

For our own notebooks only. A student's code runs in none of these: grading forks its processes, the kernels of
classic assignments too, from one that was itself started inside the sandbox (`autograder/engine/stage.py`) and holds
nothing of ours. A fork from here would bring this machine's files, variables and network with it.
"""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from importlib.metadata import EntryPoint
from pathlib import Path

from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

WARM = (
    "GRADED_DESCENT_WARM"  # where a process of ours finds the warm process that kernels come from
)
# What notebooks import. What looks for the shell when it is imported (ipywidgets, the inline backend) is not for here,
# nor is `descent`, which changes between two builds.
FOR_KERNELS = (
    "torch",
    "torch._dynamo",  # the first step of an optimiser imports it, which takes a second
    "matplotlib.pyplot",
    "matplotlib.backends.backend_agg",
    "scipy.interpolate",
    "scipy.optimize",
    "scipy.stats",
    "sklearn.linear_model",
    "sympy",
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "ipykernel.zmqshell",
)
FOR_NBVAL = ("pytest", "nbformat", "jsonschema", "jupyter_client.manager", "ipykernel.kernelspec")
# Variables that Python and libraries read when they start: other values want another warm process.
READ_AT_START = ("PYTHON", "OMP_", "OPENBLAS_", "MKL_", "MPL", "TORCH", "KMP_", "LC_", "LANG")

POSSIBLE = hasattr(os, "pidfd_open")
_parents: dict[tuple, str] = {}  # where each warm process listens


def parent(modules: tuple[str, ...], environment: dict[str, str]) -> str:
    """Where a warm process with these modules listens; one is started where there is none. It ends with this one."""
    fixed = {
        name: value
        for name, value in environment.items()
        if name.startswith(READ_AT_START) and name != "PYTHONPATH"
    }
    key = (modules, *sorted(fixed.items()))
    if key not in _parents:
        _parents[key] = _start(modules, environment)
    return _parents[key]


def _start(modules, environment) -> str:
    path = str(Path(tempfile.mkdtemp(prefix="warm-")) / "socket")  # the parent removes the folder
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(path)
    listener.listen(100)
    script = str(Path(__file__).with_name("parent.py"))
    process = subprocess.Popen(
        [sys.executable, script, str(listener.fileno()), path, *modules],
        stdin=subprocess.PIPE,
        pass_fds=[listener.fileno()],
        env={name: value for name, value in environment.items() if name != "PYTHONPATH"},
        start_new_session=True,  # Ctrl-C is for this process, which ends its warm ones
    )
    listener.close()
    atexit.register(_end, process)
    return path


def _end(process):
    process.stdin.close()
    process.wait()


class Process:
    """What a kernel's manager and we use of `subprocess.Popen`, for `python -m COMMAND` forked from a warm process."""

    stdin = stdout = stderr = None

    def __init__(self, path, command, *, environment, folder, stdout=None, stderr=None):
        self.returncode = None
        self.connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.connection.connect(path)
        request = {"command": command, "environment": environment, "folder": str(folder)}
        with open(os.devnull) as nothing:
            streams = [
                nothing.fileno(),
                *(1 + n if s is None else s.fileno() for n, s in enumerate((stdout, stderr))),
            ]
            socket.send_fds(self.connection, [json.dumps(request).encode()], streams)
        told = self.connection.recv(64)
        if not told:
            raise RuntimeError(f"the warm process ended, and {command[0]} was not started")
        self.pid = json.loads(told)

    def poll(self) -> int | None:
        return self._status(0)

    def wait(self, timeout: float | None = None) -> int:
        if self._status(timeout) is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
        return self.returncode

    def _status(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self.connection], [], [], timeout)[0]:
            told = self.connection.recv(64)
            self.returncode = json.loads(told) if told else -signal.SIGKILL  # gone with its parent
            self.connection.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class WarmProvisioner(LocalProvisioner):
    """Starts Python kernels as forks, all others as usual."""

    async def launch_kernel(self, cmd, **kwargs):
        if not POSSIBLE or cmd[1] != "-m" or kwargs.get("stdin"):
            return await super().launch_kernel(cmd, **kwargs)
        environment = dict(kwargs["env"])
        path = environment.pop(WARM, None) or parent(FOR_KERNELS, environment)
        self.cwd = kwargs.get("cwd") or Path.cwd()
        self.process = Process(
            path,
            cmd[2:],
            environment=environment,
            folder=self.cwd,
            stdout=kwargs.get("stdout"),
            stderr=kwargs.get("stderr"),
        )
        self.pid = self.pgid = self.process.pid
        return self.connection_info


def provisioner() -> dict:
    """What a kernel's specification says (`metadata["kernel_provisioner"]`) to be started as a fork."""
    _factory()
    return {"provisioner_name": "warm"}


def for_all_kernels() -> None:
    """Every kernel that this process starts from here on is a fork, where its specification says nothing else."""
    _factory().default_provisioner_name = "warm"


def _factory():
    factory = KernelProvisionerFactory.instance()
    entry = EntryPoint("warm", f"{__name__}:WarmProvisioner", factory.GROUP_NAME)
    factory.provisioners["warm"] = entry
    return factory

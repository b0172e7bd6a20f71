"""A warm process: imports modules once, then forks a child for each `python -m …` that it is asked for.

Run by `warm.py` as a script, so that a child finds nothing of ours imported. One connection is one child: the request
comes with its standard streams, the child's pid and then its exit status go back, and closing it kills the child.
"""

import gc
import importlib
import json
import os
import runpy
import select
import shutil
import signal
import socket
import sys
from pathlib import Path

OWNER = 0  # standard input: it ends with the process that started this one
MOST = 1 << 20  # bytes of a request


def main(argv: list[str]) -> None:
    """argv: the listening socket's descriptor, its path, and the modules to import."""
    listener = socket.socket(fileno=int(argv[0]))
    own = sys.path.pop(0)  # this folder, of which a child must not import
    assert own == str(Path(__file__).parent)
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # ipykernel reads it when imported
    for name in argv[2:]:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # a collection in a fork would else write to, and so copy, every page of what is imported
    request = Parent(listener).serve()
    if request:
        run(request)
    else:
        shutil.rmtree(Path(argv[1]).parent, ignore_errors=True)


class Parent:
    """Forks on request, tells how each child ended, and ends with its owner."""

    def __init__(self, listener: socket.socket):
        self.listener = listener
        self.poll = select.poll()
        self.connections: dict[int, socket.socket] = {}
        self.pids: dict[int, int] = {}  # by connection
        self.ends: dict[int, int] = {}  # a child's pidfd -> its connection
        for descriptor in (OWNER, listener.fileno()):
            self.poll.register(descriptor, select.POLLIN)

    def serve(self) -> dict | None:
        """None when the owner is gone; in each child, the request that it is to run."""
        while True:
            for descriptor, _ in self.poll.poll():
                if descriptor == OWNER:
                    return self._close_all()
                elif descriptor == self.listener.fileno():
                    self._accept()
                elif descriptor in self.ends:
                    self._ended(descriptor)
                elif descriptor in self.pids:
                    self._hung_up(descriptor)
                elif descriptor in self.connections and (request := self._asked(descriptor)):
                    return request

    def _accept(self):
        connection, _ = self.listener.accept()
        self.connections[connection.fileno()] = connection
        self.poll.register(connection, select.POLLIN)

    def _asked(self, descriptor: int) -> dict | None:
        """Fork -> the request in the child, None here."""
        connection = self.connections[descriptor]
        data, streams, *_ = socket.recv_fds(connection, MOST, 3)
        if not data:
            return self._forget(descriptor)
        if len(os.listdir("/proc/self/task")) != 1:
            raise RuntimeError("the warm process has more than one thread: a fork could hang")
        pid = os.fork()
        if pid == 0:
            self._become_child(connection, streams)
            return json.loads(data)
        for stream in streams:
            os.close(stream)
        self.pids[descriptor] = pid
        end = os.pidfd_open(pid)
        self.ends[end] = descriptor
        self.poll.register(end, select.POLLIN)

    def _become_child(self, connection, streams):
        os.setsid()
        for place, stream in enumerate(streams):
            os.dup2(stream, place)
            os.close(stream)
        connection.send(json.dumps(os.getpid()).encode())
        for end in self.ends:
            os.close(end)
        for held in (self.listener, *self.connections.values()):
            held.close()

    def _ended(self, end: int):
        """Tell a child's exit status. Its pid stays taken until whoever asked for it hangs up."""
        descriptor = self._forget_end(end)
        how = os.waitid(os.P_PID, self.pids[descriptor], os.WEXITED | os.WNOWAIT)
        code = how.si_status if how.si_code == os.CLD_EXITED else -how.si_status
        try:
            self.connections[descriptor].send(json.dumps(code).encode())
        except OSError:
            pass  # nobody waits for it any more

    def _hung_up(self, descriptor: int):
        pid = self.pids.pop(descriptor)
        for end in [end for end, of in self.ends.items() if of == descriptor]:
            self._forget_end(end)
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(pid, 0)
        self._forget(descriptor)

    def _forget_end(self, end: int) -> int:
        self.poll.unregister(end)
        os.close(end)
        return self.ends.pop(end)

    def _forget(self, descriptor: int):
        self.poll.unregister(descriptor)
        self.connections.pop(descriptor).close()

    def _close_all(self):
        for descriptor in list(self.pids):
            self._hung_up(descriptor)


def run(request: dict):
    """Be `python -m MODULE ARGUMENTS…` as a new process would be."""
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"], JPY_PARENT_PID=str(os.getppid()))
    module, *sys.argv[1:] = request["command"]
    first = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    # A folder of PYTHONPATH that a .pth file names too stands there once, as in a new process.
    sys.path[:] = [os.getcwd(), *first, *(folder for folder in sys.path if folder not in first)]
    # Every fork would else draw the same; Python's own generator sees to itself.
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    if "torch" in sys.modules:
        sys.modules["torch"].seed()
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])

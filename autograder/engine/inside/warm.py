"""The warm parent: imports once what every notebook needs, then forks a process for each notebook that is graded.

It never runs a student's code and never reads what a student's process says: it hands over three descriptors, and
tells whoever asked which process they went to and how that process ended.
"""

import array
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys

from . import jail, kernel, live, worker

# What an answer may import though no released cell does: each would do so anew, for a second or two.
LIBRARIES = (
    "scipy.signal",
    "scipy.stats",
    "sklearn.ensemble",
    "sklearn.metrics",
    "sklearn.model_selection",
    "sklearn.naive_bayes",
    "sklearn.neighbors",
    "sklearn.neural_network",
    "sklearn.svm",
)


def main(argv: list[str]) -> int:
    """argv: the control socket's descriptor and the settings as JSON (see `Settings` in the engine)."""
    control = socket.socket(fileno=int(argv[0]))
    settings = json.loads(argv[1])
    if settings["jailed"]:
        become(settings["uid"])
    loaded = warm_up(settings["modules"], live_kernel=settings["live"])
    parent = Parent(control, settings)
    control.send(json.dumps({"loaded": loaded}).encode())
    parent.serve()
    return 0


def become(uid: int) -> None:
    """As root: see every process of this namespace, then be a service user for good. uid: 0 where we are no root."""
    if uid:
        kernel.mount("proc", "/proc", kernel.NO_SUID | kernel.NO_DEVICES | kernel.NO_EXEC)
        kernel.drop_bounding_set()
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)  # no capability outlives this
        kernel.own_process_files()
    kernel.no_new_privileges()


def warm_up(modules: list[str], *, live_kernel: bool) -> list[str]:
    """Import the course's library, the shell or a kernel's parts, LIBRARIES, `modules` -> those that are here."""
    if live_kernel:
        modules = [*live.MODULES, *modules]
    else:
        modules = [*LIBRARIES, *modules]
        _warm_torch()
        worker.make_shell()
    loaded = []
    for name in modules:
        try:
            importlib.import_module(name)
            loaded.append(name)
        except Exception:
            continue  # a notebook that needs it will say so
    if live_kernel:
        live.warm_up()
    gc.collect()
    gc.freeze()  # a collection in a fork would else write to, and so copy, every page of what is imported
    return loaded


def _warm_torch() -> None:
    import torch

    torch.set_num_threads(1)
    weight = torch.zeros(1, requires_grad=True)
    (weight * 2).sum().backward()
    torch.optim.Adam([weight]).step()  # the first step of an optimiser imports for a second


class Parent:
    """Forks on request, and tells how each child ended."""

    def __init__(self, control: socket.socket, settings: dict):
        self.control, self.settings = control, settings
        self.jailed = settings["jailed"]
        self.ids = os.getuid(), os.getgid()  # a child cannot ask: in its namespace it is nobody yet
        self.children: dict[
            int, tuple[int, int]
        ] = {}  # a child's pidfd -> (pid, where its end is told)

    def serve(self) -> None:
        """Until the engine closes the control socket."""
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor != self.control.fileno():
                    poll.unregister(descriptor)
                    self._buried(descriptor)
                elif (child := self._requested()) is None:
                    return
                else:
                    poll.register(child, select.POLLIN)

    def _requested(self) -> int | None:
        """Fork for one request -> the child's pidfd; None when there are no more requests."""
        try:
            data, ancillary, *_ = self.control.recvmsg(4096, socket.CMSG_SPACE(4 * 4))
        except ConnectionResetError:  # the engine went away in the middle of a word
            return None
        if not data:
            return None
        told = array.array("i")
        for level, kind, body in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                told.frombytes(body)
        requests, replies, prints, status = told
        pid = self._fork()
        if pid == 0:
            self._be_child(requests, replies, prints, json.loads(data))
        for descriptor in (requests, replies, prints):
            os.close(descriptor)
        child = os.pidfd_open(pid)
        self.children[child] = (pid, status)
        socket.send_fds(self.control, [b"forked"], [child])
        return child

    def _fork(self) -> int:
        threads = os.listdir("/proc/self/task")
        if len(threads) != 1:
            raise RuntimeError("the warm parent has more than one thread: a fork could hang")
        return kernel.fork_into(jail.NAMESPACES) if self.jailed else os.fork()

    def _be_child(self, requests, replies, prints, limits):
        """Never returns: the process belongs to one notebook from here."""
        code = 1
        try:
            for place, descriptor in enumerate((requests, replies, prints), 100):
                os.dup2(descriptor, place)
            os.dup2(102, 1)
            os.dup2(102, 2)
            os.closerange(3, 100)
            os.closerange(102, 10_000)
            sys.argv[:] = [""]
            if self.jailed:
                jail.shut_in(*self.ids, self.settings["kept"], limits)
            else:
                os.setsid()
                jail.limit(limits)
            code = (live if self.settings["live"] else worker).serve(100, 101)
        except BaseException as error:
            print(f"sandbox: {type(error).__name__}: {error}", file=sys.__stderr__, flush=True)
        finally:
            os._exit(code)

    def _buried(self, child: int) -> None:
        pid, status = self.children.pop(child)
        _, code = os.waitpid(pid, 0)
        os.close(child)
        try:
            os.write(status, code.to_bytes(4, "little"))
        except BrokenPipeError:
            pass  # nobody waits for it any more
        os.close(status)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the engine, which ends this process
    sys.exit(main(sys.argv[1:]))

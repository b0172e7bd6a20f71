"""The engine's side of one sandbox: forks it, asks it, and ends it when a limit is reached."""

import contextlib
import itertools
import math
import os
import select
import signal
import time
from dataclasses import dataclass

import psutil

from autograder.engine.inside.frames import FrameError, Reader, pack
from autograder.engine.stage import Stage, StageError

START_SECONDS = 60.0
LATE_SECONDS = 30.0  # that a reply may lie unread
SOCKET_BYTES = (
    400_000  # that an open descriptor may hold unread in the kernel, in no process's count
)
_OUT_OF_TIME = (signal.SIGXCPU, signal.SIGALRM)
_CRASHES = (
    signal.SIGSEGV,
    signal.SIGBUS,
    signal.SIGFPE,
    signal.SIGILL,
    signal.SIGABRT,
    signal.SIGSYS,
)
_WANTS_TO_RUN = (psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP)
PERIOD = 0.25  # seconds between two looks at what it takes
TICKS = 0.02  # seconds of the processor: what waiting itself may take
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Limits:
    """What a submission may take. Times in seconds of the wall clock, sizes in bytes."""

    cell: float = 60.0
    total: float = 300.0
    memory: int = 3_000_000_000  # addresses of one process, above what the imports take
    all_memory: int = 2_000_000_000  # in use by all its processes together
    processes: int = 64
    file: int = 64_000_000
    files: int = 256
    cpu: int = 600
    output: int = 1_000_000
    idle: float = 10.0  # of a cell: in which all its processes wait and none computes
    # Beyond an exercise's own limit: for imports, and for what cannot be interrupted from inside.
    grace: float = 5.0

    def of_process(self) -> dict[str, int]:
        """Those that the kernel holds."""
        return {n: getattr(self, n) for n in ("memory", "processes", "file", "files", "cpu")}


class Died(Exception):
    """The worker is gone. kind: one of the verdicts' kinds; look: a person should have a look.

    str() says why, in words that the student may read.
    """

    def __init__(self, kind: str, reason: str, *, look: bool = False):
        super().__init__(reason)
        self.kind, self.look = kind, look


class Worker:
    """One process that runs one notebook. Use as a context manager; `ask` raises Died when it is lost.

    Raises StageError where it does not start, or where what it was forked from is lost.
    """

    def __init__(self, stage: Stage, limits: Limits):
        self.limits = limits
        self.plain = not stage.sandboxed
        self.output = 0
        self.tail = b""
        self.next_look = time.monotonic() + PERIOD
        self.patience = math.inf  # seconds that it may wait
        self.waited = 0.0  # seconds since one of its processes computed
        self.computed = 0.0  # seconds of the processor until then
        self.listening = True
        self.closed = False
        self.reader = Reader()
        inside, self.requests = os.pipe()
        self.replies, back = os.pipe()
        self.prints, shown = os.pipe()
        self.status, told = os.pipe()
        self.process = -1
        try:
            self.process = stage.fork([inside, back, shown, told], self._kernel_limits())
        except Exception:
            self._close_descriptors()
            raise
        finally:
            for descriptor in (inside, back, shown, told):
                os.close(descriptor)
        self.pid = _pid_of(self.process)
        os.set_blocking(self.requests, False)

    def _kernel_limits(self) -> dict[str, int]:
        kept = self.limits.of_process()
        if self.plain:
            del kept["processes"]  # counts everything of this user, here and elsewhere
        return kept

    def __enter__(self):
        try:
            self._reply(0, _Deadline(START_SECONDS))
        except Died as died:
            self.close()
            words = self.tail.decode("utf-8", "replace").strip()[-500:]
            reason = f"a sandbox: {died} while it started; its last words: {words or 'none'}"
            raise StageError(reason) from None
        return self

    def __exit__(self, *error):
        self.close()

    def ask(self, request: dict, seconds: float, longest: float = 0.0) -> dict:
        """Send a request, wait at most `seconds` for its reply. Raises Died; then the worker is ended.

        longest: seconds that it may take on a busy machine, where it had the processor for less than `seconds` of them.
        """
        number = next(_numbers)
        self.output = 0  # the limit is one cell's, or one answer's
        self.waited = 0.0
        # An answer's own clock counts its waiting, and names the line.
        self.patience = math.inf if longest else self.limits.idle
        deadline = _Deadline(seconds, longest, self._cpu)
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
            except FrameError:
                raise self._forged() from None
            if message is None:
                self._wait(deadline)
            elif message.get("id") == number:
                return message
            else:
                raise self._forged()

    def _forged(self) -> Died:
        return Died("output", "it wrote to the grader's own channel", look=True)

    def _wait(self, deadline, writing=False):
        """Until something arrives, or may be written. Raises Died at a limit or at the end."""
        while True:
            left = deadline.left()
            heard = [self.replies, self.prints] if self.listening else [self.replies]
            wanted = [self.requests] if writing else []
            ready, free, _ = select.select(heard, wanted, [], min(max(left, 0), PERIOD))
            # Only now, and with patience: an engine that was busy itself may find the reply there.
            if left <= 0 and (self.replies not in ready or left < -LATE_SECONDS):
                raise Died("timeout", "it did not end in time and was stopped")
            self._watch(heard=bool(ready))
            if self.prints in ready:
                self._count(os.read(self.prints, 65536))
            if self.replies in ready:
                data = os.read(self.replies, 1 << 20)
                if not data:
                    raise self._ended()
                if writing:  # it has answered everything that it was asked
                    raise self._forged()
                self.reader.feed(data)
                return
            if free:
                return

    def _count(self, data):
        self.listening = bool(data)  # a student may close it, and go on
        self.output += len(data)
        self.tail = (self.tail + data)[-2000:]
        if self.output > self.limits.output:
            raise Died("output", f"it printed more than {self.limits.output / 1e6:g} MB")

    def _watch(self, heard):
        """Look at its processes, at most a few times a second: a look costs milliseconds.

        heard: whether it has just said something.
        """
        if time.monotonic() < self.next_look:
            return
        family = self._family()
        if self._memory(family) > self.limits.all_memory:
            reason = f"it took more than {self.limits.all_memory / 1e9:g} GB of memory"
            raise Died("memory", reason)
        # By looks, not by the clock: an engine that was halted itself has not looked.
        self.waited = 0.0 if self._computes(family) or heard else self.waited + PERIOD
        if self.waited > self.patience:
            reason = f"it waited for {self.patience:g} s without computing, and was stopped"
            raise Died("timeout", reason)
        self.next_look = time.monotonic() + PERIOD

    def _family(self) -> list[psutil.Process]:
        """The process and all that it has started; none where it is gone."""
        try:
            first = psutil.Process(self.pid)
            return [first, *first.children(recursive=True)]
        except psutil.Error:
            return []

    def _computes(self, family) -> bool:
        """Whether one of them has the processor, waits for it or for a disk, or has had it since they last computed."""
        total, wants = 0.0, False
        for process in family:
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system
                wants |= process.status() in _WANTS_TO_RUN
        computes = wants or abs(total - self.computed) > TICKS  # less: one of them has ended
        if computes:
            self.computed = total
        return computes

    def _cpu(self) -> float:
        """Seconds of the processor that the process has taken, all its threads together."""
        try:
            times = psutil.Process(self.pid).cpu_times()
        except psutil.Error:
            return math.inf
        return times.user + times.system

    def _memory(self, family) -> int:
        """Bytes that they hold now; what they share is counted once, open sockets as full."""
        total = 0
        for process in family:
            with contextlib.suppress(psutil.Error):
                total += process.memory_full_info().pss + SOCKET_BYTES * process.num_fds()
        return total

    def _ended(self) -> Died:
        """Why the process is gone."""
        if not select.select([self.status], [], [], 5)[0]:
            return Died("exited", "it cut its connection to the grader")
        told = os.read(self.status, 4)
        if not told:
            raise StageError("the process that all sandboxes are forked from is lost")
        code = os.waitstatus_to_exitcode(int.from_bytes(told, "little"))
        if code == -signal.SIGKILL and not self.plain:  # it cannot do that to itself
            reason = "the system stopped it, most likely for want of memory"
            return Died("memory", reason, look=True)
        return why_ended(-code)

    def close(self):
        """End the process and everything that it started."""
        if self.closed:
            return
        self.closed = True
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self.process, signal.SIGKILL)
        if self.plain:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
        select.select([self.status], [], [], 5)
        self._close_descriptors()

    def _close_descriptors(self):
        for descriptor in (self.requests, self.replies, self.prints, self.status, self.process):
            if descriptor >= 0:
                os.close(descriptor)


class _Deadline:
    """`seconds` from now; until `longest` from now it moves on while cpu() tells that fewer were computed."""

    def __init__(self, seconds, longest=0.0, cpu=lambda: 0.0):
        now = time.monotonic()
        self.end, self.last = now + seconds, now + longest
        self.cpu, self.last_cpu = cpu, cpu() + seconds

    def left(self) -> float:
        """Seconds left; less than 0 where it has passed."""
        now = time.monotonic()
        if self.end <= now < self.last and self.cpu() < self.last_cpu:
            self.end = min(now + PERIOD, self.last)
        return self.end - now


def why_ended(number: int) -> Died:
    """Of a process that a signal ended; number: the signal's, another where it was none."""
    if number in _OUT_OF_TIME:
        return Died("timeout", "it used up its time")
    # No number: a student could choose it to tell what a hidden case holds.
    return Died("exited", "it crashed" if number in _CRASHES else "it ended the program")


def _pid_of(process: int) -> int:
    """The process id, as we see it, of a pidfd from another namespace."""
    with open(f"/proc/self/fdinfo/{process}") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pid:"))

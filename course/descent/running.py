"""Runs an answer on cases and tells what happened as plain data. The only module that calls student code.

It runs the same way in a student's notebook, in the grading sandbox and in the tests. What comes out
is judged elsewhere (`judging`), at grading in another process.
"""

import builtins
import contextlib
import copy
import ctypes
import io
import linecache
import math
import os
import signal
import sys
import threading
import time
import traceback
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from descent import wire

TEXT_LIMIT = 2000
PERIOD = 0.1  # seconds between two looks at an answer that runs
# An answer that waits uses no processor, so the clock on the wall ends it, too: after as long as its limit takes on a
# machine where five others want the same processor, and a while for what starts slowly.
WAITING_FACTOR, WAITING_SECONDS = 5, 5.0
_cpu, _wall = time.process_time, time.perf_counter  # an answer may patch those of `time`
_LIBRARIES = os.path.dirname(os.__file__) + os.sep, os.path.dirname(__file__) + os.sep


class TooSlow(BaseException):
    """Raised inside an answer that takes longer than its limit. Not an Exception: answers catch those."""


def run_cases(answer: Callable, cases: list[dict], *, probe: str | None = None, limit: float = 2.0):
    """Call `answer` on each case -> one outcome (a dict of plain data) a case.

    cases: dicts with "inputs" (encoded, see `wire`). probe: source of the function that calls the answer.
    limit: seconds a case, of the processor or on the wall, whichever are fewer: neither other programs on the machine
    count nor that several threads compute at once. The first import of a library does not count and is never
    interrupted. An answer that waits is stopped after `longest_wait(limit)`. A call into C ends first.

    An outcome has "status" ("ok", "raised", "unsolved", "slow", "exited", "unreadable"), "value" (encoded), "mutated"
    (names of changed inputs), "seconds" (on the wall), "printed", "error".
    """
    call = load_probe(probe) if probe else None
    outcomes = []
    for case in cases:
        outcome = run_case(answer, wire.decode(case["inputs"]), probe=call, limit=limit)
        outcomes.append(outcome)
        if outcome["status"] == "slow":  # the remaining cases would wait as long again
            outcomes += [outcome | {"seconds": 0.0} for _ in range(len(cases) - len(outcomes))]
            break
    return outcomes


def run_case(
    answer: Callable, inputs: dict, *, probe: Callable | None = None, limit: float = 2.0
) -> dict:
    """One outcome of `answer` on `inputs` (a dict of decoded arguments, which may get changed)."""
    before = copy.deepcopy(inputs)
    printed = _Printed()
    started = time.perf_counter()
    with _quiet(
        printed
    ):  # also round what an error prints, and a result that complains when it is dropped
        outcome = _attempt(answer, inputs, probe, limit)
    outcome["seconds"] = round(time.perf_counter() - started, 4)
    outcome["mutated"] = [name for name in before if _changed(before[name], inputs[name])]
    outcome["printed"] = printed.text()
    return outcome


def _attempt(answer, inputs, probe, limit) -> dict:
    outcome = {"status": "ok", "value": None, "error": None}
    watch = _Watch(limit)
    try:
        outcome["value"] = _within_time(watch, answer, inputs, probe)
    except wire.WireError as error:
        outcome |= {"status": "unreadable", "error": {"message": str(error)}}
    except TooSlow:
        outcome |= {"status": "slow", "error": watch.late}
    except (SystemExit, GeneratorExit) as error:
        outcome |= {"status": "exited", "error": describe_error(error, answer)}
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        status = "unsolved" if _is_stub(error) else "raised"
        outcome |= {"status": status, "error": describe_error(error, answer)}
    return outcome


def load_probe(source: str) -> Callable:
    """The function that calls an answer, from its source. It sees numpy, torch and math."""
    import torch

    names: dict[str, Any] = {"np": np, "torch": torch, "math": math}
    exec(compile(source, "<probe>", "exec"), names)
    return next(v for v in names.values() if isinstance(v, types.FunctionType))


def describe_error(error: BaseException, answer: Any = None) -> dict:
    """What went wrong, with the student's own line: type, message, line, number. Never raises."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if _is_students(f.filename)]
    try:
        message = str(error)
    except Exception:
        message = "(its message cannot be read)"
    told = {"type": type(error).__name__, "message": message[:TEXT_LIMIT]}
    if frames:
        told |= {"line": (frames[-1].line or "").strip()[:200], "number": frames[-1].lineno}
    return told


def _is_students(filename: str) -> bool:
    """Notebook cells are compiled under names like <ipython-input-…> or /tmp/ipykernel_…/….py."""
    return (
        filename.startswith("<ipython") or filename.startswith("<cell") or "ipykernel_" in filename
    )


def _is_stub(error: BaseException) -> bool:
    """The stub of an unsolved exercise raises NotImplementedError() in the student's own code."""
    if type(error) is not NotImplementedError or error.args:
        return False
    last = traceback.extract_tb(error.__traceback__)[-1]
    return "site-packages" not in last.filename


def _changed(before, after) -> bool:
    if isinstance(before, dict) and isinstance(after, dict):
        return before.keys() != after.keys() or any(_changed(before[k], after[k]) for k in before)
    if isinstance(before, list | tuple) and isinstance(after, list | tuple):
        return len(before) != len(after) or any(map(_changed, before, after))
    try:
        return wire.encode(before) != wire.encode(after)
    except wire.WireError:
        return False  # not plain data: nothing to compare


class _Printed(io.TextIOBase):
    """Keeps the first characters of what an answer prints, even after it closes the stream."""

    def __init__(self):
        self.kept: list[str] = []
        self.room = TEXT_LIMIT

    def writable(self):
        return True

    def close(self):
        pass

    def write(self, text):
        if self.room > 0:
            self.kept.append(str(text)[: self.room])
            self.room -= len(self.kept[-1])
        return len(text)

    def text(self):
        return "".join(self.kept)


@contextlib.contextmanager
def _quiet(printed):
    """Prints, warnings, displays, figures and input() of an answer stay out of the notebook's way."""

    def refuse(prompt=""):
        raise RuntimeError("input() cannot be answered here: use the function's arguments")

    kept = builtins.input
    builtins.input = refuse
    errors = np.geterr()
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
            with contextlib.redirect_stderr(printed):
                warnings.simplefilter("ignore")
                with _nothing_shown():
                    yield
    finally:
        builtins.input = kept
        np.seterr(**errors)


@contextlib.contextmanager
def _nothing_shown():
    """In a notebook, drop what is displayed inside, and close the figures that it leaves open."""
    ipython, pyplot = (sys.modules.get(name) for name in ("IPython", "matplotlib.pyplot"))
    shell = ipython.get_ipython() if ipython else None
    figures = set(pyplot.get_fignums()) if pyplot else set()
    with contextlib.ExitStack() as stack:
        if shell:
            from IPython.utils.capture import capture_output

            stack.enter_context(capture_output(stdout=False, stderr=False))
        yield
    if pyplot:
        for number in set(pyplot.get_fignums()) - figures:
            pyplot.close(number)


def longest_wait(limit: float) -> float:
    """Seconds on the wall after which an answer ends that computes little, imports of libraries left out."""
    return WAITING_FACTOR * limit + WAITING_SECONDS


def too_slow(limit: float, waited: bool) -> dict:
    """What is told of an answer that was stopped at its limit: "message", and "waited" as given."""
    words = f"ran longer than {limit:g} s"
    if waited:
        words = f"waited rather than computed for {longest_wait(limit):g} s"
    return {"message": words, "waited": waited}


def _call(answer, inputs, probe):
    """The encoded result. An answer is stopped only while this function runs."""
    return wire.encode(probe(answer, **inputs) if probe else answer(**inputs))


def _within_time(watch, answer, inputs, probe):
    """What `_call` gives. Raises TooSlow where the watch says so."""
    can_ring = hasattr(signal, "setitimer")
    in_main = threading.current_thread() is threading.main_thread()
    stopper = _Alarm(watch) if can_ring and in_main else _Lookout(watch)
    try:
        try:
            result = _call(answer, inputs, probe)
        finally:
            stopper.end()
    finally:  # a last TooSlow may have come just before that
        stopper.end()
    if watch.late:  # it swallowed its interruption
        raise TooSlow
    return result


class _Watch:
    """Adds up what an answer takes. late: None, or what is told of an answer that took too long."""

    def __init__(self, limit):
        self.limit = limit
        self.computed = self.waited = 0.0
        self.seen = _cpu(), _wall()
        self.late: dict | None = None

    def look(self, frame) -> bool:
        """Whether to stop the answer now. frame: where its thread is.

        The time since the last look belongs to what goes on now: an import, or the answer's own work.
        """
        frames = _frames_of_the_answer(frame)
        (cpu, wall), now = self.seen, (_cpu(), _wall())
        self.seen = now
        if frames is None or _is_importing(frames):
            return False
        self.computed += now[0] - cpu
        self.waited += now[1] - wall
        # The processor's clock counts all threads: what four of them do at once is not four times as slow.
        computed = min(self.computed, self.waited) >= self.limit
        if self.late is None and (computed or self.waited >= longest_wait(self.limit)):
            self.late = too_slow(self.limit, waited=not computed) | _line(frames)
        return self.late is not None


def _frames_of_the_answer(frame) -> list | None:
    """From where the thread is out to what `_call` called; None where it is not within `_call`."""
    frames = []
    while frame is not None:
        if frame.f_code is _call.__code__:
            return frames
        frames.append(frame)
        frame = frame.f_back
    return None


def _is_importing(frames) -> bool:
    """Whether a module is being imported, and no code but a library's is at work in that.

    An import that is interrupted leaves half a module behind, until the kernel starts anew.
    """
    for frame in frames:
        name, code = frame.f_code.co_filename, frame.f_code
        if name == "<frozen importlib._bootstrap>" and code.co_name == "_find_and_load":
            return True
        if not _is_a_librarys(name):
            return False
    return False


def _is_a_librarys(filename: str) -> bool:
    if _is_students(filename):
        return False
    installed = "site-packages" in filename or "dist-packages" in filename
    return installed or filename.startswith(("<", *_LIBRARIES))  # "<": frozen, or made by a library


def _line(frames) -> dict:
    """The student's line that runs: "line" and "number"; nothing where there is none."""
    for frame in frames:
        name, number = frame.f_code.co_filename, frame.f_lineno
        if _is_students(name):
            return {"line": linecache.getline(name, number).strip()[:200], "number": number}
    return {}


class _Alarm:
    """Looks at an answer of the main thread by a timer's signal, which ends a wait in the system, too."""

    def __init__(self, watch):
        self.watch, self.looking, self.over = watch, False, False
        self.started = _wall()
        self.handler = signal.signal(signal.SIGALRM, self.ring)
        self.timer = signal.setitimer(signal.ITIMER_REAL, PERIOD, PERIOD)

    def ring(self, signum, frame):
        if self.looking:  # it rings again before the last look has ended
            return
        self.looking = True
        try:
            stops = self.watch.look(frame)
        finally:
            self.looking = False
        # Again and again: a first TooSlow may be swallowed by a bare `except:` in the answer.
        if stops:
            raise TooSlow

    def end(self):
        """Stop looking. A student's own alarm goes on."""
        if self.over:
            return
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.handler or signal.SIG_DFL)
        left, period = self.timer
        if left:
            left = max(left - (_wall() - self.started), 1e-6)
            signal.setitimer(signal.ITIMER_REAL, left, period)
        self.over = True


class _Lookout:
    """Looks at an answer from a thread of its own, where no signal can: in other threads, and on Windows.

    Its TooSlow comes at the answer's next step, so that a wait in the system ends first.
    """

    def __init__(self, watch):
        self.watch = watch
        self.thread = threading.get_ident()
        self.over = threading.Event()
        self.looking = threading.Thread(target=self.look, daemon=True)
        self.looking.start()

    def look(self):
        while not self.over.wait(PERIOD):
            if self.watch.look(sys._current_frames().get(self.thread)):
                self.throw(ctypes.py_object(TooSlow))

    def throw(self, error):
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread), error)

    def end(self):
        """After this nothing is thrown: nobody looks, and what is still on its way is called back."""
        self.over.set()
        self.looking.join()
        self.throw(None)

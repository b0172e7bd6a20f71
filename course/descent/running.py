"""Runs an answer on cases and tells what happened as plain data. The only module that calls student code.

It runs the same way in a student's notebook, in the grading sandbox and in the tests. What comes out
is judged elsewhere (`judging`), at grading in another process.
"""

import builtins
import contextlib
import copy
import io
import math
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


class TooSlow(BaseException):
    """Raised inside an answer that runs longer than its limit. Not an Exception: answers catch those."""


def run_cases(answer: Callable, cases: list[dict], *, probe: str | None = None, limit: float = 2.0):
    """Call `answer` on each case -> one outcome (a dict of plain data) a case.

    cases: dicts with "inputs" (encoded, see `wire`). probe: source of the function that calls the answer.
    limit: seconds a case. An outcome has "status" ("ok", "raised", "unsolved", "slow", "exited", "unreadable"), "value"
    (encoded), "mutated" (names of changed inputs), "seconds", "printed", "error".
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
    try:
        with _time_limit(limit):
            result = probe(answer, **inputs) if probe else answer(**inputs)
            outcome["value"] = wire.encode(result)
    except wire.WireError as error:
        outcome |= {"status": "unreadable", "error": {"message": str(error)}}
    except TooSlow:
        outcome |= {"status": "slow", "error": {"message": f"longer than {limit:g} s"}}
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


@contextlib.contextmanager
def _time_limit(seconds):
    """Raise TooSlow in the main thread of a POSIX system after `seconds`; elsewhere there is no limit."""
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    rang = False

    def ring(signum, frame):
        nonlocal rang
        rang = True
        raise TooSlow

    previous = signal.signal(signal.SIGALRM, ring)
    # The timer repeats: a first TooSlow may be swallowed by a bare `except:` in the answer.
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.2)
    try:
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:  # a last ring may have come in before the timer stopped
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    if rang:
        raise TooSlow

"""Garbage is collected between pieces of work alone, where threads of one process parse students' code.

In Python 3.11 a finalizer that runs in the middle of ast.parse lets another thread in, and where that parses too, one
fails with "SystemError: AST constructor recursion depth mismatch". Finalizers run when the collector does, so it is off
while such threads work, and each calls `gc.collect` after a piece of its work. What was there before they began is left
out of that: nbgrader alone would cost 0.1 s and more each time.
"""

import contextlib
import gc
import threading
from collections.abc import Iterator

_lock = threading.Lock()
_holders = 0


def put_off() -> None:
    """No garbage is collected by itself until `resume` was called as often."""
    global _holders
    with _lock:
        _holders += 1
        if _holders == 1:
            gc.disable()
            gc.freeze()


def resume() -> None:
    """The end of one `put_off`."""
    global _holders
    with _lock:
        _holders -= 1
        if not _holders:
            gc.unfreeze()
            gc.enable()


@contextlib.contextmanager
def only_between() -> Iterator[None]:
    """`put_off` at the start, `resume` at the end."""
    put_off()
    try:
        yield
    finally:
        resume()

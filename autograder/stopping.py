"""Ctrl-C and its like end a command where it is safe: between two results, not in the middle of writing one.

A KeyboardInterrupt out of nowhere may meet a half-opened gradebook; and where Python clears an object away, it drops
it, and the command goes on to its end. So the first signal is only noted, and who loops or waits asks for it. Asked
twice, a command stops wherever it is.
"""

import os
import signal
from concurrent.futures import Future

POLL_SECONDS = 1.0

_asked = False  # whether somebody asked this process to stop


def listen() -> None:
    """From here on SIGINT, SIGTERM and SIGHUP are noted; a second one raises KeyboardInterrupt at once."""
    global _asked
    _asked = False
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _note)


def _note(number, frame):
    global _asked
    if _asked:
        raise KeyboardInterrupt
    _asked = True
    os.write(2, b"\nstopping, as soon as what is being written is whole; once more: at once\n")


def check() -> None:
    """Raises KeyboardInterrupt where somebody asked since `listen`."""
    if _asked:
        raise KeyboardInterrupt


def result(future: Future):
    """What it gives or raises, once it is done; KeyboardInterrupt where somebody asks to stop meanwhile."""
    while True:
        check()
        try:
            return future.result(POLL_SECONDS)
        except TimeoutError:
            if future.done():
                raise

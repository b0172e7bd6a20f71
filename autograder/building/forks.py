"""Runs what may hang, eat memory or kill its process in forks of this one, two at a time.

For edits of our own solutions only: a fork keeps this process's rights. A student's code runs in a sandbox
(autograder/engine).
"""

import multiprocessing
import os
import time
from collections.abc import Callable
from multiprocessing.connection import wait

from autograder.engine.inside import jail

WORKERS = 2
MEMORY = 1_000_000_000  # bytes that a job may take besides what the imports hold
Tell = Callable[[object], None]


def in_forks(jobs: list[Callable[[Tell], None]], silence: float) -> list[list]:
    """Run each job in a process of its own -> what each told before it ended, or was ended after a silence (s)."""
    context = multiprocessing.get_context("fork")
    told: list[list] = [[] for _ in jobs]
    waiting = list(enumerate(jobs))[::-1]
    forks: dict = {}  # a connection -> place of the job, process, when it is given up
    try:
        while waiting or forks:
            while waiting and len(forks) < WORKERS:
                number, job = waiting.pop()
                hears, tells = context.Pipe(duplex=False)
                process = context.Process(target=_shut_in, args=(job, tells))
                process.start()
                tells.close()
                forks[hears] = [number, process, time.monotonic() + silence]
            first = min(until for *_, until in forks.values())
            for hears in wait(list(forks), max(0, first - time.monotonic())):
                try:
                    told[forks[hears][0]].append(hears.recv())
                    forks[hears][2] = time.monotonic() + silence
                except (EOFError, OSError):
                    forks[hears][2] = 0
            for hears in [h for h, (*_, until) in forks.items() if until <= time.monotonic()]:
                _end(forks.pop(hears)[1], hears)
    finally:
        for hears, (_, process, _) in forks.items():
            _end(process, hears)
    return told


def _end(process, hears) -> None:
    process.kill()
    process.join()
    hears.close()


def _shut_in(job, tells) -> None:
    """In the fork: silent, with little memory."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    jail.limit({"memory": MEMORY})
    job(tells.send)

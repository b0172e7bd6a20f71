"""How a run grades: in a sandbox or not, how many at a time, by whose workers. What its options say."""

import os
from argparse import ArgumentParser, ArgumentTypeError
from dataclasses import dataclass, field

from autograder.engine.worker_client import Limits


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _positive(told: str) -> int:
    if not told.isdecimal() or int(told) < 1:
        raise ArgumentTypeError(f"{told} at a time grades nobody: give a number from 1 up")
    return int(told)


@dataclass
class Way:
    """How to grade. jobs: at a time, here; scheduler: the address of one elsewhere, instead. force: all anew."""

    sandboxed: bool = True
    jobs: int = field(default_factory=_cores)
    scheduler: str = ""
    limits: Limits = field(default_factory=Limits)
    force: bool = False

    @staticmethod
    def add_options(parser: ArgumentParser) -> None:
        """The options of every command that grades."""
        parser.add_argument(
            "--jobs", type=_positive, default=_cores(), metavar="N",
            help="submissions at a time (default: the cores of this machine)",
        )  # fmt: skip
        parser.add_argument(
            "--scheduler", default="", metavar="ADDRESS",
            help="grade with the workers of this dask scheduler, tls://HOST:PORT, instead",
        )  # fmt: skip
        parser.add_argument(
            "--no-sandbox", action="store_true", help="run students' code as you, with limits only"
        )

    @classmethod
    def of(cls, arguments, *, force=False) -> "Way":
        """As the command line says."""
        sandboxed = not arguments.no_sandbox
        return cls(sandboxed, arguments.jobs, arguments.scheduler, force=force)

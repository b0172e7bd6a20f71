"""How far a run is: a bar on a terminal, else a line every few seconds; and who needs a look at its end."""

import sys
import time

from tqdm import tqdm

SECONDS_BETWEEN_LINES = 10.0
LAST = 8  # how long so few take depends on who they are, not on those before: some may loop
BAR = "{percentage:3.0f} %|{bar}| {n_fmt} of {total_fmt}, {rate_noinv_fmt}"
TO_GO = ", {remaining} to go"


def needing(looks: int) -> str:
    """'1 needs a look'"""
    return f"{looks} {'needs' if looks == 1 else 'need'} a look"


class Progress:
    """Use as a context manager and call `step` after each submission. Writes to standard error."""

    def __init__(self, total: int, *, clock=time.monotonic, stream=None):
        self.total, self.clock = total, clock
        self.stream = stream or sys.stderr
        self.number, self.told = 0, clock()
        self.first = 0.0  # when the first one was done: until then workers warm up
        self.bar = None
        if self.stream.isatty():
            self.bar = tqdm(
                total=total,
                unit="",
                bar_format=self._format(),
                file=self.stream,
                dynamic_ncols=True,
            )

    def step(self) -> None:
        """One more is done."""
        now = self.clock()
        self.number += 1
        self.first = self.first or now
        if self.bar is not None:
            self.bar.bar_format = self._format()
            self.bar.update()
        elif now - self.told >= SECONDS_BETWEEN_LINES and self.number < self.total:
            self.told = now
            print(self.line(), file=self.stream, flush=True)

    def _last(self) -> bool:
        return self.total - self.number <= LAST

    def _format(self) -> str:
        return BAR if self._last() else BAR + TO_GO

    def line(self) -> str:
        """'37 of 300 graded, 12.4 a second, about 21 s to go'; no time to go is told for the last few."""
        seconds = self.clock() - self.first
        told = f"{self.number} of {self.total} graded"
        if self.number < 2 or not seconds:
            return told
        rate = (self.number - 1) / seconds
        told += f", {rate:.1f} a second"
        left = (self.total - self.number) / rate
        return told if self._last() else f"{told}, about {left:.0f} s to go"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.bar is not None:
            self.bar.close()

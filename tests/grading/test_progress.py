"""Progress: lines every so often where there is no terminal, with a rate that leaves the start-up out."""

import io

from autograder.grading.progress import Progress


def test_lines_come_every_ten_seconds_with_rate_and_time_to_go():
    now = 0.0
    stream = io.StringIO()
    with Progress(300, clock=lambda: now, stream=stream) as progress:
        for now in (8.0, 9.0, 10.5, 12.0, 13.0):  # noqa: B007 — the clock
            progress.step()
    assert stream.getvalue() == "3 of 300 graded, 0.8 a second, about 371 s to go\n"
    assert progress.number == 5


def test_one_alone_has_no_rate():
    progress = Progress(3, clock=lambda: 5.0, stream=io.StringIO())
    progress.step()
    assert progress.line() == "1 of 3 graded"


def test_a_terminal_gets_a_bar():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    stream = Terminal()
    with Progress(2, stream=stream) as progress:
        progress.step()
        progress.step()
    assert "100 %|" in stream.getvalue() and "2 of 2" in stream.getvalue()

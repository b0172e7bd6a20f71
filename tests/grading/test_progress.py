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


def test_of_the_last_few_nobody_knows_how_long_they_take():
    now = 0.0
    progress = Progress(20, clock=lambda: now, stream=io.StringIO())
    told = []
    for now in range(1, 21):  # noqa: B007 — the clock
        progress.step()
        told.append("to go" in progress.line())
    assert told == [False] + 10 * [True] + 9 * [False]
    assert progress.line() == "20 of 20 graded, 1.0 a second"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_tells_no_time_to_go_at_the_end_either():
    stream = Terminal()
    with Progress(9, stream=stream) as progress:
        assert "to go" in str(progress.bar)
        progress.step()
        assert "to go" not in str(progress.bar)


def test_a_terminal_gets_a_bar():
    stream = Terminal()
    with Progress(2, stream=stream) as progress:
        progress.step()
        progress.step()
    assert "100 %|" in stream.getvalue() and "2 of 2" in stream.getvalue()

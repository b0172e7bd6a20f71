"""Who asks a command to stop is heard, between two results."""

import queue
import signal
import threading
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from autograder import stopping
from autograder.grading.dispatch.cluster import Cluster

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(autouse=True)
def handlers():
    before = {number: signal.getsignal(number) for number in SIGNALS}
    stopping.listen()
    yield
    stopping.listen()  # forget what was asked for
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_waits_until_somebody_asks_for_it(number, capfd):
    signal.raise_signal(number)
    with pytest.raises(KeyboardInterrupt):
        stopping.check()
    assert "once more: at once" in capfd.readouterr().err


def test_the_second_signal_stops_at_once():
    signal.raise_signal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_nobody_stops_unasked():
    stopping.check()


def test_who_waits_for_the_workers_stops():
    cluster = Cluster.__new__(Cluster)
    cluster.landed = queue.SimpleQueue()
    signal.raise_signal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt):
        cluster._next()


def test_who_waits_for_a_result_stops_while_it_is_not_there(monkeypatch):
    monkeypatch.setattr(stopping, "POLL_SECONDS", 0.01)
    here = threading.get_ident()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(signal.pthread_kill, here, signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            stopping.result(Future())


def test_a_result_is_given_and_an_error_raised_though_it_be_a_timeout():
    good, bad = Future(), Future()
    good.set_result(3)
    bad.set_exception(TimeoutError("its own"))
    assert stopping.result(good) == 3
    with pytest.raises(TimeoutError, match="its own"):
        stopping.result(bad)

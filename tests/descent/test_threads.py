"""Widgets draw where the cells run, and the end of a widget's message in another thread leaves figures alone."""

import threading
from types import SimpleNamespace
from unittest import mock

import pytest
from IPython.core.events import EventManager, available_events

from descent import threads


@pytest.fixture
def shell():
    """An IPython shell as far as threads are concerned: events, and a kernel whose loop notes what it is handed."""
    handed = []
    loop = SimpleNamespace(add_callback=lambda *call: handed.append(call))
    shell = SimpleNamespace(kernel=SimpleNamespace(io_loop=loop), handed=handed)
    shell.events = EventManager(shell, available_events)
    with mock.patch("IPython.get_ipython", lambda: shell):
        yield shell


def elsewhere(function, *arguments):
    thread = threading.Thread(target=function, args=arguments)
    thread.start()
    thread.join()


def test_what_another_thread_asks_for_is_handed_to_the_loop_of_the_cells(shell):
    done = []
    draw = threads.with_the_cells(lambda what: done.append((what, threading.current_thread())))
    elsewhere(draw, "later")
    assert done == []
    ((function, *arguments),) = shell.handed
    function(*arguments)
    draw("at once")
    assert done == [(what, threading.main_thread()) for what in ("later", "at once")]


def test_without_a_kernel_it_is_done_at_once():
    done = []
    with mock.patch("IPython.get_ipython", lambda: None):
        elsewhere(threads.with_the_cells(done.append), 1)
    assert done == [1]


def test_figures_are_shown_at_the_end_of_a_cell_and_not_of_a_message_elsewhere(shell):
    shown = []
    threads.keep_figures()
    threads.keep_figures()  # the first cell is run again
    shell.events.register("post_execute", lambda: shown.append(threading.current_thread()))
    elsewhere(shell.events.trigger, "post_execute")
    assert shown == []
    shell.events.trigger("post_execute")
    assert shown == [threading.main_thread()]

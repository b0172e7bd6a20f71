"""Figures belong to the thread that runs the cells.

JupyterLab (from 4.4 on) hands what widgets say to another thread of the kernel, while a cell runs. But matplotlib
knows the open figures of all threads, and IPython shows and closes those at the end of every cell and of every such
message: half drawn, at another size, and under the hands of who draws them. So widgets draw where the cells run,
between two of them, and the end of a message shows nothing.
"""

import threading
from collections.abc import Callable
from functools import wraps


def with_the_cells(function: Callable[..., None]) -> Callable[..., None]:
    """`function`, done in the thread of the cells, once no cell runs; at once where it is called there."""

    @wraps(function)
    def call(*arguments):
        loop = None if _is_main() else _loop()
        if loop is None:
            function(*arguments)
        else:
            loop.add_callback(function, *arguments)

    return call


def keep_figures() -> None:
    """Let the end of a widget's message in another thread show and close no figures. Done once a kernel."""
    from IPython import get_ipython

    shell = get_ipython()
    if shell is None or hasattr(shell.events.trigger, "__wrapped__"):
        return
    trigger = shell.events.trigger

    @wraps(trigger)
    def in_main_only(event, *arguments, **named):
        if _is_main() or event != "post_execute":
            trigger(event, *arguments, **named)

    shell.events.trigger = in_main_only


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


def _loop():
    """The event loop in which a kernel runs its cells; None outside a kernel."""
    from IPython import get_ipython

    return getattr(getattr(get_ipython(), "kernel", None), "io_loop", None)

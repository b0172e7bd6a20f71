"""Runs one notebook's cells and answers inside the sandbox, as the engine outside asks.

It sees the course's library and this folder, no solution, no expected value. Whatever a student's code does to this
process is the student's own loss: points are given outside, by the judge.

Cells run in an IPython shell inside this process, not in plain `exec`: magics, `await`, `get_ipython()` and `display`
then mean what they mean in the student's JupyterLab. A kernel (`live.py`) would cost a fifth of a second more.
"""

import builtins
import functools
import random
import signal

from . import frames


def make_shell():
    """An IPython shell that keeps no history and asks nobody. Made once, before the fork."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    import descent

    for name in descent.__all__:  # imported once, for all forks
        getattr(descent, name)
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config)
    shell.showtraceback = shell.showsyntaxerror = shell.enable_gui = _nothing
    shell.ask_exit = leave
    shell.run_line_magic = _gently(shell.run_line_magic)
    _one_backend(shell)
    # A last expression is computed, not formatted, and nothing is shown.
    shell.ast_node_interactivity = "none"
    shell.display_pub.publish = _nothing
    builtins.input = _no_input
    # The first cell imports and compiles what all others need.
    shell.run_cell("None", store_history=False)
    return shell


def _nothing(*arguments, **keywords):
    return None


def _gently(run_line_magic):
    """A line magic that fails costs nothing: it sets up a notebook that people look at, or an extension of theirs."""

    @functools.wraps(run_line_magic)
    def run(*arguments, **keywords):
        try:
            return run_line_magic(*arguments, **keywords)
        except Exception:
            return None

    return run


def _one_backend(shell):
    """Figures are drawn where nobody sees them, whichever window an answer asks for."""
    import matplotlib
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    shell.enable_matplotlib = lambda gui=None: (None, "agg")
    matplotlib.use = pyplot.switch_backend = _nothing


def leave():
    """exit() in a cell: an error in that cell, and the notebook goes on."""
    raise SystemExit


def _no_input(prompt=""):
    raise RuntimeError("input() cannot be answered here: use the function's arguments")


def serve(requests: int, replies: int) -> int:
    """Answer requests until the pipe ends -> the exit status."""
    from IPython import get_ipython

    from descent import session

    shell = get_ipython()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    random.seed(0)
    session.seed_everything()  # forks of one parent would else begin alike, and unlike those of another
    frames.send(replies, {"id": 0, "ready": True})
    for request in frames.each(requests):
        reply = answer(shell, request) | {"id": request["id"]}
        try:
            frames.send(replies, reply)
        except frames.FrameError as error:
            frames.send(replies, {"id": request["id"], "too_large": str(error)})
    return 0


def answer(shell, request: dict) -> dict:
    """The reply to one request. Raises only what ends the process."""
    try:
        return run_cell(shell, request) if request["do"] == "cell" else ask(shell, request)
    except BaseException as error:
        return {"failed": f"{type(error).__name__}"}


def run_cell(shell, request) -> dict:
    """Run a cell: {"error": None or what it raised}. Prints go to the pipe, where they are counted."""
    from matplotlib import pyplot

    result = shell.run_cell(request["source"], store_history=False)
    pyplot.close("all")
    return {"error": _told(result.error_before_exec or result.error_in_exec)}


def _told(error) -> dict | None:
    from descent import running

    if error is None:
        return None
    told = running.describe_error(error)
    if isinstance(error, SyntaxError):
        told |= {"line": (error.text or "").strip()[:200], "number": error.lineno}
    return told


def ask(shell, request) -> dict:
    """Call one answer on its cases: {"outcomes": […]}, or {"missing": what stands under its name instead}."""
    from descent import running, session

    found = shell.user_ns.get(request["name"])
    if not callable(found):
        return {"missing": "nothing" if found is None else "no function"}
    session.seed_everything()
    outcomes = running.run_cases(
        found, request["cases"], probe=request["probe"], limit=request["limit"]
    )
    return {"outcomes": outcomes}

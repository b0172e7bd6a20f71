"""Runs one notebook's cells and answers inside the sandbox, as the engine outside asks.

It sees the course's library and this file, no solution, no expected value. Whatever a student's code does to
this process is the student's own loss: points are given outside, by the judge.

Cells run in an IPython shell inside this process, not in plain `exec`: magics, `await`, `get_ipython()` and
`display` then mean what they mean in the student's JupyterLab. A kernel would cost seconds more.
"""

import builtins
import ctypes
import os
import resource
import sys

try:
    from autograder.engine.worker_frames import FrameError, receive, send
except ModuleNotFoundError:  # in the sandbox the two files lie alone, side by side
    from worker_frames import FrameError, receive, send

PR_SET_NO_NEW_PRIVS = 38


def main(argv: list[str]) -> int:
    """argv: descriptors of requests and replies, user id or 0 to keep it, limits as name=value."""
    requests, replies, uid = int(argv[0]), int(argv[1]), int(argv[2])
    limits = dict(argument.split("=") for argument in argv[3:])
    become(uid)
    shell = make_shell()
    limit_resources({name: int(value) for name, value in limits.items()})
    send(replies, {"id": 0, "ready": True})
    while True:
        try:
            request = receive(requests)
        except EOFError:
            return 0
        reply = answer(shell, request) | {"id": request["id"]}
        try:
            send(replies, reply)
        except FrameError as error:
            send(replies, {"id": request["id"], "too_large": str(error)})


def become(uid: int) -> None:
    """Give up root for a service user, and the way back."""
    if uid and os.getuid() == 0:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
    ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def limit_resources(limits: dict[str, int]) -> None:
    """Limits of this process and its children. memory: bytes above what the imports already take."""
    for name, value in limits.items():
        if name == "memory":
            value += _size_now()
        kind = {
            "memory": "AS",
            "processes": "NPROC",
            "file": "FSIZE",
            "files": "NOFILE",
            "cpu": "CPU",
        }[name]
        number = getattr(resource, f"RLIMIT_{kind}")
        hard = resource.getrlimit(number)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(number, (value, value))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _size_now() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def make_shell():
    """An IPython shell that shows nothing, keeps no history and asks nobody."""
    import torch
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    import descent  # noqa: F401 — imported before the limits are set

    torch.set_num_threads(1)
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.ast_node_interactivity = (
        "none"  # a last expression is computed, not printed
    )
    shell = InteractiveShell.instance(config=config)
    quiet = lambda *arguments, **keywords: None  # noqa: E731
    shell.display_pub.publish = shell.showtraceback = shell.showsyntaxerror = quiet
    shell.ask_exit = _leave
    shell.enable_gui = quiet
    builtins.input = _no_input
    return shell


def _leave():
    raise SystemExit


def _no_input(prompt=""):
    raise RuntimeError("input() cannot be answered here: use the function's arguments")


def answer(shell, request: dict) -> dict:
    """The reply to one request. Raises only what ends the process."""
    try:
        return run_cell(shell, request) if request["do"] == "cell" else ask(shell, request)
    except BaseException as error:
        return {"failed": f"{type(error).__name__}"}


def run_cell(shell, request) -> dict:
    """Run a cell: {"error": None} or what it raised."""
    from descent import running

    result = shell.run_cell(request["source"], store_history=False)
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot:
        pyplot.close("all")
    error = result.error_before_exec or result.error_in_exec
    if error is None:
        return {"error": None}
    told = running.describe_error(error)
    if isinstance(error, SyntaxError):
        told |= {"line": (error.text or "").strip()[:200], "number": error.lineno}
    return {"error": told}


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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

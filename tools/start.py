"""Open JupyterLab in course/ at its index: `make start`, or `python -m tools.start` where there is no make.

PORT=8889 listens there, BROWSER=none opens no browser, TORCH=cpu installs PyTorch's CPU build.
"""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time

from tools import environment
from tools.environment import PYTHON, ROOT, Problem

COURSE = ROOT / "course"
SETTINGS = ROOT / "tools" / "lab"  # no news prompt, and nothing of nbgrader in a student's window


def lab_command(python, port, *, browser, root, page="/lab/tree/index.ipynb"):
    """The command line of JupyterLab in the current folder, opened at `page`."""
    return [
        str(python),
        "-m",
        "jupyterlab",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        "--log-level=ERROR",
        "--ServerApp.answer_yes=True",
        f"--LabApp.default_url={page}",
        *([] if browser else ["--no-browser"]),
        *(["--allow-root"] if root else []),
    ]


def lab_environ(environ, person="student"):
    """Environment variables of a student's or an instructor's JupyterLab: our settings come first."""
    paths = [str(SETTINGS / person), *filter(None, [environ.get("JUPYTER_CONFIG_PATH")])]
    return dict(environ, JUPYTER_CONFIG_PATH=os.pathsep.join(paths))


def is_root():
    """Whether JupyterLab refuses to start without being told that it may; nobody is, on Windows."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def listening():
    """What Popen needs so that a program hears the Ctrl-C that its parent ignores; nothing, on Windows."""
    if not hasattr(os, "fork"):
        return {}
    return {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}


def wait_until_listening(port, server, *, seconds=120):
    """Return once `server` listens on `port`. Raises Problem when it ends first or is too slow."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise Problem(f"JupyterLab ended with status {server.returncode}: see the lines above.")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise Problem(f"JupyterLab did not listen on port {port} within {seconds} s.")


def serve(folder, environ, *, port, page="/lab/tree/index.ipynb"):
    """Run JupyterLab in `folder` until it is stopped, and say where it is -> its exit status."""
    problem = environment.port_problem(port, environment.port_in_use)
    if problem:
        raise Problem(problem)
    environ = dict(environ, JUPYTER_TOKEN=environ.get("JUPYTER_TOKEN") or secrets.token_hex(16))
    command = lab_command(
        PYTHON,
        port,
        browser=environ.get("BROWSER") != "none",
        root=os.geteuid() == 0,
        page=page,
    )
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is JupyterLab's to handle, then we end
    server = subprocess.Popen(
        command,
        cwd=str(folder),
        env=environ,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        wait_until_listening(int(port), server)
        token = environ["JUPYTER_TOKEN"]
        print(f"Graded Descent: http://127.0.0.1:{port}{page}?token={token}")
        print("Ctrl-C stops it.", flush=True)
        return server.wait()
    finally:
        server.terminate()


def main():
    port = os.environ.get("PORT") or "8888"
    problem = environment.python_problem(sys.version_info) or environment.port_problem(
        port, environment.port_in_use
    )
    if problem:
        raise Problem(problem)
    environment.ensure()
    return serve(COURSE, lab_environ(environment.environ()), port=port)


if __name__ == "__main__":
    environment.run(main)

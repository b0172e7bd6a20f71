"""Open JupyterLab in course/ at its index: `make start`.

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


def lab_command(python, port, *, browser, root):
    """The command line of JupyterLab in the current folder."""
    return [
        str(python),
        "-m",
        "jupyterlab",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        "--ServerApp.log_level=ERROR",
        "--ServerApp.answer_yes=True",
        "--LabApp.default_url=/lab/tree/index.ipynb",
        *([] if browser else ["--no-browser"]),
        *(["--allow-root"] if root else []),
    ]


def lab_environ(environ, token):
    """Environment variables of a student's JupyterLab: our settings come before the machine's."""
    paths = [str(SETTINGS), *filter(None, [environ.get("JUPYTER_CONFIG_PATH")])]
    return dict(environ, JUPYTER_TOKEN=token, JUPYTER_CONFIG_PATH=os.pathsep.join(paths))


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


def main():
    port = os.environ.get("PORT") or "8888"
    problem = environment.python_problem(sys.version_info) or environment.port_problem(
        port, environment.port_in_use
    )
    if problem:
        raise Problem(problem)
    environment.ensure()
    token = secrets.token_hex(16)
    command = lab_command(
        PYTHON, port, browser=os.environ.get("BROWSER") != "none", root=os.geteuid() == 0
    )
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is JupyterLab's to handle, then we end
    server = subprocess.Popen(
        command,
        cwd=str(COURSE),
        env=lab_environ(environment.environ(), token),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        wait_until_listening(int(port), server)
        print(f"Graded Descent: http://127.0.0.1:{port}/lab/tree/index.ipynb?token={token}")
        print("Ctrl-C stops it.", flush=True)
        return server.wait()
    finally:
        server.terminate()


if __name__ == "__main__":
    environment.run(main)

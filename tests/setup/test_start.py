"""JupyterLab really starts, says where, refuses a port in use and stops."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tools import start

ROOT = Path(__file__).resolve().parents[2]
# What `make start` does once the environment is there.
SERVE = """
import os
from tools import environment, start
environ = start.lab_environ(environment.environ())
environment.run(lambda: start.serve(start.COURSE, environ, port=os.environ["PORT"]))
"""


def command(port, home):
    environ = dict(os.environ, PORT=str(port), BROWSER="none", HOME=str(home))
    return dict(args=[sys.executable, "-c", SERVE], cwd=ROOT, env=environ, text=True)


@pytest.fixture
def server(tmp_path):
    """A running `make start`, and the port it was given."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        **command(port, tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    yield process, port
    process.kill()
    process.stdout.close()
    process.wait()


@pytest.mark.slow
def test_it_prints_an_address_that_opens_refuses_the_port_to_another_and_stops_at_ctrl_c(
    server, tmp_path
):
    process, port = server
    line = process.stdout.readline()
    address = re.fullmatch(r"Graded Descent: (http://127\.0\.0\.1:(\d+)/\S+\?token=\w+)\n", line)
    assert address and address[2] == str(port)
    with urllib.request.urlopen(address[1]) as page:
        assert page.status == 200
    without_token = f"http://127.0.0.1:{port}/api/contents"
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(without_token)

    second = subprocess.run(**command(port, tmp_path), capture_output=True)
    assert second.returncode == 1
    assert second.stderr.startswith(f"Port {port} is in use")
    assert len(second.stderr.splitlines()) == 1

    os.killpg(process.pid, signal.SIGINT)
    process.wait(timeout=30)
    assert process.stdout.readline() == "Ctrl-C stops it.\n"
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_where_a_system_knows_neither_root_nor_fork_nothing_is_asked_of_it(monkeypatch):
    for name in ("geteuid", "fork"):
        monkeypatch.delattr(os, name)
    assert not start.is_root()
    process = subprocess.run([sys.executable, "-c", ""], **start.listening())
    assert start.listening() == {} and process.returncode == 0
